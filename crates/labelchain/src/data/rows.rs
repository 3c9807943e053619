//! Rows of text formats whose columns have names, as CSV and JSON lines: what each column is, and how
//! cells are gathered into a [`Dataset`].
//!
//! A format cuts its text into [`Row`]s, twice. The first time it finds out which columns there are
//! and which of them hold something else than numbers ([`NamedColumns`]), for that can be said of
//! whole columns only; the second time the cells are kept, so many rows at a time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::label_list::{Columns, LabelChoice};
use super::lines::{Budget, Fault, Line};
use super::{
    Attribute, AttributeKind, Blocks, Dataset, Dense, LabelId, LabelMatrix, Matrix, MissingLabels,
    Note, ReadOptions, Reading, Table, file, in_blocks, number, relevance,
};
use crate::error::{ContentError, Error, Remedy, Result};

/// More columns than any table has; a header of nothing but separators is refused here and not
/// at the end of memory.
pub(crate) const MAX_COLUMNS: usize = 1 << 20;

/// What usually stands between tags.
const SEPARATORS: [u8; 4] = [b';', b',', b'|', b'/'];

/// What a cell is, whatever its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Number(f64),
    Text,
}

impl Cell {
    /// What a cell is by its text alone, where the format has nothing but texts.
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

/// One row as its format spells it.
pub(crate) trait Row {
    /// What stands in a column.
    fn cell(&self, column: usize) -> Cell;

    /// How it is spelt, without quotes.
    fn bytes(&self, column: usize) -> &[u8];

    /// The same as text.
    fn text(&self, column: usize) -> Result<Cow<'_, str>>;

    /// Gives the tags in a cell one after the other. Whether there are any to know of: none at all
    /// is known, a missing cell is not.
    fn tags(
        &self,
        column: usize,
        separator: &str,
        give: impl FnMut(&str) -> Result<()>,
    ) -> Result<bool>;

    /// Says that a cell is not what was expected there.
    fn fault_in(&self, column: usize, expected: String) -> Fault;

    /// The line in which the row starts.
    fn first_line(&self) -> Line<'_>;
}

/// Gives the tags of a delimited text, without the blanks around.
pub(crate) fn split_tags(
    text: &str,
    separator: &str,
    give: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    text.split(separator).map(str::trim).filter(|tag| !tag.is_empty()).try_for_each(give)
}

/// What the cells of a column become.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
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

/// The columns of a file: what they are called, and what becomes of their cells.
pub(crate) struct NamedColumns {
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
    pub(crate) notes: Vec<Note>,
    label_names: Vec<String>,
}

impl NamedColumns {
    /// Finds labels and tags among the names, and the kinds that are known beforehand. The kind of
    /// the others is for the format to find out.
    pub(crate) fn new(
        path: &Path,
        names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<NamedColumns> {
        if let LabelChoice::Tags { separator, .. } = &options.labels
            && separator.is_empty()
        {
            return Err(Error::Setting {
                name: "tag-separator",
                value: "empty".into(),
                accepted: "at least one character",
            });
        }
        let columns = Columns { path, names: &names, relation: None };
        let labels = columns.labels(&options.labels, &options.checksums)?;
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
        let label_names = labels.positions.iter().map(|&at| names[at].clone()).collect();
        Ok(NamedColumns { names, roles, notes: labels.notes, label_names })
    }

    /// The rows that `read` finds, `n_rows` at a time; it says whether there was one more.
    pub(crate) fn into_blocks<'p>(
        self,
        path: &'p Path,
        options: &ReadOptions,
        n_rows: usize,
        budget: Budget,
        mut read: impl FnMut(&mut Rows, &mut Budget) -> Result<bool> + 'p,
    ) -> Blocks<'p> {
        let NamedColumns { names, roles, mut notes, label_names } = self;
        // Tags are labels only when all are known.
        let n_rows = if roles.contains(&Role::Tags) { usize::MAX } else { n_rows };
        let options = options.clone();
        Box::new(in_blocks(n_rows, move || {
            let mut rows = Rows::new(names.clone(), label_names.clone(), roles.clone(), &options);
            // A block is freed before the next one is read, so that each is charged to a copy of its own.
            let mut budget = budget.clone();
            while rows.labels.n_rows() < n_rows && read(&mut rows, &mut budget)? {}
            let (n_read, notes) = (rows.labels.n_rows(), std::mem::take(&mut notes));
            Ok((rows.finish(path, notes, &mut budget)?, n_read))
        }))
    }
}

/// A column that was numeric in training has a cell that is none.
pub(crate) fn not_a_number(row: &impl Row, column: usize, name: &str) -> Error {
    let expected = format!("a number, as {name:?} was in training");
    let help = "a number is spelt 1234.56, or 1234,56 where semicolons separate fields, without units; a missing \
                cell is empty, ? or NA";
    row.fault_in(column, expected).help(help).into()
}

/// Gathers rows.
pub(crate) struct Rows<'o> {
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

    pub(crate) fn read(&mut self, record: &impl Row, budget: &mut Budget) -> Result<()> {
        self.cells.clear();
        self.relevant.clear();
        self.unknown.clear();
        let first_tag = self.row_tags.len();
        let mut without_label = None;
        for field in 0..self.roles.len() {
            match (self.roles[field], record.cell(field)) {
                (Role::Unknown | Role::Number | Role::Value, Cell::Missing) => {
                    self.cells.push(f64::NAN);
                }
                (Role::Unknown | Role::Number, Cell::Number(value)) => self.cells.push(value),
                // Where a format tells numbers and texts apart, a text may still read as a number.
                (Role::Number, Cell::Text) => {
                    self.cells.push(match Cell::of(record.bytes(field)) {
                        Cell::Missing => f64::NAN,
                        Cell::Number(value) => value,
                        Cell::Text => return Err(not_a_number(record, field, &self.names[field])),
                    })
                }
                (Role::Unknown, Cell::Text) => {
                    let help = "the file changed while it was read";
                    return Err(record.fault_in(field, "a number".into()).help(help).into());
                }
                (Role::Value, _) => {
                    let values = self.values.entry(field).or_default();
                    let text = || record.text(field);
                    let value = values.intern(record.bytes(field), text, record, budget)?;
                    self.cells.push(f64::from(value));
                }
                (Role::Label(label), Cell::Missing) => {
                    self.unknown.push(label);
                    without_label = Some(field);
                }
                (Role::Label(label), _) => {
                    let text = record.bytes(field).trim_ascii();
                    match relevance::of_text(text, self.options.binarize) {
                        Some(true) => self.relevant.push(label),
                        Some(false) => {}
                        None => return Err(self.not_binary(record, field)),
                    }
                }
                (Role::Tags, _) => {
                    if !self.read_tags(record, field, budget)? {
                        without_label = Some(field);
                    }
                }
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

    /// A cell of tags, and whether they are known. A tag twice in a cell is that tag.
    fn read_tags(&mut self, record: &impl Row, field: usize, budget: &mut Budget) -> Result<bool> {
        let LabelChoice::Tags { separator, .. } = &self.options.labels else { return Ok(true) };
        record.tags(field, separator, |tag| {
            let text = || Ok(Cow::Borrowed(tag));
            self.row_tags.push(self.tags.intern(tag.as_bytes(), text, record, budget)?);
            Ok(())
        })
    }

    fn not_binary(&self, record: &impl Row, field: usize) -> Error {
        record
            .fault_in(field, format!("0 or 1 for label {:?}", self.names[field]))
            .help(relevance::remedy(record.bytes(field)))
            .into()
    }

    fn missing(&self, record: &impl Row, field: usize) -> Error {
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
            notes.extend(self.tag_notes());
        }
        notes.extend(self.options.missing_labels.note(self.n_without_label));
        let mut features = Matrix::Dense(self.features);
        features.shrink();
        self.labels.shrink();
        let name = file::stem(path);
        let data = Dataset::new(name, attributes, features, self.label_names, self.labels)?;
        Ok(Reading { table: Table::Rows(data), notes })
    }

    /// What looks like a slip in the tags.
    fn tag_notes(&self) -> Vec<Note> {
        let LabelChoice::Tags { separator, .. } = &self.options.labels else { return vec![] };
        let mut notes = Vec::new();
        let without = self.tag_starts.windows(2).filter(|span| span[0] == span[1]).count();
        // Rows whose tags are not known are counted apart, and there are none any more if they were dropped.
        let unknown = match self.options.missing_labels {
            MissingLabels::Drop => 0,
            _ => self.n_without_label,
        };
        let without = without.saturating_sub(unknown);
        if without > 0 {
            let rows = if without == 1 { "1 row has" } else { &format!("{without} rows have") };
            let text = format!(
                "{rows} no tag, so that no label is relevant there; where tags are not known, write NA (in JSON null)"
            );
            notes.push(Note { code: "no-tags", text });
        }
        let counts = self.labels.counts();
        let named = |at: &usize| {
            let rows = if counts[*at] == 1 { "row" } else { "rows" };
            format!("{:?} in {} {rows}", self.label_names[*at], counts[*at])
        };
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, name) in self.label_names.iter().enumerate() {
            let words: Vec<&str> = name.split_whitespace().collect();
            alike.entry(words.join(" ").to_lowercase()).or_default().push(at);
        }
        let mut groups: Vec<Vec<usize>> = alike.into_values().filter(|of| of.len() > 1).collect();
        groups.sort_unstable();
        if !groups.is_empty() {
            const SHOWN: usize = 5;
            let named = |group: &Vec<usize>| group.iter().map(named).collect::<Vec<_>>().join(", ");
            let shown: Vec<String> = groups.iter().take(SHOWN).map(named).collect();
            let more = if groups.len() > SHOWN { "; …" } else { "" };
            let text = format!(
                "tags that differ only by case or blanks are labels of their own: {}{more}; write them alike",
                shown.join("; ")
            );
            notes.push(Note { code: "tags-alike", text });
        }
        let is_one_each = self.tag_starts.windows(2).all(|span| span[1] - span[0] <= 1);
        let has = |other: &u8| self.label_names.iter().find(|tag| tag.as_bytes().contains(other));
        let other = SEPARATORS.into_iter().find_map(|other| Some((other, has(&other)?)));
        if let (true, Some((other, tag))) = (is_one_each, other) {
            let other = char::from(other);
            let text = format!(
                "no cell has the separator {separator:?}, and a tag is {tag:?}: perhaps it is {other:?}"
            );
            notes.push(Note { code: "tag-separator", text });
        }
        notes
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
        record: &impl Row,
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
