//! Naive Bayes as a base learner: its settings and its row in the table.

use super::density::Factor;
use super::{Likelihood, NaiveBayes, NaiveBayesModel};
use crate::base::{Base, BaseKind, decode_any_order};
use crate::data::LabelId;
use crate::prepare::Preparation;
use crate::settings::{OneOf, Setting};

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

pub(in crate::base) static BASE: Base = Base {
    name: "nb",
    about: "naive Bayes",
    kind: BaseKind::AnyOrder {
        learner: |task| {
            Ok(Box::new(NaiveBayes {
                preparation: Preparation::of(task.settings)?,
                likelihood: task.settings.get(&LIKELIHOOD),
            }))
        },
        decode: decode_any_order::<NaiveBayesModel>,
    },
    learns_by_column: true,
    training_bytes: |task| {
        // What labels tell about each other is reserved when it is counted.
        let of_input = size_of::<(LabelId, Factor)>() as u64;
        let factors = of_input * task.n_inputs() * task.train.data().n_labels() as u64;
        task.selection_bytes() + task.n_members() * factors
    },
    settings: &[&LIKELIHOOD],
};
