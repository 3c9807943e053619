//! Training rows ranked by their distance to a row.

use std::sync::{Arc, OnceLock};

use super::Neighbourhood;

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
/// Most searches for neighbours end among the nearest rows, so only these are sorted at once. The
/// far rows are sorted when an iteration first gets to them, and once for all iterations.
pub struct Ranking {
    near: Vec<Ranked>,
    far: Vec<Ranked>,
    far_sorted: OnceLock<Vec<Ranked>>,
}

/// How many of the nearest rows are sorted at once.
const NEAR: usize = 128;

impl Ranking {
    pub(super) fn new(distances: &[f64]) -> Ranking {
        let ranked = |(row, &distance): (usize, &f64)| Ranked { distance, row: row as u32 };
        let mut near: Vec<Ranked> = distances.iter().enumerate().map(ranked).collect();
        let mut far = Vec::new();
        if near.len() > NEAR {
            near.select_nth_unstable(NEAR);
            far = near.split_off(NEAR);
        }
        near.sort_unstable();
        Ranking { near, far, far_sorted: OnceLock::new() }
    }

    /// The nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Ranked> {
        let sorted = || {
            let mut far = self.far.clone();
            far.sort_unstable();
            far
        };
        let far = std::iter::once_with(move || self.far_sorted.get_or_init(sorted));
        self.near.iter().chain(far.flatten())
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
