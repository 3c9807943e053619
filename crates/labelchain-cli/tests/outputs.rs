//! What is written, where, and what is never written over.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use place::Place;

const DATA: &str =
    "x,z,a,b\n1,2,0,1\n2,1,1,0\n3,5,0,1\n4,4,1,1\n5,3,0,0\n6,6,1,0\n7,8,0,1\n8,7,1,0\n";
const TRAIN: [&str; 7] = ["train", "t.csv", "--labels", "a,b", "-m", "br-nb", "-o"];

fn place() -> Place {
    Place::new().with("t.csv", DATA)
}

impl Place {
    fn train(&self, out: &str, more: &[&str]) -> (i32, String) {
        let (status, _, error) = self.run(&[&TRAIN[..], &[out], more].concat());
        (status, error)
    }

    fn start(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_labelchain"))
            .current_dir(self.0.path())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn fifo(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }
}

#[test]
fn train_replaces_models_and_empty_files_but_nothing_else_unless_forced() {
    let place = place().with("empty", "").with("table.csv", "precious");
    let (status, error) = place.train("table.csv", &[]);
    assert_eq!(status, 2, "{error}");
    assert!(error.contains("table.csv: exists") && error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(place.path("table.csv")).unwrap(), "precious");
    for (out, more) in [("empty", &[][..]), ("empty", &[]), ("table.csv", &["--force"])] {
        assert_eq!(place.train(out, more), (0, String::new()));
    }
    place.ok(&["show", "table.csv"]);
}

#[test]
fn inputs_and_their_label_lists_are_never_replaced_under_any_name() {
    let list = "<labels><label name=\"a\"/><label name=\"b\"/></labels>";
    let place = place().with("t.xml", list).with("other.xml", list);
    place.ok(&["train", "t.csv", "-m", "br-nb", "-o", "m.labelchain"]);
    fs::hard_link(place.path("t.csv"), place.path("second.csv")).unwrap();
    symlink("t.xml", place.path("link.xml")).unwrap();
    let both = ["--labels-xml", "other.xml"];
    for (out, more) in [
        ("t.csv", &[][..]),
        ("second.csv", &[]),
        ("t.xml", &[]),
        ("link.xml", &[]),
        ("other.xml", &both),
    ] {
        let commands: [&[&str]; 4] = [
            &["train", "t.csv", "-m", "br-nb", "--force", "-o", out],
            &["evaluate", "t.csv", "-m", "br-nb", "--predictions", out],
            &["predict", "m.labelchain", "t.csv", "-o", "p.csv", "--explain", out],
            &["predict", "m.labelchain", "t.csv", "-o", "p.parquet", "--explain", out],
        ];
        for command in commands {
            let (status, _, error) = place.run(&[command, more].concat());
            assert_eq!(status, 2, "{command:?} {error}");
            assert!(error.contains("is also a file to be read"), "{error}");
        }
    }
    assert_eq!(fs::read_to_string(place.path("t.csv")).unwrap(), DATA);
    assert_eq!(fs::read_to_string(place.path("t.xml")).unwrap(), list);
}

#[test]
fn the_data_of_a_study_are_not_replaced_by_its_report() {
    let set = "{ file = \"t.csv\", labels = [\"a\", \"b\"] }";
    let text =
        format!("folds = 2\nsets = [{set}]\nmethods = [\"br-nb\"]\n[settings]\nmembers = 1\n");
    let place = place().with("p.toml", text);
    place.ok(&["study", "run", "p.toml"]);
    for out in ["t.csv", "p.toml", "p.db"] {
        for command in ["export", "report"] {
            let (status, _, error) = place.run(&["study", command, "p.toml", "-o", out]);
            assert_eq!(status, 2, "{command} {out}: {error}");
        }
    }
    assert_eq!(fs::read_to_string(place.path("t.csv")).unwrap(), DATA);
}

#[test]
fn a_replaced_model_keeps_mode_owner_and_link() {
    let place = place();
    place.train("m.labelchain", &[]);
    let path = place.path("m.labelchain");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // Only an administrator can make the owner another one; the promise holds for everybody.
    let _ = std::os::unix::fs::chown(&path, Some(12345), Some(12346));
    let before = fs::metadata(&path).unwrap();
    symlink("m.labelchain", place.path("latest")).unwrap();
    assert_eq!(place.train("latest", &["--seed", "2"]).0, 0);
    let after = fs::metadata(&path).unwrap();
    assert_ne!(before.ino(), after.ino(), "it was replaced, not written over");
    let access = |about: &fs::Metadata| (about.mode(), about.uid(), about.gid());
    assert_eq!(access(&before), access(&after));
    assert!(fs::symlink_metadata(place.path("latest")).unwrap().is_symlink());
}

#[test]
fn devices_and_pipes_are_written_to_as_they_are() {
    let place = place();
    place.train("m.labelchain", &[]);
    assert_eq!(place.train("/dev/null", &[]), (0, String::new()));
    let (status, error) = place.train("/dev/full", &[]);
    assert_eq!(status, 3, "{error}");
    place.fifo("pipe.csv");
    let mut child = place.start(&["predict", "m.labelchain", "t.csv", "-o", "pipe.csv"]);
    let mut text = String::new();
    fs::File::open(place.path("pipe.csv")).unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(text.lines().count(), 9, "{text}");
    // What a shell redirects is appended to, not replaced.
    let shell = format!(
        "echo first > out; {} {} /dev/stdout >> out",
        env!("CARGO_BIN_EXE_labelchain"),
        TRAIN.join(" ")
    );
    let done = Command::new("sh").arg("-c").arg(shell).current_dir(place.0.path()).status();
    assert!(done.unwrap().success());
    let mut both = b"first\n".to_vec();
    both.extend(fs::read(place.path("m.labelchain")).unwrap());
    assert_eq!(fs::read(place.path("out")).unwrap(), both);
}

#[test]
fn a_device_or_a_pipe_that_is_no_data_is_refused_at_once() {
    let place = place().with("p.toml", "sets = [\"pipe.csv\"]\nmethods = [\"br-nb\"]\n");
    place.train("m.labelchain", &[]);
    for name in ["pipe.csv", "pipe.xml", "pipe.txt"] {
        place.fifo(name);
    }
    symlink("/dev/null", place.path("null.csv")).unwrap();
    let commands: [&[&str]; 6] = [
        &["predict", "m.labelchain", "/dev/null"],
        &["describe", "/dev/zero", "--format", "csv", "--labels", "a"],
        &["describe", "null.csv", "--labels", "a"],
        &["describe", "t.csv", "--labels-xml", "pipe.xml"],
        &["train", "t.csv", "--labels", "a", "--rows", "pipe.txt", "-o", "other"],
        &["show", "pipe.csv"],
    ];
    let (status, error) = place.train("-", &[]);
    assert_eq!(status, 2, "{error}");
    for command in commands {
        let (status, out, error) = place.run(command);
        assert_eq!((status, out.as_str()), (2, ""), "{command:?} {error}");
        assert!(error.contains("is a pipe or a device") && error.contains("help: "), "{error}");
    }
}

/// SIGINT, SIGTERM and SIGHUP while a command waits for whoever reads one of its outputs, with the
/// other one begun.
#[test]
fn signals_end_a_command_and_leave_no_part_of_a_file() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if is_ignored(number) {
            continue;
        }
        let place = place().with("n.csv", "x,z\n1,2\n");
        place.train("m.labelchain", &[]);
        place.fifo("out.csv");
        // Blocked in a pipe that nobody empties, with an explanation file begun.
        let mut child = place.start(&[
            "predict",
            "m.labelchain",
            "n.csv",
            "-o",
            "out.csv",
            "--explain",
            "steps.jsonl",
        ]);
        sleep(Duration::from_millis(300));
        let pid = child.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success()
        );
        let start = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(place.files(), ["m.labelchain", "n.csv", "out.csv", "t.csv"], "{signal}");
    }
}

/// Whether this process was started to ignore a signal, as SIGHUP under `nohup` and SIGINT in the background of a
/// script: what it starts does so, too.
fn is_ignored(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is that of signal 1.
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn a_hangup_that_was_to_be_ignored_is() {
    let place = place();
    place.train("m.labelchain", &[]);
    place.fifo("out.csv");
    let line = format!(
        "trap '' HUP; exec {} predict m.labelchain t.csv -o out.csv",
        env!("CARGO_BIN_EXE_labelchain")
    );
    let mut child =
        Command::new("sh").arg("-c").arg(line).current_dir(place.0.path()).spawn().unwrap();
    sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    let mut text = String::new();
    fs::File::open(place.path("out.csv")).unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(text.lines().count(), 9);
}
