//! One label, any inputs: what a chain that must be retrained is made of.

use crate::data::{Dataset, Dense, LabelId, Matrix};
use crate::error::Result;
use crate::learner::Block;
use crate::model::{ChainLearner, ChainModel, Evidence, NaiveBayes, NaiveBayesModel};
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
        let mut row = Dense::new(self.n_features());
        row.push_row(&(0..self.n_features()).map(cell).collect::<Vec<f64>>());
        let features = Matrix::Dense(row);
        self.supports(&Block { features: &features, rows: &[0], near: None, nearest: None })[0]
    }

    fn supports(&self, block: &Block) -> Vec<f64> {
        let scores = self.score(block);
        let support = |row| self.evidence(&scores, row).support(LabelId(0));
        (0..block.n_rows()).map(support).collect()
    }
}
