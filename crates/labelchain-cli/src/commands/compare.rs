//! `labelchain compare`: are methods different, which ones, and by how much? It compares the results
//! of any program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use labelchain::data::{save, save_directory, stem};
use labelchain::error::{Error, Result};
use labelchain::experiment::Results;
use labelchain::report::{PrintedResults, Report, ReportFormat, compare, title};
use labelchain::seed::Seed;
use labelchain::stats::{Comparison, CriterionComparison, Gaps, Pair, TestPlan, Zeros, by_rank};
use serde_json::{Map, Value, json};

use crate::args::{NameArgs, not_over};
use crate::bars::{brackets, cut, scale, width};
use crate::messages::{Failure, print, print_data};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain compare results.csv -o report.html")]
pub(crate) struct Compare {
    /// Losses as CSV or TSV: dataset, method, criterion, loss, and fold if there are any; or dataset
    /// and one column for each method
    #[arg(value_name = "RESULTS")]
    results: PathBuf,

    #[command(flatten)]
    comparison: ComparisonArgs,
}

impl Compare {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let results = Results::read(&self.results)?;
        self.comparison.run(&stem(&self.results), &results, Vec::new(), &[&self.results])
    }
}

/// Which tests to make, and where to write the report.
#[derive(Args)]
pub(crate) struct ComparisonArgs {
    /// The level of significance
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    alpha: f64,

    /// Criteria that are no losses, but better if higher
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    higher_is_better: Vec<String>,

    /// Where a method has no loss: leave out the data set, or let the method come last there
    #[arg(long, value_enum)]
    gaps: Option<GapsArg>,

    /// Wilcoxon's test counts exactly up to so many differences, if none is zero or tied
    #[arg(long, value_name = "N", default_value_t = 49)]
    exact_up_to: usize,

    /// Differences of zero in Wilcoxon's test: dropped, ranked and then dropped, or split
    #[arg(long, value_enum, default_value_t = ZerosArg::Wilcox)]
    zeros: ZerosArg,

    /// Also the Bayesian signed-rank test: differences up to this do not matter
    #[arg(long, value_name = "REGION")]
    bayes: Option<f64>,

    /// Same seed, same Bayesian beliefs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Also a report, by its name: .html, .md, .tex, .csv, or a new directory for all of them and the
    /// figures
    #[arg(short = 'o', long = "report", value_name = "OUT")]
    report: Option<PathBuf>,

    /// In the report, put these printed losses beside ours
    #[arg(long, value_name = "FILE.csv", requires = "report")]
    compare_paper: Option<PathBuf>,

    #[command(flatten)]
    names: NameArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum GapsArg {
    DropSets,
    WorstRank,
}

#[derive(Clone, Copy, ValueEnum)]
enum ZerosArg {
    Wilcox,
    Pratt,
    Zsplit,
}

impl ComparisonArgs {
    /// Compares the methods, writes the report, and prints a summary. The files `inputs` are not
    /// overwritten.
    pub(crate) fn run(
        &self,
        name: &str,
        results: &Results,
        notes: Vec<String>,
        inputs: &[&Path],
    ) -> Result<(), Failure> {
        let comparison = compare(results, &self.higher_is_better, self.plan())?;
        if let Some(out) = &self.report {
            not_over(inputs, out)?;
            self.compare_paper.iter().try_for_each(|path| not_over(&[path], out))?;
            let printed = self.compare_paper.as_deref().map(PrintedResults::read).transpose()?;
            let title = format!(
                "{name}: {} methods on {}",
                comparison.methods.len(),
                comparison.sets_in_words()
            );
            let mut report = Report::of(&title, results, &comparison, printed.as_ref(), notes)?;
            report.names = self.names.names();
            save_report(&report, results, out)?;
        }
        if self.json {
            return print_data(&json(&comparison));
        }
        print(&text(&comparison))
    }

    fn plan(&self) -> TestPlan {
        TestPlan {
            alpha: self.alpha,
            gaps: match self.gaps {
                None => Gaps::Refuse,
                Some(GapsArg::DropSets) => Gaps::DropSets,
                Some(GapsArg::WorstRank) => Gaps::WorstRank,
            },
            zeros: match self.zeros {
                ZerosArg::Wilcox => Zeros::Wilcox,
                ZerosArg::Pratt => Zeros::Pratt,
                ZerosArg::Zsplit => Zeros::Split,
            },
            exact_up_to: self.exact_up_to,
            region: self.bayes,
            seed: Seed::new(self.seed),
        }
    }
}

/// Writes a file in one format, or a directory with all formats.
fn save_report(report: &Report, results: &Results, out: &Path) -> Result<()> {
    let unknown = out.extension().filter(|_| ReportFormat::of(out).is_none());
    if let Some(ending) = unknown {
        return Err(Error::CannotWrite {
            path: out.into(),
            what: format!("a report cannot be written as .{}", ending.to_string_lossy()),
            remedy: "name it .html, .md, .tex or .csv; a name without an ending makes a directory of all".into(),
        });
    }
    if let Some(format) = ReportFormat::of(out) {
        let text = report.text(format, false);
        return save(out, |file| file.write_all(text.as_bytes()));
    }
    let mut files = vec![
        ("report.html".into(), report.text(ReportFormat::Html, true).into_bytes()),
        ("report.md".into(), report.text(ReportFormat::Markdown, true).into_bytes()),
        ("report.tex".into(), report.text(ReportFormat::Latex, true).into_bytes()),
        ("statistics.csv".into(), report.text(ReportFormat::Csv, true).into_bytes()),
    ];
    let mut measured = Vec::new();
    results
        .write(report.names, &mut measured)
        .map_err(|source| Error::Io { path: out.into(), source })?;
    files.push(("results.csv".into(), measured));
    for figure in report.figures() {
        files.push((format!("figures/{}.svg", figure.id), figure.svg.clone().into_bytes()));
    }
    save_directory(out, &files)
}

/// The output of `compare --json`, whose fields are documented and stay.
fn json(comparison: &Comparison) -> String {
    let methods = &comparison.methods;
    let named = |cliques: Vec<Vec<usize>>| -> Vec<Vec<&String>> {
        cliques.iter().map(|clique| clique.iter().map(|&at| &methods[at]).collect()).collect()
    };
    let pair = |pair: &Pair| {
        json!({
            "a": methods[pair.a],
            "b": methods[pair.b],
            "n": pair.wilcoxon.n(),
            "w": pair.wilcoxon.w(),
            "p": pair.wilcoxon.p,
            "p_holm": pair.p_holm,
            "exact": pair.wilcoxon.is_exact,
            "wins": pair.effect.wins,
            "ties": pair.effect.ties,
            "losses": pair.effect.losses,
            "rank_biserial": pair.effect.rank_biserial,
            "bayes": pair.posterior.map(|posterior| json!({
                "better": posterior.better,
                "equivalent": posterior.equivalent,
                "worse": posterior.worse,
            })),
        })
    };
    let criterion = |of: &CriterionComparison| {
        let ranks = methods.iter().zip(&of.mean_ranks);
        let mean_ranks: Map<String, Value> =
            ranks.map(|(method, &rank)| (method.clone(), rank.into())).collect();
        json!({
            "criterion": of.table.criterion,
            "n": of.used.len(),
            "mean_ranks": mean_ranks,
            "friedman": {
                "statistic": of.friedman.statistic,
                "p": of.friedman.p,
                "p_holm": of.friedman_p_holm,
                "f": of.friedman.f,
                "f_p": of.friedman.f_p,
            },
            "nemenyi_cd": of.critical_difference,
            "wilcoxon": of.pairs.iter().map(pair).collect::<Vec<_>>(),
            "nemenyi_groups": named(of.nemenyi_cliques()),
            "wilcoxon_groups": named(of.wilcoxon_cliques(comparison.plan.alpha)),
            "higher_is_better": of.table.higher_is_better,
        })
    };
    let json = json!({
        "alpha": comparison.plan.alpha,
        "criteria": comparison.criteria.iter().map(criterion).collect::<Vec<_>>(),
    });
    json.to_string() + "\n"
}

/// The output as text: mean ranks by all criteria, then a critical-difference diagram for each.
fn text(comparison: &Comparison) -> String {
    let many = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    let alpha = comparison.plan.alpha;
    let is_higher = |of: &&CriterionComparison| of.table.higher_is_better;
    let higher: Vec<&str> = comparison
        .criteria
        .iter()
        .filter(is_higher)
        .map(|of| of.table.criterion.as_str())
        .collect();
    let mut page = format!(
        "{} on {}, by {}; level of significance {alpha}\n{}\n\n",
        many(comparison.methods.len(), "method", "methods"),
        comparison.sets_in_words(),
        many(comparison.criteria.len(), "criterion", "criteria"),
        if higher.is_empty() {
            "All are losses: smaller is better; rank 1 is best.".into()
        } else {
            format!(
                "Higher is better by {}, smaller by all others; rank 1 is best.",
                higher.join(", ")
            )
        }
    );
    page += &overview(comparison);
    for of in &comparison.criteria {
        page.push('\n');
        page += &diagram(comparison, of);
    }
    page += "\n  A bar joins methods that cannot be told apart: by Nemenyi's test, mean ranks closer than\n  \
             CD; by Wilcoxon's, neighbours of which no two differ, p adjusted by Holm over the pairs.\n";
    let pairs = comparison.criteria.iter().flat_map(|of| &of.pairs);
    let n_approximate = pairs.clone().filter(|pair| !pair.wilcoxon.is_exact).count();
    if n_approximate > 0 {
        let _ = writeln!(
            page,
            "  In {n_approximate} of {} pairs, differences are zero, tied or more than --exact-up-to: \
             there, Wilcoxon's\n  p is a normal approximation.",
            pairs.count()
        );
    }
    page
}

/// The mean ranks by each criterion; nothing if there are too many methods for a line.
fn overview(comparison: &Comparison) -> String {
    const MAX_METHODS: usize = 8;
    let mut page = String::new();
    if comparison.methods.len() > MAX_METHODS {
        return page;
    }
    let titles: Vec<String> =
        comparison.criteria.iter().map(|of| title(&of.table.criterion)).collect();
    let name = width(&titles, 9, 24);
    let column = width(&comparison.methods, 6, 12) + 2;
    let _ = write!(page, "  {:<name$}", "mean rank");
    for method in &comparison.methods {
        let _ = write!(page, "{:>column$} ", cut(method, column - 2));
    }
    let _ = writeln!(page, "  Friedman p");
    for (of, title) in comparison.criteria.iter().zip(&titles) {
        let _ = write!(page, "  {:<name$}", cut(title, name));
        let min = of.mean_ranks.iter().copied().fold(f64::INFINITY, f64::min);
        for &rank in &of.mean_ranks {
            let mark = if rank == min { '*' } else { ' ' };
            let _ = write!(page, "{rank:>column$.2}{mark}");
        }
        let differ = if of.friedman_p_holm <= comparison.plan.alpha { "  differ" } else { "" };
        let _ = writeln!(page, "{:>12}{differ}", p_value(of.friedman_p_holm));
    }
    page + "\n  * least mean rank; Friedman p adjusted by Holm over the criteria\n"
}

/// The diagram of one criterion: a line for each method, sorted by mean rank, and bars next to
/// methods that a test does not distinguish.
fn diagram(comparison: &Comparison, of: &CriterionComparison) -> String {
    const SCALE: usize = 37;
    let Comparison { plan, methods, .. } = comparison;
    let is_shown = of.friedman_p_holm <= plan.alpha;
    let mut page = format!(
        "{}{}, {} data sets: Friedman χ² {:.2}, p {}, {} by Holm: {}\n",
        title(&of.table.criterion),
        if of.table.higher_is_better { " (higher is better)" } else { "" },
        of.used.len(),
        of.friedman.statistic,
        p_value(of.friedman.p),
        p_value(of.friedman_p_holm),
        if is_shown { "the methods differ" } else { "no difference shown" }
    );
    let order = by_rank(&of.mean_ranks);
    let name = width(methods, 6, 24);
    let nemenyi = brackets(&of.nemenyi_cliques(), &order);
    let wilcoxon = brackets(&of.wilcoxon_cliques(plan.alpha), &order);
    let cd = format!("CD {:.3}", of.critical_difference);
    let bars = nemenyi.iter().map(|bar| bar.chars().count()).max().unwrap_or(0).max(cd.len());
    let worst = methods.len();
    let _ = writeln!(
        page,
        "  {:<name$}  1{worst:>gap$}  {:>5}  {cd:<bars$}  Wilcoxon",
        "",
        "rank",
        gap = SCALE - 1
    );
    for (place, &method) in order.iter().enumerate() {
        let rank = of.mean_ranks[method];
        let line = format!(
            "  {:<name$}  {}  {rank:>5.2}  {:<bars$}  {}",
            cut(&methods[method], name),
            scale((rank - 1.0) / (worst as f64 - 1.0), SCALE),
            nemenyi[place],
            wilcoxon[place],
        );
        page += line.trim_end();
        page.push('\n');
    }
    page + &significant_wins(comparison, of)
}

/// Which methods are significantly better than which others, by Wilcoxon's test with Holm.
fn significant_wins(comparison: &Comparison, of: &CriterionComparison) -> String {
    const MAX_NAMES: usize = 8;
    let mut page = String::new();
    for &method in &by_rank(&of.mean_ranks) {
        let beaten: Vec<String> = by_rank(&of.mean_ranks)
            .into_iter()
            .filter_map(|other| Some((other, of.pair(method, other)?)))
            .filter(|(_, pair)| pair.p_holm <= comparison.plan.alpha)
            .filter(|(_, pair)| (pair.effect.rank_biserial > 0.0) == (pair.a == method))
            .map(|(other, pair)| {
                format!("{} (p {})", comparison.methods[other], p_value(pair.p_holm))
            })
            .collect();
        let more = beaten.len().saturating_sub(MAX_NAMES);
        if !beaten.is_empty() {
            let shown = beaten.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = writeln!(page, "  {} beats {shown}{more}", comparison.methods[method]);
        }
    }
    page + &posteriors(comparison, of)
}

/// The posterior probabilities of each pair, if the Bayesian test was made.
fn posteriors(comparison: &Comparison, of: &CriterionComparison) -> String {
    const MAX_PAIRS: usize = 28;
    let mut page = String::new();
    for pair in of.pairs.iter().take(MAX_PAIRS) {
        let Some(posterior) = pair.posterior else { continue };
        let _ = writeln!(
            page,
            "  P({a} better) {:.3}, P(equivalent) {:.3}, P({b} better) {:.3}",
            posterior.better,
            posterior.equivalent,
            posterior.worse,
            a = comparison.methods[pair.a],
            b = comparison.methods[pair.b],
        );
    }
    page
}

/// A p-value with three significant digits; with two, as a power of ten, if it is below 0.001.
fn p_value(p: f64) -> String {
    match p {
        p if p >= 0.1 => format!("{p:.3}"),
        p if p >= 0.01 => format!("{p:.4}"),
        p if p >= 0.001 => format!("{p:.5}"),
        p => format!("{p:.1e}"),
    }
}
