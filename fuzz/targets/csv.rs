//! Any bytes are safe to read as CSV, with labels in columns and in tags.
#![no_main]

use labelchain::data::{Description, LabelChoice, MissingLabels, ReadOptions, parse};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let tags = LabelChoice::Tags { column: "t".into(), separator: ";".into() };
    for labels in [LabelChoice::Last(1), tags] {
        let options = ReadOptions {
            labels,
            missing_labels: MissingLabels::Drop,
            dedupe: true,
            max_memory: 64 << 20,
            ..ReadOptions::default()
        };
        if let Ok(reading) = parse("fuzz.csv".as_ref(), text, &options) {
            let _ = Description::of(&reading.table, &reading.notes);
        }
    }
});
