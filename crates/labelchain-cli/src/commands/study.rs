//! `labelchain study`: compares many methods on many data sets, and can be interrupted and resumed.

use std::fmt::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::HumanDuration;
use labelchain::data::save;
use labelchain::error::{Error, Result};
use labelchain::stats::TestPlan;
use labelchain::study::{
    self, MethodSpec, Only, Protocol, SetSource, Shard, State, Status, StudyOptions, Summary,
};
use serde_json::{Map, Value, json};

use super::compare::ComparisonArgs;
use crate::args::{ForceArgs, NameArgs, cores, folds_in_words, not_over};
use crate::interrupt;
use crate::memory;
use crate::messages::{Failure, print, print_data, remark};
use crate::progress::Bar;

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain study run paper.toml
  labelchain study report paper.toml -o report")]
pub(crate) struct Study {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Subcommand)]
enum StudyCommand {
    /// Compute what is left of a study; cells that are done are kept
    Run(Run),
    /// Show what is done, running, failed or missing
    Status(ShowStatus),
    /// Compare the methods: ranks, tests, tables, figures
    Report(Report),
    /// Write the losses as a table, for labelchain compare and other tools
    Export(Export),
    /// Make one file of results from several
    Merge(Merge),
}

impl Study {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.command {
            StudyCommand::Run(run) => run.run(),
            StudyCommand::Status(status) => status.run(),
            StudyCommand::Report(report) => report.run(),
            StudyCommand::Export(export) => export.run(),
            StudyCommand::Merge(merge) => merge.run(),
        }
    }
}

/// A protocol, its data and its results.
#[derive(Args)]
struct Files {
    /// What to compare: a TOML file with sets and methods
    #[arg(value_name = "PROTOCOL")]
    protocol: PathBuf,

    /// Where the results are [default: PROTOCOL's name with .db]
    #[arg(short, long, value_name = "FILE.db")]
    results: Option<PathBuf>,

    /// Where the data files are [default: as the protocol says]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Only these: set=yeast,flags method=ecc-nb; when it is run, also fold=0,1
    #[arg(long, value_name = "WHAT", num_args = 1.., value_parser = selection)]
    only: Vec<String>,
}

impl Files {
    /// What a study is made of and must not be written over: protocol, results and data.
    fn inputs(&self, protocol: &Protocol) -> Vec<PathBuf> {
        let data = protocol.sets.iter().flat_map(|set| set.source.files());
        [self.protocol.clone(), self.results()].into_iter().chain(data).collect()
    }

    fn protocol(&self) -> Result<Protocol> {
        Protocol::read(&self.protocol, self.data.as_deref())
    }

    /// The protocol with only the sets and methods selected by `--only`.
    fn part(&self) -> Result<Protocol> {
        self.protocol()?.only(&self.only()?)
    }

    fn only(&self) -> Result<Only> {
        if self.only.is_empty() { Ok(Only::default()) } else { self.only.join(",").parse() }
    }

    fn results(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(|| study::results_beside(&self.protocol))
    }

    /// The same, for whoever needs something to be there.
    fn results_so_far(&self) -> Result<PathBuf> {
        let path = self.results();
        if path.exists() {
            return Ok(path);
        }
        let problem = "no results yet".into();
        let remedy = "study run with the same PROTOCOL computes them".into();
        Err(Error::Results { path, problem, remedy })
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain study run paper.toml
  labelchain study run paper.toml --only set=yeast,flags method=ecc-nb
  labelchain study run paper.toml --shard 1/2 --results first.db")]
struct Run {
    #[command(flatten)]
    files: Files,

    /// Cores to use, each for a fold of its own; of fewer folds, each has its share [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = cores)]
    jobs: Option<NonZero<usize>>,

    /// One part of several, for machines that share the work: 3/10 is the third of ten
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Refuse a data set that needs more memory than this, such as 500M or 8G, or a fold that needs
    /// more than a job's share of it [default: three quarters of the machine's]
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount)]
    max_memory: Option<u64>,
}

/// A value of `--only`, which must contain an equals sign. Otherwise `--only set=yeast p.toml` would
/// take the protocol for another value.
fn selection(text: &str) -> Result<String, String> {
    if text.contains('=') {
        Ok(text.into())
    } else {
        Err("expected set=NAMES, method=NAMES or fold=NUMBERS; PROTOCOL goes before --only".into())
    }
}

impl Run {
    fn run(&self) -> Result<(), Failure> {
        let protocol = self.files.protocol()?;
        let options = StudyOptions {
            jobs: self.jobs,
            shard: self.shard.unwrap_or(Shard::WHOLE),
            only: self.files.only()?,
            max_memory: self.max_memory.unwrap_or_else(memory::three_quarters),
        };
        let results = self.files.results();
        let mut bar = None;
        let mut progress = |at: &study::RunProgress| {
            let bar = bar.get_or_insert_with(|| Bar::uneven("cell", at.n_cells));
            bar.say(at.n_done + at.n_failed, left(at));
        };
        let summary = study::run(&protocol, &results, &options, &mut progress, interrupt::flag());
        bar.iter().for_each(Bar::end);
        let summary = summary?;
        if !summary.missing.is_empty() {
            remark(&format!("note: without data: {}", summary.missing.join(", ")));
        }
        print(&summary_text(&summary, &results))?;
        match summary {
            Summary { is_interrupted: true, .. } => Err(Failure::Interrupted),
            Summary { n_failed: 0, .. } => Ok(()),
            Summary { n_failed, .. } => Err(Failure::Cells(n_failed)),
        }
    }
}

/// The text after the progress bar.
fn left(at: &study::RunProgress) -> String {
    let mut text = String::new();
    if let Some(seconds) = at.seconds_left {
        let _ = write!(text, ", {:#} left", HumanDuration(Duration::from_secs_f64(seconds)));
    }
    if at.n_failed > 0 {
        let _ = write!(text, ", {} failed", at.n_failed);
    }
    if let Some((set, method, fold)) = &at.latest {
        let _ = write!(text, " · {set}, {method}, fold {fold}");
    }
    text
}

fn summary_text(summary: &Summary, results: &Path) -> String {
    let cells = |n: usize| format!("{n} cell{}", if n == 1 { "" } else { "s" });
    let mut text = format!("{}: {} done", results.display(), cells(summary.n_done));
    if summary.n_kept > 0 {
        let _ = write!(text, ", {} kept", summary.n_kept);
    }
    if summary.n_failed > 0 {
        let _ = write!(text, ", {} failed", summary.n_failed);
    }
    text + "\n"
}

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain study status paper.toml")]
struct ShowStatus {
    #[command(flatten)]
    files: Files,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl ShowStatus {
    fn run(&self) -> Result<(), Failure> {
        let protocol = self.files.part()?;
        let status = study::status(&protocol, &self.files.results())?;
        if self.json {
            return print_data(&json(&protocol, &status));
        }
        print(&text(&protocol, &status))
    }
}

fn json(protocol: &Protocol, status: &Status) -> String {
    let state = |state: &State| {
        json!({
            "done": state.n_done,
            "failed": state.n_failed,
            "running": state.n_running,
            "missing": state.is_missing,
        })
    };
    let row = |states: &Vec<State>| {
        let methods = protocol.methods.iter().map(|method| method.name.clone());
        Value::Object(methods.zip(states.iter().map(state)).collect())
    };
    let sets = protocol.sets.iter().map(|set| set.name.clone());
    let failed = status.failed.iter().map(|((dataset, method, fold), error)| {
        json!({"dataset": dataset, "method": method, "fold": fold, "error": error})
    });
    let json = json!({
        "folds": protocol.n_folds,
        "sets": sets.zip(status.grid.iter().map(row)).collect::<Map<String, Value>>(),
        "failed": failed.collect::<Vec<Value>>(),
        "cpu_seconds": status.cpu_seconds,
        "peak_memory": status.peak_memory,
    });
    json.to_string() + "\n"
}

/// The output as text: a grid of sets and methods, then the cells that failed.
fn text(protocol: &Protocol, status: &Status) -> String {
    let n_folds = protocol.n_folds;
    let states = || status.grid.iter().flatten();
    let mut page = format!(
        "{} sets x {} methods x {n_folds} folds: {} of {} cells done",
        protocol.sets.len(),
        protocol.methods.len(),
        states().map(|state| state.n_done).sum::<usize>(),
        states().count() * n_folds,
    );
    for (what, n) in [
        ("running", states().map(|state| state.n_running).sum::<usize>()),
        ("failed", states().map(|state| state.n_failed).sum()),
    ] {
        if n > 0 {
            let _ = write!(page, ", {n} {what}");
        }
    }
    if status.cpu_seconds > 0.0 {
        let cpu = HumanDuration(Duration::from_secs_f64(status.cpu_seconds));
        let _ = write!(page, "; {cpu:#} of processors");
    }
    if let Some(bytes) = status.peak_memory {
        let _ = write!(page, ", at most {} MiB", bytes >> 20);
    }
    page.push_str("\n\n");

    let shown: Vec<Vec<String>> = status
        .grid
        .iter()
        .map(|row| row.iter().map(|state| in_words(state, n_folds)).collect())
        .collect();
    let names = protocol.sets.iter().map(|set| set.name.chars().count());
    let first = names.max().unwrap_or(0).max(3);
    let width = |at: usize| {
        let cells = shown.iter().map(|row| row[at].chars().count());
        cells.chain([protocol.methods[at].name.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..protocol.methods.len()).map(width).collect();
    let _ = write!(page, "  {:<first$}", "set");
    for (method, width) in protocol.methods.iter().zip(&widths) {
        let _ = write!(page, "  {:>width$}", method.name);
    }
    page.push('\n');
    for (set, row) in protocol.sets.iter().zip(&shown) {
        let _ = write!(page, "  {:<first$}", set.name);
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(page, "  {cell:>width$}");
        }
        page.push('\n');
    }

    // Often all folds of a method fail for the same reason, and are shown in one line.
    let mut failed = status.failed.iter().peekable();
    if failed.peek().is_some() {
        page.push_str("\nFailed\n");
    }
    while let Some(((set, method, fold), error)) = failed.next() {
        let mut folds = fold.to_string();
        while let Some(((_, _, fold), _)) =
            failed.next_if(|((other, by, _), why)| (other, by, why) == (set, method, error))
        {
            let _ = write!(folds, ", {fold}");
        }
        let _ = writeln!(page, "  {set}, {method}, fold {folds}: {error}");
    }
    page
}

fn in_words(state: &State, n_folds: usize) -> String {
    let mut text = match state.n_done {
        done if done == n_folds => "done".into(),
        0 if state.is_missing => "missing".into(),
        0 if state.n_failed + state.n_running == 0 => "–".into(),
        done => format!("{done}/{n_folds}"),
    };
    for (what, n) in [("running", state.n_running), ("failed", state.n_failed)] {
        if n > 0 {
            let _ = write!(text, ", {n} {what}");
        }
    }
    text
}

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain study export paper.toml -o losses.csv")]
struct Export {
    #[command(flatten)]
    files: Files,

    /// The table to write: dataset,method,criterion,fold,loss,seconds [default: standard output]
    #[arg(short, long, value_name = "FILE.csv")]
    out: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    names: NameArgs,
}

impl Export {
    fn run(&self) -> Result<(), Failure> {
        let protocol = self.files.part()?;
        let database = self.files.results_so_far()?;
        let results = study::results(&protocol, &database)?;
        let names = self.names.names();
        match &self.out {
            Some(out) if out != Path::new("-") => {
                let inputs = self.files.inputs(&protocol);
                not_over(&inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(), out)?;
                self.force.check_new(out)?;
                Ok(save(out, |file| results.write(names, file))?)
            }
            _ => {
                let mut text = Vec::new();
                results.write(names, &mut text).map_err(Failure::Output)?;
                print_data(&String::from_utf8_lossy(&text))
            }
        }
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain study report paper.toml -o report
  labelchain study report paper.toml --only method=ecc-nb,oocc-nb --compare-paper results_nb.csv -o nb")]
struct Report {
    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    comparison: ComparisonArgs,
}

impl Report {
    fn run(&self) -> Result<(), Failure> {
        let protocol = self.files.part()?;
        let database = self.files.results_so_far()?;
        let results = study::finished_results(&protocol, &database)?;
        if results.datasets().is_empty() {
            return Err(Failure::Library(Error::Results {
                path: database,
                problem: "no method has done all folds of a set".into(),
                remedy: "study status tells what is done, failed or missing".into(),
            }));
        }
        let status = study::status(&protocol, &database)?;
        if let Some(incomplete) = incomplete(&protocol, &status) {
            remark(&format!(
                "note: {incomplete} Methods that lack folds of a set have a gap there."
            ));
        }
        let mut notes = notes(&protocol, &status);
        if !self.files.only.is_empty() {
            let part = format!("A part of the protocol: {}.", self.files.only.join(" "));
            remark(&format!("note: {part}"));
            notes.insert(1, part);
        }
        let name = self.files.protocol.file_stem().unwrap_or_default().to_string_lossy();
        let inputs = self.files.inputs(&protocol);
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        let alpha = protocol.alpha.unwrap_or(TestPlan::ALPHA);
        self.comparison.run(&name, results, alpha, notes, &inputs)
    }
}

/// A sentence about the cells that are done, unless all are.
fn incomplete(protocol: &Protocol, status: &Status) -> Option<String> {
    let n_cells = protocol.sets.len() * protocol.methods.len() * protocol.n_folds;
    let n_done: usize = status.grid.iter().flatten().map(|state| state.n_done).sum();
    (n_done < n_cells).then(|| {
        format!(
            "The study is not complete: {n_done} of {n_cells} cells are done, {} failed.",
            status.failed.len()
        )
    })
}

/// The settings that are not left at their defaults: those that all methods have which use them, then those
/// of single methods.
fn settings_in_words(protocol: &Protocol) -> Option<String> {
    let has =
        |spec: &MethodSpec, setting: (&str, &str)| spec.settings.iter().any(|own| own == setting);
    let (mut common, mut single) = (Vec::new(), Vec::new());
    for spec in &protocol.methods {
        let used = spec.settings.iter().filter(|(name, _)| spec.method.uses(name));
        let (shared, own): (Vec<_>, Vec<_>) = used.partition(|&setting| {
            let mut users = protocol.methods.iter().filter(|other| other.method.uses(setting.0));
            users.all(|other| has(other, setting))
        });
        let in_words = |(name, value): (&str, &str)| format!("{name} {value}");
        common.extend(shared.into_iter().map(in_words));
        if !own.is_empty() {
            let own: Vec<String> = own.into_iter().map(in_words).collect();
            single.push(format!("{} with {}", spec.name, own.join(", ")));
        }
    }
    common.sort();
    common.dedup();
    let parts: Vec<String> = [common.join(", "), single.join("; ")].into();
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| format!("Settings other than the defaults: {}.", parts.join("; ")))
}

/// What a reader of the report must know about the study.
fn notes(protocol: &Protocol, status: &Status) -> Vec<String> {
    let mut notes = vec![format!(
        "A study by labelchain {}: {}, seed {}.",
        env!("CARGO_PKG_VERSION"),
        folds_in_words(protocol.n_folds, protocol.stratify),
        protocol.seed
    )];
    notes.extend(settings_in_words(protocol));
    notes.extend(incomplete(protocol, status));
    let time = match status.cpu_seconds {
        seconds if seconds < 60.0 => format!("{seconds:.1} seconds"),
        seconds if seconds < 3600.0 => format!("{:.1} minutes", seconds / 60.0),
        seconds => format!("{:.1} hours", seconds / 3600.0),
    };
    let memory = status.peak_memory.map(|bytes| format!(" and at most {} MiB", bytes >> 20));
    notes.push(format!(
        "The methods cost {time} of processors{}; what they share, done once, is counted for each.",
        memory.unwrap_or_default()
    ));
    let methods = protocol.methods.iter().filter(|spec| spec.method.strategy().is_reconstruction);
    let sets = protocol.sets.iter().filter(|spec| match &spec.source {
        SetSource::Paper { set, .. } => set.is_reconstruction(),
        SetSource::File { .. } => false,
    });
    let reconstructions: Vec<&str> =
        methods.map(|spec| spec.name.as_str()).chain(sets.map(|spec| spec.name.as_str())).collect();
    if !reconstructions.is_empty() {
        notes.push(format!(
            "Reconstructions, where their descriptions leave parts open: {}.",
            reconstructions.join(", ")
        ));
    }
    notes
}

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain study merge all.db first.db second.db")]
struct Merge {
    /// The file to make, or to add to
    #[arg(value_name = "OUT.db")]
    out: PathBuf,

    /// Results of parts of the study
    #[arg(value_name = "PART.db", required = true)]
    parts: Vec<PathBuf>,
}

impl Merge {
    fn run(&self) -> Result<(), Failure> {
        let merged = study::merge(&self.out, &self.parts)?;
        let (out, n_cells, n_new) = (self.out.display(), merged.n_cells, merged.n_new);
        print(&format!("{out}: {n_cells} cells, {n_new} of them new\n"))
    }
}
