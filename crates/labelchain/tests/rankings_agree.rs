//! Measures of rankings, calibration and single labels agree with scikit-learn's to 1e-12, ties and
//! labels of one class included. `testdata/rankings/make.py` wrote the numbers, and
//! `docs/conventions.md` explains every cell without one.

#![allow(clippy::unwrap_used)]

mod golden;

use golden::{assert_agrees, table};
use labelchain::data::LabelMatrix;
use labelchain::loss::{Calibration, LabelMeasures, Measure, Ranking, Undefined};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../testdata/rankings/golden.json")).unwrap()
}

/// Each case with its name, truth and probabilities.
fn cases(golden: &Value) -> impl Iterator<Item = (&Value, LabelMatrix, Vec<f64>)> {
    golden["cases"].as_array().unwrap().iter().map(|case| {
        let rows = case["probabilities"].as_array().unwrap().iter();
        let cells = rows.flat_map(|row| row.as_array().unwrap());
        (case, table(&case["truth"]), cells.map(|cell| cell.as_f64().unwrap()).collect())
    })
}

/// As in other golden files; what is there is a number or null, and no misspelt key.
fn assert_same(ours: Option<f64>, theirs: &Value, golden: &Value, place: &str) {
    assert!(theirs.is_number() || theirs.is_null(), "{place}: {theirs}");
    assert_agrees(ours, theirs.as_f64(), golden, place);
}

#[test]
fn every_measure_of_rankings_and_of_calibration_agrees() {
    let golden = golden();
    let mut n_compared = 0;
    for (case, truth, probabilities) in cases(&golden) {
        let ranking = Ranking::between(&truth, &probabilities).unwrap();
        let calibration = Calibration::between(&truth, &probabilities).unwrap();
        let mut compare = |part: &str, measures: &[Measure]| {
            assert_eq!(case[part].as_object().unwrap().len(), measures.len());
            for measure in measures {
                // scikit-learn refuses to rank one label; there is nothing to get wrong.
                if truth.n_labels() == 1 && matches!(measure.key, "ranking_loss" | "coverage") {
                    assert!(case[part][measure.key].is_null());
                    continue;
                }
                let place = format!("{}, {}", case["name"], measure.key);
                assert_same(measure.value, &case[part][measure.key], &golden, &place);
                n_compared += 1;
            }
        };
        compare("ranking", &ranking.measures());
        compare("calibration", &calibration.measures());
    }
    assert_eq!(n_compared, 18 * 10 - 2);
}

#[test]
fn the_reliability_curve_agrees() {
    let golden = golden();
    for (case, truth, probabilities) in cases(&golden) {
        let curve = Calibration::between(&truth, &probabilities).unwrap().curve;
        let theirs = case["curve"].as_array().unwrap();
        assert_eq!(curve.len(), theirs.len(), "{}", case["name"]);
        for (bin, theirs) in curve.iter().zip(theirs) {
            let place = format!("{}, {theirs}", case["name"]);
            assert_eq!(Some(bin.n_cells as u64), theirs[0].as_u64(), "{place}");
            assert_same(Some(bin.mean_probability), &theirs[1], &golden, &place);
            assert_same(Some(bin.share_relevant), &theirs[2], &golden, &place);
        }
    }
}

#[test]
fn every_measure_of_each_label_agrees() {
    let golden = golden();
    let (mut n_labels, mut n_without_auc, mut n_without_precision) = (0, 0, 0);
    for (case, truth, probabilities) in cases(&golden) {
        let mut answer = LabelMatrix::empty(truth.n_rows(), truth.n_labels());
        for row in 0..truth.n_rows() {
            for label in truth.ids() {
                let probability = probabilities[row * truth.n_labels() + label.0];
                answer.set(row, label, probability > 0.5);
            }
        }
        // The metric is 0 where it is vacuous, as with zero_division=0.
        let rule = Undefined::Zero;
        let ours = LabelMeasures::between(&truth, &answer, Some(&probabilities), rule).unwrap();
        let theirs = case["by_label"].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len());
        for (label, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(Some(ours.support as u64), theirs["support"].as_u64());
            for (key, value) in [
                ("precision", ours.precision),
                ("recall", ours.recall),
                ("f1", ours.f1),
                ("auc", ours.auc),
                ("average_precision", ours.average_precision),
            ] {
                let place = format!("{}, label {label}, {key}", case["name"]);
                assert_same(value, &theirs[key], &golden, &place);
            }
            n_labels += 1;
            n_without_auc += usize::from(ours.auc.is_none());
            n_without_precision += usize::from(ours.average_precision.is_none());
        }
    }
    // The cases hold labels of one class, of either one.
    assert!(n_labels > 200 && n_without_precision > 0 && n_without_auc > n_without_precision);
}
