//! Errors of the library as exceptions, with the remedy in the words of Python.

use std::io;

use labelchain::error::{Part, Remedy, Task};
use labelchain::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    labelchain,
    LabelChainError,
    PyValueError,
    "What labelchain refuses; a ValueError, as in scikit-learn."
);
create_exception!(
    labelchain,
    RequestError,
    LabelChainError,
    "A setting or a name is wrong, or settings do not go together."
);
create_exception!(
    labelchain,
    DataError,
    LabelChainError,
    "The data do not fit the request: too few rows, columns that a model does not know."
);
create_exception!(labelchain, ContentError, LabelChainError, "The content of a file is wrong.");
create_exception!(labelchain, LimitError, LabelChainError, "More memory is needed than allowed.");
create_exception!(
    labelchain,
    InternalError,
    PyRuntimeError,
    "A fault of labelchain itself. Please report it."
);

/// The exception for an error of the library.
pub(crate) fn exception(error: Error) -> PyErr {
    let error = with_python_names(error);
    let mut message = error.to_string();
    if let Some(remedy) = error.remedy() {
        message += &format!("\n  help: {}", in_python_words(&remedy));
    }
    match (error.kind(), error) {
        (_, Error::Io { source, .. }) => io::Error::new(source.kind(), message).into(),
        (ErrorKind::Request, _) => RequestError::new_err(message),
        (ErrorKind::Data, _) => DataError::new_err(message),
        (ErrorKind::Content, _) => ContentError::new_err(message),
        (ErrorKind::Limit, _) => LimitError::new_err(message),
        (ErrorKind::Cancelled, _) => PyKeyboardInterrupt::new_err(()),
        _ => LabelChainError::new_err(message),
    }
}

/// The same error with settings called as they are in Python, with underscores.
fn with_python_names(error: Error) -> Error {
    let python = |name: &str| name.replace('-', "_");
    match error {
        Error::Value { name, value, accepted } => {
            Error::Value { name: python(&name).into(), value, accepted }
        }
        Error::UnusedSetting { name, methods } => {
            Error::UnusedSetting { name: python(&name), methods }
        }
        Error::UnknownName { what: what @ "setting", name, nearest } => Error::UnknownName {
            what,
            name: python(&name),
            nearest: nearest.as_deref().map(python),
        },
        other => other,
    }
}

fn in_python_words(remedy: &Remedy) -> String {
    let words = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Setting { name, value: None } => name.replace('-', "_"),
        Part::Setting { name, value: Some(value) } => {
            // A number, a name that stands for one, or a word in quotes.
            let is_bare = value.parse::<f64>().is_ok() || *value == "N";
            let value = if is_bare { value.to_string() } else { format!("{value:?}") };
            format!("{}={value}", name.replace('-', "_"))
        }
        Part::Task(task) => match task {
            Task::ListDatasets => "the command labelchain datasets",
            Task::ReduceBags => "the commands labelchain convert and labelchain train",
            Task::RunStudy => "the command labelchain study run",
            Task::MergeResults => "the command labelchain study merge",
            Task::SaveModel => "LabelChainClassifier.save and the command labelchain train",
        }
        .to_string(),
    };
    remedy.parts().iter().map(words).collect()
}
