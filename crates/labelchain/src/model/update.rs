//! Learning from further rows without the rows before.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Model;
use crate::base::{TREES, Updating};
use crate::chain::FurtherRows;
use crate::data::{Attribute, AttributeKind, Dataset, LabelId, LabelMatrix, Note};
use crate::ensemble::{MemberRows, STRATEGIES, Sampling};
use crate::error::{Error, Remedy, Result};
use crate::prepare::{Preparation, Undersampling};
use crate::seed::Seed;
use crate::settings::{Settings, in_words};

/// What to do about labels, or values of nominal inputs, that training did not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// An error that names the first of them.
    #[default]
    Refuse,
    /// Labels are left out, and cells with such values are missing, with a note.
    Ignore,
    /// The model has them from now on, with a note. A new label comes after those that there were, and is
    /// irrelevant to all rows before; a new value comes after the values that its input had, and no row before
    /// has it.
    Add,
}

impl Unknown {
    /// How they are called.
    pub const NAMES: [(&str, Unknown); 3] =
        [("refuse", Unknown::Refuse), ("ignore", Unknown::Ignore), ("add", Unknown::Add)];

    /// What `text` says about `setting`, which is how the caller calls the choice.
    pub fn named(setting: &'static str, text: &str) -> Result<Unknown> {
        let found = Unknown::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|&(_, unknown)| unknown).ok_or_else(|| Error::Value {
            name: setting.into(),
            value: format!("{text:?}"),
            accepted: "refuse, ignore or add".into(),
        })
    }
}

/// How further rows are learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Labels that the model does not have.
    pub new_labels: Unknown,
    /// Values that a nominal input did not have.
    pub new_values: Unknown,
    /// How many trees a forest has at most afterwards, from now on; as many as its setting `trees` says if
    /// none is given, and so as many as it was trained with.
    pub max_trees: Option<usize>,
}

/// What [`Update::max_trees`] is called in messages.
const MAX_TREES: &str = "max-trees";

impl Model {
    /// The model that has also learned from further rows, and what to know about it. Columns and labels
    /// are found by name; `path` is where the rows came from, for messages.
    ///
    /// Forests can do it, and naive Bayes that was trained with the setting `updatable`, in strategies
    /// that choose nothing on validation rows: `br`, `ecc` and `certain`. Naive Bayes adds counts and
    /// sums; selected inputs, the scale of the inputs and the precision of columns stay as they were. A
    /// forest grows trees on the new rows alone, and drops its oldest. Labels and values that are new are refused
    /// unless [`Update`] says otherwise.
    /// `docs/methods.md` says where this equals training on all rows at once, and where it does not.
    ///
    /// ```
    /// use labelchain::model::Update;
    /// use labelchain::{Dataset, LabelChain};
    ///
    /// let cells: Vec<f64> = (0..80).map(|n| f64::from(n * 7 % 40)).collect();
    /// let high: Vec<bool> = cells.iter().map(|&cell| cell > 20.0).collect();
    /// let data = Dataset::from_rows(1, &cells)?.with_label_indicators(&["high"], &high)?;
    /// let (first, rest) = (data.select(&(0..50).collect::<Vec<_>>()), data.select(&(50..80).collect::<Vec<_>>()));
    ///
    /// let model = LabelChain::new("br-nb")?.set("updatable", true)?.fit(&first)?;
    /// let (updated, _) = model.update(&rest, "rest".as_ref(), Update::default())?;
    /// assert_eq!(updated.n_rows(), 80);
    /// # Ok::<(), labelchain::Error>(())
    /// ```
    pub fn update(&self, new: &Dataset, path: &Path, how: Update) -> Result<(Model, Vec<Note>)> {
        self.can_update()?;
        if new.n_rows() == 0 {
            let purpose = "learning from further rows".into();
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        self.verify()?;
        let mut notes = Vec::new();
        let (label_names, labels) = self.labels_of(new, path, how.new_labels, &mut notes)?;
        let known = match how.new_values {
            Unknown::Add => Cow::Owned(self.with_values_of(new, &mut notes)),
            Unknown::Refuse | Unknown::Ignore => Cow::Borrowed(self),
        };
        let aligned = known.align(&new.unlabelled(), path)?;
        let unseen = aligned.notes().iter().find(|note| note.code == "unseen-values");
        if let (Some(note), Unknown::Refuse) = (unseen, how.new_values) {
            return Err(Error::CannotUpdate {
                problem: format!(
                    "{}: {}",
                    path.display(),
                    note.text.strip_suffix(", treated as missing").unwrap_or(&note.text)
                ),
                remedy: Remedy::default()
                    .set("new-values", "add")
                    .text(" lets the model have them, and ")
                    .set("new-values", "ignore")
                    .text(" does treat them as missing"),
            });
        }
        let is_about_rows =
            |note: &&Note| ["unseen-values", "extra-columns", "no-dates"].contains(&note.code);
        notes.extend(aligned.notes().iter().filter(is_about_rows).cloned());
        let rows = aligned.rows.relabelled(label_names, labels)?;

        let settings = self.settings_for(how)?;
        let member_rows = self.method.base().member_rows;
        let sampling = Sampling::of(&settings, member_rows);
        let undersampling = match member_rows {
            MemberRows::Drawn => Preparation::of(&settings)?.undersampling,
            MemberRows::Shared => Undersampling::none(),
        };
        let further = FurtherRows {
            data: &rows,
            rows: &(0..rows.n_rows()).collect::<Vec<_>>(),
            views: &[],
            rows_before: &[],
            n_before: self.n_rows,
            settings: &settings,
            // Named by how many rows there were, so that each update draws anew.
            seed: Seed::new(self.seed).child("update", self.n_rows),
            cancel: &self.cancel,
        };
        let share = sampling.sample * sampling.fit_share;
        let ensemble = self.ensemble.updated(&further, share, undersampling)?;
        let importance = self.importance().is_some() && ensemble.importance().is_none();
        let dropped = match (self.out_of_bag.is_some(), importance) {
            (true, true) => Some("the estimate of its losses and the importance of inputs are"),
            (true, false) => Some("the estimate of its losses is"),
            (false, true) => Some("the importance of inputs is"),
            (false, false) => None,
        };
        notes.extend(dropped.map(|what| Note {
            code: "estimate-dropped",
            text: format!("{what} dropped, because the rows are not kept that it rests on"),
        }));
        if ensemble.calibration().is_some() {
            let new = if rows.n_labels() > self.label_names.len() {
                ", and those of new labels are not calibrated"
            } else {
                ""
            };
            let text = format!(
                "probabilities and thresholds stay calibrated by rows of the first training{new}"
            );
            notes.push(Note { code: "calibration-kept", text });
        }
        let is_text = |column: &Attribute| matches!(column.kind, AttributeKind::Text(_));
        if self.columns().iter().any(is_text) {
            let text = "words that the first training did not have are still no inputs";
            notes.push(Note { code: "vocabulary-kept", text: text.into() });
        }
        let n_rows = self.n_rows + new.n_rows();
        let label_names = rows.label_names().into();
        notes.extend(self.rows_again(new));
        let row_ids = self.row_ids_with(new);
        let known = known.into_owned();
        let updated = Model { ensemble, n_rows, settings, label_names, row_ids, ..known };
        Ok((Model { out_of_bag: None, ..updated }, notes))
    }

    /// A note on rows that the model has learned from already, by what says which row is which.
    fn rows_again(&self, new: &Dataset) -> Option<Note> {
        let new = new.ids().iter().find(|id| Some(&id.name) == self.ids.first())?;
        let known: HashSet<&String> = self.row_ids.iter().filter(|id| !id.is_empty()).collect();
        let again: Vec<&String> = new.cells.iter().filter(|id| known.contains(id)).collect();
        let (n, first) = (again.len(), again.first()?);
        let text = format!(
            "rows whose {:?} the model has learned from already, and learns from again: {n} (first: {first:?})",
            new.name
        );
        Some(Note { code: "rows-again", text })
    }

    /// What says which row is which, of the rows before and of further ones, which may lack it.
    fn row_ids_with(&self, new: &Dataset) -> Vec<String> {
        let Some(name) = self.ids.first() else { return vec![] };
        let mut ids = self.row_ids.clone();
        match new.ids().iter().find(|id| id.name == *name) {
            Some(id) => ids.extend_from_slice(&id.cells),
            None => ids.resize(self.n_rows + new.n_rows(), String::new()),
        }
        ids
    }

    /// The same model, whose nominal inputs also have the values of other rows, after their own.
    fn with_values_of(&self, new: &Dataset, notes: &mut Vec<Note>) -> Model {
        let mut columns = self.columns().to_vec();
        let (mut n_added, mut first) = (0, None);
        for column in &mut columns {
            let is_it = |other: &&Attribute| other.name == column.name;
            let found = new.attributes().iter().find(is_it).and_then(Attribute::values);
            if let (AttributeKind::Nominal(values), Some(found)) = (&mut column.kind, found) {
                let known: HashSet<&String> = values.iter().collect();
                let added: Vec<String> =
                    found.iter().filter(|value| !known.contains(value)).cloned().collect();
                n_added += added.len();
                let named = || Some(format!("{:?} in {:?}", added.first()?, column.name));
                first = first.or_else(named);
                values.extend(added);
            }
        }
        let Some(first) = first else { return self.clone() };
        let text = format!("values that training did not have, added: {n_added} (first: {first})");
        notes.push(Note { code: "new-values", text });
        let mut model = self.clone();
        model.attributes = match &mut model.encoder {
            Some(encoder) => {
                encoder.set_values(&columns);
                encoder.attributes()
            }
            None => columns,
        }
        .into();
        model
    }

    /// Its settings, where a bound on the trees of a forest is how many it has.
    fn settings_for(&self, how: Update) -> Result<Settings> {
        let settings = self.settings.clone();
        let Some(max_trees) = how.max_trees else { return Ok(settings) };
        if !self.method.uses(TREES.name) {
            let methods = self.method.to_string();
            return Err(Error::UnusedSetting { name: MAX_TREES.into(), methods });
        }
        settings.with(&TREES, max_trees).map_err(|error| match error {
            Error::Value { value, accepted, .. } => {
                Error::Value { name: MAX_TREES.into(), value, accepted }
            }
            other => other,
        })
    }

    /// Refuses what cannot learn from further rows whatever they are.
    pub(super) fn can_update(&self) -> Result<()> {
        let again = || Remedy::from("train again on all rows");
        let refuse = |problem: String, remedy| Err(Error::CannotUpdate { problem, remedy });
        let (base, strategy) = (self.method.base(), self.method.strategy());
        if base.updating == Updating::Never {
            let problem = format!(
                "a model of {} cannot be updated: {} cannot learn from further rows alone",
                self.method.without_aim(),
                base.about
            );
            return refuse(problem, again());
        }
        if strategy.needs_validation() {
            let problem = format!(
                "a model of {} cannot be updated: what {} chooses, it chose on validation rows, \
                 which the new ones would have to be compared with",
                self.method.without_aim(),
                strategy.name
            );
            let others = STRATEGIES.iter().filter(|strategy| !strategy.needs_validation());
            let names: Vec<String> =
                others.map(|strategy| format!("{}-{}", strategy.name, base.name)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let others = format!("; {} can be updated", in_words(&names, "and"));
            return refuse(problem, again().text(others));
        }
        if self.bags.is_some() {
            let problem = "a model of bags cannot be updated".into();
            return refuse(problem, again());
        }
        Ok(())
    }

    /// The labels of the new rows: those of the model in its order, and then the new ones, if they are added.
    fn labels_of(
        &self,
        new: &Dataset,
        path: &Path,
        new_labels: Unknown,
        notes: &mut Vec<Note>,
    ) -> Result<(Vec<String>, LabelMatrix)> {
        let refuse = |problem: String, remedy: Remedy| {
            Err(Error::Columns { path: path.into(), problem, remedy })
        };
        let is_new = |name: &&String| !self.label_names.contains(name);
        let unknown: Vec<&String> = new.label_names().iter().filter(is_new).collect();
        let mut names = self.label_names.to_vec();
        if let Some(first) = unknown.first() {
            let spelt =
                |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            let known: HashMap<String, &String> =
                self.label_names.iter().map(|known| (spelt(known), known)).collect();
            let alike = unknown.iter().find_map(|name| {
                let known = known.get(&spelt(name))?;
                Some(format!("; {name:?} is spelt {known:?} in the model"))
            });
            let what = format!(
                "labels that the model does not have: {} (first: {first:?}{})",
                unknown.len(),
                alike.unwrap_or_default()
            );
            let done = match new_labels {
                Unknown::Refuse => {
                    let remedy = Remedy::default()
                        .set("new-labels", "add")
                        .text(" lets the model have them, and ")
                        .set("new-labels", "ignore")
                        .text(" leaves them out");
                    return refuse(format!("has {what}"), remedy);
                }
                Unknown::Ignore => "left out",
                Unknown::Add => {
                    names.extend(unknown.into_iter().cloned());
                    if self.method.uses(TREES.name) {
                        "added, irrelevant to all rows before; trees grown on those never give them, so \
                         that they are hardly ever given until most trees are new: to have them given now, \
                         train again on all rows"
                    } else {
                        "added, irrelevant to all rows before"
                    }
                }
            };
            notes.push(Note { code: "new-labels", text: format!("{what}, {done}") });
        }
        let mut labels = LabelMatrix::empty(new.n_rows(), names.len());
        for (at, name) in names.iter().enumerate() {
            let Some(place) = new.label_names().iter().position(|known| known == name) else {
                let remedy = "rows to learn from have a column for every label of the model, or a column of \
                              tags: ";
                let remedy = Remedy::from(remedy).set("tags", "COLUMN");
                return refuse(format!("lacks the label {name:?}"), remedy);
            };
            for row in 0..new.n_rows() {
                match new.labels().cell(row, LabelId(place)) {
                    Some(relevant) => labels.set(row, LabelId(at), relevant),
                    None if self.method.base().updating == Updating::AnyRows => {
                        labels.forget(row, LabelId(at));
                    }
                    None => {
                        let problem =
                            format!("does not say whether {name:?} is relevant to row {row}");
                        let remedy = "an update takes rows of which all labels are known: ";
                        let remedy = Remedy::from(remedy).set("missing-labels", "drop");
                        return refuse(problem, remedy.text(" or irrelevant"));
                    }
                }
            }
        }
        Ok((names, labels))
    }
}
