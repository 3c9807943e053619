#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;

use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::data::{
    Attribute, Dataset, Dense, LabelChoice, LabelId, LabelMatrix, Matrix, MissingLabels, Reading,
    Sparse,
};

/// A file of these bytes called `x.parquet`, alone in its directory.
fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Reading> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    fs::write(&path, bytes).unwrap();
    read_whole(&path, File::open(&path).unwrap(), options)
}

fn read_whole(path: &Path, file: File, options: &ReadOptions) -> Result<Reading> {
    read(path, file, options, usize::MAX)?.next().unwrap()
}

fn written(data: &Dataset) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(data, &mut bytes).unwrap();
    bytes
}

fn round_trip(data: &Dataset) -> Dataset {
    read_bytes(&written(data), &ReadOptions::default()).unwrap().into_rows().unwrap()
}

/// What the reader says, with its help, and without the place of the file.
fn refusal(bytes: &[u8], options: &ReadOptions) -> String {
    message(read_bytes(bytes, options).unwrap_err())
}

fn message(error: Error) -> String {
    let text = error.to_string();
    let text = text.split_once("parquet: ").map(|(_, what)| what.to_string()).unwrap_or(text);
    match error.remedy() {
        Some(help) => format!("{text} ({help})"),
        None => text,
    }
}

fn foreign_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/parquet").join(name)
}

fn foreign(name: &str, options: &ReadOptions) -> Result<Reading> {
    let path = foreign_path(name);
    read_whole(&path, File::open(&path).unwrap(), options)
}

fn named(labels: &[&str]) -> ReadOptions {
    let labels = LabelChoice::Named(labels.iter().map(|&label| label.into()).collect());
    ReadOptions { labels, ..ReadOptions::default() }
}

fn tags(column: &str) -> ReadOptions {
    let labels = LabelChoice::Tags { column: column.into(), separator: ";".into() };
    ReadOptions { labels, ..ReadOptions::default() }
}

/// The bits of a column, missing cells alike.
fn column(data: &Dataset, name: &str) -> Vec<u64> {
    let at = data.attributes().iter().position(|attribute| attribute.name == name).unwrap();
    bits((0..data.n_rows()).map(|row| data.features().get(row, at)))
}

fn bits(cells: impl IntoIterator<Item = f64>) -> Vec<u64> {
    let one = |cell: f64| if cell.is_nan() { f64::NAN } else { cell };
    cells.into_iter().map(|cell| one(cell).to_bits()).collect()
}

fn values<'d>(data: &'d Dataset, name: &str) -> &'d [String] {
    let attribute = data.attributes().iter().find(|attribute| attribute.name == name).unwrap();
    attribute.values().unwrap()
}

fn relevant(data: &Dataset, row: usize) -> Vec<&str> {
    data.labels().relevant(row).map(|label| data.label_names()[label.0].as_str()).collect()
}

/// Two inputs, two labels, three rows.
fn small(is_sparse: bool) -> Dataset {
    let rows = [[-0.5, 2.0], [f64::NAN, 0.0], [f64::INFINITY, f64::NAN]];
    let mut dense = Dense::new(2);
    let mut sparse = Sparse::new(2);
    let mut labels = LabelMatrix::new(2);
    for (row, cells) in rows.iter().enumerate() {
        dense.push_row(cells);
        sparse.push_row([(0, cells[0]), (1, cells[1])]);
        labels.push_row();
        labels.set(row, LabelId(row % 2), true);
    }
    let attributes =
        vec![Attribute::numeric("size"), Attribute::nominal("colour", ["z", "unused", "a", ""])];
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    Dataset::new("x", attributes, features, vec!["b".into(), "a".into()], labels).unwrap()
}

#[test]
fn a_data_set_comes_back_with_its_labels_values_storage_and_weights() {
    for is_sparse in [false, true] {
        let mut data = small(is_sparse);
        assert_eq!(round_trip(&data), data);
        data.weights = Some(vec![0.1, 1.0, 5e-324]);
        assert_eq!(round_trip(&data), data);
    }
}

#[test]
fn numbers_survive_to_the_bit() {
    let odd = [-0.0, 0.0, f64::MIN_POSITIVE / 3.0, 0.1 + 0.2, f64::MAX, f64::NEG_INFINITY];
    let mut dense = Dense::new(1);
    odd.iter().for_each(|&cell| dense.push_row(&[cell]));
    let labels = LabelMatrix::empty(odd.len(), 1);
    let attributes = vec![Attribute::numeric("x")];
    let data =
        Dataset::new("x", attributes, Matrix::Dense(dense), vec!["y".into()], labels).unwrap();
    assert_eq!(column(&round_trip(&data), "x"), bits(odd));
}

#[test]
fn no_rows_no_inputs_and_no_labels_are_data_too() {
    for is_sparse in [false, true] {
        assert_eq!(round_trip(&small(is_sparse).select(&[])), small(is_sparse).select(&[]));
    }
    let mut dense = Dense::new(0);
    dense.push_row(&[]);
    let labels = LabelMatrix::empty(1, 1);
    let data = Dataset::new("x", vec![], Matrix::Dense(dense), vec!["y".into()], labels).unwrap();
    assert_eq!(round_trip(&data), data);

    let mut dense = Dense::new(1);
    dense.push_row(&[3.0]);
    let features = Matrix::Dense(dense);
    let attributes = vec![Attribute::numeric("x")];
    let data = Dataset::new("x", attributes, features, vec![], LabelMatrix::empty(1, 0)).unwrap();
    assert_eq!(round_trip(&data), data);
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let refused = |data: &Dataset| write(data, &mut Vec::new()).unwrap_err().to_string();
    let mut dense = Dense::new(0);
    dense.push_row(&[]);
    let labels = LabelMatrix::empty(1, 0);
    let data = Dataset::new("x", vec![], Matrix::Dense(dense), vec![], labels).unwrap();
    assert_eq!(refused(&data), "rows without columns cannot be said in Parquet");
    let mut data = small(false);
    data.label_names[1] = "size".into();
    assert_eq!(refused(&data), "two columns are called \"size\"");
    let mut data = small(false);
    let mut attributes = data.attributes.to_vec();
    attributes[0] = Attribute::nominal("size", ["a"]);
    data.attributes = attributes.into();
    assert!(refused(&data).ends_with("-0.5 is none of the values of \"size\""));
}

#[test]
fn row_groups_and_batches_join_without_a_seam() {
    let mut dense = Dense::new(2);
    let mut sparse = Sparse::new(2);
    let mut labels = LabelMatrix::new(1);
    for row in 0..10_000 {
        let cells = [row as f64, if row % 7 == 0 { f64::NAN } else { (row % 3) as f64 }];
        dense.push_row(&cells);
        sparse.push_row([(0, cells[0]), (1, cells[1])]);
        labels.push_row();
        labels.set(row, LabelId(0), row % 5 == 0);
    }
    for features in [Matrix::Dense(dense), Matrix::Sparse(sparse)] {
        let attributes =
            vec![Attribute::numeric("n"), Attribute::nominal("v", ["null", "one", "two"])];
        let names = vec!["l".into()];
        let data = Dataset::new("x", attributes, features, names, labels.clone()).unwrap();
        for group_rows in [9_999, 4_096, 100] {
            let mut bytes = Vec::new();
            write::write_parquet(&data, &mut bytes, group_rows).unwrap();
            let read = read_bytes(&bytes, &ReadOptions::default()).unwrap();
            assert!(read.into_rows().unwrap() == data, "{group_rows}");
        }
    }
}

#[test]
fn the_user_and_an_xml_file_know_better_than_the_metadata() {
    let bytes = written(&small(false));
    let data = read_bytes(&bytes, &named(&["a"])).unwrap().into_rows().unwrap();
    assert_eq!(data.label_names(), ["a"]);
    assert_eq!(values(&data, "b"), ["false", "true"]);
    assert_eq!(values(&data, "colour"), ["z", "unused", "a", ""]);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    fs::write(&path, &bytes).unwrap();
    fs::write(directory.path().join("x.xml"), "<labels><label name='a'/></labels>").unwrap();
    let read = read_whole(&path, File::open(&path).unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(read.into_rows().unwrap().label_names(), ["a"]);
}

#[test]
fn the_public_functions_write_and_read_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let table = crate::data::Table::Rows(small(true));
    crate::data::write(&table, &path).unwrap();
    assert_eq!(crate::data::read(&path, &ReadOptions::default()).unwrap().table, table);
}

#[test]
fn foreign_types_become_numbers_and_named_values() {
    let nan = f64::NAN;
    let day = 999_993_600_000.0;
    let options = ReadOptions { missing_labels: MissingLabels::Irrelevant, ..tags("tags") };
    let with_list = foreign("foreign.parquet", &options).unwrap();
    let flat = foreign("foreign-flat.parquet", &named(&["in_stock"])).unwrap();
    for data in [with_list, flat].map(|reading| reading.into_rows().unwrap()) {
        for (name, cells) in [
            ("small", [1.0, -2.0, nan, 4.0, 5.0]),
            ("count", [4_294_967_295.0, 0.0, 1.0, 2.0, 3.0]),
            ("big", [9_007_199_254_740_992.0, -1.0, 0.0, nan, 7.0]),
            ("half", [0.5, -2.0, 1.5, 0.0, nan]),
            ("single", [0.5, nan, f64::INFINITY, -0.0, nan]),
            ("ratio", [0.1, 1e300, nan, f64::NEG_INFINITY, -0.0]),
            ("organic", [1.0, nan, 0.0, 1.0, 0.0]),
            ("brand", [1.0, 2.0, nan, 0.0, 1.0]),
            ("colour", [2.0, 0.0, 2.0, nan, 1.0]),
            ("price", [1.1, -2.25, 0.0, 1000.01, 3.3]),
            ("day", [day, nan, day, day, 86_400_000.0]),
            ("moment", [1.5, nan, -1000.0, 0.0, 0.001]),
            ("nothing", [nan; 5]),
        ] {
            assert_eq!(column(&data, name), bits(cells), "{name}");
        }
        assert_eq!(values(&data, "organic"), ["false", "true"]);
        assert_eq!(values(&data, "brand"), ["Acme", "Zeta", "alpha"]);
        assert_eq!(values(&data, "colour"), ["blue", "grün", "red"]);
        assert!(matches!(data.features(), Matrix::Dense(_)));
    }
}

#[test]
fn tags_come_from_a_list_or_from_delimited_text() {
    let options = ReadOptions { missing_labels: MissingLabels::Irrelevant, ..tags("tags") };
    let reading = foreign("foreign.parquet", &options).unwrap();
    assert_eq!(reading.notes.len(), 1);
    assert_eq!(reading.notes[0].text, "1 row with a missing label read as irrelevant");
    let data = reading.into_rows().unwrap();
    assert_eq!(data.label_names(), ["bitter", "sweet", "vegan"]);
    let rows: Vec<Vec<&str>> = (0..5).map(|row| relevant(&data, row)).collect();
    assert_eq!(rows, [vec!["sweet", "vegan"], vec![], vec![], vec!["vegan"], vec!["bitter"]]);
    assert!(data.attributes().iter().all(|attribute| attribute.name != "tags"));

    let options = ReadOptions { missing_labels: MissingLabels::Drop, ..tags("tag_text") };
    let data = foreign("foreign-flat.parquet", &options).unwrap().into_rows().unwrap();
    assert_eq!(data.label_names(), ["a", "b", "c"]);
    let rows: Vec<Vec<&str>> = (0..4).map(|row| relevant(&data, row)).collect();
    assert_eq!(rows, [vec!["a", "b"], vec![], vec!["a", "c"], vec!["b"]]);
    assert_eq!(column(&data, "count"), bits([4_294_967_295.0, 0.0, 2.0, 3.0]));
}

#[test]
fn labels_are_read_from_booleans_numbers_and_words() {
    let options = ReadOptions { binarize: Some(">0".parse().unwrap()), ..named(&["rating"]) };
    let data = foreign("foreign-flat.parquet", &options).unwrap().into_rows().unwrap();
    assert_eq!(data.labels().counts(), [3]);
    let data = foreign("foreign-flat.parquet", &named(&["sold", "in_stock"])).unwrap();
    let data = data.into_rows().unwrap();
    assert_eq!(data.labels().counts(), [2, 3]);
    assert_eq!(relevant(&data, 3), ["sold"]);
}

#[test]
fn what_is_no_label_is_refused_with_row_and_remedy() {
    let message =
        |options: &ReadOptions| message(foreign("foreign-flat.parquet", options).unwrap_err());
    assert_eq!(
        message(&named(&["rating"])),
        "expected 0 or 1 for label \"rating\", found 5 in row 2 \
         (`binarize = >0`, or another comparison, makes numbers relevant or irrelevant)"
    );
    assert!(message(&named(&["brand"])).contains("for label \"brand\", found \"Zeta\" in row 0"));
    assert_eq!(
        message(&named(&["returned"])),
        "expected 0 or 1 for label \"returned\", found null, a missing value, in row 2 \
         (`missing_labels = drop` leaves such rows out, irrelevant reads them as 0, learn keeps what is there)"
    );
    assert!(
        message(&tags("tag_text")).starts_with("expected tags in column \"tag_text\", found null")
    );
    assert!(message(&tags("tag_txt")).contains("Did you mean \"tag_text\"?"));
    assert!(message(&tags("rating")).starts_with("expected text or a list of texts in tag column"));
    assert!(message(&ReadOptions::default()).starts_with("no labels found: no foreign-flat.xml"));
}

#[test]
fn missing_labels_are_irrelevant_or_drop_their_rows_as_chosen() {
    for (missing_labels, n_rows) in [(MissingLabels::Irrelevant, 5), (MissingLabels::Drop, 3)] {
        let options = ReadOptions { missing_labels, ..named(&["returned"]) };
        let reading = foreign("foreign-flat.parquet", &options).unwrap();
        assert_eq!(reading.notes[0].code, "missing-labels");
        assert!(reading.notes[0].text.starts_with("2 rows"));
        let data = reading.into_rows().unwrap();
        assert_eq!((data.n_rows(), data.labels().counts()), (n_rows, vec![1]));
    }
}

#[test]
fn unknown_labels_are_read_and_written_as_null() {
    let options = ReadOptions { missing_labels: MissingLabels::Learn, ..named(&["returned"]) };
    let foreign = foreign("foreign-flat.parquet", &options).unwrap().into_rows().unwrap();
    assert_eq!((foreign.n_rows(), foreign.labels().n_unknown()), (5, 2));

    let mut data = small(false);
    data.labels.forget(1, LabelId(0));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let table = crate::data::Table::Rows(data);
    crate::data::write(&table, &path).unwrap();
    let learn = ReadOptions { missing_labels: MissingLabels::Learn, ..ReadOptions::default() };
    assert_eq!(crate::data::read(&path, &learn).unwrap().table, table);
    assert!(crate::data::read(&path, &ReadOptions::default()).is_err());
}

#[test]
fn columns_of_no_use_are_named_with_their_type_and_the_remedy() {
    let error = foreign("foreign.parquet", &named(&["in_stock"])).unwrap_err();
    assert_eq!(
        message(error),
        "expected numbers, booleans or text in column \"tags\", found a list of texts \
         (`tags = tags` reads it as labels; otherwise leave the column out when writing the file, \
         or flatten it)"
    );
    for (field, found) in [
        ("required fixed_len_byte_array(16) x (UUID)", "FIXED_LEN_BYTE_ARRAY (UUID)"),
        ("required fixed_len_byte_array(12) x (INTERVAL)", "FIXED_LEN_BYTE_ARRAY (INTERVAL)"),
        ("required fixed_len_byte_array(3) x", "FIXED_LEN_BYTE_ARRAY (bytes)"),
        ("optional group x { required int32 a; required int32 b; }", "a struct"),
        ("optional group x { required int32 a; }", "a struct"),
        ("repeated int32 x", "a list"),
        ("optional group x (LIST) { repeated group list { optional int32 element; } }", "a list"),
    ] {
        assert_eq!(
            refusal(&empty(field), &named(&["y"])),
            format!(
                "expected numbers, booleans or text in column \"x\", found {found} \
                 (leave the column out when writing the file, or flatten it)"
            )
        );
    }
}

/// A file without rows that has a label `y` and this field.
fn empty(field: &str) -> Vec<u8> {
    with_metadata(&format!("message m {{ {field}; required boolean y; }}"), None)
}

fn with_metadata(schema: &str, about: Option<&str>) -> Vec<u8> {
    let schema = schema.replace("};", "}");
    let schema = std::sync::Arc::new(parse_message_type(&schema).unwrap());
    let entry = about.map(|text| {
        vec![parquet::file::metadata::KeyValue::new(about::KEY.into(), text.to_string())]
    });
    let properties = WriterProperties::builder().set_key_value_metadata(entry).build();
    let mut bytes = Vec::new();
    SerializedFileWriter::new(&mut bytes, schema, properties.into()).unwrap().close().unwrap();
    bytes
}

#[test]
fn metadata_is_not_believed() {
    let message = |about: &str| {
        let schema = "message m { required binary v (UTF8); required boolean y; }";
        refusal(&with_metadata(schema, Some(about)), &ReadOptions::default())
    };
    let ours = |change: &str| {
        let about = r#"{"version":1,"labels":["y"],"nominal":{},"storage":"dense"}"#;
        let mut about: serde_json::Value = serde_json::from_str(about).unwrap();
        let change: serde_json::Value = serde_json::from_str(change).unwrap();
        for (key, value) in change.as_object().unwrap() {
            about[key] = value.clone();
        }
        message(&about.to_string())
    };
    for (change, found) in [
        (r#"{"version":2}"#, "expected labelchain metadata of version 1, found version 2 (a newer"),
        (r#"{"version":"x"}"#, "expected version 1 in its labelchain metadata, found \"x\""),
        (r#"{"labels":["y","gone"]}"#, "found \"gone\", which is no column"),
        (r#"{"labels":["y","y"]}"#, "expected each label once"),
        (r#"{"labels":[1]}"#, "expected a list of labels"),
        (r#"{"nominal":{"gone":["a"]}}"#, "found \"gone\", which is no column"),
        (r#"{"nominal":{"y":["a"]},"labels":[]}"#, "found \"y\", which is not text"),
        (r#"{"nominal":{"v":["a","a"]}}"#, "expected the values of \"v\", each once"),
        (r#"{"nominal":[]}"#, "expected nominal columns"),
        (r#"{"storage":"heap"}"#, "expected \"dense\" or \"sparse\" storage"),
        (r#"{"weights":["1"]}"#, "expected a weight for each row"),
        (r#"{"weights":[1]}"#, "expected row weights as texts"),
    ] {
        assert!(ours(change).contains(found), "{change}: {}", ours(change));
    }
    assert!(message("{").starts_with("expected JSON in its labelchain metadata"));
    assert!(message("[]").contains("expected version 1"));
}

#[test]
fn a_value_that_is_not_declared_is_named_with_its_row() {
    let data = small(false);
    let mut bytes = written(&data);
    // The metadata stands uncompressed in the footer.
    let at = bytes.windows(6).rposition(|window| window == b"unused").unwrap();
    let z = bytes[..at].iter().rposition(|&byte| byte == b'z').unwrap();
    bytes[z] = b'y';
    assert_eq!(
        refusal(&bytes, &ReadOptions::default()).split(" (").next().unwrap(),
        "expected one of the 4 values {y,unused,a,} declared for \"colour\", found \"z\" in row 1"
    );
}

#[test]
fn repeated_names_are_refused_or_numbered() {
    let bytes = empty("optional int32 y");
    assert!(refusal(&bytes, &named(&["y"])).contains("occurs 2 times"));
    let options = ReadOptions { dedupe: true, ..named(&["y.2"]) };
    let data = read_bytes(&bytes, &options).unwrap().into_rows().unwrap();
    assert_eq!(data.label_names(), ["y.2"]);
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let mut dense = Dense::new(2);
    let mut labels = LabelMatrix::new(1);
    for row in 0..1000 {
        dense.push_row(&[row as f64, 0.0]);
        labels.push_row();
    }
    let attributes = vec![Attribute::numeric("a"), Attribute::numeric("b")];
    let names = vec!["l".into()];
    let data = Dataset::new("x", attributes, Matrix::Dense(dense), names, labels).unwrap();
    let limited = |max_memory| ReadOptions { max_memory, ..ReadOptions::default() };
    let bytes = written(&data);
    assert!(read_bytes(&bytes, &limited(60_000)).is_ok());
    assert!(refusal(&bytes, &limited(20_000)).starts_with("1000 rows of 3 columns needs more"));
}

/// The file with another number of rows in its footer, for the group and for each column.
fn claiming(bytes: &[u8], n_rows: i64, n_values: i64) -> Vec<u8> {
    use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    fs::write(&path, bytes).unwrap();
    let file = File::open(&path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let mut builder = metadata.into_builder();
    for group in builder.take_row_groups() {
        let mut group = group.into_builder().set_num_rows(n_rows);
        let columns = group.take_columns();
        let columns = columns
            .into_iter()
            .map(|column| column.into_builder().set_num_values(n_values).build().unwrap());
        let group = group.set_column_metadata(columns.collect());
        builder = builder.add_row_group(group.build().unwrap());
    }
    let metadata = builder.build();
    let footer = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap());
    let mut changed = bytes[..footer - length as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &metadata).finish().unwrap();
    changed
}

#[test]
fn rows_that_are_not_there_are_not_made_room_for() {
    let bytes = written(&small(false));
    let default = ReadOptions::default();
    assert!(read_bytes(&claiming(&bytes, 3, 3), &default).is_ok());
    let many = 1_000_000_000_000;
    assert!(
        refusal(&claiming(&bytes, many, many), &default)
            .contains("as many cells in column \"b\" as there are rows, found fewer")
    );
    assert!(
        refusal(&claiming(&bytes, many, 3), &default)
            .contains("found 3 values in a row group of 1000000000000 rows")
    );
    assert!(refusal(&claiming(&bytes, -1, -1), &default).contains("a row group of -1 rows"));
    let limited = ReadOptions { max_memory: 1 << 30, ..default };
    assert_eq!(
        refusal(&claiming(&bytes, many, many), &limited),
        "1000000000000 rows of 4 columns needs more than the 1 GiB allowed \
         (`max_memory` raises the limit: twice as much is 2GiB)"
    );
}

#[test]
fn halves_moments_and_decimals_mean_what_they_say() {
    for (bits, value) in
        [(0x3C00, 1.0), (0xC000, -2.0), (0x0001, 2f64.powi(-24)), (0x7C00, f64::INFINITY)]
    {
        assert_eq!(chunk::half(bits), value);
    }
    assert!(chunk::half(0x7E00).is_nan());
    assert_eq!(chunk::moment(&[0, 0, 2_440_588]), 0.0);
    assert_eq!(chunk::moment(&[1_500_000, 0, 2_440_587]), -86_399_998.5);
    assert_eq!(chunk::decimal(&[0xFF, 0x38]), Some(-200));
    assert_eq!((chunk::decimal(&[]), chunk::decimal(&[0; 17])), (None, None));
}

/// Blocks end before, at and behind the ends of row groups, of pages, and of the file.
#[test]
fn blocks_are_the_rows_of_the_file_one_after_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    for is_sparse in [false, true] {
        let (mut dense, mut sparse) = (Dense::new(2), Sparse::new(2));
        let mut labels = LabelMatrix::empty(23, 2);
        for row in 0..23 {
            let cells = [row as f64, (row % 3) as f64];
            dense.push_row(&cells);
            sparse.push_row((0..2).zip(cells).filter(|cell| cell.1 != 0.0));
            labels.set(row, LabelId(row % 2), true);
        }
        labels.forget(11, LabelId(1));
        let attributes = vec![Attribute::numeric("x"), Attribute::nominal("c", ["u", "w", "v"])];
        let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
        let names = vec!["a".into(), "b".into()];
        let mut data = Dataset::new("x", attributes, features, names, labels).unwrap();
        data.weights = Some((0..23).map(f64::from).collect());
        let mut bytes = Vec::new();
        write::write_parquet(&data, &mut bytes, 7).unwrap();
        fs::write(&path, bytes).unwrap();
        let options =
            ReadOptions { missing_labels: MissingLabels::Learn, ..ReadOptions::default() };
        for n_rows in 1..=24 {
            let mut first = 0;
            for block in read(&path, File::open(&path).unwrap(), &options, n_rows).unwrap() {
                let block = block.unwrap();
                let has_note = block.notes.iter().any(|note| note.code == "row-weights-ignored");
                assert_eq!(has_note, first == 0);
                let block = block.into_rows().unwrap();
                assert!(block.n_rows() == n_rows || first + block.n_rows() == 23);
                let rows: Vec<usize> = (first..first + block.n_rows()).collect();
                assert_eq!(block, data.select(&rows), "{n_rows} rows from {first}");
                first += block.n_rows();
            }
            assert_eq!(first, 23);
        }
        // A fault is named by its row in the file, and is the end of it.
        let refuse = ReadOptions::default();
        let mut blocks = read(&path, File::open(&path).unwrap(), &refuse, 5).unwrap();
        assert!(blocks.next().unwrap().is_ok() && blocks.next().unwrap().is_ok());
        let text = message(blocks.next().unwrap().unwrap_err());
        assert!(text.contains("found null, a missing value, in row 11"), "{text}");
        assert!(blocks.next().is_none());
    }
}

/// What an open column needs is a page, but not the memory of all rows.
#[test]
fn a_table_larger_than_the_limit_is_read_in_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let n_rows = 100_000;
    let cells = (0..n_rows).map(|row| (row % 100) as f64).collect();
    let features = Matrix::Dense(Dense::from_cells(n_rows, 1, cells).unwrap());
    let labels = LabelMatrix::empty(n_rows, 1);
    let data = Dataset::new("x", vec![Attribute::numeric("x")], features, vec!["a".into()], labels);
    fs::write(&path, written(&data.unwrap())).unwrap();
    let few = ReadOptions { max_memory: 400_000, ..ReadOptions::default() };
    let whole = read_whole(&path, File::open(&path).unwrap(), &few);
    assert!(matches!(whole, Err(Error::TooLarge { .. })));
    let blocks = read(&path, File::open(&path).unwrap(), &few, 1000).unwrap();
    let mut row = 0;
    for block in blocks {
        let block = block.unwrap().into_rows().unwrap();
        for at in 0..block.n_rows() {
            assert_eq!(block.features().get(at, 0), (row % 100) as f64);
            row += 1;
        }
    }
    assert_eq!(row, n_rows);
}

/// Reads a file with each byte flipped in three ways, and cut at each length.
fn read_damaged(bytes: &[u8], options: &ReadOptions) -> usize {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    fs::write(&path, bytes).unwrap();
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut n_refused = 0;
    let mut check = |file: &File, how: &str| {
        let file = file.try_clone().unwrap();
        let blocks = || {
            read_whole(&path, file.try_clone().unwrap(), options)?;
            read(&path, file, options, 3)?.try_for_each(|block| block.map(drop))
        };
        match std::panic::catch_unwind(AssertUnwindSafe(blocks)) {
            Ok(Err(Error::Io { source, .. })) => panic!("{how}: taken for the system's: {source}"),
            Ok(Err(_)) => n_refused += 1,
            Ok(Ok(_)) => {}
            Err(_) => panic!("{how}: panicked"),
        }
    };
    for (at, byte) in bytes.iter().enumerate() {
        for flip in [0x01, 0x80, 0xFF, 0] {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&[byte ^ flip]).unwrap();
            check(&file, &format!("byte {at} flipped by {flip:#x}"));
        }
    }
    for length in (0..bytes.len()).rev() {
        file.set_len(length as u64).unwrap();
        check(&file, &format!("cut at {length}"));
    }
    n_refused
}

#[test]
fn damaged_files_are_refused_or_read_but_never_panic() {
    for is_sparse in [false, true] {
        let bytes = written(&small(is_sparse));
        assert!(read_damaged(&bytes, &ReadOptions::default()) > bytes.len());
    }
}

#[test]
#[ignore = "takes half a minute"]
fn damaged_foreign_files_are_refused_or_read_but_never_panic() {
    for (name, column) in [("foreign.parquet", "tags"), ("foreign-flat.parquet", "tag_text")] {
        let options = ReadOptions { missing_labels: MissingLabels::Drop, ..tags(column) };
        let bytes = fs::read(foreign_path(name)).unwrap();
        assert!(read_damaged(&bytes, &options) > bytes.len());
    }
}

/// Texts that a careless writer or reader would spoil.
fn odd_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("".to_string()),
        Just("null".to_string()),
        Just("?".to_string()),
        "[a-c]{1,2}",
        any::<String>(),
    ]
}

fn odd_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(f64::NAN),
        any::<f64>(),
        any::<u64>().prop_map(f64::from_bits)
    ]
}

fn any_data() -> impl Strategy<Value = Dataset> {
    let kinds =
        prop::collection::vec(prop::option::of(prop::collection::hash_set(odd_text(), 1..4)), 0..4);
    let shape = (kinds, 0..12usize, 1..70usize, any::<bool>(), any::<bool>());
    shape.prop_flat_map(|(kinds, n_rows, n_labels, is_sparse, is_weighted)| {
        let n_names = kinds.len() + n_labels;
        let names = prop::collection::vec(odd_text(), n_names);
        let cells = prop::collection::vec((odd_number(), 0..5usize), n_rows * kinds.len());
        let relevant = prop::collection::vec(any::<bool>(), n_rows * n_labels);
        let weight = any::<f64>().prop_filter("finite", |weight| weight.is_finite());
        let weights = prop::collection::vec(weight, n_rows);
        (names, cells, relevant, weights).prop_map(move |(names, cells, relevant, weights)| {
            let mut seen = std::collections::HashSet::new();
            let mut names = names.into_iter().enumerate().map(|(at, name)| {
                if seen.insert(name.clone()) { name } else { format!("{name} {at} again") }
            });
            let attributes: Vec<Attribute> = kinds
                .iter()
                .zip(&mut names)
                .map(|(values, name)| match values {
                    None => Attribute::numeric(name),
                    Some(values) => Attribute::nominal(name, values.clone()),
                })
                .collect();
            let mut dense = Dense::new(kinds.len());
            let mut sparse = Sparse::new(kinds.len());
            let mut labels = LabelMatrix::new(n_labels);
            for row in 0..n_rows {
                let of_row = &cells[row * kinds.len()..][..kinds.len()];
                let of_row: Vec<f64> = std::iter::zip(&kinds, of_row)
                    .map(|(values, &(number, place))| match values {
                        None => number,
                        Some(values) if place < values.len() => place as f64,
                        Some(_) => f64::NAN,
                    })
                    .collect();
                dense.push_row(&of_row);
                sparse.push_row((0..).zip(of_row));
                labels.push_row();
                for label in labels.ids() {
                    labels.set(row, label, relevant[row * n_labels + label.0]);
                }
            }
            let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
            let mut data =
                Dataset::new("x", attributes, features, names.collect(), labels).unwrap();
            data.weights = is_weighted.then_some(weights);
            data
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_data_set_comes_back_as_it_was(data in any_data()) {
        prop_assert_eq!(round_trip(&data), data);
    }
}
