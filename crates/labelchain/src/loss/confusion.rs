//! Counts of true positives, false positives and false negatives, the three rates computed from
//! them, and the loss where a rate is zero over zero.

use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How the predicted labels compare with the relevant ones: in a row, in the column of a label or
/// in a whole table. No rate depends on true negatives, so they are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// The number of labels that are relevant and predicted: TP.
    pub true_positives: usize,
    /// The number of labels that are irrelevant, but predicted: FP.
    pub false_positives: usize,
    /// The number of labels that are relevant, but not predicted: FN.
    pub false_negatives: usize,
}

impl Confusion {
    /// Compares two rows of packed bits of the same length, such as
    /// [`LabelMatrix::row`](crate::data::LabelMatrix::row) gives.
    pub fn between(truth: &[u64], answer: &[u64]) -> Confusion {
        truth.iter().zip(answer).map(|(&truth, &answer)| Confusion::of_words(truth, answer)).sum()
    }

    /// Compares one cell.
    pub fn of_cell(truth: bool, answer: bool) -> Confusion {
        Confusion::of_words(u64::from(truth), u64::from(answer))
    }

    fn of_words(truth: u64, answer: u64) -> Confusion {
        Confusion {
            true_positives: (truth & answer).count_ones() as usize,
            false_positives: (answer & !truth).count_ones() as usize,
            false_negatives: (truth & !answer).count_ones() as usize,
        }
    }

    /// The number of wrong cells, FP + FN.
    pub fn n_wrong(&self) -> usize {
        self.false_positives + self.false_negatives
    }

    /// Whether no label is relevant and none was predicted.
    pub fn is_empty(&self) -> bool {
        *self == Confusion::default()
    }
}

impl Add for Confusion {
    type Output = Confusion;

    fn add(self, other: Confusion) -> Confusion {
        Confusion {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
        }
    }
}

impl Sum for Confusion {
    fn sum<I: Iterator<Item = Confusion>>(parts: I) -> Confusion {
        parts.fold(Confusion::default(), Confusion::add)
    }
}

/// A rate of errors: one minus a metric, so smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// False discovery rate, FP / (TP + FP): one minus precision.
    Fdr,
    /// False negative rate, FN / (TP + FN): one minus recall.
    Fnr,
    /// (FP + FN) / (2 TP + FP + FN): one minus F1.
    F1,
}

impl Rate {
    /// All three, in the paper's order.
    pub const ALL: [Rate; 3] = [Rate::Fdr, Rate::Fnr, Rate::F1];

    /// The rate, or `None` where it is vacuous: where its own denominator is zero.
    pub fn of(self, counts: &Confusion) -> Option<f64> {
        let (wrong, right) = match self {
            Rate::Fdr => (counts.false_positives, counts.true_positives),
            Rate::Fnr => (counts.false_negatives, counts.true_positives),
            Rate::F1 => (counts.n_wrong(), 2 * counts.true_positives),
        };
        (wrong + right > 0).then(|| wrong as f64 / (wrong + right) as f64)
    }

    /// The rate, or the loss that the rule assigns where the rate is vacuous; `None` if the rule
    /// leaves it out.
    pub fn loss(self, counts: &Confusion, undefined: Undefined) -> Option<f64> {
        self.of(counts).or(match undefined {
            // A rate that is vacuous although the counts are not all zero has labels on one side
            // (relevant or predicted) and none on the other, so every label is wrong.
            Undefined::Paper => Some(if counts.is_empty() { 0.0 } else { 1.0 }),
            Undefined::Zero => Some(1.0),
            Undefined::One => Some(0.0),
            Undefined::Skip => None,
        })
    }
}

/// What a vacuous metric (precision, recall or F1 of zero over zero) counts as.
///
/// `Zero` and `One` are values of the metric, as with scikit-learn's `zero_division`. A loss is one
/// minus the metric: under `Zero` a vacuous cell has a loss of 1, under `One` a loss of 0.
///
/// | | FDR: nothing predicted | FNR: nothing relevant | F1: neither | scikit-learn |
/// |---|---|---|---|---|
/// | `Paper` | 0 if nothing is relevant, else 1 | 0 if nothing was predicted, else 1 | 0 | |
/// | `Zero` | 1 | 1 | 1 | `zero_division=0` |
/// | `One` | 0 | 0 | 0 | `zero_division=1` |
/// | `Skip` | left out | left out | left out | `zero_division=nan` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Undefined {
    /// Empty against empty is perfect, empty against anything else is wrong, as in Mulan and in the
    /// code the paper used.
    #[default]
    Paper,
    /// The metric counts as 0, so the loss is 1.
    Zero,
    /// The metric counts as 1, so the loss is 0.
    One,
    /// The cell is left out of the mean. A mean over no cells has no value.
    Skip,
}

impl Undefined {
    /// All rules, the default first.
    pub const ALL: [Undefined; 4] =
        [Undefined::Paper, Undefined::Zero, Undefined::One, Undefined::Skip];

    /// Its name in settings and files.
    pub fn key(self) -> &'static str {
        match self {
            Undefined::Paper => "paper",
            Undefined::Zero => "zero",
            Undefined::One => "one",
            Undefined::Skip => "skip",
        }
    }
}

/// Reads a [key](Undefined::key).
impl FromStr for Undefined {
    type Err = Error;

    fn from_str(text: &str) -> Result<Undefined> {
        Undefined::ALL.into_iter().find(|rule| rule.key() == text).ok_or_else(|| Error::Setting {
            name: "undefined",
            value: text.into(),
            accepted: "paper, zero, one or skip",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(true_positives: usize, false_positives: usize, false_negatives: usize) -> Confusion {
        Confusion { true_positives, false_positives, false_negatives }
    }

    fn losses(counts: Confusion, undefined: Undefined) -> [Option<f64>; 3] {
        Rate::ALL.map(|rate| rate.loss(&counts, undefined))
    }

    #[test]
    fn words_are_compared_bit_by_bit() {
        // Truth 0, 1, 64; answer 1, 2, 3, 64: two hits, two too many, one missed.
        assert_eq!(Confusion::between(&[0b0011, 1], &[0b1110, 1]), counts(2, 2, 1));
        assert!(Confusion::between(&[], &[]).is_empty());
    }

    #[test]
    fn a_rate_is_its_errors_over_what_it_looks_at() {
        // FDR 1/(3 + 1), FNR 2/(3 + 2), F1 (1 + 2)/(6 + 1 + 2).
        let rates = Rate::ALL.map(|rate| rate.of(&counts(3, 1, 2)));
        assert_eq!(rates, [Some(0.25), Some(0.4), Some(3.0 / 9.0)]);
    }

    #[test]
    fn no_rule_matters_where_nothing_is_vacuous() {
        for rule in Undefined::ALL {
            assert_eq!(losses(counts(1, 1, 0), rule), [Some(0.5), Some(0.0), Some(1.0 / 3.0)]);
            assert_eq!(losses(counts(0, 1, 1), rule), [Some(1.0); 3]);
        }
    }

    #[test]
    fn empty_against_empty_is_perfect_in_the_paper() {
        assert_eq!(losses(counts(0, 0, 0), Undefined::Paper), [Some(0.0); 3]);
        assert_eq!(losses(counts(0, 0, 0), Undefined::Zero), [Some(1.0); 3]);
        assert_eq!(losses(counts(0, 0, 0), Undefined::One), [Some(0.0); 3]);
        assert_eq!(losses(counts(0, 0, 0), Undefined::Skip), [None; 3]);
    }

    #[test]
    fn an_empty_answer_to_a_truth_makes_only_precision_vacuous() {
        assert_eq!(losses(counts(0, 0, 2), Undefined::Paper), [Some(1.0); 3]);
        assert_eq!(losses(counts(0, 0, 2), Undefined::Zero), [Some(1.0); 3]);
        assert_eq!(losses(counts(0, 0, 2), Undefined::One), [Some(0.0), Some(1.0), Some(1.0)]);
        assert_eq!(losses(counts(0, 0, 2), Undefined::Skip), [None, Some(1.0), Some(1.0)]);
    }

    #[test]
    fn an_answer_to_an_empty_truth_makes_only_recall_vacuous() {
        assert_eq!(losses(counts(0, 2, 0), Undefined::Paper), [Some(1.0); 3]);
        assert_eq!(losses(counts(0, 2, 0), Undefined::Zero), [Some(1.0); 3]);
        assert_eq!(losses(counts(0, 2, 0), Undefined::One), [Some(1.0), Some(0.0), Some(1.0)]);
        assert_eq!(losses(counts(0, 2, 0), Undefined::Skip), [Some(1.0), None, Some(1.0)]);
    }

    #[test]
    fn rules_are_read_by_their_keys() {
        for rule in Undefined::ALL {
            assert!(rule.key().parse::<Undefined>().is_ok_and(|read| read == rule));
        }
        let refusal = "nan".parse::<Undefined>().err().map(|error| error.to_string());
        let expected = "undefined is nan, but must be paper, zero, one or skip";
        assert_eq!(refusal.as_deref(), Some(expected));
    }
}
