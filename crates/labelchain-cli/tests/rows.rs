//! What `split` writes can be used: `--rows` in `train`, `predict` and `evaluate`, and a hold-out that
//! is no cross-validation.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;

use place::Place;
use serde_json::{Value, json};

/// A hundred rows of six labels, cut into rows to train on and rows to test.
fn songs() -> Place {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "100", "-o", "songs.csv"]);
    place.ok(&["split", "songs.csv", LABELS[0], LABELS[1], "--holdout", "0.7", "-o", "cut"]);
    place
}

const LABELS: [&str; 2] = ["--labels", "label*"];
const FAST: [&str; 4] = ["-m", "ecc-nb", "--members", "3"];

fn text(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

fn numbers(list: &str) -> Vec<usize> {
    list.lines().map(|line| line.parse().unwrap()).collect()
}

/// The header of a table and some of its rows.
fn rows_of(table: &str, rows: &[usize]) -> String {
    let lines: Vec<&str> = table.lines().collect();
    let chosen = rows.iter().map(|&row| lines[row + 1]);
    [lines[0]].into_iter().chain(chosen).map(|line| format!("{line}\n")).collect()
}

#[test]
fn training_on_listed_rows_is_training_on_a_file_of_them() {
    let place = songs();
    let listed = numbers(&text(&place, "cut/train.txt"));
    fs::create_dir(place.path("part")).unwrap();
    fs::write(place.path("part/songs.csv"), rows_of(&text(&place, "songs.csv"), &listed)).unwrap();
    let backwards: String = listed.iter().rev().map(|row| format!("{row}\n")).collect();
    fs::write(place.path("backwards.txt"), backwards).unwrap();
    let train = |data: &str, model: &str, more: &[&str]| {
        place.ok(&[&["train", data, "-o", model][..], &LABELS, &FAST, more].concat());
        fs::read(place.path(model)).unwrap()
    };
    let expected = train("part/songs.csv", "part.labelchain", &[]);
    let listed = train("songs.csv", "rows.labelchain", &["--rows", "cut/train.txt"]);
    assert!(listed == expected);
    assert!(train("songs.csv", "other.labelchain", &["--rows", "backwards.txt"]) == expected);
    assert!(train("songs.csv", "all.labelchain", &[]) != expected);
}

#[test]
fn listed_rows_are_predicted_as_among_all_and_keep_their_numbers() {
    let place = songs();
    place.ok(&[&["train", "songs.csv", "-o", "m"][..], &LABELS, &FAST].concat());
    let listed = numbers(&text(&place, "cut/test.txt"));
    assert_eq!(listed.len(), 30);
    let predict = |out: &str, more: &[&str]| {
        place.ok(&[&["predict", "m", "songs.csv", "-o", out], more].concat());
        text(&place, out)
    };
    let all = predict("all.csv", &["--proba"]);
    let some = predict("some.csv", &["--proba", "--rows", "cut/test.txt"]);
    assert_eq!(some, rows_of(&all, &listed));
    let lines = predict("some.jsonl", &["--rows", "cut/test.txt", "--explain", "why.jsonl"]);
    for name in [lines, text(&place, "why.jsonl")] {
        let rows: Vec<u64> = name
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["row"].as_u64().unwrap())
            .collect();
        assert!(rows.iter().map(|&row| row as usize).eq(listed.iter().copied()));
    }
    predict("some.arff", &["--rows", "cut/test.txt"]);
    assert_eq!(place.json(&["describe", "some.arff", "--json"])["rows"], 30);
}

/// A file that is read in many blocks, of which some have no listed row.
#[test]
fn listed_rows_are_found_in_every_block() {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "600", "--features", "200", "-o", "d.csv"]);
    place
        .ok(&[&["train", "d.csv", "-o", "m"][..], &LABELS, &["-m", "br-nb", "--members", "1"]]
            .concat());
    let rows = [1, 2, 300, 599];
    fs::write(place.path("rows.txt"), rows.map(|row| row.to_string()).join("\n")).unwrap();
    let predict = ["predict", "m", "d.csv", "--max-memory", "1M"];
    let all = place.ok(&predict);
    let some = place.ok(&[&predict[..], &["--rows", "rows.txt"]].concat());
    assert_eq!(some, rows_of(&all, &rows));
    fs::write(place.path("rows.txt"), "3\n600\n").unwrap();
    let out = ["--rows", "rows.txt", "-o", "p.csv"];
    let (status, _, error) = place.run(&[&predict[..], &out].concat());
    let expected = "rows.txt, line 2: expected a row of d.csv, which has rows 0 to 599, found 600";
    assert!(status == 2 && error.contains(expected), "{error}");
    assert!(!place.files().contains(&"p.csv".into()));
}

#[test]
fn listed_rows_are_cross_validated_under_their_numbers_in_the_file() {
    let place = songs();
    let evaluate = |more: &[&str]| {
        let ask = ["evaluate", "songs.csv", "--folds", "3", "--predictions", "p.csv", "--force"];
        place.ok(&[&ask[..], &LABELS, &FAST, more].concat())
    };
    let page = evaluate(&["--rows", "cut/train.txt"]);
    assert!(
        page.starts_with("songs: 3 folds of 70 rows listed in cut/train.txt, seed 1;"),
        "{page}"
    );
    let tested = text(&place, "p.csv");
    let tested = tested.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
    assert!(tested.eq(text(&place, "cut/train.txt").lines()));
    // An input that cannot be computed with is named by its row in the file.
    let cells = text(&place, "songs.csv");
    let row = numbers(&text(&place, "cut/train.txt"))[5];
    let mut lines: Vec<String> = cells.lines().map(String::from).collect();
    let (_, rest) = lines[row + 1].split_once(',').unwrap();
    lines[row + 1] = format!("1e200,{rest}");
    fs::write(place.path("bad.csv"), lines.join("\n")).unwrap();
    let ask = ["evaluate", "bad.csv", "--rows", "cut/train.txt"];
    let (status, _, error) = place.run(&[&ask[..], &LABELS, &FAST].concat());
    assert!(status == 2 && error.contains(&format!("bad.csv, row {row}, column")), "{error}");
}

#[test]
fn losses_are_the_same_without_probabilities_which_are_then_nowhere() {
    let place = songs();
    let evaluate = |more: &[&str]| {
        let ask = ["evaluate", "songs.csv", "--folds", "3", "--predictions", "p.csv", "--force"];
        let ask = [&ask[..], &LABELS, &FAST, more].concat();
        (place.ok(&ask), place.json(&[&ask[..], &["--json"]].concat()), text(&place, "p.csv"))
    };
    let (page, with, cells) = evaluate(&[]);
    assert!(page.contains("Probabilities") && cells.contains(":probability"));
    let (page, without, cells) = evaluate(&["--no-probabilities"]);
    assert!(!page.contains("Probabilities") && !cells.contains(":probability"), "{page}{cells}");
    let (with, without) = (&with["results"][0], &without["results"][0]);
    assert_eq!(with["by_fold"], without["by_fold"]);
    assert_ne!(with["ranking"], Value::Null);
    assert_eq!((&without["ranking"], &without["calibration"]), (&Value::Null, &Value::Null));
    let ask = ["evaluate", "songs.csv", "--no-probabilities", "-o", "page.html"];
    assert_eq!(place.run(&[&ask[..], &LABELS].concat()).0, 2);
}

#[test]
fn a_hold_out_tests_the_rows_that_split_keeps_back_and_says_so() {
    let place = songs();
    for (stratify, directory) in [("none", "plain"), ("iterative", "stratified")] {
        let cut = ["--stratify", stratify];
        let split = ["split", "songs.csv", "--holdout", "0.7", "-o", directory];
        place.ok(&[&split[..], &LABELS, &cut].concat());
        let evaluate =
            ["evaluate", "songs.csv", "--holdout", "0.3", "--predictions", "p.csv", "--force"];
        let evaluate = [&evaluate[..], &LABELS, &FAST, &cut].concat();
        let measured = place.json(&[&evaluate[..], &["--json"]].concat());
        assert_eq!((&measured["folds"], &measured["holdout"]), (&json!(1), &json!(0.3)));
        let result = &measured["results"][0];
        assert_eq!(result["by_fold"].as_array().unwrap().len(), 1);
        assert_eq!(result["by_fold"][0]["losses"], result["losses"]);
        assert_eq!(result["spread"]["hamming"], Value::Null);
        let tested = text(&place, "p.csv");
        let tested = tested.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
        assert!(tested.eq(text(&place, &format!("{directory}/test.txt")).lines()));
        let page = place.ok(&evaluate);
        assert!(
            page.contains("one hold-out") && page.contains("30 tested and 70 trained on"),
            "{page}"
        );
        assert!(!page.contains("fold"), "{page}");
    }
    let folds = [&["evaluate", "songs.csv", "--folds", "3", "--json"][..], &LABELS, &FAST].concat();
    let folds = place.json(&folds);
    assert!(folds.get("holdout").is_none());
    // The sample standard deviation of three folds.
    let result = &folds["results"][0];
    let losses: Vec<f64> = (0..3)
        .map(|fold: usize| result["by_fold"][fold]["losses"]["hamming"].as_f64().unwrap())
        .collect();
    let mean = losses.iter().sum::<f64>() / 3.0;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / 2.0;
    let spread = result["spread"]["hamming"].as_f64().unwrap();
    assert!(variance > 0.0 && (spread - variance.sqrt()).abs() < 1e-12);
}

#[test]
fn lists_and_shares_that_cannot_be_meant_are_refused() {
    let place = Place::new()
        .with("d.csv", "x,a\n1,0\n2,1\n3,0\n4,1\n")
        .with("word.txt", "0\none\n")
        .with("twice.txt", "2\n0\n2\n")
        .with("beyond.txt", "0\n4\n")
        .with("empty.txt", "")
        .with("rows.txt", "0\n1\n2\n");
    let refused = |command: &[&str], expected: &str| {
        let (status, _, error) = place.run(&[command, &["--labels", "a"]].concat());
        assert!(status == 2 && error.contains(expected), "{command:?}: {error}");
    };
    for command in [
        &["train", "d.csv", "-o", "m"][..],
        &["evaluate", "d.csv", "--folds", "2"],
        &["score", "d.csv", "d.csv"],
    ] {
        let with = |list| [command, &["--rows", list]].concat();
        refused(&with("word.txt"), "word.txt, line 2, column 1: expected a row number");
        refused(&with("twice.txt"), "twice.txt, line 3: expected each row once");
        refused(&with("beyond.txt"), "beyond.txt, line 2: expected a row of d.csv");
        refused(&with("empty.txt"), "empty.txt, line 1: expected at least one row number");
        let (status, _, error) = place.run(&[&with("no.txt")[..], &["--labels", "a"]].concat());
        assert!(status == 3 && error.contains("no.txt"), "{error}");
    }
    let rows = ["--rows", "rows.txt"];
    refused(
        &[&["train", "d.csv", "-o", "rows.txt"], &rows[..]].concat(),
        "is also a file to be read",
    );
    let predictions = ["evaluate", "d.csv", "--predictions", "rows.txt"];
    refused(&[&predictions[..], &rows].concat(), "is also a file to be read");
    for share in ["0", "1", "-0.5", "NaN", "1e-17"] {
        let share = format!("--holdout={share}");
        refused(
            &["evaluate", "d.csv", &share],
            if share.ends_with("17") { "4 rows to train on and 0 to test" } else { "--holdout is" },
        );
    }
    refused(&["evaluate", "d.csv", "--holdout", "0.5", "--folds", "2"], "cannot be used with");
}
