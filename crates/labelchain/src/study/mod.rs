//! Studies: cross-validation of many methods on many data sets, which can be interrupted and resumed.
//!
//! A [`Protocol`] says what to compare. [`run`] computes its cells (a cell is a method on a fold of a
//! set) and saves each as soon as it is done. If it is killed and run again, it continues with the
//! cells that are left. The numbers are those of one uninterrupted run, and those of [`evaluate`] on
//! the same set.
//!
//! [`run`] computes in threads of one process. A front end that has other machines takes the folds of a
//! [`StudyRun`], has each computed by a [`FoldWorker`] over there, and records the cells itself.
//!
//! [`evaluate`]: crate::experiment::CrossValidation

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
pub use run::{RunProgress, StudyOptions, StudyRun, Summary, results_beside, run};
pub use source::SetSource;
pub use status::{State, Status, finished_results, results, status};
pub use work::{FoldTask, FoldWorker};
