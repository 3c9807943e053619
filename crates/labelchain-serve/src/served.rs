//! The model that answers, and what has to be known of it once.

use std::sync::Arc;

use hyper::body::Bytes;
use labelchain::data::{Attribute, AttributeKind, LabelChoice, MissingLabels, ReadOptions};
use labelchain::decide::AIMS;
use labelchain::{Error, Model, Result};
use serde_json::{Map, Value, json};

use crate::Limits;

/// The model that answers.
pub(crate) struct Served {
    pub(crate) model: Model,
    /// The columns that a row may have.
    pub(crate) columns: Arc<[Attribute]>,
    /// How the rows of a request are read for it.
    pub(crate) options: ReadOptions,
    /// The answer to `GET /v1/model`.
    pub(crate) description: Bytes,
}

impl Served {
    /// `example` is a row to begin with; without one it is made of what the model knows.
    pub(crate) fn new(
        model: Model,
        example: Option<&Map<String, Value>>,
        limits: &Limits,
    ) -> Result<Served> {
        if model.bags().is_some() {
            return Err(Error::Setting {
                name: "model",
                value: "one of bags of instances".into(),
                accepted: "one that was trained on single rows, which is what a request has",
            });
        }
        // A request should neither wait for the disk nor find a file that was written over meanwhile.
        model.verify()?;
        let columns = model.columns();
        let options = ReadOptions {
            // Labels stand in a part of their own, so that a row that has one is refused by name.
            labels: LabelChoice::Present(model.label_names().to_vec()),
            missing_labels: MissingLabels::Irrelevant,
            attributes: Arc::clone(&columns),
            max_memory: limits.memory,
            ..ReadOptions::default()
        };
        let description = describe(&model, &columns, example, limits).to_string().into();
        Ok(Served { model, columns, options, description })
    }
}

/// A text to begin with: the words of a column that matter most to the model, as far as it says so.
fn important_words(model: &Model, column: &str) -> String {
    const N_WORDS: usize = 4;
    let Some(shares) = model.importance() else { return String::new() };
    let prefix = format!("{column}: ");
    let term = |(attribute, share): (&'_ Attribute, f64)| {
        let term = attribute.name.strip_prefix(&prefix)?;
        let is_word = attribute.kind == AttributeKind::Word && !term.contains(' ');
        is_word.then(|| (share, term.to_string()))
    };
    let mut words: Vec<(f64, String)> =
        model.attributes().iter().zip(shares).filter_map(term).collect();
    words.sort_by(|a, b| b.0.total_cmp(&a.0));
    let words = words.into_iter().take(N_WORDS).map(|(_, word)| word);
    words.collect::<Vec<_>>().join(" ")
}

fn describe(
    model: &Model,
    columns: &[Attribute],
    example: Option<&Map<String, Value>>,
    limits: &Limits,
) -> Value {
    let (means, deviations) = (model.standardizer().means(), model.standardizer().deviations());
    let column = |attribute: &Attribute| {
        let given = example.and_then(|row| row.get(&attribute.name).cloned());
        // Numbers and dates are inputs under the name of their column.
        let input = model.attributes().iter().position(|input| input.name == attribute.name);
        let number = |of: &[Option<f64>]| input.and_then(|at| of.get(at).copied().flatten());
        let (mean, deviation) = (number(means), number(deviations));
        let (kind, usual) = match &attribute.kind {
            // How frequent the values of a nominal column were, a model does not know.
            AttributeKind::Nominal(values) => ("nominal", json!(values.first())),
            AttributeKind::Date => {
                ("date", json!(mean.and_then(|days| attribute.text(days.floor()))))
            }
            AttributeKind::Text(_) => ("text", json!(important_words(model, &attribute.name))),
            AttributeKind::Numeric | AttributeKind::Word => {
                ("numeric", json!(mean.map_or(0.0, short)))
            }
        };
        let mut column = json!({
            "name": attribute.name,
            "kind": kind,
            "example": given.unwrap_or(usual),
        });
        if let Some(values) = attribute.values() {
            column["values"] = values.into();
        }
        if kind == "numeric" {
            column["mean"] = mean.map(short).into();
            column["deviation"] = deviation.map(short).into();
        }
        column
    };
    let aims = AIMS
        .iter()
        .map(|aim| json!({ "name": aim.name, "argument": aim.argument, "about": aim.about }));
    let method = model.method();
    json!({
        "method": method.to_string(),
        "strategy": method.strategy().about,
        "base": method.base().about,
        "aim": method.aim().to_string(),
        "seed": model.seed(),
        "version": model.version(),
        "rows": model.n_rows(),
        "members": model.members().len(),
        "labels": model.label_names(),
        "ids": model.ids(),
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "aims": aims.collect::<Vec<_>>(),
        "limits": {
            "rows": limits.rows,
            "explained_rows": limits.explained_rows,
            "body": limits.body,
        },
    })
}

/// A number in four digits, as a person would choose one.
fn short(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}
