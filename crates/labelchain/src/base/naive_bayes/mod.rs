//! Naive Bayes: log-odds from the inputs, conditioned by label co-occurrence.
//!
//! Naive Bayes takes inputs and other labels to be independent given a label j. Its log-odds
//! log P(Y_j = 1 | x, y) - log P(Y_j = 0 | x, y) are then a sum: the log prior odds, one term
//! log P(x_i | Y_j = 1) - log P(x_i | Y_j = 0) for each input (a [`Factor`]), and one term of the
//! same form for each label decided so far.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

mod base;
mod cells;
mod co_occurrence;
mod counted;
mod counts;
mod density;
mod factors;
mod kernels;
mod moments;
mod quadratics;
mod sums;

pub(super) use base::BASE;

use crate::chain::{
    Attribution, AttributionSum, BaseModel, BinaryLearner, BinaryModel, Block, CellsAndSquares,
    ChainLearner, ChainModel, Dimensions, Evidence, FurtherRows, Route, Score, Scoring, Wanted,
    scores_of_only_label, table_of_one_row,
};
use crate::data::{AttributeKind, Dataset, Dense, LabelId, Matrix};
use crate::decode::{DecodeBudget, decode};
use crate::error::{Error, Remedy, Result};
use crate::pieces::{PieceFile, PieceWriter, ReadBlocks};
use crate::prepare::views::SharedViews;
use crate::prepare::{LabelView, Preparation, Prepared, Spread, StoredValues, incomplete_columns};
use crate::product::vectorized;
use crate::seed::Seed;
use cells::{ColumnCells, StoredCells};
use co_occurrence::{CoOccurrence, Counts, PairCounts, add, decide_in_one_order};
use counted::{
    CountedInput, LabelRows, LogOddsTables, MixingHasher, Occurrences, TwoValues, Users,
};
use counts::ValueCounts;
use density::{Factor, Normal, Rounding, multiple, presence};
use factors::{Factors, InputFactors};
use moments::{MomentSums, Moments, RelevantLabels};
use quadratics::Quadratics;
use sums::Sums;

/// Naive Bayes with WEKA's estimators (docs/methods.md, 1 and 8.1).
///
/// | field | default | meaning |
/// |---|---|---|
/// | `preparation` | the paper's | rows and features of each label |
/// | `likelihood` | auto | how numeric cells are weighed |
/// | `updatable` | false | whether the model keeps what it takes to learn from further rows |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaiveBayes {
    /// Rows and features of each label.
    pub preparation: Preparation,
    /// How numeric cells are weighed.
    pub likelihood: Likelihood,
    /// Whether the model keeps what it takes to learn from further rows.
    pub updatable: bool,
}

/// How numeric cells are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Likelihood {
    /// Densities where the precision is at most a tenth of both deviations, interval masses in
    /// coarser columns.
    #[default]
    Auto,
    /// Plain normal densities.
    Gaussian,
    /// The mass of the rounding interval, as WEKA.
    Weka,
    /// The share of the bin that the cell falls into, as WEKA under supervised discretization.
    Discretized,
    /// The mean of a normal distribution around each training cell, as WEKA's kernel estimator.
    Kernel,
}

impl Likelihood {
    /// Two normal densities of cells with these moments, where cells are weighed so.
    fn density(
        self,
        classes: impl FnOnce() -> (Moments, Moments),
        precision: f64,
        zero: f64,
    ) -> Option<Factor> {
        match self {
            Likelihood::Weka | Likelihood::Discretized | Likelihood::Kernel => None,
            Likelihood::Auto | Likelihood::Gaussian => {
                let normals = normals(classes(), precision, zero);
                let [irrelevant, relevant] = normals;
                let is_density = self == Likelihood::Gaussian || is_fine(&normals, precision);
                is_density.then_some(Factor::Density { irrelevant, relevant })
            }
        }
    }
}

/// What each label knows about the inputs and about the other labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayesModel {
    n_labels: usize,
    /// As [`SharedViews`] in a file.
    #[serde(skip)]
    views: Vec<LabelView>,
    /// log prior odds of each label.
    prior: Vec<f64>,
    /// For each input, the labels that use it and its term in their log-odds.
    factors: Factors,
    /// The log-odds of each label for a row that stores no cell; the start for sparse rows.
    baseline: Vec<f64>,
    /// What decided labels add to the log-odds of the others.
    co_occurrence: CoOccurrence,
    /// What all of this was made from, where further rows may be added.
    sums: Option<Sums>,
}

impl ChainLearner for NaiveBayes {
    type Model = NaiveBayesModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<NaiveBayesModel> {
        self.fit_labels(train, rows, seed, true)
    }

    fn fit_independent(
        &self,
        train: &Prepared,
        rows: &[usize],
        seed: Seed,
    ) -> Result<NaiveBayesModel> {
        self.fit_labels(train, rows, seed, false)
    }
}

impl NaiveBayes {
    /// Refuses to promise that further rows can be learned from where there are no sums to add them to: bins are
    /// cut, and kernels placed, by all cells together, and where labels are unknown, pairs of them are counted row
    /// by row and not kept.
    fn check_updatable(&self, data: &Dataset) -> Result<()> {
        let has_sums = !matches!(self.likelihood, Likelihood::Discretized | Likelihood::Kernel);
        if !self.updatable || has_sums && data.labels().n_unknown() == 0 {
            return Ok(());
        }
        Err(Error::Value {
            name: "updatable".into(),
            value: "true".into(),
            accepted:
                "false where likelihood is discretized or kernel, or where labels are unknown"
                    .into(),
        })
    }

    /// Learns from the inputs and, where labels are chained, from the other labels.
    fn fit_labels(
        &self,
        train: &Prepared,
        rows: &[usize],
        seed: Seed,
        is_chained: bool,
    ) -> Result<NaiveBayesModel> {
        self.check_updatable(train.data())?;
        let n_labels = train.data().n_labels();
        let views = train.views(&self.preparation, rows, seed)?;
        let groups = groups(&views, rows);
        let mut counts = vec![[0.0; 2]; n_labels];
        for group in &groups {
            let n_relevant = train.data().labels().counts_in(group.rows.iter().copied());
            for label in &group.labels {
                let yes = n_relevant[label.0];
                counts[label.0] = [(group.rows.len() - yes) as f64, yes as f64];
            }
        }
        let prior = prior(&counts);
        let label_rows = LabelRows {
            by_class: whole_numbers(&counts),
            is_whole: views.iter().map(|view| view.rows.len() == rows.len()).collect(),
        };
        let mut inputs = self.fit_counted(train, &groups, &views)?;
        let is_counted: Vec<bool> = inputs.iter().map(Option::is_some).collect();
        let mut factors = vec![Vec::new(); train.data().n_features()];
        // A label that is known in none of the rows learns nothing.
        for group in groups.iter().filter(|group| !group.rows.is_empty()) {
            train.cancel().check()?;
            self.fit_group(train, group, &views, &is_counted, &mut factors)?;
        }
        // In label order, so that sums do not depend on how labels were grouped.
        factors.iter_mut().for_each(|of: &mut Vec<(LabelId, Factor)>| of.sort_by_key(|it| it.0));
        let inputs = inputs.iter_mut().zip(factors).map(|(counted, others)| match counted.take() {
            Some(input) => InputFactors::Counted(input),
            None => InputFactors::new(others),
        });
        let zero = train.shared_zero();
        let factors = Factors::new(inputs.collect(), zero, self.likelihood, label_rows);
        let baseline = factors.baseline(&prior);
        let (data, memory) = (train.data(), train.memory());
        let what = || format!("what {n_labels} labels tell about each other");
        let mut pairs = None;
        let co_occurrence = if is_chained && data.labels().n_unknown() > 0 {
            memory.reserve(data.name(), CoOccurrence::partial_bytes(data.labels()), what)?;
            CoOccurrence::of_partial(data.labels(), &views)
        } else if is_chained {
            // Members that are fitted at the same time count at the same time.
            let n_bytes =
                rayon::current_num_threads() as u64 * Counts::most_bytes(data.labels(), &groups);
            memory.fork().reserve(data.name(), n_bytes, what)?;
            let counts = Counts::new(&counts, PairCounts::of(data.labels(), &groups));
            memory.reserve(data.name(), counts.bytes(), what)?;
            let table = counts.table();
            pairs = self.updatable.then(|| counts.into_pairs());
            table
        } else {
            CoOccurrence::Independent
        };
        let mut model = NaiveBayesModel {
            n_labels,
            views,
            prior,
            factors,
            baseline,
            co_occurrence,
            sums: None,
        };
        if self.updatable {
            model.sums = Sums::of(&model, train, rows, counts, pairs);
        }
        Ok(model)
    }
}

/// log prior odds of labels with so many irrelevant and relevant rows, each with one more.
fn prior(classes: &[[f64; 2]]) -> Vec<f64> {
    classes.iter().map(|[no, yes]| (yes + 1.0).ln() - (no + 1.0).ln()).collect()
}

/// Counts of rows, which are whole.
fn whole_numbers(classes: &[[f64; 2]]) -> Vec<[u32; 2]> {
    classes.iter().map(|counts| counts.map(|n| n as u32)).collect()
}

/// Labels that learn from the same rows.
struct Group<'v> {
    rows: &'v [usize],
    labels: Vec<LabelId>,
}

/// Labels that were not undersampled learn from all the rows and form one group, whose counts are
/// made in one pass; each undersampled label is a group of its own.
fn groups<'v>(views: &'v [LabelView], rows: &'v [usize]) -> Vec<Group<'v>> {
    let is_whole = |view: &LabelView| view.rows.len() == rows.len();
    let whole = (0..views.len()).filter(|&at| is_whole(&views[at])).map(LabelId).collect();
    let mut groups = vec![Group { rows, labels: whole }];
    for (at, view) in views.iter().enumerate().filter(|(_, view)| !is_whole(view)) {
        groups.push(Group { rows: &view.rows, labels: vec![LabelId(at)] });
    }
    groups
}

impl NaiveBayes {
    /// Learns the factors of labels that share their rows, column by column.
    fn fit_group(
        &self,
        train: &Prepared,
        group: &Group,
        views: &[LabelView],
        is_counted: &[bool],
        by_input: &mut [Vec<(LabelId, Factor)>],
    ) -> Result<()> {
        let n = group.labels.len();
        if n == 0 || is_counted.iter().all(|&is| is) {
            return Ok(());
        }
        let labels = train.data().labels();
        let mut index_in_group = vec![usize::MAX; views.len()];
        group.labels.iter().enumerate().for_each(|(at, label)| index_in_group[label.0] = at);
        let mut relevant = RelevantLabels::new(n);
        for &row in group.rows {
            let indices = labels.relevant(row).map(|label| index_in_group[label.0]);
            relevant.push_row(indices.filter(|&at| at < n));
        }
        let kind = |column: usize| &train.data().attributes()[column].kind;
        let is_binned = |column: usize| {
            self.likelihood == Likelihood::Discretized
                && matches!(kind(column), AttributeKind::Numeric)
        };
        // For each input, the labels of the group that use it, by their index in the group; none of those that are
        // counted or cut into bins.
        let has_users = |column: &&usize| !is_counted[**column] && !is_binned(**column);
        let mut n_users = vec![0; train.data().n_features()];
        for label in &group.labels {
            let columns = views[label.0].features.iter().filter(has_users);
            columns.for_each(|&column| n_users[column] += 1);
        }
        let mut users: Vec<Vec<usize>> = n_users.into_iter().map(Vec::with_capacity).collect();
        for (at, &label) in group.labels.iter().enumerate() {
            let discretizes = self.likelihood == Likelihood::Discretized;
            let bins = discretizes.then(|| train.bins(group.rows, label));
            for &column in views[label.0].features.iter().filter(|&&column| !is_counted[column]) {
                match &bins {
                    Some(bins) if is_binned(column) => {
                        let factor = Factor::binned(bins(column));
                        by_input[column].extend(factor.map(|factor| (label, factor)));
                    }
                    _ => users[column].push(at),
                }
            }
        }
        let used: Vec<usize> = (0..users.len()).filter(|&at| !users[at].is_empty()).collect();
        let sums = match self.likelihood {
            Likelihood::Weka | Likelihood::Discretized | Likelihood::Kernel => None,
            _ => MomentSums::new(train, group.rows, &used, &relevant, n),
        };
        let features = train.data().features();
        let stored = StoredCells::new(features, group.rows, &used, train.zero());
        // The normal distributions of each numeric input for each label that uses it, input by input, and the
        // precision of each input as far as it is known without sorting its cells.
        let mut estimates: Vec<[Normal; 2]> = Vec::new();
        let mut precisions = Vec::new();
        if let (Some(sums), Matrix::Dense(dense)) = (&sums, features) {
            let mut enough = Vec::with_capacity(used.len());
            for (at, &column) in used.iter().enumerate() {
                let before = estimates.len();
                if matches!(kind(column), AttributeKind::Numeric) {
                    let estimate = |&label: &usize| normals(sums.classes(at, label), 0.0, 0.0);
                    estimates.extend(users[column].iter().map(estimate));
                }
                let narrowest =
                    estimates[before..].iter().map(narrower).fold(f64::INFINITY, f64::min);
                enough.push(FINE * narrowest);
            }
            let rows: Vec<&[f64]> = group.rows.iter().map(|&row| dense.row(row)).collect();
            precisions = sums.precision_bounds(&rows, &used, train.repeats(), &enough);
        }
        let mut estimates = estimates.into_iter();
        let mut room = Vec::new();
        for (at, &column) in used.iter().enumerate() {
            let mut factors: Vec<(usize, Factor)> = Vec::with_capacity(users[column].len());
            // The labels whose factor for this input has not been found yet.
            let mut pending = std::mem::take(&mut users[column]);
            let kind = kind(column);
            if matches!(kind, AttributeKind::Numeric) && sums.is_some() {
                pending.retain(|&label| match estimates.next() {
                    Some([irrelevant, relevant])
                        if is_fine(&[irrelevant, relevant], precisions[at]) =>
                    {
                        factors.push((label, Factor::Density { irrelevant, relevant }));
                        false
                    }
                    _ => true,
                });
            }
            if !pending.is_empty() {
                let cells = stored.column(at, &mut room);
                factors.extend(match kind {
                    AttributeKind::Nominal(values) => {
                        let index = |cell| cell as usize;
                        let counts = ValueCounts::of(&cells, &relevant, values.len(), index);
                        counts.factors(&pending, Factor::category)
                    }
                    AttributeKind::Numeric if self.likelihood == Likelihood::Kernel => {
                        let (precision, _) = precision(cells.spread());
                        kernels(&cells, &relevant, &pending, precision)
                    }
                    AttributeKind::Word => {
                        // How often a text has a word says little beyond that it has it.
                        let counts = ValueCounts::of(&cells, &relevant, 2, presence);
                        counts.factors(&pending, Factor::presence)
                    }
                    _ => {
                        let precision = precision(cells.spread());
                        self.normals(&cells, &relevant, &pending, precision)
                    }
                });
            }
            // Where all features are used, kernels were estimated before. Where they are selected, nobody
            // knew how many there would be.
            if self.preparation.selection.is_some() {
                let n_bytes = factors.iter().map(|(_, factor)| factor.kernel_bytes()).sum();
                let what = || "kernels around the cells of selected features".into();
                train.memory().reserve(train.data().name(), n_bytes, what)?;
            }
            by_input[column]
                .extend(factors.into_iter().map(|(at, factor)| (group.labels[at], factor)));
        }
        Ok(())
    }

    /// The inputs whose factors follow from counts, by input; none for the others.
    fn fit_counted(
        &self,
        train: &Prepared,
        groups: &[Group],
        views: &[LabelView],
    ) -> Result<Vec<Option<CountedInput>>> {
        let n_features = train.data().n_features();
        let values: Vec<Option<TwoValues>> =
            (0..n_features).map(|column| self.two_values(train, column)).collect();
        let columns: Vec<usize> = (0..n_features).filter(|&at| values[at].is_some()).collect();
        if columns.is_empty() {
            return Ok((0..n_features).map(|_| None).collect());
        }
        let mut occurrences = Occurrences::new(train.data(), &values);
        if let Some((whole, thinned)) = groups.split_first() {
            occurrences.count_whole(whole, &columns);
            for group in thinned {
                train.cancel().check()?;
                occurrences.count_thinned(group);
            }
        }
        let occurrences = occurrences.by_input();
        let uses_all =
            |view: &LabelView| view.features.len() == n_features && !view.rows.is_empty();
        let all_use_all = views.iter().all(uses_all);
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); n_features];
        for (label, view) in
            (0..).zip(views).filter(|(_, view)| !all_use_all && !view.rows.is_empty())
        {
            view.features.iter().for_each(|&column| users[column].push(label));
        }
        let input = |(column, values): (usize, Option<TwoValues>)| {
            let users = if all_use_all {
                Users::All(views.len() as u32)
            } else {
                Users::Some(std::mem::take(&mut users[column]).into())
            };
            Some(occurrences.input(column, values?, users))
        };
        Ok(values.iter().copied().enumerate().map(input).collect())
    }

    /// The two values of an input whose factors follow from counts: where no cell is missing, and no further
    /// rows with other values may come.
    fn two_values(&self, train: &Prepared, column: usize) -> Option<TwoValues> {
        let cells = train.stored_values(column);
        if self.updatable || cells == StoredValues::SomeMissing {
            return None;
        }
        match &train.data().attributes()[column].kind {
            AttributeKind::Nominal(values) if values.len() == 2 => Some(TwoValues::Names),
            AttributeKind::Word => Some(TwoValues::Word),
            AttributeKind::Numeric => match (self.likelihood, cells) {
                (Likelihood::Discretized | Likelihood::Kernel, _) => None,
                (_, StoredValues::One(other)) => Some(TwoValues::Numbers { other }),
                _ => None,
            },
            _ => None,
        }
    }

    /// The factors of some labels of a group for one numeric input, from normal distributions.
    fn normals(
        &self,
        cells: &ColumnCells,
        relevant: &RelevantLabels,
        labels: &[usize],
        (precision, range): (f64, (f64, f64)),
    ) -> Vec<(usize, Factor)> {
        let plain = LazyCell::new(|| relevant.moments(cells, |cell| cell));
        // Few columns need the moments of their rounded cells; they are computed for the first
        // label that does.
        let rounding = Rounding::new(precision, cells.zero);
        let rounded = LazyCell::new(|| relevant.moments(cells, |cell| rounding.rounded(cell)));
        let classes = |(by_label, all): &(Vec<Moments>, Moments), at: usize| {
            (all.minus(&by_label[at]), by_label[at])
        };
        let factor = |&at: &usize| {
            let (plain, rounded) = (|| classes(&plain, at), || classes(&rounded, at));
            (at, numeric_factor(self.likelihood, plain, rounded, &rounding, range))
        };
        labels.iter().map(factor).collect()
    }
}

/// The factor of one label for a numeric input, from the moments of its irrelevant and relevant cells as they
/// are, and rounded to the precision of the column.
fn numeric_factor(
    likelihood: Likelihood,
    plain: impl Fn() -> (Moments, Moments),
    rounded: impl Fn() -> (Moments, Moments),
    rounding: &Rounding,
    range: (f64, f64),
) -> Factor {
    let (precision, zero) = (rounding.precision, rounding.plain_zero);
    let density = likelihood.density(plain, precision, zero);
    density.unwrap_or_else(|| {
        let [no, yes] = normals(rounded(), precision, rounding.zero());
        Factor::mass(no, yes, precision, range)
    })
}

/// The normal distributions of the irrelevant and the relevant cells, whose moments lack `zero`.
fn normals((no, yes): (Moments, Moments), precision: f64, zero: f64) -> [Normal; 2] {
    [no, yes].map(|moments| Normal::estimate(&moments, precision, zero))
}

/// Two normal densities, of the irrelevant and the relevant cells.
fn density(classes: (Moments, Moments), precision: f64, zero: f64) -> Factor {
    let [irrelevant, relevant] = normals(classes, precision, zero);
    Factor::Density { irrelevant, relevant }
}

/// A precision is fine if it is at most this part of the deviations.
const FINE: f64 = 0.1;

/// The deviation of the narrower of two normal distributions.
fn narrower([irrelevant, relevant]: &[Normal; 2]) -> f64 {
    irrelevant.deviation.min(relevant.deviation)
}

/// Whether a precision is fine enough for densities of these distributions instead of interval masses.
///
/// An upper bound on the precision is enough: the precision enters a density only as the least
/// deviation, precision / 6, and where the bound is fine the deviations are greater than that.
fn is_fine(normals: &[Normal; 2], precision: f64) -> bool {
    precision.is_finite() && precision <= FINE * narrower(normals)
}

/// The precision of a column, which is the mean gap between neighbouring distinct values or 0.01
/// where there is only one value; and the range of the column.
fn precision(spread: Spread) -> (f64, (f64, f64)) {
    let precision = match spread.n_gaps {
        0 => 0.01,
        n => spread.gaps / n as f64,
    };
    (precision, (spread.least, spread.greatest))
}

/// Kernel densities of the cells rounded to the precision, which for WEKA's kernels is at least
/// 1e-6.
fn kernels(
    cells: &ColumnCells,
    relevant: &RelevantLabels,
    labels: &[usize],
    precision: f64,
) -> Vec<(usize, Factor)> {
    let precision = precision.max(1e-6);
    let multiple = |cell: f64| multiple(cell + cells.zero, precision);
    let stored = cells.stored().map(|(_, cell)| multiple(cell));
    let multiples = stored.chain(cells.has_left_out().then(|| multiple(0.0)));
    let (first, last) = multiples
        .filter(|multiple| !multiple.is_nan())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let n_steps = (last - first).max(0.0) as usize + 1;
    let counts =
        ValueCounts::of(cells, relevant, n_steps, |cell| (multiple(cell) - first) as usize);
    counts.factors(labels, |no, yes| Factor::kernels(first, precision, no, yes))
}

/// The log-odds of every label of every row, from prior and inputs.
pub struct LogOdds {
    n_labels: usize,
    by_row: Vec<f64>,
    /// What decided labels add, written out for the walks of many rows once the first of them asks for it.
    dense_terms: OnceLock<CoOccurrence>,
}

impl LogOdds {
    fn new(n_labels: usize, by_row: Vec<f64>) -> LogOdds {
        LogOdds { n_labels, by_row, dense_terms: OnceLock::new() }
    }

    fn n_rows(&self) -> usize {
        self.by_row.len() / self.n_labels.max(1)
    }
}

impl BaseModel for NaiveBayesModel {
    fn n_labels(&self) -> usize {
        self.n_labels
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Dimensions { n_labels, n_features, .. } = *dimensions;
        let lengths = [self.n_labels, self.views.len(), self.prior.len(), self.baseline.len()];
        lengths == [n_labels; 4]
            && self.factors.fit(&self.views, n_features)
            && self.co_occurrence.fits(n_labels)
    }

    /// A sparse row needs the factors of the inputs that it stores, and a dense one those of all.
    fn load(&self, wanted: Wanted, blocks: &ReadBlocks) -> Result<()> {
        /// More rows need most inputs.
        const FEW_ROWS: usize = 64;
        match wanted {
            Wanted::Scores(Block { features: features @ Matrix::Sparse(_), rows, .. })
                if rows.len() <= FEW_ROWS =>
            {
                let inputs = rows.iter().flat_map(|&row| features.entries(row));
                self.factors.load(inputs.map(|(input, _)| input), blocks)
            }
            _ => self.factors.load_all(blocks),
        }
    }

    /// The log-odds of a label are the sum of its prior's and of one term for each input.
    fn attributions(&self, block: &Block) -> Vec<Attribution> {
        block.rows.iter().map(|&row| self.attribution(block.features, row)).collect()
    }
}

impl ChainModel for NaiveBayesModel {
    /// Naive Bayes takes inputs to be independent given a label, so parts of them may be fitted apart.
    fn concat_columns(mut self, other: NaiveBayesModel) -> Option<NaiveBayesModel> {
        let n_before = self.n_features();
        for (view, more) in self.views.iter_mut().zip(other.views) {
            let more = more.features.iter().map(|column| n_before + column);
            view.features = view.features.iter().copied().chain(more).collect();
        }
        self.factors = self.factors.concat_columns(other.factors)?;
        self.baseline = self.factors.baseline(&self.prior);
        self.sums = self.sums.zip(other.sums).map(|(sums, more)| sums.concat_columns(more));
        Some(self)
    }

    fn to_stored(&self, pieces: &mut PieceWriter) -> postcard::Result<Vec<u8>> {
        let views = SharedViews::new(&self.views, pieces);
        postcard::to_stdvec(&(self.factors.write(pieces)?, views, self))
    }

    fn updated(&self, further: &FurtherRows) -> Result<NaiveBayesModel> {
        self.with_rows(further).ok_or_else(|| Error::CannotUpdate {
            problem: "the model keeps no counts and sums to which rows could be added".into(),
            remedy: Remedy::from("train it with ").setting(base::UPDATABLE.name).text(
                ", with all labels known, and with numeric cells weighed by normal distributions, \
                 not by bins or kernels",
            ),
        })
    }
}

impl Scoring for NaiveBayesModel {
    type Scores = LogOdds;
    type Evidence<'m> = Conditioned<'m>;

    fn score(&self, block: &Block) -> LogOdds {
        match block.features {
            Matrix::Dense(dense) => self.score_dense(block, dense),
            Matrix::Sparse(_) => self.score_sparse(block),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m LogOdds, row: usize) -> Conditioned<'m> {
        /// Writing out the terms of all pairs of labels takes about as long as walking so many rows.
        const FEW_ROWS: usize = 4;
        let n = scores.n_labels;
        let log_odds = scores.by_row[row * n..(row + 1) * n].to_vec();
        let is_expanded = scores.n_rows() > FEW_ROWS && self.co_occurrence.is_worth_expanding(n);
        let dense_terms = is_expanded.then_some(&scores.dense_terms);
        Conditioned { co_occurrence: &self.co_occurrence, dense_terms, log_odds }
    }

    /// Rows that share an order are decided label by label, many rows at a time; others one by one, but without what
    /// starting a walk takes.
    fn decide_rows<'m>(&'m self, scores: &'m LogOdds, route: &Route) -> Option<Cow<'m, [f64]>> {
        let n_labels = scores.n_labels;
        let terms = match route {
            Route::Independent => return Some(Cow::Borrowed(&scores.by_row)),
            Route::ByCertainty => return None,
            _ if self.co_occurrence.is_worth_expanding(n_labels) => {
                scores.dense_terms.get_or_init(|| self.co_occurrence.to_dense(n_labels))
            }
            _ => &self.co_occurrence,
        };
        let mut log_odds = scores.by_row.clone();
        if let (Route::Fixed(order), CoOccurrence::Dense(table)) = (route, terms) {
            decide_in_one_order(table, order, &mut log_odds);
        } else {
            let mut conditioned = Vec::with_capacity(n_labels);
            for (row, log_odds) in log_odds.chunks_mut(n_labels.max(1)).enumerate() {
                conditioned.clear();
                conditioned.extend_from_slice(log_odds);
                for label in route.order(row)?.iter() {
                    let score = Score::LogOdds(conditioned[label.0]);
                    log_odds[label.0] = score.value();
                    terms.observe(label, score.is_relevant(), &mut conditioned);
                }
            }
        }
        Some(Cow::Owned(log_odds))
    }
}

impl NaiveBayesModel {
    /// The terms of one row.
    fn attribution(&self, features: &Matrix, row: usize) -> Attribution {
        let (mut sum, mut log_odds) = (AttributionSum::default(), Vec::new());
        sum.add_base_values("log-odds", &self.prior);
        let mut tables = self.factors.tables();
        for (column, factors) in self.factors.inputs().enumerate() {
            let cell = match features {
                Matrix::Dense(dense) => dense.row(row)[column],
                Matrix::Sparse(_) => features.get(row, column) + self.factors.zero()[column],
            };
            if !cell.is_nan() {
                self.factors.log_odds(column, cell, &mut tables, &mut log_odds);
                for (label, &log_odds) in factors.labels().zip(&log_odds) {
                    sum.add_contribution(column, label, log_odds);
                }
            }
        }
        sum.mean(1)
    }

    /// The model as [`ChainModel::to_stored`] wrote it; none if it is damaged or becomes too much.
    fn stored(
        bytes: &[u8],
        budget: &DecodeBudget,
        file: &Arc<PieceFile>,
    ) -> Option<NaiveBayesModel> {
        let (places, views, model): (_, SharedViews, NaiveBayesModel) = decode(bytes, budget)?;
        let (views, factors) = (views.views(file)?, model.factors.in_file(places, file, budget)?);
        Some(NaiveBayesModel { views, factors, ..model })
    }

    /// How many inputs.
    fn n_features(&self) -> usize {
        self.factors.n_inputs()
    }

    /// Normal densities are a matrix product of cells and their squares with [`Quadratics`]. Other factors, and columns
    /// with a missing cell, are added cell by cell.
    fn score_dense(&self, block: &Block, dense: &Dense) -> LogOdds {
        let shared = block
            .squares
            .map(|squares| squares.get_or_init(|| CellsAndSquares::of(dense, block.rows)))
            .filter(|squares| !squares.any_missing);
        let incomplete = match shared {
            Some(_) => vec![],
            None => {
                let n_columns = block.features.n_columns();
                incomplete_columns(dense, n_columns, block.rows.iter().copied())
            }
        };
        let by_row = if incomplete.contains(&true) {
            let quadratics = Quadratics::new(&self.factors, &self.prior, &incomplete);
            quadratics.score(&self.factors, block, dense, None)
        } else {
            self.factors.quadratics(&self.prior).score(&self.factors, block, dense, shared)
        };
        LogOdds::new(self.n_labels, by_row)
    }

    /// Starts from the log-odds of a row without stored cells, to which every stored cell adds the
    /// difference of its factor to that of the value it replaces, in ascending columns.
    fn score_sparse(&self, block: &Block) -> LogOdds {
        let mut by_row = self.baseline.repeat(block.n_rows());
        let mut differences = Differences::new(&self.factors);
        for (sums, &row) in by_row.chunks_mut(self.n_labels.max(1)).zip(block.rows) {
            for (column, cell) in block.features.entries(row) {
                differences.add(column, cell, sums);
            }
            differences.add_waiting(sums);
        }
        LogOdds::new(self.n_labels, by_row)
    }
}

/// What a stored cell adds to the log-odds of each label that uses its input, beyond a cell that is left out.
/// They are computed once for each value of an input.
struct Differences<'m> {
    factors: &'m Factors,
    tables: LogOddsTables<'m>,
    /// Where the differences of a column and value are in the list of all.
    places: HashMap<(usize, u64), Range<usize>, BuildHasherDefault<MixingHasher>>,
    all: Vec<f64>,
    at_zero: Vec<f64>,
    at_cell: Vec<f64>,
    /// Those of all labels that are still to be added, in their order.
    waiting: Vec<&'m [f64]>,
}

impl<'m> Differences<'m> {
    fn new(factors: &'m Factors) -> Differences<'m> {
        Differences {
            factors,
            tables: factors.tables(),
            places: HashMap::default(),
            all: vec![],
            at_zero: vec![],
            at_cell: vec![],
            waiting: vec![],
        }
    }

    /// Adds the differences of a cell to the sums of all labels, or lets them wait for others.
    fn add(&mut self, column: usize, cell: f64, sums: &mut [f64]) {
        let factors = self.factors;
        let input = factors.input(column);
        if let InputFactors::Counted(counted) = input
            && counted.is_second(cell)
            && counted.users().len() == sums.len()
        {
            self.waiting.push(counted.differences(factors.zero()[column], &mut self.tables));
        } else {
            self.add_waiting(sums);
            add_to_labels(sums, input, self.of(column, cell));
        }
    }

    /// Adds what waits. Of four cells at a time, so that each sum is loaded and stored once for all of them; the order
    /// of additions to it is the same.
    fn add_waiting(&mut self, sums: &mut [f64]) {
        let n = sums.len();
        vectorized(
            #[inline(always)]
            || {
                let (fours, others) = self.waiting.as_chunks::<4>();
                for four in fours {
                    let [a, b, c, d] = four.map(|terms| &terms[..n]);
                    for (at, sum) in sums.iter_mut().enumerate() {
                        *sum = *sum + a[at] + b[at] + c[at] + d[at];
                    }
                }
                for terms in others {
                    sums.iter_mut().zip(*terms).for_each(|(sum, term)| *sum += term);
                }
            },
        );
        self.waiting.clear();
    }

    fn of(&mut self, column: usize, cell: f64) -> &[f64] {
        /// Beyond so many numbers, it is cheaper to compute some again than to keep all.
        const MOST_KEPT: usize = 1 << 20;
        if let Some(place) = self.places.get(&(column, cell.to_bits())) {
            return &self.all[place.clone()];
        }
        if self.all.len() > MOST_KEPT {
            self.places.clear();
            self.all.clear();
        }
        let zero = self.factors.zero()[column];
        self.factors.log_odds(column, zero, &mut self.tables, &mut self.at_zero);
        if cell.is_nan() {
            self.at_cell.clear();
            self.at_cell.resize(self.at_zero.len(), 0.0);
        } else {
            self.factors.log_odds(column, cell + zero, &mut self.tables, &mut self.at_cell);
        }
        let start = self.all.len();
        self.all.extend(self.at_cell.iter().zip(&self.at_zero).map(|(cell, zero)| cell - zero));
        self.places.insert((column, cell.to_bits()), start..self.all.len());
        &self.all[start..]
    }
}

/// Adds the log-odds of each label that uses an input to the sums of all labels.
fn add_to_labels(sums: &mut [f64], input: &InputFactors, log_odds: &[f64]) {
    if log_odds.len() == sums.len() {
        // Factors are in the order of labels.
        add(sums, log_odds);
    } else {
        for (label, more) in input.labels().zip(log_odds) {
            sums[label.0] += more;
        }
    }
}

/// The log-odds of every label for one row, conditioned on the decisions so far.
#[derive(Clone, Debug)]
pub struct Conditioned<'m> {
    co_occurrence: &'m CoOccurrence,
    /// Where the same terms are written out, if they are to be.
    dense_terms: Option<&'m OnceLock<CoOccurrence>>,
    log_odds: Vec<f64>,
}

impl<'m> Evidence for Conditioned<'m> {
    fn support(&self, label: LabelId) -> Score {
        Score::LogOdds(self.log_odds[label.0])
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        let (sparse, n_labels) = (self.co_occurrence, self.log_odds.len());
        let written_out = |cell: &'m OnceLock<_>| cell.get_or_init(|| sparse.to_dense(n_labels));
        let terms = self.dense_terms.map_or(sparse, written_out);
        terms.observe(label, relevant, &mut self.log_odds);
    }
}

impl BinaryLearner for NaiveBayes {
    type Model = NaiveBayesModel;

    fn fit_binary(&self, train: &Dataset) -> Result<NaiveBayesModel> {
        let rows: Vec<usize> = (0..train.n_rows()).collect();
        let plain = NaiveBayes { preparation: Preparation::none(), updatable: false, ..*self };
        plain.fit_independent(&Prepared::as_is(train), &rows, Seed::new(0))
    }
}

impl BinaryModel for NaiveBayesModel {
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score {
        let features = table_of_one_row(self.n_features(), cell);
        self.supports(&Block::of(&features, &[0]))[0]
    }

    fn supports(&self, block: &Block) -> Vec<Score> {
        scores_of_only_label(self, block)
    }

    fn fits(&self, n_inputs: usize) -> bool {
        let dimensions = Dimensions::of_one_label(n_inputs);
        BaseModel::fits(self, &dimensions)
    }
}
