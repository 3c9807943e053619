//! What was typed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches, Id, Parser, Subcommand, ValueEnum};
use labelchain::base::{J48, Kernel, Likelihood, Svm, Ties};
use labelchain::chain::Order;
use labelchain::data::{
    Dataset, Encoding, Format, LabelChoice, LabelId, MissingLabels, Note, ReadOptions, Reading,
    Threshold, read, read_in_blocks,
};
use labelchain::distance::Metric;
use labelchain::ensemble::{Genetic, GeneticSearch, Sampling};
use labelchain::error::{Error, Result};
use labelchain::experiment::{Method, Settings};
use labelchain::model::Model;
use labelchain::order::OrderDistance;
use labelchain::prepare::{BagReduction, MedoidStart};

use crate::commands::{
    Compare, Completions, Convert, Datasets, Demo, Describe, Evaluate, Explain, Generate, Man,
    Predict, Score, Show, Split, Study, Train,
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
    /// See it work: compare four methods on data it makes itself, explain one prediction
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
    /// Show what is in a model file
    Show(Show),
    /// Label the rows of a file with a trained model
    Predict(Predict),
    /// Tell how one row is labelled: what the members say, in which order, and why
    Explain(Explain),
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
    /// The data: .arff .csv .tsv .parquet .svm .libsvm, each also with .gz or .bz2
    #[arg(value_name = "DATA")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl DataFile {
    pub(crate) fn read(&self) -> Result<Reading> {
        read(&self.path, &self.reading.options())
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
    match member < n {
        true => Ok(()),
        false => Err(Error::Setting {
            name: "--member",
            value: format!("{member} and the model has {n} members"),
            accepted: "one of them, counted from 0; labelchain show lists them",
        }),
    }
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
        not_over(&[self.model_path(), &self.data.path], out)
    }

    pub(crate) fn model(&self) -> Result<Model> {
        self.data.reading.keep_every_row()?;
        self.model.load(self.data.reading.max_memory)
    }

    /// The rows as the file has them, so many at a time, with what the reader has to say.
    fn blocks<'m>(
        &'m self,
        model: &'m Model,
        n_rows: usize,
    ) -> Result<impl Iterator<Item = Result<(Dataset, Vec<Note>)>> + 'm> {
        let path = &self.data.path;
        let blocks = read_in_blocks(path, &self.data.reading.for_model(model, path)?, n_rows)?;
        Ok(blocks.map(move |block| {
            let block = block?;
            Ok((model.rows(block.table, path)?, block.notes))
        }))
    }

    /// The rows, so many at a time: as the file has them, and as the model takes them.
    pub(crate) fn rows<'m>(
        &'m self,
        model: &'m Model,
        n_rows: usize,
    ) -> Result<impl Iterator<Item = Result<(Dataset, Dataset)>> + 'm> {
        let mut told = HashSet::new();
        Ok(self.blocks(model, n_rows)?.map(move |block| {
            let (found, said) = block?;
            let (rows, remarks) = model.align(&found, &self.data.path)?;
            let more = if rows.n_rows() == n_rows { ", and maybe more in later rows" } else { "" };
            for note in said.iter().chain(&remarks).filter(|note| told.insert(note.code)) {
                remark(&format!("note: {}{more}", note.text));
            }
            Ok((found, rows))
        }))
    }

    /// One row, as the model takes it.
    pub(crate) fn row(&self, model: &Model, row: usize) -> Result<Dataset> {
        let mut first = 0;
        for block in self.blocks(model, 4096)? {
            let (found, said) = block?;
            notes(&said);
            if row - first < found.n_rows() {
                let (row, remarks) = model.align(&found.select(&[row - first]), &self.data.path)?;
                notes(&remarks);
                return Ok(row);
            }
            first += found.n_rows();
        }
        let purpose = format!("--row {row} (rows count from 0)");
        Err(Error::TooFewRows { needed: row.saturating_add(1), found: first, purpose })
    }
}

/// Refuses to write over a file that was read.
pub(crate) fn not_over(inputs: &[&Path], out: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    match real(out).is_some_and(|out| inputs.iter().any(|path| real(path).as_ref() == Some(&out))) {
        true => Err(Error::CannotWrite {
            path: out.into(),
            what: "is also a file to be read".into(),
            remedy: "write under another name".into(),
        }),
        false => Ok(()),
    }
}

/// Tells what a reader had to decide.
pub(crate) fn notes(notes: &[Note]) {
    notes.iter().for_each(|note| remark(&format!("note: {}", note.text)));
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

    /// What stands between two tags
    #[arg(long, value_name = "TEXT", default_value = ";", help_heading = LABELS)]
    tag_separator: String,

    /// Make numeric labels relevant or irrelevant by a comparison such as '>0'
    #[arg(long, value_name = "COMPARISON", help_heading = READING)]
    binarize: Option<Threshold>,

    /// What to do with rows whose labels are missing
    #[arg(long, value_enum, default_value_t = MissingLabelsArg::Refuse, help_heading = READING)]
    missing_labels: MissingLabelsArg,

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

/// What can be set about a method; the defaults are the paper's.
#[derive(Args)]
#[command(next_help_heading = None)]
pub(crate) struct MethodArgs {
    // Before the options themselves, which take what was typed out of clap's hands.
    #[command(flatten)]
    typed: Typed,

    /// Same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = METHOD)]
    pub(crate) seed: u64,

    /// K: members of the ensemble
    #[arg(long, value_name = "K", default_value_t = 20, help_heading = METHOD)]
    members: usize,

    /// Share of the training rows that each member draws
    #[arg(long, value_name = "SHARE", default_value_t = 0.66, help_heading = METHOD)]
    sample: f64,

    /// Share of a member's rows to fit on; the rest validates
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, help_heading = METHOD)]
    fit_share: f64,

    /// β of dynamic: how fast memberships fall with distance; auto tunes it over 1 to 10
    #[arg(long, value_name = "auto|NUMBER", default_value = "auto", value_parser = auto_or_number::<f64>, help_heading = METHOD)]
    decay: AutoOr<f64>,

    /// R of knn: rows that vote; auto tunes it over 1, 3, 5, 7, 9, 11
    #[arg(long, value_name = "auto|N", default_value = "auto", value_parser = auto_or_number::<usize>, help_heading = METHOD)]
    neighbours: AutoOr<usize>,

    /// How far apart rows are for knn: euclidean (standardized inputs), or weka (as in its IBk)
    #[arg(long, value_enum, default_value_t = MetricArg::Euclidean, help_heading = METHOD)]
    metric: MetricArg,

    /// Who votes of rows equally far: exactly R by lower-row, or all of them (weka)
    #[arg(long, value_enum, default_value_t = TiesArg::LowerRow, help_heading = METHOD)]
    ties: TiesArg,

    /// Majority rows kept for each minority row of a label
    #[arg(long, value_name = "NUMBER|none", default_value = "20", value_parser = number_or_none, help_heading = METHOD)]
    max_imbalance: OrNone,

    /// How each label selects its features
    #[arg(long, value_enum, default_value_t = SelectArg::Cfs, help_heading = METHOD)]
    select: SelectArg,

    /// Of more selected features than this, so many are kept at random
    #[arg(long, value_name = "N", default_value_t = 300, help_heading = METHOD)]
    max_features: usize,

    /// How naive Bayes weighs numeric cells
    #[arg(long, value_enum, default_value_t = LikelihoodArg::Auto, help_heading = METHOD)]
    likelihood: LikelihoodArg,

    /// The order of every chain of ecc: natural, random, or label names
    #[arg(long, value_name = "ORDER", value_delimiter = ',', default_value = "random", help_heading = METHOD)]
    order: Vec<String>,

    /// The smaller, the more of a tree is pruned
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, help_heading = TREES)]
    confidence: f64,

    /// Rows that at least two branches of a split must have
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = TREES)]
    min_leaf: usize,

    /// Leave trees as they have grown
    #[arg(long, help_heading = TREES)]
    unpruned: bool,

    /// Split nominal inputs into one value and the others
    #[arg(long, help_heading = TREES)]
    binary_splits: bool,

    /// What likeness of rows means
    #[arg(long, value_enum, default_value_t = KernelArg::Rbf, help_heading = MACHINES)]
    kernel: KernelArg,

    /// C: what a row on the wrong side costs; auto searches a grid, or is 1 if gamma is set or the
    /// kernel linear
    #[arg(long, value_name = "auto|NUMBER", default_value = "auto", value_parser = auto_or_number::<f64>, help_heading = MACHINES)]
    cost: AutoOr<f64>,

    /// γ of the RBF kernel; auto searches a grid, or is 1 / inputs if the cost is set
    #[arg(long, value_name = "auto|NUMBER", default_value = "auto", value_parser = auto_or_number::<f64>, help_heading = MACHINES)]
    gamma: AutoOr<f64>,

    /// Orders that each member draws and tries
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OOCC)]
    orders: usize,

    /// Validation rows that are asked for the order that suited them
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = OOCC)]
    lenders: usize,

    /// Members trained, of which the search keeps K [default: 3 K]
    #[arg(long, value_name = "N", help_heading = GENETIC)]
    candidates: Option<usize>,

    /// Subsets of members alive at a time
    #[arg(long, value_name = "N", default_value_t = 50, help_heading = GENETIC)]
    population: usize,

    /// How often they breed
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = GENETIC)]
    generations: usize,

    /// How likely two subsets mix
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, help_heading = GENETIC)]
    crossover: f64,

    /// How likely each member of a subset is swapped [default: one of K]
    #[arg(long, value_name = "SHARE", help_heading = GENETIC)]
    mutation: Option<f64>,

    /// Distance of orders that should be large beside a small loss: precedence, adjacency,
    /// positional, hamming, cayley, ulam; or none
    #[arg(long, value_name = "DISTANCE|none", default_value = "precedence", value_parser = distance_or_none, help_heading = GENETIC)]
    diversity: Diversity,

    #[command(flatten)]
    threads: Threads,
}

/// The names of the options that were typed.
struct Typed(Vec<String>);

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Typed, clap::Error> {
        let is_typed =
            |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Typed(matches.ids().filter(is_typed).map(|id| id.as_str().replace('_', "-")).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Typed::from_arg_matches(matches).map(|typed| *self = typed)
    }
}

impl Args for Typed {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

/// How many threads.
#[derive(Args)]
pub(crate) struct Threads {
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Threads {
    pub(crate) fn start(&self) {
        if let Some(n) = self.threads {
            // Fails only where threads run already, and then they are as many as asked before.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(n).build_global();
        }
    }
}

const METHOD: &str = "Method (defaults as in the paper)";
const TREES: &str = "Methods with -j48 (defaults as in WEKA)";
const MACHINES: &str = "Methods with -svm";
const OOCC: &str = "Method oocc";
const GENETIC: &str = "Methods ga and ga-br";

#[derive(Clone, Copy)]
struct Diversity(Option<OrderDistance>);

fn distance_or_none(text: &str) -> Result<Diversity> {
    match text {
        "none" => Ok(Diversity(None)),
        _ => text.parse().map(|distance| Diversity(Some(distance))),
    }
}

#[derive(Clone, Copy)]
struct AutoOr<T>(Option<T>);

#[derive(Clone, Copy)]
struct OrNone(Option<f64>);

fn auto_or_number<T: FromStr>(text: &str) -> Result<AutoOr<T>, String> {
    match text {
        "auto" => Ok(AutoOr(None)),
        _ => text
            .parse()
            .map(|number| AutoOr(Some(number)))
            .map_err(|_| "expected auto or a number".into()),
    }
}

fn number_or_none(text: &str) -> Result<OrNone, String> {
    match text {
        "none" => Ok(OrNone(None)),
        _ => text
            .parse()
            .map(|number| OrNone(Some(number)))
            .map_err(|_| "expected a number or none".into()),
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum SelectArg {
    Cfs,
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum MetricArg {
    Euclidean,
    Weka,
}

#[derive(Clone, Copy, ValueEnum)]
enum TiesArg {
    LowerRow,
    Weka,
}

#[derive(Clone, Copy, ValueEnum)]
enum KernelArg {
    Rbf,
    Linear,
}

#[derive(Clone, Copy, ValueEnum)]
enum LikelihoodArg {
    Auto,
    Gaussian,
    Weka,
    Discretized,
    Kernel,
}

impl MethodArgs {
    /// Whether labels select their features.
    pub(crate) fn selects(&self) -> bool {
        self.select == SelectArg::Cfs
    }

    /// Also sets the number of threads.
    pub(crate) fn settings(&self, data: &Dataset, reading: &ReadingArgs) -> Result<Settings> {
        self.threads.start();
        Ok(Settings {
            sampling: Sampling {
                n_members: self.members,
                sample: self.sample,
                fit_share: self.fit_share,
            },
            decay: self.decay.0,
            neighbours: self.neighbours.0,
            metric: match self.metric {
                MetricArg::Euclidean => Metric::Euclidean,
                MetricArg::Weka => Metric::Weka,
            },
            ties: match self.ties {
                TiesArg::LowerRow => Ties::LowerRow,
                TiesArg::Weka => Ties::Weka,
            },
            max_imbalance: self.max_imbalance.0,
            max_features: self.selects().then_some(self.max_features),
            likelihood: match self.likelihood {
                LikelihoodArg::Auto => Likelihood::Auto,
                LikelihoodArg::Gaussian => Likelihood::Gaussian,
                LikelihoodArg::Weka => Likelihood::Weka,
                LikelihoodArg::Discretized => Likelihood::Discretized,
                LikelihoodArg::Kernel => Likelihood::Kernel,
            },
            tree: J48 {
                confidence: self.confidence,
                min_leaf: self.min_leaf,
                pruned: !self.unpruned,
                binary_splits: self.binary_splits,
            },
            machine: self.machine(),
            order: self.order(data)?,
            n_orders: self.orders,
            n_lenders: self.lenders,
            max_memory: reading.max_memory(),
            genetic: Genetic {
                n_candidates: self.candidates,
                search: GeneticSearch {
                    population: self.population,
                    generations: self.generations,
                    crossover: self.crossover,
                    mutation: self.mutation,
                },
                diversity: self.diversity.0,
            },
        })
    }

    /// Refuses to do without what a method needs, and to take what none of them applies_to. Settings that
    /// all methods of a study share may be idle in one of them: that is only said.
    pub(crate) fn check(&self, methods: &[Method]) -> Result<(), Failure> {
        const SHARED: [&str; 3] = ["decay", "likelihood", "neighbours"];
        let is_heeded = |name: &str| methods.iter().any(|method| method.applies_to(name));
        for name in self.typed.0.iter().filter(|name| !is_heeded(name)) {
            let names: Vec<String> = methods.iter().map(Method::to_string).collect();
            let names = names.join(", ");
            match SHARED.contains(&name.as_str()) {
                true => remark(&format!("note: --{name} makes no difference to {names}")),
                false => {
                    return Err(Failure::Idle { option: format!("--{name}"), methods: names });
                }
            }
        }
        let needs_validation = |method: &Method| method.strategy.needs_validation();
        match methods.iter().any(needs_validation) && self.fit_share == 1.0 {
            true => Err(Failure::Library(Error::Setting {
                name: "--fit-share",
                value: "1".into(),
                accepted: "below 1 for dynamic, oocc, ga and ga-br, which choose orders or members on validation rows; ecc and br need none",
            })),
            false => Ok(()),
        }
    }

    fn machine(&self) -> Option<Svm> {
        let (cost, gamma) = (self.cost.0, self.gamma.0);
        let kernel = match self.kernel {
            KernelArg::Linear => Kernel::Linear,
            KernelArg::Rbf if cost.is_none() && gamma.is_none() => return None,
            KernelArg::Rbf => Kernel::Rbf { gamma },
        };
        Some(Svm { kernel, cost: cost.unwrap_or(1.0), ..Svm::default() })
    }

    fn order(&self, data: &Dataset) -> Result<Option<Order>> {
        match &self.order[..] {
            [random] if random == "random" => Ok(None),
            [natural] if natural == "natural" => Ok(Some(Order::natural(data.n_labels()))),
            names => {
                let labels: Vec<LabelId> =
                    names.iter().map(|name| data.label(name.trim())).collect::<Result<_>>()?;
                let all = (0..data.n_labels()).map(LabelId);
                let missing = all.filter(|label| !labels.contains(label));
                let missing: Vec<String> =
                    missing.map(|label| format!("{:?}", data.label_names()[label.0])).collect();
                if let Some(first) = missing.first() {
                    return Err(Error::Setting {
                        name: "--order",
                        value: format!("without {} of the labels (first: {first})", missing.len()),
                        accepted: "natural, random, or each label once",
                    });
                }
                Order::new(labels, data.n_labels()).map(Some)
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
}

impl ReadingArgs {
    pub(crate) fn binarize(&self) -> Option<Threshold> {
        self.binarize
    }

    /// For commands whose row numbers must stay those of the file.
    pub(crate) fn keep_every_row(&self) -> Result<()> {
        match self.missing_labels {
            MissingLabelsArg::Drop => Err(Error::Setting {
                name: "--missing-labels",
                value: "drop".into(),
                accepted: "refuse or irrelevant here: without a row, later ones would change their number",
            }),
            _ => Ok(()),
        }
    }

    /// Rows to be labelled may carry the labels or not, unless the user says where they are.
    fn for_model(&self, model: &Model, path: &Path) -> Result<ReadOptions> {
        let mut options = self.options();
        if let LabelChoice::Detect = options.labels {
            options.labels = LabelChoice::Present(model.label_names().to_vec());
        }
        options.missing_labels = MissingLabels::Irrelevant;
        options.attributes = model.attributes().into();
        // The largest index of a few rows does not say how many features there are.
        if Format::of(path)? == Format::SvmLight {
            options.n_features = options.n_features.or(Some(model.attributes().len()));
        }
        Ok(options)
    }

    pub(crate) fn max_memory(&self) -> u64 {
        self.max_memory.unwrap_or_else(memory::three_quarters)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            labels: self.label_choice(),
            binarize: self.binarize,
            missing_labels: match self.missing_labels {
                MissingLabelsArg::Refuse => MissingLabels::Refuse,
                MissingLabelsArg::Irrelevant => MissingLabels::Irrelevant,
                MissingLabelsArg::Drop => MissingLabels::Drop,
            },
            encoding: match self.encoding {
                EncodingArg::Utf8 => Encoding::Utf8,
                EncodingArg::Latin1 => Encoding::Latin1,
            },
            dedupe: self.dedupe,
            attributes: Arc::default(),
            n_features: self.features,
            max_memory: self.max_memory(),
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
            LabelChoice::Tags { column: column.clone(), separator: self.tag_separator.clone() }
        } else {
            LabelChoice::Detect
        }
    }
}
