//! What one input says about each of the labels that use it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::density::{Factor, presence};
use crate::data::LabelId;

/// The factors of one input, ascending by label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum InputFactors {
    /// An input of two values has two numbers for each label. Models of words have millions of them, so they
    /// lie side by side.
    TwoValued {
        labels: Vec<u32>,
        log_odds: Vec<[f64; 2]>,
        /// Whether the cell is the weight of a word, and only counts by being there.
        is_word: bool,
    },
    /// Any others.
    Others(Vec<(LabelId, Factor)>),
}

impl InputFactors {
    /// The factors of some labels, ascending.
    pub(super) fn new(factors: Vec<(LabelId, Factor)>) -> InputFactors {
        let is_word = matches!(factors.first(), Some((_, Factor::Presence(_))));
        let pair = |factor: &Factor| match factor {
            Factor::Presence(values) if is_word => Some(*values),
            Factor::Category(values) if !is_word => <[f64; 2]>::try_from(&values[..]).ok(),
            _ => None,
        };
        let pairs: Option<Vec<[f64; 2]>> = factors.iter().map(|(_, factor)| pair(factor)).collect();
        match pairs {
            Some(log_odds) => {
                let labels = factors.iter().map(|(label, _)| label.0 as u32).collect();
                InputFactors::TwoValued { labels, log_odds, is_word }
            }
            None => InputFactors::Others(factors),
        }
    }

    /// How many labels use the input.
    pub(super) fn len(&self) -> usize {
        match self {
            InputFactors::TwoValued { labels, .. } => labels.len(),
            InputFactors::Others(factors) => factors.len(),
        }
    }

    /// The label that a factor is about, and the factor.
    pub(super) fn get(&self, at: usize) -> (LabelId, Cow<'_, Factor>) {
        match self {
            InputFactors::TwoValued { labels, log_odds, is_word } => {
                let factor = if *is_word {
                    Factor::Presence(log_odds[at])
                } else {
                    Factor::Category(log_odds[at].to_vec())
                };
                (LabelId(labels[at] as usize), Cow::Owned(factor))
            }
            InputFactors::Others(factors) => (factors[at].0, Cow::Borrowed(&factors[at].1)),
        }
    }

    /// Each label that uses the input, with its factor.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LabelId, Cow<'_, Factor>)> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The label that a factor is about.
    pub(super) fn label(&self, at: usize) -> LabelId {
        match self {
            InputFactors::TwoValued { labels, .. } => LabelId(labels[at] as usize),
            InputFactors::Others(factors) => factors[at].0,
        }
    }

    /// The labels that use the input.
    pub(super) fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        (0..self.len()).map(|at| self.label(at))
    }

    /// What a cell that is not missing adds to the log-odds of one of the labels.
    pub(super) fn log_odds_of(&self, at: usize, cell: f64) -> f64 {
        match self {
            InputFactors::TwoValued { log_odds, is_word, .. } => {
                let value = if *is_word { presence(cell) } else { cell as usize };
                // A value that was not declared says nothing.
                log_odds[at].get(value).copied().unwrap_or(0.0)
            }
            InputFactors::Others(factors) => factors[at].1.log_odds(cell),
        }
    }

    /// What a cell that is not missing adds to the log-odds of each label that uses the input.
    pub(super) fn log_odds(&self, cell: f64, out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..self.len()).map(|at| self.log_odds_of(at, cell)));
    }

    /// For each factor that has them, its label and the coefficients of [`Factor::quadratic`].
    pub(super) fn quadratics(&self) -> impl Iterator<Item = Option<(LabelId, [f64; 3])>> + '_ {
        (0..self.len()).map(|at| match self {
            InputFactors::TwoValued { .. } => None,
            InputFactors::Others(factors) => Some((factors[at].0, factors[at].1.quadratic()?)),
        })
    }

    /// Whether the parts fit together and so many labels, as they do unless they come from a file.
    pub(super) fn are_sound(&self, n_labels: usize) -> bool {
        let is_sound = match self {
            InputFactors::TwoValued { labels, log_odds, .. } => labels.len() == log_odds.len(),
            InputFactors::Others(factors) => factors.iter().all(|(_, factor)| factor.is_sound()),
        };
        is_sound
            && self.labels().all(|label| label.0 < n_labels)
            && self.labels().is_sorted_by(|a, b| a < b)
    }
}
