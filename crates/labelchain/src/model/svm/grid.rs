//! Which C and γ? Those of least error in cross-validation, for all labels from one table of
//! distances.

use rayon::prelude::*;

use super::kernel::{Kernel, Likeness, Rows, Source, padded};
use super::smo::Solver;
use super::space::Problem;
use super::{KernelSpace, Machine, Svm};
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

/// A fold under one γ: everything that its labels and values of C share.
struct Stage {
    likeness: Likeness,
    train: Vec<usize>,
    test: Vec<usize>,
}

impl Grid {
    /// The point for every label, by cross-validation on some rows of a space; all else as in `svm`.
    ///
    /// Each γ and fold has one kernel, for all labels and values of C. Along C, a machine starts
    /// from the one before.
    pub fn tune(
        &self,
        svm: &Svm,
        space: &KernelSpace,
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
        space: &KernelSpace,
        rows: &[usize],
        cut: &Folds,
    ) -> Result<Vec<Tuned>> {
        self.check(svm)?;
        Error::unless_same("rows that are cut into folds", rows.len(), cut.n_rows())?;
        let mut stages = Vec::new();
        for (&gamma, fold) in self.gammas.iter().flat_map(|g| (0..cut.n_folds()).map(move |f| (g, f)))
        {
            let of = |places: Vec<usize>| places.into_iter().map(|at| rows[at]).collect();
            let likeness = Kernel::Rbf { gamma: Some(gamma) }.likeness(space.width())?;
            let (train, test) = (of(cut.train_rows(fold)), of(cut.test_rows(fold)));
            stages.push(Stage { likeness, train, test });
        }
        let n_labels = space.labels().n_labels();
        let n_costs = self.costs.len();
        let mut errors = vec![vec![0; n_costs * self.gammas.len()]; n_labels];
        // As many stages at a time as there is memory for; what they find does not depend on it.
        let most = stages.iter().map(Stage::n_bytes).max().unwrap_or(0).max(1);
        let at_once = (space.memory() as u128 / most).max(1).min(stages.len().max(1) as u128);
        let mut done = 0;
        for stages in stages.chunks(at_once as usize) {
            let found: Vec<Vec<usize>> =
                stages.par_iter().map(|stage| stage.errors(svm, &self.costs, space)).collect();
            for (at, found) in found.iter().enumerate() {
                let gamma = (done + at) / cut.n_folds();
                for (label, found) in found.chunks(n_costs).enumerate() {
                    for (cost, n_wrong) in found.iter().enumerate() {
                        errors[label][cost * self.gammas.len() + gamma] += n_wrong;
                    }
                }
            }
            done += stages.len();
        }
        Ok(errors.into_iter().map(|errors| self.choose(svm, errors)).collect())
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

impl Stage {
    /// Of its kernels: among the training rows, and from those tested to them.
    fn n_bytes(&self) -> u128 {
        let (n_train, n_test) = (self.train.len() as u128, self.test.len() as u128);
        n_train * (4 * n_train + 8 * n_test)
    }

    /// Rows tested that are decided wrongly: label by label, for each every C.
    fn errors(&self, svm: &Svm, costs: &[f64], space: &KernelSpace) -> Vec<usize> {
        let (n_train, n_labels) = (self.train.len(), space.labels().n_labels());
        let problem = Problem::new(space, &self.train, &[]);
        let fits = self.n_bytes() <= space.memory() as u128;
        let table = fits.then(|| self.table(&problem));
        let machines = |label: usize| {
            let is_relevant = |&row: &usize| space.labels().get(row, LabelId(label));
            let relevant: Vec<bool> = self.train.iter().map(is_relevant).collect();
            if let Some(machine) = Machine::of_one_class(&relevant, self.likeness) {
                return vec![(vec![0.0; n_train], machine.bias); costs.len()];
            }
            let source = match &table {
                Some(table) => Source::Whole(table),
                None => Source::Distances(&problem, self.likeness),
            };
            let memory = space.memory() / rayon::current_num_threads();
            let kernel = Rows::new(source, n_train, memory);
            let mut solver = Solver::new(kernel, &relevant, self.likeness.of_equals());
            let solve = |&cost: &f64| {
                let solution = solver.solve(cost, svm.max_steps);
                (solution.weights, solution.bias)
            };
            costs.iter().map(solve).collect::<Vec<_>>()
        };
        let machines: Vec<(Vec<f64>, f64)> =
            (0..n_labels).into_par_iter().flat_map_iter(machines).collect();
        self.count(space, &machines, costs.len())
    }

    /// The kernel among the training rows.
    fn table(&self, problem: &Problem) -> Vec<f32> {
        let n_train = self.train.len();
        let places: Vec<usize> = (0..n_train).collect();
        let mut table = Vec::with_capacity(n_train * padded(n_train));
        let mut row = Vec::with_capacity(padded(n_train));
        for from in 0..n_train {
            row.clear();
            problem.distances(from, &places, &mut row);
            self.likeness.turn(&mut row);
            row.resize(padded(n_train), 0.0);
            table.extend_from_slice(&row);
        }
        table
    }

    /// One product decides all labels under every C, some rows at a time.
    fn count(
        &self,
        space: &KernelSpace,
        machines: &[(Vec<f64>, f64)],
        n_costs: usize,
    ) -> Vec<usize> {
        const BLOCK: usize = 256;
        let n_train = self.train.len();
        let weights: Vec<f64> = machines.iter().flat_map(|(weights, _)| weights).copied().collect();
        let mut errors = vec![0; machines.len()];
        for test in self.test.chunks(BLOCK) {
            let to = |&row: &usize| {
                self.train.iter().map(move |&other| f64::from(space.distance(row, other)))
            };
            let mut likenesses: Vec<f64> = test.iter().flat_map(to).collect();
            self.likeness.turn(&mut likenesses);
            let sums =
                times_transposed(&likenesses, &weights, test.len(), machines.len(), n_train);
            for (&row, sums) in test.iter().zip(sums.chunks(machines.len().max(1))) {
                for (at, (sum, (_, bias))) in sums.iter().zip(machines).enumerate() {
                    let relevant = space.labels().get(row, LabelId(at / n_costs));
                    errors[at] += usize::from((sum + bias > 0.0) != relevant);
                }
            }
        }
        errors
    }
}
