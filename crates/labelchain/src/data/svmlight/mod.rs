//! SVMLight and LIBSVM multi-label text: label ids, then index:value pairs.
//!
//! A row is `1,3 2:0.5 7:1 # comment`. Its label list may be empty, and goes on after a comma
//! even if a blank follows. Lines that are blank but for a comment are no rows, as in
//! scikit-learn's `load_svmlight_file`. Query ids (`qid:3`) are skipped. Indices may come in any
//! order; they count from one unless an index 0 occurs anywhere in the file. A value `nan` is
//! missing.
//!
//! Label ids are whole numbers, also written `1.0`. Where names are given (in the settings, or by
//! a label list beside the file), id k is the k-th name counted from zero. Where there are none,
//! the ids that occur are the labels, in ascending order and named by their number; the labels of a model
//! that was trained on such a file are found by these numbers, and ids that it does not have are ignored.
//!
//! # What SVMLight cannot carry
//!
//! - the names of features, and of labels but for the label list beside the file;
//! - nominal values (their positions are written, and read back as numbers);
//! - row weights, and whether the cells were dense;
//! - how many features a data set without rows has.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::label_list::{LabelChoice, LabelList, xml_beside};
use super::lines::{Budget, Line, Lines};
use super::{
    Attribute, AttributeKind, Dataset, LabelId, LabelMatrix, Matrix, Note, ReadOptions, Reading,
    Sparse, Table, file, number,
};
use crate::error::{ContentError, Error, Remedy, Result};

/// One wrong index must not make a table of as many columns: beyond this the user has to give the
/// number of features.
const MAX_INFERRED: usize = 1 << 20;

/// Columns are kept in 32 bits, and a one-based table has one more until the end.
const MAX_FEATURES: usize = 1 << 31;

/// Reads multi-label SVMLight text.
pub(crate) fn read(path: &Path, reader: impl Read, options: &ReadOptions) -> Result<Reading> {
    let (names, mut notes) = names(path, options)?;
    if let Some(n) = options.n_features.filter(|&n| n > MAX_FEATURES) {
        let accepted = "at most 2147483648";
        return Err(Error::Setting { name: "features", value: n.to_string(), accepted });
    }
    let mut budget = Budget::new(options.max_memory);
    let mut rows = Rows::new(names, options.n_features, Arc::clone(&options.attributes));
    if let LabelChoice::Present(names) = &options.labels {
        rows.places = Some(places(path, names, options)?);
    }
    let mut lines = Lines::new(path, reader, options.encoding).within(options.max_memory);
    while let Some(line) = lines.next()? {
        rows.read(&line, &mut budget)?;
    }
    if rows.n_queries > 0 {
        notes.push(Note {
            code: "query-ids-ignored",
            text: format!("{} rows carry a query id (qid); nothing uses them", rows.n_queries),
        });
    }
    let data = rows.finish(path, &mut budget)?;
    Ok(Reading { table: Table::Rows(data), notes })
}

/// The label names, where there are any.
fn names(path: &Path, options: &ReadOptions) -> Result<(Option<Vec<String>>, Vec<Note>)> {
    let listed = |xml: &Path| {
        let list = LabelList::read_hashed(xml, &options.checksums)?;
        let names = list.names().map(String::from).collect();
        Ok((Some(names), list.flattened(xml).into_iter().collect()))
    };
    let columns = |name| {
        Err(Error::Setting {
            name,
            value: "given for an SVMLight file".into(),
            accepted: "used with tables; here the labels stand in front of each row, as ids",
        })
    };
    match &options.labels {
        LabelChoice::First(_) => columns("labels-first"),
        LabelChoice::Last(_) => columns("labels-last"),
        LabelChoice::Tags { .. } => columns("tags"),
        LabelChoice::Xml(xml) => listed(xml),
        LabelChoice::Detect => match xml_beside(path) {
            xml if xml.is_file() => listed(&xml),
            _ => Ok((None, vec![])),
        },
        // Ids are positions in this list, also of labels that no row has.
        LabelChoice::Named(names) | LabelChoice::Present(names) => {
            let refuse = |value, accepted| Err(Error::Setting { name: "labels", value, accepted });
            let mut seen = HashSet::new();
            match names.iter().find(|name| !seen.insert(*name)) {
                Some(again) => refuse(format!("{again:?} more than once"), "each label once"),
                None if names.is_empty() => refuse("empty".into(), "at least one name"),
                None => Ok((Some(names.clone()), vec![])),
            }
        }
    }
}

/// The place of each id among labels that a file may have: by the label list beside the file, or by names
/// that are ids, or in the order of the names.
fn places(path: &Path, names: &[String], options: &ReadOptions) -> Result<HashMap<u32, u32>> {
    let xml = xml_beside(path);
    let is_id = |name: &String| name.parse::<u32>().is_ok_and(|id| id.to_string() == *name);
    let names_by_id: Vec<(u32, String)> = if xml.is_file() {
        let list = LabelList::read_hashed(&xml, &options.checksums)?;
        (0..).zip(list.names().map(String::from)).collect()
    } else if names.iter().all(is_id) {
        names.iter().filter_map(|name| Some((name.parse().ok()?, name.clone()))).collect()
    } else {
        (0..).zip(names.iter().cloned()).collect()
    };
    let place_of: HashMap<&String, u32> = names.iter().zip(0..).collect();
    Ok(names_by_id.iter().filter_map(|(id, name)| Some((*id, *place_of.get(name)?))).collect())
}

/// Gathers rows.
struct Rows {
    names: Option<Vec<String>>,
    /// Where names are those of labels that the file may have, the place of each id among them; other ids
    /// are ignored.
    places: Option<HashMap<u32, u32>>,
    /// How many features there are, if that was said: at least, where columns are known.
    n_features: Option<usize>,
    /// How many there may be.
    most_features: usize,
    /// Columns that whoever reads the file knows, and who ignores others.
    known: Arc<[Attribute]>,
    /// Columns as the file counts them, until it is known whether it counts from zero.
    features: Sparse,
    is_zero_based: bool,
    /// The largest index and where it first stands.
    largest: Option<Largest>,
    /// The label ids of all rows; row r owns `id_starts[r]..id_starts[r + 1]`.
    ids: Vec<u32>,
    id_starts: Vec<usize>,
    n_queries: usize,
    /// The row being read, kept to be filled again.
    entries: Vec<Entry>,
}

struct Entry {
    index: u32,
    value: f64,
    at: usize,
}

struct Largest {
    index: u32,
    line: u64,
    column: u64,
}

impl Rows {
    fn new(names: Option<Vec<String>>, n_features: Option<usize>, known: Arc<[Attribute]>) -> Rows {
        let most_features = match n_features {
            Some(n) if known.is_empty() => n,
            n => n.unwrap_or(0).max(MAX_INFERRED),
        };
        Rows {
            names,
            places: None,
            n_features,
            most_features,
            known,
            features: Sparse::new(most_features + 1),
            is_zero_based: false,
            largest: None,
            ids: vec![],
            id_starts: vec![0],
            n_queries: 0,
            entries: vec![],
        }
    }

    fn read(&mut self, line: &Line, budget: &mut Budget) -> Result<()> {
        let length = memchr::memchr(b'#', line.bytes).unwrap_or(line.bytes.len());
        let mut words = Words { bytes: &line.bytes[..length], at: 0 };
        let Some(first) = words.peek() else { return Ok(()) };
        let before = self.ids.len();
        if !words.bytes[first].contains(&b':') {
            self.read_labels(line, &mut words)?;
        }
        self.entries.clear();
        let mut has_query = false;
        while let Some(word) = words.next() {
            if words.bytes[word.clone()].starts_with(b"qid:") {
                has_query = true
            } else {
                self.read_entry(line, word)?
            }
            // More entries than columns: some index is repeated, however long the line still is.
            if self.entries.len() > self.most_features + 1 {
                self.sort(line)?;
            }
        }
        self.n_queries += usize::from(has_query);
        self.sort(line)?;
        let n_ids = self.ids.len() - before;
        budget.charge(self.entries.len() * 12 + n_ids * 4 + 16, line)?;
        let room = self.features.try_reserve_row(self.entries.len());
        room.map_err(|_| Error::out_of_memory(line.path))?;
        self.features.push_row(self.entries.iter().map(|entry| (entry.index, entry.value)));
        self.id_starts.push(self.ids.len());
        Ok(())
    }

    fn read_labels(&mut self, line: &Line, words: &mut Words) -> Result<()> {
        loop {
            let word = words.next_id();
            self.ids.extend(self.id(line, word)?);
            words.skip_blanks();
            if words.bytes.get(words.at) != Some(&b',') {
                return Ok(());
            }
            words.at += 1;
            words.skip_blanks();
        }
    }

    /// The id that is meant by a word; none if it is to be ignored.
    fn id(&self, line: &Line, word: Range<usize>) -> Result<Option<u32>> {
        let value = number::parse(&line.bytes[word.clone()]);
        let is_id =
            |value: &f64| value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(value);
        let Some(value) = value.filter(is_id) else {
            let fault = line.fault(word, "a label id: 0, 1, 2, …");
            return Err(match value {
                Some(value) if value < 0.0 => fault.help(
                    "if +1 and -1 are two classes: write 0 for the one label of rows that have \
                     it, and leave the list of the others empty",
                ),
                _ => fault.help("a row reads 1,3 2:0.5 7:1, label ids first"),
            }
            .into());
        };
        let id = value as u32;
        if let Some(places) = &self.places {
            return Ok(places.get(&id).copied());
        }
        match &self.names {
            Some(names) if id as usize >= names.len() => Err(line
                .fault(word, format!("a label id from 0 to {}", names.len() - 1))
                .help(format!("there are {} label names, and ids count from 0", names.len()))
                .into()),
            _ => Ok(Some(id)),
        }
    }

    fn read_entry(&mut self, line: &Line, word: Range<usize>) -> Result<()> {
        let bytes = &line.bytes[word.clone()];
        let Some(colon) = memchr::memchr(b':', bytes) else {
            return Err(line
                .fault(word, "index:value")
                .help("labels stand in front, with commas between them: 1,3 2:0.5 7:1")
                .into());
        };
        let index = word.start..word.start + colon;
        let digits = &bytes[..colon];
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(line.fault(word, "index:value with an index of 0, 1, 2, …").into());
        }
        let number = digits.iter().fold(0usize, |sum, digit| {
            sum.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
        });
        if number > self.most_features {
            return Err(line.fault(index, self.largest_index()).help(self.remedy(number)).into());
        }
        let at = index.start;
        let value = word.start + colon + 1..word.end;
        let Some(value) = number::parse(&line.bytes[value.clone()]) else {
            return Err(line.fault(value, "a number behind the colon").into());
        };
        let number = number as u32;
        self.is_zero_based |= number == 0;
        if self.largest.as_ref().is_none_or(|largest| largest.index < number) {
            let (line, column) = (line.number, at as u64 + 1);
            self.largest = Some(Largest { index: number, line, column });
        }
        self.entries.push(Entry { index: number, value, at });
        Ok(())
    }

    /// What was expected, for the message about an index that is too large.
    fn largest_index(&self) -> String {
        match (self.is_zero_based, self.most_features.checked_sub(1)) {
            (true, Some(max)) => format!("a feature index up to {max}, counted from 0"),
            _ => format!("a feature index up to {}", self.most_features),
        }
    }

    fn remedy(&self, index: usize) -> Remedy {
        let needed = index.saturating_add(usize::from(self.is_zero_based));
        Remedy::from("if there are so many features, say so: ").set("features", needed.to_string())
    }

    fn sort(&mut self, line: &Line) -> Result<()> {
        if self.entries.is_sorted_by(|a, b| a.index < b.index) {
            return Ok(());
        }
        self.entries.sort_by_key(|entry| entry.index);
        let mut pairs = self.entries.iter().zip(self.entries.iter().skip(1));
        match pairs.find(|(one, other)| one.index == other.index) {
            None => Ok(()),
            Some((_, again)) => Err(line
                .fault(again.at..again.at, "each feature index at most once in a row")
                .found(format!("{} again", again.index))
                .into()),
        }
    }

    fn finish(mut self, path: &Path, budget: &mut Budget) -> Result<Dataset> {
        let first = u32::from(!self.is_zero_based);
        let n_inferred = self.largest.as_ref().map_or(0, |largest| largest.index + 1 - first);
        let n_features = match self.n_features {
            Some(n) if self.known.is_empty() => n,
            n => n.unwrap_or(0).max(n_inferred as usize),
        };
        // Only now is it certain that the index equal to the limit was counted from zero.
        if let Some(largest) = &self.largest
            && n_inferred as usize > self.most_features
        {
            return Err(Error::Content(Box::new(ContentError {
                path: path.into(),
                line: largest.line,
                column: largest.column,
                found: format!("\"{}\"", largest.index),
                expected: self.largest_index(),
                help: Some(self.remedy(largest.index as usize)),
                excerpt: None,
            })));
        }
        budget.charge_at_end(n_features.saturating_mul(72), path)?;
        let attributes = self.attributes(first as usize, n_features);
        let mut features = Matrix::Sparse(self.features.crop(first..first + n_features as u32));
        features.shrink();

        let (label_names, labels) = match self.names.take() {
            Some(names) => {
                let label = |id: u32| LabelId(id as usize);
                let labels = labels(path, &self.ids, &self.id_starts, names.len(), label, budget)?;
                (names, labels)
            }
            None => {
                let known: Vec<u32> =
                    self.ids.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect();
                if known.is_empty() {
                    let reason = "no row has a label id".into();
                    return Err(Error::NoLabels { path: path.into(), reason });
                }
                // Every id is among them.
                let label = |id: u32| LabelId(known.partition_point(|&other| other < id));
                let labels = labels(path, &self.ids, &self.id_starts, known.len(), label, budget)?;
                (known.iter().map(u32::to_string).collect(), labels)
            }
        };
        Dataset::sharing(file::stem(path), attributes, features, label_names, labels)
    }

    /// Columns that are named by their numbers, from the first on. Those of a model that was trained on such a file
    /// are shared with it.
    fn attributes(&self, first: usize, n_features: usize) -> Arc<[Attribute]> {
        let is_called = |name: &str, mut number: usize| {
            let Some((b'f', digits)) = name.as_bytes().split_first() else { return false };
            let is_next = |digit: &u8| {
                let is_it = usize::from(*digit) == usize::from(b'0') + number % 10;
                number /= 10;
                is_it
            };
            let is_short = digits == b"0" || digits.first().is_some_and(|&digit| digit != b'0');
            is_short && digits.iter().rev().all(is_next) && number == 0
        };
        let is_known = self.known.len() == n_features
            && (first..).zip(&*self.known).all(|(number, of)| {
                of.kind == AttributeKind::Numeric && is_called(&of.name, number)
            });
        if is_known {
            return Arc::clone(&self.known);
        }
        (first..first + n_features).map(|at| Attribute::numeric(format!("f{at}"))).collect()
    }
}

fn labels(
    path: &Path,
    ids: &[u32],
    starts: &[usize],
    n_labels: usize,
    label: impl Fn(u32) -> LabelId,
    budget: &mut Budget,
) -> Result<LabelMatrix> {
    let n_rows = starts.len() - 1;
    budget.charge_at_end(n_rows.saturating_mul(n_labels.div_ceil(64) * 8), path)?;
    let mut labels = LabelMatrix::new(n_labels);
    labels.try_reserve(n_rows).map_err(|_| Error::out_of_memory(path))?;
    for row in 0..n_rows {
        labels.push_row();
        for &id in &ids[starts[row]..starts[row + 1]] {
            labels.set(row, label(id), true);
        }
    }
    Ok(labels)
}

/// The words of a line, which stand between blanks.
struct Words<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl Words<'_> {
    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<Range<usize>> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        (length > 0).then_some(self.at..self.at + length)
    }

    fn next(&mut self) -> Option<Range<usize>> {
        let word = self.peek()?;
        self.at = word.end;
        Some(word)
    }

    /// Up to a blank or comma; empty where there is nothing.
    fn next_id(&mut self) -> Range<usize> {
        let start = self.at;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        start..self.at
    }
}

/// Writes what was done to the data, as comments.
pub(crate) fn write_header(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    data.history().iter().try_for_each(|step| writeln!(out, "# {step}"))
}

/// Writes rows with one-based feature indices and zero-based label ids.
///
/// A zero is written where leaving it out would lose something: that there is a last column, if
/// these are the first rows of a file, or that there is a row.
pub(crate) fn write_rows(data: &Dataset, are_first: bool, out: &mut dyn Write) -> io::Result<()> {
    let last = data.n_features().checked_sub(1);
    let stored = |row| data.features().entries(row).filter(|&(_, value)| value != 0.0);
    let is_last = |(column, _): (usize, f64)| Some(column) == last;
    let mut says_width = !are_first || (0..data.n_rows()).any(|row| stored(row).any(is_last));
    let mut line = Vec::new();
    for row in 0..data.n_rows() {
        line.clear();
        for label in data.labels().relevant(row) {
            if !line.is_empty() {
                line.push(b',');
            }
            number::push(label.0 as f64, &mut line);
        }
        for (column, value) in stored(row) {
            line.push(b' ');
            number::push((column + 1) as f64, &mut line);
            line.push(b':');
            if value.is_nan() { line.extend(b"nan") } else { number::push(value, &mut line) }
        }
        match last {
            Some(last) if !says_width => write!(line, " {}:0", last + 1)?,
            Some(_) if line.is_empty() => line.extend(b" 1:0"),
            None if line.is_empty() => {
                let message = "SVMLight cannot hold a row without labels and without features";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            _ => {}
        }
        says_width = true;
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
