//! Files by name: their format, their compression, and opening them to be read.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

#[cfg(feature = "parquet")]
use super::lines::unreadable;
use super::{Checksums, ReadOptions, Streams};
use crate::error::{Error, Result};

/// The formats of data files; the file's name says which one it has, unless
/// [`ReadOptions::format`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.arff`: dense, sparse or multi-instance.
    Arff,
    /// `.csv`: fields separated by commas.
    Csv,
    /// `.tsv`: fields separated by tabs.
    Tsv,
    /// `.svm`, `.libsvm`, `.svmlight`: label ids, then index:value pairs.
    SvmLight,
    /// `.jsonl`, `.ndjson`: one object a line.
    JsonLines,
    /// `.parquet`.
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Bzip2,
}

impl Format {
    /// How the formats are called where no file's name says them.
    pub const NAMES: [(&str, Format); 6] = [
        ("arff", Format::Arff),
        ("csv", Format::Csv),
        ("tsv", Format::Tsv),
        ("svmlight", Format::SvmLight),
        ("jsonl", Format::JsonLines),
        ("parquet", Format::Parquet),
    ];

    /// Whether rows are lines of fields with a delimiter between them.
    pub(crate) fn is_delimited(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// The format that a file's name promises.
    pub fn of(path: &Path) -> Result<Format> {
        parts(path).1.ok_or_else(|| Error::UnknownFormat { path: path.into() })
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Format> {
        let found = Format::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|&(_, format)| format).ok_or_else(|| Error::Setting {
            name: "format",
            value: format!("{text:?}"),
            accepted: "arff, csv, tsv, svmlight, jsonl or parquet",
        })
    }
}

/// A file's name without directory, format and compression: `data/yeast.arff.gz` is `yeast`.
pub fn stem(path: &Path) -> String {
    parts(path).0
}

/// The compression that a file's name promises.
pub(super) fn compression(path: &Path) -> Compression {
    parts(path).2
}

fn parts(path: &Path) -> (String, Option<Format>, Compression) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let cut = |name: &str, endings: &[&str]| {
        endings.iter().find_map(|ending| {
            let at =
                name.len().checked_sub(ending.len()).filter(|&at| name.is_char_boundary(at))?;
            name[at..].eq_ignore_ascii_case(ending).then(|| name[..at].to_string())
        })
    };
    let (name, compression) = if let Some(rest) = cut(&name, &[".gz"]) {
        (rest, Compression::Gzip)
    } else if let Some(rest) = cut(&name, &[".bz2"]) {
        (rest, Compression::Bzip2)
    } else {
        (name.into_owned(), Compression::None)
    };
    let formats: [(&[&str], Format); 6] = [
        (&[".arff"], Format::Arff),
        (&[".csv"], Format::Csv),
        (&[".tsv"], Format::Tsv),
        (&[".svm", ".libsvm", ".svmlight"], Format::SvmLight),
        (&[".jsonl", ".ndjson"], Format::JsonLines),
        (&[".parquet"], Format::Parquet),
    ];
    let found = formats.iter().find_map(|(endings, format)| Some((cut(&name, endings)?, *format)));
    match found {
        Some((stem, format)) => (stem, Some(format), compression),
        None => (name, None, compression),
    }
}

/// Opens a file as it is stored. Pipes and devices are refused: most formats are read more than once,
/// the second time from an empty pipe, and opening a pipe that nobody writes to takes for ever.
pub(crate) fn open_stored(path: &Path) -> Result<File> {
    let refused = |error| Error::io(path, error);
    let about = fs::metadata(path).map_err(refused)?;
    if about.is_dir() {
        return Err(refused(io::ErrorKind::IsADirectory.into()));
    }
    if !about.is_file() {
        return Err(Error::NotAFile { path: path.into() });
    }
    File::open(path).map_err(refused)
}

/// Opens a file for reading, decompressed as its name says.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>> {
    open_hashed(path, &Checksums::default())
}

/// The same, with a checksum of the file as it is stored.
pub(crate) fn open_hashed(path: &Path, checksums: &Checksums) -> Result<Box<dyn Read>> {
    Ok(decompressed(path, checksums.hashed(path, open_stored(path)?)))
}

/// Opens data for reading, which may be a stream. What is checked against a checksum must be a file:
/// it will be read again when the stream is gone.
pub(crate) fn open_data(path: &Path, options: &ReadOptions) -> Result<Box<dyn Read>> {
    if is_stream(path, options) {
        Ok(decompressed(path, Box::new(options.streams.open(path)?)))
    } else {
        open_hashed(path, &options.checksums)
    }
}

fn is_stream(path: &Path, options: &ReadOptions) -> bool {
    Streams::is_stream(path) && !options.checksums.are_noted()
}

fn decompressed(path: &Path, stored: Box<dyn Read>) -> Box<dyn Read> {
    let buffered = BufReader::with_capacity(128 << 10, stored);
    match compression(path) {
        Compression::None => Box::new(buffered),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered)),
    }
}

/// Opens a file that is read from its end. What is compressed or hashed is read from its start, and
/// so is first copied into a file without a name.
#[cfg(feature = "parquet")]
pub(crate) fn open_to_seek(path: &Path, options: &ReadOptions) -> Result<File> {
    use std::io::Seek as _;
    let (refused, max_bytes) = (|error| Error::io(path, error), options.max_memory);
    if compression(path) == Compression::None && !options.checksums.are_noted() {
        let is_stream = is_stream(path, options);
        return if is_stream { options.streams.file(path) } else { open_stored(path) };
    }
    let mut plain = tempfile::tempfile().map_err(refused)?;
    let n = io::copy(&mut open_data(path, options)?.take(max_bytes.saturating_add(1)), &mut plain);
    if n.map_err(|error| unreadable(path, 0, error))? > max_bytes {
        let what = "the decompressed file".into();
        return Err(Error::TooLarge { path: path.into(), what, needed: None, limit: max_bytes });
    }
    plain.rewind().map_err(refused)?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_compression_and_stem() {
        for (name, expected) in [
            ("data/yeast.arff.gz", ("yeast", Some(Format::Arff), Compression::Gzip)),
            ("IMDB.ARFF.BZ2", ("IMDB", Some(Format::Arff), Compression::Bzip2)),
            ("tmc2007-500.csv", ("tmc2007-500", Some(Format::Csv), Compression::None)),
            ("a.b.libsvm", ("a.b", Some(Format::SvmLight), Compression::None)),
            ("a.jsonl", ("a", Some(Format::JsonLines), Compression::None)),
            ("a.NDJSON.gz", ("a", Some(Format::JsonLines), Compression::Gzip)),
            ("a.parquet", ("a", Some(Format::Parquet), Compression::None)),
            ("a.parquet.gz", ("a", Some(Format::Parquet), Compression::Gzip)),
            ("model.txt", ("model.txt", None, Compression::None)),
            ("", ("", None, Compression::None)),
        ] {
            let (stem, format, compression) = parts(Path::new(name));
            assert_eq!((stem.as_str(), format, compression), expected, "{name}");
        }
    }
}
