//! From sources to data sets: synthetic rows, bags of instances, smaller sets.
#![allow(clippy::unwrap_used)]

mod place;

use std::fmt::Write as _;
use std::fs;

use place::Place;
use serde_json::json;

/// Forty bags of one to four instances; `high` where they are large, `odd` in every second bag.
fn bags() -> String {
    let mut text = String::from(
        "@relation 'bags: -C -2'\n@attribute id numeric\n@attribute bag relational\n@attribute x numeric\n\
         @attribute y numeric\n@end bag\n@attribute high {0,1}\n@attribute odd {0,1}\n@data\n",
    );
    for bag in 0..40 {
        let centre = if bag % 4 < 2 { 0.0 } else { 5.0 };
        let instance = |at: usize| format!("{},{}", centre + at as f64 / 7.0, bag as f64 / 40.0);
        let instances: Vec<String> = (0..1 + bag % 4).map(instance).collect();
        let high = u8::from(bag % 4 >= 2);
        let _ = writeln!(text, "{bag},'{}',{high},{}", instances.join("\\n"), bag % 2);
    }
    text
}

#[test]
fn bags_become_rows_and_the_file_says_how() {
    let place = Place::new().with("bags.arff", bags());
    place.ok(&["convert", "bags.arff", "rows.arff", "--bags", "medoids", "--medoids", "3"]);
    let rows = place.json(&["describe", "rows.arff", "--json"]);
    assert_eq!(
        (&rows["rows"], &rows["features"], &rows["labels"]),
        (&40.into(), &3.into(), &2.into())
    );
    let text = fs::read_to_string(place.path("rows.arff")).unwrap();
    let head: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(
        head,
        [
            concat!("% made by labelchain ", env!("CARGO_PKG_VERSION"), " of bags.arff"),
            "% bags as maximal Hausdorff distances to 3 medoids of all 40 bags (random start)",
            "% medoids found with seed 1",
        ]
    );
    let (status, _, error) = place.run(&["convert", "bags.arff", "flat.csv", "--bags", "concat"]);
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: bags, bag 1: holds 2 instances, the first 1, and only bags of one size can be \
             laid end to end\n  help: --bags medoids takes bags of any size\n"
        )
    );
    let (status, _, error) = place.run(&["convert", "bags.arff", "flat.csv"]);
    assert!(
        status == 2 && error.contains("or make single rows of the bags with --bags"),
        "{error}"
    );
    assert_eq!(place.files(), ["bags.arff", "rows.arff", "rows.xml"]);
}

#[test]
fn a_model_of_bags_labels_bags_and_keeps_its_medoids() {
    let place = Place::new().with("bags.arff", bags());
    let method = ["--bags", "medoids", "--medoids", "4", "-m", "br-nb", "--members", "3"];
    place.ok(&[&["train", "bags.arff", "-o", "m.labelchain"], &method[..]].concat());
    let shown = place.json(&["show", "m.labelchain", "--json"]);
    assert_eq!(shown["medoids"].as_array().unwrap().len(), 4);
    assert_eq!(shown["features"].as_array().unwrap().len(), 4);
    let answers = place.ok(&["predict", "m.labelchain", "bags.arff"]);
    let high: Vec<&str> = answers.lines().skip(1).map(|line| &line[..1]).collect();
    let expected: Vec<&str> = (0..40).map(|bag| if bag % 4 < 2 { "0" } else { "1" }).collect();
    assert_eq!(high, expected);
    // The same rows, made beforehand with the same seed, give the same model of the rest.
    place.ok(&["convert", "bags.arff", "rows.arff", "--bags", "medoids", "--medoids", "4"]);
    let rest = ["-m", "br-nb", "--members", "3"];
    place.ok(&[&["train", "rows.arff", "-o", "rows.labelchain"], &rest[..]].concat());
    assert_eq!(place.ok(&["predict", "rows.labelchain", "rows.arff"]), answers);
    let (status, _, error) = place.run(&["predict", "m.labelchain", "rows.arff"]);
    assert!(status == 2 && error.contains("the model was trained on bags of instances"), "{error}");
    // Bags are read whole, however little memory there is.
    let little = ["--select", "none", "--max-memory", "64K"];
    place.ok(&[&["train", "bags.arff", "-o", "little"], &method[..], &little].concat());
    let (status, _, error) = place.run(&["predict", "rows.labelchain", "bags.arff"]);
    assert!(status == 2 && error.contains("holds bags of instances, not single rows"), "{error}");
}

#[test]
fn evaluation_fits_medoids_in_each_fold() {
    let place = Place::new().with("bags.arff", bags());
    let ask = ["evaluate", "bags.arff", "-m", "br-nb", "--members", "3", "--folds", "4", "--json"];
    let medoids = ["--bags", "medoids", "--medoids"];
    let results = place.json(&[&ask[..], &medoids, &["30"]].concat());
    assert!(results["results"][0]["losses"]["hamming"].as_f64().unwrap() < 0.5);
    // Forty bags would do for 31 medoids, the thirty of a fold's training rows do not.
    let (status, _, error) = place.run(&[&ask[..], &medoids, &["31"]].concat());
    assert_eq!(
        (status, error.as_str()),
        (2, "error: a choice of 31 medoids needs at least 31 rows; 30 given\n")
    );
    let (status, _, error) = place.run(&ask);
    assert!(status == 2 && error.contains("--bags medoids or --bags concat"), "{error}");
}

#[test]
fn synthetic_sets_are_the_same_bytes_for_any_number_of_threads() {
    let place = Place::new();
    for (what, ending) in [("network", "csv"), ("hypercubes", "arff"), ("hyperspheres", "svm")] {
        let make = |name: &str, threads: &str| {
            let out = format!("{name}.{ending}");
            place.ok(&["generate", what, "--rows", "3000", "-o", &out, "--threads", threads]);
            let text = fs::read_to_string(place.path(&out)).unwrap();
            text.replace(name, "NAME")
        };
        assert_eq!(make(&format!("{what}1"), "1"), make(&format!("{what}2"), "2"));
    }
    let described = place.json(&["describe", "network1.csv", "--json"]);
    assert_eq!((&described["rows"], &described["features"]), (&3000.into(), &12.into()));
    let (status, _, error) =
        place.run(&["generate", "hypercubes", "--like", "simplehs", "-o", "x.csv"]);
    assert!(status == 2 && error.contains("simplehs for hyperspheres"), "{error}");
    let (status, _, _) =
        place.run(&["generate", "hypercubes", "--like", "simplehc", "--rows", "5", "-o", "x.csv"]);
    assert_eq!(status, 2);
}

#[test]
fn the_papers_synthetic_set_says_how_it_was_made() {
    let place = Place::new();
    place.ok(&["generate", "hypercubes", "--like", "simplehc", "-o", "simplehc.arff"]);
    let described = place.json(&["describe", "simplehc.arff", "--json"]);
    assert_eq!(
        (&described["rows"], &described["features"], &described["labels"]),
        (&3000.into(), &30.into(), &10.into())
    );
    let text = fs::read_to_string(place.path("simplehc.arff")).unwrap();
    let head = text.lines().next().unwrap();
    assert!(
        head.contains("seed 9130") && head.ends_with("(after Mldatagen, a reconstruction)"),
        "{head}"
    );
}

#[test]
fn smaller_sets_say_what_is_left_of_what() {
    let rows = "1,0,5,1,0\n2,0,0,1,1\n3,0,6,0,1\n4,0,0,1,0\n";
    let place = Place::new().with("set.csv", format!("x,y,z,a,b\n{rows}"));
    let options = ["--top-labels", "1", "--min-document-frequency", "2", "--sample-rows", "4"];
    place.ok(&[&["convert", "set.csv", "small.arff", "--labels-last", "2"], &options[..]].concat());
    let small = place.json(&["describe", "small.arff", "--json"]);
    assert_eq!((&small["features"], &small["label_names"]), (&2.into(), &json!(["a"])));
    let text = fs::read_to_string(place.path("small.arff")).unwrap();
    assert!(
        text.contains(
            "% the 1 most frequent of 2 labels\n% 2 of 3 features, not 0 in at least 2 rows\n"
        ),
        "{text}"
    );
    let (status, _, error) =
        place.run(&["convert", "set.csv", "x.csv", "--labels", "a,b", "--sample-rows", "5"]);
    assert_eq!(
        (status, error.as_str()),
        (2, "error: a sample of 5 rows needs at least 5 rows; 4 given\n")
    );
}
