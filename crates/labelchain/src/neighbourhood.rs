//! Squared distances from rows to be labelled to every training row.
//!
//! One block of distances serves all members, whose rows are all among the training rows. Nominal
//! inputs add 0 or 1; where either cell is missing a nominal input adds 1 and a numeric one 2, the
//! expected squared difference of two independent standardized values (methods 2).

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::data::{Attribute, AttributeKind, Dataset, LabelMatrix, Matrix};
use crate::error::Result;
use crate::prepare::one_hot;
use crate::product::{times_transposed, vectorized};

/// A training row, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Squared distance.
    pub distance: f64,
    /// The row of the training set.
    pub row: u32,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The nearer first; of equals the lower row.
impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.row.cmp(&other.row))
    }
}

/// Training rows from the nearest to the farthest; the far ones are sorted when somebody gets there.
pub struct Ranking {
    near: Vec<Ranked>,
    far: Vec<Ranked>,
    far_sorted: OnceLock<Vec<Ranked>>,
}

/// Rows that are sorted at once.
const NEAR: usize = 128;

impl Ranking {
    fn new(distances: &[f64]) -> Ranking {
        let ranked = |(row, &distance): (usize, &f64)| Ranked { distance, row: row as u32 };
        let mut near: Vec<Ranked> = distances.iter().enumerate().map(ranked).collect();
        let mut far = Vec::new();
        if near.len() > NEAR {
            near.select_nth_unstable(NEAR);
            far = near.split_off(NEAR);
        }
        near.sort_unstable();
        Ranking { near, far, far_sorted: OnceLock::new() }
    }

    /// The nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Ranked> {
        let sorted = || {
            let mut far = self.far.clone();
            far.sort_unstable();
            far
        };
        let far = std::iter::once_with(move || self.far_sorted.get_or_init(sorted));
        self.near.iter().chain(far.flatten())
    }
}

/// A ranking of the training rows for each row of a block.
pub struct Nearest<'a> {
    /// Where the training rows are.
    pub train: &'a Neighbourhood<'a>,
    /// By row of the block.
    pub rankings: Vec<Arc<Ranking>>,
}

impl Nearest<'_> {
    /// Some rows of the block.
    pub fn select(&self, rows: &[usize]) -> Nearest<'_> {
        let rankings = rows.iter().map(|&row| Arc::clone(&self.rankings[row])).collect();
        Nearest { train: self.train, rankings }
    }
}

/// Standardized training rows, laid out for distances.
pub struct Neighbourhood<'d> {
    attributes: &'d [Attribute],
    features: &'d Matrix,
    /// Numbers as they are, categories as indicators over √2, so that two different ones are 1
    /// apart; none where a cell is missing, and then no product will do.
    wide: Option<Wide<'d>>,
    /// All dense rows and columns, once somebody asks for a ranking.
    lanes: OnceLock<Lanes>,
}

struct Wide<'d> {
    features: Cow<'d, Matrix>,
    lengths: Vec<f64>,
}

impl Neighbourhood<'_> {
    /// Lays out the rows of `data`.
    pub fn of(data: &Dataset) -> Result<Neighbourhood<'_>> {
        Neighbourhood::new(data.attributes(), data.features())
    }

    /// Lays out rows of inputs.
    pub fn new<'d>(attributes: &'d [Attribute], features: &'d Matrix) -> Result<Neighbourhood<'d>> {
        let wide = Wide::new(attributes, features)?;
        Ok(Neighbourhood { attributes, features, wide, lanes: OnceLock::new() })
    }

    /// How many training rows.
    pub fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    /// The squared distance of every row of `queries`, which are standardized alike, to every
    /// training row; row by row.
    pub fn distances(&self, queries: &Dataset) -> Result<Vec<f64>> {
        match (&self.wide, Wide::new(queries.attributes(), queries.features())?) {
            (Some(train), Some(queries)) => Ok(queries.distances(train)),
            _ => Ok(self.plain_distances(queries)),
        }
    }

    /// All training rows, the nearest first, for every row of `queries`.
    ///
    /// Ties are broken by row, so a distance here depends on nothing but its two rows: products,
    /// whose rounding changes with the place in a block, will not do for dense ones.
    pub fn nearest(&self, queries: &Dataset) -> Result<Nearest<'_>> {
        Ok(Nearest { train: self, rankings: self.rankings(queries)? })
    }

    fn rankings(&self, queries: &Dataset) -> Result<Vec<Arc<Ranking>>> {
        if let (Matrix::Dense(_), Matrix::Dense(_)) = (self.features, queries.features()) {
            let lanes = self.lanes.get_or_init(|| {
                let all: Vec<usize> = (0..self.n_rows()).collect();
                self.lanes(&all, &(0..self.attributes.len()).collect::<Vec<_>>())
            });
            let cells = |query| lanes.cells(queries.features(), query);
            let ranking = |query| Arc::new(Ranking::new(&lanes.distances(&cells(query))));
            return Ok((0..queries.n_rows()).into_par_iter().map(ranking).collect());
        }
        let distances = self.distances(queries)?;
        let distances_of = |query| &distances[query * self.n_rows()..(query + 1) * self.n_rows()];
        let ranking = |query| Arc::new(Ranking::new(distances_of(query)));
        Ok((0..queries.n_rows()).into_par_iter().map(ranking).collect())
    }

    /// Lays out some rows and columns for distances term by term.
    pub fn lanes(&self, rows: &[usize], columns: &[usize]) -> Lanes {
        let attributes = self.attributes;
        let is_nominal = |&column: &usize| attributes[column].values().is_some();
        let mut cells = Vec::with_capacity(rows.len().div_ceil(WIDTH) * columns.len());
        for rows in rows.chunks(WIDTH) {
            for &column in columns {
                let mut lane = [0.0; WIDTH];
                for (cell, &row) in lane.iter_mut().zip(rows) {
                    *cell = self.features.get(row, column);
                }
                cells.push(lane);
            }
        }
        Lanes {
            n_rows: rows.len(),
            columns: columns.iter().map(|column| (*column, is_nominal(column))).collect(),
            cells,
        }
    }

    /// Term by term, missing cells included.
    fn plain_distances(&self, queries: &Dataset) -> Vec<f64> {
        let kinds: Vec<&AttributeKind> = self.attributes.iter().map(|a| &a.kind).collect();
        let mut distances = Vec::with_capacity(queries.n_rows() * self.n_rows());
        for query in 0..queries.n_rows() {
            for row in 0..self.n_rows() {
                let term = |column: usize| {
                    let x = queries.features().get(query, column);
                    let v = self.features.get(row, column);
                    match (kinds[column], x.is_nan() || v.is_nan()) {
                        (AttributeKind::Numeric, true) => 2.0,
                        (AttributeKind::Numeric, false) => (x - v) * (x - v),
                        (AttributeKind::Nominal(_), missing) => {
                            f64::from(u8::from(missing || x != v))
                        }
                    }
                };
                distances.push((0..kinds.len()).map(term).sum());
            }
        }
        distances
    }
}

/// Rows whose distances are summed side by side.
const WIDTH: usize = 32;

/// Some rows and columns of the training set, laid out for distances term by term: each is summed
/// in column order, whatever rows lie beside it.
pub struct Lanes {
    n_rows: usize,
    /// Which columns, and whether their values are names.
    columns: Vec<(usize, bool)>,
    /// For every `WIDTH` rows, their cells column by column.
    cells: Vec<[f64; WIDTH]>,
}

impl Lanes {
    /// The cells of another row, standardized alike, that its distances need.
    pub fn cells(&self, features: &Matrix, row: usize) -> Vec<f64> {
        self.columns.iter().map(|&(column, _)| features.get(row, column)).collect()
    }

    /// The squared distance of a row with these cells to each of the rows.
    pub fn distances(&self, cells: &[f64]) -> Vec<f64> {
        let is_nominal = self.columns.iter().map(|&(_, is_nominal)| is_nominal);
        let query: Vec<(f64, bool)> = cells.iter().copied().zip(is_nominal).collect();
        let mut distances = vec![0.0; self.n_rows];
        if !query.is_empty() {
            let groups = self.cells.chunks(query.len());
            for (distances, cells) in distances.chunks_mut(WIDTH).zip(groups) {
                let sums = vectorized(
                    #[inline(always)]
                    || sums(&query, cells),
                );
                distances.copy_from_slice(&sums[..distances.len()]);
            }
        }
        distances
    }
}

#[inline(always)]
fn sums(query: &[(f64, bool)], cells: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (&(x, is_nominal), cells) in query.iter().zip(cells) {
        if is_nominal {
            // A missing cell is NaN, which differs from everything.
            let terms = cells.iter().map(|v| f64::from(u8::from(x != *v)));
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        } else {
            for (sum, v) in sums.iter_mut().zip(cells) {
                let square = (x - v) * (x - v);
                *sum += if square.is_nan() { 2.0 } else { square };
            }
        }
    }
    sums
}

impl Wide<'_> {
    /// None where a cell is missing.
    fn new<'d>(attributes: &[Attribute], features: &'d Matrix) -> Result<Option<Wide<'d>>> {
        let cells = |row| features.entries(row).map(|(_, value)| value);
        let lengths = |features: &Matrix| -> Vec<f64> {
            let length = |row| features.entries(row).map(|(_, x)| x * x).sum();
            (0..features.n_rows()).map(length).collect()
        };
        if (0..features.n_rows()).any(|row| cells(row).any(f64::is_nan)) {
            return Ok(None);
        }
        let n_values = |attribute: &Attribute| attribute.values().map_or(1, <[String]>::len);
        // Two values are 0 and 1 as they are stored.
        if attributes.iter().all(|attribute| n_values(attribute) <= 2) {
            return Ok(Some(Wide {
                lengths: lengths(features),
                features: Cow::Borrowed(features),
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
        Ok(Some(Wide { lengths: lengths(&features), features: Cow::Owned(features) }))
    }

    /// |x|² + |v|² - 2 x·v, negatives cut to 0.
    fn distances(&self, train: &Wide) -> Vec<f64> {
        let (n, m) = (self.lengths.len(), train.lengths.len());
        let mut distances = match (&*self.features, &*train.features) {
            (Matrix::Dense(a), Matrix::Dense(b)) => {
                times_transposed(a.cells(), b.cells(), n, m, self.features.n_columns())
            }
            _ => self.sparse_products(train),
        };
        if m > 0 {
            for (row, &length) in distances.chunks_mut(m).zip(&self.lengths) {
                for (distance, &other) in row.iter_mut().zip(&train.lengths) {
                    *distance = (length + other - 2.0 * *distance).max(0.0);
                }
            }
        }
        distances
    }

    /// x·v over the stored cells of v, with x spread out.
    fn sparse_products(&self, train: &Wide) -> Vec<f64> {
        let mut products = Vec::with_capacity(self.lengths.len() * train.lengths.len());
        let mut spread = vec![0.0; self.features.n_columns()];
        for query in 0..self.lengths.len() {
            self.features.entries(query).for_each(|(column, x)| spread[column] = x);
            for row in 0..train.lengths.len() {
                products.push(train.features.entries(row).map(|(at, v)| spread[at] * v).sum());
            }
            self.features.entries(query).for_each(|(column, _)| spread[column] = 0.0);
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, parse};

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
            assert_eq!(train.plain_distances(&read(rows).select(&[2])), [5.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn a_missing_cell_costs_two_or_one() {
        let data = read("3,g,no,0\n");
        let train = Neighbourhood::of(&data).unwrap();
        assert_eq!(train.distances(&read("?,?,no,0\n")).unwrap(), [3.0]);
        assert_eq!(train.distances(&read("3,g,?,0\n")).unwrap(), [1.0]);
    }
}
