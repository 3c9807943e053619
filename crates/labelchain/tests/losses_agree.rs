//! Losses agree with others: scikit-learn's metrics for three of the rules, and fractions straight
//! from the paper's table for the fourth. `testdata/losses/make.py` wrote the numbers, and
//! `docs/conventions.md` explains every cell left out here.

#![allow(clippy::unwrap_used, clippy::panic)]

mod golden;

use golden::{assert_agrees, table};
use labelchain::data::LabelMatrix;
use labelchain::loss::{Averaging, Criterion, Losses, Rate, Undefined};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../testdata/losses/golden.json")).unwrap()
}

fn cases(golden: &Value) -> impl Iterator<Item = (&Value, LabelMatrix, LabelMatrix)> {
    let cases = golden["cases"].as_array().unwrap();
    cases.iter().map(|case| (case, table(&case["truth"]), table(&case["answer"])))
}

/// The loss scikit-learn gives, from the metric it gives; nothing where that is nan.
fn theirs(case: &Value, rule: Undefined, criterion: Criterion) -> Option<f64> {
    let Criterion::Of(averaging, rate) = criterion else {
        return case[criterion.key()].as_f64();
    };
    let average = match averaging {
        Averaging::Example => "samples",
        Averaging::Macro => "macro",
        Averaging::Micro => "micro",
    };
    let metric = match rate {
        Rate::Fdr => "precision",
        Rate::Fnr => "recall",
        Rate::F1 => "f1",
    };
    let recorded = &case[rule.key()][format!("{average}_{metric}")];
    assert!(recorded.is_number() || recorded.is_null(), "{recorded}");
    recorded.as_f64().map(|metric| 1.0 - metric)
}

const THEIR_RULES: [Undefined; 3] = [Undefined::Zero, Undefined::One, Undefined::Skip];

#[test]
fn every_criterion_agrees_with_scikit_learn_under_each_of_its_rules() {
    let golden = golden();
    let mut n_compared = 0;
    for (case, truth, answer) in cases(&golden) {
        for rule in THEIR_RULES {
            for (criterion, ours) in Losses::between(&truth, &answer, rule).unwrap().iter() {
                // A table of one label is not a multi-label table to scikit-learn.
                if truth.n_labels() == 1 && matches!(criterion, Criterion::Of(..)) {
                    continue;
                }
                let place = format!("{}, {}, {}", case["name"], rule.key(), criterion.key());
                assert_agrees(ours, theirs(case, rule, criterion), &golden, &place);
                n_compared += 1;
            }
        }
    }
    // Twelve tables times three rules times eleven criteria, and two tables of one label times
    // three times two.
    assert_eq!(n_compared, 12 * 33 + 2 * 6);
}

#[test]
fn scikit_learn_reads_one_label_as_the_classes_that_occur() {
    let golden = golden();
    let mut n_compared = 0;
    for (case, truth, answer) in cases(&golden).filter(|(_, truth, _)| truth.n_labels() == 1) {
        let (truth, answer) = as_classes(&truth, &answer);
        for rule in THEIR_RULES {
            for (criterion, ours) in Losses::between(&truth, &answer, rule).unwrap().iter() {
                let expected = match criterion {
                    Criterion::Hamming | Criterion::ZeroOne => continue,
                    Criterion::Of(Averaging::Example, _) => {
                        // Refused: "samples" is for multi-label tables only.
                        assert_eq!(theirs(case, rule, criterion), None);
                        continue;
                    }
                    _ => theirs(case, rule, criterion),
                };
                let place = format!("{}, {}, {}", case["name"], rule.key(), criterion.key());
                assert_agrees(ours, expected, &golden, &place);
                n_compared += 1;
            }
        }
    }
    assert_eq!(n_compared, 2 * 3 * 6);
}

/// One label as a class of its own and "irrelevant" as another; classes that neither truth nor
/// prediction contains are left out.
fn as_classes(truth: &LabelMatrix, answer: &LabelMatrix) -> (LabelMatrix, LabelMatrix) {
    let label = truth.ids().next().unwrap();
    let occurs = |class| {
        (0..truth.n_rows())
            .any(|row| truth.get(row, label) == class || answer.get(row, label) == class)
    };
    let classes: Vec<bool> = [false, true].into_iter().filter(|&class| occurs(class)).collect();
    let spread = |table: &LabelMatrix| {
        let mut wide = LabelMatrix::empty(table.n_rows(), classes.len());
        for row in 0..table.n_rows() {
            for (column, &class) in wide.ids().zip(&classes) {
                wide.set(row, column, table.get(row, label) == class);
            }
        }
        wide
    };
    (spread(truth), spread(answer))
}

#[test]
fn the_paper_rule_agrees_with_fractions_from_its_table() {
    let golden = golden();
    for (case, truth, answer) in cases(&golden) {
        for (criterion, ours) in Losses::between(&truth, &answer, Undefined::Paper).unwrap().iter()
        {
            let expected = case["paper"][criterion.key()].as_f64();
            assert!(expected.is_some(), "{} has {}", case["name"], criterion.key());
            let place = format!("{}, paper, {}", case["name"], criterion.key());
            assert_agrees(ours, expected, &golden, &place);
        }
    }
}

#[test]
fn vacuous_cells_are_counted_alike_under_every_rule() {
    let golden = golden();
    for (case, truth, answer) in cases(&golden) {
        for rule in Undefined::ALL {
            let losses = Losses::between(&truth, &answer, rule).unwrap();
            for criterion in Criterion::ALL {
                let expected = case["vacuous"][criterion.key()].as_u64().unwrap_or(0);
                let place = format!("{}, {}, {}", case["name"], rule.key(), criterion.key());
                assert_eq!(losses.n_vacuous(criterion) as u64, expected, "{place}");
            }
        }
    }
}
