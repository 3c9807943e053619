//! How long does it take to select the features of a label?
//!
//! `cargo bench --bench selection -- FILE [LABELS]` selects for the first so many labels, on all rows,
//! and prints the CPU seconds of what all labels share, those of each label, and what was selected.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::sync::Arc;

use labelchain::data::{ReadOptions, read};
use labelchain::prepare::{Cfs, Columns};
use labelchain::seed::Seed;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    // `cargo test --benches` passes no file: there is then nothing to measure.
    let Some(path) = arguments.next() else { return };
    let limit = arguments.next().map_or(usize::MAX, |argument| argument.parse().unwrap());
    let data = read(path.as_ref(), &ReadOptions::default()).unwrap().into_rows().unwrap();
    let data = Arc::new(data);
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let start = cpu_seconds();
    let columns = Columns::new(&data);
    let shared = cpu_seconds() - start;
    let cfs = Cfs { max_features: usize::MAX };
    let (mut seconds, mut selected) = (Vec::new(), Vec::new());
    for label in data.labels().ids().take(limit) {
        let start = cpu_seconds();
        let relevant = |row| data.labels().get(row, label);
        selected.push(cfs.select(&columns, &rows, relevant, Seed::new(1)));
        seconds.push(cpu_seconds() - start);
    }
    println!(
        "{{\"shared_seconds\":{shared:.6},\"label_seconds\":{seconds:?},\"selected\":{selected:?}}}"
    );
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}
