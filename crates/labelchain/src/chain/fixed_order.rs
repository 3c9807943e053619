//! The textbook chain: one binary model per label, trained for one order.
//!
//! The baseline of every re-orderable model, and its judge: walking a trained model in an order
//! must equal training this for it. It is a model like the others, except that only one walk makes
//! sense: in the order it was trained for, or, trained for none, without telling it anything.

use serde::{Deserialize, Serialize};

use super::Order;
use crate::base::{BinaryLearner, BinaryModel, ChainModel, Evidence};
use crate::data::{Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::learner::Block;
use crate::prepare::{LabelView, Prepared, views};

/// A binary model for each label, which sees the inputs of its view and the labels before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedOrderChain<M> {
    #[serde(with = "views")]
    views: Vec<LabelView>,
    /// By label.
    links: Vec<Link<M>>,
    /// What a cell means that a sparse row leaves out.
    zero: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Link<M> {
    before: Vec<LabelId>,
    model: M,
}

impl<M: BinaryModel> FixedOrderChain<M> {
    /// Trains every link: on the rows of its label's view, on the view's inputs, and on the true
    /// labels of earlier positions as two-valued inputs; without an order, on the inputs alone.
    pub fn fit(
        learner: &impl BinaryLearner<Model = M>,
        train: &Prepared,
        views: Vec<LabelView>,
        order: Option<&Order>,
    ) -> Result<FixedOrderChain<M>> {
        let mut before = vec![Vec::new(); views.len()];
        let mut decided = Vec::new();
        for label in order.into_iter().flat_map(Order::iter) {
            before[label.0].clone_from(&decided);
            decided.push(label);
        }
        let link = |(label, before): (usize, Vec<LabelId>)| {
            let data = extended(train, LabelId(label), &views[label], &before)?;
            Ok(Link { model: learner.fit_binary(&data)?, before })
        };
        let links = before.into_iter().enumerate().map(link).collect::<Result<_>>()?;
        Ok(FixedOrderChain { views, links, zero: train.zero().to_vec() })
    }

    /// The rows and features each label learned from.
    pub fn views(&self) -> &[LabelView] {
        &self.views
    }

    /// What was trained for a label, its inputs in the order of [`FixedOrderChain::inputs`].
    pub fn model(&self, label: LabelId) -> &M {
        &self.links[label.0].model
    }

    /// What a label looks at: inputs as they are, then labels that were decided before it.
    pub fn inputs(
        &self,
        label: LabelId,
        attributes: &[Attribute],
        labels: &[String],
    ) -> Vec<Attribute> {
        let inputs = self.views[label.0].features.iter().map(|&column| attributes[column].clone());
        inputs
            .chain(self.links[label.0].before.iter().map(|label| as_input(&labels[label.0])))
            .collect()
    }

    /// Whether the parts fit together, given what fits a model of so many inputs, as they do unless
    /// they come from a file.
    pub(crate) fn is_sound(
        &self,
        n_labels: usize,
        n_features: usize,
        model: impl Fn(&M, usize) -> bool,
    ) -> bool {
        self.links.len() == n_labels
            && self.zero.len() == n_features
            && self.views.len() == n_labels
            && self.views.iter().zip(&self.links).all(|(view, link)| {
                view.features.iter().all(|&column| column < n_features)
                    && link.before.iter().all(|label| label.0 < n_labels)
                    && model(&link.model, view.features.len() + link.before.len())
            })
    }
}

/// A decided label as an input.
fn as_input(name: &str) -> Attribute {
    Attribute::nominal(name, ["0", "1"])
}

/// What a link learns from: the inputs of the view, dense, and the labels before as further inputs.
fn extended(
    train: &Prepared,
    label: LabelId,
    view: &LabelView,
    before: &[LabelId],
) -> Result<Dataset> {
    let data = train.data();
    let inputs = view.features.iter().map(|&column| data.attributes()[column].clone());
    let names = before.iter().map(|label| as_input(&data.label_names()[label.0]));
    let attributes: Vec<Attribute> = inputs.chain(names).collect();
    let mut place = vec![None; data.n_features()];
    view.features.iter().enumerate().for_each(|(at, &column)| place[column] = Some(at));
    let mut table = Dense::new(attributes.len());
    let mut target = LabelMatrix::empty(view.rows.len(), 1);
    let mut cells: Vec<f64> = Vec::with_capacity(attributes.len());
    for (at, &row) in view.rows.iter().enumerate() {
        cells.clear();
        cells.extend(view.features.iter().map(|&column| train.zero()[column]));
        for (column, value) in data.features().entries(row) {
            place[column].into_iter().for_each(|at| cells[at] += value);
        }
        let truth = |&label: &LabelId| f64::from(u8::from(data.labels().get(row, label)));
        cells.extend(before.iter().map(truth));
        table.push_row(&cells);
        target.set(at, LabelId(0), data.labels().get(row, label));
    }
    let name = data.label_names()[label.0].clone();
    Dataset::new("link", attributes, Matrix::Dense(table), vec![name], target)
}

impl<M: BinaryModel> ChainModel for FixedOrderChain<M> {
    /// The rows of the block, dense, all inputs.
    type Scores = Dense;
    type Evidence<'m>
        = Known<'m, M>
    where
        M: 'm;

    fn n_labels(&self) -> usize {
        self.links.len()
    }

    fn score(&self, block: &Block) -> Dense {
        let mut rows = Dense::new(self.zero.len());
        for &row in block.rows {
            let mut cells = self.zero.clone();
            block.features.entries(row).for_each(|(column, value)| cells[column] += value);
            rows.push_row(&cells);
        }
        rows
    }

    fn evidence<'m>(&'m self, rows: &'m Dense, row: usize) -> Known<'m, M> {
        Known { chain: self, inputs: rows.row(row), decided: vec![f64::NAN; self.links.len()] }
    }
}

/// The inputs of a row, and what was decided about it.
pub struct Known<'m, M> {
    chain: &'m FixedOrderChain<M>,
    inputs: &'m [f64],
    /// By label; missing where nothing was decided.
    decided: Vec<f64>,
}

impl<M> Clone for Known<'_, M> {
    fn clone(&self) -> Self {
        Known { chain: self.chain, inputs: self.inputs, decided: self.decided.clone() }
    }
}

impl<M: BinaryModel> Evidence for Known<'_, M> {
    fn support(&self, label: LabelId) -> f64 {
        let features = &self.chain.views[label.0].features;
        let Link { before, model } = &self.chain.links[label.0];
        model.support(&|column| match features.get(column) {
            Some(&input) => self.inputs[input],
            None => self.decided[before[column - features.len()].0],
        })
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.decided[label.0] = f64::from(u8::from(relevant));
    }
}
