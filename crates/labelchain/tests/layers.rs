//! Each module uses only what its row of the table in ARCHITECTURE.md names, and what those rows
//! name in turn.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Layers = BTreeMap<String, BTreeSet<String>>;

/// The rows between "May use" and the next blank line: | `module`, … | `used`, … |
fn table() -> Layers {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(document).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| Module | May use")).skip(2);
    let mut layers = Layers::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let words = |cell: &str| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(String::from).collect()
        };
        let cells: Vec<&str> = row.split('|').collect();
        for module in words(cells[1]) {
            layers.insert(module, words(cells[2]).into_iter().collect());
        }
    }
    assert!(layers.contains_key("data"), "the table is there");
    layers
}

fn reachable(module: &str, layers: &Layers) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = layers[module].iter().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next.clone()) {
            open.extend(&layers[next]);
        }
    }
    seen
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn modules_use_only_the_layers_below_them() {
    let layers = table();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&src) {
        let module = path.strip_prefix(&src).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = module.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        assert!(layers.contains_key(module), "{module} has no row in ARCHITECTURE.md");
        let allowed = reachable(module, &layers);
        let text = fs::read_to_string(&path).unwrap();
        // Tests may look down from above: only what stands before them counts.
        let code = text.split("#[cfg(test)]").next().unwrap();
        for at in code.match_indices("crate::").map(|(at, _)| at + "crate::".len()) {
            let used: String =
                code[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(
                used == module || allowed.contains(&used),
                "{} uses {used}, which {module} may not",
                path.display()
            );
        }
    }
}
