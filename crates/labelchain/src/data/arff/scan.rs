//! The words of one ARFF line.

use std::borrow::Cow;
use std::ops::Range;

use crate::data::lines::{Fault, Line};
use crate::error::Result;

/// A word and where it stands.
pub(super) struct Word<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) quoted: bool,
    pub(super) at: Range<usize>,
}

impl Word<'_> {
    /// An unquoted question mark: the cell is missing.
    pub(super) fn is_missing(&self) -> bool {
        !self.quoted && *self.bytes == *b"?"
    }
}

/// A cursor over the bytes of one line.
pub(super) struct Scan<'a> {
    pub(super) line: Line<'a>,
    pub(super) at: usize,
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl<'a> Scan<'a> {
    pub(super) fn new(line: &Line<'a>) -> Scan<'a> {
        Scan { line: *line, at: 0 }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.line.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.line.bytes[self.at..]
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Takes `byte` if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Whether nothing but blanks and a comment is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        matches!(self.peek(), None | Some(b'%'))
    }

    /// The next word: up to a blank, comma or brace, or quoted with `'` or `"`.
    pub(super) fn word(&mut self, expected: &str) -> Result<Word<'a>> {
        self.skip_blanks();
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote),
            _ => {
                let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b'{' | b'}');
                let rest = self.rest();
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                if length == 0 || rest[0] == b'%' {
                    let help = "text with blanks, commas, braces, quotes or % stands in quotes";
                    return Err(self.fault_here(expected, help).into());
                }
                let at = self.at..self.at + length;
                self.at = at.end;
                Ok(Word { bytes: Cow::Borrowed(&rest[..length]), quoted: false, at })
            }
        }
    }

    /// A quoted word, in which a backslash makes the next byte plain, except for the line ends
    /// and tabs of a relational value.
    fn quoted(&mut self, quote: u8) -> Result<Word<'a>> {
        let start = self.at;
        let inside = &self.line.bytes[start + 1..];
        let Some(end) = memchr::memchr2(quote, b'\\', inside) else {
            return Err(self.unclosed(start, quote).into());
        };
        if inside[end] == quote {
            self.at = start + end + 2;
            return Ok(Word {
                bytes: Cow::Borrowed(&inside[..end]),
                quoted: true,
                at: start..self.at,
            });
        }
        let mut bytes = inside[..end].to_vec();
        let mut at = end;
        loop {
            match inside.get(at..) {
                Some([b'\\', escaped, ..]) => {
                    bytes.push(match escaped {
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        other => *other,
                    });
                    at += 2;
                }
                Some([byte, ..]) if *byte == quote => break,
                Some([byte, ..]) if *byte != b'\\' => {
                    bytes.push(*byte);
                    at += 1;
                }
                _ => return Err(self.unclosed(start, quote).into()),
            }
        }
        self.at = start + at + 2;
        Ok(Word { bytes: Cow::Owned(bytes), quoted: true, at: start..self.at })
    }

    fn unclosed(&self, start: usize, quote: u8) -> Fault {
        self.line
            .fault(start..start + 1, format!("a closing {}", char::from(quote)))
            .found("the end of the line")
            .help("a quoted text ends on the line it begins; write \\' for a quote inside it")
    }

    /// The faulty word begins here.
    pub(super) fn fault_here(&self, expected: impl Into<String>, help: &'static str) -> Fault {
        let rest = self.rest();
        let length = rest.iter().position(|&b| is_blank(b) || b == b',').unwrap_or(rest.len());
        let at = self.at..self.at + length.max(usize::from(!rest.is_empty()));
        self.line.fault(at, expected).help(help)
    }

    /// Nothing may follow but a comment.
    pub(super) fn end(&mut self, after: &str) -> Result<()> {
        if self.at_end() {
            Ok(())
        } else {
            let help = "delete it, or put a % before it, which begins a comment";
            Err(self.fault_here(format!("nothing more after {after}"), help).into())
        }
    }
}
