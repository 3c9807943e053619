//! Pictures made of text.

/// A share as a bar, in eighths of a character.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * width as f64 * 8.0).round() as usize;
    // However rare, a label that occurs leaves a mark.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// A name that fits: cut, with a sign that it was.
pub(crate) fn cut(name: &str, width: usize) -> String {
    match name.chars().count() > width {
        true => name.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => name.into(),
    }
}

/// The width of a column of names.
pub(crate) fn width(names: &[String], least: usize, most: usize) -> usize {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(least, most)
}

/// A line with a mark at a share of its length.
pub(crate) fn scale(share: f64, width: usize) -> String {
    let at = (share.clamp(0.0, 1.0) * (width - 1) as f64).round() as usize;
    let line = |n: usize| "─".repeat(n);
    match at {
        0 => format!("●{}┤", line(width - 2)),
        at if at == width - 1 => format!("├{}●", line(width - 2)),
        at => format!("├{}●{}┤", line(at - 1), line(width - 2 - at)),
    }
}

/// Bars beside lines, one for each group of neighbours: what stands beside each line. `order` says
/// which member of a group stands in which line.
pub(crate) fn brackets(groups: &[Vec<usize>], order: &[usize]) -> Vec<String> {
    let place = |member: &usize| order.iter().position(|at| at == member);
    let mut lines = vec![Vec::new(); order.len()];
    // Up to which line each column is taken.
    let mut columns: Vec<usize> = Vec::new();
    for group in groups {
        let (Some(first), Some(last)) =
            (group.first().and_then(place), group.last().and_then(place))
        else {
            continue;
        };
        let free = columns.iter().position(|&taken| taken < first);
        let column = free.unwrap_or(columns.len());
        match free {
            Some(column) => columns[column] = last,
            None => columns.push(last),
        }
        for (at, line) in lines.iter_mut().enumerate().take(last + 1).skip(first) {
            line.resize(line.len().max(2 * column + 1), ' ');
            line[2 * column] = match at {
                at if at == first => '┐',
                at if at == last => '┘',
                _ => '│',
            };
        }
    }
    lines.into_iter().map(String::from_iter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_at_its_share() {
        assert_eq!(scale(0.0, 5), "●───┤");
        assert_eq!(scale(0.5, 5), "├─●─┤");
        assert_eq!(scale(1.0, 5), "├───●");
    }

    #[test]
    fn bars_that_overlap_stand_side_by_side() {
        let order = [2, 0, 1, 3];
        let groups = [vec![2, 0], vec![0, 1, 3]];
        assert_eq!(brackets(&groups, &order), ["┐", "┘ ┐", "  │", "  ┘"]);
        assert_eq!(brackets(&[vec![2, 0], vec![1, 3]], &order), ["┐", "┘", "┐", "┘"]);
        let chain = [vec![2, 0], vec![0, 1], vec![1, 3]];
        assert_eq!(brackets(&chain, &order), ["┐", "┘ ┐", "┐ ┘", "┘"]);
    }
}
