//! What makes a label relevant: 0 and 1 in their many spellings, or a threshold.

use std::fmt;
use std::str::FromStr;

use super::number;
use crate::error::{Error, Remedy, Result};

/// Turns numbers into relevant or irrelevant: `>0`, `>=2.5`, `=1`, …
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    comparison: Comparison,
    value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Greater,
    AtLeast,
    Less,
    AtMost,
    Equal,
    NotEqual,
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Threshold> {
        // Two-character signs first: ">=1" must not be read as "> =1".
        const SIGNS: [(&str, Comparison); 7] = [
            (">=", Comparison::AtLeast),
            ("<=", Comparison::AtMost),
            ("!=", Comparison::NotEqual),
            ("==", Comparison::Equal),
            (">", Comparison::Greater),
            ("<", Comparison::Less),
            ("=", Comparison::Equal),
        ];
        SIGNS
            .iter()
            .find_map(|&(sign, comparison)| {
                let value = number::parse(text.trim().strip_prefix(sign)?.trim().as_bytes())?;
                (!value.is_nan()).then_some(Threshold { comparison, value })
            })
            .ok_or_else(|| Error::Setting {
                name: "binarize",
                value: format!("{text:?}"),
                accepted: "a comparison with a number: '>0', '>=2.5', '<1', '=1', '!=0'",
            })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
        };
        write!(f, "{sign}{}", self.value)
    }
}

impl Threshold {
    /// `>0`.
    pub const ABOVE_ZERO: Threshold = Threshold { comparison: Comparison::Greater, value: 0.0 };

    fn holds(&self, number: f64) -> bool {
        match self.comparison {
            Comparison::Greater => number > self.value,
            Comparison::AtLeast => number >= self.value,
            Comparison::Less => number < self.value,
            Comparison::AtMost => number <= self.value,
            Comparison::Equal => number == self.value,
            Comparison::NotEqual => number != self.value,
        }
    }
}

/// Whether a label cell with this number is relevant; `None` where the number does not say.
pub(crate) fn of_number(number: f64, binarize: Option<Threshold>) -> Option<bool> {
    match binarize {
        Some(threshold) => Some(threshold.holds(number)),
        None if number == 1.0 => Some(true),
        None if number == 0.0 || number == -1.0 => Some(false),
        None => None,
    }
}

/// Whether a label cell with this text is relevant; `None` where the text does not say.
///
/// The text decides, not its place among the declared values: of `{1,0}`, too, 1 is relevant.
pub(crate) fn of_text(text: &[u8], binarize: Option<Threshold>) -> Option<bool> {
    if let Some(number) = number::parse(text).filter(|number| !number.is_nan()) {
        return of_number(number, binarize);
    }
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if is(&["true", "t", "yes", "y"]) {
        Some(true)
    } else if is(&["false", "f", "no", "n"]) {
        Some(false)
    } else {
        None
    }
}

/// What to do about a label cell of which it cannot be told.
pub(crate) fn remedy(text: &[u8]) -> Remedy {
    if number::parse(text).is_some() {
        Remedy::default()
            .set("binarize", ">0")
            .text(", or another comparison, makes numbers relevant or irrelevant")
    } else if text.iter().any(|byte| b";,|".contains(byte)) {
        Remedy::from("a column of tags? ").set("tags", "COLUMN").text(" makes a label of each")
    } else {
        let usual = "labels are 0/1, true/false or yes/no; for a column of tags, ";
        Remedy::from(usual).set("tags", "COLUMN").text(" makes a label of each")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_understood_and_others_are_not_guessed() {
        for text in ["1", "1.0", "+1", "TRUE", "yes", "Y"] {
            assert_eq!(of_text(text.as_bytes(), None), Some(true), "{text}");
        }
        for text in ["0", "-1", "false", "NO", "n", "0.0"] {
            assert_eq!(of_text(text.as_bytes(), None), Some(false), "{text}");
        }
        for text in ["2", "0.5", "pos", "", "nan"] {
            assert_eq!(of_text(text.as_bytes(), None), None, "{text}");
        }
    }

    #[test]
    fn thresholds_compare_as_written() {
        for (threshold, at_one, at_two) in [
            (">1", false, true),
            (">= 1", true, true),
            ("<2", true, false),
            ("<=1", true, false),
            ("=1", true, false),
            ("==1", true, false),
            ("!=1", false, true),
        ] {
            let threshold: Threshold = threshold.parse().unwrap();
            assert_eq!((threshold.holds(1.0), threshold.holds(2.0)), (at_one, at_two));
        }
    }

    #[test]
    fn a_threshold_that_is_none_is_refused_with_examples() {
        for text in ["", "0", "> ", ">x", "~1", ">nan"] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.to_string().contains("a comparison with a number"), "{error}");
        }
    }
}
