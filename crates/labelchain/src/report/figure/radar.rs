//! Mean ranks by all criteria at once, as in the paper: an axis for each criterion, the best in the
//! middle, and next to each axis a bar as long as the critical difference.

use std::f64::consts::TAU;

use super::super::drawing::{Anchor, Colour, Drawing, GUIDE, INK, Style, colour};
use super::super::title;
use super::{Figure, WIDTH, critical_difference_name, side_by_side};
use crate::stats::Comparison;

/// With more lines than this, a reader could not follow them.
const MAX_METHODS: usize = 12;
const RADIUS: f64 = 146.0;
/// The radius of rank 1. It is not 0, so that the best methods by different criteria do not all
/// fall on one point.
const INNER: f64 = 14.0;

/// Draws the figure, if there are at least three criteria and not too many methods.
pub(in crate::report) fn radar(comparison: &Comparison) -> Option<Figure> {
    let n_axes = comparison.criteria.len();
    let k = comparison.methods.len();
    if n_axes < 3 || k > MAX_METHODS {
        return None;
    }
    let (cx, cy) = (WIDTH / 2.0, RADIUS + 30.0);
    let height = cy + RADIUS + 34.0;
    let mut drawing =
        Drawing::new(WIDTH, height + Drawing::legend_height(WIDTH, &comparison.methods));
    let direction = |axis: usize| {
        let angle = TAU * axis as f64 / n_axes as f64;
        (angle.sin(), -angle.cos())
    };
    let radius = |rank: f64| INNER + (rank - 1.0) / (k as f64 - 1.0) * (RADIUS - INNER);
    let point = |axis: usize, rank: f64| {
        let (dx, dy) = direction(axis);
        (cx + radius(rank) * dx, cy + radius(rank) * dy)
    };

    for rank in 1..=k {
        let ring: Vec<_> = (0..n_axes).map(|axis| point(axis, rank as f64)).collect();
        drawing.path(&ring, true, GUIDE);
    }
    for (axis, of) in comparison.criteria.iter().enumerate() {
        drawing.line(point(axis, 1.0), point(axis, k as f64), GUIDE);
        let (dx, dy) = direction(axis);
        let (x, y) = (cx + (RADIUS + 10.0) * dx, cy + (RADIUS + 10.0) * dy);
        let anchor = match dx {
            dx if dx > 0.2 => Anchor::Start,
            dx if dx < -0.2 => Anchor::End,
            _ => Anchor::Middle,
        };
        drawing.text((x, y + 4.0 + 8.0 * dy), anchor, 12.0, &title(&of.table.criterion));
    }
    for rank in 1..=k {
        let (x, y) = point(0, rank as f64);
        drawing.text((x + 4.0, y - 3.0), Anchor::Start, 10.0, &rank.to_string());
    }
    // On the left of an axis, as seen from the middle.
    let beside = |axis: usize, (x, y): (f64, f64), by: f64| {
        let (dx, dy) = direction(axis);
        (x + dy * by, y - dx * by)
    };
    let criteria = || comparison.criteria.iter().enumerate();
    for (axis, of) in criteria().filter(|(_, of)| comparison.methods_differ(of)) {
        let best = of.mean_ranks.iter().copied().fold(f64::INFINITY, f64::min);
        let first = comparison.plan.control.map_or(best, |control| of.mean_ranks[control]);
        let end = (first + of.critical_difference).min(k as f64);
        let (from, to) = (point(axis, first), point(axis, end));
        let bar = Style::line(Colour::Ink, 2.5);
        drawing.line(beside(axis, from, 9.0), beside(axis, to, 9.0), bar);
        for tip in [from, to] {
            drawing.line(beside(axis, tip, 6.0), beside(axis, tip, 12.0), INK);
        }
    }
    const DASHES: [Option<(f64, f64)>; 3] = [None, Some((7.0, 3.0)), Some((2.0, 3.0))];
    for method in 0..k {
        let ranks = comparison.criteria.iter().map(|of| of.mean_ranks[method]);
        let points: Vec<_> = ranks.enumerate().map(|(axis, rank)| point(axis, rank)).collect();
        let line = Style::line(colour(method), 1.8);
        drawing.path(&points, true, Style { dashes: DASHES[method % DASHES.len()], ..line });
    }
    for (axis, of) in criteria() {
        let marks = of.mean_ranks.iter().zip(side_by_side(&of.mean_ranks)).enumerate();
        for (method, (&rank, by)) in marks {
            let name = &comparison.methods[method];
            let tooltip = format!("{name}, {}: mean rank {rank:.2}", title(&of.table.criterion));
            drawing.mark(beside(axis, point(axis, rank), by), 4.5, method, &tooltip);
        }
    }
    drawing.legend(height, &comparison.methods);

    let text: Vec<String> = comparison
        .criteria
        .iter()
        .map(|of| {
            let ranks = comparison.methods.iter().zip(&of.mean_ranks);
            let ranks: Vec<String> =
                ranks.map(|(name, rank)| format!("{name} {rank:.2}")).collect();
            let cd = if comparison.methods_differ(of) {
                format!("critical difference {:.2}", of.critical_difference)
            } else {
                "Friedman's test finds no difference".into()
            };
            format!("{}: {}; {cd}.", title(&of.table.criterion), ranks.join(", "))
        })
        .collect();
    let figure_title = "Mean ranks by all criteria";
    let text = text.join(" ");
    Some(Figure {
        id: "radar".into(),
        title: figure_title.into(),
        caption: format!(
            "Each axis is a criterion; the closer to the middle, the better the mean rank, and equal \
             ranks stand side by side. Where Friedman's test finds a difference, a bar beside the axis \
             is as long as the critical difference of {} (level {}): methods beyond its end differ from \
             the {}, at which it begins.",
            critical_difference_name(comparison),
            comparison.plan.alpha,
            if comparison.plan.control.is_some() { "control" } else { "best" },
        ),
        drawing,
        text,
    })
}
