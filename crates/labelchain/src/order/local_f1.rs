//! The paper's heuristic: labels that binary relevance gets right near the row come first.
//!
//! Near is a matter of degree: a validation row at squared distance D from the row to be labelled
//! belongs to its neighbourhood with membership exp(-β D). Of the validation rows, those where a
//! label was rightly predicted count for it (TP), those where it was wrongly predicted or
//! wrongly missed count against it (FP and FN): F1 = 2 TP / (2 TP + FP + FN), with memberships
//! summed instead of rows counted (docs/methods.md, 3).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chain::{Block, Dimensions, Order, OrderPolicy, Quantity, QuantityDisplay, Reason};
use crate::data::{LabelMatrix, labels_of};
use crate::distance::{GROUP_ROWS, Memberships};
use crate::product::vectorized;

/// For each label, where among the training rows it was right and where it was wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalF1 {
    /// β: how fast memberships fall with squared distance.
    decay: f64,
    by_label: Vec<Outcomes>,
}

/// Validation rows that count for and against a label, as rows of the training set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Outcomes {
    hits: Vec<u32>,
    errors: Vec<u32>,
}

impl LocalF1 {
    /// Compares what binary relevance predicts for the validation rows with the truth; `predicted`
    /// has a row for each of `validation`, `truth` one for each row of the training set. A row whose
    /// label is unknown counts neither for nor against it.
    pub fn new(
        validation: &[usize],
        predicted: &LabelMatrix,
        truth: &LabelMatrix,
        decay: f64,
    ) -> LocalF1 {
        let mut by_label = vec![Outcomes::default(); truth.n_labels()];
        let all_known = vec![0; truth.n_labels().div_ceil(64)];
        let (mut hits, mut errors) = (all_known.clone(), all_known.clone());
        for (at, &row) in validation.iter().enumerate() {
            let unknown = truth.unknown_row(row).unwrap_or(&all_known);
            for (word, (&relevant, &predicted)) in
                truth.row(row).iter().zip(predicted.row(at)).enumerate()
            {
                hits[word] = relevant & predicted;
                errors[word] = (relevant ^ predicted) & !unknown[word];
            }
            labels_of(&hits).for_each(|label| by_label[label.0].hits.push(row as u32));
            labels_of(&errors).for_each(|label| by_label[label.0].errors.push(row as u32));
        }
        LocalF1 { decay, by_label }
    }

    /// log Σ_TP exp(-β D) - log Σ_{FP, FN} exp(-β D) of every label for every row of the block, row
    /// by row. F1 is increasing in it, and it does not underflow.
    pub fn log_odds(&self, memberships: &Memberships) -> Vec<f64> {
        let (n_rows, n_labels) = (memberships.n_rows(), self.by_label.len());
        let mut log_odds = vec![0.0; n_rows * n_labels];
        for group in memberships.groups() {
            let by_label = self.sums(group.lines);
            for (row, place) in group.rows() {
                let outcomes = self.by_label.iter().zip(&by_label);
                let of_row = outcomes.map(|(outcomes, [hits, errors])| {
                    outcomes.log_odds([hits[place], errors[place]], memberships, row)
                });
                let places = &mut log_odds[row * n_labels..(row + 1) * n_labels];
                places.iter_mut().zip(of_row).for_each(|(place, log_odds)| *place = log_odds);
            }
        }
        log_odds
    }

    /// The memberships of the hits and of the errors of each label, added up for a group of rows.
    ///
    /// Training rows are taken a tile at a time, for one label after the other, so that the memberships come
    /// from a far cache once and not once for each label. The terms of a sum are added in the order of the rows.
    fn sums(&self, lines: &[[f64; GROUP_ROWS]]) -> Vec<[[f64; GROUP_ROWS]; 2]> {
        /// The lines of a tile take 64 KB.
        const TILE: usize = 1024;
        let mut sums = vec![[[0.0; GROUP_ROWS]; 2]; self.by_label.len()];
        let mut remaining: Vec<[&[u32]; 2]> =
            self.by_label.iter().map(|of| [&of.hits[..], &of.errors[..]]).collect();
        for end in (TILE..lines.len() + TILE).step_by(TILE) {
            vectorized(
                #[inline(always)]
                || {
                    for (sums, remaining) in sums.iter_mut().zip(&mut remaining) {
                        let of_tile = remaining.each_mut().map(|rows| split_off_before(rows, end));
                        add_both(sums, of_tile, lines);
                    }
                },
            );
        }
        sums
    }

    /// The share of one row's neighbourhood among the validation rows that counts for or against
    /// each label.
    pub fn weights(&self, memberships: &Memberships, row: usize, validation: &[usize]) -> Vec<f64> {
        let (distances, decay) = (memberships.distances_of(row), memberships.decay());
        let all: Vec<u32> = validation.iter().map(|&row| row as u32).collect();
        let whole = log_sum(&all, distances, decay);
        let share = |outcomes: &Outcomes| {
            let [hits, errors] = [&outcomes.hits, &outcomes.errors].map(|rows| {
                if rows.is_empty() { 0.0 } else { (log_sum(rows, distances, decay) - whole).exp() }
            });
            hits + errors
        };
        self.by_label.iter().map(share).collect()
    }
}

impl Outcomes {
    /// log Σ_TP exp(-β D) - log Σ_{FP, FN} exp(-β D) for one row, of which both sums are known up to a
    /// factor.
    fn log_odds(&self, [hits, errors]: [f64; 2], memberships: &Memberships, row: usize) -> f64 {
        match (self.hits.is_empty(), self.errors.is_empty()) {
            // Nothing shows that the label is predicted well near the row: last place.
            (true, _) => f64::NEG_INFINITY,
            (false, true) => f64::INFINITY,
            // The scale of the row cancels, unless a sum is out of range.
            _ if hits.min(errors) > SMALLEST_SUM => hits.ln() - errors.ln(),
            _ => {
                let (distances, decay) = (memberships.distances_of(row), memberships.decay());
                log_sum(&self.hits, distances, decay) - log_sum(&self.errors, distances, decay)
            }
        }
    }
}

/// Says so where the neighbourhood of a row is practically a single validation row.
fn nearest_alone(memberships: &Memberships, row: usize, validation: &[usize]) -> Option<String> {
    let distances = memberships.distances_of(row);
    let nearest =
        validation.iter().copied().min_by(|&a, &b| distances[a].total_cmp(&distances[b]))?;
    let all: Vec<u32> = validation.iter().map(|&row| row as u32).collect();
    let decay = memberships.decay();
    let share =
        (log_sum(&[nearest as u32], distances, decay) - log_sum(&all, distances, decay)).exp();
    (share > 0.99).then(|| {
        format!(
            "Of the neighbourhood, row {nearest} of the training file alone is {:.1} %: what is predicted right\n\
             there has a local F1 near 1, and what is predicted wrong, or not there, one near 0.",
            share * 100.0
        )
    })
}

/// Takes the rows before `end` from the front of ascending rows.
fn split_off_before<'r>(rows: &mut &'r [u32], end: usize) -> &'r [u32] {
    let n_before = rows.partition_point(|&row| (row as usize) < end);
    let (before, after) = rows.split_at(n_before);
    *rows = after;
    before
}

/// Adds the memberships in two lists of training rows to a sum each. An addition waits for the one before it in
/// its sum, and meanwhile that of the other list is done.
#[inline(always)]
fn add_both(
    sums: &mut [[f64; GROUP_ROWS]; 2],
    [hits, errors]: [&[u32]; 2],
    lines: &[[f64; GROUP_ROWS]],
) {
    let [mut of_hits, mut of_errors] = *sums;
    let n_both = hits.len().min(errors.len());
    for (&hit, &error) in hits[..n_both].iter().zip(&errors[..n_both]) {
        add(&mut of_hits, &lines[hit as usize]);
        add(&mut of_errors, &lines[error as usize]);
    }
    for &hit in &hits[n_both..] {
        add(&mut of_hits, &lines[hit as usize]);
    }
    for &error in &errors[n_both..] {
        add(&mut of_errors, &lines[error as usize]);
    }
    *sums = [of_hits, of_errors];
}

#[inline(always)]
fn add(sums: &mut [f64; GROUP_ROWS], terms: &[f64; GROUP_ROWS]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

/// Sums below this may have lost terms that matter.
const SMALLEST_SUM: f64 = 1e-250;

/// Terms of less than exp(-60) of the greatest are far below its last digit, however many there are.
const NEGLIGIBLE: f64 = 60.0;

/// log Σ exp(-β D), relative to the nearest of the rows, so that at least one term is 1 however far
/// all rows are. Most are so far that they need not be looked at again.
fn log_sum(rows: &[u32], distances: &[f64], decay: f64) -> f64 {
    let least = least(rows, distances);
    let excess = |&row: &u32| decay * (distances[row as usize] - least);
    let near = rows.iter().map(excess).filter(|&excess| excess < NEGLIGIBLE);
    let sum: f64 = near.map(|excess| (-excess).exp()).sum();
    sum.ln() - decay * least
}

/// The distance of the nearest of the rows: of eight at a time, so that none waits for the one before.
fn least(rows: &[u32], distances: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; 8];
    for rows in rows.chunks(8) {
        for (least, &row) in least.iter_mut().zip(rows) {
            let distance = distances[row as usize];
            *least = if distance < *least { distance } else { *least };
        }
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}

/// F1 = 1 / (1 + exp(-o) / 2) for log-odds o.
fn f1(log_odds: f64) -> f64 {
    1.0 / (1.0 + 0.5 * (-log_odds).exp())
}

impl OrderPolicy for LocalF1 {
    fn orders(&self, block: &Block) -> Vec<Cow<'_, Order>> {
        let orders = self.of_rows(block, Order::descending);
        orders.into_iter().map(Cow::Owned).collect()
    }

    fn explained_orders(
        &self,
        block: &Block,
        validation: &[usize],
    ) -> Vec<(Cow<'_, Order>, Reason)> {
        let chosen = self.of_rows(block, |log_odds| {
            let local_f1: Vec<f64> = log_odds.iter().copied().map(f1).collect();
            (Order::descending(log_odds), local_f1)
        });
        let explain = |(row, (order, local_f1)): (usize, (Order, Vec<f64>))| {
            let local_f1 = Quantity {
                key: "local_f1",
                title: "local F1",
                help: "how well the label is predicted near this row, among the member's validation rows",
                display: QuantityDisplay::Bar,
                values: local_f1,
            };
            let weight = |memberships| Quantity {
                key: "weight",
                title: "weight",
                help: "the share of that neighbourhood where the label is relevant or was predicted",
                display: QuantityDisplay::Percent,
                values: self.weights(memberships, row, validation),
            };
            let by_label = [local_f1].into_iter().chain(block.memberships.map(weight)).collect();
            let text = block
                .memberships
                .and_then(|memberships| nearest_alone(memberships, row, validation));
            let text = text.unwrap_or_default();
            (Cow::Owned(order), Reason { by_label, text, ..Reason::default() })
        };
        chosen.into_iter().enumerate().map(explain).collect()
    }

    fn decay(&self) -> Option<f64> {
        Some(self.decay)
    }

    fn summary(&self) -> String {
        "by local F1, for each row".into()
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Some(n_train) = dimensions.n_train else { return false };
        let in_range = |rows: &[u32]| rows.iter().all(|&row| (row as usize) < n_train);
        self.decay > 0.0
            && self.decay.is_finite()
            && self.by_label.len() == dimensions.n_labels
            && self.by_label.iter().all(|of| in_range(&of.hits) && in_range(&of.errors))
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }
}

impl LocalF1 {
    /// What is made of the log-odds of the labels of each row.
    fn of_rows<T>(&self, block: &Block, make: impl Fn(&[f64]) -> T) -> Vec<T> {
        let n_labels = self.by_label.len();
        let log_odds = match block.memberships {
            Some(memberships) => self.log_odds(memberships),
            None => vec![0.0; block.n_rows() * n_labels],
        };
        (0..block.n_rows())
            .map(|row| make(&log_odds[row * n_labels..(row + 1) * n_labels]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LabelId;

    fn matrix(rows: &[&[u8]]) -> LabelMatrix {
        let mut matrix = LabelMatrix::empty(rows.len(), rows[0].len());
        for (row, cells) in rows.iter().enumerate() {
            for (label, &cell) in cells.iter().enumerate() {
                matrix.set(row, LabelId(label), cell == 1);
            }
        }
        matrix
    }

    /// Four training rows, of which 0, 2 and 3 validate. Label 0: TP, FN, FP; label 1: TP only;
    /// label 2: never there, never said; label 3: FP only.
    fn log_odds(decay: f64, distances: [f64; 4]) -> Vec<f64> {
        let truth = matrix(&[&[1, 1, 0, 0], &[0, 0, 0, 0], &[1, 0, 0, 0], &[0, 0, 0, 0]]);
        let predicted = matrix(&[&[1, 1, 0, 0], &[0, 0, 0, 1], &[1, 0, 0, 0]]);
        let memberships = Memberships::new(distances.to_vec(), 4, decay);
        LocalF1::new(&[0, 2, 3], &predicted, &truth, decay).log_odds(&memberships)
    }

    #[test]
    fn local_f1_is_the_formula() {
        // Memberships e^-0.5, e^-1, e^-2: TP = e^-0.5, FP + FN = e^-1 + e^-2.
        let log_odds = log_odds(1.0, [0.5, 9.0, 1.0, 2.0]);
        let (tp, e) = ((-0.5f64).exp(), (-1.0f64).exp() + (-2.0f64).exp());
        assert!((f1(log_odds[0]) - 2.0 * tp / (2.0 * tp + e)).abs() < 1e-15);
        assert_eq!(log_odds[1..], [f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        assert_eq!([f1(f64::INFINITY), f1(f64::NEG_INFINITY)], [1.0, 0.0]);
        assert_eq!(Order::descending(&log_odds).to_string(), "1 0 2 3");
    }

    #[test]
    fn hits_and_errors_are_those_of_each_cell_that_is_known() {
        // 70 labels take more than one word of bits.
        let n_labels = 70;
        let mut truth = LabelMatrix::empty(30, n_labels);
        let validation = [2, 3, 5, 11, 29];
        let mut predicted = LabelMatrix::empty(validation.len(), n_labels);
        let mut expected = vec![Outcomes::default(); n_labels];
        for (at, &row) in validation.iter().enumerate() {
            for (label, expected) in expected.iter_mut().enumerate() {
                let kind = (row * 7 + label * 3) % 5;
                let is_known = kind < 4;
                truth.set(row, LabelId(label), is_known && kind % 2 == 1);
                if !is_known {
                    truth.forget(row, LabelId(label));
                }
                predicted.set(at, LabelId(label), kind >= 2);
                match kind {
                    3 => expected.hits.push(row as u32),
                    1 | 2 => expected.errors.push(row as u32),
                    _ => {}
                }
            }
        }
        assert_eq!(LocalF1::new(&validation, &predicted, &truth, 1.0).by_label, expected);
    }

    #[test]
    fn sums_of_many_rows_at_once_are_those_of_each_row_alone() {
        // 70 rows are nine blocks, of which the last is not full; some of them are asked for only.
        let n_train = 50;
        let truth: Vec<u8> = (0..n_train).map(|row| u8::from(row % 3 == 0)).collect();
        let truth: Vec<&[u8]> = truth.chunks(1).collect();
        let predicted: Vec<u8> = (0..n_train).map(|row| u8::from(row % 4 == 0)).collect();
        let predicted: Vec<&[u8]> = predicted.chunks(1).collect();
        let validation: Vec<usize> = (0..n_train).collect();
        let local_f1 = LocalF1::new(&validation, &matrix(&predicted), &matrix(&truth), 0.3);
        let distances: Vec<f64> =
            (0..70 * n_train).map(|at| (at * 37 % 101) as f64 / 7.0).collect();
        let rows: Vec<usize> = (0..70).filter(|row| row % 5 > 0).collect();
        let together = Memberships::new(distances.clone(), n_train, 0.3).select(&rows);
        let together = local_f1.log_odds(&together);
        for (&row, together) in rows.iter().zip(together) {
            let alone = distances[row * n_train..(row + 1) * n_train].to_vec();
            let alone = local_f1.log_odds(&Memberships::new(alone, n_train, 0.3));
            assert_eq!([together], alone[..], "row {row}");
        }
    }

    #[test]
    fn weights_are_shares_of_the_memberships() {
        let truth = matrix(&[&[1, 0], &[0, 0], &[1, 0]]);
        let predicted = matrix(&[&[1, 0], &[0, 0]]);
        let memberships = Memberships::new(vec![1.0, 7.0, 2.0], 3, 1.0);
        let local_f1 = LocalF1::new(&[0, 1], &predicted, &truth, 1.0);
        let weights = local_f1.weights(&memberships, 0, &[0, 1]);
        // Row 0 is a hit of label 0, row 1 counts for nobody: e^-1 of e^-1 + e^-7.
        assert!((weights[0] - 1.0 / (1.0 + (-6.0f64).exp())).abs() < 1e-15);
        assert_eq!(weights[1], 0.0);
    }

    #[test]
    fn nothing_underflows_far_from_everything() {
        // exp(-10 · 5000) is 0 in double precision, and 0/0 would lose the order.
        let far = log_odds(10.0, [5000.0, 0.0, 5000.5, 5001.0]);
        // The nearest hit is 0.5 nearer than the nearest error: 10 · 0.5 = 5, less a little.
        assert!((far[0] - 5.0).abs() < 0.01, "{}", far[0]);
    }
}
