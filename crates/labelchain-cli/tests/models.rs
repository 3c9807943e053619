//! Model files: training, reading, predicting, explaining; and errors when files do not match.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command as Plain;

use serde_json::{Value, json};

use place::Place;

impl Place {
    /// Training rows, rows to be labelled, and a model of five members.
    fn trained(method: &str) -> Place {
        let place = Place::new()
            .with("train.csv", csv(&rows(1, 120), &COLUMNS))
            .with("new.csv", csv(&rows(2, 30), &COLUMNS));
        let more = ["-m", method, "--members", "5", "-o", "m.labelchain"];
        place.ok(&[&["train", "train.csv", "--labels", "calm,sad,wild"], &more[..]].concat());
        place
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Checks that the program fails with this status and these words, and writes nothing.
    fn refused(&self, arguments: &[&str], status: i32, words: &[&str]) {
        let before = self.files();
        let (found, out, error) = self.run(arguments);
        assert_eq!((found, out.as_str()), (status, ""), "{arguments:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
        assert!(error.starts_with("error: ") || error.contains("\nerror: "), "{error}");
        assert_eq!(self.files(), before, "{arguments:?}");
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        self.text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const COLUMNS: [&str; 9] =
    ["tempo", "loud", "key", "beats", "constant", "calm", "sad", "wild", "rare"];

/// Pseudo-random numbers that are the same on every machine.
struct Numbers(u64);

impl Numbers {
    /// Between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn around_zero(&mut self) -> f64 {
        (0..4).map(|_| self.next() - 0.5).sum::<f64>() * 1.7
    }
}

/// Numeric, nominal, coarse and constant columns with missing cells; labels that depend on the
/// inputs and on each other, one of them rare.
fn rows(seed: u64, n: usize) -> Vec<Vec<String>> {
    let mut numbers = Numbers(seed);
    let mut row = || {
        let (tempo, loud) = (numbers.around_zero(), numbers.around_zero());
        let key = ["minor", "major", "none"][(numbers.next() * 3.0) as usize];
        let beats = (numbers.next() * 5.0) as u8;
        let calm = tempo + 0.4 * numbers.around_zero() < 0.1;
        let sad = calm && loud < 0.4 || key == "minor";
        let wild = loud + tempo > 0.9 || !calm && beats == 4;
        let rare = numbers.next() < 0.02;
        let or_missing = |text: String, draw: f64| if draw < 0.05 { "?".into() } else { text };
        let tempo = or_missing(format!("{tempo:.4}"), numbers.next());
        let key = or_missing(key.into(), numbers.next());
        let mut cells = vec![tempo, format!("{loud:.2}"), key, beats.to_string(), "7".into()];
        cells.extend([calm, sad, wild, rare].map(|is| u8::from(is).to_string()));
        cells
    };
    (0..n).map(|_| row()).collect()
}

fn csv(rows: &[Vec<String>], columns: &[&str]) -> String {
    let place = |name: &&str| COLUMNS.iter().position(|other| other == name).unwrap();
    let mut text = columns.join(",") + "\n";
    for row in rows {
        let cells: Vec<&str> = columns.iter().map(|name| row[place(name)].as_str()).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn a_model_is_trained_shown_asked_and_explained() {
    let place = Place::trained("dynamic-nb");
    let shown = place.json(&["show", "m.labelchain", "--json"]);
    assert_eq!(shown["format"], 16);
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&shown["method"], &shown["seed"]), (&json!("dynamic-nb"), &json!(1)));
    assert_eq!(shown["labels"], json!(["calm", "sad", "wild"]));
    assert_eq!(shown["features"][0], json!({"name": "tempo", "kind": "numeric"}));
    let key = json!({"name": "key", "kind": "nominal", "values": ["major", "minor", "none"]});
    assert_eq!(shown["features"][2], key);
    assert_eq!(shown["standardize"]["mean"][2], Value::Null);
    assert_eq!((&shown["neighbours"], &shown["members"][0]["order"]), (&Value::Null, &Value::Null));
    assert!(shown["decay"].as_f64().unwrap() >= 1.0);
    assert_eq!(shown["members"].as_array().unwrap().len(), 5);
    assert_eq!(shown["members"][4]["by_label"].as_array().unwrap().len(), 3);
    for name in ["metric", "ties", "selection", "likelihood"] {
        assert!(shown["settings"][name].is_string(), "{name}");
    }
    let page = place.ok(&["show", "m.labelchain"]);
    assert!(page.starts_with("m.labelchain: dynamic-nb, seed 1, by labelchain"), "{page}");
    assert!(page.contains("trained on      120 rows\n"), "{page}");

    let out = place.ok(&["predict", "m.labelchain", "new.csv", "--explain", "why.jsonl"]);
    assert_eq!(out.lines().next(), Some("calm,sad,wild"));
    assert_eq!(out.lines().count(), 31);
    let why = place.lines("why.jsonl");
    for (row, (line, object)) in out.lines().skip(1).zip(&why).enumerate() {
        assert_eq!(object["row"], row);
        let votes: Vec<f64> =
            object["votes"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let cells: Vec<&str> = votes.iter().map(|&v| if v > 0.5 { "1" } else { "0" }).collect();
        assert_eq!(line, cells.join(","));
        for member in object["members"].as_array().unwrap() {
            let f1 = |label: &Value| &member["local_f1"][label.as_u64().unwrap() as usize];
            let order = member["order"].as_array().unwrap();
            let along: Vec<f64> = order.iter().map(|label| f1(label).as_f64().unwrap()).collect();
            assert!(along.is_sorted_by(|a, b| a >= b), "{member}");
        }
    }
    let one = place.json(&["explain", "m.labelchain", "new.csv", "--row", "17", "--json"]);
    // And training rows and inputs besides.
    for (key, value) in why[17].as_object().unwrap() {
        assert_eq!(one[key], *value, "{key}");
    }
    assert!(why[17]["inputs"].is_null());
    let inputs = one["inputs"].as_array().unwrap();
    assert!(inputs.iter().any(|it| it["name"] == "key" && it["value"] == "major"), "{one}");
    let page = place.ok(&["explain", "m.labelchain", "new.csv", "--row", "17"]);
    for words in ["new.csv, row 17", "The vote: ", "local F1", "different orders", "mean place"] {
        assert!(page.contains(words), "{words:?} is not in {page}");
    }
    let page = place.ok(&["explain", "m.labelchain", "new.csv", "--row", "0", "--member", "4"]);
    assert!(page.contains("\nMember 4 agrees "), "{page}");
}

#[test]
fn neighbours_are_tuned_or_given_and_shown() {
    let place = Place::trained("dynamic-knn");
    let shown = place.json(&["show", "m.labelchain", "--json"]);
    assert_eq!(shown["settings"]["neighbours"], "auto");
    assert!([1, 3, 5, 7, 9, 11].contains(&shown["neighbours"].as_u64().unwrap()), "{shown}");
    let page = place.ok(&["show", "m.labelchain"]);
    let line = page.lines().find(|line| line.starts_with("  neighbours ")).unwrap();
    assert!(line.contains(&format!("auto: {}", shown["neighbours"])), "{page}");
    place.ok(&["explain", "m.labelchain", "new.csv", "--row", "3"]);

    let train = ["train", "train.csv", "--labels", "calm,sad,wild", "-m", "ecc-knn", "-o", "g"];
    place.ok(&[&train[..], &["--neighbours", "7", "--select", "none"]].concat());
    assert_eq!(place.json(&["show", "g", "--json"])["neighbours"], 7);
    let why = place.json(&["explain", "g", "new.csv", "--row", "3", "--json"]);
    assert!(why["members"][0]["support"][0].is_number(), "{why}");
    // More than there are rows: all of them vote, and the common answer wins everywhere.
    place.ok(&[&train[..], &["--neighbours", "100000", "--select", "none"]].concat());
    let answers = place.ok(&["predict", "g", "new.csv"]);
    assert!(answers.lines().skip(2).all(|line| Some(line) == answers.lines().nth(1)), "{answers}");
    place.refused(&[&train[..], &["--neighbours", "0"]].concat(), 2, &["neighbours is 0"]);
}

#[test]
fn machines_are_tuned_or_given_and_shown() {
    let place = Place::trained("ga-svm");
    let shown = place.json(&["show", "m.labelchain", "--json"]);
    assert_eq!(shown["settings"]["cost"], "auto");
    let machines = shown["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 3);
    for machine in machines {
        let [cost, gamma] = ["cost", "gamma"].map(|name| machine[name].as_f64().unwrap());
        assert!(cost == 0.001 || (1.0..=10.0).contains(&cost), "{machine}");
        assert!(gamma == 0.001 || (1.0..=5.0).contains(&gamma), "{machine}");
    }
    let page = place.ok(&["show", "m.labelchain"]);
    let cost = machines[2]["cost"].as_f64().unwrap();
    let found = page.lines().find(|line| line.starts_with("  wild ")).unwrap();
    assert!(found.contains(&format!("cost {cost} ")) && found.contains("gamma "), "{page}");
    place.ok(&["explain", "m.labelchain", "new.csv", "--row", "3"]);

    let train = ["train", "train.csv", "--labels", "calm,sad,wild", "-m", "br-svm", "-o", "g"];
    place.ok(&[&train[..], &["--kernel", "linear", "--cost", "3"]].concat());
    let given = json!({"kernel": "linear", "cost": 3.0, "gamma": null});
    assert_eq!(place.json(&["show", "g", "--json"])["machines"], json!([given, given, given]));
    let page = place.ok(&["show", "g"]);
    let is_set = |name: &str, value: &str| {
        let line = page.lines().find(|line| line.starts_with(&format!("  {name} ")));
        line.is_some_and(|line| line.split_whitespace().nth(1) == Some(value))
    };
    assert!(is_set("kernel", "linear") && is_set("cost", "3"), "{page}");
}

#[test]
fn every_method_says_why_this_order() {
    for (method, words) in [
        ("ecc-nb", "The order was drawn at random with the member.\n\n"),
        ("br-nb", "There is no order: each label is decided on its own.\n\n"),
        ("oocc-nb", "The order is that of row "),
        ("certain-knn", "The order came about on the way: of the labels still open"),
        ("ga-nb", "chose it, candidate "),
        ("ga-br-knn", "of 15, for how 5 of them vote together\n  on 48 common validation rows.\n"),
    ] {
        let place = Place::trained(method);
        let explain = ["explain", "m.labelchain", "new.csv", "--row", "3"];
        let page = place.ok(&explain);
        assert!(page.contains(words), "{page}");
        let object = place.json(&[&explain[..], &["--json"]].concat());
        let member = &object["members"][0];
        assert_eq!(member["local_f1"], Value::Null);
        assert_eq!(member["order"].is_null(), method.contains("br-"));
        assert_eq!(member["nearest"].is_null(), method != "oocc-nb");
        let shown = place.json(&["show", "m.labelchain", "--json"]);
        assert_eq!(shown["decay"], Value::Null);
        let shown = &shown["members"][0];
        assert_eq!(shown["candidate"].is_null(), !method.starts_with("ga-"));
        match shown["orders"].as_array() {
            // Three labels have six orders.
            Some(orders) => assert!(orders.len() == 6 && orders.contains(&member["order"])),
            // Before a row is seen there is no order.
            None if method.starts_with("certain") => assert!(shown["order"].is_null()),
            None => assert_eq!(shown["order"], member["order"]),
        }
    }
}

#[test]
fn trees_are_trained_for_an_order_and_can_be_read() {
    let place = Place::trained("ecc-j48");
    let train = ["train", "train.csv", "--labels", "calm,sad,wild", "-m", "ecc-j48", "-o", "t"];
    place.ok(&[&train[..], &["--sample", "1", "--unpruned", "--select", "none"]].concat());
    let page = place.ok(&["show", "t", "--tree", "wild", "--member", "2"]);
    assert!(page.starts_with("The tree of member 2 for \"wild\", in the units of"), "{page}");
    // Thresholds are values of the training file, where this column has two decimals.
    let rest = page.split("loud <= ").nth(1).unwrap();
    let hundredths = 100.0 * rest.split([':', '\n']).next().unwrap().parse::<f64>().unwrap();
    assert!((hundredths - hundredths.round()).abs() < 1e-9, "{page}");
    assert!(page.contains(": relevant (") && page.contains(" leaves, "), "{page}");
    for (label, member, words) in
        [("wilde", "0", "--tree is \"wilde\""), ("wild", "99", "--member is 99")]
    {
        let show = ["show", "m.labelchain", "--tree", label, "--member", member];
        place.refused(&show, 2, &[words]);
    }
    for method in ["dynamic-j48", "oocc-svm"] {
        let train = ["train", "train.csv", "--labels", "calm,sad", "-m", method, "-o", "no"];
        let (status, _, error) = place.run(&train);
        assert_eq!(status, 2, "{error}");
        assert!(error.contains("j48 and svm go with ga, ecc, br or ga-br"), "{error}");
    }
    let train = ["train", "train.csv", "--labels", "calm,sad", "-m", "br-j48", "-o", "no"];
    place.refused(&[&train[..], &["--confidence", "0.6"]].concat(), 2, &["confidence is 0.6"]);
    place.refused(&[&train[..], &["--min-leaf", "0"]].concat(), 2, &["min-leaf is 0"]);
}

#[test]
fn every_output_format_says_the_same() {
    let place = Place::trained("dynamic-nb");
    let predict = |out: &str, more: &[&str]| {
        place.ok(&[&["predict", "m.labelchain", "new.csv", "-o", out], more].concat());
    };
    let expected = place.ok(&["predict", "m.labelchain", "new.csv"]);
    predict("p.csv", &[]);
    assert_eq!(place.text("p.csv"), expected);
    predict("p.tsv", &[]);
    assert_eq!(place.text("p.tsv").replace('\t', ","), expected);
    predict("p.arff", &[]);
    predict("p.parquet", &[]);
    for name in ["p.arff", "p.parquet"] {
        let described = place.json(&["describe", name, "--json"]);
        // All inputs of the file are kept, known to the model or not.
        assert_eq!(
            (&described["features"], &described["labels"]),
            (&json!(6), &json!(3)),
            "{name}"
        );
        let scored = place.json(&["score", name, "p.csv", "--json"]);
        assert_eq!(scored["losses"]["hamming"], 0.0, "{name}");
    }
    predict("p.jsonl", &[]);
    predict("shares.csv", &["--proba"]);
    let shares = place.text("shares.csv");
    assert_eq!(shares.lines().next(), Some("calm,sad,wild,calm:share,sad:share,wild:share"));
    for (line, object) in shares.lines().skip(1).zip(place.lines("p.jsonl")) {
        let cells: Vec<f64> = line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(object["votes"], json!(cells));
    }
    place.refused(
        &["predict", "m.labelchain", "new.csv", "-o", "p.txt"],
        2,
        &["p.txt: cannot tell the format", "help: name it .csv"],
    );
    place.refused(
        &["predict", "m.labelchain", "new.csv", "-o", "q.arff", "--proba"],
        2,
        &["--proba", "help: write to .csv or .jsonl"],
    );
}

#[test]
fn columns_are_found_by_name() {
    let rows = rows(2, 30);
    let place = Place::trained("dynamic-nb");
    let expected = place.ok(&["predict", "m.labelchain", "new.csv"]);
    let place = place
        .with(
            "shuffled.csv",
            csv(
                &rows,
                &["wild", "constant", "beats", "key", "rare", "loud", "calm", "tempo", "sad"],
            ),
        )
        .with("inputs.csv", csv(&rows, &["tempo", "loud", "key", "beats", "constant", "rare"]))
        .with(
            "some.csv",
            csv(&rows, &["rare", "sad", "tempo", "loud", "key", "beats", "constant"]),
        );
    for name in ["shuffled.csv", "inputs.csv", "some.csv"] {
        assert_eq!(place.ok(&["predict", "m.labelchain", name]), expected, "{name}");
    }
}

/// One row with inputs of these kinds.
fn arff(tempo: &str, key: &str, row: &str) -> String {
    format!(
        "@relation r\n@attribute tempo {tempo}\n@attribute loud numeric\n@attribute key {key}\n\
         @attribute beats numeric\n@attribute constant numeric\n@attribute rare numeric\n\
         @data\n{row}\n"
    )
}

#[test]
fn named_values_may_look_like_numbers() {
    let rows = "floor,size,tall\n1,3,0\n2,5,1\nG,1,0\n1,2,0\n2,6,1\nG,2,0\n".repeat(3);
    let rows = rows.replace("0\nfloor,size,tall\n", "0\n");
    let place = Place::new().with("houses.csv", rows).with("new.csv", "size,floor\n5,2\n1,1\n");
    place.ok(&["train", "houses.csv", "--labels", "tall", "-m", "br-nb", "-o", "m"]);
    assert_eq!(place.ok(&["predict", "m", "new.csv"]), "tall\n1\n0\n");
}

#[test]
fn tags_of_rows_to_be_labelled_may_be_missing() {
    let tagged = "price,tags\n1,cheap\n2,cheap\n8,dear\n9,dear\n".to_string();
    let more = tagged.replace("price,tags\n", "").repeat(5);
    let place = Place::new()
        .with("items.csv", tagged + &more)
        .with("new.csv", "price,tags\n1,NA\n9,dear\n");
    place.ok(&["train", "items.csv", "--tags", "tags", "-m", "br-nb", "-o", "m"]);
    let answers = place.ok(&["predict", "m", "new.csv", "--tags", "tags"]);
    assert_eq!(answers, "cheap,dear\n1,0\n0,1\n");
}

#[test]
fn files_that_do_not_fit_are_refused_or_noted() {
    let place = Place::trained("dynamic-nb")
        .with("lacking.csv", "tempo,loud,beats,constant,rare\n1,2,3,7,0\n")
        .with("renamed.csv", "tempo,loud,Key,beats,constant,rare\n1,2,minor,3,7,0\n")
        .with("retyped.csv", "tempo,loud,key,beats,constant,rare\nfast,2,minor,3,7,0\n")
        .with("numbered.csv", "tempo,loud,key,beats,constant,rare\n1,2,5,3,7,0\n")
        .with("retyped.arff", arff("{fast,slow}", "{minor}", "fast,2,minor,3,7,0"))
        .with("numbered.arff", arff("numeric", "numeric", "1,2,5,3,7,0"))
        .with("unseen.csv", "tempo,loud,key,beats,constant,rare,extra\n1,2,dorian,3,7,0,9\n")
        .with("missing.csv", "tempo,loud,key,beats,constant,rare\n1,2,?,3,7,0\n")
        .with("infinite.csv", "tempo,loud,key,beats,constant,rare\n1,2,?,3,7,0\n1,inf,?,3,7,0\n")
        .with("other.csv", "x,y,a\n1,2,1\n2,3,0\n3,4,1\n");
    for (name, words) in [
        (
            "lacking.csv",
            &["lacks 1 of the 6 features", "\"key\"", "help: columns are found by name"][..],
        ),
        ("renamed.csv", &["\"key\" (found \"Key\"?)"]),
        (
            "retyped.csv",
            &[
                "retyped.csv, line 2, column 1: expected a number, as \"tempo\" was in training, found \"fast\"",
            ],
        ),
        ("retyped.arff", &["\"tempo\" was a number in training", "\"fast\""]),
        ("numbered.arff", &["\"key\" had 3 named values in training and is a number here"]),
        ("infinite.csv", &["row 1, column \"loud\": expected a number within ±1e100, found inf"]),
        ("other.csv", &["lacks 6 of the 6 features"]),
    ] {
        place.refused(&["predict", "m.labelchain", name], 2, words);
    }
    place.refused(
        &["explain", "m.labelchain", "infinite.csv", "--row", "1"],
        2,
        &["row 1, column"],
    );
    let (status, unseen, notes) = place.run(&["predict", "m.labelchain", "unseen.csv"]);
    assert_eq!(status, 0, "{notes}");
    assert!(notes.contains("note: columns ignored") && notes.contains("\"extra\""), "{notes}");
    assert!(notes.contains("never seen in training: "), "{notes}");
    assert!(notes.contains("(first: \"") && notes.contains(", treated as missing"), "{notes}");
    // A column that shows no value is missing, whatever it was in training.
    assert_eq!(place.ok(&["predict", "m.labelchain", "missing.csv"]), unseen);
    // Where training had named values, a number is one of them, and here not known.
    let (_, numbered, notes) = place.run(&["predict", "m.labelchain", "numbered.csv"]);
    assert!(notes.contains("(first: \"5\" in \"key\")"), "{notes}");
    assert_eq!(numbered, unseen);
    place.refused(
        &["explain", "m.labelchain", "new.csv", "--row", "30"],
        2,
        &["--row 30", "30 given"],
    );
    place.refused(
        &["explain", "m.labelchain", "new.csv", "--row", "0", "--member", "5"],
        2,
        &["--member is 5 and the model has 5 members"],
    );
    place.refused(
        &["train", "infinite.csv", "--labels", "rare", "-o", "n"],
        2,
        &["row 1, column \"loud\""],
    );
}

#[test]
fn a_model_that_is_none_is_told_from_one_that_is_not_there() {
    let place = Place::trained("br-nb");
    let whole = fs::read(place.path("m.labelchain")).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let place =
        place.with("flipped", &flipped).with("cut", &whole[..whole.len() - 1]).with("nothing", "");
    for (name, status, words) in [
        ("flipped", 2, &["flipped: the model file is damaged", "help: copy the file again"][..]),
        ("cut", 2, &["cut: the model file is cut off"]),
        ("nothing", 2, &["not a labelchain model"]),
        ("new.csv", 2, &["not a labelchain model", "help: models are written by labelchain train"]),
        ("absent", 3, &["absent: "]),
    ] {
        place.refused(&["show", name], status, words);
        place.refused(&["predict", name, "new.csv", "-o", "p.csv"], status, words);
        place.refused(&["explain", name, "new.csv", "--row", "0"], status, words);
    }
    place.refused(&["predict", "m.labelchain", "absent.csv"], 3, &["absent.csv: "]);
    place.refused(&["predict", "m.labelchain", "new.csv", "-o", "no/p.csv"], 3, &["no/p.csv: "]);
    place.refused(
        &["show", "m.labelchain", "--max-memory", "1K"],
        2,
        &["needs more than the 1 KiB"],
    );
    place.refused(
        &["predict", "m.labelchain", "new.csv", "--max-memory", "1K"],
        2,
        &["needs more than the 1 KiB"],
    );
    for out in ["m.labelchain", "new.csv"] {
        place.refused(
            &["predict", "m.labelchain", "new.csv", "-o", out],
            2,
            &["is also a file to be read"],
        );
        let explain = ["predict", "m.labelchain", "new.csv", "-o", "p.csv", "--explain", out];
        place.refused(&explain, 2, &["is also a file to be read"]);
    }
    let twice = ["predict", "m.labelchain", "new.csv", "-o", "p.jsonl", "--explain", "p.jsonl"];
    place.refused(&twice, 2, &["p.jsonl: is asked for twice"]);
    let evaluate = ["evaluate", "train.csv", "--labels", "calm", "--predictions", "train.csv"];
    place.refused(&evaluate, 2, &["is also a file to be read"]);
    let train = ["train", "train.csv", "--labels", "calm", "-o", "train.csv"];
    place.refused(&train, 2, &["is also a file to be read"]);
    assert_eq!(fs::read(place.path("m.labelchain")).unwrap(), whole);
}

const METHODS: [&str; 19] = [
    "dynamic-nb",
    "ga-nb",
    "ecc-nb",
    "oocc-nb",
    "br-nb",
    "ga-br-nb",
    "dynamic-knn",
    "ga-knn",
    "ecc-knn",
    "oocc-knn",
    "br-knn",
    "ga-br-knn",
    "ga-j48",
    "ecc-j48",
    "br-j48",
    "ga-br-j48",
    "ecc-svm",
    "ga-br-svm",
    "ecc-forest",
];

#[test]
fn the_same_bytes_again_whatever_the_threads() {
    for method in METHODS {
        let place = Place::trained(method);
        let run = |name: &str, threads: &str| {
            let model = format!("{name}.labelchain");
            place.ok(&[
                "train",
                "train.csv",
                "--labels",
                "calm,sad,wild,rare",
                "-m",
                method,
                "--members",
                "6",
                "--threads",
                threads,
                "-o",
                &model,
            ]);
            let (out, why) = (format!("{name}.csv"), format!("{name}.jsonl"));
            place.ok(&[
                "predict",
                &model,
                "new.csv",
                "-o",
                &out,
                "--explain",
                &why,
                "--threads",
                threads,
            ]);
            [model, out, why].map(|name| fs::read(place.path(&name)).unwrap())
        };
        let first = run("first", "1");
        assert_eq!(run("second", "2"), first, "{method}");
        assert_eq!(run("third", "2"), first, "{method}");
    }
}

#[test]
fn the_smallest_data_is_data() {
    let place = Place::new()
        .with("row.csv", "x,a\n1,1\n")
        .with("few.csv", "x,a\n1,1\n2,0\n3,0\n")
        .with("constant.csv", "x,a,b\n1,1,0\n2,1,0\n4,1,0\n8,1,0\n5,1,0\n6,1,0\n7,1,0\n");
    // A share of so few rows that none is left is refused; a plain chain takes all of them.
    let labels = ["--labels", "a", "-o", "m"];
    place.refused(
        &[&["train", "row.csv", "-m", "dynamic-nb"], &labels[..]].concat(),
        2,
        &["needs at least 2 rows; 1 given"],
    );
    let plain = ["--members", "1", "--sample", "1", "--fit-share", "1"];
    for name in ["row.csv", "few.csv"] {
        let train =
            [&["train", name, "-m", "ecc-nb", "--order", "natural"], &plain[..], &labels[..]];
        place.ok(&train.concat());
        let shown = place.json(&["show", "m", "--json"]);
        assert_eq!(shown["members"][0]["order"], json!([0]));
        assert_eq!(shown["members"][0]["validation_rows"], json!([]));
        let answers = place.ok(&["predict", "m", name]);
        let truth: Vec<String> = place.text(name).lines().map(|line| line[2..].into()).collect();
        assert_eq!(answers.lines().collect::<Vec<_>>(), truth, "{name}");
        place.ok(&["explain", "m", name, "--row", "0"]);
    }
    for method in METHODS {
        // More members than rows: each draws its own.
        place.ok(&[
            "train",
            "constant.csv",
            "--labels",
            "a,b",
            "-m",
            method,
            "--members",
            "9",
            "-o",
            "c",
        ]);
        let answers = place.ok(&["predict", "c", "constant.csv", "--proba"]);
        // A candidate of the genetic search is fitted on only two rows here, and may be wrong about the
        // others.
        let expected = if method.starts_with("ga-") { "1,0," } else { "1,0,1,0" };
        assert!(
            answers.lines().skip(1).all(|line| line.starts_with(expected)),
            "{method}: {answers}"
        );
    }
}

#[test]
fn a_search_with_little_to_choose_from_still_ends() {
    let place = Place::trained("br-nb");
    let train = ["train", "train.csv", "-m", "ga-nb", "-o", "g"];
    let search = |labels, more: &[&str]| {
        place.ok(&[&train[..], &["--labels", labels], more].concat());
    };
    // One label has one order, and candidates on all rows differ in nothing else.
    search("calm", &[]);
    search("calm,sad", &["--sample", "1", "--select", "none"]);
    // As many candidates as members: all are kept.
    search("calm,sad", &["--members", "4", "--candidates", "4", "--diversity", "none"]);
    let shown = place.json(&["show", "g", "--json"]);
    let kept: Vec<&Value> =
        shown["members"].as_array().unwrap().iter().map(|member| &member["candidate"]).collect();
    assert_eq!(kept, [0, 1, 2, 3]);
    for (more, words) in [
        (["--candidates", "19"], ["candidates is 19", "at least as many as members"]),
        (["--population", "1"], ["population is 1", "from 2 to"]),
        (["--crossover", "1.5"], ["crossover is 1.5", "from 0 to 1"]),
        (["--diversity", "swap"], ["swap", "precedence, adjacency"]),
        (["-m", "ga-bayes"], ["ga-bayes", "dynamic, ga, ecc, oocc, certain, br, ga-br"]),
    ] {
        let train = ["train", "train.csv", "--labels", "calm,sad", "-o", "no"];
        let method: &[&str] = if more[0] == "-m" { &[] } else { &["-m", "ga-nb"] };
        let (status, _, error) = place.run(&[&train[..], method, &more].concat());
        assert_eq!(status, 2, "{error}");
        words.iter().for_each(|word| assert!(error.contains(word), "{word:?} is not in {error}"));
        assert!(!place.path("no").exists(), "{more:?}");
    }
    for more in [["--orders", "0"], ["--lenders", "0"]] {
        let train = ["train", "train.csv", "--labels", "calm,sad", "-m", "oocc-nb", "-o", "no"];
        place.refused(&[&train[..], &more].concat(), 2, &["is 0", "from 1 to"]);
    }
}

#[test]
fn a_method_that_needs_validation_rows_says_so() {
    let place = Place::trained("br-nb");
    let whole = ["--fit-share", "1", "--labels", "calm,sad,wild"];
    let choosing = ["evaluate", "train.csv", "-m", "ecc-nb,ga-br-knn"];
    let train = ["train", "train.csv", "-m", "dynamic-nb", "-o", "d"];
    let testing = ["evaluate", "train.csv", "-m", "dynamic-nb"];
    for command in [&train[..], &testing, &choosing] {
        let words = ["--fit-share is 1", "below 1 for dynamic", "validation rows"];
        place.refused(&[command, &whole[..]].concat(), 2, &words);
    }
    for method in ["ecc-nb", "br-nb"] {
        place.ok(&[&["train", "train.csv", "-m", method, "-o", "d"], &whole[..]].concat());
    }
}

#[test]
fn a_plain_chain_takes_the_order_given() {
    let place = Place::trained("br-nb");
    let chain = ["-m", "ecc-nb", "--members", "1", "--sample", "1", "--fit-share", "1", "-o", "c"];
    let train = [&["train", "train.csv", "--labels", "calm,sad,wild"], &chain[..]].concat();
    for (order, positions) in [("natural", json!([0, 1, 2])), ("wild,calm,sad", json!([2, 0, 1]))] {
        place.ok(&[&train[..], &["--order", order]].concat());
        let shown = place.json(&["show", "c", "--json"]);
        assert_eq!(shown["members"][0]["order"], positions);
        assert_eq!(shown["members"][0]["fitting_rows"].as_array().unwrap().len(), 120);
        let why = place.json(&["explain", "c", "new.csv", "--row", "2", "--json"]);
        assert_eq!(why["members"][0]["order"], positions);
    }
    place.refused(
        &[&train[..], &["--order", "wild,calm"]].concat(),
        2,
        &["--order is without 1 of the labels (first: \"sad\")"],
    );
}

/// Computes every local F1, order, support, decision and vote again, by a program that shares nothing
/// with ours but the definition of the method.
#[test]
fn predictions_can_be_rederived() {
    if Plain::new("python3").arg("--version").output().is_err() {
        let _ = writeln!(io::stderr(), "skipped: there is no python3 to derive predictions with");
        return;
    }
    let place = Place::new()
        .with("train.csv", csv(&rows(3, 220), &COLUMNS))
        .with("train.arff", sparse(&rows(3, 220)))
        .with("new.csv", csv(&rows(4, 40), &COLUMNS))
        .with("new.arff", sparse(&rows(4, 40)));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rederive.py");
    let derive = || {
        let names = ["train.csv", "new.csv", "model.json", "why.jsonl"];
        let mut python = Plain::new("python3");
        let output = python.arg(&script).args(names).current_dir(place.0.path()).output().unwrap();
        let output_text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(output_text).unwrap())
    };
    let explain = |ending: &str, method: &str, likelihood: &str, select: &str| {
        let (train, new) = (format!("train.{ending}"), format!("new.{ending}"));
        let lenders: &[&str] = if method == "oocc-nb" { &["--lenders", "3"] } else { &[] };
        let train = [
            "train",
            &train,
            "--labels",
            "rare,wild,sad,calm",
            "-m",
            method,
            "--members",
            "5",
            "--likelihood",
            likelihood,
            "--select",
            select,
            "-o",
            "m",
        ];
        place.ok(&[&train[..], lenders].concat());
        fs::write(place.path("model.json"), place.ok(&["show", "m", "--json"])).unwrap();
        place.ok(&["predict", "m", &new, "-o", "p.csv", "--explain", "why.jsonl", "--force"]);
    };
    for (ending, method, likelihood, select) in [
        ("csv", "dynamic-nb", "weka", "cfs"),
        ("csv", "dynamic-nb", "weka", "none"),
        ("csv", "dynamic-nb", "gaussian", "none"),
        ("csv", "dynamic-nb", "auto", "none"),
        ("csv", "dynamic-nb", "discretized", "none"),
        ("csv", "dynamic-nb", "discretized", "cfs"),
        ("csv", "dynamic-nb", "kernel", "none"),
        ("csv", "dynamic-nb", "kernel", "cfs"),
        ("csv", "ecc-nb", "weka", "none"),
        ("csv", "br-nb", "auto", "cfs"),
        ("csv", "dynamic-knn", "auto", "none"),
        ("csv", "dynamic-knn", "auto", "cfs"),
        ("csv", "ecc-knn", "auto", "cfs"),
        ("csv", "br-knn", "auto", "none"),
        ("csv", "oocc-nb", "weka", "cfs"),
        ("csv", "oocc-knn", "auto", "none"),
        ("csv", "ga-nb", "auto", "cfs"),
        ("csv", "ga-knn", "auto", "none"),
        ("csv", "ga-br-nb", "weka", "none"),
        ("arff", "dynamic-nb", "weka", "none"),
        ("arff", "dynamic-nb", "auto", "none"),
        ("arff", "dynamic-nb", "discretized", "none"),
        ("arff", "dynamic-nb", "kernel", "none"),
    ] {
        explain(ending, method, likelihood, select);
        let (same, output_text) = derive();
        assert!(same, "{ending} {method} {likelihood} {select}: {output_text}");
        assert!(output_text.starts_with("equal: 40 rows, 5 members, 4 labels"), "{output_text}");
        assert!(!output_text.contains(" 0 undersampled"), "{output_text}");
    }
    // The check must detect a small change; otherwise it would prove nothing.
    let mut why = place.lines("why.jsonl");
    let support = &mut why[7]["members"][2]["support"][1];
    *support = json!(support.as_f64().unwrap() * (1.0 + 1e-7) + 1e-7);
    let text: String = why.iter().map(|line| format!("{line}\n")).collect();
    fs::write(place.path("why.jsonl"), text).unwrap();
    let (same, output_text) = derive();
    assert!(!same && output_text.contains("row 7, member 2, support of label 1"), "{output_text}");
}

/// The same rows as sparse ARFF: zeros, and the first value of a nominal column, are left out.
fn sparse(rows: &[Vec<String>]) -> String {
    let mut text = String::from("@relation songs\n");
    let kind = |name: &str| match name {
        "key" => "{major,minor,none}",
        "calm" | "sad" | "wild" | "rare" => "{0,1}",
        _ => "numeric",
    };
    COLUMNS.iter().for_each(|name| text += &format!("@attribute {name} {}\n", kind(name)));
    text += "@data\n";
    for row in rows {
        let stored = row.iter().enumerate().filter(|(_, cell)| *cell != "0" && *cell != "major");
        let cells: Vec<String> = stored.map(|(at, cell)| format!("{at} {cell}")).collect();
        text += &format!("{{{}}}\n", cells.join(","));
    }
    text
}

/// Status and standard error of the program with so many megabytes for its data: the limit is the
/// system's.
#[cfg(target_os = "linux")]
fn within(place: &Place, megabytes: usize, arguments: &[&str]) -> (i32, String) {
    let limited = format!("ulimit -d {}; exec \"$0\" \"$@\"", megabytes * 1024);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_labelchain")]).args(arguments);
    let output = command.current_dir(place.0.path()).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
#[test]
fn rows_are_learned_from_that_do_not_fit_in_memory() {
    let place = Place::new();
    // 32 MB of cells.
    let made = ["generate", "network", "--rows", "40000", "--features", "100", "--labels", "3"];
    place.ok(&[&made[..], &["--decimals", "1", "-o", "many.csv"]].concat());
    let settings = ["--members", "2", "--select", "none", "--threads", "1"];
    let train = |megabytes, method, out, max_memory| {
        let train = ["train", "many.csv", "-m", method, "-o", out, "--max-memory", max_memory];
        within(&place, megabytes, &[&train[..], &settings].concat())
    };
    for method in ["br-nb", "ecc-nb"] {
        let (status, error) = train(24, method, "few", "24M");
        assert_eq!(status, 0, "{error}");
        assert!(error.contains("a few columns at a time"), "{error}");
        let (status, _) = train(24, method, "all", "4G");
        assert_ne!(status, 0, "all columns fit into so little memory");
        let (status, error) = train(4096, method, "all", "4G");
        assert_eq!((status, &*error), (0, ""));
        let [few, all] = ["few", "all"].map(|model| {
            let mut shown = place.json(&["show", model, "--json"]);
            // Learning by columns knows nothing of whole rows, also none that members have not seen.
            shown["out_of_bag"] = Value::Null;
            shown
        });
        assert!(few == all, "{method} learned something else");
    }
    // Local F1 looks at all inputs of the training rows.
    let (status, error) = train(64, "dynamic-nb", "none", "8M");
    assert_eq!(status, 2, "{error}");
    assert!(error.contains("needs more than the 8 MiB allowed"), "{error}");
}

#[test]
fn a_reader_of_answers_that_has_seen_enough_is_no_error() {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "20000", "-o", "many.csv"]);
    place.ok(&["generate", "network", "--rows", "100", "-o", "few.csv"]);
    let settings = ["--members", "1", "--select", "none"];
    place.ok(&[&["train", "few.csv", "-m", "br-nb", "-o", "m"][..], &settings].concat());
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_labelchain"))
        .args(["predict", "m", "many.csv"])
        .current_dir(place.0.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(program.stdout.take());
    let output = program.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}
