//! The base learners: what a chain asks about each label. One folder each, and one row in [`BASES`].

pub mod j48;
mod knn;
mod naive_bayes;
mod svm;

pub use j48::{J48, J48Model};
pub use knn::{NearestNeighbours, NearestNeighboursModel, Ties};
pub use naive_bayes::{Likelihood, NaiveBayes, NaiveBayesModel};
pub use svm::{BinarySvm, Grid, Kernel, Svm, SvmChain, TrainingRows, Tuned};

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::chain::{
    AnyOrderLearner, AnyOrderModel, ChainModel, FixedOrderLearner, FixedOrderModel, OrderedModel,
};
use crate::ensemble::Sampling;
use crate::error::Result;
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{AnySetting, Settings};

/// All base learners.
pub static BASES: &[&Base] = &[&naive_bayes::BASE, &knn::BASE, &j48::BASE, &svm::BASE];

/// What can be trained: a row of [`BASES`].
pub struct Base {
    /// Its name, the second half of a method's.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether its models can be walked in any order, and how they are made.
    pub kind: BaseKind,
    /// Whether each input is learned without a look at the others, so that models of some of the
    /// inputs can be joined ([`ChainModel::concat_columns`]).
    pub learns_by_column: bool,
    /// What it reads of the settings, beside what every ensemble does.
    pub settings: &'static [&'static dyn AnySetting],
}

/// Whether models must be trained for an order, and how they are made.
pub enum BaseKind {
    /// Models that can be walked in any order.
    AnyOrder {
        /// Reads the settings and tunes those that are left to the data.
        learner: fn(&BaseTask) -> Result<Box<dyn AnyOrderLearner>>,
        /// Reads back what [`AnyOrderModel::encode`] wrote; none if it is damaged.
        decode: fn(&[u8]) -> Option<Arc<dyn AnyOrderModel>>,
    },
    /// Models that are trained for one order each.
    FixedOrder {
        /// Reads the settings and tunes those that are left to the data.
        learner: fn(&BaseTask) -> Result<Box<dyn FixedOrderLearner>>,
        /// Reads back what [`FixedOrderModel::encode`] wrote; none if it is damaged.
        decode: fn(&[u8]) -> Option<Arc<dyn FixedOrderModel>>,
    },
}

/// From what a learner is made.
pub struct BaseTask<'a> {
    /// The settings that the base lists, and those of [`Preparation`](crate::prepare::Preparation).
    /// How members are drawn is in `sampling`.
    pub settings: &'a Settings,
    /// How members are drawn, for settings that are tuned by their votes.
    pub sampling: Sampling,
    /// The training set.
    pub train: &'a Prepared,
    /// What everything is drawn by.
    pub seed: Seed,
}

impl Base {
    /// Whether a model can be walked in any order, without being trained again.
    pub fn is_free_of_order(&self) -> bool {
        matches!(self.kind, BaseKind::AnyOrder { .. })
    }
}

/// Reads back a model that can be walked in any order; whoever calls it asks whether the model
/// [fits](crate::chain::BaseModel::fits).
pub fn decode_any_order<M: ChainModel + DeserializeOwned>(
    bytes: &[u8],
) -> Option<Arc<dyn AnyOrderModel>> {
    Some(Arc::new(postcard::from_bytes::<M>(bytes).ok()?))
}

/// Reads back a model that was trained for one order; whoever calls it asks whether the model
/// [fits](crate::chain::BaseModel::fits).
pub fn decode_fixed_order<M: OrderedModel + serde::Serialize + DeserializeOwned>(
    bytes: &[u8],
) -> Option<Arc<dyn FixedOrderModel>> {
    Some(Arc::new(postcard::from_bytes::<M>(bytes).ok()?))
}
