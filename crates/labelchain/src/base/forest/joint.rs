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
use super::tree::Tree;
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
        let drawn = block.out_of_bag.then(|| model.drawn());
        let law = |scratch: &mut Scratch, &row: &usize| {
            let place = drawn.and_then(|_| model.rows.binary_search(&row).ok());
            let is_asked = |tree: usize| match (drawn, place) {
                (Some(drawn), Some(place)) => drawn[tree][place / 64] >> (place % 64) & 1 == 0,
                _ => true,
            };
            let trees = model.trees.iter().enumerate().filter(|(at, _)| is_asked(*at));
            let trees: Vec<&Tree> = trees.map(|(_, tree)| tree).collect();
            match block.features {
                Matrix::Dense(dense) => {
                    let cells = dense.row(row);
                    scratch.law(&trees, |input| cells[input])
                }
                Matrix::Sparse(sparse) => {
                    let (columns, values) = sparse.row(row);
                    let mut cells = std::mem::take(&mut scratch.cells);
                    cells.resize(model.n_inputs, 0.0);
                    let entries = || columns.iter().map(|&column| column as usize).zip(values);
                    entries().for_each(|(column, &value)| cells[column] = value);
                    let law = scratch.law(&trees, |input| cells[input]);
                    entries().for_each(|(column, _)| cells[column] = 0.0);
                    scratch.cells = cells;
                    law
                }
            }
        };
        let n_sets = model.sets.n_rows();
        JointLaws(block.rows.par_iter().map_init(|| Scratch::new(n_sets), law).collect())
    }
}

/// Room to add up the weights of one row.
struct Scratch {
    /// By label set; 0 between rows.
    weights: Vec<f64>,
    reached: Vec<u32>,
    /// The cells of a sparse row; 0 between rows.
    cells: Vec<f64>,
}

impl Scratch {
    fn new(n_sets: usize) -> Scratch {
        Scratch { weights: vec![0.0; n_sets], reached: Vec::new(), cells: Vec::new() }
    }

    /// The label sets in the order in which trees reach them.
    fn law(&mut self, trees: &[&Tree], cell: impl Fn(usize) -> f64) -> Vec<Reached> {
        let of_tree = (WHOLE / trees.len().max(1) as f64).floor();
        self.reached.clear();
        for tree in trees {
            let entries = tree.leaf_of(&cell);
            let n_rows: u64 = entries.iter().map(|entry| u64::from(entry.count)).sum();
            for entry in entries {
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
