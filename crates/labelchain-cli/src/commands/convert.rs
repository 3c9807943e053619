//! `labelchain convert`: a data set in another format, with fewer rows, labels and features, and with
//! bags as single rows.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::data::{Format, Table, write};
use labelchain::error::Result;
use labelchain::prepare::Recipe;

use crate::args::{BagArgs, DataFile, not_over, notes};
use crate::messages::{Failure, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain convert yeast.arff.gz yeast.parquet
  labelchain convert bags.arff rows.arff --bags medoids --medoids 20")]
pub(crate) struct Convert {
    #[command(flatten)]
    data: DataFile,

    /// The file to write, by its ending; beside all but Parquet, a Mulan label list (.xml)
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Keep so many rows, drawn without replacement
    #[arg(long, value_name = "N")]
    sample_rows: Option<usize>,

    /// Keep the N most frequent labels
    #[arg(long, value_name = "N")]
    top_labels: Option<usize>,

    #[command(flatten)]
    bags: BagArgs,

    /// Keep features that are not 0 in at least N rows: words that N documents have
    #[arg(long, value_name = "N")]
    min_document_frequency: Option<usize>,

    /// Replace nominal inputs by indicators, one per value, called name=value
    #[arg(long)]
    one_hot: bool,

    /// What --sample-rows and --bags medoids draw: same seed, same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        not_over(&[&self.data.path], &self.out)?;
        let format = Format::of(&self.out)?;
        let reading = self.data.read()?;
        notes(&reading.notes);
        let recipe = Recipe {
            sample_rows: self.sample_rows,
            top_labels: self.top_labels,
            bags: self.bags.reduction(),
            min_document_frequency: self.min_document_frequency,
            one_hot: self.one_hot,
            seed: self.seed,
        };
        let n_labels = reading.table.rows().n_labels();
        if let Some(n) = self.top_labels.filter(|&n| n > n_labels) {
            remark(&format!("note: --top-labels {n} keeps all, for there are {n_labels} labels"));
        }
        let table = recipe.apply(self.with_origin(reading.table, &recipe)?)?;
        if let Table::Rows(data) = &table
            && format == Format::SvmLight
            && data.attributes().iter().any(|attribute| attribute.values().is_some())
        {
            remark(
                "note: nominal values are written as their numbers; --one-hot makes indicators of them",
            );
        }
        report_files(&write(&table, &self.out)?);
        Ok(())
    }

    /// Adds a note about the source to the data, which is written to the head of the file; only if the
    /// data is changed and not merely converted.
    fn with_origin(&self, table: Table, recipe: &Recipe) -> Result<Table> {
        let binarize = self.data.reading.binarize();
        let leaves_all = Recipe { seed: Recipe::NOTHING.seed, ..*recipe } == Recipe::NOTHING;
        if leaves_all && binarize.is_none() {
            return Ok(table);
        }
        let source = self.data.path.file_name().unwrap_or_default().to_string_lossy();
        let mut steps =
            vec![format!("made by labelchain {} of {source}", env!("CARGO_PKG_VERSION"))];
        steps.extend(binarize.map(|threshold| format!("labels relevant where {threshold}")));
        match table {
            Table::Rows(mut data) => {
                steps.iter().for_each(|step| data.remember(step));
                Ok(Table::Rows(data))
            }
            Table::Bags(bags) => {
                let mut rows = bags.rows().clone();
                steps.iter().for_each(|step| rows.remember(step));
                Ok(Table::Bags(bags.with_rows(rows)?))
            }
        }
    }
}

/// Reports on a terminal which files were written.
pub(crate) fn report_files(written: &[PathBuf]) {
    if std::io::stderr().is_terminal() {
        let names: Vec<String> =
            written.iter().map(|path| Path::display(path).to_string()).collect();
        remark(&format!("wrote {}", names.join(" and ")));
    }
}
