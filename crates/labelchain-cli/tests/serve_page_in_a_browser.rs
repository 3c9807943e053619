//! The page of `labelchain serve` in a browser: a form is filled, a label is said to be known and the others
//! change, a batch is downloaded, a keyboard is enough, and nothing goes wrong.
//!
//! Runs where Chromium is installed (`apt-get install chromium`), else says that it was skipped. With
//! `LABELCHAIN_SCREENSHOTS=DIRECTORY` it leaves pictures of the page there, to be looked at.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod browser;
mod place;
mod service;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use browser::browser;
use place::Place;
use serde_json::{Value, json};
use service::{PATIENCE, Service};

/// A page in a browser, which is told what to do through two pipes: objects of JSON, each ended by a zero.
struct Page {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    session: Value,
    n_sent: u64,
    /// What went wrong in the page, as the browser tells it.
    trouble: Vec<String>,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Page {
    fn open(browser: &str, place: &Place, address: &str) -> Page {
        let made = Command::new("mkfifo").current_dir(place.0.path()).args(["in", "out"]).status();
        assert!(made.unwrap().success());
        let script = "exec \"$@\" 3<in 4>out";
        let child = Command::new("sh")
            .current_dir(place.0.path())
            .args(["-c", script, "sh", browser, "--headless=new", "--no-sandbox", "--disable-gpu"])
            .arg("--remote-debugging-pipe")
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .arg(format!("--user-data-dir={}", place.path("profile").display()))
            .args(["--hide-scrollbars", "about:blank"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = File::options().write(true).open(place.path("in")).unwrap();
        let out = File::open(place.path("out")).unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (session, trouble) = (Value::Null, Vec::new());
        let mut page = Page { child, commands, messages, session, n_sent: 0, trouble };
        let target = page.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        page.session = page.call("Target.attachToTarget", target)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let downloads = json!({ "behavior": "allow", "downloadPath": place.path("downloads") });
        page.call("Browser.setDownloadBehavior", downloads);
        page.call("Page.navigate", json!({ "url": format!("http://{address}/") }));
        page
    }

    /// Calls a method of the browser and waits for its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.n_sent += 1;
        let mut command = json!({ "id": self.n_sent, "method": method, "params": parameters });
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        write!(self.commands, "{command}\0").unwrap();
        self.commands.flush().unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            self.note(&message);
            if message["id"] == self.n_sent {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// Keeps what went wrong.
    fn note(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.trouble.push(parameters["exceptionDetails"].to_string());
            }
            Some("Runtime.consoleAPICalled")
                if ["error", "warning", "assert"]
                    .map(Value::from)
                    .contains(&parameters["type"]) =>
            {
                self.trouble.push(parameters.to_string());
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.trouble.push(parameters["entry"].to_string());
            }
            _ => {}
        }
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    fn until(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != true {
            let shown = "document.body.innerText";
            assert!(start.elapsed() < PATIENCE, "{expression}: {}", self.value(shown));
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Does something, and waits until another answer is shown.
    fn change(&mut self, expression: &str) {
        let n = self.value("Number(document.body.dataset.shown)");
        self.value(expression);
        self.until(&format!("Number(document.body.dataset.shown) > {n}"));
    }

    /// Types a key that has a name.
    fn key(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let pressed =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", pressed);
        }
    }

    /// The probabilities that bars show, by label.
    fn bars(&mut self) -> Vec<f64> {
        let widths = self.value("[...document.querySelectorAll('#labels .fill')].map((fill) => parseFloat(fill.style.width))");
        widths.as_array().unwrap().iter().map(|width| width.as_f64().unwrap()).collect()
    }

    fn screen(&mut self, width: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Leaves a picture of the whole page, if pictures are wanted.
    fn picture(&mut self, name: &str) {
        let Ok(directory) = std::env::var("LABELCHAIN_SCREENSHOTS") else { return };
        // Bars grow for a moment.
        thread::sleep(Duration::from_millis(300));
        let whole = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", whole)["data"].clone();
        fs::create_dir_all(&directory).unwrap();
        let path = std::path::Path::new(&directory).join(name);
        fs::write(path, decode(picture.as_str().unwrap())).unwrap();
    }
}

/// The bytes of a text in base64.
fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|&digit| digit == byte))
        .map(|digit| digit as u32)
        .collect();
    let bytes = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(bytes).collect()
}

/// 120 rows of songs: two numbers and a style; of six labels some depend on each other.
fn songs() -> String {
    let mut text = String::from("tempo,loudness,style,calm,fast,loud,dance,sad,party\n");
    for n in 0..120u32 {
        let (tempo, loudness) = (60 + n * 37 % 100, n * 53 % 40);
        let style = ["folk", "rock", "techno"][(n * 7 % 3) as usize];
        let (fast, loud) = (tempo > 115, loudness > 20);
        let dance = fast && style != "folk";
        let bits = [!fast && !loud, fast, loud, dance, !fast && n % 4 == 0, dance && loud];
        let bits = bits.map(|bit| u8::from(bit).to_string());
        text += &format!("{tempo},{loudness},{style},{}\n", bits.join(","));
    }
    text
}

#[test]
fn the_page_shows_a_model_and_changes_with_what_is_known() {
    let Some(browser) = browser() else { return };
    let place = Place::new().with("songs.csv", songs());
    place.ok(&["train", "songs.csv", "--labels-last", "6", "-o", "model"]);
    let service = Service::start(place.0.path(), &["model", "--max-rows", "50"]);
    let mut page = Page::open(browser, &place, &service.address);
    page.screen(1280, "light");
    page.until("Number(document.body.dataset.shown) > 0");

    // A form made of the model's columns, and an example in it.
    assert_eq!(
        page.value("document.querySelectorAll('#fields input:not([type=range])').length"),
        2
    );
    assert_eq!(page.value("document.querySelectorAll('#fields select option').length"), 4);
    assert!(page.value("document.getElementById('field-0').value").as_str().unwrap().len() > 1);
    let at_first = page.bars();
    assert_eq!(at_first.len(), 6);

    // Typing into it changes the bars.
    let fill = |at: usize, value: &str, event: &str| {
        format!(
            "{{ const field = document.getElementById('field-{at}'); field.value = '{value}'; \
                 field.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }}"
        )
    };
    page.change(&fill(0, "118", "input"));
    page.change(&fill(1, "19", "input"));
    page.change(&fill(2, "rock", "change"));
    let filled = page.bars();
    assert_ne!(filled, at_first);
    // The same as the service says.
    let row = json!({ "rows": [{ "tempo": 118, "loudness": 19, "style": "rock" }] }).to_string();
    let expected = service.post("/v1/predict", &row).json();
    let expected = &expected["predictions"][0];
    let fast = expected["probabilities"]["fast"].as_f64().unwrap();
    assert!((filled[1] - 100.0 * fast).abs() < 1e-3, "{filled:?} {expected}");

    // What is no number is refused, and said to whoever cannot see.
    page.value(&fill(0, "quick", "input"));
    page.until("!document.getElementById('problem').hidden");
    let problem = page.value("document.getElementById('problem').textContent");
    assert!(problem.as_str().unwrap().contains("expected a number"), "{problem}");
    assert_eq!(
        page.value("document.getElementById('field-0').getAttribute('aria-invalid')"),
        "true"
    );
    page.change(&fill(0, "118", "input"));
    assert_eq!(page.value("document.getElementById('problem').hidden"), true);
    // The browser notes the answer 422 as an error of the page's, which it was.
    assert_eq!(page.trouble.len(), 1, "{:?}", page.trouble);
    assert!(page.trouble.pop().unwrap().contains("422"));

    // A label that is known, by keyboard: the others change at once, and the focus stays.
    page.value("document.querySelector('[name=known-4][value=\"\"]').focus()");
    let n = page.value("Number(document.body.dataset.shown)");
    page.key("ArrowRight", 39);
    page.until(&format!("Number(document.body.dataset.shown) > {n}"));
    let with_known = page.bars();
    assert_eq!(with_known[4], 100.0);
    assert_ne!(with_known[0], filled[0]);
    assert_eq!(
        page.value("document.activeElement.name + document.activeElement.value"),
        "known-41"
    );
    assert_eq!(page.value("document.querySelector('[data-label=sad] small').textContent"), "known");
    assert!(
        page.value("document.getElementById('walk').innerText").as_str().unwrap().contains("known")
    );

    // Another aim has thresholds.
    assert_eq!(page.value("document.querySelectorAll('.tick:not([hidden])').length"), 0);
    page.change("{ const aim = document.getElementById('aim'); aim.value = 'precision'; aim.dispatchEvent(new Event('change')); }");
    assert_eq!(page.value("document.getElementById('aim-argument').hidden"), false);
    page.change("{ const aim = document.getElementById('aim'); aim.value = 'macro-f1'; aim.dispatchEvent(new Event('change')); }");
    assert_eq!(page.value("document.querySelectorAll('.tick:not([hidden])').length"), 6);

    // Order, inputs and similar rows are there.
    assert_eq!(page.value("document.querySelectorAll('#walk tbody tr').length"), 6);
    assert_eq!(page.value("document.querySelectorAll('#inputs li').length"), 3);
    assert!(page.value("document.querySelectorAll('#similar tbody tr').length").as_u64() > Some(2));

    // A pasted row.
    let paste = "tempo,loudness,style,extra\\n70,5,folk,x\\n150,39,techno,y\\n";
    page.change(&format!("{{ document.getElementById('text').value = '{paste}'; document.getElementById('take').click(); }}"));
    assert_eq!(page.value("document.getElementById('field-0').value"), "70");
    assert!(
        page.value("document.getElementById('taken').textContent")
            .as_str()
            .unwrap()
            .contains("Not used: extra")
    );
    page.change("{ const which = document.getElementById('which'); which.value = 1; which.dispatchEvent(new Event('change')); }");
    assert_eq!(page.value("document.getElementById('field-2').value"), "techno");
    page.change("{ document.getElementById('text').value = '{\"tempo\": 61, \"style\": \"rock\"}'; document.getElementById('take').click(); }");
    assert_eq!(
        page.value(
            "document.getElementById('field-0').value + document.getElementById('field-1').value"
        ),
        "61"
    );

    // It fits whatever it is shown on.
    page.change("{ document.getElementById('forget').click(); }");
    page.change(&fill(1, "19", "input"));
    page.change(&fill(0, "118", "input"));
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
        page.screen(width, scheme);
        let wide = page.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(width.into()), "scrolls sideways at {width}: {wide}");
        page.picture(&format!("one-{width}-{scheme}.png"));
    }
    page.screen(1280, "light");
    // Everything that can be used has a name.
    let nameless = page.value(
        "[...document.querySelectorAll('input, select, textarea, button')].filter((it) => it.tabIndex >= 0 && \
         !it.labels?.length && !it.ariaLabel && !it.textContent.trim()).map((it) => it.outerHTML)",
    );
    assert_eq!(nameless, json!([]));

    // A batch of 120 rows, 50 at a time, with a column of its own that comes back.
    page.value("document.getElementById('tab-one').focus()");
    page.key("ArrowRight", 39);
    assert_eq!(page.value("document.getElementById('batch').hidden"), false);
    let lines: Vec<String> = songs()
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let id = if at == 0 { "id".into() } else { format!("\"song, {at}\"") };
            format!("{id},{line}")
        })
        .collect();
    let drop = format!(
        "{{ const data = new DataTransfer(); data.items.add(new File([{}], 'songs.csv')); \
         document.getElementById('drop').dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, cancelable: true, bubbles: true }})); }}",
        json!(lines.join("\n"))
    );
    page.value(&drop);
    page.until("!document.getElementById('download').hidden");
    let state = page.value("document.getElementById('batch-text').textContent");
    assert_eq!(state, "120 rows of songs.csv are labelled.");
    for (width, scheme) in [(1280, "light"), (390, "dark")] {
        page.screen(width, scheme);
        page.picture(&format!("batch-{width}-{scheme}.png"));
    }
    page.value("document.getElementById('download').click()");
    let downloaded = place.path("downloads/songs-labelled.csv");
    let start = Instant::now();
    while !downloaded.exists() {
        assert!(start.elapsed() < PATIENCE, "nothing was downloaded");
        thread::sleep(Duration::from_millis(20));
    }
    let text = fs::read_to_string(downloaded).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    assert!(
        head.starts_with(
            "id,tempo,loudness,style,calm,fast,loud,dance,sad,party,calm:probability,"
        ),
        "{head}"
    );
    assert!(text.contains("\"song, 17\","));
    // The same labels as the program gives, row by row, for the same aim.
    place.ok(&["predict", "model", "songs.csv", "--aim", "macro-f1", "-o", "expected.csv"]);
    let expected = fs::read_to_string(place.path("expected.csv")).unwrap();
    for (found, expected) in lines.zip(expected.lines().skip(1)) {
        // Two quoted parts of an id, and three inputs, come first.
        let labels: Vec<&str> = found.split(',').skip(5).take(6).collect();
        assert_eq!(labels.join(","), expected, "{found}");
    }
    assert_eq!(text.lines().count(), 121);
    assert_eq!(page.trouble, Vec::<String>::new());
    assert!(!service.log().contains("\"status\":5"), "{}", service.log());
}

#[test]
fn the_page_asks_for_the_token() {
    let Some(browser) = browser() else { return };
    let place = Place::new().with("songs.csv", songs()).with("token", "correct-horse-battery");
    place.ok(&["train", "songs.csv", "--labels-last", "6", "-m", "ecc-nb", "-o", "model"]);
    let service = Service::start(place.0.path(), &["model", "--token-file", "token"]);
    let mut page = Page::open(browser, &place, &service.address);
    page.until("document.getElementById('ask')?.open === true");
    page.picture("token.png");
    let submit = |word: &str| {
        format!(
            "document.getElementById('token').value = '{word}'; document.querySelector('#ask button').click()"
        )
    };
    page.value(&submit("wrong"));
    page.until("document.getElementById('ask').open && document.getElementById('ask-text').textContent.includes('not')");
    page.value(&submit("correct-horse-battery"));
    page.until("Number(document.body.dataset.shown) > 0");
    assert_eq!(page.value("document.querySelectorAll('#labels li').length"), 6);
    page.screen(1280, "light");
    page.picture("naive-bayes-1280-light.png");
    // Twice the browser notes that it was refused.
    assert!(page.trouble.iter().all(|it| it.contains("401")), "{:?}", page.trouble);
}
