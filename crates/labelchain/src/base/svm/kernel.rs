//! Kernel functions of a squared distance, and the rows of a kernel matrix, which are kept as far
//! as there is memory and computed again otherwise.

use serde::{Deserialize, Serialize};

use super::training_rows::Problem;
use crate::error::{Error, Result};
use crate::product::{exponentials, vectorized};

/// The kernel: how similar two rows are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kernel {
    /// x · v: the classes are separated by a hyperplane.
    Linear,
    /// exp(-γ |x - v|²).
    Rbf {
        /// γ: how fast the kernel falls with distance, above 0; 1 over the number of inputs if
        /// none.
        gamma: Option<f64>,
    },
}

impl Kernel {
    /// The kernel as a function of distances, with γ chosen for rows of so many numbers if it is
    /// none.
    pub(super) fn function(&self, width: usize) -> Result<KernelFunction> {
        match *self {
            Kernel::Linear => Ok(KernelFunction::Linear),
            Kernel::Rbf { gamma } => {
                let gamma = gamma.unwrap_or(1.0 / width.max(1) as f64);
                if !(gamma > 0.0 && gamma.is_finite()) {
                    let (name, value) = ("gamma", gamma.to_string());
                    return Err(Error::Setting { name, value, accepted: "above 0" });
                }
                Ok(KernelFunction::Rbf { gamma })
            }
        }
    }
}

/// A kernel as a function of the squared distance D = |x - v|² alone.
///
/// The linear kernel x · v is replaced by -D / 2 = x · v - |x|² / 2 - |v|² / 2. The decisions
/// Σ w_v k(x, v) + b stay the same: the weights w_v add up to 0, so |x|² / 2 cancels, and
/// Σ w_v |v|² / 2 is the same for all x and becomes part of the bias b. A label decided earlier in
/// a chain is a further input of 0 or 1, which adds 1 to D where two rows disagree, in either
/// kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum KernelFunction {
    Linear,
    Rbf { gamma: f64 },
}

/// Numbers that are computed on together in SIMD registers. There are more than one register holds,
/// so that the compiler emits a loop over registers and does not unroll it into single numbers.
pub(super) const LANES: usize = 64;

/// The next multiple of [`LANES`]: rows are padded to it, so that loops have no remainder.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

impl KernelFunction {
    /// Replaces distances by kernel values.
    #[inline(always)]
    fn apply_to_lanes(self, distances: &mut [f64; LANES]) {
        match self {
            KernelFunction::Linear => distances.iter_mut().for_each(|distance| *distance *= -0.5),
            KernelFunction::Rbf { gamma } => {
                distances.iter_mut().for_each(|distance| *distance *= -gamma);
                exponentials(distances);
            }
        }
    }

    /// Replaces squared distances by kernel values.
    pub(super) fn apply<T: Copy + Into<f64> + Narrow>(self, distances: &mut [T]) {
        vectorized(
            #[inline(always)]
            || {
                let (groups, rest) = distances.as_chunks_mut::<LANES>();
                for group in groups {
                    let mut lanes = [0.0; LANES];
                    (0..LANES).for_each(|lane| lanes[lane] = group[lane].into());
                    self.apply_to_lanes(&mut lanes);
                    (0..LANES).for_each(|lane| group[lane] = T::narrow(lanes[lane]));
                }
                let mut lanes = [0.0; LANES];
                lanes.iter_mut().zip(&*rest).for_each(|(lane, &cell)| *lane = cell.into());
                self.apply_to_lanes(&mut lanes);
                rest.iter_mut().zip(lanes).for_each(|(cell, lane)| *cell = T::narrow(lane));
            },
        );
    }

    /// The value at distance 0, which is on the diagonal of every kernel matrix.
    pub(super) fn diagonal(self) -> f64 {
        match self {
            KernelFunction::Linear => 0.0,
            KernelFunction::Rbf { .. } => 1.0,
        }
    }

    /// Whether γ is in its range, as it is unless it comes from a file.
    pub(super) fn is_sound(self) -> bool {
        match self {
            KernelFunction::Linear => true,
            KernelFunction::Rbf { gamma } => gamma > 0.0 && gamma.is_finite(),
        }
    }
}

/// A type that kernel values are stored in.
pub(super) trait Narrow {
    fn narrow(number: f64) -> Self;
}

impl Narrow for f32 {
    #[inline(always)]
    fn narrow(number: f64) -> f32 {
        number as f32
    }
}

impl Narrow for f64 {
    #[inline(always)]
    fn narrow(number: f64) -> f64 {
        number
    }
}

/// Where kernel values come from.
pub(super) enum KernelSource<'a> {
    /// The whole kernel matrix, row by row, each row padded.
    Matrix(&'a [f32]),
    /// Squared distances, to which the kernel function is applied when a row is loaded.
    Distances(&'a Problem<'a>, KernelFunction),
}

/// The rows of a kernel matrix, restricted to its active rows and columns. Rows are cached; where
/// there is no memory for another, it replaces the one that was not used for the longest time.
pub(super) struct KernelRows<'a> {
    source: KernelSource<'a>,
    n_rows: usize,
    /// Bytes for cached rows.
    memory: usize,
    /// The active rows of the matrix, which are its active columns, too.
    active: Vec<usize>,
    /// By active row; empty if it is not cached.
    cached: Vec<Vec<f32>>,
    n_cached: usize,
    /// The time at which each active row was last loaded.
    last_used: Vec<u64>,
    clock: u64,
}

impl<'a> KernelRows<'a> {
    pub(super) fn new(source: KernelSource<'a>, n_rows: usize, memory: usize) -> KernelRows<'a> {
        let (active, cached, last_used) = Default::default();
        let (n_cached, clock) = (0, 0);
        let mut rows =
            KernelRows { source, n_rows, memory, active, cached, n_cached, last_used, clock };
        rows.set_active((0..n_rows).collect());
        rows
    }

    /// The active rows.
    pub(super) fn active(&self) -> &[usize] {
        &self.active
    }

    /// Restricts the matrix to these rows and columns. Rows are numbered among them from now on.
    pub(super) fn set_active(&mut self, active: Vec<usize>) {
        self.cached = vec![Vec::new(); active.len()];
        self.last_used = vec![0; active.len()];
        self.n_cached = 0;
        self.active = active;
    }

    /// The kernel matrix, if it is there and all rows are active, so that rows need no copies.
    fn whole_matrix(&self) -> Option<&'a [f32]> {
        match self.source {
            KernelSource::Matrix(matrix) if self.active.len() == self.n_rows => Some(matrix),
            _ => None,
        }
    }

    /// Makes a row available to [`KernelRows::get`]. The last two rows loaded are available
    /// together.
    pub(super) fn load(&mut self, at: usize) {
        if self.whole_matrix().is_some() {
            return;
        }
        self.clock += 1;
        self.last_used[at] = self.clock;
        if !self.cached[at].is_empty() {
            return;
        }
        let width = padded(self.active.len());
        let has_room = self.n_cached < (self.memory / (4 * width)).max(2);
        let mut row = if has_room { Vec::with_capacity(width) } else { self.evict_oldest() };
        self.n_cached += 1;
        match &self.source {
            KernelSource::Matrix(matrix) => {
                let start = self.active[at] * padded(self.n_rows);
                row.extend(self.active.iter().map(|column| matrix[start + column]));
            }
            KernelSource::Distances(problem, kernel) => {
                problem.distances(self.active[at], &self.active, &mut row);
                kernel.apply(&mut row);
            }
        }
        row.resize(width, 0.0);
        self.cached[at] = row;
    }

    /// Removes the row that was not used for the longest time, and returns its memory.
    fn evict_oldest(&mut self) -> Vec<f32> {
        let cached = (0..self.cached.len()).filter(|&at| !self.cached[at].is_empty());
        let oldest = cached.min_by_key(|&at| self.last_used[at]);
        let mut row = oldest.map_or(Vec::new(), |at| std::mem::take(&mut self.cached[at]));
        self.n_cached -= 1;
        row.clear();
        row
    }

    /// A row that was loaded, padded.
    pub(super) fn get(&self, at: usize) -> &[f32] {
        let width = padded(self.n_rows);
        match self.whole_matrix() {
            Some(matrix) => &matrix[at * width..(at + 1) * width],
            None => &self.cached[at],
        }
    }
}
