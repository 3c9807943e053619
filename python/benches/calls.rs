//! What do `fit` and `predict` take without Python?
//!
//! `bench/python_calls.py` starts it with a method, a file of inputs (float64), a file of labels (a byte of 0 or 1
//! each) and the number of inputs and labels of a row, and writes lines to it: `fit`, or `predict N` for the
//! first N rows. It answers each with the seconds that passed and those of processors.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::Path;
use std::time::Instant;

use labelchain::memory::three_quarters;
use labelchain::{Dataset, LabelChain, Method, Settings};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    // `cargo test --benches` passes nothing: there is then nothing to measure.
    let [method, inputs, labels, n_inputs, n_labels] = arguments.as_slice() else { return };
    let method: Method = method.parse().unwrap();
    let (n_inputs, n_labels): (usize, usize) =
        (n_inputs.parse().unwrap(), n_labels.parse().unwrap());
    let bytes = std::fs::read(inputs).unwrap();
    let cells: Vec<f64> = bytes.as_chunks().0.iter().map(|&it| f64::from_le_bytes(it)).collect();
    let relevant: Vec<bool> = std::fs::read(labels).unwrap().iter().map(|&it| it == 1).collect();
    let names: Vec<String> = (0..n_labels).map(|at| format!("y{at}")).collect();
    let fit = || {
        let rows = Dataset::from_rows(n_inputs, &cells).unwrap();
        let rows = rows.with_label_indicators(&names, &relevant).unwrap();
        let chain = LabelChain::with(method, Settings::default()).seed(1);
        chain.max_memory(three_quarters()).fit(&rows).unwrap()
    };
    let model = fit();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (wall, cpu) = (Instant::now(), cpu_time::ProcessTime::now());
        match line.strip_prefix("predict ") {
            Some(n_rows) => {
                let n_rows: usize = n_rows.parse().unwrap();
                let rows = Dataset::from_rows(n_inputs, &cells[..n_rows * n_inputs]).unwrap();
                model.align(&rows, Path::new("data")).unwrap().predict_labels().unwrap();
            }
            None => drop(fit()),
        }
        println!("{} {}", wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    }
}
