#![allow(clippy::unwrap_used, clippy::panic)]
use proptest::prelude::*;

use super::*;
use crate::data::label_list::LabelList;
use crate::data::{
    Attribute, ColumnRoles, Dense, Encoding, LabelChoice, LabelId, LabelMatrix, Matrix,
    MissingLabels, Reading, parse,
};

fn last(n: usize) -> ReadOptions {
    ReadOptions { labels: LabelChoice::Last(n), ..ReadOptions::default() }
}

fn tags(separator: &str) -> ReadOptions {
    let labels = LabelChoice::Tags { column: "tags".into(), separator: separator.into() };
    ReadOptions { labels, ..ReadOptions::default() }
}

fn reading(text: impl AsRef<[u8]>, options: &ReadOptions) -> Reading {
    parse(Path::new("t.csv"), text.as_ref(), options).unwrap()
}

fn data(text: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    reading(text, options).into_rows().unwrap()
}

/// The message and the help.
fn refusal(text: impl AsRef<[u8]>, options: &ReadOptions) -> (String, String) {
    let error = parse(Path::new("t.csv"), text.as_ref(), options).unwrap_err();
    (error.to_string(), error.remedy().unwrap_or_default().to_string())
}

fn row(data: &Dataset, row: usize) -> Vec<f64> {
    (0..data.n_features()).map(|column| data.features().get(row, column)).collect()
}

fn relevant(data: &Dataset, row: usize) -> Vec<&str> {
    data.labels().relevant(row).map(|label| data.label_names()[label.0].as_str()).collect()
}

fn written(data: &Dataset, separator: u8) -> String {
    let mut out = Vec::new();
    write_header(data, separator, &mut out).unwrap();
    write_rows(data, separator, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_small_table_reads_as_it_looks() {
    let data = data("x,colour,y\n1,red,0\n2.5,blue,1\n", &last(1));
    assert_eq!(data.name(), "t");
    let attributes = [Attribute::numeric("x"), Attribute::nominal("colour", ["blue", "red"])];
    assert_eq!(data.attributes(), attributes);
    assert_eq!([row(&data, 0), row(&data, 1)], [[1.0, 1.0], [2.5, 0.0]]);
    assert_eq!(data.label_names(), ["y"]);
    assert_eq!([relevant(&data, 0), relevant(&data, 1)], [vec![], vec!["y"]]);
}

#[test]
fn tabs_separate_the_fields_of_tsv() {
    let read = parse(Path::new("t.tsv"), b"a, b\ty\n1,5\t1\n", &last(1)).unwrap();
    let data = read.into_rows().unwrap();
    assert_eq!(data.attributes(), [Attribute::nominal("a, b", ["1,5"])]);
    assert_eq!(written(&data, b'\t'), "a, b\ty\n1,5\t1\n");
}

#[test]
fn quoted_fields_hold_separators_line_ends_and_quotes() {
    let text = "\"a\"\"b\",c,y\r\n\"1,\r\n2\",\"say \"\"hi\"\"\",1\r\n\r\n\"\"\"\",\"\",0";
    let data = data(text, &last(1));
    assert_eq!(data.attributes()[0], Attribute::nominal("a\"b", ["\"", "1,\r\n2"]));
    assert_eq!(data.attributes()[1], Attribute::nominal("c", ["say \"hi\""]));
    assert_eq!(row(&data, 0), [1.0, 0.0]);
    assert!(data.features().get(1, 1).is_nan());
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_name() {
    assert_eq!(data("\u{FEFF}x,y\n1,1\n", &last(1)).attributes(), [Attribute::numeric("x")]);
    assert_eq!(data("\u{FEFF}\"x\",y\n1,1\n", &last(1)).attributes(), [Attribute::numeric("x")]);
    assert_eq!(
        refusal(b"\xFF\xFEx\0,\0y\0\n\0", &last(1)),
        (
            "t.csv, line 1, column 1: expected UTF-8 text, found a UTF-16 byte order mark".into(),
            "save the file as UTF-8".into()
        )
    );
}

#[test]
fn every_spelling_of_missing_is_missing() {
    let text = "n,c,y\n,,0\n?,?,0\nNA,NA,0\nNaN,nan,0\nnull,NULL,0\n NA , ,0\n3,x,1\n";
    let data = data(text, &last(1));
    let attributes = [Attribute::numeric("n"), Attribute::nominal("c", ["x"])];
    assert_eq!(data.attributes(), attributes);
    for missing in 0..6 {
        assert!(row(&data, missing).iter().all(|cell| cell.is_nan()), "row {missing}");
    }
    assert_eq!(row(&data, 6), [3.0, 0.0]);
}

#[test]
fn a_column_without_values_is_numeric() {
    assert_eq!(data("x,y\n,1\n?,0\n", &last(1)).attributes(), [Attribute::numeric("x")]);
    let only_header = data("x,y\n", &last(1));
    assert_eq!((only_header.n_rows(), only_header.n_features(), only_header.n_labels()), (0, 1, 1));
}

#[test]
fn one_word_makes_a_column_nominal_in_any_row_order() {
    let expected = [Attribute::nominal("x", ["1", "10", "9", "b"])];
    assert_eq!(data("x,y\n9,1\n10,0\nb,0\n1,0\n", &last(1)).attributes(), expected);
    assert_eq!(data("x,y\nb,1\n1,0\n9,0\n10,0\n", &last(1)).attributes(), expected);
    assert_eq!(row(&data("x,y\n9,1\n10,0\nb,0\n1,0\n", &last(1)), 0), [2.0]);
}

#[test]
fn blanks_around_numbers_and_labels_do_not_matter() {
    let data = data("x,c,y\n 1 , a, 1\n2 ,a ,yes \n", &last(1));
    assert_eq!(data.attributes()[0], Attribute::numeric("x"));
    assert_eq!(data.attributes()[1], Attribute::nominal("c", [" a", "a "]));
    assert_eq!(data.labels().counts(), [2]);
}

#[test]
fn latin1_is_read_when_asked_for_and_named_when_not() {
    let text = b"caf\xE9,y\nth\xE9,1\n";
    assert_eq!(
        refusal(text, &last(1)),
        (
            "t.csv, line 1, column 4: expected UTF-8 text, found byte 0xE9".into(),
            "it reads as 'é' in Latin-1: retry with `encoding = latin1`".into()
        )
    );
    let latin1 = ReadOptions { encoding: Encoding::Latin1, ..last(1) };
    assert_eq!(data(text, &latin1).attributes(), [Attribute::nominal("café", ["thé"])]);
}

#[test]
fn a_bad_byte_is_placed_inside_quoted_lines_too() {
    let text = b"a,b,y\n1,\"x \"\"q\"\"\nz \xFF\",1\n";
    assert_eq!(
        refusal(text, &last(1)).0,
        "t.csv, line 3, column 3: expected UTF-8 text, found byte 0xFF"
    );
}

#[test]
fn an_empty_file_has_no_header() {
    for text in ["", "\n\r\n", "\u{FEFF}"] {
        assert_eq!(
            refusal(text, &last(1)),
            (
                "t.csv, line 1: expected a header line, found the end of the file".into(),
                "the first line names the columns".into()
            )
        );
    }
}

#[test]
fn rows_of_another_length_are_refused() {
    assert_eq!(
        refusal("a,b,y\n1,2,0\n\n1,5,2,0\n", &last(1)),
        (
            "t.csv, line 4, column 1: expected 3 fields, as in the header, found 4".into(),
            "a value that holds a comma must stand in double quotes".into()
        )
    );
    assert_eq!(
        refusal("a,b,y\n1,2\n", &last(1)),
        (
            "t.csv, line 2, column 1: expected 3 fields, as in the header, found 2".into(),
            "a missing cell is empty but keeps its comma; \
             a value that holds a line end must stand in double quotes"
                .into()
        )
    );
}

#[test]
fn a_quote_that_is_not_closed_is_shown_where_it_opens() {
    let help = "the quote was opened here; a value that begins with a quote must itself be \
                quoted and its quotes doubled: \"\"\"a\"\" b\"";
    assert_eq!(
        refusal("a,y\n1,0\n5,\"1\n6,0\n", &last(1)),
        (
            "t.csv, line 3, column 3: expected a closing quote, found the end of the file".into(),
            help.into()
        )
    );
    assert_eq!(
        refusal("a,y\n\"b\"c,0\n", &last(1)),
        (
            "t.csv, line 2, column 4: expected the next field behind a closing quote, found \"c\""
                .into(),
            "a quote inside a quoted value is doubled: \"\"".into()
        )
    );
}

/// The error of reading such a text.
fn refused<'p>(open: impl Fn() -> Result<Box<dyn Read + 'p>>) -> Error {
    let mut blocks =
        match read(Path::new("t.csv"), Some(",".parse().unwrap()), open, &last(1), usize::MAX) {
            Ok(blocks) => blocks,
            Err(error) => return error,
        };
    blocks.next().unwrap().unwrap_err()
}

#[test]
fn an_endless_quoted_value_is_refused() {
    struct Endless;
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            // No line is too long by itself.
            buffer.iter_mut().step_by(1000).for_each(|byte| *byte = b'\n');
            Ok(buffer.len())
        }
    }
    let open = || Ok(Box::new(b"\"".chain(Endless)) as Box<dyn Read>);
    let error = refused(open);
    assert_eq!(
        error.to_string(),
        "t.csv, line 1, column 1: expected a closing quote within 256 MiB, found none"
    );
}

#[test]
fn a_header_of_separators_is_refused_before_it_takes_memory() {
    let text = ",".repeat(MAX_COLUMNS);
    assert_eq!(
        refusal(text, &last(1)).0,
        "t.csv, line 1, column 1: expected at most 1048576 columns, found 1048577"
    );
}

#[test]
fn lines_that_end_in_carriage_returns_alone_are_refused() {
    assert_eq!(
        refusal("x,y\r1,0\r", &last(1)),
        (
            "t.csv, line 1, column 4: expected lines that end in \\n or \\r\\n, found \\r alone"
                .into(),
            "convert the line ends, or quote the value if this is part of it".into()
        )
    );
}

/// As a spreadsheet writes it where commas are decimal.
#[test]
fn semicolons_and_tabs_are_found_in_the_header() {
    let found = reading("\u{feff}x;\"a, b\";name;y\n1,5;-2,25e1;\"p;q\";0\n2;;r,s;1\n", &last(1));
    let codes: Vec<&str> = found.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["delimiter", "decimal-commas"]);
    assert!(found.notes[1].text.contains("2 (first: \"x\")"), "{}", found.notes[1].text);
    let table = found.into_rows().unwrap();
    let names: Vec<&str> = table.attributes().iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["x", "a, b", "name"]);
    assert_eq!((table.features().get(0, 0), table.features().get(0, 1)), (1.5, -22.5));
    assert!(table.features().get(1, 1).is_nan());
    assert_eq!(table.attributes()[2].values(), Some(&["p;q".to_string(), "r,s".into()][..]));

    let tabs = data("x\ty\n1,5\t0\n", &last(1));
    assert_eq!(
        tabs.attributes()[0].values(),
        Some(&["1,5".to_string()][..]),
        "only semicolons say so"
    );
    // What stands there most often separates, and of equals the comma.
    let semicolons = data("sum (EUR, net);z;y\n1;5;0\n", &last(1));
    assert_eq!(semicolons.attributes()[0].name, "sum (EUR, net)");
    let commas = data("x;z,y\n1;5,0\n", &last(1));
    assert_eq!(commas.attributes()[0].name, "x;z");
}

#[test]
fn a_point_is_decimal_or_groups_thousands_but_not_both_in_one_file() {
    let first = |text: &str| data(text, &last(1)).features().get(0, 0);
    assert_eq!(first("x;y\n1.234,5;0\n"), 1234.5);
    assert_eq!(first("x;y\n-1.234.567,25;0\n"), -1_234_567.25);
    assert_eq!(first("x;y\n1.234.567;0\n"), 1_234_567.0);
    assert_eq!(first("x;y\n1.500;0\n"), 1.5, "no other cell says that commas are decimal");
    assert_eq!(first("x,y\n1.500,0\n"), 1.5);
    let codes = |text: &str| -> Vec<&str> {
        reading(text, &last(1)).notes.iter().map(|note| note.code).collect()
    };
    assert_eq!(codes("x;y\n1.500;0\n20;1\n"), ["delimiter", "points"]);
    assert_eq!(codes("x;y\n1.500;0\n0.25;1\n"), ["delimiter"]);
    assert_eq!(codes("x,y\n1.500,0\n20,1\n"), [""; 0]);
    for odd in ["1.23,5", "1234.567,5", ".123,5", "1..234,5"] {
        let read = data(format!("x;y\n{odd};0\n"), &last(1));
        assert_eq!(read.attributes()[0].values(), Some(&[odd.to_string()][..]));
    }
    let remedy = "\"3,14\" (line 3, \"share\") has a decimal comma, so \"1.500\" (line 2, \"sum\") may be 1500 or 1,500: \
                  write numbers without points between thousands, or all with decimal points";
    let (message, help) = refusal("sum;share;y\n1.500;1;0\n2;3,14;1\n", &last(1));
    assert_eq!(
        message,
        "t.csv, line 3, column 3: expected numbers that are all spelt alike, found \"3,14\""
    );
    assert_eq!(help, remedy);
    // The kinds of a model's columns are known, and then the file is read once.
    let attributes = [Attribute::numeric("sum"), Attribute::numeric("share")].into();
    let known = ReadOptions { attributes, ..last(1) };
    assert_eq!(refusal("sum;share;y\n1.500;1;0\n2;3,14;1\n", &known).1, remedy);
    // What is left out is not looked at, nor what a model does not know.
    let roles = ColumnRoles { drop: vec!["sum".into()], ..ColumnRoles::default() };
    let dropped = ReadOptions { roles: roles.into(), ..last(1) };
    assert_eq!(data("sum;share;y\n1.500;3,14;0\n", &dropped).n_features(), 1);
    let known = ReadOptions { attributes: [Attribute::numeric("share")].into(), ..last(1) };
    assert_eq!(data("sum;share;y\n1.500;2,75;0\n", &known).features().get(0, 1), 2.75);
    // Names and what cannot be groups say nothing.
    let names = data("part;share;y\n1.500;3,14;0\n1.500a;0.125;1\n", &last(1));
    assert_eq!(names.features().get(1, 1), 0.125);
}

#[test]
fn a_delimiter_that_is_given_separates_whatever_the_header_has() {
    let given = |text: &str| ReadOptions { delimiter: Some(text.parse().unwrap()), ..last(1) };
    let named = data("a,b;y\n1;0\n", &given(";"));
    assert_eq!(named.attributes()[0].name, "a,b");
    assert_eq!(data("x|y\n1|0\n", &given("|")).n_features(), 1);
    let tsv = parse(Path::new("t.tsv"), b"x,y\n1,0\n", &given(","));
    assert_eq!(tsv.unwrap().into_rows().unwrap().n_features(), 1);
    let error = parse(Path::new("t.tsv"), b"x,y\n1,0\n", &last(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.tsv, line 1, column 1: expected names separated by tabs, found commas"
    );
    assert_eq!(error.remedy().unwrap_or_default().to_string(), "`delimiter = ,` reads it");
    assert_eq!(
        refusal("x|y\n1|0|1\n", &given("|")),
        (
            "t.csv, line 2, column 1: expected 2 fields, as in the header, found 3".into(),
            "a value that holds a '|' must stand in double quotes".into()
        )
    );
}

#[test]
fn names_are_needed_once_each_and_can_be_made() {
    assert_eq!(
        refusal("a,b,a,y\n1,2,3,0\n", &last(1)),
        (
            "t.csv: column name \"a\" occurs 2 times (columns 1, 3)".into(),
            "`dedupe` reads them as a, a.2, a.3, …".into()
        )
    );
    assert_eq!(
        refusal(",a,y\n1,2,0\n", &last(1)),
        (
            "t.csv, line 1, column 1: expected a name for column 1, found none".into(),
            "give it a name, or leave it out if it only numbers the rows; \
             `dedupe` reads it as column1"
                .into()
        )
    );
    let options = ReadOptions { dedupe: true, ..last(1) };
    let data = data(",a,a,\"\",y\n1,2,3,4,0\n", &options);
    let names: Vec<&str> = data.attributes().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["column1", "a", "a.2", "column4"]);
}

#[test]
fn labels_come_in_the_order_they_are_named() {
    let labels = LabelChoice::Named(vec!["z".into(), "l*".into()]);
    let options = ReadOptions { labels, ..ReadOptions::default() };
    let data = data("l1,x,l2,z\n1,7,0,1\ntrue,8,no,f\n", &options);
    assert_eq!(data.label_names(), ["z", "l1", "l2"]);
    assert_eq!([relevant(&data, 0), relevant(&data, 1)], [vec!["z", "l1"], vec!["l1"]]);
    assert_eq!(data.attributes(), [Attribute::numeric("x")]);
}

#[test]
fn a_label_list_beside_the_file_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    std::fs::write(directory.path().join("t.xml"), LabelList::text(&["b".into()], &[])).unwrap();
    std::fs::write(&path, "b,x\n1,2\n").unwrap();
    let data = crate::data::read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    assert_eq!(data.label_names(), ["b"]);
}

#[test]
fn without_any_word_about_labels_there_are_none() {
    let (message, help) = refusal("x,y\n1,0\n", &ReadOptions::default());
    assert_eq!(message, "t.csv: no labels found: no t.xml beside it; the columns are \"x\", \"y\"");
    assert!(help.contains("`labels_last = N`"), "{help}");
}

#[test]
fn a_label_that_is_neither_0_nor_1_is_refused() {
    let help = "`binarize = >0`, or another comparison, makes numbers relevant or irrelevant";
    assert_eq!(
        refusal("x,rating\n1,0\n2,4\n", &last(1)),
        (
            "t.csv, line 3, column 3: expected 0 or 1 for label \"rating\", found \"4\"".into(),
            help.into()
        )
    );
    assert_eq!(
        refusal("x,mood\n1,\"sad\"\n", &last(1)).0,
        "t.csv, line 2, column 4: expected 0 or 1 for label \"mood\", found \"sad\""
    );
    let options = ReadOptions { binarize: Some(">3".parse().unwrap()), ..last(1) };
    assert_eq!(data("x,rating\n1,0\n2,4\n", &options).labels().counts(), [1]);
}

#[test]
fn missing_labels_are_refused_irrelevant_or_left_out() {
    let text = "c,y,z\na,1,1\nb,,1\na,1,NA\n";
    assert_eq!(
        refusal(text, &last(2)),
        (
            "t.csv, line 3, column 3: expected 0 or 1 for label \"y\", \
             found nothing, a missing value"
                .into(),
            "`missing_labels = drop` leaves such rows out, irrelevant reads them as 0, learn keeps what is there".into()
        )
    );
    let irrelevant = ReadOptions { missing_labels: MissingLabels::Irrelevant, ..last(2) };
    let read = reading(text, &irrelevant);
    assert_eq!(read.notes[0].code, "missing-labels");
    assert_eq!(read.notes[0].text, "2 rows with missing labels read as irrelevant");
    assert_eq!(read.into_rows().unwrap().labels().counts(), [2, 2]);

    let drop = ReadOptions { missing_labels: MissingLabels::Drop, ..last(2) };
    let read = reading(text, &drop);
    assert_eq!(
        read.notes[0].text,
        "2 rows with missing labels were left out, and later rows moved up"
    );
    let data = read.into_rows().unwrap();
    assert_eq!((data.n_rows(), data.labels().counts()), (1, vec![1, 1]));
    assert_eq!(data.attributes(), [Attribute::nominal("c", ["a", "b"])]);

    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..last(2) };
    let read = reading(text, &learn);
    assert_eq!(read.notes[0].text, "2 rows with missing labels keep the labels they have");
    let data = read.into_rows().unwrap();
    let cells = |row| [0, 1].map(|label| data.labels().cell(row, LabelId(label)));
    let yes = Some(true);
    assert_eq!([cells(0), cells(1), cells(2)], [[yes, yes], [None, yes], [yes, None]]);
    assert_eq!(written(&data, b','), "c,y,z\na,1,1\nb,,1\na,1,\n");
    // Nothing unknown is as if nothing could be.
    let (whole, options) = ("c,y,z\na,1,1\nb,0,1\n", last(2));
    assert_eq!(reading(whole, &learn), reading(whole, &options));
}

#[test]
fn each_distinct_tag_is_a_label() {
    let text = "x,tags\n1,b; a;;b\n2,\n3,\"c;a;\"\n";
    let data = data(text, &tags(";"));
    assert_eq!(data.attributes(), [Attribute::numeric("x")]);
    assert_eq!(data.label_names(), ["a", "b", "c"]);
    let rows = [0, 1, 2].map(|row| relevant(&data, row).join(" "));
    assert_eq!(rows, ["a b", "", "a c"]);
}

#[test]
fn tag_columns_and_separators_are_checked() {
    assert_eq!(
        refusal("x,tagz\n1,a\n", &tags(";")).0,
        "t.csv: no tag column \"tags\" among the 2 columns. Did you mean \"tagz\"?"
    );
    assert_eq!(
        refusal("x,tags\n1,a\n", &tags("")).0,
        "tag-separator is empty, but must be at least one character"
    );
}

#[test]
fn missing_tags_are_missing_labels() {
    let text = "x,tags\n1,a\n2,NA\n";
    assert_eq!(
        refusal(text, &tags("|")).0,
        "t.csv, line 3, column 3: expected tags in column \"tags\", found NA, a missing value"
    );
    let drop = ReadOptions { missing_labels: MissingLabels::Drop, ..tags("|") };
    assert_eq!(data(text, &drop).n_rows(), 1);
    let irrelevant = ReadOptions { missing_labels: MissingLabels::Irrelevant, ..tags("|") };
    assert_eq!(data(text, &irrelevant).labels().counts(), [1]);
    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..tags("|") };
    let data = data("x,tags\n1,a\n2,NA\n3,\n", &learn);
    let cells = [0, 1, 2].map(|row| data.labels().cell(row, LabelId(0)));
    assert_eq!(cells, [Some(true), None, Some(false)], "an empty cell is a row without tags");
}

#[test]
fn a_tag_named_like_a_column_is_refused_or_numbered() {
    let text = "a,tags\n1,a b a.2\n";
    assert_eq!(
        refusal(text, &tags(" ")),
        (
            "t.csv: expected tags and columns of different names, found \"a\", which is both"
                .into(),
            "rename the column, or `dedupe` reads the tag as a.3".into()
        )
    );
    let dedupe = ReadOptions { dedupe: true, ..tags(" ") };
    assert_eq!(data(text, &dedupe).label_names(), ["a.3", "a.2", "b"]);
}

#[test]
fn more_than_the_memory_allowed_is_refused() {
    let text = "x,y\n".to_string() + &"1,0\n".repeat(100);
    let options = ReadOptions { max_memory: 1024, ..last(1) };
    assert_eq!(
        refusal(&text, &options).0,
        "t.csv: what was read up to line 36 needs more than the 1 KiB allowed"
    );
    let distinct: String = (0..1000).map(|tag| format!("{tag},{tag}\n")).collect();
    let options = ReadOptions { max_memory: 200 << 10, ..tags(";") };
    assert_eq!(
        refusal("x,tags\n".to_string() + &distinct, &options).0,
        "t.csv: the table of all rows needs more than the 200 KiB allowed"
    );
}

#[test]
fn a_file_that_changes_between_the_passes_is_no_crash() {
    let pass = std::cell::Cell::new(0);
    let open = || {
        pass.set(pass.get() + 1);
        let text: &[u8] = if pass.get() == 1 { b"x,y\n1,0\n" } else { b"x,y\na,0\n" };
        Ok(Box::new(text) as Box<dyn Read>)
    };
    let error = refused(open);
    assert_eq!(error.to_string(), "t.csv, line 2, column 1: expected a number, found \"a\"");
    assert_eq!(error.remedy().unwrap(), "the file changed while it was read".into());
}

#[test]
fn what_is_written_is_plain_csv() {
    let text = "x,\"a,b\",y\n1,\"say \"\"hi\"\"\",0\n-0.5,,1\n,u,1\n";
    assert_eq!(written(&data(text, &last(1)), b','), text);
}

/// A column of numbers or words, some missing.
#[derive(Clone, Debug)]
enum Made {
    Numbers(Vec<Option<f64>>),
    Words(Vec<Option<String>>),
}

fn made(n_rows: usize) -> impl Strategy<Value = Made> {
    let number = any::<u64>().prop_map(f64::from_bits).prop_filter("missing", |x| !x.is_nan());
    // A value that a reader must take for text.
    let word = "[a-c,;\"\n\r\té' ]{0,4}"
        .prop_filter("number or missing", |word| Cell::of(word.as_bytes()) == Cell::Text);
    prop_oneof![
        prop::collection::vec(prop::option::of(number), n_rows).prop_map(Made::Numbers),
        prop::collection::vec(prop::option::of(word), n_rows).prop_map(Made::Words),
    ]
}

fn made_data() -> impl Strategy<Value = Dataset> {
    (0usize..6, 1usize..4, 1usize..4).prop_flat_map(|(n_rows, n_features, n_labels)| {
        let columns = prop::collection::vec(made(n_rows), n_features);
        let names = prop::collection::btree_set("[a-c,\"\n é]{0,3}x", n_features + n_labels);
        let relevant = prop::collection::vec(any::<bool>(), n_rows * n_labels);
        (columns, names, relevant).prop_map(move |(columns, names, relevant)| {
            let names: Vec<String> = names.into_iter().collect();
            let mut attributes = Vec::new();
            let mut cells = vec![f64::NAN; n_rows * n_features];
            for (at, column) in columns.into_iter().enumerate() {
                attributes.push(match column {
                    Made::Numbers(numbers) => {
                        for (row, number) in numbers.into_iter().enumerate() {
                            cells[row * n_features + at] = number.unwrap_or(f64::NAN);
                        }
                        Attribute::numeric(&names[at])
                    }
                    Made::Words(words) => {
                        let mut values: Vec<String> = Vec::new();
                        for (row, word) in words.into_iter().enumerate() {
                            let Some(word) = word else { continue };
                            let known = values.iter().position(|value| *value == word);
                            let value = known.unwrap_or(values.len());
                            values.extend(known.is_none().then_some(word));
                            cells[row * n_features + at] = value as f64;
                        }
                        Attribute::nominal(&names[at], values)
                    }
                });
            }
            let mut features = Dense::new(n_features);
            cells.chunks(n_features).for_each(|row| features.push_row(row));
            let mut labels = LabelMatrix::empty(n_rows, n_labels);
            for (at, is) in relevant.into_iter().enumerate() {
                labels.set(at / n_labels, LabelId(at % n_labels), is);
            }
            let label_names = names[n_features..].to_vec();
            Dataset::new("t", attributes, Matrix::Dense(features), label_names, labels).unwrap()
        })
    })
}

/// The cells as the file shows them: CSV keeps neither the order nor the unused of the values.
fn shown(data: &Dataset) -> Vec<Vec<String>> {
    let cell = |row: usize, column: usize| {
        let value = data.features().get(row, column);
        match data.attributes()[column].values() {
            _ if value.is_nan() => String::new(),
            None => format!("{:x}", value.to_bits()),
            Some(values) => format!("={}", values[value as usize]),
        }
    };
    let row = |row| (0..data.n_features()).map(|column| cell(row, column)).collect();
    (0..data.n_rows()).map(row).collect()
}

/// The records that the `csv` crate finds.
fn reference(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let fields =
        |record: csv::Result<csv::ByteRecord>| record.unwrap().iter().map(<[u8]>::to_vec).collect();
    reader.byte_records().map(fields).collect()
}

fn found(text: &[u8]) -> Result<Vec<Vec<Vec<u8>>>> {
    let lines = Lines::new(Path::new("t.csv"), text, Encoding::Utf8);
    let mut records = Records::new(lines, Some(b','), MAX_COLUMNS);
    let mut all = Vec::new();
    while let Some(record) = records.next()? {
        all.push((0..record.n_fields()).map(|field| record.bytes(field).to_vec()).collect());
    }
    Ok(all)
}

proptest! {
    #[test]
    fn what_is_written_reads_back(data in made_data()) {
        for (separator, name) in [(b',', "t.csv"), (b'\t', "t.tsv")] {
            let text = written(&data, separator);
            let options = last(data.n_labels());
            let read = parse(Path::new(name), text.as_bytes(), &options).unwrap();
            let read = read.into_rows().unwrap();
            prop_assert_eq!(shown(&read), shown(&data));
            prop_assert_eq!(read.labels(), data.labels());
            prop_assert_eq!(read.label_names(), data.label_names());
            for (read, made) in read.attributes().iter().zip(data.attributes()) {
                prop_assert_eq!(&read.name, &made.name);
                let mut values = made.values().unwrap_or_default().to_vec();
                values.sort();
                prop_assert_eq!(read.values().unwrap_or_default(), &values);
            }
        }
    }

    #[test]
    fn records_are_those_of_the_csv_crate(text in "[a\", \n]{0,40}", crlf: bool) {
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        if let Ok(records) = found(text.as_bytes()) {
            prop_assert_eq!(records, reference(text.as_bytes()));
        }
    }

    #[test]
    fn no_bytes_are_a_crash(text in prop::collection::vec(
        prop::sample::select(b"01a,\"\"\n\r\t;\xEF\xBB\xBF\xFF?.-e".to_vec()), 0..60,
    )) {
        for options in [last(1), ReadOptions { dedupe: true, ..tags(";") }] {
            let _ = parse(Path::new("t.csv"), &text, &options);
            let _ = parse(Path::new("t.tsv"), &[b"x\ttags\n", text.as_slice()].concat(), &options);
        }
    }
}
