//! Naive Bayes: log-odds from the inputs, conditioned by label co-occurrence.

use serde::{Deserialize, Serialize};

use super::density::{Factor, Moments, Normal, rounded};
use super::{ChainLearner, ChainModel, Evidence};
use crate::data::{AttributeKind, LabelId, Matrix};
use crate::error::Result;
use crate::learner::Block;
use crate::prepare::{LabelView, Preparation, Prepared, Spread};
use crate::seed::Seed;

/// Naive Bayes with WEKA's estimators (methods 1 and 8.1).
///
/// | field | default | meaning |
/// |---|---|---|
/// | `preparation` | the paper's | rows and features of each label |
/// | `likelihood` | auto | how numeric cells are weighed |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaiveBayes {
    /// Rows and features of each label.
    pub preparation: Preparation,
    /// How numeric cells are weighed.
    pub likelihood: Likelihood,
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
}

/// What each label knows about the inputs and about the other labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayesModel {
    n_labels: usize,
    views: Vec<LabelView>,
    /// log prior odds of each label.
    prior: Vec<f64>,
    /// For each input, the labels that look at it and what it tells them.
    factors: Vec<Vec<(LabelId, Factor)>>,
    /// What each label's prior and the all-zero row say together; for sparse rows.
    baseline: Vec<f64>,
    /// What a cell means that a sparse row leaves out.
    zero: Vec<f64>,
    /// `given[(2·a + v)·L + j]`: log P(Y_a = v | Y_j = 1) - log P(Y_a = v | Y_j = 0).
    given: Vec<f64>,
}

impl ChainLearner for NaiveBayes {
    type Model = NaiveBayesModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<NaiveBayesModel> {
        let n_labels = train.data().n_labels();
        let ids = (0..n_labels).map(LabelId);
        let views: Vec<LabelView> =
            ids.map(|label| train.view(&self.preparation, rows, label, seed)).collect();
        let counts: Vec<[f64; 2]> = views
            .iter()
            .enumerate()
            .map(|(label, view)| {
                let yes = view
                    .rows
                    .iter()
                    .filter(|&&row| train.data().labels().get(row, LabelId(label)))
                    .count();
                [(view.rows.len() - yes) as f64, yes as f64]
            })
            .collect();
        let prior: Vec<f64> =
            counts.iter().map(|[no, yes]| (yes + 1.0).ln() - (no + 1.0).ln()).collect();
        let mut factors = vec![Vec::new(); train.data().n_features()];
        for group in groups(&views, rows) {
            self.fit_group(train, &group, &views, &mut factors);
        }
        // In label order, so that sums do not depend on how labels were grouped.
        factors.iter_mut().for_each(|factors| factors.sort_by_key(|(label, _)| *label));
        let zero = train.zero().to_vec();
        let mut baseline: Vec<f64> = prior.clone();
        for (factors, &zero) in factors.iter().zip(&zero) {
            for (label, factor) in factors {
                baseline[label.0] += factor.log_odds(zero);
            }
        }
        let given = co_occurrence(train, &views, &counts);
        Ok(NaiveBayesModel { n_labels, views, prior, factors, baseline, zero, given })
    }
}

/// Labels that learn from the same rows.
struct Group<'v> {
    rows: &'v [usize],
    labels: Vec<LabelId>,
}

/// For each row of a group, which of its labels are relevant, by place in the group.
struct Relevant {
    starts: Vec<usize>,
    places: Vec<u32>,
}

impl Relevant {
    fn by_row(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|span| &self.places[span[0]..span[1]])
    }
}

/// Undersampled labels stand alone; all others share the rows given.
fn groups<'v>(views: &'v [LabelView], rows: &'v [usize]) -> Vec<Group<'v>> {
    let is_whole = |view: &LabelView| view.rows.len() == rows.len();
    let whole = (0..views.len()).filter(|&at| is_whole(&views[at])).map(LabelId).collect();
    let mut groups = vec![Group { rows, labels: whole }];
    for (at, view) in views.iter().enumerate().filter(|(_, view)| !is_whole(view)) {
        groups.push(Group { rows: &view.rows, labels: vec![LabelId(at)] });
    }
    groups
}

/// For every ordered pair of labels, in the rows of the conditioned one, with Laplace smoothing:
/// (n_{v,y} + 1) / (n_y + 2).
fn co_occurrence(train: &Prepared, views: &[LabelView], counts: &[[f64; 2]]) -> Vec<f64> {
    let n_labels = views.len();
    let labels = train.data().labels();
    let mut given = vec![0.0; 2 * n_labels * n_labels];
    let mut both = vec![[0.0f64; 2]; n_labels];
    for (target, view) in views.iter().enumerate() {
        // both[a][y]: rows where a is relevant and the target is y.
        both.fill([0.0; 2]);
        for &row in &view.rows {
            let class = usize::from(labels.get(row, LabelId(target)));
            labels.relevant(row).for_each(|other| both[other.0][class] += 1.0);
        }
        let [no, yes] = counts[target];
        for (other, &[with_no, with_yes]) in both.iter().enumerate() {
            let odds =
                |a: f64, b: f64| ((a + 1.0) / (yes + 2.0)).ln() - ((b + 1.0) / (no + 2.0)).ln();
            given[2 * other * n_labels + target] = odds(yes - with_yes, no - with_no);
            given[(2 * other + 1) * n_labels + target] = odds(with_yes, with_no);
        }
    }
    given
}

impl NaiveBayes {
    /// Learns the factors of labels that share their rows, column by column.
    fn fit_group(
        &self,
        train: &Prepared,
        group: &Group,
        views: &[LabelView],
        all: &mut [Vec<(LabelId, Factor)>],
    ) {
        let n = group.labels.len();
        if n == 0 {
            return;
        }
        let labels = train.data().labels();
        let mut place = vec![usize::MAX; views.len()];
        group.labels.iter().enumerate().for_each(|(at, label)| place[label.0] = at);
        let mut relevant = Relevant { starts: vec![0], places: vec![] };
        for &row in group.rows {
            let here = labels.relevant(row).map(|label| place[label.0]).filter(|&at| at < n);
            relevant.places.extend(here.map(|at| at as u32));
            relevant.starts.push(relevant.places.len());
        }
        let mut looks: Vec<Vec<usize>> = vec![Vec::new(); train.data().n_features()];
        for (at, label) in group.labels.iter().enumerate() {
            views[label.0].features.iter().for_each(|&column| looks[column].push(at));
        }
        let mut cells = Vec::with_capacity(group.rows.len());
        let spread = train.spreads(group.rows);
        for (column, attribute) in train.data().attributes().iter().enumerate() {
            if looks[column].is_empty() {
                continue;
            }
            train.gather(column, group.rows, &mut cells);
            let factors: Vec<(usize, Factor)> = match &attribute.kind {
                AttributeKind::Nominal(values) => {
                    categories(&cells, &relevant, values.len(), n, &looks[column])
                }
                AttributeKind::Numeric => {
                    let precision = precision(spread(column));
                    self.normals(&cells, &relevant, n, &looks[column], precision)
                }
            };
            all[column].extend(factors.into_iter().map(|(at, factor)| (group.labels[at], factor)));
        }
    }

    fn normals(
        &self,
        cells: &[f64],
        relevant: &Relevant,
        n: usize,
        looks: &[usize],
        (precision, range): (f64, (f64, f64)),
    ) -> Vec<(usize, Factor)> {
        let pair = |(yes, all): &(Vec<Moments>, Moments), at: usize| {
            let estimate = |moments: &Moments| Normal::estimate(moments, precision);
            (estimate(&all.less(&yes[at])), estimate(&yes[at]))
        };
        let plain = moments(cells.iter().copied(), relevant, n);
        // Few columns need their cells rounded; they are when the first label does.
        let mut by_rounding = None;
        let mut factor = |&at: &usize| {
            let (irrelevant, relevant_normal) = pair(&plain, at);
            let is_fine = precision <= 0.1 * irrelevant.deviation.min(relevant_normal.deviation);
            let as_density = match self.likelihood {
                Likelihood::Auto => is_fine,
                Likelihood::Gaussian => true,
                Likelihood::Weka => false,
            };
            if as_density {
                return (at, Factor::Density { irrelevant, relevant: relevant_normal });
            }
            let rounded = by_rounding.get_or_insert_with(|| {
                moments(cells.iter().map(|&cell| rounded(cell, precision)), relevant, n)
            });
            let (irrelevant, relevant) = pair(rounded, at);
            (at, Factor::mass(irrelevant, relevant, precision, range))
        };
        looks.iter().map(&mut factor).collect()
    }
}

/// Mean gap between neighbouring distinct values, 0.01 where there is only one; and the range.
fn precision(spread: Spread) -> (f64, (f64, f64)) {
    let precision = match spread.n_gaps {
        0 => 0.01,
        n => spread.gaps / n as f64,
    };
    (precision, (spread.least, spread.greatest))
}

/// Moments of the relevant cells of each label of the group, and of all cells.
fn moments(
    cells: impl Iterator<Item = f64>,
    relevant: &Relevant,
    n: usize,
) -> (Vec<Moments>, Moments) {
    let mut by_label = vec![Moments::default(); n];
    let mut all = Moments::default();
    for (cell, relevant) in cells.zip(relevant.by_row()) {
        if !cell.is_nan() {
            all.add(1.0, cell);
            relevant.iter().for_each(|&at| by_label[at as usize].add(1.0, cell));
        }
    }
    (by_label, all)
}

fn categories(
    cells: &[f64],
    relevant: &Relevant,
    n_values: usize,
    n: usize,
    looks: &[usize],
) -> Vec<(usize, Factor)> {
    let mut yes = vec![0.0; n * n_values];
    let mut all = vec![0.0; n_values];
    for (cell, relevant) in cells.iter().zip(relevant.by_row()).filter(|(cell, _)| !cell.is_nan()) {
        all[*cell as usize] += 1.0;
        relevant.iter().for_each(|&at| yes[at as usize * n_values + *cell as usize] += 1.0);
    }
    let factor = |&at: &usize| {
        let yes = &yes[at * n_values..(at + 1) * n_values];
        let no: Vec<f64> = all.iter().zip(yes).map(|(all, yes)| all - yes).collect();
        (at, Factor::category(&no, yes))
    };
    looks.iter().map(factor).collect()
}

/// The log-odds of every label of every row, from prior and inputs.
pub struct LogOdds {
    n_labels: usize,
    by_row: Vec<f64>,
}

impl ChainModel for NaiveBayesModel {
    type Scores = LogOdds;
    type Evidence<'m> = Conditioned<'m>;

    fn n_labels(&self) -> usize {
        self.n_labels
    }

    fn score(&self, block: &Block) -> LogOdds {
        match block.features {
            Matrix::Dense(_) => self.score_dense(block),
            Matrix::Sparse(_) => self.score_sparse(block),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m LogOdds, row: usize) -> Conditioned<'m> {
        let n = scores.n_labels;
        Conditioned { given: &self.given, log_odds: scores.by_row[row * n..(row + 1) * n].to_vec() }
    }
}

impl NaiveBayesModel {
    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, n_labels: usize, n_features: usize) -> bool {
        let lengths = [self.n_labels, self.views.len(), self.prior.len(), self.baseline.len()];
        lengths == [n_labels; 4]
            && [self.factors.len(), self.zero.len()] == [n_features; 2]
            && self.given.len() == 2 * n_labels * n_labels
            && self.factors.iter().flatten().all(|(label, _)| label.0 < n_labels)
    }

    /// The rows and features each label learned from.
    pub fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn score_dense(&self, block: &Block) -> LogOdds {
        let (n_rows, n_labels) = (block.n_rows(), self.n_labels);
        // Label by label while columns are added, so that the inner loop runs over rows.
        let mut by_label: Vec<f64> =
            self.prior.iter().flat_map(|&prior| std::iter::repeat_n(prior, n_rows)).collect();
        let mut cells = vec![0.0; n_rows];
        for (column, factors) in self.factors.iter().enumerate().filter(|(_, f)| !f.is_empty()) {
            for (cell, &row) in cells.iter_mut().zip(block.rows) {
                *cell = block.features.get(row, column);
            }
            let any_missing = cells.iter().any(|cell| cell.is_nan());
            for (label, factor) in factors {
                let sums = &mut by_label[label.0 * n_rows..(label.0 + 1) * n_rows];
                factor.add_all(&cells, any_missing, sums);
            }
        }
        let mut by_row = vec![0.0; n_rows * n_labels];
        for label in 0..n_labels {
            for row in 0..n_rows {
                by_row[row * n_labels + label] = by_label[label * n_rows + row];
            }
        }
        LogOdds { n_labels, by_row }
    }

    /// The all-zero row is a constant, to which stored cells add a difference.
    fn score_sparse(&self, block: &Block) -> LogOdds {
        let n_labels = self.n_labels;
        let mut by_row = Vec::with_capacity(block.n_rows() * n_labels);
        for &row in block.rows {
            let start = by_row.len();
            by_row.extend_from_slice(&self.baseline);
            let sums = &mut by_row[start..];
            for (column, stored) in block.features.entries(row) {
                let zero = self.zero[column];
                for (label, factor) in &self.factors[column] {
                    let cell = stored + zero;
                    let says = if cell.is_nan() { 0.0 } else { factor.log_odds(cell) };
                    sums[label.0] += says - factor.log_odds(zero);
                }
            }
        }
        LogOdds { n_labels, by_row }
    }
}

/// Log-odds of one row, moved by each decision.
#[derive(Clone, Debug)]
pub struct Conditioned<'m> {
    given: &'m [f64],
    log_odds: Vec<f64>,
}

impl Evidence for Conditioned<'_> {
    fn support(&self, label: LabelId) -> f64 {
        self.log_odds[label.0]
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        let n = self.log_odds.len();
        let start = (2 * label.0 + usize::from(relevant)) * n;
        for (log_odds, given) in self.log_odds.iter_mut().zip(&self.given[start..start + n]) {
            *log_odds += given;
        }
    }
}
