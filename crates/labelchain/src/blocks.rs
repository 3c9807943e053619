//! A file of blocks, each of which is read on its own and checked when it is read.
//!
//! A table says how long each block is and has its BLAKE3; the blocks follow, one after the other. Whoever
//! has checked the table hence knows of every block that is read later whether it is still what was written.
//!
//! Blocks are read by position into memory. They are not mapped: a mapped file that somebody cuts off ends
//! the process with a signal, where a read fails with an error, and as long as the file is in the system's
//! page cache a read of some kilobytes takes a microsecond.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Remedy, Result};

/// What a block takes in the table: its length as eight bytes, little-endian, and its checksum.
pub(crate) const ENTRY: usize = 8 + blake3::OUT_LEN;

/// Where blocks are read from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A file that is kept open: one that replaces it under its name changes nothing here.
    File(File),
    Memory(Arc<[u8]>),
}

impl Source {
    /// Fills the room with the bytes from a position on.
    pub(crate) fn read_at(&self, room: &mut [u8], position: u64) -> io::Result<()> {
        match self {
            Source::File(file) => read_file_at(file, room, position),
            Source::Memory(bytes) => {
                let start = usize::try_from(position).ok();
                let from = start.and_then(|start| bytes.get(start..)?.get(..room.len()));
                room.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

#[cfg(unix)]
fn read_file_at(file: &File, room: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, room, position)
}

#[cfg(windows)]
fn read_file_at(file: &File, mut room: &mut [u8], mut position: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !room.is_empty() {
        match file.seek_read(room, position) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                room = &mut room[n..];
                position += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The table of some blocks.
pub(crate) fn table(blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut table = Vec::with_capacity(blocks.len() * ENTRY);
    for block in blocks {
        table.extend((block.len() as u64).to_le_bytes());
        table.extend(blake3::hash(block).as_bytes());
    }
    table
}

/// Writes a header, the table of the blocks and the blocks.
pub(crate) fn write(
    header: &[u8],
    table: &[u8],
    blocks: &[Vec<u8>],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(header)?;
    out.write_all(table)?;
    blocks.iter().try_for_each(|block| out.write_all(block))
}

/// What to do about a file that is not what was written.
pub(crate) fn copy_again() -> Remedy {
    Remedy::from("copy the file again, or train the model again")
}

/// The blocks of a file.
#[derive(Debug)]
pub(crate) struct BlockFile {
    source: Source,
    path: PathBuf,
    blocks: Vec<Entry>,
}

/// A block: where it stands, and what it must be.
#[derive(Debug)]
struct Entry {
    start: u64,
    length: usize,
    checksum: blake3::Hash,
}

impl BlockFile {
    /// Those that a checked table describes, from `start` to the end of the file at `end`; none if they
    /// would end elsewhere.
    pub(crate) fn new(
        source: Source,
        path: &Path,
        table: &[u8],
        start: u64,
        end: u64,
    ) -> Option<BlockFile> {
        let (entries, rest) = table.as_chunks::<ENTRY>();
        let mut next = start;
        let mut entry = |entry: &[u8; ENTRY]| {
            let (length, checksum) = entry.split_first_chunk()?;
            let (start, length) = (next, u64::from_le_bytes(*length));
            next = start.checked_add(length)?;
            let checksum = blake3::Hash::from_slice(checksum).ok()?;
            Some(Entry { start, length: usize::try_from(length).ok()?, checksum })
        };
        let blocks = entries.iter().map(&mut entry).collect::<Option<_>>()?;
        let is_whole = rest.is_empty() && next == end;
        is_whole.then(|| BlockFile { source, path: path.into(), blocks })
    }

    /// How many blocks.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// How long a block is; 0 if there is none of this number.
    pub(crate) fn length(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(0, |entry| entry.length)
    }

    /// Where it comes from, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a block into the room and checks it.
    pub(crate) fn read<'r>(&self, block: usize, room: &'r mut Vec<u8>) -> Result<&'r [u8]> {
        let Some(entry) = self.blocks.get(block) else {
            return Err(self.damaged("the model file is damaged"));
        };
        room.clear();
        room.resize(entry.length, 0);
        match self.source.read_at(room, entry.start) {
            Ok(()) if blake3::hash(room) == entry.checksum => Ok(room),
            Ok(()) => Err(self.damaged("the model file is damaged: its checksum does not match")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.damaged("the model file is cut off"))
            }
            Err(error) => Err(Error::io(&self.path, error)),
        }
    }

    /// The file is not what was written.
    pub(crate) fn damaged(&self, problem: &str) -> Error {
        let (path, problem) = (self.path.clone(), problem.into());
        Error::Model { path, problem, remedy: copy_again() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8], table: &[u8]) -> Option<BlockFile> {
        let source = Source::Memory(bytes.into());
        BlockFile::new(source, "f".as_ref(), table, 3, bytes.len() as u64)
    }

    #[test]
    fn blocks_read_back_and_others_than_were_written_are_refused() {
        let blocks = [b"one".to_vec(), vec![], b"three".to_vec()];
        let (table, mut bytes) = (table(&blocks), b"...".to_vec());
        write(&[], &[], &blocks, &mut bytes).unwrap();
        let (whole, mut room) = (file(&bytes, &table).unwrap(), vec![9; 99]);
        for (at, block) in blocks.iter().enumerate() {
            assert_eq!(whole.read(at, &mut room).unwrap(), block);
        }
        assert!(whole.read(3, &mut room).is_err(), "there are three");

        assert!(file(&bytes[..bytes.len() - 1], &table).is_none(), "cut off");
        assert!(file(&bytes, &table[..table.len() - 1]).is_none(), "half an entry");
        let damaged = file(b"...onethrae", &table).unwrap();
        assert!(damaged.read(0, &mut room).is_ok(), "it is another block that is damaged");
        assert!(matches!(damaged.read(2, &mut room), Err(Error::Model { .. })));
    }

    #[test]
    fn a_file_that_is_cut_off_after_it_was_opened_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        let blocks = [vec![7; 5000], vec![8; 5000]];
        let mut bytes = Vec::new();
        write(&[], &[], &blocks, &mut bytes).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let source = Source::File(File::open(&path).unwrap());
        let open = BlockFile::new(source, &path, &table(&blocks), 0, 10_000).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(9_999).unwrap();
        let mut room = Vec::new();
        assert_eq!(open.read(0, &mut room).unwrap(), blocks[0]);
        let error = open.read(1, &mut room).unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
    }
}
