//! Right and wrong answers by label: a bar for each, of the rows to which it is relevant or given.

use super::super::drawing::{Anchor, Colour, Drawing, GUIDE, Style, fit, tick_text, ticks};
use super::{Figure, WIDTH};
use crate::loss::LabelMeasures;

const FONT_SIZE: f64 = 12.0;
const LINE: f64 = 22.0;
const FOUND: Style = Style::area(Colour::Rgb(0x00, 0x72, 0xb2));
const MISSED: Style = Style::area(Colour::Rgb(0x00, 0x72, 0xb2)).with_opacity(0.3);
const WRONG: Style = Style::area(Colour::Rgb(0xd5, 0x5e, 0x00)).with_opacity(0.85);

/// Draws the figure of a method; none without labels.
pub(in crate::report) fn answers(
    id: String,
    method: &str,
    labels: &[(&str, LabelMeasures)],
    chosen: &str,
) -> Option<Figure> {
    const MARGIN: f64 = 150.0;
    let (left, right, top) = (MARGIN, WIDTH - 20.0, 28.0);
    let length = |of: &LabelMeasures| of.support + of.counts.false_positives;
    let longest = labels.iter().map(|(_, of)| length(of)).max().filter(|&n| n > 0)?;
    let bottom = top + LINE * labels.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 22.0);
    let mut x = left;
    for (style, name) in [(FOUND, "found"), (MISSED, "missed"), (WRONG, "given wrongly")] {
        drawing.rectangle((x, 6.0), (11.0, 11.0), style, "");
        drawing.text((x + 16.0, 15.5), Anchor::Start, FONT_SIZE, name);
        x += 86.0;
    }
    let ticks = ticks(0.0, longest as f64, 4);
    let most = ticks[ticks.len() - 1];
    let wide_of = |n: usize| n as f64 / most * (right - left);
    for &tick in &ticks {
        let x = left + tick / most * (right - left);
        drawing.line((x, top), (x, bottom), GUIDE);
        drawing.text((x, bottom + 14.0), Anchor::Middle, 10.0, &tick_text(tick, &ticks));
    }
    let mut text = Vec::new();
    for (at, (name, of)) in labels.iter().enumerate() {
        let y = top + LINE * at as f64;
        let shown = fit(name, FONT_SIZE, MARGIN - 14.0);
        drawing.text((left - 8.0, y + 15.0), Anchor::End, FONT_SIZE, &shown);
        let counts = of.counts;
        let tooltip = format!(
            "{name}: found in {} of {} rows, missed in {}, given wrongly to {}",
            counts.true_positives, of.support, counts.false_negatives, counts.false_positives
        );
        let mut x = left;
        for (n, style) in [
            (counts.true_positives, FOUND),
            (counts.false_negatives, MISSED),
            (counts.false_positives, WRONG),
        ] {
            if n > 0 {
                drawing.rectangle((x, y + 3.0), (wide_of(n), LINE - 6.0), style, &tooltip);
            }
            x += wide_of(n);
        }
        text.push(tooltip);
    }
    Some(Figure {
        id,
        title: format!("Right and wrong answers of {method}"),
        caption: format!(
            "Tested rows of {chosen}: those to which the label is relevant (blue), found or missed, and \
             beyond them those to which it was given although it is not."
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}
