//! Computes the cells of a fold: the same for threads of a run and for other processes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use super::ledger::{Cell, Key};
use super::peak::Watch;
use super::protocol::{MethodSpec, Protocol};
use crate::data::Dataset;
use crate::data::split::Folds;
use crate::ensemble::OutputOptions;
use crate::error::{Result, unpoisoned};
use crate::experiment::{Fold, FoldRows};
use crate::method::Method;
use crate::prepare::TextSettings;
use crate::progress::{Cancel, RunOptions};
use crate::seed::Seed;
use crate::settings::Settings;

/// A fold of a set, with the methods to test in it: they share members, so they belong together.
///
/// It says all that another process has to know that has read the same protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldTask {
    /// The name of the set.
    pub set: String,
    /// The checksum of its data.
    pub checksum: String,
    /// The fold, the first being 0.
    pub fold: usize,
    /// The names of the methods, each with the fingerprint of what it computes.
    pub methods: Vec<(String, String)>,
}

impl FoldTask {
    pub(super) fn keys(&self) -> Vec<Key> {
        self.methods.iter().map(|(method, _)| self.key(method)).collect()
    }

    fn key(&self, method: &str) -> Key {
        (self.set.clone(), method.into(), self.fold)
    }

    /// A cell for each of its methods that says why there are no losses.
    pub fn failed(&self, error: &str) -> Vec<Cell> {
        let cell = |(method, _): &(String, String)| self.cell(method, Err(error.into()), 0.0, None);
        self.methods.iter().map(cell).collect()
    }

    fn cell(
        &self,
        method: &str,
        outcome: Result<[Option<f64>; 11], String>,
        cpu_seconds: f64,
        peak_memory: Option<u64>,
    ) -> Cell {
        let (dataset, method, fold) = self.key(method);
        Cell { dataset, method, fold, outcome, cpu_seconds, peak_memory }
    }
}

/// A data set as all its folds need it.
struct Loaded {
    /// Its file, or its name where it is generated.
    name: String,
    data: Dataset,
    folds: Folds,
}

impl Loaded {
    fn fold(&self, at: usize, seed: Seed, options: &RunOptions) -> Result<Fold> {
        let (data, train, test) =
            (&self.data, &self.folds.train_rows(at), &self.folds.test_rows(at));
        let rows = FoldRows { name: &self.name, train, test };
        // The sets of a study have no texts.
        let texts = TextSettings::default();
        Fold::new(rows, seed.child("fold", at), texts, options, |rows, _| {
            Ok((data.select(rows.train), data.select(rows.test)))
        })
    }
}

/// Computes the cells of a study, fold after fold. Threads may share it, and then share the set that
/// they are at.
pub struct FoldWorker {
    protocol: Protocol,
    max_memory: u64,
    n_jobs: usize,
    /// The set that was read last, with its name and the checksum of its file.
    loaded: Mutex<Option<(String, String, Arc<Loaded>)>>,
    watch: Watch,
}

/// A data set, or why it cannot be read.
type Loading = Result<Arc<Loaded>, String>;

impl FoldWorker {
    /// A worker for the folds of a protocol, of which `n_jobs` are computed at the same time. A data set
    /// may take `max_memory` bytes when it is read, and each job its share of as many.
    pub fn new(protocol: &Protocol, max_memory: u64, n_jobs: usize) -> FoldWorker {
        FoldWorker {
            protocol: protocol.clone(),
            max_memory,
            n_jobs,
            loaded: Mutex::new(None),
            watch: Watch::default(),
        }
    }

    /// Tests all methods of a fold, in the threads of the current pool, and reports the cell of each as
    /// soon as it is done. Whatever goes wrong with one is noted in its cell. After `cancel` no cell is
    /// reported.
    pub fn compute(&self, task: &FoldTask, cancel: &Cancel, report: &dyn Fn(Cell)) {
        let watching = self.watch.start();
        // What was given up has not failed.
        let report = |cell| {
            if !cancel.is_cancelled() {
                report(cell)
            }
        };
        let ready = self.methods(task).and_then(|methods| {
            let max_memory = self.max_memory / self.n_jobs.max(1) as u64;
            let options =
                RunOptions { max_memory, cancel: cancel.clone(), ..RunOptions::default() };
            let loaded = self.load(task)?;
            let fold = caught(|| loaded.fold(task.fold, self.protocol.seed(), &options))?;
            Ok((fold, methods))
        });
        match ready {
            Ok((fold, specs)) => {
                'tests: for (settings, specs) in alike(&specs) {
                    let methods: Vec<Method> = specs.iter().map(|spec| spec.method).collect();
                    let mut tests =
                        fold.test(&methods, settings, OutputOptions::default(), &|_| ());
                    for spec in specs {
                        if cancel.is_cancelled() {
                            break 'tests;
                        }
                        let tested = caught(|| tests.next().transpose());
                        let Some(tested) = tested.transpose() else { break };
                        let cost = tested.as_ref().map_or(0.0, |tested| {
                            tested.train.cpu_seconds + tested.predict.cpu_seconds
                        });
                        let losses = tested.map(|tested| {
                            let mut losses = [None; 11];
                            tested.losses.iter().for_each(|(of, loss)| losses[of.index()] = loss);
                            losses
                        });
                        report(task.cell(&spec.name, losses, cost, self.watch.peak(watching)));
                    }
                }
            }
            Err(error) => task.failed(&error).into_iter().for_each(report),
        }
        self.watch.stop(watching);
    }

    /// The methods of a task as this protocol has them. A worker of another version may compute them
    /// differently, and then must not.
    fn methods(&self, task: &FoldTask) -> Result<Vec<&MethodSpec>, String> {
        let method = |(name, fingerprint): &(String, String)| {
            let spec = self.protocol.methods.iter().find(|spec| spec.name == *name);
            let spec = spec.ok_or_else(|| format!("the protocol has no method {name:?}"))?;
            if spec.method.fingerprint() != *fingerprint {
                return Err(format!(
                    "labelchain {} of this worker computes {} differently than the study does; \
                     install the same version everywhere",
                    env!("CARGO_PKG_VERSION"),
                    spec.method
                ));
            }
            Ok(spec)
        };
        if task.fold >= self.protocol.n_folds {
            return Err(format!("the protocol has {} folds", self.protocol.n_folds));
        }
        task.methods.iter().map(method).collect()
    }

    /// The data of the set of a task: read by the first that asks, while the others wait for it. What could not be
    /// read is tried again for the next task.
    fn load(&self, task: &FoldTask) -> Loading {
        let mut loaded = unpoisoned(&self.loaded);
        if let Some((name, checksum, loaded)) = &*loaded
            && (name, checksum) == (&task.set, &task.checksum)
        {
            return Ok(Arc::clone(loaded));
        }
        // The last set goes first, unless somebody is still at it.
        *loaded = None;
        let set = self.protocol.sets.iter().find(|set| set.name == task.set);
        let set = set.ok_or_else(|| format!("the protocol has no set {:?}", task.set))?;
        let read = || {
            let data = set.source.open(self.max_memory, &task.checksum)?;
            let folds = self.protocol.folds(&data)?;
            let file = set.source.file().map(|path| path.display().to_string());
            let name = file.unwrap_or_else(|| set.name.clone());
            Ok(Arc::new(Loaded { name, data, folds }))
        };
        // By a thread of no pool: one of a pool that waits for others takes up another fold meanwhile, and that would
        // wait for this very set.
        let read = thread::scope(|scope| {
            let reader = thread::Builder::new().spawn_scoped(scope, || caught(read));
            let reader = reader.map_err(|error| error.to_string())?;
            reader.join().unwrap_or_else(|_| Err("reading it panicked".into()))
        })?;
        *loaded = Some((task.set.clone(), task.checksum.clone(), Arc::clone(&read)));
        Ok(read)
    }
}

/// Methods with equal settings share members.
fn alike<'s>(methods: &[&'s MethodSpec]) -> Vec<(&'s Settings, Vec<&'s MethodSpec>)> {
    let mut groups: Vec<(&Settings, Vec<&MethodSpec>)> = Vec::new();
    for &method in methods {
        match groups.iter_mut().find(|(known, _)| **known == method.settings) {
            Some((_, group)) => group.push(method),
            None => groups.push((&method.settings, vec![method])),
        }
    }
    groups
}

/// What went wrong as text, be it refused or be it a bug.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T, String> {
    let text = |panic: Box<dyn Any + Send>| match panic.downcast_ref::<&str>() {
        Some(text) => (*text).to_string(),
        None => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("a bug in labelchain: {}", text(panic))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::data::{LabelNetwork, Table, write};

    /// A protocol with one set of a file that is written to a directory, and its only fold of interest.
    fn protocol(directory: &std::path::Path, rest: &str) -> (Protocol, FoldTask) {
        let data = LabelNetwork::default().generate("rows", Seed::new(1)).unwrap();
        write(&Table::Rows(data), &directory.join("rows.arff")).unwrap();
        let text = format!("sets = [\"rows.arff\"]\n{rest}");
        let protocol = Protocol::parse(&directory.join("p.toml"), &text, None).unwrap();
        let of = |method: &MethodSpec| (method.name.clone(), method.method.fingerprint());
        let task = FoldTask {
            set: "rows".into(),
            checksum: protocol.sets[0].source.checksum().unwrap().unwrap(),
            fold: 0,
            methods: protocol.methods.iter().map(of).collect(),
        };
        (protocol, task)
    }

    #[test]
    fn the_end_of_a_run_ends_a_fold_that_would_take_hours() {
        let directory = tempfile::tempdir().unwrap();
        let rest = "methods = [\"ga-nb\"]\nsettings = { generations = 1000000 }\n";
        let (protocol, task) = protocol(directory.path(), rest);
        let (cancel, worker) = (Cancel::default(), FoldWorker::new(&protocol, u64::MAX, 1));
        let (sender, receiver) = channel();
        let of_worker = cancel.clone();
        // In a pool of its own, as every worker: in that of all tests it would do their work while it waits.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let worker = thread::spawn(move || {
            pool.install(|| {
                worker.compute(&task, &of_worker, &|cell| drop(sender.send(cell)));
            });
        });
        // In the midst of the search.
        thread::sleep(Duration::from_millis(500));
        assert!(!worker.is_finished());
        let start = Instant::now();
        cancel.cancel();
        worker.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert!(receiver.try_recv().is_err());
    }

    #[test]
    fn what_a_worker_cannot_compute_fails_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let (protocol, task) = protocol(directory.path(), "methods = [\"br-nb\", \"ecc-nb\"]\n");
        let errors = |task: &FoldTask| {
            let (sender, receiver) = channel();
            FoldWorker::new(&protocol, u64::MAX, 1)
                .compute(task, &Cancel::default(), &|cell| drop(sender.send(cell)));
            drop(sender);
            let cells: Vec<Cell> = receiver.iter().collect();
            assert_eq!(cells.iter().map(Cell::key).collect::<Vec<Key>>(), task.keys());
            cells.iter().filter_map(|cell| cell.outcome.clone().err()).collect::<Vec<String>>()
        };
        assert!(errors(&task).is_empty());
        let mut older = task.clone();
        older.methods[1].1 = "of another version".into();
        let [first, second] = &errors(&older)[..] else { panic!("two errors") };
        assert_eq!(first, second);
        assert!(first.contains("computes ecc-nb differently than the study does"), "{first}");
        let unknown = FoldTask { set: "other".into(), ..task.clone() };
        assert_eq!(errors(&unknown), ["the protocol has no set \"other\""; 2]);
        assert_eq!(
            errors(&FoldTask { fold: 10, ..task.clone() }),
            ["the protocol has 10 folds"; 2]
        );
        // What was read is kept for its own bytes only, and what could not be read is tried again.
        let worker = FoldWorker::new(&protocol, u64::MAX, 1);
        let error_of = |task: &FoldTask| {
            let (sender, receiver) = channel();
            worker.compute(task, &Cancel::default(), &|cell| drop(sender.send(cell)));
            drop(sender);
            receiver.iter().find_map(|cell| cell.outcome.err())
        };
        assert_eq!(error_of(&task), None);
        let replaced = FoldTask { checksum: "of other bytes".into(), ..task.clone() };
        assert!(error_of(&replaced).is_some());
        assert_eq!(error_of(&task), None);
        std::fs::remove_file(directory.path().join("rows.arff")).unwrap();
        let [gone, _] = &errors(&task)[..] else { panic!("two errors") };
        assert!(gone.contains("rows.arff") && !gone.contains("changed"), "{gone}");
    }
}
