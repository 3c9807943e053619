//! What rows that members have not seen tell about scores: probabilities and thresholds, label by label.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::thresholds::{
    Halves, OperatingPoint, macro_f1, micro_f1, operating_points, reaching_precision,
    reaching_recall,
};
use super::{Aim, Curve};
use crate::chain::Scale;
use crate::data::{LabelId, LabelMatrix};
use crate::seed::Seed;

/// Scores of training rows by members that have not seen them.
#[derive(Clone, Debug)]
pub struct HeldOutScores {
    /// The vote of these members on each of the rows below.
    pub votes: LabelMatrix,
    /// What the scores are.
    pub scale: Scale,
    /// Which training rows.
    pub rows: Vec<usize>,
    /// The mean score of each label of each of these rows, row by row.
    pub scores: Vec<f64>,
}

/// How scores become probabilities, and which thresholds suit which aim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    scale: Scale,
    by_label: Vec<LabelCalibration>,
    /// The threshold of all labels for [`Aim::MicroF1`].
    micro_f1: f64,
}

/// The part of a [`Calibration`] that belongs to one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelCalibration {
    /// From score to probability.
    pub curve: Curve,
    /// The threshold for [`Aim::MacroF1`].
    pub macro_f1: f64,
    /// What thresholds do, from the highest to the lowest.
    pub points: Vec<OperatingPoint>,
}

impl Calibration {
    /// Learns from held-out scores, and the labels of all training rows.
    pub fn learn(held_out: &HeldOutScores, labels: &LabelMatrix, seed: Seed) -> Calibration {
        let scale = held_out.scale;
        let ranked = |label| RankedLabel::of(held_out, labels, LabelId(label));
        let ranked: Vec<RankedLabel> = (0..labels.n_labels()).into_par_iter().map(ranked).collect();
        let halves = Halves::draw(held_out.rows.len(), seed.child("thresholds", 0));
        // The thresholds of rare labels are drawn towards one of all labels. That is done on scores, of
        // which undersampling has made about the same for rare and for frequent labels; probabilities of
        // rare labels are all small.
        let scores: Vec<&[(f64, bool)]> = ranked.iter().map(|of| &of.descending[..]).collect();
        let of_all_labels = micro_f1(scores.concat());
        let calibrated: Vec<Vec<(f64, bool)>> =
            ranked.par_iter().map(|of| of.calibrated(scale)).collect();
        let of_label = |(of, calibrated): (&RankedLabel, &Vec<(f64, bool)>)| {
            let threshold = macro_f1(&of.descending, &of.places, &halves, of_all_labels);
            LabelCalibration {
                curve: of.curve.clone(),
                // Where no score says more than another, no threshold tells rows apart: none is given.
                macro_f1: if of.curve.is_flat() {
                    1.0
                } else {
                    of.curve.probability(threshold, scale)
                },
                points: operating_points(calibrated),
            }
        };
        let by_label = ranked.par_iter().zip(&calibrated).map(of_label).collect();
        Calibration { scale, by_label, micro_f1: micro_f1(calibrated.concat()) }
    }

    /// By label.
    pub fn by_label(&self) -> &[LabelCalibration] {
        &self.by_label
    }

    /// The same for further labels too, up to `n_labels` in all, of which no row was held out. As for a label
    /// that was relevant to none, their scores are taken for probabilities, the threshold of all labels is theirs,
    /// and nothing is known about precision and recall.
    pub(crate) fn with_new_labels(&self, n_labels: usize) -> Calibration {
        let new = LabelCalibration {
            curve: Curve::Identity,
            macro_f1: self.micro_f1,
            points: Vec::new(),
        };
        let mut calibration = self.clone();
        calibration.by_label.resize(n_labels.max(self.by_label.len()), new);
        calibration
    }

    /// Replaces scores, row by row, by probabilities.
    pub fn calibrate(&self, scores: &mut [f64]) {
        for row in scores.chunks_exact_mut(self.by_label.len().max(1)) {
            for (score, of_label) in row.iter_mut().zip(&self.by_label) {
                *score = of_label.curve.probability(*score, self.scale).clamp(0.0, 1.0);
            }
        }
    }

    /// For each label the probability from which on it is given, where the aim is one of learned
    /// thresholds; none for a label that is never given, because no threshold reaches the aim.
    pub fn thresholds(&self, aim: Aim) -> Option<Vec<Option<f64>>> {
        let by_label = |threshold: &dyn Fn(&LabelCalibration) -> Option<f64>| {
            Some(self.by_label.iter().map(threshold).collect())
        };
        match aim {
            Aim::MacroF1 => by_label(&|of| Some(of.macro_f1)),
            Aim::MicroF1 => by_label(&|_| Some(self.micro_f1)),
            Aim::Precision(share) => by_label(&|of| reaching_precision(&of.points, share.get())),
            Aim::Recall(share) => by_label(&|of| reaching_recall(&of.points, share.get())),
            Aim::Votes | Aim::Hamming | Aim::ZeroOne | Aim::ExampleF1 | Aim::Top(_) => None,
        }
    }

    /// Whether the parts are as learning leaves them, for so many labels.
    pub(crate) fn fits(&self, n_labels: usize) -> bool {
        let is_share = |p: f64| (0.0..=1.0).contains(&p);
        let point_fits =
            |point: &OperatingPoint| is_share(point.threshold) && point.n_right <= point.n_given;
        let label_fits = |of: &LabelCalibration| {
            of.curve.fits(self.scale) && is_share(of.macro_f1) && of.points.iter().all(point_fits)
        };
        self.by_label.len() == n_labels
            && is_share(self.micro_f1)
            && self.by_label.iter().all(label_fits)
    }
}

/// The rows that have a label, from the highest score of it to the lowest.
struct RankedLabel {
    curve: Curve,
    /// The score of each row, and whether the label is relevant to it.
    descending: Vec<(f64, bool)>,
    /// The place of each of these rows among the held-out ones.
    places: Vec<usize>,
}

impl RankedLabel {
    fn of(held_out: &HeldOutScores, labels: &LabelMatrix, label: LabelId) -> RankedLabel {
        // Rows that do not have the label say nothing about it.
        let cell = |(place, &row): (usize, &usize)| {
            let score = held_out.scores[place * labels.n_labels() + label.0];
            Some((score, labels.cell(row, label)?, place))
        };
        let mut rows: Vec<(f64, bool, usize)> =
            held_out.rows.iter().enumerate().filter_map(cell).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let ascending: Vec<(f64, bool)> = rows.iter().map(|it| (it.0, it.1)).collect();
        RankedLabel {
            curve: Curve::learn(&ascending, held_out.scale),
            descending: ascending.into_iter().rev().collect(),
            places: rows.iter().rev().map(|it| it.2).collect(),
        }
    }

    /// The same with probabilities in the place of scores.
    fn calibrated(&self, scale: Scale) -> Vec<(f64, bool)> {
        let pairs = self.descending.iter();
        pairs.map(|&(score, relevant)| (self.curve.probability(score, scale), relevant)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label whose scores exaggerate, one that is never relevant, and one that always is.
    fn learned() -> (Calibration, HeldOutScores, LabelMatrix) {
        let n_rows = 4000;
        let mut labels = LabelMatrix::empty(n_rows, 3);
        let mut scores = Vec::new();
        let mut rng = Seed::new(5).rng();
        for row in 0..n_rows {
            let p = rng.unit();
            labels.set(row, LabelId(0), rng.chance(p));
            labels.set(row, LabelId(2), true);
            // Twice the log-odds of the truth.
            let score = p * p / (p * p + (1.0 - p) * (1.0 - p));
            scores.extend([score, 0.01, 0.99]);
        }
        let rows: Vec<usize> = (0..n_rows).collect();
        let votes = LabelMatrix::empty(rows.len(), 1);
        let held_out = HeldOutScores { votes, scale: Scale::Probability, rows, scores };
        (Calibration::learn(&held_out, &labels, Seed::new(1)), held_out, labels)
    }

    #[test]
    fn exaggerated_scores_become_probabilities() {
        let (calibration, held_out, labels) = learned();
        assert!(calibration.fits(3) && !calibration.fits(2));
        let mut probabilities = held_out.scores.clone();
        calibration.calibrate(&mut probabilities);
        let brier = |of: &[f64]| -> f64 {
            let error = |row: usize| {
                let truth = f64::from(u8::from(labels.get(row, LabelId(0))));
                (of[row * 3] - truth).powi(2)
            };
            (0..4000).map(error).sum::<f64>() / 4000.0
        };
        // The truth has an expected Brier score of ∫ p (1 - p) dp = 1/6.
        assert!((brier(&probabilities) - 1.0 / 6.0).abs() < 0.005, "{}", brier(&probabilities));
        assert!(brier(&held_out.scores) > 0.172, "{}", brier(&held_out.scores));
    }

    #[test]
    fn a_label_whose_margins_say_nothing_is_not_given_for_macro_f1() {
        let labels = LabelMatrix::empty(20, 1);
        let scores: Vec<f64> = (0..20).map(f64::from).collect();
        let (votes, rows) = (LabelMatrix::empty(20, 1), (0..20).collect());
        let held_out = HeldOutScores { votes, scale: Scale::Margin, rows, scores };
        let calibration = Calibration::learn(&held_out, &labels, Seed::new(1));
        let mut probabilities = held_out.scores.clone();
        calibration.calibrate(&mut probabilities);
        let threshold = calibration.thresholds(Aim::MacroF1).unwrap()[0].unwrap();
        assert!(probabilities.iter().all(|&p| p < threshold), "{probabilities:?}");
    }

    #[test]
    fn each_aim_has_its_thresholds() {
        let (calibration, ..) = learned();
        let of = |aim: &str| calibration.thresholds(aim.parse().unwrap());
        // F1 is greatest from F/2 on, where F is the greatest F1: about .38 for a uniform p.
        let macro_f1 = of("macro-f1").unwrap()[0].unwrap();
        assert!((0.3..0.45).contains(&macro_f1), "{macro_f1}");
        // Precision above t is (1 + t) / 2, so .9 is reached at .8, and with confidence a little above.
        let precision = of("precision=0.9").unwrap();
        assert!((0.78..0.87).contains(&precision[0].unwrap()), "{precision:?}");
        assert_eq!(precision[1], None, "a label that is never relevant is never given");
        // Recall above t is 1 - t², so .9 is reached at .316.
        let recall = of("recall=0.9").unwrap()[0].unwrap();
        assert!((0.25..0.33).contains(&recall), "{recall}");
        assert_eq!(of("top=3"), None);
    }
}
