//! Merges the results of parts of a study that were computed separately.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::ledger::{Cell, Key, Ledger};
use crate::error::{Error, Remedy, Result, Task};

/// What a merge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The number of cells that were added.
    pub n_new: usize,
    /// The number of cells after the merge.
    pub n_cells: usize,
}

/// Adds the cells of `parts` to `out`, all or none. A cell that is there already must have the same
/// losses. A cell that failed is replaced by one that did not.
pub fn merge(out: &Path, parts: &[PathBuf]) -> Result<Merged> {
    let is_new = out.symlink_metadata().is_err();
    let merged = Ledger::lock(out).and_then(|ledger| {
        let merged = add(&ledger, parts)?;
        ledger.close()?;
        Ok(merged)
    });
    if is_new && merged.is_err() {
        // If removing the empty file fails, too, it does no harm.
        let _ = fs::remove_file(out);
    }
    merged
}

fn add(ledger: &Ledger, parts: &[PathBuf]) -> Result<Merged> {
    let mut cells: HashMap<Key, Cell> =
        ledger.cells()?.into_iter().map(|cell| (cell.key(), cell)).collect();
    let mut n_new = 0;
    for path in parts {
        let part = Ledger::look(path)?;
        let heading = part.as_ref().map(Ledger::heading).transpose()?.flatten();
        let (Some(part), Some(heading)) = (part, heading) else {
            return Err(Error::Results {
                path: path.clone(),
                problem: "no results there".into(),
                remedy: Remedy::from("name the files that ")
                    .task(Task::RunStudy)
                    .text(" wrote with ")
                    .setting("shard"),
            });
        };
        ledger.join(&heading).map_err(|error| of_part(error, path))?;
        for cell in part.cells()? {
            match cells.get(&cell.key()).map(|known| &known.outcome) {
                Some(Err(_)) if cell.outcome.is_ok() => {}
                Some(Ok(known)) if cell.outcome.as_ref().is_ok_and(|new| new != known) => {
                    let Cell { dataset, method, fold, .. } = cell;
                    return Err(Error::Results {
                        path: path.clone(),
                        problem: format!(
                            "other losses of {method} on {dataset}, fold {fold}, than before"
                        ),
                        remedy: "find out which of the two are right, and leave the others out"
                            .into(),
                    });
                }
                Some(_) => continue,
                None => n_new += 1,
            }
            ledger.write(&cell)?;
            cells.insert(cell.key(), cell);
        }
    }
    Ok(Merged { n_new, n_cells: cells.len() })
}

/// The error for a part that does not fit, with the path of the part.
fn of_part(error: Error, part: &Path) -> Error {
    match error {
        Error::Results { problem, .. } => Error::Results {
            path: part.into(),
            problem: format!("does not fit the rest: {problem}"),
            remedy: "merge parts of one study, computed by one version on the same data".into(),
        },
        error => error,
    }
}
