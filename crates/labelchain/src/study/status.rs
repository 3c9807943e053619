//! The state of a study, and its results so far.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::ledger::{Cell, Heading, Key, Ledger};
use super::protocol::Protocol;
use crate::error::Result;
use crate::experiment::{Measurement, Results};
use crate::loss::Criterion;

/// How far a study is.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The state of each method on each data set: a row for each data set, with one state per method.
    pub grid: Vec<Vec<State>>,
    /// The cells that failed, each with its error.
    pub failed: Vec<(Key, String)>,
    /// The processor time of all cells done, in seconds. Work that several methods share is counted
    /// for each of them.
    pub cpu_seconds: f64,
    /// The greatest memory that a process had in use, in bytes.
    pub peak_memory: Option<u64>,
}

/// How far a method is on a data set, in folds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Folds done.
    pub n_done: usize,
    /// Folds that failed.
    pub n_failed: usize,
    /// Folds being computed.
    pub n_running: usize,
    /// Whether folds are left to do and the data file does not exist.
    pub is_missing: bool,
}

/// The state of a study. The file of results need not exist; then nothing is done.
pub fn status(protocol: &Protocol, results: &Path) -> Result<Status> {
    let cells = cells(protocol, results)?;
    let running: HashSet<Key> = match Ledger::look(results)? {
        Some(ledger) => ledger.running()?.into_iter().collect(),
        None => HashSet::new(),
    };
    let state = |set: &super::SetSpec, method: &super::MethodSpec| {
        let mut state = State::default();
        for fold in 0..protocol.n_folds {
            let key = (set.name.clone(), method.name.clone(), fold);
            match cells.get(&key).map(|cell| &cell.outcome) {
                _ if running.contains(&key) => state.n_running += 1,
                Some(Ok(_)) => state.n_done += 1,
                Some(Err(_)) => state.n_failed += 1,
                None => {}
            }
        }
        State { is_missing: state.n_done < protocol.n_folds && !set.source.is_there(), ..state }
    };
    let row = |set| protocol.methods.iter().map(|method| state(set, method)).collect();
    let in_order = || in_order(protocol, &cells);
    Ok(Status {
        grid: protocol.sets.iter().map(row).collect(),
        failed: in_order()
            .filter_map(|cell| Some((cell.key(), cell.outcome.as_ref().err()?.clone())))
            .collect(),
        cpu_seconds: in_order().map(|cell| cell.cpu_seconds).sum(),
        peak_memory: in_order().filter_map(|cell| cell.peak_memory).max(),
    })
}

/// The losses of all cells that are done, in the protocol's order.
pub fn results(protocol: &Protocol, path: &Path) -> Result<Results> {
    listed(protocol, &cells(protocol, path)?)
}

/// The losses of methods on sets where all folds are done. The others are left out, because a mean
/// over some of the folds cannot be compared with a mean over all.
pub fn finished_results(protocol: &Protocol, path: &Path) -> Result<Results> {
    let mut cells = cells(protocol, path)?;
    let mut n_done: HashMap<(String, String), usize> = HashMap::new();
    for cell in cells.values().filter(|cell| cell.outcome.is_ok()) {
        *n_done.entry((cell.dataset.clone(), cell.method.clone())).or_default() += 1;
    }
    cells.retain(|(dataset, method, _), _| {
        n_done.get(&(dataset.clone(), method.clone())) == Some(&protocol.n_folds)
    });
    listed(protocol, &cells)
}

fn listed(protocol: &Protocol, cells: &HashMap<Key, Cell>) -> Result<Results> {
    let mut results = Results::default();
    for cell in in_order(protocol, cells) {
        let Ok(losses) = &cell.outcome else { continue };
        for (criterion, loss) in Criterion::ALL.iter().zip(losses) {
            let Some(loss) = *loss else { continue };
            results.push(Measurement {
                dataset: &cell.dataset,
                method: &cell.method,
                criterion: criterion.key(),
                fold: Some(cell.fold),
                loss,
                seconds: Some(cell.cpu_seconds),
            })?;
        }
    }
    Ok(results)
}

/// The cells in a file of results, which must belong to the protocol.
fn cells(protocol: &Protocol, path: &Path) -> Result<HashMap<Key, Cell>> {
    let Some(ledger) = Ledger::look(path)? else { return Ok(HashMap::new()) };
    ledger.check(&Heading::of(protocol, &HashMap::new()))?;
    Ok(ledger.cells()?.into_iter().map(|cell| (cell.key(), cell)).collect())
}

fn in_order<'c>(
    protocol: &'c Protocol,
    cells: &'c HashMap<Key, Cell>,
) -> impl Iterator<Item = &'c Cell> {
    let methods = move |set| protocol.methods.iter().map(move |method| (set, method));
    let pairs = protocol.sets.iter().flat_map(methods);
    pairs.flat_map(move |(set, method)| {
        let key = move |fold| (set.name.clone(), method.name.clone(), fold);
        (0..protocol.n_folds).filter_map(move |fold| cells.get(&key(fold)))
    })
}
