//! Support vector machines: C-SVC as in LIBSVM (docs/methods.md, 8.4).
//!
//! The classifier of a label decides by the sign of Σ w_v k(x, v) + b over training rows v, where k
//! is the kernel and the weights w_v and the bias b separate the two classes with the widest
//! margin.
//!
//! Both kernels are functions of squared distances, and a label decided earlier in a chain is one
//! more input of 0 or 1, which adds 1 to a distance where two rows disagree. So one table of
//! distances among the training rows, in [`TrainingRows`], serves every label, fold, ensemble
//! member and chain: [`Grid`] chooses C and γ for all labels from it, and an [`SvmChain`] is a
//! classifier for each label, which may have the labels before it as inputs.

mod base;
mod chain;
mod grid;
mod inputs;
mod kernel;
mod smo;
mod training_rows;

pub(super) use base::BASE;

pub use chain::SvmChain;
pub use grid::{Grid, GridCriterion, Tuned};
pub use kernel::Kernel;
pub use training_rows::TrainingRows;

use serde::{Deserialize, Serialize};

use crate::chain::BinaryLearner;
use crate::data::{Dataset, LabelId};
use crate::error::{Error, Result};
use crate::prepare::LabelView;
use kernel::{KernelFunction, KernelRows, KernelSource};
use smo::Solver;
use training_rows::Problem;

/// Settings of a support vector machine (docs/methods.md, 8.4).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `kernel` | RBF, γ = 1 / inputs | γ above 0 | how similar two rows are |
/// | `cost` | 1 | above 0 | C: the cost of a row on the wrong side of the margin |
/// | `max_steps` | 10,000,000 | at least 1 | steps of the optimization before it gives up |
/// | `memory` | 1 GiB | | bytes for distances and kernels; beyond, rows are computed again |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Svm {
    /// How similar two rows are.
    pub kernel: Kernel,
    /// C: the cost of a row on the wrong side of the margin.
    pub cost: f64,
    /// Steps of the optimization, two weights each, before it gives up: see
    /// [`BinarySvm::converged`].
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
    /// Learns a label from some of the training rows, with the true values of the labels `before`
    /// it as further inputs.
    ///
    /// # Panics
    /// If there is no such row or label.
    pub fn fit(
        &self,
        train: &TrainingRows,
        rows: &[usize],
        label: LabelId,
        before: &[LabelId],
    ) -> Result<BinarySvm> {
        let kernel = self.kernel.function(train.width() + before.len())?;
        self.check()?;
        let relevant: Vec<bool> = rows.iter().map(|&row| train.labels().get(row, label)).collect();
        if let Some(constant) = BinarySvm::of_one_class(&relevant, kernel) {
            return Ok(constant);
        }
        let problem = Problem::new(train, rows, before);
        let memory = train.memory() / rayon::current_num_threads();
        let source = KernelSource::Distances(&problem, kernel);
        let kernel_rows = KernelRows::new(source, rows.len(), memory);
        let mut solver = Solver::new(kernel_rows, &relevant, kernel.diagonal());
        let solution = solver.solve(self.cost, self.max_steps, train.cancel());
        train.cancel().check()?;
        let support: Vec<usize> =
            (0..rows.len()).filter(|&at| solution.weights[at] != 0.0).collect();
        Ok(BinarySvm {
            kernel,
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

/// A fitted classifier of one label: its support vectors, which are training rows, and their
/// weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinarySvm {
    kernel: KernelFunction,
    /// The support vectors: training rows whose weight is not 0.
    rows: Vec<u32>,
    /// Their weights, positive where the label is relevant; they add up to 0.
    weights: Vec<f64>,
    bias: f64,
    converged: bool,
}

impl BinarySvm {
    /// A constant classifier where all rows are of one class: 1 where it is the relevant one, else
    /// -1; also -1 where there are no rows.
    fn of_one_class(relevant: &[bool], kernel: KernelFunction) -> Option<BinarySvm> {
        let all = relevant.first().copied().unwrap_or(false);
        relevant.iter().all(|&is| is == all).then(|| BinarySvm {
            kernel,
            rows: Vec::new(),
            weights: Vec::new(),
            bias: if all { 1.0 } else { -1.0 },
            converged: true,
        })
    }

    /// The decision value Σ w_v k(x, v) + b: positive where the label is relevant. `distance`
    /// returns the squared distance from x to a training row v, disagreeing labels included.
    pub fn decision_value(&self, distance: impl Fn(usize) -> f64) -> f64 {
        let mut kernel_values: Vec<f64> = self.support_rows().map(distance).collect();
        self.kernel.apply(&mut kernel_values);
        let terms = kernel_values.iter().zip(&self.weights);
        terms.map(|(value, weight)| value * weight).sum::<f64>() + self.bias
    }

    /// Numbers its support vectors by their index in `rows`, which are ascending and hold all of
    /// them.
    fn renumber(&mut self, rows: &[usize]) {
        let index = |row: &u32| rows.partition_point(|&other| other < *row as usize) as u32;
        self.rows.iter_mut().for_each(|row| *row = index(row));
    }

    /// The support vectors as rows of the training set, ascending.
    pub fn support_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().map(|&row| row as usize)
    }

    /// Whether the optimum was reached within [`Svm::max_steps`]. If not, its decisions are a
    /// guess: C is too large for rows that contradict each other, or `max_steps` is too small.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, n_train: usize) -> bool {
        self.kernel.is_sound()
            && self.rows.len() == self.weights.len()
            && self.rows.iter().all(|&row| (row as usize) < n_train)
            && self.weights.iter().all(|weight| weight.is_finite())
            && self.bias.is_finite()
    }
}

impl BinaryLearner for Svm {
    type Model = SvmChain;

    fn fit_binary(&self, train: &Dataset) -> Result<SvmChain> {
        let training_rows = TrainingRows::new(train, self.memory)?;
        let (rows, features) = ((0..train.n_rows()).collect(), (0..train.n_features()).collect());
        SvmChain::fit(&[*self], &training_rows, vec![LabelView { rows, features }], None)
    }
}

#[cfg(test)]
mod tests;
