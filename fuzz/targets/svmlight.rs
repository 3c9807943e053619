//! Any bytes are safe to read as SVMLight.
#![no_main]

use labelchain::data::{Description, ReadOptions, parse};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let options = ReadOptions { max_memory: 64 << 20, ..ReadOptions::default() };
    if let Ok(reading) = parse("fuzz.svm".as_ref(), text, &options) {
        let _ = Description::of(&reading.table, &reading.notes);
    }
});
