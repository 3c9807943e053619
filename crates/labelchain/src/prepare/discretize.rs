//! Where to cut a numeric column, by Fayyad and Irani's rule of least description length.
//!
//! An interval of n rows is cut where the class entropy of its two sides is least, at the midpoint
//! between two different neighbouring values, and the cut is kept if
//!
//! ```text
//! gain > (log2(m) + log2(3^c - 2) - (c H - c1 H1 - c2 H2)) / n
//! ```
//!
//! where m is the number of places to cut, and c, c1, c2 are the numbers of classes present in the
//! interval and its two sides, with entropies H, H1, H2. Then both sides are cut likewise. This is
//! WEKA's rule under its "better encoding", which feature selection turns on; outside of it WEKA
//! takes m = n - 1.

use super::columns::Tally;
use super::entropy::NLogN;

/// The cuts of a column, ascending. `tallies` are its different values, ascending, each with how
/// many rows of either class have it; rows without a value take no part.
///
/// A value belongs to the bin of as many cuts as lie strictly below it.
pub fn mdl_cuts(tallies: &[Tally]) -> Vec<f64> {
    let n_rows: u32 = tallies.iter().flat_map(|tally| tally.counts).sum();
    cuts(tallies.iter().copied(), &NLogN::up_to(n_rows as usize), &mut Vec::new())
}

/// Neighbouring values whose rows are all of one class, or a single value of mixed rows.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The last value of the run before, and the first of this one.
    around: [f64; 2],
    /// Rows of either class in the runs before this one.
    before: [u32; 2],
    /// Different values in the runs before this one.
    n_values_before: u32,
}

/// The same with room for runs that is used again.
pub(crate) fn cuts(
    tallies: impl ExactSizeIterator<Item = Tally>,
    logs: &NLogN,
    runs: &mut Vec<Run>,
) -> Vec<f64> {
    find_runs(tallies, runs);
    let mut cuts = Vec::new();
    // The last of `runs` only closes the one before it.
    let mut open = vec![(0, runs.len() - 1)];
    while let Some((start, end)) = open.pop() {
        if let Some(at) = best_cut(runs, start, end, logs) {
            let [below, above] = runs[at].around;
            cuts.push((below + above) / 2.0);
            open.extend([(start, at), (at, end)]);
        }
    }
    cuts.sort_unstable_by(f64::total_cmp);
    cuts
}

/// The best cut is never between rows of one class (Fayyad and Irani 1992), so such values need
/// not be tried, only counted. Nothing here branches on a class: nobody could predict it.
fn find_runs(tallies: impl ExactSizeIterator<Item = Tally>, runs: &mut Vec<Run>) {
    let mut next = Run { around: [f64::NAN; 2], before: [0; 2], n_values_before: 0 };
    runs.clear();
    runs.resize(tallies.len() + 1, next);
    let (mut n_runs, mut classes_before) = (0, 0);
    for Tally { value, counts } in tallies {
        // Bit 0 for irrelevant rows, bit 1 for relevant ones.
        let classes = u8::from(counts[0] > 0) | u8::from(counts[1] > 0) << 1;
        let is_new = (classes != 0) & ((classes != classes_before) | (classes == 3));
        next.around[1] = value;
        runs[n_runs] = next;
        n_runs += usize::from(is_new);
        next.before = [next.before[0] + counts[0], next.before[1] + counts[1]];
        next.n_values_before += u32::from(classes != 0);
        next.around[0] = if classes != 0 { value } else { next.around[0] };
        classes_before = if classes != 0 { classes } else { classes_before };
    }
    runs[n_runs] = next;
    runs.truncate(n_runs + 1);
}

/// The run before which to cut the interval, if a cut is worth its description.
fn best_cut(runs: &[Run], start: usize, end: usize, logs: &NLogN) -> Option<usize> {
    let (first, last) = (runs[start].before, runs[end].before);
    let sides = |at: &Run| {
        let left = [at.before[0] - first[0], at.before[1] - first[1]];
        (left, [last[0] - at.before[0], last[1] - at.before[1]])
    };
    let all = [last[0] - first[0], last[1] - first[1]];
    let prior = logs.entropy(all);
    let (mut least, mut best) = (prior, None);
    let mut to_beat = logs.split_sum_near(all, least);
    for (at, run) in runs[..end].iter().enumerate().skip(start + 1) {
        let (left, right) = sides(run);
        if logs.split_sum(left, right) > to_beat {
            let entropy = logs.split_entropy(left, right);
            // Strictly less: of equal cuts the lowest is taken.
            if entropy < least {
                (least, best) = (entropy, Some(at));
                to_beat = logs.split_sum_near(all, least);
            }
        }
    }
    let at = best?;
    let (left, right) = sides(&runs[at]);
    let values = runs[end].n_values_before - runs[start].n_values_before;
    pays(all, [left, right], values - 1, logs).then_some(at)
}

/// Whether cutting `all` into `sides` at one of `n_cuts` places gains more than it costs to say.
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

/// As WEKA takes it, so that the last digit is the same.
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
        assert_eq!(mdl_cuts(&tallies(&cells)), [4.5]);
    }

    /// n = 4: (log2 3 + log2 7 - 2) / 4 = (1.585 + 2.807 - 2) / 4 = 0.598 < 1.
    /// n = 2: (log2 1 + log2 7 - 2) / 2 = (0 + 2.807 - 2) / 2 = 0.404 < 1.
    #[test]
    fn even_two_rows_are_cut_if_their_classes_differ() {
        let four = [(1.0, [1, 0]), (2.0, [1, 0]), (3.0, [0, 1]), (4.0, [0, 1])];
        assert_eq!(mdl_cuts(&tallies(&four)), [2.5]);
        assert_eq!(mdl_cuts(&tallies(&[(1.0, [1, 0]), (2.0, [0, 1])])), [1.5]);
    }

    /// The places to cut count, whether or not they could be best: 5 + 5 rows at two values leave
    /// a gain of 1 - H(4, 1) = 1 - 0.722 = 0.278 and one place to cut, and cost
    /// (0 + 2.807 - (2 - 2 · 0.722 - 2 · 0.722)) / 10 = (2.807 + 0.888) / 10 = 0.369. Ten times
    /// the rows gain as much at a tenth of the cost.
    #[test]
    fn a_weak_cut_is_refused_on_few_rows_and_kept_on_many() {
        assert!(mdl_cuts(&tallies(&[(0.0, [4, 1]), (1.0, [1, 4])])).is_empty());
        assert_eq!(mdl_cuts(&tallies(&[(0.0, [40, 10]), (1.0, [10, 40])])), [0.5]);
    }

    #[test]
    fn one_class_one_value_or_no_rows_are_never_cut() {
        assert!(mdl_cuts(&tallies(&[(0.0, [9, 0]), (1.0, [9, 0])])).is_empty());
        assert!(mdl_cuts(&tallies(&[(0.0, [9, 9])])).is_empty());
        assert!(mdl_cuts(&[]).is_empty());
    }

    #[test]
    fn both_sides_of_a_cut_are_cut_again() {
        let cells = [(1.0, [20, 0]), (2.0, [0, 20]), (3.0, [20, 0]), (4.0, [0, 40])];
        assert_eq!(mdl_cuts(&tallies(&cells)), [1.5, 2.5, 3.5]);
    }

    /// The rule as it is written above: every place is tried, and both sides are cut likewise.
    fn plain(tallies: &[Tally], logs: &NLogN) -> Vec<f64> {
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
        if !pays(all, [sum(left), sum(right)], tallies.len() as u32 - 1, logs) {
            return Vec::new();
        }
        let mut cuts = plain(left, logs);
        cuts.push((left[at - 1].value + right[0].value) / 2.0);
        cuts.extend(plain(right, logs));
        cuts
    }

    proptest! {
        #[test]
        fn trying_only_the_borders_of_classes_finds_the_same_cuts(
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
            prop_assert_eq!(mdl_cuts(&cells), plain(&cells, &NLogN::up_to(n as usize)));
        }
    }
}
