//! Classifier chains that choose their label order for each row, without retraining.
//!
//! The modules stand in the order in which data meets them: [`data`] reads a file,
//! [`prepare`] readies its inputs, [`loss`] says how wrong an answer is.
//!
//! ```
//! use labelchain::data::{Description, ReadOptions, parse};
//!
//! let text = "\
//! @relation 'songs: -C -2'
//! @attribute tempo numeric
//! @attribute calm {0,1}
//! @attribute sad {0,1}
//! @data
//! 72, 1, 1
//! 80, 1, 0
//! 128, 0, 0
//! ";
//! let reading = parse("songs.arff".as_ref(), text.as_bytes(), &ReadOptions::default())?;
//! let songs = Description::of(&reading.table, &reading.notes);
//! assert_eq!((songs.n_rows, songs.n_features, songs.n_labels), (3, 1, 2));
//! assert_eq!(songs.label_counts, [2, 1]);
//! # Ok::<(), labelchain::error::Error>(())
//! ```
//!
//! Nothing here prints, exits or keeps global state, and the same [`seed`] gives the same bytes.

pub mod error;
pub mod seed;

pub mod data;
pub mod learner;
pub mod prepare;

pub mod catalog;

pub mod model;

pub mod chain;

pub mod neighbourhood;
mod product;

pub mod ordering;

pub mod loss;

pub mod ensemble;
pub mod experiment;
pub mod trained;

#[cfg(feature = "study")]
pub mod study;

pub mod stats;

pub mod report;

mod store;
