//! Labels: which are relevant to which row, from arrays and back.

use labelchain::Error;
use labelchain::data::{LabelId, LabelMatrix};
use numpy::{
    PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;

use crate::errors::exception;

/// Names of labels, and which of them are relevant to which row.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct Labels {
    #[pyo3(get)]
    pub(crate) names: Vec<String>,
    pub(crate) matrix: LabelMatrix,
}

#[pymethods]
impl Labels {
    /// Of cells that are 1, 0 or, where it is unknown, -1.
    #[staticmethod]
    fn from_dense(names: Vec<String>, cells: PyReadonlyArray2<'_, i8>) -> PyResult<Labels> {
        let cells = cells.as_array();
        check_names(names.len(), cells.ncols())?;
        let mut matrix = LabelMatrix::empty(cells.nrows(), cells.ncols());
        for ((row, label), &cell) in cells.indexed_iter() {
            match cell {
                0 => {}
                1 => matrix.set(row, LabelId(label), true),
                -1 => matrix.forget(row, LabelId(label)),
                other => return Err(refused(row, label, other.to_string())),
            }
        }
        Ok(Labels { names, matrix })
    }

    /// Of the positions of the relevant labels of each row, in compressed sparse row form.
    #[staticmethod]
    fn from_sparse(
        names: Vec<String>,
        starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Labels> {
        let (starts, columns) = (starts.as_array(), columns.as_array());
        let n_rows = starts.len().saturating_sub(1);
        let mut matrix = LabelMatrix::empty(n_rows, names.len());
        for row in 0..n_rows {
            for at in starts[row]..starts[row + 1] {
                let column = usize::try_from(at).ok().and_then(|at| columns.get(at));
                let label = column.and_then(|&column| usize::try_from(column).ok());
                match label.filter(|&label| label < names.len()) {
                    Some(label) => matrix.set(row, LabelId(label), true),
                    None => return Err(refused(row, names.len(), "outside of the labels".into())),
                }
            }
        }
        Ok(Labels { names, matrix })
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.matrix.n_rows()
    }

    /// Whether anything is known.
    #[getter]
    fn is_known(&self) -> bool {
        self.matrix.n_unknown() < self.matrix.n_rows() * self.matrix.n_labels()
    }

    /// Cells that are 1, 0 or -1.
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i8>> {
        cells(py, &self.matrix)
    }
}

fn check_names(expected: usize, found: usize) -> PyResult<()> {
    if expected == found {
        Ok(())
    } else {
        Err(exception(Error::Shape { what: "columns of the label table", expected, found }))
    }
}

fn refused(row: usize, label: usize, value: String) -> PyErr {
    exception(Error::Value {
        name: format!("label {label} of row {row}").into(),
        value,
        accepted: "1, 0 or, where it is unknown, -1".into(),
    })
}

/// A label table as an array: 1, 0, or -1 where it is unknown.
pub(crate) fn cells<'py>(py: Python<'py>, labels: &LabelMatrix) -> Bound<'py, PyArray2<i8>> {
    let cell = |row, label| labels.cell(row, label).map_or(-1, i8::from);
    let rows = 0..labels.n_rows();
    let all: Vec<i8> =
        rows.flat_map(|row| labels.ids().map(move |label| cell(row, label))).collect();
    table(py, labels.n_rows(), labels.n_labels(), all)
}

/// Cells row by row as an array.
pub(crate) fn table<T: numpy::Element>(
    py: Python<'_>,
    n_rows: usize,
    n_columns: usize,
    cells: Vec<T>,
) -> Bound<'_, PyArray2<T>> {
    let array = numpy::PyArray1::from_vec(py, cells);
    match array.reshape([n_rows, n_columns]) {
        Ok(table) => table,
        // As many cells as rows times columns always fit.
        Err(_) => unreachable!("{} cells are no {n_rows} x {n_columns}", array.len()),
    }
}
