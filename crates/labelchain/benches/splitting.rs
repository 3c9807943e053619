//! How long does it take to stratify many rows of many labels?
//!
//! `cargo bench --bench splitting -- ROWS LABELS` cuts ten folds in first and in second order and
//! prints the CPU seconds of each. Labels are relevant to 5 % of the rows, independently.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use labelchain::data::stratify::{Balance, equal_shares, stratify};
use labelchain::data::{LabelId, LabelMatrix};
use labelchain::seed::Seed;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    // `cargo test --benches` passes no sizes: there is then nothing to measure.
    let &[n_rows, n_labels] = &sizes[..] else { return };
    let mut rng = Seed::new(1).rng();
    let mut labels = LabelMatrix::empty(n_rows, n_labels);
    for row in 0..n_rows {
        for label in (0..n_labels).map(LabelId) {
            labels.set(row, label, rng.chance(0.05));
        }
    }
    let time = |balance| {
        let start = cpu_seconds();
        stratify(&labels, &equal_shares(10).unwrap(), balance, None, Seed::new(1)).unwrap();
        cpu_seconds() - start
    };
    let (first, second) = (time(Balance::Labels), time(Balance::Pairs));
    println!("{{\"first_order_seconds\":{first:.4},\"second_order_seconds\":{second:.4}}}");
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}
