//! Which labels are hard, and for whom? A line for each label, a mark for the F1 of each method.

use super::super::drawing::{Anchor, Drawing, GUIDE, INK, Style, fit};
use super::{Figure, WIDTH};

const FONT_SIZE: f64 = 12.0;
const LINE: f64 = 22.0;

/// Draws the figure. Each label has the F1 of the baseline, and then of each method; none where there is
/// no value. No figure without labels.
pub(in crate::report) fn label_f1(
    methods: &[String],
    labels: &[(&str, Vec<Option<f64>>)],
    chosen: &str,
) -> Option<Figure> {
    const MARGIN: f64 = 150.0;
    let (left, right) = (MARGIN, WIDTH - 20.0);
    let top = Drawing::legend_height(WIDTH, methods) + 4.0;
    let bottom = top + LINE * labels.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 22.0);
    drawing.legend(0.0, methods);
    let x_of = |f1: f64| left + f1 * (right - left);
    for tick in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        drawing.line((x_of(tick), top), (x_of(tick), bottom), GUIDE);
        drawing.text((x_of(tick), bottom + 14.0), Anchor::Middle, 10.0, &format!("{tick:.1}"));
    }
    let mut text = Vec::new();
    for (at, (name, values)) in labels.iter().enumerate() {
        let y = top + LINE * (at as f64 + 0.5);
        let shown = fit(name, FONT_SIZE, MARGIN - 14.0);
        drawing.text((left - 8.0, y + 4.0), Anchor::End, FONT_SIZE, &shown);
        drawing.line((left, y), (right, y), GUIDE);
        let (baseline, of_methods) = values.split_first()?;
        if let Some(f1) = baseline {
            let (corner, size) = ((x_of(*f1) - 1.5, y - 6.0), (3.0, 12.0));
            let tooltip = format!("baseline, {name}: F1 {f1:.3}");
            drawing.rectangle(corner, size, Style::area(INK.colour), &tooltip);
        }
        for (method, (of, f1)) in methods.iter().zip(of_methods).enumerate() {
            let Some(f1) = f1 else { continue };
            let tooltip = format!("{of}, {name}: F1 {f1:.3}");
            drawing.mark((x_of(*f1), y), 4.5, method, &tooltip);
            text.push(tooltip);
        }
    }
    (!text.is_empty()).then(|| Figure {
        id: "label-f1".into(),
        title: "F1 by label".into(),
        caption: format!(
            "F1 of {chosen}, the commonest on top, by all methods; greater is better. The bar is the \
             baseline's."
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}
