//! What is asked of the model, and its answer.

use hyper::StatusCode;
use labelchain::chain::QuantityDisplay;
use labelchain::data::{LabelMatrix, Note};
use labelchain::decide::Aim;
use labelchain::model::{AlignedRows, Explanation};
use labelchain::{Cancel, Model};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::Limits;
use crate::refusal::Refusal;
use crate::rows::{self, Row};
use crate::served::Served;

/// The body of `POST /v1/predict` and `POST /v1/explain`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'b> {
    /// The rows to be labelled, as they are spelt until they have been counted.
    #[serde(borrow)]
    rows: Vec<&'b RawValue>,
    /// The labels that are known of each row, by name, as 0, 1, false or true; null is unknown.
    #[serde(default)]
    known: Vec<Row>,
    /// What the answers aim at; as the model has it where there is none.
    aim: Option<String>,
}

/// What is done with rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    Predict,
    Explain,
}

/// An answer, and how many rows it is about.
pub(crate) struct Answer {
    pub(crate) json: String,
    pub(crate) n_rows: usize,
}

/// Answers a body. It takes a moment, so that no thread that talks to clients may call it.
pub(crate) fn answer(
    task: Task,
    body: &[u8],
    served: &Served,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Answer, Refusal> {
    let request: Request<'_> = serde_json::from_slice(body).map_err(|error| {
        let help = "the body is {\"rows\":[{\"column\":value}],\"known\":[{\"label\":1}],\"aim\":\"hamming\"}, of which rows must be there";
        Refusal::new(StatusCode::BAD_REQUEST, error.to_string()).help(help)
    })?;
    let n_rows = request.rows.len();
    let most = match task {
        Task::Predict => limits.rows,
        Task::Explain => limits.explained_rows,
    };
    if n_rows > most {
        let message = format!("{n_rows} rows, but a request may have {most}");
        let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message);
        return Err(refusal.help("send them in several requests"));
    }
    let row = |(at, row): (usize, &&RawValue)| {
        let read = serde_json::from_str::<Row>(row.get());
        let unread = |error: serde_json::Error| {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, error.to_string());
            refusal.help("a row is an object with the cells by column").in_row(at)
        };
        read.map_err(unread)
    };
    let rows = request.rows.iter().enumerate().map(row).collect::<Result<Vec<Row>, Refusal>>()?;
    let model = &served.model;
    let aim = request.aim.as_deref().map(str::parse::<Aim>).transpose()?;
    let aim = aim.unwrap_or(model.method().aim());
    let data = rows::dataset(&rows, served)?;
    let mut aligned = model.align(&data, rows::NAME.as_ref())?.with_aim(aim).cancelled_by(cancel);
    if !request.known.is_empty() {
        aligned = aligned.given(known_labels(model, &request)?)?;
    }
    let names = model.label_names();
    let mut answer = json!({ "aim": aim.to_string() });
    answer["thresholds"] = match served.model.thresholds(aim) {
        Some(thresholds) => by_name(names, thresholds.into_iter().map(|it| json!(it))),
        None => Value::Null,
    };
    answer["notes"] = aligned.notes().iter().map(|note: &Note| note.text.as_str()).collect();
    match task {
        Task::Predict => answer["predictions"] = predictions(&aligned, &rows)?,
        Task::Explain => {
            let explanations = aligned.explain()?;
            let numbered = explanations.iter().enumerate();
            answer["walks"] = numbered
                .clone()
                .map(|(row, explanation)| walk(&aligned, row, explanation))
                .collect::<Result<_, Refusal>>()?;
            answer["explanations"] =
                numbered.map(|(row, explanation)| explanation.json(row)).collect();
        }
    }
    Ok(Answer { json: answer.to_string(), n_rows })
}

fn by_name(names: &[String], values: impl Iterator<Item = Value>) -> Value {
    names.iter().cloned().zip(values).collect::<Map<_, _>>().into()
}

fn predictions(aligned: &AlignedRows, rows: &[Row]) -> Result<Value, Refusal> {
    let names = aligned.model().label_names();
    let (ids, prediction) = (aligned.model().ids(), aligned.predict()?);
    let one = |row| {
        let probabilities = prediction.probabilities(row);
        let mut one = json!({
            "relevant": prediction.relevant(row).collect::<Vec<_>>(),
            "probabilities": probabilities.map(|of| by_name(names, of.iter().map(|&p| json!(p)))),
        });
        // What says which row is which comes back with its answer.
        for (name, value) in rows[row].0.iter().filter(|(name, _)| ids.contains(name)) {
            one["id"][name] = value.clone();
        }
        one
    };
    Ok((0..rows.len()).map(one).collect())
}

/// The decisions of the member that agrees most with the answer, in words and numbers that the explanation's
/// JSON does not have: what the inputs alone say of each label, and why it was this order.
fn walk(aligned: &AlignedRows, row: usize, explanation: &Explanation) -> Result<Value, Refusal> {
    let member = explanation.most_agreeing();
    let alone = aligned.select(&[row]).scores_alone(member)?.concat();
    let alone: Vec<f64> = alone.iter().map(|score| score.value().clamp(-1e308, 1e308)).collect();
    let reason = explanation.members.get(member).and_then(|trace| trace.reason.as_ref());
    let quantities = reason.into_iter().flat_map(|reason| &reason.by_label).map(|quantity| {
        json!({
            "title": quantity.title,
            "help": quantity.help,
            "is_percent": quantity.display == QuantityDisplay::Percent,
            "values": quantity.values,
        })
    });
    Ok(json!({
        "member": member,
        "agreed": explanation.n_agreed(member),
        "how": explanation.how(member),
        "why": explanation.why(member),
        "alone": alone,
        "quantities": quantities.collect::<Vec<_>>(),
    }))
}

/// The labels that a request knows, as a table of the model's labels.
fn known_labels(model: &Model, request: &Request<'_>) -> Result<LabelMatrix, Refusal> {
    let (n_rows, n_known) = (request.rows.len(), request.known.len());
    if n_known != n_rows {
        let message = format!("known has {n_known} objects and rows has {n_rows}");
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message)
            .help("known has an object for each row, {} where nothing is known"));
    }
    let mut known = LabelMatrix::unknown(n_rows, model.label_names().len());
    for (row, Row(labels)) in request.known.iter().enumerate() {
        for (name, value) in labels {
            let label = model.label(name).map_err(|error| Refusal::from(error).in_row(row))?;
            let relevant = match value {
                Value::Null => continue,
                Value::Bool(relevant) => Some(*relevant),
                value => value.as_u64().filter(|&bit| bit <= 1).map(|bit| bit == 1),
            };
            let relevant = relevant.ok_or_else(|| {
                let message = format!("label {name:?} is known to be {value}");
                let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message);
                refusal.help("a known label is 0, 1, false or true; null is unknown").in_row(row)
            })?;
            known.set(row, label, relevant);
        }
    }
    Ok(known)
}
