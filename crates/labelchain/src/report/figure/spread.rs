//! Losses on one data set: a plot for each loss, a line for each method, with its spread over folds.

use super::super::drawing::{Anchor, Drawing, GUIDE, INK, Style, fit, tick_text, ticks};
use super::{Figure, WIDTH};

/// What a loss is for each method.
pub(in crate::report) struct LossSpread {
    pub(in crate::report) title: String,
    /// The mean over folds of each method, the baseline first, and its standard deviation over folds;
    /// none where there is no value.
    pub(in crate::report) by_method: Vec<Option<(f64, Option<f64>)>>,
}

const FONT_SIZE: f64 = 12.0;
/// The height of the line of a method.
const LINE: f64 = 18.0;

/// Draws the figure, of which the first name is the baseline's; none without a loss.
pub(in crate::report) fn spread(
    id: &str,
    title: &str,
    losses: &[LossSpread],
    names: &[String],
) -> Option<Figure> {
    const MARGIN: f64 = 150.0;
    let (left, right) = (MARGIN, WIDTH - 16.0);
    let high = 46.0 + LINE * names.len() as f64;
    let mut drawing = Drawing::new(WIDTH, high * losses.len() as f64);
    let mut text = Vec::new();
    for (at, of) in losses.iter().enumerate() {
        let ends = of.by_method.iter().flatten().flat_map(|&(mean, spread)| {
            let spread = spread.unwrap_or(0.0);
            [mean - spread, mean + spread]
        });
        let (low, high_end) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
            (low.min(end), high.max(end))
        });
        if low > high_end {
            continue;
        }
        let ticks = ticks(low.max(0.0), high_end, 4);
        let (low, most) = (ticks[0], ticks[ticks.len() - 1]);
        let top = high * at as f64 + 24.0;
        let bottom = top + LINE * names.len() as f64;
        // A loss is not below 0, whatever its spread is.
        let x_of = |loss: f64| left + (loss.max(low) - low) / (most - low) * (right - left);
        drawing.text((left, top - 8.0), Anchor::Start, 13.0, &of.title);
        for &tick in &ticks {
            drawing.line((x_of(tick), top), (x_of(tick), bottom), GUIDE);
            let text = tick_text(tick, &ticks);
            drawing.text((x_of(tick), bottom + 12.0), Anchor::Middle, 10.0, &text);
        }
        if let Some((mean, _)) = of.by_method.first().copied().flatten() {
            let style = Style { dashes: Some((4.0, 3.0)), ..INK.with_opacity(0.6) };
            drawing.line((x_of(mean), top), (x_of(mean), bottom), style);
        }
        for (method, (name, value)) in names.iter().zip(&of.by_method).enumerate() {
            let y = top + LINE * (method as f64 + 0.5);
            let shown = fit(name, FONT_SIZE, MARGIN - 14.0);
            drawing.text((left - 8.0, y + 4.0), Anchor::End, FONT_SIZE, &shown);
            let Some((mean, spread)) = *value else { continue };
            let spread_text = spread.map(|of| format!(" ± {of:.4}")).unwrap_or_default();
            let tooltip = format!("{name}, {}: {mean:.4}{spread_text}", of.title);
            if let Some(spread) = spread {
                let (from, to) = (x_of(mean - spread), x_of(mean + spread));
                drawing.line((from, y), (to, y), Style::line(INK.colour, 1.4).with_opacity(0.7));
            }
            match method.checked_sub(1) {
                Some(method) => drawing.mark((x_of(mean), y), 5.0, method, &tooltip),
                None => {
                    let (corner, size) = ((x_of(mean) - 1.5, y - 6.0), (3.0, 12.0));
                    drawing.rectangle(corner, size, Style::area(INK.colour), &tooltip);
                }
            }
            text.push(tooltip);
        }
    }
    let has_spread = losses.iter().flat_map(|of| &of.by_method).flatten().any(|of| of.1.is_some());
    (!text.is_empty()).then(|| Figure {
        id: id.into(),
        title: title.into(),
        caption: format!(
            "{}Smaller is better, and each plot has its own scale. The dashes are the baseline, which gives \
             every row the same labels.",
            if has_spread {
                "Mean over folds and, as a line, one standard deviation over folds to either side. "
            } else {
                ""
            }
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}
