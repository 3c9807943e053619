//! Nearest neighbours as a base learner: its settings and its row in the table.

use super::tuning::tune_neighbours;
use super::{NearestNeighbours, NearestNeighboursModel, Ties};
use crate::base::{Base, BaseKind, Updating, decode_any_order};
use crate::distance::Metric;
use crate::ensemble::MemberRows;
use crate::prepare::Preparation;
use crate::settings::{OneOf, Or, Setting, Whole};

/// R.
pub(super) static NEIGHBOURS: Setting<Option<usize>> = Setting {
    name: "neighbours",
    accepts: &Or("auto", Whole(1..=1_000_000)),
    default: None,
    help: "R: training rows that vote; auto tunes it over 1, 3, 5, 7, 9, 11",
};

static METRIC: Setting<Metric> = Setting {
    name: "metric",
    accepts: &OneOf(&[("euclidean", Metric::Euclidean), ("weka", Metric::Weka)]),
    default: Metric::Euclidean,
    help: "How far apart rows are: euclidean in standardized inputs, or as in WEKA's IBk",
};

static TIES: Setting<Ties> = Setting {
    name: "ties",
    accepts: &OneOf(&[("lower-row", Ties::LowerRow), ("weka", Ties::Weka)]),
    default: Ties::LowerRow,
    help: "Which of several equally far rows vote: exactly R, of equals the lower rows, or all of them as in WEKA's IBk",
};

pub(in crate::base) static BASE: Base = Base {
    name: "knn",
    about: "nearest neighbours",
    kind: BaseKind::AnyOrder {
        learner: |task| {
            let mut learner = NearestNeighbours {
                metric: task.settings.get(&METRIC),
                ties: task.settings.get(&TIES),
                preparation: Preparation::of(task.settings)?,
                ..NearestNeighbours::default()
            };
            learner.neighbours = match task.settings.get(&NEIGHBOURS) {
                Some(neighbours) => neighbours,
                None => tune_neighbours(&learner, task)?,
            };
            Ok(Box::new(learner))
        },
        decode: decode_any_order::<NearestNeighboursModel>,
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: false,
    takes_unknown_labels: true,
    updating: Updating::Never,
    parts: None,
    training_bytes: |task| {
        // The labels of all rows and who votes on them, and the rows laid out for distances.
        let data = task.train.data();
        let labels = 2 * task.n_members() * data.labels().n_bytes() as u64;
        task.selection_bytes() + labels + 5 * data.features().n_bytes() as u64 / 2
    },
    settings: &[&NEIGHBOURS, &METRIC, &TIES],
    chain_settings: &[],
};
