//! The greedy walk through the labels of a row.

use std::borrow::Cow;

use super::evidence::farthest_from_zero;
use super::{Block, Collector, Evidence, JointLaw, Order, Score, Scoring};
use crate::data::{LabelId, LabelMatrix};

/// Decides every label in the given order (the paper's Algorithms 2 and 4).
pub fn decide<E: Evidence>(mut evidence: E, order: &Order, mut write: impl FnMut(Decision)) {
    for label in order.iter() {
        let score = evidence.support(label);
        let relevant = score.is_relevant();
        write(Decision { label, score, relevant });
        evidence.observe(label, relevant);
    }
}

/// Decides every label, of those still open always the one that the model is most certain about: whose
/// score is farthest from zero, of equals the lower label. Each decision changes the scores of the open
/// labels, so they are looked up again after it. Returns the order that came about.
pub fn decide_by_certainty<E: Evidence>(
    mut evidence: E,
    n_labels: usize,
    mut write: impl FnMut(Decision),
) -> Order {
    let mut open: Vec<LabelId> = (0..n_labels).map(LabelId).collect();
    let (mut next, mut taken) = (Vec::new(), Vec::with_capacity(n_labels));
    while !open.is_empty() {
        evidence.take_most_certain(&mut open, &mut next);
        for (label, score) in next.drain(..) {
            let relevant = score.is_relevant();
            write(Decision { label, score, relevant });
            evidence.observe(label, relevant);
            taken.push(label);
        }
    }
    Order::taken(taken)
}

/// Evidence about a row of which some labels are known. They are decided as they are, with infinite
/// certainty, and the walks above need not know of it.
#[derive(Clone)]
struct Given<'k, E> {
    evidence: E,
    known: &'k LabelMatrix,
    row: usize,
}

impl<E: Evidence> Given<'_, E> {
    /// Conditions the open labels on those that are known, as if they had been decided first.
    fn conditioned(mut self) -> Self {
        for label in self.known.ids() {
            if let Some(relevant) = self.known.cell(self.row, label) {
                self.evidence.condition(label, relevant);
            }
        }
        self
    }
}

impl<E: Evidence> Evidence for Given<'_, E> {
    /// What is known has log-odds of ±∞, whatever the scale of the model's own scores.
    fn support(&self, label: LabelId) -> Score {
        match self.known.cell(self.row, label) {
            Some(true) => Score::LogOdds(f64::INFINITY),
            Some(false) => Score::LogOdds(f64::NEG_INFINITY),
            None => self.evidence.support(label),
        }
    }

    /// What is known was observed before the walk.
    fn observe(&mut self, label: LabelId, relevant: bool) {
        if !self.known.is_known(self.row, label) {
            self.evidence.observe(label, relevant);
        }
    }

    /// Known labels are more certain than any other; the model need not know of them once they are decided.
    fn take_most_certain(&self, open: &mut Vec<LabelId>, next: &mut Vec<(LabelId, Score)>) {
        if !open.iter().any(|&label| self.known.is_known(self.row, label)) {
            return self.evidence.take_most_certain(open, next);
        }
        let scores = open.iter().map(|&label| self.support(label)).enumerate();
        if let Some((place, score)) = farthest_from_zero(scores) {
            next.push((open.remove(place), score));
        }
    }

    fn joint_law(&self) -> Option<JointLaw<'_>> {
        self.evidence.joint_law()
    }
}

/// One decision of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The label decided.
    pub label: LabelId,
    /// How strongly the model spoke for it, given what was decided before.
    pub score: Score,
    /// Whether it was decided to be relevant.
    pub relevant: bool,
}

/// In which order the labels of the rows of a block are decided.
pub enum Route<'o> {
    /// Every label from the inputs alone, no decision known to another label, nor what is known of
    /// other labels: binary relevance.
    Independent,
    /// In one order for all rows.
    Fixed(&'o Order),
    /// In an order for each row of the block.
    PerRow(&'o [Cow<'o, Order>]),
    /// The most certain of the open labels next; the order comes about on the way.
    ByCertainty,
}

impl Route<'_> {
    /// The order of a row, where it is known before the walk.
    pub(crate) fn order(&self, row: usize) -> Option<&Order> {
        match self {
            Route::Independent | Route::ByCertainty => None,
            Route::Fixed(order) => Some(order),
            Route::PerRow(orders) => Some(&orders[row]),
        }
    }
}

/// What a walk over one row found, by label.
pub struct Walked {
    /// How strongly the model spoke for each label at the moment of its decision.
    pub scores: Vec<Score>,
    /// The labels decided to be relevant: label l is bit l mod 64 of word l / 64.
    pub relevant: Vec<u64>,
}

impl Walked {
    fn new(n_labels: usize) -> Walked {
        let scores = vec![Score::LogOdds(0.0); n_labels];
        Walked { scores, relevant: vec![0; n_labels.div_ceil(64)] }
    }

    fn write(&mut self, decision: Decision) {
        let Decision { label, score, relevant } = decision;
        self.scores[label.0] = score;
        self.relevant[label.0 / 64] |= u64::from(relevant) << (label.0 % 64);
    }

    /// What was found by these log-odds, each at the moment when its label was decided.
    fn write_log_odds(&mut self, log_odds: &[f64]) {
        self.relevant.fill(0);
        for (label, &log_odds) in log_odds.iter().enumerate() {
            let (label, score) = (LabelId(label), Score::LogOdds(log_odds));
            self.write(Decision { label, score, relevant: score.is_relevant() });
        }
    }

    /// Decides every label by what the inputs say alone.
    fn independently(&mut self, evidence: &impl Evidence) {
        for label in (0..self.scores.len()).map(LabelId) {
            let score = evidence.support(label);
            self.write(Decision { label, score, relevant: score.is_relevant() });
        }
    }
}

/// Walks every row of a block along several routes, each into its own collector. What is found out
/// about the inputs of a row serves all of its walks, and a walk in the order of the walk before it
/// is not taken again. A single walk over all rows is left to the model, if it knows a faster way.
pub(super) fn walk<M: Scoring + ?Sized>(
    model: &M,
    block: &Block,
    walks: &mut [(Route, &mut dyn Collector)],
) {
    let scores = model.score(block);
    let n_labels = model.n_labels();
    let mut walked = Walked::new(n_labels);
    if let [(route, collector)] = walks
        && block.known.is_none()
        && let Some(log_odds) = model.decide_rows(&scores, route)
    {
        for (row, log_odds) in log_odds.chunks(n_labels.max(1)).enumerate() {
            walked.write_log_odds(log_odds);
            collector.collect(row, route.order(row), &walked);
        }
        return;
    }
    for row in 0..block.n_rows() {
        let evidence = model.evidence(&scores, row);
        match block.known {
            None => walk_row(evidence, |evidence| evidence, row, walks, &mut walked),
            Some(known) => {
                let given = Given { evidence, known, row: block.rows[row] };
                walk_row(given, Given::conditioned, row, walks, &mut walked);
            }
        }
    }
}

/// Walks one row. `condition` adds what is known to the evidence before a walk in an order. Labels that
/// are decided independently go without: a known label tells them no more than a decided one.
fn walk_row<E: Evidence>(
    start: E,
    condition: impl Fn(E) -> E,
    row: usize,
    walks: &mut [(Route, &mut dyn Collector)],
    walked: &mut Walked,
) {
    let n_walks = walks.len();
    let mut start = Some(start);
    let mut before = None;
    for (at, (route, collector)) in walks.iter_mut().enumerate() {
        let route: &Route = route;
        let order = route.order(row);
        let is_by_certainty = matches!(route, Route::ByCertainty);
        if !is_by_certainty && before == Some(order) {
            collector.collect(row, order, walked);
            continue;
        }
        // The last walk takes the evidence itself, those before it take a copy.
        let evidence = if at + 1 == n_walks { start.take() } else { start.clone() };
        let Some(evidence) = evidence else { continue };
        let is_independent = order.is_none() && !is_by_certainty;
        let evidence = if is_independent { evidence } else { condition(evidence) };
        if collector.wants_joint_law()
            && let Some(law) = evidence.joint_law()
        {
            collector.collect_joint_law(row, &law);
        }
        walked.relevant.fill(0);
        if is_by_certainty {
            let n_labels = walked.scores.len();
            let taken = decide_by_certainty(evidence, n_labels, |it| walked.write(it));
            collector.collect(row, Some(&taken), walked);
            before = None;
            continue;
        }
        match order {
            Some(order) => decide(evidence, order, |it| walked.write(it)),
            None => walked.independently(&evidence),
        }
        collector.collect(row, order, walked);
        before = Some(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log-odds by label; the decision that label 0 is irrelevant raises label 2.
    #[derive(Clone)]
    struct Told([f64; 4]);

    impl Evidence for Told {
        fn support(&self, label: LabelId) -> Score {
            Score::LogOdds(self.0[label.0])
        }

        fn observe(&mut self, label: LabelId, relevant: bool) {
            if label == LabelId(0) && !relevant {
                self.0[2] += 5.0;
            }
        }
    }

    fn walked(log_odds: [f64; 4]) -> (String, Vec<(usize, bool)>) {
        let mut decisions = Vec::new();
        let write = |it: Decision| decisions.push((it.label.0, it.relevant));
        let order = decide_by_certainty(Told(log_odds), 4, write);
        (order.to_string(), decisions)
    }

    #[test]
    fn the_most_certain_label_is_next_and_looked_up_again() {
        // Label 0 is the most certain. Its decision raises label 2 from -0.5 to 4.5, past 1 and 3.
        let (order, decisions) = walked([-4.0, 2.0, -0.5, -3.0]);
        assert_eq!(order, "0 2 3 1");
        assert_eq!(decisions, [(0, false), (2, true), (3, false), (1, true)]);
    }

    /// Evidence of a row is whatever it is given, and one label conditions another as above.
    fn given(known: &LabelMatrix) -> Given<'_, Told> {
        Given { evidence: Told([1.0, 2.0, -0.5, -3.0]), known, row: 0 }
    }

    #[test]
    fn known_labels_are_kept_and_condition_the_others() {
        let mut known = LabelMatrix::unknown(1, 4);
        known.set(0, LabelId(0), false);
        known.set(0, LabelId(3), true);
        let mut decisions = [None; 4];
        // Label 2 comes first, and goes by what is known of label 0, which comes last.
        let order = Order::new([2, 1, 3, 0].map(LabelId).to_vec(), 4).unwrap();
        let write = |it: Decision| decisions[it.label.0] = Some((it.score, it.relevant));
        decide(given(&known).conditioned(), &order, write);
        let infinite = Score::LogOdds(f64::INFINITY);
        assert_eq!(decisions[0], Some((Score::LogOdds(f64::NEG_INFINITY), false)));
        assert_eq!(decisions[1], Some((Score::LogOdds(2.0), true)));
        assert_eq!(decisions[2], Some((Score::LogOdds(4.5), true)), "-0.5 + 5");
        assert_eq!(decisions[3], Some((infinite, true)));
        // What is known is certain.
        let order = decide_by_certainty(given(&known).conditioned(), 4, |_| ());
        assert_eq!(order.to_string(), "0 3 2 1");
        // Without conditioning, what is known changes no other label.
        assert_eq!(given(&known).support(LabelId(2)), Score::LogOdds(-0.5));
    }

    #[test]
    fn of_equals_the_lower_label_is_first_and_infinite_certainty_too() {
        let (order, _) = walked([1.0, -1.0, f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(order, "2 3 0 1");
        let (order, decisions) = walked([0.0, f64::NAN, 0.5, 1.0]);
        assert_eq!(order, "3 2 0 1");
        assert_eq!(decisions[3], (1, false));
    }
}
