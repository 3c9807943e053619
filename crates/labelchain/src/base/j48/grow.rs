//! Growing a tree: finds the best split of each node and goes on with the rows of each branch.

use std::ops::Range;

use super::split::{NodeCells, NodeRows, Splitter};
use super::{J48, Node, Partition, Split, Test, is_at_most};
use crate::data::Attribute;
use crate::prepare::SMALL;

/// A tree and the training rows of its nodes.
pub(super) struct Tree<'a> {
    pub(super) partition: Partition<'a>,
    /// The root first, and every node before its children.
    pub(super) nodes: Vec<Node>,
    /// The range of each node's rows in the partition.
    pub(super) ranges: Vec<Range<usize>>,
}

/// A node that waits to be split.
struct Pending {
    node: usize,
    cells: NodeCells,
}

/// Grows the whole tree from the stored (value, row) of every input. The nodes to be split wait in
/// a vector and not on the call stack, because a tree can be as deep as there are rows.
pub(super) fn grow<'a>(
    settings: &J48,
    attributes: &[Attribute],
    stored: &'a [Vec<(f64, u32)>],
    relevant: &'a [bool],
) -> Tree<'a> {
    let partition = Partition::of(stored, relevant);
    let range = partition.whole();
    let root = Node::leaf(partition.counts(&range));
    let mut tree = Tree { partition, nodes: vec![root], ranges: vec![range] };
    let (splitter, cells) = Splitter::of(settings, attributes, stored, relevant);
    let mut pending = Vec::new();
    if settings.may_split(&tree.nodes[0]) {
        pending.push(Pending { node: 0, cells });
    }
    let mut weights = vec![0.0; relevant.len()];
    // The node that each row was last found in.
    let mut node_of_row = vec![u32::MAX; relevant.len()];
    while let Some(Pending { node, cells }) = pending.pop() {
        let range = tree.ranges[node].clone();
        let mut is_unweighted = true;
        for it in tree.partition.at(&range) {
            weights[it.row as usize] = it.weight;
            is_unweighted &= it.weight == 1.0;
        }
        let counts = tree.nodes[node].counts;
        let rows = NodeRows { n_rows: range.len(), counts, weights: &weights, is_unweighted };
        let Some((column, test)) = splitter.best(&cells, &rows) else { continue };
        for child in tree.split(node, column, test) {
            if settings.may_split(&tree.nodes[child]) {
                let rows = tree.partition.at(&tree.ranges[child]);
                rows.iter().for_each(|it| node_of_row[it.row as usize] = child as u32);
                let cells = cells.of_node(child as u32, rows.len(), &node_of_row);
                pending.push(Pending { node: child, cells });
            }
        }
    }
    tree
}

impl J48 {
    /// Whether a node has enough rows for two branches, and rows of both classes.
    fn may_split(&self, node: &Node) -> bool {
        let pure = node.total() - node.counts[0].max(node.counts[1]) < SMALL;
        !pure && is_at_most(2.0 * self.min_leaf as f64, node.total())
    }
}

impl Tree<'_> {
    /// Splits a node and returns its children.
    fn split(&mut self, node: usize, column: usize, test: Test) -> Range<usize> {
        let first = self.nodes.len();
        for range in self.partition.split(&self.ranges[node], column, test) {
            self.nodes.push(Node::leaf(self.partition.counts(&range)));
            self.ranges.push(range);
        }
        let children: Vec<usize> = (first..self.nodes.len()).collect();
        self.nodes[node].split = Some(Split { column, test, children });
        first..self.nodes.len()
    }
}
