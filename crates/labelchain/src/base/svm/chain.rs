//! A classifier for each label, which may have the labels before it in a chain as inputs.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{BinarySvm, Svm, TrainingRows};
use crate::chain::{
    BaseModel, BinaryModel, Block, Dimensions, Evidence, Order, OrderedModel, Scale, Score,
    Scoring, scores_of_only_label, table_of_one_row,
};
use crate::data::LabelId;
use crate::error::{Error, Result};
use crate::prepare::{LabelView, views};
use crate::progress::Cancel;

/// A support vector machine for each label, trained for one order of them or for none.
///
/// A classifier that was trained with the labels before it as inputs may only be asked once these
/// have been decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvmChain {
    #[serde(with = "views")]
    views: Vec<LabelView>,
    by_label: Vec<LabelSvm>,
    /// The support vectors of all labels. Labels that use the same inputs share one entry, and
    /// thereby the distances to its rows.
    support_vectors: Vec<TrainingRows>,
    order: Option<Order>,
}

/// The classifier of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LabelSvm {
    /// The entry of [`SvmChain::support_vectors`] whose rows the classifier refers to.
    support_vectors: usize,
    /// The labels before it in the chain, as bits.
    before: Vec<u64>,
    classifier: BinarySvm,
}

impl SvmChain {
    /// Trains a classifier for each label, with settings of its own: on the rows and inputs of its
    /// view, and on the true values of the labels before it in `order`; on the inputs alone where
    /// there is none. Classifiers that use all inputs read the table of distances of
    /// `train`.
    ///
    /// # Panics
    /// If a view or the order names a row, an input or a label that `train` does not have.
    pub fn fit(
        settings: &[Svm],
        train: &TrainingRows,
        views: Vec<LabelView>,
        order: Option<&Order>,
    ) -> Result<SvmChain> {
        Error::unless_same("settings by label", train.labels().n_labels(), settings.len())?;
        Error::unless_same("views by label", settings.len(), views.len())?;
        let labels: Vec<LabelId> = order.into_iter().flat_map(Order::iter).collect();
        let before = |label| &labels[..labels.iter().position(|&at| at == label).unwrap_or(0)];
        let all: Vec<usize> = (0..train.n_rows()).collect();
        let fit = |(label, (svm, view)): (usize, (&Svm, &LabelView))| {
            let label = LabelId(label);
            if view.features.len() == train.n_features() {
                svm.fit(train, &view.rows, label, before(label))
            } else {
                let selected = train.subset(&all, &view.features);
                svm.fit(&selected, &view.rows, label, before(label))
            }
        };
        let classifiers = settings.par_iter().zip(&views).enumerate().map(fit);
        let mut classifiers = classifiers.collect::<Result<Vec<BinarySvm>>>()?;

        let mut feature_sets: Vec<&[usize]> = views.iter().map(|view| &view.features[..]).collect();
        feature_sets.sort_unstable();
        feature_sets.dedup();
        let mut entry_of_label = vec![0; views.len()];
        let mut support_vectors = Vec::with_capacity(feature_sets.len());
        for features in feature_sets {
            let labels: Vec<usize> =
                (0..views.len()).filter(|&label| *views[label].features == *features).collect();
            let rows = labels.iter().flat_map(|&label| classifiers[label].support_rows());
            let mut rows: Vec<usize> = rows.collect();
            rows.sort_unstable();
            rows.dedup();
            for label in labels {
                entry_of_label[label] = support_vectors.len();
                classifiers[label].renumber(&rows);
            }
            support_vectors.push(train.subset(&rows, features).cancelled_by(&Cancel::default()));
        }
        let label_svm = |(label, classifier)| LabelSvm {
            support_vectors: entry_of_label[label],
            before: train.bits(before(LabelId(label))),
            classifier,
        };
        let by_label = classifiers.into_iter().enumerate().map(label_svm).collect();
        Ok(SvmChain { views, by_label, support_vectors, order: order.cloned() })
    }

    /// The classifier of a label. Its support rows are numbered among the rows that the chain
    /// keeps, not among those of the training set.
    pub fn classifier(&self, label: LabelId) -> &BinarySvm {
        &self.by_label[label.0].classifier
    }
}

impl BaseModel for SvmChain {
    fn n_labels(&self) -> usize {
        self.by_label.len()
    }

    fn scale(&self) -> Scale {
        Scale::Margin
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Dimensions { n_labels, n_features, n_numbers, .. } = *dimensions;
        let is_sound = |svm: &LabelSvm| {
            let rows = self.support_vectors.get(svm.support_vectors);
            rows.is_some_and(|rows| svm.classifier.is_sound(rows.n_rows()))
        };
        self.by_label.len() == n_labels
            && self.views.len() == n_labels
            && self.order.as_ref().is_none_or(|order| order.len() == n_labels)
            && self.by_label.iter().all(is_sound)
            && self
                .support_vectors
                .iter()
                .all(|rows| rows.is_sound(n_labels, n_features, n_numbers))
    }
}

impl OrderedModel for SvmChain {
    fn order(&self) -> Option<&Order> {
        self.order.as_ref()
    }
}

impl Scoring for SvmChain {
    /// For each entry of the support vectors, the squared distances of the rows to them in the
    /// inputs.
    type Scores = Vec<Vec<f64>>;
    type Evidence<'m> = SvmEvidence<'m>;

    fn score(&self, block: &Block) -> Vec<Vec<f64>> {
        let distances = |rows: &TrainingRows| rows.distances(block.features, block.rows);
        self.support_vectors.iter().map(distances).collect()
    }

    fn evidence<'m>(&'m self, distances: &'m Vec<Vec<f64>>, row: usize) -> SvmEvidence<'m> {
        let relevant = vec![0; self.n_labels().div_ceil(64)];
        SvmEvidence { model: self, distances, row, relevant }
    }
}

/// The distances of one row to the support vectors, and what was decided about it.
#[derive(Clone)]
pub struct SvmEvidence<'m> {
    model: &'m SvmChain,
    distances: &'m [Vec<f64>],
    row: usize,
    /// The labels decided to be relevant, as bits.
    relevant: Vec<u64>,
}

impl Evidence for SvmEvidence<'_> {
    /// The decision value. Its sign decides as that of log-odds does, but its size is a distance
    /// from the decision boundary in units of the margin, and no probability.
    fn support(&self, label: LabelId) -> Score {
        let LabelSvm { support_vectors: at, before, classifier } = &self.model.by_label[label.0];
        let rows = &self.model.support_vectors[*at];
        let distances = &self.distances[*at][self.row * rows.n_rows()..];
        let disagreements = |row| f64::from(rows.disagreements(row, &self.relevant, before));
        Score::Margin(classifier.decision_value(|row| distances[row] + disagreements(row)))
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        let bit = 1 << (label.0 % 64);
        if relevant {
            self.relevant[label.0 / 64] |= bit;
        } else {
            self.relevant[label.0 / 64] &= !bit;
        }
    }
}

impl BinaryModel for SvmChain {
    fn scale(&self) -> Scale {
        BaseModel::scale(self)
    }

    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score {
        let n_features = self.support_vectors.first().map_or(0, TrainingRows::n_features);
        let features = table_of_one_row(n_features, cell);
        self.supports(&Block::of(&features, &[0]))[0]
    }

    fn supports(&self, block: &Block) -> Vec<Score> {
        scores_of_only_label(self, block)
    }

    fn fits(&self, n_inputs: usize) -> bool {
        let dimensions = Dimensions::of_one_label(n_inputs);
        BaseModel::fits(self, &dimensions)
    }
}
