//! The model file: header, version, checksum, then the model.
//!
//! | bytes | content |
//! |---|---|
//! | 16 | `labelchain model` |
//! | 4 | format, little-endian |
//! | 8 | length of the content, little-endian |
//! | 32 | BLAKE3 of the content |
//! | rest | the content, as postcard |
//!
//! The checksum is not optional: most damaged contents still decode to something.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::data::save;
use crate::error::{Error, Result};
use crate::model::Model;

const MAGIC: &[u8; 16] = b"labelchain model";
const HEADER: usize = 16 + 4 + 8 + 32;

impl Model {
    /// The format of model files that this version writes, and the only one it reads.
    pub const FORMAT: u32 = 6;

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let content = postcard::to_stdvec(self).map_err(|error| Error::Model {
            path: path.into(),
            problem: format!("the model could not be written: {error}"),
            remedy: "please report it as a bug".into(),
        })?;
        save(path, |out| {
            out.write_all(MAGIC)?;
            out.write_all(&Self::FORMAT.to_le_bytes())?;
            out.write_all(&(content.len() as u64).to_le_bytes())?;
            out.write_all(blake3::hash(&content).as_bytes())?;
            out.write_all(&content)
        })
    }

    /// Reads a model file of at most `max_bytes`.
    pub fn load(path: &Path, max_bytes: u64) -> Result<Model> {
        let refused = |error| Error::io(path, error);
        let refuse = |problem: &str, remedy: &'static str| {
            Err(Error::Model { path: path.into(), problem: problem.into(), remedy: remedy.into() })
        };
        const AGAIN: &str = "copy the file again, or train the model again";
        let file = File::open(path).map_err(refused)?;
        let size = file.metadata().map_err(refused)?.len();
        let mut bytes = Vec::with_capacity(size.min(max_bytes) as usize + 1);
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > max_bytes {
            let what = "the model".into();
            return Err(Error::TooLarge { path: path.into(), what, limit: max_bytes });
        }
        let Some((header, content)) = bytes.split_at_checked(HEADER) else {
            return match bytes.starts_with(&MAGIC[..bytes.len().min(16)]) && !bytes.is_empty() {
                true => refuse("the model file is cut off", AGAIN),
                false => refuse("not a labelchain model", "models are written by labelchain train"),
            };
        };
        if header[..16] != MAGIC[..] {
            return refuse("not a labelchain model", "models are written by labelchain train");
        }
        let number = |from: usize, to: usize| {
            header[from..to].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if number(16, 20) != u64::from(Self::FORMAT) {
            let problem =
                format!("model format {}, this program reads {}", number(16, 20), Self::FORMAT);
            return refuse(&problem, "use the version of labelchain that wrote it, or train again");
        }
        if number(20, 28) != content.len() as u64 {
            return refuse("the model file is cut off or has bytes added", AGAIN);
        }
        if blake3::hash(content).as_bytes()[..] != header[28..60] {
            return refuse("the model file is damaged: its checksum does not match", AGAIN);
        }
        match postcard::from_bytes(content) {
            Ok(trained) if Model::is_sound(&trained) => Ok(trained.within(max_bytes)),
            _ => refuse("the model file is damaged", AGAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, LabelNetwork, ReadOptions, Table, parse};
    use crate::ensemble::Sampling;
    use crate::experiment::Settings;
    use crate::prepare::{BagReduction, MedoidStart};
    use crate::seed::Seed;

    #[test]
    fn a_model_reads_back_and_every_damage_is_refused() {
        for method in ["dynamic-nb", "dynamic-knn", "ecc-knn"] {
            check(method, Some(300));
        }
        check("br-knn", None);
    }

    #[test]
    fn a_model_of_bags_reads_back_and_every_damage_is_refused() {
        let bags: String =
            (0..12).map(|n| format!("'{n},1\\n{},{}',{}\n", n * n, n % 5, n % 2)).collect();
        let text = format!(
            "@relation 'b: -C -1'\n@attribute bag relational\n@attribute x numeric\n@attribute y numeric\n\
             @end bag\n@attribute a {{0,1}}\n@data\n{bags}"
        );
        let table =
            parse("b.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap().table;
        let Table::Bags(bags) = &table else { panic!("bags") };
        let sampling = Sampling { n_members: 1, ..Sampling::default() };
        let settings = Settings { sampling, decay: Some(1.0), ..Settings::default() };
        let medoids = BagReduction::Medoids { n: 3, start: MedoidStart::Build, swap: true };
        for reduction in [BagReduction::Concat, medoids] {
            let method = "br-nb".parse().unwrap();
            let trained = Model::fit_bags(bags, reduction, method, &settings, 1, &|_| ()).unwrap();
            check_file(&trained, |model| {
                let rows = model.rows(table.clone(), "b.arff".as_ref())?;
                model.align(&rows, "b.arff".as_ref()).map(|(rows, _)| rows)
            });
        }
    }

    fn check(method: &str, max_features: Option<usize>) {
        let network =
            LabelNetwork { n_rows: 40, n_labels: 3, n_features: 3, ..LabelNetwork::default() };
        let data = network.generate("t", Seed::new(1)).unwrap();
        let sampling = Sampling { n_members: 2, ..Sampling::default() };
        let settings = Settings { sampling, decay: Some(1.0), max_features, ..Settings::default() };
        let trained = Model::fit(&data, method.parse().unwrap(), &settings, 1, &|_| ()).unwrap();
        check_file(&trained, |_| Ok(data.clone()));
    }

    /// `rows` are what a model is asked about.
    fn check_file(trained: &Model, rows: impl Fn(&Model) -> Result<Dataset>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.labelchain");
        trained.save(&path).unwrap();
        let loaded = Model::load(&path, u64::MAX).unwrap();
        let votes = |model: &Model| model.predict(&rows(model).unwrap()).unwrap().votes;
        assert_eq!(votes(&loaded), votes(trained));

        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(Model::load(&path, u64::MAX), Err(Error::Model { .. })), "{length}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            std::fs::write(&path, &flipped).unwrap();
            assert!(matches!(Model::load(&path, u64::MAX), Err(Error::Model { .. })), "{at}");
        }
        assert!(matches!(Model::load(&path, 10), Err(Error::TooLarge { .. })));

        // Made by hand, with a checksum that fits: refused, or read and usable, but never a panic.
        let mut n_read = 0;
        for at in (HEADER..whole.len()).step_by(7) {
            for flip in [0x01, 0x80] {
                let mut forged = whole.clone();
                forged[at] ^= flip;
                let checksum = blake3::hash(&forged[HEADER..]);
                forged[28..HEADER].copy_from_slice(checksum.as_bytes());
                std::fs::write(&path, &forged).unwrap();
                if let Ok(model) = Model::load(&path, u64::MAX) {
                    n_read += 1;
                    let _ = rows(&model).and_then(|rows| model.predict(&rows));
                }
            }
        }
        assert!(n_read > 0, "most bytes are numbers, and any number will do");
    }
}
