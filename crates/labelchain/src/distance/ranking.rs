//! Training rows ranked by their distance to a row.

use std::sync::{Arc, OnceLock};

use super::Neighbourhood;
use super::candidates::Bounds;
use super::term_sums::Query;

/// A training row and its distance to the row that is to be labelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Squared distance.
    pub distance: f64,
    /// The row of the training set.
    pub row: u32,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The nearer row comes first; of rows equally far, the one with the lower number.
impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.row.cmp(&other.row))
    }
}

/// Training rows from the nearest to the farthest.
///
/// Most searches for neighbours end among the nearest rows, so rows are measured and sorted in steps, when
/// somebody first asks for them and once for all who do.
pub struct Ranking {
    nearest: Arc<NearestRows>,
    /// The distance of every training row, by its number.
    distances: OnceLock<Vec<f64>>,
    /// The rows beyond the last step, sorted.
    far: OnceLock<Vec<Ranked>>,
}

/// The training rows nearest to one row, in a few steps.
pub(super) struct NearestRows {
    /// The rows that may be among them, by ascending lower bound of their distance.
    candidates: Vec<u32>,
    steps: Vec<Step>,
    /// The row that is to be labelled.
    query: Query,
}

/// The rows within a radius that are beyond that of the step before.
struct Step {
    /// Every row within the radius is among so many of the candidates.
    n_candidates: usize,
    /// Infinite where there are no other rows.
    radius: f64,
    measured: OnceLock<Measured>,
}

/// The candidates of a step that are beyond the step before.
struct Measured {
    /// Sorted.
    rows: Vec<Ranked>,
    /// So many of them are within the radius of this step; the others are for the next.
    n_within: usize,
}

impl Measured {
    fn new(mut rows: Vec<Ranked>, radius: f64) -> Measured {
        rows.sort_unstable();
        let n_within = rows.partition_point(|row| row.distance <= radius);
        Measured { rows, n_within }
    }
}

impl NearestRows {
    fn new(bounds: &[Bounds], n_train: usize, query: Query) -> NearestRows {
        let mut radius: f64 = 0.0;
        let mut n_before = 0;
        let step = |n_nearest: usize| {
            for bounds in &bounds[n_before..n_nearest.min(bounds.len())] {
                radius = radius.max(bounds.upper);
            }
            n_before = n_nearest.min(bounds.len());
            let radius = if n_nearest < n_train { radius } else { f64::INFINITY };
            let n_candidates = bounds.partition_point(|bounds| bounds.lower <= radius);
            Step { n_candidates, radius, measured: OnceLock::new() }
        };
        let steps = STEPS.into_iter().map(step).collect();
        NearestRows { candidates: bounds.iter().map(|bounds| bounds.row).collect(), steps, query }
    }

    /// What a step measures; none where there is no such step.
    fn measured(&self, at: usize) -> Option<&Measured> {
        let step = self.steps.get(at)?;
        Some(step.measured.get_or_init(|| {
            let mut rows = Vec::new();
            let mut n_before = 0;
            if let Some(before) = at.checked_sub(1)
                && let Some(measured) = self.measured(before)
            {
                n_before = self.steps[before].n_candidates;
                rows.extend_from_slice(&measured.rows[measured.n_within..]);
            }
            let candidates = &self.candidates[n_before..step.n_candidates];
            let distances = self.query.distances_to(candidates);
            let ranked = candidates.iter().zip(distances);
            rows.extend(ranked.map(|(&row, distance)| Ranked { distance, row }));
            Measured::new(rows, step.radius)
        }))
    }
}

/// The rankings of training rows among themselves, as far as somebody asked for them. Validation, tuning,
/// calibration and several methods ask for the same ones. The distances of all rows are not kept.
#[derive(Default)]
pub(super) struct OwnRankings(OnceLock<Vec<OnceLock<Arc<NearestRows>>>>);

impl OwnRankings {
    /// What these rankings take at most: all of them together are not kept where it is more.
    const MOST_BYTES: u64 = 1 << 28;

    /// A place for the ranking of each of so many rows of so many inputs; none where they would take a
    /// large part of so much memory.
    pub(super) fn places(
        &self,
        n_rows: usize,
        n_inputs: usize,
        max_memory: u64,
    ) -> Option<&[OnceLock<Arc<NearestRows>>]> {
        // Each candidate, and its distance once it is measured.
        let of_candidates = 2 * N_NEAREST * (size_of::<u32>() + size_of::<Ranked>());
        let of_row = of_candidates + n_inputs * size_of::<f64>();
        let n_bytes = (n_rows as u64).saturating_mul(of_row as u64);
        let is_small = n_bytes <= OwnRankings::MOST_BYTES.min(max_memory / 8);
        is_small.then(|| &self.0.get_or_init(|| (0..n_rows).map(|_| OnceLock::new()).collect())[..])
    }
}

/// How many of the nearest rows are measured and sorted with each step, or a few more.
const STEPS: [usize; 3] = [16, 48, N_NEAREST];

/// How many of the nearest rows are found at once, or a few more.
pub(super) const N_NEAREST: usize = 128;

impl Ranking {
    /// Measures every training row.
    pub(super) fn of_all(query: Query) -> Ranking {
        let distances = query.distances();
        let ranked = |(row, &distance): (usize, &f64)| Ranked { distance, row: row as u32 };
        let mut all: Vec<Ranked> = distances.iter().enumerate().map(ranked).collect();
        let mut radius = f64::INFINITY;
        if all.len() > N_NEAREST {
            radius = all.select_nth_unstable(N_NEAREST - 1).1.distance;
            all.retain(|row| row.distance <= radius);
        }
        let measured = OnceLock::from(Measured::new(all, radius));
        let step = Step { n_candidates: 0, radius, measured };
        let nearest = NearestRows { candidates: Vec::new(), steps: vec![step], query };
        Ranking { distances: OnceLock::from(distances), ..Ranking::of(Arc::new(nearest)) }
    }

    /// Of the rows that may be among the nearest, by ascending lower bound: all that are no farther than
    /// the greatest upper bound of the first [`N_NEAREST`].
    ///
    /// Let r be the greatest upper bound of the first n candidates. At least n rows are no farther than r,
    /// and each of these has a lower bound of at most r. So the rows within r are found among the
    /// candidates of such a lower bound, and they are the nearest ones without a gap.
    pub(super) fn of_candidates(bounds: &[Bounds], n_train: usize, query: Query) -> Ranking {
        Ranking::of(Arc::new(NearestRows::new(bounds, n_train, query)))
    }

    /// Of rows that were found before.
    pub(super) fn of(nearest: Arc<NearestRows>) -> Ranking {
        Ranking { nearest, distances: OnceLock::new(), far: OnceLock::new() }
    }

    /// The rows nearest to it, to be kept; none where equal distances make them more than the memory that
    /// [`OwnRankings`] expects.
    pub(super) fn rows_to_keep(&self) -> Option<Arc<NearestRows>> {
        let has_few = self.nearest.candidates.len() <= 2 * N_NEAREST;
        (has_few && self.distances.get().is_none()).then(|| Arc::clone(&self.nearest))
    }

    /// The nearest rows in steps, the nearest first: all rows that are no farther than the radius of the
    /// step and beyond that of the step before.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&[Ranked], f64)> {
        let steps = self.nearest.steps.iter().enumerate();
        steps.filter_map(|(at, step)| {
            let Measured { rows, n_within } = self.nearest.measured(at)?;
            Some((&rows[..*n_within], step.radius))
        })
    }

    /// The distance within which every row is among the steps; infinite where these are all rows.
    pub(crate) fn radius(&self) -> f64 {
        self.nearest.steps.last().map_or(f64::NEG_INFINITY, |step| step.radius)
    }

    /// The distance of every training row, by its number.
    pub(crate) fn distances(&self) -> &[f64] {
        self.distances.get_or_init(|| self.nearest.query.distances())
    }

    /// The nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Ranked> {
        let sorted = || {
            if self.radius() == f64::INFINITY {
                return Vec::new();
            }
            let ranked = |(row, &distance): (usize, &f64)| Ranked { distance, row: row as u32 };
            let all = self.distances().iter().enumerate().map(ranked);
            let mut far: Vec<Ranked> = all.filter(|row| row.distance > self.radius()).collect();
            far.sort_unstable();
            far
        };
        let far = std::iter::once_with(move || self.far.get_or_init(sorted));
        self.steps().flat_map(|(rows, _)| rows).chain(far.flatten())
    }
}

/// What a model needs to know about the training rows to score a block. Each need includes those
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing.
    #[default]
    Nothing,
    /// The inputs of the training rows.
    Inputs,
    /// Also a ranking of the training rows for each row of the block.
    Ranking,
}

/// The training rows, and for each row of a block their ranking.
pub struct Rankings<'a> {
    /// The training rows.
    pub train: &'a Neighbourhood<'a>,
    /// One ranking for each row of the block; empty where only the inputs are needed.
    pub rankings: Vec<Arc<Ranking>>,
}

impl Rankings<'_> {
    /// The rankings of some rows of the block.
    pub fn select(&self, rows: &[usize]) -> Rankings<'_> {
        let rankings = rows.iter().filter_map(|&row| self.rankings.get(row).cloned()).collect();
        Rankings { train: self.train, rankings }
    }
}
