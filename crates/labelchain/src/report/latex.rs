//! The report as a LaTeX document: the paper's tables with `booktabs`, several criteria side by side.
//! Each table of a report is also a fragment, which other documents can include.

use std::fmt::Write as _;

use super::sheet::{Mark, Sheet, SheetRow, best, decimals};
use super::{Report, p_text, title};
use crate::stats::{Comparison, CriterionComparison};

/// The preamble of every document.
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
    let _ = writeln!(page, "\\textbf{{{}}}\\par", escaped(&report.verdict));
    for sentence in report.cautions.iter().chain(&report.notes) {
        let _ = writeln!(page, "{}\\par", escaped(sentence));
    }
    // As many criteria stand side by side as fit across a page. The paper has 32 columns of three
    // digits.
    let at_once = |n_columns: usize| (n_columns / comparison.methods.len().max(1)).clamp(1, 4);
    let is_long = comparison.criteria.iter().any(|of| decimals(of) > 3);
    for criteria in comparison.criteria.chunks(at_once(if is_long { 24 } else { 32 })) {
        page += &losses(comparison, criteria);
    }
    page += &statistics(comparison, at_once(32));
    page += "\\section*{How it was computed}\n\\begin{itemize}\n";
    for sentence in &report.procedure {
        let _ = writeln!(page, "\\item {}", escaped(sentence));
    }
    page + "\\end{itemize}\n\\end{document}\n"
}

/// One table, to be included by `\input`: a `tabular` without a caption or a float around it. Numbers are
/// flush right; a head of a row that is a criterion or a data set is text as everywhere.
pub(super) fn fragment(sheet: &Sheet) -> String {
    let is_number = |column: usize| {
        sheet.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| cell.value.is_some()))
    };
    let n_cells = sheet.columns.len().saturating_sub(1);
    let sides: String =
        (0..n_cells).map(|column| if is_number(column) { 'r' } else { 'l' }).collect();
    let heads: Vec<String> = sheet.columns.iter().map(|name| escaped(name)).collect();
    let mut page = format!(
        "% {}\n% Needs \\usepackage{{booktabs}}.\n\\begin{{tabular}}{{l{sides}}}\n\\toprule\n{}\\\\\n\\midrule\n",
        sheet.caption.replace(char::is_control, " "),
        heads.join("&")
    );
    let mut is_below = false;
    for row in &sheet.rows {
        if row.is_summary && !is_below {
            page += "\\midrule\n";
            is_below = true;
        }
        page += &fragment_row(row, n_cells);
    }
    page + "\\bottomrule\n\\end{tabular}\n"
}

fn fragment_row(row: &SheetRow, n_cells: usize) -> String {
    let mut line = escaped(&row.head);
    let is_spanning = row.cells.len() == 1 && n_cells > 1;
    for cell in &row.cells {
        let text = marked(&escaped(&cell.text), cell.mark);
        let _ = if is_spanning {
            write!(line, "&\\multicolumn{{{n_cells}}}{{c}}{{{text}}}")
        } else {
            write!(line, "&{text}")
        };
    }
    line + "\\\\\n"
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
         test of method $i$ against the others, Holm over the {} of a criterion; bold where at most \
         {}. Methods: {}.}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
        if comparison.plan.control.is_some() {
            "comparisons with it, the control,"
        } else {
            "pairs"
        },
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
            let p = p_text(of.friedman_p_holm).replace('<', "$<$");
            let text = bold_if(&p, comparison.methods_differ(of));
            let _ = write!(page, "&\\multicolumn{{{k}}}{{c}}{{{text}}}");
        }
        page += "\\\\\n";
        let firsts = match comparison.plan.control {
            None => 0..k - 1,
            Some(control) => control..control + 1,
        };
        let is_new = |a: usize, b: usize| comparison.plan.control.is_some() || b > a;
        for a in firsts {
            let _ = write!(page, "Wp-{}", a + 1);
            for of in criteria {
                for b in 0..k {
                    let pair = of.pair(a, b).filter(|_| is_new(a, b));
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
            '–' => escaped.push_str("--"),
            '…' => escaped.push_str("\\dots{}"),
            '≈' => escaped.push_str("$\\approx$"),
            '|' => escaped.push_str("\\textbar{}"),
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
    use crate::experiment::Results;
    use crate::report::{compare, sheet};
    use crate::stats::TestPlan;

    #[test]
    fn names_are_text_and_no_commands() {
        assert_eq!(escaped("br_nb \\ 5% {a}"), "br\\_nb \\textbackslash{} 5\\% \\{a\\}");
    }

    #[test]
    fn a_fragment_is_a_table_and_no_document() {
        let text = "dataset,ecc-nb@precision=0.9,br_nb\nyeast,0.2,0.3\nflags,0.3,0.3\n";
        let results = Results::parse("hamming.csv".as_ref(), text.as_bytes()).unwrap();
        let comparison = compare(&results, &[], TestPlan::default()).unwrap();
        assert_eq!(
            fragment(&sheet::losses(&comparison, 0)),
            "% Hamming, with ranks\n% Needs \\usepackage{booktabs}.\n\\begin{tabular}{lrr}\n\\toprule\n\
             Data set&ecc-nb@precision=0.9&br\\_nb\\\\\n\\midrule\n\
             yeast&\\textbf{0.200 (1)}&0.300 (2)\\\\\n\
             flags&\\textbf{0.300 (1.5)}\\rlap{$^=$}&\\textbf{0.300 (1.5)}\\rlap{$^=$}\\\\\n\
             \\midrule\nMean&\\textbf{0.250}&0.300\\\\\n\
             Mean rank&\\textbf{1.25}&1.75\\\\\n\\bottomrule\n\\end{tabular}\n"
        );
    }
}
