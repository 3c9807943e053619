//! Thresholds on scores or probabilities, learned from rows that members have not seen.

use serde::{Deserialize, Serialize};

use crate::seed::Seed;

/// The search for the threshold of greatest F1 among rows that come by descending score: the label is given
/// where the score is at least the threshold. It lies half-way between two scores, and of equals it is the
/// higher; below all scores it is the least.
#[derive(Clone, Copy)]
struct BestF1 {
    n_relevant: usize,
    n_given: usize,
    n_right: usize,
    /// How many were right at the last threshold that was looked at. A lower threshold that is right no
    /// more often has a lower F1.
    n_right_before: usize,
    last: f64,
    greatest: f64,
    threshold: f64,
}

impl BestF1 {
    /// Among rows of which so many are relevant.
    fn new(n_relevant: usize) -> BestF1 {
        let (greatest, threshold) = (0.0, f64::INFINITY);
        let (n_given, n_right, n_right_before) = (0, 0, 0);
        BestF1 { n_relevant, n_given, n_right, n_right_before, last: 0.0, greatest, threshold }
    }

    /// The next row.
    fn push(&mut self, (score, relevant): (f64, bool)) {
        if score != self.last {
            self.look(score);
        }
        self.n_given += 1;
        self.n_right += usize::from(relevant);
        self.last = score;
    }

    /// Looks at the threshold between the rows so far and those from this score on.
    fn look(&mut self, below: f64) {
        if self.n_right > self.n_right_before {
            let f1 = 2.0 * self.n_right as f64 / (self.n_given + self.n_relevant) as f64;
            if f1 > self.greatest {
                (self.greatest, self.threshold) = (f1, (self.last + below) / 2.0);
            }
            self.n_right_before = self.n_right;
        }
    }

    /// The threshold; none where no row is relevant.
    fn found(mut self) -> Option<f64> {
        self.look(self.last);
        (self.n_relevant > 0).then_some(self.threshold)
    }
}

fn best_f1(descending: &[(f64, bool)]) -> Option<f64> {
    let mut best = BestF1::new(descending.iter().filter(|(_, relevant)| *relevant).count());
    descending.iter().for_each(|&row| best.push(row));
    best.found()
}

/// The one threshold of greatest F1 for all cells, which come label by label, by descending score.
pub(super) fn micro_f1(mut cells: Vec<(f64, bool)>) -> f64 {
    // This sort finds what is sorted already and merges it.
    cells.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    best_f1(&cells).unwrap_or(0.5)
}

/// Half samples whose best thresholds are averaged.
const N_HALVES: usize = 10;
/// k: how many relevant rows the threshold of all labels counts as.
const SHRINKAGE: f64 = 3.0;

/// Which rows are in each of ten random halves.
pub(super) struct Halves(Vec<u16>);

impl Halves {
    /// Of so many rows.
    pub(super) fn draw(n_rows: usize, seed: Seed) -> Halves {
        let mut of_row = vec![0; n_rows];
        let mut rows: Vec<usize> = (0..n_rows).collect();
        for half in 0..N_HALVES {
            seed.child("half", half).rng().shuffle(&mut rows);
            rows[..n_rows.div_ceil(2)].iter().for_each(|&row| of_row[row] |= 1 << half);
        }
        Halves(of_row)
    }

    /// The halves that a row is in.
    fn of(&self, row: usize) -> impl Iterator<Item = usize> {
        let mut rest = self.0[row];
        std::iter::from_fn(move || {
            let half = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(half)
        })
    }
}

/// A threshold for the F1 of one label: the mean of the best thresholds of ten half samples, because the
/// best threshold of one sample varies much, shrunk towards the threshold t₀ of all labels as if that had
/// been seen on k relevant rows: (n t + k t₀) / (n + k), where n rows are relevant. So a label without
/// relevant rows has t₀. `descending` has the row of each score at the same place in `rows`.
pub(super) fn macro_f1(
    descending: &[(f64, bool)],
    rows: &[usize],
    halves: &Halves,
    of_all_labels: f64,
) -> f64 {
    let mut relevant_in_half = [0; N_HALVES];
    let mut n_relevant = 0.0;
    for (_, &row) in descending.iter().zip(rows).filter(|((_, relevant), _)| *relevant) {
        n_relevant += 1.0;
        halves.of(row).for_each(|half| relevant_in_half[half] += 1);
    }
    let mut best = relevant_in_half.map(BestF1::new);
    for (&cell, &row) in descending.iter().zip(rows) {
        halves.of(row).for_each(|half| best[half].push(cell));
    }
    let found: Vec<f64> = best.into_iter().filter_map(BestF1::found).collect();
    if found.is_empty() {
        return of_all_labels;
    }
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    (n_relevant * mean + SHRINKAGE * of_all_labels) / (n_relevant + SHRINKAGE)
}

/// What a threshold on the probability of a label does, counted on rows that members have not seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// The label is given where its probability is at least this.
    pub threshold: f64,
    /// How many rows it is given to.
    pub n_given: u32,
    /// How many of these it is relevant to.
    pub n_right: u32,
}

/// Points kept for each label.
const N_POINTS: usize = 128;

/// What thresholds do, from the highest to the lowest: one below each probability of a relevant row and one
/// below all, thinned so that each gives the label to at least a few per cent more rows than the one before.
pub(super) fn operating_points(descending: &[(f64, bool)]) -> Vec<OperatingPoint> {
    let growth = (descending.len().max(2) as f64).powf(1.0 / (N_POINTS - 1) as f64);
    let mut points: Vec<OperatingPoint> = Vec::new();
    let (mut n_given, mut n_right) = (0u32, 0u32);
    let mut next = 1.0;
    for (at, &(p, relevant)) in descending.iter().enumerate() {
        n_given += 1;
        n_right += u32::from(relevant);
        let below = descending.get(at + 1).map(|(below, _)| *below);
        // A threshold that is lower, and right no more often, is of no use.
        let is_useful = n_right > points.last().map_or(0, |before| before.n_right);
        if below == Some(p) || (below.is_some() && (!is_useful || f64::from(n_given) < next)) {
            continue;
        }
        let threshold = below.map_or(0.0, |below| (p + below) / 2.0);
        points.push(OperatingPoint { threshold, n_given, n_right });
        next = (f64::from(n_given) * growth).max(f64::from(n_given) + 1.0);
    }
    points
}

/// One-sided confidence with which a share must be reached: 90 %.
const Z: f64 = 1.281_551_565_544_600_4;

/// Wilson's lower bound for a share of which so many in so many were counted.
fn lower_bound(n_right: u32, n: u32) -> f64 {
    let (right, n) = (f64::from(n_right), f64::from(n));
    if n == 0.0 {
        return 0.0;
    }
    let share = right / n;
    let z2 = Z * Z;
    let center = share + z2 / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    (center - spread) / (1.0 + z2 / n)
}

/// The least threshold at which the precision is at least so large, with confidence; none where there is
/// no such threshold.
pub(super) fn reaching_precision(points: &[OperatingPoint], precision: f64) -> Option<f64> {
    let reaches = |of: &&OperatingPoint| lower_bound(of.n_right, of.n_given) >= precision;
    points.iter().rev().find(reaches).map(|point| point.threshold)
}

/// The greatest threshold at which the recall is at least so large, with confidence. The label is given to
/// every row where relevant rows are too few to say. None where no row is relevant.
pub(super) fn reaching_recall(points: &[OperatingPoint], recall: f64) -> Option<f64> {
    let n_relevant = points.last().map(|all| all.n_right).filter(|&n| n > 0)?;
    let reaches = |of: &&OperatingPoint| lower_bound(of.n_right, n_relevant) >= recall;
    Some(points.iter().find(reaches).map_or(0.0, |point| point.threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descending(seed: u64, n: usize, levels: usize) -> Vec<(f64, bool)> {
        let mut rng = Seed::new(seed).rng();
        let mut rows: Vec<(f64, bool)> = (0..n)
            .map(|_| {
                let p = rng.below(levels) as f64 / levels as f64;
                (p, rng.chance(p))
            })
            .collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        rows
    }

    fn counts(rows: &[(f64, bool)], threshold: f64) -> (usize, usize) {
        let given = rows.iter().filter(|(p, _)| *p >= threshold);
        (given.clone().count(), given.filter(|(_, relevant)| *relevant).count())
    }

    #[test]
    fn the_best_threshold_is_that_of_a_search_over_all() {
        for seed in 0..50 {
            let rows = descending(seed, 60, 1 + seed as usize);
            let n_relevant = counts(&rows, 0.0).1;
            let f1 = |threshold| {
                let (given, right) = counts(&rows, threshold);
                2.0 * right as f64 / (given + n_relevant).max(1) as f64
            };
            let all = rows.iter().map(|(p, _)| f1(*p)).fold(0.0, f64::max);
            match best_f1(&rows) {
                Some(threshold) => assert_eq!(f1(threshold), all),
                None => assert_eq!(n_relevant, 0),
            }
        }
    }

    #[test]
    fn points_count_what_a_threshold_gives() {
        for (n, levels) in [(1, 1), (50, 5), (3000, 700)] {
            let rows = descending(9, n, levels);
            let points = operating_points(&rows);
            assert!(points.len() <= N_POINTS + 10);
            for point in &points {
                let (given, right) = counts(&rows, point.threshold);
                assert_eq!((given, right), (point.n_given as usize, point.n_right as usize));
            }
            assert_eq!(points.last().map(|all| all.n_given as usize), Some(n));
        }
        assert!(operating_points(&[]).is_empty());
    }

    /// statsmodels 0.15.0, `proportion_confint(18, 20, alpha=0.2, method="wilson")[0]`.
    #[test]
    fn the_bound_is_wilsons() {
        assert!((lower_bound(18, 20) - 0.7816040731078).abs() < 1e-12);
        assert_eq!(lower_bound(0, 0), 0.0);
        assert!(lower_bound(20, 20) < 1.0);
    }

    #[test]
    fn a_share_that_cannot_be_reached_has_no_threshold() {
        // Ten right in ten: the bound is 10 / (10 + z²) = .859.
        let all_right: Vec<(f64, bool)> =
            (0..10).map(|at| (1.0 - f64::from(at) / 20.0, true)).collect();
        let points = operating_points(&all_right);
        assert!(reaching_precision(&points, 0.85).is_some());
        assert_eq!(reaching_precision(&points, 0.9), None);
        assert_eq!(reaching_recall(&points, 0.9), Some(0.0));
        assert_eq!(reaching_recall(&operating_points(&[(0.4, false)]), 0.1), None);
    }

    #[test]
    fn a_label_without_relevant_rows_has_the_threshold_of_all() {
        let rows = [(0.9, false), (0.1, false)];
        let halves = Halves::draw(2, Seed::new(1));
        assert_eq!(macro_f1(&rows, &[0, 1], &halves, 0.3), 0.3);
    }
}
