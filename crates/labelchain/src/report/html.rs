//! The report as one self-contained HTML page, which needs no network and no other file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::sheet::{Mark, Sheet, SheetCell, SheetRow};
use super::svg::Escaped;
use super::{Figure, Section};

/// The page's content security policy: a browser may load nothing from elsewhere, and obeys only the
/// styles and the script that have these SHA-256 hashes, whatever stands in a name. They are those of
/// page.css, of the style in each figure, and of page.js; a test says what they have to be.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; \
     style-src 'sha256-gwyE0Pzf72i0zNXsRnn3O7FFvlBZnp4bPGwA6QTTW1U=' \
     'sha256-3dGct+5a9b5wPfdUn65qsz3o07nm0kOQu9HDNEn3X8A='; \
     script-src 'sha256-rYFruZAwn6kjqZTYeDoR31KTgI6cJNeEWYxJ1TnFslk='";

/// What a page shows, of whichever report.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) verdict: &'a str,
    pub(super) cautions: &'a [String],
    pub(super) notes: &'a [String],
    pub(super) sections: &'a [Section],
    pub(super) procedure: &'a [String],
    /// Where to look for what numbers were computed from.
    pub(super) hint: &'a str,
}

/// By what a page is known as one of ours.
const GENERATOR: &str = "<meta name=\"generator\" content=\"labelchain\">";

/// Whether a file begins like a page of a report, which another report may replace.
pub fn is_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}

/// The whole page.
pub(super) fn page(report: &Page) -> String {
    let title = Escaped(report.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         {GENERATOR}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<header>\n<h1>{title}</h1>\n",
        include_str!("page.css")
    );
    let _ = writeln!(page, "<p class=\"verdict\">{}</p>", Escaped(report.verdict));
    for caution in report.cautions {
        let _ = writeln!(page, "<p class=\"caution\" role=\"note\">{}</p>", Escaped(caution));
    }
    if !report.notes.is_empty() {
        page += "<div class=\"notes\">\n";
        report.notes.iter().for_each(|note| page += &paragraph(note));
        page += "</div>\n";
    }
    page += "<nav aria-label=\"Sections\"><ul>\n";
    for section in report.sections {
        let _ =
            writeln!(page, "<li><a href=\"#{}\">{}</a></li>", section.id, Escaped(&section.title));
    }
    page +=
        "<li><a href=\"#recipe\">How it was computed</a></li>\n</ul></nav>\n</header>\n<main>\n";
    for section in report.sections {
        page += &part(section, report);
    }
    page += "<section id=\"recipe\">\n<h2>How it was computed</h2>\n<ul>\n";
    for sentence in report.procedure {
        let _ = writeln!(page, "<li>{}</li>", Escaped(sentence));
    }
    let (version, hint) = (env!("CARGO_PKG_VERSION"), Escaped(report.hint));
    let _ = write!(
        page,
        "</ul>\n</section>\n</main>\n<footer>labelchain {version}. {hint}</footer>\n<script>\n{}</script>\n\
         </body>\n</html>\n",
        include_str!("page.js")
    );
    page
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", Escaped(text))
}

fn part(section: &Section, report: &Page) -> String {
    let Section { id, title, .. } = section;
    let mut page = format!(
        "<section id=\"{id}\" aria-labelledby=\"head-{id}\">\n<h2 id=\"head-{id}\">{}</h2>\n",
        Escaped(title)
    );
    section.text.iter().for_each(|text| page += &paragraph(text));
    let losses = format!("losses-{id}");
    if report.sections.iter().flat_map(|section| &section.sheets).any(|sheet| sheet.id == losses) {
        let _ = writeln!(page, "<p><a href=\"#{losses}\">The losses and ranks it rests on</a></p>");
    }
    // The figures and the first table are shown at once, the other tables after a click.
    let is_folded = |place: usize| section.is_appendix || place > 0;
    let tables: Vec<String> = section
        .sheets
        .iter()
        .enumerate()
        .map(|(place, sheet)| {
            if is_folded(place) {
                folded(&sheet.id, &sheet.caption, &table(sheet, ""))
            } else {
                table(sheet, &sheet.id)
            }
        })
        .collect();
    let figures: Vec<String> = section
        .figures
        .iter()
        .map(|of| {
            if section.is_appendix {
                folded(&format!("{}-figure", of.id), &of.title, &figure(of))
            } else {
                figure(of)
            }
        })
        .collect();
    let figures = figures.concat();
    if section.is_appendix {
        return page + &figures + &tables.concat() + "</section>\n";
    }
    match section.figures.len() {
        0 => page + &tables.concat() + "</section>\n",
        // A single figure stands next to the table with the same content.
        1 => {
            let (first, rest) = tables.split_at(tables.len().min(1));
            let first = first.concat();
            page + &format!(
                "<div class=\"side\">\n{figures}{first}</div>\n{}</section>\n",
                rest.concat()
            )
        }
        _ => {
            page + &format!(
                "<div class=\"figures\">\n{figures}</div>\n{}</section>\n",
                tables.concat()
            )
        }
    }
}

fn folded(id: &str, title: &str, content: &str) -> String {
    format!("<details id=\"{id}\">\n<summary>{}</summary>\n{content}</details>\n", Escaped(title))
}

fn figure(figure: &Figure) -> String {
    let Figure { title, caption, .. } = figure;
    let (class, drawing) = if figure.is_wide() {
        (" class=\"wide\"", scrolling(title, "", &figure.svg()))
    } else {
        ("", figure.svg())
    };
    format!(
        "<figure{class}>\n{drawing}<figcaption><b>{}.</b> {}</figcaption>\n</figure>\n",
        Escaped(title),
        Escaped(caption)
    )
}

/// A frame within which wide content scrolls, and which shows that there is more. The tabindex makes
/// scrolling possible by keyboard, too.
fn scrolling(name: &str, id: &str, content: &str) -> String {
    format!(
        "<div class=\"frame\">\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{}\"{id}>\n{content}</div>\n\
         <p class=\"hint\">Wider than the page: scroll it sideways</p>\n</div>\n",
        Escaped(name)
    )
}

fn table(sheet: &Sheet, id: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
    let caption = Escaped(&sheet.caption);
    let mut page = format!("<table>\n<caption><span>{caption}</span></caption>\n<thead><tr>");
    let is_sortable = sheet.columns.first().is_some_and(|name| !name.is_empty());
    for name in &sheet.columns {
        let text = Escaped(name);
        let _ = if name.is_empty() {
            write!(page, "<td></td>")
        } else if is_sortable {
            write!(page, "<th scope=\"col\"><button>{text}</button></th>")
        } else {
            write!(page, "<th scope=\"col\">{text}</th>")
        };
    }
    page += "</tr></thead>\n<tbody>\n";
    let (summaries, rows): (Vec<&SheetRow>, Vec<&SheetRow>) =
        sheet.rows.iter().partition(|row| row.is_summary);
    rows.into_iter().for_each(|row| page += &table_row(row, sheet.columns.len() - 1));
    page += "</tbody>\n";
    if !summaries.is_empty() {
        page += "<tfoot>\n";
        summaries.into_iter().for_each(|row| page += &table_row(row, sheet.columns.len() - 1));
        page += "</tfoot>\n";
    }
    scrolling(&sheet.caption, &id, &(page + "</table>\n"))
}

fn table_row(row: &SheetRow, n_columns: usize) -> String {
    let head = Escaped(&row.head);
    let head = match &row.link {
        Some(link) => format!("<a href=\"#{link}\">{head}</a>"),
        None => head.to_string(),
    };
    let cells: String = match &row.cells[..] {
        [one] if n_columns > 1 => cell(one, &format!(" colspan=\"{n_columns}\"")),
        cells => cells.iter().map(|of| cell(of, "")).collect(),
    };
    format!("<tr><th scope=\"row\">{head}</th>{cells}</tr>\n")
}

fn cell(cell: &SheetCell, span: &str) -> String {
    let class = match (cell.mark, cell.value) {
        (Mark::Best | Mark::TiedBest, _) => " class=\"best\"",
        (Mark::Significant, _) => " class=\"significant\"",
        (Mark::None, None) => " class=\"words\"",
        (Mark::None, Some(_)) => "",
    };
    let value = cell.value.map(|value| format!(" data-value=\"{value}\"")).unwrap_or_default();
    let source = if cell.source.is_empty() {
        String::new()
    } else {
        format!(" title=\"{}\"", Escaped(&cell.source))
    };
    // The rank in brackets after a loss is set smaller.
    let text = match cell.text.split_once(" (") {
        Some((loss, rank)) if cell.value.is_some() => {
            format!("{} <small>({}</small>", Escaped(loss), Escaped(rank))
        }
        _ => Escaped(&cell.text).to_string(),
    };
    let tie = if cell.mark == Mark::TiedBest {
        "<span class=\"tie\" title=\"tied for the best\">=</span>"
    } else {
        ""
    };
    format!("<td{span}{class}{value}{source}>{text}{tie}</td>")
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::experiment::Results;
    use crate::report::{Report, ReportFormat, compare};
    use crate::stats::TestPlan;

    /// What stands between the tags of an element, wherever it occurs.
    fn contents<'p>(page: &'p str, element: &str) -> Vec<&'p str> {
        let (start, end) = (format!("<{element}>"), format!("</{element}>"));
        page.split(&start).skip(1).map(|rest| rest.split(&end).next().unwrap()).collect()
    }

    #[test]
    fn the_policy_knows_every_style_and_script_of_the_page_and_no_other() {
        let text = "dataset,ecc,br\nyeast,0.2,0.3\nflags,0.3,0.4\nscene,0.1,0.2\n";
        let results = Results::parse("losses.csv".as_ref(), text.as_bytes()).unwrap();
        let comparison = compare(&results, &[], TestPlan::default()).unwrap();
        let report = Report::of("Two methods", &results, &comparison, None, vec![]).unwrap();
        let page = report.text(ReportFormat::Html, false);
        let hash =
            |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        let hashes = |element| {
            let mut hashes: Vec<String> = contents(&page, element).into_iter().map(hash).collect();
            hashes.dedup();
            hashes.join(" ")
        };
        let (styles, scripts) = (hashes("style"), hashes("script"));
        assert!(
            POLICY.ends_with(&format!("style-src {styles}; script-src {scripts}")),
            "{styles} {scripts}"
        );
        assert!(
            !page.contains(" style=") && !page.contains("<style ") && !page.contains("<script ")
        );
    }
}
