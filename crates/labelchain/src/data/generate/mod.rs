//! Synthetic data sets: rows that obey a known law, made when asked for.

mod network;
mod shapes;

pub use network::{DrawnNetwork, LabelNetwork};
pub use shapes::{DrawnShapes, Points, Shape, Shapes};

use super::Attribute;
use crate::error::{Error, Result};

fn setting<T>(name: &'static str, value: impl ToString, accepted: &'static str) -> Result<T> {
    Err(Error::Setting { name, value: value.to_string(), accepted })
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
