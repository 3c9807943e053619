//! The closed list of methods, and what can be set about them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::chain::Order;
use crate::data::Dataset;
use crate::ensemble::{Ensemble, Sampling, Strategy, tune_decay};
use crate::error::{Error, Result};
use crate::model::{Likelihood, NaiveBayes, NaiveBayesModel};
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
            accepted: "a strategy and a base: dynamic-nb, ecc-nb or br-nb",
        };
        let (strategy, base) = text.rsplit_once('-').ok_or_else(refuse)?;
        let strategy = match strategy {
            "dynamic" => StrategyName::Dynamic,
            "ecc" => StrategyName::Ecc,
            "br" => StrategyName::Br,
            _ => return Err(refuse()),
        };
        match base {
            "nb" => Ok(Method { strategy, base: BaseName::Nb }),
            _ => Err(refuse()),
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
            max_imbalance: Some(20.0),
            max_features: Some(300),
            likelihood: Likelihood::Auto,
            order: None,
        }
    }
}

impl Settings {
    fn naive_bayes(&self) -> Result<NaiveBayes> {
        let preparation = Preparation {
            undersampling: Undersampling::new(self.max_imbalance)?,
            selection: self.max_features.map(|max_features| Cfs { max_features }),
        };
        Ok(NaiveBayes { preparation, likelihood: self.likelihood })
    }
}

/// A fitted ensemble, and the β it was given or found.
pub(crate) struct Fitted {
    pub(crate) ensemble: Ensemble<NaiveBayesModel>,
    pub(crate) decay: Option<f64>,
}

/// Fits several methods on one training set: its members are trained once for all of them.
pub(crate) fn fit(
    methods: &[Method],
    settings: &Settings,
    train: &Dataset,
    prepared: &Prepared,
    seed: Seed,
) -> Result<Vec<Fitted>> {
    let base = settings.naive_bayes()?;
    let candidates = settings.sampling.candidates(&base, prepared, seed)?;
    let fit = |method: &Method| {
        let (strategy, decay) = match method.strategy {
            StrategyName::Br => (Strategy::BinaryRelevance, None),
            StrategyName::Ecc => match &settings.order {
                Some(order) => (Strategy::GivenOrder(order.clone()), None),
                None => (Strategy::RandomOrder, None),
            },
            StrategyName::Dynamic => {
                let decay = match settings.decay {
                    Some(decay) => decay,
                    None => tune_decay(&settings.sampling, &base, train, prepared, seed)?,
                };
                (Strategy::LocalF1 { decay }, Some(decay))
            }
        };
        Ok(Fitted { ensemble: Ensemble::plan(&strategy, &candidates, prepared)?, decay })
    };
    methods.iter().map(fit).collect()
}
