//! Turns results into reports: tests, tables and figures, as one page of HTML, as Markdown, LaTeX or
//! CSV.
//!
//! A [`Report`] holds the contents, independent of the format; a module for each format writes them
//! down. An [`EvaluationReport`] is about one data set, and a page of HTML. Figures are drawings, as SVG or PDF, tables are [`Sheet`]s, and the cells of a sheet say what
//! their numbers were computed from.

mod drawing;
mod evaluation;
mod figure;
mod html;
mod latex;
mod markdown;
mod numbers;
mod pdf;
mod printed;
mod sheet;
mod svg;
mod verdict;

pub use evaluation::EvaluationReport;
pub use figure::Figure;
pub use html::is_report;
pub use printed::PrintedResults;
pub use sheet::{Mark, Sheet, SheetCell, SheetRow};
pub use verdict::{cautions, p_text, verdict};

use printed::PrintedComparison;

use crate::data::CsvNames;
use crate::error::Result;
use crate::experiment::Results;
use crate::loss::Criterion;
use crate::stats::{Comparison, Gaps, LossTable, TestPlan, Zeros};

/// Compares the methods of some results by every criterion. All criteria are losses, except those
/// named in `higher_is_better`, whatever the capitals and punctuation of the names.
///
/// ```
/// use labelchain::experiment::Results;
/// use labelchain::report::{ReportFormat, Report, compare};
/// use labelchain::stats::TestPlan;
///
/// let text = "dataset,ecc,br\nyeast,0.2,0.3\nflags,0.3,0.4\nscene,0.1,0.2\n";
/// let results = Results::parse("losses.csv".as_ref(), text.as_bytes())?;
/// let comparison = compare(&results, &[], TestPlan::default())?;
/// assert_eq!(comparison.criteria[0].mean_ranks, [1.0, 2.0]);
/// let report = Report::of("Two methods", &results, &comparison, None, vec![])?;
/// assert!(report.text(ReportFormat::Markdown, false).starts_with("# Two methods\n"));
/// # Ok::<(), labelchain::error::Error>(())
/// ```
pub fn compare(
    results: &Results,
    higher_is_better: &[String],
    plan: TestPlan,
) -> Result<Comparison> {
    let higher: Vec<usize> =
        higher_is_better.iter().map(|name| results.criterion(name)).collect::<Result<_>>()?;
    let table = |(at, criterion): (usize, &String)| LossTable {
        criterion: criterion.clone(),
        losses: results.losses(at),
        higher_is_better: higher.contains(&at),
    };
    let tables = results.criteria().iter().enumerate().map(table).collect();
    Comparison::of(results.datasets(), results.methods(), tables, plan)
}

/// A criterion's name in reports: its [title](Criterion::title) if it is one of the eleven losses,
/// otherwise its name as it stands in the results.
pub fn title(criterion: &str) -> String {
    criterion.parse().map_or_else(|_| criterion.into(), |ours: Criterion| ours.title().into())
}

/// A criterion's name as part of file names and links, another for each name.
///
/// A plain name, such as `macro_f1`, is itself, with hyphens. Of all others, capitals, signs and
/// foreign letters are lost, since some file systems do not tell them apart or do not have them; a dot
/// and a hash of the name, which no plain name has, keep them distinct.
fn slug(criterion: &str) -> String {
    const MAX_LENGTH: usize = 60;
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let stem: String = criterion.chars().map(kept).take(MAX_LENGTH).collect();
    if stem.replace('-', "_") == criterion {
        stem
    } else {
        let hash = blake3::hash(criterion.as_bytes()).to_hex();
        format!("{stem}.{}", &hash[..16])
    }
}

/// The link to the section of a criterion. No other part of a report has such a name, whatever the
/// criterion is called.
fn section_id(criterion: &str) -> String {
    format!("by-{}", slug(criterion))
}

/// The contents of a report, in the order in which they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was compared.
    pub title: String,
    /// The [outcome](verdict()) in one sentence.
    pub verdict: String,
    /// What [limits](cautions()) the tests.
    pub cautions: Vec<String>,
    /// How the numbers were computed, in sentences.
    pub procedure: Vec<String>,
    /// What else a reader must know: where the numbers come from, and what is a reconstruction.
    pub notes: Vec<String>,
    /// The parts.
    pub sections: Vec<Section>,
    /// How names are written in [CSV](ReportFormat::Csv).
    pub names: CsvNames,
    comparison: Comparison,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name in links.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// The paragraphs before its figures and tables.
    pub text: Vec<String>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Its tables.
    pub sheets: Vec<Sheet>,
    /// Whether it is an appendix, which an HTML page shows folded.
    pub is_appendix: bool,
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// One self-contained page, with all figures in it.
    Html,
    /// Text and tables; figures are links to files in the directory `figures` next to it.
    Markdown,
    /// A complete document in the layout of the paper's tables.
    Latex,
    /// A table with one row for every number.
    Csv,
}

impl ReportFormat {
    /// The format that belongs to the extension of a file's name.
    pub fn of(path: &std::path::Path) -> Option<ReportFormat> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(ReportFormat::Html),
            "md" => Some(ReportFormat::Markdown),
            "tex" => Some(ReportFormat::Latex),
            "csv" => Some(ReportFormat::Csv),
            _ => None,
        }
    }
}

impl Report {
    /// Describes a comparison of these results and, if there are any, compares them with printed
    /// ones. An error says if the printed results have no loss in common with ours.
    pub fn of(
        title: &str,
        results: &Results,
        comparison: &Comparison,
        printed: Option<&PrintedResults>,
        notes: Vec<String>,
    ) -> Result<Report> {
        let mut sections = vec![overview(comparison), losses(comparison)];
        if let Some(printed) = printed {
            sections.push(printed_section(results, comparison, printed)?);
        }
        sections.push(tests(results, comparison));
        let criteria = comparison.criteria.iter().enumerate();
        sections.extend(criteria.map(|(at, of)| Section {
            id: section_id(&of.table.criterion),
            title: self::title(&of.table.criterion),
            text: vec![verdict::of_criterion(comparison, of)],
            figures: vec![figure::diagram(comparison, of)],
            sheets: vec![sheet::statistics(comparison, at), sheet::pairs(comparison, at)],
            is_appendix: false,
        }));
        let folds: Vec<Figure> =
            (0..comparison.criteria.len()).filter_map(|at| figure::folds(results, at)).collect();
        if !folds.is_empty() {
            sections.push(Section {
                id: "folds".into(),
                title: "Folds".into(),
                text: vec![
                    "How much losses vary from fold to fold. The tests above rest on the means."
                        .into(),
                ],
                figures: folds,
                sheets: Vec::new(),
                is_appendix: true,
            });
        }
        Ok(Report {
            title: title.into(),
            verdict: verdict(comparison),
            cautions: cautions(comparison),
            procedure: procedure(comparison),
            notes,
            sections,
            names: CsvNames::default(),
            comparison: comparison.clone(),
        })
    }

    /// The report as text of one format. Links to figures lead to `figures/`, if `has_figures`.
    pub fn text(&self, format: ReportFormat, has_figures: bool) -> String {
        match format {
            ReportFormat::Html => html::page(&self.page()),
            ReportFormat::Markdown => markdown::document(self, has_figures),
            ReportFormat::Latex => latex::document(self, &self.comparison),
            ReportFormat::Csv => numbers::rows(&self.comparison, self.names),
        }
    }

    fn page(&self) -> html::Page<'_> {
        html::Page {
            title: &self.title,
            verdict: &self.verdict,
            cautions: &self.cautions,
            notes: &self.notes,
            sections: &self.sections,
            procedure: &self.procedure,
            hint: "Point at a number, or see the tables of pairs and of full results, for what it was \
                   computed from.",
        }
    }

    /// The tables as LaTeX, each to be included by `\input`: a name without an ending, and the text.
    pub fn fragments(&self) -> impl Iterator<Item = (&str, String)> {
        let sheets = self.sections.iter().flat_map(|section| &section.sheets);
        sheets.map(|sheet| (sheet.id.as_str(), latex::fragment(sheet)))
    }

    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }
}

/// The lead picture and the losses that it rests on.
fn overview(comparison: &Comparison) -> Section {
    Section {
        id: "overview".into(),
        title: "Overview".into(),
        text: Vec::new(),
        figures: figure::heat_map(comparison).into_iter().collect(),
        sheets: vec![sheet::mean_losses(comparison)],
        is_appendix: false,
    }
}

fn losses(comparison: &Comparison) -> Section {
    let criteria = 0..comparison.criteria.len();
    Section {
        id: "losses".into(),
        title: "Losses on every data set".into(),
        text: vec![sheet::READING.into()],
        figures: Vec::new(),
        sheets: criteria.map(|at| sheet::losses(comparison, at)).collect(),
        is_appendix: true,
    }
}

/// The tests by all criteria, with the paper's figure.
fn tests(results: &Results, comparison: &Comparison) -> Section {
    let figures =
        [figure::radar(comparison), figure::wins(comparison), figure::time(results, comparison)];
    Section {
        id: "tests".into(),
        title: "Tests by all criteria".into(),
        text: verdict::findings(comparison),
        figures: figures.into_iter().flatten().collect(),
        sheets: vec![sheet::ranks(comparison)],
        is_appendix: false,
    }
}

fn printed_section(
    results: &Results,
    comparison: &Comparison,
    printed: &PrintedResults,
) -> Result<Section> {
    let compared = PrintedComparison::of(comparison, printed)?;
    let figures = figure::differences(&compared, results.methods());
    Ok(Section {
        id: "printed".into(),
        title: "Beside printed results".into(),
        text: compared.remarks(comparison, printed),
        figures: figures.into_iter().collect(),
        sheets: vec![compared.summary(results.methods()), compared.sheet(results.methods())],
        is_appendix: false,
    })
}

/// How the numbers were computed, in enough detail to compute them again.
fn procedure(comparison: &Comparison) -> Vec<String> {
    let TestPlan { alpha, control, gaps, zeros, exact_up_to, region, .. } = comparison.plan;
    let mut sentences = vec![
        "Within a data set, methods are ranked by loss, 1 for the smallest; equal losses share the \
         mean of their ranks."
            .to_string(),
        "Friedman's test (chi-squared, corrected for ties) asks whether mean ranks differ; its \
         p-values are adjusted by Holm over the criteria."
            .into(),
        format!(
            "The critical difference is {}, for level {alpha}: mean ranks closer than that are not told \
             apart. It is for use after Friedman's test, so it is left out where that finds no difference.",
            match control {
                None => "Nemenyi's, for all pairs of methods",
                Some(_) => "Bonferroni and Dunn's, for the control and each other method",
            }
        ),
        format!(
            "Wilcoxon's signed-rank test, two-sided, compares {} on differences rounded to 10 decimals; {}. It is exact for up to {exact_up_to} differences without zeros \
             and ties, else a normal approximation with continuity correction. Its p-values are \
             adjusted by Holm over the {} of a criterion; criteria are tested each on its own.",
            match control {
                None => "each pair of methods".into(),
                Some(control) => {
                    format!("the control, {}, with each other method", comparison.methods[control])
                }
            },
            match zeros {
                Zeros::Wilcox => "differences of zero are left out",
                Zeros::Pratt => "differences of zero are ranked and then left out (Pratt)",
                Zeros::Split => "the ranks of differences of zero are split between both sides",
            },
            match control {
                None => "pairs".into(),
                Some(_) => format!("{} comparisons", comparison.methods.len() - 1),
            }
        ),
        "The effect size is the matched-pairs rank-biserial correlation: 1 if the first method is \
         better on every data set, -1 if it is worse on every one."
            .into(),
    ];
    let higher: Vec<String> = comparison
        .criteria
        .iter()
        .filter(|of| of.table.higher_is_better)
        .map(|of| self::title(&of.table.criterion))
        .collect();
    sentences.insert(
        1,
        if higher.is_empty() {
            "All criteria are losses: smaller is better.".into()
        } else {
            format!("Higher is better by {}; smaller by all others.", higher.join(", "))
        },
    );
    if let Some(region) = region {
        sentences.push(format!(
            "The Bayesian signed-rank test counts mean differences of up to {region} as practically \
             equivalent."
        ));
    }
    match gaps {
        Gaps::Refuse => {}
        Gaps::DropSets => sentences.push(
            "A data set on which a method has no loss by a criterion is left out for that criterion."
                .into(),
        ),
        Gaps::WorstRank => sentences.push(
            "A method that has no loss on a data set comes last there, with the greatest difference."
                .into(),
        ),
    }
    sentences
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_criteria_share_a_file_and_every_file_can_be_made() {
        let mut names: Vec<String> = [
            "a/b", "a:b", "a-b", "a_b", "A_b", "a_B", "a b", "", "-", "λ", "δ", "日本", "con",
            "../x",
        ]
        .map(String::from)
        .into();
        names.extend(["x", "y"].map(|end| "long".repeat(100) + end));
        // A name that is made to collide with the slug of another.
        names.push(slug("a/b").replace(['-', '.'], "_"));
        let slugs: Vec<String> = names.iter().map(|name| slug(name)).collect();
        let distinct: HashSet<String> = slugs.iter().map(|slug| slug.to_lowercase()).collect();
        assert_eq!(distinct.len(), names.len(), "{slugs:?}");
        let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        for slug in slugs {
            assert!(slug.chars().all(is_safe) && slug.len() < 100, "{slug}");
        }
        assert_eq!(slug("macro_f1"), "macro-f1");
    }

    #[test]
    fn every_part_of_a_report_has_a_link_of_its_own() {
        let mut text = String::from("dataset,method,criterion,fold,loss\n");
        for criterion in
            ["losses", "folds", "x", "x_head", "losses_x", "overview", "X", "a/b", "a:b"]
        {
            for (dataset, losses) in [("s", [0.1, 0.2]), ("t", [0.2, 0.3])] {
                for (method, loss) in ["p", "q"].iter().zip(losses) {
                    for fold in 0..2 {
                        text += &format!("{dataset},{method},{criterion},{fold},{loss}\n");
                    }
                }
            }
        }
        let results = Results::parse("r.csv".as_ref(), text.as_bytes()).unwrap();
        let comparison = compare(&results, &[], TestPlan::default()).unwrap();
        let report = Report::of("Links", &results, &comparison, None, vec![]).unwrap();
        let page = report.text(ReportFormat::Html, false);
        let of = |start: &str| -> Vec<String> {
            let quoted = page.split(start).skip(1).filter_map(|rest| rest.split('"').next());
            quoted.map(String::from).collect()
        };
        let ids = of(" id=\"");
        let distinct: HashSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        let links = of(" href=\"#");
        assert!(links.len() > 9 && links.iter().all(|link| distinct.contains(link)));
    }
}
