//! J48 grows the trees that WEKA's grows, and decides as they do. `testdata/weka/Trees.java` wrote them.
//!
//! The small made sets are always compared, the paper's wherever their files are at hand: in the
//! directory that `LABELCHAIN_DATA` names, else in `../shared/data` beside the checkout.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::base::j48::{Split, Test};
use labelchain::base::{J48, J48Model};
use labelchain::chain::{BinaryLearner as _, BinaryModel as _, Block, Score};
use labelchain::data::{Dataset, Dense, Matrix, ReadOptions, read};

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/weka").join(file)
}

/// One label of a set: what WEKA's tree is, and what it decides.
struct Theirs {
    set: String,
    options: String,
    label: String,
    n_leaves: usize,
    n_nodes: usize,
    tree: String,
    decisions: String,
}

fn theirs() -> Vec<Theirs> {
    let text = fs::read_to_string(golden("trees.csv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let parse = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Theirs {
            set: cells[0].into(),
            options: cells[1].into(),
            label: cells[2].into(),
            n_leaves: cells[3].parse().unwrap(),
            n_nodes: cells[4].parse().unwrap(),
            tree: cells[5].into(),
            decisions: cells[6].into(),
        }
    };
    lines.map(parse).collect()
}

fn settings(options: &str) -> J48 {
    match options {
        "" => J48::default(),
        "-U" => J48 { pruned: false, ..J48::default() },
        "-B" => J48 { binary_splits: true, ..J48::default() },
        "-C 0.1 -M 5" => J48 { confidence: 0.1, min_leaf: 5, ..J48::default() },
        _ => unreachable!("the golden file has no others"),
    }
}

/// The set that a line names, with the cells taken out that the line says are.
fn open(set: &str, directory: &Path) -> Option<Dataset> {
    let (name, holes) = set.strip_suffix(":holes").map_or((set, false), |name| (name, true));
    let made = golden(&format!("{name}.arff"));
    let path = if made.exists() { made } else { directory.join(format!("{name}.arff.gz")) };
    if !path.exists() {
        return None;
    }
    let data = read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    if !holes {
        return Some(data);
    }
    let mut cells = Dense::new(data.n_features());
    for row in 0..data.n_rows() {
        let cell = |column| match (31 * row + 17 * column) % 7 {
            0 => f64::NAN,
            _ => data.features().get(row, column),
        };
        cells.push_row(&(0..data.n_features()).map(cell).collect::<Vec<f64>>());
    }
    let (attributes, names) = (data.attributes().to_vec(), data.label_names().to_vec());
    let labels = data.labels().clone();
    Some(Dataset::new(set, attributes, Matrix::Dense(cells), names, labels).unwrap())
}

/// As `Trees.java` writes it.
fn described(model: &J48Model) -> String {
    enum Part<'a> {
        Node(usize),
        Text(&'a str),
    }
    let mut text = String::new();
    let mut open = vec![Part::Node(0)];
    while let Some(part) = open.pop() {
        let node = match part {
            Part::Text(part) => {
                text.push_str(part);
                continue;
            }
            Part::Node(at) => &model.nodes()[at],
        };
        let Some(Split { column, test, children }) = &node.split else {
            let [no, yes] = node.counts.map(|weight| (weight * 1000.0 + 0.51).floor());
            write!(text, "[{no} {yes}]").unwrap();
            continue;
        };
        match test {
            Test::AtMost(threshold) => write!(text, "({column} <={:016x}", threshold.to_bits()),
            Test::Which(_) => write!(text, "({column} ="),
            Test::Is(value) => write!(text, "({column} ={value}"),
        }
        .unwrap();
        open.push(Part::Text(")"));
        for &child in children.iter().rev() {
            open.extend([Part::Node(child), Part::Text(" ")]);
        }
    }
    if text.len() <= 400 {
        return text;
    }
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    format!("{}#{hash:016x}", text.len())
}

/// Rows decided otherwise than the hexadecimal digits say.
fn n_otherwise(decisions: &str, supports: &[Score]) -> usize {
    let digit = |at: usize| decisions.as_bytes()[at / 4] as char;
    let theirs = |at: usize| digit(at).to_digit(16).unwrap() >> (3 - at % 4) & 1 == 1;
    supports
        .iter()
        .enumerate()
        .filter(|&(at, &support)| theirs(at) != support.is_relevant())
        .count()
}

/// What a comparison counted.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    trees: usize,
    different_trees: Vec<String>,
    rows: usize,
    different_rows: usize,
}

fn compare(is_chosen: impl Fn(&str) -> bool) -> Counts {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    let theirs = theirs();
    let mut counts = Counts::default();
    for of_set in theirs.chunk_by(|a, b| a.set == b.set).filter(|chunk| is_chosen(&chunk[0].set)) {
        let Some(data) = open(&of_set[0].set, &directory) else {
            eprintln!("skipped: no {}", of_set[0].set);
            continue;
        };
        for theirs in of_set {
            let one = data.with_labels(&[data.label(&theirs.label).unwrap()]);
            let n_fitted = one.n_rows() * 2 / 3;
            let fitting: Vec<usize> = (0..n_fitted).collect();
            let model = settings(&theirs.options).fit_binary(&one.select(&fitting)).unwrap();
            assert!(model.is_sound(one.n_features()));
            counts.trees += 1;
            let shape = (model.n_leaves(), model.nodes().len());
            let tree = described(&model);
            if shape != (theirs.n_leaves, theirs.n_nodes) || tree != theirs.tree {
                counts.different_trees.push(format!(
                    "{} {} {}: {shape:?} {tree}, not {:?} {}",
                    theirs.set,
                    theirs.options,
                    theirs.label,
                    (theirs.n_leaves, theirs.n_nodes),
                    theirs.tree
                ));
            }
            let rows: Vec<usize> = (n_fitted..one.n_rows()).collect();
            let block = Block::of(one.features(), &rows);
            let supports = model.supports(&block);
            counts.rows += rows.len();
            counts.different_rows += n_otherwise(&theirs.decisions, &supports);
        }
    }
    counts
}

#[test]
fn trees_on_made_data_are_equal() {
    let is_made = |set: &str| golden(&format!("{set}.arff")).exists();
    let counts = compare(is_made);
    assert_eq!(counts.different_trees, [""; 0]);
    assert_eq!((counts.trees, counts.rows, counts.different_rows), (29, 1450, 0));
}

#[test]
fn trees_on_the_papers_sets_are_equal() {
    let is_made = |set: &str| golden(&format!("{set}.arff")).exists();
    let counts = compare(|set| !is_made(set));
    assert_eq!(counts.different_trees, [""; 0]);
    assert_eq!(counts.different_rows, 0);
}
