//! How far are two bags of instances from each other?
//!
//! The maximal Hausdorff distance takes, of all instances of either bag, the one that is farthest
//! from its nearest instance in the other bag, and is that distance:
//!
//! max( max_a min_b |a - b|, max_b min_a |a - b| ),
//!
//! where |a - b| is the Euclidean distance of the cells, which are not standardized.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::standardize::{LARGEST, SMALLEST};
use crate::data::Bags;
use crate::error::{Error, Result};
use crate::product::vectorized;

/// How many instances are compared at a time: one in each lane of the processor's vector registers.
const LANES: usize = 8;

/// Bags of instances laid out for distances: eight instances side by side, column after column.
/// Where a bag does not fill its last eight, the cells left over are infinite, so that they are
/// farther than any instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaidBags {
    width: usize,
    /// Bag b owns groups `starts[b]..starts[b + 1]` of eight instances each.
    starts: Vec<usize>,
    sizes: Vec<usize>,
    cells: Vec<f64>,
}

impl LaidBags {
    /// Lays out bags; `columns` are the instance columns that count, in that order. Refuses empty
    /// bags, and cells that are missing or beyond ±1e100.
    pub(crate) fn new(bags: &Bags, columns: &[usize]) -> Result<LaidBags> {
        let width = columns.len();
        let (mut starts, mut sizes, mut cells) = (vec![0], Vec::new(), Vec::new());
        for bag in 0..bags.n_bags() {
            let instances = bags.instances_of(bag);
            if instances.is_empty() {
                return Err(Error::Bag {
                    name: bags.rows().name().into(),
                    bag,
                    problem: "has no instances, and so no distance to others".into(),
                    remedy: "leave the bag out".into(),
                });
            }
            let first = cells.len();
            let n_groups = instances.len().div_ceil(LANES);
            cells.resize(first + n_groups * LANES * width, f64::INFINITY);
            for (at, instance) in instances.clone().enumerate() {
                for (place, &column) in columns.iter().enumerate() {
                    let cell = bags.instances().get(instance, column);
                    if cell.is_nan() || cell.abs() > LARGEST {
                        return Err(Error::Cell {
                            name: bags.rows().name().into(),
                            row: bag,
                            column: bags.attributes()[column].name.clone(),
                            found: cell,
                            expected: "a number within ±1e100 in every instance, for distances",
                            remedy: "leave the bag out, or measure the column in another unit",
                        });
                    }
                    let group = first + at / LANES * LANES * width;
                    cells[group + place * LANES + at % LANES] = cell;
                }
            }
            starts.push(starts[bag] + n_groups);
            sizes.push(instances.len());
        }
        Ok(LaidBags { width, starts, sizes, cells })
    }

    /// Whether squared distances vanish, because no number is far enough from 0.
    pub(crate) fn vanish(&self) -> bool {
        let largest =
            |max: f64, cell: &f64| if cell.is_finite() { max.max(cell.abs()) } else { max };
        let largest = self.cells.iter().fold(0.0, largest);
        largest > 0.0 && largest < SMALLEST
    }

    pub(crate) fn n_bags(&self) -> usize {
        self.sizes.len()
    }

    /// The bags named, in that order.
    pub(crate) fn select(&self, bags: &[usize]) -> LaidBags {
        let mut chosen =
            LaidBags { width: self.width, starts: vec![0], sizes: vec![], cells: vec![] };
        for &bag in bags {
            chosen.cells.extend_from_slice(self.groups(bag));
            chosen.sizes.push(self.sizes[bag]);
            let n_groups = self.starts[bag + 1] - self.starts[bag];
            chosen.starts.push(chosen.starts[chosen.starts.len() - 1] + n_groups);
        }
        chosen
    }

    fn groups(&self, bag: usize) -> &[f64] {
        let size = LANES * self.width;
        &self.cells[self.starts[bag] * size..self.starts[bag + 1] * size]
    }

    /// The distance of each bag to each of `others`, row by row.
    pub(crate) fn distances(&self, others: &LaidBags) -> Vec<f64> {
        let row =
            |bag: usize| (0..others.n_bags()).map(move |other| self.distance(bag, others, other));
        (0..self.n_bags()).into_par_iter().flat_map_iter(row).collect()
    }

    /// The distance of each bag to each earlier one.
    pub(crate) fn all_pairs(&self) -> Pairs {
        let row = |bag: usize| (0..bag).map(move |other| self.distance(bag, self, other));
        // Later rows are longer. Small portions keep a thread from computing the last ones alone.
        let cells = (0..self.n_bags()).into_par_iter().with_max_len(8).flat_map_iter(row).collect();
        Pairs { n: self.n_bags(), cells }
    }

    fn distance(&self, bag: usize, others: &LaidBags, other: usize) -> f64 {
        vectorized(
            #[inline(always)]
            || {
                let mut instance = vec![0.0; self.width];
                let mut nearest =
                    vec![[f64::INFINITY; LANES]; others.starts[other + 1] - others.starts[other]];
                let mut farthest: f64 = 0.0;
                for at in 0..self.sizes[bag] {
                    let group = &self.groups(bag)[at / LANES * LANES * self.width..];
                    for (cell, lanes) in instance.iter_mut().zip(group.chunks_exact(LANES)) {
                        *cell = lanes[at % LANES];
                    }
                    let mut least = [f64::INFINITY; LANES];
                    let groups = others.groups(other).chunks_exact((LANES * self.width).max(1));
                    for (group, nearest) in groups.zip(&mut nearest) {
                        let squares = squares(&instance, group);
                        let both = least.iter_mut().zip(nearest.iter_mut());
                        for (square, (least, nearest)) in squares.iter().zip(both) {
                            *least = square.min(*least);
                            *nearest = square.min(*nearest);
                        }
                    }
                    farthest = farthest.max(least.into_iter().fold(f64::INFINITY, f64::min));
                }
                let theirs = nearest.as_flattened().iter().take(others.sizes[other]);
                theirs.fold(farthest, |max, &square| square.max(max)).sqrt()
            },
        )
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, width: usize) -> bool {
        let fits = |bag: usize| {
            self.sizes[bag] > 0
                && Some(self.sizes[bag].div_ceil(LANES))
                    == self.starts[bag + 1].checked_sub(self.starts[bag])
        };
        let n_groups = self.starts.last().copied().unwrap_or(0);
        self.width == width
            && self.starts.first() == Some(&0)
            && self.starts.len() == self.sizes.len() + 1
            && (0..self.sizes.len()).all(fits)
            && n_groups.checked_mul(LANES * width) == Some(self.cells.len())
    }
}

/// Squared distances of one instance to eight, summed in column order.
#[inline(always)]
fn squares(instance: &[f64], group: &[f64]) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for (cell, lanes) in instance.iter().zip(group.chunks_exact(LANES)) {
        for (square, other) in squares.iter_mut().zip(lanes) {
            let difference = cell - other;
            *square += difference * difference;
        }
    }
    squares
}

/// The distance of every pair of things.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairs {
    n: usize,
    /// The distances of each thing to the earlier ones, one thing after the other.
    cells: Vec<f64>,
}

impl Pairs {
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        if low == high { 0.0 } else { self.cells[high * (high - 1) / 2 + low] }
    }
}
