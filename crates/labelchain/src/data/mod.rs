//! Multi-label data: what it is, how it is read and written, cut and described.
//!
//! [`read`] turns a file of any of the formats into a [`Dataset`] (or, for multi-instance files,
//! into [`Bags`]), and [`Dataset::from_rows`] an array in memory; everything later starts from
//! there.

mod arrays;
mod attribute;
pub(crate) mod date;
mod labels;
mod matrix;
pub mod split;
pub mod stratify;

mod file;
mod lines;
mod number;
mod output;
mod relevance;

pub mod label_list;

mod arff;
mod bags;
mod checksums;
mod column_summary;
mod csv;
mod describe;
mod generate;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod roles;
mod row_numbers;
mod rows;
mod streams;
mod svmlight;
mod write;

pub use attribute::{Attribute, AttributeKind};
pub use bags::Bags;
pub use checksums::Checksums;
pub use column_summary::{ColumnRole, ColumnSummary};
pub use csv::{CsvNames, Delimiter};
pub use describe::Description;
pub use file::{Format, stem};
pub use generate::{DrawnNetwork, DrawnShapes, LabelNetwork, Points, Shape, Shapes, Tickets};
pub use label_list::LabelChoice;
pub(crate) use labels::labels_of;
pub use labels::{LabelId, LabelMatrix};
pub use lines::Encoding;
pub use matrix::{Dense, Matrix, Sparse};
pub use output::{Output, is_stream, publish, remove_part_files, save, save_directory};
pub use read::{
    Blocks, MissingLabels, ReadOptions, Reading, Table, parse, read, read_by_columns,
    read_in_blocks,
};
pub use relevance::Threshold;
pub use roles::{ColumnRoles, IdColumn};
pub use row_numbers::RowNumbers;
pub use streams::Streams;
pub use write::{outputs, write, write_in_blocks};

pub(crate) use attribute::Spelt;
pub(crate) use csv::{Record, check_length, open as open_table};
pub(crate) use file::{open, open_stored};
#[cfg(feature = "study")]
pub(crate) use lines::Line;
pub(crate) use read::{check_names, in_blocks};
pub(crate) use rows::Cell;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use label_list::Columns;

/// A table of inputs and the labels relevant to each row, all names kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    name: String,
    /// Data sets of the same columns share them.
    attributes: Arc<[Attribute]>,
    features: Matrix,
    label_names: Vec<String>,
    labels: LabelMatrix,
    weights: Option<Vec<f64>>,
    history: Vec<String>,
    ids: Vec<IdColumn>,
    left_out: Vec<String>,
    /// The inputs that name rows and were kept all the same.
    row_names: Vec<String>,
    /// The inputs that a file declares to be dates, whose cells are milliseconds since 1970.
    milliseconds: Vec<String>,
}

/// Something a user should know about a data set, found while reading or describing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name for programs, such as `constant-label`.
    pub code: &'static str,
    /// A sentence for people: what, how many, where first.
    pub text: String,
}

impl Dataset {
    /// Puts the parts together; they must fit.
    pub fn new(
        name: impl Into<String>,
        attributes: Vec<Attribute>,
        features: Matrix,
        label_names: Vec<String>,
        labels: LabelMatrix,
    ) -> Result<Dataset> {
        Dataset::sharing(name, attributes.into(), features, label_names, labels)
    }

    /// The same, of columns that others have, too.
    pub(crate) fn sharing(
        name: impl Into<String>,
        attributes: Arc<[Attribute]>,
        features: Matrix,
        label_names: Vec<String>,
        labels: LabelMatrix,
    ) -> Result<Dataset> {
        Error::unless_same("columns of the feature table", attributes.len(), features.n_columns())?;
        Error::unless_same("columns of the label table", label_names.len(), labels.n_labels())?;
        Error::unless_same("rows of the label table", features.n_rows(), labels.n_rows())?;
        let name = name.into();
        Ok(Dataset {
            name,
            attributes,
            features,
            label_names,
            labels,
            weights: None,
            history: vec![],
            ids: vec![],
            left_out: vec![],
            row_names: vec![],
            milliseconds: vec![],
        })
    }

    /// The file's name without directory and endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The input columns.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The same, for whoever keeps them.
    pub(crate) fn shared_attributes(&self) -> Arc<[Attribute]> {
        Arc::clone(&self.attributes)
    }

    /// The inputs.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// The position of the input called `name`.
    pub fn feature(&self, name: &str) -> Result<usize> {
        let names: Vec<String> = self.attributes.iter().map(|a| a.name.clone()).collect();
        let columns = Columns { path: self.name.as_ref(), names: &names, relation: None };
        columns.position("feature", name)
    }

    /// The labels' names, in label order.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// The label called `name`.
    pub fn label(&self, name: &str) -> Result<LabelId> {
        let path = self.name.as_ref();
        let columns = Columns { path, names: &self.label_names, relation: None };
        columns.position("label", name).map(LabelId)
    }

    /// Which labels are relevant to which row, and which are unknown.
    pub fn labels(&self) -> &LabelMatrix {
        &self.labels
    }

    /// Row weights of the file. Kept, written back, and used by nothing.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    /// How many inputs.
    pub fn n_features(&self) -> usize {
        self.attributes.len()
    }

    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.label_names.len()
    }

    /// The rows named, in that order.
    pub fn select(&self, rows: &[usize]) -> Dataset {
        Dataset {
            features: self.features.select(rows),
            labels: self.labels.select(rows),
            weights: self.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect()),
            name: self.name.clone(),
            attributes: Arc::clone(&self.attributes),
            label_names: self.label_names.clone(),
            history: self.history.clone(),
            ids: self.ids.iter().map(|id| id.select(rows)).collect(),
            left_out: self.left_out.clone(),
            row_names: self.row_names.clone(),
            milliseconds: self.milliseconds.clone(),
        }
    }

    /// The same rows with other labels.
    pub fn relabelled(self, label_names: Vec<String>, labels: LabelMatrix) -> Result<Dataset> {
        let data =
            Dataset::sharing(&self.name, self.attributes, self.features, label_names, labels)?;
        Ok(Dataset {
            ids: self.ids,
            left_out: self.left_out,
            row_names: self.row_names,
            milliseconds: self.milliseconds,
            ..data
        })
    }

    /// The same rows with some of the inputs.
    pub(crate) fn with_columns(self, columns: Range<usize>) -> Dataset {
        let attributes = self.attributes[columns.clone()].into();
        Dataset {
            attributes,
            features: self.features.columns(&columns.collect::<Vec<_>>()),
            ..self
        }
    }

    /// Adds rows of the same columns. A nominal column of `more` may have other values, because each block of a
    /// file has those of its own rows; cells then get new positions, among the values of both.
    pub(crate) fn append(&mut self, mut more: Dataset) {
        for column in 0..self.attributes.len() {
            let lists = [&self.attributes[column], &more.attributes[column]].map(Attribute::texts);
            let [Some(before), Some(now)] = lists else { continue };
            if before == now {
                continue;
            }
            let mut both: Vec<String> = now.to_vec();
            let known: HashSet<&String> = now.iter().collect();
            both.extend(before.iter().filter(|text| !known.contains(text)).cloned());
            // Formats that do not say an order have the alphabetical one.
            if before.is_sorted() && now.is_sorted() {
                both.sort_unstable();
            }
            let places: HashMap<&String, usize> = both.iter().zip(0..).collect();
            let moved = |of: &[String]| of.iter().map(|text| places[text] as f64).collect();
            let (of_before, of_now): (Vec<f64>, Vec<f64>) = (moved(before), moved(now));
            for (features, places) in
                [(&mut self.features, of_before), (&mut more.features, of_now)]
            {
                let place = |code: f64| places.get(code as usize).copied().unwrap_or(f64::NAN);
                features.map_column(column, |code| if code.is_nan() { code } else { place(code) });
            }
            let kind = match &self.attributes[column].kind {
                AttributeKind::Text(_) => AttributeKind::Text(both.into()),
                _ => AttributeKind::Nominal(both),
            };
            Arc::make_mut(&mut more.attributes)[column].kind = kind;
        }
        self.attributes = more.attributes;
        self.features.append(&more.features);
        for (id, more) in self.ids.iter_mut().zip(more.ids) {
            id.cells.extend(more.cells);
        }
        self.labels.append(&more.labels);
        if let (Some(weights), Some(more)) = (&mut self.weights, more.weights) {
            weights.extend(more);
        }
    }

    /// The same rows without their labels.
    pub fn unlabelled(&self) -> Dataset {
        let labels = LabelMatrix::empty(self.n_rows(), 0);
        Dataset { label_names: vec![], labels, ..self.clone() }
    }

    /// The same rows with other inputs; they must fit.
    pub fn with_features(&self, attributes: Vec<Attribute>, features: Matrix) -> Result<Dataset> {
        self.with_shared(attributes.into(), features)
    }

    /// The same, of columns that others have, too.
    pub(crate) fn with_shared(
        &self,
        attributes: Arc<[Attribute]>,
        features: Matrix,
    ) -> Result<Dataset> {
        let names = self.label_names.clone();
        let data = Dataset::sharing(&self.name, attributes, features, names, self.labels.clone())?;
        Ok(Dataset {
            weights: self.weights.clone(),
            history: self.history.clone(),
            ids: self.ids.clone(),
            left_out: self.left_out.clone(),
            row_names: self.row_names.clone(),
            milliseconds: self.milliseconds.clone(),
            ..data
        })
    }

    /// Columns that say which row is which. They are no inputs; what is said of a row is said under these names.
    pub fn ids(&self) -> &[IdColumn] {
        &self.ids
    }

    /// The columns of the file that are left out.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Whether an input has a value of its own in nearly every row and was kept all the same. It tells rows apart
    /// and with them any labels, but nothing about rows to come, so that feature selection does not choose it.
    pub(crate) fn names_rows(&self, input: usize) -> bool {
        self.row_names.contains(&self.attributes[input].name)
    }

    /// The same rows, in which columns that say which row is which are inputs, the first of all.
    pub fn with_ids_as_inputs(mut self) -> Result<Dataset> {
        let ids = std::mem::take(&mut self.ids);
        if ids.is_empty() {
            return Ok(self);
        }
        let (mut attributes, mut columns) = (Vec::new(), Vec::new());
        for IdColumn { name, cells } in ids {
            let values: std::collections::BTreeSet<&String> =
                cells.iter().filter(|cell| !cell.is_empty()).collect();
            let place: HashMap<&String, f64> =
                values.iter().copied().zip((0..).map(f64::from)).collect();
            let cell = |cell: &String| place.get(cell).copied().unwrap_or(f64::NAN);
            columns.push(cells.iter().map(cell).collect::<Vec<f64>>());
            attributes.push(Attribute::nominal(name, values));
        }
        attributes.extend(self.attributes.iter().cloned());
        let n_ids = columns.len();
        let features = match &self.features {
            Matrix::Dense(dense) => {
                let mut all = Dense::with_room(attributes.len(), self.n_rows());
                for row in 0..self.n_rows() {
                    let ids = columns.iter().map(|cells| cells[row]);
                    all.push_row(&ids.chain(dense.row(row).iter().copied()).collect::<Vec<f64>>());
                }
                Matrix::Dense(all)
            }
            Matrix::Sparse(_) => {
                let mut all = Sparse::new(attributes.len());
                for row in 0..self.n_rows() {
                    let ids = (0..).zip(columns.iter().map(|cells| cells[row]));
                    let inputs = self.features.entries(row);
                    all.push_row(ids.chain(inputs.map(|(at, cell)| ((at + n_ids) as u32, cell))));
                }
                Matrix::Sparse(all)
            }
        };
        self.with_features(attributes, features)
    }

    /// The same, where a file declares some inputs to be dates, in milliseconds.
    pub(crate) fn with_milliseconds(self, inputs: Vec<String>) -> Dataset {
        Dataset { milliseconds: inputs, ..self }
    }

    /// Whether the cells of an input are the milliseconds of dates.
    pub(crate) fn is_in_milliseconds(&self, input: usize) -> bool {
        let attribute = &self.attributes[input];
        attribute.kind == AttributeKind::Numeric && self.milliseconds.contains(&attribute.name)
    }

    /// Some of the inputs, with other kinds; the others are identifiers or left out.
    pub(crate) fn with_roles(
        mut self,
        kept: &[usize],
        kinds: Vec<AttributeKind>,
        ids: Vec<IdColumn>,
        left_out: Vec<String>,
        row_names: Vec<String>,
    ) -> Dataset {
        for (&at, kind) in kept.iter().zip(&kinds) {
            if let (Some(values), AttributeKind::Date) = (self.attributes[at].values(), kind) {
                let days: Vec<Option<f64>> = values.iter().map(|it| date::parse(it)).collect();
                let known = |cell: f64| days.get(cell as usize).copied().flatten();
                let day = |cell: f64| if cell.is_nan() { None } else { known(cell) };
                self.features.map_column(at, |cell| day(cell).unwrap_or(f64::NAN));
            } else if *kind == AttributeKind::Date && self.is_in_milliseconds(at) {
                self.features.map_column(at, date::days);
            }
        }
        let keeps_all = kept.iter().copied().eq(0..self.features.n_columns());
        let same_kind = |(kind, of): (&AttributeKind, &Attribute)| *kind == of.kind;
        let attributes = if keeps_all && kinds.iter().zip(&*self.attributes).all(same_kind) {
            self.attributes
        } else {
            let name = |at: usize| self.attributes[at].name.clone();
            let named = kept.iter().zip(kinds);
            named.map(|(&at, kind)| Attribute { name: name(at), kind }).collect()
        };
        Dataset {
            attributes,
            features: if keeps_all { self.features } else { self.features.columns(kept) },
            ids,
            left_out,
            row_names,
            ..self
        }
    }

    /// The same rows with further numeric inputs of these names, whose cells are given row by row.
    pub fn with_numbers(&self, names: Vec<String>, cells: &[f64]) -> Result<Dataset> {
        let n_more = names.len();
        Error::unless_same("cells of further inputs", self.n_rows() * n_more, cells.len())?;
        let mut attributes = self.attributes.to_vec();
        attributes.extend(names.into_iter().map(Attribute::numeric));
        let n_columns = attributes.len();
        let more = |row: usize| cells[row * n_more..(row + 1) * n_more].iter().copied();
        let features = match &self.features {
            Matrix::Dense(_) => {
                let mut all = Dense::new(n_columns);
                for row in 0..self.n_rows() {
                    let known = (0..self.n_features()).map(|column| self.features.get(row, column));
                    all.push_row(&known.chain(more(row)).collect::<Vec<f64>>());
                }
                Matrix::Dense(all)
            }
            Matrix::Sparse(_) => {
                let mut all = Sparse::new(n_columns);
                for row in 0..self.n_rows() {
                    let known =
                        self.features.entries(row).map(|(column, cell)| (column as u32, cell));
                    let places = self.n_features() as u32..;
                    all.push_row(known.chain(places.zip(more(row))));
                }
                Matrix::Sparse(all)
            }
        };
        self.with_features(attributes, features)
    }

    /// The same rows with the centre of its column subtracted from every stored cell, which is then
    /// divided by the column's scale.
    pub(crate) fn rescaled(mut self, centers: &[f64], scales: &[f64]) -> Dataset {
        self.features.rescale(centers, scales);
        self
    }

    /// The same rows with some of the labels, in that order.
    pub fn with_labels(&self, kept: &[LabelId]) -> Dataset {
        let mut labels = LabelMatrix::empty(self.n_rows(), kept.len());
        for row in 0..self.n_rows() {
            for (at, &label) in kept.iter().enumerate() {
                match self.labels.cell(row, label) {
                    Some(relevant) => labels.set(row, LabelId(at), relevant),
                    None => labels.forget(row, LabelId(at)),
                }
            }
        }
        let label_names = kept.iter().map(|label| self.label_names[label.0].clone()).collect();
        Dataset { label_names, labels, ..self.clone() }
    }

    /// What was done to the data before it became this, one sentence a step. Writers put it at the
    /// head of the file; readers do not look for it there.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Adds a step to the history, on one line.
    pub fn remember(&mut self, step: &str) {
        self.history.push(step.replace(char::is_control, " "));
    }

    /// Bytes of cells and labels held.
    pub fn n_bytes(&self) -> usize {
        self.features.n_bytes() + self.labels.n_bytes()
    }
}
