//! Tables independent of the format: cells with their text, their value and its origin.

use super::figure::critical_difference_name;
use super::{p_text, section_id, slug, title};
use crate::stats::{Comparison, CriterionComparison, Pair};

/// A table of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its name in links.
    pub id: String,
    /// Its caption.
    pub caption: String,
    /// The names of the columns; the first column holds the heads of the rows. If the first has no
    /// name, the rows are of different kinds, and an HTML page does not offer to sort them.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<SheetRow>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRow {
    /// The text of the first column.
    pub head: String,
    /// The id of the section with details, to which an HTML page links.
    pub link: Option<String>,
    /// One cell for each other column, or a single cell that spans all of them.
    pub cells: Vec<SheetCell>,
    /// Whether it summarizes the rows above it, and stays below them when they are sorted.
    pub is_summary: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCell {
    /// The text that is shown.
    pub text: String,
    /// The number that the text shows, unrounded.
    pub value: Option<f64>,
    /// How the value compares with others.
    pub mark: Mark,
    /// What the value was computed from; shown as a tooltip in HTML.
    pub source: String,
}

/// How a value compares with the others of its row, or with the level of significance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing special.
    #[default]
    None,
    /// The only best value of its row.
    Best,
    /// One of several equal best values of its row.
    TiedBest,
    /// A p-value at or below the level of significance.
    Significant,
}

impl SheetRow {
    pub(super) fn new(head: impl Into<String>, cells: Vec<SheetCell>) -> SheetRow {
        SheetRow { head: head.into(), link: None, cells, is_summary: false }
    }
}

impl SheetCell {
    pub(super) fn number(value: f64, text: String, source: String) -> SheetCell {
        SheetCell { text, value: Some(value), mark: Mark::None, source }
    }

    pub(super) fn words(text: impl Into<String>) -> SheetCell {
        SheetCell { text: text.into(), ..SheetCell::default() }
    }
}

/// Explains the marks in the tables of full results.
pub(super) const READING: &str = "Best values of a row are bold; where several are equal, each has an equals sign. The rank of a \
     method stands beside its loss.";

/// The number of decimals that losses are shown with: 3 if that shows all of them exactly, as for
/// losses copied from the paper's tables, otherwise 4.
pub(super) fn decimals(of: &CriterionComparison) -> usize {
    let has_more = |loss: f64| (loss * 1000.0 - (loss * 1000.0).round()).abs() > 1e-6;
    if of.table.losses.iter().flatten().flatten().any(|&loss| has_more(loss)) { 4 } else { 3 }
}

/// Marks the smallest of some values, or the largest if higher is better.
pub(super) fn best(values: &[Option<f64>], higher_is_better: bool) -> Vec<Mark> {
    let sign = if higher_is_better { -1.0 } else { 1.0 };
    let min = values.iter().flatten().map(|value| sign * value).fold(f64::INFINITY, f64::min);
    let is_best = |value: &Option<f64>| value.is_some_and(|value| sign * value == min);
    let mark = match values.iter().filter(|value| is_best(value)).count() {
        1 => Mark::Best,
        _ => Mark::TiedBest,
    };
    values.iter().map(|value| if is_best(value) { mark } else { Mark::None }).collect()
}

/// The mean over data sets of every method's losses, by every criterion.
pub(super) fn mean_losses(comparison: &Comparison) -> Sheet {
    let mut columns = vec!["Criterion".to_string()];
    columns.extend(comparison.methods.iter().cloned());
    let row = |of: &CriterionComparison| {
        let link = Some(losses_id(&of.table.criterion));
        SheetRow { link, ..SheetRow::new(title(&of.table.criterion), means(of)) }
    };
    let higher = comparison.criteria.iter().filter(|of| of.table.higher_is_better);
    let higher: Vec<String> = higher.map(|of| title(&of.table.criterion)).collect();
    Sheet {
        id: "mean-losses".into(),
        caption: format!(
            "Mean loss over data sets; smaller is better{}, the best is bold, = marks a tie",
            if higher.is_empty() {
                String::new()
            } else {
                format!(", but higher by {}", higher.join(", "))
            }
        ),
        columns,
        rows: comparison.criteria.iter().map(row).collect(),
    }
}

/// The mean loss of each method over the data sets that count.
fn means(of: &CriterionComparison) -> Vec<SheetCell> {
    let digits = decimals(of);
    let mean = |method: usize| {
        let losses: Vec<f64> =
            of.used.iter().filter_map(|&set| of.table.losses[set][method]).collect();
        (losses.iter().sum::<f64>() / losses.len().max(1) as f64, losses.len())
    };
    let means: Vec<(f64, usize)> = (0..of.mean_ranks.len()).map(mean).collect();
    let values: Vec<Option<f64>> = means.iter().map(|&(mean, _)| Some(mean)).collect();
    let marks = best(&values, of.table.higher_is_better);
    let cell = |((mean, n), mark): ((f64, usize), Mark)| SheetCell {
        mark,
        ..SheetCell::number(mean, format!("{mean:.digits$}"), format!("mean of {n} losses"))
    };
    means.into_iter().zip(marks).map(cell).collect()
}

/// The link to the losses by a criterion on every data set.
fn losses_id(criterion: &str) -> String {
    format!("losses-{}", section_id(criterion))
}

/// Mean ranks, Friedman's test and the critical difference by every criterion.
pub(super) fn ranks(comparison: &Comparison) -> Sheet {
    let mut columns = vec!["Criterion".to_string()];
    columns.extend(comparison.methods.iter().cloned());
    columns.extend(["Friedman p", "with Holm", "CD", "Data sets"].map(String::from));
    let row = |of: &CriterionComparison| {
        let mut cells = mean_ranks(of);
        let chi = format!("chi-squared {:.4}", of.friedman.statistic);
        let adjusted = format!("p {}, {} criteria", of.friedman.p, comparison.criteria.len());
        cells.push(SheetCell::number(of.friedman.p, p_text(of.friedman.p), chi));
        cells.push(SheetCell {
            mark: significance(of.friedman_p_holm, comparison),
            ..SheetCell::number(of.friedman_p_holm, p_text(of.friedman_p_holm), adjusted)
        });
        let cd = of.critical_difference;
        cells.push(if comparison.methods_differ(of) {
            SheetCell::number(cd, format!("{cd:.3}"), critical_difference_name(comparison).into())
        } else {
            SheetCell { source: "Friedman finds no difference".into(), ..SheetCell::words("–") }
        });
        cells.push(SheetCell::number(
            of.used.len() as f64,
            of.used.len().to_string(),
            String::new(),
        ));
        let link = Some(section_id(&of.table.criterion));
        SheetRow { link, ..SheetRow::new(title(&of.table.criterion), cells) }
    };
    Sheet {
        id: "ranks".into(),
        caption: format!(
            "Mean ranks by every criterion, smaller is better; p of Friedman's test and, where it finds a \
             difference, the critical difference of {}",
            critical_difference_name(comparison)
        ),
        columns,
        rows: comparison.criteria.iter().map(row).collect(),
    }
}

fn significance(p: f64, comparison: &Comparison) -> Mark {
    if p <= comparison.plan.alpha { Mark::Significant } else { Mark::None }
}

fn mean_ranks(of: &CriterionComparison) -> Vec<SheetCell> {
    let n = of.used.len();
    let values: Vec<Option<f64>> = of.mean_ranks.iter().copied().map(Some).collect();
    let cell = |(&rank, mark): (&f64, Mark)| SheetCell {
        mark,
        ..SheetCell::number(
            rank,
            format!("{rank:.2}"),
            format!("rank sum {} / {n}", rank * n as f64),
        )
    };
    of.mean_ranks.iter().zip(best(&values, false)).map(cell).collect()
}

/// The paper's table of one criterion: ranks (Rnk), Friedman (Frd), and Wilcoxon of each method
/// against those after it (Wp-i).
pub(super) fn statistics(comparison: &Comparison, criterion: usize) -> Sheet {
    let of = &comparison.criteria[criterion];
    let methods = &comparison.methods;
    let mut columns = vec!["".to_string()];
    columns.extend((1..).zip(methods).map(|(number, name)| format!("{number} {name}")));
    let mut rows = vec![SheetRow::new("Rnk", mean_ranks(of))];
    let source = format!(
        "chi-squared {:.4}, p {}, Holm over {} criteria",
        of.friedman.statistic,
        of.friedman.p,
        comparison.criteria.len()
    );
    let p = of.friedman_p_holm;
    let frd =
        SheetCell { mark: significance(p, comparison), ..SheetCell::number(p, p_text(p), source) };
    rows.push(SheetRow::new("Frd", vec![frd]));
    // Without a control, each row has the pairs that no row above it has; with one, it has the only row.
    let firsts = match comparison.plan.control {
        None => 0..methods.len().saturating_sub(1),
        Some(control) => control..control + 1,
    };
    let is_new = |a: usize, b: usize| comparison.plan.control.is_some() || b > a;
    for a in firsts {
        let cell = |b: usize| match of.pair(a, b) {
            Some(pair) if is_new(a, b) => SheetCell {
                mark: significance(pair.p_holm, comparison),
                ..SheetCell::number(pair.p_holm, p_text(pair.p_holm), origin(pair))
            },
            _ => SheetCell::default(),
        };
        let cells = (0..methods.len()).map(cell).collect();
        rows.push(SheetRow::new(format!("Wp-{}", a + 1), cells));
    }
    Sheet {
        id: format!("statistics-{}", slug(&of.table.criterion)),
        caption: format!(
            "{}: mean rank (Rnk), p of Friedman's test with Holm (Frd), p of Wilcoxon's test of {}, with \
             Holm over {} (Wp-i)",
            title(&of.table.criterion),
            match comparison.plan.control {
                None => "method i against those after it",
                Some(_) => "the control, method i, against the others",
            },
            of.pairs.len()
        ),
        columns,
        rows,
    }
}

fn origin(pair: &Pair) -> String {
    let tested = &pair.wilcoxon;
    format!(
        "n {}, W {}, p {:.6} ({}), {} wins, {} ties, {} losses",
        tested.n(),
        tested.w(),
        tested.p,
        if tested.is_exact { "exact" } else { "normal" },
        pair.effect.wins,
        pair.effect.ties,
        pair.effect.losses
    )
}

/// All statistics of every pair of methods that was compared.
pub(super) fn pairs(comparison: &Comparison, criterion: usize) -> Sheet {
    let of = &comparison.criteria[criterion];
    let has_posteriors = comparison.plan.region.is_some();
    let mut columns: Vec<String> =
        ["Pair", "Wins", "Ties", "Losses", "n", "W", "p", "p with Holm", "Effect"]
            .map(String::from)
            .into();
    if has_posteriors {
        columns.extend(["P(first better)", "P(equivalent)", "P(second better)"].map(String::from));
    }
    let row = |pair: &Pair| {
        let tested = &pair.wilcoxon;
        let whole = |n: usize| SheetCell::number(n as f64, n.to_string(), String::new());
        let p = SheetCell::number(tested.p, p_text(tested.p), origin(pair));
        let p =
            if tested.is_exact { p } else { SheetCell { text: format!("≈ {}", p.text), ..p } };
        let effect = pair.effect.rank_biserial;
        let mut cells = vec![
            whole(pair.effect.wins),
            whole(pair.effect.ties),
            whole(pair.effect.losses),
            whole(tested.n()),
            SheetCell::number(tested.w(), tested.w().to_string(), String::new()),
            p,
            SheetCell {
                mark: significance(pair.p_holm, comparison),
                ..SheetCell::number(pair.p_holm, p_text(pair.p_holm), origin(pair))
            },
            SheetCell::number(effect, format!("{effect:+.2}"), String::new()),
        ];
        if let Some(posterior) = pair.posterior {
            let share = |share: f64| SheetCell::number(share, format!("{share:.3}"), String::new());
            cells.extend([
                share(posterior.better),
                share(posterior.equivalent),
                share(posterior.worse),
            ]);
        }
        let [a, b] = [pair.a, pair.b].map(|method| &comparison.methods[method]);
        SheetRow::new(format!("{a} – {b}"), cells)
    };
    Sheet {
        id: format!("pairs-{}", slug(&of.table.criterion)),
        caption: format!(
            "{}: every pair{}, wins and effect as seen from the first; ≈ marks a normal approximation",
            title(&of.table.criterion),
            if comparison.plan.control.is_some() { " with the control" } else { "" }
        ),
        columns,
        rows: of.pairs.iter().map(row).collect(),
    }
}

/// The loss and the rank of every method on every data set.
pub(super) fn losses(comparison: &Comparison, criterion: usize) -> Sheet {
    let of = &comparison.criteria[criterion];
    let digits = decimals(of);
    let key = &of.table.criterion;
    let mut columns = vec!["Data set".to_string()];
    columns.extend(comparison.methods.iter().cloned());
    let mut rows: Vec<SheetRow> = Vec::new();
    for (set, name) in comparison.datasets.iter().enumerate() {
        let losses = &of.table.losses[set];
        let place = of.used.iter().position(|&used| used == set);
        let marks = best(losses, of.table.higher_is_better);
        let cell = |(method, loss): (usize, &Option<f64>)| {
            let source = format!("{name}, {}, {key}", comparison.methods[method]);
            let rank = place.map(|place| of.ranks[place][method]);
            let rank_text = rank.map(|rank| format!(" ({rank})")).unwrap_or_default();
            match loss {
                Some(loss) => SheetCell {
                    mark: marks[method],
                    ..SheetCell::number(*loss, format!("{loss:.digits$}{rank_text}"), source)
                },
                None => SheetCell { source, ..SheetCell::words(format!("–{rank_text}")) },
            }
        };
        let cells = losses.iter().enumerate().map(cell).collect();
        let head = if place.is_some() { name.clone() } else { format!("{name} (left out)") };
        rows.push(SheetRow::new(head, cells));
    }
    rows.push(SheetRow { is_summary: true, ..SheetRow::new("Mean", means(of)) });
    rows.push(SheetRow { is_summary: true, ..SheetRow::new("Mean rank", mean_ranks(of)) });
    Sheet {
        id: losses_id(key),
        caption: format!(
            "{}{}, with ranks",
            title(key),
            if of.table.higher_is_better { " (higher is better)" } else { "" }
        ),
        columns,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_marked_and_ties_are_marked_as_ties() {
        let values = [Some(0.2), None, Some(0.1), Some(0.1)];
        assert_eq!(best(&values, false), [Mark::None, Mark::None, Mark::TiedBest, Mark::TiedBest]);
        assert_eq!(best(&values, true), [Mark::Best, Mark::None, Mark::None, Mark::None]);
    }
}
