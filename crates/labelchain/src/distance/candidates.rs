//! Training rows that may be among the nearest to a row, found by products in single precision.
//!
//! Which rows are the nearest is decided by sums of terms in double precision. Nearly all training rows
//! are so far that a coarse bound proves it, and a bound need not be computed in the way that the sum is:
//! |x - v|² = |x|² + |v|² - 2 x·v is a matrix product, and in single precision a SIMD register holds twice
//! as many numbers. With u = 2⁻²⁴, the cells of both rows and |v|² are rounded to single precision, which
//! is wrong by u each; each of w products by u; and their sum by w u times the sum of the magnitudes. With
//! S = |x|² + |v|² ≥ 2 Σ|xᵢ vᵢ| that is less than 2 (w + 5) u S. We take ε = 4 (w + 8) u, so that
//!
//! |x|² + |v|² - 2 x·v - ε S ≤ distance ≤ |x|² + |v|² - 2 x·v + ε S,
//!
//! with room for the rounding of the bounds themselves, and of everything in double precision. The error
//! is one of the row's own: an outlier among the training rows blurs nothing but its own distance.
//!
//! Rows are compared a tile at a time, and of each tile only those are kept that may be among the nearest
//! so far. So the table of all products, which grows with the training rows, is never made.

use rayon::prelude::*;

use super::Encoded;
use crate::data::Matrix;
use crate::prepare::stored_cells;
use crate::product::{multiply_single, vectorized};

/// A training row, and what its squared distance is at least and at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) row: u32,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

/// Rows to be labelled that are compared with a tile of training rows at once, at most.
const QUERIES_AT_ONCE: usize = 48;

/// Training rows of a tile: its products with the queries fit into the L2 cache. It is no power of
/// two, because lines that are so far apart would share a few places of the L1 cache.
const TILE: usize = 1008;

/// Dense training rows in single precision, tile by tile. A tile has a line for each column with the cells
/// of its rows, and a last line with what |v|² adds to the lower bound, so that one product gives all of
/// it.
pub(super) struct SingleTiles(Vec<f32>);

impl SingleTiles {
    fn of(train: &Encoded, relative_error: f64) -> SingleTiles {
        let width = train.features.n_columns();
        let mut tiles = vec![0.0; train.squared_norms.len() * (width + 1)];
        for (tile, lines) in tiles.chunks_mut(TILE * (width + 1)).enumerate() {
            let n_rows = lines.len() / (width + 1);
            for at in 0..n_rows {
                let row = tile * TILE + at;
                for (column, value) in train.features.entries(row) {
                    lines[column * n_rows + at] = value as f32;
                }
                let square = train.squared_norms[row] * (1.0 - relative_error);
                lines[width * n_rows + at] = square as f32;
            }
        }
        SingleTiles(tiles)
    }
}

impl Encoded<'_> {
    /// For each of these rows the training rows that may be among the `n_nearest` nearest: every training
    /// row that is no farther than the greatest upper bound of the first `n_nearest` of them, by ascending
    /// lower bound. None where a square is too large for single precision.
    pub(super) fn candidates(&self, train: &Encoded, n_nearest: usize) -> Vec<Option<Vec<Bounds>>> {
        let n = self.squared_norms.len();
        // As many batches as threads at least, and none of a few queries left over.
        let n_batches = n.div_ceil(QUERIES_AT_ONCE).max(rayon::current_num_threads());
        let n_in_batch = n.div_ceil(n_batches).max(1);
        let batches = (0..n).into_par_iter().step_by(n_in_batch);
        let of_batch = |start: usize| {
            let rows = start..n.min(start + n_in_batch);
            let mut searches: Vec<Search> =
                rows.clone().map(|row| Search::new(self, row, train, n_nearest)).collect();
            match (&*self.features, &*train.features) {
                (Matrix::Dense(_), Matrix::Dense(_)) => self.search_dense(train, &mut searches),
                _ => self.search_sparse(train, &mut searches),
            }
            searches.into_iter().map(Search::finish)
        };
        batches.flat_map_iter(of_batch).collect()
    }

    fn search_dense(&self, train: &Encoded, searches: &mut [Search]) {
        let width = self.features.n_columns() + 1;
        let relative_error = relative_error(width - 1);
        let tiles = train.single_tiles.get_or_init(|| SingleTiles::of(train, relative_error));
        // -2 x, and 1 for the line of |v|².
        let mut queries = vec![0.0; searches.len() * width];
        for (query, search) in queries.chunks_mut(width).zip(&*searches) {
            query[width - 1] = 1.0;
            for (column, value) in self.features.entries(search.query) {
                query[column] = (-2.0 * value) as f32;
            }
        }
        let mut products = vec![0.0; searches.len() * TILE];
        for (tile, lines) in tiles.0.chunks(TILE * width).enumerate() {
            let n_rows = lines.len() / width;
            let products = &mut products[..searches.len() * n_rows];
            multiply_single(&queries, lines, products, n_rows, width);
            for (search, products) in searches.iter_mut().zip(products.chunks(n_rows)) {
                search.offer(tile * TILE, products);
            }
        }
    }

    /// The products of sparse rows are summed over the columns that x stores: a training row that stores
    /// none of them costs nothing.
    fn search_sparse(&self, train: &Encoded, searches: &mut [Search]) {
        let columns = train.columns.get_or_init(|| stored_cells(&train.features));
        for search in searches {
            let kept = 1.0 - search.relative_error;
            let squares = train.squared_norms.iter().map(|&square| (square * kept) as f32);
            let mut lower: Vec<f32> = squares.collect();
            for (column, x) in self.features.entries(search.query) {
                let x = (-2.0 * x) as f32;
                let add = |&(v, row): &(f64, u32)| lower[row as usize] += x * v as f32;
                columns[column].iter().for_each(add);
            }
            search.offer(0, &lower);
        }
    }
}

/// ε for rows of so many cells.
fn relative_error(n_cells: usize) -> f64 {
    // EPSILON is 2 u.
    2.0 * (n_cells as f64 + 8.0) * f64::from(f32::EPSILON)
}

/// The training rows that may be among the nearest to one row, of those that were offered so far.
///
/// A training row is offered by its *partial* bound (1 - ε) |v|² - 2 x·v: its lower bound without what is
/// the same for all training rows.
struct Search<'t> {
    /// The row of the block.
    query: usize,
    n_nearest: usize,
    /// ε.
    relative_error: f64,
    /// |x|².
    squared_norm: f64,
    /// |v|² of every training row.
    squared_norms: &'t [f64],
    /// Partial bounds and rows, as [`sort_key`] puts them together.
    found: Vec<i64>,
    /// A row with a greater partial bound is farther than `n_nearest` others; not a number where a square
    /// is too large for single precision.
    limit: f32,
    /// With so many rows found, it is time to lower the limit.
    tightens_at: usize,
}

impl<'t> Search<'t> {
    fn new(queries: &Encoded, query: usize, train: &'t Encoded, n_nearest: usize) -> Search<'t> {
        let squared_norm = queries.squared_norms[query];
        let is_in_range = squared_norm + train.greatest_squared_norm < f64::from(f32::MAX).sqrt();
        let tightens_at = 4 * n_nearest;
        Search {
            query,
            n_nearest,
            relative_error: relative_error(queries.features.n_columns()),
            squared_norm,
            squared_norms: &train.squared_norms,
            found: Vec::with_capacity((tightens_at + TILE).min(train.squared_norms.len())),
            limit: if is_in_range { f32::INFINITY } else { f32::NAN },
            tightens_at,
        }
    }

    /// What is the same in the lower bounds of all training rows.
    fn shared(&self) -> f64 {
        (1.0 - self.relative_error) * self.squared_norm - self.underflow()
    }

    /// What products too small to be stored as they are may add: less than [`f32::MIN_POSITIVE`] each.
    fn underflow(&self) -> f64 {
        let n_cells = self.relative_error / f64::from(f32::EPSILON);
        n_cells * f64::from(f32::MIN_POSITIVE)
    }

    fn bounds(&self, (partial, row): (f32, u32)) -> Bounds {
        let lower = self.shared() + f64::from(partial);
        let squares = self.squared_norm + self.squared_norms[row as usize];
        let upper = lower + 2.0 * (self.relative_error * squares + self.underflow());
        Bounds { row, lower, upper }
    }

    /// Keeps those of the training rows from `first` on that may be among the nearest.
    fn offer(&mut self, first: usize, partial: &[f32]) {
        const AT_ONCE: usize = 32;
        let (limit, found) = (self.limit, &mut self.found);
        let (many, few) = partial.as_chunks::<AT_ONCE>();
        vectorized(
            #[inline(always)]
            || {
                for (at, bounds) in many.iter().enumerate() {
                    // SIMD code compares all bounds at once and makes a bit of each; a branch for each bound would
                    // often be predicted wrongly.
                    let mut is_within = 0u32;
                    for (place, &bound) in bounds.iter().enumerate() {
                        is_within |= u32::from(bound <= limit) << place;
                    }
                    while is_within != 0 {
                        let place = is_within.trailing_zeros() as usize;
                        is_within &= is_within - 1;
                        let row = (first + at * AT_ONCE + place) as u32;
                        found.push(sort_key((bounds[place], row)));
                    }
                }
            },
        );
        for (row, &bound) in (first + many.as_flattened().len()..).zip(few) {
            if bound <= limit {
                found.push(sort_key((bound, row as u32)));
            }
        }
        if self.found.len() >= self.tightens_at {
            self.tighten();
        }
    }

    /// At least `n_nearest` rows are no farther than the greatest upper bound of any `n_nearest` rows.
    fn tighten(&mut self) {
        if self.found.len() <= self.n_nearest {
            return;
        }
        self.found.select_nth_unstable(self.n_nearest - 1);
        let nearest = self.found[..self.n_nearest].iter();
        let upper = nearest.map(|&key| self.bounds(of_sort_key(key)).upper).fold(0.0, f64::max);
        // Conversion rounds to the nearest number, which may be less.
        let limit = ((upper - self.shared()) as f32).next_up();
        self.limit = limit;
        self.found.retain(|&key| of_sort_key(key).0 <= limit);
        // Where many rows are equally far, they are not gone through for every tile.
        self.tightens_at = (2 * self.found.len()).max(4 * self.n_nearest);
    }

    fn finish(mut self) -> Option<Vec<Bounds>> {
        if self.limit.is_nan() {
            return None;
        }
        self.tighten();
        self.found.sort_unstable();
        Some(self.found.iter().map(|&key| self.bounds(of_sort_key(key))).collect())
    }
}

/// One number for a partial bound and its row, in the order of `f32::total_cmp` and then of rows: such
/// numbers are sorted faster than pairs.
#[inline(always)]
fn sort_key((partial, row): (f32, u32)) -> i64 {
    let bits = partial.to_bits().cast_signed();
    // Of negative numbers, that with the greater magnitude comes first.
    let ordered = bits ^ (bits >> 31 & i32::MAX);
    i64::from(ordered) << 32 | i64::from(row)
}

/// The partial bound and the row of a key.
fn of_sort_key(key: i64) -> (f32, u32) {
    let ordered = (key >> 32) as i32;
    let bits = ordered ^ (ordered >> 31 & i32::MAX);
    (f32::from_bits(bits.cast_unsigned()), key as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_bounds_and_then_of_rows() {
        let bounds = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 3.0, f32::INFINITY];
        let found = bounds.iter().flat_map(|&bound| [0, 7, u32::MAX].map(|row| (bound, row)));
        let keys: Vec<i64> = found.clone().map(sort_key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        let bits = |(bound, row): (f32, u32)| (bound.to_bits(), row);
        assert!(keys.into_iter().map(of_sort_key).map(bits).eq(found.map(bits)));
    }
}
