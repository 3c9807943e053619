//! What candidates answer about their validation rows.

use rayon::prelude::*;

use super::Candidate;
use crate::chain::{BaseModel, Block};
use crate::distance::{Needs, Neighbourhood};
use crate::error::{Error, Result};
use crate::prepare::Prepared;

/// Asks every candidate about its validation rows, a block of them at a time, so that one ranking of
/// the training rows serves all candidates: what each answers, block after block. `base` shows a
/// candidate's model as what all models are.
pub(super) fn on_validation<M: Sync, A: Send>(
    candidates: &[Candidate<M>],
    train: &Prepared,
    base: impl Fn(&M) -> &dyn BaseModel,
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
    let needs = candidates.iter().map(|candidate| base(&candidate.model).needs());
    let needs = needs.max().unwrap_or_default();
    let distances = (needs > Needs::Nothing).then(|| Neighbourhood::of_prepared(train));
    let distances = distances.transpose()?;
    let step = match &distances {
        Some(distances) => distances.rows_at_once(false),
        None => data.n_rows().max(1),
    };
    let mut answers: Vec<Vec<A>> = candidates.iter().map(|_| Vec::new()).collect();
    for start in (0..data.n_rows()).step_by(step) {
        let here: Vec<usize> = (start..data.n_rows().min(start + step)).collect();
        let rankings = match &distances {
            Some(distances) => distances.rankings_of_rows(data, &here, needs)?,
            None => None,
        };
        candidates.par_iter().zip(&mut answers).try_for_each(|(candidate, answers)| {
            train.cancel().check()?;
            let from = candidate.validation.partition_point(|&row| row < start);
            let to = candidate.validation.partition_point(|&row| row < start + step);
            let rows = &candidate.validation[from..to];
            let places: Vec<usize> = rows.iter().map(|row| row - start).collect();
            let rankings = rankings.as_ref().map(|rankings| rankings.select(&places));
            let (features, rankings) = (data.features(), rankings.as_ref());
            let out_of_bag = candidate.out_of_bag;
            let block = Block { rankings, out_of_bag, ..Block::of(features, rows) };
            answers.push(ask(candidate, &block));
            Ok::<(), Error>(())
        })?;
    }
    Ok(answers)
}
