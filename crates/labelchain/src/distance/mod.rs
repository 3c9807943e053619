//! Squared distances from rows to be labelled to every training row.
//!
//! The members of an ensemble are fitted on some of the training rows each, so one block of
//! distances to all training rows serves every member. A numeric input adds its squared difference,
//! a nominal one 0 or 1; where either cell is missing a nominal input adds 1 and a numeric one 2,
//! the expected squared difference of two independent standardized values (docs/methods.md, 2).

mod column_blocks;
mod memberships;
mod ranking;

pub use column_blocks::{ColumnBlocks, Metric};
pub(crate) use memberships::LANES;
pub use memberships::Memberships;
pub use ranking::{Needs, Ranked, Ranking, Rankings};

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::data::{Attribute, Dataset, LabelMatrix, Matrix};
use crate::error::Result;
use crate::prepare::{Prepared, one_hot, stored_cells};
use crate::product::times_transposed;
use column_blocks::Comparison;

/// Standardized training rows, laid out for distances.
pub struct Neighbourhood<'d> {
    attributes: &'d [Attribute],
    features: &'d Matrix,
    /// The rows for distances by matrix product; none where a cell is missing, because the product
    /// cannot treat it apart.
    encoded: Option<Encoded<'d>>,
    /// The stored (value, row) of every column of sparse rows, once column blocks are asked for.
    columns: OnceLock<Vec<Vec<(f64, u32)>>>,
    /// All rows and columns of dense features, once a ranking is asked for.
    all_blocks: OnceLock<ColumnBlocks>,
    max_memory: u64,
}

/// Rows measured at a time where memory does not matter.
pub(crate) const BLOCK: usize = 256;

/// Rows as vectors whose squared Euclidean distance is the distance of the rows: numeric inputs as
/// they are, nominal ones as one-hot indicators divided by √2, so that two different values are
/// 1/2 + 1/2 = 1 apart.
struct Encoded<'d> {
    features: Cow<'d, Matrix>,
    /// |x|² of every row.
    squared_norms: Vec<f64>,
    /// The stored (value, row) of every column, once sparse rows are measured against these.
    columns: OnceLock<Vec<Vec<(f64, u32)>>>,
}

impl Neighbourhood<'_> {
    /// Lays out the rows of `data`.
    pub fn of(data: &Dataset) -> Result<Neighbourhood<'_>> {
        Neighbourhood::new(data.attributes(), data.features())
    }

    /// Lays out the rows of a training set.
    pub fn of_prepared(train: &Prepared) -> Result<Neighbourhood<'_>> {
        Ok(Neighbourhood::of(train.data())?.within(train.memory().limit()))
    }

    /// Lays out rows of inputs.
    pub fn new<'d>(attributes: &'d [Attribute], features: &'d Matrix) -> Result<Neighbourhood<'d>> {
        let encoded = Encoded::new(attributes, features)?;
        let (columns, all_blocks) = (OnceLock::new(), OnceLock::new());
        let max_memory = u64::MAX;
        Ok(Neighbourhood { attributes, features, encoded, columns, all_blocks, max_memory })
    }

    /// The same, with so many bytes for all that the program holds.
    pub fn within(self, max_memory: u64) -> Self {
        Neighbourhood { max_memory, ..self }
    }

    /// How many rows to measure at a time: their distances, memberships and rankings may take a
    /// quarter of the memory. What is measured does not depend on it.
    pub fn rows_at_once(&self) -> usize {
        // A distance, a membership, and twice a row with its distance.
        const BYTES: usize = 8 + 8 + 2 * size_of::<Ranked>();
        let of_row = (BYTES * self.n_rows().max(1)) as u64;
        (self.max_memory / 4 / of_row).clamp(1, BLOCK as u64) as usize
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
                let distances = |query| self.distances_by_term(queries.features(), query);
                Ok((0..queries.n_rows()).flat_map(distances).collect())
            }
        }
    }

    /// The training rows ranked by their distance to each row of `queries`, as far as `needs` asks
    /// for it.
    ///
    /// Ties are broken by row number, so rounding must not make equal distances differ. The
    /// distances are therefore sums in column order and not matrix products, whose rounding depends
    /// on how the terms are grouped.
    pub fn rankings(&self, queries: &Dataset, needs: Needs) -> Option<Rankings<'_>> {
        let distances = |query| self.distances_by_term(queries.features(), query);
        let ranking = |query| Arc::new(Ranking::new(&distances(query)));
        let rankings = match needs {
            Needs::Nothing => return None,
            Needs::Inputs => Vec::new(),
            Needs::Ranking => (0..queries.n_rows()).into_par_iter().map(ranking).collect(),
        };
        Some(Rankings { train: self, rankings })
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

    /// The squared distances of one row to every training row, each summed term by term in column
    /// order, so that it depends on nothing but its two rows.
    fn distances_by_term(&self, queries: &Matrix, query: usize) -> Vec<f64> {
        if let (Matrix::Dense(_), Matrix::Dense(_)) = (self.features, queries) {
            let blocks = self.all_blocks.get_or_init(|| {
                let all: Vec<usize> = (0..self.n_rows()).collect();
                let columns: Vec<usize> = (0..self.attributes.len()).collect();
                self.column_blocks(&all, &columns, Metric::Euclidean)
            });
            return blocks.distances(&blocks.cells(queries, query)).collect();
        }
        let comparisons: Vec<Comparison> = self.attributes.iter().map(Comparison::of).collect();
        let stored: Vec<(usize, f64)> = queries.entries(query).collect();
        let distance = |row| sparse_distance(&comparisons, &stored, self.features.entries(row));
        (0..self.n_rows()).map(distance).collect()
    }
}

/// The squared distance of two sparse rows, by merging their stored cells in column order. A column
/// that neither row stores is 0 in both and adds nothing.
fn sparse_distance(
    comparisons: &[Comparison],
    mut xs: &[(usize, f64)],
    vs: impl Iterator<Item = (usize, f64)>,
) -> f64 {
    let mut sum = 0.0;
    for (column, v) in vs {
        while let Some((&(before, x), rest)) = xs.split_first()
            && before < column
        {
            sum += comparisons[before].term(x, 0.0);
            xs = rest;
        }
        let x = match xs.split_first() {
            Some((&(same, x), rest)) if same == column => {
                xs = rest;
                x
            }
            _ => 0.0,
        };
        sum += comparisons[column].term(x, v);
    }
    xs.iter().fold(sum, |sum, &(column, x)| sum + comparisons[column].term(x, 0.0))
}

impl Encoded<'_> {
    /// Encodes the rows; none where a cell is missing.
    fn new<'d>(attributes: &[Attribute], features: &'d Matrix) -> Result<Option<Encoded<'d>>> {
        let cells = |row| features.entries(row).map(|(_, value)| value);
        let squared_norms = |features: &Matrix| -> Vec<f64> {
            let squared_norm = |row| features.entries(row).map(|(_, x)| x * x).sum();
            (0..features.n_rows()).map(squared_norm).collect()
        };
        if (0..features.n_rows()).any(|row| cells(row).any(f64::is_nan)) {
            return Ok(None);
        }
        let n_values = |attribute: &Attribute| attribute.values().map_or(1, <[String]>::len);
        // Two values are stored as 0 and 1, which already are 1 apart.
        if attributes.iter().all(|attribute| n_values(attribute) <= 2) {
            return Ok(Some(Encoded {
                squared_norms: squared_norms(features),
                features: Cow::Borrowed(features),
                columns: OnceLock::new(),
            }));
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
        let squared_norms = squared_norms(&features);
        Ok(Some(Encoded {
            squared_norms,
            features: Cow::Owned(features),
            columns: OnceLock::new(),
        }))
    }

    /// |x - v|² = |x|² + |v|² - 2 x·v for every row x and training row v; negative results of
    /// rounding are set to 0.
    fn distances(&self, train: &Encoded) -> Vec<f64> {
        let (n, m) = (self.squared_norms.len(), train.squared_norms.len());
        let mut distances = match (&*self.features, &*train.features) {
            (Matrix::Dense(a), Matrix::Dense(b)) => {
                times_transposed(a.cells(), b.cells(), n, m, self.features.n_columns())
            }
            _ => self.sparse_products(train),
        };
        if m > 0 {
            for (row, &norm) in distances.chunks_mut(m).zip(&self.squared_norms) {
                for (distance, &other) in row.iter_mut().zip(&train.squared_norms) {
                    *distance = (norm + other - 2.0 * *distance).max(0.0);
                }
            }
        }
        distances
    }

    /// x·v, summed over the columns that x stores: a training row that stores none of them costs
    /// nothing.
    fn sparse_products(&self, train: &Encoded) -> Vec<f64> {
        let (n, m) = (self.squared_norms.len(), train.squared_norms.len());
        let columns = train.columns.get_or_init(|| stored_cells(&train.features));
        let mut products = vec![0.0; n * m];
        for (query, products) in products.chunks_mut(m.max(1)).enumerate() {
            for (column, x) in self.features.entries(query) {
                columns[column].iter().for_each(|&(v, row)| products[row as usize] += x * v);
            }
        }
        products
    }
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
            assert_eq!(train.distances_by_term(read(rows).features(), 2), [5.0, 1.0, 0.0]);
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

    proptest! {
        #[test]
        fn sparse_rows_rank_as_dense_ones_to_the_last_bit(n_rows in 1usize..60, seed: u64) {
            let [dense, sparse] = thin(n_rows, seed).map(|data| {
                ranked(&Neighbourhood::of(&data).unwrap().rankings(&data, Needs::Ranking).unwrap())
            });
            prop_assert_eq!(dense, sparse);
        }

        #[test]
        fn a_ranking_does_not_depend_on_the_rows_ranked_with_it(n_rows in 1usize..60, seed: u64) {
            for data in thin(n_rows, seed) {
                let train = Neighbourhood::of(&data).unwrap();
                let together = ranked(&train.rankings(&data, Needs::Ranking).unwrap());
                let alone = |row| {
                    let only = data.select(&[row]);
                    ranked(&train.rankings(&only, Needs::Ranking).unwrap())
                };
                prop_assert_eq!(together, (0..n_rows).flat_map(alone).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn less_memory_is_fewer_rows_at_a_time_but_at_least_one() {
        let [data, _] = thin(100, 1);
        let rows = |max_memory| Neighbourhood::of(&data).unwrap().within(max_memory).rows_at_once();
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
