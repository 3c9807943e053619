//! Training, answers and explanations.

use std::path::{Path, PathBuf};

use labelchain::data::Note;
use labelchain::memory::three_quarters;
use labelchain::model::{AlignedRows, Explanation, Unknown, Update};
use labelchain::{Cancel, LabelChain, Method, Prediction, Result, Settings};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde_json::{Value, json};

use crate::errors::exception;
use crate::labels::{Labels, cells, table};
use crate::rows::{Kinds, Rows, kinds};
use crate::settings::{python, set};
use crate::work::work;

/// A trained model: the content of a model file.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct Model {
    model: labelchain::Model,
}

/// What is to be trained.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Training<'py> {
    method: String,
    aim: Option<String>,
    settings: Vec<(String, Bound<'py, PyAny>)>,
    seed: u64,
}

impl Training<'_> {
    fn read(&self) -> PyResult<(Method, Settings, u64)> {
        let mut method: Method = self.method.parse().map_err(exception)?;
        if let (Some(aim), false) = (&self.aim, method.has_aim()) {
            method = method.with_aim(aim.parse().map_err(exception)?);
        }
        let mut chain = LabelChain::with(method, Settings::default());
        for (name, value) in &self.settings {
            chain = set(chain, name, value)?;
        }
        // A chain holds a function that other threads must not call, and settings that all may read.
        Ok((method, chain.settings().clone(), self.seed))
    }
}

/// What to answer, and with how many threads.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Request<'py> {
    aim: Option<String>,
    known: Option<PyRef<'py, Labels>>,
    n_threads: usize,
}

/// Numbers row by row, and what had to be left out of the rows or became missing.
type Numbers<'py> = (Option<Bound<'py, PyArray2<f64>>>, Vec<String>);

#[pymethods]
impl Model {
    /// Trains a method on labelled rows. Where the parts of the model were trained before, they are joined.
    #[staticmethod]
    #[pyo3(signature = (rows, training, n_threads, progress=None, parts=None))]
    fn fit(
        py: Python<'_>,
        rows: &Rows,
        training: Training<'_>,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
        parts: Option<Vec<Vec<u8>>>,
    ) -> PyResult<Model> {
        let (method, settings, seed) = training.read()?;
        let model = work(py, n_threads, progress, |cancel, progress| {
            let chain = LabelChain::with(method, settings)
                .seed(seed)
                .max_memory(three_quarters())
                .cancelled_by(cancel)
                .progress(progress);
            match parts {
                Some(parts) => chain.fit_joining(&rows.data, &parts),
                None => chain.fit(&rows.data),
            }
        })?;
        Ok(Model { model })
    }

    /// Trains the parts of a model from one to before another.
    #[staticmethod]
    fn fit_parts<'py>(
        py: Python<'py>,
        rows: &Rows,
        training: Training<'_>,
        n_threads: usize,
        first: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (method, settings, seed) = training.read()?;
        let part = work(py, n_threads, None, |cancel, _| {
            LabelChain::with(method, settings)
                .seed(seed)
                .max_memory(three_quarters())
                .cancelled_by(cancel)
                .fit_parts(&rows.data, first..end)
        })?;
        Ok(PyBytes::new(py, &part))
    }

    /// The model that has also learned from further rows, and what to know about it.
    fn update(
        &self,
        py: Python<'_>,
        rows: &Rows,
        new_labels: &str,
        new_values: &str,
        max_trees: Option<usize>,
        n_threads: usize,
    ) -> PyResult<(Model, Vec<String>)> {
        let how = Update {
            new_labels: Unknown::named("new_labels", new_labels).map_err(exception)?,
            new_values: Unknown::named("new_values", new_values).map_err(exception)?,
            max_trees,
        };
        let (model, notes) = work(py, n_threads, None, |cancel, _| {
            let model = self.model.clone().cancelled_by(cancel);
            let (updated, notes) = model.update(&rows.data, Path::new(rows.data.name()), how)?;
            // The flag is that of this call.
            Ok((updated.cancelled_by(&Cancel::default()), notes))
        })?;
        Ok((Model { model }, texts(&notes)))
    }

    /// How many parts a model has that can be trained without each other; none where it has none.
    #[staticmethod]
    fn n_parts(training: Training<'_>) -> PyResult<Option<usize>> {
        let (method, settings, _) = training.read()?;
        Ok(LabelChain::with(method, settings).n_parts())
    }

    /// How many trees the model of a forest has; none where it is none.
    #[staticmethod]
    fn n_trees(training: Training<'_>) -> PyResult<Option<usize>> {
        let (method, settings, _) = training.read()?;
        let n_parts = LabelChain::with(method, settings).n_parts();
        Ok(n_parts.filter(|_| method.uses("trees")))
    }

    /// Whether a model can be trained on some inputs of all rows at a time.
    #[staticmethod]
    fn learns_by_column(training: Training<'_>) -> PyResult<bool> {
        let (method, settings, _) = training.read()?;
        Ok(method.learns_by_column(&settings))
    }

    /// Trains on some inputs of all rows, for a model that others are joined to before it is calibrated.
    #[staticmethod]
    fn fit_columns(
        py: Python<'_>,
        rows: &Rows,
        training: Training<'_>,
        n_threads: usize,
    ) -> PyResult<Model> {
        let (method, settings, seed) = training.read()?;
        let model = work(py, n_threads, None, |cancel, _| {
            LabelChain::with(method, settings)
                .seed(seed)
                .max_memory(three_quarters())
                .cancelled_by(cancel)
                .fit_columns(&rows.data)
        })?;
        Ok(Model { model })
    }

    /// The model of these inputs and then those of another, of the same rows.
    fn with_columns_of(&self, py: Python<'_>, other: &Model) -> PyResult<Model> {
        let join = || self.model.clone().with_columns_of(other.model.clone());
        Ok(Model { model: work(py, 0, None, |_, _| join())? })
    }

    /// What members say of training rows that they have not seen, of which the first has a number among all; all that
    /// is asked must be asked with the same `max_memory`.
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        first: usize,
        max_memory: u64,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let held_out = work(py, n_threads, None, |cancel, _| {
            let model = self.model.clone().within(max_memory).cancelled_by(cancel);
            model.held_out(&rows.data, first)
        })?;
        Ok(PyBytes::new(py, &held_out))
    }

    /// The model, calibrated by what it said of all training rows.
    fn calibrated_by(
        &self,
        py: Python<'_>,
        held_out: Vec<Vec<u8>>,
        n_threads: usize,
    ) -> PyResult<Model> {
        let calibrate = || self.model.clone().calibrated_by(&held_out);
        Ok(Model { model: work(py, n_threads, None, |_, _| calibrate())? })
    }

    /// Grows trees on other rows, of which the first has a number among all, for a forest that has both.
    fn grow_trees<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        first: usize,
        n_trees: usize,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let grown = work(py, n_threads, None, |cancel, _| {
            self.model.clone().cancelled_by(cancel).grow_trees(&rows.data, first, n_trees)
        })?;
        Ok(PyBytes::new(py, &grown))
    }

    /// The forest of so many of its trees and of those that were grown on other rows.
    fn with_trees(&self, py: Python<'_>, n_kept: usize, grown: Vec<Vec<u8>>) -> PyResult<Model> {
        let join = || self.model.clone().with_trees(n_kept, &grown);
        Ok(Model { model: work(py, 0, None, |_, _| join())? })
    }

    /// Which rows the trees of a forest drew from: how many trees, and the first and the last row of theirs.
    #[getter]
    fn tree_rows(&self) -> PyResult<Vec<(usize, usize, usize)>> {
        let rows = self.model.tree_rows().map_err(exception)?;
        Ok(rows.into_iter().map(|of| (of.n_trees, of.first, of.last)).collect())
    }

    /// The bytes that work on this machine may take.
    #[staticmethod]
    fn max_memory() -> u64 {
        three_quarters()
    }

    /// Reads a model file.
    #[staticmethod]
    #[pyo3(signature = (path, max_memory=None))]
    fn load(py: Python<'_>, path: PathBuf, max_memory: Option<u64>) -> PyResult<Model> {
        let max_memory = max_memory.unwrap_or_else(three_quarters);
        let model = work(py, 0, None, |_, _| labelchain::Model::load(&path, max_memory))?;
        Ok(Model { model })
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        let read = || labelchain::Model::from_bytes(bytes);
        let model = work(py, 0, None, |_, _| read())?.within(three_quarters());
        Ok(Model { model })
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, 0, None, |_, _| self.model.save(&path))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work(py, 0, None, |_, _| self.model.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = PyType::new::<Model>(py).getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    /// The labels that are predicted, as 1 and 0, and notes.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        request: Request<'_>,
    ) -> PyResult<(Bound<'py, PyArray2<i8>>, Vec<String>)> {
        let prediction = self.answer(py, rows, &request, |rows| rows.predict_labels())?;
        Ok((cells(py, &prediction.labels), texts(&prediction.notes)))
    }

    /// The names of the labels that are predicted for each row, and notes.
    fn tags(
        &self,
        py: Python<'_>,
        rows: &Rows,
        request: Request<'_>,
    ) -> PyResult<(Vec<Vec<String>>, Vec<String>)> {
        let prediction = self.answer(py, rows, &request, |rows| rows.predict_labels())?;
        let names = |row| prediction.relevant(row).map(String::from).collect();
        Ok(((0..prediction.n_rows()).map(names).collect(), texts(&prediction.notes)))
    }

    /// The probability of each label, none where there are only margins, and notes.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        request: Request<'_>,
    ) -> PyResult<Numbers<'py>> {
        self.numbers(py, rows, &request, |of| of.probabilities.clone())
    }

    /// Log-odds or, where there are no probabilities, margins, and notes.
    fn decision_values<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        request: Request<'_>,
    ) -> PyResult<Numbers<'py>> {
        self.numbers(py, rows, &request, Prediction::decision_values)
    }

    /// How the answer about each row came about, as JSON, and notes.
    fn explain(
        &self,
        py: Python<'_>,
        rows: &Rows,
        request: Request<'_>,
        asks: bool,
    ) -> PyResult<(String, Vec<String>)> {
        self.answer(py, rows, &request, |aligned| {
            let explanations = aligned.explain()?;
            let story = |(row, explanation): (usize, &Explanation)| {
                self.story(&aligned.select(&[row]), row, explanation, asks)
            };
            let stories = explanations.iter().enumerate().map(story);
            let stories = stories.collect::<Result<Vec<Value>>>()?;
            Ok((Value::Array(stories).to_string(), texts(aligned.notes())))
        })
    }

    #[getter]
    fn method(&self) -> String {
        self.model.method().without_aim().to_string()
    }

    /// The aim that was named; none where it is votes by default.
    #[getter]
    fn aim(&self) -> Option<String> {
        let method = self.model.method();
        method.has_aim().then(|| method.aim().to_string())
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.model.seed()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.model.n_rows()
    }

    #[getter]
    fn version(&self) -> &str {
        self.model.version()
    }

    #[getter]
    fn n_members(&self) -> usize {
        self.model.members().len()
    }

    /// How much each input matters; none where the base does not say.
    fn importance(&self) -> Option<Vec<f64>> {
        self.model.column_importance()
    }

    /// The losses of training rows by members that have not seen them, by name.
    #[getter]
    fn out_of_bag(&self) -> Option<Vec<(&'static str, Option<f64>)>> {
        let losses = self.model.out_of_bag()?;
        Some(losses.iter().map(|(criterion, loss)| (criterion.key(), loss)).collect())
    }

    /// The settings that the method uses, by their names in Python.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        for setting in self.model.method().settings() {
            let value = python(py, &self.model.settings().json(setting))?;
            settings.set_item(setting.name().replace('-', "_"), value)?;
        }
        Ok(settings)
    }

    /// The values of settings that were left to the data: one, or one for each label.
    #[getter]
    fn tuned(&self) -> Vec<(String, Vec<Option<f64>>)> {
        let tuned = self.model.tuned().iter();
        tuned.map(|it| (it.setting.replace('-', "_"), it.values.clone())).collect()
    }

    #[getter]
    fn attributes(&self) -> Kinds {
        kinds(&self.model.columns())
    }

    /// The columns that the training table had besides, and that are no inputs.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.model.ids().iter().chain(self.model.left_out()).cloned().collect()
    }

    #[getter]
    fn label_names(&self) -> Vec<String> {
        self.model.label_names().to_vec()
    }
}

impl Model {
    /// Answers a request about rows.
    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        rows: &Rows,
        request: &Request<'_>,
        answer: impl FnOnce(&AlignedRows) -> Result<T> + Send,
    ) -> PyResult<T> {
        let aim = request.aim.as_deref().map(str::parse).transpose().map_err(exception)?;
        let of =
            |labels: &PyRef<'_, Labels>| self.model.known_labels_of(&labels.names, &labels.matrix);
        let known = request.known.as_ref().map(of);
        let known = known.transpose().map_err(exception)?;
        work(py, request.n_threads, None, |cancel: &Cancel, _| {
            let aligned = self.model.align(&rows.data, Path::new(rows.data.name()))?;
            let aligned = aligned.cancelled_by(cancel);
            let aligned = aim.into_iter().fold(aligned, AlignedRows::with_aim);
            answer(&match known {
                Some(known) => aligned.given(known)?,
                None => aligned,
            })
        })
    }

    /// A number for each label of each row, where there is one, and notes.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        request: &Request<'_>,
        numbers: impl Fn(&Prediction) -> Option<Vec<f64>>,
    ) -> PyResult<Numbers<'py>> {
        let prediction = self.answer(py, rows, request, |rows| rows.predict())?;
        let (n_rows, n_labels) = (prediction.n_rows(), self.model.label_names().len());
        let cells = numbers(&prediction).map(|cells| table(py, n_rows, n_labels, cells));
        Ok((cells, texts(&prediction.notes)))
    }

    /// The explanation of a row as the program writes it, with what it takes to tell the story of the
    /// member that agrees most with the answer.
    fn story(
        &self,
        row: &AlignedRows,
        number: usize,
        explanation: &Explanation,
        asks: bool,
    ) -> Result<Value> {
        let names = self.model.label_names();
        let member = explanation.most_agreeing();
        let mut story = explanation.json(number);
        story["method"] = json!(self.model.method().without_aim().to_string());
        story["labels"] = json!(names);
        story["member"] = json!(member);
        story["n_agreed"] = json!(explanation.n_agreed(member));
        let alone = row.scores_alone(member)?.concat();
        let values = alone.iter().map(|score| score.value().clamp(-1e308, 1e308));
        story["alone"] = json!(values.collect::<Vec<f64>>());
        let reason = explanation.members.get(member).and_then(|trace| trace.reason.as_ref());
        story["reason"] = json!(reason.map(|reason| &reason.text));
        story["quantities"] = reason.map_or(json!([]), |reason| {
            let quantity = |of: &labelchain::chain::Quantity| {
                json!({"title": of.title, "help": of.help, "values": of.values})
            };
            reason.by_label.iter().map(quantity).collect()
        });
        if asks {
            let question = |of: &labelchain::model::Question| {
                json!({
                    "label": names[of.label.0],
                    "probability": of.probability,
                    "gain": of.gain,
                })
            };
            story["ask"] = row.questions()?.concat().iter().map(question).collect();
        }
        Ok(story)
    }
}

fn texts(notes: &[Note]) -> Vec<String> {
    notes.iter().map(|note| note.text.clone()).collect()
}
