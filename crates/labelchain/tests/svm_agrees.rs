//! Support vector machines decide as LIBSVM's do, alone and in chains. `testdata/svm/make.py` wrote
//! the numbers, by scikit-learn.
//!
//! The small set with nominal inputs and missing cells is always compared, the paper's sets wherever
//! their files are at hand: in the directory that `LABELCHAIN_DATA` names, else in `../shared/data`
//! beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};

use labelchain::base::{Kernel, Svm, SvmChain, TrainingRows};
use labelchain::chain::{Block, FixedOrderChain, Order, OrderedModel as _};
use labelchain::data::{Dataset, LabelId, LabelMatrix, ReadOptions, read};
use labelchain::prepare::{LabelView, Prepared, Standardizer};

/// Twice the tolerance to which both solve.
const TOLERANCE: f64 = 2e-3;

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/svm").join(file)
}

/// The lines of a golden file about one set, cut into cells.
fn lines(file: &str, set: &str) -> Vec<[String; 5]> {
    let text = fs::read_to_string(golden(file)).unwrap();
    let of_set = text.lines().filter(|line| line.split(',').next() == Some(set));
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    of_set.map(|line| cells(line).try_into().unwrap()).collect()
}

/// The first two thirds of the rows, and the others; standardized, unless made here.
fn cut(set: &str) -> Option<(Dataset, Dataset)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(beside, PathBuf::from);
    let is_made = set == "made";
    let path = if is_made { golden("made.arff") } else { directory.join(format!("{set}.arff.gz")) };
    if !path.exists() {
        eprintln!("skipped: no {set}");
        return None;
    }
    let data = read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    let n_fitted = data.n_rows() * 2 / 3;
    let fitted = data.select(&(0..n_fitted).collect::<Vec<_>>());
    let rest = data.select(&(n_fitted..data.n_rows()).collect::<Vec<_>>());
    if is_made {
        return Some((fitted, rest));
    }
    let standardizer = Standardizer::fit(&fitted).unwrap();
    Some((standardizer.apply(fitted).unwrap(), standardizer.apply(rest).unwrap()))
}

fn svm(kernel: &str, cost: &str, gamma: &str) -> Svm {
    let kernel = match (kernel, gamma) {
        ("linear", _) => Kernel::Linear,
        (_, "auto") => Kernel::Rbf { gamma: None },
        (_, gamma) => Kernel::Rbf { gamma: Some(gamma.parse().unwrap()) },
    };
    Svm { kernel, cost: cost.parse().unwrap(), ..Svm::default() }
}

/// Every line about a set.
fn compare_decisions(set: &str) {
    let Some((fitted, rest)) = cut(set) else { return };
    let train = TrainingRows::new(&fitted, 1 << 30).unwrap();
    let distances = train.distances(rest.features(), &(0..rest.n_rows()).collect::<Vec<_>>());
    let rows: Vec<usize> = (0..fitted.n_rows()).collect();
    let lines = lines("decisions.csv", set);
    assert_eq!(lines.len(), 66 + 2);
    for [_, kernel, cost, gamma, said] in lines {
        let classifier = svm(&kernel, &cost, &gamma).fit(&train, &rows, LabelId(0), &[]).unwrap();
        assert!(classifier.converged());
        for (at, said) in said.split(' ').enumerate() {
            let row = at * rest.n_rows() / 8;
            let ours = classifier.decision_value(|other| distances[row * rows.len() + other]);
            let difference = (ours - said.parse::<f64>().unwrap()).abs();
            assert!(difference < TOLERANCE, "{set}, C {cost}, gamma {gamma}: {ours}, not {said}");
        }
    }
}

#[test]
fn decisions_on_nominal_inputs_and_missing_cells() {
    compare_decisions("made");
}

#[test]
fn decisions_on_the_papers_sets() {
    for set in ["emotions", "flags", "yeast"] {
        compare_decisions(set);
    }
}

/// The textbook chain, and the chain of classifiers that share distances.
fn compare_chains(set: &str) {
    let Some((fitted, rest)) = cut(set) else { return };
    let rows: Vec<usize> = (0..fitted.n_rows()).collect();
    let train = TrainingRows::new(&fitted, 1 << 30).unwrap();
    let all = LabelView { rows: rows.clone().into(), features: (0..fitted.n_features()).collect() };
    let lines = lines("chains.csv", set);
    assert_eq!(lines.len(), 4);
    for [_, order, cost, gamma, said] in lines {
        let svm = svm("rbf", &cost, &gamma);
        let order: Vec<LabelId> = order.split(' ').map(|l| LabelId(l.parse().unwrap())).collect();
        let order = Order::new(order, fitted.n_labels()).unwrap();
        let mut theirs = LabelMatrix::empty(rest.n_rows(), fitted.n_labels());
        for (row, said) in said.split(' ').enumerate() {
            for (label, bit) in said.bytes().enumerate() {
                theirs.set(row, LabelId(label), bit == b'1');
            }
        }
        assert!(theirs.counts().iter().sum::<usize>() > 0);

        let views = vec![all.clone(); fitted.n_labels()];
        let asked: Vec<usize> = (0..rest.n_rows()).collect();
        let block = Block::of(rest.features(), &asked);
        let model =
            FixedOrderChain::fit(&svm, &Prepared::as_is(&fitted), views.clone(), Some(&order));
        assert_eq!(model.unwrap().decide_block(&block), theirs, "{set} {order} {cost} {gamma}");

        let svms = vec![svm; views.len()];
        let shared = SvmChain::fit(&svms, &train, views, Some(&order)).unwrap();
        assert_eq!(shared.decide_block(&block), theirs, "{set} {order} {cost} {gamma}");
    }
}

#[test]
fn chains_on_nominal_inputs_and_missing_cells() {
    compare_chains("made");
}

#[test]
fn chains_on_the_papers_sets() {
    compare_chains("emotions");
    compare_chains("flags");
}
