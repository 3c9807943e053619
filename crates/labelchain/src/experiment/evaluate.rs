//! Cross-validation: how wrong is a method on rows it has not seen?

use super::cost::{Clock, Cost};
use super::method::{Fitted, Method, Settings, Step, fit};
use crate::data::split::Folds;
use crate::data::{Dataset, LabelMatrix};
use crate::error::Result;
use crate::loss::{Losses, Undefined};
use crate::neighbourhood::Neighbourhood;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// What one method did in all folds.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The method.
    pub method: Method,
    /// Losses in each fold.
    pub by_fold: Vec<Losses>,
    /// The answer for every row, from the fold in which it was tested.
    pub answers: LabelMatrix,
    /// What fitting cost in all folds; what methods share is counted for each.
    pub train: Cost,
    /// What answering cost in all folds.
    pub predict: Cost,
}

impl Evaluation {
    /// Each criterion's plain mean over the folds.
    pub fn losses(&self) -> Losses {
        Losses::mean(&self.by_fold)
    }
}

/// Cross-validates methods on the same folds, rows, splits and feature selections.
/// `progress` is told after each step of something long.
pub fn evaluate(
    data: &Dataset,
    methods: &[Method],
    settings: &Settings,
    folds: &Folds,
    seed: Seed,
    progress: &dyn Fn(Step),
) -> Result<Vec<Evaluation>> {
    let mut evaluations: Vec<Evaluation> = methods
        .iter()
        .map(|&method| Evaluation {
            method,
            by_fold: Vec::new(),
            answers: LabelMatrix::empty(data.n_rows(), data.n_labels()),
            train: Cost::default(),
            predict: Cost::default(),
        })
        .collect();
    for at in 0..folds.n_folds() {
        let fold = Fold::new(data, folds, at, seed)?;
        let tests = fold.test(methods, settings, progress);
        for (evaluation, tested) in evaluations.iter_mut().zip(tests) {
            let tested = tested?;
            evaluation.train += tested.train;
            evaluation.predict += tested.predict;
            evaluation.by_fold.push(tested.losses);
            for (at, &row) in fold.test_rows.iter().enumerate() {
                for label in tested.answers.relevant(at) {
                    evaluation.answers.set(row, label, true);
                }
            }
        }
        progress(Step::Folds { done: at + 1 });
    }
    Ok(evaluations)
}

/// One fold, made ready for every method: the only way in which a method is tested.
pub(crate) struct Fold {
    train: Dataset,
    prepared: Prepared,
    test: Dataset,
    test_rows: Vec<usize>,
    seed: Seed,
    cost: Cost,
}

/// What one method did in one fold.
pub(crate) struct Tested {
    /// For each row of the fold.
    pub(crate) answers: LabelMatrix,
    pub(crate) losses: Losses,
    /// What fitting cost, with all that is shared with other methods.
    pub(crate) train: Cost,
    /// What answering cost.
    pub(crate) predict: Cost,
}

impl Fold {
    /// Prepares the training rows of a fold, and its own rows in the same way.
    pub(crate) fn new(data: &Dataset, folds: &Folds, at: usize, seed: Seed) -> Result<Fold> {
        let clock = Clock::start();
        let train = data.select(&folds.train_rows(at));
        let prepared = Prepared::new(&train)?;
        let test_rows = folds.test_rows(at);
        let test = prepared.standardizer().apply(&data.select(&test_rows))?;
        let seed = seed.child("fold", at);
        Ok(Fold { train, prepared, test, test_rows, seed, cost: clock.cost() })
    }

    /// Tests methods one after the other; one that fails leaves the others as they are.
    pub(crate) fn test<'a>(
        &'a self,
        methods: &'a [Method],
        settings: &'a Settings,
        progress: &'a dyn Fn(Step),
    ) -> impl Iterator<Item = Result<Tested>> + 'a {
        let mut near = None;
        fit(methods, settings, &self.train, &self.prepared, self.seed, progress)
            .map(move |fitted| self.ask(&fitted?, &mut near))
    }

    /// `near` is laid out for the first that needs it and kept for the next.
    fn ask<'a>(&'a self, fitted: &Fitted, near: &mut Option<Neighbourhood<'a>>) -> Result<Tested> {
        let clock = Clock::start();
        let near = match (fitted.ensemble.needs_neighbourhood(), &mut *near) {
            (false, _) => None,
            (true, Some(near)) => Some(&*near),
            (true, none) => Some(&*none.insert(Neighbourhood::of(self.prepared.data())?)),
        };
        let answers = fitted.ensemble.decide(&fitted.ensemble.votes(&self.test, near)?);
        let losses = Losses::between(self.test.labels(), &answers, Undefined::Paper)?;
        Ok(Tested { answers, losses, train: self.cost + fitted.cost, predict: clock.cost() })
    }
}
