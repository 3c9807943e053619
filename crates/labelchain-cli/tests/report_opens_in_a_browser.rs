//! The report is a page that a browser shows: nothing goes wrong, nothing is fetched, figures are to be
//! seen, tables sort, and it fits a telephone.
//!
//! Runs where Chromium is installed (`apt-get install chromium`), else says that it was skipped.
#![allow(clippy::unwrap_used, clippy::panic)]

mod browser;
mod place;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use browser::browser;
use place::Place;
use serde_json::Value;

/// Runs in the page before anything else, and reports when it is loaded.
const PROBE: &str = r#"<script nonce="probe">
const trouble = [];
addEventListener("error", (event) => trouble.push("error: " + event.message), true);
addEventListener("unhandledrejection", (event) => trouble.push("rejection: " + event.reason));
addEventListener("securitypolicyviolation", (event) => trouble.push("blocked: " + event.blockedURI));
console.error = console.warn = (...words) => trouble.push(words.join(" "));
addEventListener("load", () => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  for (const part of all("details")) part.open = true;
  const drawings = all("figure svg");
  const empty = drawings.filter((svg) => {
    const box = svg.getBoundingClientRect();
    return box.width < 100 || box.height < 50;
  });
  const mute = drawings.filter((svg) => !svg.querySelector("title").textContent || !svg.querySelector("desc").textContent);
  const tables = all("table");
  const headless = tables.filter((table) => !table.caption || !all("thead th[scope=col]", table).length
    || [...table.tBodies[0].rows].some((row) => !row.querySelector("th[scope=row]")));
  let sorted = 0;
  for (const table of tables) {
    const button = all("thead button", table)[2];
    if (!button) continue;
    const column = button.parentElement.cellIndex;
    const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.value)
      .filter((value) => value !== undefined).map(Number);
    const rises = (list) => list.every((value, at) => at === 0 || list[at - 1] <= value);
    const n = table.tBodies[0].rows.length;
    button.click();
    if (!rises(values()) || button.parentElement.ariaSort !== "ascending") trouble.push("not ascending: " + table.caption.textContent);
    button.click();
    if (!rises(values().reverse()) || button.parentElement.ariaSort !== "descending") trouble.push("not descending: " + table.caption.textContent);
    if (table.tBodies[0].rows.length !== n) trouble.push("rows lost: " + table.caption.textContent);
    sorted += 1;
  }
  // The observer of sizes has run before the next frame but one.
  const report = () => {
  const parts = all(".scroll").filter((part) => part.scrollWidth > part.clientWidth + 1);
  const silent = parts.filter((part) => getComputedStyle(part.nextElementSibling).display === "none");
  const dangling = all("a[href^='#']").filter((link) => !document.getElementById(link.getAttribute("href").slice(1)));
  parent.postMessage(JSON.stringify({
    trouble, sorted, scrolling: parts.length, silent: silent.length,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    drawings: drawings.length, empty: empty.length, mute: mute.length,
    tables: tables.length, headless: headless.length, dangling: dangling.length,
    wide: document.documentElement.scrollWidth, width: innerWidth,
  }), "*");
  };
  setTimeout(report, 500);
});
</script>
</head>"#;

/// Six sets, three methods, three criteria, three folds.
fn results() -> String {
    let mut text = String::from("dataset,method,criterion,fold,loss,seconds\n");
    for (set, dataset) in ["arts", "birds", "enron", "flags", "scene", "yeast"].iter().enumerate() {
        for (method, name) in ["dynamic-nb", "ecc-nb", "br-nb"].iter().enumerate() {
            for (at, criterion) in ["hamming", "zero_one", "macro_f1"].iter().enumerate() {
                for fold in 0..3 {
                    let loss = 100 + 31 * set + 13 * method * (at + 1) + (17 * fold + 7 * set) % 23;
                    let seconds = 1 + method + fold;
                    let _ =
                        writeln!(text, "{dataset},{name},{criterion},{fold},0.{loss},{seconds}");
                }
            }
        }
    }
    text
}

/// What the probe finds in a window of this width.
fn opened(browser: &str, place: &Place, width: u32) -> Value {
    // A window of its own is never narrower than 500 pixels; a frame is.
    let frame = format!(
        "<!doctype html><script>onmessage = (event) => {{ document.documentElement.dataset.outcome = event.data; }};</script>\
         <iframe src=\"probed.html\" style=\"width:{width}px;height:900px;border:0\"></iframe>"
    );
    fs::write(place.path("frame.html"), frame).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", place.path("profile").display()))
        .args(["--window-size=1400,1000", "--dump-dom"])
        .arg(format!("file://{}", place.path("frame.html").display()))
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let outcome = page.split("data-outcome=\"").nth(1).and_then(|rest| rest.split('"').next());
    let outcome = outcome.unwrap_or_else(|| panic!("the page did not load: {page} {error}"));
    serde_json::from_str(&outcome.replace("&quot;", "\"").replace("&amp;", "&")).unwrap()
}

/// A page that admits the probe, which the policy would not obey: it allows the page's own script only.
fn probed(place: &Place, page: &str) {
    let page = fs::read_to_string(place.path(page)).unwrap();
    let admitted = page.replacen("script-src ", "script-src 'nonce-probe' ", 1);
    fs::write(place.path("probed.html"), admitted.replacen("</head>", PROBE, 1)).unwrap();
}

/// What is right of every page in a window of this width.
fn is_whole(found: &Value, width: u32) {
    assert_eq!(found["width"], width, "{found}");
    assert_eq!(found["trouble"], serde_json::json!([]), "{found}");
    assert_eq!(found["requests"], serde_json::json!([]), "{found}");
    assert_eq!((&found["empty"], &found["mute"]), (&0.into(), &0.into()), "{found}");
    assert_eq!(found["headless"], 0, "{found}");
    assert_eq!(found["dangling"], 0, "{found}");
    assert!(found["wide"].as_u64() <= found["width"].as_u64(), "scrolls sideways: {found}");
    // Every part that scrolls by itself says so, and on a telephone there are some.
    assert_eq!(found["silent"], 0, "{found}");
    assert_eq!(found["scrolling"].as_u64() > Some(0), width < 500, "{found}");
}

#[test]
fn the_page_is_whole_in_a_real_browser() {
    let Some(browser) = browser() else { return };
    let place = Place::new().with("r.csv", results());
    place.ok(&["compare", "r.csv", "-o", "page.html"]);
    probed(&place, "page.html");
    let compared = place.json(&["compare", "r.csv", "--json"]);
    let n_criteria = compared["criteria"].as_array().unwrap().len();
    for width in [1280, 390] {
        let found = opened(browser, &place, width);
        is_whole(&found, width);
        // Mean ranks, radar, wins and time; of each criterion a diagram and the folds.
        assert_eq!(found["drawings"], 4 + 2 * n_criteria, "{found}");
        // Losses and ranks; of each criterion statistics, which are not sorted, pairs and losses.
        assert_eq!(found["tables"], 2 + 3 * n_criteria, "{found}");
        assert_eq!(found["sorted"], 2 + 2 * n_criteria, "{found}");
    }
}

#[test]
fn so_is_the_page_about_one_data_set() {
    let Some(browser) = browser() else { return };
    let place = Place::new();
    place.ok(&["generate", "network", "--rows", "200", "--labels", "5", "-o", "n.arff"]);
    let methods = "dynamic-nb,br-nb,br-nb@macro-f1";
    place.ok(&["evaluate", "n.arff", "-m", methods, "--folds", "3", "-o", "page.html"]);
    probed(&place, "page.html");
    for width in [1280, 390] {
        let found = opened(browser, &place, width);
        is_whole(&found, width);
        // Two of losses, calibration of both methods, F1 by label, orders; answers of the three methods,
        // and curves of the two that differ by more than their aim.
        assert_eq!(found["drawings"], 2 + 1 + 1 + 1 + 3 + 2, "{found}");
        // Losses, probabilities, orders; labels of three methods, thresholds of two.
        assert_eq!(found["tables"], 3 + 3 + 2, "{found}");
        assert_eq!(found["sorted"], found["tables"], "{found}");
    }
}

#[test]
fn the_page_is_one_file_and_names_no_address() {
    let place = Place::new().with("r.csv", results());
    place.ok(&["compare", "r.csv", "-o", "page.html"]);
    assert_eq!(place.files(), ["page.html", "r.csv"]);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    // The name of SVG's namespace is an address, but no browser loads it.
    let rest = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("url("));
}
