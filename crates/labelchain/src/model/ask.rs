//! What to ask next: the open label whose answer would help most.
//!
//! Let q_j be the probability that label j is relevant to a row, given what is known. Decided by
//! q_j > 1/2, label j is wrong with probability min(q_j, 1 - q_j), and the sum U of these over the
//! open labels is the expected number of wrong labels. Were label l known to be v, the walk would
//! start from there, and end with U(l = v). The gain of asking for l is what U is expected to fall by:
//!
//! ```text
//! gain(l) = U - P(l) U(l = 1) - (1 - P(l)) U(l = 0)
//! ```
//!
//! It has two parts: label l itself is wrong no more, and what its answer says about the others. In
//! binary relevance there is no second part, and the least certain label is asked for.

use super::AlignedRows;
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};

/// An open label, and what its answer would be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The label.
    pub label: LabelId,
    /// How probable it is that the label is relevant.
    pub probability: f64,
    /// By how much its answer lowers the expected number of wrong labels of the row. Probabilities of
    /// a greedy walk are no exact law, so that a gain can be below zero.
    pub gain: f64,
}

impl AlignedRows<'_> {
    /// The open labels of each row, that of the greatest gain first, of equals the lower label.
    /// Known labels ([`AlignedRows::given`]) are not asked for. Every open label is tried with either
    /// answer, so that a row of L open labels takes 2 L walks of every member.
    ///
    /// ```
    /// use labelchain::LabelChain;
    /// use labelchain::data::{Dataset, LabelId};
    ///
    /// // Labels b and c are what a is, d is anything.
    /// let cells: Vec<f64> = (0..40).map(|n| f64::from(n % 5)).collect();
    /// let labels: Vec<bool> =
    ///     (0..40).flat_map(|n| [n % 2 == 0, n % 2 == 0, n % 2 == 0, n % 4 < 2]).collect();
    /// let names = ["a", "b", "c", "d"];
    /// let data = Dataset::from_rows(1, &cells)?.with_label_indicators(&names, &labels)?;
    /// let model = LabelChain::new("ecc-nb")?.fit(&data)?;
    /// let questions = model.align(&data.select(&[2]), "data".as_ref())?.questions()?;
    /// assert_ne!(questions[0][0].label, LabelId(3), "its answer says nothing about the others");
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn questions(&self) -> Result<Vec<Vec<Question>>> {
        (0..self.n_rows()).map(|row| self.select(&[row]).questions_of_row()).collect()
    }

    /// The questions about the only row.
    fn questions_of_row(&self) -> Result<Vec<Question>> {
        // As many walks at a time as their traces do not fill the memory.
        const LABELS_AT_ONCE: usize = 32;
        let n_labels = self.model.label_names().len();
        let known = self.known.clone().unwrap_or_else(|| LabelMatrix::unknown(1, n_labels));
        let open: Vec<LabelId> = known.ids().filter(|&label| !known.is_known(0, label)).collect();
        let now = self.probabilities()?.concat();
        let mut questions = Vec::with_capacity(open.len());
        for labels in open.chunks(LABELS_AT_ONCE) {
            let mut answered = known.select(&vec![0; 2 * labels.len()]);
            for (at, &label) in labels.iter().enumerate() {
                answered.set(2 * at, label, false);
                answered.set(2 * at + 1, label, true);
            }
            let copies = self.select(&vec![0; 2 * labels.len()]).given(answered)?;
            for (&label, answers) in labels.iter().zip(copies.probabilities()?.chunks(2)) {
                let probability = now[label.0];
                let [without, with] = [0, 1].map(|at| expected_wrong(&answers[at]));
                let then = probability * with + (1.0 - probability) * without;
                let gain = expected_wrong(&now) - then;
                questions.push(Question { label, probability, gain });
            }
        }
        questions.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Ok(questions)
    }

    /// The probability of each label of each row; 0 or 1 where it is known.
    fn probabilities(&self) -> Result<Vec<Vec<f64>>> {
        let n_labels = self.model.label_names().len();
        match self.predict()?.probabilities {
            Some(probabilities) => {
                Ok(probabilities.chunks(n_labels).map(<[f64]>::to_vec).collect())
            }
            None => Err(Error::Uncalibrated { what: "what an answer would be worth".into() }),
        }
    }
}

/// How many labels are expected to be wrong, where each is decided by what is more probable.
fn expected_wrong(probabilities: &[f64]) -> f64 {
    probabilities.iter().map(|&it| it.min(1.0 - it)).sum()
}
