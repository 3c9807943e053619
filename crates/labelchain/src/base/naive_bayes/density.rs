//! The likelihood of a cell where a label is relevant, against where it is not.

use serde::{Deserialize, Serialize};

use super::kernels::Kernels;
use super::moments::Moments;
use crate::prepare::{Bins, bin};

/// A normal distribution, estimated as WEKA does: divisor n, and never narrower than a sixth of
/// the column's precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Normal {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Normal {
    /// Of cells whose moments were taken without `zero`, which is what a cell of 0 stands for.
    pub(super) fn estimate(moments: &Moments, precision: f64, zero: f64) -> Normal {
        let narrowest = precision / 6.0;
        if moments.n == 0.0 {
            return Normal { mean: 0.0, deviation: narrowest };
        }
        let (mean, deviation) = (moments.sum / moments.n + zero, moments.deviation());
        // A deviation of 1e-10 or less counts as none, as in WEKA.
        let deviation = if deviation > 1e-10 { deviation.max(narrowest) } else { narrowest };
        Normal { mean, deviation }
    }

    /// log density, up to the constant that both classes share.
    fn log_density(&self, value: f64) -> f64 {
        let z = (value - self.mean) / self.deviation;
        -0.5 * z * z - self.deviation.ln()
    }

    /// log of the mass of the interval of width `precision` around `value`.
    pub(super) fn log_mass(&self, value: f64, precision: f64) -> f64 {
        let (distance, half) = (value - self.mean, precision / 2.0);
        log(mass(distance - half, distance + half, self.deviation))
    }
}

/// The mass of a normal distribution between two distances from its mean.
///
/// It is computed from the tail on the side of the interval, where nothing cancels. WEKA subtracts
/// two values of the distribution function, which both round to 1 from about 8 deviations above the
/// mean.
pub(super) fn mass(low: f64, high: f64, deviation: f64) -> f64 {
    let [low, high] = [low, high].map(|distance| distance / (deviation * std::f64::consts::SQRT_2));
    let mass = if low > 0.0 {
        libm::erfc(low) - libm::erfc(high)
    } else if high < 0.0 {
        libm::erfc(-high) - libm::erfc(-low)
    } else {
        libm::erf(high) - libm::erf(low)
    };
    0.5 * mass
}

/// The mass of a normal distribution beyond a distance above its mean.
pub(super) fn tail(distance: f64, deviation: f64) -> f64 {
    0.5 * libm::erfc(distance / (deviation * std::f64::consts::SQRT_2))
}

/// ln of a likelihood, which is taken to be at least 1e-75, as in WEKA.
pub(super) fn log(likelihood: f64) -> f64 {
    likelihood.max(1e-75).ln()
}

/// The whole number nearest to value / precision, ties to even.
pub(super) fn multiple(value: f64, precision: f64) -> f64 {
    // From 2^52 on, neighbouring numbers are 1 apart, so that adding such a number rounds, and subtracting it
    // again is exact. Processors from before 2008 have no instruction of their own for it, and compilers
    // call a function for their sake.
    const ROUNDS: f64 = 1.5 * (1u64 << 52) as f64;
    let quotient = value / precision;
    if quotient.abs() < (1u64 << 51) as f64 {
        quotient + ROUNDS - ROUNDS
    } else {
        quotient.round_ties_even()
    }
}

/// Cells rounded to multiples of a precision, without the multiple that is nearest to a cell of 0.
pub(super) struct Rounding {
    pub(super) precision: f64,
    /// What cells lack that are not rounded.
    pub(super) plain_zero: f64,
    multiple_of_zero: f64,
}

impl Rounding {
    pub(super) fn new(precision: f64, zero: f64) -> Rounding {
        Rounding { precision, plain_zero: zero, multiple_of_zero: multiple(zero, precision) }
    }

    pub(super) fn rounded(&self, cell: f64) -> f64 {
        (multiple(cell + self.plain_zero, self.precision) - self.multiple_of_zero) * self.precision
    }

    /// What rounded cells lack.
    pub(super) fn zero(&self) -> f64 {
        self.multiple_of_zero * self.precision
    }
}

/// The term of one input in the log-odds of one label:
/// log P(cell | relevant) - log P(cell | irrelevant).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Factor {
    /// Two normal densities.
    Density { irrelevant: Normal, relevant: Normal },
    /// Two interval masses of the rounded cell, tabulated over the multiples of the precision that
    /// training rows showed.
    Mass { irrelevant: Normal, relevant: Normal, precision: f64, first: f64, table: Vec<f64> },
    /// One number for each value of a nominal input.
    Category(Vec<f64>),
    /// One number for a text that lacks the word, whose cell is 0, and one for a text that has it.
    Presence([f64; 2]),
    /// One number for each bin of a discretized input.
    Binned { cuts: Vec<f64>, log_odds: Vec<f64> },
    /// Two kernel densities at the rounded cell, tabulated like masses.
    Kernels { irrelevant: Kernels, relevant: Kernels, precision: f64, first: f64, table: Vec<f64> },
}

impl Factor {
    /// A longer table would cost more to make than it saves.
    const LONGEST_TABLE: f64 = 256.0;

    /// Interval masses, with a table over the range of the training cells.
    pub(super) fn mass(
        irrelevant: Normal,
        relevant: Normal,
        precision: f64,
        range: (f64, f64),
    ) -> Factor {
        let [first, last] = [range.0, range.1].map(|end| multiple(end, precision));
        let mut factor = Factor::Mass { irrelevant, relevant, precision, first, table: Vec::new() };
        if last - first < Factor::LONGEST_TABLE {
            let steps = (0..=(last - first) as usize).map(|step| first + step as f64);
            let log_odds = steps.map(|multiple| factor.log_odds(multiple * precision)).collect();
            if let Factor::Mass { table, .. } = &mut factor {
                *table = log_odds;
            }
        }
        factor
    }

    /// Kernel densities from the number of cells of either class at `first` and at each multiple of
    /// the precision after it. There are about as many multiples as distinct cells, so the table
    /// may hold all.
    pub(super) fn kernels(
        first: f64,
        precision: f64,
        irrelevant: &[f64],
        relevant: &[f64],
    ) -> Factor {
        let [irrelevant, relevant] = [irrelevant, relevant].map(|counts| {
            let kernels = Kernels::new(first, counts);
            (kernels.log_densities(first, counts, precision), kernels)
        });
        let table = relevant.0.iter().zip(irrelevant.0).map(|(yes, no)| yes - no).collect();
        let (irrelevant, relevant) = (irrelevant.1, relevant.1);
        Factor::Kernels { irrelevant, relevant, precision, first, table }
    }

    /// The bytes of its kernels, of which there may be as many as rows, and of the table of their
    /// densities; 0 for any other factor.
    pub(super) fn kernel_bytes(&self) -> u64 {
        match self {
            Factor::Kernels { irrelevant, relevant, table, .. } => {
                irrelevant.n_bytes() + relevant.n_bytes() + size_of_val(&table[..]) as u64
            }
            _ => 0,
        }
    }

    /// From the number of rows of either class that have each value.
    pub(super) fn category(irrelevant: &[f64], relevant: &[f64]) -> Factor {
        Factor::Category(laplace(irrelevant, relevant))
    }

    /// From the number of rows of either class that lack a word, whose cell is 0, and that have it.
    pub(super) fn presence(irrelevant: &[f64], relevant: &[f64]) -> Factor {
        let log_odds = laplace(irrelevant, relevant);
        Factor::Presence([0, 1].map(|at| log_odds.get(at).copied().unwrap_or(0.0)))
    }

    /// Bins count like the values of a nominal input. A single bin has probability 1 in both
    /// classes and makes no factor.
    pub(super) fn binned(bins: Bins) -> Option<Factor> {
        let [no, yes] = [0, 1].map(|class| {
            bins.counts.iter().map(|counts| f64::from(counts[class])).collect::<Vec<f64>>()
        });
        let log_odds = laplace(&no, &yes);
        (!bins.cuts.is_empty()).then_some(Factor::Binned { cuts: bins.cuts, log_odds })
    }

    /// Interval masses like these, of other distributions; any other factor as it is.
    pub(super) fn with_normals(&self, irrelevant: Normal, relevant: Normal) -> Factor {
        let Factor::Mass { precision, first, table, .. } = self else { return self.clone() };
        let (precision, first) = (*precision, *first);
        let without = Factor::Mass { irrelevant, relevant, precision, first, table: Vec::new() };
        let steps = (0..table.len()).map(|step| first + step as f64);
        let table = steps.map(|multiple| without.log_odds(multiple * precision)).collect();
        Factor::Mass { irrelevant, relevant, precision, first, table }
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Factor::Binned { cuts, log_odds } => log_odds.len() == cuts.len() + 1,
            Factor::Kernels { irrelevant, relevant, .. } => {
                irrelevant.is_sound() && relevant.is_sound()
            }
            _ => true,
        }
    }

    /// The term of a cell that is not missing; 0 for a nominal value that was not declared.
    pub(super) fn log_odds(&self, value: f64) -> f64 {
        match self {
            Factor::Density { irrelevant, relevant } => {
                relevant.log_density(value) - irrelevant.log_density(value)
            }
            Factor::Mass { irrelevant, relevant, precision, first, table } => {
                let multiple = multiple(value, *precision);
                tabled(table, multiple - first).unwrap_or_else(|| {
                    let value = multiple * precision;
                    relevant.log_mass(value, *precision) - irrelevant.log_mass(value, *precision)
                })
            }
            Factor::Kernels { irrelevant, relevant, precision, first, table } => {
                let multiple = multiple(value, *precision);
                tabled(table, multiple - first).unwrap_or_else(|| {
                    let log_density = |of: &Kernels| of.log_density(multiple, *precision);
                    log_density(relevant) - log_density(irrelevant)
                })
            }
            Factor::Category(log_odds) => log_odds.get(value as usize).copied().unwrap_or(0.0),
            Factor::Presence(log_odds) => log_odds[presence(value)],
            Factor::Binned { cuts, log_odds } => log_odds[bin(cuts, value)],
        }
    }

    /// The coefficients a, b, c if the log-odds are a x² + b x + c, so that those of many cells are
    /// a matrix product. None where deviations are so small that the terms would cancel.
    pub(super) fn quadratic(&self) -> Option<[f64; 3]> {
        let Factor::Density { irrelevant: no, relevant: yes } = self else { return None };
        let halves = [no, yes].map(|normal| 0.5 / (normal.deviation * normal.deviation));
        let magnitude = |(normal, half): (&Normal, f64)| (1.0 + normal.mean * normal.mean) * half;
        if [no, yes].into_iter().zip(halves).map(magnitude).any(|size| size > 1e6) {
            return None;
        }
        let [a, b] = halves;
        Some([
            a - b,
            2.0 * (yes.mean * b - no.mean * a),
            no.mean * no.mean * a - yes.mean * yes.mean * b + (no.deviation / yes.deviation).ln(),
        ])
    }
}

/// Whether a text has a word, by the weight of the word: 1 if it has.
pub(super) fn presence(weight: f64) -> usize {
    usize::from(weight > 0.0)
}

/// The entry `steps` multiples after the first, if there is one.
fn tabled(table: &[f64], steps: f64) -> Option<f64> {
    if steps >= 0.0 { table.get(steps as usize).copied() } else { None }
}

/// The log-odds of each value with Laplace smoothing in both classes:
/// P(value | class) = (count + 1) / (total + number of values).
fn laplace(irrelevant: &[f64], relevant: &[f64]) -> Vec<f64> {
    let n_values = relevant.len() as f64;
    let total = |counts: &[f64]| counts.iter().sum::<f64>() + n_values;
    let constant = total(irrelevant).ln() - total(relevant).ln();
    let log_odds = |(no, yes): (&f64, &f64)| (yes + 1.0).ln() - (no + 1.0).ln() + constant;
    irrelevant.iter().zip(relevant).map(log_odds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_rounded_as_the_standard_library_rounds() {
        let halves = (-9..10).map(|n| f64::from(n) / 2.0);
        let large = [2f64.powi(51) - 0.5, 2f64.powi(51) + 0.5, 2f64.powi(52) + 1.0, 1e300];
        for value in halves.chain(large).chain([0.1, 0.49999999999999994, 1e-320]) {
            for value in [value, -value] {
                assert_eq!(multiple(value, 1.0), value.round_ties_even(), "{value}");
            }
        }
    }

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for &value in values {
            moments.n += 1.0;
            moments.add_to_sums(value);
        }
        moments
    }

    #[test]
    fn normals_have_wekas_moments_and_floor() {
        // Mean 2, deviation with divisor n: sqrt(2/3).
        let normal = Normal::estimate(&moments(&[1.0, 2.0, 3.0]), 1.0, 0.0);
        assert_eq!(normal, Normal { mean: 2.0, deviation: (2.0f64 / 3.0).sqrt() });
        assert_eq!(Normal::estimate(&moments(&[5.0, 5.0]), 0.6, 0.0).deviation, 0.6 / 6.0);
        assert_eq!(
            Normal::estimate(&moments(&[]), 0.6, 0.0),
            Normal { mean: 0.0, deviation: 0.6 / 6.0 }
        );
    }

    #[test]
    fn a_mass_is_exact_near_and_far() {
        let standard = Normal { mean: 0.0, deviation: 1.0 };
        // P(-0.5 < Z < 0.5) = 0.38292492254802624.
        assert!((standard.log_mass(0.0, 1.0).exp() - 0.382_924_922_548_026_24).abs() < 1e-15);
        // Symmetric, ten deviations out, where 1 - 1 would be 0: P(9.5 < Z < 10.5) = 1.0494083e-21.
        assert_eq!(standard.log_mass(10.0, 1.0), standard.log_mass(-10.0, 1.0));
        assert!(
            (standard.log_mass(10.0, 1.0).exp() / 1.049_408_317_473_083e-21 - 1.0).abs() < 1e-9
        );
        assert_eq!(standard.log_mass(100.0, 1.0), 1e-75f64.ln());
    }

    #[test]
    fn tables_and_coefficients_equal_the_formula() {
        let (no, yes) =
            (Normal { mean: 0.0, deviation: 1.0 }, Normal { mean: 1.0, deviation: 2.0 });
        let tabled = Factor::mass(no, yes, 0.5, (-2.0, 2.0));
        let plain = Factor::Mass {
            irrelevant: no,
            relevant: yes,
            precision: 0.5,
            first: 0.0,
            table: vec![],
        };
        let density = Factor::Density { irrelevant: no, relevant: yes };
        for step in -60..60 {
            let cell = f64::from(step) / 10.0;
            assert_eq!(tabled.log_odds(cell), plain.log_odds(cell), "{cell}");
            let [a, b, c] = density.quadratic().unwrap();
            let sum = a * cell * cell + b * cell + c;
            assert!((sum - density.log_odds(cell)).abs() < 1e-12, "{cell}");
        }
    }

    #[test]
    fn categories_are_smoothed_by_laplace() {
        // Relevant 3 of 4: (3 + 1)/(4 + 2); irrelevant 0 of 1: (0 + 1)/(1 + 2).
        let factor = Factor::category(&[1.0, 0.0], &[1.0, 3.0]);
        let expected = (4.0f64 / 6.0).ln() - (1.0f64 / 3.0).ln();
        assert!((factor.log_odds(1.0) - expected).abs() < 1e-15);
        assert_eq!(factor.log_odds(7.0), 0.0);
    }

    #[test]
    fn bins_are_smoothed_alike_and_a_cut_belongs_to_the_bin_below() {
        // Up to 0.5, relevant 1 of 4: (1 + 1)/(4 + 2); irrelevant 1 of 1: (1 + 1)/(1 + 2).
        let bins = Bins { cuts: vec![0.5], counts: vec![[1, 1], [0, 3]] };
        let factor = Factor::binned(bins).unwrap();
        let below = (2.0f64 / 6.0).ln() - (2.0f64 / 3.0).ln();
        let above = (4.0f64 / 6.0).ln() - (1.0f64 / 3.0).ln();
        for (cell, expected) in [(-9.0, below), (0.5, below), (0.6, above), (9.0, above)] {
            assert!((factor.log_odds(cell) - expected).abs() < 1e-15, "{cell}");
        }
        assert_eq!(Factor::binned(Bins { cuts: vec![], counts: vec![[1, 4]] }), None);
    }

    #[test]
    fn a_bin_without_a_number_is_not_sound() {
        let factor = |n| Factor::Binned { cuts: vec![0.5], log_odds: vec![0.0; n] };
        assert_eq!([1, 2, 3].map(|n| factor(n).is_sound()), [false, true, false]);
    }
}
