//! Which rows of a data file are meant: a list of their numbers, one a line, counted from 0.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file;
use super::lines::{Budget, Encoding, Lines};
use crate::error::{ContentError, Error, Remedy, Result};

/// A set of rows, read from a file as a split writes them. The order of the lines does not matter:
/// rows are taken in the order of the data. A row that is listed twice is refused, because it would
/// count twice without anybody having said so.
///
/// ```
/// use labelchain::data::RowNumbers;
///
/// let rows = RowNumbers::parse("test.txt".as_ref(), b"4\n0\n7\n")?;
/// assert_eq!(rows.in_data("songs.csv".as_ref(), 10)?, [0, 4, 7]);
/// let error = rows.in_data("songs.csv".as_ref(), 5).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "test.txt, line 3: expected a row of songs.csv, which has rows 0 to 4, found 7"
/// );
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowNumbers {
    path: PathBuf,
    /// Ascending.
    rows: Vec<usize>,
    /// The line in which each of them stands.
    lines: Vec<u64>,
}

impl RowNumbers {
    /// Reads a list within a bound on memory.
    pub fn read(path: &Path, max_memory: u64) -> Result<RowNumbers> {
        RowNumbers::read_from(path, file::open(path)?, max_memory)
    }

    /// Reads a list that stands in memory; `path` is for messages only.
    pub fn parse(path: &Path, text: &[u8]) -> Result<RowNumbers> {
        RowNumbers::read_from(path, text, u64::MAX)
    }

    fn read_from(path: &Path, text: impl Read, max_memory: u64) -> Result<RowNumbers> {
        let mut lines = Lines::new(path, text, Encoding::Utf8).within(max_memory);
        let mut budget = Budget::new(max_memory);
        let mut listed: Vec<(usize, u64)> = Vec::new();
        while let Some(line) = lines.next()? {
            let bytes = line.bytes.trim_ascii();
            if bytes.is_empty() {
                continue;
            }
            let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
            let Some(row) = number else {
                let start = line.bytes.len() - line.bytes.trim_ascii_start().len();
                let fault = line.fault(start..start + bytes.len(), "a row number, counted from 0");
                return Err(fault.help("write one number a line, and nothing else").into());
            };
            // Each pair is held twice: while the list grows, and then as two lists.
            budget.charge(2 * size_of::<(usize, u64)>(), &line)?;
            listed.push((row, line.number));
        }
        listed.sort_unstable();
        let refused = |line, expected: &str, found, help: &'static str| {
            Err(wrong(path, line, expected.into(), found, help))
        };
        if let Some(twice) = listed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let found = format!("row {} again, after line {}", twice[1].0, twice[0].1);
            return refused(twice[1].1, "each row once", found, "leave one of the two lines out");
        }
        if listed.is_empty() {
            let found = "the end of the file".into();
            return refused(1, "at least one row number", found, "write one number a line");
        }
        let (rows, lines) = listed.into_iter().unzip();
        Ok(RowNumbers { path: path.into(), rows, lines })
    }

    /// The file that they were read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rows, ascending; never empty.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Those of the rows in a range: what a block of the data has of them.
    pub fn within(&self, range: Range<usize>) -> &[usize] {
        let place = |end: usize| self.rows.partition_point(|&row| row < end);
        &self.rows[place(range.start)..place(range.end)]
    }

    /// The rows, ascending, if the data has all of them. `data` is the file of `n_rows` rows.
    pub fn in_data(&self, data: &Path, n_rows: usize) -> Result<&[usize]> {
        let first = self.rows.partition_point(|&row| row < n_rows);
        // The one that stands first in the list, not the least.
        let Some(at) = (first..self.rows.len()).min_by_key(|&at| self.lines[at]) else {
            return Ok(&self.rows);
        };
        let expected = match n_rows {
            0 => format!("a row of {}, which has none", data.display()),
            _ => format!("a row of {}, which has rows 0 to {}", data.display(), n_rows - 1),
        };
        let help = "rows are counted from 0; is the list of another file?";
        Err(wrong(&self.path, self.lines[at], expected, self.rows[at].to_string(), help))
    }
}

fn wrong(path: &Path, line: u64, expected: String, found: String, help: &'static str) -> Error {
    let help = Some(Remedy::from(help));
    let (path, column, excerpt) = (path.into(), 0, None);
    Error::Content(Box::new(ContentError { path, line, column, found, expected, help, excerpt }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RowNumbers> {
        RowNumbers::parse("r.txt".as_ref(), text.as_bytes())
    }

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_a_set_in_any_spelling_of_lines() {
        let rows = parse("\u{FEFF}3\r\n\r\n  0 \n\n12").unwrap();
        assert_eq!(rows.rows(), [0, 3, 12]);
        assert_eq!(rows.within(0..4), [0, 3]);
        assert_eq!(rows.within(4..12), [0usize; 0]);
        assert_eq!(rows.within(12..20), [12]);
        assert_eq!(parse("0\n3\n12\n").unwrap().rows(), rows.rows());
    }

    #[test]
    fn what_is_no_row_number_is_named_by_its_line() {
        assert_eq!(
            refusal("0\n\n 1.5\n"),
            "r.txt, line 3, column 2: expected a row number, counted from 0, found \"1.5\""
        );
        for text in ["-1\n", "row\n", "0 1\n", "0,1\n", "99999999999999999999999\n", "\u{e9}\n"] {
            assert!(refusal(text).contains("r.txt, line 1, column 1: expected a row number"));
        }
        assert_eq!(
            refusal("4\n2\n0\n2\n"),
            "r.txt, line 4: expected each row once, found row 2 again, after line 2"
        );
        let nothing = "r.txt, line 1: expected at least one row number, found the end of the file";
        assert_eq!((refusal("").as_str(), refusal("\n\n").as_str()), (nothing, nothing));
    }

    #[test]
    fn a_row_beyond_the_data_is_named_by_its_line() {
        let rows = parse("9\n2\n7\n").unwrap();
        let place = Path::new("d.csv");
        assert_eq!(rows.in_data(place, 10).unwrap(), [2, 7, 9]);
        let beyond = |n_rows| rows.in_data(place, n_rows).unwrap_err().to_string();
        assert_eq!(
            beyond(5),
            "r.txt, line 1: expected a row of d.csv, which has rows 0 to 4, found 9"
        );
        assert!(beyond(9).ends_with("found 9") && beyond(0).contains("which has none"));
        let greatest = parse(&usize::MAX.to_string()).unwrap();
        assert!(
            greatest.in_data(place, 3).is_err() && greatest.in_data(place, usize::MAX).is_err()
        );
    }

    #[test]
    fn a_list_beyond_the_memory_allowed_is_refused() {
        let text: String = (0..100_000).map(|row| format!("{row}\n")).collect();
        let read = |limit| RowNumbers::read_from("r.txt".as_ref(), text.as_bytes(), limit);
        assert!(read(4 << 20).is_ok());
        assert!(matches!(read(1 << 20), Err(Error::TooLarge { .. })));
    }
}
