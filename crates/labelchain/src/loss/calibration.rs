//! Do probabilities have the right size? Of the cells that are given 0.7, seven in ten should be
//! relevant.

use super::{Measure, cells, check_probabilities, mean};
use crate::data::LabelMatrix;
use crate::error::Result;

/// Measures of the size of probabilities, over all cells of a table, and the curve behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Brier score: the mean of (p − y)², with y 1 where the label is relevant and else 0.
    pub brier: Option<f64>,
    /// Expected calibration error: the mean over cells of the distance of their bin's mean
    /// probability from its share of relevant cells, Σ n_b / n · |p̄_b − ȳ_b|.
    pub ece: Option<f64>,
    /// The reliability curve: the bins that hold cells, ascending.
    pub curve: Vec<ReliabilityBin>,
}

/// The cells whose probabilities fall into one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// How many they are.
    pub n_cells: usize,
    /// The mean of their probabilities.
    pub mean_probability: f64,
    /// The share of them that are relevant.
    pub share_relevant: f64,
}

impl Calibration {
    /// The number of bins of equal width, as in Guo et al. 2017, who made the expected calibration
    /// error widely used. Bin b holds the probabilities above b / 15 and up to (b + 1) / 15; the first
    /// one holds 0 too. So does scikit-learn's `calibration_curve`.
    pub const N_BINS: usize = 15;

    /// Compares probabilities, which stand row by row, by label, with the truth.
    pub fn between(truth: &LabelMatrix, probabilities: &[f64]) -> Result<Calibration> {
        check_probabilities(truth, probabilities)?;
        let all = || cells(truth, probabilities, 0..truth.n_labels());
        let upper_ends: Vec<f64> =
            (1..Calibration::N_BINS).map(|end| end as f64 / Calibration::N_BINS as f64).collect();
        // How many cells a bin has, how many of them are relevant, and the sum of their probabilities.
        let mut bins = [(0usize, 0usize, 0.0f64); Calibration::N_BINS];
        for (is_relevant, probability) in all() {
            let (n_cells, n_relevant, sum) =
                &mut bins[upper_ends.partition_point(|&end| end < probability)];
            *n_cells += 1;
            *n_relevant += usize::from(is_relevant);
            *sum += probability;
        }
        let filled = bins.into_iter().filter(|(n_cells, ..)| *n_cells > 0);
        let curve: Vec<ReliabilityBin> = filled
            .map(|(n_cells, n_relevant, sum)| ReliabilityBin {
                n_cells,
                mean_probability: sum / n_cells as f64,
                share_relevant: n_relevant as f64 / n_cells as f64,
            })
            .collect();
        let error = |bin: &ReliabilityBin| {
            bin.n_cells as f64 * (bin.mean_probability - bin.share_relevant).abs()
        };
        let n_cells: usize = curve.iter().map(|bin| bin.n_cells).sum();
        let square = |(is_relevant, probability): (bool, f64)| {
            (probability - f64::from(is_relevant)).powi(2)
        };
        Ok(Calibration {
            brier: mean(all().map(square)),
            ece: (n_cells > 0).then(|| curve.iter().map(error).sum::<f64>() / n_cells as f64),
            curve,
        })
    }

    /// Both numbers, each with its key and its title.
    pub fn measures(&self) -> [Measure; 2] {
        let smaller =
            |key, short, title, value| Measure { key, short, title, value, is_loss: true };
        [
            smaller("brier", "Brier score", "Brier score", self.brier),
            smaller("ece", "ECE", "Expected calibration error", self.ece),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, table};
    use super::*;

    #[test]
    fn four_cells_by_hand() {
        let truth = table(&["10", "10"]);
        let of = Calibration::between(&truth, &[0.9, 0.02, 0.88, 0.04]).unwrap();
        // 0.01 + 0.0004 + 0.0144 + 0.0016, over 4.
        assert!(close(of.brier, Some(0.0264 / 4.0)));
        // The last bin but one holds both relevant cells, mean 0.89; the first the others, mean 0.03.
        assert!(close(of.ece, Some(0.5 * 0.11 + 0.5 * 0.03)));
        let bins: Vec<(usize, f64)> =
            of.curve.iter().map(|bin| (bin.n_cells, bin.share_relevant)).collect();
        assert_eq!(bins, [(2, 0.0), (2, 1.0)]);
    }

    #[test]
    fn the_upper_end_belongs_to_a_bin_and_zero_to_the_first() {
        let truth = LabelMatrix::empty(1, 6);
        // 3/15 and 9/15 are ends of bins that a vote share reaches, too.
        let of =
            Calibration::between(&truth, &[0.0, 1.0 / 15.0, 0.2, 0.6, 0.6000001, 1.0]).unwrap();
        let sizes: Vec<usize> = of.curve.iter().map(|bin| bin.n_cells).collect();
        assert_eq!(sizes, [2, 1, 1, 1, 1]);
    }

    #[test]
    fn certainty_is_free_where_it_is_right_and_costs_one_where_it_is_wrong() {
        let truth = table(&["10"]);
        let of = |cells: &[f64]| {
            let of = Calibration::between(&truth, cells).unwrap();
            (of.brier, of.ece)
        };
        assert_eq!(of(&[1.0, 0.0]), (Some(0.0), Some(0.0)));
        assert_eq!(of(&[0.0, 1.0]), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn without_cells_there_is_no_value_and_what_is_no_probability_is_refused() {
        for (n_rows, n_labels) in [(0, 3), (3, 0)] {
            let none = Calibration::between(&LabelMatrix::empty(n_rows, n_labels), &[]).unwrap();
            assert_eq!((none.brier, none.ece, none.curve.len()), (None, None, 0));
        }
        let truth = LabelMatrix::empty(1, 1);
        for cell in [f64::NAN, -0.1, 1.1, f64::NEG_INFINITY] {
            assert!(Calibration::between(&truth, &[cell]).is_err());
        }
        assert!(Calibration::between(&truth, &[]).is_err());
    }
}
