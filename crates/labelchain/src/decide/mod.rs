//! From what an ensemble says of a row to the labels that are given: the best answer depends on the
//! loss one cares about.
//!
//! An ensemble says three things of a row: how many members vote for each label, a score of each label,
//! and whole label sets. Scores become probabilities by a [`Calibration`], which is learned from training
//! rows that members have not seen. An [`Aim`] names the loss; with a calibration it becomes a
//! [`DecisionRule`], which turns what is said of a row into an answer. Nothing is trained again for
//! another aim.

mod aim;
mod calibration;
mod curve;
mod f1;
mod rule;
mod thresholds;

pub use aim::{AIMS, Aim, AimForm, Share};
pub use calibration::{Calibration, HeldOutScores, LabelCalibration};
pub use curve::Curve;
pub use f1::maximize_expected_f1;
pub use rule::{DecisionRule, RowOutput};
pub use thresholds::OperatingPoint;
