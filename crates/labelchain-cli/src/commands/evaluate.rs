//! `labelchain evaluate`: cross-validate methods, all eleven losses.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use labelchain::data::split::{Folds, Holdout, folds, holdout};
use labelchain::data::stratify::{equal_shares, stratify};
use labelchain::data::{CsvNames, Dataset, Output, Table, publish};
use labelchain::error::{Error, Result};
use labelchain::experiment::{CrossValidation, Evaluation, PooledMeasures};
use labelchain::loss::{Averaging, Criterion, Losses, Measure, Rate};
use labelchain::report::{EvaluationReport, ReportFormat};
use labelchain::{Method, RunOptions, Seed, Settings};
use serde_json::{Map, Value, json};

use crate::args::{
    AimArgs, BagArgs, ColumnArgs, DataFile, ForceArgs, MethodArgs, NameArgs, RowArgs, Selection,
    Stratify, balance_in_words, findings, folds_in_words, is_same_file, methods_in_words, notes,
    number_in_digits, probability_column,
};
use crate::measures;
use crate::messages::{Failure, print, print_data};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain evaluate yeast.arff.gz -m dynamic-nb,ecc-nb,br-nb
  labelchain evaluate yeast.arff.gz -m dynamic-knn,ecc-knn --neighbours 5
  labelchain evaluate yeast.arff.gz -m ecc-nb,ecc-nb@macro-f1,ecc-nb@precision=0.9
  labelchain evaluate yeast.arff.gz -m dynamic-nb,ecc-knn -o report.html")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    data: DataFile,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    rows: RowArgs,

    #[arg(
        help = format!("Methods to compare, with commas between them; each is {}", methods_in_words()),
        short,
        long,
        value_name = "METHODS",
        value_delimiter = ',',
        default_value = Method::DEFAULT
    )]
    method: Vec<Method>,

    #[command(flatten)]
    aim: AimArgs,

    /// How many folds
    #[arg(long, value_name = "K", default_value_t = 10)]
    folds: usize,

    /// Instead of folds: one cut, with this share of the rows to test on, and all others to train on
    #[arg(long, value_name = "SHARE", conflicts_with = "folds")]
    holdout: Option<f64>,

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

    /// Leave out probabilities, and so rankings and calibration: what the eleven losses of votes do not need
    /// takes most of the time of some methods, because each fold has to be calibrated
    #[arg(long, conflicts_with = "report")]
    no_probabilities: bool,

    /// Also a report, one page of HTML: losses, calibration, precision and recall by label, orders
    #[arg(short = 'o', long = "report", value_name = "OUT.html")]
    report: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgs,

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
        for path in self.predictions.iter().chain(&self.report) {
            self.data.not_over(path)?;
            self.rows.not_over(path)?;
        }
        self.predictions.as_ref().map_or(Ok(()), |path| self.force.check_new(path))?;
        self.report.as_ref().map_or(Ok(()), |path| self.force.check_report(path))?;
        self.check_report()?;
        // A file that cannot be written is told before hours of training, not after.
        let begin = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        let (mut predictions, mut page) = (begin(&self.predictions)?, begin(&self.report)?);
        self.settings.start_threads()?;
        let selection = self.rows.read(self.data.reading.max_memory())?;
        let reading = self.data.read_columns(&self.columns)?;
        notes(&reading.notes);
        findings(&reading.table);
        self.settings.note_idle(&reading.table);
        let table = selection.of(reading.table, &self.data.path)?;
        let data = table.rows();
        let seed = Seed::new(self.settings.seed);
        let folds = self.cut(data, seed)?;
        let methods: Vec<Method> = self.method.iter().map(|&method| self.aim.of(method)).collect();
        let bar = Bar::new("fold", folds.n_folds());
        let show = |progress| bar.show(progress);
        let max_memory = self.data.reading.max_memory();
        let settings_in_words = in_words(&settings);
        let validation = CrossValidation {
            settings,
            probabilities: !self.no_probabilities,
            details: self.report.is_some(),
            options: RunOptions { max_memory, progress: &show, ..RunOptions::default() },
            ..CrossValidation::new(&methods, &folds, seed)
        };
        let evaluations = match (&table, self.bags.reduction()) {
            (Table::Rows(rows), _) => validation.run(rows),
            (Table::Bags(bags), Some(reduction)) => validation.run_bags(bags, reduction),
            (Table::Bags(_), None) => Err(Error::NotRows { name: data.name().into() }),
        };
        let in_file = |error| self.data.in_file(error, |row| selection.number(row));
        let evaluations = evaluations.map_err(in_file)?;
        let baseline = validation.baseline(data.labels())?;
        bar.end();
        if let Some(out) = &mut predictions {
            let names = self.names.names();
            let written = write_predictions(out, data, &selection, &folds, &evaluations, names);
            written.map_err(|source| Error::Io { path: out.path().into(), source })?;
        }
        if let Some(out) = &mut page {
            let cut = self.cut_in_words(data, &selection, &folds);
            let (baseline, notes) = (&baseline, settings_in_words);
            let report = EvaluationReport::of(data, &folds, baseline, &evaluations, &cut, notes)?;
            let written = out.write_all(report.html().as_bytes());
            written.map_err(|source| Error::Io { path: out.path().into(), source })?;
        }
        publish(predictions.into_iter().chain(page).collect())?;
        if self.json {
            return print_data(&self.json(data, &folds, &baseline, &evaluations)?);
        }
        let all: Vec<Evaluation> = std::iter::once(baseline).chain(evaluations).collect();
        let wrote = |path: &PathBuf| format!("wrote {}\n", path.display());
        let wrote: String = self.predictions.iter().chain(&self.report).map(wrote).collect();
        print(&(self.text(data, &selection, &folds, &all)? + &wrote))
    }

    /// Refuses a report that is no page, or that would replace the answers, before anything is trained.
    fn check_report(&self) -> Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        if ReportFormat::of(path) != Some(ReportFormat::Html) {
            return Err(Error::CannotWrite {
                path: path.clone(),
                what: "a report about one data set is a page of HTML".into(),
                remedy: "name it .html".into(),
            });
        }
        if self.predictions.iter().any(|other| other == path || is_same_file(other, path)) {
            return Err(Error::CannotWrite {
                path: path.clone(),
                what: "is asked for twice, by --report and by --predictions".into(),
                remedy: "write one of them under another name".into(),
            });
        }
        Ok(())
    }

    /// How the rows were cut.
    fn cut_in_words(&self, data: &Dataset, selection: &Selection, folds: &Folds) -> String {
        let rows = format!("{} rows{}", data.n_rows(), selection.in_words());
        let seed = self.settings.seed;
        match self.holdout {
            None => {
                let folds = folds_in_words(self.folds, self.stratify.balance());
                format!("{folds} of {rows}, seed {seed}")
            }
            Some(_) => {
                let n_tested: usize = folds.sizes().iter().sum();
                let n_trained = data.n_rows() - n_tested;
                let stratified = balance_in_words(self.stratify.balance());
                format!(
                    "one hold-out{stratified} of {rows}, {n_tested} tested and {n_trained} trained on, \
                     seed {seed}"
                )
            }
        }
    }

    /// The folds, or the one cut that was asked for instead.
    fn cut(&self, data: &Dataset, seed: Seed) -> Result<Folds> {
        let (balance, labels) = (self.stratify.balance(), data.labels());
        let Some(tested) = self.holdout else {
            return match balance {
                None => folds(data.n_rows(), self.folds, seed),
                Some(balance) => stratify(labels, &equal_shares(self.folds)?, balance, None, seed),
            };
        };
        if !(tested > 0.0 && tested < 1.0) {
            let accepted = "above 0 and below 1, so that there are rows to train on and to test";
            return Err(Error::Setting { name: "--holdout", value: tested.to_string(), accepted });
        }
        let trained = 1.0 - tested;
        Folds::of_holdout(&match balance {
            None => holdout(data.n_rows(), trained, seed)?,
            Some(balance) => {
                // As split computes it from the share to train on: the same bits, so the same rows.
                let shares = [trained, 1.0 - trained];
                let parts = stratify(labels, &shares, balance, None, seed)?;
                Holdout { train: parts.test_rows(0), test: parts.test_rows(1) }
            }
        })
    }

    fn json(
        &self,
        data: &Dataset,
        folds: &Folds,
        baseline: &Evaluation,
        evaluations: &[Evaluation],
    ) -> Result<String> {
        let result = |evaluation: &Evaluation| {
            let fold =
                |(fold, losses): (usize, &Losses)| json!({"fold": fold, "losses": by_key(losses)});
            let pooled = evaluation.pooled(data.labels(), folds)?;
            let (ranking, calibration) = pooled.of_probabilities.unzip();
            Ok::<_, Error>(json!({
                "method": evaluation.name,
                "seconds": {"train": evaluation.train.seconds, "predict": evaluation.predict.seconds},
                "losses": by_key(&evaluation.losses()),
                "spread": by_criterion(|of| Losses::spread(&evaluation.by_fold, of)),
                "by_label": measures::by_label_json(data.label_names(), &pooled.by_label),
                "ranking": ranking.map(|of| measures::json(&of.measures())),
                "calibration": calibration.map(|of| measures::json(&of.measures())),
                "out_of_bag": (!evaluation.out_of_bag.is_empty())
                    .then(|| by_key(&Losses::mean(&evaluation.out_of_bag))),
                "by_fold": evaluation.by_fold.iter().enumerate().map(fold).collect::<Vec<_>>(),
            }))
        };
        let mut json = json!({
            "data": data.name(),
            "seed": self.settings.seed,
            "folds": folds.n_folds(),
            "baseline": result(baseline)?,
            "results": evaluations.iter().map(result).collect::<Result<Vec<_>>>()?,
        });
        // There only where one cut was asked for, so that nobody takes it for cross-validation.
        if let Some(tested) = self.holdout {
            json["holdout"] = tested.into();
        }
        Ok(json.to_string() + "\n")
    }

    fn text(
        &self,
        data: &Dataset,
        selection: &Selection,
        folds: &Folds,
        evaluations: &[Evaluation],
    ) -> Result<String> {
        let cut = self.cut_in_words(data, selection, folds);
        let losses = if self.holdout.is_some() { "losses" } else { "mean losses" };
        let spread =
            if folds.n_folds() > 1 { ", ± their standard deviation over folds" } else { "" };
        let mut page = format!(
            "{}: {cut}; {losses}, smaller is better{spread}; * marks the best\n\n",
            data.name()
        );
        page += &table(evaluations);
        let pooled = |of: &Evaluation| of.pooled(data.labels(), folds);
        let pooled = evaluations.iter().map(pooled).collect::<Result<Vec<PooledMeasures>>>()?;
        if !self.no_probabilities {
            page += "\n  Probabilities, all tested rows together\n";
            page += &probability_table(evaluations, &pooled);
        }
        // The baseline, and one method: its labels. More would be a long page, and JSON has them.
        if let [_, only] = evaluations {
            let _ = write!(page, "\n  Each label by {}, all tested rows together\n", only.name);
            page += &measures::by_label_text(data.label_names(), &pooled[1].by_label);
        }
        page.push('\n');
        for evaluation in evaluations.iter().skip(1) {
            let _ = writeln!(
                page,
                "  {:<12} {:.2} s to train, {:.2} s to predict",
                evaluation.name, evaluation.train.seconds, evaluation.predict.seconds
            );
        }
        Ok(page)
    }
}

/// A table of rankings and calibration: a row for each measure, a column for each method, the best marked.
fn probability_table(evaluations: &[Evaluation], pooled: &[PooledMeasures]) -> String {
    let of = |it: &PooledMeasures| -> Vec<Measure> {
        let known = it.of_probabilities.as_ref();
        known.map_or(Vec::new(), |(ranking, calibration)| {
            ranking.measures().into_iter().chain(calibration.measures()).collect()
        })
    };
    let by_method: Vec<Vec<Measure>> = pooled.iter().map(of).collect();
    let Some(some) = by_method.iter().find(|measures| !measures.is_empty()) else {
        return String::new();
    };
    let widths = widths(evaluations);
    let mut page = String::new();
    for (at, measure) in some.iter().enumerate() {
        let value = |of: &Vec<Measure>| of.get(at).and_then(|it| it.value);
        let values: Vec<Option<f64>> = by_method.iter().map(value).collect();
        let better = if measure.is_loss { "smaller" } else { "greater" };
        let none = vec![String::new(); values.len()];
        let line = line(measure.short, &values, &none, &widths, measure.is_loss);
        let wide = TITLE + 2 + widths.iter().sum::<usize>();
        let _ = write!(page, "{:<wide$}", line.trim_end());
        let _ = writeln!(page, "  {better} is better");
    }
    page
}

/// Which settings are not the defaults; nothing where all are.
fn in_words(settings: &Settings) -> Vec<String> {
    let set: Vec<String> = settings.iter().map(|(name, text)| format!("{name} {text}")).collect();
    if set.is_empty() {
        return Vec::new();
    }
    vec![format!("Settings that are not the defaults: {}.", set.join(", "))]
}

/// How wide the column of titles is.
const TITLE: usize = 15;

/// How wide the column of each method is.
fn widths(evaluations: &[Evaluation]) -> Vec<usize> {
    evaluations.iter().map(|of| of.name.chars().count().max(15) + 2).collect()
}

pub(super) fn by_key(losses: &Losses) -> Map<String, Value> {
    by_criterion(|criterion| losses.get(criterion))
}

fn by_criterion(value: impl Fn(Criterion) -> Option<f64>) -> Map<String, Value> {
    let of = |criterion| value(criterion).map_or(Value::Null, Value::from);
    Criterion::ALL
        .map(|criterion| (criterion.key().to_string(), of(criterion)))
        .into_iter()
        .collect()
}

/// A table: a row for each criterion, a column for each method, the least loss marked, each with its
/// spread over folds where there are several. Below it F1 itself, the greatest marked.
pub(crate) fn table(evaluations: &[Evaluation]) -> String {
    let widths = widths(evaluations);
    let mut page = format!("  {:<TITLE$}", "loss");
    for (of, width) in evaluations.iter().zip(&widths) {
        let _ = write!(page, "  {:<1$}", of.name, width - 2);
    }
    page = page.trim_end().to_string() + "\n";
    let means: Vec<Losses> = evaluations.iter().map(Evaluation::losses).collect();
    for criterion in Criterion::ALL {
        let values: Vec<Option<f64>> = means.iter().map(|of| of.get(criterion)).collect();
        let spread = |of: &Evaluation| match Losses::spread(&of.by_fold, criterion) {
            Some(spread) => format!(" ±{spread:.4}"),
            None => String::new(),
        };
        let spreads: Vec<String> = evaluations.iter().map(spread).collect();
        page += &line(&criterion.loss_title(), &values, &spreads, &widths, true);
    }
    page += "\n  F1, greater is better\n";
    for averaging in [Averaging::Example, Averaging::Macro, Averaging::Micro] {
        let criterion = Criterion::Of(averaging, Rate::F1);
        let metric = |losses: &Losses| losses.get(criterion).map(|loss| 1.0 - loss);
        let values: Vec<Option<f64>> = means.iter().map(metric).collect();
        page +=
            &line(criterion.title(), &values, &vec![String::new(); means.len()], &widths, false);
    }
    page
}

/// A line of the table: values that look the same as the best are marked together.
fn line(
    title: &str,
    values: &[Option<f64>],
    spreads: &[String],
    widths: &[usize],
    is_loss: bool,
) -> String {
    let shown = |value: f64| format!("{value:.4}");
    let known = values.iter().flatten().copied();
    let best = if is_loss { known.reduce(f64::min) } else { known.reduce(f64::max) };
    let best = best.map(shown);
    let mut line = format!("  {title:<TITLE$}");
    for ((value, spread), width) in values.iter().zip(spreads).zip(widths) {
        let value = value.map(shown);
        let is_best = values.len() > 1 && value.is_some() && value == best;
        let mark = if is_best { "*" } else { "" };
        let value = value.as_deref().unwrap_or("–");
        let _ = write!(line, "  {:<1$}", format!("{value}{spread}{mark}"), width - 2);
    }
    line.trim_end().to_string() + "\n"
}

fn write_predictions(
    out: &mut Output,
    data: &Dataset,
    selection: &Selection,
    folds: &Folds,
    evaluations: &[Evaluation],
    names: CsvNames,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let labels = data.label_names().iter().map(|name| names.cell(name).into_owned());
    // Where no method has probabilities, their columns are not there either.
    let has_probabilities = evaluations.iter().any(|of| of.probabilities.is_some());
    let probabilities = data.label_names().iter().map(|name| probability_column(name, names));
    let probabilities = probabilities.take(if has_probabilities { data.n_labels() } else { 0 });
    let header = ["fold", "row", "method"].into_iter().map(String::from);
    let ids = data.ids().iter().map(|id| names.cell(&id.name).into_owned());
    csv.write_record(ids.chain(header).chain(labels).chain(probabilities))?;
    for evaluation in evaluations {
        for (row, fold) in folds.fold_of().iter().enumerate() {
            let Some(fold) = fold else { continue };
            let number = selection.number(row).to_string();
            let start = [fold.to_string(), number, evaluation.name.clone()];
            let answers = &evaluation.answers;
            let cells = answers.ids().map(|label| u8::from(answers.get(row, label)).to_string());
            let n_labels = data.n_labels();
            let probability = |at: usize| {
                let known = evaluation.probabilities.as_ref().map(|all| all[row * n_labels + at]);
                known.map_or(String::new(), number_in_digits)
            };
            let probabilities = (0..if has_probabilities { n_labels } else { 0 }).map(probability);
            let ids = data.ids().iter().map(|id| names.cell(&id.cells[row]).into_owned());
            csv.write_record(ids.chain(start).chain(cells).chain(probabilities))?;
        }
    }
    csv.flush()
}
