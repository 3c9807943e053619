//! Many data sets, many methods, many folds: what is compared, what is done, what is left.
//!
//! A [`Protocol`] says what to compare. [`run`] computes its cells (a method on a fold of a set) and
//! keeps each as soon as it is done; killed in any way and run again, it goes on with what is left,
//! and the numbers are those of one uninterrupted run, and those of [`evaluate`] on the same set.
//!
//! [`evaluate`]: crate::experiment::evaluate

mod document;
mod ledger;
mod merge;
mod pace;
mod part;
mod peak;
mod protocol;
mod run;
mod source;
mod status;
mod work;

pub use ledger::{Cell, Key};
pub use merge::{Merged, merge};
pub use part::{Only, Shard};
pub use protocol::{MethodSpec, Protocol, SetSpec};
pub use run::{Progress, RunOptions, Summary, run};
pub use source::SetSource;
pub use status::{State, Status, finished_results, results, status};
