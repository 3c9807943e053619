//! Naive Bayes as a base learner: its settings and its row in the table.

use std::collections::HashSet;
use std::sync::Arc;

use super::density::Factor;
use super::{Likelihood, NaiveBayes, NaiveBayesModel};
use crate::base::{Base, BaseKind, Updating};
use crate::data::{Dataset, LabelId, Matrix};
use crate::decode::decode;
use crate::ensemble::MemberRows;
use crate::prepare::{Preparation, SELECT};
use crate::settings::{Flag, OneOf, Setting};

static LIKELIHOOD: Setting<Likelihood> = Setting {
    name: "likelihood",
    accepts: &OneOf(&[
        ("auto", Likelihood::Auto),
        ("gaussian", Likelihood::Gaussian),
        ("weka", Likelihood::Weka),
        ("discretized", Likelihood::Discretized),
        ("kernel", Likelihood::Kernel),
    ]),
    default: Likelihood::Auto,
    help: "How numeric cells are weighed: by normal densities, by WEKA's rounding intervals, by bins, by kernels, or by intervals only where columns are coarse (auto)",
};

pub(super) static UPDATABLE: Setting<bool> = Setting {
    name: "updatable",
    accepts: &Flag,
    default: false,
    help: "Keep the counts and sums that learning from further rows takes; the model is larger by a quarter or more",
};

pub(in crate::base) static BASE: Base = Base {
    name: "nb",
    about: "naive Bayes",
    kind: BaseKind::AnyOrder {
        learner: |task| {
            Ok(Box::new(NaiveBayes {
                preparation: Preparation::of(task.settings)?,
                likelihood: task.settings.get(&LIKELIHOOD),
                updatable: task.settings.get(&UPDATABLE),
            }))
        },
        decode: |bytes, budget| {
            let model: NaiveBayesModel = decode(bytes, budget)?;
            budget.take(model.factors.log_odds_bytes())?;
            Some(Arc::new(model))
        },
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: true,
    takes_unknown_labels: true,
    updating: Updating::KnownLabels,
    parts: None,
    training_bytes: |task| {
        // What labels tell about each other is reserved when it is counted, and so are kernels where
        // features are selected, because nobody knows beforehand how few are left. A factor has a table
        // of its own where it weighs by kernels, or by intervals or values of a coarse column.
        let table = match task.settings.get(&LIKELIHOOD) {
            Likelihood::Kernel if !task.settings.get(&SELECT) => 40 * task.n_fitted_rows(),
            Likelihood::Kernel | Likelihood::Gaussian => 0,
            _ => mean_table_bytes(task.train.data()),
        };
        let sums = if task.settings.get(&UPDATABLE) { 64 } else { 0 };
        let of_input = size_of::<(LabelId, Factor)>() as u64 + table + sums;
        let factors = of_input * task.n_inputs() * task.train.data().n_labels() as u64;
        // Members that are fitted at the same time turn their sparse rows into columns at the same time.
        let data = task.train.data();
        let columns = match data.features() {
            Matrix::Dense(_) => 0,
            Matrix::Sparse(_) => rayon::current_num_threads() as u64 * data.n_bytes() as u64,
        };
        task.selection_bytes() + columns + task.n_members() * factors
    },
    settings: &[&LIKELIHOOD, &UPDATABLE],
    chain_settings: &[],
};

/// The mean over columns of the bytes of a table of log-odds, by the first thousand rows. The precision is the
/// mean gap between the values of a column, so that a table is about as long as there are values; there may be
/// twice as many in all rows, and none has more than 257 entries.
fn mean_table_bytes(data: &Dataset) -> u64 {
    let n_rows = data.n_rows().min(1000);
    let mut values = vec![HashSet::new(); data.n_features()];
    for (column, cell) in (0..n_rows).flat_map(|row| data.features().entries(row)) {
        if values[column].len() <= 256 {
            values[column].insert(cell.to_bits());
        }
    }
    let coarse = values.iter().map(HashSet::len).filter(|&n_values| n_values <= 256);
    let n_entries: usize = coarse.map(|n_values| (2 * n_values + 2).min(257)).sum();
    (8 * n_entries / data.n_features().max(1)) as u64
}
