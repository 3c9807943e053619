//! What was typed.

use std::collections::HashSet;
use std::iter;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use labelchain::base::BASES;
use labelchain::data::label_list::xml_beside;
use labelchain::data::stratify::Balance;
use labelchain::data::{
    Attribute, AttributeKind, Checksums, ColumnRoles, CsvNames, Dataset, Delimiter, Description,
    Encoding, Format, IdColumn, LabelChoice, LabelMatrix, MissingLabels, Note, ReadOptions,
    Reading, RowNumbers, Streams, Table, Threshold, is_stream, read, read_in_blocks,
};
use labelchain::decide::{AIMS, Aim};
use labelchain::ensemble::STRATEGIES;
use labelchain::error::{Error, Result};
use labelchain::method::{Registered, registry};
use labelchain::model::AlignedRows;
use labelchain::prepare::{BagReduction, MedoidStart, TextSettings};
use labelchain::report::is_report;
use labelchain::settings::AnySetting;
use labelchain::study::StudyOptions;
use labelchain::{Method, Model, Settings};

use crate::commands::{
    Compare, Completions, Convert, Datasets, Demo, Describe, Evaluate, Explain, Generate, Man,
    Predict, Score, Serve, Show, Split, Study, Train, Update,
};
use crate::memory;
use crate::messages::{Failure, remark};

/// Multi-label learning with classifier chains that choose their label order for each row,
/// without retraining.
#[derive(Parser)]
#[command(name = "labelchain", version, arg_required_else_help = true, after_help = AFTER)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Start with labelchain demo, which needs no files. The help of each command ends with an example:
labelchain train --help.

Exit status: 0 done, 1 a study finished but some of its cells failed, 2 wrong request or file
content, 3 the system refused to open, read or write, 130 interrupted.";

/// In the order in which data meets them.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// See it work: compare five methods on data it makes itself, explain one prediction
    Demo(Demo),
    /// List the paper's thirty data sets: where they are, what to do with them
    Datasets(Datasets),
    /// Make a synthetic data set
    Generate(Generate),
    /// Show a data set's size, label balance, and every problem found in it
    Describe(Describe),
    /// Write a data set in another format, smaller, or with bags as single rows
    Convert(Convert),
    /// Cut a data set into folds or a hold-out, as row numbers
    Split(Split),
    /// Train a method and keep the model in a file
    Train(Train),
    /// Let a model learn from further rows: forests, and naive Bayes trained with --updatable
    Update(Update),
    /// Show what is in a model file
    Show(Show),
    /// Label the rows of a file with a trained model
    Predict(Predict),
    /// Tell how one row is labelled: what the members say, in which order, and why
    Explain(Explain),
    /// Serve a model to programs and browsers on this machine, with a page to look at it
    Serve(Serve),
    /// Measure the eleven losses of two files, truth and prediction
    Score(Score),
    /// Cross-validate methods: all eleven losses
    Evaluate(Evaluate),
    /// Run methods on many data sets: resumable, then reported
    Study(Study),
    /// Compare methods over many data sets: ranks, tests, who cannot be told apart
    Compare(Compare),
    /// Print completions for a shell
    Completions(Completions),
    /// Write the manual as pages for man
    Man(Man),
}

/// A data file and how to read it.
#[derive(Args)]
pub(crate) struct DataFile {
    /// The data: .arff .csv .tsv .jsonl .parquet .svm .libsvm, each also with .gz or .bz2; - is standard
    /// input, with --format
    #[arg(value_name = "DATA")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl DataFile {
    pub(crate) fn read(&self) -> Result<Reading> {
        read(&self.path, &self.reading.options())
    }

    /// The same, with columns that are no inputs set apart, or found.
    pub(crate) fn read_columns(&self, columns: &ColumnArgs) -> Result<Reading> {
        read(&self.path, &ReadOptions { roles: columns.roles().into(), ..self.reading.options() })
    }

    /// What is in the file, column by column.
    pub(crate) fn describe(&self, columns: &ColumnArgs) -> Result<Description> {
        let roles = columns.roles().into();
        Description::of_file(&self.path, &ReadOptions { roles, ..self.reading.options() })
    }

    /// The same error about a cell, by its place in the file; `row` gives the row's place there.
    pub(crate) fn in_file(&self, error: Error, row: impl FnOnce(usize) -> usize) -> Error {
        error.in_whole(self.path.display().to_string(), row)
    }

    /// Refuses to write over the data or its label list.
    pub(crate) fn not_over(&self, out: &Path) -> Result<()> {
        let list = self.reading.labels_xml.clone().unwrap_or_else(|| xml_beside(&self.path));
        not_over(&[&self.path, &list], out)
    }
}

/// What columns are for that are no labels.
#[derive(Args)]
pub(crate) struct ColumnArgs {
    /// A column that is left out (repeatable)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    drop: Vec<String>,

    /// A column that says which row is which: not learned from, and carried into every output (repeatable)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    id: Vec<String>,

    /// A column of texts, whose words and pairs of words are learned from (repeatable)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    text: Vec<String>,

    /// A column that is learned from as it is, though it looks like an identifier, a date or a text (repeatable)
    #[arg(long, value_name = "COLUMN", help_heading = COLUMNS)]
    keep: Vec<String>,
}

const COLUMNS: &str = "Other columns";

impl ColumnArgs {
    /// What is said, and that dates and identifiers are to be found.
    pub(crate) fn roles(&self) -> ColumnRoles {
        let ColumnArgs { drop, id, text, keep } = self;
        let [drop, id, text, keep] = [drop, id, text, keep].map(Vec::clone);
        ColumnRoles { drop, id, text, keep, find: true }
    }
}

/// A model file.
#[derive(Args)]
pub(crate) struct ModelFile {
    /// The model, as written by labelchain train
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
}

impl ModelFile {
    pub(crate) fn load(&self, max_memory: Option<u64>) -> Result<Model> {
        Model::load(&self.model, max_memory.unwrap_or_else(memory::three_quarters))
    }
}

/// Refuses a member that the model does not have.
pub(crate) fn check_member(model: &Model, member: usize) -> Result<()> {
    let n = model.members().len();
    if member < n {
        return Ok(());
    }
    Err(Error::Setting {
        name: "--member",
        value: format!("{member} and the model has {n} members"),
        accepted: "one of them, counted from 0; labelchain show lists them",
    })
}

/// What label cells mean in rows that are to be labelled.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LabelsOfRows {
    /// Nothing.
    Ignored,
    /// What they say is known.
    Known,
}

/// A model file and rows to be labelled.
#[derive(Args)]
pub(crate) struct ModelAndRows {
    #[command(flatten)]
    model: ModelFile,

    #[command(flatten)]
    pub(crate) data: DataFile,
}

impl ModelAndRows {
    pub(crate) fn model_path(&self) -> &Path {
        &self.model.model
    }

    /// Refuses to write over either of them.
    pub(crate) fn not_over(&self, out: &Path) -> Result<()> {
        not_over(&[self.model_path()], out)?;
        self.data.not_over(out)
    }

    pub(crate) fn model(&self) -> Result<Model> {
        self.data.reading.keep_every_row()?;
        self.model.load(self.data.reading.max_memory)
    }

    /// The rows as the file has them, so many at a time, with what the reader has to say. `ids` are columns that
    /// say which row is which, besides those that the model knows.
    fn blocks<'m>(
        &'m self,
        model: &'m Model,
        ids: &'m [String],
        n_rows: usize,
        labels: LabelsOfRows,
    ) -> Result<impl Iterator<Item = Result<(Dataset, Vec<Note>)>> + 'm> {
        let path = &self.data.path;
        let options = self.data.reading.for_model(model, ids, path, labels)?;
        let blocks = read_in_blocks(path, &options, n_rows)?;
        Ok(blocks.map(move |block| {
            let mut block = block?;
            // With --known, what is missing is asked for; without, no label cell is looked at.
            let has_missing = block.notes.iter().any(|note| note.code == "missing-labels");
            block.notes.retain(|note| note.code != "missing-labels");
            if has_missing && labels == LabelsOfRows::Ignored {
                let text = "some labels are there and others missing, and all of them are ignored";
                block.notes.push(Note { code: "ignored-labels", text: text.into() });
            }
            let rows = model.rows(block.table, path)?;
            // An answer does not depend on whether another row has the same identifier.
            let (rows, _) = self.with_ids(model, ids, rows)?;
            Ok((rows, block.notes))
        }))
    }

    /// The same rows, with the columns set apart that say which row is which: those that are asked for, and
    /// those of the model that are there; and what is noted about them.
    pub(crate) fn with_ids(
        &self,
        model: &Model,
        ids: &[String],
        rows: Dataset,
    ) -> Result<(Dataset, Vec<Note>)> {
        let is_there = |name: &&String| rows.attributes().iter().any(|of| of.name == **name);
        let of_model = model.ids().iter().filter(|name| !ids.contains(name)).filter(is_there);
        let id: Vec<String> = ids.iter().chain(of_model).cloned().collect();
        if id.is_empty() {
            return Ok((rows, vec![]));
        }
        let roles = ColumnRoles { id, ..ColumnRoles::default() };
        roles.apply(rows, &self.data.path)
    }

    /// The selected rows, of so many at a time: as the file has them, and as the model takes them.
    pub(crate) fn rows<'m>(
        &'m self,
        model: &'m Model,
        selection: &'m Selection,
        ids: &'m [String],
        n_rows: usize,
        labels: LabelsOfRows,
    ) -> Result<impl Iterator<Item = Result<(Dataset, AlignedRows<'m>)>> + 'm> {
        let (mut noted, mut n_read, mut n_given) = (HashSet::new(), 0, 0);
        let blocks = self.blocks(model, ids, n_rows, labels)?.map(Some).chain(iter::once(None));
        let given = move |block: Option<Result<(Dataset, Vec<Note>)>>| {
            let Some(block) = block else {
                // Only now is it known how many rows there are.
                return selection.check(&self.data.path, n_read).map(|()| None);
            };
            let (block, notes) = block?;
            let more = if block.n_rows() == n_rows { ", and maybe more in later rows" } else { "" };
            let found = selection.of_block(block, &mut n_read);
            let Some(found) = found else { return Ok(None) };
            let mut rows = self.aligned(model, &found, |row| selection.number(n_given + row))?;
            if labels == LabelsOfRows::Known {
                rows = rows.given(self.known_labels(model, &found)?)?;
            }
            n_given += found.n_rows();
            for note in notes.iter().chain(rows.notes()).filter(|note| noted.insert(note.code)) {
                let more = if note.code == "ignored-labels" { "" } else { more };
                remark(&format!("note: {}{more}", note_in_words(note)));
            }
            Ok(Some((found, rows)))
        };
        Ok(blocks.map(given).filter_map(Result::transpose))
    }

    /// One row, by its number or by what a column says that tells rows apart: its number, and the row as the
    /// model takes it.
    pub(crate) fn row<'m>(
        &self,
        model: &'m Model,
        choice: &RowChoice,
    ) -> Result<(usize, AlignedRows<'m>)> {
        let RowChoice { row, id } = choice;
        if id.is_some() && model.ids().is_empty() {
            return Err(Error::Setting {
                name: "--id",
                value: "given, and the model knows no column that tells rows apart".into(),
                accepted: "left out for --row, or used with a model that was trained with --id COLUMN",
            });
        }
        let (mut first, mut has_ids) = (0, false);
        for block in self.blocks(model, &[], 4096, LabelsOfRows::Ignored)? {
            let (found, of_block) = block?;
            notes(&of_block);
            has_ids |= !found.ids().is_empty();
            let place = match id {
                Some(id) => {
                    let place = |of: &IdColumn| of.cells.iter().position(|cell| cell == id);
                    found.ids().iter().find_map(place)
                }
                None => Some(row.unwrap_or(0) - first).filter(|&place| place < found.n_rows()),
            };
            if let Some(place) = place {
                let row = first + place;
                let aligned = self.aligned(model, &found.select(&[place]), |_| row)?;
                notes(aligned.notes());
                return Ok((row, aligned));
            }
            first += found.n_rows();
        }
        if let Some(id) = id {
            let names: Vec<String> = model.ids().iter().map(|it| format!("{it:?}")).collect();
            let names = names.join(" or ");
            return Err(Error::Columns {
                path: self.data.path.clone(),
                problem: match has_ids {
                    true => format!("has no row whose {names} is {id:?}"),
                    false => format!("has no column {names}, by which the model tells rows apart"),
                },
                remedy: "look it up in the file, or count rows from 0 with --row".into(),
            });
        }
        let row = row.unwrap_or(0);
        let purpose = format!("--row {row} (rows count from 0)");
        Err(Error::TooFewRows { needed: row.saturating_add(1), found: first, purpose })
    }

    /// The label cells of some rows. That there are none at all is more likely a slip than a wish.
    fn known_labels(&self, model: &Model, found: &Dataset) -> Result<LabelMatrix> {
        if found.n_labels() == 0 {
            return Err(Error::Columns {
                path: self.data.path.clone(),
                problem: "has a column for none of the model's labels, so no label is known".into(),
                remedy: "name columns as the labels are named, with 1, 0 or nothing in them".into(),
            });
        }
        model.known_labels(found)
    }

    /// Some rows as the model takes them; `row` gives the place of each in the file.
    fn aligned<'m>(
        &self,
        model: &'m Model,
        some: &Dataset,
        row: impl FnOnce(usize) -> usize,
    ) -> Result<AlignedRows<'m>> {
        let aligned = model.align(some, &self.data.path);
        aligned.map_err(|error| self.data.in_file(error, row))
    }
}

/// Which row of a data file is meant.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RowChoice {
    /// Which row, counted from 0
    #[arg(long, value_name = "N")]
    row: Option<usize>,

    /// Which row, by what it has in a column that the model was trained with as --id
    #[arg(long, value_name = "VALUE")]
    id: Option<String>,
}

/// Which rows of a data file are used.
#[derive(Args)]
pub(crate) struct RowArgs {
    /// Only some rows: a file of their numbers, from 0, one a line, as labelchain split writes them.
    /// They are taken in the order of the data
    #[arg(long, value_name = "FILE", help_heading = READING)]
    rows: Option<PathBuf>,
}

impl RowArgs {
    pub(crate) fn read(&self, max_memory: u64) -> Result<Selection> {
        let list = self.rows.as_ref().map(|path| RowNumbers::read(path, max_memory));
        list.transpose().map(Selection)
    }

    /// Refuses to write over the list.
    pub(crate) fn not_over(&self, out: &Path) -> Result<()> {
        self.rows.iter().try_for_each(|list| not_over(&[list], out))
    }
}

/// The rows of a data file that a request is about: those of a list, or all.
pub(crate) struct Selection(Option<RowNumbers>);

impl Selection {
    /// How many rows the list has; none where all are meant.
    pub(crate) fn n_listed(&self) -> Option<usize> {
        self.0.as_ref().map(|list| list.rows().len())
    }

    /// The number in the file of the row that is `at`th of these.
    pub(crate) fn number(&self, at: usize) -> usize {
        self.0.as_ref().and_then(|list| list.rows().get(at)).copied().unwrap_or(at)
    }

    /// Refuses a list of rows that the file `path` does not have.
    fn check(&self, path: &Path, n_rows: usize) -> Result<()> {
        self.0.as_ref().map_or(Ok(()), |list| list.in_data(path, n_rows).map(|_| ()))
    }

    /// These rows of a table that holds all rows of the file `path`.
    pub(crate) fn of(&self, table: Table, path: &Path) -> Result<Table> {
        let Some(list) = &self.0 else { return Ok(table) };
        Ok(table.select(list.in_data(path, table.rows().n_rows())?))
    }

    /// These rows of a block, before which the file has `n_read` rows; none if the list has none of
    /// them.
    fn of_block(&self, block: Dataset, n_read: &mut usize) -> Option<Dataset> {
        let first = *n_read;
        *n_read += block.n_rows();
        let Some(list) = &self.0 else { return Some(block) };
        let rows: Vec<usize> = list.within(first..*n_read).iter().map(|row| row - first).collect();
        (!rows.is_empty()).then(|| block.select(&rows))
    }

    /// What follows a number of rows in a text.
    pub(crate) fn in_words(&self) -> String {
        let listed = |list: &RowNumbers| format!(" listed in {}", list.path().display());
        self.0.as_ref().map(listed).unwrap_or_default()
    }
}

/// Refuses to write over a file that is read, whatever names they have.
pub(crate) fn not_over(inputs: &[&Path], out: &Path) -> Result<()> {
    if out != Path::new("-") && inputs.iter().any(|path| is_same_file(path, out)) {
        return Err(Error::CannotWrite {
            path: out.into(),
            what: "is also a file to be read".into(),
            remedy: "write under another name".into(),
        });
    }
    Ok(())
}

/// Whether two names lead to one file, through symbolic links or as second names of it.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let identity = |path: &Path| {
        use std::os::unix::fs::MetadataExt as _;
        path.metadata().ok().filter(|about| about.is_file()).map(|about| (about.dev(), about.ino()))
    };
    #[cfg(not(unix))]
    let identity = |path: &Path| path.canonicalize().ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Tells what a reader had to decide.
pub(crate) fn notes(notes: &[Note]) {
    notes.iter().for_each(|note| remark(&format!("note: {}", note_in_words(note))));
}

/// Says in a line what `describe` finds in the data, beyond what the reader has said.
pub(crate) fn findings(table: &Table) {
    // That rows are bags is no problem.
    let Table::Rows(_) = table else { return };
    let found = Description::of(table, &[]).notes;
    let codes: Vec<&str> = found.iter().map(|note| note.code).collect();
    if !codes.is_empty() {
        remark(&format!("note: labelchain describe says more about {}", codes.join(", ")));
    }
}

/// A note, and which option changes what it says.
pub(crate) fn note_in_words(note: &Note) -> String {
    let remedy = match note.code {
        "identifiers" => "; --id COLUMN carries such a column along, --keep COLUMN learns from it",
        "texts" => "; --text COLUMN learns from the words",
        "almost-dates" => "; --keep COLUMN learns from them as names",
        "tag-separator" => "; --tag-separator says what it is",
        "dates" => "; --keep COLUMN takes them for names",
        "ignored-labels" => "; --known keeps those that are there",
        _ => "",
    };
    format!("{}{remedy}", note.text)
}

/// How to read a data file. Which columns are labels: the first of these ways that applies.
#[derive(Args)]
pub(crate) struct ReadingArgs {
    /// Label columns by name, in this order: a,b,c; in quotes, 'tag_*' stands for many
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = LABELS)]
    labels: Option<Vec<String>>,

    /// The first N columns are labels
    #[arg(long, value_name = "N", help_heading = LABELS)]
    labels_first: Option<usize>,

    /// The last N columns are labels
    #[arg(long, value_name = "N", help_heading = LABELS)]
    labels_last: Option<usize>,

    /// A Mulan label file; without it, DATA's name with .xml is looked for, then -C in ARFF
    #[arg(long, value_name = "FILE", help_heading = LABELS)]
    labels_xml: Option<PathBuf>,

    /// One column of delimited tags; each distinct tag is a label
    #[arg(long, value_name = "COLUMN", help_heading = LABELS)]
    tags: Option<String>,

    /// What stands between two tags [default: ;]
    #[arg(long, value_name = "TEXT", help_heading = LABELS)]
    tag_separator: Option<String>,

    /// Make numeric labels relevant or irrelevant by a comparison such as '>0'
    #[arg(long, value_name = "COMPARISON", help_heading = READING)]
    binarize: Option<Threshold>,

    /// What to do with rows whose labels are missing: refuse them, read the labels as irrelevant, drop
    /// the rows, or learn from the labels that are there
    #[arg(long, value_enum, default_value_t = MissingLabelsArg::Refuse, help_heading = READING)]
    missing_labels: MissingLabelsArg,

    /// The format, whatever the file's name says
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), help_heading = READING)]
    format: Option<Format>,

    /// What separates the fields of CSV and TSV: a character, or tab [default: by the file's name; semicolons
    /// and tabs where the header of CSV has more of them]
    #[arg(long, value_name = "CHARACTER", help_heading = READING)]
    delimiter: Option<Delimiter>,

    /// How names and values are spelt
    #[arg(long, value_enum, default_value_t = EncodingArg::Utf8, help_heading = READING)]
    encoding: EncodingArg,

    /// Number repeated column names (mean, mean.2) instead of refusing them
    #[arg(long, help_heading = READING)]
    dedupe: bool,

    /// How many features an SVMLight file has, where its largest index does not say
    #[arg(long, value_name = "N", help_heading = READING)]
    features: Option<usize>,

    /// Memory for data and models, such as 500M or 8G; files that need more are refused [default:
    /// three quarters of the machine's]
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount, help_heading = READING)]
    max_memory: Option<u64>,
}

/// The names of the formats, for help and completions.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::NAMES.map(|(name, _)| name))
        .try_map(|name| name.parse::<Format>())
}

const LABELS: &str = "Which columns are labels (the first that applies)";
const READING: &str = "Reading";

/// How bags of instances become single rows.
#[derive(Args)]
pub(crate) struct BagArgs {
    /// Make single rows of bags: instances end to end, or distances to medoids of the bags
    #[arg(long, value_enum, value_name = "HOW", help_heading = BAGS)]
    bags: Option<BagsArg>,

    /// How many medoids
    #[arg(long, value_name = "K", default_value_t = 20, help_heading = BAGS)]
    medoids: usize,

    /// Where the search for medoids starts: anywhere, spread out (k-medoids++), or BUILD of PAM
    #[arg(long, value_enum, default_value_t = MedoidStartArg::Random, help_heading = BAGS)]
    medoid_start: MedoidStartArg,

    /// Exchange medoids for other bags (PAM) instead of alternating between groups and middles
    #[arg(long, help_heading = BAGS)]
    medoid_swap: bool,
}

const BAGS: &str = "Bags of instances";

#[derive(Clone, Copy, ValueEnum)]
enum BagsArg {
    Concat,
    Medoids,
}

#[derive(Clone, Copy, ValueEnum)]
enum MedoidStartArg {
    Random,
    Spread,
    Build,
}

impl BagArgs {
    pub(crate) fn reduction(&self) -> Option<BagReduction> {
        let start = match self.medoid_start {
            MedoidStartArg::Random => MedoidStart::Random,
            MedoidStartArg::Spread => MedoidStart::Spread,
            MedoidStartArg::Build => MedoidStart::Build,
        };
        self.bags.map(|bags| match bags {
            BagsArg::Concat => BagReduction::Concat,
            BagsArg::Medoids => {
                BagReduction::Medoids { n: self.medoids, start, swap: self.medoid_swap }
            }
        })
    }
}

/// How labels are spread over folds.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Stratify {
    None,
    Iterative,
    Pairs,
}

impl Stratify {
    /// What is spread evenly; none where folds are plain.
    pub(crate) fn balance(self) -> Option<Balance> {
        match self {
            Stratify::None => None,
            Stratify::Iterative => Some(Balance::Labels),
            Stratify::Pairs => Some(Balance::Pairs),
        }
    }
}

/// So many folds, and what is spread evenly over them.
pub(crate) fn folds_in_words(n_folds: usize, balance: Option<Balance>) -> String {
    format!("{n_folds} folds{}", balance_in_words(balance))
}

/// What is spread evenly over the parts of a cut, as it follows their name.
pub(crate) fn balance_in_words(balance: Option<Balance>) -> &'static str {
    match balance {
        None => "",
        Some(Balance::Labels) => " stratified by labels",
        Some(Balance::Pairs) => " stratified by pairs of labels",
    }
}

/// What can be set about a method; the defaults are the paper's.
#[derive(Args)]
#[command(next_help_heading = None)]
pub(crate) struct MethodArgs {
    /// Same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = METHOD)]
    pub(crate) seed: u64,

    #[command(flatten)]
    typed: TypedSettings,

    #[command(flatten)]
    threads: Threads,
}

const METHOD: &str = "Method (defaults as in the paper)";

/// The settings of the library's registry as options: those that were typed, and what was typed.
pub(crate) struct TypedSettings(Vec<(&'static dyn AnySetting, String)>);

impl Args for TypedSettings {
    fn augment_args(command: clap::Command) -> clap::Command {
        registry().iter().fold(command, |command, known| command.arg(option(known)))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        TypedSettings::augment_args(command)
    }
}

fn option(known: &Registered) -> clap::Arg {
    let setting = known.setting;
    let heading = capitalized(known.applies_to());
    let option = clap::Arg::new(setting.name())
        .long(setting.name())
        .help(setting.help())
        .help_heading(heading);
    if setting.is_flag() {
        return option.action(clap::ArgAction::SetTrue);
    }
    let option = option.default_value(setting.default_text());
    if setting.words().is_empty() {
        option.value_name(setting.placeholder()).allow_negative_numbers(true)
    } else {
        option.value_name("WORD").value_parser(PossibleValuesParser::new(setting.words()))
    }
}

fn capitalized(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl FromArgMatches for TypedSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<TypedSettings, clap::Error> {
        let is_typed = |setting: &&'static dyn AnySetting| {
            matches.value_source(setting.name()) == Some(ValueSource::CommandLine)
        };
        let text = |setting: &'static dyn AnySetting| {
            let text = if setting.is_flag() {
                Some("true".into())
            } else {
                matches.get_one::<String>(setting.name()).cloned()
            };
            (setting, text.unwrap_or_default())
        };
        let all = registry().into_iter().map(|known| known.setting);
        Ok(TypedSettings(all.filter(is_typed).map(text).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        TypedSettings::from_arg_matches(matches).map(|typed| *self = typed)
    }
}

/// Which methods there are, for help.
pub(crate) fn methods_in_words() -> String {
    let names = |is_wanted: &dyn Fn(&str) -> bool| {
        let names = STRATEGIES.iter().map(|strategy| strategy.name).filter(|name| is_wanted(name));
        names.collect::<Vec<_>>().join(", ")
    };
    let by_base = BASES.iter().map(|base| {
        let goes = |strategy: &str| format!("{strategy}-{}", base.name).parse::<Method>().is_ok();
        format!("-{} ({}) with {}", base.name, base.about, names(&goes))
    });
    format!("a strategy and a base: {}", by_base.collect::<Vec<_>>().join("; "))
}

/// What answers aim at.
#[derive(Args)]
pub(crate) struct AimArgs {
    #[arg(long, value_name = "AIM", help = format!("What the answers aim at: {}", aims_in_words()))]
    pub(crate) aim: Option<Aim>,
}

impl AimArgs {
    /// The same method, with this aim unless it was typed with one of its own.
    pub(crate) fn of(&self, method: Method) -> Method {
        match self.aim {
            Some(aim) if !method.has_aim() => method.with_aim(aim),
            _ => method,
        }
    }
}

/// Which aims there are, for help.
fn aims_in_words() -> String {
    let aims = AIMS.iter().map(|aim| format!("{} ({})", aim.synopsis(), aim.about));
    aims.collect::<Vec<_>>().join("; ")
}

/// A number in the fewest digits that tell it from others, with an exponent where there would be many zeros.
pub(crate) fn number_in_digits(number: f64) -> String {
    let is_usual = number == 0.0 || (1e-5..1e15).contains(&number.abs());
    if is_usual { number.to_string() } else { format!("{number:e}") }
}

/// The name of the column of a label's probabilities.
pub(crate) fn probability_column(label: &str, names: CsvNames) -> String {
    names.cell(&format!("{label}:probability")).into_owned()
}

/// Whether what is there may be replaced.
#[derive(Args)]
pub(crate) struct ForceArgs {
    /// Replace what is there already
    #[arg(long)]
    force: bool,
}

impl ForceArgs {
    /// Refuses to replace a file, unless it `is_ours`: of the kind that the same command writes.
    pub(crate) fn check(&self, path: &Path, is_ours: impl FnOnce(&Path) -> bool) -> Result<()> {
        if self.force || is_stream(path) || path == Path::new("-") {
            return Ok(());
        }
        let is_empty = path.metadata().map_or(true, |about| about.len() == 0 || about.is_dir());
        if is_empty || is_ours(path) {
            return Ok(());
        }
        Err(Error::CannotWrite {
            path: path.into(),
            what: "exists".into(),
            remedy: "write under another name, or replace it with --force".into(),
        })
    }

    /// The same for a model, which replaces a model.
    pub(crate) fn check_model(&self, path: &Path) -> Result<()> {
        if path == Path::new("-") {
            return Err(Error::CannotWrite {
                path: path.into(),
                what: "a model is a file, and standard output is none".into(),
                remedy: "name a file, or /dev/stdout".into(),
            });
        }
        self.check(path, |path| Model::is_model_file(path).unwrap_or(false))
    }

    /// The same for what nobody can tell from other files.
    pub(crate) fn check_new(&self, path: &Path) -> Result<()> {
        self.check(path, |_| false)
    }

    /// The same for a page of a report, which replaces a page of a report.
    pub(crate) fn check_report(&self, path: &Path) -> Result<()> {
        self.check(path, is_report)
    }

    /// Refuses to replace a directory that has files in it, unless all of them have names that the command itself
    /// gives: other files would be lost with it, which nobody can have meant.
    pub(crate) fn check_directory(
        &self,
        path: &Path,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let entries = path.read_dir().into_iter().flatten().flatten();
        let names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let refused = |what: String, remedy: &'static str| {
            Err(Error::CannotWrite { path: path.into(), what, remedy: remedy.into() })
        };
        match names.iter().find(|name| !is_ours(name)) {
            Some(other) => refused(
                format!("is a directory with other files in it, such as {other:?}"),
                "name a new directory",
            ),
            None if names.is_empty() || self.force => Ok(()),
            None => {
                refused("exists".into(), "write under another name, or replace it with --force")
            }
        }
    }
}

/// How names are written into tables of answers and results.
#[derive(Args)]
pub(crate) struct NameArgs {
    /// In CSV and TSV, names as they are, also those that a spreadsheet would run as a formula
    #[arg(long)]
    raw: bool,
}

impl NameArgs {
    pub(crate) fn names(&self) -> CsvNames {
        if self.raw { CsvNames::Raw } else { CsvNames::Escaped }
    }
}

/// How many threads.
#[derive(Args)]
pub(crate) struct Threads {
    /// Threads to use, up to 1024 [default: all cores]
    #[arg(long, value_name = "N", value_parser = cores)]
    threads: Option<NonZero<usize>>,
}

/// How many cores, in threads or jobs.
pub(crate) fn cores(text: &str) -> Result<NonZero<usize>, &'static str> {
    let n = text.parse().ok().filter(|n: &NonZero<usize>| n.get() <= StudyOptions::MAX_JOBS);
    n.ok_or("expected a whole number from 1 to 1024")
}

impl Threads {
    /// How many threads were [started](Threads::start).
    pub(crate) fn n_started() -> usize {
        rayon::current_num_threads()
    }

    pub(crate) fn start(&self) -> Result<()> {
        // Without a number as many as there are cores; started here, for later it would be a panic.
        let n = self.threads.map_or(0, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n);
        pool.build_global().map_err(|error| Error::Setting {
            name: "--threads",
            value: format!("{n}, and threads do not start ({error})"),
            accepted: "a number of threads that the system can start",
        })
    }
}

impl MethodArgs {
    /// Sets the number of threads.
    pub(crate) fn start_threads(&self) -> Result<()> {
        self.threads.start()
    }

    /// What is set. Refuses to do without what a method needs, and to take what none of them uses.
    pub(crate) fn settings(&self, methods: &[Method]) -> Result<Settings, Failure> {
        // Scripts may give these with any method: that they are idle is only said.
        const COMMON: [&str; 3] = ["decay", "likelihood", "neighbours"];
        let mut settings = Settings::default();
        for (setting, text) in &self.typed.0 {
            settings.set(*setting, text)?;
            let name = setting.name();
            if methods.iter().any(|method| method.uses(name)) {
                continue;
            }
            let names: Vec<String> = methods.iter().map(Method::to_string).collect();
            let methods = names.join(", ");
            if !COMMON.contains(&name) {
                return Err(Failure::Unused { option: format!("--{name}"), methods });
            }
            remark(&format!("note: --{name} makes no difference to {methods}"));
        }
        methods.iter().try_for_each(|method| method.check(&settings))?;
        Ok(settings)
    }

    /// Says which settings are about texts where there are none.
    pub(crate) fn note_idle(&self, table: &Table) {
        let is_text = |of: &Attribute| matches!(of.kind, AttributeKind::Text(_));
        if table.rows().attributes().iter().any(is_text) {
            return;
        }
        for (setting, _) in &self.typed.0 {
            let name = setting.name();
            if TextSettings::SETTINGS.iter().any(|of| of.name() == name) {
                remark(&format!(
                    "note: --{name} makes no difference: no column is a text; --text COLUMN makes it one"
                ));
            }
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum EncodingArg {
    Utf8,
    Latin1,
}

#[derive(Clone, Copy, ValueEnum)]
enum MissingLabelsArg {
    Refuse,
    Irrelevant,
    Drop,
    Learn,
}

impl ReadingArgs {
    /// Whether the user says what stands between tags.
    pub(crate) fn names_tag_separator(&self) -> bool {
        self.tag_separator.is_some()
    }

    pub(crate) fn binarize(&self) -> Option<Threshold> {
        self.binarize
    }

    /// For commands whose row numbers must stay those of the file.
    pub(crate) fn keep_every_row(&self) -> Result<()> {
        match self.missing_labels {
            MissingLabelsArg::Drop => Err(Error::Setting {
                name: "--missing-labels",
                value: "drop".into(),
                accepted: "refuse, irrelevant or learn here: without a row, later ones would change their number",
            }),
            _ => Ok(()),
        }
    }

    /// Rows to be labelled may carry the labels or not, unless the user says where they are.
    fn for_model(
        &self,
        model: &Model,
        ids: &[String],
        path: &Path,
        labels: LabelsOfRows,
    ) -> Result<ReadOptions> {
        let mut options = self.by_columns_of(model, ids, path);
        if let (LabelsOfRows::Known, LabelChoice::Tags { .. }) = (labels, &options.labels) {
            return Err(Error::Setting {
                name: "--tags",
                value: "given, and tags do not say which labels are unknown".into(),
                accepted: "left out with --known, which takes a column for each label",
            });
        }
        options.missing_labels = match labels {
            LabelsOfRows::Ignored => MissingLabels::Irrelevant,
            LabelsOfRows::Known => MissingLabels::Learn,
        };
        Ok(options)
    }

    /// Labels are those of the model, unless the user says where they are, and inputs are of the kinds
    /// that they were in training. `ids` say which row is which, besides the columns that the model knows.
    pub(crate) fn by_columns_of(&self, model: &Model, ids: &[String], path: &Path) -> ReadOptions {
        let mut options = self.options();
        if let LabelChoice::Detect = options.labels {
            options.labels = LabelChoice::Present(model.label_names().to_vec());
        }
        // Identifiers are as they are spelt: 007 is not 7.
        let mut ids = ids.iter().chain(model.ids()).peekable();
        options.attributes = model.columns();
        if ids.peek().is_some() {
            let ids = ids.map(|name| Attribute::nominal(name, [""; 0]));
            options.attributes = options.attributes.iter().cloned().chain(ids).collect();
        }
        // The largest index of a few rows does not say how many features there are.
        if matches!(options.format_of(path), Ok(Format::SvmLight)) {
            options.n_features = options.n_features.or(Some(model.attributes().len()));
        }
        options
    }

    pub(crate) fn max_memory(&self) -> u64 {
        self.max_memory.unwrap_or_else(memory::three_quarters)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            labels: self.label_choice(),
            binarize: self.binarize,
            missing_labels: match self.missing_labels {
                MissingLabelsArg::Refuse => MissingLabels::Refuse,
                MissingLabelsArg::Irrelevant => MissingLabels::Irrelevant,
                MissingLabelsArg::Drop => MissingLabels::Drop,
                MissingLabelsArg::Learn => MissingLabels::Learn,
            },
            encoding: match self.encoding {
                EncodingArg::Utf8 => Encoding::Utf8,
                EncodingArg::Latin1 => Encoding::Latin1,
            },
            dedupe: self.dedupe,
            attributes: Arc::default(),
            n_features: self.features,
            roles: Arc::default(),
            max_memory: self.max_memory(),
            checksums: Checksums::default(),
            streams: Streams::default(),
        }
    }

    fn label_choice(&self) -> LabelChoice {
        if let Some(names) = &self.labels {
            LabelChoice::Named(names.iter().map(|name| name.trim().into()).collect())
        } else if let Some(n) = self.labels_first {
            LabelChoice::First(n)
        } else if let Some(n) = self.labels_last {
            LabelChoice::Last(n)
        } else if let Some(path) = &self.labels_xml {
            LabelChoice::Xml(path.clone())
        } else if let Some(column) = &self.tags {
            let separator = self.tag_separator.clone().unwrap_or_else(|| ";".into());
            LabelChoice::Tags { column: column.clone(), separator }
        } else {
            LabelChoice::Detect
        }
    }
}
