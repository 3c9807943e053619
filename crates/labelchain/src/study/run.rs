//! Computes the cells of a study that are left, and saves each as soon as it is done.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::ledger::{Cell, Heading, Key, Ledger};
use super::pace::Pace;
use super::part::{Only, Shard};
use super::protocol::{Protocol, SetSpec};
use super::source::SetSource;
use super::work::{FoldTask, FoldWorker};
use crate::error::{Error, Remedy, Result, unpoisoned};
use crate::progress::Cancel;

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

/// Where the results of a protocol are unless somebody says: beside it, with the ending `.db`.
pub fn results_beside(protocol: &Path) -> PathBuf {
    protocol.with_extension("db")
}

/// A run that has begun: which folds are left, and the one right to write their results.
///
/// Who computes the folds is not its affair: [`run`] gives them to threads, and another front end may
/// give them to other machines ([`FoldWorker`]).
pub struct StudyRun {
    ledger: Ledger,
    folds: Vec<FoldTask>,
    summary: Summary,
}

impl StudyRun {
    /// Begins to add to a file of results, which nobody else may then. Cells that are done are kept; cells
    /// that failed are tried again.
    pub fn begin(
        protocol: &Protocol,
        results: &Path,
        shard: Shard,
        only: &Only,
    ) -> Result<StudyRun> {
        only.check(protocol)?;
        let mut checksums = HashMap::new();
        for (at, set) in protocol.sets.iter().enumerate() {
            if let Some(checksum) = set.source.checksum()? {
                checksums.insert(at, checksum);
            }
        }
        let plan = |done: &HashSet<Key>| plan(protocol, shard, only, &checksums, done);
        // A file of results is not made for nothing.
        if !results.exists() {
            check_data(protocol, results, &plan(&HashSet::new()))?;
        }
        let ledger = Ledger::lock(results)?;
        ledger.join(&Heading::of(protocol, &checksums))?;
        ledger.commit()?;
        let done: HashSet<Key> =
            ledger.cells()?.iter().filter(|cell| cell.outcome.is_ok()).map(Cell::key).collect();
        let planned = plan(&done);
        check_data(protocol, results, &planned)?;
        let (folds, summary) = planned;
        Ok(StudyRun { ledger, folds, summary })
    }

    /// The folds to compute, set after set.
    pub fn folds(&self) -> &[FoldTask] {
        &self.folds
    }

    /// What was done so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Notes that a fold is being computed.
    pub fn start(&self, fold: &FoldTask) -> Result<()> {
        self.ledger.start(&fold.keys())
    }

    /// Writes a cell. It lasts from the next [`commit`](StudyRun::commit) on.
    pub fn record(&mut self, cell: &Cell) -> Result<()> {
        self.ledger.write(cell)?;
        match cell.outcome {
            Ok(_) => self.summary.n_done += 1,
            Err(_) => self.summary.n_failed += 1,
        }
        Ok(())
    }

    /// Makes everything written so far last.
    pub fn commit(&self) -> Result<()> {
        self.ledger.commit()
    }

    /// Ends the run, after which another may begin.
    pub fn end(self) -> Result<Summary> {
        self.ledger.close()?;
        Ok(self.summary)
    }
}

/// Computes the cells of a study that are left, in threads of this process. Cells that are done are kept;
/// cells that failed are tried again.
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
    if let Some(jobs) = options.jobs.filter(|jobs| jobs.get() > StudyOptions::MAX_JOBS) {
        let accepted = "a whole number from 1 to 1024";
        return Err(Error::Setting { name: "jobs", value: jobs.to_string(), accepted });
    }
    let run = StudyRun::begin(protocol, results, options.shard, &options.only)?;
    let folds = run.folds();
    let all_cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let n_cores = options.jobs.map_or_else(all_cores, NonZero::get);
    let n_jobs = n_cores.min(folds.len()).max(1);
    let sizes = protocol.sets.iter().map(|set| {
        let file = set.source.file().and_then(|path| path.metadata().ok());
        let n_bytes = file.map_or(0, |file| file.len());
        let n_folds = folds.iter().filter(|fold| fold.set == set.name).count();
        (set.name.clone(), n_bytes, n_folds)
    });
    let mut recorder = Recorder {
        pace: Pace::new(sizes),
        n_jobs,
        n_cells: folds.iter().map(|fold| fold.methods.len()).sum(),
        latest: None,
        run,
    };
    let work = Arc::new(Work {
        worker: FoldWorker::new(protocol, options.max_memory, n_jobs),
        folds: Mutex::new(recorder.run.folds().iter().cloned().collect()),
        cancel: Cancel::default(),
    });
    let (sender, receiver) = mpsc::channel();
    for _ in 0..n_jobs {
        let (of_worker, sender) = (Arc::clone(&work), sender.clone());
        let worker = move || of_worker.until_over((n_cores / n_jobs).max(1), &sender);
        thread::Builder::new().spawn(worker).map_err(|error| {
            work.cancel.cancel();
            Error::io(results, error)
        })?;
    }
    drop(sender);
    let is_interrupted = recorder.record_all(&receiver, progress, cancel);
    work.cancel.cancel();
    let is_interrupted = is_interrupted?;
    Ok(Summary { is_interrupted, ..recorder.run.end()? })
}

/// What the threads of a run share.
struct Work {
    worker: FoldWorker,
    /// The folds that nobody has begun.
    folds: Mutex<VecDeque<FoldTask>>,
    /// Set when the run is over: it ends the folds that are being computed.
    cancel: Cancel,
}

/// What a thread reports.
enum Message {
    Begun(FoldTask),
    Done(Box<Cell>),
    Ended { set: String, seconds: f64 },
}

impl Work {
    /// One job: fold after fold, in threads of its own.
    fn until_over(&self, n_threads: usize, sender: &Sender<Message>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
        while !self.cancel.is_cancelled() {
            let Some(fold) = unpoisoned(&self.folds).pop_front() else { return };
            // If nobody listens any more, the run is over.
            let send = |message| drop(sender.send(message));
            let start = Instant::now();
            send(Message::Begun(fold.clone()));
            let report = |cell| send(Message::Done(Box::new(cell)));
            match &pool {
                Ok(pool) => pool.install(|| self.worker.compute(&fold, &self.cancel, &report)),
                Err(error) => fold.failed(&error.to_string()).into_iter().for_each(report),
            }
            send(Message::Ended { set: fold.set, seconds: start.elapsed().as_secs_f64() });
        }
    }
}

/// Saves the results that threads send.
struct Recorder {
    run: StudyRun,
    pace: Pace,
    n_jobs: usize,
    n_cells: usize,
    /// The cell that was begun or done last.
    latest: Option<Key>,
}

impl Recorder {
    /// Saves results until the threads are done or the run is cancelled; returns whether it was
    /// cancelled.
    fn record_all(
        &mut self,
        receiver: &Receiver<Message>,
        progress: &mut dyn FnMut(&RunProgress),
        cancel: &AtomicBool,
    ) -> Result<bool> {
        const TICK: Duration = Duration::from_millis(50);
        progress(&self.progress());
        while !cancel.load(Ordering::Relaxed) {
            match receiver.recv_timeout(TICK) {
                Ok(first) => {
                    self.record(first)?;
                    // All messages that have arrived by now are saved in the same transaction.
                    receiver.try_iter().try_for_each(|message| self.record(message))?;
                    self.run.commit()?;
                    progress(&self.progress());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Saves one message of a thread.
    fn record(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Begun(fold) => {
                self.run.start(&fold)?;
                self.latest = fold.keys().into_iter().next();
            }
            Message::Done(cell) => {
                self.run.record(&cell)?;
                self.latest = Some(cell.key());
            }
            Message::Ended { set, seconds } => self.pace.done(&set, seconds),
        }
        Ok(())
    }

    fn progress(&self) -> RunProgress {
        let &Summary { n_done, n_failed, .. } = self.run.summary();
        RunProgress {
            n_done,
            n_failed,
            n_cells: self.n_cells,
            seconds_left: self.pace.left().map(|left| left / self.n_jobs as f64),
            latest: self.latest.clone(),
        }
    }
}

/// Refuses a plan of no cells, done or to do, because no set has its data.
fn check_data(
    protocol: &Protocol,
    results: &Path,
    (folds, summary): &(Vec<FoldTask>, Summary),
) -> Result<()> {
    if !folds.is_empty() || summary.n_kept > 0 || summary.missing.is_empty() {
        return Ok(());
    }
    let sets = protocol.sets.iter().filter(|set| summary.missing.contains(&set.name));
    let place = |set: &SetSpec| match &set.source {
        SetSource::File { path, .. } => path.display().to_string(),
        SetSource::Paper { directory, .. } => directory.join(&set.name).display().to_string(),
    };
    let places: Vec<String> = sets.map(place).collect();
    let problem = format!("nothing to run, for no set has its data: {}", places.join(", "));
    let remedy =
        Remedy::from("put the files there, or name the directory that has them: ").setting("data");
    Err(Error::Results { path: results.into(), problem, remedy })
}

/// The folds to compute, set after set, and a summary with the cells done before and the sets
/// without data.
fn plan(
    protocol: &Protocol,
    shard: Shard,
    only: &Only,
    present: &HashMap<usize, String>,
    done: &HashSet<Key>,
) -> (Vec<FoldTask>, Summary) {
    let (mut folds, mut summary) = (Vec::new(), Summary::default());
    let selected: Vec<(String, String)> = protocol
        .methods
        .iter()
        .filter(|method| only.has_method(&method.name))
        .map(|method| (method.name.clone(), method.method.fingerprint()))
        .collect();
    for (at, set) in protocol.sets.iter().enumerate() {
        for fold in 0..protocol.n_folds {
            let is_ours = shard.has(at * protocol.n_folds + fold);
            if !is_ours || !only.has(&set.name, fold) {
                continue;
            }
            let (kept, methods): (Vec<_>, Vec<_>) = selected
                .iter()
                .cloned()
                .partition(|(method, _)| done.contains(&(set.name.clone(), method.clone(), fold)));
            summary.n_kept += kept.len();
            if methods.is_empty() {
                continue;
            }
            if let Some(checksum) = present.get(&at).cloned() {
                folds.push(FoldTask { set: set.name.clone(), checksum, fold, methods });
            } else if summary.missing.last() != Some(&set.name) {
                summary.missing.push(set.name.clone());
            }
        }
    }
    (folds, summary)
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
