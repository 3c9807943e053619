//! J48, WEKA's C4.5: a decision tree that tests one input at a time. It predicts how common a label
//! is among the training rows that end in the same leaf.
//!
//! `split` finds the best split of a node, `grow` builds the tree with it, `partition` keeps which
//! rows are in which node, and `prune` removes subtrees that only fit the training rows. Every rule
//! is WEKA's (docs/methods.md, 8.3), down to the tolerances; `tests/trees_agree.rs` compares the trees with
//! WEKA's.

mod base;
mod grow;
mod partition;
mod prune;
mod split;

pub(super) use base::BASE;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chain::{BinaryLearner, BinaryModel, Score};
use crate::data::{Attribute, Dataset, LabelId};
use crate::error::{Error, Result};
use crate::prepare::{SMALL, stored_cells};
use partition::Partition;

/// A C4.5 tree for one label (docs/methods.md, 8.3).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `confidence` | 0.25 | above 0, at most 0.5 | CF: the smaller, the more is pruned |
/// | `min_leaf` | 2 | at least 1 | M: rows that at least two branches of a split must have |
/// | `pruned` | true | | whether subtrees that only fit the training rows are removed |
/// | `binary_splits` | false | | whether nominal inputs are split into one value and the others |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct J48 {
    /// CF: the smaller, the more is pruned.
    pub confidence: f64,
    /// M: rows, by weight, that at least two branches of a split must have.
    pub min_leaf: usize,
    /// Whether subtrees that only fit the training rows are removed. A subtree that classifies them
    /// no better than a leaf is removed in any case.
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
    /// Weights of the training rows of this node: those to which the label is irrelevant, and those
    /// to which it is relevant.
    pub counts: [f64; 2],
    /// How its rows are split, unless it is a leaf.
    pub split: Option<Split>,
}

/// A test of one input, and the node of each branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The input that is tested.
    pub column: usize,
    /// The test.
    pub test: Test,
    /// The node of each branch.
    pub children: Vec<usize>,
}

/// How a cell selects a branch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Test {
    /// The first branch takes cells up to the threshold, the second greater ones.
    AtMost(f64),
    /// Each of so many nominal values has a branch.
    Which(usize),
    /// The first branch takes this nominal value, the second all others.
    Is(usize),
}

impl Test {
    fn n_branches(self) -> usize {
        match self {
            Test::Which(n_values) => n_values,
            Test::AtMost(_) | Test::Is(_) => 2,
        }
    }

    /// The branch of a cell; none if it is missing, or a value that was not declared.
    fn branch(self, cell: f64) -> Option<usize> {
        match self {
            _ if cell.is_nan() => None,
            Test::AtMost(threshold) => Some(usize::from(cell > threshold)),
            Test::Which(n_values) => value_of(cell, n_values),
            Test::Is(value) => Some(usize::from(cell != value as f64)),
        }
    }
}

/// The index of a nominal cell's value, if it is one of the declared values.
fn value_of(cell: f64, n_values: usize) -> Option<usize> {
    let value = cell as usize;
    (value < n_values && value as f64 == cell).then_some(value)
}

/// Whether a ≤ b, where WEKA takes weights and gains that are closer than [`SMALL`] to be equal.
/// Cells are compared exactly.
fn is_at_most(a: f64, b: f64) -> bool {
    a - b < SMALL || a <= b
}

/// Whether a > b; see [`is_at_most`].
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

    /// Whether it has no training rows; the node above then predicts.
    pub fn is_empty(&self) -> bool {
        self.total() < SMALL
    }

    /// Whether the label is relevant to most rows.
    pub fn is_relevant(&self) -> bool {
        is_above(self.counts[1], self.counts[0])
    }

    /// The weight of the rows that are not of the majority class.
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
            return refused("min-leaf", "0".into(), "at least 1");
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
        let stored = stored_cells(train.features());
        let mut tree = grow::grow(self, train.attributes(), &stored, &relevant);
        tree.collapse();
        if self.pruned {
            tree.prune(self.confidence);
        }
        Ok(J48Model { n_features: train.n_features(), nodes: tree.into_nodes() })
    }
}

impl BinaryModel for J48Model {
    /// Log-odds of the class shares in the leaf of the row: infinite where all training rows agree,
    /// 0 where no class is ahead by more than 1e-6.
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score {
        let [no, yes] = self.shares(cell);
        Score::LogOdds(if (yes - no).abs() <= SMALL { 0.0 } else { yes.ln() - no.ln() })
    }

    fn fits(&self, n_inputs: usize) -> bool {
        self.is_sound(n_inputs)
    }

    fn text(&self, inputs: &[Attribute], value: &dyn Fn(usize, f64) -> f64) -> Option<String> {
        Some(self.on_scale(value).named(inputs).to_string())
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

    /// The shares of both classes in the leaf of a row. Where a tested cell is missing, the row
    /// goes to all branches, weighted by the shares of the training rows that went there.
    fn shares(&self, cell: &dyn Fn(usize) -> f64) -> [f64; 2] {
        let mut shares = [0.0; 2];
        let mut add_leaf = |node: &Node, weight: f64| {
            if !node.is_empty() {
                let share = |class: usize| weight * node.counts[class] / node.total();
                shares = [shares[0] + share(0), shares[1] + share(1)];
            }
        };
        let mut stack = vec![(&self.nodes[0], 1.0)];
        while let Some((node, weight)) = stack.pop() {
            let Some(split) = &node.split else {
                add_leaf(node, weight);
                continue;
            };
            let child = |&at: &usize| &self.nodes[at];
            match split.test.branch(cell(split.column)) {
                Some(branch) => match child(&split.children[branch]) {
                    empty if empty.is_empty() => add_leaf(node, weight),
                    child => stack.push((child, weight)),
                },
                None => {
                    let children = split.children.iter().map(child).filter(|it| !it.is_empty());
                    stack.extend(children.map(|it| (it, weight * it.total() / node.total())));
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
            if *column >= n_features || !is_ordered || !exist || children.len() != test.n_branches()
            {
                return false;
            }
            children.iter().for_each(|&child| n_parents[child] += 1);
        }
        self.n_features == n_features
            && n_parents.first() == Some(&0)
            && n_parents[1..].iter().all(|&parents| parents == 1)
    }

    /// The same tree for inputs on another scale: `threshold` maps an input and a threshold of it
    /// to the threshold on that scale.
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
    /// Each branch has a line. If it leads to a leaf, the line ends with the predicted class, the
    /// weight of the training rows and, if there are any, the weight of those of the other class.
    pub fn named<'a>(&'a self, attributes: &'a [Attribute]) -> impl fmt::Display + 'a {
        Named { nodes: &self.nodes, attributes }
    }
}

struct Named<'a> {
    nodes: &'a [Node],
    attributes: &'a [Attribute],
}

impl Named<'_> {
    /// Writes the condition of a branch.
    fn write_branch(&self, f: &mut fmt::Formatter, split: &Split, branch: usize) -> fmt::Result {
        let attribute = self.attributes.get(split.column);
        match attribute {
            Some(attribute) => write!(f, "{}", attribute.name)?,
            None => write!(f, "input {}", split.column)?,
        }
        let name = |value: usize| attribute.and_then(|it| it.values()?.get(value).cloned());
        let name = |value: usize| name(value).unwrap_or_else(|| format!("value {value}"));
        match (split.test, branch) {
            (Test::AtMost(threshold), 0) => write!(f, " <= {threshold}"),
            (Test::AtMost(threshold), _) => write!(f, " > {threshold}"),
            (Test::Which(_), value) => write!(f, " = {}", name(value)),
            (Test::Is(value), 0) => write!(f, " = {}", name(value)),
            (Test::Is(value), _) => write!(f, " != {}", name(value)),
        }
    }

    /// Writes what a leaf predicts; an empty one predicts what its parent would.
    fn write_leaf(f: &mut fmt::Formatter, leaf: &Node, parent: &Node) -> fmt::Result {
        let predicting = if leaf.is_empty() { parent } else { leaf };
        let round = |weight: f64| (weight * 100.0).round() / 100.0;
        let class = if predicting.is_relevant() { "relevant" } else { "irrelevant" };
        write!(f, ": {class} ({:?}", round(leaf.total()))?;
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
            Named::write_leaf(f, root, root)?;
        }
        // The stack is a vector, because a tree can be deeper than the call stack.
        let mut stack = vec![(root, 0)];
        while let Some((node, branch)) = stack.pop() {
            let Some((split, &child)) =
                node.split.as_ref().and_then(|split| Some((split, split.children.get(branch)?)))
            else {
                continue;
            };
            write!(f, "{}", "|   ".repeat(stack.len()))?;
            self.write_branch(f, split, branch)?;
            stack.push((node, branch + 1));
            let child = &self.nodes[child];
            match child.split {
                None => Named::write_leaf(f, child, node)?,
                Some(_) => {
                    writeln!(f)?;
                    stack.push((child, 0));
                }
            }
        }
        let n_leaves = self.nodes.iter().filter(|node| node.split.is_none()).count();
        match n_leaves {
            1 => writeln!(f, "\n1 leaf"),
            _ => writeln!(f, "\n{n_leaves} leaves, {} nodes", self.nodes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Block;
    use crate::data::{Dense, LabelMatrix, Matrix, Sparse};
    use proptest::prelude::*;

    const GAP: f64 = f64::NAN;

    fn numeric(names: &[&str]) -> Vec<Attribute> {
        names.iter().map(|&name| Attribute::numeric(name)).collect()
    }

    fn data(attributes: Vec<Attribute>, rows: &[(Vec<f64>, bool)]) -> Dataset {
        let mut cells = Dense::new(attributes.len());
        let mut labels = LabelMatrix::empty(rows.len(), 1);
        for (at, (row, relevant)) in rows.iter().enumerate() {
            cells.push_row(row);
            labels.set(at, LabelId(0), *relevant);
        }
        Dataset::new("t", attributes, Matrix::Dense(cells), vec!["label".into()], labels).unwrap()
    }

    fn supports(model: &J48Model, data: &Dataset) -> Vec<f64> {
        let rows: Vec<usize> = (0..data.n_rows()).collect();
        let block = Block::of(data.features(), &rows);
        model.supports(&block).into_iter().map(Score::value).collect()
    }

    /// The values 0 to 9; the label is relevant from 6 on.
    fn steps() -> Dataset {
        let row = |at: u8| (vec![f64::from(at)], at >= 6);
        data(numeric(&["x"]), &(0..10).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn a_threshold_is_a_value_of_the_training_rows() {
        let model = J48::default().fit_binary(&steps()).unwrap();
        let split = model.nodes()[0].split.as_ref().unwrap();
        assert_eq!(split.test, Test::AtMost(5.0));
        let printed = model.named(steps().attributes()).to_string();
        assert_eq!(
            printed,
            "x <= 5: irrelevant (6.0)\nx > 5: relevant (4.0)\n\n2 leaves, 3 nodes\n"
        );
        let infinite = f64::INFINITY;
        assert_eq!(supports(&model, &steps())[5..7], [-infinite, infinite]);
    }

    #[test]
    fn a_missing_cell_goes_every_way_with_the_share_of_the_others() {
        let model = J48::default().fit_binary(&steps()).unwrap();
        let asked = data(numeric(&["x"]), &[(vec![GAP], false)]);
        // 4 of 10 rows are relevant.
        let support = supports(&model, &asked)[0];
        assert!((support - (0.4_f64 / 0.6).ln()).abs() < 1e-12, "{support}");
    }

    #[test]
    fn a_value_without_training_rows_gets_the_shares_of_the_node() {
        let attributes = vec![Attribute::nominal("c", ["a", "b", "never"])];
        let row = |at: u32| (vec![f64::from(at % 2)], at.is_multiple_of(2) || at == 1);
        let train = data(attributes.clone(), &(0..20).map(row).collect::<Vec<_>>());
        let model = J48::default().fit_binary(&train).unwrap();
        let asked = [2.0, 7.0, GAP].map(|cell| (vec![cell], false));
        // 11 of 20 rows are relevant; 7 is no declared value and hence missing.
        let expected = (11.0_f64 / 9.0).ln();
        for support in supports(&model, &data(attributes.clone(), &asked)) {
            assert!((support - expected).abs() < 1e-12, "{support}");
        }
        let printed = model.named(&attributes).to_string();
        assert!(printed.contains("c = never: relevant (0.0)\n"), "{printed}");
        assert!(printed.contains("c = b: irrelevant (10.0/1.0)\n"), "{printed}");
    }

    #[test]
    fn data_without_information_makes_a_leaf() {
        let two = || numeric(&["x", "y"]);
        let opposite = |at: u32| (vec![1.0, f64::from(at / 2)], at.is_multiple_of(2));
        let one_class = |at: u32| (vec![f64::from(at), GAP], true);
        let missing = |at: u32| (vec![GAP, GAP], at < 4);
        let rows = |row: &dyn Fn(u32) -> (Vec<f64>, bool)| (0..12).map(row).collect::<Vec<_>>();
        for (rows, support) in [
            (rows(&opposite), 0.0),
            (rows(&one_class), f64::INFINITY),
            (rows(&missing), (4.0_f64 / 8.0).ln()),
        ] {
            let train = data(two(), &rows);
            let model = J48::default().fit_binary(&train).unwrap();
            assert_eq!(model.nodes().len(), 1);
            assert!(
                supports(&model, &train)
                    .iter()
                    .all(|&it| (it - support).abs() < 1e-12 || it == support)
            );
        }
        let no_inputs: Vec<(Vec<f64>, bool)> = (0..4).map(|at| (vec![], at == 0)).collect();
        assert_eq!(J48::default().fit_binary(&data(vec![], &no_inputs)).unwrap().n_leaves(), 1);
        let no_rows = J48::default().fit_binary(&data(two(), &[])).unwrap();
        assert_eq!(supports(&no_rows, &data(two(), &[(vec![0.0, 0.0], true)])), [0.0]);
    }

    /// Every row has a value of its own and classes alternate, so that one value after the other is
    /// cut off: the depth is of the order of the rows.
    #[test]
    fn a_very_deep_tree_is_grown_pruned_and_printed() {
        let deepest = |n: u32, pruned: bool| {
            let attributes = vec![Attribute::nominal("c", (0..n).map(|value| value.to_string()))];
            let row = |at: u32| (vec![f64::from(at)], at.is_multiple_of(2));
            let train = data(attributes.clone(), &(0..n).map(row).collect::<Vec<_>>());
            let deep = J48 { min_leaf: 1, pruned, binary_splits: true, ..J48::default() };
            let model = deep.fit_binary(&train).unwrap();
            assert!(model.is_sound(1));
            assert!(!model.named(&attributes).to_string().is_empty());
            model.nodes().len()
        };
        assert!(deepest(1500, false) > 1000);
        assert!(deepest(300, true) <= deepest(300, false));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |j48: J48| j48.fit_binary(&steps()).unwrap_err().to_string();
        for confidence in [0.0, 0.6, GAP] {
            let message = refused(J48 { confidence, ..J48::default() });
            assert!(message.contains("must be above 0 and at most 0.5"), "{message}");
        }
        let message = refused(J48 { min_leaf: 0, ..J48::default() });
        assert_eq!(message, "min-leaf is 0, but must be at least 1");
    }

    #[test]
    fn a_damaged_tree_is_not_sound() {
        let model = J48::default().fit_binary(&steps()).unwrap();
        assert!(model.is_sound(1) && !model.is_sound(2));
        let damaged = |damage: fn(&mut Split)| {
            let mut model = model.clone();
            damage(model.nodes[0].split.as_mut().unwrap());
            model
        };
        assert!(!damaged(|split| split.children = vec![1, 1]).is_sound(1));
        assert!(!damaged(|split| split.children = vec![0, 2]).is_sound(1));
        assert!(!damaged(|split| split.children = vec![1, 2, 2]).is_sound(1));
        assert!(!damaged(|split| split.column = 1).is_sound(1));
        assert!(!damaged(|split| split.test = Test::AtMost(GAP)).is_sound(1));
        assert!(!J48Model { n_features: 1, nodes: vec![] }.is_sound(1));
    }

    fn cell() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => Just(0.0), 1 => Just(GAP), 4 => (0u8..3).prop_map(f64::from),
            1 => (-4i32..4).prop_map(|x| f64::from(x) / 3.0),
            1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::MAX), Just(-f64::MAX)],
        ]
    }

    proptest! {
        /// Any cells, also in nominal columns.
        #[test]
        fn any_cells_make_a_sound_tree_and_sparse_equals_dense(
            rows in prop::collection::vec((prop::collection::vec(cell(), 3), any::<bool>()), 0..60),
            min_leaf in 1usize..4, pruned: bool, binary_splits: bool,
        ) {
            let mut attributes = numeric(&["x", "y"]);
            attributes.push(Attribute::nominal("c", ["a", "b", "c"]));
            let dense = data(attributes.clone(), &rows);
            let mut stored = Sparse::new(3);
            for (cells, _) in &rows {
                stored.push_row((0..).zip(cells.iter().copied()));
            }
            let (names, labels) = (dense.label_names().to_vec(), dense.labels().clone());
            let sparse = Dataset::new("t", attributes, Matrix::Sparse(stored), names, labels).unwrap();
            let learner = J48 { min_leaf, pruned, binary_splits, ..J48::default() };
            let model = learner.fit_binary(&dense).unwrap();
            prop_assert!(model.is_sound(3));
            let other = learner.fit_binary(&sparse).unwrap();
            prop_assert_eq!(model.nodes().len(), other.nodes().len());
            let pairs = supports(&model, &dense).into_iter().zip(supports(&other, &sparse));
            for (a, b) in pairs {
                prop_assert!(a == b || (a - b).abs() < 1e-9, "{} {}", a, b);
            }
            prop_assert!(!model.named(dense.attributes()).to_string().is_empty());
        }
    }
}
