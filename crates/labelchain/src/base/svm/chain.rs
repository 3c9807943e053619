//! What decides every label: one machine each, on their own or linked into a chain.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{BinarySvm, Svm, TrainingRows};
use crate::chain::{
    BaseModel, BinaryModel, Block, Dimensions, Evidence, Order, OrderedModel, Score, Scoring,
    scores_of_only_label, table_of_one_row,
};
use crate::data::LabelId;
use crate::error::{Error, Result};
use crate::prepare::{LabelView, views};

/// A machine for each label.
///
/// An order must be trained: a machine that was trained with labels before it is to be asked when
/// these have been decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvmChain {
    #[serde(with = "views")]
    views: Vec<LabelView>,
    /// By label.
    links: Vec<Link>,
    /// The rows that decide: labels that look at the same inputs share one, and distances in it.
    spaces: Vec<TrainingRows>,
    order: Option<Order>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Link {
    space: usize,
    /// Bits of the labels before it.
    before: Vec<u64>,
    /// Its rows are those of the space.
    machine: BinarySvm,
}

impl SvmChain {
    /// Trains a machine for each label, with settings of its own: on the rows and inputs of its
    /// view, and on the truth about the labels before it in `order`; on the inputs alone where there
    /// is none. Machines that look at all inputs read the distances of `train`.
    ///
    /// # Panics
    /// If a view or the order names what is not in the space.
    pub fn fit(
        svms: &[Svm],
        train: &TrainingRows,
        views: Vec<LabelView>,
        order: Option<&Order>,
    ) -> Result<SvmChain> {
        Error::unless_same("settings by label", train.labels().n_labels(), svms.len())?;
        Error::unless_same("views by label", svms.len(), views.len())?;
        let labels: Vec<LabelId> = order.into_iter().flat_map(Order::iter).collect();
        let before = |label| &labels[..labels.iter().position(|&at| at == label).unwrap_or(0)];
        let all: Vec<usize> = (0..train.n_rows()).collect();
        let machine = |(label, (svm, view)): (usize, (&Svm, &LabelView))| {
            let label = LabelId(label);
            match view.features.len() == train.n_features() {
                true => svm.fit(train, &view.rows, label, before(label)),
                false => {
                    let space = train.part(&all, &view.features);
                    svm.fit(&space, &view.rows, label, before(label))
                }
            }
        };
        let machines = svms.par_iter().zip(&views).enumerate().map(machine);
        let mut machines = machines.collect::<Result<Vec<BinarySvm>>>()?;

        let mut looked_at: Vec<&[usize]> = views.iter().map(|view| &view.features[..]).collect();
        looked_at.sort_unstable();
        looked_at.dedup();
        let mut place = vec![0; views.len()];
        let mut spaces = Vec::with_capacity(looked_at.len());
        for features in looked_at {
            let looks: Vec<usize> =
                (0..views.len()).filter(|&label| views[label].features == features).collect();
            let supports = looks.iter().flat_map(|&label| machines[label].support_rows());
            let mut rows: Vec<usize> = supports.collect();
            rows.sort_unstable();
            rows.dedup();
            for label in looks {
                place[label] = spaces.len();
                machines[label].count_among(&rows);
            }
            spaces.push(train.part(&rows, features));
        }
        let link = |(label, machine)| Link {
            space: place[label],
            before: train.bits(before(LabelId(label))),
            machine,
        };
        let links = machines.into_iter().enumerate().map(link).collect();
        Ok(SvmChain { views, links, spaces, order: order.cloned() })
    }

    /// How a label is decided; its rows are counted among those that decide.
    pub fn machine(&self, label: LabelId) -> &BinarySvm {
        &self.links[label.0].machine
    }
}

impl BaseModel for SvmChain {
    fn n_labels(&self) -> usize {
        self.links.len()
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Dimensions { n_labels, n_features, .. } = *dimensions;
        let link = |link: &Link| {
            let space = self.spaces.get(link.space);
            space.is_some_and(|space| link.machine.is_sound(space.n_rows()))
        };
        self.links.len() == n_labels
            && self.order.as_ref().is_none_or(|order| order.len() == n_labels)
            && self.views.len() == n_labels
            && self.links.iter().all(link)
            && self.spaces.iter().all(|space| space.is_sound(n_labels, n_features))
            && self.views.iter().all(|view| view.features.iter().all(|&at| at < n_features))
    }
}

impl OrderedModel for SvmChain {
    fn order(&self) -> Option<&Order> {
        self.order.as_ref()
    }
}

impl Scoring for SvmChain {
    /// For each space, the squared distances of the rows to those of the space, in the inputs.
    type Scores = Vec<Vec<f64>>;
    type Evidence<'m> = Known<'m>;

    fn score(&self, block: &Block) -> Vec<Vec<f64>> {
        let distances = |space: &TrainingRows| space.distances(block.features, block.rows);
        self.spaces.iter().map(distances).collect()
    }

    fn evidence<'m>(&'m self, distances: &'m Vec<Vec<f64>>, row: usize) -> Known<'m> {
        Known { model: self, distances, row, told: vec![0; self.n_labels().div_ceil(64)] }
    }
}

/// How far one row is from those that decide, and what was decided about it.
#[derive(Clone)]
pub struct Known<'m> {
    model: &'m SvmChain,
    distances: &'m [Vec<f64>],
    row: usize,
    /// Bits of the labels decided to be relevant.
    told: Vec<u64>,
}

impl Evidence for Known<'_> {
    /// How far on which side the row lies, in units of the margin: the sign decides, as log-odds
    /// would, and the size is no probability.
    fn support(&self, label: LabelId) -> Score {
        let Link { space: at, before, machine } = &self.model.links[label.0];
        let space = &self.model.spaces[*at];
        let distances = &self.distances[*at][self.row * space.n_rows()..];
        let distance =
            |row: usize| distances[row] + f64::from(space.disagreements(row, &self.told, before));
        Score::Margin(machine.decide(distance))
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        let bit = 1 << (label.0 % 64);
        match relevant {
            true => self.told[label.0 / 64] |= bit,
            false => self.told[label.0 / 64] &= !bit,
        }
    }
}

impl BinaryModel for SvmChain {
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score {
        let n_features = self.spaces.first().map_or(0, TrainingRows::n_features);
        let features = table_of_one_row(n_features, cell);
        self.supports(&Block::of(&features, &[0]))[0]
    }

    fn supports(&self, block: &Block) -> Vec<Score> {
        scores_of_only_label(self, block)
    }

    fn fits(&self, n_inputs: usize) -> bool {
        let dimensions = Dimensions { n_labels: 1, n_features: n_inputs, n_train: None };
        BaseModel::fits(self, &dimensions)
    }
}
