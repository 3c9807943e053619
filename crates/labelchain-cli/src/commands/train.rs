//! `labelchain train`: a method trained on all rows, kept in a file.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use labelchain::data::{ReadOptions, Table, read, read_by_columns};
use labelchain::error::{Error, Result};
use labelchain::experiment::{Method, Step};
use labelchain::model::Model;

use crate::args::{BagArgs, DataFile, MethodArgs, not_over, notes};
use crate::messages::{Failure, remark};
use crate::progress::Progress;

#[derive(Args)]
#[command(
    after_help = "Example:\n  labelchain train yeast.arff.gz -m dynamic-nb -o yeast.labelchain"
)]
pub(crate) struct Train {
    #[command(flatten)]
    data: DataFile,

    /// The method: dynamic, ga, ecc, oocc, br or ga-br, then -nb or -knn; or ga, ecc, br or ga-br
    /// with -j48 or -svm
    #[arg(short, long, value_name = "METHOD", default_value = "dynamic-nb")]
    method: Method,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

    #[command(flatten)]
    bags: BagArgs,

    #[command(flatten)]
    settings: MethodArgs,
}

impl Train {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.data.reading.keep_every_row()?;
        not_over(&[&self.data.path], &self.out)?;
        self.settings.check(&[self.method])?;
        let progress = Progress::spinner("training");
        let trained = self.trained(&|step| progress.show(step));
        progress.end();
        let trained = trained?;
        trained.save(&self.out)?;
        if std::io::stderr().is_terminal() {
            remark(&format!(
                "wrote {}: {}, {} members, {} labels, trained on {} rows of {}",
                self.out.display(),
                self.method,
                trained.members().len(),
                trained.label_names().len(),
                trained.n_rows(),
                self.data.path.display()
            ));
        }
        Ok(())
    }

    fn trained(&self, progress: &dyn Fn(Step)) -> Result<Model> {
        let (method, seed) = (self.method, self.settings.seed);
        let options = self.data.reading.options();
        // Rows, the same standardized, and each column sorted: what is learned from is in memory
        // several times.
        let share = options.max_memory / 8;
        // Bags become rows by all of their inputs.
        let by_column =
            self.bags.reduction().is_none() && method.learns_by_column(self.settings.selects());
        let max_memory = if by_column { share } else { options.max_memory };
        let reading = match read(&self.data.path, &ReadOptions { max_memory, ..options.clone() }) {
            Err(Error::TooLarge { .. }) if by_column => {
                remark(
                    "note: the rows take more than an eighth of --max-memory; they are read a few \
                     columns at a time, which takes longer",
                );
                let mut parts = read_by_columns(&self.data.path, &options, share)?.peekable();
                let settings = match parts.peek() {
                    Some(Ok(first)) => self.settings.settings(first, &self.data.reading)?,
                    _ => Default::default(),
                };
                return Model::fit_by_columns(parts, method, &settings, seed, progress);
            }
            reading => reading?,
        };
        notes(&reading.notes);
        let table = reading.table;
        let settings = self.settings.settings(table.rows(), &self.data.reading)?;
        match (&table, self.bags.reduction()) {
            (Table::Bags(bags), Some(reduction)) => {
                Model::fit_bags(bags, reduction, method, &settings, seed, progress)
            }
            (Table::Bags(_), None) => Err(Error::NotRows { name: table.rows().name().into() }),
            (Table::Rows(rows), _) => Model::fit(rows, method, &settings, seed, progress),
        }
    }
}
