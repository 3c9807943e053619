//! The tour is true: its commands run as written, print what it shows, and draw its pictures.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Blocks of code in a document: language and text.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    let fenced = document.split("```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap()).collect()
}

/// Whether a page reads as shown, where a line of three dots stands for any lines.
fn reads(page: &str, shown: &str) -> bool {
    let Some((start, rest)) = shown.split_once("…\n") else { return page == shown };
    let Some(page) = page.strip_prefix(start) else { return false };
    let ends = page.match_indices('\n').map(|(at, _)| at + 1);
    [0].into_iter().chain(ends).any(|at| reads(&page[at..], rest))
}

/// Runs the commands of a document in an empty directory, each block in a shell, and compares what they print with
/// what is shown below them. `with_notes` says whether notes are shown, too, or there must be none.
fn runs_as_written(document: &str, place: &Path, with_notes: bool) {
    let ours = Path::new(env!("CARGO_BIN_EXE_labelchain")).parent().unwrap().to_path_buf();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([ours].into_iter().chain(env::split_paths(&path))).unwrap();
    let mut page = String::new();
    for (language, text) in blocks(document) {
        if language == "sh" {
            let line = if with_notes { format!("exec 2>&1\n{text}") } else { text.to_string() };
            let mut shell = Command::new("sh");
            let shell = shell.args(["-e", "-c", &line]).current_dir(place);
            let output = shell.env("PATH", &path).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            page = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && error.is_empty(), "{text}{page}{error}");
        } else {
            assert!(reads(&page, text), "The tour shows\n\n{text}\n\nbut it is\n\n{page}");
        }
    }
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn the_tour_runs_as_written_and_prints_what_it_shows() {
    let tour = fs::read_to_string(docs().join("tour.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    runs_as_written(&tour, place.path(), false);
    for picture in ["mean-ranks.svg", "radar.svg", "cd-macro-f1.svg"] {
        let shown = fs::read_to_string(docs().join("pictures").join(picture)).unwrap();
        let drawn = place.path().join("report/figures").join(picture);
        assert!(shown == fs::read_to_string(drawn).unwrap(), "docs/pictures/{picture} is another");
    }
}

#[test]
fn the_way_from_a_spreadsheet_to_a_service_runs_as_written() {
    let tour = fs::read_to_string(docs().join("tour-tickets.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    runs_as_written(&tour, place.path(), true);
}
