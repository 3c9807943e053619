//! Methods by name, how wrong they are, and measurements as a table.

mod cost;
mod evaluate;
mod method;
mod results;

pub use cost::Cost;
pub use evaluate::{Evaluation, evaluate};
pub use method::{BaseName, Method, Settings, Step, StrategyName};
pub use results::{Measurement, Results};

#[cfg(feature = "study")]
pub(crate) use evaluate::Fold;
pub(crate) use method::fit;
