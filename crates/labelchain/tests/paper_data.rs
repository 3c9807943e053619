//! The figures of the paper's data sets, wherever their files are at hand: in the directory that
//! `LABELCHAIN_DATA` names, else in `../shared/data` beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::data::{Dataset, Description, LabelId, ReadOptions, Reading, read};

fn directory() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(beside, PathBuf::from);
    if !directory.is_dir() {
        eprintln!("skipped: no data sets at hand");
        return None;
    }
    Some(directory)
}

/// The two multi-target sets have numbers for labels.
fn open(path: &Path) -> Reading {
    let name = path.to_string_lossy();
    let is_target = name.contains("flare2") || name.contains("water-quality");
    let binarize = is_target.then(|| ">0".parse().unwrap());
    read(path, &ReadOptions { binarize, ..ReadOptions::default() }).unwrap()
}

#[test]
fn descriptions_agree_with_an_independent_count_to_the_printed_digits() {
    let Some(directory) = directory() else { return };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/figures/figures.csv");
    let golden = fs::read_to_string(golden).unwrap();
    let mut compared = 0;
    for row in golden.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let (file, figures) = row.split_once(',').unwrap();
        let path = directory.join(file);
        if !path.exists() {
            eprintln!("skipped: no {file}");
            continue;
        }
        let reading = open(&path);
        let d = Description::of(&reading.table, &reading.notes);
        let ours = format!(
            "{},{},{},{},{:.4},{:.4},{:.4},{}",
            d.n_rows,
            d.n_features,
            d.n_features_one_hot,
            d.n_labels,
            d.cardinality,
            d.density,
            d.mean_imbalance,
            d.label_counts.iter().filter(|&&count| count == 0).count()
        );
        assert_eq!(ours, figures, "{file}");
        compared += 1;
    }
    assert!(compared > 0);
}

/// The cells of a row that are not zero, by name, with nominal `{0,1}` read as its number.
fn cells(data: &Dataset, row: usize) -> HashMap<&str, f64> {
    data.features()
        .entries(row)
        .map(|(at, value)| (data.attributes()[at].name.as_str(), value))
        .collect()
}

fn relevant(data: &Dataset, row: usize) -> Vec<&str> {
    let mut names: Vec<&str> =
        data.labels().relevant(row).map(|LabelId(at)| data.label_names()[at].as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn mulans_and_mekas_enron_are_the_same_up_to_columns_and_types() {
    let Some(directory) = directory() else { return };
    let [mulan, meka] = ["enron.arff.gz", "meka/enron.arff.gz"].map(|file| directory.join(file));
    if !mulan.exists() || !meka.exists() {
        eprintln!("skipped: no enron");
        return;
    }
    let (mulan, meka) = (open(&mulan).into_rows().unwrap(), open(&meka).into_rows().unwrap());
    assert_ne!(mulan.label_names(), meka.label_names());
    assert_eq!(mulan.n_rows(), meka.n_rows());
    for row in 0..mulan.n_rows() {
        assert_eq!(cells(&mulan, row), cells(&meka, row), "row {row}");
        assert_eq!(relevant(&mulan, row), relevant(&meka, row), "row {row}");
    }
}
