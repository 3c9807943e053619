//! Parquet: flat tables of any origin, and data sets to the bit.
//!
//! | in the file | read as |
//! |---|---|
//! | integers, floats, decimals | numbers, rounded to the nearest `f64` |
//! | dates and moments | milliseconds since 1970, as in ARFF; times of day since midnight |
//! | booleans | nominal `{false,true}`; as labels 0 and 1 |
//! | texts | nominal, the values in byte order; as labels 0/1, true/false, yes/no |
//! | lists of texts | tags, and nothing else |
//! | null, NaN | missing |
//!
//! Other types, and other nesting, are refused by the column's name. A data set that was written
//! here carries what Parquet has no place for in the file's metadata (see [`about`]): which columns
//! are labels, the declared values of nominal columns, the storage, the row weights.

mod about;
mod chunk;
mod kind;
mod read;
mod write;

pub(crate) use write::write;

use std::fs::File;
use std::io;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::errors::ParquetError;

use super::{Blocks, ReadOptions};
use crate::error::{ContentError, Error, Remedy, Result};

/// What to do about a column of no use.
const LEAVE_OUT: &str = "leave the column out when writing the file, or flatten it";

/// Reads a Parquet file so many rows at a time; `path` is for messages, the data set's name and the
/// label file beside it. All values of nominal columns, and all tags, are known before the first
/// block. There are fewer rows in a block if some are left out.
pub(crate) fn read<'p>(
    path: &'p Path,
    file: File,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<Blocks<'p>> {
    let mut table = undamaged(path, || read::open(path, file, options, n_rows))?;
    let n_all = table.n_rows();
    // There is a block even if there are no rows; an error ends the file.
    let mut next = Some(0usize);
    Ok(Box::new(iter::from_fn(move || {
        let start = next.take()?;
        let end = start.saturating_add(n_rows).min(n_all);
        let block = undamaged(path, || table.block(start..end));
        next = Some(end).filter(|&end| end < n_all && end > start && block.is_ok());
        Some(block)
    })))
}

/// The decoders index and unwrap by what the file says, so a damaged one can make them panic. Nothing
/// that they worked on is used after that.
fn undamaged<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(damaged(path, "a page that cannot be decoded")))
}

/// A fault in a file without lines.
struct Fault(ContentError);

fn fault(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Fault {
    Fault(ContentError {
        path: path.into(),
        line: 0,
        column: 0,
        found: found.into(),
        expected: expected.into(),
        help: None,
        excerpt: None,
    })
}

impl Fault {
    fn help(mut self, help: impl Into<Remedy>) -> Fault {
        self.0.help = Some(help.into());
        self
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Content(Box::new(fault.0))
    }
}

fn damaged(path: &Path, found: impl Into<String>) -> Error {
    fault(path, "a Parquet file", found)
        .help("the Parquet file is damaged or cut off: write or copy it again")
        .into()
}

/// An error of the decoders: of ours passed through, of the system, or else about the content.
fn translated(path: &Path, error: ParquetError) -> Error {
    let ParquetError::External(source) = error else { return damaged(path, error.to_string()) };
    let source = match source.downcast::<Error>() {
        Ok(ours) => return *ours,
        Err(other) => other,
    };
    match source.downcast::<io::Error>() {
        // Decompressors complain by the same type, but only the system has numbers.
        Ok(error) if error.raw_os_error().is_some() => Error::io(path, *error),
        Ok(error) => damaged(path, error.to_string()),
        Err(other) => damaged(path, other.to_string()),
    }
}

#[cfg(test)]
mod tests;
