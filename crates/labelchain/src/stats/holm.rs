//! Which of several tests are significant, given that there are several? Holm's step-down adjustment
//! (Holm 1979) keeps the probability of any false rejection below the level.

/// Adjusts the p-values of one family of m tests. The smallest is multiplied by m, the next by
/// m - 1, and so on; an adjusted value is never smaller than those before it, nor greater than 1.
///
/// ```
/// assert_eq!(labelchain::stats::holm(&[0.25, 0.125]), [0.25, 0.25]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut ascending: Vec<usize> = (0..p.len()).collect();
    ascending.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut running_max = 0.0f64;
    for (place, at) in ascending.into_iter().enumerate() {
        running_max = running_max.max(p[at] * (p.len() - place) as f64).min(1.0);
        adjusted[at] = running_max;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn multipliers_step_down_and_values_never_do() {
        // Ascending 0.01, 0.02, 0.03, 0.5: 4 × 0.01, 3 × 0.02, 2 × 0.03 = 0.06 too, 1 × 0.5.
        let adjusted = holm(&[0.03, 0.01, 0.5, 0.02]);
        for (found, expected) in adjusted.iter().zip([0.06, 0.04, 0.5, 0.06]) {
            assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn order_and_lower_bounds_are_kept(p in prop::collection::vec(0.0..1.0f64, 0..20)) {
            let adjusted = holm(&p);
            for a in 0..p.len() {
                prop_assert!(p[a] <= adjusted[a] && adjusted[a] <= 1.0);
                for b in 0..p.len() {
                    prop_assert!(p[a] > p[b] || adjusted[a] <= adjusted[b]);
                }
            }
        }
    }
}
