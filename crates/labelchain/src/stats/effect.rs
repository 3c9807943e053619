//! How large is the difference between two methods? With more data sets, the p-value of the same
//! difference becomes smaller; the measures here do not.

use super::wilcoxon::Wilcoxon;

/// How one method compares with another over all data sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The number of data sets on which the first has the smaller loss.
    pub wins: usize,
    /// The number of data sets on which the losses are equal.
    pub ties: usize,
    /// The number of data sets on which the second has the smaller loss.
    pub losses: usize,
    /// The matched-pairs rank-biserial correlation (Kerby 2014): the rank sum of the differences
    /// in favour of the first minus that of the others, over both. 1 if the first always wins, -1
    /// if it always loses.
    pub rank_biserial: f64,
}

/// Measures the effect from the outcome of a test of losses of the first minus losses of the second.
pub fn effect(tested: &Wilcoxon) -> Effect {
    let (in_favour, against) = (tested.w_minus, tested.w_plus);
    let both = in_favour + against;
    Effect {
        wins: tested.n_minus,
        ties: tested.n_zero,
        losses: tested.n_plus,
        rank_biserial: if both > 0.0 { (in_favour - against) / both } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{SignedRanks, Zeros};

    #[test]
    fn a_smaller_loss_is_a_win() {
        let test = SignedRanks::new(Zeros::Wilcox, 49).unwrap();
        let of = |differences: &[f64]| effect(&test.test(differences));
        // Ranks 1, 2, 3: in favour 2 + 3, against 1; (5 - 1) / 6.
        let found = of(&[-0.3, -0.2, 0.1, 0.0]);
        assert_eq!((found.wins, found.ties, found.losses), (2, 1, 1));
        assert_eq!(found.rank_biserial, 4.0 / 6.0);
        assert_eq!(of(&[-1.0, -2.0]).rank_biserial, 1.0);
        assert_eq!(of(&[0.0]).rank_biserial, 0.0);
        assert_eq!(of(&[0.1 + 0.2 - 0.3]).ties, 1);
    }
}
