//! Which columns are labels: names, positions, Mulan's XML, MEKA's `-C`.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use quick_xml::events::{BytesStart, Event};

use super::lines::unreadable;
use super::{Checksums, Note, Streams, file};
use crate::error::{ContentError, Error, Remedy, Result, nearest};

/// How the user says which columns are labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelChoice {
    /// An XML file beside the data with the same stem, else `-C n` in an ARFF relation name.
    #[default]
    Detect,
    /// These columns, in this order; `*` stands for any text.
    Named(Vec<String>),
    /// Those of these columns that there are: rows to be labelled may carry labels or not.
    Present(Vec<String>),
    /// The first columns.
    First(usize),
    /// The last columns.
    Last(usize),
    /// The columns that a Mulan label file names, in its order.
    Xml(PathBuf),
    /// One column of delimited tags; each distinct tag is a label, in alphabetical order.
    Tags {
        /// The column.
        column: String,
        /// What stands between two tags.
        separator: String,
    },
}

/// The columns of a file, as far as they matter for finding the labels among them.
pub(crate) struct Columns<'a> {
    pub(crate) path: &'a Path,
    pub(crate) names: &'a [String],
    /// An ARFF relation name, which may carry MEKA's `-C`.
    pub(crate) relation: Option<&'a str>,
}

/// The label columns in label order, and what was noticed on the way.
#[derive(Debug)]
pub(crate) struct LabelColumns {
    pub(crate) positions: Vec<usize>,
    pub(crate) notes: Vec<Note>,
    /// What to suggest should one of them turn out to hold no labels.
    pub(crate) suspicion: Option<Remedy>,
}

impl Columns<'_> {
    /// Finds the label columns. [`LabelChoice::Tags`] names none: its labels are inside one cell.
    pub(crate) fn labels(
        &self,
        choice: &LabelChoice,
        checksums: &Checksums,
    ) -> Result<LabelColumns> {
        let found = |positions| LabelColumns { positions, notes: vec![], suspicion: None };
        let chosen = |positions: Vec<usize>| {
            let notes = self.left_out(&positions).into_iter().collect();
            LabelColumns { positions, notes, suspicion: None }
        };
        let n = self.names.len();
        let counted = |count: usize, name, positions: fn(usize, usize) -> Vec<usize>| {
            if count == 0 || count > n {
                let accepted = "at least 1 and at most the number of columns";
                return Err(Error::Setting { name, value: count.to_string(), accepted });
            }
            Ok(positions(count, n))
        };
        match choice {
            LabelChoice::Named(names) => self.named(names).map(chosen),
            LabelChoice::Present(names) => {
                let by_name = self.by_name();
                let there = names.iter().filter_map(|name| by_name.get(name.as_str()).copied());
                Ok(found(there.collect()))
            }
            LabelChoice::First(count) => {
                counted(*count, "labels-first", |count, _| (0..count).collect()).map(chosen)
            }
            LabelChoice::Last(count) => {
                counted(*count, "labels-last", |count, n| (n - count..n).collect()).map(chosen)
            }
            LabelChoice::Xml(xml) => self.listed(&LabelList::read_hashed(xml, checksums)?, xml),
            LabelChoice::Tags { .. } => Ok(found(vec![])),
            LabelChoice::Detect => {
                let xml = xml_beside(self.path);
                let is_stream = Streams::is_stream(self.path);
                if !is_stream && xml.is_file() {
                    return self.listed(&LabelList::read_hashed(&xml, checksums)?, &xml);
                }
                let Some(count) = self.relation.and_then(meka_count) else {
                    let no_option = match self.relation {
                        Some(_) => ", and the relation name has no \"-C n\"",
                        None => "",
                    };
                    let xml = xml.file_name().unwrap_or_default().to_string_lossy();
                    let reason = if is_stream {
                        format!("a pipe has no label list beside it{no_option}")
                    } else {
                        format!("no {xml} beside it{no_option}")
                    };
                    let reason = format!("{reason}; the columns are {}", self.listed_names());
                    return Err(Error::NoLabels { path: self.path.into(), reason });
                };
                let size = count.unsigned_abs() as usize;
                if size == 0 || size > n {
                    let reason = format!("the relation name says -C {count}, of {n} attributes");
                    return Err(Error::NoLabels { path: self.path.into(), reason });
                }
                let (positions, other_end, setting) = if count > 0 {
                    ((0..size).collect(), "last", "labels-last")
                } else {
                    ((n - size..n).collect(), "first", "labels-first")
                };
                let suspicion = Remedy::from(format!(
                    "the relation name says -C {count}; perhaps the labels stand {other_end}: "
                ))
                .set(setting, size.to_string());
                Ok(LabelColumns { positions, notes: vec![], suspicion: Some(suspicion) })
            }
        }
    }

    /// A note on columns that the file declares as labels and the user did not choose: they become
    /// inputs, which may reveal the labels that were chosen.
    fn left_out(&self, chosen: &[usize]) -> Option<Note> {
        let usual = self.labels(&LabelChoice::Detect, &Checksums::default()).ok()?.positions;
        let chosen: HashSet<&usize> = chosen.iter().collect();
        let left: Vec<&usize> = usual.iter().filter(|at| !chosen.contains(at)).collect();
        let first = &self.names[**left.first()?];
        let n = left.len();
        Some(Note {
            code: "labels-as-inputs",
            text: format!(
                "of the labels that the data set itself names, {n} became inputs (first: {first:?})"
            ),
        })
    }

    fn named(&self, wanted: &[String]) -> Result<Vec<usize>> {
        let by_name = self.by_name();
        let mut positions = Vec::new();
        for name in wanted {
            if let Some(&position) = by_name.get(name.as_str()) {
                positions.push(position);
                continue;
            }
            let before = positions.len();
            positions.extend((0..self.names.len()).filter(|&at| matches(name, &self.names[at])));
            if positions.len() == before {
                let role = if name.contains('*') { "label like" } else { "label" };
                return Err(self.unknown(role, name));
            }
        }
        let mut seen = vec![false; self.names.len()];
        for &position in &positions {
            if std::mem::replace(&mut seen[position], true) {
                return Err(Error::Setting {
                    name: "labels",
                    value: format!("{:?} more than once", self.names[position]),
                    accepted: "each label once",
                });
            }
        }
        Ok(positions)
    }

    /// Matches a label list against the columns. Names are escaped in both places, not always
    /// alike, so a name that is not found is tried without its backslashes.
    fn listed(&self, list: &LabelList, xml: &Path) -> Result<LabelColumns> {
        let by_name = self.by_name();
        let find = |name: &str| {
            let plain = || by_name.get(name.replace('\\', "").as_str());
            by_name.get(name).or_else(plain).copied()
        };
        let positions: Vec<Option<usize>> =
            list.labels.iter().map(|label| find(&label.name)).collect();
        let n_found = positions.iter().flatten().count();
        if let Some(at) = positions.iter().position(Option::is_none) {
            let missing = &list.labels[at];
            let near = nearest(&missing.name, self.names);
            let closest = near.map(|name| format!("; the closest is {name:?}")).unwrap_or_default();
            return Err(Error::Content(Box::new(ContentError {
                path: xml.into(),
                line: missing.line,
                column: missing.column,
                found: format!("{:?}{closest}", missing.name),
                expected: format!("labels that {} has", self.path.display()),
                help: Some(
                    Remedy::from(format!(
                        "{n_found} of {} labels match: correct the name there, or say which columns are labels with ",
                        list.labels.len()
                    ))
                    .setting("labels")
                    .text(", ")
                    .set("labels-last", "N")
                    .text(" or ")
                    .setting("tags"),
                ),
                excerpt: None,
            })));
        }
        let positions: Vec<usize> = positions.into_iter().flatten().collect();
        let mut notes: Vec<Note> = list.flattened(xml).into_iter().collect();
        let xml = xml.file_name().unwrap_or_default().to_string_lossy();
        if let Some(count) = self.relation.and_then(meka_count) {
            let (n, size) = (self.names.len(), count.unsigned_abs() as usize);
            let first = if count > 0 { 0 } else { n.saturating_sub(size) };
            let mut sorted = positions.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(first..(first + size).min(n)) {
                notes.push(Note {
                    code: "relation-disagrees",
                    text: format!("the relation name says -C {count}, {xml} names other columns; the XML decides"),
                });
            }
        }
        Ok(LabelColumns { positions, notes, suspicion: None })
    }

    /// The position of a column that the user named.
    pub(crate) fn position(&self, role: &'static str, name: &str) -> Result<usize> {
        self.names.iter().position(|known| known == name).ok_or_else(|| self.unknown(role, name))
    }

    fn by_name(&self) -> HashMap<&str, usize> {
        self.names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect()
    }

    fn unknown(&self, role: &'static str, name: &str) -> Error {
        Error::UnknownColumn {
            path: self.path.into(),
            role,
            name: name.into(),
            columns: match nearest(name, self.names) {
                Some(_) => format!("{} columns", self.names.len()),
                None => format!("{} columns, {}", self.names.len(), self.listed_names()),
            },
            nearest: nearest(name, self.names).cloned(),
        }
    }

    /// The first names, for somebody who has not seen the file.
    fn listed_names(&self) -> String {
        const SHOWN: usize = 10;
        let shown: Vec<String> =
            self.names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
        let more = if self.names.len() > SHOWN { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    }
}

/// Whether `name` is of the form `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(last) = parts.next_back() else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    parts.all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The number behind `-C` in a MEKA relation name such as `'Music: -C 6'`.
pub(crate) fn meka_count(relation: &str) -> Option<i64> {
    relation.match_indices("-C").chain(relation.match_indices("-c")).find_map(|(at, _)| {
        let rest = relation[at + 2..].strip_prefix([' ', '\t'])?.trim_start();
        let (negative, digits) = match rest.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, rest),
        };
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let count: i64 = digits[..end].parse().ok()?;
        Some(if negative { -count } else { count })
    })
}

/// Where a data file's Mulan label list would stand: `yeast.arff.gz` has `yeast.xml`.
pub fn xml_beside(data: &Path) -> PathBuf {
    data.with_file_name(file::stem(data) + ".xml")
}

/// The labels that a Mulan XML file names.
#[derive(Debug, Default)]
pub struct LabelList {
    labels: Vec<ListedLabel>,
    nested: bool,
}

#[derive(Debug)]
struct ListedLabel {
    name: String,
    line: u64,
    column: u64,
}

impl LabelList {
    /// Reads a Mulan label file.
    pub fn read(path: &Path) -> Result<LabelList> {
        LabelList::read_hashed(path, &Checksums::default())
    }

    /// The same, with a checksum of the file as it is stored.
    pub(crate) fn read_hashed(path: &Path, checksums: &Checksums) -> Result<LabelList> {
        // A million labels of 60 bytes: beyond this it is no label list.
        const MAX_BYTES: u64 = 64 << 20;
        let mut text = Vec::new();
        file::open_hashed(path, checksums)?
            .take(MAX_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| unreadable(path, 0, error))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(Error::TooLarge {
                path: path.into(),
                needed: None,
                what: "a label list".into(),
                limit: MAX_BYTES,
            });
        }
        LabelList::parse(path, &text)
    }

    /// Reads the text of a Mulan label file; `path` is for messages only.
    pub fn parse(path: &Path, text: &[u8]) -> Result<LabelList> {
        // Hierarchies of real label sets are a few levels deep; a bomb is thousands.
        const MAX_DEPTH: usize = 100;
        let mut reader = quick_xml::Reader::from_reader(text);
        // Events come in order, so each line end and each character is counted once.
        let (mut counted, mut line, mut column) = (0, 1u64, 1u64);
        let mut place_at = |at: u64| {
            let at = (at as usize).clamp(counted, text.len());
            for byte in &text[counted..at] {
                match byte {
                    b'\n' => (line, column) = (line + 1, 1),
                    // The first byte of a character; the others begin with the bits 10.
                    byte => column += u64::from(byte & 0b1100_0000 != 0b1000_0000),
                }
            }
            counted = at;
            (line, column)
        };
        let fault = |(line, column): (u64, u64), expected: &str, found: String| {
            Error::Content(Box::new(ContentError {
                path: path.into(),
                line,
                column,
                found,
                expected: expected.into(),
                help: Some(
                    "a Mulan label list reads <labels><label name=\"a\"/><label name=\"b\"/></labels>".into(),
                ),
                excerpt: None,
            }))
        };
        let mut list = LabelList::default();
        let mut seen = HashMap::new();
        // Only how deep we are and how many of the open elements are labels: no tree is built.
        let (mut depth, mut open_labels) = (0usize, Vec::new());
        let mut rooted = false;
        loop {
            let place = place_at(reader.buffer_position());
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let place = place_at(reader.error_position());
                    return Err(fault(place, "well-formed XML", error.to_string()));
                }
            };
            let (element, is_empty) = match event {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(_) => {
                    depth = depth.saturating_sub(1);
                    open_labels.truncate(depth);
                    continue;
                }
                Event::Eof if depth > 0 => {
                    return Err(fault(place, "closing tags", "the end of the file".into()));
                }
                Event::Eof => break,
                _ => continue,
            };
            let local = element.local_name();
            let is_label = local.as_ref() == "label";
            if depth == 0 {
                if local.as_ref() != "labels" || rooted {
                    let found = format!("<{}>", local.as_ref());
                    return Err(fault(place, "one <labels> element", found));
                }
                rooted = true;
            }
            if is_label {
                let name = label_name(&element)
                    .map_err(|found| fault(place, "a <label> with a name", found))?;
                if let Some(first) = seen.insert(name.clone(), place.0) {
                    let found = format!("{name:?} again (first on line {first})");
                    return Err(fault(place, "each label once", found));
                }
                list.nested |= open_labels.contains(&true);
                let (line, column) = place;
                list.labels.push(ListedLabel { name, line, column });
            }
            if !is_empty {
                depth += 1;
                open_labels.push(is_label);
                if depth > MAX_DEPTH {
                    let found = "deeper nesting".to_string();
                    return Err(fault(place, "at most 100 levels of labels", found));
                }
            }
        }
        if list.labels.is_empty() {
            return Err(fault((1, 1), "at least one <label>", "none".into()));
        }
        Ok(list)
    }

    /// The names, in the file's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|label| label.name.as_str())
    }

    /// Says of a list with labels inside labels that nothing is made of that.
    pub(crate) fn flattened(&self, path: &Path) -> Option<Note> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        self.nested.then(|| Note {
            code: "hierarchy-flattened",
            text: format!("{file} nests its labels; they are read as one flat list"),
        })
    }

    /// The text of a Mulan label file with these names, and remarks as comments.
    pub fn text(names: &[String], remarks: &[String]) -> String {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
        for remark in remarks {
            // Two hyphens would end the comment.
            text += &format!("<!-- {} -->\n", remark.replace("--", "- -"));
        }
        text += "<labels xmlns=\"http://mulan.sourceforge.net/labels\">\n";
        for name in names {
            // Line ends and tabs in an attribute would be read back as blanks.
            let escaped = quick_xml::escape::escape(name.as_str())
                .replace('\n', "&#10;")
                .replace('\r', "&#13;")
                .replace('\t', "&#9;");
            text += &format!("<label name=\"{escaped}\"></label>\n");
        }
        text + "</labels>\n"
    }
}

fn label_name(element: &BytesStart) -> Result<String, String> {
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_ref() == "name" {
            return attribute
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .map(|name| name.into_owned())
                .map_err(|error| error.to_string());
        }
    }
    Err("none".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let list = LabelList::parse(Path::new("x.xml"), text.as_bytes()).unwrap();
        list.names().map(String::from).collect()
    }

    fn refusal(text: &str) -> String {
        LabelList::parse(Path::new("x.xml"), text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn labels_come_in_file_order_with_entities_resolved() {
        assert_eq!(
            names(
                "<labels>\n<label name=\"b\"></label><label name='a &amp; &quot;c&quot;'/></labels>"
            ),
            ["b", "a & \"c\""]
        );
    }

    #[test]
    fn nested_labels_are_flattened_parents_first() {
        let text = "<labels><label name='a'><label name='b'/></label><label name='c'/></labels>";
        assert_eq!(names(text), ["a", "b", "c"]);
        assert!(LabelList::parse(Path::new("x"), text.as_bytes()).unwrap().nested);
    }

    #[test]
    fn broken_lists_are_refused_with_their_line_and_column() {
        assert_eq!(
            refusal("<labels>\n<label name='a'/>\n é<label name='a'/></labels>"),
            "x.xml, line 3, column 3: expected each label once, found \"a\" again (first on line 2)"
        );
        for (text, message) in [
            ("<labels><label/></labels>", "line 1, column 9: expected a <label> with a name"),
            ("\n <html></html>", "line 2, column 2: expected one <labels> element, found <html>"),
            ("<labels>\n", "line 2, column 1: expected closing tags, found the end of the file"),
            ("<labels>\n</label>", "line 2, column 1: expected well-formed XML"),
            ("", "line 1, column 1: expected at least one <label>"),
            (&"<labels>".repeat(1_000), "line 1, column 801: expected at most 100 levels"),
        ] {
            let refused = refusal(text);
            assert!(refused.starts_with(&format!("x.xml, {message}")), "{refused}");
        }
    }

    #[test]
    fn a_damaged_list_is_wrong_content() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["x.xml.gz", "x.xml.bz2"] {
            let path = directory.path().join(name);
            std::fs::write(&path, "no compressed data").unwrap();
            let error = LabelList::read(&path).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Content, "{error}");
            assert!(error.remedy().is_some());
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let written = ["plain", "Swainson's Thrush", "a<b>&\"c\"", "é\n\tx"].map(String::from);
        assert_eq!(names(&LabelList::text(&written, &["made with --care".into()])), written);
    }

    #[test]
    fn meka_counts_are_found_in_relation_names() {
        for (relation, count) in [
            ("Music: -C 6", Some(6)),
            ("PlantPseAAC: -C -12", Some(-12)),
            ("LangLog: -C 75-weka.filters.unsupervised.attribute.Reorder-R76-last", Some(75)),
            ("OSHUMED: -I 0 -C 23 -split 6965", Some(23)),
            ("MC-Conference 7", None),
            ("x -C", None),
            ("x -C 99999999999999999999", None),
        ] {
            assert_eq!(meka_count(relation), count, "{relation}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("tag_*", "tag_vegan") && matches("*", "") && matches("a*b*c", "a-b-c"));
        assert!(!matches("tag_*", "label") && !matches("a*a", "a") && !matches("a*b*c", "acb"));
    }
}
