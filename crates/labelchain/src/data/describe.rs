//! A data set's row of the paper's table, and every problem found in it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::number;
use super::{
    AttributeKind, Bags, ColumnSummary, Dataset, LabelId, Matrix, Note, ReadOptions, Reading,
    Table, read,
};
use crate::error::Result;

/// The figures of a data set, and notes on what is wrong or surprising in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The data set.
    pub name: String,
    /// The number of rows, N in the paper.
    pub n_rows: usize,
    /// The number of inputs, d in the paper; for bags, of the inputs of one instance.
    pub n_features: usize,
    /// How many of them are nominal.
    pub n_nominal: usize,
    /// How many are dates.
    pub n_dates: usize,
    /// How many are texts.
    pub n_texts: usize,
    /// The columns that say which row is which.
    pub ids: Vec<String>,
    /// The columns that are left out.
    pub left_out: Vec<String>,
    /// Inputs once every nominal one of more than two values is made into indicators.
    pub n_features_one_hot: usize,
    /// The number of labels, L in the paper.
    pub n_labels: usize,
    /// LC: mean number of relevant labels per row.
    pub cardinality: f64,
    /// LD: cardinality / L.
    pub density: f64,
    /// avIR: mean over labels of largest count / count, where a label that never occurs adds 0
    /// and still counts in the mean.
    pub mean_imbalance: f64,
    /// The labels, in label order.
    pub label_names: Vec<String>,
    /// To how many rows each is relevant.
    pub label_counts: Vec<usize>,
    /// Rows with no relevant label.
    pub n_rows_without_labels: usize,
    /// Distinct label sets.
    pub n_label_sets: usize,
    /// For multi-instance data: how many instances all bags hold.
    pub n_instances: Option<usize>,
    /// What stands in each column of a file that is no label, in its order; nothing for bags, and where it was not
    /// described [as a file](Description::of_file).
    pub columns: Vec<ColumnSummary>,
    /// What a user should know.
    pub notes: Vec<Note>,
}

impl Description {
    /// Describes a file, also the columns that are left out.
    pub fn of_file(path: &Path, options: &ReadOptions) -> Result<Description> {
        let attributes = options.roles.attributes(&options.attributes);
        let plain = ReadOptions { roles: Arc::default(), attributes, ..options.clone() };
        let reading = read(path, &plain)?;
        let columns = match &reading.table {
            Table::Rows(data) => ColumnSummary::of(data),
            Table::Bags(_) => vec![],
        };
        let Reading { table, notes } = options.roles.given_to(reading, path)?;
        let columns = columns.into_iter().map(|column| column.in_table(table.rows())).collect();
        Ok(Description { columns, ..Description::of(&table, &notes) })
    }

    /// Describes what was read; `notes` are the reader's.
    pub fn of(table: &Table, notes: &[Note]) -> Description {
        let (Table::Rows(data) | Table::Bags(Bags { rows: data, .. })) = table;
        let mut description = figures(data);
        description.notes = notes.to_vec();
        description.notes.extend(label_notes(data, &description.label_counts));
        match table {
            Table::Rows(data) => {
                description.notes.extend(cell_notes(data));
                description.notes.extend(column_notes(data));
            }
            Table::Bags(bags) => {
                description.n_features = bags.attributes().len();
                description.n_nominal = n_nominal(bags.attributes());
                description.n_features_one_hot = bags.attributes().iter().map(one_hot_width).sum();
                description.n_instances = Some(bags.instances().n_rows());
                description.notes.push(bag_note(bags));
            }
        }
        description
    }
}

fn figures(data: &Dataset) -> Description {
    let labels = data.labels();
    let counts = labels.counts();
    let (n_rows, n_labels) = (data.n_rows(), data.n_labels());
    let ratio = |a: f64, b: usize| if b == 0 { 0.0 } else { a / b as f64 };
    let cardinality = ratio(counts.iter().sum::<usize>() as f64, n_rows);
    let largest = counts.iter().max().copied().unwrap_or(0) as f64;
    let imbalance: f64 = counts.iter().map(|&count| ratio(largest, count)).sum();
    let is_empty = |&row: &usize| labels.relevant(row).next().is_none();
    let label_sets: HashSet<&[u64]> = (0..n_rows).map(|row| labels.row(row)).collect();
    let count = |is_it: &dyn Fn(&AttributeKind) -> bool| {
        data.attributes().iter().filter(|attribute| is_it(&attribute.kind)).count()
    };
    Description {
        name: data.name().into(),
        n_rows,
        n_features: data.n_features(),
        n_nominal: n_nominal(data.attributes()),
        n_dates: count(&|kind| *kind == AttributeKind::Date),
        n_texts: count(&|kind| matches!(kind, AttributeKind::Text(_))),
        ids: data.ids().iter().map(|id| id.name.clone()).collect(),
        left_out: data.left_out().to_vec(),
        n_features_one_hot: data.attributes().iter().map(one_hot_width).sum(),
        n_labels,
        cardinality,
        density: ratio(cardinality, n_labels),
        mean_imbalance: ratio(imbalance, n_labels),
        label_names: data.label_names().to_vec(),
        label_counts: counts,
        n_rows_without_labels: (0..n_rows).filter(is_empty).count(),
        n_label_sets: label_sets.len(),
        n_instances: None,
        columns: vec![],
        notes: vec![],
    }
}

fn bag_note(bags: &Bags) -> Note {
    let sizes = (0..bags.rows().n_rows()).map(|bag| bags.instances_of(bag).len());
    let (smallest, largest) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let text = if smallest == largest {
        format!("each row is a bag of {largest} instances; features are those of one instance")
    } else {
        format!(
            "each row is a bag of {smallest} to {largest} instances; features are those of one instance"
        )
    };
    Note { code: "multi-instance", text }
}

fn n_nominal(attributes: &[super::Attribute]) -> usize {
    attributes.iter().filter(|attribute| attribute.values().is_some()).count()
}

fn one_hot_width(attribute: &super::Attribute) -> usize {
    match attribute.values() {
        Some(values) if values.len() > 2 => values.len(),
        _ => 1,
    }
}

/// "1 row", "3 rows".
fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// "3 labels (a, b, c)", with the first few names only.
fn named<'n>(what: &str, names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let n = names.len();
    let shown: Vec<&str> = names.take(5).collect();
    let more = if n > 5 { ", …" } else { "" };
    format!("{} ({}{more})", counted(n, what, &format!("{what}s")), shown.join(", "))
}

fn label_notes(data: &Dataset, counts: &[usize]) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut constant = |code, count, what: &str| {
        let names: Vec<&str> = (0..counts.len())
            .filter(|&label| counts[label] == count)
            .map(|label| data.label_names()[label].as_str())
            .collect();
        if !names.is_empty() {
            let text = format!("{} {what}", named("label", names.into_iter()));
            notes.push(Note { code, text });
        }
    };
    constant("empty-label", 0, "with no relevant row: nothing can be learned there");
    if data.n_rows() > 0 {
        constant("constant-label", data.n_rows(), "relevant to every row");
    }
    if data.n_rows() == 0 {
        notes.push(Note { code: "no-rows", text: "the data set has no rows".into() });
    }
    let (n_unknown, n_cells) = (data.labels().n_unknown(), data.n_rows() * data.n_labels());
    if n_unknown > 0 {
        let cells = counted(n_cells, "label cell is", "label cells are");
        let text = format!("{n_unknown} of {cells} unknown; figures count known relevant ones");
        notes.push(Note { code: "unknown-labels", text });
    }
    if data.n_labels() == 1 {
        notes.push(Note {
            code: "one-label",
            text: "only one label: a chain of length 1 is a plain classifier".into(),
        });
    }
    let mut groups: HashMap<u64, Vec<usize>> = HashMap::new();
    for (label, print) in label_prints(data).into_iter().enumerate() {
        groups.entry(print).or_default().push(label);
    }
    let same = |a: usize, b: usize| {
        let labels = data.labels();
        (0..data.n_rows()).all(|row| labels.cell(row, LabelId(a)) == labels.cell(row, LabelId(b)))
    };
    let mut pairs: Vec<(usize, usize)> = groups
        .into_values()
        .flat_map(|group| group[1..].iter().map(|&b| (group[0], b)).collect::<Vec<_>>())
        .filter(|&(a, b)| counts[a] > 0 && same(a, b))
        .collect();
    pairs.sort_unstable();
    if let Some(&(a, b)) = pairs.first() {
        let names = data.label_names();
        notes.push(Note {
            code: "duplicate-label",
            text: format!(
                "{} another in every row (first: {:?} equals {:?})",
                counted(pairs.len(), "label equals", "labels equal"),
                names[b],
                names[a]
            ),
        });
    }
    notes
}

/// Missing and infinite cells, with counts and first places.
fn cell_notes(data: &Dataset) -> Vec<Note> {
    #[derive(Default)]
    struct Seen {
        n: usize,
        first: Option<(usize, usize)>,
        columns: BTreeSet<usize>,
    }
    let (mut missing, mut infinite) = (Seen::default(), Seen::default());
    for row in 0..data.n_rows() {
        for (column, value) in data.features().entries(row) {
            if value.is_finite() {
                continue;
            }
            let seen = if value.is_nan() { &mut missing } else { &mut infinite };
            seen.n += 1;
            seen.first.get_or_insert((row, column));
            seen.columns.insert(column);
        }
    }
    let note = |code, what: &str, remark: &str, seen: Seen| {
        let (row, column) = seen.first?;
        let name = &data.attributes()[column].name;
        let text = format!(
            "{} in {} (first: row {row} counting from 0, {name:?}){remark}",
            counted(seen.n, &format!("{what} cell"), &format!("{what} cells")),
            counted(seen.columns.len(), "column", "columns"),
        );
        Some(Note { code, text })
    };
    let infinity = ": a division by zero upstream?";
    [
        note("missing-cells", "missing", "", missing),
        note("infinite-cells", "infinite", infinity, infinite),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The stored cells of some columns by their bits, each with its row; by column, and none for the others.
fn stored_cells(
    features: &Matrix,
    columns: impl Iterator<Item = usize>,
) -> Vec<Option<Vec<(usize, u64)>>> {
    let mut cells = vec![None; features.n_columns()];
    let mut is_empty = true;
    for column in columns {
        cells[column] = Some(vec![]);
        is_empty = false;
    }
    if is_empty {
        return cells;
    }
    for row in 0..features.n_rows() {
        for (column, cell) in features.entries(row) {
            if let Some(cells) = &mut cells[column] {
                cells.push((row, cell.to_bits()));
            }
        }
    }
    cells
}

/// Notes on columns that are constant, repeat another column, or look like a label or an
/// identifier.
fn column_notes(data: &Dataset) -> Vec<Note> {
    let (n_rows, attributes) = (data.n_rows(), data.attributes());
    if n_rows == 0 {
        return vec![];
    }
    let name = |column: usize| attributes[column].name.as_str();
    let prints = ColumnPrint::of_all(data.features());
    let mut notes = Vec::new();

    let constant: Vec<&str> =
        (0..attributes.len()).filter(|&at| prints[at].is_constant(n_rows)).map(name).collect();
    if !constant.is_empty() && n_rows > 1 {
        let text = format!(
            "{}: the same value in every row",
            named("constant column", constant.into_iter())
        );
        notes.push(Note { code: "constant-column", text });
    }

    // Different columns may have the same fingerprint, so that the cells of candidates are
    // compared.
    let mut firsts: HashMap<(u64, bool), usize> = HashMap::new();
    let mut repeated = Vec::new();
    for column in (0..attributes.len()).filter(|&at| !prints[at].is_constant(n_rows)) {
        let nominal = attributes[column].values().is_some();
        let first = *firsts.entry((prints[column].cells, nominal)).or_insert(column);
        if first != column && attributes[first].kind == attributes[column].kind {
            repeated.push((first, column));
        }
    }
    let candidates = repeated.iter().flat_map(|&(first, column)| [first, column]);
    let cells = stored_cells(data.features(), candidates);
    repeated.retain(|&(first, column)| cells[first] == cells[column]);
    if let Some(&(first, column)) = repeated.first() {
        notes.push(Note {
            code: "duplicate-column",
            text: format!(
                "{} another in every row (first: {:?} equals {:?})",
                counted(repeated.len(), "column equals", "columns equal"),
                name(column),
                name(first)
            ),
        });
    }

    let labels: HashMap<u64, usize> =
        label_prints(data).into_iter().enumerate().map(|(label, print)| (print, label)).collect();
    let every_row = (0..n_rows).fold(0u64, |sum, row| sum.wrapping_add(mix(row as u64, 1)));
    let counts = data.labels().counts();
    let tells = |column: usize, one_means: bool, label: usize| {
        (0..n_rows).all(|row| {
            let is_one = data.features().get(row, column) == 1.0;
            (is_one == one_means) == data.labels().get(row, LabelId(label))
        })
    };
    let mut leaks = Vec::new();
    for column in (0..attributes.len()).filter(|&at| prints[at].is_binary()) {
        let ones = prints[column].ones;
        for (print, one_means) in [(ones, true), (every_row.wrapping_sub(ones), false)] {
            if let Some(&label) = labels.get(&print)
                && (1..n_rows).contains(&counts[label])
                && tells(column, one_means, label)
            {
                leaks.push((column, label));
            }
        }
    }
    if let Some(&(column, label)) = leaks.first() {
        notes.push(Note {
            code: "label-leak",
            text: format!(
                "{} a label away in every row (first: {:?} tells {:?}, relevant to {})",
                counted(leaks.len(), "feature gives", "features give"),
                name(column),
                data.label_names()[label],
                counted(counts[label], "row", "rows")
            ),
        });
    }

    // Half the values of such a column are numbers: the others are slips, or mean missing.
    let is_number = |value: &&String| number::parse(value.as_bytes()).is_some();
    let almost = (0..attributes.len()).find_map(|at| {
        let values = attributes[at].values()?;
        let n_numbers = values.iter().filter(is_number).count();
        let other = values.iter().find(|value| !is_number(value))?;
        (values.len() > 2 && n_numbers * 2 >= values.len()).then_some((at, other))
    });
    if let Some((at, other)) = almost {
        notes.push(Note {
            code: "almost-numeric",
            text: format!(
                "column {:?} is nominal, though most of its values are numbers: it also says {other:?}",
                name(at)
            ),
        });
    }

    // As many values as half the rows: an identifier, not a category.
    const MANY: usize = 100;
    let huge: Vec<usize> = (0..attributes.len())
        .filter(|&at| match &attributes[at].kind {
            AttributeKind::Nominal(values) => values.len() > MANY && values.len() * 2 >= n_rows,
            _ => false,
        })
        .collect();
    if let Some(&first) = huge.first() {
        let n_values = attributes[first].values().map_or(0, <[String]>::len);
        notes.push(Note {
            code: "huge-nominal",
            text: format!(
                "{}: identifiers? {:?} declares {n_values} values for {n_rows} rows",
                named("nominal column", huge.iter().map(|&at| name(at))),
                name(first)
            ),
        });
    }
    notes
}

/// Scatters a number over 64 bits (the finalizer of SplitMix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// For each label, a fingerprint of the rows it is relevant to. Fingerprints are sums over rows,
/// so the rows it is not relevant to have the total less this one.
fn label_prints(data: &Dataset) -> Vec<u64> {
    let mut prints = vec![0u64; data.n_labels()];
    for row in 0..data.n_rows() {
        let print = mix(row as u64, 1);
        for label in data.labels().relevant(row) {
            prints[label.0] = prints[label.0].wrapping_add(print);
        }
    }
    prints
}

/// A fingerprint of a column's cells.
#[derive(Clone, Default)]
struct ColumnPrint {
    /// Of all cells that are not zero.
    cells: u64,
    /// Of the rows that hold 1.
    ones: u64,
    n_stored: usize,
    n_ones: usize,
    first_stored: Option<u64>,
    stored_vary: bool,
}

impl ColumnPrint {
    fn of_all(features: &Matrix) -> Vec<ColumnPrint> {
        let mut prints = vec![ColumnPrint::default(); features.n_columns()];
        for row in 0..features.n_rows() {
            for (column, value) in features.entries(row) {
                if value != 0.0 {
                    prints[column].add(row, value);
                }
            }
        }
        prints
    }

    fn add(&mut self, row: usize, value: f64) {
        let bits = value.to_bits();
        self.cells = self.cells.wrapping_add(mix(row as u64, bits));
        self.n_stored += 1;
        self.stored_vary |= *self.first_stored.get_or_insert(bits) != bits;
        if value == 1.0 {
            self.ones = self.ones.wrapping_add(mix(row as u64, 1));
            self.n_ones += 1;
        }
    }

    fn is_constant(&self, n_rows: usize) -> bool {
        self.n_stored == 0 || (self.n_stored == n_rows && !self.stored_vary)
    }

    fn is_binary(&self) -> bool {
        self.n_ones == self.n_stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, parse};
    use std::path::Path;

    fn describe(text: &str) -> Description {
        let reading = parse(Path::new("t.arff"), text.as_bytes(), &ReadOptions::default()).unwrap();
        Description::of(&reading.table, &reading.notes)
    }

    #[test]
    fn unknown_labels_are_counted() {
        let data = crate::data::Dataset::from_rows(1, &[1.0, 2.0]).unwrap();
        let cells = [Some(true), None, Some(false), Some(true)];
        let data = data.with_partial_labels(&["a", "b"], &cells).unwrap();
        let notes = Description::of(&super::super::Table::Rows(data), &[]).notes;
        let note = notes.iter().find(|note| note.code == "unknown-labels").unwrap();
        let expected = "1 of 4 label cells are unknown; figures count known relevant ones";
        assert_eq!(note.text, expected);
    }

    fn codes(text: &str) -> Vec<&'static str> {
        describe(text).notes.iter().map(|note| note.code).collect()
    }

    #[test]
    fn figures_are_those_of_the_papers_table() {
        // Counts 3, 1, 0 over 4 rows: LC = 4/4, LD = 1/3, avIR = (3/3 + 3/1 + 0)/3.
        let described = describe(
            "@relation 't: -C -3'\n@attribute x numeric\n@attribute c {r,g,b}\n@attribute a {0,1}\n\
             @attribute b {0,1}\n@attribute n {0,1}\n@data\n1,r,1,1,0\n2,g,1,0,0\n3,r,1,0,0\n4,b,0,0,0\n",
        );
        assert_eq!((described.n_rows, described.n_features, described.n_labels), (4, 2, 3));
        assert_eq!(described.n_features_one_hot, 4);
        assert_eq!(described.label_counts, [3, 1, 0]);
        assert_eq!(described.cardinality, 1.0);
        assert_eq!(described.density, 1.0 / 3.0);
        assert_eq!(described.mean_imbalance, 4.0 / 3.0);
        assert_eq!((described.n_rows_without_labels, described.n_label_sets), (1, 3));
        let codes: Vec<&str> = described.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["empty-label"]);
    }

    #[test]
    fn problems_are_found_dense_and_sparse() {
        let header = "@relation 't: -C -2'\n@attribute k numeric\n@attribute x numeric\n@attribute y numeric\n\
             @attribute leak {1,0}\n@attribute a {0,1}\n@attribute all {0,1}\n@data\n";
        // k is constant, y repeats x (a missing and an infinite cell included), leak is 1 where
        // a is, so index 0 of {1,0}; label all is relevant everywhere.
        let dense = "7,?,?,1,1,1\n7,inf,inf,0,0,1\n7,2,2,1,1,1\n";
        let sparse = "{0 7,1 ?,2 ?,4 1,5 1}\n{0 7,1 inf,2 inf,3 0,5 1}\n{0 7,1 2,2 2,4 1,5 1}\n";
        let expected = [
            "constant-label",
            "missing-cells",
            "infinite-cells",
            "constant-column",
            "duplicate-column",
            "label-leak",
        ];
        assert_eq!(codes(&format!("{header}{dense}")), expected);
        assert_eq!(codes(&format!("{header}{sparse}")), expected);
    }

    #[test]
    fn equal_labels_and_identifiers_are_named() {
        let ids: Vec<String> = (0..120).map(|id| format!("p{id}")).collect();
        let mut text = format!(
            "@relation 't: -C -2'\n@attribute id {{{}}}\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n@data\n",
            ids.join(",")
        );
        for (row, id) in ids.iter().enumerate() {
            text += &format!("{id},{0},{0}\n", row % 2);
        }
        assert_eq!(codes(&text), ["duplicate-label", "huge-nominal"]);
    }
}
