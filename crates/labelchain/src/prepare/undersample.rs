//! Undersampling: leaves out rows of the common class of a label, so that a model still learns the
//! rare one.

use crate::error::{Error, Result};
use crate::seed::Seed;

/// How much more common one class of a label may be than the other.
///
/// The default is the paper's 20. The rarer class is never touched and no row is ever repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undersampling {
    max_imbalance: Option<f64>,
}

impl Default for Undersampling {
    fn default() -> Undersampling {
        Undersampling { max_imbalance: Some(20.0) }
    }
}

impl Undersampling {
    /// At most `max_imbalance` rows of the common class for each row of the rare one; all of them
    /// if there is no maximum.
    pub fn new(max_imbalance: Option<f64>) -> Result<Undersampling> {
        match max_imbalance {
            Some(max) if max < 1.0 || max.is_nan() => Err(Error::Setting {
                name: "max-imbalance",
                value: max.to_string(),
                accepted: "at least 1",
            }),
            _ => Ok(Undersampling { max_imbalance }),
        }
    }

    /// Keeps all rows.
    pub fn none() -> Undersampling {
        Undersampling { max_imbalance: None }
    }

    /// The maximum, if there is one.
    pub fn max_imbalance(&self) -> Option<f64> {
        self.max_imbalance
    }

    /// Whether no row is left out of so many that are relevant and irrelevant.
    pub fn keeps_all(&self, n_relevant: usize, n_irrelevant: usize) -> bool {
        self.max_common(n_relevant, n_irrelevant).is_none()
    }

    /// To how many rows the common class is cut; none where it stays as it is.
    fn max_common(&self, n_with: usize, n_without: usize) -> Option<f64> {
        // The product is a float, so that an infinite maximum stays infinite.
        let max_common = self.max_imbalance? * n_with.min(n_without) as f64;
        let keeps_all = max_common == 0.0 || n_with.max(n_without) as f64 <= max_common;
        (!keeps_all).then_some(max_common)
    }

    /// The rows that are kept, ascending.
    ///
    /// Of a class of n rows, floor(min(n, max_imbalance · rarest)) are drawn, each subset equally
    /// likely, where the rarest class is the smallest that has rows at all: if all rows are of one
    /// class, all are kept. The draw does not depend on the order of `rows`, which must be
    /// distinct.
    pub fn thin(&self, rows: &[usize], relevant: impl Fn(usize) -> bool, seed: Seed) -> Vec<usize> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let n_with = rows.iter().filter(|&&row| relevant(row)).count();
        let n_without = rows.len() - n_with;
        let Some(max_common) = self.max_common(n_with, n_without) else { return rows };
        let (mut with, mut without): (Vec<usize>, Vec<usize>) =
            rows.iter().partition(|&&row| relevant(row));
        let common = if n_with > n_without { &mut with } else { &mut without };
        seed.rng().shuffle(common);
        common.truncate(max_common as usize);
        with.append(&mut without);
        with.sort_unstable();
        with
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn thin(max: f64, rows: &[usize], relevant: impl Fn(usize) -> bool) -> Vec<usize> {
        Undersampling::new(Some(max)).unwrap().thin(rows, relevant, Seed::new(1))
    }

    #[test]
    fn the_common_class_keeps_the_floor_of_what_it_may() {
        // Three relevant rows of 20: 1.5 · 3 = 4.5, so four irrelevant ones.
        let rows: Vec<usize> = (0..20).collect();
        let kept = thin(1.5, &rows, |row| row < 3);
        assert_eq!(kept.len(), 7);
        assert_eq!(kept[..3], [0, 1, 2]);
        assert!(kept.is_sorted());
    }

    #[test]
    fn the_common_class_may_be_the_relevant_one() {
        let rows: Vec<usize> = (0..20).collect();
        let kept = thin(2.0, &rows, |row| row != 7);
        assert_eq!(kept.len(), 3);
        assert!(kept.contains(&7));
    }

    #[test]
    fn one_class_is_left_alone_and_so_is_a_mild_imbalance() {
        let rows = [4, 2, 9];
        assert_eq!(thin(1.0, &rows, |_| false), [2, 4, 9]);
        assert_eq!(thin(2.0, &rows, |row| row == 9), [2, 4, 9]);
        assert_eq!(thin(1.0, &[], |_| true), [0; 0]);
        let off = Undersampling::new(None).unwrap();
        assert_eq!(off.thin(&rows, |row| row == 9, Seed::new(1)), [2, 4, 9]);
    }

    #[test]
    fn every_row_of_the_common_class_is_equally_likely() {
        let rows: Vec<usize> = (0..11).collect();
        let mut counts = [0usize; 11];
        for seed in 0..5000 {
            let under = Undersampling::new(Some(3.0)).unwrap();
            let kept = under.thin(&rows, |row| row == 10, Seed::new(seed));
            kept.iter().for_each(|&row| counts[row] += 1);
        }
        // Binomial(5000, 3/10) has deviation 32; six deviations either side.
        assert_eq!(counts[10], 5000);
        assert!(counts[..10].iter().all(|n| n.abs_diff(1500) < 195), "{counts:?}");
    }

    #[test]
    fn a_maximum_below_one_is_refused() {
        for max in [0.5, -1.0, f64::NAN] {
            let error = Undersampling::new(Some(max)).unwrap_err().to_string();
            assert_eq!(error, format!("max-imbalance is {max}, but must be at least 1"));
        }
        assert!(Undersampling::new(Some(f64::INFINITY)).is_ok());
    }

    proptest! {
        #[test]
        fn classes_keep_as_many_rows_as_the_rule_says(
            classes in prop::collection::vec(prop::bool::weighted(0.2), 0..100),
            max in 1.0f64..5.0,
        ) {
            let rows: Vec<usize> = (0..classes.len()).collect();
            let kept = thin(max, &rows, |row| classes[row]);
            let backwards: Vec<usize> = rows.iter().rev().copied().collect();
            prop_assert_eq!(&kept, &thin(max, &backwards, |row| classes[row]));
            let count = |rows: &[usize], is| rows.iter().filter(|&&r| classes[r] == is).count();
            let n_min = [true, false].map(|is| count(&rows, is)).into_iter().filter(|&n| n > 0).min();
            for is in [true, false] {
                let n = count(&rows, is);
                let expected = (n as f64).min(max * n_min.unwrap_or(0) as f64) as usize;
                prop_assert_eq!(count(&kept, is), expected);
            }
        }
    }
}
