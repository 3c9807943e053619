//! Synthetic data sets: rows that obey a known law, made when asked for.

mod network;
mod shapes;
mod tickets;

pub use network::{DrawnNetwork, LabelNetwork};
pub use shapes::{DrawnShapes, Points, Shape, Shapes};
pub use tickets::Tickets;

use super::Attribute;
use crate::error::{Error, Result};

fn setting<T>(name: &'static str, value: impl ToString, accepted: &'static str) -> Result<T> {
    Err(Error::Setting { name, value: value.to_string(), accepted })
}

/// More columns than any real set has, and few enough to be named in memory.
const MAX_LABELS: usize = 100_000;
const MAX_FEATURES: usize = 1_000_000;

/// Refuses numbers of rows, labels and features that no set has.
fn check_size(n_rows: usize, n_labels: usize, features: &[(&'static str, usize)]) -> Result<()> {
    if !(1..=u32::MAX as usize).contains(&n_rows) {
        return setting("rows", n_rows, "a whole number from 1 to 4294967295");
    }
    if !(1..=MAX_LABELS).contains(&n_labels) {
        return setting("labels", n_labels, "a whole number from 1 to 100000");
    }
    match features.iter().find(|(_, n)| *n > MAX_FEATURES) {
        Some((name, n)) => setting(name, n, "a whole number up to 1000000"),
        None => Ok(()),
    }
}

/// Numbered columns for each stem, and numbered labels.
fn named(stems: &[(&str, usize)], n_labels: usize) -> (Vec<Attribute>, Vec<String>) {
    let numbered = |&(stem, n): &(&str, usize)| {
        let stem = stem.to_string();
        (1..=n).map(move |at| Attribute::numeric(format!("{stem}{at}")))
    };
    let attributes = stems.iter().flat_map(numbered).collect();
    (attributes, (1..=n_labels).map(|label| format!("label{label}")).collect())
}
