//! Figures, each with a description in words for screen readers.

mod answers;
mod diagram;
mod folds;
mod grid;
mod heat_map;
mod importance;
mod label_f1;
mod orders;
mod precision_recall;
mod printed;
mod radar;
mod reliability;
mod spread;
mod time;
mod wins;

pub(super) use answers::answers;
pub(super) use diagram::diagram;
pub(super) use folds::folds;
pub(super) use heat_map::heat_map;
pub(super) use importance::importance;
pub(super) use label_f1::label_f1;
pub(super) use orders::orders;
pub(super) use precision_recall::{AimPoint, LabelCurve, precision_recall};
pub(super) use printed::differences;
pub(super) use radar::radar;
pub(super) use reliability::{Reliability, reliability};
pub(super) use spread::{LossSpread, spread};
pub(super) use time::time;
pub(super) use wins::wins;

use super::drawing::Drawing;
use super::pdf::pdf;
use super::svg::svg;
use crate::stats::Comparison;

/// A drawing with its title, caption and description.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in file names and links.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The content of the drawing in words.
    pub text: String,
    drawing: Drawing,
}

impl Figure {
    /// The drawing as SVG, with its title and its content in words for screen readers.
    pub fn svg(&self) -> String {
        svg(&self.drawing, &self.id, &self.title, &self.text)
    }

    /// Whether it is wider than a telephone can show it with letters that can be read.
    pub(super) fn is_wide(&self) -> bool {
        self.drawing.width > WIDTH
    }

    /// The drawing as PDF.
    pub fn pdf(&self) -> Vec<u8> {
        pdf(&self.drawing, &self.title)
    }
}

/// Where marks stand that would cover each other, because their values are equal: side by side, with
/// the value in the middle. Returns for each value how many pixels its mark is moved.
fn side_by_side(values: &[f64]) -> Vec<f64> {
    const DISTANCE: f64 = 10.0;
    let is_same = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let moved = |at: usize| {
        let n_equal = values.iter().filter(|&&other| is_same(other, values[at])).count();
        let n_before = values[..at].iter().filter(|&&other| is_same(other, values[at])).count();
        (n_before as f64 - (n_equal as f64 - 1.0) / 2.0) * DISTANCE
    };
    (0..values.len()).map(moved).collect()
}

/// Whose critical difference a comparison has.
pub(super) fn critical_difference_name(comparison: &Comparison) -> &'static str {
    match comparison.plan.control {
        None => "Nemenyi",
        Some(_) => "Bonferroni–Dunn",
    }
}

/// The width of all figures, in pixels. It is chosen so that letters of 13 pixels can be read on a
/// telephone and in one column of a journal.
const WIDTH: f64 = 480.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_equal_values_stand_side_by_side() {
        assert_eq!(side_by_side(&[2.0, 1.0, 2.0]), [-5.0, 0.0, 5.0]);
        assert_eq!(side_by_side(&[1.0, 1.0, 1.0]), [-10.0, 0.0, 10.0]);
    }
}
