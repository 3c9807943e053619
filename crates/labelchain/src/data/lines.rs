//! Text files line by line, with places for error messages and a bound on memory.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use crate::error::{ContentError, Error, Remedy, Result};

/// No row of a real file is longer; a file without line ends is refused here and not at the end
/// of memory.
pub(crate) const MAX_LINE: usize = 256 << 20;

const FIRST_BUFFER: usize = 256 << 10;

/// How the bytes of names and values are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8; other bytes are an error that says where.
    #[default]
    Utf8,
    /// ISO 8859-1: every byte is the character of that number.
    Latin1,
}

impl Encoding {
    /// The text of `bytes`, or the offset of the first byte that is none.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        match self {
            Encoding::Utf8 => {
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| error.valid_up_to())
            }
            Encoding::Latin1 => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
        }
    }
}

/// Counts what a reader keeps, and refuses before it is too much.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: u64,
    used: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { limit, used: 0 }
    }

    /// To be called before the memory is taken.
    pub(crate) fn charge(&mut self, bytes: usize, line: &Line) -> Result<()> {
        self.take(bytes, line.path, || format!("what was read up to line {}", line.number))
    }

    /// The same for what can be sized only when all lines are read.
    pub(crate) fn charge_at_end(&mut self, bytes: usize, path: &Path) -> Result<()> {
        self.take(bytes, path, || "the table of all rows".into())
    }

    fn take(&mut self, bytes: usize, path: &Path, what: impl Fn() -> String) -> Result<()> {
        self.used = self.used.saturating_add(bytes as u64);
        if self.used <= self.limit {
            Ok(())
        } else {
            Err(Error::TooLarge {
                path: path.into(),
                what: what(),
                needed: None,
                limit: self.limit,
            })
        }
    }
}

/// The lines of a text, without their ends (`\n` or `\r\n`) and without a byte order mark.
pub(crate) struct Lines<'p, R> {
    path: &'p Path,
    encoding: Encoding,
    reader: R,
    buffer: Vec<u8>,
    unread: Range<usize>,
    number: u64,
    end: &'static [u8],
    at_end: bool,
    /// The longest line that is read.
    max_line: usize,
    max_memory: u64,
}

impl<'p, R: Read> Lines<'p, R> {
    pub(crate) fn new(path: &'p Path, reader: R, encoding: Encoding) -> Lines<'p, R> {
        let buffer = vec![0; FIRST_BUFFER];
        Lines {
            path,
            encoding,
            reader,
            buffer,
            unread: 0..0,
            number: 0,
            end: b"\n",
            at_end: false,
            max_line: MAX_LINE,
            max_memory: u64::MAX,
        }
    }

    /// The same, to take so many bytes: a line is held twice while its buffer grows, and then once as
    /// it is and once as what it says.
    pub(crate) fn within(self, max_memory: u64) -> Lines<'p, R> {
        let max_line = (max_memory / 4).clamp(FIRST_BUFFER as u64, MAX_LINE as u64) as usize;
        Lines { max_line, max_memory, ..self }
    }

    pub(crate) fn path(&self) -> &'p Path {
        self.path
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// What the last line ended with: a quoted value that goes on in the next line contains it.
    pub(crate) fn end(&self) -> &'static [u8] {
        self.end
    }

    /// The next line, until there is none.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = 0;
        let found = loop {
            let unread = &self.buffer[self.unread.clone()];
            match memchr::memchr(b'\n', &unread[searched..]) {
                Some(at) => break Some(searched + at),
                None if self.at_end => break None,
                None => searched = unread.len(),
            }
            self.fill()?;
        };
        let start = self.unread.start;
        let (mut end, next) = match found {
            Some(length) => (start + length, start + length + 1),
            None if self.unread.is_empty() => return Ok(None),
            None => (self.unread.end, self.unread.end),
        };
        self.unread.start = next;
        self.number += 1;
        self.end = b"\n";
        if self.buffer[start..end].last() == Some(&b'\r') {
            end -= 1;
            self.end = b"\r\n";
        }
        let mut bytes = &self.buffer[start..end];
        let line =
            |bytes| Line { path: self.path, number: self.number, encoding: self.encoding, bytes };
        if self.number == 1 {
            if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
                return Err(line(bytes)
                    .fault(0..2, "UTF-8 text")
                    .found("a UTF-16 byte order mark")
                    .help("save the file as UTF-8")
                    .into());
            }
            if let Some(what) = not_text(bytes) {
                return Err(line(bytes).fault(0..0, "text").found(what.0).help(what.1).into());
            }
            bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        }
        Ok(Some(line(bytes)))
    }

    /// Reads more behind what is unread, making room first.
    fn fill(&mut self) -> Result<()> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            if self.buffer.len() >= self.max_line && self.max_line < MAX_LINE {
                let what = format!("line {}", self.number + 1);
                return Err(Error::TooLarge {
                    path: self.path.into(),
                    needed: None,
                    what,
                    limit: self.max_memory,
                });
            }
            if self.buffer.len() >= MAX_LINE {
                let start = &self.buffer[..40];
                let line = Line {
                    path: self.path,
                    number: self.number + 1,
                    encoding: self.encoding,
                    bytes: start,
                };
                return Err(line
                    .fault(0..0, "a line end within 256 MiB")
                    .found("none")
                    .help("is this a text file of this format?")
                    .into());
            }
            let longer = (self.buffer.len() * 2).min(self.max_line);
            let more = longer - self.buffer.len();
            let room = self.buffer.try_reserve_exact(more);
            room.map_err(|_| Error::out_of_memory(self.path))?;
            self.buffer.resize(longer, 0);
        }
        let n = loop {
            match self.reader.read(&mut self.buffer[self.unread.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                result => {
                    break result.map_err(|error| unreadable(self.path, self.number + 1, error))?;
                }
            }
        };
        self.unread.end += n;
        self.at_end = n == 0;
        Ok(())
    }
}

/// A damaged compressed stream is wrong content; anything else is the system's refusal. The line is
/// 0 where the format has none.
pub(crate) fn unreadable(path: &Path, line: u64, error: std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => Error::Content(Box::new(ContentError {
            path: path.into(),
            line,
            column: 0,
            found: format!("damaged data ({error})"),
            expected: "a whole compressed file".into(),
            help: Some("the file is cut off or damaged: fetch it again".into()),
            excerpt: None,
        })),
        _ => Error::io(path, error),
    }
}

/// What a first line is if it is no text, and what to do about it.
fn not_text(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if bytes.starts_with(&[0x1F, 0x8B]) {
        Some(("gzip-compressed data", "let its name end in .gz"))
    } else if bytes.starts_with(b"BZh") {
        Some(("bzip2-compressed data", "let its name end in .bz2"))
    } else if bytes.starts_with(b"PAR1") {
        Some(("a Parquet file", "let its name end in .parquet"))
    } else if bytes.starts_with(b"PK\x03\x04") {
        Some(("a zip archive or spreadsheet", "unpack it, or save the sheet as CSV in UTF-8"))
    } else if bytes.contains(&0) {
        Some(("zero bytes: UTF-16 or binary data", "save the file as text in UTF-8"))
    } else {
        None
    }
}

/// One line and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) path: &'a Path,
    pub(crate) number: u64,
    pub(crate) encoding: Encoding,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Line<'a> {
    /// Says that the bytes `at` are not what was expected there.
    pub(crate) fn fault(&self, at: Range<usize>, expected: impl Into<String>) -> Fault {
        const AROUND: usize = 30;
        let at = at.start.min(self.bytes.len())..at.end.min(self.bytes.len());
        let first = at.start.saturating_sub(AROUND);
        let last = (at.start + AROUND).min(self.bytes.len());
        let show = |range: Range<usize>| -> String {
            // Control characters are replaced, because a terminal would obey them.
            String::from_utf8_lossy(&self.bytes[range])
                .chars()
                .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
                .collect()
        };
        let before = (if first > 0 { "…" } else { "" }).to_string() + &show(first..at.start);
        let after = show(at.start..last) + if last < self.bytes.len() { "…" } else { "" };
        let found = if at.is_empty() && at.start == self.bytes.len() {
            "the end of the line".into()
        } else if at.is_empty() {
            format!("{:?}", show(at.start..at.start + 1))
        } else if at.len() > 60 {
            format!("{:?}…", show(at.start..at.start + 60))
        } else {
            format!("{:?}", show(at.clone()))
        };
        Fault(Box::new(ContentError {
            path: self.path.into(),
            line: self.number,
            column: 1 + String::from_utf8_lossy(&self.bytes[..at.start]).chars().count() as u64,
            found,
            expected: expected.into(),
            help: None,
            excerpt: Some((before.clone() + &after, before.chars().count())),
        }))
    }

    /// The text of `bytes`, which stand at `offset` in this line.
    pub(crate) fn text(&self, bytes: &[u8], offset: usize) -> Result<String> {
        self.encoding.decode(bytes).map(Cow::into_owned).map_err(|valid| {
            let byte = bytes[valid];
            let at = offset + valid;
            self.fault(at..at + 1, "UTF-8 text")
                .found(format!("byte 0x{byte:02X}"))
                .help(
                    Remedy::from(format!(
                        "it reads as {:?} in Latin-1: retry with ",
                        char::from(byte)
                    ))
                    .set("encoding", "latin1"),
                )
                .into()
        })
    }
}

/// A [`ContentError`] in the making.
pub(crate) struct Fault(Box<ContentError>);

impl Fault {
    pub(crate) fn expected(mut self, expected: impl Display) -> Fault {
        self.0.expected = expected.to_string();
        self
    }

    pub(crate) fn found(mut self, found: impl Display) -> Fault {
        self.0.found = found.to_string();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<Remedy>) -> Fault {
        self.0.help = Some(help.into());
        self
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Content(fault.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(Path::new("t"), text, Encoding::Utf8);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.text(line.bytes, 0).unwrap());
        }
        all
    }

    #[test]
    fn line_ends_and_byte_order_mark_are_taken_off() {
        assert_eq!(lines(b"\xEF\xBB\xBFa\r\n\nb\n"), ["a", "", "b"]);
        assert_eq!(lines(b"no end"), ["no end"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_read_whole() {
        let long = "x".repeat(3 * FIRST_BUFFER);
        assert_eq!(lines(format!("{long}\ny").as_bytes()), [long.as_str(), "y"]);
    }

    #[test]
    fn a_byte_that_is_not_utf8_is_named() {
        let mut lines = Lines::new(Path::new("t"), &b"caf\xE9"[..], Encoding::Utf8);
        let line = lines.next().unwrap().unwrap();
        let error = line.text(line.bytes, 0).unwrap_err();
        assert_eq!(error.to_string(), "t, line 1, column 4: expected UTF-8 text, found byte 0xE9");
        assert!(error.remedy().unwrap().to_string().contains("'é' in Latin-1"));
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (bytes, found) in [
            (&b"\x1F\x8B\x08"[..], "gzip-compressed data"),
            (b"PAR1", "a Parquet file"),
            (b"x\0,\0", "zero bytes: UTF-16 or binary data"),
        ] {
            let mut lines = Lines::new(Path::new("t"), bytes, Encoding::Latin1);
            let error = lines.next().unwrap_err().to_string();
            assert_eq!(error, format!("t, line 1, column 1: expected text, found {found}"));
        }
    }

    #[test]
    fn endless_lines_are_refused() {
        let mut lines = Lines::new(Path::new("t"), std::io::repeat(b'0'), Encoding::Utf8);
        let error = lines.next().unwrap_err().to_string();
        assert_eq!(error, "t, line 1, column 1: expected a line end within 256 MiB, found none");
    }
}
