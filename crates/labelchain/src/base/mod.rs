//! The base learners: what a chain asks about each label. One folder each, and one row in [`BASES`].

mod forest;
pub mod j48;
mod knn;
mod naive_bayes;
mod svm;

pub(crate) use forest::TREES;
pub use forest::{Forest, ForestModel, Importance, SplitFeatures, TreeRows};
pub use j48::{J48, J48Model};
pub use knn::{NearestNeighbours, NearestNeighboursModel, Ties};
pub use naive_bayes::{Likelihood, NaiveBayes, NaiveBayesModel};
pub use svm::{BinarySvm, Grid, GridCriterion, Kernel, Svm, SvmChain, TrainingRows, Tuned};

use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::chain::{
    AnyOrderLearner, AnyOrderModel, ChainModel, FixedOrderLearner, FixedOrderModel, OrderedModel,
};
use crate::decode::{Decode, DecodeBudget, decode};
use crate::ensemble::{MemberRows, Sampling, VoteTies};
use crate::error::Result;
use crate::pieces::PieceFile;
use crate::prepare::{MAX_FEATURES, MAX_IMBALANCE, Prepared, SELECT};
use crate::seed::Seed;
use crate::settings::{AnySetting, Settings};

/// All base learners.
pub static BASES: &[&Base] =
    &[&naive_bayes::BASE, &knn::BASE, &j48::BASE, &svm::BASE, &forest::BASE];

/// What can be trained: a row of [`BASES`].
pub struct Base {
    /// Its name, the second half of a method's.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether its models can be walked in any order, and how they are made.
    pub kind: BaseKind,
    /// Which rows its members learn from.
    pub member_rows: MemberRows,
    /// Whether each input is learned without a look at the others, so that models of some of the
    /// inputs can be joined ([`ChainModel::concat_columns`]).
    pub learns_by_column: bool,
    /// Whether a label can learn from rows of which another label is unknown.
    pub takes_unknown_labels: bool,
    /// Whether its models learn from further rows ([`ChainModel::updated`]).
    pub updating: Updating,
    /// How its model is trained by several processes; none where these train some members of an ensemble each.
    pub parts: Option<&'static BaseParts>,
    /// About how many bytes all members take while they are trained, beside the training set: an upper
    /// bound within a factor of two or so, by which too much is refused beforehand.
    pub training_bytes: fn(&BaseTask) -> u64,
    /// What it reads of the settings, beside what every ensemble does.
    pub settings: &'static [&'static dyn AnySetting],
    /// What it reads only where labels are decided one after the other.
    pub chain_settings: &'static [&'static dyn AnySetting],
}

/// Whether models must be trained for an order, and how they are made.
pub enum BaseKind {
    /// Models that can be walked in any order.
    AnyOrder {
        /// Reads the settings and tunes those that are left to the data.
        learner: fn(&BaseTask) -> Result<Box<dyn AnyOrderLearner>>,
        /// Reads back what [`AnyOrderModel::encode`] wrote; none if it is damaged.
        decode: DecodeModel,
    },
    /// Models that are trained for one order each.
    FixedOrder {
        /// Reads the settings and tunes those that are left to the data.
        learner: fn(&BaseTask) -> Result<Box<dyn FixedOrderLearner>>,
        /// Reads back what [`FixedOrderModel::encode`] wrote; none if it is damaged.
        decode: Decode<dyn FixedOrderModel>,
    },
}

/// Reads back a model from its bytes, and from a file what it keeps in pieces; none if it is damaged or becomes
/// too much.
pub type DecodeModel = fn(&[u8], &DecodeBudget, &Arc<PieceFile>) -> Option<Arc<dyn AnyOrderModel>>;

/// A model that members share and that consists of parts, such as trees, which are trained without a look
/// at each other.
pub struct BaseParts {
    /// How many parts it has.
    pub n_parts: fn(&Settings) -> usize,
    /// Trains some of them on some rows, as bytes.
    pub train: fn(&BaseTask, &[usize], Range<usize>, Seed) -> Result<PartBytes>,
    /// Makes a learner whose model consists of these parts.
    pub learner: JoinParts,
}

/// Makes a learner whose model of all rows consists of parts, in their order; it refuses other than all parts
/// of the model that would be trained on these rows.
pub type JoinParts = fn(&BaseTask, &[PartBytes]) -> Result<Box<dyn AnyOrderLearner>>;

/// Some parts of a model, to be sent to the process that joins them.
pub type PartBytes = Vec<u8>;

/// Which further rows a model learns from, without those that it was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updating {
    /// None.
    Never,
    /// Rows of which all labels are known.
    KnownLabels,
    /// All that training takes.
    AnyRows,
}

/// From what a learner is made.
pub struct BaseTask<'a> {
    /// The settings that the base lists, and those of [`Preparation`](crate::prepare::Preparation).
    /// How members are drawn is in `sampling`.
    pub settings: &'a Settings,
    /// How members are drawn, for settings that are tuned by their votes.
    pub sampling: Sampling,
    /// What a tied vote decides, for settings that are tuned by votes.
    pub vote_ties: VoteTies,
    /// The training set.
    pub train: &'a Prepared,
    /// What everything is drawn by.
    pub seed: Seed,
}

impl BaseTask<'_> {
    /// How many rows a member is fitted on.
    pub fn n_fitted_rows(&self) -> u64 {
        let share = self.sampling.sample * self.sampling.fit_share;
        (self.train.data().n_rows() as f64 * share).ceil() as u64
    }

    /// How many inputs a label may look at.
    pub fn n_inputs(&self) -> u64 {
        let n_features = self.train.data().n_features();
        let is_selected = self.settings.get(&SELECT);
        let most = if is_selected { self.settings.get(&MAX_FEATURES) } else { n_features };
        most.min(n_features) as u64
    }

    /// How many cells the rows that a member is fitted on store.
    pub fn n_fitted_cells(&self) -> u64 {
        let share = self.sampling.sample * self.sampling.fit_share;
        (self.train.data().features().n_bytes() as f64 / 8.0 * share).ceil() as u64
    }

    /// How many members are trained.
    pub fn n_members(&self) -> u64 {
        match self.sampling.member_rows {
            MemberRows::Drawn => self.sampling.n_members as u64,
            MemberRows::Shared => 1,
        }
    }

    /// How many members are trained at the same time.
    pub fn n_at_once(&self) -> u64 {
        self.n_members().min(rayon::current_num_threads() as u64)
    }

    /// What the selection of inputs takes: every column sorted, with its rows, once for all and once
    /// for the rows of each member.
    pub fn selection_bytes(&self) -> u64 {
        const OF_CELL: u64 = 16;
        if self.settings.get(&SELECT) {
            let all = self.train.data().features().n_bytes() as u64 / 8;
            OF_CELL * (all + self.n_at_once() * self.n_fitted_cells())
        } else {
            0
        }
    }

    /// What members keep to say which rows each label learned from. A label that was thinned has a list
    /// of its own, of the rows to which it is relevant and so many times as many others; all other
    /// labels share one.
    pub fn view_bytes(&self) -> u64 {
        if self.sampling.member_rows == MemberRows::Shared {
            // No label has rows of its own; each member that votes lists those of all.
            return 16 * self.sampling.n_members as u64 * self.n_fitted_rows();
        }
        let labels = self.train.data().labels();
        let mut n_relevant = vec![0.0; labels.n_labels()];
        for row in 0..labels.n_rows() {
            labels.relevant(row).for_each(|label| n_relevant[label.0] += 1.0);
        }
        let imbalance = self.settings.get(&MAX_IMBALANCE).unwrap_or(f64::INFINITY);
        let share = self.sampling.sample * self.sampling.fit_share;
        let n_fitted = self.n_fitted_rows() as f64;
        let kept = n_relevant.iter().map(|n| (n * share * (1.0 + imbalance)).min(n_fitted));
        // Labels that are unknown in some rows have lists of their own.
        let has_unknown = labels.n_unknown() > 0;
        let own: f64 = kept.filter(|&kept| kept < n_fitted || has_unknown).sum();
        (8.0 * self.n_members() as f64 * (own + n_fitted)) as u64
    }
}

impl Base {
    /// Whether a model can be walked in any order, without being trained again.
    pub fn is_free_of_order(&self) -> bool {
        matches!(self.kind, BaseKind::AnyOrder { .. })
    }
}

/// Reads back a model that can be walked in any order and keeps nothing in pieces; whoever calls it asks whether the model
/// [fits](crate::chain::BaseModel::fits).
pub fn decode_any_order<M: ChainModel + DeserializeOwned>(
    bytes: &[u8],
    budget: &DecodeBudget,
    _pieces: &Arc<PieceFile>,
) -> Option<Arc<dyn AnyOrderModel>> {
    Some(Arc::new(decode::<M>(bytes, budget)?))
}

/// Reads back a model that was trained for one order; whoever calls it asks whether the model
/// [fits](crate::chain::BaseModel::fits).
pub fn decode_fixed_order<M: OrderedModel + serde::Serialize + DeserializeOwned>(
    bytes: &[u8],
    budget: &DecodeBudget,
) -> Option<Arc<dyn FixedOrderModel>> {
    Some(Arc::new(decode::<M>(bytes, budget)?))
}
