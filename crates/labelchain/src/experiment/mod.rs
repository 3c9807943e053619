//! How wrong methods are, and measurements as a table.

mod baseline;
mod evaluate;
mod results;

pub use baseline::Baseline;
pub use evaluate::{AimThresholds, CrossValidation, Evaluation, EvaluationDetails, PooledMeasures};
pub(crate) use results::is_same_name;
pub use results::{Measurement, Results};

#[cfg(feature = "study")]
pub(crate) use evaluate::{Fold, FoldRows};
#[cfg(feature = "study")]
pub(crate) use results::MAX_SECONDS;
