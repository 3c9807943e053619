//! Naive Bayes as a base learner: its settings and its row in the table.

use super::{Likelihood, NaiveBayes, NaiveBayesModel};
use crate::base::{Base, BaseKind, decode_any_order};
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
    settings: &[&LIKELIHOOD],
};
