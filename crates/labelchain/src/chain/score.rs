//! How strongly a model speaks for a label, and on which scale.

use serde::{Deserialize, Serialize};

/// How strongly a model speaks for a label. Above zero it speaks for relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// log P(relevant) - log P(irrelevant).
    LogOdds(f64),
    /// The distance from a decision boundary, in units of the margin. Its sign decides as that of
    /// log-odds does, but its size says nothing about a probability.
    Margin(f64),
}

/// On which scale the scores of members are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    /// P(relevant) as the model has it, from 0 to 1. It may exaggerate.
    Probability,
    /// A margin, any number.
    Margin,
}

impl Score {
    /// Whether the label is decided to be relevant: strictly above zero, so that a tie leaves it
    /// irrelevant (docs/conventions.md). Every decision about a single label is made here.
    #[inline]
    pub fn is_relevant(self) -> bool {
        self.value() > 0.0
    }

    /// The number, on either scale.
    #[inline]
    pub fn value(self) -> f64 {
        match self {
            Score::LogOdds(value) | Score::Margin(value) => value,
        }
    }

    /// The scale on which this score is averaged with others, and its value there. What is not a number
    /// says nothing, and infinite margins are as large as numbers are.
    pub fn on_scale(self) -> (Scale, f64) {
        match self {
            Score::LogOdds(value) if value.is_nan() => (Scale::Probability, 0.5),
            Score::LogOdds(value) => (Scale::Probability, 1.0 / (1.0 + (-value).exp())),
            Score::Margin(value) if value.is_nan() => (Scale::Margin, 0.0),
            Score::Margin(value) => (Scale::Margin, value.clamp(-1e100, 1e100)),
        }
    }

    /// P(relevant) = 1 / (1 + exp(-log-odds)); none for a margin, which is no probability until it
    /// is calibrated.
    pub fn probability(self) -> Option<f64> {
        match self {
            Score::LogOdds(value) => Some(1.0 / (1.0 + (-value).exp())),
            Score::Margin(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_irrelevant_on_either_scale() {
        for score in [Score::LogOdds, Score::Margin] {
            let decisions = [1e-300, f64::INFINITY, 0.0, -0.0, -1e-300, f64::NAN]
                .map(|value| score(value).is_relevant());
            assert_eq!(decisions, [true, true, false, false, false, false]);
        }
    }

    #[test]
    fn only_log_odds_are_probabilities() {
        assert_eq!(Score::LogOdds(0.0).probability(), Some(0.5));
        // log(3/1): three to one.
        let three_to_one = Score::LogOdds(3f64.ln()).probability().unwrap();
        assert!((three_to_one - 0.75).abs() < 1e-15);
        assert_eq!(Score::LogOdds(f64::NEG_INFINITY).probability(), Some(0.0));
        assert_eq!(Score::Margin(1.0).probability(), None);
    }
}
