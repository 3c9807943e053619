//! Numeric inputs brought to one scale, learned from training rows only.

use serde::{Deserialize, Serialize};

use crate::data::{AttributeKind, Dataset, Dense, Matrix, Sparse};
use crate::error::{Error, Result};

/// Cells beyond this would overflow when squared and summed.
const LARGEST: f64 = 1e100;

/// Mean and deviation of every numeric column, over its cells that are not missing.
///
/// The deviation is the sample deviation, with divisor n - 1. A column that is constant or has
/// fewer than two cells is only centred: its deviation is 1. A column without a cell has mean 0.
///
/// An infinite cell, or one beyond 1e100, would make every other cell of its column 0 or NaN, so
/// it is refused wherever it stands, with its row and column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    means: Vec<Option<f64>>,
    deviations: Vec<Option<f64>>,
}

impl Standardizer {
    /// Learns from the rows of `train`.
    pub fn fit(train: &Dataset) -> Result<Standardizer> {
        check_cells(train)?;
        let features = train.features();
        let stored = || (0..features.n_rows()).flat_map(|row| features.entries(row));
        let mut spans = vec![Span::default(); train.n_features()];
        stored().for_each(|(column, value)| spans[column].take(value));
        // Zeros that a sparse table leaves out are cells like any other.
        spans.iter_mut().for_each(|span| span.take_zeros(features.n_rows() - span.n_stored));
        let means: Vec<f64> = spans.iter().map(Span::mean).collect();
        let mut squares = vec![0.0; means.len()];
        for (column, value) in stored().filter(|(_, value)| !value.is_nan()) {
            squares[column] += (value - means[column]).powi(2);
        }
        let deviation = |at: usize| {
            let (span, mean) = (&spans[at], means[at]);
            let n_omitted = features.n_rows() - span.n_stored;
            let squares = squares[at] + n_omitted as f64 * mean * mean;
            let deviation = (squares / (span.n.max(2) - 1) as f64).sqrt();
            // A constant is recognized by its values: its mean may be off by a rounding.
            if span.least < span.most && deviation > 0.0 { deviation } else { 1.0 }
        };
        let numeric = |at: usize| train.attributes()[at].kind == AttributeKind::Numeric;
        let only_numeric = |of: &dyn Fn(usize) -> f64| -> Vec<Option<f64>> {
            (0..means.len()).map(|at| numeric(at).then(|| of(at))).collect()
        };
        Ok(Standardizer {
            deviations: only_numeric(&deviation),
            means: only_numeric(&|at| means[at]),
        })
    }

    /// Changes nothing.
    pub(crate) fn none(n_features: usize) -> Standardizer {
        Standardizer { means: vec![None; n_features], deviations: vec![None; n_features] }
    }

    /// The same rows with every numeric column standardized; nominal ones and missing cells stay.
    ///
    /// A dense table is centred and scaled. A sparse table is scaled but not centred, because its
    /// zeros would become something else and have to be stored: each column is then off by its
    /// [`offset`](Standardizer::offset), the same for every row, which cancels in every distance.
    pub fn apply(&self, data: &Dataset) -> Result<Dataset> {
        if data.n_features() != self.means.len() {
            let (expected, found) = (self.means.len(), data.n_features());
            return Err(Error::Shape { what: "features to standardize", expected, found });
        }
        check_cells(data)?;
        let moments: Vec<Option<(f64, f64)>> =
            self.means.iter().zip(&self.deviations).map(|(&m, &d)| m.zip(d)).collect();
        let features = match data.features() {
            Matrix::Dense(dense) => {
                let mut scaled = Dense::with_room(moments.len(), data.n_rows());
                let mut cells = vec![0.0; moments.len()];
                for row in 0..data.n_rows() {
                    for ((cell, &value), moments) in
                        cells.iter_mut().zip(dense.row(row)).zip(&moments)
                    {
                        *cell =
                            moments.map_or(value, |(mean, deviation)| (value - mean) / deviation);
                    }
                    scaled.push_row(&cells);
                }
                Matrix::Dense(scaled)
            }
            Matrix::Sparse(sparse) => {
                let mut scaled = Sparse::new(moments.len());
                for row in 0..data.n_rows() {
                    let (columns, values) = sparse.row(row);
                    scaled.push_row(columns.iter().zip(values).map(|(&column, &value)| {
                        let deviation = self.deviations[column as usize].unwrap_or(1.0);
                        (column, value / deviation)
                    }));
                }
                Matrix::Sparse(scaled)
            }
        };
        data.with_features(data.attributes().to_vec(), features)
    }

    /// What the columns are centred at; nothing for nominal ones.
    pub fn means(&self) -> &[Option<f64>] {
        &self.means
    }

    /// What the columns are divided by, never 0; nothing for nominal ones.
    pub fn deviations(&self) -> &[Option<f64>] {
        &self.deviations
    }

    /// What a sparse table still has to lose to be centred: mean / deviation of each column, and 0
    /// for nominal ones.
    pub fn offset(&self) -> Vec<f64> {
        let ratio = |(mean, deviation): (&Option<f64>, &Option<f64>)| {
            mean.zip(*deviation).map_or(0.0, |(mean, deviation)| mean / deviation)
        };
        self.means.iter().zip(&self.deviations).map(ratio).collect()
    }
}

/// What one pass over a column tells.
#[derive(Clone)]
struct Span {
    /// Cells in the table's storage, missing ones too.
    n_stored: usize,
    /// Cells that are not missing.
    n: usize,
    sum: f64,
    least: f64,
    most: f64,
}

impl Default for Span {
    fn default() -> Span {
        Span { n_stored: 0, n: 0, sum: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Span {
    fn take(&mut self, value: f64) {
        self.n_stored += 1;
        if !value.is_nan() {
            self.n += 1;
            self.sum += value;
            self.least = self.least.min(value);
            self.most = self.most.max(value);
        }
    }

    fn take_zeros(&mut self, n: usize) {
        if n > 0 {
            self.n += n;
            self.least = self.least.min(0.0);
            self.most = self.most.max(0.0);
        }
    }

    fn mean(&self) -> f64 {
        match self.n {
            0 => 0.0,
            _ if self.least == self.most => self.least,
            n => self.sum / n as f64,
        }
    }
}

fn check_cells(data: &Dataset) -> Result<()> {
    if let Matrix::Dense(dense) = data.features()
        && !dense.cells().iter().fold(false, |any, cell| any | (cell.abs() > LARGEST))
    {
        return Ok(());
    }
    for row in 0..data.n_rows() {
        for (column, found) in data.features().entries(row) {
            if found.abs() > LARGEST {
                return Err(Error::Cell {
                    name: data.name().to_owned(),
                    row,
                    column: data.attributes()[column].name.clone(),
                    found,
                    expected: "a number within ±1e100",
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, LabelMatrix};
    use proptest::prelude::*;

    fn attributes(n: usize) -> Vec<Attribute> {
        (0..n).map(|at| Attribute::numeric(format!("x{at}"))).collect()
    }

    fn dense(rows: &[Vec<f64>], attributes: Vec<Attribute>) -> Dataset {
        let mut cells = Dense::new(attributes.len());
        rows.iter().for_each(|row| cells.push_row(row));
        let labels = LabelMatrix::empty(rows.len(), 0);
        Dataset::new("t", attributes, Matrix::Dense(cells), Vec::new(), labels).unwrap()
    }

    fn sparse(rows: &[Vec<f64>], attributes: Vec<Attribute>) -> Dataset {
        let mut cells = Sparse::new(attributes.len());
        for row in rows {
            cells.push_row(row.iter().enumerate().map(|(at, &value)| (at as u32, value)));
        }
        let labels = LabelMatrix::empty(rows.len(), 0);
        Dataset::new("t", attributes, Matrix::Sparse(cells), Vec::new(), labels).unwrap()
    }

    #[test]
    fn the_divisor_is_one_less_than_the_cells_present() {
        // Cells 1, 3, 8: mean 4, squares 9 + 1 + 16 = 26, deviation √(26 / 2) = √13.
        let data = dense(&[vec![1.0], vec![f64::NAN], vec![3.0], vec![8.0]], attributes(1));
        let standardizer = Standardizer::fit(&data).unwrap();
        assert_eq!(standardizer.means(), [Some(4.0)]);
        assert_eq!(standardizer.deviations(), [Some(13f64.sqrt())]);
        let scaled = standardizer.apply(&data).unwrap();
        assert_eq!(scaled.features().get(3, 0), 4.0 / 13f64.sqrt());
        assert!(scaled.features().get(1, 0).is_nan());
    }

    #[test]
    fn constants_single_cells_and_empty_columns_are_only_centred() {
        let nan = f64::NAN;
        let rows = [vec![0.1, 5.0, nan], vec![0.1, nan, nan], vec![0.1, nan, nan]];
        let standardizer = Standardizer::fit(&dense(&rows, attributes(3))).unwrap();
        assert_eq!(standardizer.means(), [Some(0.1), Some(5.0), Some(0.0)]);
        assert_eq!(standardizer.deviations(), [Some(1.0); 3]);
        let unseen = dense(&[vec![0.6, 7.0, 2.0]], attributes(3));
        let scaled = standardizer.apply(&unseen).unwrap();
        assert_eq!([0, 1, 2].map(|at| scaled.features().get(0, at)), [0.5, 2.0, 2.0]);
    }

    #[test]
    fn nominal_columns_stay() {
        let attributes = vec![Attribute::nominal("c", ["r", "g", "b"]), Attribute::numeric("x")];
        let data = dense(&[vec![2.0, 1.0], vec![0.0, 3.0]], attributes);
        let standardizer = Standardizer::fit(&data).unwrap();
        assert_eq!((standardizer.means()[0], standardizer.deviations()[0]), (None, None));
        assert_eq!(standardizer.offset()[0], 0.0);
        assert_eq!(standardizer.apply(&data).unwrap().features().get(0, 0), 2.0);
    }

    #[test]
    fn an_infinite_cell_is_refused_with_its_place() {
        let good = dense(&[vec![1.0], vec![2.0]], attributes(1));
        let bad = dense(&[vec![1.0], vec![f64::INFINITY]], attributes(1));
        let expected = "t, row 1, column \"x0\": expected a number within ±1e100, found inf";
        assert_eq!(Standardizer::fit(&bad).unwrap_err().to_string(), expected);
        let standardizer = Standardizer::fit(&good).unwrap();
        assert_eq!(standardizer.apply(&bad).unwrap_err().to_string(), expected);
    }

    #[test]
    fn another_number_of_features_is_refused() {
        let standardizer = Standardizer::fit(&dense(&[vec![1.0]], attributes(1))).unwrap();
        let error = standardizer.apply(&dense(&[vec![1.0, 2.0]], attributes(2))).unwrap_err();
        assert_eq!(error.to_string(), "features to standardize: expected 1, found 2");
    }

    proptest! {
        #[test]
        fn a_sparse_table_is_the_dense_one_off_by_the_offset(
            rows in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![Just(0.0), Just(f64::NAN), -9.0f64..9.0], 3), 1..20)
        ) {
            let (dense, sparse) = (dense(&rows, attributes(3)), sparse(&rows, attributes(3)));
            let standardizer = Standardizer::fit(&dense).unwrap();
            let [a, b] = [&dense, &sparse].map(|data| standardizer.apply(data).unwrap());
            let same = Standardizer::fit(&sparse).unwrap();
            for at in 0..3 {
                let [d, e] = [&standardizer, &same].map(|s| s.deviations()[at].unwrap());
                prop_assert!((d - e).abs() < 1e-12);
                for row in 0..rows.len() {
                    let (centred, scaled) = (a.features().get(row, at), b.features().get(row, at));
                    prop_assert_eq!(centred.is_nan(), scaled.is_nan());
                    let off = (scaled - standardizer.offset()[at] - centred).abs();
                    prop_assert!(centred.is_nan() || off < 1e-6, "{} {}", centred, scaled);
                }
            }
        }
    }
}
