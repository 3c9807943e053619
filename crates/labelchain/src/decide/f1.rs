//! The label set of greatest expected F1.

use crate::data::LabelId;

/// The label set that maximizes the expected F1 of a row whose label sets have the given weights, which
/// sum to 1; bits by label, label l being bit l mod 64 of word l / 64. Of equals, the smaller set.
///
/// Dembczynski and others, "An exact algorithm for F-measure maximization" (2011). The expected F1 of
/// answering h, with |h| = k, is the sum over the labels i in h of
///
/// Δ(i, k) = Σ over label sets y that contain i of 2 w(y) / (|y| + k)
///
/// so that for each k the best answer takes the k labels of largest Δ, of equals the lower label. The
/// empty answer has F1 1 where no label is relevant, and 0 elsewhere.
pub fn maximize_expected_f1(label_sets: &[(f64, &[u64])], n_labels: usize) -> Vec<u64> {
    let mut best = vec![0; n_labels.div_ceil(64)];
    let sizes: Vec<usize> = label_sets.iter().map(|(_, set)| size(set)).collect();
    // A label outside of every set adds nothing, and has no place in the tables below.
    let mut labels: Vec<LabelId> = Vec::new();
    let mut place_of = vec![usize::MAX; n_labels];
    let known = |set| members(set).take_while(|label| label.0 < n_labels);
    for label in label_sets.iter().flat_map(|(_, set)| known(set)) {
        let place = &mut place_of[label.0];
        if *place == usize::MAX {
            *place = labels.len();
            labels.push(label);
        }
    }
    // Only the size of a set matters to Δ, so weights of one size are added up: of all sets, and for each
    // label of those that contain it. Labels stand side by side, so that wide instructions add them up.
    let mut distinct = sizes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut weight_of_size = vec![0.0; distinct.len()];
    let mut weights = vec![0.0; distinct.len() * labels.len()];
    for ((weight, set), size) in label_sets.iter().zip(&sizes) {
        let at = distinct.partition_point(|other| other < size);
        weight_of_size[at] += weight;
        let of_size = &mut weights[at * labels.len()..(at + 1) * labels.len()];
        known(set).for_each(|label| of_size[place_of[label.0]] += weight);
    }
    let largest = distinct.last().copied().unwrap_or(0);
    let mut greatest = if distinct.first() == Some(&0) { weight_of_size[0] } else { 0.0 };
    let mut terms: Vec<(f64, LabelId)> = Vec::with_capacity(labels.len());
    let mut deltas = vec![0.0; labels.len()];
    for k in 1..=labels.len() {
        let sized = || distinct.iter().zip(&weight_of_size);
        // No answer of k labels has more than min(k, |y|) of them right. Beyond the largest set this
        // bound falls with k.
        let bound: f64 = sized()
            .map(|(&size, weight)| 2.0 * weight * k.min(size) as f64 / (k + size) as f64)
            .sum();
        if largest <= k && bound <= greatest {
            break;
        }
        deltas.fill(0.0);
        for (size, weights) in distinct.iter().zip(weights.chunks_exact(labels.len())) {
            let factor = 2.0 / (size + k) as f64;
            deltas.iter_mut().zip(weights).for_each(|(delta, weight)| *delta += weight * factor);
        }
        terms.clear();
        terms.extend(deltas.iter().copied().zip(labels.iter().copied()));
        let first =
            |a: &(f64, LabelId), b: &(f64, LabelId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if k < terms.len() {
            terms.select_nth_unstable_by(k - 1, first);
        }
        let expected: f64 = terms[..k].iter().map(|(delta, _)| delta).sum();
        // Sums of the same terms in another order differ in their last digits.
        if expected > greatest + 1e-12 {
            greatest = expected;
            best.fill(0);
            terms[..k].iter().for_each(|(_, label)| best[label.0 / 64] |= 1 << (label.0 % 64));
        }
    }
    best
}

fn size(set: &[u64]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

/// The labels of a set.
fn members(set: &[u64]) -> impl Iterator<Item = LabelId> + '_ {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(LabelId(at * 64 + bit))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// F1 of an answer, where two empty sets agree.
    fn f1(truth: u64, answer: u64) -> f64 {
        let n = (truth.count_ones() + answer.count_ones()) as f64;
        if n == 0.0 { 1.0 } else { 2.0 * f64::from((truth & answer).count_ones()) / n }
    }

    fn expected(label_sets: &[(f64, u64)], answer: u64) -> f64 {
        label_sets.iter().map(|&(weight, truth)| weight * f1(truth, answer)).sum()
    }

    #[test]
    fn no_answer_of_all_is_better() {
        for draw in 0..300 {
            let mut rng = Seed::new(7).child("draw", draw).rng();
            let n_labels = 1 + rng.below(10);
            let n_sets = 1 + rng.below(12);
            let share = [0.1, 0.3, 0.6][rng.below(3)];
            let mut sets: Vec<(f64, u64)> = (0..n_sets)
                .map(|_| {
                    let set = (0..n_labels).map(|at| u64::from(rng.chance(share)) << at).sum();
                    (rng.unit(), set)
                })
                .collect();
            let total: f64 = sets.iter().map(|(weight, _)| weight).sum();
            sets.iter_mut().for_each(|(weight, _)| *weight /= total);
            let words: Vec<[u64; 1]> = sets.iter().map(|&(_, set)| [set]).collect();
            let given: Vec<(f64, &[u64])> =
                sets.iter().zip(&words).map(|((weight, _), set)| (*weight, &set[..])).collect();
            let answer = maximize_expected_f1(&given, n_labels)[0];
            let best = (0..1u64 << n_labels).map(|of| expected(&sets, of)).fold(0.0, f64::max);
            assert!((expected(&sets, answer) - best).abs() < 1e-12, "{sets:?}: {answer:b}");
        }
    }

    #[test]
    fn an_answer_may_be_larger_than_every_set() {
        // {0} and {1} by halves: one of them has an expected F1 of 1/2, both have 2/3.
        let sets: [(f64, &[u64]); 2] = [(0.5, &[1]), (0.5, &[2])];
        assert_eq!(maximize_expected_f1(&sets, 2), [3]);
    }

    #[test]
    fn nothing_known_gives_nothing() {
        assert_eq!(maximize_expected_f1(&[], 70), [0, 0]);
        assert_eq!(maximize_expected_f1(&[(1.0, &[])], 0), [0u64; 0]);
        assert_eq!(maximize_expected_f1(&[(1.0, &[0])], 3), [0]);
    }
}
