//! Data sets from OpenML: checked, tried again, resumed, and kept in a cache directory.

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

/// More than any of the sets has.
const MOST_BYTES: u64 = 4 << 30;

/// Where to fetch from, where to keep it, and how patiently.
pub(crate) struct Fetch<'a> {
    pub(crate) server: &'a str,
    pub(crate) cache: &'a Path,
    pub(crate) tries: u32,
    /// Without an answer, or another piece of it.
    pub(crate) timeout: Duration,
    /// Before the second try; twice as long before each later one.
    pub(crate) wait: Duration,
}

/// What was fetched.
pub(crate) struct Fetched {
    pub(crate) file: PathBuf,
    /// Whether it was there already.
    pub(crate) was_cached: bool,
}

/// What OpenML says of a data set.
struct About {
    url: String,
    md5: String,
    labels: Vec<String>,
}

/// What went wrong, and whether another try may help.
enum Trouble {
    Passing(Error),
    Lasting(Error),
}

impl Fetch<'_> {
    /// Fetches a set, unless it is in the cache with the right checksum.
    pub(crate) fn run(&self, set: &PaperSet) -> Result<Fetched> {
        let Source::Page { openml: Some((id, name)), page, file } = set.source else {
            return Err(not_in_openml(set));
        };
        fs::create_dir_all(self.cache).map_err(|error| refused(self.cache, error))?;
        let place = |ending: &str| self.cache.join(format!("{}.{ending}", set.stem));
        let (data, about) = (place("arff"), place("json"));
        if let Ok(text) = fs::read_to_string(&about)
            && let Ok(known) = About::of(&text, name, &about)
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
        let text = self.patiently(|| description(&agent, &url)).map_err(|error| match error {
            Error::Io { path, source } if source.kind() == io::ErrorKind::NotFound => Error::Io {
                path,
                source: io::Error::other(format!("not found; {file:?} is also at {page}")),
            },
            other => other,
        })?;
        let known = About::of(&text, name, Path::new(&url))?;
        self.patiently(|| download(&agent, &known, &place("arff.part")))?;
        // The list first: without it the data would be there, and unreadable.
        let list = LabelList::text(&known.labels, &[]);
        save(&place("xml"), |out| out.write_all(list.as_bytes()))?;
        save(&about, |out| out.write_all(text.as_bytes()))?;
        fs::rename(place("arff.part"), &data).map_err(|error| refused(&data, error))?;
        Ok(Fetched { file: data, was_cached: false })
    }

    fn patiently<T>(&self, mut task: impl FnMut() -> Result<T, Trouble>) -> Result<T> {
        let mut wait = self.wait;
        for _ in 1..self.tries {
            match task() {
                Ok(done) => return Ok(done),
                Err(Trouble::Lasting(error)) => return Err(error),
                Err(Trouble::Passing(_)) => {
                    thread::sleep(wait);
                    wait *= 2;
                }
            }
        }
        task().map_err(|trouble| match trouble {
            Trouble::Passing(error) | Trouble::Lasting(error) => error,
        })
    }
}

fn not_in_openml(set: &PaperSet) -> Error {
    let remedy = match (set.source, set.convert_line()) {
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

/// What stands in an answer is not what was to be expected.
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

/// Asks for an address; the answer is whatever the server says, except that it cannot be had.
fn ask(agent: &Agent, url: &str, from: u64) -> Result<Response<Body>, Trouble> {
    let mut request = agent.get(url);
    if from > 0 {
        request = request.header("Range", format!("bytes={from}-"));
    }
    let response = request.call().map_err(|error| {
        let lasts = matches!(error, ureq::Error::BadUri(_) | ureq::Error::TooManyRedirects);
        let error = refused(Path::new(url), io::Error::other(error.to_string()));
        if lasts { Trouble::Lasting(error) } else { Trouble::Passing(error) }
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
    let passes = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT;
    Err(if passes { Trouble::Passing(error) } else { Trouble::Lasting(error) })
}

fn description(agent: &Agent, url: &str) -> Result<String, Trouble> {
    let mut response = ask(agent, url, 0)?;
    response.body_mut().with_config().limit(16 << 20).read_to_string().map_err(|error| {
        Trouble::Passing(refused(Path::new(url), io::Error::other(error.to_string())))
    })
}

/// Downloads what is not yet there, and leaves it there only if the checksum is right or more may
/// come.
fn download(agent: &Agent, known: &About, part: &Path) -> Result<(), Trouble> {
    let lasting = |error| Trouble::Lasting(refused(part, error));
    let url = Path::new(&known.url);
    let have = fs::metadata(part).map_or(0, |file| file.len());
    let mut response = ask(agent, &known.url, have)?;
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
        // All of it is there already, or more than all of it.
        if checksum(part).is_ok_and(|found| found == known.md5) {
            return Ok(());
        }
        fs::remove_file(part).map_err(lasting)?;
        let error = io::Error::other("what was there does not continue");
        return Err(Trouble::Passing(refused(url, error)));
    }
    let continues = response.status() == StatusCode::PARTIAL_CONTENT && starts_at(&response, have);
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(continues)
        .truncate(!continues)
        .open(part)
        .map_err(lasting)?;
    let mut body = response.body_mut().with_config().limit(MOST_BYTES).reader();
    let mut piece = vec![0; 64 << 10];
    loop {
        let n = body
            .read(&mut piece)
            .map_err(|error| Trouble::Passing(refused(url, io::Error::other(error.to_string()))))?;
        if n == 0 {
            break;
        }
        file.write_all(&piece[..n]).map_err(lasting)?;
    }
    file.sync_all().map_err(lasting)?;
    let found = checksum(part).map_err(lasting)?;
    if found == known.md5 {
        return Ok(());
    }
    fs::remove_file(part).map_err(lasting)?;
    Err(Trouble::Passing(wrong(
        url,
        &format!("a file with the MD5 checksum {}", known.md5),
        format!("one with {found}"),
        "try again later; nothing of it was kept",
    )))
}

/// Whether a partial answer begins where we stopped: `Content-Range: bytes 100-199/200`.
fn starts_at(response: &Response<Body>, have: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|range| range.to_str().ok());
    let start = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next());
    start.and_then(|start| start.trim().parse().ok()) == Some(have)
}

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

impl About {
    fn of(text: &str, name: &str, path: &Path) -> Result<About> {
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
        Ok(About {
            url: field("url")?.into(),
            md5: field("md5_checksum")?.to_ascii_lowercase(),
            labels: labels.map(|label| label.trim().trim_matches('"').into()).collect(),
        })
    }
}
