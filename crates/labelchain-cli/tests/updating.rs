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
    // A model of one tree has learned from the new rows alone, and keeps to one tree.
    place.ok(&["update", "old.labelchain", "new.csv", "--max-trees", "1", "-o", "tree"]);
    assert!(rows_behind("tree").iter().all(|row| (300..400).contains(row)));
    assert_eq!(shown("tree")["settings"]["trees"], 1);
    place.ok(&["update", "tree", "new.csv", "-o", "again"]);
    assert!(rows_behind("again").iter().all(|row| (400..500).contains(row)));
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
    refused(&["old", "tags.csv", "--tags", "tags"], &["\"jazz\"", "--new-labels ignore"]);
    fs::write(place.path("bare.csv"), "x1\n1\n").unwrap();
    refused(&["old", "bare.csv"], &["lacks the label"]);
    let over = place.run(&["update", "old", "new.csv", "-o", "old"]);
    assert!(over.0 == 2 && over.2.contains("is also a file to be read"), "{}", over.2);
}
