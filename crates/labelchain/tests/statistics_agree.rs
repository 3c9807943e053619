//! Statistics agree with others: SciPy, statsmodels and baycomp (`testdata/stats/make.py` wrote their
//! numbers), Demšar's published table, and the paper's printed p-values.
//!
//! Tests on the paper's tables look for them in `paper` beside the data sets (`LABELCHAIN_DATA`, else
//! `../shared/data` beside the checkout) and say that they were skipped where there are none.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::experiment::Results;
use labelchain::report::compare;
use labelchain::seed::Seed;
use labelchain::stats::distribution::{
    chi_squared_tail, f_tail, normal_tail, range_quantile, range_tail,
};
use labelchain::stats::{
    Comparison, LossTable, SignedRanks, TestPlan, Zeros, bayesian_signed_ranks,
    control_critical_difference, critical_difference, friedman, holm, ranks,
};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../testdata/stats/golden.json")).unwrap()
}

fn cases<'g>(golden: &'g Value, section: &str) -> &'g Vec<Value> {
    let cases = golden[section].as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Of two probabilities as small as 1e-80, the digits must agree and not only the zeros.
fn assert_agrees(ours: f64, theirs: &Value, golden: &Value, place: &Value) {
    let theirs = theirs.as_f64().unwrap();
    let tolerance = golden["tolerance"]["p"].as_f64().unwrap();
    assert!((ours - theirs).abs() <= tolerance * theirs.abs(), "{ours}, not {theirs}: {place}");
}

#[test]
fn tails_are_scipys() {
    let golden = golden();
    for case in cases(&golden, "tails") {
        let (x, degrees) = (case["x"].as_f64().unwrap(), numbers(&case["degrees"]));
        let ours = match case["of"].as_str().unwrap() {
            "normal" => normal_tail(x),
            "chi-squared" => chi_squared_tail(x, degrees[0]),
            "F" => f_tail(x, degrees[0], degrees[1]),
            other => panic!("{other}"),
        };
        assert_agrees(ours, &case["p"], &golden, case);
    }
}

#[test]
fn quantiles_of_the_studentized_range_are_scipys_for_up_to_1000_methods() {
    let golden = golden();
    let tolerance = golden["tolerance"]["q"].as_f64().unwrap();
    for case in cases(&golden, "quantiles") {
        let (k, alpha) = (case["k"].as_u64().unwrap() as usize, case["alpha"].as_f64().unwrap());
        let (ours, theirs) = (range_quantile(alpha, k), case["q"].as_f64().unwrap());
        assert!((ours - theirs).abs() < tolerance, "{ours}, not {theirs}: {case}");
        assert!((range_tail(theirs, k) - alpha).abs() < tolerance, "{case}");
    }
}

/// Demšar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, table 5 (a). Its
/// values are those of a table of the range with three decimals, divided by √2: 3.314 / √2 = 2.3434
/// is printed as 2.343, where the range is 3.31449 and the quotient 2.3437.
#[test]
fn critical_values_are_demsars() {
    let published = [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ];
    for (alpha, row) in published {
        for (k, q) in (2..).zip(row) {
            // CD = q √(k (k + 1) / (6 N)).
            let scale = (k as f64 * (k as f64 + 1.0) / (6.0 * 30.0)).sqrt();
            let ours = critical_difference(k, 30, alpha).unwrap() / scale;
            assert!((ours - q).abs() < 1e-3, "k {k}, alpha {alpha}: {ours}, not {q}");
        }
    }
}

/// The same, table 5 (b), of one method against each other. Its value for nine methods at 0.05 is printed
/// as 2.724, where the quantile of the normal distribution at 1 - 0.05 / 16 is 2.734; it is left out.
#[test]
fn critical_values_for_a_control_are_demsars() {
    let published = [
        (0.05, [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 0.0, 2.773]),
        (0.10, [1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539]),
    ];
    for (alpha, row) in published {
        for (k, q) in (2..).zip(row).filter(|&(_, q)| q > 0.0) {
            let scale = (k as f64 * (k as f64 + 1.0) / (6.0 * 30.0)).sqrt();
            let ours = control_critical_difference(k, 30, alpha).unwrap() / scale;
            assert!((ours - q).abs() < 1e-3, "k {k}, alpha {alpha}: {ours}, not {q}");
        }
    }
}

#[test]
fn friedmans_test_is_scipys_and_its_f_that_of_an_analysis_of_variance() {
    let golden = golden();
    for case in cases(&golden, "friedman") {
        let rows: Vec<Vec<f64>> = case["losses"].as_array().unwrap().iter().map(numbers).collect();
        let ranked: Vec<_> = rows.iter().map(|row| ranks(row)).collect();
        let tie_term = ranked.iter().map(|row| row.tie_term).sum();
        let sums: Vec<f64> =
            (0..rows[0].len()).map(|at| ranked.iter().map(|row| row.ranks[at]).sum()).collect();
        let ours = friedman(&sums, rows.len(), tie_term);
        assert_agrees(ours.statistic, &case["statistic"], &golden, case);
        assert_agrees(ours.p, &case["p"], &golden, case);
        assert_agrees(ours.f, &case["f"], &golden, case);
        assert_agrees(ours.f_p, &case["f_p"], &golden, case);
    }
}

#[test]
fn wilcoxons_test_is_scipys_exact_and_approximate_with_all_three_rules_for_zeros() {
    let golden = golden();
    for case in cases(&golden, "wilcoxon") {
        let zeros = match case["zeros"].as_str().unwrap() {
            "wilcox" => Zeros::Wilcox,
            "pratt" => Zeros::Pratt,
            "zsplit" => Zeros::Split,
            other => panic!("{other}"),
        };
        let is_exact = case["method"] == "exact";
        let test = SignedRanks::new(zeros, if is_exact { 100 } else { 0 }).unwrap();
        let ours = test.test(&numbers(&case["differences"]));
        assert_eq!(ours.is_exact, is_exact, "{case}");
        assert_eq!(ours.n() as u64, case["n"].as_u64().unwrap(), "{case}");
        assert_eq!(ours.w(), case["w"].as_f64().unwrap(), "{case}");
        assert_agrees(ours.p, &case["p"], &golden, case);
    }
}

#[test]
fn holms_adjustment_is_that_of_statsmodels() {
    let golden = golden();
    for case in cases(&golden, "holm") {
        let ours = holm(&numbers(&case["p"]));
        for (ours, theirs) in ours.iter().zip(case["adjusted"].as_array().unwrap()) {
            assert_agrees(*ours, theirs, &golden, case);
        }
    }
}

/// With a control, Holm's family is the k - 1 comparisons with it, and Dunn's critical difference takes
/// the place of Nemenyi's.
#[test]
fn a_control_is_compared_as_scipy_and_statsmodels_do() {
    let golden = golden();
    for case in cases(&golden, "controls") {
        let rows: Vec<Vec<f64>> = case["losses"].as_array().unwrap().iter().map(numbers).collect();
        let (n, k) = (rows.len(), rows[0].len());
        let names = |n: usize| -> Vec<String> { (0..n).map(|at| at.to_string()).collect() };
        let table = || LossTable {
            criterion: "loss".into(),
            losses: rows.iter().map(|row| row.iter().copied().map(Some).collect()).collect(),
            higher_is_better: false,
        };
        let control = case["control"].as_u64().unwrap() as usize;
        for (alpha, q) in case["q"].as_object().unwrap() {
            let alpha: f64 = alpha.parse().unwrap();
            let plan = TestPlan { alpha, control: Some(control), ..TestPlan::default() };
            let compared = Comparison::of(&names(n), &names(k), vec![table()], plan).unwrap();
            let of = &compared.criteria[0];
            let others: Vec<usize> = (0..k).filter(|&method| method != control).collect();
            assert_eq!(of.pairs.len(), k - 1);
            for (at, &other) in others.iter().enumerate() {
                let pair = of.pair(other, control).unwrap();
                assert_eq!((pair.a, pair.b), (control, other));
                assert_agrees(pair.wilcoxon.p, &case["p"][at], &golden, case);
                assert_agrees(pair.p_holm, &case["p_holm"][at], &golden, case);
            }
            assert!(of.pair(others[0], others[1]).is_none());
            let scale = ((k * (k + 1)) as f64 / (6.0 * n as f64)).sqrt();
            let tolerance = golden["tolerance"]["q"].as_f64().unwrap();
            let ours = of.critical_difference / scale;
            assert!((ours - q.as_f64().unwrap()).abs() < tolerance, "{ours}, not {q}: {case}");
        }
    }
}

#[test]
fn beliefs_are_those_of_baycomp() {
    let golden = golden();
    let tolerance = golden["tolerance"]["belief"].as_f64().unwrap();
    for case in cases(&golden, "beliefs") {
        let region = case["region"].as_f64().unwrap();
        let ours = bayesian_signed_ranks(&numbers(&case["differences"]), region, Seed::new(1));
        for (ours, theirs) in
            [(ours.better, "better"), (ours.equivalent, "equivalent"), (ours.worse, "worse")]
        {
            let theirs = case[theirs].as_f64().unwrap();
            assert!((ours - theirs).abs() < tolerance, "{ours}, not {theirs}: {case}");
        }
    }
}

/// P-values printed in the paper, by the inputs that docs/methods.md, 11.3 infers for them.
#[test]
fn a_handful_of_the_papers_p_values_is_reproduced() {
    // Friedman of all eleven criteria of the nearest-neighbour table, Hamming loss: p 0.0017166, by
    // Holm the fifth multiplier, printed as .008583.
    let tested = friedman(&[51.5, 85.0, 84.0, 79.5], 30, 6.0);
    assert!((5.0 * tested.p - 0.008583).abs() < 5e-7);
    // Wilcoxon in the naive Bayes table: n, smaller rank sum, multiplier, printed p. Any differences
    // with these rank sums will do: the signs of 1, 2, …, n, negative where they add up to w.
    let test = SignedRanks::new(Zeros::Wilcox, SignedRanks::EXACT_UP_TO).unwrap();
    for (n, w, multiplier, printed) in
        [(32, 117, 5.0, 0.025), (32, 136, 4.0, 0.063), (32, 177, 3.0, 0.319)]
    {
        let tested = test.test(&signed(n, w));
        assert_eq!((tested.is_exact, tested.w()), (true, f64::from(w)));
        assert!((tested.p * multiplier - printed).abs() < 5.1e-4, "{n} {w}");
    }
    // One zero among 32, so 31 differences by the normal approximation.
    let mut differences = signed(31, 228);
    differences.push(0.0);
    let tested = test.test(&differences);
    assert!(!tested.is_exact && (tested.p - 0.702).abs() < 5.1e-4, "{tested:?}");
}

/// 1, 2, …, n with such signs that the negative ones add up to w.
fn signed(n: u32, w: u32) -> Vec<f64> {
    let mut left = w;
    let mut signed: Vec<f64> = (1..=n)
        .rev()
        .map(|rank| {
            if left >= rank {
                left -= rank;
                -f64::from(rank)
            } else {
                f64::from(rank)
            }
        })
        .collect();
    assert_eq!(left, 0);
    signed.reverse();
    signed
}

/// A table of the paper, as rows of cells by column name.
fn printed(file: &str) -> Option<Vec<HashMap<String, String>>> {
    let text = fs::read_to_string(paper(file)?).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from));
    let names: Vec<String> = lines.next().unwrap().collect();
    Some(lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect())
}

fn paper(file: &str) -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    let path = data.join("../paper").join(file);
    if !path.exists() {
        eprintln!("skipped: no {file} at hand");
        return None;
    }
    Some(path)
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// Half a unit of the last digit printed, and a little for the binary form of either number.
fn precision(printed: &str) -> f64 {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    0.5000001 * 0.1f64.powi(decimals as i32)
}

#[test]
fn all_33_friedman_values_of_the_paper_are_reproduced() {
    let Some(rows) = printed("check_friedman.csv") else { return };
    assert_eq!(rows.len(), 33);
    for table in ["nb", "knn", "base"] {
        let rows: Vec<_> = rows.iter().filter(|row| row["table"] == table).collect();
        let raw: Vec<f64> = rows
            .iter()
            .map(|row| {
                let sums = row["doubled_rank_sums"].split_whitespace();
                let sums: Vec<f64> = sums.map(|sum| sum.parse::<f64>().unwrap() / 2.0).collect();
                friedman(&sums, number(row, "n") as usize, number(row, "tie_term")).p
            })
            .collect();
        for (row, p) in rows.iter().zip(holm(&raw)) {
            let printed = &row["p_printed"];
            let distance = (p - printed.parse::<f64>().unwrap()).abs();
            assert!(distance <= precision(printed), "{p}: {row:?}");
        }
    }
}

#[test]
fn all_138_testable_wilcoxon_values_of_the_paper_are_reproduced() {
    let Some(rows) = printed("check_wilcoxon.csv") else { return };
    assert_eq!(rows.len(), 138);
    let exact = SignedRanks::new(Zeros::Wilcox, SignedRanks::EXACT_UP_TO).unwrap();
    let approximate = SignedRanks::new(Zeros::Wilcox, 0).unwrap();
    for row in rows {
        let differences = signed(number(&row, "n_nonzero") as u32, number(&row, "w_min") as u32);
        let test = if row["method"] == "exact" { &exact } else { &approximate };
        let p = test.test(&differences).p * number(&row, "holm_multiplier");
        assert!((p - number(&row, "p_printed")).abs() < 0.00051, "{p}: {row:?}");
    }
}

/// All ways in which losses that print alike could have been ordered, as doubled ranks.
fn resolutions(printed: &[f64]) -> Vec<Vec<i32>> {
    let k = printed.len();
    let mut found = HashSet::new();
    // Any assignment of levels to methods is a weak order. Those that agree with the printed order
    // are counted.
    for levels in 0..k.pow(k as u32) {
        let level: Vec<usize> = (0..k).map(|at| levels / k.pow(at as u32) % k).collect();
        let keeps = |a: usize, b: usize| printed[a] >= printed[b] || level[a] < level[b];
        if (0..k).all(|a| (0..k).all(|b| keeps(a, b))) {
            let level: Vec<f64> = level.iter().map(|&level| level as f64).collect();
            let ranked = ranks(&level).ranks;
            found.insert(ranked.iter().map(|rank| (2.0 * rank) as i32).collect::<Vec<i32>>());
        }
    }
    found.into_iter().collect()
}

/// Claim 3 of docs/methods.md, 11.4.
#[test]
fn the_papers_rank_sums_can_be_reached_from_its_rounded_losses() {
    let (Some(path), Some(checks)) = (paper("results_knn.csv"), printed("check_friedman.csv"))
    else {
        return;
    };
    let results = Results::read(&path).unwrap();
    for (at, criterion) in results.criteria().iter().enumerate() {
        let mut reached: HashSet<Vec<i32>> = HashSet::from([vec![0; 4]]);
        for row in results.losses(at) {
            let row: Vec<f64> = row.into_iter().map(Option::unwrap).collect();
            let ways = resolutions(&row);
            reached = reached
                .iter()
                .flat_map(|sums| {
                    ways.iter().map(|way| sums.iter().zip(way).map(|(a, b)| a + b).collect())
                })
                .collect();
        }
        let check = checks
            .iter()
            .find(|check| check["table"] == "knn" && check["criterion"] == *criterion)
            .unwrap();
        let sums: Vec<i32> =
            check["doubled_rank_sums"].split_whitespace().map(|sum| sum.parse().unwrap()).collect();
        assert!(reached.contains(&sums), "{criterion}: {sums:?} of {} sums", reached.len());
    }
}

/// The Holm-adjusted p of each criterion and pair of methods.
fn adjusted(compared: &Comparison) -> BTreeMap<(String, String, String), f64> {
    let name = |method: usize| compared.methods[method].clone();
    compared
        .criteria
        .iter()
        .flat_map(|of| of.pairs.iter().map(move |pair| (of, pair)))
        .map(|(of, pair)| ((of.table.criterion.clone(), name(pair.a), name(pair.b)), pair.p_holm))
        .collect()
}

/// Claim 4 of docs/methods.md, 11.4.
#[test]
fn the_papers_decisions_follow_from_its_rounded_losses() {
    let (Some(path), Some(statistics)) = (paper("results_knn.csv"), printed("statistics_knn.csv"))
    else {
        return;
    };
    let results = Results::read(&path).unwrap();
    let compared = compare(&results, &[], TestPlan::default()).unwrap();

    let mut furthest = 0.0f64;
    for row in statistics.iter().filter(|row| row["statistic"] == "mean_rank") {
        let method = compared.methods.iter().position(|name| *name == row["algorithm_a"]).unwrap();
        let of = compared.criteria.iter().find(|of| of.table.criterion == row["criterion"]);
        furthest = furthest.max((of.unwrap().mean_ranks[method] - number(row, "value")).abs());
    }
    assert!((furthest - 0.18).abs() < 0.005, "mean ranks differ by up to {furthest}");

    let printed: BTreeMap<_, f64> = statistics
        .iter()
        .filter(|row| row["statistic"] == "wilcoxon_holm_p")
        .map(|row| {
            let [criterion, a, b] =
                ["criterion", "algorithm_a", "algorithm_b"].map(|column| row[column].clone());
            ((criterion, a, b), number(row, "value"))
        })
        .collect();
    let ours = adjusted(&compared);
    assert!(printed.keys().eq(ours.keys()) && printed.len() == 66);
    let distances: Vec<f64> = printed.iter().map(|(pair, p)| (p - ours[pair]).abs()).collect();
    let mean = distances.iter().sum::<f64>() / 66.0;
    let greatest = distances.iter().copied().fold(0.0, f64::max);
    assert!((mean - 0.019).abs() < 0.0005, "p differs by {mean} on average");
    assert!((greatest - 0.21).abs() < 0.005, "p differs by up to {greatest}");
    for (pair, p) in &printed {
        assert_eq!(*p <= 0.1, ours[pair] <= 0.1, "{pair:?}: {p} and {}", ours[pair]);
    }

    // With the digits that rounding took off put back at random, the printed p is one of those that
    // occur.
    let mut rng = Seed::new(1).rng();
    let mut range: BTreeMap<_, (f64, f64)> = BTreeMap::new();
    for _ in 0..1000 {
        let mut drawn = Results::default();
        for mut measured in results.iter() {
            measured.loss += (rng.unit() - 0.5) / 1000.0;
            drawn.push(measured).unwrap();
        }
        for (pair, p) in adjusted(&compare(&drawn, &[], TestPlan::default()).unwrap()) {
            let range = range.entry(pair).or_insert((p, p));
            *range = (range.0.min(p), range.1.max(p));
        }
    }
    for (pair, p) in &printed {
        let (low, high) = range[pair];
        assert!(low - 0.0005 <= *p && *p <= high + 0.0005, "{pair:?}: {p} not in {low} to {high}");
    }
}
