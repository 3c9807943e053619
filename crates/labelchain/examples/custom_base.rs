//! A base learner of your own: nearest centroids, and every strategy has it.
//!
//! ```sh
//! cargo run --release -p labelchain --example custom_base
//! ```
//!
//! A label is relevant if the row is nearer to the mean of the rows that have it than to the mean of
//! those that do not: D₀ - D₁ > 0 for squared distances D. A squared distance is a sum over
//! attributes, and a decided label is one more attribute of 0 or 1; a label that is not decided yet
//! adds nothing. So a walk in any order equals a chain trained for that order, and that is what
//! `ChainModel` promises.
#![allow(clippy::print_stdout)]

use labelchain::base::{Base, BaseKind, Updating, decode_any_order};
use labelchain::chain::{
    BaseModel, Block, ChainLearner, ChainModel, Dimensions, Evidence, Score, Scoring,
};
use labelchain::data::split::folds;
use labelchain::data::{LabelId, LabelNetwork};
use labelchain::ensemble::{MemberRows, STRATEGIES};
use labelchain::experiment::CrossValidation;
use labelchain::loss::{Averaging, Criterion, Rate};
use labelchain::prepare::{LabelView, Preparation, Prepared, views};
use labelchain::settings::{Above, Setting};
use labelchain::{Method, Result, Seed, Settings};
use serde::{Deserialize, Serialize};

/// A setting is declared once. In the library it would now be an option of the program, a key of
/// protocols, and a line of the reference page.
static LABEL_WEIGHT: Setting<f64> = Setting {
    name: "label-weight",
    accepts: &Above(0.0),
    default: 1.0,
    help: "How much a decided label counts beside an input",
};

/// The row of the table. In the library it would stand in `base/mod.rs`, and no other file would
/// change.
static CENTROID: Base = Base {
    name: "centroid",
    about: "nearest centroids",
    kind: BaseKind::AnyOrder {
        learner: |task| {
            let preparation = Preparation::of(task.settings)?;
            let label_weight = task.settings.get(&LABEL_WEIGHT);
            Ok(Box::new(NearestCentroid { preparation, label_weight }))
        },
        decode: decode_any_order::<Centroids>,
    },
    member_rows: MemberRows::Drawn,
    learns_by_column: false,
    takes_unknown_labels: false,
    updating: Updating::Never,
    parts: None,
    // Two means of each input and a share of each other label, for each label of each member.
    training_bytes: |task| {
        let n_labels = task.train.data().n_labels() as u64;
        task.selection_bytes() + task.n_members() * n_labels * 16 * (task.n_inputs() + n_labels)
    },
    settings: &[&LABEL_WEIGHT],
    chain_settings: &[],
};

/// Settings that can be fitted.
struct NearestCentroid {
    preparation: Preparation,
    label_weight: f64,
}

/// The fitted model: means of the rows without and with each label.
#[derive(Clone, Serialize, Deserialize)]
struct Centroids {
    #[serde(with = "views")]
    views: Vec<LabelView>,
    /// What a cell means that a sparse row leaves out.
    zero: Vec<f64>,
    label_weight: f64,
    /// By label: means of the inputs of its view, in the rows without it and in those with it.
    inputs: Vec<[Vec<f64>; 2]>,
    /// By label: shares of every label in the same rows.
    labels: Vec<[Vec<f64>; 2]>,
}

impl ChainLearner for NearestCentroid {
    type Model = Centroids;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<Centroids> {
        let data = train.data();
        let views = train.views(&self.preparation, rows, seed)?;
        let (mut inputs, mut labels) = (Vec::new(), Vec::new());
        for (label, view) in views.iter().enumerate() {
            train.cancel().check()?;
            let relevant = |row: usize| data.labels().get(row, LabelId(label));
            let class = |wanted| -> Vec<usize> {
                view.rows.iter().copied().filter(|&row| relevant(row) == wanted).collect()
            };
            let classes = [class(false), class(true)];
            let mut cells = Vec::new();
            inputs.push(classes.each_ref().map(|rows| {
                let mut mean = |column: &usize| {
                    train.gather(*column, rows, &mut cells);
                    mean(cells.iter().copied().filter(|cell| !cell.is_nan()))
                };
                view.features.iter().map(&mut mean).collect()
            }));
            labels.push(classes.each_ref().map(|rows| {
                let truth =
                    |row: &usize, label| f64::from(u8::from(data.labels().get(*row, label)));
                data.labels().ids().map(|it| mean(rows.iter().map(|row| truth(row, it)))).collect()
            }));
        }
        let (zero, label_weight) = (train.zero().to_vec(), self.label_weight);
        Ok(Centroids { views, zero, label_weight, inputs, labels })
    }
}

/// 0 where there is nothing, which is the mean of a standardized input.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n.max(1))
}

impl BaseModel for Centroids {
    fn n_labels(&self) -> usize {
        self.views.len()
    }

    fn views(&self) -> &[LabelView] {
        &self.views
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let fits = |(view, means): (&LabelView, &[Vec<f64>; 2])| {
            means.iter().all(|means| means.len() == view.features.len())
        };
        self.zero.len() == dimensions.n_features
            && [self.views.len(), self.inputs.len(), self.labels.len()] == [dimensions.n_labels; 3]
            && self.views.iter().zip(&self.inputs).all(fits)
            && self.labels.iter().flatten().all(|shares| shares.len() == dimensions.n_labels)
    }
}

impl Scoring for Centroids {
    /// D₀ - D₁ in the inputs, row by row, by label.
    type Scores = Vec<Vec<f64>>;
    type Evidence<'m> = Margins<'m>;

    fn score(&self, block: &Block) -> Vec<Vec<f64>> {
        let margin = |row: usize, label: usize| {
            let [without, with] = &self.inputs[label];
            let columns = self.views[label].features.iter().enumerate();
            let terms = columns.map(|(at, &column)| {
                let cell = block.features.get(row, column) + self.zero[column];
                let term = (cell - without[at]).powi(2) - (cell - with[at]).powi(2);
                if cell.is_nan() { 0.0 } else { term }
            });
            terms.sum::<f64>()
        };
        let of_row = |&row: &usize| (0..self.views.len()).map(|label| margin(row, label)).collect();
        block.rows.iter().map(of_row).collect()
    }

    fn evidence<'m>(&'m self, scores: &'m Vec<Vec<f64>>, row: usize) -> Margins<'m> {
        Margins { model: self, margins: scores[row].clone() }
    }
}

impl ChainModel for Centroids {}

/// The margins of one row, moved by each decision.
#[derive(Clone)]
struct Margins<'m> {
    model: &'m Centroids,
    margins: Vec<f64>,
}

impl Evidence for Margins<'_> {
    fn support(&self, label: LabelId) -> Score {
        Score::Margin(self.margins[label.0])
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        let decided = f64::from(u8::from(relevant));
        for (margin, [without, with]) in self.margins.iter_mut().zip(&self.model.labels) {
            let term = (decided - without[label.0]).powi(2) - (decided - with[label.0]).powi(2);
            *margin += self.model.label_weight * term;
        }
    }
}

fn main() -> Result<()> {
    let seed = Seed::new(1);
    let data = LabelNetwork::default().generate("network", seed)?;
    let methods: Vec<Method> = STRATEGIES
        .iter()
        .map(|&strategy| Method::new(strategy, &CENTROID))
        .collect::<Result<_>>()?;
    let folds = folds(data.n_rows(), 5, seed)?;
    let settings = Settings::default().with(&LABEL_WEIGHT, 2.0)?;
    let validation = CrossValidation { settings, ..CrossValidation::new(&methods, &folds, seed) };
    println!("{:<18} zero-one loss  macro-F1 loss", "");
    for evaluation in validation.run(&data)? {
        let losses = evaluation.losses();
        let [zero_one, macro_f1] = [Criterion::ZeroOne, Criterion::Of(Averaging::Macro, Rate::F1)]
            .map(|criterion| losses.get(criterion).unwrap_or(f64::NAN));
        println!("{:<18} {zero_one:>13.3}  {macro_f1:>13.3}", evaluation.name);
    }
    Ok(())
}
