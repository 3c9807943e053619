//! Grid search for C and γ: the point with the greatest accuracy or F1 in cross-validation, for all
//! labels from one table of distances.

use rayon::prelude::*;

use super::kernel::{Kernel, KernelFunction, KernelRows, KernelSource, padded};
use super::smo::Solver;
use super::training_rows::Problem;
use super::{BinarySvm, Svm, TrainingRows};
use crate::chain::Score;
use crate::data::LabelId;
use crate::data::split::{Folds, folds};
use crate::error::{Error, Result};
use crate::loss::{Confusion, Rate, Undefined};
use crate::product::times_transposed;
use crate::seed::Seed;

/// The points to try with the RBF kernel (docs/methods.md, 0).
///
/// | field | default | range |
/// |---|---|---|
/// | `costs` | 0.001, 1, 2, …, 10 | above 0, ascending |
/// | `gammas` | 0.001, 1, 2, …, 5 | above 0 |
/// | `n_folds` | 3 | at least 2 |
/// | `criterion` | accuracy | |
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Values of C.
    pub costs: Vec<f64>,
    /// Values of γ.
    pub gammas: Vec<f64>,
    /// How many folds; they are not stratified, and the same for all labels.
    pub n_folds: usize,
    /// What makes a point better than another.
    pub criterion: GridCriterion,
}

/// What the point of a label maximizes, over the test rows of all folds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridCriterion {
    /// The share of rows that are classified rightly.
    Accuracy,
    /// F1 of the label. Labels have points of their own, so that the greatest F1 of each makes the
    /// greatest mean over labels, which is macro F1.
    MacroF1,
}

impl GridCriterion {
    fn loss(self, counts: &Confusion) -> f64 {
        match self {
            // All points are tested on the same rows.
            GridCriterion::Accuracy => counts.n_wrong() as f64,
            GridCriterion::MacroF1 => Rate::F1.loss(counts, Undefined::Paper).unwrap_or(0.0),
        }
    }
}

impl Default for Grid {
    fn default() -> Grid {
        let up_to = |last: u8| std::iter::once(0.001).chain((1..=last).map(f64::from)).collect();
        Grid { costs: up_to(10), gammas: up_to(5), n_folds: 3, criterion: GridCriterion::Accuracy }
    }
}

/// The settings chosen for a label, and what they were chosen by.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// Settings with the best point; of equals the first.
    pub svm: Svm,
    /// How the rows were classified at each point, in the fold in which they were tested: for every C,
    /// each γ.
    pub counts: Vec<Confusion>,
}

/// Cross-validation with one γ: what folds, labels and values of C share.
struct CrossValidation<'a> {
    train: &'a TrainingRows,
    rows: &'a [usize],
    folds: &'a Folds,
    kernel: KernelFunction,
    /// The kernel matrix of the rows, row by row, if there is memory for it.
    matrix: Option<Vec<f32>>,
}

impl Grid {
    /// Chooses a point for every label, by cross-validation on some of the training rows; all other
    /// settings are those of `svm`.
    ///
    /// Each γ needs one kernel matrix, for all folds, labels and values of C. The optimization for
    /// a C starts from the optimum for the C before.
    pub fn tune(
        &self,
        svm: &Svm,
        train: &TrainingRows,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Vec<Tuned>> {
        let folds = folds(rows.len(), self.n_folds, seed.child("grid", 0))?;
        self.tune_on(svm, train, rows, &folds)
    }

    /// The same with given folds of the rows, in the order of `rows`.
    pub fn tune_on(
        &self,
        svm: &Svm,
        train: &TrainingRows,
        rows: &[usize],
        folds: &Folds,
    ) -> Result<Vec<Tuned>> {
        self.check(svm)?;
        Error::unless_same("rows that are cut into folds", rows.len(), folds.n_rows())?;
        let kernel = |&gamma: &f64| Kernel::Rbf { gamma: Some(gamma) }.function(train.width());
        let kernels: Vec<KernelFunction> = self.gammas.iter().map(kernel).collect::<Result<_>>()?;
        // As many values of γ at a time as there is memory for; the counts do not depend on it.
        let at_once = train.memory() as u128 / CrossValidation::n_bytes(rows.len()).max(1);
        let has_room = at_once > 0;
        let counts = |&kernel: &KernelFunction| {
            let validation = CrossValidation::new(train, rows, folds, kernel, has_room);
            validation.counts(&self.costs, svm.max_steps)
        };
        let mut by_gamma: Vec<Vec<Confusion>> = Vec::new();
        for kernels in kernels.chunks(at_once.clamp(1, 64) as usize) {
            by_gamma.par_extend(kernels.par_iter().map(counts));
            train.cancel().check()?;
        }
        let n_costs = self.costs.len();
        let counts = |label: usize| -> Vec<Confusion> {
            let of_cost = |cost| by_gamma.iter().map(move |counts| counts[label * n_costs + cost]);
            (0..n_costs).flat_map(of_cost).collect()
        };
        let labels = 0..train.labels().n_labels();
        Ok(labels.map(|label| self.choose(svm, counts(label))).collect())
    }

    fn check(&self, svm: &Svm) -> Result<()> {
        for &cost in &self.costs {
            Svm { cost, ..*svm }.check()?;
        }
        let ascends = self.costs.is_sorted_by(|a, b| a < b);
        if !ascends || self.costs.is_empty() {
            let (name, value) = ("costs of the grid", format!("{:?}", self.costs));
            return Err(Error::Setting { name, value, accepted: "ascending, at least one" });
        }
        if self.gammas.is_empty() {
            let (name, value) = ("gammas of the grid", "[]".into());
            return Err(Error::Setting { name, value, accepted: "at least one" });
        }
        Ok(())
    }

    /// The first point of least loss.
    fn choose(&self, svm: &Svm, counts: Vec<Confusion>) -> Tuned {
        let losses: Vec<f64> = counts.iter().map(|counts| self.criterion.loss(counts)).collect();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let best = losses.iter().position(|&loss| loss == least).unwrap_or(0);
        let (cost, gamma) = (best / self.gammas.len(), best % self.gammas.len());
        let kernel = Kernel::Rbf { gamma: Some(self.gammas[gamma]) };
        Tuned { svm: Svm { kernel, cost: self.costs[cost], ..*svm }, counts }
    }
}

impl<'a> CrossValidation<'a> {
    /// The bytes of the kernel matrix, and of its parts for the training rows of three folds: each
    /// part has (2/3)² of the entries, less than half.
    fn n_bytes(n_rows: usize) -> u128 {
        (n_rows as u128).pow(2) * (4 + 3 * 2)
    }

    fn new(
        train: &'a TrainingRows,
        rows: &'a [usize],
        folds: &'a Folds,
        kernel: KernelFunction,
        has_room: bool,
    ) -> CrossValidation<'a> {
        let mut validation = CrossValidation { train, rows, folds, kernel, matrix: None };
        let all: Vec<usize> = (0..rows.len()).collect();
        validation.matrix = has_room.then(|| {
            let mut matrix = vec![0.0; rows.len() * rows.len()];
            let by_row = matrix.par_chunks_mut(rows.len().max(1)).enumerate();
            by_row.for_each(|(from, row)| row.copy_from_slice(&validation.kernel_row(from, &all)));
            matrix
        });
        validation
    }

    /// The kernel values of one of the rows with some of them, by index among the rows.
    fn kernel_row(&self, from: usize, to: &[usize]) -> Vec<f32> {
        let mut row = Vec::with_capacity(padded(to.len()));
        match &self.matrix {
            Some(matrix) => {
                let all = &matrix[from * self.rows.len()..];
                row.extend(to.iter().map(|&to| all[to]));
            }
            None => {
                Problem::new(self.train, self.rows, &[]).distances(from, to, &mut row);
                self.kernel.apply(&mut row);
            }
        }
        row
    }

    /// How rows are classified in the fold in which they are tested: for every label, each C.
    fn counts(&self, costs: &[f64], max_steps: u64) -> Vec<Confusion> {
        let of_fold = |fold| self.counts_in(fold, costs, max_steps);
        let add = |mut sums: Vec<Confusion>, counts: Vec<Confusion>| {
            sums.iter_mut().zip(counts).for_each(|(sum, counts)| *sum = *sum + counts);
            sums
        };
        let none = || vec![Confusion::default(); self.train.labels().n_labels() * costs.len()];
        (0..self.folds.n_folds()).into_par_iter().map(of_fold).reduce(none, add)
    }

    fn counts_in(&self, fold: usize, costs: &[f64], max_steps: u64) -> Vec<Confusion> {
        let train = self.folds.train_rows(fold);
        let rows: Vec<usize> = train.iter().map(|&at| self.rows[at]).collect();
        let problem = Problem::new(self.train, &rows, &[]);
        let matrix = self.matrix.is_some().then(|| {
            let mut matrix = Vec::with_capacity(train.len() * padded(train.len()));
            for &from in &train {
                matrix.extend(self.kernel_row(from, &train));
                matrix.resize(matrix.len().next_multiple_of(padded(train.len()).max(1)), 0.0);
            }
            matrix
        });
        // The weights and the bias of one label for every C.
        let solutions = |label: usize| {
            let is_relevant = |&row: &usize| self.train.labels().get(row, LabelId(label));
            let relevant: Vec<bool> = rows.iter().map(is_relevant).collect();
            if let Some(constant) = BinarySvm::of_one_class(&relevant, self.kernel) {
                return vec![(vec![0.0; rows.len()], constant.bias); costs.len()];
            }
            let source = match &matrix {
                Some(matrix) => KernelSource::Matrix(matrix),
                None => KernelSource::Distances(&problem, self.kernel),
            };
            let memory = self.train.memory() / rayon::current_num_threads();
            let kernel_rows = KernelRows::new(source, rows.len(), memory);
            let mut solver = Solver::new(kernel_rows, &relevant, self.kernel.diagonal());
            let solve = |&cost: &f64| {
                let solution = solver.solve(cost, max_steps, self.train.cancel());
                (solution.weights, solution.bias)
            };
            costs.iter().map(solve).collect::<Vec<_>>()
        };
        let labels = 0..self.train.labels().n_labels();
        let solutions: Vec<_> = labels.into_par_iter().flat_map_iter(solutions).collect();
        self.count(&train, &self.folds.test_rows(fold), &solutions, costs.len())
    }

    /// How each solution classifies the test rows. One matrix product of kernel values and
    /// weights gives the decisions of all labels for every C, for some rows at a time.
    fn count(
        &self,
        train: &[usize],
        test: &[usize],
        solutions: &[(Vec<f64>, f64)],
        n_costs: usize,
    ) -> Vec<Confusion> {
        const BLOCK: usize = 256;
        let n_solutions = solutions.len();
        let weights: Vec<f64> =
            solutions.iter().flat_map(|(weights, _)| weights).copied().collect();
        let mut counts = vec![Confusion::default(); n_solutions];
        for test in test.chunks(BLOCK) {
            let mut kernel_values = Vec::with_capacity(test.len() * train.len());
            for &row in test {
                kernel_values.extend(self.kernel_row(row, train).into_iter().map(f64::from));
            }
            let sums =
                times_transposed(&kernel_values, &weights, test.len(), n_solutions, train.len());
            for (&row, sums) in test.iter().zip(sums.chunks(n_solutions.max(1))) {
                for (at, (sum, (_, bias))) in sums.iter().zip(solutions).enumerate() {
                    let label = LabelId(at / n_costs);
                    let relevant = self.train.labels().get(self.rows[row], label);
                    let decided = Score::Margin(sum + bias).is_relevant();
                    counts[at] = counts[at] + Confusion::of_cell(relevant, decided);
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_may_prefer_a_point_that_finds_nothing_and_f1_does_not() {
        let of = |true_positives, false_positives, false_negatives| Confusion {
            true_positives,
            false_positives,
            false_negatives,
        };
        // The first point says that the label is never relevant: 4 rows wrong, F1 0. The second finds 3
        // of the 4 relevant rows and 4 others: 5 rows wrong, F1 6/11.
        let counts = vec![of(0, 0, 4), of(3, 4, 1)];
        let chosen = |criterion| {
            let (costs, gammas) = (vec![1.0, 2.0], vec![0.5]);
            let grid = Grid { costs, gammas, n_folds: 3, criterion };
            grid.choose(&Svm::default(), counts.clone()).svm.cost
        };
        assert_eq!(chosen(GridCriterion::Accuracy), 1.0);
        assert_eq!(chosen(GridCriterion::MacroF1), 2.0);
    }
}
