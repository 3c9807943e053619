//! Nearest neighbours: a label is relevant if most of the training rows near by carry it, where a
//! label decided otherwise than in a training row puts that row 1 farther away.

use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ChainLearner, ChainModel, Evidence};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::learner::Block;
use crate::neighbourhood::{Lanes, Ranked, Ranking};
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
}

/// What distances need, for every row of a block.
pub struct Distances {
    /// Training rows ranked in all inputs; none where nobody ranked them.
    shared: Vec<Arc<Ranking>>,
    /// For each label that looks at inputs of its own, these.
    own: Vec<Option<OwnInputs>>,
}

/// The inputs of one label: of the rows that vote on it, and of the rows of the block.
struct OwnInputs {
    voters: Lanes,
    by_row: Vec<Vec<f64>>,
}

impl ChainModel for NearestNeighboursModel {
    type Scores = Distances;
    type Evidence<'m> = Disagreement<'m>;

    fn n_labels(&self) -> usize {
        self.views.len()
    }

    fn needs_nearest(&self) -> bool {
        true
    }

    fn score(&self, block: &Block) -> Distances {
        let own = |view: &LabelView| {
            let nearest = block.nearest.filter(|_| view.features.len() < self.n_features)?;
            let voters = nearest.train.lanes(&view.rows, &view.features);
            let cells = |&row: &usize| voters.cells(block.features, row);
            let by_row = block.rows.iter().map(cells).collect();
            Some(OwnInputs { voters, by_row })
        };
        Distances {
            shared: block.nearest.map_or(Vec::new(), |nearest| nearest.rankings.clone()),
            own: self.views.iter().map(own).collect(),
        }
    }

    fn evidence<'m>(&'m self, scores: &'m Distances, row: usize) -> Disagreement<'m> {
        let nothing = LabelMatrix::empty(1, self.n_labels());
        Disagreement { model: self, scores, row, decided: nothing.clone(), relevant: nothing }
    }
}

/// What was decided about one row, and hence how far training rows have moved away.
#[derive(Clone)]
pub struct Disagreement<'m> {
    model: &'m NearestNeighboursModel,
    scores: &'m Distances,
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

    /// The R rows of least extended distance, squared input distance plus disagreements, that vote
    /// on the label; of equals the lower row.
    fn nearest(&self, label: LabelId) -> Closest {
        let mut closest = Closest { most: self.model.neighbours, rows: BinaryHeap::new() };
        match &self.scores.own[label.0] {
            None => self.among_ranked(label, &mut closest),
            Some(own) => self.among_voters(label, own, &mut closest),
        }
        closest
    }

    /// Rows come by ascending input distance and disagreements only add to it, so no row can enter
    /// once the input distance is beyond the R-th extended one.
    fn among_ranked(&self, label: LabelId, closest: &mut Closest) {
        let ranking = self.scores.shared.get(self.row);
        for ranked in ranking.into_iter().flat_map(|ranking| ranking.iter()) {
            if closest.excludes(ranked.distance) {
                break;
            }
            if self.model.votes_on.get(ranked.row as usize, label) {
                closest.offer(self.extended(*ranked));
            }
        }
    }

    /// Asked once in a walk, so sorting would not pay.
    fn among_voters(&self, label: LabelId, own: &OwnInputs, closest: &mut Closest) {
        let distances = own.voters.distances(&own.by_row[self.row]);
        for (&row, distance) in self.model.views[label.0].rows.iter().zip(distances) {
            if !closest.excludes(distance) {
                closest.offer(self.extended(Ranked { distance, row: row as u32 }));
            }
        }
    }

    fn extended(&self, Ranked { distance, row }: Ranked) -> Ranked {
        Ranked { distance: distance + f64::from(self.of(row as usize)), row }
    }
}

/// The least of the rows offered, at most so many.
struct Closest {
    most: usize,
    rows: BinaryHeap<Ranked>,
}

impl Closest {
    /// Whether no row that far can enter.
    fn excludes(&self, distance: f64) -> bool {
        self.rows.len() >= self.most
            && self.rows.peek().is_some_and(|last| distance > last.distance)
    }

    fn offer(&mut self, row: Ranked) {
        if self.rows.len() < self.most {
            self.rows.push(row);
        } else if let Some(mut last) = self.rows.peek_mut()
            && row < *last
        {
            *last = row;
        }
    }
}

impl Evidence for Disagreement<'_> {
    /// Log-odds of the neighbours' votes, infinite where they are unanimous; 0 where nobody votes.
    fn support(&self, label: LabelId) -> f64 {
        let nearest = self.nearest(label).rows;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dataset, Dense, Matrix};
    use crate::neighbourhood::Neighbourhood;
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

    /// Every row, sorted by extended distance.
    fn full_scan(evidence: &Disagreement, data: &Dataset, query: usize) -> Vec<Ranked> {
        let cell = |row, column| data.features().get(row, column);
        let extended = |row: usize| {
            let square = |column| (cell(query, column) - cell(row, column)).powi(2);
            let distance = square(0) + square(1);
            evidence.extended(Ranked { distance, row: row as u32 })
        };
        let mut all: Vec<Ranked> = (0..data.n_rows()).map(extended).collect();
        all.sort_unstable();
        all.truncate(evidence.model.neighbours);
        all
    }

    proptest! {
        #[test]
        fn stopping_early_changes_nothing(
            n_rows in 1usize..300, n_labels in 1usize..80, neighbours in 1usize..12, seed: u64,
        ) {
            let data = coarse(n_rows, n_labels, seed);
            let rows: Vec<usize> = (0..n_rows).collect();
            let learner = NearestNeighbours { neighbours, ..NearestNeighbours::default() };
            let train = Prepared::as_is(&data);
            let model = learner.fit(&train, &rows, Seed::new(seed)).unwrap();
            let near = Neighbourhood::of(&data).unwrap();
            let nearest = near.nearest(&data).unwrap();
            let features = data.features();
            let block = Block { features, rows: &rows, near: None, nearest: Some(&nearest) };
            let scores = model.score(&block);
            let query = seed as usize % n_rows;
            let mut evidence = model.evidence(&scores, query);
            let mut rng = Seed::new(seed).rng();
            for label in data.labels().ids() {
                let found = evidence.nearest(label).rows.into_sorted_vec();
                prop_assert_eq!(found, full_scan(&evidence, &data, query));
                evidence.observe(label, rng.chance(0.5));
            }
        }
    }

    #[test]
    fn no_rows_ranked_is_no_reason_for_a_label() {
        let data = coarse(5, 2, 1);
        let rows = [0, 1, 2];
        let train = Prepared::as_is(&data);
        let model = NearestNeighbours::default().fit(&train, &rows, Seed::new(1)).unwrap();
        let block = Block { features: data.features(), rows: &rows, near: None, nearest: None };
        let scores = model.score(&block);
        assert_eq!(model.evidence(&scores, 2).support(LabelId(1)), 0.0);
    }

    #[test]
    fn no_neighbours_are_refused() {
        let train = Prepared::as_is(&coarse(5, 2, 1));
        let none = NearestNeighbours { neighbours: 0, ..NearestNeighbours::default() };
        let message = none.fit(&train, &[0], Seed::new(1)).unwrap_err().to_string();
        assert!(message.contains("neighbours is 0"), "{message}");
    }
}
