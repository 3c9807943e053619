//! Training: what is to be trained, on what, and with what.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use super::Model;
use crate::data::{Bags, Dataset, Matrix};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::method::{Fitting, Method, fit, fit_parts, setting};
use crate::prepare::{BagReduction, Encoder, Prepared, TextSettings};
use crate::progress::{Cancel, Progress, RunOptions};
use crate::seed::Seed;
use crate::settings::{AnySetting, Settings};

/// A method to be trained, with everything that can be set about it.
///
/// ```
/// use labelchain::{Dataset, LabelChain};
///
/// // Eight songs: tempo and loudness, and what people said of each.
/// let inputs = [72., 3., 80., 4., 75., 9., 90., 8., 128., 2., 140., 3., 130., 9., 150., 8.];
/// let tags = [&["calm"][..], &["calm"], &["loud"], &["loud"], &["fast"], &["fast"],
///             &["fast", "loud"], &["fast", "loud"]];
/// let songs = Dataset::from_rows(2, &inputs)?.with_label_sets(&["calm", "fast", "loud"], &tags)?;
///
/// let model = LabelChain::new("ecc-nb")?.set("members", 10)?.seed(7).fit(&songs)?;
/// let prediction = model.predict(&Dataset::from_rows(2, &[135., 9.])?)?;
/// for (label, share) in model.label_names().iter().zip(prediction.shares(0)) {
///     println!("{label} {share}");
/// }
/// assert!(prediction.relevant(0).eq(["fast", "loud"]));
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone)]
pub struct LabelChain<'p> {
    pub(super) method: Method,
    pub(super) settings: Settings,
    seed: u64,
    options: RunOptions<'p>,
}

impl fmt::Debug for LabelChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelChain")
            .field("method", &self.method)
            .field("settings", &self.settings)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl<'p> LabelChain<'p> {
    /// A method by name, such as `dynamic-nb`, with the paper's settings and seed 1.
    pub fn new(method: &str) -> Result<LabelChain<'p>> {
        Ok(LabelChain::with(method.parse()?, Settings::default()))
    }

    /// A method and its settings. Those that the method does not use change nothing.
    pub fn with(method: Method, settings: Settings) -> LabelChain<'p> {
        LabelChain { method, settings, seed: 1, options: RunOptions::default() }
    }

    /// Sets a setting by its name; `docs/settings.md` lists them. Refused if there is none of this
    /// name, if the method does not use it, or if it does not accept the value.
    pub fn set(mut self, name: &str, value: impl ToString) -> Result<LabelChain<'p>> {
        let setting: &dyn AnySetting = setting(name)?;
        if !self.method.uses(name) {
            let methods = self.method.to_string();
            return Err(Error::UnusedSetting { name: name.into(), methods });
        }
        self.settings.set(setting, &value.to_string())?;
        Ok(self)
    }

    /// What is set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What everything random is drawn by: the same seed gives the same model, to the last bit.
    pub fn seed(self, seed: u64) -> LabelChain<'p> {
        LabelChain { seed, ..self }
    }

    /// Uses at most so many bytes for distances.
    pub fn max_memory(mut self, max_memory: u64) -> LabelChain<'p> {
        self.options.max_memory = max_memory;
        self
    }

    /// Gives up when it is cancelled. The trained model has a flag of its own
    /// ([`Model::cancelled_by`]).
    pub fn cancelled_by(mut self, cancel: &Cancel) -> LabelChain<'p> {
        self.options.cancel = cancel.clone();
        self
    }

    /// Calls a function after each step of something long: the generations of a genetic search. Other
    /// methods fit their members all at once and report nothing.
    pub fn progress(mut self, progress: &'p dyn Fn(Progress)) -> LabelChain<'p> {
        self.options.progress = progress;
        self
    }

    /// Trains on all rows.
    pub fn fit(&self, data: &Dataset) -> Result<Model> {
        self.fit_with(data, true, &[])
    }

    /// How many parts the model has that can be trained without each other: the trees of a forest, or the members of an
    /// ensemble; none where it is trained as a whole, because members or their orders are chosen on validation rows.
    pub fn n_parts(&self) -> Option<usize> {
        self.method.n_parts(&self.settings)
    }

    /// Trains some parts of the model on all rows. Processes that train some each, on the same rows, have
    /// trained what one would have: [`fit_joining`](LabelChain::fit_joining) makes the model of them.
    ///
    /// ```
    /// use labelchain::{Dataset, LabelChain};
    ///
    /// let inputs = [72., 3., 80., 4., 75., 9., 90., 8., 128., 2., 140., 3., 130., 9., 150., 8.];
    /// let tags = [&["calm"][..], &["calm"], &["loud"], &["loud"], &["fast"], &["fast"],
    ///             &["fast", "loud"], &["fast", "loud"]];
    /// let songs = Dataset::from_rows(2, &inputs)?.with_label_sets(&["calm", "fast", "loud"], &tags)?;
    ///
    /// let forest = LabelChain::new("certain-forest")?.set("trees", 10)?;
    /// let parts = [forest.fit_parts(&songs, 0..4)?, forest.fit_parts(&songs, 4..10)?];
    /// let model = forest.fit_joining(&songs, &parts)?;
    /// assert_eq!(model.to_bytes()?, forest.fit(&songs)?.to_bytes()?);
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn fit_parts(&self, data: &Dataset, parts: Range<usize>) -> Result<Vec<u8>> {
        let (_, train) = self.prepare(data)?;
        fit_parts(self.method, self.fitting(&train, false, &[]), parts)
    }

    /// Makes the model of all its parts, in their order. Its bytes are those of [`fit`](LabelChain::fit).
    pub fn fit_joining(&self, data: &Dataset, parts: &[Vec<u8>]) -> Result<Model> {
        if self.n_parts().is_none() || parts.is_empty() {
            return Err(Error::Value {
                name: "parts".into(),
                value: format!("{} of {}", parts.len(), self.method),
                accepted: "at least one, of a method whose model has parts".into(),
            });
        }
        self.fit_with(data, true, parts)
    }

    /// The rows as they are learned from: with texts and dates encoded, and that standardized.
    fn prepare(&self, data: &Dataset) -> Result<(Option<(Encoder, Dataset)>, Prepared)> {
        if data.n_rows() == 0 {
            let purpose = "training".into();
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        if data.n_labels() == 0 {
            let reason = "there is nothing to learn".into();
            return Err(Error::NoLabels { path: data.name().into(), reason });
        }
        let RunOptions { max_memory, cancel, .. } = &self.options;
        cancel.check()?;
        let encode = |encoder: Encoder| -> Result<(Encoder, Dataset)> {
            let (encoded, _) = encoder.apply(data, Path::new(data.name()))?;
            Ok((encoder, encoded))
        };
        let encoder =
            Encoder::fit(data, TextSettings::of(&self.settings), &Memory::new(*max_memory))?;
        let encoded = encoder.map(encode).transpose()?;
        let rows = encoded.as_ref().map_or(data, |(_, encoded)| encoded).clone();
        let train = Prepared::new(rows)?.within(*max_memory).cancelled_by(cancel);
        Ok((encoded, train))
    }

    fn fitting<'t>(
        &'t self,
        train: &'t Prepared,
        calibrates: bool,
        parts: &'t [Vec<u8>],
    ) -> Fitting<'t> {
        let seed = training_seed(self.seed);
        let progress = self.options.progress;
        Fitting { settings: &self.settings, train, seed, calibrates, parts, progress }
    }

    /// `calibrates` says whether to learn how scores become probabilities; `parts` were trained before.
    pub(super) fn fit_with(
        &self,
        file: &Dataset,
        calibrates: bool,
        parts: &[Vec<u8>],
    ) -> Result<Model> {
        let (encoded, train) = self.prepare(file)?;
        let (encoder, encoded) = encoded.unzip();
        let data = encoded.as_ref().unwrap_or(file);
        let methods = [self.method];
        let fitted = fit(&methods, self.fitting(&train, calibrates, parts)).next().transpose()?;
        let Some(fitted) = fitted else { return Err(Error::Cancelled) };
        // A model that could not answer as it is asked to is told now, not when it is used.
        if calibrates {
            fitted.ensemble.rule(self.method.aim())?;
        }
        let needs_rows = fitted.ensemble.needs_neighbourhood();
        let estimate =
            |held_out| fitted.ensemble.held_out_losses(held_out, self.method.aim(), data.labels());
        let out_of_bag = fitted.held_out.as_ref().map(estimate).transpose()?.flatten();
        Ok(Model {
            version: env!("CARGO_PKG_VERSION").into(),
            method: self.method,
            seed: self.seed,
            settings: self.settings.clone(),
            tuned: fitted.tuned,
            attributes: data.shared_attributes(),
            label_names: data.label_names().into(),
            standardizer: train.standardizer().clone(),
            is_sparse: matches!(data.features(), Matrix::Sparse(_)),
            n_rows: data.n_rows(),
            ensemble: fitted.ensemble,
            train: needs_rows.then(|| train.data().features().clone().with_countable_rows()),
            bags: None,
            encoder,
            ids: file.ids().iter().map(|id| id.name.clone()).collect(),
            row_ids: file.ids().first().map(|id| id.cells.clone()).unwrap_or_default(),
            left_out: file.left_out().to_vec(),
            out_of_bag,
            max_memory: self.options.max_memory,
            cancel: Cancel::default(),
        })
    }

    /// Trains on bags of instances, made into single rows by what all of them say.
    pub fn fit_bags(&self, bags: &Bags, reduction: BagReduction) -> Result<Model> {
        let transform = reduction.fit(bags, Seed::new(self.seed))?;
        let model = self.fit(&transform.apply(bags)?)?;
        Ok(Model { bags: Some(transform), ..model })
    }
}

/// What everything about a model of this seed is drawn by.
pub(super) fn training_seed(seed: u64) -> Seed {
    Seed::new(seed).child("whole", 0)
}
