//! Golden files of tables of labels, as `testdata/golden.py` writes them.

use labelchain::data::LabelMatrix;
use serde_json::Value;

/// Rows written as digits: "101" has its first and last label relevant.
pub(crate) fn table(rows: &Value) -> LabelMatrix {
    let rows: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    let mut labels = LabelMatrix::new(rows[0].len());
    for digits in rows {
        let row = labels.push_row();
        labels.ids().zip(digits.bytes()).for_each(|(label, is)| labels.set(row, label, is == b'1'));
    }
    labels
}

/// The same number within the tolerance of the file, or no number on either side.
pub(crate) fn assert_agrees(ours: Option<f64>, theirs: Option<f64>, golden: &Value, place: &str) {
    let tolerance = golden["tolerance"].as_f64().unwrap();
    match (ours, theirs) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= tolerance, "{place}: {a}, not {b}"),
        (a, b) => assert_eq!(a, b, "{place}"),
    }
}
