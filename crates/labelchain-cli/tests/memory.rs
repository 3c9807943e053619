//! A file larger than the memory there is can be answered: the limit is the system's.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod place;

use std::process::Command;

use place::Place;

/// Status and standard error of the program with so many megabytes for its data.
fn within(place: &Place, megabytes: usize, arguments: &[&str]) -> (i32, String) {
    let limited = format!("ulimit -d {}; exec \"$0\" \"$@\"", megabytes * 1024);
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_labelchain")]).args(arguments);
    let output = command.current_dir(place.0.path()).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn rows_are_answered_that_do_not_fit_in_memory() {
    let place = Place::new();
    let network = |rows, out| {
        let made = ["generate", "network", "--rows", rows, "--features", "100", "--labels", "3"];
        place.ok(&[&made[..], &["--decimals", "1", "-o", out]].concat());
    };
    network("200", "train.csv");
    // 32 MB of cells.
    network("40000", "many.csv");
    let settings = ["--members", "2", "--select", "none", "--likelihood", "gaussian"];
    place.ok(&[&["train", "train.csv", "-m", "br-nb", "-o", "m"][..], &settings].concat());

    let bounded = ["--threads", "1", "--max-memory", "16M"];
    let answer = |megabytes, out: &str| {
        let predict = ["predict", "m", "many.csv", "-o", out];
        within(&place, megabytes, &[&predict[..], &bounded].concat())
    };
    let (status, error) = answer(16, "few.csv");
    assert_eq!(status, 0, "{error}");
    // A data file is written whole, and its rows are refused before they are too many.
    let (status, error) = answer(64, "all.arff");
    assert_eq!(status, 2, "{error}");
    assert!(error.contains("needs more than the 16 MiB allowed"), "{error}");

    place.ok(&["predict", "m", "many.csv", "-o", "whole.arff"]);
    let answers = std::fs::read_to_string(place.path("few.csv")).unwrap();
    let labelled = std::fs::read_to_string(place.path("whole.arff")).unwrap();
    let (_, rows) = labelled.split_once("@data\n").unwrap();
    let labels: Vec<&str> = rows.lines().map(|row| &row[row.len() - 5..]).collect();
    assert_eq!(answers.lines().skip(1).collect::<Vec<_>>(), labels);
}
