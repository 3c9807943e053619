//! Preparation: what is done to inputs before a model sees them.

mod one_hot;

pub use one_hot::one_hot;
