//! A disk that fails, fills up, or a process that is killed at any call: each output is the old one or
//! the new one, never a third thing, and the status and the message say what happened.
//!
//! `faults/supervisor.c` runs the program and interferes with one of its calls. Each command here is
//! run once to count its calls, and then once for each call and fault.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod place;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

use place::Place;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// An error number of the system.
    Fails(i32),
    Killed,
}

/// Input or output error: the disk is broken.
const EIO: Fault = Fault::Fails(5);
/// No space left on the device.
const ENOSPC: Fault = Fault::Fails(28);

/// The supervisor, compiled once for all tests.
fn supervisor() -> &'static Path {
    static PROGRAM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("supervisor");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/supervisor.c");
        let compiled = Command::new("cc").arg("-o").arg(&program).arg(source).status().unwrap();
        assert!(compiled.success(), "SQLite needs a C compiler as well");
        (directory, program)
    });
    program
}

/// How a run ended, and which calls it made.
struct Run {
    status: i32,
    error: String,
    calls: Vec<String>,
}

/// Runs a line, with a fault at its n-th call, counted from 1, or with none.
fn run(place: &Place, line: &str, fault: Option<(usize, Fault)>) -> Run {
    // The supervisor counts from 1, so that no call is the 0th.
    let (at, fault) = fault.unwrap_or((0, Fault::Killed));
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new(supervisor())
        .arg(log.path())
        .arg(at.to_string())
        .arg(match fault {
            Fault::Fails(number) => number.to_string(),
            Fault::Killed => "kill".into(),
        })
        .arg(env!("CARGO_BIN_EXE_labelchain"))
        .args(line.split(' '))
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(place.0.path())
        .output()
        .unwrap();
    let status = output.status.code().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_ne!(status, 125, "the supervisor failed: {error}");
    let calls = fs::read_to_string(log.path()).unwrap().lines().map(String::from).collect();
    Run { status, error, calls }
}

/// The content of every file below a directory, by its path from there.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = contents(&entry.path());
            all.extend(
                below.into_iter().map(|(path, content)| (format!("{name}/{path}"), content)),
            );
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

fn is_part(path: &str) -> bool {
    path.trim_start_matches("./").starts_with(".labelchain-")
}

/// Rows whose labels follow their inputs.
fn rows() -> Place {
    let mut text = String::from("x,y,a,b\n");
    for row in 0..20 {
        let _ = writeln!(text, "{},{},{},{}", row % 7, row * 3, row % 2, u8::from(row > 9));
    }
    let place = Place::new().with("rows.csv", text);
    place.ok(&["convert", "rows.csv", "rows.arff", "--labels-last", "2"]);
    place.ok(&["train", "rows.arff", "-o", "model", "-m", "br-nb", "--members", "1"]);
    place
}

fn study() -> Place {
    let sets = "[{ file = \"other.csv\", labels-last = 2 }, { file = \"rows.arff\" }]";
    let methods = "[\"br-nb\", \"ecc-nb\"]\n[settings]\nmembers = 1\n";
    let place = rows().with("p.toml", format!("folds = 2\nsets = {sets}\nmethods = {methods}"));
    // Without a label list beside it.
    fs::rename(place.path("rows.csv"), place.path("other.csv")).unwrap();
    place
}

/// Runs a line once for each of its calls and each fault that can happen there, and gives `verdict`
/// the place, the run, the fault and the call to judge.
fn at_every_call(
    start: &Place,
    line: &str,
    verdict: impl Fn(&Place, &Run, Fault, &str) -> Result<(), String> + Sync,
) {
    let whole = run(&start.copy(), line, None);
    assert_eq!(whole.status, 0, "{line}: {}", whole.error);
    let mut jobs = Vec::new();
    for (before, call) in whole.calls.iter().enumerate() {
        jobs.push((before + 1, EIO));
        // Reading fills no disk, and a kill before it leaves what one before the next change leaves.
        if !call.contains("read") {
            jobs.extend([(before + 1, ENOSPC), (before + 1, Fault::Killed)]);
        }
    }
    assert!(jobs.len() > 20, "{line}: the calls were not seen: {:?}", whole.calls);
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(&(at, fault)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let place = start.copy();
                    let run = run(&place, line, Some((at, fault)));
                    let call = run.calls.get(at - 1).map_or("", String::as_str);
                    if let Err(problem) = verdict(&place, &run, fault, call) {
                        let text = format!("{fault:?} at {at}, {call}: {problem}: {}", run.error);
                        wrong.lock().unwrap().push((at, text));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    let listed: Vec<&str> = wrong.iter().map(|(_, text)| text.as_str()).collect();
    assert!(wrong.is_empty(), "{line}\n{}", listed.join("\n"));
}

/// A run that is told of a failed call says so, with status 3. The others, all of them:
fn ended_as_it_should(run: &Run, fault: Fault, call: &str, is_done: bool) -> Result<(), String> {
    let (name, file) = call.split_once(' ').unwrap_or_default();
    let is_looked_for = ["openat out.xml", "openat made"].contains(&call);
    let is_unnamed = name.starts_with("open") && (file == "." || is_part(file));
    let is_sweep = name == "unlink" && is_part(file);
    let is_data = file == "other.csv" || file.starts_with("rows.");
    match (fault, run.status) {
        // How many calls a study makes depends on how many cells are done at a time.
        (_, 0) if call.is_empty() => Ok(()),
        (Fault::Killed, 137) => Ok(()),
        (Fault::Fails(_), _) if !run.error.starts_with("error: ") && run.status != 0 => {
            Err("no message".into())
        }
        (Fault::Fails(_), 3) => Ok(()),
        // A study goes on without a set that it cannot read, and says which cells failed.
        (Fault::Fails(_), 1) if is_data => Ok(()),
        // SQLite takes a page that the disk does not give back for a damaged one.
        (EIO, 2) if name == "pread64" && file == "p.db" => Ok(()),
        // SQLite opens a file again that it could not open to write, and then only reads; whether
        // another run is at work is asked as a courtesy; what must not be there is looked for.
        (Fault::Fails(_), 0) if is_done && (file == "p.db" || is_looked_for) => Ok(()),
        // A file that cannot be made without a name is made with one; an old file that cannot have a
        // second name is copied; what a killed run may have left is removed if it can be seen.
        (Fault::Fails(_), 0) if is_done && (is_unnamed || name == "linkat" || is_sweep) => Ok(()),
        // A checksum is that of all of a file if only its end could not be seen.
        (Fault::Fails(_), 0) if is_data && name == "read" => Ok(()),
        (_, status) => Err(format!("status {status}")),
    }
}

/// Runs a line that writes `outputs`, each a file or a directory.
fn outputs_are_old_or_new(start: &Place, line: &str, outputs: &[&str]) {
    let old = contents(start.0.path());
    let done = start.copy();
    assert_eq!(run(&done, line, None).status, 0);
    let new = contents(done.0.path());
    let of = |output: &str, all: &BTreeMap<String, Vec<u8>>| -> Vec<(String, Vec<u8>)> {
        let is_its = |path: &str| path == output || path.starts_with(&format!("{output}/"));
        all.iter()
            .filter(|(path, _)| is_its(path))
            .map(|(path, content)| (path.clone(), content.clone()))
            .collect()
    };
    assert!(outputs.iter().all(|output| of(output, &new) != of(output, &old)), "{line}");
    at_every_call(start, line, |place, run, fault, call| {
        let now = contents(place.0.path());
        for output in outputs {
            let now = of(output, &now);
            if now != of(output, &old) && now != of(output, &new) {
                return Err(format!("{output} is neither the old one nor the new one"));
            }
        }
        let n_new = outputs.iter().filter(|output| of(output, &now) == of(output, &new)).count();
        if fault != Fault::Killed && n_new > 0 && n_new < outputs.len() {
            return Err(format!("{n_new} of the outputs are new, and not the others"));
        }
        if fault == Fault::Killed {
            let (_, _, error) = place.run(&line.split(' ').collect::<Vec<_>>());
            if let Some(left) = contents(place.0.path()).keys().find(|path| is_part(path)) {
                return Err(format!("the next run does not remove {left}: {error}"));
            }
        }
        // What a failed call should have removed stays, for the next run to remove.
        let could_not_be_removed =
            |path: &String| call.replace("./", "") == format!("unlink {path}");
        let may_stay = |path: &String| fault == Fault::Killed && is_part(path);
        let other = now.keys().find(|path| {
            !new.contains_key(*path) && !may_stay(path) && !could_not_be_removed(path)
        });
        match other {
            Some(other) => Err(format!("{other} was left behind")),
            None => ended_as_it_should(run, fault, call, n_new == outputs.len()),
        }
    });
}

#[test]
fn a_model_is_the_old_one_or_the_new_one() {
    let start = rows().with("out", "old");
    outputs_are_old_or_new(&start, "train rows.arff -m br-nb --members 1 --force -o out", &["out"]);
}

#[test]
fn predictions_and_explanations_are_old_or_new() {
    let start = rows().with("out.csv", "old").with("why.jsonl", "old");
    let line = "predict model rows.arff -o out.csv --explain why.jsonl --force";
    outputs_are_old_or_new(&start, line, &["out.csv", "why.jsonl"]);
}

#[test]
fn a_converted_data_set_is_the_old_one_or_the_new_one() {
    let start = rows().with("out.csv.gz", "old").with("out.parquet", "old");
    outputs_are_old_or_new(
        &start,
        "convert rows.arff out.csv.gz --force",
        &["out.csv.gz", "out.xml"],
    );
    outputs_are_old_or_new(&start, "convert rows.arff out.parquet --force", &["out.parquet"]);
}

#[test]
fn a_report_is_the_old_one_or_the_new_one_or_none() {
    let start = study().with("out.html", "old");
    start.ok(&["study", "run", "p.toml"]);
    outputs_are_old_or_new(&start, "study report p.toml -o out.html --force", &["out.html"]);
    outputs_are_old_or_new(
        &start,
        "study report p.toml -o made --criteria hamming --force",
        &["made"],
    );
}

/// Every loss, without the seconds.
fn losses(place: &Place) -> Vec<String> {
    let table = place.ok(&["study", "export", "p.toml"]);
    table.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect()
}

#[test]
fn a_disturbed_study_is_completed_by_the_next_run_to_the_same_losses() {
    let undisturbed = study();
    undisturbed.ok(&["study", "run", "p.toml"]);
    let expected = losses(&undisturbed);
    let half_done = study();
    half_done.ok(&["study", "run", "p.toml", "--only", "method=br-nb"]);
    for start in [study(), half_done] {
        at_every_call(&start, "study run p.toml --jobs 1", |place, run, fault, call| {
            let (status, _, error) = place.run(&["study", "run", "p.toml"]);
            if status != 0 {
                return Err(format!("the next run ends with {status}: {error}"));
            }
            if losses(place) != expected {
                return Err("the next run has other losses".into());
            }
            let left =
                place.files().into_iter().find(|name| is_part(name) || name.contains(".db-"));
            match left {
                Some(left) => Err(format!("{left} was left behind")),
                None => ended_as_it_should(run, fault, call, false),
            }
        });
    }
}
