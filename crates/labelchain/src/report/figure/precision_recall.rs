//! What thresholds do to single labels: a small plot of precision against recall for each, with marks
//! where aims put the threshold.

use super::super::drawing::{Anchor, Drawing, GUIDE, INK, Point, Style, colour, fit};
use super::{Figure, WIDTH};
use crate::loss::PrecisionRecall;

/// One label.
pub(in crate::report) struct LabelCurve {
    pub(in crate::report) name: String,
    /// The share of rows to which it is relevant: the precision of giving it to all of them.
    pub(in crate::report) share_relevant: f64,
    pub(in crate::report) average_precision: Option<f64>,
    pub(in crate::report) curve: Vec<PrecisionRecall>,
    /// What each aim does; none where it never gives the label.
    pub(in crate::report) aims: Vec<Option<AimPoint>>,
}

/// What an aim does to a label.
pub(in crate::report) struct AimPoint {
    /// The mean threshold over folds; none where the aim does not go by one.
    pub(in crate::report) threshold: Option<f64>,
    pub(in crate::report) precision: f64,
    pub(in crate::report) recall: f64,
}

const COLUMNS: usize = 3;
const HEIGHT: f64 = 164.0;

/// Draws the figure of a method; `aims` are the names of the marks. None without labels.
pub(in crate::report) fn precision_recall(
    id: String,
    method: &str,
    labels: &[LabelCurve],
    aims: &[String],
    chosen: &str,
) -> Option<Figure> {
    let wide = WIDTH / COLUMNS as f64;
    let n_rows = labels.len().div_ceil(COLUMNS);
    let legend = Drawing::legend_height(WIDTH, aims);
    let mut drawing = Drawing::new(WIDTH, legend + n_rows as f64 * HEIGHT + 4.0);
    drawing.legend(0.0, aims);
    let mut text = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        let left = (at % COLUMNS) as f64 * wide + 26.0;
        let right = left + wide - 34.0;
        let top = legend + (at / COLUMNS) as f64 * HEIGHT + 22.0;
        let bottom = top + HEIGHT - 44.0;
        let place = |recall: f64, precision: f64| -> Point {
            (left + recall * (right - left), bottom - precision * (bottom - top))
        };
        let name = fit(&label.name, 12.0, wide - 34.0);
        drawing.text((left, top - 7.0), Anchor::Start, 12.0, &name);
        for tick in [0.0, 0.5, 1.0] {
            drawing.line(place(0.0, tick), place(1.0, tick), GUIDE);
            drawing.line(place(tick, 0.0), place(tick, 1.0), GUIDE);
            let number = if tick == 0.5 { ".5".into() } else { format!("{tick:.0}") };
            let (_, y) = place(0.0, tick);
            drawing.text((left - 4.0, y + 3.5), Anchor::End, 9.0, &number);
            let (x, _) = place(tick, 0.0);
            drawing.text((x, bottom + 12.0), Anchor::Middle, 9.0, &number);
        }
        let dashed = Style { dashes: Some((3.0, 3.0)), ..INK.with_opacity(0.6) };
        drawing.line(place(0.0, label.share_relevant), place(1.0, label.share_relevant), dashed);
        let points: Vec<Point> =
            label.curve.iter().map(|of| place(of.recall, of.precision)).collect();
        drawing.path(&thinned(&points), false, Style::line(colour(0), 1.5));
        let ap = label.average_precision.map_or("–".into(), |ap| format!("{ap:.3}"));
        text.push(format!("{}: average precision {ap}", label.name));
        for (mark, (aim, point)) in aims.iter().zip(&label.aims).enumerate() {
            let Some(AimPoint { threshold, precision, recall }) = point else {
                text.push(format!("{}, {aim}: never given", label.name));
                continue;
            };
            let threshold = threshold.map(|of| format!(" (threshold {of:.3})")).unwrap_or_default();
            let tooltip = format!(
                "{}, {aim}{threshold}: precision {precision:.3}, recall {recall:.3}",
                label.name
            );
            drawing.mark(place(*recall, *precision), 4.0, mark, &tooltip);
            text.push(tooltip);
        }
    }
    (!labels.is_empty()).then(|| Figure {
        id,
        title: format!("Precision and recall by {method}"),
        caption: format!(
            "Up: the share of what is given that is right; across: the share of what is relevant that is \
             given, for all thresholds on the probability of {chosen}. The dashes are what a label given to \
             every row reaches. Marks are what aims do to tested rows, each with the thresholds of the \
             fold; point at one for its mean threshold. A mark that is missing is an aim that never gives \
             the label."
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}

/// A curve without points that would lie on the one before them.
fn thinned(points: &[Point]) -> Vec<Point> {
    const DISTANCE: f64 = 0.8;
    let mut kept: Vec<Point> = Vec::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        let is_far =
            kept.last().is_none_or(|&(a, b)| (x - a).abs() > DISTANCE || (y - b).abs() > DISTANCE);
        if is_far || at + 1 == points.len() {
            kept.push((x, y));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_curve_are_kept_and_no_point_that_cannot_be_seen() {
        let points: Vec<Point> = (0..1000).map(|at| (f64::from(at) * 0.1, 5.0)).collect();
        let kept = thinned(&points);
        assert!(kept.len() < 130, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
    }
}
