//! Data sets from arrays in memory: numbers first, then labels, then names.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

#[cfg(feature = "ndarray")]
use ndarray::ArrayView2;

use super::label_list::Columns;
use super::{Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix, Sparse, check_names};
use crate::error::{Error, Result};

/// The name of a data set that nobody named.
const NAME: &str = "data";

/// Column indices of sparse tables are stored in 32 bits, and SVMLight files have the same limit.
const MAX_FEATURES: usize = 1 << 31;

const FINITE: &str = "a finite number, or NaN for a missing one";

/// From arrays in memory.
///
/// A constructor takes the inputs and calls the features `x0`, `x1`, …; its result has no labels, as
/// rows to be labelled have none. Labels and other names are added to it, and every step checks
/// what it is given.
///
/// | inputs | labels | names |
/// |---|---|---|
/// | [`Dataset::from_rows`] | [`Dataset::with_label_indicators`] | [`Dataset::with_feature_names`] |
/// | [`Dataset::from_sparse_rows`] | [`Dataset::with_label_sets`] | [`Dataset::with_name`] |
/// | [`Dataset::from_columns`] | [`Dataset::with_partial_labels`] | |
/// | `Dataset::from_ndarray` | `Dataset::with_label_ndarray` | |
/// | [`Dataset::from_cells`] | [`Dataset::with_label_matrix`] | |
///
/// The last but one row needs the crate's feature `ndarray`.
impl Dataset {
    /// Rows of `n_features` numbers each, one row after the other, without labels.
    ///
    /// NaN is a missing cell. An infinite cell is refused, and so is a last row that is too short.
    ///
    /// ```
    /// use labelchain::data::Dataset;
    ///
    /// let songs = Dataset::from_rows(2, &[72.0, 0.1, 80.0, f64::NAN, 128.0, 0.9])?
    ///     .with_feature_names(&["tempo", "loudness"])?
    ///     .with_label_sets(&["calm", "sad"], &[vec!["calm", "sad"], vec!["calm"], vec![]])?;
    /// assert_eq!((songs.n_rows(), songs.n_features(), songs.n_labels()), (3, 2, 2));
    /// assert_eq!(songs.labels().counts(), [2, 1]);
    ///
    /// let error = Dataset::from_rows(2, &[72.0, 0.1, f64::INFINITY, 0.2]).unwrap_err();
    /// assert!(error.to_string().starts_with("data, row 1, column \"x0\": expected a finite number"));
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn from_rows(n_features: usize, cells: &[f64]) -> Result<Dataset> {
        // Rows without features have no cells by which to count them, so there are none.
        let n_rows = cells.len().checked_div(n_features).unwrap_or(0);
        Error::unless_same("cells of complete rows", n_rows * n_features, cells.len())?;
        from_dense(n_rows, n_features, cells.to_vec())
    }

    /// Rows of mostly zeros, in compressed sparse row (CSR) form, without labels.
    ///
    /// Row r has the values `values[starts[r]..starts[r + 1]]`, in the columns at the same places of
    /// `columns`; its other cells are 0. So `starts` has one number more than there are rows. SciPy
    /// calls the three arrays `indptr`, `indices` and `data`. Column indices may be of any integer
    /// type, so that long arrays need not be converted first.
    ///
    /// The columns of a row may come in any order, because their order means nothing and the
    /// products of sparse matrices often leave it unsorted. Two values for one cell are refused,
    /// because some programs add them up and others use the last. NaN is a missing cell; infinite
    /// cells are refused.
    ///
    /// ```
    /// use labelchain::data::Dataset;
    ///
    /// // The rows (0, 2, 0), (0, 0, 0) and (1, 0, 3).
    /// let rows = Dataset::from_sparse_rows(3, &[0, 1, 1, 3], &[1, 2, 0], &[2.0, 3.0, 1.0])?;
    /// assert_eq!((rows.n_rows(), rows.n_features(), rows.n_labels()), (3, 3, 0));
    /// assert_eq!([0, 1, 2].map(|column| rows.features().get(2, column)), [1.0, 0.0, 3.0]);
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn from_sparse_rows<C>(
        n_features: usize,
        starts: &[usize],
        columns: &[C],
        values: &[f64],
    ) -> Result<Dataset>
    where
        C: Copy + Display + TryInto<usize>,
    {
        let attributes = numbered(n_features)?;
        Error::unless_same("column indices of the sparse rows", values.len(), columns.len())?;
        let Some((&first, later)) = starts.split_first() else {
            let what = "row starts, one more than there are rows";
            return Err(Error::Shape { what, expected: 1, found: 0 });
        };
        Error::unless_same("start of the first sparse row", 0, first)?;
        let last = later.last().copied().unwrap_or(first);
        Error::unless_same("end of the last sparse row", values.len(), last)?;

        if let Some(pair) = starts.windows(2).find(|pair| pair[0] > pair[1]) {
            let what = "start of a sparse row, at least that of the row before";
            return Err(Error::Shape { what, expected: pair[0], found: pair[1] });
        }

        let mut features = Sparse::new(n_features);
        let mut entries: Vec<(u32, f64)> = vec![];
        for (row, bounds) in starts.windows(2).enumerate() {
            let refuse = |column: &dyn Display, found: f64, expected: &'static str| {
                let (name, column) = (NAME.into(), format!("x{column}"));
                let remedy = "each row names a feature at most once, with a number; the first is 0";
                Err(Error::Cell { name, row, column, found, expected, remedy })
            };
            let span = bounds[0]..bounds[1];
            entries.clear();
            for (&column, &value) in columns[span.clone()].iter().zip(&values[span]) {
                match column.try_into() {
                    Ok(at) if at < n_features => entries.push((at as u32, value)),
                    _ => return refuse(&column, value, "no value outside of the features"),
                }
                if value.is_infinite() {
                    return refuse(&column, value, FINITE);
                }
            }
            entries.sort_by_key(|&(column, _)| column);
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return refuse(&pair[1].0, pair[1].1, "one value for each cell");
            }
            features.push_row(entries.iter().copied());
        }
        without_labels(attributes, Matrix::Sparse(features))
    }

    /// Columns of numbers or named values, all of one length, without labels. A cell of a nominal column
    /// is a position in the list of its values. NaN is a missing cell, and infinite cells are refused.
    ///
    /// ```
    /// use labelchain::data::{Attribute, Dataset};
    ///
    /// let key = Attribute::nominal("key", ["major", "minor"]);
    /// let songs = Dataset::from_columns(vec![
    ///     (Attribute::numeric("tempo"), &[72.0, 80.0, 128.0][..]),
    ///     (key.clone(), &[1.0, f64::NAN, 0.0]),
    /// ])?;
    /// assert_eq!((songs.n_rows(), songs.features().get(2, 0)), (3, 128.0));
    ///
    /// let error = Dataset::from_columns(vec![(key, &[2.0][..])]).unwrap_err();
    /// assert!(error.to_string().starts_with("data, row 0, column \"key\": expected the position"));
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn from_columns(columns: Vec<(Attribute, &[f64])>) -> Result<Dataset> {
        let (n_rows, n_features) = (columns.first().map_or(0, |(_, of)| of.len()), columns.len());
        let mut cells = vec![0.0; n_rows.saturating_mul(n_features)];
        let mut attributes = Vec::with_capacity(n_features);
        for (at, (attribute, column)) in columns.into_iter().enumerate() {
            Error::unless_same("cells of a column", n_rows, column.len())?;
            for (row, &cell) in column.iter().enumerate() {
                cells[row * n_features + at] = cell;
            }
            attributes.push(attribute);
        }
        Dataset::from_cells(attributes, cells)
    }

    /// Rows of one cell for each attribute, one row after the other, without labels: as
    /// [`Dataset::from_columns`], from cells that are laid out as they are kept, so that none is copied.
    ///
    /// ```
    /// use labelchain::data::{Attribute, Dataset};
    ///
    /// let attributes = vec![Attribute::numeric("tempo"), Attribute::nominal("key", ["major", "minor"])];
    /// let songs = Dataset::from_cells(attributes, vec![72.0, 1.0, 80.0, f64::NAN, 128.0, 0.0])?;
    /// assert_eq!((songs.n_rows(), songs.features().get(2, 0)), (3, 128.0));
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn from_cells(attributes: Vec<Attribute>, cells: Vec<f64>) -> Result<Dataset> {
        let n_features = attributes.len();
        let n_rows = cells.len().checked_div(n_features).unwrap_or(0);
        Error::unless_same("cells of complete rows", n_rows * n_features, cells.len())?;
        let n_values: Vec<Option<usize>> =
            attributes.iter().map(|of| of.values().map(<[String]>::len)).collect();
        for (row, of_row) in cells.chunks_exact(n_features.max(1)).enumerate() {
            for (at, (&cell, &n_values)) in of_row.iter().zip(&n_values).enumerate() {
                let is_position = |n: usize| cell.fract() == 0.0 && (0.0..n as f64).contains(&cell);
                if cell.is_infinite() || !cell.is_nan() && !n_values.is_none_or(is_position) {
                    return Err(Error::Cell {
                        name: NAME.into(),
                        row,
                        column: attributes[at].name.clone(),
                        found: cell,
                        expected: if n_values.is_some() {
                            "the position of a named value, or NaN for a missing one"
                        } else {
                            FINITE
                        },
                        remedy: "make it NaN, if the value is not known",
                    });
                }
            }
        }
        let features = Matrix::Dense(Dense::from_cells(n_rows, n_features, cells)?);
        without_labels(attributes, features)?.with_distinct_names()
    }

    /// Rows of an array in any memory layout, without labels. As [`Dataset::from_rows`].
    ///
    /// ```
    /// use labelchain::data::Dataset;
    /// use ndarray::array;
    ///
    /// let cells = array![[72.0, 0.1], [80.0, f64::NAN], [128.0, 0.9]];
    /// let relevant = array![[true, true], [true, false], [false, false]];
    /// let songs = Dataset::from_ndarray(cells.view())?
    ///     .with_label_ndarray(&["calm", "sad"], relevant.view())?;
    /// assert_eq!(songs.labels().counts(), [2, 1]);
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    #[cfg(feature = "ndarray")]
    pub fn from_ndarray(cells: ArrayView2<'_, f64>) -> Result<Dataset> {
        // The iterator goes row by row, whatever the layout.
        from_dense(cells.nrows(), cells.ncols(), cells.iter().copied().collect())
    }

    /// The same rows with these labels: `relevant` says for each row, and in each row for each
    /// label, whether the label is relevant to the row.
    ///
    /// ```
    /// use labelchain::data::Dataset;
    ///
    /// let songs = Dataset::from_rows(1, &[72.0, 80.0, 128.0])?
    ///     .with_label_indicators(&["calm", "sad"], &[true, true, true, false, false, false])?;
    /// assert_eq!(songs.labels().counts(), [2, 1]);
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn with_label_indicators<S: AsRef<str>>(
        self,
        label_names: &[S],
        relevant: &[bool],
    ) -> Result<Dataset> {
        let (n_rows, n_labels) = (self.n_rows(), label_names.len());
        let expected = n_rows.saturating_mul(n_labels);
        Error::unless_same(
            "label indicators, one for each row and label",
            expected,
            relevant.len(),
        )?;
        let mut labels = LabelMatrix::empty(n_rows, n_labels);
        for (row, relevant) in relevant.chunks_exact(n_labels.max(1)).enumerate() {
            for (label, &is_relevant) in relevant.iter().enumerate() {
                labels.set(row, LabelId(label), is_relevant);
            }
        }
        self.with_label_matrix(label_names, labels)
    }

    /// The same rows with these labels, of which some may be unknown: `cells` says for each row, and in
    /// each row for each label, whether the label is relevant to the row, or nothing.
    ///
    /// ```
    /// use labelchain::data::{Dataset, LabelId};
    ///
    /// let songs = Dataset::from_rows(1, &[72.0, 80.0])?
    ///     .with_partial_labels(&["calm", "sad"], &[Some(true), None, Some(true), Some(false)])?;
    /// assert_eq!(songs.labels().cell(0, LabelId(1)), None);
    /// assert_eq!(songs.labels().n_unknown(), 1);
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn with_partial_labels<S: AsRef<str>>(
        self,
        label_names: &[S],
        cells: &[Option<bool>],
    ) -> Result<Dataset> {
        let relevant: Vec<bool> = cells.iter().map(|cell| *cell == Some(true)).collect();
        let mut data = self.with_label_indicators(label_names, &relevant)?;
        for at in (0..cells.len()).filter(|&at| cells[at].is_none()) {
            data.labels.forget(at / label_names.len(), LabelId(at % label_names.len()));
        }
        Ok(data)
    }

    /// The same rows with these labels: `sets` names, for each row, the labels relevant to it, in
    /// any order.
    ///
    /// ```
    /// use labelchain::data::Dataset;
    ///
    /// let songs = Dataset::from_rows(1, &[72.0, 80.0, 128.0])?;
    /// let sets = [vec!["sad", "calm"], vec!["calm"], vec![]];
    /// let labelled = songs.clone().with_label_sets(&["calm", "sad"], &sets)?;
    /// assert_eq!(labelled.labels().counts(), [2, 1]);
    ///
    /// let error = songs.with_label_sets(&["balm", "sad"], &sets).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "data: no label \"calm\" among the 2 columns. Did you mean \"balm\"?"
    /// );
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn with_label_sets<S, L, N>(self, label_names: &[S], sets: &[L]) -> Result<Dataset>
    where
        S: AsRef<str>,
        L: AsRef<[N]>,
        N: AsRef<str>,
    {
        Error::unless_same("label sets, one for each row", self.n_rows(), sets.len())?;
        let names: Vec<String> = label_names.iter().map(|name| name.as_ref().into()).collect();
        let by_name: HashMap<&str, LabelId> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), LabelId(at))).collect();
        let columns = Columns { path: self.name.as_ref(), names: &names, relation: None };
        let mut labels = LabelMatrix::new(names.len());
        for set in sets {
            let row = labels.push_row();
            for name in set.as_ref().iter().map(N::as_ref) {
                let label = match by_name.get(name) {
                    Some(&label) => label,
                    None => LabelId(columns.position("label", name)?),
                };
                labels.set(row, label, true);
            }
        }
        self.with_label_matrix(label_names, labels)
    }

    /// The same rows with these labels: `relevant` has a row for each row and a column for each
    /// label. As [`Dataset::with_label_indicators`].
    #[cfg(feature = "ndarray")]
    pub fn with_label_ndarray<S: AsRef<str>>(
        self,
        label_names: &[S],
        relevant: ArrayView2<'_, bool>,
    ) -> Result<Dataset> {
        Error::unless_same("rows of the label array", self.n_rows(), relevant.nrows())?;
        Error::unless_same("columns of the label array", label_names.len(), relevant.ncols())?;
        let relevant: Vec<bool> = relevant.iter().copied().collect();
        self.with_label_indicators(label_names, &relevant)
    }

    /// The same data with other names for its features: as many as there are features, and all
    /// different, also from the labels' names.
    ///
    /// ```
    /// use labelchain::data::Dataset;
    ///
    /// let songs = Dataset::from_rows(2, &[72.0, 0.1])?;
    /// assert_eq!(songs.attributes()[1].name, "x1");
    /// let songs = songs.with_feature_names(&["tempo", "loudness"])?;
    /// assert_eq!(songs.attributes()[1].name, "loudness");
    /// assert!(songs.with_feature_names(&["tempo", "tempo"]).is_err());
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn with_feature_names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Dataset> {
        Error::unless_same("feature names", self.n_features(), names.len())?;
        for (attribute, name) in Arc::make_mut(&mut self.attributes).iter_mut().zip(names) {
            attribute.name = name.as_ref().into();
        }
        self.with_distinct_names()
    }

    /// The same data with another name for the whole, which messages and written files show. From
    /// arrays it is "data".
    pub fn with_name(mut self, name: impl Into<String>) -> Dataset {
        self.name = name.into();
        self
    }

    /// The same rows with these labels: as many names as the table has labels, all different, also from
    /// the features' names.
    pub fn with_label_matrix<S: AsRef<str>>(
        mut self,
        label_names: &[S],
        labels: LabelMatrix,
    ) -> Result<Dataset> {
        Error::unless_same("rows of the label table", self.n_rows(), labels.n_rows())?;
        Error::unless_same("columns of the label table", label_names.len(), labels.n_labels())?;
        self.label_names = label_names.iter().map(|name| name.as_ref().into()).collect();
        self.labels = labels;
        self.with_distinct_names()
    }

    /// The same data, unless two of its columns share a name. Features and labels are columns of
    /// one table in most file formats, so that a feature and a label must differ, too.
    fn with_distinct_names(self) -> Result<Dataset> {
        let features = self.attributes.iter().map(|attribute| attribute.name.clone());
        let mut names: Vec<String> = features.chain(self.label_names.iter().cloned()).collect();
        check_names(self.name.as_ref(), &mut names, false)?;
        Ok(self)
    }
}

fn from_dense(n_rows: usize, n_features: usize, cells: Vec<f64>) -> Result<Dataset> {
    let attributes = numbered(n_features)?;
    if let Some(at) = cells.iter().position(|cell| cell.is_infinite()) {
        return Err(Error::Cell {
            name: NAME.into(),
            row: at / n_features,
            column: attributes[at % n_features].name.clone(),
            found: cells[at],
            expected: FINITE,
            remedy: "make it NaN, if the value is not known",
        });
    }
    without_labels(attributes, Matrix::Dense(Dense::from_cells(n_rows, n_features, cells)?))
}

/// Numeric features called `x0`, `x1`, …
fn numbered(n_features: usize) -> Result<Vec<Attribute>> {
    if n_features > MAX_FEATURES {
        let (value, accepted) = (n_features.to_string(), "at most 2147483648");
        return Err(Error::Setting { name: "n_features", value, accepted });
    }
    Ok((0..n_features).map(|at| Attribute::numeric(format!("x{at}"))).collect())
}

fn without_labels(attributes: Vec<Attribute>, features: Matrix) -> Result<Dataset> {
    let labels = LabelMatrix::empty(features.n_rows(), 0);
    Dataset::new(NAME, attributes, features, vec![], labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(result: Result<Dataset>) -> String {
        result.unwrap_err().to_string()
    }

    fn rows(n: usize) -> Dataset {
        Dataset::from_rows(1, &vec![0.5; n]).unwrap()
    }

    #[test]
    fn rows_are_read_one_after_the_other() {
        let data = Dataset::from_rows(2, &[1.0, 2.0, 3.0, f64::NAN]).unwrap();
        assert_eq!((data.name(), data.n_rows(), data.n_labels()), ("data", 2, 0));
        assert_eq!((data.features().get(0, 1), data.features().get(1, 0)), (2.0, 3.0));
        assert!(data.features().get(1, 1).is_nan());
        assert_eq!(data.with_name("songs").name(), "songs");
        let nothing = Dataset::from_rows(3, &[]).unwrap();
        assert_eq!((nothing.n_rows(), nothing.n_features()), (0, 3));
        assert_eq!(Dataset::from_rows(0, &[]).unwrap().n_rows(), 0);
    }

    #[test]
    fn cells_that_do_not_fit_are_refused() {
        assert_eq!(
            refusal(Dataset::from_rows(2, &[1.0, 2.0, 3.0])),
            "cells of complete rows: expected 2, found 3"
        );
        assert_eq!(
            refusal(Dataset::from_rows(0, &[1.0])),
            "cells of complete rows: expected 0, found 1"
        );
        assert_eq!(
            refusal(Dataset::from_rows(2, &[1.0, 2.0, 3.0, f64::NEG_INFINITY])),
            "data, row 1, column \"x1\": expected a finite number, or NaN for a missing one, found -inf"
        );
        assert_eq!(
            refusal(Dataset::from_rows(usize::MAX, &[])),
            format!("n_features is {}, but must be at most 2147483648", usize::MAX)
        );
    }

    #[test]
    fn indicators_and_sets_say_the_same() {
        let names = ["a", "b", "c"];
        let by_cell =
            rows(2).with_label_indicators(&names, &[true, false, true, false, true, false]);
        let by_name = rows(2).with_label_sets(&names, &[vec!["c", "a", "c"], vec!["b"]]);
        assert_eq!(by_cell.unwrap(), by_name.unwrap());
        // Slices of borrowed and vectors of owned names will do.
        let slices: &[&[&str]] = &[&["c", "a"], &[]];
        let owned: Vec<Vec<String>> =
            slices.iter().map(|set| set.iter().map(|&name| name.into()).collect()).collect();
        assert_eq!(
            rows(2).with_label_sets(&names, slices).unwrap(),
            rows(2).with_label_sets(&names.map(String::from), &owned).unwrap()
        );
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        assert_eq!(
            refusal(rows(2).with_label_indicators(&["a", "b"], &[true; 3])),
            "label indicators, one for each row and label: expected 4, found 3"
        );
        assert_eq!(
            refusal(rows(2).with_label_sets(&["a"], &[["a"]])),
            "label sets, one for each row: expected 2, found 1"
        );
        assert_eq!(
            refusal(rows(1).with_label_indicators(&["a", "b", "a"], &[true; 3])),
            "data: column name \"a\" occurs 2 times (columns 2, 4)"
        );
        assert_eq!(
            refusal(rows(1).with_label_indicators(&["x0"], &[true])),
            "data: column name \"x0\" occurs 2 times (columns 1, 2)"
        );
    }

    #[test]
    fn feature_names_are_counted_and_different() {
        let data = || rows(1).with_label_indicators(&["a"], &[true]).unwrap();
        assert_eq!(
            refusal(data().with_feature_names(&["u", "v"])),
            "feature names: expected 1, found 2"
        );
        assert!(refusal(data().with_feature_names(&["a"])).contains("\"a\" occurs 2 times"));
        assert_eq!(data().with_feature_names(&["u"]).unwrap().attributes()[0].name, "u");
    }

    #[test]
    fn sparse_rows_hold_the_cells_of_dense_ones() {
        let dense = [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, f64::NAN];
        let starts = [0, 1, 2, 4];
        let sparse = |columns: &[u32]| {
            Dataset::from_sparse_rows(3, &starts, columns, &[2.0, 0.0, f64::NAN, 1.0]).unwrap()
        };
        let (sparse, dense) = (sparse(&[1, 0, 2, 0]), Dataset::from_rows(3, &dense).unwrap());
        assert!(matches!(sparse.features(), Matrix::Sparse(_)));
        for (row, column) in (0..9).map(|at| (at / 3, at % 3)) {
            let cells = [&sparse, &dense].map(|data| data.features().get(row, column).to_bits());
            assert_eq!(cells[0], cells[1]);
        }
        assert_eq!(sparse.features().entries(1).count(), 0, "zeros are not stored");
        assert_eq!(sparse.attributes(), dense.attributes());
    }

    #[test]
    fn sparse_rows_that_do_not_fit_are_refused() {
        let refused = |starts: &[usize], columns: &[i64], values: &[f64]| {
            refusal(Dataset::from_sparse_rows(3, starts, columns, values))
        };
        for (starts, columns, values, message) in [
            (
                &[][..],
                &[][..],
                &[][..],
                "row starts, one more than there are rows: expected 1, found 0",
            ),
            (&[0, 1], &[0, 1], &[1.0], "column indices of the sparse rows: expected 1, found 2"),
            (&[1, 1], &[0], &[1.0], "start of the first sparse row: expected 0, found 1"),
            (&[0, 1], &[0, 1], &[1.0, 2.0], "end of the last sparse row: expected 2, found 1"),
            (
                &[0, 7, 1],
                &[0],
                &[1.0],
                "start of a sparse row, at least that of the row before: expected 7, found 1",
            ),
            (
                &[0, 0, 1],
                &[3],
                &[1.5],
                "data, row 1, column \"x3\": expected no value outside of the features, found 1.5",
            ),
            (
                &[0, 1],
                &[-1],
                &[1.5],
                "data, row 0, column \"x-1\": expected no value outside of the features, found 1.5",
            ),
            (
                &[0, 3],
                &[2, 0, 2],
                &[1.5, 1.0, 2.5],
                "data, row 0, column \"x2\": expected one value for each cell, found 2.5",
            ),
            (
                &[0, 1],
                &[2],
                &[f64::INFINITY],
                "data, row 0, column \"x2\": expected a finite number, or NaN for a missing one, found inf",
            ),
        ] {
            assert_eq!(refused(starts, columns, values), message);
        }
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn arrays_of_any_layout_are_read_by_rows() {
        use ndarray::{Array2, array};
        let cells = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let relevant = array![[true, false, true], [false, false, true], [true, true, false]];
        let data = Dataset::from_rows(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let data = data
            .with_label_indicators(&["a", "b", "c"], &relevant.clone().into_raw_vec_and_offset().0);
        let data = data.unwrap();
        let columns_first = cells.t().as_standard_layout().into_owned();
        let labels_first = relevant.t().as_standard_layout().into_owned();
        for (cells, relevant) in
            [(cells.view(), relevant.view()), (columns_first.t(), labels_first.t())]
        {
            let read = Dataset::from_ndarray(cells).unwrap();
            assert_eq!(read.with_label_ndarray(&["a", "b", "c"], relevant).unwrap(), data);
        }
        let read = || Dataset::from_ndarray(cells.view()).unwrap();
        assert_eq!(
            refusal(read().with_label_ndarray(&["a", "b"], relevant.view())),
            "columns of the label array: expected 2, found 3"
        );
        assert_eq!(
            refusal(read().with_label_ndarray(&["a"], Array2::default((2, 1)).view())),
            "rows of the label array: expected 3, found 2"
        );
        // Rows without cells cannot be walked one by one, where there are this many.
        let nothing = Array2::<f64>::zeros((isize::MAX as usize, 0));
        let nothing = Dataset::from_ndarray(nothing.view()).unwrap();
        assert_eq!(nothing.n_rows(), isize::MAX as usize);
        assert!(nothing.with_label_indicators(&["a", "b", "c"], &[]).is_err());
    }

    fn any_cell() -> impl Strategy<Value = f64> {
        prop_oneof![3 => -2.0..2.0, 1 => any::<f64>()]
    }

    proptest! {
        #[test]
        fn any_slices_give_a_sound_table_or_a_refusal(
            n_features in prop_oneof![4 => 0..5_usize, 1 => (1_usize << 31) + 1..],
            cells in prop::collection::vec(any_cell(), 0..12),
            names in prop::collection::vec("[a-c]|x[0-2]", 0..4),
            relevant in prop::collection::vec(any::<bool>(), 0..9),
            sets in prop::collection::vec(prop::collection::vec("[a-d]", 0..3), 0..5),
        ) {
            if let Ok(data) = Dataset::from_rows(n_features, &cells) {
                prop_assert_eq!(data.n_rows() * n_features, cells.len());
                if let Ok(data) = data.clone().with_label_indicators(&names, &relevant) {
                    prop_assert_eq!(data.labels().counts().iter().sum::<usize>(),
                        relevant.iter().filter(|&&is| is).count());
                }
                if let Ok(data) = data.clone().with_label_sets(&names, &sets) {
                    prop_assert_eq!(data.labels().n_rows(), data.n_rows());
                }
                if let Ok(data) = data.with_feature_names(&names) {
                    prop_assert_eq!(data.n_features(), names.len());
                }
            }
        }

        #[test]
        fn any_sparse_slices_give_a_sound_table_or_a_refusal(
            n_features in prop_oneof![4 => 0..5_usize, 1 => (1_usize << 31) + 1..],
            starts in prop::collection::vec(prop_oneof![9 => 0..6_usize, 1 => any::<usize>()], 0..5),
            columns in prop::collection::vec(prop_oneof![9 => 0..5_i64, 1 => any::<i64>()], 0..6),
            values in prop::collection::vec(any_cell(), 0..6),
            sorted in any::<bool>(),
        ) {
            let (mut starts, mut columns) = (starts, columns);
            if sorted {
                // Otherwise chance would seldom make a table.
                starts.iter_mut().for_each(|start| *start = (*start).min(values.len()));
                starts.sort_unstable();
                starts.insert(0, 0);
                starts.push(values.len());
                columns.resize(values.len(), 1);
            }
            if let Ok(data) = Dataset::from_sparse_rows(n_features, &starts, &columns, &values) {
                prop_assert_eq!(data.n_rows() + 1, starts.len());
                for (at, &column) in columns.iter().enumerate() {
                    let row = starts.partition_point(|&start| start <= at) - 1;
                    let cell = data.features().get(row, column as usize);
                    prop_assert!(cell == values[at] || cell.is_nan() && values[at].is_nan());
                }
            }
        }
    }
}
