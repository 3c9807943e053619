//! How wrong answers are.

use labelchain::loss::{Calibration, LabelMeasures, Losses, Ranking};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::labels::Labels;

/// The value of a measure by its name; none where there was nothing to average.
type Measures = Vec<(&'static str, Option<f64>)>;

/// The eleven losses and, with probabilities, the measures of their ranking and their calibration.
#[pyfunction]
#[pyo3(signature = (truth, answers, probabilities, undefined))]
pub(crate) fn losses(
    truth: &Labels,
    answers: &Labels,
    probabilities: Option<PyReadonlyArray2<'_, f64>>,
    undefined: &str,
) -> PyResult<Measures> {
    let rule = undefined.parse().map_err(exception)?;
    let losses = Losses::between(&truth.matrix, &answers.matrix, rule).map_err(exception)?;
    let mut measures: Measures =
        losses.iter().map(|(criterion, loss)| (criterion.key(), loss)).collect();
    if let Some(cells) = probabilities {
        let cells: Vec<f64> = cells.as_array().iter().copied().collect();
        let ranking = Ranking::between(&truth.matrix, &cells).map_err(exception)?.measures();
        let calibration = Calibration::between(&truth.matrix, &cells).map_err(exception)?;
        let further = ranking.into_iter().chain(calibration.measures());
        measures.extend(further.map(|measure| (measure.key, measure.value)));
    }
    Ok(measures)
}

/// Support, precision, recall, F1, AUC and average precision of each label.
type ByLabel = Vec<(usize, Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<f64>)>;

/// The measures of each label alone.
#[pyfunction]
#[pyo3(signature = (truth, answers, probabilities, undefined))]
pub(crate) fn label_measures(
    truth: &Labels,
    answers: &Labels,
    probabilities: Option<PyReadonlyArray2<'_, f64>>,
    undefined: &str,
) -> PyResult<ByLabel> {
    let rule = undefined.parse().map_err(exception)?;
    let cells: Option<Vec<f64>> =
        probabilities.map(|cells| cells.as_array().iter().copied().collect());
    let (truth, answers) = (&truth.matrix, &answers.matrix);
    let measures =
        LabelMeasures::between(truth, answers, cells.as_deref(), rule).map_err(exception)?;
    let fields = |of: LabelMeasures| {
        (of.support, of.precision, of.recall, of.f1, of.auc, of.average_precision)
    };
    Ok(measures.into_iter().map(fields).collect())
}
