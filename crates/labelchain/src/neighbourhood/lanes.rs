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
pub struct Lanes {
    columns: Vec<(usize, Comparison)>,
    /// For every `WIDTH` distinct rows, their cells column by column.
    cells: Vec<[f64; WIDTH]>,
    n_distinct: usize,
    /// Which of those each of the rows is.
    which: Vec<u32>,
}

impl Lanes {
    pub(super) fn new(
        attributes: &[Attribute],
        features: &Matrix,
        rows: &[usize],
        columns: &[usize],
        metric: Metric,
    ) -> Lanes {
        let comparison = |column: usize| match (Comparison::of(&attributes[column]), metric) {
            (Comparison::Numbers, Metric::Weka) => {
                Comparison::Shares(Range::of(rows.iter().map(|&row| features.get(row, column))))
            }
            (comparison, _) => comparison,
        };
        let (distinct, which) = distinct(features, rows, columns);
        let columns: Vec<(usize, Comparison)> =
            columns.iter().map(|&column| (column, comparison(column))).collect();
        let mut cells = Vec::with_capacity(distinct.len().div_ceil(WIDTH) * columns.len());
        for rows in distinct.chunks(WIDTH) {
            for &column in &columns {
                let mut lane = [0.0; WIDTH];
                for (place, &row) in lane.iter_mut().zip(rows) {
                    *place = cell(features, row, column);
                }
                cells.push(lane);
            }
        }
        Lanes { columns, cells, n_distinct: distinct.len(), which }
    }

    /// The cells of another row, standardized alike, that its distances need.
    pub fn cells(&self, features: &Matrix, row: usize) -> Vec<f64> {
        self.columns.iter().map(|&column| cell(features, row, column)).collect()
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

/// The first of all rows that have the same cells in some columns, and which of them each row is like.
///
/// In texts most rows have none of a few chosen words, and a tenth of the rows may stand for all. Rows
/// that are not sparse are taken to be distinct.
fn distinct(features: &Matrix, rows: &[usize], columns: &[usize]) -> (Vec<usize>, Vec<u32>) {
    if let Matrix::Dense(_) = features {
        return (rows.to_vec(), (0..rows.len() as u32).collect());
    }
    let mut is_wanted = vec![false; features.n_columns()];
    columns.iter().for_each(|&column| is_wanted[column] = true);
    let mut firsts = Vec::new();
    let mut known: HashMap<Vec<(usize, u64)>, u32> = HashMap::new();
    let mut cells = Vec::new();
    let which = rows.iter().map(|&row| {
        let wanted = features.entries(row).filter(|&(column, _)| is_wanted[column]);
        cells.clear();
        cells.extend(wanted.map(|(column, cell)| (column, cell.to_bits())));
        known.get(&cells).copied().unwrap_or_else(|| {
            let which = firsts.len() as u32;
            firsts.push(row);
            known.insert(cells.clone(), which);
            which
        })
    });
    let which = which.collect();
    (firsts, which)
}

fn cell(features: &Matrix, row: usize, (column, comparison): (usize, Comparison)) -> f64 {
    let value = features.get(row, column);
    match comparison {
        Comparison::Shares(range) => range.share(value),
        _ => value,
    }
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
    use crate::data::Dense;

    fn lanes(cells: [f64; 3], metric: Metric) -> Lanes {
        let mut dense = Dense::new(1);
        cells.iter().for_each(|&cell| dense.push_row(&[cell]));
        let attributes = [Attribute::numeric("x")];
        Lanes::new(&attributes, &Matrix::Dense(dense), &[0, 1, 2], &[0], metric)
    }

    fn distances(lanes: &Lanes, cell: f64) -> Vec<f64> {
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
}
