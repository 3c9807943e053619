//! Kernel density estimation: the density of a class is the mean of normal densities, one around
//! each of its training cells.

use serde::{Deserialize, Serialize};

use super::density::{log, mass, tail};
use crate::product::vectorized;

/// The cells of one class, rounded to multiples of the precision, as WEKA's KernelEstimator keeps
/// them. Distances and the deviation are in multiples, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kernels {
    /// The distinct cells in ascending order, each with how often it occurs.
    centers: Vec<(f64, u32)>,
    n_cells: f64,
    /// The range over the square root of the number of cells, at least a sixth.
    deviation: f64,
}

impl Kernels {
    /// From the number of cells at `first` and at each multiple after it.
    pub(super) fn new(first: f64, counts: &[f64]) -> Kernels {
        let centers: Vec<(f64, u32)> = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0.0)
            .map(|(step, &count)| (first + step as f64, count as u32))
            .collect();
        let n_cells: f64 = counts.iter().sum();
        let range = match centers.as_slice() {
            [(least, _), .., (greatest, _)] => greatest - least,
            _ => 0.0,
        };
        Kernels { centers, n_cells, deviation: (range / n_cells.sqrt()).max(1.0 / 6.0) }
    }

    /// The bytes of its centers.
    pub(super) fn n_bytes(&self) -> u64 {
        size_of_val(&self.centers[..]) as u64
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(super) fn is_sound(&self) -> bool {
        let n_cells: f64 = self.centers.iter().map(|(_, count)| f64::from(*count)).sum();
        self.centers.is_sorted_by(|(one, _), (next, _)| one < next)
            && self.n_cells == n_cells
            && self.deviation > 0.0
    }

    /// The mass of the rounding interval at this distance from a center.
    fn mass(&self, distance: f64) -> f64 {
        mass(distance - 0.5, distance + 0.5, self.deviation)
    }

    /// log density at a multiple of the precision.
    ///
    /// It is ln of Σ mass(|center - multiple|) · count / (cells · precision), over the centers that WEKA
    /// looks at: it goes up from the multiple and then down, each until all centers not yet seen,
    /// were they as near as the last, would add less than a hundredth. For WEKA a class without
    /// cells has one center at 0, and its mass is not divided by the precision.
    pub(super) fn log_density(&self, multiple: f64, precision: f64) -> f64 {
        if self.centers.is_empty() {
            return log(self.mass(multiple.abs()));
        }
        let (below, above) =
            self.centers.split_at(self.centers.partition_point(|(center, _)| *center < multiple));
        let mut seen = Seen { mass: 0.0, n_cells: 0.0, n_all_cells: self.n_cells };
        let mut is_enough = |&(center, count): &(f64, u32)| {
            seen.add(self.mass((center - multiple).abs()), f64::from(count))
        };
        let _ = above.iter().any(&mut is_enough);
        let _ = below.iter().rev().any(&mut is_enough);
        log(seen.mass / (self.n_cells * precision))
    }

    /// The same for `first` and each multiple after it, where `counts` are those that the kernels were
    /// made from. Up to rounding, the sums run over the same centers, in another order, many at a time.
    pub(super) fn log_densities(&self, first: f64, counts: &[f64], precision: f64) -> Vec<f64> {
        if self.centers.is_empty() {
            let multiples = (0..counts.len()).map(|step| first + step as f64);
            return multiples.map(|multiple| self.log_density(multiple, precision)).collect();
        }
        let upwards = CellCounts::new(counts.to_vec());
        let downwards = CellCounts::new(counts.iter().rev().copied().collect());
        let mut masses = Masses::new(self);
        let mut sums = vec![0.0; counts.len()];
        vectorized(
            #[inline(always)]
            || {
                for (step, sum) in sums.iter_mut().enumerate() {
                    let mut seen = Seen { mass: 0.0, n_cells: 0.0, n_all_cells: self.n_cells };
                    seen.add_until_enough(&upwards, step, 0, &mut masses);
                    seen.add_until_enough(&downwards, counts.len() - step, 1, &mut masses);
                    *sum = seen.mass;
                }
            },
        );
        sums.into_iter().map(|sum| log(sum / (self.n_cells * precision))).collect()
    }
}

/// The masses at distances of 0, 1, 2, …, each computed when it is first needed.
struct Masses<'a> {
    kernels: &'a Kernels,
    by_distance: Vec<f64>,
    /// The tail beyond the last of them, where the next interval begins.
    tail: f64,
}

impl Masses<'_> {
    fn new(kernels: &Kernels) -> Masses<'_> {
        let tail = tail(0.5, kernels.deviation);
        Masses { kernels, by_distance: vec![kernels.mass(0.0)], tail }
    }

    #[inline(always)]
    fn between(&mut self, from: usize, to: usize) -> &[f64] {
        if self.by_distance.len() < to {
            self.compute_until(to);
        }
        &self.by_distance[from..to]
    }

    fn compute_until(&mut self, to: usize) {
        for distance in self.by_distance.len()..to {
            let next = tail(distance as f64 + 0.5, self.kernels.deviation);
            self.by_distance.push(self.tail - next);
            self.tail = next;
        }
    }
}

/// How many cells there are at each multiple, in the direction of a walk, and before each of them.
struct CellCounts {
    counts: Vec<f64>,
    before: Vec<f64>,
}

impl CellCounts {
    fn new(counts: Vec<f64>) -> CellCounts {
        let mut before = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0.0;
        before.push(sum);
        for count in &counts {
            sum += count;
            before.push(sum);
        }
        CellCounts { counts, before }
    }
}

/// What the centers looked at so far add to a density.
struct Seen {
    /// Σ mass · count.
    mass: f64,
    n_cells: f64,
    /// How many cells there are, seen or not.
    n_all_cells: f64,
}

impl Seen {
    /// Adds a center, and tells whether the cells not yet seen, were they as near, would add less than
    /// a hundredth.
    #[inline(always)]
    fn add(&mut self, mass: f64, count: f64) -> bool {
        self.mass += mass * count;
        self.n_cells += count;
        self.is_enough(mass)
    }

    #[inline(always)]
    fn is_enough(&self, mass: f64) -> bool {
        mass * (self.n_all_cells - self.n_cells) < self.mass * 0.01
    }

    /// The same after all cells from one place to another, whose masses are given.
    #[inline(always)]
    fn with(&self, cells: &CellCounts, from: usize, to: usize, masses: &[f64]) -> Seen {
        Seen {
            mass: self.mass + product(masses, &cells.counts[from..to]),
            n_cells: self.n_cells + (cells.before[to] - cells.before[from]),
            ..*self
        }
    }

    /// Adds the cells from a place on, at ever greater distances, of which `nearest` is the first, up to
    /// the center at which they are enough.
    ///
    /// Once they are enough, they stay so: masses fall with the distance, the number of cells to see
    /// does not grow, and the sum does not fall. So it suffices to look at the end of each block. In the
    /// block at whose end they are enough, we look at the end of each part of it, and only in such a part
    /// do we go center by center.
    #[inline(always)]
    fn add_until_enough(
        &mut self,
        cells: &CellCounts,
        start: usize,
        nearest: usize,
        masses: &mut Masses,
    ) {
        const BLOCK: usize = 64;
        const PART: usize = 8;
        let n = cells.counts.len();
        let (mut at, mut length) = (start, BLOCK);
        while at < n {
            let to = (at + length).min(n);
            let masses = masses.between(nearest + at - start, nearest + to - start);
            let after = self.with(cells, at, to, masses);
            if !after.is_enough(masses[masses.len() - 1]) {
                *self = after;
                at = to;
                continue;
            }
            if length == BLOCK {
                length = PART;
                continue;
            }
            for (&mass, &count) in masses.iter().zip(&cells.counts[at..to]) {
                if count > 0.0 && self.add(mass, count) {
                    return;
                }
            }
            at = to;
        }
    }
}

/// Σ mass · count, in sums side by side, so that it becomes SIMD code.
#[inline(always)]
fn product(masses: &[f64], counts: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (lanes, rest) = masses.as_chunks::<LANES>();
    let (lanes_of_counts, rest_of_counts) = counts.as_chunks::<LANES>();
    for (masses, counts) in lanes.iter().zip(lanes_of_counts) {
        for lane in 0..LANES {
            sums[lane] += masses[lane] * counts[lane];
        }
    }
    for (lane, (mass, count)) in rest.iter().zip(rest_of_counts).enumerate() {
        sums[lane] += mass * count;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Φ(z) by its series, apart from the error function that the masses are taken with.
    fn phi(z: f64) -> f64 {
        let (mut term, mut sum) = (z, z);
        for n in 1..200 {
            term *= z * z / f64::from(2 * n + 1);
            sum += term;
        }
        0.5 + sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    #[test]
    fn a_density_is_the_mean_of_a_normal_around_each_cell() {
        // Cells 10, 10, 12, 13: range 3, deviation 3 / sqrt(4) = 1.5.
        let kernels = Kernels::new(10.0, &[2.0, 0.0, 1.0, 1.0]);
        assert!(kernels.is_sound());
        let mass = |d: f64| phi((d + 0.5) / 1.5) - phi((d - 0.5) / 1.5);
        let expected = (2.0 * mass(1.0) + mass(1.0) + mass(2.0)) / (4.0 * 0.1);
        assert!((kernels.log_density(11.0, 0.1) - expected.ln()).abs() < 1e-12);
    }

    #[test]
    fn centers_that_cannot_add_a_hundredth_are_left_out() {
        // Range 40, 402 cells: deviation 40 / sqrt(402) = 1.995. At 0, 400 cells are at hand; two
        // as near would add less than a hundredth, and those at 20 and 40 are not looked at.
        let kernels = Kernels::new(0.0, &{
            let mut counts = [0.0; 41];
            (counts[0], counts[20], counts[40]) = (400.0, 1.0, 1.0);
            counts
        });
        let deviation = 40.0 / 402.0f64.sqrt();
        let expected = 400.0 * (2.0 * phi(0.5 / deviation) - 1.0) / 402.0;
        assert!((kernels.log_density(0.0, 1.0) - expected.ln()).abs() < 1e-12);
    }

    #[test]
    fn one_place_has_the_narrowest_kernel_and_no_cells_one_at_0() {
        // A sixth of the interval: three deviations to either side.
        let inner = 2.0 * phi(3.0) - 1.0;
        let one = Kernels::new(5.0, &[3.0]);
        assert!((one.log_density(5.0, 0.5) - (inner / 0.5).ln()).abs() < 1e-12);
        let none = Kernels::new(5.0, &[0.0]);
        assert!((none.log_density(0.0, 0.5) - inner.ln()).abs() < 1e-12);
        assert_eq!(none.log_density(9.0, 0.5), 1e-75f64.ln());
    }

    #[test]
    fn many_densities_equal_those_one_by_one() {
        let mut rng = Seed::new(1).rng();
        let mut cases = vec![vec![1.0, 0.0, 0.0, 5.0, 2.0, 0.0, 1.0], vec![0.0; 7], vec![9.0]];
        // Many cells and few, so that the sums end in the first block, in a later one, and never.
        for share in [0.01, 0.1, 0.5, 0.9] {
            let mut random = || f64::from(u8::from(rng.chance(share)));
            cases.push((0..900).map(|_| random() + random()).collect());
        }
        for counts in cases {
            let kernels = Kernels::new(-3.0, &counts);
            let together = kernels.log_densities(-3.0, &counts, 0.2);
            assert_eq!(together.len(), counts.len());
            for (step, together) in together.into_iter().enumerate() {
                let alone = kernels.log_density(step as f64 - 3.0, 0.2);
                assert!(
                    (together - alone).abs() < 1e-12 * alone.abs().max(1.0),
                    "{together} {alone}"
                );
            }
        }
    }

    #[test]
    fn centers_out_of_order_are_not_sound() {
        let mut kernels = Kernels::new(0.0, &[1.0, 1.0]);
        kernels.centers.reverse();
        assert!(!kernels.is_sound());
    }
}
