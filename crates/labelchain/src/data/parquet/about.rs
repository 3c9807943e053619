//! What a data set knows and Parquet has no place for, as JSON in the file's metadata.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use parquet::file::metadata::KeyValue;
use serde_json::{Value, json};

use super::fault;
use crate::data::{Dataset, Matrix};
use crate::error::Result;

/// The metadata's key.
pub(super) const KEY: &str = "labelchain";

const VERSION: u64 = 1;

/// What the metadata says. Tools that rewrite a file keep its metadata, so that it may speak of
/// columns, values and rows that are gone: everything here is compared with the file before use.
#[derive(Debug, Default)]
pub(super) struct About {
    /// In label order.
    pub(super) labels: Vec<String>,
    /// The declared values of nominal columns: their order, and those that no cell has.
    pub(super) nominal: HashMap<String, Vec<String>>,
    pub(super) is_sparse: bool,
    pub(super) weights: Option<Vec<f64>>,
}

/// The metadata of a data set.
pub(super) fn of(data: &Dataset) -> KeyValue {
    let nominal: serde_json::Map<String, Value> = data
        .attributes()
        .iter()
        .filter_map(|attribute| Some((attribute.name.clone(), json!(attribute.values()?))))
        .collect();
    let storage = match data.features() {
        Matrix::Dense(_) => "dense",
        Matrix::Sparse(_) => "sparse",
    };
    let mut about = json!({
        "version": VERSION,
        "labels": data.label_names(),
        "nominal": nominal,
        "storage": storage,
    });
    if !data.history().is_empty() {
        about["history"] = data.history().into();
    }
    if let Some(weights) = data.weights() {
        // As text: what reads JSON numbers may round them.
        about["weights"] = weights.iter().map(|weight| format!("{weight:?}")).collect();
    }
    KeyValue::new(KEY.into(), about.to_string())
}

impl About {
    /// What the file says of itself, if it is one of ours.
    pub(super) fn find(path: &Path, metadata: Option<&Vec<KeyValue>>) -> Result<Option<About>> {
        let Some(entry) = metadata.into_iter().flatten().find(|entry| entry.key == KEY) else {
            return Ok(None);
        };
        let refuse = |expected: &str, found: String| {
            fault(path, format!("{expected} in its {KEY} metadata"), found).help(REMEDY).into()
        };
        let text = entry.value.as_deref().unwrap_or_default();
        let about: Value =
            serde_json::from_str(text).map_err(|error| refuse("JSON", error.to_string()))?;
        match about["version"].as_u64() {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => {
                let found = format!("version {newer}");
                return Err(fault(path, format!("{KEY} metadata of version {VERSION}"), found)
                    .help("a newer labelchain wrote this file: update this one to read it")
                    .into());
            }
            _ => return Err(refuse("version 1", about["version"].to_string())),
        }
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| Some(text.as_str()?.to_string())).collect()
        };
        let labels = texts(&about["labels"])
            .ok_or_else(|| refuse("a list of labels", shown(&about["labels"])))?;
        let declared = about["nominal"]
            .as_object()
            .ok_or_else(|| refuse("nominal columns", shown(&about["nominal"])))?;
        let mut nominal = HashMap::with_capacity(declared.len());
        for (name, values) in declared {
            let expected = format!("the values of {name:?}, each once,");
            let values = texts(values)
                .filter(|values| values.iter().collect::<HashSet<_>>().len() == values.len())
                .ok_or_else(|| refuse(&expected, shown(values)))?;
            nominal.insert(name.clone(), values);
        }
        let is_sparse = match about["storage"].as_str() {
            Some("dense") => false,
            Some("sparse") => true,
            _ => return Err(refuse("\"dense\" or \"sparse\" storage", shown(&about["storage"]))),
        };
        let weights = match &about["weights"] {
            Value::Null => None,
            weights => Some(
                texts(weights)
                    .and_then(|texts| texts.iter().map(|text| text.parse().ok()).collect())
                    .ok_or_else(|| refuse("row weights as texts", shown(weights)))?,
            ),
        };
        Ok(Some(About { labels, nominal, is_sparse, weights }))
    }
}

/// What to do when the metadata and the file disagree.
pub(super) const REMEDY: &str = "another tool rewrote this file and kept the metadata; \
    remove the key \"labelchain\" from it, and say which columns are labels";

/// The beginning of a JSON value, which may be as long as the file.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
