//! Downloads data sets from OpenML into a cache directory. Checksums are verified, failed attempts
//! are repeated, and interrupted downloads are resumed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use labelchain::catalog::{PaperSet, Source};
use labelchain::data::label_list::LabelList;
use labelchain::data::{ReadOptions, read_in_blocks, save};
use labelchain::error::{ContentError, Error, Result};
use md5::{Digest as _, Md5};
use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::commands::convert_line;
use crate::memory;

/// Bytes a second, over as many seconds as an answer may be late, below which a try is given up.
const MIN_RATE: f64 = 1024.0;

/// The server, the cache directory, and how often and how long to try.
pub(crate) struct Fetch<'a> {
    pub(crate) server: &'a str,
    pub(crate) cache: &'a Path,
    pub(crate) tries: u32,
    /// How long to wait for an answer, or for another piece of it.
    pub(crate) timeout: Duration,
    /// How long to wait before the second attempt; the time doubles before each later one.
    pub(crate) wait: Duration,
    /// The most bytes to receive, and how long to be at it, over all attempts.
    pub(crate) limits: Limits,
}

/// What a download may take, and while it runs what is left of it.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) until: Instant,
}

/// A data set in the cache.
pub(crate) struct Fetched {
    pub(crate) file: PathBuf,
    /// Whether it was there already, so that nothing was downloaded.
    pub(crate) was_cached: bool,
}

/// OpenML's description of a data set.
struct Metadata {
    url: String,
    md5: String,
    /// None where the data itself has to say them.
    labels: Vec<String>,
}

/// An error, by whether another attempt may succeed.
enum FetchError {
    /// Another attempt may succeed, for example after a timeout.
    Transient(Error),
    /// Another attempt would fail for the same reason.
    Permanent(Error),
}

impl Fetch<'_> {
    /// Fetches a set, unless it is in the cache with the right checksum and its labels.
    pub(crate) fn run(&self, set: &PaperSet) -> Result<Fetched> {
        let Source::Page { openml: Some((id, name)), page, file } = set.source else {
            return Err(not_in_openml(set));
        };
        fs::create_dir_all(self.cache).map_err(|error| refused(self.cache, error))?;
        let place = |ending: &str| self.cache.join(format!("{}.{ending}", set.stem));
        let (data, list, metadata) = (place("arff"), place("xml"), place("json"));
        // Until they are known to be whole. The ending tells the reader the format.
        let (part, part_list) = (place("part.arff"), place("part.xml"));
        if let Ok(text) = fs::read_to_string(&metadata)
            && let Ok(known) = Metadata::of(&text, name, &metadata)
            && checksum(&data).is_ok_and(|found| found == known.md5)
            && check_labels(&data).is_ok()
        {
            return Ok(Fetched { file: data, was_cached: true });
        }
        [&data, &list, &metadata, &part, &part_list].into_iter().try_for_each(|it| no_link(it))?;
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_resolve(Some(self.timeout))
            .timeout_connect(Some(self.timeout))
            .timeout_recv_response(Some(self.timeout))
            .timeout_per_read(Some(self.timeout))
            .timeout_global(Some(self.limits.until.saturating_duration_since(Instant::now())))
            .build()
            .into();
        let url = format!("{}/api/v1/json/data/{id}", self.server.trim_end_matches('/'));
        let mut left = self.limits;
        let text =
            self.with_retries(|| self.description(&agent, &url, &mut left)).map_err(|error| {
                match error {
                    Error::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                        Error::Io {
                            path,
                            source: io::Error::other(format!(
                                "not found; {file:?} is also at {page}"
                            )),
                        }
                    }
                    other => other,
                }
            })?;
        let known = Metadata::of(&text, name, Path::new(&url))?;
        self.with_retries(|| self.download(&agent, &known, &part, &mut left))?;
        if !known.labels.is_empty() {
            let text = LabelList::text(&known.labels, &[]);
            save(&part_list, |out| out.write_all(text.as_bytes()))?;
        }
        if let Err(error) = check_labels(&part) {
            let _ = (fs::remove_file(&part), fs::remove_file(&part_list));
            return Err(error);
        }
        // The label list is there before the data, because data without its list could not be read.
        let rename =
            |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| refused(to, error));
        if !known.labels.is_empty() {
            rename(&part_list, &list)?;
        }
        save(&metadata, |out| out.write_all(text.as_bytes()))?;
        rename(&part, &data)?;
        Ok(Fetched { file: data, was_cached: false })
    }

    /// Repeats a task after transient errors, and waits longer each time, as long as there is time.
    fn with_retries<T>(&self, mut task: impl FnMut() -> Result<T, FetchError>) -> Result<T> {
        let mut wait = self.wait;
        for _ in 1..self.tries {
            match task() {
                Ok(done) => return Ok(done),
                Err(FetchError::Permanent(error)) => return Err(error),
                Err(FetchError::Transient(error)) => {
                    if Instant::now() + wait >= self.limits.until {
                        return Err(error);
                    }
                    thread::sleep(wait);
                    wait *= 2;
                }
            }
        }
        task().map_err(|failed| match failed {
            FetchError::Transient(error) | FetchError::Permanent(error) => error,
        })
    }

    /// Receives the body of an answer, piece after piece. Gives up where it is too large, or so slow
    /// that it would take for ever.
    fn receive(
        &self,
        response: &mut Response<Body>,
        url: &Path,
        left: &mut Limits,
        mut keep: impl FnMut(&[u8]) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let late = |what: &str| refused(url, io::Error::new(io::ErrorKind::TimedOut, what));
        let mut body = response.body_mut().with_config().limit(u64::MAX).reader();
        let mut piece = vec![0; 64 << 10];
        let (mut since, mut n_since) = (Instant::now(), 0);
        loop {
            let n = body.read(&mut piece).map_err(|error| {
                FetchError::Transient(refused(url, io::Error::other(error.to_string())))
            })?;
            if n == 0 {
                return Ok(());
            }
            let Some(bytes) = left.bytes.checked_sub(n as u64) else {
                let expected = format!("at most {} bytes over all tries", self.limits.bytes);
                let help = "the server sends too much; please report it";
                return Err(FetchError::Permanent(wrong(url, &expected, "more".into(), help)));
            };
            left.bytes = bytes;
            keep(&piece[..n])?;
            n_since += n;
            if Instant::now() >= left.until {
                return Err(FetchError::Permanent(late("it took too long")));
            }
            let elapsed = since.elapsed();
            if elapsed >= self.timeout {
                if (n_since as f64) < MIN_RATE * elapsed.as_secs_f64() {
                    return Err(FetchError::Transient(late(
                        "less than a kilobyte a second arrived",
                    )));
                }
                (since, n_since) = (Instant::now(), 0);
            }
        }
    }

    fn description(
        &self,
        agent: &Agent,
        url: &str,
        left: &mut Limits,
    ) -> Result<String, FetchError> {
        const MAX_BYTES: u64 = 16 << 20;
        let mut response = ask(agent, url, 0)?;
        let mut text = Vec::new();
        let mut of_text = Limits { bytes: MAX_BYTES.min(left.bytes), ..*left };
        let received = self.receive(&mut response, Path::new(url), &mut of_text, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        });
        left.bytes -= text.len() as u64;
        received?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Downloads the part of a file that is still missing. If the connection breaks, what has arrived
    /// stays for the next attempt; if the complete file has the wrong checksum, it is deleted.
    fn download(
        &self,
        agent: &Agent,
        known: &Metadata,
        part: &Path,
        left: &mut Limits,
    ) -> Result<(), FetchError> {
        let permanent = |error| FetchError::Permanent(refused(part, error));
        let url = Path::new(&known.url);
        let have = fs::metadata(part).map_or(0, |file| file.len());
        let mut response = ask(agent, &known.url, have)?;
        if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // The file is at least as long as the server's: it is complete, or wrong.
            if checksum(part).is_ok_and(|found| found == known.md5) {
                return Ok(());
            }
            fs::remove_file(part).map_err(permanent)?;
            let error = io::Error::other("what was there does not continue");
            return Err(FetchError::Transient(refused(url, error)));
        }
        let continues =
            response.status() == StatusCode::PARTIAL_CONTENT && starts_at(&response, have);
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .append(continues)
            .truncate(!continues)
            .open(part)
            .map_err(permanent)?;
        self.receive(&mut response, url, left, |piece| file.write_all(piece).map_err(permanent))
            .inspect_err(|error| {
                // What is too large or too slow is not taken up by a later run.
                if matches!(error, FetchError::Permanent(_)) {
                    let _ = fs::remove_file(part);
                }
            })?;
        file.sync_all().map_err(permanent)?;
        let found = checksum(part).map_err(permanent)?;
        if found == known.md5 {
            return Ok(());
        }
        fs::remove_file(part).map_err(permanent)?;
        Err(FetchError::Transient(wrong(
            url,
            &format!("a file with the MD5 checksum {}", known.md5),
            format!("one with {found}"),
            "try again later; nothing of it was kept",
        )))
    }
}

/// Refuses to write where a link stands: it may lead out of the cache.
fn no_link(path: &Path) -> Result<()> {
    if path.is_symlink() {
        return Err(Error::CannotWrite {
            path: path.into(),
            what: "is a symbolic link, and files are not written through links".into(),
            remedy: "remove the link, or keep the set in another directory".into(),
        });
    }
    Ok(())
}

/// Whether the data can be read with labels: the label list beside it names them, or the data
/// itself does. Reads one row.
fn check_labels(data: &Path) -> Result<()> {
    let max_memory = memory::three_quarters();
    let options = ReadOptions { max_memory, ..ReadOptions::default() };
    let mut blocks = read_in_blocks(data, &options, 1)?;
    blocks.next().transpose().map(|_| ())
}

fn not_in_openml(set: &PaperSet) -> Error {
    let remedy = match (set.source, convert_line(set)) {
        (Source::Page { page, file, .. }, Some(line)) => {
            format!("get {file:?} at {page}, then {line}")
        }
        (Source::Page { page, file, .. }, None) => format!("get {file:?} at {page}"),
        (Source::Made { .. }, line) => line.unwrap_or_default(),
    };
    Error::Columns {
        path: set.name.into(),
        problem: "is not in OpenML in the paper's form".into(),
        remedy: remedy.into(),
    }
}

fn refused(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.into(), source }
}

/// The error for an answer of the server with unexpected content.
fn wrong(path: &Path, expected: &str, found: String, help: &'static str) -> Error {
    Error::Content(Box::new(ContentError {
        path: path.into(),
        line: 0,
        column: 0,
        found,
        expected: expected.into(),
        help: Some(help.into()),
        excerpt: None,
    }))
}

/// Requests an address, from byte `from` on. An answer with an error status is an error, except for
/// "range not satisfiable": this means that the whole file has arrived before.
fn ask(agent: &Agent, url: &str, from: u64) -> Result<Response<Body>, FetchError> {
    let mut request = agent.get(url);
    if from > 0 {
        request = request.header("Range", format!("bytes={from}-"));
    }
    let response = request.call().map_err(|error| {
        let is_permanent = matches!(error, ureq::Error::BadUri(_) | ureq::Error::TooManyRedirects);
        let error = refused(Path::new(url), io::Error::other(error.to_string()));
        if is_permanent { FetchError::Permanent(error) } else { FetchError::Transient(error) }
    })?;
    let status = response.status();
    if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Ok(response);
    }
    let kind = match status {
        StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let error = refused(Path::new(url), io::Error::new(kind, format!("the server says {status}")));
    let is_transient = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT;
    Err(if is_transient { FetchError::Transient(error) } else { FetchError::Permanent(error) })
}

/// Whether a partial answer continues at byte `have`, as in `Content-Range: bytes 100-199/200`.
fn starts_at(response: &Response<Body>, have: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|range| range.to_str().ok());
    let start = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next());
    start.and_then(|start| start.trim().parse().ok()) == Some(have)
}

/// The MD5 checksum of a file.
fn checksum(path: &Path) -> io::Result<String> {
    let mut hasher = Md5::new();
    let mut file = File::open(path)?;
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            n => hasher.update(&piece[..n]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Metadata {
    fn of(text: &str, name: &str, path: &Path) -> Result<Metadata> {
        const HELP: &str = "the server may have changed; please report it";
        let value: Value = serde_json::from_str(text)
            .map_err(|error| wrong(path, "a description in JSON", error.to_string(), HELP))?;
        let field = |key: &str| {
            let text = value["data_set_description"][key].as_str().filter(|text| !text.is_empty());
            text.ok_or_else(|| {
                wrong(path, &format!("a description with {key:?}"), "none".into(), HELP)
            })
        };
        if !field("name")?.eq_ignore_ascii_case(name) {
            let found = format!("{:?}", field("name")?);
            return Err(wrong(path, &format!("the data set {name:?}"), found, HELP));
        }
        let labels = field("default_target_attribute").unwrap_or_default().split(',');
        let labels = labels.map(|label| label.trim().trim_matches('"').to_string());
        Ok(Metadata {
            url: field("url")?.into(),
            md5: field("md5_checksum")?.to_ascii_lowercase(),
            labels: labels.filter(|label| !label.is_empty()).collect(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers requests of the description, and requests of the data with 600 wrong bytes; returns how
    /// often the data were asked for.
    fn serve(listener: &TcpListener, address: &str) -> usize {
        let mut n_asked = 0;
        loop {
            let (mut connection, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let n = connection.read(&mut request).unwrap_or(0);
            let body = match &request[..n] {
                [] => return n_asked,
                request if request.starts_with(b"GET /data") => {
                    n_asked += 1;
                    "x".repeat(600)
                }
                _ => format!(
                    "{{\"data_set_description\": {{\"name\": \"emotions\", \"url\": \
                     \"http://{address}/data\", \"md5_checksum\": \"0\"}}}}"
                ),
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
            let answer = format!("{head}Connection: close\r\n\r\n{body}");
            connection.write_all(answer.as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_all_tries_receive_and_how_long_they_take_is_bounded() {
        let set = PaperSet::find("emotions").unwrap();
        for (bytes, seconds, expected, n_expected) in [
            (2000, 60, "expected at most 2000 bytes over all tries, found more", 4),
            (1 << 20, 0, "", 0),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let cache = tempfile::tempdir().unwrap();
            let limits = Limits { bytes, until: Instant::now() + Duration::from_secs(seconds) };
            let fetch = Fetch {
                server: &format!("http://{address}"),
                cache: cache.path(),
                tries: 20,
                timeout: Duration::from_secs(2),
                wait: Duration::from_millis(1),
                limits,
            };
            let of_server = address.clone();
            let server = thread::spawn(move || serve(&listener, &of_server));
            let error = fetch.run(set).err().unwrap().to_string();
            // A connection without a request ends the server.
            drop(std::net::TcpStream::connect(&address).unwrap());
            assert_eq!(server.join().unwrap(), n_expected, "{error}");
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0, "nothing is kept");
        }
    }
}
