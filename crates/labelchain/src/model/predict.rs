//! Answers: which labels, how probable each is, and how many members say so.

use std::path::Path;
use std::sync::Arc;

use super::explain::Cell;
use super::{AlignedRows, Model};
use crate::chain::{Attribution, Score, Trace};
use crate::data::{Dataset, LabelMatrix, Matrix, Note, date};
use crate::distance::Neighbourhood;
use crate::ensemble::{OutputOptions, Queries};
use crate::error::{Error, Result};

/// What a model answers about rows.
#[derive(Clone, Debug)]
pub struct Prediction {
    label_names: Arc<[String]>,
    /// The labels predicted for each row, as the aim of the model has it. By votes, these are the labels
    /// that a majority of the members decided to be relevant; what exactly half of them decides is the
    /// setting `vote-ties`.
    pub labels: LabelMatrix,
    /// The probability that each label is relevant, row by row, by label, calibrated by training rows that
    /// members have not seen. None where scores are margins and there were no such rows.
    pub probabilities: Option<Vec<f64>>,
    /// The mean margin of each label over the members, row by row, by label, where scores are margins and
    /// there are no probabilities.
    pub margins: Option<Vec<f64>>,
    /// The share of members that decided each label to be relevant, row by row, by label. It is a vote
    /// and no probability.
    pub shares: Vec<f64>,
    /// What had to be left out of the rows or became missing.
    pub notes: Vec<Note>,
}

impl Prediction {
    /// The names of the labels predicted for a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn relevant(&self, row: usize) -> impl Iterator<Item = &str> {
        self.labels.relevant(row).map(|label| self.label_names[label.0].as_str())
    }

    /// The share of members that decided each label of a row to be relevant, by label.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn shares(&self, row: usize) -> &[f64] {
        let n_labels = self.label_names.len();
        &self.shares[row * n_labels..(row + 1) * n_labels]
    }

    /// The share of members that decided a label of a row to be relevant; none if there is no such row
    /// or label.
    pub fn share(&self, row: usize, label: &str) -> Option<f64> {
        let place = self.label_names.iter().position(|name| name == label)?;
        self.shares.chunks(self.label_names.len()).nth(row).map(|shares| shares[place])
    }

    /// The probability of each label of a row, by label; none if there is no such row, or if the model
    /// gives no probabilities.
    pub fn probabilities(&self, row: usize) -> Option<&[f64]> {
        self.probabilities.as_ref()?.chunks(self.label_names.len()).nth(row)
    }

    /// The probability that a label of a row is relevant; none if there is no such row or label, or if
    /// the model gives no probabilities.
    pub fn probability(&self, row: usize, label: &str) -> Option<f64> {
        let place = self.label_names.iter().position(|name| name == label)?;
        self.probabilities(row).map(|of_row| of_row[place])
    }

    /// The labels of a row from the most to the least probable, each with its probability; of equals the
    /// lower label first. Empty if there is no such row, or if the model gives no probabilities.
    pub fn ranking(&self, row: usize) -> Vec<(&str, f64)> {
        let probabilities = self.probabilities(row).unwrap_or_default().iter().copied();
        let names = self.label_names.iter().map(String::as_str);
        let mut ranked: Vec<(&str, f64)> = names.zip(probabilities).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }

    /// How strongly the model speaks for each label, row by row, by label: the logarithm of the odds of its
    /// probability or, where there are none, the margin. None where neither was asked for. A certain
    /// probability counts as one by a rounding error less, so that every value is finite.
    pub fn decision_values(&self) -> Option<Vec<f64>> {
        let log_odds = |p: &f64| {
            let p = p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            (p / (1.0 - p)).ln()
        };
        let of_probabilities =
            self.probabilities.as_ref().map(|of| of.iter().map(log_odds).collect());
        of_probabilities.or_else(|| self.margins.clone())
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.labels.n_rows()
    }
}

impl Model {
    /// Labels rows whose columns are found by name. Notes say what had to be left out.
    pub fn predict(&self, data: &Dataset) -> Result<Prediction> {
        self.align(data, Path::new(data.name()))?.predict()
    }

    /// The same where some labels of the rows are known: label cells that the data has are kept, and
    /// those that it lacks, or that are unknown, are answered in the light of them. See
    /// [`AlignedRows::given`].
    ///
    /// ```
    /// use labelchain::LabelChain;
    /// use labelchain::data::Dataset;
    ///
    /// // What x is says nothing; b is what a is, and c is not.
    /// let cells: Vec<f64> = (0..40).map(|n| f64::from(n % 5)).collect();
    /// let labels: Vec<bool> = (0..40).flat_map(|n| [n % 2 == 0, n % 2 == 0, n % 2 == 1]).collect();
    /// let data = Dataset::from_rows(1, &cells)?.with_label_indicators(&["a", "b", "c"], &labels)?;
    /// let model = LabelChain::new("ecc-nb")?.fit(&data)?;
    ///
    /// let rows = Dataset::from_rows(1, &[2.0, 2.0])?;
    /// let rows = rows.with_partial_labels(&["a"], &[Some(true), Some(false)])?;
    /// let prediction = model.predict_known(&rows)?;
    /// let names = |row| prediction.relevant(row).collect::<Vec<_>>();
    /// assert_eq!((names(0), names(1)), (vec!["a", "b"], vec!["c"]));
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn predict_known(&self, data: &Dataset) -> Result<Prediction> {
        let rows = self.align(data, Path::new(data.name()))?;
        rows.given(self.known_labels(data)?)?.predict()
    }
}

impl AlignedRows<'_> {
    /// Labels the rows.
    pub fn predict(&self) -> Result<Prediction> {
        self.predict_with(OutputOptions { probabilities: true, ..OutputOptions::default() })
    }

    /// Labels the rows, without probabilities unless the aim of the model needs them.
    pub fn predict_labels(&self) -> Result<Prediction> {
        self.predict_with(OutputOptions::default())
    }

    fn predict_with(&self, wanted: OutputOptions) -> Result<Prediction> {
        let Model { ensemble, label_names, .. } = self.model;
        let train = self.model.neighbourhood()?;
        let queries = self.queries(train.as_ref());
        let output = ensemble.answer(&queries, &[self.aim], wanted, &self.cancel)?;
        let n = ensemble.members().len() as f64;
        Ok(Prediction {
            label_names: Arc::clone(label_names),
            labels: output.answers.into_iter().next().unwrap_or_else(|| LabelMatrix::new(0)),
            probabilities: output.probabilities,
            margins: output.margins,
            shares: output.votes.into_iter().map(|count| f64::from(count) / n).collect(),
            notes: self.notes().to_vec(),
        })
    }

    /// The rows as an ensemble takes them.
    fn queries<'q>(&'q self, train: Option<&'q Neighbourhood<'q>>) -> Queries<'q> {
        Queries { rows: &self.rows, known: self.known.as_ref(), train }
    }

    /// How each member decided each row: traces by row, then by member.
    pub fn traces(&self) -> Result<Vec<Vec<Trace>>> {
        let train = self.model.neighbourhood()?;
        self.model.ensemble.traces(&self.queries(train.as_ref()), &self.cancel)
    }

    /// What the model says of each row from the inputs alone, taken apart: by training rows, by inputs.
    pub fn attributions(&self) -> Result<Vec<Attribution>> {
        let train = self.model.neighbourhood()?;
        self.model.ensemble.attributions(&self.queries(train.as_ref()), &self.cancel)
    }

    /// The cell of an input in the units of the training file; none if it is missing.
    pub(super) fn cell(&self, row: usize, input: usize) -> Option<Cell> {
        let model = self.model;
        let stored = self.rows.features().get(row, input);
        if stored.is_nan() {
            return None;
        }
        if let Some(values) = model.attributes[input].values() {
            return values.get(stored as usize).map(|name| Cell::Name(name.clone()));
        }
        // A sparse table is not centred, so that its zeros stay zeros.
        let deviation = model.standardizer.deviations()[input].unwrap_or(1.0);
        let is_sparse = matches!(self.rows.features(), Matrix::Sparse(_));
        let number =
            if is_sparse { stored * deviation } else { model.standardizer.in_file(input, stored) };
        match &model.encoder {
            Some(encoder) if encoder.is_date(&model.attributes[input].name) => {
                Some(Cell::Name(date::spelt(number)))
            }
            _ => Some(Cell::Number(number)),
        }
    }

    /// How strongly one member speaks for each label of each row from the inputs alone, before any
    /// decision and whatever is known: by row, then by label.
    pub fn scores_alone(&self, member: usize) -> Result<Vec<Vec<Score>>> {
        let ensemble = &self.model.ensemble;
        let found = ensemble.members().len();
        if member >= found {
            return Err(Error::Shape { what: "members", expected: member + 1, found });
        }
        let train = self.model.neighbourhood()?;
        let traces = ensemble.traces_alone(member, &self.queries(train.as_ref()), &self.cancel)?;
        Ok(traces.into_iter().map(|trace| trace.scores).collect())
    }
}
