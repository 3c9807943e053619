//! Classifier chains that choose their label order for each row, without retraining.
pub mod error;
pub mod seed;

pub mod data;

pub mod loss;
