//! The data of a set: where it comes from, and a checksum that shows whether it has changed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::PaperSet;
use crate::data::label_list::xml_beside;
use crate::data::{Dataset, LabelChoice, ReadOptions, read};
use crate::error::{Error, Result};

/// Where a data set comes from.
#[derive(Clone, Debug)]
pub enum SetSource {
    /// A data file.
    File {
        /// The data file.
        path: PathBuf,
        /// How it is read.
        options: ReadOptions,
    },
    /// A set of the paper's table, in the paper's form.
    Paper {
        /// The set.
        set: &'static PaperSet,
        /// The directory of its file.
        directory: PathBuf,
    },
}

impl SetSource {
    /// The data file, if it exists.
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            SetSource::File { path, .. } => path.exists().then(|| path.clone()),
            SetSource::Paper { set, directory } => set.file(directory),
        }
    }

    /// Whether the data is available: its file exists, or it is generated.
    pub fn is_there(&self) -> bool {
        let is_made = matches!(self, SetSource::Paper { set, .. } if set.is_made());
        is_made || self.file().is_some()
    }

    /// Reads or generates the data.
    pub(super) fn open(&self, max_memory: u64) -> Result<Dataset> {
        match self {
            SetSource::File { path, options } => {
                read(path, &ReadOptions { max_memory, ..options.clone() })?.into_rows()
            }
            SetSource::Paper { set, directory } => set
                .open(directory, max_memory)?
                .ok_or_else(|| Error::io(directory.join(set.stem), io::ErrorKind::NotFound.into())),
        }
    }

    /// The BLAKE3 checksum of the data file and of its label file, if it has one; `None` if there is no
    /// data. Generated data has no file and changes only with the program, whose version is stored
    /// with the results.
    pub(super) fn checksum(&self) -> Result<Option<String>> {
        let Some(file) = self.file() else {
            return Ok(self.is_there().then(|| "made".into()));
        };
        let Some(data) = blake3_of(&file)? else { return Ok(None) };
        let labels = match self {
            SetSource::File {
                options: ReadOptions { labels: LabelChoice::Xml(path), .. }, ..
            } => blake3_of(path)?,
            SetSource::File {
                options: ReadOptions { labels: LabelChoice::Detect, .. }, ..
            }
            | SetSource::Paper { .. } => blake3_of(&xml_beside(&file))?,
            SetSource::File { .. } => None,
        };
        Ok(Some(labels.map_or(data.clone(), |labels| format!("{data} {labels}"))))
    }
}

fn blake3_of(path: &Path) -> Result<Option<String>> {
    let mut hasher = blake3::Hasher::new();
    match File::open(path).and_then(|file| hasher.update_reader(file).map(|_| ())) {
        Ok(()) => Ok(Some(hasher.finalize().to_hex().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}
