//! CSV and TSV with a header line.
//!
//! Fields may be quoted and then hold separators, line ends and (doubled) quotes; blank lines are
//! skipped. A column is numeric if all its cells are numbers, otherwise nominal, its values in
//! byte order: the same cells in another row order give the same attribute. Whether a cell is a
//! number, a label or missing is asked of it without the blanks around; a nominal value keeps
//! them. Quotes make no difference: `"1"` is a number.
//!
//! Missing is a cell that is empty, `?` or `NA`, or in any case `NaN` or `null`. A column that is
//! missing throughout is numeric.
//!
//! # What CSV cannot carry
//!
//! - the order of a nominal attribute's values, and values that no row has;
//! - nominal values that read as missing, and attributes all of whose values read as numbers;
//! - an attribute's kind where no row has a value of it;
//! - which columns are labels (the label list beside the file says it);
//! - row weights, and that the cells were sparse.

mod names;
mod records;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::path::Path;

use super::label_list::{Columns, LabelChoice};
use super::lines::{Budget, Encoding, Lines};
use super::{
    Attribute, AttributeKind, Dataset, Dense, Format, LabelId, LabelMatrix, Matrix, MissingLabels,
    Note, ReadOptions, Reading, Spelt, Table, check_names, file, in_blocks, number, relevance,
};
use crate::error::{ContentError, Error, Remedy, Result};

pub use names::CsvNames;
pub(crate) use records::{Record, Records};

/// More columns than any table has; a header of nothing but separators is refused here and not
/// at the end of memory.
const MAX_COLUMNS: usize = 1 << 20;

/// Reads delimited text. `open` starts it anew: column types are inferred from whole columns
/// before any cell is kept, so the text is read twice, the second time so many rows at a time.
pub(crate) fn read<'p, O: Fn() -> Result<Box<dyn Read + 'p>>>(
    path: &'p Path,
    separator: u8,
    open: O,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<impl Iterator<Item = Result<Reading>> + use<'p, O>> {
    if let LabelChoice::Tags { separator, .. } = &options.labels
        && separator.is_empty()
    {
        return Err(Error::Setting {
            name: "tag-separator",
            value: "empty".into(),
            accepted: "at least one character",
        });
    }
    let records = || -> Result<_> {
        let lines = Lines::new(path, open()?, options.encoding).within(options.max_memory);
        Ok(Records::new(lines, separator, MAX_COLUMNS))
    };
    let mut budget = Budget::new(options.max_memory);

    let mut first_pass = records()?;
    let names = header(path, &mut first_pass, options, &mut budget)?;
    let columns = Columns { path, names: &names, relation: None };
    let mut labels = columns.labels(&options.labels, &options.checksums)?;
    if names.iter().all(|name| number::parse(name.as_bytes()).is_some()) {
        labels.notes.push(Note {
            code: "numeric-header",
            text: "the first line holds only numbers and was read as column names: is the header missing?".into(),
        });
    }
    let known: HashMap<&str, Role> =
        options.attributes.iter().map(|it| (it.name.as_str(), Role::of(it))).collect();
    let role = |name: &String| known.get(name.as_str()).copied().unwrap_or(Role::Unknown);
    let mut roles: Vec<Role> = names.iter().map(role).collect();
    for (label, &position) in labels.positions.iter().enumerate() {
        roles[position] = Role::Label(LabelId(label));
    }
    if let LabelChoice::Tags { column, .. } = &options.labels {
        roles[columns.position("tag column", column)?] = Role::Tags;
    }
    infer(&mut first_pass, &names, &mut roles)?;
    drop(first_pass);

    // Tags are labels only when all are known.
    let n_rows = if roles.contains(&Role::Tags) { usize::MAX } else { n_rows };
    let label_names: Vec<String> = labels.positions.iter().map(|&at| names[at].clone()).collect();
    let mut second_pass = records()?;
    second_pass.next()?;
    second_pass.max_fields = roles.len();
    let mut notes = labels.notes;
    let options = options.clone();
    Ok(in_blocks(n_rows, move || {
        let mut rows = Rows::new(names.clone(), label_names.clone(), roles.clone(), &options);
        // A block is freed before the next one is read, so that each is charged to a copy of its own.
        let mut budget = budget.clone();
        while rows.labels.n_rows() < n_rows
            && let Some(record) = second_pass.next()?
        {
            rows.read(record, &mut budget)?;
        }
        let (n_read, notes) = (rows.labels.n_rows(), std::mem::take(&mut notes));
        Ok((rows.finish(path, notes, &mut budget)?, n_read))
    }))
}

/// Starts a table in which columns are looked for by name: the names, without the blanks around,
/// then the records below them.
pub(crate) fn open<'p>(path: &'p Path, text: Box<dyn Read + 'p>) -> Result<NamedRecords<'p>> {
    let separator = match Format::of(path) {
        Ok(Format::Tsv) => b'\t',
        _ => b',',
    };
    let lines = Lines::new(path, text, Encoding::Utf8);
    let mut records = Records::new(lines, separator, MAX_COLUMNS);
    let header = first(path, &mut records)?;
    let names = (0..header.n_fields().min(MAX_COLUMNS))
        .map(|field| Ok(header.text(field)?.trim().to_string()))
        .collect::<Result<Vec<String>>>()?;
    records.max_fields = names.len();
    Ok((names, records))
}

/// Column names, and what stands below them.
pub(crate) type NamedRecords<'p> = (Vec<String>, Records<'p, Box<dyn Read + 'p>>);

/// The header, in the separators that the file's name promises.
fn first<'r, 'p, R: Read>(path: &Path, records: &'r mut Records<'p, R>) -> Result<&'r Record<'p>> {
    let Some(record) = records.next()? else {
        return Err(Error::Content(Box::new(ContentError {
            path: path.into(),
            line: 1,
            column: 0,
            found: "the end of the file".into(),
            expected: "a header line".into(),
            help: Some("the first line names the columns".into()),
            excerpt: None,
        })));
    };
    if record.n_fields() == 1 && !record.is_quoted(0) {
        refuse_other_separator(record)?;
    }
    Ok(record)
}

/// The column names.
fn header<R: Read>(
    path: &Path,
    records: &mut Records<R>,
    options: &ReadOptions,
    budget: &mut Budget,
) -> Result<Vec<String>> {
    let record = first(path, records)?;
    let n = record.n_fields();
    if n > MAX_COLUMNS {
        let fault = record.fault_in_all(format!("at most {MAX_COLUMNS} columns"));
        return Err(fault.found(n).into());
    }
    budget.charge(n * 100 + record.n_bytes() * 2, &record.first_line())?;
    let mut names = Vec::with_capacity(n);
    for field in 0..n {
        let name = record.text(field)?;
        names.push(match (name.trim().is_empty(), options.dedupe) {
            (false, _) => name.into_owned(),
            (true, true) => format!("column{}", field + 1),
            (true, false) => {
                return Err(record
                    .fault_in(field, format!("a name for column {}", field + 1))
                    .found("none")
                    .help(
                        Remedy::from(
                            "give it a name, or leave it out if it only numbers the rows; ",
                        )
                        .setting("dedupe")
                        .text(format!(" reads it as column{}", field + 1)),
                    )
                    .into());
            }
        });
    }
    records.max_fields = n;
    check_names(path, &mut names, options.dedupe)?;
    Ok(names)
}

/// A header of one name with separators of another kind in it was meant as several names.
fn refuse_other_separator(header: &Record) -> Result<()> {
    let name_of = |separator| match separator {
        b',' => "commas",
        b'\t' => "tabs",
        _ => "semicolons",
    };
    let wanted = header.separator();
    let others = [b',', b';', b'\t'].into_iter().filter(|&other| other != wanted);
    for other in others {
        if header.bytes(0).contains(&other) {
            let help = match other {
                b',' => "name the file .csv",
                b'\t' => "name the file .tsv",
                _ => "save it with commas; decimal commas must become points",
            };
            return Err(header
                .fault_in(0, format!("names separated by {}", name_of(wanted)))
                .found(name_of(other))
                .help(help)
                .into());
        }
    }
    Ok(())
}

/// What the cells of a column become.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Numbers, unless a cell shows that they are values.
    Unknown,
    Number,
    Value,
    Label(LabelId),
    Tags,
}

impl Role {
    fn of(known: &Attribute) -> Role {
        match known.kind {
            AttributeKind::Numeric | AttributeKind::Word => Role::Number,
            AttributeKind::Nominal(_) | AttributeKind::Date | AttributeKind::Text(_) => Role::Value,
        }
    }
}

/// Finds the columns that hold something else than numbers.
fn infer<R: Read>(records: &mut Records<R>, names: &[String], roles: &mut [Role]) -> Result<()> {
    while let Some(record) = records.next()? {
        check_length(record, roles.len())?;
        for (field, role) in roles.iter_mut().enumerate() {
            if !matches!(role, Role::Unknown | Role::Number) {
                continue;
            }
            match (*role, Cell::of(record.bytes(field))) {
                (Role::Unknown, Cell::Text) => *role = Role::Value,
                (Role::Number, Cell::Text) => {
                    let expected = format!("a number, as {:?} was in training", names[field]);
                    let help = "a missing cell is empty, ? or NA";
                    return Err(record.fault_in(field, expected).help(help).into());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

pub(crate) fn check_length(record: &Record, n_columns: usize) -> Result<()> {
    let n = record.n_fields();
    if n == n_columns {
        return Ok(());
    }
    let separator = match record.separator() {
        b'\t' => "tab",
        _ => "comma",
    };
    let help = if n > n_columns {
        format!("a value that holds a {separator} must stand in double quotes")
    } else {
        format!(
            "a missing cell is empty but keeps its {separator}; \
             a value that holds a line end must stand in double quotes"
        )
    };
    let header = if n_columns == 1 { "1 field" } else { &format!("{n_columns} fields") };
    let fault = record.fault_in_all(format!("{header}, as in the header"));
    Err(fault.found(n).help(help).into())
}

/// What a cell is by its text alone, whatever its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Number(f64),
    Text,
}

impl Cell {
    pub(crate) fn of(bytes: &[u8]) -> Cell {
        let bytes = bytes.trim_ascii();
        match number::parse(bytes) {
            Some(value) if value.is_nan() => Cell::Missing,
            Some(value) => Cell::Number(value),
            None if bytes.is_empty() || bytes == b"?" || bytes == b"NA" => Cell::Missing,
            None if bytes.eq_ignore_ascii_case(b"null") => Cell::Missing,
            None => Cell::Text,
        }
    }
}

/// Gathers rows.
struct Rows<'o> {
    options: &'o ReadOptions,
    names: Vec<String>,
    roles: Vec<Role>,
    /// The values of each nominal column, by column.
    values: HashMap<usize, Values>,
    features: Dense,
    label_names: Vec<String>,
    labels: LabelMatrix,
    tags: Values,
    /// The tags of all rows; row r owns `tag_starts[r]..tag_starts[r + 1]`.
    row_tags: Vec<u32>,
    tag_starts: Vec<usize>,
    n_without_label: usize,
    /// The rows whose tags are all unknown.
    rows_without_tags: Vec<usize>,
    /// The row being read, kept to be filled again.
    cells: Vec<f64>,
    relevant: Vec<LabelId>,
    unknown: Vec<LabelId>,
}

impl<'o> Rows<'o> {
    fn new(
        names: Vec<String>,
        label_names: Vec<String>,
        roles: Vec<Role>,
        options: &'o ReadOptions,
    ) -> Rows<'o> {
        let is_feature = |role: &&Role| !matches!(role, Role::Label(_) | Role::Tags);
        let n_features = roles.iter().filter(is_feature).count();
        Rows {
            options,
            names,
            roles,
            values: HashMap::new(),
            features: Dense::new(n_features),
            labels: LabelMatrix::new(label_names.len()),
            label_names,
            tags: Values::default(),
            row_tags: vec![],
            tag_starts: vec![0],
            n_without_label: 0,
            rows_without_tags: vec![],
            cells: Vec::with_capacity(n_features),
            relevant: vec![],
            unknown: vec![],
        }
    }

    fn read(&mut self, record: &Record, budget: &mut Budget) -> Result<()> {
        check_length(record, self.roles.len())?;
        self.cells.clear();
        self.relevant.clear();
        self.unknown.clear();
        let first_tag = self.row_tags.len();
        let mut without_label = None;
        for field in 0..self.roles.len() {
            let bytes = record.bytes(field);
            let cell = Cell::of(bytes);
            match (self.roles[field], cell) {
                (Role::Unknown | Role::Number | Role::Value, Cell::Missing) => {
                    self.cells.push(f64::NAN);
                }
                (Role::Unknown | Role::Number, Cell::Number(value)) => self.cells.push(value),
                (Role::Unknown | Role::Number, Cell::Text) => {
                    let help = "the file changed while it was read";
                    return Err(record.fault_in(field, "a number").help(help).into());
                }
                (Role::Value, _) => {
                    let values = self.values.entry(field).or_default();
                    let value = values.intern(bytes, || record.text(field), record, budget)?;
                    self.cells.push(f64::from(value));
                }
                (Role::Label(label), Cell::Missing) => {
                    self.unknown.push(label);
                    without_label = Some(field);
                }
                (Role::Label(label), _) => {
                    match relevance::of_text(bytes.trim_ascii(), self.options.binarize) {
                        Some(true) => self.relevant.push(label),
                        Some(false) => {}
                        None => return Err(self.not_binary(record, field)),
                    }
                }
                (Role::Tags, Cell::Missing) if bytes.trim_ascii().is_empty() => {}
                (Role::Tags, Cell::Missing) => without_label = Some(field),
                (Role::Tags, _) => self.read_tags(record, field, budget)?,
            }
        }
        if let Some(field) = without_label {
            match self.options.missing_labels {
                MissingLabels::Refuse => return Err(self.missing(record, field)),
                MissingLabels::Irrelevant => {
                    self.n_without_label += 1;
                    self.unknown.clear();
                }
                MissingLabels::Learn => {
                    self.n_without_label += 1;
                    if self.unknown.is_empty() {
                        self.rows_without_tags.push(self.labels.n_rows());
                    }
                }
                MissingLabels::Drop => {
                    self.n_without_label += 1;
                    self.row_tags.truncate(first_tag);
                    return Ok(());
                }
            }
        }
        let n_tags = self.row_tags.len() - first_tag;
        // Where some cells are unknown, there is a second bit for each.
        let n_bits = if self.options.missing_labels == MissingLabels::Learn { 2 } else { 1 };
        let label_bytes = n_bits * self.label_names.len().div_ceil(64) * 8;
        let n_bytes = self.cells.len() * 8 + label_bytes + n_tags * 4;
        budget.charge(n_bytes + 8, &record.first_line())?;
        let line = record.first_line();
        let room = self.features.try_reserve_row().and_then(|()| self.labels.try_reserve(1));
        room.map_err(|_| Error::out_of_memory(line.path))?;
        self.features.push_row(&self.cells);
        let row = self.labels.push_row();
        for &label in &self.relevant {
            self.labels.set(row, label, true);
        }
        for &label in &self.unknown {
            self.labels.forget(row, label);
        }
        self.tag_starts.push(self.row_tags.len());
        Ok(())
    }

    /// A cell of tags. A tag twice in a cell is that tag.
    fn read_tags(&mut self, record: &Record, field: usize, budget: &mut Budget) -> Result<()> {
        let LabelChoice::Tags { separator, .. } = &self.options.labels else { return Ok(()) };
        let text = record.text(field)?;
        for tag in text.split(separator.as_str()).map(str::trim).filter(|tag| !tag.is_empty()) {
            let tag =
                self.tags.intern(tag.as_bytes(), || Ok(Cow::Borrowed(tag)), record, budget)?;
            self.row_tags.push(tag);
        }
        Ok(())
    }

    fn not_binary(&self, record: &Record, field: usize) -> Error {
        record
            .fault_in(field, format!("0 or 1 for label {:?}", self.names[field]))
            .help(relevance::remedy(record.bytes(field)))
            .into()
    }

    fn missing(&self, record: &Record, field: usize) -> Error {
        let expected = match self.roles[field] {
            Role::Tags => format!("tags in column {:?}", self.names[field]),
            _ => format!("0 or 1 for label {:?}", self.names[field]),
        };
        let spelt = String::from_utf8_lossy(record.bytes(field).trim_ascii()).into_owned();
        let spelt = if spelt.is_empty() { "nothing".into() } else { spelt };
        record
            .fault_in(field, expected)
            .found(format!("{spelt}, a missing value"))
            .help(MissingLabels::remedy())
            .into()
    }

    fn finish(mut self, path: &Path, mut notes: Vec<Note>, budget: &mut Budget) -> Result<Reading> {
        let is_feature = |&at: &usize| !matches!(self.roles[at], Role::Label(_) | Role::Tags);
        let fields: Vec<usize> = (0..self.roles.len()).filter(is_feature).collect();
        let mut attributes = Vec::with_capacity(fields.len());
        for (column, field) in fields.into_iter().enumerate() {
            let name = std::mem::take(&mut self.names[field]);
            attributes.push(match self.roles[field] {
                Role::Value => {
                    let (values, ranks) = self.values.remove(&field).unwrap_or_default().sorted();
                    let rank = |cell: f64| ranks.get(cell as usize).map_or(cell, |&at| at as f64);
                    let keep_missing = |cell: f64| if cell.is_nan() { cell } else { rank(cell) };
                    self.features.map_column(column, keep_missing);
                    Attribute::nominal(name, values)
                }
                _ => Attribute::numeric(name),
            });
        }
        if let LabelChoice::Tags { .. } = self.options.labels {
            self.label_tags(path, &attributes, budget)?;
        }
        notes.extend(self.options.missing_labels.note(self.n_without_label));
        let mut features = Matrix::Dense(self.features);
        features.shrink();
        self.labels.shrink();
        let name = file::stem(path);
        let data = Dataset::new(name, attributes, features, self.label_names, self.labels)?;
        Ok(Reading { table: Table::Rows(data), notes })
    }

    /// Makes the tags that were found into labels.
    fn label_tags(
        &mut self,
        path: &Path,
        attributes: &[Attribute],
        budget: &mut Budget,
    ) -> Result<()> {
        let (mut names, ranks) = std::mem::take(&mut self.tags).sorted();
        let columns: HashSet<&str> = attributes.iter().map(|column| column.name.as_str()).collect();
        let taken: HashSet<String> = names.iter().cloned().collect();
        for tag in names.iter_mut().filter(|tag| columns.contains(tag.as_str())) {
            let is_free = |name: &String| !columns.contains(name.as_str()) && !taken.contains(name);
            let free = (2..).map(|n| format!("{tag}.{n}")).find(is_free).unwrap_or_default();
            if !self.options.dedupe {
                return Err(Error::Content(Box::new(ContentError {
                    path: path.into(),
                    line: 0,
                    column: 0,
                    found: format!("{tag:?}, which is both"),
                    expected: "tags and columns of different names".into(),
                    help: Some(
                        Remedy::from("rename the column, or ")
                            .setting("dedupe")
                            .text(format!(" reads the tag as {free}")),
                    ),
                    excerpt: None,
                })));
            }
            *tag = free;
        }
        let n_rows = self.labels.n_rows();
        budget.charge_at_end(n_rows.saturating_mul(names.len().div_ceil(64) * 8), path)?;
        self.labels = LabelMatrix::empty(n_rows, names.len());
        for row in 0..n_rows {
            for &tag in &self.row_tags[self.tag_starts[row]..self.tag_starts[row + 1]] {
                self.labels.set(row, LabelId(ranks[tag as usize]), true);
            }
        }
        if !self.rows_without_tags.is_empty() {
            budget.charge_at_end(self.labels.n_bytes(), path)?;
        }
        for &row in &self.rows_without_tags {
            self.labels.ids().for_each(|label| self.labels.forget(row, label));
        }
        self.label_names = names;
        Ok(())
    }
}

/// Distinct texts, numbered in order of appearance until all are known.
#[derive(Default)]
struct Values {
    texts: Vec<String>,
    index: HashMap<Vec<u8>, u32>,
}

impl Values {
    /// The number of a text, which is decoded only if it is new.
    fn intern<'t>(
        &mut self,
        bytes: &[u8],
        text: impl FnOnce() -> Result<Cow<'t, str>>,
        record: &Record,
        budget: &mut Budget,
    ) -> Result<u32> {
        if let Some(&at) = self.index.get(bytes) {
            return Ok(at);
        }
        budget.charge(bytes.len() * 2 + 100, &record.first_line())?;
        let at = self.texts.len() as u32;
        self.texts.push(text()?.into_owned());
        self.index.insert(bytes.to_vec(), at);
        Ok(at)
    }

    /// The texts in byte order, and the place there of each by its number.
    fn sorted(self) -> (Vec<String>, Vec<usize>) {
        let mut texts: Vec<(String, usize)> =
            self.texts.into_iter().enumerate().map(|(at, text)| (text, at)).collect();
        texts.sort_unstable();
        let mut ranks = vec![0; texts.len()];
        for (rank, (_, at)) in texts.iter().enumerate() {
            ranks[*at] = rank;
        }
        (texts.into_iter().map(|(text, _)| text).collect(), ranks)
    }
}

/// Writes the names of the columns: inputs, then labels.
pub(crate) fn write_header(
    data: &Dataset,
    separator: u8,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut out = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    let inputs = data.attributes().iter().map(|attribute| &attribute.name);
    out.write_record(inputs.chain(data.label_names()))?;
    finish(out)
}

/// Flushes, and takes the writer apart: dropped whole, it would flush again and keep a failure to
/// itself.
fn finish(out: csv::Writer<&mut dyn Write>) -> std::io::Result<()> {
    out.into_inner().map(drop).map_err(csv::IntoInnerError::into_error)
}

/// Writes the rows: inputs, then labels as 0 and 1, or nothing where they are unknown.
pub(crate) fn write_rows(
    data: &Dataset,
    separator: u8,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut out = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    let mut cells = vec![0.0; data.n_features()];
    let mut digits = Vec::new();
    for row in 0..data.n_rows() {
        cells.fill(0.0);
        data.features().entries(row).for_each(|(column, value)| cells[column] = value);
        for (attribute, &value) in data.attributes().iter().zip(&cells) {
            match attribute.spelt(value) {
                None => out.write_field("")?,
                Some(Spelt::Number(value)) => {
                    digits.clear();
                    number::push(value, &mut digits);
                    out.write_field(&digits)?;
                }
                Some(Spelt::Text(text)) => out.write_field(text.as_bytes())?,
            }
        }
        for label in data.labels().ids() {
            out.write_field(match data.labels().cell(row, label) {
                Some(true) => "1",
                Some(false) => "0",
                None => "",
            })?;
        }
        out.write_record(None::<&[u8]>)?;
    }
    finish(out)
}

#[cfg(test)]
mod tests;
