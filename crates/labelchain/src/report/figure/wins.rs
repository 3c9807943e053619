//! A heat map of pairs of methods: how often one beats the other, and by how many criteria the
//! difference is significant.

use super::super::svg::{Anchor, Drawing, fit, text_width};
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
    let margin = 96.0;
    let cell = ((WIDTH - margin - 10.0) / k as f64).min(92.0);
    let high = cell.min(48.0);
    let top = 26.0;
    let mut drawing = Drawing::new(margin + k as f64 * cell + 10.0, top + k as f64 * high + 8.0);
    drawing.text((margin - 8.0, top - 8.0), Anchor::End, 12.0, "beats …");
    let mut text = Vec::new();
    for a in 0..k {
        let y = top + a as f64 * high;
        let name = fit(&methods[a], 13.0, margin - 10.0);
        drawing.text((margin - 8.0, y + high / 2.0 + 4.5), Anchor::End, 13.0, &name);
        let x = margin + (a as f64 + 0.5) * cell;
        let letters = if text_width(&methods[a], 12.0) < cell { 12.0 } else { 9.0 };
        drawing.text((x, top - 8.0), Anchor::Middle, letters, &fit(&methods[a], letters, cell));
        for b in (0..k).filter(|&b| b != a) {
            let HeadToHead { wins, n, n_significant } = head_to_head(comparison, a, b);
            let share = wins as f64 / n.max(1) as f64;
            let tooltip = format!(
                "{} is better than {} in {wins} of {n} comparisons ({:.0} %); by {n_significant} \
                 of {} criteria the difference is significant",
                methods[a],
                methods[b],
                100.0 * share,
                comparison.criteria.len()
            );
            let at = (margin + b as f64 * cell, y);
            let style = format!("fill=\"#0072b2\" fill-opacity=\"{:.2}\"", share * 0.75);
            drawing.rectangle((at.0 + 1.0, at.1 + 1.0), (cell - 2.0, high - 2.0), &style, &tooltip);
            let middle = (at.0 + cell / 2.0, at.1 + high / 2.0);
            let percent = format!("{:.0}", 100.0 * share);
            if high > 36.0 && cell > 44.0 {
                let at = (middle.0, middle.1 - 1.0);
                drawing.text(at, Anchor::Middle, 13.0, &(percent + " %"));
                let significant = format!("{n_significant} of {}", comparison.criteria.len());
                drawing.text((middle.0, middle.1 + 13.0), Anchor::Middle, 10.0, &significant);
            } else {
                let at = (middle.0, middle.1 + 4.0);
                drawing.text(at, Anchor::Middle, (cell / 2.4).min(12.0), &percent);
            }
            text.push(tooltip);
        }
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
        svg: drawing.finish("wins", title, &text),
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

fn head_to_head(comparison: &Comparison, a: usize, b: usize) -> HeadToHead {
    let mut total = HeadToHead { wins: 0, n: 0, n_significant: 0 };
    for pair in comparison.criteria.iter().filter_map(|of| of.pair(a, b)) {
        let is_first = pair.a == a;
        let effect = pair.effect;
        total.wins += if is_first { effect.wins } else { effect.losses };
        total.n += effect.wins + effect.ties + effect.losses;
        let is_better = (effect.rank_biserial > 0.0) == is_first;
        total.n_significant += usize::from(is_better && pair.p_holm <= comparison.plan.alpha);
    }
    total
}
