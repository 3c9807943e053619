//! Where results are kept: one SQLite file, in which a cell is there whole or not at all.
//!
//! | table | a row is |
//! |---|---|
//! | `study` | the study: version, seed, folds, stratification, the protocol's text |
//! | `sets` | a data set: how it was read, checksums of its files |
//! | `methods` | a method: what was set, and a fingerprint of what it computes |
//! | `cells` | a method on a fold of a set: eleven losses or an error, CPU seconds, peak memory, a checksum of all |
//! | `running` | a cell that is being computed, or was when its run was killed |
//!
//! A run holds the right to write from its beginning to its end: it opens the next transaction as
//! soon as it has closed the last. So a second run is refused, anybody may read, and a run that is
//! killed leaves neither a lock nor a lock file.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params, params_from_iter};

use super::protocol::Protocol;
use crate::data::stratify::Balance;
use crate::error::{Error, Remedy, Result, Task, directory_of};
use crate::experiment::MAX_SECONDS;
use crate::loss::Criterion;
use crate::settings::AnySetting;

/// "labelchain" would not fit: 4 bytes at the start of an SQLite file say whose it is.
const APPLICATION: i64 = 0x6c62_6c63;
/// The layout of the tables. A file in another layout is refused and not converted: whoever converts
/// a file without checksums would vouch for numbers that nobody can check.
const FORMAT: i64 = 3;

/// A method on a fold of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The data set's name.
    pub dataset: String,
    /// The method's name.
    pub method: String,
    /// The fold, the first being 0.
    pub fold: usize,
    /// The losses in the order of [`Criterion::ALL`], or why there are none.
    pub outcome: Result<[Option<f64>; 11], String>,
    /// Processor time, with all that is shared with other methods.
    pub cpu_seconds: f64,
    /// The most memory that the process had in use meanwhile, in bytes.
    pub peak_memory: Option<u64>,
}

impl Cell {
    /// Its place in the study.
    pub fn key(&self) -> Key {
        (self.dataset.clone(), self.method.clone(), self.fold)
    }

    /// BLAKE3 of all that it says, in postcard's encoding.
    fn checksum(&self) -> postcard::Result<String> {
        // SQLite keeps -0 as 0, and so does adding 0.
        let losses = |losses: &[Option<f64>; 11]| losses.map(|loss| loss.map(|loss| loss + 0.0));
        let outcome = self.outcome.as_ref().map(losses);
        let cost = (self.cpu_seconds + 0.0, self.peak_memory);
        let text = postcard::to_stdvec(&(&self.dataset, &self.method, self.fold, outcome, cost))?;
        Ok(blake3::hash(&text).to_string())
    }

    /// What cannot be true of a cell in a study of so many folds.
    fn impossible(&self, n_folds: i64) -> Option<String> {
        for (loss, of) in self.outcome.iter().flatten().zip(Criterion::ALL) {
            if let Some(loss) = loss.filter(|loss| !(0.0..=1.0).contains(loss)) {
                return Some(format!("its {} loss is {loss:?}, not between 0 and 1", of.key()));
            }
        }
        if !i64::try_from(self.fold).is_ok_and(|fold| fold < n_folds) {
            return Some(format!("the study has {n_folds} folds"));
        }
        let is_duration = (0.0..=MAX_SECONDS).contains(&self.cpu_seconds);
        (!is_duration).then(|| format!("it took {:?} seconds", self.cpu_seconds))
    }
}

/// Data set, method, fold.
pub type Key = (String, String, usize);

/// What results must have in common to belong together.
#[derive(Debug)]
pub(super) struct Heading {
    version: String,
    seed: i64,
    n_folds: i64,
    stratify: String,
    protocol: String,
    /// Name, how it was read, checksum.
    sets: Vec<[String; 3]>,
    /// Name, method, settings, fingerprint.
    methods: Vec<[String; 4]>,
}

impl Heading {
    /// `checksums` are those of the sets that are there.
    pub(super) fn of(protocol: &Protocol, checksums: &HashMap<usize, String>) -> Heading {
        let set = |(at, checksum): (&usize, &String)| {
            let set = &protocol.sets[*at];
            [set.name.clone(), set.reading.clone(), checksum.clone()]
        };
        let method = |method: &super::protocol::MethodSpec| {
            let value = |setting: &'static dyn AnySetting| {
                (setting.name().to_string(), method.settings.json(setting))
            };
            let settings: serde_json::Map<_, _> = method.method.settings().map(value).collect();
            let settings = serde_json::Value::Object(settings).to_string();
            let fingerprint = method.method.fingerprint();
            [method.name.clone(), method.method.to_string(), settings, fingerprint]
        };
        let stratify = match protocol.stratify {
            None => "none",
            Some(Balance::Labels) => "iterative",
            Some(Balance::Pairs) => "pairs",
        };
        Heading {
            version: env!("CARGO_PKG_VERSION").into(),
            seed: protocol.seed.cast_signed(),
            n_folds: protocol.n_folds as i64,
            stratify: stratify.into(),
            protocol: protocol.text.clone(),
            sets: checksums.iter().map(set).collect(),
            methods: protocol.methods.iter().map(method).collect(),
        }
    }
}

/// An open file of results.
pub(super) struct Ledger {
    path: PathBuf,
    connection: Connection,
}

/// How long a short wait is: another process may be looking.
const MOMENT: Duration = Duration::from_millis(500);
/// How long a run waits for readers, and never loses a cell for.
const PATIENCE: Duration = Duration::from_secs(60);

impl Ledger {
    /// Opens results to add to them, as nobody else may then; creates them if there are none.
    pub(super) fn lock(path: &Path) -> Result<Ledger> {
        check_path(path)?;
        let ledger = Ledger::open(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        ledger.run("BEGIN IMMEDIATE")?;
        if ledger.is_new()? {
            let losses: Vec<String> =
                Criterion::ALL.iter().map(|of| format!("{} REAL", of.key())).collect();
            ledger.run(&format!(
                "PRAGMA application_id = {APPLICATION};
                 PRAGMA user_version = {FORMAT};
                 CREATE TABLE study (version TEXT NOT NULL, seed INTEGER NOT NULL,
                   folds INTEGER NOT NULL, stratify TEXT NOT NULL, protocol TEXT NOT NULL);
                 CREATE TABLE sets (name TEXT PRIMARY KEY, reading TEXT NOT NULL,
                   checksum TEXT NOT NULL);
                 CREATE TABLE methods (name TEXT PRIMARY KEY, method TEXT NOT NULL,
                   settings TEXT NOT NULL, fingerprint TEXT NOT NULL);
                 CREATE TABLE cells (dataset TEXT NOT NULL, method TEXT NOT NULL,
                   fold INTEGER NOT NULL, {}, error TEXT, cpu_seconds REAL NOT NULL,
                   peak_memory INTEGER, checksum TEXT NOT NULL, PRIMARY KEY (dataset, method, fold));
                 CREATE TABLE running (dataset TEXT NOT NULL, method TEXT NOT NULL,
                   fold INTEGER NOT NULL, PRIMARY KEY (dataset, method, fold));",
                losses.join(", ")
            ))?;
        }
        ledger.check_kind()?;
        ledger.run("DELETE FROM running")?;
        ledger.connection.busy_timeout(PATIENCE).map_err(|error| ledger.refused(error))?;
        Ok(ledger)
    }

    /// Opens results to look at them; none if there are none yet.
    pub(super) fn look(path: &Path) -> Result<Option<Ledger>> {
        check_path(path)?;
        if let Err(error) = path.metadata() {
            return match error.kind() {
                io::ErrorKind::NotFound => Ok(None),
                _ => Err(Error::io(path, error)),
            };
        }
        let ledger = Ledger::open(path, OpenFlags::empty())?;
        if ledger.is_new()? {
            return Ok(None);
        }
        ledger.check_kind()?;
        ledger.connection.busy_timeout(PATIENCE).map_err(|error| ledger.refused(error))?;
        Ok(Some(ledger))
    }

    // For writing even to look: what a killed run left half-done has to be undone first.
    fn open(path: &Path, more: OpenFlags) -> Result<Ledger> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| refused(path, error))?;
        // A file of results is tables. Views and triggers would run what whoever made the file wrote.
        for (setting, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        ] {
            connection.set_db_config(setting, is_on).map_err(|error| refused(path, error))?;
        }
        connection.busy_timeout(MOMENT).map_err(|error| refused(path, error))?;
        Ok(Ledger { path: path.into(), connection })
    }

    /// Nothing was ever written, or nothing whole.
    fn is_new(&self) -> Result<bool> {
        self.number("SELECT count(*) FROM sqlite_schema").map(|n| n == 0)
    }

    fn check_kind(&self) -> Result<()> {
        if self.number("PRAGMA application_id")? != APPLICATION {
            return Err(self.wrong("not results of a study", written_by_run()));
        }
        let format = self.number("PRAGMA user_version")?;
        if format != FORMAT {
            return Err(self.wrong(
                format!("results in format {format}, this program reads {FORMAT}"),
                "use the version of labelchain that wrote them",
            ));
        }
        Ok(())
    }

    /// What these results are of; none before the first run has said so.
    pub(super) fn heading(&self) -> Result<Option<Heading>> {
        let three = |row: &Row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]);
        let sets = self.rows("SELECT name, reading, checksum FROM sets ORDER BY rowid", three)?;
        let four = |row: &Row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        let methods = "SELECT name, method, settings, fingerprint FROM methods ORDER BY rowid";
        let methods = self.rows(methods, four)?;
        let study = "SELECT version, seed, folds, stratify, protocol FROM study";
        let heading = self.rows(study, |row| {
            Ok(Heading {
                version: row.get(0)?,
                seed: row.get(1)?,
                n_folds: row.get(2)?,
                stratify: row.get(3)?,
                protocol: row.get(4)?,
                sets: Vec::new(),
                methods: Vec::new(),
            })
        })?;
        Ok(heading.into_iter().next().map(|heading| Heading { sets, methods, ..heading }))
    }

    /// Refuses what does not belong to these results.
    pub(super) fn check(&self, new: &Heading) -> Result<()> {
        let elsewhere = || {
            Remedy::from("give this study a file of its own with ")
                .setting("results")
                .text(", or undo the change")
        };
        let Some(old) = self.heading()? else { return Ok(()) };
        for (what, old, new) in [
            ("seed", old.seed.to_string(), new.seed.to_string()),
            ("folds", old.n_folds.to_string(), new.n_folds.to_string()),
            ("stratify", old.stratify.clone(), new.stratify.clone()),
        ] {
            if old != new {
                let problem = format!("results of another protocol: {what} was {old} and is {new}");
                return Err(self.wrong(problem, elsewhere()));
            }
        }
        for ([name, old_method, old_settings, _], [_, method, settings, _]) in
            pairs(&old.methods, &new.methods)
        {
            if old_method != method {
                let problem = format!(
                    "results of another protocol: {name:?} was {old_method} and is {method}"
                );
                return Err(self.wrong(problem, elsewhere()));
            }
            if let Some((what, old, new)) = first_difference(old_settings, settings) {
                let problem = format!(
                    "results of another protocol: {what} of {name:?} was {old} and is {new}"
                );
                return Err(self.wrong(problem, elsewhere()));
            }
        }
        for ([name, old_reading, old], [_, reading, checksum]) in pairs(&old.sets, &new.sets) {
            if old_reading != reading {
                let of = |reading: &str| match reading {
                    "" => "as it is".into(),
                    reading => format!("with {reading}"),
                };
                let problem = format!(
                    "results of another protocol: set {name:?} was read {} and is read {}",
                    of(old_reading),
                    of(reading)
                );
                return Err(self.wrong(problem, elsewhere()));
            }
            if old != checksum {
                let problem = format!("the data of set {name:?} changed since the study began");
                return Err(self
                    .wrong(problem, "put the old file back, or name the new one as another set"));
            }
        }
        Ok(())
    }

    /// Notes what more these results are of, and refuses what does not belong to them.
    pub(super) fn join(&self, new: &Heading) -> Result<()> {
        self.check(new)?;
        let old = self.heading()?;
        if let Some(old) = &old {
            for ([_, method, _, before], [.., now]) in pairs(&old.methods, &new.methods) {
                if before != now {
                    let problem = format!(
                        "results of a version of labelchain ({}) that computes {method} differently",
                        old.version
                    );
                    let remedy =
                        "numbers of two programs do not mix: use that version, or another ";
                    return Err(self.wrong(problem, Remedy::from(remedy).setting("results")));
                }
            }
        }
        match old {
            Some(_) => self.execute("UPDATE study SET protocol = ?", params![new.protocol])?,
            None => self.execute(
                "INSERT INTO study VALUES (?, ?, ?, ?, ?)",
                params![new.version, new.seed, new.n_folds, new.stratify, new.protocol],
            )?,
        }
        for row in &new.sets {
            self.execute("INSERT OR IGNORE INTO sets VALUES (?, ?, ?)", params_from_iter(row))?;
        }
        for row in &new.methods {
            self.execute(
                "INSERT OR IGNORE INTO methods VALUES (?, ?, ?, ?)",
                params_from_iter(row),
            )?;
        }
        Ok(())
    }

    /// All cells there are. One that does not say what was written, or cannot be true, is an error.
    pub(super) fn cells(&self) -> Result<Vec<Cell>> {
        let losses: Vec<&str> = Criterion::ALL.iter().map(|of| of.key()).collect();
        let query = format!(
            "SELECT rowid, checksum, dataset, method, fold, error, cpu_seconds, peak_memory, {}
             FROM cells ORDER BY dataset, method, fold",
            losses.join(", ")
        );
        let cell = |row: &Row| {
            let mut losses = [None; 11];
            for (at, loss) in losses.iter_mut().enumerate() {
                *loss = row.get(8 + at)?;
            }
            Ok(Cell {
                dataset: row.get(2)?,
                method: row.get(3)?,
                fold: row.get(4)?,
                outcome: row.get::<_, Option<String>>(5)?.map_or(Ok(losses), Err),
                cpu_seconds: row.get(6)?,
                peak_memory: row.get(7)?,
            })
        };
        let rows = self.rows(&query, |row| {
            let checksum: rusqlite::Result<String> = row.get(1);
            Ok((row.get::<_, i64>(0)?, cell(row).and_then(|cell| Ok((cell, checksum?)))))
        })?;
        let n_folds = self.heading()?.map_or(i64::MAX, |heading| heading.n_folds);
        let sound = |(id, read): (i64, rusqlite::Result<(Cell, String)>)| {
            let (cell, checksum) =
                read.map_err(|error| self.damaged(id, format!("cell {id} is damaged: {error}")))?;
            let problem = match cell.checksum() {
                Ok(expected) if expected == checksum => cell.impossible(n_folds),
                _ => Some("it does not have its checksum".into()),
            };
            let Cell { dataset, method, fold, .. } = &cell;
            match problem {
                None => Ok(cell),
                Some(problem) => Err(self.damaged(
                    id,
                    format!(
                        "the cell of {method} on {dataset}, fold {fold}, is damaged: {problem}"
                    ),
                )),
            }
        };
        rows.into_iter().map(sound).collect()
    }

    fn damaged(&self, id: i64, problem: String) -> Error {
        let delete = format!(
            "restore a copy; or delete the cell, DELETE FROM cells WHERE rowid = {id} in sqlite3, and "
        );
        self.wrong(problem, Remedy::from(delete).task(Task::RunStudy).text(" computes it again"))
    }

    /// The cells being computed, if a run is at work.
    pub(super) fn running(&self) -> Result<Vec<Key>> {
        let patience =
            |time| self.connection.busy_timeout(time).map_err(|error| self.refused(error));
        patience(Duration::ZERO)?;
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        patience(PATIENCE)?;
        match begun.map_err(|error| self.refused(error)) {
            Ok(()) => {
                self.run("ROLLBACK")?;
                return Ok(Vec::new());
            }
            // Somebody is writing; a file that may only be read has nobody who writes from here.
            Err(Error::Locked { .. }) => {}
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        }
        let of = |row: &Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        self.rows("SELECT dataset, method, fold FROM running", of)
    }

    /// Notes that cells are being computed.
    pub(super) fn start(&self, keys: &[Key]) -> Result<()> {
        for key in keys {
            let row = params![key.0, key.1, key.2];
            self.execute("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", row)?;
        }
        Ok(())
    }

    /// Writes a cell over an earlier one of the same place.
    pub(super) fn write(&self, cell: &Cell) -> Result<()> {
        let (losses, error) = match &cell.outcome {
            Ok(losses) => (*losses, None),
            Err(error) => ([None; 11], Some(error)),
        };
        let columns: Vec<&str> = Criterion::ALL.iter().map(|of| of.key()).collect();
        let or_null = |number: Option<f64>| number.map_or(Value::Null, Value::Real);
        let key: [Value; 3] =
            [cell.dataset.clone().into(), cell.method.clone().into(), (cell.fold as i64).into()];
        let checksum =
            cell.checksum().map_err(|error| Error::io(&self.path, io::Error::other(error)))?;
        let rest = [
            error.map_or(Value::Null, |error| error.clone().into()),
            cell.cpu_seconds.into(),
            cell.peak_memory.map_or(Value::Null, |bytes| (bytes as i64).into()),
            checksum.into(),
        ];
        let values: Vec<Value> =
            key.iter().cloned().chain(losses.map(or_null)).chain(rest).collect();
        let query = format!(
            "INSERT OR REPLACE INTO cells
             (dataset, method, fold, {}, error, cpu_seconds, peak_memory, checksum) VALUES ({})",
            columns.join(", "),
            vec!["?"; values.len()].join(", ")
        );
        self.execute(&query, params_from_iter(values))?;
        let done = "DELETE FROM running WHERE dataset = ? AND method = ? AND fold = ?";
        self.execute(done, params_from_iter(key))
    }

    /// Makes everything written so far last, and keeps the right to write.
    pub(super) fn commit(&self) -> Result<()> {
        self.run("COMMIT; BEGIN IMMEDIATE")
    }

    /// Gives up the right to write.
    pub(super) fn close(self) -> Result<()> {
        self.run("COMMIT")
    }

    pub(super) fn wrong(&self, problem: impl Into<String>, remedy: impl Into<Remedy>) -> Error {
        Error::Results { path: self.path.clone(), problem: problem.into(), remedy: remedy.into() }
    }

    fn refused(&self, error: rusqlite::Error) -> Error {
        refused(&self.path, error)
    }

    fn run(&self, statements: &str) -> Result<()> {
        self.connection.execute_batch(statements).map_err(|error| self.refused(error))
    }

    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<()> {
        let prepared = self.connection.prepare_cached(statement);
        prepared
            .and_then(|mut prepared| prepared.execute(values))
            .map(|_| ())
            .map_err(|error| self.refused(error))
    }

    fn number(&self, query: &str) -> Result<i64> {
        self.connection.query_row(query, [], |row| row.get(0)).map_err(|error| self.refused(error))
    }

    fn rows<T>(&self, query: &str, of: impl Fn(&Row) -> rusqlite::Result<T>) -> Result<Vec<T>> {
        let read = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(query)?;
            statement.query_map([], |row| of(row))?.collect()
        };
        read().map_err(|error| self.refused(error))
    }
}

/// Rows of one name in both.
fn pairs<'r, const N: usize>(
    old: &'r [[String; N]],
    new: &'r [[String; N]],
) -> impl Iterator<Item = (&'r [String; N], &'r [String; N])> {
    new.iter().filter_map(|new| Some((old.iter().find(|old| old[0] == new[0])?, new)))
}

/// The first setting in which two differ: its name and both values.
fn first_difference(old: &str, new: &str) -> Option<(String, String, String)> {
    if old == new {
        return None;
    }
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    let (old, new) = (leaves("settings", parse(old)), leaves("settings", parse(new)));
    let value = |of: &[(String, String)], name: &str| {
        of.iter()
            .find(|(known, _)| known == name)
            .map_or("not set".into(), |(_, value)| value.clone())
    };
    let mut names = new.iter().chain(&old).map(|(name, _)| name);
    let name = names.find(|name| value(&old, name) != value(&new, name))?;
    Some((name.clone(), value(&old, name), value(&new, name)))
}

/// Every value in a JSON object, by its own name.
fn leaves(name: &str, value: serde_json::Value) -> Vec<(String, String)> {
    match value {
        serde_json::Value::Object(entries) => {
            entries.into_iter().flat_map(|(name, value)| leaves(&name, value)).collect()
        }
        serde_json::Value::Null => vec![(name.into(), "auto or none".into())],
        value => vec![(name.into(), value.to_string())],
    }
}

/// Refuses what is no plain file. SQLite takes some names for something else: none for a file that is
/// deleted at the end, `:memory:` for no file at all, and what begins with `file:` for an address.
fn check_path(path: &Path) -> Result<()> {
    let wrong = |problem: &str, remedy: &'static str| {
        Err(Error::Results { path: path.into(), problem: problem.into(), remedy: remedy.into() })
    };
    let name = path.as_os_str().as_encoded_bytes();
    if name.is_empty() || name == b":memory:" || name.starts_with(b"file:") {
        let remedy = "name a file; if it really is called so, put ./ before the name";
        return wrong("SQLite would not take this for the name of a file", remedy);
    }
    match path.symlink_metadata().map(|found| found.file_type()) {
        Ok(found) if found.is_symlink() => {
            wrong("a link, not a file of results", "name the file that it leads to")
        }
        Ok(found) if found.is_dir() => {
            wrong("a directory, not a file of results", "name a file in it")
        }
        Ok(found) if !found.is_file() => wrong("not a file that can be kept", "name another file"),
        _ => Ok(()),
    }
}

fn written_by_run() -> Remedy {
    Remedy::default().task(Task::RunStudy).text(" writes them")
}

fn refused(path: &Path, error: rusqlite::Error) -> Error {
    let wrong = |problem: &str, remedy| Error::Results {
        path: path.into(),
        problem: problem.into(),
        remedy,
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Locked { path: path.into() }
        }
        Some(ErrorCode::DiskFull) => Error::io(path, io::ErrorKind::StorageFull.into()),
        Some(ErrorCode::ReadOnly) => Error::io(path, io::ErrorKind::PermissionDenied.into()),
        Some(ErrorCode::NotADatabase) => wrong("not results of a study", written_by_run()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::TypeMismatch) => wrong(
            "the results are damaged",
            "restore a copy; sqlite3's .recover may save cells".into(),
        ),
        // SQLite does not say why; the system does. A file that is not there could not be made.
        Some(ErrorCode::CannotOpen) => {
            let could_be = directory_of(path).is_dir();
            let why = match std::fs::File::open(path).err() {
                Some(why) if could_be && why.kind() == io::ErrorKind::NotFound => {
                    io::ErrorKind::PermissionDenied.into()
                }
                why => why.unwrap_or_else(|| io::Error::other(error)),
            };
            Error::io(path, why)
        }
        Some(_) => Error::io(path, io::Error::other(error)),
        // Not SQLite's, but about what stands in the file.
        None => wrong(
            "the results are damaged",
            "restore a copy; sqlite3's .recover may save cells".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol() -> Protocol {
        let text = "sets = [\"a.csv\"]\nmethods = [\"ecc-nb\"]\n";
        Protocol::parse("p.toml".as_ref(), text, None).unwrap()
    }

    fn cell(fold: usize, outcome: Result<[Option<f64>; 11], String>) -> Cell {
        Cell {
            dataset: "a".into(),
            method: "ecc-nb".into(),
            fold,
            outcome,
            cpu_seconds: 0.5,
            peak_memory: Some(1 << 40),
        }
    }

    #[test]
    fn cells_read_back_to_the_bit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        let mut losses = [Some(1.0 / 3.0); 11];
        losses[3] = None;
        losses[4] = Some(f64::MIN_POSITIVE);
        let cells = [cell(0, Ok(losses)), cell(1, Err("too few rows".into()))];
        let ledger = Ledger::lock(&path).unwrap();
        ledger.join(&Heading::of(&protocol(), &HashMap::new())).unwrap();
        cells.iter().for_each(|cell| ledger.write(cell).unwrap());
        ledger.close().unwrap();
        assert_eq!(Ledger::look(&path).unwrap().unwrap().cells().unwrap(), cells);
    }

    /// Three cells in a file, which is changed with SQL behind the program's back; the error.
    fn tampered(statement: &str) -> Error {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        let ledger = Ledger::lock(&path).unwrap();
        ledger.join(&Heading::of(&protocol(), &HashMap::new())).unwrap();
        for cell in
            [cell(0, Ok([Some(0.5); 11])), cell(1, Err("x".into())), cell(2, Ok([None; 11]))]
        {
            ledger.write(&cell).unwrap();
        }
        ledger.close().unwrap();
        Connection::open(&path).unwrap().execute_batch(statement).unwrap();
        Ledger::look(&path).unwrap().unwrap().cells().unwrap_err()
    }

    #[test]
    fn a_cell_that_was_changed_is_refused_by_name() {
        for change in [
            "hamming = 0.25",
            "hamming = NULL",
            "dataset = 'b'",
            "fold = 7",
            "error = 'y', hamming = NULL",
            "cpu_seconds = 1",
            "peak_memory = NULL",
            "checksum = ''",
        ] {
            let error = tampered(&format!("UPDATE cells SET {change} WHERE fold = 0"));
            let text = error.to_string();
            let is_named = text.contains("the cell of ecc-nb on ") && text.contains(", fold ");
            assert!(
                is_named && text.ends_with("it does not have its checksum"),
                "{change}: {text}"
            );
            let remedy = error.remedy().unwrap().to_string();
            assert!(remedy.contains("DELETE FROM cells WHERE rowid = 1 "), "{remedy}");
        }
        for change in ["fold = -1", "hamming = 'x'", "cpu_seconds = 'x'", "peak_memory = -1"] {
            let text = tampered(&format!("UPDATE cells SET {change} WHERE fold = 0")).to_string();
            assert!(text.contains("cell 1 is damaged: "), "{change}: {text}");
        }
    }

    #[test]
    fn a_cell_that_cannot_be_true_is_refused_though_its_checksum_fits() {
        let mut losses = [Some(0.5); 11];
        losses[0] = Some(1.5);
        let sound = || cell(0, Ok([Some(0.5); 11]));
        for (cell, problem) in [
            (cell(0, Ok(losses)), "its hamming loss is 1.5, not between 0 and 1"),
            (cell(10, Ok([None; 11])), "the study has 10 folds"),
            (Cell { cpu_seconds: -1.0, ..sound() }, "it took -1.0 seconds"),
            (Cell { cpu_seconds: f64::INFINITY, ..sound() }, "it took inf seconds"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let ledger = Ledger::lock(&directory.path().join("r.db")).unwrap();
            ledger.join(&Heading::of(&protocol(), &HashMap::new())).unwrap();
            ledger.write(&cell).unwrap();
            let error = ledger.cells().unwrap_err().to_string();
            assert!(error.ends_with(&format!(", is damaged: {problem}")), "{error}");
        }
    }

    #[test]
    fn results_without_checksums_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        Ledger::lock(&path).unwrap().close().unwrap();
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
        for error in [Ledger::look(&path).err(), Ledger::lock(&path).err()] {
            let error = error.unwrap().to_string();
            assert!(error.ends_with("results in format 2, this program reads 3"), "{error}");
        }
    }

    #[test]
    fn what_is_no_plain_file_is_neither_opened_nor_made() {
        let directory = tempfile::tempdir().unwrap();
        let here = |name: &str| directory.path().join(name);
        Ledger::lock(&here("r.db")).unwrap().close().unwrap();
        #[allow(unused_mut)]
        let mut paths: Vec<PathBuf> =
            ["", ":memory:", "file:r.db", "file::memory:"].map(PathBuf::from).into();
        paths.push(directory.path().into());
        #[cfg(unix)]
        for (name, target) in [("link.db", "r.db"), ("dangling.db", "nothing.db")] {
            std::os::unix::fs::symlink(here(target), here(name)).unwrap();
            paths.push(here(name));
        }
        for path in paths {
            for error in [Ledger::look(&path).err(), Ledger::lock(&path).err()] {
                assert!(matches!(error, Some(Error::Results { .. })), "{path:?}: {error:?}");
            }
            assert!(super::super::merge(&path, &[here("r.db")]).is_err());
        }
        assert!(!here("nothing.db").exists());
        #[cfg(unix)]
        assert!(here("dangling.db").is_symlink());
        // Behind a directory, these are names of files like any other.
        Ledger::lock(&here(":memory:")).unwrap().close().unwrap();
        assert!(here(":memory:").is_file());
    }

    #[test]
    fn what_was_not_committed_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        let ledger = Ledger::lock(&path).unwrap();
        ledger.write(&cell(0, Ok([None; 11]))).unwrap();
        ledger.commit().unwrap();
        ledger.write(&cell(1, Ok([None; 11]))).unwrap();
        drop(ledger);
        assert_eq!(Ledger::look(&path).unwrap().unwrap().cells().unwrap().len(), 1);
    }

    #[test]
    fn a_full_disk_loses_nothing_that_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        let ledger = Ledger::lock(&path).unwrap();
        ledger.write(&cell(0, Ok([None; 11]))).unwrap();
        ledger.commit().unwrap();
        // SQLite's own limit gives what a full disk gives.
        let pages = ledger.number("PRAGMA page_count").unwrap();
        ledger.number(&format!("PRAGMA max_page_count = {pages}")).unwrap();
        let error = ledger.write(&cell(1, Err("x".repeat(1 << 16)))).unwrap_err();
        assert!(
            matches!(&error, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull),
            "{error}"
        );
        drop(ledger);
        assert_eq!(Ledger::look(&path).unwrap().unwrap().cells().unwrap().len(), 1);
    }

    #[test]
    fn results_that_are_computed_differently_are_not_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.db");
        let ledger = Ledger::lock(&path).unwrap();
        let new = || Heading::of(&protocol(), &HashMap::new());
        let mut old = Heading { version: "0.0.9".into(), ..new() };
        old.methods[0][3] = "0123".into();
        let method = old.methods[0][1].clone();
        ledger.join(&old).unwrap();
        let error = ledger.join(&new()).unwrap_err();
        let problem = format!(
            "results of a version of labelchain (0.0.9) that computes {method} differently"
        );
        assert_eq!(error.to_string(), format!("{}: {problem}", path.display()));
        // To look at them is another matter.
        ledger.check(&new()).unwrap();
    }

    #[test]
    fn results_of_another_version_that_computes_the_same_are_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::lock(&directory.path().join("r.db")).unwrap();
        let new = || Heading::of(&protocol(), &HashMap::new());
        ledger.join(&Heading { version: "0.0.9".into(), ..new() }).unwrap();
        ledger.join(&new()).unwrap();
    }
}
