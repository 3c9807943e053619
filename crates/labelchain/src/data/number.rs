//! Decimal numbers, read exactly and fast, and written so that they read back to the bit.

use std::io::Write as _;

/// The number that `bytes` begin with, and its length; `None` where the quick way is not exact
/// or there is no number.
///
/// A mantissa below 2^53 and a power of ten up to 22 are both exact in double precision, so one
/// division or multiplication rounds once, which is correct rounding (Clinger 1990). Nearly every
/// number in a data file is of this kind.
#[inline]
pub(crate) fn scan(bytes: &[u8]) -> Option<(f64, usize)> {
    let (negative, start) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    let (mantissa, rest) = digits(0, start);
    let n_whole = start.len() - rest.len();
    let (mantissa, rest, n_parts) = match rest {
        [b'.', parts @ ..] => {
            let (mantissa, rest) = many_digits(mantissa, parts);
            (mantissa, rest, parts.len() - rest.len())
        }
        _ => (mantissa, rest, 0),
    };
    let n_digits = n_whole + n_parts;
    let mut exponent = -(n_parts as i32);
    let mut at = bytes.len() - rest.len();
    // 15 digits stay below 2^53; more may not, and are left to the slow way.
    if n_digits == 0 || n_digits > 15 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = match bytes.get(at + 1) {
            Some(b'-') => -1,
            _ => 1,
        };
        let first = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let rest = bytes.get(first..)?;
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if length == 0 || length > 3 {
            return None;
        }
        let power = rest[..length].iter().fold(0, |sum, b| sum * 10 + i32::from(b - b'0'));
        exponent += sign * power;
        at = first + length;
    }
    static POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
    // As a signed number, which processors convert in one step; 15 digits fit.
    let magnitude = mantissa as i64 as f64;
    let value = if exponent < 0 { magnitude / power } else { magnitude * power };
    Some((if negative { -value } else { value }, at))
}

/// Appends the decimal digits that `bytes` begin with; overflow wraps, and is for the caller to see
/// by the number of digits.
#[inline]
fn digits(mut mantissa: u64, mut bytes: &[u8]) -> (u64, &[u8]) {
    while let [digit @ b'0'..=b'9', rest @ ..] = bytes {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        bytes = rest;
    }
    (mantissa, bytes)
}

/// The same, eight at a time: decimal places are seldom few.
///
/// A byte is a digit if it differs from '0' by less than 10, which is seen for all eight in one
/// addition that carries into the highest bit of each byte. The digits are then moved up, so that
/// what stands before them is 0, and added in pairs, in fours, and together.
#[inline]
fn many_digits(mut mantissa: u64, mut bytes: &[u8]) -> (u64, &[u8]) {
    static POWERS: [u64; 9] =
        [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    const LOW: u64 = 0x0101_0101_0101_0101;
    while let Some(&chunk) = bytes.first_chunk::<8>() {
        let values = u64::from_le_bytes(chunk) ^ (LOW * u64::from(b'0'));
        let others = (((values & (LOW * 0x7F)) + LOW * (0x80 - 10)) | values) & (LOW * 0x80);
        let n = others.trailing_zeros() as usize / 8;
        if n == 0 {
            break;
        }
        let digits = values << (8 * (8 - n));
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        let every_fourth = 0x0000_00FF_0000_00FF;
        let low = (pairs & every_fourth).wrapping_mul(100 + (1_000_000 << 32));
        let high = ((pairs >> 16) & every_fourth).wrapping_mul(1 + (10_000 << 32));
        let together = low.wrapping_add(high) >> 32;
        mantissa = mantissa.wrapping_mul(POWERS[n]).wrapping_add(together);
        bytes = &bytes[n..];
        if n < 8 {
            return (mantissa, bytes);
        }
    }
    digits(mantissa, bytes)
}

/// The number that all of `token` is, `inf` and `nan` included.
pub(crate) fn parse(token: &[u8]) -> Option<f64> {
    match scan(token) {
        Some((value, length)) if length == token.len() => Some(value),
        _ => std::str::from_utf8(token).ok()?.parse().ok(),
    }
}

/// Appends the shortest text that reads back to the same bits.
///
/// A whole number of ten-thousandths of at most 15 digits is its own shortest text, because no two
/// such numbers are the same in double precision; those digits are written at once.
pub(crate) fn push(value: f64, out: &mut Vec<u8>) {
    let parts = (value * 1e4).round();
    if parts.abs() < 1e15 && parts / 1e4 == value && (value != 0.0 || value.is_sign_positive()) {
        return push_parts(parts as i64, out);
    }
    let start = out.len();
    // Writing to memory does not fail.
    let _ = write!(out, "{value:?}");
    if out[start..].ends_with(b".0") {
        out.truncate(out.len() - 2);
    }
}

/// A number of ten-thousandths, without zeros at the end.
fn push_parts(parts: i64, out: &mut Vec<u8>) {
    if parts < 0 {
        out.push(b'-');
    }
    let (whole, mut fraction) = (parts.unsigned_abs() / 10_000, parts.unsigned_abs() % 10_000);
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = whole;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    if fraction > 0 {
        out.push(b'.');
        while fraction > 0 {
            out.push(b'0' + (fraction / 1000) as u8);
            fraction = fraction % 1000 * 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        let mut out = Vec::new();
        push(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_short() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (-0.0401, "-0.0401"),
            (100.0, "100"),
            (1e-5, "1e-5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1e300"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn the_spellings_of_data_files_are_numbers() {
        for (token, value) in [
            ("0", 0.0),
            ("-73.302422", -73.302422),
            ("+1", 1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1.0E-4", 1e-4),
            ("1e+05", 1e5),
            ("0.662302529581739", 0.662302529581739),
            ("123456789012345678901234567890", 123456789012345678901234567890.0),
            ("1e999", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("4.9e-324", 4.9e-324),
        ] {
            assert_eq!(parse(token.as_bytes()), Some(value), "{token}");
        }
        for token in ["", "-", ".", "e5", "1e", "1-2", "0x10", "1,5", "--1", "1 "] {
            assert_eq!(parse(token.as_bytes()), None, "{token}");
        }
        assert!(parse(b"-0").unwrap().is_sign_negative());
    }

    proptest! {
        #[test]
        fn the_quick_way_is_exact(text in "-?[0-9]{0,12}(\\.[0-9]{0,12})?([eE][-+]?[0-9]{1,3})?") {
            if let Some((value, length)) = scan(text.as_bytes()) {
                prop_assert_eq!(length, text.len());
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
        }

        #[test]
        fn what_is_written_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            let read = parse(text(value).as_bytes()).unwrap();
            prop_assert!(read.to_bits() == bits || (read.is_nan() && value.is_nan()));
        }

        #[test]
        fn the_quick_text_is_the_shortest(parts in -1_000_000_000_000_000i64..1_000_000_000_000_000, digits in 0u32..12) {
            let value = parts as f64 / 10f64.powi(digits as i32);
            let shortest = format!("{value:?}");
            prop_assert_eq!(text(value), shortest.strip_suffix(".0").unwrap_or(&shortest));
        }
    }
}
