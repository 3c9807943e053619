//! The memory of this machine and amounts of memory in arguments.

pub(crate) use labelchain::memory::three_quarters;

/// Reads `500M`, `8G`, `1.5GiB` or a plain number of bytes.
pub(crate) fn amount(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        other => return Err(format!("{other:?} is no unit of memory; use K, M, G or T")),
    };
    match digits.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit as f64) as u64),
        _ => Err("expected an amount of memory such as 500M or 8G".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        assert_eq!(amount("500M"), Ok(500 << 20));
        assert_eq!(amount("1.5GiB"), Ok(3 << 29));
        assert_eq!(amount("4096"), Ok(4096));
        for text in ["", "G", "-1G", "8X", "nan", "inf"] {
            assert!(amount(text).is_err(), "{text}");
        }
    }
}
