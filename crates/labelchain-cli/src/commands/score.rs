//! `labelchain score`: the eleven losses of two files.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use labelchain::data::{CsvNames, LabelChoice, MissingLabels, ReadOptions, read};
use labelchain::error::{ContentError, Error, Result};
use labelchain::loss::{Criterion, Losses, Undefined};
use serde_json::{Map, Value, json};

use crate::args::ReadingArgs;
use crate::messages::{Failure, print, print_data, remark};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain score truth.arff predicted.csv")]
pub(crate) struct Score {
    /// The data with the true labels
    truth: PathBuf,

    /// The answers: the same rows, with a column for each label of TRUTH, found by name.
    /// What is said about reading goes for both files
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
            return print_data(&self.json(&losses, n_rows, n_labels));
        }
        print(&self.text(&losses, n_rows, n_labels))
    }

    fn losses(&self) -> Result<(Losses, usize, usize)> {
        self.reading.keep_every_row()?;
        let options = self.reading.options();
        let truth = read(&self.truth, &options)?.into_rows()?;
        // Labels are found by name: the columns may be in another order, or have inputs among them.
        let names = truth.label_names().to_vec();
        let escaped: Vec<String> =
            names.iter().map(|name| CsvNames::Escaped.cell(name).into_owned()).collect();
        let read_with = |names: &[String]| {
            let labels = LabelChoice::Named(names.to_vec());
            // Truth may be unknown, but what was not answered cannot be scored.
            let missing_labels = match options.missing_labels {
                MissingLabels::Learn => MissingLabels::Refuse,
                other => other,
            };
            read(&self.predicted, &ReadOptions { labels, missing_labels, ..options.clone() })
        };
        // A table of answers spells them so that a spreadsheet runs none, unless it is raw.
        let predicted = match read_with(&names) {
            Err(Error::UnknownColumn { .. }) if escaped != names => read_with(&escaped),
            read => read,
        };
        let predicted = predicted?.into_rows()?;
        if truth.n_rows() != predicted.n_rows() {
            return Err(Error::Content(Box::new(ContentError {
                path: self.predicted.clone(),
                line: 0,
                column: 0,
                expected: format!("{} rows, as in {}", truth.n_rows(), self.truth.display()),
                found: predicted.n_rows().to_string(),
                help: Some("both files must hold the same rows in the same order".into()),
                excerpt: None,
            })));
        }
        // Where labels are lists of tags, a tag that no row of the truth has is not one of its labels,
        // but may have been predicted.
        let is_known = |name: &str| truth.attributes().iter().any(|input| input.name == name);
        let names = predicted.attributes().iter().map(|input| input.name.as_str());
        let unscored: Vec<&str> =
            names.filter(|name| !is_known(name) && !name.ends_with(":share")).collect();
        if let Some(first) = unscored.first() {
            remark(&format!(
                "note: columns not scored, for {} does not have them: {} (first: {first:?})",
                self.truth.display(),
                unscored.len()
            ));
        }
        let losses = Losses::between(truth.labels(), predicted.labels(), self.rule())?;
        Ok((losses, truth.n_rows(), truth.n_labels()))
    }

    fn rule(&self) -> Undefined {
        match self.undefined {
            UndefinedArg::Paper => Undefined::Paper,
            UndefinedArg::Zero => Undefined::Zero,
            UndefinedArg::One => Undefined::One,
            UndefinedArg::Skip => Undefined::Skip,
        }
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

    fn json(&self, losses: &Losses, n_rows: usize, n_labels: usize) -> String {
        let by_key = |value: &dyn Fn(Criterion) -> Value| -> Map<String, Value> {
            Criterion::ALL.iter().map(|&of| (of.key().to_string(), value(of))).collect()
        };
        let json = json!({
            "rows": n_rows,
            "labels": n_labels,
            "rule": self.rule().key(),
            "losses": by_key(&|of| losses.get(of).map_or(Value::Null, Value::from)),
            "undefined": by_key(&|of| losses.n_vacuous(of).into()),
        });
        json.to_string() + "\n"
    }
}
