//! The walk over a joint law: what is known of a row, and what a decision changes.

use super::joint::{Reached, WHOLE};
use crate::chain::{Evidence, JointLaw, Score};
use crate::data::{LabelId, LabelMatrix};

/// The label sets that a row reaches, weighted by how well they agree with what was decided.
#[derive(Clone)]
pub struct ForestEvidence<'m> {
    /// The label sets of the model.
    sets: &'m LabelMatrix,
    reached: Vec<Reached>,
    /// By label: the weight of the sets that contain it.
    sums: Vec<f64>,
    /// The weight of all sets.
    total: f64,
    /// λ: what a set keeps of its weight when it disagrees with a decision.
    kept: f64,
}

impl<'m> ForestEvidence<'m> {
    pub(super) fn new(sets: &'m LabelMatrix, law: &[Reached], kept: f64) -> ForestEvidence<'m> {
        let (mut sums, mut total) = (vec![0.0; sets.n_labels()], 0.0);
        for reached in law {
            total += reached.weight;
            let labels = sets.relevant(reached.set as usize);
            labels.for_each(|label| sums[label.0] += reached.weight);
        }
        ForestEvidence { sets, reached: law.to_vec(), sums, total, kept }
    }

    /// Brings weights that many disagreements have made small back to where fractions of them are whole
    /// numbers. A power of two changes no digit.
    fn rescale(&mut self) {
        const FACTOR: f64 = 4096.0;
        while self.total > 0.0 && self.total * FACTOR <= WHOLE {
            self.total *= FACTOR;
            self.reached.iter_mut().for_each(|reached| reached.weight *= FACTOR);
            self.sums.iter_mut().for_each(|sum| *sum *= FACTOR);
        }
    }
}

impl Evidence for ForestEvidence<'_> {
    /// Log-odds of the weight of the sets that contain the label: infinite where all or none do; 0 where
    /// no set is reached, because no tree was asked.
    fn support(&self, label: LabelId) -> Score {
        let with = self.sums[label.0];
        let without = self.total - with;
        let log_odds = if with == without { 0.0 } else { (with / without).ln() };
        Score::LogOdds(log_odds)
    }

    /// Multiplies the weight of every set that disagrees by λ. Where all of them do, which no decision of
    /// a walk can bring about, nothing is learned: their weights would keep their proportions, or all
    /// vanish.
    fn observe(&mut self, label: LabelId, relevant: bool) {
        let with = self.sums[label.0];
        let agreeing = if relevant { with } else { self.total - with };
        if agreeing == self.total || agreeing == 0.0 {
            return;
        }
        for reached in &mut self.reached {
            let set = reached.set as usize;
            if self.sets.get(set, label) == relevant {
                continue;
            }
            let weight = (reached.weight * self.kept).floor();
            let lost = reached.weight - weight;
            if lost > 0.0 {
                reached.weight = weight;
                self.total -= lost;
                self.sets.relevant(set).for_each(|label| self.sums[label.0] -= lost);
            }
        }
        self.rescale();
    }

    fn joint_law(&self) -> Option<JointLaw<'_>> {
        let share = |reached: &Reached| {
            let set = self.sets.row(reached.set as usize);
            (reached.weight > 0.0).then(|| (reached.weight / self.total, set))
        };
        Some(JointLaw::new(self.reached.iter().filter_map(share).collect()))
    }
}
