//! Who chooses the order of a walk for each row, and why that order.

use std::borrow::Cow;

use super::{Block, Dimensions, Order};
use crate::distance::Needs;

/// Chooses an order for each row.
pub trait OrderPolicy: Send + Sync {
    /// An order for each row of the block.
    fn orders(&self, block: &Block) -> Vec<Cow<'_, Order>>;

    /// The same orders, each with the reason for it; `validation` are the rows of the training set that
    /// the member was not fitted on.
    fn explained_orders(
        &self,
        block: &Block,
        validation: &[usize],
    ) -> Vec<(Cow<'_, Order>, Reason)>;

    /// Which distances to the training rows it asks a block for.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// β of the memberships it asks a block for; none where it needs no memberships.
    fn decay(&self) -> Option<f64> {
        None
    }

    /// How orders come about, in a few words.
    fn summary(&self) -> String;

    /// What it knows, for whoever wants to derive its orders again.
    fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }

    /// Whether the parts agree with each other and with the rest of a model file, as they do unless
    /// they were decoded.
    fn fits(&self, dimensions: &Dimensions) -> bool;

    /// The policy as bytes, for a model file.
    fn encode(&self) -> postcard::Result<Vec<u8>>;
}

/// Why an order was chosen for a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// Numbers by label that led to the order.
    pub by_label: Vec<Quantity>,
    /// The row of the training set that the order was taken from, where there is one.
    pub nearest: Option<usize>,
    /// How the order came about; empty where the numbers say it.
    pub text: String,
}

impl Reason {
    /// The values of a quantity by label, if there is one of this name.
    pub fn values(&self, key: &str) -> Option<&[f64]> {
        self.by_label.iter().find(|quantity| quantity.key == key).map(|it| &it.values[..])
    }
}

/// A number for each label.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in JSON.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it means.
    pub help: &'static str,
    /// How it is shown.
    pub display: QuantityDisplay,
    /// By label.
    pub values: Vec<f64>,
}

/// How a quantity is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityDisplay {
    /// As a number with a bar of that length.
    Bar,
    /// In per cent.
    Percent,
}
