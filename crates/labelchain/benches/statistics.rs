//! How long does it take to compare many methods?
//!
//! `cargo bench --bench statistics -- METHODS SETS CRITERIA` compares drawn losses and prints the seconds
//! on the clock and those of all processors.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use labelchain::seed::Seed;
use labelchain::stats::{Comparison, LossTable, TestPlan};

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let sizes: Vec<usize> = arguments.map(|size| size.parse().unwrap()).collect();
    // `cargo test --benches` passes no sizes: there is then nothing to measure.
    let [n_methods, n_sets, n_criteria] = sizes[..] else { return };
    let names = |what: &str, n: usize| (0..n).map(|at| format!("{what}{at}")).collect::<Vec<_>>();
    let mut rng = Seed::new(1).rng();
    let mut row = || (0..n_methods).map(|_| Some(rng.unit())).collect::<Vec<_>>();
    let tables: Vec<LossTable> = names("criterion", n_criteria)
        .into_iter()
        .map(|criterion| LossTable {
            criterion,
            losses: (0..n_sets).map(|_| row()).collect(),
            higher_is_better: false,
        })
        .collect();
    let (sets, methods) = (names("set", n_sets), names("method", n_methods));
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let compared = Comparison::of(&sets, &methods, tables, TestPlan::default()).unwrap();
    println!(
        "{{\"pairs\":{},\"seconds\":{:.3},\"cpu_seconds\":{:.3}}}",
        compared.criteria.iter().map(|of| of.pairs.len()).sum::<usize>(),
        clock.elapsed().as_secs_f64(),
        cpu_seconds() - cpu
    );
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}
