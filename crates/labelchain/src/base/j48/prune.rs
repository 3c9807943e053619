//! Pruning: subtrees that only fit the training rows are removed.
//!
//! First, every subtree that classifies the training rows no better than a leaf would becomes a
//! leaf. Then the tree is pruned from the leaves up by a pessimistic estimate of the errors on
//! other rows, the upper end of a confidence interval around the errors on training rows: a node
//! becomes a leaf (subtree replacement) or is replaced by its largest branch (subtree raising)
//! where the estimate does not get worse.

use std::f64::consts::{PI, SQRT_2};
use std::ops::Range;

use super::grow::Tree;
use super::{Node, Split, is_at_most};

/// A node on the way down to the leaves, or back up.
enum Visit {
    Down(usize),
    Up(usize),
}

impl Tree<'_> {
    /// Makes leaves of the topmost nodes whose leaves err as much on the training rows as they
    /// themselves would.
    pub(super) fn collapse(&mut self) {
        let mut errors: Vec<f64> = self.nodes.iter().map(Node::errors).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(split) = &node.split {
                errors[at] = split.children.iter().map(|&child| errors[child]).sum();
            }
        }
        for (node, errors) in self.nodes.iter_mut().zip(errors) {
            if errors >= node.errors() - 1e-3 {
                node.split = None;
            }
        }
    }

    /// Prunes from the leaves up.
    pub(super) fn prune(&mut self, confidence: f64) {
        let pessimistic = PessimisticErrors::new(confidence);
        let mut expected: Vec<f64> = vec![0.0; self.nodes.len()];
        let mut stack = vec![Visit::Down(0)];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Down(at) => match &self.nodes[at].split {
                    None => expected[at] = pessimistic.of_leaf(&self.nodes[at]),
                    Some(split) => {
                        stack.push(Visit::Up(at));
                        stack.extend(split.children.iter().map(|&child| Visit::Down(child)));
                    }
                },
                Visit::Up(at) => {
                    let Some(split) = self.nodes[at].split.clone() else { continue };
                    let of_tree: f64 = split.children.iter().map(|&child| expected[child]).sum();
                    let of_leaf = pessimistic.of_leaf(&self.nodes[at]);
                    let largest = self.largest(&split);
                    let of_branch = self.errors_of_branch(&pessimistic, largest, at);
                    expected[at] = of_tree;
                    if is_at_most(of_leaf, of_tree + 0.1) && is_at_most(of_leaf, of_branch + 0.1) {
                        self.nodes[at].split = None;
                        expected[at] = of_leaf;
                    } else if is_at_most(of_branch, of_tree + 0.1) {
                        self.nodes[at].split = self.nodes[largest].split.clone();
                        self.redistribute(at);
                        stack.push(Visit::Down(at));
                    }
                }
            }
        }
    }

    /// The child with the greatest weight; of equals the last.
    fn largest(&self, split: &Split) -> usize {
        let (mut largest, mut most) = (split.children[0], 0.0);
        for &child in &split.children {
            let total = self.nodes[child].total();
            if is_at_most(most, total) {
                (largest, most) = (child, total);
            }
        }
        largest
    }

    /// The errors expected if all rows of a node went to one of its branches.
    fn errors_of_branch(&self, pessimistic: &PessimisticErrors, branch: usize, node: usize) -> f64 {
        let mut partition = self.partition.copy(self.ranges[node].clone());
        let mut errors = 0.0;
        let mut stack: Vec<(usize, Range<usize>)> = vec![(branch, partition.whole())];
        while let Some((at, range)) = stack.pop() {
            match &self.nodes[at].split {
                None => errors += pessimistic.of_leaf(&Node::leaf(partition.counts(&range))),
                Some(Split { column, test, children }) => {
                    let ranges = partition.split(&range, *column, *test);
                    stack.extend(children.iter().copied().zip(ranges));
                }
            }
        }
        errors
    }

    /// Sends the rows of a node down its changed subtree.
    fn redistribute(&mut self, node: usize) {
        let mut stack = vec![node];
        while let Some(at) = stack.pop() {
            let Some(Split { column, test, children }) = &self.nodes[at].split else { continue };
            let ranges = self.partition.split(&self.ranges[at], *column, *test);
            stack.extend(children);
            for (child, range) in children.clone().into_iter().zip(ranges) {
                self.nodes[child].counts = self.partition.counts(&range);
                self.ranges[child] = range;
            }
        }
    }

    /// The nodes that can still be reached from the root, each before its children.
    pub(super) fn into_nodes(self) -> Vec<Node> {
        let mut nodes: Vec<Node> = vec![self.nodes[0].clone()];
        let mut at = 0;
        while at < nodes.len() {
            let first = nodes.len();
            if let Some(split) = &mut nodes[at].split {
                let children: Vec<usize> = (first..first + split.children.len()).collect();
                let kept = std::mem::replace(&mut split.children, children);
                nodes.extend(kept.into_iter().map(|child| self.nodes[child].clone()));
            }
            at += 1;
        }
        nodes
    }
}

/// C4.5's pessimistic estimate of errors: the upper end of a confidence interval.
struct PessimisticErrors {
    confidence: f64,
    /// The value that a standard normal variable exceeds with probability `confidence`.
    z: f64,
}

impl PessimisticErrors {
    fn new(confidence: f64) -> PessimisticErrors {
        // The tail is convex and falling from 0 on, so that Newton's steps from 0 never overshoot.
        let mut z: f64 = 0.0;
        for _ in 0..1000 {
            let tail = libm::erfc(z / SQRT_2) / 2.0;
            let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
            let step = (tail - confidence) / density;
            if !step.is_finite() || z + step == z {
                break;
            }
            z += step;
        }
        PessimisticErrors { confidence, z }
    }

    /// The errors expected of a leaf.
    fn of_leaf(&self, leaf: &Node) -> f64 {
        if leaf.is_empty() { 0.0 } else { leaf.errors() + self.added(leaf.total(), leaf.errors()) }
    }

    /// What the estimate adds to `e` errors on rows of weight `n` (docs/methods.md, 8.3).
    ///
    /// From 1 error on it is n times the upper end of Wilson's interval for the error rate
    /// f = (e + 1/2) / n, less e; that end is
    /// (f + z²/2n + z √(f/n - f²/n + z²/4n²)) / (1 + z²/n). For 0 errors it is n times the exact
    /// bound of the binomial distribution, 1 - confidence^(1/n), and between 0 and 1 errors it is
    /// interpolated.
    fn added(&self, n: f64, e: f64) -> f64 {
        if e < 1.0 {
            let at_zero = n * (1.0 - self.confidence.powf(1.0 / n));
            if e <= 0.0 {
                return at_zero;
            }
            return at_zero + e * (self.added(n, 1.0) - at_zero);
        }
        if e + 0.5 >= n {
            return (n - e).max(0.0);
        }
        let (z, f) = (self.z, (e + 0.5) / n);
        let deviation = (f / n - f * f / n + z * z / (4.0 * n * n)).sqrt();
        let bound = (f + z * z / (2.0 * n) + z * deviation) / (1.0 + z * z / n);
        bound * n - e
    }
}
