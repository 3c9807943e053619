//! Methods by name, and how wrong they are.

mod evaluate;
mod method;

pub use evaluate::{Evaluation, evaluate, evaluate_bags};
pub use method::{BaseName, Method, Settings, Step, StrategyName};

pub(crate) use method::fit;
