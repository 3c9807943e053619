//! The training rows of support vector machines, and their squared distances, which are computed
//! once and used by every label, fold, ensemble member, chain and kernel.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::data::{Dataset, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::product::{times_transposed, vectorized};
use crate::progress::Cancel;

/// Training rows as vectors of numbers, with their labels.
///
/// The classifiers of members, folds and chains learn from some of the rows, and all of them read
/// the one table of distances if it fits into half of the memory given. Otherwise distances are
/// computed when they are needed. The other half of the memory caches rows of kernel matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRows {
    inputs: Inputs,
    /// The vectors, row by row.
    numbers: Vec<f64>,
    labels: LabelMatrix,
    /// The squared distance of every pair of rows, if there is memory for it.
    #[serde(skip)]
    distances: Option<Vec<f32>>,
    #[serde(skip)]
    memory: usize,
    #[serde(skip)]
    cancel: Cancel,
}

/// Rows whose distances are computed by one matrix product.
const BLOCK: usize = 256;

impl TrainingRows {
    /// The rows of `train`, with so many bytes for distances and kernels.
    pub fn new(train: &Dataset, memory: usize) -> Result<TrainingRows> {
        let inputs = Inputs::of(train)?;
        let rows: Vec<usize> = (0..train.n_rows()).collect();
        let numbers = inputs.numbers(train.features(), &rows);
        let labels = train.labels().clone();
        let (distances, cancel) = (None, Cancel::default());
        Ok(TrainingRows { inputs, numbers, labels, distances, memory, cancel }.with_distances())
    }

    /// The same; work on it is given up when it is cancelled.
    pub fn cancelled_by(self, cancel: &Cancel) -> TrainingRows {
        TrainingRows { cancel: cancel.clone(), ..self }
    }

    /// What stops work on it.
    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Computes the table of distances, if there is memory for it.
    fn with_distances(mut self) -> TrainingRows {
        let n_bytes = (self.n_rows() as u128).pow(2) * 4;
        if n_bytes <= self.memory as u128 / 2 {
            self.distances = Some(self.all_distances());
        }
        self
    }

    /// All rows for one label that uses some of the inputs: these inputs, and that label alone.
    pub(crate) fn of_label(&self, label: LabelId, features: &[usize]) -> TrainingRows {
        let rows: Vec<usize> = (0..self.n_rows()).collect();
        let mut labels = LabelMatrix::empty(rows.len(), 1);
        for &row in &rows {
            labels.set(row, LabelId(0), self.labels.get(row, label));
        }
        TrainingRows { labels, ..self.subset(&rows, features) }.with_distances()
    }

    fn all_distances(&self) -> Vec<f32> {
        let (n_rows, width) = (self.n_rows(), self.inputs.width());
        let mut distances = vec![0.0; n_rows * n_rows];
        let blocks = distances.par_chunks_mut((BLOCK * n_rows).max(1));
        let norms = squared_norms(&self.numbers, n_rows);
        blocks.enumerate().for_each(|(at, block)| {
            let rows = at * BLOCK..(at * BLOCK + BLOCK).min(n_rows);
            let numbers = &self.numbers[rows.start * width..rows.end * width];
            let exact = squared_distances(numbers, &norms[rows], &self.numbers, &norms);
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

    /// How many numbers a row has, once nominal inputs are indicators.
    pub(super) fn width(&self) -> usize {
        self.inputs.width()
    }

    /// Bytes for rows of kernel matrices.
    pub(super) fn memory(&self) -> usize {
        self.memory - self.memory / 2
    }

    /// Some of the rows and of the inputs, without a table of distances.
    pub(super) fn subset(&self, rows: &[usize], features: &[usize]) -> TrainingRows {
        let (inputs, kept) = self.inputs.only(features);
        let of_row = |&row: &usize| kept.iter().map(move |&at| self.numbers(row)[at]);
        let numbers = rows.iter().flat_map(of_row).collect();
        let (labels, memory) = (self.labels.select(rows), self.memory);
        TrainingRows {
            inputs,
            numbers,
            labels,
            distances: None,
            memory,
            cancel: self.cancel.clone(),
        }
    }

    /// The squared distance of each of these rows, which are standardized alike, to every training
    /// row; row by row. One table of them serves all classifiers.
    pub fn distances(&self, features: &Matrix, rows: &[usize]) -> Vec<f64> {
        let numbers = self.inputs.numbers(features, rows);
        squared_distances(
            &numbers,
            &squared_norms(&numbers, rows.len()),
            &self.numbers,
            &squared_norms(&self.numbers, self.n_rows()),
        )
    }

    /// A set of labels as bits, like a row of the label matrix.
    pub(super) fn bits(&self, labels: &[LabelId]) -> Vec<u64> {
        let mut bits = LabelMatrix::empty(1, self.labels.n_labels());
        labels.iter().for_each(|&label| bits.set(0, label, true));
        bits.row(0).to_vec()
    }

    /// The number of labels in the set `among` that are relevant either to the training row or in
    /// `relevant`, and not in both.
    pub(super) fn disagreements(&self, row: usize, relevant: &[u64], among: &[u64]) -> u32 {
        let words = self.labels.row(row).iter().zip(relevant).zip(among);
        words.map(|((of_row, relevant), among)| ((of_row ^ relevant) & among).count_ones()).sum()
    }

    /// The numbers of a training row.
    pub(super) fn numbers(&self, row: usize) -> &[f64] {
        let width = self.inputs.width();
        &self.numbers[row * width..(row + 1) * width]
    }

    /// How many inputs a row has, used or not.
    pub(super) fn n_features(&self) -> usize {
        self.inputs.n_features()
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(super) fn is_sound(&self, n_labels: usize, n_features: usize, n_numbers: usize) -> bool {
        self.inputs.is_sound(n_features)
            && self.inputs.width() <= n_numbers
            && self.labels.is_sound(self.n_rows(), n_labels)
            && self.n_rows().checked_mul(self.width()) == Some(self.numbers.len())
            && self.numbers.iter().all(|number| number.is_finite())
    }
}

/// What one classifier learns from: some of the training rows, and the labels that are inputs too.
pub(super) struct Problem<'a> {
    train: &'a TrainingRows,
    rows: &'a [usize],
    /// The labels before it in the chain, as bits.
    before: Vec<u64>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        train: &'a TrainingRows,
        rows: &'a [usize],
        before: &[LabelId],
    ) -> Problem<'a> {
        Problem { train, rows, before: train.bits(before) }
    }

    /// Appends the squared distances from one of the rows to some of them, by index among the rows:
    /// those in the inputs plus the number of labels before it on which they disagree.
    pub(super) fn distances(&self, from: usize, to: &[usize], distances: &mut Vec<f32>) {
        let row = self.rows[from];
        let others = to.iter().map(|&at| self.rows[at]);
        match &self.train.distances {
            Some(table) => {
                let start = row * self.train.n_rows();
                distances.extend(others.map(|other| table[start + other]));
            }
            None => {
                let numbers = self.train.numbers(row);
                let distance =
                    |other| narrow(squared_difference(numbers, self.train.numbers(other)));
                distances.extend(others.map(distance));
            }
        }
        if self.before.iter().any(|&word| word != 0) {
            let relevant = self.train.labels.row(row);
            for (distance, &at) in distances.iter_mut().zip(to) {
                let other = self.rows[at];
                *distance += self.train.disagreements(other, relevant, &self.before) as f32;
            }
        }
    }
}

/// |x - v|² = |x|² + |v|² - 2 x·v for every row x of a and v of b; negative results of rounding are
/// set to 0.
fn squared_distances(a: &[f64], norms_a: &[f64], b: &[f64], norms_b: &[f64]) -> Vec<f64> {
    let (n, m) = (norms_a.len(), norms_b.len());
    let width = a.len().checked_div(n).unwrap_or(0);
    let mut distances = times_transposed(a, &b[..m * width], n, m, width);
    for (distances, x) in distances.chunks_mut(m.max(1)).zip(norms_a) {
        for (distance, v) in distances.iter_mut().zip(norms_b) {
            *distance = (x + v - 2.0 * *distance).max(0.0);
        }
    }
    distances
}

/// |x|² of every row.
fn squared_norms(numbers: &[f64], n_rows: usize) -> Vec<f64> {
    let width = numbers.len().checked_div(n_rows).unwrap_or(0);
    let norm = |row| numbers[row * width..(row + 1) * width].iter().map(|x| x * x).sum();
    (0..n_rows).map(norm).collect()
}

/// |a - b|² as a sum of squares. Sums of every eighth term are kept apart, because the additions of
/// one sum must follow each other while those of eight can be one SIMD instruction.
fn squared_difference(a: &[f64], b: &[f64]) -> f64 {
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

/// A distance D in single precision, cut to what is finite.
///
/// The precision is enough: a relative error ε of D changes exp(-γ D) by about ε γ D exp(-γ D). As
/// t exp(-t) is at most 1 / e, that is at most ε / e, less than the rounding of a value near 1.
fn narrow(distance: f64) -> f32 {
    (distance as f32).min(f32::MAX)
}
