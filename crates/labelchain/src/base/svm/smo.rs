//! Sequential minimal optimization: the weights of a support vector machine, two at a time.
//!
//! A row t of sign y = ±1 has a weight w between 0 and C y, the weights add up to 0, and the
//! objective ½ wᵀK w - yᵀw is to be minimized. F = y - K w is its negative gradient, called the
//! slopes. The set *up* holds the rows whose weights may grow, *low* those whose weights may
//! shrink; at the optimum no F of up is above an F of low. So the pair to change is i of up with
//! the greatest F, and j of low for which moving weight from j to i lowers the objective most, by
//! ½ (F_i - F_j)² / (K_ii + K_jj - 2 K_ij) (Fan, Chen, Lin 2005, as in LIBSVM). The optimization
//! ends when the greatest F of up is less than [`TOLERANCE`] above the least F of low.
//!
//! Every step passes over all rows, so the passes work on groups of [`LANES`] rows, which the
//! compiler turns into SIMD code: membership of up and low is a mask of 0 or ±∞ that is added to F,
//! and maxima are found group by group.

use super::kernel::{KernelRows, LANES, padded};
use crate::product::vectorized;
use crate::progress::Cancel;

/// How far the conditions of the optimum may be missed.
pub(super) const TOLERANCE: f64 = 1e-3;

/// The least K_ii + K_jj - 2 K_ij that is divided by: it is 0 for equal rows, and rounding may make
/// it negative.
const MIN_CURVATURE: f64 = 1e-12;

/// Steps between two attempts to shrink the problem.
const SHRINK_INTERVAL: u64 = 1000;

/// Weights on their way to the optimum. From the optimum for one C it can go on to that for a
/// larger C.
pub(super) struct Solver<'a> {
    rows: KernelRows<'a>,
    /// y of all rows.
    signs: Vec<f64>,
    /// K_tt, the same for every row.
    diagonal: f64,
    cost: f64,
    /// w of the active rows.
    weights: Vec<f64>,
    /// F of the active rows, padded, as are the two masks.
    slopes: Vec<f64>,
    /// 0 where the weight may grow, else -∞: F plus the mask is F in up and -∞ elsewhere.
    up: Vec<f64>,
    /// 0 where the weight may shrink, else ∞.
    low: Vec<f64>,
    /// w of all rows; that of an active row may be out of date.
    all_weights: Vec<f64>,
}

/// The optimum, or what was reached of it.
pub(super) struct Solution {
    /// By row; those of relevant rows are positive.
    pub(super) weights: Vec<f64>,
    /// b in the decision value Σ w_v k(x, v) + b.
    pub(super) bias: f64,
    /// Whether it is within the tolerance.
    pub(super) converged: bool,
}

impl<'a> Solver<'a> {
    /// Starts with all weights 0.
    pub(super) fn new(rows: KernelRows<'a>, relevant: &[bool], diagonal: f64) -> Solver<'a> {
        // Which class is positive decides only the path to the optimum; this is scikit-learn's
        // choice.
        let signs: Vec<f64> = relevant.iter().map(|&is| if is { -1.0 } else { 1.0 }).collect();
        let none = vec![0.0; signs.len()];
        let mut solver = Solver {
            rows,
            diagonal,
            cost: 0.0,
            weights: none.clone(),
            slopes: signs.clone(),
            up: none.clone(),
            low: none.clone(),
            all_weights: none,
            signs,
        };
        solver.pad();
        solver
    }

    /// Pads the last group with rows that are neither in up nor in low.
    fn pad(&mut self) {
        let n = padded(self.weights.len());
        self.slopes.resize(n, 0.0);
        self.up.resize(n, f64::NEG_INFINITY);
        self.low.resize(n, f64::INFINITY);
    }

    /// Goes on to the optimum for a C no smaller than before, in at most so many steps.
    pub(super) fn solve(&mut self, cost: f64, max_steps: u64, cancel: &Cancel) -> Solution {
        self.rescale(cost);
        let shrink_interval = SHRINK_INTERVAL.min(self.signs.len() as u64);
        let mut first = vectorized(
            #[inline(always)]
            || argmax_of_up(&self.slopes, &self.up),
        );
        let (mut n_steps, mut converged) = (0, false);
        while n_steps < max_steps && !converged {
            // Cancelled work is thrown away by whoever asked for it, so any weights will do.
            if n_steps % 256 == 0 && cancel.is_cancelled() {
                break;
            }
            let Some((i, j)) = first.and_then(|i| self.select_pair(i)) else {
                // The optimum of the active rows is that of all rows only if all are active.
                converged = self.rows.active().len() == self.signs.len();
                if !converged {
                    self.unshrink();
                    first = argmax_of_up(&self.slopes, &self.up);
                }
                continue;
            };
            n_steps += 1;
            first = self.step(i, j);
            if n_steps % shrink_interval == 0 && self.shrink() {
                first = argmax_of_up(&self.slopes, &self.up);
            }
        }
        if self.rows.active().len() < self.signs.len() {
            self.unshrink();
        }
        let weights = self.weights.iter().map(|weight| 0.0 - weight).collect();
        Solution { weights, bias: -self.bias(), converged }
    }

    /// The row i whose weight grows and the row j whose weight shrinks for it; none at the optimum.
    fn select_pair(&mut self, i: usize) -> Option<(usize, usize)> {
        self.rows.load(i);
        let (slope, row) = (self.slopes[i], self.rows.get(i));
        let j = vectorized(
            #[inline(always)]
            || best_partner(slope, &self.slopes, &self.low, row, self.diagonal),
        )?;
        Some((i, j))
    }

    /// Sets a new C and multiplies all weights by the factor from 1 on that lowers the objective
    /// most within the new bounds. For weights s w the objective is ½ s² wᵀK w - s yᵀw, which is
    /// least at s = yᵀw / wᵀK w, and wᵀK w = wᵀ(y - F).
    fn rescale(&mut self, cost: f64) {
        let terms = self.weights.iter().zip(&self.signs).zip(&self.slopes);
        let (mut linear, mut quadratic, mut largest) = (0.0, 0.0, 0.0f64);
        for ((weight, sign), slope) in terms {
            linear += weight * sign;
            quadratic += weight * (sign - slope);
            largest = largest.max(weight.abs());
        }
        let scale =
            if quadratic > 0.0 { (linear / quadratic).min(cost / largest).max(1.0) } else { 1.0 };
        self.cost = cost;
        for at in 0..self.weights.len() {
            self.weights[at] *= scale;
            self.slopes[at] = self.signs[at] - scale * (self.signs[at] - self.slopes[at]);
            if (self.weights[at].abs() - cost).abs() < 1e-12 * cost {
                self.weights[at] = cost * self.signs[at];
            }
            self.update_masks(at);
        }
    }

    /// Notes in the masks whether a weight may grow and shrink.
    fn update_masks(&mut self, at: usize) {
        let (least, greatest) = self.bounds(at);
        self.up[at] = if self.weights[at] < greatest { 0.0 } else { f64::NEG_INFINITY };
        self.low[at] = if self.weights[at] > least { 0.0 } else { f64::INFINITY };
    }

    /// The least and the greatest weight of an active row.
    fn bounds(&self, at: usize) -> (f64, f64) {
        if self.signs[self.rows.active()[at]] > 0.0 { (0.0, self.cost) } else { (-self.cost, 0.0) }
    }

    /// Moves weight from j to i, up to the optimum of the two or the first bound, and returns the
    /// next i.
    fn step(&mut self, i: usize, j: usize) -> Option<usize> {
        self.rows.load(j);
        let kernel_value = f64::from(self.rows.get(i)[j]);
        let curvature = (2.0 * self.diagonal - 2.0 * kernel_value).max(MIN_CURVATURE);
        let ((_, greatest), (least, _)) = (self.bounds(i), self.bounds(j));
        let unbounded = (self.slopes[i] - self.slopes[j]) / curvature;
        let room = [greatest - self.weights[i], self.weights[j] - least];
        let moved = unbounded.min(room[0]).min(room[1]);
        // A weight at its bound must equal it to the last bit, or it would count as free.
        self.weights[i] = if moved < room[0] { self.weights[i] + moved } else { greatest };
        self.weights[j] = if moved < room[1] { self.weights[j] - moved } else { least };
        self.update_masks(i);
        self.update_masks(j);
        let (row_i, row_j) = (self.rows.get(i), self.rows.get(j));
        vectorized(
            #[inline(always)]
            || update_slopes(&mut self.slopes, row_i, row_j, moved, &self.up),
        )
    }

    /// Deactivates rows whose weights will probably stay at their bounds, if they are at least half
    /// of the active rows; returns whether it did.
    ///
    /// A weight at its least value would grow only if its F rose above an F of low, and one at its
    /// greatest value would shrink only if its F fell below an F of up.
    fn shrink(&mut self) -> bool {
        let masked = |mask: &[f64]| -> Vec<f64> {
            self.slopes.iter().zip(mask).map(|(slope, mask)| slope + mask).collect()
        };
        let greatest_up = masked(&self.up).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let least_low = masked(&self.low).into_iter().fold(f64::INFINITY, f64::min);
        let stays_active = |&at: &usize| {
            let slope = self.slopes[at];
            let stays_least = self.low[at] > 0.0 && slope < least_low;
            let stays_greatest = self.up[at] < 0.0 && slope > greatest_up;
            !stays_least && !stays_greatest
        };
        let active: Vec<usize> = (0..self.weights.len()).filter(stays_active).collect();
        if active.len() * 2 > self.weights.len() {
            return false;
        }
        self.write_weights();
        let keep = |of: &[f64]| -> Vec<f64> { active.iter().map(|&at| of[at]).collect() };
        self.weights = keep(&self.weights);
        self.slopes = keep(&self.slopes);
        self.up = keep(&self.up);
        self.low = keep(&self.low);
        self.pad();
        self.rows.set_active(active.iter().map(|&at| self.rows.active()[at]).collect());
        true
    }

    /// Copies the weights of the active rows to those of all rows.
    fn write_weights(&mut self) {
        for (&row, &weight) in self.rows.active().iter().zip(&self.weights) {
            self.all_weights[row] = weight;
        }
    }

    /// Makes all rows active again and computes F = y - K w anew.
    fn unshrink(&mut self) {
        self.write_weights();
        let n_rows = self.signs.len();
        self.rows.set_active((0..n_rows).collect());
        self.weights = self.all_weights.clone();
        self.slopes = self.signs.clone();
        self.up = vec![0.0; n_rows];
        self.low = vec![0.0; n_rows];
        self.pad();
        for at in 0..n_rows {
            self.update_masks(at);
            if self.weights[at] != 0.0 {
                self.rows.load(at);
                for (slope, &kernel_value) in self.slopes.iter_mut().zip(self.rows.get(at)) {
                    *slope -= self.weights[at] * f64::from(kernel_value);
                }
            }
        }
    }

    /// The mean F of the rows whose weights are between their bounds; without such rows, the middle
    /// between the greatest F of up and the least F of low.
    fn bias(&self) -> f64 {
        let (mut sum, mut n_free) = (0.0, 0.0);
        let (mut greatest_up, mut least_low) = (f64::NEG_INFINITY, f64::INFINITY);
        for ((&slope, &up), &low) in self.slopes.iter().zip(&self.up).zip(&self.low) {
            if up == 0.0 && low == 0.0 {
                sum += slope;
                n_free += 1.0;
            }
            greatest_up = greatest_up.max(slope + up);
            least_low = least_low.min(slope + low);
        }
        if n_free > 0.0 { sum / n_free } else { (greatest_up + least_low) / 2.0 }
    }
}

/// One number for each row of a group of [`LANES`] rows.
type Group = [f64; LANES];

/// The greatest number seen so far, and its group. Of equals the last counts, as in LIBSVM.
///
/// Only the group is kept on the way, because a maximum is SIMD code and its position is not; the
/// row is found at the end, in one group.
struct ArgMax {
    number: f64,
    group: usize,
}

impl ArgMax {
    #[inline(always)]
    fn new() -> ArgMax {
        ArgMax { number: f64::NEG_INFINITY, group: 0 }
    }

    #[inline(always)]
    fn update(&mut self, group: usize, numbers: Group) {
        let number = maximum(numbers);
        if number >= self.number {
            *self = ArgMax { number, group };
        }
    }

    /// The row of the greatest number, given the numbers of its group; none if none is above -∞.
    fn row(&self, numbers: Group) -> Option<usize> {
        let last = numbers.iter().rposition(|&number| number == self.number)?;
        (self.number > f64::NEG_INFINITY).then_some(self.group * LANES + last)
    }
}

/// The greatest number of a group: its upper half is compared with its lower half, and so on.
#[inline(always)]
fn maximum(mut numbers: Group) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            let other = numbers[lane + half];
            numbers[lane] = if other > numbers[lane] { other } else { numbers[lane] };
        }
        half /= 2;
    }
    numbers[0]
}

/// F of the rows of up, and -∞ for others.
#[inline(always)]
fn slopes_of_up(slopes: &Group, up: &Group) -> Group {
    let mut masked = [0.0; LANES];
    (0..LANES).for_each(|lane| masked[lane] = slopes[lane] + up[lane]);
    masked
}

/// The row of up with the greatest F.
#[inline(always)]
fn argmax_of_up(slopes: &[f64], up: &[f64]) -> Option<usize> {
    let (slopes, up) = (slopes.as_chunks().0, up.as_chunks().0);
    let mut argmax = ArgMax::new();
    for (at, (slopes, up)) in slopes.iter().zip(up).enumerate() {
        argmax.update(at, slopes_of_up(slopes, up));
    }
    argmax.row(slopes_of_up(slopes.get(argmax.group)?, up.get(argmax.group)?))
}

/// Updates F after weight was moved from j to i, whose rows of the kernel these are, and returns
/// the row of up with the greatest F: one pass does both.
#[inline(always)]
fn update_slopes(
    slopes: &mut [f64],
    row_i: &[f32],
    row_j: &[f32],
    moved: f64,
    up: &[f64],
) -> Option<usize> {
    let (slopes, up) = (slopes.as_chunks_mut().0, up.as_chunks().0);
    let rows = row_i.as_chunks::<LANES>().0.iter().zip(row_j.as_chunks::<LANES>().0);
    let mut argmax = ArgMax::new();
    for (at, ((slopes, up), (row_i, row_j))) in slopes.iter_mut().zip(up).zip(rows).enumerate() {
        for lane in 0..LANES {
            slopes[lane] -= moved * (f64::from(row_i[lane]) - f64::from(row_j[lane]));
        }
        argmax.update(at, slopes_of_up(slopes, up));
    }
    argmax.row(slopes_of_up(slopes.get(argmax.group)?, up.get(argmax.group)?))
}

/// The row j of low for which moving weight from j to i lowers the objective most, given F_i and
/// the row of the kernel at i; none if no F of low is below F_i by at least the tolerance.
#[inline(always)]
fn best_partner(
    slope: f64,
    slopes: &[f64],
    low: &[f64],
    row: &[f32],
    diagonal: f64,
) -> Option<usize> {
    let (slopes, low) = (slopes.as_chunks().0, low.as_chunks().0);
    let row = row.as_chunks::<LANES>().0;
    let (mut best, mut largest_violation) = (ArgMax::new(), ArgMax::new());
    for (at, ((slopes, low), row)) in slopes.iter().zip(low).zip(row).enumerate() {
        let violations = violations(slope, slopes, low);
        largest_violation.update(at, violations);
        best.update(at, decreases(violations, row, diagonal));
    }
    if largest_violation.number < TOLERANCE {
        return None;
    }
    let at = best.group;
    let violations = violations(slope, slopes.get(at)?, low.get(at)?);
    best.row(decreases(violations, row.get(at)?, diagonal))
}

/// F_i - F_j for the rows j of low, by which the condition of the optimum is violated; -∞ for
/// others.
#[inline(always)]
fn violations(slope: f64, slopes: &Group, low: &Group) -> Group {
    let mut violations = [0.0; LANES];
    (0..LANES).for_each(|lane| violations[lane] = slope - (slopes[lane] + low[lane]));
    violations
}

/// Twice the decrease of the objective, (F_i - F_j)² / (K_ii + K_jj - 2 K_ij); -∞ where nothing is
/// violated.
#[inline(always)]
fn decreases(violations: Group, row: &[f32; LANES], diagonal: f64) -> Group {
    let mut decreases = [0.0; LANES];
    for lane in 0..LANES {
        let curvature = 2.0 * diagonal - 2.0 * f64::from(row[lane]);
        let curvature = if curvature > MIN_CURVATURE { curvature } else { MIN_CURVATURE };
        let decrease = violations[lane] * violations[lane] / curvature;
        decreases[lane] = if violations[lane] > 0.0 { decrease } else { f64::NEG_INFINITY };
    }
    decreases
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{KernelFunction, KernelSource};
    use super::*;
    use crate::seed::Seed;

    /// Two overlapping clouds of points: their classes and their kernel matrix.
    fn clouds(n_rows: usize, function: KernelFunction) -> (Vec<bool>, Vec<f32>) {
        let mut rng = Seed::new(1).rng();
        let relevant: Vec<bool> = (0..n_rows).map(|row| row % 3 == 0).collect();
        let cell = |&is: &bool| [rng.normal() + f64::from(u8::from(is)), rng.normal()];
        let cells: Vec<[f64; 2]> = relevant.iter().map(cell).collect();
        let mut kernel = Vec::new();
        for a in &cells {
            let square = |b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            let mut row: Vec<f32> = cells.iter().map(|b| square(b) as f32).collect();
            function.apply(&mut row);
            row.resize(padded(n_rows), 0.0);
            kernel.extend(row);
        }
        (relevant, kernel)
    }

    fn solver<'a>(relevant: &[bool], kernel: &'a [f32], function: KernelFunction) -> Solver<'a> {
        let rows = KernelRows::new(KernelSource::Matrix(kernel), relevant.len(), 1 << 20);
        Solver::new(rows, relevant, function.diagonal())
    }

    /// The decision value of a solution for every row.
    fn decisions(solution: &Solution, kernel: &[f32]) -> Vec<f64> {
        let sum = |row: &[f32]| {
            let terms = row.iter().zip(&solution.weights);
            terms.map(|(&value, weight)| f64::from(value) * weight).sum::<f64>()
        };
        let width = padded(solution.weights.len());
        kernel.chunks(width).map(|row| sum(row) + solution.bias).collect()
    }

    /// Rows at a bound are on its side of the margin, rows between the bounds on the margin.
    fn check_optimum(solution: &Solution, relevant: &[bool], kernel: &[f32], cost: f64) {
        assert!(solution.converged);
        assert!(solution.weights.iter().sum::<f64>().abs() < 1e-9 * cost * relevant.len() as f64);
        let decisions = decisions(solution, kernel);
        for ((&weight, &is), decision) in solution.weights.iter().zip(relevant).zip(decisions) {
            let sign = if is { 1.0 } else { -1.0 };
            let (weight, margin) = (sign * weight, sign * decision - 1.0);
            assert!((0.0..=cost).contains(&weight));
            assert!(weight > 0.0 || margin > -TOLERANCE, "no weight at {margin}");
            assert!(weight < cost || margin < TOLERANCE, "full weight at {margin}");
        }
    }

    #[test]
    fn rows_that_were_shrunk_away_satisfy_the_conditions_in_the_end() {
        let (relevant, kernel) = clouds(601, KernelFunction::Linear);
        let mut solver = solver(&relevant, &kernel, KernelFunction::Linear);
        let solution = solver.solve(100.0, u64::MAX, &Cancel::default());
        assert!(solver.all_weights.iter().any(|&weight| weight != 0.0), "nothing was shrunk");
        check_optimum(&solution, &relevant, &kernel, 100.0);
    }

    #[test]
    fn going_on_from_a_smaller_cost_ends_where_starting_anew_does() {
        for function in [0.001, 1.0, 5.0].map(|gamma| KernelFunction::Rbf { gamma }) {
            let (relevant, kernel) = clouds(203, function);
            let mut going_on = solver(&relevant, &kernel, function);
            for cost in [0.001, 1.0, 2.0, 3.0, 10.0] {
                let warm = going_on.solve(cost, u64::MAX, &Cancel::default());
                let cold =
                    solver(&relevant, &kernel, function).solve(cost, u64::MAX, &Cancel::default());
                check_optimum(&warm, &relevant, &kernel, cost);
                let both = decisions(&warm, &kernel).into_iter().zip(decisions(&cold, &kernel));
                for (warm, cold) in both {
                    // Both are within the tolerance of the optimum, and so a few of it apart.
                    assert!((warm - cold).abs() < 5.0 * TOLERANCE, "{warm} {cold} at {cost}");
                }
            }
        }
    }

    #[test]
    fn a_small_cache_changes_no_bit() {
        let (relevant, kernel) = clouds(203, KernelFunction::Linear);
        let rows = |memory| {
            // With the last row inactive, rows of the matrix are copied to the cache.
            let mut rows = KernelRows::new(KernelSource::Matrix(&kernel), relevant.len(), memory);
            rows.set_active((0..202).collect());
            rows
        };
        let (mut few, mut all) = (rows(0), rows(1 << 30));
        let mut rng = Seed::new(2).rng();
        for _ in 0..1000 {
            let [i, j] = [rng.below(202), rng.below(202)];
            for at in [i, j] {
                few.load(at);
                all.load(at);
            }
            assert_eq!([i, j].map(|at| few.get(at)), [i, j].map(|at| all.get(at)));
        }
    }

    #[test]
    fn steps_that_run_out_are_reported() {
        let (relevant, kernel) = clouds(203, KernelFunction::Linear);
        assert!(
            !solver(&relevant, &kernel, KernelFunction::Linear)
                .solve(10.0, 5, &Cancel::default())
                .converged
        );
    }
}
