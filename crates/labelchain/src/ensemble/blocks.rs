//! Blocks of rows, with the distances that members need.

use std::sync::OnceLock;

use crate::chain::{Block, CellsAndSquares};
use crate::data::{Dataset, LabelMatrix};
use crate::distance::{Memberships, Needs, Neighbourhood, Rankings};
use crate::error::Result;

/// Rows labelled at a time where they are not measured.
pub(super) const BLOCK: usize = 256;

/// How many rows are labelled at a time; with their memberships if there is a β.
pub(crate) fn rows_at_once(train: Option<&Neighbourhood>, decay: Option<f64>) -> usize {
    train.map_or(BLOCK, |train| train.rows_at_once(decay.is_some()))
}

/// Some rows of a data set, with their distances to the training rows.
pub(crate) struct RowBlock<'a> {
    data: &'a Dataset,
    rows: Vec<usize>,
    known: Option<&'a LabelMatrix>,
    pub(super) memberships: Option<Memberships>,
    rankings: Option<Rankings<'a>>,
    squares: OnceLock<CellsAndSquares>,
}

impl<'a> RowBlock<'a> {
    /// The rows from `start` on, as many as are labelled at a time; with their memberships if there
    /// is a β, and with the distances that are needed.
    pub(crate) fn new(
        data: &'a Dataset,
        start: usize,
        train: Option<&'a Neighbourhood<'a>>,
        decay: Option<f64>,
        needs: Needs,
    ) -> Result<RowBlock<'a>> {
        let end = data.n_rows().min(start + rows_at_once(train, decay));
        RowBlock::of_rows(data, (start..end).collect(), train, decay, needs)
    }

    /// The same for any rows, ascending.
    pub(super) fn of_rows(
        data: &'a Dataset,
        rows: Vec<usize>,
        train: Option<&'a Neighbourhood<'a>>,
        decay: Option<f64>,
        needs: Needs,
    ) -> Result<RowBlock<'a>> {
        let squares = OnceLock::new();
        let Some(train) = train else {
            let (memberships, rankings) = (None, None);
            return Ok(RowBlock { data, rows, known: None, memberships, rankings, squares });
        };
        let memberships = |decay| train.memberships(&data.select(&rows), decay);
        let memberships = decay.map(memberships).transpose()?;
        let rankings = train.rankings_of_rows(data, &rows, needs)?;
        Ok(RowBlock { data, rows, known: None, memberships, rankings, squares })
    }

    /// The same rows, of which some labels may be known; there is a row of them for each of the data.
    pub(crate) fn given(self, known: Option<&'a LabelMatrix>) -> RowBlock<'a> {
        RowBlock { known, ..self }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Some of the rows as models take them, or as a model takes rows that it was fitted on.
    pub(super) fn with_selected<T>(
        &self,
        places: &[usize],
        out_of_bag: bool,
        ask: impl FnOnce(&Block) -> T,
    ) -> T {
        let rows: Vec<usize> = places.iter().map(|&place| self.rows[place]).collect();
        let memberships = self.memberships.as_ref().map(|of| of.select(places));
        let rankings = self.rankings.as_ref().map(|of| of.select(places));
        ask(&Block {
            features: self.data.features(),
            rows: &rows,
            known: None,
            memberships: memberships.as_ref(),
            rankings: rankings.as_ref(),
            squares: None,
            out_of_bag,
        })
    }

    /// The rows as models take them.
    pub(crate) fn view(&self) -> Block<'_> {
        let features = self.data.features();
        let may_share = CellsAndSquares::may_be_shared(features, self.rows.len());
        Block {
            features,
            rows: &self.rows,
            known: self.known,
            memberships: self.memberships.as_ref(),
            rankings: self.rankings.as_ref(),
            squares: may_share.then_some(&self.squares),
            out_of_bag: false,
        }
    }
}
