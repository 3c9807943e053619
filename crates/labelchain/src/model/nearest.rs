//! Nearest neighbours: a label is relevant if most of the training rows near by carry it, where a
//! label decided otherwise than in a training row puts that row 1 farther away.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::{ChainLearner, ChainModel, Evidence};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::learner::Block;
use crate::neighbourhood::{Nearest, Ranked, Ranking};
use crate::prepare::{LabelView, Preparation, Prepared};
use crate::seed::Seed;

/// Nearest neighbours (methods 2).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `neighbours` | 5 | at least 1 | R: rows that vote |
/// | `preparation` | none | | rows and features of each label |
#[derive(Clone, Debug, PartialEq)]
pub struct NearestNeighbours {
    /// R: rows that vote.
    pub neighbours: usize,
    /// Rows and features of each label.
    pub preparation: Preparation,
}

impl Default for NearestNeighbours {
    fn default() -> NearestNeighbours {
        NearestNeighbours { neighbours: 5, preparation: Preparation::none() }
    }
}

/// Which training rows vote on each label, and the labels they carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestNeighboursModel {
    neighbours: usize,
    n_features: usize,
    views: Vec<LabelView>,
    /// Whether a training row, if fitted on, carries a label.
    carries: LabelMatrix,
    /// Whether a training row has a vote on a label.
    votes_on: LabelMatrix,
}

impl ChainLearner for NearestNeighbours {
    type Model = NearestNeighboursModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<NearestNeighboursModel> {
        if self.neighbours == 0 {
            let (name, value) = ("neighbours", "0".into());
            return Err(Error::Setting { name, value, accepted: "at least 1" });
        }
        let data = train.data();
        let views = train.views(&self.preparation, rows, seed);
        let mut carries = LabelMatrix::empty(data.n_rows(), data.n_labels());
        let mut votes_on = carries.clone();
        for &row in rows {
            data.labels().relevant(row).for_each(|label| carries.set(row, label, true));
        }
        for (label, view) in views.iter().enumerate() {
            view.rows.iter().for_each(|&row| votes_on.set(row, LabelId(label), true));
        }
        let (neighbours, n_features) = (self.neighbours, data.n_features());
        Ok(NearestNeighboursModel { neighbours, n_features, views, carries, votes_on })
    }
}

impl NearestNeighboursModel {
    /// The same rows with another R, at least 1.
    pub fn with_neighbours(&self, neighbours: usize) -> NearestNeighboursModel {
        NearestNeighboursModel { neighbours: neighbours.max(1), ..self.clone() }
    }

    /// The rows and features each label learned from.
    pub fn views(&self) -> &[LabelView] {
        &self.views
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, n_labels: usize, n_features: usize, n_train: usize) -> bool {
        let fits = |view: &LabelView| {
            view.rows.iter().all(|&row| row < n_train)
                && view.features.iter().all(|&column| column < n_features)
        };
        self.neighbours > 0
            && self.n_features == n_features
            && self.views.len() == n_labels
            && self.views.iter().all(fits)
            && self.carries.is_sound(n_train, n_labels)
            && self.votes_on.is_sound(n_train, n_labels)
    }

    /// Rankings in the inputs of one label.
    fn own_rankings(&self, view: &LabelView, block: &Block, nearest: &Nearest) -> Vec<Ranking> {
        let lanes = nearest.train.lanes(&view.rows, &view.features);
        let ranking = |&row: &usize| {
            let distances = lanes.distances(block.features, row);
            let of = |(&row, distance): (&usize, f64)| Ranked { distance, row: row as u32 };
            self.shortlist(view.rows.iter().zip(distances).map(of).collect())
        };
        block.rows.iter().map(ranking).collect()
    }

    /// The rows that may come to be among the R nearest, ranked. A decided label adds at most 1 to
    /// a distance, so the R nearest by inputs never come to lie farther than L - 1 beyond the last
    /// of them.
    fn shortlist(&self, mut rows: Vec<Ranked>) -> Ranking {
        if self.neighbours < rows.len() {
            let (_, last, _) = rows.select_nth_unstable(self.neighbours - 1);
            let bound = last.distance + self.views.len().saturating_sub(1) as f64;
            rows.retain(|ranked| ranked.distance <= bound);
        }
        rows.sort_unstable();
        rows.into()
    }
}

/// Rankings of training rows for every row of a block.
pub struct Rankings {
    /// In all inputs; none where nobody ranked them.
    shared: Vec<Ranking>,
    /// For each label that has its own inputs, in these.
    own: Vec<Option<Vec<Ranking>>>,
}

impl Rankings {
    fn get(&self, row: usize, label: LabelId) -> &[Ranked] {
        let rankings = self.own[label.0].as_ref().unwrap_or(&self.shared);
        rankings.get(row).map_or(&[], |ranking| ranking)
    }
}

impl ChainModel for NearestNeighboursModel {
    type Scores = Rankings;
    type Evidence<'m> = Disagreement<'m>;

    fn n_labels(&self) -> usize {
        self.views.len()
    }

    fn needs_nearest(&self) -> bool {
        true
    }

    fn score(&self, block: &Block) -> Rankings {
        let own = |view: &LabelView| {
            let nearest = block.nearest.filter(|_| view.features.len() < self.n_features)?;
            Some(self.own_rankings(view, block, nearest))
        };
        Rankings {
            shared: block.nearest.map_or(Vec::new(), |nearest| nearest.rankings.clone()),
            own: self.views.iter().map(own).collect(),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m Rankings, row: usize) -> Disagreement<'m> {
        let nothing = LabelMatrix::empty(1, self.n_labels());
        Disagreement { model: self, scores, row, decided: nothing.clone(), relevant: nothing }
    }
}

/// What was decided about one row, and hence how far training rows have moved away.
#[derive(Clone)]
pub struct Disagreement<'m> {
    model: &'m NearestNeighboursModel,
    scores: &'m Rankings,
    row: usize,
    /// Labels decided, in one row.
    decided: LabelMatrix,
    /// Those decided to be relevant.
    relevant: LabelMatrix,
}

impl Disagreement<'_> {
    /// On how many decided labels a training row disagrees.
    fn of(&self, row: usize) -> u32 {
        let decisions = self.decided.row(0).iter().zip(self.relevant.row(0));
        let words = self.model.carries.row(row).iter().zip(decisions);
        words
            .map(|(carries, (decided, relevant))| ((carries ^ relevant) & decided).count_ones())
            .sum()
    }

    /// The R rows of least extended distance, squared input distance plus disagreements, that have
    /// a vote on the label; of equals the lower row.
    ///
    /// Rows come by ascending input distance and disagreements only add to it, so no row can enter
    /// once the input distance is beyond the R-th extended one.
    fn nearest(&self, label: LabelId) -> BinaryHeap<Ranked> {
        let mut nearest: BinaryHeap<Ranked> = BinaryHeap::new();
        for ranked in self.scores.get(self.row, label) {
            let last = nearest.peek().filter(|_| nearest.len() >= self.model.neighbours);
            if last.is_some_and(|last| ranked.distance > last.distance) {
                break;
            }
            let row = ranked.row as usize;
            if !self.model.votes_on.get(row, label) {
                continue;
            }
            let extended =
                Ranked { distance: ranked.distance + f64::from(self.of(row)), row: ranked.row };
            match last.copied() {
                None => nearest.push(extended),
                Some(last) if extended < last => {
                    nearest.pop();
                    nearest.push(extended);
                }
                Some(_) => {}
            }
        }
        nearest
    }
}

impl Evidence for Disagreement<'_> {
    /// Log-odds of the neighbours' votes, infinite where they are unanimous; 0 where nobody votes.
    fn support(&self, label: LabelId) -> f64 {
        let nearest = self.nearest(label);
        let carries = |ranked: &&Ranked| self.model.carries.get(ranked.row as usize, label);
        let yes = nearest.iter().filter(carries).count();
        let no = nearest.len() - yes;
        if yes == no { 0.0 } else { (yes as f64).ln() - (no as f64).ln() }
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.decided.set(0, label, true);
        self.relevant.set(0, label, relevant);
    }
}
