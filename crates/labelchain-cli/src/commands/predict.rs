//! `labelchain predict`: rows in, labels out, by name.

use std::io::{self, Write};
use std::iter;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use labelchain::data::{CsvNames, Dataset, Format, IdColumn, Output, Table, outputs, publish};
use labelchain::error::{Error, Result};
use labelchain::model::AlignedRows;
use labelchain::{Model, Prediction};
use serde_json::json;

use super::convert::report_files;
use crate::args::{
    AimArgs, ForceArgs, LabelsOfRows, ModelAndRows, NameArgs, RowArgs, Selection, Threads,
    is_same_file, number_in_digits, probability_column,
};
use crate::messages::{Failure, data_output};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain predict yeast.labelchain new.csv -o answers.csv
  cat new.jsonl | labelchain predict tickets.labelchain - --format jsonl --out-format jsonl | jq .relevant")]
pub(crate) struct Predict {
    #[command(flatten)]
    files: ModelAndRows,

    #[command(flatten)]
    rows: RowArgs,

    /// Where the answers go, by ending: .csv .tsv .jsonl, or with the inputs .arff .parquet .svm; - is
    /// standard output, as CSV unless --out-format says otherwise
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    out: PathBuf,

    /// The format of the answers, whatever the name of OUT says
    #[arg(long, value_enum, value_name = "FORMAT")]
    out_format: Option<AnswerFormat>,

    #[command(flatten)]
    aim: AimArgs,

    /// Also the probability of each label, as columns called label:probability, or under
    /// "probabilities" in .jsonl
    #[arg(long)]
    probabilities: bool,

    /// In CSV, also the share of members that vote for a label, as columns called label:share
    #[arg(long)]
    proba: bool,

    /// Keep the label cells that DATA has, and answer the blank ones in the light of them
    #[arg(long)]
    known: bool,

    /// A column that says which row is which, carried into the answers as their first column (repeatable); those
    /// that the model was trained with are carried anyway
    #[arg(long, value_name = "COLUMN")]
    id: Vec<String>,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    names: NameArgs,

    /// Also write how every member decided every row
    #[arg(long, value_name = "FILE.jsonl")]
    explain: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,
}

/// The formats that hold answers without inputs.
#[derive(Clone, Copy, ValueEnum)]
enum AnswerFormat {
    Csv,
    Tsv,
    Jsonl,
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
        self.rows.not_over(&self.out)?;
        self.force.check_new(&self.out)?;
        if let Some(path) = &self.explain {
            self.files.not_over(path)?;
            self.rows.not_over(path)?;
            if *path == self.out || is_same_file(path, &self.out) {
                return Err(Failure::Library(Error::CannotWrite {
                    path: path.clone(),
                    what: "is asked for twice, by --out and by --explain".into(),
                    remedy: "write one of them under another name".into(),
                }));
            }
            self.force.check_new(path)?;
        }
        let kind = self.kind()?;
        self.threads.start()?;
        // Reading, too, is done by the threads that were asked for, and takes no further core.
        rayon::scope(|_| self.answer(kind))
    }

    fn answer(&self, kind: Kind) -> Result<(), Failure> {
        let model = self.files.model()?;
        // The process ends with this command: to free a model piece by piece may take longer than an answer.
        let model = ManuallyDrop::new(self.aim.aim.into_iter().fold(model, Model::with_aim));
        let selection = self.rows.read(self.files.data.reading.max_memory())?;
        let progress = Bar::spinner("predicting");
        let written = match kind {
            Kind::Data => self.write_data(&model, &selection).map_err(Failure::Library),
            _ => self.write_answers(&model, &selection, kind).map(|()| vec![self.out.clone()]),
        };
        progress.end();
        let written = written?;
        if self.out != Path::new("-") {
            report_files(&written);
        }
        Ok(())
    }

    /// Probabilities are there only if they were asked for.
    fn predict(&self, rows: &AlignedRows) -> Result<Prediction> {
        if !self.probabilities {
            let mut prediction = rows.predict_labels()?;
            prediction.probabilities = None;
            return Ok(prediction);
        }
        let prediction = rows.predict()?;
        if prediction.probabilities.is_none() {
            let what = "the probability of a label whose score is a margin".into();
            return Err(Error::Uncalibrated { what });
        }
        Ok(prediction)
    }

    fn labels(&self) -> LabelsOfRows {
        if self.known { LabelsOfRows::Known } else { LabelsOfRows::Ignored }
    }

    fn kind(&self) -> Result<Kind> {
        let kind = match self.out_format {
            Some(AnswerFormat::Csv) => Kind::Separated(b','),
            Some(AnswerFormat::Tsv) => Kind::Separated(b'\t'),
            Some(AnswerFormat::Jsonl) => Kind::Lines,
            None if self.out == Path::new("-") => Kind::Separated(b','),
            None => match Format::of(&self.out) {
                Ok(Format::JsonLines) => Kind::Lines,
                Ok(Format::Csv) => Kind::Separated(b','),
                Ok(Format::Tsv) => Kind::Separated(b'\t'),
                Ok(_) => Kind::Data,
                Err(_) => {
                    return Err(Error::CannotWrite {
                        path: self.out.clone(),
                        what: "cannot tell the format from the name".into(),
                        remedy: "name it .csv, .tsv, .jsonl, .arff, .parquet or .svm, or say it by --out-format; - is standard output".into(),
                    });
                }
            },
        };
        if self.probabilities && kind == Kind::Data && Format::of(&self.out)? != Format::Parquet {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: "the format has no place for the numbers that --probabilities asks for"
                    .into(),
                remedy: "write to .csv, .tsv, .jsonl or .parquet".into(),
            });
        }
        if self.proba && kind == Kind::Data {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: "a data file has no place for the shares that --proba asks for".into(),
                remedy: "write to .csv or .jsonl".into(),
            });
        }
        Ok(kind)
    }

    /// Answers the rows, so many at a time: one thread reads the next block while the others answer the one before,
    /// and then helps them.
    fn answer_blocks<'m>(
        &'m self,
        model: &'m Model,
        selection: &'m Selection,
        n_rows: usize,
        mut give: impl FnMut(&Dataset, &AlignedRows<'m>, &Prediction) -> io::Result<()>,
    ) -> io::Result<()> {
        let blocks = self.files.rows(model, selection, &self.id, n_rows, self.labels());
        let mut blocks = blocks.map_err(io::Error::other)?;
        let mut next = blocks.next();
        while let Some(block) = next {
            let (found, rows) = block.map_err(io::Error::other)?;
            let mut prediction = None;
            next = rayon::in_place_scope(|scope| {
                scope.spawn(|_| prediction = Some(self.predict(&rows)));
                blocks.next()
            });
            if let Some(prediction) = prediction {
                give(&found, &rows, &prediction.map_err(io::Error::other)?)?;
            }
        }
        Ok(())
    }

    /// Block by block, so that the file may be larger than memory.
    fn write_answers(
        &self,
        model: &Model,
        selection: &Selection,
        kind: Kind,
    ) -> Result<(), Failure> {
        // With so many cells what is done once a block does not count, and few of them leave the caches before
        // they are answered. Two blocks are held at a time, each as the file has it and as the model takes it.
        let n_bytes = (self.files.data.reading.max_memory() / 16).min(64 << 20) as usize;
        let n_rows = (n_bytes / (8 * model.attributes().len().max(1))).clamp(64, 1 << 14);
        let answer = |out: &mut dyn Write, mut traces: Option<&mut dyn Write>| -> io::Result<()> {
            let mut first = 0;
            self.answer_blocks(model, selection, n_rows, |found, rows, prediction| {
                let answered = Answered { model, selection, ids: found.ids(), prediction, first };
                match kind {
                    Kind::Separated(separator) => {
                        answered.separated(out, separator, self.proba, self.names.names())?;
                    }
                    _ => answered.lines(out)?,
                }
                if let Some(traces) = &mut traces {
                    answered.explanations(rows, *traces)?;
                }
                first += rows.n_rows();
                Ok(())
            })
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
    fn write_data(&self, model: &Model, selection: &Selection) -> Result<Vec<PathBuf>> {
        let mut all = vec![];
        for block in self.files.rows(model, selection, &self.id, usize::MAX, self.labels())? {
            let (found, rows) = block?;
            let prediction = self.predict(&rows)?;
            if let Some(path) = &self.explain {
                let (ids, prediction) = (found.ids(), &prediction);
                let answered = Answered { model, selection, ids, prediction, first: 0 };
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

    /// The columns as they were, with the answers as labels.
    fn labelled(&self, model: &Model, data: Dataset, prediction: Prediction) -> Result<Dataset> {
        let data = data.with_ids_as_inputs()?;
        let is_label = |name: &String| model.label_names().contains(name);
        if let Some(both) = data.attributes().iter().find(|a| is_label(&a.name)) {
            return Err(Error::CannotWrite {
                path: self.out.clone(),
                what: format!("{:?} would be both an input and a label", both.name),
                remedy: "leave out the options that say which columns are labels, or write to .csv"
                    .into(),
            });
        }
        let data = match &prediction.probabilities {
            Some(probabilities) => {
                let names = model.label_names().iter().map(|name| format!("{name}:probability"));
                data.with_numbers(names.collect(), probabilities)?
            }
            None => data,
        };
        data.relabelled(model.label_names().to_vec(), prediction.labels)
    }
}

/// What is predicted for a block of the selected rows, and how many of them stand before it.
struct Answered<'a> {
    model: &'a Model,
    selection: &'a Selection,
    ids: &'a [IdColumn],
    prediction: &'a Prediction,
    first: usize,
}

impl Answered<'_> {
    /// The number in the file of a row of the block.
    fn number(&self, at: usize) -> usize {
        self.selection.number(self.first + at)
    }

    /// What says which row is which; a column of 0 and 1 for each label, in label order; then, if asked for, the probabilities, and the
    /// shares. Names go before the first row.
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
            let shares = shares.map(|name| spelt.cell(&name).into_owned());
            let labels = names.iter().map(|name| spelt.cell(name).into_owned());
            let wanted = self.prediction.probabilities.iter().flat_map(|_| names);
            let probabilities = wanted.map(|name| probability_column(name, spelt));
            let ids = self.ids.iter().map(|id| spelt.cell(&id.name).into_owned());
            csv.write_record(ids.chain(labels).chain(probabilities).chain(shares))
                .map_err(as_io)?;
        }
        for row in 0..labels.n_rows() {
            for id in self.ids {
                csv.write_field(&*spelt.cell(&id.cells[row])).map_err(as_io)?;
            }
            for label in labels.ids() {
                let digit = if labels.get(row, label) { "1" } else { "0" };
                csv.write_field(digit).map_err(as_io)?;
            }
            let shares = self.prediction.shares(row)[..n_shares].iter();
            let probabilities = self.prediction.probabilities(row).into_iter().flatten();
            for &number in probabilities.chain(shares) {
                csv.write_field(number_in_digits(number)).map_err(as_io)?;
            }
            csv.write_record(None::<&[u8]>).map_err(as_io)?;
        }
        csv.flush()
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for at in 0..self.prediction.n_rows() {
            let mut line = json!({
                "row": self.number(at),
                "votes": self.prediction.shares(at),
                "relevant": self.prediction.relevant(at).collect::<Vec<_>>(),
            });
            for id in self.ids {
                line["id"][&id.name] = id.cells[at].as_str().into();
            }
            if let Some(probabilities) = self.prediction.probabilities(at) {
                let pairs = self.model.label_names().iter().cloned().zip(probabilities);
                let by_name = pairs.map(|(name, p)| (name, json!(p)));
                line["probabilities"] = by_name.collect::<serde_json::Map<_, _>>().into();
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Explanations are many times larger than answers, so only some are held at a time.
    fn explanations(&self, rows: &AlignedRows, out: &mut dyn Write) -> io::Result<()> {
        const SOME: usize = 2048;
        for start in (0..rows.n_rows()).step_by(SOME) {
            let some: Vec<usize> = (start..rows.n_rows().min(start + SOME)).collect();
            let explanations = rows.select(&some).explain_decisions().map_err(io::Error::other)?;
            for (&at, explanation) in some.iter().zip(&explanations) {
                writeln!(out, "{}", explanation.json(self.number(at)))?;
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
