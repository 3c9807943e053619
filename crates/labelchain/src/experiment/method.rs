//! The closed list of methods, and what can be set about them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::{J48, Likelihood, Svm, Ties};
use crate::chain::Order;
use crate::distance::Metric;
use crate::ensemble::{Genetic, Sampling};
use crate::error::{Error, Result};
use crate::prepare::{Cfs, Preparation, Undersampling};

/// A method by name: a strategy and a base, such as `dynamic-nb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Method {
    /// Who chooses the orders.
    pub strategy: StrategyName,
    /// What is trained.
    pub base: BaseName,
}

impl Method {
    /// Whether a setting, by its name on the command line, can change what this method does.
    ///
    /// ```
    /// use labelchain::experiment::Method;
    ///
    /// let method: Method = "ecc-nb".parse()?;
    /// assert!(method.applies_to("members") && method.applies_to("likelihood"));
    /// assert!(!method.applies_to("cost"), "of support vector machines");
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn applies_to(self, setting: &str) -> bool {
        let (by, of) = (|strategy| self.strategy == strategy, |base| self.base == base);
        match setting {
            "decay" => by(StrategyName::Dynamic),
            "order" => by(StrategyName::Ecc),
            "orders" | "lenders" => by(StrategyName::Oocc),
            "diversity" => by(StrategyName::Ga),
            "candidates" | "population" | "generations" | "crossover" | "mutation" => {
                by(StrategyName::Ga) || by(StrategyName::GaBr)
            }
            "likelihood" => of(BaseName::Nb),
            "neighbours" | "metric" | "ties" => of(BaseName::Knn),
            "confidence" | "min-leaf" | "unpruned" | "binary-splits" => of(BaseName::J48),
            "kernel" | "cost" | "gamma" => of(BaseName::Svm),
            _ => true,
        }
    }

    /// Whether each input is learned without a look at the others, so that not all need be in memory;
    /// `selects` tells whether labels select their features.
    pub fn learns_by_column(self, selects: bool) -> bool {
        self.base == BaseName::Nb && !self.strategy.needs_validation() && !selects
    }
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
    /// `svm`: support vector machines, trained for each order.
    Svm,
}

impl BaseName {
    /// All of them, with their names.
    pub const ALL: [(BaseName, &'static str); 4] = [
        (BaseName::Nb, "nb"),
        (BaseName::Knn, "knn"),
        (BaseName::J48, "j48"),
        (BaseName::Svm, "svm"),
    ];

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
            accepted: "a strategy (dynamic, ga, ecc, oocc, br, ga-br) and a base (nb, knn, j48, svm), such as \
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
                accepted: "a model that can be walked in any order: dynamic and oocc take nb or \
                           knn; j48 and svm go with br, ecc, ga or ga-br",
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
    /// How far apart rows are for `knn`.
    pub metric: Metric,
    /// Who votes of rows equally far.
    pub ties: Ties,
    /// Majority rows kept per minority row; all if none.
    pub max_imbalance: Option<f64>,
    /// Inputs kept of those that CFS selects; no selection if none.
    pub max_features: Option<usize>,
    /// How naive Bayes weighs numeric cells.
    pub likelihood: Likelihood,
    /// How `j48` grows trees.
    pub tree: J48,
    /// How `svm` fits machines; C and γ of each label are searched on a grid if none.
    pub machine: Option<Svm>,
    /// The order of every chain of `ecc`; drawn for each if none.
    pub order: Option<Order>,
    /// Orders that each member of `oocc` draws and tries.
    pub n_orders: usize,
    /// Validation rows that `oocc` asks for their order.
    pub n_lenders: usize,
    /// How `ga` and `ga-br` keep members.
    pub genetic: Genetic,
    /// Bytes to use, of which distances take a part at a time; results do not depend on it, and a
    /// model file does not keep it.
    #[serde(skip, default = "unlimited")]
    pub max_memory: u64,
}

fn unlimited() -> u64 {
    u64::MAX
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            sampling: Sampling::default(),
            decay: None,
            neighbours: None,
            metric: Metric::default(),
            ties: Ties::default(),
            max_imbalance: Some(20.0),
            max_features: Some(300),
            likelihood: Likelihood::Auto,
            tree: J48::default(),
            machine: None,
            order: None,
            n_orders: 20,
            n_lenders: 1,
            genetic: Genetic::default(),
            max_memory: unlimited(),
        }
    }
}

impl Settings {
    pub(super) fn preparation(&self) -> Result<Preparation> {
        Ok(Preparation {
            undersampling: Undersampling::new(self.max_imbalance)?,
            selection: self.max_features.map(|max_features| Cfs { max_features }),
        })
    }
}
