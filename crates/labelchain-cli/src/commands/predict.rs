//! `labelchain predict`: rows in, labels out, by name.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::data::{Dataset, Format, Table, save, write};
use labelchain::error::{Error, Result};
use labelchain::learner::Trace;
use labelchain::trained::{Answers, Trained};
use serde_json::{Value, json};

use crate::args::{ModelAndRows, Threads, notes};
use crate::messages::{Failure, remark};
use crate::progress::Progress;

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain predict yeast.labelchain new.csv -o answers.csv")]
pub(crate) struct Predict {
    #[command(flatten)]
    files: ModelAndRows,

    /// Where the answers go, by ending: .csv .tsv .jsonl, or with the inputs .arff .parquet; - is
    /// CSV on standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    out: PathBuf,

    /// In CSV, also the share of members that say a label is relevant, as columns called
    /// label:share
    #[arg(long)]
    proba: bool,

    /// Also write how every member decided every row
    #[arg(long, value_name = "FILE.jsonl")]
    explain: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,
}

/// What is written.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Separated(u8),
    Lines,
    Data,
}

impl Predict {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.files.not_over(&self.out)?;
        if let Some(path) = &self.explain {
            self.files.not_over(path)?;
            if *path == self.out {
                return Err(Failure::Library(Error::CannotWrite {
                    path: path.clone(),
                    what: "is asked for twice, by --out and by --explain".into(),
                    remedy: "write one of them under another name",
                }));
            }
        }
        let kind = self.kind()?;
        self.threads.start();
        let (model, data) = self.files.load()?;
        let (rows, remarks) = model.align(&data, &self.files.data.path)?;
        notes(&remarks);
        let progress = Progress::spinner("predicting");
        let answers = model.predict(&rows);
        progress.end();
        let answers = answers?;
        if let Some(path) = &self.explain {
            save_traces(path, &model, &rows, &answers)?;
        }
        if self.out == Path::new("-") {
            let out = io::BufWriter::new(io::stdout().lock());
            return separated(out, b',', &model, &answers, self.proba).map_err(Failure::Output);
        }
        let written = match kind {
            Kind::Separated(separator) => {
                save(&self.out, |out| separated(out, separator, &model, &answers, self.proba))
                    .map(|()| vec![self.out.clone()])?
            }
            Kind::Lines => save(&self.out, |out| {
                (0..rows.n_rows())
                    .try_for_each(|row| writeln!(out, "{}", answer(&model, &answers, row)))
            })
            .map(|()| vec![self.out.clone()])?,
            Kind::Data => write(&Table::Rows(self.labelled(&model, &data, answers)?), &self.out)?,
        };
        if io::stderr().is_terminal() {
            let names: Vec<String> =
                written.iter().map(|path| path.display().to_string()).collect();
            remark(&format!("wrote {}", names.join(" and ")));
        }
        Ok(())
    }

    fn kind(&self) -> Result<Kind> {
        let name = self.out.to_string_lossy().to_ascii_lowercase();
        let kind = if [".jsonl", ".jsonl.gz", ".jsonl.bz2"].iter().any(|end| name.ends_with(end)) {
            Kind::Lines
        } else if name == "-" {
            Kind::Separated(b',')
        } else {
            match Format::of(&self.out) {
                Ok(Format::Csv) => Kind::Separated(b','),
                Ok(Format::Tsv) => Kind::Separated(b'\t'),
                Ok(_) => Kind::Data,
                Err(_) => {
                    return Err(Error::CannotWrite {
                        path: self.out.clone(),
                        what: "cannot tell the format from the name".into(),
                        remedy: "name it .csv, .tsv, .jsonl, .arff or .parquet, or use - for CSV on standard output",
                    });
                }
            }
        };
        if self.proba && kind == Kind::Data {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: "a data file has no place for the shares that --proba asks for".into(),
                remedy: "write to .csv or .jsonl",
            });
        }
        Ok(kind)
    }

    /// The inputs as they were, with the answers as labels.
    fn labelled(&self, model: &Trained, data: &Dataset, answers: Answers) -> Result<Dataset> {
        let is_label = |name: &String| model.label_names().contains(name);
        if let Some(both) = data.attributes().iter().find(|a| is_label(&a.name)) {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: format!("{:?} would be both an input and a label", both.name),
                remedy: "leave out the options that say which columns are labels, or write to .csv",
            });
        }
        let names = model.label_names().to_vec();
        let (attributes, features) = (data.attributes().to_vec(), data.features().clone());
        Dataset::new(data.name(), attributes, features, names, answers.labels)
    }
}

/// A column of 0 and 1 for each label, in label order; then, if asked for, the shares.
fn separated(
    out: impl Write,
    separator: u8,
    model: &Trained,
    answers: &Answers,
    proba: bool,
) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    let names = model.label_names();
    let shares = |proba: bool| if proba { names } else { &[] };
    let header = names.iter().cloned();
    csv.write_record(header.chain(shares(proba).iter().map(|name| format!("{name}:share"))))?;
    for row in 0..answers.labels.n_rows() {
        let cells = answers.labels.ids();
        let cells = cells.map(|label| u8::from(answers.labels.get(row, label)).to_string());
        let votes = votes(model, answers, row).iter().take(shares(proba).len());
        csv.write_record(cells.chain(votes.map(f64::to_string)))?;
    }
    csv.flush()
}

fn votes<'a>(model: &Trained, answers: &'a Answers, row: usize) -> &'a [f64] {
    let n = model.label_names().len();
    &answers.votes[row * n..(row + 1) * n]
}

/// One row: which labels, and the share of members that say so.
fn answer(model: &Trained, answers: &Answers, row: usize) -> Value {
    let relevant: Vec<&String> =
        answers.labels.relevant(row).map(|label| &model.label_names()[label.0]).collect();
    json!({"row": row, "votes": votes(model, answers, row), "relevant": relevant})
}

/// The promise of `predict --explain`: an answer and how each member came to its own.
pub(crate) fn explained(
    model: &Trained,
    answers: &Answers,
    at: usize,
    row: usize,
    traces: &[Trace],
) -> Value {
    let finite = |support: &f64| support.clamp(-1e308, 1e308);
    let member = |trace: &Trace| {
        let order = trace.order.as_ref();
        json!({
            "order": order.map(|order| order.iter().map(|label| label.0).collect::<Vec<_>>()),
            "local_f1": trace.local_f1,
            "weight": trace.weight,
            "nearest": trace.lender.map(|lender| lender.row),
            "decisions": trace.decisions.iter().map(|&said| u8::from(said)).collect::<Vec<_>>(),
            "support": trace.support.iter().map(finite).collect::<Vec<_>>(),
        })
    };
    let mut value = answer(model, answers, at);
    value["row"] = row.into();
    value["members"] = traces.iter().map(member).collect();
    value
}

/// Traces are many times larger than answers, so only a block of rows is held at a time.
fn save_traces(path: &Path, model: &Trained, rows: &Dataset, answers: &Answers) -> Result<()> {
    const BLOCK: usize = 2048;
    let mut refused = None;
    let saved = save(path, |out| {
        for start in (0..rows.n_rows()).step_by(BLOCK) {
            let block: Vec<usize> = (start..rows.n_rows().min(start + BLOCK)).collect();
            let traces = model.trace(&rows.select(&block)).map_err(|error| {
                refused = Some(error);
                io::ErrorKind::Other
            })?;
            for (&row, traces) in block.iter().zip(&traces) {
                writeln!(out, "{}", explained(model, answers, row, row, traces))?;
            }
        }
        Ok(())
    });
    refused.map_or(saved, Err)
}
