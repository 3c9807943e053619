//! Methods by name, how wrong they are, and measurements as a table.

mod evaluate;
mod method;
mod results;

pub use evaluate::{Evaluation, evaluate};
pub use method::{BaseName, Method, Settings, StrategyName};
pub use results::{Measurement, Results};

pub(crate) use method::fit;
