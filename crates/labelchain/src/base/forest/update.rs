//! Learning from further rows: trees that are grown on them alone, in place of the oldest.
//!
//! Old trees cannot be grown on, because a forest keeps no inputs of its training rows. But a tree is an
//! estimate of its own, and the joint law of a forest is the mean of those of its trees. So trees of the new
//! rows are put after the trees there are, as many as the share of the new rows among all:
//!
//! ```text
//! added = B n / (m + n), rounded        B = min(bound, T (m + n) / m)
//! ```
//!
//! for n new rows after m, and T trees so far. Rows that are not worth half a tree are refused: a tree of few rows
//! knows little, and in place of a tree of many it makes the forest worse, update by update. B is how many trees there are to be: no more than the bound,
//! and no more than would give each row as many trees as each had. The oldest trees go until B are left.
//!
//! A label that is new is irrelevant to all rows before: it is in none of the label sets of the old trees. A
//! value of a nominal input that is new is equal to none that an old tree tests, and goes with the others.

use std::sync::OnceLock;

use super::grow::draws;
use super::labels::TrainingLabels;
use super::tree::Tree;
use super::{Forest, ForestModel, SplitFeatures};
use crate::chain::FurtherRows;
use crate::data::LabelMatrix;
use crate::error::{Error, Result};
use crate::prepare::Prepared;

impl ForestModel {
    /// The forest of its newest trees and of trees of the new rows, as many together as `forest` says at
    /// most. The new trees grow as `forest` says; how far decisions are trusted stays as it was.
    pub(super) fn with_rows(&self, forest: &Forest, further: &FurtherRows) -> Result<ForestModel> {
        let &FurtherRows { rows, n_before, .. } = further;
        let n_trees = n_added(forest.n_trees, self.trees.len(), n_before, rows.len());
        if n_trees == 0 {
            return Err(too_few(forest.n_trees, self.trees.len(), n_before, rows.len()));
        }
        let n_kept = (forest.n_trees - n_trees).min(self.trees.len());
        Ok(self.followed_by(&self.grown_on(forest, further, n_trees)?, n_kept, n_before))
    }

    /// A forest of so many trees of the new rows alone, which grow as `forest` says.
    pub(super) fn grown_on(
        &self,
        forest: &Forest,
        further: &FurtherRows,
        n_trees: usize,
    ) -> Result<ForestModel> {
        let &FurtherRows { data, rows, seed, cancel, .. } = further;
        let train = Prepared::as_is(data).cancelled_by(cancel);
        // What was chosen out of bag at training was chosen by more rows than there may be now.
        let chosen = self.split_features.map(SplitFeatures::Number);
        let forest = Forest { split_features: chosen.or(forest.split_features), ..forest.clone() };
        forest.grow(&train, rows, 0..n_trees, seed)
    }

    /// The newest `n_kept` trees of this forest, and then all trees of another, whose row r is row
    /// `n_before` + r. Labels that only the other knows are irrelevant to all rows of this one. Rows and
    /// label sets that no tree has any more are left out, so that a forest that is updated again and again
    /// does not grow for ever.
    pub(super) fn followed_by(
        &self,
        later: &ForestModel,
        n_kept: usize,
        n_before: usize,
    ) -> ForestModel {
        let (n_old_sets, n_old_rows) = (self.sets.n_rows() as u32, self.rows.len() as u32);
        let mut trees: Vec<Tree> = self.listing_draws(self.trees.len() - n_kept);
        let mut new = later.listing_draws(0);
        new.iter_mut()
            .for_each(|tree| tree.renumber(|set| n_old_sets + set, |row| n_old_rows + row));
        trees.extend(new);
        let rows: Vec<usize> =
            self.rows.iter().copied().chain(later.rows.iter().map(|row| n_before + row)).collect();
        let set_of_row: Vec<u32> = self
            .set_of_row
            .iter()
            .copied()
            .chain(later.set_of_row.iter().map(|set| n_old_sets + set))
            .collect();
        let n_labels = later.sets.n_labels();
        let both =
            LabelMatrix::concat(n_labels, &[self.sets.widened(n_labels), later.sets.clone()]);

        let kept_rows =
            Kept::of(rows.len(), trees.iter().flat_map(|tree| tree.rows().iter().copied()));
        let sets_of_rows = kept_rows.places.iter().map(|&row| set_of_row[row]);
        let named = trees.iter().flat_map(Tree::sets).chain(sets_of_rows);
        let kept_sets = Kept::of(both.n_rows(), named);
        // A label set that both forests have is one from now on.
        let different = TrainingLabels::new(&both, &kept_sets.places);
        let set = |set: u32| different.set_of_row[kept_sets.number[set as usize] as usize];
        trees.iter_mut().for_each(|tree| tree.renumber(set, |row| kept_rows.number[row as usize]));
        ForestModel {
            n_inputs: self.n_inputs,
            trust: self.trust,
            set_of_row: kept_rows.places.iter().map(|&row| set(set_of_row[row])).collect(),
            rows: kept_rows.places.iter().map(|&row| rows[row]).collect(),
            trees: trees.into(),
            permutation: self.permutation.as_ref().map(|_| Vec::new()),
            seed: self.seed,
            split_features: self.split_features,
            drawn: OnceLock::new(),
            gains: OnceLock::new(),
            sets: different.sets,
        }
    }

    /// The trees from one on, each with its rows as often as it drew them: when trees before them go, or
    /// others come, it cannot be drawn again from the seed.
    fn listing_draws(&self, first: usize) -> Vec<Tree> {
        let tree = |at: usize| {
            let n_draws = self.draws_each(at);
            // A leaf keeps its rows even if a file was made by hand and the seed does not draw them.
            self.trees[at].listing(|row| n_draws(row).max(1))
        };
        (first..self.trees.len()).map(tree).collect()
    }

    /// How many draws each entry in the lists of rows of tree `at` stands for.
    pub(super) fn draws_each(&self, at: usize) -> impl Fn(u32) -> u32 + use<> {
        let is_listed = self.trees[at].lists_draws();
        let n_draws = (!is_listed).then(|| draws(self.rows.len(), self.seed.child("tree", at)));
        move |row| n_draws.as_ref().map_or(1, |n_draws| n_draws[row as usize])
    }
}

/// How many trees are grown on `n_new` rows that follow `n_before`, where there are `n_trees` and may be
/// `max_trees`.
pub(super) fn n_added(max_trees: usize, n_trees: usize, n_before: usize, n_new: usize) -> usize {
    let (n_before, n_new) = (n_before.max(1) as f64, n_new as f64);
    let n_all = n_before + n_new;
    let n_wanted = (max_trees as f64).min(n_trees as f64 * n_all / n_before);
    ((n_wanted * n_new / n_all).round() as usize).min(max_trees)
}

/// Says from how many rows on a tree is due to them.
fn too_few(max_trees: usize, n_trees: usize, n_before: usize, n_new: usize) -> Error {
    // More rows never get fewer trees, and as many as before get half of all.
    let (mut too_few, mut enough) = (n_new, n_before.max(n_new + 1));
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        let is_enough = n_added(max_trees, n_trees, n_before, middle) > 0;
        if is_enough { enough = middle } else { too_few = middle }
    }
    Error::CannotUpdate {
        problem: format!(
            "new rows are too few for a tree: {n_new}, after {n_before} rows and {n_trees} trees, of which there \
             are to be at most {max_trees}"
        ),
        remedy: format!("collect at least {enough}, or train again on all rows").into(),
    }
}

/// Some of many things, numbered anew in their order.
struct Kept {
    /// What each of them was before.
    places: Vec<usize>,
    /// The new number of each thing; of one that is not kept, it means nothing.
    number: Vec<u32>,
}

impl Kept {
    fn of(n: usize, named: impl Iterator<Item = u32>) -> Kept {
        let mut is_kept = vec![false; n];
        named.for_each(|at| is_kept[at as usize] = true);
        let places: Vec<usize> = (0..n).filter(|&at| is_kept[at]).collect();
        let mut number = vec![0; n];
        (0..).zip(&places).for_each(|(new, &old)| number[old] = new);
        Kept { places, number }
    }
}
