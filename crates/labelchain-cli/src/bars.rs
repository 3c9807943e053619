//! Diagrams made of text: bars, scales and brackets.

/// A bar for a share, to an eighth of a character.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * width as f64 * 8.0).round() as usize;
    // A share greater than 0 is visible, however small it is.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// A name of at most `width` characters; a longer one ends with an ellipsis.
pub(crate) fn cut(name: &str, width: usize) -> String {
    if name.chars().count() > width {
        name.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    } else {
        name.into()
    }
}

/// The width of a column of names: that of the longest, but within the bounds.
pub(crate) fn width(names: &[String], min: usize, max: usize) -> usize {
    names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(min, max)
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

/// Draws a vertical bar next to the lines of each group, and returns the text to append to each line.
/// `order` holds the member shown in each line; the members of a group are in consecutive lines.
pub(crate) fn brackets(groups: &[Vec<usize>], order: &[usize]) -> Vec<String> {
    let place = |member: &usize| order.iter().position(|at| at == member);
    let mut lines = vec![Vec::new(); order.len()];
    // For each column of bars, the last line of its last bar.
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
