//! Which C and γ? Those of least error in cross-validation, for all labels from one table of
//! distances.

use rayon::prelude::*;

use super::kernel::{Kernel, Likeness, Rows, Source, padded};
use super::smo::Solver;
use super::training_rows::Problem;
use super::{BinarySvm, Svm, TrainingRows};
use crate::data::LabelId;
use crate::data::split::{Folds, folds};
use crate::error::{Error, Result};
use crate::product::times_transposed;
use crate::seed::Seed;

/// Points to try with the RBF kernel (methods 0).
///
/// | field | default | range |
/// |---|---|---|
/// | `costs` | 0.001, 1, 2, …, 10 | above 0, ascending |
/// | `gammas` | 0.001, 1, 2, …, 5 | above 0 |
/// | `n_folds` | 3 | at least 2 |
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Values of C.
    pub costs: Vec<f64>,
    /// Values of γ.
    pub gammas: Vec<f64>,
    /// Plain folds, the same for all labels.
    pub n_folds: usize,
}

impl Default for Grid {
    fn default() -> Grid {
        let up_to = |last: u8| std::iter::once(0.001).chain((1..=last).map(f64::from)).collect();
        Grid { costs: up_to(10), gammas: up_to(5), n_folds: 3 }
    }
}

/// What was chosen for a label, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// With the point of fewest errors, the earliest of equals.
    pub svm: Svm,
    /// Rows decided wrongly at each point: C by C, for each every γ.
    pub errors: Vec<usize>,
}

/// The rows under one γ: everything that folds, labels and values of C share.
struct Stage<'a> {
    space: &'a TrainingRows,
    rows: &'a [usize],
    cut: &'a Folds,
    likeness: Likeness,
    /// The kernel, row by row, where there is room for it.
    kernel: Option<Vec<f32>>,
}

impl Grid {
    /// The point for every label, by cross-validation on some rows of a space; all else as in `svm`.
    ///
    /// Each γ has one kernel, for all folds, labels and values of C. Along C, a machine starts from
    /// the one before.
    pub fn tune(
        &self,
        svm: &Svm,
        space: &TrainingRows,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Vec<Tuned>> {
        let cut = folds(rows.len(), self.n_folds, seed.child("grid", 0))?;
        self.tune_on(svm, space, rows, &cut)
    }

    /// The same on folds made elsewhere, of the rows in the order given.
    pub fn tune_on(
        &self,
        svm: &Svm,
        space: &TrainingRows,
        rows: &[usize],
        cut: &Folds,
    ) -> Result<Vec<Tuned>> {
        self.check(svm)?;
        Error::unless_same("rows that are cut into folds", rows.len(), cut.n_rows())?;
        let likeness = |&gamma: &f64| Kernel::Rbf { gamma: Some(gamma) }.likeness(space.width());
        let likenesses: Vec<Likeness> = self.gammas.iter().map(likeness).collect::<Result<_>>()?;
        // As many at a time as there is memory for; what they find does not depend on it.
        let at_once = space.memory() as u128 / Stage::n_bytes(rows.len()).max(1);
        let keep = at_once > 0;
        let stage = |&likeness: &Likeness| {
            Stage::new(space, rows, cut, likeness, keep).errors(&self.costs, svm.max_steps)
        };
        let mut by_gamma: Vec<Vec<usize>> = Vec::new();
        for likenesses in likenesses.chunks(at_once.clamp(1, 64) as usize) {
            by_gamma.par_extend(likenesses.par_iter().map(stage));
        }
        let n_costs = self.costs.len();
        let errors = |label: usize| -> Vec<usize> {
            let of_cost = |cost| by_gamma.iter().map(move |found| found[label * n_costs + cost]);
            (0..n_costs).flat_map(of_cost).collect()
        };
        let labels = 0..space.labels().n_labels();
        Ok(labels.map(|label| self.choose(svm, errors(label))).collect())
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

    fn choose(&self, svm: &Svm, errors: Vec<usize>) -> Tuned {
        let fewest = errors.iter().min().copied().unwrap_or(0);
        let best = errors.iter().position(|&n_wrong| n_wrong == fewest).unwrap_or(0);
        let (cost, gamma) = (best / self.gammas.len(), best % self.gammas.len());
        let kernel = Kernel::Rbf { gamma: Some(self.gammas[gamma]) };
        Tuned { svm: Svm { kernel, cost: self.costs[cost], ..*svm }, errors }
    }
}

impl<'a> Stage<'a> {
    /// Of the kernel, and of its parts among the training rows of each of three folds.
    fn n_bytes(n_rows: usize) -> u128 {
        (n_rows as u128).pow(2) * (4 + 3 * 2)
    }

    fn new(
        space: &'a TrainingRows,
        rows: &'a [usize],
        cut: &'a Folds,
        likeness: Likeness,
        keep: bool,
    ) -> Stage<'a> {
        let mut stage = Stage { space, rows, cut, likeness, kernel: None };
        let all: Vec<usize> = (0..rows.len()).collect();
        stage.kernel = keep.then(|| {
            let mut kernel = vec![0.0; rows.len() * rows.len()];
            let by_row = kernel.par_chunks_mut(rows.len().max(1)).enumerate();
            by_row.for_each(|(from, row)| row.copy_from_slice(&stage.row(from, &all)));
            kernel
        });
        stage
    }

    /// How like one of the rows is to some of them.
    fn row(&self, from: usize, to: &[usize]) -> Vec<f32> {
        let mut row = Vec::with_capacity(padded(to.len()));
        match &self.kernel {
            Some(kernel) => {
                let all = &kernel[from * self.rows.len()..];
                row.extend(to.iter().map(|&to| all[to]));
            }
            None => {
                Problem::new(self.space, self.rows, &[]).distances(from, to, &mut row);
                self.likeness.turn(&mut row);
            }
        }
        row
    }

    /// Rows decided wrongly where they are tested: label by label, for each every C.
    fn errors(&self, costs: &[f64], max_steps: u64) -> Vec<usize> {
        let of_fold = |fold| self.errors_in(fold, costs, max_steps);
        let add = |mut sums: Vec<usize>, errors: Vec<usize>| {
            sums.iter_mut().zip(errors).for_each(|(sum, errors)| *sum += errors);
            sums
        };
        let none = || vec![0; self.space.labels().n_labels() * costs.len()];
        (0..self.cut.n_folds()).into_par_iter().map(of_fold).reduce(none, add)
    }

    fn errors_in(&self, fold: usize, costs: &[f64], max_steps: u64) -> Vec<usize> {
        let train = self.cut.train_rows(fold);
        let rows: Vec<usize> = train.iter().map(|&place| self.rows[place]).collect();
        let problem = Problem::new(self.space, &rows, &[]);
        let kernel = self.kernel.is_some().then(|| {
            let mut kernel = Vec::with_capacity(train.len() * padded(train.len()));
            for &from in &train {
                kernel.extend(self.row(from, &train));
                kernel.resize(kernel.len().next_multiple_of(padded(train.len()).max(1)), 0.0);
            }
            kernel
        });
        let machines = |label: usize| {
            let is_relevant = |&row: &usize| self.space.labels().get(row, LabelId(label));
            let relevant: Vec<bool> = rows.iter().map(is_relevant).collect();
            if let Some(machine) = BinarySvm::of_one_class(&relevant, self.likeness) {
                return vec![(vec![0.0; rows.len()], machine.bias); costs.len()];
            }
            let source = match &kernel {
                Some(kernel) => Source::Whole(kernel),
                None => Source::Distances(&problem, self.likeness),
            };
            let memory = self.space.memory() / rayon::current_num_threads();
            let kernel = Rows::new(source, rows.len(), memory);
            let mut solver = Solver::new(kernel, &relevant, self.likeness.of_equals());
            let solve = |&cost: &f64| {
                let solution = solver.solve(cost, max_steps);
                (solution.weights, solution.bias)
            };
            costs.iter().map(solve).collect::<Vec<_>>()
        };
        let labels = 0..self.space.labels().n_labels();
        let machines: Vec<_> = labels.into_par_iter().flat_map_iter(machines).collect();
        self.count(&train, &self.cut.test_rows(fold), &machines, costs.len())
    }

    /// One product decides all labels under every C, some rows at a time.
    fn count(
        &self,
        train: &[usize],
        test: &[usize],
        machines: &[(Vec<f64>, f64)],
        n_costs: usize,
    ) -> Vec<usize> {
        const BLOCK: usize = 256;
        let weights: Vec<f64> = machines.iter().flat_map(|(weights, _)| weights).copied().collect();
        let mut errors = vec![0; machines.len()];
        for test in test.chunks(BLOCK) {
            let mut likenesses = Vec::with_capacity(test.len() * train.len());
            for &place in test {
                likenesses.extend(self.row(place, train).into_iter().map(f64::from));
            }
            let sums =
                times_transposed(&likenesses, &weights, test.len(), machines.len(), train.len());
            for (&place, sums) in test.iter().zip(sums.chunks(machines.len().max(1))) {
                for (at, (sum, (_, bias))) in sums.iter().zip(machines).enumerate() {
                    let label = LabelId(at / n_costs);
                    let relevant = self.space.labels().get(self.rows[place], label);
                    errors[at] += usize::from((sum + bias > 0.0) != relevant);
                }
            }
        }
        errors
    }
}
