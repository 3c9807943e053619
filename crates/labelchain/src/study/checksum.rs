//! Is it still the same data?

use std::fs::File;
use std::io;
use std::path::Path;

use super::protocol::SetSpec;
use crate::data::LabelChoice;
use crate::data::label_list::xml_beside;
use crate::error::{Error, Result};

/// BLAKE3 of a data file, and of the label file that belongs to it; none if there is no data.
pub(super) fn checksum(set: &SetSpec) -> Result<Option<String>> {
    let of = |path: &Path| {
        let mut hasher = blake3::Hasher::new();
        match File::open(path).and_then(|file| hasher.update_reader(file).map(|_| ())) {
            Ok(()) => Ok(Some(hasher.finalize().to_hex().to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path, error)),
        }
    };
    let Some(data) = of(&set.path)? else { return Ok(None) };
    let labels = match &set.options.labels {
        LabelChoice::Xml(path) => of(path)?,
        LabelChoice::Detect => of(&xml_beside(&set.path))?,
        _ => None,
    };
    Ok(Some(labels.map_or(data.clone(), |labels| format!("{data} {labels}"))))
}
