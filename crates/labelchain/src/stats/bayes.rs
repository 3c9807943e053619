//! How sure are we that one method is better, and by more than matters? The Bayesian signed-rank
//! test with a region of practical equivalence (Benavoli et al. 2014, 2017).

use crate::seed::Seed;

/// How much of the posterior says what; the three add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief {
    /// The first method is better, by more than the region.
    pub better: f64,
    /// They differ by no more than the region.
    pub equivalent: f64,
    /// The first method is worse, by more than the region.
    pub worse: f64,
}

/// Draws from the posterior; as many as its authors draw.
const N_DRAWS: usize = 50_000;

/// Asks losses of the first minus losses of the second. Differences up to `region` do not matter.
///
/// A draw weighs the data sets, and half a data set without a difference as prior, at random
/// (Dirichlet), and adds up the weights of all pairs of sets whose mean difference lies below,
/// within or above the region, one exactly on its edge half and half. The belief is how often each
/// of the three sums is the greatest.
pub fn bayesian_signed_ranks(differences: &[f64], region: f64, seed: Seed) -> Belief {
    // An infinite difference (a missing result) must cancel against its opposite.
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
        // Gamma variates of shape 1, and of shape 1/2 for the prior, are Dirichlet once divided by
        // their sum.
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
        let winner = match below >= within && below >= above {
            true => 0,
            false if within >= above => 1,
            false => 2,
        };
        wins[winner] += 1;
    }
    let [better, equivalent, worse] = wins.map(|n| n as f64 / N_DRAWS as f64);
    Belief { better, equivalent, worse }
}

/// For one difference, where in the sorted ones its sum with them passes the edges of the region:
/// up to the first place it lies below the edge, from the second on above it.
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

    fn belief(differences: &[f64], region: f64) -> Belief {
        bayesian_signed_ranks(differences, region, Seed::new(1))
    }

    #[test]
    fn clear_cases_are_believed() {
        let better = belief(&[-0.3, -0.2, -0.25, -0.4, -0.1, -0.35, -0.2, -0.3], 0.01);
        assert!(better.better > 0.99, "{better:?}");
        let equal = belief(&[0.001, -0.002, 0.0015, -0.001, 0.002, 0.0, 0.001, -0.001], 0.01);
        assert_eq!(equal, Belief { better: 0.0, equivalent: 1.0, worse: 0.0 });
    }

    #[test]
    fn the_two_methods_can_change_places() {
        let differences = [-0.3, 0.2, -0.1, 0.05];
        let there = belief(&differences, 0.06);
        let back = belief(&differences.map(|d| -d), 0.06);
        // Other draws of the same posterior: 50,000 of them, deviation at most 0.0023.
        assert!((there.better - back.worse).abs() < 0.015, "{there:?} {back:?}");
        assert!((there.better + there.equivalent + there.worse - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_same_seed_gives_the_same_belief() {
        assert_eq!(belief(&[0.1, -0.3, 0.2], 0.01), belief(&[0.1, -0.3, 0.2], 0.01));
    }

    #[test]
    fn missing_results_are_no_obstacle() {
        let tested = belief(&[f64::INFINITY, f64::NEG_INFINITY, -0.1], 0.0);
        assert!(tested.better > tested.worse, "{tested:?}");
    }
}
