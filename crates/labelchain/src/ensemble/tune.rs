//! What is chosen by cross-validation on the training rows, each with one training for all values.

use std::sync::Arc;

use rayon::prelude::*;

use super::plan::local_f1;
use super::{BLOCK, Base, BaseModel, Candidate, Rows, Sampling, count, decide_votes};
use crate::chain::{Chain, Independent, Order};
use crate::data::split::folds;
use crate::data::{Dataset, LabelMatrix};
use crate::error::Result;
use crate::loss::{Averaging, Criterion, Losses, Rate, Undefined};
use crate::model::{ChainLearner, ChainModel, NearestNeighbours, NearestNeighboursModel};
use crate::neighbourhood::Neighbourhood;
use crate::ordering::LocalF1;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// β of least macro-F1 loss, ties to the smaller one (methods 3.2). Each fold's members are
/// trained and its rows scored once; only the orders change.
pub fn tune_decay(
    sampling: &Sampling,
    base: &Base,
    train: &Dataset,
    prepared: &Prepared,
    seed: Seed,
) -> Result<f64> {
    let best = tune::<_, { DECAYS.len() }>(train, prepared, seed, |fitted, tested, seed| {
        let fit = |rows: &[usize], _: &Order, seed| base.fit(fitted, rows, None, seed);
        let candidates = sampling.candidates(fitted, seed, fit)?;
        let policies = local_f1(&candidates, fitted)?;
        let chain = |(candidate, policy): (Candidate<BaseModel>, LocalF1)| Chain {
            model: candidate.model,
            policy,
        };
        let chains: Vec<_> = candidates.into_iter().zip(policies).map(chain).collect();
        votes_by_decay(&chains, tested, &Neighbourhood::of(fitted.data())?)
    })?;
    Ok(DECAYS[best])
}

const DECAYS: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// R of least macro-F1 loss of binary relevance, ties to the smaller one (methods 3.2). Each fold's
/// rows are ranked once; only the length of the neighbourhood changes.
pub fn tune_neighbours(
    sampling: &Sampling,
    base: &NearestNeighbours,
    train: &Dataset,
    prepared: &Prepared,
    seed: Seed,
) -> Result<usize> {
    let most = NearestNeighbours { neighbours: NEIGHBOURS[NEIGHBOURS.len() - 1], ..base.clone() };
    let best = tune::<_, { NEIGHBOURS.len() }>(train, prepared, seed, |fitted, tested, seed| {
        let fit = |rows: &[usize], _: &Order, seed| most.fit(fitted, rows, seed);
        let candidates = sampling.candidates(fitted, seed, fit)?;
        votes_by_neighbours(&candidates, tested, &Neighbourhood::of(fitted.data())?)
    })?;
    Ok(NEIGHBOURS[best])
}

const NEIGHBOURS: [usize; 6] = [1, 3, 5, 7, 9, 11];

/// The place of the setting of least macro-F1 loss over three plain folds of the training set, the
/// first of equals; `votes` gives those on the rows tested under each of N settings.
fn tune<V, const N: usize>(
    train: &Dataset,
    prepared: &Prepared,
    seed: Seed,
    votes: V,
) -> Result<usize>
where
    V: Fn(&Prepared, &Dataset, Seed) -> Result<Ballots<N>>,
{
    let seed = seed.child("tune", 0);
    let cut = folds(train.n_rows(), 3, seed)?;
    let mut sums = [0.0; N];
    for fold in 0..3 {
        let fitted =
            Prepared::with(prepared.standardizer().clone(), &train.select(&cut.train_rows(fold)))?;
        let tested = prepared.standardizer().apply(&train.select(&cut.test_rows(fold)))?;
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
}

/// The votes of all chains under every β.
fn votes_by_decay<M: ChainModel>(
    chains: &[Chain<Arc<M>, LocalF1>],
    rows: &Dataset,
    near: &Neighbourhood,
) -> Result<Ballots<{ DECAYS.len() }>> {
    let mut ballots = Ballots::new(chains.len(), rows);
    let ranked = chains.iter().any(|chain| chain.model.needs_nearest());
    for start in (0..rows.n_rows()).step_by(BLOCK) {
        let mut block = Rows::new(rows, start, Some(near), Some(DECAYS[0]), ranked)?;
        let scores: Vec<M::Scores> =
            chains.par_iter().map(|chain| chain.model.score(&block.view())).collect();
        for (votes, decay) in ballots.votes.iter_mut().zip(DECAYS) {
            block.near.iter_mut().for_each(|near| near.set_decay(decay));
            let walk = |(chain, scores): (&Chain<_, _>, _)| chain.walk(scores, &block.view());
            let answers: Vec<LabelMatrix> = chains.par_iter().zip(&scores).map(walk).collect();
            count(&answers, &mut votes[start * rows.n_labels()..]);
        }
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
    let of = |candidate: &Candidate<NearestNeighboursModel>| {
        NEIGHBOURS.map(|n| Independent { model: candidate.model.with_neighbours(n) })
    };
    let models: Vec<_> = candidates.iter().map(of).collect();
    for start in (0..rows.n_rows()).step_by(BLOCK) {
        let block = Rows::new(rows, start, Some(near), None, true)?;
        let ask =
            |(candidate, models): (&Candidate<NearestNeighboursModel>, &[_; NEIGHBOURS.len()])| {
                let scores = candidate.model.score(&block.view());
                let answer =
                    |at: usize| Independent::answer(&models[at], &scores, block.rows.len());
                std::array::from_fn::<LabelMatrix, { NEIGHBOURS.len() }, _>(answer)
            };
        let answers: Vec<_> = candidates.par_iter().zip(&models).map(ask).collect();
        for (at, votes) in ballots.votes.iter_mut().enumerate() {
            let of_setting: Vec<&LabelMatrix> =
                answers.iter().map(|answers| &answers[at]).collect();
            count(of_setting, &mut votes[start * rows.n_labels()..]);
        }
    }
    Ok(ballots)
}
