//! `labelchain train`: a method trained on all rows, kept in a file.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use labelchain::data::{ReadOptions, Table, is_stream, read, read_by_columns};
use labelchain::error::{Error, Result};
use labelchain::loss::Losses;
use labelchain::{LabelChain, Method, Model, Progress, Settings};

use crate::args::{
    AimArgs, BagArgs, DataFile, MethodArgs, RowArgs, Selection, methods_in_words, notes,
};
use crate::messages::{Failure, remark};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "Examples:\n  labelchain train yeast.arff.gz -o yeast.labelchain\n  \
                  labelchain train yeast.arff.gz -m ecc-knn@macro-f1 -o yeast.labelchain")]
pub(crate) struct Train {
    #[command(flatten)]
    data: DataFile,

    #[command(flatten)]
    rows: RowArgs,

    #[arg(short, long, value_name = "METHOD", default_value = Method::DEFAULT, help = format!("The method: {}", methods_in_words()))]
    method: Method,

    #[command(flatten)]
    aim: AimArgs,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

    /// Replace the file even if it is no model
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    bags: BagArgs,

    #[command(flatten)]
    settings: MethodArgs,
}

impl Train {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.data.reading.keep_every_row()?;
        self.data.not_over(&self.out)?;
        self.rows.not_over(&self.out)?;
        not_over_foreign(&self.out, self.force)?;
        let settings = self.settings.settings(&[self.method])?;
        self.settings.start_threads()?;
        let selection = self.rows.read(self.data.reading.max_memory())?;
        let bar = Bar::spinner("training");
        let model = self.model(&settings, &selection, &|progress| bar.show(progress));
        bar.end();
        let model = model.map_err(|error| self.data.in_file(error, |row| selection.number(row)))?;
        model.save(&self.out)?;
        if std::io::stderr().is_terminal() {
            let estimate = |losses: &Losses| {
                let loss = |key: &str| losses.get(key.parse().ok()?);
                let f1 = loss("micro_f1").map(|loss| 1.0 - loss)?;
                let hamming = loss("hamming")?;
                Some(format!("; by rows not seen, Hamming loss {hamming:.3}, micro F1 {f1:.3}"))
            };
            remark(&format!(
                "wrote {}: {}, {} members, {} labels, trained on {} rows of {}{}",
                self.out.display(),
                model.method(),
                model.members().len(),
                model.label_names().len(),
                model.n_rows(),
                self.data.path.display(),
                model.out_of_bag().and_then(estimate).unwrap_or_default()
            ));
        }
        Ok(())
    }

    fn model(
        &self,
        settings: &Settings,
        selection: &Selection,
        progress: &dyn Fn(Progress),
    ) -> Result<Model> {
        let chain = LabelChain::with(self.aim.of(self.method), settings.clone())
            .seed(self.settings.seed)
            .max_memory(self.data.reading.max_memory())
            .progress(progress);
        let options = self.data.reading.options();
        // Rows, the same standardized, and each column sorted: what is learned from is in memory
        // several times.
        let share = options.max_memory / 8;
        // Bags become rows by all of their inputs.
        let by_column = self.bags.reduction().is_none() && self.method.learns_by_column(settings);
        let max_memory = if by_column { share } else { options.max_memory };
        let reading = match read(&self.data.path, &ReadOptions { max_memory, ..options.clone() }) {
            Err(Error::TooLarge { .. }) if by_column => {
                remark(
                    "note: the rows take more than an eighth of --max-memory; they are read a few \
                     columns at a time, which takes longer",
                );
                let parts = read_by_columns(&self.data.path, &options, share)?;
                let selected = |part| selection.of(Table::Rows(part), &self.data.path);
                return chain.fit_by_columns(
                    parts.map(|part| part.and_then(selected).and_then(Table::into_rows)),
                );
            }
            reading => reading?,
        };
        notes(&reading.notes);
        let table = selection.of(reading.table, &self.data.path)?;
        match (&table, self.bags.reduction()) {
            (Table::Bags(bags), Some(reduction)) => chain.fit_bags(bags, reduction),
            (Table::Bags(_), None) => Err(Error::NotRows { name: table.rows().name().into() }),
            (Table::Rows(rows), _) => chain.fit(rows),
        }
    }
}

/// Refuses to replace a file by a model that holds something else, perhaps a table that was meant as
/// DATA.
pub(super) fn not_over_foreign(out: &Path, force: bool) -> Result<()> {
    if out == Path::new("-") {
        return Err(Error::CannotWrite {
            path: out.into(),
            what: "a model is a file, and standard output is none".into(),
            remedy: "name a file, or /dev/stdout".into(),
        });
    }
    let is_empty = out.metadata().map_or(true, |about| about.len() == 0 || about.is_dir());
    if force || is_empty || is_stream(out) || Model::is_model_file(out)? {
        return Ok(());
    }
    Err(Error::CannotWrite {
        path: out.into(),
        what: "exists and is not a model".into(),
        remedy: "write under another name, or replace it with --force".into(),
    })
}
