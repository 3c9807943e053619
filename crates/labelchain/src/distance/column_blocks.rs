//! Squared distances to some training rows in some of their inputs.
//!
//! A distance is a sum of one term per column. The rows are cut into blocks of [`BLOCK_ROWS`], and
//! a block stores its cells column by column: the terms that one column adds to all rows of the
//! block then lie side by side in memory, and the compiler turns the loop over them into SIMD
//! instructions.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::data::{Attribute, Matrix};
use crate::product::vectorized;

/// How far apart two cells of a numeric input are. In either metric a nominal input adds 0 where
/// the two values are equal, and 1 where they differ or one of them is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// `euclidean`: their squared difference; 2 where one is missing, the expected squared
    /// difference of two independent standardized values (docs/methods.md, 2).
    #[default]
    Euclidean,
    /// `weka`: as in WEKA's IBk, the squared difference after each input was scaled so that the
    /// rows that vote range from 0 to 1; a missing cell is as far away as it could be (methods
    /// 8.2).
    Weka,
}

/// How the cells of one column are compared.
#[derive(Clone, Copy)]
pub(super) enum Comparison {
    Nominal,
    Numeric,
    /// Numeric after min-max scaling: the range becomes 0 to 1.
    MinMax(Range),
}

impl Comparison {
    pub(super) fn of(attribute: &Attribute) -> Comparison {
        if attribute.values().is_some() { Comparison::Nominal } else { Comparison::Numeric }
    }

    /// The value that the comparison works with.
    fn scaled(self, value: f64) -> f64 {
        match self {
            Comparison::MinMax(range) => range.scaled(value),
            Comparison::Nominal | Comparison::Numeric => value,
        }
    }

    /// What two scaled cells add to a squared distance.
    #[inline(always)]
    pub(super) fn term(self, x: f64, v: f64) -> f64 {
        match self {
            // A missing cell is NaN, which differs from everything.
            Comparison::Nominal => f64::from(u8::from(x != v)),
            Comparison::Numeric => {
                let square = (x - v) * (x - v);
                if square.is_nan() { 2.0 } else { square }
            }
            Comparison::MinMax(_) => {
                let known = if x.is_nan() { v } else { x };
                let farthest = if known.is_nan() { 1.0 } else { known.max(1.0 - known) };
                let difference = x - v;
                let difference = if difference.is_nan() { farthest } else { difference };
                difference * difference
            }
        }
    }
}

/// The least value of a column and the width up to its greatest; 0 and 0 if it has no value.
#[derive(Clone, Copy)]
pub(super) struct Range {
    least: f64,
    width: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f64>) -> Range {
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| !value.is_nan()) {
            (least, greatest) = (least.min(value), greatest.max(value));
        }
        if least <= greatest {
            Range { least, width: greatest - least }
        } else {
            Range { least: 0.0, width: 0.0 }
        }
    }

    /// (value - least) / width; 0 where the column has one value only. A missing value stays NaN.
    fn scaled(self, value: f64) -> f64 {
        if self.width > 0.0 || value.is_nan() { (value - self.least) / self.width } else { 0.0 }
    }
}

/// Rows of a block, whose distances are summed at the same time in SIMD registers.
const BLOCK_ROWS: usize = 32;

/// Some rows and columns of the training set, in blocks that store their cells column by column.
///
/// The terms of a distance are added in column order for every row, so a distance does not depend
/// on the rows that share its block. Rows whose cells are equal may be stored once.
pub struct ColumnBlocks {
    columns: Vec<(usize, Comparison)>,
    /// The scaled cells of the stored rows: block by block, and in a block column by column.
    cells: Vec<[f64; BLOCK_ROWS]>,
    /// How many rows are stored; the last block is filled up with cells that nobody reads.
    n_stored: usize,
    /// The stored row that has the cells of each row.
    stored_row: Vec<u32>,
}

impl ColumnBlocks {
    /// Lays out some rows and columns. `stored` holds the stored (value, row) of every column of
    /// sparse features; dense features do not need it.
    pub(super) fn new(
        attributes: &[Attribute],
        features: &Matrix,
        stored: &[Vec<(f64, u32)>],
        rows: &[usize],
        columns: &[usize],
        metric: Metric,
    ) -> ColumnBlocks {
        let comparison = |column: usize| match (Comparison::of(&attributes[column]), metric) {
            (Comparison::Numeric, Metric::Weka) => {
                Comparison::MinMax(Range::of(rows.iter().map(|&row| features.get(row, column))))
            }
            (comparison, _) => comparison,
        };
        let columns = columns.iter().map(|&column| (column, comparison(column))).collect();
        ColumnBlocks::of_columns(columns, features, stored, rows)
    }

    /// The same for columns of which it is known how their cells are compared.
    pub(super) fn of_columns(
        columns: Vec<(usize, Comparison)>,
        features: &Matrix,
        stored: &[Vec<(f64, u32)>],
        rows: &[usize],
    ) -> ColumnBlocks {
        match features {
            Matrix::Dense(dense) => {
                let n_blocks = rows.len().div_ceil(BLOCK_ROWS);
                let mut cells = vec![[0.0; BLOCK_ROWS]; n_blocks * columns.len()];
                for (at, &row) in rows.iter().enumerate() {
                    let (row, block) = (dense.row(row), at / BLOCK_ROWS * columns.len());
                    for (cells, &(column, comparison)) in cells[block..].iter_mut().zip(&columns) {
                        cells[at % BLOCK_ROWS] = comparison.scaled(row[column]);
                    }
                }
                let stored_row = (0..rows.len() as u32).collect();
                ColumnBlocks { columns, cells, n_stored: rows.len(), stored_row }
            }
            Matrix::Sparse(_) => {
                ColumnBlocks::of_distinct_rows(columns, features.n_rows(), stored, rows)
            }
        }
    }

    /// Stores rows with the same cells once. It pays where few features were selected from sparse
    /// rows: most texts contain none of a few selected words, and a tenth of the rows may be
    /// distinct.
    fn of_distinct_rows(
        columns: Vec<(usize, Comparison)>,
        n_rows: usize,
        stored: &[Vec<(f64, u32)>],
        rows: &[usize],
    ) -> ColumnBlocks {
        let (group, n_groups) = group_equal_rows(&columns, n_rows, stored, rows);
        // The first row of each group is stored and stands for the others.
        let mut stored_row_of_group = vec![None; n_groups];
        let mut stored_at = vec![None; n_rows];
        let mut n_stored = 0;
        let stored_row = rows.iter().map(|&row| {
            *stored_row_of_group[group[row] as usize].get_or_insert_with(|| {
                stored_at[row] = Some(n_stored as usize);
                n_stored += 1;
                n_stored - 1
            })
        });
        let stored_row: Vec<u32> = stored_row.collect();
        let n_stored = n_stored as usize;
        let zeros = columns.iter().map(|(_, comparison)| [comparison.scaled(0.0); BLOCK_ROWS]);
        let zeros: Vec<[f64; BLOCK_ROWS]> = zeros.collect();
        let mut cells = zeros.repeat(n_stored.div_ceil(BLOCK_ROWS));
        for (at_column, (column, comparison)) in columns.iter().enumerate() {
            for &(value, row) in &stored[*column] {
                if let Some(at) = stored_at[row as usize] {
                    cells[at / BLOCK_ROWS * columns.len() + at_column][at % BLOCK_ROWS] =
                        comparison.scaled(value);
                }
            }
        }
        ColumnBlocks { columns, cells, n_stored, stored_row }
    }

    /// The scaled cells of a row of `features`, which are standardized as the training rows are.
    pub fn cells(&self, features: &Matrix, row: usize) -> Vec<f64> {
        let cell = |&(column, comparison): &(usize, Comparison)| {
            comparison.scaled(features.get(row, column))
        };
        self.columns.iter().map(cell).collect()
    }

    /// The squared distance from a row with these scaled cells to each of the rows.
    pub fn distances(&self, cells: &[f64]) -> impl Iterator<Item = f64> {
        let comparisons = self.columns.iter().map(|&(_, comparison)| comparison);
        let query: Vec<(f64, Comparison)> = cells.iter().copied().zip(comparisons).collect();
        let mut distances = vec![0.0; self.n_stored];
        if !query.is_empty() {
            let blocks = self.cells.chunks(query.len());
            for (distances, cells) in distances.chunks_mut(BLOCK_ROWS).zip(blocks) {
                let sums = vectorized(
                    #[inline(always)]
                    || block_distances(&query, cells),
                );
                distances.copy_from_slice(&sums[..distances.len()]);
            }
        }
        self.stored_row.iter().map(move |&at| distances[at as usize])
    }
}

/// Groups the rows by their cells: returns the group of each row, and how many groups there are.
///
/// All rows start in one group. Every column then splits the groups by the values stored in it, and
/// rows that store nothing there stay where they are, so the work is that of the stored cells.
fn group_equal_rows(
    columns: &[(usize, Comparison)],
    n_rows: usize,
    stored: &[Vec<(f64, u32)>],
    rows: &[usize],
) -> (Vec<u32>, usize) {
    let (mut group, mut n_groups) = (vec![0; n_rows], 1);
    let mut is_here = vec![false; n_rows];
    rows.iter().for_each(|&row| is_here[row] = true);
    let mut new_groups: HashMap<(u32, u64), u32> = HashMap::new();
    for &(column, _) in columns {
        new_groups.clear();
        for &(value, row) in stored[column].iter().filter(|it| is_here[it.1 as usize]) {
            let group = &mut group[row as usize];
            *group = *new_groups.entry((*group, value.to_bits())).or_insert_with(|| {
                n_groups += 1;
                n_groups - 1
            });
        }
    }
    (group, n_groups as usize)
}

/// The squared distances from a query to the rows of one block.
#[inline(always)]
fn block_distances(query: &[(f64, Comparison)], cells: &[[f64; BLOCK_ROWS]]) -> [f64; BLOCK_ROWS] {
    let is_nominal =
        |(_, comparison): &(f64, Comparison)| matches!(comparison, Comparison::Nominal);
    let mut sums = [0.0; BLOCK_ROWS];
    let mut rest = cells;
    // Neighbouring columns of one kind share a loop without branches, which becomes SIMD code.
    for run in query.chunk_by(|a, b| is_nominal(a) == is_nominal(b)) {
        let here;
        (here, rest) = rest.split_at(run.len());
        if run.first().is_some_and(is_nominal) {
            add_terms(&mut sums, run, here, |_, x, v| Comparison::Nominal.term(x, v));
        } else {
            // This term is right where no cell is missing.
            add_terms(&mut sums, run, here, |_, x, v| (x - v) * (x - v));
        }
    }
    // A missing numeric cell made its sum NaN, and nothing else does: the block is summed again.
    if sums.iter().fold(false, |any, sum| any | sum.is_nan()) {
        sums = [0.0; BLOCK_ROWS];
        add_terms(&mut sums, query, cells, Comparison::term);
    }
    sums
}

/// Adds the terms of some columns to the sums of the rows of a block.
#[inline(always)]
fn add_terms(
    sums: &mut [f64; BLOCK_ROWS],
    query: &[(f64, Comparison)],
    cells: &[[f64; BLOCK_ROWS]],
    term: impl Fn(Comparison, f64, f64) -> f64,
) {
    // The compiler can keep a local copy in registers through all columns.
    let mut totals = *sums;
    for (&(x, comparison), cells) in query.iter().zip(cells) {
        totals.iter_mut().zip(cells).for_each(|(sum, &v)| *sum += term(comparison, x, v));
    }
    *sums = totals;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Sparse};
    use crate::prepare::stored_cells;
    use proptest::prelude::*;

    fn blocks(cells: [f64; 3], metric: Metric) -> ColumnBlocks {
        let mut dense = Dense::new(1);
        cells.iter().for_each(|&cell| dense.push_row(&[cell]));
        let attributes = [Attribute::numeric("x")];
        ColumnBlocks::new(&attributes, &Matrix::Dense(dense), &[], &[0, 1, 2], &[0], metric)
    }

    fn distances(blocks: &ColumnBlocks, cell: f64) -> Vec<f64> {
        let mut dense = Dense::new(1);
        dense.push_row(&[cell]);
        blocks.distances(&blocks.cells(&Matrix::Dense(dense), 0)).collect()
    }

    #[test]
    fn weka_scales_to_the_range_of_the_rows() {
        // 2, 4 and 6 are 0, 1/2 and 1 of the range; 8 is 3/2 of it.
        let blocks = blocks([2.0, 4.0, 6.0], Metric::Weka);
        assert_eq!(distances(&blocks, 4.0), [0.25, 0.0, 0.25]);
        assert_eq!(distances(&blocks, 8.0), [2.25, 1.0, 0.25]);
    }

    #[test]
    fn for_weka_a_missing_cell_is_as_far_as_the_range_allows() {
        // 3 is 1/4 of the range from 2 to 6, so what is missing may be 3/4 away.
        let blocks = blocks([2.0, f64::NAN, 6.0], Metric::Weka);
        assert_eq!(distances(&blocks, 3.0), [0.0625, 0.5625, 0.5625]);
        assert_eq!(distances(&blocks, f64::NAN), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn for_weka_a_constant_or_unknown_column_is_no_distance_unless_missing() {
        let constant = blocks([5.0, 5.0, f64::NAN], Metric::Weka);
        assert_eq!(distances(&constant, 9.0), [0.0, 0.0, 1.0]);
        let unknown = blocks([f64::NAN; 3], Metric::Weka);
        assert_eq!(distances(&unknown, 9.0), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_missing_standardized_cell_costs_two() {
        let blocks = blocks([2.0, f64::NAN, 6.0], Metric::Euclidean);
        assert_eq!(distances(&blocks, 3.0), [1.0, 2.0, 9.0]);
    }

    proptest! {
        #[test]
        fn storing_equal_rows_once_changes_no_distance(
            rows in prop::collection::vec((prop::collection::vec(cell(), 4), any::<bool>()), 2..80),
            columns in prop::sample::subsequence(vec![0, 1, 2, 3], 0..=4), weka: bool,
        ) {
            let mut attributes = vec![Attribute::nominal("c", ["a", "b", "c"])];
            attributes.extend(["x", "y", "z"].map(Attribute::numeric));
            let (mut dense, mut sparse) = (Dense::new(4), Sparse::new(4));
            for (cells, _) in &rows {
                dense.push_row(cells);
                sparse.push_row((0..).zip(cells.iter().copied()).filter(|(_, cell)| *cell != 0.0));
            }
            let (dense, sparse) = (Matrix::Dense(dense), Matrix::Sparse(sparse));
            let voters: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].1).collect();
            let metric = if weka { Metric::Weka } else { Metric::Euclidean };
            let stored = stored_cells(&sparse);
            let blocks = |features, stored| {
                ColumnBlocks::new(&attributes, features, stored, &voters, &columns, metric)
            };
            let (each_row, distinct_rows) = (blocks(&dense, &[]), blocks(&sparse, &stored));
            for row in 0..rows.len() {
                let expected: Vec<f64> =
                    each_row.distances(&each_row.cells(&dense, row)).collect();
                let found: Vec<f64> =
                    distinct_rows.distances(&distinct_rows.cells(&sparse, row)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    fn cell() -> impl Strategy<Value = f64> {
        prop_oneof![6 => Just(0.0), 2 => Just(1.0), 1 => Just(2.0), 1 => Just(f64::NAN)]
    }
}
