//! Settings that are chosen by cross-validation on the training rows, with one training for all of
//! their values.

use std::sync::Arc;

use rayon::prelude::*;

use super::policies::local_f1;
use super::votes::{VotesBySetting, majority};
use super::{PolicyTask, RowBlock, VoteTies};
use crate::chain::{AnyOrderModel, Collector, Decisions, Order, OrderPolicy as _, Route};
use crate::data::split::folds;
use crate::data::{Dataset, LabelMatrix};
use crate::distance::Neighbourhood;
use crate::error::Result;
use crate::loss::{Averaging, Criterion, Losses, Rate, Undefined};
use crate::order::LocalF1;
use crate::prepare::Prepared;
use crate::progress::Cancel;
use crate::seed::Seed;

/// β of least macro-F1 loss, ties to the smaller one (docs/methods.md, 3.2). Each fold's members are trained
/// and its rows scored once; only the orders change.
pub(super) fn tune_decay(task: &PolicyTask) -> Result<f64> {
    let votes = |fitted: &Prepared, tested: &Dataset, seed| {
        let fit = |rows: &[usize], _: &Order, seed| task.learner.train(fitted, rows, seed);
        let candidates = task.sampling.candidates(fitted, seed, fit)?;
        let policies = local_f1(&candidates, fitted, DECAYS[0])?;
        let models = candidates.into_iter().map(|candidate| candidate.model);
        let chains: Vec<_> = models.zip(policies).collect();
        votes_by_decay(&chains, tested, &Neighbourhood::of_prepared(fitted)?, fitted.cancel())
    };
    Ok(DECAYS[cross_validated(task.train, task.seed, task.vote_ties, votes)?])
}

const DECAYS: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// The place of the setting of least macro-F1 loss over three plain folds of the training set, the
/// first of equals; `votes` gives those on the rows tested under each of N settings.
pub(crate) fn cross_validated<const N: usize>(
    train: &Prepared,
    seed: Seed,
    ties: VoteTies,
    votes: impl Fn(&Prepared, &Dataset, Seed) -> Result<VotesBySetting<N>>,
) -> Result<usize> {
    let seed = seed.child("tune", 0);
    let cut = folds(train.data().n_rows(), 3, seed)?;
    let mut sums = [0.0; N];
    for fold in 0..3 {
        let fitted = train.select(&cut.train_rows(fold));
        let tested = train.data().select(&cut.test_rows(fold));
        let by_setting = votes(&fitted, &tested, seed.child("fold", fold))?;
        for (sum, votes) in sums.iter_mut().zip(&by_setting.votes) {
            let answers = majority(votes, tested.n_labels(), by_setting.n_members, ties);
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

/// The votes of all chains under every β.
fn votes_by_decay(
    chains: &[(Arc<dyn AnyOrderModel>, LocalF1)],
    rows: &Dataset,
    train: &Neighbourhood,
    cancel: &Cancel,
) -> Result<VotesBySetting<{ DECAYS.len() }>> {
    let mut votes = VotesBySetting::new(chains.len(), rows.n_rows(), rows.n_labels());
    let needs = chains.iter().map(|(model, _)| model.needs()).max().unwrap_or_default();
    for start in (0..rows.n_rows()).step_by(train.rows_at_once(true)) {
        let mut block = RowBlock::new(rows, start, Some(train), Some(DECAYS[0]), needs)?;
        // By β, by chain, by row.
        let orders = DECAYS.map(|decay| {
            block.memberships.iter_mut().for_each(|memberships| memberships.set_decay(decay));
            let orders = chains.par_iter().map(|(_, policy)| policy.orders(&block.view()));
            orders.collect::<Vec<_>>()
        });
        let walk = |(at, (model, _)): (usize, &(Arc<dyn AnyOrderModel>, LocalF1))| {
            cancel.check()?;
            let mut decisions = DECAYS.map(|_| Decisions::new(block.n_rows(), rows.n_labels()));
            let mut walks: Vec<(Route, &mut dyn Collector)> = Vec::with_capacity(DECAYS.len());
            for (orders, decisions) in orders.iter().zip(&mut decisions) {
                walks.push((Route::PerRow(&orders[at]), decisions));
            }
            model.walk(&block.view(), &mut walks);
            Ok(decisions.map(|decisions| decisions.0))
        };
        let by_chain: Vec<[LabelMatrix; DECAYS.len()]> =
            chains.par_iter().enumerate().map(walk).collect::<Result<_>>()?;
        by_chain.iter().for_each(|by_decay| votes.count(by_decay, start));
    }
    Ok(votes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LabelId;

    #[test]
    fn a_setting_whose_votes_tie_is_best_only_where_ties_are_relevant() {
        let cells: Vec<f64> = (0..30).map(f64::from).collect();
        let odd: Vec<bool> = (0..30).map(|row| row % 2 == 1).collect();
        let data = Dataset::from_rows(1, &cells).unwrap();
        let data = data.with_label_indicators(&["odd"], &odd).unwrap();
        let train = Prepared::as_is(&data);
        // Of two members, under the first setting one votes for every relevant row and none for the
        // others; under the second setting both vote for every row.
        let votes = |_: &Prepared, tested: &Dataset, _| {
            let mut votes = VotesBySetting::<2>::new(2, tested.n_rows(), 1);
            for row in 0..tested.n_rows() {
                votes.votes[0][row] = u32::from(tested.labels().get(row, LabelId(0)));
                votes.votes[1][row] = 2;
            }
            Ok(votes)
        };
        let best = |ties| cross_validated(&train, Seed::new(1), ties, votes).unwrap();
        assert_eq!(best(VoteTies::Relevant), 0);
        assert_eq!(best(VoteTies::Irrelevant), 1);
    }
}
