//! `labelchain demo`: see it work, no files needed.

use std::fmt::Write as _;

use clap::Args;
use labelchain::data::LabelNetwork;
use labelchain::data::split::folds;
use labelchain::error::Result;
use labelchain::experiment::{Method, Settings, evaluate as cross_validate};
use labelchain::model::Model;
use labelchain::seed::Seed;

use super::{evaluate, explain};
use crate::messages::{Failure, print};
use crate::progress::Progress;

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain demo")]
pub(crate) struct Demo {
    /// The seed of the generated data and of everything drawn from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The row whose prediction is explained.
const ROW: usize = 3;

impl Demo {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let page = self.page()?;
        print(&page)
    }

    fn page(&self) -> Result<String> {
        let seed = Seed::new(self.seed);
        let data = LabelNetwork::default().generate("demo", seed)?;
        let methods: Vec<Method> = ["dynamic-nb", "ga-nb", "ecc-nb", "oocc-nb"]
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_>>()?;
        let settings = Settings::default();
        let cut = folds(data.n_rows(), 10, seed)?;
        let progress = Progress::new("fold", cut.n_folds());
        let evaluations =
            cross_validate(&data, &methods, &settings, &cut, seed, &|step| progress.show(step))?;
        progress.end();
        let mut page = format!(
            "A generated data set: {} rows, {} features, {} labels that depend on each other.\n\
             Ten-fold cross-validation of four ensembles of 20 naive Bayes chains; mean losses,\n\
             smaller is better, * marks the least. The order of labels is chosen for each row by\n\
             how well each label is told near it (dynamic), or lent by the nearest row (oocc), or\n\
             random (ecc); ga draws 60 random orders and a genetic search keeps 20 chains.\n\n",
            data.n_rows(),
            data.n_features(),
            data.n_labels()
        );
        page += &evaluate::table(&evaluations);
        let model = Model::fit(&data, methods[0], &settings, self.seed, &|_| ())?;
        let row = data.select(&[ROW]);
        let answers = model.predict(&row)?;
        let traces: Vec<_> = model.trace(&row)?.into_iter().flatten().collect();
        let _ = write!(page, "\nOne prediction explained: row {ROW}, by dynamic-nb. ");
        page += explain::story(&model, &row, &answers, &traces, None)?.trim_start();
        Ok(page)
    }
}
