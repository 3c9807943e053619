//! How much each training row belongs to the neighbourhood of a row to be labelled.

use crate::product::{exponentials, vectorized};

/// Memberships of every training row in the fuzzy neighbourhood of each row to be labelled: a training
/// row at squared distance D has membership exp(-β D).
#[derive(Clone, Debug)]
pub struct Memberships {
    n_train: usize,
    /// Squared distances D, row by row.
    pub distances: Vec<f64>,
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
        let n_lines = (distances.len() / n_train.max(1)).div_ceil(LANES) * n_train;
        let scaled = Vec::with_capacity(n_lines);
        let mut memberships = Memberships { n_train, distances, decay, scaled };
        memberships.set_decay(decay);
        memberships
    }

    /// β: how fast memberships fall.
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// Changes β.
    pub fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
        self.scaled.clear();
        let n_train = self.n_train.max(1);
        for rows in self.distances.chunks(LANES * n_train) {
            let least: Vec<f64> = rows
                .chunks(n_train)
                .map(|row| row.iter().copied().fold(f64::INFINITY, f64::min))
                .collect();
            let start = self.scaled.len();
            self.scaled.resize(start + n_train, [0.0; LANES]);
            let lines = &mut self.scaled[start..];
            for (lane, (row, least)) in rows.chunks(n_train).zip(least).enumerate() {
                for (line, distance) in lines.iter_mut().zip(row) {
                    line[lane] = -decay * (distance - least);
                }
            }
            vectorized(
                #[inline(always)]
                || lines.iter_mut().for_each(exponentials),
            );
        }
    }

    /// Those of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Memberships {
        let n_train = self.n_train;
        let distances = rows.iter().flat_map(|&row| self.distances_of(row)).copied().collect();
        let mut scaled = vec![[0.0; LANES]; rows.len().div_ceil(LANES) * n_train];
        for (lines, rows) in scaled.chunks_mut(n_train.max(1)).zip(rows.chunks(LANES)) {
            for (lane, &row) in rows.iter().enumerate() {
                let from = &self.scaled[row / LANES * n_train..][..n_train];
                for (line, of_row) in lines.iter_mut().zip(from) {
                    line[lane] = of_row[row % LANES];
                }
            }
        }
        Memberships { n_train, distances, decay: self.decay, scaled }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.distances.len() / self.n_train.max(1)
    }

    /// How many training rows.
    pub fn n_train(&self) -> usize {
        self.n_train
    }

    /// The distances of one row.
    pub fn distances_of(&self, row: usize) -> &[f64] {
        &self.distances[row * self.n_train..(row + 1) * self.n_train]
    }

    /// Memberships in every training row of `LANES` rows at a time; 0 for rows past the last.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &[[f64; LANES]]> {
        self.scaled.chunks(self.n_train.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_rows_have_the_memberships_that_they_have_among_all() {
        let distances: Vec<f64> = (0..20 * 3).map(|at| f64::from(at * 7 % 13)).collect();
        let all = Memberships::new(distances.clone(), 3, 2.0);
        // Two whole blocks.
        let rows = [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19];
        let of_rows = rows.iter().flat_map(|row| distances[row * 3..row * 3 + 3].to_vec());
        let expected = Memberships::new(of_rows.collect(), 3, 2.0);
        let selected = all.select(&rows);
        assert_eq!(selected.distances, expected.distances);
        assert!(selected.blocks().eq(expected.blocks()));
    }
}
