//! One label, any inputs: what a chain that must be retrained is made of.

use crate::data::{Dataset, LabelId};
use crate::error::Result;
use crate::learner::Block;
use crate::model::{ChainLearner, ChainModel, Evidence, NaiveBayes, NaiveBayesModel};
use crate::prepare::{Preparation, Prepared};
use crate::seed::Seed;

/// Settings that can be fitted to one label.
pub trait BinaryLearner {
    /// What fitting makes.
    type Model: BinaryModel;

    /// Learns the only label of `train` from all of its rows and inputs, which are standardized.
    fn fit_binary(&self, train: &Dataset) -> Result<Self::Model>;
}

/// A fitted model of one label.
pub trait BinaryModel {
    /// log P(relevant) - log P(irrelevant) for each row of the block.
    fn supports(&self, block: &Block) -> Vec<f64>;
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
    fn supports(&self, block: &Block) -> Vec<f64> {
        let scores = self.score(block);
        let support = |row| self.evidence(&scores, row).support(LabelId(0));
        (0..block.n_rows()).map(support).collect()
    }
}
