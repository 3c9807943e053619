//! `evaluate DATA -o report.html`: the page says what the numbers say, the same bytes for any number of
//! threads, and nothing is replaced that was not meant.
#![allow(clippy::unwrap_used, clippy::panic)]

mod place;

use std::fs;

use place::Place;
use serde_json::Value;

/// A generated set of six labels.
fn network() -> Place {
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "240", "--labels", "6", "-o", "n.arff"]);
    place
}

/// The part of the page between a table's name and the end of the table. Names that are made of a method's
/// end with a hash.
fn table<'p>(page: &'p str, id: &str) -> &'p str {
    let names = [format!(" id=\"{id}\""), format!(" id=\"{id}.")];
    let start = names.iter().find_map(|name| page.find(name));
    let start = start.unwrap_or_else(|| panic!("no table {id}"));
    let rest = &page[start..];
    &rest[..rest.find("</table>").unwrap()]
}

/// The head of each row of a table, and its numbers.
fn rows(table: &str) -> Vec<(String, Vec<f64>)> {
    let row = |row: &str| {
        let head = row.split("</th>").next().unwrap().to_string();
        let numbers =
            row.split("data-value=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        (head, numbers.map(|number| number.parse().unwrap()).collect())
    };
    table.split("<tr><th scope=\"row\">").skip(1).map(row).collect()
}

fn is_close(a: f64, b: &Value) -> bool {
    (a - b.as_f64().unwrap()).abs() < 1e-12
}

#[test]
fn the_page_has_the_numbers_of_the_json() {
    let place = network();
    let methods = "dynamic-nb,ecc-nb,ecc-nb@macro-f1";
    let line = ["evaluate", "n.arff", "-m", methods, "--folds", "4", "--json", "-o", "page.html"];
    let json = place.json(&line);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    let results = json["results"].as_array().unwrap();

    let losses = rows(table(&page, "all-losses"));
    assert_eq!(losses.len(), 11 + 3);
    let (head, hamming) = &losses[0];
    assert_eq!((head.as_str(), hamming.len()), ("Hamming", 4));
    assert!(is_close(hamming[0], &json["baseline"]["losses"]["hamming"]));
    assert!(is_close(hamming[2], &results[1]["losses"]["hamming"]));
    // F1 below the losses is one minus the loss.
    let (head, macro_f1) = &losses[12];
    assert_eq!(head, "Macro F1, greater is better");
    assert!(is_close(1.0 - macro_f1[3], &results[2]["losses"]["macro_f1"]));
    let spread = results[1]["spread"]["zero_one"].as_f64().unwrap();
    assert!(table(&page, "all-losses").contains(&format!("(± {spread:.4})")));

    // The aims of one method share their probabilities, so that they stand once.
    let measures = rows(table(&page, "probability-measures"));
    let (_, brier) = measures.iter().find(|(head, _)| head == "Brier score").unwrap();
    assert_eq!(brier.len(), 3);
    assert!(is_close(brier[2], &results[1]["calibration"]["brier"]));

    // Of each label: relevant rows, precision, recall, F1, AUC, average precision, TP, FP, FN, TN.
    for result in results {
        let id = result["method"].as_str().unwrap().replace('@', "-");
        let labels = rows(table(&page, &format!("labels-{id}")));
        assert_eq!(labels.len(), 6);
        for (name, numbers) in &labels {
            let by_label = result["by_label"].as_array().unwrap();
            let of = by_label.iter().find(|of| of["label"] == name.as_str()).unwrap();
            let [support, precision, recall, f1, auc, average, tp, fp, fn_, tn] = numbers[..]
            else {
                panic!("ten numbers: {numbers:?}")
            };
            assert!(is_close(support, &of["support"]) && is_close(f1, &of["f1"]));
            assert!(is_close(auc, &of["auc"]) && is_close(average, &of["average_precision"]));
            assert!(is_close(precision, &of["precision"]) && is_close(recall, &of["recall"]));
            assert_eq!(tp + fp + fn_ + tn, 240.0);
            assert_eq!(tp + fn_, support);
            assert!((2.0 * tp / (2.0 * tp + fp + fn_) - f1).abs() < 1e-12);
        }
        assert!(labels.is_sorted_by(|a, b| a.1[0] >= b.1[0]), "the commonest first");
    }
    // One order for each row and each of 20 members, of the one method that chooses orders.
    assert_eq!(page.matches("all members and tested rows, 4800 walks").count(), 1);
    let orders = rows(table(&page, "orders-table-dynamic-nb"));
    let sum = |at: usize| orders.iter().map(|(_, numbers)| numbers[at]).sum::<f64>();
    assert!(orders.len() == 6 && (sum(0) - 1.0).abs() < 1e-12, "one label is first: {orders:?}");
    assert!((sum(1) - 21.0).abs() < 1e-9, "mean places of six labels sum to 1 + ... + 6");
    assert!(orders.is_sorted_by(|a, b| a.1[1] <= b.1[1]), "the earliest first");
}

#[test]
fn the_verdict_is_about_the_best_and_the_baseline() {
    let place = network();
    place.ok(&["evaluate", "n.arff", "-m", "ecc-nb", "--folds", "3", "-o", "page.html"]);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    let verdict = page.split("class=\"verdict\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(
        verdict
            .starts_with("On n (3 folds of 240 rows, seed 1), ecc-nb beats the baseline by all 5"),
        "{verdict}"
    );
    // One cut has no spread, and settings that were changed are told.
    place.ok(&[
        "evaluate",
        "n.arff",
        "-m",
        "ecc-nb",
        "--holdout",
        "0.3",
        "--members",
        "5",
        "-o",
        "cut.htm",
    ]);
    let page = fs::read_to_string(place.path("cut.htm")).unwrap();
    assert!(page.contains("one hold-out of 240 rows, 72 tested and 168 trained on"));
    assert!(page.contains("Settings that are not the defaults: members 5."));
    assert!(!page.contains("(± ") && !page.contains("standard deviation"));
}

#[test]
fn threads_do_not_change_the_page() {
    let place = network();
    let line = ["evaluate", "n.arff", "-m", "certain-nb,br-nb@micro-f1", "--folds", "3"];
    place.ok(&[&line[..], &["--threads", "1", "-o", "one.html"]].concat());
    place.ok(&[&line[..], &["--threads", "3", "-o", "three.html"]].concat());
    let [one, three] = ["one.html", "three.html"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(one == three && one.len() > 20_000);
}

#[test]
fn a_report_is_a_page_of_its_own_name() {
    let place = network();
    let refused = |out: &str, more: &[&str], why: &str| {
        let line = ["evaluate", "n.arff", "-m", "br-nb", "--folds", "2", "-o", out];
        let (status, _, error) = place.run(&[&line[..], more].concat());
        assert!(status != 0 && error.contains(why), "{out}: {error}");
    };
    let before = place.files();
    for out in ["page.md", "page.tex", "page.csv", "page.pdf", "page", "-"] {
        refused(out, &[], "name it .html");
    }
    refused("page.html", &["--predictions", "page.html"], "asked for twice");
    refused("no/page.html", &[], "no/page.html");
    assert_eq!(place.files(), before, "nothing was written");
    // A file that is read is never replaced, whatever it is called.
    fs::copy(place.path("n.arff"), place.path("rows.html")).unwrap();
    let (status, _, error) =
        place.run(&["evaluate", "n.arff", "-m", "br-nb", "--rows", "rows.html", "-o", "rows.html"]);
    assert!(status != 0 && error.contains("is also a file to be read"), "{error}");
}

#[test]
fn names_are_text_and_many_labels_are_bounded() {
    let mut text = String::from("@relation r\n@attribute x numeric\n");
    for label in 0..25 {
        text += &format!("@attribute '<b onload=alert({label})>' {{0,1}}\n");
    }
    text += "@data\n";
    for row in 0..60usize {
        text += &row.to_string();
        (0..25usize).for_each(|label| text += if row % (label + 2) == 0 { ",1" } else { ",0" });
        text.push('\n');
    }
    let place = Place::new().with("r.arff", text);
    place.ok(&[
        "evaluate",
        "r.arff",
        "--labels-last",
        "25",
        "-m",
        "certain-nb",
        "--folds",
        "3",
        "-o",
        "r.html",
    ]);
    let page = fs::read_to_string(place.path("r.html")).unwrap();
    assert!(!page.contains("<b onload") && page.contains("&lt;b onload=alert(3)&gt;"));
    for words in [
        "the 12 commonest of 25 labels",
        "the 20 commonest of 25 labels",
        "the earliest 20 of 25 labels",
        "each tenth of the order",
    ] {
        assert!(page.contains(words), "{words}");
    }
}
