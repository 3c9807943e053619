//! Rows that are labelled together.

use crate::data::{LabelMatrix, Matrix};
use crate::distance::{Memberships, Rankings};

/// Standardized rows to be labelled, with the distances that all members of an ensemble share.
pub struct Block<'a> {
    /// The inputs.
    pub features: &'a Matrix,
    /// Which rows of them.
    pub rows: &'a [usize],
    /// The labels of these rows that are known already, where there are any: they are kept, and
    /// condition the others. It has a row for each row of `features`.
    pub known: Option<&'a LabelMatrix>,
    /// How much each training row belongs to the neighbourhood of each row, where it is needed.
    pub memberships: Option<&'a Memberships>,
    /// All training rows from the nearest to the farthest, where they are needed.
    pub rankings: Option<&'a Rankings<'a>>,
    /// The rows are training rows by number, `rows[i]` in the training set, and a model that was fitted on
    /// them answers by the parts of it that did not see each row.
    pub out_of_bag: bool,
}

impl<'a> Block<'a> {
    /// Rows for models that need nothing but the inputs.
    pub fn of(features: &'a Matrix, rows: &'a [usize]) -> Block<'a> {
        Block { features, rows, known: None, memberships: None, rankings: None, out_of_bag: false }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }
}
