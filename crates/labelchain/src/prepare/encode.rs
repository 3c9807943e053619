//! Dates and texts as inputs that methods can learn from.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::text::{TextSettings, Vocabulary};
use crate::data::{
    Attribute, AttributeKind, Dataset, Dense, Matrix, Note, Sparse, check_names, date,
};
use crate::error::{Error, Result};
use crate::memory::Memory;

/// Makes inputs of dates and texts, as it learned from training rows.
///
/// | column | inputs |
/// |---|---|
/// | a date `d` | `d`, in days since 1970; `d:weekday` and `d:month`, as named values |
/// | a text `t` | `t: WORD` for each word and pair of words of its [`Vocabulary`] |
///
/// Other columns stay as they are. Where there are texts, the table becomes sparse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    columns: Vec<Column>,
}

/// A column as a file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    name: String,
    encoding: Encoding,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Encoding {
    AsItIs(AttributeKind),
    Date,
    Text(Vocabulary),
}

impl Encoder {
    /// Learns the words of texts; none if there is neither a date nor a text. Refused where the words would take
    /// more memory than there is.
    pub fn fit(
        train: &Dataset,
        settings: TextSettings,
        memory: &Memory,
    ) -> Result<Option<Encoder>> {
        let is_encoded = |attribute: &Attribute| {
            matches!(attribute.kind, AttributeKind::Date | AttributeKind::Text(_))
        };
        if !train.attributes().iter().any(is_encoded) {
            return Ok(None);
        }
        let column = |(at, attribute): (usize, &Attribute)| {
            let encoding = match &attribute.kind {
                AttributeKind::Date => Encoding::Date,
                AttributeKind::Text(_) => {
                    let texts = texts(train, at);
                    let texts = texts.iter().map(Option::as_deref);
                    let name = train.name();
                    Encoding::Text(Vocabulary::fit_within(texts, settings, name, memory)?)
                }
                kind => Encoding::AsItIs(kind.clone()),
            };
            Ok(Column { name: attribute.name.clone(), encoding })
        };
        let columns = train.attributes().iter().enumerate().map(column);
        let encoder = Encoder { columns: columns.collect::<Result<_>>()? };
        let mut names: Vec<String> =
            encoder.attributes().into_iter().map(|attribute| attribute.name).collect();
        check_names(Path::new(train.name()), &mut names, false)?;
        Ok(Some(encoder))
    }

    /// The columns as a file has them, whose texts are not kept.
    pub fn columns(&self) -> impl Iterator<Item = Attribute> + '_ {
        self.columns.iter().map(|column| {
            let kind = match &column.encoding {
                Encoding::AsItIs(kind) => kind.clone(),
                Encoding::Date => AttributeKind::Date,
                Encoding::Text(_) => AttributeKind::Text([].into()),
            };
            Attribute { name: column.name.clone(), kind }
        })
    }

    /// Lets columns of named values have those of other columns, which are given as a file has them.
    pub(crate) fn set_values(&mut self, columns: &[Attribute]) {
        for (column, attribute) in self.columns.iter_mut().zip(columns) {
            if let Encoding::AsItIs(kind) = &mut column.encoding {
                *kind = attribute.kind.clone();
            }
        }
    }

    /// The words of a column of texts; none for other columns.
    pub fn vocabulary(&self, column: &str) -> Option<&Vocabulary> {
        self.columns.iter().find(|of| of.name == column).and_then(|of| match &of.encoding {
            Encoding::Text(vocabulary) => Some(vocabulary),
            _ => None,
        })
    }

    /// The inputs that it makes.
    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        self.columns.iter().flat_map(Column::attributes).collect()
    }

    /// Whether an input is the number of a date.
    pub(crate) fn is_date(&self, input: &str) -> bool {
        self.columns.iter().any(|of| of.name == input && of.encoding == Encoding::Date)
    }

    /// Shares of inputs as shares of the columns that they are made of.
    pub(crate) fn by_column(&self, shares: &[f64]) -> Vec<f64> {
        let mut rest = shares;
        let column = |of: &Column| {
            let (here, later) = rest.split_at(of.n_inputs().min(rest.len()));
            rest = later;
            here.iter().sum()
        };
        self.columns.iter().map(column).collect()
    }

    /// Makes inputs of the columns of other rows, which are found by name. Columns that it does not know stay
    /// as they are, and of those that are not there nothing is made. `path` is where the rows came from, for
    /// messages; notes say what became missing.
    pub fn apply(&self, data: &Dataset, path: &Path) -> Result<(Dataset, Vec<Note>)> {
        let by_name: HashMap<&str, usize> =
            (0..).zip(data.attributes()).map(|(at, of)| (of.name.as_str(), at)).collect();
        let mut notes = Vec::new();
        let (mut attributes, mut sources) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let Some(&at) = by_name.get(column.name.as_str()) else { continue };
            let first = attributes.len();
            let cells = match &column.encoding {
                Encoding::AsItIs(_) => {
                    // Its kind is what these rows have: whether that fits is for the model to say.
                    attributes.push(data.attributes()[at].clone());
                    Cells::AsTheyAre(at)
                }
                Encoding::Date => {
                    attributes.extend(column.attributes());
                    Cells::Dates(dates(data, at, path, &mut notes)?)
                }
                Encoding::Text(vocabulary) => {
                    attributes.extend(column.attributes());
                    let texts = texts(data, at);
                    let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
                    Cells::Words(vocabulary.all_weights(&texts))
                }
            };
            sources.push((first as u32, cells));
        }
        let known: HashSet<&str> = self.columns.iter().map(|of| of.name.as_str()).collect();
        for (at, attribute) in data.attributes().iter().enumerate() {
            if !known.contains(attribute.name.as_str()) {
                sources.push((attributes.len() as u32, Cells::AsTheyAre(at)));
                attributes.push(attribute.clone());
            }
        }
        let is_sparse = matches!(data.features(), Matrix::Sparse(_))
            || self.columns.iter().any(|of| matches!(of.encoding, Encoding::Text(_)));
        let cells_of = |row: usize, cells: &mut Vec<(u32, f64)>| {
            for (first, source) in &sources {
                match source {
                    Cells::AsTheyAre(at) => cells.push((*first, data.features().get(row, *at))),
                    Cells::Dates(days) => cells.extend((*first..).zip(date_cells(days[row]))),
                    Cells::Words(weights) => {
                        cells.extend(weights[row].iter().map(|(word, it)| (first + word, *it)));
                    }
                }
            }
        };
        let mut cells = Vec::new();
        let features = if is_sparse {
            let mut sparse = Sparse::new(attributes.len());
            for row in 0..data.n_rows() {
                cells_of(row, &mut cells);
                sparse.push_row(cells.drain(..));
            }
            Matrix::Sparse(sparse)
        } else {
            let mut dense = Dense::with_room(attributes.len(), data.n_rows());
            for row in 0..data.n_rows() {
                cells_of(row, &mut cells);
                dense.push_row(&cells.drain(..).map(|(_, cell)| cell).collect::<Vec<f64>>());
            }
            Matrix::Dense(dense)
        };
        Ok((data.with_features(attributes, features)?, notes))
    }
}

/// What a column gives each row.
enum Cells {
    /// The cells of this column.
    AsTheyAre(usize),
    /// Days since 1970.
    Dates(Vec<f64>),
    /// Words and their weights.
    Words(Vec<Vec<(u32, f64)>>),
}

impl Column {
    fn n_inputs(&self) -> usize {
        match &self.encoding {
            Encoding::AsItIs(_) => 1,
            Encoding::Date => 3,
            Encoding::Text(vocabulary) => vocabulary.terms().len(),
        }
    }

    /// The inputs that are made of it.
    fn attributes(&self) -> Vec<Attribute> {
        let name = &self.name;
        match &self.encoding {
            Encoding::AsItIs(kind) => vec![Attribute { name: name.clone(), kind: kind.clone() }],
            Encoding::Date => vec![
                Attribute::numeric(name),
                Attribute::nominal(format!("{name}:weekday"), date::WEEKDAYS),
                Attribute::nominal(format!("{name}:month"), date::MONTHS),
            ],
            Encoding::Text(vocabulary) => {
                let word = |term: &String| Attribute {
                    name: format!("{name}: {term}"),
                    kind: AttributeKind::Word,
                };
                vocabulary.terms().iter().map(word).collect()
            }
        }
    }
}

/// The number of days, the day of the week and the month.
fn date_cells(days: f64) -> [f64; 3] {
    if days.is_nan() {
        return [days; 3];
    }
    [days, date::weekday(days) as f64, date::month(days) as f64]
}

/// The texts of a column, whatever its kind.
fn texts(data: &Dataset, at: usize) -> Vec<Option<Cow<'_, str>>> {
    let attribute = &data.attributes()[at];
    (0..data.n_rows()).map(|row| attribute.text(data.features().get(row, at))).collect()
}

/// The days of a column of dates, which a reader may have taken for named values.
fn dates(data: &Dataset, at: usize, path: &Path, notes: &mut Vec<Note>) -> Result<Vec<f64>> {
    let attribute = &data.attributes()[at];
    let cells = (0..data.n_rows()).map(|row| data.features().get(row, at));
    match &attribute.kind {
        AttributeKind::Date => Ok(cells.collect()),
        AttributeKind::Numeric if cells.clone().all(f64::is_nan) => Ok(cells.collect()),
        AttributeKind::Numeric if data.is_in_milliseconds(at) => {
            Ok(cells.map(date::days).collect())
        }
        AttributeKind::Nominal(values) => {
            let days: Vec<Option<f64>> = values.iter().map(|value| date::parse(value)).collect();
            let mut first = None;
            let mut n_others = 0;
            let day = |cell: f64| {
                let value = (!cell.is_nan()).then_some(cell as usize)?;
                let day = days.get(value).copied().flatten();
                if day.is_none() {
                    n_others += 1;
                    first = first.or(values.get(value));
                }
                day
            };
            let days = cells.map(day).map(|day| day.unwrap_or(f64::NAN)).collect();
            if let Some(first) = first {
                let text = format!(
                    "cells that are no dates, treated as missing: {n_others} (first: {first:?} in {:?})",
                    attribute.name
                );
                notes.push(Note { code: "no-dates", text });
            }
            Ok(days)
        }
        _ => Err(Error::Columns {
            path: path.into(),
            problem: format!("{:?} held dates in training and holds numbers here", attribute.name),
            remedy: "write dates as in 2024-02-29 or 2024-02-29T17:30, or train again".into(),
        }),
    }
}
