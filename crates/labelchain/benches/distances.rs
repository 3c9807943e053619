//! How fast are distances computed, and nearest rows found?
//!
//! `cargo bench --bench distances -- ROWS TRAIN COLUMNS` prints the billions of additions and
//! multiplications a second that the squared distances of so many rows to so many training rows take
//! as a matrix product, and the microseconds that finding the ten nearest training rows of a row takes;
//! medians of several.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;

use labelchain::data::{Attribute, Dataset, Dense, LabelMatrix, Matrix};
use labelchain::distance::{Needs, Neighbourhood};
use labelchain::seed::Seed;

fn main() {
    let sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    // `cargo test --benches` passes no sizes: there is then nothing to measure.
    let &[n_rows, n_train, n_columns] = &sizes[..] else { return };
    let (rows, train) = (normal(n_rows, n_columns, 1), normal(n_train, n_columns, 2));
    let near = Neighbourhood::of(&train).unwrap();
    let distances = median_seconds(|| {
        black_box(near.distances(&rows).unwrap());
    });
    let nearest = median_seconds(|| {
        let ranked = near.rankings(&rows, Needs::Ranking).unwrap().unwrap();
        for ranking in &ranked.rankings {
            black_box(ranking.iter().take(10).last());
        }
    });
    let n_operations = 2.0 * (n_rows * n_train * n_columns) as f64;
    println!(
        "{{\"giga_operations\":{:.2},\"nearest_us\":{:.2}}}",
        n_operations / distances / 1e9,
        nearest / n_rows as f64 * 1e6
    );
}

fn median_seconds(mut work: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = (0..15)
        .map(|_| {
            let start = cpu_time::ProcessTime::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
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
