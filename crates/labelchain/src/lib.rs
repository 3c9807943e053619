//! Classifier chains that choose their label order for each row, without retraining.
//!
//! Train once; every row is then labelled in an order of its own:
//!
//! ```
//! use labelchain::data::LabelNetwork;
//! use labelchain::experiment::Settings;
//! use labelchain::seed::Seed;
//! use labelchain::model::Model;
//!
//! let data = LabelNetwork { n_rows: 100, ..LabelNetwork::default() };
//! let data = data.generate("network", Seed::new(1))?;
//! let model = Model::fit(&data, "dynamic-nb".parse()?, &Settings::default(), 1, &|_| ())?;
//! let first = &model.trace(&data.select(&[0]))?[0];
//! assert_eq!(first.len(), 20, "members");
//! assert!(first.iter().any(|member| member.order != first[0].order));
//! # Ok::<(), labelchain::error::Error>(())
//! ```
//!
//! The modules follow the data: [`data`] reads a file, [`prepare`] readies its inputs, a [`base`] model is
//! fitted, a [`chain`] walks it in an order that [`order`] chooses, an [`ensemble`] votes, and
//! [`loss`] says how wrong the vote is. [`experiment`] does all of this for methods by name,
//! [`model`] keeps the outcome, [`stats`] and [`report`] compare methods.
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
pub mod progress;
pub mod seed;
pub mod settings;

pub mod data;
pub mod prepare;

pub mod catalog;

pub mod distance;
mod product;

pub mod chain;
pub mod order;

pub mod loss;

pub mod ensemble;

pub mod base;
pub mod method;
pub mod model;

mod cost;
pub mod experiment;

#[cfg(feature = "study")]
pub mod study;

pub mod stats;

pub mod report;

pub use cost::Cost;
pub use data::Dataset;
pub use error::{Error, ErrorKind, Result};
pub use method::Method;
pub use model::{LabelChain, Model, Prediction};
pub use progress::{Cancel, Progress};
pub use seed::Seed;
pub use settings::Settings;
