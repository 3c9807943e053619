//! Support vector machines: a label is relevant where the rows that carry it are more like the row
//! than those that do not, each weighed so that the two classes lie as far apart as they can.
//!
//! C-SVC as LIBSVM has it (methods 8.4). A machine sees rows only through their squared distances,
//! and a label decided earlier in a chain is one more input of 0 or 1, which adds 1 to a distance
//! where it disagrees. So one table of distances among the training rows, a [`TrainingRows`], serves
//! every label, fold, member and link; [`Grid`] chooses C and γ for all labels from it, and an
//! [`SvmChain`] is a machine for each label, on their own or linked into a chain.

mod base;
mod chain;
mod grid;
mod inputs;
mod kernel;
mod smo;
mod training_rows;

pub(super) use base::BASE;

pub use chain::SvmChain;
pub use grid::{Grid, Tuned};
pub use kernel::Kernel;
pub use training_rows::TrainingRows;

use serde::{Deserialize, Serialize};

use crate::chain::BinaryLearner;
use crate::data::{Dataset, LabelId};
use crate::error::{Error, Result};
use crate::prepare::LabelView;
use kernel::{Likeness, Rows, Source};
use smo::Solver;
use training_rows::Problem;

/// A support vector machine (methods 8.4).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `kernel` | RBF, γ = 1 / inputs | γ above 0 | what likeness means |
/// | `cost` | 1 | above 0 | C: what a row on the wrong side costs |
/// | `max_steps` | 10,000,000 | at least 1 | pairs of weights changed before giving up |
/// | `memory` | 1 GiB | | bytes for distances and kernels; beyond, rows are computed again |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Svm {
    /// What likeness means.
    pub kernel: Kernel,
    /// C: what a row on the wrong side costs.
    pub cost: f64,
    /// Pairs of weights changed before giving up: see [`BinarySvm::converged`].
    pub max_steps: u64,
    /// Bytes for distances and kernels; beyond, rows are computed again.
    pub memory: usize,
}

impl Default for Svm {
    fn default() -> Svm {
        Svm {
            kernel: Kernel::Rbf { gamma: None },
            cost: 1.0,
            max_steps: 10_000_000,
            memory: 1 << 30,
        }
    }
}

impl Svm {
    /// Learns a label from some rows of a space, with the labels `before` it as further inputs,
    /// whose truth is taken.
    ///
    /// # Panics
    /// If a row or a label is none of the space.
    pub fn fit(
        &self,
        space: &TrainingRows,
        rows: &[usize],
        label: LabelId,
        before: &[LabelId],
    ) -> Result<BinarySvm> {
        let likeness = self.kernel.likeness(space.width() + before.len())?;
        self.check()?;
        let relevant: Vec<bool> = rows.iter().map(|&row| space.labels().get(row, label)).collect();
        if let Some(machine) = BinarySvm::of_one_class(&relevant, likeness) {
            return Ok(machine);
        }
        let problem = Problem::new(space, rows, before);
        let memory = space.memory() / rayon::current_num_threads();
        let kernel = Rows::new(Source::Distances(&problem, likeness), rows.len(), memory);
        let mut solver = Solver::new(kernel, &relevant, likeness.of_equals());
        let solution = solver.solve(self.cost, self.max_steps);
        let support: Vec<usize> =
            (0..rows.len()).filter(|&at| solution.weights[at] != 0.0).collect();
        Ok(BinarySvm {
            likeness,
            rows: support.iter().map(|&at| rows[at] as u32).collect(),
            weights: support.iter().map(|&at| solution.weights[at]).collect(),
            bias: solution.bias,
            converged: solution.converged,
        })
    }

    fn check(&self) -> Result<()> {
        if !(self.cost > 0.0 && self.cost.is_finite()) {
            let (name, value) = ("cost", self.cost.to_string());
            return Err(Error::Setting { name, value, accepted: "above 0" });
        }
        if self.max_steps == 0 {
            let (name, value) = ("max_steps", "0".into());
            return Err(Error::Setting { name, value, accepted: "at least 1" });
        }
        Ok(())
    }
}

/// The rows that decide about one label, and how much each counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinarySvm {
    likeness: Likeness,
    /// Training rows with a weight.
    rows: Vec<u32>,
    /// Positive where the label is relevant; they add up to 0.
    weights: Vec<f64>,
    bias: f64,
    converged: bool,
}

impl BinarySvm {
    /// Says 1 or -1, always, where there is nothing to tell apart; -1 where there are no rows.
    fn of_one_class(relevant: &[bool], likeness: Likeness) -> Option<BinarySvm> {
        let all = relevant.first().copied().unwrap_or(false);
        relevant.iter().all(|&is| is == all).then(|| BinarySvm {
            likeness,
            rows: Vec::new(),
            weights: Vec::new(),
            bias: if all { 1.0 } else { -1.0 },
            converged: true,
        })
    }

    /// The sum of weighted likenesses, offset: positive where the label is relevant. `distance` is
    /// asked for that to a training row, labels that disagree included.
    pub fn decide(&self, distance: impl Fn(usize) -> f64) -> f64 {
        let mut likenesses: Vec<f64> = self.support_rows().map(distance).collect();
        self.likeness.turn(&mut likenesses);
        let terms = likenesses.iter().zip(&self.weights);
        terms.map(|(likeness, weight)| likeness * weight).sum::<f64>() + self.bias
    }

    /// Counts its rows among these, ascending, which hold all of them.
    fn count_among(&mut self, rows: &[usize]) {
        let place = |row: &u32| rows.partition_point(|&other| other < *row as usize) as u32;
        self.rows.iter_mut().for_each(|row| *row = place(row));
    }

    /// Training rows with a weight, ascending.
    pub fn support_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().map(|&row| row as usize)
    }

    /// Whether the optimum was reached before the steps ran out. If not, what it says is a guess:
    /// C is too large for rows that contradict each other, or `max_steps` too small.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, n_train: usize) -> bool {
        self.likeness.is_sound()
            && self.rows.len() == self.weights.len()
            && self.rows.iter().all(|&row| (row as usize) < n_train)
            && self.weights.iter().all(|weight| weight.is_finite())
            && self.bias.is_finite()
    }
}

impl BinaryLearner for Svm {
    type Model = SvmChain;

    fn fit_binary(&self, train: &Dataset) -> Result<SvmChain> {
        let space = TrainingRows::new(train, self.memory)?;
        let (rows, features) = ((0..train.n_rows()).collect(), (0..train.n_features()).collect());
        SvmChain::fit(&[*self], &space, vec![LabelView { rows, features }], None)
    }
}

#[cfg(test)]
mod tests;
