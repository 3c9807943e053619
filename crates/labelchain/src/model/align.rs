//! Rows as a model takes them: its columns, found by name, on its scale.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::Model;
use crate::data::{
    Attribute, AttributeKind, Dataset, Dense, IdColumn, LabelId, LabelMatrix, Matrix, Note, Sparse,
};
use crate::decide::Aim;
use crate::error::{Error, Result, nearest};
use crate::progress::Cancel;

/// The codes of notes that some labels are never given, or always.
const NEVER_GIVEN: &str = "never-given";
const ALWAYS_GIVEN: &str = "always-given";

/// Rows whose columns were brought into the order, storage and scale of a model's training data.
/// They know their model, so that rows aligned for one model cannot be given to another.
#[derive(Clone)]
pub struct AlignedRows<'m> {
    pub(super) model: &'m Model,
    /// Standardized.
    pub(super) rows: Dataset,
    /// The labels that are known already, in the order of the model's.
    pub(super) known: Option<LabelMatrix>,
    /// What answers aim at: as the model has it, unless another aim was asked for.
    pub(super) aim: Aim,
    pub(super) cancel: Cancel,
    notes: Vec<Note>,
}

impl<'m> AlignedRows<'m> {
    /// The model that takes them.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// What the first row has in the columns that say which row is which, such as `ticket T-17`; none where
    /// there is no such column.
    pub fn id(&self) -> Option<String> {
        let named = |id: &IdColumn| Some(format!("{} {}", id.name, id.cells.first()?));
        let ids: Vec<String> = self.rows.ids().iter().filter_map(named).collect();
        (!ids.is_empty()).then(|| ids.join(", "))
    }

    /// What had to be left out or became missing.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The rows named, in that order.
    pub fn select(&self, rows: &[usize]) -> AlignedRows<'m> {
        let known = self.known.as_ref().map(|known| known.select(rows));
        let rows = self.rows.select(rows);
        AlignedRows { rows, known, cancel: self.cancel.clone(), notes: Vec::new(), ..*self }
    }

    /// The same rows, to be answered for another aim than the model's.
    ///
    /// ```
    /// use labelchain::{Dataset, LabelChain};
    ///
    /// let cells: Vec<f64> = (0..40).map(f64::from).collect();
    /// let labels: Vec<bool> = (0..40).flat_map(|n| [n > 20, n % 2 == 0]).collect();
    /// let data = Dataset::from_rows(1, &cells)?.with_label_indicators(&["high", "even"], &labels)?;
    /// let model = LabelChain::new("ecc-nb")?.fit(&data)?;
    /// let rows = model.align(&data, "data".as_ref())?.with_aim("top=1".parse()?);
    /// assert!((0..40).all(|row| rows.predict().unwrap().relevant(row).count() == 1));
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn with_aim(self, aim: Aim) -> AlignedRows<'m> {
        let mut rows = AlignedRows { aim, ..self };
        rows.notes.retain(|note| ![NEVER_GIVEN, ALWAYS_GIVEN].contains(&note.code));
        rows.notes.extend(rows.model.given_whatever(aim));
        rows
    }

    /// The same rows; work on them is given up when it is cancelled.
    pub fn cancelled_by(self, cancel: &Cancel) -> AlignedRows<'m> {
        AlignedRows { cancel: cancel.clone(), ..self }
    }

    /// The same rows, some of whose labels are known: a row for each, and a column for each label of
    /// the model. Known labels are kept as they are, and condition those that are unknown.
    ///
    /// A model that can be walked in any order (naive Bayes, nearest neighbours, forest) goes by all of them.
    /// One that was trained for an order (trees, support vector machines) goes by those that come
    /// before a label in its order. Where labels are decided independently (`br`), no label goes by
    /// another.
    pub fn given(self, known: LabelMatrix) -> Result<AlignedRows<'m>> {
        let n_labels = self.model.label_names().len();
        Error::unless_same("rows of known labels", self.n_rows(), known.n_rows())?;
        Error::unless_same("columns of known labels", n_labels, known.n_labels())?;
        Ok(AlignedRows { known: Some(known), ..self })
    }
}

impl Model {
    /// The label of this name.
    pub fn label(&self, name: &str) -> Result<LabelId> {
        let names = self.label_names();
        let label = names.iter().position(|known| known == name).map(LabelId);
        label.ok_or_else(|| Error::UnknownName {
            what: "label of the model",
            name: name.into(),
            nearest: nearest(name, names).cloned(),
        })
    }

    /// The label cells of other data, by name: what [`AlignedRows::given`] takes. Labels that the data
    /// lacks are unknown, and one that the model does not know is refused.
    pub fn known_labels(&self, data: &Dataset) -> Result<LabelMatrix> {
        self.known_labels_of(data.label_names(), data.labels())
    }

    /// The same of a label table whose columns have these names.
    pub fn known_labels_of(&self, names: &[String], labels: &LabelMatrix) -> Result<LabelMatrix> {
        Error::unless_same("columns of the label table", names.len(), labels.n_labels())?;
        let places: Vec<LabelId> =
            names.iter().map(|name| self.label(name)).collect::<Result<_>>()?;
        let mut known = LabelMatrix::unknown(labels.n_rows(), self.label_names.len());
        for row in 0..labels.n_rows() {
            for (label, &place) in labels.ids().zip(&places) {
                let cell = labels.cell(row, label);
                cell.into_iter().for_each(|relevant| known.set(row, place, relevant));
            }
        }
        Ok(known)
    }

    /// Brings the columns of other data into the order and storage of the training data, by name.
    /// Values never seen in training become missing; both that and extra columns are noted. `path` is
    /// where the data came from, for messages.
    pub fn align(&self, data: &Dataset, path: &Path) -> Result<AlignedRows<'_>> {
        let mut notes = Vec::new();
        let encoded;
        let data = match &self.encoder {
            None => data,
            Some(encoder) => {
                let there = by_name(data.attributes());
                let columns: Vec<Attribute> = encoder.columns().collect();
                let is_absent = |name: &&str| !there.contains_key(name);
                let names = columns.iter().map(|column| column.name.as_str());
                let missing: Vec<&str> = names.filter(is_absent).collect();
                if !missing.is_empty() {
                    return Err(self.lacking(data, &missing, path));
                }
                (encoded, notes) = encoder.apply(data, path)?;
                &encoded
            }
        };
        let (features, more) = match self.in_our_order(data) {
            Some(features) => (features, vec![]),
            None => self.by_names(data, path)?,
        };
        notes.extend(more);
        let rows = data.with_shared(Arc::clone(&self.attributes), features)?;
        let rows = self.standardizer.apply(rows)?;
        let (aim, cancel) = (self.method.aim(), self.cancel.clone());
        notes.extend(self.given_whatever(aim));
        Ok(AlignedRows { model: self, rows, known: None, aim, cancel, notes })
    }

    /// The inputs of data that has our columns and no others, in our order and storage; none where one of them has to
    /// be looked up by name, or its values have to.
    fn in_our_order(&self, data: &Dataset) -> Option<Matrix> {
        let is_stored_alike = self.is_sparse == matches!(data.features(), Matrix::Sparse(_));
        let is_number =
            |of: &Attribute| matches!(of.kind, AttributeKind::Numeric | AttributeKind::Word);
        let is_ours = is_stored_alike
            && self.attributes.iter().all(is_number)
            && *self.attributes == *data.attributes();
        is_ours.then(|| data.features().clone())
    }

    /// The inputs of other data by the names of its columns, and what had to be left out or became missing.
    fn by_names(&self, data: &Dataset, path: &Path) -> Result<(Matrix, Vec<Note>)> {
        let mut notes = Vec::new();
        let (here, there) = (by_name(&self.attributes), by_name(data.attributes()));
        let mut sources = Vec::with_capacity(self.attributes.len());
        let mut missing = Vec::new();
        for attribute in &*self.attributes {
            match there.get(attribute.name.as_str()).copied() {
                Some(at) => sources.push(Source::new(attribute, data, at, path)?),
                None => missing.push(attribute.name.as_str()),
            }
        }
        if !missing.is_empty() {
            return Err(self.lacking(data, &missing, path));
        }
        let (features, n_unseen, first) = self.gathered(data, &sources);
        let names = data.attributes().iter().map(|attribute| attribute.name.as_str());
        let is_known = |name: &str| {
            let is_it = |known: &String| known == name;
            here.contains_key(name) || self.ids.iter().chain(&self.left_out).any(is_it)
        };
        let extra: Vec<&str> = names.filter(|name| !is_known(name)).collect();
        if let Some(first) = extra.first() {
            let meant =
                extra.iter().find_map(|name| Some((name, self.absent_label_like(name, data)?)));
            let meant = meant.map(|(name, label)| format!("; is {name:?} the label {label:?}?"));
            let text = format!(
                "columns ignored, for the model does not know them: {} (first: {first:?}){}",
                extra.len(),
                meant.unwrap_or_default()
            );
            notes.push(Note { code: "extra-columns", text });
        }
        if let Some((column, value)) = first {
            let attribute = &data.attributes()[column];
            let value = attribute.values().and_then(|values| values.get(value as usize));
            let text = format!(
                "cells with values never seen in training: {n_unseen} (first: {:?} in {:?}), treated as missing",
                value.map_or("?", String::as_str),
                attribute.name
            );
            notes.push(Note { code: "unseen-values", text });
        }
        Ok((features, notes))
    }

    /// The labels that an aim never gives, because no threshold reaches what it asks for, and those that it gives
    /// to every row.
    fn given_whatever(&self, aim: Aim) -> Vec<Note> {
        let Some(thresholds) = self.thresholds(aim) else { return vec![] };
        let note = |code, what: &str, is_it: &dyn Fn(Option<f64>) -> bool| {
            let named = self.label_names.iter().zip(&thresholds);
            let names: Vec<&str> =
                named.filter(|(_, of)| is_it(**of)).map(|(name, _)| name.as_str()).collect();
            const SHOWN: usize = 5;
            let more = names.len().saturating_sub(SHOWN + 1);
            let shown = names[..names.len() - more].join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("by {aim}, {what}: {shown}{more}");
            (!names.is_empty()).then_some(Note { code, text })
        };
        let never = "these labels are never given, because no threshold is known to reach it";
        let always = "these labels are given to every row, because less does not reach it";
        let notes = [
            note(NEVER_GIVEN, never, &|threshold| threshold.is_none()),
            note(ALWAYS_GIVEN, always, &|threshold| threshold.is_some_and(|of| of <= 0.0)),
        ];
        notes.into_iter().flatten().collect()
    }

    /// The label that a column was probably meant to be called, of those that the data does not have.
    fn absent_label_like(&self, column: &str, data: &Dataset) -> Option<String> {
        let labels = self.label_names.iter().filter(|name| !data.label_names().contains(name));
        // Labels and columns may be many, and most names are nothing like a label.
        const MOST: usize = 1000;
        let labels: Vec<String> = labels.take(MOST).cloned().collect();
        nearest(column, &labels).cloned()
    }

    fn lacking(&self, data: &Dataset, missing: &[&str], path: &Path) -> Error {
        let names: Vec<String> = data.attributes().iter().map(|a| a.name.clone()).collect();
        let shown: Vec<String> = missing
            .iter()
            .take(5)
            .map(|name| match nearest(name, &names) {
                Some(near) => format!("{name:?} (found {near:?}?)"),
                None => format!("{name:?}"),
            })
            .collect();
        let more = if missing.len() > 5 { ", …" } else { "" };
        Error::Columns {
            path: path.into(),
            problem: format!(
                "lacks {} of the {} features the model was trained on: {}{more}",
                missing.len(),
                self.columns().len(),
                shown.join(", ")
            ),
            remedy: "columns are found by name, in any order; name them as in training, and add those that there are \
                     none of, with empty cells"
                .into(),
        }
    }

    /// The cells the model knows, how many it does not, and the column and value of the first of those.
    fn gathered(
        &self,
        data: &Dataset,
        sources: &[Source],
    ) -> (Matrix, usize, Option<(usize, f64)>) {
        let (mut n_unseen, mut first) = (0, None);
        let mut cell = |source: &Source, row: usize| {
            let value = data.features().get(row, source.at);
            let known = source.known(value);
            if known.is_nan() && !value.is_nan() {
                n_unseen += 1;
                first = first.or(Some((source.at, value)));
            }
            known
        };
        let rows = 0..data.n_rows();
        let features = if self.is_sparse {
            // A number that is left out stays so; a name may stand elsewhere among those known here.
            let mut place = vec![None; data.n_features()];
            let (mut names, mut cells) = (Vec::new(), Vec::new());
            for (at, source) in sources.iter().enumerate() {
                match source.values {
                    None => place[source.at] = Some((at as u32, source.unit)),
                    Some(_) => names.push(at),
                }
            }
            let mut sparse = Sparse::new(sources.len());
            for row in rows {
                let stored = data.features().entries(row);
                cells.extend(stored.filter_map(|(column, value)| {
                    let (at, unit) = place[column]?;
                    Some((at, value * unit))
                }));
                cells.extend(names.iter().map(|&at| (at as u32, cell(&sources[at], row))));
                cells.sort_unstable_by_key(|&(at, _)| at);
                sparse.push_row(cells.drain(..));
            }
            Matrix::Sparse(sparse)
        } else {
            let mut dense = Dense::new(sources.len());
            for row in rows {
                let cells: Vec<f64> = sources.iter().map(|source| cell(source, row)).collect();
                dense.push_row(&cells);
            }
            Matrix::Dense(dense)
        };
        (features, n_unseen, first)
    }
}

/// Where each attribute stands; of several with one name, the first.
fn by_name(attributes: &[Attribute]) -> HashMap<&str, usize> {
    attributes
        .iter()
        .enumerate()
        .rev()
        .map(|(at, attribute)| (attribute.name.as_str(), at))
        .collect()
}

/// A column of other data, and what its values are called here.
struct Source {
    at: usize,
    /// For each value there, its place among the values known; none for numbers.
    values: Option<Vec<Option<usize>>>,
    /// What a number there is multiplied by.
    unit: f64,
}

impl Source {
    fn new(known: &Attribute, data: &Dataset, at: usize, path: &Path) -> Result<Source> {
        let is_missing = |row| data.features().get(row, at).is_nan();
        let values = match (&known.kind, &data.attributes()[at].kind) {
            // Text that shows no value cannot show that its values have names.
            (_, AttributeKind::Numeric) if (0..data.n_rows()).all(is_missing) => None,
            (AttributeKind::Numeric, AttributeKind::Numeric)
            | (AttributeKind::Word, AttributeKind::Word) => None,
            (AttributeKind::Nominal(known), AttributeKind::Nominal(found)) => {
                let place = |value: &String| known.iter().position(|other| other == value);
                Some(found.iter().map(place).collect())
            }
            (AttributeKind::Numeric, AttributeKind::Nominal(values)) => {
                let is_name = |value: &&String| value.trim().parse::<f64>().is_err();
                let example = values.iter().find(is_name).or(values.first());
                let example = example.map_or(String::new(), |value| format!(", such as {value:?}"));
                return Err(Error::Columns {
                    path: path.into(),
                    problem: format!(
                        "{:?} was a number in training and has named values here{example}",
                        known.name
                    ),
                    remedy: "make the column numeric, or train again".into(),
                });
            }
            (AttributeKind::Nominal(values), _) => {
                return Err(Error::Columns {
                    path: path.into(),
                    problem: format!(
                        "{:?} had {} named values in training and is a number here",
                        known.name,
                        values.len()
                    ),
                    remedy: "use a format that keeps named values (ARFF, Parquet), or train again"
                        .into(),
                });
            }
            // Files of ARFF and Parquet have dates as milliseconds.
            (AttributeKind::Numeric, AttributeKind::Date) => {
                return Ok(Source { at, values: None, unit: 86_400_000.0 });
            }
            // Dates and texts of a file are encoded before, where the model knows them as such.
            _ => {
                return Err(Error::Columns {
                    path: path.into(),
                    problem: format!("{:?} was a number in training and is none here", known.name),
                    remedy: "give the column the role that it had in training".into(),
                });
            }
        };
        Ok(Source { at, values, unit: 1.0 })
    }

    fn known(&self, value: f64) -> f64 {
        match &self.values {
            None => value * self.unit,
            Some(_) if value.is_nan() => value,
            Some(places) => {
                places.get(value as usize).copied().flatten().map_or(f64::NAN, |place| place as f64)
            }
        }
    }
}
