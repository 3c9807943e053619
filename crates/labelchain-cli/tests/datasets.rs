//! The paper's data sets: the table, what a directory has of it, and downloads that go wrong.
#![allow(clippy::unwrap_used)]

mod place;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use place::Place;
use serde_json::json;

#[test]
fn the_table_has_thirty_sets_and_the_lines_that_make_them() {
    let place = Place::new();
    let page = place.ok(&["datasets"]);
    assert!(
        page.contains(" 8  Flags           194 x 43 x 7      LC 3.392  LD 0.485  avIR 2.255\n")
    );
    assert!(page.contains("    do  labelchain convert FILE flags.arff.gz --one-hot\n"), "{page}");
    assert!(page.contains("or OpenML 40597 (fetch)\n"), "{page}");
    let sets = place.json(&["datasets", "--json"]);
    let sets = sets["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 30);
    assert_eq!(sets[29]["paper"]["mean_imbalance"], 7.197);
    assert_eq!((&sets[29]["openml"], &sets[29]["convert"]), (&40597.into(), &json!(null)));
}

#[test]
fn a_directory_is_compared_with_the_paper() {
    let flare = "@relation 'f: -C -3'\n@attribute c {r,g,b}\n@attribute p numeric\n@attribute q numeric\n\
                 @attribute s numeric\n@data\nr,0,1,0\ng,2,0,0\n";
    let place = Place::new().with("data/flare2.arff", flare).with("data/yeast.csv", "broken\n\"");
    let sets = place.json(&["datasets", "--check", "data", "--json"]);
    let sets = &sets["sets"];
    assert_eq!(sets[8]["found"]["rows"], 2);
    // One nominal input of three values becomes three; the number of labels is right.
    assert_eq!(sets[8]["found"]["features"], 3);
    assert_eq!(sets[8]["differences"], json!(["N", "d", "LC", "LD", "avIR"]));
    assert_eq!((&sets[0]["found"], &sets[0]["problem"]), (&json!(null), &json!(null)));
    assert!(sets[29]["problem"].as_str().unwrap().starts_with("data/yeast.csv"));
    // The synthetic sets are made where they are not found.
    assert_eq!(sets[23]["differences"], json!(["avIR"]));
    let page = place.ok(&["datasets", "--check", "data"]);
    assert!(
        page.contains("| 9  | Flare2 ") && page.contains("| differs: N, d, LC, LD, avIR"),
        "{page}"
    );
    assert!(page.contains("1 of 28 sets are here in the paper's form, 0 of them"), "{page}");
    assert!(
        page.contains("| generated, differs: avIR ") && page.contains("2 are generated"),
        "{page}"
    );
    let (status, _, error) = place.run(&["datasets", "--check", "nowhere"]);
    assert!(status == 3 && error.starts_with("error: nowhere: "), "{error}");
}

#[test]
fn what_is_not_in_openml_is_told_where_it_is() {
    let place = Place::new();
    let (status, _, error) = place.run(&["datasets", "fetch", "Haloarcula", "--cache", "c"]);
    assert_eq!(status, 2);
    assert!(error.contains("get \"Haloarcula marismortui\" at https://"), "{error}");
    assert!(error.contains("--bags medoids --medoids 20 --seed 1"), "{error}");
    let (status, _, error) = place.run(&["datasets", "fetch", "yeasts", "--cache", "c"]);
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: no data set of the paper is called \"yeasts\". Did you mean \"yeast\"?\n  \
             help: labelchain datasets lists all thirty\n"
        )
    );
    assert_eq!(place.files(), [""; 0]);
}

/// A set as OpenML has it: labels are TRUE and FALSE.
const EMOTIONS: &str = "@relation emotions\n@attribute x numeric\n@attribute calm {FALSE,TRUE}\n\
                        @attribute sad {FALSE,TRUE}\n@data\n1,TRUE,FALSE\n2,FALSE,TRUE\n3,TRUE,TRUE\n";
/// `md5sum` of it.
const MD5: &str = "df4ba9e2378a0fc7e97365ddab7aeb40";

/// How the server answers one request for the data.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// The whole file, or the range that is requested.
    Well,
    /// The first bytes only, although the header announces all.
    CutOff(usize),
    /// The whole file, even if a range is requested.
    Whole,
    /// The whole file, although the header announces fewer bytes.
    TooShort,
    /// Other bytes.
    Damaged,
    Status(&'static str),
    /// No answer within the time limit.
    Late,
    /// A byte every tenth of a second, of a body that has no end.
    Slow,
}

/// A server on this machine that gives one scripted answer to each request. It ends after its last
/// answer or when it is dropped.
struct Server {
    address: String,
    requests: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn new(description: String, answers: &'static [Answer]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        let description = description.replace("SERVER", &address);
        let thread = thread::spawn(move || serve(&listener, &description, answers, &sender));
        Server { address, requests, thread: Some(thread) }
    }

    /// The ranges that were requested of the data.
    fn ranges(&self) -> Vec<String> {
        let range = |request: String| {
            let line = request.lines().find(|line| line.to_lowercase().starts_with("range:"));
            line.map_or(String::new(), |line| line[6..].trim().into())
        };
        let of_data = |request: &String| request.starts_with("GET /data/");
        self.requests.try_iter().filter(of_data).map(range).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A connection without a request tells it to end.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: &TcpListener, description: &str, answers: &[Answer], sender: &Sender<String>) {
    let mut answers = answers.iter();
    // At most 50 requests, so that the test ends even if the program asks for ever.
    for connection in listener.incoming().take(50) {
        let Ok(mut connection) = connection else { return };
        connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 1024];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match connection.read(&mut piece) {
                Ok(n) if n > 0 => request.extend_from_slice(&piece[..n]),
                _ => return,
            }
        }
        let request = String::from_utf8(request).unwrap();
        let _ = sender.send(request.clone());
        let reply = if request.starts_with("GET /data/") {
            match answers.next() {
                Some(Answer::Late) => {
                    // Another thread keeps the connection open until the program has given up.
                    thread::spawn(move || (thread::sleep(Duration::from_secs(6)), connection));
                    continue;
                }
                Some(Answer::Slow) => {
                    thread::spawn(move || drip(connection));
                    continue;
                }
                Some(&answer) => data(answer, &request),
                None => return,
            }
        } else if request.starts_with("GET /api/v1/json/data/40589 ") {
            whole("200 OK", description.as_bytes(), description.len())
        } else {
            whole("404 Not Found", b"", 0)
        };
        // The program may have given up already.
        let _ = connection.write_all(&reply);
    }
}

/// Ends after ten seconds, when the test has failed, or when the program gives up.
fn drip(mut connection: TcpStream) {
    let mut sent = connection.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for _ in 0..100 {
        sent = sent.and_then(|()| connection.write_all(b"%"));
        thread::sleep(Duration::from_millis(100));
    }
}

fn whole(status: &str, body: &[u8], promised: usize) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {promised}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn data(answer: Answer, request: &str) -> Vec<u8> {
    let all = EMOTIONS.as_bytes();
    let start = request.lines().find_map(|line| {
        let line = line.to_lowercase();
        line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse::<usize>().ok()
    });
    match answer {
        Answer::Well => match start {
            None => whole("200 OK", all, all.len()),
            Some(start) if start >= all.len() => whole("416 Range Not Satisfiable", b"", 0),
            Some(start) => {
                let head = format!(
                    "HTTP/1.1 206 Partial Content\r\nConnection: close\r\nContent-Length: {}\r\n\
                     Content-Range: bytes {start}-{}/{}\r\n\r\n",
                    all.len() - start,
                    all.len() - 1,
                    all.len()
                );
                [head.as_bytes(), &all[start..]].concat()
            }
        },
        Answer::CutOff(n) => whole("200 OK", &all[..n], all.len()),
        Answer::Whole => whole("200 OK", all, all.len()),
        Answer::TooShort => whole("200 OK", all, 40),
        Answer::Damaged => whole("200 OK", EMOTIONS.replace('3', "4").as_bytes(), all.len()),
        Answer::Status(status) => whole(status, b"", 0),
        // Answered elsewhere.
        Answer::Late | Answer::Slow => vec![],
    }
}

fn description() -> String {
    let description = json!({
        "id": "40589",
        "name": "emotions",
        "url": "SERVER/data/emotions.arff",
        "md5_checksum": MD5,
        "default_target_attribute": "calm,sad",
    });
    json!({"data_set_description": description}).to_string()
}

/// Status, standard output, standard error.
fn fetch(place: &Place, server: &Server, name: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_labelchain"));
    // No proxy of the environment is used: all requests go to this machine.
    for variable in
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        command.env_remove(variable);
    }
    let arguments = [
        "datasets",
        "fetch",
        name,
        "--cache",
        "cache",
        "--tries",
        "3",
        "--timeout",
        "2",
        "--wait",
        "0.01",
    ];
    let output = command
        .current_dir(place.0.path())
        .env("LABELCHAIN_OPENML", &server.address)
        .args(arguments)
        .timeout(Duration::from_secs(60))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn cached(place: &Place) -> Vec<String> {
    let Ok(entries) = fs::read_dir(place.path("cache")) else { return vec![] };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Fetches with these answers, which must succeed in the end, and returns the requested ranges.
fn fetched(answers: &'static [Answer]) -> Vec<String> {
    let (place, server) = (Place::new(), Server::new(description(), answers));
    let (status, out, error) = fetch(&place, &server, "Emotions");
    assert_eq!(status, 0, "{answers:?}: {error}");
    assert_eq!(out, "cache/emotions.arff\n");
    assert_eq!(cached(&place), ["emotions.arff", "emotions.json", "emotions.xml"]);
    assert_eq!(fs::read_to_string(place.path("cache/emotions.arff")).unwrap(), EMOTIONS);
    let described = place.json(&["describe", "cache/emotions.arff", "--json"]);
    assert_eq!(described["label_counts"], json!([2, 2]));
    server.ranges()
}

#[test]
fn a_set_is_fetched_once_and_can_be_read() {
    let (place, server) = (Place::new(), Server::new(description(), &[Answer::Well]));
    assert_eq!(fetch(&place, &server, "emotions").0, 0);
    let (status, out, error) = fetch(&place, &server, "EMOTIONS");
    assert_eq!((status, out.as_str()), (0, "cache/emotions.arff\n"));
    assert_eq!(error, "note: it was here already, with the right checksum\n");
    assert_eq!(server.ranges(), [""]);
    // A file that was changed since is fetched again.
    let server = Server::new(description(), &[Answer::Well]);
    fs::write(place.path("cache/emotions.arff"), "changed").unwrap();
    assert_eq!(fetch(&place, &server, "emotions").0, 0);
    assert_eq!(fs::read_to_string(place.path("cache/emotions.arff")).unwrap(), EMOTIONS);
}

#[test]
fn a_download_that_is_cut_off_goes_on_where_it_stopped() {
    assert_eq!(fetched(&[Answer::CutOff(25), Answer::Well]), ["", "bytes=25-"]);
    // A server that knows no ranges sends all of it again.
    assert_eq!(fetched(&[Answer::CutOff(25), Answer::Whole]), ["", "bytes=25-"]);
}

#[test]
fn a_server_that_is_busy_slow_or_wrong_is_asked_again() {
    assert_eq!(fetched(&[Answer::Status("503 Service Unavailable"), Answer::Well]).len(), 2);
    assert_eq!(fetched(&[Answer::Late, Answer::Well]).len(), 2);
    assert_eq!(fetched(&[Answer::Damaged, Answer::Well]), ["", ""]);
    assert_eq!(fetched(&[Answer::TooShort, Answer::Well]), ["", ""]);
}

#[test]
fn what_stays_wrong_is_refused_and_not_kept() {
    let refused = |answers: &'static [Answer]| {
        let (place, server) = (Place::new(), Server::new(description(), answers));
        let (status, out, error) = fetch(&place, &server, "emotions");
        assert_eq!(out, "");
        let error = error.replace(&server.address, "SERVER");
        (status, error, cached(&place), server.ranges().len())
    };
    let (status, error, files, n_asked) =
        refused(&[Answer::Damaged, Answer::TooShort, Answer::Damaged]);
    assert_eq!((status, files, n_asked), (2, vec![], 3), "{error}");
    assert!(error.starts_with(&format!(
        "error: SERVER/data/emotions.arff: expected a file with the MD5 checksum {MD5}, found one with "
    )), "{error}");
    // A set that the server does not have is not requested again.
    let (status, error, files, n_asked) = refused(&[Answer::Status("404 Not Found")]);
    assert_eq!((status, files, n_asked), (3, vec![], 1), "{error}");
    assert_eq!(error, "error: SERVER/data/emotions.arff: the server says 404 Not Found\n");
    // What has arrived of an interrupted download is kept for the next run.
    let (status, error, files, _) = refused(&[Answer::CutOff(30), Answer::Late, Answer::Late]);
    assert_eq!((status, files), (3, vec!["emotions.part.arff".to_string()]), "{error}");
}

#[test]
fn a_later_run_takes_up_what_an_earlier_one_left() {
    let place = Place::new().with("cache/emotions.part.arff", &EMOTIONS[..60]);
    let server = Server::new(description(), &[Answer::Well]);
    assert_eq!(fetch(&place, &server, "emotions").0, 0);
    assert_eq!(server.ranges(), ["bytes=60-"]);
    // A partial file with other content is detected by the checksum.
    let place = Place::new().with("cache/emotions.part.arff", "x".repeat(EMOTIONS.len() + 9));
    let server = Server::new(description(), &[Answer::Well, Answer::Well]);
    assert_eq!(fetch(&place, &server, "emotions").0, 0);
    assert_eq!(server.ranges().len(), 2);
    assert_eq!(fs::read_to_string(place.path("cache/emotions.arff")).unwrap(), EMOTIONS);
}

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    for (description, expected) in [
        ("<html>".to_string(), "expected a description in JSON"),
        (
            description().replace("emotions\",", "emotional\","),
            "expected the data set \"emotions\", found \"emotional\"",
        ),
        (
            description().replace("md5_checksum", "md4"),
            "expected a description with \"md5_checksum\", found none",
        ),
    ] {
        let (place, server) = (Place::new(), Server::new(description, &[]));
        let (status, _, error) = fetch(&place, &server, "emotions");
        assert!(status == 2 && error.contains(expected), "{error}");
        assert_eq!(cached(&place), [""; 0]);
    }
    // The server knows emotions only.
    let (place, server) = (Place::new(), Server::new(description(), &[]));
    let (status, _, error) = fetch(&place, &server, "scene");
    assert!(
        status == 3 && error.contains("not found; \"scene\" is also at https://mulan"),
        "{error}"
    );
}

#[test]
fn a_server_that_sends_a_byte_now_and_then_is_given_up() {
    assert_eq!(fetched(&[Answer::Slow, Answer::Whole]).len(), 2);
    let start = Instant::now();
    let place = Place::new();
    let server = Server::new(description(), &[Answer::Slow, Answer::Slow, Answer::Slow]);
    let (status, _, error) = fetch(&place, &server, "emotions");
    assert!(status == 3 && error.contains("less than a kilobyte a second arrived"), "{error}");
    // Three tries of two seconds each; the server would go on for ten.
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    for name in ["emotions.arff", "emotions.xml", "emotions.json", "emotions.part.arff"] {
        let place = Place::new().with("cache/other.txt", "mine").with("mine.txt", "mine");
        std::os::unix::fs::symlink(place.path("mine.txt"), place.path("cache").join(name)).unwrap();
        let server = Server::new(description(), &[Answer::Well]);
        let (status, _, error) = fetch(&place, &server, "emotions");
        assert_eq!(status, 2, "{name}: {error}");
        assert!(error.contains(&format!("cache/{name}: is a symbolic link")), "{error}");
        assert!(error.contains("help: remove the link"), "{error}");
        assert_eq!(fs::read_to_string(place.path("mine.txt")).unwrap(), "mine");
    }
}

#[test]
fn a_set_without_its_labels_is_not_kept() {
    for labels in ["", ",", "calm,happy"] {
        let place = Place::new();
        let server = Server::new(description().replace("calm,sad", labels), &[Answer::Well]);
        let (status, _, error) = fetch(&place, &server, "emotions");
        assert!(status == 2 && error.contains("label"), "{labels:?}: {error}");
        assert_eq!(cached(&place), [""; 0], "{labels:?}");
    }
    // A set whose label list was lost since is fetched again.
    let (place, server) = (Place::new(), Server::new(description(), &[Answer::Well, Answer::Well]));
    assert_eq!(fetch(&place, &server, "emotions").0, 0);
    fs::remove_file(place.path("cache/emotions.xml")).unwrap();
    let (status, _, error) = fetch(&place, &server, "emotions");
    assert_eq!((status, error.as_str()), (0, ""));
    assert_eq!(cached(&place), ["emotions.arff", "emotions.json", "emotions.xml"]);
}
