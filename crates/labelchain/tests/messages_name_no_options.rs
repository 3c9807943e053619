//! The library does not know how it is called: what it says names no option and no command of the
//! program. A [`labelchain::error::Remedy`] names settings and tasks; the program words them.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

const COMMANDS: [&str; 21] = [
    "labelchain completions",
    "labelchain compare",
    "labelchain convert",
    "labelchain datasets",
    "labelchain demo",
    "labelchain describe",
    "labelchain evaluate",
    "labelchain explain",
    "labelchain generate",
    "labelchain man",
    "labelchain predict",
    "labelchain score",
    "labelchain show",
    "labelchain split",
    "labelchain study",
    "labelchain train",
    "study export",
    "study merge",
    "study report",
    "study run",
    "study status",
];

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The string literals of Rust code that stand outside of comments. A line that ends in a backslash
/// goes on with the next one.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut is_in_word = false;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        // r"…", r#"…"#, br"…": no escapes, and quotes inside.
        let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
        if let Some(raw) = raw.filter(|_| !is_in_word) {
            let n_marks = raw.len() - raw.trim_start_matches('#').len();
            if let Some(text) = raw[n_marks..].strip_prefix('"') {
                let end = format!("\"{}", "#".repeat(n_marks));
                let (literal, after) = text.split_once(&end).unwrap();
                found.push(literal.into());
                rest = after;
                continue;
            }
        }
        if let Some(text) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let is_end = |c: char| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            };
            let end = text.find(is_end).unwrap();
            let lines: Vec<&str> = text[..end].split("\\\n").collect();
            let joined: Vec<&str> = lines[1..].iter().map(|line| line.trim_start()).collect();
            found.push(lines[0].to_string() + &joined.concat());
            rest = &text[end + 1..];
            continue;
        }
        // A character, which may be a quote; but a lifetime has no quote at its end.
        if let Some(text) = rest.strip_prefix('\'') {
            let inner = text.strip_prefix('\\').unwrap_or(text);
            let after = inner.chars().next().map_or("", |c| &inner[c.len_utf8()..]);
            if text.starts_with('\\') || after.starts_with('\'') {
                rest = after.split_once('\'').unwrap().1;
                continue;
            }
        }
        is_in_word = c.is_alphanumeric() || c == '_';
        rest = &rest[c.len_utf8()..];
    }
    found
}

/// What in a text only a shell understands.
fn shell_words(text: &str) -> Option<String> {
    let option = text.match_indices("--").find_map(|(at, _)| {
        let word = |c: char| c.is_ascii_alphabetic() || c == '-';
        let name: String = text[at + 2..].chars().take_while(|&c| word(c)).collect();
        name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| format!("--{name}"))
    });
    let is_followed_by_letter =
        |at: usize| text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let command = || {
        let is_said = |command: &&&str| {
            text.match_indices(**command).any(|(at, _)| !is_followed_by_letter(at + command.len()))
        };
        COMMANDS.iter().find(is_said).map(|command| command.to_string())
    };
    option.or_else(command)
}

#[test]
fn no_text_of_the_library_names_an_option_or_a_command() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut n_literals, mut found) = (0, Vec::new());
    for path in sources(&src) {
        let is_code = path.extension().is_some_and(|ending| ending == "rs");
        if !is_code || path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for literal in literals(code) {
            n_literals += 1;
            if let Some(words) = shell_words(&literal) {
                found.push((path.strip_prefix(&src).unwrap().to_path_buf(), words));
            }
        }
    }
    assert!(n_literals > 1000, "{n_literals}");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let code = "// \"a --flag\" and 'an apostrophe\nlet c = '\"'; let d = '\\''; f::<'a>(\"one \\\n   \
                two \\\" three\", r#\"raw \"quoted\" text\"#, b\"bytes\", '\\u{2028}')";
    let expected = ["one two \\\" three", "raw \"quoted\" text", "bytes"];
    assert_eq!(literals(code), expected);
    assert_eq!(shell_words("use --max-memory 4GiB").as_deref(), Some("--max-memory"));
    assert_eq!(shell_words("as study run says").as_deref(), Some("study run"));
    assert_eq!(shell_words("a study running -- or not; labelchain trains"), None);
}
