//! The textbook chain: one binary model per label, trained for one order.
//!
//! The baseline of every re-orderable model, and its judge: walking a trained model in an order
//! must equal training this for it.

use super::Order;
use crate::data::{Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::learner::Block;
use crate::model::{BinaryLearner, BinaryModel};
use crate::prepare::{LabelView, Prepared};

/// Binary models in the order they are asked, each seeing the inputs of its view and the labels
/// before it.
pub struct Retrained<B: BinaryLearner> {
    order: Order,
    links: Vec<Link<B::Model>>,
    /// What a cell means that a sparse row leaves out.
    zero: Vec<f64>,
}

struct Link<M> {
    label: LabelId,
    features: Vec<usize>,
    before: Vec<LabelId>,
    model: M,
}

impl<B: BinaryLearner> Retrained<B> {
    /// Trains every link: on the rows of its label's view, on the view's inputs, and on the true
    /// labels of earlier positions as two-valued inputs.
    pub fn fit(
        learner: &B,
        train: &Prepared,
        views: &[LabelView],
        order: Order,
    ) -> Result<Retrained<B>> {
        let mut links = Vec::new();
        let mut before: Vec<LabelId> = Vec::new();
        for label in order.iter() {
            let view = &views[label.0];
            let truth = train.data().labels().select(&view.rows);
            let inputs =
                Inputs { data: train.data(), zero: train.zero(), features: &view.features };
            let (attributes, features) = inputs.extended(&view.rows, &before, &truth);
            let mut target = LabelMatrix::empty(view.rows.len(), 1);
            for row in 0..view.rows.len() {
                target.set(row, LabelId(0), truth.get(row, label));
            }
            let data = Dataset::new("link", attributes, features, vec!["target".into()], target)?;
            let model = learner.fit_binary(&data)?;
            links.push(Link {
                label,
                features: view.features.clone(),
                before: before.clone(),
                model,
            });
            before.push(label);
        }
        Ok(Retrained { order, links, zero: train.zero().to_vec() })
    }

    /// The order it was trained for.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Decides the labels of standardized rows, link after link.
    pub fn predict(&self, rows: &Dataset) -> Result<LabelMatrix> {
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let mut decided = LabelMatrix::empty(rows.n_rows(), self.order.len());
        for link in &self.links {
            let inputs = Inputs { data: rows, zero: &self.zero, features: &link.features };
            let (_, features) = inputs.extended(&all, &link.before, &decided);
            let block = Block { features: &features, rows: &all, near: None, nearest: None };
            for (row, support) in link.model.supports(&block).into_iter().enumerate() {
                decided.set(row, link.label, support > 0.0);
            }
        }
        Ok(decided)
    }
}

/// The inputs that a link looks at.
struct Inputs<'a> {
    data: &'a Dataset,
    zero: &'a [f64],
    features: &'a [usize],
}

impl Inputs<'_> {
    /// They on the rows named, dense, with labels as further two-valued inputs.
    fn extended(
        &self,
        rows: &[usize],
        before: &[LabelId],
        labels: &LabelMatrix,
    ) -> (Vec<Attribute>, Matrix) {
        let label = |label: &LabelId| Attribute::nominal(format!("label {}", label.0), ["0", "1"]);
        let inputs = self.features.iter().map(|&column| self.data.attributes()[column].clone());
        let attributes: Vec<Attribute> = inputs.chain(before.iter().map(label)).collect();
        let mut table = Dense::new(attributes.len());
        for (at, &row) in rows.iter().enumerate() {
            let cell = |&column: &usize| self.data.features().get(row, column) + self.zero[column];
            let inputs = self.features.iter().map(cell);
            let earlier = before.iter().map(|&label| f64::from(u8::from(labels.get(at, label))));
            table.push_row(&inputs.chain(earlier).collect::<Vec<f64>>());
        }
        (attributes, Matrix::Dense(table))
    }
}
