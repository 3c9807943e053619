//! Any bytes are safe to read as results, and what is read can be compared.
#![no_main]

use labelchain::experiment::Results;
use labelchain::report::compare;
use labelchain::stats::{Gaps, TestPlan};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    if let Ok(results) = Results::parse("fuzz.csv".as_ref(), text) {
        let plan = TestPlan { gaps: Gaps::WorstRank, ..TestPlan::default() };
        let _ = compare(&results, &[], plan);
    }
});
