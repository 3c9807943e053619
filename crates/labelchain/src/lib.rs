//! Classifier chains that choose their label order for each row, without retraining.
//!
//! From numbers in memory to named answers: a [`LabelChain`] is what to train, a [`Model`] what was
//! trained, a [`Prediction`] what it answers.
//!
//! ```
//! use labelchain::{Dataset, LabelChain};
//!
//! // Eight songs: tempo and loudness, row by row, and the tags of each.
//! let inputs = [72., 3., 80., 4., 75., 9., 90., 8., 128., 2., 140., 3., 130., 9., 150., 8.];
//! let tags = [&["calm"][..], &["calm"], &["loud"], &["loud"], &["fast"], &["fast"],
//!             &["fast", "loud"], &["fast", "loud"]];
//! let songs = Dataset::from_rows(2, &inputs)?.with_label_sets(&["calm", "fast", "loud"], &tags)?;
//!
//! let model = LabelChain::new("ecc-nb")?.fit(&songs)?;
//! let prediction = model.predict(&Dataset::from_rows(2, &[135., 9.])?)?;
//! assert!(prediction.relevant(0).eq(["fast", "loud"]));
//! assert!(prediction.share(0, "fast") > Some(0.5), "most of the twenty members say so");
//!
//! let bytes = model.to_bytes()?; // or model.save(path), which the program reads
//! # Ok::<(), labelchain::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | read a file: ARFF, CSV, TSV, Parquet, SVMLight | [`data::read`] |
//! | make a data set of arrays, dense or sparse | [`Dataset::from_rows`], [`Dataset::from_sparse_rows`] |
//! | know which methods and settings there are | the tables in [`method`] |
//! | train, with progress, a memory bound, a way to stop | [`LabelChain`] |
//! | know why a label was given | [`Model::explain`] |
//! | measure how wrong methods are | [`experiment::CrossValidation`] |
//! | compare methods over many data sets | [`stats`], [`report`], and `study` behind the feature of that name |
//! | add a base learner of your own | the example `custom_base` |
//!
//! The modules follow the data: [`data`] reads a file, [`prepare`] readies its inputs, a [`base`]
//! model is fitted, a [`chain`] walks it in an order that [`order`] chooses, an [`ensemble`] votes,
//! and [`loss`] says how wrong the vote is. A [`method`] is all of this by name.
//!
//! Here every row is labelled in an order of its own, by one model that was trained once:
//!
//! ```
//! use labelchain::data::LabelNetwork;
//! use labelchain::{LabelChain, Seed};
//!
//! let network = LabelNetwork { n_rows: 100, ..LabelNetwork::default() };
//! let data = network.generate("network", Seed::new(1))?;
//! let model = LabelChain::new("dynamic-nb")?.fit(&data)?;
//! let explanations = model.explain(&data.select(&[0]))?;
//! let members = &explanations[0].members;
//! assert_eq!(members.len(), 20);
//! assert!(members.iter().any(|member| member.order != members[0].order));
//! # Ok::<(), labelchain::Error>(())
//! ```
//!
//! Nothing here prints, exits or keeps global state (but for the names of files that are being written), and the same [`Seed`] gives the same bytes,
//! whatever the number of threads.

mod blocks;
pub mod decode;
pub mod error;
pub mod memory;
pub mod pieces;
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

pub mod decide;
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
pub use progress::{Cancel, Progress, RunOptions};
pub use seed::Seed;
pub use settings::Settings;
