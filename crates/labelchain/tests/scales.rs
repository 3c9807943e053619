//! Inputs of any magnitude are learned from as if they were measured in another unit, or refused with
//! their column: no number vanishes, and no answer comes from one that is none.
#![allow(clippy::unwrap_used)]

use labelchain::data::{Dataset, LabelNetwork};
use labelchain::{LabelChain, Method, Prediction, Result, Seed};

/// Rows of a label network, in another unit. The last column is constant, the one before it but for a
/// single cell.
fn rows(n_rows: usize, unit: f64) -> Dataset {
    let network = LabelNetwork { n_rows, n_labels: 3, n_features: 5, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(3)).unwrap();
    let n_features = data.n_features();
    let mut cells = Vec::new();
    for row in 0..n_rows {
        cells.extend((0..n_features).map(|column| data.features().get(row, column) * unit));
        cells.extend([f64::from(u8::from(row == 7)) * unit, 2.0 * unit]);
    }
    let labels = data.labels();
    let sets: Vec<Vec<&str>> = (0..n_rows)
        .map(|row| {
            let relevant = labels.ids().filter(|&label| labels.get(row, label));
            relevant.map(|label| data.label_names()[label.0].as_str()).collect()
        })
        .collect();
    let names: Vec<&str> = data.label_names().iter().map(String::as_str).collect();
    Dataset::from_rows(n_features + 2, &cells).unwrap().with_label_sets(&names, &sets).unwrap()
}

fn answers(method: &str, unit: f64, select: &str) -> Result<Prediction> {
    let data = rows(160, unit);
    let train: Vec<usize> = (0..100).collect();
    let rest: Vec<usize> = (100..160).collect();
    let uses = method.parse::<Method>()?;
    let mut model = LabelChain::new(method)?;
    for (name, value) in [("members", "5"), ("trees", "20"), ("select", select)] {
        if uses.uses(name) {
            model = model.set(name, value)?;
        }
    }
    model.fit(&data.select(&train))?.predict(&data.select(&rest))
}

#[test]
fn small_units_change_no_answer_and_large_ones_are_refused() {
    for method in Method::all().map(|method| method.to_string()) {
        for select in ["none", "cfs"] {
            let expected = answers(&method, 1.0, select).unwrap();
            for unit in [1e-310, 1e-200, 1e-90, 1e90] {
                let found = answers(&method, unit, select).unwrap();
                for row in 0..expected.n_rows() {
                    // Equal, and so no NaN among them.
                    assert_eq!(found.shares(row), expected.shares(row), "{method} {unit:e}");
                }
            }
            for unit in [1e200, 1e307] {
                let error = answers(&method, unit, select).unwrap_err();
                let start = "data, row 0, column \"x0\": expected a number within ±1e100, found ";
                assert!(error.to_string().starts_with(start), "{method} {error}");
                let remedy = error.remedy().unwrap().to_string();
                assert_eq!(remedy, "measure the column in another unit, or leave the cell empty");
            }
        }
    }
}

#[test]
fn a_row_in_another_unit_than_the_training_rows_is_refused() {
    for method in ["br-nb", "ecc-knn", "br-svm", "br-j48"] {
        let model = LabelChain::new(method).unwrap().fit(&rows(100, 1e-310)).unwrap();
        let error = model.predict(&rows(1, 1.0)).unwrap_err();
        let start =
            "data, row 0, column \"x0\": expected a number within 1e100 deviations of the mean";
        assert!(error.to_string().starts_with(start), "{error}");
        assert!(error.remedy().is_some());
    }
}
