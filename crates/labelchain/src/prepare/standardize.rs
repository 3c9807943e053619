//! Numeric inputs brought to one scale, learned from training rows only.

use serde::{Deserialize, Serialize};

use crate::data::{AttributeKind, Dataset, Matrix};
use crate::error::{Error, Result};
use crate::product::vectorized;

/// Cells beyond this would overflow when squared and summed.
pub(super) const LARGEST: f64 = 1e100;

/// If all cells of a column are smaller than this, their squares may vanish: that of 1e-170 is 0.
pub(super) const SMALLEST: f64 = 1e-100;

/// Mean and deviation of every numeric column, over its cells that are not missing.
///
/// The deviation is the sample deviation, with divisor n - 1. A column that is constant or has
/// fewer than two cells is only centred: its deviation is 1. A column without a cell has mean 0.
/// The unit of a column makes no difference, down to the smallest numbers that there are.
///
/// An infinite cell, or one beyond 1e100, would make every other cell of its column 0 or NaN, so
/// it is refused wherever it stands, with its row and column; so is one that lies more than 1e100
/// deviations from the mean.
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
        let spans = Spans::of(features);
        let means: Vec<f64> = (0..train.n_features()).map(|at| spans.mean(at)).collect();
        let factors: Vec<f64> = (0..train.n_features()).map(|at| spans.factor(at)).collect();
        let squares = squares(features, &means, &factors);
        let deviation = |at: usize| {
            let deviation = (squares[at] / (spans.n[at].max(2.0) - 1.0)).sqrt();
            // The values show that a column is constant; rounding of its mean may hide it.
            if spans.min[at] < spans.max[at] && deviation > 0.0 {
                // At least the smallest number there is, for nothing can be divided by 0.
                (deviation / factors[at]).max(f64::from_bits(1))
            } else {
                1.0
            }
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
    pub fn apply(&self, data: Dataset) -> Result<Dataset> {
        if data.n_features() != self.means.len() {
            let (expected, found) = (self.means.len(), data.n_features());
            return Err(Error::Shape { what: "features to standardize", expected, found });
        }
        let is_dense = matches!(data.features(), Matrix::Dense(_));
        // Subtracting 0 and dividing by 1 leaves every bit of a column that is not to change.
        let means: Vec<f64> = if is_dense {
            self.means.iter().map(|mean| mean.unwrap_or(0.0)).collect()
        } else {
            vec![0.0; self.means.len()]
        };
        let deviations: Vec<f64> = self.deviations.iter().map(|it| it.unwrap_or(1.0)).collect();
        check_cells(&data)?;
        let is_far = |at: usize, cell: f64| (cell - means[at]).abs() > LARGEST * deviations[at];
        refuse_cells(
            &data,
            is_far,
            "a number within 1e100 deviations of the mean",
            "the training rows hardly differ in this column: leave it out, or train on others",
        )?;
        Ok(data.rescaled(&means, &deviations))
    }

    /// For tables of these columns followed by the columns of `others`.
    pub(crate) fn concat_columns(mut self, others: Standardizer) -> Standardizer {
        self.means.extend(others.means);
        self.deviations.extend(others.deviations);
        self
    }

    /// What the columns are centred at; nothing for nominal ones.
    pub fn means(&self) -> &[Option<f64>] {
        &self.means
    }

    /// What the columns are divided by, never 0; nothing for nominal ones.
    pub fn deviations(&self) -> &[Option<f64>] {
        &self.deviations
    }

    /// A standardized value of a column in the units of the training file.
    pub(crate) fn in_file(&self, column: usize, value: f64) -> f64 {
        match (self.means[column], self.deviations[column]) {
            (Some(mean), Some(deviation)) => value * deviation + mean,
            _ => value,
        }
    }

    /// What would have to be subtracted from a scaled sparse table to centre it: mean / deviation
    /// of each column, and 0 for nominal ones.
    pub fn offset(&self) -> Vec<f64> {
        let ratio = |(mean, deviation): (&Option<f64>, &Option<f64>)| {
            mean.zip(*deviation).map_or(0.0, |(mean, deviation)| mean / deviation)
        };
        self.means.iter().zip(&self.deviations).map(ratio).collect()
    }
}

/// Number, sum, minimum and maximum of the cells of every column that are not missing.
struct Spans {
    n: Vec<f64>,
    sums: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
}

impl Spans {
    fn of(features: &Matrix) -> Spans {
        let of_all = |value: f64| vec![value; features.n_columns()];
        let mut spans = Spans {
            n: of_all(0.0),
            sums: of_all(0.0),
            min: of_all(f64::INFINITY),
            max: of_all(f64::NEG_INFINITY),
        };
        match features {
            Matrix::Dense(dense) => vectorized(
                #[inline(always)]
                || {
                    (0..features.n_rows()).for_each(|row| spans.take_row(dense.row(row)));
                },
            ),
            Matrix::Sparse(_) => {
                let mut n_stored = vec![0; features.n_columns()];
                for (column, value) in (0..features.n_rows()).flat_map(|row| features.entries(row))
                {
                    n_stored[column] += 1;
                    spans.take(column, value);
                }
                // Zeros that a sparse table leaves out are cells like any other.
                for (column, n_stored) in n_stored.into_iter().enumerate() {
                    if n_stored < features.n_rows() {
                        spans.take(column, 0.0);
                        spans.n[column] += (features.n_rows() - n_stored - 1) as f64;
                    }
                }
            }
        }
        spans
    }

    #[inline(always)]
    fn take_row(&mut self, cells: &[f64]) {
        let n = cells.len();
        let (counts, sums) = (&mut self.n[..n], &mut self.sums[..n]);
        let (min, max) = (&mut self.min[..n], &mut self.max[..n]);
        for (at, &cell) in cells.iter().enumerate() {
            take(cell, &mut counts[at], &mut sums[at], &mut min[at], &mut max[at]);
        }
    }

    fn take(&mut self, at: usize, cell: f64) {
        let (n, sum) = (&mut self.n[at], &mut self.sums[at]);
        take(cell, n, sum, &mut self.min[at], &mut self.max[at]);
    }

    fn mean(&self, at: usize) -> f64 {
        match self.n[at] {
            0.0 => 0.0,
            _ if self.min[at] == self.max[at] => self.min[at],
            n => self.sums[at] / n,
        }
    }

    /// What the differences from the mean are multiplied by before they are squared: 1, or 2^600
    /// where the squares would vanish. A power of two changes no digit, and this one brings the
    /// smallest numbers, 5e-324, as far from both ends of the range as those of 1e-100.
    fn factor(&self, at: usize) -> f64 {
        let largest = self.max[at].max(-self.min[at]);
        if largest < SMALLEST { 2f64.powi(600) } else { 1.0 }
    }
}

/// Counts a cell of a column, unless it is missing.
#[inline(always)]
fn take(cell: f64, n: &mut f64, sum: &mut f64, min: &mut f64, max: &mut f64) {
    // Every comparison with NaN is false, so that a missing cell changes neither bound.
    *n += if cell.is_nan() { 0.0 } else { 1.0 };
    *sum += if cell.is_nan() { 0.0 } else { cell };
    *min = if cell < *min { cell } else { *min };
    *max = if cell > *max { cell } else { *max };
}

/// The squared differences of each column from its mean, each multiplied by the column's factor
/// before it is squared, added up.
fn squares(features: &Matrix, means: &[f64], factors: &[f64]) -> Vec<f64> {
    let mut squares = vec![0.0; means.len()];
    let square = |value: f64, (mean, factor): (f64, f64)| {
        if value.is_nan() { 0.0 } else { ((value - mean) * factor).powi(2) }
    };
    match features {
        Matrix::Dense(dense) => vectorized(
            #[inline(always)]
            || {
                for row in (0..features.n_rows()).map(|row| dense.row(row)) {
                    let of_columns = means.iter().copied().zip(factors.iter().copied());
                    for ((sum, of), &value) in squares.iter_mut().zip(of_columns).zip(row) {
                        *sum += square(value, of);
                    }
                }
            },
        ),
        Matrix::Sparse(_) => {
            let mut n_omitted = vec![features.n_rows(); means.len()];
            for (column, value) in (0..features.n_rows()).flat_map(|row| features.entries(row)) {
                squares[column] += square(value, (means[column], factors[column]));
                n_omitted[column] -= 1;
            }
            for (at, n_omitted) in n_omitted.into_iter().enumerate() {
                let mean = means[at] * factors[at];
                squares[at] += n_omitted as f64 * mean * mean;
            }
        }
    }
    squares
}

fn check_cells(data: &Dataset) -> Result<()> {
    refuse_cells(
        data,
        |_, cell| cell.abs() > LARGEST,
        "a number within ±1e100",
        "measure the column in another unit, or leave the cell empty",
    )
}

/// An error for the first cell that `is_wrong`, given its column and itself.
fn refuse_cells(
    data: &Dataset,
    is_wrong: impl Fn(usize, f64) -> bool,
    expected: &'static str,
    remedy: &'static str,
) -> Result<()> {
    if let Matrix::Dense(dense) = data.features() {
        let any = |row: &[f64]| {
            row.iter().enumerate().fold(false, |any, (at, &cell)| any | is_wrong(at, cell))
        };
        if !(0..data.n_rows()).any(|row| any(dense.row(row))) {
            return Ok(());
        }
    }
    for row in 0..data.n_rows() {
        for (column, found) in data.features().entries(row) {
            if is_wrong(column, found) {
                let (name, column) = (data.name().into(), data.attributes()[column].name.clone());
                return Err(Error::Cell { name, row, column, found, expected, remedy });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dense, LabelMatrix, Sparse};
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
        let scaled = standardizer.apply(data).unwrap();
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
        let scaled = standardizer.apply(unseen).unwrap();
        assert_eq!([0, 1, 2].map(|at| scaled.features().get(0, at)), [0.5, 2.0, 2.0]);
    }

    #[test]
    fn a_small_unit_loses_no_digit_and_the_smallest_numbers_do_not_vanish() {
        let cells = [[1.0, 0.0], [3.0, 0.0], [0.0, 0.0], [8.0, 1.0]];
        // Powers of two, so that even at the end of the range every digit is kept.
        for unit in [2f64.powi(-500), 2f64.powi(-1022), 2f64.powi(-1060)] {
            for table in [dense, sparse] {
                let of = |unit: f64| {
                    let rows: Vec<Vec<f64>> = cells
                        .iter()
                        .map(|row| row.iter().map(|cell| cell * unit).collect())
                        .collect();
                    let data = table(&rows, attributes(2));
                    Standardizer::fit(&data).unwrap().apply(data).unwrap()
                };
                let (ordinary, small) = (of(1.0), of(unit));
                for (row, column) in (0..4).flat_map(|row| [(row, 0), (row, 1)]) {
                    let [a, b] = [&ordinary, &small].map(|data| data.features().get(row, column));
                    // 2^-1060 has 14 binary digits left for the mean and the deviation.
                    assert!((a - b).abs() < 1e-3, "{unit:e}: {a} {b}");
                }
            }
        }
        let least = f64::from_bits(1);
        let mut rows = vec![vec![0.0]; 100];
        rows[7][0] = least;
        let standardizer = Standardizer::fit(&dense(&rows, attributes(1))).unwrap();
        assert_eq!(standardizer.deviations(), [Some(least)]);
    }

    #[test]
    fn nominal_columns_stay() {
        let attributes = vec![Attribute::nominal("c", ["r", "g", "b"]), Attribute::numeric("x")];
        let data = dense(&[vec![2.0, 1.0], vec![0.0, 3.0]], attributes);
        let standardizer = Standardizer::fit(&data).unwrap();
        assert_eq!((standardizer.means()[0], standardizer.deviations()[0]), (None, None));
        assert_eq!(standardizer.offset()[0], 0.0);
        assert_eq!(standardizer.apply(data).unwrap().features().get(0, 0), 2.0);
    }

    #[test]
    fn an_infinite_cell_is_refused_with_its_place() {
        let good = dense(&[vec![1.0], vec![2.0]], attributes(1));
        let bad = dense(&[vec![1.0], vec![f64::INFINITY]], attributes(1));
        let expected = "t, row 1, column \"x0\": expected a number within ±1e100, found inf";
        assert_eq!(Standardizer::fit(&bad).unwrap_err().to_string(), expected);
        let standardizer = Standardizer::fit(&good).unwrap();
        assert_eq!(standardizer.apply(bad).unwrap_err().to_string(), expected);
    }

    #[test]
    fn another_number_of_features_is_refused() {
        let standardizer = Standardizer::fit(&dense(&[vec![1.0]], attributes(1))).unwrap();
        let error = standardizer.apply(dense(&[vec![1.0, 2.0]], attributes(2))).unwrap_err();
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
            let [a, b] = [dense.clone(), sparse.clone()].map(|data| standardizer.apply(data).unwrap());
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
