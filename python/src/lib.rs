//! The extension module of the Python package `labelchain`: arrays in, arrays out, and nothing that the
//! library already decides.
//!
//! The package around it (`python/labelchain`) knows scikit-learn and data frames. This module knows
//! NumPy arrays and Arrow's tables, and hands them to the library with the interpreter's lock released.

mod arrow;
mod comparison;
mod errors;
mod folds;
mod labels;
mod losses;
mod model;
mod rows;
mod settings;
mod study;
mod work;

use pyo3::prelude::*;

/// The part of labelchain that is written in Rust.
#[pymodule]
mod _labelchain {
    #[pymodule_export]
    use crate::arrow::ArrowTable;
    #[pymodule_export]
    use crate::comparison::Comparison;
    #[pymodule_export]
    use crate::errors::{
        ContentError, DataError, InternalError, LabelChainError, LimitError, RequestError,
    };
    #[pymodule_export]
    use crate::folds::stratified_folds;
    #[pymodule_export]
    use crate::labels::Labels;
    #[pymodule_export]
    use crate::losses::{label_measures, losses};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::settings::{aims, check_name, methods, settings};
    #[pymodule_export]
    use crate::study::{FoldWorker, StudyRun};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("DEFAULT_METHOD", labelchain::Method::DEFAULT)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
