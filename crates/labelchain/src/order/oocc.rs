//! Orders lent by the nearest row: each validation row remembers which of a few random orders told
//! its labels best, and a row to be labelled asks those nearest to it (OOCC, da Silva et al. 2014;
//! methods 6.1, a reconstruction).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chain::{Chosen, Order, OrderPolicy, Reason};
use crate::error::{Error, Result};
use crate::learner::{Block, Lender};

/// Random orders, and which of them each validation row lends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Oocc {
    orders: Vec<Order>,
    /// Validation rows as rows of the training set, ascending.
    rows: Vec<u32>,
    /// F1 of each order on each of these rows, row by row.
    scores: Vec<f64>,
    /// The place of the order that each of these rows lends.
    assigned: Vec<u32>,
    /// k: rows that are asked.
    n_neighbours: usize,
}

impl Oocc {
    /// Each row lends the order of greatest F1 on it; of equals the one of greatest mean F1 over
    /// all rows, then the first.
    pub fn new(
        orders: Vec<Order>,
        rows: &[usize],
        scores: Vec<f64>,
        n_neighbours: usize,
    ) -> Result<Oocc> {
        for (name, value) in [("orders", orders.len()), ("lenders", n_neighbours)] {
            if value == 0 {
                return Err(Error::Setting { name, value: "0".into(), accepted: "at least 1" });
            }
        }
        let rows = rows.iter().map(|&row| row as u32).collect();
        let mut oocc = Oocc { orders, rows, scores, assigned: Vec::new(), n_neighbours };
        let totals = oocc.totals(0..oocc.rows.len());
        let lends = |at| best(&[&oocc.totals(at..at + 1), &totals]) as u32;
        oocc.assigned = (0..oocc.rows.len()).map(lends).collect();
        Ok(oocc)
    }

    /// The orders to choose from.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// For each validation row, ascending, the place of the order it lends.
    pub fn assigned(&self) -> &[u32] {
        &self.assigned
    }

    /// Whether it fits so many labels and training rows, as it does unless it comes from a file.
    pub(crate) fn is_sound(&self, n_labels: usize, n_train: usize) -> bool {
        !self.orders.is_empty()
            && self.orders.iter().all(|order| order.len() == n_labels)
            && self.rows.iter().all(|&row| (row as usize) < n_train)
            && self.rows.is_sorted()
            && self.rows.len().checked_mul(self.orders.len()) == Some(self.scores.len())
            && self.assigned.len() == self.rows.len()
            && self.assigned.iter().all(|&at| (at as usize) < self.orders.len())
    }

    /// Σ F1 of each order over some of the rows.
    fn totals(&self, rows: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let mut totals = vec![0.0; self.orders.len()];
        for row in rows {
            let scores = &self.scores[row * totals.len()..(row + 1) * totals.len()];
            totals.iter_mut().zip(scores).for_each(|(total, score)| *total += score);
        }
        totals
    }

    /// The order lent most often by the nearest rows; of equals the one of greatest F1 on them, then
    /// of greatest mean F1 over all rows, then the first. Says which row was the nearest to lend it.
    fn choose(&self, nearest: &[usize], totals: &[f64]) -> Chosen<'_> {
        let mut lent = vec![0.0; self.orders.len()];
        nearest.iter().for_each(|&at| lent[self.assigned[at] as usize] += 1.0);
        let order = best(&[&lent, &self.totals(nearest.iter().copied()), totals]);
        let lends = |at: &&usize| self.assigned[**at] as usize == order;
        let reason = nearest.iter().find(lends).map_or(Reason::Always, |&at| {
            let f1 = self.scores[at * self.orders.len() + order];
            Reason::Lent(Lender { row: self.rows[at] as usize, f1 })
        });
        Chosen { order: Cow::Borrowed(&self.orders[order]), reason }
    }
}

/// The place of the greatest value, ties broken by the next values, then by place.
fn best(values: &[&[f64]]) -> usize {
    let n = values.first().map_or(0, |values| values.len());
    let is_better = |a: usize, b: usize| {
        let differs = values.iter().find(|values| values[a] != values[b]);
        differs.is_some_and(|values| values[a] > values[b])
    };
    (1..n).fold(0, |best, at| if is_better(at, best) { at } else { best })
}

impl OrderPolicy for Oocc {
    fn orders(&self, block: &Block) -> Vec<Chosen<'_>> {
        let totals = self.totals(0..self.rows.len());
        let of_row = |row: usize| {
            let ranking = block.nearest.and_then(|nearest| nearest.rankings.get(row));
            let ranked = ranking.into_iter().flat_map(|ranking| ranking.iter());
            let place = ranked.filter_map(|ranked| self.rows.binary_search(&ranked.row).ok());
            self.choose(&place.take(self.n_neighbours).collect::<Vec<_>>(), &totals)
        };
        (0..block.n_rows()).map(of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LabelId;

    fn orders() -> Vec<Order> {
        let order = |labels: [usize; 3]| Order::new(labels.map(LabelId).to_vec(), 3).unwrap();
        [[0, 1, 2], [2, 1, 0], [1, 0, 2]].map(order).to_vec()
    }

    /// Mean F1 of the three orders: 0.45, 0.55, 0.45.
    const SCORES: [f64; 12] = [1.0, 1.0, 0.5, 0.4, 0.4, 0.4, 0.0, 0.4, 0.5, 0.4, 0.4, 0.4];

    #[test]
    fn a_row_lends_its_best_order_and_of_equals_the_best_on_average() {
        // Row 0 ties between the first two and the second is better on average; rows 1 and 3 tie
        // throughout; row 2 is told best by the third.
        let oocc = Oocc::new(orders(), &[3, 5, 8, 9], SCORES.to_vec(), 1).unwrap();
        assert_eq!(oocc.assigned(), [1, 1, 2, 1]);
        let even = Oocc::new(orders(), &[3], vec![0.5; 3], 1).unwrap();
        assert_eq!(even.assigned(), [0]);
    }

    #[test]
    fn neighbours_vote_then_their_scores_count() {
        let oocc = Oocc::new(orders(), &[3, 5, 8, 9], SCORES.to_vec(), 3).unwrap();
        let totals = oocc.totals(0..4);
        let chosen = |nearest: &[usize]| oocc.choose(nearest, &totals).order.to_string();
        assert_eq!(chosen(&[2, 1, 3]), "2 1 0");
        // One vote each; on these two rows the orders score 0.4, 0.8 and 0.9.
        assert_eq!(chosen(&[1, 2]), "1 0 2");
        // One vote each; 1.0, 1.4 and 1.0.
        assert_eq!(chosen(&[2, 0]), "2 1 0");
        let lender = Lender { row: 3, f1: 1.0 };
        assert_eq!(oocc.choose(&[2, 0], &totals).reason, Reason::Lent(lender));
    }

    #[test]
    fn no_orders_and_no_neighbours_are_refused() {
        for (orders, n_neighbours) in [(vec![], 1), (orders(), 0)] {
            let message = Oocc::new(orders, &[], vec![], n_neighbours).unwrap_err().to_string();
            assert!(message.contains("is 0"), "{message}");
        }
    }
}
