//! Training rows ranked by their distance to a row.

use std::sync::{Arc, OnceLock};

use super::Neighbourhood;
use super::term_sums::Query;
use crate::product::vectorized;

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
/// Most searches for neighbours end among the nearest rows, so only these are measured and sorted at
/// once. The others are when somebody first asks for them, and once for all who do.
pub struct Ranking {
    nearest: Arc<NearestRows>,
    /// The distance of every training row, by its number.
    distances: OnceLock<Vec<f64>>,
    /// The rows beyond the radius, sorted.
    far: OnceLock<Vec<Ranked>>,
}

/// The training rows nearest to one row.
pub(super) struct NearestRows {
    /// Sorted.
    rows: Vec<Ranked>,
    /// Every row that is no farther than this is among them.
    radius: f64,
    /// The row that is to be labelled.
    query: Query,
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
        let of_row = 2 * N_NEAREST * size_of::<Ranked>() + n_inputs * size_of::<f64>();
        let n_bytes = (n_rows as u64).saturating_mul(of_row as u64);
        let is_small = n_bytes <= OwnRankings::MOST_BYTES.min(max_memory / 8);
        is_small.then(|| &self.0.get_or_init(|| (0..n_rows).map(|_| OnceLock::new()).collect())[..])
    }
}

/// How many of the nearest rows are measured and sorted at once, or a few more.
const N_NEAREST: usize = 128;

/// Estimates are looked at in so many groups to find which of them are among the least.
const GROUPS: usize = 4 * N_NEAREST;

impl Ranking {
    /// Measures every training row.
    pub(super) fn of_all(query: Query) -> Ranking {
        let distances = query.distances();
        let limit = limit_of_nearest(&distances);
        let ranked = |row: u32| Ranked { distance: distances[row as usize], row };
        let mut nearest: Vec<Ranked> = within(&distances, limit).into_iter().map(ranked).collect();
        nearest.sort_unstable();
        let nearest = NearestRows { rows: nearest, radius: limit, query };
        Ranking { distances: OnceLock::from(distances), ..Ranking::of(Arc::new(nearest)) }
    }

    /// Of rows that were found before.
    pub(super) fn of(nearest: Arc<NearestRows>) -> Ranking {
        Ranking { nearest, distances: OnceLock::new(), far: OnceLock::new() }
    }

    /// The rows nearest to it, to be kept; none where equal distances make them more than the memory that
    /// [`OwnRankings`] expects.
    pub(super) fn rows_to_keep(&self) -> Option<Arc<NearestRows>> {
        (self.nearest.rows.len() <= 2 * N_NEAREST).then(|| Arc::clone(&self.nearest))
    }

    /// Finds the nearest rows by estimates of their distances, none of which is wrong by more than
    /// `error`, and measures these only: `distances_to` some rows.
    ///
    /// Let t be an estimate that at least [`N_NEAREST`] rows do not exceed. A row whose distance is at most
    /// t + error has an estimate of at most t + 2 error. So all rows of such a distance are found
    /// among the rows of such an estimate, and they are the nearest ones without a gap.
    pub(super) fn of_estimates(
        estimates: &[f64],
        error: f64,
        query: Query,
        distances_to: impl FnOnce(&Query, &[u32]) -> Vec<f64>,
    ) -> Ranking {
        let limit = limit_of_nearest(estimates);
        let rows = within(estimates, limit + 2.0 * error);
        let distances = distances_to(&query, &rows);
        let ranked =
            rows.into_iter().zip(distances).map(|(row, distance)| Ranked { distance, row });
        let radius = limit + error;
        let mut nearest: Vec<Ranked> = ranked.filter(|row| row.distance <= radius).collect();
        nearest.sort_unstable();
        Ranking::of(Arc::new(NearestRows { rows: nearest, radius, query }))
    }

    /// The nearest rows, the nearest first: all rows that are no farther than [`Ranking::radius`].
    pub(crate) fn nearest(&self) -> &[Ranked] {
        &self.nearest.rows
    }

    /// The distance within which every row is among the nearest; infinite where these are all rows.
    pub(crate) fn radius(&self) -> f64 {
        self.nearest.radius
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
        self.nearest().iter().chain(far.flatten())
    }
}

/// A number that at least [`N_NEAREST`] of the numbers do not exceed, and seldom many more; infinite where
/// there are no more numbers than that.
///
/// It is the N_NEAREST-th least of the minima of [`GROUPS`] groups. Finding it takes one comparison for each
/// number, which is a fraction of what it takes to partially sort them.
fn limit_of_nearest(numbers: &[f64]) -> f64 {
    if numbers.len() <= N_NEAREST {
        return f64::INFINITY;
    }
    let mut minima = [f64::INFINITY; GROUPS];
    vectorized(
        #[inline(always)]
        || {
            for numbers in numbers.chunks(GROUPS) {
                for (minimum, &number) in minima.iter_mut().zip(numbers) {
                    *minimum = if number < *minimum { number } else { *minimum };
                }
            }
        },
    );
    // No distance is negative, so their bit patterns are in the order of the numbers.
    *minima.select_nth_unstable_by_key(N_NEAREST - 1, |minimum| minimum.to_bits()).1
}

/// The places of the numbers that do not exceed the limit, ascending.
fn within(numbers: &[f64], limit: f64) -> Vec<u32> {
    const AT_ONCE: usize = 16;
    let mut places = Vec::with_capacity(2 * N_NEAREST);
    vectorized(
        #[inline(always)]
        || {
            for (at, numbers) in numbers.chunks(AT_ONCE).enumerate() {
                // Few blocks have such a number, and the others are left at once.
                if numbers.iter().fold(false, |any, &number| any | (number <= limit)) {
                    for (place, &number) in numbers.iter().enumerate() {
                        if number <= limit {
                            places.push((at * AT_ONCE + place) as u32);
                        }
                    }
                }
            }
        },
    );
    places
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
