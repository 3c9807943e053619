//! `labelchain serve` answers as the program does, refuses what is wrong with a status and a reason, stays up
//! whatever is sent, loads its model again without losing a request, and stops when it is asked to.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod place;
mod service;

use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use place::Place;
use serde_json::{Value, json};
use service::{PATIENCE, Service, read};

/// 60 rows of a number, a colour and three labels: `warm` is red, `late` is a large number, and `both` is
/// both of them.
fn rows() -> String {
    let mut text = String::from("n,colour,warm,late,both\n");
    // Not one after the other: a column that counts the rows would be taken for an identifier.
    for n in (0..60).map(|row| row * 7 % 60) {
        let (is_red, is_late) = (n % 3 == 0, n >= 30);
        let bits = [is_red, is_late, is_red && is_late].map(|bit| u8::from(bit).to_string());
        text += &format!("{n},{},{}\n", if is_red { "red" } else { "blue" }, bits.join(","));
    }
    text
}

/// A directory with the rows and a model of them.
fn place() -> Place {
    let place = Place::new().with("rows.csv", rows());
    train(&place, "certain-forest", "model");
    place
}

fn train(place: &Place, method: &str, out: &str) {
    place.ok(&["train", "rows.csv", "--labels-last", "3", "-m", method, "-o", out]);
}

const ROW: &str = r#"{"rows":[{"n":45,"colour":"red"}]}"#;

fn metric(service: &Service, line: &str) -> u64 {
    let text = service.get("/metrics").body;
    let found = text.lines().find_map(|it| it.strip_prefix(line));
    found.unwrap_or_else(|| panic!("{line}: {text}")).trim().parse().unwrap()
}

#[test]
fn every_route_answers() {
    let place = place();
    let service = Service::start(place.0.path(), &["model"]);
    for (path, kind, part) in [
        ("/", "text/html; charset=utf-8", "<!doctype html>"),
        ("/page.css", "text/css; charset=utf-8", ":root"),
        ("/page.js", "text/javascript; charset=utf-8", "\"use strict\""),
        ("/healthz", "application/json", "ok"),
    ] {
        let answer = service.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert!(answer.body.contains(part), "{path}: {}", answer.body);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
    let model = service.get("/v1/model").json();
    assert_eq!(model["labels"], json!(["warm", "late", "both"]));
    assert_eq!(model["columns"][0]["kind"], "numeric");
    assert_eq!(model["columns"][0]["example"], 29.5, "the mean of 0 to 59");
    assert_eq!(model["columns"][1]["values"], json!(["blue", "red"]));
    assert_eq!((&model["rows"], &model["aim"]), (&json!(60), &json!("votes")));

    let answer = service.post("/v1/predict", ROW).json();
    let relevant = json!(["warm", "late", "both"]);
    assert_eq!(answer["predictions"][0]["relevant"], relevant, "{answer}");
    assert!(answer["predictions"][0]["probabilities"]["late"].as_f64() > Some(0.5), "{answer}");

    // Of the four requests before, whose connections are closed.
    assert_eq!(metric(&service, "labelchain_rows_total"), 1);
    assert_eq!(metric(&service, "labelchain_requests_total{path=\"/healthz\",status=\"200\"}"), 1);
    let seconds = "labelchain_request_seconds_bucket{path=\"/v1/predict\",le=\"+Inf\"}";
    assert_eq!(metric(&service, seconds), 1);
    assert_eq!(metric(&service, "labelchain_reloads_total{outcome=\"done\"}"), 0);

    // HEAD is GET without the body.
    let head = service.ask("HEAD", "/", "", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn answers_are_those_of_the_program() {
    let place = place().with("one.csv", "n,colour\n45,red\n");
    let service = Service::start(place.0.path(), &["model"]);
    let aim = "macro-f1";
    let body = r#"{"rows":[{"n":45,"colour":"red"}],"known":[{"warm":false}],"aim":"macro-f1"}"#;
    let explained = service.post("/v1/explain", body).json();
    let arguments = ["explain", "model", "one.csv", "--row", "0", "--known", "warm=0"];
    let expected = place.json(&[&arguments[..], &["--aim", aim, "--json"]].concat());
    assert_eq!(explained["explanations"][0], expected);
    // What the program says in words is there, too.
    let words = place.ok(&[&arguments[..], &["--aim", aim]].concat());
    let walk = &explained["walks"][0];
    assert!(words.contains(walk["how"].as_str().unwrap()), "{walk} {words}");
    let why = walk["why"].as_str().unwrap().lines().next().unwrap();
    assert!(!why.is_empty() && words.contains(why), "{walk} {words}");

    let predicted = service.post("/v1/predict", body).json();
    let prediction = &predicted["predictions"][0];
    assert_eq!(prediction["relevant"], expected["relevant"]);
    assert_eq!(prediction["probabilities"], expected["probabilities"]);
    // An answer is right by the thresholds that it is sent with, but for what is known.
    for label in ["late", "both"] {
        let (p, threshold) = (&prediction["probabilities"][label], &predicted["thresholds"][label]);
        let is_given = p.as_f64().unwrap() >= threshold.as_f64().unwrap();
        let relevant = prediction["relevant"].as_array().unwrap();
        assert_eq!(is_given, relevant.contains(&json!(label)), "{label}: {predicted}");
    }

    // A cell that a row does not have is missing, as in a file.
    let place = place.with("missing.csv", "n,colour\n45,\n");
    let expected = place.json(&["explain", "model", "missing.csv", "--row", "0", "--json"]);
    let body = r#"{"rows":[{"n":45}]}"#;
    assert_eq!(service.post("/v1/explain", body).json()["explanations"][0], expected);
}

#[test]
fn every_fault_of_a_request_has_its_status_and_names_its_place() {
    let place = place();
    let limits = ["--max-body", "2000", "--max-rows", "20", "--max-explained", "2"];
    let service = Service::start(place.0.path(), &[&["model"], &limits[..]].concat());
    let twenty_one = json!({ "rows": vec![json!({}); 21] }).to_string();
    let three = json!({ "rows": vec![json!({}); 3] }).to_string();
    let large = format!(r#"{{"rows":[{{"colour":"{}"}}]}}"#, "x".repeat(3000));
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    for (path, body, status, row, part) in [
        ("/v1/predict", "", 400, None, "EOF"),
        ("/v1/predict", "{\"rows\":[{}", 400, None, "EOF"),
        ("/v1/predict", "no JSON", 400, None, "expected"),
        ("/v1/predict", "\u{0}\u{1}", 400, None, "expected value"),
        ("/v1/predict", &deep, 400, None, ""),
        ("/v1/predict", "{}", 400, None, "missing field `rows`"),
        ("/v1/predict", "[]", 400, None, ""),
        ("/v1/predict", r#"{"rows":3}"#, 400, None, "integer `3`"),
        ("/v1/predict", r#"{"rows":[7]}"#, 400, Some(0), "integer `7`"),
        ("/v1/predict", r#"{"rows":[],"row":1}"#, 400, None, "unknown field `row`"),
        ("/v1/predict", r#"{"rows":[{"n":1e999}]}"#, 400, Some(0), "out of range"),
        ("/v1/predict", r#"{"rows":[{},{"n":1,"n":2}]}"#, 400, Some(1), "\"n\" stands there twice"),
        (
            "/v1/predict",
            r#"{"rows":[{}],"known":[{"b":0,"b":1}]}"#,
            400,
            None,
            "\"b\" stands there twice",
        ),
        (
            "/v1/predict",
            r#"{"rows":[{},{"color":"red"}]}"#,
            422,
            Some(1),
            "Did you mean \"colour\"?",
        ),
        ("/v1/predict", r#"{"rows":[{"n":1},{"n":"many"}]}"#, 422, Some(1), "expected a number"),
        ("/v1/predict", r#"{"rows":[{"n":[1]}]}"#, 422, Some(0), "found an array"),
        ("/v1/predict", r#"{"rows":[{"n":1e300}]}"#, 422, Some(0), "1e300"),
        ("/v1/predict", r#"{"rows":[{"warm":1}]}"#, 422, Some(0), "is a label"),
        ("/v1/predict", r#"{"rows":[{}],"known":[{"cold":1}]}"#, 422, Some(0), "cold"),
        ("/v1/predict", r#"{"rows":[{}],"known":[{"warm":2}]}"#, 422, Some(0), "known to be 2"),
        ("/v1/predict", r#"{"rows":[{}],"known":[{},{}]}"#, 422, None, "known has 2 objects"),
        ("/v1/predict", r#"{"rows":[{}],"aim":"macro-f2"}"#, 422, None, "macro-f1"),
        ("/v1/predict", r#"{"rows":[{}],"aim":"top=0"}"#, 422, None, "top=K"),
        ("/v1/predict", &twenty_one, 413, None, "21 rows"),
        ("/v1/explain", &three, 413, None, "3 rows"),
        ("/v1/predict", &large, 413, None, "2000 bytes"),
        ("/nothing", "", 404, None, "nothing at this path"),
        ("/v1/model", "", 405, None, "POST is not for this path"),
    ] {
        let answer = service.post(path, body);
        let shown = format!("{} {}", answer.status, answer.body);
        assert_eq!(answer.status, status, "{body:.60}: {shown}");
        let error = answer.json();
        assert!(error["error"].as_str().unwrap().contains(part), "{body:.60}: {shown}");
        assert_eq!(error.get("row"), row.map(Value::from).as_ref(), "{body:.60}: {shown}");
    }
    // A line end within a cell moves lines, but no rows.
    let body = r#"{"rows":[{"colour":"a\nb\r\nc"},{"colour":"x,\"y\""},{"n":"many"}]}"#;
    assert_eq!(service.post("/v1/predict", body).json()["row"], 2);
    // No rows are none, and a value that was never seen is missing, which is said.
    let none = service.post("/v1/predict", r#"{"rows":[]}"#);
    assert_eq!((none.status, &none.json()["predictions"]), (200, &json!([])), "{}", none.body);
    let unseen = service.post("/v1/predict", r#"{"rows":[{"colour":"😀"}]}"#).json();
    assert!(unseen["notes"][0].as_str().unwrap().contains("😀"), "{unseen}");

    // A name as long as a body is not repeated at that length.
    let long = format!(r#"{{"rows":[{{"{}":1}}]}}"#, "é".repeat(900));
    let refused = service.post("/v1/predict", &long);
    assert!(refused.status == 422 && refused.body.len() < 1500, "{}", refused.body);

    assert_eq!(service.get("/v1/predict").header("allow"), Some("POST"));
    // The name of a stranger's page that leads to this machine.
    assert_eq!(service.ask("GET", "/v1/model", "Host: example.org\r\n", "").status, 403);
    // What is no HTTP, and heads that are too large, are sent away.
    assert_eq!(service.send(b"GET / HTTP/1.1\nno header\r\n\r\n").status, 400);
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    assert_eq!(service.send(long.as_bytes()).status, 431);
    // A body in parts that never says how large it is.
    let head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let parts = format!("{head}{}0\r\n\r\n", format!("100\r\n{}\r\n", " ".repeat(256)).repeat(20));
    assert_eq!(service.send(parts.as_bytes()).status, 413);
    // After all of it, it answers, and has logged every request as a line of JSON.
    assert_eq!(service.post("/v1/predict", ROW).status, 200);
    // The log is written by a thread of its own, which may be behind.
    let start = Instant::now();
    while !service.log().contains("\"rows\":1}") {
        assert!(start.elapsed() < PATIENCE, "{}", service.log());
        thread::sleep(Duration::from_millis(10));
    }
    for line in service.log().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["status"].is_u64() && line["ms"].is_f64() && line["time"].is_f64(), "{line}");
    }
}

#[test]
fn slow_clients_are_sent_away_and_nobody_waits_for_them() {
    let place = place();
    let service = Service::start(place.0.path(), &["model", "--timeout", "0.5", "--quiet"]);
    let start = Instant::now();
    let mut without_body = service.connect();
    let head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"rows";
    without_body.write_all(head.as_bytes()).unwrap();
    let mut without_head = service.connect();
    without_head.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    // More answers than fit between the two, and nobody takes them.
    let mut without_reading = service.connect();
    let wishes = "GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2000);
    without_reading.write_all(wishes.as_bytes()).unwrap();
    // A thousand that say nothing, and one that is answered meanwhile.
    let idle: Vec<_> = (0..1000).map(|_| service.connect()).collect();
    assert_eq!(service.post("/v1/predict", ROW).status, 200);
    assert_eq!(service.get("/healthz").status, 200);
    assert_eq!(read(&mut without_body).status, 408);
    // A head that does not come to its end is no request that could be answered.
    let mut rest = Vec::new();
    without_head.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    // All of them are gone, but for the one that asks.
    while metric(&service, "labelchain_connections") > 1 {
        assert!(start.elapsed() < PATIENCE, "connections stay");
        thread::sleep(Duration::from_millis(20));
    }
    drop((idle, without_reading));
    assert_eq!(service.log(), "", "--quiet");
}

#[test]
fn more_requests_than_may_wait_are_told_to_come_back() {
    let place = place();
    let limits = ["--max-waiting", "1", "--threads", "1", "--max-rows", "100000"];
    let service = Service::start(place.0.path(), &[&["model"], &limits[..]].concat());
    let many = json!({ "rows": vec![json!({ "n": 7, "colour": "blue" }); 20_000] }).to_string();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let ask = || {
            let answer = service.post("/v1/predict", &many);
            let again = answer.header("retry-after").is_some();
            assert_eq!(again, answer.status == 503, "{}", answer.head);
            answer.status
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        // While it computes, it is there.
        assert_eq!(service.get("/healthz").status, 200);
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
}

#[test]
fn a_model_is_loaded_again_under_load_and_a_damaged_one_is_not() {
    let place = place();
    train(&place, "ecc-nb", "other");
    let service = Service::start(place.0.path(), &["model"]);
    let method = || service.get("/v1/model").json()["method"].as_str().unwrap().to_string();
    assert_eq!(method(), "certain-forest");
    let (is_over, n_asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let answer = service.post("/v1/predict", ROW);
                    assert_eq!(answer.status, 200, "{}", answer.body);
                    n_asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let reloaded = |outcome: &str, n: u64| {
            service.signal("HUP");
            let start = Instant::now();
            let line = format!("labelchain_reloads_total{{outcome=\"{outcome}\"}}");
            while metric(&service, &line) < n {
                assert!(start.elapsed() < PATIENCE, "{}", service.log());
                thread::sleep(Duration::from_millis(10));
            }
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            fs::copy(place.path("other"), place.path("model")).unwrap();
            reloaded("done", 1);
            assert_eq!(method(), "ecc-nb");
            let whole = fs::read(place.path("model")).unwrap();
            fs::write(place.path("model"), &whole[..whole.len() / 2]).unwrap();
            reloaded("failed", 1);
            fs::remove_file(place.path("model")).unwrap();
            reloaded("failed", 2);
            assert_eq!(method(), "ecc-nb", "the last one that was whole");
            assert!(service.log().contains("\"event\":\"reload\",\"error\":\"model: "));
            fs::write(place.path("model"), whole).unwrap();
            reloaded("done", 2);
        }));
        is_over.store(true, Ordering::Relaxed);
        result.unwrap();
    });
    assert!(n_asked.into_inner() > 0);
}

#[test]
fn it_finishes_what_it_is_doing_when_it_is_stopped() {
    let place = place();
    let mut service = Service::start(place.0.path(), &["model"]);
    // A request whose head has arrived, and an idle connection.
    let idle = service.connect();
    let mut begun = service.connect();
    let head = format!(
        "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        ROW.len()
    );
    begun.write_all(head.as_bytes()).unwrap();
    let start = Instant::now();
    while metric(&service, "labelchain_connections") < 3 {
        assert!(start.elapsed() < PATIENCE);
    }
    thread::sleep(Duration::from_millis(100));
    service.signal("TERM");
    thread::sleep(Duration::from_millis(100));
    begun.write_all(ROW.as_bytes()).unwrap();
    let answer = read(&mut begun);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(service.wait().success(), "{}", service.log());
    assert!(service.log().contains("\"event\":\"stopped\""), "{}", service.log());
    drop(idle);
}

#[test]
fn it_waits_no_longer_than_its_grace() {
    let place = place();
    let mut service = Service::start(place.0.path(), &["model", "--grace", "0.3"]);
    let mut begun = service.connect();
    begun
        .write_all(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    service.signal("TERM");
    assert!(service.wait().success());
    assert!(start.elapsed() < Duration::from_secs(9), "the client has ten seconds for its body");
}

#[test]
fn a_token_is_asked_for_where_there_is_one() {
    let token = "correct-horse-battery";
    let place = place().with("token", format!("{token}\n")).with("short", "word\n");
    let service =
        Service::start(place.0.path(), &["model", "--listen", "0.0.0.0", "--token-file", "token"]);
    let port = service.address.rsplit(':').next().unwrap();
    let host = format!("Host: example.org:{port}\r\n");
    for (given, status) in [
        (String::new(), 401),
        ("Authorization: Bearer correct-horse-batterx\r\n".into(), 401),
        ("Authorization: Bearer \r\n".into(), 401),
        (format!("Authorization: {token}\r\n"), 401),
        (format!("Authorization: Bearer {token}\r\n"), 200),
    ] {
        let headers = format!("{host}{given}");
        for (method, path, body) in
            [("GET", "/v1/model", ""), ("POST", "/v1/predict", ROW), ("GET", "/metrics", "")]
        {
            let answer = service.ask(method, path, &headers, body);
            assert_eq!(answer.status, status, "{path} {given}");
            let challenge = (status == 401).then_some("Bearer");
            assert_eq!(answer.header("www-authenticate"), challenge);
        }
    }
    // The page has to load before it can ask, and says nothing of the model.
    assert_eq!(service.ask("GET", "/", &host, "").status, 200);
    assert_eq!(service.ask("GET", "/healthz", &host, "").status, 200);
    assert!(!service.log().contains(token));

    let refused = |arguments: &[&str]| {
        let (status, _, error) = place.run(&[&["serve", "model"], arguments].concat());
        (status, error)
    };
    let (status, error) = refused(&["--listen", "0.0.0.0"]);
    assert!(status == 2 && error.contains("--token-file"), "{error}");
    let (status, error) = refused(&["--token-file", "short"]);
    assert!(status == 2 && error.contains("16"), "{error}");
    let (status, error) = refused(&["--token-file", "missing"]);
    assert!(status == 3 && error.contains("missing"), "{error}");
    let (status, error) =
        refused(&["--port", port, "--listen", "0.0.0.0", "--token-file", "token"]);
    assert!(status == 2 && error.contains("--port"), "{error}");
}

#[test]
fn without_a_model_it_serves_that_of_the_demo() {
    let place = Place::new();
    let service = Service::start(place.0.path(), &["--aim", "hamming"]);
    let model = service.get("/v1/model").json();
    assert_eq!(model["aim"], "hamming");
    let columns = model["columns"].as_array().unwrap().iter();
    let example: serde_json::Map<String, Value> = columns
        .map(|column| (column["name"].as_str().unwrap().into(), column["example"].clone()))
        .collect();
    let answer = service.post("/v1/explain", &json!({ "rows": [example] }).to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    // There is no file to be loaded again, and that is all that happens.
    service.signal("HUP");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(service.get("/healthz").status, 200);
}

#[test]
fn a_model_that_cannot_be_served_is_refused() {
    let bags = "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n@end bag\n\
                @attribute a {0,1}\n@data\n'1\\n2',0\n'3\\n5',1\n'4\\n5',1\n'0\\n1',0\n'2\\n2',1\n'1\\n1',0\n";
    let place = Place::new().with("bags.arff", bags).with("text", "no model");
    place.ok(&["train", "bags.arff", "--bags", "concat", "-m", "br-nb", "-o", "model"]);
    for (model, expected, part) in
        [("model", 2, "bags"), ("text", 2, "model"), ("missing", 3, "missing")]
    {
        let (status, out, error) = place.run(&["serve", model, "--port", "0"]);
        assert_eq!((status, out.as_str()), (expected, ""), "{error}");
        assert!(error.contains(part), "{error}");
    }
}
