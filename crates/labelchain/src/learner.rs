//! What the outside sees of anything that answers: rows in, labels out.

use crate::data::{LabelId, LabelMatrix, Matrix};
use crate::distance::Rankings;
use crate::product::{exponentials, vectorized};

/// Standardized rows to be labelled, with what all members share.
pub struct Block<'a> {
    /// The inputs.
    pub features: &'a Matrix,
    /// Which rows of them.
    pub rows: &'a [usize],
    /// How near each row is to every training row, where anyone asks for it.
    pub near: Option<&'a Memberships>,
    /// All training rows from the nearest to the farthest, where anyone asks for it.
    pub nearest: Option<&'a Rankings<'a>>,
}

/// How near rows to be labelled are to every training row.
#[derive(Clone, Debug)]
pub struct Memberships {
    n_train: usize,
    /// Squared distances D, row by row.
    pub distances: Vec<f64>,
    decay: f64,
    /// exp(-β (D - m)), m the least distance of the row to any training row: memberships of the
    /// fuzzy neighbourhood up to a factor of the row, which cancels in every ratio of sums.
    memberships: Vec<[f64; LANES]>,
}

/// Rows whose memberships in one training row lie side by side, to be summed together.
pub(crate) const LANES: usize = 8;

impl Memberships {
    /// Rows with these distances to `n_train` training rows each, and β.
    pub fn new(distances: Vec<f64>, n_train: usize, decay: f64) -> Memberships {
        let n_lines = (distances.len() / n_train.max(1)).div_ceil(LANES) * n_train;
        let memberships = Vec::with_capacity(n_lines);
        let mut near = Memberships { n_train, distances, decay, memberships };
        near.set_decay(decay);
        near
    }

    /// β: how fast memberships fall.
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// Changes β.
    pub fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
        self.memberships.clear();
        let n_train = self.n_train.max(1);
        for rows in self.distances.chunks(LANES * n_train) {
            let least: Vec<f64> = rows
                .chunks(n_train)
                .map(|row| row.iter().copied().fold(f64::INFINITY, f64::min))
                .collect();
            let start = self.memberships.len();
            self.memberships.resize(start + n_train, [0.0; LANES]);
            let lines = &mut self.memberships[start..];
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
    pub(crate) fn by_lanes(&self) -> impl Iterator<Item = &[[f64; LANES]]> {
        self.memberships.chunks(self.n_train.max(1))
    }
}

impl Block<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }
}

/// Anything that answers.
pub trait Predictor: Send + Sync {
    /// The labels of each row of the block.
    fn predict_block(&self, block: &Block) -> LabelMatrix;

    /// The same answers with how they came about.
    fn trace_block(&self, block: &Block) -> Vec<Trace>;
}

/// How one member decided one row. Everything by label, except the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The labels in the order taken; none where labels were decided independently.
    pub order: Option<Vec<LabelId>>,
    /// The quality of each label near the row, where the order follows from it.
    pub local_f1: Option<Vec<f64>>,
    /// How much that quality rests on: the share of the neighbourhood, by membership, where the
    /// label was there or was said to be.
    pub weight: Option<Vec<f64>>,
    /// The row that lent its order, where one did.
    pub lender: Option<Lender>,
    /// What was decided.
    pub decisions: Vec<bool>,
    /// log P(relevant) - log P(irrelevant) at the moment of the decision.
    pub support: Vec<f64>,
}

/// A validation row that lends the order which told its own labels best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lender {
    /// The row of the training set.
    pub row: usize,
    /// How well: F1 of the answer against its labels.
    pub f1: f64,
}

impl Trace {
    pub(crate) fn new(n_labels: usize) -> Trace {
        Trace {
            order: None,
            local_f1: None,
            weight: None,
            lender: None,
            decisions: vec![false; n_labels],
            support: vec![0.0; n_labels],
        }
    }
}
