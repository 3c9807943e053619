//! How probable is it that one method is better by more than a negligible amount? The Bayesian
//! signed-rank test with a region of practical equivalence (Benavoli et al. 2014, 2017).

use crate::seed::Seed;

/// The posterior probabilities of three hypotheses about two methods; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// The first method's loss is smaller, by more than the region.
    pub better: f64,
    /// The losses differ by no more than the region.
    pub equivalent: f64,
    /// The first method's loss is greater, by more than the region.
    pub worse: f64,
}

/// How many samples are drawn from the posterior: as many as the authors of the test draw.
const N_DRAWS: usize = 50_000;

/// Compares two methods by the losses of the first minus the losses of the second, one difference
/// d for each data set. Differences of up to `region` count as equivalent.
///
/// A sample of the posterior gives the data sets random weights w that add up to 1. They follow a
/// Dirichlet distribution with parameter 1 for every data set, and 1/2 for a made-up data set with
/// difference 0, which is the prior. Under these weights, the probability that the first method is
/// better is Σ w_i w_j over all pairs (i, j) with (d_i + d_j) / 2 < -region, and likewise for
/// equivalent (within ±region) and worse; a pair exactly on an edge of the region counts half on
/// either side. Each hypothesis is returned with the share of samples in which its sum is the
/// greatest of the three.
pub fn bayesian_signed_ranks(differences: &[f64], region: f64, seed: Seed) -> Posterior {
    // A missing result makes an infinite difference. It is made finite, because ∞ + (-∞) would be
    // NaN where two opposite differences should add up to 0.
    let finite = |d: &f64| d.clamp(-1e300, 1e300);
    let mut sorted: Vec<f64> = differences.iter().map(finite).chain([0.0]).collect();
    sorted.sort_by(f64::total_cmp);
    let prior = sorted.iter().position(|&d| d == 0.0).unwrap_or(0);
    let edges: Vec<Edges> = sorted.iter().map(|&d| Edges::of(&sorted, d, 2.0 * region)).collect();

    let mut rng = seed.child("bayesian signed ranks", 0).rng();
    let mut weights = vec![0.0; sorted.len()];
    let mut before = vec![0.0; sorted.len() + 1];
    let mut wins = [0usize; 3];
    for _ in 0..N_DRAWS {
        // Gamma variates divided by their sum follow a Dirichlet distribution. An exponential
        // variate is a gamma variate of shape 1; half a squared normal has shape 1/2, the prior's.
        // The division is left out: the sums are only compared with each other.
        weights.fill_with(|| -(1.0 - rng.unit()).ln());
        weights[prior] = rng.normal().powi(2) / 2.0;
        for (at, weight) in weights.iter().enumerate() {
            before[at + 1] = before[at] + weight;
        }
        let total = before[sorted.len()];
        let (mut below, mut above) = (0.0, 0.0);
        for (weight, edges) in weights.iter().zip(&edges) {
            below += weight * (before[edges.below.0] + before[edges.below.1]) / 2.0;
            above += weight * (total - (before[edges.above.0] + before[edges.above.1]) / 2.0);
        }
        let within = total * total - below - above;
        let winner = if below >= within && below >= above {
            0
        } else if within >= above {
            1
        } else {
            2
        };
        wins[winner] += 1;
    }
    let [better, equivalent, worse] = wins.map(|n| n as f64 / N_DRAWS as f64);
    Posterior { better, equivalent, worse }
}

/// For one difference d, the positions among the sorted differences at which the sum of d and the
/// other difference passes twice the lower and twice the upper edge of the region. Before the first
/// position of a pair the sum lies below the edge, from the second on above it, and between the two
/// exactly on it.
struct Edges {
    below: (usize, usize),
    above: (usize, usize),
}

impl Edges {
    fn of(sorted: &[f64], d: f64, edge: f64) -> Edges {
        let places = |edge: f64| {
            (
                sorted.partition_point(|other| d + other < edge),
                sorted.partition_point(|other| d + other <= edge),
            )
        };
        Edges { below: places(-edge), above: places(edge) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(differences: &[f64], region: f64) -> Posterior {
        bayesian_signed_ranks(differences, region, Seed::new(1))
    }

    #[test]
    fn clear_cases_are_decided() {
        let better = posterior(&[-0.3, -0.2, -0.25, -0.4, -0.1, -0.35, -0.2, -0.3], 0.01);
        assert!(better.better > 0.99, "{better:?}");
        let equal = posterior(&[0.001, -0.002, 0.0015, -0.001, 0.002, 0.0, 0.001, -0.001], 0.01);
        assert_eq!(equal, Posterior { better: 0.0, equivalent: 1.0, worse: 0.0 });
    }

    #[test]
    fn the_two_methods_can_change_places() {
        let differences = [-0.3, 0.2, -0.1, 0.05];
        let there = posterior(&differences, 0.06);
        let back = posterior(&differences.map(|d| -d), 0.06);
        // Other draws of the same posterior: 50,000 of them, deviation at most 0.0023.
        assert!((there.better - back.worse).abs() < 0.015, "{there:?} {back:?}");
        assert!((there.better + there.equivalent + there.worse - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_same_seed_gives_the_same_posterior() {
        assert_eq!(posterior(&[0.1, -0.3, 0.2], 0.01), posterior(&[0.1, -0.3, 0.2], 0.01));
    }

    #[test]
    fn missing_results_are_no_obstacle() {
        let tested = posterior(&[f64::INFINITY, f64::NEG_INFINITY, -0.1], 0.0);
        assert!(tested.better > tested.worse, "{tested:?}");
    }
}
