#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::data::{
    Attribute, Dense, LabelId, LabelMatrix, Matrix, MissingLabels, Reading, parse, read_in_blocks,
};

fn last(n: usize) -> ReadOptions {
    ReadOptions { labels: LabelChoice::Last(n), ..ReadOptions::default() }
}

fn named(names: &[&str]) -> ReadOptions {
    let labels = LabelChoice::Named(names.iter().map(|name| name.to_string()).collect());
    ReadOptions { labels, ..ReadOptions::default() }
}

fn tags() -> ReadOptions {
    let labels = LabelChoice::Tags { column: "tags".into(), separator: ";".into() };
    ReadOptions { labels, ..ReadOptions::default() }
}

fn reading(text: impl AsRef<[u8]>, options: &ReadOptions) -> Reading {
    parse(Path::new("t.jsonl"), text.as_ref(), options).unwrap()
}

fn data(text: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    reading(text, options).into_rows().unwrap()
}

/// The message and the help.
fn refusal(text: impl AsRef<[u8]>, options: &ReadOptions) -> (String, String) {
    let error = parse(Path::new("t.jsonl"), text.as_ref(), options).unwrap_err();
    (error.to_string(), error.remedy().unwrap_or_default().to_string())
}

/// NaN is no number that equals itself, so missing cells are shown as none.
fn row(data: &Dataset, row: usize) -> Vec<Option<f64>> {
    let cell = |column| Some(data.features().get(row, column)).filter(|cell| !cell.is_nan());
    (0..data.n_features()).map(cell).collect()
}

fn relevant(data: &Dataset, row: usize) -> Vec<&str> {
    data.labels().relevant(row).map(|label| data.label_names()[label.0].as_str()).collect()
}

#[test]
fn a_small_table_reads_as_it_looks() {
    let text = "{\"x\": 1, \"colour\": \"red\", \"y\": 0}\r\n\n{\"colour\":\"blue\",\"y\":true,\"x\":2.5e0}";
    let data = data(text, &last(1));
    assert_eq!(data.name(), "t");
    let attributes = [Attribute::numeric("x"), Attribute::nominal("colour", ["blue", "red"])];
    assert_eq!(data.attributes(), attributes);
    assert_eq!(row(&data, 0), [Some(1.0), Some(1.0)]);
    assert_eq!(row(&data, 1), [Some(2.5), Some(0.0)]);
    assert_eq!([relevant(&data, 0), relevant(&data, 1)], [vec![], vec!["y"]]);
}

#[test]
fn columns_are_the_keys_of_all_rows_and_absent_is_missing() {
    let text = "{\"y\":1}\n{\"b\":null,\"y\":0}\n{\"a\":true,\"b\":7,\"y\":0}\n{\"a\":false,\"y\":\"no\"}\n";
    let data = data(text, &named(&["y"]));
    assert_eq!(data.attributes(), [Attribute::numeric("b"), Attribute::numeric("a")]);
    assert_eq!(row(&data, 0), [None, None]);
    assert_eq!(row(&data, 1), [None, None]);
    assert_eq!(row(&data, 2), [Some(7.0), Some(1.0)]);
    assert_eq!(row(&data, 3), [None, Some(0.0)]);
}

#[test]
fn a_string_is_a_name_whatever_it_looks_like() {
    let text = "{\"n\":\"10\",\"y\":1}\n{\"n\":9,\"y\":1}\n{\"n\":\"\",\"y\":1}\n{\"n\":\"NA\",\"y\":1}\n{\"n\":true,\"y\":0}\n";
    let read = data(text, &last(1));
    assert_eq!(read.attributes(), [Attribute::nominal("n", ["", "10", "9", "NA", "true"])]);
    assert_eq!(row(&read, 3), [Some(3.0)]);
}

#[test]
fn a_column_that_is_known_to_be_numeric_takes_strings_that_are_numbers() {
    let known = |options: ReadOptions| ReadOptions {
        attributes: [Attribute::numeric("n"), Attribute::nominal("c", ["1"])].into(),
        ..options
    };
    let text = "{\"n\":\" 10 \",\"c\":1,\"y\":1}\n{\"n\":\"\",\"c\":2,\"y\":0}\n";
    let data = data(text, &known(last(1)));
    let attributes = [Attribute::numeric("n"), Attribute::nominal("c", ["1", "2"])];
    assert_eq!(data.attributes(), attributes);
    assert_eq!((row(&data, 0), row(&data, 1)[0]), (vec![Some(10.0), Some(0.0)], None));
    assert_eq!(
        refusal("{\"n\":\"ten\",\"y\":1}", &known(last(1))),
        (
            "t.jsonl, line 1, column 6: expected a number, as \"n\" was in training, found \"\\\"ten\\\"\"".into(),
            "a number is spelt 1234.56, or 1234,56 where semicolons separate fields, without units; a missing \
             cell is empty, ? or NA"
                .into()
        )
    );
}

#[test]
fn tags_are_an_array_or_a_delimited_string() {
    let text = "{\"x\":1,\"tags\":[\"b\",\" a \",\"b\",\"\"]}\n{\"tags\":\"c; a\",\"x\":2}\n\
                {\"x\":3,\"tags\":[]}\n{\"x\":4,\"tags\":\"\"}\n{\"x\":5,\"tags\":[\"a;b\"]}\n";
    let read = data(text, &tags());
    assert_eq!(read.label_names(), ["a", "a;b", "b", "c"]);
    let all: Vec<_> = (0..5).map(|row| relevant(&read, row)).collect();
    assert_eq!(all, [vec!["a", "b"], vec!["a", "c"], vec![], vec![], vec!["a;b"]]);
    // No tags is an answer, no key is none.
    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..tags() };
    let read = data("{\"x\":1,\"tags\":[\"a\"]}\n{\"x\":2}\n{\"x\":3,\"tags\":null}\n", &learn);
    assert_eq!(read.labels().n_unknown(), 2);
    assert_eq!(
        refusal("{\"x\":1,\"tags\":[\"a\",{\"b\":2}]}", &tags()).0,
        "t.jsonl, line 1, column 15: expected an array of strings for \"tags\", found \"[\\\"a\\\",{\\\"b\\\":2}]\""
    );
}

#[test]
fn labels_are_zero_and_one_and_may_be_missing() {
    let text = "{\"x\":1,\"y\":1}\n{\"x\":2,\"y\":false}\n{\"x\":3}\n";
    assert_eq!(
        refusal(text, &last(1)),
        (
            "t.jsonl, line 3, column 8: expected 0 or 1 for label \"y\", found nothing, a missing value".into(),
            "`missing_labels = drop` leaves such rows out, irrelevant reads them as 0, learn keeps what is there".into()
        )
    );
    let drop = ReadOptions { missing_labels: MissingLabels::Drop, ..last(1) };
    assert_eq!(reading(text, &drop).notes[0].code, "missing-labels");
    assert_eq!(data(text, &drop).n_rows(), 2);
    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..last(1) };
    assert_eq!(data(text, &learn).labels().cell(2, LabelId(0)), None);
    let binary = ReadOptions { binarize: Some(">1".parse().unwrap()), ..last(1) };
    assert_eq!(data("{\"x\":1,\"y\":3}", &binary).labels().counts(), [1]);
    assert_eq!(
        refusal("{\"x\":1,\"y\":3}", &last(1)).0,
        "t.jsonl, line 1, column 12: expected 0 or 1 for label \"y\", found \"3\""
    );
}

#[test]
fn what_is_nested_repeated_or_no_json_is_refused_with_its_place() {
    let simple = "a number, a string, true, false or null";
    for (line, expected, help) in [
        ("{\"k\": [1]}", format!("column 7: expected {simple} for \"k\", found an array"), "tags"),
        (
            "{\"k\":{\"a\":1}}",
            format!("column 6: expected {simple} for \"k\", found an object"),
            "a.b",
        ),
        (
            "{\"k\":1,\"y\":1,\"k\":2}",
            "column 18: expected the key \"k\" once, found it again".into(),
            "leave",
        ),
        (
            "{\"\":1,\"y\":1}",
            "column 5: expected a name for every key, found a value without one".into(),
            "column3",
        ),
        (
            "{\"k\":\"\\ud800\",\"y\":1}",
            "column 6: expected text for \"k\", found \"\\\"\\\\ud800\\\"\"".into(),
            "hex escape",
        ),
        (
            "{\"k\":1",
            "column 7: expected a JSON object on each line, found the end of the line".into(),
            "EOF",
        ),
        (
            "{\"k\":1,}",
            "column 8: expected a JSON object on each line, found \"}\"".into(),
            "trailing comma",
        ),
        (
            "{\"k\":NaN}",
            "column 6: expected a JSON object on each line, found \"N\"".into(),
            "expected value",
        ),
        (
            "[{\"k\":1}]",
            "column 1: expected a JSON object on each line, found \"[\"".into(),
            "jq -c",
        ),
        ("{} {}", "column 4: expected a JSON object on each line, found \"{\"".into(), "trailing"),
        ("17", "column 1: expected a JSON object on each line, found \"1\"".into(), "an object"),
    ] {
        let (message, remedy) = refusal(format!("{{\"k\":1,\"y\":1}}\n{line}\n"), &last(1));
        assert_eq!(message, format!("t.jsonl, line 2, {expected}"));
        assert!(remedy.contains(help), "{line}: {remedy}");
    }
    let (message, _) = refusal(b"{\"k\":\"\xE9\",\"y\":1}", &last(1));
    assert_eq!(message, "t.jsonl, line 1, column 7: expected UTF-8 text, found byte 0xE9");
    let latin1 = ReadOptions { encoding: Encoding::Latin1, ..last(1) };
    let read = data(b"{\"k\":\"\xE9\",\"y\":1}", &latin1);
    assert_eq!(read.attributes(), [Attribute::nominal("k", ["é"])]);
    for text in ["", "\n \n", "{}\n{}"] {
        let (message, _) = refusal(text, &last(1));
        assert_eq!(
            message,
            "t.jsonl, line 1: expected a JSON object with at least one key, found the end of the file"
        );
    }
}

#[test]
fn depth_and_memory_are_bounded() {
    let deep = format!("{{\"k\":{}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert!(refusal(deep, &last(1)).0.contains("for \"k\", found an array"));
    // A hundred rows that share no key are a table of ten thousand cells.
    let rows: String = (0..100).map(|row| format!("{{\"k{row}\":1,\"y\":1}}\n")).collect();
    let few = ReadOptions { max_memory: 50_000, ..named(&["y"]) };
    assert!(refusal(rows, &few).0.contains("needs more than"));
    let keys: Vec<String> = (0..=MAX_COLUMNS).map(|at| format!("\"{at}\":0")).collect();
    let (_, help) = refusal(format!("{{{}}}", keys.join(",")), &last(1));
    assert_eq!(help, "more than 1048576 keys");
}

#[test]
fn a_file_is_read_in_blocks_and_compressed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x.ndjson.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    (0..7).for_each(|row| writeln!(out, "{{\"x\":{row},\"c\":\"v{row}\",\"y\":1}}").unwrap());
    out.finish().unwrap();
    let options = last(1);
    let blocks = read_in_blocks(&path, &options, 3).unwrap();
    let sizes: Vec<usize> =
        blocks.map(|block| block.unwrap().into_rows().unwrap().n_rows()).collect();
    assert_eq!(sizes, [3, 3, 1]);
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        rows in prop::collection::vec(
            (prop::num::f64::NORMAL | prop::num::f64::INFINITE | prop::num::f64::ZERO, 0usize..3, any::<Option<bool>>()),
            1..9,
        ),
        names in prop::collection::hash_set("\\PC{1,6}", 5),
    ) {
        let names: Vec<String> = names.into_iter().map(|name| format!("n{name}")).collect();
        let mut values = names[..3].to_vec();
        values.sort_unstable();
        let mut cells = Dense::new(2);
        let mut labels = LabelMatrix::empty(rows.len(), 1);
        for (at, &(number, value, relevant)) in rows.iter().enumerate() {
            cells.push_row(&[number, value as f64]);
            match relevant {
                Some(relevant) => labels.set(at, LabelId(0), relevant),
                None => labels.forget(at, LabelId(0)),
            }
        }
        let attributes = vec![Attribute::numeric(&names[3]), Attribute::nominal(&names[4], values.clone())];
        let before = Dataset::new("t", attributes, Matrix::Dense(cells), vec!["y \"z\"".into()], labels).unwrap();
        let mut out = Vec::new();
        write_rows(&before, &mut out).unwrap();
        let options = ReadOptions { missing_labels: MissingLabels::Learn, ..last(1) };
        let after = data(&out, &options);
        prop_assert_eq!(after.label_names(), before.label_names());
        for (at, &(number, value, relevant)) in rows.iter().enumerate() {
            prop_assert_eq!(after.features().get(at, 0).to_bits(), number.to_bits());
            let read = after.features().get(at, 1) as usize;
            prop_assert_eq!(&after.attributes()[1].values().unwrap()[read], &values[value]);
            prop_assert_eq!(after.labels().cell(at, LabelId(0)), relevant);
        }
    }
}
