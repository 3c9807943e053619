//! Figures, each with a description in words for screen readers.

mod diagram;
mod folds;
mod printed;
mod radar;
mod time;
mod wins;

pub(super) use diagram::diagram;
pub(super) use folds::folds;
pub(super) use printed::differences;
pub(super) use radar::radar;
pub(super) use time::time;
pub(super) use wins::wins;

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
    /// The drawing.
    pub svg: String,
}

/// The width of all figures, in pixels. It is chosen so that letters of 13 pixels can be read on a
/// telephone and in one column of a journal.
const WIDTH: f64 = 480.0;
