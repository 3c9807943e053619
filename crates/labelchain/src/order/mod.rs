//! Who chooses the order of a chain: a fixed order, the quality of each label near the row, or the
//! nearest row; and which chains to keep.

mod distance;
mod local_f1;
mod oocc;

pub use distance::OrderDistance;
pub use local_f1::LocalF1;
pub use oocc::Oocc;

use std::borrow::Cow;

use crate::chain::{Chosen, Order, OrderPolicy, Reason};
use crate::learner::Block;

/// An order is its own policy: the same for every row.
impl OrderPolicy for Order {
    fn orders(&self, block: &Block) -> Vec<Chosen<'_>> {
        let fixed = || Chosen { order: Cow::Borrowed(self), reason: Reason::Always };
        (0..block.n_rows()).map(|_| fixed()).collect()
    }
}
