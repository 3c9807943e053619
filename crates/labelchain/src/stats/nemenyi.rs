//! How far apart must mean ranks be? Nemenyi's critical difference (Nemenyi 1963; Demšar 2006).

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
    if !(0.0 < alpha && alpha < 1.0) {
        let (name, value) = ("alpha", alpha.to_string());
        return Err(Error::Setting { name, value, accepted: "between 0 and 1" });
    }
    if !(2..=MAX_METHODS).contains(&k) {
        let (name, value) = ("number of methods", k.to_string());
        return Err(Error::Setting { name, value, accepted: "from 2 to 1000" });
    }
    let q = range_quantile(alpha, k) / std::f64::consts::SQRT_2;
    let k = k as f64;
    Ok(q * (k * (k + 1.0) / (6.0 * n as f64)).sqrt())
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
        }
        assert!(critical_difference(1, 30, 0.1).is_err());
    }
}
