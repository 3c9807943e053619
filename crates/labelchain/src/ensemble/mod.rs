//! Many chains on random parts of the rows, each with an order of its own, and their vote.

mod base;
mod genetic;
mod members;
mod sampling;
mod search;
mod tuning;

pub use base::{Base, BaseModel};
pub use genetic::{GeneticSearch, Individual, Losses, Subset};
pub use members::Strategy;
pub use sampling::{Candidate, Sampling};
pub use search::Genetic;
pub use tuning::{tune_decay, tune_neighbours};

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::ChainModel;
use crate::chain::{Chain, Independent, Order};
use crate::data::{Dataset, LabelId, LabelMatrix};
use crate::distance::{BLOCK, Needs, Neighbourhood, Rankings};
use crate::error::Result;
use crate::learner::{Block, Memberships, Predictor, Trace};
use crate::order::{LocalF1, Oocc};

/// A model with its way of choosing orders.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Walker<M> {
    Independent(Independent<M>),
    Fixed(Chain<M, Order>),
    Local(Chain<M, LocalF1>),
    Lent(Chain<M, Oocc>),
}

/// One voter, and the rows it learned from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member<M> {
    walker: Walker<Arc<M>>,
    /// Its place among the candidates, of which a search may have kept only some.
    pub candidate: usize,
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

impl Ensemble<BaseModel> {
    /// The ensemble of these inputs and then those of another that drew the same rows and orders;
    /// none where members look at more than one input at a time.
    pub(crate) fn beside(self, other: Ensemble<BaseModel>) -> Option<Ensemble<BaseModel>> {
        let pairs = self.members.into_iter().zip(other.members);
        let members = pairs.map(|(member, other)| member.beside(other)).collect::<Option<_>>()?;
        Some(Ensemble { members, ..self })
    }
}

impl Member<BaseModel> {
    fn beside(self, other: Member<BaseModel>) -> Option<Member<BaseModel>> {
        let join = |model: Arc<BaseModel>, other| {
            Arc::unwrap_or_clone(model).beside(Arc::unwrap_or_clone(other)).map(Arc::new)
        };
        let walker = match (self.walker, other.walker) {
            (Walker::Independent(a), Walker::Independent(b)) => {
                Walker::Independent(Independent { model: join(a.model, b.model)? })
            }
            (Walker::Fixed(a), Walker::Fixed(b)) => {
                Walker::Fixed(Chain { model: join(a.model, b.model)?, policy: a.policy })
            }
            _ => return None,
        };
        Some(Member { walker, ..self })
    }
}

impl<M: ChainModel> Ensemble<M> {
    /// Whether every member fits, given what fits a model, as it does unless it comes from a file.
    pub(crate) fn is_sound(&self, n_train: Option<usize>, model: impl Fn(&M) -> bool) -> bool {
        let order = |member: &Member<M>| match &member.walker {
            Walker::Independent(_) => true,
            Walker::Fixed(chain) => chain.policy.len() == self.n_labels,
            Walker::Local(chain) => {
                n_train.is_some_and(|n_train| chain.policy.is_sound(self.n_labels, n_train))
            }
            Walker::Lent(chain) => {
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
        self.decay.is_some() || self.needs() > Needs::Nothing
    }

    fn needs(&self) -> Needs {
        let wants = |member: &Member<M>| match member.walker {
            Walker::Lent(_) => Needs::Ranking,
            _ => member.model().needs(),
        };
        most(self.members.iter().map(wants))
    }

    /// How many members say each label of each standardized row is relevant, row by row.
    pub fn votes(&self, rows: &Dataset, near: Option<&Neighbourhood>) -> Result<Vec<u32>> {
        let n_labels = self.n_labels;
        let mut votes = vec![0u32; rows.n_rows() * n_labels];
        for start in (0..rows.n_rows()).step_by(at_once(near)) {
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
        Rows::new(rows, start, near, self.decay, self.needs())
    }

    /// The labels that strictly more than half of the members say are relevant.
    pub fn decide(&self, votes: &[u32]) -> LabelMatrix {
        decide_votes(votes, self.n_labels, self.members.len())
    }

    /// How each member decided each row: traces by row, then by member.
    pub fn trace(&self, rows: &Dataset, near: Option<&Neighbourhood>) -> Result<Vec<Vec<Trace>>> {
        let mut by_row: Vec<Vec<Trace>> = vec![Vec::new(); rows.n_rows()];
        for start in (0..rows.n_rows()).step_by(at_once(near)) {
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

impl<M: ChainModel> Member<M> {
    /// The model, as it was trained.
    pub fn model(&self) -> &M {
        match &self.walker {
            Walker::Independent(independent) => &independent.model,
            Walker::Fixed(chain) => &chain.model,
            Walker::Local(chain) => &chain.model,
            Walker::Lent(chain) => &chain.model,
        }
    }

    /// Its order, where it is the same for every row.
    pub fn order(&self) -> Option<&Order> {
        match &self.walker {
            Walker::Fixed(chain) => Some(&chain.policy),
            _ => None,
        }
    }

    /// Which of its orders suits which validation row, where rows near by lend theirs.
    pub fn lent(&self) -> Option<&Oocc> {
        match &self.walker {
            Walker::Lent(chain) => Some(&chain.policy),
            _ => None,
        }
    }

    fn predictor(&self) -> &dyn Predictor {
        match &self.walker {
            Walker::Independent(independent) => independent,
            Walker::Fixed(chain) => chain,
            Walker::Local(chain) => chain,
            Walker::Lent(chain) => chain,
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

/// How many rows are labelled at a time.
fn at_once(near: Option<&Neighbourhood>) -> usize {
    near.map_or(BLOCK, Neighbourhood::rows_at_once)
}

/// What serves all who want something.
fn most(wanted: impl Iterator<Item = Needs>) -> Needs {
    wanted.max().unwrap_or_default()
}

/// A block of rows, with how near they are.
struct Rows<'a> {
    data: &'a Dataset,
    rows: Vec<usize>,
    near: Option<Memberships>,
    nearest: Option<Rankings<'a>>,
}

impl<'a> Rows<'a> {
    /// With their memberships if there is a β, and what else is wanted.
    fn new(
        data: &'a Dataset,
        start: usize,
        near: Option<&'a Neighbourhood<'a>>,
        decay: Option<f64>,
        wanted: Needs,
    ) -> Result<Rows<'a>> {
        let rows: Vec<usize> = (start..data.n_rows().min(start + at_once(near))).collect();
        let Some(train) = near else { return Ok(Rows { data, rows, near: None, nearest: None }) };
        let here = data.select(&rows);
        let distances = decay.map(|_| train.distances(&here)).transpose()?;
        let nearness = |(distances, decay)| Memberships::new(distances, train.n_rows(), decay);
        let near = distances.zip(decay).map(nearness);
        let nearest = train.rankings(&here, wanted);
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
