//! Kernel density estimation: the density of a class is the mean of normal densities, one around
//! each of its training cells.

use serde::{Deserialize, Serialize};

use super::density::{log, mass};

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

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(super) fn is_sound(&self) -> bool {
        let n_cells: f64 = self.centers.iter().map(|(_, count)| f64::from(*count)).sum();
        self.centers.is_sorted_by(|(one, _), (next, _)| one < next)
            && self.n_cells == n_cells
            && self.deviation > 0.0
    }

    /// log density at a multiple of the precision.
    pub(super) fn log_density(&self, multiple: f64, precision: f64) -> f64 {
        self.log_density_by(|distance| self.mass(distance), multiple, precision)
    }

    /// The same for `n` multiples from `first` on, none of which is farther from a center than `n`.
    /// All distances are then whole numbers below `n`, and each mass is computed once.
    pub(super) fn log_densities(&self, first: f64, n: usize, precision: f64) -> Vec<f64> {
        let masses = (0..n).map(|distance| self.mass(distance as f64));
        let masses: Vec<f64> = masses.take_while(|&mass| mass > 0.0).collect();
        let mass = |distance: f64| masses.get(distance as usize).copied().unwrap_or(0.0);
        let log_density = |step: usize| {
            let multiple = first + step as f64;
            if self.centers.is_empty() {
                self.log_density(multiple, precision)
            } else {
                self.log_density_by(mass, multiple, precision)
            }
        };
        (0..n).map(log_density).collect()
    }

    /// The mass of the rounding interval at this distance from a center.
    fn mass(&self, distance: f64) -> f64 {
        mass(distance - 0.5, distance + 0.5, self.deviation)
    }

    /// ln of Σ mass(|center - multiple|) · count / (cells · precision), over the centers that WEKA
    /// looks at: it goes up from the multiple and then down, each until all centers not yet seen,
    /// were they as near as the last, would add less than a hundredth. For WEKA a class without
    /// cells has one center at 0, and its mass is not divided by the precision.
    fn log_density_by(&self, mass: impl Fn(f64) -> f64, multiple: f64, precision: f64) -> f64 {
        if self.centers.is_empty() {
            return log(mass(multiple.abs()));
        }
        let (below, above) =
            self.centers.split_at(self.centers.partition_point(|(center, _)| *center < multiple));
        let (mut sum, mut n_seen) = (0.0, 0.0);
        let mut is_enough = |&(center, count): &(f64, u32)| {
            let (mass, count) = (mass((center - multiple).abs()), f64::from(count));
            sum += mass * count;
            n_seen += count;
            mass * (self.n_cells - n_seen) < sum * 0.01
        };
        let _ = above.iter().any(&mut is_enough);
        let _ = below.iter().rev().any(&mut is_enough);
        log(sum / (self.n_cells * precision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for counts in [vec![1.0, 0.0, 0.0, 5.0, 2.0, 0.0, 1.0], vec![0.0; 7], vec![9.0]] {
            let kernels = Kernels::new(-3.0, &counts);
            let n = counts.len();
            let singly = (0..n).map(|step| kernels.log_density(step as f64 - 3.0, 0.2));
            assert_eq!(kernels.log_densities(-3.0, n, 0.2), singly.collect::<Vec<_>>());
        }
    }

    #[test]
    fn centers_out_of_order_are_not_sound() {
        let mut kernels = Kernels::new(0.0, &[1.0, 1.0]);
        kernels.centers.reverse();
        assert!(!kernels.is_sound());
    }
}
