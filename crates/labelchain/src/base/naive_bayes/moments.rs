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

    pub(super) fn by_row(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|span| &self.indices[span[0]..span[1]])
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

/// The moments of many columns of the same rows. They are summed row by row, because the cells of a
/// row lie side by side in memory: adding a row is a SIMD loop over its columns.
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

impl RowSums {
    #[inline(always)]
    fn add(&mut self, cells: &[f64]) {
        self.n_rows += 1.0;
        for ((sum, square), cell) in self.sums.iter_mut().zip(&mut self.squares).zip(cells) {
            *sum += cell;
            *square += cell * cell;
        }
    }
}

impl MomentSums {
    /// Sums up some columns for `n` labels; none for sparse rows.
    pub(super) fn new(
        train: &Prepared,
        rows: &[usize],
        columns: &[usize],
        relevant: &RelevantLabels,
        n: usize,
    ) -> Option<MomentSums> {
        let Matrix::Dense(dense) = train.data().features() else { return None };
        let zeros = vec![0.0; columns.len()];
        let no_rows = RowSums {
            n_rows: 0.0,
            missing: zeros.clone(),
            sums: zeros.clone(),
            squares: zeros.clone(),
        };
        let mut moments = MomentSums {
            by_label: vec![no_rows; n + 1],
            least: vec![f64::INFINITY; columns.len()],
            greatest: vec![f64::NEG_INFINITY; columns.len()],
        };
        let (mut gathered, mut complete) = (zeros.clone(), zeros);
        vectorized(
            #[inline(always)]
            || {
                for (&row, relevant) in rows.iter().zip(relevant.by_row()) {
                    let row = dense.row(row);
                    if row.len() == columns.len() {
                        moments.add(row, relevant, &mut complete);
                    } else {
                        gathered
                            .iter_mut()
                            .zip(columns)
                            .for_each(|(cell, &column)| *cell = row[column]);
                        moments.add(&gathered, relevant, &mut complete);
                    }
                }
            },
        );
        Some(moments)
    }

    /// Adds a row to the sums of its relevant labels and to those of all rows. Missing cells are
    /// counted, and add 0 to the sums: `complete` is room for a copy of the cells in which they are
    /// 0.
    #[inline(always)]
    fn add<'c>(&mut self, mut cells: &'c [f64], relevant: &[u32], complete: &'c mut [f64]) {
        let (all_rows, n_relevant) = (self.by_label.len() - 1, relevant.len());
        let indices =
            (0..=n_relevant).map(|at| relevant.get(at).map_or(all_rows, |&at| at as usize));
        let mut any_missing = false;
        for ((least, greatest), &cell) in self.least.iter_mut().zip(&mut self.greatest).zip(cells) {
            any_missing |= cell.is_nan();
            *least = if cell < *least { cell } else { *least };
            *greatest = if cell > *greatest { cell } else { *greatest };
        }
        if any_missing {
            for (column, cell) in cells.iter().enumerate() {
                complete[column] = if cell.is_nan() { 0.0 } else { *cell };
                for index in indices.clone().filter(|_| cell.is_nan()) {
                    self.by_label[index].missing[column] += 1.0;
                }
            }
            cells = complete;
        }
        for index in indices {
            self.by_label[index].add(cells);
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

    /// An upper bound on the mean gap between neighbouring distinct values of the column.
    ///
    /// The mean gap is range / (distinct values - 1). The range is cut into many slots, and cells
    /// in different slots are distinct, so the number of slots hit is a lower bound on that of
    /// distinct values, without sorting. Counting stops once the gap is known to be at most
    /// `enough`.
    pub(super) fn precision_bound(
        &self,
        column: usize,
        cells: impl Iterator<Item = f64>,
        enough: f64,
    ) -> f64 {
        const SLOTS: usize = 8192;
        // The exact precision is a sum of gaps, which rounding may make a little greater than the
        // range.
        let width = (self.greatest[column] - self.least[column]) * (1.0 + 1e-9);
        let n_enough = width / enough + 2.0;
        let (mut seen, mut n_seen) = ([0u64; SLOTS / 64], 0);
        let scale = SLOTS as f64 / width;
        for cell in cells.filter(|cell| !cell.is_nan()) {
            let slot = ((cell - self.least[column]) * scale) as usize % SLOTS;
            n_seen += u32::from(seen[slot / 64] >> (slot % 64) & 1 == 0);
            seen[slot / 64] |= 1 << (slot % 64);
            if f64::from(n_seen) >= n_enough {
                break;
            }
        }
        if n_seen < 2 { f64::INFINITY } else { width / f64::from(n_seen - 1) }
    }
}
