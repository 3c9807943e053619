//! Decimal commas and points, which a file must not mix.
//!
//! Spreadsheets that write decimal commas separate fields by semicolons, and may group thousands by points. There
//! `1.500` is fifteen hundred, and in a file with decimal points it is one and a half. A cell alone does not tell;
//! the other numbers of the file do, and where they say that commas are decimal, such a cell is refused.

use super::records::Record;
use crate::data::number;
use crate::data::rows::{NamedColumns, Role};
use crate::error::Result;

/// The first number with a decimal comma and the first whose point may group thousands.
pub(super) struct DecimalSigns {
    /// The columns of numbers, with their names; none where commas separate fields and cannot be decimal.
    columns: Vec<(usize, String)>,
    comma: Option<Place>,
    point: Option<Place>,
}

/// A number as it is spelt, and where it stands.
struct Place {
    spelt: String,
    place: String,
}

impl DecimalSigns {
    /// The columns that are read for a model, or else all that may be numbers; those that are left out may be spelt
    /// as they like.
    pub(super) fn of(separator: u8, columns: &NamedColumns, left_out: &[String]) -> DecimalSigns {
        let read = match columns.roles.contains(&Role::Number) {
            true => Role::Number,
            false => Role::Unknown,
        };
        let is_number =
            |at: &usize| columns.roles[*at] == read && !left_out.contains(&columns.names[*at]);
        let named = |at: usize| (at, columns.names[at].clone());
        let columns = match separator {
            b';' => (0..columns.roles.len()).filter(is_number).map(named).collect(),
            _ => vec![],
        };
        DecimalSigns { columns, comma: None, point: None }
    }

    /// Refuses the first cell that shows that a file mixes both signs.
    pub(super) fn check(&mut self, record: &Record) -> Result<()> {
        for &(column, ref name) in &self.columns {
            let cell = record.bytes(column).trim_ascii();
            let sign = if record.decimal_comma(column).is_some() {
                &mut self.comma
            } else if is_grouped(cell) {
                &mut self.point
            } else {
                continue;
            };
            sign.get_or_insert_with(|| Place {
                spelt: String::from_utf8_lossy(cell).into_owned(),
                place: format!("line {}, {name:?}", record.first_line().number),
            });
            if let (Some(comma), Some(point)) = (&self.comma, &self.point) {
                let fault = record.fault_in(column, "numbers that are all spelt alike");
                let help = format!(
                    "{:?} ({}) has a decimal comma, so {:?} ({}) may be {} or {}: write numbers \
                     without points between thousands, or all with decimal points",
                    comma.spelt,
                    comma.place,
                    point.spelt,
                    point.place,
                    point.spelt.replace('.', ""),
                    point.spelt.replacen('.', ",", 1),
                );
                return Err(fault.help(help).into());
            }
        }
        Ok(())
    }
}

/// A number with a decimal comma, whose thousands may be grouped by points; or one of several such groups, which has
/// no decimals.
pub(super) fn parse_comma(cell: &[u8]) -> Option<f64> {
    let Some(at) = memchr::memchr(b',', cell) else {
        let n_points = memchr::memchr_iter(b'.', cell).count();
        let digits: Vec<u8> = cell.iter().filter(|byte| **byte != b'.').copied().collect();
        return (n_points > 1 && is_grouped(cell)).then(|| number::parse(&digits))?;
    };
    let (whole, rest) = (&cell[..at], &cell[at + 1..]);
    if !rest.first().is_some_and(u8::is_ascii_digit)
        || !whole.last().is_some_and(u8::is_ascii_digit)
    {
        return None;
    }
    if whole.contains(&b'.') && !is_grouped(whole) {
        return None;
    }
    let digits = whole.iter().filter(|byte| **byte != b'.');
    let text: Vec<u8> = digits.chain(b".").chain(rest).copied().collect();
    number::parse(&text)
}

/// Whether points may group thousands: one to three digits, and then only groups of three.
pub(super) fn is_grouped(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or(cell.strip_prefix(b"+")).unwrap_or(cell);
    let mut groups = digits.split(|byte| *byte == b'.');
    let is_digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    // No group of thousands follows a single 0.
    let first = |group: &[u8]| (1..=3).contains(&group.len()) && group != b"0" && is_digits(group);
    let mut n_further = 0;
    groups.next().is_some_and(first)
        && groups.inspect(|_| n_further += 1).all(|group| group.len() == 3 && is_digits(group))
        && n_further > 0
}
