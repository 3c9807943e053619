//! The greedy walk: ask the evidence about one label, write the answer down by label, tell the
//! evidence what was decided. The order of the walk is somebody else's choice.

mod fixed_order;
mod order;

pub use fixed_order::FixedOrderChain;
pub use order::Order;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::{ChainModel, Evidence};
use crate::data::{LabelId, LabelMatrix};
use crate::learner::{Block, Lender, Predictor, Trace};

/// Decides every label in the given order (the paper's Algorithms 2 and 4).
pub fn decide<E: Evidence>(mut evidence: E, order: &Order, mut write: impl FnMut(Step)) {
    for label in order.iter() {
        let support = evidence.support(label);
        // Strictly greater: a tie leaves the label irrelevant (docs/conventions.md).
        let relevant = support > 0.0;
        write(Step { label, support, relevant });
        evidence.observe(label, relevant);
    }
}

/// Decides every label of one row of the answers by what the inputs say alone.
pub fn decide_alone<E: Evidence>(evidence: &E, row: usize, answers: &mut LabelMatrix) {
    for label in answers.ids() {
        answers.set(row, label, evidence.support(label) > 0.0);
    }
}

/// Walks every row of a block in several orders, `order` giving the one of a row by its place: what
/// is found out about the inputs of a row serves all of its walks. Prediction by place.
pub fn walk_all<'o, M: ChainModel>(
    model: &M,
    scores: &M::Scores,
    n_rows: usize,
    n_orders: usize,
    order: impl Fn(usize, usize) -> &'o Order,
) -> Vec<LabelMatrix> {
    let mut answers = vec![LabelMatrix::empty(n_rows, model.n_labels()); n_orders];
    for row in 0..n_rows {
        let start = model.evidence(scores, row);
        for at in 0..n_orders {
            let (before, here) = answers.split_at_mut(at);
            match before.last() {
                Some(same) if order(at - 1, row) == order(at, row) => {
                    same.relevant(row).for_each(|label| here[0].set(row, label, true));
                }
                _ => decide(start.clone(), order(at, row), |step| {
                    here[0].set(row, step.label, step.relevant);
                }),
            }
        }
    }
    answers
}

/// One decision of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The label decided.
    pub label: LabelId,
    /// log P(relevant) - log P(irrelevant), given what was decided before.
    pub support: f64,
    /// Whether it was decided to be relevant.
    pub relevant: bool,
}

/// Chooses the order of the walk for each row.
pub trait OrderPolicy: Send + Sync {
    /// An order for each row of the block, and why.
    fn orders(&self, block: &Block) -> Vec<Chosen<'_>>;
}

/// An order, and why.
pub struct Chosen<'p> {
    /// The order.
    pub order: Cow<'p, Order>,
    /// Why this one.
    pub reason: Reason,
}

/// What led to an order.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It is the same for every row.
    Always,
    /// The quality of each label near the row.
    LocalF1(Vec<f64>),
    /// A validation row near by lent its own.
    Lent(Lender),
}

/// A model walked in the orders of a policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chain<M, P> {
    /// What was trained, in no order.
    pub model: M,
    /// Who chooses the order.
    pub policy: P,
}

impl<M: ChainModel, P: OrderPolicy> Chain<M, P> {
    /// Walks every row of a block whose scores are known.
    pub fn walk(&self, scores: &M::Scores, block: &Block) -> LabelMatrix {
        let mut answers = LabelMatrix::empty(block.n_rows(), self.model.n_labels());
        for (row, chosen) in self.policy.orders(block).iter().enumerate() {
            decide(self.model.evidence(scores, row), &chosen.order, |step| {
                answers.set(row, step.label, step.relevant);
            });
        }
        answers
    }
}

impl<M: ChainModel, P: OrderPolicy> Predictor for Chain<M, P> {
    fn predict_block(&self, block: &Block) -> LabelMatrix {
        self.walk(&self.model.score(block), block)
    }

    fn trace_block(&self, block: &Block) -> Vec<Trace> {
        let scores = self.model.score(block);
        let orders = self.policy.orders(block).into_iter().enumerate();
        orders
            .map(|(row, chosen)| {
                let n_labels = self.model.n_labels();
                let mut trace = Trace::new(n_labels);
                decide(self.model.evidence(&scores, row), &chosen.order, |step| {
                    trace.support[step.label.0] = step.support;
                    trace.decisions[step.label.0] = step.relevant;
                });
                trace.order = Some(chosen.order.iter().collect());
                match chosen.reason {
                    Reason::Always => {}
                    Reason::LocalF1(local_f1) => trace.local_f1 = Some(local_f1),
                    Reason::Lent(lender) => trace.lender = Some(lender),
                }
                trace
            })
            .collect()
    }
}

/// A model asked about every label and told nothing: binary relevance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Independent<M> {
    /// What was trained.
    pub model: M,
}

impl<M: ChainModel> Independent<M> {
    /// Decides every row of a block whose scores are known.
    pub fn answer(&self, scores: &M::Scores, n_rows: usize) -> LabelMatrix {
        let mut answers = LabelMatrix::empty(n_rows, self.model.n_labels());
        for row in 0..n_rows {
            decide_alone(&self.model.evidence(scores, row), row, &mut answers);
        }
        answers
    }
}

impl<M: ChainModel> Predictor for Independent<M> {
    fn predict_block(&self, block: &Block) -> LabelMatrix {
        self.answer(&self.model.score(block), block.n_rows())
    }

    fn trace_block(&self, block: &Block) -> Vec<Trace> {
        let scores = self.model.score(block);
        (0..block.n_rows())
            .map(|row| {
                let evidence = self.model.evidence(&scores, row);
                let mut trace = Trace::new(self.model.n_labels());
                for label in 0..self.model.n_labels() {
                    trace.support[label] = evidence.support(LabelId(label));
                    trace.decisions[label] = trace.support[label] > 0.0;
                }
                trace
            })
            .collect()
    }
}
