//! A forest of rows that are not all in one place: each tree has seen one block of them.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use super::Model;
use crate::base::{ForestModel, TREES, TreeRows};
use crate::chain::FurtherRows;
use crate::data::Dataset;
use crate::decode::DecodeBudget;
use crate::ensemble::Member;
use crate::error::{Error, Result};
use crate::seed::Seed;

impl Model {
    /// Grows trees on other rows than those of this forest, as bytes, for a forest that has both
    /// ([`Model::with_trees`]). The first of the rows has the number `first` among all; columns and labels are found by
    /// name, and inputs have the scale of this forest.
    ///
    /// ```
    /// use labelchain::{Dataset, LabelChain};
    ///
    /// let cells: Vec<f64> = (0..80).map(|n| f64::from(n * 7 % 40)).collect();
    /// let high: Vec<bool> = cells.iter().map(|&cell| cell > 20.0).collect();
    /// let data = Dataset::from_rows(1, &cells)?.with_label_indicators(&["high"], &high)?;
    /// let (first, rest) = (data.select(&(0..50).collect::<Vec<_>>()), data.select(&(50..80).collect::<Vec<_>>()));
    ///
    /// let forest = LabelChain::new("certain-forest")?.set("trees", 16)?.fit(&first)?;
    /// let grown = forest.grow_trees(&rest, 50, 6)?;
    /// let forest = forest.with_trees(10, &[grown])?;
    /// let trees: Vec<usize> = forest.tree_rows()?.iter().map(|of| of.n_trees).collect();
    /// assert_eq!((forest.n_rows(), trees), (80, vec![10, 6]));
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn grow_trees(&self, rows: &Dataset, first: usize, n_trees: usize) -> Result<Vec<u8>> {
        self.can_update()?;
        let labels = self.known_labels(rows)?;
        let aligned = self.align(&rows.unlabelled(), Path::new(rows.name()))?.rows;
        let data = aligned.relabelled(self.label_names.to_vec(), labels)?;
        let further = FurtherRows {
            data: &data,
            rows: &(0..data.n_rows()).collect::<Vec<_>>(),
            views: &[],
            rows_before: &[],
            n_before: first,
            settings: &self.settings,
            // Named by how many rows there were, so that each block draws anew.
            seed: Seed::new(self.seed).child("update", first),
            cancel: &self.cancel,
        };
        self.forest()?.grow_block(&further, n_trees)
    }

    /// The forest of so many trees of this one and of those that were grown on other rows ([`Model::grow_trees`]), in
    /// the order of their rows. How far decisions are trusted, and how scores become probabilities, stays as the rows
    /// of this forest say; estimates that rest on rows which all trees may have seen are dropped.
    pub fn with_trees(self, n_kept: usize, grown: &[Vec<u8>]) -> Result<Model> {
        self.can_update()?;
        let budget = DecodeBudget::new(self.max_memory);
        let (forest, n_rows) = self.forest()?.with_blocks(n_kept, self.n_rows, grown, &budget)?;
        let ensemble = self.ensemble.sharing(Arc::new(forest), n_rows);
        Ok(Model { ensemble, n_rows, out_of_bag: None, ..self })
    }

    /// Which rows the trees of a forest drew from: one entry where all drew from the same rows, more where some rows
    /// were in another place, or came later; none where it is no forest.
    pub fn tree_rows(&self) -> Result<Vec<TreeRows>> {
        self.forest().map_or(Ok(vec![]), ForestModel::tree_rows)
    }

    fn forest(&self) -> Result<&ForestModel> {
        let model = self.members().first().and_then(Member::any_order_model);
        let forest = model.and_then(|model| (&**model as &dyn Any).downcast_ref());
        forest.ok_or_else(|| Error::UnusedSetting {
            name: TREES.name.into(),
            methods: self.method.to_string(),
        })
    }
}
