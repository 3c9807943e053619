//! Workers: fold after fold, each in threads of its own.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
pub(super) struct Unit {
    pub(super) set: usize,
    pub(super) fold: usize,
    pub(super) methods: Vec<usize>,
}

/// What a worker reports.
pub(super) enum Message {
    Begun(Vec<Key>),
    Done(Box<Cell>),
    Ended { set: usize, seconds: f64 },
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

/// What the workers share.
pub(super) struct Work {
    protocol: Protocol,
    max_memory: u64,
    n_jobs: usize,
    /// The recorded checksums of the sets, by their place in the protocol.
    checksums: HashMap<usize, String>,
    units: Mutex<VecDeque<Unit>>,
    /// The set that most of them are at.
    loaded: Mutex<Option<(usize, Loading)>>,
    watch: Watch,
    /// Set when the run is over: it ends the folds that are being computed.
    cancel: Cancel,
}

/// A data set, or why it cannot be read.
type Loading = Result<Arc<Loaded>, String>;

impl Work {
    pub(super) fn new(
        protocol: &Protocol,
        max_memory: u64,
        n_jobs: usize,
        checksums: HashMap<usize, String>,
        units: VecDeque<Unit>,
    ) -> Work {
        Work {
            protocol: protocol.clone(),
            max_memory,
            n_jobs,
            checksums,
            units: Mutex::new(units),
            loaded: Mutex::new(None),
            watch: Watch::default(),
            cancel: Cancel::default(),
        }
    }

    /// Tells the workers to stop, also within a fold.
    pub(super) fn end(&self) {
        self.cancel.cancel();
    }

    /// One worker: fold after fold, in threads of its own.
    pub(super) fn until_over(&self, n_threads: usize, sender: &Sender<Message>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
        while !self.cancel.is_cancelled() {
            let Some(unit) = unpoisoned(&self.units).pop_front() else { return };
            // Nobody listens any more: the run is over.
            let send = |message| drop(sender.send(message));
            let start = Instant::now();
            send(Message::Begun(unit.methods.iter().map(|&at| self.key(&unit, at)).collect()));
            match &pool {
                Ok(pool) => pool.install(|| self.compute(&unit, &send)),
                Err(error) => self.fail(&unit, &error.to_string(), &send),
            }
            send(Message::Ended { set: unit.set, seconds: start.elapsed().as_secs_f64() });
        }
    }

    fn key(&self, unit: &Unit, method: usize) -> Key {
        let (set, method) = (&self.protocol.sets[unit.set], &self.protocol.methods[method]);
        (set.name.clone(), method.name.clone(), unit.fold)
    }

    /// Tests all methods of a unit. Whatever goes wrong with one is its own affair.
    fn compute(&self, unit: &Unit, send: &dyn Fn(Message)) {
        let watching = self.watch.start();
        let ready = self.load(unit.set).and_then(|loaded| {
            let max_memory = self.max_memory / self.n_jobs.max(1) as u64;
            let cancel = self.cancel.clone();
            let options = RunOptions { max_memory, cancel, ..RunOptions::default() };
            caught(|| loaded.fold(unit.fold, self.protocol.seed(), &options))
        });
        match ready {
            Ok(fold) => {
                for (settings, places) in alike(&unit.methods, &self.protocol.methods) {
                    let of = |&at: &usize| self.protocol.methods[at].method;
                    let methods: Vec<Method> = places.iter().map(of).collect();
                    let mut tests =
                        fold.test(&methods, settings, OutputOptions::default(), &|_| ());
                    for at in places {
                        if self.cancel.is_cancelled() {
                            return;
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
                        let peak = self.watch.peak(watching);
                        self.report(unit, at, losses, cost, peak, send);
                    }
                }
            }
            Err(error) => self.fail(unit, &error, send),
        }
        self.watch.stop(watching);
    }

    fn fail(&self, unit: &Unit, error: &str, send: &dyn Fn(Message)) {
        for &at in &unit.methods {
            self.report(unit, at, Err(error.into()), 0.0, None, send);
        }
    }

    fn report(
        &self,
        unit: &Unit,
        method: usize,
        outcome: Result<[Option<f64>; 11], String>,
        cpu_seconds: f64,
        peak_memory: Option<u64>,
        send: &dyn Fn(Message),
    ) {
        let (dataset, method, fold) = self.key(unit, method);
        let cell = Cell { dataset, method, fold, outcome, cpu_seconds, peak_memory };
        send(Message::Done(Box::new(cell)));
    }

    /// The data of a set: read by the first that asks, while the others wait for it.
    fn load(&self, at: usize) -> Loading {
        let mut loaded = unpoisoned(&self.loaded);
        if let Some((known, loaded)) = &*loaded
            && *known == at
        {
            return loaded.clone();
        }
        // The last set goes first, unless somebody is still at it.
        *loaded = None;
        let read = caught(|| {
            let set = &self.protocol.sets[at];
            let recorded = self.checksums.get(&at).map_or("", String::as_str);
            let data = set.source.open(self.max_memory, recorded)?;
            let folds = self.protocol.folds(&data)?;
            let file = set.source.file().map(|path| path.display().to_string());
            let name = file.unwrap_or_else(|| set.name.clone());
            Ok(Arc::new(Loaded { name, data, folds }))
        });
        loaded.insert((at, read)).1.clone()
    }
}

/// Methods with equal settings share members.
fn alike<'s>(methods: &[usize], specs: &'s [MethodSpec]) -> Vec<(&'s Settings, Vec<usize>)> {
    let mut groups: Vec<(&Settings, Vec<usize>)> = Vec::new();
    for &method in methods {
        let of = &specs[method].settings;
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, group)) => group.push(method),
            None => groups.push((of, vec![method])),
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
    use std::time::Duration;

    use super::*;
    use crate::data::{LabelNetwork, Table, write};

    #[test]
    fn the_end_of_a_run_ends_a_fold_that_would_take_hours() {
        let directory = tempfile::tempdir().unwrap();
        let data = LabelNetwork::default().generate("long", Seed::new(1)).unwrap();
        write(&Table::Rows(data), &directory.path().join("long.arff")).unwrap();
        let text = "sets = [\"long.arff\"]\nmethods = [\"ga-nb\"]\n\
                    settings = { generations = 1000000 }\n";
        let protocol = directory.path().join("p.toml");
        let protocol = Protocol::parse(&protocol, text, None).unwrap();
        let checksum = protocol.sets[0].source.checksum().unwrap().unwrap();
        let units = VecDeque::from([Unit { set: 0, fold: 0, methods: vec![0] }]);
        let work = Work::new(&protocol, u64::MAX, 1, HashMap::from([(0, checksum)]), units);
        let work = Arc::new(work);
        let (sender, receiver) = channel();
        let of_worker = Arc::clone(&work);
        let worker = thread::spawn(move || of_worker.until_over(1, &sender));
        assert!(matches!(receiver.recv().unwrap(), Message::Begun(_)));
        // In the midst of the search.
        thread::sleep(Duration::from_millis(500));
        assert!(!worker.is_finished());
        let start = Instant::now();
        work.end();
        worker.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
