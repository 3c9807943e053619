//! `labelchain predict`: rows in, labels out, by name.

use std::io::{self, IsTerminal as _, Write};
use std::iter;
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::data::{CsvNames, Dataset, Format, Output, Table, outputs, publish};
use labelchain::error::{Error, Result};
use labelchain::model::AlignedRows;
use labelchain::{Model, Prediction};
use serde_json::json;

use crate::args::{LabelsOfRows, ModelAndRows, NameArgs, Threads, is_same_file};
use crate::messages::{Failure, data_output, remark};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain predict yeast.labelchain new.csv -o answers.csv")]
pub(crate) struct Predict {
    #[command(flatten)]
    files: ModelAndRows,

    /// Where the answers go, by ending: .csv .tsv .jsonl, or with the inputs .arff .parquet .svm; - is
    /// CSV on standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    out: PathBuf,

    /// In CSV, also the share of members that say a label is relevant, as columns called
    /// label:share
    #[arg(long)]
    proba: bool,

    /// Keep the label cells that DATA has, and answer the blank ones in the light of them
    #[arg(long)]
    known: bool,

    #[command(flatten)]
    names: NameArgs,

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
            if *path == self.out || is_same_file(path, &self.out) {
                return Err(Failure::Library(Error::CannotWrite {
                    path: path.clone(),
                    what: "is asked for twice, by --out and by --explain".into(),
                    remedy: "write one of them under another name".into(),
                }));
            }
        }
        let kind = self.kind()?;
        self.threads.start()?;
        let model = self.files.model()?;
        let progress = Bar::spinner("predicting");
        let written = match kind {
            Kind::Data => self.write_data(&model).map_err(Failure::Library),
            _ => self.write_answers(&model, kind).map(|()| vec![self.out.clone()]),
        };
        progress.end();
        let written = written?;
        if self.out == Path::new("-") {
            return Ok(());
        }
        if io::stderr().is_terminal() {
            let names: Vec<String> =
                written.iter().map(|path| path.display().to_string()).collect();
            remark(&format!("wrote {}", names.join(" and ")));
        }
        Ok(())
    }

    fn labels(&self) -> LabelsOfRows {
        if self.known { LabelsOfRows::Known } else { LabelsOfRows::Ignored }
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
                        remedy: "name it .csv, .tsv, .jsonl, .arff, .parquet or .svm, or use - for CSV on standard output".into(),
                    });
                }
            }
        };
        if self.proba && kind == Kind::Data {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: "a data file has no place for the shares that --proba asks for".into(),
                remedy: "write to .csv or .jsonl".into(),
            });
        }
        Ok(kind)
    }

    /// Block by block, so that the file may be larger than memory.
    fn write_answers(&self, model: &Model, kind: Kind) -> Result<(), Failure> {
        // With 64 MB of cells, what is done once a block does not count.
        let n_bytes = (self.files.data.reading.max_memory() / 8).min(64 << 20) as usize;
        let n_rows = (n_bytes / (8 * model.attributes().len().max(1))).clamp(64, 1 << 16);
        let answer = |out: &mut dyn Write, mut traces: Option<&mut dyn Write>| -> io::Result<()> {
            let mut first = 0;
            for block in self.files.rows(model, n_rows, self.labels()).map_err(io::Error::other)? {
                let (_, rows) = block.map_err(io::Error::other)?;
                let prediction = rows.predict().map_err(io::Error::other)?;
                let answered = Answered { model, prediction: &prediction, first };
                match kind {
                    Kind::Separated(separator) => {
                        answered.separated(out, separator, self.proba, self.names.names())?;
                    }
                    _ => answered.lines(out)?,
                }
                if let Some(traces) = &mut traces {
                    answered.explanations(&rows, *traces)?;
                }
                first += rows.n_rows();
            }
            Ok(())
        };
        let mut traces = self.explain.as_deref().map(Output::create).transpose()?;
        let traces_out = traces.as_mut().map(|traces| traces as &mut dyn Write);
        if self.out == Path::new("-") {
            let mut out = data_output();
            answer(&mut out, traces_out).and_then(|()| out.flush()).map_err(|error| {
                error.downcast::<Error>().map_or_else(Failure::Output, Failure::Library)
            })?;
            return Ok(publish(traces.into_iter().collect())?);
        }
        let answers = Output::with(&self.out, |out| answer(out, traces_out))?;
        Ok(publish(iter::once(answers).chain(traces).collect())?)
    }

    /// All rows at once: a data file names at its head what stands in it.
    fn write_data(&self, model: &Model) -> Result<Vec<PathBuf>> {
        let mut all = vec![];
        for block in self.files.rows(model, usize::MAX, self.labels())? {
            let (found, rows) = block?;
            let prediction = rows.predict()?;
            if let Some(path) = &self.explain {
                let answered = Answered { model, prediction: &prediction, first: 0 };
                all.push(Output::with(path, |out| answered.explanations(&rows, out))?);
            }
            // Rows that fill the memory are held twice, but not three times.
            drop(rows);
            let labelled = Table::Rows(self.labelled(model, found, prediction)?);
            all.extend(outputs(&labelled, &self.out)?);
        }
        let written = all.iter().map(|output| output.path().into()).collect();
        publish(all).map(|()| written)
    }

    /// The inputs as they were, with the answers as labels.
    fn labelled(&self, model: &Model, data: Dataset, prediction: Prediction) -> Result<Dataset> {
        let is_label = |name: &String| model.label_names().contains(name);
        if let Some(both) = data.attributes().iter().find(|a| is_label(&a.name)) {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: format!("{:?} would be both an input and a label", both.name),
                remedy: "leave out the options that say which columns are labels, or write to .csv"
                    .into(),
            });
        }
        data.relabelled(model.label_names().to_vec(), prediction.labels)
    }
}

/// What is predicted for a block of rows, and the number of the first.
struct Answered<'a> {
    model: &'a Model,
    prediction: &'a Prediction,
    first: usize,
}

impl Answered<'_> {
    /// A column of 0 and 1 for each label, in label order; then, if asked for, the shares. Names go
    /// before the first row.
    fn separated(
        &self,
        out: &mut dyn Write,
        separator: u8,
        proba: bool,
        spelt: CsvNames,
    ) -> io::Result<()> {
        let mut csv = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
        let (names, labels) = (self.model.label_names(), &self.prediction.labels);
        let n_shares = if proba { names.len() } else { 0 };
        if self.first == 0 {
            let shares = names[..n_shares].iter().map(|name| format!("{name}:share"));
            let names = names.iter().cloned().chain(shares);
            csv.write_record(names.map(|name| spelt.cell(&name).into_owned())).map_err(as_io)?;
        }
        for row in 0..labels.n_rows() {
            let cells = labels.ids().map(|label| u8::from(labels.get(row, label)).to_string());
            let shares = self.prediction.shares(row)[..n_shares].iter();
            csv.write_record(cells.chain(shares.map(f64::to_string))).map_err(as_io)?;
        }
        csv.flush()
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for at in 0..self.prediction.n_rows() {
            let line = json!({
                "row": self.first + at,
                "votes": self.prediction.shares(at),
                "relevant": self.prediction.relevant(at).collect::<Vec<_>>(),
            });
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Explanations are many times larger than answers, so only some are held at a time.
    fn explanations(&self, rows: &AlignedRows, out: &mut dyn Write) -> io::Result<()> {
        const SOME: usize = 2048;
        for start in (0..rows.n_rows()).step_by(SOME) {
            let some: Vec<usize> = (start..rows.n_rows().min(start + SOME)).collect();
            let explanations = rows.select(&some).explain().map_err(io::Error::other)?;
            for (&at, explanation) in some.iter().zip(&explanations) {
                writeln!(out, "{}", explanation.json(self.first + at))?;
            }
        }
        Ok(())
    }
}

/// As itself, not wrapped: a reader that has seen enough is no error.
fn as_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
