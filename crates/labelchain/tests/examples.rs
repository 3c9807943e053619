//! The examples run and say what they promise. `cargo test` builds them; a narrower run, which may
//! not have, skips them and says so.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::env::{consts::EXE_SUFFIX, current_exe};
use std::process::Command;

#[test]
fn examples_say_what_they_promise() {
    for (name, words) in [
        ("why", ["predicted  label", "step  label    local F1  support"]),
        ("any_order", ["backwards  label6 label5 label4", "zero-one loss"]),
        ("two_methods", ["10 data sets: wins, ties and losses of dynamic-nb", "  Macro F1 "]),
        ("custom_base", ["dynamic-centroid", "zero-one loss"]),
        ("bags", ["regions in picture 1: 3", "as single rows: to_row_"]),
    ] {
        let directory = current_exe().unwrap().ancestors().nth(2).unwrap().join("examples");
        let program = directory.join(format!("{name}{EXE_SUFFIX}"));
        if !program.exists() {
            eprintln!("skipped: {name} is not built");
            continue;
        }
        let output = Command::new(program).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        for word in words {
            assert!(page.contains(word), "{name}: {page}");
        }
    }
}
