//! Order policies that are learned from validation rows: local F1, and the orders of near rows.

use std::sync::Arc;

use rayon::prelude::*;

use super::tuning::tune_decay;
use super::validation::on_validation;
use super::{Candidate, Policies, PolicyTask};
use crate::chain::{AnyOrderModel, Block, Decisions, Order, OrderPolicy, Route, TunedSetting};
use crate::data::LabelMatrix;
use crate::error::Result;
use crate::loss::{Confusion, Rate, Undefined};
use crate::order::{LocalF1, Oocc};
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{Above, Or, Setting, Whole};

/// `decay`, β: how fast memberships fall with squared distance.
pub static DECAY: Setting<Option<f64>> = Setting {
    name: "decay",
    accepts: &Or("auto", Above(0.0)),
    default: None,
    help: "β: how fast memberships fall with squared distance; auto tunes it over 1 to 10",
};

/// `orders`, r: orders that each member of `oocc` draws and tries.
pub static ORDERS: Setting<usize> = Setting {
    name: "orders",
    accepts: &Whole(1..=100_000),
    default: 20,
    help: "r: orders that each member draws and tries",
};

/// `lenders`, k: nearest validation rows that vote for the order assigned to them.
pub static LENDERS: Setting<usize> = Setting {
    name: "lenders",
    accepts: &Whole(1..=1_000_000),
    default: 1,
    help: "k: nearest validation rows that vote for the order assigned to them",
};

type AnyOrderCandidate = Candidate<Arc<dyn AnyOrderModel>>;

/// Labels that binary relevance predicts well near the row come first.
pub(super) fn dynamic(task: &PolicyTask) -> Result<Policies> {
    let decay = match task.settings.get(&DECAY) {
        Some(decay) => decay,
        None => tune_decay(task)?,
    };
    let policies = local_f1(task.candidates, task.train, decay)?;
    let tuned = vec![TunedSetting { setting: DECAY.name, values: vec![Some(decay)] }];
    let policies = policies.into_iter().map(|policy| Arc::new(policy) as Arc<dyn OrderPolicy>);
    Ok(Policies { by_candidate: policies.collect(), tuned })
}

/// For every candidate, where binary relevance is right and wrong about its validation rows.
pub(super) fn local_f1(
    candidates: &[AnyOrderCandidate],
    train: &Prepared,
    decay: f64,
) -> Result<Vec<LocalF1>> {
    let answers = on_validation(
        candidates,
        train,
        |model| &**model,
        |candidate, block| candidate.model.decisions(block, Route::Independent),
    )?;
    let policy = |(candidate, predicted): (&AnyOrderCandidate, Vec<LabelMatrix>)| {
        let predicted = LabelMatrix::concat(train.data().n_labels(), &predicted);
        LocalF1::new(&candidate.validation, &predicted, train.data().labels(), decay)
    };
    Ok(candidates.par_iter().zip(answers).map(policy).collect())
}

/// The nearest validation rows vote for the orders that predict their own labels best.
pub(super) fn oocc(task: &PolicyTask) -> Result<Policies> {
    let (n_orders, n_neighbours) = (task.settings.get(&ORDERS), task.settings.get(&LENDERS));
    let data = task.train.data();
    let orders = |candidate: &AnyOrderCandidate| {
        let seed: Seed = task.seed.child("member", candidate.at);
        Order::distinct(data.n_labels(), n_orders, seed.child("orders", 0))
    };
    let scores = on_validation(
        task.candidates,
        task.train,
        |model| &**model,
        |candidate, block| {
            // Over the labels that are known.
            let truth = data.labels().select(block.rows);
            let by_order = walk_all(&*candidate.model, &orders(candidate), block);
            let by_order: Vec<LabelMatrix> =
                by_order.into_iter().map(|answers| answers.known_where(&truth)).collect();
            let f1 = |at: usize, answers: &LabelMatrix| {
                let counts = Confusion::between(truth.row(at), answers.row(at));
                1.0 - Rate::F1.loss(&counts, Undefined::Paper).unwrap_or(0.0)
            };
            let of_row = |at: usize| by_order.iter().map(move |answers| f1(at, answers));
            (0..block.n_rows()).flat_map(of_row).collect::<Vec<f64>>()
        },
    )?;
    let policy = |(candidate, scores): (&AnyOrderCandidate, Vec<Vec<f64>>)| {
        let (orders, rows) = (orders(candidate), &candidate.validation);
        Arc::new(Oocc::new(orders, rows, scores.concat(), n_neighbours)) as Arc<dyn OrderPolicy>
    };
    let by_candidate = task.candidates.iter().zip(scores).map(policy).collect();
    Ok(Policies { by_candidate, tuned: Vec::new() })
}

/// What a model decides about a block in each of several orders.
fn walk_all(model: &dyn AnyOrderModel, orders: &[Order], block: &Block) -> Vec<LabelMatrix> {
    let of_order = |_| Decisions::new(block.n_rows(), model.n_labels());
    let mut decisions: Vec<Decisions> = orders.iter().map(of_order).collect();
    let mut walks: Vec<(Route, &mut dyn crate::chain::Collector)> = Vec::new();
    for (order, decisions) in orders.iter().zip(&mut decisions) {
        walks.push((Route::Fixed(order), decisions));
    }
    model.walk(block, &mut walks);
    decisions.into_iter().map(|decisions| decisions.0).collect()
}
