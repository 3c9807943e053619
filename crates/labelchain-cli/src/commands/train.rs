//! `labelchain train`: a method trained on all rows, kept in a file.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use labelchain::experiment::Method;
use labelchain::trained::Trained;

use crate::args::{DataFile, MethodArgs, not_over, notes};
use crate::messages::{Failure, remark};
use crate::progress::Progress;

#[derive(Args)]
pub(crate) struct Train {
    #[command(flatten)]
    data: DataFile,

    /// The method: dynamic, ga, ecc, oocc, br or ga-br, then -nb or -knn; or ga, ecc, br or ga-br
    /// with -j48
    #[arg(short, long, value_name = "METHOD", default_value = "dynamic-nb")]
    method: Method,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

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
        let data = reading.into_rows()?;
        let settings = self.settings.settings(&data)?;
        let progress = Progress::spinner("training");
        let show = |step| progress.show(step);
        let trained = Trained::fit(&data, self.method, &settings, self.settings.seed, &show);
        progress.end();
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
