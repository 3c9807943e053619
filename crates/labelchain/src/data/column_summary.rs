//! What stands in each column of a table that is no label.

use std::collections::HashSet;

use super::{Attribute, AttributeKind, Dataset};

/// A column of a file, and what was made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSummary {
    /// As the file spells it.
    pub name: String,
    /// `number`, `nominal`, `date`, `text` or `word`.
    pub kind: &'static str,
    /// What it is for.
    pub role: ColumnRole,
    /// How many different values its cells have; none if more than [`ColumnSummary::MOST_VALUES`].
    pub n_values: Option<usize>,
    /// How many cells are missing.
    pub n_missing: usize,
    /// The first cell that is not missing, as the file has it, cut short.
    pub example: Option<String>,
}

/// What a column that is no label is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// It is learned from.
    Input,
    /// It says which row is which.
    Id,
    /// Neither.
    LeftOut,
}

impl ColumnRole {
    /// One or two words.
    pub fn name(self) -> &'static str {
        match self {
            ColumnRole::Input => "input",
            ColumnRole::Id => "id",
            ColumnRole::LeftOut => "left out",
        }
    }
}

/// What has been seen of a column.
#[derive(Clone, Default)]
struct Seen {
    values: HashSet<u64>,
    n_stored: usize,
    n_missing: usize,
    first: Option<f64>,
}

impl ColumnSummary {
    /// Values beyond so many are not counted.
    pub const MOST_VALUES: usize = 1000;

    /// Letters of an example.
    const LONGEST_EXAMPLE: usize = 60;

    /// The columns of a table, all of which are inputs so far.
    pub(super) fn of(data: &Dataset) -> Vec<ColumnSummary> {
        let mut seen = vec![Seen::default(); data.n_features()];
        for row in 0..data.n_rows() {
            for (column, cell) in data.features().entries(row) {
                let seen = &mut seen[column];
                seen.n_stored += 1;
                if cell.is_nan() {
                    seen.n_missing += 1;
                    continue;
                }
                seen.first.get_or_insert(cell);
                if seen.values.len() <= Self::MOST_VALUES {
                    // Zeros of either sign are one value.
                    seen.values.insert((cell + 0.0).to_bits());
                }
            }
        }
        let summary = |(attribute, mut seen): (&Attribute, Seen)| {
            if seen.n_stored < data.n_rows() {
                seen.values.insert(0f64.to_bits());
                seen.first.get_or_insert(0.0);
            }
            let n_values = seen.values.len();
            ColumnSummary {
                name: attribute.name.clone(),
                kind: kind(attribute),
                role: ColumnRole::Input,
                n_values: (n_values <= Self::MOST_VALUES).then_some(n_values),
                n_missing: seen.n_missing,
                example: seen.first.and_then(|cell| attribute.text(cell)).map(|text| cut(&text)),
            }
        };
        data.attributes().iter().zip(seen).map(summary).collect()
    }

    /// The same column in the role that it has in a table.
    pub(super) fn in_table(self, data: &Dataset) -> ColumnSummary {
        let is_it = |attribute: &Attribute| attribute.name == self.name;
        match data.attributes().iter().position(is_it) {
            Some(at) => {
                let attribute = &data.attributes()[at];
                // Dates in milliseconds are told as dates.
                let is_spelt_anew = self.kind == "number" && kind(attribute) == "date";
                let mut cells = (0..data.n_rows()).map(|row| data.features().get(row, at));
                let first = cells.find(|cell| is_spelt_anew && !cell.is_nan());
                let example = first.and_then(|cell| attribute.text(cell)).map(String::from);
                let example = if is_spelt_anew { example } else { self.example };
                ColumnSummary { kind: kind(attribute), example, ..self }
            }
            None if data.ids().iter().any(|id| id.name == self.name) => {
                ColumnSummary { role: ColumnRole::Id, ..self }
            }
            None => ColumnSummary { role: ColumnRole::LeftOut, ..self },
        }
    }
}

fn kind(attribute: &Attribute) -> &'static str {
    match attribute.kind {
        AttributeKind::Numeric => "number",
        AttributeKind::Nominal(_) => "nominal",
        AttributeKind::Date => "date",
        AttributeKind::Text(_) => "text",
        AttributeKind::Word => "word",
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(ColumnSummary::LONGEST_EXAMPLE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ColumnRoles, Description, LabelChoice, ReadOptions};

    #[test]
    fn every_column_is_told_with_its_role_values_and_an_example() {
        let row = |n: usize| format!("T-{n},{},2024-03-{:02},,{}\n", n % 3, 1 + n % 28, n % 2);
        let rows: String = (0..30).map(row).collect();
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("t.csv");
        std::fs::write(&path, format!("key,level,day,note,y\n{rows}")).unwrap();
        let roles = ColumnRoles { find: true, drop: vec!["note".into()], ..ColumnRoles::default() };
        let labels = LabelChoice::Last(1);
        let options = ReadOptions { labels, roles: roles.into(), ..ReadOptions::default() };
        let columns = Description::of_file(&path, &options).unwrap().columns;
        let told: Vec<_> = columns
            .iter()
            .map(|of| (of.name.as_str(), of.kind, of.role, of.n_values, of.n_missing))
            .collect();
        let (input, left_out) = (ColumnRole::Input, ColumnRole::LeftOut);
        assert_eq!(
            told,
            [
                ("key", "nominal", left_out, Some(30), 0),
                ("level", "number", input, Some(3), 0),
                ("day", "date", input, Some(28), 0),
                ("note", "number", left_out, Some(0), 30),
            ]
        );
        let examples: Vec<_> = columns.iter().map(|of| of.example.as_deref()).collect();
        assert_eq!(examples, [Some("T-0"), Some("0"), Some("2024-03-01"), None]);
    }
}
