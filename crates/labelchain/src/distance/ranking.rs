//! Which training rows are the nearest?

use std::sync::{Arc, OnceLock};

use super::Neighbourhood;

/// A training row, and how far it is.
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

/// The nearer first; of equals the lower row.
impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.row.cmp(&other.row))
    }
}

/// Training rows from the nearest to the farthest; the far ones are sorted when somebody gets there.
pub struct Ranking {
    near: Vec<Ranked>,
    far: Vec<Ranked>,
    far_sorted: OnceLock<Vec<Ranked>>,
}

/// Rows that are sorted at once.
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

/// What is wanted of the training rows near by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing.
    #[default]
    Nothing,
    /// Their inputs.
    Inputs,
    /// Also, from the nearest to the farthest.
    Ranking,
}

/// The training rows, and for each row of a block a ranking of them.
pub struct Rankings<'a> {
    /// Where the training rows are.
    pub train: &'a Neighbourhood<'a>,
    /// By row of the block; none where only the inputs are wanted.
    pub rankings: Vec<Arc<Ranking>>,
}

impl Rankings<'_> {
    /// Some rows of the block.
    pub fn select(&self, rows: &[usize]) -> Rankings<'_> {
        let rankings = rows.iter().filter_map(|&row| self.rankings.get(row).cloned()).collect();
        Rankings { train: self.train, rankings }
    }
}
