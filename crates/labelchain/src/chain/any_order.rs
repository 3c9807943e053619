//! Models that can be walked in any order without being trained again.

use std::any::Any;
use std::sync::Arc;

use serde::Serialize;

use super::walk::walk;
use super::{BaseModel, Block, Collector, Decisions, Route, Scoring, TunedSetting};
use crate::data::{Dataset, LabelMatrix};
use crate::error::Result;
use crate::prepare::{LabelView, Prepared};
use crate::seed::Seed;

/// Settings that can be fitted to a model without an order.
pub trait ChainLearner: Send + Sync {
    /// What fitting makes.
    type Model: ChainModel;

    /// Learns from the named rows of the training set.
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

    /// The model that has also learned from further `rows` of `data`, which is on its scale, and of which
    /// each label learns from the rows of its view; it counts rows on from `n_before`. None unless it
    /// keeps what that takes.
    fn updated(
        &self,
        _data: &Dataset,
        _rows: &[usize],
        _views: &[LabelView],
        _n_before: usize,
    ) -> Option<Self> {
        None
    }
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

    /// The model as bytes, for a model file.
    fn encode(&self) -> postcard::Result<Vec<u8>>;

    /// See [`ChainModel::concat_columns`]; none also where the other model is of another kind.
    fn concat_columns(&self, other: &dyn AnyOrderModel) -> Option<Arc<dyn AnyOrderModel>>;

    /// See [`ChainModel::updated`].
    fn updated(
        &self,
        data: &Dataset,
        rows: &[usize],
        views: &[LabelView],
        n_before: usize,
    ) -> Option<Arc<dyn AnyOrderModel>>;
}

impl<M: ChainModel> AnyOrderModel for M {
    fn walk(&self, block: &Block, walks: &mut [(Route, &mut dyn Collector)]) {
        walk(self, block, walks);
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }

    fn concat_columns(&self, other: &dyn AnyOrderModel) -> Option<Arc<dyn AnyOrderModel>> {
        let other = (other as &dyn Any).downcast_ref::<M>()?;
        let joined = ChainModel::concat_columns(self.clone(), other.clone())?;
        Some(Arc::new(joined))
    }

    fn updated(
        &self,
        data: &Dataset,
        rows: &[usize],
        views: &[LabelView],
        n_before: usize,
    ) -> Option<Arc<dyn AnyOrderModel>> {
        Some(Arc::new(ChainModel::updated(self, data, rows, views, n_before)?))
    }
}
