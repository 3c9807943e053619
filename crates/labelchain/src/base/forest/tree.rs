//! A grown tree: where a row falls, and which label sets are there.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A binary tree in one list of nodes. The children of a node stand side by side, after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Leaf k has `entries[starts[k]..starts[k + 1]]`. Leaves are numbered from left to right, so that
    /// those below a node are a range.
    starts: Vec<u32>,
    entries: Vec<LeafEntry>,
    /// The rows that were drawn, counted among those that the forest was fitted on: leaf k has
    /// `rows[row_starts[k]..row_starts[k + 1]]`. Each stands there once, because the forest's seed says how
    /// often it was drawn; in a forest that has been updated, as often as it was drawn.
    row_starts: Vec<u32>,
    rows: Vec<u32>,
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

/// A node that is still to be made a split or a leaf.
const OPEN: Node = Node { threshold: 0.0, input: LEAF, child: 0 };

const LEAF: u32 = u32::MAX;
const MISSING_LEFT: u32 = 1 << 31;
const NOMINAL: u32 = 1 << 30;
const INPUT: u32 = NOMINAL - 1;

/// More inputs than a node can name.
pub(super) const MAX_INPUTS: usize = INPUT as usize;

impl Node {
    /// The input that is tested.
    fn tested(&self) -> usize {
        (self.input & INPUT) as usize
    }

    /// The child that a row goes on to.
    #[inline(always)]
    fn next(&self, cell: &impl Fn(usize) -> f64) -> usize {
        let cell = cell(self.tested());
        let has = |flag: u32| self.input & flag != 0;
        // Without a branch, because a processor cannot guess where a row goes. A missing cell compares as
        // false either way.
        let by_cell =
            ((cell <= self.threshold) & !has(NOMINAL)) | ((cell == self.threshold) & has(NOMINAL));
        let is_left = by_cell | (cell.is_nan() & has(MISSING_LEFT));
        self.child as usize + usize::from(!is_left)
    }
}

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
        Tree {
            nodes: vec![OPEN],
            starts: vec![0],
            entries: Vec::new(),
            row_starts: vec![0],
            rows: Vec::new(),
        }
    }

    /// Gives a node two children, and returns the place of the left one.
    pub(super) fn split(&mut self, node: usize, test: Test) -> usize {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags = flag(test.missing_left, MISSING_LEFT) | flag(test.is_nominal, NOMINAL);
        let (threshold, input) = (test.threshold, test.input | flags);
        let child = self.nodes.len();
        self.nodes[node] = Node { threshold, input, child: child as u32 };
        self.nodes.extend([OPEN; 2]);
        child
    }

    /// Makes a node a leaf with these label sets and rows.
    pub(super) fn leaf(
        &mut self,
        node: usize,
        entries: impl IntoIterator<Item = LeafEntry>,
        rows: &[u32],
    ) {
        self.nodes[node] = Node { child: self.starts.len() as u32 - 1, ..OPEN };
        self.entries.extend(entries);
        self.starts.push(self.entries.len() as u32);
        self.rows.extend_from_slice(rows);
        self.row_starts.push(self.rows.len() as u32);
    }

    /// Gives back memory that growing took in advance.
    pub(super) fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.row_starts.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// The leaf that a row falls into.
    #[inline(always)]
    pub(super) fn leaf_of(&self, cell: impl Fn(usize) -> f64) -> usize {
        let mut node = self.nodes[0];
        while node.input != LEAF {
            node = self.nodes[node.next(&cell)];
        }
        node.child as usize
    }

    /// The label sets of some leaves; a set may stand there several times.
    pub(super) fn entries_in(&self, leaves: Range<usize>) -> &[LeafEntry] {
        &self.entries[self.starts[leaves.start] as usize..self.starts[leaves.end] as usize]
    }

    /// The label sets of a leaf.
    pub(super) fn entries_of(&self, leaf: usize) -> &[LeafEntry] {
        self.entries_in(leaf..leaf + 1)
    }

    /// The rows of a leaf.
    pub(super) fn rows_of(&self, leaf: usize) -> &[u32] {
        &self.rows[self.row_starts[leaf] as usize..self.row_starts[leaf + 1] as usize]
    }

    /// The rows of all leaves.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Whether a row stands in its leaf as often as it was drawn. Where each was drawn once, both ways to
    /// list them are the same.
    pub(super) fn lists_draws(&self) -> bool {
        let n_draws: u64 = self.entries.iter().map(|entry| u64::from(entry.count)).sum();
        n_draws == self.rows.len() as u64
    }

    /// The same tree, with each row as often as it says.
    pub(super) fn listing(&self, n_draws: impl Fn(u32) -> u32) -> Tree {
        let (mut rows, mut row_starts) = (Vec::new(), vec![0]);
        for leaf in 0..self.n_leaves() {
            for &row in self.rows_of(leaf) {
                rows.extend(std::iter::repeat_n(row, n_draws(row) as usize));
            }
            row_starts.push(rows.len() as u32);
        }
        Tree { rows, row_starts, ..self.clone() }
    }

    /// Which label sets the leaves name.
    pub(super) fn sets(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().map(|entry| entry.set)
    }

    /// The same tree where label sets and rows have other numbers.
    pub(super) fn renumber(&mut self, set: impl Fn(u32) -> u32, row: impl Fn(u32) -> u32) {
        self.entries.iter_mut().for_each(|entry| entry.set = set(entry.set));
        self.rows.iter_mut().for_each(|place| *place = row(*place));
    }

    fn n_leaves(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many ways down there are: of a top, how many branches it has.
    pub(super) fn n_ends(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    /// The tree in pieces: the greatest subtrees of at most so many leaves, from left to right, are trees of
    /// their own, and in the top each of them is a leaf that has its number and nothing else. Nodes
    /// are numbered anew, so that equal trees have equal pieces however they came about.
    pub(super) fn cut(&self) -> (Tree, Vec<Tree>) {
        /// Of about 4 kilobytes as bytes.
        const LEAVES_OF_BRANCH: usize = 128;
        let (mut top, mut branches) = (Tree::new(), Vec::new());
        self.copy_nodes((0, 0..self.n_leaves()), &mut top, 0, |top, at, (from, leaves)| {
            let is_branch = leaves.len() <= LEAVES_OF_BRANCH;
            if is_branch {
                top.nodes[at] = Node { child: branches.len() as u32, ..OPEN };
                let mut branch = Tree::new();
                self.copy_with_leaves((from, leaves), &mut branch, 0);
                branches.push(branch);
            }
            is_branch
        });
        (top, branches)
    }

    /// The tree of which this is the top.
    pub(super) fn with_branches(&self, branches: &[Tree]) -> Tree {
        let mut tree = Tree::new();
        self.copy_nodes((0, 0..self.n_ends()), &mut tree, 0, |tree, at, (from, _)| {
            let node = self.nodes[from];
            let branch = branches.get(node.child as usize).filter(|_| node.input == LEAF);
            if let Some(branch) = branch {
                branch.copy_with_leaves((0, 0..branch.n_leaves()), tree, at);
            }
            node.input == LEAF
        });
        tree.shrink();
        tree
    }

    /// Copies a node and all below it, with what the leaves keep, to place `at` of another tree, as its next
    /// leaves.
    fn copy_with_leaves(&self, from: (usize, Range<usize>), to: &mut Tree, at: usize) {
        self.copy_nodes(from, to, at, |to, at, (from, _)| {
            let Node { input, child, .. } = self.nodes[from];
            if input == LEAF {
                let leaf = child as usize;
                to.leaf(at, self.entries_of(leaf).iter().copied(), self.rows_of(leaf));
            }
            input == LEAF
        });
    }

    /// Copies a node, which is given with the leaves below it, and those below it to place `at` of another tree,
    /// from left to right. `end` is asked at every node whether it has put something else there.
    fn copy_nodes(
        &self,
        from: (usize, Range<usize>),
        to: &mut Tree,
        at: usize,
        mut end: impl FnMut(&mut Tree, usize, (usize, Range<usize>)) -> bool,
    ) {
        let mut open = vec![(from, at)];
        while let Some(((from, leaves), at)) = open.pop() {
            if end(to, at, (from, leaves.clone())) {
                continue;
            }
            let (node, child) = (self.nodes[from], to.nodes.len());
            to.nodes[at] = Node { child: child as u32, ..node };
            to.nodes.extend([OPEN; 2]);
            let left = node.child as usize;
            let middle = self.first_leaf(left + 1);
            open.push(((left + 1, middle..leaves.end), child + 1));
            open.push(((left, leaves.start..middle), child));
        }
    }

    /// The first leaf below a node.
    fn first_leaf(&self, node: usize) -> usize {
        let mut node = self.nodes[node];
        while node.input != LEAF {
            node = self.nodes[node.child as usize];
        }
        node.child as usize
    }

    /// The nodes that a row comes through, from the root to its leaf: the input that each tests, and the
    /// leaves below it.
    pub(super) fn path(&self, cell: impl Fn(usize) -> f64) -> Vec<(Option<usize>, Range<usize>)> {
        let mut path = Vec::new();
        let (mut node, mut leaves) = (self.nodes[0], 0..self.n_leaves());
        while node.input != LEAF {
            let middle = self.first_leaf(node.child as usize + 1);
            let next = node.next(&cell);
            path.push((Some(node.tested()), leaves.clone()));
            let is_left = next == node.child as usize;
            leaves = if is_left { leaves.start..middle } else { middle..leaves.end };
            node = self.nodes[next];
        }
        path.push((None, leaves));
        path
    }

    /// Calls `visit` with the input that each split tests, and the leaves below it on the left and on the
    /// right.
    pub(super) fn for_each_split(&self, mut visit: impl FnMut(usize, Range<usize>, Range<usize>)) {
        let mut open = vec![(0, 0..self.n_leaves())];
        while let Some((at, leaves)) = open.pop() {
            let node = self.nodes[at];
            if node.input == LEAF {
                continue;
            }
            let left = node.child as usize;
            let middle = self.first_leaf(left + 1);
            visit(node.tested(), leaves.start..middle, middle..leaves.end);
            open.extend([(left + 1, middle..leaves.end), (left, leaves.start..middle)]);
        }
    }

    /// Whether it is one tree over so many inputs, whose leaves have rows that there are and name label
    /// sets that there are. Children stand after their parents, so every way down ends.
    pub(super) fn fits(&self, n_inputs: usize, n_sets: usize, n_rows: usize) -> bool {
        let n_leaves = self.starts.len().saturating_sub(1);
        // Where each leaf begins, from nothing to all.
        let starts_fit = |starts: &[u32], n: usize| {
            starts.len() == n_leaves + 1
                && (starts.first(), starts.last()) == (Some(&0), Some(&(n as u32)))
                && starts.windows(2).all(|ends| ends[0] < ends[1])
        };
        let entry_fits = |entry: &LeafEntry| (entry.set as usize) < n_sets && entry.count > 0;
        self.nodes_fit(n_inputs, n_leaves)
            && starts_fit(&self.starts, self.entries.len())
            && starts_fit(&self.row_starts, self.rows.len())
            && self.entries.iter().all(entry_fits)
            && self.rows.iter().all(|&row| (row as usize) < n_rows)
    }

    /// Whether it is the top of one tree over so many inputs.
    pub(super) fn fits_as_top(&self, n_inputs: usize) -> bool {
        self.nodes_fit(n_inputs, self.n_ends())
    }

    /// Whether the nodes are one tree with so many leaves, which are numbered from left to right.
    fn nodes_fit(&self, n_inputs: usize, n_leaves: usize) -> bool {
        let mut has_parent = vec![false; self.nodes.len()];
        // Whether this is the first that leads there.
        let mut take = |at: usize| match has_parent.get_mut(at) {
            Some(taken) => !std::mem::replace(taken, true),
            None => false,
        };
        let mut node_fits = |(at, node): (usize, &Node)| {
            let child = node.child as usize;
            if node.input == LEAF {
                !node.threshold.is_nan()
            } else {
                let is_below = child > at && take(child) && take(child + 1);
                !node.threshold.is_nan() && node.tested() < n_inputs && is_below
            }
        };
        let nodes_fit = self.nodes.iter().enumerate().all(&mut node_fits);
        nodes_fit
            && self.nodes.len() + 1 == 2 * n_leaves
            && has_parent.iter().skip(1).all(|&has| has)
            && self.leaves_ascend()
    }

    /// Whether leaves are numbered from left to right. Asked of nodes that are a tree.
    fn leaves_ascend(&self) -> bool {
        let (mut open, mut n_seen) = (vec![0], 0);
        while let Some(at) = open.pop() {
            let node: Node = self.nodes[at];
            let child = node.child as usize;
            if node.input != LEAF {
                open.extend([child + 1, child]);
            } else if child == n_seen {
                n_seen += 1;
            } else {
                return false;
            }
        }
        true
    }

    #[cfg(test)]
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How many trees fit in which the child of one node is another, or one entry begins elsewhere.
    #[cfg(test)]
    pub(super) fn damaged_that_fit(&self, n_inputs: usize, n_sets: usize, n_rows: usize) -> usize {
        let mut n = 0;
        let mut count = |damage: &dyn Fn(&mut Tree)| {
            let mut tree = self.clone();
            damage(&mut tree);
            n += usize::from(tree != *self && tree.fits(n_inputs, n_sets, n_rows));
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
            count(&|tree| tree.row_starts[at] += self.rows.len() as u32);
        }
        for at in 0..self.rows.len() {
            count(&|tree| tree.rows[at] = n_rows as u32);
        }
        for at in 0..self.entries.len() {
            count(&|tree| tree.entries[at].set = n_sets as u32);
            count(&|tree| tree.entries[at].count = 0);
        }
        n
    }
}
