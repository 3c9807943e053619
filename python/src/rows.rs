//! Rows: inputs from arrays, columns or files.

use std::collections::HashMap;
use std::path::PathBuf;

use labelchain::data::{
    Attribute, AttributeKind, ColumnRoles, Encoding, LabelChoice, Matrix, MissingLabels, Note,
    ReadOptions, read,
};
use labelchain::memory::three_quarters;
use labelchain::{Dataset, Error};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{self, ArrowTable};
use crate::errors::{LimitError, exception};
use crate::labels::{Labels, table};
use crate::work::{without_lock, work};

/// Inputs, perhaps with labels.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct Rows {
    pub(crate) data: Dataset,
    /// What the reader had to decide.
    #[pyo3(get)]
    notes: Vec<String>,
}

/// A column: its name, its cells, and what they are.
type Column<'py> = (String, PyReadonlyArray1<'py, f64>, Option<ColumnKind>);

/// What the cells of a column are that are no numbers: positions of values, `"date"` for days since 1970, or
/// `"text"` for positions of texts, which [`Rows::texts`] has.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum ColumnKind {
    Values(Vec<String>),
    Named(String),
}

/// Names of columns, each with what its cells are unless they are numbers.
pub(crate) type Kinds = Vec<(String, Option<ColumnKind>)>;

/// Sparse cells: starts of rows, column indices and values, as SciPy has them.
type SparseArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Rows {
    /// Of a table of numbers; not copied on the way to the library if its rows stand one after the other.
    #[staticmethod]
    #[pyo3(signature = (cells, names=None, labels=None))]
    fn from_dense(
        cells: PyReadonlyArray2<'_, f64>,
        names: Option<Vec<String>>,
        labels: Option<&Labels>,
    ) -> PyResult<Rows> {
        let n_columns = cells.shape()[1];
        let data = match cells.as_slice() {
            Ok(cells) => Dataset::from_rows(n_columns, cells),
            Err(_) => {
                let cells: Vec<f64> = cells.as_array().iter().copied().collect();
                Dataset::from_rows(n_columns, &cells)
            }
        };
        named(data.map_err(exception)?, names, labels)
    }

    /// Of sparse numbers in compressed sparse row form.
    #[staticmethod]
    #[pyo3(signature = (n_columns, starts, columns, values, names=None, labels=None))]
    fn from_sparse(
        n_columns: usize,
        starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
        names: Option<Vec<String>>,
        labels: Option<&Labels>,
    ) -> PyResult<Rows> {
        // A start below zero is no place, and is refused as one that is too large.
        let start = |&start: &i64| usize::try_from(start).unwrap_or(usize::MAX);
        let starts: Vec<usize> = starts.as_array().iter().map(start).collect();
        let (columns, values) = (columns.as_slice()?, values.as_slice()?);
        let data = Dataset::from_sparse_rows(n_columns, &starts, columns, values);
        named(data.map_err(exception)?, names, labels)
    }

    /// Of columns of numbers or named values.
    #[staticmethod]
    #[pyo3(signature = (columns, labels=None))]
    fn from_columns(columns: Vec<Column<'_>>, labels: Option<&Labels>) -> PyResult<Rows> {
        let mut all = Vec::with_capacity(columns.len());
        for (name, cells, values) in &columns {
            let attribute = match values {
                Some(ColumnKind::Values(values)) => {
                    Attribute::nominal(name, values.iter().cloned())
                }
                Some(ColumnKind::Named(kind)) if kind == "date" => {
                    Attribute { name: name.clone(), kind: AttributeKind::Date }
                }
                _ => Attribute::numeric(name),
            };
            all.push((attribute, cells.as_slice()?));
        }
        named(Dataset::from_columns(all).map_err(exception)?, None, labels)
    }

    /// Of a table of another library. The columns are called otherwise, where names are given.
    #[staticmethod]
    #[pyo3(signature = (table, names=None, labels=None))]
    fn from_arrow(
        py: Python<'_>,
        table: &ArrowTable,
        names: Option<Vec<String>>,
        labels: Option<&Labels>,
    ) -> PyResult<Rows> {
        let (attributes, cells) = without_lock(py, || table.gather())?;
        named(Dataset::from_cells(attributes, cells).map_err(exception)?, names, labels)
    }

    /// Of a file.
    #[staticmethod]
    #[pyo3(signature = (
        path, *, format=None, delimiter=None, labels=None, labels_first=None, labels_last=None, labels_xml=None,
        tags=None, tag_separator=";".to_string(), binarize=None, missing_labels="refuse", encoding="utf8",
        dedupe=false, n_features=None, max_memory=None, text=vec![], drop=vec![],
        keep=vec![],
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        delimiter: Option<&str>,
        labels: Option<Vec<String>>,
        labels_first: Option<usize>,
        labels_last: Option<usize>,
        labels_xml: Option<PathBuf>,
        tags: Option<String>,
        tag_separator: String,
        binarize: Option<&str>,
        missing_labels: &str,
        encoding: &str,
        dedupe: bool,
        n_features: Option<usize>,
        max_memory: Option<u64>,
        text: Vec<String>,
        drop: Vec<String>,
        keep: Vec<String>,
    ) -> PyResult<Rows> {
        let choices = [
            labels.map(LabelChoice::Named),
            labels_first.map(LabelChoice::First),
            labels_last.map(LabelChoice::Last),
            labels_xml.map(LabelChoice::Xml),
            tags.map(|column| LabelChoice::Tags { column, separator: tag_separator }),
        ];
        let mut choices = choices.into_iter().flatten();
        let labels = choices.next().unwrap_or_default();
        if choices.next().is_some() {
            return Err(exception(Error::Setting {
                name: "labels",
                value: "said in two ways".into(),
                accepted: "one of labels, labels_first, labels_last, labels_xml and tags",
            }));
        }
        let options = ReadOptions {
            format: format.map(str::parse).transpose().map_err(exception)?,
            delimiter: delimiter.map(str::parse).transpose().map_err(exception)?,
            labels,
            binarize: binarize.map(str::parse).transpose().map_err(exception)?,
            missing_labels: match missing_labels {
                "refuse" => MissingLabels::Refuse,
                "irrelevant" => MissingLabels::Irrelevant,
                "drop" => MissingLabels::Drop,
                "learn" => MissingLabels::Learn,
                _ => return Err(refused("missing_labels", missing_labels, MISSING_LABELS)),
            },
            encoding: match encoding {
                "utf8" => Encoding::Utf8,
                "latin1" => Encoding::Latin1,
                _ => return Err(refused("encoding", encoding, "\"utf8\" or \"latin1\"")),
            },
            dedupe,
            n_features,
            max_memory: max_memory.unwrap_or_else(three_quarters),
            roles: ColumnRoles { text, drop, keep, id: vec![], find: true }.into(),
            ..ReadOptions::default()
        };
        let reading = work(py, 0, None, |_, _| read(&path, &options))?;
        let notes = reading.notes.iter().map(|note| note.text.clone()).collect();
        Ok(Rows { data: reading.into_rows().map_err(exception)?, notes })
    }

    /// The same rows without their labels.
    fn unlabelled(&self) -> Rows {
        Rows { data: self.data.unlabelled(), notes: vec![] }
    }

    /// The same rows, in which these columns are texts. Of the other columns of strings, dates are found, and
    /// those are left out, with a note, whose values hardly any two rows share.
    fn with_roles(&self, text: Vec<String>, strings: Vec<String>) -> PyResult<Rows> {
        let is_said = |name: &String| !text.contains(name) && !strings.contains(name);
        let names = self.data.attributes().iter().map(|attribute| &attribute.name);
        let keep = names.filter(|name| is_said(name)).cloned().collect();
        let roles = ColumnRoles { text, keep, find: true, ..ColumnRoles::default() };
        let (data, notes) = roles.apply(self.data.clone(), "X".as_ref()).map_err(exception)?;
        let said = |note: Note| match note.code {
            "texts" => note.text + "; text=COLUMN learns from the words",
            "identifiers" | "almost-dates" => {
                note.text + "; a column of type category is learned from"
            }
            _ => note.text,
        };
        Ok(Rows { data, notes: notes.into_iter().map(said).collect() })
    }

    /// Some of the rows.
    fn select(&self, rows: Vec<usize>) -> PyResult<Rows> {
        match rows.iter().find(|&&row| row >= self.data.n_rows()) {
            Some(row) => Err(exception(Error::TooFewRows {
                needed: row.saturating_add(1),
                found: self.data.n_rows(),
                purpose: format!("row {row} (rows count from 0)"),
            })),
            None => Ok(Rows { data: self.data.select(&rows), notes: vec![] }),
        }
    }

    #[getter]
    fn name(&self) -> &str {
        self.data.name()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    #[getter]
    fn is_sparse(&self) -> bool {
        matches!(self.data.features(), Matrix::Sparse(_))
    }

    /// Names of the inputs, each with what its cells are unless they are numbers.
    #[getter]
    fn attributes(&self) -> Kinds {
        kinds(self.data.attributes())
    }

    /// The texts of the columns that have them, by name; cells are positions in these lists.
    #[getter]
    fn texts(&self) -> HashMap<&str, &[String]> {
        let columns = self.data.attributes().iter();
        let texts = columns.filter_map(|of| match &of.kind {
            AttributeKind::Text(texts) => Some((of.name.as_str(), &**texts)),
            _ => None,
        });
        texts.collect()
    }

    /// The rows as a stream that other libraries take.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.check_size()?;
        arrow::stream(py, &self.data)
    }

    #[getter]
    fn labels(&self) -> Labels {
        Labels { names: self.data.label_names().to_vec(), matrix: self.data.labels().clone() }
    }

    #[getter]
    fn label_names(&self) -> Vec<String> {
        self.data.label_names().to_vec()
    }

    /// All cells; named values as their positions.
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.check_size()?;
        let (features, n_columns) = (self.data.features(), self.data.n_features());
        let cells = match features {
            Matrix::Dense(dense) => dense.cells().to_vec(),
            Matrix::Sparse(_) => {
                let cell = |at: usize| features.get(at / n_columns, at % n_columns);
                (0..self.data.n_rows() * n_columns).map(cell).collect()
            }
        };
        Ok(table(py, self.data.n_rows(), n_columns, cells))
    }

    /// The cells that are stored.
    fn sparse<'py>(&self, py: Python<'py>) -> SparseArrays<'py> {
        let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for row in 0..self.data.n_rows() {
            for (column, value) in self.data.features().entries(row) {
                columns.push(column as i64);
                values.push(value);
            }
            starts.push(values.len() as i64);
        }
        (
            PyArray1::from_vec(py, starts),
            PyArray1::from_vec(py, columns),
            PyArray1::from_vec(py, values),
        )
    }
}

impl Rows {
    /// Refuses to lay out all cells of sparse rows where the machine has not the memory.
    fn check_size(&self) -> PyResult<()> {
        let n_cells = self.data.n_rows() as u128 * self.data.n_features() as u128;
        let (needed, allowed) = (8 * n_cells, u128::from(three_quarters()));
        if needed <= allowed {
            return Ok(());
        }
        Err(LimitError::new_err(format!(
            "all cells of {} take {:.0} MB, zeros included, and three quarters of the memory are {:.0} MB\n  \
             help: .X is a CSR matrix with the other cells only, and fit and predict take the data set as it is",
            self.data.name(),
            needed as f64 / 1e6,
            allowed as f64 / 1e6,
        )))
    }
}

const MISSING_LABELS: &str = "\"refuse\", \"irrelevant\", \"drop\" or \"learn\"";

fn refused(name: &'static str, value: &str, accepted: &'static str) -> PyErr {
    exception(Error::Setting { name, value: format!("{value:?}"), accepted })
}

fn named(data: Dataset, names: Option<Vec<String>>, labels: Option<&Labels>) -> PyResult<Rows> {
    let named = match names {
        Some(names) => data.with_feature_names(&names),
        None => Ok(data),
    };
    let labelled = named.and_then(|data| match labels {
        Some(labels) => data.with_label_matrix(&labels.names, labels.matrix.clone()),
        None => Ok(data),
    });
    Ok(Rows { data: labelled.map_err(exception)?, notes: vec![] })
}

/// Names of inputs, each with what its cells are unless they are numbers.
pub(crate) fn kinds(of: &[Attribute]) -> Kinds {
    let kind = |of: &Attribute| match &of.kind {
        AttributeKind::Nominal(values) => Some(ColumnKind::Values(values.clone())),
        AttributeKind::Date => Some(ColumnKind::Named("date".into())),
        AttributeKind::Text(_) => Some(ColumnKind::Named("text".into())),
        AttributeKind::Numeric | AttributeKind::Word => None,
    };
    of.iter().map(|of| (of.name.clone(), kind(of))).collect()
}
