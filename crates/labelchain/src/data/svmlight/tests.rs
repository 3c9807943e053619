#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::data::parse;

fn named(names: &[&str]) -> ReadOptions {
    let labels = LabelChoice::Named(names.iter().copied().map(String::from).collect());
    ReadOptions { labels, ..ReadOptions::default() }
}

fn features(n: usize) -> ReadOptions {
    ReadOptions { n_features: Some(n), ..ReadOptions::default() }
}

fn data_with(text: &str, options: &ReadOptions) -> Dataset {
    parse(Path::new("t.svm"), text.as_bytes(), options).unwrap().into_rows().unwrap()
}

fn data(text: &str) -> Dataset {
    data_with(text, &ReadOptions::default())
}

/// The message and the help.
fn refusal_with(text: &str, options: &ReadOptions) -> (String, String) {
    let error = parse(Path::new("t.svm"), text.as_bytes(), options).unwrap_err();
    (error.to_string(), error.remedy().unwrap_or_default().to_string())
}

fn refusal(text: &str) -> (String, String) {
    refusal_with(text, &ReadOptions::default())
}

/// The relevant labels of each row.
fn relevant(data: &Dataset) -> Vec<String> {
    let names = |row| {
        let labels = data.labels().relevant(row);
        labels.map(|label| data.label_names()[label.0].clone()).collect::<Vec<_>>().join(" ")
    };
    (0..data.n_rows()).map(names).collect()
}

/// The stored cells of a row.
fn entries(data: &Dataset, row: usize) -> Vec<(usize, f64)> {
    data.features().entries(row).collect()
}

fn names(data: &Dataset) -> Vec<&str> {
    data.attributes().iter().map(|attribute| attribute.name.as_str()).collect()
}

fn written(data: &Dataset) -> String {
    let mut out = Vec::new();
    write_header(data, &mut out).unwrap();
    write_rows(data, true, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_small_file_reads_as_it_looks() {
    let data = data("1,3 2:0.5 4:1 # a comment\n3 1:-2\n");
    assert_eq!(data.name(), "t");
    assert_eq!(data.label_names(), ["1", "3"]);
    assert_eq!(relevant(&data), ["1 3", "3"]);
    assert_eq!(names(&data), ["f1", "f2", "f3", "f4"]);
    assert_eq!(entries(&data, 0), [(1, 0.5), (3, 1.0)]);
    assert_eq!(entries(&data, 1), [(0, -2.0)]);
    assert!(matches!(data.features(), Matrix::Sparse(_)));
}

#[test]
fn a_label_list_may_be_empty_or_hold_blanks_and_repeats() {
    let data = data("1, 3 2:1\n 2:1\n2:1\n3 , 1\t2:1\n  3,3 \n");
    assert_eq!(relevant(&data), ["1 3", "", "", "1 3", "3"]);
    assert!((0..4).all(|row| entries(&data, row) == [(1, 1.0)]));
    assert_eq!(entries(&data, 4), []);
}

#[test]
fn lines_of_blanks_and_comments_are_no_rows() {
    let data = data("# made by hand\n\n  \t\r\n1 1:1\r\n  # 2 1:1\n2 1:3#4:4\n");
    assert_eq!(relevant(&data), ["1", "2"]);
    assert_eq!(entries(&data, 1), [(0, 3.0)]);
}

#[test]
fn query_ids_are_skipped_with_a_note() {
    let text = b"1 qid:3 1:1\nqid:4 2:1\n1 1:1\n";
    let read = parse(Path::new("t.svm"), text, &ReadOptions::default()).unwrap();
    assert_eq!(read.notes[0].code, "query-ids-ignored");
    assert_eq!(read.notes[0].text, "2 rows carry a query id (qid); nothing uses them");
    let data = read.into_rows().unwrap();
    assert_eq!(relevant(&data), ["1", "", "1"]);
    assert_eq!(entries(&data, 1), [(1, 1.0)]);
}

#[test]
fn an_index_of_0_anywhere_makes_all_zero_based() {
    let data = data("1 1:1 2:2\n1 0:5\n");
    assert_eq!(names(&data), ["f0", "f1", "f2"]);
    assert_eq!([entries(&data, 0), entries(&data, 1)], [vec![(1, 1.0), (2, 2.0)], vec![(0, 5.0)]]);
}

#[test]
fn indices_come_in_any_order_but_once() {
    assert_eq!(entries(&data("1 3:3 1:1 2:2\n"), 0), [(0, 1.0), (1, 2.0), (2, 3.0)]);
    assert_eq!(
        refusal("1 1:1\n1 3:3 1:1 3:0\n").0,
        "t.svm, line 2, column 11: expected each feature index at most once in a row, \
         found 3 again"
    );
}

#[test]
fn values_are_numbers_nan_is_missing_and_zero_is_nothing() {
    let data = data("1 1:nan 2:1e-3 3:0 4:-inf 5:0\n");
    assert_eq!(data.n_features(), 5);
    assert!(data.features().get(0, 0).is_nan());
    assert_eq!(entries(&data, 0)[1..], [(1, 1e-3), (3, f64::NEG_INFINITY)]);
}

#[test]
fn ids_are_whole_numbers_in_numeric_order() {
    let data = data("10,2.0 1:1\n+1,1e1 1:1\n");
    assert_eq!(data.label_names(), ["1", "2", "10"]);
    assert_eq!(relevant(&data), ["2 10", "1 10"]);
}

#[test]
fn ids_that_are_none_are_refused() {
    let help = "a row reads 1,3 2:0.5 7:1, label ids first";
    for (text, column, found) in [
        ("1.5 1:1", 1, "\"1.5\""),
        ("sad 1:1", 1, "\"sad\""),
        ("nan 1:1", 1, "\"nan\""),
        ("1,,2 1:1", 3, "\",\""),
        ("1,", 3, "the end of the line"),
        ("1, 2:1", 4, "\"2:1\""),
        ("1,4294967296 1:1", 3, "\"4294967296\""),
    ] {
        let message = format!(
            "t.svm, line 1, column {column}: expected a label id: 0, 1, 2, …, found {found}"
        );
        assert_eq!(refusal(text), (message, help.into()));
    }
    assert_eq!(
        refusal("+1 1:1\n-1 1:2\n"),
        (
            "t.svm, line 2, column 1: expected a label id: 0, 1, 2, …, found \"-1\"".into(),
            "if +1 and -1 are two classes: write 0 for the one label of rows that have it, \
             and leave the list of the others empty"
                .into()
        )
    );
}

#[test]
fn entries_that_are_none_are_refused() {
    assert_eq!(
        refusal("1 3 2:0.5\n"),
        (
            "t.svm, line 1, column 3: expected index:value, found \"3\"".into(),
            "labels stand in front, with commas between them: 1,3 2:0.5 7:1".into()
        )
    );
    for text in ["1 -1:2", "1 x:2", "1 :2", "1 1.0:2"] {
        let message = "t.svm, line 1, column 3: expected index:value with an index of 0, 1, 2, …, \
                       found ";
        assert_eq!(refusal(text).0, format!("{message}{:?}", &text[2..]));
    }
    assert_eq!(
        refusal("1 1:2 2:x").0,
        "t.svm, line 1, column 9: expected a number behind the colon, found \"x\""
    );
    assert_eq!(
        refusal("1 1: 2").0,
        "t.svm, line 1, column 5: expected a number behind the colon, found \" \""
    );
}

#[test]
fn names_are_given_to_ids_from_zero() {
    let data = data_with("0,2 1:1\n", &named(&["a", "b", "c"]));
    assert_eq!(data.label_names(), ["a", "b", "c"]);
    assert_eq!(relevant(&data), ["a c"]);
    assert_eq!(
        refusal_with("0 1:1\n1, 3 1:1\n", &named(&["a", "b", "c"])),
        (
            "t.svm, line 2, column 4: expected a label id from 0 to 2, found \"3\"".into(),
            "there are 3 label names, and ids count from 0".into()
        )
    );
    assert_eq!(
        refusal_with("0 1:1\n", &named(&["a", "a"])).0,
        "labels is \"a\" more than once, but must be each label once"
    );
    assert_eq!(
        refusal_with("0 1:1\n", &named(&[])).0,
        "labels is empty, but must be at least one name"
    );
}

#[test]
fn a_label_list_beside_the_file_or_elsewhere_names_the_ids() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.svm");
    std::fs::write(&path, "1 1:1\n").unwrap();
    let list = "<labels><label name='a'><label name='b'/></label></labels>";
    std::fs::write(directory.path().join("t.xml"), list).unwrap();
    let labels = LabelChoice::Xml(directory.path().join("t.xml"));
    for options in [ReadOptions::default(), ReadOptions { labels, ..ReadOptions::default() }] {
        let read = crate::data::read(&path, &options).unwrap();
        assert_eq!(read.notes[0].code, "hierarchy-flattened");
        assert_eq!(relevant(&read.into_rows().unwrap()), ["b"]);
    }
}

#[test]
fn label_columns_make_no_sense_here() {
    let tags = LabelChoice::Tags { column: "t".into(), separator: ";".into() };
    for (name, labels) in [
        ("labels-first", LabelChoice::First(1)),
        ("labels-last", LabelChoice::Last(1)),
        ("tags", tags),
    ] {
        let options = ReadOptions { labels, ..ReadOptions::default() };
        assert_eq!(
            refusal_with("1 1:1\n", &options).0,
            format!(
                "{name} is given for an SVMLight file, but must be used with tables; \
                 here the labels stand in front of each row, as ids"
            )
        );
    }
}

#[test]
fn a_file_without_ids_and_names_has_no_labels() {
    for text in ["", "1:1\n", "# nothing\n"] {
        assert_eq!(refusal(text).0, "t.svm: no labels found: no row has a label id");
    }
    assert_eq!(data_with("1:1\n", &named(&["a"])).n_labels(), 1);
}

#[test]
fn the_number_of_features_can_be_given() {
    assert_eq!(data_with("1 2:1\n", &features(5)).n_features(), 5);
    assert_eq!(data_with("1 0:1\n", &features(5)).n_features(), 5);
    assert_eq!(
        refusal_with("1 2:1\n1 1:1 6:1\n", &features(5)),
        (
            "t.svm, line 2, column 7: expected a feature index up to 5, found \"6\"".into(),
            "if there are so many features, say so: `features = 6`".into()
        )
    );
    assert_eq!(
        refusal_with("1 2:1 5:1\n1 0:1\n", &features(5)).0,
        "t.svm, line 1, column 7: expected a feature index up to 4, counted from 0, found \"5\""
    );
    assert_eq!(
        refusal_with("1 1:1\n", &features(1 << 40)).0,
        "features is 1099511627776, but must be at most 2147483648"
    );
}

#[test]
fn where_columns_are_known_there_may_be_others() {
    let known = ["f1", "f2", "f3"].map(Attribute::numeric).into();
    let options = ReadOptions { attributes: known, ..features(3) };
    assert_eq!(data_with("1 2:1\n", &options).n_features(), 3);
    let data = data_with("1 2:1\n1 5:1\n", &options);
    assert_eq!(data.attributes().last().unwrap().name, "f5");
    assert!(refusal_with("1 2000000:1\n", &options).0.contains("up to 1048576"));
}

#[test]
fn a_stray_index_makes_no_giant_table() {
    assert_eq!(
        refusal("1 1:1\n1 2000000:1\n"),
        (
            "t.svm, line 2, column 3: expected a feature index up to 1048576, found \"2000000\""
                .into(),
            "if there are so many features, say so: `features = 2000000`".into()
        )
    );
    let endless = "9".repeat(50);
    assert_eq!(
        refusal(&format!("1 {endless}:1\n")).0,
        format!(
            "t.svm, line 1, column 3: expected a feature index up to 1048576, found \"{endless}\""
        )
    );
    assert_eq!(
        refusal("1 1048576:1\n1 0:1\n"),
        (
            "t.svm, line 1, column 3: expected a feature index up to 1048575, counted from 0, \
             found \"1048576\""
                .into(),
            "if there are so many features, say so: `features = 1048577`".into()
        )
    );
    assert_eq!(data("1 1048576:1\n").n_features(), 1 << 20);
    assert_eq!(data_with("1 2000000:1\n", &features(2_000_000)).n_features(), 2_000_000);
}

#[test]
fn a_line_with_more_entries_than_columns_is_not_gathered_to_its_end() {
    assert_eq!(
        refusal_with("1 1:1 1:1 1:1 x\n", &features(1)).0,
        "t.svm, line 1, column 7: expected each feature index at most once in a row, found 1 again"
    );
}

#[test]
fn more_than_the_memory_allowed_is_refused() {
    let options = ReadOptions { max_memory: 1024, ..ReadOptions::default() };
    assert_eq!(
        refusal_with(&"1 1:1\n".repeat(100), &options).0,
        "t.svm: what was read up to line 33 needs more than the 1 KiB allowed"
    );
    assert_eq!(
        refusal_with("1 100:1\n", &options).0,
        "t.svm: the table of all rows needs more than the 1 KiB allowed"
    );
    let distinct: String = (0..1000).map(|id| format!("{id}\n")).collect();
    let options = ReadOptions { max_memory: 100 << 10, ..ReadOptions::default() };
    assert_eq!(
        refusal_with(&distinct, &options).0,
        "t.svm: the table of all rows needs more than the 100 KiB allowed"
    );
}

#[test]
fn what_is_written_is_plain_svmlight() {
    let text = "0,2 2:0.5 4:nan\n 1:-1\n1\n 1:0\n";
    assert_eq!(written(&data_with(text, &named(&["a", "b", "c"]))), text);
}

#[test]
fn a_last_column_of_zeros_is_written_once() {
    let data = data_with("0 1:2\n\n 1:0\n", &ReadOptions { n_features: Some(3), ..named(&["a"]) });
    assert_eq!(written(&data), "0 1:2 3:0\n 1:0\n");
}

#[test]
fn nominal_cells_are_written_by_position() {
    let mut cells = crate::data::Dense::new(2);
    cells.push_row(&[1.0, 0.0]);
    let attributes = vec![Attribute::nominal("c", ["u", "v"]), Attribute::numeric("x")];
    let labels = LabelMatrix::empty(1, 1);
    let data =
        Dataset::new("t", attributes, Matrix::Dense(cells), vec!["a".into()], labels).unwrap();
    assert_eq!(written(&data), " 1:1 2:0\n");
}

#[test]
fn a_row_of_nothing_at_all_cannot_be_written() {
    let data = data_with("0 \n qid:1\n", &named(&["a"]));
    assert_eq!((data.n_rows(), data.n_features()), (2, 0));
    let error = write_rows(&data, true, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "SVMLight cannot hold a row without labels and without features");
}

prop_compose! {
    fn made_data()(n_features in 1usize..8, n_labels in 1usize..5)(
        rows in prop::collection::vec(
            (
                prop::collection::btree_map(0..n_features as u32, any::<u64>(), 0..n_features),
                prop::collection::vec(any::<bool>(), n_labels),
            ),
            1..6,
        ),
        n_features in Just(n_features),
        n_labels in Just(n_labels),
    ) -> Dataset {
        let mut features = Sparse::new(n_features);
        let mut labels = LabelMatrix::new(n_labels);
        for (entries, relevant) in rows {
            features.push_row(entries.into_iter().map(|(at, bits)| (at, f64::from_bits(bits))));
            let row = labels.push_row();
            labels.ids().zip(relevant).for_each(|(label, is)| labels.set(row, label, is));
        }
        let attributes = (1..=n_features).map(|at| Attribute::numeric(format!("f{at}"))).collect();
        let names = (0..n_labels).map(|label| format!("label {label}")).collect();
        Dataset::new("t", attributes, Matrix::Sparse(features), names, labels).unwrap()
    }
}

/// A model of a file whose labels have no names calls them by their ids, of which some may be lacking.
#[test]
fn labels_of_a_model_are_found_by_their_ids() {
    let present = |names: &[&str]| {
        let labels = LabelChoice::Present(names.iter().copied().map(String::from).collect());
        ReadOptions { labels, ..ReadOptions::default() }
    };
    let text = "7,2 1:1\n3 1:1\n";
    let relevant = |data: &Dataset| -> Vec<Vec<usize>> {
        (0..2).map(|row| data.labels().relevant(row).map(|label| label.0).collect()).collect()
    };
    // Labels 2 and 7; the model knows nothing of 3.
    assert_eq!(relevant(&data_with(text, &present(&["2", "7"]))), [vec![0, 1], vec![]]);
    // Other names are in the order of ids.
    let names = ["a", "b", "c", "d"];
    assert_eq!(relevant(&data_with(text, &present(&names))), [vec![2], vec![3]]);
}

proptest! {
    #[test]
    fn what_is_written_reads_back(data in made_data()) {
        let labels = LabelChoice::Named(data.label_names().to_vec());
        let options = ReadOptions { labels, ..ReadOptions::default() };
        prop_assert_eq!(data_with(&written(&data), &options), data);
    }

    #[test]
    fn no_bytes_are_a_crash(text in prop::collection::vec(
        prop::sample::select(b"0123:::,,  \n\r\t#qid-.ne\xFF".to_vec()), 0..60,
    )) {
        for options in [ReadOptions::default(), features(0), features(2), named(&["a", "b"])] {
            let _ = parse(Path::new("t.svm"), &text, &options);
        }
    }
}

#[test]
fn columns_that_a_model_has_are_shared_where_they_are_called_the_same() {
    let read = |names: &[&str]| {
        let attributes: Arc<[Attribute]> = names.iter().copied().map(Attribute::numeric).collect();
        let options = ReadOptions { attributes: Arc::clone(&attributes), ..features(names.len()) };
        let data = data_with("0 1:1 2:1\n", &options);
        let found: Vec<&str> = data.attributes().iter().map(|of| of.name.as_str()).collect();
        let expected: Vec<String> = (1..=names.len()).map(|at| format!("f{at}")).collect();
        assert_eq!(found, expected);
        Arc::ptr_eq(&data.shared_attributes(), &attributes)
    };
    let ten: Vec<String> = (1..=10).map(|at| format!("f{at}")).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    assert!(read(&ten) && read(&["f1", "f2"]));
    for other in ["f", "f02", "f+2", "f12", "f3", "g2", "2", ""] {
        assert!(!read(&["f1", other]), "{other}");
    }
}
