//! What a column is: a number, or one of a list of named values.

use serde::{Deserialize, Serialize};

/// One input column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// As the file spells it.
    pub name: String,
    /// What its cells mean.
    pub kind: AttributeKind,
}

/// What the cells of a column mean. Missing cells are NaN in both kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttributeKind {
    /// A cell is a number.
    Numeric,
    /// A cell is a position in this list.
    Nominal(Vec<String>),
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
            AttributeKind::Numeric => None,
            AttributeKind::Nominal(values) => Some(values),
        }
    }
}
