//! A trained model on its own: names in, names out.

mod file;

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::{ChainModel as _, Evidence as _, Svm};
use crate::data::{
    Attribute, AttributeKind, Bags, Dataset, Dense, LabelId, LabelMatrix, Matrix, Note, Sparse,
    Table,
};
use crate::distance::Neighbourhood;
use crate::ensemble::{BaseModel, Ensemble, Member};
use crate::error::{Error, Result, nearest};
use crate::experiment::{Method, Settings, Step, fit};
use crate::learner::{Block, Trace};
use crate::prepare::{BagReduction, BagTransform, Prepared, Standardizer};
use crate::seed::Seed;

/// Everything needed to label rows of the same columns.
///
/// ```
/// use labelchain::data::{ReadOptions, parse};
/// use labelchain::experiment::Settings;
/// use labelchain::model::Model;
///
/// let rows: String = (0..40).map(|n| format!("{n},{},{}\n", n / 20, n % 2)).collect();
/// let text = format!("@relation 'r: -C -2'\n@attribute x numeric\n@attribute late {{0,1}}\n\
///                     @attribute odd {{0,1}}\n@data\n{rows}");
/// let data = parse("r.arff".as_ref(), text.as_bytes(), &ReadOptions::default())?.into_rows()?;
/// let model = Model::fit(&data, "ecc-nb".parse()?, &Settings::default(), 1, &|_| ())?;
///
/// // Columns are found by name, and labels may be absent.
/// let (new, _) = model.align(&data.select(&[2, 38]).unlabelled(), "new.csv".as_ref())?;
/// let answers = model.predict(&new)?;
/// let late = data.label("late")?;
/// assert!(!answers.labels.get(0, late) && answers.labels.get(1, late));
/// assert_eq!(answers.votes[0], 0.0, "no member says that row 2 is late");
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    version: String,
    method: Method,
    seed: u64,
    settings: Settings,
    decay: Option<f64>,
    neighbours: Option<usize>,
    machines: Option<Vec<Svm>>,
    attributes: Vec<Attribute>,
    label_names: Vec<String>,
    standardizer: Standardizer,
    is_sparse: bool,
    n_rows: usize,
    ensemble: Ensemble<BaseModel>,
    /// The standardized inputs of the training rows, where members look for neighbours.
    train: Option<Matrix>,
    /// What makes single rows of bags, where it was trained on bags.
    bags: Option<BagTransform>,
}

/// What was said about each row.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The labels said to be relevant.
    pub labels: LabelMatrix,
    /// The share of members that said so, row by row, by label.
    pub votes: Vec<f64>,
}

impl Model {
    /// Trains one method on all rows.
    /// `progress` is told after each step of something long.
    pub fn fit(
        data: &Dataset,
        method: Method,
        settings: &Settings,
        seed: u64,
        progress: &dyn Fn(Step),
    ) -> Result<Model> {
        if data.n_rows() == 0 {
            let purpose = "training".into();
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        let prepared = Prepared::new(data.clone())?.within(settings.max_memory);
        let draws = Seed::new(seed).child("whole", 0);
        let Some(fitted) = fit(&[method], settings, &prepared, draws, progress).next() else {
            return Err(Error::Setting { name: "method", value: "none".into(), accepted: "one" });
        };
        let fitted = fitted?;
        let train =
            fitted.ensemble.needs_neighbourhood().then(|| prepared.data().features().clone());
        Ok(Model {
            version: env!("CARGO_PKG_VERSION").into(),
            method,
            seed,
            settings: settings.clone(),
            decay: fitted.decay,
            neighbours: fitted.neighbours,
            machines: fitted.machines,
            attributes: data.attributes().to_vec(),
            label_names: data.label_names().to_vec(),
            standardizer: prepared.standardizer().clone(),
            is_sparse: matches!(data.features(), Matrix::Sparse(_)),
            n_rows: data.n_rows(),
            ensemble: fitted.ensemble,
            train,
            bags: None,
        })
    }

    /// Trains a method that [learns by column](Method::learns_by_column) on all rows, a few inputs at
    /// a time: each part holds other inputs of the same rows. The model is the same as that of all
    /// inputs together.
    pub fn fit_by_columns(
        parts: impl IntoIterator<Item = Result<Dataset>>,
        method: Method,
        settings: &Settings,
        seed: u64,
        progress: &dyn Fn(Step),
    ) -> Result<Model> {
        let refused = || Error::Setting {
            name: "method",
            value: method.to_string(),
            accepted: "br-nb or ecc-nb without a selection of features, to learn some inputs at a time",
        };
        let mut whole: Option<Model> = None;
        for part in parts {
            let part = Model::fit(&part?, method, settings, seed, progress)?;
            whole = Some(match whole {
                None => part,
                Some(before) => before.beside(part).ok_or_else(refused)?,
            });
        }
        whole.ok_or_else(refused)
    }

    fn beside(mut self, other: Model) -> Option<Model> {
        self.attributes.extend(other.attributes);
        Some(Model {
            standardizer: self.standardizer.beside(other.standardizer),
            ensemble: self.ensemble.beside(other.ensemble)?,
            ..self
        })
    }

    /// The same, to use at most so many bytes.
    pub(crate) fn within(mut self, max_memory: u64) -> Model {
        self.settings.max_memory = max_memory;
        self
    }

    /// Trains one method on bags of instances, made into single rows by what all of them say.
    pub fn fit_bags(
        bags: &Bags,
        reduction: BagReduction,
        method: Method,
        settings: &Settings,
        seed: u64,
        progress: &dyn Fn(Step),
    ) -> Result<Model> {
        let transform = reduction.fit(bags, Seed::new(seed))?;
        let rows = transform.apply(bags)?;
        let trained = Model::fit(&rows, method, settings, seed, progress)?;
        Ok(Model { bags: Some(transform), ..trained })
    }

    /// What makes single rows of bags; none where it was trained on single rows.
    pub fn bags(&self) -> Option<&BagTransform> {
        self.bags.as_ref()
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

    /// β, given or tuned; none unless orders depend on the row.
    pub fn decay(&self) -> Option<f64> {
        self.decay
    }

    /// R, given or tuned; none unless the base is nearest neighbours.
    pub fn neighbours(&self) -> Option<usize> {
        self.neighbours
    }

    /// C and γ of each label, given or found on the grid; none unless the base is machines.
    pub fn machines(&self) -> Option<&[Svm]> {
        self.machines.as_deref()
    }

    /// The inputs it was trained on.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The labels it tells.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// How inputs are brought to one scale.
    pub fn standardizer(&self) -> &Standardizer {
        &self.standardizer
    }

    /// The members of the ensemble.
    pub fn members(&self) -> &[Member<BaseModel>] {
        self.ensemble.members()
    }

    /// The tree of one member for one label, in the units of the training file, as text; none where
    /// members are not trees.
    pub fn tree(&self, member: usize, label: LabelId) -> Option<String> {
        let BaseModel::J48(chain) = self.members().get(member)?.model() else { return None };
        let inputs = chain.inputs(label, &self.attributes, &self.label_names);
        let features = &chain.views()[label.0].features;
        let (means, deviations) = (self.standardizer.means(), self.standardizer.deviations());
        let as_in_file = |input: usize, value: f64| {
            let scale = |&column: &usize| Some((means[column]?, deviations[column]?));
            match features.get(input).and_then(scale) {
                Some((mean, deviation)) => value * deviation + mean,
                None => value,
            }
        };
        Some(chain.model(label).on_scale(as_in_file).named(&inputs).to_string())
    }

    /// Labels rows whose columns were brought into place by [`Model::align`].
    pub fn predict(&self, rows: &Dataset) -> Result<Prediction> {
        let rows = self.standardizer.apply(rows.clone())?;
        let votes = self.ensemble.votes(&rows, self.neighbourhood()?.as_ref())?;
        let n = self.members().len() as f64;
        let labels = self.ensemble.decide(&votes);
        Ok(Prediction {
            labels,
            votes: votes.into_iter().map(|count| f64::from(count) / n).collect(),
        })
    }

    /// How each member decided each row; rows as for [`Model::predict`].
    pub fn trace(&self, rows: &Dataset) -> Result<Vec<Vec<Trace>>> {
        let rows = self.standardizer.apply(rows.clone())?;
        self.ensemble.trace(&rows, self.neighbourhood()?.as_ref())
    }

    /// What one member makes of each label from the inputs alone, before any decision: support row
    /// by row, by label. Rows as for [`Model::predict`].
    pub fn support_alone(&self, rows: &Dataset, member: usize) -> Result<Vec<f64>> {
        let rows = self.standardizer.apply(rows.clone())?;
        let Some(member) = self.members().get(member) else {
            let (what, expected, found) = ("members", member + 1, self.members().len());
            return Err(Error::Shape { what, expected, found });
        };
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let near = self.neighbourhood()?;
        let wanted = member.model().needs();
        let nearest = near.as_ref().and_then(|near| near.rankings(&rows, wanted));
        let features = rows.features();
        let block = Block { features, rows: &all, near: None, nearest: nearest.as_ref() };
        let scores = member.model().score(&block);
        let of_row = |row: usize| {
            let evidence = member.model().evidence(&scores, row);
            (0..self.label_names.len()).map(move |label| evidence.support(LabelId(label)))
        };
        Ok(all.iter().flat_map(|&row| of_row(row)).collect())
    }

    /// Whether the parts fit together, as they do unless they come from a file that was made by hand.
    pub(crate) fn is_sound(&self) -> bool {
        let (n_features, n_labels) = (self.attributes.len(), self.label_names.len());
        let n_train = self.train.as_ref().map(Matrix::n_rows);
        let cell_fits = |(column, value): (usize, f64)| match self.attributes[column].values() {
            Some(values) => value.is_nan() || (0.0..values.len() as f64).contains(&value),
            None => true,
        };
        let train_fits = |train: &Matrix| {
            train.is_sound()
                && train.n_columns() == n_features
                && (0..train.n_rows()).all(|row| train.entries(row).all(cell_fits))
        };
        self.standardizer.means().len() == n_features
            && self.standardizer.deviations().len() == n_features
            && self.ensemble.n_labels() == n_labels
            && self.train.as_ref().is_none_or(train_fits)
            && self.bags.as_ref().is_none_or(|bags| bags.is_sound(n_features))
            && self
                .ensemble
                .is_sound(n_train, |model| model.is_sound(n_labels, n_features, n_train))
    }

    fn neighbourhood(&self) -> Result<Option<Neighbourhood<'_>>> {
        let lay_out = |train| {
            Ok(Neighbourhood::new(&self.attributes, train)?.within(self.settings.max_memory))
        };
        self.train.as_ref().map(lay_out).transpose()
    }

    /// Brings the columns of other data into the order and storage of the training data, by name.
    /// Values never seen in training become missing; both that and extra columns are noted.
    pub fn align(&self, data: &Dataset, path: &Path) -> Result<(Dataset, Vec<Note>)> {
        let (here, there) = (by_name(&self.attributes), by_name(data.attributes()));
        let mut sources = Vec::with_capacity(self.attributes.len());
        let mut missing = Vec::new();
        for attribute in &self.attributes {
            match there.get(attribute.name.as_str()).copied() {
                Some(at) => sources.push(Source::new(attribute, data, at, path)?),
                None => missing.push(attribute.name.as_str()),
            }
        }
        if !missing.is_empty() {
            return Err(self.lacking(data, &missing, path));
        }
        let (features, n_unseen, first) = self.gathered(data, &sources);
        let mut notes = Vec::new();
        let names = data.attributes().iter().map(|attribute| attribute.name.as_str());
        let extra: Vec<&str> = names.filter(|name| !here.contains_key(name)).collect();
        if let Some(first) = extra.first() {
            let text = format!(
                "columns ignored, for the model does not know them: {} (first: {first:?})",
                extra.len()
            );
            notes.push(Note { code: "extra-columns", text });
        }
        if let Some((column, value)) = first {
            let attribute = &data.attributes()[column];
            let value = attribute.values().and_then(|values| values.get(value as usize));
            let text = format!(
                "cells with values never seen in training, treated as missing: {n_unseen} \
                 (first: {:?} in {:?})",
                value.map_or("?", String::as_str),
                attribute.name
            );
            notes.push(Note { code: "unseen-values", text });
        }
        Ok((data.with_features(self.attributes.clone(), features)?, notes))
    }

    fn lacking(&self, data: &Dataset, missing: &[&str], path: &Path) -> Error {
        let names: Vec<String> = data.attributes().iter().map(|a| a.name.clone()).collect();
        let shown: Vec<String> = missing
            .iter()
            .take(5)
            .map(|name| match nearest(name, &names) {
                Some(near) => format!("{name:?} (found {near:?}?)"),
                None => format!("{name:?}"),
            })
            .collect();
        let more = if missing.len() > 5 { ", …" } else { "" };
        Error::Columns {
            path: path.into(),
            problem: format!(
                "lacks {} of the {} features the model was trained on: {}{more}",
                missing.len(),
                self.attributes.len(),
                shown.join(", ")
            ),
            remedy: "columns are found by name, in any order; name them as in training".into(),
        }
    }

    /// The cells the model knows, how many it does not, and the column and value of the first of those.
    fn gathered(
        &self,
        data: &Dataset,
        sources: &[Source],
    ) -> (Matrix, usize, Option<(usize, f64)>) {
        let (mut n_unseen, mut first) = (0, None);
        let mut cell = |source: &Source, row: usize| {
            let value = data.features().get(row, source.at);
            let known = source.known(value);
            if known.is_nan() && !value.is_nan() {
                n_unseen += 1;
                first = first.or(Some((source.at, value)));
            }
            known
        };
        let rows = 0..data.n_rows();
        let features = if self.is_sparse {
            // A number that is left out stays so; a name may stand elsewhere among those known here.
            let mut place = vec![None; data.n_features()];
            let (mut names, mut cells) = (Vec::new(), Vec::new());
            for (at, source) in sources.iter().enumerate() {
                match source.values {
                    None => place[source.at] = Some(at as u32),
                    Some(_) => names.push(at),
                }
            }
            let mut sparse = Sparse::new(sources.len());
            for row in rows {
                let stored = data.features().entries(row);
                cells.extend(stored.filter_map(|(column, value)| Some((place[column]?, value))));
                cells.extend(names.iter().map(|&at| (at as u32, cell(&sources[at], row))));
                cells.sort_unstable_by_key(|&(at, _)| at);
                sparse.push_row(cells.drain(..));
            }
            Matrix::Sparse(sparse)
        } else {
            let mut dense = Dense::new(sources.len());
            for row in rows {
                let cells: Vec<f64> = sources.iter().map(|source| cell(source, row)).collect();
                dense.push_row(&cells);
            }
            Matrix::Dense(dense)
        };
        (features, n_unseen, first)
    }
}

/// Where each attribute stands; of several with one name, the first.
fn by_name(attributes: &[Attribute]) -> HashMap<&str, usize> {
    attributes
        .iter()
        .enumerate()
        .rev()
        .map(|(at, attribute)| (attribute.name.as_str(), at))
        .collect()
}

/// A column of other data, and what its values are called here.
struct Source {
    at: usize,
    /// For each value there, its place among the values known; none for numbers.
    values: Option<Vec<Option<usize>>>,
}

impl Source {
    fn new(known: &Attribute, data: &Dataset, at: usize, path: &Path) -> Result<Source> {
        let is_missing = |row| data.features().get(row, at).is_nan();
        let values = match (&known.kind, &data.attributes()[at].kind) {
            // Text that shows no value cannot show that its values have names.
            (_, AttributeKind::Numeric) if (0..data.n_rows()).all(is_missing) => None,
            (AttributeKind::Numeric, AttributeKind::Numeric) => None,
            (AttributeKind::Nominal(known), AttributeKind::Nominal(found)) => {
                let place = |value: &String| known.iter().position(|other| other == value);
                Some(found.iter().map(place).collect())
            }
            (AttributeKind::Numeric, AttributeKind::Nominal(values)) => {
                let is_name = |value: &&String| value.trim().parse::<f64>().is_err();
                let example = values.iter().find(is_name).or(values.first());
                let example = example.map_or(String::new(), |value| format!(", such as {value:?}"));
                return Err(Error::Columns {
                    path: path.into(),
                    problem: format!(
                        "{:?} was a number in training and has named values here{example}",
                        known.name
                    ),
                    remedy: "make the column numeric, or train again".into(),
                });
            }
            (AttributeKind::Nominal(values), AttributeKind::Numeric) => {
                return Err(Error::Columns {
                    path: path.into(),
                    problem: format!(
                        "{:?} had {} named values in training and is a number here",
                        known.name,
                        values.len()
                    ),
                    remedy: "use a format that keeps named values (ARFF, Parquet), or train again"
                        .into(),
                });
            }
        };
        Ok(Source { at, values })
    }

    fn known(&self, value: f64) -> f64 {
        match &self.values {
            None => value,
            Some(_) if value.is_nan() => value,
            Some(places) => {
                places.get(value as usize).copied().flatten().map_or(f64::NAN, |place| place as f64)
            }
        }
    }
}
