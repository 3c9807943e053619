//! Ranks of values, 1 for the smallest. Equal values share the mean of their ranks.

/// The ranks of some values, 1 for the smallest.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// One rank per value.
    pub ranks: Vec<f64>,
    /// The sum of t³ - t over groups of t equal values; 0 without ties. The greater it is, the
    /// smaller the variance of rank statistics, and the tests correct for that.
    pub tie_term: f64,
}

/// Ranks values, none of which may be NaN.
///
/// ```
/// let ranked = labelchain::stats::ranks(&[0.3, 0.1, 0.3]);
/// assert_eq!(ranked.ranks, [2.5, 1.0, 2.5]);
/// assert_eq!(ranked.tie_term, 6.0);
/// ```
pub fn ranks(values: &[f64]) -> Ranks {
    // Values are sorted together with their indices, not looked up by index: comparing many methods
    // sorts so often that the look-ups would take noticeable time.
    let mut sorted: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    sorted.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut ranks = vec![0.0; values.len()];
    let mut tie_term = 0.0;
    let mut before = 0;
    for group in sorted.chunk_by(|(a, _), (b, _)| a == b) {
        let t = group.len() as f64;
        // The mean of before + 1, …, before + t.
        let rank = before as f64 + (t + 1.0) / 2.0;
        group.iter().for_each(|&(_, at)| ranks[at] = rank);
        tie_term += t * t * t - t;
        before += group.len();
    }
    Ranks { ranks, tie_term }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_values_share_their_mean_rank() {
        // 2 and 3 are shared by the two of value 5: (2 + 3) / 2. Ties: 2³ - 2.
        let ranked = ranks(&[5.0, -1.0, 5.0, f64::INFINITY]);
        assert_eq!(ranked, Ranks { ranks: vec![2.5, 1.0, 2.5, 4.0], tie_term: 6.0 });
        assert_eq!(ranks(&[0.0, -0.0]).ranks, [1.5, 1.5]);
        assert_eq!(ranks(&[]).ranks, [0.0; 0]);
    }

    proptest! {
        #[test]
        fn ranks_add_up_to_the_same_with_and_without_ties(values in prop::collection::vec(0..5i32, 0..30)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let k = values.len() as f64;
            prop_assert_eq!(ranks(&values).ranks.iter().sum::<f64>(), k * (k + 1.0) / 2.0);
        }
    }
}
