//! How fast is the label set of greatest expected F1 found?
//!
//! `cargo bench --bench expected_f1 -- LABELS SETS SIZE` prints the microseconds that a row takes whose joint
//! law has so many label sets of so many labels, with so many relevant ones on average: the median over rows of
//! the least of several times.
#![allow(missing_docs, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use labelchain::decide::maximize_expected_f1;
use labelchain::seed::Seed;

fn main() {
    let sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    // `cargo test --benches` passes no sizes: there is then nothing to measure.
    let &[n_labels, n_sets, size] = &sizes[..] else { return };
    let mut microseconds: Vec<f64> = (0..200)
        .map(|row| {
            let drawn = joint_law(n_labels, n_sets, size as f64, Seed::new(1).child("row", row));
            let law: Vec<(f64, &[u64])> = drawn.iter().map(|(w, set)| (*w, &set[..])).collect();
            let time = |_| {
                let start = Instant::now();
                black_box(maximize_expected_f1(&law, n_labels));
                start.elapsed().as_secs_f64() * 1e6
            };
            (0..9).map(time).fold(f64::INFINITY, f64::min)
        })
        .collect();
    microseconds.sort_by(f64::total_cmp);
    println!("{{\"microseconds\":{:.1}}}", microseconds[microseconds.len() / 2]);
}

/// Label sets of one row. Few labels are frequent, as in most data, and the row makes some of them likely.
fn joint_law(n_labels: usize, n_sets: usize, size: f64, seed: Seed) -> Vec<(f64, Vec<u64>)> {
    let mut rng = seed.rng();
    let mut shares: Vec<f64> =
        (1..=n_labels).map(|rank| rng.unit() / (rank as f64).powf(0.7)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share = (*share * size / total).min(0.95));
    (0..n_sets)
        .map(|_| {
            let mut set = vec![0u64; n_labels.div_ceil(64)];
            for (label, &share) in shares.iter().enumerate() {
                set[label / 64] |= u64::from(rng.chance(share)) << (label % 64);
            }
            (1.0 / n_sets as f64, set)
        })
        .collect()
}
