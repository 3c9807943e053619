//! Models that were trained for one order, and the textbook chain: one binary model per label.
//!
//! The textbook chain is the baseline of every model without an order, and its judge: walking such
//! a model in an order must equal training this chain for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::walk::walk;
use super::{
    BaseModel, Block, Collector, Decisions, Dimensions, Evidence, InputNames, Order, Route, Scale,
    Score, Scoring, TunedSetting,
};
use crate::data::{Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::prepare::{LabelView, Prepared, views};
use crate::seed::Seed;

/// A model trained for one order, or to decide labels independently. No other walk makes sense.
pub trait OrderedModel: Scoring {
    /// The order it was trained for; none where labels are decided independently.
    fn order(&self) -> Option<&Order>;

    /// What is decided about each row of a block, in the model's own order.
    fn decide_block(&self, block: &Block) -> LabelMatrix {
        let mut decisions = Decisions::new(block.n_rows(), self.n_labels());
        let route = self.order().map_or(Route::Independent, Route::Fixed);
        walk(self, block, &mut [(route, &mut decisions)]);
        decisions.0
    }
}

/// Settings that can be fitted to a model bound to an order.
pub trait FixedOrderLearner: Send + Sync {
    /// Learns from the named rows of the training set, for an order, or to decide labels
    /// independently where there is none.
    fn train(
        &self,
        train: &Prepared,
        rows: &[usize],
        order: Option<&Order>,
        seed: Seed,
    ) -> Result<Arc<dyn FixedOrderModel>>;

    /// The values of settings that were left to the data.
    fn tuned_settings(&self) -> Vec<TunedSetting> {
        Vec::new()
    }
}

/// An [`OrderedModel`] as an object, which labels a block of rows at a time, in its own order.
pub trait FixedOrderModel: BaseModel {
    /// The order it was trained for; none where labels are decided independently.
    fn own_order(&self) -> Option<&Order>;

    /// Walks every row of a block in the model's own order.
    fn walk(&self, block: &Block, collector: &mut dyn Collector);

    /// What is decided about each row of a block, in the model's own order.
    fn decisions(&self, block: &Block) -> LabelMatrix {
        let mut decisions = Decisions::new(block.n_rows(), self.n_labels());
        self.walk(block, &mut decisions);
        decisions.0
    }

    /// What the inputs alone say of each label: the first decision of a walk is made by it, later
    /// ones by what the earlier ones added.
    fn walk_independently(&self, block: &Block, collector: &mut dyn Collector);

    /// The model as bytes, for a model file.
    fn encode(&self) -> postcard::Result<Vec<u8>>;
}

impl<M: OrderedModel + Serialize> FixedOrderModel for M {
    fn own_order(&self) -> Option<&Order> {
        self.order()
    }

    fn walk(&self, block: &Block, collector: &mut dyn Collector) {
        let route = self.order().map_or(Route::Independent, Route::Fixed);
        walk(self, block, &mut [(route, collector)]);
    }

    fn walk_independently(&self, block: &Block, collector: &mut dyn Collector) {
        walk(self, block, &mut [(Route::Independent, collector)]);
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }
}

/// Settings that can be fitted to one label.
pub trait BinaryLearner: Sync {
    /// What fitting makes.
    type Model: BinaryModel;

    /// Learns the only label of `train` from all of its rows and inputs, which are standardized.
    fn fit_binary(&self, train: &Dataset) -> Result<Self::Model>;
}

/// A fitted model of one label.
pub trait BinaryModel: Send + Sync + 'static {
    /// What its scores are; a margin is no probability until it is calibrated.
    fn scale(&self) -> Scale {
        Scale::Probability
    }

    /// How strongly the model speaks for the label of a row whose cells are asked for by column.
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score;

    /// The same for each row of the block.
    fn supports(&self, block: &Block) -> Vec<Score> {
        let support = |&row: &usize| self.support(&|column| block.features.get(row, column));
        block.rows.iter().map(support).collect()
    }

    /// Whether the parts agree with each other and with so many inputs, as they do unless they come
    /// from a file.
    fn fits(&self, n_inputs: usize) -> bool;

    /// What it looks like as text, where people can read it; `value` turns a value of an input into
    /// the units of the training file.
    fn text(&self, _inputs: &[Attribute], _value: &dyn Fn(usize, f64) -> f64) -> Option<String> {
        None
    }
}

/// A row as a table, for models that would rather see all of it.
pub(crate) fn table_of_one_row(n_features: usize, cell: &dyn Fn(usize) -> f64) -> Matrix {
    let mut row = Dense::new(n_features);
    row.push_row(&(0..n_features).map(cell).collect::<Vec<f64>>());
    Matrix::Dense(row)
}

/// What a model of a single label says of each row.
pub(crate) fn scores_of_only_label<M: Scoring>(model: &M, block: &Block) -> Vec<Score> {
    let scores = model.score(block);
    let support = |row| model.evidence(&scores, row).support(LabelId(0));
    (0..block.n_rows()).map(support).collect()
}

/// A binary model for each label, which sees the inputs of its view and the labels before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedOrderChain<M> {
    #[serde(with = "views")]
    views: Vec<LabelView>,
    order: Option<Order>,
    /// By label.
    models: Vec<M>,
    /// For each label, how many labels of the order come before it; all of them are its inputs.
    n_before: Vec<usize>,
    /// What a cell means that a sparse row leaves out.
    zero: Vec<f64>,
}

impl<M: BinaryModel> FixedOrderChain<M> {
    /// Trains every model: on the rows of its label's view, on the view's inputs, and on the true
    /// labels of earlier positions as two-valued inputs; without an order, on the inputs alone.
    pub fn fit(
        learner: &impl BinaryLearner<Model = M>,
        train: &Prepared,
        views: Vec<LabelView>,
        order: Option<&Order>,
    ) -> Result<FixedOrderChain<M>> {
        let labels: Vec<LabelId> = order.into_iter().flat_map(Order::iter).collect();
        let n_before = n_before(order, views.len());
        let model = |(label, &n_before): (usize, &usize)| {
            train.cancel().check()?;
            let before = &labels[..n_before];
            learner.fit_binary(&with_labels(train, LabelId(label), &views[label], before)?)
        };
        let models = n_before.iter().enumerate().map(model).collect::<Result<_>>()?;
        Ok(FixedOrderChain {
            views,
            order: order.cloned(),
            models,
            n_before,
            zero: train.zero().to_vec(),
        })
    }

    /// What was trained for a label.
    pub fn model(&self, label: LabelId) -> &M {
        &self.models[label.0]
    }

    /// The labels that a label takes as inputs.
    fn before(&self, label: LabelId) -> impl Iterator<Item = LabelId> {
        self.order.iter().flat_map(Order::iter).take(self.n_before[label.0])
    }
}

/// For each label, how many labels come before it.
fn n_before(order: Option<&Order>, n_labels: usize) -> Vec<usize> {
    let mut n_before = vec![0; n_labels];
    for (position, label) in order.into_iter().flat_map(Order::iter).enumerate() {
        n_before[label.0] = position;
    }
    n_before
}

/// A decided label as an input.
fn as_input(name: &str) -> Attribute {
    Attribute::nominal(name, ["0", "1"])
}

/// What a label learns from: the inputs of the view, dense, and the labels before it as further
/// inputs.
fn with_labels(
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
        // An unknown label is an input with a missing cell.
        let truth = |&label: &LabelId| match data.labels().cell(row, label) {
            Some(relevant) => f64::from(u8::from(relevant)),
            None => f64::NAN,
        };
        cells.extend(before.iter().map(truth));
        table.push_row(&cells);
        target.set(at, LabelId(0), data.labels().get(row, label));
    }
    let name = data.label_names()[label.0].clone();
    Dataset::new("label", attributes, Matrix::Dense(table), vec![name], target)
}

impl<M: BinaryModel> BaseModel for FixedOrderChain<M> {
    fn n_labels(&self) -> usize {
        self.models.len()
    }

    fn scale(&self) -> Scale {
        self.models.first().map_or(Scale::Probability, M::scale)
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Dimensions { n_labels, n_features, .. } = *dimensions;
        [self.models.len(), self.views.len()] == [n_labels; 2]
            && self.zero.len() == n_features
            && self.order.as_ref().is_none_or(|order| order.len() == n_labels)
            && self.n_before == n_before(self.order.as_ref(), n_labels)
            && self
                .views
                .iter()
                .zip(&self.n_before)
                .zip(&self.models)
                .all(|((view, n_before), model)| model.fits(view.features.len() + n_before))
    }

    fn text(&self, label: LabelId, names: &InputNames) -> Option<String> {
        let features = &self.views[label.0].features;
        let inputs = features.iter().map(|&column| names.attributes[column].clone());
        let labels = self.before(label).map(|label| as_input(&names.label_names[label.0]));
        let inputs: Vec<Attribute> = inputs.chain(labels).collect();
        let value = |input: usize, value: f64| match features.get(input) {
            Some(&column) => names.standardizer.in_file(column, value),
            None => value,
        };
        self.models[label.0].text(&inputs, &value)
    }
}

impl<M: BinaryModel> Scoring for FixedOrderChain<M> {
    /// The rows of the block, dense, all inputs.
    type Scores = Dense;
    type Evidence<'m>
        = InputsAndDecisions<'m, M>
    where
        M: 'm;

    fn score(&self, block: &Block) -> Dense {
        let mut rows = Dense::new(self.zero.len());
        for &row in block.rows {
            let mut cells = self.zero.clone();
            block.features.entries(row).for_each(|(column, value)| cells[column] += value);
            rows.push_row(&cells);
        }
        rows
    }

    fn evidence<'m>(&'m self, rows: &'m Dense, row: usize) -> InputsAndDecisions<'m, M> {
        let decided = vec![f64::NAN; self.models.len()];
        InputsAndDecisions { chain: self, inputs: rows.row(row), decided }
    }
}

impl<M: BinaryModel> OrderedModel for FixedOrderChain<M> {
    fn order(&self) -> Option<&Order> {
        self.order.as_ref()
    }
}

/// The inputs of a row, and what was decided about it.
pub struct InputsAndDecisions<'m, M> {
    chain: &'m FixedOrderChain<M>,
    inputs: &'m [f64],
    /// By label: 0 or 1, or missing where nothing was decided.
    decided: Vec<f64>,
}

impl<M> Clone for InputsAndDecisions<'_, M> {
    fn clone(&self) -> Self {
        let decided = self.decided.clone();
        InputsAndDecisions { chain: self.chain, inputs: self.inputs, decided }
    }
}

impl<M: BinaryModel> Evidence for InputsAndDecisions<'_, M> {
    fn support(&self, label: LabelId) -> Score {
        let features = &self.chain.views[label.0].features;
        self.chain.models[label.0].support(&|column| match features.get(column) {
            Some(&input) => self.inputs[input],
            None => {
                let order = self.chain.order.as_ref();
                let label = order.and_then(|order| order.at(column - features.len()));
                label.map_or(f64::NAN, |label| self.decided[label.0])
            }
        })
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.decided[label.0] = f64::from(u8::from(relevant));
    }
}
