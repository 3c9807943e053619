//! A forest each of whose trees has seen one block of the rows: for rows that are not all in one place.
//!
//! A tree is an estimate of its own, so trees need not have drawn from the same rows. The forest of the first block
//! says how inputs are scaled and how far decisions are trusted; trees of the other blocks follow its own as they do in
//! an update, but may be grown at the same time, for none looks at another.

use serde::{Deserialize, Serialize};

use super::tree::Tree;
use super::{Forest, ForestModel};
use crate::chain::{BaseModel as _, Dimensions, FurtherRows, Wanted};
use crate::decode::{DecodeBudget, decode};
use crate::error::{Error, Result};
use crate::pieces::ReadBlocks;

/// Trees of one block of rows, to be sent to the process that joins them.
#[derive(Serialize, Deserialize)]
struct GrownTrees {
    /// The number of the first row of the block.
    first: usize,
    n_rows: usize,
    forest: ForestModel,
    /// Those of the forest, which keeps them apart.
    trees: Vec<Tree>,
}

/// Trees that drew from the same rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRows {
    /// How many trees.
    pub n_trees: usize,
    /// The first row that one of them drew.
    pub first: usize,
    /// The last row that one of them drew.
    pub last: usize,
}

impl ForestModel {
    /// Grows trees on other rows alone, as bytes.
    pub(crate) fn grow_block(&self, further: &FurtherRows, n_trees: usize) -> Result<Vec<u8>> {
        if n_trees == 0 {
            return Err(refused("none to be grown"));
        }
        let forest = self.grown_on(&Forest::of(further.settings), further, n_trees)?;
        let (first, n_rows) = (further.n_before, further.data.n_rows());
        let trees = forest.trees.to_vec();
        let grown = GrownTrees { first, n_rows, forest, trees };
        postcard::to_stdvec(&grown).map_err(|_| refused("too large to be written"))
    }

    /// So many trees of this forest, which has seen the first `n_rows` rows, and then those of other blocks, in the
    /// order of their rows; and how many rows all of them are.
    pub(crate) fn with_blocks(
        &self,
        n_kept: usize,
        n_rows: usize,
        blocks: &[Vec<u8>],
        budget: &DecodeBudget,
    ) -> Result<(ForestModel, usize)> {
        self.load(Wanted::Everything, &ReadBlocks::default())?;
        if !(1..=self.trees.len()).contains(&n_kept) {
            return Err(refused(&format!("{n_kept} of {} trees kept", self.trees.len())));
        }
        let (mut whole, mut n_kept, mut n_before) = (self.clone(), n_kept, n_rows);
        for block in blocks {
            let block = decode(block, budget).map(|mut block: GrownTrees| {
                block.forest.trees = std::mem::take(&mut block.trees).into();
                block
            });
            let fits = |block: &GrownTrees| {
                block.forest.fits(&Dimensions {
                    n_labels: self.sets.n_labels(),
                    n_features: self.n_inputs,
                    n_numbers: self.n_inputs,
                    n_rows: block.n_rows,
                    n_train: None,
                })
            };
            let block = block.filter(fits).ok_or_else(|| refused("damaged"))?;
            if block.first != n_before {
                return Err(refused(&format!("rows from {} on after {n_before}", block.first)));
            }
            whole = whole.followed_by(&block.forest, n_kept, n_before);
            (n_kept, n_before) = (whole.trees.len(), n_before + block.n_rows);
        }
        Ok((whole, n_before))
    }

    /// Which rows the trees drew from, trees of one block after those of another: one entry where all drew from the
    /// same rows.
    pub(crate) fn tree_rows(&self) -> Result<Vec<TreeRows>> {
        self.load(Wanted::Everything, &ReadBlocks::default())?;
        let mut all: Vec<TreeRows> = Vec::new();
        for tree in self.trees.iter() {
            let rows = || tree.rows().iter().map(|&row| self.rows[row as usize]);
            let (Some(first), Some(last)) = (rows().min(), rows().max()) else { continue };
            match all.last_mut() {
                Some(before) if first <= before.last && before.first <= last => {
                    before.n_trees += 1;
                    before.first = before.first.min(first);
                    before.last = before.last.max(last);
                }
                _ => all.push(TreeRows { n_trees: 1, first, last }),
            }
        }
        Ok(all)
    }
}

fn refused(found: &str) -> Error {
    Error::Value {
        name: "trees of further rows".into(),
        value: found.into(),
        accepted:
            "trees that a forest of the same inputs and labels grew, in the order of their rows"
                .into(),
    }
}
