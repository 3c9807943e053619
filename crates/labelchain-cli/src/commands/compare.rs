//! `labelchain compare`: are methods different, which ones, and by how much? It compares the results
//! of any program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use labelchain::data::{save, save_directory, stem};
use labelchain::error::{Error, Result};
use labelchain::experiment::Results;
use labelchain::report::{
    PrintedResults, Report, ReportFormat, cautions, compare, p_text, title, verdict,
};
use labelchain::seed::Seed;
use labelchain::stats::{Comparison, CriterionComparison, Gaps, Pair, TestPlan, Zeros, by_rank};
use serde_json::{Map, Value, json};

use super::convert::report_files;
use crate::args::{ForceArgs, NameArgs, not_over};
use crate::bars::{brackets, cut, scale, width};
use crate::messages::{Failure, print, print_data};

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain compare results.csv -o report.html
  labelchain compare ours.csv theirs.csv --control ecc-nb --criteria hamming,macro-f1")]
pub(crate) struct Compare {
    /// Losses as CSV or TSV: dataset, method, criterion, loss, and fold if there are any; or dataset
    /// and one column for each method. Several files are read as one
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,

    #[command(flatten)]
    comparison: ComparisonArgs,
}

impl Compare {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let results = Results::read_all(&self.results)?;
        let inputs: Vec<&Path> = self.results.iter().map(PathBuf::as_path).collect();
        let name = match &inputs[..] {
            [one] => stem(one),
            [first, second] => format!("{} and {}", stem(first), stem(second)),
            inputs => format!("{} and {} more files", stem(inputs[0]), inputs.len() - 1),
        };
        self.comparison.run(&name, results, TestPlan::ALPHA, Vec::new(), &inputs)
    }
}

/// Which tests to make, and where to write the report.
#[derive(Args)]
pub(crate) struct ComparisonArgs {
    /// The level of significance [default: 0.05, or what the protocol of a study says]
    #[arg(long, value_name = "P")]
    alpha: Option<f64>,

    /// Compare the other methods with this one only: k - 1 tests instead of k (k - 1) / 2
    #[arg(long, value_name = "METHOD")]
    control: Option<String>,

    /// Compare by these criteria only, in this order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    criteria: Vec<String>,

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
    force: ForceArgs,

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
    /// Compares the methods, at level `alpha` unless another was asked for, writes the report, and prints
    /// a summary. The files `inputs` are not overwritten.
    pub(crate) fn run(
        &self,
        name: &str,
        results: Results,
        alpha: f64,
        notes: Vec<String>,
        inputs: &[&Path],
    ) -> Result<(), Failure> {
        let results =
            if self.criteria.is_empty() { results } else { results.only(&self.criteria)? };
        let plan = TestPlan {
            alpha: self.alpha.unwrap_or(alpha),
            control: self.control.as_deref().map(|name| results.method(name)).transpose()?,
            ..self.plan()
        };
        let comparison = compare(&results, &self.higher_is_better, plan)?;
        if let Some(out) = &self.report {
            not_over(inputs, out)?;
            if out.is_dir() {
                self.force.check_directory(out, |name| REPORT.contains(&name))?;
            } else {
                self.force.check_report(out)?;
            }
            self.compare_paper.iter().try_for_each(|path| not_over(&[path], out))?;
            let printed = self.compare_paper.as_deref().map(PrintedResults::read).transpose()?;
            let title = format!(
                "{name}: {} methods on {}",
                comparison.methods.len(),
                comparison.sets_in_words()
            );
            let mut report = Report::of(&title, &results, &comparison, printed.as_ref(), notes)?;
            report.names = self.names.names();
            save_report(&report, &results, out)?;
            report_files(std::slice::from_ref(out));
        }
        if self.json {
            return print_data(&json(&comparison));
        }
        print(&text(&comparison))
    }

    /// How the tests are made.
    fn plan(&self) -> TestPlan {
        TestPlan {
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
            ..TestPlan::default()
        }
    }
}

/// What stands in a directory of a report.
const REPORT: [&str; 7] = [
    "report.html",
    "report.md",
    "report.tex",
    "statistics.csv",
    "results.csv",
    "figures",
    "tables",
];

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
        files.push((format!("figures/{}.svg", figure.id), figure.svg().into_bytes()));
        files.push((format!("figures/{}.pdf", figure.id), figure.pdf()));
    }
    for (name, text) in report.fragments() {
        files.push((format!("tables/{name}.tex"), text.into_bytes()));
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
        // Without a control, the critical difference is Nemenyi's, with one Bonferroni and Dunn's.
        let is_nemenyi = comparison.plan.control.is_none();
        let cd = |is_shown: bool| is_shown.then_some(of.critical_difference);
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
            "nemenyi_cd": cd(is_nemenyi),
            "bonferroni_dunn_cd": cd(!is_nemenyi),
            "least_p_holm": of.least_p_holm(),
            "wilcoxon": of.pairs.iter().map(pair).collect::<Vec<_>>(),
            "nemenyi_groups": is_nemenyi.then(|| named(of.nemenyi_cliques())),
            "wilcoxon_groups":
                is_nemenyi.then(|| named(of.wilcoxon_cliques(comparison.plan.alpha))),
            "higher_is_better": of.table.higher_is_better,
        })
    };
    let json = json!({
        "alpha": comparison.plan.alpha,
        "control": comparison.plan.control.map(|control| &methods[control]),
        "verdict": verdict(comparison),
        "cautions": cautions(comparison),
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
    let mut page = wrapped(&verdict(comparison), "");
    for caution in cautions(comparison) {
        page += &wrapped(&format!("warning: {caution}"), "  ");
    }
    let control = comparison.plan.control.map(|at| format!("; control {}", comparison.methods[at]));
    let _ = write!(
        page,
        "\n{} on {}, by {}; level of significance {alpha}{}\n{}\n\n",
        many(comparison.methods.len(), "method", "methods"),
        comparison.sets_in_words(),
        many(comparison.criteria.len(), "criterion", "criteria"),
        control.unwrap_or_default(),
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
    page += match comparison.plan.control {
        None => {
            "\n  A bar joins methods that cannot be told apart: by Nemenyi's test, mean ranks closer than\n  \
             CD; by Wilcoxon's, neighbours of which no two differ, p adjusted by Holm over the pairs.\n"
        }
        Some(_) => {
            "\n  Under CD, a bar stands beside methods whose mean ranks are closer to the control's than the\n  \
             critical difference of Bonferroni and Dunn. Under Wilcoxon stands the p of each method against\n  \
             the control, adjusted by Holm over these comparisons; * where it is at most the level.\n"
        }
    };
    if comparison.criteria.iter().any(|of| !comparison.methods_differ(of)) {
        page += "  Where Friedman's test finds no difference, mean ranks are not compared, and CD is left out.\n";
    }
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

/// The mean losses and the mean ranks by each criterion; nothing if there are too many methods for a
/// line.
fn overview(comparison: &Comparison) -> String {
    const MAX_METHODS: usize = 8;
    if comparison.methods.len() > MAX_METHODS {
        return String::new();
    }
    // Names that are too long for a column are numbered, so that none is cut to the same as another.
    let is_numbered = comparison.methods.iter().any(|name| name.chars().count() > 12);
    let mut page = String::new();
    let numbered = (1..).zip(&comparison.methods);
    let heads: Vec<String> = if is_numbered {
        for (at, method) in numbered.clone() {
            let _ = writeln!(page, "  ({at}) {}", cut(method, 76));
        }
        page.push('\n');
        numbered.map(|(at, _)| format!("({at})")).collect()
    } else {
        comparison.methods.clone()
    };
    let grid = Grid::new(comparison, &heads);
    let line = |title: &str, values: &[f64], sign: f64, digits: usize| {
        let least = values.iter().map(|value| sign * value).fold(f64::INFINITY, f64::min);
        let is_best = |value: f64| sign * value == least;
        let mark =
            if values.iter().filter(|&&value| is_best(value)).count() > 1 { "=" } else { "*" };
        let cells = values
            .iter()
            .map(|&value| (format!("{value:.digits$}"), if is_best(value) { mark } else { " " }));
        grid.line(title, cells)
    };

    page += grid.line("mean loss", heads.iter().map(|head| (head.clone(), " "))).trim_end();
    page.push('\n');
    for of in &comparison.criteria {
        let mean = |method: usize| {
            let losses = of.used.iter().filter_map(|&set| of.table.losses[set][method]);
            losses.clone().sum::<f64>() / losses.count().max(1) as f64
        };
        let means: Vec<f64> = (0..comparison.methods.len()).map(mean).collect();
        let sign = if of.table.higher_is_better { -1.0 } else { 1.0 };
        page += line(&title(&of.table.criterion), &means, sign, 4).trim_end();
        page.push('\n');
    }
    page.push('\n');
    page += &grid.line("mean rank", heads.iter().map(|head| (head.clone(), " ")));
    page += "  Friedman p\n";
    for of in &comparison.criteria {
        page += &line(&title(&of.table.criterion), &of.mean_ranks, 1.0, 2);
        let differ = if comparison.methods_differ(of) { "  differ" } else { "" };
        let _ = writeln!(page, "{:>12}{differ}", p_text(of.friedman_p_holm));
    }
    page + "\n  * best, = tied for the best; Friedman p adjusted by Holm over the criteria\n"
}

/// The widths of the columns of a table of criteria and methods.
struct Grid {
    name: usize,
    column: usize,
}

impl Grid {
    fn new(comparison: &Comparison, heads: &[String]) -> Grid {
        let titles: Vec<String> =
            comparison.criteria.iter().map(|of| title(&of.table.criterion)).collect();
        Grid { name: width(&titles, 9, 24), column: width(heads, 6, 12) + 2 }
    }

    /// A line without its end: a name, then cells with a sign after each.
    fn line<'s>(&self, name: &str, cells: impl Iterator<Item = (String, &'s str)>) -> String {
        let Grid { name: first, column } = *self;
        let mut line = format!("  {:<first$}", cut(name, first));
        for (cell, sign) in cells {
            let _ = write!(line, "{cell:>column$}{sign}");
        }
        line
    }
}

/// A text in lines of at most 100 characters, of which all but the first are indented.
fn wrapped(text: &str, indent: &str) -> String {
    const WIDTH: usize = 100;
    let mut page = String::new();
    let mut n_letters = 0;
    for word in text.split(' ') {
        let n_more = word.chars().count();
        if n_letters > 0 && n_letters + 1 + n_more > WIDTH {
            page = page + "\n" + indent;
            n_letters = indent.len();
        } else if n_letters > 0 {
            page.push(' ');
            n_letters += 1;
        }
        page += word;
        n_letters += n_more;
    }
    page + "\n"
}

/// The diagram of one criterion: a line for each method, sorted by mean rank. Next to them are bars that
/// join methods which a test does not distinguish or, with a control, its comparison with each.
fn diagram(comparison: &Comparison, of: &CriterionComparison) -> String {
    const SCALE: usize = 37;
    let Comparison { plan, methods, .. } = comparison;
    let is_found = comparison.methods_differ(of);
    let mut page = format!(
        "{}{}, {} data sets: Friedman χ² {:.2}, p {}, {} by Holm: {}\n",
        title(&of.table.criterion),
        if of.table.higher_is_better { " (higher is better)" } else { "" },
        of.used.len(),
        of.friedman.statistic,
        p_text(of.friedman.p),
        p_text(of.friedman_p_holm),
        if is_found { "the methods differ" } else { "no difference found" }
    );
    let order = by_rank(&of.mean_ranks);
    let name = width(methods, 6, 24);
    let cliques = match plan.control {
        _ if !is_found => Vec::new(),
        None => of.nemenyi_cliques(),
        Some(control) => {
            let distance = |method: usize| (of.mean_ranks[method] - of.mean_ranks[control]).abs();
            let is_near = |&&method: &&usize| distance(method) < of.critical_difference;
            vec![order.iter().filter(is_near).copied().collect()]
        }
    };
    let by_ranks = brackets(&cliques, &order);
    let wilcoxon = match plan.control {
        None => brackets(&of.wilcoxon_cliques(plan.alpha), &order),
        Some(control) => {
            order.iter().map(|&method| against(comparison, of, control, method)).collect()
        }
    };
    let cd = if is_found { format!("CD {:.3}", of.critical_difference) } else { "no CD".into() };
    let bars = by_ranks.iter().map(|bar| bar.chars().count()).max().unwrap_or(0).max(cd.len());
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
            by_ranks[place],
            wilcoxon[place],
        );
        page += line.trim_end();
        page.push('\n');
    }
    page + &significant_wins(comparison, of)
}

/// How a method compares with the control.
fn against(
    comparison: &Comparison,
    of: &CriterionComparison,
    control: usize,
    method: usize,
) -> String {
    match of.pair(control, method) {
        None => "control".into(),
        Some(pair) => {
            let star = if pair.p_holm <= comparison.plan.alpha { "*" } else { "" };
            format!("{:>5}{star}", p_text(pair.p_holm))
        }
    }
}

/// Which methods are significantly better than which others, by Wilcoxon's test with Holm.
fn significant_wins(comparison: &Comparison, of: &CriterionComparison) -> String {
    const MAX_NAMES: usize = 8;
    let mut page = String::new();
    for &method in &by_rank(&of.mean_ranks) {
        let beaten: Vec<String> = by_rank(&of.mean_ranks)
            .into_iter()
            .filter(|&other| of.is_better(method, other, comparison.plan.alpha))
            .filter_map(|other| Some((other, of.pair(method, other)?)))
            .map(|(other, pair)| {
                format!("{} (p {})", comparison.methods[other], p_text(pair.p_holm))
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
