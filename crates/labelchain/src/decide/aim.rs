//! The aims: which loss the answers are made for. One row each.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::error::{Error, Result, nearest};

/// Which loss the answers of a model are made for.
///
/// ```
/// use labelchain::decide::{Aim, Share};
///
/// let aim: Aim = "precision=0.9".parse()?;
/// assert_eq!(Share::new(0.9).map(Aim::Precision), Some(aim));
/// assert!("precision=2".parse::<Aim>().is_err());
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The labels that a majority of the members decided to be relevant: the paper's rule.
    Votes,
    /// The labels that are more probable than not, which minimizes the expected Hamming loss.
    Hamming,
    /// The most probable label set, which minimizes the expected zero-one loss.
    ZeroOne,
    /// The label set of greatest expected F1 of the row.
    ExampleF1,
    /// Above a threshold for each label, chosen for the F1 of the label.
    MacroF1,
    /// Above one threshold for all labels, chosen for the F1 of all cells together.
    MicroF1,
    /// Above the least threshold for each label at which so large a share of what is given is right.
    Precision(Share),
    /// Above the greatest threshold for each label at which so large a share of what is relevant is given.
    Recall(Share),
    /// So many labels for each row, the most probable ones.
    Top(NonZeroUsize),
}

/// A share above 0 and below 1: what is always, or never, reached is no aim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

// It is never NaN, so that every share equals itself.
impl Eq for Share {}

impl Share {
    /// None unless it lies between 0 and 1.
    pub fn new(share: f64) -> Option<Share> {
        (share > 0.0 && share < 1.0).then_some(Share(share))
    }

    /// Its value.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An aim as it is written, and what it means: a row of [`AIMS`].
pub struct AimForm {
    /// Its name.
    pub name: &'static str,
    /// What follows the name behind an equals sign, if anything does.
    pub argument: Option<&'static str>,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The aim of an argument, which is empty where there is none; none if it is not accepted.
    read: fn(&str) -> Option<Aim>,
}

/// All aims.
pub static AIMS: &[AimForm] = &[
    AimForm {
        name: "votes",
        argument: None,
        about: "labels that most members decide to be relevant: the paper's rule, and the default",
        read: |_| Some(Aim::Votes),
    },
    AimForm {
        name: "hamming",
        argument: None,
        about: "labels that are more probable than not: least Hamming loss",
        read: |_| Some(Aim::Hamming),
    },
    AimForm {
        name: "zero-one",
        argument: None,
        about: "the most probable label set: least zero-one loss",
        read: |_| Some(Aim::ZeroOne),
    },
    AimForm {
        name: "example-f1",
        argument: None,
        about: "the label set of greatest expected F1 of the row",
        read: |_| Some(Aim::ExampleF1),
    },
    AimForm {
        name: "macro-f1",
        argument: None,
        about: "a threshold for each label, chosen for its F1",
        read: |_| Some(Aim::MacroF1),
    },
    AimForm {
        name: "micro-f1",
        argument: None,
        about: "one threshold for all labels, chosen for the F1 of all cells",
        read: |_| Some(Aim::MicroF1),
    },
    AimForm {
        name: "precision",
        argument: Some("P"),
        about: "as many labels as can be given while a share P of them is right with 90 % confidence, label by label",
        read: |share| share.parse().ok().and_then(Share::new).map(Aim::Precision),
    },
    AimForm {
        name: "recall",
        argument: Some("P"),
        about: "as few labels as can be given while a share P of the relevant ones is among them, label by label",
        read: |share| share.parse().ok().and_then(Share::new).map(Aim::Recall),
    },
    AimForm {
        name: "top",
        argument: Some("K"),
        about: "the K most probable labels of each row, or all where there are no more",
        read: |k| k.parse().ok().map(Aim::Top),
    },
];

impl AimForm {
    /// The aim as it is written: `hamming`, `precision=P`.
    pub fn synopsis(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}={argument}", self.name),
            None => self.name.into(),
        }
    }
}

impl Aim {
    /// Whether it needs thresholds, which are learned from training rows that members have not seen.
    pub fn needs_held_out_rows(self) -> bool {
        matches!(self, Aim::MacroF1 | Aim::MicroF1 | Aim::Precision(_) | Aim::Recall(_))
    }

    /// Whether votes are all that it looks at, so that no score needs to be kept.
    pub fn is_by_votes(self) -> bool {
        self == Aim::Votes
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aim::Votes => f.write_str("votes"),
            Aim::Hamming => f.write_str("hamming"),
            Aim::ZeroOne => f.write_str("zero-one"),
            Aim::ExampleF1 => f.write_str("example-f1"),
            Aim::MacroF1 => f.write_str("macro-f1"),
            Aim::MicroF1 => f.write_str("micro-f1"),
            Aim::Precision(share) => write!(f, "precision={share}"),
            Aim::Recall(share) => write!(f, "recall={share}"),
            Aim::Top(k) => write!(f, "top={k}"),
        }
    }
}

impl FromStr for Aim {
    type Err = Error;

    fn from_str(text: &str) -> Result<Aim> {
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let Some(form) = AIMS.iter().find(|form| form.name == name) else {
            let names: Vec<String> = AIMS.iter().map(|form| form.name.into()).collect();
            let nearest = nearest(name, &names).cloned();
            return Err(Error::UnknownName { what: "aim", name: name.into(), nearest });
        };
        let aim = match (form.argument, argument) {
            (None, None) => (form.read)(""),
            (Some(_), Some(argument)) => (form.read)(argument),
            _ => None,
        };
        aim.ok_or_else(|| Error::Value {
            name: "aim".into(),
            value: format!("{text:?}"),
            accepted: match form.argument {
                Some("K") => {
                    format!(
                        "{}, where K is a whole number from 1 on, such as top=3",
                        form.synopsis()
                    )
                }
                Some(_) => {
                    format!(
                        "{0}, where P is between 0 and 1, such as {1}=0.9",
                        form.synopsis(),
                        name
                    )
                }
                None => form.synopsis(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aim_is_read_as_it_is_written() {
        for form in AIMS {
            let text = match form.argument {
                Some("K") => format!("{}=3", form.name),
                Some(_) => format!("{}=0.85", form.name),
                None => form.name.to_string(),
            };
            let aim: Aim = text.parse().unwrap();
            assert_eq!(aim.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_aim_is_refused_with_what_is() {
        let refused = |text: &str| text.parse::<Aim>().unwrap_err().to_string();
        assert!(refused("macro-f2").contains("macro-f1"), "{}", refused("macro-f2"));
        for text in ["precision", "precision=", "precision=1", "precision=0", "precision=NaN"] {
            assert!(refused(text).contains("precision=P"), "{}", refused(text));
        }
        for text in ["top=0", "top", "top=1.5", "top=-1"] {
            assert!(refused(text).contains("top=K"), "{}", refused(text));
        }
        assert!(refused("votes=1").contains("votes"));
    }

    #[test]
    fn a_share_lies_between_0_and_1_and_is_none_else() {
        for share in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Share::new(share), None);
        }
        assert_eq!(Share::new(0.25).map(Share::get), Some(0.25));
    }
}
