//! How candidates become members: each is given its way of choosing orders.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Candidate, Ensemble, Member, Walker, most};
use crate::base::ChainModel;
use crate::chain::{Chain, Independent, Order, walk_all};
use crate::data::LabelMatrix;
use crate::distance::{Needs, Neighbourhood};
use crate::error::{Error, Result};
use crate::learner::{Block, Predictor as _};
use crate::loss::{Confusion, Rate, Undefined};
use crate::order::{LocalF1, Oocc};
use crate::prepare::Prepared;
use crate::seed::Seed;

/// Who chooses the orders.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// Nobody: labels are decided independently.
    BinaryRelevance,
    /// Chance, once for each member.
    RandomOrder,
    /// The user, for all members.
    GivenOrder(Order),
    /// The quality of each label near the row.
    LocalF1 {
        /// β: how fast memberships fall with squared distance.
        decay: f64,
    },
    /// The nearest validation rows, which lend the orders that suited them.
    Oocc {
        /// r: orders that each member draws and tries, if there are so many.
        n_orders: usize,
        /// k: validation rows that are asked.
        n_neighbours: usize,
    },
}

impl<M: ChainModel> Ensemble<M> {
    /// Gives every candidate its way of choosing orders; `seed` draws the orders to choose from.
    pub fn plan(
        strategy: &Strategy,
        candidates: &[Candidate<M>],
        train: &Prepared,
        seed: Seed,
    ) -> Result<Ensemble<M>> {
        let model = |candidate: &Candidate<M>| Arc::clone(&candidate.model);
        let walkers: Vec<Walker<Arc<M>>> = match strategy {
            Strategy::BinaryRelevance => {
                let member = |one| Walker::Independent(Independent { model: model(one) });
                candidates.iter().map(member).collect()
            }
            Strategy::RandomOrder => {
                let chain =
                    |one: &Candidate<M>| Chain { model: model(one), policy: one.order.clone() };
                candidates.iter().map(|one| Walker::Fixed(chain(one))).collect()
            }
            Strategy::GivenOrder(order) => {
                let chain = |one| Chain { model: model(one), policy: order.clone() };
                candidates.iter().map(|one| Walker::Fixed(chain(one))).collect()
            }
            Strategy::LocalF1 { .. } => {
                let policies = local_f1(candidates, train)?;
                let chain = |(one, policy)| Walker::Local(Chain { model: model(one), policy });
                candidates.iter().zip(policies).map(chain).collect()
            }
            Strategy::Oocc { n_orders, n_neighbours } => {
                let policies = oocc(candidates, train, *n_orders, *n_neighbours, seed)?;
                let chain = |(one, policy)| Walker::Lent(Chain { model: model(one), policy });
                candidates.iter().zip(policies).map(chain).collect()
            }
        };
        let member = |(candidate, walker): (&Candidate<M>, Walker<Arc<M>>)| Member {
            walker,
            candidate: candidate.at,
            fitting: candidate.fitting.clone(),
            validation: candidate.validation.clone(),
        };
        let decay = match *strategy {
            Strategy::LocalF1 { decay } if decay > 0.0 && decay.is_finite() => Some(decay),
            Strategy::LocalF1 { decay } => {
                let (name, value) = ("decay", decay.to_string());
                return Err(Error::Setting { name, value, accepted: "above 0" });
            }
            _ => None,
        };
        let members = candidates.iter().zip(walkers).map(member).collect();
        Ok(Ensemble { members, n_labels: train.data().n_labels(), decay })
    }
}

/// For every candidate, where binary relevance is right and wrong about its validation rows.
pub(super) fn local_f1<M: ChainModel>(
    candidates: &[Candidate<M>],
    train: &Prepared,
) -> Result<Vec<LocalF1>> {
    let answers = on_validation(candidates, train, |candidate, block| {
        Independent { model: Arc::clone(&candidate.model) }.predict_block(block)
    })?;
    let policy = |(candidate, said): (&Candidate<M>, Vec<LabelMatrix>)| {
        let said = LabelMatrix::concat(train.data().n_labels(), &said);
        LocalF1::new(&candidate.validation, &said, train.data().labels())
    };
    Ok(candidates.iter().zip(answers).map(policy).collect())
}

/// For every candidate, how well each of the orders it draws suits each of its validation rows.
fn oocc<M: ChainModel>(
    candidates: &[Candidate<M>],
    train: &Prepared,
    n_orders: usize,
    n_neighbours: usize,
    seed: Seed,
) -> Result<Vec<Oocc>> {
    let orders = |candidate: &Candidate<M>| {
        let seed = seed.child("member", candidate.at);
        Order::distinct(train.data().n_labels(), n_orders, seed.child("orders", 0))
    };
    let truth = train.data().labels();
    let scores = on_validation(candidates, train, |candidate, block| {
        let by_order: Vec<LabelMatrix> = walks(candidate, &orders(candidate), block);
        let score = |at: usize, answers: &LabelMatrix| {
            let counts = Confusion::between(truth.row(block.rows[at]), answers.row(at));
            1.0 - Rate::F1.loss(&counts, Undefined::Paper).unwrap_or(0.0)
        };
        let of_row = |at: usize| by_order.iter().map(move |answers| score(at, answers));
        (0..block.n_rows()).flat_map(of_row).collect::<Vec<f64>>()
    })?;
    let policy = |(candidate, scores): (&Candidate<M>, Vec<Vec<f64>>)| {
        Oocc::new(orders(candidate), &candidate.validation, scores.concat(), n_neighbours)
    };
    candidates.iter().zip(scores).map(policy).collect()
}

/// What a candidate answers about a block in each of several orders.
fn walks<M: ChainModel>(
    candidate: &Candidate<M>,
    orders: &[Order],
    block: &Block,
) -> Vec<LabelMatrix> {
    let scores = candidate.model.score(block);
    walk_all(&candidate.model, &scores, block.n_rows(), orders.len(), |at, _| &orders[at])
}

/// Asks every candidate about its validation rows, a block of them at a time, so that one ranking
/// of the training rows serves all: what it answers, by candidate, block after block.
pub(super) fn on_validation<M: ChainModel, A: Send>(
    candidates: &[Candidate<M>],
    train: &Prepared,
    ask: impl Fn(&Candidate<M>, &Block) -> A + Sync,
) -> Result<Vec<Vec<A>>> {
    if candidates.iter().any(|candidate| candidate.validation.is_empty()) {
        return Err(Error::TooFewRows {
            needed: 1,
            found: 0,
            purpose: "choosing orders or members: the validation part".into(),
        });
    }
    let data = train.data();
    let wanted = most(candidates.iter().map(|candidate| candidate.model.needs()));
    let near = (wanted > Needs::Nothing).then(|| Neighbourhood::of_prepared(train)).transpose()?;
    let step = near.as_ref().map_or(data.n_rows().max(1), Neighbourhood::rows_at_once);
    let mut answers: Vec<Vec<A>> = candidates.iter().map(|_| Vec::new()).collect();
    for start in (0..data.n_rows()).step_by(step) {
        let here: Vec<usize> = (start..data.n_rows().min(start + step)).collect();
        let nearest = near.as_ref().and_then(|near| near.rankings(&data.select(&here), wanted));
        candidates.par_iter().zip(&mut answers).for_each(|(candidate, answers)| {
            let from = candidate.validation.partition_point(|&row| row < start);
            let to = candidate.validation.partition_point(|&row| row < start + step);
            let rows = &candidate.validation[from..to];
            let places: Vec<usize> = rows.iter().map(|row| row - start).collect();
            let nearest = nearest.as_ref().map(|nearest| nearest.select(&places));
            let (features, nearest) = (data.features(), nearest.as_ref());
            answers.push(ask(candidate, &Block { features, rows, near: None, nearest }));
        });
    }
    Ok(answers)
}
