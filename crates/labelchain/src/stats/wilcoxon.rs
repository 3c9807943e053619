//! Do two methods differ? Wilcoxon's signed-rank test of paired differences, two-sided
//! (Wilcoxon 1945; Pratt 1959 for zeros).

use std::sync::OnceLock;

use super::distribution::normal_tail;
use crate::error::{Error, Result};

/// How differences of zero are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeros {
    /// They are left out.
    #[default]
    Wilcox,
    /// They are ranked, and their ranks are left out.
    Pratt,
    /// They are ranked, and half of their rank sum is added to either side.
    Split,
}

/// The outcome for one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wilcoxon {
    /// How many differences are positive.
    pub n_plus: usize,
    /// How many are negative.
    pub n_minus: usize,
    /// How many are zero.
    pub n_zero: usize,
    /// The rank sum of the positive differences.
    pub w_plus: f64,
    /// The rank sum of the negative differences.
    pub w_minus: f64,
    /// The two-sided p-value: the probability of rank sums at least as far apart if the differences
    /// are distributed symmetrically around zero.
    pub p: f64,
    /// The least p-value that differences of these sizes allow: the one for signs that are all alike.
    /// It is 2 / 2ⁿ if `p` is exact. A level below it cannot be reached, whatever the methods do.
    pub least_p: f64,
    /// Whether `p` is exact, from all 2ⁿ combinations of signs; otherwise it is a normal
    /// approximation.
    pub is_exact: bool,
}

impl Wilcoxon {
    /// How many differences are not zero.
    pub fn n(&self) -> usize {
        self.n_plus + self.n_minus
    }

    /// The smaller rank sum, which is the statistic W of printed tables.
    pub fn w(&self) -> f64 {
        self.w_plus.min(self.w_minus)
    }
}

/// Wilcoxon's signed-rank test, with the exact distributions that it has computed so far.
#[derive(Debug)]
pub struct SignedRanks {
    zeros: Zeros,
    /// For each n, P(W ≤ w) for all w up to the middle; computed when first needed.
    lower_tails: Vec<OnceLock<Vec<f64>>>,
}

impl SignedRanks {
    /// The default of R: the test is exact for fewer than 50 differences.
    pub const EXACT_UP_TO: usize = 49;

    /// The exact distribution is used for up to `exact_up_to` differences without zeros and ties.
    pub fn new(zeros: Zeros, exact_up_to: usize) -> Result<SignedRanks> {
        // Computing the exact distribution takes n³/4 additions.
        if exact_up_to > 1000 {
            let (name, value) = ("exact-up-to", exact_up_to.to_string());
            return Err(Error::Setting { name, value, accepted: "at most 1000" });
        }
        let lower_tails = (0..=exact_up_to).map(|_| OnceLock::new()).collect();
        Ok(SignedRanks { zeros, lower_tails })
    }

    /// Tests differences, none of which may be NaN. They are rounded to 10 decimals before zeros and
    /// ties are determined, because 0.3 - 0.2 and 0.2 - 0.1 should count as equal, but differ in
    /// their last bits.
    pub fn test(&self, differences: &[f64]) -> Wilcoxon {
        // Floating-point numbers that are not negative have the same order as their bits read as an
        // integer, whose highest bit is 0. Shifted by one, the bits of the absolute value leave the
        // lowest bit free for the sign, and one sort of integers ranks all differences. This is
        // faster than sorting pairs, and comparing a hundred methods sorts tens of thousands of times.
        let key = |&d: &f64| rounded(d).abs().to_bits() << 1 | u64::from(d < 0.0);
        let mut keys: Vec<u64> = differences.iter().map(key).collect();
        let n_zero = keys.iter().filter(|&&key| key >> 1 == 0).count();
        if self.zeros == Zeros::Wilcox {
            keys.retain(|key| key >> 1 != 0);
        }
        keys.sort_unstable();

        let (mut n_minus, mut w_plus, mut w_minus, mut tie_term) = (0, 0.0, 0.0, 0.0);
        let mut before = 0;
        for group in keys.chunk_by(|a, b| a >> 1 == b >> 1) {
            let t = group.len() as f64;
            let rank = before as f64 + (t + 1.0) / 2.0;
            before += group.len();
            tie_term += t * t * t - t;
            let negative = group.iter().filter(|&key| key & 1 == 1).count();
            let is_zero = group[0] >> 1 == 0;
            if !is_zero {
                n_minus += negative;
                w_minus += rank * negative as f64;
                w_plus += rank * (group.len() - negative) as f64;
            } else if self.zeros == Zeros::Split {
                w_minus += rank * t / 2.0;
                w_plus += rank * t / 2.0;
            }
        }
        let n = differences.len() - n_zero;
        let is_exact = n > 0 && n_zero == 0 && tie_term == 0.0 && n < self.lower_tails.len();
        let p = |w_plus: f64, w_minus: f64| {
            if is_exact {
                self.exact(n, f64::min(w_plus, w_minus))
            } else {
                self.approximate(keys.len(), n_zero, w_plus, tie_term)
            }
        };
        // Half of the rank sum of zeros stays on either side if it is split, whatever the signs.
        let zeros_on_a_side = match self.zeros {
            Zeros::Split => (n_zero * (n_zero + 1)) as f64 / 4.0,
            Zeros::Wilcox | Zeros::Pratt => 0.0,
        };
        let all_on_one_side = w_plus + w_minus - zeros_on_a_side;
        Wilcoxon {
            n_plus: n - n_minus,
            n_minus,
            n_zero,
            w_plus,
            w_minus,
            p: p(w_plus, w_minus),
            least_p: p(all_on_one_side, zeros_on_a_side),
            is_exact,
        }
    }

    /// 2 P(W ≤ w).
    fn exact(&self, n: usize, w: f64) -> f64 {
        let tail = self.lower_tails[n].get_or_init(|| lower_tail(n));
        tail.get(w as usize).map_or(1.0, |p| (2.0 * p).min(1.0))
    }

    /// The normal approximation with z = (|W⁺ - mean| - 1/2) / σ, where the mean is n (n + 1) / 4 and
    /// σ² = n (n + 1)(2n + 1) / 24 - Σ(t³ - t) / 48. Where zeros are ranked but left out (Pratt), the
    /// mean and the variance of their ranks are subtracted (Cureton 1967).
    fn approximate(&self, n_ranked: usize, n_zeros: usize, w_plus: f64, tie_term: f64) -> f64 {
        let mean = |n: f64| n * (n + 1.0) / 4.0;
        let variance = |n: f64| n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
        let (n, zeros) = (n_ranked as f64, n_zeros as f64);
        let (mean, variance) = match self.zeros {
            // The tie term includes the zeros as one group, but their ranks are left out.
            Zeros::Pratt => {
                let ties = tie_term - (zeros * zeros * zeros - zeros);
                (mean(n) - mean(zeros), variance(n) - variance(zeros) - ties / 48.0)
            }
            Zeros::Wilcox | Zeros::Split => (mean(n), variance(n) - tie_term / 48.0),
        };
        let distance = (w_plus - mean).abs();
        if distance > 0.0 && variance > 0.0 {
            (2.0 * normal_tail((distance - 0.5) / variance.sqrt())).min(1.0)
        } else {
            1.0
        }
    }
}

/// The difference rounded to 10 decimals. A number so large that scaling it overflows is returned as
/// it is.
fn rounded(difference: f64) -> f64 {
    let rounded = (difference * 1e10).round_ties_even() / 1e10;
    if rounded.is_finite() { rounded } else { difference }
}

/// P(W ≤ w) for w from 0 to the middle, where W is the sum of a random subset of the ranks 1 to n
/// that contains each rank with probability 1/2. After each rank, `tail[w]` is P(W = w) for the ranks
/// so far.
fn lower_tail(n: usize) -> Vec<f64> {
    let middle = n * (n + 1) / 4;
    let mut tail = vec![0.0; middle + 1];
    tail[0] = 1.0;
    for rank in 1..=n {
        for w in (0..=middle).rev() {
            let with = if w >= rank { tail[w - rank] } else { 0.0 };
            tail[w] = (tail[w] + with) / 2.0;
        }
    }
    for w in 1..=middle {
        tail[w] += tail[w - 1];
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(zeros: Zeros, differences: &[f64]) -> Wilcoxon {
        SignedRanks::new(zeros, SignedRanks::EXACT_UP_TO).unwrap().test(differences)
    }

    #[test]
    fn few_differences_are_counted_exactly() {
        // Of the 8 ways to sign 1, 2, 3, one has W = 0 and one W = 1 (only rank 1): 2 (2/8).
        let tested = test(Zeros::Wilcox, &[-0.1, 0.2, 0.3]);
        assert_eq!((tested.n(), tested.w(), tested.p, tested.is_exact), (3, 1.0, 0.5, true));
        // W in the middle: every sum is at least as far out.
        assert_eq!(test(Zeros::Wilcox, &[1.0, 2.0, -3.0]).p, 1.0);
    }

    #[test]
    fn differences_that_are_meant_to_be_equal_are() {
        // 0.3 - 0.2 is 0.09999999999999998, 0.2 - 0.1 is 0.1: a tie, so not exact.
        let tested = test(Zeros::Wilcox, &[0.3 - 0.2, 0.1 - 0.2, 0.5]);
        assert_eq!((tested.w_plus, tested.w_minus, tested.is_exact), (4.5, 1.5, false));
        assert_eq!(test(Zeros::Wilcox, &[0.1 + 0.2 - 0.3, 1.0]).n(), 1);
    }

    #[test]
    fn zeros_are_dropped_ranked_or_split() {
        // Sizes 0, 0, 1, 2, 3 have ranks 1.5, 1.5, 3, 4, 5; without zeros 1, 2, 3.
        let differences = [0.0, 1.0, -2.0, 0.0, 3.0];
        let sums = |zeros| {
            let tested = test(zeros, &differences);
            (tested.n(), tested.w_plus, tested.w_minus)
        };
        assert_eq!(sums(Zeros::Wilcox), (3, 4.0, 2.0));
        assert_eq!(sums(Zeros::Pratt), (3, 8.0, 4.0));
        assert_eq!(sums(Zeros::Split), (3, 9.5, 5.5));
    }

    #[test]
    fn nothing_differs_where_all_differences_are_zero() {
        for zeros in [Zeros::Wilcox, Zeros::Pratt, Zeros::Split] {
            assert_eq!(test(zeros, &[0.0, 0.0]).p, 1.0);
            assert_eq!(test(zeros, &[]).p, 1.0);
        }
    }

    #[test]
    fn the_exact_distribution_is_used_up_to_its_limit() {
        let differences: Vec<f64> = (1..=50).map(f64::from).collect();
        assert!(!test(Zeros::Wilcox, &differences).is_exact);
        let test = SignedRanks::new(Zeros::Wilcox, 50).unwrap().test(&differences);
        // All 50 signs alike: 2 / 2⁵⁰.
        assert_eq!((test.is_exact, test.p), (true, 0.5f64.powi(49)));
        assert!(SignedRanks::new(Zeros::Wilcox, 1001).is_err());
    }

    #[test]
    fn no_p_is_below_that_of_signs_that_are_all_alike() {
        for zeros in [Zeros::Wilcox, Zeros::Pratt, Zeros::Split] {
            for sizes in [&[1.0, 2.0, 3.0, 4.0, 5.0][..], &[1.0, 1.0, 2.0], &[0.0, 0.0, 1.0, 2.0]] {
                let least = test(zeros, sizes);
                assert_eq!(least.least_p, least.p, "{zeros:?} {sizes:?}");
                for signs in 0..1 << sizes.len() {
                    let sign = |at: usize| if signs >> at & 1 == 1 { -1.0 } else { 1.0 };
                    let signed: Vec<f64> =
                        sizes.iter().enumerate().map(|(at, size)| sign(at) * size).collect();
                    let tested = test(zeros, &signed);
                    assert_eq!(tested.least_p, least.p);
                    assert!(tested.p >= least.p, "{zeros:?} {signed:?}");
                }
            }
        }
        assert_eq!(test(Zeros::Wilcox, &[1.0, -2.0, 3.0, 4.0, 5.0]).least_p, 2.0 / 32.0);
    }

    #[test]
    fn a_missing_result_counts_as_the_greatest_difference() {
        let tested = test(Zeros::Wilcox, &[f64::INFINITY, -1.0, -2.0]);
        assert_eq!((tested.w_plus, tested.w_minus), (3.0, 3.0));
    }
}
