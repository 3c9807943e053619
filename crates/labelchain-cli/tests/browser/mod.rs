//! The browser that pages are looked at in.

use std::io::Write as _;
use std::process::Command;

/// The name of its program; none where there is none, and a line says so.
pub(crate) fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: no Chromium; Debian has it in chromium");
    }
    found
}
