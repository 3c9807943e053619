//! Base models: a chain that has not been told its order.
//!
//! A fitted model turns a row into *evidence*: a score for every label from the inputs alone,
//! computed once. What a decision about one label says of the others is kept apart, and is added
//! when the decision is made. Naive Bayes multiplies one factor per attribute and a label not yet
//! decided is a missing attribute, without a factor; so a walk in any order equals a chain trained
//! in that order on the same rows (methods 1.3). Rankings neighbours add one square per attribute,
//! and the same holds (methods 2). So no order is needed, or can be named, here.

mod binary;
pub mod j48;
mod knn;
mod naive_bayes;
mod svm;

pub use binary::{BinaryLearner, BinaryModel};
pub use j48::{J48, J48Model};
pub use knn::{NearestNeighbours, NearestNeighboursModel, Ties};
pub use naive_bayes::{Likelihood, NaiveBayes, NaiveBayesModel};
pub use svm::{BinarySvm, Grid, Kernel, Svm, SvmChain, TrainingRows, Tuned};

use crate::data::LabelId;
use crate::distance::Needs;
use crate::error::Result;
use crate::learner::Block;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// Settings that can be fitted.
pub trait ChainLearner: Sync {
    /// What fitting makes.
    type Model: ChainModel;

    /// Learns from the named rows of the training set.
    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<Self::Model>;
}

/// A fitted model without an order.
pub trait ChainModel: Send + Sync {
    /// What the inputs of a block say about every label.
    type Scores: Send + Sync;
    /// What is known about one row so far.
    type Evidence<'m>: Evidence
    where
        Self: 'm;

    /// How many labels.
    fn n_labels(&self) -> usize;

    /// What scoring asks a block for.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Scores every label of every row, once.
    fn score(&self, block: &Block) -> Self::Scores;

    /// Starts a walk over one row.
    fn evidence<'m>(&'m self, scores: &'m Self::Scores, row: usize) -> Self::Evidence<'m>;
}

impl<M: ChainModel> ChainModel for std::sync::Arc<M> {
    type Scores = M::Scores;
    type Evidence<'m>
        = M::Evidence<'m>
    where
        Self: 'm;

    fn n_labels(&self) -> usize {
        (**self).n_labels()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn score(&self, block: &Block) -> M::Scores {
        (**self).score(block)
    }

    fn evidence<'m>(&'m self, scores: &'m M::Scores, row: usize) -> M::Evidence<'m> {
        (**self).evidence(scores, row)
    }
}

/// What is known about one row: cheap to copy, moved by each decision.
pub trait Evidence: Clone {
    /// log P(relevant) - log P(irrelevant) of a label not yet decided.
    fn support(&self, label: LabelId) -> f64;

    /// Conditions every open label on the decision just made.
    fn observe(&mut self, label: LabelId, relevant: bool);
}
