//! C4.5 trees as a base learner: their settings and their row in the table.

use std::sync::Arc;

use super::{J48, J48Model, Node};
use crate::base::{Base, BaseKind, Updating, decode_fixed_order};
use crate::chain::{FixedOrderChain, FixedOrderLearner, FixedOrderModel, Order};
use crate::ensemble::MemberRows;
use crate::error::Result;
use crate::prepare::{Preparation, Prepared};
use crate::seed::Seed;
use crate::settings::{Flag, Setting, UpTo, Whole};

static CONFIDENCE: Setting<f64> = Setting {
    name: "confidence",
    accepts: &UpTo(0.5),
    default: 0.25,
    help: "The smaller, the more of a tree is pruned",
};

static MIN_LEAF: Setting<usize> = Setting {
    name: "min-leaf",
    accepts: &Whole(1..=1_000_000),
    default: 2,
    help: "Rows that at least two branches of a split must have",
};

static UNPRUNED: Setting<bool> = Setting {
    name: "unpruned",
    accepts: &Flag,
    default: false,
    help: "Leave trees as they have grown",
};

static BINARY_SPLITS: Setting<bool> = Setting {
    name: "binary-splits",
    accepts: &Flag,
    default: false,
    help: "Split nominal inputs into one value and the others",
};

pub(in crate::base) static BASE: Base = Base {
    name: "j48",
    about: "C4.5 trees as in WEKA's J48",
    kind: BaseKind::FixedOrder {
        learner: |task| {
            let tree = J48 {
                confidence: task.settings.get(&CONFIDENCE),
                min_leaf: task.settings.get(&MIN_LEAF),
                pruned: !task.settings.get(&UNPRUNED),
                binary_splits: task.settings.get(&BINARY_SPLITS),
            };
            Ok(Box::new(TreeChains { tree, preparation: Preparation::of(task.settings)? }))
        },
        decode: decode_fixed_order::<FixedOrderChain<J48Model>>,
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: false,
    takes_unknown_labels: true,
    updating: Updating::Never,
    parts: None,
    training_bytes: |task| {
        // A tree that grows holds the value and row of each cell: of all rows, of a node, of the
        // nodes that wait. Its nodes are far fewer than its rows.
        const OF_CELL: u64 = 3 * 16;
        let n_labels = task.train.data().n_labels() as u64;
        let n_inputs = task.n_inputs() + n_labels;
        let growing = OF_CELL * task.n_at_once() * task.n_fitted_rows() * n_inputs;
        let of_node = size_of::<Node>() as u64;
        let trees = task.n_members() * n_labels * task.n_fitted_rows() * of_node / 8;
        task.selection_bytes() + growing + trees
    },
    settings: &[&CONFIDENCE, &MIN_LEAF, &UNPRUNED, &BINARY_SPLITS],
    chain_settings: &[],
};

/// Trees for every label.
struct TreeChains {
    tree: J48,
    preparation: Preparation,
}

impl FixedOrderLearner for TreeChains {
    fn train(
        &self,
        train: &Prepared,
        rows: &[usize],
        order: Option<&Order>,
        seed: Seed,
    ) -> Result<Arc<dyn FixedOrderModel>> {
        let views = train.views(&self.preparation, rows, seed)?;
        Ok(Arc::new(FixedOrderChain::fit(&self.tree, train, views, order)?))
    }
}
