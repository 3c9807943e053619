//! Folds in which labels are spread evenly.

use labelchain::Seed;
use labelchain::data::stratify::{Balance, equal_shares, stratify};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::labels::Labels;
use crate::work::work;

/// The fold of each row.
#[pyfunction]
#[pyo3(signature = (labels, n_folds, pairs, groups, seed))]
pub(crate) fn stratified_folds<'py>(
    py: Python<'py>,
    labels: &Labels,
    n_folds: usize,
    pairs: bool,
    groups: Option<Vec<usize>>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let shares = equal_shares(n_folds).map_err(exception)?;
    let balance = if pairs { Balance::Pairs } else { Balance::Labels };
    let folds = work(py, 0, None, |_, _| {
        stratify(&labels.matrix, &shares, balance, groups.as_deref(), Seed::new(seed))
    })?;
    let fold_of = folds.fold_of().iter();
    let fold_of = fold_of.map(|fold| fold.map_or(-1, |fold| fold as i64)).collect();
    Ok(PyArray1::from_vec(py, fold_of))
}
