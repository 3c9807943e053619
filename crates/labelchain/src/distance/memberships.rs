//! How much each training row belongs to the neighbourhood of a row to be labelled.

use std::sync::Arc;

use rayon::prelude::*;

use super::spare::SpareTables;
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
    scaled: Vec<f64>,
    /// Who takes both tables when they are done with.
    spare: Arc<SpareTables>,
}

impl Drop for Table {
    fn drop(&mut self) {
        self.spare.give(std::mem::take(&mut self.distances));
        self.spare.give(std::mem::take(&mut self.scaled));
    }
}

impl Memberships {
    /// Rows with these distances to `n_train` training rows each, and β.
    pub fn new(distances: Vec<f64>, n_train: usize, decay: f64) -> Memberships {
        let mut scaled = vec![0.0; distances.len()];
        scale_rows(&distances, n_train, decay, &mut scaled);
        Memberships::of_tables(distances, scaled, n_train, decay, &Arc::default())
    }

    /// The same of distances that were scaled, in tables that are spare once they are done with.
    pub(super) fn of_tables(
        distances: Vec<f64>,
        scaled: Vec<f64>,
        n_train: usize,
        decay: f64,
        spare: &Arc<SpareTables>,
    ) -> Memberships {
        let n_rows = distances.len() / n_train.max(1);
        let table = Table { n_train, distances, decay, scaled, spare: Arc::clone(spare) };
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
        self.table.of_row(&self.table.distances, self.rows[row])
    }

    /// The memberships of one row up to a factor of the row: that of the nearest training row is 1.
    pub(crate) fn scaled_of(&self, row: usize) -> &[f64] {
        self.table.of_row(&self.table.scaled, self.rows[row])
    }
}

/// Exponentials that are computed at a time: enough independent ones to keep SIMD registers busy.
const AT_ONCE: usize = 16;

impl Table {
    /// The numbers that one row has in one of the tables.
    fn of_row<'t>(&self, table: &'t [f64], row: usize) -> &'t [f64] {
        &table[row * self.n_train..(row + 1) * self.n_train]
    }

    fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
        scale_rows(&self.distances, self.n_train, decay, &mut self.scaled);
    }
}

/// exp(-β (D - m)) of the distances D of each row to `n_train` training rows, of which m is the least.
pub(super) fn scale_rows(distances: &[f64], n_train: usize, decay: f64, scaled: &mut [f64]) {
    let n_train = n_train.max(1);
    let rows = distances.par_chunks(n_train);
    scaled.par_chunks_mut(n_train).zip(rows).for_each(|(scaled, distances)| {
        vectorized(
            #[inline(always)]
            || scale(distances, decay, scaled),
        );
    });
}

/// exp(-β (D - m)) of the distances D of one row, of which m is the least.
#[inline(always)]
fn scale(distances: &[f64], decay: f64, scaled: &mut [f64]) {
    let (many, few) = distances.as_chunks::<AT_ONCE>();
    // The least of each lane, so that no comparison waits for the one before it.
    let mut lanes = [f64::INFINITY; AT_ONCE];
    for distances in many {
        for (least, &distance) in lanes.iter_mut().zip(distances) {
            *least = if distance < *least { distance } else { *least };
        }
    }
    let least = lanes.iter().chain(few).copied().fold(f64::INFINITY, f64::min);
    let (many_scaled, few_scaled) = scaled.as_chunks_mut::<AT_ONCE>();
    // The bodies of plain loops are inlined and become SIMD code; those of `for_each` are not.
    for (scaled, distances) in many_scaled.iter_mut().zip(many) {
        let mut exponents = *distances;
        for exponent in &mut exponents {
            *exponent = -decay * (*exponent - least);
        }
        exponentials(&mut exponents);
        *scaled = exponents;
    }
    for (scaled, &distance) in few_scaled.iter_mut().zip(few) {
        let mut exponent = [-decay * (distance - least)];
        exponentials(&mut exponent);
        *scaled = exponent[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memberships in all training rows of each row.
    fn by_row(memberships: &Memberships) -> Vec<Vec<f64>> {
        (0..memberships.n_rows()).map(|row| memberships.scaled_of(row).to_vec()).collect()
    }

    #[test]
    fn memberships_are_exponentials_of_the_excess_over_the_nearest() {
        // As many as are computed at a time, and some more.
        let n_train = AT_ONCE + 5;
        let distances: Vec<f64> = (0..11 * n_train).map(|at| (at * 7 % 13) as f64).collect();
        let found = by_row(&Memberships::new(distances.clone(), n_train, 0.5));
        for (row, found) in found.iter().enumerate() {
            let of_row = &distances[row * n_train..(row + 1) * n_train];
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
