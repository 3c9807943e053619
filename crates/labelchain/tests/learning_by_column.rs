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

/// Columns in two places, then rows in several: with missing cells, nominal inputs and unknown labels.
#[test]
fn what_is_calibrated_by_rows_in_several_places_has_the_bytes_of_one_place() {
    let network = LabelNetwork { n_rows: 90, n_features: 5, ..LabelNetwork::default() };
    let all_known = network.generate("network", Seed::new(1)).unwrap();
    let mut labels = all_known.labels().clone();
    for row in (0..90).step_by(7) {
        labels.forget(row, labelchain::data::LabelId(row % labels.n_labels()));
    }
    let names = all_known.label_names().to_vec();
    let some_unknown = all_known.clone().relabelled(names, labels).unwrap();
    let mut n_models = 0;
    for (data, method) in [&all_known, &some_unknown]
        .into_iter()
        .flat_map(|data| ["br-nb", "ecc-nb@macro-f1", "certain-nb"].map(|method| (data, method)))
    {
        let chain = LabelChain::new(method).unwrap().set("select", "none").unwrap();
        let whole = chain.fit(data).unwrap().to_bytes().unwrap();
        let part = |at: &[usize]| chain.fit_columns(&columns(data, at).unwrap()).unwrap();
        let model = part(&[0, 1]).with_columns_of(part(&[2, 3, 4])).unwrap();
        for cuts in [&[0, 90][..], &[0, 1, 90], &[0, 30, 30, 64, 90]] {
            let held_out = |cut: &[usize]| {
                let rows: Vec<usize> = (cut[0]..cut[1]).collect();
                model.held_out(&data.select(&rows), cut[0]).unwrap()
            };
            let held_out: Vec<Vec<u8>> = cuts.windows(2).map(held_out).collect();
            let calibrated = model.clone().calibrated_by(&held_out).unwrap();
            assert!(calibrated.calibration().is_some());
            assert!(calibrated.to_bytes().unwrap() == whole, "{method} {cuts:?}");
            n_models += 1;
            for damaged in [&held_out[0][..held_out[0].len() / 2], &[7; 40]] {
                let error = model.clone().calibrated_by(&[damaged.to_vec()]).unwrap_err();
                assert!(error.to_string().contains("damaged"), "{error}");
            }
        }
    }
    assert_eq!(n_models, 18);
}

#[test]
fn what_does_not_learn_by_column_is_refused() {
    let network = LabelNetwork { n_rows: 60, n_features: 3, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(1)).unwrap();
    let chain = LabelChain::new("ecc-nb").unwrap();
    assert!(chain.fit_columns(&data).unwrap_err().to_string().contains("select their features"));
    assert!(chain.fit(&data).unwrap().held_out(&data, 0).is_err());
    // Other seeds draw other rows.
    let chain = chain.set("select", "none").unwrap();
    let part = |seed: u64, at| {
        chain.clone().seed(seed).fit_columns(&columns(&data, &[at]).unwrap()).unwrap()
    };
    assert!(part(1, 0).with_columns_of(part(2, 1)).is_err());
    assert!(part(1, 0).with_columns_of(part(1, 1)).is_ok());
    let other = chain.clone().set("max-imbalance", 2).unwrap();
    let other = other.fit_columns(&columns(&data, &[1]).unwrap()).unwrap();
    assert!(part(1, 0).with_columns_of(other).is_err());
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
