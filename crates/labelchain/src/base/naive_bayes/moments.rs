//! Counts, sums and sums of squares of the cells of each class, from which means and deviations
//! follow.

use serde::{Deserialize, Serialize};

use super::cells::ColumnCells;
use crate::data::Matrix;
use crate::prepare::Prepared;
use crate::product::vectorized;

/// Counts, sums and sums of squares of the cells of one class.
///
/// Cells of sparse rows are summed as they are stored, scaled but not centred, so that those that are left
/// out are 0: the mean is then off by the column's zero ([`Normal::estimate`](super::Normal::estimate)),
/// and the deviation is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moments {
    pub(super) n: f64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Moments {
    /// Adds a value.
    pub(super) fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.add_to_sums(value);
    }

    /// Adds a value that was counted before.
    pub(super) fn add_to_sums(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    /// Whether all three are numbers, as they are unless they come from a file.
    pub(super) fn is_finite(&self) -> bool {
        [self.n, self.sum, self.squares].iter().all(|number| number.is_finite())
    }

    /// The standard deviation with divisor n, as in WEKA: √(|Σx² - (Σx)² / n| / n).
    pub(super) fn deviation(&self) -> f64 {
        ((self.squares - self.sum / self.n * self.sum).abs() / self.n).sqrt()
    }

    /// The moments of the cells of `self` that are not among those of `other`.
    pub(super) fn minus(&self, other: &Moments) -> Moments {
        Moments {
            n: self.n - other.n,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }
}

/// The labels of a group that are relevant to each row, as indices into the group.
pub(super) struct RelevantLabels {
    /// Where the indices of each row start, and at last where those of the last row end.
    starts: Vec<usize>,
    indices: Vec<u32>,
    /// To how many rows each label is relevant.
    n_rows: Vec<u32>,
}

impl RelevantLabels {
    /// Of no rows yet, in a group of so many labels.
    pub(super) fn new(n_labels: usize) -> RelevantLabels {
        RelevantLabels { starts: vec![0], indices: vec![], n_rows: vec![0; n_labels] }
    }

    pub(super) fn push_row(&mut self, indices: impl Iterator<Item = usize>) {
        for at in indices {
            self.indices.push(at as u32);
            self.n_rows[at] += 1;
        }
        self.starts.push(self.indices.len());
    }

    /// Those that are relevant to the row at a place.
    pub(super) fn of(&self, place: usize) -> &[u32] {
        &self.indices[self.starts[place]..self.starts[place + 1]]
    }

    /// To how many rows each label is relevant.
    pub(super) fn n_rows(&self) -> &[u32] {
        &self.n_rows
    }

    /// For each label, the places of the rows to which it is relevant, ascending.
    pub(super) fn places(&self) -> Vec<Vec<u32>> {
        let mut by_label: Vec<Vec<u32>> =
            self.n_rows.iter().map(|&n| Vec::with_capacity(n as usize)).collect();
        for place in 0..self.starts.len() - 1 {
            self.of(place).iter().for_each(|&label| by_label[label as usize].push(place as u32));
        }
        by_label
    }

    /// The moments of what `value` makes of the cells of one column: for each label of the cells in rows to
    /// which it is relevant, and of all cells. A cell that is left out must become 0, so that it counts and
    /// adds nothing.
    pub(super) fn moments(
        &self,
        cells: &ColumnCells,
        value: impl Fn(f64) -> f64,
    ) -> (Vec<Moments>, Moments) {
        let of_zeros = |n: f64| Moments { n, ..Moments::default() };
        let mut by_label: Vec<Moments> =
            self.n_rows.iter().map(|&n| of_zeros(f64::from(n))).collect();
        let mut all = of_zeros(cells.n_rows as f64);
        for (place, cell) in cells.stored() {
            let relevant = self.of(place).iter().map(|&at| at as usize);
            if cell.is_nan() {
                all.n -= 1.0;
                relevant.for_each(|at| by_label[at].n -= 1.0);
            } else {
                let value = value(cell);
                all.add_to_sums(value);
                relevant.for_each(|at| by_label[at].add_to_sums(value));
            }
        }
        (by_label, all)
    }
}

/// The moments of many columns of the same rows.
pub(super) struct MomentSums {
    /// The sums of the rows to which each label is relevant; the last are those of all rows.
    by_label: Vec<RowSums>,
    /// The least and the greatest cell of each column.
    least: Vec<f64>,
    greatest: Vec<f64>,
}

/// Sums over some rows, by column.
#[derive(Clone)]
struct RowSums {
    n_rows: f64,
    /// How many cells are missing.
    missing: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

/// Columns whose sums are held in registers while rows are added.
const STRIP: usize = 16;

/// The numbers of a strip of columns, which begins with column `start`; 0 beyond the last column.
#[inline(always)]
fn strip(by_column: &[f64], start: usize) -> [f64; STRIP] {
    by_column[start..].first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0.0; STRIP];
        padded.iter_mut().zip(&by_column[start..]).for_each(|(number, &of)| *number = of);
        padded
    })
}

/// Puts the numbers of a strip back.
#[inline(always)]
fn put_strip(by_column: &mut [f64], start: usize, strip: [f64; STRIP]) {
    by_column[start..].iter_mut().zip(strip).for_each(|(number, of)| *number = of);
}

impl MomentSums {
    /// Sums up some columns for `n` labels; none for sparse rows.
    ///
    /// Rows are taken some at a time, and of these one strip of columns, whose cells stay in the cache while the sums
    /// of one label after the other are held in registers. Each sum has the same terms in the same order as if
    /// rows were added one by one.
    pub(super) fn new(
        train: &Prepared,
        rows: &[usize],
        columns: &[usize],
        relevant: &RelevantLabels,
        n: usize,
    ) -> Option<MomentSums> {
        /// A strip of so many rows takes 16 KB, half of the fastest cache of common processors.
        const ROWS: usize = 128;
        let Matrix::Dense(dense) = train.data().features() else { return None };
        let width = columns.len();
        let zeros = vec![0.0; width];
        let no_rows =
            RowSums { n_rows: 0.0, missing: zeros.clone(), sums: zeros.clone(), squares: zeros };
        let mut moments = MomentSums {
            by_label: vec![no_rows; n + 1],
            least: vec![f64::INFINITY; width],
            greatest: vec![f64::NEG_INFINITY; width],
        };
        let mut gathered = Vec::new();
        // For each label, and at last for all, the places of its rows among those taken.
        let mut places: Vec<Vec<u16>> = vec![Vec::with_capacity(ROWS); n + 1];
        for (first, rows) in (0..).step_by(ROWS).zip(rows.chunks(ROWS)) {
            places.iter_mut().for_each(Vec::clear);
            for place in 0..rows.len() {
                let relevant = relevant.of(first + place).iter();
                relevant.for_each(|&label| places[label as usize].push(place as u16));
                places[n].push(place as u16);
            }
            let whole: Vec<&[f64]> = rows.iter().map(|&row| dense.row(row)).collect();
            if whole.iter().all(|row| row.len() == width) {
                moments.add(&whole, &places);
            } else {
                gathered.clear();
                for row in &whole {
                    gathered.extend(columns.iter().map(|&column| row[column]));
                }
                let some: Vec<&[f64]> = gathered.chunks(width.max(1)).collect();
                moments.add(&some, &places);
            }
        }
        Some(moments)
    }

    /// Adds rows to the sums of their relevant labels and to those of all rows. Missing cells are counted, and add 0
    /// to the sums.
    fn add(&mut self, rows: &[&[f64]], places: &[Vec<u16>]) {
        let width = self.least.len();
        // A missing cell makes the sum of its column none; so do infinite cells, which then take the longer way as well.
        let mut sums = vec![0.0; width];
        vectorized(
            #[inline(always)]
            || {
                for start in (0..width).step_by(STRIP) {
                    let [mut least, mut greatest] =
                        [&self.least, &self.greatest].map(|ends| strip(ends, start));
                    let mut sum = [0.0; STRIP];
                    for row in rows {
                        let cells = strip(row, start);
                        for at in 0..STRIP {
                            let cell = cells[at];
                            least[at] = if cell < least[at] { cell } else { least[at] };
                            greatest[at] = if cell > greatest[at] { cell } else { greatest[at] };
                            sum[at] += cell;
                        }
                    }
                    put_strip(&mut self.least, start, least);
                    put_strip(&mut self.greatest, start, greatest);
                    put_strip(&mut sums, start, sum);
                }
            },
        );
        if sums.iter().any(|sum| sum.is_nan()) {
            let complete: Vec<Vec<f64>> = rows
                .iter()
                .map(|row| row.iter().map(|&cell| if cell.is_nan() { 0.0 } else { cell }).collect())
                .collect();
            for (sums, places) in self.by_label.iter_mut().zip(places) {
                for row in places.iter().map(|&place| rows[usize::from(place)]) {
                    for (missing, cell) in sums.missing.iter_mut().zip(row) {
                        *missing += if cell.is_nan() { 1.0 } else { 0.0 };
                    }
                }
            }
            let complete: Vec<&[f64]> = complete.iter().map(Vec::as_slice).collect();
            self.add_complete(&complete, places);
        } else {
            self.add_complete(rows, places);
        }
    }

    /// The same for rows without missing cells.
    fn add_complete(&mut self, rows: &[&[f64]], places: &[Vec<u16>]) {
        vectorized(
            #[inline(always)]
            || {
                for start in (0..self.least.len()).step_by(STRIP) {
                    for (sums, places) in self.by_label.iter_mut().zip(places) {
                        let mut sum = strip(&sums.sums, start);
                        let mut square = strip(&sums.squares, start);
                        for &place in places {
                            let cells = strip(rows[usize::from(place)], start);
                            for at in 0..STRIP {
                                sum[at] += cells[at];
                                square[at] += cells[at] * cells[at];
                            }
                        }
                        put_strip(&mut sums.sums, start, sum);
                        put_strip(&mut sums.squares, start, square);
                    }
                }
            },
        );
        for (sums, places) in self.by_label.iter_mut().zip(places) {
            sums.n_rows += places.len() as f64;
        }
    }

    /// The moments of a column, by its index among those summed up, in the rows to which a label is
    /// irrelevant and in those to which it is relevant.
    pub(super) fn classes(&self, column: usize, label: usize) -> (Moments, Moments) {
        let of = |rows: &RowSums| Moments {
            n: rows.n_rows - rows.missing[column],
            sum: rows.sums[column],
            squares: rows.squares[column],
        };
        let (all, yes) = (of(&self.by_label[self.by_label.len() - 1]), of(&self.by_label[label]));
        (all.minus(&yes), yes)
    }

    /// For each column an upper bound on the mean gap between its neighbouring distinct values.
    ///
    /// The mean gap is range / (distinct values - 1), so a lower bound on the number of distinct values gives one.
    /// Most columns need no look at their cells: of so many cells, at most `repeats` have the value of another
    /// one. Where this is not `enough`, the range is cut into many slots, and cells in different slots are
    /// distinct. Counting stops once the gap of every column is known to be at most what is enough for it. Rows
    /// give the cells of all columns, because they lie side by side in memory.
    pub(super) fn precision_bounds(
        &self,
        rows: &[&[f64]],
        columns: &[usize],
        repeats: &[usize],
        enough: &[f64],
    ) -> Vec<f64> {
        const SLOTS: usize = 8192;
        /// Which slots were hit, and how many.
        struct SeenSlots {
            bits: [u64; SLOTS / 64],
            n: usize,
        }
        /// Rows after which it is looked whether a column has been counted long enough.
        const ROWS: usize = 32;
        // The exact precision is a sum of gaps, which rounding may make a little greater than the
        // range.
        let width = |at: usize| (self.greatest[at] - self.least[at]) * (1.0 + 1e-9);
        let bound = |at: usize, n_values: usize| {
            if n_values < 2 { f64::INFINITY } else { width(at) / (n_values - 1) as f64 }
        };
        let of_repeats = |(at, &column): (usize, &usize)| {
            bound(at, self.n_cells(at).saturating_sub(repeats[column]))
        };
        let mut bounds: Vec<f64> = columns.iter().enumerate().map(of_repeats).collect();
        let mut open: Vec<(usize, SeenSlots)> = Vec::new();
        for at in (0..columns.len()).filter(|&at| bounds[at] > enough[at]) {
            open.push((at, SeenSlots { bits: [0; SLOTS / 64], n: 0 }));
        }
        for rows in rows.chunks(ROWS) {
            open.retain_mut(|(at, seen)| {
                let (column, least) = (columns[*at], self.least[*at]);
                let scale = SLOTS as f64 / width(*at);
                for row in rows {
                    // A missing cell hits the first slot, which the least cell hits as well.
                    let slot = ((row[column] - least) * scale) as usize % SLOTS;
                    seen.n += usize::from(seen.bits[slot / 64] >> (slot % 64) & 1 == 0);
                    seen.bits[slot / 64] |= 1 << (slot % 64);
                }
                bounds[*at] = bounds[*at].min(bound(*at, seen.n));
                bounds[*at] > enough[*at]
            });
            if open.is_empty() {
                break;
            }
        }
        bounds
    }

    /// How many cells of a column, by its index among those summed up, are not missing.
    fn n_cells(&self, column: usize) -> usize {
        let all = &self.by_label[self.by_label.len() - 1];
        (all.n_rows - all.missing[column]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::seed::Seed;

    /// 300 rows, of which not all are taken, of 37 columns, which are no multiple of a strip, of which one is not asked
    /// for, and four labels. One cell in fifty is missing.
    #[test]
    fn sums_by_strips_are_those_of_rows_one_by_one() {
        let (n_rows, n_columns, n_labels) = (300, 37, 4);
        let mut rng = Seed::new(7).rng();
        let cells: Vec<f64> = (0..n_rows * n_columns)
            .map(|_| if rng.below(50) == 0 { f64::NAN } else { rng.normal() })
            .collect();
        let data = Dataset::from_rows(n_columns, &cells).unwrap();
        let train = Prepared::as_is(&data);
        let rows: Vec<usize> = (0..n_rows).filter(|row| row % 7 != 0).collect();
        let columns: Vec<usize> = (0..n_columns).filter(|&column| column != 5).collect();
        let mut relevant = RelevantLabels::new(n_labels);
        for _ in &rows {
            let n = rng.below(n_labels + 1);
            relevant.push_row((0..n_labels).filter(|label| (label * 3) % n_labels < n));
        }
        let sums = MomentSums::new(&train, &rows, &columns, &relevant, n_labels).unwrap();
        for (at, &column) in columns.iter().enumerate() {
            for label in 0..n_labels {
                let (mut yes, mut all) = (Moments::default(), Moments::default());
                for (place, &row) in rows.iter().enumerate() {
                    let cell = data.features().get(row, column);
                    if !cell.is_nan() {
                        all.add(cell);
                        if relevant.of(place).contains(&(label as u32)) {
                            yes.add(cell);
                        }
                    }
                }
                assert_eq!(sums.classes(at, label), (all.minus(&yes), yes), "{column} {label}");
            }
        }
    }
}
