//! The closed list of base models, as one model: what an ensemble of any method is made of.

use serde::{Deserialize, Serialize};

use crate::base::{ChainLearner, ChainModel, Evidence, J48, J48Model, Svm, SvmChain, TrainingRows};
use crate::base::{NaiveBayes, NaiveBayesModel, NearestNeighbours, NearestNeighboursModel};
use crate::chain::{FixedOrderChain, Order};
use crate::data::LabelId;
use crate::distance::Needs;
use crate::error::Result;
use crate::learner::Block;
use crate::prepare::{LabelView, Preparation, Prepared};
use crate::seed::Seed;

/// What can be trained.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// Naive Bayes.
    NaiveBayes(NaiveBayes),
    /// Rankings neighbours.
    NearestNeighbours(NearestNeighbours),
    /// Trees, trained for an order.
    J48 {
        /// How trees are grown.
        tree: J48,
        /// Rows and features of each label.
        preparation: Preparation,
    },
    /// Support vector machines, trained for an order.
    Svm {
        /// The rows of the training set, once for all labels and members.
        space: TrainingRows,
        /// How the machine of each label is fitted.
        by_label: Vec<Svm>,
        /// Rows and features of each label.
        preparation: Preparation,
    },
}

/// What was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BaseModel {
    /// Naive Bayes.
    NaiveBayes(NaiveBayesModel),
    /// Rankings neighbours.
    NearestNeighbours(NearestNeighboursModel),
    /// Trees, trained for an order.
    J48(FixedOrderChain<J48Model>),
    /// Support vector machines, trained for an order.
    Svm(SvmChain),
}

/// The scores of either.
pub enum BaseScores {
    /// Naive Bayes.
    NaiveBayes(<NaiveBayesModel as ChainModel>::Scores),
    /// Rankings neighbours.
    NearestNeighbours(<NearestNeighboursModel as ChainModel>::Scores),
    /// Trees.
    J48(<FixedOrderChain<J48Model> as ChainModel>::Scores),
    /// Support vector machines.
    Svm(<SvmChain as ChainModel>::Scores),
}

/// The evidence of either.
#[derive(Clone)]
pub enum BaseEvidence<'m> {
    /// Naive Bayes.
    NaiveBayes(<NaiveBayesModel as ChainModel>::Evidence<'m>),
    /// Rankings neighbours.
    NearestNeighbours(<NearestNeighboursModel as ChainModel>::Evidence<'m>),
    /// Trees.
    J48(<FixedOrderChain<J48Model> as ChainModel>::Evidence<'m>),
    /// Support vector machines.
    Svm(<SvmChain as ChainModel>::Evidence<'m>),
    /// A model that was handed the scores of another.
    Nothing,
}

impl Base {
    /// Learns from the named rows of the training set; for an order, where it matters, or to decide
    /// labels independently.
    pub fn fit(
        &self,
        train: &Prepared,
        rows: &[usize],
        order: Option<&Order>,
        seed: Seed,
    ) -> Result<BaseModel> {
        match self {
            Base::NaiveBayes(base) => base.fit(train, rows, seed).map(BaseModel::NaiveBayes),
            Base::NearestNeighbours(base) => {
                base.fit(train, rows, seed).map(BaseModel::NearestNeighbours)
            }
            Base::J48 { tree, preparation } => {
                let views = train.views(preparation, rows, seed);
                FixedOrderChain::fit(tree, train, views, order).map(BaseModel::J48)
            }
            Base::Svm { space, by_label, preparation } => {
                let views = train.views(preparation, rows, seed);
                let order: Vec<LabelId> = order.into_iter().flat_map(Order::iter).collect();
                SvmChain::fit(by_label, space, views, &order).map(BaseModel::Svm)
            }
        }
    }
}

impl BaseModel {
    /// The model of these inputs and then those of another, fitted to the same rows and labels, where
    /// each input is learned on its own.
    pub(super) fn beside(self, other: BaseModel) -> Option<BaseModel> {
        match (self, other) {
            (BaseModel::NaiveBayes(model), BaseModel::NaiveBayes(other)) => {
                Some(BaseModel::NaiveBayes(model.concat_columns(other)))
            }
            _ => None,
        }
    }

    /// The rows and features each label learned from.
    pub fn views(&self) -> &[LabelView] {
        match self {
            BaseModel::NaiveBayes(model) => model.views(),
            BaseModel::NearestNeighbours(model) => model.views(),
            BaseModel::J48(model) => model.views(),
            BaseModel::Svm(model) => model.views(),
        }
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(
        &self,
        n_labels: usize,
        n_features: usize,
        n_train: Option<usize>,
    ) -> bool {
        match self {
            BaseModel::NaiveBayes(model) => model.is_sound(n_labels, n_features),
            BaseModel::NearestNeighbours(model) => {
                n_train.is_some_and(|n_train| model.is_sound(n_labels, n_features, n_train))
            }
            BaseModel::J48(model) => model.is_sound(n_labels, n_features, J48Model::is_sound),
            BaseModel::Svm(model) => model.is_sound(n_labels, n_features),
        }
    }
}

impl ChainModel for BaseModel {
    type Scores = BaseScores;
    type Evidence<'m> = BaseEvidence<'m>;

    fn n_labels(&self) -> usize {
        match self {
            BaseModel::NaiveBayes(model) => model.n_labels(),
            BaseModel::NearestNeighbours(model) => model.n_labels(),
            BaseModel::J48(model) => model.n_labels(),
            BaseModel::Svm(model) => model.n_labels(),
        }
    }

    fn needs(&self) -> Needs {
        match self {
            BaseModel::NaiveBayes(model) => model.needs(),
            BaseModel::NearestNeighbours(model) => model.needs(),
            BaseModel::J48(model) => model.needs(),
            BaseModel::Svm(model) => model.needs(),
        }
    }

    fn score(&self, block: &Block) -> BaseScores {
        match self {
            BaseModel::NaiveBayes(model) => BaseScores::NaiveBayes(model.score(block)),
            BaseModel::NearestNeighbours(model) => {
                BaseScores::NearestNeighbours(model.score(block))
            }
            BaseModel::J48(model) => BaseScores::J48(model.score(block)),
            BaseModel::Svm(model) => BaseScores::Svm(model.score(block)),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m BaseScores, row: usize) -> BaseEvidence<'m> {
        match (self, scores) {
            (BaseModel::NaiveBayes(model), BaseScores::NaiveBayes(scores)) => {
                BaseEvidence::NaiveBayes(model.evidence(scores, row))
            }
            (BaseModel::NearestNeighbours(model), BaseScores::NearestNeighbours(scores)) => {
                BaseEvidence::NearestNeighbours(model.evidence(scores, row))
            }
            (BaseModel::J48(model), BaseScores::J48(scores)) => {
                BaseEvidence::J48(model.evidence(scores, row))
            }
            (BaseModel::Svm(model), BaseScores::Svm(scores)) => {
                BaseEvidence::Svm(model.evidence(scores, row))
            }
            _ => BaseEvidence::Nothing,
        }
    }
}

impl Evidence for BaseEvidence<'_> {
    fn support(&self, label: LabelId) -> f64 {
        match self {
            BaseEvidence::NaiveBayes(evidence) => evidence.support(label),
            BaseEvidence::NearestNeighbours(evidence) => evidence.support(label),
            BaseEvidence::J48(evidence) => evidence.support(label),
            BaseEvidence::Svm(evidence) => evidence.support(label),
            BaseEvidence::Nothing => 0.0,
        }
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        match self {
            BaseEvidence::NaiveBayes(evidence) => evidence.observe(label, relevant),
            BaseEvidence::NearestNeighbours(evidence) => evidence.observe(label, relevant),
            BaseEvidence::J48(evidence) => evidence.observe(label, relevant),
            BaseEvidence::Svm(evidence) => evidence.observe(label, relevant),
            BaseEvidence::Nothing => {}
        }
    }
}
