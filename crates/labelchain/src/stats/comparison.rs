//! Compares several methods on several data sets with all the tests, as in the paper: mean ranks,
//! Friedman's test with Holm over the criteria, Nemenyi's critical difference, and Wilcoxon's test
//! for every pair of methods with Holm over the pairs of a criterion. With a control, only its k - 1
//! pairs are tested, and Holm's family is these.

use std::collections::HashMap;

use rayon::prelude::*;

use super::bayes::{Posterior, bayesian_signed_ranks};
use super::cliques::cliques;
use super::effect::{Effect, effect};
use super::friedman::{Friedman, friedman};
use super::holm::holm;
use super::nemenyi::{control_critical_difference, critical_difference};
use super::ranks::ranks;
use super::wilcoxon::{SignedRanks, Wilcoxon, Zeros};
use crate::error::{Error, Remedy, Result};
use crate::seed::Seed;

/// What to do where a method has no loss on a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// The comparison is refused, with an error that names the method and the data set.
    #[default]
    Refuse,
    /// The data set is left out, for that criterion.
    DropSets,
    /// The missing loss counts as greater than any other: the method has the worst rank on that
    /// data set, tied with other methods whose loss is missing.
    WorstRank,
}

/// Which tests are made, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestPlan {
    /// The level of significance.
    pub alpha: f64,
    /// The method that the others are compared with, as an index. Without one, all pairs are tested.
    pub control: Option<usize>,
    /// What to do about missing losses.
    pub gaps: Gaps,
    /// What Wilcoxon's test does with zero differences.
    pub zeros: Zeros,
    /// The largest number of differences for which Wilcoxon's test is exact.
    pub exact_up_to: usize,
    /// The region of practical equivalence of the Bayesian test; without one, this test is not made.
    pub region: Option<f64>,
    /// The seed of the Bayesian test.
    pub seed: Seed,
}

impl TestPlan {
    /// The level of significance unless another is asked for. The paper's is 0.1.
    pub const ALPHA: f64 = 0.05;
}

impl Default for TestPlan {
    fn default() -> TestPlan {
        TestPlan {
            alpha: TestPlan::ALPHA,
            control: None,
            gaps: Gaps::Refuse,
            zeros: Zeros::Wilcox,
            exact_up_to: SignedRanks::EXACT_UP_TO,
            region: None,
            seed: Seed::new(1),
        }
    }
}

/// The losses of every method (column) on every data set (row), by one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTable {
    /// The criterion.
    pub criterion: String,
    /// The losses; `None` where a method was not measured on a data set.
    pub losses: Vec<Vec<Option<f64>>>,
    /// Whether the values are scores, such as accuracy, of which larger ones are better.
    pub higher_is_better: bool,
}

/// The methods compared, criterion by criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The tests that were made.
    pub plan: TestPlan,
    /// The data sets; rows of every table.
    pub datasets: Vec<String>,
    /// The methods; columns of every table.
    pub methods: Vec<String>,
    /// The outcome by each criterion.
    pub criteria: Vec<CriterionComparison>,
}

/// The outcome of all tests by one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionComparison {
    /// The losses that were compared.
    pub table: LossTable,
    /// The data sets that count, as indices into [`Comparison::datasets`].
    pub used: Vec<usize>,
    /// The ranks of the methods on each data set that counts.
    pub ranks: Vec<Vec<f64>>,
    /// Their means over the data sets.
    pub mean_ranks: Vec<f64>,
    /// Friedman's test: do the methods differ at all?
    pub friedman: Friedman,
    /// The p-value of Friedman's test, adjusted by Holm over the criteria.
    pub friedman_p_holm: f64,
    /// By how much mean ranks must differ to be significant: Nemenyi's critical difference or, with a
    /// control, that of Bonferroni and Dunn.
    pub critical_difference: f64,
    /// All pairs of methods in lexicographic order: 0 and 1, 0 and 2, …, 1 and 2, … With a control,
    /// only the pairs of it and each other method, in the order of the others; the control is first in
    /// each.
    pub pairs: Vec<Pair>,
}

/// The outcome of the tests of two methods by one criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first method.
    pub a: usize,
    /// The second method.
    pub b: usize,
    /// Wilcoxon's test: do the two differ? A difference is positive where the first has the greater
    /// loss.
    pub wilcoxon: Wilcoxon,
    /// The p-value of Wilcoxon's test, adjusted by Holm over the pairs that are tested by the criterion.
    pub p_holm: f64,
    /// How large the difference is; positive in favour of the first.
    pub effect: Effect,
    /// The Bayesian test, if the plan has a region of practical equivalence.
    pub posterior: Option<Posterior>,
}

impl Comparison {
    /// The data sets that count, in words: "30 data sets", or "26 to 28 of 30 data sets" where gaps
    /// leave some out.
    pub fn sets_in_words(&self) -> String {
        let all = self.datasets.len();
        let used = || self.criteria.iter().map(|of| of.used.len());
        let (min, max) = (used().min().unwrap_or(all), used().max().unwrap_or(all));
        let sets = if all == 1 { "data set" } else { "data sets" };
        if min < max {
            format!("{min} to {max} of {all} {sets}")
        } else if max < all {
            format!("{max} of {all} {sets}")
        } else {
            format!("{all} {sets}")
        }
    }

    /// Whether Friedman's test, with Holm over the criteria, finds a difference between the methods by
    /// this criterion. Where it does not, comparisons of mean ranks after it, Nemenyi's and Bonferroni and
    /// Dunn's, are not made.
    pub fn methods_differ(&self, of: &CriterionComparison) -> bool {
        of.friedman_p_holm <= self.plan.alpha
    }

    /// Compares methods by the losses of every table.
    pub fn of(
        datasets: &[String],
        methods: &[String],
        tables: Vec<LossTable>,
        plan: TestPlan,
    ) -> Result<Comparison> {
        if methods.len() < 2 {
            return Err(Error::Comparison {
                problem: format!("a comparison needs two methods or more, found {}", methods.len()),
                remedy: "name another; in a table, each has a value in a column called method"
                    .into(),
            });
        }
        if let Some(region) = plan.region
            && !(region.is_finite() && region >= 0.0)
        {
            let (name, value) = ("region of practical equivalence", region.to_string());
            return Err(Error::Setting { name, value, accepted: "a number from 0" });
        }
        if let Some(control) = plan.control.filter(|&control| control >= methods.len()) {
            let (name, value) = ("control", control.to_string());
            return Err(Error::Setting { name, value, accepted: "the index of a method" });
        }
        let test = SignedRanks::new(plan.zeros, plan.exact_up_to)?;
        let mut differences: HashMap<usize, f64> = HashMap::new();
        let mut criteria = Vec::with_capacity(tables.len());
        for table in tables {
            let used = used(&table, datasets, methods, plan.gaps)?;
            // The quantile is the same for all criteria with the same number of data sets.
            let critical_difference = match differences.get(&used.len()) {
                Some(&known) => known,
                None => {
                    let difference = match plan.control {
                        None => critical_difference,
                        Some(_) => control_critical_difference,
                    };
                    let found = difference(methods.len(), used.len(), plan.alpha)?;
                    differences.insert(used.len(), found);
                    found
                }
            };
            criteria.push(measure(table, used, methods.len(), critical_difference, &test, &plan));
        }
        let p: Vec<f64> = criteria.iter().map(|criterion| criterion.friedman.p).collect();
        for (criterion, p_holm) in criteria.iter_mut().zip(holm(&p)) {
            criterion.friedman_p_holm = p_holm;
        }
        Ok(Comparison { plan, datasets: datasets.into(), methods: methods.into(), criteria })
    }
}

/// The data sets on which methods are compared, by the rule for missing losses.
fn used(
    table: &LossTable,
    datasets: &[String],
    methods: &[String],
    gaps: Gaps,
) -> Result<Vec<usize>> {
    Error::unless_same("data sets of a table", datasets.len(), table.losses.len())?;
    for row in &table.losses {
        Error::unless_same("methods of a table", methods.len(), row.len())?;
    }
    let lacking =
        |method: usize| (0..datasets.len()).filter(move |&set| table.losses[set][method].is_none());
    let worst = (0..methods.len()).rev().max_by_key(|&method| lacking(method).count());
    if gaps == Gaps::Refuse
        && let Some(method) = worst
        && let Some(first) = lacking(method).next()
    {
        return Err(Error::Comparison {
            problem: format!(
                "{}: {:?} has no loss, or not all folds, on {} of {} data sets (first: {:?})",
                table.criterion,
                methods[method],
                lacking(method).count(),
                datasets.len(),
                datasets[first]
            ),
            remedy: Remedy::default()
                .set("gaps", "drop-sets")
                .text(" leaves such data sets out; ")
                .set("gaps", "worst-rank")
                .text(" lets the method come last there"),
        });
    }
    let counts = |&set: &usize| match gaps {
        Gaps::Refuse | Gaps::DropSets => table.losses[set].iter().all(Option::is_some),
        Gaps::WorstRank => table.losses[set].iter().any(Option::is_some),
    };
    let used: Vec<usize> = (0..datasets.len()).filter(counts).collect();
    if used.len() < 2 {
        return Err(Error::Comparison {
            problem: format!(
                "{}: a comparison needs two data sets or more, found {}{}",
                table.criterion,
                used.len(),
                if gaps == Gaps::DropSets { " without gaps" } else { "" }
            ),
            remedy: "results of folds or runs on one data set are not independent: \
                     measure on more data sets"
                .into(),
        });
    }
    Ok(used)
}

fn measure(
    table: LossTable,
    used: Vec<usize>,
    n_methods: usize,
    critical_difference: f64,
    test: &SignedRanks,
    plan: &TestPlan,
) -> CriterionComparison {
    let sign = if table.higher_is_better { -1.0 } else { 1.0 };
    let loss = |cell: &Option<f64>| cell.map_or(f64::INFINITY, |value| sign * value);
    let losses: Vec<Vec<f64>> =
        used.iter().map(|&set| table.losses[set].iter().map(loss).collect()).collect();

    let ranked: Vec<_> = losses.iter().map(|row| ranks(row)).collect();
    let tie_term = ranked.iter().map(|ranked| ranked.tie_term).sum();
    let ranks: Vec<Vec<f64>> = ranked.into_iter().map(|ranked| ranked.ranks).collect();
    let sum = |method: usize| ranks.iter().map(|row| row[method]).sum::<f64>();
    let rank_sums: Vec<f64> = (0..n_methods).map(sum).collect();
    let friedman = friedman(&rank_sums, used.len(), tie_term);

    let both: Vec<(usize, usize)> = match plan.control {
        None => (0..n_methods).flat_map(|a| (a + 1..n_methods).map(move |b| (a, b))).collect(),
        Some(control) => (0..n_methods).filter(|&b| b != control).map(|b| (control, b)).collect(),
    };
    let pair = |(at, &(a, b)): (usize, &(usize, usize))| {
        // Two missing losses are equal, although ∞ - ∞ is NaN.
        let difference = |row: &Vec<f64>| if row[a] == row[b] { 0.0 } else { row[a] - row[b] };
        let differences: Vec<f64> = losses.iter().map(difference).collect();
        let wilcoxon = test.test(&differences);
        let seed = plan.seed.child("pair", at);
        let posterior = plan.region.map(|region| bayesian_signed_ranks(&differences, region, seed));
        let effect = effect(&wilcoxon);
        Pair { a, b, wilcoxon, p_holm: wilcoxon.p, effect, posterior }
    };
    let mut pairs: Vec<Pair> = both.par_iter().enumerate().map(pair).collect();
    let p: Vec<f64> = pairs.iter().map(|pair| pair.wilcoxon.p).collect();
    for (pair, p_holm) in pairs.iter_mut().zip(holm(&p)) {
        pair.p_holm = p_holm;
    }

    CriterionComparison {
        table,
        mean_ranks: rank_sums.iter().map(|sum| sum / used.len() as f64).collect(),
        used,
        ranks,
        friedman,
        friedman_p_holm: friedman.p,
        critical_difference,
        pairs,
    }
}

impl CriterionComparison {
    /// The outcome for two methods, named in either order; nothing if the two are not compared.
    pub fn pair(&self, a: usize, b: usize) -> Option<&Pair> {
        // With and without a control, pairs ascend by their smaller and then by their greater index.
        let key = |a: usize, b: usize| (a.min(b), a.max(b));
        let found = self.pairs.binary_search_by_key(&key(a, b), |pair| key(pair.a, pair.b));
        found.ok().map(|at| &self.pairs[at])
    }

    /// Whether the first method is better than the second, and Wilcoxon's test with Holm finds the
    /// difference significant at level `alpha`.
    pub fn is_better(&self, a: usize, b: usize, alpha: f64) -> bool {
        self.pair(a, b).is_some_and(|pair| {
            pair.p_holm <= alpha && (pair.effect.rank_biserial > 0.0) == (pair.a == a)
        })
    }

    /// The least p-value that Wilcoxon's test could have after Holm's adjustment, with these numbers of
    /// data sets and pairs: if it is above the level, no pair can be told apart.
    pub fn least_p_holm(&self) -> f64 {
        let least = self.pairs.iter().map(|pair| pair.wilcoxon.least_p);
        (least.fold(1.0, f64::min) * self.pairs.len() as f64).min(1.0)
    }

    /// Whether there are too few data sets for Wilcoxon's test with Holm to tell any two methods apart at
    /// level `alpha`, even if one of them were better on all sets.
    pub fn has_too_few_sets(&self, alpha: f64) -> bool {
        // Where losses are equal on many sets, the least p is large for another reason than their number.
        let least_of_all = 2.0 * 0.5f64.powf(self.used.len() as f64) * self.pairs.len() as f64;
        least_of_all > alpha && self.least_p_holm() > alpha
    }

    /// Groups of methods whose mean ranks differ by less than the critical difference: those that
    /// Nemenyi's test does not distinguish.
    pub fn nemenyi_cliques(&self) -> Vec<Vec<usize>> {
        let ranks = &self.mean_ranks;
        cliques(ranks, |a, b| (ranks[a] - ranks[b]).abs() >= self.critical_difference)
    }

    /// Groups of methods, consecutive by mean rank, of which Wilcoxon's test with Holm finds no two
    /// different at level `alpha`. Two methods that were not compared, for neither is the control, are not
    /// joined.
    pub fn wilcoxon_cliques(&self, alpha: f64) -> Vec<Vec<usize>> {
        cliques(&self.mean_ranks, |a, b| self.pair(a, b).is_none_or(|pair| pair.p_holm <= alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn table(criterion: &str, losses: &[&[Option<f64>]]) -> LossTable {
        let losses = losses.iter().map(|row| row.to_vec()).collect();
        LossTable { criterion: criterion.into(), losses, higher_is_better: false }
    }

    const L: fn(f64) -> Option<f64> = Some;

    fn compare(tables: Vec<LossTable>, gaps: Gaps) -> Result<Comparison> {
        let sets: Vec<String> =
            (0..tables[0].losses.len()).map(|set| format!("set{set}")).collect();
        let plan = TestPlan { gaps, ..TestPlan::default() };
        Comparison::of(&sets, &names(&["a", "b", "c"]), tables, plan)
    }

    #[test]
    fn ranks_pairs_and_both_families_of_tests_come_together() {
        let first = table(
            "one",
            &[
                &[L(0.1), L(0.2), L(0.3)],
                &[L(0.2), L(0.25), L(0.4)],
                &[L(0.3), L(0.3), L(0.5)],
                &[L(0.35), L(0.5), L(0.45)],
            ],
        );
        let mut second = first.clone();
        second.criterion = "two".into();
        second.higher_is_better = true;
        let compared = compare(vec![first, second], Gaps::Refuse).unwrap();
        let [one, two] = &compared.criteria[..] else { panic!() };
        // Ranks 1 2 3, 1 2 3, 1.5 1.5 3, 1 3 2.
        assert_eq!(one.mean_ranks, [4.5 / 4.0, 8.5 / 4.0, 11.0 / 4.0]);
        assert_eq!(two.mean_ranks, one.mean_ranks.iter().map(|r| 4.0 - r).collect::<Vec<_>>());
        // Two equal p-values: both are doubled.
        assert_eq!(one.friedman_p_holm, 2.0 * one.friedman.p);
        let pair = one.pair(2, 1).unwrap();
        assert_eq!((pair.a, pair.b), (1, 2));
        // b - c: -0.1, -0.15, -0.2, +0.05: three wins, W = 1, 2 (2/16).
        assert_eq!((pair.effect.wins, pair.effect.losses), (3, 1));
        assert_eq!((pair.wilcoxon.w(), pair.wilcoxon.p), (1.0, 0.25));
        assert_eq!(two.pair(1, 2).unwrap().effect.wins, 1);
        let at: Vec<(usize, usize)> = one.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(at, [(0, 1), (0, 2), (1, 2)]);
        assert!(one.pair(1, 1).is_none() && one.pair(0, 3).is_none());
    }

    #[test]
    fn gaps_are_refused_dropped_or_come_last() {
        let gappy = || {
            table(
                "hamming",
                &[
                    &[L(0.1), L(0.2), None],
                    &[L(0.1), L(0.2), L(0.3)],
                    &[L(0.1), L(0.2), L(0.15)],
                    &[None, None, L(0.1)],
                ],
            )
        };
        let error = compare(vec![gappy()], Gaps::Refuse).unwrap_err();
        assert_eq!(
            error.to_string(),
            "hamming: \"a\" has no loss, or not all folds, on 1 of 4 data sets (first: \"set3\")"
        );
        assert!(error.remedy().unwrap().to_string().contains("`gaps = drop-sets`"));

        let dropped = compare(vec![gappy()], Gaps::DropSets).unwrap();
        assert_eq!(dropped.criteria[0].used, [1, 2]);
        assert_eq!(dropped.criteria[0].mean_ranks, [1.0, 2.5, 2.5]);

        let last = compare(vec![gappy()], Gaps::WorstRank).unwrap();
        assert_eq!(last.criteria[0].ranks[0], [1.0, 2.0, 3.0]);
        assert_eq!(last.criteria[0].ranks[3], [2.5, 2.5, 1.0]);
        // a - b on the last set: both missing, no difference.
        assert_eq!(last.criteria[0].pair(0, 1).unwrap().wilcoxon.n(), 3);
    }

    #[test]
    fn too_little_is_refused() {
        let one = table("hamming", &[&[L(0.1), L(0.2), L(0.3)]]);
        let error = compare(vec![one], Gaps::Refuse).unwrap_err().to_string();
        assert_eq!(error, "hamming: a comparison needs two data sets or more, found 1");
        let alone = Comparison::of(&names(&["x"]), &names(&["a"]), vec![], TestPlan::default());
        assert_eq!(
            alone.unwrap_err().to_string(),
            "a comparison needs two methods or more, found 1"
        );
    }
}
