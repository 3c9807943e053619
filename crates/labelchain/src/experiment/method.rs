//! The closed list of methods, and what can be set about them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::cost::{Clock, Cost};
use crate::chain::Order;
use crate::data::Dataset;
use crate::ensemble::{
    Base, BaseModel, Candidate, Ensemble, Genetic, Sampling, Strategy, tune_decay, tune_neighbours,
};
use crate::error::{Error, Result};
use crate::model::{J48, Likelihood, NaiveBayes, NearestNeighbours};
use crate::prepare::{Cfs, Preparation, Prepared, Undersampling};
use crate::seed::Seed;

/// A method by name: a strategy and a base, such as `dynamic-nb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Method {
    /// Who chooses the orders.
    pub strategy: StrategyName,
    /// What is trained.
    pub base: BaseName,
}

/// Who chooses the orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StrategyName {
    /// `dynamic`: the quality of each label near the row, the paper's proposal.
    Dynamic,
    /// `ecc`: chance, once for each member.
    Ecc,
    /// `br`: nobody; labels are decided independently.
    Br,
    /// `oocc`: the nearest validation row, which lends the order that suited it.
    Oocc,
    /// `ga`: chance, and a genetic search keeps the chains that vote best together.
    Ga,
    /// `ga-br`: nobody, and the same search keeps members.
    GaBr,
}

impl StrategyName {
    /// All of them, with their names.
    pub const ALL: [(StrategyName, &'static str); 6] = [
        (StrategyName::Dynamic, "dynamic"),
        (StrategyName::Ga, "ga"),
        (StrategyName::Ecc, "ecc"),
        (StrategyName::Oocc, "oocc"),
        (StrategyName::Br, "br"),
        (StrategyName::GaBr, "ga-br"),
    ];

    /// Whether something is chosen on rows that no member is fitted on.
    pub fn needs_validation(self) -> bool {
        !matches!(self, StrategyName::Ecc | StrategyName::Br)
    }
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BaseName {
    /// `nb`: naive Bayes.
    Nb,
    /// `knn`: nearest neighbours.
    Knn,
    /// `j48`: trees, trained for each order.
    J48,
}

impl BaseName {
    /// All of them, with their names.
    pub const ALL: [(BaseName, &'static str); 3] =
        [(BaseName::Nb, "nb"), (BaseName::Knn, "knn"), (BaseName::J48, "j48")];

    /// Whether a model can be walked in any order, without being trained again.
    pub fn is_free_of_order(self) -> bool {
        matches!(self, BaseName::Nb | BaseName::Knn)
    }
}

fn name_of<T: PartialEq>(all: &[(T, &'static str)], wanted: T) -> &'static str {
    all.iter().find(|(known, _)| *known == wanted).map_or("", |(_, name)| name)
}

fn named<T: Copy>(all: &[(T, &'static str)], name: &str) -> Option<T> {
    all.iter().find(|(_, known)| *known == name).map(|(found, _)| *found)
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategy = name_of(&StrategyName::ALL, self.strategy);
        write!(f, "{strategy}-{}", name_of(&BaseName::ALL, self.base))
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        let refuse = || Error::Setting {
            name: "method",
            value: format!("{text:?}"),
            accepted: "a strategy (dynamic, ga, ecc, oocc, br, ga-br) and a base (nb, knn, j48), such as \
                       dynamic-nb",
        };
        let (strategy, base) = text.rsplit_once('-').ok_or_else(refuse)?;
        let strategy = named(&StrategyName::ALL, strategy).ok_or_else(refuse)?;
        let base = named(&BaseName::ALL, base).ok_or_else(refuse)?;
        let tries_orders = matches!(strategy, StrategyName::Dynamic | StrategyName::Oocc);
        match tries_orders && !base.is_free_of_order() {
            false => Ok(Method { strategy, base }),
            true => Err(Error::Setting {
                name: "method",
                value: format!("{text:?}"),
                accepted: "nb or knn with dynamic and oocc, which walk a model in many orders; a \
                           model of j48 must be trained for each, so it takes br, ecc, ga or ga-br",
            }),
        }
    }
}

/// What can be set, the same for all methods. The defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How members are drawn.
    pub sampling: Sampling,
    /// β of `dynamic`; tuned if none.
    pub decay: Option<f64>,
    /// R of `knn`; tuned if none.
    pub neighbours: Option<usize>,
    /// Majority rows kept per minority row; all if none.
    pub max_imbalance: Option<f64>,
    /// Inputs kept of those that CFS selects; no selection if none.
    pub max_features: Option<usize>,
    /// How naive Bayes weighs numeric cells.
    pub likelihood: Likelihood,
    /// How `j48` grows trees.
    pub tree: J48,
    /// The order of every chain of `ecc`; drawn for each if none.
    pub order: Option<Order>,
    /// Orders that each member of `oocc` draws and tries.
    pub n_orders: usize,
    /// Validation rows that `oocc` asks for their order.
    pub n_lenders: usize,
    /// How `ga` and `ga-br` keep members.
    pub genetic: Genetic,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            sampling: Sampling::default(),
            decay: None,
            neighbours: None,
            max_imbalance: Some(20.0),
            max_features: Some(300),
            likelihood: Likelihood::Auto,
            tree: J48::default(),
            order: None,
            n_orders: 20,
            n_lenders: 1,
            genetic: Genetic::default(),
        }
    }
}

impl Settings {
    fn preparation(&self) -> Result<Preparation> {
        Ok(Preparation {
            undersampling: Undersampling::new(self.max_imbalance)?,
            selection: self.max_features.map(|max_features| Cfs { max_features }),
        })
    }
}

/// A fitted ensemble, the β and R it was given or found, and what it cost, with all it shares.
pub(crate) struct Fitted {
    pub(crate) ensemble: Ensemble<BaseModel>,
    pub(crate) decay: Option<f64>,
    pub(crate) neighbours: Option<usize>,
    pub(crate) cost: Cost,
}

/// What has been done of something long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Folds of a cross-validation.
    Folds {
        /// How many.
        done: usize,
    },
    /// Generations of one genetic search.
    Generations {
        /// How many.
        done: usize,
        /// Of how many.
        of: usize,
        /// The least macro-F1 loss on validation rows so far.
        least: f64,
    },
}

/// Fits several methods on one training set, one after the other: the members of a base are trained
/// once for all of its methods, when the first of them is asked for.
pub(crate) fn fit<'a>(
    methods: &'a [Method],
    settings: &'a Settings,
    train: &'a Dataset,
    prepared: &'a Prepared,
    seed: Seed,
    progress: &'a dyn Fn(Step),
) -> impl Iterator<Item = Result<Fitted>> + 'a {
    let fitting = Fitting { settings, train, prepared, seed, progress };
    let mut trained: HashMap<BaseName, TrainedBase> = HashMap::new();
    methods.iter().map(move |method| {
        let base = match trained.entry(method.base) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(fitting.base(method.base)?),
        };
        fitting.ensemble(method.strategy, base)
    })
}

/// What the methods of one training set share.
struct Fitting<'a> {
    settings: &'a Settings,
    train: &'a Dataset,
    prepared: &'a Prepared,
    seed: Seed,
    progress: &'a dyn Fn(Step),
}

/// A base, and the models that its methods share, trained when the first of them asks.
struct TrainedBase {
    base: Base,
    neighbours: Option<usize>,
    /// What finding R cost.
    cost: Cost,
    /// To be walked in orders, or in any way where the base is free of order.
    walked: Models,
    /// To decide labels independently, where that takes other models.
    alone: Models,
}

#[derive(Default)]
struct Models {
    /// Each with validation rows of its own.
    candidates: OnceCell<Shared>,
    /// All with the same validation rows, for a search to keep some.
    contenders: OnceCell<Shared>,
}

/// Models, and what they cost.
type Shared = (Vec<Candidate<BaseModel>>, Cost);

impl TrainedBase {
    fn models(&self, walked: bool) -> &Models {
        if walked || !self.base.must_be_retrained() { &self.walked } else { &self.alone }
    }
}

impl Fitting<'_> {
    fn base(&self, name: BaseName) -> Result<TrainedBase> {
        let clock = Clock::start();
        let Settings { sampling, likelihood, .. } = *self.settings;
        let preparation = self.settings.preparation()?;
        let (base, neighbours) = match name {
            BaseName::Nb => (Base::NaiveBayes(NaiveBayes { preparation, likelihood }), None),
            BaseName::Knn => {
                let knn = NearestNeighbours { preparation, ..NearestNeighbours::default() };
                let neighbours = match self.settings.neighbours {
                    Some(neighbours) => neighbours,
                    None => tune_neighbours(&sampling, &knn, self.train, self.prepared, self.seed)?,
                };
                (Base::NearestNeighbours(NearestNeighbours { neighbours, ..knn }), Some(neighbours))
            }
            BaseName::J48 => (Base::J48 { tree: self.settings.tree, preparation }, None),
        };
        let (walked, alone) = (Models::default(), Models::default());
        Ok(TrainedBase { base, neighbours, cost: clock.cost(), walked, alone })
    }

    fn candidates<'t>(&self, of: &'t TrainedBase, walked: bool) -> Result<&'t Shared> {
        let Settings { sampling, order: given, .. } = self.settings;
        let (base, train) = (&of.base, self.prepared);
        let fit = |rows: &[usize], drawn: &Order, seed: Seed| {
            base.fit(train, rows, walked.then_some(given.as_ref().unwrap_or(drawn)), seed)
        };
        or_train(&of.models(walked).candidates, || sampling.candidates(train, self.seed, fit))
    }

    fn contenders<'t>(&self, of: &'t TrainedBase, walked: bool) -> Result<&'t Shared> {
        let Settings { sampling, genetic, .. } = self.settings;
        let (base, train) = (&of.base, self.prepared);
        let fit = |rows: &[usize], drawn: &Order, seed: Seed| {
            base.fit(train, rows, walked.then_some(drawn), seed)
        };
        or_train(&of.models(walked).contenders, || {
            let n = genetic.n_candidates(sampling.n_members)?;
            sampling.contenders(n, train, self.seed, fit)
        })
    }

    /// The contenders that a search keeps.
    fn kept(
        &self,
        contenders: &[Candidate<BaseModel>],
        walked: bool,
    ) -> Result<Vec<Candidate<BaseModel>>> {
        let Settings { sampling, genetic, .. } = self.settings;
        genetic.keep(
            sampling.n_members,
            walked,
            contenders.to_vec(),
            self.prepared,
            self.seed,
            &|done, least| {
                let of = genetic.search.generations;
                (self.progress)(Step::Generations { done, of, least });
            },
        )
    }

    fn ensemble(&self, name: StrategyName, trained: &TrainedBase) -> Result<Fitted> {
        let Settings { n_orders, n_lenders, .. } = *self.settings;
        let walked = !matches!(name, StrategyName::Br | StrategyName::GaBr);
        let searched = matches!(name, StrategyName::Ga | StrategyName::GaBr);
        let (shared, cost) = match searched {
            true => self.contenders(trained, walked)?,
            false => self.candidates(trained, walked)?,
        };
        let clock = Clock::start();
        let candidates = match searched {
            true => Cow::Owned(self.kept(shared, walked)?),
            false => Cow::Borrowed(&shared[..]),
        };
        let mut tuned = None;
        let strategy = match name {
            StrategyName::Br | StrategyName::GaBr => Strategy::BinaryRelevance,
            StrategyName::Ga => Strategy::RandomOrder,
            StrategyName::Ecc => match &self.settings.order {
                Some(order) => Strategy::GivenOrder(order.clone()),
                None => Strategy::RandomOrder,
            },
            StrategyName::Oocc => Strategy::Oocc { n_orders, n_neighbours: n_lenders },
            StrategyName::Dynamic => {
                let decay = self.decay(&trained.base)?;
                tuned = Some(decay);
                Strategy::LocalF1 { decay }
            }
        };
        let ensemble = Ensemble::plan(&strategy, &candidates, self.prepared, self.seed)?;
        let cost = trained.cost + *cost + clock.cost();
        Ok(Fitted { ensemble, decay: tuned, neighbours: trained.neighbours, cost })
    }

    fn decay(&self, base: &Base) -> Result<f64> {
        let Settings { sampling, decay, .. } = self.settings;
        decay.map_or_else(|| tune_decay(sampling, base, self.train, self.prepared, self.seed), Ok)
    }
}

/// What the cell holds, trained if it holds nothing yet.
fn or_train(
    cell: &OnceCell<Shared>,
    train: impl FnOnce() -> Result<Vec<Candidate<BaseModel>>>,
) -> Result<&Shared> {
    match cell.get() {
        Some(trained) => Ok(trained),
        None => {
            let clock = Clock::start();
            let trained = train()?;
            Ok(cell.get_or_init(|| (trained, clock.cost())))
        }
    }
}
