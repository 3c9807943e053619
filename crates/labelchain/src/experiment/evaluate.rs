//! Cross-validation: how wrong is a method on rows it has not seen?

use std::time::Instant;

use super::method::{Method, Settings, Step, fit};
use crate::data::split::Folds;
use crate::data::{Bags, Dataset, LabelMatrix};
use crate::error::Result;
use crate::loss::{Losses, Undefined};
use crate::neighbourhood::Neighbourhood;
use crate::prepare::{BagReduction, Prepared};
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
    /// Seconds spent on fitting in all folds; what methods share is counted for each.
    pub train_seconds: f64,
    /// Seconds spent on answering in all folds.
    pub predict_seconds: f64,
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
    let cut = |train: &[usize], test: &[usize], _| Ok((data.select(train), data.select(test)));
    cross_validate(data, cut, methods, settings, folds, seed, progress)
}

/// The same for bags of instances, which become single rows in each fold anew, by what its training
/// rows alone say.
pub fn evaluate_bags(
    bags: &Bags,
    reduction: BagReduction,
    methods: &[Method],
    settings: &Settings,
    folds: &Folds,
    seed: Seed,
    progress: &dyn Fn(Step),
) -> Result<Vec<Evaluation>> {
    let cut = |train: &[usize], test: &[usize], seed: Seed| {
        let train = bags.select(train);
        let transform = reduction.fit(&train, seed)?;
        Ok((transform.apply(&train)?, transform.apply(&bags.select(test))?))
    };
    cross_validate(bags.rows(), cut, methods, settings, folds, seed, progress)
}

/// `cut` makes the training and the test rows of a fold.
fn cross_validate(
    data: &Dataset,
    cut: impl Fn(&[usize], &[usize], Seed) -> Result<(Dataset, Dataset)>,
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
            train_seconds: 0.0,
            predict_seconds: 0.0,
        })
        .collect();
    for fold in 0..folds.n_folds() {
        let start = Instant::now();
        let seed = seed.child("fold", fold);
        let test_rows = folds.test_rows(fold);
        let (train, test) = cut(&folds.train_rows(fold), &test_rows, seed)?;
        let prepared = Prepared::new(&train)?;
        let test = prepared.standardizer().apply(&test)?;
        let fitted = fit(methods, settings, &train, &prepared, seed, progress)?;
        let near = match fitted.iter().any(|fitted| fitted.ensemble.needs_neighbourhood()) {
            true => Some(Neighbourhood::of(prepared.data())?),
            false => None,
        };
        let train_seconds = start.elapsed().as_secs_f64();
        for (evaluation, fitted) in evaluations.iter_mut().zip(&fitted) {
            let start = Instant::now();
            let near = near.as_ref().filter(|_| fitted.ensemble.needs_neighbourhood());
            let answers = fitted.ensemble.decide(&fitted.ensemble.votes(&test, near)?);
            evaluation.predict_seconds += start.elapsed().as_secs_f64();
            evaluation.train_seconds += train_seconds;
            evaluation.by_fold.push(Losses::between(test.labels(), &answers, Undefined::Paper)?);
            for (at, &row) in test_rows.iter().enumerate() {
                for label in answers.relevant(at) {
                    evaluation.answers.set(row, label, true);
                }
            }
        }
        progress(Step::Folds { done: fold + 1 });
    }
    Ok(evaluations)
}
