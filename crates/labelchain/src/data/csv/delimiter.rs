//! What stands between the fields of a line.

use std::str::FromStr;

use crate::error::{Error, Result};

/// A character that can stand between fields: ASCII, and neither a quote nor the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// What separates the fields of TSV.
    pub(crate) const TAB: Delimiter = Delimiter(b'\t');

    pub(crate) fn byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = Error;

    /// A character stands for itself; a tab, which is hard to type, is also `tab` and `\t`.
    fn from_str(text: &str) -> Result<Delimiter> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Delimiter::TAB),
            &[byte] if byte.is_ascii() && !b"\"\r\n".contains(&byte) => Ok(Delimiter(byte)),
            _ => Err(Error::Value {
                name: "delimiter".into(),
                value: format!("{text:?}"),
                accepted: "one ASCII character that is neither a quote nor a line end, or tab"
                    .into(),
            }),
        }
    }
}
