use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::data::{
    Attribute, Dense, Encoding, LabelId, LabelMatrix, Matrix, MissingLabels, Sparse, parse,
};

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn read_with(text: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    parse(Path::new("t.arff"), text.as_ref(), options).unwrap().into_rows().unwrap()
}

fn read(text: impl AsRef<[u8]>) -> Dataset {
    read_with(text, &options())
}

fn refusal_with(text: impl AsRef<[u8]>, options: &ReadOptions) -> (String, String) {
    let error = parse(Path::new("t.arff"), text.as_ref(), options).unwrap_err();
    (error.to_string(), error.remedy().unwrap_or_default().to_string())
}

/// The whole message and its help for rows under a header of two inputs and one label.
fn refused_rows(rows: &str) -> (String, String) {
    refusal_with(format!("{HEADER}{rows}"), &options())
}

/// Rows begin on line 6.
const HEADER: &str = "@relation 't: -C -1'\n@attribute x numeric\n@attribute c {red,'light blue'}\n\
                      @attribute a {0,1}\n@data\n";

fn row(data: &Dataset, row: usize) -> Vec<f64> {
    (0..data.n_features()).map(|column| data.features().get(row, column)).collect()
}

fn truth(data: &Dataset, row: usize) -> Vec<usize> {
    data.labels().relevant(row).map(|label| label.0).collect()
}

#[test]
fn declarations_are_read_in_every_spelling() {
    let data = read(
        "\u{FEFF}% a comment\r\n@RELATION \"t: -C 2\" % another\r\n\r\n\
         @Attribute 'it\\'s' { 0, 1 }\r\n@attribute\t\"B 2\"\t{YES,NO}% behind\r\n\
         @attribute 12 REAL\r\n@attribute - integer\r\n@attribute b Numeric {0.5}\r\n\
         @attribute B{u,'v w',\"x\"}\r\n@DATA\r\n\r\n 1 , YES,\t-1.5e2 ,+3,.5,'v w'\r\n% done\r\n0,NO,?,0,1.,u",
    );
    assert_eq!(data.label_names(), ["it's", "B 2"]);
    let names: Vec<&str> = data.attributes().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["12", "-", "b", "B"]);
    assert_eq!(row(&data, 0), [-150.0, 3.0, 0.5, 1.0]);
    assert!(row(&data, 1)[0].is_nan());
    assert_eq!(row(&data, 1)[1..], [0.0, 1.0, 0.0]);
    assert_eq!((truth(&data, 0), truth(&data, 1)), (vec![0, 1], vec![]));
}

#[test]
fn sparse_rows_may_be_empty_unsorted_or_mixed_with_dense_ones() {
    let data = read(format!("{HEADER}{{}}\n{{2 1, 0 5}}\n{{ 1 'light blue' }}\n7,red,1\n"));
    assert!(matches!(data.features(), Matrix::Sparse(_)));
    assert_eq!([0, 1, 2, 3].map(|at| row(&data, at)[0]), [0.0, 5.0, 0.0, 7.0]);
    assert_eq!([0, 1, 2, 3].map(|at| truth(&data, at).len()), [0, 1, 0, 1]);
    let data = read(format!("{HEADER}7,red,1\n{{1 'light blue'}}\n"));
    assert!(matches!(data.features(), Matrix::Dense(_)));
    assert_eq!(row(&data, 1), [0.0, 1.0]);
}

#[test]
fn what_a_sparse_row_leaves_out_is_the_first_declared_value() {
    let header = "@relation 't: -C -2'\n@attribute x numeric\n@attribute a {1,0}\n@attribute b {0,1}\n@data\n";
    let data = read(format!("{header}{{0 3}}\n{{1 0,2 1}}\n"));
    assert_eq!((truth(&data, 0), truth(&data, 1)), (vec![0], vec![1]));
}

#[test]
fn labels_are_relevant_by_their_text_or_by_a_threshold() {
    let header = "@relation 't: -C -3'\n@attribute x numeric\n@attribute a {NO,YES}\n@attribute b numeric\n@attribute c {TRUE,FALSE}\n@data\n";
    let data = read(format!("{header}1,YES,1,FALSE\n1,NO,0,TRUE\n"));
    assert_eq!((truth(&data, 0), truth(&data, 1)), (vec![0, 1], vec![2]));
    let targets = "@relation 't: -C -2'\n@attribute x numeric\n@attribute a numeric\n@attribute b {0,1,2}\n@data\n";
    let above_zero = ReadOptions { binarize: Some(">0".parse().unwrap()), ..options() };
    let data = read_with(format!("{targets}1,0.0,2\n1,3.5,0\n{{}}\n"), &above_zero);
    assert_eq!([0, 1, 2].map(|at| truth(&data, at)), [vec![1], vec![0], vec![]]);
    let below_one = ReadOptions { binarize: Some("<1".parse().unwrap()), ..options() };
    assert_eq!(truth(&read_with(format!("{targets}{{1 4}}\n"), &below_one), 0), [1]);
}

#[test]
fn labels_keep_the_order_of_the_way_that_named_them() {
    let text =
        "@relation t\n@attribute a {0,1}\n@attribute x numeric\n@attribute b {0,1}\n@data\n1,5,0\n";
    let named = |names: [&str; 2]| ReadOptions {
        labels: LabelChoice::Named(names.map(String::from).to_vec()),
        ..options()
    };
    let data = read_with(text, &named(["b", "a"]));
    assert_eq!(data.label_names(), ["b", "a"]);
    assert!(!data.labels().get(0, LabelId(0)) && data.labels().get(0, LabelId(1)));
    assert_eq!(read_with(text, &named(["a", "b"])).label_names(), ["a", "b"]);
}

#[test]
fn an_xml_beside_the_file_beats_the_relation_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("set.arff");
    std::fs::write(
        &path,
        "@relation 'set: -C 1'\n@attribute x numeric\n@attribute a\\'b {0,1}\n@data\n2,1\n",
    )
    .unwrap();
    std::fs::write(directory.path().join("set.xml"), "<labels><label name=\"a\\'b\"/></labels>")
        .unwrap();
    let reading = crate::data::read(&path, &options()).unwrap();
    assert_eq!(reading.notes[0].code, "relation-disagrees");
    let data = reading.into_rows().unwrap();
    assert_eq!(data.name(), "set");
    assert_eq!((row(&data, 0), truth(&data, 0)), (vec![2.0], vec![0]));
}

#[test]
fn text_and_dates_become_nominal_and_numeric() {
    let header = "@relation 't: -C -1'\n@attribute s string\n@attribute d date 'yyyy-MM-dd'\n@attribute a {0,1}\n@data\n";
    let text = format!("{header}'b c',1970-01-02,1\nx,?,0\n'b c','1970-01-01',0\n");
    let reading = parse(Path::new("t.arff"), text.as_bytes(), &options()).unwrap();
    assert_eq!(reading.notes[0].code, "text-as-nominal");
    let data = reading.into_rows().unwrap();
    assert_eq!(data.attributes()[0], Attribute::nominal("s", ["b c", "x"]));
    assert_eq!(row(&data, 0), [0.0, 86_400_000.0]);
    assert_eq!(row(&data, 2), [0.0, 0.0]);
}

#[test]
fn weights_are_kept_and_noted() {
    let text = format!("{HEADER}1,red,0,{{2.5}}\n{{2 1}},{{3}}\n4,red,1\n");
    let reading = parse(Path::new("t.arff"), text.as_bytes(), &options()).unwrap();
    assert_eq!(reading.notes[0].code, "row-weights-ignored");
    assert_eq!(reading.into_rows().unwrap().weights(), Some(&[2.5, 3.0, 1.0][..]));
}

#[test]
fn bags_are_read_with_their_labels() {
    let text = "@relation 't: -C -1'\n@attribute id {p,q,r}\n@attribute bag relational\n  @attribute u numeric\n  \
                @attribute v {s,t}\n@end bag\n@attribute a {0,1}\n@data\np,\"1,s\\n2,t\",1\nq,'{1 t}',0\nr,'',1\n";
    let Table::Bags(bags) = parse(Path::new("t.arff"), text.as_bytes(), &options()).unwrap().table
    else {
        panic!("bags expected")
    };
    assert_eq!((bags.name(), bags.attributes().len(), bags.instances().n_rows()), ("bag", 2, 3));
    assert_eq!([0, 1, 2].map(|bag| bags.instances_of(bag).len()), [2, 1, 0]);
    assert_eq!([0, 1, 2].map(|row| bags.instances().get(row, 1)), [0.0, 1.0, 1.0]);
    assert_eq!(bags.rows().labels().counts(), [2]);
    let mut written = Vec::new();
    write_bags(&bags, &mut written).unwrap();
    let again = parse(Path::new("t.arff"), &written, &options()).unwrap();
    assert_eq!(again.table, Table::Bags(bags));
}

#[test]
fn missing_labels_are_refused_dropped_or_irrelevant() {
    let rows = format!("{HEADER}1,red,1\n2,red,?\n{{2 ?}}\n");
    let with = |missing_labels| ReadOptions { missing_labels, ..options() };
    let (message, help) = refusal_with(&rows, &with(MissingLabels::Refuse));
    assert_eq!(
        message,
        "t.arff, line 7, column 1: expected 0 or 1 for label \"a\", found ?, a missing value"
    );
    assert!(help.contains("`missing_labels = drop`"));
    assert_eq!(read_with(&rows, &with(MissingLabels::Drop)).n_rows(), 1);
    let kept = read_with(&rows, &with(MissingLabels::Irrelevant));
    assert_eq!((kept.n_rows(), kept.labels().counts()), (3, vec![1]));
    assert_eq!(kept.labels().n_unknown(), 0);
}

#[test]
fn missing_labels_stay_unknown_where_they_are_learned_from_and_are_written_so() {
    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..options() };
    let cells = |data: &Dataset| -> Vec<Option<bool>> {
        (0..data.n_rows()).map(|row| data.labels().cell(row, LabelId(0))).collect()
    };
    for (rows, expected) in [
        ("1,red,1\n2,red,?\n3,red,0\n", [Some(true), None, Some(false)]),
        ("{2 1}\n{0 2,2 ?}\n{0 3}\n", [Some(true), None, Some(false)]),
    ] {
        let data = read_with(format!("{HEADER}{rows}"), &learn);
        assert_eq!(cells(&data), expected);
        let mut text = Vec::new();
        write_header(&data, &mut text).unwrap();
        write_rows(&data, &mut text).unwrap();
        assert_eq!(read_with(&text, &learn), data);
    }
}

#[test]
fn latin1_is_read_when_asked_for() {
    let text =
        b"@relation 't: -C -1'\n@attribute caf\xE9 {\xFC,b}\n@attribute a {0,1}\n@data\n\xFC,1\n";
    let (message, help) = refusal_with(text, &options());
    assert_eq!(message, "t.arff, line 2, column 15: expected UTF-8 text, found byte 0xE9");
    assert!(help.contains("`encoding = latin1`"));
    let data = read_with(text, &ReadOptions { encoding: Encoding::Latin1, ..options() });
    assert_eq!(data.attributes()[0], Attribute::nominal("café", ["ü", "b"]));
}

#[test]
fn wrong_rows_are_refused_with_place_and_remedy() {
    for (rows, message, help) in [
        (
            "1,red,1\n?x,red,1",
            "line 7, column 1: expected a number, found \"?x\"",
            "is declared numeric",
        ),
        (
            "1;red;1",
            "line 6, column 1: expected a number, found \"1;red;1\"",
            "commas, not semicolons",
        ),
        (
            "1,blue,1",
            "line 6, column 3: expected one of the 2 values {red,light blue} declared for \"c\", found \"blue\"",
            "add the value",
        ),
        (
            "1,rde,1",
            "line 6, column 3: expected one of the 2 values {red,light blue} declared for \"c\", found \"rde\"",
            "did you mean \"red\"?",
        ),
        (
            "1,red",
            "line 6, column 1: expected 3 fields, as declared, found 2",
            "? stands for a missing",
        ),
        (
            "1,red,1,5,6",
            "line 6, column 1: expected 3 fields, as declared, found 5",
            "must be quoted",
        ),
        ("1,red,1,", "line 6, column 1: expected 3 fields, as declared, found 4", "must be quoted"),
        ("1,,1", "line 6, column 3: expected a value, found \",\"", ""),
        (
            "1,'red,1",
            "line 6, column 3: expected a closing ', found the end of the line",
            "quote inside",
        ),
        ("{3 1}", "line 6, column 2: expected an attribute index from 0 to 2, found \"3\"", ""),
        (
            "{0 1,0 2}",
            "line 6, column 6: expected each attribute index at most once in a row, found 0 (\"x\") again",
            "",
        ),
        ("{x 1}", "line 6, column 2: expected an attribute index, found \"x\"", ""),
        (
            "{12345678901 1}",
            "line 6, column 2: expected an attribute index, found \"12345678901\"",
            "",
        ),
        ("{0:1}", "line 6, column 3: expected a blank between index and value, found \":1}\"", ""),
        ("{0 1", "line 6, column 5: expected , or }, found the end of the line", ""),
        (
            "{0 1} x",
            "line 6, column 7: expected nothing more after the last field, found \"x\"",
            "",
        ),
        ("1,red,1,{w}", "line 6, column 10: expected a row weight such as {2.5}, found \"w\"", ""),
        (
            "1,red,2",
            "line 6, column 7: expected one of the 2 values {0,1} declared for \"a\", found \"2\"",
            "",
        ),
    ] {
        let refused = refused_rows(rows);
        assert_eq!(refused.0, format!("t.arff, {message}"), "{rows}");
        assert!(refused.1.contains(help) && !refused.1.is_empty(), "{rows}: {}", refused.1);
    }
}

#[test]
fn wrong_bags_are_refused_with_place_and_remedy() {
    let bag = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n\
               @attribute d date\n@end bag\n@attribute a {0,1}\n@data\n";
    for (text, message) in [
        ("'1,?\\n2',1", ", line 8, column 1: expected 2 fields, as declared, found 1"),
        ("'{2 1}',1", ", line 8, column 2: expected an index from 0 to 1, found \"2\""),
        ("'{0 1;}',1", ", line 8, column 4: expected a number, found \"1;\""),
        ("'{0 1',1", ", line 8, column 5: expected , or }, found the end of the line"),
        ("'{x}',1", ", line 8, column 2: expected an attribute index, found \"x}\""),
        (
            "'1,? 5',1",
            ", line 8, column 5: expected nothing more after the instance's last field, found \"5\"",
        ),
        ("'1,now',1", ", line 8, column 3: expected a date of the declared format, found \"now\""),
        (",1", ", line 8, column 1: expected a quoted bag of instances, found \",\""),
    ] {
        let (refused, help) = refusal_with(format!("{bag}{text}"), &options());
        assert_eq!(refused, format!("t.arff{message}"), "{text}");
        assert!(!help.is_empty(), "{text}");
    }
    for (text, message) in [
        (
            bag.replace("@end bag\n", "@attribute y relational\n"),
            ", line 5, column 1: expected no bag inside a bag, found another relational attribute",
        ),
        (
            bag.replace("@end bag", "@end sack"),
            ", line 5, column 6: expected @end bag, found \"sack\"",
        ),
        (
            bag.replace("-C -1", "-C 1"),
            ": expected label \"bag\" to be 0 or 1, found a relational attribute",
        ),
        (
            bag.replace("@attribute a {0,1}", "@attribute a date"),
            ": expected label \"a\" to be 0 or 1, found a date",
        ),
        (
            bag.replace("@end bag", "@end bag\n@attribute c relational\n@end c"),
            ": expected one relational attribute, found a second, \"c\"",
        ),
        (
            bag.replace("@attribute x numeric\n@attribute d date\n", ""),
            ": expected attributes inside bag \"bag\", found none",
        ),
    ] {
        let (refused, help) = refusal_with(&text, &options());
        assert_eq!(refused, format!("t.arff{message}"), "{text}");
        assert!(!help.is_empty(), "{text}");
    }
}

#[test]
fn wrong_headers_are_refused_with_place_and_remedy() {
    for (text, message) in [
        ("", "t.arff: expected @data, found the end of the file"),
        ("@relation t\n", "t.arff, line 1: expected @data, found the end of the file"),
        (
            "1,2,3\n",
            "t.arff, line 1, column 1: expected @relation, @attribute or @data, found \"1\"",
        ),
        (
            "@atribute x numeric\n",
            "t.arff, line 1, column 1: expected @relation, @attribute or @data, found \"@atribute\"",
        ),
        (
            "@attribute x\n",
            "t.arff, line 1, column 13: expected a type: numeric, real, integer, string, date, relational or {values}, found the end of the line",
        ),
        (
            "@attribute x number\n",
            "t.arff, line 1, column 14: expected a type: numeric, real, integer, string, date, relational or {values}, found \"number\"",
        ),
        (
            "@attribute x {a,b\n",
            "t.arff, line 1, column 18: expected } behind the values, on the same line, found the end of the line",
        ),
        (
            "@attribute x {a,a}\n",
            "t.arff, line 1, column 17: expected each value of \"x\" once, found \"a\" again",
        ),
        (
            "@attribute x date 'yyyy w'\n",
            "t.arff, line 1, column 19: expected a date format of y, M, d, H, m, s and S, found 'w' in \"yyyy w\"",
        ),
        (
            "@attribute x {a b\n",
            "t.arff, line 1, column 18: expected } behind the values, on the same line, found the end of the line",
        ),
        (
            "@attribute\n",
            "t.arff, line 1, column 11: expected an attribute name, found the end of the line",
        ),
        ("@attribute x numeric {1 2}\n", "t.arff, line 1, column 25: expected }, found \"2}\""),
        (
            "@attribute x numeric y\n",
            "t.arff, line 1, column 22: expected nothing more after the attribute's type, found \"y\"",
        ),
        (
            "@data\n",
            "t.arff, line 1, column 1: expected an @attribute before @data, found \"@data\"",
        ),
        (
            "@attribute b relational\n@data\n",
            "t.arff, line 2, column 1: expected @end b, found \"@data\"",
        ),
        ("@end b\n", "t.arff, line 1, column 1: expected @attribute or @data, found \"@end\""),
        (
            "@attribute x numeric\n@attribute x numeric\n@data\n",
            "t.arff: column name \"x\" occurs 2 times (columns 1, 2)",
        ),
        (
            "@attribute x numeric\n@data\n1\n",
            "t.arff: no labels found: no t.xml beside it, and the relation name has no \"-C n\"; the columns are \"x\"",
        ),
        (
            "@relation 't: -C 9'\n@attribute x numeric\n@data\n",
            "t.arff: no labels found: the relation name says -C 9, of 1 attributes",
        ),
    ] {
        let (refused, help) = refusal_with(text, &options());
        assert_eq!(refused, message, "{text}");
        assert!(!help.is_empty(), "{text}");
    }
}

#[test]
fn labels_at_the_wrong_end_are_suspected() {
    let text = "@relation 't: -C 1'\n@attribute x numeric\n@attribute a {0,1}\n@data\n2.5,1\n";
    let (message, help) = refusal_with(text, &options());
    assert_eq!(message, "t.arff, line 5, column 1: expected 0 or 1 for label \"x\", found \"2.5\"");
    assert!(help.starts_with(
        "the relation name says -C 1; perhaps the labels stand last: `labels_last = 1`"
    ));
}

#[test]
fn a_label_that_is_no_column_brings_the_nearest_name() {
    let labels = LabelChoice::Named(vec!["tag_vegna".into()]);
    let text = "@attribute x numeric\n@attribute tag_vegan {0,1}\n@data\n";
    let (message, _) = refusal_with(text, &ReadOptions { labels, ..options() });
    assert_eq!(
        message,
        "t.arff: no label \"tag_vegna\" among the 2 columns. Did you mean \"tag_vegan\"?"
    );
}

#[test]
fn reading_stops_at_the_memory_allowed() {
    let rows = "1,red,1\n".repeat(1000);
    let little = ReadOptions { max_memory: 5000, ..options() };
    let (message, help) = refusal_with(format!("{HEADER}{rows}"), &little);
    assert!(message.starts_with("t.arff: what was read up to line"), "{message}");
    assert!(message.ends_with("needs more than the 4.9 KiB allowed"), "{message}");
    assert_eq!(help, "`max_memory` raises the limit: twice as much is 9.8KiB");
}

#[test]
fn repeated_names_can_be_numbered() {
    let text = "@attribute m numeric\n@attribute m.2 numeric\n@attribute m numeric\n@attribute a {0,1}\n@attribute m numeric\n@data\n";
    let options =
        ReadOptions { labels: LabelChoice::Named(vec!["a".into()]), dedupe: true, ..options() };
    let names: Vec<String> =
        read_with(text, &options).attributes().iter().map(|a| a.name.clone()).collect();
    assert_eq!(names, ["m", "m.2", "m.3", "m.4"]);
}

/// Data sets of both storages with names and values that need every kind of quoting.
pub(crate) fn any_dataset() -> impl Strategy<Value = Dataset> {
    let text = "[a-c '\"\\\\%{},?@\n\t=éß-]{0,6}";
    let attribute = prop_oneof![
        Just(None),
        prop::collection::btree_set(text, 1..5)
            .prop_map(|values| Some(values.into_iter().collect::<Vec<String>>())),
    ];
    (
        prop::collection::vec(attribute, 0..6),
        1..70usize,
        0..12usize,
        any::<bool>(),
        any::<bool>(),
        text,
        any::<u64>(),
    )
        .prop_map(|(kinds, n_labels, n_rows, is_sparse, is_weighted, name, seed)| {
            let mut rng = crate::seed::Seed::new(seed).rng();
            let attributes: Vec<Attribute> = kinds
                .into_iter()
                .enumerate()
                .map(|(at, values)| match values {
                    None => Attribute::numeric(format!("{name}{at}")),
                    Some(values) => Attribute::nominal(format!("{name}{at}"), values),
                })
                .collect();
            let mut labels = LabelMatrix::empty(n_rows, n_labels);
            let mut rows = Vec::new();
            for row in 0..n_rows {
                labels.ids().for_each(|label| labels.set(row, label, rng.chance(0.3)));
                let cell = |attribute: &Attribute| match (rng.below(5), attribute.values()) {
                    (0, _) => f64::NAN,
                    (1, _) => 0.0,
                    (_, Some(values)) => rng.below(values.len()) as f64,
                    (2, None) => f64::INFINITY,
                    (3, None) => f64::from_bits((rng.unit() * 1e18) as u64),
                    (_, None) => rng.normal() * 1e3,
                };
                rows.push(attributes.iter().map(cell).collect::<Vec<f64>>());
            }
            let n = attributes.len();
            let features = if is_sparse {
                let mut sparse = Sparse::new(n);
                for row in &rows {
                    sparse.push_row(row.iter().enumerate().map(|(at, &value)| (at as u32, value)));
                }
                Matrix::Sparse(sparse)
            } else {
                let mut dense = Dense::new(n);
                rows.iter().for_each(|row| dense.push_row(row));
                Matrix::Dense(dense)
            };
            let names = (0..n_labels).map(|label| format!("{name} l{label}")).collect();
            let mut data = Dataset::new("t", attributes, features, names, labels).unwrap();
            if is_weighted && n_rows > 0 {
                data.weights = Some((0..n_rows).map(|_| rng.normal()).collect());
            }
            data
        })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_bit(data in any_dataset()) {
        let mut text = Vec::new();
        write_header(&data, &mut text).unwrap();
        write_rows(&data, &mut text).unwrap();
        let again = read(&text);
        // A set without rows cannot show how it was stored.
        if data.n_rows() > 0 {
            prop_assert_eq!(&again, &data);
        }
        prop_assert_eq!(again.attributes(), data.attributes());
        prop_assert_eq!(again.label_names(), data.label_names());
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_remedy(rows in "[01?,{} 'a\\\\\n]{0,40}") {
        if let Err(error) = parse(Path::new("t.arff"), format!("{HEADER}{rows}").as_bytes(), &options()) {
            prop_assert!(error.remedy().is_some(), "{error}");
        }
    }
}
