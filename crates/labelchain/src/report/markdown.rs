//! The report as Markdown: text, tables, and links to figures.

use std::fmt::Write as _;

use super::sheet::{Mark, Sheet, SheetCell};
use super::{Report, Section};

/// The whole document.
pub(super) fn document(report: &Report, has_figures: bool) -> String {
    let mut page = format!("# {}\n\n**{}**\n\n", escaped(&report.title), escaped(&report.verdict));
    for caution in &report.cautions {
        let _ = writeln!(page, "*Too few data sets.* {}\n", escaped(caution));
    }
    for note in &report.notes {
        let _ = writeln!(page, "> {}\n", escaped(note));
    }
    // A section that has only figures is left out where figures are not shown.
    let is_shown = |section: &&Section| has_figures || !section.sheets.is_empty();
    for section in report.sections.iter().filter(is_shown) {
        page += &part(section, has_figures);
    }
    page += "## How it was computed\n\n";
    for sentence in &report.procedure {
        let _ = writeln!(page, "- {}", escaped(sentence));
    }
    page
}

fn part(section: &Section, has_figures: bool) -> String {
    let mut page = format!("## {}\n\n", escaped(&section.title));
    for sentence in &section.text {
        let _ = writeln!(page, "{}\n", escaped(sentence));
    }
    for figure in &section.figures {
        if has_figures {
            let _ = writeln!(page, "![{}](figures/{}.svg)\n", escaped(&figure.title), figure.id);
            let _ = writeln!(page, "*{}.* {}\n", escaped(&figure.title), escaped(&figure.caption));
        }
    }
    section.sheets.iter().for_each(|sheet| page += &table(sheet));
    page
}

fn table(sheet: &Sheet) -> String {
    let mut page = format!("**{}**\n\n", escaped(&sheet.caption));
    let joined = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    page += &joined(sheet.columns.iter().map(|name| escaped(name)).collect());
    let has_number = |column: usize| {
        sheet.rows.iter().any(|row| row.cells.get(column).is_some_and(|it| it.value.is_some()))
    };
    let side = |column| if has_number(column) { "--:" } else { ":--" }.to_string();
    let sides = (0..sheet.columns.len().saturating_sub(1)).map(side);
    page += &joined([":--".into()].into_iter().chain(sides).collect());
    for row in &sheet.rows {
        let head =
            if row.is_summary { format!("*{}*", escaped(&row.head)) } else { escaped(&row.head) };
        let mut cells = vec![head];
        cells.extend(row.cells.iter().map(cell));
        // Markdown has no cells that span several columns, so the missing ones are left empty.
        cells.resize(sheet.columns.len(), String::new());
        page += &joined(cells);
    }
    page + "\n"
}

fn cell(cell: &SheetCell) -> String {
    let text = escaped(&cell.text);
    match cell.mark {
        Mark::None => text,
        Mark::Best | Mark::Significant => format!("**{text}**"),
        Mark::TiedBest => format!("**{text}** ="),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '#') {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}
