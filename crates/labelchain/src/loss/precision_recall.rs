//! What a threshold on the probabilities of a label does, for all thresholds.

use super::{cells, check_probabilities};
use crate::data::{LabelId, LabelMatrix};
use crate::error::Result;

/// What calling a label relevant does where it is at least this probable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionRecall {
    /// The least probability that is called relevant.
    pub threshold: f64,
    /// The share of what is called relevant that is.
    pub precision: f64,
    /// The share of what is relevant that is called so.
    pub recall: f64,
}

impl PrecisionRecall {
    /// The curve of one label: a point for each distinct probability, from the greatest down. It ends where
    /// recall is 1, since a lower threshold is only wrong more often; none where the label is relevant to no
    /// row. Probabilities stand row by row, by label. These are the points of scikit-learn's
    /// `precision_recall_curve`, and the [average
    /// precision](super::LabelMeasures::average_precision) is the area below their steps.
    pub fn curve(
        truth: &LabelMatrix,
        probabilities: &[f64],
        LabelId(label): LabelId,
    ) -> Result<Vec<PrecisionRecall>> {
        check_probabilities(truth, probabilities)?;
        let mut cells: Vec<(bool, f64)> = cells(truth, probabilities, label..label + 1).collect();
        cells.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        let n_relevant = cells.iter().filter(|(is_relevant, _)| *is_relevant).count();
        let (mut n_given, mut n_right) = (0, 0);
        let mut curve = Vec::new();
        for equal in cells.chunk_by(|a, b| a.1 == b.1) {
            if n_right == n_relevant {
                break;
            }
            n_given += equal.len();
            n_right += equal.iter().filter(|(is_relevant, _)| *is_relevant).count();
            curve.push(PrecisionRecall {
                threshold: equal[0].1,
                precision: n_right as f64 / n_given as f64,
                recall: n_right as f64 / n_relevant as f64,
            });
        }
        Ok(curve)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, table};
    use super::super::{LabelMeasures, Undefined};
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn five_rows_by_hand() {
        let truth = table(&["1", "0", "1", "1", "0"]);
        let curve = PrecisionRecall::curve(&truth, &[0.9, 0.7, 0.7, 0.2, 0.1], LabelId(0)).unwrap();
        let points: Vec<(f64, f64, f64)> =
            curve.iter().map(|of| (of.threshold, of.precision, of.recall)).collect();
        // A tie is called relevant together; below 0.2 nothing is left to find.
        assert_eq!(points, [(0.9, 1.0, 1.0 / 3.0), (0.7, 2.0 / 3.0, 2.0 / 3.0), (0.2, 0.75, 1.0)]);
        let none = table(&["0", "0"]);
        assert!(PrecisionRecall::curve(&none, &[0.5, 0.4], LabelId(0)).unwrap().is_empty());
        assert!(PrecisionRecall::curve(&none, &[0.5, 2.0], LabelId(0)).is_err());
    }

    #[test]
    fn the_area_below_the_steps_is_the_average_precision() {
        let mut rng = Seed::new(5).rng();
        let (n_rows, n_labels) = (200, 3);
        let mut truth = LabelMatrix::empty(n_rows, n_labels);
        let mut probabilities = Vec::new();
        for row in 0..n_rows {
            for label in 0..n_labels {
                let p = rng.below(20) as f64 / 20.0;
                probabilities.push(p);
                truth.set(row, LabelId(label), rng.chance(p * p));
            }
        }
        let by_label =
            LabelMeasures::between(&truth, &truth, Some(&probabilities), Undefined::Paper).unwrap();
        for (label, of) in by_label.iter().enumerate() {
            let curve = PrecisionRecall::curve(&truth, &probabilities, LabelId(label)).unwrap();
            let mut before = 0.0;
            let area: f64 = curve
                .iter()
                .map(|point| {
                    let width = point.recall - before;
                    before = point.recall;
                    width * point.precision
                })
                .sum();
            assert!(close(Some(area), of.average_precision));
        }
    }
}
