//! Downloads data sets from OpenML into a cache directory. Checksums are verified, failed attempts
//! are repeated, and interrupted downloads are resumed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use labelchain::catalog::{PaperSet, Source};
use labelchain::data::label_list::LabelList;
use labelchain::data::save;
use labelchain::error::{ContentError, Error, Result};
use md5::{Digest as _, Md5};
use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::commands::convert_line;

/// The greatest size of a download; all of the paper's sets are smaller.
const MAX_BYTES: u64 = 4 << 30;

/// The server, the cache directory, and how often and how long to try.
pub(crate) struct Fetch<'a> {
    pub(crate) server: &'a str,
    pub(crate) cache: &'a Path,
    pub(crate) tries: u32,
    /// How long to wait for an answer, or for another piece of it.
    pub(crate) timeout: Duration,
    /// How long to wait before the second attempt; the time doubles before each later one.
    pub(crate) wait: Duration,
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
    /// Fetches a set, unless it is in the cache with the right checksum.
    pub(crate) fn run(&self, set: &PaperSet) -> Result<Fetched> {
        let Source::Page { openml: Some((id, name)), page, file } = set.source else {
            return Err(not_in_openml(set));
        };
        fs::create_dir_all(self.cache).map_err(|error| refused(self.cache, error))?;
        let place = |ending: &str| self.cache.join(format!("{}.{ending}", set.stem));
        let (data, metadata) = (place("arff"), place("json"));
        if let Ok(text) = fs::read_to_string(&metadata)
            && let Ok(known) = Metadata::of(&text, name, &metadata)
            && checksum(&data).is_ok_and(|found| found == known.md5)
        {
            return Ok(Fetched { file: data, was_cached: true });
        }
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(self.timeout))
            .timeout_recv_response(Some(self.timeout))
            .timeout_per_read(Some(self.timeout))
            .timeout_global(Some(Duration::from_secs(3600)))
            .build()
            .into();
        let url = format!("{}/api/v1/json/data/{id}", self.server.trim_end_matches('/'));
        let text =
            self.with_retries(|| description(&agent, &url)).map_err(|error| match error {
                Error::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                    Error::Io {
                        path,
                        source: io::Error::other(format!("not found; {file:?} is also at {page}")),
                    }
                }
                other => other,
            })?;
        let known = Metadata::of(&text, name, Path::new(&url))?;
        self.with_retries(|| download(&agent, &known, &place("arff.part")))?;
        // The label list is saved before the data, because data without its list could not be read.
        let list = LabelList::text(&known.labels, &[]);
        save(&place("xml"), |out| out.write_all(list.as_bytes()))?;
        save(&metadata, |out| out.write_all(text.as_bytes()))?;
        fs::rename(place("arff.part"), &data).map_err(|error| refused(&data, error))?;
        Ok(Fetched { file: data, was_cached: false })
    }

    /// Repeats a task after transient errors, and waits longer each time.
    fn with_retries<T>(&self, mut task: impl FnMut() -> Result<T, FetchError>) -> Result<T> {
        let mut wait = self.wait;
        for _ in 1..self.tries {
            match task() {
                Ok(done) => return Ok(done),
                Err(FetchError::Permanent(error)) => return Err(error),
                Err(FetchError::Transient(_)) => {
                    thread::sleep(wait);
                    wait *= 2;
                }
            }
        }
        task().map_err(|failed| match failed {
            FetchError::Transient(error) | FetchError::Permanent(error) => error,
        })
    }
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

fn description(agent: &Agent, url: &str) -> Result<String, FetchError> {
    let mut response = ask(agent, url, 0)?;
    response.body_mut().with_config().limit(16 << 20).read_to_string().map_err(|error| {
        FetchError::Transient(refused(Path::new(url), io::Error::other(error.to_string())))
    })
}

/// Downloads the part of a file that is still missing. If the connection breaks, what has arrived
/// stays for the next attempt; if the complete file has the wrong checksum, it is deleted.
fn download(agent: &Agent, known: &Metadata, part: &Path) -> Result<(), FetchError> {
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
    let continues = response.status() == StatusCode::PARTIAL_CONTENT && starts_at(&response, have);
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(continues)
        .truncate(!continues)
        .open(part)
        .map_err(permanent)?;
    let mut body = response.body_mut().with_config().limit(MAX_BYTES).reader();
    let mut piece = vec![0; 64 << 10];
    loop {
        let n = body.read(&mut piece).map_err(|error| {
            FetchError::Transient(refused(url, io::Error::other(error.to_string())))
        })?;
        if n == 0 {
            break;
        }
        file.write_all(&piece[..n]).map_err(permanent)?;
    }
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
        let labels = field("default_target_attribute")?.split(',');
        Ok(Metadata {
            url: field("url")?.into(),
            md5: field("md5_checksum")?.to_ascii_lowercase(),
            labels: labels.map(|label| label.trim().trim_matches('"').into()).collect(),
        })
    }
}
