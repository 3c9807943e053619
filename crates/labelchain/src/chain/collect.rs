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
    /// Where labels stood in the orders that were taken; none where orders are not counted.
    pub orders: Option<OrderCounts>,
    /// Whether nothing is known of each row: its joint law has no label sets, because nobody could be asked.
    pub is_unanswered: Vec<bool>,
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
            orders: None,
            keeps_laws,
            is_unanswered: vec![false; n_rows],
            has_law: vec![false; n_rows],
        }
    }

    /// The same, counting orders too.
    pub fn counting_orders(self) -> Outputs {
        let n_labels = self.decisions.n_labels();
        Outputs { orders: Some(OrderCounts::new(n_labels)), ..self }
    }
}

/// Where each label stood in the orders of some walks: counts, so that orders of any number of walks take
/// the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCounts {
    n_walks: u64,
    n_first: Vec<u64>,
    /// The sum of each label's positions, of which the first is 0.
    position_sums: Vec<u64>,
    /// How often each label stood in each part of the order, by label.
    by_part: Vec<u64>,
}

impl OrderCounts {
    /// An order of more labels than this is counted in so many parts of it, of equal length but for one
    /// label; a shorter one by position.
    pub const MAX_PARTS: usize = 10;

    /// Of no walk.
    pub fn new(n_labels: usize) -> OrderCounts {
        let n_parts = n_labels.min(OrderCounts::MAX_PARTS);
        let by_part = vec![0; n_labels * n_parts];
        OrderCounts {
            n_walks: 0,
            n_first: vec![0; n_labels],
            position_sums: vec![0; n_labels],
            by_part,
        }
    }

    /// Adds the order of one walk.
    pub fn add(&mut self, order: &Order) {
        let (n_labels, n_parts) = (self.n_labels(), self.n_parts());
        self.n_walks += 1;
        for (position, LabelId(label)) in order.iter().enumerate() {
            self.n_first[label] += u64::from(position == 0);
            self.position_sums[label] += position as u64;
            self.by_part[label * n_parts + position * n_parts / n_labels] += 1;
        }
    }

    /// Adds the walks of another, of the same labels.
    pub fn merge(&mut self, other: &OrderCounts) {
        let add = |to: &mut [u64], from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        self.n_walks += other.n_walks;
        add(&mut self.n_first, &other.n_first);
        add(&mut self.position_sums, &other.position_sums);
        add(&mut self.by_part, &other.by_part);
    }

    /// How many walks.
    pub fn n_walks(&self) -> u64 {
        self.n_walks
    }

    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.n_first.len()
    }

    /// In how many parts orders are counted.
    pub fn n_parts(&self) -> usize {
        self.n_labels().min(OrderCounts::MAX_PARTS)
    }

    /// How many walks decided this label first.
    pub fn n_first(&self, label: LabelId) -> u64 {
        self.n_first[label.0]
    }

    /// The mean position of a label, 1 for the first; none without walks.
    pub fn mean_position(&self, label: LabelId) -> Option<f64> {
        let sum = self.position_sums[label.0] as f64;
        (self.n_walks > 0).then(|| 1.0 + sum / self.n_walks as f64)
    }

    /// In how many walks the label stood in each part of the order, the first part first.
    pub fn by_part(&self, label: LabelId) -> &[u64] {
        let n_parts = self.n_parts();
        &self.by_part[label.0 * n_parts..(label.0 + 1) * n_parts]
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
        self.is_unanswered[row] = is_empty;
        if self.keeps_laws && !is_empty {
            let sets = law.iter().map(|(weight, set)| (weight, set.to_vec()));
            self.joint_laws[row] = Some(sets.collect());
        }
    }

    fn collect(&mut self, row: usize, order: Option<&Order>, walked: &Walked) {
        if let (Some(orders), Some(order)) = (&mut self.orders, order) {
            orders.add(order);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_by_position_and_long_ones_in_parts() {
        let mut counts = OrderCounts::new(3);
        for order in [[2, 0, 1], [2, 1, 0]] {
            counts.add(&Order::new(order.map(LabelId).to_vec(), 3).unwrap());
        }
        let mut other = OrderCounts::new(3);
        other.add(&Order::natural(3));
        counts.merge(&other);
        assert_eq!(counts.n_walks(), 3);
        assert_eq!([0, 1, 2].map(|label| counts.n_first(LabelId(label))), [1, 0, 2]);
        assert_eq!(counts.by_part(LabelId(2)), [2, 0, 1]);
        // Positions 2, 3 and 1 of three walks.
        assert_eq!(counts.mean_position(LabelId(0)), Some(2.0));
        assert_eq!(OrderCounts::new(3).mean_position(LabelId(0)), None);

        let mut long = OrderCounts::new(25);
        long.add(&Order::natural(25));
        // Parts begin at the positions 0, 2.5, 5, …: labels 0 to 2 are in the first, the last has two.
        let part = |label| long.by_part(LabelId(label)).iter().position(|&n| n == 1).unwrap();
        assert_eq!([0, 2, 3, 4, 5, 22, 23, 24].map(part), [0, 0, 1, 1, 2, 8, 9, 9]);
    }
}
