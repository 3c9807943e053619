//! From a score to a probability, for one label.

use serde::{Deserialize, Serialize};

use crate::chain::Scale;

/// A function from the score of a label to the probability that the label is relevant. A higher score is
/// more probable, so that rows keep their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Curve {
    /// The score, which is a probability already.
    Identity,
    /// Platt's: 1 / (1 + exp(-(slope · t + intercept))), where t is the margin, or the log-odds of the
    /// score.
    Sigmoid {
        /// At least 0.
        slope: f64,
        /// Any number.
        intercept: f64,
    },
    /// Isotonic regression: straight lines between points, and nearly flat before the first and after the
    /// last.
    Isotonic {
        /// Strictly ascending.
        scores: Vec<f64>,
        /// The probability at each of these scores, ascending.
        probabilities: Vec<f64>,
    },
}

/// Fewest relevant rows for isotonic regression, which follows its data closely and needs more of it than
/// the two parameters of a sigmoid.
const FEWEST_FOR_ISOTONIC: usize = 10;
/// Fewest relevant rows for a sigmoid, where the score is a probability without it.
const FEWEST_FOR_SIGMOID: usize = 5;

impl Curve {
    /// Learns from the scores of rows, ascending, and whether the label is relevant to each.
    ///
    /// Margins are no probabilities, so they get a sigmoid however few rows there are.
    pub(super) fn learn(ascending: &[(f64, bool)], scale: Scale) -> Curve {
        let n_relevant = ascending.iter().filter(|(_, relevant)| *relevant).count();
        if n_relevant >= FEWEST_FOR_ISOTONIC && n_relevant < ascending.len() {
            Curve::isotonic(ascending)
        } else if n_relevant >= FEWEST_FOR_SIGMOID || scale == Scale::Margin {
            Curve::sigmoid(ascending, scale)
        } else {
            Curve::Identity
        }
    }

    /// Isotonic regression with one pseudo-row at each end, to which the label is as relevant as it is
    /// on average, so that no probability is exactly 0 or 1; joined at the mean scores of its steps
    /// ("centered", Oron and Flournoy, 2017), so that scores within a step keep their order.
    fn isotonic(ascending: &[(f64, bool)]) -> Curve {
        let n = ascending.len();
        let (Some(first), Some(last)) = (ascending.first(), ascending.last()) else {
            return Curve::Identity;
        };
        let n_relevant = ascending.iter().filter(|(_, relevant)| *relevant).count();
        let frequency = n_relevant as f64 / n as f64;
        let rows =
            ascending.iter().map(|&(score, relevant)| (score, f64::from(u8::from(relevant))));
        let ends = [(first.0, frequency), (last.0, frequency)];
        let mut scores: Vec<f64> = Vec::new();
        let mut probabilities: Vec<f64> = Vec::new();
        for step in pool(std::iter::once(ends[0]).chain(rows).chain([ends[1]])) {
            // Steps whose scores are equal to the last bit would stand above each other.
            if scores.last().is_none_or(|&before| before < step.score()) {
                scores.push(step.score());
                probabilities.push(step.share());
            }
        }
        Curve::Isotonic { scores, probabilities }
    }

    /// Platt's sigmoid by Newton's method (Lin, Lin and Weng, 2007), with his smoothed targets: (n+ + 1) /
    /// (n+ + 2) for rows to which the label is relevant, 1 / (n- + 2) for the others.
    fn sigmoid(rows: &[(f64, bool)], scale: Scale) -> Curve {
        let n_relevant = rows.iter().filter(|(_, relevant)| *relevant).count() as f64;
        let n_others = rows.len() as f64 - n_relevant;
        let (high, low) = ((n_relevant + 1.0) / (n_relevant + 2.0), 1.0 / (n_others + 2.0));
        let points: Vec<(f64, f64)> = rows
            .iter()
            .map(|&(score, relevant)| (linear(score, scale), if relevant { high } else { low }))
            .collect();
        // - Σ target · ln p + (1 - target) · ln (1 - p), in a form that does not overflow.
        let loss = |slope: f64, intercept: f64| -> f64 {
            let term = |&(t, target): &(f64, f64)| {
                let z = slope * t + intercept;
                z.max(0.0) - target * z + (-z.abs()).exp().ln_1p()
            };
            points.iter().map(term).sum()
        };
        let prior = (n_relevant + 1.0) / (n_relevant + n_others + 2.0);
        let (mut slope, mut intercept) = (0.0, (prior / (1.0 - prior)).ln());
        let mut least = loss(slope, intercept);
        for _ in 0..100 {
            let (mut d_slope, mut d_intercept) = (0.0, 0.0);
            // The Hessian; its diagonal starts above 0, so that it can be inverted.
            let (mut ss, mut si, mut ii) = (1e-12, 0.0, 1e-12);
            for &(t, target) in &points {
                let p = 1.0 / (1.0 + (-(slope * t + intercept)).exp());
                let (error, weight) = (p - target, p * (1.0 - p));
                d_slope += error * t;
                d_intercept += error;
                ss += weight * t * t;
                si += weight * t;
                ii += weight;
            }
            if d_slope.abs() < 1e-7 && d_intercept.abs() < 1e-7 {
                break;
            }
            let determinant = ss * ii - si * si;
            let step_slope = -(ii * d_slope - si * d_intercept) / determinant;
            let step_intercept = -(ss * d_intercept - si * d_slope) / determinant;
            // Halved until the loss falls.
            let mut share = 1.0;
            while share > 1e-10 {
                let (next_slope, next_intercept) =
                    (slope + share * step_slope, intercept + share * step_intercept);
                let next = loss(next_slope, next_intercept);
                if next < least {
                    (slope, intercept, least) = (next_slope, next_intercept, next);
                    break;
                }
                share /= 2.0;
            }
            if share <= 1e-10 {
                break;
            }
        }
        // Scores that speak against what they say are no scores: the frequency is all that is known.
        if !(slope.is_finite() && intercept.is_finite()) || slope < 0.0 {
            (slope, intercept) = (0.0, (prior / (1.0 - prior)).ln());
        }
        Curve::Sigmoid { slope, intercept }
    }

    /// The probability of a score.
    pub fn probability(&self, score: f64, scale: Scale) -> f64 {
        match self {
            Curve::Identity => score,
            Curve::Sigmoid { slope, intercept } => {
                1.0 / (1.0 + (-(slope * linear(score, scale) + intercept)).exp())
            }
            Curve::Isotonic { scores, probabilities } => {
                let above = scores.partition_point(|&known| known <= score);
                if above == 0 {
                    let (Some(x), Some(p)) = (scores.first(), probabilities.first()) else {
                        return 0.0;
                    };
                    return p * shrinking(x - score, *x, scale);
                }
                let (x0, p0) = (scores[above - 1], probabilities[above - 1]);
                if above == scores.len() {
                    return 1.0 - (1.0 - p0) * shrinking(score - x0, 1.0 - x0, scale);
                }
                let (x1, p1) = (scores[above], probabilities[above]);
                p0 + (p1 - p0) * ((score - x0) / (x1 - x0))
            }
        }
    }

    /// Whether every score has the same probability.
    pub(super) fn is_flat(&self) -> bool {
        matches!(self, Curve::Sigmoid { slope, .. } if *slope == 0.0)
    }

    /// Whether the parts are as learning leaves them.
    pub(super) fn fits(&self, scale: Scale) -> bool {
        match self {
            Curve::Identity => scale == Scale::Probability,
            Curve::Sigmoid { slope, intercept } => {
                slope.is_finite() && *slope >= 0.0 && intercept.is_finite()
            }
            Curve::Isotonic { scores, probabilities } => {
                !scores.is_empty()
                    && scores.len() == probabilities.len()
                    && scores.iter().all(|score| score.abs() <= 1e100)
                    && scores.is_sorted_by(|a, b| a < b)
                    && probabilities.iter().all(|p| (0.0..=1.0).contains(p))
                    && probabilities.is_sorted()
            }
        }
    }
}

/// The score on a scale on which a sigmoid is straight: a margin as it is, the log-odds of a probability.
/// A probability of exactly 0 or 1, as equal votes of all neighbours give, counts as one in a million.
fn linear(score: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Margin => score,
        Scale::Probability => {
            let p = score.clamp(1e-6, 1.0 - 1e-6);
            (p / (1.0 - p)).ln()
        }
    }
}

/// What is left of a probability beyond the end of a curve, or of its distance from 1: nearly all of it,
/// for nothing is known there. But it falls by up to one in a hundred, so that rows keep their order.
fn shrinking(distance: f64, farthest: f64, scale: Scale) -> f64 {
    let share = match scale {
        Scale::Probability if farthest > 0.0 => (distance / farthest).clamp(0.0, 1.0),
        Scale::Probability => 0.0,
        Scale::Margin => distance.max(0.0) / (1.0 + distance.max(0.0)),
    };
    1.0 - share / 100.0
}

/// Rows that isotonic regression gives one value.
struct PooledRows {
    n: f64,
    scores: f64,
    relevant: f64,
}

impl PooledRows {
    fn score(&self) -> f64 {
        self.scores / self.n
    }

    fn share(&self) -> f64 {
        self.relevant / self.n
    }
}

/// Isotonic regression of values on ascending scores, by pooling adjacent violators: in linear time.
fn pool(rows: impl Iterator<Item = (f64, f64)>) -> Vec<PooledRows> {
    let mut steps: Vec<PooledRows> = Vec::new();
    let mut previous = f64::NEG_INFINITY;
    for (score, value) in rows {
        let mut last = PooledRows { n: 1.0, scores: score, relevant: value };
        // Equal scores belong together whatever their values are.
        let mut is_tied = score == previous;
        previous = score;
        while let Some(before) = steps.last() {
            if !is_tied && before.share() < last.share() {
                break;
            }
            last.n += before.n;
            last.scores += before.scores;
            last.relevant += before.relevant;
            steps.pop();
            is_tied = false;
        }
        steps.push(last);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// scikit-learn 1.9.1, `IsotonicRegression().fit_transform(x, y)` for x = 1 1 2 3 4 5 6 and
    /// y = 0 1 0 1 0 1 1: .333333 .333333 .333333 .5 .5 1 1.
    #[test]
    fn pooling_is_isotonic_regression() {
        let x = [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let y = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let steps = pool(x.into_iter().zip(y));
        let values: Vec<f64> =
            steps.iter().flat_map(|of| vec![of.share(); of.n as usize]).collect();
        let third = 1.0 / 3.0;
        assert_eq!(values, [third, third, third, 0.5, 0.5, 1.0, 1.0]);
    }

    fn draws(n: usize) -> Vec<(f64, bool)> {
        let mut rng = Seed::new(3).rng();
        let mut rows: Vec<(f64, bool)> = (0..n)
            .map(|_| {
                let score = rng.unit();
                // Overconfident: the true probability is nearer to one half than the score.
                (score, rng.chance(0.25 + 0.5 * score))
            })
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows
    }

    #[test]
    fn curves_find_the_probability_and_never_fall() {
        let rows = draws(20_000);
        for curve in [Curve::isotonic(&rows), Curve::sigmoid(&rows, Scale::Probability)] {
            assert!(curve.fits(Scale::Probability));
            let mut before = 0.0;
            for at in 0..=100 {
                let score = f64::from(at) / 100.0;
                let p = curve.probability(score, Scale::Probability);
                assert!(p >= before, "{curve:?}");
                before = p;
                // A sigmoid of log-odds is no straight line, and cannot be nearer at the ends.
                if (10..=90).contains(&at) {
                    assert!((p - (0.25 + 0.5 * score)).abs() < 0.05, "{score} {p}");
                }
            }
        }
    }

    /// scikit-learn 1.9.1, `sklearn.calibration._sigmoid_calibration(margins, y)` for these rows gives
    /// a = -0.817507, b = -0.037579 with P = 1 / (1 + exp(a t + b)); tolerance 1e-5.
    #[test]
    fn the_sigmoid_is_that_of_platt() {
        let margins = [-2.0, -1.5, -1.0, -0.5, -0.2, 0.1, 0.4, 0.9, 1.3, 2.1];
        let relevant = [false, false, true, false, false, true, false, true, true, true];
        let rows: Vec<(f64, bool)> = margins.into_iter().zip(relevant).collect();
        let Curve::Sigmoid { slope, intercept } = Curve::sigmoid(&rows, Scale::Margin) else {
            panic!("a sigmoid was asked for");
        };
        assert!(
            (slope - 0.817507).abs() < 1e-5 && (intercept - 0.037579).abs() < 1e-5,
            "{slope} {intercept}"
        );
    }

    #[test]
    fn one_class_or_none_is_no_fault() {
        for relevant in [false, true] {
            let rows = [(0.2, relevant), (0.4, relevant)];
            for scale in [Scale::Probability, Scale::Margin] {
                let p = Curve::sigmoid(&rows, scale).probability(0.3, scale);
                assert!(p > 0.0 && p < 1.0);
                assert!(Curve::learn(&rows, scale).fits(scale));
            }
        }
        assert!(Curve::learn(&[], Scale::Margin).probability(1.0, Scale::Margin) > 0.0);
        // Scores that say the contrary of what is true.
        let contrary: Vec<(f64, bool)> = (0..20).map(|at| (f64::from(at), at < 10)).collect();
        let curve = Curve::sigmoid(&contrary, Scale::Margin);
        assert_eq!(curve.probability(0.0, Scale::Margin), curve.probability(19.0, Scale::Margin));
    }
}
