//! How far apart must mean ranks be? Critical differences of Nemenyi, for all pairs of methods
//! (Nemenyi 1963), and of Bonferroni and Dunn, for one method against each other (Dunn 1961); both in
//! Demšar (2006).

use super::distribution::range_quantile;
use crate::error::{Error, Result};

/// The largest number of methods for which the quantile is known to be accurate.
const MAX_METHODS: usize = 1000;

/// The critical difference of mean ranks of k methods over N data sets.
///
/// CD = q √(k (k + 1) / (6 N)), where q is the quantile of the studentized range divided by √2.
///
/// ```
/// let cd = labelchain::stats::critical_difference(4, 30, 0.1)?;
/// assert!((cd - 0.764).abs() < 5e-4);
/// # Ok::<(), labelchain::error::Error>(())
/// ```
pub fn critical_difference(k: usize, n: usize, alpha: f64) -> Result<f64> {
    check(k, alpha)?;
    Ok(of_quantile(range_quantile(alpha, k), k, n))
}

/// The critical difference of the mean ranks of a control and of each of k - 1 other methods.
///
/// The same formula with Bonferroni's correction of the normal quantile, q = z at 1 - α / (2 (k - 1)).
/// It is smaller than Nemenyi's for more than two methods, since it is for k - 1 tests and not for
/// k (k - 1) / 2.
pub fn control_critical_difference(k: usize, n: usize, alpha: f64) -> Result<f64> {
    check(k, alpha)?;
    // The range of two normal numbers is their distance, which is √2 times a normal number's.
    Ok(of_quantile(range_quantile(alpha / (k as f64 - 1.0), 2), k, n))
}

/// CD for a quantile of the range.
fn of_quantile(range: f64, k: usize, n: usize) -> f64 {
    let k = k as f64;
    range / std::f64::consts::SQRT_2 * (k * (k + 1.0) / (6.0 * n as f64)).sqrt()
}

fn check(k: usize, alpha: f64) -> Result<()> {
    if !(0.0 < alpha && alpha < 1.0) {
        let (name, value) = ("alpha", alpha.to_string());
        return Err(Error::Setting { name, value, accepted: "between 0 and 1" });
    }
    if !(2..=MAX_METHODS).contains(&k) {
        let (name, value) = ("number of methods", k.to_string());
        return Err(Error::Setting { name, value, accepted: "from 2 to 1000" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of docs/methods.md, 11.3, which rest on q rounded to three decimals.
    #[test]
    fn critical_differences_of_the_papers_tables() {
        for (k, n, cd) in [(4, 30, 0.764), (4, 32, 0.739), (8, 32, 1.702), (8, 30, 1.758)] {
            assert!((critical_difference(k, n, 0.1).unwrap() - cd).abs() < 7e-4, "{k} {n}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for alpha in [0.0, 1.0, f64::NAN] {
            assert!(critical_difference(4, 30, alpha).is_err());
            assert!(control_critical_difference(4, 30, alpha).is_err());
        }
        assert!(critical_difference(1, 30, 0.1).is_err());
    }
}
