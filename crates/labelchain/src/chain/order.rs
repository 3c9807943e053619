//! The order in which a chain decides its labels.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::LabelId;
use crate::error::{Error, Result};
use crate::seed::Seed;

/// A permutation of the labels, by construction: `π(1)` is decided first.
///
/// ```
/// use labelchain::chain::Order;
/// use labelchain::data::LabelId;
///
/// let order = Order::new([2, 0, 1].map(LabelId).into(), 3)?;
/// assert_eq!(order.iter().next(), Some(LabelId(2)));
/// assert!(Order::new([0, 0, 1].map(LabelId).into(), 3).is_err(), "label 2 is missing");
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<LabelId>")]
pub struct Order(Vec<LabelId>);

/// A file may say anything; what comes out is a permutation.
impl TryFrom<Vec<LabelId>> for Order {
    type Error = Error;

    fn try_from(labels: Vec<LabelId>) -> Result<Order> {
        let n_labels = labels.len();
        Order::new(labels, n_labels)
    }
}

impl Order {
    /// Label 0 first, the last label last.
    pub fn natural(n_labels: usize) -> Order {
        Order((0..n_labels).map(LabelId).collect())
    }

    /// Every permutation equally likely.
    pub fn random(n_labels: usize, seed: Seed) -> Order {
        let mut order = Order::natural(n_labels);
        seed.rng().shuffle(&mut order.0);
        order
    }

    /// The same order with further labels at its end, up to `n_labels` in all.
    pub(crate) fn followed_by_new(&self, n_labels: usize) -> Order {
        Order(self.0.iter().copied().chain((self.0.len()..n_labels).map(LabelId)).collect())
    }

    /// So many different ones, each equally likely; all of them if there are no more.
    pub fn distinct(n_labels: usize, n_orders: usize, seed: Seed) -> Vec<Order> {
        let n_all = (1..=n_labels).try_fold(1usize, |product, n| product.checked_mul(n));
        let n_orders = n_all.map_or(n_orders, |n_all| n_all.min(n_orders));
        let mut orders: Vec<Order> = Vec::with_capacity(n_orders);
        let mut seen = HashSet::new();
        let mut draw = 0;
        while orders.len() < n_orders {
            let order = Order::random(n_labels, seed.child("order", draw));
            draw += 1;
            if seen.insert(order.clone()) {
                orders.push(order);
            }
        }
        orders
    }

    /// The order given, if it names each of the labels once.
    pub fn new(labels: Vec<LabelId>, n_labels: usize) -> Result<Order> {
        let refuse =
            |label: usize, problem| Err(Error::NotAPermutation { n_labels, label, problem });
        let mut seen = vec![false; n_labels];
        for &LabelId(label) in &labels {
            match seen.get_mut(label) {
                None => return refuse(label, "is out of range"),
                Some(true) => return refuse(label, "appears twice"),
                Some(seen) => *seen = true,
            }
        }
        match seen.iter().position(|&seen| !seen) {
            Some(label) => refuse(label, "is missing"),
            None => Ok(Order(labels)),
        }
    }

    /// The order in which labels were taken, each of them once.
    pub(super) fn taken(labels: Vec<LabelId>) -> Order {
        debug_assert!(Order::new(labels.clone(), labels.len()).is_ok());
        Order(labels)
    }

    /// The labels with the greatest value first; equal values by lower label index.
    pub fn descending(values: &[f64]) -> Order {
        let mut order = Order::natural(values.len());
        // Stable, so that equal values keep the natural order.
        order.0.sort_by(|a, b| values[b.0].total_cmp(&values[a.0]));
        order
    }

    /// The labels, first to last.
    pub fn iter(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.0.iter().copied()
    }

    /// The label at a position, the first being 0.
    pub fn at(&self, position: usize) -> Option<LabelId> {
        self.0.get(position).copied()
    }

    /// How many labels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Label indices, first to last.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<String> = self.0.iter().map(|label| label.0.to_string()).collect();
        f.write_str(&labels.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(labels: &[usize], n_labels: usize) -> Result<Order> {
        Order::new(labels.iter().copied().map(LabelId).collect(), n_labels)
    }

    #[test]
    fn what_is_no_permutation_is_refused_with_the_label() {
        assert_eq!(order(&[2, 0, 1], 3).unwrap().to_string(), "2 0 1");
        for (labels, problem) in [
            (&[0, 4, 4][..], "label 4 is out of range"),
            (&[0, 1, 1], "label 1 appears twice"),
            (&[0, 2], "label 1 is missing"),
        ] {
            let message = order(labels, 3).unwrap_err().to_string();
            assert_eq!(message, format!("order is not a permutation of 3 labels: {problem}"));
        }
    }

    #[test]
    fn equal_values_keep_the_lower_label_first() {
        let infinite = [f64::NEG_INFINITY, 0.5, f64::INFINITY, 0.5];
        assert_eq!(Order::descending(&infinite).to_string(), "2 1 3 0");
    }

    #[test]
    fn distinct_orders_are_as_many_as_there_are() {
        for (n_labels, n_orders, found) in [(3, 20, 6), (4, 20, 20), (30, 5, 5), (1, 3, 1)] {
            let orders = Order::distinct(n_labels, n_orders, Seed::new(1));
            assert_eq!(orders.len(), found);
            assert_eq!(orders.into_iter().collect::<HashSet<_>>().len(), found);
        }
    }

    proptest! {
        #[test]
        fn a_random_order_is_a_permutation(n in 0usize..40, seed: u64) {
            let drawn = Order::random(n, Seed::new(seed));
            prop_assert!(Order::new(drawn.iter().collect(), n).is_ok());
        }
    }
}
