//! Names in tables that people open with a spreadsheet, which runs a cell that begins as a formula.

use std::borrow::Cow;

/// How names of labels, data sets, methods and criteria are written into tables of answers and
/// results as CSV or TSV. Data files hold names as they are, so that they are read back the same.
///
/// ```
/// use labelchain::data::CsvNames;
///
/// assert_eq!(CsvNames::Escaped.cell("=HYPERLINK(A1)"), "'=HYPERLINK(A1)");
/// assert_eq!(CsvNames::Escaped.cell("-1"), "-1");
/// assert_eq!(CsvNames::unescaped("'=HYPERLINK(A1)"), "=HYPERLINK(A1)");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvNames {
    /// With an apostrophe before what a spreadsheet would run as a formula: what begins with
    /// `=`, `+`, `-`, `@` (also those of full width), a tab or a line end, and is no number.
    #[default]
    Escaped,
    /// As they are.
    Raw,
}

impl CsvNames {
    /// The cell of a name.
    pub fn cell(self, name: &str) -> Cow<'_, str> {
        if self == CsvNames::Escaped && is_formula(name) {
            Cow::Owned(format!("'{name}"))
        } else {
            Cow::Borrowed(name)
        }
    }

    /// The name whose escaped cell this is.
    pub fn unescaped(cell: &str) -> &str {
        match cell.strip_prefix('\'') {
            Some(name) if is_formula(name) => name,
            _ => cell,
        }
    }
}

/// Apostrophes before a formula count as part of it: `'=x` is escaped, too, so that no two names
/// have the same cell.
fn is_formula(name: &str) -> bool {
    let text = name.trim_start_matches('\'');
    let is_number = || text.parse().is_ok_and(f64::is_finite);
    text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n']) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_no_cell_is_a_formula() {
        for name in ["=1+1", "+x", "-x", "@sum", "＝1", "\tx", "\rx", "\nx", "'=1", "''-x", "-inf"]
        {
            let cell = CsvNames::Escaped.cell(name);
            assert_eq!(cell, format!("'{name}"));
            assert_eq!(CsvNames::unescaped(&cell), name);
            assert_eq!(CsvNames::Raw.cell(name), name);
        }
        for name in ["a", "", "'", "'a", "-1", "+2.5e3", "a=b", "'-1"] {
            assert_eq!(CsvNames::Escaped.cell(name), name);
            assert_eq!(CsvNames::unescaped(name), name);
        }
    }
}
