//! Rows that are labelled together.

use std::sync::OnceLock;

use crate::data::{Dense, LabelMatrix, Matrix};
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
    /// Where members that multiply cells and their squares find both, once the first of them has asked for them.
    pub squares: Option<&'a OnceLock<CellsAndSquares>>,
    /// The rows are training rows by number, `rows[i]` in the training set, and a model that was fitted on
    /// them answers by the parts of it that did not see each row.
    pub out_of_bag: bool,
}

impl<'a> Block<'a> {
    /// Rows for models that need nothing but the inputs.
    pub fn of(features: &'a Matrix, rows: &'a [usize]) -> Block<'a> {
        Block {
            features,
            rows,
            known: None,
            memberships: None,
            rankings: None,
            squares: None,
            out_of_bag: false,
        }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }
}

/// The cells of dense rows, each row followed by the squares of its cells.
pub struct CellsAndSquares {
    /// Row by row.
    pub by_row: Vec<f64>,
    /// Whether a cell of some row is missing.
    pub any_missing: bool,
}

impl CellsAndSquares {
    /// Of so many inputs and rows at most, because it takes twice the memory of the cells.
    const MOST_CELLS: usize = 1 << 19;

    /// Whether so many rows are few enough that members may share their squares.
    pub(crate) fn may_be_shared(features: &Matrix, n_rows: usize) -> bool {
        let n_cells = features.n_columns().saturating_mul(n_rows);
        matches!(features, Matrix::Dense(_)) && n_cells <= CellsAndSquares::MOST_CELLS
    }

    /// Of some rows.
    pub(crate) fn of(features: &Dense, rows: &[usize]) -> CellsAndSquares {
        let (mut by_row, mut any_missing) = (Vec::new(), false);
        for cells in rows.iter().map(|&row| features.row(row)) {
            by_row.extend_from_slice(cells);
            by_row.extend(cells.iter().map(|cell| cell * cell));
            any_missing |= cells.iter().fold(false, |any, cell| any | cell.is_nan());
        }
        CellsAndSquares { by_row, any_missing }
    }
}
