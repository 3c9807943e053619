//! `labelchain datasets`: the paper's thirty data sets, where to get them, and how to bring them into
//! the paper's form.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use labelchain::catalog::{Figures, PaperSet, Source};
use labelchain::data::ReadOptions;
use labelchain::error::{Error, Result};
use serde_json::{Value, json};

use super::convert_line;
use crate::fetch::{Fetch, Limits};
use crate::memory;
use crate::messages::{Failure, print, print_data, remark};
use crate::progress::Bar;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  labelchain datasets --check data"
)]
pub(crate) struct Datasets {
    #[command(subcommand)]
    action: Option<Action>,

    /// Look for the sets in a directory, bring each into the paper's form, and compare its figures
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Download a set from OpenML, with checksum, into a cache directory
    Fetch(FetchArgs),
}

#[derive(Args)]
struct FetchArgs {
    /// The set's name in the paper
    #[arg(value_name = "NAME")]
    name: String,

    /// Where it is kept [default: $LABELCHAIN_CACHE, else labelchain in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// The server [default: $LABELCHAIN_OPENML, else https://api.openml.org]
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// How often to try; what has arrived is kept, and only the rest is asked for again
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    tries: u32,

    /// Seconds without an answer, or with less than a kilobyte a second of it, until a try is given
    /// up
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,

    /// Seconds before the second try, doubled before each later one
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    wait: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    if (0.001..=3600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0.001 to 3600 seconds".into())
    }
}

impl Datasets {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        if let Some(Action::Fetch(fetch)) = &self.action {
            return fetch.run();
        }
        let Some(directory) = &self.check else {
            if self.json {
                let sets: Vec<Value> = PaperSet::ALL.iter().map(set_json).collect();
                return print_data(&(json!({"sets": sets}).to_string() + "\n"));
            }
            return print(&PaperSet::ALL.iter().map(listed).collect::<String>());
        };
        std::fs::read_dir(directory)
            .map_err(|source| Error::Io { path: directory.clone(), source })?;
        let progress = Bar::spinner("reading");
        let found: Vec<Found> = PaperSet::ALL.iter().map(|set| found_in(set, directory)).collect();
        progress.end();
        if self.json {
            return print_data(&checked_json(&found));
        }
        print(&checked(&found))
    }
}

impl FetchArgs {
    fn run(&self) -> Result<(), Failure> {
        let set = PaperSet::find(&self.name)?;
        let cache = self.cache.clone().or_else(cache_directory).ok_or(Error::Setting {
            name: "--cache",
            value: "not given".into(),
            accepted: "a directory, since this system names none for caches",
        })?;
        let server = self.server.clone().or_else(|| env::var("LABELCHAIN_OPENML").ok());
        let fetch = Fetch {
            server: server.as_deref().unwrap_or("https://api.openml.org"),
            cache: &cache,
            tries: self.tries,
            timeout: Duration::from_secs_f64(self.timeout),
            wait: Duration::from_secs_f64(self.wait),
            // The largest of the paper's sets is far smaller.
            limits: Limits { bytes: 4 << 30, until: Instant::now() + Duration::from_secs(3600) },
        };
        let progress = Bar::spinner("fetching");
        let fetched = fetch.run(set);
        progress.end();
        let fetched = fetched?;
        if fetched.was_cached {
            remark("note: it was here already, with the right checksum");
        }
        print(&format!("{}\n", fetched.file.display()))
    }
}

fn cache_directory() -> Option<PathBuf> {
    let directory =
        |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    directory("LABELCHAIN_CACHE")
        .or_else(|| Some(directory("XDG_CACHE_HOME")?.join("labelchain")))
        .or_else(|| Some(directory("LOCALAPPDATA")?.join("labelchain")))
        .or_else(|| Some(directory("HOME")?.join(".cache/labelchain")))
}

/// The entry of a set in the list: up to three lines.
fn listed(set: &PaperSet) -> String {
    let f = &set.figures;
    let [_, _, _, (_, lc), (_, ld), (_, imbalance)] = f.printed();
    let size = format!("{} x {} x {}", f.n_rows, f.n_features, f.n_labels);
    let mut text = format!(
        "{:>2}  {:<15} {size:<17} LC {lc}  LD {ld}  avIR {imbalance}\n",
        set.number, set.name
    );
    if let Source::Page { page, file, openml } = set.source {
        let openml = openml.map(|(id, _)| format!(", or OpenML {id} (fetch)")).unwrap_or_default();
        let _ = writeln!(text, "    get {file}: {page}{openml}");
    }
    if let Some(line) = convert_line(set) {
        let _ = writeln!(text, "    do  {line}");
    }
    text
}

fn figures_json(figures: &Figures) -> Value {
    json!({
        "rows": figures.n_rows,
        "features": figures.n_features,
        "labels": figures.n_labels,
        "cardinality": figures.cardinality,
        "density": figures.density,
        "mean_imbalance": figures.mean_imbalance,
    })
}

fn set_json(set: &PaperSet) -> Value {
    let (page, file, openml) = match set.source {
        Source::Page { page, file, openml } => (Some(page), Some(file), openml.map(|(id, _)| id)),
        Source::Made { .. } => (None, None, None),
    };
    json!({
        "number": set.number,
        "name": set.name,
        "paper": figures_json(&set.figures),
        "page": page,
        "file": file,
        "openml": openml,
        "convert": convert_line(set),
    })
}

/// A set, and the statistics of its data in a directory: `None` if it is not there.
struct Found {
    set: &'static PaperSet,
    result: Result<Option<Figures>>,
}

fn found_in(set: &'static PaperSet, directory: &Path) -> Found {
    let options = ReadOptions { max_memory: memory::three_quarters(), ..ReadOptions::default() };
    let data = set.open(directory, &options);
    Found { set, result: data.map(|data| data.map(Figures::of)) }
}

impl Found {
    /// The symbols of the statistics that differ from the paper's, both rounded as printed.
    fn differences(&self, figures: &Figures) -> Vec<&'static str> {
        let (ours, papers) = (figures.printed(), self.set.figures.printed());
        let both = ours.into_iter().zip(papers);
        both.filter(|(ours, paper)| ours.1 != paper.1).map(|(ours, _)| ours.0).collect()
    }

    fn verdict(&self) -> String {
        match &self.result {
            Ok(None) => "not here".into(),
            Err(error) => format!("cannot be read: {error}"),
            Ok(Some(figures)) => {
                let made = if self.is_made() { "generated, " } else { "" };
                match &self.differences(figures)[..] {
                    [] => format!("{made}agrees"),
                    differences => format!("{made}differs: {}", differences.join(", ")),
                }
            }
        }
    }

    /// Whether the program generates it.
    fn is_made(&self) -> bool {
        matches!(self.set.source, Source::Made { .. })
    }
}

/// A Markdown table with the statistics of the data, and the paper's after a slash where they differ.
fn checked(found: &[Found]) -> String {
    let mut rows =
        vec![["No", "Set", "N", "d", "L", "LC", "LD", "avIR", "Verdict"].map(String::from)];
    for found in found {
        let papers = found.set.figures.printed();
        let cell = |at: usize| match &found.result {
            Ok(Some(figures)) => {
                let (ours, paper) = (&figures.printed()[at].1, &papers[at].1);
                if ours == paper { ours.clone() } else { format!("{ours} / {paper}") }
            }
            _ => format!("– / {}", papers[at].1),
        };
        let [n, d, l, lc, ld, imbalance] = [0, 1, 2, 3, 4, 5].map(cell);
        let (number, name) = (found.set.number.to_string(), found.set.name.to_string());
        rows.push([number, name, n, d, l, lc, ld, imbalance, found.verdict()]);
    }
    let widths: Vec<usize> = (0..9)
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut page = line(&rows[0]);
    page += &line(&std::array::from_fn(|at| "-".repeat(widths[at])));
    page.extend(rows[1..].iter().map(line));
    let of_files = || found.iter().filter(|found| !found.is_made());
    let n_here = of_files().filter(|found| matches!(found.result, Ok(Some(_)))).count();
    let n_agreeing = of_files().filter(|found| found.verdict() == "agrees").count();
    let n_files = of_files().count();
    let _ = writeln!(
        page,
        "\n{n_here} of {n_files} sets are here in the paper's form, {n_agreeing} of them with all of \
         its figures; {} are generated. Ours / the paper's where they differ.",
        found.len() - n_files
    );
    page
}

fn checked_json(found: &[Found]) -> String {
    let one = |found: &Found| {
        let mut value = set_json(found.set);
        let figures = found.result.as_ref().ok().and_then(Option::as_ref);
        value["found"] = figures.map_or(Value::Null, figures_json);
        value["differences"] =
            figures.map_or(Value::Null, |figures| json!(found.differences(figures)));
        value["problem"] =
            found.result.as_ref().err().map_or(Value::Null, |e| e.to_string().into());
        value
    };
    json!({"sets": found.iter().map(one).collect::<Vec<_>>()}).to_string() + "\n"
}
