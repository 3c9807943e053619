//! How far apart two orders are, from 0 for equal ones to 1 (methods 5).

use crate::chain::Order;

/// A distance between orders of the same labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderDistance {
    /// The share of label pairs that the orders put the other way round (Kendall).
    #[default]
    Precedence,
    /// The share of neighbours in one order that do not follow each other in the other.
    Adjacency,
    /// By how many places labels are moved, as a share of what a reversed order moves (Spearman).
    Positional,
    /// The share of positions with different labels.
    Hamming,
    /// How many exchanges of two labels lead from one to the other, of L - 1 (Cayley).
    Cayley,
    /// How many labels must be taken out and put back elsewhere, of L (Ulam).
    Ulam,
}

impl OrderDistance {
    /// All of them with their names in settings and files, the default first.
    pub const WORDS: [(&'static str, OrderDistance); 6] = [
        ("precedence", OrderDistance::Precedence),
        ("adjacency", OrderDistance::Adjacency),
        ("positional", OrderDistance::Positional),
        ("hamming", OrderDistance::Hamming),
        ("cayley", OrderDistance::Cayley),
        ("ulam", OrderDistance::Ulam),
    ];

    /// The distance between two orders of the same labels; a single label has only one order.
    pub fn between(self, a: &Order, b: &Order) -> f64 {
        let n = a.len();
        if n < 2 {
            return 0.0;
        }
        // Where the label at each position of `a` stands in `b`: ascending if they are equal.
        let mut place = vec![0; n];
        b.iter().enumerate().for_each(|(at, label)| place[label.0] = at);
        let moved: Vec<usize> = a.iter().map(|label| place[label.0]).collect();
        let pairs = n * (n - 1) / 2;
        let (count, most) = match self {
            OrderDistance::Precedence => (inversions(&moved), pairs),
            OrderDistance::Adjacency => {
                (moved.windows(2).filter(|two| two[1] != two[0] + 1).count(), n - 1)
            }
            // Reversed, the labels move by n - 1, n - 3, … places: n²/2 in all, rounded down.
            OrderDistance::Positional => {
                (moved.iter().enumerate().map(|(at, to)| at.abs_diff(*to)).sum(), n * n / 2)
            }
            OrderDistance::Hamming => {
                (moved.iter().enumerate().filter(|(at, to)| at != *to).count(), n)
            }
            OrderDistance::Cayley => (n - cycles(&moved), n - 1),
            OrderDistance::Ulam => (n - longest_ascent(&moved), n),
        };
        count as f64 / most as f64
    }
}

fn inversions(moved: &[usize]) -> usize {
    let before = |at: usize| moved[..at].iter().filter(|&&other| other > moved[at]).count();
    (0..moved.len()).map(before).sum()
}

fn cycles(moved: &[usize]) -> usize {
    let mut seen = vec![false; moved.len()];
    let mut n_cycles = 0;
    for start in 0..moved.len() {
        n_cycles += usize::from(!seen[start]);
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            at = moved[at];
        }
    }
    n_cycles
}

/// The length of the longest ascending part, not necessarily of neighbours, by patience sorting.
fn longest_ascent(moved: &[usize]) -> usize {
    let mut tops: Vec<usize> = Vec::new();
    for &at in moved {
        match tops.partition_point(|&top| top < at) {
            pile if pile == tops.len() => tops.push(at),
            pile => tops[pile] = at,
        }
    }
    tops.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LabelId;
    use crate::seed::Seed;
    use proptest::prelude::*;

    fn order(labels: &[usize]) -> Order {
        Order::new(labels.iter().copied().map(LabelId).collect(), labels.len()).unwrap()
    }

    #[test]
    fn distances_of_a_small_case_are_those_counted_by_hand() {
        // 0 1 2 3 against 1 0 3 2: two of six pairs turned; of 01, 12, 23 none is kept; all four
        // labels move by one, reversal would move 3 + 1 + 1 + 3; no position keeps its label; two
        // exchanges of at most three; the longest common part has two of four labels.
        let (a, b) = (order(&[0, 1, 2, 3]), order(&[1, 0, 3, 2]));
        let expected = [2.0 / 6.0, 1.0, 4.0 / 8.0, 1.0, 2.0 / 3.0, 2.0 / 4.0];
        for (distance, expected) in OrderDistance::ALL.into_iter().zip(expected) {
            assert_eq!(distance.between(&a, &b), expected, "{distance}");
        }
        // 2 0 1: one label taken out and put back; a cycle of three is two exchanges.
        let (a, b) = (order(&[0, 1, 2]), order(&[2, 0, 1]));
        let expected = [2.0 / 3.0, 1.0 / 2.0, 4.0 / 4.0, 1.0, 2.0 / 2.0, 1.0 / 3.0];
        for (distance, expected) in OrderDistance::ALL.into_iter().zip(expected) {
            assert_eq!(distance.between(&a, &b), expected, "{distance}");
        }
    }

    #[test]
    fn one_label_has_one_order() {
        let only = order(&[0]);
        assert!(OrderDistance::ALL.iter().all(|distance| distance.between(&only, &only) == 0.0));
    }

    proptest! {
        #[test]
        fn equal_orders_are_at_0_and_none_beyond_1(n in 2usize..12, seed: u64) {
            let [a, b] = [0, 1].map(|at| Order::random(n, Seed::new(seed).child("order", at)));
            let reversed: Vec<LabelId> = a.iter().collect::<Vec<_>>().into_iter().rev().collect();
            let reversed = Order::new(reversed, n).unwrap();
            for distance in OrderDistance::ALL {
                prop_assert_eq!(distance.between(&a, &a), 0.0);
                prop_assert!((0.0..=1.0).contains(&distance.between(&a, &b)));
                prop_assert_eq!(distance.between(&a, &b) == 0.0, a == b);
                prop_assert_eq!(distance.between(&a, &b), distance.between(&b, &a));
            }
            prop_assert_eq!(OrderDistance::Precedence.between(&a, &reversed), 1.0);
            prop_assert_eq!(OrderDistance::Positional.between(&a, &reversed), 1.0);
        }
    }
}
