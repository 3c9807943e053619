//! How fast do texts become weights of words?
//!
//! `cargo bench --bench words -- FILE` takes each line of a file as a text, finds the vocabulary of all of
//! them and weighs the words of each, and prints the bytes and the CPU seconds of both.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use labelchain::prepare::{TextSettings, Vocabulary};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    // `cargo test --benches` passes no file: there is then nothing to measure.
    let Some(path) = arguments.next() else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let start = cpu_seconds();
    let vocabulary = Vocabulary::fit(text.lines().map(Some), TextSettings::default()).unwrap();
    let fit = cpu_seconds() - start;
    let start = cpu_seconds();
    let n_cells: usize = text.lines().map(|line| vocabulary.weights(line).len()).sum();
    let weigh = cpu_seconds() - start;
    println!(
        "{{\"bytes\":{},\"terms\":{},\"cells\":{n_cells},\"fit_seconds\":{fit:.6},\"weigh_seconds\":{weigh:.6},\"cpu\":{:.6}}}",
        text.len(),
        vocabulary.terms().len(),
        fit + weigh
    );
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}
