//! The strategies: who chooses the orders of the members, and which members vote. One row each.

use std::sync::Arc;

use super::policies::{self, DECAY, LENDERS, ORDERS};
use super::sampling::SEARCH_ROWS;
use super::search::{CANDIDATES, CROSSOVER, DIVERSITY, GENERATIONS, MUTATION, POPULATION};
use super::{Candidate, Sampling, VoteTies};
use crate::chain::{AnyOrderLearner, AnyOrderModel, Order, OrderPolicy, TunedSetting};
use crate::data::{Dataset, LabelId};
use crate::decode::{Decode, DecodeBudget, decode};
use crate::error::{Error, Result};
use crate::order::{LocalF1, Oocc};
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{Accepts, AnySetting, Setting, Settings};

/// Who chooses the orders, and which members vote: a row of [`STRATEGIES`].
pub struct Strategy {
    /// Its name, the first half of a method's.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// How members come to their orders.
    pub orders: MemberOrders,
    /// Whether a genetic search chooses the members among more candidates than are needed.
    pub is_searched: bool,
    /// Whether its description in the literature leaves parts open, which were filled in here.
    pub is_reconstruction: bool,
    /// What it reads of the settings, beside what every ensemble does.
    pub settings: &'static [&'static dyn AnySetting],
}

/// How members come to their orders.
pub enum MemberOrders {
    /// They have none: labels are decided independently.
    Independent,
    /// Each has one order, drawn at random or given.
    PerMember,
    /// The most certain of the open labels is decided next, looked up again after each decision. This
    /// takes a model that can be walked in any order, and nothing has to be learned for it.
    ByCertainty,
    /// An order is chosen for each row. This takes a model that can be walked in any order, and
    /// nothing else gets into a [`PolicyTask`].
    PerRow {
        /// Learns who chooses the orders of each candidate.
        learn: fn(&PolicyTask) -> Result<Policies>,
        /// Reads back what [`OrderPolicy::encode`] wrote; none if it is damaged.
        decode: Decode<dyn OrderPolicy>,
    },
}

/// From what an order policy is learned.
pub struct PolicyTask<'a> {
    /// The members to be.
    pub candidates: &'a [Candidate<Arc<dyn AnyOrderModel>>],
    /// What trained them, for policies that are tuned on other rows.
    pub learner: &'a dyn AnyOrderLearner,
    /// The training set.
    pub train: &'a Prepared,
    /// The settings that the strategy lists.
    pub settings: &'a Settings,
    /// How members are drawn.
    pub sampling: Sampling,
    /// What a tied vote decides, for policies that are tuned by votes.
    pub vote_ties: VoteTies,
    /// What everything is drawn by.
    pub seed: Seed,
}

/// A policy for each candidate, and the values of settings that were left to the data.
pub struct Policies {
    /// By candidate.
    pub by_candidate: Vec<Arc<dyn OrderPolicy>>,
    /// What was tuned.
    pub tuned: Vec<TunedSetting>,
}

/// All strategies, those of the paper's comparison first.
pub static STRATEGIES: &[&Strategy] = &[
    &Strategy {
        name: "dynamic",
        about: "labels that are predicted well near the row come first, for each row: the paper's proposal",
        orders: MemberOrders::PerRow { learn: policies::dynamic, decode: decode_policy::<LocalF1> },
        is_searched: false,
        is_reconstruction: false,
        settings: &[&DECAY],
    },
    &Strategy {
        name: "ga",
        about: "random orders, and a genetic search chooses the chains that vote best together",
        orders: MemberOrders::PerMember,
        is_searched: true,
        is_reconstruction: true,
        settings: &[
            &CANDIDATES,
            &SEARCH_ROWS,
            &POPULATION,
            &GENERATIONS,
            &CROSSOVER,
            &MUTATION,
            &DIVERSITY,
        ],
    },
    &Strategy {
        name: "ecc",
        about: "random orders, one for each member: an ensemble of classifier chains",
        orders: MemberOrders::PerMember,
        is_searched: false,
        is_reconstruction: false,
        settings: &[&ORDER],
    },
    &Strategy {
        name: "oocc",
        about: "the order that suits the validation rows nearest to the row, for each row",
        orders: MemberOrders::PerRow { learn: policies::oocc, decode: decode_policy::<Oocc> },
        is_searched: false,
        is_reconstruction: true,
        settings: &[&ORDERS, &LENDERS],
    },
    &Strategy {
        name: "certain",
        about: "the label that the model is most certain about comes next, looked up again after each decision",
        orders: MemberOrders::ByCertainty,
        is_searched: false,
        is_reconstruction: false,
        settings: &[],
    },
    &Strategy {
        name: "br",
        about: "no order: labels are decided independently, as binary relevance",
        orders: MemberOrders::Independent,
        is_searched: false,
        is_reconstruction: false,
        settings: &[],
    },
    &Strategy {
        name: "ga-br",
        about: "no order, and a genetic search chooses the members that vote best together",
        orders: MemberOrders::Independent,
        is_searched: true,
        is_reconstruction: true,
        settings: &[&CANDIDATES, &SEARCH_ROWS, &POPULATION, &GENERATIONS, &CROSSOVER, &MUTATION],
    },
];

fn decode_policy<P: OrderPolicy + serde::de::DeserializeOwned + 'static>(
    bytes: &[u8],
    budget: &DecodeBudget,
) -> Option<Arc<dyn OrderPolicy>> {
    Some(Arc::new(decode::<P>(bytes, budget)?))
}

impl Strategy {
    /// Whether labels are decided one after the other, each knowing those before it.
    pub fn is_chained(&self) -> bool {
        !matches!(self.orders, MemberOrders::Independent)
    }

    /// Whether an order is chosen for each row, so that models must not be bound to one.
    pub fn chooses_per_row(&self) -> bool {
        matches!(self.orders, MemberOrders::PerRow { .. } | MemberOrders::ByCertainty)
    }

    /// Whether members that share a model differ all the same: by the orders in which they walk it.
    pub fn differs_by_order(&self) -> bool {
        matches!(self.orders, MemberOrders::PerMember)
    }

    /// Whether orders or members are chosen by how candidates do on validation rows.
    pub fn needs_validation(&self) -> bool {
        self.is_searched || matches!(self.orders, MemberOrders::PerRow { .. })
    }
}

/// The order of every chain of `ecc`.
pub static ORDER: Setting<GivenOrder> = Setting {
    name: "order",
    accepts: &Orders,
    default: GivenOrder::Random,
    help: "The order of every chain: natural, random, or label names such as a,b,c",
};

/// An order that all members share, or a random one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenOrder {
    /// Drawn for each member.
    Random,
    /// That of the data set.
    Natural,
    /// Labels by name, each once.
    Names(Vec<String>),
}

/// Words and lists of label names.
struct Orders;

impl Accepts<GivenOrder> for Orders {
    fn parse(&self, text: &str) -> Option<GivenOrder> {
        match text {
            "random" => Some(GivenOrder::Random),
            "natural" => Some(GivenOrder::Natural),
            // One word is a misspelt word: a single label has nothing to be ordered.
            word if !word.contains(',') => None,
            names => Some(GivenOrder::Names(names.split(',').map(|it| it.trim().into()).collect())),
        }
    }

    fn text(&self, value: &GivenOrder) -> String {
        match value {
            GivenOrder::Random => "random".into(),
            GivenOrder::Natural => "natural".into(),
            GivenOrder::Names(names) => names.join(","),
        }
    }

    fn phrase(&self) -> String {
        "natural, random, or each label once, with commas between them".into()
    }

    fn placeholder(&self) -> String {
        "ORDER".into()
    }
}

impl GivenOrder {
    /// The order in terms of the labels of a data set; none where each member draws its own.
    pub fn of(&self, data: &Dataset) -> Result<Option<Order>> {
        let names = match self {
            GivenOrder::Random => return Ok(None),
            GivenOrder::Natural => return Ok(Some(Order::natural(data.n_labels()))),
            GivenOrder::Names(names) => names,
        };
        let labels: Vec<LabelId> =
            names.iter().map(|name| data.label(name)).collect::<Result<_>>()?;
        let missing = data.labels().ids().filter(|label| !labels.contains(label));
        let missing: Vec<&String> = missing.map(|label| &data.label_names()[label.0]).collect();
        if let Some(first) = missing.first() {
            return Err(Error::Value {
                name: ORDER.name.into(),
                value: format!("without {} of the labels (first: {first:?})", missing.len()),
                accepted: Orders.phrase(),
            });
        }
        Order::new(labels, data.n_labels()).map(Some)
    }
}
