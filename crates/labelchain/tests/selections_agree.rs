//! Preparation agrees with WEKA: the same features for every label, the same standardized cells,
//! the same number of rows left by undersampling. `testdata/weka/Select.java` wrote the numbers.
//!
//! The small set with nominal inputs and missing cells is always compared, the paper's sets wherever
//! their files are at hand: in the directory that `LABELCHAIN_DATA` names, else in `../shared/data`
//! beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use labelchain::data::{Dataset, LabelId, ReadOptions, read};
use labelchain::prepare::{Cfs, Columns, Standardizer, Undersampling};
use labelchain::seed::Seed;

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/weka").join(file)
}

fn lines(file: &str) -> Vec<String> {
    let text = fs::read_to_string(golden(file)).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect()
}

/// The two multi-target sets have numbers for labels.
fn open(path: &Path) -> Dataset {
    let name = path.to_string_lossy();
    let is_target = name.contains("flare2") || name.contains("water-quality");
    let binarize = is_target.then(|| ">0".parse().unwrap());
    read(path, &ReadOptions { binarize, ..ReadOptions::default() }).unwrap().into_rows().unwrap()
}

fn label(data: &Dataset, name: &str) -> LabelId {
    LabelId(data.label_names().iter().position(|other| other == name).unwrap())
}

/// Labels, each with the features WEKA selects for it.
type Selections = Vec<(String, Vec<usize>)>;

/// Those of every set.
fn selections() -> Vec<(String, Selections)> {
    let mut sets: Vec<(String, Selections)> = Vec::new();
    for line in lines("selections.csv").iter().skip(1) {
        let (set, line) = line.split_once(',').unwrap();
        let (label, features) = line.rsplit_once(',').unwrap();
        let features = features.split(' ').map(|at| at.parse().unwrap()).collect();
        if sets.last().is_none_or(|(last, _)| last != set) {
            sets.push((set.into(), Vec::new()));
        }
        sets.last_mut().unwrap().1.push((label.trim_matches('"').into(), features));
    }
    sets
}

/// How many labels there are, and the places that differ.
fn compare(data: &Dataset, labels: &[(String, Vec<usize>)]) -> (usize, Vec<String>) {
    let columns = Columns::new(&Arc::new(data.clone()));
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let mut differing = Vec::new();
    for (name, theirs) in labels {
        let id = label(data, name);
        let relevant = |row| data.labels().get(row, id);
        let cfs = Cfs { max_features: usize::MAX };
        let ours = cfs.select(&columns, &rows, relevant, Seed::new(1));
        if ours != *theirs {
            differing.push(format!("{}, {name}: {ours:?}, not {theirs:?}", data.name()));
        }
    }
    (labels.len(), differing)
}

#[test]
fn nominal_inputs_and_missing_cells_are_treated_alike() {
    let sets = selections();
    let (_, labels) = sets.iter().find(|(set, _)| set == "mixed").unwrap();
    assert_eq!(compare(&open(&golden("mixed.arff")), labels), (5, Vec::new()));
}

/// Every label of every set: there is no difference to explain.
#[test]
fn the_same_features_are_selected_from_the_papers_sets() {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    for (set, labels) in selections().iter().filter(|(set, _)| set != "mixed") {
        let path = directory.join(format!("{set}.arff.gz"));
        if !path.exists() {
            eprintln!("skipped: no {set}");
            continue;
        }
        let (_, differing) = compare(&open(&path), labels);
        assert!(differing.is_empty(), "{differing:#?}");
    }
}

#[test]
fn standardized_cells_are_equal() {
    let data = open(&golden("mixed.arff"));
    let ours = Standardizer::fit(&data).unwrap().apply(data).unwrap();
    let mut n_compared = 0;
    for line in lines("prepared.csv") {
        let Some(rest) = line.strip_prefix("standardize,") else { continue };
        let cells: Vec<&str> = rest.split(',').collect();
        let (row, column) = (cells[0].parse().unwrap(), cells[1].parse().unwrap());
        let (ours, theirs) = (ours.features().get(row, column), cells[2].parse::<f64>().unwrap());
        assert!((ours - theirs).abs() < 1e-12, "row {row}, column {column}: {ours}, not {theirs}");
        n_compared += 1;
    }
    assert_eq!(n_compared, lines("prepared.csv").len() - 20);
}

#[test]
fn undersampling_leaves_as_many_rows_of_each_class() {
    let data = open(&golden("mixed.arff"));
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let mut n_compared = 0;
    for line in lines("prepared.csv") {
        let Some(rest) = line.strip_prefix("spread,") else { continue };
        let cells: Vec<&str> = rest.split(',').collect();
        let id = label(&data, cells[0]);
        let relevant = |row| data.labels().get(row, id);
        let undersampling = Undersampling::new(Some(cells[1].parse().unwrap())).unwrap();
        let kept = undersampling.thin(&rows, relevant, Seed::new(1));
        let n_relevant = kept.iter().filter(|&&row| relevant(row)).count();
        let counts = [kept.len() - n_relevant, n_relevant].map(|n| n.to_string());
        assert_eq!(counts, cells[2..], "{line}");
        n_compared += 1;
    }
    assert_eq!(n_compared, 20);
}
