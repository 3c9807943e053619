//! With WEKA's metric and WEKA's ties, one label's nearest neighbours agree with WEKA's IBk.
//! `testdata/weka/Labels.java` wrote the numbers.
//!
//! The small set with nominal inputs and missing cells is always compared, emotions and yeast wherever
//! their files are at hand: in the directory that `LABELCHAIN_DATA` names, else in `../shared/data`
//! beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::base::{NearestNeighbours, Ties};
use labelchain::chain::{BaseModel as _, Block, ChainLearner as _, Evidence as _, Scoring as _};
use labelchain::data::{Dataset, LabelId, ReadOptions, read};
use labelchain::distance::{Metric, Neighbourhood};
use labelchain::prepare::Prepared;
use labelchain::seed::Seed;

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/weka").join(file)
}

/// Label, row and WEKA's P(relevant), by set.
fn estimates() -> BTreeMap<String, Vec<(String, usize, f64)>> {
    let mut sets: BTreeMap<String, Vec<(String, usize, f64)>> = BTreeMap::new();
    let text = fs::read_to_string(golden("neighbours.csv")).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let estimate = (cells[1].into(), cells[2].parse().unwrap(), cells[3].parse().unwrap());
        sets.entry(cells[0].into()).or_default().push(estimate);
    }
    sets
}

fn open(path: &Path) -> Dataset {
    read(path, &ReadOptions::default()).unwrap().into_rows().unwrap()
}

/// Fits on the first two thirds of the rows, inputs as they are; on how many estimates ours with
/// these settings decides otherwise than WEKA, and on how many it only differs by more than 1e-12.
fn differences(set: &str, data: &Dataset, metric: Metric, ties: Ties) -> [usize; 2] {
    let fitting: Vec<usize> = (0..data.n_rows() * 2 / 3).collect();
    let learner = NearestNeighbours { metric, ties, ..NearestNeighbours::default() };
    let train = Prepared::as_is(data);
    let model = learner.fit(&train, &fitting, Seed::new(1)).unwrap();
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let near = Neighbourhood::of(train.data()).unwrap();
    let rankings = near.rankings(data, model.needs()).unwrap();
    let features = data.features();
    let block = Block { rankings: rankings.as_ref(), ..Block::of(features, &rows) };
    let scores = model.score(&block);
    let mut differences = [0; 2];
    for (label, row, theirs) in &estimates()[set] {
        let LabelId(label) = data.label(label).unwrap();
        let support = model.evidence(&scores, *row).support(LabelId(label));
        let ours = support.probability().unwrap();
        let decides_otherwise = support.is_relevant() != (*theirs > 0.5);
        let estimates_otherwise = (ours - theirs).abs() > 1e-12;
        differences[0] += usize::from(decides_otherwise);
        differences[1] += usize::from(!decides_otherwise && estimates_otherwise);
    }
    differences
}

#[test]
fn nominal_inputs_missing_cells_and_ties_are_treated_alike() {
    let mixed = open(&golden("mixed.arff"));
    assert_eq!(differences("mixed", &mixed, Metric::Weka, Ties::Weka), [0, 0]);
    // Either of the two alone decides otherwise somewhere, so both are put to the test.
    assert_ne!(differences("mixed", &mixed, Metric::Euclidean, Ties::Weka)[0], 0);
    assert_ne!(differences("mixed", &mixed, Metric::Weka, Ties::LowerRow), [0, 0]);
}

#[test]
fn estimates_and_decisions_agree_on_emotions_and_yeast() {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    for set in ["emotions", "yeast"] {
        let path = directory.join(format!("{set}.arff.gz"));
        if !path.exists() {
            eprintln!("skipped: no {set}");
            continue;
        }
        assert_eq!(differences(set, &open(&path), Metric::Weka, Ties::Weka), [0, 0], "{set}");
    }
}
