//! What one cell of a declared column means, as a number.

use std::collections::HashMap;
use std::path::Path;

use super::date::DateFormat;
use super::header::{Declared, DeclaredKind};
use super::scan::{Scan, Word};
use crate::data::lines::Fault;
use crate::data::relevance::{self, Threshold};
use crate::data::{Attribute, LabelId, ReadOptions, number};
use crate::error::{ContentError, Error, Result, nearest};

/// A declared column and what becomes of it.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) role: Role,
    cell: Cell,
    /// The value of a cell that is this one digit, NaN where `read_word` has to decide. Most cells
    /// of sparse and nominal columns are one digit, and need not be parsed.
    by_digit: [f64; 10],
}

pub(super) enum Role {
    Feature,
    Label(LabelId),
    /// The columns of one instance of the bag.
    Bag(Vec<Column>),
}

enum Cell {
    Number,
    Value(Values),
    Text(Texts),
    Date(DateFormat),
    /// A label: 1 relevant, 0 irrelevant.
    Relevance {
        declared: Option<Values>,
        by_value: Vec<Option<bool>>,
        binarize: Option<Threshold>,
    },
    Bag,
}

/// The declared columns with their roles.
pub(super) fn columns(
    path: &Path,
    declared: Vec<Declared>,
    labels: &[usize],
    options: &ReadOptions,
) -> Result<Vec<Column>> {
    let ids: HashMap<usize, LabelId> =
        labels.iter().enumerate().map(|(label, &position)| (position, LabelId(label))).collect();
    const OTHER_LABELS: &str = "choose label columns of 0 and 1, or of numbers to be binarized";
    let mut has_bag = false;
    let mut columns = Vec::with_capacity(declared.len());
    for (position, Declared { name, kind }) in declared.into_iter().enumerate() {
        let refuse = |found: &str, expected: String, help: &'static str| {
            Err(Error::Content(Box::new(ContentError {
                path: path.into(),
                line: 0,
                column: 0,
                found: found.into(),
                expected,
                help: Some(help.into()),
                excerpt: None,
            })))
        };
        columns.push(match (ids.get(&position), kind) {
            (Some(_), DeclaredKind::Relational(_)) => {
                let expected = format!("label {name:?} to be 0 or 1");
                return refuse("a relational attribute", expected, OTHER_LABELS);
            }
            (Some(_), DeclaredKind::Date(_)) => {
                let expected = format!("label {name:?} to be 0 or 1");
                return refuse("a date", expected, OTHER_LABELS);
            }
            (Some(&label), kind) => {
                let declared = match kind {
                    DeclaredKind::Nominal(values) => Some(Values::new(values)),
                    _ => None,
                };
                let by_value = declared.iter().flat_map(|values| &values.all);
                let by_value = by_value
                    .map(|(bytes, _)| relevance::of_text(bytes, options.binarize))
                    .collect();
                let cell = Cell::Relevance { declared, by_value, binarize: options.binarize };
                Column::new(name, Role::Label(label), cell)
            }
            (None, DeclaredKind::Relational(_)) if has_bag => {
                let help = "put all attributes of an instance into one bag";
                let expected = "one relational attribute".into();
                return refuse(&format!("a second, {name:?}"), expected, help);
            }
            (None, DeclaredKind::Relational(inner)) => {
                has_bag = true;
                if inner.is_empty() {
                    let help = "declare them between the bag's @attribute and its @end";
                    return refuse("none", format!("attributes inside bag {name:?}"), help);
                }
                let inner = columns_of_instance(inner);
                Column::new(name, Role::Bag(inner), Cell::Bag)
            }
            (None, kind) => Column::new(name, Role::Feature, Cell::of(kind)),
        });
    }
    Ok(columns)
}

fn columns_of_instance(inner: Vec<Declared>) -> Vec<Column> {
    inner
        .into_iter()
        .map(|Declared { name, kind }| Column::new(name, Role::Feature, Cell::of(kind)))
        .collect()
}

impl Cell {
    fn of(kind: DeclaredKind) -> Cell {
        match kind {
            DeclaredKind::Numeric => Cell::Number,
            DeclaredKind::Nominal(values) => Cell::Value(Values::new(values)),
            DeclaredKind::Text => Cell::Text(Texts::default()),
            DeclaredKind::Date(format) => Cell::Date(format),
            DeclaredKind::Relational(_) => Cell::Bag,
        }
    }

    fn of_digit(&self, digit: u8) -> Option<f64> {
        let text = &[b'0' + digit];
        match self {
            Cell::Number => Some(f64::from(digit)),
            Cell::Value(values) => values.find(text).map(|index| index as f64),
            Cell::Relevance { declared, by_value, binarize } => {
                let relevant = match declared {
                    None => relevance::of_text(text, *binarize),
                    Some(values) => values.find(text).and_then(|index| by_value[index]),
                };
                relevant.map(|relevant| f64::from(u8::from(relevant)))
            }
            Cell::Text(_) | Cell::Date(_) | Cell::Bag => None,
        }
    }
}

impl Column {
    fn new(name: String, role: Role, cell: Cell) -> Column {
        let by_digit = std::array::from_fn(|digit| cell.of_digit(digit as u8).unwrap_or(f64::NAN));
        Column { name, role, cell, by_digit }
    }

    pub(super) fn is_date(&self) -> bool {
        matches!(self.cell, Cell::Date(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.cell, Cell::Text(_))
    }

    /// The input column this has become so far.
    pub(super) fn attribute(&self) -> Attribute {
        match &self.cell {
            Cell::Value(values) => {
                Attribute::nominal(&self.name, values.all.iter().map(|(_, text)| text.clone()))
            }
            Cell::Text(texts) => Attribute::nominal(&self.name, texts.all.clone()),
            _ => Attribute::numeric(&self.name),
        }
    }

    /// The value and length of the cell that `rest` begins with, if that is a known digit or a
    /// plain number. Missing and faulty cells are left to `read_word`.
    #[inline]
    pub(super) fn quick(&self, rest: &[u8]) -> Option<(f64, usize)> {
        if let [digit @ b'0'..=b'9', b',' | b'}', ..] = rest {
            let value = self.by_digit[usize::from(digit - b'0')];
            if !value.is_nan() {
                return Some((value, 1));
            }
        }
        let Cell::Number = self.cell else { return None };
        let (value, length) = number::scan(rest)?;
        matches!(rest.get(length), None | Some(b',' | b' ' | b'\t' | b'}'))
            .then_some((value, length))
    }

    /// The value of the cell that comes next; NaN where it is missing.
    pub(super) fn read(&mut self, scan: &mut Scan) -> Result<f64> {
        scan.skip_blanks();
        match self.quick(scan.rest()) {
            Some((value, length)) => {
                scan.at += length;
                Ok(value)
            }
            None => self.read_word(scan),
        }
    }

    /// A cell that is not a plain number.
    fn read_word(&mut self, scan: &mut Scan) -> Result<f64> {
        let line = scan.line;
        let word = scan.word("a value")?;
        if word.is_missing() {
            return Ok(f64::NAN);
        }
        match &mut self.cell {
            Cell::Number => number::parse(&word.bytes).ok_or_else(|| {
                let help = if word.bytes.contains(&b';') {
                    "fields are separated by commas, not semicolons".into()
                } else {
                    format!("attribute {:?} is declared numeric; ? stands for missing", self.name)
                };
                line.fault(word.at, "a number").help(help).into()
            }),
            Cell::Value(values) => match values.find(&word.bytes) {
                Some(index) => Ok(index as f64),
                None => Err(undeclared(&self.name, values, &word, scan)),
            },
            Cell::Text(texts) => {
                let text = line.text(&word.bytes, word.at.start)?;
                Ok(texts.intern(text) as f64)
            }
            Cell::Date(format) => format.milliseconds(&word.bytes).ok_or_else(|| {
                let help = "yyyy-MM-dd'T'HH:mm:ss unless the declaration gives another format; \
                            ? stands for missing";
                line.fault(word.at, "a date of the declared format").help(help).into()
            }),
            Cell::Relevance { declared, by_value, binarize } => {
                let relevant = match declared {
                    None => relevance::of_text(&word.bytes, *binarize),
                    Some(values) => match values.find(&word.bytes) {
                        Some(index) => by_value[index],
                        None => return Err(undeclared(&self.name, values, &word, scan)),
                    },
                };
                match relevant {
                    Some(relevant) => Ok(f64::from(u8::from(relevant))),
                    None => {
                        let fault = line.fault(word.at.clone(), String::new());
                        Err(not_binary(&self.name, &word.bytes, fault))
                    }
                }
            }
            Cell::Bag => {
                let help = "an attribute of a bag is a number, a value, a text or a date";
                Err(line.fault(word.at, "no bag inside a bag").help(help).into())
            }
        }
    }

    /// What a sparse row that leaves this column out means: 0, the first declared value, no text.
    /// For a label: whether that is relevant.
    pub(super) fn omitted(&self, scan: &Scan) -> Result<bool> {
        let Cell::Relevance { by_value, binarize, .. } = &self.cell else { return Ok(false) };
        let relevant = match by_value.first() {
            Some(relevant) => *relevant,
            None => relevance::of_number(0.0, *binarize),
        };
        relevant.ok_or_else(|| {
            let first = format!(
                "nothing, which in a sparse row means the first declared value of label {:?}",
                self.name
            );
            let fault = scan.line.fault(scan.at..scan.at, String::new()).found(first);
            not_binary(&self.name, b"", fault)
        })
    }

    /// Sparse rows that leave a text out mean the empty one, so it comes first.
    pub(super) fn expect_omissions(&mut self) {
        if let Cell::Text(texts) = &mut self.cell {
            texts.intern(String::new());
        }
    }
}

fn not_binary(label: &str, found: &[u8], fault: Fault) -> Error {
    fault.expected(format!("0 or 1 for label {label:?}")).help(relevance::remedy(found)).into()
}

fn undeclared(name: &str, values: &Values, word: &Word, scan: &Scan) -> Error {
    let texts: Vec<String> = values.all.iter().map(|(_, text)| text.clone()).collect();
    let shown = texts.iter().take(6).cloned().collect::<Vec<_>>().join(",");
    let more = if texts.len() > 6 { ",…" } else { "" };
    let fault = scan.line.fault(
        word.at.clone(),
        format!("one of the {} values {{{shown}{more}}} declared for {name:?}", texts.len()),
    );
    match nearest(&String::from_utf8_lossy(&word.bytes), &texts) {
        Some(near) => fault.help(format!("did you mean {near:?}?")).into(),
        None => fault.help("add the value to the attribute's declaration").into(),
    }
}

/// The declared values of a nominal column.
struct Values {
    all: Vec<(Vec<u8>, String)>,
    /// Only for long lists: a short one is searched faster than hashed.
    index: HashMap<Vec<u8>, usize>,
}

impl Values {
    const SHORT: usize = 8;

    fn new(all: Vec<(Vec<u8>, String)>) -> Values {
        let index = if all.len() > Values::SHORT {
            all.iter().enumerate().map(|(at, (bytes, _))| (bytes.clone(), at)).collect()
        } else {
            HashMap::new()
        };
        Values { all, index }
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        if self.all.len() > Values::SHORT {
            self.index.get(bytes).copied()
        } else {
            self.all.iter().position(|(value, _)| value == bytes)
        }
    }
}

/// The distinct texts of a string column, in order of appearance.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    index: HashMap<String, usize>,
}

impl Texts {
    fn intern(&mut self, text: String) -> usize {
        match self.index.get(&text) {
            Some(&at) => at,
            None => {
                self.all.push(text.clone());
                self.index.insert(text, self.all.len() - 1);
                self.all.len() - 1
            }
        }
    }
}
