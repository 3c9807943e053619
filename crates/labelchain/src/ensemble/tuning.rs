//! What is chosen by cross-validation on the training rows, each with one training for all values.

use std::sync::Arc;

use rayon::prelude::*;

use super::members::local_f1;
use super::{Base, BaseModel, Candidate, Rows, Sampling, count, decide_votes, most};
use crate::base::{ChainLearner, ChainModel, NearestNeighbours, NearestNeighboursModel};
use crate::chain::{Chain, Order, OrderPolicy as _, walk_all};
use crate::data::split::folds;
use crate::data::{Dataset, LabelMatrix};
use crate::distance::Neighbourhood;
use crate::error::Result;
use crate::loss::{Averaging, Criterion, Losses, Rate, Undefined};
use crate::order::LocalF1;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// β of least macro-F1 loss, ties to the smaller one (methods 3.2). Each fold's members are
/// trained and its rows scored once; only the orders change.
pub fn tune_decay(sampling: &Sampling, base: &Base, train: &Prepared, seed: Seed) -> Result<f64> {
    let best = tune::<_, { DECAYS.len() }>(train, seed, |fitted, tested, seed| {
        let fit = |rows: &[usize], _: &Order, seed| base.fit(fitted, rows, None, seed);
        let candidates = sampling.candidates(fitted, seed, fit)?;
        let policies = local_f1(&candidates, fitted)?;
        let chain = |(candidate, policy): (Candidate<BaseModel>, LocalF1)| Chain {
            model: candidate.model,
            policy,
        };
        let chains: Vec<_> = candidates.into_iter().zip(policies).map(chain).collect();
        votes_by_decay(&chains, tested, &Neighbourhood::of_prepared(fitted)?)
    })?;
    Ok(DECAYS[best])
}

const DECAYS: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// R of least macro-F1 loss of binary relevance, ties to the smaller one (methods 3.2). Each fold's
/// rows are ranked once; only the length of the neighbourhood changes.
pub fn tune_neighbours(
    sampling: &Sampling,
    base: &NearestNeighbours,
    train: &Prepared,
    seed: Seed,
) -> Result<usize> {
    let most = NearestNeighbours { neighbours: NEIGHBOURS[NEIGHBOURS.len() - 1], ..base.clone() };
    let best = tune::<_, { NEIGHBOURS.len() }>(train, seed, |fitted, tested, seed| {
        let fit = |rows: &[usize], _: &Order, seed| most.fit(fitted, rows, seed);
        let candidates = sampling.candidates(fitted, seed, fit)?;
        votes_by_neighbours(&candidates, tested, &Neighbourhood::of_prepared(fitted)?)
    })?;
    Ok(NEIGHBOURS[best])
}

const NEIGHBOURS: [usize; 6] = [1, 3, 5, 7, 9, 11];

/// The place of the setting of least macro-F1 loss over three plain folds of the training set, the
/// first of equals; `votes` gives those on the rows tested under each of N settings.
fn tune<V, const N: usize>(train: &Prepared, seed: Seed, votes: V) -> Result<usize>
where
    V: Fn(&Prepared, &Dataset, Seed) -> Result<Ballots<N>>,
{
    let seed = seed.child("tune", 0);
    let cut = folds(train.data().n_rows(), 3, seed)?;
    let mut sums = [0.0; N];
    for fold in 0..3 {
        let fitted = train.select(&cut.train_rows(fold));
        let tested = train.data().select(&cut.test_rows(fold));
        let ballots = votes(&fitted, &tested, seed.child("fold", fold))?;
        for (sum, votes) in sums.iter_mut().zip(&ballots.votes) {
            let answers = decide_votes(votes, tested.n_labels(), ballots.n_members);
            let losses = Losses::between(tested.labels(), &answers, Undefined::Paper)?;
            *sum += losses.get(Criterion::Of(Averaging::Macro, Rate::F1)).unwrap_or(0.0);
        }
    }
    let mut best = 0;
    for at in 1..N {
        if sums[at] < sums[best] {
            best = at;
        }
    }
    Ok(best)
}

/// The votes of an ensemble under each of N settings.
struct Ballots<const N: usize> {
    n_members: usize,
    votes: [Vec<u32>; N],
}

impl<const N: usize> Ballots<N> {
    fn new(n_members: usize, rows: &Dataset) -> Ballots<N> {
        let nobody = vec![0; rows.n_rows() * rows.n_labels()];
        Ballots { n_members, votes: std::array::from_fn(|_| nobody.clone()) }
    }

    /// Adds what each member answers under each setting about the rows from `start` on.
    fn count(&mut self, answers: &[Vec<LabelMatrix>], start: usize) {
        for (at, votes) in self.votes.iter_mut().enumerate() {
            for of_member in answers {
                count([&of_member[at]], &mut votes[start * of_member[at].n_labels()..]);
            }
        }
    }
}

/// The votes of all chains under every β.
fn votes_by_decay<M: ChainModel>(
    chains: &[Chain<Arc<M>, LocalF1>],
    rows: &Dataset,
    near: &Neighbourhood,
) -> Result<Ballots<{ DECAYS.len() }>> {
    let mut ballots = Ballots::new(chains.len(), rows);
    let wanted = most(chains.iter().map(|chain| chain.model.needs()));
    for start in (0..rows.n_rows()).step_by(near.rows_at_once()) {
        let mut block = Rows::new(rows, start, Some(near), Some(DECAYS[0]), wanted)?;
        // By β, by chain, by row.
        let orders = DECAYS.map(|decay| {
            block.near.iter_mut().for_each(|near| near.set_decay(decay));
            let orders = chains.par_iter().map(|chain| chain.policy.orders(&block.view()));
            orders.collect::<Vec<_>>()
        });
        let walk = |(at, chain): (usize, &Chain<Arc<M>, LocalF1>)| {
            let scores = chain.model.score(&block.view());
            let order = |decay: usize, row: usize| &*orders[decay][at][row].order;
            walk_all(&chain.model, &scores, block.rows.len(), DECAYS.len(), order)
        };
        let answers: Vec<_> = chains.par_iter().enumerate().map(walk).collect();
        ballots.count(&answers, start);
    }
    Ok(ballots)
}

/// The votes of binary relevance under every R.
fn votes_by_neighbours(
    candidates: &[Candidate<NearestNeighboursModel>],
    rows: &Dataset,
    near: &Neighbourhood,
) -> Result<Ballots<{ NEIGHBOURS.len() }>> {
    let mut ballots = Ballots::new(candidates.len(), rows);
    let wanted = most(candidates.iter().map(|candidate| candidate.model.needs()));
    for start in (0..rows.n_rows()).step_by(near.rows_at_once()) {
        let block = Rows::new(rows, start, Some(near), None, wanted)?;
        let nobody = LabelMatrix::empty(block.rows.len(), rows.n_labels());
        let ask = |candidate: &Candidate<NearestNeighboursModel>| {
            let scores = candidate.model.score(&block.view());
            let mut answers = vec![nobody.clone(); NEIGHBOURS.len()];
            for row in 0..block.rows.len() {
                let evidence = candidate.model.evidence(&scores, row);
                for label in nobody.ids() {
                    let supports = evidence.supports(label, NEIGHBOURS);
                    for (answers, support) in answers.iter_mut().zip(supports) {
                        answers.set(row, label, support > 0.0);
                    }
                }
            }
            answers
        };
        let answers: Vec<_> = candidates.par_iter().map(ask).collect();
        ballots.count(&answers, start);
    }
    Ok(ballots)
}
