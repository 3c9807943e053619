//! `labelchain convert`: a data set in another format, with fewer rows, labels and features, and with
//! bags as single rows.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::catalog::{PaperSet, Source};
use labelchain::data::{Format, Shape, Table, write};
use labelchain::error::Result;
use labelchain::prepare::{BagReduction, MedoidStart, Recipe};

use crate::args::{BagArgs, DataFile, ForceArgs, notes};
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

    #[command(flatten)]
    force: ForceArgs,

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
        self.data.not_over(&self.out)?;
        self.force.check_new(&self.out)?;
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

/// The line that makes the paper's form of a file of its source; none where it has that form.
pub(crate) fn convert_line(set: &PaperSet) -> Option<String> {
    if let Source::Made { shapes } = set.source {
        let shapes = match shapes().0.shape {
            Shape::Cube => "hypercubes",
            Shape::Ball => "hyperspheres",
        };
        return Some(format!("labelchain generate {shapes} --like {0} -o {0}.arff", set.stem));
    }
    let binarize = if set.binarize { " --binarize '>0'" } else { "" };
    let options = format!("{binarize} {}", options_for(&set.recipe));
    (!options.trim().is_empty()).then(|| {
        let line = format!("labelchain convert FILE {}.arff.gz{options}", set.stem);
        line.trim_end().into()
    })
}

/// The options that follow a recipe.
fn options_for(recipe: &Recipe) -> String {
    let mut options = Vec::new();
    let mut draws = recipe.sample_rows.is_some();
    options.extend(recipe.sample_rows.map(|n| format!("--sample-rows {n}")));
    options.extend(recipe.top_labels.map(|n| format!("--top-labels {n}")));
    match recipe.bags {
        None => {}
        Some(BagReduction::Concat) => options.push("--bags concat".into()),
        Some(BagReduction::Medoids { n, start, swap }) => {
            options.push(format!("--bags medoids --medoids {n}"));
            match start {
                MedoidStart::Random => {}
                MedoidStart::Spread => options.push("--medoid-start spread".into()),
                MedoidStart::Build => options.push("--medoid-start build".into()),
            }
            if swap {
                options.push("--medoid-swap".into());
            }
            draws |= start != MedoidStart::Build;
        }
    }
    options.extend(recipe.min_document_frequency.map(|n| format!("--min-document-frequency {n}")));
    if recipe.one_hot {
        options.push("--one-hot".into());
    }
    if draws {
        options.push(format!("--seed {}", recipe.seed));
    }
    options.join(" ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_a_recipe() {
        let recipe =
            Recipe { top_labels: Some(2), min_document_frequency: Some(2), ..Recipe::NOTHING };
        assert_eq!(options_for(&recipe), "--top-labels 2 --min-document-frequency 2");
        let bags = Some(BagReduction::Medoids { n: 2, start: MedoidStart::Random, swap: false });
        let recipe = Recipe { sample_rows: Some(3), top_labels: Some(1), bags, ..Recipe::NOTHING };
        let options = "--sample-rows 3 --top-labels 1 --bags medoids --medoids 2 --seed 1";
        assert_eq!(options_for(&recipe), options);
    }

    #[test]
    fn lines_say_what_the_recipes_do() {
        let line = |name: &str| convert_line(PaperSet::find(name).unwrap());
        assert_eq!(line("yeast"), None);
        assert_eq!(
            line("flare2").unwrap(),
            "labelchain convert FILE flare2.arff.gz --binarize '>0' --one-hot"
        );
        assert_eq!(
            line("Haloarcula").unwrap(),
            "labelchain convert FILE haloarcula.arff.gz --top-labels 13 --bags medoids --medoids 20 --seed 1"
        );
        assert_eq!(
            line("simplehc").unwrap(),
            "labelchain generate hypercubes --like simplehc -o simplehc.arff"
        );
        assert_eq!(
            line("simplehs").unwrap(),
            "labelchain generate hyperspheres --like simplehs -o simplehs.arff"
        );
    }
}
