//! The registry of settings: what can be set, and values of Python as the library spells them.

use labelchain::decide::AIMS;
use labelchain::method::{registry, setting};
use labelchain::settings::AnySetting;
use labelchain::{LabelChain, Method};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde_json::Value;

use crate::errors::exception;

/// Every setting: its name in Python, default, what it accepts and means, and which methods use it.
#[pyfunction]
pub(crate) fn settings(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let described = registry().into_iter().map(|registered| {
        let setting = registered.setting;
        let fields = PyDict::new(py);
        fields.set_item("name", setting.name().replace('-', "_"))?;
        fields.set_item("default", default(py, setting)?)?;
        fields.set_item("accepted", setting.accepted())?;
        fields.set_item("help", setting.help())?;
        fields.set_item("words", setting.words())?;
        fields.set_item("is_flag", setting.is_flag())?;
        fields.set_item("absent", setting.absent())?;
        fields.set_item("applies_to", registered.applies_to())?;
        Ok(fields)
    });
    described.collect()
}

/// Every method by name.
#[pyfunction]
pub(crate) fn methods() -> Vec<String> {
    Method::all().map(|method| method.to_string()).collect()
}

/// Every aim as it is written, and what it means.
#[pyfunction]
pub(crate) fn aims() -> Vec<(String, &'static str)> {
    AIMS.iter().map(|aim| (aim.synopsis(), aim.about)).collect()
}

/// Refuses a name that no setting has, with the most similar one there is.
#[pyfunction]
pub(crate) fn check_name(name: &str) -> PyResult<()> {
    setting(&name.replace('_', "-")).map(|_| ()).map_err(exception)
}

/// The same training with a setting of Python; one that has its default is left as it is, so that it may be
/// one that the method does not use.
pub(crate) fn set<'p>(
    chain: LabelChain<'p>,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<LabelChain<'p>> {
    let name = name.replace('_', "-");
    let setting = setting(&name).map_err(exception)?;
    let text = setting.check(&spelt(setting, value)?).map_err(exception)?;
    if text == setting.default_text() {
        return Ok(chain);
    }
    chain.set(&name, text).map_err(exception)
}

/// A value of Python as the library spells it.
fn spelt(setting: &dyn AnySetting, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_none() {
        return Ok(setting.absent().unwrap_or("None").into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return text.extract();
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.is_truthy()?.to_string());
    }
    // Numbers of NumPy are numbers, too, and repr would name their type.
    if let Ok(number) = value.call_method0("__index__") {
        return Ok(number.str()?.to_string());
    }
    if let Ok(number) = value.call_method0("__float__") {
        return Ok(number.repr()?.to_string());
    }
    match value.extract::<Vec<String>>() {
        Ok(names) => Ok(names.join(",")),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{} is {}, but must be {}",
            setting.name().replace('-', "_"),
            value.repr()?,
            setting.accepted()
        ))),
    }
}

/// The default of a setting.
fn default<'py>(py: Python<'py>, setting: &dyn AnySetting) -> PyResult<Bound<'py, PyAny>> {
    python(py, &setting.json(&setting.default_text()))
}

/// A value of JSON, which is no list or object, in Python.
pub(crate) fn python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into_bound_py_any(py),
            None => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        _ => Ok(py.None().into_bound(py)),
    }
}
