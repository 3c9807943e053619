//! JSON lines: one object per line, whose keys are the columns.
//!
//! Columns are all keys, in the order in which they first appear; blank lines are skipped. A column
//! is numeric if its cells are numbers, or `true` and `false`, which are 1 and 0; one string makes
//! it nominal, its values in byte order, a number among them as it is spelt. JSON tells numbers and
//! strings apart, so `"1"` is a name, unless the column is known to be numeric
//! ([`ReadOptions::attributes`]). Missing is `null`, and a key that a row does not have; inputs that are known are
//! columns even if no row has their key, with a note.
//!
//! A label is 0 or 1, `true` or `false`, or a string that CSV would accept. The column of tags may
//! hold arrays of strings, or strings with separators. Nothing else may be nested.
//!
//! # What JSON lines cannot carry
//!
//! - the order of a nominal attribute's values, and values that no row has;
//! - an attribute's kind where no row has a value of it, and the columns of a file without rows;
//! - infinite numbers under a name: they are written as `1e999`, which is read back as infinite;
//! - which columns are labels (the label list beside the file says it);
//! - row weights, and that the cells were sparse.

mod object;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;

use super::label_list::LabelChoice;
use super::lines::{Budget, Encoding, Line, Lines};
use super::rows::{Cell, MAX_COLUMNS, NamedColumns, Role, Row as _};
use super::{Attribute, Blocks, Dataset, Note, ReadOptions, Spelt, check_names, number};
use crate::error::{ContentError, Error, Remedy, Result};
use object::Object;

/// Reads JSON lines. `open` starts the text anew: keys and kinds of columns are known only when all
/// lines are, so the text is read twice, the second time so many rows at a time.
pub(crate) fn read<'p>(
    path: &'p Path,
    open: impl Fn() -> Result<Box<dyn Read + 'p>>,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<Blocks<'p>> {
    let lines =
        || Ok(Lines::new(path, open()?, options.encoding).within(options.max_memory)) as Result<_>;
    let tags = match &options.labels {
        LabelChoice::Tags { column, .. } => Some(column.clone()),
        _ => None,
    };
    let mut budget = Budget::new(options.max_memory);
    let mut keys = Keys::default();
    let mut first_pass = lines()?;
    let mut learn = |object: Object| keys.learn(&object, options.dedupe, &mut budget);
    while next(&mut first_pass, tags.as_deref(), &mut learn)? {}
    drop(first_pass);
    if keys.names.is_empty() {
        return Err(Error::Content(Box::new(ContentError {
            path: path.into(),
            line: 1,
            column: 0,
            found: "the end of the file".into(),
            expected: "a JSON object with at least one key".into(),
            help: Some("each line is an object whose keys are the columns: {\"x\": 1}".into()),
            excerpt: None,
        })));
    }

    let absent = keys.add_absent(options);
    let mut names = keys.names.clone();
    for (at, name) in names.iter_mut().enumerate().filter(|(_, name)| name.trim().is_empty()) {
        *name = format!("column{}", at + 1);
    }
    check_names(path, &mut names, options.dedupe)?;
    let mut columns = NamedColumns::new(path, names, options)?;
    if let Some(first) = absent.first() {
        let text = format!(
            "keys that no row has, and that are missing in all: {} (first: {first:?})",
            absent.len()
        );
        columns.notes.push(Note { code: "absent-keys", text });
    }
    for (role, &has_text) in columns.roles.iter_mut().zip(&keys.has_text) {
        if *role == Role::Unknown && has_text {
            *role = Role::Value;
        }
    }
    let mut second_pass = lines()?;
    Ok(columns.into_blocks(path, options, n_rows, budget, move |rows, budget| {
        next(&mut second_pass, tags.as_deref(), |mut object| {
            object.arrange(&keys)?;
            rows.read(&object, budget)
        })
    }))
}

/// Gives the object on the next line that is not blank to `use_it`; whether there was one.
fn next<R: Read>(
    lines: &mut Lines<R>,
    tags: Option<&str>,
    use_it: impl FnOnce(Object) -> Result<()>,
) -> Result<bool> {
    while let Some(line) = lines.next()? {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        let decoded = line.encoding.decode(line.bytes);
        let text = decoded.or_else(|_| line.text(line.bytes, 0).map(Cow::Owned))?;
        let line = Line { bytes: text.as_bytes(), encoding: Encoding::Utf8, ..line };
        return use_it(Object::parse(line, &text, tags)?).map(|()| true);
    }
    Ok(false)
}

/// The keys of all objects, in the order in which they first appear.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// Whether some row has a string there.
    has_text: Vec<bool>,
}

impl Keys {
    /// The column of the key that stands at `place` in its object. Objects mostly have the same keys
    /// in the same order, and then nothing is looked up.
    fn column(&self, key: &str, place: usize) -> Option<usize> {
        if self.names.get(place).is_some_and(|name| name == key) {
            return Some(place);
        }
        self.places.get(key).copied()
    }

    /// Adds the keys that are new, and notes what is no number.
    fn learn(&mut self, object: &Object, dedupe: bool, budget: &mut Budget) -> Result<()> {
        for (place, key, cell) in object.cells() {
            let column = match self.column(key, place) {
                Some(column) => column,
                None => {
                    self.check(key, object, place, dedupe)?;
                    budget.charge(key.len() * 4 + 200, &object.first_line())?;
                    let column = self.names.len();
                    self.names.push(key.into());
                    self.places.insert(key.into(), column);
                    self.has_text.push(false);
                    column
                }
            };
            self.has_text[column] |= cell == Cell::Text;
        }
        Ok(())
    }

    /// Adds the inputs that are known and that no object has: a key that is left out is missing, in some rows as
    /// in all. Where none of them is there, these are other rows, which is for others to say. What only says which
    /// row is which has no values, and may be absent.
    fn add_absent(&mut self, options: &ReadOptions) -> Vec<String> {
        let roles = &options.roles;
        let is_known = |known: &&Attribute| {
            let is_id = known.values().is_some_and(<[String]>::is_empty);
            !is_id && !roles.id.contains(&known.name) && !roles.text.contains(&known.name)
        };
        let is_there = |known: &&Attribute| self.places.contains_key(&known.name);
        let (there, absent): (Vec<&Attribute>, Vec<&Attribute>) =
            options.attributes.iter().filter(is_known).partition(is_there);
        if there.is_empty() {
            return vec![];
        }
        let absent: Vec<String> = absent.into_iter().map(|known| known.name.clone()).collect();
        for name in &absent {
            self.places.insert(name.clone(), self.names.len());
            self.names.push(name.clone());
            self.has_text.push(false);
        }
        absent
    }

    /// Refuses a key that cannot be a column.
    fn check(&self, key: &str, object: &Object, place: usize, dedupe: bool) -> Result<()> {
        let n = self.names.len() + 1;
        if n > MAX_COLUMNS {
            let fault = object.fault_at(place, format!("at most {MAX_COLUMNS} columns"));
            return Err(fault.found(n).into());
        }
        if key.trim().is_empty() && !dedupe {
            let remedy = Remedy::from("give it a name; ").setting("dedupe");
            let remedy = remedy.text(format!(" reads it as column{n}"));
            let fault = object.fault_at(place, "a name for every key".into());
            return Err(fault.found("a value without one").help(remedy).into());
        }
        Ok(())
    }
}

/// Writes the rows: inputs, then labels as 0 and 1; what is missing or unknown is null.
pub(crate) fn write_rows(data: &Dataset, out: &mut dyn Write) -> std::io::Result<()> {
    let key = |name: &String| -> std::io::Result<Vec<u8>> {
        let mut key = serde_json::to_vec(name)?;
        key.push(b':');
        Ok(key)
    };
    let inputs = data.attributes().iter().map(|attribute| &attribute.name);
    let keys = inputs.chain(data.label_names()).map(key).collect::<Result<Vec<_>, _>>()?;
    let mut cells = vec![0.0; data.n_features()];
    let mut line = Vec::new();
    for row in 0..data.n_rows() {
        line.clear();
        line.push(b'{');
        cells.fill(0.0);
        data.features().entries(row).for_each(|(column, value)| cells[column] = value);
        let mut keys = keys.iter();
        let mut begin = |line: &mut Vec<u8>| {
            if line.len() > 1 {
                line.push(b',');
            }
            line.extend(keys.next().into_iter().flatten());
        };
        for (attribute, &value) in data.attributes().iter().zip(&cells) {
            begin(&mut line);
            match attribute.spelt(value) {
                None => line.extend(b"null"),
                Some(Spelt::Number(value)) if value.is_infinite() => {
                    line.extend(if value > 0.0 { &b"1e999"[..] } else { b"-1e999" });
                }
                Some(Spelt::Number(value)) => number::push(value, &mut line),
                Some(Spelt::Text(text)) => serde_json::to_writer(&mut line, &text)?,
            }
        }
        for label in data.labels().ids() {
            begin(&mut line);
            line.extend(match data.labels().cell(row, label) {
                Some(true) => &b"1"[..],
                Some(false) => b"0",
                None => b"null",
            });
        }
        line.extend(b"}\n");
        out.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
