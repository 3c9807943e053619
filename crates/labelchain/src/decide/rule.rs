//! Rules that turn what an ensemble says of a row into an answer.

use super::{Aim, Calibration, maximize_expected_f1};

/// What an ensemble says of one row.
#[derive(Clone, Copy)]
pub struct RowOutput<'a> {
    /// Whether a majority of the members decided each label to be relevant, as bits by label.
    pub majority: &'a [u64],
    /// The probability of each label.
    pub probabilities: &'a [f64],
    /// Whole label sets, as bits by label, with weights that sum to 1: a sample of their joint
    /// distribution.
    pub label_sets: &'a [(f64, &'a [u64])],
}

/// How an answer is made of what an ensemble says of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionRule {
    /// What the majority of the members decided.
    Majority,
    /// Labels whose probability is at least a threshold of their own; none is never reached.
    Thresholds(Vec<Option<f64>>),
    /// The label set of largest weight.
    MostProbableSet,
    /// The label set of greatest expected F1.
    ExpectedF1,
    /// So many labels, the most probable ones.
    Top(usize),
}

impl DecisionRule {
    /// The rule of an aim.
    pub fn of(aim: Aim, calibration: &Calibration) -> DecisionRule {
        match calibration.thresholds(aim) {
            Some(thresholds) => DecisionRule::Thresholds(thresholds),
            None => DecisionRule::uncalibrated(aim, calibration.by_label().len())
                .unwrap_or(DecisionRule::Majority),
        }
    }

    /// The rule of an aim that needs nothing but the probabilities and label sets of a row; none where it
    /// needs thresholds that are learned.
    pub fn uncalibrated(aim: Aim, n_labels: usize) -> Option<DecisionRule> {
        match aim {
            Aim::Votes => Some(DecisionRule::Majority),
            // More probable than not.
            Aim::Hamming => Some(DecisionRule::Thresholds(vec![Some(0.5f64.next_up()); n_labels])),
            Aim::ZeroOne => Some(DecisionRule::MostProbableSet),
            Aim::ExampleF1 => Some(DecisionRule::ExpectedF1),
            Aim::Top(k) => Some(DecisionRule::Top(k.get())),
            Aim::MacroF1 | Aim::MicroF1 | Aim::Precision(_) | Aim::Recall(_) => None,
        }
    }

    /// Whether it looks at whole label sets.
    pub fn needs_label_sets(&self) -> bool {
        matches!(self, DecisionRule::MostProbableSet | DecisionRule::ExpectedF1)
    }

    /// The answer about a row, as bits by label.
    pub fn decide(&self, row: &RowOutput) -> Vec<u64> {
        let n_labels = row.probabilities.len();
        match self {
            DecisionRule::Majority => row.majority.to_vec(),
            DecisionRule::Thresholds(thresholds) => {
                let pairs = row.probabilities.iter().zip(thresholds);
                let reached = |(p, threshold): (&f64, &Option<f64>)| {
                    threshold.is_some_and(|threshold| *p >= threshold)
                };
                bits(pairs.map(reached))
            }
            DecisionRule::MostProbableSet => most_probable_set(row),
            DecisionRule::ExpectedF1 => maximize_expected_f1(row.label_sets, n_labels),
            DecisionRule::Top(k) => {
                let mut labels: Vec<usize> = (0..n_labels).collect();
                // Stable, so that of equals the lower label is first.
                labels.sort_by(|&a, &b| row.probabilities[b].total_cmp(&row.probabilities[a]));
                let mut answer = vec![0; n_labels.div_ceil(64)];
                labels.iter().take(*k).for_each(|&label| answer[label / 64] |= 1 << (label % 64));
                answer
            }
        }
    }
}

/// The label set of largest weight. Members often end with as many different sets as there are members;
/// of equal weights, the set is taken that is the most probable one by the probabilities of its labels.
fn most_probable_set(row: &RowOutput) -> Vec<u64> {
    let mut sums: Vec<(f64, &[u64])> = Vec::with_capacity(row.label_sets.len());
    for &(weight, set) in row.label_sets {
        match sums.iter_mut().find(|(_, known)| *known == set) {
            Some((sum, _)) => *sum += weight,
            None => sums.push((weight, set)),
        }
    }
    // Σ ln P(label as it is in the set), where no probability is quite 0.
    let log_probability = |set: &[u64]| -> f64 {
        let of_label = |(label, &p): (usize, &f64)| {
            let is_relevant = set[label / 64] >> (label % 64) & 1 == 1;
            (if is_relevant { p } else { 1.0 - p }).max(1e-12).ln()
        };
        row.probabilities.iter().enumerate().map(of_label).sum()
    };
    let mut best: Option<(f64, &[u64])> = None;
    for &(sum, set) in &sums {
        let is_better = best.is_none_or(|(greatest, of)| {
            // Sums of equal weights differ in their last digits.
            if (sum - greatest).abs() > 1e-9 {
                sum > greatest
            } else {
                log_probability(set) > log_probability(of)
            }
        });
        if is_better {
            best = Some((sum, set));
        }
    }
    best.map_or_else(|| row.majority.to_vec(), |(_, set)| set.to_vec())
}

/// Bits by label.
fn bits(relevant: impl ExactSizeIterator<Item = bool>) -> Vec<u64> {
    let mut words = vec![0; relevant.len().div_ceil(64)];
    for (label, relevant) in relevant.map(u64::from).enumerate() {
        words[label / 64] |= relevant << (label % 64);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_set_of_largest_weight_is_that_of_a_search_over_all() {
        for draw in 0..200 {
            let mut rng = Seed::new(11).child("draw", draw).rng();
            let n_labels = 1 + rng.below(10);
            let sets: Vec<[u64; 1]> =
                (0..15).map(|_| [rng.below(1 << n_labels.min(3)) as u64]).collect();
            let weights: Vec<f64> = (0..15).map(|_| rng.unit()).collect();
            let label_sets: Vec<(f64, &[u64])> =
                weights.iter().zip(&sets).map(|(weight, set)| (*weight, &set[..])).collect();
            let probabilities = vec![0.5; n_labels];
            let row = RowOutput {
                majority: &[0],
                probabilities: &probabilities,
                label_sets: &label_sets,
            };
            let weight = |of: u64| -> f64 {
                label_sets.iter().filter(|(_, set)| set[0] == of).map(|(weight, _)| weight).sum()
            };
            let answer = DecisionRule::MostProbableSet.decide(&row)[0];
            let best = (0..1u64 << n_labels).map(weight).fold(0.0, f64::max);
            assert!((weight(answer) - best).abs() < 1e-9);
        }
    }

    #[test]
    fn of_equal_weights_the_probable_set_is_taken() {
        let sets: [(f64, &[u64]); 3] = [(0.3, &[0b01]), (0.3, &[0b11]), (0.4 - 0.1, &[0b10])];
        let row = RowOutput { majority: &[0], probabilities: &[0.9, 0.8], label_sets: &sets };
        assert_eq!(DecisionRule::MostProbableSet.decide(&row), [0b11]);
    }

    #[test]
    fn the_most_probable_labels_are_given_and_of_equals_the_lower() {
        let row =
            RowOutput { majority: &[0], probabilities: &[0.2, 0.7, 0.2, 0.1], label_sets: &[] };
        assert_eq!(DecisionRule::Top(2).decide(&row), [0b0011]);
        assert_eq!(DecisionRule::Top(9).decide(&row), [0b1111]);
        let thresholds = DecisionRule::Thresholds(vec![Some(0.2), None, Some(0.3), Some(0.0)]);
        assert_eq!(thresholds.decide(&row), [0b1001]);
    }
}
