//! `--max-memory` bounds what a command takes. The system enforces the bound here, by `ulimit -d`: a
//! command that took more would be aborted.
//!
//! The promise is twice `--max-memory`, the model where there is one, and 64 MiB for the program itself.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod place;

use std::process::Command;

use place::Place;

/// Runs a line for which the system has so much memory; the status and what it said.
fn within(place: &Place, kibibytes: u64, line: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_labelchain");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -d {kibibytes}; exec {program} {line}"))
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(place.0.path())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The same with what is promised for `--max-memory 24M`.
fn bounded(place: &Place, line: &str) -> (Option<i32>, String) {
    within(place, (2 * 24 + 64) << 10, &format!("{line} --max-memory 24M"))
}

fn is_refused(error: &str) -> bool {
    error.contains("needs more than the 24 MiB allowed")
}

fn generate(place: &Place, rows: usize, features: usize, labels: usize, out: &str) {
    let (rows, features, labels) = (rows.to_string(), features.to_string(), labels.to_string());
    let sizes = ["--rows", &rows, "--features", &features, "--labels", &labels];
    place.ok(&[&["generate", "network"], &sizes[..], &["--dependence", "0", "-o", out]].concat());
}

#[test]
fn training_and_evaluating_end_or_are_refused_within_the_bound() {
    let place = Place::new();
    generate(&place, 200, 30, 3, "small.csv");
    generate(&place, 3500, 120, 3, "tall.csv");
    generate(&place, 300, 3000, 2, "wide.csv");
    let (mut n_done, mut n_refused) = (0, 0);
    // What is left to the data would be tuned for long.
    for method in [
        "br-nb",
        "ecc-nb",
        "br-knn --neighbours 3",
        "br-j48",
        "ecc-svm --cost 1 --gamma 0.1",
        "dynamic-nb --decay 1",
    ] {
        for data in ["small.csv", "tall.csv", "wide.csv"] {
            for selection in ["cfs", "none"] {
                let how = format!("-m {method} --members 2 --select {selection}");
                let line = format!("train {data} {how} -o m --force");
                match bounded(&place, &line) {
                    (Some(0), _) => n_done += 1,
                    (Some(2), error) if is_refused(&error) => n_refused += 1,
                    (status, error) => panic!("{line}: {status:?} {error}"),
                }
            }
        }
    }
    assert!(n_done > 12 && n_refused > 6, "{n_done} done, {n_refused} refused");
    for data in ["small.csv", "tall.csv", "wide.csv"] {
        let line = format!("evaluate {data} -m br-nb --members 2 --folds 2");
        match bounded(&place, &line) {
            (Some(0), _) => {}
            (Some(2), error) if is_refused(&error) => {}
            (status, error) => panic!("{line}: {status:?} {error}"),
        }
    }
}

#[test]
fn labels_that_hardly_occur_together_take_little_and_too_many_are_refused() {
    // Three thousand labels, each relevant to two rows: 144 MB for a table of all pairs.
    let n = 3000;
    let mut text = format!("@relation 'many: -C {n}'\n");
    (0..n).for_each(|label| text += &format!("@attribute l{label} {{0,1}}\n"));
    text += "@attribute x numeric\n@data\n";
    (0..n - 1).for_each(|row| text += &format!("{{{row} 1,{} 1,{n} {row}}}\n", row + 1));
    let place = Place::new().with("many.arff", text);
    let how = "--members 2 --select none --max-imbalance none -o m --force";
    for method in ["br-nb", "ecc-nb"] {
        let (status, error) = bounded(&place, &format!("train many.arff -m {method} {how}"));
        assert_eq!(status, Some(0), "{method}: {error}");
    }
    // Where all labels occur together, no table of pairs is small.
    generate(&place, 60, 2, 1500, "dense.csv");
    let (status, error) = bounded(&place, &format!("train dense.csv -m ecc-nb {how}"));
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("what 1500 labels tell about each other (about "), "{error}");
    let (status, error) = bounded(&place, &format!("train dense.csv -m br-nb {how}"));
    assert_eq!(status, Some(0), "{error}");
}

#[test]
fn predicting_and_showing_stay_within_the_bound() {
    let place = Place::new();
    generate(&place, 300, 60, 3, "train.csv");
    // 19 MB of cells.
    generate(&place, 40_000, 60, 3, "many.csv");
    for method in ["br-nb", "br-j48"] {
        let train = ["train", "train.csv", "-m", method, "--members", "2", "--select", "none"];
        place.ok(&[&train[..], &["-o", "m", "--force"]].concat());
        for out in ["p.csv", "p.jsonl", "p.parquet", "p.arff"] {
            let (status, error) = bounded(&place, &format!("predict m many.csv -o {out} --force"));
            assert_eq!(status, Some(0), "{method} {out}: {error}");
        }
        let (status, error) = bounded(&place, "show m --json");
        assert_eq!(status, Some(0), "{error}");
    }
}

#[test]
fn one_long_line_is_refused_within_the_bound() {
    let place = Place::new()
        .with("long.csv", "x,y\n".to_string() + &"1".repeat(60 << 20))
        .with("long.svm", "0 ".to_string() + &"1:1 ".repeat(15 << 20))
        .with("long.arff", "@relation '".to_string() + &"r".repeat(60 << 20));
    for line in ["describe long.csv --labels y", "describe long.svm", "describe long.arff"] {
        let (status, error) = bounded(&place, line);
        assert_eq!(status, Some(2), "{line}: {error}");
        assert!(is_refused(&error), "{error}");
    }
}

#[test]
fn memory_that_is_allowed_but_not_there_is_an_error_and_no_abort() {
    let place = Place::new();
    generate(&place, 30_000, 60, 3, "many.csv");
    place.ok(&["convert", "many.csv", "many.arff"]);
    place.ok(&["convert", "many.csv", "many.svm"]);
    for data in ["many.csv", "many.arff", "many.svm"] {
        let line = format!("describe {data} --max-memory 4G");
        let (status, error) = within(&place, 14 << 10, &line);
        assert_eq!(status, Some(3), "{data}: {error}");
        assert!(error.contains("out of memory"), "{error}");
    }
}
