//! One label, any inputs: what a chain that must be retrained is made of.

use crate::base::{ChainLearner, ChainModel, Evidence, NaiveBayes, NaiveBayesModel};
use crate::data::{Dataset, Dense, LabelId, Matrix};
use crate::error::Result;
use crate::learner::Block;
use crate::prepare::{Preparation, Prepared};
use crate::seed::Seed;

/// Settings that can be fitted to one label.
pub trait BinaryLearner: Sync {
    /// What fitting makes.
    type Model: BinaryModel;

    /// Learns the only label of `train` from all of its rows and inputs, which are standardized.
    fn fit_binary(&self, train: &Dataset) -> Result<Self::Model>;
}

/// A fitted model of one label.
pub trait BinaryModel: Send + Sync {
    /// log P(relevant) - log P(irrelevant) for a row whose cells are asked for by column.
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> f64;

    /// The same for each row of the block.
    fn supports(&self, block: &Block) -> Vec<f64> {
        let support = |&row: &usize| self.support(&|column| block.features.get(row, column));
        block.rows.iter().map(support).collect()
    }
}

/// A row as a table, for models that would rather see all of it.
pub(super) fn one_row(n_features: usize, cell: &dyn Fn(usize) -> f64) -> Matrix {
    let mut row = Dense::new(n_features);
    row.push_row(&(0..n_features).map(cell).collect::<Vec<f64>>());
    Matrix::Dense(row)
}

/// What a chain of one label says of each row.
pub(super) fn of_only_label<M: ChainModel>(model: &M, block: &Block) -> Vec<f64> {
    let scores = model.score(block);
    let support = |row| model.evidence(&scores, row).support(LabelId(0));
    (0..block.n_rows()).map(support).collect()
}

impl BinaryLearner for NaiveBayes {
    type Model = NaiveBayesModel;

    fn fit_binary(&self, train: &Dataset) -> Result<NaiveBayesModel> {
        let rows: Vec<usize> = (0..train.n_rows()).collect();
        let plain = NaiveBayes { preparation: Preparation::none(), likelihood: self.likelihood };
        plain.fit(&Prepared::as_is(train), &rows, Seed::new(0))
    }
}

impl BinaryModel for NaiveBayesModel {
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> f64 {
        let features = one_row(self.n_features(), cell);
        self.supports(&Block { features: &features, rows: &[0], near: None, nearest: None })[0]
    }

    fn supports(&self, block: &Block) -> Vec<f64> {
        of_only_label(self, block)
    }
}
