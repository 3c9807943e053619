//! How wrong is a prediction? Eleven criteria, all of them losses: smaller is better.
//!
//! Two criteria count wrong cells and wrong rows. The other nine are three [rates](Rate) times three
//! [averagings](Averaging) of the same [counts](Confusion). A rate can be zero over zero (no label
//! predicted, none relevant): [`Undefined`] is the rule that says what this counts as, and
//! [`Losses::n_vacuous`] is the number of times that the rule was needed.
//!
//! ```
//! use labelchain::data::{LabelId, LabelMatrix};
//! use labelchain::loss::{Criterion, Losses, Undefined};
//!
//! let mut truth = LabelMatrix::empty(2, 3);
//! truth.set(0, LabelId(0), true);
//! let mut answer = truth.clone();
//! answer.set(0, LabelId(2), true);
//!
//! let losses = Losses::between(&truth, &answer, Undefined::Paper)?;
//! assert_eq!(losses.get(Criterion::Hamming), Some(1.0 / 6.0));
//! assert_eq!(losses.get("ex_fdr".parse()?), Some(0.25));
//! # Ok::<(), labelchain::error::Error>(())
//! ```
//!
//! Beside the losses there are measures that need more than a loss can say: [`LabelMeasures`] of each
//! label alone, [`Ranking`] of what probabilities put first, and [`Calibration`] of their size. They
//! are called what the field calls them, so in some of them greater is better; each [`Measure`] says
//! which.

mod by_label;
mod calibration;
mod confusion;
mod precision_recall;
mod ranking;

pub use by_label::LabelMeasures;
pub use calibration::{Calibration, ReliabilityBin};
pub use confusion::{Confusion, Rate, Undefined};
pub use precision_recall::PrecisionRecall;
pub use ranking::Ranking;

use std::array;
use std::fmt;
use std::ops::Range;
use std::slice;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};

/// Over what a rate is averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Averaging {
    /// The mean of the rates of all rows: the paper's "example-based".
    Example,
    /// The mean of the rates of all labels: a rare label weighs as much as a frequent one.
    Macro,
    /// The rate of the counts summed over all rows and labels.
    Micro,
}

/// One of the eleven losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Criterion {
    /// Hamming loss: the share of wrong cells.
    Hamming,
    /// Zero-one loss: the share of rows with at least one wrong label.
    ZeroOne,
    /// A rate, averaged.
    Of(Averaging, Rate),
}

/// Key and title of each criterion, as ordered in [`Criterion::ALL`].
const NAMES: [(&str, &str); 11] = [
    ("hamming", "Hamming"),
    ("zero_one", "Zero-one"),
    ("ex_fdr", "Example FDR"),
    ("ex_fnr", "Example FNR"),
    ("ex_f1", "Example F1"),
    ("macro_fdr", "Macro FDR"),
    ("macro_fnr", "Macro FNR"),
    ("macro_f1", "Macro F1"),
    ("micro_fdr", "Micro FDR"),
    ("micro_fnr", "Micro FNR"),
    ("micro_f1", "Micro F1"),
];

impl Criterion {
    /// All eleven, in the paper's order.
    pub const ALL: [Criterion; 11] = [
        Criterion::Hamming,
        Criterion::ZeroOne,
        Criterion::Of(Averaging::Example, Rate::Fdr),
        Criterion::Of(Averaging::Example, Rate::Fnr),
        Criterion::Of(Averaging::Example, Rate::F1),
        Criterion::Of(Averaging::Macro, Rate::Fdr),
        Criterion::Of(Averaging::Macro, Rate::Fnr),
        Criterion::Of(Averaging::Macro, Rate::F1),
        Criterion::Of(Averaging::Micro, Rate::Fdr),
        Criterion::Of(Averaging::Micro, Rate::Fnr),
        Criterion::Of(Averaging::Micro, Rate::F1),
    ];

    /// Its index in [`Criterion::ALL`].
    pub fn index(self) -> usize {
        match self {
            Criterion::Hamming => 0,
            Criterion::ZeroOne => 1,
            Criterion::Of(averaging, rate) => 2 + 3 * averaging as usize + rate as usize,
        }
    }

    /// Its name in settings and files, such as `macro_f1`.
    pub fn key(self) -> &'static str {
        NAMES[self.index()].0
    }

    /// Its name in reports, such as "Macro F1".
    pub fn title(self) -> &'static str {
        NAMES[self.index()].1
    }

    /// Its name where it stands beside other measures. F1 is known as what is better when it is greater,
    /// so that its loss is called one.
    pub fn loss_title(self) -> String {
        match self {
            Criterion::Of(_, Rate::F1) => format!("{self} loss"),
            _ => self.to_string(),
        }
    }
}

/// Writes the [title](Criterion::title).
impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

/// Reads a [key](Criterion::key).
impl FromStr for Criterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Criterion> {
        Criterion::ALL.into_iter().find(|criterion| criterion.key() == text).ok_or_else(|| {
            Error::Setting {
                name: "criterion",
                value: text.into(),
                accepted: "hamming, zero_one, ex_fdr, ex_fnr, ex_f1, macro_fdr, macro_fnr, \
                           macro_f1, micro_fdr, micro_fnr or micro_f1",
            }
        })
    }
}

/// The value of every criterion, and how many of its cells are zero over zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    values: [Option<f64>; 11],
    n_vacuous: [usize; 11],
}

impl Losses {
    /// Compares a prediction with the truth by all eleven criteria, over the cells whose truth is known.
    /// Where some are not, a row or label without a known cell is in no mean
    /// (docs/conventions.md, "Unknown labels").
    pub fn between(
        truth: &LabelMatrix,
        answer: &LabelMatrix,
        undefined: Undefined,
    ) -> Result<Losses> {
        let (n_rows, n_labels) = (truth.n_rows(), truth.n_labels());
        Error::unless_same("rows of the answer", n_rows, answer.n_rows())?;
        Error::unless_same("labels of the answer", n_labels, answer.n_labels())?;

        let n_unknown = truth.n_unknown();
        let (mut rows, mut labels) = if n_unknown == 0 {
            count(truth, answer)
        } else {
            count(truth, &answer.clone().known_where(truth))
        };
        if n_unknown > 0 {
            let is_known = |row, label| truth.is_known(row, LabelId(label));
            let mut row = 0..n_rows;
            rows.retain(|_| {
                row.next().is_some_and(|row| (0..n_labels).any(|at| is_known(row, at)))
            });
            let mut label = 0..n_labels;
            labels.retain(|_| {
                label.next().is_some_and(|at| (0..n_rows).any(|row| is_known(row, at)))
            });
        }
        let all: Confusion = rows.iter().copied().sum();
        let n_wrong_rows = rows.iter().filter(|row| row.n_wrong() > 0).count();
        let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);

        let measured = Criterion::ALL.map(|criterion| match criterion {
            Criterion::Hamming => (share(all.n_wrong(), n_rows * n_labels - n_unknown), 0),
            Criterion::ZeroOne => (share(n_wrong_rows, rows.len()), 0),
            Criterion::Of(averaging, rate) => {
                let cells = match averaging {
                    Averaging::Example => &rows,
                    Averaging::Macro => &labels,
                    Averaging::Micro => slice::from_ref(&all),
                };
                let losses = cells.iter().filter_map(|cell| rate.loss(cell, undefined));
                (mean(losses), cells.iter().filter(|cell| rate.of(cell).is_none()).count())
            }
        });
        Ok(Losses {
            values: measured.map(|(value, _)| value),
            n_vacuous: measured.map(|(_, n_vacuous)| n_vacuous),
        })
    }

    /// The unweighted mean of each criterion over folds: a fold counts the same however many rows it
    /// has. This is not the criterion of all their rows together. A fold without a value is left out;
    /// the numbers of vacuous cells are summed.
    pub fn mean(folds: &[Losses]) -> Losses {
        Losses {
            values: array::from_fn(|at| mean(folds.iter().filter_map(|fold| fold.values[at]))),
            n_vacuous: array::from_fn(|at| folds.iter().map(|fold| fold.n_vacuous[at]).sum()),
        }
    }

    /// The spread of each criterion over folds: the sample standard deviation, with n − 1 below the
    /// line, because folds stand for the splits that might have been drawn. A fold without a value is
    /// left out; there is none over fewer than two values.
    ///
    /// Folds share most of their training rows, so this says how much folds differ, not how far the
    /// mean may be from the truth.
    pub fn spread(folds: &[Losses], criterion: Criterion) -> Option<f64> {
        let values: Vec<f64> = folds.iter().filter_map(|fold| fold.get(criterion)).collect();
        let center = mean(values.iter().copied())?;
        let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
        (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
    }

    /// The value of a criterion, never NaN; `None` where there was nothing to average.
    pub fn get(&self, criterion: Criterion) -> Option<f64> {
        self.values[criterion.index()]
    }

    /// How many of a criterion's cells (rows for `ex_`, labels for `macro_`, the one total for
    /// `micro_`) were zero over zero. The count is the same under every rule.
    pub fn n_vacuous(&self, criterion: Criterion) -> usize {
        self.n_vacuous[criterion.index()]
    }

    /// Every criterion with its value, in the paper's order.
    pub fn iter(&self) -> impl Iterator<Item = (Criterion, Option<f64>)> + '_ {
        Criterion::ALL.into_iter().zip(self.values)
    }
}

/// A number about probabilities, with its names and which way is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Its name in files, such as `auc_macro`.
    pub key: &'static str,
    /// Its name in tables of several methods, such as "AP, macro".
    pub short: &'static str,
    /// Its name in full, such as "Average precision, macro".
    pub title: &'static str,
    /// Its value, never NaN; none where there was nothing to average.
    pub value: Option<f64>,
    /// Whether smaller is better.
    pub is_loss: bool,
}

/// Refuses what are no probabilities of these cells, row by row, by label.
fn check_probabilities(truth: &LabelMatrix, probabilities: &[f64]) -> Result<()> {
    let n_labels = truth.n_labels();
    Error::unless_same("probabilities", truth.n_rows() * n_labels, probabilities.len())?;
    // Written so that NaN is refused too.
    match probabilities.iter().position(|cell| !(0.0..=1.0).contains(cell)) {
        None => Ok(()),
        Some(at) => Err(Error::Value {
            name: format!("probability of label {} in row {}", at % n_labels, at / n_labels).into(),
            value: probabilities[at].to_string(),
            accepted: "a number from 0 to 1".into(),
        }),
    }
}

/// The cells of some labels, row by row: whether the label is relevant, and how probable that is said
/// to be. Cells of which the truth is unknown are left out.
fn cells(
    truth: &LabelMatrix,
    probabilities: &[f64],
    labels: Range<usize>,
) -> impl Iterator<Item = (bool, f64)> {
    let row = move |row: usize| {
        let start = row * truth.n_labels();
        let cell =
            move |at: usize| Some((truth.cell(row, LabelId(at))?, probabilities[start + at]));
        labels.clone().filter_map(cell)
    };
    (0..truth.n_rows()).flat_map(row)
}

/// The confusion of each row and of each label. Rows are counted 64 labels at a time, by counting the
/// bits of a word. For the labels only the bits that are set are visited, because few are set where
/// there are many labels.
fn count(truth: &LabelMatrix, answer: &LabelMatrix) -> (Vec<Confusion>, Vec<Confusion>) {
    let mut labels = vec![Confusion::default(); truth.n_labels()];
    let rows = (0..truth.n_rows()).map(|row| {
        let (truth, answer) = (truth.row(row), answer.row(row));
        for (at, (&truth, &answer)) in truth.iter().zip(answer).enumerate() {
            let mut remaining = truth | answer;
            while remaining != 0 {
                let bit = remaining & remaining.wrapping_neg();
                let label = &mut labels[at * 64 + bit.trailing_zeros() as usize];
                if truth & answer & bit != 0 {
                    label.true_positives += 1;
                } else if truth & bit != 0 {
                    label.false_negatives += 1;
                } else {
                    label.false_positives += 1;
                }
                remaining ^= bit;
            }
        }
        Confusion::between(truth, answer)
    });
    (rows.collect(), labels)
}

/// The mean, or `None` where there is nothing to average.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0usize, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {

    use super::*;
    use Averaging::{Example, Macro, Micro};
    use Criterion::{Hamming, Of, ZeroOne};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// Rows written as digits: "101" has its first and last label relevant.
    pub(super) fn table(rows: &[&str]) -> LabelMatrix {
        let bits: Vec<Vec<bool>> =
            rows.iter().map(|row| row.bytes().map(|digit| digit == b'1').collect()).collect();
        packed(&bits, rows.first().map_or(0, |row| row.len()))
    }

    fn packed(rows: &[Vec<bool>], n_labels: usize) -> LabelMatrix {
        let mut labels = LabelMatrix::new(n_labels);
        for relevant in rows {
            let row = labels.push_row();
            labels.ids().zip(relevant).for_each(|(label, &is)| labels.set(row, label, is));
        }
        labels
    }

    fn paper(truth: &LabelMatrix, answer: &LabelMatrix) -> Losses {
        measure(truth, answer, Undefined::Paper)
    }

    fn measure(truth: &LabelMatrix, answer: &LabelMatrix, undefined: Undefined) -> Losses {
        Losses::between(truth, answer, undefined).unwrap()
    }

    pub(super) fn close(a: Option<f64>, b: Option<f64>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a == b,
        }
    }

    #[test]
    fn unknown_cells_count_for_nothing() {
        // Of the table below, with the cells marked ? unknown: "1?0", "?00", "???"; and the last label
        // is known in one row only.
        let mut truth = table(&["100", "100", "001"]);
        for (row, label) in [(0, 1), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)] {
            truth.forget(row, LabelId(label));
        }
        let answer = table(&["110", "110", "010"]);
        let losses = paper(&truth, &answer);
        // Known are 1.0 of the first row, answered 1.0, and .0. of the second, answered .1.
        assert_eq!(losses.get(Hamming), Some(1.0 / 3.0));
        assert_eq!(losses.get(ZeroOne), Some(1.0 / 2.0));
        // Rows as (TP, FP, FN): (1, 0, 0), (0, 1, 0); the third is left out.
        assert_eq!(losses.get(Of(Example, Rate::F1)), Some(0.5));
        assert_eq!(losses.get(Of(Example, Rate::Fnr)), Some(0.5), "0, and 1 where it is 0 / 0");
        assert_eq!(losses.n_vacuous(Of(Example, Rate::Fnr)), 1);
        // Labels: (1, 0, 0), (0, 1, 0), (0, 0, 0): all have a known cell.
        assert!(close(losses.get(Of(Macro, Rate::F1)), Some(1.0 / 3.0)));
        assert_eq!(losses.get(Of(Micro, Rate::F1)), Some(1.0 / 3.0), "(0 + 1) / (2 + 1)");
        // Without the only known cell of the last label, it is in no mean.
        truth.forget(0, LabelId(2));
        let losses = paper(&truth, &answer);
        assert_eq!(losses.get(Of(Macro, Rate::F1)), Some(0.5));
        assert_eq!(losses.get(Hamming), Some(0.5));
    }

    #[test]
    fn a_table_of_three_rows_and_three_labels_by_hand() {
        let truth = table(&["110", "100", "001"]);
        let answer = table(&["100", "110", "010"]);
        let losses = paper(&truth, &answer);
        // Wrong cells: 1 + 1 + 2 of 9. No row is right.
        assert_eq!(losses.get(Hamming), Some(4.0 / 9.0));
        assert_eq!(losses.get(ZeroOne), Some(1.0));
        // Rows as (TP, FP, FN): (1, 0, 1), (1, 1, 0), (0, 1, 1).
        // FDR 0, 1/2, 1; FNR 1/2, 0, 1; F1 1/3, 1/3, 1.
        assert!(close(losses.get(Of(Example, Rate::Fdr)), Some(0.5)));
        assert!(close(losses.get(Of(Example, Rate::Fnr)), Some(0.5)));
        assert!(close(losses.get(Of(Example, Rate::F1)), Some(5.0 / 9.0)));
        // Labels: (2, 0, 0), (0, 2, 1), (0, 0, 1).
        // FDR 0, 1, zero over zero with something missed: 1; FNR 0, 1, 1; F1 0, 1, 1.
        for rate in Rate::ALL {
            assert!(close(losses.get(Of(Macro, rate)), Some(2.0 / 3.0)));
        }
        // Together (2, 2, 2): 2/4, 2/4, 4/8.
        for rate in Rate::ALL {
            assert_eq!(losses.get(Of(Micro, rate)), Some(0.5));
        }
        let vacuous = Criterion::ALL.map(|criterion| losses.n_vacuous(criterion));
        assert_eq!(vacuous, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_rule_moves_only_the_vacuous_cells() {
        // Row 2 has no relevant and no predicted label; label 2 is never relevant, but predicted once.
        let truth = table(&["10", "00"]);
        let answer = table(&["11", "00"]);
        let value = |averaging, rate, rule| measure(&truth, &answer, rule).get(Of(averaging, rate));
        let rules = |averaging, rate| Undefined::ALL.map(|rule| value(averaging, rate, rule));
        // Row 1 (1, 1, 0): FDR 1/2, FNR 0, F1 1/3. Row 2 costs 0, 1, 0 or is skipped.
        assert_eq!(rules(Example, Rate::Fdr), [0.25, 0.75, 0.25, 0.5].map(Some));
        assert_eq!(rules(Example, Rate::Fnr), [0.0, 0.5, 0.0, 0.0].map(Some));
        assert_eq!(
            rules(Example, Rate::F1),
            [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0].map(Some)
        );
        // Labels (1, 0, 0) and (0, 1, 0): only the second's FNR is vacuous.
        assert_eq!(rules(Macro, Rate::Fdr), [Some(0.5); 4]);
        assert_eq!(rules(Macro, Rate::Fnr), [0.5, 0.5, 0.0, 0.0].map(Some));
        assert_eq!(rules(Macro, Rate::F1), [Some(0.5); 4]);
        let vacuous = |criterion| measure(&truth, &answer, Undefined::Skip).n_vacuous(criterion);
        assert_eq!(vacuous(Of(Example, Rate::F1)), 1);
        assert_eq!(vacuous(Of(Macro, Rate::Fnr)), 1);
        assert_eq!(vacuous(Of(Micro, Rate::Fnr)), 0);
    }

    #[test]
    fn a_table_without_relevant_labels_has_no_rate_where_vacuous_cells_are_skipped() {
        let nothing = LabelMatrix::empty(2, 3);
        let losses = measure(&nothing, &nothing, Undefined::Skip);
        assert_eq!((losses.get(Hamming), losses.get(ZeroOne)), (Some(0.0), Some(0.0)));
        assert!(losses.iter().skip(2).all(|(_, value)| value.is_none()));
        let vacuous = Criterion::ALL.map(|criterion| losses.n_vacuous(criterion));
        assert_eq!(vacuous, [0, 0, 2, 2, 2, 3, 3, 3, 1, 1, 1]);
    }

    #[test]
    fn a_mean_over_no_rows_or_no_labels_has_no_value() {
        let no_rows = paper(&LabelMatrix::new(3), &LabelMatrix::new(3));
        assert_eq!((no_rows.get(Hamming), no_rows.get(ZeroOne)), (None, None));
        assert_eq!(no_rows.get(Of(Example, Rate::F1)), None);
        assert_eq!(no_rows.get(Of(Macro, Rate::F1)), Some(0.0));
        let no_labels = paper(&LabelMatrix::empty(2, 0), &LabelMatrix::empty(2, 0));
        assert_eq!((no_labels.get(Hamming), no_labels.get(ZeroOne)), (None, Some(0.0)));
        assert_eq!(no_labels.get(Of(Macro, Rate::F1)), None);
    }

    #[test]
    fn tables_of_different_shape_are_refused() {
        let refusal = |answer| {
            let outcome = Losses::between(&LabelMatrix::empty(2, 3), &answer, Undefined::Paper);
            outcome.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refusal(LabelMatrix::empty(1, 3)), "rows of the answer: expected 2, found 1");
        assert_eq!(refusal(LabelMatrix::empty(2, 4)), "labels of the answer: expected 3, found 4");
    }

    #[test]
    fn folds_weigh_the_same_whatever_their_size() {
        // One row wrong of one, none of three: the mean of folds is 1/2, of rows 1/4.
        let small = paper(&table(&["1"]), &table(&["0"]));
        let large = paper(&table(&["1", "1", "1"]), &table(&["1", "1", "1"]));
        let mean = Losses::mean(&[small, large]);
        assert_eq!(mean.get(ZeroOne), Some(0.5));
        assert_eq!(mean.n_vacuous(Of(Macro, Rate::Fdr)), 1);
    }

    #[test]
    fn the_spread_over_folds_is_the_sample_standard_deviation() {
        // Zero-one losses of 1, 0 and 1/2: deviations of ±1/2 and 0, so √((1/4 + 1/4) / 2).
        let folds = [
            paper(&table(&["1"]), &table(&["0"])),
            paper(&table(&["1"]), &table(&["1"])),
            paper(&table(&["1", "1"]), &table(&["1", "0"])),
        ];
        assert!(close(Losses::spread(&folds, ZeroOne), Some(0.5)));
        assert_eq!(Losses::spread(&folds[..1], ZeroOne), None);
        assert_eq!(Losses::spread(&[], ZeroOne), None);
        let empty = measure(&LabelMatrix::empty(1, 1), &LabelMatrix::empty(1, 1), Undefined::Skip);
        let with_empty = [folds[0].clone(), empty, folds[1].clone()];
        // √(1/4 + 1/4), of the two folds in which something is relevant.
        let over_two = Losses::spread(&with_empty, Of(Micro, Rate::Fnr));
        assert!(close(over_two, Some(0.5f64.sqrt())));
    }

    #[test]
    fn a_fold_without_a_value_is_left_out_of_the_mean() {
        let nothing = LabelMatrix::empty(1, 1);
        let empty = measure(&nothing, &nothing, Undefined::Skip);
        let wrong = measure(&table(&["1"]), &table(&["0"]), Undefined::Skip);
        let mean = Losses::mean(&[empty, wrong]);
        assert_eq!(mean.get(Of(Micro, Rate::Fnr)), Some(1.0));
        assert_eq!(mean.get(Of(Micro, Rate::Fdr)), None);
        assert_eq!(mean.n_vacuous(Of(Micro, Rate::Fdr)), 2);
    }

    #[test]
    fn criteria_are_known_by_their_keys() {
        for (at, criterion) in Criterion::ALL.into_iter().enumerate() {
            assert_eq!(criterion.index(), at);
            assert!(criterion.key().parse::<Criterion>().is_ok_and(|read| read == criterion));
        }
        assert_eq!(Of(Macro, Rate::F1).key(), "macro_f1");
        assert_eq!(Of(Macro, Rate::F1).to_string(), "Macro F1");
    }

    #[test]
    fn an_unknown_criterion_is_answered_with_the_known_ones() {
        let refusal = "accuracy".parse::<Criterion>().err().map(|error| error.to_string());
        let mut known = Criterion::ALL.map(Criterion::key).join(", ");
        known = known.replace(", micro_f1", " or micro_f1");
        assert_eq!(refusal, Some(format!("criterion is accuracy, but must be {known}")));
    }

    /// The definitions, cell by cell: no packed words, no shared counts.
    fn plain(truth: &[Vec<bool>], answer: &[Vec<bool>], n_labels: usize) -> Vec<Option<f64>> {
        type Cells = Vec<(bool, bool)>;
        let rows: Vec<Cells> = truth
            .iter()
            .zip(answer)
            .map(|(truth, answer)| truth.iter().copied().zip(answer.iter().copied()).collect())
            .collect();
        let labels: Vec<Cells> =
            (0..n_labels).map(|label| rows.iter().map(|row| row[label]).collect()).collect();
        let all: Cells = rows.concat();

        let count = |cells: &Cells, what| cells.iter().filter(|&&cell| cell == what).count() as f64;
        let metric = |cells: &Cells, rate| {
            let hits = count(cells, (true, true));
            let predicted = hits + count(cells, (false, true));
            let relevant = hits + count(cells, (true, false));
            match rate {
                _ if predicted + relevant == 0.0 => 1.0,
                _ if predicted == 0.0 || relevant == 0.0 => 0.0,
                Rate::Fdr => hits / predicted,
                Rate::Fnr => hits / relevant,
                Rate::F1 => 2.0 * hits / (predicted + relevant),
            }
        };
        let wrong = |cells: &Cells| cells.iter().filter(|(truth, answer)| truth != answer).count();
        let wrong_rows = rows.iter().filter(|row| wrong(row) > 0).count();
        let mut losses =
            vec![wrong(&all) as f64 / all.len() as f64, wrong_rows as f64 / rows.len() as f64];
        for groups in [&rows, &labels, &vec![all]] {
            for rate in Rate::ALL {
                let sum: f64 = groups.iter().map(|cells| 1.0 - metric(cells, rate)).sum();
                losses.push(sum / groups.len() as f64);
            }
        }
        losses.into_iter().map(Some).collect()
    }

    /// Truth and answer of one shape, sparse enough for empty rows and labels.
    fn tables() -> impl Strategy<Value = (usize, Vec<Vec<bool>>, Vec<Vec<bool>>)> {
        (1usize..140, 1usize..9, 0.0..0.6f64).prop_flat_map(|(n_labels, n_rows, density)| {
            let row = prop::collection::vec(prop::bool::weighted(density), n_labels);
            let rows = prop::collection::vec(row, n_rows);
            (Just(n_labels), rows.clone(), rows)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..Default::default() })]

        #[test]
        fn counting_words_equals_the_definitions((n_labels, truth, answer) in tables()) {
            let losses = paper(&packed(&truth, n_labels), &packed(&answer, n_labels));
            for ((criterion, value), expected) in losses.iter().zip(plain(&truth, &answer, n_labels)) {
                prop_assert!(close(value, expected), "{criterion}: {value:?}, not {expected:?}");
            }
        }

        #[test]
        fn losses_lie_between_0_and_1((n_labels, truth, answer) in tables()) {
            for rule in Undefined::ALL {
                let losses = measure(&packed(&truth, n_labels), &packed(&answer, n_labels), rule);
                for (criterion, value) in losses.iter() {
                    let in_range = value.is_none_or(|value| (0.0..=1.0).contains(&value));
                    prop_assert!(in_range, "{criterion}: {value:?}");
                    prop_assert!(value.is_some() || rule == Undefined::Skip);
                }
            }
        }

        #[test]
        fn a_perfect_answer_costs_nothing((n_labels, truth, _) in tables()) {
            let truth = packed(&truth, n_labels);
            prop_assert!(paper(&truth, &truth).iter().all(|(_, value)| value == Some(0.0)));
        }

        #[test]
        fn the_order_of_rows_does_not_matter((n_labels, truth, answer) in tables()) {
            let (truth, answer) = (packed(&truth, n_labels), packed(&answer, n_labels));
            let backwards: Vec<usize> = (0..truth.n_rows()).rev().collect();
            for rule in Undefined::ALL {
                let one = measure(&truth, &answer, rule);
                let other = measure(&truth.select(&backwards), &answer.select(&backwards), rule);
                prop_assert_eq!(one.n_vacuous, other.n_vacuous);
                prop_assert!((0..11).all(|at| close(one.values[at], other.values[at])));
            }
        }

        #[test]
        fn micro_f1_is_the_harmonic_mean_of_precision_and_recall(
            (n_labels, truth, mut answer) in tables(),
        ) {
            // One hit at least: without any the harmonic mean is itself zero over zero.
            let mut truth = packed(&truth, n_labels);
            truth.set(0, LabelId(0), true);
            answer[0][0] = true;
            let losses = paper(&truth, &packed(&answer, n_labels));
            let metric = |rate| losses.get(Of(Micro, rate)).map(|loss| 1.0 - loss);
            let harmonic = metric(Rate::Fdr)
                .zip(metric(Rate::Fnr))
                .map(|(precision, recall)| 2.0 * precision * recall / (precision + recall));
            prop_assert!(close(metric(Rate::F1), harmonic));
        }

        #[test]
        fn only_vacuous_cells_tell_the_rules_apart((n_labels, truth, answer) in tables()) {
            let (truth, answer) = (packed(&truth, n_labels), packed(&answer, n_labels));
            let [a, b, c, d] = Undefined::ALL.map(|rule| measure(&truth, &answer, rule));
            for criterion in Criterion::ALL {
                let values = [&b, &c, &d].map(|losses| losses.get(criterion));
                let agree = values.iter().all(|&value| close(value, a.get(criterion)));
                prop_assert!(agree || a.n_vacuous(criterion) > 0);
            }
        }
    }
}
