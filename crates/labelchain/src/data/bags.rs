//! Multi-instance data: each row is a bag of instances.

use std::ops::Range;

use super::{Attribute, Dataset, Matrix};
use crate::error::{Error, Result};

/// Labelled bags of instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Bags {
    pub(super) rows: Dataset,
    name: String,
    attributes: Vec<Attribute>,
    instances: Matrix,
    /// Bag b owns instances `starts[b]..starts[b + 1]`.
    starts: Vec<usize>,
}

impl Bags {
    /// Puts the parts together; they must fit.
    pub fn new(
        rows: Dataset,
        name: String,
        attributes: Vec<Attribute>,
        instances: Matrix,
        starts: Vec<usize>,
    ) -> Result<Bags> {
        Error::unless_same(
            "columns of the instance table",
            attributes.len(),
            instances.n_columns(),
        )?;
        Error::unless_same("bag borders", rows.n_rows() + 1, starts.len())?;
        Error::unless_same(
            "instances in bags",
            instances.n_rows(),
            starts.last().copied().unwrap_or(0),
        )?;
        Ok(Bags { rows, name, attributes, instances, starts })
    }

    /// What is said of a bag as a whole: its labels, its identifier.
    pub fn rows(&self) -> &Dataset {
        &self.rows
    }

    /// The name of the relational attribute.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns of an instance.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// All instances, bag after bag.
    pub fn instances(&self) -> &Matrix {
        &self.instances
    }

    /// The instances of one bag.
    pub fn instances_of(&self, bag: usize) -> Range<usize> {
        self.starts[bag]..self.starts[bag + 1]
    }
}
