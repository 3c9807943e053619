//! One label's Naive Bayes agrees with WEKA's. `testdata/weka/Labels.java` wrote the numbers.
//!
//! The small set with nominal inputs and missing cells is always compared, the paper's sets wherever
//! their files are at hand: in the directory that `LABELCHAIN_DATA` names, else in `../shared/data`
//! beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::data::{AttributeKind, Dataset, LabelId, LabelMatrix, ReadOptions, read};
use labelchain::learner::Block;
use labelchain::model::{
    ChainLearner as _, ChainModel as _, Evidence as _, Likelihood, NaiveBayes,
};
use labelchain::prepare::{Preparation, Prepared, Undersampling};
use labelchain::seed::Seed;

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/weka").join(file)
}

/// Rows, each with WEKA's P(relevant), by label.
type Estimates = BTreeMap<String, Vec<(usize, f64)>>;

fn estimates(file: &str) -> BTreeMap<String, Estimates> {
    let mut sets: BTreeMap<String, Estimates> = BTreeMap::new();
    let text = fs::read_to_string(golden(file)).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let row = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
        let labels = sets.entry(cells[0].into()).or_default();
        labels.entry(cells[1].into()).or_default().push(row);
    }
    sets
}

/// One of the paper's sets, if it is at hand.
fn papers(set: &str) -> Option<Dataset> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(beside, PathBuf::from);
    let path = directory.join(format!("{set}.arff.gz"));
    if !path.exists() {
        eprintln!("skipped: no {set}");
    }
    path.exists().then(|| open(&path))
}

/// Only water-quality has numbers for labels.
fn open(path: &Path) -> Dataset {
    let binarize = path.ends_with("water-quality.arff.gz").then(|| ">0".parse().unwrap());
    read(path, &ReadOptions { binarize, ..ReadOptions::default() }).unwrap().into_rows().unwrap()
}

/// The same inputs with one label.
fn only(data: &Dataset, label: &str) -> Dataset {
    let id = data.label(label).unwrap();
    let mut labels = LabelMatrix::empty(data.n_rows(), 1);
    (0..data.n_rows()).for_each(|row| labels.set(row, LabelId(0), data.labels().get(row, id)));
    let (attributes, features) = (data.attributes().to_vec(), data.features().clone());
    Dataset::new(data.name(), attributes, features, vec![label.into()], labels).unwrap()
}

/// Above these, by column, a value lies more than five deviations above the mean of one of the
/// classes in the training rows.
fn far_above(train: &Dataset) -> Vec<f64> {
    let limit = |column: usize| {
        let cell = |row: usize| train.features().get(row, column);
        let mut all: Vec<f64> =
            (0..train.n_rows()).map(cell).filter(|cell| !cell.is_nan()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let precision = match all.len() {
            0 | 1 => 0.01,
            n => (all[n - 1] - all[0]) / (n - 1) as f64,
        };
        let limit_of = |class: bool| {
            let is_of = |&row: &usize| train.labels().get(row, LabelId(0)) == class;
            let cells: Vec<f64> =
                (0..train.n_rows()).filter(is_of).map(cell).filter(|cell| !cell.is_nan()).collect();
            let n = (cells.len() as f64).max(1.0);
            let mean = cells.iter().sum::<f64>() / n;
            let variance = cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n;
            mean + 5.0 * variance.sqrt().max(precision / 6.0)
        };
        limit_of(false).min(limit_of(true))
    };
    let is_numeric = |column: usize| train.attributes()[column].kind == AttributeKind::Numeric;
    (0..train.n_features()).map(|m| if is_numeric(m) { limit(m) } else { f64::INFINITY }).collect()
}

/// What a comparison counted: rows, each once for each label.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    /// Those without a value far above a class mean: all of them agree.
    plain: usize,
    /// The others.
    far: usize,
    /// Of the others, where the estimate differs by more than 1e-6.
    estimates: usize,
    /// Of the others, where the decision differs.
    decisions: usize,
}

/// The rows that train: the first two thirds.
fn fitting(data: &Dataset) -> Vec<usize> {
    (0..data.n_rows() * 2 / 3).collect()
}

/// Our log-odds of the only label, for the rows asked.
fn supports(one: &Dataset, likelihood: Likelihood, asked: &[(usize, f64)]) -> Vec<f64> {
    let undersampling = Undersampling::new(None).unwrap();
    let preparation = Preparation { selection: None, undersampling };
    let learner = NaiveBayes { preparation, likelihood };
    let model = learner.fit(&Prepared::as_is(one), &fitting(one), Seed::new(1)).unwrap();
    let rows: Vec<usize> = asked.iter().map(|(row, _)| *row).collect();
    let block = Block { features: one.features(), rows: &rows, near: None, nearest: None };
    let scores = model.score(&block);
    (0..rows.len()).map(|at| model.evidence(&scores, at).support(LabelId(0))).collect()
}

fn probability(support: f64) -> f64 {
    1.0 / (1.0 + (-support).exp())
}

fn compare(data: &Dataset, labels: &Estimates) -> Counts {
    let mut counts = Counts::default();
    for (label, theirs) in labels {
        let one = only(data, label);
        let limits = far_above(&one.select(&fitting(data)));
        let supports = supports(&one, Likelihood::Weka, theirs);
        for (support, &(row, theirs)) in supports.into_iter().zip(theirs) {
            let ours = probability(support);
            let estimates_otherwise = (ours - theirs).abs() > 1e-6;
            let decides_otherwise = (support > 0.0) != (theirs > 0.5);
            let is_far = |column: usize| one.features().get(row, column) > limits[column];
            if (0..one.n_features()).any(is_far) {
                counts.far += 1;
                counts.estimates += usize::from(estimates_otherwise);
                counts.decisions += usize::from(decides_otherwise);
            } else {
                let agrees = !estimates_otherwise && !decides_otherwise;
                assert!(agrees, "{}, {label}, row {row}: {ours}, not {theirs}", data.name());
                counts.plain += 1;
            }
        }
    }
    counts
}

/// Far are the rows of the label that is never relevant: its means are 0 and its deviations tiny.
#[test]
fn nominal_inputs_and_missing_cells_are_treated_alike() {
    let counts = compare(&open(&golden("mixed.arff")), &estimates("bayes.csv")["mixed"]);
    assert_eq!(counts, Counts { plain: 200, far: 50, estimates: 0, decisions: 0 });
}

/// Rows without a value far above a class mean, the others, and of these how many are estimated and
/// decided otherwise, as measured.
///
/// WEKA takes the mass of an interval above the mean as a difference of two numbers close to 1; from
/// about eight deviations above, that is 0, and WEKA's factor is its floor. It also divides the mass
/// by the precision before the floor applies. With both put in place of ours, all rows agree.
const MEASURED: [(&str, [usize; 4]); 5] = [
    ("emotions", [550, 44, 0, 0]),
    ("flags", [373, 82, 15, 5]),
    ("image", [363, 237, 19, 12]),
    ("water-quality", [544, 56, 1, 1]),
    ("yeast", [560, 40, 0, 0]),
];

#[test]
fn estimates_and_decisions_agree_on_the_papers_sets() {
    let theirs = estimates("bayes.csv");
    for (set, [plain, far, estimates, decisions]) in MEASURED {
        let Some(data) = papers(set) else { continue };
        let counts = compare(&data, &theirs[set]);
        assert_eq!((counts.plain, counts.far), (plain, far), "{set}");
        assert!(
            counts.estimates <= estimates && counts.decisions <= decisions,
            "{set}: {counts:?}"
        );
    }
}

/// Every row of every label; no value is too far for a bin.
fn compare_discretized(data: &Dataset, labels: &Estimates) {
    for (label, theirs) in labels {
        let supports = supports(&only(data, label), Likelihood::Discretized, theirs);
        for (support, &(row, theirs)) in supports.into_iter().zip(theirs) {
            let ours = probability(support);
            let agrees = (ours - theirs).abs() < 1e-9 && (support > 0.0) == (theirs > 0.5);
            assert!(agrees, "{}, {label}, row {row}: {ours}, not {theirs}", data.name());
        }
    }
}

#[test]
fn discretized_inputs_are_cut_and_counted_alike() {
    compare_discretized(&open(&golden("mixed.arff")), &estimates("discretized.csv")["mixed"]);
}

#[test]
fn discretized_estimates_and_decisions_agree_on_the_papers_sets() {
    for (set, theirs) in estimates("discretized.csv").iter().filter(|(set, _)| *set != "mixed") {
        if let Some(data) = papers(set) {
            compare_discretized(&data, theirs);
        }
    }
}
