//! The paper's protocols, and how near the settled one comes to the printed losses of a small set.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod place;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use place::Place;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn protocol(name: &str) -> String {
    in_repository(&format!("protocols/{name}.toml")).display().to_string()
}

#[test]
fn every_protocol_of_the_paper_can_be_read_without_data() {
    let protocols = [
        ("paper", "30 sets x 14 methods x 10 folds"),
        ("paper-as-written", "30 sets x 16 methods x 10 folds"),
        ("paper-ablation", "8 sets x 30 methods x 10 folds"),
    ];
    for (name, size) in protocols {
        let place = Place::new();
        let status =
            place.ok(&["study", "status", &protocol(name), "--results", "none.db", "--data", "."]);
        assert!(status.starts_with(size), "{status}");
    }
}

type Losses = BTreeMap<(String, String), f64>;

/// Mean losses of methods by criterion, on flags, as a protocol has it.
fn losses(name: &str, data: &str, methods: &str) -> Losses {
    let (place, protocol, of) = (Place::new(), protocol(name), format!("method={methods}"));
    place.ok(&[
        "study",
        "run",
        &protocol,
        "--results",
        "r.db",
        "--data",
        data,
        "--only",
        "set=flags",
        &of,
    ]);
    let table = place.ok(&["study", "export", &protocol, "--results", "r.db", "--data", data]);
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (method, criterion, loss) = (at("method"), at("criterion"), at("loss"));
    let mut means = Losses::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let name = cells[method].to_string();
        let mean = means.entry((name, cells[criterion].to_string())).or_default();
        *mean += cells[loss].parse::<f64>().unwrap() / 10.0;
    }
    means
}

/// Differences from the printed losses of the methods of a base.
fn differences(ours: &Losses, printed: &Losses, base: &str) -> Vec<f64> {
    let of_base = printed.iter().filter(|((method, _), _)| method.ends_with(base));
    let differences: Vec<f64> = of_base.map(|(key, printed)| ours[key] - printed).collect();
    assert!(!differences.is_empty());
    differences
}

fn median_size(differences: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

/// Ten folds of ten methods on 194 rows, where the paper's data are at hand.
#[test]
fn settled_readings_come_near_the_printed_losses_of_flags() {
    let default = in_repository("../shared/data");
    let data = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    if !data.join("flags.arff.gz").exists() {
        eprintln!("skipped: the data set flags is not at hand");
        return;
    }
    let data = data.display().to_string();
    let golden = fs::read_to_string(in_repository("testdata/printed/flags.csv")).unwrap();
    let rows = golden.lines().filter(|line| !line.starts_with('#')).skip(1);
    let printed: Losses = rows
        .map(|row| {
            let [method, criterion, loss] = row.split(',').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            ((method.to_string(), criterion.to_string()), loss.parse().unwrap())
        })
        .collect();
    let methods = "dynamic-nb,ga-nb,ecc-nb,oocc-nb,dynamic-knn,ga-knn,ecc-knn,oocc-knn";
    let settled = losses("paper", &data, &format!("{methods},ga-br-j48,ga-j48"));
    // Medians when this was written, seed 1: .006 for naive Bayes, .009 for neighbours, .010 for trees.
    // A draw of other rows moves them by a few thousandths.
    let mut all = Vec::new();
    for (base, bound) in [("-nb", 0.01), ("-knn", 0.015), ("-j48", 0.015)] {
        let differences = differences(&settled, &printed, base);
        let median = median_size(&differences);
        assert!(median <= bound, "{base}: {median}");
        all.extend(differences);
    }
    let n_worse = all.iter().filter(|&&difference| difference > 0.03).count();
    assert!(n_worse * 10 <= all.len(), "{n_worse} of {} cells are more than .03 worse", all.len());
    // The text taken literally is farther away.
    let literal = losses("paper-as-written", &data, "dynamic-nb,ga-nb,ecc-nb,oocc-nb");
    let [settled, literal] =
        [settled, literal].map(|ours| median_size(&differences(&ours, &printed, "-nb")));
    assert!(settled < literal, "{settled} {literal}");
}
