//! Distances that are summed term by term in column order.
//!
//! Such a distance depends on its two rows alone. A matrix product is faster, but how it rounds depends
//! on how it groups the terms, so that rows equally far would not always come out as equally far.

use std::sync::{Arc, OnceLock};

use super::ColumnBlocks;
use super::column_blocks::Comparison;
use crate::data::{Attribute, Dense, Matrix};
use crate::product::vectorized;

/// All training rows, for distances to some or to every one of them.
pub(super) struct TermSums {
    comparisons: Vec<Comparison>,
    features: Matrix,
    /// Dense rows laid out for distances to all of them, once somebody asks for these.
    blocks: OnceLock<ColumnBlocks>,
}

/// A row to be labelled, with the training rows that it can be measured against.
pub(super) struct Query {
    train: Arc<TermSums>,
    cells: QueryCells,
}

enum QueryCells {
    /// Every cell, for dense training rows.
    Dense(Vec<f64>),
    /// The stored (column, value), for sparse ones.
    Sparse(Vec<(usize, f64)>),
}

impl TermSums {
    pub(super) fn new(attributes: &[Attribute], features: &Matrix) -> TermSums {
        let comparisons = attributes.iter().map(Comparison::of).collect();
        TermSums { comparisons, features: features.clone(), blocks: OnceLock::new() }
    }

    /// One of the rows to be labelled.
    pub(super) fn query(self: &Arc<Self>, queries: &Matrix, row: usize) -> Query {
        let cells = match self.features {
            Matrix::Dense(_) => {
                let mut cells = vec![0.0; self.comparisons.len()];
                queries.entries(row).for_each(|(column, value)| cells[column] = value);
                QueryCells::Dense(cells)
            }
            Matrix::Sparse(_) => QueryCells::Sparse(queries.entries(row).collect()),
        };
        Query { train: Arc::clone(self), cells }
    }

    fn blocks(&self) -> &ColumnBlocks {
        self.blocks.get_or_init(|| {
            let rows: Vec<usize> = (0..self.features.n_rows()).collect();
            let columns = self.comparisons.iter().copied().enumerate().collect();
            ColumnBlocks::of_columns(columns, &self.features, &[], &rows)
        })
    }
}

impl Query {
    /// The squared distance to every training row.
    pub(super) fn distances(&self) -> Vec<f64> {
        let train = &*self.train;
        match &self.cells {
            QueryCells::Dense(cells) => train.blocks().distances(cells).collect(),
            QueryCells::Sparse(stored) => {
                let distance =
                    |row| sparse_distance(&train.comparisons, stored, train.features.entries(row));
                (0..train.features.n_rows()).map(distance).collect()
            }
        }
    }

    /// The squared distances to some training rows; no cell is missing.
    pub(super) fn distances_to(&self, rows: &[u32]) -> Vec<f64> {
        let TermSums { comparisons, features, .. } = &*self.train;
        match (&self.cells, features) {
            (QueryCells::Dense(cells), Matrix::Dense(train)) => {
                dense_distances(comparisons, train, cells, rows)
            }
            (QueryCells::Sparse(stored), train) => {
                let entries = rows.iter().map(|&row| train.entries(row as usize));
                entries.map(|of_row| sparse_distance(comparisons, stored, of_row)).collect()
            }
            // Cells are dense where the training rows are.
            (QueryCells::Dense(_), Matrix::Sparse(_)) => Vec::new(),
        }
    }
}

/// Adds the squared differences of as many columns as fill SIMD registers, and returns how many these are.
///
/// A register has the terms of neighbouring columns in one row, but a sum takes them in the order of the
/// columns. The terms of N columns in N rows are therefore transposed before they are added.
#[inline(always)]
fn add_squares<const N: usize>(sums: &mut [f64; N], cells: &[f64], rows: &[&[f64]; N]) -> usize {
    let (of_columns, _) = cells.as_chunks::<N>();
    for (at, cells) in of_columns.iter().enumerate() {
        let mut terms = [[0.0; N]; N];
        for (terms, row) in terms.iter_mut().zip(rows) {
            let row = &row[at * N..at * N + N];
            for ((term, x), v) in terms.iter_mut().zip(cells).zip(row) {
                *term = (x - v) * (x - v);
            }
        }
        for column in 0..N {
            for (sum, terms) in sums.iter_mut().zip(&terms) {
                *sum += terms[column];
            }
        }
    }
    of_columns.as_flattened().len()
}

/// The squared distances from a row with these cells to some training rows; no cell is missing.
///
/// The rows are far apart in memory, so that they cannot fill a SIMD register at once; but eight sums
/// that do not wait for each other take the time of one.
fn dense_distances(
    comparisons: &[Comparison],
    train: &Dense,
    cells: &[f64],
    rows: &[u32],
) -> Vec<f64> {
    const AT_ONCE: usize = 8;
    let is_numeric = comparisons.iter().all(|it| matches!(it, Comparison::Numeric));
    let mut distances = Vec::with_capacity(rows.len().next_multiple_of(AT_ONCE));
    for places in rows.chunks(AT_ONCE) {
        // The last rows are filled up with the first of them, whose sums are dropped below.
        let row = |at: usize| {
            let row = *places.get(at).unwrap_or(&places[0]);
            // That it is as long as the cells spares the loop below a check of each index.
            &train.row(row as usize)[..cells.len()]
        };
        let rows: [&[f64]; AT_ONCE] = std::array::from_fn(row);
        distances.extend(vectorized(
            #[inline(always)]
            || {
                let mut sums = [0.0; AT_ONCE];
                let n_squared = if is_numeric { add_squares(&mut sums, cells, &rows) } else { 0 };
                // The bodies of plain loops are inlined; those of `map` and `for_each` are not always.
                for (column, (&x, comparison)) in
                    cells.iter().zip(comparisons).enumerate().skip(n_squared)
                {
                    for (sum, row) in sums.iter_mut().zip(&rows) {
                        *sum += comparison.term(x, row[column]);
                    }
                }
                sums
            },
        ));
    }
    distances.truncate(rows.len());
    distances
}

/// The squared distance of two sparse rows, by merging their stored cells in column order. A column
/// that neither row stores is 0 in both and adds nothing.
fn sparse_distance(
    comparisons: &[Comparison],
    mut xs: &[(usize, f64)],
    vs: impl Iterator<Item = (usize, f64)>,
) -> f64 {
    let mut sum = 0.0;
    for (column, v) in vs {
        while let Some((&(before, x), rest)) = xs.split_first()
            && before < column
        {
            sum += comparisons[before].term(x, 0.0);
            xs = rest;
        }
        let x = match xs.split_first() {
            Some((&(same, x), rest)) if same == column => {
                xs = rest;
                x
            }
            _ => 0.0,
        };
        sum += comparisons[column].term(x, v);
    }
    xs.iter().fold(sum, |sum, &(column, x)| sum + comparisons[column].term(x, 0.0))
}
