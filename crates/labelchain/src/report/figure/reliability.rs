//! Have probabilities the right size? A plot for each method: how often what is given some probability
//! is relevant, and below, how many cells are given it.

use super::super::drawing::{Anchor, Drawing, GUIDE, INK, Style, colour, fit};
use super::{Figure, WIDTH};
use crate::loss::Calibration;

/// What is known of the probabilities of one method.
pub(in crate::report) struct Reliability<'a> {
    /// The method's index, by which it has its colour.
    pub(in crate::report) method: usize,
    pub(in crate::report) name: &'a str,
    pub(in crate::report) calibration: &'a Calibration,
}

const COLUMNS: usize = 2;
/// The side of the square from probability 0 to 1.
const SIDE: f64 = 180.0;
/// The height of the bars below it.
const BARS: f64 = 40.0;

/// Draws figures of two methods each; none without a method that gives probabilities.
pub(in crate::report) fn reliability(methods: &[Reliability]) -> Vec<Figure> {
    methods.chunks(COLUMNS).enumerate().filter_map(|(at, methods)| pair(at, methods)).collect()
}

fn pair(figure: usize, methods: &[Reliability]) -> Option<Figure> {
    let (wide, high) = (WIDTH / COLUMNS as f64, SIDE + BARS + 74.0);
    let mut drawing = Drawing::new(WIDTH, high);
    let mut text = Vec::new();
    for (at, of) in methods.iter().enumerate() {
        let left = at as f64 * wide + 40.0;
        let top = 24.0;
        let right = left + SIDE;
        let x_of = |p: f64| left + p * SIDE;
        let y_of = |share: f64| top + (1.0 - share) * SIDE;
        let name = fit(of.name, 13.0, SIDE);
        drawing.text((left, top - 8.0), Anchor::Start, 13.0, &name);
        for tick in [0.0, 0.5, 1.0] {
            drawing.line((x_of(tick), top), (x_of(tick), top + SIDE), GUIDE);
            drawing.line((left, y_of(tick)), (right, y_of(tick)), GUIDE);
            let number = if tick == 0.5 { "0.5".into() } else { format!("{tick:.0}") };
            drawing.text((left - 5.0, y_of(tick) + 4.0), Anchor::End, 10.0, &number);
            let foot = top + SIDE + BARS + 24.0;
            drawing.text((x_of(tick), foot), Anchor::Middle, 10.0, &number);
        }
        let dashed = Style { dashes: Some((4.0, 3.0)), ..INK.with_opacity(0.6) };
        drawing.line((left, top + SIDE), (right, top), dashed);
        let curve = &of.calibration.curve;
        let points: Vec<(f64, f64)> = curve
            .iter()
            .map(|bin| (x_of(bin.mean_probability), y_of(bin.share_relevant)))
            .collect();
        drawing.path(&points, false, Style::line(colour(of.method), 1.5));
        let most = curve.iter().map(|bin| bin.n_cells).max().unwrap_or(1).max(2);
        let bottom = top + SIDE + BARS + 10.0;
        let bar = SIDE / Calibration::N_BINS as f64 - 2.0;
        for (bin, &(x, y)) in curve.iter().zip(&points) {
            let tooltip = format!(
                "{}: of {} cells with a mean probability of {:.3}, {:.3} are relevant",
                of.name, bin.n_cells, bin.mean_probability, bin.share_relevant
            );
            // Logarithmic, because most cells are given little; one cell is to be seen, too.
            let length = (bin.n_cells as f64 + 1.0).ln() / (most as f64 + 1.0).ln() * BARS;
            // The bar stands in the middle of the bin, whatever the mean in it.
            let n_bins = Calibration::N_BINS as f64;
            let place = ((bin.mean_probability * n_bins).ceil() - 1.0).clamp(0.0, n_bins - 1.0);
            let corner = (left + place * (SIDE / n_bins) + 1.0, bottom - length);
            let style = Style::area(colour(of.method)).with_opacity(0.45);
            drawing.rectangle(corner, (bar, length), style, &tooltip);
            drawing.mark((x, y), 4.0, of.method, &tooltip);
            text.push(tooltip);
        }
        drawing.line((left, bottom), (right, bottom), INK.with_opacity(0.5));
        let most = format!("{most}");
        drawing.text((left - 5.0, bottom - BARS + 8.0), Anchor::End, 10.0, &most);
        drawing.text((left - 5.0, bottom), Anchor::End, 10.0, "cells");
        let numbers = [("Brier", of.calibration.brier), ("ECE", of.calibration.ece)]
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {:.4}", value?)));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        drawing.text((left, bottom + 32.0), Anchor::Start, 11.0, &numbers);
    }
    let names: Vec<&str> = methods.iter().map(|of| of.name).collect();
    (!text.is_empty()).then(|| Figure {
        id: format!("reliability-{figure}"),
        title: format!("Calibration of {}", names.join(" and ")),
        // What is read in the same way is explained once.
        caption: match figure {
            0 => "Across: the mean probability of a bin of cells (all tested rows and labels, fifteen bins \
                  of equal width). Up: the share of these cells that are relevant. On the dashes, \
                  probabilities are true; above them, they are too small. Below: how many cells the bins \
                  have, logarithmic."
                .into(),
            _ => "Read as the first figure of this kind.".into(),
        },
        text: text.join(". ") + ".",
        drawing,
    })
}
