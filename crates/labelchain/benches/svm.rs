//! How long do support vector machines take?
//!
//! `cargo bench --bench svm -- FILE [LABELS]` chooses C and γ for the first so many labels, by the
//! grid of the paper on folds of rows 0, 3, 6, …, 1, 4, 7, …, and 2, 5, 8, …, and fits them on all
//! rows. `-- ROWS COLUMNS` fits one classifier to so many made rows. Both print CPU seconds, the first
//! also the points chosen and the errors at every point, the second the sum of the decision values.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use labelchain::base::{Grid, Kernel, Svm, SvmChain, TrainingRows, Tuned};
use labelchain::data::split::Folds;
use labelchain::data::{
    Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix, ReadOptions, read,
};
use labelchain::loss::Confusion;
use labelchain::prepare::{LabelView, Standardizer};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let numbers: Vec<usize> =
        arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    match (&arguments[..], &numbers[..]) {
        // `cargo test --benches` passes nothing: there is then nothing to measure.
        ([], _) => {}
        (_, &[n_rows, n_columns]) => fit(n_rows, n_columns),
        ([path, ..], limit) => tune(path, limit.first().copied()),
    }
}

fn tune(path: &str, limit: Option<usize>) {
    let data = read(path.as_ref(), &ReadOptions::default()).unwrap().into_rows().unwrap();
    let data = Standardizer::fit(&data).unwrap().apply(data).unwrap();
    let n_labels = limit.unwrap_or(data.n_labels());
    let mut labels = LabelMatrix::empty(data.n_rows(), n_labels);
    for row in 0..data.n_rows() {
        labels.ids().for_each(|label| labels.set(row, label, data.labels().get(row, label)));
    }
    let (attributes, features) = (data.attributes().to_vec(), data.features().clone());
    let names = data.label_names()[..n_labels].to_vec();
    let data = Dataset::new("bench", attributes, features, names, labels).unwrap();
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let cut = Folds::new(rows.iter().map(|row| row % 3).collect(), 3).unwrap();

    let start = cpu_time::ProcessTime::now();
    let train = TrainingRows::new(&data, Svm::default().memory).unwrap();
    let tuned = Grid::default().tune_on(&Svm::default(), &train, &rows, &cut).unwrap();
    let svms: Vec<Svm> = tuned.iter().map(|tuned| tuned.svm).collect();
    let views =
        vec![LabelView { rows: rows.into(), features: (0..data.n_features()).collect() }; n_labels];
    let model = SvmChain::fit(&svms, &train, views, None).unwrap();
    let seconds = start.elapsed().as_secs_f64();

    assert!(data.labels().ids().all(|label| model.classifier(label).converged()));
    let gamma = |svm: &Svm| match svm.kernel {
        Kernel::Rbf { gamma } => gamma.unwrap_or(0.0),
        Kernel::Linear => 0.0,
    };
    let points: Vec<[f64; 2]> = svms.iter().map(|svm| [svm.cost, gamma(svm)]).collect();
    let errors = |tuned: &Tuned| tuned.counts.iter().map(Confusion::n_wrong).collect();
    let errors: Vec<Vec<usize>> = tuned.iter().map(errors).collect();
    println!("{{\"seconds\":{seconds:.6},\"points\":{points:?},\"errors\":{errors:?}}}");
}

/// Cells that anybody can make again: the fractions of (row + 1) (column + 1)² √2, and a label that
/// is relevant where the first column is above the mean of the next two.
fn made(n_rows: usize, n_columns: usize) -> Dataset {
    let cell = |row: usize, column: usize| {
        ((row + 1) as f64 * ((column + 1) * (column + 1)) as f64 * std::f64::consts::SQRT_2).fract()
    };
    let mut cells = Dense::new(n_columns);
    let mut labels = LabelMatrix::empty(n_rows, 1);
    for row in 0..n_rows {
        cells.push_row(&(0..n_columns).map(|column| cell(row, column)).collect::<Vec<_>>());
        labels.set(row, LabelId(0), 2.0 * cell(row, 0) > cell(row, 1) + cell(row, 2));
    }
    let attributes = (0..n_columns).map(|at| Attribute::numeric(format!("x{at}"))).collect();
    Dataset::new("made", attributes, Matrix::Dense(cells), vec!["y".into()], labels).unwrap()
}

fn fit(n_rows: usize, n_columns: usize) {
    let data = made(n_rows, n_columns);
    let rows: Vec<usize> = (0..n_rows).collect();
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let start = cpu_time::ProcessTime::now();
            let train = TrainingRows::new(&data, Svm::default().memory).unwrap();
            Svm::default().fit(&train, &rows, LabelId(0), &[]).unwrap();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let train = TrainingRows::new(&data, Svm::default().memory).unwrap();
    let classifier = Svm::default().fit(&train, &rows, LabelId(0), &[]).unwrap();
    let distances = train.distances(data.features(), &rows);
    let said = |row: &[f64]| classifier.decision_value(|other| row[other]);
    let sum: f64 = distances.chunks(n_rows).map(said).sum();
    println!("{{\"seconds\":{:.6},\"sum\":{sum:.3}}}", seconds[2]);
}
