//! What every model of labels has in common, whether or not it is bound to an order.

use std::any::Any;
use std::borrow::Cow;

use super::{Attribution, Block, Route, Scale, Score};
use crate::data::{Attribute, LabelId};
use crate::distance::Needs;
use crate::error::Result;
use crate::pieces::ReadBlocks;
use crate::prepare::{LabelView, Standardizer};

/// What is known about one row: cheap to copy, changed by each decision.
pub trait Evidence: Clone {
    /// How strongly the model speaks for a label that is not yet decided.
    fn support(&self, label: LabelId) -> Score;

    /// Conditions every open label on the decision just made.
    fn observe(&mut self, label: LabelId, relevant: bool);

    /// Conditions every open label on one that is known, which may be believed more than a decision.
    fn condition(&mut self, label: LabelId, relevant: bool) {
        self.observe(label, relevant);
    }

    /// Moves the most certain of the open labels, which ascend, to `next` with its score: the one whose score
    /// is farthest from zero, of equals the first. Where its decision would change no score, labels that would
    /// be taken right after it may be moved together with it.
    fn take_most_certain(&self, open: &mut Vec<LabelId>, next: &mut Vec<(LabelId, Score)>) {
        let scores = open.iter().map(|&label| self.support(label)).enumerate();
        if let Some((place, score)) = farthest_from_zero(scores) {
            next.push((open.remove(place), score));
        }
    }

    /// The joint law of the labels, given what was decided so far; none where the model knows each label
    /// on its own only.
    fn joint_law(&self) -> Option<JointLaw<'_>> {
        None
    }
}

/// The score that is farthest from zero, and its place; of equals the first.
pub(crate) fn farthest_from_zero(
    scores: impl Iterator<Item = (usize, Score)>,
) -> Option<(usize, Score)> {
    // What is not a number says as little as 0.
    let certainty = |score: Score| score.value().abs().max(0.0);
    let mut best: Option<(usize, Score)> = None;
    for (place, score) in scores {
        if best.is_none_or(|(_, best)| certainty(score) > certainty(best)) {
            best = Some((place, score));
        }
        // None is more certain than this.
        if certainty(score) == f64::INFINITY {
            break;
        }
    }
    best
}

/// Different label sets that a row may have, with weights that sum to 1. There are none where nothing is
/// known of the row.
#[derive(Clone, Debug, PartialEq)]
pub struct JointLaw<'a>(Vec<(f64, &'a [u64])>);

impl<'a> JointLaw<'a> {
    /// Of weights and label sets, as bits by label.
    pub fn new(weighted: Vec<(f64, &'a [u64])>) -> JointLaw<'a> {
        JointLaw(weighted)
    }

    /// The weight of each label set, and the set: label l is bit l mod 64 of word l / 64.
    pub fn iter(&self) -> impl Iterator<Item = (f64, &'a [u64])> + '_ {
        self.0.iter().copied()
    }
}

/// A fitted model, as far as it can be an object.
pub trait BaseModel: Any + Send + Sync {
    /// How many labels.
    fn n_labels(&self) -> usize;

    /// Which distances to the training rows scoring asks a block for.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// What its scores are; a margin is no probability until it is calibrated.
    fn scale(&self) -> Scale {
        Scale::Probability
    }

    /// The rows and features each label learned from; none where all labels learned from all rows that
    /// the model was fitted on, and from all features.
    fn views(&self) -> &[LabelView] {
        &[]
    }

    /// Whether the parts agree with each other and with the rest of a model file. A model that was
    /// fitted always fits; one that was decoded is asked before anything else is.
    fn fits(&self, dimensions: &Dimensions) -> bool;

    /// Reads what is wanted of the model and is still in the file that it comes from. Scoring, and all else
    /// that is asked of a model, finds in memory what it looks at, because it was loaded before. Members take
    /// theirs out of the same blocks.
    fn load(&self, _wanted: Wanted, _blocks: &ReadBlocks) -> Result<()> {
        Ok(())
    }

    /// The values of settings that were left to the data while the model was fitted.
    fn tuned(&self) -> Vec<TunedSetting> {
        Vec::new()
    }

    /// What the model says of each row of a block from the inputs alone, taken apart as far as it can be.
    fn attributions(&self, block: &Block) -> Vec<Attribution> {
        vec![Attribution::default(); block.n_rows()]
    }

    /// How much each input matters to the model as a whole, as shares that sum to 1; none where that is not
    /// known of it.
    fn importance(&self) -> Option<Vec<f64>> {
        None
    }

    /// What these shares are shares of.
    fn importance_measure(&self) -> &'static str {
        ""
    }

    /// What the model of one label looks like as text, where it can be read by people.
    fn text(&self, _label: LabelId, _inputs: &InputNames) -> Option<String> {
        None
    }
}

/// What of a model has to be in memory.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// What scoring these rows looks at.
    Scores(&'a Block<'a>),
    /// All of it: to explain answers, to learn from further rows, to be written.
    Everything,
}

/// The sizes that all parts of a model file agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// How many labels.
    pub n_labels: usize,
    /// How many inputs.
    pub n_features: usize,
    /// How many numbers a row has at most once nominal inputs are indicators of their values.
    pub n_numbers: usize,
    /// How many rows it was trained on.
    pub n_rows: usize,
    /// How many training rows the file keeps; none where no distance to them is needed.
    pub n_train: Option<usize>,
}

impl Dimensions {
    /// Those of a model of so many rows with these inputs, of which the file keeps `n_train`.
    pub(crate) fn of(
        inputs: &[Attribute],
        n_labels: usize,
        n_rows: usize,
        n_train: Option<usize>,
    ) -> Dimensions {
        let n_values = |input: &Attribute| input.values().map_or(1, |of| of.len().max(1));
        let n_numbers = inputs.iter().map(n_values).sum();
        Dimensions { n_labels, n_features: inputs.len(), n_numbers, n_rows, n_train }
    }

    /// Those of a model of one label, whose inputs are what other labels of a chain hand on.
    pub(crate) fn of_one_label(n_features: usize) -> Dimensions {
        Dimensions { n_labels: 1, n_features, n_numbers: usize::MAX, n_rows: 0, n_train: None }
    }
}

/// Names and scales of the inputs, to write a model down in the units of the training file.
pub struct InputNames<'a> {
    /// The inputs.
    pub attributes: &'a [Attribute],
    /// The labels, which later labels of a chain take as inputs.
    pub label_names: &'a [String],
    /// How inputs were brought to one scale.
    pub standardizer: &'a Standardizer,
}

/// A model that turns rows into evidence.
pub trait Scoring: BaseModel {
    /// What the inputs of a block say about every label.
    type Scores: Send + Sync;
    /// What is known about one row so far.
    type Evidence<'m>: Evidence
    where
        Self: 'm;

    /// Scores every label of every row, once.
    fn score(&self, block: &Block) -> Self::Scores;

    /// Starts a walk over one row of the block.
    fn evidence<'m>(&'m self, scores: &'m Self::Scores, row: usize) -> Self::Evidence<'m>;

    /// Decides all rows of the block as [`decide`](super::decide) does one by one, and returns the log-odds of each
    /// label at the moment of its decision, row by row, by label. None where the model knows no faster way to
    /// do so than one by one, or the route is none that it knows one for. It is for models that have no joint law.
    fn decide_rows<'m>(
        &'m self,
        _scores: &'m Self::Scores,
        _route: &Route,
    ) -> Option<Cow<'m, [f64]>> {
        None
    }
}

/// The value of a setting that was left to the data, or was given: one for all labels, or one for
/// each label. None stands for a value that depends on the inputs of a label, or that does not apply.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedSetting {
    /// The setting.
    pub setting: &'static str,
    /// Its values.
    pub values: Vec<Option<f64>>,
}
