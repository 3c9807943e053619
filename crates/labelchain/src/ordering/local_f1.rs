//! The paper's heuristic: labels that binary relevance gets right near the row come first.
//!
//! Near is a matter of degree: a validation row at squared distance D from the row to be labelled
//! belongs to its neighbourhood with membership exp(-β D). Of the validation rows, those where a
//! label was rightly said to be relevant count for it (TP), those where it was wrongly said or
//! wrongly missed count against it (FP and FN): F1 = 2 TP / (2 TP + FP + FN), with memberships
//! summed instead of rows counted (methods 3).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chain::{Chosen, Order, OrderPolicy};
use crate::data::LabelMatrix;
use crate::learner::Block;

/// For each label, where among the training rows it was right and where it was wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalF1 {
    decay: f64,
    n_train: usize,
    by_label: Vec<Outcomes>,
}

/// Validation rows that count for and against a label, as rows of the training set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Outcomes {
    hits: Vec<u32>,
    errors: Vec<u32>,
}

impl LocalF1 {
    /// Compares what binary relevance said of the validation rows with the truth; `said` has a row
    /// for each of `validation`, `truth` one for each row of the training set.
    pub fn new(
        decay: f64,
        validation: &[usize],
        said: &LabelMatrix,
        truth: &LabelMatrix,
    ) -> LocalF1 {
        let mut by_label = vec![Outcomes::default(); truth.n_labels()];
        for (at, &row) in validation.iter().enumerate() {
            for label in truth.ids() {
                let outcomes = &mut by_label[label.0];
                match (truth.get(row, label), said.get(at, label)) {
                    (true, true) => outcomes.hits.push(row as u32),
                    (false, false) => {}
                    _ => outcomes.errors.push(row as u32),
                }
            }
        }
        LocalF1 { decay, n_train: truth.n_rows(), by_label }
    }

    /// The same outcomes under another β.
    pub fn with_decay(&self, decay: f64) -> LocalF1 {
        LocalF1 { decay, ..self.clone() }
    }

    /// log Σ_TP exp(-β D) - log Σ_{FP, FN} exp(-β D) of every label, given the distances of one row
    /// to every training row. F1 is increasing in it, and it does not underflow.
    pub fn log_odds(&self, distances: &[f64]) -> Vec<f64> {
        let of = |outcomes: &Outcomes| {
            match (outcomes.hits.is_empty(), outcomes.errors.is_empty()) {
                // No evidence that the label is told well near the row: last place.
                (true, _) => f64::NEG_INFINITY,
                (false, true) => f64::INFINITY,
                (false, false) => {
                    self.log_sum(&outcomes.hits, distances)
                        - self.log_sum(&outcomes.errors, distances)
                }
            }
        };
        self.by_label.iter().map(of).collect()
    }

    /// log Σ exp(-β D), each sum taken relative to its own nearest row, so that at least one term
    /// is 1 however far all rows are.
    fn log_sum(&self, rows: &[u32], distances: &[f64]) -> f64 {
        let distance = |&row: &u32| distances[row as usize];
        let least = rows.iter().map(distance).fold(f64::INFINITY, f64::min);
        let sum: f64 = rows.iter().map(|row| (-self.decay * (distance(row) - least)).exp()).sum();
        sum.ln() - self.decay * least
    }
}

/// F1 = 1 / (1 + exp(-o) / 2) for log-odds o.
fn f1(log_odds: f64) -> f64 {
    1.0 / (1.0 + 0.5 * (-log_odds).exp())
}

impl OrderPolicy for LocalF1 {
    fn orders(&self, block: &Block) -> Vec<Chosen<'_>> {
        let distances = block.distances.unwrap_or_default();
        let choose = |distances: &[f64]| {
            let log_odds = self.log_odds(distances);
            let order = Cow::Owned(Order::descending(&log_odds));
            Chosen { order, local_f1: Some(log_odds.into_iter().map(f1).collect()) }
        };
        distances.chunks(self.n_train.max(1)).take(block.n_rows()).map(choose).collect()
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
    fn policy(decay: f64) -> LocalF1 {
        let truth = matrix(&[&[1, 1, 0, 0], &[0, 0, 0, 0], &[1, 0, 0, 0], &[0, 0, 0, 0]]);
        let said = matrix(&[&[1, 1, 0, 0], &[0, 0, 0, 1], &[1, 0, 0, 0]]);
        LocalF1::new(decay, &[0, 2, 3], &said, &truth)
    }

    #[test]
    fn local_f1_is_the_formula() {
        // Memberships e^-0.5, e^-1, e^-2: TP = e^-0.5, FP + FN = e^-1 + e^-2.
        let distances = [0.5, 9.0, 1.0, 2.0];
        let log_odds = policy(1.0).log_odds(&distances);
        let (tp, e) = ((-0.5f64).exp(), (-1.0f64).exp() + (-2.0f64).exp());
        assert!((f1(log_odds[0]) - 2.0 * tp / (2.0 * tp + e)).abs() < 1e-15);
        assert_eq!(log_odds[1..], [f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        assert_eq!([f1(f64::INFINITY), f1(f64::NEG_INFINITY)], [1.0, 0.0]);
        assert_eq!(Order::descending(&log_odds).to_string(), "1 0 2 3");
    }

    #[test]
    fn nothing_underflows_far_from_everything() {
        // exp(-10 · 5000) is 0 in double precision, and 0/0 would lose the order.
        let far = policy(10.0).log_odds(&[5000.0, 0.0, 5000.5, 5001.0]);
        // The nearest hit is 0.5 nearer than the nearest error: 10 · 0.5 = 5, less a little.
        assert!((far[0] - 5.0).abs() < 0.01, "{}", far[0]);
    }
}
