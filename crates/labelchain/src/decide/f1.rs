//! The label set of greatest expected F1.

use crate::data::LabelId;
use crate::product::vectorized;

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
///
/// Few k are looked at: those whose answers may be the best by what is known from other k.
pub fn maximize_expected_f1(label_sets: &[(f64, &[u64])], n_labels: usize) -> Vec<u64> {
    let weights = SizeWeights::of(label_sets, n_labels);
    let mut bounds = Bounds::new(&weights);
    let mut found: Vec<Answer> = Vec::new();
    let mut greatest = weights.of_empty;
    let mut next = weights.mean_size().clamp(1, weights.labels.len().max(1));
    while next <= weights.labels.len() {
        let answer = weights.answer(next);
        greatest = greatest.max(answer.expected());
        bounds.tighten(&answer);
        found.push(answer);
        // Sums of the same terms in another order differ in their last digits.
        match bounds.highest() {
            Some((k, bound)) if bound >= greatest - 3.0 * ROUNDING => next = k,
            _ => break,
        }
    }
    found.sort_unstable_by_key(|answer| answer.k);
    let (mut best, mut greatest) = (&[][..], weights.of_empty);
    for answer in &found {
        if answer.expected() > greatest + ROUNDING {
            (best, greatest) = (&answer.ranked[..answer.k], answer.expected());
        }
    }
    let mut bits = vec![0; n_labels.div_ceil(64)];
    for &place in best {
        let LabelId(label) = weights.labels[place as usize];
        bits[label / 64] |= 1 << (label % 64);
    }
    bits
}

/// What sums of the same terms in another order differ by at most.
const ROUNDING: f64 = 1e-12;

/// The weights of label sets. Only the size of a set matters to Δ, so weights of one size are added up.
struct SizeWeights {
    /// The labels that are in some set, ascending; the others add nothing.
    labels: Vec<LabelId>,
    /// The sizes of the sets that are not empty, ascending.
    sizes: Vec<u32>,
    /// For each of these sizes, and then for each label, the weight of the sets that contain it. Labels
    /// stand side by side, so that wide instructions add them up.
    by_size: Vec<f64>,
    /// The weight of the empty set.
    of_empty: f64,
    /// Σ w(y) |y|.
    mean_size: f64,
}

/// The labels of largest Δ for one k.
struct Answer {
    k: usize,
    /// All labels, by their places, from the largest Δ to the smallest.
    ranked: Vec<u32>,
    /// The sum of the first Δ of this ranking, from none to all of them.
    sums: Vec<f64>,
}

impl Answer {
    /// The expected F1 of answering the first k labels.
    fn expected(&self) -> f64 {
        self.sums[self.k]
    }
}

impl SizeWeights {
    fn of(label_sets: &[(f64, &[u64])], n_labels: usize) -> SizeWeights {
        let mut in_any = vec![0; n_labels.div_ceil(64)];
        for (_, set) in label_sets {
            in_any.iter_mut().zip(*set).for_each(|(any, word)| *any |= word);
        }
        let mut labels: Vec<LabelId> = Vec::new();
        for_each_member(&in_any, |label| labels.push(LabelId(label)));
        labels.retain(|label| label.0 < n_labels);
        let mut place_of = vec![u32::MAX; n_labels];
        (0..).zip(&labels).for_each(|(place, label)| place_of[label.0] = place);
        let (mut of_empty, mut mean_size) = (0.0, 0.0);
        let size = |set: &[u64]| set.iter().map(|word| word.count_ones()).sum::<u32>();
        let of_set: Vec<u32> = label_sets.iter().map(|(_, set)| size(set)).collect();
        let mut sizes: Vec<u32> = of_set.iter().copied().filter(|&size| size > 0).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut by_size = vec![0.0; sizes.len() * labels.len()];
        for ((weight, set), size) in label_sets.iter().zip(of_set) {
            mean_size += weight * f64::from(size);
            if size == 0 {
                of_empty += weight;
                continue;
            }
            let at = sizes.partition_point(|&other| other < size) * labels.len();
            let of_size = &mut by_size[at..at + labels.len()];
            for_each_member(set, |label| {
                let place = place_of.get(label).map_or(labels.len(), |&place| place as usize);
                if let Some(sum) = of_size.get_mut(place) {
                    *sum += weight;
                }
            });
        }
        SizeWeights { labels, sizes, by_size, of_empty, mean_size }
    }

    fn mean_size(&self) -> usize {
        self.mean_size.round() as usize
    }

    /// Ranks the labels by Δ(·, k).
    fn answer(&self, k: usize) -> Answer {
        let n = self.labels.len();
        let mut deltas = vec![0.0; n];
        vectorized(
            #[inline(always)]
            || {
                for (&size, weights) in self.sizes.iter().zip(self.by_size.chunks_exact(n.max(1))) {
                    let factor = 2.0 / (size as usize + k) as f64;
                    for (delta, weight) in deltas.iter_mut().zip(weights) {
                        *delta += weight * factor;
                    }
                }
            },
        );
        // No Δ is negative, so their bit patterns are in the order of the numbers.
        let mut keys: Vec<(u64, u32)> =
            deltas.iter().zip(0..).map(|(delta, place)| (!delta.to_bits(), place)).collect();
        keys.sort_unstable();
        let ranked: Vec<u32> = keys.into_iter().map(|(_, place)| place).collect();
        let mut sums = Vec::with_capacity(n + 1);
        let mut sum = 0.0;
        sums.push(sum);
        for &place in &ranked {
            sum += deltas[place as usize];
            sums.push(sum);
        }
        Answer { k, ranked, sums }
    }
}

/// Visits the labels of a set.
#[inline(always)]
fn for_each_member(set: &[u64], mut visit: impl FnMut(usize)) {
    for (at, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            visit(64 * at + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// For each k that was not looked at yet, a bound on the expected F1 of its best answer; 0 for the others.
///
/// Let S(m, k) be the sum of the k largest Δ(·, m), so that the best answer of k labels has S(k, k).
/// 2 / (s + k) is convex in k. Where k lies between a and b, as share λ of the way, Δ(i, k) is therefore at most
/// (1 - λ) Δ(i, a) + λ Δ(i, b), and S(k, k) at most (1 - λ) S(a, k) + λ S(b, k). Beyond all k looked at, with s
/// the largest size of a set for larger k and the smallest for smaller ones,
/// Δ(i, k) is at most Δ(i, m) (s + m) / (s + k).
struct Bounds {
    smallest: f64,
    largest: f64,
    /// From k = 1 on.
    of: Vec<f64>,
    /// The k that were looked at, ascending, and S(k, ·).
    looked: Vec<(usize, Vec<f64>)>,
}

impl Bounds {
    fn new(weights: &SizeWeights) -> Bounds {
        let size = |size: Option<&u32>| f64::from(size.copied().unwrap_or(1));
        let (smallest, largest) = (size(weights.sizes.first()), size(weights.sizes.last()));
        let of = vec![f64::INFINITY; weights.labels.len()];
        Bounds { smallest, largest, of, looked: Vec::new() }
    }

    /// Takes into account what was found for one k.
    fn tighten(&mut self, answer: &Answer) {
        let n_labels = self.of.len();
        let at = self.looked.partition_point(|(k, _)| *k < answer.k);
        let (m, sums) = (answer.k, &answer.sums);
        self.of[m - 1] = 0.0;
        let (before, after) = self.looked.split_at(at);
        let first = before.last().map_or(1, |(k, _)| k + 1);
        let last = after.first().map_or(n_labels, |(k, _)| k - 1);
        for k in (first..=last).filter(|&k| k != m) {
            let bound = match (k < m, before.last(), after.first()) {
                (true, Some((a, of_a)), _) => {
                    let share = (k - a) as f64 / (m - a) as f64;
                    (1.0 - share) * of_a[k] + share * sums[k]
                }
                (false, _, Some((b, of_b))) => {
                    let share = (k - m) as f64 / (b - m) as f64;
                    (1.0 - share) * sums[k] + share * of_b[k]
                }
                (true, None, _) => {
                    sums[k] * (self.smallest + m as f64) / (self.smallest + k as f64)
                }
                (false, _, None) => sums[k] * (self.largest + m as f64) / (self.largest + k as f64),
            };
            let known = &mut self.of[k - 1];
            *known = known.min(bound);
        }
        self.looked.insert(at, (m, answer.sums.clone()));
    }

    /// The k of the highest bound, and the bound.
    fn highest(&self) -> Option<(usize, f64)> {
        let bounds = self.of.iter().copied().zip(1..);
        let highest = bounds.max_by(|a, b| a.0.total_cmp(&b.0));
        highest.filter(|(bound, _)| *bound > 0.0).map(|(bound, k)| (k, bound))
    }
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
    fn the_sizes_that_are_not_looked_at_are_no_better() {
        for draw in 0..40 {
            let mut rng = Seed::new(11).child("draw", draw).rng();
            let n_labels = 40 + rng.below(60);
            // Some labels are likely in all sets of a row, most are not.
            let shares: Vec<f64> = (0..n_labels).map(|_| rng.unit().powi(4)).collect();
            let mut drawn: Vec<(f64, Vec<u64>)> = Vec::new();
            for _ in 0..1 + rng.below(80) {
                let mut set = vec![0; n_labels.div_ceil(64)];
                for (label, &share) in shares.iter().enumerate() {
                    set[label / 64] |= u64::from(rng.chance(share)) << (label % 64);
                }
                drawn.push((rng.unit(), set));
            }
            let total: f64 = drawn.iter().map(|(weight, _)| weight).sum();
            let sets: Vec<(f64, &[u64])> =
                drawn.iter().map(|(weight, set)| (weight / total, &set[..])).collect();
            let weights = SizeWeights::of(&sets, n_labels);
            let best = (1..=weights.labels.len())
                .map(|k| weights.answer(k).expected())
                .fold(weights.of_empty, f64::max);
            let answer = maximize_expected_f1(&sets, n_labels);
            let expected: f64 = sets
                .iter()
                .map(|(weight, set)| {
                    let words = || set.iter().zip(&answer);
                    let both: u32 = words().map(|(a, b)| (a & b).count_ones()).sum();
                    let sizes: u32 = words().map(|(a, b)| a.count_ones() + b.count_ones()).sum();
                    if sizes == 0 {
                        *weight
                    } else {
                        weight * 2.0 * f64::from(both) / f64::from(sizes)
                    }
                })
                .sum();
            assert!((expected - best).abs() < 1e-10, "draw {draw}: {expected} {best}");
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
