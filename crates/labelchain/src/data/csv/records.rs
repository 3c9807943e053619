//! Delimited text record by record, with the place of every field.
//!
//! The `csv` crate's own reader says neither where in a line a field stands nor that a quote was
//! never closed (it takes the rest of the file for the value), so records are cut here; the tests
//! hold them against that reader.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::decimals::parse_comma;
use crate::data::lines::{Encoding, Fault, Line, Lines, MAX_LINE};
use crate::error::Result;

/// The records of a text. A blank line is none.
pub(crate) struct Records<'p, R> {
    lines: Lines<'p, R>,
    /// Fields beyond this many are counted but not kept, so that a line of nothing but
    /// separators takes no more memory than the header allows.
    pub(crate) max_fields: usize,
    /// Whether the first line still has to show what separates fields.
    is_separator_open: bool,
    record: Record<'p>,
}

impl<'p, R: Read> Records<'p, R> {
    /// Where no separator is given, the first line shows it.
    pub(crate) fn new(
        lines: Lines<'p, R>,
        separator: Option<u8>,
        max_fields: usize,
    ) -> Records<'p, R> {
        let record = Record {
            path: lines.path(),
            encoding: lines.encoding(),
            separator: separator.unwrap_or(b','),
            line: 0,
            raw: vec![],
            unescaped: vec![],
            fields: vec![],
            n_fields: 0,
            field_start: 0,
            scanned: 0,
        };
        Records { lines, max_fields, is_separator_open: separator.is_none(), record }
    }

    /// What separates fields, which is known with the first record.
    pub(crate) fn separator(&self) -> u8 {
        self.record.separator
    }

    /// The next record, until there is none.
    pub(crate) fn next(&mut self) -> Result<Option<&Record<'p>>> {
        let record = &mut self.record;
        record.clear();
        loop {
            let Some(line) = self.lines.next()? else {
                return if record.raw.is_empty() {
                    Ok(None)
                } else {
                    Err(record.unclosed("").found("the end of the file").into())
                };
            };
            if record.raw.is_empty() {
                if line.bytes.is_empty() {
                    continue;
                }
                record.line = line.number;
                if std::mem::take(&mut self.is_separator_open) {
                    record.separator = separator_of(line.bytes);
                }
            }
            record.raw.extend_from_slice(line.bytes);
            if record.scan(self.max_fields)? {
                return Ok(Some(record));
            }
            record.raw.extend_from_slice(self.lines.end());
            if record.raw.len() > MAX_LINE {
                return Err(record.unclosed(" within 256 MiB").found("none").into());
            }
        }
    }
}

/// What separates the fields of a header: of comma, semicolon and tab the one that stands in it most often, outside
/// of quotes, and of equals the first.
fn separator_of(header: &[u8]) -> u8 {
    let mut is_quoted = false;
    let is_outside = |byte: &&u8| {
        is_quoted ^= **byte == b'"';
        !is_quoted
    };
    let outside: Vec<u8> = header.iter().filter(is_outside).copied().collect();
    let n_of = |separator: &u8| memchr::memchr_iter(*separator, &outside).count();
    // The last of equals is taken.
    [b'\t', b';', b','].into_iter().max_by_key(n_of).unwrap_or(b',')
}

/// One record and where it stands.
pub(crate) struct Record<'p> {
    path: &'p Path,
    encoding: Encoding,
    separator: u8,
    /// Of its first line.
    line: u64,
    /// As the file has it, without the last line end.
    raw: Vec<u8>,
    /// The values in which doubled quotes had to be made single ones.
    unescaped: Vec<u8>,
    fields: Vec<Field>,
    n_fields: usize,
    /// Where the field being cut starts, and up to where it was looked through for its end.
    field_start: usize,
    scanned: usize,
}

/// Where a field stands in `raw`, quotes included.
struct Field {
    at: Range<usize>,
    value: Value,
}

enum Value {
    Bare,
    Quoted,
    /// Quoted, with quotes inside: this part of `unescaped`.
    Escaped(Range<usize>),
}

impl Record<'_> {
    fn clear(&mut self) {
        self.raw.clear();
        self.unescaped.clear();
        self.fields.clear();
        (self.n_fields, self.field_start, self.scanned) = (0, 0, 0);
    }

    /// Cuts fields up to the end of `raw`. Whether that is the end of the record.
    fn scan(&mut self, max_fields: usize) -> Result<bool> {
        loop {
            let start = self.field_start;
            let is_quoted = self.raw.get(start) == Some(&b'"');
            let end = if is_quoted {
                match self.closing_quote() {
                    None => return Ok(false),
                    Some(close) => close + 1,
                }
            } else {
                memchr::memchr(self.separator, &self.raw[start..])
                    .map_or(self.raw.len(), |length| start + length)
            };
            if self.raw.get(end).is_some_and(|&byte| byte != self.separator) {
                return Err(self
                    .fault(end..end + 1, "the next field behind a closing quote")
                    .help("a quote inside a quoted value is doubled: \"\"")
                    .into());
            }
            if self.n_fields < max_fields {
                let value = if is_quoted { self.unescape(start + 1..end - 1) } else { Value::Bare };
                self.fields.push(Field { at: start..end, value });
            }
            self.n_fields += 1;
            if end == self.raw.len() {
                break;
            }
            self.field_start = end + 1;
        }
        self.refuse_carriage_returns()?;
        Ok(true)
    }

    /// Where the quoted field being cut ends, if `raw` has it already.
    fn closing_quote(&mut self) -> Option<usize> {
        let mut from = self.scanned.max(self.field_start + 1);
        loop {
            let Some(length) = memchr::memchr(b'"', &self.raw[from..]) else {
                self.scanned = self.raw.len();
                return None;
            };
            let at = from + length;
            if self.raw.get(at + 1) != Some(&b'"') {
                return Some(at);
            }
            from = at + 2;
        }
    }

    fn unescape(&mut self, inside: Range<usize>) -> Value {
        let text = &self.raw[inside];
        if memchr::memchr(b'"', text).is_none() {
            return Value::Quoted;
        }
        let first = self.unescaped.len();
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'"', rest) {
            self.unescaped.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        self.unescaped.extend_from_slice(rest);
        Value::Escaped(first..self.unescaped.len())
    }

    /// A file whose lines end in `\r` alone would otherwise be one endless header.
    fn refuse_carriage_returns(&self) -> Result<()> {
        if memchr::memchr(b'\r', &self.raw).is_none() {
            return Ok(());
        }
        for field in &self.fields {
            let found = memchr::memchr(b'\r', &self.raw[field.at.clone()]);
            if let (Value::Bare, Some(at)) = (&field.value, found) {
                let at = field.at.start + at;
                return Err(self
                    .fault(at..at + 1, "lines that end in \\n or \\r\\n")
                    .found("\\r alone")
                    .help("convert the line ends, or quote the value if this is part of it")
                    .into());
            }
        }
        Ok(())
    }

    fn unclosed(&self, within: &str) -> Fault {
        self.fault(self.field_start..self.field_start, format!("a closing quote{within}")).help(
            "the quote was opened here; a value that begins with a quote must itself be quoted \
             and its quotes doubled: \"\"\"a\"\" b\"",
        )
    }

    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.raw.len()
    }

    /// How many fields there are, kept or not.
    pub(crate) fn n_fields(&self) -> usize {
        self.n_fields
    }

    /// The value of a field, without its quotes.
    pub(crate) fn bytes(&self, field: usize) -> &[u8] {
        let Field { at, value } = &self.fields[field];
        match value {
            Value::Bare => &self.raw[at.clone()],
            Value::Quoted => &self.raw[at.start + 1..at.end - 1],
            Value::Escaped(range) => &self.unescaped[range.clone()],
        }
    }

    /// A number with a decimal comma, which only stands where commas do not separate fields: spreadsheets write
    /// semicolons because of it.
    pub(crate) fn decimal_comma(&self, field: usize) -> Option<f64> {
        (self.separator == b';').then(|| parse_comma(self.bytes(field).trim_ascii()))?
    }

    pub(crate) fn is_quoted(&self, field: usize) -> bool {
        !matches!(self.fields[field].value, Value::Bare)
    }

    /// The text of a field.
    pub(crate) fn text(&self, field: usize) -> Result<Cow<'_, str>> {
        self.encoding.decode(self.bytes(field)).or_else(|_| {
            // Quotes are ASCII, so the first bad byte is the same with and without them.
            let at = &self.fields[field].at;
            let bad = self.encoding.decode(&self.raw[at.clone()]).err().unwrap_or_default();
            let (line, at) = self.line_at(at.start + bad);
            line.text(line.bytes.get(at..at + 1).unwrap_or_default(), at).map(Cow::Owned)
        })
    }

    /// Says that a field is not what was expected there.
    pub(crate) fn fault_in(&self, field: usize, expected: impl Into<String>) -> Fault {
        let Field { at, value } = &self.fields[field];
        match value {
            Value::Bare => self.fault(at.clone(), expected),
            _ => self.fault(at.start + 1..at.end - 1, expected),
        }
    }

    /// Says that the record as a whole is not what was expected.
    pub(crate) fn fault_in_all(&self, expected: impl Into<String>) -> Fault {
        self.fault(0..self.raw.len(), expected)
    }

    fn fault(&self, at: Range<usize>, expected: impl Into<String>) -> Fault {
        let (line, start) = self.line_at(at.start);
        line.fault(start..start + at.len(), expected)
    }

    /// The line in which it starts.
    pub(crate) fn first_line(&self) -> Line<'_> {
        self.line_at(0).0
    }

    /// The line in which a byte of `raw` stands, and where in it.
    fn line_at(&self, at: usize) -> (Line<'_>, usize) {
        let at = at.min(self.raw.len());
        let before = &self.raw[..at];
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let rest = &self.raw[start..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = Line {
            path: self.path,
            number: self.line + memchr::memchr_iter(b'\n', before).count() as u64,
            encoding: self.encoding,
            bytes: &rest[..length],
        };
        (line, at - start)
    }
}
