//! What users and scripts rely on: output, exit status, and files written whole or not at all.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use place::Place;

const SONGS: &str = "@relation 'songs: -C -2'\n@attribute tempo numeric\n@attribute key {minor,major,none}\n\
    @attribute calm {0,1}\n@attribute sad {0,1}\n@data\n72,minor,1,1\n80.5,major,1,0\n?,none,0,0\n128,major,0,0\n";

#[test]
fn describe_keeps_the_promised_json() {
    let described =
        Place::new().with("songs.arff", SONGS).json(&["describe", "songs.arff", "--json"]);
    assert_eq!(described["name"], "songs");
    assert_eq!(
        (&described["rows"], &described["features"], &described["labels"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert_eq!(described["cardinality"], 0.75);
    assert_eq!(described["density"], 0.375);
    assert_eq!(described["mean_imbalance"], 1.5);
    assert_eq!(described["label_names"], serde_json::json!(["calm", "sad"]));
    assert_eq!(described["label_counts"], serde_json::json!([2, 1]));
    assert_eq!(described["notes"][0]["code"], "missing-cells");
    assert_eq!(
        described["notes"][0]["text"],
        "1 missing cell in 1 column (first: row 2 counting from 0, \"tempo\")"
    );
}

#[test]
fn describe_draws_the_balance_of_labels() {
    let (_, page, _) = Place::new().with("songs.arff", SONGS).run(&["describe", "songs.arff"]);
    assert!(
        page.starts_with("songs: 4 rows, 2 features (1 nominal; 4 with --one-hot), 2 labels\n"),
        "{page}"
    );
    assert!(page.contains("calm         2   50.0 %  ████████████████████\n"), "{page}");
    assert!(page.contains("missing-cells"), "{page}");
}

#[test]
fn every_format_holds_the_same_labels_and_figures() {
    let place = Place::new().with("songs.arff", SONGS);
    let expected = place.json(&["describe", "songs.arff", "--json"]);
    for name in ["a.csv", "b.tsv.gz", "c.parquet", "c2.parquet.gz", "d.svm", "e.arff.bz2"] {
        assert_eq!(place.run(&["convert", "songs.arff", name]).0, 0, "{name}");
        let described = place.json(&["describe", name, "--json"]);
        for field in ["rows", "features", "labels", "label_names", "label_counts", "cardinality"] {
            assert_eq!(described[field], expected[field], "{name} {field}");
        }
    }
    assert_eq!(place.run(&["convert", "e.arff.bz2", "songs2.arff"]).0, 0);
    let text = fs::read_to_string(place.path("songs2.arff")).unwrap();
    assert!(text.ends_with("72,minor,1,1\n80.5,major,1,0\n?,none,0,0\n128,major,0,0\n"), "{text}");
}

#[test]
fn one_hot_names_follow_the_declaration() {
    let place = Place::new().with("songs.arff", SONGS);
    assert_eq!(place.run(&["convert", "songs.arff", "out.csv", "--one-hot"]).0, 0);
    let text = fs::read_to_string(place.path("out.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("tempo,key=minor,key=major,key=none,calm,sad"));
}

#[test]
fn tags_and_patterns_name_labels() {
    let place = Place::new()
        .with("items.csv", "price,tags\n1.5,vegan; organic\n2,\n3,vegan\n")
        .with("wide.csv", "price,tag_a,tag_b\n1,yes,no\n2,no,no\n");
    let tags = place.json(&["describe", "items.csv", "--tags", "tags", "--json"]);
    assert_eq!(tags["label_names"], serde_json::json!(["organic", "vegan"]));
    assert_eq!(tags["label_counts"], serde_json::json!([1, 2]));
    let wide = place.json(&["describe", "wide.csv", "--labels", "tag_*", "--json"]);
    assert_eq!(wide["label_names"], serde_json::json!(["tag_a", "tag_b"]));
}

#[test]
fn split_writes_every_row_once_and_the_same_rows_again() {
    let rows: String =
        (0..50).map(|n| format!("{n},{},{}\n", n % 2, u8::from(n % 5 == 0))).collect();
    let place = Place::new().with("set.csv", format!("x,a,b\n{rows}"));
    for stratify in ["none", "iterative", "pairs"] {
        let split = |out: &str| {
            let (status, page, error) = place.run(&[
                "split",
                "set.csv",
                "--labels-last",
                "2",
                "--folds",
                "5",
                "--stratify",
                stratify,
                "-o",
                out,
            ]);
            assert_eq!(status, 0, "{error}");
            assert!(page.contains("fold-4.txt"), "{page}");
            let fold =
                |k| fs::read_to_string(place.path(out).join(format!("fold-{k}.txt"))).unwrap();
            (0..5).map(fold).collect::<Vec<String>>()
        };
        let folds = split(&format!("{stratify}-first"));
        assert_eq!(folds, split(&format!("{stratify}-second")), "{stratify}");
        let mut all: Vec<usize> =
            folds.iter().flat_map(|fold| fold.lines()).map(|row| row.parse().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>(), "{stratify}");
    }
    let held = place.json(&[
        "split",
        "set.csv",
        "--labels-last",
        "2",
        "--holdout",
        "0.8",
        "-o",
        "h",
        "--json",
    ]);
    assert_eq!((&held["parts"][0]["rows"], &held["parts"][1]["rows"]), (&40.into(), &10.into()));
}

#[test]
fn row_numbers_stay_those_of_the_file_and_cuts_do_not_mix() {
    let place = Place::new().with("set.csv", "x,a\n1,\n2,1\n3,0\n").with("used/fold-0.txt", "0\n");
    let split = |options: &[&str]| {
        let (status, _, error) =
            place.run(&[&["split", "set.csv", "--labels", "a", "--folds", "2"], options].concat());
        (status, error)
    };
    let (status, error) = split(&["--missing-labels", "drop", "-o", "new"]);
    assert!(status == 2 && error.contains("later ones would change their number"), "{error}");
    let (status, error) = split(&["--missing-labels", "irrelevant", "-o", "used"]);
    assert!(status == 2 && error.contains("used: exists"), "{error}");
    assert_eq!(split(&["--missing-labels", "irrelevant", "-o", "new"]).0, 0);
    assert_eq!(place.files(), ["new", "set.csv", "used"]);
}

#[test]
fn a_file_is_not_converted_onto_itself() {
    let place = Place::new().with("songs.arff", SONGS);
    let (status, _, error) = place.run(&["convert", "songs.arff", "./songs.arff"]);
    assert!(status == 2 && error.contains("is also a file to be read"), "{error}");
    assert_eq!(fs::read_to_string(place.path("songs.arff")).unwrap(), SONGS);
}

#[test]
fn score_finds_labels_by_name_and_says_what_was_undefined() {
    // Row 0 misses sad, row 1 is right, rows 2 and 3 are empty on both sides.
    let place = Place::new()
        .with("songs.arff", SONGS)
        .with("predicted.csv", "sad,note,calm\n0,x,1\n0,x,1\n0,x,0\n0,x,0\n");
    let scored = place.json(&["score", "songs.arff", "predicted.csv", "--json"]);
    assert_eq!(scored["losses"]["hamming"], 0.125);
    assert_eq!(scored["losses"]["zero_one"], 0.25);
    // Example FNR: (1/2 + 0 + 0 + 0) / 4.
    assert_eq!(scored["losses"]["ex_fnr"], 0.125);
    // Label sad is present and never predicted: macro FDR (0 + 1) / 2.
    assert_eq!(scored["losses"]["macro_fdr"], 0.5);
    assert_eq!(scored["undefined"]["ex_f1"], 2);
    let (_, page, notes) =
        place.run(&["score", "songs.arff", "predicted.csv", "--undefined", "skip"]);
    assert!(page.contains("2 undefined") && page.contains("left out of the mean"), "{page}");
    let unscored = "columns not scored, for songs.arff does not have them: 1 (first: \"note\")";
    assert!(notes.contains(unscored), "{notes}");
    let short = Place::new().with("songs.arff", SONGS).with("p.csv", "calm,sad\n1,1\n");
    let (status, _, error) = short.run(&["score", "songs.arff", "p.csv"]);
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: p.csv: expected 4 rows, as in songs.arff, found 1\n  help: both files must hold the same rows in the same order\n"
        )
    );
}

#[test]
fn wrong_content_is_status_2_with_place_excerpt_and_help() {
    let place = Place::new().with("bad.arff", SONGS.replace("80.5", "80.5x"));
    let (status, out, error) = place.run(&["describe", "bad.arff"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert_eq!(
        error,
        "error: bad.arff, line 8, column 1: expected a number, found \"80.5x\"\n  \
         8 | 80.5x,major,1,0\n    | ^\n  \
         help: attribute \"tempo\" is declared numeric; ? stands for missing\n"
    );
}

#[test]
fn no_labels_is_an_error_that_lists_the_ways() {
    let place = Place::new().with("x.csv", "a,b\n1,0\n");
    let (status, _, error) = place.run(&["describe", "x.csv"]);
    assert_eq!(status, 2);
    for way in ["--labels ", "--labels-first", "--labels-last", "--labels-xml", "-C n", "--tags"] {
        assert!(error.contains(way), "{way}: {error}");
    }
}

#[test]
fn what_the_system_refuses_is_status_3_and_leaves_nothing() {
    let place = Place::new().with("songs.arff", SONGS);
    let (status, _, error) = place.run(&["describe", "nowhere.arff"]);
    assert_eq!(status, 3);
    assert!(error.starts_with("error: nowhere.arff: "), "{error}");
    let (status, _, _) = place.run(&["convert", "songs.arff", "no/such/place.csv"]);
    assert_eq!(status, 3);
    assert_eq!(place.files(), ["songs.arff"]);
}

#[test]
fn a_refused_conversion_leaves_old_files_alone() {
    let place = Place::new()
        .with("songs.arff", SONGS)
        .with("out.csv", "old")
        .with("out.xml", "<labels><label name=\"other\"/></labels>");
    let (status, _, error) = place.run(&["convert", "songs.arff", "out.csv", "--force"]);
    assert_eq!(status, 2);
    assert!(error.contains("out.xml: exists and names other labels"), "{error}");
    assert_eq!(fs::read(place.path("out.csv")).unwrap(), b"old");
}

#[test]
fn bombs_are_refused() {
    // A hundred megabytes of rows in a hundred kilobytes, against a limit of ten megabytes.
    let place = Place::new();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(b"@relation 'b: -C -1'\n@attribute x numeric\n@attribute a {0,1}\n@data\n")
        .unwrap();
    let rows = "0,0\n".repeat(1 << 16);
    for _ in 0..400 {
        bomb.write_all(rows.as_bytes()).unwrap();
    }
    let place = place.with("bomb.arff.gz", bomb.finish().unwrap());
    let (status, _, error) = place.run(&["describe", "bomb.arff.gz", "--max-memory", "10M"]);
    assert_eq!(status, 2);
    assert!(error.contains("needs more than the 10 MiB allowed\n  help: --max-memory"), "{error}");

    let nested = format!("<labels>{}", "<label name='a'>".repeat(100_000));
    let place = place.with("songs.arff", SONGS).with("songs.xml", nested);
    let (status, _, error) = place.run(&["describe", "songs.arff"]);
    assert_eq!(status, 2);
    assert!(error.starts_with("error: songs.xml, line 1, column 25: expected"), "{error}");

    let place =
        Place::new().with("cut.arff.gz", &fs::read(place.path("bomb.arff.gz")).unwrap()[..5000]);
    let (status, _, error) = place.run(&["describe", "cut.arff.gz"]);
    assert_eq!(status, 2);
    assert!(error.contains("expected a whole compressed file"), "{error}");
}

#[test]
fn a_reader_that_closes_early_is_no_error() {
    let place = Place::new().with("songs.arff", SONGS);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_labelchain"));
    let command = command.current_dir(place.0.path()).args(["describe", "songs.arff"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_arguments_are_status_2() {
    let place = Place::new().with("songs.arff", SONGS);
    for arguments in [
        &["describe"][..],
        &["describe", "songs.arff", "--binarize", "0"],
        &["describe", "songs.arff", "--max-memory", "8X"],
        &["describe", "songs.txt"],
        &["split", "songs.arff", "--folds", "9", "-o", "x"],
        &["split", "songs.arff", "--holdout", "1.5", "-o", "x"],
        &["split", "songs.arff", "--groups", "tmepo", "--folds", "2", "-o", "x"],
    ] {
        let (status, _, error) = place.run(arguments);
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(!error.is_empty());
    }
    assert_eq!(place.files(), ["songs.arff"]);
    assert_eq!(place.run(&["--help"]).0, 0);
    assert_eq!(place.run(&["--version"]).0, 0);
}

/// The commands that help lists.
fn commands(place: &Place) -> Vec<String> {
    let help = place.ok(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| {
        line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()).map(String::from)
    });
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_help_of_every_command_ends_with_examples_that_are_understood() {
    let place = Place::new();
    let names = commands(&place);
    assert_eq!((names.len(), names[0].as_str()), (18, "demo"));
    for name in &names {
        let help = place.ok(&[name, "--help"]);
        let examples: Vec<&str> = help
            .lines()
            .skip_while(|line| !line.starts_with("Example"))
            .filter_map(|line| line.strip_prefix("  labelchain "))
            .collect();
        assert!(!examples.is_empty(), "{help}");
        for example in examples {
            assert!(example.starts_with(name), "{example}");
            let words = example.split(" > ").next().unwrap().replace('\'', "");
            let words: Vec<&str> = words.split(' ').collect();
            // The files are not here, and that is all that may be wrong.
            if !["demo", "generate", "man"].contains(&words[0]) {
                let (status, _, error) = place.run(&words);
                assert!([0, 3].contains(&status), "{example}: {error}");
            }
        }
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.ok(&["completions", shell]);
        for word in commands(&place).iter().map(String::as_str).chain(["max-imbalance"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    place.ok(&["man", "-o", "share/man1"]);
    for page in commands(&place).iter().map(String::as_str).chain(["study-run", "generate-network"])
    {
        let page = place.path(&format!("share/man1/labelchain-{page}.1"));
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{page:?}");
    }
    assert!(place.path("share/man1/labelchain.1").exists());
}

#[test]
fn the_readme_names_every_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    for name in commands(&Place::new()) {
        assert!(readme.contains(&format!("labelchain {name}")), "{name}");
    }
}

#[test]
fn an_option_that_no_method_heeds_is_not_ignored_in_silence() {
    let rows: String = (0..40).map(|n| format!("{n},{},{}\n", n % 2, n % 3 / 2)).collect();
    let place = Place::new().with("set.csv", format!("x,a,b\n{rows}"));
    let evaluate = |options: &[&str]| {
        let start = ["evaluate", "set.csv", "--labels", "a,b", "--folds", "2", "--members", "2"];
        let (status, _, error) = place.run(&[&start[..], options].concat());
        (status, error)
    };
    assert_eq!(
        evaluate(&["-m", "ecc-nb,br-nb", "--cost", "1"]),
        (
            2,
            "error: --cost makes no difference to ecc-nb, br-nb\n  \
             help: leave it out; --help says which methods it is for\n"
                .into()
        )
    );
    assert_eq!(evaluate(&["-m", "ecc-nb,br-svm", "--cost", "1"]), (0, String::new()));
    // What scripts give to every method of a comparison.
    let note = "note: --decay makes no difference to ecc-nb\n";
    assert_eq!(evaluate(&["-m", "ecc-nb", "--decay", "3"]), (0, note.into()));
    // What is about texts, of which there are none.
    let note = "note: --min-documents makes no difference: no column is a text; --text COLUMN makes it one\n";
    assert_eq!(evaluate(&["-m", "ecc-nb", "--min-documents", "3"]), (0, note.into()));
}

#[test]
fn labels_that_become_inputs_are_told() {
    let place = Place::new().with("songs.arff", SONGS);
    for options in [["--labels", "sad"], ["--labels-last", "1"]] {
        let convert = [&["convert", "songs.arff", "out.parquet", "--force"], &options[..]].concat();
        let (status, _, error) = place.run(&convert);
        let note = "note: of the labels that the data set itself names, 1 became inputs (first: \"calm\")\n";
        assert_eq!((status, error.as_str()), (0, note));
    }
    let (_, _, error) = place.run(&["convert", "songs.arff", "x.csv", "--labels", "sad,calm"]);
    assert_eq!(error, "");
}

#[test]
fn a_name_that_leads_nowhere_is_answered_with_the_nearest_one() {
    let place = Place::new().with("sets/yeast.arff.gz", "");
    let message = |path: &str| place.run(&["describe", path]).2;
    assert!(message("sets/yeast.arff").ends_with("\n  help: did you mean sets/yeast.arff.gz?\n"));
    assert!(message("data/yeast.arff").ends_with("\n  help: there is no directory data\n"));
    assert!(!message("sets/emotions.arff").contains("help"));
    let (_, _, error) =
        place.with("x.csv", "tag_a,tag_b\n1,0\n").run(&["describe", "x.csv", "--labels", "tags_*"]);
    assert_eq!(
        error,
        "error: x.csv: no label like \"tags_*\" among the 2 columns. Did you mean \"tag_a\"?\n"
    );
}

#[test]
fn more_labels_than_there_are_and_no_rows_at_all() {
    let place = Place::new().with("songs.arff", SONGS).with("old.csv", "old");
    let (status, _, error) = place.run(&["convert", "songs.arff", "x.csv", "--top-labels", "9"]);
    let note = "note: --top-labels 9 keeps all, for there are 2 labels\n";
    assert_eq!((status, error.as_str()), (0, note));
    let (status, _, error) =
        place.run(&["generate", "network", "--rows", "0", "-o", "old.csv", "--force"]);
    assert_eq!(
        (status, error.as_str()),
        (2, "error: rows is 0, but must be a whole number from 1 to 4294967295\n")
    );
    assert_eq!(fs::read(place.path("old.csv")).unwrap(), b"old");
}

#[test]
fn a_generated_file_says_which_command_makes_it_again() {
    let spheres = ["hyperspheres", "--rows", "20", "--min-radius", "0.3", "--points", "equal"];
    for what in [&["network", "--rows", "9", "--seed", "7"], &spheres[..]] {
        let place = Place::new();
        place.ok(&[&["generate"], what, &["-o", "a.arff"]].concat());
        let text = fs::read_to_string(place.path("a.arff")).unwrap();
        let made = text.lines().find_map(|line| line.strip_prefix("% made by ")).unwrap();
        let words = made.split(" (").next().unwrap().split(' ');
        let again: Vec<&str> = words.skip(2).chain(["-o", "b/a.arff"]).collect();
        fs::create_dir_all(place.path("b")).unwrap();
        place.ok(&again);
        assert_eq!(text, fs::read_to_string(place.path("b/a.arff")).unwrap());
    }
}

/// The relative links and paths of the documents lead somewhere.
#[test]
fn documents_link_to_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/tour.md",
        "docs/data.md",
        "docs/study.md",
        "docs/formats.md",
        "docs/conventions.md",
        "docs/reproduce.md",
        "bench/README.md",
    ] {
        let document = root.join(name);
        let text = fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let link = link.split('#').next().unwrap();
            if !link.starts_with("http") {
                assert!(document.parent().unwrap().join(link).exists(), "{name} links to {link}");
            }
        }
    }
}

/// The README shows what the program prints.
#[test]
fn the_readme_shows_the_demo_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (status, page, _) = Place::new().run(&["demo"]);
    assert_eq!(status, 0);
    assert!(readme.contains(&page), "the README's demo differs from:\n{page}");
}
