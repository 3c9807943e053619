//! Dates and times as ISO 8601 spells them, as days since the beginning of 1970 (UTC).
//!
//! A date may have a time: `2024-02-29`, `2024-02-29 17:30`, `2024-02-29T17:30:05.25Z`,
//! `2024-02-29T17:30:05+01:00`. A time without a zone counts as UTC. Where points separate the parts, the day
//! comes first in every country that writes so: `29.2.2024`, `29.02.2024 17:30`. Nothing else is a date:
//! `1/2/2024` is the first of February to some and the second of January to others.

/// Days since the beginning of 1970; none if the text is no date.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim().as_bytes();
    let at = text.iter().position(|byte| matches!(byte, b'T' | b't' | b' ')).unwrap_or(text.len());
    let (date, time) = text.split_at(at);
    let [year, month, day] = year_month_day(date)?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let seconds = match time {
        [] => 0.0,
        [b'T' | b't' | b' ', time @ ..] => seconds(time)?,
        _ => return None,
    };
    Some(days_from_civil(year, month, day) as f64 + seconds / 86_400.0)
}

/// Days of milliseconds, which ARFF and Parquet count.
pub(crate) fn days(milliseconds: f64) -> f64 {
    milliseconds / 86_400_000.0
}

/// The date as ISO 8601 spells it, with a time unless it is midnight.
pub(crate) fn spelt(days: f64) -> String {
    // Days hold a moment to far less than a millisecond, which is the unit of most clocks.
    let milliseconds = (days * 86_400_000.0).round() as i64;
    let (days, rest) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let (seconds, fraction) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (rest, fraction) {
        (0, _) => date,
        (_, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}Z"),
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"),
    }
}

/// The days of the week and the months, as named values.
pub(crate) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The position of the day of the week in [`WEEKDAYS`]: 1970 began on a Thursday.
pub(crate) fn weekday(days: f64) -> usize {
    (days.floor() as i64 + 3).rem_euclid(7) as usize
}

/// The position of the month in [`MONTHS`].
pub(crate) fn month(days: f64) -> usize {
    civil_from_days(days.floor() as i64).1 as usize - 1
}

/// The parts of `2024-02-29` and `29.2.2024`.
fn year_month_day(date: &[u8]) -> Option<[i64; 3]> {
    let parts = |sign: u8| -> Option<[&[u8]; 3]> {
        let parts: Vec<&[u8]> = date.split(|byte| *byte == sign).collect();
        parts.try_into().ok()
    };
    let (parts, lengths) = match (parts(b'-'), parts(b'.')) {
        (Some(parts), _) => (parts, [4..=4, 2..=2, 2..=2]),
        (None, Some([day, month, year])) => ([year, month, day], [4..=4, 1..=2, 1..=2]),
        (None, None) => return None,
    };
    // Looked at first, so that no number is too large to be counted.
    if !parts.iter().zip(lengths).all(|(part, length)| length.contains(&part.len())) {
        return None;
    }
    let [year, month, day] = parts.map(number);
    Some([year?, month?, day?])
}

/// Whether people may take a text for a date, also where its day and month cannot be told apart: three numbers with
/// slashes, points or hyphens between them, of which the first or the last is a year of four digits and the others
/// could be a day and a month; with slashes also a year of two digits. `1.2.3` is a version.
pub(crate) fn looks_like_date(text: &str) -> bool {
    let date = text.trim().split(['T', 't', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = date.split(['/', '.', '-']).collect();
    let &[first, middle, last] = &parts[..] else { return parse(text).is_some() };
    let of_digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()).then(|| number(part.as_bytes())).flatten()
    };
    let is_year =
        |part: &str| of_digits(part, 4..=4).is_some_and(|year| (1000..3000).contains(&year));
    let is_short = |part: &str| of_digits(part, 1..=2).is_some_and(|n| (0..=31).contains(&n));
    let has_two_digits =
        || date.contains('/') && is_short(first) && of_digits(last, 2..=2).is_some();
    is_short(middle)
        && (is_year(first) && is_short(last)
            || is_short(first) && is_year(last)
            || has_two_digits())
}

/// A number of digits and nothing else.
fn number(digits: &[u8]) -> Option<i64> {
    let digit = |n: i64, &byte: &u8| byte.is_ascii_digit().then(|| n * 10 + i64::from(byte - b'0'));
    if digits.is_empty() { None } else { digits.iter().try_fold(0, digit) }
}

/// Seconds from midnight UTC to a time, with or without a zone.
fn seconds(time: &[u8]) -> Option<f64> {
    let zone_at = time.iter().position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
    let (time, zone) = time.split_at(zone_at.unwrap_or(time.len()));
    let offset = match zone {
        [] | [b'Z' | b'z'] => 0,
        [sign, h1, h2, minutes @ ..] => {
            let minutes = match minutes {
                [] => 0,
                [b':', minutes @ ..] | minutes if minutes.len() == 2 => number(minutes)?,
                _ => return None,
            };
            let offset = number(&[*h1, *h2])? * 60 + minutes;
            if offset > 24 * 60 {
                return None;
            }
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    let (clock, fraction) = match time.iter().position(|byte| *byte == b'.') {
        Some(at) => (&time[..at], Some(&time[at + 1..])),
        None => (time, None),
    };
    let (hour, minute, second) = match *clock {
        [h1, h2, b':', m1, m2] if fraction.is_none() => ([h1, h2], [m1, m2], [b'0', b'0']),
        [h1, h2, b':', m1, m2, b':', s1, s2] => ([h1, h2], [m1, m2], [s1, s2]),
        _ => return None,
    };
    let (hour, minute, second) = (number(&hour)?, number(&minute)?, number(&second)?);
    // 60 is a leap second.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = match fraction {
        Some(digits) if digits.len() <= 9 => {
            number(digits)? as f64 / 10f64.powi(digits.len() as i32)
        }
        Some(_) => return None,
        None => 0.0,
    };
    Some((hour * 3600 + (minute - offset) * 60 + second) as f64 + fraction)
}

/// How many days a month has.
pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01. Years are counted from March, so that a leap day is the last of its year; 400 years
/// have 146,097 days.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days from 1970-01-01: the inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_hundred_years_is_the_day_after_the_one_before() {
        let first = days_from_civil(1600, 1, 1);
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for at in 0..292_194 {
            assert_eq!(civil_from_days(first + at), (year, month, day));
            assert_eq!(days_from_civil(year, month, day), first + at);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (2400, 1, 1));
    }

    #[test]
    fn dates_are_read_with_times_and_zones() {
        // 2024-02-29 is day 19782, by `date -d 2024-02-29 +%s` / 86400.
        for (text, expected) in [
            ("2024-02-29", 19782.0),
            (" 2024-02-29 ", 19782.0),
            ("2024-02-29T12:00", 19782.5),
            ("2024-02-29 12:00:00Z", 19782.5),
            ("2024-02-29T12:00:00+06:00", 19782.25),
            ("2024-02-29T12:00:00-0600", 19782.75),
            ("2024-02-29T12:00:00.0+12", 19782.0),
            ("1969-12-31", -1.0),
            ("29.2.2024", 19782.0),
            ("29.02.2024 12:00", 19782.5),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-1-01",
            "2.29.2024",
            "29.2.24",
            "29.2.2024.",
            "29.02-2024",
            "99999999999999999999-01-01",
            "1.2.99999999999999999999",
            "1/2/2024",
            "20240229",
            "2024-02-29x",
            "2024-02-29T",
            "2024-02-29T1",
            "2024-02-29T24:00",
            "2024-02-29T12:00:00.",
            "2024-02-29T12:00+",
            "2024-02-29T12:00+1",
            "2024-02-29T12:00+99:00",
            "٢٠٢٤-٠٢-٢٩",
            "2024-02-2é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn versions_and_numbers_of_telephones_do_not_look_like_dates() {
        for text in
            ["2024-02-29", "29.2.2024 12:00", "2/29/2024", "29/2/24", "2024/2/29", "31.02.2025"]
        {
            assert!(looks_like_date(text), "{text}");
        }
        for text in
            ["1.2.3", "555-123-4567", "12-34-56", "2024", "a/b/2024", "1/2/3", "2024-99-01", ""]
        {
            assert!(!looks_like_date(text), "{text}");
        }
    }

    #[test]
    fn a_date_that_is_written_reads_as_itself() {
        for text in ["2024-02-29", "1583-01-01", "2024-02-29T17:30:05Z", "2024-02-29T17:30:05.250Z"]
        {
            assert_eq!(spelt(parse(text).unwrap()), text);
        }
        let days = parse("2026-11-17").unwrap();
        assert_eq!((WEEKDAYS[weekday(days)], MONTHS[month(days)]), ("Tuesday", "November"));
        assert_eq!((WEEKDAYS[weekday(-0.5)], MONTHS[month(-0.5)]), ("Wednesday", "December"));
    }
}
