//! The forest as a base learner: its settings and its row in the table.

use std::sync::Arc;

use super::parts::TREES_AS_PARTS;
use super::{Forest, ForestModel, Importance};
use crate::base::{Base, BaseKind, Updating};
use crate::data::Matrix;
use crate::ensemble::MemberRows;
use crate::error::{Error, Result};
use crate::settings::{Accepts, Between, Flag, OneOf, Or, Setting, Settings, Whole};

/// T.
pub(crate) static TREES: Setting<usize> = Setting {
    name: "trees",
    accepts: &Whole(1..=10_000),
    default: 100,
    help: "T: trees of the forest",
};

pub(super) static SPLIT_FEATURES: Setting<Option<SplitFeatures>> = Setting {
    name: "split-features",
    accepts: &Or("auto", SplitFeaturesText),
    default: Some(SplitFeatures::Sqrt),
    help: "Inputs that are looked at in each node of a tree, drawn anew: the square root of all, a number, or a share; auto chooses the square root or a third out of bag, and takes two to ten times as long",
};

static FOREST_LEAF: Setting<usize> = Setting {
    name: "forest-leaf",
    accepts: &Whole(1..=1_000_000),
    default: 1,
    help: "Different rows that a leaf of the forest has at least",
};

/// 1 - λ.
pub(super) static TRUST: Setting<Option<f64>> = Setting {
    name: "trust",
    accepts: &Or("auto", Between(0.0, 1.0)),
    default: None,
    help: "1 - λ: what a label set loses of its weight when it disagrees with a decided label, from 0 (as binary relevance) to 1 (strict conditioning); auto chooses it out of bag",
};

static EXTRA_TREES: Setting<bool> = Setting {
    name: "extra-trees",
    accepts: &Flag,
    default: false,
    help: "Draw one cut of each input at random instead of looking for the best: extremely random trees",
};

static IMPORTANCE: Setting<Importance> = Setting {
    name: "importance",
    accepts: &OneOf(&[("gain", Importance::Gain), ("permutation", Importance::Permutation)]),
    default: Importance::Gain,
    help: "How it is measured how much each input matters: by the variance of the labels that its splits take away (gain), or by what the loss of rows that trees had not seen rises by when its cells are shuffled (permutation)",
};

pub(in crate::base) static BASE: Base = Base {
    name: "forest",
    about: "one forest for all labels",
    kind: BaseKind::AnyOrder {
        learner: |task| Ok(Box::new(Forest::of(task.settings))),
        decode: |bytes, budget, file| Some(Arc::new(ForestModel::stored(bytes, budget, file)?)),
    },
    member_rows: MemberRows::Shared,
    learns_by_column: false,
    takes_unknown_labels: true,
    updating: Updating::AnyRows,
    parts: Some(&TREES_AS_PARTS),
    training_bytes: |task| {
        let data = task.train.data();
        let (n_rows, n_inputs) = (data.n_rows() as u64, data.n_features() as u64);
        let n_bytes = data.features().n_bytes() as u64;
        let n_threads = rayon::current_num_threads() as u64;
        // A column has at most 255 bins, of 16 bytes each, and no more than different values.
        let cells = match data.features() {
            // A byte for each cell.
            Matrix::Dense(_) => n_bytes / 8 + n_inputs * 16 * n_rows.min(255),
            // A stored cell, of twelve bytes there, takes 2 · 16 (value and row, with room to grow) while columns
            // are gathered, and 4 + 1 + 4 (row, bin, input) as long as trees grow.
            Matrix::Sparse(_) => {
                let n_stored = n_bytes / 12;
                n_stored * (2 * 16 + 9) + 16 * (n_inputs * 255).min(n_stored + n_inputs)
            }
        };
        // Of each column its lists, and two numbers for each thread; of each row where its cells start; and a
        // column that is sorted by each thread.
        let columns = n_inputs * (128 + 8 * n_threads);
        let bins = cells + columns + 16 * n_rows + 32 * n_rows * n_threads;
        // A tree draws about 63 % of the rows, and names each. At worst each of them has a leaf, with its
        // node, the node above it, its first entry and row, and the entry.
        const OF_LEAF: u64 = 2 * 16 + 2 * 4 + 8;
        let n_drawn = n_rows * 2 / 3;
        let n_leaves = n_drawn / task.settings.get(&FOREST_LEAF) as u64 + 1;
        let of_tree = n_leaves * OF_LEAF + 4 * n_drawn + n_rows / 8;
        let trees = task.settings.get(&TREES) as u64 * of_tree;
        // Each thread lists the inputs on the way of each row that its tree did not draw, of 8 bytes each, and the
        // list may be copied once while it grows. How deep a tree gets cannot be known: this is an estimate.
        const TYPICAL_DEPTH: u64 = 64;
        let is_permuted = task.settings.get(&IMPORTANCE) == Importance::Permutation;
        let of_thread = (n_rows - n_drawn) * 2 * 8 * TYPICAL_DEPTH;
        let ways = if is_permuted { of_thread * n_threads } else { 0 };
        bins + trees + ways + 12 * n_rows + 2 * data.labels().n_bytes() as u64
    },
    settings: &[&TREES, &SPLIT_FEATURES, &FOREST_LEAF, &EXTRA_TREES, &IMPORTANCE],
    chain_settings: &[&TRUST],
};

impl Forest {
    /// As it is set.
    pub(super) fn of(settings: &Settings) -> Forest {
        Forest {
            n_trees: settings.get(&TREES),
            split_features: settings.get(&SPLIT_FEATURES),
            min_leaf: settings.get(&FOREST_LEAF),
            trust: settings.get(&TRUST),
            extra_trees: settings.get(&EXTRA_TREES),
            importance: settings.get(&IMPORTANCE),
        }
    }
}

/// How many inputs are looked at in each node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitFeatures {
    /// The square root of all, rounded down.
    Sqrt,
    /// So many.
    Number(usize),
    /// This share of all, rounded down.
    Share(f64),
}

impl SplitFeatures {
    /// Of so many inputs; at least one, and at most all.
    pub(super) fn of(self, n_inputs: usize) -> Result<usize> {
        let n = match self {
            SplitFeatures::Sqrt => n_inputs.isqrt(),
            SplitFeatures::Number(n) => n,
            SplitFeatures::Share(share) if share > 0.0 && share <= 1.0 => {
                (share * n_inputs as f64) as usize
            }
            SplitFeatures::Share(share) => {
                let (name, value) = (SPLIT_FEATURES.name, share.to_string());
                let accepted = "a share above 0 and up to 1";
                return Err(Error::Setting { name, value, accepted });
            }
        };
        Ok(n.clamp(1, n_inputs.max(1)))
    }
}

/// A number with a point is a share.
struct SplitFeaturesText;

impl Accepts<SplitFeatures> for SplitFeaturesText {
    fn parse(&self, text: &str) -> Option<SplitFeatures> {
        if text == "sqrt" {
            return Some(SplitFeatures::Sqrt);
        }
        if let Ok(number) = text.parse() {
            return (1..=1_000_000).contains(&number).then_some(SplitFeatures::Number(number));
        }
        let share = text.parse().ok().filter(|&share: &f64| share > 0.0 && share <= 1.0)?;
        Some(SplitFeatures::Share(share))
    }

    fn text(&self, value: &SplitFeatures) -> String {
        match value {
            SplitFeatures::Sqrt => "sqrt".into(),
            SplitFeatures::Number(number) => number.to_string(),
            // With a point, so that 1.0 stays a share.
            SplitFeatures::Share(share) => format!("{share:?}"),
        }
    }

    fn json(&self, value: &SplitFeatures) -> serde_json::Value {
        match value {
            SplitFeatures::Sqrt => "sqrt".into(),
            SplitFeatures::Number(number) => (*number).into(),
            SplitFeatures::Share(share) => (*share).into(),
        }
    }

    fn phrase(&self) -> String {
        "sqrt, a whole number from 1 to 1000000, or a share with a point, such as 0.33 or 1.0"
            .into()
    }

    fn placeholder(&self) -> String {
        "sqrt|N|SHARE".into()
    }
}
