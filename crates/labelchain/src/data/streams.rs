//! What can be read only once: standard input and pipes.
//!
//! Most formats are read twice, so a stream is first copied into a temporary file that has no name,
//! and from then on is like any file. The copy is bounded by the disk and not by
//! [`ReadOptions::max_memory`](super::ReadOptions::max_memory), because rows are taken from it a block
//! at a time; the system frees it with the last reader.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result, unpoisoned};

/// The streams that were read so far. Clones share them: who reads a stream again, by the same
/// [`ReadOptions`](super::ReadOptions), gets the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Streams(Arc<Mutex<HashMap<PathBuf, Arc<Mutex<File>>>>>);

impl Streams {
    /// Whether this is standard input, `-`, or a pipe. Devices are neither: some of them never end.
    pub fn is_stream(path: &Path) -> bool {
        path == Path::new("-") || is_pipe(path)
    }

    /// A reader of its own for the bytes of a stream, which is read to its end if it was not yet.
    pub(super) fn open(&self, path: &Path) -> Result<impl Read + 'static> {
        Ok(Copy { file: self.copy(path)?, at: 0 })
    }

    /// The file that holds them, for who reads from the end.
    #[cfg(feature = "parquet")]
    pub(super) fn file(&self, path: &Path) -> Result<File> {
        let file = self.copy(path)?;
        unpoisoned(&file).try_clone().map_err(|error| Error::io(path, error))
    }

    fn copy(&self, path: &Path) -> Result<Arc<Mutex<File>>> {
        let mut read = unpoisoned(&self.0);
        if let Some(file) = read.get(path) {
            return Ok(Arc::clone(file));
        }
        // A full disk is no fault of the stream's.
        let disk = |error| Error::io(std::env::temp_dir(), error);
        let mut file = tempfile::tempfile().map_err(disk)?;
        let copied = if path == Path::new("-") {
            io::copy(&mut io::stdin().lock(), &mut file)
        } else {
            File::open(path).and_then(|mut pipe| io::copy(&mut pipe, &mut file))
        };
        copied.map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge => disk(error),
            _ => Error::io(path, error),
        })?;
        let file = Arc::new(Mutex::new(file));
        read.insert(path.into(), Arc::clone(&file));
        Ok(file)
    }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.metadata().is_ok_and(|about| about.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// A place in a file that others read, too.
struct Copy {
    file: Arc<Mutex<File>>,
    at: u64,
}

impl Read for Copy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = unpoisoned(&self.file);
        file.seek(SeekFrom::Start(self.at))?;
        let n = file.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::data::{LabelChoice, ReadOptions, read, read_by_columns};

    #[test]
    fn a_pipe_is_read_once_and_then_as_often_as_needed() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe.csv");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let write = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::write(pipe, "a,b,y\n1,u,1\n2,v,0\n"))
        };
        let labels = LabelChoice::Last(1);
        let options = ReadOptions { labels, ..ReadOptions::default() };
        let whole = read(&pipe, &options).unwrap().into_rows().unwrap();
        write.join().unwrap().unwrap();
        assert_eq!((whole.n_rows(), whole.n_features()), (2, 2));
        // Nobody writes to it any more; the copy is what is read.
        let parts: Vec<_> = read_by_columns(&pipe, &options, 16).unwrap().collect();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1].as_ref().unwrap().attributes(), &whole.attributes()[1..]);
    }

    #[test]
    fn two_readers_do_not_disturb_each_other() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"abcdef").unwrap();
        let streams = Streams::default();
        unpoisoned(&streams.0).insert("-".into(), Arc::new(Mutex::new(file)));
        let (mut one, mut other) =
            (streams.open("-".as_ref()).unwrap(), streams.open("-".as_ref()).unwrap());
        let mut two = [0; 2];
        for expected in [b"ab", b"cd", b"ef"] {
            one.read_exact(&mut two).unwrap();
            assert_eq!(&two, expected);
            other.read_exact(&mut two).unwrap();
            assert_eq!(&two, expected);
        }
    }
}
