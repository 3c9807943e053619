//! Cross-validation: how wrong is a method on rows it has not seen?

use std::collections::HashMap;
use std::path::Path;

use crate::chain::OrderCounts;
use crate::cost::{Clock, Cost};
use crate::data::split::Folds;
use crate::data::{Bags, Dataset, LabelMatrix};
use crate::decide::{Aim, Share};
use crate::distance::Neighbourhood;
use crate::ensemble::{OutputOptions, Queries};
use crate::error::{Error, Result};
use crate::experiment::Baseline;
use crate::loss::{Calibration, LabelMeasures, Losses, Ranking, Undefined};
use crate::memory::Memory;
use crate::method::{Fitted, Fitting, Method, fit};
use crate::prepare::{BagReduction, Encoder, Prepared, TextSettings};
use crate::progress::{Progress, RunOptions};
use crate::seed::Seed;
use crate::settings::Settings;

/// What one method did in all folds.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The method as it was typed, or [`Baseline::NAME`].
    pub name: String,
    /// Losses in each fold.
    pub by_fold: Vec<Losses>,
    /// The answer for every row, from the fold in which it was tested.
    pub answers: LabelMatrix,
    /// The probability of each label of every row, row by row; none where they were not asked for, or the
    /// method gives none.
    pub probabilities: Option<Vec<f64>>,
    /// What fitting cost in all folds; what methods share is counted for each.
    pub train: Cost,
    /// What answering cost in all folds.
    pub predict: Cost,
    /// Losses that were estimated in each fold by training rows that members had not seen; empty where there
    /// were none, where probabilities were not asked for, or where the aim looks at label sets.
    pub out_of_bag: Vec<Losses>,
    /// How answers came about; none where it was not asked for. Of methods that differ in their aim alone,
    /// the first has it.
    pub details: Option<EvaluationDetails>,
}

/// How the answers of a method came about in all folds: what a report shows beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluationDetails {
    /// Where labels stood in the orders of all members and tested rows; none where the method does not
    /// choose an order for each row.
    pub orders: Option<OrderCounts>,
    /// The thresholds of aims: some that suit many uses, and those of the methods that were tested.
    pub thresholds: Vec<AimThresholds>,
    /// How much each column of the data set matters, mean over folds; none where the method does not say, or where folds have
    /// different numbers of inputs. Rows that are made of bags have inputs of their own, in each fold others.
    pub importance: Option<Vec<f64>>,
    /// What that is a share of, in words.
    pub importance_measure: &'static str,
    n_folds: usize,
}

/// From which probability on an aim gives each label.
#[derive(Clone, Debug, PartialEq)]
pub struct AimThresholds {
    /// The aim, which is one of thresholds.
    pub aim: Aim,
    /// For each fold, then for each label; none for a label that is never given.
    pub by_fold: Vec<Vec<Option<f64>>>,
}

impl EvaluationDetails {
    /// Adds what was found in the next fold. An aim that has no thresholds in one fold, because nothing was
    /// left to learn them from, has none at all.
    fn add(&mut self, fold: FoldDetails, is_first: bool) {
        match (&mut self.orders, fold.orders) {
            (Some(orders), Some(here)) => orders.merge(&here),
            (orders, here) => *orders = orders.take().or(here),
        }
        self.importance = match (self.importance.take(), fold.importance) {
            (None, here) if is_first => here,
            (Some(mut mean), Some(here)) if mean.len() == here.len() => {
                let n = self.n_folds as f64 + 1.0;
                mean.iter_mut().zip(here).for_each(|(mean, here)| *mean += (here - *mean) / n);
                Some(mean)
            }
            _ => None,
        };
        self.importance_measure = fold.importance_measure;
        self.n_folds += 1;
        for (aim, thresholds) in fold.thresholds {
            match self.thresholds.iter_mut().find(|of| of.aim == aim) {
                Some(of) => of.by_fold.push(thresholds),
                None if is_first => {
                    self.thresholds.push(AimThresholds { aim, by_fold: vec![thresholds] });
                }
                None => {}
            }
        }
    }
}

/// What all tested rows together say of one method, where losses are means over folds.
#[derive(Clone, Debug)]
pub struct PooledMeasures {
    /// How well each label is predicted, by label.
    pub by_label: Vec<LabelMeasures>,
    /// How well probabilities rank, and whether they have the right size; none without probabilities.
    pub of_probabilities: Option<(Ranking, Calibration)>,
}

impl Evaluation {
    /// Nothing is tested yet.
    fn new(name: String, n_rows: usize, n_labels: usize, has_probabilities: bool) -> Evaluation {
        Evaluation {
            name,
            by_fold: Vec::new(),
            answers: LabelMatrix::empty(n_rows, n_labels),
            probabilities: has_probabilities.then(|| vec![0.0; n_rows * n_labels]),
            train: Cost::default(),
            predict: Cost::default(),
            out_of_bag: Vec::new(),
            details: None,
        }
    }

    /// Adds what was found in the next fold, in which these rows were tested.
    fn add(&mut self, test_rows: &[usize], tested: Tested) {
        let n_labels = self.answers.n_labels();
        self.train += tested.train;
        self.predict += tested.predict;
        if let Some(details) = tested.details {
            let is_first = self.by_fold.is_empty();
            self.details.get_or_insert_default().add(details, is_first);
        }
        self.by_fold.push(tested.losses);
        self.out_of_bag.extend(tested.out_of_bag);
        for (at, &row) in test_rows.iter().enumerate() {
            self.answers.write_row(row, tested.answers.row(at));
        }
        // A method that gives none in one fold has none of all rows.
        let here = tested.probabilities.zip(self.probabilities.take());
        self.probabilities = here.map(|(of_fold, mut all)| {
            for (row, of_row) in test_rows.iter().zip(of_fold.chunks_exact(n_labels.max(1))) {
                all[row * n_labels..(row + 1) * n_labels].copy_from_slice(of_row);
            }
            all
        });
    }

    /// The probabilities of the rows that were tested in one of the folds, row by row.
    pub fn tested_probabilities(&self, folds: &Folds) -> Option<Vec<f64>> {
        let all = self.probabilities.as_ref()?;
        let n_labels = self.answers.n_labels();
        let tested = folds.fold_of().iter().enumerate().filter(|(_, fold)| fold.is_some());
        let of_row = |(row, _)| &all[row * n_labels..(row + 1) * n_labels];
        Some(tested.flat_map(of_row).copied().collect())
    }

    /// Measures of all rows that were tested in one of the folds, together.
    pub fn pooled(&self, truth: &LabelMatrix, folds: &Folds) -> Result<PooledMeasures> {
        let tested = folds.fold_of().iter().enumerate().filter(|(_, fold)| fold.is_some());
        let rows: Vec<usize> = tested.map(|(row, _)| row).collect();
        let (truth, answers) = (truth.select(&rows), self.answers.select(&rows));
        let probabilities = self.tested_probabilities(folds);
        let probabilities = probabilities.as_deref();
        let measure = |cells: &[f64]| {
            Ok::<_, Error>((Ranking::between(&truth, cells)?, Calibration::between(&truth, cells)?))
        };
        Ok(PooledMeasures {
            by_label: LabelMeasures::between(&truth, &answers, probabilities, Undefined::Paper)?,
            of_probabilities: probabilities.map(measure).transpose()?,
        })
    }

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
    /// Whether to keep probabilities, which have to be calibrated in each fold.
    pub probabilities: bool,
    /// Whether to keep how answers came about.
    pub details: bool,
    /// Memory, cancellation and progress; results do not depend on them.
    pub options: RunOptions<'a>,
}

impl<'a> CrossValidation<'a> {
    /// With the paper's settings.
    pub fn new(methods: &'a [Method], folds: &'a Folds, seed: Seed) -> CrossValidation<'a> {
        let (settings, options) = (Settings::default(), RunOptions::default());
        let (probabilities, details) = (false, false);
        CrossValidation { methods, settings, folds, seed, probabilities, details, options }
    }

    /// Tests every row of the data once.
    pub fn run(&self, data: &Dataset) -> Result<Vec<Evaluation>> {
        self.run_cut(data, |rows, _| Ok((data.select(rows.train), data.select(rows.test))))
    }

    /// The same for bags of instances, which become single rows in each fold anew, by what its
    /// training rows alone say.
    pub fn run_bags(&self, bags: &Bags, reduction: BagReduction) -> Result<Vec<Evaluation>> {
        self.run_cut(bags.rows(), |rows, seed| {
            let train = bags.select(rows.train);
            let transform = reduction.fit(&train, seed);
            let transform = transform.map_err(|error| rows.in_train(error))?;
            let train = transform.apply(&train).map_err(|error| rows.in_train(error))?;
            let test = transform.apply(&bags.select(rows.test));
            Ok((train, test.map_err(|error| rows.in_test(error))?))
        })
    }

    /// The least that a method has to beat, on the same folds of rows with these labels.
    pub fn baseline(&self, labels: &LabelMatrix) -> Result<Evaluation> {
        Error::unless_same("rows that are cut into folds", labels.n_rows(), self.folds.n_rows())?;
        let name = Baseline::NAME.to_string();
        let mut baseline = Evaluation::new(name, labels.n_rows(), labels.n_labels(), true);
        for at in 0..self.folds.n_folds() {
            let test_rows = self.folds.test_rows(at);
            let fitted = Baseline::fit(&labels.select(&self.folds.train_rows(at)))?;
            let answers = fitted.answers(test_rows.len());
            let truth = labels.select(&test_rows);
            let tested = Tested {
                losses: Losses::between(&truth, &answers, Undefined::Paper)?,
                answers,
                probabilities: Some(fitted.probabilities(test_rows.len())),
                train: Cost::default(),
                predict: Cost::default(),
                out_of_bag: None,
                details: None,
            };
            baseline.add(&test_rows, tested);
        }
        Ok(baseline)
    }

    /// How many bytes the answers about all rows take, and the probabilities, if they are kept: those of
    /// each method and of the baseline, and those of one that is measured. An error if there are not so
    /// many.
    fn reserve_answers(&self, data: &Dataset) -> Result<u64> {
        let (n_rows, n_labels) = (data.n_rows() as u64, data.n_labels() as u64);
        let a_row = n_labels.div_ceil(64) * 8 + if self.probabilities { n_labels * 8 } else { 0 };
        let bytes = (self.methods.len() as u64 + 2).saturating_mul(n_rows.saturating_mul(a_row));
        Memory::new(self.options.max_memory).reserve(data.name(), bytes, || {
            let probabilities = if self.probabilities { " and probabilities" } else { "" };
            let n_methods = self.methods.len();
            format!(
                "keeping the answers{probabilities} of {n_methods} methods for {n_rows} rows and \
                 {n_labels} labels"
            )
        })?;
        Ok(bytes)
    }

    /// `cut` makes the training and the test rows of a fold.
    fn run_cut(
        &self,
        data: &Dataset,
        cut: impl Fn(FoldRows, Seed) -> Result<(Dataset, Dataset)>,
    ) -> Result<Vec<Evaluation>> {
        Error::unless_same("rows that are cut into folds", data.n_rows(), self.folds.n_rows())?;
        if data.n_labels() == 0 {
            let reason = "there is nothing to learn".into();
            return Err(Error::NoLabels { path: data.name().into(), reason });
        }
        let (n_rows, n_labels) = (data.n_rows(), data.n_labels());
        let kept = self.reserve_answers(data)?;
        let start = |method: &Method| {
            Evaluation::new(method.to_string(), n_rows, n_labels, self.probabilities)
        };
        let mut evaluations: Vec<Evaluation> = self.methods.iter().map(start).collect();
        let n_folds = self.folds.n_folds();
        // What is kept of all folds is not there for any of them.
        let max_memory = self.options.max_memory - kept;
        let options = RunOptions { max_memory, ..self.options.clone() };
        for at in 0..n_folds {
            let test_rows = self.folds.test_rows(at);
            let rows =
                FoldRows { name: data.name(), train: &self.folds.train_rows(at), test: &test_rows };
            let seed = self.seed.child("fold", at);
            let fold = Fold::new(rows, seed, TextSettings::of(&self.settings), &options, &cut)?;
            let wanted = OutputOptions { probabilities: self.probabilities, details: self.details };
            let tested = fold.test(self.methods, &self.settings, wanted, options.progress);
            for (evaluation, tested) in evaluations.iter_mut().zip(tested) {
                evaluation.add(&test_rows, tested?);
            }
            (self.options.progress)(Progress::Folds { done: at + 1, of: n_folds });
        }
        Ok(evaluations)
    }
}

/// The rows of a data set that a fold trains on and tests.
#[derive(Clone, Copy)]
pub(crate) struct FoldRows<'a> {
    /// The data set.
    pub(crate) name: &'a str,
    pub(crate) train: &'a [usize],
    pub(crate) test: &'a [usize],
}

impl FoldRows<'_> {
    /// An error about a training row of the fold, as one about a row of the data set.
    fn in_train(self, error: Error) -> Error {
        error.in_whole(self.name, |row| self.train[row])
    }

    fn in_test(self, error: Error) -> Error {
        error.in_whole(self.name, |row| self.test[row])
    }
}

/// One fold, made ready for every method: the only way in which a method is tested.
pub(crate) struct Fold {
    train: Prepared,
    test: Dataset,
    encoder: Option<Encoder>,
    seed: Seed,
    cost: Cost,
}

/// What one method did in one fold.
pub(crate) struct Tested {
    /// For each row of the fold.
    pub(crate) answers: LabelMatrix,
    /// The same for the probability of each label; none where the method gives none.
    pub(crate) probabilities: Option<Vec<f64>>,
    pub(crate) losses: Losses,
    /// What fitting cost, with all that is shared with other methods.
    pub(crate) train: Cost,
    /// What answering cost.
    pub(crate) predict: Cost,
    /// The losses that were to be expected, by training rows that members had not seen.
    pub(crate) out_of_bag: Option<Losses>,
    /// How the answers came about, where it was asked for.
    pub(crate) details: Option<FoldDetails>,
}

/// How the answers of a method came about in one fold.
pub(crate) struct FoldDetails {
    orders: Option<OrderCounts>,
    /// Aims of thresholds, with the threshold of each label.
    thresholds: Vec<(Aim, Vec<Option<f64>>)>,
    importance: Option<Vec<f64>>,
    importance_measure: &'static str,
}

impl FoldDetails {
    /// `orders` are those of the ensemble, and `aims` those that it was asked for.
    fn of(
        fitted: &Fitted,
        orders: Option<OrderCounts>,
        aims: &[Aim],
        encoder: Option<&Encoder>,
    ) -> FoldDetails {
        let common = [Aim::Hamming, Aim::MacroF1, Aim::MicroF1].into_iter();
        let common = common.chain(Share::new(0.9).map(Aim::Precision));
        let mut thresholds: Vec<(Aim, Vec<Option<f64>>)> = Vec::new();
        for aim in common.chain(aims.iter().copied()) {
            let is_new = thresholds.iter().all(|(of, _)| *of != aim);
            thresholds
                .extend(fitted.ensemble.thresholds(aim).filter(|_| is_new).map(|of| (aim, of)));
        }
        let importance = fitted.ensemble.importance();
        let importance = match encoder {
            Some(encoder) => importance.map(|of| encoder.by_column(&of)),
            None => importance,
        };
        let importance_measure = fitted.ensemble.importance_measure();
        FoldDetails { orders, thresholds, importance, importance_measure }
    }
}

impl Fold {
    /// Prepares the training rows of a fold, and its own rows in the same way. `cut` makes both.
    pub(crate) fn new(
        rows: FoldRows,
        seed: Seed,
        texts: TextSettings,
        options: &RunOptions,
        cut: impl Fn(FoldRows, Seed) -> Result<(Dataset, Dataset)>,
    ) -> Result<Fold> {
        let (mut train, mut test) = cut(rows, seed)?;
        let clock = Clock::start();
        // The words of texts are those of the training rows.
        let memory = Memory::new(options.max_memory);
        let encoder = Encoder::fit(&train, texts, &memory)?;
        if let Some(encoder) = &encoder {
            for part in [&mut train, &mut test] {
                *part = encoder.apply(part, Path::new(rows.name))?.0;
            }
        }
        let RunOptions { max_memory, cancel, .. } = options;
        let train = Prepared::new(train).map_err(|error| rows.in_train(error))?;
        let train = train.within(*max_memory).cancelled_by(cancel);
        let test = train.standardizer().apply(test).map_err(|error| rows.in_test(error))?;
        Ok(Fold { train, test, encoder, seed, cost: clock.cost() })
    }

    /// Tests methods one after the other; one that fails leaves the others as they are. Methods that
    /// differ in their aim alone are fitted once, and their members are walked once.
    pub(crate) fn test<'a>(
        &'a self,
        methods: &'a [Method],
        settings: &'a Settings,
        wanted: OutputOptions,
        progress: &'a dyn Fn(Progress),
    ) -> impl Iterator<Item = Result<Tested>> + 'a {
        let mut train_rows = None;
        // The models end with the iterator, and so does what they reserved.
        let scope = self.train.memory().scope();
        let (train, calibrates) = (&self.train, wanted.probabilities);
        let mut fitted = fit(
            methods,
            Fitting { settings, train, seed: self.seed, calibrates, parts: &[], progress },
        );
        let mut waiting: HashMap<usize, Result<Tested>> = HashMap::new();
        let mut begun: Vec<Method> = Vec::new();
        methods.iter().enumerate().map(move |(at, method)| {
            let _scope = &scope;
            if let Some(tested) = waiting.remove(&at) {
                return tested;
            }
            // Its training failed, or did not come back, when the first of its aims was asked for.
            if begun.contains(&method.without_aim()) {
                return Err(Error::NotTrained { method: method.without_aim().to_string() });
            }
            begun.push(method.without_aim());
            let same = |of: &Method| of.without_aim() == method.without_aim();
            let places: Vec<usize> = (at..methods.len()).filter(|&at| same(&methods[at])).collect();
            let aims: Vec<Aim> = places.iter().map(|&at| methods[at].aim()).collect();
            let Some(fitted) = fitted.next() else { return Err(Error::Cancelled) };
            let fitted = fitted?;
            let mut ask = |aims: &[Aim]| self.ask(&fitted, aims, wanted, &mut train_rows);
            match ask(&aims) {
                Ok(tested) => waiting.extend(places.into_iter().zip(tested.into_iter().map(Ok))),
                // One of the aims may be refused: each for itself.
                Err(_) if aims.len() > 1 => {
                    for (place, aim) in places.into_iter().zip(aims) {
                        let tested = ask(&[aim]).map(|mut of_aim| of_aim.swap_remove(0));
                        waiting.insert(place, tested);
                    }
                }
                Err(error) => return Err(error),
            }
            waiting.remove(&at).unwrap_or(Err(Error::Cancelled))
        })
    }

    /// What an ensemble answers for each aim. `train_rows` are laid out for distances by the first method
    /// that needs them.
    fn ask<'a>(
        &'a self,
        fitted: &Fitted,
        aims: &[Aim],
        wanted: OutputOptions,
        train_rows: &mut Option<Neighbourhood<'a>>,
    ) -> Result<Vec<Tested>> {
        let clock = Clock::start();
        if fitted.ensemble.needs_neighbourhood() && train_rows.is_none() {
            *train_rows = Some(Neighbourhood::of_prepared(&self.train)?);
        }
        let rows = train_rows.as_ref().filter(|_| fitted.ensemble.needs_neighbourhood());
        let cancel = self.train.cancel();
        let queries = Queries { rows: &self.test, known: None, train: rows };
        let output = fitted.ensemble.answer(&queries, aims, wanted, cancel)?;
        let (train, predict) = (self.cost + fitted.cost, clock.cost());
        let mut details = wanted
            .details
            .then(|| FoldDetails::of(fitted, output.orders, aims, self.encoder.as_ref()));
        let tested = |(answers, aim): (LabelMatrix, &Aim)| {
            let truth = self.train.data().labels();
            let held_out = fitted.held_out.as_ref().filter(|_| wanted.probabilities);
            let estimate = |held_out| fitted.ensemble.held_out_losses(held_out, *aim, truth);
            let out_of_bag = held_out.map(estimate).transpose()?.flatten();
            let losses = Losses::between(self.test.labels(), &answers, Undefined::Paper)?;
            let probabilities = output.probabilities.clone().filter(|_| wanted.probabilities);
            let details = details.take();
            Ok(Tested { answers, probabilities, losses, train, predict, out_of_bag, details })
        };
        output.answers.into_iter().zip(aims).map(tested).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::split::folds;

    #[test]
    fn a_refused_cell_is_named_by_its_row_in_the_data_set() {
        for bad in [0, 7, 29] {
            let mut cells: Vec<f64> = (0..30).map(f64::from).collect();
            cells[bad] = 1e200;
            let labels: Vec<bool> = (0..30).map(|row| row % 2 == 0).collect();
            let data = Dataset::from_rows(1, &cells).unwrap();
            let data = data.with_label_indicators(&["even"], &labels).unwrap();
            let methods = ["br-nb".parse().unwrap()];
            for seed in 1..4 {
                let folds = folds(30, 3, Seed::new(seed)).unwrap();
                let validation = CrossValidation::new(&methods, &folds, Seed::new(seed));
                let error = validation.run(&data).unwrap_err().to_string();
                assert!(error.contains(&format!(", row {bad}, column \"x0\"")), "{error}");
            }
        }
    }

    /// The next method must not be taken for the other aims of one that cannot be trained.
    #[test]
    fn a_method_that_cannot_be_trained_takes_its_aims_with_it_and_no_other() {
        let cells: Vec<f64> = (0..120).map(|at| f64::from(at * 37 % 101)).collect();
        let label = |at: usize| (!at.is_multiple_of(7)).then_some(at.is_multiple_of(3));
        let labels: Vec<Option<bool>> = (0..120).map(label).collect();
        let data = Dataset::from_rows(2, &cells).unwrap();
        let data = data.with_partial_labels(&["a", "b"], &labels).unwrap();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..60).partition(|row| row % 5 > 0);
        let rows = FoldRows { name: "made", train: &train, test: &test };
        let cut = |rows: FoldRows, _| Ok((data.select(rows.train), data.select(rows.test)));
        let settings = Settings::default();
        let options = RunOptions::default();
        let fold = Fold::new(rows, Seed::new(1), TextSettings::default(), &options, cut).unwrap();
        let answers = |names: &[&str]| -> Vec<Option<LabelMatrix>> {
            let methods: Vec<Method> = names.iter().map(|name| name.parse().unwrap()).collect();
            let tested = fold.test(&methods, &settings, OutputOptions::default(), &|_| ());
            tested.map(|tested| tested.ok().map(|tested| tested.answers)).collect()
        };
        // Support vector machines do not learn from rows with unknown labels.
        let all = answers(&["br-svm", "br-svm@macro-f1", "br-nb", "br-nb@top=1"]);
        assert!(all[0].is_none() && all[1].is_none());
        assert_eq!(all[2..], answers(&["br-nb", "br-nb@top=1"])[..]);
        assert!(all[2].is_some() && all[2] != all[3]);
    }

    /// Groups of methods are tested one after the other in a fold, and each has all of the memory.
    #[test]
    fn the_memory_of_one_group_of_methods_is_free_for_the_next() {
        let cells: Vec<f64> = (0..400).map(|at| f64::from(at * 37 % 101)).collect();
        let labels: Vec<bool> = (0..400).map(|at| at * 13 % 7 > 3).collect();
        let data = Dataset::from_rows(4, &cells).unwrap();
        let data = data.with_label_indicators(&["a", "b", "c", "d"], &labels).unwrap();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..100).partition(|row| row % 5 > 0);
        let rows = FoldRows { name: "made", train: &train, test: &test };
        let methods = ["ecc-nb".parse().unwrap()];
        let fold = |max_memory| {
            let options = RunOptions { max_memory, ..RunOptions::default() };
            let cut = |rows: FoldRows, _| Ok((data.select(rows.train), data.select(rows.test)));
            Fold::new(rows, Seed::new(1), TextSettings::default(), &options, cut).unwrap()
        };
        let settings = Settings::default();
        let fits = |fold: &Fold| {
            fold.test(&methods, &settings, OutputOptions::default(), &|_| ())
                .all(|tested| tested.is_ok())
        };
        let least = (0..60).map(|at| (1000.0 * 1.3f64.powi(at)) as u64);
        let least = least.into_iter().find(|&limit| fits(&fold(limit))).unwrap();
        let fold = fold(least);
        assert!(fits(&fold) && fits(&fold) && fits(&fold));
    }
}
