//! The memory of this machine, and amounts of memory in arguments.

use std::fs;

/// Three quarters of the memory of this machine, of the container in which the program runs, or of what
/// the shell lets it have (`ulimit`).
pub(crate) fn three_quarters() -> u64 {
    // If the system does not report its memory, a small machine is assumed.
    const UNKNOWN: u64 = 4 << 30;
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    });
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let of_process = ["Max address space", "Max data size"].into_iter().filter_map(|name| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    let total =
        [machine, container].into_iter().flatten().chain(of_process).min().unwrap_or(UNKNOWN);
    total / 4 * 3
}

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
