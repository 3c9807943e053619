//! Where to cut a numeric column, by Fayyad and Irani's minimum description length rule.
//!
//! An interval of n rows is cut where the class entropy of its two sides is least, at the midpoint
//! between two different neighbouring values, and the cut is kept if
//!
//! ```text
//! gain > (log2(m) + log2(3^c - 2) - (c H - c1 H1 - c2 H2)) / n
//! ```
//!
//! where m is the number of candidate cuts as [`CandidateCuts`] counts them, and c, c1, c2 are the
//! numbers of classes present in the interval and its two sides, with entropies H, H1, H2. Then
//! both sides are cut likewise.

use super::columns::Tally;
use super::entropy::NLogN;

/// Which places count as candidates for a cut. Naming one of m candidates costs log2(m) bits, so
/// that the more there are, the more a cut must gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateCuts {
    /// Those between two different values: WEKA's "better encoding", which feature selection turns
    /// on.
    Values,
    /// Those between any two rows, n - 1: WEKA's default, also in its NaiveBayes.
    Rows,
}

/// The cuts of a column, ascending. `tallies` are its different values, ascending, each with how
/// many rows of either class have it; rows without a value take no part.
///
/// A value belongs to the bin of as many cuts as lie strictly below it.
pub fn mdl_cuts(tallies: &[Tally], candidates: CandidateCuts) -> Vec<f64> {
    let n_rows: u32 = tallies.iter().flat_map(|tally| tally.counts).sum();
    cuts(tallies, candidates, &NLogN::up_to(n_rows as usize))
}

fn cuts(tallies: &[Tally], candidates: CandidateCuts, logs: &NLogN) -> Vec<f64> {
    let tallies: Vec<&Tally> = tallies.iter().filter(|tally| tally.counts != [0, 0]).collect();
    let starts: Vec<Pair> = starts(tallies.iter().map(|tally| Pair::new(tally.counts)));
    let n_before = |value: usize| starts[value].n();
    let mut cuts = Vec::new();
    for above in places(tallies.len(), n_before, &starts, candidates, logs) {
        cuts.push((tallies[above - 1].value + tallies[above].value) / 2.0);
    }
    cuts
}

/// A column in bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// Where one bin ends and the next begins, ascending: one less than there are bins.
    pub cuts: Vec<f64>,
    /// How many rows of either class are in each bin.
    pub counts: Vec<[u32; 2]>,
}

impl Bins {
    pub(crate) fn new(tallies: &[Tally], candidates: CandidateCuts, logs: &NLogN) -> Bins {
        let cuts = cuts(tallies, candidates, logs);
        let mut counts = vec![[0; 2]; cuts.len() + 1];
        for tally in tallies {
            let bin = &mut counts[bin(&cuts, tally.value)];
            bin.iter_mut().zip(tally.counts).for_each(|(sum, count)| *sum += count);
        }
        Bins { cuts, counts }
    }
}

/// How many cuts lie strictly below a value.
pub(crate) fn bin(cuts: &[f64], value: f64) -> usize {
    cuts.partition_point(|&cut| cut < value)
}

/// How many rows come before each value, and how many there are.
pub(crate) fn starts(counts: impl Iterator<Item = Pair>) -> Vec<Pair> {
    let sums = counts.scan(Pair::default(), |sum, pair| {
        *sum = sum.plus(pair);
        Some(*sum)
    });
    std::iter::once(Pair::default()).chain(sums).collect()
}

/// Rows of either class, side by side in one number, so that both are added at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pair(u64);

impl Pair {
    pub(crate) fn new(counts: [u32; 2]) -> Pair {
        Pair(u64::from(counts[0]) | u64::from(counts[1]) << 32)
    }

    pub(crate) fn n(self) -> u32 {
        self.counts()[0] + self.counts()[1]
    }

    pub(crate) fn counts(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    pub(crate) fn plus(self, other: Pair) -> Pair {
        Pair(self.0 + other.0)
    }

    /// The difference. Neither count of `other` may be greater, or one would borrow from the other.
    pub(crate) fn minus(self, other: Pair) -> Pair {
        Pair(self.0 - other.0)
    }
}

/// The values, ascending, below which a column is cut.
///
/// `tried` says how many rows lie below each place that may be best, from 0 to all. Places within
/// rows of one class never are (Fayyad and Irani 1992) and may be left out; they still count as
/// places, of which there is one between any two of the values that have rows here.
pub(crate) fn places(
    n_values: usize,
    n_before: impl Fn(usize) -> u32,
    tried: &[Pair],
    candidates: CandidateCuts,
    logs: &NLogN,
) -> Vec<usize> {
    // The value that has as many rows below it as the place has.
    let value_at = |place: Pair| {
        let (mut low, mut high) = (0, n_values);
        while low < high {
            let middle = usize::midpoint(low, high);
            if n_before(middle) < place.n() { low = middle + 1 } else { high = middle }
        }
        low
    };
    let mut found = Vec::new();
    let mut open = vec![(0, tried.len() - 1)];
    while let Some((start, end)) = open.pop() {
        let n_places = || match candidates {
            CandidateCuts::Values => (value_at(tried[end]) - value_at(tried[start])) as u32 - 1,
            CandidateCuts::Rows => tried[end].minus(tried[start]).n() - 1,
        };
        if let Some(at) = best_cut(tried, start, end, n_places, logs) {
            found.push(value_at(tried[at]));
            open.extend([(start, at), (at, end)]);
        }
    }
    found.sort_unstable();
    found
}

/// Where to cut the interval, if a cut is worth its description.
fn best_cut(
    tried: &[Pair],
    start: usize,
    end: usize,
    n_places: impl Fn() -> u32,
    logs: &NLogN,
) -> Option<usize> {
    let (first, last) = (tried[start], tried[end]);
    let sides = |at: Pair| (at.minus(first).counts(), last.minus(at).counts());
    let all = last.minus(first).counts();
    if all.contains(&0) {
        return None;
    }
    let n_places = n_places();
    let prior = logs.entropy(all);
    let n = f64::from(all[0] + all[1]);
    // A cut costs least if both sides are pure (H1 = H2 = 0), so that no cut pays that gains less
    // than the cost with these. The factor leaves room for rounding, here and in `bound`.
    let cheapest = (log2(f64::from(n_places)) + log2(7.0) - 2.0 * prior) / n;
    let (mut least, mut best) = (prior - cheapest * (1.0 - 1e-9), None);
    // The gain is at most d² / (l r a b ln 2), for sides of l and r rows, classes of a and b rows, and
    // d = l1 n - l b where l1 rows on the left are of the second class; because ln x ≤ x - 1. This
    // bound rules out most places without computing a logarithm.
    let [a, b] = all.map(f64::from);
    let bound = |least: f64| (prior - least) * std::f64::consts::LN_2 * a * b * (1.0 - 1e-9);
    let mut to_beat = bound(least);
    for (at, &place) in tried[..end].iter().enumerate().skip(start + 1) {
        let (left, right) = sides(place);
        let [n_left, n_right] = [left, right].map(|side| f64::from(side[0] + side[1]));
        let excess = f64::from(left[1]) * n - n_left * b;
        if excess * excess > to_beat * n_left * n_right {
            let entropy = logs.split_entropy(left, right);
            // Strictly less: of equal cuts the lowest is taken.
            if entropy < least {
                (least, best) = (entropy, Some(at));
                to_beat = bound(least);
            }
        }
    }
    let at = best?;
    let (left, right) = sides(tried[at]);
    pays(all, [left, right], n_places, logs).then_some(at)
}

/// Whether cutting `all` into `sides` at one of `n_cuts` places gains more than it costs to
/// describe.
pub(crate) fn pays(all: [u32; 2], sides: [[u32; 2]; 2], n_cuts: u32, logs: &NLogN) -> bool {
    let n_classes = |counts: [u32; 2]| counts.iter().filter(|&&count| count > 0).count() as f64;
    let [left, right] = sides;
    let prior = logs.entropy(all);
    let gain = prior - logs.split_entropy(left, right);
    let delta = log2(3f64.powf(n_classes(all)) - 2.0)
        - (n_classes(all) * prior
            - n_classes(right) * logs.entropy(right)
            - n_classes(left) * logs.entropy(left));
    gain > 0.0 && gain > (log2(f64::from(n_cuts)) + delta) / f64::from(all[0] + all[1])
}

/// Computed as WEKA does, so that the last digit is the same.
fn log2(x: f64) -> f64 {
    x.ln() / std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tallies(cells: &[(f64, [u32; 2])]) -> Vec<Tally> {
        cells.iter().map(|&(value, counts)| Tally { value, counts }).collect()
    }

    /// n = 8, H = 1, and the cut at 4.5 leaves both sides pure: gain 1. Seven places to cut:
    /// (log2 7 + log2(3² - 2) - (2 · 1 - 0 - 0)) / 8 = (2.807 + 2.807 - 2) / 8 = 0.452 < 1.
    #[test]
    fn eight_rows_in_two_halves_are_cut_in_the_middle() {
        let cells: Vec<(f64, [u32; 2])> =
            (1..=8).map(|x| (f64::from(x), if x <= 4 { [1, 0] } else { [0, 1] })).collect();
        assert_eq!(mdl_cuts(&tallies(&cells), CandidateCuts::Values), [4.5]);
    }

    /// n = 4: (log2 3 + log2 7 - 2) / 4 = (1.585 + 2.807 - 2) / 4 = 0.598 < 1.
    /// n = 2: (log2 1 + log2 7 - 2) / 2 = (0 + 2.807 - 2) / 2 = 0.404 < 1.
    #[test]
    fn even_two_rows_are_cut_if_their_classes_differ() {
        let four = [(1.0, [1, 0]), (2.0, [1, 0]), (3.0, [0, 1]), (4.0, [0, 1])];
        assert_eq!(mdl_cuts(&tallies(&four), CandidateCuts::Values), [2.5]);
        assert_eq!(
            mdl_cuts(&tallies(&[(1.0, [1, 0]), (2.0, [0, 1])]), CandidateCuts::Values),
            [1.5]
        );
    }

    /// The places to cut count, whether or not they could be best: 5 + 5 rows at two values leave
    /// a gain of 1 - H(4, 1) = 1 - 0.722 = 0.278 and one place to cut, and cost
    /// (0 + 2.807 - (2 - 2 · 0.722 - 2 · 0.722)) / 10 = (2.807 + 0.888) / 10 = 0.369. Ten times
    /// the rows gain as much at a tenth of the cost.
    #[test]
    fn a_weak_cut_is_refused_on_few_rows_and_kept_on_many() {
        assert!(
            mdl_cuts(&tallies(&[(0.0, [4, 1]), (1.0, [1, 4])]), CandidateCuts::Values).is_empty()
        );
        assert_eq!(
            mdl_cuts(&tallies(&[(0.0, [40, 10]), (1.0, [10, 40])]), CandidateCuts::Values),
            [0.5]
        );
    }

    /// The same gain of 0.278 of 50 + 50 rows, of 99 candidates instead of one: it costs
    /// (6.629 + 2.807 + 0.888) / 100 = 0.103 and pays. Of 15 + 15 rows it costs
    /// (0 + 3.695) / 30 = 0.123 and pays among values, but among rows
    /// (4.858 + 3.695) / 30 = 0.285, more than it gains.
    #[test]
    fn a_cut_among_rows_costs_more_than_one_among_values() {
        let many = tallies(&[(0.0, [40, 10]), (1.0, [10, 40])]);
        let few = tallies(&[(0.0, [12, 3]), (1.0, [3, 12])]);
        assert_eq!(mdl_cuts(&many, CandidateCuts::Rows), [0.5]);
        assert_eq!(mdl_cuts(&few, CandidateCuts::Values), [0.5]);
        assert!(mdl_cuts(&few, CandidateCuts::Rows).is_empty());
    }

    #[test]
    fn bins_count_the_rows_between_cuts() {
        let cells = tallies(&[(1.0, [20, 0]), (2.0, [0, 20]), (3.0, [1, 19])]);
        let bins = Bins::new(&cells, CandidateCuts::Rows, &NLogN::up_to(60));
        assert_eq!(bins, Bins { cuts: vec![1.5], counts: vec![[20, 0], [1, 39]] });
    }

    #[test]
    fn one_class_one_value_or_no_rows_are_never_cut() {
        assert!(
            mdl_cuts(&tallies(&[(0.0, [9, 0]), (1.0, [9, 0])]), CandidateCuts::Values).is_empty()
        );
        assert!(mdl_cuts(&tallies(&[(0.0, [9, 9])]), CandidateCuts::Values).is_empty());
        assert!(mdl_cuts(&[], CandidateCuts::Values).is_empty());
    }

    #[test]
    fn both_sides_of_a_cut_are_cut_again() {
        let cells = [(1.0, [20, 0]), (2.0, [0, 20]), (3.0, [20, 0]), (4.0, [0, 40])];
        assert_eq!(mdl_cuts(&tallies(&cells), CandidateCuts::Values), [1.5, 2.5, 3.5]);
    }

    /// The rule as it is written above: every place is tried, and both sides are cut likewise.
    fn plain(tallies: &[Tally], candidates: CandidateCuts, logs: &NLogN) -> Vec<f64> {
        let sum = |part: &[Tally]| {
            part.iter().fold([0, 0], |[a, b], t| [a + t.counts[0], b + t.counts[1]])
        };
        let all = sum(tallies);
        let (mut least, mut best) = (logs.entropy(all), None);
        for at in 1..tallies.len() {
            let entropy = logs.split_entropy(sum(&tallies[..at]), sum(&tallies[at..]));
            if entropy < least {
                (least, best) = (entropy, Some(at));
            }
        }
        let Some(at) = best else { return Vec::new() };
        let (left, right) = tallies.split_at(at);
        let n_places = match candidates {
            CandidateCuts::Values => tallies.len() as u32 - 1,
            CandidateCuts::Rows => all[0] + all[1] - 1,
        };
        if !pays(all, [sum(left), sum(right)], n_places, logs) {
            return Vec::new();
        }
        let mut cuts = plain(left, candidates, logs);
        cuts.push((left[at - 1].value + right[0].value) / 2.0);
        cuts.extend(plain(right, candidates, logs));
        cuts
    }

    proptest! {
        #[test]
        fn passing_places_over_finds_the_same_cuts(
            counts in prop::collection::vec((0u32..4, 0u32..4, 0u32..4), 0..60)
        ) {
            let cells: Vec<Tally> = counts
                .iter()
                .enumerate()
                .map(|(at, &(a, b, pure))| {
                    let counts = match pure { 0 => [a, b], 1 => [a + 1, 0], _ => [0, b + 1] };
                    Tally { value: at as f64, counts }
                })
                .filter(|tally| tally.counts != [0, 0])
                .collect();
            let n: u32 = cells.iter().flat_map(|t| t.counts).sum();
            for candidates in [CandidateCuts::Values, CandidateCuts::Rows] {
                let plain = plain(&cells, candidates, &NLogN::up_to(n as usize));
                prop_assert_eq!(mdl_cuts(&cells, candidates), plain);
            }
        }
    }
}
