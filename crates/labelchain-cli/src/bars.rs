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
