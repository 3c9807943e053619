//! A line of JSON for each request, written by a thread of its own.
//!
//! Whoever reads standard error may stop reading, and then a write never ends. Lines therefore wait in a
//! queue, and those that do not fit are counted and forgotten: no client waits for a log.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// How many lines wait to be written.
const WAITING: usize = 4096;

/// What writes a line.
pub type WriteLine = Box<dyn Fn(&str) + Send>;

/// Where lines go.
pub(crate) struct Log(Option<SyncSender<String>>);

impl Log {
    /// Without a writer, nothing is logged.
    pub(crate) fn new(write: Option<WriteLine>) -> Log {
        let start = |write: WriteLine| {
            let (sender, lines) = sync_channel::<String>(WAITING);
            let work = move || lines.iter().for_each(|line| write(&line));
            thread::Builder::new().name("log".into()).spawn(work).ok().map(|_| sender)
        };
        Log(write.and_then(start))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a line: an object that begins with the time, in seconds since 1970. False if it was lost.
    pub(crate) fn line(&self, fields: &Value) -> bool {
        let Some(sender) = &self.0 else { return true };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = json!({ "time": now.as_millis() as f64 / 1000.0 });
        for (name, value) in fields.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        sender.try_send(line.to_string()).is_ok()
    }
}
