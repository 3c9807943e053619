//! The cells of some rows, column by column, as far as they are stored.
//!
//! A row of words has few cells beside its zeros, and sparse rows leave zeros out. What naive Bayes counts
//! and sums then takes as long as there are stored cells: a cell that is left out adds nothing to a sum of
//! scaled cells, which are 0 there, and how many are left out follows from the number of rows.

use crate::data::{Matrix, Sparse};
use crate::prepare::Spread;

/// The cells of some columns in some rows.
pub(super) struct StoredCells<'m> {
    features: &'m Matrix,
    rows: &'m [usize],
    /// What has to be added to every cell of a column, and is the value of one that is left out.
    zero: &'m [f64],
    columns: &'m [usize],
    /// Of sparse rows, where the cells of each of the columns start, and at last where they end. Of dense rows,
    /// nothing, because a column is as long as there are rows.
    starts: Vec<usize>,
    /// The rows that store the cells, as places in `rows`, ascending in each column.
    places: Vec<u32>,
    /// The cells of sparse rows; those of dense rows are gathered when a column is asked for.
    values: Vec<f64>,
}

/// The cells of one column.
pub(super) struct ColumnCells<'c> {
    /// How many rows there are, whether they store a cell or leave it out.
    pub(super) n_rows: usize,
    places: &'c [u32],
    values: &'c [f64],
    /// What has to be added to every cell, and is the value of one that is left out.
    pub(super) zero: f64,
}

impl<'m> StoredCells<'m> {
    /// The cells of some columns, ascending, in some rows; `zero` is by column.
    pub(super) fn new(
        features: &'m Matrix,
        rows: &'m [usize],
        columns: &'m [usize],
        zero: &'m [f64],
    ) -> StoredCells<'m> {
        let (starts, places, values) = match features {
            Matrix::Dense(_) => (vec![], (0..).take(rows.len()).collect(), vec![]),
            Matrix::Sparse(sparse) => transposed(sparse, rows, columns, features.n_columns()),
        };
        StoredCells { features, rows, zero, columns, starts, places, values }
    }

    /// The cells of the column that is `at` in the list of columns; `room` is for those of dense rows.
    pub(super) fn column<'c>(&'c self, at: usize, room: &'c mut Vec<f64>) -> ColumnCells<'c> {
        let (n_rows, column) = (self.rows.len(), self.columns[at]);
        let zero = self.zero[column];
        match self.features {
            Matrix::Dense(dense) => {
                room.clear();
                room.extend(self.rows.iter().map(|&row| dense.row(row)[column]));
                ColumnCells { n_rows, places: &self.places, values: room, zero }
            }
            Matrix::Sparse(_) => {
                let span = self.starts[at]..self.starts[at + 1];
                let (places, values) = (&self.places[span.clone()], &self.values[span]);
                ColumnCells { n_rows, places, values, zero }
            }
        }
    }
}

/// Rows turned into columns by counting: where each column starts, and its places and cells.
fn transposed(
    sparse: &Sparse,
    rows: &[usize],
    columns: &[usize],
    n_columns: usize,
) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    const UNUSED: u32 = u32::MAX;
    let mut index = vec![UNUSED; n_columns];
    (0..).zip(columns).for_each(|(at, &column)| index[column] = at);
    let mut ends = vec![0usize; columns.len() + 1];
    for &row in rows {
        for &column in sparse.row(row).0 {
            let at = index[column as usize];
            if at != UNUSED {
                ends[at as usize + 1] += 1;
            }
        }
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let (starts, n_cells) = (ends.clone(), ends[columns.len()]);
    let (mut places, mut values) = (vec![0; n_cells], vec![0.0; n_cells]);
    for (place, &row) in (0..).zip(rows) {
        let (columns, cells) = sparse.row(row);
        for (&column, &cell) in columns.iter().zip(cells) {
            let at = index[column as usize];
            if at != UNUSED {
                // What was the start of a column moves on with each of its cells.
                let next = &mut ends[at as usize];
                (places[*next], values[*next]) = (place, cell);
                *next += 1;
            }
        }
    }
    (starts, places, values)
}

impl ColumnCells<'_> {
    /// The stored cells, missing ones as NaN, each with the place of its row.
    pub(super) fn stored(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.places.iter().map(|&place| place as usize).zip(self.values.iter().copied())
    }

    /// Whether a row leaves its cell out.
    pub(super) fn has_left_out(&self) -> bool {
        self.values.len() < self.n_rows
    }

    /// The different values of the column.
    pub(super) fn spread(&self) -> Spread {
        /// So many values are compared with each cell before it is cheaper to sort all cells.
        const FEW: usize = 16;
        let mut distinct: Vec<f64> = Vec::with_capacity(FEW + 1);
        distinct.extend(self.has_left_out().then_some(0.0));
        for &value in self.values.iter().filter(|value| !value.is_nan()) {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
            if distinct.len() > FEW {
                distinct.extend(self.values.iter().filter(|value| !value.is_nan()));
                break;
            }
        }
        distinct.sort_unstable_by(f64::total_cmp);
        // By value: -0 is 0.
        distinct.dedup();
        let gaps = distinct.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, greatest) = (distinct.first(), distinct.last());
        let end = |value: Option<&f64>| value.unwrap_or(&0.0) + self.zero;
        Spread {
            n_gaps: distinct.len().saturating_sub(1),
            gaps: gaps.sum(),
            least: end(least),
            greatest: end(greatest),
        }
    }
}
