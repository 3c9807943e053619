//! How well do probabilities rank? Of labels within a row, and of rows within a label.
//!
//! Only the order of the probabilities matters here; whether their size is right is a question of
//! [calibration](super::Calibration). Every measure is scikit-learn's, ties included;
//! `docs/conventions.md` has the definitions and the cells where scikit-learn has no number.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::{Measure, cells, check_probabilities, mean};
use crate::data::LabelMatrix;
use crate::error::Result;

/// Measures of rankings, none where there is nothing to average. [`Ranking::measures`] says which way
/// is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The average precision of all cells as one list.
    pub average_precision_micro: Option<f64>,
    /// The mean average precision of the labels that are relevant to at least one row.
    pub average_precision_macro: Option<f64>,
    /// The mean area under the ROC curve of the labels that are relevant to some rows and irrelevant
    /// to others.
    pub auc_macro: Option<f64>,
    /// The area under the ROC curve of all cells as one list.
    pub auc_micro: Option<f64>,
    /// The mean over rows of the share of pairs of a relevant and an irrelevant label in which the
    /// relevant one does not stand strictly higher.
    pub ranking_loss: Option<f64>,
    /// The share of rows whose most probable label, of equals the lower, is irrelevant.
    pub one_error: Option<f64>,
    /// The mean over rows of how many labels must be read from the top until all relevant ones are
    /// found.
    pub coverage: Option<f64>,
    /// Label-ranking average precision: the mean over rows of the mean, over relevant labels, of the
    /// share of relevant ones among the labels that stand no lower.
    pub lrap: Option<f64>,
}

impl Ranking {
    /// Measures the ranking by probabilities, which stand row by row, by label.
    pub fn between(truth: &LabelMatrix, probabilities: &[f64]) -> Result<Ranking> {
        check_probabilities(truth, probabilities)?;
        let by_label = by_label(truth, probabilities);
        let n_labels = truth.n_labels();
        let all = Separation::of(truth, probabilities, 0..n_labels);
        let ranked = |row: usize| {
            RankedRow::of(truth, row, &probabilities[row * n_labels..(row + 1) * n_labels])
        };
        // Threads rank rows, and the sums are taken in the order of the rows: the same bits for any
        // number of threads.
        let rows: Vec<RankedRow> = if n_labels == 0 {
            Vec::new()
        } else {
            (0..truth.n_rows()).into_par_iter().map(ranked).collect()
        };
        let over_rows = |value: fn(&RankedRow) -> f64| mean(rows.iter().map(value));
        Ok(Ranking {
            average_precision_micro: all.average_precision,
            average_precision_macro: mean(by_label.iter().filter_map(|of| of.average_precision)),
            auc_macro: mean(by_label.iter().filter_map(|of| of.auc)),
            auc_micro: all.auc,
            ranking_loss: over_rows(|row| row.loss),
            one_error: over_rows(|row| f64::from(row.is_top_irrelevant)),
            coverage: over_rows(|row| row.coverage as f64),
            lrap: over_rows(|row| row.average_precision),
        })
    }

    /// All of them, each with its key, its title and which way is better.
    pub fn measures(&self) -> [Measure; 8] {
        let greater =
            |key, short, title, value| Measure { key, short, title, value, is_loss: false };
        let smaller =
            |key, short, title, value| Measure { key, short, title, value, is_loss: true };
        [
            greater("auc_macro", "AUC, macro", "AUC, macro", self.auc_macro),
            greater("auc_micro", "AUC, micro", "AUC, micro", self.auc_micro),
            greater(
                "average_precision_macro",
                "AP, macro",
                "Average precision, macro",
                self.average_precision_macro,
            ),
            greater(
                "average_precision_micro",
                "AP, micro",
                "Average precision, micro",
                self.average_precision_micro,
            ),
            greater("lrap", "LRAP", "Label-ranking average precision", self.lrap),
            smaller("ranking_loss", "Ranking loss", "Ranking loss", self.ranking_loss),
            smaller("one_error", "One error", "One error", self.one_error),
            smaller("coverage", "Coverage", "Coverage, in labels", self.coverage),
        ]
    }
}

/// The separation of each label's rows.
pub(super) fn by_label(truth: &LabelMatrix, probabilities: &[f64]) -> Vec<Separation> {
    let of = |label| Separation::of(truth, probabilities, label..label + 1);
    (0..truth.n_labels()).into_par_iter().map(of).collect()
}

/// How well probabilities separate relevant cells from irrelevant ones, over all thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Separation {
    /// The area under the ROC curve: the probability that a relevant cell stands higher than an
    /// irrelevant one, where a tie counts half. None unless there are cells of both kinds.
    pub(super) auc: Option<f64>,
    /// Σ (Rₙ − Rₙ₋₁) Pₙ over the distinct probabilities from the greatest down, with Rₙ the recall and
    /// Pₙ the precision of calling relevant whatever stands no lower. None without relevant cells.
    pub(super) average_precision: Option<f64>,
}

impl Separation {
    /// Of the cells of some labels.
    fn of(truth: &LabelMatrix, probabilities: &[f64], labels: Range<usize>) -> Separation {
        let (mut relevant, mut irrelevant) = (Vec::new(), Vec::new());
        for (is_relevant, probability) in cells(truth, probabilities, labels) {
            if is_relevant { &mut relevant } else { &mut irrelevant }.push(probability);
        }
        Separation::between(relevant, irrelevant)
    }

    /// Of two lists of probabilities, in any order.
    fn between(mut relevant: Vec<f64>, mut irrelevant: Vec<f64>) -> Separation {
        relevant.sort_unstable_by(f64::total_cmp);
        irrelevant.sort_unstable_by(f64::total_cmp);
        let (n_relevant, n_irrelevant) = (relevant.len(), irrelevant.len());
        let (mut n_hits, mut n_false) = (0, 0);
        // Twice the number of pairs in the right order, so that a tie, which counts half, is whole.
        let mut twice_ordered: u128 = 0;
        let mut precision_sum = 0.0;
        while let Some(threshold) = greatest(&relevant, &irrelevant) {
            let hits = take(&mut relevant, threshold);
            let false_alarms = take(&mut irrelevant, threshold);
            n_hits += hits;
            n_false += false_alarms;
            let n_lower = n_irrelevant - n_false;
            twice_ordered += hits as u128 * (2 * n_lower + false_alarms) as u128;
            precision_sum += hits as f64 * (n_hits as f64 / (n_hits + n_false) as f64);
        }
        let n_pairs = n_relevant as u128 * n_irrelevant as u128;
        Separation {
            auc: (n_pairs > 0).then(|| twice_ordered as f64 / (2 * n_pairs) as f64),
            average_precision: (n_relevant > 0).then(|| precision_sum / n_relevant as f64),
        }
    }
}

/// The greatest of two ascending lists.
fn greatest(one: &[f64], other: &[f64]) -> Option<f64> {
    match (one.last(), other.last()) {
        (Some(&one), Some(&other)) => Some(one.max(other)),
        (one, other) => one.or(other).copied(),
    }
}

/// Takes all that equal the threshold from the end of an ascending list, and says how many.
fn take(ascending: &mut Vec<f64>, threshold: f64) -> usize {
    let n = ascending.iter().rev().take_while(|&&value| value == threshold).count();
    ascending.truncate(ascending.len() - n);
    n
}

/// What the ranking of one row's labels is worth.
struct RankedRow {
    loss: f64,
    is_top_irrelevant: bool,
    coverage: usize,
    average_precision: f64,
}

impl RankedRow {
    /// Goes through the labels from the most probable down, all of equal probability at once.
    fn of(truth: &LabelMatrix, row: usize, probabilities: &[f64]) -> RankedRow {
        // Labels of which the truth is unknown have no place in the ranking.
        let mut ranked: Vec<(f64, bool)> = truth
            .ids()
            .filter_map(|label| Some((probabilities[label.0], truth.cell(row, label)?)))
            .collect();
        // The sort is stable, so that the lower of equal labels comes first.
        ranked.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        let n_labels = ranked.len();
        let n_relevant = ranked.iter().filter(|(_, is_relevant)| *is_relevant).count();
        let (mut n_read, mut n_found, mut n_wrong_pairs, mut coverage) = (0, 0, 0, 0);
        let mut precision_sum = 0.0;
        for tied in ranked.chunk_by(|(one, _), (other, _)| one == other) {
            let found = tied.iter().filter(|(_, is_relevant)| *is_relevant).count();
            // An irrelevant label forms a wrong pair with each relevant one that stands no higher.
            n_wrong_pairs += (tied.len() - found) * (n_relevant - n_found);
            n_read += tied.len();
            n_found += found;
            if found > 0 {
                coverage = n_read;
                precision_sum += found as f64 * (n_found as f64 / n_read as f64);
            }
        }
        let n_pairs = n_relevant * (n_labels - n_relevant);
        // Without a relevant label, or without an irrelevant one, no ranking is wrong.
        RankedRow {
            loss: if n_pairs == 0 { 0.0 } else { n_wrong_pairs as f64 / n_pairs as f64 },
            is_top_irrelevant: ranked.first().is_some_and(|(_, is_relevant)| !is_relevant),
            coverage,
            average_precision: if n_pairs == 0 { 1.0 } else { precision_sum / n_relevant as f64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, table};
    use super::*;

    fn ranking(truth: &[&str], probabilities: &[f64]) -> Ranking {
        Ranking::between(&table(truth), probabilities).unwrap()
    }

    #[test]
    fn two_rows_by_hand() {
        // Row 0 ranks labels 1, 0, 2 with label 0 relevant; row 1 ranks 0 and 2 equally, then 1, with
        // labels 1 and 2 relevant.
        let both = ranking(&["100", "011"], &[0.5, 0.9, 0.1, 0.4, 0.2, 0.4]);
        // Wrong pairs: (0, 1) of 2; (1, 0) and, tied, (2, 0) of 2.
        assert!(close(both.ranking_loss, Some((0.5 + 1.0) / 2.0)));
        // The top labels are 1, irrelevant, and of the tied ones 0, irrelevant.
        assert_eq!(both.one_error, Some(1.0));
        // Two labels are read until label 0 is found, three until label 1 is.
        assert_eq!(both.coverage, Some(2.5));
        // Row 0: 1 of 2. Row 1: label 2 is 1 of the 2 no lower, label 1 is 2 of 3.
        assert!(close(both.lrap, Some((0.5 + (0.5 + 2.0 / 3.0) / 2.0) / 2.0)));
        // Label 0: 0.5 relevant above 0.4. Label 1: 0.2 below 0.9. Label 2: 0.4 above 0.1.
        assert!(close(both.auc_macro, Some(2.0 / 3.0)));
        // All cells, downwards: 0.9 no; 0.5 yes; 0.4 yes and no; 0.2 yes; 0.1 no. Of 9 pairs, 0.5 wins
        // 2, 0.4 wins 1 and ties 1, 0.2 wins 1.
        assert!(close(both.auc_micro, Some(4.5 / 9.0)));
        // Precision at 0.5 is 1/2, at 0.4 2/4, at 0.2 3/5.
        assert!(close(both.average_precision_micro, Some((0.5 + 0.5 + 0.6) / 3.0)));
        // Label 0: 1. Label 1: second of two. Label 2: 1.
        assert!(close(both.average_precision_macro, Some(2.5 / 3.0)));
    }

    #[test]
    fn labels_of_one_class_are_left_out_of_means() {
        let some = ranking(&["100", "001", "001"], &[0.9, 0.5, 0.5, 0.1, 0.5, 0.2, 0.1, 0.5, 0.9]);
        // Label 1 is never relevant. Label 2 wins one of its two pairs.
        assert!(close(some.auc_macro, Some((1.0 + 0.5) / 2.0)));
        let nothing = ranking(&["00", "00"], &[0.5; 4]);
        assert_eq!((nothing.auc_macro, nothing.auc_micro), (None, None));
        assert_eq!(
            (nothing.average_precision_macro, nothing.average_precision_micro),
            (None, None)
        );
        assert_eq!((nothing.ranking_loss, nothing.coverage), (Some(0.0), Some(0.0)));
        assert_eq!((nothing.lrap, nothing.one_error), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn without_rows_or_labels_there_is_no_value() {
        for (n_rows, n_labels) in [(0, 3), (3, 0), (0, 0)] {
            let ranking = Ranking::between(&LabelMatrix::empty(n_rows, n_labels), &[]).unwrap();
            assert!(ranking.measures().iter().all(|measure| measure.value.is_none()));
        }
    }

    #[test]
    fn a_negative_zero_is_a_zero() {
        let one = ranking(&["10", "01"], &[-0.0, 0.0, 0.0, -0.0]);
        assert_eq!(one, ranking(&["10", "01"], &[0.0; 4]));
        assert_eq!(one.one_error, Some(0.5));
    }

    #[test]
    fn numbers_that_are_no_probabilities_are_refused() {
        let refusal =
            |cells: &[f64]| Ranking::between(&table(&["10", "01"]), cells).unwrap_err().to_string();
        let about = |value: &str| {
            format!("probability of label 1 in row 1 is {value}, but must be a number from 0 to 1")
        };
        assert_eq!(refusal(&[0.0, 1.0, 0.5, f64::NAN]), about("NaN"));
        assert_eq!(refusal(&[0.0, 1.0, 0.5, -0.5]), about("-0.5"));
        assert_eq!(refusal(&[0.0, 1.0, 0.5, f64::INFINITY]), about("inf"));
        assert_eq!(refusal(&[0.5; 3]), "probabilities: expected 4, found 3");
    }
}
