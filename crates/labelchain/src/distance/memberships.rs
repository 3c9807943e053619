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
    ///
    /// They lie group by group of [`GROUP_ROWS`] rows, and in a group by training row: those that the rows of
    /// the group have in one training row are side by side.
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
        let n_rows = distances.len() / n_train.max(1);
        let mut scaled = vec![0.0; n_rows.next_multiple_of(GROUP_ROWS) * n_train];
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
        let (n_train, row) = (self.table.n_train, self.rows[row]);
        &self.table.distances[row * n_train..(row + 1) * n_train]
    }

    /// The rows in groups whose memberships lie side by side.
    pub(crate) fn groups(&self) -> impl Iterator<Item = MembershipGroup<'_>> {
        let (lines, _) = self.table.scaled.as_chunks();
        let mut start = 0;
        self.rows.chunk_by(|a, b| a / GROUP_ROWS == b / GROUP_ROWS).map(move |rows| {
            let first = start;
            start += rows.len();
            let lines_before = rows[0] / GROUP_ROWS * self.table.n_train;
            let lines = &lines[lines_before..lines_before + self.table.n_train];
            MembershipGroup { lines, rows, first }
        })
    }
}

/// Rows whose memberships are added up together: one SIMD instruction adds those that all of them have
/// in one training row.
pub(crate) const GROUP_ROWS: usize = 8;

/// The memberships of some rows that lie side by side, up to a factor of each row: that of the training row
/// nearest to it is 1.
pub(crate) struct MembershipGroup<'m> {
    /// By training row. A place that belongs to none of the rows has any numbers.
    pub(crate) lines: &'m [[f64; GROUP_ROWS]],
    /// The rows of the table that are asked for.
    rows: &'m [usize],
    /// The first of these.
    first: usize,
}

impl MembershipGroup<'_> {
    /// The rows that are asked for, each with its place in every line.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        (self.first..).zip(self.rows.iter().map(|row| row % GROUP_ROWS))
    }
}

/// Exponentials that are computed at a time: enough independent ones to keep SIMD registers busy.
const AT_ONCE: usize = 16;

impl Table {
    fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
        scale_rows(&self.distances, self.n_train, decay, &mut self.scaled);
    }
}

/// exp(-β (D - m)) of the distances D of each row to `n_train` training rows, of which m is the least; group by
/// group.
pub(super) fn scale_rows(distances: &[f64], n_train: usize, decay: f64, scaled: &mut [f64]) {
    let of_group = (GROUP_ROWS * n_train).max(1);
    scaled.par_chunks_mut(of_group).zip(distances.par_chunks(of_group)).for_each(
        |(scaled, distances)| {
            vectorized(
                #[inline(always)]
                || scale_group(distances, n_train, decay, scaled.as_chunks_mut().0),
            );
        },
    );
}

/// The same for the rows of one group, whose distances are row by row.
#[inline(always)]
fn scale_group(distances: &[f64], n_train: usize, decay: f64, lines: &mut [[f64; GROUP_ROWS]]) {
    /// Lines that stay in the fastest cache while one row after the other puts its memberships there.
    const LINES: usize = 128;
    let mut least = [0.0; GROUP_ROWS];
    for (least, distances) in least.iter_mut().zip(distances.chunks(n_train)) {
        *least = least_of(distances);
    }
    for (at, lines) in lines.chunks_mut(LINES).enumerate() {
        for (place, distances) in distances.chunks(n_train).enumerate() {
            let distances = &distances[at * LINES..at * LINES + lines.len()];
            let (many, few) = distances.as_chunks::<AT_ONCE>();
            let (many_lines, few_lines) = lines.as_chunks_mut::<AT_ONCE>();
            // The bodies of plain loops are inlined and become SIMD code; those of `for_each` are not.
            for (lines, distances) in many_lines.iter_mut().zip(many) {
                scale(distances, decay, least[place], place, lines);
            }
            for (line, &distance) in few_lines.iter_mut().zip(few) {
                scale(&[distance], decay, least[place], place, std::array::from_mut(line));
            }
        }
    }
}

/// exp(-β (D - m)) of some distances D, each at one place of its line.
#[inline(always)]
fn scale<const N: usize>(
    distances: &[f64; N],
    decay: f64,
    least: f64,
    place: usize,
    lines: &mut [[f64; GROUP_ROWS]; N],
) {
    let mut exponents = *distances;
    for exponent in &mut exponents {
        *exponent = -decay * (*exponent - least);
    }
    exponentials(&mut exponents);
    for (line, scaled) in lines.iter_mut().zip(exponents) {
        line[place] = scaled;
    }
}

/// The least of some distances.
#[inline(always)]
fn least_of(distances: &[f64]) -> f64 {
    let (many, few) = distances.as_chunks::<AT_ONCE>();
    // The least of each lane, so that no comparison waits for the one before it.
    let mut lanes = [f64::INFINITY; AT_ONCE];
    for distances in many {
        for (least, &distance) in lanes.iter_mut().zip(distances) {
            *least = if distance < *least { distance } else { *least };
        }
    }
    lanes.iter().chain(few).copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memberships in all training rows of each row.
    fn by_row(memberships: &Memberships) -> Vec<Vec<f64>> {
        let mut by_row = vec![Vec::new(); memberships.n_rows()];
        for group in memberships.groups() {
            for (row, place) in group.rows() {
                by_row[row] = group.lines.iter().map(|line| line[place]).collect();
            }
        }
        by_row
    }

    #[test]
    fn memberships_are_exponentials_of_the_excess_over_the_nearest() {
        // More lines than are written at a time, and some more than are computed at a time.
        let n_train = 128 + AT_ONCE + 5;
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
