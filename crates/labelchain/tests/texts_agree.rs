//! The words of texts and their weights agree with scikit-learn's `TfidfVectorizer` to 1e-12.
//! `testdata/texts/make.py` wrote the numbers.

#![allow(clippy::unwrap_used)]

use labelchain::prepare::{TextSettings, Vocabulary};
use serde_json::Value;

#[test]
fn terms_and_weights_are_those_of_scikit_learn() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../testdata/texts/golden.json")).unwrap();
    let tolerance = golden["tolerance"].as_f64().unwrap();
    let mut n_compared = 0;
    for case in golden["cases"].as_array().unwrap() {
        let texts = |key: &str| -> Vec<&str> {
            case[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
        };
        let min_documents = case["min_documents"].as_u64().unwrap() as usize;
        let settings = TextSettings { min_documents, ..TextSettings::default() };
        let vocabulary = Vocabulary::fit(texts("train").into_iter().map(Some), settings).unwrap();
        assert_eq!(vocabulary.terms(), texts("terms"), "{}", case["name"]);
        let rows = texts("train").into_iter().chain(texts("new"));
        for (text, theirs) in rows.zip(case["weights"].as_array().unwrap()) {
            let ours = vocabulary.weights(text);
            let theirs: Vec<(u32, f64)> = theirs
                .as_array()
                .unwrap()
                .iter()
                .map(|cell| (cell[0].as_u64().unwrap() as u32, cell[1].as_f64().unwrap()))
                .collect();
            assert_eq!(ours.len(), theirs.len(), "{text:?}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours.0, theirs.0, "{text:?}");
                assert!((ours.1 - theirs.1).abs() <= tolerance, "{text:?}: {ours:?}, {theirs:?}");
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 100, "{n_compared}");
}
