//! J48, WEKA's C4.5: a tree that asks one input at a time and says how common a label is among the
//! training rows that gave the same answers.
//!
//! `split` finds the question that tells most, `grow` asks it and goes on with the rows of each
//! answer, `prune` takes back what only fits the training rows. Every rule is WEKA's (methods 8.3),
//! down to the tolerances; `tests/trees_agree.rs` holds the trees to WEKA's.

mod grow;
mod prune;
mod reach;
mod split;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BinaryLearner, BinaryModel};
use crate::data::{Attribute, Dataset, LabelId};
use crate::error::{Error, Result};
use crate::prepare::SMALL;
use reach::Reaches;

/// A C4.5 tree for one label (methods 8.3).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `confidence` | 0.25 | above 0, at most 0.5 | CF: the smaller, the more is pruned |
/// | `min_leaf` | 2 | at least 1 | M: rows that at least two branches of a split must have |
/// | `pruned` | true | | whether branches that only fit the training rows are taken back |
/// | `binary_splits` | false | | whether nominal inputs are split into one value and the others |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct J48 {
    /// CF: the smaller, the more is pruned.
    pub confidence: f64,
    /// M: rows, by weight, that at least two branches of a split must have.
    pub min_leaf: usize,
    /// Whether branches that only fit the training rows are taken back. A subtree that decides
    /// them no better than a leaf is taken back in any case.
    pub pruned: bool,
    /// Whether nominal inputs are split into one value and the others, not into all values.
    pub binary_splits: bool,
}

impl Default for J48 {
    fn default() -> J48 {
        J48 { confidence: 0.25, min_leaf: 2, pruned: true, binary_splits: false }
    }
}

/// A fitted tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct J48Model {
    n_features: usize,
    /// The root first, and every node before its children.
    nodes: Vec<Node>,
}

/// One node of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Weights of the training rows that come here: those to which the label is irrelevant, and
    /// those to which it is relevant.
    pub counts: [f64; 2],
    /// How it goes on from here, unless it is a leaf.
    pub split: Option<Split>,
}

/// A question, and where its answers lead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The input asked for.
    pub column: usize,
    /// What is asked.
    pub test: Test,
    /// The node of each answer.
    pub children: Vec<usize>,
}

/// What is asked about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// Is it at most so much? No is the second answer.
    AtMost(f64),
    /// Which of so many named values is it?
    Which(usize),
    /// Is it this named value? No is the second answer.
    Is(usize),
}

impl Test {
    fn n_answers(self) -> usize {
        match self {
            Test::Which(n_values) => n_values,
            Test::AtMost(_) | Test::Is(_) => 2,
        }
    }

    /// Which answer a cell gives; none if it is missing, or a value that was not declared.
    fn answer(self, cell: f64) -> Option<usize> {
        match self {
            _ if cell.is_nan() => None,
            Test::AtMost(threshold) => Some(usize::from(cell > threshold)),
            Test::Which(n_values) => value_of(cell, n_values),
            Test::Is(value) => Some(usize::from(cell != value as f64)),
        }
    }
}

/// The place of a nominal cell's value, if there is one.
fn value_of(cell: f64, n_values: usize) -> Option<usize> {
    let value = cell as usize;
    (value < n_values && value as f64 == cell).then_some(value)
}

/// Weights and gains closer than [`SMALL`] are equal to WEKA. Cells are compared exactly.
fn is_at_most(a: f64, b: f64) -> bool {
    a - b < SMALL || a <= b
}

/// See [`is_at_most`].
fn is_above(a: f64, b: f64) -> bool {
    a - b > SMALL
}

impl Node {
    fn leaf(counts: [f64; 2]) -> Node {
        Node { counts, split: None }
    }

    /// The weight of all rows.
    pub fn total(&self) -> f64 {
        self.counts[0] + self.counts[1]
    }

    /// Whether no row comes here; the node above then answers.
    pub fn is_empty(&self) -> bool {
        self.total() < SMALL
    }

    /// Whether most rows carry the label.
    pub fn is_relevant(&self) -> bool {
        is_above(self.counts[1], self.counts[0])
    }

    /// The weight of the rows that are not as most.
    pub fn errors(&self) -> f64 {
        self.total() - self.counts[usize::from(self.is_relevant())]
    }
}

impl J48 {
    fn check(&self) -> Result<()> {
        let refused = |name, value, accepted| Err(Error::Setting { name, value, accepted });
        if !(self.confidence > 0.0 && self.confidence <= 0.5) {
            let accepted = "above 0 and at most 0.5";
            return refused("confidence", self.confidence.to_string(), accepted);
        }
        if self.min_leaf == 0 {
            return refused("min_leaf", "0".into(), "at least 1");
        }
        Ok(())
    }
}

impl BinaryLearner for J48 {
    type Model = J48Model;

    fn fit_binary(&self, train: &Dataset) -> Result<J48Model> {
        self.check()?;
        Error::unless_same("labels of a tree", 1, train.n_labels())?;
        let relevant = |row| train.labels().get(row, LabelId(0));
        let relevant: Vec<bool> = (0..train.n_rows()).map(relevant).collect();
        let reaches = Reaches::of(train.features(), &relevant);
        let mut tree = grow::grow(self, train, reaches);
        tree.collapse();
        if self.pruned {
            tree.prune(self.confidence);
        }
        Ok(J48Model { n_features: train.n_features(), nodes: tree.into_nodes() })
    }
}

impl BinaryModel for J48Model {
    /// Log-odds of the class shares where the row ends: infinite where all rows agree, 0 where no
    /// class is ahead by more than 1e-6.
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> f64 {
        let [no, yes] = self.shares(cell);
        if (yes - no).abs() <= SMALL { 0.0 } else { yes.ln() - no.ln() }
    }
}

impl J48Model {
    /// The root first, and every node before its children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes have no children.
    pub fn n_leaves(&self) -> usize {
        self.nodes.iter().filter(|node| node.split.is_none()).count()
    }

    /// The shares of both classes where a row ends. Where a cell is missing that is asked for, it
    /// goes every way, with as much weight as the training rows that went there.
    fn shares(&self, cell: &dyn Fn(usize) -> f64) -> [f64; 2] {
        let mut shares = [0.0; 2];
        let mut ends_in = |node: &Node, weight: f64| {
            if !node.is_empty() {
                let share = |class: usize| weight * node.counts[class] / node.total();
                shares = [shares[0] + share(0), shares[1] + share(1)];
            }
        };
        let mut open = vec![(&self.nodes[0], 1.0)];
        while let Some((node, weight)) = open.pop() {
            let Some(split) = &node.split else {
                ends_in(node, weight);
                continue;
            };
            let child = |&at: &usize| &self.nodes[at];
            match split.test.answer(cell(split.column)) {
                Some(answer) => match child(&split.children[answer]) {
                    none if none.is_empty() => ends_in(node, weight),
                    child => open.push((child, weight)),
                },
                None => {
                    let some = split.children.iter().map(child).filter(|child| !child.is_empty());
                    open.extend(some.map(|child| (child, weight * child.total() / node.total())));
                }
            }
        }
        shares
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub fn is_sound(&self, n_features: usize) -> bool {
        let mut n_parents = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if !node.counts.iter().all(|count| count.is_finite() && *count >= 0.0) {
                return false;
            }
            let Some(Split { column, test, children }) = &node.split else { continue };
            let is_ordered = !matches!(test, Test::AtMost(threshold) if threshold.is_nan());
            let exist = children.iter().all(|&child| child > at && child < self.nodes.len());
            if *column >= n_features || !is_ordered || !exist || children.len() != test.n_answers()
            {
                return false;
            }
            children.iter().for_each(|&child| n_parents[child] += 1);
        }
        self.n_features == n_features
            && n_parents.first() == Some(&0)
            && n_parents[1..].iter().all(|&parents| parents == 1)
    }

    /// The same tree for inputs on another scale: `threshold` is told the input and the value there.
    pub fn on_scale(&self, threshold: impl Fn(usize, f64) -> f64) -> J48Model {
        let mut tree = self.clone();
        for split in tree.nodes.iter_mut().filter_map(|node| node.split.as_mut()) {
            if let Test::AtMost(value) = &mut split.test {
                *value = threshold(split.column, *value);
            }
        }
        tree
    }

    /// The tree as WEKA prints it, with the names of the inputs it was fitted to.
    ///
    /// Each answer has a line. After it, if the tree ends there, what is said, the weight of the
    /// training rows, and the weight of those among them that are otherwise.
    pub fn named<'a>(&'a self, attributes: &'a [Attribute]) -> impl fmt::Display + 'a {
        Named { nodes: &self.nodes, attributes }
    }
}

struct Named<'a> {
    nodes: &'a [Node],
    attributes: &'a [Attribute],
}

impl Named<'_> {
    fn answer(&self, f: &mut fmt::Formatter, split: &Split, answer: usize) -> fmt::Result {
        let attribute = self.attributes.get(split.column);
        match attribute {
            Some(attribute) => write!(f, "{}", attribute.name)?,
            None => write!(f, "input {}", split.column)?,
        }
        let name = |value: usize| attribute.and_then(|it| it.values()?.get(value).cloned());
        let name = |value: usize| name(value).unwrap_or_else(|| format!("value {value}"));
        match (split.test, answer) {
            (Test::AtMost(threshold), 0) => write!(f, " <= {threshold}"),
            (Test::AtMost(threshold), _) => write!(f, " > {threshold}"),
            (Test::Which(_), value) => write!(f, " = {}", name(value)),
            (Test::Is(value), 0) => write!(f, " = {}", name(value)),
            (Test::Is(value), _) => write!(f, " != {}", name(value)),
        }
    }

    /// What a leaf says; an empty one says what its parent would.
    fn verdict(f: &mut fmt::Formatter, leaf: &Node, parent: &Node) -> fmt::Result {
        let speaker = if leaf.is_empty() { parent } else { leaf };
        let round = |weight: f64| (weight * 100.0).round() / 100.0;
        let word = if speaker.is_relevant() { "relevant" } else { "irrelevant" };
        write!(f, ": {word} ({:?}", round(leaf.total()))?;
        if leaf.errors() > SMALL {
            write!(f, "/{:?}", round(leaf.errors()))?;
        }
        writeln!(f, ")")
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Some(root) = self.nodes.first() else { return Ok(()) };
        if root.split.is_none() {
            Named::verdict(f, root, root)?;
        }
        // A stack of its own: trees can be deeper than the program's.
        let mut open = vec![(root, 0)];
        while let Some((node, answer)) = open.pop() {
            let Some((split, &child)) =
                node.split.as_ref().and_then(|split| Some((split, split.children.get(answer)?)))
            else {
                continue;
            };
            write!(f, "{}", "|   ".repeat(open.len()))?;
            self.answer(f, split, answer)?;
            open.push((node, answer + 1));
            let child = &self.nodes[child];
            match child.split {
                None => Named::verdict(f, child, node)?,
                Some(_) => {
                    writeln!(f)?;
                    open.push((child, 0));
                }
            }
        }
        let n_leaves = self.nodes.iter().filter(|node| node.split.is_none()).count();
        writeln!(f, "\n{n_leaves} leaves, {} nodes", self.nodes.len())
    }
}
