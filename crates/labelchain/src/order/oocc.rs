//! Orders of the nearest rows (OOCC, da Silva et al. 2014): each validation row is assigned that of a
//! few random orders which predicts its labels best, and a row to be labelled takes the order of the
//! validation rows nearest to it (docs/methods.md, 6.1, a reconstruction).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chain::{Block, Dimensions, Order, OrderPolicy, Reason};
use crate::distance::Needs;

/// Random orders, and which of them is assigned to each validation row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Oocc {
    orders: Vec<Order>,
    /// Validation rows as rows of the training set, ascending.
    rows: Vec<u32>,
    /// F1 of each order on each of these rows, row by row.
    scores: Vec<f64>,
    /// The place of the order that is assigned to each of these rows.
    assigned: Vec<u32>,
    /// k: nearest rows that vote for their orders.
    n_neighbours: usize,
}

impl Oocc {
    /// Each row is assigned the order of greatest F1 on it; of equals the one of greatest mean F1
    /// over all rows, then the first.
    pub fn new(orders: Vec<Order>, rows: &[usize], scores: Vec<f64>, n_neighbours: usize) -> Oocc {
        let rows = rows.iter().map(|&row| row as u32).collect();
        let mut oocc = Oocc { orders, rows, scores, assigned: Vec::new(), n_neighbours };
        let totals = oocc.totals(0..oocc.rows.len());
        let assign = |at| best(&[&oocc.totals(at..at + 1), &totals]) as u32;
        oocc.assigned = (0..oocc.rows.len()).map(assign).collect();
        oocc
    }

    /// The orders to choose from.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// For each validation row, ascending, the place of the order assigned to it.
    pub fn assigned(&self) -> &[u32] {
        &self.assigned
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

    /// The order that most of the nearest rows are assigned; of equals the one of greatest F1 on
    /// them, then of greatest mean F1 over all rows, then the first. Also the nearest row that is
    /// assigned it.
    fn choose(&self, nearest: &[usize], totals: &[f64]) -> (usize, Option<usize>) {
        let mut votes = vec![0.0; self.orders.len()];
        nearest.iter().for_each(|&at| votes[self.assigned[at] as usize] += 1.0);
        let order = best(&[&votes, &self.totals(nearest.iter().copied()), totals]);
        let is_assigned = |at: &&usize| self.assigned[**at] as usize == order;
        (order, nearest.iter().find(is_assigned).copied())
    }

    /// The choice for each row of a block.
    fn choices(&self, block: &Block) -> Vec<(usize, Option<usize>)> {
        let totals = self.totals(0..self.rows.len());
        let of_row = |row: usize| {
            let ranking = block.rankings.and_then(|rankings| rankings.rankings.get(row));
            let ranked = ranking.into_iter().flat_map(|ranking| ranking.iter());
            let place = ranked.filter_map(|ranked| self.rows.binary_search(&ranked.row).ok());
            self.choose(&place.take(self.n_neighbours).collect::<Vec<_>>(), &totals)
        };
        (0..block.n_rows()).map(of_row).collect()
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
    fn orders(&self, block: &Block) -> Vec<Cow<'_, Order>> {
        let order = |(order, _): (usize, _)| Cow::Borrowed(&self.orders[order]);
        self.choices(block).into_iter().map(order).collect()
    }

    fn explained_orders(&self, block: &Block, _: &[usize]) -> Vec<(Cow<'_, Order>, Reason)> {
        let reason = |(order, nearest): (usize, Option<usize>)| {
            let Some(at) = nearest else { return Reason::default() };
            let (row, f1) = (self.rows[at] as usize, self.scores[at * self.orders.len() + order]);
            let of = if self.n_neighbours == 1 {
                "the nearest"
            } else {
                "the nearest that voted for it"
            };
            let text = format!(
                "The order is that of row {row} of the training file, {of} of the member's {}\n\
                 validation rows: none of the {} orders tried predicts the labels of that row better\n\
                 (F1 {f1:.3}).",
                self.rows.len(),
                self.orders.len()
            );
            Reason { nearest: Some(row), text, ..Reason::default() }
        };
        let explain = |choice: (usize, Option<usize>)| {
            (Cow::Borrowed(&self.orders[choice.0]), reason(choice))
        };
        self.choices(block).into_iter().map(explain).collect()
    }

    fn needs(&self) -> Needs {
        Needs::Ranking
    }

    fn summary(&self) -> String {
        format!("one of {}, as the nearest validation row has it", self.orders.len())
    }

    fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        let positions = |order: &Order| order.iter().map(|label| label.0).collect::<Vec<_>>();
        let orders: Vec<Vec<usize>> = self.orders.iter().map(positions).collect();
        [("orders", serde_json::json!(orders)), ("assigned", serde_json::json!(self.assigned))]
            .map(|(key, value)| (key.to_string(), value))
            .into_iter()
            .collect()
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let Some(n_train) = dimensions.n_train else { return false };
        !self.orders.is_empty()
            && self.orders.iter().all(|order| order.len() == dimensions.n_labels)
            && self.rows.iter().all(|&row| (row as usize) < n_train)
            && self.rows.is_sorted()
            && self.rows.len().checked_mul(self.orders.len()) == Some(self.scores.len())
            && self.assigned.len() == self.rows.len()
            && self.assigned.iter().all(|&at| (at as usize) < self.orders.len())
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
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
    fn a_row_is_assigned_its_best_order_and_of_equals_the_best_on_average() {
        // Row 0 ties between the first two and the second is better on average; rows 1 and 3 tie
        // throughout; row 2 is predicted best by the third.
        let oocc = Oocc::new(orders(), &[3, 5, 8, 9], SCORES.to_vec(), 1);
        assert_eq!(oocc.assigned(), [1, 1, 2, 1]);
        let even = Oocc::new(orders(), &[3], vec![0.5; 3], 1);
        assert_eq!(even.assigned(), [0]);
    }

    #[test]
    fn neighbours_vote_then_their_scores_count() {
        let oocc = Oocc::new(orders(), &[3, 5, 8, 9], SCORES.to_vec(), 3);
        let totals = oocc.totals(0..4);
        let chosen = |nearest: &[usize]| oocc.orders[oocc.choose(nearest, &totals).0].to_string();
        assert_eq!(chosen(&[2, 1, 3]), "2 1 0");
        // One vote each; on these two rows the orders score 0.4, 0.8 and 0.9.
        assert_eq!(chosen(&[1, 2]), "1 0 2");
        // One vote each; 1.0, 1.4 and 1.0.
        assert_eq!(chosen(&[2, 0]), "2 1 0");
        assert_eq!(oocc.choose(&[2, 0], &totals).1, Some(0), "row 3, which is assigned it");
    }
}
