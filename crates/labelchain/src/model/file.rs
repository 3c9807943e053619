//! The model file: a header, a table of blocks, and the blocks.
//!
//! | bytes | content |
//! |---|---|
//! | 16 | `labelchain model` |
//! | 4 | format, little-endian |
//! | 8 | length of the table, little-endian |
//! | 32 | BLAKE3 of the table |
//! | 40 for each block | the table: the length of the block, little-endian, and its BLAKE3 |
//! | rest | the blocks |
//!
//! The first block, as postcard, is what every row needs. The others are [pieces](crate::pieces) of the model,
//! which are read when rows need them.
//!
//! Checksums are not optional: most damaged contents still decode to something. What is decoded is
//! checked in every part before it becomes a [`Model`], or a piece of one, and nothing in it is run.

use std::io::{self, Read as _, Write};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::base::BaseKind;
use crate::blocks::{self, BlockFile, Source, copy_again};
use crate::chain::{AnyOrderModel, Order, TunedSetting, Wanted};
use crate::data::{Attribute, Matrix, open_stored, save};
use crate::decide::Calibration;
use crate::decode::{DecodeBudget, decode};
use crate::ensemble::{ChosenOrders, Ensemble, Member, MemberChain, MemberOrders, VOTE_TIES};
use crate::error::{Error, Remedy, Result, Task};
use crate::loss::Losses;
use crate::method::{Method, setting};
use crate::pieces::{PieceFile, PieceLayout, PieceWriter};
use crate::prepare::{BagTransform, Encoder, Standardizer};
use crate::progress::Cancel;
use crate::settings::Settings;

const MAGIC: &[u8; 16] = b"labelchain model";
const HEADER: usize = 16 + 4 + 8 + 32;
/// The block of what every row needs.
const HEAD: usize = 0;

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
    attributes: Arc<[Attribute]>,
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
    /// What is in the other blocks.
    pieces: PieceLayout,
}

/// Writes a model file.
fn write(model: &Encoded, out: &mut dyn Write) -> io::Result<()> {
    let table = blocks::table(&model.0);
    let (length, checksum) = ((table.len() as u64).to_le_bytes(), blake3::hash(&table));
    let format = Model::FORMAT.to_le_bytes();
    let header = [&MAGIC[..], &format, &length, checksum.as_bytes()].concat();
    blocks::write(&header, &table, &model.0, out)
}

/// A model as the blocks of its file.
struct Encoded(Vec<Vec<u8>>);

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
    /// that of labelchain 0.1, formats 7 to 15 those of development versions of 0.2.
    pub const FORMAT: u32 = 16;

    /// The model file as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write(&self.encoded()?, &mut bytes).map_err(|error| Error::io("the model", error))?;
        Ok(bytes)
    }

    /// Reads a model file that stands in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let (size, source) = (bytes.len() as u64, Source::Memory(bytes.into()));
        Model::read(source, size, Path::new("the model"), u64::MAX)
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let encoded = self.encoded()?;
        save(path, |out| write(&encoded, out))
    }

    /// Reads all that is still in the file of a model that was [loaded](Model::load), and checks it.
    /// Afterwards nobody reads the file again.
    pub fn verify(&self) -> Result<()> {
        self.ensemble.load(Wanted::Everything)
    }

    /// Whether a file begins as model files do, whatever follows.
    pub fn is_model_file(path: &Path) -> Result<bool> {
        let mut start = Vec::new();
        let read = open_stored(path)?.take(MAGIC.len() as u64).read_to_end(&mut start);
        read.map(|_| start == MAGIC).map_err(|error| Error::io(path, error))
    }

    /// Reads a model file, which may take at most `max_memory` bytes in memory. These are also what the model
    /// may use for distances.
    ///
    /// Of a large model only what every row needs is read. The file stays open, and the rest is read, and checked
    /// against its checksums, when rows need it; what is damaged there is an error then. [`Model::verify`]
    /// reads all of it at once.
    pub fn load(path: &Path, max_memory: u64) -> Result<Model> {
        let file = open_stored(path)?;
        let size = file.metadata().map_err(|error| Error::io(path, error))?.len();
        Ok(Model::read(Source::File(file), size, path, max_memory)?.within(max_memory))
    }

    /// Reads a model file of so many bytes, which may take so many in memory.
    fn read(source: Source, size: u64, path: &Path, max_memory: u64) -> Result<Model> {
        let refuse = |problem: &str, remedy: Remedy| {
            Err(Error::Model { path: path.into(), problem: problem.into(), remedy })
        };
        let too_large = |what: &str| {
            let (path, what) = (path.into(), what.into());
            Error::TooLarge { path, what, needed: None, limit: max_memory }
        };
        let read_at = |length: usize, position: usize| {
            let mut room = vec![0; length];
            let read = source.read_at(&mut room, position as u64);
            read.map(|()| room).map_err(|error| Error::io(path, error))
        };
        let written_by = || Remedy::from("models are written by ").task(Task::SaveModel);
        const NO_MODEL: &str = "not a labelchain model";
        const CUT_OFF: &str = "the model file is cut off or has bytes added";
        let header = read_at(size.min(HEADER as u64) as usize, 0)?;
        if header.len() < HEADER {
            let is_ours = header.starts_with(&MAGIC[..header.len().min(16)]) && !header.is_empty();
            return if is_ours {
                refuse("the model file is cut off", copy_again())
            } else {
                refuse(NO_MODEL, written_by())
            };
        }
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
        let n_table = number(20, 28);
        if n_table > size - HEADER as u64 {
            return refuse(CUT_OFF, copy_again());
        }
        // The table is kept in a form that takes a little more than in the file.
        let budget = DecodeBudget::new(max_memory);
        if budget.take(n_table.saturating_mul(3)).is_none() {
            return Err(too_large("the model"));
        }
        let table = read_at(n_table as usize, HEADER)?;
        if blake3::hash(&table).as_bytes()[..] != header[28..HEADER] {
            let problem = "the model file is damaged: its checksum does not match";
            return refuse(problem, copy_again());
        }
        let start = HEADER as u64 + n_table;
        let Some(blocks) = BlockFile::new(source, path, &table, start, size) else {
            return refuse(CUT_OFF, copy_again());
        };
        if budget.take(blocks.length(HEAD) as u64).is_none() {
            return Err(too_large("the model"));
        }
        let mut head = Vec::new();
        blocks.read(HEAD, &mut head)?;
        let stored = decode::<Stored<&[u8]>>(&head, &budget);
        if let Some(Stored { version, method, .. }) = &stored
            && let Err(Error::UnknownMethod { .. }) = method.parse::<Method>()
        {
            let problem = format!(
                "a model of {method:?}, trained by labelchain {version}, which this version does not have"
            );
            return refuse(&problem, "use a version of labelchain that has the method".into());
        }
        let model = stored.and_then(|mut stored| {
            let layout = std::mem::take(&mut stored.pieces);
            let file = PieceFile::new(blocks, HEAD + 1, layout, &budget, max_memory)?;
            let file = Arc::new(file);
            let model = Model::of(stored, &budget, &file).filter(Model::fits)?;
            file.allow(&budget);
            Some(model)
        });
        match model {
            Some(model) => Ok(model),
            None if budget.is_exhausted() => Err(too_large("the content of the model")),
            None => refuse("the model file is damaged", copy_again()),
        }
    }

    /// The blocks of its file. What is still in a file is read first.
    fn encoded(&self) -> Result<Encoded> {
        self.verify()?;
        let encode = || {
            let mut pieces = PieceWriter::default();
            let stored = self.stored(&mut pieces)?;
            let (pieces, blocks) = pieces.into_blocks();
            let head = postcard::to_stdvec(&Stored { pieces, ..stored })?;
            Ok(Encoded(std::iter::once(head).chain(blocks).collect()))
        };
        encode().map_err(not_encoded)
    }

    /// What every row needs of it. What only some need goes to `pieces`, of which nothing is said here.
    fn stored(&self, pieces: &mut PieceWriter) -> postcard::Result<Stored<Bytes>> {
        let own = |text: &str| text.to_string();
        let shared = |at: usize| self.members()[at.checked_sub(1)?].any_order_model();
        let mut encode = |at: usize, model: &Arc<dyn AnyOrderModel>| match shared(at) {
            Some(before) if ptr::addr_eq(Arc::as_ptr(before), Arc::as_ptr(model)) => Ok(Vec::new()),
            _ => model.encode(pieces),
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
            attributes: Arc::clone(&self.attributes),
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
            pieces: PieceLayout::default(),
        })
    }

    /// The parts as types that can only hold what is allowed; none if one of them does not.
    fn of(stored: Stored<&[u8]>, budget: &DecodeBudget, file: &Arc<PieceFile>) -> Option<Model> {
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
            let member = member.decoded(method, before, budget, file)?;
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
        file: &Arc<PieceFile>,
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
                let model = match before {
                    before if is_shared => before.cloned()?,
                    _ => decode(self.model, budget, file)?,
                };
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
            "ecc-forest",
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
        if method.ends_with("forest") {
            chain = chain.set("trees", 3).unwrap();
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
        let shares = |model: &Model| rows(model).and_then(|rows| Ok(model.predict(&rows)?.shares));
        let expected = shares(model).unwrap();
        assert_eq!(shares(&loaded).unwrap(), expected);

        let whole = std::fs::read(&path).unwrap();
        assert!(loaded.to_bytes().unwrap() == whole, "what was still in the file is written again");
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(Model::load(&path, u64::MAX), Err(Error::Model { .. })), "{length}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            std::fs::write(&path, &flipped).unwrap();
            // What no row needs may be damaged as long as nobody reads it, but no answer is another.
            let refused = match Model::load(&path, u64::MAX) {
                Err(error) => error,
                Ok(model) => match shares(&model) {
                    Err(error) => error,
                    Ok(found) => {
                        assert_eq!(found, expected, "{at}");
                        model.verify().unwrap_err()
                    }
                },
            };
            assert!(matches!(refused, Error::Model { .. }), "{at}: {refused}");
        }
        std::fs::write(&path, &whole).unwrap();
        assert!(matches!(Model::load(&path, 10), Err(Error::TooLarge { .. })));

        // Made by hand, with checksums that fit: refused, or read and usable, but never a panic.
        let mut n_read = 0;
        let blocks = model.encoded().unwrap().0;
        let bytes = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, bytes)| (0..bytes.len()).map(move |at| (block, at)));
        for (block, at) in bytes.step_by(7) {
            for flip in [0x01, 0x80] {
                let mut forged = Encoded(blocks.clone());
                forged.0[block][at] ^= flip;
                let mut file = Vec::new();
                write(&forged, &mut file).unwrap();
                std::fs::write(&path, &file).unwrap();
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
