//! Reading: one function for all formats.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use super::bags::Bags;
use super::label_list::LabelChoice;
use super::lines::Encoding;
#[cfg(feature = "parquet")]
use super::parquet;
use super::relevance::Threshold;
use super::{Dataset, Format, Note, arff, csv, file, svmlight};
use crate::error::{Error, Result};

/// How a file is to be read.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `labels` | detect | which columns are labels |
/// | `binarize` | none | turns numeric labels into relevant or irrelevant |
/// | `missing_labels` | refuse | what a missing label means |
/// | `encoding` | UTF-8 | how names and values are spelt |
/// | `dedupe` | false | numbers repeated column names instead of refusing them |
/// | `n_features` | none | SVMLight only: how many features there are, where the largest index does not say |
/// | `max_memory` | unlimited | bytes after which reading is refused |
///
/// ```
/// use labelchain::data::{LabelChoice, ReadOptions, parse};
///
/// let options = ReadOptions { labels: LabelChoice::Last(2), ..ReadOptions::default() };
/// let text = "tempo,calm,sad\n72,1,1\n128,0,0\n";
/// let songs = parse("songs.csv".as_ref(), text.as_bytes(), &options)?.into_rows()?;
/// assert_eq!(songs.label_names(), ["calm", "sad"]);
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Which columns are labels.
    pub labels: LabelChoice,
    /// Turns numeric labels into relevant or irrelevant.
    pub binarize: Option<Threshold>,
    /// What a missing label means.
    pub missing_labels: MissingLabels,
    /// How names and values are spelt.
    pub encoding: Encoding,
    /// Numbers repeated column names instead of refusing them.
    pub dedupe: bool,
    /// SVMLight only: how many features there are, where the largest index does not say.
    pub n_features: Option<usize>,
    /// Bytes after which reading is refused.
    pub max_memory: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            labels: LabelChoice::Detect,
            binarize: None,
            missing_labels: MissingLabels::Refuse,
            encoding: Encoding::Utf8,
            dedupe: false,
            n_features: None,
            max_memory: u64::MAX,
        }
    }
}

/// What a missing label means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingLabels {
    /// An error that says where.
    #[default]
    Refuse,
    /// Irrelevant.
    Irrelevant,
    /// The row is left out.
    Drop,
}

impl MissingLabels {
    /// What was done with the `n` rows that lack a label.
    pub(crate) fn note(self, n: usize) -> Option<Note> {
        let rows = if n == 1 {
            "1 row with a missing label"
        } else {
            &format!("{n} rows with missing labels")
        };
        let what = match self {
            MissingLabels::Drop if n == 1 => "was left out, and later rows moved up",
            MissingLabels::Drop => "were left out, and later rows moved up",
            _ => "read as irrelevant",
        };
        (n > 0).then(|| Note { code: "missing-labels", text: format!("{rows} {what}") })
    }
}

/// What a file held, and what a user should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The data.
    pub table: Table,
    /// What the reader had to decide.
    pub notes: Vec<Note>,
}

/// Single rows or bags of instances.
#[derive(Clone, Debug, PartialEq)]
pub enum Table {
    /// Each row is one instance.
    Rows(Dataset),
    /// Each row is a bag of instances.
    Bags(Bags),
}

/// Reads a data file in the format that its name promises.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Reading> {
    if path.is_dir() {
        return Err(Error::io(path, std::io::ErrorKind::IsADirectory.into()));
    }
    match Format::of(path)? {
        Format::Arff => arff::read(path, file::open(path)?, options),
        Format::Csv => csv::read(path, b',', || file::open(path), options),
        Format::Tsv => csv::read(path, b'\t', || file::open(path), options),
        Format::SvmLight => svmlight::read(path, file::open(path)?, options),
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            parquet::read(path, file::open_to_seek(path, options.max_memory)?, options)
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(Error::UnknownFormat { path: path.into() }),
    }
}

/// Reads text that stands in memory as if it were the file `path`, which need not exist.
pub fn parse(path: &Path, text: &[u8], options: &ReadOptions) -> Result<Reading> {
    let open = || Ok(Box::new(text) as Box<dyn Read + '_>);
    match Format::of(path)? {
        Format::Arff => arff::read(path, text, options),
        Format::Csv => csv::read(path, b',', open, options),
        Format::Tsv => csv::read(path, b'\t', open, options),
        Format::SvmLight => svmlight::read(path, text, options),
        Format::Parquet => Err(Error::UnknownFormat { path: path.into() }),
    }
}

impl Reading {
    /// The single rows, or an error that says how to make them from bags.
    pub fn into_rows(self) -> Result<Dataset> {
        self.table.into_rows()
    }
}

impl Table {
    /// The rows; of bags, what is said of each as a whole.
    pub fn rows(&self) -> &Dataset {
        match self {
            Table::Rows(data) => data,
            Table::Bags(bags) => bags.rows(),
        }
    }

    /// The single rows, or an error that says how to make them from bags.
    pub fn into_rows(self) -> Result<Dataset> {
        match self {
            Table::Rows(data) => Ok(data),
            Table::Bags(bags) => Err(Error::NotRows { name: bags.rows().name().into() }),
        }
    }
}

/// Refuses repeated column names, or numbers them: mean, mean.2, mean.3.
pub(crate) fn check_names(path: &Path, names: &mut [String], dedupe: bool) -> Result<()> {
    let mut positions: HashMap<String, Vec<usize>> = HashMap::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        positions.entry(name.clone()).or_default().push(at);
    }
    let first_repeated = (0..names.len()).find(|&at| positions[&names[at]].len() > 1);
    let Some(first) = first_repeated else { return Ok(()) };
    if !dedupe {
        let name = names[first].clone();
        let positions = positions[&name].iter().map(|at| at + 1).collect();
        return Err(Error::RepeatedColumn { path: path.into(), name, positions });
    }
    let mut taken: std::collections::HashSet<String> = names.iter().cloned().collect();
    for at in 0..names.len() {
        if positions[&names[at]].first() == Some(&at) {
            continue;
        }
        let repeated = positions.get(&names[at]).map_or(0, |all| all.partition_point(|&p| p < at));
        // "mean.2" may itself be a column already.
        let free = (repeated + 1..)
            .map(|n| format!("{}.{n}", names[at]))
            .find(|name| !taken.contains(name));
        if let Some(free) = free {
            taken.insert(free.clone());
            names[at] = free;
        }
    }
    Ok(())
}
