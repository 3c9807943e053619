//! How far are some training rows, in some of their inputs?

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::data::{Attribute, Matrix};
use crate::product::vectorized;

/// How far apart two cells of a numeric input are. A nominal input adds 0 where the values are
/// equal, and 1 where they are not or one is missing, in either metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// `euclidean`: their squared difference; 2 where one is missing, the expected squared
    /// difference of two independent standardized values (methods 2).
    #[default]
    Euclidean,
    /// `weka`: as in WEKA's IBk, the same after each input was brought to the range 0 to 1 of the
    /// rows that vote; a missing cell is as far away as it could be (methods 8.2).
    Weka,
}

/// How the cells of one column are compared.
#[derive(Clone, Copy)]
pub(super) enum Comparison {
    Names,
    Numbers,
    /// Of the values as shares of a range.
    Shares(Range),
}

impl Comparison {
    pub(super) fn of(attribute: &Attribute) -> Comparison {
        if attribute.values().is_some() { Comparison::Names } else { Comparison::Numbers }
    }

    /// A value as it is compared.
    fn scaled(self, value: f64) -> f64 {
        match self {
            Comparison::Shares(range) => range.share(value),
            Comparison::Names | Comparison::Numbers => value,
        }
    }

    /// What two cells add to a squared distance.
    #[inline(always)]
    pub(super) fn term(self, x: f64, v: f64) -> f64 {
        match self {
            // A missing cell is NaN, which differs from everything.
            Comparison::Names => f64::from(u8::from(x != v)),
            Comparison::Numbers => {
                let square = (x - v) * (x - v);
                if square.is_nan() { 2.0 } else { square }
            }
            Comparison::Shares(_) => {
                let known = if x.is_nan() { v } else { x };
                let farthest = if known.is_nan() { 1.0 } else { known.max(1.0 - known) };
                let difference = x - v;
                let difference = if difference.is_nan() { farthest } else { difference };
                difference * difference
            }
        }
    }
}

/// The least and greatest value of a column; 0 and 0 if it has none.
#[derive(Clone, Copy)]
pub(super) struct Range {
    least: f64,
    width: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f64>) -> Range {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| !value.is_nan()) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least <= most {
            Range { least, width: most - least }
        } else {
            Range { least: 0.0, width: 0.0 }
        }
    }

    /// Where in the range a value lies; 0 in a range of one value.
    fn share(self, value: f64) -> f64 {
        match self.width > 0.0 || value.is_nan() {
            true => (value - self.least) / self.width,
            false => 0.0,
        }
    }
}

/// Rows whose distances are summed side by side.
const WIDTH: usize = 32;

/// Some rows and columns of the training set, laid out for distances term by term: each is summed
/// in column order, whatever rows lie beside it.
pub struct ColumnBlocks {
    columns: Vec<(usize, Comparison)>,
    /// For every `WIDTH` distinct rows, their cells column by column.
    cells: Vec<[f64; WIDTH]>,
    n_distinct: usize,
    /// Which of those each of the rows is.
    which: Vec<u32>,
}

impl ColumnBlocks {
    /// Of some rows and columns; `stored` holds the (value, row) of every column of sparse features.
    pub(super) fn new(
        attributes: &[Attribute],
        features: &Matrix,
        stored: &[Vec<(f64, u32)>],
        rows: &[usize],
        columns: &[usize],
        metric: Metric,
    ) -> ColumnBlocks {
        let comparison = |column: usize| match (Comparison::of(&attributes[column]), metric) {
            (Comparison::Numbers, Metric::Weka) => {
                Comparison::Shares(Range::of(rows.iter().map(|&row| features.get(row, column))))
            }
            (comparison, _) => comparison,
        };
        let columns: Vec<(usize, Comparison)> =
            columns.iter().map(|&column| (column, comparison(column))).collect();
        match features {
            Matrix::Dense(dense) => {
                let n_groups = rows.len().div_ceil(WIDTH);
                let mut cells = vec![[0.0; WIDTH]; n_groups * columns.len()];
                for (lane, &row) in rows.iter().enumerate() {
                    let (row, group) = (dense.row(row), lane / WIDTH * columns.len());
                    for (cells, &(column, comparison)) in cells[group..].iter_mut().zip(&columns) {
                        cells[lane % WIDTH] = comparison.scaled(row[column]);
                    }
                }
                let which = (0..rows.len() as u32).collect();
                ColumnBlocks { columns, cells, n_distinct: rows.len(), which }
            }
            Matrix::Sparse(_) => {
                ColumnBlocks::of_distinct(columns, features.n_rows(), stored, rows)
            }
        }
    }

    /// Rows with the same cells share a lane: of a few chosen words most texts have none, and a tenth
    /// of the rows may stand for all.
    fn of_distinct(
        columns: Vec<(usize, Comparison)>,
        n_rows: usize,
        stored: &[Vec<(f64, u32)>],
        rows: &[usize],
    ) -> ColumnBlocks {
        let (group, n_groups) = groups(&columns, n_rows, stored, rows);
        let mut lane_of = vec![None; n_groups];
        let mut first = vec![None; n_rows];
        let mut n_distinct = 0;
        let which = rows.iter().map(|&row| {
            *lane_of[group[row] as usize].get_or_insert_with(|| {
                first[row] = Some(n_distinct as usize);
                n_distinct += 1;
                n_distinct - 1
            })
        });
        let which: Vec<u32> = which.collect();
        let n_distinct = n_distinct as usize;
        let nothing = columns.iter().map(|(_, comparison)| [comparison.scaled(0.0); WIDTH]);
        let nothing: Vec<[f64; WIDTH]> = nothing.collect();
        let mut cells = nothing.repeat(n_distinct.div_ceil(WIDTH));
        for (at, (column, comparison)) in columns.iter().enumerate() {
            for &(value, row) in &stored[*column] {
                if let Some(lane) = first[row as usize] {
                    cells[lane / WIDTH * columns.len() + at][lane % WIDTH] =
                        comparison.scaled(value);
                }
            }
        }
        ColumnBlocks { columns, cells, n_distinct, which }
    }

    /// The cells of another row, standardized alike, that its distances need.
    pub fn cells(&self, features: &Matrix, row: usize) -> Vec<f64> {
        let cell = |&(column, comparison): &(usize, Comparison)| {
            comparison.scaled(features.get(row, column))
        };
        self.columns.iter().map(cell).collect()
    }

    /// The squared distance of a row with these cells to each of the rows.
    pub fn distances(&self, cells: &[f64]) -> impl Iterator<Item = f64> {
        let comparisons = self.columns.iter().map(|&(_, comparison)| comparison);
        let query: Vec<(f64, Comparison)> = cells.iter().copied().zip(comparisons).collect();
        let mut distances = vec![0.0; self.n_distinct];
        if !query.is_empty() {
            let groups = self.cells.chunks(query.len());
            for (distances, cells) in distances.chunks_mut(WIDTH).zip(groups) {
                let sums = vectorized(
                    #[inline(always)]
                    || sums(&query, cells),
                );
                distances.copy_from_slice(&sums[..distances.len()]);
            }
        }
        self.which.iter().map(move |&which| distances[which as usize])
    }
}

/// The group of each row, and how many there are: rows are alike until a column parts them, and those
/// that store nothing in it stay together.
fn groups(
    columns: &[(usize, Comparison)],
    n_rows: usize,
    stored: &[Vec<(f64, u32)>],
    rows: &[usize],
) -> (Vec<u32>, usize) {
    let (mut group, mut n_groups) = (vec![0; n_rows], 1);
    let mut is_here = vec![false; n_rows];
    rows.iter().for_each(|&row| is_here[row] = true);
    let mut parted: HashMap<(u32, u64), u32> = HashMap::new();
    for &(column, _) in columns {
        parted.clear();
        for &(value, row) in stored[column].iter().filter(|it| is_here[it.1 as usize]) {
            let group = &mut group[row as usize];
            *group = *parted.entry((*group, value.to_bits())).or_insert_with(|| {
                n_groups += 1;
                n_groups - 1
            });
        }
    }
    (group, n_groups as usize)
}

#[inline(always)]
fn sums(query: &[(f64, Comparison)], cells: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let is_name = |(_, comparison): &(f64, Comparison)| matches!(comparison, Comparison::Names);
    let mut sums = [0.0; WIDTH];
    let mut rest = cells;
    // The kind of columns is looked at once for all in a row, so that each loop is one of vectors.
    for alike in query.chunk_by(|a, b| is_name(a) == is_name(b)) {
        let here;
        (here, rest) = rest.split_at(alike.len());
        match alike.first().is_some_and(is_name) {
            true => add(&mut sums, alike, here, |_, x, v| Comparison::Names.term(x, v)),
            // As if no cell were missing.
            false => add(&mut sums, alike, here, |_, x, v| (x - v) * (x - v)),
        }
    }
    // A missing cell made its sum NaN, and nothing else does.
    if sums.iter().fold(false, |any, sum| any | sum.is_nan()) {
        sums = [0.0; WIDTH];
        add(&mut sums, query, cells, Comparison::term);
    }
    sums
}

#[inline(always)]
fn add(
    sums: &mut [f64; WIDTH],
    query: &[(f64, Comparison)],
    cells: &[[f64; WIDTH]],
    term: impl Fn(Comparison, f64, f64) -> f64,
) {
    let mut here = *sums;
    for (&(x, comparison), cells) in query.iter().zip(cells) {
        here.iter_mut().zip(cells).for_each(|(sum, &v)| *sum += term(comparison, x, v));
    }
    *sums = here;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Sparse};
    use crate::prepare::stored_cells;
    use proptest::prelude::*;

    fn lanes(cells: [f64; 3], metric: Metric) -> ColumnBlocks {
        let mut dense = Dense::new(1);
        cells.iter().for_each(|&cell| dense.push_row(&[cell]));
        let attributes = [Attribute::numeric("x")];
        ColumnBlocks::new(&attributes, &Matrix::Dense(dense), &[], &[0, 1, 2], &[0], metric)
    }

    fn distances(lanes: &ColumnBlocks, cell: f64) -> Vec<f64> {
        let mut dense = Dense::new(1);
        dense.push_row(&[cell]);
        lanes.distances(&lanes.cells(&Matrix::Dense(dense), 0)).collect()
    }

    #[test]
    fn weka_compares_shares_of_the_range_of_the_rows() {
        // 2, 4 and 6 are 0, 1/2 and 1 of the range; 8 is 3/2 of it.
        let lanes = lanes([2.0, 4.0, 6.0], Metric::Weka);
        assert_eq!(distances(&lanes, 4.0), [0.25, 0.0, 0.25]);
        assert_eq!(distances(&lanes, 8.0), [2.25, 1.0, 0.25]);
    }

    #[test]
    fn for_weka_a_missing_cell_is_as_far_as_the_range_allows() {
        // 3 is 1/4 of the range from 2 to 6, so what is missing may be 3/4 away.
        let lanes = lanes([2.0, f64::NAN, 6.0], Metric::Weka);
        assert_eq!(distances(&lanes, 3.0), [0.0625, 0.5625, 0.5625]);
        assert_eq!(distances(&lanes, f64::NAN), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn for_weka_a_constant_or_unknown_column_is_no_distance_unless_missing() {
        let constant = lanes([5.0, 5.0, f64::NAN], Metric::Weka);
        assert_eq!(distances(&constant, 9.0), [0.0, 0.0, 1.0]);
        let unknown = lanes([f64::NAN; 3], Metric::Weka);
        assert_eq!(distances(&unknown, 9.0), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_missing_standardized_cell_costs_two() {
        let lanes = lanes([2.0, f64::NAN, 6.0], Metric::Euclidean);
        assert_eq!(distances(&lanes, 3.0), [1.0, 2.0, 9.0]);
    }

    proptest! {
        #[test]
        fn sharing_lanes_changes_no_distance(
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
            let apart = ColumnBlocks::new(&attributes, &dense, &[], &voters, &columns, metric);
            let shared = ColumnBlocks::new(&attributes, &sparse, &stored, &voters, &columns, metric);
            for row in 0..rows.len() {
                let expected: Vec<f64> = apart.distances(&apart.cells(&dense, row)).collect();
                let found: Vec<f64> = shared.distances(&shared.cells(&sparse, row)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    fn cell() -> impl Strategy<Value = f64> {
        prop_oneof![6 => Just(0.0), 2 => Just(1.0), 1 => Just(2.0), 1 => Just(f64::NAN)]
    }
}
