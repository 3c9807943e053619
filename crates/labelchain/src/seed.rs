//! Random numbers that are the same on every machine, from one seed with named child seeds.
//!
//! A child seed is derived from its purpose and an index, not from the order in which seeds are
//! drawn. So the same seed gives the same bytes for any number of threads and whichever folds are
//! run. Only the raw ChaCha stream comes from a dependency; ranges, shuffles and normals are computed
//! here, because results must not change when a dependency does.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// A source of named, independent random streams.
///
/// ```
/// use labelchain::seed::Seed;
///
/// let seed = Seed::new(1);
/// let fold = seed.child("fold", 3);
/// assert_eq!(fold.rng().below(1000), seed.child("fold", 3).rng().below(1000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The root seed of a run.
    pub fn new(seed: u64) -> Seed {
        Seed(blake3::derive_key("labelchain 1 root seed", &seed.to_le_bytes()))
    }

    /// The child seed for the `index`-th use of the kind `role`, such as `("fold", 3)`.
    pub fn child(&self, role: &str, index: usize) -> Seed {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(index as u64).to_le_bytes());
        hasher.update(role.as_bytes());
        Seed(*hasher.finalize().as_bytes())
    }

    /// A generator at the start of this seed's stream.
    pub fn rng(&self) -> Rng {
        Rng(ChaCha8Rng::from_seed(self.0))
    }
}

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// Uniform in `0..n`, without bias; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // Lemire's method: of the 128-bit product of n and 64 random bits, the upper half is the
        // result. Some results have one product more than others; rejecting products whose lower
        // half is below 2⁶⁴ mod n makes all equally likely.
        let n = n as u64;
        let threshold = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal, by the Box-Muller transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles by the method of Fisher and Yates: every permutation is equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If a dependency changed the stream, saved results could no longer be reproduced.
    #[test]
    fn the_stream_is_pinned() {
        let mut rng = Seed::new(1).child("member", 7).rng();
        let drawn: Vec<usize> = (0..6).map(|_| rng.below(1000)).collect();
        assert_eq!(drawn, PINNED);
    }
    const PINNED: [usize; 6] = [378, 663, 527, 396, 618, 725];

    #[test]
    fn children_differ_by_role_and_by_index() {
        let seed = Seed::new(1);
        assert_ne!(seed.child("fold", 0), seed.child("fold", 1));
        assert_ne!(seed.child("fold", 0), seed.child("member", 0));
        assert_ne!(seed.child("fold", 0), Seed::new(2).child("fold", 0));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Seed::new(1).rng();
        let mut counts = [0usize; 5];
        for _ in 0..10_000 {
            counts[rng.below(5)] += 1;
        }
        // Binomial(10000, 1/5) has deviation 40; six deviations either side.
        assert!(counts.iter().all(|&n| n.abs_diff(2000) < 240), "{counts:?}");
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn normals_have_mean_zero_and_deviation_one() {
        let mut rng = Seed::new(1).rng();
        let drawn: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let variance = drawn.iter().map(|z| z * z).sum::<f64>() / 20_000.0 - mean * mean;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.06, "{mean} {variance}");
    }
}
