//! What `compare` promises: its JSON, its page, its refusals, and reports written whole or not at all.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use place::Place;

/// Three methods on five sets by two criteria, of which one is better if higher. `first` is always
/// best by `hamming`, `second` and `third` tie once.
const RESULTS: &str = "dataset,method,criterion,loss
a,first,hamming,0.1
a,second,hamming,0.2
a,third,hamming,0.3
b,first,hamming,0.11
b,second,hamming,0.25
b,third,hamming,0.22
c,first,hamming,0.3
c,second,hamming,0.4
c,third,hamming,0.4
d,first,hamming,0.2
d,second,hamming,0.25
d,third,hamming,0.5
e,first,hamming,0.05
e,second,hamming,0.5
e,third,hamming,0.6
a,first,accuracy,0.9
a,second,accuracy,0.8
a,third,accuracy,0.7
b,first,accuracy,0.8
b,second,accuracy,0.7
b,third,accuracy,0.75
c,first,accuracy,0.6
c,second,accuracy,0.5
c,third,accuracy,0.4
d,first,accuracy,0.9
d,second,accuracy,0.85
d,third,accuracy,0.95
e,first,accuracy,0.7
e,second,accuracy,0.6
e,third,accuracy,0.5
";

fn place() -> Place {
    Place::new().with("r.csv", RESULTS)
}

#[test]
fn the_promised_json_is_kept() {
    let compared = place().json(&["compare", "r.csv", "--higher-is-better", "accuracy", "--json"]);
    assert_eq!(compared["alpha"], 0.1);
    let hamming = &compared["criteria"][0];
    assert_eq!((&hamming["criterion"], &hamming["n"]), (&"hamming".into(), &5.into()));
    // Ranks 1 2 3, 1 3 2, 1 2.5 2.5, 1 2 3, 1 2 3.
    assert_eq!(
        hamming["mean_ranks"],
        serde_json::json!({"first": 1.0, "second": 2.3, "third": 2.7})
    );
    // χ² = [12 (5² + 11.5² + 13.5²) / (5 · 3 · 4) - 3 · 5 · 4] / [1 - 6 / (5 · 3 · 8)] = 7.9 / 0.95.
    let statistic = hamming["friedman"]["statistic"].as_f64().unwrap();
    assert!((statistic - 7.9 / 0.95).abs() < 1e-12, "{statistic}");
    // q = 2.0523 for three methods at 0.1, times √(3 · 4 / (6 · 5)).
    let cd = hamming["nemenyi_cd"].as_f64().unwrap();
    assert!((cd - 2.0523 * 0.4f64.sqrt()).abs() < 1e-4, "{cd}");
    let pair = &hamming["wilcoxon"][2];
    assert_eq!((&pair["a"], &pair["b"]), (&"second".into(), &"third".into()));
    // One of five differences is zero; of -0.1, 0.03, -0.25, -0.1 the positive one has rank 1.
    assert_eq!((&pair["n"], &pair["w"]), (&4.into(), &1.0.into()));
    assert_eq!(
        (&pair["exact"], &pair["wins"], &pair["ties"]),
        (&false.into(), &3.into(), &1.into())
    );
    let accuracy = &compared["criteria"][1];
    assert_eq!(accuracy["mean_ranks"]["first"], 1.2);
    assert_eq!(accuracy["higher_is_better"], true);
    for criterion in [hamming, accuracy] {
        assert!(criterion["friedman"]["p_holm"].as_f64() >= criterion["friedman"]["p"].as_f64());
    }
}

#[test]
fn the_page_shows_ranks_and_who_cannot_be_told_apart() {
    let page = place().ok(&["compare", "r.csv", "--higher-is-better", "accuracy"]);
    assert!(page.starts_with("3 methods on 5 data sets, by 2 criteria"), "{page}");
    let expected = "
Hamming, 5 data sets: Friedman χ² 8.32, p 0.0156, 0.0313 by Holm: the methods differ
          1                                   3   rank  CD 1.298  Wilcoxon
  first   ●───────────────────────────────────┤   1.00            ┐
  second  ├──────────────────────●────────────┤   2.30  ┐         │
  third   ├──────────────────────────────●────┤   2.70  ┘         ┘
";
    assert!(page.contains(expected), "{page}");
    assert!(page.contains("accuracy (higher is better), 5 data sets"), "{page}");
}

#[test]
fn gaps_are_refused_with_both_remedies() {
    let rows: Vec<&str> = RESULTS.lines().filter(|line| *line != "b,third,hamming,0.22").collect();
    let place = Place::new().with("r.csv", rows.join("\n"));
    let (status, out, error) = place.run(&["compare", "r.csv"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert_eq!(
        error,
        "error: hamming: \"third\" has no loss, or not all folds, on 1 of 5 data sets (first: \"b\")\n  \
         help: --gaps drop-sets leaves such data sets out; --gaps worst-rank lets the method come last there\n"
    );
    let dropped = place.json(&["compare", "r.csv", "--gaps", "drop-sets", "--json"]);
    assert_eq!(
        (&dropped["criteria"][0]["n"], &dropped["criteria"][1]["n"]),
        (&4.into(), &5.into())
    );
    let page = place.ok(&["compare", "r.csv", "--gaps", "drop-sets", "-o", "r.md"]);
    assert!(page.starts_with("3 methods on 4 to 5 of 5 data sets, by 2 criteria"), "{page}");
    let report = fs::read_to_string(place.path("r.md")).unwrap();
    assert!(report.starts_with("# r: 3 methods on 4 to 5 of 5 data sets\n"), "{report}");
    let worst = place.json(&["compare", "r.csv", "--gaps", "worst-rank", "--json"]);
    assert_eq!(worst["criteria"][0]["mean_ranks"]["third"], 2.9);
}

#[test]
fn printed_losses_without_a_partner_are_the_wrong_table() {
    let place = place().with("results_knn.csv", "dataset,proposed,ga\nyeast,0.1,0.2\n");
    let compare = ["compare", "r.csv", "-o", "r.html", "--compare-paper", "results_knn.csv"];
    let (status, out, error) = place.run(&compare);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        error.starts_with(
            "error: results_knn prints none of these losses: it has proposed, ga on yeast; here are \
             first, second, third on a, b, c and 2 more\n  help: "
        ),
        "{error}"
    );
    assert_eq!(place.files(), ["r.csv", "results_knn.csv"]);
}

#[test]
fn a_report_of_one_file_has_no_section_without_content() {
    // Two folds, so that there would be figures of folds.
    let twice: String = RESULTS
        .lines()
        .skip(1)
        .flat_map(|line| [format!("0,{line}\n"), format!("1,{line}\n")])
        .collect();
    let place = Place::new().with("r.csv", format!("fold,dataset,method,criterion,loss\n{twice}"));
    place.ok(&["compare", "r.csv", "-o", "r.md"]);
    assert!(!fs::read_to_string(place.path("r.md")).unwrap().contains("## Folds"));
    place.ok(&["compare", "r.csv", "-o", "all"]);
    assert!(fs::read_to_string(place.path("all/report.md")).unwrap().contains("## Folds"));
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let place = place().with("taken/x", "").with("bad.csv", "dataset,method,loss\na,m,x\n");
    for (arguments, status, message) in [
        (&["bad.csv"][..], 2, "bad.csv, line 2, column 5: expected a number, found \"x\""),
        (&["none.csv"], 3, "none.csv: "),
        (&["r.csv", "--alpha", "1.5"], 2, "alpha is 1.5, but must be between 0 and 1"),
        (&["r.csv", "--higher-is-better", "acuracy"], 2, "none of the criteria: hamming, accuracy"),
        (&["r.csv", "--exact-up-to", "5000"], 2, "exact-up-to is 5000, but must be at most 1000"),
        (&["r.csv", "-o", "r.csv"], 2, "r.csv: is also a file to be read"),
        (&["r.csv", "-o", "taken"], 2, "taken: is a directory with files in it"),
        (&["r.csv", "-o", "nowhere/report"], 3, "nowhere/report: "),
    ] {
        let (found, out, error) = place.run(&[&["compare"], arguments].concat());
        assert_eq!((found, out.as_str()), (status, ""), "{arguments:?} {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    assert_eq!(place.files(), ["bad.csv", "r.csv", "taken"]);
}

#[test]
fn a_report_comes_as_one_file_or_as_a_directory_of_all() {
    let place = place();
    for (name, part) in [
        ("page.html", "<h1>r: 3 methods on 5 data sets</h1>"),
        ("page.md", "| **1.00** | 2.30 | 2.70 |"),
        ("page.tex", "Rnk&\\textbf{1.00}&2.30&2.70"),
        ("page.csv", "hamming,,first,,mean_rank,1\n"),
    ] {
        place.ok(&["compare", "r.csv", "-o", name]);
        let text = fs::read_to_string(place.path(name)).unwrap();
        assert!(text.contains(part), "{name}: {text}");
    }
    // The two that are equal and best are marked as tied: c by hamming, second and third are not best.
    let page = fs::read_to_string(place.path("page.md")).unwrap();
    assert!(page.contains("| c | **0.300 (1)** | 0.400 (2.5) | 0.400 (2.5) |"), "{page}");

    place.ok(&["compare", "r.csv", "--report", "all"]);
    for name in ["report.html", "report.md", "report.tex", "statistics.csv", "results.csv"] {
        assert!(place.path(&format!("all/{name}")).is_file(), "{name}");
    }
    assert!(place.path("all/figures/cd-hamming.svg").is_file());
    // The results it has copied say the same again.
    let again = place.ok(&["compare", "all/results.csv", "--json"]);
    assert_eq!(again, place.ok(&["compare", "r.csv", "--json"]));
}

#[test]
fn nothing_a_name_holds_becomes_part_of_the_page() {
    let evil = "</script><img src=x onerror=alert(1)>";
    let text = format!("dataset,{evil},b & c\n\"x<y>\",0.1,0.2\nz,0.3,0.1\n");
    let place = Place::new().with("r.csv", text);
    place.ok(&["compare", "r.csv", "-o", "page.html"]);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(!page.contains("<img") && !page.contains("x<y>"), "names are escaped");
    assert!(page.contains("b &amp; c") && page.contains("x&lt;y&gt;"));
}

/// The document compiles wherever there is LaTeX: `apt-get install texlive-latex-recommended`.
#[test]
fn the_latex_document_compiles() {
    let has_latex = Command::new("pdflatex").arg("-version").output().is_ok();
    if !has_latex {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: no pdflatex; Debian has it in texlive-latex-recommended"
        );
        return;
    }
    let text = RESULTS.replace("second", "50% of_é & {more}").replace("hamming", "ex_f1");
    let place = Place::new().with("r.csv", text);
    place.ok(&["compare", "r.csv", "-o", "page.tex"]);
    let run = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "page.tex"])
        .current_dir(place.0.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && place.path("page.pdf").is_file(), "{log}");
}
