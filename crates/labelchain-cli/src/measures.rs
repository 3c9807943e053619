//! Measures of single labels, rankings and calibration, as text and as JSON: the same for every command
//! that has them.

use std::fmt::Write as _;

use labelchain::loss::{LabelMeasures, Measure};
use serde_json::{Map, Value, json};

/// As many labels fit on a page.
const MAX_LABELS: usize = 30;

/// An object with a value for each key, null where there is none.
pub(crate) fn json(measures: &[Measure]) -> Value {
    let value = |measure: &Measure| measure.value.map_or(Value::Null, Value::from);
    let by_key = measures.iter().map(|measure| (measure.key.to_string(), value(measure)));
    Value::Object(by_key.collect::<Map<_, _>>())
}

/// An object for each label.
pub(crate) fn by_label_json(names: &[String], measures: &[LabelMeasures]) -> Value {
    let label = |(name, of): (&String, &LabelMeasures)| {
        json!({
            "label": name,
            "support": of.support,
            "precision": of.precision,
            "recall": of.recall,
            "f1": of.f1,
            "auc": of.auc,
            "average_precision": of.average_precision,
        })
    };
    names.iter().zip(measures).map(label).collect()
}

/// A line for each measure; below them, which way is better.
pub(crate) fn text(measures: &[Measure]) -> String {
    let mut page = String::new();
    for measure in measures {
        let better = if measure.is_loss { "smaller" } else { "greater" };
        let value = number(measure.value, 5);
        let _ = writeln!(page, "  {:<33}{value:>9}   {better} is better", measure.title);
    }
    page
}

/// A line for each label, in label order; of many labels, those with most relevant rows.
pub(crate) fn by_label_text(names: &[String], measures: &[LabelMeasures]) -> String {
    let has_probabilities = measures.iter().any(|of| of.average_precision.is_some());
    let mut shown: Vec<usize> = (0..names.len()).collect();
    shown.sort_by_key(|&label| std::cmp::Reverse(measures[label].support));
    shown.truncate(MAX_LABELS);
    shown.sort_unstable();
    let widest = shown.iter().map(|&label| names[label].chars().count()).max().unwrap_or(0);
    let width = widest.clamp(5, 40);
    let mut page = format!("  {:<width$} relevant rows  precision     recall         F1", "label");
    if has_probabilities {
        page += "        AUC  average precision";
    }
    page.push('\n');
    for label in shown {
        let of = &measures[label];
        let _ = write!(page, "  {:<width$} {:>13}", names[label], of.support);
        for value in [of.precision, of.recall, of.f1] {
            let _ = write!(page, "{:>11}", number(value, 4));
        }
        if has_probabilities {
            let _ = write!(page, "{:>11}", number(of.auc, 4));
            let _ = write!(page, "{:>19}", number(of.average_precision, 4));
        }
        page.push('\n');
    }
    if names.len() > MAX_LABELS {
        let n = names.len() - MAX_LABELS;
        let _ = writeln!(page, "  … and {n} labels with fewer relevant rows; --json has all");
    }
    page
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.digits$}"))
}
