//! Preparation: what is done to inputs before a model sees them.
//!
//! [`Standardizer`] brings numeric inputs to one scale, [`Undersampling`] thins the common class of
//! a label, [`Encoder`] makes inputs of dates and texts, and [`Cfs`] chooses the inputs that a label is learned from. The last works on
//! [`Columns`], which are made once per data set and serve every label, member and fold.
//!
//! ```
//! use labelchain::prepare::{Cfs, Columns, Undersampling};
//! use labelchain::seed::Seed;
//! # use labelchain::data::{ReadOptions, parse};
//! # let text = "@relation 't: -C -1'\n@attribute x numeric\n@attribute y numeric\n\
//! # @attribute a {0,1}\n@data\n".to_string()
//! #     + &(0..40).map(|i| format!("{},{},{}\n", i, i % 3, i / 20)).collect::<String>();
//! # let data = parse("t.arff".as_ref(), text.as_bytes(), &ReadOptions::default())?.into_rows()?;
//! let data = std::sync::Arc::new(data);
//! let columns = Columns::new(&data);
//! let rows: Vec<usize> = (0..data.n_rows()).collect();
//! let seed = Seed::new(1);
//! for label in data.labels().ids() {
//!     let relevant = |row| data.labels().get(row, label);
//!     let rows = Undersampling::default().thin(&rows, relevant, seed.child("rows", label.0));
//!     let features = Cfs::default().select(&columns, &rows, relevant, seed.child("cap", label.0));
//!     assert_eq!(features, [0]);
//! }
//! # Ok::<(), labelchain::error::Error>(())
//! ```

mod bags;
mod columns;
mod contingency;
mod discretize;
mod encode;
mod entropy;
mod hausdorff;
mod medoids;
mod one_hot;
mod prepared;
mod recipe;
mod select;
mod standardize;
pub mod text;
mod undersample;
pub mod views;

pub use bags::{BagReduction, BagTransform};
pub use columns::{Columns, Spread, Tally};
pub(crate) use columns::{sort_cells, stored_cells};
pub(crate) use discretize::bin;
pub use discretize::{Bins, CandidateCuts, mdl_cuts};
pub use encode::Encoder;
pub(crate) use entropy::{NLogN, SMALL, real_n_log_n};
pub use medoids::MedoidStart;
pub use one_hot::one_hot;
pub use prepared::{LabelView, MAX_FEATURES, MAX_IMBALANCE, Preparation, Prepared, SELECT};
pub(crate) use prepared::{StoredValues, incomplete_columns};
pub use recipe::Recipe;
pub use select::Cfs;
pub use standardize::Standardizer;
pub use text::{TextSettings, Vocabulary};
pub use undersample::Undersampling;
