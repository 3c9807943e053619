//! Checksums of files, computed from the very bytes that readers are given.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::error::unpoisoned;

/// The BLAKE3 checksums of all files that are opened in a reading, as they are stored. Whoever takes
/// a checksum first and opens the file by its name afterwards may read another file.
#[derive(Clone, Debug, Default)]
pub struct Checksums(Option<Arc<Mutex<ByPath>>>);

/// A file that changed between two openings has two checksums.
type ByPath = HashMap<PathBuf, HashSet<blake3::Hash>>;

impl Checksums {
    /// Notes checksums, which the default does not: hashing takes time.
    pub fn noted() -> Checksums {
        Checksums(Some(Arc::default()))
    }

    /// The checksum of a file, in hexadecimal digits; none if it was not read, or not the same each
    /// time.
    pub fn of(&self, path: &Path) -> Option<String> {
        let by_path = unpoisoned(self.0.as_deref()?);
        let [hash] = by_path.get(path)?.iter().collect::<Vec<_>>()[..] else { return None };
        Some(hash.to_hex().to_string())
    }

    /// Whether checksums are noted.
    pub(super) fn are_noted(&self) -> bool {
        self.0.is_some()
    }

    /// The same file; its checksum is noted when the reader is dropped.
    pub(super) fn hashed(&self, path: &Path, file: File) -> Box<dyn Read> {
        match &self.0 {
            None => Box::new(file),
            Some(into) => Box::new(Hashed {
                path: path.into(),
                file,
                hasher: blake3::Hasher::new(),
                into: Arc::clone(into),
            }),
        }
    }
}

struct Hashed {
    path: PathBuf,
    file: File,
    hasher: blake3::Hasher,
    into: Arc<Mutex<ByPath>>,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        Ok(n)
    }
}

impl Drop for Hashed {
    /// A reader may stop before the end of the file, but the checksum is that of all of it. If the
    /// rest cannot be read, what was read has a checksum that no one expects.
    fn drop(&mut self) {
        let _ = self.hasher.update_reader(&self.file);
        let hash = self.hasher.finalize();
        unpoisoned(&self.into).entry(std::mem::take(&mut self.path)).or_default().insert(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_the_whole_file_however_much_was_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let text = "0123456789".repeat(50_000);
        std::fs::write(&path, &text).unwrap();
        for n_read in [0, 1, text.len() as u64 / 2, u64::MAX] {
            let checksums = Checksums::noted();
            let read = checksums.hashed(&path, File::open(&path).unwrap()).take(n_read);
            assert!(io::read_to_string(read).is_ok_and(|read| text.starts_with(&read)));
            let expected = blake3::hash(text.as_bytes()).to_hex().to_string();
            assert_eq!(checksums.of(&path), Some(expected), "{n_read}");
        }
    }

    #[test]
    fn a_file_that_changes_between_two_openings_has_no_checksum() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let checksums = Checksums::noted();
        assert_eq!(checksums.of(&path), None);
        for (text, is_one) in [("old", true), ("old", true), ("new", false), ("old", false)] {
            std::fs::write(&path, text).unwrap();
            drop(checksums.hashed(&path, File::open(&path).unwrap()));
            assert_eq!(checksums.of(&path).is_some(), is_one, "{text}");
        }
    }
}
