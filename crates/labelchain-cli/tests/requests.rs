//! Requests that nobody can fulfil are refused at once, with what would be accepted; and what is
//! refused in a file is named by its place there.
#![allow(clippy::unwrap_used)]

mod place;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use place::Place;

/// Two inputs, two labels.
fn rows(n_rows: usize) -> String {
    let mut text = String::from("x,y,a,b\n");
    for row in 0..n_rows {
        let (x, y) = (row * 7 % 10, row * 3 % 11);
        let _ = writeln!(text, "{x},{y},{},{}", u8::from(x > 4), u8::from(y > 5));
    }
    text
}

const BAGS: &str = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n@end bag\n\
                    @attribute a {0,1}\n@data\n'1\\n2',1\n'3',0\n'5\\n4',1\n";

#[test]
fn numbers_beyond_reason_are_refused_at_once() {
    let protocol =
        "folds = 2\nsets = [{ file = \"d.csv\", labels-last = 2 }]\nmethods = [\"br-nb\"]\n";
    let place = Place::new()
        .with("d.csv", rows(60))
        .with("d.svm", "0 1:1\n1 2:3\n")
        .with("b.arff", BAGS)
        .with("p.toml", protocol);
    place.ok(&["train", "d.csv", "--labels-last", "2", "-m", "br-nb", "-o", "m.labelchain"]);
    for number in ["9223372036854775808", "18446744073709551615", "1000000000"] {
        for request in [
            "evaluate d.csv --labels-last 2 --folds N",
            "evaluate d.csv --labels-last 2 --folds N --stratify iterative",
            "split d.csv --labels-last 2 --folds N -o out",
            "split d.csv --labels-last 2 --folds N --stratify pairs -o out",
            "evaluate d.csv --labels-last 2 -m ga-knn --members N",
            "evaluate d.csv --labels-last 2 -m ga-knn --candidates N",
            "evaluate d.csv --labels-last 2 -m ga-knn --population N",
            "evaluate d.csv --labels-last 2 -m ga-knn --generations N",
            "evaluate d.csv --labels-last 2 -m ga-knn --neighbours N",
            "evaluate d.csv --labels-last 2 -m ga-knn --max-features N",
            "evaluate d.csv --labels-last 2 -m oocc-nb --orders N",
            "evaluate d.csv --labels-last 2 -m oocc-nb --lenders N",
            "evaluate d.csv --labels-last 2 -m br-j48 --min-leaf N",
            "evaluate d.csv --labels-last 2 --threads N",
            "evaluate d.csv --labels-first N",
            "describe d.svm --features N --max-memory 1G",
            "generate network --features N -o out.csv",
            "generate network --labels N -o out.csv",
            "generate hypercubes --rows N -o out.csv --max-memory 1G",
            "generate hyperspheres --labels N -o out.csv",
            "generate hypercubes --relevant N -o out.csv",
            "generate hypercubes --irrelevant N -o out.csv",
            "generate hypercubes --redundant N -o out.csv",
            "study run p.toml --jobs N",
            "study run p.toml --only fold=N",
            "convert b.arff out.arff --bags medoids --medoids N",
            "convert d.csv out.arff --labels-last 2 --sample-rows N",
            "explain m.labelchain d.csv --row N",
            "explain m.labelchain d.csv --row 1 --member N",
        ] {
            let start = Instant::now();
            let request = request.replace('N', number);
            let (status, _, error) = place.run(&request.split(' ').collect::<Vec<_>>());
            assert_eq!(status, 2, "{request}: {error}");
            assert!(error.starts_with("error: ") && !error.contains("a bug"), "{error}");
            assert!(start.elapsed() < Duration::from_secs(20), "{request}");
        }
    }
    for request in [
        "generate network --rows 18446744073709551615 -o out.csv",
        "evaluate d.csv --labels-last 2 --threads 100000",
        "evaluate d.csv --labels-last 2 --threads 0",
    ] {
        let (status, _, error) = place.run(&request.split(' ').collect::<Vec<_>>());
        assert_eq!(status, 2, "{request}: {error}");
    }
    let files = ["b.arff", "d.csv", "d.svm", "m.labelchain", "p.toml"];
    assert_eq!(place.files(), files, "nothing is left behind");
}

#[test]
fn the_memory_that_a_drawing_needs_is_said_before_it_is_taken() {
    let place = Place::new();
    let (status, _, error) = place.run(&[
        "generate",
        "hypercubes",
        "--rows",
        "1000000000",
        "--max-memory",
        "1G",
        "-o",
        "big.csv",
    ]);
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "error: big.csv: what is drawn first, about 3814 MiB, needs more than the 1 GiB allowed\n  \
         help: --max-memory raises the limit: try 4.7GiB\n"
    );
}

#[test]
fn a_refused_cell_is_named_by_its_file_and_its_row_there() {
    let place = Place::new().with("d.csv", rows(60));
    place.ok(&["train", "d.csv", "--labels-last", "2", "-m", "br-nb", "-o", "m.labelchain"]);
    // More rows than a block of `predict` has.
    let n_rows = 70_000;
    let bad = rows(n_rows) + "1e200,1,0,0\n" + &rows(10)[8..];
    let place = place.with("bad.csv", bad).with("few.csv", rows(50) + "1e200,1,0,0\n");
    let named = |file: &str, row: usize| {
        format!("error: {file}, row {row}, column \"x\": expected a number within ±1e100")
    };
    let (status, _, error) = place.run(&["predict", "m.labelchain", "bad.csv", "-o", "out.csv"]);
    assert!(status == 2 && error.starts_with(&named("bad.csv", n_rows)), "{error}");
    let (status, _, error) =
        place.run(&["explain", "m.labelchain", "bad.csv", "--row", &n_rows.to_string()]);
    assert!(status == 2 && error.starts_with(&named("bad.csv", n_rows)), "{error}");
    for seed in ["1", "2", "3"] {
        let arguments = ["evaluate", "few.csv", "--labels-last", "2", "--seed", seed];
        let (status, _, error) = place.run(&arguments);
        assert!(status == 2 && error.starts_with(&named("few.csv", 50)), "{error}");
    }
    let protocol = "sets = [{ file = \"few.csv\", labels-last = 2 }]\nmethods = [\"br-nb\"]\n";
    let place = place.with("p.toml", protocol);
    assert_eq!(place.run(&["study", "run", "p.toml"]).0, 1);
    let failed = place.json(&["study", "status", "p.toml", "--json"]);
    let failed = failed["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 10);
    for cell in failed {
        assert!(
            cell["error"].as_str().unwrap().starts_with("few.csv, row 50, column \"x\""),
            "{cell}"
        );
    }
}

#[test]
fn wrong_content_is_not_the_systems_fault() {
    let place = Place::new()
        .with("latin.toml", b"sets = [\"caf\xE9.csv\"]\n")
        .with("d.parquet.gz", "no gzip")
        .with("e.parquet.bz2", "no bzip2")
        .with("f.parquet", "no Parquet")
        .with("g.csv", rows(10))
        .with("list.xml.gz", "no gzip")
        .with("losses.csv.gz", "no gzip")
        .with("text.db", "no database, but a text of some length that looks like none\n")
        .with("m.labelchain", "no model")
        .with("p.toml", "sets = [\"g.csv\"]\nmethods = [\"br-nb\"]\n");
    std::fs::create_dir(place.path("directory.toml")).unwrap();
    for request in [
        "study status latin.toml",
        "study status directory.toml",
        "describe d.parquet.gz",
        "describe e.parquet.bz2",
        "describe f.parquet",
        "describe g.csv --labels-xml list.xml.gz",
        "compare losses.csv.gz",
        "study status p.toml --results text.db",
        "show m.labelchain",
        "predict m.labelchain g.csv",
    ] {
        let (status, _, error) = place.run(&request.split(' ').collect::<Vec<_>>());
        assert_eq!(status, 2, "{request}: {error}");
        assert!(error.contains("\n  help: "), "{request}: {error}");
    }
}

/// Opening a pipe waits until somebody writes to it.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_protocol() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("p.toml")).status();
    assert!(made.unwrap().success());
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_labelchain"));
    let command = command.current_dir(place.0.path()).timeout(Duration::from_secs(20));
    let output = command.args(["study", "run", "p.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
