//! Models that several processes train, a part of each.
//!
//! A base may have parts of its own, such as the trees of a forest. Otherwise the parts of an ensemble are its members,
//! where nothing is chosen by how they do together. Everything random about member k is drawn by child k of the seed,
//! so it does not matter who trains it, and the members in order are those that one process would have trained.
//!
//! What is left to the data, such as the number of neighbours that vote, is found out by every process that trains
//! members, of the same rows and so alike. Who joins them takes it from the parts and trains nothing.

use std::io::{self, BufWriter};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fit::{Fitting, Models, StrategyFit};
use super::{Method, setting};
use crate::base::PartBytes;
use crate::chain::{
    AnyOrderLearner, AnyOrderModel, BaseModel, Dimensions, FixedOrderLearner, FixedOrderModel,
    Order, TunedSetting, Wanted,
};
use crate::decode::{DecodeBudget, decode};
use crate::distance::Needs;
use crate::ensemble::{Candidate, MEMBERS, MemberRows, Sampling, is_sound};
use crate::error::{Error, Result};
use crate::pieces::{PieceFile, PieceWriter, ReadBlocks};
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::Settings;

impl Method {
    /// How many parts the model has that can be trained without each other: the trees of a forest, or the members of
    /// an ensemble; none where it is trained as a whole, because members or their orders are chosen on validation rows.
    pub fn n_parts(self, settings: &Settings) -> Option<usize> {
        match self.base.parts {
            Some(of) => Some((of.n_parts)(settings)),
            None if self.has_members_as_parts() => Some(settings.get(&MEMBERS)),
            None => None,
        }
    }

    fn has_members_as_parts(self) -> bool {
        self.base.member_rows == MemberRows::Drawn && !self.strategy.needs_validation()
    }
}

/// Trains some parts of the model of a method that [is trained in parts](Method::n_parts).
pub(crate) fn fit_parts(
    method: Method,
    fitting: Fitting,
    parts: Range<usize>,
) -> Result<PartBytes> {
    method.check(fitting.settings)?;
    let n_parts = method.n_parts(fitting.settings).unwrap_or(0);
    if parts.is_empty() || parts.end > n_parts {
        return Err(Error::Value {
            name: "parts".into(),
            value: format!("{} to {} of {method}", parts.start, parts.end),
            accepted: format!("some of the {n_parts} that its model has"),
        });
    }
    let Some(of) = method.base.parts else { return fitting.members(method, parts) };
    let settings = fitting.settings_of(method.base);
    let task = fitting.task(&settings, fitting.sampling(method.base));
    fitting.reserve(method.base, task.sampling, fitting.train.memory())?;
    let train = |rows: &[usize], _: &Order, seed| (of.train)(&task, rows, parts.clone(), seed);
    // Members share the model that has parts, so there is one candidate.
    let trained = task.sampling.candidates(fitting.train, fitting.seed, train)?;
    Ok(trained.into_iter().flat_map(|candidate| candidate.model).collect())
}

/// Some members of an ensemble, as they are sent to the process that joins them.
#[derive(Serialize, Deserialize)]
struct SomeMembers {
    /// What they were trained on and with.
    origin: [u8; 32],
    /// The values of settings that were left to the data.
    tuned: Vec<(String, Vec<Option<f64>>)>,
    /// The place of the first.
    first: usize,
    /// As their base encodes them.
    models: Vec<Vec<u8>>,
    /// What models of any order keep in pieces.
    pieces: Vec<u8>,
}

impl Fitting<'_> {
    /// Trains some members.
    fn members(&self, method: Method, places: Range<usize>) -> Result<PartBytes> {
        let is_chained = method.strategy.is_chained();
        let trained = self.base(method, is_chained)?;
        let settings = self.settings.only(method.strategy.settings);
        let (base, strategy) = (method.base, method.strategy);
        let fit = StrategyFit { fitting: self, base, strategy, settings: &settings };
        let sampling = self.sampling(base);
        let here = Sampling { n_members: places.len(), ..sampling };
        self.reserve(base, here, self.train.memory())?;
        let (first, train, seed) = (places.start, self.train, self.seed);
        let mut pieces = PieceWriter::default();
        let (models, tuned) = match &trained.models {
            Models::AnyOrder { learner, .. } => {
                let member = fit.any_order_member(&**learner, is_chained);
                let trained = sampling.some_candidates(places, train, seed, member)?;
                (encoded(trained, |model| model.encode(&mut pieces))?, learner.tuned_settings())
            }
            Models::FixedOrder { learner, .. } => {
                let member = fit.fixed_order_member(&**learner, fit.given_order()?);
                let trained = sampling.some_candidates(places, train, seed, member)?;
                (encoded(trained, |model| model.encode())?, learner.tuned_settings())
            }
        };
        let tuned = tuned.into_iter().map(|of| (of.setting.into(), of.values)).collect();
        let (origin, pieces) = (self.origin(method)?, pieces.into_bytes().map_err(too_large)?);
        let members = SomeMembers { origin, tuned, first, models, pieces };
        postcard::to_stdvec(&members).map_err(too_large)
    }

    /// All members, of their parts in order; refused where they are other than those that would be trained here.
    pub(super) fn join_members<M: SoundModel + ?Sized>(
        &self,
        method: Method,
        decode_model: impl Fn(&[u8], &DecodeBudget, &Arc<PieceFile>) -> Option<Arc<M>>,
    ) -> Result<TrainedMembers<M>> {
        let origin = self.origin(method)?;
        let n_members = self.sampling(method.base).n_members;
        let budget = DecodeBudget::new(self.train.memory().limit());
        let mut members = TrainedMembers { by_seed: Vec::new(), tuned: Vec::new() };
        for part in self.parts {
            let damaged = || refused("damaged");
            let part: SomeMembers = decode(part, &budget).ok_or_else(damaged)?;
            if part.origin != origin {
                return Err(refused(
                    "trained on other rows, or with other settings or another seed",
                ));
            }
            if part.first != members.by_seed.len() {
                return Err(refused("in another order"));
            }
            let pieces = PieceFile::of_bytes(&part.pieces, "parts of the ensemble", &budget);
            let pieces = Arc::new(pieces.ok_or_else(damaged)?);
            pieces.allow(&budget);
            for model in &part.models {
                let model = decode_model(model, &budget, &pieces)
                    .filter(|model| model.fits_rows(self.train));
                let seed = Sampling::seed_of(self.seed, members.by_seed.len());
                members.by_seed.push((seed, model.ok_or_else(damaged)?));
            }
            let tuned = part.tuned.into_iter();
            let tuned = tuned
                .map(|(name, values)| Ok(TunedSetting { setting: setting(&name)?.name(), values }));
            members.tuned = tuned.collect::<Result<_>>()?;
        }
        if members.by_seed.len() != n_members {
            return Err(refused(&format!("{} members of {n_members}", members.by_seed.len())));
        }
        Ok(members)
    }

    /// What tells members of other rows, settings or seeds from those that would be trained here.
    fn origin(&self, method: Method) -> Result<[u8; 32]> {
        let settings = method.settings().map(|of| (of.name(), self.settings.text(of)));
        let settings: Vec<(&str, String)> = settings.collect();
        let data = self.train.data();
        let of =
            (method.without_aim().to_string(), settings, self.seed, data.features(), data.labels());
        // Numbers come byte by byte.
        let hasher = BufWriter::with_capacity(64 << 10, blake3::Hasher::new());
        let hasher = postcard::to_io(&of, hasher).map_err(too_large)?;
        let hasher =
            hasher.into_inner().map_err(|error| Error::io("parts", io::Error::from(error)))?;
        Ok(*hasher.finalize().as_bytes())
    }
}

/// Members that were trained in parts, in the place of what would train them.
pub(super) struct TrainedMembers<M: ?Sized> {
    /// By what everything about a member is drawn.
    by_seed: Vec<(Seed, Arc<M>)>,
    tuned: Vec<TunedSetting>,
}

impl<M: ?Sized> TrainedMembers<M> {
    fn drawn_by(&self, seed: Seed) -> Result<Arc<M>> {
        let found = self.by_seed.iter().find(|(of, _)| *of == seed);
        found.map(|(_, model)| Arc::clone(model)).ok_or_else(|| refused("drawn by another seed"))
    }
}

impl AnyOrderLearner for TrainedMembers<dyn AnyOrderModel> {
    fn train(&self, _: &Prepared, _: &[usize], seed: Seed) -> Result<Arc<dyn AnyOrderModel>> {
        self.drawn_by(seed)
    }

    fn train_independent(
        &self,
        _: &Prepared,
        _: &[usize],
        seed: Seed,
    ) -> Result<Arc<dyn AnyOrderModel>> {
        self.drawn_by(seed)
    }

    fn tuned_settings(&self) -> Vec<TunedSetting> {
        self.tuned.clone()
    }
}

impl FixedOrderLearner for TrainedMembers<dyn FixedOrderModel> {
    fn train(
        &self,
        _: &Prepared,
        _: &[usize],
        _: Option<&Order>,
        seed: Seed,
    ) -> Result<Arc<dyn FixedOrderModel>> {
        self.drawn_by(seed)
    }

    fn tuned_settings(&self) -> Vec<TunedSetting> {
        self.tuned.clone()
    }
}

/// A model that was decoded, of either kind.
pub(super) trait SoundModel {
    /// Whether it agrees with itself and with the training set.
    fn fits_rows(&self, train: &Prepared) -> bool;
}

impl SoundModel for dyn AnyOrderModel {
    fn fits_rows(&self, train: &Prepared) -> bool {
        fits_rows(self, train)
    }
}

impl SoundModel for dyn FixedOrderModel {
    fn fits_rows(&self, train: &Prepared) -> bool {
        fits_rows(self, train)
    }
}

fn fits_rows(model: &dyn BaseModel, train: &Prepared) -> bool {
    let data = train.data();
    let n_train = (model.needs() > Needs::Nothing).then(|| data.n_rows());
    let dimensions = Dimensions::of(data.attributes(), data.n_labels(), data.n_rows(), n_train);
    model.load(Wanted::Everything, &ReadBlocks::default()).is_ok() && is_sound(model, &dimensions)
}

fn encoded<M>(
    trained: Vec<Candidate<M>>,
    mut encode: impl FnMut(&M) -> postcard::Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    trained.iter().map(|of| encode(&of.model).map_err(too_large)).collect()
}

fn too_large(_: postcard::Error) -> Error {
    refused("too large to be written")
}

fn refused(found: &str) -> Error {
    Error::Value {
        name: "parts of the ensemble".into(),
        value: found.into(),
        accepted:
            "all of its members in order, trained on the same rows with the same settings and seed"
                .into(),
    }
}
