//! A model that learned some inputs at a time is the model of all inputs, or it is refused.
#![allow(clippy::unwrap_used)]

use labelchain::data::{Dataset, Dense, LabelNetwork, Matrix};
use labelchain::{ErrorKind, LabelChain, Method, Model, Result, Seed, Settings};

/// The same rows with some of the inputs.
fn columns(data: &Dataset, columns: &[usize]) -> Result<Dataset> {
    let mut cells = Dense::new(columns.len());
    for row in 0..data.n_rows() {
        let row: Vec<f64> = columns.iter().map(|&at| data.features().get(row, at)).collect();
        cells.push_row(&row);
    }
    let attributes = columns.iter().map(|&at| data.attributes()[at].clone()).collect();
    data.with_features(attributes, Matrix::Dense(cells))
}

#[test]
fn parts_are_joined_to_the_same_bytes_or_refused() {
    let network = LabelNetwork { n_rows: 90, n_features: 5, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(1)).unwrap();
    let parts = || [columns(&data, &[0, 1]), columns(&data, &[2, 3, 4])];
    let mut n_joined = 0;
    // Forests have neither members nor selected features, and look at all inputs of a row.
    for method in Method::all().filter(|method| method.uses("members") && method.uses("select")) {
        for select in ["none", "cfs"] {
            let chain = LabelChain::with(method, Settings::default());
            let chain = chain.set("members", 3).unwrap().set("select", select).unwrap();
            match chain.fit_by_columns(parts()) {
                Ok(joined) => {
                    n_joined += 1;
                    // What is learned by column is not calibrated, also where all columns are one part.
                    let whole = chain.fit_by_columns([Ok(data.clone())]).unwrap();
                    assert_eq!(joined.to_bytes().unwrap(), whole.to_bytes().unwrap(), "{method}");
                    let calibrated = chain.fit(&data).unwrap();
                    let votes = |model: &Model| model.predict(&data).unwrap().shares;
                    assert_eq!(votes(&joined), votes(&calibrated), "{method}");
                    assert!(joined.calibration().is_none() && calibrated.calibration().is_some());
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Request, "{method}: {error}"),
            }
        }
    }
    assert_eq!(n_joined, 3, "br-nb, ecc-nb and certain-nb without a selection of features");
}

#[test]
fn parts_of_other_rows_are_refused() {
    let rows = |n_rows| {
        let network = LabelNetwork { n_rows, n_features: 3, ..LabelNetwork::default() };
        network.generate("network", Seed::new(1))
    };
    let chain = LabelChain::new("br-nb").unwrap().set("select", "none").unwrap();
    let error = chain.fit_by_columns([rows(60), rows(70)]).unwrap_err();
    assert!(error.to_string().contains("of the same rows"), "{error}");
}

#[test]
fn nothing_to_learn_is_refused() {
    let data = Dataset::from_rows(1, &[1.0, 2.0, 3.0]).unwrap();
    let error = LabelChain::new("br-nb").unwrap().fit(&data).unwrap_err();
    assert!(error.to_string().contains("no labels found"), "{error}");
}
