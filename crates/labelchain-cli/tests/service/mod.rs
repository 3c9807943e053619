//! The real program as a service on a free port, and a client that speaks plain HTTP.
// Each test is a program of its own, and none uses all of this.
#![allow(dead_code)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing here takes as long as this on an idle machine, but it need not be idle.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A service, which ends with the test.
pub(crate) struct Service {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
    log: std::path::PathBuf,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Service {
    /// Starts `labelchain serve --port 0` in a directory, with further arguments, and waits for its address.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Service {
        let log = directory.join("service.log");
        let mut child = Command::new(env!("CARGO_BIN_EXE_labelchain"))
            .current_dir(directory)
            .args(["serve", "--port", "0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.and_then(|rest| rest.strip_suffix('/')).unwrap_or_else(|| {
            panic!("{line:?} {}", fs::read_to_string(&log).unwrap());
        });
        Service { address: address.into(), child, log }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let status =
            Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(status.unwrap().success());
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, "", body)
    }

    /// One request on a connection of its own; `headers` are whole lines.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(request.as_bytes())
    }

    /// Sends bytes and reads the answer to its end.
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // Where it is refused early, not everything can be written.
        let _ = stream.write_all(bytes);
        read(&mut stream)
    }
}

/// Reads an answer after which the connection is closed.
pub(crate) fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{end:?}: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Answer { status: status.unwrap(), head: head.into(), body: body.into() }
}
