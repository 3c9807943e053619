//! A line of JSON for each request, written by a thread of its own.
//!
//! Whoever reads standard error may stop reading, and then a write never ends. Lines therefore wait in a
//! queue, and those that do not fit are counted and forgotten: no client waits for a log.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// How many lines wait to be written.
const WAITING: usize = 4096;

/// What writes a line.
pub type WriteLine = Box<dyn Fn(&str) + Send>;

/// Where lines go.
pub(crate) struct Log(Option<SyncSender<Message>>);

enum Message {
    Line(String),
    /// Asks for a word when all lines before it are written.
    Flush(SyncSender<()>),
}

impl Log {
    /// Without a writer, nothing is logged.
    pub(crate) fn new(write: Option<WriteLine>) -> Log {
        let start = |write: WriteLine| {
            let (sender, messages) = sync_channel(WAITING);
            let obey = move |message| match message {
                Message::Line(line) => write(&line),
                // Nobody waits for the word any more: that is no trouble of ours.
                Message::Flush(done) => drop(done.send(())),
            };
            let work = move || messages.iter().for_each(obey);
            thread::Builder::new().name("log".into()).spawn(work).ok().map(|_| sender)
        };
        Log(write.and_then(start))
    }

    /// Waits until all lines are written, but no longer than so.
    pub(crate) fn flush(&self, patience: Duration) {
        let (done, word) = sync_channel(1);
        if let Some(sender) = &self.0
            && sender.try_send(Message::Flush(done)).is_ok()
        {
            let _ = word.recv_timeout(patience);
        }
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
        sender.try_send(Message::Line(line.to_string())).is_ok()
    }
}
