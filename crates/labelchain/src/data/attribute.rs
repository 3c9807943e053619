//! What a column is: numbers, named values, dates, texts.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::date;

/// One input column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// As the file spells it.
    pub name: String,
    /// What its cells mean.
    pub kind: AttributeKind,
}

/// What the cells of a column mean. Missing cells are NaN in all kinds.
///
/// Methods learn from numbers, named values and words. Dates and texts are what files have;
/// the preparation makes the other kinds of them before anything is learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttributeKind {
    /// A cell is a number.
    Numeric,
    /// A cell is a position in this list.
    Nominal(Vec<String>),
    /// A cell is a moment, in days since the beginning of 1970 (UTC).
    Date,
    /// A cell is a position in this list of texts.
    Text(Arc<[String]>),
    /// A cell is the weight of a word in a text, and 0 where the text does not have the word. Such columns
    /// are not standardized: their weights are on one scale already.
    Word,
}

impl Attribute {
    /// A column of numbers.
    pub fn numeric(name: impl Into<String>) -> Attribute {
        Attribute { name: name.into(), kind: AttributeKind::Numeric }
    }

    /// A column of named values.
    pub fn nominal<S: Into<String>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = S>,
    ) -> Attribute {
        let values = values.into_iter().map(Into::into).collect();
        Attribute { name: name.into(), kind: AttributeKind::Nominal(values) }
    }

    /// The named values of a nominal column.
    pub fn values(&self) -> Option<&[String]> {
        match &self.kind {
            AttributeKind::Nominal(values) => Some(values),
            _ => None,
        }
    }

    /// What cells are positions of: named values, or texts.
    pub(crate) fn texts(&self) -> Option<&[String]> {
        match &self.kind {
            AttributeKind::Nominal(values) => Some(values),
            AttributeKind::Text(texts) => Some(texts),
            _ => None,
        }
    }

    /// A cell as a file has it; none if it is missing.
    pub fn text(&self, cell: f64) -> Option<Cow<'_, str>> {
        Some(match self.spelt(cell)? {
            Spelt::Number(number) => number.to_string().into(),
            Spelt::Text(text) => text,
        })
    }

    /// The same, which may be a number.
    pub(crate) fn spelt(&self, cell: f64) -> Option<Spelt<'_>> {
        if cell.is_nan() {
            return None;
        }
        match &self.kind {
            AttributeKind::Numeric | AttributeKind::Word => Some(Spelt::Number(cell)),
            AttributeKind::Nominal(texts) => spelt_text(texts, cell),
            AttributeKind::Text(texts) => spelt_text(texts, cell),
            AttributeKind::Date => Some(Spelt::Text(date::spelt(cell).into())),
        }
    }
}

/// The text at a position.
fn spelt_text(texts: &[String], cell: f64) -> Option<Spelt<'_>> {
    texts.get(cell as usize).map(|text| Spelt::Text(text.into()))
}

/// A cell as a file has it.
pub(crate) enum Spelt<'a> {
    Number(f64),
    Text(Cow<'a, str>),
}
