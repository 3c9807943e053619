//! Squared distances from rows to be labelled to every training row.
//!
//! The members of an ensemble are fitted on some of the training rows each, so one block of
//! distances to all training rows serves every member. A numeric input adds its squared difference,
//! a nominal one 0 or 1; where either cell is missing a nominal input adds 1 and a numeric one 2,
//! the expected squared difference of two independent standardized values (docs/methods.md, 2).

mod candidates;
mod column_blocks;
mod memberships;
mod ranking;
mod spare;
mod term_sums;

pub use column_blocks::{ColumnBlocks, Metric};
pub(crate) use memberships::GROUP_ROWS;
pub use memberships::Memberships;
pub use ranking::{Needs, Ranked, Ranking, Rankings};

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::data::{Attribute, Dataset, LabelMatrix, Matrix};
use crate::error::Result;
use crate::prepare::{Prepared, one_hot, stored_cells};
use crate::product::{ROWS_AT_ONCE, multiply_rows, vectorized};
use candidates::{Bounds, SingleTiles};
use memberships::scale_rows;
use ranking::{N_NEAREST, OwnRankings};
use spare::SpareTables;
use term_sums::TermSums;

/// Standardized training rows, laid out for distances.
pub struct Neighbourhood<'d> {
    attributes: &'d [Attribute],
    features: &'d Matrix,
    /// The rows for distances by matrix product; none where a cell is missing, because the product
    /// cannot treat it apart.
    encoded: Option<Encoded<'d>>,
    /// The stored (value, row) of every column of sparse rows, once column blocks are asked for.
    columns: OnceLock<Vec<Vec<(f64, u32)>>>,
    /// The rows laid out for distances that are summed term by term, once a ranking is asked for.
    term_sums: OnceLock<Arc<TermSums>>,
    /// The tables of blocks that were measured before.
    spare: Arc<SpareTables>,
    /// Where the rankings of the rows among themselves are kept; none where nobody asks twice.
    own_rankings: Option<&'d OwnRankings>,
    max_memory: u64,
}

/// Distances measured at a time at most: their memory must not grow with the training rows.
const MAX_DISTANCES: usize = 1 << 22;

/// Memberships that are computed at a time, unless those of 64 rows are more: these 8 MB stay in the L3 cache, which
/// all threads share.
const MAX_CACHED: usize = 1 << 20;

/// Rows measured at a time where nobody asks for memberships.
const BLOCK: usize = 256;

/// Training rows of a tile, or up to twice as many: their products with [`ROWS_AT_ONCE`] rows stay in the L2 cache
/// until distances are made of them.
const TILE: usize = 1024;

/// Rows as vectors whose squared Euclidean distance is the distance of the rows: numeric inputs as
/// they are, nominal ones as one-hot indicators divided by √2, so that two different values are
/// 1/2 + 1/2 = 1 apart.
struct Encoded<'d> {
    features: Cow<'d, Matrix>,
    /// |x|² of every row.
    squared_norms: Vec<f64>,
    /// The greatest of them.
    greatest_squared_norm: f64,
    /// The stored (value, row) of every column, once sparse rows are measured against these.
    columns: OnceLock<Vec<Vec<(f64, u32)>>>,
    /// Dense rows in single precision, once candidates for the nearest of them are searched for.
    single_tiles: OnceLock<SingleTiles>,
}

impl Neighbourhood<'_> {
    /// Lays out the rows of `data`.
    pub fn of(data: &Dataset) -> Result<Neighbourhood<'_>> {
        Neighbourhood::new(data.attributes(), data.features())
    }

    /// Lays out the rows of a training set.
    pub fn of_prepared(train: &Prepared) -> Result<Neighbourhood<'_>> {
        let rows = Neighbourhood::of(train.data())?.within(train.memory().limit());
        Ok(Neighbourhood { own_rankings: train.kept(), ..rows })
    }

    /// Lays out rows of inputs.
    pub fn new<'d>(attributes: &'d [Attribute], features: &'d Matrix) -> Result<Neighbourhood<'d>> {
        let encoded = Encoded::new(attributes, features)?;
        Ok(Neighbourhood {
            attributes,
            features,
            encoded,
            columns: OnceLock::new(),
            term_sums: OnceLock::new(),
            spare: Arc::default(),
            own_rankings: None,
            max_memory: u64::MAX,
        })
    }

    /// The same, with so many bytes for all that the program holds.
    pub fn within(self, max_memory: u64) -> Self {
        Neighbourhood { max_memory, ..self }
    }

    /// How many rows to measure at a time. Their distances, memberships and rankings may take a quarter of the
    /// memory, and there are at most four million distances. Where memberships are asked for, each thread gets at
    /// most the 64 rows of one product, because every member reads the memberships again; more than 64 rows are taken
    /// only if their memberships fit into the L3 cache. What is measured does not depend on it.
    pub fn rows_at_once(&self, with_memberships: bool) -> usize {
        // A distance, a membership, and twice a row with its distance.
        const BYTES: usize = 8 + 8 + 2 * size_of::<Ranked>();
        let n_train = self.n_rows().max(1);
        let of_row = (BYTES * n_train) as u64;
        let wanted = if with_memberships {
            let of_threads = ROWS_AT_ONCE * rayon::current_num_threads();
            (MAX_CACHED / n_train).clamp(ROWS_AT_ONCE, of_threads)
        } else {
            BLOCK
        };
        let at_most = wanted.min(MAX_DISTANCES / n_train).max(1);
        let n_rows = (self.max_memory / 4 / of_row).clamp(1, at_most as u64) as usize;
        // A product of fewer rows than it is given at once takes as long as if they were there.
        if n_rows < ROWS_AT_ONCE { n_rows } else { n_rows / ROWS_AT_ONCE * ROWS_AT_ONCE }
    }

    /// How many training rows.
    pub fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    /// The squared distance of every row of `queries`, which are standardized alike, to every
    /// training row; row by row.
    pub fn distances(&self, queries: &Dataset) -> Result<Vec<f64>> {
        match (&self.encoded, Encoded::new(queries.attributes(), queries.features())?) {
            (Some(train), Some(queries)) => Ok(queries.distances(train)),
            _ => {
                let term_sums = self.term_sums();
                let distances = |row| term_sums.query(queries.features(), row).distances();
                let by_row: Vec<Vec<f64>> =
                    (0..queries.n_rows()).into_par_iter().map(distances).collect();
                Ok(by_row.concat())
            }
        }
    }

    /// How much each training row belongs to the neighbourhood of each row of `queries`, which are
    /// standardized alike, with this β.
    pub fn memberships(&self, queries: &Dataset, decay: f64) -> Result<Memberships> {
        let encoded = Encoded::new(queries.attributes(), queries.features())?;
        let (Some(train), Some(queries)) = (&self.encoded, encoded) else {
            return Ok(Memberships::new(self.distances(queries)?, self.n_rows(), decay));
        };
        let n_rows = queries.squared_norms.len();
        let mut distances = self.spare.take(n_rows * self.n_rows());
        let mut scaled = self.spare.take(n_rows.next_multiple_of(GROUP_ROWS) * self.n_rows());
        // Both are done with a part of the rows, which is many whole groups, while its distances are still in a
        // near cache.
        let part = (ROWS_AT_ONCE * self.n_rows()).max(1);
        let parts = distances.par_chunks_mut(part).zip(scaled.par_chunks_mut(part)).enumerate();
        parts.for_each(|(at, (distances, scaled))| {
            queries.measure(train, at * ROWS_AT_ONCE, distances);
            scale_rows(distances, self.n_rows(), decay, scaled);
        });
        Ok(Memberships::of_tables(distances, scaled, self.n_rows(), decay, &self.spare))
    }

    /// The training rows ranked by their distance to each row of `queries`, as far as `needs` asks
    /// for it.
    ///
    /// Ties are broken by row number, so rounding must not make equal distances differ. The
    /// distances are therefore sums in column order and not matrix products, whose rounding depends
    /// on how the terms are grouped. A product only tells which rows are so near that their sums are
    /// worth computing.
    pub fn rankings(&self, queries: &Dataset, needs: Needs) -> Result<Option<Rankings<'_>>> {
        let rankings = match needs {
            Needs::Nothing => return Ok(None),
            Needs::Inputs => Vec::new(),
            Needs::Ranking => self.rank(queries)?,
        };
        Ok(Some(Rankings { train: self, rankings }))
    }

    /// The same for some rows of `data`. Where these are the training rows themselves, rankings that were
    /// made before are taken again.
    pub(crate) fn rankings_of_rows(
        &self,
        data: &Dataset,
        rows: &[usize],
        needs: Needs,
    ) -> Result<Option<Rankings<'_>>> {
        let is_own = std::ptr::eq(data.features(), self.features) && needs == Needs::Ranking;
        let own = self.own_rankings.filter(|_| is_own);
        let (n_rows, n_inputs) = (self.n_rows(), self.attributes.len());
        let Some(places) = own.and_then(|own| own.places(n_rows, n_inputs, self.max_memory)) else {
            return self.rankings(&data.select(rows), needs);
        };
        let known = |&row: &usize| places[row].get().cloned().map(Ranking::of).map(Arc::new);
        if let Some(rankings) = rows.iter().map(known).collect() {
            return Ok(Some(Rankings { train: self, rankings }));
        }
        let rankings = self.rank(&data.select(rows))?;
        for (&row, ranking) in rows.iter().zip(&rankings) {
            if let Some(nearest) = ranking.rows_to_keep() {
                places[row].get_or_init(|| nearest);
            }
        }
        Ok(Some(Rankings { train: self, rankings }))
    }

    fn rank(&self, queries: &Dataset) -> Result<Vec<Arc<Ranking>>> {
        let (features, n_train) = (queries.features(), self.n_rows());
        let term_sums = self.term_sums();
        let of_all = |row| Arc::new(Ranking::of_all(term_sums.query(features, row)));
        let encoded = Encoded::new(queries.attributes(), features)?;
        let (Some(train), Some(encoded)) = (&self.encoded, &encoded) else {
            return Ok((0..queries.n_rows()).into_par_iter().map(of_all).collect());
        };
        let candidates = encoded.candidates(train, N_NEAREST);
        let ranking = |(row, bounds): (usize, Option<Vec<Bounds>>)| match bounds {
            Some(bounds) => {
                let query = term_sums.query(features, row);
                Arc::new(Ranking::of_candidates(&bounds, n_train, query))
            }
            None => of_all(row),
        };
        Ok(candidates.into_par_iter().enumerate().map(ranking).collect())
    }

    /// The rows laid out for distances that are summed term by term.
    fn term_sums(&self) -> &Arc<TermSums> {
        self.term_sums.get_or_init(|| Arc::new(TermSums::new(self.attributes, self.features)))
    }

    /// Lays out some rows and columns for distances that are summed term by term.
    pub fn column_blocks(&self, rows: &[usize], columns: &[usize], metric: Metric) -> ColumnBlocks {
        let stored = match (self.features, &self.encoded) {
            (Matrix::Dense(_), _) => &[][..],
            (Matrix::Sparse(_), Some(Encoded { features: Cow::Borrowed(_), columns, .. })) => {
                columns.get_or_init(|| stored_cells(self.features))
            }
            (Matrix::Sparse(_), _) => self.columns.get_or_init(|| stored_cells(self.features)),
        };
        ColumnBlocks::new(self.attributes, self.features, stored, rows, columns, metric)
    }
}

impl Encoded<'_> {
    /// Encodes the rows; none where a cell is missing.
    fn new<'d>(attributes: &[Attribute], features: &'d Matrix) -> Result<Option<Encoded<'d>>> {
        let cells = |row| features.entries(row).map(|(_, value)| value);
        if (0..features.n_rows()).any(|row| cells(row).any(f64::is_nan)) {
            return Ok(None);
        }
        let n_values = |attribute: &Attribute| attribute.values().map_or(1, <[String]>::len);
        // Two values are stored as 0 and 1, which already are 1 apart.
        if attributes.iter().all(|attribute| n_values(attribute) <= 2) {
            return Ok(Some(Encoded::of(Cow::Borrowed(features))));
        }
        let mut scale = Vec::new();
        for attribute in attributes {
            match n_values(attribute) {
                n if n > 2 => scale.extend(std::iter::repeat_n(std::f64::consts::FRAC_1_SQRT_2, n)),
                _ => scale.push(1.0),
            }
        }
        let labels = LabelMatrix::empty(features.n_rows(), 0);
        let data = Dataset::new("rows", attributes.to_vec(), features.clone(), vec![], labels)?;
        let features = one_hot(&data)?.features().scaled(&scale);
        Ok(Some(Encoded::of(Cow::Owned(features))))
    }

    fn of(features: Cow<'_, Matrix>) -> Encoded<'_> {
        let squared_norm = |row| features.entries(row).map(|(_, x)| x * x).sum();
        let squared_norms: Vec<f64> = (0..features.n_rows()).map(squared_norm).collect();
        let greatest_squared_norm = squared_norms.iter().copied().fold(0.0, f64::max);
        let columns = OnceLock::new();
        Encoded {
            features,
            squared_norms,
            greatest_squared_norm,
            columns,
            single_tiles: OnceLock::new(),
        }
    }

    /// |x - v|² = |x|² + |v|² - 2 x·v for every row x and training row v; negative results of
    /// rounding are set to 0.
    fn distances(&self, train: &Encoded) -> Vec<f64> {
        let m = train.squared_norms.len();
        let mut distances = vec![0.0; self.squared_norms.len() * m];
        if m == 0 {
            return distances;
        }
        let parts = distances.par_chunks_mut(ROWS_AT_ONCE * m).enumerate();
        parts.for_each(|(at, distances)| self.measure(train, at * ROWS_AT_ONCE, distances));
        distances
    }

    /// The distances of the rows from `start` on, as many as there is place for.
    fn measure(&self, train: &Encoded, start: usize, distances: &mut [f64]) {
        let m = train.squared_norms.len();
        if m == 0 {
            return;
        }
        let rows = start..start + distances.len() / m;
        let norms = &self.squared_norms[rows.clone()];
        let (Matrix::Dense(a), Matrix::Dense(b)) = (&*self.features, &*train.features) else {
            let columns = train.columns.get_or_init(|| stored_cells(&train.features));
            let by_row = distances.par_chunks_mut(m).zip(rows).zip(norms);
            return by_row.for_each(|((distances, row), &norm)| {
                self.sparse_products(row, columns, distances);
                to_distances(distances, norm, &train.squared_norms);
            });
        };
        let width = self.features.n_columns();
        let a = &a.cells()[rows.start * width..rows.end * width];
        // Tiles are of the same width, or one more: a narrow one would be multiplied in another way, and rounded
        // differently.
        let n_tiles = (m / TILE).max(1);
        let first = |tile: usize| tile * m / n_tiles;
        let mut tiles: Vec<Vec<&mut [f64]>> = Vec::new();
        tiles.resize_with(n_tiles, || Vec::with_capacity(norms.len()));
        for mut distances in distances.chunks_mut(m) {
            for (at, tile) in tiles.iter_mut().enumerate() {
                let (here, rest) = distances.split_at_mut(first(at + 1) - first(at));
                tile.push(here);
                distances = rest;
            }
        }
        tiles.into_par_iter().enumerate().for_each_init(Vec::new, |products, (at, tile)| {
            let others = first(at)..first(at + 1);
            let b = &b.cells()[others.start * width..others.end * width];
            products.resize(tile.len().next_multiple_of(ROWS_AT_ONCE) * others.len(), 0.0);
            multiply_rows(a, b, products, others.len(), width);
            let others = &train.squared_norms[others];
            for ((products, &norm), distances) in
                products.chunks_mut(others.len()).zip(norms).zip(tile)
            {
                to_distances(products, norm, others);
                distances.copy_from_slice(products);
            }
        });
    }

    /// x·v for a sparse row x and every training row v, whose stored (value, row) are given by column. It is summed
    /// over the columns that x stores: a training row that stores none of them costs nothing.
    fn sparse_products(&self, row: usize, columns: &[Vec<(f64, u32)>], products: &mut [f64]) {
        products.fill(0.0);
        for (column, x) in self.features.entries(row) {
            columns[column].iter().for_each(|&(v, row)| products[row as usize] += x * v);
        }
    }
}

/// |x - v|² of products x·v, where |x|² is `norm` and |v|² each of the others.
fn to_distances(products: &mut [f64], norm: f64, others: &[f64]) {
    vectorized(
        #[inline(always)]
        || {
            for (product, &other) in products.iter_mut().zip(others) {
                *product = (norm + other - 2.0 * *product).max(0.0);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, ReadOptions, Sparse, parse};
    use crate::seed::Seed;
    use proptest::prelude::*;

    fn read(rows: &str) -> Dataset {
        let header = "@relation 't: -C -1'\n@attribute x numeric\n@attribute c {r,g,b}\n\
                      @attribute y {no,yes}\n@attribute a {0,1}\n@data\n";
        let text = format!("{header}{rows}");
        parse("t.arff".as_ref(), text.as_bytes(), &ReadOptions::default())
            .unwrap()
            .into_rows()
            .unwrap()
    }

    #[test]
    fn distances_are_sums_of_squares_and_mismatches() {
        // From (1, g, yes): to (3, g, no) 4 + 0 + 1; to (1, b, yes) 0 + 1 + 0; to itself 0.
        let dense = "3,g,no,0\n1,b,yes,0\n1,g,yes,0\n";
        let sparse = "{0 3,1 g}\n{0 1,1 b,2 yes}\n{0 1,1 g,2 yes}\n";
        for rows in [dense, sparse] {
            let data = read(rows);
            let train = Neighbourhood::of(&data).unwrap();
            let found = train.distances(&read(rows).select(&[2])).unwrap();
            for (found, expected) in found.iter().zip([5.0, 1.0, 0.0]) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
            assert_eq!(
                train.term_sums().query(read(rows).features(), 2).distances(),
                [5.0, 1.0, 0.0]
            );
        }
    }

    /// Numbers in tenths, names and missing cells, most of them zero; dense, and the same sparse.
    fn thin(n_rows: usize, seed: u64) -> [Dataset; 2] {
        let mut rng = Seed::new(seed).rng();
        let (mut dense, mut sparse) = (Dense::new(12), Sparse::new(12));
        for _ in 0..n_rows {
            let mut cell = |column: usize| match rng.below(6) {
                0..=3 => 0.0,
                4 if rng.chance(0.3) => f64::NAN,
                _ if column < 8 => rng.below(5) as f64 / 10.0,
                _ => rng.below(3) as f64,
            };
            let cells: Vec<f64> = (0..12).map(&mut cell).collect();
            dense.push_row(&cells);
            sparse.push_row(cells.iter().enumerate().map(|(at, &value)| (at as u32, value)));
        }
        [Matrix::Dense(dense), Matrix::Sparse(sparse)].map(|features| {
            let names = || ["r", "g", "b"].map(String::from).to_vec();
            let numeric = (0..8).map(|at| Attribute::numeric(format!("x{at}")));
            let nominal = (8..12).map(|at| Attribute::nominal(format!("x{at}"), names()));
            let labels = LabelMatrix::empty(n_rows, 0);
            Dataset::new("thin", numeric.chain(nominal).collect(), features, vec![], labels)
                .unwrap()
        })
    }

    fn ranked(rankings: &Rankings) -> Vec<Vec<Ranked>> {
        rankings.rankings.iter().map(|ranking| ranking.iter().copied().collect()).collect()
    }

    /// Rows without missing cells that are often equally far: numbers in tenths, all of them moved by
    /// `offset`, and names. A great offset makes products round coarsely.
    fn coarse(n_rows: usize, offset: f64, seed: u64) -> Dataset {
        let mut rng = Seed::new(seed).rng();
        let mut cells = Dense::new(5);
        for _ in 0..n_rows {
            let mut numeric = || offset + rng.below(4) as f64 / 10.0;
            let [x, y, z] = [numeric(), numeric(), numeric()];
            cells.push_row(&[x, rng.below(3) as f64, y, z, rng.below(2) as f64]);
        }
        let names = |n: usize| ["r", "g", "b"].map(String::from)[..n].to_vec();
        let attributes = vec![
            Attribute::numeric("x"),
            Attribute::nominal("c", names(3)),
            Attribute::numeric("y"),
            Attribute::numeric("z"),
            Attribute::nominal("d", names(2)),
        ];
        let labels = LabelMatrix::empty(n_rows, 0);
        Dataset::new("coarse", attributes, Matrix::Dense(cells), vec![], labels).unwrap()
    }

    /// The definition: every term in column order, then all rows sorted.
    fn ranked_plainly(data: &Dataset, query: usize) -> Vec<Ranked> {
        let distance = |row| {
            let mut sum = 0.0;
            for (column, attribute) in data.attributes().iter().enumerate() {
                let [x, v] = [query, row].map(|row| data.features().get(row, column));
                let is_nominal = attribute.values().is_some();
                sum += if is_nominal { f64::from(u8::from(x != v)) } else { (x - v) * (x - v) };
            }
            sum
        };
        let ranked = |row: usize| Ranked { distance: distance(row), row: row as u32 };
        let mut all: Vec<Ranked> = (0..data.n_rows()).map(ranked).collect();
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
        all
    }

    proptest! {
        #[test]
        fn rankings_by_product_and_recheck_are_those_of_the_definition(
            n_rows in 1usize..900, magnitude in -2i32..9, seed: u64,
        ) {
            let data = coarse(n_rows, 10f64.powi(magnitude), seed);
            let sparse = {
                let mut sparse = Sparse::new(5);
                for row in 0..n_rows {
                    let cells = data.features().entries(row);
                    sparse.push_row(cells.map(|(column, value)| (column as u32, value)));
                }
                let (attributes, labels) = (data.attributes().to_vec(), data.labels().clone());
                Dataset::new("s", attributes, Matrix::Sparse(sparse), vec![], labels).unwrap()
            };
            let query = seed as usize % n_rows;
            let expected = ranked_plainly(&data, query);
            for data in [&data, &sparse] {
                let train = Neighbourhood::of(data).unwrap();
                let queries = data.select(&[query]);
                let rankings = train.rankings(&queries, Needs::Ranking).unwrap().unwrap();
                prop_assert_eq!(&ranked(&rankings)[0], &expected);
                let mut beyond = &expected[..];
                for (nearest, radius) in rankings.rankings[0].steps() {
                    prop_assert_eq!(nearest, &beyond[..nearest.len()]);
                    beyond = &beyond[nearest.len()..];
                    prop_assert!(beyond.iter().all(|row| row.distance > radius));
                }
                prop_assert!(expected.len() - beyond.len() >= n_rows.min(N_NEAREST));
            }
        }

        #[test]
        fn bounds_hold_and_are_absent_only_where_squares_are_too_large(
            n_rows in 2usize..40, magnitude in -170i32..150, seed: u64,
        ) {
            let data = coarse(n_rows, 10f64.powi(magnitude), seed);
            let train = Neighbourhood::of(&data).unwrap();
            let encoded = train.encoded.as_ref().unwrap();
            for (row, bounds) in encoded.candidates(encoded, n_rows).into_iter().enumerate() {
                let exact = train.term_sums().query(data.features(), row).distances();
                let Some(bounds) = bounds else {
                    prop_assert!(magnitude > 8);
                    continue;
                };
                prop_assert_eq!(bounds.len(), n_rows);
                for Bounds { row, lower, upper } in bounds {
                    let exact = exact[row as usize];
                    prop_assert!(lower <= exact && exact <= upper, "{} {} {}", lower, exact, upper);
                }
            }
        }

        #[test]
        fn sparse_rows_rank_as_dense_ones_to_the_last_bit(n_rows in 1usize..60, seed: u64) {
            let [dense, sparse] = thin(n_rows, seed).map(|data| {
                ranked(&Neighbourhood::of(&data).unwrap().rankings(&data, Needs::Ranking).unwrap().unwrap())
            });
            prop_assert_eq!(dense, sparse);
        }

        #[test]
        fn a_ranking_does_not_depend_on_the_rows_ranked_with_it(n_rows in 1usize..60, seed: u64) {
            for data in thin(n_rows, seed) {
                let train = Neighbourhood::of(&data).unwrap();
                let together = ranked(&train.rankings(&data, Needs::Ranking).unwrap().unwrap());
                let alone = |row| {
                    let only = data.select(&[row]);
                    ranked(&train.rankings(&only, Needs::Ranking).unwrap().unwrap())
                };
                prop_assert_eq!(together, (0..n_rows).flat_map(alone).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn training_rows_of_several_tiles_are_as_far_as_each_alone() {
        // One tile, two of which one is wider, and two of one and a half times the width.
        for n_train in [1500, 2049, 3071] {
            let data = coarse(n_train, 0.5, n_train as u64);
            let train = Neighbourhood::of(&data).unwrap();
            let queries = data.select(&[0, 7, n_train - 1]);
            let found = train.distances(&queries).unwrap();
            let exact =
                (0..3).flat_map(|row| train.term_sums().query(queries.features(), row).distances());
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < 1e-12, "{found} {exact}");
            }
        }
    }

    #[test]
    fn each_thread_has_rows_to_multiply_unless_training_rows_are_many() {
        let rows = |n_train: usize| {
            let data = Dataset::from_rows(1, &vec![0.0; n_train]).unwrap();
            let rows = Neighbourhood::of(&data).unwrap();
            [true, false].map(|with_memberships| rows.rows_at_once(with_memberships))
        };
        let by_threads = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| [1, 16_384, 100_000].map(rows))
        };
        // 2²⁰ / 16,384 = 64, and 2²² / 100,000 = 41.9.
        let rows = |few| [[few, 256], [64, 256], [41, 41]];
        assert_eq!([1, 4, 5].map(by_threads), [64, 256, 320].map(rows));
    }

    #[test]
    fn less_memory_is_fewer_rows_at_a_time_but_at_least_one() {
        let [data, _] = thin(100, 1);
        let rows =
            |max_memory| Neighbourhood::of(&data).unwrap().within(max_memory).rows_at_once(false);
        // 48 bytes for each of 100 training rows, in a quarter of 192,000: ten rows.
        assert_eq!(rows(192_000), 10);
        assert_eq!((rows(0), rows(u64::MAX)), (1, BLOCK));
    }

    #[test]
    fn a_missing_cell_costs_two_or_one() {
        let data = read("3,g,no,0\n");
        let train = Neighbourhood::of(&data).unwrap();
        assert_eq!(train.distances(&read("?,?,no,0\n")).unwrap(), [3.0]);
        assert_eq!(train.distances(&read("3,g,?,0\n")).unwrap(), [1.0]);
    }
}
