//! What the outside sees of anything that answers: rows in, labels out.

use crate::data::{LabelId, LabelMatrix, Matrix};

/// Standardized rows to be labelled, with what all members share.
pub struct Block<'a> {
    /// The inputs.
    pub features: &'a Matrix,
    /// Which rows of them.
    pub rows: &'a [usize],
    /// How near each row is to every training row, where anyone asks for it.
    pub near: Option<&'a Nearness>,
}

/// How near rows to be labelled are to every training row, row by row.
#[derive(Clone, Debug)]
pub struct Nearness {
    /// Squared distances D.
    pub distances: Vec<f64>,
    /// β: how fast memberships fall.
    pub decay: f64,
    /// exp(-β (D - m)), m the least distance of the row to any training row: memberships of the
    /// fuzzy neighbourhood up to a factor of the row, which cancels in every ratio of sums.
    pub memberships: Vec<f64>,
}

impl Nearness {
    /// Memberships of rows with these distances to `n_train` training rows each.
    pub fn new(distances: Vec<f64>, n_train: usize, decay: f64) -> Nearness {
        let mut memberships = Vec::with_capacity(distances.len());
        for row in distances.chunks(n_train.max(1)) {
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            memberships.extend(row.iter().map(|distance| (-decay * (distance - least)).exp()));
        }
        Nearness { distances, decay, memberships }
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
    /// What was decided.
    pub decisions: Vec<bool>,
    /// log P(relevant) - log P(irrelevant) at the moment of the decision.
    pub support: Vec<f64>,
}

impl Trace {
    pub(crate) fn new(n_labels: usize) -> Trace {
        Trace {
            order: None,
            local_f1: None,
            decisions: vec![false; n_labels],
            support: vec![0.0; n_labels],
        }
    }
}
