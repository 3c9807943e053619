//! A trained model: names in, names out.

mod align;
mod ask;
mod by_columns;
mod by_rows;
mod explain;
mod file;
mod label_chain;
mod predict;
mod update;

pub use align::AlignedRows;
pub use ask::Question;
pub use explain::{Cell, Explanation, InputContribution};
pub use label_chain::LabelChain;
pub use predict::Prediction;
pub use update::{Unknown, Update};

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::chain::{Dimensions, InputNames, TunedSetting};
use crate::data::{Attribute, Dataset, LabelId, Matrix, Table};
use crate::decide::{Aim, Calibration};
use crate::distance::Neighbourhood;
use crate::ensemble::{Ensemble, Member};
use crate::error::{Error, Result};
use crate::loss::Losses;
use crate::method::Method;
use crate::prepare::{BagTransform, Encoder, Standardizer};
use crate::progress::Cancel;
use crate::settings::Settings;

/// Everything needed to label rows of the same columns. [`LabelChain`] trains one.
///
/// ```
/// use labelchain::data::{ReadOptions, parse};
/// use labelchain::LabelChain;
///
/// let rows: String = (0..40).map(|n| format!("{n},{},{}\n", n / 20, n % 2)).collect();
/// let text = format!("@relation 'r: -C -2'\n@attribute x numeric\n@attribute late {{0,1}}\n\
///                     @attribute odd {{0,1}}\n@data\n{rows}");
/// let data = parse("r.arff".as_ref(), text.as_bytes(), &ReadOptions::default())?.into_rows()?;
/// let model = LabelChain::new("ecc-nb")?.fit(&data)?;
///
/// // Columns are found by name, and labels may be absent.
/// let prediction = model.predict(&data.select(&[2, 38]).unlabelled())?;
/// let late = |row| prediction.relevant(row).any(|name| name == "late");
/// assert!(!late(0) && late(1));
/// assert_eq!(prediction.share(0, "late"), Some(0.0), "no member decides that row 2 is late");
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    version: String,
    method: Method,
    seed: u64,
    settings: Settings,
    tuned: Vec<TunedSetting>,
    attributes: Arc<[Attribute]>,
    label_names: Arc<[String]>,
    standardizer: Standardizer,
    is_sparse: bool,
    n_rows: usize,
    ensemble: Ensemble,
    /// The standardized inputs of the training rows, where members measure distances to them.
    train: Option<Matrix>,
    /// What makes single rows of bags, where it was trained on bags.
    bags: Option<BagTransform>,
    /// What makes inputs of dates and texts, where there are some.
    encoder: Option<Encoder>,
    /// The columns that say which row is which, and those that were left out.
    ids: Vec<String>,
    /// What the first of these columns says of each training row; empty where there is none.
    row_ids: Vec<String>,
    left_out: Vec<String>,
    /// The losses of training rows, by the members that have not seen them.
    out_of_bag: Option<Losses>,
    /// Bytes for distances, which a file does not keep: no answer depends on it.
    max_memory: u64,
    cancel: Cancel,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("method", &self.method)
            .field("labels", &self.label_names)
            .field("members", &self.members().len())
            .finish_non_exhaustive()
    }
}

impl Model {
    /// The version of this library that trained it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How many rows it was trained on.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The seed everything was drawn by.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What was set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The values of settings that can be left to the data, whether they were or not.
    pub fn tuned(&self) -> &[TunedSetting] {
        &self.tuned
    }

    /// The value of such a setting, where it is one for all labels.
    pub fn tuned_value(&self, setting: &str) -> Option<f64> {
        match &self.tuned.iter().find(|tuned| tuned.setting == setting)?.values[..] {
            [only] => *only,
            _ => None,
        }
    }

    /// The columns that it takes, as a file has them.
    pub fn columns(&self) -> Arc<[Attribute]> {
        match &self.encoder {
            Some(encoder) => encoder.columns().collect(),
            None => Arc::clone(&self.attributes),
        }
    }

    /// The columns that say which row is which. They are no inputs, and rows may lack them.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// What the first of these columns says of a training row, by which an explanation names it; none where
    /// there is no such column, or its cell is missing.
    pub fn row_id(&self, row: usize) -> Option<&str> {
        self.row_ids.get(row).map(String::as_str).filter(|id| !id.is_empty())
    }

    /// The columns of the training file that were left out.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What makes inputs of dates and texts; none where there were none.
    pub fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    /// The inputs it was trained on: numbers and named values, words of texts, parts of dates.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The labels it predicts.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// How inputs are brought to one scale.
    pub fn standardizer(&self) -> &Standardizer {
        &self.standardizer
    }

    /// The members of the ensemble.
    pub fn members(&self) -> &[Member] {
        self.ensemble.members()
    }

    /// What makes single rows of bags; none where it was trained on single rows.
    pub fn bags(&self) -> Option<&BagTransform> {
        self.bags.as_ref()
    }

    /// The same, to answer for another aim. Nothing is trained again.
    pub fn with_aim(self, aim: Aim) -> Model {
        Model { method: self.method.with_aim(aim), ..self }
    }

    /// How scores become probabilities, and which thresholds suit which aim; none where there were no
    /// training rows to learn it from.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.ensemble.calibration()
    }

    /// The probability from which on each label is given by an aim, by label, none where it never is; `None` where the
    /// aim does not go by thresholds.
    pub fn thresholds(&self, aim: Aim) -> Option<Vec<Option<f64>>> {
        self.ensemble.thresholds(aim)
    }

    /// An estimate of its losses, for the aim that it was trained for: those of its answers about training
    /// rows, each by the members, or the trees, that have not seen the row. None where every member has
    /// seen every row, and for aims that look at label sets.
    ///
    /// Thresholds were chosen by the same rows, so that with an aim that has some it is a little too good.
    /// Fewer members answer about such a row than about a new one, so that without it is a little too bad.
    pub fn out_of_bag(&self) -> Option<&Losses> {
        self.out_of_bag.as_ref()
    }

    /// How much each column of a file matters, in the order of [`Model::columns`]: the sum over its inputs of
    /// [`Model::importance`].
    pub fn column_importance(&self) -> Option<Vec<f64>> {
        let shares = self.importance()?;
        Some(self.encoder.as_ref().map_or(shares.clone(), |encoder| encoder.by_column(&shares)))
    }

    /// How much each input matters, in the order of the attributes, as shares of [what is
    /// measured](Model::importance_measure) that sum to 1. None for other bases than forests, and for a forest
    /// that was measured by rows which an update has not seen.
    pub fn importance(&self) -> Option<Vec<f64>> {
        self.ensemble.importance()
    }

    /// What [importance](Model::importance) is a share of, in words.
    pub fn importance_measure(&self) -> &'static str {
        self.ensemble.importance_measure()
    }

    /// The same, to use at most so many bytes for distances.
    pub fn within(self, max_memory: u64) -> Model {
        Model { max_memory, ..self }
    }

    /// The same; its work is given up when it is cancelled.
    pub fn cancelled_by(self, cancel: &Cancel) -> Model {
        Model { cancel: cancel.clone(), ..self }
    }

    /// Single rows, as [`Model::align`] takes them, of what a file held.
    pub fn rows(&self, table: Table, path: &Path) -> Result<Dataset> {
        match (&self.bags, table) {
            (Some(transform), Table::Bags(bags)) => transform.apply(&bags),
            (Some(_), Table::Rows(_)) => Err(Error::Columns {
                path: path.into(),
                problem: "holds single rows, and the model was trained on bags of instances".into(),
                remedy: "give it bags, in ARFF with a relational attribute".into(),
            }),
            (None, table) => table.into_rows(),
        }
    }

    /// What one member's model of one label looks like, in the units of the training file; none where
    /// it is nothing that people can read. Trees are.
    pub fn text(&self, member: usize, label: LabelId) -> Option<String> {
        let names = InputNames {
            attributes: &self.attributes,
            label_names: &self.label_names,
            standardizer: &self.standardizer,
        };
        self.members().get(member)?.model().text(label, &names)
    }

    fn neighbourhood(&self) -> Result<Option<Neighbourhood<'_>>> {
        let lay_out =
            |train| Ok(Neighbourhood::new(&self.attributes, train)?.within(self.max_memory));
        self.train.as_ref().map(lay_out).transpose()
    }

    /// Whether the parts agree with each other, as they do unless they were decoded from a file that
    /// was made by hand.
    fn fits(&self) -> bool {
        let (n_features, n_labels) = (self.attributes.len(), self.label_names.len());
        let n_train = self.train.as_ref().map(Matrix::n_rows);
        let cell_fits = |(column, value): (usize, f64)| match self.attributes[column].values() {
            Some(values) => value.is_nan() || (0.0..values.len() as f64).contains(&value),
            None => true,
        };
        let train_fits = |train: &Matrix| {
            train.n_columns() == n_features
                && (0..train.n_rows()).all(|row| train.entries(row).all(cell_fits))
        };
        // Lists of rows are made of 32-bit numbers here and there.
        let loss_fits = |loss: Option<f64>| loss.is_none_or(|loss| (0.0..=1.0).contains(&loss));
        n_labels > 0
            && self.out_of_bag.iter().flat_map(Losses::iter).all(|(_, loss)| loss_fits(loss))
            && self.n_rows <= u32::MAX as usize
            && self.row_ids.len() == if self.ids.is_empty() { 0 } else { self.n_rows }
            && self.standardizer.means().len() == n_features
            && self.standardizer.deviations().len() == n_features
            && self.train.as_ref().is_none_or(train_fits)
            && self.bags.as_ref().is_none_or(|bags| bags.is_sound(n_features))
            && self.encoder.as_ref().is_none_or(|of| of.attributes()[..] == *self.attributes)
            && n_train.is_none_or(|n_train| n_train == self.n_rows)
            && self.ensemble.fits(&Dimensions::of(&self.attributes, n_labels, self.n_rows, n_train))
    }
}
