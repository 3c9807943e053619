//! `labelchain train`: a method trained on all rows, kept in a file.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use labelchain::data::Table;
use labelchain::error::Error;
use labelchain::experiment::Method;
use labelchain::trained::Trained;

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
        let reading = self.data.read()?;
        notes(&reading.notes);
        let table = reading.table;
        let settings = self.settings.settings(table.rows(), &self.data.reading)?;
        let progress = Progress::spinner("training");
        let show = |step| progress.show(step);
        let (method, seed) = (self.method, self.settings.seed);
        let trained = match (&table, self.bags.reduction()) {
            (Table::Bags(bags), Some(reduction)) => {
                Trained::fit_bags(bags, reduction, method, &settings, seed, &show)
            }
            (Table::Bags(_), None) => Err(Error::NotRows { name: table.rows().name().into() }),
            (Table::Rows(rows), _) => Trained::fit(rows, method, &settings, seed, &show),
        };
        progress.end();
        let data = table.rows();
        let trained = trained?;
        trained.save(&self.out)?;
        if std::io::stderr().is_terminal() {
            remark(&format!(
                "wrote {}: {}, {} members, {} labels, trained on {} rows of {}",
                self.out.display(),
                self.method,
                trained.members().len(),
                data.n_labels(),
                data.n_rows(),
                data.name()
            ));
        }
        Ok(())
    }
}
