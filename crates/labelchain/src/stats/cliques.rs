//! Which methods does a test not distinguish? These groups are the bars of a critical-difference
//! diagram.

/// The maximal groups of two or more methods that are consecutive by mean rank and of which no two
/// differ. Each group lists its methods by ascending mean rank.
///
/// Wilcoxon's test may distinguish a method from its neighbour and not from one further away. Groups
/// are consecutive nevertheless, so that a bar never covers a method that does not belong to it.
pub fn cliques(mean_ranks: &[f64], differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let order = by_rank(mean_ranks);
    let mut cliques = Vec::new();
    let mut covered = 0;
    for first in 0..order.len() {
        let mut end = first + 1;
        while end < order.len() && !order[first..end].iter().any(|&a| differ(a, order[end])) {
            end += 1;
        }
        // A group that does not extend beyond an earlier one is a part of it, and not maximal.
        if end > covered && end - first > 1 {
            cliques.push(order[first..end].to_vec());
        }
        covered = covered.max(end);
    }
    cliques
}

/// The methods by ascending mean rank; methods with equal mean ranks keep their order.
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
    /// no bar may extend from the first to the third.
    #[test]
    fn no_bar_passes_over_a_method_that_differs() {
        let differ = |a: usize, b: usize| (a.min(b), a.max(b)) == (0, 1);
        assert_eq!(cliques(&[1.0, 2.0, 3.0], differ), [[1, 2]]);
    }
}
