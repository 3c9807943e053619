//! How likely is a value at least as large? The upper tails of the normal, chi-squared and F
//! distributions, and of the range of independent normals.

use std::f64::consts::{SQRT_2, TAU};

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

/// P(Z > z) for a standard normal Z.
pub fn normal_tail(z: f64) -> f64 {
    libm::erfc(z / SQRT_2) / 2.0
}

/// P(X > x) for a chi-squared X with this number of degrees of freedom.
pub fn chi_squared_tail(x: f64, degrees: f64) -> f64 {
    if x > 0.0 { checked_gamma_ur(degrees / 2.0, x / 2.0).unwrap_or(f64::NAN) } else { 1.0 }
}

/// P(X > x) for an F-distributed X with `above` degrees of freedom in the numerator and `below` in
/// the denominator.
pub fn f_tail(x: f64, above: f64, below: f64) -> f64 {
    if x == f64::INFINITY {
        0.0
    } else if x > 0.0 {
        let share = below / (below + above * x);
        checked_beta_reg(below / 2.0, above / 2.0, share).unwrap_or(f64::NAN)
    } else {
        1.0
    }
}

/// P(Q > q) for the range Q, largest minus smallest, of k independent standard normals: the
/// studentized range with infinitely many degrees of freedom.
///
/// P(Q ≤ q) = k ∫ φ(z) [Φ(z) - Φ(z - q)]^(k - 1) dz: some value is the largest, at z, and the others
/// lie within q below it. The integrand is analytic and vanishes at both ends together with all its
/// derivatives. For such integrands the trapezoidal rule converges faster than any power of its
/// step; here its error is at most 1e-13 for k up to 1000.
pub fn range_tail(q: f64, k: usize) -> f64 {
    const STEP: f64 = 1.0 / 32.0;
    // The integral is cut off at z = ±9, since φ(9) is 1e-18.
    const N_STEPS: i32 = 9 * 32;
    if q <= 0.0 || k < 2 {
        return if q <= 0.0 { 1.0 } else { 0.0 };
    }
    let integrand = |z: f64| {
        // Φ(z) - Φ(z - q), always as a difference of small tails: the difference of two numbers
        // close to 1 would lose digits.
        let between = if z > q / 2.0 {
            normal_tail(z - q) - normal_tail(z)
        } else {
            normal_tail(-z) - normal_tail(q - z)
        };
        (-z * z / 2.0).exp() * between.powi(k as i32 - 1)
    };
    let sum: f64 = (-N_STEPS..=N_STEPS).map(|at| integrand(f64::from(at) * STEP)).sum();
    (1.0 - k as f64 * STEP * sum / TAU.sqrt()).clamp(0.0, 1.0)
}

/// The q that the range of k independent standard normals exceeds with probability `alpha`.
pub fn range_quantile(alpha: f64, k: usize) -> f64 {
    // Bisection from 0 to 20: the range of 100 normals exceeds 20 with probability 1e-40.
    let (mut low, mut high) = (0.0, 20.0);
    while high - low > 1e-12 {
        let middle = (low + high) / 2.0;
        if range_tail(middle, k) > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_two_normals_is_a_normal_distance() {
        // The difference of two standard normals has variance 2.
        for q in [0.5, 1.0, 3.0, 6.0] {
            assert!((range_tail(q, 2) - 2.0 * normal_tail(q / SQRT_2)).abs() < 1e-14, "{q}");
        }
    }

    #[test]
    fn a_quantile_is_exceeded_as_often_as_asked() {
        for k in [2, 4, 30, 100] {
            for alpha in [0.2, 0.1, 0.01] {
                assert!((range_tail(range_quantile(alpha, k), k) - alpha).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn tails_end_at_one_and_zero() {
        assert_eq!(chi_squared_tail(0.0, 3.0), 1.0);
        assert_eq!(f_tail(0.0, 3.0, 9.0), 1.0);
        assert_eq!(f_tail(f64::INFINITY, 3.0, 9.0), 0.0);
        assert_eq!(range_tail(0.0, 5), 1.0);
        assert_eq!(normal_tail(0.0), 0.5);
    }
}
