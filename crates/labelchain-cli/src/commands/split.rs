//! `labelchain split`: folds or a hold-out, as row numbers.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use labelchain::data::split::{Folds, folds, grouped_folds, holdout};
use labelchain::data::stratify::{Quality, equal_shares, stratify};
use labelchain::data::{Dataset, save_directory};
use labelchain::error::{Error, Result};
use labelchain::seed::Seed;
use serde_json::json;

use crate::args::{DataFile, ForceArgs, Stratify};
use crate::messages::{Failure, print, print_data};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain split yeast.arff.gz --stratify iterative -o folds")]
pub(crate) struct Split {
    #[command(flatten)]
    data: DataFile,

    /// How many folds
    #[arg(long, value_name = "K", default_value_t = 10)]
    folds: usize,

    /// Instead of folds: one cut, with this share of the rows to train on
    #[arg(long, value_name = "SHARE", conflicts_with = "folds")]
    holdout: Option<f64>,

    /// Spread labels evenly: iterative (each label), pairs (each pair of labels)
    #[arg(long, value_enum, default_value_t = Stratify::None)]
    stratify: Stratify,

    /// Keep rows with equal values in this feature together (folds, or with --stratify)
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,

    /// Same seed, same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// A new directory for fold-0.txt … (or train.txt and test.txt): row numbers from 0, one a line
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The parts of a split, each with the name of its file, and how even the split is.
struct Cut {
    files: Vec<(String, Vec<usize>)>,
    quality: Quality,
}

impl Split {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.data.reading.keep_every_row()?;
        let is_list = |name: &str| {
            name == "train.txt"
                || name == "test.txt"
                || name.starts_with("fold-") && name.ends_with(".txt")
        };
        self.force.check_directory(&self.out, is_list)?;
        let data = self.data.read()?.into_rows()?;
        let cut = self.cut(&data)?;
        let file = |(name, rows): &(String, Vec<usize>)| {
            let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
            (name.clone(), lines.into_bytes())
        };
        save_directory(&self.out, &cut.files.iter().map(file).collect::<Vec<_>>())?;
        if self.json {
            return print_data(&self.json(&data, &cut));
        }
        print(&self.text(&data, &cut))
    }

    fn cut(&self, data: &Dataset) -> Result<Cut> {
        let seed = Seed::new(self.seed);
        let groups = self.groups.as_deref().map(|column| groups(data, column)).transpose()?;
        let balance = self.stratify.balance();
        let labels = data.labels();
        let Some(train) = self.holdout else {
            let shares = equal_shares(self.folds)?;
            let folds = match (balance, &groups) {
                (Some(balance), _) => stratify(labels, &shares, balance, groups.as_deref(), seed)?,
                (None, Some(groups)) => grouped_folds(groups, self.folds, seed)?,
                (None, None) => folds(data.n_rows(), self.folds, seed)?,
            };
            let quality = Quality::measure(&folds, labels, &shares)?;
            let name = |fold| (format!("fold-{fold}.txt"), folds.test_rows(fold));
            return Ok(Cut { files: (0..folds.n_folds()).map(name).collect(), quality });
        };
        if !(train > 0.0 && train < 1.0) {
            let accepted = "above 0 and below 1, so that both parts have rows";
            return Err(Error::Setting { name: "--holdout", value: train.to_string(), accepted });
        }
        let shares = [train, 1.0 - train];
        let parts = match (balance, &groups) {
            (Some(balance), _) => stratify(labels, &shares, balance, groups.as_deref(), seed)?,
            (None, Some(_)) => {
                return Err(Error::Setting {
                    name: "--groups",
                    value: "given for a plain hold-out".into(),
                    accepted: "used with --stratify iterative, or with folds",
                });
            }
            (None, None) => {
                let cut = holdout(data.n_rows(), train, seed)?;
                let mut part_of = vec![0; data.n_rows()];
                cut.test.iter().for_each(|&row| part_of[row] = 1);
                Folds::new(part_of, 2)?
            }
        };
        let quality = Quality::measure(&parts, labels, &shares)?;
        let files =
            vec![("train.txt".into(), parts.test_rows(0)), ("test.txt".into(), parts.test_rows(1))];
        Ok(Cut { files, quality })
    }

    fn text(&self, data: &Dataset, cut: &Cut) -> String {
        let mut page = String::new();
        let _ =
            writeln!(page, "{}: {} rows cut with seed {}\n", data.name(), data.n_rows(), self.seed);
        let _ = writeln!(page, "  {:<12} {:>8} {:>20}", "file", "rows", "labels without rows");
        for (name, rows) in &cut.files {
            let _ = writeln!(page, "  {name:<12} {:>8} {:>20}", rows.len(), n_lacking(data, rows));
        }
        let q = &cut.quality;
        let _ = writeln!(page, "\n  mean deviation from the rows wanted       {:>9.3}", q.rows);
        let _ = writeln!(page, "  mean deviation of the labels' odds        {:>9.5}", q.labels);
        let _ = writeln!(page, "  mean deviation of the label pairs' odds   {:>9.5}", q.pairs);
        let _ =
            writeln!(page, "  (docs/conventions.md, Splits, says what these are; 0 is perfect)");
        let _ = writeln!(page, "\nWritten to {}; row numbers count from 0.", self.out.display());
        page
    }

    fn json(&self, data: &Dataset, cut: &Cut) -> String {
        let part = |(file, rows): &(String, Vec<usize>)| json!({"file": file, "rows": rows.len(), "labels_without_rows": n_lacking(data, rows)});
        let json = json!({
            "data": data.name(),
            "rows": data.n_rows(),
            "seed": self.seed,
            "parts": cut.files.iter().map(part).collect::<Vec<_>>(),
            "size_deviation": cut.quality.rows,
            "label_deviation": cut.quality.labels,
            "pair_deviation": cut.quality.pairs,
        });
        json.to_string() + "\n"
    }
}

/// The number of labels that are relevant to no row of this part.
fn n_lacking(data: &Dataset, rows: &[usize]) -> usize {
    data.labels().select(rows).counts().iter().filter(|&&count| count == 0).count()
}

/// Numbers rows by their value in a column. Rows with a missing value form one group, as those with
/// any other value.
fn groups(data: &Dataset, column: &str) -> Result<Vec<usize>> {
    let at = data.feature(column)?;
    let mut numbers = HashMap::new();
    Ok((0..data.n_rows())
        .map(|row| {
            let next = numbers.len();
            *numbers.entry(data.features().get(row, at).to_bits()).or_insert(next)
        })
        .collect())
}
