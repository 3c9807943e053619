//! Models that can be walked in any order without being trained again.

use std::any::Any;
use std::sync::Arc;

use serde::Serialize;

use super::walk::walk;
use super::{BaseModel, Block, Collector, Decisions, Route, Scoring, TunedSetting};
use crate::data::{Dataset, LabelMatrix};
use crate::error::{Error, Result};
use crate::pieces::PieceWriter;
use crate::prepare::{LabelView, Prepared};
use crate::progress::Cancel;
use crate::seed::Seed;
use crate::settings::Settings;

/// Settings that can be fitted to a model without an order.
pub trait ChainLearner: Send + Sync {
    /// What fitting makes.
    type Model: ChainModel;

    /// Learns from the named rows of the training set, each of which is named once.
    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<Self::Model>;

    /// The same for a model whose labels will be decided independently: what labels tell about each
    /// other may be left out, and should be where it takes time or memory.
    fn fit_independent(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<Self::Model> {
        self.fit(train, rows, seed)
    }

    /// The values of settings that were left to the data.
    fn tuned(&self) -> Vec<TunedSetting> {
        Vec::new()
    }
}

/// A model without an order: walking it in an order decides as a chain trained for that order would.
///
/// It is a promise. Implement it only for a model whose [`Scoring::evidence`] keeps it; a test such as
/// `tests/reordering_equals_retraining.rs` shows that it does.
pub trait ChainModel: Scoring + Clone + Serialize {
    /// The model of these inputs and then those of another, fitted to the same rows and labels; none
    /// unless each input is learned without a look at the others.
    fn concat_columns(self, _other: Self) -> Option<Self> {
        None
    }

    /// The model that has also learned from further rows; refused unless it keeps what that takes.
    fn updated(&self, _further: &FurtherRows) -> Result<Self> {
        Err(cannot_update())
    }

    /// The model as bytes. What rows need only some of is added to `pieces` instead.
    fn to_stored(&self, _pieces: &mut PieceWriter) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }
}

/// Why a model of which nothing else is known does not learn from further rows.
pub(crate) fn cannot_update() -> Error {
    Error::CannotUpdate {
        problem: "the model keeps nothing that further rows could be added to".into(),
        remedy: "train again on all rows".into(),
    }
}

/// Rows that a model has not learned from yet, and what it takes to learn from them.
#[derive(Clone, Copy)]
pub struct FurtherRows<'a> {
    /// The rows, on the scale of the model. They may have more labels than the model, after its own, which are
    /// irrelevant to all rows before, and more values of nominal inputs, after those it knows.
    pub data: &'a Dataset,
    /// Those of them that are learned from, ascending.
    pub rows: &'a [usize],
    /// Which of these each label learns from, where labels learn from rows of their own.
    pub views: &'a [LabelView],
    /// Where labels learn from rows of their own: for each label that the model does not have yet, the rows
    /// before that it learns from as well, which are all that the model was fitted on or none.
    pub rows_before: &'a [Arc<[usize]>],
    /// How many rows there were before. The model counts the new ones on from there.
    pub n_before: usize,
    /// The settings of the model.
    pub settings: &'a Settings,
    /// What everything is drawn by.
    pub seed: Seed,
    /// What stops the work.
    pub cancel: &'a Cancel,
}

/// A [`ChainLearner`] as an object.
pub trait AnyOrderLearner: Send + Sync {
    /// Learns from the named rows of the training set.
    fn train(&self, train: &Prepared, rows: &[usize], seed: Seed)
    -> Result<Arc<dyn AnyOrderModel>>;

    /// See [`ChainLearner::fit_independent`].
    fn train_independent(
        &self,
        train: &Prepared,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Arc<dyn AnyOrderModel>>;

    /// The values of settings that were left to the data.
    fn tuned_settings(&self) -> Vec<TunedSetting>;
}

impl<L: ChainLearner> AnyOrderLearner for L {
    fn train(
        &self,
        train: &Prepared,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Arc<dyn AnyOrderModel>> {
        Ok(Arc::new(self.fit(train, rows, seed)?))
    }

    fn train_independent(
        &self,
        train: &Prepared,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Arc<dyn AnyOrderModel>> {
        Ok(Arc::new(self.fit_independent(train, rows, seed)?))
    }

    fn tuned_settings(&self) -> Vec<TunedSetting> {
        self.tuned()
    }
}

/// A [`ChainModel`] as an object, which labels a block of rows at a time.
pub trait AnyOrderModel: BaseModel {
    /// Walks every row of a block along each of the routes, into the collector beside it.
    fn walk(&self, block: &Block, walks: &mut [(Route, &mut dyn Collector)]);

    /// What is decided about each row of a block along one route.
    fn decisions(&self, block: &Block, route: Route) -> LabelMatrix {
        let mut decisions = Decisions::new(block.n_rows(), self.n_labels());
        self.walk(block, &mut [(route, &mut decisions)]);
        decisions.0
    }

    /// See [`ChainModel::to_stored`]. All of the model has to be in memory.
    fn encode(&self, pieces: &mut PieceWriter) -> postcard::Result<Vec<u8>>;

    /// See [`ChainModel::concat_columns`]; none also where the other model is of another kind.
    fn concat_columns(&self, other: &dyn AnyOrderModel) -> Option<Arc<dyn AnyOrderModel>>;

    /// See [`ChainModel::updated`].
    fn updated(&self, further: &FurtherRows) -> Result<Arc<dyn AnyOrderModel>>;
}

impl<M: ChainModel> AnyOrderModel for M {
    fn walk(&self, block: &Block, walks: &mut [(Route, &mut dyn Collector)]) {
        walk(self, block, walks);
    }

    fn encode(&self, pieces: &mut PieceWriter) -> postcard::Result<Vec<u8>> {
        self.to_stored(pieces)
    }

    fn concat_columns(&self, other: &dyn AnyOrderModel) -> Option<Arc<dyn AnyOrderModel>> {
        let other = (other as &dyn Any).downcast_ref::<M>()?;
        let joined = ChainModel::concat_columns(self.clone(), other.clone())?;
        Some(Arc::new(joined))
    }

    fn updated(&self, further: &FurtherRows) -> Result<Arc<dyn AnyOrderModel>> {
        Ok(Arc::new(ChainModel::updated(self, further)?))
    }
}
