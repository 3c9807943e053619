//! Rankings neighbours: a label is relevant if most of the training rows near by carry it, where a
//! label decided otherwise than in a training row puts that row 1 farther away.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ChainLearner, ChainModel, Evidence};
use crate::data::{LabelId, LabelMatrix};
use crate::distance::{ColumnBlocks, Metric, Needs, Ranked, Ranking};
use crate::error::{Error, Result};
use crate::learner::Block;
use crate::prepare::{LabelView, Preparation, Prepared, views};
use crate::product::vectorized;
use crate::seed::Seed;

/// Rankings neighbours (methods 2).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `neighbours` | 5 | at least 1 | R: rows that vote |
/// | `metric` | Euclidean | | how far two rows are apart |
/// | `ties` | lower row | | who votes of rows equally far |
/// | `preparation` | none | | rows and features of each label |
#[derive(Clone, Debug, PartialEq)]
pub struct NearestNeighbours {
    /// R: rows that vote.
    pub neighbours: usize,
    /// How far two rows are apart.
    pub metric: Metric,
    /// Who votes of rows equally far.
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

/// Who votes of rows that are as far as the R-th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ties {
    /// `lower-row`: exactly R rows vote, of equals the lower ones.
    #[default]
    LowerRow,
    /// `weka`: all of them, as in WEKA's IBk, and both answers start with 1/n of a vote, n being
    /// the rows that could have voted (methods 8.2).
    Weka,
}

/// Which training rows vote on each label, and the labels they carry.
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
    /// Whether a training row, if fitted on, carries a label.
    carries: LabelMatrix,
    /// Whether a training row has a vote on a label.
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
        let views = train.views(preparation, rows, seed);
        let mut carries = LabelMatrix::empty(data.n_rows(), data.n_labels());
        let mut votes_on = carries.clone();
        for &row in rows {
            data.labels().relevant(row).for_each(|label| carries.set(row, label, true));
        }
        for (label, view) in views.iter().enumerate() {
            view.rows.iter().for_each(|&row| votes_on.set(row, LabelId(label), true));
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let n_features = data.n_features();
        Ok(NearestNeighboursModel {
            neighbours,
            metric,
            ties,
            n_features,
            views,
            rows,
            carries,
            votes_on,
        })
    }
}

impl NearestNeighboursModel {
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
            && self.rows.iter().all(|&row| row < n_train)
            && self.rows.is_sorted()
            && self.carries.is_sound(n_train, n_labels)
            && self.votes_on.is_sound(n_train, n_labels)
    }

    /// Whether a label measures distances of its own. WEKA's ranges are those of its rows.
    fn is_own(&self, view: &LabelView) -> bool {
        view.features.len() < self.n_features || self.metric == Metric::Weka
    }

    /// For each label, whether each of the rows fitted on carries it.
    fn carried(&self) -> Vec<Vec<bool>> {
        let column = |label| self.rows.iter().map(|&row| self.carries.get(row, label)).collect();
        self.carries.ids().map(column).collect()
    }
}

/// What distances need, for every row of a block.
pub struct Distances {
    /// Training rows ranked in all inputs; none where nobody ranked them.
    shared: Vec<Arc<Ranking>>,
    /// For each label that measures distances of its own, what these need.
    own: Vec<Option<OwnInputs>>,
    /// For each label, whether each row fitted on carries it; nothing where no label measures
    /// distances of its own.
    carried: Vec<Vec<bool>>,
}

/// The inputs of one label: of the rows that vote on it, and of the rows of the block.
struct OwnInputs {
    voters: ColumnBlocks,
    /// Where among the rows fitted on the voters are.
    places: Vec<usize>,
    by_row: Vec<Vec<f64>>,
}

impl OwnInputs {
    /// How far each row fitted on is from a row of the block; one without a vote is nowhere near.
    fn distances(&self, row: usize, n_fitted: usize) -> Vec<[f64; WIDTH]> {
        let mut distances = vec![[f64::INFINITY; WIDTH]; n_fitted.div_ceil(WIDTH)];
        let by_place = distances.as_flattened_mut();
        for (&place, distance) in self.places.iter().zip(self.voters.distances(&self.by_row[row])) {
            by_place[place] = distance;
        }
        distances
    }
}

impl ChainModel for NearestNeighboursModel {
    type Scores = Distances;
    type Evidence<'m> = Disagreement<'m>;

    fn n_labels(&self) -> usize {
        self.views.len()
    }

    fn needs(&self) -> Needs {
        match self.views.iter().all(|view| self.is_own(view)) {
            true => Needs::Inputs,
            false => Needs::Ranking,
        }
    }

    fn score(&self, block: &Block) -> Distances {
        let own = |view: &LabelView| {
            let nearest = block.nearest.filter(|_| self.is_own(view))?;
            let voters = nearest.train.column_blocks(&view.rows, &view.features, self.metric);
            let place = |row: &usize| self.rows.binary_search(row).ok();
            let places = view.rows.iter().filter_map(place).collect();
            let by_row = block.rows.iter().map(|&row| voters.cells(block.features, row)).collect();
            Some(OwnInputs { voters, places, by_row })
        };
        let own: Vec<Option<OwnInputs>> = self.views.iter().map(own).collect();
        Distances {
            shared: block.nearest.map_or(Vec::new(), |nearest| nearest.rankings.clone()),
            carried: if own.iter().any(Option::is_some) { self.carried() } else { Vec::new() },
            own,
        }
    }

    fn evidence<'m>(&'m self, scores: &'m Distances, row: usize) -> Disagreement<'m> {
        let nothing = LabelMatrix::empty(1, self.n_labels());
        let n_counted = scores.carried.first().map_or(0, Vec::len);
        Disagreement {
            model: self,
            scores,
            row,
            decided: nothing.clone(),
            relevant: nothing,
            counts: vec![[0.0; WIDTH]; n_counted.div_ceil(WIDTH)],
            own: scores.own.iter().map(|_| OnceCell::new()).collect(),
        }
    }
}

/// What was decided about one row, and hence how far training rows have moved away.
///
/// Where rows come ranked, few are looked at, and their disagreements are counted then. Where a label
/// measures distances of its own, all rows are looked at, and their counts are kept.
#[derive(Clone)]
pub struct Disagreement<'m> {
    model: &'m NearestNeighboursModel,
    scores: &'m Distances,
    row: usize,
    /// Labels decided, in one row.
    decided: LabelMatrix,
    /// Those decided to be relevant.
    relevant: LabelMatrix,
    /// On how many decided labels each row fitted on disagrees.
    counts: Vec<[f64; WIDTH]>,
    /// For each label the distances of its own, once measured: one measurement serves all copies.
    own: Rc<[OnceCell<Vec<[f64; WIDTH]>>]>,
}

/// Rows looked at together.
const WIDTH: usize = 16;

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
    /// on the label, ascending; of equals the lower row first.
    fn nearest(&self, label: LabelId) -> Vec<Ranked> {
        let most = self.model.neighbours;
        let mut closest = Closest { most, rows: Vec::with_capacity(most.min(WIDTH)) };
        self.scan(label, f64::INFINITY, |row| closest.offer(row));
        closest.rows
    }

    /// How far each row fitted on is from the row, where a label measures distances of its own.
    fn own(&self, label: LabelId) -> Option<&[[f64; WIDTH]]> {
        let own = self.scores.own[label.0].as_ref()?;
        Some(self.own[label.0].get_or_init(|| own.distances(self.row, self.model.rows.len())))
    }

    /// Shows every voter nearer than the bound, if it is among the R nearest or as far as the R-th,
    /// and perhaps others, to `each`, which may say that the bound is less from then on.
    fn scan(&self, label: LabelId, bound: f64, each: impl FnMut(Ranked) -> f64) {
        match self.own(label) {
            None => self.scan_ranked(label, bound, each),
            Some(distances) => self.scan_own(distances, bound, each),
        }
    }

    /// Rows come by ascending input distance and disagreements only add to it, so no row can enter
    /// once the input distance is beyond the bound. One as far as the bound may, if it is lower.
    fn scan_ranked(&self, label: LabelId, mut bound: f64, mut each: impl FnMut(Ranked) -> f64) {
        let ranking = self.scores.shared.get(self.row);
        for &Ranked { distance, row } in ranking.into_iter().flat_map(|ranking| ranking.iter()) {
            if distance > bound {
                break;
            }
            if self.model.votes_on.get(row as usize, label) {
                let distance = distance + f64::from(self.of(row as usize));
                bound = bound.min(each(Ranked { distance, row }));
            }
        }
    }

    /// Rows come by ascending number, and most are passed over many at a time.
    fn scan_own(
        &self,
        distances: &[[f64; WIDTH]],
        bound: f64,
        mut each: impl FnMut(Ranked) -> f64,
    ) {
        let (least, reach) = self.glance(distances);
        let mut bound = bound.min(reach.next_up());
        for (at, least) in least.iter().enumerate() {
            if !least.iter().fold(false, |any, &distance| any | (distance < bound)) {
                continue;
            }
            for (lane, (distance, count)) in distances[at].iter().zip(self.counts[at]).enumerate() {
                let distance = distance + count;
                if distance < bound {
                    let row = self.model.rows[at * WIDTH + lane] as u32;
                    bound = bound.min(each(Ranked { distance, row }));
                }
            }
        }
    }

    /// The least extended distances among rows looked at together, each of a quarter of them, and an
    /// extended distance within which there are at least R rows, and seldom many more: of the rows in
    /// each lane one is the nearest, and of those nearest the R-th is as far.
    fn glance(&self, distances: &[[f64; WIDTH]]) -> (Vec<[f64; WIDTH / 4]>, f64) {
        let mut least = vec![[f64::INFINITY; WIDTH / 4]; distances.len()];
        let mut nearest = vectorized(
            #[inline(always)]
            || {
                let mut nearest = [f64::INFINITY; WIDTH];
                let rows = distances.iter().zip(&self.counts);
                for (least, (distances, counts)) in least.iter_mut().zip(rows) {
                    let mut extended = *distances;
                    extended.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                    lessen(&mut nearest, &extended);
                    let mut here = [f64::INFINITY; WIDTH / 4];
                    extended.as_chunks().0.iter().for_each(|quarter| lessen(&mut here, quarter));
                    *least = here;
                }
                nearest
            },
        );
        // No distance is negative, so their bits are in the order of the numbers.
        nearest.sort_unstable_by_key(|distance| distance.to_bits());
        (least, nearest.get(self.model.neighbours - 1).copied().unwrap_or(f64::INFINITY))
    }

    /// How many of the nearest rows carry the label, and how many do not.
    fn votes(&self, label: LabelId, nearest: &[Ranked]) -> [usize; 2] {
        let mut votes = [0; 2];
        let mut count = |row: Ranked| {
            votes[usize::from(!self.model.carries.get(row.row as usize, label))] += 1;
        };
        match (self.model.ties, nearest.last()) {
            (Ties::LowerRow, _) => nearest.iter().copied().for_each(count),
            (Ties::Weka, None) => {}
            (Ties::Weka, Some(&last)) => self.scan(label, last.distance.next_up(), |row| {
                if row.distance <= last.distance {
                    count(row);
                }
                f64::INFINITY
            }),
        }
        votes
    }

    /// Log-odds of the votes of the nearest rows.
    fn log_odds(&self, label: LabelId, nearest: &[Ranked]) -> f64 {
        let [yes, no] = self.votes(label, nearest);
        let start = match self.model.ties {
            Ties::LowerRow => 0.0,
            Ties::Weka => 1.0 / self.model.views[label.0].rows.len().max(1) as f64,
        };
        if yes == no { 0.0 } else { (yes as f64 + start).ln() - (no as f64 + start).ln() }
    }

    /// The support of a label with several R, none more than the model's, found in one search.
    pub fn supports<const N: usize>(&self, label: LabelId, neighbours: [usize; N]) -> [f64; N] {
        let nearest = self.nearest(label);
        neighbours.map(|r| self.log_odds(label, &nearest[..r.min(nearest.len())]))
    }
}

/// Takes what is less, lane by lane.
#[inline(always)]
fn lessen<const N: usize>(least: &mut [f64; N], others: &[f64; N]) {
    for (least, &other) in least.iter_mut().zip(others) {
        *least = if other < *least { other } else { *least };
    }
}

/// The least of the rows offered, at most so many, ascending.
struct Closest {
    most: usize,
    rows: Vec<Ranked>,
}

impl Closest {
    /// Says how far the last row is, if no more will enter that are farther.
    fn offer(&mut self, row: Ranked) -> f64 {
        let place = self.rows.partition_point(|other| *other < row);
        if place < self.most {
            self.rows.truncate(self.most - 1);
            self.rows.insert(place, row);
        }
        match self.rows.last() {
            Some(last) if self.rows.len() == self.most => last.distance,
            _ => f64::INFINITY,
        }
    }
}

impl Evidence for Disagreement<'_> {
    /// Log-odds of the neighbours' votes, infinite where they are unanimous unless votes start
    /// above 0; 0 where nobody votes.
    fn support(&self, label: LabelId) -> f64 {
        self.log_odds(label, &self.nearest(label))
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.decided.set(0, label, true);
        self.relevant.set(0, label, relevant);
        if let Some(carried) = self.scores.carried.get(label.0) {
            vectorized(
                #[inline(always)]
                || {
                    let counts = self.counts.as_flattened_mut();
                    for (count, &carries) in counts.iter_mut().zip(carried) {
                        *count += f64::from(u8::from(carries != relevant));
                    }
                },
            );
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

    /// Every row, sorted by extended distance in the first columns.
    fn full_scan(
        evidence: &Disagreement,
        data: &Dataset,
        query: usize,
        n_columns: usize,
    ) -> Vec<Ranked> {
        let cell = |row, column| data.features().get(row, column);
        let extended = |row: usize| {
            let square = |column| (cell(query, column) - cell(row, column)).powi(2);
            let distance: f64 = (0..n_columns).map(square).sum();
            Ranked { distance: distance + f64::from(evidence.of(row)), row: row as u32 }
        };
        let mut all: Vec<Ranked> = (0..data.n_rows()).map(extended).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// Also with more neighbours than rows. Labels look at both inputs or at the first alone.
        #[test]
        fn stopping_early_changes_nothing(
            n_rows in 1usize..300, n_labels in 1usize..80, neighbours in 1usize..40, seed: u64,
            n_columns in 1usize..=2,
        ) {
            let data = coarse(n_rows, n_labels, seed);
            let rows: Vec<usize> = (0..n_rows).collect();
            let learner = NearestNeighbours { neighbours, ..NearestNeighbours::default() };
            let train = Prepared::as_is(&data);
            let mut model = learner.fit(&train, &rows, Seed::new(seed)).unwrap();
            model.views.iter_mut().for_each(|view| view.features.truncate(n_columns));
            let weka = NearestNeighboursModel { ties: Ties::Weka, ..model.clone() };
            let near = Neighbourhood::of(&data).unwrap();
            let nearest = near.rankings(&data, Needs::Ranking);
            let features = data.features();
            let block = Block { features, rows: &rows, near: None, nearest: nearest.as_ref() };
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
                let all = full_scan(&evidence, &data, query, n_columns);
                let exactly = &all[..neighbours.min(n_rows)];
                prop_assert_eq!(&evidence.nearest(label)[..], exactly);
                let last = exactly[exactly.len() - 1].distance;
                let (mut yes, mut no) = (0, 0);
                for ranked in all.iter().filter(|ranked| ranked.distance <= last) {
                    match data.labels().get(ranked.row as usize, label) {
                        true => yes += 1,
                        false => no += 1,
                    }
                }
                prop_assert_eq!(tied.votes(label, &tied.nearest(label)), [yes, no]);
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
    fn a_copy_measures_nothing_twice_and_moves_alone() {
        let data = coarse(50, 3, 1);
        let rows: Vec<usize> = (0..50).collect();
        let learner = NearestNeighbours { metric: Metric::Weka, ..NearestNeighbours::default() };
        let train = Prepared::as_is(&data);
        let model = learner.fit(&train, &rows, Seed::new(1)).unwrap();
        let near = Neighbourhood::of(&data).unwrap();
        let nearest = near.rankings(&data, Needs::Ranking);
        let features = data.features();
        let block = Block { features, rows: &rows, near: None, nearest: nearest.as_ref() };
        let scores = model.score(&block);
        let start = model.evidence(&scores, 7);
        let mut moved = start.clone();
        moved.observe(LabelId(0), true);
        assert!(moved.counts.as_flattened().iter().any(|&count| count > 0.0));
        assert!(start.counts.as_flattened().iter().all(|&count| count == 0.0));
        moved.support(LabelId(1));
        assert!(start.own[1].get().is_some() && start.own[2].get().is_none());
    }

    #[test]
    fn unanimous_neighbours_leave_no_doubt_unless_votes_start_above_zero() {
        // Ten rows in one place that all carry the label: R = 5 of them vote, or all ten.
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
            let nearest = near.rankings(&data, Needs::Ranking);
            let features = data.features();
            let block = Block { features, rows: &rows, near: None, nearest: nearest.as_ref() };
            let scores = model.score(&block);
            model.evidence(&scores, 0).support(LabelId(0))
        };
        assert_eq!(support(Ties::LowerRow), f64::INFINITY);
        // (10 + 1/10) / (1/10) = 101.
        assert!((support(Ties::Weka) - 101f64.ln()).abs() < 1e-12);
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
