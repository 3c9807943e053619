//! CSV and TSV with a header line.
//!
//! Fields are separated by commas, or tabs in TSV, unless [`ReadOptions::delimiter`] says otherwise; and by
//! semicolons or tabs where the header of a CSV file has more of these, as spreadsheets write it that have decimal
//! commas. Between semicolons, `3,14` is a number, and so is `1.234,5`.
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

mod decimals;
mod delimiter;
mod names;
mod records;

use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::Path;

use super::lines::{Budget, Encoding, Fault, Line, Lines};
use super::rows::{Cell, MAX_COLUMNS, NamedColumns, Role, Row, not_a_number, split_tags};
use super::{Blocks, Dataset, Format, Note, ReadOptions, Spelt, check_names, number};
use crate::error::{ContentError, Error, Remedy, Result};

use decimals::{DecimalSigns, is_grouped};
pub use delimiter::Delimiter;
pub use names::CsvNames;
pub(crate) use records::{Record, Records};

/// Reads delimited text, so many rows at a time. The delimiter is found in the header if none is given. `open`
/// starts it anew: column types are inferred from whole columns before any cell is kept, so the text is read twice
/// unless all of them are known.
pub(crate) fn read<'p>(
    path: &'p Path,
    delimiter: Option<Delimiter>,
    open: impl Fn() -> Result<Box<dyn Read + 'p>>,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<Blocks<'p>> {
    let records = || -> Result<_> {
        let lines = Lines::new(path, open()?, options.encoding).within(options.max_memory);
        Ok(Records::new(lines, delimiter.map(Delimiter::byte), MAX_COLUMNS))
    };
    let mut budget = Budget::new(options.max_memory);

    let mut first_pass = records()?;
    let names = header(path, &mut first_pass, options, &mut budget)?;
    let mut columns = NamedColumns::new(path, names, options)?;
    let found = first_pass.separator();
    if delimiter.is_none() && found != b',' {
        let text = format!("columns are separated by {}, as the header shows", name_of(found));
        columns.notes.push(Note { code: "delimiter", text });
    }
    if columns.names.iter().all(|name| number::parse(name.as_bytes()).is_some()) {
        columns.notes.push(Note {
            code: "numeric-header",
            text: "the first line holds only numbers and was read as column names: is the header missing?".into(),
        });
    }
    if columns.roles.contains(&Role::Unknown) {
        infer(&mut first_pass, &mut columns)?;
    }
    drop(first_pass);

    let n_columns = columns.names.len();
    let mut second_pass = records()?;
    second_pass.next()?;
    second_pass.max_fields = n_columns;
    let mut signs = DecimalSigns::of(found, &columns, &options.roles.drop);
    Ok(columns.into_blocks(path, options, n_rows, budget, move |rows, budget| {
        let Some(record) = second_pass.next()? else { return Ok(false) };
        check_length(record, n_columns)?;
        signs.check(record)?;
        rows.read(record, budget)?;
        Ok(true)
    }))
}

/// Starts a table in which columns are looked for by name: the names, without the blanks around,
/// then the records below them.
pub(crate) fn open<'p>(path: &'p Path, text: Box<dyn Read + 'p>) -> Result<NamedRecords<'p>> {
    let separator = match Format::of(path) {
        Ok(Format::Tsv) => Some(b'\t'),
        _ => None,
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

/// A separator in words.
fn name_of(separator: u8) -> Cow<'static, str> {
    match separator {
        b',' => "commas".into(),
        b';' => "semicolons".into(),
        b'\t' => "tabs".into(),
        other => format!("{:?}", char::from(other)).into(),
    }
}

/// A header of one name with separators of another kind in it was meant as several names.
fn refuse_other_separator(header: &Record) -> Result<()> {
    let wanted = header.separator();
    let others = [b',', b';', b'\t'].into_iter().filter(|&other| other != wanted);
    for other in others {
        if header.bytes(0).contains(&other) {
            let spelt = if other == b'\t' { "tab".into() } else { char::from(other).to_string() };
            return Err(header
                .fault_in(0, format!("names separated by {}", name_of(wanted)))
                .found(name_of(other))
                .help(Remedy::default().set("delimiter", spelt).text(" reads it"))
                .into());
        }
    }
    Ok(())
}

/// Finds the columns that hold something else than numbers.
fn infer<R: Read>(records: &mut Records<R>, columns: &mut NamedColumns) -> Result<()> {
    let mut has_decimal_comma = vec![false; columns.roles.len()];
    // Whether a number has a point, and whether one has it elsewhere than between thousands.
    let mut has_point = vec![(false, false); columns.roles.len()];
    while let Some(record) = records.next()? {
        check_length(record, columns.roles.len())?;
        for (field, role) in columns.roles.iter_mut().enumerate() {
            if !matches!(role, Role::Unknown | Role::Number) {
                continue;
            }
            has_decimal_comma[field] |= record.decimal_comma(field).is_some();
            let cell = record.bytes(field).trim_ascii();
            if record.separator() == b';' && cell.contains(&b'.') {
                let (any, decimal) = &mut has_point[field];
                (*any, *decimal) = (true, *decimal || !is_grouped(cell));
            }
            match (*role, record.cell(field)) {
                (Role::Unknown, Cell::Text) => *role = Role::Value,
                (Role::Number, Cell::Text) => {
                    return Err(not_a_number(record, field, &columns.names[field]));
                }
                _ => {}
            }
        }
    }
    let is_number = |at: &usize| has_decimal_comma[*at] && columns.roles[*at] != Role::Value;
    let numbers: Vec<usize> = (0..columns.roles.len()).filter(is_number).collect();
    if let Some(&first) = numbers.first() {
        let text = format!(
            "columns of numbers with decimal commas, so that 3,14 is 3.14: {} (first: {:?})",
            numbers.len(),
            columns.names[first]
        );
        columns.notes.push(Note { code: "decimal-commas", text });
    }
    let is_open = |at: &usize| has_point[*at] == (true, false) && columns.roles[*at] != Role::Value;
    let open: Vec<usize> = (0..columns.roles.len()).filter(is_open).collect();
    if let Some(&first) = open.first() {
        let text = format!(
            "columns of numbers whose points all stand before three digits, read as decimal points, so that 1.500 \
             is 1.5: {} (first: {:?}); take points between thousands out",
            open.len(),
            columns.names[first]
        );
        columns.notes.push(Note { code: "points", text });
    }
    Ok(())
}

pub(crate) fn check_length(record: &Record, n_columns: usize) -> Result<()> {
    let n = record.n_fields();
    if n == n_columns {
        return Ok(());
    }
    let separator = name_of(record.separator());
    let separator = separator.strip_suffix('s').unwrap_or(&separator);
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

impl Row for Record<'_> {
    fn cell(&self, column: usize) -> Cell {
        match self.decimal_comma(column) {
            Some(number) => Cell::Number(number),
            None => Cell::of(self.bytes(column)),
        }
    }

    fn bytes(&self, column: usize) -> &[u8] {
        self.bytes(column)
    }

    fn text(&self, column: usize) -> Result<Cow<'_, str>> {
        self.text(column)
    }

    /// An empty cell has no tags; one that is missing by another sign is unknown.
    fn tags(
        &self,
        column: usize,
        separator: &str,
        give: impl FnMut(&str) -> Result<()>,
    ) -> Result<bool> {
        if self.bytes(column).trim_ascii().is_empty() {
            return Ok(true);
        }
        if self.cell(column) == Cell::Missing {
            return Ok(false);
        }
        split_tags(&self.text(column)?, separator, give).map(|()| true)
    }

    fn fault_in(&self, column: usize, expected: String) -> Fault {
        self.fault_in(column, expected)
    }

    fn first_line(&self) -> Line<'_> {
        self.first_line()
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
