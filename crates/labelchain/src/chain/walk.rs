//! The greedy walk through the labels of a row.

use std::borrow::Cow;

use super::{Block, Collector, Evidence, Order, Score, Scoring};
use crate::data::LabelId;

/// Decides every label in the given order (the paper's Algorithms 2 and 4).
pub fn decide<E: Evidence>(mut evidence: E, order: &Order, mut write: impl FnMut(Decision)) {
    for label in order.iter() {
        let score = evidence.support(label);
        let relevant = score.is_relevant();
        write(Decision { label, score, relevant });
        evidence.observe(label, relevant);
    }
}

/// One decision of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The label decided.
    pub label: LabelId,
    /// How strongly the model spoke for it, given what was decided before.
    pub score: Score,
    /// Whether it was decided to be relevant.
    pub relevant: bool,
}

/// In which order the labels of the rows of a block are decided.
pub enum Route<'o> {
    /// Every label from the inputs alone, no decision known to another label: binary relevance.
    Independent,
    /// In one order for all rows.
    Fixed(&'o Order),
    /// In an order for each row of the block.
    PerRow(&'o [Cow<'o, Order>]),
}

impl Route<'_> {
    fn order(&self, row: usize) -> Option<&Order> {
        match self {
            Route::Independent => None,
            Route::Fixed(order) => Some(order),
            Route::PerRow(orders) => Some(&orders[row]),
        }
    }
}

/// What a walk over one row found, by label.
pub struct Walked {
    /// How strongly the model spoke for each label at the moment of its decision.
    pub scores: Vec<Score>,
    /// The labels decided to be relevant: label l is bit l mod 64 of word l / 64.
    pub relevant: Vec<u64>,
}

impl Walked {
    fn new(n_labels: usize) -> Walked {
        let scores = vec![Score::LogOdds(0.0); n_labels];
        Walked { scores, relevant: vec![0; n_labels.div_ceil(64)] }
    }

    fn write(&mut self, decision: Decision) {
        let Decision { label, score, relevant } = decision;
        self.scores[label.0] = score;
        self.relevant[label.0 / 64] |= u64::from(relevant) << (label.0 % 64);
    }

    /// Decides every label by what the inputs say alone.
    fn independently(&mut self, evidence: &impl Evidence) {
        for label in (0..self.scores.len()).map(LabelId) {
            let score = evidence.support(label);
            self.write(Decision { label, score, relevant: score.is_relevant() });
        }
    }
}

/// Walks every row of a block along several routes, each into its own collector. What is found out
/// about the inputs of a row serves all of its walks, and a walk in the order of the walk before it
/// is not taken again.
pub(super) fn walk<M: Scoring + ?Sized>(
    model: &M,
    block: &Block,
    walks: &mut [(Route, &mut dyn Collector)],
) {
    let scores = model.score(block);
    let mut walked = Walked::new(model.n_labels());
    let n_walks = walks.len();
    for row in 0..block.n_rows() {
        let mut start = Some(model.evidence(&scores, row));
        let mut before = None;
        for (at, (route, collector)) in walks.iter_mut().enumerate() {
            let route: &Route = route;
            let order = route.order(row);
            if before != Some(order) {
                // The last walk takes the evidence itself, those before it take a copy.
                let evidence = if at + 1 == n_walks { start.take() } else { start.clone() };
                walked.relevant.fill(0);
                match (evidence, order) {
                    (Some(evidence), Some(order)) => decide(evidence, order, |it| walked.write(it)),
                    (Some(evidence), None) => walked.independently(&evidence),
                    (None, _) => {}
                }
            }
            collector.collect(row, order, &walked);
            before = Some(order);
        }
    }
}
