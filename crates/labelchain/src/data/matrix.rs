//! The cells of a table, dense or sparse. A missing cell is NaN.

use std::collections::TryReserveError;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A table of numbers, stored as its file was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Matrix {
    /// Every cell, row by row.
    Dense(Dense),
    /// The cells that are not zero, row by row.
    Sparse(Sparse),
}

/// Every cell, row by row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "UncheckedDense")]
pub struct Dense {
    n_rows: usize,
    n_columns: usize,
    values: Vec<f64>,
}

/// The fields of a dense table as they are decoded, before it is known whether they fit together.
#[derive(Deserialize)]
struct UncheckedDense {
    n_rows: usize,
    n_columns: usize,
    values: Vec<f64>,
}

impl TryFrom<UncheckedDense> for Dense {
    type Error = Error;

    fn try_from(fields: UncheckedDense) -> Result<Dense> {
        if fields.n_columns == 0 && fields.n_rows > 0 {
            // Any number of rows would do, however large.
            return Err(Error::Shape { what: "columns", expected: 1, found: 0 });
        }
        Dense::from_cells(fields.n_rows, fields.n_columns, fields.values)
    }
}

/// The cells that are not zero, row by row, in ascending columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSparse")]
pub struct Sparse {
    n_columns: usize,
    /// Row r owns `starts[r]..starts[r + 1]` of the two below.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// The fields of a sparse table as they are decoded, before it is known whether they fit together.
#[derive(Deserialize)]
struct UncheckedSparse {
    n_columns: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl TryFrom<UncheckedSparse> for Sparse {
    type Error = &'static str;

    fn try_from(fields: UncheckedSparse) -> Result<Sparse, &'static str> {
        let UncheckedSparse { n_columns, starts, columns, values } = fields;
        if columns.len() != values.len() {
            return Err("a sparse table has one column index for each value");
        }
        // Together they keep every row within the values.
        let ends = (starts.first(), starts.last());
        if ends != (Some(&0), Some(&values.len())) || !starts.is_sorted() {
            return Err("the row starts of a sparse table ascend from 0 to the number of values");
        }
        if columns.iter().any(|&column| column as usize >= n_columns) {
            return Err("the column indices of a sparse table are below the number of columns");
        }
        let ascends = |row: &[usize]| columns[row[0]..row[1]].is_sorted_by(|a, b| a < b);
        if !starts.windows(2).all(ascends) {
            return Err("the column indices of a sparse row ascend");
        }
        Ok(Sparse { n_columns, starts, columns, values })
    }
}

impl Dense {
    /// A table of no rows yet.
    pub fn new(n_columns: usize) -> Dense {
        Dense { n_rows: 0, n_columns, values: Vec::new() }
    }

    /// A table of no rows yet, with room for so many.
    pub(crate) fn with_room(n_columns: usize, n_rows: usize) -> Dense {
        Dense { n_rows: 0, n_columns, values: Vec::with_capacity(n_rows * n_columns) }
    }

    /// A table of these cells, row by row; there must be one for each row and column.
    pub(crate) fn from_cells(n_rows: usize, n_columns: usize, cells: Vec<f64>) -> Result<Dense> {
        // A product that overflows is more than any vector holds.
        let expected = n_rows.saturating_mul(n_columns);
        Error::unless_same("cells of a table", expected, cells.len())?;
        Ok(Dense { n_rows, n_columns, values: cells })
    }

    /// Makes room for a row, so that adding it cannot fail.
    pub(crate) fn try_reserve_row(&mut self) -> Result<(), TryReserveError> {
        self.values.try_reserve(self.n_columns)
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If `row` is not `n_columns` long.
    pub fn push_row(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.n_columns, "a row has one cell per column");
        self.values.extend_from_slice(row);
        self.n_rows += 1;
    }

    /// All cells, row after row.
    pub fn cells(&self) -> &[f64] {
        &self.values
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..(row + 1) * self.n_columns]
    }

    /// Replaces every cell of a column by what `map` makes of it.
    pub(crate) fn map_column(&mut self, column: usize, map: impl Fn(f64) -> f64) {
        let cells = self.values.iter_mut().skip(column).step_by(self.n_columns.max(1));
        cells.for_each(|cell| *cell = map(*cell));
    }
}

impl Sparse {
    /// Makes room for a row of so many cells, so that adding it cannot fail.
    pub(crate) fn try_reserve_row(&mut self, n_cells: usize) -> Result<(), TryReserveError> {
        self.starts.try_reserve(1)?;
        self.columns.try_reserve(n_cells)?;
        self.values.try_reserve(n_cells)
    }

    /// A table of no rows yet.
    pub fn new(n_columns: usize) -> Sparse {
        Sparse { n_columns, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Adds a row of (column, value) in ascending columns. Zeros are left out.
    ///
    /// # Panics
    /// If the columns do not ascend or reach `n_columns`.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        let entries = entries.into_iter();
        self.columns.reserve(entries.size_hint().0);
        self.values.reserve(entries.size_hint().0);
        let mut first_allowed = 0;
        for (column, value) in entries {
            assert!(
                column >= first_allowed && (column as usize) < self.n_columns,
                "columns ascend and exist"
            );
            first_allowed = column + 1;
            if value != 0.0 {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        self.starts.push(self.values.len());
    }

    /// The columns and values of a row's non-zero cells.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let span = self.starts[row]..self.starts[row + 1];
        (&self.columns[span.clone()], &self.values[span])
    }

    /// Only these columns, counted from the first of them.
    ///
    /// # Panics
    /// If a cell outside of them is not zero.
    pub(crate) fn crop(mut self, columns: Range<u32>) -> Sparse {
        for column in &mut self.columns {
            assert!(columns.contains(column), "only empty columns are cut off");
            *column -= columns.start;
        }
        self.n_columns = columns.len();
        self
    }

    fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }
}

impl Matrix {
    /// Makes room for a row of so many cells, so that adding it cannot fail.
    pub(crate) fn try_reserve_row(&mut self, n_cells: usize) -> Result<(), TryReserveError> {
        match self {
            Matrix::Dense(dense) => dense.try_reserve_row(),
            Matrix::Sparse(sparse) => sparse.try_reserve_row(n_cells),
        }
    }

    /// The same, stored so that its bytes show how many rows there are: a dense table without columns
    /// has none, and becomes a sparse one, which says where each row starts.
    pub(crate) fn with_countable_rows(self) -> Matrix {
        if self.n_columns() > 0 {
            return self;
        }
        let mut rows = Sparse::new(0);
        (0..self.n_rows()).for_each(|_| rows.push_row([]));
        Matrix::Sparse(rows)
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.n_rows,
            Matrix::Sparse(sparse) => sparse.n_rows(),
        }
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.n_columns,
            Matrix::Sparse(sparse) => sparse.n_columns,
        }
    }

    /// One cell.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        match self {
            Matrix::Dense(dense) => dense.row(row)[column],
            Matrix::Sparse(sparse) => {
                let (columns, values) = sparse.row(row);
                columns.binary_search(&(column as u32)).map_or(0.0, |at| values[at])
            }
        }
    }

    /// The stored cells of a row, in ascending columns: all of them where dense, the non-zero
    /// ones where sparse.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = match self {
            Matrix::Dense(dense) => (None, dense.row(row)),
            Matrix::Sparse(sparse) => {
                let (columns, values) = sparse.row(row);
                (Some(columns), values)
            }
        };
        values.iter().enumerate().map(move |(at, &value)| match columns {
            None => (at, value),
            Some(columns) => (columns[at] as usize, value),
        })
    }

    /// The rows named, in that order.
    pub fn select(&self, rows: &[usize]) -> Matrix {
        match self {
            Matrix::Dense(dense) => {
                let mut chosen = Dense::with_room(dense.n_columns, rows.len());
                rows.iter().for_each(|&row| chosen.push_row(dense.row(row)));
                Matrix::Dense(chosen)
            }
            Matrix::Sparse(sparse) => {
                let mut chosen = Sparse::new(sparse.n_columns);
                for &row in rows {
                    let (columns, values) = sparse.row(row);
                    chosen.push_row(columns.iter().copied().zip(values.iter().copied()));
                }
                Matrix::Sparse(chosen)
            }
        }
    }

    /// The same table with each column multiplied by its factor.
    pub(crate) fn scaled(&self, factors: &[f64]) -> Matrix {
        let mut scaled = self.clone();
        match &mut scaled {
            Matrix::Dense(dense) if dense.n_columns > 0 => {
                for row in dense.values.chunks_mut(dense.n_columns) {
                    row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
                }
            }
            Matrix::Dense(_) => {}
            Matrix::Sparse(sparse) => {
                for (value, &column) in sparse.values.iter_mut().zip(&sparse.columns) {
                    *value *= factors[column as usize];
                }
            }
        }
        scaled
    }

    /// Some of the columns, which ascend.
    pub(crate) fn columns(&self, columns: &[usize]) -> Matrix {
        match self {
            Matrix::Dense(dense) => {
                let mut some = Dense::with_room(columns.len(), self.n_rows());
                let mut cells = Vec::with_capacity(columns.len());
                for row in 0..self.n_rows() {
                    cells.extend(columns.iter().map(|&at| dense.row(row)[at]));
                    some.push_row(&cells);
                    cells.clear();
                }
                Matrix::Dense(some)
            }
            Matrix::Sparse(_) => {
                let mut place = vec![None; self.n_columns()];
                (0..).zip(columns).for_each(|(at, &column)| place[column] = Some(at));
                let mut some = Sparse::new(columns.len());
                for row in 0..self.n_rows() {
                    let here = self.entries(row);
                    some.push_row(here.filter_map(|(at, value)| Some((place[at]?, value))));
                }
                Matrix::Sparse(some)
            }
        }
    }

    /// Replaces every cell of a column by what `map` makes of it.
    pub(crate) fn map_column(&mut self, column: usize, map: impl Fn(f64) -> f64) {
        match self {
            Matrix::Dense(dense) => dense.map_column(column, map),
            Matrix::Sparse(_) => {
                // A cell that was left out may have to be stored now.
                let mut mapped = Sparse::new(self.n_columns());
                for row in 0..self.n_rows() {
                    let others = self.entries(row).filter(|(at, _)| *at != column);
                    let mut cells: Vec<(u32, f64)> =
                        others.map(|(at, value)| (at as u32, value)).collect();
                    let place = cells.partition_point(|(at, _)| (*at as usize) < column);
                    cells.insert(place, (column as u32, map(self.get(row, column))));
                    mapped.push_row(cells);
                }
                *self = Matrix::Sparse(mapped);
            }
        }
    }

    /// Adds rows of as many columns, stored alike.
    pub(crate) fn append(&mut self, more: &Matrix) {
        for row in 0..more.n_rows() {
            match (&mut *self, more) {
                (Matrix::Dense(here), Matrix::Dense(more)) => here.push_row(more.row(row)),
                (Matrix::Sparse(here), _) => {
                    here.push_row(more.entries(row).map(|(at, value)| (at as u32, value)));
                }
                (Matrix::Dense(here), Matrix::Sparse(_)) => {
                    let cells: Vec<f64> = (0..here.n_columns).map(|at| more.get(row, at)).collect();
                    here.push_row(&cells);
                }
            }
        }
    }

    /// Subtracts from every stored cell the centre of its column, and divides by the column's
    /// scale.
    pub(crate) fn rescale(&mut self, centers: &[f64], scales: &[f64]) {
        match self {
            Matrix::Dense(dense) => {
                for row in dense.values.chunks_mut(dense.n_columns.max(1)) {
                    for (value, (center, scale)) in row.iter_mut().zip(centers.iter().zip(scales)) {
                        *value = (*value - center) / scale;
                    }
                }
            }
            Matrix::Sparse(sparse) => {
                for (value, &column) in sparse.values.iter_mut().zip(&sparse.columns) {
                    *value = (*value - centers[column as usize]) / scales[column as usize];
                }
            }
        }
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.values.len() * 8,
            Matrix::Sparse(sparse) => sparse.values.len() * 12 + sparse.starts.len() * 8,
        }
    }

    /// Frees the memory that growing row by row reserved in advance.
    pub(crate) fn shrink(&mut self) {
        match self {
            Matrix::Dense(dense) => dense.values.shrink_to_fit(),
            Matrix::Sparse(sparse) => {
                sparse.starts.shrink_to_fit();
                sparse.columns.shrink_to_fit();
                sparse.values.shrink_to_fit();
            }
        }
    }
}

/// Equal to the bit, with a missing cell equal to a missing cell.
impl PartialEq for Matrix {
    fn eq(&self, other: &Matrix) -> bool {
        fn same(a: &[f64], b: &[f64]) -> bool {
            let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
            a.iter().map(bits).eq(b.iter().map(bits))
        }
        match (self, other) {
            (Matrix::Dense(a), Matrix::Dense(b)) => {
                (a.n_rows, a.n_columns) == (b.n_rows, b.n_columns) && same(&a.values, &b.values)
            }
            (Matrix::Sparse(a), Matrix::Sparse(b)) => {
                (a.n_columns, &a.starts, &a.columns) == (b.n_columns, &b.starts, &b.columns)
                    && same(&a.values, &b.values)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Matrix; 2] {
        let mut dense = Dense::new(3);
        dense.push_row(&[0.0, 2.0, 0.0]);
        dense.push_row(&[1.0, 0.0, f64::NAN]);
        let mut sparse = Sparse::new(3);
        sparse.push_row([(1, 2.0)]);
        sparse.push_row([(0, 1.0), (1, 0.0), (2, f64::NAN)]);
        [Matrix::Dense(dense), Matrix::Sparse(sparse)]
    }

    #[test]
    fn both_storages_hold_the_same_cells() {
        for matrix in both() {
            assert_eq!((matrix.n_rows(), matrix.n_columns()), (2, 3));
            assert_eq!([0, 1, 2].map(|c| matrix.get(0, c)), [0.0, 2.0, 0.0]);
            assert!(matrix.get(1, 2).is_nan());
            let stored: f64 = matrix.entries(0).map(|(column, value)| column as f64 * value).sum();
            assert_eq!(stored, 2.0);
        }
    }

    #[test]
    fn selected_rows_come_in_the_order_asked() {
        for matrix in both() {
            let picked = matrix.select(&[1, 0, 1]);
            assert_eq!([0, 1, 2].map(|r| picked.get(r, 0)), [1.0, 0.0, 1.0]);
            assert_eq!(picked.select(&[1]), matrix.select(&[0]));
        }
    }

    /// What is decoded from the bytes of `value`, or the reason why it is not a table.
    fn decoded<T: for<'de> Deserialize<'de>>(value: impl Serialize) -> Result<T, String> {
        let bytes = serde_json::to_vec(&value).unwrap();
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_written_field_after_field_and_read_back() {
        let [dense, sparse] = both();
        // Variant, rows, columns, how many cells, cells; the numbers of a model file must stay.
        let bytes = postcard::to_stdvec(&dense).unwrap();
        assert_eq!(bytes[..4], [0, 2, 3, 6]);
        assert_eq!(bytes.len(), 4 + 6 * 8);
        // Variant, columns, the starts 0, 1 and 3, the columns 1, 0 and 2, the values.
        let bytes = postcard::to_stdvec(&sparse).unwrap();
        assert_eq!(bytes[..11], [1, 3, 3, 0, 1, 3, 3, 1, 0, 2, 3]);
        assert_eq!(bytes.len(), 11 + 3 * 8);
        for matrix in both() {
            let bytes = postcard::to_stdvec(&matrix).unwrap();
            assert_eq!(postcard::from_bytes::<Matrix>(&bytes).unwrap(), matrix);
        }
    }

    #[test]
    fn tables_whose_parts_do_not_fit_are_not_decoded() {
        use serde_json::json;
        for (n_rows, n_columns) in [(2, 2), (1 << 63, 2), (usize::MAX, usize::MAX)] {
            let fields = json!({ "n_rows": n_rows, "n_columns": n_columns, "values": [1.0, 2.0] });
            let error = decoded::<Dense>(fields).unwrap_err();
            assert!(error.starts_with("cells of a table: expected"), "{error}");
        }
        for (starts, columns, reason) in [
            (&[0, 1, 3][..], &[1, 0][..], "one column index for each value"),
            (&[][..], &[1, 0, 2], "ascend from 0"),
            (&[1, 3], &[1, 0, 2], "ascend from 0"),
            (&[0, 2], &[1, 0, 2], "ascend from 0"),
            (&[0, 4, 3], &[1, 0, 2], "ascend from 0"),
            (&[0, 1, 3], &[1, 0, 3], "below the number of columns"),
            (&[0, 1, 3], &[1, 2, 0], "of a sparse row ascend"),
            (&[0, 1, 3], &[1, 2, 2], "of a sparse row ascend"),
        ] {
            let values = [1.0, 2.0, 3.0];
            let fields =
                json!({ "n_columns": 3, "starts": starts, "columns": columns, "values": values });
            let error = decoded::<Sparse>(fields).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
