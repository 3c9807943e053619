//! How long does a forest take to grow, to be tuned, and to answer?
//!
//! `cargo bench --bench forest -- FILE [TREES]` reads a data set and prints the CPU seconds of one thread that
//! growing takes, bins included, and choosing the trust; the microseconds a row that the joint law takes, and the
//! walk over it by certainty; and the bytes of the model. Nothing of it is calibration, which is the ensemble's.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use labelchain::Seed;
use labelchain::base::Forest;
use labelchain::chain::{AnyOrderModel as _, Block, ChainLearner as _, Route, Scoring as _};
use labelchain::data::{ReadOptions, read};
use labelchain::pieces::PieceWriter;
use labelchain::prepare::Prepared;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    // `cargo test --benches` passes no file: there is then nothing to measure.
    let Some(path) = arguments.next() else { return };
    let n_trees = arguments.next().map_or(100, |argument| argument.parse().unwrap());
    let data = read(path.as_ref(), &ReadOptions::default()).unwrap().into_rows().unwrap();
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let forest = Forest { n_trees, ..Forest::default() };
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    threads.install(|| {
        let train = Prepared::new(data).unwrap();
        let (_, grow) = timed(|| forest.fit_independent(&train, &rows, Seed::new(1)).unwrap());
        let (model, whole) = timed(|| forest.fit(&train, &rows, Seed::new(1)).unwrap());
        let block = Block::of(train.data().features(), &rows);
        let (_, law) = timed(|| model.score(&block));
        let (_, answer) = timed(|| model.decisions(&block, Route::ByCertainty));
        let each = 1e6 / rows.len() as f64;
        let n_bytes = model.encode(&mut PieceWriter::default()).unwrap().len();
        println!(
            "{{\"grow\":{grow},\"trust\":{},\"law_us\":{},\"walk_us\":{},\"bytes\":{n_bytes}}}",
            whole - grow,
            law * each,
            (answer - law) * each,
        );
    });
}

/// What some work gives, and its seconds of this process, in user and system together.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_time::ProcessTime::now();
    let found = work();
    (found, start.elapsed().as_secs_f64())
}
