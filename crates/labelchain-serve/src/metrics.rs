//! What happened so far, as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyper::StatusCode;

use crate::served::Served;

/// The upper ends of the classes of durations, in seconds.
const SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// What happened so far. Counters that belong together are behind one lock, which is held for an addition.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    durations: Mutex<BTreeMap<&'static str, Durations>>,
    pub(crate) rows: AtomicU64,
    pub(crate) reloads: AtomicU64,
    pub(crate) failed_reloads: AtomicU64,
    pub(crate) log_lines_lost: AtomicU64,
}

/// How many requests took how long.
#[derive(Default)]
struct Durations {
    /// By class; those that took longer than all of them are in the number only.
    classes: [u64; SECONDS.len()],
    n: u64,
    sum: f64,
}

impl Metrics {
    pub(crate) fn request(&self, path: &'static str, status: StatusCode, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((path, status.as_u16())).or_default() += 1;
        drop(requests);
        let mut durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let (of_path, seconds) = (durations.entry(path).or_default(), took.as_secs_f64());
        let class = SECONDS.iter().position(|&end| seconds <= end);
        class.into_iter().for_each(|class| of_path.classes[class] += 1);
        of_path.n += 1;
        of_path.sum += seconds;
    }

    /// The text that Prometheus collects.
    pub(crate) fn text(&self, served: &Served, n_connections: usize, n_waiting: usize) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: &str| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
        };
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "labelchain_requests_total";
        let line = |((path, status), n): (&(&str, u16), &u64)| {
            format!("{name}{{path=\"{path}\",status=\"{status}\"}} {n}\n")
        };
        let lines: String = requests.iter().map(line).collect();
        drop(requests);
        family(name, "counter", "Requests answered, by path and status.", &lines);

        let name = "labelchain_request_seconds";
        let durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: String = durations.iter().map(|(path, of)| of.lines(name, path)).collect();
        drop(durations);
        let help = "Seconds from the head of a request to its answer.";
        family(name, "histogram", help, &lines);

        for (name, kind, help, value) in [
            (
                "labelchain_rows_total",
                "counter",
                "Rows answered.",
                self.rows.load(Ordering::Relaxed),
            ),
            ("labelchain_connections", "gauge", "Open connections.", n_connections as u64),
            (
                "labelchain_requests_waiting",
                "gauge",
                "Requests computed or waiting for a thread.",
                n_waiting as u64,
            ),
            (
                "labelchain_log_lines_lost_total",
                "counter",
                "Log lines that nobody read in time.",
                self.log_lines_lost.load(Ordering::Relaxed),
            ),
        ] {
            family(name, kind, help, &format!("{name} {value}\n"));
        }
        let name = "labelchain_reloads_total";
        let (done, failed) = (&self.reloads, &self.failed_reloads);
        let lines = format!(
            "{name}{{outcome=\"done\"}} {}\n{name}{{outcome=\"failed\"}} {}\n",
            done.load(Ordering::Relaxed),
            failed.load(Ordering::Relaxed)
        );
        family(name, "counter", "Times that the model was loaded again.", &lines);
        let (name, model) = ("labelchain_model_info", &served.model);
        let line = format!(
            "{name}{{method=\"{}\",version=\"{}\",labels=\"{}\",columns=\"{}\",rows=\"{}\"}} 1\n",
            model.method(),
            model.version().replace(['"', '\\', '\n'], "?"),
            model.label_names().len(),
            model.columns().len(),
            model.n_rows()
        );
        family(name, "gauge", "The model that answers.", &line);
        text
    }
}

impl Durations {
    fn lines(&self, name: &str, path: &str) -> String {
        let mut lines = String::new();
        let mut n = 0;
        for (end, of_class) in SECONDS.iter().zip(self.classes) {
            n += of_class;
            let _ = writeln!(lines, "{name}_bucket{{path=\"{path}\",le=\"{end}\"}} {n}");
        }
        let _ = writeln!(lines, "{name}_bucket{{path=\"{path}\",le=\"+Inf\"}} {}", self.n);
        let _ = writeln!(lines, "{name}_sum{{path=\"{path}\"}} {}", self.sum);
        let _ = writeln!(lines, "{name}_count{{path=\"{path}\"}} {}", self.n);
        lines
    }
}
