//! `labelchain evaluate`: cross-validate methods, all eleven losses.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::data::split::{Folds, folds};
use labelchain::data::stratify::{equal_shares, stratify};
use labelchain::data::{CsvNames, Dataset, Table, save};
use labelchain::error::{Error, Result};
use labelchain::experiment::{CrossValidation, Evaluation};
use labelchain::loss::{Criterion, Losses};
use labelchain::{Method, RunOptions, Seed};
use serde_json::{Map, Value, json};

use crate::args::{
    AimArgs, BagArgs, DataFile, MethodArgs, NameArgs, Stratify, folds_in_words, methods_in_words,
    notes, probability_column,
};
use crate::messages::{Failure, print, print_data};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain evaluate yeast.arff.gz -m dynamic-nb,ecc-nb,br-nb
  labelchain evaluate yeast.arff.gz -m dynamic-knn,ecc-knn --neighbours 5
  labelchain evaluate yeast.arff.gz -m ecc-nb,ecc-nb@macro-f1,ecc-nb@precision=0.9")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    data: DataFile,

    #[arg(
        help = format!("Methods to compare, with commas between them; each is {}", methods_in_words()),
        short,
        long,
        value_name = "METHODS",
        value_delimiter = ',',
        default_value = "dynamic-nb"
    )]
    method: Vec<Method>,

    #[command(flatten)]
    aim: AimArgs,

    /// How many folds
    #[arg(long, value_name = "K", default_value_t = 10)]
    folds: usize,

    /// Spread labels evenly over the folds: iterative (each label), pairs (each pair of labels)
    #[arg(long, value_enum, default_value_t = Stratify::None)]
    stratify: Stratify,

    #[command(flatten)]
    bags: BagArgs,

    #[command(flatten)]
    settings: MethodArgs,

    /// Also write every answer: fold, row, method, then 0 or 1 for each label, then its probability
    #[arg(long, value_name = "FILE.csv")]
    predictions: Option<PathBuf>,

    #[command(flatten)]
    names: NameArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.data.reading.keep_every_row()?;
        let settings = self.settings.settings(&self.method)?;
        self.predictions.iter().try_for_each(|path| self.data.not_over(path))?;
        self.settings.start_threads()?;
        let reading = self.data.read()?;
        notes(&reading.notes);
        let table = reading.table;
        let data = table.rows();
        let seed = Seed::new(self.settings.seed);
        let folds = match self.stratify.balance() {
            None => folds(data.n_rows(), self.folds, seed)?,
            Some(balance) => {
                stratify(data.labels(), &equal_shares(self.folds)?, balance, None, seed)?
            }
        };
        let methods: Vec<Method> = self.method.iter().map(|&method| self.aim.of(method)).collect();
        let bar = Bar::new("fold", self.folds);
        let show = |progress| bar.show(progress);
        let max_memory = self.data.reading.max_memory();
        let validation = CrossValidation {
            settings,
            probabilities: true,
            options: RunOptions { max_memory, progress: &show, ..RunOptions::default() },
            ..CrossValidation::new(&methods, &folds, seed)
        };
        let evaluations = match (&table, self.bags.reduction()) {
            (Table::Rows(rows), _) => validation.run(rows),
            (Table::Bags(bags), Some(reduction)) => validation.run_bags(bags, reduction),
            (Table::Bags(_), None) => Err(Error::NotRows { name: data.name().into() }),
        };
        let evaluations = evaluations.map_err(|error| self.data.in_file(error, |row| row))?;
        bar.end();
        if let Some(path) = &self.predictions {
            save_predictions(path, data, &folds, &evaluations, self.names.names())?;
        }
        if self.json {
            return print_data(&self.json(data, &evaluations));
        }
        print(&text(data, self, &evaluations))
    }

    fn json(&self, data: &Dataset, evaluations: &[Evaluation]) -> String {
        let result = |evaluation: &Evaluation| {
            let fold =
                |(fold, losses): (usize, &Losses)| json!({"fold": fold, "losses": by_key(losses)});
            json!({
                "method": evaluation.method.to_string(),
                "seconds": {"train": evaluation.train.seconds, "predict": evaluation.predict.seconds},
                "losses": by_key(&evaluation.losses()),
                "by_fold": evaluation.by_fold.iter().enumerate().map(fold).collect::<Vec<_>>(),
            })
        };
        let json = json!({
            "data": data.name(),
            "seed": self.settings.seed,
            "folds": self.folds,
            "results": evaluations.iter().map(result).collect::<Vec<_>>(),
        });
        json.to_string() + "\n"
    }
}

fn by_key(losses: &Losses) -> Map<String, Value> {
    let value = |loss: Option<f64>| loss.map_or(Value::Null, Value::from);
    losses.iter().map(|(criterion, loss)| (criterion.key().to_string(), value(loss))).collect()
}

/// A table: a row for each criterion, a column for each method, the least loss marked.
pub(crate) fn table(evaluations: &[Evaluation]) -> String {
    let mut page = format!("  {:<14}", "loss");
    for evaluation in evaluations {
        let _ = write!(page, "{:>13}", evaluation.method.to_string());
    }
    page.push('\n');
    let means: Vec<Losses> = evaluations.iter().map(Evaluation::losses).collect();
    for criterion in Criterion::ALL {
        let _ = write!(page, "  {:<14}", criterion.to_string());
        let shown: Vec<String> = means
            .iter()
            .map(|losses| losses.get(criterion).map_or("–".into(), |loss| format!("{loss:.4}")))
            .collect();
        let least = shown.iter().min().cloned().unwrap_or_default();
        for value in &shown {
            let mark = if *value == least && means.len() > 1 { "*" } else { " " };
            let _ = write!(page, "{value:>12}{mark}");
        }
        page.push('\n');
    }
    page
}

fn text(data: &Dataset, asked: &Evaluate, evaluations: &[Evaluation]) -> String {
    let mut page = format!(
        "{}: {} of {} rows, seed {}; mean losses, smaller is better{}\n\n",
        data.name(),
        folds_in_words(asked.folds, asked.stratify.balance()),
        data.n_rows(),
        asked.settings.seed,
        if evaluations.len() > 1 { ", * marks the least" } else { "" }
    );
    page += &table(evaluations);
    page.push('\n');
    for evaluation in evaluations {
        let _ = writeln!(
            page,
            "  {:<12} {:.2} s to train, {:.2} s to predict",
            evaluation.method.to_string(),
            evaluation.train.seconds,
            evaluation.predict.seconds
        );
    }
    page
}

fn save_predictions(
    path: &Path,
    data: &Dataset,
    folds: &Folds,
    evaluations: &[Evaluation],
    names: CsvNames,
) -> Result<()> {
    save(path, |out| {
        let mut csv = csv::Writer::from_writer(out);
        let labels = data.label_names().iter().map(|name| names.cell(name).into_owned());
        let probabilities = data.label_names().iter().map(|name| probability_column(name, names));
        let header = ["fold", "row", "method"].into_iter().map(String::from);
        csv.write_record(header.chain(labels).chain(probabilities))?;
        for evaluation in evaluations {
            for (row, fold) in folds.fold_of().iter().enumerate() {
                let start = [fold.to_string(), row.to_string(), evaluation.method.to_string()];
                let answers = &evaluation.answers;
                let cells =
                    answers.ids().map(|label| u8::from(answers.get(row, label)).to_string());
                let n_labels = data.n_labels();
                let probability = |at: usize| {
                    let known =
                        evaluation.probabilities.as_ref().map(|all| all[row * n_labels + at]);
                    known.map_or(String::new(), |p| p.to_string())
                };
                let probabilities = (0..n_labels).map(probability);
                csv.write_record(start.into_iter().chain(cells).chain(probabilities))?;
            }
        }
        csv.flush()
    })
}
