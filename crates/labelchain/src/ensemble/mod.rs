//! Many chains on random parts of the rows, each with an order of its own, and their vote.

mod tune;

pub use tune::{tune_decay, tune_neighbours};

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, Independent, Order};
use crate::data::split::{holdout, subsample};
use crate::data::{Dataset, LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::learner::{Block, Nearness, Predictor, Trace};
use crate::model::{ChainLearner, ChainModel};
use crate::neighbourhood::{Nearest, Neighbourhood};
use crate::ordering::LocalF1;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// How an ensemble is drawn.
///
/// | field | default | range | symbol |
/// |---|---|---|---|
/// | `n_members` | 20 | at least 1 | K |
/// | `sample` | 0.66 | (0, 1] | share of the training rows of a member |
/// | `fit_share` | 0.6 | (0, 1] | t: share of those to fit on; the rest validates |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// K.
    pub n_members: usize,
    /// Share of the training rows of a member.
    pub sample: f64,
    /// t: share of those to fit on; the rest validates.
    pub fit_share: f64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { n_members: 20, sample: 0.66, fit_share: 0.6 }
    }
}

/// Who chooses the orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Strategy {
    /// Nobody: labels are decided independently.
    BinaryRelevance,
    /// Chance, once for each member.
    RandomOrder,
    /// The user, for all members.
    GivenOrder(Order),
    /// The quality of each label near the row, with this β.
    LocalF1 {
        /// β: how fast memberships fall with squared distance.
        decay: f64,
    },
}

/// A trained model that has no order yet. Its draws are named by the member and not by the
/// strategy, so strategies can share it.
pub struct Candidate<M> {
    model: Arc<M>,
    order: Order,
    fitting: Vec<usize>,
    validation: Vec<usize>,
}

impl Sampling {
    /// Trains K models, each on its own rows.
    pub fn candidates<B: ChainLearner>(
        &self,
        base: &B,
        train: &Prepared,
        seed: Seed,
    ) -> Result<Vec<Candidate<B::Model>>> {
        if self.n_members == 0 {
            let (name, value) = ("members", "0".into());
            return Err(Error::Setting { name, value, accepted: "at least 1" });
        }
        let candidate = |member: usize| {
            let seed = seed.child("member", member);
            let n_rows = train.data().n_rows();
            let drawn = subsample(n_rows, self.sample, seed)?;
            let cut = holdout(drawn.len(), self.fit_share, seed)
                .map_err(|error| self.too_few(error, n_rows))?;
            let of =
                |places: Vec<usize>| places.into_iter().map(|at| drawn[at]).collect::<Vec<_>>();
            let (fitting, validation) = (of(cut.train), of(cut.test));
            let model = Arc::new(base.fit(train, &fitting, seed)?);
            let order = Order::random(train.data().n_labels(), seed.child("order", 0));
            Ok(Candidate { model, order, fitting, validation })
        };
        (0..self.n_members).into_par_iter().map(candidate).collect()
    }
}

impl Sampling {
    /// Says it of the training rows: the user has not seen how many a member drew.
    fn too_few(&self, error: Error, n_rows: usize) -> Error {
        let Error::TooFewRows { needed, .. } = error else { return error };
        Error::TooFewRows {
            needed: (needed as f64 / self.sample).ceil() as usize,
            found: n_rows,
            purpose: format!(
                "drawing {} of the rows for a member and fitting on {} of those",
                self.sample, self.fit_share
            ),
        }
    }
}

/// A model with its way of choosing orders.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Walker<M> {
    Independent(Independent<M>),
    Fixed(Chain<M, Order>),
    Local(Chain<M, LocalF1>),
}

/// One voter, and the rows it learned from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member<M> {
    walker: Walker<Arc<M>>,
    /// Rows it was fitted on.
    pub fitting: Vec<usize>,
    /// Rows it was validated on.
    pub validation: Vec<usize>,
}

/// Members and their vote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ensemble<M> {
    members: Vec<Member<M>>,
    n_labels: usize,
    /// β, where members look for neighbours.
    decay: Option<f64>,
}

impl<M: ChainModel> Ensemble<M> {
    /// Gives every candidate its way of choosing orders.
    pub fn plan(
        strategy: &Strategy,
        candidates: &[Candidate<M>],
        train: &Prepared,
    ) -> Result<Ensemble<M>> {
        let policies = match strategy {
            Strategy::LocalF1 { .. } => local_f1(candidates, train)?,
            _ => Vec::new(),
        };
        let member = |(at, candidate): (usize, &Candidate<M>)| {
            let model = Arc::clone(&candidate.model);
            let walker = match strategy {
                Strategy::BinaryRelevance => Walker::Independent(Independent { model }),
                Strategy::RandomOrder => {
                    Walker::Fixed(Chain { model, policy: candidate.order.clone() })
                }
                Strategy::GivenOrder(order) => {
                    Walker::Fixed(Chain { model, policy: order.clone() })
                }
                Strategy::LocalF1 { .. } => {
                    Walker::Local(Chain { model, policy: policies[at].clone() })
                }
            };
            let (fitting, validation) = (candidate.fitting.clone(), candidate.validation.clone());
            Member { walker, fitting, validation }
        };
        let decay = match *strategy {
            Strategy::LocalF1 { decay } if decay > 0.0 && decay.is_finite() => Some(decay),
            Strategy::LocalF1 { decay } => {
                let (name, value) = ("decay", decay.to_string());
                return Err(Error::Setting { name, value, accepted: "above 0" });
            }
            _ => None,
        };
        let members = candidates.iter().enumerate().map(member).collect();
        Ok(Ensemble { members, n_labels: train.data().n_labels(), decay })
    }

    /// Whether every member fits, given what fits a model, as it does unless it comes from a file.
    pub(crate) fn is_sound(&self, n_train: Option<usize>, model: impl Fn(&M) -> bool) -> bool {
        let order = |member: &Member<M>| match &member.walker {
            Walker::Independent(_) => true,
            Walker::Fixed(chain) => chain.policy.len() == self.n_labels,
            Walker::Local(chain) => {
                n_train.is_some_and(|n_train| chain.policy.is_sound(self.n_labels, n_train))
            }
        };
        self.decay.is_none_or(|decay| decay > 0.0 && decay.is_finite())
            && self.needs_neighbourhood() == n_train.is_some()
            && !self.members.is_empty()
            && self.members.iter().all(|member| order(member) && model(member.model()))
    }

    /// The members, in the order they were drawn.
    pub fn members(&self) -> &[Member<M>] {
        &self.members
    }

    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Whether members look for neighbours among the training rows.
    pub fn needs_neighbourhood(&self) -> bool {
        self.decay.is_some() || self.needs_nearest()
    }

    fn needs_nearest(&self) -> bool {
        self.members.iter().any(|member| member.model().needs_nearest())
    }

    /// How many members say each label of each standardized row is relevant, row by row.
    pub fn votes(&self, rows: &Dataset, near: Option<&Neighbourhood>) -> Result<Vec<u32>> {
        let n_labels = self.n_labels;
        let mut votes = vec![0u32; rows.n_rows() * n_labels];
        for start in (0..rows.n_rows()).step_by(BLOCK) {
            let block = self.block(rows, start, near)?;
            let answers: Vec<LabelMatrix> =
                self.members.par_iter().map(|member| member.predict_block(&block.view())).collect();
            count(&answers, &mut votes[start * n_labels..]);
        }
        Ok(votes)
    }

    fn block<'a>(
        &self,
        rows: &'a Dataset,
        start: usize,
        near: Option<&'a Neighbourhood<'a>>,
    ) -> Result<Rows<'a>> {
        Rows::new(rows, start, near, self.decay, self.needs_nearest())
    }

    /// The labels that strictly more than half of the members say are relevant.
    pub fn decide(&self, votes: &[u32]) -> LabelMatrix {
        decide_votes(votes, self.n_labels, self.members.len())
    }

    /// How each member decided each row: traces by row, then by member.
    pub fn trace(&self, rows: &Dataset, near: Option<&Neighbourhood>) -> Result<Vec<Vec<Trace>>> {
        let mut by_row: Vec<Vec<Trace>> = vec![Vec::new(); rows.n_rows()];
        for start in (0..rows.n_rows()).step_by(BLOCK) {
            let block = self.block(rows, start, near)?;
            let traces: Vec<Vec<Trace>> =
                self.members.par_iter().map(|member| member.trace_block(&block.view())).collect();
            for of_member in traces {
                let places = by_row[start..].iter_mut();
                places.zip(of_member).for_each(|(row, trace)| row.push(trace));
            }
        }
        Ok(by_row)
    }
}

/// For every candidate, where binary relevance is right and wrong about its validation rows.
fn local_f1<M: ChainModel>(candidates: &[Candidate<M>], train: &Prepared) -> Result<Vec<LocalF1>> {
    if candidates.iter().any(|candidate| candidate.validation.is_empty()) {
        return Err(Error::TooFewRows {
            needed: 1,
            found: 0,
            purpose: "choosing orders by local F1: the validation part of a member".into(),
        });
    }
    let data = train.data();
    let nobody = LabelMatrix::empty(data.n_rows(), data.n_labels());
    let mut said = vec![nobody; candidates.len()];
    let needs_nearest = candidates.iter().any(|candidate| candidate.model.needs_nearest());
    let near = needs_nearest.then(|| Neighbourhood::of(data)).transpose()?;
    // Rankings come in blocks, and one of them serves all candidates.
    let step = if needs_nearest { BLOCK } else { data.n_rows().max(1) };
    for start in (0..data.n_rows()).step_by(step) {
        let rows: Vec<usize> = (start..data.n_rows().min(start + step)).collect();
        let nearest = near.as_ref().map(|near| near.nearest(&data.select(&rows))).transpose()?;
        candidates.par_iter().zip(&mut said).for_each(|(candidate, said)| {
            let here = |row: &&usize| (start..start + step).contains(row);
            let rows: Vec<usize> = candidate.validation.iter().filter(here).copied().collect();
            let places: Vec<usize> = rows.iter().map(|row| row - start).collect();
            let nearest = nearest.as_ref().map(|nearest| nearest.select(&places));
            let block = Block {
                features: data.features(),
                rows: &rows,
                near: None,
                nearest: nearest.as_ref(),
            };
            let model = Arc::clone(&candidate.model);
            let answers = Independent { model }.predict_block(&block);
            for (at, &row) in rows.iter().enumerate() {
                answers.relevant(at).for_each(|label| said.set(row, label, true));
            }
        });
    }
    let policy = |(candidate, said): (&Candidate<M>, LabelMatrix)| {
        LocalF1::new(&candidate.validation, &said.select(&candidate.validation), data.labels())
    };
    Ok(candidates.iter().zip(said).map(policy).collect())
}

impl<M: ChainModel> Member<M> {
    /// The model, as it was trained.
    pub fn model(&self) -> &M {
        match &self.walker {
            Walker::Independent(independent) => &independent.model,
            Walker::Fixed(chain) => &chain.model,
            Walker::Local(chain) => &chain.model,
        }
    }

    /// Its order, where it is the same for every row.
    pub fn order(&self) -> Option<&Order> {
        match &self.walker {
            Walker::Fixed(chain) => Some(&chain.policy),
            _ => None,
        }
    }

    fn predictor(&self) -> &dyn Predictor {
        match &self.walker {
            Walker::Independent(independent) => independent,
            Walker::Fixed(chain) => chain,
            Walker::Local(chain) => chain,
        }
    }

    fn predict_block(&self, block: &Block) -> LabelMatrix {
        self.predictor().predict_block(block)
    }

    fn trace_block(&self, block: &Block) -> Vec<Trace> {
        let mut traces = self.predictor().trace_block(block);
        if let (Walker::Local(chain), Some(near)) = (&self.walker, block.near) {
            for (row, trace) in traces.iter_mut().enumerate() {
                trace.weight = Some(chain.policy.weights(near, row, &self.validation));
            }
        }
        traces
    }
}

/// Adds the answers of all members for a block to the votes from its first row on.
fn count<'a>(answers: impl IntoIterator<Item = &'a LabelMatrix>, votes: &mut [u32]) {
    for answer in answers {
        for row in 0..answer.n_rows() {
            for label in answer.relevant(row) {
                votes[row * answer.n_labels() + label.0] += 1;
            }
        }
    }
}

/// The labels with strictly more than half of the votes.
fn decide_votes(votes: &[u32], n_labels: usize, n_members: usize) -> LabelMatrix {
    let mut answers = LabelMatrix::empty(votes.len() / n_labels.max(1), n_labels);
    for (at, &count) in votes.iter().enumerate() {
        answers.set(at / n_labels, LabelId(at % n_labels), 2 * count as usize > n_members);
    }
    answers
}

/// Rows at a time, so that their distances to all training rows fit in memory. The cuts depend on
/// nothing but row numbers, so results do not depend on threads.
const BLOCK: usize = 256;

/// A block of rows, with how near they are.
struct Rows<'a> {
    data: &'a Dataset,
    rows: Vec<usize>,
    near: Option<Nearness>,
    nearest: Option<Nearest<'a>>,
}

impl<'a> Rows<'a> {
    /// With their memberships if there is a β, and ranked if asked.
    fn new(
        data: &'a Dataset,
        start: usize,
        near: Option<&'a Neighbourhood<'a>>,
        decay: Option<f64>,
        ranked: bool,
    ) -> Result<Rows<'a>> {
        let rows: Vec<usize> = (start..data.n_rows().min(start + BLOCK)).collect();
        let Some(train) = near else { return Ok(Rows { data, rows, near: None, nearest: None }) };
        let here = data.select(&rows);
        let distances = decay.map(|_| train.distances(&here)).transpose()?;
        let nearness = |(distances, decay)| Nearness::new(distances, train.n_rows(), decay);
        let near = distances.zip(decay).map(nearness);
        let nearest = ranked.then(|| train.nearest(&here)).transpose()?;
        Ok(Rows { data, rows, near, nearest })
    }

    fn view(&self) -> Block<'_> {
        Block {
            features: self.data.features(),
            rows: &self.rows,
            near: self.near.as_ref(),
            nearest: self.nearest.as_ref(),
        }
    }
}
