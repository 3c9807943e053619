//! What reads bytes of strangers, as functions of the bytes: for the ordinary tests, which replay what
//! fuzzing kept, and for the fuzzer, which looks for more.

use std::fs;
use std::path::Path;

use labelchain::Model;
use labelchain::data::label_list::LabelList;
use labelchain::data::{
    AttributeKind, Dataset, Dense, Description, LabelChoice, LabelId, LabelMatrix, Matrix,
    MissingLabels, ReadOptions, Reading, RowNumbers, parse, read,
};
use labelchain::experiment::Results;
use labelchain::method::registry;
use labelchain::model::Update;
use labelchain::report::{Report, ReportFormat, compare};
use labelchain::stats::{Gaps, TestPlan};

/// A reader and its name, which is also that of its inputs in `testdata/fuzz`.
type Target = (&'static str, fn(&[u8]));

/// Every reader.
pub(crate) const TARGETS: &[Target] = &[
    ("arff", |bytes| text("fuzz.arff", bytes)),
    ("csv", |bytes| text("fuzz.csv", bytes)),
    ("jsonl", |bytes| text("fuzz.jsonl", bytes)),
    ("svmlight", |bytes| text("fuzz.svm", bytes)),
    ("xml", xml),
    ("rows", rows),
    ("results", results),
    ("gzip", |bytes| file("fuzz.csv.gz", bytes)),
    ("bzip2", |bytes| file("fuzz.arff.bz2", bytes)),
    ("model", model),
    #[cfg(feature = "parquet")]
    ("parquet", |bytes| file("fuzz.parquet", bytes)),
    #[cfg(feature = "study")]
    ("protocol", protocol),
];

const MAX_MEMORY: u64 = 64 << 20;

/// Labels where the file says they are, in the last column, and in a column of tags.
fn choices() -> impl Iterator<Item = ReadOptions> {
    let tags = LabelChoice::Tags { column: "t".into(), separator: ";".into() };
    [LabelChoice::Detect, LabelChoice::Last(1), tags].into_iter().map(|labels| ReadOptions {
        labels,
        missing_labels: MissingLabels::Drop,
        dedupe: true,
        max_memory: MAX_MEMORY,
        ..ReadOptions::default()
    })
}

fn text(name: &str, bytes: &[u8]) {
    choices().for_each(|options| describe(parse(name.as_ref(), bytes, &options)));
}

/// What was read can be described.
fn describe(reading: labelchain::error::Result<Reading>) {
    if let Ok(reading) = reading {
        let _ = Description::of(&reading.table, &reading.notes);
    }
}

/// A file for readers that take no bytes in memory.
fn with_file(name: &str, bytes: &[u8], use_it: impl FnOnce(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    use_it(&path);
}

fn file(name: &str, bytes: &[u8]) {
    with_file(name, bytes, |path| choices().for_each(|options| describe(read(path, &options))));
}

/// What was read as a label list can be written and read again.
fn xml(bytes: &[u8]) {
    if let Ok(list) = LabelList::parse("fuzz.xml".as_ref(), bytes) {
        let names: Vec<String> = list.names().map(String::from).collect();
        let again = LabelList::parse("fuzz.xml".as_ref(), LabelList::text(&names, &[]).as_bytes());
        assert!(again.is_ok_and(|again| again.names().eq(names.iter())), "{names:?}");
    }
}

/// What was read as a list of rows is a set of them, and is in the data or refused.
fn rows(bytes: &[u8]) {
    let Ok(list) = RowNumbers::parse("fuzz.txt".as_ref(), bytes) else { return };
    assert!(list.rows().is_sorted_by(|one, next| one < next) && !list.rows().is_empty());
    let is_within = list.rows().iter().all(|&row| row < 100);
    assert_eq!(list.in_data("fuzz.csv".as_ref(), 100).is_ok(), is_within);
    assert!(list.within(10..100).iter().all(|row| (10..100).contains(row)));
}

/// What was read as results and can be compared can be reported.
fn results(bytes: &[u8]) {
    let Ok(results) = Results::parse("fuzz.csv".as_ref(), bytes) else { return };
    for control in [None, Some(0)] {
        let plan = TestPlan { gaps: Gaps::WorstRank, control, ..TestPlan::default() };
        let Ok(comparison) = compare(&results, &[], plan) else { return };
        let Ok(report) = Report::of("fuzz", &results, &comparison, None, Vec::new()) else {
            return;
        };
        for format in
            [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Latex, ReportFormat::Csv]
        {
            assert!(!report.text(format, true).is_empty());
        }
        assert!(report.figures().all(|figure| figure.pdf().starts_with(b"%PDF")));
        assert!(report.fragments().all(|(_, text)| text.ends_with("\\end{tabular}\n")));
    }
}

/// The model file with these blocks, under checksums that fit: what a stranger would send. The content is the
/// number of blocks, one byte, their lengths, four bytes each, and the blocks, of which the last has what is left.
pub(crate) fn load(content: &[u8]) -> Option<Model> {
    let (&n_blocks, rest) = content.split_first()?;
    let (lengths, mut rest) = rest.split_at_checked(4 * usize::from(n_blocks))?;
    let (mut table, blocks) = (Vec::new(), rest);
    for (at, length) in lengths.chunks(4).enumerate() {
        let is_last = at + 1 == usize::from(n_blocks);
        let length = length.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        let length = if is_last { rest.len() } else { length.min(rest.len()) };
        let (block, others) = rest.split_at(length);
        rest = others;
        table.extend_from_slice(&(length as u64).to_le_bytes());
        table.extend_from_slice(blake3::hash(block).as_bytes());
    }
    let mut bytes = b"labelchain model".to_vec();
    bytes.extend_from_slice(&Model::FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(table.len() as u64).to_le_bytes());
    bytes.extend_from_slice(blake3::hash(&table).as_bytes());
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(blocks);
    let mut model = None;
    with_file("fuzz.labelchain", &bytes, |path| model = Model::load(path, MAX_MEMORY).ok());
    model
}

/// Bags of two columns, of which the model `bags` was trained.
pub(crate) const BAGS: &str = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n\
     @attribute y numeric\n@end bag\n@attribute a {0,1}\n@data\n'1,2\\n3,4',0\n'5,6\\n7,9',1\n\
     '1,1\\n2,2',0\n'8,9\\n9,9',1\n'0,1\\n1,3',0\n'7,7\\n8,6',1\n";

/// What was read as a model can be shown, predicts, explains and learns from further rows.
fn model(content: &[u8]) {
    let Some(model) = load(content) else { return };
    for known in registry() {
        let _ = (model.settings().text(known.setting), model.tuned_value(known.setting.name()));
    }
    let _ = (
        model.bags().map(|bags| (bags.medoids().len(), bags.story())),
        model.standardizer().offset(),
        model.out_of_bag().map(|losses| losses.iter().count()),
    );
    let importance = model.importance().unwrap_or_default();
    assert!(importance.iter().all(|share| (0.0..=1.0).contains(share)), "{importance:?}");
    for (at, member) in model.members().iter().enumerate() {
        let _ = (member.order().map(|order| order.iter().count()), member.model().views().len());
        let _ = member.policy().map(|policy| policy.json());
        for label in 0..model.label_names().len() {
            let _ = model.text(at, LabelId(label));
        }
    }
    let bags = || parse("b.arff".as_ref(), BAGS.as_bytes(), &ReadOptions::default()).unwrap().table;
    let rows = match model.bags() {
        None => rows_for(&model),
        Some(_) => model.rows(bags(), "b.arff".as_ref()).ok(),
    };
    let Some(rows) = rows else { return };
    if let Ok(prediction) = model.predict(&rows) {
        assert_eq!(prediction.n_rows(), rows.n_rows());
        assert!(prediction.shares.iter().all(|share| (0.0..=1.0).contains(share)));
    }
    let no_labels = LabelMatrix::empty(rows.n_rows(), model.label_names().len());
    let labelled = rows.clone().relabelled(model.label_names().to_vec(), no_labels);
    if let Ok((updated, _)) = model.update(&labelled.unwrap(), "fuzz".as_ref(), Update::default()) {
        assert_eq!(updated.n_rows(), model.n_rows() + rows.n_rows());
        let _ = updated.predict(&rows);
    }
    for explanation in model.explain(&rows).into_iter().flatten() {
        let _ = (explanation.json(0), explanation.most_agreeing(), explanation.relevant_names());
    }
}

/// Rows of the model's own columns: nothing known, the first value of each, and numbers far away.
fn rows_for(model: &Model) -> Option<Dataset> {
    let attributes = model.columns();
    let mut cells = Dense::new(attributes.len());
    for number in [f64::NAN, 0.0, -1e30] {
        let cell = |kind: &AttributeKind| match kind {
            AttributeKind::Nominal(_) if number < 0.0 => 0.0,
            _ => number,
        };
        cells.push_row(
            &attributes.iter().map(|attribute| cell(&attribute.kind)).collect::<Vec<_>>(),
        );
    }
    let labels = LabelMatrix::empty(3, 0);
    Dataset::new("fuzz", attributes.to_vec(), Matrix::Dense(cells), Vec::new(), labels).ok()
}

#[cfg(feature = "study")]
fn protocol(bytes: &[u8]) {
    if let Ok(text) = str::from_utf8(bytes) {
        let _ = labelchain::study::Protocol::parse("fuzz.toml".as_ref(), text, None);
    }
}
