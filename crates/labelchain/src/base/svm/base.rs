//! Support vector machines as a base learner: their settings and their row in the table.

use std::sync::Arc;

use super::{Grid, GridCriterion, Kernel, Svm, SvmChain, TrainingRows};
use crate::base::{Base, BaseKind, BaseTask, Updating, decode_fixed_order};
use crate::chain::{FixedOrderLearner, FixedOrderModel, Order, TunedSetting};
use crate::data::LabelId;
use crate::ensemble::MemberRows;
use crate::error::Result;
use crate::prepare::{LabelView, Preparation, Prepared};
use crate::seed::Seed;
use crate::settings::{Above, OneOf, Or, Setting};

/// Whether the kernel is linear.
static KERNEL: Setting<bool> = Setting {
    name: "kernel",
    accepts: &OneOf(&[("rbf", false), ("linear", true)]),
    default: false,
    help: "What likeness of rows means: exp(-γ D) of the squared distance D, or the inner product",
};

static COST: Setting<Option<f64>> = Setting {
    name: "cost",
    accepts: &Or("auto", Above(0.0)),
    default: None,
    help: "C: what a row on the wrong side costs; auto searches a grid, or is 1 if gamma is set or the kernel linear",
};

static GAMMA: Setting<Option<f64>> = Setting {
    name: "gamma",
    accepts: &Or("auto", Above(0.0)),
    default: None,
    help: "γ of the RBF kernel; auto searches a grid, or is 1 / inputs if the cost is set",
};

static GRID_CRITERION: Setting<GridCriterion> = Setting {
    name: "grid-criterion",
    accepts: &OneOf(&[("accuracy", GridCriterion::Accuracy), ("macro-f1", GridCriterion::MacroF1)]),
    default: GridCriterion::Accuracy,
    help: "What the search for cost and gamma maximizes for each label, in three folds of the training rows",
};

pub(in crate::base) static BASE: Base = Base {
    name: "svm",
    about: "support vector machines as in LIBSVM",
    kind: BaseKind::FixedOrder {
        learner: |task| Ok(Box::new(SvmChains::of(task)?)),
        decode: decode_fixed_order::<SvmChain>,
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: false,
    takes_unknown_labels: false,
    updating: Updating::Never,
    parts: None,
    training_bytes: |task| {
        // The rows as numbers, of all and of each member; distances and kernels take what is left.
        let cells = task.train.data().features().n_bytes() as u64;
        let n_numbers = task.n_inputs() * task.n_fitted_rows();
        task.selection_bytes() + cells + 8 * task.n_members() * n_numbers
    },
    settings: &[&KERNEL, &COST, &GAMMA, &GRID_CRITERION],
    chain_settings: &[],
};

/// Support vector machines for every label.
struct SvmChains {
    /// The rows of the training set, once for all labels and members.
    rows: TrainingRows,
    /// How the machine of each label is fitted.
    by_label: Vec<Svm>,
    preparation: Preparation,
}

impl SvmChains {
    fn of(task: &BaseTask) -> Result<SvmChains> {
        let preparation = Preparation::of(task.settings)?;
        let given = given(task);
        let memory = given.unwrap_or_default().memory;
        // Half of it is for distances and kernels, of which no answer depends.
        let memory = memory.min((task.train.memory().limit() / 2) as usize);
        let rows = TrainingRows::new(task.train.data(), memory)?.cancelled_by(task.train.cancel());
        let by_label = match given {
            Some(svm) => vec![svm; rows.labels().n_labels()],
            None => searched(&rows, &preparation, task)?,
        };
        Ok(SvmChains { rows, by_label, preparation })
    }
}

/// The machine of every label, where it is not searched on a grid.
fn given(task: &BaseTask) -> Option<Svm> {
    let (cost, gamma) = (task.settings.get(&COST), task.settings.get(&GAMMA));
    let is_linear = task.settings.get(&KERNEL);
    if !is_linear && cost.is_none() && gamma.is_none() {
        return None;
    }
    let kernel = if is_linear { Kernel::Linear } else { Kernel::Rbf { gamma } };
    Some(Svm { kernel, cost: cost.unwrap_or(1.0), ..Svm::default() })
}

/// The machine of each label that is best in cross-validation on the training rows, in the inputs that
/// the label looks at, because distances grow with their number.
fn searched(rows: &TrainingRows, preparation: &Preparation, task: &BaseTask) -> Result<Vec<Svm>> {
    let all: Vec<usize> = (0..rows.n_rows()).collect();
    let grid = Grid { criterion: task.settings.get(&GRID_CRITERION), ..Grid::default() };
    let tune = |rows: &TrainingRows| grid.tune(&Svm::default(), rows, &all, task.seed);
    let tuned = if preparation.selection.is_some() {
        let views = task.train.views(preparation, &all, task.seed)?;
        let of_label =
            |(at, view): (usize, &LabelView)| tune(&rows.of_label(LabelId(at), &view.features));
        views.iter().enumerate().map(of_label).collect::<Result<Vec<_>>>()?.concat()
    } else {
        tune(rows)?
    };
    Ok(tuned.into_iter().map(|tuned| tuned.svm).collect())
}

impl FixedOrderLearner for SvmChains {
    fn train(
        &self,
        train: &Prepared,
        rows: &[usize],
        order: Option<&Order>,
        seed: Seed,
    ) -> Result<Arc<dyn FixedOrderModel>> {
        let views = train.views(&self.preparation, rows, seed)?;
        Ok(Arc::new(SvmChain::fit(&self.by_label, &self.rows, views, order)?))
    }

    fn tuned_settings(&self) -> Vec<TunedSetting> {
        let gamma = |svm: &Svm| match svm.kernel {
            Kernel::Linear => None,
            Kernel::Rbf { gamma } => gamma,
        };
        let costs = self.by_label.iter().map(|svm| Some(svm.cost)).collect();
        let gammas = self.by_label.iter().map(gamma).collect();
        vec![
            TunedSetting { setting: COST.name, values: costs },
            TunedSetting { setting: GAMMA.name, values: gammas },
        ]
    }
}
