//! One object, with the place of every key and value.
//!
//! The syntax is checked by `serde_json`, which passes over values without recursion and leaves them
//! where they stand. So depth is no danger, and only strings with escapes are copied.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Keys;
use crate::data::lines::{Fault, Line};
use crate::data::number;
use crate::data::rows::{Cell, MAX_COLUMNS, Row, split_tags};
use crate::error::{Remedy, Result};

/// An object and the line it stands on.
pub(super) struct Object<'a> {
    line: Line<'a>,
    members: Vec<Member<'a>>,
    /// The member of each column, when it is [arranged](Object::arrange).
    by_column: Vec<Option<usize>>,
}

struct Member<'a> {
    key: Cow<'a, str>,
    value: Value<'a>,
    /// The value as it stands in the line.
    raw: &'a str,
}

enum Value<'a> {
    Null,
    Number(f64),
    Text(Cow<'a, str>),
    Tags(Vec<Text<'a>>),
}

/// A string, copied only if it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Object<'a> {
    /// Reads the object that is all of `text`, which is that of `line`. Only the column of tags may
    /// hold arrays.
    pub(super) fn parse(line: Line<'a>, text: &'a str, tags: Option<&str>) -> Result<Object<'a>> {
        let members = pairs(text).map_err(|error| not_an_object(&line, text, &error))?;
        let mut object =
            Object { line, members: Vec::with_capacity(members.len()), by_column: vec![] };
        for (Text(key), raw) in members {
            let raw = raw.get();
            let value = object.value(&key, raw, tags)?;
            object.members.push(Member { key, value, raw });
        }
        Ok(object)
    }

    fn value(&self, key: &str, raw: &'a str, tags: Option<&str>) -> Result<Value<'a>> {
        let fault = |expected: &str| {
            let place = place(&self.line, raw);
            self.line.fault(place, format!("{expected} for {key:?}"))
        };
        Ok(match raw.as_bytes() {
            b"null" => Value::Null,
            b"true" => Value::Number(1.0),
            b"false" => Value::Number(0.0),
            [b'"', ..] => match serde_json::from_str(raw) {
                Ok(Text(text)) => Value::Text(text),
                Err(error) => return Err(fault("text").help(reason(&error)).into()),
            },
            [b'[', ..] if tags == Some(key) => match strings(raw) {
                Ok(tags) => Value::Tags(tags),
                Err(error) => return Err(fault("an array of strings").help(reason(&error)).into()),
            },
            [b'[', ..] => {
                let help = Remedy::from("a number for each place needs a key of its own; ")
                    .set("tags", "COLUMN")
                    .text(" makes labels of an array of strings");
                return Err(fault(SIMPLE).found("an array").help(help).into());
            }
            [b'{', ..] => {
                let help =
                    "give what is inside keys of its own: {\"a\": {\"b\": 1}} as {\"a.b\": 1}";
                return Err(fault(SIMPLE).found("an object").help(help).into());
            }
            digits => match number::parse(digits) {
                Some(number) => Value::Number(number),
                None => return Err(fault(SIMPLE).into()),
            },
        })
    }

    /// For each member its place, its key, and what it is.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, &str, Cell)> {
        let of = |(place, member): (usize, _)| {
            let Member { key, value, .. }: &Member = member;
            (place, key.as_ref(), value.cell())
        };
        self.members.iter().enumerate().map(of)
    }

    /// Finds the column of each member. A key twice is refused: which of the values was meant?
    pub(super) fn arrange(&mut self, keys: &Keys) -> Result<()> {
        self.by_column = vec![None; keys.names.len()];
        for place in 0..self.members.len() {
            let key = self.members[place].key.as_ref();
            let Some(column) = keys.column(key, place) else {
                let help = "the file changed while it was read";
                return Err(self.fault_at(place, "a known key".into()).help(help).into());
            };
            if self.by_column[column].replace(place).is_some() {
                let fault = self.fault_at(place, format!("the key {key:?} once"));
                return Err(fault.found("it again").help("leave one of the two out").into());
            }
        }
        Ok(())
    }

    /// Says that the member at this place is not what was expected there.
    pub(super) fn fault_at(&self, place: usize, expected: String) -> Fault {
        let at = self.members.get(place).map(|member| self::place(&self.line, member.raw));
        let end = self.line.bytes.len();
        self.line.fault(at.unwrap_or(end..end), expected)
    }

    fn member(&self, column: usize) -> Option<&Member<'a>> {
        self.members.get(*self.by_column.get(column)?.as_ref()?)
    }
}

const SIMPLE: &str = "a number, a string, true, false or null";

impl Value<'_> {
    fn cell(&self) -> Cell {
        match self {
            Value::Null => Cell::Missing,
            Value::Number(number) => Cell::Number(*number),
            Value::Text(_) | Value::Tags(_) => Cell::Text,
        }
    }
}

impl Row for Object<'_> {
    fn cell(&self, column: usize) -> Cell {
        self.member(column).map_or(Cell::Missing, |member| member.value.cell())
    }

    fn bytes(&self, column: usize) -> &[u8] {
        match self.member(column) {
            None => b"",
            Some(Member { value: Value::Text(text), .. }) => text.as_bytes(),
            Some(Member { raw, .. }) => raw.as_bytes(),
        }
    }

    fn text(&self, column: usize) -> Result<Cow<'_, str>> {
        Ok(match self.member(column) {
            None => Cow::Borrowed(""),
            Some(Member { value: Value::Text(text), .. }) => Cow::Borrowed(text),
            Some(Member { raw, .. }) => Cow::Borrowed(raw),
        })
    }

    /// An empty array or string has no tags; of null, or without the key, they are unknown.
    fn tags(
        &self,
        column: usize,
        separator: &str,
        mut give: impl FnMut(&str) -> Result<()>,
    ) -> Result<bool> {
        match self.member(column).map(|member| &member.value) {
            None | Some(Value::Null) => return Ok(false),
            Some(Value::Tags(tags)) => {
                let tags = tags.iter().map(|Text(tag)| tag.trim());
                tags.filter(|tag| !tag.is_empty()).try_for_each(give)?;
            }
            Some(Value::Number(_)) => give(self.text(column)?.as_ref())?,
            Some(Value::Text(text)) => split_tags(text, separator, give)?,
        }
        Ok(true)
    }

    fn fault_in(&self, column: usize, expected: String) -> Fault {
        let place = self.by_column.get(column).copied().flatten();
        self.fault_at(place.unwrap_or(usize::MAX), expected)
    }

    fn first_line(&self) -> Line<'_> {
        self.line
    }
}

/// Where in a line a part of it stands.
fn place(line: &Line, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(line.bytes.as_ptr() as usize);
    start..start + part.len()
}

/// What `serde_json` says, without the place, which the fault has already.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.as_str(), |at| &text[..at]).to_string()
}

fn not_an_object(line: &Line, text: &str, error: &serde_json::Error) -> Fault {
    let start = text.len() - text.trim_start().len();
    let at = if !text[start..].starts_with('{') {
        start..start + 1
    } else if error.is_eof() {
        text.len()..text.len()
    } else {
        // The column counts bytes from 1.
        error.column().saturating_sub(1)..error.column()
    };
    let help = if text.trim_start().starts_with('[') {
        "not an array of objects, but an object on each line: jq -c '.[]' makes lines of an array"
            .into()
    } else {
        reason(error)
    };
    line.fault(at, "a JSON object on each line").help(help)
}

/// The keys and values of the object that is all of `text`.
fn pairs(text: &str) -> serde_json::Result<Vec<(Text<'_>, &RawValue)>> {
    struct Pairs;
    impl<'a> Visitor<'a> for Pairs {
        type Value = Vec<(Text<'a>, &'a RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
                if pairs.len() > MAX_COLUMNS {
                    return Err(M::Error::custom(format!("more than {MAX_COLUMNS} keys")));
                }
            }
            Ok(pairs)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let pairs = reader.deserialize_map(Pairs)?;
    reader.end().map(|()| pairs)
}

/// The strings of the array that is all of `text`.
fn strings(text: &str) -> serde_json::Result<Vec<Text<'_>>> {
    struct Strings;
    impl<'a> Visitor<'a> for Strings {
        type Value = Vec<Text<'a>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of strings")
        }

        fn visit_seq<S: SeqAccess<'a>>(self, mut array: S) -> Result<Self::Value, S::Error> {
            let mut strings = Vec::new();
            while let Some(string) = array.next_element()? {
                strings.push(string);
                if strings.len() > MAX_COLUMNS {
                    return Err(S::Error::custom(format!("more than {MAX_COLUMNS} strings")));
                }
            }
            Ok(strings)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Strings)
}
