//! Rows that come through standard input or a pipe are those of a file, in every command that reads
//! data and in every format.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::process::Command;

use place::Place;

const LABELS: [&str; 2] = ["--labels", "label*"];
const FAST: [&str; 4] = ["-m", "ecc-nb", "--members", "3"];

fn songs() -> Place {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "60", "-o", "songs.csv"]);
    place.ok(&[&["train", "songs.csv", "-o", "m"][..], &LABELS, &FAST].concat());
    place
}

impl Place {
    /// Status, standard output and standard error of the program, whose input is a pipe.
    fn piped(&self, arguments: &[&str], input: &[u8]) -> (i32, String, String) {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_labelchain"));
        let command = command.current_dir(self.0.path()).args(arguments).write_stdin(input);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn every_command_that_reads_data_reads_standard_input() {
    let place = songs();
    let rows = fs::read(place.path("songs.csv")).unwrap();
    let commands: [(&[&str], &[&str]); 8] = [
        (&["describe", "DATA", LABELS[0], LABELS[1]], &[]),
        (&["convert", "DATA", "made.arff", LABELS[0], LABELS[1]], &["made.xml"]),
        (
            &["split", "DATA", LABELS[0], LABELS[1], "--folds", "3", "-o", "made"],
            &["made/fold-0.txt"],
        ),
        (&["train", "DATA", LABELS[0], LABELS[1], "-m", "br-nb", "-o", "made"], &["made"]),
        (
            &[
                "evaluate",
                "DATA",
                LABELS[0],
                LABELS[1],
                "-m",
                "br-nb",
                "--folds",
                "3",
                "--predictions",
                "made.csv",
            ],
            &["made.csv"],
        ),
        (&["predict", "m", "DATA"], &[]),
        (&["explain", "m", "DATA", "--row", "3"], &[]),
        (&["score", "DATA", "songs.csv", LABELS[0], LABELS[1], "--json"], &[]),
    ];
    for (command, files) in commands {
        let given = |data: &str| -> Vec<String> {
            command.iter().map(|word| word.replace("DATA", data)).collect()
        };
        let made = || {
            let read = |name: &&str| {
                let bytes = fs::read(place.path(name)).unwrap();
                let _ = fs::remove_dir_all(place.path("made"));
                let _ = fs::remove_file(place.path(name));
                bytes
            };
            let found: Vec<Vec<u8>> = files.iter().map(read).collect();
            let _ = fs::remove_file(place.path("made.arff"));
            found
        };
        let from_file = given("songs.csv");
        let from_file: Vec<&str> = from_file.iter().map(String::as_str).collect();
        let expected = (place.ok(&from_file), made());
        let mut from_stream = given("-");
        from_stream.extend(["--format".to_string(), "csv".to_string()]);
        let from_stream: Vec<&str> = from_stream.iter().map(String::as_str).collect();
        let (status, out, error) = place.piped(&from_stream, &rows);
        assert_eq!(status, 0, "{from_stream:?} {error}");
        // Only the data set's name differs.
        let without_name = |text: &str| -> Vec<String> {
            let is_timed = |line: &&str| !line.contains("seconds") && !line.contains(" s ");
            let lines = text.lines().filter(is_timed);
            lines.map(|line| line.replace("songs", "-").replace("-.csv", "-")).collect()
        };
        assert_eq!(without_name(&out), without_name(&expected.0), "{from_stream:?}");
        assert!(made() == expected.1, "{from_stream:?}");
    }
}

#[test]
fn every_format_comes_through_a_pipe_and_format_overrules_the_name() {
    let place = songs();
    let expected = place.ok(&["predict", "m", "songs.csv"]);
    for (format, ending) in [
        ("arff", "arff"),
        ("tsv", "tsv"),
        ("jsonl", "ndjson"),
        ("parquet", "parquet"),
        ("csv", "csv"),
    ] {
        let name = format!("as-{format}.{ending}");
        place.ok(&["convert", "songs.csv", &name, LABELS[0], LABELS[1]]);
        let bytes = fs::read(place.path(&name)).unwrap();
        let (status, out, error) = place.piped(&["predict", "m", "-", "--format", format], &bytes);
        assert_eq!((status, out.as_str()), (0, expected.as_str()), "{format}: {error}");
        fs::rename(place.path(&name), place.path("rows.txt")).unwrap();
        let out = place.ok(&["predict", "m", "rows.txt", "--format", format]);
        assert_eq!(out, expected, "{format}");
    }
    let svm = place.piped(&["describe", "-", "--format", "svmlight"], b"0 1:2\n1 2:1\n");
    assert_eq!(svm.0, 0, "{}", svm.2);
    let (status, out, error) = place.piped(
        &["predict", "m", "/dev/stdin", "--format", "csv"],
        &fs::read(place.path("songs.csv")).unwrap(),
    );
    assert_eq!((status, out.as_str()), (0, expected.as_str()), "{error}");
}

#[test]
fn json_lines_go_in_and_come_out_of_pipes() {
    let place = songs();
    place.ok(&["convert", "songs.csv", "songs.jsonl", LABELS[0], LABELS[1]]);
    place.ok(&["predict", "m", "songs.jsonl", "-o", "answers.jsonl", "--probabilities"]);
    let expected = fs::read_to_string(place.path("answers.jsonl")).unwrap();
    let rows = fs::read(place.path("songs.jsonl")).unwrap();
    let predict = ["predict", "m", "-", "--format", "jsonl", "--probabilities"];
    let (status, out, error) =
        place.piped(&[&predict[..], &["--out-format", "jsonl"]].concat(), &rows);
    assert_eq!((status, out), (0, expected), "{error}");
    place.ok(&["predict", "m", "songs.jsonl", "--out-format", "tsv", "-o", "answers.txt"]);
    let table = fs::read_to_string(place.path("answers.txt")).unwrap();
    assert!(table.starts_with("label1\tlabel2"), "{table}");
    // One row that leaves out an input that the model knows.
    let line = br#"{"x1": 0.5, "x2": 1}"#;
    let (status, out, error) = place.piped(&predict[..5], line);
    assert_eq!((status, out.lines().count()), (0, 2), "{error}");
    assert!(error.contains("keys that no row has") && error.contains("\"x3\""), "{error}");
    let (status, _, error) = place.piped(&predict[..5], br#"{"y": 1}"#);
    assert!(status == 2 && error.contains("lacks 12 of the 12"), "{error}");
}

/// As a spreadsheet exports it where commas are decimal.
#[test]
fn semicolons_are_found_or_given() {
    let place = Place::new();
    let row = |n: usize| format!("{},{};{};{}\n", n % 7, n % 10, ["a", "b"][n % 2], n % 2);
    let rows: String = (0..40).map(row).collect();
    let place = place
        .with("t.csv", format!("\u{feff}size;kind;late\n{rows}"))
        .with("bars.csv", format!("size;kind;late\n{rows}").replace(';', "|"));
    let described = place.json(&["describe", "t.csv", "--labels", "late", "--json"]);
    let columns = &described["columns"];
    assert_eq!((&columns[0]["name"], &columns[0]["kind"]), (&"size".into(), &"number".into()));
    assert_eq!((&columns[1]["values"], &columns[1]["example"]), (&2.into(), &"a".into()));
    let text = place.ok(&["describe", "t.csv", "--labels", "late"]);
    assert!(text.contains("column  kind     role       values  missing  example\n"), "{text}");
    assert!(text.contains("decimal-commas") && text.contains("semicolons"), "{text}");
    let bars = ["describe", "bars.csv", "--labels", "late", "--delimiter", "|", "--json"];
    assert_eq!(place.json(&bars)["columns"][1], columns[1]);
    let (status, _, error) =
        place.run(&["describe", "t.csv", "--labels", "late", "--delimiter", "ab"]);
    assert!(status == 2 && error.contains("one ASCII character"), "{error}");
    let arff = place.with("t.arff", "@relation t\n@attribute y {0,1}\n@data\n1\n");
    let (status, _, error) = arff.run(&["describe", "t.arff", "--labels", "y", "--delimiter", ";"]);
    assert!(status == 2 && error.contains("only CSV and TSV"), "{error}");
}

#[test]
fn a_named_pipe_is_a_file_that_is_read_once() {
    let place = songs();
    let expected = place.ok(&["predict", "m", "songs.csv"]);
    for (pipe, more) in [("pipe.csv", &[][..]), ("pipe", &["--format", "csv"])] {
        assert!(Command::new("mkfifo").arg(place.path(pipe)).status().unwrap().success());
        let (from, to) = (place.path("songs.csv"), place.path(pipe));
        let writer =
            std::thread::spawn(move || fs::copy(from, fs::canonicalize(to).unwrap()).is_ok());
        let out = place.ok(&[&["predict", "m", pipe], more].concat());
        assert_eq!(out, expected);
        writer.join().unwrap();
    }
}

#[test]
fn a_stream_without_a_format_or_labels_is_refused_with_the_remedy() {
    let place = songs();
    let refused = |arguments: &[&str], input: &[u8], parts: &[&str]| {
        let (status, out, error) = place.piped(arguments, input);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?} {error}");
        parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
    };
    refused(&["describe", "-"], b"", &["cannot tell the format", "--format csv"]);
    refused(&["describe", "songs.csv", "--format", "xls"], b"", &["possible values", "jsonl"]);
    refused(
        &["describe", "-", "--format", "csv"],
        b"a,b\n1,0\n",
        &["a pipe has no label list beside it", "--labels"],
    );
    refused(&["describe", "-", "--format", "jsonl", "--labels", "b"], b"", &["JSON object"]);
    refused(
        &["describe", "-", "--format", "jsonl", "--labels", "b"],
        b"{\"a\":1,\"b\":1}\n{\"a\":[1],\"b\":0}\n",
        &["-, line 2, column 6", "found an array"],
    );
    refused(&["score", "-", "-", "--format", "csv"], b"", &["standard input is read once"]);
}
