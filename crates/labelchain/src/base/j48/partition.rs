//! The training rows of every node, each with a weight.
//!
//! A split sends a row to the branch of its cell. A row whose cell is missing goes to all branches,
//! with a part of its weight each. As long as no cell is missing, the rows of the children are
//! those of the parent in another order: the split then sorts them in place, and a tree of any
//! depth needs one list.

use std::ops::Range;

use super::Test;
use crate::prepare::SMALL;

/// A training row at a node, with the part of it that got there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeightedRow {
    pub(super) row: u32,
    pub(super) weight: f64,
}

/// The training rows of the nodes of a tree: those of each node are a range of one list.
#[derive(Clone)]
pub(super) struct Partition<'a> {
    /// The stored (value, row) of every input.
    stored: &'a [Vec<(f64, u32)>],
    relevant: &'a [bool],
    list: Vec<WeightedRow>,
}

impl<'a> Partition<'a> {
    /// All training rows in one range, with weight 1.
    pub(super) fn of(stored: &'a [Vec<(f64, u32)>], relevant: &'a [bool]) -> Partition<'a> {
        let whole_row = |row| WeightedRow { row, weight: 1.0 };
        Partition { stored, relevant, list: (0..relevant.len() as u32).map(whole_row).collect() }
    }

    /// A copy of the rows of one range, which may be split in another way.
    pub(super) fn copy(&self, range: Range<usize>) -> Partition<'a> {
        Partition { list: self.list[range].to_vec(), ..*self }
    }

    /// The rows of a range.
    pub(super) fn at(&self, range: &Range<usize>) -> &[WeightedRow] {
        &self.list[range.clone()]
    }

    fn is_relevant(&self, row: u32) -> bool {
        self.relevant[row as usize]
    }

    /// The range of the whole list.
    pub(super) fn whole(&self) -> Range<usize> {
        0..self.list.len()
    }

    /// The summed weights of the rows of a range to which the label is irrelevant and relevant.
    pub(super) fn counts(&self, range: &Range<usize>) -> [f64; 2] {
        let mut counts = [0.0; 2];
        for &WeightedRow { row, weight } in self.at(range) {
            counts[usize::from(self.is_relevant(row))] += weight;
        }
        counts
    }

    /// Splits the rows of a range and returns the range of each branch.
    ///
    /// Rows whose cell is missing go to every branch. Their weight is multiplied by the share of
    /// that branch in the weight of the other rows, and a branch with share 0 gets none of them.
    /// Where all cells are missing, the shares are equal.
    pub(super) fn split(
        &mut self,
        range: &Range<usize>,
        column: usize,
        test: Test,
    ) -> Vec<Range<usize>> {
        let stored = &self.stored[column];
        let is_full = stored.len() == self.relevant.len();
        let cell = |row: u32| {
            if is_full {
                stored[row as usize].0
            } else {
                stored.binary_search_by_key(&row, |it| it.1).map_or(0.0, |at| stored[at].0)
            }
        };
        let n_branches = test.n_branches();
        let rows = &self.list[range.clone()];
        // A counting sort by branch, in which rows with a missing cell come last.
        let branch = |it: &WeightedRow| test.branch(cell(it.row)).unwrap_or(n_branches);
        let branches: Vec<usize> = rows.iter().map(branch).collect();
        let mut starts = vec![0; n_branches + 2];
        branches.iter().for_each(|&branch| starts[branch + 1] += 1);
        (0..=n_branches).for_each(|branch| starts[branch + 1] += starts[branch]);
        let mut next = starts.clone();
        let mut sorted = vec![WeightedRow { row: 0, weight: 0.0 }; rows.len()];
        // The loop has no conditional jump that the processor could mispredict.
        for (&row, branch) in rows.iter().zip(branches) {
            sorted[next[branch]] = row;
            next[branch] += 1;
        }
        let ranges = starts.windows(2).take(n_branches).map(|it| it[0]..it[1]);
        let missing = &sorted[starts[n_branches]..];
        if missing.is_empty() {
            self.list[range.clone()].copy_from_slice(&sorted);
            return ranges.map(|it| range.start + it.start..range.start + it.end).collect();
        }
        let known_rows = || ranges.clone().map(|it| &sorted[it]);
        let weights = known_rows().map(|rows| rows.iter().map(|it| it.weight).sum());
        let weights: Vec<f64> = weights.collect();
        let total: f64 = weights.iter().sum();
        let with_missing = |(rows, weight): (&[WeightedRow], f64)| {
            let share = if total < SMALL { 1.0 / n_branches as f64 } else { weight / total };
            let start = self.list.len();
            self.list.extend(rows);
            if share > SMALL {
                let part = |it: &WeightedRow| WeightedRow { weight: it.weight * share, ..*it };
                self.list.extend(missing.iter().map(part));
            }
            start..self.list.len()
        };
        known_rows().zip(weights).map(with_missing).collect()
    }
}
