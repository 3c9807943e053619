//! One target for each reader, chosen by `LABELCHAIN_FUZZ`; `run` sets it.
#![no_main]

#[path = "../crates/labelchain/tests/any_bytes/mod.rs"]
mod any_bytes;

use std::sync::LazyLock;

/// The reader to be fuzzed.
static READ: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    // libFuzzer's hook aborts at every panic, also at those that the library catches: some damaged
    // Parquet files cause one in the crate that reads them. A panic that arrives here still aborts.
    let _ = std::panic::take_hook();
    let wanted = std::env::var("LABELCHAIN_FUZZ").unwrap_or_default();
    let found = any_bytes::TARGETS.iter().find(|(name, _)| *name == wanted);
    let names: Vec<&str> = any_bytes::TARGETS.iter().map(|(name, _)| *name).collect();
    found.unwrap_or_else(|| panic!("LABELCHAIN_FUZZ is none of {}", names.join(" "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| READ(bytes));
