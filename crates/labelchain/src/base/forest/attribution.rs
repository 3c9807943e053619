//! What a forest's answer rests on, and which inputs it looks at.
//!
//! Along the path of a row down a tree, the share of rows to which a label is relevant changes from node to
//! node. Each change is due to the input that was tested, so that the share in the leaf is that of the root
//! and the sum of all changes (Saabas, "Interpreting random forests", 2014). The mean over trees is
//! the forest's probability.

use std::ops::Range;

use super::ForestModel;
use super::tree::{LeafEntry, Tree};
use crate::chain::{Attribution, AttributionSum, Block};
use crate::data::{LabelId, LabelMatrix};

impl ForestModel {
    pub(super) fn attribution(&self, block: &Block, row: usize) -> Attribution {
        let cell = |input: usize| block.features.get(block.rows[row], input);
        let mut sum = AttributionSum::default();
        for (at, tree) in self.trees.iter().enumerate() {
            let path = tree.path(cell);
            let leaf = path.last().map_or(0, |(_, leaves)| leaves.start);
            // Where labels are unknown, each has rows of its own in each leaf, and nothing adds up.
            if self.sets.n_unknown() == 0 {
                self.add_contributions(tree, path, &mut sum);
            }
            let n_draws = self.draws_each(at);
            let rows = tree.rows_of(leaf);
            let n: u32 = rows.iter().map(|&place| n_draws(place)).sum();
            for &place in rows {
                let weight = f64::from(n_draws(place)) / f64::from(n.max(1));
                let set = self.set_of_row[place as usize] as usize;
                let labels = || self.sets.relevant(set).collect();
                sum.add_neighbour(self.rows[place as usize], weight, labels);
            }
        }
        sum.mean(self.trees.len())
    }

    /// What the nodes on a path add to each label.
    fn add_contributions(
        &self,
        tree: &Tree,
        path: Vec<(Option<usize>, Range<usize>)>,
        sum: &mut AttributionSum,
    ) {
        let mut before: Option<(usize, Vec<f64>)> = None;
        for (input, leaves) in path {
            let here = shares(&self.sets, tree.entries_in(leaves));
            match before {
                None => sum.add_base_values("probability", &here),
                Some((tested, before)) => {
                    for (label, (before, here)) in before.iter().zip(&here).enumerate() {
                        sum.add_contribution(tested, LabelId(label), here - before);
                    }
                }
            }
            before = input.map(|input| (input, here));
        }
    }

    /// How much each input makes the labels of the rows on either side of its splits more alike: the
    /// variance that its splits take away, summed over labels, as a share of what all splits of a tree
    /// take away; the mean over trees that have a split. It is what scikit-learn calls the importance of
    /// a feature.
    pub(super) fn mean_gains(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.n_inputs];
        let mut n_split = 0;
        let mut sums = vec![0u64; self.sets.n_labels()];
        for tree in self.trees.iter() {
            let mut gains = vec![0.0; self.n_inputs];
            tree.for_each_split(|input, left, right| {
                let mut worth = |leaves| worth(&self.sets, tree.entries_in(leaves), &mut sums);
                let sides = worth(left.clone()) + worth(right.clone());
                // A split that gains nothing may come out just below 0.
                gains[input] += (sides - worth(left.start..right.end)).max(0.0);
            });
            let total: f64 = gains.iter().sum();
            if total > 0.0 {
                n_split += 1;
                means.iter_mut().zip(gains).for_each(|(mean, gain)| *mean += gain / total);
            }
        }
        means.iter_mut().for_each(|mean| *mean /= f64::from(n_split.max(1)));
        means
    }
}

/// To which share of the rows each label is relevant.
pub(super) fn shares(sets: &LabelMatrix, entries: &[LeafEntry]) -> Vec<f64> {
    let mut sums = vec![0.0; sets.n_labels()];
    let mut n = 0.0;
    for entry in entries {
        let count = f64::from(entry.count);
        n += count;
        sets.relevant(entry.set as usize).for_each(|label| sums[label.0] += count);
    }
    sums.iter_mut().for_each(|sum| *sum /= n);
    sums
}

/// Σ_l S_l² / n of some rows, where S_l of n rows have label l: a split is worth the sum of both sides.
fn worth(sets: &LabelMatrix, entries: &[LeafEntry], sums: &mut [u64]) -> f64 {
    sums.fill(0);
    let mut n = 0;
    for entry in entries {
        n += u64::from(entry.count);
        let labels = sets.relevant(entry.set as usize);
        labels.for_each(|label| sums[label.0] += u64::from(entry.count));
    }
    sums.iter().map(|&sum| (sum as f64).powi(2)).sum::<f64>() / n as f64
}
