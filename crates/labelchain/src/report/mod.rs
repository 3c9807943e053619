//! From results to what a reader sees: tests, tables, figures.

use crate::error::{Error, Result};
use crate::experiment::Results;
use crate::loss::Criterion;
use crate::stats::{Comparison, Recipe, Table};

/// Compares the methods of some results by every criterion. All are losses, but for those named in
/// `higher_is_better`.
pub fn compare(
    results: &Results,
    higher_is_better: &[String],
    recipe: Recipe,
) -> Result<Comparison> {
    if let Some(unknown) = higher_is_better.iter().find(|name| !results.criteria().contains(name)) {
        return Err(Error::Comparison {
            problem: format!(
                "{unknown:?} is said to be better if higher, but is none of the criteria: {}",
                results.criteria().join(", ")
            ),
            remedy: "--higher-is-better takes names as they stand in the column criterion",
        });
    }
    let table = |(at, criterion): (usize, &String)| Table {
        criterion: criterion.clone(),
        losses: results.losses(at),
        higher_is_better: higher_is_better.contains(criterion),
    };
    let tables = results.criteria().iter().enumerate().map(table).collect();
    Comparison::of(results.datasets(), results.methods(), tables, recipe)
}

/// A criterion's name for people: its title if it is one of ours.
pub fn title(criterion: &str) -> String {
    criterion.parse().map_or_else(|_| criterion.into(), |ours: Criterion| ours.title().into())
}
