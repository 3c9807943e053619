//! Which training rows reach a node, and with what weight.
//!
//! A row with a missing cell goes every way, with a part of its weight each. Rows that give an answer
//! go one way; as long as all do, the lists of the children are parts of the parent's, and a tree of
//! any depth needs one list.

use std::ops::Range;

use super::Test;
use crate::data::Matrix;
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
    features: &'a Matrix,
    relevant: &'a [bool],
    list: Vec<Reach>,
}

impl<'a> Reaches<'a> {
    /// All rows, in one range.
    pub(super) fn of(features: &'a Matrix, relevant: &'a [bool]) -> Reaches<'a> {
        let reach = |row| Reach { row, weight: 1.0 };
        Reaches { features, relevant, list: (0..relevant.len() as u32).map(reach).collect() }
    }

    /// The same rows in a list of their own, which may be split otherwise.
    pub(super) fn copy(&self, range: Range<usize>) -> Reaches<'a> {
        Reaches { list: self.list[range].to_vec(), ..*self }
    }

    pub(super) fn at(&self, range: &Range<usize>) -> &[Reach] {
        &self.list[range.clone()]
    }

    pub(super) fn is_relevant(&self, row: u32) -> bool {
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
        let mut parts: Vec<Vec<Reach>> = vec![Vec::new(); test.n_answers()];
        let mut without = Vec::new();
        for &reach in self.at(range) {
            match test.answer(self.features.get(reach.row as usize, column)) {
                Some(answer) => parts[answer].push(reach),
                None => without.push(reach),
            }
        }
        let start = if without.is_empty() { range.start } else { self.list.len() };
        if !without.is_empty() {
            let weights = parts.iter().map(|part| part.iter().map(|reach| reach.weight).sum());
            let weights: Vec<f64> = weights.collect();
            let total: f64 = weights.iter().sum();
            for (part, weight) in parts.iter_mut().zip(weights) {
                let share =
                    if total < SMALL { 1.0 / test.n_answers() as f64 } else { weight / total };
                if share > SMALL {
                    let portion = |reach: &Reach| Reach { weight: reach.weight * share, ..*reach };
                    part.extend(without.iter().map(portion));
                }
            }
            self.list.resize(
                start + parts.iter().map(Vec::len).sum::<usize>(),
                Reach { row: 0, weight: 0.0 },
            );
        }
        let mut end = start;
        let place = |part: Vec<Reach>| {
            let range = end..end + part.len();
            self.list[range.clone()].copy_from_slice(&part);
            end = range.end;
            range
        };
        parts.into_iter().map(place).collect()
    }
}
