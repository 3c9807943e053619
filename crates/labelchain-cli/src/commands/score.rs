//! `labelchain score`: the eleven losses of two files.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use labelchain::data::{LabelChoice, ReadOptions, read};
use labelchain::error::{Error, Result};
use labelchain::loss::{Losses, Undefined};
use serde_json::{Map, Value};

use crate::args::ReadingArgs;
use crate::messages::{Failure, print};

#[derive(Args)]
pub(crate) struct Score {
    /// The data with the true labels
    truth: PathBuf,

    /// The answers: the same rows, with a column for each label of TRUTH, found by name
    predicted: PathBuf,

    #[command(flatten)]
    reading: ReadingArgs,

    /// What zero over zero counts as: as in the paper, a metric of zero or one, or left out
    #[arg(long, value_enum, default_value_t = UndefinedArg::Paper)]
    undefined: UndefinedArg,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum UndefinedArg {
    Paper,
    Zero,
    One,
    Skip,
}

impl Score {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (losses, n_rows, n_labels) = self.losses()?;
        if self.json {
            return print(&json(&losses));
        }
        print(&self.text(&losses, n_rows, n_labels))
    }

    fn losses(&self) -> Result<(Losses, usize, usize)> {
        let options = self.reading.options();
        let truth = read(&self.truth, &options)?.into_rows()?;
        // By name, so that columns in another order, or with inputs among them, mean the same.
        let named = LabelChoice::Named(truth.label_names().to_vec());
        let predicted = read(&self.predicted, &ReadOptions { labels: named, ..options })?;
        let predicted = predicted.into_rows()?;
        if truth.n_rows() != predicted.n_rows() {
            let (expected, found) = (truth.n_rows(), predicted.n_rows());
            return Err(Error::Shape { what: "rows of the predictions", expected, found });
        }
        let rule = match self.undefined {
            UndefinedArg::Paper => Undefined::Paper,
            UndefinedArg::Zero => Undefined::Zero,
            UndefinedArg::One => Undefined::One,
            UndefinedArg::Skip => Undefined::Skip,
        };
        let losses = Losses::between(truth.labels(), predicted.labels(), rule)?;
        Ok((losses, truth.n_rows(), truth.n_labels()))
    }

    fn text(&self, losses: &Losses, n_rows: usize, n_labels: usize) -> String {
        let mut page = format!("{n_rows} rows, {n_labels} labels; a smaller loss is better\n\n");
        let rule = match self.undefined {
            UndefinedArg::Paper => "0 where both sides are empty, else 1",
            UndefinedArg::Zero => "a metric of 0, so a loss of 1",
            UndefinedArg::One => "a metric of 1, so a loss of 0",
            UndefinedArg::Skip => "nothing: left out of the mean",
        };
        let mut any = false;
        for (criterion, loss) in losses.iter() {
            let value = loss.map_or_else(|| "    –  ".into(), |loss| format!("{loss:.5}"));
            let _ = write!(page, "  {:<14} {value}", criterion.to_string());
            let n = losses.n_vacuous(criterion);
            if n > 0 {
                any = true;
                let _ = write!(page, "   {n} undefined");
            }
            page.push('\n');
        }
        if any {
            let _ = writeln!(
                page,
                "\nAn undefined cell (zero over zero) counts as {rule}; --undefined chooses."
            );
        }
        page
    }
}

fn json(losses: &Losses) -> String {
    let value = |loss: Option<f64>| loss.map_or(Value::Null, Value::from);
    let by_key = |map: Map<String, Value>| Value::Object(map);
    let values = losses.iter().map(|(criterion, loss)| (criterion.key().to_string(), value(loss)));
    let undefined = losses.iter().map(|(criterion, _)| {
        (criterion.key().to_string(), Value::from(losses.n_vacuous(criterion)))
    });
    let json = Map::from_iter([
        ("losses".to_string(), by_key(values.collect())),
        ("undefined".to_string(), by_key(undefined.collect())),
    ]);
    Value::Object(json).to_string() + "\n"
}
