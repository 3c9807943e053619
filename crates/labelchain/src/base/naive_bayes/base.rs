//! Naive Bayes as a base learner: its settings and its row in the table.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::density::Factor;
use super::{Likelihood, MixingHasher, NaiveBayes, NaiveBayesModel};
use crate::base::{Base, BaseKind, Updating};
use crate::data::{LabelId, Matrix};
use crate::ensemble::MemberRows;
use crate::prepare::{Preparation, Prepared, SELECT};
use crate::settings::{Flag, OneOf, Setting, Settings};

pub(super) static LIKELIHOOD: Setting<Likelihood> = Setting {
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
    help: "Keep the counts and sums that learning from further rows takes; the model is larger, one of words many times",
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
        decode: |bytes, budget, file| Some(Arc::new(NaiveBayesModel::stored(bytes, budget, file)?)),
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: true,
    takes_unknown_labels: true,
    updating: Updating::KnownLabels,
    parts: None,
    training_bytes: |task| {
        // What labels tell about each other is reserved when it is counted, and so are kernels where
        // features are selected, because nobody knows beforehand how few are left. Beside the sums of each
        // label, a model that can be updated has those of all rows.
        let of_rows = if task.settings.get(&UPDATABLE) { 96.0 } else { 0.0 };
        let n_labels = task.train.data().n_labels() as f64;
        let of_labels = bytes_a_label(task.train, task.settings, task.n_fitted_rows()) * n_labels;
        let factors = (of_labels + of_rows) * task.n_inputs() as f64;
        // Members that are fitted at the same time turn their sparse rows into columns at the same time.
        let data = task.train.data();
        let columns = match data.features() {
            Matrix::Dense(_) => 0,
            Matrix::Sparse(_) => rayon::current_num_threads() as u64 * data.n_bytes() as u64,
        };
        task.selection_bytes() + columns + task.n_members() * factors as u64
    },
    settings: &[&LIKELIHOOD, &UPDATABLE],
    chain_settings: &[],
};

/// The mean over inputs of the bytes that it takes for each label.
///
/// An input of two values takes two numbers, and three more where it occurs with the label. Any other has a
/// factor, and the factor a table of its own where it weighs by kernels, or by intervals or values of a coarse
/// column. The precision is the mean gap between the values of a column, so that a table is about as long as
/// there are values in the first thousand rows; there may be twice as many in all rows, and none has more than
/// 257 entries.
fn bytes_a_label(train: &Prepared, settings: &Settings, n_fitted_rows: u64) -> f64 {
    let (data, likelihood) = (train.data(), settings.get(&LIKELIHOOD));
    let learner =
        NaiveBayes { likelihood, updatable: settings.get(&UPDATABLE), ..NaiveBayes::default() };
    let is_counted: Vec<bool> =
        (0..data.n_features()).map(|column| learner.two_values(train, column).is_some()).collect();
    let n_values = values_of_first_rows(train, &is_counted);
    let table = |column: usize| match likelihood {
        Likelihood::Kernel if !settings.get(&SELECT) => 40 * n_fitted_rows as usize,
        Likelihood::Kernel | Likelihood::Gaussian => 0,
        _ => match n_values[column] {
            n_values if n_values > MOST_VALUES => 0,
            n_values => 8 * (2 * n_values + 2).min(MOST_VALUES + 1),
        },
    };
    let sums = if learner.updatable { 64 } else { 0 };
    let of_input = |(column, is_counted): (usize, &bool)| {
        if *is_counted { 36 } else { size_of::<(LabelId, Factor)>() + table(column) + sums }
    };
    let all: usize = is_counted.iter().enumerate().map(of_input).sum();
    all as f64 / data.n_features().max(1) as f64
}

/// A column of more different values than this has no table of them.
const MOST_VALUES: usize = 256;

/// How many different values the first thousand rows store in each column, or some number above
/// [`MOST_VALUES`]; of columns that are left out, any number.
fn values_of_first_rows(train: &Prepared, is_left_out: &[bool]) -> Vec<usize> {
    let features = train.data().features();
    let rows = 0..features.n_rows().min(1000);
    let columns = 0..features.n_columns();
    match features {
        Matrix::Dense(dense) => {
            // Most columns have so many values that few of their cells have to be looked at, or none.
            let mut values: HashSet<u64, BuildHasherDefault<MixingHasher>> = HashSet::default();
            let n_values = |column: usize| {
                values.clear();
                if rows.len().saturating_sub(train.repeats()[column]) > MOST_VALUES {
                    return rows.len();
                }
                for row in rows.clone().take_while(|_| !is_left_out[column]) {
                    values.insert(dense.row(row)[column].to_bits());
                    if values.len() > MOST_VALUES {
                        break;
                    }
                }
                values.len()
            };
            columns.map(n_values).collect()
        }
        Matrix::Sparse(_) => {
            let cells = rows.flat_map(|row| features.entries(row));
            let kept = cells.filter(|&(column, _)| !is_left_out[column]);
            // What was counted before does not take more memory than it has different values, or little more.
            let (mut values, mut n_different) = (Vec::<(usize, u64)>::new(), 0);
            for (column, cell) in kept {
                if values.len() >= (2 * n_different).max(1 << 16) {
                    values.sort_unstable();
                    values.dedup();
                    n_different = values.len();
                }
                values.push((column, cell.to_bits()));
            }
            values.sort_unstable();
            values.dedup();
            let mut n_values = vec![0; columns.len()];
            values.into_iter().for_each(|(column, _)| n_values[column] += 1);
            n_values
        }
    }
}
