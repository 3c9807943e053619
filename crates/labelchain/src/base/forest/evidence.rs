//! The walk over a joint law: what is known of a row, and what a decision changes.

use super::joint::{Reached, WHOLE};
use crate::chain::{Evidence, JointLaw, Score, farthest_from_zero};
use crate::data::{LabelId, LabelMatrix};

/// The label sets that a row reaches, weighted by how well they agree with what was decided.
#[derive(Clone)]
pub struct ForestEvidence<'m> {
    /// The label sets of the model.
    sets: &'m LabelMatrix,
    reached: Vec<Reached>,
    /// By label: the weight of the sets that contain it.
    sums: Vec<f64>,
    /// By label: the weight of the sets in which it is unknown; empty where all labels of all sets are known.
    unknown: Vec<f64>,
    /// The weight of all sets.
    total: f64,
    /// λ: what a set keeps of its weight when it disagrees with a decision.
    kept: f64,
}

impl<'m> ForestEvidence<'m> {
    pub(super) fn new(sets: &'m LabelMatrix, law: &[Reached], kept: f64) -> ForestEvidence<'m> {
        let has_unknown = sets.n_rows() > 0 && sets.unknown_row(0).is_some();
        let (mut sums, mut total) = (vec![0.0; sets.n_labels()], 0.0);
        let mut unknown = if has_unknown { vec![0.0; sets.n_labels()] } else { Vec::new() };
        for reached in law {
            total += reached.weight;
            let set = reached.set as usize;
            sets.relevant(set).for_each(|label| sums[label.0] += reached.weight);
            sets.unknown_labels(set).for_each(|label| unknown[label.0] += reached.weight);
        }
        ForestEvidence { sets, reached: law.to_vec(), sums, unknown, total, kept }
    }

    /// The same where a set keeps so much of its weight when it disagrees.
    pub(super) fn keeping(self, kept: f64) -> ForestEvidence<'m> {
        ForestEvidence { kept, ..self }
    }

    /// The weight of the sets with a label, and of those without it; sets in which it is unknown are
    /// neither.
    fn with_and_without(&self, label: LabelId) -> (f64, f64) {
        let with = self.sums[label.0];
        let unknown = self.unknown.get(label.0).copied().unwrap_or(0.0);
        (with, self.total - unknown - with)
    }

    /// Multiplies the weight of every set that disagrees by a factor. A set in which the label is unknown agrees with
    /// the probability that the others give, and loses weight accordingly. Where all of them disagree, which no
    /// decision of a walk can bring about, nothing is learned: their weights would keep their proportions,
    /// or all vanish.
    fn keep(&mut self, label: LabelId, relevant: bool, kept: f64) {
        let (with, without) = self.with_and_without(label);
        let (agreeing, known) = (if relevant { with } else { without }, with + without);
        if agreeing == known || agreeing == 0.0 {
            return;
        }
        let kept_if_unknown = (agreeing + kept * (known - agreeing)) / known;
        for reached in &mut self.reached {
            let set = reached.set as usize;
            let of_set = match self.sets.cell(set, label) {
                Some(has) if has == relevant => continue,
                Some(_) => kept,
                None => kept_if_unknown,
            };
            let weight = (reached.weight * of_set).floor();
            let lost = reached.weight - weight;
            if lost > 0.0 {
                reached.weight = weight;
                self.total -= lost;
                self.sets.relevant(set).for_each(|label| self.sums[label.0] -= lost);
                self.sets.unknown_labels(set).for_each(|label| self.unknown[label.0] -= lost);
            }
        }
        self.rescale();
    }

    /// Brings weights that many disagreements have made small back to where fractions of them are whole
    /// numbers. A power of two changes no digit.
    fn rescale(&mut self) {
        const FACTOR: f64 = 4096.0;
        while self.total > 0.0 && self.total * FACTOR <= WHOLE {
            self.total *= FACTOR;
            self.reached.iter_mut().for_each(|reached| reached.weight *= FACTOR);
            let sums = self.sums.iter_mut().chain(&mut self.unknown);
            sums.for_each(|sum| *sum *= FACTOR);
        }
    }
}

impl Evidence for ForestEvidence<'_> {
    /// Log-odds of the weight of the sets that contain the label: infinite where all or none do; 0 where
    /// no set is reached, because no tree was asked, or where it is unknown in all of them.
    fn support(&self, label: LabelId) -> Score {
        let (with, without) = self.with_and_without(label);
        let log_odds = if with == without { 0.0 } else { (with / without).ln() };
        Score::LogOdds(log_odds)
    }

    /// A label that all sets or none contain is certain, and its decision changes no weight: all of these are
    /// taken at once, so that labels that no set contains cost nothing more. Of the others, certainty grows
    /// with |with - without|, a whole number; logarithms are looked at only where it is nearly the greatest.
    fn take_most_certain(&self, open: &mut Vec<LabelId>, next: &mut Vec<(LabelId, Score)>) {
        /// With weights that sum to at most 2⁵², labels whose distances differ by more have supports in the
        /// same order, however they are rounded: a difference of 16 is one of 2⁻⁴⁷ or more in log-odds.
        const NEARLY: f64 = 16.0;
        let distance = |label: LabelId| {
            let (with, without) = self.with_and_without(label);
            (with - without).abs()
        };
        let greatest = if self.unknown.is_empty() {
            open.iter().map(|&label| distance(label)).fold(0.0, f64::max)
        } else {
            // Each label has a total of its own.
            f64::NEG_INFINITY
        };
        if greatest > 0.0 && greatest == self.total {
            open.retain(|&label| {
                let is_certain = distance(label) == self.total;
                if is_certain {
                    next.push((label, self.support(label)));
                }
                !is_certain
            });
            return;
        }
        let is_near = |&(_, &label): &(usize, &LabelId)| distance(label) >= greatest - NEARLY;
        let near = open.iter().enumerate().filter(is_near);
        let scores = near.map(|(place, &label)| (place, self.support(label)));
        if let Some((place, score)) = farthest_from_zero(scores) {
            next.push((open.remove(place), score));
        }
    }

    /// Whoever disagrees with a decision keeps λ of its weight.
    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.keep(label, relevant, self.kept);
    }

    /// A label that is known is no guess: whoever disagrees keeps a tenth of its weight, or λ if that is less.
    /// Nothing at all would leave hardly a set where many labels are known.
    fn condition(&mut self, label: LabelId, relevant: bool) {
        const KEPT: f64 = 0.1;
        self.keep(label, relevant, self.kept.min(KEPT));
    }

    /// None where labels of some sets are unknown: such a set is no answer.
    fn joint_law(&self) -> Option<JointLaw<'_>> {
        let share = |reached: &Reached| {
            let set = self.sets.row(reached.set as usize);
            (reached.weight > 0.0).then(|| (reached.weight / self.total, set))
        };
        self.unknown
            .is_empty()
            .then(|| JointLaw::new(self.reached.iter().filter_map(share).collect()))
    }
}
