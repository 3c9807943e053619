//! What `score` says of probabilities and of single labels, and from which labels and rows.
#![allow(clippy::unwrap_used)]

mod place;

use place::Place;
use serde_json::{Value, json};

/// Three rows; label a is relevant to the first two, b to the second, c to none.
const TRUTH: &str = "x,a,b,c\n1,1,0,0\n2,1,1,0\n3,0,0,0\n";
const PREDICTED: &str = "a,b,c,a:probability,b:probability,c:probability\n\
                         1,0,0,0.9,0.2,0.1\n0,1,0,0.4,0.6,0.1\n0,1,0,0.4,0.6,0.3\n";

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-12)
}

fn score(place: &Place, options: &[&str]) -> Value {
    place.json(&[&["score", "t.csv", "p.csv", "--labels", "a,b,c", "--json"], options].concat())
}

fn refusal(place: &Place, arguments: &[&str]) -> String {
    let (status, _, error) = place.run(arguments);
    assert_eq!(status, 2, "{error}");
    error
}

#[test]
fn probabilities_are_ranked_and_calibrated() {
    let place = Place::new().with("t.csv", TRUTH).with("p.csv", PREDICTED);
    let scored = score(&place, &[]);
    // a: 0.9 stands above the irrelevant 0.4, 0.4 ties with it. b: 0.6 stands above 0.2 and ties with
    // 0.6. c has one class.
    assert!(close(&scored["ranking"]["auc_macro"], 0.75));
    assert!(close(&scored["by_label"][0]["auc"], 0.75) && scored["by_label"][2]["auc"].is_null());
    // The top labels are a, relevant; b, relevant; b, irrelevant.
    assert!(close(&scored["ranking"]["one_error"], 1.0 / 3.0));
    // One label, both of two, none.
    assert!(close(&scored["ranking"]["coverage"], (1.0 + 2.0 + 0.0) / 3.0));
    let squares = [0.1, 0.2, 0.1, 0.6, 0.4, 0.1, 0.4, 0.6, 0.3].map(|gap: f64| gap * gap);
    assert!(close(&scored["calibration"]["brier"], squares.iter().sum::<f64>() / 9.0));
    assert_eq!(scored["by_label"][0]["label"], "a");
    assert_eq!(scored["by_label"][0]["support"], 2);
    assert!(close(&scored["by_label"][0]["recall"], 0.5));
    assert!(close(&scored["by_label"][1]["precision"], 0.5));
    let keys = |part: &str| {
        let object = scored[part].as_object().or_else(|| scored[part][0].as_object()).unwrap();
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        keys.sort_unstable();
        keys.join(" ")
    };
    assert_eq!(keys("by_label"), "auc average_precision f1 label precision recall support");
    assert_eq!(keys("calibration"), "brier ece");
    assert_eq!(
        keys("ranking"),
        "auc_macro auc_micro average_precision_macro average_precision_micro coverage lrap \
         one_error ranking_loss"
    );
    let (status, page, notes) = place.run(&["score", "t.csv", "p.csv", "--labels", "a,b,c"]);
    assert!(status == 0 && notes.is_empty(), "{notes}");
    assert!(page.contains("  AUC, macro                         0.75000   greater is better\n"));
    let row =
        "  a                 2     1.0000     0.5000     0.6667     0.7500             0.8333\n";
    assert!(page.contains(row), "{page}");
}

#[test]
fn without_probabilities_there_are_labels_but_no_ranking() {
    let answers: String = PREDICTED
        .lines()
        .map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let place = Place::new().with("t.csv", TRUTH).with("p.csv", answers);
    let scored = score(&place, &[]);
    assert_eq!((&scored["ranking"], &scored["calibration"]), (&Value::Null, &Value::Null));
    assert_eq!(scored["by_label"][1]["support"], 1);
    assert!(scored["by_label"][1]["auc"].is_null());
    let page = place.ok(&["score", "t.csv", "p.csv", "--labels", "a,b,c"]);
    assert!(page.contains("precision     recall         F1\n") && !page.contains("AUC"), "{page}");
}

#[test]
fn what_is_no_probability_is_named_by_its_cell() {
    let place = |predicted: &str| Place::new().with("t.csv", TRUTH).with("p.csv", predicted);
    let refused = |predicted: &str| {
        refusal(&place(predicted), &["score", "t.csv", "p.csv", "--labels", "a,b,c"])
    };
    let error = refused(&PREDICTED.replace("0.4,0.6,0.3", "0.4,1.6,0.3"));
    let expected =
        "p.csv, row 2, column \"b:probability\": expected a probability from 0 to 1, found 1.6";
    assert!(error.contains(expected), "{error}");
    let error = refused(&PREDICTED.replace("0.4,0.6,0.3", "0.4,,0.3"));
    assert!(error.contains("row 2, column \"b:probability\"") && error.contains("NaN"), "{error}");
    let error = refused(&PREDICTED.replace("0.4,0.6,0.3", "0.4,likely,0.3"));
    assert!(error.contains("column \"b:probability\" holds no numbers"), "{error}");
    let error = refused(&PREDICTED.replace("b:probability", "b:chance"));
    assert!(error.contains("but no column \"b:probability\""), "{error}");
}

#[test]
fn a_label_in_one_file_only_is_refused_unless_the_common_ones_are_asked_for() {
    let place = Place::new().with("t.csv", TRUTH).with("p.csv", "a,b\n1,0\n1,1\n0,0\n");
    let ask = ["score", "t.csv", "p.csv", "--labels", "a,b,c"];
    let error = refusal(&place, &ask);
    assert!(error.contains("p.csv: lacks 1 of the labels of t.csv (first: \"c\")"), "{error}");
    assert!(error.contains("help: --common compares the 2 labels that both files have"), "{error}");
    let (status, page, notes) = place.run(&[&ask[..], &["--common"]].concat());
    assert!(status == 0 && page.starts_with("3 rows, 2 labels"), "{page}");
    assert!(notes.contains("p.csv lacks 1 of the labels of t.csv"), "{notes}");

    // d is a label, for its share stands beside it; id is some column.
    let more = "id,a,b,c,d,d:share\n7,1,0,0,1,0.5\n8,1,1,0,0,0.1\n9,0,0,0,0,0\n";
    let place = Place::new().with("t.csv", TRUTH).with("p.csv", more);
    let error = refusal(&place, &ask);
    assert!(error.contains("t.csv: lacks 1 of the labels of p.csv (first: \"d\")"), "{error}");
    let (status, page, notes) = place.run(&[&ask[..], &["--common"]].concat());
    assert!(status == 0 && page.starts_with("3 rows, 3 labels"), "{page}");
    assert!(notes.contains("columns not scored, for t.csv does not have them: 1 (first: \"id\")"));

    let place = Place::new().with("t.csv", TRUTH).with("p.csv", "u,v\n1,0\n1,1\n0,0\n");
    let error = refusal(&place, &[&ask[..], &["--common"]].concat());
    assert!(error.contains("no label in common"), "{error}");
}

#[test]
fn tags_of_both_files_are_compared() {
    // red is only in the truth, blue only among the answers: one is missed, one is wrong.
    let place = Place::new().with("t.csv", "x,t\n1,green\n2,green;red\n3,\n").with(
        "p.csv",
        "green,blue,green:probability,blue:probability\n1,0,0.9,0.1\n1,0,0.8,0.2\n0,1,0.1,0.7\n",
    );
    let ask = ["score", "t.csv", "p.csv", "--tags", "t"];
    let scored = place.json(&[&ask[..], &["--json"]].concat());
    assert_eq!(scored["labels"], 3);
    let names: Vec<&str> = scored["by_label"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["label"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["green", "red", "blue"]);
    assert!(close(&scored["losses"]["hamming"], 2.0 / 9.0));
    assert_eq!(scored["by_label"][1]["recall"], 0.0);
    // A tag that the answers do not know has probability 0 in each row.
    assert_eq!(scored["by_label"][1]["auc"], 0.5);
    let (_, _, notes) = place.run(&ask);
    assert!(
        notes.contains("tags that only t.csv has, counted as never predicted: 1 (first: \"red\")")
    );
    assert!(notes.contains("tags that only p.csv has, counted as irrelevant to every row: 1"));
    let common = place.json(&[&ask[..], &["--common", "--json"]].concat());
    assert_eq!((&common["labels"], &common["losses"]["hamming"]), (&json!(1), &json!(0.0)));
}

#[test]
fn rows_of_a_list_are_scored() {
    let place = Place::new()
        .with("t.csv", TRUTH)
        .with("p.csv", PREDICTED)
        .with("rows.txt", "2\n0\n")
        .with("short.csv", "a,b,c\n1,0,0\n0,1,0\n")
        .with("none.csv", "a,b,c\n1,0,0\n");
    let listed = score(&place, &["--rows", "rows.txt"]);
    // Rows 0 and 2 have one wrong cell of six.
    assert_eq!((&listed["rows"], &listed["losses"]["zero_one"]), (&json!(2), &json!(0.5)));
    assert!(close(&listed["losses"]["hamming"], 1.0 / 6.0));
    // Answers to the listed rows alone, as predict --rows writes them.
    let ask =
        |answers| ["score", "t.csv", answers, "--labels", "a,b,c", "--rows", "rows.txt", "--json"];
    let short = place.json(&ask("short.csv"));
    assert_eq!(short["losses"], listed["losses"]);
    let error = refusal(&place, &ask("none.csv"));
    let expected = "none.csv: expected 3 rows, as in t.csv or 2 rows, as in the list, found 1";
    assert!(error.contains(expected), "{error}");
}
