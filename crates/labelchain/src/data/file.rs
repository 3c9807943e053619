//! Files by name: their format, their compression, and writing them whole or not at all.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::error::{Error, Result, directory_of};

/// The formats of data files; the file's name says which one it has.
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
    /// `.parquet`.
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Bzip2,
}

impl Format {
    /// The format that a file's name promises.
    pub fn of(path: &Path) -> Result<Format> {
        parts(path).1.ok_or_else(|| Error::UnknownFormat { path: path.into() })
    }
}

/// A file's name without directory, format and compression: `data/yeast.arff.gz` is `yeast`.
pub fn stem(path: &Path) -> String {
    parts(path).0
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
    let formats: [(&[&str], Format); 5] = [
        (&[".arff"], Format::Arff),
        (&[".csv"], Format::Csv),
        (&[".tsv"], Format::Tsv),
        (&[".svm", ".libsvm", ".svmlight"], Format::SvmLight),
        (&[".parquet"], Format::Parquet),
    ];
    let found = formats.iter().find_map(|(endings, format)| Some((cut(&name, endings)?, *format)));
    match found {
        Some((stem, format)) => (stem, Some(format), compression),
        None => (name, None, compression),
    }
}

/// Opens a file for reading, decompressed as its name says.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let buffered = BufReader::with_capacity(128 << 10, file);
    Ok(match parts(path).2 {
        Compression::None => Box::new(buffered),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered)),
    })
}

/// Opens a file that is read from its end, decompressing it first into a file without a name.
#[cfg(feature = "parquet")]
pub(crate) fn open_to_seek(path: &Path, max_bytes: u64) -> Result<File> {
    use std::io::Seek as _;
    let refused = |error| Error::io(path, error);
    if parts(path).2 == Compression::None {
        return File::open(path).map_err(refused);
    }
    let mut plain = tempfile::tempfile().map_err(refused)?;
    let n = io::copy(&mut open(path)?.take(max_bytes.saturating_add(1)), &mut plain);
    if n.map_err(refused)? > max_bytes {
        let what = "the decompressed file".into();
        return Err(Error::TooLarge { path: path.into(), what, limit: max_bytes });
    }
    plain.rewind().map_err(refused)?;
    Ok(plain)
}

/// Writes a file whole or not at all: into a temporary neighbour that takes the name at the end.
/// Compressed as the name says. An error of ours that `content` wraps in one of the system's comes
/// back as itself.
pub fn save(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let directory = directory_of(path);
    std::fs::metadata(directory).map_err(|error| Error::io(path, error))?;
    let write = || -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".labelchain-");
        #[cfg(unix)]
        {
            // The file the user asked for, not a secret: as open as the umask lets it be.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory)?;
        let out = BufWriter::with_capacity(128 << 10, file.as_file_mut());
        match parts(path).2 {
            Compression::None => {
                let mut out = out;
                content(&mut out)?;
                out.flush()?;
            }
            Compression::Gzip => {
                let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                content(&mut out)?;
                out.finish()?.flush()?;
            }
            Compression::Bzip2 => {
                let mut out = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
                content(&mut out)?;
                out.finish()?.flush()?;
            }
        }
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| match error.downcast::<Error>() {
        Ok(ours) => ours,
        // By its kind, so that the message does not name the temporary neighbour.
        Err(error) => Error::io(path, error.kind().into()),
    })
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
            ("a.parquet", ("a", Some(Format::Parquet), Compression::None)),
            ("a.parquet.gz", ("a", Some(Format::Parquet), Compression::Gzip)),
            ("model.txt", ("model.txt", None, Compression::None)),
            ("", ("", None, Compression::None)),
        ] {
            let (stem, format, compression) = parts(Path::new(name));
            assert_eq!((stem.as_str(), format, compression), expected, "{name}");
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        save(&path, |out| out.write_all(b"old")).unwrap();
        let error = save(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("interrupted"))
        });
        assert!(error.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_saved_compressed_opens_decompressed() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.arff", "a.arff.gz", "a.arff.bz2"] {
            let path = directory.path().join(name);
            save(&path, |out| out.write_all(b"@relation x")).unwrap();
            let mut text = String::new();
            open(&path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "@relation x");
        }
    }
}
