//! The classifier chain: ask a model about one label, write the answer down by label, condition the
//! model on the decision, go on with the next label. The order of the labels is somebody else's
//! choice.
//!
//! A model turns a row into [`Evidence`]: a [`Score`] for every label from the inputs alone,
//! computed once. What a decision about one label says of the others is kept apart and added when
//! the decision is made. Naive Bayes multiplies one factor per attribute, and a label not yet
//! decided is a missing attribute, which has no factor; so a walk in any order equals a chain
//! trained in that order on the same rows (docs/methods.md, 1.3). Nearest neighbours add one square
//! per attribute, and the same holds. Such a model is a [`ChainModel`]: no order is named in it.
//! Trees and support vector machines must be trained for an order; they are an [`OrderedModel`],
//! which is walked in its own order only.
//!
//! Both kinds meet the rest of the library as objects, one block of rows at a time: as
//! [`AnyOrderModel`] and [`FixedOrderModel`]. What a walk finds goes into a [`Collector`].

mod any_order;
mod attribution;
mod block;
mod collect;
mod evidence;
mod fixed_order;
mod order;
mod policy;
mod score;
mod walk;

pub(crate) use any_order::cannot_update;
pub use any_order::{AnyOrderLearner, AnyOrderModel, ChainLearner, ChainModel, FurtherRows};
pub use attribution::{Attribution, Contribution, Neighbour};
pub use block::{Block, CellsAndSquares};
pub use collect::{Collector, Decisions, OrderCounts, Outputs, Trace, Traces, WeightedLabelSets};
pub(crate) use evidence::farthest_from_zero;
pub use evidence::{
    BaseModel, Dimensions, Evidence, InputNames, JointLaw, Scoring, TunedSetting, Wanted,
};
pub use fixed_order::{
    BinaryLearner, BinaryModel, FixedOrderChain, FixedOrderLearner, FixedOrderModel, OrderedModel,
};
pub use order::Order;
pub use policy::{OrderPolicy, Quantity, QuantityDisplay, Reason};
pub use score::{Scale, Score};
pub use walk::{Decision, Route, Walked, decide, decide_by_certainty};

pub(crate) use attribution::AttributionSum;
pub(crate) use fixed_order::{scores_of_only_label, table_of_one_row};
