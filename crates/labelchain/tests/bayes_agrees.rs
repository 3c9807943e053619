//! One label's Naive Bayes agrees with WEKA's. `testdata/weka/Labels.java` wrote the numbers.
//!
//! The small set with nominal inputs and missing cells is always compared, the paper's sets wherever
//! their files are at hand: in the directory that `LABELCHAIN_DATA` names, else in `../shared/data`
//! beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::base::{Likelihood, NaiveBayes};
use labelchain::chain::{Block, ChainLearner as _, Evidence as _, Scoring as _};
use labelchain::data::{AttributeKind, Dataset, LabelId, ReadOptions, read};
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
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
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

/// The cells of a numeric column: its precision, and those of either class.
struct Column {
    precision: f64,
    classes: [Vec<f64>; 2],
}

impl Column {
    /// Those of every column; a nominal one has no place here.
    fn all(train: &Dataset) -> Vec<Option<Column>> {
        let column = |column: usize| {
            let cell = |row: usize| train.features().get(row, column);
            let mut all: Vec<f64> =
                (0..train.n_rows()).map(cell).filter(|cell| !cell.is_nan()).collect();
            all.sort_by(f64::total_cmp);
            all.dedup();
            let precision = match all.len() {
                0 | 1 => 0.01,
                n => (all[n - 1] - all[0]) / (n - 1) as f64,
            };
            let classes = [false, true].map(|class| {
                let is_of = |&row: &usize| train.labels().get(row, LabelId(0)) == class;
                let cells = (0..train.n_rows()).filter(is_of).map(cell);
                cells.filter(|cell| !cell.is_nan()).collect()
            });
            Column { precision, classes }
        };
        let is_numeric = |column: usize| train.attributes()[column].kind == AttributeKind::Numeric;
        (0..train.n_features()).map(|at| is_numeric(at).then(|| column(at))).collect()
    }

    /// More than five deviations above the mean of one of the classes.
    fn is_above(&self, value: f64) -> bool {
        self.classes.iter().any(|cells| {
            let n = (cells.len() as f64).max(1.0);
            let mean = cells.iter().sum::<f64>() / n;
            let variance = cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n;
            value > mean + 5.0 * variance.sqrt().max(self.precision / 6.0)
        })
    }

    /// More than five deviations of a kernel from every cell of one of the classes.
    fn is_apart(&self, value: f64) -> bool {
        self.classes.iter().any(|cells| {
            let min = cells.iter().copied().fold(f64::INFINITY, f64::min);
            let max = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let width = (max - min) / (cells.len() as f64).sqrt();
            let deviation = width.max(self.precision / 6.0);
            let rounded = |x: f64| (x / self.precision).round_ties_even() * self.precision;
            cells.iter().all(|cell| (rounded(*cell) - rounded(value)).abs() > 5.0 * deviation)
        })
    }
}

/// What a comparison counted: rows, each once for each label.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    /// Those without a far value: all of them agree.
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
    let learner = NaiveBayes { preparation, likelihood, updatable: false };
    let model = learner.fit(&Prepared::as_is(one), &fitting(one), Seed::new(1)).unwrap();
    let rows: Vec<usize> = asked.iter().map(|(row, _)| *row).collect();
    let block = Block::of(one.features(), &rows);
    let scores = model.score(&block);
    (0..rows.len()).map(|at| model.evidence(&scores, at).support(LabelId(0)).value()).collect()
}

fn probability(support: f64) -> f64 {
    1.0 / (1.0 + (-support).exp())
}

fn compare(
    data: &Dataset,
    labels: &Estimates,
    likelihood: Likelihood,
    is_far: impl Fn(&Column, f64) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    for (label, theirs) in labels {
        let one = data.with_labels(&[data.label(label).unwrap()]);
        let columns = Column::all(&one.select(&fitting(data)));
        let supports = supports(&one, likelihood, theirs);
        for (support, &(row, theirs)) in supports.into_iter().zip(theirs) {
            let ours = probability(support);
            let estimates_otherwise = (ours - theirs).abs() > 1e-6;
            let decides_otherwise = (support > 0.0) != (theirs > 0.5);
            let mut columns = columns.iter().enumerate();
            if columns.any(|(at, column)| {
                let value = one.features().get(row, at);
                column.as_ref().is_some_and(|column| !value.is_nan() && is_far(column, value))
            }) {
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
    let (data, theirs) = (open(&golden("mixed.arff")), estimates("bayes.csv"));
    let counts = compare(&data, &theirs["mixed"], Likelihood::Weka, Column::is_above);
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

fn compare_papers<const N: usize>(
    file: &str,
    likelihood: Likelihood,
    is_far: impl Fn(&Column, f64) -> bool,
    measured: [(&str, [usize; 4]); N],
) {
    let theirs = estimates(file);
    for (set, [plain, far, estimates, decisions]) in measured {
        let Some(data) = papers(set) else { continue };
        let counts = compare(&data, &theirs[set], likelihood, &is_far);
        assert_eq!((counts.plain, counts.far), (plain, far), "{set}");
        assert!(
            counts.estimates <= estimates && counts.decisions <= decisions,
            "{set}: {counts:?}"
        );
    }
}

#[test]
fn estimates_and_decisions_agree_on_the_papers_sets() {
    compare_papers("bayes.csv", Likelihood::Weka, Column::is_above, MEASURED);
}

/// Far are the rows of the label that is never relevant, whose one kernel is narrow and lies at 0,
/// and 47 others.
#[test]
fn kernels_lie_alike_beside_nominal_inputs_and_missing_cells() {
    let (data, theirs) = (open(&golden("mixed.arff")), estimates("kernel.csv"));
    let counts = compare(&data, &theirs["mixed"], Likelihood::Kernel, Column::is_apart);
    assert_eq!(counts, Counts { plain: 153, far: 97, estimates: 0, decisions: 0 });
}

/// As above. From about eight deviations below all cells of a class on, WEKA's sum of kernels is 0.
const MEASURED_KERNELS: [(&str, [usize; 4]); 6] = [
    ("emotions", [188, 12, 0, 0]),
    ("flags", [166, 29, 0, 0]),
    ("image", [171, 29, 0, 0]),
    ("scene", [143, 57, 0, 0]),
    ("water-quality", [191, 9, 0, 0]),
    ("yeast", [194, 6, 1, 0]),
];

#[test]
fn kernel_estimates_and_decisions_agree_on_the_papers_sets() {
    compare_papers("kernel.csv", Likelihood::Kernel, Column::is_apart, MEASURED_KERNELS);
}

/// Every row of every label; no value is too far for a bin.
fn compare_discretized(data: &Dataset, labels: &Estimates) {
    for (label, theirs) in labels {
        let supports = supports(
            &data.with_labels(&[data.label(label).unwrap()]),
            Likelihood::Discretized,
            theirs,
        );
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
