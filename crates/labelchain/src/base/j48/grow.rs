//! Growing: asks the best question at each node and goes on with the rows of each answer.

use std::ops::Range;

use super::split::{Here, Listing, Questions};
use super::{J48, Node, Reaches, Split, Test, is_at_most};
use crate::data::Attribute;
use crate::prepare::SMALL;

/// A tree and the training rows that reach its nodes.
pub(super) struct Tree<'a> {
    pub(super) reaches: Reaches<'a>,
    /// The root first, and every node before its children.
    pub(super) nodes: Vec<Node>,
    /// Where the rows of each node are.
    pub(super) ranges: Vec<Range<usize>>,
}

/// A node that may be split.
struct Open {
    node: usize,
    listing: Listing,
}

/// Grows the whole tree from the stored (value, row) of every input. Nodes wait on a stack of their
/// own: trees can be as deep as there are rows.
pub(super) fn grow<'a>(
    settings: &J48,
    attributes: &[Attribute],
    stored: &'a [Vec<(f64, u32)>],
    relevant: &'a [bool],
) -> Tree<'a> {
    let reaches = Reaches::of(stored, relevant);
    let range = reaches.whole();
    let root = Node::leaf(reaches.counts(&range));
    let mut tree = Tree { reaches, nodes: vec![root], ranges: vec![range] };
    let (questions, listing) = Questions::of(settings, attributes, stored, relevant);
    let mut open = Vec::new();
    if settings.may_split(&tree.nodes[0]) {
        open.push(Open { node: 0, listing });
    }
    let mut weights = vec![0.0; relevant.len()];
    let mut stamps = vec![u32::MAX; relevant.len()];
    while let Some(Open { node, listing }) = open.pop() {
        let range = tree.ranges[node].clone();
        let mut is_whole = true;
        for reach in tree.reaches.at(&range) {
            weights[reach.row as usize] = reach.weight;
            is_whole &= reach.weight == 1.0;
        }
        let counts = tree.nodes[node].counts;
        let here = Here { n_rows: range.len(), counts, weights: &weights, is_whole };
        let Some((column, test)) = questions.best(&listing, &here) else { continue };
        for child in tree.split(node, column, test) {
            if settings.may_split(&tree.nodes[child]) {
                let rows = tree.reaches.at(&tree.ranges[child]);
                rows.iter().for_each(|reach| stamps[reach.row as usize] = child as u32);
                let listing = listing.narrowed(rows.len(), &stamps, child as u32);
                open.push(Open { node: child, listing });
            }
        }
    }
    tree
}

impl J48 {
    /// Enough rows for two branches, and not all of one class.
    fn may_split(&self, node: &Node) -> bool {
        let pure = node.total() - node.counts[0].max(node.counts[1]) < SMALL;
        !pure && is_at_most(2.0 * self.min_leaf as f64, node.total())
    }
}

impl Tree<'_> {
    /// Splits a node and returns its children.
    fn split(&mut self, node: usize, column: usize, test: Test) -> Range<usize> {
        let first = self.nodes.len();
        for range in self.reaches.split(&self.ranges[node], column, test) {
            self.nodes.push(Node::leaf(self.reaches.counts(&range)));
            self.ranges.push(range);
        }
        let children: Vec<usize> = (first..self.nodes.len()).collect();
        self.nodes[node].split = Some(Split { column, test, children });
        first..self.nodes.len()
    }
}
