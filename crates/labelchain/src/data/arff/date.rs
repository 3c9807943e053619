//! Dates in ARFF cells, as milliseconds since 1970 in UTC, WEKA's own number for them.

use crate::data::date::{days_from_civil, days_in_month};

/// A pattern of Java's `SimpleDateFormat`, as far as dates in numbers need it.
#[derive(Debug)]
pub(super) struct DateFormat(Vec<Part>);

#[derive(Debug, PartialEq)]
enum Part {
    Field(u8, usize),
    Text(u8),
}

impl Default for DateFormat {
    /// ISO 8601: `yyyy-MM-dd'T'HH:mm:ss`.
    fn default() -> DateFormat {
        let field = |letter, length| Part::Field(letter, length);
        let text = Part::Text;
        DateFormat(vec![
            field(b'y', 4),
            text(b'-'),
            field(b'M', 2),
            text(b'-'),
            field(b'd', 2),
            text(b'T'),
            field(b'H', 2),
            text(b':'),
            field(b'm', 2),
            text(b':'),
            field(b's', 2),
        ])
    }
}

impl DateFormat {
    /// Reads a pattern, or names the letter that has no meaning here.
    pub(super) fn parse(pattern: &str) -> Result<DateFormat, char> {
        let mut parts: Vec<Part> = Vec::new();
        let mut quoted = false;
        let mut bytes = pattern.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\'' if bytes.peek() == Some(&b'\'') => {
                    bytes.next();
                    parts.push(Part::Text(b'\''));
                }
                b'\'' => quoted = !quoted,
                b'y' | b'M' | b'd' | b'H' | b'm' | b's' | b'S' if !quoted => match parts.last_mut()
                {
                    Some(Part::Field(letter, length)) if *letter == byte => *length += 1,
                    _ => parts.push(Part::Field(byte, 1)),
                },
                b'a'..=b'z' | b'A'..=b'Z' if !quoted => return Err(char::from(byte)),
                other => parts.push(Part::Text(other)),
            }
        }
        Ok(DateFormat(parts))
    }

    /// Milliseconds since 1970, or `None` where the text is no date of this format.
    pub(super) fn milliseconds(&self, text: &[u8]) -> Option<f64> {
        let (mut year, mut month, mut day) = (1970i64, 1i64, 1i64);
        let (mut hour, mut minute, mut second, mut milli) = (0i64, 0i64, 0i64, 0i64);
        let mut rest = text;
        for (at, part) in self.0.iter().enumerate() {
            match *part {
                Part::Text(byte) => rest = rest.strip_prefix(&[byte])?,
                Part::Field(letter, width) => {
                    // Fields that touch have their pattern's width; others take all their digits.
                    let touches = matches!(self.0.get(at + 1), Some(Part::Field(..)));
                    let max_digits = if touches { width } else { 9 };
                    let length =
                        rest.iter().take(max_digits).take_while(|b| b.is_ascii_digit()).count();
                    let (digits, behind) = rest.split_at(length);
                    let value: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
                    rest = behind;
                    match letter {
                        b'y' => year = value,
                        b'M' => month = value,
                        b'd' => day = value,
                        b'H' => hour = value,
                        b'm' => minute = value,
                        b's' => second = value,
                        _ => milli = value,
                    }
                }
            }
        }
        let in_range = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        if !rest.is_empty() || !in_range {
            return None;
        }
        let seconds = ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
        Some((seconds * 1000 + milli) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_milliseconds_since_1970() {
        let iso = DateFormat::default();
        assert_eq!(iso.milliseconds(b"1970-01-01T00:00:00"), Some(0.0));
        // 2001-09-09T01:46:40 is the billionth second.
        assert_eq!(iso.milliseconds(b"2001-09-09T01:46:40"), Some(1e12));
        assert_eq!(iso.milliseconds(b"1969-12-31T23:59:59"), Some(-1000.0));
        let other = DateFormat::parse("dd/MM/yyyy").unwrap();
        assert_eq!(other.milliseconds(b"29/02/2000"), Some(951_782_400_000.0));
        let tight = DateFormat::parse("yyyyMMdd").unwrap();
        assert_eq!(tight.milliseconds(b"20000229"), Some(951_782_400_000.0));
        assert_eq!(DateFormat::parse("''yyyy'T'").unwrap().milliseconds(b"'1970T"), Some(0.0));
    }

    #[test]
    fn what_is_no_date_is_none() {
        let iso = DateFormat::default();
        for text in ["", "2001-02-29T00:00:00", "2001-13-01T00:00:00", "2001-01-01", "x"] {
            assert_eq!(iso.milliseconds(text.as_bytes()), None, "{text}");
        }
        assert_eq!(DateFormat::parse("yyyy z").unwrap_err(), 'z');
    }
}
