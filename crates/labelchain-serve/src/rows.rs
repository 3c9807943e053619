//! The rows of a request as a data set.
//!
//! They are written as JSON lines and given to the library's reader, so that a cell means here what it means in a
//! file: what is missing, what is a number, what was never seen in training.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use hyper::StatusCode;
use labelchain::data::{LabelChoice, parse};
use labelchain::error::nearest;
use labelchain::{Dataset, Error};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::served::Served;

/// An object of a request: cells by the names of their columns, or labels by theirs. One that has a key twice is
/// refused: which of the two was meant?
pub(crate) struct Row(pub(crate) Map<String, Value>);

impl<'d> Deserialize<'d> for Row {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Row, D::Error> {
        struct Cells;
        impl<'d> Visitor<'d> for Cells {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'d>>(self, mut cells: M) -> Result<Row, M::Error> {
                let mut row = Map::new();
                while let Some((name, value)) = cells.next_entry::<String, Value>()? {
                    if row.contains_key(&name) {
                        return Err(M::Error::custom(format!(
                            "the key {name:?} stands there twice"
                        )));
                    }
                    row.insert(name, value);
                }
                Ok(Row(row))
            }
        }
        from.deserialize_map(Cells)
    }
}

/// The name of the rows in messages.
pub(crate) const NAME: &str = "rows.jsonl";

/// The rows of a request as a data set. A column that a row does not name is missing there.
pub(crate) fn dataset(rows: &[Row], served: &Served) -> Result<Dataset, Refusal> {
    let names: HashSet<&str> = served.columns.iter().map(|column| column.name.as_str()).collect();
    let mut lines = String::new();
    // No rows are no lines, which would not say the columns.
    let blank = [Row(Map::new())];
    let lines_of = if rows.is_empty() { &blank[..] } else { rows };
    for (at, Row(row)) in lines_of.iter().enumerate() {
        let is_column = |name: &String| names.contains(name.as_str());
        if let Some(name) = row.keys().find(|name| !is_column(name) && !is_idle(name, served)) {
            return Err(unknown_column(name, served).in_row(at));
        }
        // The first line names all columns; what others leave out is missing.
        let absent = served.columns.iter().filter(|_| at == 0).map(|column| &column.name);
        let absent = absent.filter(|name| !row.contains_key(*name));
        let absent = absent.map(|name| (name.clone(), Value::Null));
        let given = row.iter().filter(|(name, _)| is_column(name));
        let given = given.map(|(name, value)| (name.clone(), value.clone()));
        lines += &Value::Object(given.chain(absent).collect()).to_string();
        lines.push('\n');
    }
    let reading = parse(Path::new(NAME), lines.as_bytes(), &served.options);
    let data = reading.and_then(|reading| reading.into_rows()).map_err(in_row)?;
    Ok(if rows.is_empty() { data.select(&[]) } else { data })
}

/// Whether a column stood in the training file and is no input.
fn is_idle(name: &String, served: &Served) -> bool {
    served.model.ids().contains(name) || served.model.left_out().contains(name)
}

fn unusable(message: String) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message)
}

/// Says that a key of a row is no column.
fn unknown_column(name: &str, served: &Served) -> Refusal {
    let is_label = match &served.options.labels {
        LabelChoice::Present(labels) => labels.iter().any(|label| label == name),
        _ => false,
    };
    if is_label {
        return unusable(format!("{name:?} is a label of the model, not a column"))
            .help("labels that are known stand in \"known\"");
    }
    let names: Vec<String> = served.columns.iter().map(|column| column.name.clone()).collect();
    let nearest = nearest(name, &names).cloned();
    let error = Error::UnknownName { what: "column of the model", name: name.into(), nearest };
    Refusal::from(error).help("GET /v1/model lists the columns; one that is left out is missing")
}

/// What the reader says of a line, said of the row that stands there.
fn in_row(error: Error) -> Refusal {
    let Error::Content(content) = &error else { return error.into() };
    let row = content.line.checked_sub(1);
    let message = format!("expected {}, found {}", content.expected, content.found);
    let refusal = Refusal { message, ..Refusal::from(error) };
    match row {
        Some(row) => refusal.in_row(row as usize),
        None => refusal,
    }
}
