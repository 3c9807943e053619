//! Growing one tree: rows drawn with replacement, then split until their labels are all the same.

use super::bins::{Column, MISSING};
use super::labels::TrainingLabels;
use super::split::{Allowed, Cut, Split, Splitter};
use super::tree::{LeafEntry, Test, Tree};
use super::varying::{UncommonInputs, Varying};
use crate::error::Result;
use crate::progress::Cancel;
use crate::seed::{Rng, Seed};

/// What all trees of a forest grow from.
pub(super) struct Soil<'a> {
    pub(super) columns: &'a [Column],
    pub(super) uncommon: &'a UncommonInputs,
    pub(super) labels: &'a TrainingLabels,
    /// How many inputs are looked at in each node.
    pub(super) n_tried: usize,
    /// How many different rows a leaf has at least.
    pub(super) min_leaf: usize,
    /// Whether cuts are drawn at random instead of looked for.
    pub(super) is_extremely_random: bool,
    pub(super) cancel: &'a Cancel,
}

/// How often a tree draws each of so many rows: as many rows as there are, with replacement.
pub(super) fn draws(n_rows: usize, tree: Seed) -> Vec<u32> {
    let mut rng = tree.child("rows", 0).rng();
    let mut n_draws = vec![0; n_rows];
    (0..n_rows).for_each(|_| n_draws[rng.below(n_rows)] += 1);
    n_draws
}

/// Rows of a node that is still to be split, as a range of all drawn rows.
struct Open {
    node: usize,
    start: usize,
    end: usize,
}

impl Soil<'_> {
    /// Grows the tree of a seed.
    pub(super) fn grow(&self, seed: Seed) -> Result<Tree> {
        let n_draws = draws(self.labels.set_of_row.len(), seed);
        let mut rng = seed.child("inputs", 0).rng();
        let drawn = (0..n_draws.len() as u32).filter(|&row| n_draws[row as usize] > 0);
        let mut rows: Vec<u32> = drawn.collect();
        let mut splitter = Splitter::new(self.labels, &n_draws);
        let mut varying = Varying::new(self.uncommon, self.n_tried);
        // The columns, of which each node shuffles some to the front.
        let mut inputs: Vec<u32> = (0..self.columns.len() as u32).collect();
        let mut right = Vec::new();
        let mut tree = Tree::new();
        let mut open = vec![Open { node: 0, start: 0, end: rows.len() }];
        while let Some(Open { node, start, end }) = open.pop() {
            self.cancel.check()?;
            let here = &mut rows[start..end];
            let best = if self.is_pure(here) || here.len() < 2 * self.min_leaf {
                None
            } else {
                splitter.enter(here);
                varying.enter(here);
                self.split(&mut splitter, &varying, &mut inputs, &mut rng)
            };
            let Some((input, split)) = best else {
                tree.leaf(node, self.leaf(here, &n_draws), here);
                continue;
            };
            let column = &self.columns[input as usize];
            let n_left = partition(column, split, here, &mut right);
            let threshold = match split.cut {
                Cut::Between(last, first) => column.between(last, first),
                // A bin of several names is never singled out.
                Cut::Only(bin) => column.value(bin).unwrap_or(f64::INFINITY),
            };
            let is_nominal = column.is_nominal;
            let test = Test { input, is_nominal, threshold, missing_left: split.missing_left };
            let left = tree.split(node, test);
            let middle = start + n_left;
            open.push(Open { node: left + 1, start: middle, end });
            open.push(Open { node: left, start, end: middle });
        }
        tree.shrink();
        Ok(tree)
    }

    fn is_pure(&self, rows: &[u32]) -> bool {
        let mut sets = rows.iter().map(|&row| self.labels.set_of_row[row as usize]);
        let first = sets.next();
        sets.all(|set| Some(set) == first)
    }

    /// The best split by some of the inputs, drawn at random; if none of these tells rows apart, by the
    /// first other that does. Of equally good splits the first found, so that none is looked for after one
    /// that cannot be bettered.
    fn split(
        &self,
        splitter: &mut Splitter,
        varying: &Varying,
        inputs: &mut [u32],
        rng: &mut Rng,
    ) -> Option<(u32, Split)> {
        let mut best: Option<(u32, Split)> = None;
        for tried in 0..inputs.len() {
            if let Some((_, best)) = best
                && (tried >= self.n_tried || best.value >= splitter.bound())
            {
                break;
            }
            inputs.swap(tried, tried + rng.below(inputs.len() - tried));
            let input = inputs[tried];
            let at_share = self.is_extremely_random.then(|| rng.unit());
            if !varying.may_vary(input) {
                continue;
            }
            let allowed = Allowed { min_rows: self.min_leaf, at_share };
            let found = splitter.best(&self.columns[input as usize], allowed);
            if let Some(split) = found
                && best.is_none_or(|(_, best)| split.value > best.value)
            {
                best = Some((input, split));
            }
        }
        best
    }

    /// The label sets of some rows, ascending, each with how many drawn rows have it.
    fn leaf(&self, rows: &[u32], n_draws: &[u32]) -> Vec<LeafEntry> {
        let entry = |&row: &u32| LeafEntry {
            set: self.labels.set_of_row[row as usize],
            count: n_draws[row as usize],
        };
        let mut entries: Vec<LeafEntry> = rows.iter().map(entry).collect();
        entries.sort_unstable_by_key(|entry| entry.set);
        entries.dedup_by(|next, entry| {
            let is_same = next.set == entry.set;
            if is_same {
                entry.count += next.count;
            }
            is_same
        });
        entries
    }
}

/// Puts the rows that go left before those that go right, each in the order they had, and says how many
/// go left.
fn partition(column: &Column, split: Split, rows: &mut [u32], right: &mut Vec<u32>) -> usize {
    right.clear();
    let mut n_left = 0;
    for at in 0..rows.len() {
        let row = rows[at];
        let bin = column.bin(row);
        let is_left = if bin == MISSING { split.missing_left } else { split.cut.is_left(bin) };
        if is_left {
            rows[n_left] = row;
            n_left += 1;
        } else {
            right.push(row);
        }
    }
    rows[n_left..].copy_from_slice(right);
    n_left
}
