//! The critical-difference diagram of one criterion (Demšar 2006): mean ranks on a line, and bars
//! that join methods which Nemenyi's or Wilcoxon's test does not distinguish.

use super::super::drawing::{Anchor, BLUE, Colour, Drawing, INK, Style, fit, text_width};
use super::super::title;
use super::{Figure, WIDTH, critical_difference_name};
use crate::stats::{Comparison, CriterionComparison, by_rank};

const FONT_SIZE: f64 = 13.0;
/// The vertical distance between bars.
const BAR_DISTANCE: f64 = 8.0;
/// Half of the room that a mark takes.
const MARK: f64 = 5.0;

/// A row of bars under the axis, for one test.
struct Bars {
    name: &'static str,
    /// The mean ranks that each bar reaches from and to.
    spans: Vec<(f64, f64)>,
    colour: Colour,
}

/// The bars of the tests, in words in their figure's caption.
fn bars(comparison: &Comparison, of: &CriterionComparison) -> Vec<Bars> {
    let spans = |cliques: Vec<Vec<usize>>| {
        let rank = |at: Option<&usize>| at.map_or(1.0, |&method| of.mean_ranks[method]);
        cliques.iter().map(|clique| (rank(clique.first()), rank(clique.last()))).collect()
    };
    let of_ranks = match comparison.plan.control {
        None => spans(of.nemenyi_cliques()),
        Some(control) => {
            let (rank, cd) = (of.mean_ranks[control], of.critical_difference);
            vec![((rank - cd).max(1.0), (rank + cd).min(of.mean_ranks.len() as f64))]
        }
    };
    let mut bars = Vec::new();
    if comparison.methods_differ(of) {
        let name = critical_difference_name(comparison);
        bars.push(Bars { name, spans: of_ranks, colour: Colour::Ink });
    }
    if comparison.plan.control.is_none() {
        bars.push(Bars {
            name: "Wilcoxon",
            spans: spans(of.wilcoxon_cliques(comparison.plan.alpha)),
            colour: BLUE,
        });
    }
    bars
}

/// Draws the diagram of one criterion.
pub(in crate::report) fn diagram(comparison: &Comparison, of: &CriterionComparison) -> Figure {
    let Comparison { plan, methods, .. } = comparison;
    let k = methods.len();
    let order = by_rank(&of.mean_ranks);
    // With a control, a sign marks it, and another the methods that differ from it.
    let sign = |method: usize| {
        let pair = plan.control.and_then(|control| of.pair(control, method));
        match pair {
            Some(pair) if pair.p_holm <= plan.alpha => "*",
            None if plan.control == Some(method) => "†",
            _ => "",
        }
    };
    let widest = methods.iter().map(|name| text_width(name, FONT_SIZE)).fold(0.0, f64::max);
    let margin = (widest + 56.0).clamp(84.0, 156.0);
    let x_of = |rank: f64| margin + (rank - 1.0) / (k as f64 - 1.0) * (WIDTH - 2.0 * margin);

    let bars = bars(comparison, of);
    let levels: Vec<Vec<usize>> = bars.iter().map(|bars| bar_levels(&bars.spans)).collect();
    let n_levels = |levels: &Vec<usize>| levels.iter().max().map_or(1, |last| last + 1);
    // Marks that would cover each other are stacked on the axis.
    let reach = |&method: &usize| {
        let x = x_of(of.mean_ranks[method]);
        (x - MARK, x + MARK)
    };
    let stacks = bar_levels(&order.iter().map(reach).collect::<Vec<_>>());
    let stacked = |place: usize| stacks[place] as f64 * 2.0 * MARK;
    let highest = (0..k).map(stacked).fold(0.0, f64::max);
    let axis = 52.0 + highest;
    let mut tops = vec![axis + 16.0];
    for levels in &levels {
        tops.push(tops[tops.len() - 1] + n_levels(levels) as f64 * BAR_DISTANCE + 8.0);
    }
    let names = tops[levels.len()] + 4.0;
    let n_left = k.div_ceil(2);
    let height = names + n_left as f64 * 19.0 + 2.0;
    let mut drawing = Drawing::new(WIDTH, height);

    if comparison.methods_differ(of) {
        // A ruler at the top is as long as the critical difference.
        let cd = of.critical_difference;
        let end = x_of(1.0 + cd).min(WIDTH - 4.0);
        drawing.line((x_of(1.0), 18.0), (end, 18.0), Style::line(Colour::Ink, 2.0));
        for x in [x_of(1.0), end] {
            drawing.line((x, 13.0), (x, 23.0), INK);
        }
        let label = format!("CD {cd:.3}");
        drawing.text(((x_of(1.0) + end) / 2.0, 11.0), Anchor::Middle, 12.0, &label);
    } else {
        let remark = "no CD: Friedman finds no difference";
        drawing.text((WIDTH / 2.0, 14.0), Anchor::Middle, 12.0, remark);
    }

    drawing.line((x_of(1.0), axis), (x_of(k as f64), axis), INK);
    let step = k.div_ceil(12);
    for rank in (1..=k).filter(|rank| (rank - 1) % step == 0) {
        let x = x_of(rank as f64);
        drawing.line((x, axis - 6.0), (x, axis), INK);
        drawing.text((x, axis - highest - 10.0), Anchor::Middle, 12.0, &rank.to_string());
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
        drawing.path(&[(x, axis), (x, y), (edge, y)], false, INK.with_opacity(0.55));
        drawing.mark(
            (x, axis - stacked(place)),
            4.5,
            method,
            &format!("{}: mean rank {rank:.3}", methods[method]),
        );
        let name = fit(&methods[method], FONT_SIZE, margin - 54.0) + sign(method);
        let (anchor, text) = if is_left {
            (Anchor::End, format!("{name}  {rank:.2}"))
        } else {
            (Anchor::Start, format!("{rank:.2}  {name}"))
        };
        let at = if is_left { edge - 5.0 } else { edge + 5.0 };
        drawing.text((at, y + 4.5), anchor, FONT_SIZE, &text);
    }

    for ((bars, levels), &top) in bars.iter().zip(&levels).zip(&tops) {
        drawing.text((4.0, top + 4.0), Anchor::Start, 10.0, bars.name);
        if bars.spans.is_empty() {
            let after = text_width(bars.name, 10.0) + 10.0;
            drawing.text((4.0 + after, top + 4.0), Anchor::Start, 10.0, "tells all apart");
        }
        for (&(from, to), level) in bars.spans.iter().zip(levels) {
            let y = top + *level as f64 * BAR_DISTANCE;
            let style = Style::line(bars.colour, 4.0);
            drawing.line((x_of(from) - 4.0, y), (x_of(to) + 4.0, y), style);
        }
    }

    let criterion = title(&of.table.criterion);
    Figure {
        id: format!("cd-{}", super::super::slug(&of.table.criterion)),
        title: format!("Critical-difference diagram: {criterion}"),
        caption: caption(comparison, of),
        text: description(comparison, of, &order),
        drawing,
    }
}

/// How to read the diagram.
fn caption(comparison: &Comparison, of: &CriterionComparison) -> String {
    let (n, alpha) = (of.used.len(), comparison.plan.alpha);
    let ranks = format!(
        "Mean ranks over {n} data sets, the best on the left; marks that would cover each other are stacked."
    );
    let Some(control) = comparison.plan.control else {
        let nemenyi = if comparison.methods_differ(of) {
            "The upper bars join methods whose mean ranks are closer than the critical difference \
             (Nemenyi"
        } else {
            "Nemenyi's test has no bars, since Friedman's finds no difference (Holm over the criteria"
        };
        return format!(
            "{ranks} {nemenyi}, level {alpha}); the lower, blue bars join neighbours of which no two \
             differ (Wilcoxon with Holm, level {alpha})."
        );
    };
    let dunn = if comparison.methods_differ(of) {
        "The bar reaches as far as the critical difference from the control (Bonferroni–Dunn"
    } else {
        "There is no bar of the critical difference, since Friedman's test finds no difference (Holm \
         over the criteria"
    };
    format!(
        "{ranks} {dunn}, level {alpha}); † is the control, {}, and * marks methods that differ from it \
         (Wilcoxon with Holm over {} comparisons, level {alpha}).",
        comparison.methods[control],
        of.pairs.len()
    )
}

/// The level of each bar: the first at which it touches no earlier bar. Bars ascend by their starts.
fn bar_levels(spans: &[(f64, f64)]) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let mut levels = Vec::new();
    for &(from, to) in spans {
        let level = ends.iter().position(|&end| end < from).unwrap_or(ends.len());
        if level == ends.len() {
            ends.push(to);
        } else {
            ends[level] = to;
        }
        levels.push(level);
    }
    levels
}

/// The content of the diagram in words.
fn description(comparison: &Comparison, of: &CriterionComparison, order: &[usize]) -> String {
    let name = |&method: &usize| comparison.methods[method].as_str();
    let listed = |methods: Vec<usize>| methods.iter().map(name).collect::<Vec<_>>().join(", ");
    let ranks: Vec<String> =
        order.iter().map(|at| format!("{} {:.2}", name(at), of.mean_ranks[*at])).collect();
    let groups = |cliques: Vec<Vec<usize>>| {
        if cliques.is_empty() {
            return "tells all of them apart".to_string();
        }
        let groups: Vec<String> = cliques.into_iter().map(listed).collect();
        format!("does not tell apart: {}", groups.join("; "))
    };
    let ranked = format!("Mean ranks: {}.", ranks.join(", "));
    let cd = of.critical_difference;
    let is_made = comparison.methods_differ(of);
    let posthoc = critical_difference_name(comparison);
    let tests = match comparison.plan.control {
        None => {
            let nemenyi = format!("{posthoc}'s test (critical difference {cd:.3})");
            let nemenyi = if is_made {
                format!("{nemenyi} {}", groups(of.nemenyi_cliques()))
            } else {
                format!("{posthoc}'s test is not made, since Friedman's finds no difference")
            };
            let wilcoxon = groups(of.wilcoxon_cliques(comparison.plan.alpha));
            format!("{nemenyi}. Wilcoxon's test with Holm, among neighbours, {wilcoxon}.")
        }
        Some(control) => {
            let differs = |&method: &usize| {
                let pair = of.pair(control, method);
                pair.is_some_and(|pair| pair.p_holm <= comparison.plan.alpha)
            };
            let differing: Vec<usize> = order.iter().copied().filter(differs).collect();
            format!(
                "The critical difference from the control, {}, is {cd:.3} ({posthoc}{}). Wilcoxon's \
                 test with Holm finds different from it: {}.",
                comparison.methods[control],
                if is_made { "" } else { "; not made, since Friedman's test finds no difference" },
                if differing.is_empty() { "none".into() } else { listed(differing) }
            )
        }
    };
    format!("{ranked} {tests}")
}
