//! How much do folds differ? The losses of all folds, by one criterion: a box for each data set and
//! method.

use super::super::drawing::{Anchor, Colour, Drawing, GUIDE, Style, colour, fit, tick_text, ticks};
use super::super::{slug, title};
use super::{Figure, WIDTH};
use crate::experiment::Results;

/// With more boxes than this, the figure would be too long to be useful.
const MAX_BOXES: usize = 800;

/// Draws the figure of one criterion, if its losses come from folds.
pub(in crate::report) fn folds(results: &Results, criterion: usize) -> Option<Figure> {
    let (datasets, methods) = (results.datasets(), results.methods());
    let cells = results.folds(criterion);
    let max_folds = cells.iter().flatten().map(Vec::len).max().unwrap_or(0);
    if max_folds < 2 || datasets.len() * methods.len() > MAX_BOXES {
        return None;
    }
    let all = || cells.iter().flatten().flatten().copied();
    let ticks =
        ticks(all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max), 6);
    let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
    let margin = 108.0;
    let x_of = |loss: f64| margin + (loss - low) / (high - low) * (WIDTH - margin - 24.0);
    let legend = Drawing::legend_height(WIDTH, methods);
    let row = methods.len() as f64 * 9.0 + 8.0;
    let top = legend + 22.0;
    let bottom = top + row * datasets.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 8.0);
    drawing.legend(0.0, methods);
    for &tick in &ticks {
        drawing.line((x_of(tick), top), (x_of(tick), bottom), GUIDE);
        let text = tick_text(tick, &ticks);
        drawing.text((x_of(tick), top - 6.0), Anchor::Middle, 11.0, &text);
    }
    for (set, name) in datasets.iter().enumerate() {
        let y = top + row * set as f64;
        drawing.line((8.0, y), (WIDTH - 8.0, y), GUIDE);
        let name = fit(name, 12.0, margin - 12.0);
        drawing.text((margin - 8.0, y + row / 2.0 + 4.0), Anchor::End, 12.0, &name);
        for (method, losses) in cells[set].iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let y = y + 8.5 + 9.0 * method as f64;
            let [min, lower, median, upper, max] = quartiles(losses);
            drawing.line((x_of(min), y), (x_of(max), y), Style::line(colour(method), 1.2));
            let tooltip = format!(
                "{}, {}: median {median:.4}, half in {lower:.4} to {upper:.4}, all {} in {min:.4} to \
                 {max:.4}",
                datasets[set],
                methods[method],
                losses.len()
            );
            let size = ((x_of(upper) - x_of(lower)).max(0.6), 6.0);
            drawing.rectangle((x_of(lower), y - 3.0), size, Style::area(colour(method)), &tooltip);
            drawing.line(
                (x_of(median), y - 4.5),
                (x_of(median), y + 4.5),
                Style::line(Colour::Ink, 1.5),
            );
        }
    }
    let name = &results.criteria()[criterion];
    let id = format!("folds-{}", slug(name));
    let figure_title = format!("Losses of all folds: {}", title(name));
    let text = format!(
        "{} data sets, {} methods, up to {max_folds} folds; each box has its numbers, and the table of \
         losses has the means.",
        datasets.len(),
        methods.len()
    );
    Some(Figure {
        caption:
            "A box holds the middle half of the folds, its line is the median, and the thin line \
                  reaches from the least loss to the greatest."
                .into(),
        drawing,
        title: figure_title,
        id,
        text,
    })
}

/// Minimum, lower quartile, median, upper quartile and maximum, interpolated linearly between
/// neighbouring values.
fn quartiles(losses: &[f64]) -> [f64; 5] {
    let mut sorted = losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let at = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        low + (high - low) * at.fract()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_neighbours() {
        // Places 0, 0.75, 1.5, 2.25, 3 of 1, 2, 3, 5.
        assert_eq!(quartiles(&[5.0, 1.0, 2.0, 3.0]), [1.0, 1.75, 2.5, 3.5, 5.0]);
        assert_eq!(quartiles(&[2.0]), [2.0; 5]);
    }
}
