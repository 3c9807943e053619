//! What is kept of a walk: decisions, how they came about, or decisions with their scores.

use super::{JointLaw, Order, Reason, Scale, Score, Walked};
use crate::data::{LabelId, LabelMatrix};

/// Keeps what it wants of a walk.
pub trait Collector {
    /// One row of the block was walked, in this order, or its labels were decided independently.
    fn collect(&mut self, row: usize, order: Option<&Order>, walked: &Walked);

    /// Whether it wants the joint law of each row, where the model has one.
    fn wants_joint_law(&self) -> bool {
        false
    }

    /// One row of the block is about to be walked, and this is the law of its labels before any decision.
    fn collect_joint_law(&mut self, _row: usize, _law: &JointLaw) {}
}

/// Which labels were decided to be relevant.
pub struct Decisions(pub LabelMatrix);

impl Decisions {
    /// For so many rows.
    pub fn new(n_rows: usize, n_labels: usize) -> Decisions {
        Decisions(LabelMatrix::empty(n_rows, n_labels))
    }
}

impl Collector for Decisions {
    fn collect(&mut self, row: usize, _: Option<&Order>, walked: &Walked) {
        self.0.write_row(row, &walked.relevant);
    }
}

/// How one member decided one row. Everything is by label, except the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The labels in the order taken; none where labels were decided independently.
    pub order: Option<Vec<LabelId>>,
    /// Why this order was chosen for this row; none where it is the same for every row.
    pub reason: Option<Reason>,
    /// What was decided.
    pub decisions: Vec<bool>,
    /// How strongly the model spoke for each label at the moment of its decision.
    pub scores: Vec<Score>,
}

/// How each row was decided.
#[derive(Default)]
pub struct Traces(pub Vec<Trace>);

impl Collector for Traces {
    fn collect(&mut self, _: usize, order: Option<&Order>, walked: &Walked) {
        self.0.push(Trace {
            order: order.map(|order| order.iter().collect()),
            reason: None,
            decisions: walked.scores.iter().map(|score| score.is_relevant()).collect(),
            scores: walked.scores.clone(),
        });
    }
}

/// What a member says of rows: its decisions, and its scores.
pub struct Outputs {
    /// Which labels were decided to be relevant.
    pub decisions: LabelMatrix,
    /// What the scores are.
    pub scale: Scale,
    /// The score of each label, row by row, by label: at the moment of its decision, or its probability
    /// by the joint law where the model has one.
    pub scores: Vec<f64>,
    /// The joint law of each row; none where the model has none, or where laws are not kept.
    pub joint_laws: Vec<Option<WeightedLabelSets>>,
    keeps_laws: bool,
    /// Whether the scores of each row are by its joint law.
    has_law: Vec<bool>,
}

/// Label sets, as bits by label, and their weights, which sum to 1.
pub type WeightedLabelSets = Vec<(f64, Vec<u64>)>;

impl Outputs {
    /// For so many rows. Joint laws take much memory, and are kept only where label sets are needed.
    pub fn new(n_rows: usize, n_labels: usize, keeps_laws: bool) -> Outputs {
        Outputs {
            decisions: LabelMatrix::empty(n_rows, n_labels),
            scale: Scale::Probability,
            scores: vec![0.0; n_rows * n_labels],
            joint_laws: vec![None; n_rows],
            keeps_laws,
            has_law: vec![false; n_rows],
        }
    }
}

impl Collector for Outputs {
    fn wants_joint_law(&self) -> bool {
        true
    }

    fn collect_joint_law(&mut self, row: usize, law: &JointLaw) {
        let n_labels = self.decisions.n_labels();
        let places = &mut self.scores[row * n_labels..(row + 1) * n_labels];
        let mut is_empty = true;
        for (weight, set) in law.iter() {
            is_empty = false;
            for (word, &bits) in set.iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    places[64 * word + bits.trailing_zeros() as usize] += weight;
                    bits &= bits - 1;
                }
            }
        }
        places.iter_mut().for_each(|place| *place = place.clamp(0.0, 1.0));
        // A law of no sets says nothing: the scores of the walk do so as well, by one half.
        self.has_law[row] = !is_empty;
        if self.keeps_laws && !is_empty {
            let sets = law.iter().map(|(weight, set)| (weight, set.to_vec()));
            self.joint_laws[row] = Some(sets.collect());
        }
    }

    fn collect(&mut self, row: usize, _: Option<&Order>, walked: &Walked) {
        self.decisions.write_row(row, &walked.relevant);
        if self.has_law[row] {
            return;
        }
        let n_labels = self.decisions.n_labels();
        let places = &mut self.scores[row * n_labels..(row + 1) * n_labels];
        for (place, score) in places.iter_mut().zip(&walked.scores) {
            let (scale, value) = score.on_scale();
            *place = value;
            // A known label has infinite log-odds, whatever the model gives for the others.
            if scale == Scale::Margin {
                self.scale = scale;
            }
        }
    }
}
