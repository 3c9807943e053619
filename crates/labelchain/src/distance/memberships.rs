//! How much each training row belongs to the neighbourhood of a row to be labelled.

use std::sync::Arc;

use rayon::prelude::*;

use crate::product::{exponentials, vectorized};

/// Memberships of every training row in the fuzzy neighbourhood of each row to be labelled: a training
/// row at squared distance D has membership exp(-β D).
///
/// Some of the rows of a block share the table of the whole block, which is large.
#[derive(Clone, Debug)]
pub struct Memberships {
    table: Arc<Table>,
    /// The row of the table that each row has.
    rows: Vec<usize>,
}

/// Distances and memberships of the rows of a block.
#[derive(Clone, Debug)]
struct Table {
    n_train: usize,
    /// Squared distances D, row by row.
    distances: Vec<f64>,
    decay: f64,
    /// exp(-β (D - m)), where m is the least distance of the row to any training row. This is the
    /// membership up to a factor exp(β m) of the row, which cancels in every ratio of sums and keeps
    /// the memberships of far rows from vanishing.
    scaled: Vec<[f64; LANES]>,
}

/// The memberships of this many rows in one training row lie side by side, so that one SIMD
/// instruction adds them to the sums of all these rows.
pub(crate) const LANES: usize = 8;

impl Memberships {
    /// Rows with these distances to `n_train` training rows each, and β.
    pub fn new(distances: Vec<f64>, n_train: usize, decay: f64) -> Memberships {
        let n_rows = distances.len() / n_train.max(1);
        let scaled = vec![[0.0; LANES]; n_rows.div_ceil(LANES) * n_train];
        let mut table = Table { n_train, distances, decay, scaled };
        table.set_decay(decay);
        Memberships { table: Arc::new(table), rows: (0..n_rows).collect() }
    }

    /// β: how fast memberships fall.
    pub fn decay(&self) -> f64 {
        self.table.decay
    }

    /// Changes β.
    pub fn set_decay(&mut self, decay: f64) {
        Arc::make_mut(&mut self.table).set_decay(decay);
    }

    /// Those of some rows, ascending.
    pub(crate) fn select(&self, rows: &[usize]) -> Memberships {
        let rows = rows.iter().map(|&row| self.rows[row]).collect();
        Memberships { table: Arc::clone(&self.table), rows }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// How many training rows.
    pub fn n_train(&self) -> usize {
        self.table.n_train
    }

    /// The distances of one row.
    pub fn distances_of(&self, row: usize) -> &[f64] {
        let (row, n_train) = (self.rows[row], self.table.n_train);
        &self.table.distances[row * n_train..(row + 1) * n_train]
    }

    /// The memberships that lie side by side in `LANES` lanes, one line of lanes for each training
    /// row; and the rows that have some of these lanes, each with its lane.
    pub(crate) fn blocks(
        &self,
    ) -> impl Iterator<Item = (&[[f64; LANES]], impl Iterator<Item = (usize, usize)> + Clone)> {
        let n_train = self.table.n_train;
        let is_together = |a: &usize, b: &usize| a / LANES == b / LANES;
        let mut start = 0;
        self.rows.chunk_by(is_together).map(move |rows| {
            let lines = &self.table.scaled[rows[0] / LANES * n_train..][..n_train];
            let first = start;
            start += rows.len();
            (lines, rows.iter().enumerate().map(move |(at, row)| (first + at, row % LANES)))
        })
    }
}

impl Table {
    fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
        let n_train = self.n_train.max(1);
        let distances = self.distances.par_chunks(LANES * n_train);
        self.scaled.par_chunks_mut(n_train).zip(distances).for_each(|(lines, rows)| {
            // Lanes past the last row, which nobody reads, are those of the first once more.
            let row = |lane| rows.chunks(n_train).nth(lane).unwrap_or(&rows[..n_train]);
            let rows: [&[f64]; LANES] = std::array::from_fn(row);
            let least = rows.map(|row| row.iter().copied().fold(f64::INFINITY, f64::min));
            vectorized(
                #[inline(always)]
                || {
                    // The body of a plain loop is inlined and becomes SIMD code; that of `for_each`
                    // is not.
                    for (at, line) in lines.iter_mut().enumerate() {
                        for (lane, exponent) in line.iter_mut().enumerate() {
                            *exponent = -decay * (rows[lane][at] - least[lane]);
                        }
                        exponentials(line);
                    }
                },
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memberships in all training rows of each row.
    fn by_row(memberships: &Memberships) -> Vec<Vec<f64>> {
        let mut by_row = vec![Vec::new(); memberships.n_rows()];
        for (lines, rows) in memberships.blocks() {
            rows.for_each(|(row, lane)| by_row[row] = lines.iter().map(|it| it[lane]).collect());
        }
        by_row
    }

    #[test]
    fn memberships_are_exponentials_of_the_excess_over_the_nearest() {
        let distances: Vec<f64> = (0..11 * 5).map(|at| f64::from(at * 7 % 13)).collect();
        let found = by_row(&Memberships::new(distances.clone(), 5, 0.5));
        for (row, found) in found.iter().enumerate() {
            let of_row = &distances[row * 5..(row + 1) * 5];
            let least = of_row.iter().copied().fold(f64::INFINITY, f64::min);
            for (found, distance) in found.iter().zip(of_row) {
                let expected = (-0.5 * (distance - least)).exp();
                assert!((found - expected).abs() <= 4e-16 * expected, "{found} {expected}");
            }
        }
    }

    #[test]
    fn some_rows_have_the_memberships_that_they_have_among_all() {
        let distances: Vec<f64> = (0..20 * 3).map(|at| f64::from(at * 7 % 13)).collect();
        let all = Memberships::new(distances.clone(), 3, 2.0);
        // Two whole blocks.
        let rows = [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19];
        let of_rows = rows.iter().flat_map(|row| distances[row * 3..row * 3 + 3].to_vec());
        let expected = Memberships::new(of_rows.collect(), 3, 2.0);
        let selected = all.select(&rows);
        for row in 0..rows.len() {
            assert_eq!(selected.distances_of(row), expected.distances_of(row));
        }
        assert_eq!(by_row(&selected), by_row(&expected));
        // The same of some of them again.
        let fewer = [1, 3, 4, 15];
        let of_fewer: Vec<Vec<f64>> =
            fewer.iter().map(|&row| by_row(&expected)[row].clone()).collect();
        assert_eq!(by_row(&selected.select(&fewer)), of_fewer);
    }
}
