//! Methods by name, how wrong they are, and measurements as a table.

mod cost;
mod evaluate;
mod fit;
mod method;
mod results;

pub use cost::Cost;
pub use evaluate::{Evaluation, evaluate, evaluate_bags};
pub use fit::Step;
pub use method::{BaseName, Method, Settings, StrategyName};
pub use results::{Measurement, Results};

#[cfg(feature = "study")]
pub(crate) use evaluate::Fold;
pub(crate) use fit::fit;
