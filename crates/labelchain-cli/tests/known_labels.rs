//! Labels that are known at prediction, unknown in training, and asked for.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;

use place::Place;

/// Forty rows: b is what a is, c is the opposite, and x says little.
fn train() -> String {
    let row = |n: usize| format!("{},{},{},{}\n", n % 7, n % 2, n % 2, 1 - n % 2);
    String::from("x,a,b,c\n") + &(0..40).map(row).collect::<String>()
}

fn trained(method: &str) -> Place {
    let place = Place::new()
        .with("train.csv", train())
        .with("new.csv", "x,a,b,c\n3,1,,\n3,0,?,NA\n3,,,1\n3,1,0,0\n")
        .with("plain.csv", "x\n3\n");
    place.ok(&["train", "train.csv", "--labels", "a,b,c", "-m", method, "-o", "m.labelchain"]);
    place
}

fn refused(place: &Place, arguments: &[&str], words: &str) {
    let (status, out, error) = place.run(arguments);
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    assert!(error.contains(words), "{error}");
}

#[test]
fn known_cells_are_kept_and_the_blank_ones_follow_them() {
    for method in ["ecc-nb", "ecc-knn", "certain-nb", "dynamic-nb", "oocc-knn"] {
        let place = trained(method);
        let answers = place.ok(&["predict", "m.labelchain", "new.csv", "--known"]);
        assert_eq!(answers, "a,b,c\n1,1,0\n0,0,1\n0,0,1\n1,0,0\n", "{method}");
        let shares = place.ok(&["predict", "m.labelchain", "new.csv", "--known", "--proba"]);
        assert!(shares.ends_with("1,0,0,1,0,0\n"), "{method}: {shares}");
    }
}

#[test]
fn known_rows_can_be_explained_and_written_as_data() {
    let place = trained("ecc-nb");
    let more = ["--known", "--explain", "why.jsonl", "-o", "out.arff"];
    place.ok(&[&["predict", "m.labelchain", "new.csv"], &more[..]].concat());
    let why = fs::read_to_string(place.path("why.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        why.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["known"], serde_json::json!({"a": 1}));
    assert_eq!(rows[0]["members"][0]["support"][0], 1e308);
    assert_eq!(rows[0]["relevant"], serde_json::json!(["a", "b"]));
    let data = fs::read_to_string(place.path("out.arff")).unwrap();
    assert!(data.ends_with("3,1,1,0\n3,0,0,1\n3,0,0,1\n3,1,0,0\n"), "{data}");
}

#[test]
fn one_row_is_explained_in_the_light_of_what_is_typed_and_what_to_ask_is_said() {
    let place = trained("ecc-nb");
    let explain = ["explain", "m.labelchain", "plain.csv", "--row", "0"];
    let with = |more: &[&str]| place.ok(&[&explain, more].concat());
    let page = with(&["--known", "c=1"]);
    assert!(page.contains("known to be relevant") && page.contains("The vote: c\n"), "{page}");
    let page = with(&["--known", "a=1,b=1", "--ask"]);
    assert!(page.contains("What to ask next: c"), "{page}");
    let all_known = with(&["--known", "a=1,b=1,c=0", "--ask"]);
    assert!(all_known.contains("All labels are known"), "{all_known}");
    let json = place.json(&[&explain, &["--ask", "--known", "b=0", "--json"][..]].concat());
    let asked: Vec<&str> =
        json["ask"].as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert!(asked == ["a", "c"] || asked == ["c", "a"], "{json}");
    assert!(json["ask"][0]["gain"].as_f64() >= json["ask"][1]["gain"].as_f64());
    assert!(json["ask"][0]["probability"].is_f64() && json["known"]["b"] == 0);
    let without = place.json(&[&explain, &["--json"][..]].concat());
    assert!(without.get("ask").is_none() && without.get("known").is_none());
}

#[test]
fn slips_are_refused_with_a_remedy() {
    let place = trained("ecc-nb");
    let explain = |known: &str, words: &str| {
        let request = ["explain", "m.labelchain", "plain.csv", "--row", "0", "--known", known];
        refused(&place, &request, words);
    };
    explain("A=1", "no label of the model is called \"A\". Did you mean \"a\"?");
    explain("a=2", "--known is \"a=2\", but must be a label and whether it is relevant");
    explain("a", "--known is \"a\", but must be");
    explain("a=1,a=0", "--known is both a=0 and a=1, but must be one of them for each label");
    let none = ["predict", "m.labelchain", "plain.csv", "--known"];
    refused(&place, &none, "has a column for none of the model's labels");
    let tags = ["predict", "m.labelchain", "new.csv", "--known", "--tags", "a"];
    refused(&place, &tags, "tags do not say which labels are unknown");
    // Margins that could not be calibrated are no probabilities.
    let every_row = ["--sample", "1", "--fit-share", "1", "--members", "2"];
    let train = ["train", "train.csv", "--labels", "a,b,c", "-m", "ecc-svm", "-o", "m.labelchain"];
    place.ok(&[&train[..], &every_row].concat());
    let ask = ["explain", "m.labelchain", "plain.csv", "--row", "0", "--ask"];
    refused(&place, &ask, "what an answer would be worth cannot be had");
}

#[test]
fn rows_with_missing_labels_are_learned_from_evaluated_and_scored() {
    let rows = train();
    // Every fifth row lacks b.
    let blank = |(at, line): (usize, &str)| match line.split(',').collect::<Vec<_>>()[..] {
        [x, a, _, c] if at % 5 == 1 => format!("{x},{a},,{c}\n"),
        _ => format!("{line}\n"),
    };
    let partial: String = rows.lines().enumerate().map(blank).collect();
    let place = trained("ecc-nb").with("partial.csv", partial);
    fn with<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [command, &["--labels", "a,b,c", "--missing-labels", "learn"], more].concat()
    }
    let train = |method| with(&["train", "partial.csv"], &["-m", method, "-o", "p.labelchain"]);
    let (_, _, notes) = place.run(&train("ecc-knn"));
    assert!(notes.contains("8 rows with missing labels keep the labels they have"), "{notes}");
    refused(
        &place,
        &train("ecc-svm"),
        "one that learns from rows of which some labels are unknown",
    );
    let answers = place.ok(&["predict", "p.labelchain", "new.csv", "--known"]);
    assert_eq!(answers, "a,b,c\n1,1,0\n0,0,1\n0,0,1\n1,0,0\n");

    let described = place.json(&with(&["describe", "partial.csv"], &["--json"]));
    assert!(described["notes"].to_string().contains("8 of 120 label cells are unknown"));
    let more = ["-m", "ecc-nb,br-knn", "--folds", "2", "--json"];
    let evaluated = place.json(&with(&["evaluate", "partial.csv"], &more));
    assert!(evaluated["results"][0]["losses"]["hamming"].is_f64());
    // The truth against itself: unknown cells are neither right nor wrong.
    let scored = place.json(&with(&["score", "partial.csv", "train.csv"], &["--json"]));
    assert_eq!(scored["losses"]["hamming"], 0.0);
    refused(&place, &with(&["score", "train.csv", "partial.csv"], &[]), "a missing value");
    // Written and read back, unknown cells are the same.
    place.ok(&with(&["convert", "partial.csv", "p.arff"], &[]));
    let text = fs::read_to_string(place.path("p.arff")).unwrap();
    assert_eq!(text.matches('?').count(), 8, "{text}");
    refused(&place, &with(&["convert", "partial.csv", "p.svm"], &[]), "SVMLight cannot say");
}

#[test]
fn labels_that_are_ignored_or_misspelt_are_told() {
    let place = trained("ecc-nb");
    let note = |arguments: &[&str]| place.run(arguments).2;
    // Labels that are there play no part, and neither do those that are missing.
    let ignored = note(&["predict", "m.labelchain", "new.csv"]);
    assert_eq!(
        ignored,
        "note: some labels are there and others missing, and all of them are ignored; --known keeps \
         those that are there\n"
    );
    assert_eq!(note(&["predict", "m.labelchain", "new.csv", "--known"]), "");
    let place = place.with("train.csv", train_with_long_names());
    place.ok(&[
        "train",
        "train.csv",
        "--labels",
        "alpha,beta",
        "-m",
        "br-nb",
        "-o",
        "l.labelchain",
    ]);
    let place = place.with("near.csv", "x,alpha,betta,other\n3,1,0,2\n");
    let (_, _, error) = place.run(&["predict", "l.labelchain", "near.csv", "--known"]);
    assert!(error.contains("; is \"betta\" the label \"beta\"?"), "{error}");
    // A column that is like no label, or like one that is there, is only counted.
    let place = place.with("other.csv", "x,alpha,beta,betta\n3,1,,2\n");
    let (_, _, error) = place.run(&["predict", "l.labelchain", "other.csv", "--known"]);
    assert_eq!(
        error,
        "note: columns ignored, for the model does not know them: 1 (first: \"betta\")\n"
    );
}

fn train_with_long_names() -> String {
    let row = |n: usize| format!("{},{},{}\n", n % 7, n % 2, n % 3 / 2);
    String::from("x,alpha,beta\n") + &(0..40).map(row).collect::<String>()
}

#[test]
fn an_aim_that_the_model_could_not_answer_is_refused_when_it_is_trained() {
    let place = trained("ecc-nb");
    let train = ["train", "train.csv", "--labels", "a,b,c", "-o", "new.labelchain"];
    let every_row = ["--sample", "1", "--fit-share", "1", "--members", "2"];
    let asked = |more: &[&'static str]| [&train[..], &every_row, more].concat();
    refused(&place, &asked(&["-m", "ecc-nb@macro-f1"]), "the aim macro-f1 cannot be had");
    refused(&place, &asked(&["-m", "br-svm", "--aim", "hamming"]), "the aim hamming, which needs");
    assert!(!place.path("new.labelchain").exists());
    place.ok(&asked(&["-m", "ecc-nb@top=2"]));
}
