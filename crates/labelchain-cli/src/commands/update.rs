//! `labelchain update`: a model that has also learned from further rows.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use labelchain::Model;
use labelchain::data::{Dataset, LabelChoice, is_stream, read};
use labelchain::error::{Error, Result};
use labelchain::model::{self, Unknown};

use crate::args::{ForceArgs, ModelAndRows, RowArgs, Threads, notes};
use crate::messages::{Failure, print};

#[derive(Args)]
#[command(after_help = "\
The model has to be a forest, or naive Bayes that was trained with --updatable, of br, ecc or certain.
A forest grows trees on the new rows alone, by their share among all rows so far, and drops its oldest
beyond --max-trees: repeated updates forget the oldest rows. Rows too few for a tree are refused.

MODEL2 may be MODEL: the new model then takes the place of the old one, whole or not at all.

Examples:
  labelchain update model.labelchain new.csv -o model.labelchain
  labelchain update old.labelchain new.csv -o new.labelchain
  labelchain update old.labelchain new.csv --tags tags --new-labels add -o new.labelchain
  labelchain update forest.labelchain new.csv --max-trees 200 -o larger.labelchain")]
pub(crate) struct Update {
    #[command(flatten)]
    files: ModelAndRows,

    #[command(flatten)]
    rows: RowArgs,

    /// The model to write
    #[arg(short, long, value_name = "MODEL2")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,

    /// What to do about labels that the model does not have: refuse the rows, ignore the labels, or add
    /// them, irrelevant to all rows before
    #[arg(long, value_parser = unknown_parser("--new-labels"), default_value = "refuse", value_name = "WORD")]
    new_labels: Unknown,

    /// What to do about nominal values that training did not have: refuse the rows, ignore the
    /// values, which are then missing, or add them
    #[arg(long, value_parser = unknown_parser("--new-values"), default_value = "refuse", value_name = "WORD")]
    new_values: Unknown,

    /// Trees that a forest has at most, now and after later updates [default: as many as it was trained with]
    #[arg(long, value_name = "N")]
    max_trees: Option<usize>,

    #[command(flatten)]
    threads: Threads,
}

/// What can be done about what is new, for help and completions.
fn unknown_parser(argument: &'static str) -> impl TypedValueParser<Value = Unknown> {
    PossibleValuesParser::new(Unknown::NAMES.map(|(name, _)| name))
        .try_map(move |name| Unknown::named(argument, &name))
}

impl Update {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        // The old model is in memory whole before the new one takes its place.
        self.files.data.not_over(&self.out)?;
        self.rows.not_over(&self.out)?;
        self.force.check_model(&self.out)?;
        self.threads.start()?;
        let model = self.files.model()?;
        let (updated, found) = self.updated(&model)?;
        notes(&found);
        updated.save(&self.out)?;
        if is_stream(&self.out) {
            return Ok(());
        }
        print(&format!(
            "wrote {}: {}, {} rows, {} of them new\n",
            self.out.display(),
            updated.method(),
            updated.n_rows(),
            updated.n_rows() - model.n_rows()
        ))
    }

    fn updated(&self, model: &Model) -> Result<(Model, Vec<labelchain::data::Note>)> {
        let data = &self.files.data;
        let selection = self.rows.read(data.reading.max_memory())?;
        let options = data.reading.by_columns_of(model, &[], &data.path);
        let reading = read(&data.path, &options)?;
        // Tags that are not cut would be learned as labels of their own.
        let note = reading.notes.iter().find(|note| note.code == "tag-separator");
        let adds = self.new_labels == Unknown::Add && !data.reading.names_tag_separator();
        if let (Some(note), true) = (note, adds) {
            return Err(Error::Columns {
                path: data.path.clone(),
                problem: note.text.clone(),
                remedy: "say what stands between tags: --tag-separator".into(),
            });
        }
        notes(&reading.notes);
        let rows = selection.of(reading.table, &data.path)?.into_rows()?;
        let (mut rows, found) = self.files.with_ids(model, &[], rows)?;
        notes(&found);
        if let LabelChoice::Tags { .. } = options.labels {
            rows = with_absent_labels(rows, model)?;
        }
        let how = model::Update {
            new_labels: self.new_labels,
            new_values: self.new_values,
            max_trees: self.max_trees,
        };
        let updated = model.update(&rows, &data.path, how);
        updated.map_err(|error: Error| data.in_file(error, |row| selection.number(row)))
    }
}

/// A list of tags names every tag that a row has. So a label of the model that is no tag of these rows
/// is irrelevant to all of them.
fn with_absent_labels(rows: Dataset, model: &Model) -> Result<Dataset> {
    let (mut names, here) = (rows.label_names().to_vec(), rows.labels().clone());
    names.extend(
        model.label_names().iter().filter(|name| !rows.label_names().contains(name)).cloned(),
    );
    let labels = here.widened(names.len());
    rows.relabelled(names, labels)
}
