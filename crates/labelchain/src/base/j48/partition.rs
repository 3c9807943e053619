//! Which training rows reach a node, and with what weight.
//!
//! A row with a missing cell goes every way, with a part of its weight each. Rows that give an answer
//! go one way; as long as all do, the lists of the children are parts of the parent's, and a tree of
//! any depth needs one list.

use std::ops::Range;

use super::Test;
use crate::prepare::SMALL;

/// A row and how much of it is here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    pub(super) row: u32,
    pub(super) weight: f64,
}

/// The rows of many nodes, each a range of one list.
#[derive(Clone)]
pub(super) struct Reaches<'a> {
    /// The stored (value, row) of every input.
    stored: &'a [Vec<(f64, u32)>],
    relevant: &'a [bool],
    list: Vec<Reach>,
}

impl<'a> Reaches<'a> {
    /// All rows, in one range.
    pub(super) fn of(stored: &'a [Vec<(f64, u32)>], relevant: &'a [bool]) -> Reaches<'a> {
        let reach = |row| Reach { row, weight: 1.0 };
        Reaches { stored, relevant, list: (0..relevant.len() as u32).map(reach).collect() }
    }

    /// The same rows in a list of their own, which may be split otherwise.
    pub(super) fn copy(&self, range: Range<usize>) -> Reaches<'a> {
        Reaches { list: self.list[range].to_vec(), ..*self }
    }

    pub(super) fn at(&self, range: &Range<usize>) -> &[Reach] {
        &self.list[range.clone()]
    }

    fn is_relevant(&self, row: u32) -> bool {
        self.relevant[row as usize]
    }

    /// The whole list.
    pub(super) fn whole(&self) -> Range<usize> {
        0..self.list.len()
    }

    /// The weights of both classes.
    pub(super) fn counts(&self, range: &Range<usize>) -> [f64; 2] {
        let mut counts = [0.0; 2];
        for reach in self.at(range) {
            counts[usize::from(self.is_relevant(reach.row))] += reach.weight;
        }
        counts
    }

    /// The ranges of each answer. Rows without one go to each, with the share of the weight that
    /// the others have there, unless that share is nothing; where no row has an answer, shares are
    /// equal.
    pub(super) fn split(
        &mut self,
        range: &Range<usize>,
        column: usize,
        test: Test,
    ) -> Vec<Range<usize>> {
        let stored = &self.stored[column];
        let is_full = stored.len() == self.relevant.len();
        let cell = |row: u32| match is_full {
            true => stored[row as usize].0,
            false => stored.binary_search_by_key(&row, |it| it.1).map_or(0.0, |at| stored[at].0),
        };
        let n_answers = test.n_answers();
        let rows = &self.list[range.clone()];
        // Those without an answer come last.
        let answer = |reach: &Reach| test.answer(cell(reach.row)).unwrap_or(n_answers);
        let answers: Vec<usize> = rows.iter().map(answer).collect();
        let mut starts = vec![0; n_answers + 2];
        answers.iter().for_each(|&answer| starts[answer + 1] += 1);
        (0..=n_answers).for_each(|answer| starts[answer + 1] += starts[answer]);
        let mut next = starts.clone();
        let mut parted = vec![Reach { row: 0, weight: 0.0 }; rows.len()];
        // No branch to be mispredicted.
        for (&reach, answer) in rows.iter().zip(answers) {
            parted[next[answer]] = reach;
            next[answer] += 1;
        }
        let ranges = starts.windows(2).take(n_answers).map(|it| it[0]..it[1]);
        let without = &parted[starts[n_answers]..];
        if without.is_empty() {
            self.list[range.clone()].copy_from_slice(&parted);
            return ranges.map(|it| range.start + it.start..range.start + it.end).collect();
        }
        let parts = || ranges.clone().map(|it| &parted[it]);
        let weights = parts().map(|part| part.iter().map(|reach| reach.weight).sum());
        let weights: Vec<f64> = weights.collect();
        let total: f64 = weights.iter().sum();
        let with_share = |(part, weight): (&[Reach], f64)| {
            let share = if total < SMALL { 1.0 / n_answers as f64 } else { weight / total };
            let start = self.list.len();
            self.list.extend(part);
            if share > SMALL {
                let portion = |reach: &Reach| Reach { weight: reach.weight * share, ..*reach };
                self.list.extend(without.iter().map(portion));
            }
            start..self.list.len()
        };
        parts().zip(weights).map(with_share).collect()
    }
}
