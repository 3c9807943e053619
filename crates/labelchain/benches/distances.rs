//! How fast are distances computed?
//!
//! `cargo bench --bench distances -- ROWS TRAIN COLUMNS` prints the billions of additions and
//! multiplications a second that the squared distances of so many rows to so many training rows take
//! as a matrix product, the median of several.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;

use labelchain::data::{Attribute, Dataset, Dense, LabelMatrix, Matrix};
use labelchain::distance::Neighbourhood;
use labelchain::seed::Seed;

fn main() {
    let sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    // `cargo test --benches` passes no sizes: there is then nothing to measure.
    let &[n_rows, n_train, n_columns] = &sizes[..] else { return };
    let (rows, train) = (normal(n_rows, n_columns, 1), normal(n_train, n_columns, 2));
    let near = Neighbourhood::of(&train).unwrap();
    let mut seconds: Vec<f64> = (0..15)
        .map(|_| {
            let start = cpu_time::ProcessTime::now();
            black_box(near.distances(&rows).unwrap());
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let n_operations = 2.0 * (n_rows * n_train * n_columns) as f64;
    println!("{{\"giga_operations\":{:.2}}}", n_operations / seconds[seconds.len() / 2] / 1e9);
}

fn normal(n_rows: usize, n_columns: usize, seed: u64) -> Dataset {
    let mut rng = Seed::new(seed).rng();
    let mut cells = Dense::new(n_columns);
    for _ in 0..n_rows {
        let row: Vec<f64> = (0..n_columns).map(|_| rng.normal()).collect();
        cells.push_row(&row);
    }
    let attributes = (0..n_columns).map(|at| Attribute::numeric(format!("x{at}"))).collect();
    let labels = LabelMatrix::empty(n_rows, 0);
    Dataset::new("normal", attributes, Matrix::Dense(cells), vec![], labels).unwrap()
}
