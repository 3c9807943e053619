//! The one public error: every message names the place, what was found, what was expected and,
//! where there is one, the remedy.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What every fallible function of this library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done, written for the person who will read it.
///
/// [`Error::kind`] is what a caller can act on. [`Error::remedy`] is what to do about it, kept apart
/// so that a program can show it on a line of its own and in its own words.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused to open, read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The content of a file is not what its format demands.
    #[error("{0}")]
    Content(Box<ContentError>),

    /// A pipe or device where a file is needed.
    #[error("{}: is a pipe or a device, not a file", path.display())]
    NotAFile {
        /// What was to be read.
        path: PathBuf,
    },

    /// A file whose name does not say which format it has.
    #[error("{}: cannot tell the format from the name", path.display())]
    UnknownFormat {
        /// The file concerned.
        path: PathBuf,
    },

    /// None of the ways of naming labels applies.
    #[error("{}: no labels found: {reason}", path.display())]
    NoLabels {
        /// The file concerned.
        path: PathBuf,
        /// What was looked for and not found.
        reason: String,
    },

    /// A label, tag column or group column that the data does not have.
    #[error("{}: no {role} {name:?} among the {columns}{}", path.display(), did_you_mean(nearest))]
    UnknownColumn {
        /// The file that lacks it.
        path: PathBuf,
        /// What the name was given for: "label", "tag column", …
        role: &'static str,
        /// The name asked for.
        name: String,
        /// How many columns there are, and, where no name is similar, what they are called.
        columns: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },

    /// A name that none of the paper's data sets has.
    #[error("no data set of the paper is called {name:?}{}", did_you_mean(nearest))]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },

    /// Two columns of one name: nothing could be said about either by name.
    #[error("{}: column name {name:?} occurs {} times (columns {})", path.display(), positions.len(), list(positions))]
    RepeatedColumn {
        /// The file concerned.
        path: PathBuf,
        /// The repeated name.
        name: String,
        /// One-based positions.
        positions: Vec<usize>,
    },

    /// Reading would need more memory than allowed.
    #[error("{}: {what} needs more than the {} allowed", path.display(), bytes_in_words(*limit))]
    TooLarge {
        /// The file concerned.
        path: PathBuf,
        /// What grew too large, and where.
        what: String,
        /// About how many bytes it takes, where that is known.
        needed: Option<u64>,
        /// The limit in bytes.
        limit: u64,
    },

    /// A number that cannot be computed with.
    #[error("{name}, row {row}, column {column:?}: expected {expected}, found {found:?}")]
    Cell {
        /// The data set.
        name: String,
        /// The row, the first being 0.
        row: usize,
        /// The column's name.
        column: String,
        /// What stands there.
        found: f64,
        /// What should stand there.
        expected: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },

    /// A loss that cannot stand in a table of results.
    #[error("the loss of {of} {problem}")]
    Measurement {
        /// Method, data set, criterion and fold.
        of: String,
        /// What is wrong with it.
        problem: String,
    },

    /// Results that do not allow a comparison.
    #[error("{problem}")]
    Comparison {
        /// What is missing, and where.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },

    /// Two things that belong together have different sizes.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// The size the first has.
        expected: usize,
        /// The size the second has.
        found: usize,
    },

    /// A value that a setting does not accept.
    #[error("{name} is {value}, but must be {accepted}")]
    Value {
        /// The setting's name.
        name: Cow<'static, str>,
        /// The value given.
        value: String,
        /// What would be accepted.
        accepted: String,
    },

    /// A name that nothing has.
    #[error("no {what} is called {name:?}{}", did_you_mean(nearest))]
    UnknownName {
        /// What the name was given for.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },

    /// A name that no method has.
    #[error(
        "method is {name:?}, but must be a strategy ({strategies}) and a base ({bases}), such as \
             dynamic-nb{}",
        did_you_mean(nearest)
    )]
    UnknownMethod {
        /// The name.
        name: String,
        /// The strategies there are.
        strategies: String,
        /// The bases there are.
        bases: String,
        /// The most similar method there is.
        nearest: Option<String>,
    },

    /// A setting that would change nothing.
    #[error("{name} makes no difference to {methods}")]
    UnusedSetting {
        /// The setting's name.
        name: String,
        /// The methods that do not use it.
        methods: String,
    },

    /// A method of several aims whose training failed.
    #[error("{method} could not be trained; its first aim has the reason")]
    NotTrained {
        /// The method without an aim.
        method: String,
    },

    /// A model that cannot learn from further rows.
    #[error("{problem}")]
    CannotUpdate {
        /// What it lacks.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },

    /// Something that is learned from training rows that members have not seen, of which there were none.
    #[error(
        "{what} cannot be had: it is learned from training rows that a member has not seen, and every member has seen all of them, or the model was trained a few columns at a time"
    )]
    Uncalibrated {
        /// What was asked for.
        what: String,
    },

    /// A setting outside its range.
    #[error("{name} is {value}, but must be {accepted}")]
    Setting {
        /// The setting's name, as the user knows it.
        name: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        accepted: &'static str,
    },

    /// Something cannot be said in the format that was asked for.
    #[error("{}: {what}", path.display())]
    CannotWrite {
        /// The file that was to be written.
        path: PathBuf,
        /// What the format has no way to say.
        what: String,
        /// What to do instead.
        remedy: Remedy,
    },

    /// A bag of instances that cannot be made into a single row.
    #[error("{name}, bag {bag}: {problem}")]
    Bag {
        /// The data set.
        name: String,
        /// The bag, the first being 0.
        bag: usize,
        /// What is wrong with it.
        problem: String,
        /// What to do instead.
        remedy: Remedy,
    },

    /// Multi-instance data where single rows are needed.
    #[error("{name} holds bags of instances, not single rows")]
    NotRows {
        /// The data set.
        name: String,
    },

    /// The columns of a file do not fit a model.
    #[error("{}: {problem}", path.display())]
    Columns {
        /// The file concerned.
        path: PathBuf,
        /// Which columns, and what is wrong with them.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },

    /// A file that is no model, or not one this program can read.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file concerned.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },

    /// Results of a study that are not what they should be.
    #[error("{}: {problem}", path.display())]
    Results {
        /// The file concerned.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        remedy: Remedy,
    },

    /// Results that somebody else is adding to.
    #[error("{}: another run is using it", path.display())]
    Locked {
        /// The file concerned.
        path: PathBuf,
    },

    /// A set, method or fold that a protocol does not have.
    #[error("{role} {name:?} is not in the protocol{}", did_you_mean(nearest))]
    NotInProtocol {
        /// What the name was given for.
        role: &'static str,
        /// The name asked for.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },

    /// A label order that does not name each label once.
    #[error("order is not a permutation of {n_labels} labels: label {label} {problem}")]
    NotAPermutation {
        /// How many labels there are.
        n_labels: usize,
        /// The label concerned.
        label: usize,
        /// What is wrong with it.
        problem: &'static str,
    },

    /// Fewer rows than the request needs.
    #[error("{purpose} needs at least {needed} rows; {found} given")]
    TooFewRows {
        /// How many would do.
        needed: usize,
        /// How many there are.
        found: usize,
        /// What they are needed for.
        purpose: String,
    },

    /// The caller wished the work to stop.
    #[error("cancelled")]
    Cancelled,
}

/// What sort of thing went wrong, for callers that act on it: an exit status, an exception's type,
/// whether to try again.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The operating system refused to open, read or write.
    System,
    /// The content of a file is wrong.
    Content,
    /// A setting or a name is wrong, or settings that do not go together.
    Request,
    /// The data do not fit the request: too few rows, columns that a model does not know.
    Data,
    /// More memory is needed than allowed.
    Limit,
    /// Somebody else is using the file; it may be free later.
    Busy,
    /// The caller wished the work to stop.
    Cancelled,
}

/// What to do about an error, as a sentence in [parts](Part).
///
/// The library knows settings and tasks, but not how they are typed: the program says
/// `--missing-labels drop` where Python says `missing_labels="drop"`. A front end goes through
/// [`Remedy::parts`] and puts each into its own words; the [`Display`](fmt::Display) of a remedy is
/// for those who call this library from Rust.
///
/// ```
/// use labelchain::data::{ReadOptions, parse};
/// use labelchain::error::Part;
///
/// let options = ReadOptions::default();
/// let error = parse("t.csv".as_ref(), b"x,x\n1,0\n", &options).unwrap_err();
/// let remedy = error.remedy().unwrap();
/// assert_eq!(remedy.to_string(), "`dedupe` reads them as x, x.2, x.3, …");
/// assert_eq!(remedy.parts()[0], Part::Setting { name: "dedupe", value: None });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedy {
    parts: Vec<Part>,
}

/// A part of a [`Remedy`].
///
/// The list of variants is complete, so that the compiler tells a front end what it has no words
/// for yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words that need no translation.
    Text(Cow<'static, str>),
    /// A setting.
    Setting {
        /// Its name, with hyphens between words.
        name: &'static str,
        /// The value to give it; none where only the setting is meant.
        value: Option<Cow<'static, str>>,
    },
    /// Something that this library does.
    Task(Task),
}

/// What this library does, where a [`Remedy`] says to have it done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Lists the paper's data sets.
    ListDatasets,
    /// Makes single rows of bags of instances; the plural of a subject.
    ReduceBags,
    /// Computes the cells of a study, and writes its results.
    RunStudy,
    /// Makes one file of results of the parts of a study.
    MergeResults,
    /// Trains a model and writes its file.
    SaveModel,
}

impl Remedy {
    /// The parts, in the order in which they are said.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The sentence so far, then words.
    pub(crate) fn text(mut self, text: impl Into<Cow<'static, str>>) -> Remedy {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// The sentence so far, then a setting's name.
    pub(crate) fn setting(mut self, name: &'static str) -> Remedy {
        self.parts.push(Part::Setting { name, value: None });
        self
    }

    /// The sentence so far, then a setting with a value.
    pub(crate) fn set(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Remedy {
        self.parts.push(Part::Setting { name, value: Some(value.into()) });
        self
    }

    /// The sentence so far, then a task.
    pub(crate) fn task(mut self, task: Task) -> Remedy {
        self.parts.push(Part::Task(task));
        self
    }

    /// This remedy; if that does not help, the other.
    pub(crate) fn otherwise(self, other: Remedy) -> Remedy {
        let mut remedy = self.text(". Otherwise: ");
        remedy.parts.extend(other.parts);
        remedy
    }
}

impl From<&'static str> for Remedy {
    fn from(text: &'static str) -> Remedy {
        Remedy::default().text(text)
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Remedy {
        Remedy::default().text(text)
    }
}

/// In the words of this library's documentation.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Setting { name, value } => {
                    // As fields are spelt in Rust, and arguments in Python.
                    let name = name.replace('-', "_");
                    match value {
                        Some(value) => write!(f, "`{name} = {value}`")?,
                        None => write!(f, "`{name}`")?,
                    }
                }
                Part::Task(task) => f.write_str(match task {
                    Task::ListDatasets => "`PaperSet::ALL`",
                    Task::ReduceBags => "`BagReduction::fit` and `BagTransform::apply`",
                    Task::RunStudy => "`study::run`",
                    Task::MergeResults => "`study::merge`",
                    Task::SaveModel => "`Model::save`",
                })?,
            }
        }
        Ok(())
    }
}

/// A place in a text file and what was wrong there.
#[derive(Debug)]
pub struct ContentError {
    /// The file.
    pub path: PathBuf,
    /// One-based line; 0 where the format has no lines.
    pub line: u64,
    /// One-based column in characters; 0 where the whole line is meant.
    pub column: u64,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
    /// The remedy, where there is one.
    pub help: Option<Remedy>,
    /// The surroundings, with the byte offset of the fault in them.
    pub excerpt: Option<(String, usize)>,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ", column {}", self.column)?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl Error {
    /// What sort of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Io { .. } => ErrorKind::System,
            Error::Content(_)
            | Error::RepeatedColumn { .. }
            | Error::Model { .. }
            | Error::Results { .. } => ErrorKind::Content,
            Error::NotAFile { .. }
            | Error::UnknownFormat { .. }
            | Error::NoLabels { .. }
            | Error::UnknownColumn { .. }
            | Error::UnknownDataset { .. }
            | Error::Setting { .. }
            | Error::Value { .. }
            | Error::UnknownName { .. }
            | Error::UnknownMethod { .. }
            | Error::UnusedSetting { .. }
            | Error::Uncalibrated { .. }
            | Error::NotTrained { .. }
            | Error::CannotUpdate { .. }
            | Error::CannotWrite { .. }
            | Error::NotInProtocol { .. }
            | Error::NotAPermutation { .. } => ErrorKind::Request,
            Error::Cell { .. }
            | Error::Measurement { .. }
            | Error::Comparison { .. }
            | Error::Shape { .. }
            | Error::Bag { .. }
            | Error::NotRows { .. }
            | Error::Columns { .. }
            | Error::TooFewRows { .. } => ErrorKind::Data,
            Error::TooLarge { .. } => ErrorKind::Limit,
            Error::Locked { .. } => ErrorKind::Busy,
            Error::Cancelled => ErrorKind::Cancelled,
        }
    }

    /// What to do about it, where this library knows.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            // Said by the system, not by a server.
            Error::Io { path, source }
                if source.kind() == io::ErrorKind::NotFound && source.raw_os_error().is_some() =>
            {
                similar_path(path).map(Remedy::from)
            }
            Error::Content(content) => content.help.clone(),
            Error::NotAFile { .. } => Some(
                "it could be read only once: save what it gives to a file, and name that".into(),
            ),
            Error::UnknownFormat { .. } => Some(
                Remedy::from(
                    "name it .arff, .csv, .tsv, .jsonl, .parquet, .svm or .libsvm, each also with \
                     .gz or .bz2, or say what it is: ",
                )
                .set("format", "csv"),
            ),
            Error::NoLabels { .. } => Some(
                Remedy::from("say which columns are labels: ")
                    .set("labels", "a,b,c")
                    .text(" · ")
                    .set("labels-first", "N")
                    .text(" · ")
                    .set("labels-last", "N")
                    .text(" · ")
                    .set("labels-xml", "FILE")
                    .text(
                        " · an XML file beside the data with the same stem · \
                         \"-C n\" in an ARFF relation name · ",
                    )
                    .set("tags", "COLUMN")
                    .text(" for one column of delimited tags"),
            ),
            Error::UnusedSetting { .. } => {
                Some("leave it out; each setting says which methods it is for".into())
            }
            Error::Uncalibrated { .. } => Some(
                Remedy::from("train again with a smaller ")
                    .setting("sample")
                    .text(", or with a greater ")
                    .setting("max-memory")
                    .text(" where columns were read a few at a time; or aim at votes"),
            ),
            Error::RepeatedColumn { name, .. } => Some(
                Remedy::default()
                    .setting("dedupe")
                    .text(format!(" reads them as {name}, {name}.2, {name}.3, …")),
            ),
            Error::TooLarge { limit, needed, .. } => {
                let typed = |n: u64| bytes_in_words(n).replace(" bytes", "").replace(' ', "");
                let more = match needed {
                    // Somewhat more, for there may be more to come.
                    Some(needed) => format!("try {}", typed(needed.saturating_add(needed / 4))),
                    None => format!("twice as much is {}", typed(limit.saturating_mul(2))),
                };
                let raises = Remedy::default().setting("max-memory");
                Some(raises.text(format!(" raises the limit: {more}")))
            }
            Error::NotRows { .. } => Some(
                Remedy::default()
                    .task(Task::ReduceBags)
                    .text(" make single rows of bags: ")
                    .set("bags", "medoids")
                    .text(" or ")
                    .set("bags", "concat"),
            ),
            Error::UnknownDataset { .. } => {
                Some(Remedy::default().task(Task::ListDatasets).text(" lists all thirty"))
            }
            Error::Cell { remedy, .. } => Some((*remedy).into()),
            Error::Bag { remedy, .. }
            | Error::Columns { remedy, .. }
            | Error::Model { remedy, .. }
            | Error::Comparison { remedy, .. }
            | Error::CannotUpdate { remedy, .. }
            | Error::Results { remedy, .. }
            | Error::CannotWrite { remedy, .. } => Some(remedy.clone()),
            Error::Locked { .. } => Some(
                Remedy::from("wait for it to end, or share the work: ")
                    .set("shard", "1/2")
                    .text(" and 2/2, each with ")
                    .setting("results")
                    .text(" of its own, then ")
                    .task(Task::MergeResults),
            ),
            _ => None,
        }
    }

    /// The same error about rows that were read or selected from more: a cell or bag is named by its
    /// place in the whole, where somebody can find it.
    pub fn in_whole(self, whole: impl Into<String>, row: impl FnOnce(usize) -> usize) -> Error {
        match self {
            Error::Cell { row: at, column, found, expected, remedy, .. } => {
                Error::Cell { name: whole.into(), row: row(at), column, found, expected, remedy }
            }
            Error::Bag { bag, problem, remedy, .. } => {
                Error::Bag { name: whole.into(), bag: row(bag), problem, remedy }
            }
            other => other,
        }
    }

    /// Two things that belong together must have one size.
    pub(crate) fn unless_same(what: &'static str, expected: usize, found: usize) -> Result<()> {
        if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
    }

    /// The system has less memory than was allowed.
    pub(crate) fn out_of_memory(path: impl Into<PathBuf>) -> Error {
        Error::io(path, io::ErrorKind::OutOfMemory.into())
    }

    pub(crate) fn io(path: impl Into<PathBuf>, source: io::Error) -> Error {
        Error::Io { path: path.into(), source }
    }
}

/// What a lock guards, also where a thread panicked while it held it: such a panic is reported by whoever joins the thread, and
/// no lock of this library is held while its content is half changed.
pub(crate) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a path that leads nowhere may have meant.
fn similar_path(path: &Path) -> Option<String> {
    let directory = directory_of(path);
    let Ok(files) = directory.read_dir() else {
        return Some(format!("there is no directory {}", directory.display()));
    };
    let names: Vec<String> =
        files.flatten().filter_map(|file| file.file_name().into_string().ok()).collect();
    let name = nearest(path.file_name()?.to_str()?, &names)?;
    Some(format!("did you mean {}?", path.with_file_name(name).display()))
}

/// Where a file is, or would be.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The most similar of `names`, if any is similar enough to be meant.
pub fn nearest<'n>(name: &str, names: &'n [String]) -> Option<&'n String> {
    // Long names and long lists would make the suggestion cost more than the reading.
    const MOST: usize = 20_000;
    let near =
        |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    names
        .iter()
        .take(MOST)
        .filter(|other| other.len() < 100 && name.len() < 100)
        .map(|other| (near(other), other))
        .filter(|(distance, _)| *distance <= name.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(". Did you mean {name:?}?")).unwrap_or_default()
}

fn list(positions: &[usize]) -> String {
    let shown: Vec<String> = positions.iter().take(5).map(usize::to_string).collect();
    shown.join(", ") + if positions.len() > 5 { ", …" } else { "" }
}

/// A number of bytes as people write it: "1.5 GiB".
pub(crate) fn bytes_in_words(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_the_largest_unit_that_fits() {
        assert_eq!(bytes_in_words(512), "512 bytes");
        assert_eq!(bytes_in_words(1536), "1.5 KiB");
        assert_eq!(bytes_in_words(18 << 30), "18 GiB");
    }

    #[test]
    fn a_remedy_reads_as_a_sentence_about_this_library() {
        let said = |error: Error| error.remedy().unwrap().to_string();
        assert_eq!(
            said(Error::NotRows { name: "x".into() }),
            "`BagReduction::fit` and `BagTransform::apply` make single rows of bags: \
             `bags = medoids` or `bags = concat`"
        );
        assert_eq!(
            said(Error::Locked { path: "p.db".into() }),
            "wait for it to end, or share the work: `shard = 1/2` and 2/2, each with `results` \
             of its own, then `study::merge`"
        );
        let either = Remedy::from("do this").otherwise("do that".into());
        assert_eq!(either.to_string(), "do this. Otherwise: do that");
        assert_eq!(Error::Cancelled.remedy(), None);
    }

    #[test]
    fn a_content_error_reads_as_a_sentence() {
        let error = ContentError {
            path: "emotions.arff".into(),
            line: 83,
            column: 12,
            found: "\"?x\"".into(),
            expected: "a number".into(),
            help: None,
            excerpt: None,
        };
        assert_eq!(
            error.to_string(),
            "emotions.arff, line 83, column 12: expected a number, found \"?x\""
        );
    }
}
