//! Counts, sums and sums of squares by class, for many columns at once.

use crate::data::Matrix;
use crate::prepare::Prepared;
use crate::product::vectorized;

/// Counts, sums and sums of squares of the cells of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) n: f64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Moments {
    pub(super) fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// With divisor n, as WEKA.
    pub(super) fn deviation(&self) -> f64 {
        ((self.squares - self.sum / self.n * self.sum).abs() / self.n).sqrt()
    }

    pub(super) fn less(&self, other: &Moments) -> Moments {
        Moments {
            n: self.n - other.n,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }
}

/// For each row of a group, which of its labels are relevant, by place in the group.
pub(super) struct Relevant {
    starts: Vec<usize>,
    places: Vec<u32>,
}

impl Relevant {
    pub(super) fn new() -> Relevant {
        Relevant { starts: vec![0], places: vec![] }
    }

    pub(super) fn push_row(&mut self, places: impl Iterator<Item = usize>) {
        self.places.extend(places.map(|at| at as u32));
        self.starts.push(self.places.len());
    }

    pub(super) fn by_row(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|span| &self.places[span[0]..span[1]])
    }

    /// Moments of the cells of one column: those relevant to each of `n` labels, and all.
    pub(super) fn moments(
        &self,
        cells: impl Iterator<Item = f64>,
        n: usize,
    ) -> (Vec<Moments>, Moments) {
        let mut by_label = vec![Moments::default(); n];
        let mut all = Moments::default();
        for (cell, relevant) in cells.zip(self.by_row()) {
            if !cell.is_nan() {
                all.add(cell);
                relevant.iter().for_each(|&at| by_label[at as usize].add(cell));
            }
        }
        (by_label, all)
    }
}

/// The moments of many columns of the same rows, added up row by row, for rows lie together in
/// memory and columns do not.
pub(super) struct Table {
    /// One line for each label and one for all rows, last.
    lines: Vec<Line>,
    least: Vec<f64>,
    greatest: Vec<f64>,
}

#[derive(Clone)]
struct Line {
    n_rows: f64,
    missing: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Line {
    #[inline(always)]
    fn add(&mut self, cells: &[f64]) {
        self.n_rows += 1.0;
        for ((sum, square), cell) in self.sums.iter_mut().zip(&mut self.squares).zip(cells) {
            *sum += cell;
            *square += cell * cell;
        }
    }
}

impl Table {
    /// Of some columns, for `n` labels; none for sparse rows.
    pub(super) fn new(
        train: &Prepared,
        rows: &[usize],
        columns: &[usize],
        relevant: &Relevant,
        n: usize,
    ) -> Option<Table> {
        let Matrix::Dense(dense) = train.data().features() else { return None };
        let zeros = vec![0.0; columns.len()];
        let line = Line {
            n_rows: 0.0,
            missing: zeros.clone(),
            sums: zeros.clone(),
            squares: zeros.clone(),
        };
        let mut table = Table {
            lines: vec![line; n + 1],
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
                        table.add(row, relevant, &mut complete);
                    } else {
                        gathered
                            .iter_mut()
                            .zip(columns)
                            .for_each(|(cell, &column)| *cell = row[column]);
                        table.add(&gathered, relevant, &mut complete);
                    }
                }
            },
        );
        Some(table)
    }

    /// Missing cells are counted and then 0, in `complete`.
    #[inline(always)]
    fn add<'c>(&mut self, mut cells: &'c [f64], relevant: &[u32], complete: &'c mut [f64]) {
        let (last, n_labels) = (self.lines.len() - 1, relevant.len());
        let lines = (0..=n_labels).map(|at| relevant.get(at).map_or(last, |&at| at as usize));
        let mut any_missing = false;
        for ((least, greatest), &cell) in self.least.iter_mut().zip(&mut self.greatest).zip(cells) {
            any_missing |= cell.is_nan();
            *least = if cell < *least { cell } else { *least };
            *greatest = if cell > *greatest { cell } else { *greatest };
        }
        if any_missing {
            for (column, cell) in cells.iter().enumerate() {
                complete[column] = if cell.is_nan() { 0.0 } else { *cell };
                for line in lines.clone().filter(|_| cell.is_nan()) {
                    self.lines[line].missing[column] += 1.0;
                }
            }
            cells = complete;
        }
        for line in lines {
            self.lines[line].add(cells);
        }
    }

    /// The column at this place among those asked for, in the classes of one label: irrelevant and
    /// relevant.
    pub(super) fn classes(&self, column: usize, label: usize) -> (Moments, Moments) {
        let of = |line: &Line| Moments {
            n: line.n_rows - line.missing[column],
            sum: line.sums[column],
            squares: line.squares[column],
        };
        let (all, yes) = (of(&self.lines[self.lines.len() - 1]), of(&self.lines[label]));
        (all.less(&yes), yes)
    }

    /// No less than the mean gap between neighbouring values of the column, from counting values
    /// that must differ because they lie in different ones of many slots. Counting stops where the
    /// gap is known to be at most `enough`.
    pub(super) fn widest_precision(
        &self,
        column: usize,
        cells: impl Iterator<Item = f64>,
        enough: f64,
    ) -> f64 {
        const SLOTS: usize = 8192;
        // Gaps are added up one by one elsewhere, so they may come out a little greater.
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
