//! The rows of a request as a data set.
//!
//! They are written as the text of a CSV file and given to the library's reader, so that a cell means here
//! what it means in a file: what is missing, what is a number, what was never seen in training.

use std::path::Path;

use hyper::StatusCode;
use labelchain::data::{Attribute, LabelChoice, ReadOptions, parse};
use labelchain::error::nearest;
use labelchain::{Dataset, Error};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// A row of a request: cells by the names of their columns.
pub(crate) type Row = Map<String, Value>;

/// The name of the rows in messages.
pub(crate) const NAME: &str = "rows.csv";

/// Rows of these columns as a data set. A column that a row does not name is missing there.
pub(crate) fn dataset(
    rows: &[Row],
    columns: &[Attribute],
    options: &ReadOptions,
) -> Result<Dataset, Refusal> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let unwritten = |error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}"));
    csv.write_record(columns.iter().map(|column| &column.name)).map_err(unwritten)?;
    for (at, row) in rows.iter().enumerate() {
        let mut n_found = 0;
        for column in columns {
            let value = row.get(&column.name);
            n_found += usize::from(value.is_some());
            let text = cell(value).ok_or_else(|| {
                let message = format!("{:?} is a list or an object", column.name);
                unusable(message).help("a cell is a number, a text, true, false or null").in_row(at)
            })?;
            csv.write_field(text).map_err(unwritten)?;
        }
        csv.write_record(None::<&[u8]>).map_err(unwritten)?;
        if n_found < row.len() {
            return Err(unknown_column(row, columns, options).in_row(at));
        }
    }
    let text = csv.into_inner().map_err(|error| unwritten(error.into_error().into()))?;
    let reading = parse(Path::new(NAME), &text, options);
    reading.and_then(|reading| reading.into_rows()).map_err(|error| in_row(error, &text))
}

/// The text of a cell; none where it is no single value.
fn cell(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
        Some(Value::Array(_) | Value::Object(_)) => None,
    }
}

fn unusable(message: String) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message)
}

/// Names the first key of a row that is no column.
fn unknown_column(row: &Row, columns: &[Attribute], options: &ReadOptions) -> Refusal {
    let is_column = |name: &str| columns.iter().any(|column| column.name == name);
    let name = row.keys().find(|name| !is_column(name)).map_or("", String::as_str);
    let is_label = match &options.labels {
        LabelChoice::Present(labels) => labels.iter().any(|label| label == name),
        _ => false,
    };
    if is_label {
        return unusable(format!("{name:?} is a label of the model, not a column"))
            .help("labels that are known stand in \"known\"");
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let nearest = nearest(name, &names).cloned();
    let error = Error::UnknownName { what: "column of the model", name: name.into(), nearest };
    Refusal::from(error).help("GET /v1/model lists the columns; one that is left out is missing")
}

/// What the reader says of a line of the text, said of the row that stands there. A cell may hold line ends,
/// so that rows have to be counted.
fn in_row(error: Error, text: &[u8]) -> Refusal {
    let Error::Content(content) = &error else { return error.into() };
    let mut reader = csv::Reader::from_reader(text);
    let is_before = |record: &csv::StringRecord| {
        record.position().is_some_and(|position| position.line() <= content.line)
    };
    let n_before = reader.records().map_while(Result::ok).take_while(is_before).count();
    let message = format!("expected {}, found {}", content.expected, content.found);
    let refusal = Refusal { message, ..Refusal::from(error) };
    if n_before == 0 { refusal } else { refusal.in_row(n_before - 1) }
}
