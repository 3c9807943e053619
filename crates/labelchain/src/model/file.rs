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
//! The checksum is not optional: most damaged contents still decode to something. What is decoded is
//! checked in every part before it becomes a [`Model`], and nothing in it is run.

use std::io::{self, Read as _, Write};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::base::BaseKind;
use crate::chain::{AnyOrderModel, Order, TunedSetting};
use crate::data::{Attribute, Matrix, open_stored, save};
use crate::decide::Calibration;
use crate::decode::{DecodeBudget, decode};
use crate::ensemble::{ChosenOrders, Ensemble, Member, MemberChain, MemberOrders, VOTE_TIES};
use crate::error::{Error, Remedy, Result, Task};
use crate::loss::Losses;
use crate::method::{Method, setting};
use crate::prepare::{BagTransform, Encoder, Standardizer};
use crate::progress::Cancel;
use crate::settings::Settings;

const MAGIC: &[u8; 16] = b"labelchain model";
const HEADER: usize = 16 + 4 + 8 + 32;

/// A model as it is stored; `B` are the bytes of its parts, owned when they are written and borrowed
/// when they are read.
#[derive(Serialize, Deserialize)]
struct Stored<B> {
    version: String,
    method: String,
    seed: u64,
    /// Every setting that the method uses, also where it has its default, which a later version may
    /// change.
    settings: Vec<(String, String)>,
    tuned: Vec<(String, Vec<Option<f64>>)>,
    attributes: Vec<Attribute>,
    label_names: Vec<String>,
    standardizer: Standardizer,
    is_sparse: bool,
    n_rows: usize,
    members: Vec<StoredMember<B>>,
    train: Option<Matrix>,
    bags: Option<BagTransform>,
    encoder: Option<Encoder>,
    ids: Vec<String>,
    row_ids: Vec<String>,
    left_out: Vec<String>,
    calibration: Option<Calibration>,
    out_of_bag: Option<Losses>,
}

/// Writes a model file without holding it: the content is encoded twice, first for its checksum.
fn write(stored: &Stored<Bytes>, out: &mut dyn Write) -> io::Result<()> {
    let mut hashed = Hashed::default();
    encode_into(stored, &mut hashed)?;
    let (length, checksum) = (hashed.n_bytes.to_le_bytes(), hashed.hasher.finalize());
    let format = Model::FORMAT.to_le_bytes();
    out.write_all(&[&MAGIC[..], &format, &length, checksum.as_bytes()].concat())?;
    encode_into(stored, out)
}

/// Encodes a model into a writer, whose own error comes back: postcard would keep it to itself.
fn encode_into(stored: &Stored<Bytes>, out: &mut dyn Write) -> io::Result<()> {
    struct Noting<W> {
        out: W,
        error: Option<io::Error>,
    }
    impl<W: Write> Noting<W> {
        fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
            done.map_err(|error| {
                let kind = error.kind();
                self.error = Some(error);
                kind.into()
            })
        }
    }
    impl<W: Write> Write for &mut Noting<W> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let done = self.out.write(bytes);
            self.note(done)
        }

        fn flush(&mut self) -> io::Result<()> {
            let done = self.out.flush();
            self.note(done)
        }
    }
    // Numbers come byte by byte.
    let mut noting = Noting { out: io::BufWriter::with_capacity(64 << 10, out), error: None };
    match postcard::to_io(stored, &mut noting) {
        Ok(_) => Ok(()),
        Err(error) => Err(noting.error.unwrap_or_else(|| io::Error::other(not_encoded(error)))),
    }
}

/// Counts and hashes what is written to it.
#[derive(Default)]
struct Hashed {
    n_bytes: u64,
    hasher: blake3::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.n_bytes += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn not_encoded(error: postcard::Error) -> Error {
    Error::Model {
        path: "the model".into(),
        problem: format!("could not be encoded: {error}"),
        remedy: "please report it as a bug".into(),
    }
}

/// Bytes that are written all at once; serde would write a vector of them one by one.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

#[derive(Serialize, Deserialize)]
struct StoredMember<B> {
    /// As its base encodes it; no bytes where it is that of the member before.
    model: B,
    orders: StoredOrders<B>,
    candidate: usize,
    fitting: Vec<usize>,
    validation: Vec<usize>,
}

/// The orders of a member whose model can be walked in any; `Own` where the model has its own.
#[derive(Serialize, Deserialize)]
enum StoredOrders<B> {
    Own,
    Independent,
    Fixed(Order),
    /// As its strategy encodes it.
    PerRow(B),
    ByCertainty,
}

impl Model {
    /// The format of model files that this version writes, and the only one it reads. Format 6 was
    /// that of labelchain 0.1, formats 7 to 13 those of development versions of 0.2.
    pub const FORMAT: u32 = 14;

    /// The model file as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let stored = self.stored().map_err(not_encoded)?;
        let mut bytes = Vec::new();
        let refused = |error: io::Error| {
            error.downcast::<Error>().unwrap_or_else(|error| Error::io("the model", error))
        };
        write(&stored, &mut bytes).map_err(refused)?;
        Ok(bytes)
    }

    /// Reads a model file that stands in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        Model::decode(bytes, Path::new("the model"), u64::MAX)
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let stored = self.stored().map_err(not_encoded)?;
        save(path, |out| write(&stored, out))
    }

    /// Whether a file begins as model files do, whatever follows.
    pub fn is_model_file(path: &Path) -> Result<bool> {
        let mut start = Vec::new();
        let read = open_stored(path)?.take(MAGIC.len() as u64).read_to_end(&mut start);
        read.map(|_| start == MAGIC).map_err(|error| Error::io(path, error))
    }

    /// Reads a model file, which with its content may take at most `max_memory` bytes. These are also
    /// what the model may use for distances.
    pub fn load(path: &Path, max_memory: u64) -> Result<Model> {
        let refused = |error| Error::io(path, error);
        let file = open_stored(path)?;
        let size = file.metadata().map_err(refused)?.len();
        let mut bytes = Vec::new();
        // A file that is no model is not worth reading to its end.
        (&file).take(HEADER as u64).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.starts_with(MAGIC) {
            let too_large = || {
                let what = "the model".into();
                Error::TooLarge { path: path.into(), what, needed: None, limit: max_memory }
            };
            let n_bytes = usize::try_from(size.min(max_memory)).map_err(|_| too_large())?;
            bytes.try_reserve(n_bytes).map_err(|_| too_large())?;
            let n_allowed = max_memory.saturating_sub(bytes.len() as u64).saturating_add(1);
            file.take(n_allowed).read_to_end(&mut bytes).map_err(refused)?;
            if bytes.len() as u64 > max_memory {
                return Err(too_large());
            }
        }
        Ok(Model::decode(&bytes, path, max_memory)?.within(max_memory))
    }

    /// Reads a model file, which with its decoded content may take so many bytes.
    fn decode(bytes: &[u8], path: &Path, max_memory: u64) -> Result<Model> {
        let refuse = |problem: &str, remedy: Remedy| {
            Err(Error::Model { path: path.into(), problem: problem.into(), remedy })
        };
        let again = || Remedy::from("copy the file again, or train the model again");
        let written_by = || Remedy::from("models are written by ").task(Task::SaveModel);
        const NO_MODEL: &str = "not a labelchain model";
        let Some((header, content)) = bytes.split_at_checked(HEADER) else {
            let is_ours = bytes.starts_with(&MAGIC[..bytes.len().min(16)]) && !bytes.is_empty();
            return if is_ours {
                refuse("the model file is cut off", again())
            } else {
                refuse(NO_MODEL, written_by())
            };
        };
        if header[..16] != MAGIC[..] {
            return refuse(NO_MODEL, written_by());
        }
        let number = |from: usize, to: usize| {
            header[from..to].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let format = number(16, 20);
        if format != u64::from(Self::FORMAT) {
            let problem = format!("model format {format}, this version reads {}", Self::FORMAT);
            let remedy = if format < u64::from(Self::FORMAT) {
                "use the version of labelchain that wrote it, which is 0.1 for format 6, or train again"
            } else {
                "use the newer version of labelchain that wrote it, or train again"
            };
            return refuse(&problem, remedy.into());
        }
        if number(20, 28) != content.len() as u64 {
            return refuse("the model file is cut off or has bytes added", again());
        }
        if blake3::hash(content).as_bytes()[..] != header[28..60] {
            return refuse("the model file is damaged: its checksum does not match", again());
        }
        let budget = DecodeBudget::new(max_memory.saturating_sub(bytes.len() as u64));
        let stored = decode::<Stored<&[u8]>>(content, &budget);
        if let Some(Stored { version, method, .. }) = &stored
            && let Err(Error::UnknownMethod { .. }) = method.parse::<Method>()
        {
            let problem = format!(
                "a model of {method:?}, trained by labelchain {version}, which this version does not have"
            );
            return refuse(&problem, "use a version of labelchain that has the method".into());
        }
        match stored.and_then(|stored| Model::of(stored, &budget)).filter(Model::fits) {
            Some(model) => Ok(model),
            None if budget.is_exhausted() => {
                let what = "the content of the model".into();
                Err(Error::TooLarge { path: path.into(), what, needed: None, limit: max_memory })
            }
            None => refuse("the model file is damaged", again()),
        }
    }

    fn stored(&self) -> postcard::Result<Stored<Bytes>> {
        let own = |text: &str| text.to_string();
        let shared = |at: usize| self.members()[at.checked_sub(1)?].any_order_model();
        let encode = |at: usize, model: &Arc<dyn AnyOrderModel>| match shared(at) {
            Some(before) if ptr::addr_eq(Arc::as_ptr(before), Arc::as_ptr(model)) => Ok(Vec::new()),
            _ => model.encode(),
        };
        let member = |(at, member): (usize, &Member)| {
            let (model, orders) = match &member.chain {
                MemberChain::FixedOrder(model) => (Bytes(model.encode()?), StoredOrders::Own),
                MemberChain::AnyOrder { model, orders } => {
                    let orders = match orders {
                        ChosenOrders::Independent => StoredOrders::Independent,
                        ChosenOrders::Fixed(order) => StoredOrders::Fixed(order.clone()),
                        ChosenOrders::ByCertainty => StoredOrders::ByCertainty,
                        ChosenOrders::PerRow(policy) => {
                            StoredOrders::PerRow(Bytes(policy.encode()?))
                        }
                    };
                    (Bytes(encode(at, model)?), orders)
                }
            };
            Ok(StoredMember {
                model,
                orders,
                candidate: member.candidate,
                fitting: member.fitting.clone(),
                validation: member.validation.clone(),
            })
        };
        let tuned = |tuned: &TunedSetting| (own(tuned.setting), tuned.values.clone());
        Ok(Stored {
            version: self.version.clone(),
            method: self.method.to_string(),
            seed: self.seed,
            settings: self
                .method
                .settings()
                .map(|setting| (own(setting.name()), self.settings.text(setting)))
                .collect(),
            tuned: self.tuned.iter().map(tuned).collect(),
            attributes: self.attributes.clone(),
            label_names: self.label_names.to_vec(),
            standardizer: self.standardizer.clone(),
            is_sparse: self.is_sparse,
            n_rows: self.n_rows,
            members: self
                .members()
                .iter()
                .enumerate()
                .map(member)
                .collect::<postcard::Result<_>>()?,
            train: self.train.clone(),
            bags: self.bags.clone(),
            encoder: self.encoder.clone(),
            ids: self.ids.clone(),
            row_ids: self.row_ids.clone(),
            left_out: self.left_out.clone(),
            calibration: self.ensemble.calibration().cloned(),
            out_of_bag: self.out_of_bag.clone(),
        })
    }

    /// The parts as types that can only hold what is allowed; none if one of them does not.
    fn of(stored: Stored<&[u8]>, budget: &DecodeBudget) -> Option<Model> {
        let method: Method = stored.method.parse().ok()?;
        let mut settings = Settings::default();
        for (name, text) in &stored.settings {
            settings.set(setting(name).ok()?, text).ok()?;
        }
        let tuned = |(name, values): (String, Vec<Option<f64>>)| {
            Some(TunedSetting { setting: setting(&name).ok()?.name(), values })
        };
        let mut members: Vec<Member> = Vec::new();
        for member in stored.members {
            let before = members.last().and_then(Member::any_order_model);
            let member = member.decoded(method, before, budget)?;
            members.push(member);
        }
        let (n_labels, vote_ties) = (stored.label_names.len(), settings.get(&VOTE_TIES));
        Some(Model {
            version: stored.version,
            method,
            seed: stored.seed,
            settings,
            tuned: stored.tuned.into_iter().map(tuned).collect::<Option<_>>()?,
            attributes: stored.attributes,
            ensemble: Ensemble::new(members, n_labels, vote_ties).calibrated(stored.calibration),
            label_names: stored.label_names.into(),
            standardizer: stored.standardizer,
            is_sparse: stored.is_sparse,
            n_rows: stored.n_rows,
            train: stored.train,
            bags: stored.bags,
            encoder: stored.encoder,
            ids: stored.ids,
            row_ids: stored.row_ids,
            left_out: stored.left_out,
            out_of_bag: stored.out_of_bag,
            max_memory: u64::MAX,
            cancel: Cancel::default(),
        })
    }
}

impl StoredMember<&[u8]> {
    /// The member, if its parts are what the method's base and strategy make; `before` is the model of the
    /// member before it.
    fn decoded(
        self,
        method: Method,
        before: Option<&Arc<dyn AnyOrderModel>>,
        budget: &DecodeBudget,
    ) -> Option<Member> {
        let chain = match (&method.base().kind, self.orders) {
            (BaseKind::FixedOrder { decode, .. }, StoredOrders::Own) => {
                MemberChain::FixedOrder(decode(self.model, budget)?)
            }
            (BaseKind::AnyOrder { decode, .. }, orders) => {
                let orders = match (&method.strategy().orders, orders) {
                    (MemberOrders::Independent, StoredOrders::Independent) => {
                        ChosenOrders::Independent
                    }
                    (MemberOrders::PerMember, StoredOrders::Fixed(order)) => {
                        ChosenOrders::Fixed(order)
                    }
                    (MemberOrders::ByCertainty, StoredOrders::ByCertainty) => {
                        ChosenOrders::ByCertainty
                    }
                    (MemberOrders::PerRow { decode, .. }, StoredOrders::PerRow(bytes)) => {
                        ChosenOrders::PerRow(decode(bytes, budget)?)
                    }
                    _ => return None,
                };
                let is_shared = self.model.is_empty();
                let model = if is_shared { before.cloned()? } else { decode(self.model, budget)? };
                MemberChain::AnyOrder { model, orders }
            }
            _ => return None,
        };
        let StoredMember { candidate, fitting, validation, .. } = self;
        Some(Member { chain, candidate, fitting, validation })
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::data::{Dataset, LabelId, LabelNetwork, ReadOptions, Table, parse};
    use crate::model::LabelChain;
    use crate::prepare::{BagReduction, MedoidStart};
    use crate::seed::Seed;

    #[test]
    fn a_model_reads_back_and_every_damage_is_refused() {
        let methods = [
            "dynamic-nb",
            "dynamic-knn",
            "ecc-knn",
            "br-knn",
            "ecc-j48",
            "br-j48",
            "oocc-nb",
            "certain-nb",
            "br-nb",
            "ecc-svm",
            "ga-nb",
        ];
        // Each in a thread of its own, for there are many damages.
        methods.into_par_iter().for_each(|method| check(method, method != "br-knn"));
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
        let medoids = BagReduction::Medoids { n: 3, start: MedoidStart::Build, swap: true };
        for reduction in [BagReduction::Concat, medoids] {
            let chain = LabelChain::new("br-nb").unwrap().set("members", 1).unwrap();
            let model = chain.fit_bags(bags, reduction).unwrap();
            check_file(&model, |model| model.rows(table.clone(), "b.arff".as_ref()));
        }
    }

    fn check(method: &str, selects: bool) {
        let network =
            LabelNetwork { n_rows: 40, n_labels: 3, n_features: 3, ..LabelNetwork::default() };
        let data = network.generate("t", Seed::new(1)).unwrap();
        let mut chain = LabelChain::new(method).unwrap().set("members", 2).unwrap();
        if method.starts_with("dynamic") {
            chain = chain.set("decay", 1).unwrap();
        }
        if !selects {
            chain = chain.set("select", "none").unwrap();
        }
        check_file(&chain.fit(&data).unwrap(), |_| Ok(data.clone()));
    }

    /// `rows` are what a model is asked about.
    fn check_file(model: &Model, rows: impl Fn(&Model) -> Result<Dataset>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.labelchain");
        model.save(&path).unwrap();
        let loaded = Model::load(&path, u64::MAX).unwrap();
        let shares = |model: &Model| model.predict(&rows(model).unwrap()).unwrap().shares;
        assert_eq!(shares(&loaded), shares(model));

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
                    let _ = rows(&model).and_then(|rows| model.explain(&rows).map(drop));
                    for label in 0..model.label_names().len() {
                        model.text(0, LabelId(label));
                    }
                }
            }
        }
        assert!(n_read > 0, "most bytes are numbers, and any number will do");
    }
}
