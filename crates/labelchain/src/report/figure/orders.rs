//! In which order labels were decided: a heat map of labels by places in the order.

use super::super::drawing::{Anchor, BLUE, Style};
use super::grid::Grid;
use super::{Figure, WIDTH};
use crate::chain::OrderCounts;
use crate::data::LabelId;

/// Draws the figure of a method for these labels, the earliest first; none without walks.
pub(in crate::report) fn orders(
    id: String,
    method: &str,
    counts: &OrderCounts,
    labels: &[(LabelId, &str)],
    chosen: &str,
) -> Option<Figure> {
    let n_parts = counts.n_parts();
    if counts.n_walks() == 0 || labels.is_empty() {
        return None;
    }
    let is_whole = n_parts == counts.n_labels();
    let names: Vec<String> = labels.iter().map(|(_, name)| name.to_string()).collect();
    let columns: Vec<String> = (1..=n_parts).map(|part| part.to_string()).collect();
    let grid = Grid::new(&names, &columns, WIDTH, (48.0, 24.0));
    let mut drawing = grid.drawing(&names, &columns, 8.0);
    let size = (grid.cell.0 / 2.6).clamp(8.0, 11.0);
    let share = |n: u64| n as f64 / counts.n_walks() as f64;
    let greatest = labels.iter().flat_map(|&(label, _)| counts.by_part(label));
    let greatest = share(greatest.copied().max().unwrap_or(1)).max(1e-9);
    let mut text = Vec::new();
    for (row, &(label, name)) in labels.iter().enumerate() {
        for (part, &n) in counts.by_part(label).iter().enumerate() {
            let place = if is_whole { "place" } else { "tenth" };
            let tooltip = format!("{name}, {place} {}: {:.1} %", part + 1, 100.0 * share(n));
            let (x, y) = grid.at(row, part);
            let style = Style::area(BLUE).with_opacity(0.02 + 0.73 * share(n) / greatest);
            let (wide, high) = (grid.cell.0 - 2.0, grid.cell.1 - 2.0);
            drawing.rectangle((x + 1.0, y + 1.0), (wide, high), style, &tooltip);
            let (x, y) = grid.middle(row, part);
            let percent = format!("{:.0}", 100.0 * share(n));
            drawing.text((x, y + size * 0.35), Anchor::Middle, size, &percent);
        }
        let first = 100.0 * share(counts.n_first(label));
        let mean = counts.mean_position(label).unwrap_or(0.0);
        text.push(format!("{name}: first in {first:.1} %, mean place {mean:.2}"));
    }
    Some(Figure {
        id,
        title: format!("Orders of {method}"),
        caption: format!(
            "In how many of a hundred walks a label was decided at each {}, the earliest labels on \
             top{}; all members and tested rows, {} walks.",
            if is_whole { "place of the order" } else { "tenth of the order" },
            if labels.len() < counts.n_labels() { format!("; {chosen}") } else { String::new() },
            counts.n_walks(),
        ),
        text: text.join(". ") + ".",
        drawing,
    })
}
