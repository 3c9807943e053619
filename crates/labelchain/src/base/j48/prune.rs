//! Pruning: what only fits the training rows is taken back.
//!
//! First whole subtrees that decide the training rows no better than a leaf would. Then, from the
//! leaves up, by errors expected on other rows: the upper end of a confidence interval around those
//! on training rows. A node becomes a leaf, or gives way to the largest of its branches, if that is
//! not expected to err more.

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
        let pessimist = Pessimist::new(confidence);
        let mut expected: Vec<f64> = vec![0.0; self.nodes.len()];
        let mut open = vec![Visit::Down(0)];
        while let Some(visit) = open.pop() {
            match visit {
                Visit::Down(at) => match &self.nodes[at].split {
                    None => expected[at] = pessimist.errors(&self.nodes[at]),
                    Some(split) => {
                        open.push(Visit::Up(at));
                        open.extend(split.children.iter().map(|&child| Visit::Down(child)));
                    }
                },
                Visit::Up(at) => {
                    let Some(split) = self.nodes[at].split.clone() else { continue };
                    let of_tree: f64 = split.children.iter().map(|&child| expected[child]).sum();
                    let of_leaf = pessimist.errors(&self.nodes[at]);
                    let largest = self.largest(&split);
                    let of_branch = self.errors_of_branch(&pessimist, largest, at);
                    expected[at] = of_tree;
                    if is_at_most(of_leaf, of_tree + 0.1) && is_at_most(of_leaf, of_branch + 0.1) {
                        self.nodes[at].split = None;
                        expected[at] = of_leaf;
                    } else if is_at_most(of_branch, of_tree + 0.1) {
                        self.nodes[at].split = self.nodes[largest].split.clone();
                        self.redistribute(at);
                        open.push(Visit::Down(at));
                    }
                }
            }
        }
    }

    /// The child with most rows; of equals the last.
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

    /// Errors expected if all rows of a node went to one of its branches.
    fn errors_of_branch(&self, pessimist: &Pessimist, branch: usize, node: usize) -> f64 {
        let mut reaches = self.reaches.copy(self.ranges[node].clone());
        let mut errors = 0.0;
        let mut open: Vec<(usize, Range<usize>)> = vec![(branch, reaches.whole())];
        while let Some((at, range)) = open.pop() {
            match &self.nodes[at].split {
                None => errors += pessimist.errors(&Node::leaf(reaches.counts(&range))),
                Some(Split { column, test, children }) => {
                    let ranges = reaches.split(&range, *column, *test);
                    open.extend(children.iter().copied().zip(ranges));
                }
            }
        }
        errors
    }

    /// Sends the rows of a node down again.
    fn redistribute(&mut self, node: usize) {
        let mut open = vec![node];
        while let Some(at) = open.pop() {
            let Some(Split { column, test, children }) = &self.nodes[at].split else { continue };
            let ranges = self.reaches.split(&self.ranges[at], *column, *test);
            open.extend(children);
            for (child, range) in children.clone().into_iter().zip(ranges) {
                self.nodes[child].counts = self.reaches.counts(&range);
                self.ranges[child] = range;
            }
        }
    }

    /// The nodes that are left, each before its children.
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

/// Expects more errors than there were.
struct Pessimist {
    confidence: f64,
    /// What a standard normal variable exceeds with the probability of `confidence`.
    z: f64,
}

impl Pessimist {
    fn new(confidence: f64) -> Pessimist {
        // Newton's rule from the left of a convex falling curve never steps too far.
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
        Pessimist { confidence, z }
    }

    /// Errors expected of a leaf.
    fn errors(&self, leaf: &Node) -> f64 {
        if leaf.is_empty() { 0.0 } else { leaf.errors() + self.added(leaf.total(), leaf.errors()) }
    }

    /// What to add to `e` errors on rows of weight `n` (methods 8.3).
    fn added(&self, n: f64, e: f64) -> f64 {
        if e < 1.0 {
            let at_none = n * (1.0 - self.confidence.powf(1.0 / n));
            return match e <= 0.0 {
                true => at_none,
                false => at_none + e * (self.added(n, 1.0) - at_none),
            };
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
