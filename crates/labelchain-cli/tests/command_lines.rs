//! Whatever is typed, the program ends by itself and with a status that its help names: no panic, no
//! signal, no hang.
//!
//! Valid lines for every command are mutated by a seeded generator, with options taken from the
//! program's own help. Each line runs in a directory of its own with files good and bad, two threads,
//! 2 GB of address space and ten seconds of processor time, which a busy machine may take longer over.
//! `LABELCHAIN_LINES=100000 cargo test -p labelchain-cli --test command_lines` runs more of them, and
//! `LABELCHAIN_SEED=2` others.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod place;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use labelchain::seed::{Rng, Seed};
use place::{Place, copy};

/// At least one valid line for each command, on the files that `files` makes.
const LINES: [&str; 40] = [
    // It takes seconds: the mutations that leave out the second word are enough.
    "demo --help",
    "datasets --json",
    "datasets --check .",
    "datasets fetch yeast --cache cache --tries 1 --timeout 1 --wait 0",
    "generate hypercubes --rows 9 --labels 2 --relevant 3 --irrelevant 1 --redundant 1 -o made.arff",
    "generate hyperspheres --rows 9 --labels 2 --relevant 3 --irrelevant 1 --redundant 1 -o made.svm.gz",
    "generate network --rows 9 --features 3 --labels 3 --decimals 2 -o made.csv",
    "generate tickets --rows 9 --seed 3 -o made.csv",
    "train words.csv --labels c --text t --id i --drop d --keep k -o made.labelchain -m br-nb --members 1",
    "describe rows.arff --json",
    "describe rows.csv --labels-last 3",
    "describe tags.csv --tags t",
    "describe bags.arff",
    "convert rows.arff made.parquet --top-labels 2 --sample-rows 5",
    "convert rows.csv made.svm --labels a,b,c --binarize >0 --one-hot",
    "convert bags.arff made.arff --bags medoids --medoids 2 --medoid-start build --medoid-swap",
    "convert rows.parquet made.csv.bz2 --max-memory 8M",
    "split rows.arff -o made --folds 3 --stratify iterative",
    "split rows.arff -o made --holdout 0.5 --json",
    "train rows.arff -o made.labelchain -m dynamic-nb --members 2 --decay 1",
    "train rows.arff -o made.labelchain -m ga-j48 --members 1 --population 4 --generations 2",
    "train rows.csv --labels-last 3 -o made.labelchain -m oocc-knn --members 1 --orders 2",
    "train bags.arff --bags concat -o made.labelchain -m ecc-svm --members 1 --cost 1 --gamma 1",
    "update sums rows.arff -o made.labelchain",
    "show model --json",
    "show tree --tree a --member 0",
    "predict model rows.arff -o made.csv --proba --explain made.jsonl",
    "predict model rows.csv --labels-last 3 -o made.arff",
    "explain model rows.arff --row 1 --member 0",
    // It does not end by itself: what is mutated are its options.
    "serve model --port 0 --quiet --max-rows 9 --help",
    "score rows.arff rows.arff --undefined one",
    "evaluate rows.arff -m br-nb,ecc-knn --members 1 --folds 2 --neighbours 1 --predictions made.csv",
    "study run study.toml --jobs 1 --shard 1/2 --only set=rows",
    "study status study.toml --json",
    "study report study.toml --gaps worst-rank -o made",
    "study export study.toml -o made.csv",
    "study merge made.db study.db",
    "compare results.csv results.csv --alpha 0.05 --control M --criteria hamming --bayes 0.01 -o made.html",
    "completions bash",
    "man -o made",
];

/// What was found before, shortened.
const FOUND: [&str; 11] = [
    "explain model rows.arff --row 1 --threads 2147483648",
    "train rows.arff -o made.labelchain --threads 18446744073709551615",
    "generate hypercubes -o made.arff --threads 9223372036854775808",
    "generate network --rows 18446744073709551615 -o made.csv",
    "generate network --labels 2147483648 -o made.csv",
    "generate network --features 9223372036854775808 -o made.csv",
    "generate hypercubes --relevant 2147483648 -o made.arff",
    "generate hypercubes --rows 2147483648 -o made.arff",
    "generate hyperspheres --rows 9223372036854775808 -o made.svm.gz",
    "split rows.arff -o made --folds 2147483648",
    "split rows.arff -o made --folds 9223372036854775808",
];

/// Values that somebody mistyped, computed, or made up to do harm. `\u{fffd}` stands for a byte that
/// is not UTF-8.
const VALUES: [&str; 30] = [
    "0",
    "1",
    "2",
    "-1",
    "0.5",
    "-0",
    "2147483648",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "1e-320",
    "1e308",
    "NaN",
    "inf",
    "-inf",
    "",
    " ",
    "-",
    "--",
    ".",
    "..",
    "../..",
    "a,b,c",
    "auto",
    "none",
    "é",
    "\u{fffd}",
    "x=y",
    "*",
];

/// Files that are not what their names say, beside those that are.
const FILES: [&str; 31] = [
    "rows.arff",
    "rows.csv",
    "tags.csv",
    "bags.arff",
    "rows.parquet",
    "model",
    "tree",
    "study.toml",
    "study.db",
    "results.csv",
    "empty.csv",
    "empty.arff",
    "empty.parquet",
    "cut.arff",
    "cut.parquet",
    "cut.arff.gz",
    "cut.labelchain",
    "cut.db",
    "model.csv",
    "rows.toml",
    "rows.db",
    "directory",
    "directory.csv",
    "loop.csv",
    "missing.arff",
    "missing/made.csv",
    "null.csv",
    "full.csv",
    "full",
    "fifo.csv",
    "fifo",
];

fn files(place: Place) -> Place {
    let mut csv = String::from("x,y,z,a,b,c\n");
    for row in 0..24 {
        let labels =
            [row % 2, u32::from(row % 3 == 0), u32::from(row > 11)].map(|bit| bit.to_string());
        csv += &format!("{},{},{},{}\n", row % 7, row * row % 11, row, labels.join(","));
    }
    let words: String =
        (0..24).map(|row| format!("{row},x,2024-01-{:02},a word,{}\n", row + 1, row % 2)).collect();
    let words = format!("i,d,k,t,c\n{words}");
    let study = "folds = 2\nsets = [{ file = \"rows.csv\", labels-last = 3 }, { file = \"rows.arff\", name = \"again\" }]\n\
                 methods = [\"br-nb\", \"ecc-nb\"]\n[settings]\nmembers = 1\n";
    let results = "dataset,method,criterion,loss\none,m,hamming,0.1\none,n,hamming,0.2\n\
                   two,m,hamming,0.3\ntwo,n,hamming,0.2\n";
    let bags = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n@end bag\n\
                @attribute a {0,1}\n@data\n'1\\n2',0\n'3\\n5',1\n'4\\n5',1\n'0\\n1',0\n'2\\n2',1\n'1\\n1',0\n";
    let place = place
        .with("rows.csv", &csv)
        .with("tags.csv", "x,t\n1,u;v\n2,v\n3,\n4,u\n")
        .with("words.csv", &words)
        .with("bags.arff", bags)
        .with("study.toml", study)
        .with("results.csv", results)
        .with("directory/file", "")
        .with("directory.csv/file", "");
    place.ok(&["convert", "rows.csv", "rows.arff", "--labels-last", "3"]);
    place.ok(&["convert", "rows.csv", "rows.parquet", "--labels-last", "3"]);
    place.ok(&["convert", "rows.arff", "whole.arff.gz"]);
    place.ok(&[
        "train",
        "rows.arff",
        "-m",
        "dynamic-nb",
        "-o",
        "model",
        "--members",
        "2",
        "--decay",
        "1",
    ]);
    place.ok(&["train", "rows.arff", "-o", "tree", "-m", "br-j48", "--members", "1"]);
    place.ok(&["train", "rows.arff", "-o", "sums", "-m", "br-nb", "--members", "1", "--updatable"]);
    place.ok(&["study", "run", "study.toml"]);
    for (whole, cut) in [
        ("rows.arff", "cut.arff"),
        ("rows.parquet", "cut.parquet"),
        ("whole.arff.gz", "cut.arff.gz"),
        ("model", "cut.labelchain"),
        ("study.db", "cut.db"),
    ] {
        let bytes = fs::read(place.path(whole)).unwrap();
        fs::write(place.path(cut), &bytes[..bytes.len() * 2 / 3]).unwrap();
    }
    for (from, to) in [("model", "model.csv"), ("rows.csv", "rows.toml"), ("rows.csv", "rows.db")] {
        fs::copy(place.path(from), place.path(to)).unwrap();
    }
    let empty = ["empty.csv", "empty.arff", "empty.parquet"];
    empty.into_iter().fold(place, |place, name| place.with(name, ""))
}

/// A line, as words that need not be text.
type Line = Vec<OsString>;

fn words(line: &str) -> Line {
    line.split(' ').map(OsString::from).collect()
}

fn word(text: &str) -> OsString {
    OsString::from_vec(
        text.replace('\u{fffd}', "\u{1}").bytes().map(|b| if b == 1 { 0xFF } else { b }).collect(),
    )
}

/// The options of each command, by its help: `--name`, and whether it takes a value.
fn options(place: &Place) -> BTreeMap<String, Vec<(String, bool)>> {
    let mut found = BTreeMap::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = place.ok(&arguments);
        let subcommands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let subcommands = subcommands.take_while(|line| !line.is_empty());
        let names = subcommands
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next());
        open.extend(
            names
                .filter(|name| *name != "help")
                .map(|name| format!("{command} {name}").trim().into()),
        );
        let declared = help.lines().filter_map(|line| {
            let line = line.trim_start();
            let long =
                if line.starts_with("--") { line } else { line.strip_prefix('-')?.get(3..)? };
            let mut parts = long.strip_prefix("--")?.split_whitespace();
            let name = format!("--{}", parts.next()?);
            Some((name, parts.next().is_some_and(|part| part.starts_with('<'))))
        });
        // The network is never touched: the server is that of the environment.
        found.insert(command, declared.filter(|(name, _)| name != "--server").collect());
    }
    found
}

struct Generator {
    options: BTreeMap<String, Vec<(String, bool)>>,
    seed: Seed,
}

impl Generator {
    fn line(&self, number: usize) -> Line {
        let mut rng = self.seed.child("line", number).rng();
        let valid = LINES[rng.below(LINES.len())];
        let mut line = words(valid);
        // Most often once: what is wrong twice is refused for the first, and the second is not reached.
        self.mutate(valid, &mut line, &mut rng);
        while rng.chance(0.4) {
            self.mutate(valid, &mut line, &mut rng);
        }
        line
    }

    fn mutate(&self, valid: &str, line: &mut Line, rng: &mut Rng) {
        let n = line.len();
        // Most often the command stays, for without it nothing is reached.
        let at = if rng.chance(0.05) {
            rng.below(n)
        } else {
            (1 + rng.below(n)).min(n.saturating_sub(1))
        };
        match rng.below(10) {
            _ if n == 0 => line.push(value(rng)),
            0..=2 => line[at] = value(rng),
            3 => line[at] = one(&FILES, rng).into(),
            4 => drop(line.remove(at)),
            5 => line.insert(at, line[at].clone()),
            6 => line.swap(at, rng.below(n)),
            _ => {
                let mut commands =
                    self.options.iter().filter(|(name, _)| valid.starts_with(name.as_str()));
                let declared = &commands.next_back().unwrap().1;
                let (name, takes_value) = &declared[rng.below(declared.len())];
                line.push(name.into());
                if *takes_value {
                    line.push(if rng.chance(0.2) { one(&FILES, rng).into() } else { value(rng) });
                }
            }
        }
    }
}

fn one<'a>(of: &[&'a str], rng: &mut Rng) -> &'a str {
    of[rng.below(of.len())]
}

fn value(rng: &mut Rng) -> OsString {
    if rng.chance(0.02) { "9".repeat(100_000).into() } else { word(one(&VALUES, rng)) }
}

/// Where lines run: a copy of the files for each, two directories below one of our own, so that
/// `../..` is ours as well.
struct Scratch<'a> {
    directory: PathBuf,
    files: &'a Path,
    program: &'a Path,
    as_nobody: bool,
}

impl Scratch<'_> {
    /// What is wrong about the way in which a line ends, with the message of the program; none if
    /// nothing is.
    fn fault(&self, line: &Line) -> Option<String> {
        let _ = fs::remove_dir_all(&self.directory);
        let run = self.directory.join("two/below");
        fs::create_dir_all(&run).unwrap();
        copy(self.files, &run);
        symlink("loop.csv", run.join("loop.csv")).unwrap();
        symlink("/dev/null", run.join("null.csv")).unwrap();
        symlink("/dev/full", run.join("full.csv")).unwrap();
        symlink("/dev/full", run.join("full")).unwrap();
        assert!(
            Command::new("mkfifo")
                .current_dir(&run)
                .args(["fifo", "fifo.csv"])
                .status()
                .unwrap()
                .success()
        );
        let messages = self.directory.join("messages");
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 2000000; ulimit -t 10; exec \"$@\"", "sh"])
            .arg(self.program)
            .args(line)
            .current_dir(&run)
            .env_clear()
            .envs([
                ("RAYON_NUM_THREADS", "2"),
                ("PATH", "/usr/bin:/bin"),
                ("LABELCHAIN_CACHE", "cache"),
            ])
            .env("LABELCHAIN_OPENML", "http://127.0.0.1:1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&messages).unwrap());
        if self.as_nobody {
            open_to_all(&self.directory);
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        let patience =
            if may_wait(line) { Duration::from_millis(500) } else { Duration::from_secs(60) };
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() < patience => thread::sleep(Duration::from_millis(1)),
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    return (!may_wait(line)).then(|| "did not end within a minute".into());
                }
            }
        };
        let message = fs::read(&messages).unwrap();
        let message = String::from_utf8_lossy(&message[..message.len().min(400)]).into_owned();
        match (status.code(), status.signal()) {
            (Some(0..=3 | 130), _) => None,
            (Some(code), _) => Some(format!("status {code}: {message}")),
            (None, signal) => Some(format!("signal {}: {message}", signal.unwrap())),
        }
    }

    /// The line without the words that are not needed for the same fault.
    fn shortest(&self, mut line: Line) -> Line {
        let kind = |line: &Line| {
            self.fault(line).map(|fault| fault.split(':').next().unwrap().to_string())
        };
        let fault = kind(&line);
        // Two words at a time are options with their values.
        for n_words in [2, 1] {
            for at in (0..line.len()).rev() {
                let mut without = line.clone();
                without.drain(at..line.len().min(at + n_words));
                if kind(&without) == fault {
                    line = without;
                }
            }
        }
        line
    }
}

/// Whether a line asks the program to wait for somebody who never writes, for requests, or for rows that
/// are made one after the other for as long as the disk lasts.
fn may_wait(line: &Line) -> bool {
    let waits = |word: &OsString| {
        word.as_bytes().starts_with(b"fifo") || word == "network" || word == "serve"
    };
    line.iter().any(waits)
}

const NOBODY: u32 = 65534;

fn open_to_all(path: &Path) {
    let file = fs::symlink_metadata(path).unwrap();
    if file.is_symlink() {
        return;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    if file.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| open_to_all(&entry.unwrap().path()));
    }
}

fn number_from(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn every_command_has_a_line_and_every_line_is_valid() {
    let place = files(Place::new());
    let commands = options(&place);
    for name in commands.keys().filter(|name| !matches!(name.as_str(), "" | "generate" | "study")) {
        assert!(LINES.iter().any(|line| line.starts_with(name.as_str())), "no line for {name}");
    }
    assert!(commands["train"].contains(&("--members".into(), true)));
    assert!(commands["convert"].contains(&("--one-hot".into(), false)));
    for line in LINES.iter().filter(|line| !line.contains("fetch")) {
        place.copy().ok(&line.split(' ').collect::<Vec<_>>());
    }
}

/// Runs lines on two threads until there are no more, and lists what is wrong with how they end.
fn faults(place: &Place, n_lines: usize, line: impl Fn(usize) -> Line + Sync) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    // Where tests run as root, the program does not: a fault must not replace /dev/null.
    let as_nobody = fs::metadata(home.path()).unwrap().uid() == 0;
    let program = home.path().join("labelchain");
    fs::copy(env!("CARGO_BIN_EXE_labelchain"), &program).unwrap();
    open_to_all(home.path());
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = |worker: &str| {
        let (directory, files) = (home.path().join(worker), place.0.path());
        let scratch = Scratch { directory, files, program: &program, as_nobody };
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n_lines {
                return;
            }
            let line = line(number);
            let fault = scratch.fault(&line);
            // One line for each fault of a command.
            let key = fault.map(|fault| format!("{:?} {fault}", line.first()));
            if let Some(key) = key.filter(|key| !found.lock().unwrap().contains_key(key)) {
                let shortest = scratch.shortest(line);
                found.lock().unwrap().insert(key, (number, shortest));
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work("one"));
        scope.spawn(|| work("two"));
    });
    let found = found.into_inner().unwrap().into_iter();
    found.map(|(fault, (number, line))| format!("line {number}: {line:.200?}\n  {fault}")).collect()
}

#[test]
fn lines_that_failed_before_are_answered() {
    let faults = faults(&files(Place::new()), FOUND.len(), |number| words(FOUND[number]));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn mutated_lines_end_by_themselves_with_a_status_of_the_help() {
    let place = files(Place::new());
    let seed = Seed::new(number_from("LABELCHAIN_SEED").unwrap_or(1) as u64);
    let generator = Generator { options: options(&place), seed };
    let n_lines = number_from("LABELCHAIN_LINES").unwrap_or(2000);
    let faults = faults(&place, n_lines, |number| generator.line(number));
    assert!(faults.is_empty(), "of {n_lines} lines:\n{}", faults.join("\n"));
}
