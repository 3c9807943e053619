//! `labelchain describe`: what is in a data set, and what is wrong with it.

use std::fmt::Write as _;

use clap::Args;
use labelchain::data::{ColumnRole, ColumnSummary, Description};
use serde::Serialize;

use crate::args::{ColumnArgs, DataFile, note_in_words};
use crate::bars::{bar, cut};
use crate::messages::{Failure, print, print_data};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain describe items.csv --labels 'tag_*'")]
pub(crate) struct Describe {
    #[command(flatten)]
    data: DataFile,

    #[command(flatten)]
    columns: ColumnArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Describe {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let description = self.data.describe(&self.columns)?;
        if self.json {
            return print_data(&json(&description));
        }
        print(&text(&description))
    }
}

/// The output of `describe --json`, whose fields are documented and stay.
#[derive(Serialize)]
struct Json<'a> {
    name: &'a str,
    rows: usize,
    features: usize,
    labels: usize,
    cardinality: f64,
    density: f64,
    mean_imbalance: f64,
    label_names: &'a [String],
    label_counts: &'a [usize],
    columns: Vec<JsonColumn<'a>>,
    notes: Vec<JsonNote<'a>>,
    features_nominal: usize,
    features_date: usize,
    features_text: usize,
    ids: &'a [String],
    left_out: &'a [String],
    features_one_hot: usize,
    rows_without_labels: usize,
    label_sets: usize,
    instances: Option<usize>,
}

#[derive(Serialize)]
struct JsonColumn<'a> {
    name: &'a str,
    kind: &'a str,
    role: &'a str,
    values: Option<usize>,
    missing: usize,
    example: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonNote<'a> {
    code: &'a str,
    text: &'a str,
}

impl JsonColumn<'_> {
    fn of(column: &ColumnSummary) -> JsonColumn<'_> {
        JsonColumn {
            name: &column.name,
            kind: column.kind,
            role: column.role.name(),
            values: column.n_values,
            missing: column.n_missing,
            example: column.example.as_deref(),
        }
    }
}

fn json(description: &Description) -> String {
    let notes = description.notes.iter();
    let json = Json {
        name: &description.name,
        rows: description.n_rows,
        features: description.n_features,
        labels: description.n_labels,
        cardinality: description.cardinality,
        density: description.density,
        mean_imbalance: description.mean_imbalance,
        label_names: &description.label_names,
        label_counts: &description.label_counts,
        columns: description.columns.iter().map(JsonColumn::of).collect(),
        notes: notes.map(|note| JsonNote { code: note.code, text: &note.text }).collect(),
        features_nominal: description.n_nominal,
        features_date: description.n_dates,
        features_text: description.n_texts,
        ids: &description.ids,
        left_out: &description.left_out,
        features_one_hot: description.n_features_one_hot,
        rows_without_labels: description.n_rows_without_labels,
        label_sets: description.n_label_sets,
        instances: description.n_instances,
    };
    // Numbers and text always have a JSON form.
    serde_json::to_string(&json).unwrap_or_default() + "\n"
}

/// The table of columns; nothing where all are numbers that are learned from, of which there is nothing to say.
fn columns(columns: &[ColumnSummary]) -> String {
    const MAX_COLUMNS: usize = 30;
    const MAX_WIDTH: usize = 30;
    let is_plain =
        |column: &ColumnSummary| column.kind == "number" && column.role == ColumnRole::Input;
    if columns.iter().all(is_plain) {
        return String::new();
    }
    let shown = &columns[..columns.len().min(MAX_COLUMNS)];
    let width = shown.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let width = width.clamp(6, MAX_WIDTH);
    let mut page = format!(
        "\n  {:<width$}  {:<8} {:<9} {:>7}  {:>7}  example\n",
        "column", "kind", "role", "values", "missing"
    );
    for column in shown {
        let values =
            column.n_values.map_or(format!("> {}", ColumnSummary::MOST_VALUES), |n| n.to_string());
        // An example may hold line ends.
        let example = column.example.as_deref().unwrap_or_default();
        let example = example.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!(
            "  {:<width$}  {:<8} {:<9} {values:>7}  {:>7}  {}",
            cut(&column.name, width),
            column.kind,
            column.role.name(),
            column.n_missing,
            cut(&example, MAX_WIDTH)
        );
        let _ = writeln!(page, "{}", line.trim_end());
    }
    if shown.len() < columns.len() {
        let _ = writeln!(page, "  … and {} more; --json has all", columns.len() - shown.len());
    }
    page
}

/// The output as text: the statistics, the frequency of the labels as bars, the columns, and the notes.
pub(crate) fn text(description: &Description) -> String {
    const MAX_LABELS: usize = 30;
    const BAR: usize = 40;
    let mut page = String::new();
    let d = description;
    let kinds = [(d.n_nominal, "nominal"), (d.n_dates, "dates"), (d.n_texts, "texts")];
    let kinds = kinds.into_iter().filter(|(n, _)| *n > 0).map(|(n, kind)| match (n, kind) {
        (1, "dates" | "texts") => format!("1 {}", &kind[..kind.len() - 1]),
        _ => format!("{n} {kind}"),
    });
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let kinds = match (kinds.as_str(), d.n_features_one_hot == d.n_features) {
        ("", _) => String::new(),
        (kinds, true) => format!(" ({kinds})"),
        (kinds, false) => format!(" ({kinds}; {} with --one-hot)", d.n_features_one_hot),
    };
    let many = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let instances = d.n_instances.map(|n| format!(" ({n} instances)")).unwrap_or_default();
    let _ = writeln!(
        page,
        "{}: {}{instances}, {}{kinds}, {}\n",
        d.name,
        many(d.n_rows, "row"),
        many(d.n_features, "feature"),
        many(d.n_labels, "label")
    );
    for (what, symbol, value) in [
        ("labels per row", "LC", d.cardinality),
        ("label density", "LD", d.density),
        ("mean imbalance", "avIR", d.mean_imbalance),
    ] {
        let _ = writeln!(page, "  {what:<22}{symbol:>5}  {value:>9.3}");
    }
    let _ = writeln!(page, "  {:<22}       {:>9}", "rows without a label", d.n_rows_without_labels);
    let _ = writeln!(page, "  {:<22}       {:>9}\n", "distinct label sets", d.n_label_sets);

    let shown = d.label_names.len().min(MAX_LABELS);
    let width = d.label_names[..shown].iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = width.clamp(5, 40);
    let _ = writeln!(page, "  {:<width$}  {:>7}   share", "label", "rows");
    for (name, &count) in d.label_names.iter().zip(&d.label_counts).take(shown) {
        let share = if d.n_rows == 0 { 0.0 } else { count as f64 / d.n_rows as f64 };
        let name = cut(name, width);
        let _ = writeln!(
            page,
            "  {name:<width$}  {count:>7}  {:>5.1} %  {}",
            share * 100.0,
            bar(share, BAR)
        );
    }
    if shown < d.label_names.len() {
        let _ = writeln!(page, "  … and {} more; --json has all", d.label_names.len() - shown);
    }
    page.push_str(&columns(&d.columns));
    page.push_str(if d.notes.is_empty() { "\nNo problems found.\n" } else { "\nNotes\n" });
    for note in &d.notes {
        let _ = writeln!(page, "  {:<20} {}", note.code, note_in_words(note));
    }
    page
}
