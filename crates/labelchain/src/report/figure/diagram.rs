//! The critical-difference diagram of one criterion (Demšar 2006): mean ranks on a line, and bars
//! that join methods which Nemenyi's or Wilcoxon's test does not distinguish.

use super::super::svg::{Anchor, Drawing, GUIDE, INK, fit, text_width};
use super::super::title;
use super::{Figure, WIDTH};
use crate::stats::{Comparison, CriterionComparison, by_rank};

const FONT_SIZE: f64 = 13.0;
/// The vertical distance between bars.
const BAR_DISTANCE: f64 = 8.0;

/// Draws the diagram of one criterion.
pub(in crate::report) fn diagram(comparison: &Comparison, of: &CriterionComparison) -> Figure {
    let methods = &comparison.methods;
    let k = methods.len();
    let order = by_rank(&of.mean_ranks);
    let widest = methods.iter().map(|name| text_width(name, FONT_SIZE)).fold(0.0, f64::max);
    let margin = (widest + 46.0).clamp(84.0, 160.0);
    let x_of = |rank: f64| margin + (rank - 1.0) / (k as f64 - 1.0) * (WIDTH - 2.0 * margin);

    let tests = [
        ("Nemenyi", of.nemenyi_cliques(), "stroke=\"currentColor\""),
        ("Wilcoxon", of.wilcoxon_cliques(comparison.plan.alpha), "stroke=\"#0072b2\""),
    ];
    let levels: Vec<Vec<usize>> =
        tests.iter().map(|(_, cliques, _)| bar_levels(cliques, &order)).collect();
    let n_levels = |test: usize| levels[test].iter().max().map_or(1, |last| last + 1);

    let axis = 52.0;
    let nemenyi = axis + 14.0;
    let wilcoxon = nemenyi + n_levels(0) as f64 * BAR_DISTANCE + 8.0;
    let names = wilcoxon + n_levels(1) as f64 * BAR_DISTANCE + 14.0;
    let n_left = k.div_ceil(2);
    let height = names + n_left as f64 * 19.0 + 2.0;
    let mut drawing = Drawing::new(WIDTH, height);

    // A ruler at the top is as long as the critical difference.
    let cd = of.critical_difference;
    let end = x_of(1.0 + cd).min(WIDTH - 4.0);
    drawing.line((x_of(1.0), 18.0), (end, 18.0), "stroke=\"currentColor\" stroke-width=\"2\"");
    for x in [x_of(1.0), end] {
        drawing.line((x, 13.0), (x, 23.0), INK);
    }
    drawing.text(((x_of(1.0) + end) / 2.0, 11.0), Anchor::Middle, 12.0, &format!("CD {cd:.3}"));

    drawing.line((x_of(1.0), axis), (x_of(k as f64), axis), INK);
    let step = k.div_ceil(12);
    for rank in (1..=k).filter(|rank| (rank - 1) % step == 0) {
        let x = x_of(rank as f64);
        drawing.line((x, axis - 6.0), (x, axis), INK);
        drawing.text((x, axis - 10.0), Anchor::Middle, 12.0, &rank.to_string());
    }

    for (place, &method) in order.iter().enumerate() {
        let rank = of.mean_ranks[method];
        let x = x_of(rank);
        let is_left = place < n_left;
        // Lines from the outer ranks end above those from the inner ranks, so that no line crosses a
        // name.
        let line = if is_left { place } else { k - 1 - place };
        let y = names + line as f64 * 19.0 + 8.0;
        let edge = if is_left { margin - 8.0 } else { WIDTH - margin + 8.0 };
        drawing.path(
            &[(x, axis), (x, y), (edge, y)],
            false,
            "stroke=\"currentColor\" stroke-opacity=\".55\" fill=\"none\"",
        );
        drawing.mark((x, axis), 4.5, method, &format!("{}: mean rank {rank:.3}", methods[method]));
        let name = fit(&methods[method], FONT_SIZE, margin - 44.0);
        let (anchor, text) = if is_left {
            (Anchor::End, format!("{name}  {rank:.2}"))
        } else {
            (Anchor::Start, format!("{rank:.2}  {name}"))
        };
        let at = if is_left { edge - 4.0 } else { edge + 4.0 };
        drawing.text((at, y + 4.5), anchor, FONT_SIZE, &text);
    }

    for (test, top) in [(0, nemenyi), (1, wilcoxon)] {
        let (name, cliques, stroke) = &tests[test];
        drawing.text((4.0, top + 4.0), Anchor::Start, 10.0, name);
        if cliques.is_empty() {
            drawing.line((margin - 8.0, top), (WIDTH - margin + 8.0, top), GUIDE);
        }
        for (clique, level) in cliques.iter().zip(&levels[test]) {
            let rank = |at: Option<&usize>| at.map_or(1.0, |&method| of.mean_ranks[method]);
            let y = top + *level as f64 * BAR_DISTANCE;
            let (from, to) = (x_of(rank(clique.first())) - 4.0, x_of(rank(clique.last())) + 4.0);
            drawing.line((from, y), (to, y), &format!("{stroke} stroke-width=\"4\""));
        }
    }

    let criterion = title(&of.table.criterion);
    let id = format!("cd-{}", super::super::slug(&of.table.criterion));
    let figure_title = format!("Critical-difference diagram: {criterion}");
    let text = description(comparison, of, &order, &tests[0].1, &tests[1].1);
    Figure {
        caption: format!(
            "Mean ranks over {} data sets, the best on the left. The upper bars join methods whose mean \
             ranks are closer than the critical difference (Nemenyi, level {alpha}); the lower, blue \
             bars join neighbours of which no two differ (Wilcoxon with Holm, level {alpha}).",
            of.used.len(),
            alpha = comparison.plan.alpha,
        ),
        svg: drawing.finish(&id, &figure_title, &text),
        title: figure_title,
        id,
        text,
    }
}

/// The level of each bar: the first at which it touches no earlier bar.
fn bar_levels(cliques: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let place =
        |method: Option<&usize>| order.iter().position(|at| Some(at) == method).unwrap_or(0);
    let mut ends: Vec<usize> = Vec::new();
    let mut levels = Vec::new();
    for clique in cliques {
        let level = ends.iter().position(|&end| end < place(clique.first())).unwrap_or(ends.len());
        if level == ends.len() {
            ends.push(0);
        }
        ends[level] = place(clique.last());
        levels.push(level);
    }
    levels
}

/// The content of the diagram in words.
fn description(
    comparison: &Comparison,
    of: &CriterionComparison,
    order: &[usize],
    nemenyi: &[Vec<usize>],
    wilcoxon: &[Vec<usize>],
) -> String {
    let name = |&method: &usize| comparison.methods[method].as_str();
    let ranks: Vec<String> =
        order.iter().map(|at| format!("{} {:.2}", name(at), of.mean_ranks[*at])).collect();
    let groups = |cliques: &[Vec<usize>]| {
        if cliques.is_empty() {
            return "tells all of them apart".to_string();
        }
        let groups =
            cliques.iter().map(|clique| clique.iter().map(name).collect::<Vec<_>>().join(", "));
        format!("does not tell apart: {}", groups.collect::<Vec<_>>().join("; "))
    };
    format!(
        "Mean ranks: {}. Nemenyi's test (critical difference {:.3}) {}. Wilcoxon's test with Holm, \
         among neighbours, {}.",
        ranks.join(", "),
        of.critical_difference,
        groups(nemenyi),
        groups(wilcoxon)
    )
}
