//! TOML documents whose errors give the place: file, line, column, and the line itself.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::data::{Encoding, Line};
use crate::error::{Error, Remedy, Result, nearest};

/// The text of a protocol, with its path for error messages.
#[derive(Clone, Copy)]
pub(super) struct Document<'t> {
    pub(super) path: &'t Path,
    pub(super) text: &'t str,
}

impl<'t> Document<'t> {
    pub(super) fn table(&self) -> Result<DeTable<'t>> {
        let syntax = |error: toml::de::Error| {
            let at = error.span().unwrap_or(0..0);
            let found = match error.message() {
                // The parser bounds its depth by itself, so that no file overflows the stack.
                message if message.contains("recurs") => "too many levels of nesting",
                message => message,
            };
            self.fault(at, "a file in TOML", found, EXAMPLE)
        };
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(syntax)
    }

    /// An error at a range of bytes of the text.
    pub(super) fn fault(
        &self,
        at: Range<usize>,
        expected: impl Into<String>,
        found: impl Into<String>,
        help: impl Into<Remedy>,
    ) -> Error {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let bytes = self.text[start..].lines().next().unwrap_or_default().as_bytes();
        let (path, number) = (self.path, self.line(at.start));
        let line = Line { path, number, encoding: Encoding::Utf8, bytes };
        let place = before.len() - start;
        line.fault(place..place, expected).found(shortened(found.into())).help(help).into()
    }

    /// The number of the line, the first being 1, that contains the byte `at`.
    pub(super) fn line(&self, at: usize) -> u64 {
        self.text.bytes().take(at).filter(|&byte| byte == b'\n').count() as u64 + 1
    }

    /// The error for a value that is not what was expected.
    pub(super) fn not(
        &self,
        expected: &str,
        value: &Spanned<DeValue>,
        help: impl Into<Remedy>,
    ) -> Error {
        self.fault(value.span(), expected, shown(value), help)
    }

    /// The error for a name that is not one of the known ones. It suggests the most similar of them.
    pub(super) fn unknown(
        &self,
        at: Range<usize>,
        expected: &str,
        name: &str,
        known: &[String],
    ) -> Error {
        let help = match nearest(name, known) {
            Some(nearest) => format!("did you mean {nearest:?}?"),
            None => format!("there are: {}", known.join(", ")),
        };
        self.fault(at, expected, format!("{name:?}"), help)
    }
}

/// What a protocol looks like.
pub(super) const EXAMPLE: &str = "a protocol has lines such as folds = 10, sets = [\"a.arff\", \"b.csv\"] and methods = [\"ecc-nb\"]";

/// The beginning of a long text.
fn shortened(text: String) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A value for an error message; lists, tables and dates only by their kind.
fn shown(value: &Spanned<DeValue>) -> String {
    match value.get_ref() {
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::String(text) => format!("{text:?}"),
        _ => scalar(value).unwrap_or_default().into(),
    }
}

/// A text, number or boolean as it would be typed on the command line.
pub(super) fn scalar<'v>(value: &'v Spanned<DeValue>) -> Option<Cow<'v, str>> {
    match value.get_ref() {
        DeValue::String(text) => Some(Cow::Borrowed(text)),
        DeValue::Integer(number) if number.radix() == 10 => Some(Cow::Borrowed(number.as_str())),
        DeValue::Float(number) => Some(Cow::Borrowed(number.as_str())),
        DeValue::Boolean(flag) => Some(Cow::Owned(flag.to_string())),
        _ => None,
    }
}
