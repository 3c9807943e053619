//! What a forest's answer rests on, and which inputs it looks at.
//!
//! Along the path of a row down a tree, the share of rows to which a label is relevant changes from node to
//! node. Each change is due to the input that was tested, so that the share in the leaf is that of the root
//! and the sum of all changes (Saabas, "Interpreting random forests", 2014). The mean over trees is
//! the forest's probability.

use super::ForestModel;
use super::grow::draws;
use super::tree::LeafEntry;
use crate::chain::{Attribution, AttributionSum, Block};
use crate::data::{LabelId, LabelMatrix};

impl ForestModel {
    pub(super) fn attribution_of(&self, block: &Block, row: usize) -> Attribution {
        let cell = |input: usize| block.features.get(block.rows[row], input);
        let mut sum = AttributionSum::default();
        for (at, tree) in self.trees.iter().enumerate() {
            let mut tested = None;
            let mut before = vec![0.0; self.sets.n_labels()];
            let mut leaf = 0;
            for (input, leaves) in tree.path(cell) {
                leaf = leaves.start;
                let here = shares(&self.sets, tree.entries_in(leaves));
                match tested {
                    None => sum.add_base_values("probability", &here),
                    Some(tested) => {
                        for (label, (before, here)) in before.iter().zip(&here).enumerate() {
                            sum.add_contribution(tested, LabelId(label), here - before);
                        }
                    }
                }
                (tested, before) = (input, here);
            }
            let n_draws = draws(self.rows.len(), self.seed.child("tree", at));
            let rows = tree.rows_of(leaf);
            let n: u32 = rows.iter().map(|&place| n_draws[place as usize]).sum();
            for &place in rows {
                let weight = f64::from(n_draws[place as usize]) / f64::from(n.max(1));
                let set = self.set_of_row[place as usize] as usize;
                let labels = || self.sets.relevant(set).collect();
                sum.add_neighbour(self.rows[place as usize], weight, labels);
            }
        }
        sum.mean(self.trees.len())
    }

    /// How much each input makes the labels of the rows on either side of its splits more alike: the
    /// variance that its splits take away, summed over labels, as a share of what all splits of a tree
    /// take away; the mean over trees that have a split. It is what scikit-learn calls the importance of
    /// a feature.
    pub(super) fn mean_gains(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.n_inputs];
        let mut n_split = 0;
        let mut sums = vec![0u64; self.sets.n_labels()];
        for tree in &self.trees {
            let mut gains = vec![0.0; self.n_inputs];
            tree.for_each_split(|input, left, right| {
                let mut worth = |leaves| worth(&self.sets, tree.entries_in(leaves), &mut sums);
                let sides = worth(left.clone()) + worth(right.clone());
                gains[input] += sides - worth(left.start..right.end);
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

/// To which share of the rows each label is relevant, of those in which it is known; one half if it is known
/// in none.
fn shares(sets: &LabelMatrix, entries: &[LeafEntry]) -> Vec<f64> {
    let mut sums = vec![0.0; sets.n_labels()];
    let mut unknown = vec![0.0; sets.n_labels()];
    let mut n = 0.0;
    for entry in entries {
        let (set, count) = (entry.set as usize, f64::from(entry.count));
        n += count;
        sets.relevant(set).for_each(|label| sums[label.0] += count);
        sets.unknown_labels(set).for_each(|label| unknown[label.0] += count);
    }
    let share = |(sum, unknown): (f64, f64)| if unknown < n { sum / (n - unknown) } else { 0.5 };
    sums.into_iter().zip(unknown).map(share).collect()
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
