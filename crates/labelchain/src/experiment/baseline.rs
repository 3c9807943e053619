//! The least that a method has to beat: the same answer for every row, whatever its inputs are.

use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};

/// What is known of the labels alone. Every row is given the labels that are relevant to more than
/// half of the training rows; where there is none, the most frequent one, of equals the lower; and
/// none where no training row has a label. Probabilities are the labels' shares of training rows.
///
/// Thus it answers as a constant may answer best for Hamming loss, and still names one label where
/// that would be none, because an empty answer tells a user nothing.
///
/// ```
/// use labelchain::data::{LabelId, LabelMatrix};
/// use labelchain::experiment::Baseline;
///
/// let mut train = LabelMatrix::empty(4, 2);
/// (0..3).for_each(|row| train.set(row, LabelId(1), true));
/// let baseline = Baseline::fit(&train)?;
/// assert_eq!(baseline.probabilities(1), [0.0, 0.75]);
/// assert!(baseline.answers(1).get(0, LabelId(1)));
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    relevant: Vec<bool>,
    shares: Vec<f64>,
}

impl Baseline {
    /// Its name in tables of methods.
    pub const NAME: &'static str = "baseline";

    /// From the labels of the training rows.
    pub fn fit(train: &LabelMatrix) -> Result<Baseline> {
        let n_rows = train.n_rows();
        if n_rows == 0 {
            let purpose = "a baseline".into();
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        let counts = train.counts();
        // Rows that do not have the label say nothing about it.
        let n_known = |label| (0..n_rows).filter(|&row| train.is_known(row, label)).count();
        let n_known: Vec<usize> = match train.n_unknown() {
            0 => vec![n_rows; counts.len()],
            _ => train.ids().map(n_known).collect(),
        };
        let pairs = || counts.iter().zip(&n_known);
        let mut relevant: Vec<bool> = pairs().map(|(&count, &n)| 2 * count > n).collect();
        if !relevant.contains(&true) {
            let greatest = counts.iter().copied().max().unwrap_or(0);
            let first = counts.iter().position(|&count| count == greatest && count > 0);
            first.into_iter().for_each(|label| relevant[label] = true);
        }
        let shares = pairs().map(|(&count, &n)| count as f64 / n.max(1) as f64).collect();
        Ok(Baseline { relevant, shares })
    }

    /// The answer for so many rows.
    pub fn answers(&self, n_rows: usize) -> LabelMatrix {
        let mut answers = LabelMatrix::empty(n_rows, self.relevant.len());
        for row in 0..n_rows {
            for (label, &relevant) in self.relevant.iter().enumerate() {
                answers.set(row, LabelId(label), relevant);
            }
        }
        answers
    }

    /// The probabilities for so many rows, row by row, by label.
    pub fn probabilities(&self, n_rows: usize) -> Vec<f64> {
        self.shares.repeat(n_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::split::folds;
    use crate::data::{Dataset, LabelNetwork};
    use crate::loss::{Calibration, Criterion, Losses, Ranking, Undefined};
    use crate::seed::Seed;

    fn of(rows: &[&[usize]], n_labels: usize) -> (Vec<usize>, Vec<f64>) {
        let mut train = LabelMatrix::empty(rows.len(), n_labels);
        for (row, labels) in rows.iter().enumerate() {
            labels.iter().for_each(|&label| train.set(row, LabelId(label), true));
        }
        let baseline = Baseline::fit(&train).unwrap();
        let answers = baseline.answers(2);
        assert_eq!(answers.row(0), answers.row(1));
        let relevant = answers.relevant(1).map(|label| label.0).collect();
        (relevant, baseline.probabilities(1))
    }

    #[test]
    fn the_frequent_labels_else_the_most_frequent_one() {
        // Label 0 has three of four rows, label 1 exactly half, which is not more.
        assert_eq!(of(&[&[0, 1], &[0, 1], &[0], &[]], 3), (vec![0], vec![0.75, 0.5, 0.0]));
        assert_eq!(of(&[&[0, 1], &[0, 1], &[1]], 2).0, [0, 1]);
        // No label has more than half: of labels 1 and 2 with one row each, the lower.
        assert_eq!(of(&[&[1], &[2], &[]], 3).0, [1]);
        assert_eq!(of(&[&[], &[]], 2), (vec![], vec![0.0, 0.0]));
        assert_eq!(of(&[&[]], 0), (vec![], vec![]));
        assert!(Baseline::fit(&LabelMatrix::new(2)).is_err());
    }

    /// In each fold from the training rows alone. It ranks no row above another, so that over each
    /// label its AUC is one half; and its probabilities are calibrated, but for the chance by which
    /// test rows differ.
    #[test]
    fn it_is_tested_in_folds_as_a_method_is() {
        let seed = Seed::new(1);
        let network = LabelNetwork { n_rows: 600, ..LabelNetwork::default() };
        let data: Dataset = network.generate("network", seed).unwrap();
        let folds = folds(data.n_rows(), 3, seed).unwrap();
        for fold in 0..folds.n_folds() {
            let train = data.labels().select(&folds.train_rows(fold));
            let test = data.labels().select(&folds.test_rows(fold));
            let baseline = Baseline::fit(&train).unwrap();
            let answers = baseline.answers(test.n_rows());
            let losses = Losses::between(&test, &answers, Undefined::Paper).unwrap();
            // Labels are relevant to 15 to 50 rows of a hundred, so that what is right without looking
            // at a row is wrong in some cells, and in fewer than half of them.
            let hamming = losses.get(Criterion::Hamming).unwrap();
            assert!(hamming > 0.1 && hamming < 0.5, "{hamming}");
            let probabilities = baseline.probabilities(test.n_rows());
            let ranking = Ranking::between(&test, &probabilities).unwrap();
            assert_eq!(ranking.auc_macro, Some(0.5));
            let calibration = Calibration::between(&test, &probabilities).unwrap();
            assert!(calibration.ece.unwrap() < 0.05, "{calibration:?}");
        }
    }
}
