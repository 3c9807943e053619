//! How alike are two rows? A function of their squared distance, row by row of a table that is kept
//! whole where there is room, and otherwise as far as there is.

use serde::{Deserialize, Serialize};

use super::training_rows::Problem;
use crate::error::{Error, Result};
use crate::product::{exponentials, vectorized};

/// What likeness means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kernel {
    /// x · v: the classes are told apart by a plane.
    Linear,
    /// exp(-γ |x - v|²).
    Rbf {
        /// γ: how fast likeness falls, above 0; 1 over the number of inputs if none.
        gamma: Option<f64>,
    },
}

impl Kernel {
    /// With γ settled, for rows of so many numbers.
    pub(super) fn likeness(&self, width: usize) -> Result<Likeness> {
        match *self {
            Kernel::Linear => Ok(Likeness::Linear),
            Kernel::Rbf { gamma } => {
                let gamma = gamma.unwrap_or(1.0 / width.max(1) as f64);
                if !(gamma > 0.0 && gamma.is_finite()) {
                    let (name, value) = ("gamma", gamma.to_string());
                    return Err(Error::Setting { name, value, accepted: "above 0" });
                }
                Ok(Likeness::Rbf { gamma })
            }
        }
    }
}

/// A kernel as a function of the squared distance D alone.
///
/// The linear one is -D / 2, which is x · v less |x|² / 2 and |v|² / 2: the weights of a machine
/// add up to 0, so that the first falls out of every decision, and the second is the same for all
/// rows and goes into the threshold. A decided label, a further input of 0 or 1, adds 1 to D where
/// it disagrees, for both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Likeness {
    Linear,
    Rbf { gamma: f64 },
}

/// Numbers that are worked on side by side: so many that a compiler makes a loop of vectors of them,
/// and does not write them out one by one.
pub(super) const LANES: usize = 64;

/// So many, and as many more as fill the last group of lanes.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

impl Likeness {
    #[inline(always)]
    fn of(self, distances: &mut [f64; LANES]) {
        match self {
            Likeness::Linear => distances.iter_mut().for_each(|distance| *distance *= -0.5),
            Likeness::Rbf { gamma } => {
                distances.iter_mut().for_each(|distance| *distance *= -gamma);
                exponentials(distances);
            }
        }
    }

    /// Turns distances into likenesses.
    pub(super) fn turn<T: Copy + Into<f64> + Narrow>(self, distances: &mut [T]) {
        vectorized(
            #[inline(always)]
            || {
                let (groups, rest) = distances.as_chunks_mut::<LANES>();
                for group in groups {
                    let mut lanes = [0.0; LANES];
                    (0..LANES).for_each(|lane| lanes[lane] = group[lane].into());
                    self.of(&mut lanes);
                    (0..LANES).for_each(|lane| group[lane] = T::narrow(lanes[lane]));
                }
                let mut lanes = [0.0; LANES];
                lanes.iter_mut().zip(&*rest).for_each(|(lane, &cell)| *lane = cell.into());
                self.of(&mut lanes);
                rest.iter_mut().zip(lanes).for_each(|(cell, lane)| *cell = T::narrow(lane));
            },
        );
    }

    /// How like a row is to itself.
    pub(super) fn of_equals(self) -> f64 {
        match self {
            Likeness::Linear => 0.0,
            Likeness::Rbf { .. } => 1.0,
        }
    }

    /// Whether γ is one, as it is unless it comes from a file.
    pub(super) fn is_sound(self) -> bool {
        match self {
            Likeness::Linear => true,
            Likeness::Rbf { gamma } => gamma > 0.0 && gamma.is_finite(),
        }
    }
}

/// Numbers that likenesses are stored in.
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

/// Where likenesses come from.
pub(super) enum Source<'a> {
    /// A table of all of them, row by row, each padded.
    Whole(&'a [f32]),
    /// Distances, turned when somebody asks.
    Distances(&'a Problem<'a>, Likeness),
}

/// The rows of a kernel, on all of its columns or some of them. What is computed is kept while
/// there is room, and the row not used for the longest time makes way.
pub(super) struct Rows<'a> {
    source: Source<'a>,
    n_rows: usize,
    /// Bytes to keep rows in.
    memory: usize,
    /// The rows, and at once columns, that are looked at.
    places: Vec<usize>,
    kept: Vec<Vec<f32>>,
    n_kept: usize,
    used: Vec<u64>,
    clock: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn new(source: Source<'a>, n_rows: usize, memory: usize) -> Rows<'a> {
        let (places, kept, used) = Default::default();
        let mut rows = Rows { source, n_rows, memory, places, kept, n_kept: 0, used, clock: 0 };
        rows.look_at((0..n_rows).collect());
        rows
    }

    /// Which rows are looked at.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Looks at these rows and columns only.
    pub(super) fn look_at(&mut self, places: Vec<usize>) {
        self.kept = vec![Vec::new(); places.len()];
        self.used = vec![0; places.len()];
        self.n_kept = 0;
        self.places = places;
    }

    /// The whole table, where it is there as it is wanted.
    fn table(&self) -> Option<&'a [f32]> {
        match self.source {
            Source::Whole(table) if self.places.len() == self.n_rows => Some(table),
            _ => None,
        }
    }

    /// Makes sure of a row. The last two made sure of are there at the same time.
    pub(super) fn load(&mut self, at: usize) {
        if self.table().is_some() {
            return;
        }
        self.clock += 1;
        self.used[at] = self.clock;
        if !self.kept[at].is_empty() {
            return;
        }
        let width = padded(self.places.len());
        let mut row = match self.n_kept < (self.memory / (4 * width)).max(2) {
            true => Vec::with_capacity(width),
            false => self.give_up_oldest(),
        };
        self.n_kept += 1;
        match &self.source {
            Source::Whole(table) => {
                let start = self.places[at] * padded(self.n_rows);
                row.extend(self.places.iter().map(|place| table[start + place]));
            }
            Source::Distances(problem, likeness) => {
                problem.distances(self.places[at], &self.places, &mut row);
                likeness.turn(&mut row);
            }
        }
        row.resize(width, 0.0);
        self.kept[at] = row;
    }

    fn give_up_oldest(&mut self) -> Vec<f32> {
        let held = (0..self.kept.len()).filter(|&at| !self.kept[at].is_empty());
        let oldest = held.min_by_key(|&at| self.used[at]);
        let mut row = oldest.map_or(Vec::new(), |at| std::mem::take(&mut self.kept[at]));
        self.n_kept -= 1;
        row.clear();
        row
    }

    /// A row that was made sure of, padded.
    pub(super) fn get(&self, at: usize) -> &[f32] {
        let width = padded(self.n_rows);
        match self.table() {
            Some(table) => &table[at * width..(at + 1) * width],
            None => &self.kept[at],
        }
    }
}
