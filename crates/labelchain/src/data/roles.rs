//! What the columns of a table are for: inputs, identifiers, dates, texts; and which are left out.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::label_list::Columns;
use super::{Attribute, AttributeKind, Dataset, Matrix, Note, Reading, Table, date, number};
use crate::error::{Error, Remedy, Result};

/// What the user says that columns are for; columns that are not named are inputs.
///
/// | field | meaning |
/// |---|---|
/// | `drop` | left out |
/// | `id` | identifiers: no inputs, but [carried along](Dataset::ids) |
/// | `text` | texts, whose words are inputs |
/// | `keep` | inputs as they are, whatever they look like |
/// | `find` | whether to look for dates and identifiers among the others |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles {
    /// Left out.
    pub drop: Vec<String>,
    /// Identifiers: no inputs, but carried along.
    pub id: Vec<String>,
    /// Texts, whose words are inputs.
    pub text: Vec<String>,
    /// Inputs as they are, whatever they look like.
    pub keep: Vec<String>,
    /// Whether to look for dates and identifiers among the others.
    pub find: bool,
}

/// A column that says which row this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdColumn {
    /// The name of the column.
    pub name: String,
    /// What it says of each row; nothing where the cell is missing.
    pub cells: Vec<String>,
}

impl IdColumn {
    /// A note if several rows have the same name.
    fn repeated(&self) -> Option<Note> {
        let mut seen = HashSet::new();
        let cells = self.cells.iter().map(String::as_str);
        let again: Vec<&str> =
            cells.filter(|cell| !cell.is_empty() && !seen.insert(*cell)).collect();
        let (n, first) = (again.len(), again.first()?);
        let text =
            format!("rows whose {:?} an earlier row has too: {n} (first: {first:?})", self.name);
        Some(Note { code: "repeated-ids", text })
    }

    /// What it says of the rows named, in that order.
    pub(super) fn select(&self, rows: &[usize]) -> IdColumn {
        let cells = rows.iter().map(|&row| self.cells[row].clone()).collect();
        IdColumn { name: self.name.clone(), cells }
    }
}

/// What a column turned out to be.
enum Found {
    Input,
    Date,
    Identifier,
    /// Nearly every row has its own value, of several words.
    Text,
    /// Most of its values look like dates, and are none that can be read.
    AlmostDate,
}

impl ColumnRoles {
    /// Whether every column stays what it is.
    pub(crate) fn is_empty(&self) -> bool {
        *self == ColumnRoles::default()
    }

    /// Whether it says of any column what it is for.
    pub(super) fn names_any(&self) -> bool {
        *self != ColumnRoles { find: self.find, ..ColumnRoles::default() }
    }

    /// How a file is to be read whose columns have these roles: identifiers and texts as they are spelt, also
    /// where they look like numbers.
    pub(super) fn attributes(&self, known: &Arc<[Attribute]>) -> Arc<[Attribute]> {
        let nominal = |name: &String| Attribute::nominal(name, [""; 0]);
        let spelt = self.id.iter().chain(&self.text).map(nominal);
        if self.is_empty() {
            Arc::clone(known)
        } else {
            known.iter().cloned().chain(spelt).collect()
        }
    }

    /// What was read, with columns in their roles.
    pub(super) fn given_to(&self, reading: Reading, path: &Path) -> Result<Reading> {
        let Reading { table, mut notes } = reading;
        // What is looked for would not be found among bags; what is asked for is refused.
        if self.is_empty() || matches!(table, Table::Bags(_)) && !self.names_any() {
            return Ok(Reading { table, notes });
        }
        let (data, found) = self.apply(table.into_rows()?, path)?;
        notes.extend(found);
        Ok(Reading { table: Table::Rows(data), notes })
    }

    /// Gives the columns of a table their roles. Notes say what was found.
    pub fn apply(&self, data: Dataset, path: &Path) -> Result<(Dataset, Vec<Note>)> {
        // There may be very many columns, and most often none of them is named.
        let by_name = LazyCell::new(|| {
            let names = data.attributes().iter().map(|of| of.name.as_str());
            names.enumerate().map(|(at, name)| (name, at)).collect::<HashMap<&str, usize>>()
        });
        let looked_for = |name: &str| {
            let names: Vec<String> = data.attributes().iter().map(|of| of.name.clone()).collect();
            Columns { path, names: &names, relation: None }.position("input", name)
        };
        let places = |wanted: &[String]| -> Result<HashSet<usize>> {
            let known = |name: &String| by_name.get(name.as_str()).copied();
            wanted.iter().map(|name| known(name).map_or_else(|| looked_for(name), Ok)).collect()
        };
        let [drop, id, text, keep] = [&self.drop, &self.id, &self.text, &self.keep];
        let (drop, id, text, keep) = (places(drop)?, places(id)?, places(text)?, places(keep)?);
        let roles = [("drop", &drop), ("id", &id), ("text", &text), ("keep", &keep)];
        let named: BTreeSet<usize> = roles.iter().flat_map(|(_, of)| of.iter().copied()).collect();
        for at in named {
            let named: Vec<&str> =
                roles.iter().filter(|(_, of)| of.contains(&at)).map(|(role, _)| *role).collect();
            if let [first, second, ..] = named[..] {
                return Err(Error::Value {
                    name: second.into(),
                    value: format!("{:?}", data.attributes()[at].name),
                    accepted: format!("another column than {first} has"),
                });
            }
        }
        let mut notes = Notes::default();
        let (mut kinds, mut kept) = (Vec::new(), Vec::new());
        let (mut ids, mut left_out, mut row_names) = (Vec::new(), Vec::new(), Vec::new());
        let mut repeated = Vec::new();
        for (at, attribute) in data.attributes().iter().enumerate() {
            if drop.contains(&at) {
                left_out.push(attribute.name.clone());
                continue;
            }
            if id.contains(&at) {
                let id = IdColumn { name: attribute.name.clone(), cells: spelt(&data, at) };
                repeated.extend(id.repeated());
                ids.push(id);
                continue;
            }
            if text.contains(&at) {
                kept.push(at);
                kinds.push(text_kind(&data, at, path)?);
                continue;
            }
            let found = if self.find { found(&data, at) } else { Found::Input };
            if self.find && !keep.contains(&at) && look_like_numbers(attribute) {
                let values = attribute.values().unwrap_or_default();
                let odd = values.iter().find(|value| !looks_like_number(value) && !is_plain(value));
                notes.numbers_as_names.push(with_example(attribute, odd));
            }
            // Of a single column something is learned, or nothing at all.
            let is_left_out = matches!(found, Found::Identifier | Found::Text | Found::AlmostDate);
            let found = if is_left_out && data.n_features() == 1 { Found::Input } else { found };
            let found = if keep.contains(&at) {
                if matches!(found, Found::Identifier | Found::Text) {
                    row_names.push(attribute.name.clone());
                }
                Found::Input
            } else {
                found
            };
            match found {
                Found::Input => {
                    kept.push(at);
                    kinds.push(attribute.kind.clone());
                }
                Found::Date => {
                    kept.push(at);
                    kinds.push(AttributeKind::Date);
                    notes.dates.push(with_example(attribute, None));
                }
                Found::AlmostDate => {
                    left_out.push(attribute.name.clone());
                    let values = attribute.values().unwrap_or_default();
                    let odd = values.iter().find(|value| date::parse(value).is_none());
                    notes.almost_dates.push(with_example(attribute, odd));
                }
                Found::Identifier => {
                    left_out.push(attribute.name.clone());
                    notes.identifiers.push(with_example(attribute, None));
                }
                Found::Text => {
                    left_out.push(attribute.name.clone());
                    notes.texts.push(with_example(attribute, None));
                }
            }
        }
        let mut notes = notes.in_words();
        notes.extend(repeated);
        // In the order in which they were asked for.
        ids.sort_by_key(|of| self.id.iter().position(|name| *name == of.name));
        Ok((data.with_roles(&kept, kinds, ids, left_out, row_names), notes))
    }
}

/// The names of the columns that were found to be something.
#[derive(Default)]
struct Notes {
    dates: Vec<String>,
    almost_dates: Vec<String>,
    numbers_as_names: Vec<String>,
    identifiers: Vec<String>,
    texts: Vec<String>,
}

/// The name of a column, and a value that shows why it is noted.
fn with_example(attribute: &Attribute, example: Option<&String>) -> String {
    match example {
        Some(example) => format!("{:?} (for instance {example:?})", attribute.name),
        None => format!("{:?}", attribute.name),
    }
}

impl Notes {
    fn in_words(&self) -> Vec<Note> {
        let note = |code, what: &str, names: &[String]| {
            const SHOWN: usize = 5;
            let shown = names[..names.len().min(SHOWN)].join(", ");
            let more = if names.len() > SHOWN { ", …" } else { "" };
            let text = format!("{what}: {shown}{more}");
            (!names.is_empty()).then_some(Note { code, text })
        };
        let dates = "dates, learned from as numbers with weekday and month";
        let almost_dates = "left out, though most look like dates; write them as 2024-02-29 or \
                            2024-02-29T17:30, for 3/4/2024 is a day in March to some and in April to \
                            others, and leave cells without a date empty";
        let numbers_as_names = "read as names, though most look like numbers; write all of them as 1234.56 (or \
                              1234,56 where semicolons separate fields), without units and signs of currencies, \
                              and leave cells without a number empty";
        let identifiers = "left out, because nearly every row has a value of its own";
        let texts = "left out, because nearly every row has a text of its own";
        let all = [
            note("dates", dates, &self.dates),
            note("almost-dates", almost_dates, &self.almost_dates),
            note("numbers-as-names", numbers_as_names, &self.numbers_as_names),
            note("identifiers", identifiers, &self.identifiers),
            note("texts", texts, &self.texts),
        ];
        all.into_iter().flatten().collect()
    }
}

/// The kind of a column that the user calls a text.
fn text_kind(data: &Dataset, at: usize, path: &Path) -> Result<AttributeKind> {
    let attribute = &data.attributes()[at];
    let is_missing = |row| data.features().get(row, at).is_nan();
    match &attribute.kind {
        AttributeKind::Nominal(values) => Ok(AttributeKind::Text(values.as_slice().into())),
        AttributeKind::Text(texts) => Ok(AttributeKind::Text(Arc::clone(texts))),
        // A column without any text has no kind that could be seen.
        _ if (0..data.n_rows()).all(is_missing) => Ok(AttributeKind::Text([].into())),
        _ => Err(Error::Columns {
            path: path.into(),
            problem: format!("{:?} holds numbers and is no text", attribute.name),
            remedy: Remedy::from("leave ").setting("text").text(" out, to learn from the numbers"),
        }),
    }
}

/// The cells of a column as the file has them; nothing where one is missing.
fn spelt(data: &Dataset, at: usize) -> Vec<String> {
    let attribute = &data.attributes()[at];
    let text = |row: usize| attribute.text(data.features().get(row, at));
    (0..data.n_rows()).map(|row| text(row).unwrap_or_default().into_owned()).collect()
}

/// Fewer rows than this show nothing.
const FEWEST_ROWS: usize = 20;

/// What a column looks like.
fn found(data: &Dataset, at: usize) -> Found {
    let attribute = &data.attributes()[at];
    match &attribute.kind {
        AttributeKind::Nominal(values) => {
            let mut occurs = vec![false; values.len()];
            let mut n_cells = 0;
            for row in 0..data.n_rows() {
                let cell = data.features().get(row, at);
                if !cell.is_nan() {
                    n_cells += 1;
                    occurs.get_mut(cell as usize).into_iter().for_each(|it| *it = true);
                }
            }
            let values = values.iter().zip(&occurs).filter(|(_, occurs)| **occurs);
            let values: Vec<&str> = values.map(|(value, _)| value.as_str()).collect();
            if !values.is_empty() && values.iter().all(|value| date::parse(value).is_some()) {
                return Found::Date;
            }
            let n_dates = values.iter().filter(|value| date::looks_like_date(value)).count();
            if n_cells >= FEWEST_ROWS && n_dates > 1 && n_dates * 2 > values.len() {
                return Found::AlmostDate;
            }
            // Half as many values as cells: hardly any value will be met again.
            if n_cells < FEWEST_ROWS || values.len() * 2 < n_cells {
                return Found::Input;
            }
            let n_words: usize = values.iter().map(|value| value.split_whitespace().count()).sum();
            if n_words >= 3 * values.len() { Found::Text } else { Found::Identifier }
        }
        AttributeKind::Numeric if data.is_in_milliseconds(at) => Found::Date,
        AttributeKind::Numeric if is_identifier(data, at) => Found::Identifier,
        _ => Found::Input,
    }
}

/// Whether most of the values of a column are spelt as people write numbers, and programs do not.
fn look_like_numbers(attribute: &Attribute) -> bool {
    let Some(values) = attribute.values() else { return false };
    let n_like = values.iter().filter(|value| looks_like_number(value) && !is_plain(value)).count();
    n_like > 1 && n_like * 2 > values.len()
}

/// Whether a text is spelt as people write numbers: `1,5`, `1.234,50`, `1 234`, `12 %`, `€ 5`.
fn looks_like_number(value: &str) -> bool {
    let is_mark = |letter: char| letter.is_whitespace() || "%€$£¥'’".contains(letter);
    let plain: String = value.chars().filter(|&letter| !is_mark(letter)).collect();
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    let mut parts = digits.split([',', '.']).peekable();
    let is_whole = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let starts = parts.next().is_some_and(is_whole);
    let mut goes_on = true;
    while let Some(part) = parts.next() {
        // Groups of thousands, and at the end any decimals.
        goes_on &= is_whole(part) && (parts.peek().is_none() || part.len() == 3);
    }
    starts && goes_on
}

/// Whether a text is a number as programs write it.
fn is_plain(value: &str) -> bool {
    number::parse(value.trim().as_bytes()).is_some()
}

/// What columns are called that say which row is which.
const NAMES_OF_IDENTIFIERS: [&str; 13] = [
    "id", "ids", "uuid", "guid", "key", "index", "idx", "nr", "no", "number", "row", "serial",
    "ticket",
];

/// Whether a numeric column says which row is which: whole numbers that count the rows, or that are all different
/// under a name that says so.
fn is_identifier(data: &Dataset, at: usize) -> bool {
    // Zeros that are not stored are all alike.
    let Matrix::Dense(dense) = data.features() else { return false };
    let cells = || (0..data.n_rows()).map(|row| dense.row(row)[at]);
    if data.n_rows() < FEWEST_ROWS || !cells().all(|cell| cell.fract() == 0.0) {
        return false;
    }
    let counts = cells().zip(cells().skip(1)).all(|(before, after)| after - before == 1.0);
    let is_named = || {
        let name = data.attributes()[at].name.to_lowercase();
        let mut words = name.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| NAMES_OF_IDENTIFIERS.contains(&word))
    };
    let all_differ = || {
        let mut seen = HashSet::with_capacity(data.n_rows());
        cells().all(|cell| seen.insert(cell.to_bits()))
    };
    counts || is_named() && all_differ()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelChoice, ReadOptions, parse};

    /// Thirty tickets: a number that rises, a key, a name with few values, a date, a text, an amount.
    fn tickets(options: ReadOptions) -> (Dataset, Vec<Note>) {
        let row = |n: usize| {
            format!(
                "{},T-{n},{},2024-03-{:02},the printer on floor {n} is broken,{},{}\n",
                1000 + 3 * n,
                ["mail", "phone"][n % 2],
                1 + n % 28,
                n * 37 % 30,
                n % 2
            )
        };
        let rows: String = (0..30).map(row).collect();
        let text = format!("nr,key,channel,created,body,amount,urgent\n{rows}");
        let labels = LabelChoice::Last(1);
        let reading =
            parse("t.csv".as_ref(), text.as_bytes(), &ReadOptions { labels, ..options }).unwrap();
        let notes = reading.notes.clone();
        (reading.into_rows().unwrap(), notes)
    }

    fn roles(roles: ColumnRoles) -> ReadOptions {
        ReadOptions { roles: roles.into(), ..ReadOptions::default() }
    }

    fn names(data: &Dataset) -> Vec<&str> {
        data.attributes().iter().map(|of| of.name.as_str()).collect()
    }

    #[test]
    fn without_roles_columns_stay_what_they_are() {
        let (data, notes) = tickets(ReadOptions::default());
        assert_eq!((data.n_features(), notes.len(), data.ids().len()), (6, 0, 0));
    }

    #[test]
    fn identifiers_dates_and_texts_are_found() {
        let (data, notes) = tickets(roles(ColumnRoles { find: true, ..ColumnRoles::default() }));
        assert_eq!(names(&data), ["channel", "created", "amount"]);
        assert_eq!(data.attributes()[1].kind, AttributeKind::Date);
        assert_eq!(data.left_out(), ["nr", "key", "body"]);
        let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["dates", "identifiers", "texts"]);
        assert!(notes[1].text.ends_with(r#": "nr", "key""#), "{}", notes[1].text);
    }

    #[test]
    fn numbers_and_dates_that_only_people_read_are_named() {
        let row = |n: usize| {
            format!(
                "1.{:03},50 €;{n} %;{:02}/12/2025;{:02}/03/2025;v1.{n}.2;{}\n",
                n,
                1 + n % 28,
                n % 3,
                n % 2
            )
        };
        let rows: String = (1..31).map(row).collect();
        let text = format!("amount;share;day;few;version;y\n{rows}");
        let options = roles(ColumnRoles { find: true, ..ColumnRoles::default() });
        let options = ReadOptions { labels: LabelChoice::Last(1), ..options };
        let reading = parse("t.csv".as_ref(), text.as_bytes(), &options).unwrap();
        let named = |code: &str| {
            let note = reading.notes.iter().find(|note| note.code == code).unwrap();
            note.text.rsplit_once(": ").unwrap().1.to_string()
        };
        assert_eq!(named("numbers-as-names"), r#""amount", "share""#);
        assert_eq!(
            named("almost-dates"),
            r#""day" (for instance "01/12/2025"), "few" (for instance "00/03/2025")"#
        );
    }

    /// A date of the third of March 2024 in ARFF is what it would be in CSV.
    #[test]
    fn dates_of_arff_are_dates() {
        let rows: String =
            (0..30).map(|n| format!("2024-03-{:02},{}\n", 1 + n % 28, n % 2)).collect();
        let text = format!(
            "@relation 't: -C -1'\n@attribute d date yyyy-MM-dd\n@attribute y {{0,1}}\n@data\n{rows}"
        );
        let find = |find| roles(ColumnRoles { find, ..ColumnRoles::default() });
        let read = |options: &ReadOptions| {
            let reading = parse("t.arff".as_ref(), text.as_bytes(), options).unwrap();
            reading.into_rows().unwrap()
        };
        let data = read(&find(true));
        assert_eq!(data.attributes()[0].kind, AttributeKind::Date);
        assert_eq!(data.features().get(2, 0), date::parse("2024-03-03").unwrap());
        assert_eq!(read(&find(false)).attributes()[0].kind, AttributeKind::Numeric);
    }

    #[test]
    fn the_user_has_the_last_word() {
        let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let (data, notes) = tickets(roles(ColumnRoles {
            drop: own(&["amount"]),
            id: own(&["key", "nr"]),
            text: own(&["body"]),
            keep: own(&["created"]),
            find: true,
        }));
        assert_eq!((names(&data), notes.len()), (vec!["channel", "created", "body"], 0));
        assert!(matches!(data.attributes()[1].kind, AttributeKind::Nominal(_)));
        assert!(matches!(data.attributes()[2].kind, AttributeKind::Text(_)));
        assert_eq!((data.ids()[0].name.as_str(), data.ids()[1].name.as_str()), ("key", "nr"));
        let some = data.select(&[3, 29]);
        assert_eq!(
            (&some.ids()[0].cells, &some.ids()[1].cells),
            (&own(&["T-3", "T-29"]), &own(&["1009", "1087"]))
        );
        assert_eq!(data.left_out(), ["amount"]);
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_the_nearest() {
        let options = roles(ColumnRoles { text: vec!["boddy".into()], ..ColumnRoles::default() });
        let labels = LabelChoice::Last(1);
        let text = "body,urgent\nhelp,1\n";
        let read = parse("t.csv".as_ref(), text.as_bytes(), &ReadOptions { labels, ..options });
        let error = read.unwrap_err().to_string();
        assert!(error.contains("boddy") && error.contains("\"body\""), "{error}");
    }
}
