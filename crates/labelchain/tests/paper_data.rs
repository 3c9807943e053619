//! The figures of the paper's data sets, wherever their files are at hand: in the directory that
//! `LABELCHAIN_DATA` names, else in `../shared/data` beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::catalog::{Figures, PaperSet};
use labelchain::data::{Dataset, Description, LabelId, ReadOptions, Reading, read};
use labelchain::prepare::Recipe;

fn directory() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
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

/// N, d and L of every set that can be had, in the form the paper used; its label figures too,
/// where no row was drawn by chance.
#[test]
fn sets_come_in_the_papers_form() {
    let Some(directory) = directory() else { return };
    let mut n_here = 0;
    for set in &PaperSet::ALL {
        let Some(data) = set.open(&directory, &ReadOptions::default()).unwrap() else {
            eprintln!("skipped: no {}", set.name);
            continue;
        };
        n_here += 1;
        let (ours, paper) = (Figures::of(data).printed(), set.figures.printed());
        let differing: Vec<&str> = ours
            .iter()
            .zip(&paper)
            .filter(|(ours, paper)| ours.1 != paper.1)
            .map(|(ours, _)| ours.0)
            .collect();
        // docs/data.md says why each of these differs.
        let expected: &[&str] = match set.name {
            "Flare2" => &["d"],
            "Genbase" | "SimpleHC" => &["avIR"],
            "IMDB" | "SimpleHS" => &["LC", "avIR"],
            "Tmc2007-500" => &["LC", "LD", "avIR"],
            _ => &[],
        };
        assert_eq!(differing, expected, "{}", set.name);
    }
    assert!(n_here >= 2, "the synthetic sets are always here");
}

#[test]
fn whole_sources_reduce_to_the_reduced_sets() {
    let Some(directory) = directory() else { return };
    for (name, top_labels, min_document_frequency) in
        [("stackex_chess", Some(15), None), ("arts1", None, Some(100))]
    {
        let [whole, reduced] =
            ["-full", ""].map(|what| directory.join(format!("{name}{what}.arff.gz")));
        if !whole.exists() || !reduced.exists() {
            eprintln!("skipped: no {name}");
            continue;
        }
        let recipe = Recipe { top_labels, min_document_frequency, ..Recipe::NOTHING };
        let made = recipe.apply(open(&whole).table).unwrap().into_rows().unwrap();
        let reduced = open(&reduced).into_rows().unwrap();
        assert_eq!(made.attributes(), reduced.attributes());
        assert_eq!(made.features(), reduced.features());
        assert_eq!(made.label_names(), reduced.label_names());
        assert_eq!(made.labels(), reduced.labels());
    }
}
