//! How many neighbours vote: R by cross-validation.

use rayon::prelude::*;

use super::{NearestNeighbours, NearestNeighboursModel};
use crate::base::BaseTask;
use crate::chain::{BaseModel as _, ChainLearner as _, Order, Scoring as _};
use crate::data::{Dataset, LabelMatrix};
use crate::distance::Neighbourhood;
use crate::ensemble::{Candidate, RowBlock, VotesBySetting, cross_validated};
use crate::error::Result;
use crate::prepare::Prepared;
use crate::progress::Cancel;

const NEIGHBOURS: [usize; 6] = [1, 3, 5, 7, 9, 11];

/// R of least macro-F1 loss of binary relevance, ties to the smaller one (docs/methods.md, 3.2). Each fold's
/// rows are ranked once; only the length of the neighbourhood changes.
pub(super) fn tune_neighbours(learner: &NearestNeighbours, task: &BaseTask) -> Result<usize> {
    let greatest = NEIGHBOURS[NEIGHBOURS.len() - 1];
    let greatest = NearestNeighbours { neighbours: greatest, ..learner.clone() };
    let votes = |fitted: &Prepared, tested: &Dataset, seed| {
        let fit = |rows: &[usize], _: &Order, seed| greatest.fit(fitted, rows, seed);
        let candidates = task.sampling.candidates(fitted, seed, fit)?;
        votes(&candidates, tested, &Neighbourhood::of_prepared(fitted)?, fitted.cancel())
    };
    Ok(NEIGHBOURS[cross_validated(task.train, task.seed, task.vote_ties, votes)?])
}

/// The votes of binary relevance under every R.
fn votes(
    candidates: &[Candidate<NearestNeighboursModel>],
    rows: &Dataset,
    train: &Neighbourhood,
    cancel: &Cancel,
) -> Result<VotesBySetting<{ NEIGHBOURS.len() }>> {
    let mut votes = VotesBySetting::new(candidates.len(), rows.n_rows(), rows.n_labels());
    let needs = candidates.iter().map(|candidate| candidate.model.needs());
    let needs = needs.max().unwrap_or_default();
    for start in (0..rows.n_rows()).step_by(train.rows_at_once(false)) {
        let block = RowBlock::new(rows, start, Some(train), None, needs)?;
        let ask = |candidate: &Candidate<NearestNeighboursModel>| {
            cancel.check()?;
            let scores = candidate.model.score(&block.view());
            let none = LabelMatrix::empty(block.n_rows(), rows.n_labels());
            let mut answers = vec![none; NEIGHBOURS.len()];
            for row in 0..block.n_rows() {
                let evidence = candidate.model.evidence(&scores, row);
                for label in rows.labels().ids() {
                    let supports = evidence.supports(label, NEIGHBOURS);
                    for (answers, support) in answers.iter_mut().zip(supports) {
                        answers.set(row, label, support.is_relevant());
                    }
                }
            }
            Ok(answers)
        };
        let by_candidate =
            candidates.par_iter().map(ask).collect::<Result<Vec<Vec<LabelMatrix>>>>()?;
        by_candidate.iter().for_each(|by_neighbours| votes.count(by_neighbours, start));
    }
    Ok(votes)
}
