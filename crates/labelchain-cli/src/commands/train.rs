//! `labelchain train`: a method trained on all rows, kept in a file.

use std::fmt::Write as _;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use labelchain::data::{ColumnRoles, ReadOptions, Table, is_stream, read, read_by_columns};
use labelchain::error::{Error, Result};
use labelchain::loss::Losses;
use labelchain::{LabelChain, Method, Model, Progress, Settings};
use serde_json::json;

use super::evaluate::by_key;
use super::show::columns_in_words;
use crate::args::{
    AimArgs, BagArgs, ColumnArgs, DataFile, ForceArgs, MethodArgs, RowArgs, Selection, findings,
    methods_in_words, notes,
};
use crate::messages::{Failure, print, print_data, remark};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "Examples:\n  labelchain train yeast.arff.gz -o yeast.labelchain\n  \
                  labelchain train yeast.arff.gz -m ecc-knn@macro-f1 -o yeast.labelchain")]
pub(crate) struct Train {
    #[command(flatten)]
    data: DataFile,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    rows: RowArgs,

    #[arg(short, long, value_name = "METHOD", default_value = Method::DEFAULT, help = format!("The method: {}", methods_in_words()))]
    method: Method,

    #[command(flatten)]
    aim: AimArgs,

    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,

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
        self.force.check_model(&self.out)?;
        let settings = self.settings.settings(&[self.method])?;
        self.settings.start_threads()?;
        let selection = self.rows.read(self.data.reading.max_memory())?;
        let start = Instant::now();
        let bar = Bar::spinner("training");
        let model = self.model(&settings, &selection, &|progress| bar.show(progress));
        bar.end();
        let model = model.map_err(|error| self.data.in_file(error, |row| selection.number(row)))?;
        // The process ends with this command, and to free a model piece by piece takes long.
        let model = ManuallyDrop::new(model);
        model.save(&self.out)?;
        // Where the model goes through standard output, nothing else does.
        if is_stream(&self.out) {
            return Ok(());
        }
        if self.json {
            return print_data(&self.json_summary(&model, start.elapsed().as_secs_f64()));
        }
        print(&self.summary(&model, start.elapsed().as_secs_f64()))
    }

    /// What was done, for people.
    fn summary(&self, model: &Model, seconds: f64) -> String {
        let names = |names: &[String]| names.join(", ");
        let quality = |losses: &Losses| {
            let loss = |key: &str| losses.get(key.parse().ok()?);
            let f1 = loss("micro_f1").map(|loss| 1.0 - loss)?;
            let (hamming, zero_one) = (loss("hamming")?, loss("zero_one")?);
            Some(format!(
                "Hamming loss {hamming:.3}, zero-one loss {zero_one:.3}, micro F1 {f1:.3}, estimated by rows \
                 not seen"
            ))
        };
        let members = model.members().len();
        let members = if members > 1 { format!(", {members} members") } else { String::new() };
        let lines = [
            ("method", format!("{}{members}", model.method())),
            ("rows", format!("{} of {}", model.n_rows(), self.data.path.display())),
            ("labels", model.label_names().len().to_string()),
            ("features", columns_in_words(model)),
            ("identifiers", names(model.ids())),
            ("left out", names(model.left_out())),
            ("quality", model.out_of_bag().and_then(quality).unwrap_or_default()),
            ("seconds", format!("{seconds:.1}")),
        ];
        let mut page = format!("wrote {}\n", self.out.display());
        for (what, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = writeln!(page, "  {what:<11}  {value}");
        }
        page
    }

    /// The output of `train --json`, whose fields are documented and stay.
    fn json_summary(&self, model: &Model, seconds: f64) -> String {
        let columns = model.columns();
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let summary = json!({
            "model": self.out,
            "method": model.method().to_string(),
            "seed": model.seed(),
            "rows": model.n_rows(),
            "labels": model.label_names(),
            "columns": columns,
            "ids": model.ids(),
            "left_out": model.left_out(),
            "inputs": model.attributes().len(),
            "members": model.members().len(),
            "out_of_bag": model.out_of_bag().map(by_key),
            "seconds": seconds,
        });
        format!("{summary}\n")
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
        let options =
            ReadOptions { roles: self.columns.roles().into(), ..self.data.reading.options() };
        // Rows, the same standardized, and each column sorted: what is learned from is in memory
        // several times.
        let share = options.max_memory / 8;
        // Bags become rows by all of their inputs.
        // Words are found in whole texts.
        let by_column = self.bags.reduction().is_none()
            && options.roles.text.is_empty()
            && self.method.learns_by_column(settings);
        let max_memory = if by_column { share } else { options.max_memory };
        let reading = match read(&self.data.path, &ReadOptions { max_memory, ..options.clone() }) {
            Err(Error::TooLarge { .. }) if by_column => {
                remark(
                    "note: the rows take more than an eighth of --max-memory; they are read a few \
                     columns at a time, which takes longer; probabilities are not calibrated, losses are \
                     not estimated, and dates and identifiers are not looked for",
                );
                // A part of the rows does not show what a column is for.
                let roles = ColumnRoles { find: false, ..(*options.roles).clone() };
                let options = ReadOptions { roles: roles.into(), ..options };
                let parts = read_by_columns(&self.data.path, &options, share)?;
                let selected = |part| selection.of(Table::Rows(part), &self.data.path);
                return chain.fit_by_columns(
                    parts.map(|part| part.and_then(selected).and_then(Table::into_rows)),
                );
            }
            reading => reading?,
        };
        notes(&reading.notes);
        findings(&reading.table);
        self.settings.note_idle(&reading.table);
        let table = selection.of(reading.table, &self.data.path)?;
        match (&table, self.bags.reduction()) {
            (Table::Bags(bags), Some(reduction)) => chain.fit_bags(bags, reduction),
            (Table::Bags(_), None) => Err(Error::NotRows { name: table.rows().name().into() }),
            (Table::Rows(rows), _) => chain.fit(rows),
        }
    }
}
