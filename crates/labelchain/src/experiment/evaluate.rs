//! Cross-validation: how wrong is a method on rows it has not seen?

use super::cost::{Clock, Cost};
use super::fit::{Fitted, Step, fit};
use super::method::{Method, Settings};
use crate::data::split::Folds;
use crate::data::{Bags, Dataset, LabelMatrix};
use crate::distance::Neighbourhood;
use crate::error::Result;
use crate::loss::{Losses, Undefined};
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
///
/// ```
/// use labelchain::data::{LabelNetwork, split::folds};
/// use labelchain::experiment::{Settings, evaluate};
/// use labelchain::loss::Criterion;
/// use labelchain::seed::Seed;
///
/// let seed = Seed::new(1);
/// let data = LabelNetwork { n_rows: 200, ..LabelNetwork::default() }.generate("network", seed)?;
/// let methods = ["ecc-nb".parse()?, "br-nb".parse()?];
/// let cut = folds(data.n_rows(), 5, seed)?;
/// let evaluations = evaluate(&data, &methods, &Settings::default(), &cut, seed, &|_| ())?;
/// let zero_one = |at: usize| evaluations[at].losses().get(Criterion::ZeroOne);
/// assert!(zero_one(0) < zero_one(1), "these labels depend on each other, so a chain pays");
/// # Ok::<(), labelchain::error::Error>(())
/// ```
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
            train: Cost::default(),
            predict: Cost::default(),
        })
        .collect();
    for at in 0..folds.n_folds() {
        let (seed, test_rows) = (seed.child("fold", at), folds.test_rows(at));
        let (train, test) = cut(&folds.train_rows(at), &test_rows, seed)?;
        let fold = Fold::new(train, test, seed, settings.max_memory)?;
        for (evaluation, tested) in
            evaluations.iter_mut().zip(fold.test(methods, settings, progress))
        {
            let tested = tested?;
            evaluation.train += tested.train;
            evaluation.predict += tested.predict;
            evaluation.by_fold.push(tested.losses);
            for (at, &row) in test_rows.iter().enumerate() {
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
    train: Prepared,
    test: Dataset,
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
    pub(crate) fn new(train: Dataset, test: Dataset, seed: Seed, max_memory: u64) -> Result<Fold> {
        let clock = Clock::start();
        let train = Prepared::new(train)?.within(max_memory);
        let test = train.standardizer().apply(test)?;
        Ok(Fold { train, test, seed, cost: clock.cost() })
    }

    /// Tests methods one after the other; one that fails leaves the others as they are.
    pub(crate) fn test<'a>(
        &'a self,
        methods: &'a [Method],
        settings: &'a Settings,
        progress: &'a dyn Fn(Step),
    ) -> impl Iterator<Item = Result<Tested>> + 'a {
        let mut near = None;
        fit(methods, settings, &self.train, self.seed, progress)
            .map(move |fitted| self.ask(&fitted?, &mut near))
    }

    /// `near` is laid out for the first that needs it and kept for the next.
    fn ask<'a>(&'a self, fitted: &Fitted, near: &mut Option<Neighbourhood<'a>>) -> Result<Tested> {
        let clock = Clock::start();
        let near = match (fitted.ensemble.needs_neighbourhood(), &mut *near) {
            (false, _) => None,
            (true, Some(near)) => Some(&*near),
            (true, none) => Some(&*none.insert(Neighbourhood::of_prepared(&self.train)?)),
        };
        let answers = fitted.ensemble.decide(&fitted.ensemble.votes(&self.test, near)?);
        let losses = Losses::between(self.test.labels(), &answers, Undefined::Paper)?;
        Ok(Tested { answers, losses, train: self.cost + fitted.cost, predict: clock.cost() })
    }
}
