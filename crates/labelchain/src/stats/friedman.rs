//! Are the methods different at all? Friedman's test of equal mean ranks (Friedman 1937).

use super::distribution::{chi_squared_tail, f_tail};

/// The outcome of Friedman's test, in its chi-squared form and in its F form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friedman {
    /// The chi-squared statistic, corrected for ties.
    pub statistic: f64,
    /// The p-value of the chi-squared statistic, with k - 1 degrees of freedom.
    pub p: f64,
    /// The F statistic of Iman and Davenport (1980), which is less conservative.
    pub f: f64,
    /// The p-value of the F statistic, with k - 1 and (k - 1)(N - 1) degrees of freedom.
    pub f_p: f64,
}

/// Tests the sums of ranks of k methods over N data sets.
///
/// χ² = [12 Σ R² / (N k (k + 1)) - 3 N (k + 1)] / [1 - T / (N k (k² - 1))] with rank sums R and
/// [tie term](super::Ranks::tie_term) T summed over the data sets; F = (N - 1) χ² / (N (k - 1) - χ²).
pub fn friedman(rank_sums: &[f64], n: usize, tie_term: f64) -> Friedman {
    let (n, k) = (n as f64, rank_sums.len() as f64);
    let squares: f64 = rank_sums.iter().map(|sum| sum * sum).sum();
    let untied = 12.0 * squares / (n * k * (k + 1.0)) - 3.0 * n * (k + 1.0);
    let correction = 1.0 - tie_term / (n * k * (k * k - 1.0));
    // If all methods are tied on every data set, numerator and denominator are both 0; there is no
    // difference between them, so the statistic is 0.
    let statistic = if correction > 0.0 { (untied / correction).max(0.0) } else { 0.0 };
    let rest = n * (k - 1.0) - statistic;
    // If all data sets rank the methods in the same order, χ² = N (k - 1) and the denominator of F
    // is 0.
    let f = if rest > 1e-9 { (n - 1.0) * statistic / rest } else { f64::INFINITY };
    Friedman {
        statistic,
        p: chi_squared_tail(statistic, k - 1.0),
        f,
        f_p: f_tail(f, k - 1.0, (k - 1.0) * (n - 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's nearest-neighbour table, Hamming loss (docs/methods.md, 11.3): 15.07 / (1 - 6/1800).
    #[test]
    fn a_published_case_is_reproduced() {
        let tested = friedman(&[51.5, 85.0, 84.0, 79.5], 30, 6.0);
        assert!((tested.statistic - 15.1204).abs() < 5e-5, "{tested:?}");
        assert!((tested.p - 0.0017166).abs() < 5e-8, "{tested:?}");
    }

    /// Demšar (2006), section 3.2.2: mean ranks 3.143, 2.000, 2.893, 1.964 on 14 sets give
    /// χ² = 9.28 and F = 3.69 without correction for ties.
    #[test]
    fn demsars_example_is_reproduced() {
        let tested = friedman(&[3.143, 2.0, 2.893, 1.964].map(|mean| mean * 14.0), 14, 0.0);
        assert!((tested.statistic - 9.28).abs() < 0.02, "{tested:?}");
        assert!((tested.f - 3.69).abs() < 0.01, "{tested:?}");
    }

    #[test]
    fn no_difference_and_full_agreement_are_the_two_ends() {
        // Three sets, both methods tied on each: T = 3 (2³ - 2) = N k (k² - 1).
        let tied = friedman(&[4.5, 4.5], 3, 18.0);
        assert_eq!((tied.statistic, tied.p, tied.f, tied.f_p), (0.0, 1.0, 0.0, 1.0));
        // χ² = N (k - 1) is its greatest value.
        let agreed = friedman(&[4.0, 8.0, 12.0], 4, 0.0);
        assert_eq!((agreed.statistic, agreed.f, agreed.f_p), (8.0, f64::INFINITY, 0.0));
    }
}
