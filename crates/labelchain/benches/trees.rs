//! How long does it take to fit a tree to a label?
//!
//! `cargo bench --bench trees -- FILE LABEL [TIMES]` fits J48 to the label at that place, on all rows,
//! so many times, and prints the CPU seconds of each fit and the nodes of the tree.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use labelchain::base::J48;
use labelchain::chain::BinaryLearner as _;
use labelchain::data::{Dataset, LabelId, LabelMatrix, ReadOptions, read};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    // `cargo test --benches` passes no file: there is then nothing to measure.
    let Some(path) = arguments.next() else { return };
    let label = LabelId(arguments.next().unwrap().parse().unwrap());
    let times = arguments.next().map_or(1, |argument| argument.parse().unwrap());
    let data = read(path.as_ref(), &ReadOptions::default()).unwrap().into_rows().unwrap();
    let mut labels = LabelMatrix::empty(data.n_rows(), 1);
    (0..data.n_rows()).for_each(|row| labels.set(row, LabelId(0), data.labels().get(row, label)));
    let (attributes, features) = (data.attributes().to_vec(), data.features().clone());
    let one = Dataset::new("one", attributes, features, vec!["label".into()], labels).unwrap();
    let mut seconds = Vec::new();
    let mut tree = None;
    for _ in 0..times {
        let start = cpu_seconds();
        tree = Some(J48::default().fit_binary(&one).unwrap());
        seconds.push(cpu_seconds() - start);
    }
    let nodes = serde_json::to_string(tree.unwrap().nodes()).unwrap();
    println!("{{\"seconds\":{seconds:?},\"nodes\":{nodes}}}");
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}
