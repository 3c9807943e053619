//! The report as a LaTeX document: the paper's tables with `booktabs`, several criteria side by side.

use std::fmt::Write as _;

use super::sheet::{Mark, best, decimals, p_text};
use super::{Report, title};
use crate::stats::{Comparison, CriterionComparison};

/// The preamble of every document. A table copied into another document needs only these packages.
const PREAMBLE: &str = "\\documentclass[10pt]{article}
\\usepackage[T1]{fontenc}
\\usepackage[utf8]{inputenc}
\\usepackage[a4paper,landscape,margin=15mm]{geometry}
\\usepackage{booktabs}
\\setlength\\tabcolsep{2pt}
\\setlength\\parindent{0pt}
\\begin{document}
";

/// The whole document.
pub(super) fn document(report: &Report, comparison: &Comparison) -> String {
    let mut page = format!("{PREAMBLE}\\section*{{{}}}\n", escaped(&report.title));
    for sentence in report.notes.iter().chain(&report.sections[0].text) {
        let _ = writeln!(page, "{}\\par", escaped(sentence));
    }
    // As many criteria stand side by side as fit across a page. The paper has 32 columns of three
    // digits.
    let at_once = |n_columns: usize| (n_columns / comparison.methods.len().max(1)).clamp(1, 4);
    page += &statistics(comparison, at_once(32));
    let is_long = comparison.criteria.iter().any(|of| decimals(of) > 3);
    for criteria in comparison.criteria.chunks(at_once(if is_long { 24 } else { 32 })) {
        page += &losses(comparison, criteria);
    }
    page += "\\section*{How it was computed}\n\\begin{itemize}\n";
    for sentence in &report.procedure {
        let _ = writeln!(page, "\\item {}", escaped(sentence));
    }
    page + "\\end{itemize}\n\\end{document}\n"
}

/// The numbers and names of the methods, for captions.
fn key(comparison: &Comparison) -> String {
    let names = (1..).zip(&comparison.methods);
    let names: Vec<String> = names.map(|(at, name)| format!("{at} {}", escaped(name))).collect();
    names.join(", ")
}

/// The name of each criterion above its columns, and a rule under each name.
fn header(comparison: &Comparison, criteria: &[CriterionComparison]) -> String {
    let k = comparison.methods.len();
    let mut page = String::new();
    for of in criteria {
        let name = escaped(&title(&of.table.criterion));
        let _ = write!(page, "&\\multicolumn{{{k}}}{{c}}{{{name}}}");
    }
    page += "\\\\\n";
    for at in 0..criteria.len() {
        let _ = write!(page, "\\cmidrule(lr){{{}-{}}}", 2 + at * k, 1 + (at + 1) * k);
    }
    page.push('\n');
    page
}

fn numbers(comparison: &Comparison, n_criteria: usize) -> String {
    let numbers: String = (1..=comparison.methods.len()).map(|at| format!("&{at}")).collect();
    format!("Alg.{}\\\\\n", numbers.repeat(n_criteria))
}

/// The column specification: a name, then for each criterion a column for each method.
fn columns(comparison: &Comparison, n_criteria: usize) -> String {
    let block = "c".repeat(comparison.methods.len());
    format!("l{}", format!("@{{\\hspace{{8pt}}}}{block}").repeat(n_criteria))
}

/// The table of tests: for all criteria, block after block, the rows Rnk (mean ranks), Frd
/// (Friedman) and Wp (Wilcoxon).
fn statistics(comparison: &Comparison, at_once: usize) -> String {
    let k = comparison.methods.len();
    let n_columns = at_once.min(comparison.criteria.len());
    let mut page = format!(
        "\\begin{{table}}[p]\\centering\\scriptsize\n\\caption{{Statistical evaluation. Rnk: mean rank \
         over data sets. Frd: $p$ of the Friedman test, Holm over criteria. Wp-$i$: $p$ of the Wilcoxon \
         test of method $i$ against the others, Holm over the pairs of a criterion; bold where at most \
         {}. Methods: {}.}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
        comparison.plan.alpha,
        key(comparison),
        columns(comparison, n_columns)
    );
    page += &numbers(comparison, n_columns);
    for criteria in comparison.criteria.chunks(at_once) {
        page += "\\midrule\n";
        page += &header(comparison, criteria);
        page += "Rnk";
        for of in criteria {
            let ranks: Vec<Option<f64>> = of.mean_ranks.iter().copied().map(Some).collect();
            for (rank, mark) in of.mean_ranks.iter().zip(best(&ranks, false)) {
                let _ = write!(page, "&{}", marked(&format!("{rank:.2}"), mark));
            }
        }
        page += "\\\\\nFrd";
        for of in criteria {
            let p = format!("{:.6}", of.friedman_p_holm);
            let text =
                bold_if(p.trim_start_matches('0'), of.friedman_p_holm <= comparison.plan.alpha);
            let _ = write!(page, "&\\multicolumn{{{k}}}{{c}}{{{text}}}");
        }
        page += "\\\\\n";
        for a in 0..k - 1 {
            let _ = write!(page, "Wp-{}", a + 1);
            for of in criteria {
                for b in 0..k {
                    let pair = of.pair(a, b).filter(|_| b > a);
                    let text = pair.map(|pair| {
                        let p = p_text(pair.p_holm).replace('<', "$<$");
                        bold_if(&p, pair.p_holm <= comparison.plan.alpha)
                    });
                    let _ = write!(page, "&{}", text.unwrap_or_default());
                }
            }
            page += "\\\\\n";
        }
    }
    page + "\\bottomrule\n\\end{tabular}\n\\end{table}\n\\clearpage\n"
}

/// The losses of some criteria, on as many pages as the data sets take.
fn losses(comparison: &Comparison, criteria: &[CriterionComparison]) -> String {
    const ROWS_OF_A_PAGE: usize = 45;
    let titles: Vec<String> =
        criteria.iter().map(|of| escaped(&title(&of.table.criterion))).collect();
    let mut page = String::new();
    let sets: Vec<usize> = (0..comparison.datasets.len()).collect();
    for (part, sets) in sets.chunks(ROWS_OF_A_PAGE).enumerate() {
        let _ = write!(
            page,
            "\\begin{{table}}[p]\\centering\\scriptsize\n\\caption{{Full results{}: {}. Bold: best of the \
             row; $=$: best together with others. Methods: {}.}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
            if part > 0 { ", continued" } else { "" },
            titles.join(", "),
            key(comparison),
            columns(comparison, criteria.len())
        );
        page += &header(comparison, criteria);
        page += &numbers(comparison, criteria.len());
        page += "\\midrule\n";
        for &set in sets {
            page += &escaped(&comparison.datasets[set]);
            criteria.iter().for_each(|of| page += &row(of, set));
            page += "\\\\\n";
        }
        page += "\\bottomrule\n\\end{tabular}\n\\end{table}\n\\clearpage\n";
    }
    page
}

/// The losses on one data set by one criterion, without a zero before the point, as in the paper.
fn row(of: &CriterionComparison, set: usize) -> String {
    let digits = decimals(of);
    let losses = &of.table.losses[set];
    let marks = best(losses, of.table.higher_is_better);
    let cell = |(loss, mark): (&Option<f64>, Mark)| {
        let text = loss.map_or("--".into(), |loss| format!("{loss:.digits$}"));
        let text = text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}"));
        format!("&{}", marked(&text, mark))
    };
    losses.iter().zip(marks).map(cell).collect()
}

fn marked(text: &str, mark: Mark) -> String {
    match mark {
        Mark::None => text.into(),
        Mark::Best | Mark::Significant => format!("\\textbf{{{text}}}"),
        Mark::TiedBest => format!("\\textbf{{{text}}}\\rlap{{$^=$}}"),
    }
}

fn bold_if(text: &str, is_bold: bool) -> String {
    marked(text, if is_bold { Mark::Significant } else { Mark::None })
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_and_no_commands() {
        assert_eq!(escaped("br_nb \\ 5% {a}"), "br\\_nb \\textbackslash{} 5\\% \\{a\\}");
    }
}
