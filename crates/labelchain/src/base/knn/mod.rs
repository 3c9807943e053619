//! Nearest neighbours: a label is relevant if it is relevant to most of the R nearest training
//! rows.
//!
//! The labels decided so far are inputs of 0 or 1. The extended distance of a training row is hence
//! D + d, where D is its squared distance in the inputs and d the number of decided labels on which
//! it disagrees, and no order of the labels has to be known in advance. Of a training row whose own
//! label is unknown, d counts the share of the other rows that disagree: the expected disagreement.
//!
//! There are three ways to the R nearest rows. A label that uses all inputs reads the ranking of the
//! training rows by D, which all such labels and all members share: d is not negative, so the scan
//! ends where D alone exceeds the R-th extended distance, mostly among the nearest rows. Once so many
//! labels were decided that these are not enough, d is as large as D differs between rows, and a ranking
//! by D tells little: all rows fitted on are then looked at in blocks of [`BLOCK_ROWS`]. As d never
//! falls, the least extended distance that a block had for one label bounds it for the next, and few
//! blocks are so near that the disagreements of their rows have to be counted again. A label with
//! selected inputs, or with WEKA's metric, measures its own D to every row fitted on, and scans all of
//! them in such blocks, for which the compiler emits SIMD code.

mod base;
mod tuning;

pub(super) use base::BASE;

use std::cell::{OnceCell, Ref, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::chain::{
    Attribution, AttributionSum, BaseModel, Block, ChainLearner, ChainModel, Dimensions, Evidence,
    Score, Scoring, TunedSetting,
};
use crate::data::{LabelId, LabelMatrix};
use crate::distance::{ColumnBlocks, Metric, Needs, Ranked, Ranking};
use crate::error::{Error, Result};
use crate::prepare::{LabelView, Preparation, Prepared, views};
use crate::product::vectorized;
use crate::seed::Seed;

/// Nearest neighbours (docs/methods.md, 2).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `neighbours` | 5 | at least 1 | R: rows that vote |
/// | `metric` | Euclidean | | how far two rows are apart |
/// | `ties` | lower row | | which rows vote of those equally far |
/// | `preparation` | none | | rows and features of each label |
#[derive(Clone, Debug, PartialEq)]
pub struct NearestNeighbours {
    /// R: rows that vote.
    pub neighbours: usize,
    /// How far two rows are apart.
    pub metric: Metric,
    /// Which rows vote of those equally far.
    pub ties: Ties,
    /// Rows and features of each label.
    pub preparation: Preparation,
}

impl Default for NearestNeighbours {
    fn default() -> NearestNeighbours {
        NearestNeighbours {
            neighbours: 5,
            metric: Metric::default(),
            ties: Ties::default(),
            preparation: Preparation::none(),
        }
    }
}

/// Which rows vote of those that are as far as the R-th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ties {
    /// `lower-row`: exactly R rows vote, of rows equally far those with the lower numbers.
    #[default]
    LowerRow,
    /// `weka`: all of them vote, as in WEKA's IBk, and both classes start with 1/n of a vote, where
    /// n is the number of rows that may vote (docs/methods.md, 8.2).
    Weka,
}

/// The training rows that vote on each label, and their labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestNeighboursModel {
    neighbours: usize,
    metric: Metric,
    ties: Ties,
    n_features: usize,
    #[serde(with = "views")]
    views: Vec<LabelView>,
    /// The training rows fitted on, ascending.
    rows: Vec<usize>,
    /// The labels of the training rows; a row that was not fitted on has none.
    labels: LabelMatrix,
    /// Whether a training row votes on a label; a row that was not fitted on votes on none.
    votes_on: LabelMatrix,
}

impl ChainLearner for NearestNeighbours {
    type Model = NearestNeighboursModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<NearestNeighboursModel> {
        let &NearestNeighbours { neighbours, metric, ties, ref preparation } = self;
        if neighbours == 0 {
            let (name, value) = ("neighbours", "0".into());
            return Err(Error::Setting { name, value, accepted: "at least 1" });
        }
        let data = train.data();
        let views = train.views(preparation, rows, seed)?;
        let mut labels = LabelMatrix::empty(data.n_rows(), data.n_labels());
        let mut votes_on = labels.clone();
        for &row in rows {
            data.labels().relevant(row).for_each(|label| labels.set(row, label, true));
        }
        if data.labels().n_unknown() > 0 {
            for &row in rows {
                let unknown = data.labels().ids().filter(|&it| !data.labels().is_known(row, it));
                unknown.for_each(|label| labels.forget(row, label));
            }
        }
        for (label, view) in views.iter().enumerate() {
            view.rows.iter().for_each(|&row| votes_on.set(row, LabelId(label), true));
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        // A row that was named twice votes once.
        rows.dedup();
        let n_features = data.n_features();
        Ok(NearestNeighboursModel {
            neighbours,
            metric,
            ties,
            n_features,
            views,
            rows,
            labels,
            votes_on,
        })
    }

    fn tuned(&self) -> Vec<TunedSetting> {
        let values = vec![Some(self.neighbours as f64)];
        vec![TunedSetting { setting: base::NEIGHBOURS.name, values }]
    }
}

impl NearestNeighboursModel {
    /// The training rows that vote on one row of a block.
    fn attribution(&self, scores: &Distances, row: usize) -> Attribution {
        let evidence = self.evidence(scores, row);
        let mut sum = AttributionSum::default();
        let mut n_voted_on = 0;
        for label in self.labels.ids() {
            let nearest = evidence.nearest(label);
            let voters = evidence.voters(&nearest, self.neighbours);
            n_voted_on += usize::from(!voters.is_empty());
            for row in voters.iter().map(|ranked| ranked.row as usize) {
                let weight = 1.0 / voters.len() as f64;
                sum.add_neighbour(row, weight, || self.labels.relevant(row).collect());
            }
        }
        sum.mean(n_voted_on)
    }

    /// Whether a label needs distances that no other label can share: it uses some of the inputs
    /// only, or WEKA's metric, which scales inputs to the range of the rows that vote on the label.
    fn has_own_distances(&self, view: &LabelView) -> bool {
        view.features.len() < self.n_features || self.metric == Metric::Weka
    }

    /// Whether two labels have the same list of voters and the same list of inputs.
    fn share_view(&self, a: LabelId, b: LabelId) -> bool {
        let [a, b] = [a, b].map(|label| &self.views[label.0]);
        Arc::ptr_eq(&a.rows, &b.rows) && Arc::ptr_eq(&a.features, &b.features)
    }

    /// Whether the rows that vote on a label are those of its view, and were fitted on.
    fn views_tell_who_votes(&self, n_train: usize) -> bool {
        let mut is_fitted = vec![false; n_train];
        self.rows.iter().for_each(|&row| is_fitted[row] = true);
        let counts = self.votes_on.counts();
        self.views.iter().enumerate().all(|(label, view)| {
            let votes = |&row: &usize| {
                row < n_train && is_fitted[row] && self.votes_on.get(row, LabelId(label))
            };
            counts[label] == view.rows.len() && view.rows.iter().all(votes)
        })
    }

    /// For each label, whether it is relevant to each of the rows fitted on.
    fn relevance_by_label(&self) -> Vec<Vec<bool>> {
        let column = |label| self.rows.iter().map(|&row| self.labels.get(row, label)).collect();
        self.labels.ids().map(column).collect()
    }

    /// What is expected of labels that are unknown of some of the rows fitted on; none where all are
    /// known.
    fn unknown_labels(&self) -> Option<Vec<UnknownLabel>> {
        let of_label = |label| {
            let cells = self.rows.iter().map(|&row| self.labels.cell(row, label));
            let n_relevant = cells.clone().filter(|&cell| cell == Some(true)).count() as f64;
            let n_irrelevant = cells.clone().filter(|&cell| cell == Some(false)).count() as f64;
            // Where nothing is known, either value is as likely.
            let share = match n_relevant + n_irrelevant {
                0.0 => 0.5,
                n_known => n_relevant / n_known,
            };
            let rows = cells.enumerate().filter(|(_, cell)| cell.is_none()).map(|(at, _)| at);
            UnknownLabel { disagreement: [share, 1.0 - share], rows: rows.collect() }
        };
        let has_unknown = self.labels.n_unknown() > 0;
        has_unknown.then(|| self.labels.ids().map(of_label).collect())
    }
}

/// A label that may be unknown of some rows.
struct UnknownLabel {
    /// The share of the rows of which it is known that disagree with the decision that it is
    /// irrelevant, and relevant.
    disagreement: [f64; 2],
    /// The rows of which it is unknown, by their index among the rows fitted on.
    rows: Vec<usize>,
}

/// What the distances of the rows of a block are read or computed from.
pub struct Distances {
    /// For each row of the block, the training rows ranked by their distance in all inputs; empty
    /// where the block came without rankings.
    rankings: Vec<Arc<Ranking>>,
    /// For each label that has distances of its own, the inputs to compute them from.
    label_inputs: Vec<Option<LabelInputs>>,
    /// For each label, whether it is relevant to each of the rows fitted on, once disagreements of
    /// all of them are counted.
    relevance_by_label: OnceLock<Vec<Vec<bool>>>,
    /// By label; none where all labels of the rows fitted on are known.
    unknown_labels: Option<Vec<UnknownLabel>>,
    /// ln n of every number of votes n from 0 to R, or to 64 where R is greater.
    logarithms: Vec<f64>,
}

/// Logarithms of numbers of votes that are computed once for a block.
const MOST_LOGARITHMS: usize = 64;

/// The inputs that one label uses: of the rows that vote on it, and of the rows of the block.
struct LabelInputs {
    voters: ColumnBlocks,
    /// The index of each voter among the rows fitted on.
    voter_indices: Vec<usize>,
    /// The cells of each row of the block.
    queries: Vec<Vec<f64>>,
}

impl LabelInputs {
    /// The squared distances from a row of the block to the rows fitted on; infinite where a row
    /// has no vote.
    fn distances(&self, row: usize, n_fitted: usize) -> Vec<[f64; BLOCK_ROWS]> {
        let mut distances = vec![[f64::INFINITY; BLOCK_ROWS]; n_fitted.div_ceil(BLOCK_ROWS)];
        let by_index = distances.as_flattened_mut();
        let to_voters = self.voters.distances(&self.queries[row]);
        for (&index, distance) in self.voter_indices.iter().zip(to_voters) {
            by_index[index] = distance;
        }
        distances
    }
}

impl BaseModel for NearestNeighboursModel {
    fn n_labels(&self) -> usize {
        self.views.len()
    }

    fn needs(&self) -> Needs {
        if self.views.iter().all(|view| self.has_own_distances(view)) {
            Needs::Inputs
        } else {
            Needs::Ranking
        }
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Dimensions { n_labels, n_features, n_train: Some(n_train), .. } = *dimensions else {
            return false;
        };
        self.neighbours > 0
            && self.n_features == n_features
            && self.views.len() == n_labels
            && self.rows.iter().all(|&row| row < n_train)
            && self.rows.is_sorted()
            && self.labels.is_sound(n_train, n_labels)
            && self.votes_on.is_sound(n_train, n_labels)
            && self.views_tell_who_votes(n_train)
    }

    /// The weight of a training row is its share of the votes on all labels, each of which has the same
    /// weight. Where labels have inputs of their own, they have neighbours of their own.
    fn attributions(&self, block: &Block) -> Vec<Attribution> {
        let scores = self.score(block);
        (0..block.n_rows()).map(|row| self.attribution(&scores, row)).collect()
    }
}

impl ChainModel for NearestNeighboursModel {}

impl Scoring for NearestNeighboursModel {
    type Scores = Distances;
    type Evidence<'m> = NeighbourEvidence<'m>;

    fn score(&self, block: &Block) -> Distances {
        let label_inputs = |view: &LabelView| {
            let nearest = block.rankings.filter(|_| self.has_own_distances(view))?;
            let voters = nearest.train.column_blocks(&view.rows, &view.features, self.metric);
            let index = |row: &usize| self.rows.binary_search(row).ok();
            let voter_indices = view.rows.iter().filter_map(index).collect();
            let queries = block.rows.iter().map(|&row| voters.cells(block.features, row)).collect();
            Some(LabelInputs { voters, voter_indices, queries })
        };
        Distances {
            rankings: block.rankings.map_or(Vec::new(), |rankings| rankings.rankings.clone()),
            label_inputs: self.views.iter().map(label_inputs).collect(),
            relevance_by_label: OnceLock::new(),
            unknown_labels: self.unknown_labels(),
            logarithms: (0..=self.neighbours.min(MOST_LOGARITHMS))
                .map(|n| (n as f64).ln())
                .collect(),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m Distances, row: usize) -> NeighbourEvidence<'m> {
        let no_labels = LabelMatrix::empty(1, self.n_labels());
        let disagreements = OnceCell::new();
        let mut n_own_distances = 0;
        if scores.label_inputs.iter().any(Option::is_some) {
            n_own_distances = self.n_labels();
            let none = vec![[0.0; BLOCK_ROWS]; self.rows.len().div_ceil(BLOCK_ROWS)];
            disagreements.get_or_init(|| none);
        }
        NeighbourEvidence {
            model: self,
            scores,
            row,
            decided: no_labels.clone(),
            relevant: no_labels,
            disagreements,
            label_distances: (0..n_own_distances).map(|_| OnceCell::new()).collect(),
            input_distances: Rc::default(),
            found: RefCell::default(),
            ranked_voters: RefCell::default(),
            block_bounds: RefCell::new(None),
        }
    }
}

/// What was decided about one row, from which the extended distances of the training rows follow.
///
/// A label that reads the ranking looks at few rows and counts their disagreements when it gets to
/// them. A label that looks at all rows needs the disagreements of all, which are therefore updated
/// with every decision, from the first such label on.
#[derive(Clone)]
pub struct NeighbourEvidence<'m> {
    model: &'m NearestNeighboursModel,
    scores: &'m Distances,
    row: usize,
    /// The labels decided so far, as a matrix of one row.
    decided: LabelMatrix,
    /// Those of them that were decided to be relevant.
    relevant: LabelMatrix,
    /// The number of decided labels on which each row fitted on disagrees or is expected to, once a
    /// label looks at all rows.
    disagreements: OnceCell<Vec<[f64; BLOCK_ROWS]>>,
    /// For each label with inputs of its own its distances in these to the rows fitted on, once computed,
    /// infinite where a row has no vote. They do not depend on decisions, so all copies of the evidence share
    /// them. Empty where no label has inputs of its own.
    label_distances: Rc<[OnceCell<Vec<[f64; BLOCK_ROWS]>>]>,
    /// The same in all inputs.
    input_distances: Rc<OnceCell<Vec<[f64; BLOCK_ROWS]>>>,
    found: RefCell<Found>,
    ranked_voters: RefCell<RankedVoters>,
    /// Where the nearest rows of the ranking were not enough for a label.
    block_bounds: RefCell<Option<BlockBounds>>,
}

/// What the last search found.
#[derive(Clone, Default)]
struct Found {
    /// The label whose nearest rows these are; none once another decision was made.
    label: Option<LabelId>,
    nearest: Vec<Ranked>,
}

/// The nearest rows of the ranking that vote on any label. Members are fitted on a part of the rows, and which
/// these are is found out once for all labels.
#[derive(Clone, Default)]
struct RankedVoters {
    /// They are of so many steps of the ranking.
    n_steps: usize,
    /// The radius of the last of these steps; 0 before the first.
    radius: f64,
    rows: Vec<RankedVoter>,
}

/// A row that votes on at least one label. Its first 64 labels are copied beside its distance, because they are looked
/// at for every label that is decided, and rows of a label matrix are far apart in memory.
#[derive(Clone)]
struct RankedVoter {
    ranked: Ranked,
    /// A bit for each of the first 64 labels: whether it is relevant to the row.
    labels: u64,
    /// A bit for each of the first 64 labels: whether the row votes on it.
    votes_on: u64,
}

/// What was last found out about the extended distances of all rows fitted on. With every decision they
/// grow or stay as they are, so that a lower bound stays one, and most blocks of rows need not be looked at
/// again for the next label.
#[derive(Clone)]
struct BlockBounds {
    /// A lower bound of the extended distances of the rows of each block.
    lower: Vec<f64>,
    /// The nearest rows of the label before, which are likely to be among those of the next.
    nearest: Vec<u32>,
}

/// Rows of a block, which is scanned at a time with SIMD instructions.
const BLOCK_ROWS: usize = 16;

impl NeighbourEvidence<'_> {
    /// The number of decided labels on which a training row disagrees, or is expected to where its own
    /// are unknown.
    fn count_disagreements(&self, row: usize) -> f64 {
        let decisions = self.decided.row(0).iter().zip(self.relevant.row(0));
        let words = self.model.labels.row(row).iter().zip(decisions);
        let count: u32 = words
            .map(|(labels, (decided, relevant))| ((labels ^ relevant) & decided).count_ones())
            .sum();
        let Some(unknown_labels) = &self.scores.unknown_labels else { return f64::from(count) };
        let unknown = self.decided.relevant(0).filter(|&it| !self.model.labels.is_known(row, it));
        let more = unknown.map(|label| {
            let relevant = self.relevant.get(0, label);
            // An unknown label was counted as irrelevant.
            unknown_labels[label.0].disagreement[usize::from(relevant)]
                - f64::from(u8::from(relevant))
        });
        f64::from(count) + more.sum::<f64>()
    }

    /// A ranked row with its extended distance.
    fn extended(&self, Ranked { distance, row }: Ranked) -> Ranked {
        Ranked { distance: distance + self.count_disagreements(row as usize), row }
    }

    /// The decisions as bits, if there are at most 64 labels and all of them are known of every training row.
    fn few_decisions(&self) -> Option<FewDecisions> {
        let is_known = self.scores.unknown_labels.is_none();
        match (self.decided.row(0), self.relevant.row(0)) {
            (&[decided], &[relevant]) if is_known => Some(FewDecisions { decided, relevant }),
            _ => None,
        }
    }

    /// The R rows of least extended distance that vote on the label and, where ties are as in WEKA, all that are as
    /// far as the last of them, in ascending order; of rows equally far the lower row comes first.
    ///
    /// Until the next decision they are those of every label with the same voters and inputs. Only the last search
    /// is kept: labels that are decided independently share it where they follow each other and none of them is
    /// undersampled.
    fn nearest(&self, label: LabelId) -> Ref<'_, [Ranked]> {
        let is_found =
            self.found.borrow().label.is_some_and(|found| self.model.share_view(found, label));
        if !is_found {
            let mut rows = std::mem::take(&mut self.found.borrow_mut().nearest);
            rows.clear();
            let neighbours = self.model.neighbours;
            rows.reserve(neighbours.min(RankedVoters::AT_FIRST) + 1);
            let keeps_ties = self.model.ties == Ties::Weka;
            let mut nearest = NearestRows { neighbours, keeps_ties, rows };
            self.scan(label, |row| nearest.insert(row));
            if let Some(bounds) = &mut *self.block_bounds.borrow_mut() {
                bounds.nearest = nearest.rows.iter().take(neighbours).map(|row| row.row).collect();
            }
            self.found.replace(Found { label: Some(label), nearest: nearest.rows });
        }
        Ref::map(self.found.borrow(), |found| &found.nearest[..])
    }

    /// The distances from the row to the rows fitted on in the inputs of a label that has its own;
    /// infinite where a row has no vote on the label.
    fn label_distances(&self, label: LabelId, inputs: &LabelInputs) -> &[[f64; BLOCK_ROWS]] {
        let distances = || inputs.distances(self.row, self.model.rows.len());
        self.label_distances[label.0].get_or_init(distances)
    }

    /// The distances in all inputs from the row to the rows fitted on.
    fn input_distances(&self, ranking: &Ranking) -> &[[f64; BLOCK_ROWS]] {
        self.input_distances.get_or_init(|| {
            let rows = &self.model.rows;
            let mut blocks = vec![[f64::INFINITY; BLOCK_ROWS]; rows.len().div_ceil(BLOCK_ROWS)];
            let distances = ranking.distances();
            for (distance, &row) in blocks.as_flattened_mut().iter_mut().zip(rows) {
                *distance = distances[row];
            }
            blocks
        })
    }

    /// The disagreements of all rows fitted on, from here on updated with every decision.
    fn disagreements(&self) -> &[[f64; BLOCK_ROWS]] {
        self.disagreements.get_or_init(|| {
            let rows = &self.model.rows;
            let mut blocks = vec![[0.0; BLOCK_ROWS]; rows.len().div_ceil(BLOCK_ROWS)];
            for (count, &row) in blocks.as_flattened_mut().iter_mut().zip(rows) {
                *count = self.count_disagreements(row);
            }
            blocks
        })
    }

    /// Calls `visit` with the extended distance of every voter that is among the R nearest or as far as the
    /// R-th, and perhaps of others. `visit` returns a bound: rows that are farther need not be visited from
    /// then on.
    fn scan(&self, label: LabelId, visit: impl FnMut(Ranked) -> f64) {
        if let Some(inputs) = &self.scores.label_inputs[label.0] {
            return self.scan_blocks(self.label_distances(label, inputs), visit);
        }
        let Some(ranking) = self.scores.rankings.get(self.row) else { return };
        // Where the nearest rows of the ranking were not enough for a label, they will hardly be for the
        // next.
        if self.block_bounds.borrow().is_some() {
            self.scan_bounded_blocks(label, ranking, f64::NEG_INFINITY, f64::INFINITY, visit);
        } else {
            self.scan_ranking(label, ranking, visit);
        }
    }

    /// Whether all disagreements are whole numbers, which add up to the same in any order.
    fn counts_whole_labels(&self) -> bool {
        self.scores.unknown_labels.is_none()
    }

    /// Rows come by ascending distance in the inputs, to which disagreements only add, so no
    /// further row can be near enough once that distance exceeds the bound. A row exactly at the
    /// bound can, if its number is lower.
    fn scan_ranking(
        &self,
        label: LabelId,
        ranking: &Ranking,
        mut visit: impl FnMut(Ranked) -> f64,
    ) {
        let mut bound = f64::INFINITY;
        let few_decisions = self.few_decisions();
        let mut voters = self.ranked_voters.borrow_mut();
        let mut n_seen = 0;
        loop {
            for voter in &voters.rows[n_seen..] {
                if voter.ranked.distance > bound {
                    return;
                }
                if voter.votes_on(label, self.model) {
                    let extended = match &few_decisions {
                        Some(decisions) => voter.extended(decisions),
                        None => self.extended(voter.ranked),
                    };
                    bound = bound.min(visit(extended));
                }
            }
            if voters.radius >= bound {
                return;
            }
            n_seen = voters.rows.len();
            if !voters.take_step(ranking, self.model) {
                break;
            }
        }
        if ranking.radius() == f64::INFINITY {
            return;
        }
        if self.counts_whole_labels() {
            let radius = ranking.radius();
            self.scan_bounded_blocks(label, ranking, radius, bound.next_up(), visit);
            return;
        }
        for ranked in ranking.iter().skip_while(|ranked| ranked.distance <= ranking.radius()) {
            if ranked.distance > bound {
                return;
            }
            if self.model.votes_on.get(ranked.row as usize, label) {
                bound = bound.min(visit(self.extended(*ranked)));
            }
        }
    }

    /// Rows come by ascending number, those that are farther than `radius` in the inputs. Blocks whose
    /// lower bound is not below the bound are skipped, and the disagreements of their rows not counted.
    fn scan_bounded_blocks(
        &self,
        label: LabelId,
        ranking: &Ranking,
        radius: f64,
        bound: f64,
        mut visit: impl FnMut(Ranked) -> f64,
    ) {
        let distances = self.input_distances(ranking);
        let mut block_bounds = self.block_bounds.borrow_mut();
        let BlockBounds { lower, nearest } =
            block_bounds.get_or_insert_with(|| BlockBounds::new(distances));
        let mut bound = bound.min(self.bound_by(nearest, label, ranking).next_up());
        for ((lower, distances), rows) in
            lower.iter_mut().zip(distances).zip(self.model.rows.chunks(BLOCK_ROWS))
        {
            if *lower >= bound {
                continue;
            }
            *lower = f64::INFINITY;
            for (&in_inputs, &row) in distances.iter().zip(rows) {
                let mut distance = in_inputs;
                if in_inputs < bound {
                    distance += self.count_disagreements(row);
                    if distance < bound && in_inputs > radius && self.model.votes_on.get(row, label)
                    {
                        let row = row as u32;
                        bound = bound.min(visit(Ranked { distance, row }).next_up());
                    }
                }
                *lower = lower.min(distance);
            }
        }
    }

    /// An upper bound on the R-th least extended distance: the greatest of R rows that vote on the label;
    /// infinite where fewer of these vote.
    fn bound_by(&self, rows: &[u32], label: LabelId, ranking: &Ranking) -> f64 {
        let voters =
            rows.iter().map(|&row| row as usize).filter(|&row| self.model.votes_on.get(row, label));
        let extended = |row: usize| ranking.distances()[row] + self.count_disagreements(row);
        let distances: Vec<f64> = voters.map(extended).collect();
        if distances.len() < self.model.neighbours {
            return f64::INFINITY;
        }
        distances.into_iter().fold(0.0, f64::max)
    }

    /// Rows come by ascending number, and most are skipped a block at a time.
    fn scan_blocks(&self, distances: &[[f64; BLOCK_ROWS]], mut visit: impl FnMut(Ranked) -> f64) {
        let disagreements = self.disagreements();
        let (minima, bound_of_nearest) = self.block_minima(distances, disagreements);
        // The scan passes rows below its bound; rows as far as this bound may be among the nearest.
        let mut bound = bound_of_nearest.next_up();
        for (at, minima) in minima.iter().enumerate() {
            if !minima.iter().fold(false, |any, &distance| any | (distance < bound)) {
                continue;
            }
            let rows = distances[at].iter().zip(disagreements[at]);
            for (lane, (&in_inputs, disagreements)) in rows.enumerate() {
                let distance = in_inputs + disagreements;
                if distance < bound {
                    let row = self.model.rows[at * BLOCK_ROWS + lane] as u32;
                    bound = bound.min(visit(Ranked { distance, row }).next_up());
                }
            }
        }
    }

    /// For each block the least extended distances, as a few minima that together cover its rows;
    /// and an upper bound on the R-th least extended distance of all.
    ///
    /// The bound is the R-th least of the minima of the lanes, where lane l holds the l-th row of
    /// every block: at least R rows are within it, one for each of R lanes, and seldom many more.
    /// Where R exceeds the number of lanes, the bound is infinite.
    fn block_minima(
        &self,
        distances: &[[f64; BLOCK_ROWS]],
        disagreements: &[[f64; BLOCK_ROWS]],
    ) -> (Vec<[f64; BLOCK_ROWS / 4]>, f64) {
        let mut minima = vec![[f64::INFINITY; BLOCK_ROWS / 4]; distances.len()];
        let mut lane_minima = vectorized(
            #[inline(always)]
            || {
                let mut lane_minima = [f64::INFINITY; BLOCK_ROWS];
                let blocks = distances.iter().zip(disagreements);
                for (minima, (distances, disagreements)) in minima.iter_mut().zip(blocks) {
                    let mut extended = *distances;
                    extended.iter_mut().zip(disagreements).for_each(|(sum, count)| *sum += count);
                    take_minima(&mut lane_minima, &extended);
                    let mut of_block = [f64::INFINITY; BLOCK_ROWS / 4];
                    let quarters = extended.as_chunks().0.iter();
                    quarters.for_each(|quarter| take_minima(&mut of_block, quarter));
                    *minima = of_block;
                }
                lane_minima
            },
        );
        // No distance is negative, so their bit patterns are in the order of the numbers.
        lane_minima.sort_unstable_by_key(|distance| distance.to_bits());
        (minima, lane_minima.get(self.model.neighbours - 1).copied().unwrap_or(f64::INFINITY))
    }

    /// The rows that vote where so many neighbours do, of the nearest: the first of them and, where ties are as
    /// in WEKA, all that are as far as the last of these.
    fn voters<'n>(&self, nearest: &'n [Ranked], neighbours: usize) -> &'n [Ranked] {
        let n = match (self.model.ties, nearest.get(neighbours.saturating_sub(1))) {
            (_, None) => nearest.len(),
            (Ties::LowerRow, _) => neighbours,
            (Ties::Weka, Some(last)) => {
                nearest.partition_point(|row| row.distance <= last.distance)
            }
        };
        &nearest[..n]
    }

    /// The number of voters to which the label is relevant, and to which it is not.
    fn votes(&self, label: LabelId, voters: &[Ranked]) -> [usize; 2] {
        let is_relevant = |voter: &&Ranked| self.model.labels.get(voter.row as usize, label);
        let n_relevant = voters.iter().filter(is_relevant).count();
        [n_relevant, voters.len() - n_relevant]
    }

    /// ln (yes + s) - ln (no + s) of the votes of so many neighbours, where s is WEKA's start of 1/n
    /// or 0; 0 where the votes are equal.
    fn log_odds(&self, label: LabelId, nearest: &[Ranked], neighbours: usize) -> Score {
        let [yes, no] = self.votes(label, self.voters(nearest, neighbours));
        let log = |n: usize| match self.model.ties {
            Ties::LowerRow => {
                let known = self.scores.logarithms.get(n).copied();
                known.unwrap_or_else(|| (n as f64).ln())
            }
            Ties::Weka => {
                let pseudo_count = 1.0 / self.model.views[label.0].rows.len().max(1) as f64;
                (n as f64 + pseudo_count).ln()
            }
        };
        Score::LogOdds(if yes == no { 0.0 } else { log(yes) - log(no) })
    }

    /// The support of a label for several R, none greater than the model's, from one search.
    fn supports<const N: usize>(&self, label: LabelId, neighbours: [usize; N]) -> [Score; N] {
        let nearest = self.nearest(label);
        neighbours.map(|r| self.log_odds(label, &nearest, r))
    }
}

impl RankedVoters {
    /// Places for rows at first: most searches end before there are more, and small pieces of memory are given
    /// out faster.
    const AT_FIRST: usize = 32;

    /// Takes the voters of the next step of the ranking; whether there is a further step.
    fn take_step(&mut self, ranking: &Ranking, model: &NearestNeighboursModel) -> bool {
        let Some((step, radius)) = ranking.steps().nth(self.n_steps) else { return false };
        (self.n_steps, self.radius) = (self.n_steps + 1, radius);
        if self.rows.is_empty() {
            self.rows.reserve(RankedVoters::AT_FIRST);
        }
        for &ranked in step {
            let [votes_on, labels] =
                [&model.votes_on, &model.labels].map(|of| of.row(ranked.row as usize));
            if votes_on.iter().any(|&labels| labels != 0) {
                let (labels, votes_on) = (labels[0], votes_on[0]);
                self.rows.push(RankedVoter { ranked, labels, votes_on });
            }
        }
        true
    }
}

impl RankedVoter {
    /// Whether the row votes on a label.
    #[inline]
    fn votes_on(&self, label: LabelId, model: &NearestNeighboursModel) -> bool {
        match label.0 {
            0..64 => self.votes_on >> label.0 & 1 == 1,
            _ => model.votes_on.get(self.ranked.row as usize, label),
        }
    }

    /// The row with its extended distance.
    #[inline]
    fn extended(&self, decisions: &FewDecisions) -> Ranked {
        let Ranked { distance, row } = self.ranked;
        Ranked { distance: distance + decisions.count_disagreements(self.labels), row }
    }
}

/// Decisions about up to 64 labels, a bit for each label.
struct FewDecisions {
    /// Whether the label is decided.
    decided: u64,
    /// Whether it was decided to be relevant.
    relevant: u64,
}

impl FewDecisions {
    /// The number of decided labels on which a row with these labels disagrees.
    fn count_disagreements(&self, labels: u64) -> f64 {
        f64::from(((labels ^ self.relevant) & self.decided).count_ones())
    }
}

impl BlockBounds {
    /// Before anything is known of disagreements, which are not negative.
    fn new(distances: &[[f64; BLOCK_ROWS]]) -> BlockBounds {
        let least = |block: &[f64; BLOCK_ROWS]| block.iter().copied().fold(f64::INFINITY, f64::min);
        BlockBounds { lower: distances.iter().map(least).collect(), nearest: Vec::new() }
    }
}

/// Replaces each number by the other at its index where that is less.
#[inline(always)]
fn take_minima<const N: usize>(minima: &mut [f64; N], others: &[f64; N]) {
    for (minimum, &other) in minima.iter_mut().zip(others) {
        *minimum = if other < *minimum { other } else { *minimum };
    }
}

/// The nearest of the rows seen so far and, if ties are kept, all that are as far as the last of them, in ascending
/// order.
struct NearestRows {
    neighbours: usize,
    keeps_ties: bool,
    rows: Vec<Ranked>,
}

impl NearestRows {
    /// Inserts the row if it is near enough. Returns the distance of the last neighbour once there are enough,
    /// for no farther row will be inserted; until then ∞.
    fn insert(&mut self, row: Ranked) -> f64 {
        let bound = self.bound();
        if row.distance > bound {
            return bound;
        }
        let index = self.rows.partition_point(|other| *other < row);
        self.rows.insert(index, row);
        if !self.keeps_ties {
            self.rows.truncate(self.neighbours);
        }
        let bound = self.bound();
        while self.rows.last().is_some_and(|last| last.distance > bound) {
            self.rows.pop();
        }
        bound
    }

    fn bound(&self) -> f64 {
        let last = self.rows.get(self.neighbours - 1);
        last.map_or(f64::INFINITY, |last| last.distance)
    }
}

impl Evidence for NeighbourEvidence<'_> {
    /// Log-odds of the neighbours' votes: infinite where they are unanimous, unless votes start
    /// above 0; 0 where no row votes.
    fn support(&self, label: LabelId) -> Score {
        self.log_odds(label, &self.nearest(label), self.model.neighbours)
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.found.get_mut().label = None;
        self.decided.set(0, label, true);
        self.relevant.set(0, label, relevant);
        let Some(disagreements) = self.disagreements.get_mut() else { return };
        let disagreements = disagreements.as_flattened_mut();
        let relevance_by_label = || self.model.relevance_by_label();
        let relevance = &self.scores.relevance_by_label.get_or_init(relevance_by_label)[label.0];
        vectorized(
            #[inline(always)]
            || {
                for (count, &of_row) in disagreements.iter_mut().zip(relevance) {
                    *count += f64::from(u8::from(of_row != relevant));
                }
            },
        );
        let unknown = self.scores.unknown_labels.as_ref().map(|labels| &labels[label.0]);
        if let Some(UnknownLabel { disagreement, rows }) = unknown {
            // An unknown label was counted as irrelevant.
            let expected = disagreement[usize::from(relevant)];
            let more = expected - f64::from(u8::from(relevant));
            rows.iter().for_each(|&at| disagreements[at] += more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dataset, Dense, Matrix};
    use crate::distance::Neighbourhood;
    use proptest::prelude::*;

    /// Cells on a coarse grid, so that distances are often equal and rows repeated.
    fn coarse(n_rows: usize, n_labels: usize, seed: u64) -> Dataset {
        let mut rng = Seed::new(seed).rng();
        let mut cells = Dense::new(2);
        let mut labels = LabelMatrix::empty(n_rows, n_labels);
        for row in 0..n_rows {
            cells.push_row(&[rng.below(4) as f64, rng.below(3) as f64 / 2.0]);
            labels.ids().for_each(|label| labels.set(row, label, rng.chance(0.5)));
        }
        let attributes = ["x", "y"].map(Attribute::numeric).to_vec();
        let names = (0..n_labels).map(|label| label.to_string()).collect();
        Dataset::new("coarse", attributes, Matrix::Dense(cells), names, labels).unwrap()
    }

    /// Every row that votes on a label, sorted by extended distance in the first columns.
    fn full_scan(
        evidence: &NeighbourEvidence,
        data: &Dataset,
        label: LabelId,
        query: usize,
        n_columns: usize,
    ) -> Vec<Ranked> {
        let cell = |row, column| data.features().get(row, column);
        let extended = |row: usize| {
            let square = |column| (cell(query, column) - cell(row, column)).powi(2);
            let distance: f64 = (0..n_columns).map(square).sum();
            Ranked { distance: distance + evidence.count_disagreements(row), row: row as u32 }
        };
        let voters = (0..data.n_rows()).filter(|&row| evidence.model.votes_on.get(row, label));
        let mut all: Vec<Ranked> = voters.map(extended).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// Also with more neighbours than rows. Labels use both inputs or the first alone, all rows vote
        /// on a label or two thirds, and some labels may be unknown.
        #[test]
        fn stopping_early_changes_nothing(
            n_rows in 1usize..300, n_labels in 1usize..80, neighbours in 1usize..40, seed: u64,
            n_columns in 1usize..=2, all_vote: bool, all_known: bool,
        ) {
            let mut data = coarse(n_rows, n_labels, seed);
            // With inputs of their own, labels add up expected disagreements in another order.
            if !all_known && n_columns == 2 {
                let mut labels = data.labels().clone();
                let ids: Vec<LabelId> = labels.ids().collect();
                ids.iter().for_each(|&label| labels.forget(label.0 % n_rows, label));
                let names = data.label_names().to_vec();
                data = data.with_label_matrix(&names, labels).unwrap();
            }
            let rows: Vec<usize> = (0..n_rows).collect();
            let learner = NearestNeighbours { neighbours, ..NearestNeighbours::default() };
            let train = Prepared::as_is(&data);
            let mut model = learner.fit(&train, &rows, Seed::new(seed)).unwrap();
            // Labels share their lists of inputs, and of voters where all rows vote.
            let columns: Arc<[usize]> = (0..n_columns).collect();
            model.views.iter_mut().for_each(|view| view.features = Arc::clone(&columns));
            if !all_vote {
                for (label, view) in model.views.iter_mut().enumerate() {
                    let (voters, others): (Vec<usize>, Vec<usize>) =
                        view.rows.iter().partition(|&row| (row + label) % 3 > 0);
                    others.iter().for_each(|&row| model.votes_on.set(row, LabelId(label), false));
                    view.rows = voters.into();
                }
            }
            let weka = NearestNeighboursModel { ties: Ties::Weka, ..model.clone() };
            let near = Neighbourhood::of(&data).unwrap();
            let rankings = near.rankings(&data, Needs::Ranking).unwrap();
            let features = data.features();
            let block = Block { rankings: rankings.as_ref(), ..Block::of(features, &rows) };
            let scores = model.score(&block);
            let query = seed as usize % n_rows;
            let mut evidence = model.evidence(&scores, query);
            let mut tied = weka.evidence(&scores, query);
            let few = neighbours.div_ceil(2);
            let fewer = [&model, &weka]
                .map(|model| NearestNeighboursModel { neighbours: few, ..model.clone() });
            let mut fewer = fewer.each_ref().map(|model| model.evidence(&scores, query));
            let mut rng = Seed::new(seed).rng();
            for label in data.labels().ids() {
                let all = full_scan(&evidence, &data, label, query, n_columns);
                let exactly = &all[..neighbours.min(all.len())];
                let last = exactly.last().map_or(0.0, |last| last.distance);
                let as_far: Vec<Ranked> =
                    all.iter().copied().filter(|row| row.distance <= last).collect();
                let [nearest, of_tied] = [&evidence, &tied].map(|of| of.nearest(label).to_vec());
                prop_assert_eq!(evidence.voters(&nearest, neighbours), exactly);
                prop_assert_eq!(tied.voters(&of_tied, neighbours), &as_far[..]);
                // Also of a second label before the next decision.
                let second = LabelId((label.0 + 1) % n_labels);
                let of_second = full_scan(&evidence, &data, second, query, n_columns);
                let exactly = &of_second[..neighbours.min(of_second.len())];
                let nearest = evidence.nearest(second).to_vec();
                prop_assert_eq!(evidence.voters(&nearest, neighbours), exactly);
                let (yes, no): (Vec<Ranked>, Vec<Ranked>) =
                    as_far.iter().partition(|of| data.labels().get(of.row as usize, label));
                prop_assert_eq!(tied.votes(label, &as_far), [yes.len(), no.len()]);
                for (most, fewer) in [&evidence, &tied].into_iter().zip(&fewer) {
                    let expected = [fewer.support(label), most.support(label)];
                    prop_assert_eq!(most.supports(label, [few, neighbours]), expected);
                }
                let relevant = rng.chance(0.5);
                for evidence in [&mut evidence, &mut tied].into_iter().chain(&mut fewer) {
                    evidence.observe(label, relevant);
                }
            }
        }
    }

    #[test]
    fn a_copy_shares_distances_but_not_decisions() {
        let data = coarse(50, 3, 1);
        let rows: Vec<usize> = (0..50).collect();
        let learner = NearestNeighbours { metric: Metric::Weka, ..NearestNeighbours::default() };
        let train = Prepared::as_is(&data);
        let model = learner.fit(&train, &rows, Seed::new(1)).unwrap();
        let near = Neighbourhood::of(&data).unwrap();
        let rankings = near.rankings(&data, Needs::Ranking).unwrap();
        let features = data.features();
        let block = Block { rankings: rankings.as_ref(), ..Block::of(features, &rows) };
        let scores = model.score(&block);
        let start = model.evidence(&scores, 7);
        let mut moved = start.clone();
        moved.observe(LabelId(0), true);
        assert!(moved.disagreements().as_flattened().iter().any(|&count| count > 0.0));
        assert!(start.disagreements().as_flattened().iter().all(|&count| count == 0.0));
        moved.support(LabelId(1));
        let is_computed = |label: usize| start.label_distances[label].get().is_some();
        assert!(is_computed(1) && !is_computed(2));
    }

    #[test]
    fn unanimous_neighbours_leave_no_doubt_unless_votes_start_above_zero() {
        // Ten equal rows to all of which the label is relevant: R = 5 of them vote, or all ten.
        let mut cells = Dense::new(1);
        (0..10).for_each(|_| cells.push_row(&[1.0]));
        let mut labels = LabelMatrix::empty(10, 1);
        (0..10).for_each(|row| labels.set(row, LabelId(0), true));
        let attributes = vec![Attribute::numeric("x")];
        let matrix = Matrix::Dense(cells);
        let data = Dataset::new("same", attributes, matrix, vec!["a".into()], labels).unwrap();
        let support = |ties| {
            let rows: Vec<usize> = (0..10).collect();
            let learner = NearestNeighbours { ties, ..NearestNeighbours::default() };
            let model = learner.fit(&Prepared::as_is(&data), &rows, Seed::new(1)).unwrap();
            let near = Neighbourhood::of(&data).unwrap();
            let rankings = near.rankings(&data, Needs::Ranking).unwrap();
            let features = data.features();
            let block = Block { rankings: rankings.as_ref(), ..Block::of(features, &rows) };
            let scores = model.score(&block);
            model.evidence(&scores, 0).support(LabelId(0))
        };
        assert_eq!(support(Ties::LowerRow), Score::LogOdds(f64::INFINITY));
        // (10 + 1/10) / (1/10) = 101.
        assert!((support(Ties::Weka).value() - 101f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn no_rows_ranked_is_no_reason_for_a_label() {
        let data = coarse(5, 2, 1);
        let rows = [0, 1, 2];
        let train = Prepared::as_is(&data);
        let model = NearestNeighbours::default().fit(&train, &rows, Seed::new(1)).unwrap();
        let block = Block::of(data.features(), &rows);
        let scores = model.score(&block);
        assert_eq!(model.evidence(&scores, 2).support(LabelId(1)), Score::LogOdds(0.0));
    }

    #[test]
    fn a_row_outside_of_the_view_of_a_label_may_not_vote_on_it() {
        let data = coarse(5, 2, 1);
        let mut model = NearestNeighbours::default()
            .fit(&Prepared::as_is(&data), &[0, 1, 2], Seed::new(1))
            .unwrap();
        let (n_labels, n_features) = (data.n_labels(), data.n_features());
        let (n_numbers, n_rows, n_train) = (n_features, 5, Some(5));
        let dimensions = Dimensions { n_labels, n_features, n_numbers, n_rows, n_train };
        assert!(model.fits(&dimensions));
        model.votes_on.set(4, LabelId(1), true);
        assert!(!model.fits(&dimensions));
        model.votes_on.set(0, LabelId(1), false);
        assert!(!model.fits(&dimensions), "as many rows, but not those of the view");
    }

    #[test]
    fn no_neighbours_are_refused() {
        let train = Prepared::as_is(&coarse(5, 2, 1));
        let none = NearestNeighbours { neighbours: 0, ..NearestNeighbours::default() };
        let message = none.fit(&train, &[0], Seed::new(1)).unwrap_err().to_string();
        assert!(message.contains("neighbours is 0"), "{message}");
    }
}
