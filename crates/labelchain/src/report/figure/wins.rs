//! A heat map of pairs of methods: how often one beats the other, and by how many criteria the
//! difference is significant.

use super::super::drawing::{Anchor, BLUE, Style};
use super::grid::Grid;
use super::{Figure, WIDTH};
use crate::stats::Comparison;

/// With more methods than this, the cells would be too small to read.
const MAX_METHODS: usize = 20;

/// Draws the figure, unless there are too many methods.
pub(in crate::report) fn wins(comparison: &Comparison) -> Option<Figure> {
    let methods = &comparison.methods;
    let k = methods.len();
    if k > MAX_METHODS {
        return None;
    }
    let grid = Grid::new(methods, methods, WIDTH, (92.0, 48.0));
    let mut drawing = grid.drawing(methods, methods, 8.0);
    let n_criteria = comparison.criteria.len();
    let mut text = Vec::new();
    let pairs = (0..k).flat_map(|a| (0..k).map(move |b| (a, b)));
    for (a, b) in pairs.filter(|(a, b)| a != b) {
        // Two methods of which neither is the control were not compared.
        let Some(HeadToHead { wins, n, n_significant }) = head_to_head(comparison, a, b) else {
            continue;
        };
        let share = wins as f64 / n.max(1) as f64;
        let tooltip = format!(
            "{} is better than {} in {wins} of {n} comparisons ({:.0} %); by {n_significant} of \
             {n_criteria} criteria the difference is significant",
            methods[a],
            methods[b],
            100.0 * share,
        );
        let (x, y) = grid.at(a, b);
        let (wide, high) = grid.cell;
        let style = Style::area(BLUE).with_opacity(share * 0.7);
        drawing.rectangle((x + 1.0, y + 1.0), (wide - 2.0, high - 2.0), style, &tooltip);
        let (x, y) = grid.middle(a, b);
        let percent = format!("{:.0}", 100.0 * share);
        if high > 36.0 {
            drawing.text((x, y - 1.0), Anchor::Middle, 12.0, &(percent + " %"));
            let significant = format!("{n_significant} of {n_criteria}");
            drawing.text((x, y + 13.0), Anchor::Middle, 10.0, &significant);
        } else {
            drawing.text((x, y + 4.0), Anchor::Middle, (wide / 2.4).min(12.0), &percent);
        }
        text.push(tooltip);
    }
    let title = "Wins";
    let text = text.join(". ") + ".";
    Some(Figure {
        id: "wins".into(),
        title: title.into(),
        caption: "How often the method of the row is better than that of the column, of all \
                  data sets and criteria (the rest are losses and ties); below, by how many criteria \
                  Wilcoxon's test with Holm finds it better."
            .into(),
        drawing,
        text,
    })
}

/// One method against another, over all criteria.
struct HeadToHead {
    /// On how many data sets the first is better, summed over the criteria.
    wins: usize,
    /// The number of data sets, summed over the criteria.
    n: usize,
    /// The number of criteria by which the first is significantly better.
    n_significant: usize,
}

/// The sums over all criteria, if the two were compared.
fn head_to_head(comparison: &Comparison, a: usize, b: usize) -> Option<HeadToHead> {
    let mut total = None;
    for of in &comparison.criteria {
        let pair = of.pair(a, b)?;
        let HeadToHead { wins, n, n_significant } =
            total.get_or_insert(HeadToHead { wins: 0, n: 0, n_significant: 0 });
        *wins += if pair.a == a { pair.effect.wins } else { pair.effect.losses };
        *n += pair.effect.wins + pair.effect.ties + pair.effect.losses;
        *n_significant += usize::from(of.is_better(a, b, comparison.plan.alpha));
    }
    total
}
