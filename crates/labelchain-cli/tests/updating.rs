//! `update` lets a model learn from further rows, or says why not and leaves no file.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;

use place::Place;
use serde_json::Value;

const LABELS: [&str; 2] = ["--labels", "label*"];
/// Every member fits every row, with every input.
const ALL: [&str; 8] =
    ["--sample", "1", "--fit-share", "1", "--select", "none", "--max-imbalance", "none"];

/// 400 rows, once in one file and once in two.
fn songs() -> Place {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "400", "-o", "all.csv"]);
    let text = fs::read_to_string(place.path("all.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
    place.with("old.csv", part(&lines[1..301])).with("new.csv", part(&lines[301..]))
}

fn train(place: &Place, data: &str, method: &str, model: &str, more: &[&str]) {
    place.ok(&[&["train", data, "-m", method, "-o", model][..], &LABELS, more].concat());
}

#[test]
fn an_updated_model_answers_as_one_of_all_rows() {
    let place = songs();
    let more = [&ALL[..], &["--updatable", "--members", "4"]].concat();
    train(&place, "all.csv", "ecc-nb", "all.labelchain", &more);
    train(&place, "old.csv", "ecc-nb", "old.labelchain", &more);
    place.ok(&["update", "old.labelchain", "new.csv", "-o", "updated.labelchain"]);
    let answers = |model: &str| place.ok(&["predict", model, "all.csv"]);
    assert_eq!(answers("updated.labelchain"), answers("all.labelchain"));
    assert_ne!(answers("old.labelchain"), answers("all.labelchain"));
    let shown = place.json(&["show", "updated.labelchain", "--json"]);
    assert_eq!((&shown["rows"], &shown["out_of_bag"]), (&400.into(), &Value::Null));
    // Some of the new rows, and the same from one thread.
    fs::write(place.path("rows.txt"), "0\n5\n99\n").unwrap();
    for (out, threads) in [("some", "2"), ("same", "1")] {
        place.ok(&[
            "update",
            "old.labelchain",
            "new.csv",
            "--rows",
            "rows.txt",
            "-o",
            out,
            "--threads",
            threads,
        ]);
    }
    assert!(fs::read(place.path("some")).unwrap() == fs::read(place.path("same")).unwrap());
    assert_eq!(place.json(&["show", "some", "--json"])["rows"], 303);
}

/// 300 rows and 100 new ones: 5 = 20 · 100 / 400 trees are of the new rows, which are rows 300 to 399.
#[test]
fn an_updated_forest_explains_its_answers_by_new_rows_too() {
    let place = songs();
    train(&place, "old.csv", "certain-forest", "old.labelchain", &["--trees", "20"]);
    for (out, threads) in [("one", "1"), ("two", "2"), ("seven", "7")] {
        place.ok(&["update", "old.labelchain", "new.csv", "-o", out, "--threads", threads]);
    }
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    assert!(bytes("one") == bytes("two") && bytes("one") == bytes("seven"));
    let shown = |model: &str| place.json(&["show", model, "--json"]);
    assert_eq!((&shown("one")["rows"], &shown("one")["out_of_bag"]), (&400.into(), &Value::Null));
    let rows_behind = |model: &str| -> Vec<u64> {
        let explained = place.json(&["explain", model, "new.csv", "--row", "3", "--json"]);
        let neighbours = explained["neighbours"].as_array().unwrap().clone();
        neighbours.iter().map(|of| of["row"].as_u64().unwrap()).collect()
    };
    let rows = rows_behind("one");
    assert!(rows.iter().any(|&row| row < 300) && rows.iter().any(|&row| row >= 300), "{rows:?}");
    // Of two trees one is of the new rows alone. Later, 100 rows of 500 are not worth one of two.
    place.ok(&["update", "old.labelchain", "new.csv", "--max-trees", "2", "-o", "two-trees"]);
    assert_eq!(shown("two-trees")["settings"]["trees"], 2);
    assert!(rows_behind("two-trees").iter().any(|row| (300..400).contains(row)));
    let (status, _, error) = place.run(&["update", "two-trees", "new.csv", "-o", "again"]);
    assert!(status == 2 && error.contains("too few for a tree: 100"), "{error}");
    assert!(error.contains("collect at least 134"), "{error}");
    assert!(!place.path("again").exists());
}

/// Training rows have names where the table had some, and so have rows that came later.
#[test]
fn explanations_name_training_rows_by_their_identifiers() {
    let rows = |of: std::ops::Range<usize>, name: &str| -> String {
        let row = |n: usize| format!("{name}{n},{},{}\n", n % 7, u8::from(n % 7 > 3));
        format!("ticket,x,late\n{}", of.map(row).collect::<String>())
    };
    let place = Place::new().with("old.csv", rows(0..60, "T-")).with("new.csv", rows(60..90, "U-"));
    let place = place.with("bare.csv", "x,late\n1,0\n6,1\n2,0\n5,1\n3,0\n4,1\n");
    let trained = ["train", "old.csv", "--labels", "late", "--id", "ticket", "--trees", "10"];
    place.ok(&[&trained[..], &["-o", "old"]].concat());
    place.ok(&["update", "old", "new.csv", "-o", "new"]);
    place.ok(&["update", "new", "bare.csv", "-o", "bare"]);
    for model in ["old", "new", "bare"] {
        let explained = place.json(&["explain", model, "new.csv", "--id", "U-61", "--json"]);
        for of in explained["neighbours"].as_array().unwrap() {
            let row = of["row"].as_u64().unwrap();
            let expected = match row {
                0..60 => serde_json::json!({"ticket": format!("T-{row}")}),
                60..90 => serde_json::json!({"ticket": format!("U-{row}")}),
                _ => Value::Null,
            };
            assert_eq!(of["id"], expected);
        }
    }
    let text = place.ok(&["explain", "old", "new.csv", "--id", "U-61"]);
    let table = text.split("rests on most").nth(1).unwrap();
    assert!(table.contains("ticket  weight  labels") && table.contains("    T-"), "{table}");
}

#[test]
fn what_cannot_be_updated_is_refused_and_no_file_is_left() {
    let place = songs().with("tags.csv", "a,tags\n1,label1;jazz\n");
    train(&place, "old.csv", "ecc-nb", "plain", &["--members", "2"]);
    train(&place, "old.csv", "ecc-knn", "knn", &["--members", "2"]);
    train(&place, "old.csv", "ecc-nb", "old", &["--members", "2", "--updatable"]);
    let refused = |arguments: &[&str], parts: &[&str]| {
        let command = [&["update"][..], arguments, &["-o", "out"]].concat();
        let (status, out, error) = place.run(&command);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?} {error}");
        parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
        assert!(!place.path("out").exists());
    };
    refused(&["plain", "new.csv"], &["keeps no counts and sums", "--updatable"]);
    refused(&["old", "new.csv", "--max-trees", "9"], &["max-trees", "ecc-nb"]);
    train(&place, "old.csv", "br-forest", "forest", &["--trees", "5"]);
    refused(&["forest", "new.csv", "--max-trees", "0"], &["max-trees", "from 1 to"]);
    train(&place, "old.csv", "dynamic-forest", "dynamic", &["--trees", "5"]);
    refused(&["dynamic", "new.csv"], &["dynamic-forest cannot be updated", "certain-forest"]);
    refused(&["knn", "new.csv"], &["ecc-knn cannot be updated", "train again"]);
    refused(&["old", "tags.csv", "--tags", "tags"], &["\"jazz\"", "--new-labels add"]);
    fs::write(place.path("bare.csv"), "x1\n1\n").unwrap();
    refused(&["old", "bare.csv"], &["lacks the label"]);
    let over = place.run(&["update", "old", "new.csv", "-o", "new.csv"]);
    assert!(over.0 == 2 && over.2.contains("is also a file to be read"), "{}", over.2);

    // The model itself may be written over, by the same bytes as under another name.
    place.ok(&["update", "old", "new.csv", "-o", "other"]);
    place.ok(&["update", "old", "new.csv", "-o", "old"]);
    let bytes = |name| fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("old"), bytes("other"));
}

/// A tag and a kind that only the new rows have; texts are among the columns, so that they are encoded.
#[test]
fn new_tags_and_values_are_added_if_asked_for() {
    let row = |kind: &str, text: &str, tags: &str| format!("{kind},{text},{tags}\n");
    let old: String = (0..60)
        .map(|n| match n % 3 {
            0 => row("mail", "cannot log in", "account"),
            1 => row("mail", "bill too high", "bill"),
            _ => row("phone", "bill and login", "account;bill"),
        })
        .collect();
    let new: String = (0..40)
        .map(|n| match n % 2 {
            0 => row("chat", "cannot log in", "account;urgent"),
            _ => row("mail", "bill too high", "bill"),
        })
        .collect();
    let table = |rows: &str| format!("kind,message,tags\n{rows}");
    let place = Place::new().with("old.csv", table(&old)).with("new.csv", table(&new));
    let roles = ["--tags", "tags", "--text", "message"];
    for (method, more) in [("certain-nb", &["--updatable"][..]), ("certain-forest", &[])] {
        let command = ["train", "old.csv", "-m", method, "-o", "old", "--force"];
        place.ok(&[&command[..], &roles, more].concat());
        let update = ["update", "old", "new.csv", "--tags", "tags", "-o", "new"];
        let refused = place.run(&[&update[..], &["--new-labels", "add"]].concat());
        assert!(refused.0 == 2 && refused.2.contains("--new-values add"), "{}", refused.2);
        let add = ["--new-labels", "add", "--new-values", "add"];
        let (status, _, notes) = place.run(&[&update[..], &add].concat());
        assert_eq!(status, 0, "{notes}");
        assert!(notes.contains("\"urgent\"") && notes.contains("\"chat\" in \"kind\""), "{notes}");
        let shown = place.json(&["show", "new", "--json"]);
        assert_eq!(shown["labels"], serde_json::json!(["account", "bill", "urgent"]));
        let answers = place.ok(&["predict", "new", "new.csv", "--tags", "tags", "--probabilities"]);
        let urgent: Vec<f64> = answers
            .lines()
            .skip(1)
            .map(|line| line.rsplit_once(',').unwrap().1.parse().unwrap())
            .collect();
        // In a forest of 60 old rows and 40 new ones, two trees of five have heard of the label.
        let (every, other) = (urgent.iter().step_by(2), urgent.iter().skip(1).step_by(2));
        assert!(every.clone().all(|p| *p >= 0.39), "{method}: {answers}");
        assert!(other.clone().all(|p| *p < 0.1), "{method}: {answers}");
        fs::remove_file(place.path("new")).unwrap();
    }
}
