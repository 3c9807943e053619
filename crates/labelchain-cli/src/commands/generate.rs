//! `labelchain generate`: synthetic data sets, streamed to a file.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use labelchain::data::{
    Dataset, Format, LabelNetwork, Output, Points, Shape, Shapes, Tickets, publish, stem,
    write_in_blocks,
};
use labelchain::error::{Error, Result};
use labelchain::seed::Seed;

use super::convert::report_files;
use crate::args::{ForceArgs, Threads};
use crate::memory;
use crate::messages::Failure;

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain generate network --rows 100000 --labels 20 -o big.csv
  labelchain generate hypercubes --like simplehc -o simplehc.arff")]
pub(crate) struct Generate {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A label is relevant inside its hypercube (a reconstruction of Mldatagen)
    Hypercubes(ShapesArgs),
    /// A label is relevant inside its hypersphere (a reconstruction of Mldatagen)
    Hyperspheres(ShapesArgs),
    /// Labels that depend on each other: a random Bayesian network, seen through noisy features
    Network(NetworkArgs),
    /// Support tickets: texts, dates, identifiers, blanks, categories, tags
    Tickets(TicketsArgs),
}

/// The file to write.
#[derive(Args)]
struct Out {
    /// The file to write: .arff .csv .tsv .svm, each also with .gz or .bz2, in constant memory
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,

    /// Refuse what needs more memory than this to be drawn, such as 500M or 8G [default: three
    /// quarters of the machine's]
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount)]
    max_memory: Option<u64>,

    #[command(flatten)]
    threads: Threads,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  labelchain generate hyperspheres --like simplehs -o simplehs.arff"
)]
struct ShapesArgs {
    /// Settings and seed that come nearest to one of the paper's sets
    #[arg(long, value_enum, conflicts_with_all = ["rows", "labels", "relevant", "irrelevant", "redundant", "min_radius", "max_radius", "points", "noise", "seed"])]
    like: Option<Like>,

    /// Points
    #[arg(long, value_name = "N", default_value_t = 3000)]
    rows: usize,

    /// Shapes
    #[arg(long, value_name = "N", default_value_t = 10)]
    labels: usize,

    /// Features that say where a point is
    #[arg(long, value_name = "N", default_value_t = 20)]
    relevant: usize,

    /// Features that are noise
    #[arg(long, value_name = "N", default_value_t = 5)]
    irrelevant: usize,

    /// Features that repeat a relevant one
    #[arg(long, value_name = "N", default_value_t = 5)]
    redundant: usize,

    /// Least radius, half an edge of a cube [default: (labels/10 + 1)/labels]
    #[arg(long, value_name = "R")]
    min_radius: Option<f64>,

    /// Greatest radius; all shapes lie in one of radius 1
    #[arg(long, value_name = "R", default_value_t = 0.8)]
    max_radius: f64,

    /// How many points each shape is filled with
    #[arg(long, value_enum, default_value_t = PointsArg::ByRadius)]
    points: PointsArg,

    /// The probability that a label of a row is turned over
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    noise: f64,

    /// Same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    out: Out,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  labelchain generate network --rows 100000 --labels 20 -o big.csv"
)]
struct NetworkArgs {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,

    /// Features; the m-th speaks of label m, and around again
    #[arg(long, value_name = "N", default_value_t = 12)]
    features: usize,

    /// Labels
    #[arg(long, value_name = "N", default_value_t = 6)]
    labels: usize,

    /// How much a label follows its parents, from 0 (independent) to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    dependence: f64,

    /// Deviation of a feature around the mean that its label sets, 0 or 1
    #[arg(long, value_name = "SIZE", default_value_t = 1.0)]
    noise: f64,

    /// Places that cells are rounded to
    #[arg(long, value_name = "N", default_value_t = 4)]
    decimals: u32,

    /// Same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    out: Out,
}

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain generate tickets --rows 2000 -o tickets.csv")]
struct TicketsArgs {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,

    /// Same seed, same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The file to write: .csv .tsv, each also with .gz or .bz2
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Like {
    Simplehc,
    Simplehs,
}

#[derive(Clone, Copy, ValueEnum)]
enum PointsArg {
    ByRadius,
    Equal,
}

impl Generate {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.what {
            What::Hypercubes(shapes) => shapes.write(Shape::Cube)?,
            What::Hyperspheres(shapes) => shapes.write(Shape::Ball)?,
            What::Network(network) => network.write()?,
            What::Tickets(tickets) => tickets.write()?,
        }
        Ok(())
    }
}

impl Out {
    /// Refuses before anything is allocated, or replaced.
    fn check(&self, n_bytes: u64) -> Result<()> {
        self.force.check_new(&self.out)?;
        let limit = self.max_memory.unwrap_or_else(memory::three_quarters);
        if n_bytes <= limit {
            return Ok(());
        }
        let what = format!("what is drawn first, about {} MiB,", n_bytes >> 20);
        Err(Error::TooLarge { path: self.out.clone(), what, needed: Some(n_bytes), limit })
    }

    /// Streams rows to the file, with the command that generates them in its head.
    fn write(
        &self,
        n_rows: usize,
        command: &str,
        rows: impl Fn(Range<usize>) -> Result<Dataset> + Sync,
    ) -> Result<()> {
        self.threads.start()?;
        let note = format!("made by labelchain {} generate {command}", env!("CARGO_PKG_VERSION"));
        let rows = |span| {
            let mut rows = rows(span)?;
            rows.remember(&note);
            Ok(rows)
        };
        report_files(&write_in_blocks(n_rows, rows, &self.out)?);
        Ok(())
    }
}

impl ShapesArgs {
    fn write(&self, shape: Shape) -> Result<()> {
        let (shapes, seed) = match self.like {
            Some(Like::Simplehc) => Shapes::simple_hc(),
            Some(Like::Simplehs) => Shapes::simple_hs(),
            None => (self.shapes(shape), self.seed),
        };
        if shapes.shape != shape {
            return Err(Error::Setting {
                name: "--like",
                value: "a set of the other shape".into(),
                accepted: "simplehc for hypercubes, simplehs for hyperspheres",
            });
        }
        self.out.check(shapes.n_bytes())?;
        let drawn = shapes.draw(&stem(&self.out.out), Seed::new(seed))?;
        self.out.write(shapes.n_rows, &command(&shapes, seed), |span| drawn.rows(span))
    }

    fn shapes(&self, shape: Shape) -> Shapes {
        Shapes {
            shape,
            n_rows: self.rows,
            n_labels: self.labels,
            n_relevant: self.relevant,
            n_irrelevant: self.irrelevant,
            n_redundant: self.redundant,
            min_radius: self.min_radius,
            max_radius: self.max_radius,
            points: match self.points {
                PointsArg::ByRadius => Points::ByRadius,
                PointsArg::Equal => Points::Equal,
            },
            noise: self.noise,
        }
    }
}

/// The arguments that generate the same shapes.
fn command(shapes: &Shapes, seed: u64) -> String {
    let Shapes { n_rows, n_labels, n_relevant, n_irrelevant, n_redundant, .. } = shapes;
    let shape = match shapes.shape {
        Shape::Cube => "hypercubes",
        Shape::Ball => "hyperspheres",
    };
    let points = match shapes.points {
        Points::ByRadius => "by-radius",
        Points::Equal => "equal",
    };
    let min_radius = shapes.min_radius.map(|radius| format!(" --min-radius {radius}"));
    format!(
        "{shape} --rows {n_rows} --labels {n_labels} --relevant {n_relevant} --irrelevant \
         {n_irrelevant} --redundant {n_redundant}{} --max-radius {} --points {points} --noise {} \
         --seed {seed} (after Mldatagen, a reconstruction)",
        min_radius.unwrap_or_default(),
        shapes.max_radius,
        shapes.noise,
    )
}

impl NetworkArgs {
    fn write(&self) -> Result<()> {
        let network = LabelNetwork {
            n_rows: self.rows,
            n_labels: self.labels,
            n_features: self.features,
            dependence: self.dependence,
            noise: self.noise,
            decimals: Some(self.decimals),
        };
        self.out.check(network.n_bytes())?;
        let drawn = network.draw(&stem(&self.out.out), Seed::new(self.seed))?;
        let NetworkArgs { rows, features, labels, dependence, noise, decimals, seed, .. } = self;
        let command = format!(
            "network --rows {rows} --features {features} --labels {labels} --dependence {dependence} \
             --noise {noise} --decimals {decimals} --seed {seed}"
        );
        self.out.write(network.n_rows, &command, |span| drawn.rows(span))
    }
}

impl TicketsArgs {
    /// A table with a column of tags is more than a data set can say, so that it is written as it is.
    fn write(&self) -> Result<()> {
        let separator = match Format::of(&self.out) {
            Ok(Format::Csv) => b',',
            Ok(Format::Tsv) => b'\t',
            _ => {
                return Err(Error::CannotWrite {
                    path: self.out.clone(),
                    what: "tickets are a table with a column of tags".into(),
                    remedy: "name it .csv or .tsv".into(),
                });
            }
        };
        self.force.check_new(&self.out)?;
        let rows = Tickets { n_rows: self.rows }.rows(Seed::new(self.seed))?;
        let output = Output::with(&self.out, |out| {
            let mut csv = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
            csv.write_record(Tickets::COLUMNS).map_err(io::Error::from)?;
            for row in rows {
                csv.write_record(row).map_err(io::Error::from)?;
            }
            csv.flush()
        })?;
        publish(vec![output])?;
        report_files(std::slice::from_ref(&self.out));
        Ok(())
    }
}
