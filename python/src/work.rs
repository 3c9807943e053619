//! Long work: in threads of its own, without the interpreter's lock, and stopped by Ctrl-C.

use std::any::Any;
use std::collections::HashMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use labelchain::{Cancel, Progress, Result};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{InternalError, RequestError, exception};

/// How often the thread that waits looks for signals.
const TICK: Duration = Duration::from_millis(50);

/// Does the work in a pool of `n_threads` threads, or of one for each core if that is 0.
///
/// The calling thread waits without the interpreter's lock, and looks for signals: after Ctrl-C the work is
/// cancelled, and the exception of the signal's handler is raised when it has stopped. `progress` is
/// called with two numbers, what is done and of how much. A panic becomes an exception, too.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Cancel, &dyn Fn(Progress)) -> Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(n_threads)?;
    let cancel = Cancel::default();
    let mut outcome = None;
    let mut interrupted = None;
    py.detach(|| {
        pool.in_place_scope(|scope| {
            let (to_caller, from_work) = mpsc::channel();
            let (outcome, flag) = (&mut outcome, &cancel);
            scope.spawn(move |_| {
                let report = |progress| {
                    // Nobody listens any more once the caller was interrupted.
                    let _ = to_caller.send(progress);
                };
                *outcome = Some(catch_unwind(AssertUnwindSafe(|| work(flag, &report))));
                // The end of the channel tells the caller that the work is done.
            });
            loop {
                let heard = match from_work.recv_timeout(TICK) {
                    // Steps may come faster than ticks, and must not keep signals from being heard.
                    Ok(done) => Python::attach(|py| {
                        tell(py, progress.as_ref(), done).and_then(|()| py.check_signals())
                    }),
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = heard {
                    cancel.cancel();
                    interrupted.get_or_insert(error);
                }
            }
        });
    });
    if let Some(error) = interrupted {
        return Err(error);
    }
    match outcome {
        Some(Ok(done)) => done.map_err(exception),
        Some(Err(panic)) => Err(internal_error(&*panic)),
        None => Err(InternalError::new_err("the work was never begun")),
    }
}

/// Does short work in the calling thread without the interpreter's lock. A panic becomes an exception.
pub(crate) fn without_lock<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    outcome.unwrap_or_else(|panic| Err(internal_error(&*panic)))
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, done: Progress) -> PyResult<()> {
    let (Progress::Folds { done, of } | Progress::Generations { done, of, .. }) = done else {
        return Ok(());
    };
    progress.map_or(Ok(()), |progress| progress.call1(py, (done, of)).map(|_| ()))
}

fn internal_error(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    InternalError::new_err(format!("a fault of labelchain, please report it: {text}"))
}

/// Pools by their number of threads, and the process that they are threads of.
type Pools = (u32, HashMap<usize, Arc<ThreadPool>>);

/// A pool takes longer to start than a row to label, so pools are kept.
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

fn pool(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let here = process::id();
    if pools.as_ref().is_none_or(|(process, _)| *process != here) {
        // Threads do not survive a fork. Their pool must not even be dropped, which would wait for them.
        mem::forget(pools.replace((here, HashMap::new())));
    }
    let known = pools.as_ref().and_then(|(_, pools)| pools.get(&n_threads).cloned());
    if let Some(pool) = known {
        return Ok(pool);
    }
    let started = ThreadPoolBuilder::new().num_threads(n_threads).build();
    let started = Arc::new(started.map_err(|error| {
        RequestError::new_err(format!("{n_threads} threads do not start ({error})"))
    })?);
    if let Some((_, pools)) = pools.as_mut() {
        pools.insert(n_threads, Arc::clone(&started));
    }
    Ok(started)
}
