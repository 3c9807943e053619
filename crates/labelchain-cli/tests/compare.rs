//! What `compare` promises: its JSON, its page, its refusals, and reports written whole or not at all.
#![allow(clippy::unwrap_used, clippy::panic)]

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
    assert_eq!(compared["alpha"], 0.05);
    assert_eq!(compared["control"], serde_json::Value::Null);
    assert!(compared["verdict"].as_str().unwrap().starts_with("On 5 data sets, "), "{compared}");
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
    // q = 2.3437 for three methods at 0.05, times √(3 · 4 / (6 · 5)).
    let cd = hamming["nemenyi_cd"].as_f64().unwrap();
    assert!((cd - 2.3437 * 0.4f64.sqrt()).abs() < 1e-4, "{cd}");
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
    assert!(
        page.contains("\n3 methods on 5 data sets, by 2 criteria; level of significance 0.05\n")
    );
    let expected = "
Hamming, 5 data sets: Friedman χ² 8.32, p .016, .031 by Holm: the methods differ
          1                                   3   rank  CD 1.482  Wilcoxon
  first   ●───────────────────────────────────┤   1.00  ┐         ┐
  second  ├──────────────────────●────────────┤   2.30  ┘ ┐       │
  third   ├──────────────────────────────●────┤   2.70    ┘       ┘
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
    assert!(page.contains("\n3 methods on 4 to 5 of 5 data sets, by 2 criteria"), "{page}");
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
        (
            &["r.csv", "--higher-is-better", "acuracy"],
            2,
            "no criterion of these results is called \"acuracy\"\n  help: did you mean \"accuracy\"?",
        ),
        (
            &["r.csv", "--control", "frist"],
            2,
            "no method of these results is called \"frist\"\n  help: did you mean \"first\"?",
        ),
        (
            &["r.csv", "--criteria", "hamming,xyz"],
            2,
            "no criterion of these results is called \"xyz\"\n  help: there are: hamming, accuracy",
        ),
        (&["r.csv", "--exact-up-to", "5000"], 2, "exact-up-to is 5000, but must be at most 1000"),
        (&["r.csv", "-o", "r.csv"], 2, "r.csv: is also a file to be read"),
        (&["r.csv", "-o", "taken"], 2, "taken: is a directory with other files in it"),
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
    for name in ["mean-ranks", "radar", "cd-hamming"] {
        let has = |ending: &str| place.path(&format!("all/figures/{name}.{ending}")).is_file();
        // A radar needs three criteria.
        assert_eq!((has("svg"), has("pdf")), (name != "radar", name != "radar"), "{name}");
    }
    let pdf = fs::read(place.path("all/figures/mean-ranks.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.4\n") && pdf.ends_with(b"%%EOF\n"));
    for name in ["mean-losses", "ranks", "losses-by-hamming", "statistics-hamming", "pairs-hamming"]
    {
        let text = fs::read_to_string(place.path(&format!("all/tables/{name}.tex"))).unwrap();
        assert!(text.contains("\\begin{tabular}") && !text.contains("\\documentclass"), "{name}");
    }
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

/// What is said comes before what it rests on: the verdict, the heat map, the losses, then the tests.
#[test]
fn a_report_goes_from_the_verdict_over_losses_to_statistics() {
    let place = place();
    place.ok(&["compare", "r.csv", "--higher-is-better", "accuracy", "-o", "all"]);
    for (name, parts) in [
        (
            "all/report.html",
            [
                "class=\"verdict\"",
                "mean-ranks-title",
                "id=\"losses\"",
                "id=\"tests\"",
                "cd-hamming",
            ],
        ),
        (
            "all/report.md",
            ["**On 5 data sets", "mean-ranks.svg", "## Losses", "## Tests", "cd-hamming.svg"],
        ),
    ] {
        let page = fs::read_to_string(place.path(name)).unwrap();
        let at = parts.map(|part| page.find(part).unwrap_or_else(|| panic!("{name}: {part}")));
        assert!(at.is_sorted(), "{name}: {at:?}");
    }
    let page = place.ok(&["compare", "r.csv"]);
    assert!(page.starts_with("On 5 data sets, "), "{page}");
    assert!(page.find("\n  mean loss ") < page.find("\n  mean rank "), "{page}");
}

#[test]
fn a_control_is_found_by_its_name_in_any_case_and_compared_with_each_other() {
    let place = place();
    let all = place.json(&["compare", "r.csv", "--json"]);
    let compared = place.json(&["compare", "r.csv", "--control", "SECOND", "--json"]);
    assert_eq!(compared["control"], "second");
    let pairs = compared["criteria"][1]["wilcoxon"].as_array().unwrap();
    let others: Vec<&str> = pairs.iter().map(|pair| pair["b"].as_str().unwrap()).collect();
    assert_eq!(others, ["first", "third"]);
    assert!(pairs.iter().all(|pair| pair["a"] == "second"));
    // Two comparisons instead of three pairs: the smaller p is doubled, and not tripled.
    let p = |pair: &serde_json::Value, name: &str| pair[name].as_f64().unwrap();
    let [first, third] = &pairs[..] else { panic!("{pairs:?}") };
    let smaller = if p(first, "p") < p(third, "p") { first } else { third };
    assert_eq!(p(smaller, "p_holm"), (2.0 * p(smaller, "p")).min(1.0));
    // The p itself does not depend on who else is compared; the pair is seen from the other side.
    let same = &all["criteria"][1]["wilcoxon"][0];
    assert_eq!((p(same, "p"), same["wins"].clone()), (p(first, "p"), first["losses"].clone()));
    let hamming = &compared["criteria"][0];
    assert_eq!((&hamming["nemenyi_cd"], &hamming["nemenyi_groups"]), (&all["none"], &all["none"]));
    // Dunn: z at 1 - 0.05 / 4 is 2.2414, times √(3 · 4 / (6 · 5)).
    let cd = hamming["bonferroni_dunn_cd"].as_f64().unwrap();
    assert!((cd - 2.2414 * 0.4f64.sqrt()).abs() < 1e-4, "{cd}");
    let page = place.ok(&["compare", "r.csv", "--control", "second", "-o", "all"]);
    assert!(page.contains("level of significance 0.05; control second\n"), "{page}");
    for name in ["all/report.html", "all/report.md", "all/report.tex"] {
        let report = fs::read_to_string(place.path(name)).unwrap();
        assert!(report.contains("adjusted by Holm over the 2 comparisons"), "{name}");
    }
}

#[test]
fn seven_sets_and_six_methods_are_warned_about() {
    let mut text = String::from("dataset,a,b,c,d,e,f\n");
    for set in 1..=7 {
        let losses: Vec<String> = (1..=6).map(|m| format!("0.{set}{m}{}", set * m)).collect();
        text += &format!("s{set},{}\n", losses.join(","));
    }
    let place = Place::new().with("loss.csv", text);
    let page = place.ok(&["compare", "loss.csv", "-o", "all"]);
    let warning = "warning: Wilcoxon's test can tell no two methods apart";
    assert!(page.contains(warning) && page.contains("no p-value can be less than .234"), "{page}");
    for name in ["all/report.html", "all/report.md", "all/report.tex"] {
        let report = fs::read_to_string(place.path(name)).unwrap();
        assert!(report.contains("no p-value can be less than .234"), "{name}");
    }
    let compared = place.json(&["compare", "loss.csv", "--json"]);
    assert_eq!(compared["criteria"][0]["least_p_holm"], 15.0 / 64.0);
    assert_eq!(compared["cautions"].as_array().unwrap().len(), 1);
    // At the paper's level, five comparisons are enough: 5 / 64 = .078.
    let page = place.ok(&["compare", "loss.csv", "--control", "a", "--alpha", "0.1"]);
    assert!(!page.contains("warning"), "{page}");
}

/// Demšar's order: mean ranks are compared where Friedman's test finds that they differ.
#[test]
fn where_friedman_finds_nothing_no_critical_difference_is_shown() {
    let text = "dataset,a,b,c\ns,0.1,0.2,0.3\nt,0.3,0.1,0.2\nu,0.2,0.3,0.1\n";
    let place = Place::new().with("loss.csv", text);
    let page = place.ok(&["compare", "loss.csv", "-o", "all"]);
    assert!(page.contains("no difference found\n") && page.contains("no CD"), "{page}");
    assert!(!page.contains("CD 1."), "{page}");
    let figure = fs::read_to_string(place.path("all/figures/cd-loss.svg")).unwrap();
    assert!(figure.contains(">no CD: Friedman finds no difference<"), "{figure}");
    assert!(!figure.contains(">CD ") && !figure.contains(">Nemenyi<"), "{figure}");
}

#[test]
fn several_files_are_one_table() {
    let (first, second): (Vec<&str>, Vec<&str>) =
        RESULTS.lines().skip(1).partition(|line| !line.contains("third"));
    let head = RESULTS.lines().next().unwrap();
    // The second file spells a data set and a criterion in other capitals, and repeats a loss.
    let second = format!("{head}\n{}\na,first,hamming,0.1\n", second.join("\n"));
    let second = second.replace("\nb,", "\nB,").replace("hamming", "Hamming");
    let place = place()
        .with("one.csv", format!("{head}\n{}\n", first.join("\n")))
        .with("two.csv", &second)
        .with("three.csv", format!("{head}\nA,FIRST,hamming,0.11\n"))
        .with("folds.csv", "dataset,method,criterion,fold,loss\na,fourth,hamming,0,0.1\n");
    let joined = place.json(&["compare", "one.csv", "two.csv", "--json"]);
    assert_eq!(joined["criteria"], place.json(&["compare", "r.csv", "--json"])["criteria"]);
    place.ok(&["compare", "one.csv", "two.csv", "-o", "page.html"]);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("<h1>one and two: 3 methods on 5 data sets</h1>"));

    let (status, out, error) = place.run(&["compare", "one.csv", "two.csv", "three.csv"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        error.starts_with(
            "error: three.csv, line 2, column 17: expected one loss of FIRST on A by hamming, found \
             0.11; in one.csv, line 2, it is 0.1\n"
        ),
        "{error}"
    );
    let (status, _, error) = place.run(&["compare", "one.csv", "folds.csv"]);
    assert_eq!(status, 2);
    assert!(error.contains("folds.csv, line 2") && error.contains("do not mix"), "{error}");
    let (status, _, error) = place.run(&["compare", "folds.csv", "one.csv"]);
    assert_eq!(status, 2);
    assert!(error.contains("one.csv, line 2") && error.contains("do not mix"), "{error}");
    let (status, _, error) = place.run(&["compare", "one.csv", "two.csv", "-o", "two.csv"]);
    assert_eq!(status, 2, "{error}");
    assert_eq!(fs::read_to_string(place.path("two.csv")).unwrap(), second);
}

#[test]
fn criteria_are_chosen_in_any_spelling_and_in_the_order_given() {
    let text = RESULTS.replace("accuracy", "macro_f1");
    let place = Place::new().with("r.csv", text);
    let keys = |names: &str| -> Vec<String> {
        let compared = place.json(&["compare", "r.csv", "--criteria", names, "--json"]);
        let criteria = compared["criteria"].as_array().unwrap().iter();
        criteria.map(|of| of["criterion"].as_str().unwrap().into()).collect()
    };
    assert_eq!(keys("Macro-F1,HAMMING"), ["macro_f1", "hamming"]);
    assert_eq!(keys("hamming"), ["hamming"]);
    place.ok(&["compare", "r.csv", "--criteria", "macro-f1", "-o", "all"]);
    let results = fs::read_to_string(place.path("all/results.csv")).unwrap();
    assert!(results.contains("macro_f1") && !results.contains("hamming"));
}

/// Names of methods with an aim, such as `certain-forest@macro-f1`.
#[test]
fn names_with_an_aim_stay_distinct_everywhere() {
    let (first, second) = ("certain-forest@macro-f1", "certain-forest@micro-f1");
    let text = RESULTS.replace("first", first).replace("second", second);
    let place = Place::new().with("r.csv", text.replace("third", "ecc-nb@precision=0.9"));
    let page = place.ok(&["compare", "r.csv", "-o", "all"]);
    assert!(page.contains(&format!("  (1) {first}\n  (2) {second}\n")), "{page}");
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert!(read("all/tables/mean-losses.tex").contains(&format!("&{first}&{second}&")));
    assert!(read("all/statistics.csv").contains(&format!("hamming,,{first},{second},wilcoxon_p,")));
    let figure = read("all/figures/cd-hamming.svg");
    let shown =
        |end: &str| figure.contains(&format!("{end}  ")) || figure.contains(&format!("{end}<"));
    assert!(shown("acro-f1") && shown("icro-f1"), "{figure}");
    let again =
        place.json(&["compare", "all/results.csv", "--control", "ecc-nb@PRECISION=0.9", "--json"]);
    assert_eq!(again["control"], "ecc-nb@precision=0.9");
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
    place.ok(&["compare", "r.csv", "-o", "all"]);
    // A document of somebody else's, with every table and figure in it.
    let mut document = String::from(
        "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs,graphicx}\\begin{document}\n",
    );
    for (directory, ending, command) in
        [("tables", "tex", "\\input"), ("figures", "pdf", "\\includegraphics")]
    {
        for entry in fs::read_dir(place.path(&format!("all/{directory}"))).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(ending) {
                document += &format!("{command}{{all/{directory}/{name}}}\n\n");
            }
        }
    }
    fs::write(place.path("other.tex"), document + "\\end{document}\n").unwrap();
    for name in ["page", "other"] {
        let run = Command::new("pdflatex")
            .args(["-interaction=nonstopmode", "-halt-on-error", &format!("{name}.tex")])
            .current_dir(place.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && place.path(&format!("{name}.pdf")).is_file(), "{log}");
    }
}

/// Aims and losses of one name are spelt alike: `@example-f1` is measured by `--criteria example-f1`.
#[test]
fn a_criterion_is_found_as_its_aim_is_spelt() {
    let mut text = String::from("dataset,method,criterion,loss\n");
    for set in ["p", "q", "r"] {
        for (method, loss) in [("ecc-nb", 0.1), ("br-nb", 0.2)] {
            text += &format!("{set},{method},ex_f1,{loss}\n{set},{method},zero_one,{loss}\n");
        }
    }
    let place = Place::new().with("r.csv", text);
    let keys = |names: &str| {
        let compared = place.json(&["compare", "r.csv", "--criteria", names, "--json"]);
        let criteria = compared["criteria"].as_array().unwrap().clone();
        criteria.iter().map(|of| of["criterion"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys("example-f1"), ["ex_f1"]);
    assert_eq!(keys("zero-one,Example F1"), ["zero_one", "ex_f1"]);
    let (status, _, error) = place.run(&["compare", "r.csv", "--criteria", "macro-f1"]);
    assert!(status != 0 && error.contains("no criterion of these results is called"), "{error}");
}
