//! The data of a set: where it comes from, and a checksum that shows whether it has changed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::PaperSet;
use crate::data::label_list::xml_beside;
use crate::data::{Checksums, Dataset, LabelChoice, ReadOptions, read};
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

    /// The files that it is read from, as far as they exist: the data and its label list.
    pub fn files(&self) -> Vec<PathBuf> {
        let list = match self {
            SetSource::File {
                options: ReadOptions { labels: LabelChoice::Xml(path), .. }, ..
            } => Some(path.clone()),
            _ => self.file().map(|file| xml_beside(&file)),
        };
        self.file().into_iter().chain(list).filter(|path| path.exists()).collect()
    }

    /// Whether the data is available: its file exists, or it is generated.
    pub fn is_there(&self) -> bool {
        let is_made = matches!(self, SetSource::Paper { set, .. } if set.is_made());
        is_made || self.file().is_some()
    }

    /// Reads or generates the data whose checksum is recorded in the results; refuses any other, by
    /// the bytes that were read.
    pub(super) fn open(&self, max_memory: u64, recorded: &str) -> Result<Dataset> {
        let checksums = Checksums::noted();
        let data = self.read(max_memory, &checksums);
        let found = match &data {
            Ok(_) => self.checksum_by(|path| Ok(checksums.of(path)))?,
            // It may have come to an end before all files were opened.
            Err(_) => self.checksum()?,
        };
        // A file that is not there has not changed: another machine may have it elsewhere.
        if found.as_deref() == Some(recorded) || (found.is_none() && data.is_err()) {
            return data;
        }
        Err(Error::Results {
            path: match self {
                SetSource::File { path, .. } => path.clone(),
                SetSource::Paper { set, directory } => directory.join(set.stem),
            },
            problem: "changed while the study ran".into(),
            remedy: "run the study again with the file as it was before".into(),
        })
    }

    fn read(&self, max_memory: u64, checksums: &Checksums) -> Result<Dataset> {
        let with = |options: &ReadOptions| {
            let checksums = checksums.clone();
            ReadOptions { max_memory, checksums, ..options.clone() }
        };
        match self {
            SetSource::File { path, options } => read(path, &with(options))?.into_rows(),
            SetSource::Paper { set, directory } => set
                .open(directory, &with(&ReadOptions::default()))?
                .ok_or_else(|| Error::io(directory.join(set.stem), io::ErrorKind::NotFound.into())),
        }
    }

    /// The BLAKE3 checksum of the data file and of its label file, if it has one; `None` if there is no
    /// data. Generated data has no file and changes only with the program, whose version is stored
    /// with the results.
    pub(super) fn checksum(&self) -> Result<Option<String>> {
        self.checksum_by(blake3_of)
    }

    /// The same with the checksum `of` each file, if there is one.
    fn checksum_by(&self, of: impl Fn(&Path) -> Result<Option<String>>) -> Result<Option<String>> {
        let Some(file) = self.file() else {
            return Ok(self.is_there().then(|| "made".into()));
        };
        let Some(data) = of(&file)? else { return Ok(None) };
        let labels = match self {
            SetSource::File {
                options: ReadOptions { labels: LabelChoice::Xml(path), .. }, ..
            } => of(path)?,
            SetSource::File {
                options: ReadOptions { labels: LabelChoice::Detect, .. }, ..
            }
            | SetSource::Paper { .. } => of(&xml_beside(&file))?,
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::data::{LabelNetwork, Table, write};
    use crate::seed::Seed;

    fn data(seed: u64) -> Table {
        let network = LabelNetwork { n_rows: 50, ..LabelNetwork::default() };
        Table::Rows(network.generate("network", Seed::new(seed)).unwrap())
    }

    #[test]
    fn what_is_read_is_what_was_recorded_in_every_format() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.arff", "b.csv.gz", "c.tsv.bz2", "d.svm", "e.parquet", "f.parquet.gz"] {
            if cfg!(not(feature = "parquet")) && name.contains("parquet") {
                continue;
            }
            let path = directory.path().join(name);
            let source = SetSource::File { path: path.clone(), options: ReadOptions::default() };
            let changed = format!("{}: changed while the study ran", path.display());
            let refused = |recorded: &str| {
                assert_eq!(source.open(u64::MAX, recorded).unwrap_err().to_string(), changed);
            };
            write(&data(1), &path).unwrap();
            let list = xml_beside(&path);
            fs::write(&list, fs::read(&list).unwrap_or_else(|_| labels())).unwrap();
            let recorded = source.checksum().unwrap().unwrap();
            let read = source.open(u64::MAX, &recorded).unwrap();
            assert_eq!((read.n_rows(), recorded.len()), (50, 64 + 1 + 64), "{name}");

            // The data, then a label list of other names, then none.
            write(&data(2), &path).unwrap();
            refused(&recorded);
            write(&data(1), &path).unwrap();
            source.open(u64::MAX, &recorded).unwrap();
            let text = fs::read_to_string(&list).unwrap();
            fs::write(&list, text.replace("<labels", "<!-- new --><labels")).unwrap();
            refused(&recorded);
            fs::remove_file(&list).unwrap();
            refused(&recorded);
            // A file that is no longer one of its format.
            fs::write(&list, text).unwrap();
            fs::write(&path, "no data").unwrap();
            refused(&recorded);
            // One that is not there has not changed.
            fs::remove_file(&path).unwrap();
            let gone = source.open(u64::MAX, &recorded).unwrap_err();
            assert!(
                matches!(&gone, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
            );
        }
    }

    /// The label list of the data, for formats whose writer makes none.
    fn labels() -> Vec<u8> {
        let Table::Rows(data) = data(1) else { unreachable!("rows") };
        crate::data::label_list::LabelList::text(data.label_names(), &[]).into_bytes()
    }

    #[test]
    fn a_fault_of_the_data_is_told_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        fs::write(&path, "x,y\n1,2\n").unwrap();
        let labels = LabelChoice::Last(1);
        let options = ReadOptions { labels, ..ReadOptions::default() };
        let source = SetSource::File { path, options };
        let recorded = source.checksum().unwrap().unwrap();
        let error = source.open(u64::MAX, &recorded).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
