//! Reading: one function for all formats.

use std::collections::HashMap;
use std::io::Read;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use super::bags::Bags;
use super::label_list::LabelChoice;
use super::lines::Encoding;
#[cfg(feature = "parquet")]
use super::parquet;
use super::relevance::Threshold;
use super::{
    Attribute, Checksums, ColumnRoles, Dataset, Delimiter, Format, Note, Streams, arff, csv, file,
    json_lines, svmlight,
};
use crate::error::{Error, Remedy, Result};

/// How a file is to be read.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `format` | by name | of the file, where its name does not say it or says it wrongly |
/// | `delimiter` | by name | CSV and TSV: what separates fields; without it, tabs in TSV, commas in CSV, and semicolons or tabs where the header of CSV has more of them |
/// | `labels` | detect | which columns are labels |
/// | `binarize` | none | turns numeric labels into relevant or irrelevant |
/// | `missing_labels` | refuse | what a missing label means |
/// | `encoding` | UTF-8 | how names and values are spelt |
/// | `dedupe` | false | numbers repeated column names instead of refusing them |
/// | `attributes` | none | CSV, TSV and JSON lines: inputs whose kind is known, by name; the kind of others is inferred from their cells |
/// | `n_features` | none | SVMLight only: how many features there are, where the largest index does not say |
/// | `max_memory` | unlimited | bytes after which reading is refused |
/// | `roles` | inputs | which columns are no inputs, or texts |
/// | `checksums` | not noted | of all files that are opened: the data file and its label list |
/// | `streams` | none | what was read from standard input and pipes, to be read again |
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
    /// The format of the file, where its name does not say it or says it wrongly.
    pub format: Option<Format>,
    /// CSV and TSV: what separates fields; without it, tabs in TSV, commas in CSV, and semicolons or tabs where
    /// the header of CSV has more of them.
    pub delimiter: Option<Delimiter>,
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
    /// CSV, TSV and JSON lines: inputs whose kind is known, by name; the kind of others is inferred from
    /// their cells.
    pub attributes: Arc<[Attribute]>,
    /// SVMLight only: how many features there are, where the largest index does not say. Where `attributes` are
    /// known, the file may have more features than that, which are read as further columns.
    pub n_features: Option<usize>,
    /// Which columns are no inputs, or texts.
    pub roles: Arc<ColumnRoles>,
    /// Bytes after which reading is refused.
    pub max_memory: u64,
    /// Of all files that are opened: the data file and its label list.
    pub checksums: Checksums,
    /// What was read from standard input and pipes, to be read again.
    pub streams: Streams,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            delimiter: None,
            labels: LabelChoice::Detect,
            binarize: None,
            missing_labels: MissingLabels::Refuse,
            encoding: Encoding::Utf8,
            dedupe: false,
            attributes: Arc::default(),
            n_features: None,
            roles: Arc::default(),
            max_memory: u64::MAX,
            checksums: Checksums::default(),
            streams: Streams::default(),
        }
    }
}

impl ReadOptions {
    /// The format in which a file is read.
    pub fn format_of(&self, path: &Path) -> Result<Format> {
        self.format.map_or_else(|| Format::of(path), Ok)
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
    /// The cell stays unknown ([`LabelMatrix::is_known`](super::LabelMatrix::is_known)), and the row
    /// is learned from for the labels it has.
    Learn,
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
            MissingLabels::Learn if n == 1 => "keeps the labels it has",
            MissingLabels::Learn => "keep the labels they have",
            _ => "read as irrelevant",
        };
        (n > 0).then(|| Note { code: "missing-labels", text: format!("{rows} {what}") })
    }

    /// What to do about a row that lacks a label.
    pub(crate) fn remedy() -> Remedy {
        Remedy::default()
            .set("missing-labels", "drop")
            .text(" leaves such rows out, irrelevant reads them as 0, learn keeps what is there")
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

/// The blocks of a file, one after the other.
pub type Blocks<'p> = Box<dyn Iterator<Item = Result<Reading>> + 'p>;

/// Reads a data file in the format that its name promises. `-` is standard input, which, as a pipe, is
/// read to its end first ([`Streams`]).
pub fn read(path: &Path, options: &ReadOptions) -> Result<Reading> {
    whole(path, read_in_blocks(path, options, usize::MAX)?)
}

/// Reads a data file `n_rows` rows at a time, without ever holding all of them. Each block is like a
/// file of its own, but that the values of a nominal column are those seen so far. There is always
/// at least one block.
///
/// Only ARFF, Parquet, and CSV, TSV or JSON lines without tags, are cut: in the other formats the rows
/// mean nothing until all are known, and there is one block.
pub fn read_in_blocks<'p>(
    path: &'p Path,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<Blocks<'p>> {
    if path.is_dir() {
        return Err(Error::io(path, std::io::ErrorKind::IsADirectory.into()));
    }
    // Before the format: a device has no name that could tell it.
    let is_device = path.metadata().is_ok_and(|about| !about.is_file());
    if is_device && !Streams::is_stream(path) {
        return Err(Error::NotAFile { path: path.into() });
    }
    let format = options.format_of(path)?;
    if let (Some(delimiter), false) = (options.delimiter, format.is_delimited()) {
        return Err(Error::Setting {
            name: "delimiter",
            value: format!("{:?}", char::from(delimiter.byte())),
            accepted: "left out where fields are not delimited: only CSV and TSV are",
        });
    }
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let file = file::open_to_seek(path, options)?;
            Ok(with_roles(path, parquet::read(path, file, options, n_rows)?, options))
        }
        _ => {
            let opening = options.clone();
            read_text(path, move || file::open_data(path, &opening), options, n_rows)
        }
    }
}

/// The same blocks, in which columns have their roles.
fn with_roles<'p>(path: &'p Path, blocks: Blocks<'p>, options: &ReadOptions) -> Blocks<'p> {
    let roles = options.roles.clone();
    if roles.is_empty() {
        return blocks;
    }
    Box::new(blocks.map(move |block| roles.given_to(block?, path)))
}

/// Reads all rows of a data file, but so many inputs at a time, that no more of them are held than
/// fit into `bytes`. The file is read once to see how many rows there are, then once for each part.
pub fn read_by_columns<'p>(
    path: &'p Path,
    options: &'p ReadOptions,
    bytes: u64,
) -> Result<impl Iterator<Item = Result<Dataset>> + 'p> {
    const ROWS: usize = 1024;
    let blocks = move || read_in_blocks(path, options, ROWS);
    let (mut n_rows, mut n_columns) = (0, 0);
    for block in blocks()? {
        let block = block?.into_rows()?;
        n_rows += block.n_rows();
        n_columns = block.n_features();
    }
    let of_column = (8 * n_rows.max(1)) as u64;
    let width = (bytes / of_column).clamp(1, n_columns.max(1) as u64) as usize;
    let part = move |start: usize| {
        let columns = start..(start + width).min(n_columns);
        let mut whole: Option<Dataset> = None;
        for block in blocks()? {
            let block = block?.into_rows()?.with_columns(columns.clone());
            match &mut whole {
                None => whole = Some(block),
                Some(whole) => whole.append(block),
            }
        }
        whole.ok_or_else(|| Error::io(path, std::io::ErrorKind::UnexpectedEof.into()))
    };
    Ok((0..n_columns.max(1)).step_by(width).map(part))
}

/// Reads text that stands in memory as if it were the file `path`, which need not exist.
pub fn parse<'p>(path: &'p Path, text: &'p [u8], options: &ReadOptions) -> Result<Reading> {
    let open = move || Ok(Box::new(text) as Box<dyn Read + 'p>);
    whole(path, read_text(path, open, options, usize::MAX)?)
}

/// The one block of a file that is not cut.
fn whole(path: &Path, mut blocks: Blocks) -> Result<Reading> {
    let none = || Err(Error::io(path, std::io::ErrorKind::UnexpectedEof.into()));
    blocks.next().unwrap_or_else(none)
}

/// `open` starts the text anew.
fn read_text<'p>(
    path: &'p Path,
    open: impl Fn() -> Result<Box<dyn Read + 'p>> + 'p,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<Blocks<'p>> {
    let attributes = options.roles.attributes(&options.attributes);
    let options = &ReadOptions { attributes, ..options.clone() };
    let blocks: Blocks = match options.format_of(path)? {
        Format::Arff => Box::new(arff::read(path, open()?, options, n_rows)?),
        Format::Csv => csv::read(path, options.delimiter, open, options, n_rows)?,
        Format::Tsv => {
            let delimiter = options.delimiter.unwrap_or(Delimiter::TAB);
            csv::read(path, Some(delimiter), open, options, n_rows)?
        }
        Format::JsonLines => json_lines::read(path, open, options, n_rows)?,
        Format::SvmLight => Box::new(iter::once(svmlight::read(path, open()?, options))),
        Format::Parquet => return Err(Error::UnknownFormat { path: path.into() }),
    };
    Ok(with_roles(path, blocks, options))
}

/// The blocks that `next` reads, each with how many rows it has: fewer than asked for are the last,
/// and so is an error. The first is there even if it has none.
pub(crate) fn in_blocks<'p>(
    n_rows: usize,
    mut next: impl FnMut() -> Result<(Reading, usize)> + 'p,
) -> impl Iterator<Item = Result<Reading>> + 'p {
    let (mut is_first, mut is_over) = (true, false);
    iter::from_fn(move || {
        if is_over {
            return None;
        }
        let read = next();
        is_over = read.as_ref().map_or(true, |(_, n_read)| *n_read < n_rows);
        let is_needed = std::mem::take(&mut is_first);
        match read {
            Ok((_, 0)) if !is_needed => None,
            read => Some(read.map(|(reading, _)| reading)),
        }
    })
}

impl Reading {
    /// The single rows, or an error that says how to make them from bags.
    pub fn into_rows(self) -> Result<Dataset> {
        self.table.into_rows()
    }
}

impl Table {
    /// The rows; of bags, those that describe each as a whole.
    pub fn rows(&self) -> &Dataset {
        match self {
            Table::Rows(data) => data,
            Table::Bags(bags) => bags.rows(),
        }
    }

    /// The rows or bags named, in that order.
    pub fn select(&self, rows: &[usize]) -> Table {
        match self {
            Table::Rows(data) => Table::Rows(data.select(rows)),
            Table::Bags(bags) => Table::Bags(bags.select(rows)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Five rows, of which the third lacks a label.
    const TEXTS: [(&str, &str); 4] = [
        (
            "x.arff",
            "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute t string\n@data\n\
             0,1,u\n1,2,v\n?,3,u\n\n1,4,w\n0,5,v\n",
        ),
        (
            "x.arff",
            "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute b numeric\n@data\n\
             {1 1}\n{0 1,1 2}\n{0 ?,1 3}\n{0 1,2 4}\n{1 5}\n",
        ),
        (
            "x.jsonl",
            "{\"y\":0,\"a\":1}\n{\"y\":1,\"a\":2,\"b\":7}\n{\"a\":3,\"b\":8}\n\n\
             {\"b\":9,\"a\":4,\"y\":true}\n{\"y\":0,\"a\":5,\"b\":null}\n",
        ),
        ("x.csv", "y,a,b\n0,1,\n1,2,7\n?,3,8\n1,4,9\n\n0,5,7\n"),
    ];

    #[test]
    fn blocks_are_the_rows_of_the_file_one_after_the_other() {
        for (path, text) in TEXTS {
            let options = ReadOptions {
                labels: LabelChoice::First(1),
                missing_labels: MissingLabels::Drop,
                ..ReadOptions::default()
            };
            let whole = parse(path.as_ref(), text.as_bytes(), &options).unwrap();
            assert_eq!((whole.table.rows().n_rows(), whole.notes.is_empty()), (4, false));
            for n_rows in 1..=5 {
                let open = || Ok(Box::new(text.as_bytes()) as Box<dyn Read>);
                let blocks = read_text(path.as_ref(), open, &options, n_rows).unwrap();
                let mut first = 0;
                for block in blocks {
                    let block = block.unwrap().into_rows().unwrap();
                    assert!(block.n_rows() == n_rows || first + block.n_rows() == 4, "{n_rows}");
                    for at in 0..block.n_rows() {
                        let row =
                            |data: &Dataset, row: usize| data.select(&[row]).features().clone();
                        let cells = |data: &Dataset, at: usize| {
                            row(data, at)
                                .entries(0)
                                .map(|(c, v)| (c, v.to_bits()))
                                .collect::<Vec<_>>()
                        };
                        let (rows, at_whole) = (whole.table.rows(), first + at);
                        assert_eq!(cells(&block, at), cells(rows, at_whole), "{path} {n_rows}");
                        let label = super::super::LabelId(0);
                        let relevant = |data: &Dataset, row| data.labels().get(row, label);
                        assert_eq!(relevant(&block, at), relevant(rows, at_whole));
                    }
                    first += block.n_rows();
                }
                assert_eq!(first, 4, "{path} {n_rows}");
            }
        }
    }

    /// In the last rows a name is seen for the first time, and a cell is missing.
    #[test]
    fn columns_read_a_few_at_a_time_are_those_of_the_whole() {
        let cell = |row: usize| match row {
            2400.. => ["late", "?"],
            _ => [["red", "green"][row % 2], "1.5"],
        };
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, head: &str, line: &dyn Fn(usize) -> String| {
            let path = directory.path().join(name);
            let rows: String = (0..2500).map(line).collect();
            std::fs::write(&path, format!("{head}{rows}")).unwrap();
            path
        };
        let plain = |row: usize| {
            let [name, number] = cell(row);
            format!("{},{row},{name},{number},{}\n", row % 3 / 2, row % 7)
        };
        let stored = |row: usize| {
            let [name, number] = cell(row);
            format!("{{0 {},2 {row},3 {number},4 {name}}}\n", row % 3 / 2)
        };
        let header = "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n\
                      @attribute b numeric\n@attribute c numeric\n@attribute d string\n@data\n";
        let files = [write("x.csv", "y,a,b,c,d\n", &plain), write("x.arff", header, &stored)];
        for path in files {
            let labels = LabelChoice::First(1);
            let options = ReadOptions { labels, ..ReadOptions::default() };
            let whole = read(&path, &options).unwrap().into_rows().unwrap();
            for width in [1, 2, 9] {
                let bytes = width as u64 * 8 * 2500;
                let mut start = 0;
                for part in read_by_columns(&path, &options, bytes).unwrap() {
                    let part = part.unwrap();
                    let end = start + part.n_features();
                    assert_eq!(part, whole.clone().with_columns(start..end), "{start} {width}");
                    assert!(part.n_features() <= width);
                    start = end;
                }
                assert_eq!(start, whole.n_features());
            }
        }
    }

    #[test]
    fn a_block_may_hold_what_is_allowed_and_then_the_next_may() {
        let rows: String = (0..100).map(|row| format!("{row},{row},{row},1\n")).collect();
        let text = format!("a,b,c,y\n{rows}");
        let options = ReadOptions {
            labels: LabelChoice::Last(1),
            max_memory: 1500,
            ..ReadOptions::default()
        };
        let read = |n_rows| {
            let open = || Ok(Box::new(text.as_bytes()) as Box<dyn Read>);
            let blocks = read_text("x.csv".as_ref(), open, &options, n_rows).unwrap();
            blocks.map(|block| Ok(block?.into_rows()?.n_rows())).collect::<Result<Vec<_>>>()
        };
        // A row takes 3 cells, its labels, its end: 40 bytes.
        assert_eq!(read(20).unwrap(), [20; 5]);
        assert!(matches!(read(50), Err(Error::TooLarge { .. })));
    }
}
