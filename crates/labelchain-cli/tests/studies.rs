//! A study may be killed, restarted, cut in parts and put together: the numbers are the same, and
//! what does not belong together is refused.
#![allow(clippy::unwrap_used)]

mod place;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use place::Place;

/// Rows whose labels follow their inputs, more or less. Any other `salt` is other data.
fn rows(n_rows: u64, salt: u64) -> String {
    let mut text = String::from("x,y,z,a,b,c\n");
    // Knuth's multiplier: digits without a pattern that matters here.
    let digit = |n: u64| (n.wrapping_mul(6_364_136_223_846_793_005) >> 40) % 10;
    for row in 0..n_rows {
        let of = |at: u64| digit(row * 7 + at + salt * 1000);
        let (x, y, z) = (of(1), of(2), of(3));
        let (a, b) = (u8::from(x + of(4) / 3 > 6), u8::from(y + of(5) / 3 > 5));
        let c = u8::from(a == 1 || z > 7);
        let _ = writeln!(text, "{x},{y},{z},{a},{b},{c}");
    }
    text
}

const PROTOCOL: &str = r#"
folds = 4
sets = [
    { file = "one.csv", labels-last = 3 },
    { file = "two.csv", labels-last = 3 },
]
methods = ["dynamic-nb", "br-nb", { name = "small", method = "ecc-knn", members = 2 }]

[settings]
members = 3
neighbours = 3
"#;

fn study() -> Place {
    Place::new().with("p.toml", PROTOCOL).with("one.csv", rows(60, 1)).with("two.csv", rows(80, 2))
}

/// Every loss, without the seconds.
fn losses(place: &Place, results: &str) -> Vec<String> {
    let table = place.ok(&["study", "export", "p.toml", "--results", results]);
    table.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect()
}

/// Every loss by set, method, criterion and fold.
fn exported(place: &Place) -> BTreeMap<String, f64> {
    losses(place, "p.db")
        .iter()
        .skip(1)
        .map(|line| line.rsplit_once(',').unwrap())
        .map(|(key, loss)| (key.to_string(), loss.parse().unwrap()))
        .collect()
}

#[test]
fn a_cell_is_what_evaluate_says() {
    let place = study();
    assert_eq!(
        place.ok(&["study", "run", "p.toml"]),
        "p.db: 24 cells done\n",
        "2 sets x 3 methods x 4 folds"
    );
    let exported = exported(&place);
    assert_eq!(exported.len(), 24 * 11);
    for (set, methods, members) in [
        ("one", "dynamic-nb,br-nb", "3"),
        ("two", "br-nb,dynamic-nb", "3"),
        ("two", "ecc-knn", "2"),
    ] {
        let file = format!("{set}.csv");
        let evaluated = place.ok(&[
            "evaluate",
            &file,
            "--labels-last",
            "3",
            "-m",
            methods,
            "--folds",
            "4",
            "--members",
            members,
            "--neighbours",
            "3",
            "--json",
        ]);
        for (method, fold, criterion, loss) in by_fold(&evaluated) {
            let method = if method == "ecc-knn" { "small" } else { method };
            let key = format!("{set},{method},{criterion},{fold}");
            assert_eq!(exported[&key].to_bits(), loss.to_bits(), "{key}");
        }
    }
}

/// Method, fold, criterion and loss in the JSON of `evaluate`, with losses exact to the last bit,
/// which a JSON reader does not promise.
fn by_fold(json: &str) -> Vec<(&str, &str, &str, f64)> {
    let json = json.split_once("\"results\":").unwrap().1;
    let mut all = Vec::new();
    for result in json.split("{\"method\":\"").skip(1) {
        let (method, rest) = result.split_once('"').unwrap();
        for fold in rest.split("{\"fold\":").skip(1) {
            let (fold, losses) = fold.split_once(",\"losses\":{").unwrap();
            for entry in losses.split('}').next().unwrap().split(',') {
                let (criterion, loss) = entry.split_once(':').unwrap();
                all.push((method, fold, criterion.trim_matches('"'), loss.parse().unwrap()));
            }
        }
    }
    assert!(!all.is_empty() && all.len() % 11 == 0, "11 criteria: {}", all.len());
    all
}

#[test]
fn a_study_killed_twenty_times_ends_as_one_that_was_not() {
    let place = study();
    let start = Instant::now();
    place.ok(&["study", "run", "p.toml", "--results", "whole.db", "--jobs", "1"]);
    let whole = start.elapsed();
    let begin = || {
        Command::new(env!("CARGO_BIN_EXE_labelchain"))
            .current_dir(place.0.path())
            .args(["study", "run", "p.toml", "--results", "killed.db", "--jobs", "2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut n_killed = 0;
    for at in 0..20u32 {
        // From before the file is there to after the last cell; the machine adds the chance.
        let mut run = begin();
        sleep(whole.mul_f64(f64::from(at * 7 % 20) / 20.0 * 0.15));
        // On Unix this is kill -9.
        run.kill().unwrap();
        n_killed += u32::from(!run.wait().unwrap().success());
    }
    assert!(n_killed > 0, "every run ended before it was killed: nothing was tested");
    place.ok(&["study", "run", "p.toml", "--results", "killed.db"]);
    assert_eq!(losses(&place, "killed.db"), losses(&place, "whole.db"));
    // Reports as text and tables: figures of time show seconds, which are never the same twice.
    let report = |results: &str, ending: &str| {
        let out = format!("{results}.{ending}");
        let page = place.ok(&["study", "report", "p.toml", "--results", results, "-o", &out]);
        // What a run cost is measured, and so never the same twice either.
        let without_cost = |text: &str| -> Vec<String> {
            let is_cost = |line: &&str| line.contains("The methods cost ");
            text.lines().filter(|line| !is_cost(line)).map(String::from).collect()
        };
        let written = fs::read_to_string(place.path(&out)).unwrap();
        (without_cost(&page), without_cost(&written))
    };
    for ending in ["md", "tex", "csv"] {
        assert_eq!(report("killed.db", ending), report("whole.db", ending), "{ending}");
    }
    let leftovers: Vec<String> =
        place.files().into_iter().filter(|name| name.starts_with("killed.db-")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[test]
fn shards_merged_equal_one_run() {
    let place = study();
    place.ok(&["study", "run", "p.toml", "--results", "whole.db"]);
    for part in ["1", "2", "3"] {
        let (shard, results) = (format!("{part}/3"), format!("{part}.db"));
        place.ok(&["study", "run", "p.toml", "--shard", &shard, "--results", &results]);
    }
    let merged = place.ok(&["study", "merge", "all.db", "1.db", "2.db", "3.db"]);
    assert_eq!(merged, "all.db: 24 cells, 24 of them new\n");
    assert_eq!(losses(&place, "all.db"), losses(&place, "whole.db"));
    // Twice the same is once.
    let again = place.ok(&["study", "merge", "all.db", "whole.db"]);
    assert_eq!(again, "all.db: 24 cells, 0 of them new\n");
    assert_eq!(
        place.ok(&["study", "run", "p.toml", "-r", "all.db"]),
        "all.db: 0 cells done, 24 kept\n"
    );
}

#[test]
fn parts_that_contradict_each_other_are_not_merged() {
    let place = study();
    place.ok(&["study", "run", "p.toml", "--results", "a.db", "--only", "set=one"]);
    fs::write(place.path("one.csv"), rows(60, 9)).unwrap();
    place.ok(&["study", "run", "p.toml", "--results", "b.db", "--only", "set=one"]);
    let (status, _, error) = place.run(&["study", "merge", "all.db", "a.db", "b.db"]);
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "error: b.db: does not fit the rest: the data of set \"one\" changed since the study began\n  \
         help: merge parts of one study, computed by one version on the same data\n"
    );
    assert!(!place.path("all.db").exists(), "nothing half-merged is left");
}

#[test]
fn only_some_cells_can_be_asked_for_and_the_rest_later() {
    let place = study();
    let only = ["study", "run", "p.toml", "--only", "set=two,method=small,br-nb", "fold=0,3"];
    assert_eq!(place.ok(&only), "p.db: 4 cells done\n");
    assert_eq!(place.ok(&["study", "run", "p.toml"]), "p.db: 20 cells done, 4 kept\n");
    let (status, _, error) = place.run(&["study", "run", "p.toml", "--only", "method=smal"]);
    assert_eq!(
        (status, error.as_str()),
        (2, "error: method \"smal\" is not in the protocol. Did you mean \"small\"?\n")
    );
}

#[test]
fn data_that_changed_is_refused_and_nothing_is_lost() {
    let place = study();
    place.ok(&["study", "run", "p.toml", "--only", "set=one"]);
    let before = losses(&place, "p.db");
    fs::write(place.path("one.csv"), rows(60, 9)).unwrap();
    let (status, _, error) = place.run(&["study", "run", "p.toml"]);
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "error: p.db: the data of set \"one\" changed since the study began\n  \
         help: put the old file back, or name the new one as another set\n"
    );
    assert_eq!(losses(&place, "p.db"), before);
}

#[test]
fn a_protocol_may_grow_but_not_contradict_its_results() {
    let place = study();
    place.ok(&["study", "run", "p.toml"]);
    let grown = PROTOCOL.replace("\"br-nb\"", "\"br-nb\", \"br-knn\"");
    fs::write(place.path("p.toml"), &grown).unwrap();
    assert_eq!(place.ok(&["study", "run", "p.toml"]), "p.db: 8 cells done, 24 kept\n");
    for (old, new, problem) in [
        ("folds = 4", "folds = 5", "folds was 4 and is 5"),
        ("members = 2", "members = 7", "members of \"small\" was 2 and is 7"),
        ("ecc-knn", "br-knn", "\"small\" was ecc-knn and is br-knn"),
        (
            "\"one.csv\", labels-last = 3",
            "\"one.csv\", labels = [\"a\", \"b\", \"c\"]",
            "set \"one\" was read with labels-last = 3 and is read with labels = a,b,c",
        ),
    ] {
        fs::write(place.path("p.toml"), grown.replace(old, new)).unwrap();
        let (status, _, error) = place.run(&["study", "run", "p.toml"]);
        assert_eq!(status, 2);
        assert_eq!(
            error,
            format!(
                "error: p.db: results of another protocol: {problem}\n  help: give this study a \
                 file of its own with --results, or undo the change\n"
            )
        );
    }
}

#[test]
fn a_cell_that_fails_is_noted_and_stops_nothing() {
    let place = study().with("two.csv", "x,a,b,c\n1,1,0,x\n2,0,1,1\n");
    let (status, page, error) = place.run(&["study", "run", "p.toml"]);
    assert_eq!((status, page.as_str()), (1, "p.db: 12 cells done, 12 failed\n"));
    assert_eq!(error, "error: 12 cells failed\n  help: study status says why\n");
    let page = place.ok(&["study", "status", "p.toml"]);
    assert!(
        page.starts_with("2 sets x 3 methods x 4 folds: 12 of 24 cells done, 12 failed"),
        "{page}"
    );
    let (_, grid) = page.split_once("\n\n").unwrap();
    let why = "two.csv, line 2, column 7: expected 0 or 1 for label \"c\", found \"x\"";
    assert_eq!(
        grid.lines().collect::<Vec<_>>(),
        [
            "  set     dynamic-nb          br-nb          small",
            "  one           done           done           done",
            "  two  0/4, 4 failed  0/4, 4 failed  0/4, 4 failed",
            "",
            "Failed",
            &format!("  two, dynamic-nb, fold 0, 1, 2, 3: {why}"),
            &format!("  two, br-nb, fold 0, 1, 2, 3: {why}"),
            &format!("  two, small, fold 0, 1, 2, 3: {why}"),
        ]
    );
}

#[test]
fn a_set_without_data_is_reported_and_may_come_later() {
    let place = study();
    fs::rename(place.path("two.csv"), place.path("elsewhere")).unwrap();
    let (status, page, error) = place.run(&["study", "run", "p.toml"]);
    assert_eq!((status, page.as_str()), (0, "p.db: 12 cells done\n"));
    assert_eq!(error, "note: without data: two\n");
    let state = place.json(&["study", "status", "p.toml", "--json"]);
    assert_eq!(state["sets"]["two"]["small"]["missing"], true);
    assert_eq!(state["sets"]["one"]["small"]["done"], 4);
    let (status, _, error) = place.run(&["study", "run", "p.toml", "--only", "set=two"]);
    assert_eq!(status, 2);
    assert!(error.contains("p.db: nothing to run, for no set has its data: "), "{error}");
    let elsewhere = ["study", "run", "p.toml", "--only", "set=two", "--results", "new.db"];
    let (status, _, error) = place.run(&elsewhere);
    assert!(status == 2 && error.contains("two.csv") && error.contains("--data"), "{error}");
    assert!(!place.path("new.db").exists());
    fs::rename(place.path("elsewhere"), place.path("two.csv")).unwrap();
    assert_eq!(place.ok(&["study", "run", "p.toml"]), "p.db: 12 cells done, 12 kept\n");
}

#[test]
fn results_that_another_run_is_using_are_left_alone() {
    // Long enough to be met at work: many members on many rows.
    let slow = PROTOCOL.replace("members = 3", "members = 400");
    let place = study().with("p.toml", slow).with("one.csv", rows(2000, 1));
    let mut first = Command::new(env!("CARGO_BIN_EXE_labelchain"))
        .current_dir(place.0.path())
        .args(["study", "run", "p.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = || -> u64 {
        let state = place.json(&["study", "status", "p.toml", "--json"]);
        let of = |method: &str| state["sets"]["one"][method]["running"].as_u64().unwrap();
        of("dynamic-nb") + of("br-nb")
    };
    while running() == 0 {
        assert!(first.try_wait().unwrap().is_none(), "it ended before it was seen at work");
        sleep(Duration::from_millis(20));
    }
    let (status, _, error) = place.run(&["study", "run", "p.toml"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(status, 3);
    assert_eq!(
        error,
        "error: p.db: another run is using it\n  help: wait for it to end, or share the work: \
         --shard 1/2 and 2/2, each with --results of its own, then study merge\n"
    );
    assert_eq!(running(), 0, "the killed run is not taken for a living one");
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_says_so_and_goes_on() {
    let slow = PROTOCOL.replace("members = 3", "members = 400");
    let place = study().with("p.toml", slow).with("one.csv", rows(2000, 1));
    let run = Command::new(env!("CARGO_BIN_EXE_labelchain"))
        .current_dir(place.0.path())
        .args(["study", "run", "p.toml", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.path("p.db").exists() {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(100));
    let kill = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "interrupted\n  help: the same command goes on where it stopped\n"
    );
    place.ok(&["study", "run", "p.toml", "--only", "set=two", "method=small"]);
}

#[test]
fn what_is_not_results_is_not_touched() {
    let place = study().with("p.db", "my diary, which happens to be called so\n");
    let (status, _, error) = place.run(&["study", "run", "p.toml"]);
    assert_eq!(status, 2);
    assert_eq!(error, "error: p.db: not results of a study\n  help: study run writes them\n");
    let text = fs::read_to_string(place.path("p.db")).unwrap();
    assert_eq!(text, "my diary, which happens to be called so\n");
    let (status, _, error) = place.run(&["study", "run", "p.toml", "-r", "no/such/place.db"]);
    assert_eq!((status, error.contains("no/such/place.db: ")), (3, true), "{error}");
}

#[cfg(unix)]
#[test]
fn results_are_a_plain_file_or_refused_before_anything_is_made() {
    let place = study();
    fs::create_dir(place.path("directory.db")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere.db"), place.path("link.db")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("pipe.db")).status().unwrap().success());
    let before = place.files();
    for (name, problem) in [
        (":memory:", "SQLite would not take this for the name of a file"),
        ("file:x.db", "SQLite would not take this for the name of a file"),
        ("directory.db", "a directory, not a file of results"),
        ("link.db", "a link, not a file of results"),
        ("pipe.db", "not a file that can be kept"),
    ] {
        for arguments in [
            &["study", "run", "p.toml", "--results", name][..],
            &["study", "status", "p.toml", "--results", name],
            &["study", "merge", "new.db", name],
            &["study", "merge", name, "new.db"],
        ] {
            let (status, _, error) = place.run(arguments);
            assert_eq!(status, 2, "{arguments:?}: {error}");
            assert!(error.starts_with(&format!("error: {name}: {problem}\n  help: ")), "{error}");
        }
    }
    assert_eq!(place.files(), before);
}

#[test]
fn a_protocol_that_is_wrong_is_shown_where() {
    let place = study();
    let (status, _, error) = place
        .with("p.toml", PROTOCOL.replace("br-nb", "br-bn"))
        .run(&["study", "status", "p.toml"]);
    assert_eq!(status, 2);
    assert_eq!(
        error.lines().collect::<Vec<_>>(),
        [
            "error: p.toml, line 7, column 26: expected a method, found \"br-bn\"",
            "  7 | methods = [\"dynamic-nb\", \"br-bn\", { name = \"small\", met…",
            "    |                          ^",
            "  help: did you mean \"br-nb\"?",
        ]
    );
}

#[test]
fn the_smoke_protocol_runs_on_the_data_that_comes_with_it() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let protocol = format!("{root}/protocols/smoke.toml");
    let place = Place::new();
    let page = place.ok(&["study", "run", &protocol, "--results", "smoke.db"]);
    assert_eq!(page, "smoke.db: 72 cells done\n", "3 sets x 8 methods x 3 folds");
}

#[test]
fn a_protocol_behind_only_is_told_to_go_before_it() {
    let (status, _, error) = study().run(&["study", "run", "--only", "set=one", "p.toml"]);
    assert!(status == 2 && error.contains("PROTOCOL goes before --only"), "{error}");
}

#[test]
fn a_study_is_reported_once_it_is_whole() {
    let place = study();
    for command in ["report", "export"] {
        let (status, _, error) = place.run(&["study", command, "p.toml"]);
        assert_eq!(
            (status, error.as_str()),
            (
                2,
                "error: p.db: no results yet\n  help: study run with the same PROTOCOL computes them\n"
            )
        );
    }
    place.ok(&["study", "run", "p.toml", "--only", "method=dynamic-nb,br-nb", "fold=0,1,2,3"]);
    place.ok(&["study", "run", "p.toml", "--only", "method=small", "set=one"]);
    let (status, out, error) = place.run(&["study", "report", "p.toml", "-o", "page.html"]);
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    assert!(
        error.contains("\"small\" has no loss, or not all folds, on 1 of 2 data sets"),
        "{error}"
    );
    assert!(!place.path("page.html").exists());
    // What is whole can be reported on its own, but not some of its folds.
    let part = ["study", "report", "p.toml", "--only", "method=dynamic-nb,br-nb"];
    assert!(place.ok(&part).contains("\n2 methods on 2 data sets"));
    let (status, _, error) = place.run(&["study", "report", "p.toml", "--only", "fold=0"]);
    assert_eq!(status, 2, "{error}");

    place.ok(&["study", "run", "p.toml"]);
    // The level is the protocol's unless another is asked for; results do not depend on it.
    let protocol = fs::read_to_string(place.path("p.toml")).unwrap();
    let place = place.with("p.toml", format!("alpha = 0.1\n{protocol}"));
    let level = |more: &[&str]| -> f64 {
        let report = [&["study", "report", "p.toml", "--json"], more].concat();
        place.json(&report)["alpha"].as_f64().unwrap()
    };
    assert_eq!((level(&[]), level(&["--alpha", "0.01"])), (0.1, 0.01));
    let place = place.with("p.toml", protocol);
    let page = place.ok(&["study", "report", "p.toml", "-o", "page.html"]);
    assert!(page.contains("level of significance 0.05\n"), "{page}");
    assert!(page.contains("\n3 methods on 2 data sets, by 11 criteria"), "{page}");
    let report = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(report.contains(&format!(
        "A study by labelchain {}: 4 folds, seed 1.",
        env!("CARGO_PKG_VERSION")
    )));
    assert!(report.contains(
        "Settings other than the defaults: neighbours 3; dynamic-nb with members 3; br-nb with members 3; \
         small with members 2."
    ));
    assert!(report.contains("Losses of all folds: Hamming"));
    assert!(report.contains("Time against loss"));
    // The same as of the exported table.
    place.ok(&["study", "export", "p.toml", "-o", "r.csv"]);
    let json = |arguments: &[&str]| place.json(&[arguments, &["--json"]].concat());
    assert_eq!(json(&["study", "report", "p.toml"]), json(&["compare", "r.csv"]));
}

#[test]
fn sets_of_the_paper_are_found_in_its_table() {
    // As its source has it: names as inputs, counts as labels. The paper's form is made of it.
    let rows: String =
        (0..40).map(|row| format!("{},{}\n", ["r", "g"][row % 2], row % 3)).collect();
    let flare2 =
        format!("@relation 'f: -C -1'\n@attribute c {{r,g}}\n@attribute y numeric\n@data\n{rows}");
    let place = Place::new().with("flare2.arff", flare2).with(
        "p.toml",
        "folds = 2\nsets = [{ paper = \"flare2\" }, { paper = \"Yeast\" }, { paper = \"simplehc\" }]\n\
         methods = [\"br-nb\"]\n[settings]\nmembers = 2\nselect = \"none\"\n",
    );
    let (status, out, error) = place.run(&["study", "run", "p.toml"]);
    assert_eq!((status, out.as_str()), (0, "p.db: 4 cells done\n"), "{error}");
    assert!(error.contains("yeast"), "{error}");
    place.ok(&["convert", "flare2.arff", "f.arff", "--binarize", ">0", "--one-hot"]);
    let mut arguments = vec!["evaluate", "f.arff", "-m", "br-nb", "--folds", "2", "--members", "2"];
    arguments.extend(["--select", "none", "--json"]);
    let exported = exported(&place);
    for (method, fold, criterion, loss) in by_fold(&place.ok(&arguments)) {
        let key = format!("flare2,{method},{criterion},{fold}");
        assert_eq!(exported[&key].to_bits(), loss.to_bits(), "{key}");
    }
}

/// Texts, identifiers and dates have the roles in a study that they have on the command line.
#[test]
fn columns_of_a_set_have_roles() {
    let place = Place::new();
    place.ok(&["generate", "tickets", "--rows", "120", "-o", "t.csv"]);
    let protocol = "folds = 2\nmethods = [\"br-nb\"]\nsettings = { members = 2 }\n\
        sets = [{ file = \"t.csv\", tags = \"tags\", text = [\"message\"], id = [\"ticket\"], find = true }]\n";
    let place = place.with("p.toml", protocol);
    place.ok(&["study", "run", "p.toml"]);
    let roles = ["--tags", "tags", "--text", "message", "--id", "ticket"];
    let settings = ["-m", "br-nb", "--members", "2", "--folds", "2", "--json"];
    let evaluated = place.json(&[&["evaluate", "t.csv"][..], &roles, &settings].concat());
    let expected = evaluated["results"][0]["by_fold"][0]["losses"]["hamming"].as_f64().unwrap();
    let found = exported(&place);
    let of_fold = found.iter().find(|(key, _)| key.contains("hamming") && key.ends_with(",0"));
    assert_eq!(*of_fold.unwrap().1, expected, "{found:?}");
    let misspelt = protocol.replace("message", "mesage");
    let place = place.with("p.toml", misspelt);
    let (status, _, error) = place.run(&["study", "run", "p.toml", "--results", "other.db"]);
    assert_eq!(status, 1, "{error}");
    let told = place.run(&["study", "status", "p.toml", "--results", "other.db"]).1;
    assert!(told.contains("\"mesage\""), "{told}");
}
