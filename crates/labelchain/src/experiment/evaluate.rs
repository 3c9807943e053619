//! Cross-validation: how wrong is a method on rows it has not seen?

use crate::cost::{Clock, Cost};
use crate::data::split::Folds;
use crate::data::{Bags, Dataset, LabelMatrix};
use crate::distance::Neighbourhood;
use crate::error::{Error, Result};
use crate::loss::{Losses, Undefined};
use crate::method::{Fitted, Fitting, Method, fit};
use crate::prepare::{BagReduction, Prepared};
use crate::progress::{Progress, RunOptions};
use crate::seed::Seed;
use crate::settings::Settings;

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

/// A cross-validation of methods on the same folds, rows, splits and feature selections.
///
/// ```
/// use labelchain::data::{LabelNetwork, split::folds};
/// use labelchain::experiment::CrossValidation;
/// use labelchain::loss::Criterion;
/// use labelchain::{Seed, Settings};
///
/// let seed = Seed::new(1);
/// let data = LabelNetwork { n_rows: 200, ..LabelNetwork::default() }.generate("network", seed)?;
/// let methods = ["ecc-nb".parse()?, "br-nb".parse()?];
/// let folds = folds(data.n_rows(), 5, seed)?;
/// let validation = CrossValidation::new(&methods, &folds, seed);
/// let evaluations = validation.run(&data)?;
/// let zero_one = |at: usize| evaluations[at].losses().get(Criterion::ZeroOne);
/// assert!(zero_one(0) < zero_one(1), "these labels depend on each other, so a chain pays");
/// # Ok::<(), labelchain::Error>(())
/// ```
pub struct CrossValidation<'a> {
    /// What is compared.
    pub methods: &'a [Method],
    /// What is set; each method takes what it uses.
    pub settings: Settings,
    /// Which rows are tested in which fold.
    pub folds: &'a Folds,
    /// What everything random is drawn by.
    pub seed: Seed,
    /// Memory, cancellation and progress; results do not depend on them.
    pub options: RunOptions<'a>,
}

impl<'a> CrossValidation<'a> {
    /// With the paper's settings.
    pub fn new(methods: &'a [Method], folds: &'a Folds, seed: Seed) -> CrossValidation<'a> {
        let (settings, options) = (Settings::default(), RunOptions::default());
        CrossValidation { methods, settings, folds, seed, options }
    }

    /// Tests every row of the data once.
    pub fn run(&self, data: &Dataset) -> Result<Vec<Evaluation>> {
        self.run_cut(data, |train, test, _| Ok((data.select(train), data.select(test))))
    }

    /// The same for bags of instances, which become single rows in each fold anew, by what its
    /// training rows alone say.
    pub fn run_bags(&self, bags: &Bags, reduction: BagReduction) -> Result<Vec<Evaluation>> {
        self.run_cut(bags.rows(), |train, test, seed| {
            let train = bags.select(train);
            let transform = reduction.fit(&train, seed)?;
            Ok((transform.apply(&train)?, transform.apply(&bags.select(test))?))
        })
    }

    /// `cut` makes the training and the test rows of a fold.
    fn run_cut(
        &self,
        data: &Dataset,
        cut: impl Fn(&[usize], &[usize], Seed) -> Result<(Dataset, Dataset)>,
    ) -> Result<Vec<Evaluation>> {
        Error::unless_same("rows that are cut into folds", data.n_rows(), self.folds.n_rows())?;
        if data.n_labels() == 0 {
            let reason = "there is nothing to learn".into();
            return Err(Error::NoLabels { path: data.name().into(), reason });
        }
        let mut evaluations: Vec<Evaluation> = self
            .methods
            .iter()
            .map(|&method| Evaluation {
                method,
                by_fold: Vec::new(),
                answers: LabelMatrix::empty(data.n_rows(), data.n_labels()),
                train: Cost::default(),
                predict: Cost::default(),
            })
            .collect();
        let n_folds = self.folds.n_folds();
        for at in 0..n_folds {
            let (seed, test_rows) = (self.seed.child("fold", at), self.folds.test_rows(at));
            let (train, test) = cut(&self.folds.train_rows(at), &test_rows, seed)?;
            let fold = Fold::new(train, test, seed, &self.options)?;
            let tested = fold.test(self.methods, &self.settings, self.options.progress);
            for (evaluation, tested) in evaluations.iter_mut().zip(tested) {
                let tested = tested?;
                evaluation.train += tested.train;
                evaluation.predict += tested.predict;
                evaluation.by_fold.push(tested.losses);
                for (at, &row) in test_rows.iter().enumerate() {
                    evaluation.answers.write_row(row, tested.answers.row(at));
                }
            }
            (self.options.progress)(Progress::Folds { done: at + 1, of: n_folds });
        }
        Ok(evaluations)
    }
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
    pub(crate) fn new(
        train: Dataset,
        test: Dataset,
        seed: Seed,
        options: &RunOptions,
    ) -> Result<Fold> {
        let clock = Clock::start();
        let RunOptions { max_memory, cancel, .. } = options;
        let train = Prepared::new(train)?.within(*max_memory).cancelled_by(cancel);
        let test = train.standardizer().apply(test)?;
        Ok(Fold { train, test, seed, cost: clock.cost() })
    }

    /// Tests methods one after the other; one that fails leaves the others as they are.
    pub(crate) fn test<'a>(
        &'a self,
        methods: &'a [Method],
        settings: &'a Settings,
        progress: &'a dyn Fn(Progress),
    ) -> impl Iterator<Item = Result<Tested>> + 'a {
        let mut train_rows = None;
        fit(methods, Fitting { settings, train: &self.train, seed: self.seed, progress })
            .map(move |fitted| self.ask(&fitted?, &mut train_rows))
    }

    /// `train_rows` are laid out for distances by the first method that needs them.
    fn ask<'a>(
        &'a self,
        fitted: &Fitted,
        train_rows: &mut Option<Neighbourhood<'a>>,
    ) -> Result<Tested> {
        let clock = Clock::start();
        if fitted.ensemble.needs_neighbourhood() && train_rows.is_none() {
            *train_rows = Some(Neighbourhood::of_prepared(&self.train)?);
        }
        let rows = train_rows.as_ref().filter(|_| fitted.ensemble.needs_neighbourhood());
        let votes = fitted.ensemble.votes(&self.test, rows, self.train.cancel())?;
        let answers = fitted.ensemble.decide(&votes);
        let losses = Losses::between(self.test.labels(), &answers, Undefined::Paper)?;
        Ok(Tested { answers, losses, train: self.cost + fitted.cost, predict: clock.cost() })
    }
}
