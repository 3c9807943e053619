//! Which inputs matter: a bar for each, the longest on top.

use super::super::drawing::{Anchor, BLUE, Drawing, GUIDE, Style, fit};
use super::{Figure, WIDTH};

const FONT_SIZE: f64 = 12.0;
const LINE: f64 = 20.0;

/// Draws the figure of a method for these inputs and their importance, which is a share of `measure`; none
/// without inputs.
pub(in crate::report) fn importance(
    id: String,
    method: &str,
    inputs: &[(&str, f64)],
    measure: &str,
    chosen: &str,
) -> Option<Figure> {
    const MARGIN: f64 = 190.0;
    let greatest = inputs.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    if greatest <= 0.0 {
        return None;
    }
    let (left, right) = (MARGIN, WIDTH - 60.0);
    let bottom = 4.0 + LINE * inputs.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 4.0);
    drawing.line((left, 4.0), (left, bottom), GUIDE);
    let mut text = Vec::new();
    for (at, (name, share)) in inputs.iter().enumerate() {
        let y = 4.0 + LINE * (at as f64 + 0.5);
        let shown = fit(name, FONT_SIZE, MARGIN - 14.0);
        drawing.text((left - 8.0, y + 4.0), Anchor::End, FONT_SIZE, &shown);
        let percent = format!("{:.1} %", 100.0 * share);
        let length = share / greatest * (right - left);
        let tooltip = format!("{name}: {percent}");
        drawing.rectangle((left, y - 6.0), (length, 12.0), Style::area(BLUE), &tooltip);
        drawing.text((left + length + 6.0, y + 4.0), Anchor::Start, 10.0, &percent);
        text.push(tooltip);
    }
    Some(Figure {
        id,
        title: format!("Inputs of {method}"),
        caption: format!(
            "How much inputs matter: {measure}, as shares of the sum over all inputs; {chosen}."
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}
