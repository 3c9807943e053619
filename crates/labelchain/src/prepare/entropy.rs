//! Entropies of counts, with sums in the order WEKA takes them, so that ties fall alike.

use std::f64::consts::LN_2;
use std::ops::AddAssign;

/// Numbers closer to 0 than this are 0, as in WEKA.
pub(crate) const SMALL: f64 = 1e-6;

/// n ln n for every count that can occur: entropies of counts then need no logarithm.
#[derive(Clone, Debug)]
pub(crate) struct NLogN(Vec<f64>);

impl NLogN {
    pub(crate) fn up_to(n: usize) -> NLogN {
        NLogN((0..=n).map(|n| real_n_log_n(n as f64)).collect())
    }

    pub(crate) fn of(&self, n: u32) -> f64 {
        self.0[n as usize]
    }

    /// The entropy of two counts, in bits.
    pub(crate) fn entropy(&self, [a, b]: [u32; 2]) -> f64 {
        match a + b {
            0 => 0.0,
            n => (-self.of(a) - self.of(b) + self.of(n)) / (f64::from(n) * LN_2),
        }
    }

    /// The mean entropy of two sides, each weighing as much as it counts, in bits.
    pub(crate) fn split_entropy(&self, left: [u32; 2], right: [u32; 2]) -> f64 {
        let (n_left, n_right) = (left[0] + left[1], right[0] + right[1]);
        let mut sum = self.of(left[0]) + self.of(left[1]) - self.of(n_left);
        sum += self.of(right[0]);
        sum += self.of(right[1]);
        sum -= self.of(n_right);
        -sum / (f64::from(n_left + n_right) * LN_2)
    }
}

/// x ln x, and 0 at 0.
pub(crate) fn real_n_log_n(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x * x.ln() }
}

/// 2 (H(A) + H(B) - H(A, B)) / (H(A) + H(B)) of a table of counts, row by row, and the sums of its
/// rows and columns; 0 where either entropy is.
#[inline(always)]
pub(crate) fn symmetrical_uncertainty<T: Copy + Default + AddAssign>(
    cells: &[T],
    rows: &[T],
    columns: &[T],
    n_log_n: impl Fn(T) -> f64,
) -> f64 {
    let mut total = T::default();
    columns.iter().for_each(|&sum| total += sum);
    let sum = |counts: &[T]| counts.iter().fold(0.0, |sum, &count| sum + n_log_n(count));
    let (of_rows, of_columns) = (sum(rows), sum(columns) - n_log_n(total));
    let of_cells = sum(cells) - of_rows;
    let of_rows = of_rows - n_log_n(total);
    if of_columns.abs() < SMALL || of_rows.abs() < SMALL {
        0.0
    } else {
        2.0 * ((of_columns - of_cells) / (of_columns + of_rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_coin_has_one_bit_and_a_certain_one_none() {
        let logs = NLogN::up_to(8);
        assert!((logs.entropy([4, 4]) - 1.0).abs() < 1e-15);
        assert_eq!(logs.entropy([8, 0]), 0.0);
        assert_eq!(logs.entropy([0, 0]), 0.0);
        assert_eq!(logs.split_entropy([4, 0], [0, 4]), 0.0);
        // (2 · 1 + 4 · 0) / 6.
        assert!((logs.split_entropy([1, 1], [4, 0]) - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn symmetrical_uncertainty_of_a_small_table() {
        let logs = NLogN::up_to(8);
        let su = |cells: [u32; 4]| {
            let [a, b, c, d] = cells;
            symmetrical_uncertainty(&cells, &[a + b, c + d], &[a + c, b + d], |n| logs.of(n))
        };
        assert_eq!(su([4, 0, 0, 4]), 1.0);
        assert!(su([2, 2, 2, 2]).abs() < 1e-15);
        assert_eq!(su([4, 4, 0, 0]), 0.0);
        // Rows 4 : 4, columns 4 : 4, cells 3, 1, 1, 3. H(A) = H(B) = 1 bit and
        // H(A, B) = 2 · 3/8 · log2(8/3) + 2 · 1/8 · 3 = 1.0612781 + 0.75 = 1.8112781.
        assert!((su([3, 1, 1, 3]) - 0.188_721_875_540_867_2).abs() < 1e-12);
        let real =
            symmetrical_uncertainty(&[3.0, 1.0, 1.0, 3.0], &[4.0; 2], &[4.0; 2], real_n_log_n);
        assert_eq!(real, su([3, 1, 1, 3]));
    }
}
