//! The joint law of the labels of a row: the label sets of the leaves that it reaches, with weights.
//!
//! A training row that a tree drew b times gets b / Σ b of that tree in the leaf where it lies, and the
//! trees have equal say:
//!
//! ```text
//! w_n(x) = 1/T Σ_t b_tn [leaf_t(n) = leaf_t(x)] / Σ_m b_tm [leaf_t(m) = leaf_t(x)]
//! ```
//!
//! Rows with the same label set y count together, so that P(y | x) = Σ_n w_n(x) [y_n = y].
//!
//! Weights are whole numbers that sum to about 2⁵². Sums of such numbers are exact in floating point:
//! they do not depend on the order of summing, and what is taken away from a sum leaves exactly the rest.
//! A label that no remaining set contains hence has a sum of exactly 0.

use rayon::prelude::*;

use super::ForestModel;
use super::tree::LeafEntry;
use crate::chain::Block;
use crate::data::Matrix;

/// What all weights of a row sum to, but for rounding. All whole numbers up to twice it are exact.
pub(super) const WHOLE: f64 = (1u64 << 52) as f64;

/// A label set that a row reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reached {
    /// Which label set of the model.
    pub(super) set: u32,
    /// Its weight: a whole number.
    pub(super) weight: f64,
}

/// The joint law of every row of a block.
pub struct JointLaws(pub(super) Vec<Vec<Reached>>);

impl JointLaws {
    pub(super) fn new(model: &ForestModel, block: &Block) -> JointLaws {
        // Found out before, and not by several threads that would wait for each other.
        let drawn = block.out_of_bag.then(|| model.drawn());
        let chunks = block.rows.par_chunks(rows_at_once(model.n_inputs));
        let laws = chunks
            .map_init(|| Scratch::new(model, drawn), |scratch, rows| scratch.laws(block, rows));
        JointLaws(laws.flatten_iter().collect())
    }
}

/// How many rows go down a tree together: so many that its nodes stay in the cache meanwhile, and so few
/// that their cells do.
fn rows_at_once(n_inputs: usize) -> usize {
    const CELLS: usize = 1 << 15;
    (CELLS / n_inputs.max(1)).clamp(1, 64)
}

/// Room to find the leaves of some rows, and to add up their weights.
struct Scratch<'m> {
    model: &'m ForestModel,
    /// The rows that each tree drew, where only the others are asked.
    drawn: Option<&'m [Vec<u64>]>,
    /// By label set; 0 between rows.
    weights: Vec<f64>,
    reached: Vec<u32>,
    /// The cells of sparse rows; 0 between rows.
    cells: Vec<f64>,
    /// The label sets of the leaf of each row in each tree, tree by tree; none where the tree is not asked about
    /// the row.
    leaves: Vec<Option<&'m [LeafEntry]>>,
}

impl<'m> Scratch<'m> {
    fn new(model: &'m ForestModel, drawn: Option<&'m [Vec<u64>]>) -> Scratch<'m> {
        let weights = vec![0.0; model.sets.n_rows()];
        Scratch { model, drawn, weights, reached: vec![], cells: vec![], leaves: vec![] }
    }

    fn laws(&mut self, block: &Block, rows: &[usize]) -> Vec<Vec<Reached>> {
        match block.features {
            Matrix::Dense(dense) => {
                let cells: Vec<&[f64]> = rows.iter().map(|&row| dense.row(row)).collect();
                self.find_leaves(rows, &cells);
            }
            Matrix::Sparse(sparse) => {
                let width = self.model.n_inputs;
                let mut cells = std::mem::take(&mut self.cells);
                cells.resize(rows.len() * width, 0.0);
                let entries = || {
                    rows.iter().enumerate().flat_map(|(at, &row)| {
                        let (columns, values) = sparse.row(row);
                        let places = columns.iter().map(move |&it| at * width + it as usize);
                        places.zip(values)
                    })
                };
                entries().for_each(|(place, &value)| cells[place] = value);
                let of_rows: Vec<&[f64]> =
                    (0..rows.len()).map(|at| &cells[at * width..(at + 1) * width]).collect();
                self.find_leaves(rows, &of_rows);
                entries().for_each(|(place, _)| cells[place] = 0.0);
                self.cells = cells;
            }
        }
        (0..rows.len()).map(|row| self.law(row, rows.len())).collect()
    }

    /// Each row, given by its number and by its cells, goes down each tree that is asked about it.
    fn find_leaves(&mut self, rows: &[usize], cells: &[&[f64]]) {
        let model = self.model;
        let place = |row: &usize| model.rows.binary_search(row).ok();
        let places: Vec<Option<usize>> = rows.iter().map(place).collect();
        self.leaves.clear();
        for at in 0..model.trees.n_trees() {
            for (cells, place) in cells.iter().zip(&places) {
                let has_drawn = match (self.drawn, place) {
                    (Some(drawn), Some(place)) => drawn[at][place / 64] >> (place % 64) & 1 == 1,
                    _ => false,
                };
                let reached = || model.trees.reached_in(at, |input| cells[input]);
                self.leaves.push((!has_drawn).then(reached));
            }
        }
    }

    /// The label sets of one of so many rows, in the order in which trees reach them.
    fn law(&mut self, row: usize, n_rows: usize) -> Vec<Reached> {
        let leaves = || self.leaves[row..].iter().step_by(n_rows).flatten();
        let n_asked = leaves().count();
        let of_tree = (WHOLE / n_asked.max(1) as f64).floor();
        self.reached.clear();
        for entries in leaves() {
            let n_rows: u64 = entries.iter().map(|entry| u64::from(entry.count)).sum();
            for entry in *entries {
                let weight = (of_tree * f64::from(entry.count) / n_rows as f64).floor();
                let sum = &mut self.weights[entry.set as usize];
                if *sum == 0.0 && weight > 0.0 {
                    self.reached.push(entry.set);
                }
                *sum += weight;
            }
        }
        let take =
            |&set: &u32| Reached { set, weight: std::mem::take(&mut self.weights[set as usize]) };
        self.reached.iter().map(take).collect()
    }
}
