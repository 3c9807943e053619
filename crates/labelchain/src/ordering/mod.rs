//! Who chooses the order of a chain: a fixed order, or the quality of each label near the row.

mod genetic;
mod local_f1;

pub use genetic::{GeneticSearch, Individual, Losses, Subset};
pub use local_f1::LocalF1;

use std::borrow::Cow;

use crate::chain::{Chosen, Order, OrderPolicy};
use crate::learner::Block;

/// An order is its own policy: the same for every row.
impl OrderPolicy for Order {
    fn orders(&self, block: &Block) -> Vec<Chosen<'_>> {
        let fixed = || Chosen { order: Cow::Borrowed(self), local_f1: None };
        (0..block.n_rows()).map(|_| fixed()).collect()
    }
}
