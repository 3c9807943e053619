//! Mean ranks at a glance: a row for each method, a column for each criterion, the bluer the better.

use super::super::drawing::{Anchor, BLUE, Colour, Drawing, Style, text_width};
use super::super::{p_text, title};
use super::Figure;
use super::grid::Grid;
use crate::stats::{Comparison, CriterionComparison, by_rank};

/// With more criteria or methods than these, the numbers would be too small to read.
const MAX_CRITERIA: usize = 16;
const MAX_METHODS: usize = 40;
/// It leads the report, and is wider than the others.
const MAX_WIDTH: f64 = 640.0;

/// Draws the figure, unless there are too many criteria or methods.
pub(in crate::report) fn heat_map(comparison: &Comparison) -> Option<Figure> {
    let (k, criteria) = (comparison.methods.len(), &comparison.criteria);
    if criteria.len() > MAX_CRITERIA || k > MAX_METHODS || criteria.is_empty() {
        return None;
    }
    // The methods with the best ranks over all criteria come first.
    let over_criteria =
        |method: usize| criteria.iter().map(|of| of.mean_ranks[method]).sum::<f64>();
    let order = by_rank(&(0..k).map(over_criteria).collect::<Vec<f64>>());
    let is_control = |method: usize| comparison.plan.control == Some(method);
    let control = |method: usize| if is_control(method) { " (control)" } else { "" };
    let names: Vec<String> =
        order.iter().map(|&at| format!("{}{}", comparison.methods[at], control(at))).collect();
    let titles: Vec<String> = criteria.iter().map(|of| title(&of.table.criterion)).collect();
    let grid = Grid::new(&names, &titles, MAX_WIDTH, (72.0, 30.0));
    let mut drawing = grid.drawing(&names, &titles, 26.0);
    let size = (grid.cell.0 / 2.6).clamp(8.0, 12.0);
    for (column, of) in criteria.iter().enumerate() {
        let least = of.mean_ranks.iter().copied().fold(f64::INFINITY, f64::min);
        let is_tied = of.mean_ranks.iter().filter(|&&rank| rank == least).count() > 1;
        for (row, &method) in order.iter().enumerate() {
            let rank = of.mean_ranks[method];
            let is_best = rank == least;
            let sign = match () {
                () if differs(comparison, of, method) => "*",
                () if is_best && is_tied => "=",
                () => "",
            };
            let share = (k as f64 - rank) / (k as f64 - 1.0);
            let (x, y) = grid.at(row, column);
            let tooltip = format!("{}, {}: mean rank {rank:.3}", names[row], titles[column]);
            let (at, inner) = ((x + 1.0, y + 1.0), (grid.cell.0 - 2.0, grid.cell.1 - 2.0));
            // The eye tells light shades apart better than dark ones.
            let style = Style::area(BLUE).with_opacity(0.03 + 0.72 * share.powf(1.5));
            drawing.rectangle(at, inner, style, &tooltip);
            if is_best {
                drawing.rectangle(at, inner, Style::line(Colour::Ink, 1.8), "");
            }
            let (x, y) = grid.middle(row, column);
            number(&mut drawing, (x, y + size * 0.35), size, &format!("{rank:.2}"), sign);
        }
        let (x, _) = grid.middle(0, column);
        let p = p_text(of.friedman_p_holm);
        let is_found = if comparison.methods_differ(of) { "*" } else { "" };
        number(&mut drawing, (x, grid.below()), size.min(11.0), &p, is_found);
    }
    grid.name_below(&mut drawing, 11.0, "Friedman p");

    let in_words = |of: &CriterionComparison| {
        let ranks = order
            .iter()
            .map(|&method| format!("{} {:.2}", comparison.methods[method], of.mean_ranks[method]));
        format!("{}: {}.", title(&of.table.criterion), ranks.collect::<Vec<_>>().join(", "))
    };
    Some(Figure {
        id: "mean-ranks".into(),
        title: "Mean ranks".into(),
        caption: format!(
            "Methods by criteria, over {}; the bluer, the better, and rank 1 is best. A frame marks \
             the best by a criterion, = ties for it. * marks methods that {} (Wilcoxon with Holm, \
             level {alpha}) and, below, criteria by which Friedman's test finds a difference.",
            comparison.sets_in_words(),
            match comparison.plan.control {
                None => "differ from the best",
                Some(_) => "differ from the control",
            },
            alpha = comparison.plan.alpha,
        ),
        text: criteria.iter().map(in_words).collect::<Vec<_>>().join(" "),
        drawing,
    })
}

/// Whether a method is found to differ from the one it is to be seen against: the control if there is
/// one, else the best by the criterion.
fn differs(comparison: &Comparison, of: &CriterionComparison, method: usize) -> bool {
    let against = comparison.plan.control.or_else(|| by_rank(&of.mean_ranks).first().copied());
    against
        .and_then(|against| of.pair(against, method))
        .is_some_and(|pair| pair.p_holm <= comparison.plan.alpha)
}

/// A number in the middle of a column, with a sign after it that does not move it.
fn number(drawing: &mut Drawing, (x, y): (f64, f64), size: f64, number: &str, sign: &str) {
    drawing.text((x, y), Anchor::Middle, size, number);
    let right = x + text_width(number, size) / 2.0;
    if !sign.is_empty() {
        drawing.text((right + 0.5, y), Anchor::Start, size, sign);
    }
}
