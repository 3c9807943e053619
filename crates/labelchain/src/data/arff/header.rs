//! The part of an ARFF file before `@data`.

use std::io::Read;

use super::date::DateFormat;
use super::scan::{Scan, Word};
use crate::data::Note;
use crate::data::lines::{Budget, Line, Lines};
use crate::error::{ContentError, Error, Result};

/// What the header declares.
pub(super) struct Header {
    pub(super) relation: String,
    pub(super) attributes: Vec<Declared>,
    pub(super) notes: Vec<Note>,
}

/// One `@attribute` line.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: DeclaredKind,
}

#[derive(Debug)]
pub(super) enum DeclaredKind {
    Numeric,
    /// Values as the file's bytes, to compare with cells, and as text, to show.
    Nominal(Vec<(Vec<u8>, String)>),
    Text,
    Date(DateFormat),
    Relational(Vec<Declared>),
}

impl Header {
    pub(super) fn read(lines: &mut Lines<impl Read>, budget: &mut Budget) -> Result<Header> {
        let mut header = Header { relation: String::new(), attributes: vec![], notes: vec![] };
        // The relational attribute whose inner attributes are being read.
        let mut open: Option<(String, Vec<Declared>)> = None;
        let mut weighted = 0;
        let mut path = None;
        let mut last_line = 0;
        while let Some(line) = lines.next()? {
            path.get_or_insert_with(|| line.path.to_path_buf());
            last_line = line.number;
            let mut scan = Scan::new(&line);
            if scan.at_end() {
                continue;
            }
            let start = scan.at;
            let word = scan.word("a declaration")?;
            if is(&word, "@relation") {
                if !scan.at_end() {
                    let name = scan.word("a relation name")?;
                    header.relation = line.text(&name.bytes, name.at.start)?;
                }
                // WEKA's own writers always quote; older files hold blanks unquoted.
                if !scan.at_end() {
                    header.relation += " ";
                    header.relation += line.text(scan.rest(), scan.at)?.trim_end();
                }
            } else if is(&word, "@attribute") {
                let (declared, has_weight) = attribute(&mut scan)?;
                weighted += usize::from(has_weight);
                budget.charge(declared.n_bytes() + 2 * line.bytes.len(), &line)?;
                match (&mut open, declared) {
                    (None, Declared { name, kind: DeclaredKind::Relational(_) }) => {
                        open = Some((name, vec![]));
                    }
                    (Some(_), Declared { kind: DeclaredKind::Relational(_), .. }) => {
                        return Err(line
                            .fault(start..start, "no bag inside a bag")
                            .found("another relational attribute")
                            .help("write @end and the bag's name before it")
                            .into());
                    }
                    (Some((_, inner)), declared) => inner.push(declared),
                    (None, declared) => header.attributes.push(declared),
                }
            } else if is(&word, "@end") {
                let Some((name, inner)) = open.take() else {
                    return Err(line
                        .fault(word.at, "@attribute or @data")
                        .help("no relational attribute is open, so that none can end: delete the line")
                        .into());
                };
                if !scan.at_end() {
                    let ended = scan.word("the bag's name")?;
                    let name_at_end = line.text(&ended.bytes, ended.at.start)?;
                    if name_at_end != name {
                        return Err(line
                            .fault(ended.at, format!("@end {name}"))
                            .help("a bag ends under the name that it was declared by")
                            .into());
                    }
                }
                header.attributes.push(Declared { name, kind: DeclaredKind::Relational(inner) });
            } else if is(&word, "@data") {
                if let Some((name, _)) = open {
                    return Err(line
                        .fault(word.at, format!("@end {name}"))
                        .help("the attributes of a bag end before the rows begin")
                        .into());
                }
                scan.end("@data")?;
                if header.attributes.is_empty() {
                    return Err(line
                        .fault(0..line.bytes.len(), "an @attribute before @data")
                        .help("declare each column in a line such as @attribute x numeric")
                        .into());
                }
                if weighted > 0 {
                    header.notes.push(Note {
                        code: "attribute-weights-ignored",
                        text: format!("{weighted} attributes carry a weight, which is ignored"),
                    });
                }
                return Ok(header);
            } else {
                return Err(unknown_declaration(&line, &word));
            }
        }
        Err(Error::Content(Box::new(ContentError {
            path: path.unwrap_or_else(|| lines.path().into()),
            line: last_line,
            column: 0,
            found: "the end of the file".into(),
            expected: "@data".into(),
            help: Some(
                "an ARFF file declares @relation and @attribute lines, then @data, then rows"
                    .into(),
            ),
            excerpt: None,
        })))
    }
}

fn is(word: &Word, keyword: &str) -> bool {
    !word.quoted && word.bytes.eq_ignore_ascii_case(keyword.as_bytes())
}

fn unknown_declaration(line: &Line, word: &Word) -> Error {
    let fault = line.fault(word.at.clone(), "@relation, @attribute or @data");
    match word.bytes.first() {
        Some(b'@') => fault.help("correct the keyword, or delete the line").into(),
        _ => fault.help("rows come after a line that says @data").into(),
    }
}

/// The rest of an `@attribute` line, and whether it carried a weight.
fn attribute(scan: &mut Scan) -> Result<(Declared, bool)> {
    let line = scan.line;
    let word = scan.word("an attribute name")?;
    let name = line.text(&word.bytes, word.at.start)?;
    scan.skip_blanks();
    const TYPES: &str = "a type: numeric, real, integer, string, date, relational or {values}";
    let kind = if scan.take(b'{') {
        DeclaredKind::Nominal(values(scan, &name)?)
    } else {
        let word = scan.word(TYPES)?;
        if is(&word, "numeric") || is(&word, "real") || is(&word, "integer") {
            DeclaredKind::Numeric
        } else if is(&word, "string") {
            DeclaredKind::Text
        } else if is(&word, "date") {
            DeclaredKind::Date(if scan.at_end() || scan.peek() == Some(b'{') {
                DateFormat::default()
            } else {
                let pattern = scan.word("a date format")?;
                let text = line.text(&pattern.bytes, pattern.at.start)?;
                DateFormat::parse(&text)
                    .map_err(|letter| {
                        line.fault(pattern.at, "a date format of y, M, d, H, m, s and S")
                            .found(format!("{letter:?} in {text:?}"))
                            .help("put letters that mean themselves in single quotes, as in \"yyyy-MM-dd'T'HH:mm\"")
                    })
                    .map_err(Error::from)?
            })
        } else if is(&word, "relational") {
            DeclaredKind::Relational(vec![])
        } else {
            let help = "a name with blanks stands in quotes, before the type";
            return Err(line.fault(word.at, TYPES).help(help).into());
        }
    };
    // WEKA 3.9 may write an attribute's weight in braces behind its type.
    scan.skip_blanks();
    let has_weight = scan.take(b'{');
    if has_weight {
        scan.word("a weight")?;
        scan.skip_blanks();
        if !scan.take(b'}') {
            return Err(scan.fault_here("}", "a weight is one number in braces: {0.5}").into());
        }
    }
    scan.end("the attribute's type")?;
    Ok((Declared { name, kind }, has_weight))
}

/// The values of a nominal attribute, behind the opening brace.
fn values(scan: &mut Scan, name: &str) -> Result<Vec<(Vec<u8>, String)>> {
    let line = scan.line;
    let mut values: Vec<(Vec<u8>, String)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    loop {
        scan.skip_blanks();
        if scan.take(b'}') {
            return Ok(values);
        }
        if scan.at_end() {
            return Err(unclosed(scan));
        }
        let word = scan.word("a value")?;
        let text = line.text(&word.bytes, word.at.start)?;
        if !seen.insert(text.clone()) {
            return Err(line
                .fault(word.at, format!("each value of {name:?} once"))
                .found(format!("{text:?} again"))
                .help("delete it, or give it a name of its own")
                .into());
        }
        values.push((word.bytes.into_owned(), text));
        scan.skip_blanks();
        if !scan.take(b',') && scan.peek() != Some(b'}') && scan.at_end() {
            return Err(unclosed(scan));
        }
    }
}

fn unclosed(scan: &Scan) -> Error {
    let expected = "} behind the values, on the same line";
    scan.fault_here(expected, "all values of an attribute stand in one line: {red,green}").into()
}

impl Declared {
    /// About what it keeps in memory.
    fn n_bytes(&self) -> usize {
        let values = match &self.kind {
            DeclaredKind::Nominal(values) => {
                values.iter().map(|(bytes, text)| bytes.len() + text.len() + 80).sum()
            }
            _ => 0,
        };
        values + self.name.len() + 150
    }
}
