//! Reading, one column at a time: an open column holds a page and a decompressor, too much to be
//! held for each of ten thousand columns. So each block of rows opens the columns anew, and passes
//! over the pages before it, which takes no more than a look at their headers.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::about::{self, About};
use super::chunk::{Cell, Chunk};
use super::kind::{self, Column, Kind};
use super::{LEAVE_OUT, fault, translated};
use crate::data::label_list::{Columns, LabelChoice, LabelColumns};
use crate::data::{
    Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix, MissingLabels, Note, ReadOptions,
    Reading, Sparse, Table, check_names, file, relevance,
};
use crate::error::{Error, Remedy, Result, nearest};

/// Cells decoded at a time.
const BATCH: usize = 4096;

/// The one table of a file, of which all is known but the cells.
pub(super) struct OpenTable<'p> {
    source: Source<'p>,
    columns: Vec<Column>,
    plan: Plan,
    about: About,
    options: ReadOptions,
    /// What is to be said with the first block.
    notes: Vec<Note>,
}

/// Opens the one table of a file, of which at most `n_rows` rows will be read at a time.
pub(super) fn open<'p>(
    path: &'p Path,
    file: File,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<OpenTable<'p>> {
    let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
    let reader = SerializedFileReader::new(file).map_err(|error| translated(path, error))?;
    let metadata = reader.metadata().file_metadata();
    let about = About::find(path, metadata.key_value_metadata())?;
    let mut columns = kind::columns(metadata.schema_descr());
    let mut names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    check_names(path, &mut names, options.dedupe)?;
    for (column, name) in columns.iter_mut().zip(&names) {
        column.name.clone_from(name);
    }
    let labels = label_columns(path, &names, about.as_ref(), options)?;
    let about = about.unwrap_or_default();

    let memory = Memory { path, limit: options.max_memory, used: 0 };
    let mut source = Source { path, reader, length, groups: vec![], memory };
    source.count_rows(&columns, n_rows)?;
    let plan = Plan::new(&mut source, &columns, &labels, &about, options)?;
    let mut notes = labels.notes;
    if let Some(weights) = &about.weights {
        let n_rows = source.n_rows();
        if weights.len() != n_rows {
            let found = format!("{} for {n_rows} rows", weights.len());
            return Err(disagree(path, "a weight for each row", found));
        }
        notes.push(Note {
            code: "row-weights-ignored",
            text: "rows carry weights; they are kept, but nothing uses them".into(),
        });
    }
    Ok(OpenTable { source, columns, plan, about, options: options.clone(), notes })
}

impl OpenTable<'_> {
    pub(super) fn n_rows(&self) -> usize {
        self.source.n_rows()
    }

    /// Reads some of the rows.
    pub(super) fn block(&mut self, rows: Range<usize>) -> Result<Reading> {
        let OpenTable { source, columns, plan, about, options, notes } = self;
        let weights = about.weights.as_ref().and_then(|all| all.get(rows.clone()));
        let weights = weights.map(<[f64]>::to_vec);
        let (data, found) =
            source.rows(rows, columns, plan, about.is_sparse, options)?.finish(weights)?;
        let dates = columns.iter().filter(|column| column.is_date);
        let data = data.with_milliseconds(dates.map(|column| column.name.clone()).collect());
        let notes = std::mem::take(notes).into_iter().chain(found).collect();
        Ok(Reading { table: Table::Rows(data), notes })
    }
}

/// The label columns: as the user or an XML file says, else as the file says of itself.
fn label_columns(
    path: &Path,
    names: &[String],
    about: Option<&About>,
    options: &ReadOptions,
) -> Result<LabelColumns> {
    let columns = Columns { path, names, relation: None };
    let chosen = columns.labels(&options.labels, &options.checksums);
    let (Err(Error::NoLabels { .. }), Some(about)) = (&chosen, about) else { return chosen };
    let by_name: HashMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut seen = HashSet::new();
    let positions = about.labels.iter().map(|label| match by_name.get(label.as_str()) {
        Some(&at) if seen.insert(at) => Ok(at),
        Some(_) => Err(disagree(path, "each label once", format!("{label:?} again"))),
        None => {
            let found = format!("{label:?}, which is no column");
            Err(disagree(path, "labels that are columns", found))
        }
    });
    let positions = positions.collect::<Result<_>>()?;
    Ok(LabelColumns { positions, notes: vec![], suspicion: None })
}

/// The file's metadata does not fit the file.
fn disagree(path: &Path, expected: &str, found: impl Into<String>) -> Error {
    fault(path, format!("{expected} in its {} metadata", about::KEY), found)
        .help(about::REMEDY)
        .into()
}

/// Counts what is kept, and refuses before it is too much.
#[derive(Clone)]
struct Memory<'a> {
    path: &'a Path,
    limit: u64,
    used: u64,
}

impl Memory<'_> {
    fn charge(&mut self, bytes: u64, what: impl Fn() -> String) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used <= self.limit { Ok(()) } else { Err(self.too_large(what())) }
    }

    fn too_large(&self, what: String) -> Error {
        Error::TooLarge { path: self.path.into(), what, needed: None, limit: self.limit }
    }
}

struct Source<'a> {
    path: &'a Path,
    reader: SerializedFileReader<File>,
    length: u64,
    /// The rows of each row group.
    groups: Vec<usize>,
    memory: Memory<'a>,
}

impl Source<'_> {
    fn n_rows(&self) -> usize {
        self.groups.iter().sum()
    }

    /// Believes the numbers of rows only when a column has that many cells: memory will be taken
    /// by them, for at most `n_block` rows at a time.
    fn count_rows(&mut self, columns: &[Column], n_block: usize) -> Result<()> {
        let (path, groups) = (self.path, self.reader.metadata().row_groups());
        let mut n_rows = 0usize;
        for group in groups {
            let n = usize::try_from(group.num_rows()).ok();
            let sum = n.and_then(|n| n_rows.checked_add(n));
            let (Some(n), Some(sum)) = (n, sum) else {
                let found = format!("a row group of {} rows", group.num_rows());
                return Err(super::damaged(path, found));
            };
            n_rows = sum;
            self.groups.push(n);
        }
        if n_rows == 0 {
            return Ok(());
        }
        // The smallest column is counted fastest.
        let size = |column: &&Column| -> i128 {
            let sizes = groups.iter().filter_map(|group| group.columns().get(column.leaf));
            sizes.map(|chunk| i128::from(chunk.compressed_size())).sum()
        };
        let usable = |column: &&Column| !matches!(column.kind, Kind::Other(_));
        let Some(smallest) = columns.iter().filter(usable).min_by_key(size) else {
            return match columns.first() {
                Some(column) => Err(useless(path, column)),
                None => Err(fault(path, "columns", format!("{n_rows} rows without any")).into()),
            };
        };
        // Every column takes a bit of each row at least.
        let n_bytes = (n_rows.min(n_block) as u64).saturating_mul(columns.len() as u64) / 8;
        if n_bytes > self.memory.limit {
            return Err(self
                .memory
                .too_large(format!("{n_rows} rows of {} columns", columns.len())));
        }
        self.scan(smallest, |_, _| Ok(()))
    }

    /// Gives every cell of a column with its row.
    fn scan(&self, column: &Column, mut give: impl FnMut(usize, Cell) -> Result<()>) -> Result<()> {
        let mut first = 0;
        for (at, &n_rows) in self.groups.iter().enumerate() {
            let group = self.group(at)?;
            self.scan_group(group.as_ref(), 0..n_rows, column, |at, cell| give(first + at, cell))?;
            first += n_rows;
        }
        Ok(())
    }

    fn group(&self, at: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        self.reader.get_row_group(at).map_err(|error| translated(self.path, error))
    }

    /// Gives the cells of a column in some rows of a row group, with their place among these.
    fn scan_group(
        &self,
        group: &dyn RowGroupReader,
        rows: Range<usize>,
        column: &Column,
        mut give: impl FnMut(usize, Cell) -> Result<()>,
    ) -> Result<()> {
        let mut chunk = Chunk::open(self.path, column, group, self.length, self.memory.limit)?;
        chunk.skip(rows.start)?;
        for first in (0..rows.len()).step_by(BATCH) {
            chunk.read(BATCH.min(rows.len() - first), |at, cell| give(first + at, cell))?;
        }
        Ok(())
    }

    /// The distinct texts of a column in byte order; `each` takes a cell apart.
    fn distinct(
        &mut self,
        column: &Column,
        each: impl Fn(usize, Cell, &mut dyn FnMut(&str) -> Result<()>) -> Result<()>,
    ) -> Result<Vec<String>> {
        let mut texts: HashSet<String> = HashSet::new();
        let mut n_bytes = 0;
        let (limit, used) = (self.memory.limit, self.memory.used);
        let too_large = || self.memory.too_large(format!("the texts of column {:?}", column.name));
        self.scan(column, |row, cell| {
            each(row, cell, &mut |text| {
                if !texts.contains(text) {
                    // A text is stored twice, as a name and as a key, each with a header of 32
                    // bytes.
                    n_bytes += 2 * text.len() as u64 + 64;
                    if used.saturating_add(n_bytes) > limit {
                        return Err(too_large());
                    }
                    texts.insert(text.into());
                }
                Ok(())
            })
        })?;
        self.memory.used += n_bytes;
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_unstable();
        Ok(texts)
    }
}

/// Where the cells of each column go.
struct Plan {
    roles: Vec<Role>,
    attributes: Vec<Attribute>,
    label_names: Vec<String>,
}

enum Role {
    Feature(usize),
    /// A text input, by the place of each value.
    Nominal(usize, HashMap<String, usize>),
    Label(LabelId),
    Tags {
        ids: HashMap<String, LabelId>,
        separator: String,
    },
}

impl Plan {
    fn new(
        source: &mut Source,
        columns: &[Column],
        labels: &LabelColumns,
        about: &About,
        options: &ReadOptions,
    ) -> Result<Plan> {
        let path = source.path;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let mut ids: HashMap<usize, LabelId> = HashMap::new();
        ids.extend(labels.positions.iter().enumerate().map(|(id, &at)| (at, LabelId(id))));
        let mut label_names: Vec<String> =
            labels.positions.iter().map(|&at| names[at].clone()).collect();
        let tags = match &options.labels {
            LabelChoice::Tags { column, separator } => {
                let at = Columns { path, names: &names, relation: None }
                    .position("tag column", column)?;
                Some((at, separator))
            }
            _ => None,
        };
        let known: HashSet<&String> = names.iter().collect();
        if let Some(gone) = about.nominal.keys().filter(|name| !known.contains(name)).min() {
            let found = format!("{gone:?}, which is no column");
            return Err(disagree(path, "nominal columns that the file has", found));
        }

        let mut attributes = Vec::new();
        let mut roles = Vec::with_capacity(columns.len());
        for (position, column) in columns.iter().enumerate() {
            let name = &column.name;
            if let Some((at, separator)) = tags
                && at == position
            {
                let distinct = tag_names(source, column, separator)?;
                let ids = distinct.iter().enumerate().map(|(id, tag)| (tag.clone(), LabelId(id)));
                let (ids, separator) = (ids.collect(), separator.clone());
                roles.push(Role::Tags { ids, separator });
                label_names = distinct;
                continue;
            }
            if let Kind::Other(_) | Kind::Texts = column.kind {
                return Err(useless(path, column));
            }
            if let Some(&id) = ids.get(&position) {
                roles.push(Role::Label(id));
                continue;
            }
            let place = attributes.len();
            let declared = about.nominal.get(name);
            roles.push(match (&column.kind, declared) {
                (Kind::Text, declared) => {
                    let values = match declared {
                        Some(declared) => declared.clone(),
                        None => source.distinct(column, |row, cell, give| match cell {
                            Cell::Text(bytes) => give(text(path, column, row, bytes)?),
                            _ => Ok(()),
                        })?,
                    };
                    let index = values.iter().cloned().zip(0..).collect();
                    attributes.push(Attribute::nominal(name, values));
                    Role::Nominal(place, index)
                }
                (_, Some(_)) => {
                    let found = format!("{name:?}, which is not text");
                    return Err(disagree(path, "nominal columns of text", found));
                }
                (Kind::Flag, None) => {
                    attributes.push(Attribute::nominal(name, ["false", "true"]));
                    Role::Feature(place)
                }
                (_, None) => {
                    attributes.push(Attribute::numeric(name));
                    Role::Feature(place)
                }
            });
        }
        Ok(Plan { roles, attributes, label_names })
    }
}

/// The tags that occur, in byte order.
fn tag_names(source: &mut Source, column: &Column, separator: &str) -> Result<Vec<String>> {
    let path = source.path;
    match column.kind {
        Kind::Texts => {}
        Kind::Text if !separator.is_empty() => {}
        Kind::Text => {
            return Err(Error::Setting {
                name: "tag-separator",
                value: "empty".into(),
                accepted: "what stands between two tags",
            });
        }
        _ => {
            let expected = format!("text or a list of texts in tag column {:?}", column.name);
            return Err(fault(path, expected, kind_name(&column.kind))
                .help(Remedy::default().setting("labels").text(" takes columns of 0 and 1"))
                .into());
        }
    }
    let tags = source
        .distinct(column, |row, cell, give| each_tag(path, column, row, &cell, separator, give))?;
    if tags.is_empty() {
        let reason = format!("column {:?} holds no tags", column.name);
        Err(Error::NoLabels { path: path.into(), reason })
    } else {
        Ok(tags)
    }
}

/// Gives the tags of a cell, trimmed; empty ones are none.
fn each_tag(
    path: &Path,
    column: &Column,
    row: usize,
    cell: &Cell,
    separator: &str,
    mut give: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut give = |tag: &str| match tag.trim() {
        "" => Ok(()),
        tag => give(tag),
    };
    match cell {
        Cell::Text(bytes) => text(path, column, row, bytes)?.split(separator).try_for_each(give),
        Cell::Texts(all) => all.iter().try_for_each(|bytes| give(text(path, column, row, bytes)?)),
        _ => Ok(()),
    }
}

fn text<'t>(path: &Path, column: &Column, row: usize, bytes: &'t [u8]) -> Result<&'t str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        let expected = format!("UTF-8 text in column {:?}", column.name);
        fault(path, expected, format!("byte 0x{byte:02X} in row {row}")).help(LEAVE_OUT).into()
    })
}

fn kind_name(kind: &Kind) -> &str {
    match kind {
        Kind::Flag => "booleans",
        Kind::Number(_) => "numbers",
        Kind::Text => "text",
        Kind::Texts => "a list of texts",
        Kind::Other(name) => name,
    }
}

fn useless(path: &Path, column: &Column) -> Error {
    let Column { name, kind, .. } = column;
    let help = match kind {
        Kind::Texts => Remedy::default()
            .set("tags", name.clone())
            .text(format!(" reads it as labels; otherwise {LEAVE_OUT}")),
        _ => LEAVE_OUT.into(),
    };
    fault(path, format!("numbers, booleans or text in column {name:?}"), kind_name(kind))
        .help(help)
        .into()
}

impl<'a> Source<'a> {
    /// Reads the cells of some rows, each to its place.
    fn rows<'r>(
        &self,
        block: Range<usize>,
        columns: &[Column],
        plan: &'r Plan,
        is_sparse: bool,
        options: &'r ReadOptions,
    ) -> Result<Rows<'r>>
    where
        'a: 'r,
    {
        let n_rows = block.len();
        // A block is freed before the next one is read, so that each is charged to a copy of its own.
        let mut memory = self.memory.clone();
        let (n_features, n_labels) = (plan.attributes.len(), plan.label_names.len());
        let input_bytes = if is_sparse { 8 } else { 8 * n_features as u64 };
        // Where some cells are unknown, there is a second bit for each.
        let n_bits = if options.missing_labels == MissingLabels::Learn { 2 } else { 1 };
        let row_bytes = input_bytes + n_bits * 8 * n_labels.div_ceil(64) as u64 + 1;
        let what = || format!("{n_rows} rows of {} columns", columns.len());
        memory.charge((n_rows as u64).saturating_mul(row_bytes), what)?;
        let inputs = if is_sparse {
            Inputs::Sparse { done: Sparse::new(n_features), entries: vec![] }
        } else {
            // Without a limit the system may refuse the memory; that must be an error, not an
            // abort.
            let mut cells = Vec::new();
            let n_cells = n_rows.checked_mul(n_features);
            n_cells
                .and_then(|n| cells.try_reserve_exact(n).ok())
                .ok_or_else(|| memory.too_large(what()))?;
            cells.resize(n_rows * n_features, 0.0);
            Inputs::Dense { n_features, cells }
        };
        let mut rows = Rows {
            path: self.path,
            plan,
            options,
            start: block.start,
            first: 0,
            inputs,
            labels: LabelMatrix::empty(n_rows, n_labels),
            is_unlabelled: vec![false; n_rows],
        };
        let mut end = 0;
        for (at, &n_group) in self.groups.iter().enumerate() {
            let start = end;
            end += n_group;
            // The rows of the group that are in the block, counted from its first.
            let part = block.start.clamp(start, end) - start..block.end.clamp(start, end) - start;
            if part.is_empty() {
                continue;
            }
            let group = self.group(at)?;
            for (column, role) in columns.iter().zip(&plan.roles) {
                let before = rows.inputs.n_pending();
                let take = |at, cell: Cell| rows.take(column, role, at, cell);
                self.scan_group(group.as_ref(), part.clone(), column, take)?;
                let n_new = rows.inputs.n_pending() - before;
                // Once more when they move to their rows.
                let n_bytes = n_new * (size_of::<Entry>() + 12);
                memory.charge(n_bytes as u64, what)?;
            }
            rows.inputs.complete(part.len());
            rows.first += part.len();
        }
        Ok(rows)
    }
}

/// Gathers cells.
struct Rows<'a> {
    path: &'a Path,
    plan: &'a Plan,
    options: &'a ReadOptions,
    /// The row of the file that is the first here.
    start: usize,
    /// The first row here of the row group that is being read.
    first: usize,
    inputs: Inputs,
    labels: LabelMatrix,
    is_unlabelled: Vec<bool>,
}

/// The inputs on their way: dense in place, sparse by columns until a row group is complete.
enum Inputs {
    Dense { n_features: usize, cells: Vec<f64> },
    Sparse { done: Sparse, entries: Vec<Entry> },
}

/// A non-zero cell of the row group that is being read.
struct Entry {
    /// In the row group.
    row: usize,
    column: u32,
    value: f64,
}

impl Inputs {
    fn n_pending(&self) -> usize {
        match self {
            Inputs::Dense { .. } => 0,
            Inputs::Sparse { entries, .. } => entries.len(),
        }
    }

    fn complete(&mut self, n_rows: usize) {
        let Inputs::Sparse { done, entries } = self else { return };
        // Stable, so that the columns of a row keep ascending.
        entries.sort_by_key(|entry| entry.row);
        let mut rest = entries.as_slice();
        for row in 0..n_rows {
            let (these, behind) = rest.split_at(rest.partition_point(|entry| entry.row <= row));
            done.push_row(these.iter().map(|entry| (entry.column, entry.value)));
            rest = behind;
        }
        entries.clear();
    }
}

impl Rows<'_> {
    /// Takes the cell that stands at row `at` of what is read of the row group.
    fn take(&mut self, column: &Column, role: &Role, at: usize, cell: Cell) -> Result<()> {
        let row = self.first + at;
        // Where somebody can find it.
        let in_file = self.start + row;
        match role {
            Role::Feature(place) => {
                let value = match cell {
                    Cell::Number(number) => number,
                    Cell::Flag(flag) => f64::from(u8::from(flag)),
                    _ => f64::NAN,
                };
                self.put(*place, at, value);
            }
            Role::Nominal(place, index) => {
                let value = match cell {
                    Cell::Text(bytes) => {
                        let text = text(self.path, column, in_file, bytes)?;
                        let undeclared = || self.undeclared(*place, text, in_file);
                        *index.get(text).ok_or_else(undeclared)? as f64
                    }
                    _ => f64::NAN,
                };
                self.put(*place, at, value);
            }
            Role::Label(id) => match self.relevance(column, in_file, &cell)? {
                Some(relevant) => self.labels.set(row, *id, relevant),
                None => self.miss(column, row, [*id])?,
            },
            Role::Tags { .. } if matches!(cell, Cell::Missing) => {
                self.miss(column, row, self.labels.ids())?;
            }
            Role::Tags { ids, separator } => {
                let Rows { path, labels, .. } = self;
                each_tag(path, column, in_file, &cell, separator, |tag| {
                    // All tags have been seen before, unless the file has changed since.
                    let new =
                        || super::damaged(path, format!("a new tag {tag:?} in row {in_file}"));
                    labels.set(row, *ids.get(tag).ok_or_else(new)?, true);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn put(&mut self, place: usize, at: usize, value: f64) {
        match &mut self.inputs {
            Inputs::Dense { n_features, cells } => {
                cells[(self.first + at) * *n_features + place] = value;
            }
            Inputs::Sparse { entries, .. } if value != 0.0 => {
                entries.push(Entry { row: at, column: place as u32, value });
            }
            Inputs::Sparse { .. } => {}
        }
    }

    /// Whether a label cell is relevant; `None` where it is missing.
    fn relevance(&self, column: &Column, row: usize, cell: &Cell) -> Result<Option<bool>> {
        let binarize = self.options.binarize;
        let (relevant, found) = match *cell {
            Cell::Flag(flag) => {
                (relevance::of_number(u8::from(flag).into(), binarize), flag.to_string())
            }
            Cell::Number(number) if !number.is_nan() => {
                (relevance::of_number(number, binarize), number.to_string())
            }
            Cell::Text(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                (relevance::of_text(bytes, binarize), format!("{text:?}"))
            }
            _ => return Ok(None),
        };
        relevant.map(Some).ok_or_else(|| {
            let expected = format!("0 or 1 for label {:?}", column.name);
            fault(self.path, expected, format!("{found} in row {row}"))
                .help(relevance::remedy(found.trim_matches('"').as_bytes()))
                .into()
        })
    }

    /// A label, or all tags, of a row are missing.
    fn miss(
        &mut self,
        column: &Column,
        row: usize,
        labels: impl IntoIterator<Item = LabelId>,
    ) -> Result<()> {
        self.is_unlabelled[row] = true;
        if self.options.missing_labels == MissingLabels::Learn {
            labels.into_iter().for_each(|label| self.labels.forget(row, label));
        }
        if self.options.missing_labels != MissingLabels::Refuse {
            return Ok(());
        }
        let expected = match self.options.labels {
            LabelChoice::Tags { .. } => format!("tags in column {:?}", column.name),
            _ => format!("0 or 1 for label {:?}", column.name),
        };
        let found = format!("null, a missing value, in row {}", self.start + row);
        Err(fault(self.path, expected, found).help(MissingLabels::remedy()).into())
    }

    fn undeclared(&self, place: usize, text: &str, row: usize) -> Error {
        let attribute = &self.plan.attributes[place];
        let values = attribute.values().unwrap_or_default();
        let shown = values.iter().take(6).cloned().collect::<Vec<_>>().join(",");
        let more = if values.len() > 6 { ",…" } else { "" };
        let expected = format!(
            "one of the {} values {{{shown}{more}}} declared for {:?}",
            values.len(),
            attribute.name
        );
        let help = match nearest(text, values) {
            Some(near) => format!("did you mean {near:?}?").into(),
            None => Remedy::from(about::REMEDY),
        };
        fault(self.path, expected, format!("{text:?} in row {row}")).help(help).into()
    }

    /// The data set, without the rows that are to be left out, and what to say about it.
    fn finish(self, weights: Option<Vec<f64>>) -> Result<(Dataset, Vec<Note>)> {
        let mut features = match self.inputs {
            Inputs::Dense { n_features, cells } => {
                Matrix::Dense(Dense::from_cells(self.labels.n_rows(), n_features, cells)?)
            }
            Inputs::Sparse { done, .. } => Matrix::Sparse(done),
        };
        features.shrink();
        let (attributes, names) = (self.plan.attributes.clone(), self.plan.label_names.clone());
        let name = file::stem(self.path);
        let mut data = Dataset::new(name, attributes, features, names, self.labels)?;
        data.weights = weights;

        let n = self.is_unlabelled.iter().filter(|&&is| is).count();
        let notes = self.options.missing_labels.note(n).into_iter().collect();
        if n > 0 && self.options.missing_labels == MissingLabels::Drop {
            let kept: Vec<usize> =
                (0..data.n_rows()).filter(|&row| !self.is_unlabelled[row]).collect();
            data = data.select(&kept);
        }
        Ok((data, notes))
    }
}
