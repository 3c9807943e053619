//! Which methods cannot be told apart? Bars of a critical-difference diagram.

/// The longest runs of two or more methods, in order of their mean ranks, in which no two differ.
/// Each run lists methods by ascending mean rank.
///
/// Only neighbours in the order are joined, so a bar never passes over a method that it does not
/// mean, whichever test says who differs.
pub fn cliques(mean_ranks: &[f64], differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let order = by_rank(mean_ranks);
    let mut cliques = Vec::new();
    let mut reached = 0;
    for first in 0..order.len() {
        let mut end = first + 1;
        while end < order.len() && !order[first..end].iter().any(|&a| differ(a, order[end])) {
            end += 1;
        }
        // A run that ends where one from further left ends is a part of it.
        if end > reached && end - first > 1 {
            cliques.push(order[first..end].to_vec());
        }
        reached = reached.max(end);
    }
    cliques
}

/// Methods by ascending mean rank, the first of equals first.
pub fn by_rank(mean_ranks: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..mean_ranks.len()).collect();
    order.sort_by(|&a, &b| mean_ranks[a].total_cmp(&mean_ranks[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_join_what_lies_within_the_critical_difference() {
        let ranks: [f64; 4] = [3.9, 1.0, 1.5, 2.1];
        let within = |cd: f64| move |a: usize, b: usize| (ranks[a] - ranks[b]).abs() >= cd;
        assert_eq!(cliques(&ranks, within(1.0)), [vec![1, 2], vec![2, 3]]);
        assert_eq!(cliques(&ranks, within(2.0)), [vec![1, 2, 3], vec![3, 0]]);
        assert!(cliques(&ranks, within(0.1)).is_empty());
        assert_eq!(cliques(&ranks, within(5.0)), [[1, 2, 3, 0]]);
    }

    /// The first and the third do not differ, but the second, between them, differs from the first:
    /// no bar may reach from the first to the third.
    #[test]
    fn no_bar_passes_over_a_method_that_differs() {
        let differ = |a: usize, b: usize| (a.min(b), a.max(b)) == (0, 1);
        assert_eq!(cliques(&[1.0, 2.0, 3.0], differ), [[1, 2]]);
    }
}
