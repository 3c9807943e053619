//! Every number as a row of CSV: criterion, data set, one or two methods, statistic, value.

use std::borrow::Cow;

use crate::data::CsvNames;
use crate::stats::Comparison;

/// The CSV text, with its header.
pub(super) fn rows(comparison: &Comparison, names: CsvNames) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let mut row = |fields: [&str; 5], value: f64| {
        // Writing into memory does not fail.
        let value = Cow::Owned(value.to_string());
        let cells = fields.into_iter().map(|name| names.cell(name)).chain([value]);
        let _ = csv.write_record(cells.map(Cow::into_owned));
    };
    let methods = &comparison.methods;
    let cd = match comparison.plan.control {
        None => "nemenyi_cd",
        Some(_) => "bonferroni_dunn_cd",
    };
    let mut all = |of: &crate::stats::CriterionComparison| {
        let key = of.table.criterion.as_str();
        for (set, losses) in of.table.losses.iter().enumerate() {
            let name = comparison.datasets[set].as_str();
            for (method, loss) in losses.iter().enumerate() {
                if let Some(loss) = loss {
                    row([key, name, &methods[method], "", "loss"], *loss);
                }
            }
            if let Some(place) = of.used.iter().position(|&used| used == set) {
                for (method, &rank) in of.ranks[place].iter().enumerate() {
                    row([key, name, &methods[method], "", "rank"], rank);
                }
            }
        }
        for (method, &rank) in methods.iter().zip(&of.mean_ranks) {
            row([key, "", method, "", "mean_rank"], rank);
        }
        for (statistic, value) in [
            ("data_sets", of.used.len() as f64),
            ("friedman_chi_squared", of.friedman.statistic),
            ("friedman_p", of.friedman.p),
            ("friedman_p_holm", of.friedman_p_holm),
            ("iman_davenport_f", of.friedman.f),
            ("iman_davenport_p", of.friedman.f_p),
            (cd, of.critical_difference),
            ("wilcoxon_least_p_holm", of.least_p_holm()),
        ] {
            row([key, "", "", "", statistic], value);
        }
        for pair in &of.pairs {
            let mut row = |statistic, value| {
                row([key, "", &methods[pair.a], &methods[pair.b], statistic], value);
            };
            row("wilcoxon_n", pair.wilcoxon.n() as f64);
            row("wilcoxon_w", pair.wilcoxon.w());
            row("wilcoxon_p", pair.wilcoxon.p);
            row("wilcoxon_p_holm", pair.p_holm);
            row("wins", pair.effect.wins as f64);
            row("ties", pair.effect.ties as f64);
            row("losses", pair.effect.losses as f64);
            row("rank_biserial", pair.effect.rank_biserial);
            if let Some(posterior) = pair.posterior {
                row("p_first_better", posterior.better);
                row("p_equivalent", posterior.equivalent);
                row("p_second_better", posterior.worse);
            }
        }
    };
    comparison.criteria.iter().for_each(&mut all);
    let text = csv.into_inner().unwrap_or_default();
    String::from("criterion,dataset,a,b,statistic,value\n") + &String::from_utf8_lossy(&text)
}
