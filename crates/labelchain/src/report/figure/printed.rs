//! How far are our losses from printed ones? A row for each criterion, a mark for each data set and
//! method.

use super::super::drawing::{Anchor, Colour, Drawing, GUIDE, INK, Style, fit, tick_text, ticks};
use super::super::printed::PrintedComparison;
use super::super::title;
use super::{Figure, WIDTH};

/// Draws all differences, ours minus printed.
pub(in crate::report) fn differences(
    compared: &PrintedComparison,
    methods: &[String],
) -> Option<Figure> {
    let max = compared.pairs.iter().map(|pair| pair.difference().abs()).fold(0.0, f64::max);
    if compared.pairs.is_empty() {
        return None;
    }
    let ticks = ticks(-max.max(0.001), max.max(0.001), 6);
    let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
    let margin = 92.0;
    let x_of = |d: f64| margin + (d - low) / (high - low) * (WIDTH - margin - 24.0);
    let legend = Drawing::legend_height(WIDTH, methods);
    let row_height = 11.0;
    let row = compared.methods.len() as f64 * row_height + 10.0;
    let top = legend + 22.0;
    let bottom = top + row * compared.criteria.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 24.0);
    drawing.legend(0.0, methods);
    for &tick in &ticks {
        let style = if tick.abs() < 1e-12 { INK } else { GUIDE };
        drawing.line((x_of(tick), top), (x_of(tick), bottom), style);
        let sign = if tick > 1e-12 { "+" } else { "" };
        let text = format!("{sign}{}", tick_text(tick, &ticks));
        drawing.text((x_of(tick), top - 6.0), Anchor::Middle, 11.0, &text);
    }
    drawing.text((margin, bottom + 16.0), Anchor::Start, 11.0, "ours is smaller");
    drawing.text((WIDTH - 16.0, bottom + 16.0), Anchor::End, 11.0, "ours is greater");
    let mut text = Vec::new();
    for (place, criterion) in compared.criteria.iter().enumerate() {
        let y = top + row * place as f64;
        drawing.line((8.0, y), (WIDTH - 8.0, y), GUIDE);
        let name = fit(&title(criterion), 12.0, margin - 12.0);
        drawing.text((margin - 8.0, y + row / 2.0 + 4.0), Anchor::End, 12.0, &name);
        for (at, &method) in compared.methods.iter().enumerate() {
            let y = y + 10.0 + row_height * at as f64;
            let pairs = compared.by(criterion, method);
            for pair in &pairs {
                let d = pair.difference();
                let tooltip = format!(
                    "{}, {}, {}: ours {:.4}, printed {:.3}, difference {d:+.4}",
                    pair.dataset,
                    methods[method],
                    title(criterion),
                    pair.ours,
                    pair.printed
                );
                drawing.mark((x_of(d), y), 3.0, method, &tooltip);
            }
            let mean =
                pairs.iter().map(|pair| pair.difference()).sum::<f64>() / pairs.len().max(1) as f64;
            let style = Style::line(Colour::Ink, 2.0);
            drawing.line((x_of(mean), y - 5.0), (x_of(mean), y + 5.0), style);
            text.push(format!(
                "{}, {}: mean difference {mean:+.4}",
                title(criterion),
                methods[method]
            ));
        }
    }
    let figure_title = "Our losses minus printed ones";
    let text = text.join(". ") + ".";
    Some(Figure {
        id: "printed".into(),
        title: figure_title.into(),
        caption: "A mark is a data set; the upright line is the mean of the method.".into(),
        drawing,
        text,
    })
}
