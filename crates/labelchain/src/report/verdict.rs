//! What the tests say, in sentences: over all criteria as in an abstract, and by one criterion.

use super::title;
use crate::stats::{Comparison, CriterionComparison};

/// A p-value as reports show it everywhere: three decimals without a zero before the point.
pub fn p_text(p: f64) -> String {
    match p {
        p if p < 0.0005 => "<.001".into(),
        p => format!("{p:.3}").trim_start_matches('0').into(),
    }
}

/// The outcome of a comparison in one sentence, as it could stand in an abstract.
///
/// It is about the method with the best mean rank by the most criteria, or about the control, and counts
/// the criteria by which Wilcoxon's test with Holm finds it better or worse than another. Where it finds
/// nothing, the sentence says so.
pub fn verdict(comparison: &Comparison) -> String {
    let Comparison { plan, methods, criteria, .. } = comparison;
    let alpha = plan.alpha;
    let start = format!("On {}, ", comparison.sets_in_words());
    let n_criteria = criteria.len();
    let (leader, n_best) = leader(comparison);
    let best =
        format!("{} has the best mean rank by {}", methods[leader], share(comparison, n_best));
    let n_tests = criteria.first().map_or(0, |of| of.pairs.len());
    let is_found = criteria.iter().flat_map(|of| &of.pairs).any(|pair| pair.p_holm <= alpha);
    if is_found {
        let hero = plan.control.unwrap_or(leader);
        let outcome = standing(comparison, hero);
        let family = if plan.control.is_some() { "comparisons" } else { "pairs" };
        let test = match n_tests {
            1 => format!("(Wilcoxon's test, level {alpha})"),
            n => format!("(Wilcoxon's test, Holm over {n} {family}, level {alpha})"),
        };
        return match plan.control {
            Some(control) => format!("{start}the control {} {outcome} {test}.", methods[control]),
            None => format!("{start}{best} and {outcome} {test}."),
        };
    }
    let by_any = match &criteria[..] {
        [of] => format!("by {}", title(&of.table.criterion)),
        _ => format!("by any of {n_criteria} criteria"),
    };
    let between = match plan.control {
        Some(control) => format!("of any method from the control {}", methods[control]),
        None => format!("between {} methods", methods.len()),
    };
    let n_differing = criteria.iter().filter(|of| comparison.methods_differ(of)).count();
    let has_too_few_sets = criteria.iter().all(|of| of.has_too_few_sets(alpha));
    let few = if has_too_few_sets { ", nor could it be on so few data sets" } else { "" };
    let found = if n_differing > 0 && plan.control.is_none() {
        format!(
            "the {} methods differ by {} (Friedman's test with Holm, level {alpha}), but which of them \
             was not found{few} (Wilcoxon's test with Holm)",
            methods.len(),
            share(comparison, n_differing)
        )
    } else {
        format!("no difference {between} was found {by_any} at level {alpha}{few}")
    };
    match plan.control {
        Some(_) => format!("{start}{found}."),
        None => format!("{start}{found}; {best}."),
    }
}

/// The method with the best mean rank by the most criteria, and by how many. Of several, it is the one
/// with the least sum of mean ranks.
fn leader(comparison: &Comparison) -> (usize, usize) {
    let criteria = &comparison.criteria;
    let n_best = |method: usize| {
        let is_best = |of: &&CriterionComparison| {
            of.mean_ranks.iter().all(|&rank| rank >= of.mean_ranks[method])
        };
        criteria.iter().filter(is_best).count()
    };
    let sum = |method: usize| criteria.iter().map(|of| of.mean_ranks[method]).sum::<f64>();
    let better =
        |&a: &usize, &b: &usize| n_best(b).cmp(&n_best(a)).then_with(|| sum(a).total_cmp(&sum(b)));
    let leader = (0..comparison.methods.len()).min_by(better).unwrap_or(0);
    (leader, n_best(leader))
}

/// "Hamming", or "3 of 11 criteria".
fn share(comparison: &Comparison, n: usize) -> String {
    match &comparison.criteria[..] {
        [of] => title(&of.table.criterion),
        criteria => format!("{n} of {} criteria", criteria.len()),
    }
}

/// What a method is in relation to the others: significantly better than some, worse than some, and not
/// told apart from the rest.
fn standing(comparison: &Comparison, method: usize) -> String {
    let (alpha, criteria) = (comparison.plan.alpha, &comparison.criteria);
    let others = || (0..comparison.methods.len()).filter(|&other| other != method);
    let is_one = criteria.len() == 1;
    // Of several criteria, the number stands behind the name, and the noun behind the first number.
    let counted = |is_better: &dyn Fn(&CriterionComparison, usize) -> bool| {
        let count = |other: usize| criteria.iter().filter(|of| is_better(of, other)).count();
        let mut counts: Vec<(usize, usize)> =
            others().map(|other| (other, count(other))).filter(|&(_, n)| n > 0).collect();
        counts.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let in_words = |(place, &(other, n)): (usize, &(usize, usize))| {
            let name = &comparison.methods[other];
            match (is_one, place, n) {
                (true, ..) => name.clone(),
                (false, 0, 1) => format!("{name} by 1 criterion"),
                (false, 0, n) => format!("{name} by {n} criteria"),
                (false, _, n) => format!("{name} by {n}"),
            }
        };
        counts.iter().enumerate().map(in_words).collect::<Vec<String>>()
    };
    let better = counted(&|of, other| of.is_better(method, other, alpha));
    let worse = counted(&|of, other| of.is_better(other, method, alpha));
    let is_same = |&other: &usize| {
        let differs = |of: &CriterionComparison| {
            of.is_better(method, other, alpha) || of.is_better(other, method, alpha)
        };
        !criteria.iter().any(differs)
    };
    let same: Vec<String> =
        others().filter(is_same).map(|other| comparison.methods[other].clone()).collect();
    let mut parts = Vec::new();
    if !better.is_empty() {
        parts.push(format!("significantly better than {}", listed(better)));
    }
    if !worse.is_empty() {
        parts.push(format!("significantly worse than {}", listed(worse)));
    }
    if parts.is_empty() {
        parts.push("not told apart from any other method, while some of those differ".into());
    } else if !same.is_empty() {
        parts.push(format!("not told apart from {}", listed(same)));
    }
    // The parts hold commas and "and" of their own.
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("is {}, and {last}", parts.join(", ")),
        last => format!("is {}", last.unwrap_or_default()),
    }
}

/// "a", "a and b", "a, b and c"; of more than five, the first four and the number of the others.
fn listed(mut parts: Vec<String>) -> String {
    if parts.len() > 5 {
        let n_more = parts.len() - 4;
        parts.truncate(4);
        parts.push(format!("{n_more} others"));
    }
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        Some(last) => last,
        None => String::new(),
    }
}

/// What limits the tests: where Wilcoxon's test cannot reach the level however the methods compare, a
/// sentence says so, and what would help; and where it finds differences that Friedman's test does not.
pub fn cautions(comparison: &Comparison) -> Vec<String> {
    let (alpha, criteria) = (comparison.plan.alpha, &comparison.criteria);
    let blind = || criteria.iter().filter(|of| of.has_too_few_sets(alpha));
    // Gaps may leave a different number of data sets for each criterion.
    let mut n_sets: Vec<usize> = blind().map(|of| of.used.len()).collect();
    n_sets.sort_unstable();
    n_sets.dedup();
    let sentence = |n_sets: usize| {
        let of_these: Vec<&CriterionComparison> =
            blind().filter(|of| of.used.len() == n_sets).collect();
        let n_tests = of_these.first().map_or(0, |of| of.pairs.len());
        let least = of_these.iter().map(|of| of.least_p_holm()).fold(1.0, f64::min);
        let by = if of_these.len() == criteria.len() {
            String::new()
        } else {
            let titles = of_these.iter().map(|of| title(&of.table.criterion)).collect();
            format!(" by {}", listed(titles))
        };
        let k = comparison.methods.len();
        let family = match (comparison.plan.control, n_tests) {
            (_, 1) => "one comparison".to_string(),
            (Some(_), n) => format!("{n} comparisons with the control"),
            (None, n) => format!("{n} pairs of methods"),
        };
        let needed = sets_needed(n_tests, alpha);
        let control = match comparison.plan.control {
            None if sets_needed(k - 1, alpha) < needed => {
                let with_control = sets_needed(k - 1, alpha);
                let enough = if with_control <= n_sets {
                    "these would".into()
                } else {
                    format!("{with_control} would")
                };
                format!(
                    "; with a control, which makes {} comparisons instead of {n_tests}, {enough}",
                    k - 1
                )
            }
            _ => String::new(),
        };
        format!(
            "Wilcoxon's test can tell no two methods apart{by}: on {n_sets} data sets, with Holm over \
             {family}, no p-value can be less than {}, and the level is {alpha}. At least {needed} data \
             sets would do{control}.",
            p_text(least)
        )
    };
    // Of two methods, both tests are about the same pair.
    let is_disputed = |of: &&CriterionComparison| {
        let n_apart = of.pairs.iter().filter(|pair| pair.p_holm <= alpha).count();
        comparison.methods.len() > 2 && n_apart > 0 && !comparison.methods_differ(of)
    };
    let disputed: Vec<String> =
        criteria.iter().filter(is_disputed).map(|of| title(&of.table.criterion)).collect();
    let care = (!disputed.is_empty()).then(|| {
        format!(
            "By {}, Wilcoxon's test finds differences and Friedman's does not: to be taken with care.",
            listed(disputed)
        )
    });
    n_sets.into_iter().map(sentence).chain(care).collect()
}

/// The number of data sets from which on the least p of the exact test, 2 / 2ⁿ, reaches the level after
/// Holm over so many tests.
fn sets_needed(n_tests: usize, alpha: f64) -> usize {
    let reaches = |&n: &usize| n_tests as f64 * 2.0 * 0.5f64.powf(n as f64) <= alpha;
    (1..1000).find(reaches).unwrap_or(1000)
}

/// The outcome of the tests by one criterion, in two sentences.
pub(super) fn of_criterion(comparison: &Comparison, of: &CriterionComparison) -> String {
    let differ = comparison.methods_differ(of);
    let n_apart = of.pairs.iter().filter(|pair| pair.p_holm <= comparison.plan.alpha).count();
    let of_pairs = match comparison.plan.control {
        None => format!("tells {n_apart} of {} pairs apart", of.pairs.len()),
        Some(control) => format!(
            "finds {n_apart} of {} methods different from the control, {}",
            of.pairs.len(),
            comparison.methods[control]
        ),
    };
    format!(
        "Friedman's test {} a difference between the methods (chi-squared {:.2}, p {}, with Holm {}). \
         Wilcoxon's test with Holm {of_pairs}{}.",
        if differ { "finds" } else { "does not find" },
        of.friedman.statistic,
        p_text(of.friedman.p),
        p_text(of.friedman_p_holm),
        if !differ && n_apart > 0 {
            "; without the former, that is to be taken with care"
        } else {
            ""
        }
    )
}

/// What was compared, and by which criteria there are differences at all.
pub(super) fn findings(comparison: &Comparison) -> Vec<String> {
    let Comparison { plan, methods, criteria, .. } = comparison;
    let n = criteria.len();
    let differing = criteria.iter().filter(|of| comparison.methods_differ(of));
    let differing: Vec<String> = differing.map(|of| title(&of.table.criterion)).collect();
    vec![
        format!(
            "{} methods on {}, by {n} {}; level of significance {}{}.",
            methods.len(),
            comparison.sets_in_words(),
            if n == 1 { "criterion" } else { "criteria" },
            plan.alpha,
            plan.control.map(|at| format!("; control {}", methods[at])).unwrap_or_default()
        ),
        if differing.is_empty() {
            "Friedman's test finds a difference by none of the criteria.".into()
        } else {
            format!(
                "Friedman's test finds a difference by {} of {n}: {}.",
                differing.len(),
                differing.join(", ")
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{LossTable, TestPlan};

    /// On set s, method m has the loss `base[m]`, and a little more the greater s is, so that no two
    /// differences are equal.
    fn compared(n_sets: usize, criteria: &[(&str, &[f64])], plan: TestPlan) -> Comparison {
        let names = |prefix: &str, n: usize| -> Vec<String> {
            (0..n).map(|at| format!("{prefix}{}", at + 1)).collect()
        };
        let table = |(criterion, base): &(&str, &[f64])| LossTable {
            criterion: criterion.to_string(),
            losses: (0..n_sets)
                .map(|set| {
                    let grown = |loss: &f64| Some(loss * (1.0 + set as f64 / 64.0));
                    base.iter().map(grown).collect()
                })
                .collect(),
            higher_is_better: false,
        };
        let k = criteria[0].1.len();
        let tables = criteria.iter().map(table).collect();
        Comparison::of(&names("set", n_sets), &names("m", k), tables, plan).unwrap()
    }

    #[test]
    fn p_values_have_one_format() {
        let shown = [0.0254, 1.0, 0.99951, 0.0001, 0.5].map(p_text);
        assert_eq!(shown, [".025", "1.000", "1.000", "<.001", ".500"]);
    }

    #[test]
    fn the_verdict_says_who_is_better_than_whom() {
        let criteria: [(&str, &[f64]); 2] =
            [("hamming", &[0.1, 0.2, 0.3]), ("macro_f1", &[0.1, 0.1, 0.3])];
        let found = verdict(&compared(10, &criteria, TestPlan::default()));
        // By macro F1, m1 and m2 tie everywhere; 3 · 2 / 2¹⁰ is well below the level.
        assert_eq!(
            found,
            "On 10 data sets, m1 has the best mean rank by 2 of 2 criteria and is significantly better \
             than m3 by 2 criteria and m2 by 1 (Wilcoxon's test, Holm over 3 pairs, level 0.05)."
        );
        let found = verdict(&compared(10, &criteria[..1], TestPlan::default()));
        assert_eq!(
            found,
            "On 10 data sets, m1 has the best mean rank by Hamming and is significantly better than m2 \
             and m3 (Wilcoxon's test, Holm over 3 pairs, level 0.05)."
        );
        let control = TestPlan { control: Some(1), ..TestPlan::default() };
        let found = verdict(&compared(10, &criteria, control));
        assert_eq!(
            found,
            "On 10 data sets, the control m2 is significantly better than m3 by 2 criteria, and \
             significantly worse than m1 by 1 criterion (Wilcoxon's test, Holm over 2 comparisons, \
             level 0.05)."
        );
    }

    #[test]
    fn the_verdict_says_that_nothing_was_found() {
        let same: [(&str, &[f64]); 1] = [("hamming", &[0.1, 0.1])];
        let found = verdict(&compared(10, &same, TestPlan::default()));
        assert_eq!(
            found,
            "On 10 data sets, no difference between 2 methods was found by Hamming at level 0.05; m1 has \
             the best mean rank by Hamming."
        );
        // It is not for lack of data sets.
        assert!(cautions(&compared(10, &same, TestPlan::default())).is_empty());
        let control = TestPlan { control: Some(0), ..TestPlan::default() };
        let few: [(&str, &[f64]); 2] = [("hamming", &[0.1, 0.2]), ("macro_f1", &[0.2, 0.1])];
        assert_eq!(
            verdict(&compared(3, &few, control)),
            "On 3 data sets, no difference of any method from the control m1 was found by any of 2 \
             criteria at level 0.05, nor could it be on so few data sets."
        );
    }

    /// 15 pairs, 2 / 2⁷ each: 15 / 64 = .234. At level .05, 15 · 2 / 2ⁿ is small enough from n = 10 on
    /// (.029; .059 with nine), and 5 · 2 / 2ⁿ from n = 8 on (.039; .078 with seven).
    #[test]
    fn seven_sets_and_six_methods_cannot_reach_the_level() {
        let six: [(&str, &[f64]); 1] = [("hamming", &[0.1, 0.2, 0.3, 0.5, 0.7, 0.9])];
        let compared_by = |n_sets, alpha, control| {
            compared(n_sets, &six, TestPlan { alpha, control, ..TestPlan::default() })
        };
        let seven = compared_by(7, 0.05, None);
        assert_eq!(seven.criteria[0].least_p_holm(), 15.0 / 64.0);
        assert_eq!(
            cautions(&seven),
            [
                "Wilcoxon's test can tell no two methods apart: on 7 data sets, with Holm over 15 pairs of \
              methods, no p-value can be less than .234, and the level is 0.05. At least 10 data sets \
              would do; with a control, which makes 5 comparisons instead of 15, 8 would."
            ]
        );
        assert_eq!(
            verdict(&seven),
            "On 7 data sets, the 6 methods differ by Hamming (Friedman's test with Holm, level 0.05), \
             but which of them was not found, nor could it be on so few data sets (Wilcoxon's test with \
             Holm); m1 has the best mean rank by Hamming."
        );
        // At the paper's level, five comparisons on these seven sets are enough: 5 / 64 = .078.
        let at_the_papers = &cautions(&compared_by(7, 0.1, None))[0];
        assert!(at_the_papers.ends_with("5 comparisons instead of 15, these would."));
        let with_control = compared_by(7, 0.05, Some(0));
        assert!(
            cautions(&with_control)[0].contains("with Holm over 5 comparisons with the control"),
            "{:?}",
            cautions(&with_control)
        );
        assert!(cautions(&compared_by(10, 0.05, None)).is_empty());
        assert!(cautions(&compared_by(8, 0.05, Some(3))).is_empty());
    }
}
