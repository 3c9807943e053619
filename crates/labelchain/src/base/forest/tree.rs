//! A grown tree: where a row falls, and which label sets are there.

use serde::{Deserialize, Serialize};

/// A binary tree in one list of nodes. The children of a node stand side by side, after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Leaf k has `entries[starts[k]..starts[k + 1]]`.
    starts: Vec<u32>,
    entries: Vec<LeafEntry>,
}

/// How many of the rows that a tree drew have a label set, in one leaf.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LeafEntry {
    /// Which label set of the model.
    pub(super) set: u32,
    /// Drawn rows.
    pub(super) count: u32,
}

/// Sixteen bytes, so that four of them share a line of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    /// Cells up to it go left; of a nominal input, cells that are equal to it.
    threshold: f64,
    /// The input that is tested, and two flags above it; [`LEAF`] if there is none.
    input: u32,
    /// Where the left child stands, before the right one; of a leaf, which it is.
    child: u32,
}

const LEAF: u32 = u32::MAX;
const MISSING_LEFT: u32 = 1 << 31;
const NOMINAL: u32 = 1 << 30;
const INPUT: u32 = NOMINAL - 1;

/// More inputs than a node can name.
pub(super) const MAX_INPUTS: usize = INPUT as usize;

/// A test of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) input: u32,
    pub(super) is_nominal: bool,
    pub(super) threshold: f64,
    pub(super) missing_left: bool,
}

impl Tree {
    /// One node that is still to be made a split or a leaf.
    pub(super) fn new() -> Tree {
        let open = Node { threshold: 0.0, input: LEAF, child: 0 };
        Tree { nodes: vec![open], starts: vec![0], entries: Vec::new() }
    }

    /// Gives a node two children, and returns the place of the left one.
    pub(super) fn split(&mut self, node: usize, test: Test) -> usize {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags = flag(test.missing_left, MISSING_LEFT) | flag(test.is_nominal, NOMINAL);
        let (threshold, input) = (test.threshold, test.input | flags);
        let child = self.nodes.len();
        self.nodes[node] = Node { threshold, input, child: child as u32 };
        self.nodes.extend([Node { threshold: 0.0, input: LEAF, child: 0 }; 2]);
        child
    }

    /// Makes a node a leaf with these label sets.
    pub(super) fn leaf(&mut self, node: usize, entries: impl IntoIterator<Item = LeafEntry>) {
        self.nodes[node] =
            Node { threshold: 0.0, input: LEAF, child: self.starts.len() as u32 - 1 };
        self.entries.extend(entries);
        self.starts.push(self.entries.len() as u32);
    }

    /// Gives back memory that growing took in advance.
    pub(super) fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// The label sets of the leaf that a row falls into.
    pub(super) fn leaf_of(&self, cell: impl Fn(usize) -> f64) -> &[LeafEntry] {
        let mut node = self.nodes[0];
        while node.input != LEAF {
            let cell = cell((node.input & INPUT) as usize);
            let is_left = if cell.is_nan() {
                node.input & MISSING_LEFT != 0
            } else if node.input & NOMINAL != 0 {
                cell == node.threshold
            } else {
                cell <= node.threshold
            };
            node = self.nodes[node.child as usize + usize::from(!is_left)];
        }
        let leaf = node.child as usize;
        &self.entries[self.starts[leaf] as usize..self.starts[leaf + 1] as usize]
    }

    /// Whether it is one tree over so many inputs, whose leaves have rows and name label sets that
    /// there are. Children stand after their parents, so every way down ends.
    pub(super) fn fits(&self, n_inputs: usize, n_sets: usize) -> bool {
        let n_leaves = self.starts.len().saturating_sub(1);
        let mut has_parent = vec![false; self.nodes.len()];
        let mut is_leaf_used = vec![false; n_leaves];
        // Whether this is the first that leads there.
        let take = |taken: &mut [bool], at: usize| match taken.get_mut(at) {
            Some(taken) => !std::mem::replace(taken, true),
            None => false,
        };
        let mut node_fits = |(at, node): (usize, &Node)| {
            let child = node.child as usize;
            if node.threshold.is_nan() {
                false
            } else if node.input == LEAF {
                take(&mut is_leaf_used, child)
            } else {
                ((node.input & INPUT) as usize) < n_inputs
                    && child > at
                    && take(&mut has_parent, child)
                    && take(&mut has_parent, child + 1)
            }
        };
        let nodes_fit = self.nodes.iter().enumerate().all(&mut node_fits);
        let leaf_fits = |ends: &[u32]| ends[0] < ends[1];
        let ends = (self.starts.first(), self.starts.last().map(|&last| last as usize));
        let entry_fits = |entry: &LeafEntry| (entry.set as usize) < n_sets && entry.count > 0;
        nodes_fit
            && self.nodes.len() + 1 == 2 * n_leaves
            && has_parent.iter().skip(1).all(|&has| has)
            && ends == (Some(&0), Some(self.entries.len()))
            && self.starts.windows(2).all(leaf_fits)
            && self.entries.iter().all(entry_fits)
    }

    #[cfg(test)]
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How many trees fit in which the child of one node is another, or one entry begins elsewhere.
    #[cfg(test)]
    pub(super) fn damaged_that_fit(&self, n_inputs: usize, n_sets: usize) -> usize {
        let mut n = 0;
        let mut count = |damage: &dyn Fn(&mut Tree)| {
            let mut tree = self.clone();
            damage(&mut tree);
            n += usize::from(tree != *self && tree.fits(n_inputs, n_sets));
        };
        for at in 0..self.nodes.len() {
            for child in 0..self.nodes.len() as u32 + 3 {
                count(&|tree| tree.nodes[at].child = child);
            }
            count(&|tree| tree.nodes[at].threshold = f64::NAN);
            count(&|tree| tree.nodes[at].input = INPUT);
        }
        for at in 0..self.starts.len() {
            count(&|tree| tree.starts[at] += self.entries.len() as u32);
        }
        for at in 0..self.entries.len() {
            count(&|tree| tree.entries[at].set = n_sets as u32);
            count(&|tree| tree.entries[at].count = 0);
        }
        n
    }
}
