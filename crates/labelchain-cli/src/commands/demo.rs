//! `labelchain demo`: see it work, no files needed.

use std::fmt::Write as _;

use clap::Args;
use labelchain::data::LabelNetwork;
use labelchain::data::split::folds;
use labelchain::error::Result;
use labelchain::experiment::CrossValidation;
use labelchain::{Dataset, LabelChain, Method, Model, RunOptions, Seed};

use super::{evaluate, explain};
use crate::messages::{Failure, print};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain demo")]
pub(crate) struct Demo {
    /// The seed of the generated data and of everything drawn from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The row whose prediction is explained.
const ROW: usize = 3;

/// The data that the demo is about.
pub(super) fn generated(seed: u64) -> Result<Dataset> {
    LabelNetwork::default().generate("demo", Seed::new(seed))
}

/// A model of all rows but one, and that row.
pub(super) fn trained(method: &str, data: &Dataset, seed: u64) -> Result<(Model, Dataset)> {
    let others: Vec<usize> = (0..data.n_rows()).filter(|&row| row != ROW).collect();
    let model = LabelChain::new(method)?.seed(seed).fit(&data.select(&others))?;
    Ok((model, data.select(&[ROW])))
}

impl Demo {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let page = self.page()?;
        print(&page)
    }

    fn page(&self) -> Result<String> {
        let seed = Seed::new(self.seed);
        let data = generated(self.seed)?;
        let methods: Vec<Method> = [Method::DEFAULT, "dynamic-nb", "ga-nb", "ecc-nb", "oocc-nb"]
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_>>()?;
        let folds = folds(data.n_rows(), 10, seed)?;
        let bar = Bar::new("fold", folds.n_folds());
        let show = |progress| bar.show(progress);
        let options = RunOptions { progress: &show, ..RunOptions::default() };
        let validation =
            CrossValidation { options, ..CrossValidation::new(&methods, &folds, seed) };
        let evaluations = validation.run(&data)?;
        bar.end();
        let mut page = format!(
            "A generated data set: {} rows, {} features, {} labels that depend on each other.\n\
             Ten-fold cross-validation of a forest whose labels are decided one after the other, the most\n\
             certain first, and of the paper's four ensembles of 20 naive Bayes chains; mean losses, smaller\n\
             is better, ± their standard deviation over folds; * marks the best. The order of labels is\n\
             chosen for each row by certainty (certain), by how well each label is predicted near it\n\
             (dynamic), or is that of the nearest row (oocc), or random (ecc); ga draws 60 random orders,\n\
             and a genetic search chooses 20 chains. The rows were drawn just as naive Bayes assumes;\n\
             on real data the forest is mostly ahead.\n\n",
            data.n_rows(),
            data.n_features(),
            data.n_labels()
        );
        page += &evaluate::table(&evaluations);
        for method in [Method::DEFAULT, "dynamic-nb"] {
            let (model, row) = trained(method, &data, self.seed)?;
            let row = model.align(&row, data.name().as_ref())?;
            let _ = write!(
                page,
                "\nOne prediction explained: row {ROW}, by {method} that was trained on the others. "
            );
            if let Some(explanation) = row.explain()?.first() {
                page += explain::story(&model, &row, explanation, None)?.trim_start();
                page += &explain::similar_rows(&model, explanation);
            }
        }
        Ok(page)
    }
}
