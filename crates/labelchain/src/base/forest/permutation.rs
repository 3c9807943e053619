//! How much an input matters, measured by what the forest loses without it.
//!
//! The rows that a tree did not draw are answered by it twice: as they are, and with the cells of one input
//! shuffled among them, so that the input says nothing any more. What the loss rises by is what the input was
//! worth to the tree (Breiman, "Random forests", 2001). The loss of a row with labels y in a leaf where
//! label l has the share p_l of rows is
//!
//! ```text
//! Σ_l (p_l - y_l)²
//! ```
//!
//! Gain asks which inputs trees look at, and so praises inputs of many values, by which training rows can be
//! told apart whatever their labels are. Rows that a tree did not see gain nothing by such a split.

use rayon::prelude::*;

use super::ForestModel;
use super::attribution::shares;
use crate::data::{Dataset, LabelMatrix};
use crate::error::Result;
use crate::progress::Cancel;

impl ForestModel {
    /// What the loss of the trees rises by when each input is shuffled, as shares of the sum over inputs; the
    /// loss of each tree is that of the training rows that it did not draw. An input that only makes the
    /// loss smaller when it is shuffled counts as 0.
    pub(super) fn mean_rises(&self, data: &Dataset, cancel: &Cancel) -> Result<Vec<f64>> {
        let drawn = self.drawn();
        let by_tree: Vec<Vec<(u32, f64)>> = (0..self.trees.len())
            .into_par_iter()
            .map(|at| self.rises(at, &drawn[at], data, cancel))
            .collect::<Result<_>>()?;
        let mut means = vec![0.0; self.n_inputs];
        // One tree after the other, so that sums do not depend on the threads.
        for (input, rise) in by_tree.into_iter().flatten() {
            means[input as usize] += rise;
        }
        means.iter_mut().for_each(|rise| *rise = rise.max(0.0));
        let sum: f64 = means.iter().sum();
        if sum > 0.0 {
            means.iter_mut().for_each(|rise| *rise /= sum);
        }
        Ok(means)
    }

    /// The rise of the mean loss of one tree for each input that it tests.
    fn rises(
        &self,
        at: usize,
        drawn: &[u64],
        data: &Dataset,
        cancel: &Cancel,
    ) -> Result<Vec<(u32, f64)>> {
        let tree = &self.trees[at];
        let is_unseen = |place: &usize| drawn[place / 64] >> (place % 64) & 1 == 0;
        let unseen: Vec<usize> =
            (0..self.rows.len()).filter(is_unseen).map(|place| self.rows[place]).collect();
        let cell = |row: usize, input: usize| data.features().get(row, input);
        // Only an input on its way down can lead a row to another leaf.
        let mut tested: Vec<(u32, u32)> = Vec::new();
        let mut leaves = Vec::with_capacity(unseen.len());
        for (number, &row) in (0..).zip(&unseen) {
            let path = tree.path(|input| cell(row, input));
            leaves.push(path.last().map_or(0, |(_, leaves)| leaves.start));
            tested.extend(path.iter().filter_map(|&(input, _)| Some((input? as u32, number))));
        }
        tested.sort_unstable();
        tested.dedup();
        let loss = |leaf: usize, row: usize| {
            squared_error(&shares(&self.sets, tree.entries_in(leaf..leaf + 1)), data.labels(), row)
        };
        let mut shuffled: Vec<usize> = Vec::new();
        let mut rises = Vec::new();
        for of_input in tested.chunk_by(|a, b| a.0 == b.0) {
            cancel.check()?;
            let Some(&(input, _)) = of_input.first() else { continue };
            shuffled.clone_from(&unseen);
            let seed = self.seed.child("tree", at).child("shuffled", input as usize);
            seed.rng().shuffle(&mut shuffled);
            let mut rise = 0.0;
            for number in of_input.iter().map(|&(_, number)| number as usize) {
                let (row, other) = (unseen[number], shuffled[number]);
                let leaf =
                    tree.leaf_of(|at| cell(if at == input as usize { other } else { row }, at));
                if leaf != leaves[number] {
                    rise += loss(leaf, row) - loss(leaves[number], row);
                }
            }
            rises.push((input, rise / unseen.len() as f64));
        }
        Ok(rises)
    }
}

/// Σ_l (p_l - y_l)² over the labels that are known of a row.
fn squared_error(shares: &[f64], truth: &LabelMatrix, row: usize) -> f64 {
    let of_label = |(label, share): (_, &f64)| {
        let relevant = truth.cell(row, label)?;
        Some((share - f64::from(u8::from(relevant))).powi(2))
    };
    truth.ids().zip(shares).filter_map(of_label).sum()
}
