//! How well is each label predicted, alone?

use super::ranking::{self, Separation};
use super::{Confusion, Rate, Undefined, check_probabilities, count};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};

/// What the answers and the probabilities for one label are worth. Greater is better in all of them
/// but the support, which is a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelMeasures {
    /// To how many rows it is relevant.
    pub support: usize,
    /// What the answers are: TP, FP and FN.
    pub counts: Confusion,
    /// TN: rows to which it is irrelevant and not given.
    pub true_negatives: usize,
    /// TP / (TP + FP); none where the rule for zero over zero leaves it out.
    pub precision: Option<f64>,
    /// TP / (TP + FN); none where the rule for zero over zero leaves it out.
    pub recall: Option<f64>,
    /// 2 TP / (2 TP + FP + FN); none where the rule for zero over zero leaves it out.
    pub f1: Option<f64>,
    /// The area under the ROC curve; none without probabilities, or unless it is relevant to some rows
    /// and irrelevant to others.
    pub auc: Option<f64>,
    /// The average precision; none without probabilities, or where it is relevant to no row.
    pub average_precision: Option<f64>,
}

impl LabelMeasures {
    /// Of each label, in label order. Probabilities stand row by row, by label.
    ///
    /// Each metric is one minus the loss of its [`Rate`], so that under every rule the mean of the
    /// labels' F1 is one minus the macro F1 loss of [`Losses`](super::Losses).
    pub fn between(
        truth: &LabelMatrix,
        answer: &LabelMatrix,
        probabilities: Option<&[f64]>,
        undefined: Undefined,
    ) -> Result<Vec<LabelMeasures>> {
        Error::unless_same("rows of the answer", truth.n_rows(), answer.n_rows())?;
        Error::unless_same("labels of the answer", truth.n_labels(), answer.n_labels())?;
        let separations = match probabilities {
            Some(probabilities) => {
                check_probabilities(truth, probabilities)?;
                ranking::by_label(truth, probabilities)
            }
            None => vec![Separation::default(); truth.n_labels()],
        };
        // As for the losses: what is unknown is neither right nor wrong.
        let (_, counts) = count(truth, &answer.clone().known_where(truth));
        let n_known = |label| (0..truth.n_rows()).filter(|&row| truth.is_known(row, label)).count();
        let of = |((label, counts), separation): ((usize, Confusion), Separation)| {
            let n_rows =
                if truth.n_unknown() == 0 { truth.n_rows() } else { n_known(LabelId(label)) };
            let metric = |rate: Rate| rate.loss(&counts, undefined).map(|loss| 1.0 - loss);
            LabelMeasures {
                support: counts.true_positives + counts.false_negatives,
                counts,
                true_negatives: n_rows - counts.true_positives - counts.n_wrong(),
                precision: metric(Rate::Fdr),
                recall: metric(Rate::Fnr),
                f1: metric(Rate::F1),
                auc: separation.auc,
                average_precision: separation.average_precision,
            }
        };
        Ok(counts.into_iter().enumerate().zip(separations).map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, table};
    use super::super::{Averaging, Criterion, Losses};
    use super::*;

    #[test]
    fn three_labels_by_hand() {
        let truth = table(&["110", "100", "100", "000"]);
        let answer = table(&["110", "101", "000", "010"]);
        let probabilities = [0.9, 0.6, 0.1, 0.8, 0.1, 0.7, 0.3, 0.2, 0.1, 0.4, 0.6, 0.2];
        let rule = Undefined::Skip;
        let by_label = LabelMeasures::between(&truth, &answer, Some(&probabilities), rule).unwrap();
        let support: Vec<usize> = by_label.iter().map(|of| of.support).collect();
        assert_eq!(support, [3, 1, 0]);
        assert_eq!(by_label.iter().map(|of| of.true_negatives).collect::<Vec<_>>(), [1, 2, 3]);
        // (TP, FP, FN) are (2, 0, 1), (1, 1, 0) and (0, 1, 0).
        let [a, b, c] = by_label[..] else { panic!("three labels") };
        assert!(close(a.precision, Some(1.0)) && close(b.precision, Some(0.5)));
        assert!(close(a.recall, Some(2.0 / 3.0)) && close(b.recall, Some(1.0)));
        assert!(close(a.f1, Some(0.8)) && close(b.f1, Some(2.0 / 3.0)));
        assert_eq!((c.precision, c.recall, c.f1), (Some(0.0), None, Some(0.0)));
        // Label 0: 0.9 and 0.8 stand above the irrelevant 0.4, 0.3 does not. Label 1: 0.6 ties with
        // one of three. Label 2 has one class.
        assert!(close(a.auc, Some(2.0 / 3.0)) && close(b.auc, Some(2.5 / 3.0)));
        assert!(close(a.average_precision, Some((1.0 + 1.0 + 0.75) / 3.0)));
        assert!(close(b.average_precision, Some(0.5)));
        assert_eq!((c.auc, c.average_precision), (None, None));
    }

    #[test]
    fn their_means_are_the_macro_losses_under_every_rule() {
        let truth = table(&["1100", "1010", "0010"]);
        let answer = table(&["1000", "1110", "0000"]);
        for rule in Undefined::ALL {
            let by_label = LabelMeasures::between(&truth, &answer, None, rule).unwrap();
            let losses = Losses::between(&truth, &answer, rule).unwrap();
            let of =
                |rate| losses.get(Criterion::Of(Averaging::Macro, rate)).map(|loss| 1.0 - loss);
            let mean = |metric: fn(&LabelMeasures) -> Option<f64>| {
                super::super::mean(by_label.iter().filter_map(metric))
            };
            assert!(close(mean(|of| of.precision), of(Rate::Fdr)), "{rule:?}");
            assert!(close(mean(|of| of.recall), of(Rate::Fnr)), "{rule:?}");
            assert!(close(mean(|of| of.f1), of(Rate::F1)), "{rule:?}");
            assert!(by_label.iter().all(|of| of.auc.is_none() && of.average_precision.is_none()));
        }
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let truth = table(&["10", "01"]);
        let between = |answer: &LabelMatrix, probabilities| {
            LabelMeasures::between(&truth, answer, probabilities, Undefined::Paper).is_ok()
        };
        assert!(between(&truth, Some(&[0.5; 4])) && between(&truth, None));
        assert!(!between(&truth, Some(&[0.5; 3])) && !between(&truth, Some(&[2.0; 4])));
        assert!(!between(&table(&["10"]), None) && !between(&table(&["1", "0"]), None));
        let none = LabelMatrix::empty(0, 2);
        let of_none = LabelMeasures::between(&none, &none, Some(&[]), Undefined::Paper).unwrap();
        assert_eq!((of_none.len(), of_none[0].support, of_none[0].auc), (2, 0, None));
    }
}
