//! Studies whose folds are computed by other processes, and whose results are written by one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use labelchain::memory::three_quarters;
use labelchain::study::{self, Cell, FoldTask, Only, Protocol, Shard, Summary};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{RequestError, exception};
use crate::work::work;

/// Set, checksum of its data, fold, and the methods with their fingerprints.
type Task = (String, String, usize, Vec<(String, String)>);

/// Set, method, fold, losses or an error, seconds of processors, bytes of memory.
type CellOfTask =
    (String, String, usize, Option<[Option<f64>; 11]>, Option<String>, f64, Option<u64>);

fn to_python(task: &FoldTask) -> Task {
    let FoldTask { set, checksum, fold, methods } = task.clone();
    (set, checksum, fold, methods)
}

fn from_python((set, checksum, fold, methods): Task) -> FoldTask {
    FoldTask { set, checksum, fold, methods }
}

/// A run of a study that has begun, and the right to write its results.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct StudyRun {
    /// None when it has ended.
    run: Mutex<Option<study::StudyRun>>,
    /// What workers are told of the protocol: its path, its text, and where the data files are.
    #[pyo3(get)]
    protocol: (PathBuf, String, Option<PathBuf>),
    /// Where the results are.
    #[pyo3(get)]
    results: PathBuf,
}

#[pymethods]
impl StudyRun {
    /// Reads a protocol and begins to add to its results, as nobody else may then.
    #[new]
    #[pyo3(signature = (protocol, results=None, data=None, only=None))]
    fn new(
        py: Python<'_>,
        protocol: PathBuf,
        results: Option<PathBuf>,
        data: Option<PathBuf>,
        only: Option<&str>,
    ) -> PyResult<StudyRun> {
        let only = only.map_or(Ok(Only::default()), str::parse).map_err(exception)?;
        let results = results.unwrap_or_else(|| study::results_beside(&protocol));
        let (read, run) = work(py, 0, None, |_, _| {
            let read = Protocol::read(&protocol, data.as_deref())?;
            let run = study::StudyRun::begin(&read, &results, Shard::WHOLE, &only)?;
            Ok((read, run))
        })?;
        Ok(StudyRun { run: Mutex::new(Some(run)), protocol: (protocol, read.text, data), results })
    }

    /// The folds to compute, set after set.
    #[getter]
    fn tasks(&self) -> PyResult<Vec<Task>> {
        self.with(|run| Ok(run.folds().iter().map(to_python).collect()))
    }

    /// Notes that folds are being computed.
    fn start(&self, tasks: Vec<Task>) -> PyResult<()> {
        self.with(|run| {
            tasks.into_iter().try_for_each(|task| run.start(&from_python(task)))?;
            run.commit()
        })
    }

    /// Writes the cells of a fold, so that they last when this returns.
    fn record(&self, cells: Vec<CellOfTask>) -> PyResult<()> {
        self.with(|run| {
            for (dataset, method, fold, losses, error, cpu_seconds, peak_memory) in cells {
                let outcome = losses.ok_or(error.unwrap_or_default());
                run.record(&Cell { dataset, method, fold, outcome, cpu_seconds, peak_memory })?;
            }
            run.commit()
        })
    }

    /// Notes that a fold has failed.
    fn fail(&self, task: Task, error: &str) -> PyResult<()> {
        self.with(|run| {
            from_python(task).failed(error).iter().try_for_each(|cell| run.record(cell))?;
            run.commit()
        })
    }

    /// What was done so far.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Summary { n_done, n_failed, n_kept, missing, .. } =
            self.with(|run| Ok(run.summary().clone()))?;
        let summary = PyDict::new(py);
        summary.set_item("done", n_done)?;
        summary.set_item("failed", n_failed)?;
        summary.set_item("kept", n_kept)?;
        summary.set_item("missing", missing)?;
        Ok(summary)
    }

    /// Ends the run, after which another may begin.
    fn end(&self) -> PyResult<()> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take();
        run.map_or(Ok(()), |run| run.end().map(drop)).map_err(exception)
    }
}

impl StudyRun {
    fn with<T>(
        &self,
        act: impl FnOnce(&mut study::StudyRun) -> labelchain::Result<T>,
    ) -> PyResult<T> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let run = run.as_mut().ok_or_else(|| RequestError::new_err("the run has ended"))?;
        act(run).map_err(exception)
    }
}

/// Computes folds of a study; it keeps the data set that it is at.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct FoldWorker {
    worker: study::FoldWorker,
    n_threads: usize,
}

#[pymethods]
impl FoldWorker {
    /// A worker that computes as many folds at the same time as it has threads, within some bytes of
    /// memory; within three quarters of the machine's if none are given.
    #[new]
    #[pyo3(signature = (protocol, n_threads, max_memory=None))]
    fn new(
        protocol: (PathBuf, String, Option<PathBuf>),
        n_threads: usize,
        max_memory: Option<u64>,
    ) -> PyResult<FoldWorker> {
        let (path, text, data) = protocol;
        let data: Option<&Path> = data.as_deref();
        let protocol = Protocol::parse(&path, &text, data).map_err(exception)?;
        let worker =
            study::FoldWorker::new(&protocol, max_memory.unwrap_or_else(three_quarters), n_threads);
        Ok(FoldWorker { worker, n_threads })
    }

    /// The cells of a fold, one for each of its methods.
    fn compute(&self, py: Python<'_>, task: Task) -> PyResult<Vec<CellOfTask>> {
        let task = from_python(task);
        work(py, self.n_threads, None, |cancel, _| {
            let cells = Mutex::new(Vec::new());
            self.worker.compute(&task, cancel, &|cell: Cell| {
                let Cell { dataset, method, fold, outcome, cpu_seconds, peak_memory } = cell;
                let (losses, error) = match outcome {
                    Ok(losses) => (Some(losses), None),
                    Err(error) => (None, Some(error)),
                };
                let cell = (dataset, method, fold, losses, error, cpu_seconds, peak_memory);
                cells.lock().unwrap_or_else(PoisonError::into_inner).push(cell);
            });
            cancel.check()?;
            Ok(cells.into_inner().unwrap_or_else(PoisonError::into_inner))
        })
    }
}
