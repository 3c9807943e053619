//! Computes the cells of a study that are left, and saves each as soon as it is done.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::ledger::{Cell, Heading, Key, Ledger};
use super::pace::Pace;
use super::part::{Only, Shard};
use super::protocol::Protocol;
use super::work::{Message, Unit, Work};
use crate::error::{Error, Result};

/// How to run a study.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// How many cores are used; all if `None`. As many folds are computed at the same time, each by one
    /// thread; where there are fewer folds, each has an equal share of the threads.
    pub jobs: Option<NonZero<usize>>,
    /// Which part of the study.
    pub shard: Shard,
    /// Which cells of it.
    pub only: Only,
    /// The bytes that a data set may take when it is read; larger ones are refused. Each job may use
    /// its share of as many for training and testing.
    pub max_memory: u64,
}

impl StudyOptions {
    /// The largest number of jobs: each is a thread at least.
    pub const MAX_JOBS: usize = 1024;
}

/// How far a run is.
#[derive(Clone, Debug)]
pub struct RunProgress {
    /// Cells done in this run.
    pub n_done: usize,
    /// Cells that failed in this run.
    pub n_failed: usize,
    /// Cells that were to be computed in this run.
    pub n_cells: usize,
    /// The estimated seconds left; `None` before the first fold is done.
    pub seconds_left: Option<f64>,
    /// The cell that was begun or done last.
    pub latest: Option<Key>,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells done.
    pub n_done: usize,
    /// Cells that failed.
    pub n_failed: usize,
    /// Cells that were done before.
    pub n_kept: usize,
    /// The sets that are not done because their data files do not exist.
    pub missing: Vec<String>,
    /// Whether the run was cancelled.
    pub is_interrupted: bool,
}

/// Computes the cells of a study that are left. Cells that are done are kept; cells that failed are
/// tried again.
///
/// When `cancel` becomes true, it returns at once. Cells that are being computed are abandoned, and
/// their threads end when they next check.
pub fn run(
    protocol: &Protocol,
    results: &Path,
    options: &StudyOptions,
    progress: &mut dyn FnMut(&RunProgress),
    cancel: &AtomicBool,
) -> Result<Summary> {
    options.only.check(protocol)?;
    if let Some(jobs) = options.jobs.filter(|jobs| jobs.get() > StudyOptions::MAX_JOBS) {
        let accepted = "a whole number from 1 to 1024";
        return Err(Error::Setting { name: "jobs", value: jobs.to_string(), accepted });
    }
    let mut checksums = HashMap::new();
    for (at, set) in protocol.sets.iter().enumerate() {
        if let Some(checksum) = set.source.checksum()? {
            checksums.insert(at, checksum);
        }
    }
    let ledger = Ledger::lock(results)?;
    ledger.join(&Heading::of(protocol, &checksums))?;
    ledger.commit()?;
    let done: HashSet<Key> =
        ledger.cells()?.iter().filter(|cell| cell.outcome.is_ok()).map(Cell::key).collect();
    let (units, summary) = plan(protocol, options, &checksums, &done);

    let all_cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let n_cores = options.jobs.map_or_else(all_cores, NonZero::get);
    let n_jobs = n_cores.min(units.len()).max(1);
    let sizes = protocol.sets.iter().enumerate().map(|(at, set)| {
        let file = set.source.file().and_then(|path| path.metadata().ok());
        let n_bytes = file.map_or(0, |file| file.len());
        (n_bytes, units.iter().filter(|unit| unit.set == at).count())
    });
    let mut recorder = Recorder {
        pace: Pace::new(sizes),
        n_jobs,
        progress: RunProgress {
            n_done: 0,
            n_failed: 0,
            n_cells: units.iter().map(|unit| unit.methods.len()).sum(),
            seconds_left: None,
            latest: None,
        },
        ledger,
    };
    let work = Arc::new(Work::new(protocol, options.max_memory, n_jobs, checksums, units));
    let (sender, receiver) = mpsc::channel();
    for _ in 0..n_jobs {
        let (of_worker, sender) = (Arc::clone(&work), sender.clone());
        let worker = move || of_worker.until_over((n_cores / n_jobs).max(1), &sender);
        thread::Builder::new().spawn(worker).map_err(|error| {
            work.end();
            Error::io(results, error)
        })?;
    }
    drop(sender);
    let is_interrupted = recorder.record_all(&receiver, progress, cancel);
    work.end();
    let is_interrupted = is_interrupted?;
    recorder.ledger.close()?;
    let RunProgress { n_done, n_failed, .. } = recorder.progress;
    Ok(Summary { n_done, n_failed, is_interrupted, ..summary })
}

/// Saves the results that workers send.
struct Recorder {
    ledger: Ledger,
    pace: Pace,
    n_jobs: usize,
    progress: RunProgress,
}

impl Recorder {
    /// Saves results until the workers are done or the run is cancelled; returns whether it was
    /// cancelled.
    fn record_all(
        &mut self,
        receiver: &Receiver<Message>,
        progress: &mut dyn FnMut(&RunProgress),
        cancel: &AtomicBool,
    ) -> Result<bool> {
        const TICK: Duration = Duration::from_millis(50);
        progress(&self.progress);
        while !cancel.load(Ordering::Relaxed) {
            match receiver.recv_timeout(TICK) {
                Ok(first) => {
                    self.record(first)?;
                    // All messages that have arrived by now are saved in the same transaction.
                    receiver.try_iter().try_for_each(|message| self.record(message))?;
                    self.ledger.commit()?;
                    progress(&self.progress);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Saves one message of a worker.
    fn record(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Begun(keys) => {
                self.ledger.start(&keys)?;
                self.progress.latest = keys.into_iter().next();
            }
            Message::Done(cell) => {
                self.ledger.write(&cell)?;
                match cell.outcome {
                    Ok(_) => self.progress.n_done += 1,
                    Err(_) => self.progress.n_failed += 1,
                }
                self.progress.latest = Some(cell.key());
            }
            Message::Ended { set, seconds } => {
                self.pace.done(set, seconds);
                self.progress.seconds_left = self.pace.left().map(|left| left / self.n_jobs as f64);
            }
        }
        Ok(())
    }
}

/// The folds to compute, set after set, and a summary with the cells done before and the sets
/// without data.
fn plan(
    protocol: &Protocol,
    options: &StudyOptions,
    present: &HashMap<usize, String>,
    done: &HashSet<Key>,
) -> (VecDeque<Unit>, Summary) {
    let (mut units, mut summary) = (VecDeque::new(), Summary::default());
    for (at, set) in protocol.sets.iter().enumerate() {
        for fold in 0..protocol.n_folds {
            let is_ours = options.shard.has(at * protocol.n_folds + fold);
            if !is_ours || !options.only.has(&set.name, fold) {
                continue;
            }
            let selected = (0..protocol.methods.len())
                .filter(|&method| options.only.has_method(&protocol.methods[method].name));
            let (kept, methods): (Vec<usize>, Vec<usize>) = selected.partition(|&method| {
                done.contains(&(set.name.clone(), protocol.methods[method].name.clone(), fold))
            });
            summary.n_kept += kept.len();
            if methods.is_empty() {
                continue;
            }
            if present.contains_key(&at) {
                units.push_back(Unit { set: at, fold, methods });
            } else if summary.missing.last() != Some(&set.name) {
                summary.missing.push(set.name.clone());
            }
        }
    }
    (units, summary)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::results;
    use super::*;
    use crate::data::{CsvNames, LabelNetwork, Table, write};
    use crate::seed::Seed;

    /// Writes a data set of dependent labels with its label list; another seed is other data.
    fn write_set(path: &Path, n_rows: usize, seed: u64) {
        let network = LabelNetwork { n_rows, ..LabelNetwork::default() };
        let data = network.generate("network", Seed::new(seed)).unwrap();
        write(&Table::Rows(data), path).unwrap();
    }

    fn options() -> StudyOptions {
        StudyOptions {
            jobs: NonZero::new(1),
            shard: Shard::WHOLE,
            only: Only::default(),
            max_memory: u64::MAX,
        }
    }

    #[test]
    fn data_that_are_replaced_while_a_study_runs_fail_and_are_computed_when_they_are_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let (first, second, kept) = (path("a.arff"), path("b.arff"), path("kept.arff"));
        write_set(&first, 600, 1);
        write_set(&second, 60, 2);
        fs::copy(&second, &kept).unwrap();
        let text = "folds = 3\nsets = [\"a.arff\", \"b.arff\"]\nmethods = [\"ecc-nb\"]\n";
        let protocol = Protocol::parse(&path("p.toml"), text, None).unwrap();
        let go_on = AtomicBool::new(false);

        // While the only worker is at the first set, the second one is replaced.
        let mut replace = |_: &RunProgress| write_set(&second, 60, 3);
        let run_to = |name: &str, progress: &mut dyn FnMut(&RunProgress)| {
            run(&protocol, &path(name), &options(), progress, &go_on)
        };
        let summary = run_to("p.db", &mut replace).unwrap();
        assert_eq!((summary.n_done, summary.n_failed), (3, 3));
        let status = super::super::status(&protocol, &path("p.db")).unwrap();
        let (key, error) = &status.failed[0];
        assert_eq!(key.0, "b");
        assert_eq!(*error, format!("{}: changed while the study ran", second.display()));

        // Other data than those of the study are refused; those that are back are computed.
        assert!(run_to("p.db", &mut |_| ()).unwrap_err().to_string().contains("changed"));
        fs::copy(&kept, &second).unwrap();
        assert_eq!(run_to("p.db", &mut |_| ()).unwrap().n_done, 3);
        run_to("undisturbed.db", &mut |_| ()).unwrap();
        let losses = |name: &str| {
            let mut table = Vec::new();
            results(&protocol, &path(name)).unwrap().write(CsvNames::Raw, &mut table).unwrap();
            let without_seconds = |line: &str| line.rsplit_once(',').unwrap().0.to_string();
            String::from_utf8(table).unwrap().lines().map(without_seconds).collect::<Vec<_>>()
        };
        assert_eq!(losses("p.db"), losses("undisturbed.db"));
    }
}
