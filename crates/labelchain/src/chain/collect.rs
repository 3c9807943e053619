//! What is kept of a walk: decisions, how they came about, probabilities, or whole label sets.

use std::collections::BTreeMap;

use super::{Order, Reason, Score, Walked};
use crate::data::{LabelId, LabelMatrix};

/// Keeps what it wants of a walk.
pub trait Collector {
    /// One row of the block was walked, in this order, or its labels were decided independently.
    fn collect(&mut self, row: usize, order: Option<&Order>, walked: &Walked);
}

/// Which labels were decided to be relevant.
pub struct Decisions(pub LabelMatrix);

impl Decisions {
    /// For so many rows.
    pub fn new(n_rows: usize, n_labels: usize) -> Decisions {
        Decisions(LabelMatrix::empty(n_rows, n_labels))
    }
}

impl Collector for Decisions {
    fn collect(&mut self, row: usize, _: Option<&Order>, walked: &Walked) {
        self.0.write_row(row, &walked.relevant);
    }
}

/// How one member decided one row. Everything is by label, except the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The labels in the order taken; none where labels were decided independently.
    pub order: Option<Vec<LabelId>>,
    /// Why this order was chosen for this row; none where it is the same for every row.
    pub reason: Option<Reason>,
    /// What was decided.
    pub decisions: Vec<bool>,
    /// How strongly the model spoke for each label at the moment of its decision.
    pub scores: Vec<Score>,
}

/// How each row was decided.
#[derive(Default)]
pub struct Traces(pub Vec<Trace>);

impl Collector for Traces {
    fn collect(&mut self, _: usize, order: Option<&Order>, walked: &Walked) {
        self.0.push(Trace {
            order: order.map(|order| order.iter().collect()),
            reason: None,
            decisions: walked.scores.iter().map(|score| score.is_relevant()).collect(),
            scores: walked.scores.clone(),
        });
    }
}

/// P(relevant) of each label at the moment of its decision, row by row.
pub struct Probabilities {
    n_labels: usize,
    by_row: Option<Vec<f64>>,
}

impl Probabilities {
    /// For so many rows.
    pub fn new(n_rows: usize, n_labels: usize) -> Probabilities {
        Probabilities { n_labels, by_row: Some(vec![0.0; n_rows * n_labels]) }
    }

    /// The probabilities, row by row, by label; none where the model gives margins.
    pub fn by_row(&self) -> Option<&[f64]> {
        self.by_row.as_deref()
    }
}

impl Collector for Probabilities {
    fn collect(&mut self, row: usize, _: Option<&Order>, walked: &Walked) {
        let Some(by_row) = &mut self.by_row else { return };
        let places = &mut by_row[row * self.n_labels..(row + 1) * self.n_labels];
        let mut scores = places.iter_mut().zip(&walked.scores);
        let is_probability = scores.all(|(place, score)| match score.probability() {
            Some(probability) => {
                *place = probability;
                true
            }
            None => false,
        });
        if !is_probability {
            self.by_row = None;
        }
    }
}

/// The label sets that walks ended with, and how many walks ended with each: a sample of the joint
/// distribution of the labels of each row.
#[derive(Clone, Debug)]
pub struct LabelSets {
    by_row: Vec<BTreeMap<Vec<u64>, usize>>,
}

impl LabelSets {
    /// For so many rows.
    pub fn new(n_rows: usize) -> LabelSets {
        LabelSets { by_row: vec![BTreeMap::new(); n_rows] }
    }

    /// The label sets of a row, as bits by label, and how many walks ended with each.
    pub fn of_row(&self, row: usize) -> impl Iterator<Item = (&[u64], usize)> {
        self.by_row[row].iter().map(|(set, count)| (&set[..], *count))
    }
}

impl Collector for LabelSets {
    fn collect(&mut self, row: usize, _: Option<&Order>, walked: &Walked) {
        *self.by_row[row].entry(walked.relevant.clone()).or_default() += 1;
    }
}
