//! How far are rows apart? Squared distances among the training rows, computed once and used by
//! every label, fold, member, link and kernel.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::data::{Dataset, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::product::{times_transposed, vectorized};

/// Training rows laid out for kernels.
///
/// Members, folds and links of chains learn from some of the rows; all of them read the one table
/// of distances, if it fits into half of the memory given. Otherwise distances are computed when
/// needed, and the rows of kernels kept as far as the memory goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRows {
    inputs: Inputs,
    numbers: Vec<f64>,
    labels: LabelMatrix,
    #[serde(skip)]
    distances: Option<Vec<f32>>,
    #[serde(skip)]
    memory: usize,
}

/// Rows whose distances are one product.
const BLOCK: usize = 256;

impl TrainingRows {
    /// Lays out the rows of `train`, with so many bytes for distances and kernels.
    pub fn new(train: &Dataset, memory: usize) -> Result<TrainingRows> {
        let inputs = Inputs::of(train)?;
        let rows: Vec<usize> = (0..train.n_rows()).collect();
        let numbers = inputs.numbers(train.features(), &rows);
        let labels = train.labels().clone();
        Ok(TrainingRows { inputs, numbers, labels, distances: None, memory }.measured())
    }

    /// With a table of distances, if there is memory for it.
    fn measured(mut self) -> TrainingRows {
        let n_bytes = (self.n_rows() as u128).pow(2) * 4;
        if n_bytes <= self.memory as u128 / 2 {
            self.distances = Some(self.all_distances());
        }
        self
    }

    /// All rows, as one label that looks at some of the inputs sees them.
    pub(crate) fn of_label(&self, label: LabelId, features: &[usize]) -> TrainingRows {
        let rows: Vec<usize> = (0..self.n_rows()).collect();
        let mut labels = LabelMatrix::empty(rows.len(), 1);
        for &row in &rows {
            labels.set(row, LabelId(0), self.labels.get(row, label));
        }
        TrainingRows { labels, ..self.part(&rows, features) }.measured()
    }

    fn all_distances(&self) -> Vec<f32> {
        let (n_rows, width) = (self.n_rows(), self.inputs.width());
        let mut distances = vec![0.0; n_rows * n_rows];
        let blocks = distances.par_chunks_mut((BLOCK * n_rows).max(1));
        let lengths = lengths(&self.numbers, n_rows);
        blocks.enumerate().for_each(|(at, block)| {
            let rows = at * BLOCK..(at * BLOCK + BLOCK).min(n_rows);
            let numbers = &self.numbers[rows.start * width..rows.end * width];
            let exact = squared(numbers, &lengths[rows], &self.numbers, &lengths);
            block.iter_mut().zip(exact).for_each(|(cell, distance)| *cell = narrow(distance));
        });
        distances
    }

    /// How many training rows.
    pub fn n_rows(&self) -> usize {
        self.labels.n_rows()
    }

    /// The labels of the training rows.
    pub fn labels(&self) -> &LabelMatrix {
        &self.labels
    }

    /// How many numbers a row is, once nominal inputs are indicators.
    pub(super) fn width(&self) -> usize {
        self.inputs.width()
    }

    /// Bytes that distances leave for kernels.
    pub(super) fn memory(&self) -> usize {
        self.memory - self.memory / 2
    }

    /// Some of the rows, and of the inputs; no table of their distances.
    pub(super) fn part(&self, rows: &[usize], features: &[usize]) -> TrainingRows {
        let (inputs, kept) = self.inputs.only(features);
        let of_row = |&row: &usize| kept.iter().map(move |&at| self.numbers(row)[at]);
        let numbers = rows.iter().flat_map(of_row).collect();
        let (labels, memory) = (self.labels.select(rows), self.memory);
        TrainingRows { inputs, numbers, labels, distances: None, memory }
    }

    /// The squared distance of each of these rows, standardized alike, to every training row; row by
    /// row. One table of them serves all machines.
    pub fn distances(&self, features: &Matrix, rows: &[usize]) -> Vec<f64> {
        let numbers = self.inputs.numbers(features, rows);
        squared(
            &numbers,
            &lengths(&numbers, rows.len()),
            &self.numbers,
            &lengths(&self.numbers, self.n_rows()),
        )
    }

    /// A bit for each of these labels.
    pub(super) fn bits(&self, labels: &[LabelId]) -> Vec<u64> {
        let mut bits = LabelMatrix::empty(1, self.labels.n_labels());
        labels.iter().for_each(|&label| bits.set(0, label, true));
        bits.row(0).to_vec()
    }

    /// About how many of the labels `among` a training row disagrees with what was told.
    pub(super) fn disagreements(&self, row: usize, told: &[u64], among: &[u64]) -> u32 {
        let words = self.labels.row(row).iter().zip(told).zip(among);
        words.map(|((carried, told), among)| ((carried ^ told) & among).count_ones()).sum()
    }

    /// The numbers of a training row.
    pub(super) fn numbers(&self, row: usize) -> &[f64] {
        let width = self.inputs.width();
        &self.numbers[row * width..(row + 1) * width]
    }

    /// How many inputs rows have, looked at or not.
    pub(super) fn n_features(&self) -> usize {
        self.inputs.n_features()
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(super) fn is_sound(&self, n_labels: usize, n_features: usize) -> bool {
        self.inputs.is_sound(n_features)
            && self.labels.is_sound(self.n_rows(), n_labels)
            && self.n_rows().checked_mul(self.width()) == Some(self.numbers.len())
            && self.numbers.iter().all(|number| number.is_finite())
    }
}

/// What to learn from: rows, and the labels that are inputs too.
pub(super) struct Problem<'a> {
    space: &'a TrainingRows,
    rows: &'a [usize],
    /// Bits of those labels.
    before: Vec<u64>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        space: &'a TrainingRows,
        rows: &'a [usize],
        before: &[LabelId],
    ) -> Problem<'a> {
        Problem { space, rows, before: space.bits(before) }
    }

    /// The distances from one of the rows to some of them, labels that disagree included.
    pub(super) fn distances(&self, from: usize, places: &[usize], distances: &mut Vec<f32>) {
        let row = self.rows[from];
        let to = places.iter().map(|&place| self.rows[place]);
        match &self.space.distances {
            Some(table) => {
                let start = row * self.space.n_rows();
                distances.extend(to.map(|other| table[start + other]));
            }
            None => {
                let here = self.space.numbers(row);
                let apart = |other| narrow(difference(here, self.space.numbers(other)));
                distances.extend(to.map(apart));
            }
        }
        if self.before.iter().any(|&word| word != 0) {
            let told = self.space.labels.row(row);
            for (distance, &place) in distances.iter_mut().zip(places) {
                let other = self.rows[place];
                *distance += self.space.disagreements(other, told, &self.before) as f32;
            }
        }
    }
}

/// |x|² + |v|² - 2 x·v, negatives cut to 0.
fn squared(a: &[f64], lengths_a: &[f64], b: &[f64], lengths_b: &[f64]) -> Vec<f64> {
    let (n, m) = (lengths_a.len(), lengths_b.len());
    let width = a.len().checked_div(n).unwrap_or(0);
    let mut distances = times_transposed(a, &b[..m * width], n, m, width);
    for (distances, x) in distances.chunks_mut(m.max(1)).zip(lengths_a) {
        for (distance, v) in distances.iter_mut().zip(lengths_b) {
            *distance = (x + v - 2.0 * *distance).max(0.0);
        }
    }
    distances
}

fn lengths(numbers: &[f64], n_rows: usize) -> Vec<f64> {
    let width = numbers.len().checked_div(n_rows).unwrap_or(0);
    let length = |row| numbers[row * width..(row + 1) * width].iter().map(|x| x * x).sum();
    (0..n_rows).map(length).collect()
}

/// Term by term.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    vectorized(
        #[inline(always)]
        || {
            let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (a, b) in a.iter().zip(b) {
                for lane in 0..LANES {
                    sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
                }
            }
            let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| (a - b) * (a - b)).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// In single precision, which is enough: exp(-γ D) is then off by at most the rounding of D times
/// γ D exp(-γ D), and that is no more than its own. Cut to what is finite.
fn narrow(distance: f64) -> f32 {
    (distance as f32).min(f32::MAX)
}
