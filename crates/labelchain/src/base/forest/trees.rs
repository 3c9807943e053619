//! The trees of a forest, in memory or in a model file.
//!
//! A row comes to one leaf of each tree, and what the other leaves keep does not concern it. So a file has each
//! tree as a top and its [branches](Tree::cut): all tops are read with the model, and of each tree the branch
//! that a row comes to. Many rows need most branches; for them whole trees are made of all.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::tree::{LeafEntry, Tree};
use crate::decode::DecodeBudget;
use crate::error::Result;
use crate::pieces::{PieceFile, PieceWriter, Pieces, ReadBlocks};

/// The trees of a forest. As a slice they are whole trees, and whoever asks for it has
/// [loaded](Trees::load_all) them: there are none as long as they are in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    whole: OnceLock<Vec<Tree>>,
    in_file: Option<TreesInFile>,
}

#[derive(Clone, Debug)]
struct TreesInFile {
    /// The leaves of a top are the branches of its tree, from left to right.
    tops: Vec<Tree>,
    /// Where the branches of each tree begin in the list of all.
    starts: Vec<usize>,
    branches: Pieces<Tree>,
}

/// The list of branches in a file, and the top of each tree.
pub(super) type StoredTrees = (usize, Vec<Tree>);

impl From<Vec<Tree>> for Trees {
    fn from(trees: Vec<Tree>) -> Trees {
        Trees { whole: trees.into(), in_file: None }
    }
}

impl Deref for Trees {
    type Target = [Tree];

    fn deref(&self) -> &[Tree] {
        let whole = self.whole.get();
        debug_assert!(whole.is_some() || self.in_file.is_none(), "the trees were not loaded");
        whole.map_or(&[], |trees| trees)
    }
}

impl Trees {
    /// How many, in memory or not.
    pub(super) fn n_trees(&self) -> usize {
        self.in_file.as_ref().map_or_else(|| self.len(), |stored| stored.tops.len())
    }

    /// Writes the branches, and returns what [`Trees::in_file`] takes.
    pub(super) fn write(&self, pieces: &mut PieceWriter) -> postcard::Result<StoredTrees> {
        let (tops, branches): (Vec<Tree>, Vec<Vec<Tree>>) = self.iter().map(Tree::cut).unzip();
        Ok((pieces.add(branches.iter().flatten())?, tops))
    }

    /// Trees whose branches are in a file; none if it does not have them.
    pub(super) fn in_file(
        (list, tops): StoredTrees,
        file: &Arc<PieceFile>,
        budget: &DecodeBudget,
    ) -> Option<Trees> {
        let branches = Pieces::in_file(file, list, budget)?;
        let mut starts = vec![0];
        for top in &tops {
            starts.push(starts.last()? + top.n_ends());
        }
        let is_sound = *starts.last()? == branches.len();
        let in_file = Some(TreesInFile { tops, starts, branches });
        is_sound.then(|| Trees { whole: OnceLock::new(), in_file })
    }

    /// Whether they are trees over so many inputs, as they are unless they come from a file. Branches that are
    /// still there are asked `fits` when they are read.
    pub(super) fn fit(&self, n_inputs: usize, fits: impl Fn(&Tree) -> bool) -> bool {
        match &self.in_file {
            None => !self.is_empty() && self.iter().all(fits),
            Some(TreesInFile { tops, .. }) => {
                !tops.is_empty() && tops.iter().all(|top| top.fits_as_top(n_inputs))
            }
        }
    }

    /// Reads the branches that a row comes to, as far as they are still in a file.
    pub(super) fn load_branches(
        &self,
        cell: impl Fn(usize) -> f64,
        blocks: &ReadBlocks,
        fits: impl Fn(&Tree) -> bool,
    ) -> Result<()> {
        let Some(stored) = self.in_file.as_ref().filter(|_| self.whole.get().is_none()) else {
            return Ok(());
        };
        let numbers = (0..stored.tops.len()).map(|tree| stored.branch_of(tree, &cell));
        stored.branches.load(numbers, blocks, |branch| fits(branch).then_some(0))
    }

    /// Reads all branches, and makes whole trees of them.
    pub(super) fn load_all(&self, fits: impl Fn(&Tree) -> bool) -> Result<()> {
        let Some(stored) = self.in_file.as_ref().filter(|_| self.whole.get().is_none()) else {
            return Ok(());
        };
        // One tree after the other, so that only the branches of one are in memory twice.
        let whole = stored.tops.iter().zip(stored.starts.windows(2)).map(|(top, ends)| {
            let weigh = |branch: &Tree| fits(branch).then_some(0);
            Ok(top.with_branches(&stored.branches.read(ends[0]..ends[1], weigh)?))
        });
        let whole = whole.collect::<Result<_>>()?;
        // Another thread may have made the same meanwhile.
        let _ = self.whole.set(whole);
        Ok(())
    }

    /// The label sets of the leaf that a row comes to in a tree; none if its branch was not loaded.
    #[inline(always)]
    pub(super) fn reached_in(&self, tree: usize, cell: impl Fn(usize) -> f64) -> &[LeafEntry] {
        let at_leaf = |tree: &Tree| tree.leaf_of(&cell);
        match (self.whole.get(), &self.in_file) {
            (Some(trees), _) => trees[tree].entries_of(at_leaf(&trees[tree])),
            (None, Some(stored)) => match stored.branches.get(stored.branch_of(tree, &cell)) {
                Some(branch) => branch.entries_of(at_leaf(branch)),
                None => &[],
            },
            (None, None) => &[],
        }
    }
}

impl TreesInFile {
    /// The branch of a tree that a row comes to, in the list of all.
    fn branch_of(&self, tree: usize, cell: impl Fn(usize) -> f64) -> usize {
        self.starts[tree] + self.tops[tree].leaf_of(cell)
    }
}
