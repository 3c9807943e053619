//! Training without all inputs of all rows in one place: some inputs of all rows at a time, then some rows at a time.
//!
//! Naive Bayes multiplies one factor per input, and learns it without a look at the others. So models of some inputs
//! each, of the same rows, are joined to the model of all inputs, to the last bit. What is left is how scores become
//! probabilities: that is learned from what members say of training rows that they have not seen, and what they say of
//! a row needs no other row. So whoever holds some rows finds it out about these, and one process learns from all.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::label_chain::training_seed;
use super::{LabelChain, Model};
use crate::chain::Scale;
use crate::data::{Dataset, LabelMatrix};
use crate::decide::HeldOutScores;
use crate::decode::{DecodeBudget, decode};
use crate::ensemble::SeenRows;
use crate::error::{Error, Result};
use crate::method::Method;
use crate::settings::Settings;

impl LabelChain<'_> {
    /// Whether the method [learns by column](Method::learns_by_column), with these settings.
    pub fn learns_by_column(&self) -> bool {
        self.method.learns_by_column(&self.settings)
    }

    /// Trains a method that [learns by column](Method::learns_by_column) on all rows, a few inputs at
    /// a time: each part holds other inputs of the same rows. The model is the same as that of all
    /// inputs together, but for its probabilities, which are not calibrated: the scores of training rows
    /// rest on all inputs.
    pub fn fit_by_columns(
        &self,
        parts: impl IntoIterator<Item = Result<Dataset>>,
    ) -> Result<Model> {
        if self.method.aim().needs_held_out_rows() {
            let what =
                format!("the aim {}, where inputs are read a few at a time,", self.method.aim());
            return Err(Error::Uncalibrated { what });
        }
        let mut whole: Option<Model> = None;
        for part in parts {
            let part = self.fit_columns(&part?)?;
            whole = Some(match whole {
                None => part,
                Some(before) => before.with_columns_of(part)?,
            });
        }
        whole.ok_or_else(|| not_by_column(self.method, &self.settings))
    }

    /// Trains a method that learns by column on some inputs of all rows, for a model that other inputs are joined to
    /// ([`Model::with_columns_of`]) and that is calibrated when it has all of them ([`Model::calibrated_by`]).
    ///
    /// ```
    /// use labelchain::{Dataset, LabelChain};
    ///
    /// let (tempo, loudness) = ([72., 80., 75., 90., 128., 140., 130., 150.], [3., 4., 9., 8., 2., 3., 9., 8.]);
    /// let tags = [&["calm"][..], &["calm"], &["loud"], &["loud"], &["fast"], &["fast"],
    ///             &["fast", "loud"], &["fast", "loud"]];
    /// let songs = |names: &[&str], cells: &[f64]| {
    ///     let rows = Dataset::from_rows(names.len(), cells)?.with_feature_names(names)?;
    ///     rows.with_label_sets(&["calm", "fast", "loud"], &tags)
    /// };
    /// let both: Vec<f64> = tempo.iter().zip(loudness).flat_map(|(&tempo, loudness)| [tempo, loudness]).collect();
    /// let all = songs(&["tempo", "loudness"], &both)?;
    ///
    /// let chain = LabelChain::new("ecc-nb")?.set("select", "none")?;
    /// let model = chain.fit_columns(&songs(&["tempo"], &tempo)?)?;
    /// let model = model.with_columns_of(chain.fit_columns(&songs(&["loudness"], &loudness)?)?)?;
    /// // Rows may stand in several places, too: these are the first three and the others.
    /// let (first, rest) = (all.select(&[0, 1, 2]), all.select(&[3, 4, 5, 6, 7]));
    /// let held_out = [model.held_out(&first, 0)?, model.held_out(&rest, 3)?];
    /// assert_eq!(model.calibrated_by(&held_out)?.to_bytes()?, chain.fit(&all)?.to_bytes()?);
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn fit_columns(&self, some_inputs: &Dataset) -> Result<Model> {
        if !self.learns_by_column() {
            return Err(not_by_column(self.method, &self.settings));
        }
        self.fit_with(some_inputs, false, &[])
    }
}

/// What members say of training rows that they have not seen, and the labels of these rows, as they are sent to the
/// process that calibrates.
#[derive(Serialize, Deserialize)]
struct HeldOutRows {
    labels: LabelMatrix,
    votes: LabelMatrix,
    scale: Scale,
    scores: Vec<f64>,
}

impl Model {
    /// The model of these inputs and then those of another, of the same rows, settings and seed. It is not calibrated.
    pub fn with_columns_of(mut self, other: Model) -> Result<Model> {
        let refused = not_by_column(self.method, &self.settings);
        let settings =
            |of: &Model| of.method.settings().map(|it| of.settings.text(it)).collect::<Vec<_>>();
        let is_of = |of: &Model| (of.method, of.seed, settings(of), of.n_rows);
        // Words and parts of dates are found in whole columns, and by all columns together.
        let is_encoded = self.encoder.is_some() || other.encoder.is_some();
        if is_of(&self) != is_of(&other) || self.label_names != other.label_names || is_encoded {
            return Err(refused);
        }
        self.verify()?;
        other.verify()?;
        self.attributes = [&self.attributes[..], &other.attributes].concat().into();
        Ok(Model {
            standardizer: self.standardizer.concat_columns(other.standardizer),
            ensemble: self.ensemble.concat_columns(other.ensemble).ok_or(refused)?,
            label_names: Arc::clone(&self.label_names),
            out_of_bag: None,
            ..self
        })
    }

    /// What members say of training rows that they have not seen, as bytes: `rows` are some of the rows that the model
    /// was trained on, with their labels, of which the first has the number `first` among all. Of a method that
    /// learns by column.
    pub fn held_out(&self, rows: &Dataset, first: usize) -> Result<Vec<u8>> {
        if !self.method.learns_by_column(&self.settings) {
            return Err(not_by_column(self.method, &self.settings));
        }
        let path = Path::new(rows.name());
        let data = self.align(rows, path)?.rows;
        let labels = self.known_labels(rows)?;
        let asked = self.ensemble.calibrating_rows(self.n_rows, self.max_memory);
        let end = first.saturating_add(rows.n_rows());
        let asked: Vec<usize> = asked
            .into_iter()
            .filter(|row| (first..end).contains(row))
            .map(|row| row - first)
            .collect();
        let held_out = self.ensemble.held_out_scores(&SeenRows {
            data: &data,
            first,
            asked: &asked,
            near: None,
            out_of_bag: false,
            cancel: &self.cancel,
        })?;
        let none = || LabelMatrix::new(self.label_names.len());
        let found = match held_out {
            Some(HeldOutScores { votes, scale, rows, scores }) => {
                HeldOutRows { labels: labels.select(&rows), votes, scale, scores }
            }
            None => HeldOutRows {
                labels: none(),
                votes: none(),
                scale: Scale::Probability,
                scores: vec![],
            },
        };
        postcard::to_stdvec(&found).map_err(|_| no_held_out_rows("too large to be written"))
    }

    /// The model, calibrated by what it said of all rows that it was trained on ([`Model::held_out`]), in their order.
    pub fn calibrated_by(mut self, held_out: &[Vec<u8>]) -> Result<Model> {
        let n_labels = self.label_names.len();
        let budget = DecodeBudget::new(self.max_memory);
        let mut all: Option<(LabelMatrix, HeldOutScores)> = None;
        for part in held_out {
            let part: Option<HeldOutRows> = decode(part, &budget);
            let fits = |of: &HeldOutRows| {
                let sizes = [&of.labels, &of.votes].map(|table| (table.n_rows(), table.n_labels()));
                sizes == [(of.votes.n_rows(), n_labels); 2]
                    && of.votes.n_rows().checked_mul(n_labels) == Some(of.scores.len())
            };
            let part = part.filter(fits).ok_or_else(|| no_held_out_rows("damaged"))?;
            if part.scores.is_empty() {
                continue;
            }
            let HeldOutRows { labels, votes, scale, scores } = part;
            match &mut all {
                None => {
                    let rows = (0..votes.n_rows()).collect();
                    all = Some((labels, HeldOutScores { votes, scale, rows, scores }));
                }
                Some((all_labels, all)) => {
                    let n_before = all.rows.len();
                    all.rows.extend(n_before..n_before + votes.n_rows());
                    all_labels.append(&labels);
                    all.votes.append(&votes);
                    all.scores.extend(scores);
                }
            }
        }
        let (labels, scores) = all.unzip();
        let labels = labels.unwrap_or_else(|| LabelMatrix::new(n_labels));
        self.ensemble.calibrate_by(scores.as_ref(), &labels, training_seed(self.seed));
        let aim = self.method.aim();
        self.ensemble.rule(aim)?;
        let estimate = |of: &HeldOutScores| self.ensemble.held_out_losses(of, aim, &labels);
        let out_of_bag = scores.as_ref().map(estimate).transpose()?.flatten();
        Ok(Model { out_of_bag, ..self })
    }
}

fn not_by_column(method: Method, settings: &Settings) -> Error {
    let learns = |method: &Method| method.learns_by_column(settings);
    let names: Vec<String> =
        Method::all().filter(learns).map(|method| method.to_string()).collect();
    Error::Value {
        name: "method".into(),
        value: method.to_string(),
        accepted: if names.is_empty() {
            "one that learns by column, and none does while labels select their features".into()
        } else {
            format!("one that learns by column, of the same rows: {}", names.join(", "))
        },
    }
}

fn no_held_out_rows(found: &str) -> Error {
    Error::Value {
        name: "held-out rows".into(),
        value: found.into(),
        accepted: "what the model says of the rows that it was trained on".into(),
    }
}
