//! Mean ranks by all criteria at once, as in the paper: an axis for each criterion, the best in the
//! middle, and next to each axis a bar as long as the critical difference.

use std::f64::consts::TAU;

use super::super::svg::{Anchor, Drawing, GUIDE, colour};
use super::super::title;
use super::{Figure, WIDTH};
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
    for (axis, of) in comparison.criteria.iter().enumerate() {
        let best = of.mean_ranks.iter().copied().fold(f64::INFINITY, f64::min);
        let end = (best + of.critical_difference).min(k as f64);
        // The bar stands to the left of the axis, as seen from the middle.
        let (dx, dy) = direction(axis);
        let shifted = |(x, y): (f64, f64), by: f64| (x + dy * by, y - dx * by);
        let (from, to) = (point(axis, best), point(axis, end));
        let bar = "stroke=\"currentColor\" stroke-width=\"2.5\"";
        drawing.line(shifted(from, 9.0), shifted(to, 9.0), bar);
        for tip in [from, to] {
            drawing.line(shifted(tip, 6.0), shifted(tip, 12.0), "stroke=\"currentColor\"");
        }
    }
    for (method, name) in comparison.methods.iter().enumerate() {
        let ranks = comparison.criteria.iter().map(|of| of.mean_ranks[method]);
        let points: Vec<_> = ranks.enumerate().map(|(axis, rank)| point(axis, rank)).collect();
        let dashes = ["", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\""][method % 3];
        let style =
            format!("stroke=\"{}\" stroke-width=\"1.8\" fill=\"none\"{dashes}", colour(method));
        drawing.path(&points, true, &style);
        for (of, &at) in comparison.criteria.iter().zip(&points) {
            let rank = of.mean_ranks[method];
            let tooltip = format!("{name}, {}: mean rank {rank:.2}", title(&of.table.criterion));
            drawing.mark(at, 4.5, method, &tooltip);
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
            let cd = of.critical_difference;
            format!(
                "{}: {}; critical difference {cd:.2}.",
                title(&of.table.criterion),
                ranks.join(", ")
            )
        })
        .collect();
    let figure_title = "Mean ranks by all criteria";
    let text = text.join(" ");
    Some(Figure {
        id: "radar".into(),
        title: figure_title.into(),
        caption: format!(
            "Each axis is a criterion; the closer to the middle, the better the mean rank. A bar \
             beside an axis is as long as the critical difference of Nemenyi's test (level {}) and \
             begins at the best method: those beyond its end differ from the best.",
            comparison.plan.alpha
        ),
        svg: drawing.finish("radar", figure_title, &text),
        text,
    })
}
