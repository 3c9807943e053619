//! Names come from files that somebody else made. Whatever stands in them, a page for people holds no
//! character that a terminal would obey, and a spreadsheet finds no formula in a table of answers.
#![allow(clippy::unwrap_used)]

mod place;

use std::fmt::Write as _;
use std::fs;

use place::Place;

/// An escape sequence that clears the screen and one that sets its title, a C1 control, an override of
/// the direction, a zero-width space, a separator of lines, a carriage return.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}\rz";

fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || "\u{202e}\u{200b}\u{2028}".contains(c)
}

/// Data, an attribute of which and both labels of which have hostile names.
fn data(n_rows: usize) -> String {
    let mut text = format!("\"x{HOSTILE}\",y,\"a{HOSTILE}\",\"=b{HOSTILE}\"\n");
    for row in 0..n_rows {
        let (x, y) = (row * 7 % 11, row * 5 % 13);
        let _ = writeln!(text, "{x},{y},{},{}", u8::from(x > 5), u8::from(x + y > 11));
    }
    text
}

fn results() -> String {
    let mut text = String::from("dataset,method,criterion,loss\n");
    for set in 0..6 {
        for method in 1..4 {
            let loss = (set * 3 + method * 2) % 9;
            let _ = writeln!(
                text,
                "\"s{set}{HOSTILE}\",\"m{method}{HOSTILE}\",\"c{HOSTILE}\",0.{loss}"
            );
        }
    }
    text
}

#[test]
fn no_page_holds_what_a_terminal_would_obey() {
    let protocol = r#"
        folds = 2
        sets = [{ file = "d.csv", name = "s\u001b[2J\u202e", labels-last = 2 }]
        methods = [{ method = "br-nb", name = "m\u001b[2J\u202e" }]
    "#;
    let place = Place::new()
        .with("d.csv", data(30))
        .with("bad.csv", format!("x,a\n\"1{HOSTILE}\",2\n"))
        .with("r.csv", results())
        .with("p.toml", protocol);
    let labels = ["--labels-last", "2"];
    place.ok(&["train", "d.csv", labels[0], labels[1], "-m", "ecc-nb", "-o", "m.labelchain"]);
    place.ok(&["predict", "m.labelchain", "d.csv", "-o", "p.csv"]);
    let path = format!("nothing{HOSTILE}.csv");
    let option = format!("--{HOSTILE}");
    let unknown = format!("x{HOSTILE}");
    for (status, arguments) in [
        (0, vec!["describe", "d.csv", "--labels-last", "2"]),
        (0, vec!["show", "m.labelchain"]),
        (0, vec!["explain", "m.labelchain", "d.csv", "--row", "1"]),
        (0, vec!["score", "d.csv", "p.csv", "--labels-last", "2"]),
        (0, vec!["evaluate", "d.csv", "--labels-last", "2", "--folds", "2", "-m", "br-nb"]),
        (0, vec!["split", "d.csv", "--labels-last", "2", "--folds", "2", "-o", "parts"]),
        (0, vec!["compare", "r.csv", "-o", "report"]),
        (0, vec!["study", "run", "p.toml"]),
        (0, vec!["study", "status", "p.toml"]),
        (2, vec!["describe", "d.csv", "--labels", &unknown]),
        (2, vec!["describe", "bad.csv", "--labels-last", "1"]),
        (2, vec!["compare", "d.csv"]),
        (3, vec!["describe", &path]),
        (2, vec!["describe", &option]),
        (2, vec!["train", "d.csv", "-m", &unknown]),
        (2, vec!["study", "status", "p.toml", "--only", &format!("set={unknown}")]),
    ] {
        let (found, out, error) = place.run(&arguments);
        assert_eq!(found, status, "{arguments:?}: {out} {error}");
        let obeyed = (out + &error).chars().find(|&c| is_obeyed(c));
        assert_eq!(obeyed, None, "{arguments:?}");
    }
}

#[test]
fn what_programs_read_holds_names_as_they_are() {
    let place = Place::new().with("d.csv", data(30));
    let described = place.json(&["describe", "d.csv", "--labels-last", "2", "--json"]);
    assert_eq!(described["label_names"][0], format!("a{HOSTILE}"));
    place.ok(&["convert", "d.csv", "--labels-last", "2", "same.csv"]);
    assert_eq!(place.files(), ["d.csv", "same.csv", "same.xml"]);
    assert_eq!(fs::read_to_string(place.path("same.csv")).unwrap(), data(30));
}

#[test]
fn no_cell_of_answers_or_results_is_a_formula() {
    let data = data(30).replace(HOSTILE, "");
    let protocol = r#"
        folds = 2
        sets = [
            { file = "d.csv", name = "=set", labels-last = 2 },
            { file = "d.csv", name = "-set", labels-last = 2 },
        ]
        methods = [{ method = "br-nb", name = "@one" }, { method = "ecc-nb", name = "+two" }]
    "#;
    let place = Place::new().with("d.csv", data).with("p.toml", protocol);
    let labels = ["--labels-last", "2"];
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let header = |name: &str| read(name).lines().next().unwrap().to_string();
    place.ok(&["train", "d.csv", labels[0], labels[1], "-m", "br-nb", "-o", "m.labelchain"]);
    place.ok(&["predict", "m.labelchain", "d.csv", "--proba", "-o", "p.csv"]);
    assert_eq!(header("p.csv"), "a,'=b,a:share,'=b:share");
    place.ok(&["predict", "m.labelchain", "d.csv", "--probabilities", "-o", "q.csv"]);
    assert_eq!(header("q.csv"), "a,'=b,a:probability,'=b:probability");
    place.ok(&["predict", "m.labelchain", "d.csv", "--raw", "-o", "raw.tsv"]);
    assert_eq!(header("raw.tsv"), "a\t=b");
    // Labels are found in both spellings, and the losses are the same.
    let score = |answers| place.ok(&["score", "d.csv", answers, labels[0], labels[1]]);
    assert_eq!(score("p.csv"), score("raw.tsv"));
    let evaluate = ["evaluate", "d.csv", labels[0], labels[1], "--folds", "2", "-m", "br-nb"];
    place.ok(&[&evaluate[..], &["--predictions", "e.csv"]].concat());
    assert_eq!(header("e.csv"), "fold,row,method,a,'=b,a:probability,'=b:probability");

    place.ok(&["study", "run", "p.toml"]);
    place.ok(&["study", "export", "p.toml", "-o", "x.csv"]);
    assert!(read("x.csv").lines().nth(1).unwrap().starts_with("'=set,'@one,"));
    let raw = place.ok(&["study", "export", "p.toml", "--raw"]);
    assert!(raw.lines().nth(1).unwrap().starts_with("=set,@one,"));
    place.ok(&["study", "report", "p.toml", "-o", "report"]);
    assert_eq!(read("report/results.csv"), read("x.csv"));
    assert!(read("report/statistics.csv").lines().any(|line| line.contains(",'=set,'@one,")));
    // What is read back has its names again.
    let methods = place.json(&["compare", "x.csv", "--json"])["criteria"][0]["mean_ranks"].clone();
    let names: Vec<&String> = methods.as_object().unwrap().keys().collect();
    assert_eq!(names, ["@one", "+two"]);
}
