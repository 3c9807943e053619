//! Which weights make the machine? Sequential minimal optimization, two weights at a time.
//!
//! A row t of sign y = ±1 has a weight w between 0 and C y, the weights add up to 0, and
//! ½ wᵀK w - yᵀw is to be least. F = y - K w is its downward slope. Weights that may grow are *up*,
//! those that may shrink *low*; at the optimum no F of up is above an F of low. So the pair to
//! change is i of up with the greatest F, and j of low that, moved against i, lowers the objective
//! most: by (F_i - F_j)² / (K_ii + K_jj - 2 K_ij), halved (Fan, Chen, Lin 2005, as in LIBSVM). It is
//! over when the greatest F of up is less than [`TOLERANCE`] above the least of low.

use super::kernel::{LANES, Rows, padded};
use crate::product::vectorized;

/// How far the conditions of the optimum may be missed.
pub(super) const TOLERANCE: f64 = 1e-3;

/// The least curvature: that of rows which are alike, or made so by rounding.
const FLATTEST: f64 = 1e-12;

/// Steps between two looks at what can be left out.
const STRETCH: u64 = 1000;

/// Weights on their way to the optimum, which can go on from where they are under a larger C.
pub(super) struct Solver<'a> {
    rows: Rows<'a>,
    signs: Vec<f64>,
    /// K_tt, the same for every row.
    diagonal: f64,
    cost: f64,
    weights: Vec<f64>,
    slopes: Vec<f64>,
    /// 0 where the weight may grow, else -∞: added to F, it leaves those of up.
    up: Vec<f64>,
    /// 0 where the weight may shrink, else ∞.
    low: Vec<f64>,
    /// Of all rows, also those left out for the time being.
    all_weights: Vec<f64>,
}

/// The optimum, as far as it was reached.
pub(super) struct Solution {
    /// By row; relevant rows have positive ones.
    pub(super) weights: Vec<f64>,
    /// What the sum of weighted likenesses is offset by.
    pub(super) bias: f64,
    /// Whether it is within the tolerance.
    pub(super) converged: bool,
}

impl<'a> Solver<'a> {
    /// Starts with no weight at all.
    pub(super) fn new(rows: Rows<'a>, relevant: &[bool], diagonal: f64) -> Solver<'a> {
        // Which class is positive decides only the path; this is the one of scikit-learn.
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

    /// Fills the last group of lanes with rows that are neither up nor low.
    fn pad(&mut self) {
        let n = padded(self.weights.len());
        self.slopes.resize(n, 0.0);
        self.up.resize(n, f64::NEG_INFINITY);
        self.low.resize(n, f64::INFINITY);
    }

    /// Goes on to the optimum under a C no smaller than before, in so many steps at most.
    pub(super) fn solve(&mut self, cost: f64, max_steps: u64) -> Solution {
        self.widen(cost);
        let stretch = STRETCH.min(self.signs.len() as u64);
        let mut first = vectorized(
            #[inline(always)]
            || greatest(&self.slopes, &self.up),
        );
        let (mut n_steps, mut converged) = (0, false);
        while n_steps < max_steps && !converged {
            let Some((i, j)) = first.and_then(|i| self.pair(i)) else {
                converged = self.rows.places().len() == self.signs.len();
                if !converged {
                    self.look_at_all();
                    first = greatest(&self.slopes, &self.up);
                }
                continue;
            };
            n_steps += 1;
            first = self.step(i, j);
            if n_steps % stretch == 0 && self.leave_out() {
                first = greatest(&self.slopes, &self.up);
            }
        }
        if self.rows.places().len() < self.signs.len() {
            self.look_at_all();
        }
        let weights = self.weights.iter().map(|weight| 0.0 - weight).collect();
        Solution { weights, bias: -self.bias(), converged }
    }

    /// The weight to grow and the one to shrink for it; none if it is over.
    fn pair(&mut self, i: usize) -> Option<(usize, usize)> {
        self.rows.load(i);
        let (slope, row) = (self.slopes[i], self.rows.get(i));
        let j = vectorized(
            #[inline(always)]
            || partner(slope, &self.slopes, &self.low, row, self.diagonal),
        )?;
        Some((i, j))
    }

    /// Makes room under a new C: weights keep their proportions, and go as far along their ray as
    /// lowers the objective.
    fn widen(&mut self, cost: f64) {
        let terms = self.weights.iter().zip(&self.signs).zip(&self.slopes);
        let (mut linear, mut quadratic, mut largest) = (0.0, 0.0, 0.0f64);
        for ((weight, sign), slope) in terms {
            linear += weight * sign;
            quadratic += weight * (sign - slope);
            largest = largest.max(weight.abs());
        }
        let scale = match quadratic > 0.0 {
            true => (linear / quadratic).min(cost / largest).max(1.0),
            false => 1.0,
        };
        self.cost = cost;
        for at in 0..self.weights.len() {
            self.weights[at] *= scale;
            self.slopes[at] = self.signs[at] - scale * (self.signs[at] - self.slopes[at]);
            if (self.weights[at].abs() - cost).abs() < 1e-12 * cost {
                self.weights[at] = cost * self.signs[at];
            }
            self.note_bounds(at);
        }
    }

    /// Whether a weight may grow or shrink.
    fn note_bounds(&mut self, at: usize) {
        let (least, most) = self.bounds(at);
        self.up[at] = if self.weights[at] < most { 0.0 } else { f64::NEG_INFINITY };
        self.low[at] = if self.weights[at] > least { 0.0 } else { f64::INFINITY };
    }

    fn bounds(&self, at: usize) -> (f64, f64) {
        match self.signs[self.rows.places()[at]] > 0.0 {
            true => (0.0, self.cost),
            false => (-self.cost, 0.0),
        }
    }

    /// Moves weight from j to i, to the optimum of the two or the nearest bound, and returns the
    /// next i.
    fn step(&mut self, i: usize, j: usize) -> Option<usize> {
        self.rows.load(j);
        let likeness = f64::from(self.rows.get(i)[j]);
        let curvature = (2.0 * self.diagonal - 2.0 * likeness).max(FLATTEST);
        let ((_, most), (least, _)) = (self.bounds(i), self.bounds(j));
        let wanted = (self.slopes[i] - self.slopes[j]) / curvature;
        let room = [most - self.weights[i], self.weights[j] - least];
        let moved = wanted.min(room[0]).min(room[1]);
        // On the bound to the bit, or it would count as free.
        self.weights[i] = if moved < room[0] { self.weights[i] + moved } else { most };
        self.weights[j] = if moved < room[1] { self.weights[j] - moved } else { least };
        self.note_bounds(i);
        self.note_bounds(j);
        let (grown, shrunk) = (self.rows.get(i), self.rows.get(j));
        vectorized(
            #[inline(always)]
            || descend(&mut self.slopes, grown, shrunk, moved, &self.up),
        )
    }

    /// Leaves out weights at their bounds that the gap between up and low presses against them, if
    /// at least half of the rows are such.
    fn leave_out(&mut self) -> bool {
        let reach = |mask: &[f64]| -> Vec<f64> {
            self.slopes.iter().zip(mask).map(|(slope, mask)| slope + mask).collect()
        };
        let most = reach(&self.up).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let least = reach(&self.low).into_iter().fold(f64::INFINITY, f64::min);
        let stays = |&at: &usize| {
            let slope = self.slopes[at];
            let pressed_down = self.low[at] > 0.0 && slope < least;
            let pressed_up = self.up[at] < 0.0 && slope > most;
            !pressed_down && !pressed_up
        };
        let staying: Vec<usize> = (0..self.weights.len()).filter(stays).collect();
        if staying.len() * 2 > self.weights.len() {
            return false;
        }
        self.write_weights();
        let keep = |of: &[f64]| -> Vec<f64> { staying.iter().map(|&at| of[at]).collect() };
        self.weights = keep(&self.weights);
        self.slopes = keep(&self.slopes);
        self.up = keep(&self.up);
        self.low = keep(&self.low);
        self.pad();
        self.rows.look_at(staying.iter().map(|&at| self.rows.places()[at]).collect());
        true
    }

    fn write_weights(&mut self) {
        for (&place, &weight) in self.rows.places().iter().zip(&self.weights) {
            self.all_weights[place] = weight;
        }
    }

    /// Looks at every row again, with slopes anew.
    fn look_at_all(&mut self) {
        self.write_weights();
        let n_rows = self.signs.len();
        self.rows.look_at((0..n_rows).collect());
        self.weights = self.all_weights.clone();
        self.slopes = self.signs.clone();
        self.up = vec![0.0; n_rows];
        self.low = vec![0.0; n_rows];
        self.pad();
        for at in 0..n_rows {
            self.note_bounds(at);
            if self.weights[at] != 0.0 {
                self.rows.load(at);
                for (slope, &likeness) in self.slopes.iter_mut().zip(self.rows.get(at)) {
                    *slope -= self.weights[at] * f64::from(likeness);
                }
            }
        }
    }

    /// F of the weights between their bounds, on average; without such weights, the middle of what
    /// up and low leave open.
    fn bias(&self) -> f64 {
        let (mut sum, mut n_free) = (0.0, 0.0);
        let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        for ((&slope, &up), &low) in self.slopes.iter().zip(&self.up).zip(&self.low) {
            if up == 0.0 && low == 0.0 {
                sum += slope;
                n_free += 1.0;
            }
            most = most.max(slope + up);
            least = least.min(slope + low);
        }
        if n_free > 0.0 { sum / n_free } else { (most + least) / 2.0 }
    }
}

/// A number for each of a group of rows.
type Group = [f64; LANES];

/// The greatest number seen, and in which group. Of equals the last counts, as in LIBSVM.
struct Greatest {
    number: f64,
    group: usize,
}

impl Greatest {
    #[inline(always)]
    fn new() -> Greatest {
        Greatest { number: f64::NEG_INFINITY, group: 0 }
    }

    #[inline(always)]
    fn offer(&mut self, group: usize, numbers: Group) {
        let number = most(numbers);
        if number >= self.number {
            *self = Greatest { number, group };
        }
    }

    /// Its place among all rows, given the numbers of its group; none if nothing is above -∞.
    fn place(&self, numbers: Group) -> Option<usize> {
        let last = numbers.iter().rposition(|&number| number == self.number)?;
        (self.number > f64::NEG_INFINITY).then_some(self.group * LANES + last)
    }
}

/// The greatest of a group, by halves.
#[inline(always)]
fn most(mut numbers: Group) -> f64 {
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

/// F of the rows of up, -∞ of others.
#[inline(always)]
fn reach(slopes: &Group, up: &Group) -> Group {
    let mut reach = [0.0; LANES];
    (0..LANES).for_each(|lane| reach[lane] = slopes[lane] + up[lane]);
    reach
}

/// The row of up with the greatest F.
#[inline(always)]
fn greatest(slopes: &[f64], up: &[f64]) -> Option<usize> {
    let (slopes, up) = (slopes.as_chunks().0, up.as_chunks().0);
    let mut greatest = Greatest::new();
    for (at, (slopes, up)) in slopes.iter().zip(up).enumerate() {
        greatest.offer(at, reach(slopes, up));
    }
    greatest.place(reach(slopes.get(greatest.group)?, up.get(greatest.group)?))
}

/// F after a step, and the row of up with the greatest.
#[inline(always)]
fn descend(
    slopes: &mut [f64],
    grown: &[f32],
    shrunk: &[f32],
    moved: f64,
    up: &[f64],
) -> Option<usize> {
    let (slopes, up) = (slopes.as_chunks_mut().0, up.as_chunks().0);
    let rows = grown.as_chunks::<LANES>().0.iter().zip(shrunk.as_chunks::<LANES>().0);
    let mut greatest = Greatest::new();
    for (at, ((slopes, up), (grown, shrunk))) in slopes.iter_mut().zip(up).zip(rows).enumerate() {
        for lane in 0..LANES {
            slopes[lane] -= moved * (f64::from(grown[lane]) - f64::from(shrunk[lane]));
        }
        greatest.offer(at, reach(slopes, up));
    }
    greatest.place(reach(slopes.get(greatest.group)?, up.get(greatest.group)?))
}

/// The row of low that lowers the objective most when moved against one of slope F_i, whose row of
/// the kernel this is; none if no F of low is far enough below.
#[inline(always)]
fn partner(slope: f64, slopes: &[f64], low: &[f64], row: &[f32], diagonal: f64) -> Option<usize> {
    let (slopes, low) = (slopes.as_chunks().0, low.as_chunks().0);
    let row = row.as_chunks::<LANES>().0;
    let (mut gains, mut deepest) = (Greatest::new(), Greatest::new());
    for (at, ((slopes, low), row)) in slopes.iter().zip(low).zip(row).enumerate() {
        let depths = depths(slope, slopes, low);
        deepest.offer(at, depths);
        gains.offer(at, gain(depths, row, diagonal));
    }
    if deepest.number < TOLERANCE {
        return None;
    }
    let at = gains.group;
    gains.place(gain(depths(slope, slopes.get(at)?, low.get(at)?), row.get(at)?, diagonal))
}

/// How far F of the rows of low is below F_i; -∞ of others.
#[inline(always)]
fn depths(slope: f64, slopes: &Group, low: &Group) -> Group {
    let mut depths = [0.0; LANES];
    (0..LANES).for_each(|lane| depths[lane] = slope - (slopes[lane] + low[lane]));
    depths
}

/// How much the objective falls, twice.
#[inline(always)]
fn gain(depths: Group, row: &[f32; LANES], diagonal: f64) -> Group {
    let mut gain = [0.0; LANES];
    for lane in 0..LANES {
        let curvature = 2.0 * diagonal - 2.0 * f64::from(row[lane]);
        let curvature = if curvature > FLATTEST { curvature } else { FLATTEST };
        let falls = depths[lane] * depths[lane] / curvature;
        gain[lane] = if depths[lane] > 0.0 { falls } else { f64::NEG_INFINITY };
    }
    gain
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Likeness, Source};
    use super::*;
    use crate::seed::Seed;

    /// Two clouds that overlap, and a kernel of them.
    fn clouds(n_rows: usize, likeness: Likeness) -> (Vec<bool>, Vec<f32>) {
        let mut rng = Seed::new(1).rng();
        let relevant: Vec<bool> = (0..n_rows).map(|row| row % 3 == 0).collect();
        let cell = |&is: &bool| [rng.normal() + f64::from(u8::from(is)), rng.normal()];
        let cells: Vec<[f64; 2]> = relevant.iter().map(cell).collect();
        let mut kernel = Vec::new();
        for a in &cells {
            let square = |b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            let mut row: Vec<f32> = cells.iter().map(|b| square(b) as f32).collect();
            likeness.turn(&mut row);
            row.resize(padded(n_rows), 0.0);
            kernel.extend(row);
        }
        (relevant, kernel)
    }

    fn solver<'a>(relevant: &[bool], kernel: &'a [f32], likeness: Likeness) -> Solver<'a> {
        let rows = Rows::new(Source::Whole(kernel), relevant.len(), 1 << 20);
        Solver::new(rows, relevant, likeness.of_equals())
    }

    /// What a solution says of every row.
    fn decisions(solution: &Solution, kernel: &[f32]) -> Vec<f64> {
        let sum = |row: &[f32]| {
            let terms = row.iter().zip(&solution.weights);
            terms.map(|(&likeness, weight)| f64::from(likeness) * weight).sum::<f64>()
        };
        let width = padded(solution.weights.len());
        kernel.chunks(width).map(|row| sum(row) + solution.bias).collect()
    }

    /// Rows at a bound are on its side of the margin, rows between the bounds on the margin.
    fn check_optimum(solution: &Solution, relevant: &[bool], kernel: &[f32], cost: f64) {
        assert!(solution.converged);
        assert!(solution.weights.iter().sum::<f64>().abs() < 1e-9 * cost * relevant.len() as f64);
        let said = decisions(solution, kernel);
        for ((&weight, &is), said) in solution.weights.iter().zip(relevant).zip(said) {
            let sign = if is { 1.0 } else { -1.0 };
            let (weight, margin) = (sign * weight, sign * said - 1.0);
            assert!((0.0..=cost).contains(&weight));
            assert!(weight > 0.0 || margin > -TOLERANCE, "no weight at {margin}");
            assert!(weight < cost || margin < TOLERANCE, "full weight at {margin}");
        }
    }

    #[test]
    fn rows_left_out_on_the_way_are_where_they_belong_in_the_end() {
        let (relevant, kernel) = clouds(601, Likeness::Linear);
        let mut solver = solver(&relevant, &kernel, Likeness::Linear);
        let solution = solver.solve(100.0, u64::MAX);
        assert!(solver.all_weights.iter().any(|&weight| weight != 0.0), "none was left out");
        check_optimum(&solution, &relevant, &kernel, 100.0);
    }

    #[test]
    fn going_on_from_a_smaller_cost_ends_where_starting_anew_does() {
        for likeness in [0.001, 1.0, 5.0].map(|gamma| Likeness::Rbf { gamma }) {
            let (relevant, kernel) = clouds(203, likeness);
            let mut going_on = solver(&relevant, &kernel, likeness);
            for cost in [0.001, 1.0, 2.0, 3.0, 10.0] {
                let warm = going_on.solve(cost, u64::MAX);
                let cold = solver(&relevant, &kernel, likeness).solve(cost, u64::MAX);
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
    fn few_rows_kept_change_no_bit() {
        let (relevant, kernel) = clouds(203, Likeness::Linear);
        let rows = |memory| {
            // Looking at all rows but the last makes copies of what is looked at.
            let mut rows = Rows::new(Source::Whole(&kernel), relevant.len(), memory);
            rows.look_at((0..202).collect());
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
        let (relevant, kernel) = clouds(203, Likeness::Linear);
        assert!(!solver(&relevant, &kernel, Likeness::Linear).solve(10.0, 5).converged);
    }
}
