//! The closed list of methods, and what can be set about them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::cost::{Clock, Cost};
use crate::chain::Order;
use crate::data::Dataset;
use crate::ensemble::{Candidate, Ensemble, Sampling, Strategy, tune_decay, tune_neighbours};
use crate::error::{Error, Result};
use crate::model::{Base, BaseModel, Likelihood, NaiveBayes, NearestNeighbours};
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
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BaseName {
    /// `nb`: naive Bayes.
    Nb,
    /// `knn`: nearest neighbours.
    Knn,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategy = match self.strategy {
            StrategyName::Dynamic => "dynamic",
            StrategyName::Ecc => "ecc",
            StrategyName::Br => "br",
        };
        let base = match self.base {
            BaseName::Nb => "nb",
            BaseName::Knn => "knn",
        };
        write!(f, "{strategy}-{base}")
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        let refuse = || Error::Setting {
            name: "method",
            value: format!("{text:?}"),
            accepted: "a strategy (dynamic, ecc, br) and a base (nb, knn), such as dynamic-nb",
        };
        let (strategy, base) = text.rsplit_once('-').ok_or_else(refuse)?;
        let strategy = match strategy {
            "dynamic" => StrategyName::Dynamic,
            "ecc" => StrategyName::Ecc,
            "br" => StrategyName::Br,
            _ => return Err(refuse()),
        };
        let base = match base {
            "nb" => BaseName::Nb,
            "knn" => BaseName::Knn,
            _ => return Err(refuse()),
        };
        Ok(Method { strategy, base })
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
    /// The order of every chain of `ecc`; drawn for each if none.
    pub order: Option<Order>,
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
            order: None,
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

/// A fitted ensemble, the β and R it was given or found, and what it cost, members included.
pub(crate) struct Fitted {
    pub(crate) ensemble: Ensemble<BaseModel>,
    pub(crate) decay: Option<f64>,
    pub(crate) neighbours: Option<usize>,
    pub(crate) cost: Cost,
}

/// Fits several methods on one training set, one after the other: the members of a base are trained
/// once for all of its methods, when the first of them is asked for.
pub(crate) fn fit<'a>(
    methods: &'a [Method],
    settings: &'a Settings,
    train: &'a Dataset,
    prepared: &'a Prepared,
    seed: Seed,
) -> impl Iterator<Item = Result<Fitted>> + 'a {
    let fitting = Fitting { settings, train, prepared, seed };
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
}

/// A base, and the members that its methods share.
struct TrainedBase {
    base: Base,
    neighbours: Option<usize>,
    candidates: Vec<Candidate<BaseModel>>,
    cost: Cost,
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
        };
        let candidates = sampling.candidates(&base, self.prepared, self.seed)?;
        Ok(TrainedBase { base, neighbours, candidates, cost: clock.cost() })
    }

    fn ensemble(&self, strategy: StrategyName, trained: &TrainedBase) -> Result<Fitted> {
        let clock = Clock::start();
        let (strategy, decay) = match strategy {
            StrategyName::Br => (Strategy::BinaryRelevance, None),
            StrategyName::Ecc => match &self.settings.order {
                Some(order) => (Strategy::GivenOrder(order.clone()), None),
                None => (Strategy::RandomOrder, None),
            },
            StrategyName::Dynamic => {
                let sampling = &self.settings.sampling;
                let decay = match self.settings.decay {
                    Some(decay) => decay,
                    None => {
                        tune_decay(sampling, &trained.base, self.train, self.prepared, self.seed)?
                    }
                };
                (Strategy::LocalF1 { decay }, Some(decay))
            }
        };
        let ensemble = Ensemble::plan(&strategy, &trained.candidates, self.prepared)?;
        let cost = trained.cost + clock.cost();
        Ok(Fitted { ensemble, decay, neighbours: trained.neighbours, cost })
    }
}
