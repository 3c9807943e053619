//! From a training set to ensembles: what methods share is trained once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::cost::{Clock, Cost};
use super::method::{BaseName, Method, Settings, StrategyName};
use crate::base::{Grid, NaiveBayes, NearestNeighbours, Svm, TrainingRows};
use crate::chain::Order;
use crate::data::LabelId;
use crate::ensemble::{
    Base, BaseModel, Candidate, Ensemble, Strategy, tune_decay, tune_neighbours,
};
use crate::error::Result;
use crate::prepare::{LabelView, Preparation, Prepared};
use crate::seed::Seed;

/// A fitted ensemble, the β, R, C and γ it was given or found, and what it cost, members included.
pub(crate) struct Fitted {
    pub(crate) ensemble: Ensemble<BaseModel>,
    pub(crate) decay: Option<f64>,
    pub(crate) neighbours: Option<usize>,
    /// By label.
    pub(crate) machines: Option<Vec<Svm>>,
    pub(crate) cost: Cost,
}

/// What has been done of something long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Folds of a cross-validation.
    Folds {
        /// How many.
        done: usize,
    },
    /// Generations of one genetic search.
    Generations {
        /// How many.
        done: usize,
        /// Of how many.
        of: usize,
        /// The least macro-F1 loss on validation rows so far.
        least: f64,
    },
}

/// Fits several methods on one training set, one after the other: the members of a base are trained
/// once for all of its methods, when the first of them is asked for.
pub(crate) fn fit<'a>(
    methods: &'a [Method],
    settings: &'a Settings,
    train: &'a Prepared,
    seed: Seed,
    progress: &'a dyn Fn(Step),
) -> impl Iterator<Item = Result<Fitted>> + 'a {
    let fitting = Fitting { settings, train, seed, progress };
    let mut trained: HashMap<BaseName, TrainedBase> = HashMap::new();
    methods.iter().map(move |method| {
        let base = match trained.entry(method.base) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(fitting.base(method.base)?),
        };
        fitting.ensemble(method.strategy, base)
    })
}

/// What the methods of one training set share.
struct Fitting<'a> {
    settings: &'a Settings,
    train: &'a Prepared,
    seed: Seed,
    progress: &'a dyn Fn(Step),
}

/// A base, and the models that its methods share, trained when the first of them asks.
struct TrainedBase {
    name: BaseName,
    base: Base,
    cost: Cost,
    /// To be walked in orders, or in any way where the base is free of order.
    walked: Models,
    /// To decide labels independently, where that takes other models.
    alone: Models,
}

#[derive(Default)]
struct Models {
    /// Each with validation rows of its own.
    candidates: OnceCell<Shared>,
    /// All with the same validation rows, for a search to keep some.
    contenders: OnceCell<Shared>,
}

/// What several methods use, and what it cost to train.
struct Shared {
    candidates: Vec<Candidate<BaseModel>>,
    cost: Cost,
}

impl TrainedBase {
    fn models(&self, walked: bool) -> &Models {
        if walked || self.name.is_free_of_order() { &self.walked } else { &self.alone }
    }
}

impl Fitting<'_> {
    fn base(&self, name: BaseName) -> Result<TrainedBase> {
        let clock = Clock::start();
        let Settings { sampling, likelihood, .. } = *self.settings;
        let preparation = self.settings.preparation()?;
        let base = match name {
            BaseName::Nb => Base::NaiveBayes(NaiveBayes { preparation, likelihood }),
            BaseName::Knn => {
                let Settings { metric, ties, .. } = *self.settings;
                let default = NearestNeighbours::default();
                let knn = NearestNeighbours { metric, ties, preparation, ..default };
                let neighbours = match self.settings.neighbours {
                    Some(neighbours) => neighbours,
                    None => tune_neighbours(&sampling, &knn, self.train, self.seed)?,
                };
                Base::NearestNeighbours(NearestNeighbours { neighbours, ..knn })
            }
            BaseName::J48 => Base::J48 { tree: self.settings.tree, preparation },
            BaseName::Svm => {
                let memory = self.settings.machine.unwrap_or_default().memory;
                let space = TrainingRows::new(self.train.data(), memory)?;
                let by_label = self.machines(&space, &preparation)?;
                Base::Svm { space, by_label, preparation }
            }
        };
        let (walked, alone) = (Models::default(), Models::default());
        Ok(TrainedBase { name, base, cost: clock.cost(), walked, alone })
    }

    /// The machine of each label: as set, or of fewest errors on the training rows, in the inputs
    /// that the label looks at, for distances grow with their number.
    fn machines(&self, space: &TrainingRows, preparation: &Preparation) -> Result<Vec<Svm>> {
        if let Some(machine) = self.settings.machine {
            return Ok(vec![machine; space.labels().n_labels()]);
        }
        let rows: Vec<usize> = (0..space.n_rows()).collect();
        let tune =
            |space: &TrainingRows| Grid::default().tune(&Svm::default(), space, &rows, self.seed);
        let tuned = match preparation.selection.is_some() {
            false => tune(space)?,
            true => {
                let views = self.train.views(preparation, &rows, self.seed);
                let label = |(at, view): (usize, &LabelView)| {
                    tune(&space.of_label(LabelId(at), &view.features))
                };
                views.iter().enumerate().map(label).collect::<Result<Vec<_>>>()?.concat()
            }
        };
        Ok(tuned.into_iter().map(|tuned| tuned.svm).collect())
    }

    fn candidates<'t>(&self, of: &'t TrainedBase, walked: bool) -> Result<&'t Shared> {
        let Settings { sampling, order: given, .. } = self.settings;
        let (base, train) = (&of.base, self.train);
        let fit = |rows: &[usize], drawn: &Order, seed: Seed| {
            base.fit(train, rows, walked.then_some(given.as_ref().unwrap_or(drawn)), seed)
        };
        or_train(&of.models(walked).candidates, || sampling.candidates(train, self.seed, fit))
    }

    fn contenders<'t>(&self, of: &'t TrainedBase, walked: bool) -> Result<&'t Shared> {
        let Settings { sampling, genetic, .. } = self.settings;
        let (base, train) = (&of.base, self.train);
        let fit = |rows: &[usize], drawn: &Order, seed: Seed| {
            base.fit(train, rows, walked.then_some(drawn), seed)
        };
        or_train(&of.models(walked).contenders, || {
            let n = genetic.n_candidates(sampling.n_members)?;
            sampling.contenders(n, train, self.seed, fit)
        })
    }

    fn keep(&self, contenders: &Shared, walked: bool) -> Result<Vec<Candidate<BaseModel>>> {
        let Settings { sampling, genetic, .. } = self.settings;
        let progress = |done, least| {
            let of = genetic.search.generations;
            (self.progress)(Step::Generations { done, of, least });
        };
        let all = contenders.candidates.clone();
        genetic.keep(sampling.n_members, walked, all, self.train, self.seed, &progress)
    }

    fn ensemble(&self, name: StrategyName, trained: &TrainedBase) -> Result<Fitted> {
        let Settings { n_orders, n_lenders, .. } = *self.settings;
        let walked = !matches!(name, StrategyName::Br | StrategyName::GaBr);
        let searched = matches!(name, StrategyName::Ga | StrategyName::GaBr);
        let shared = match searched {
            true => self.contenders(trained, walked)?,
            false => self.candidates(trained, walked)?,
        };
        let clock = Clock::start();
        let candidates = match searched {
            true => Cow::Owned(self.keep(shared, walked)?),
            false => Cow::Borrowed(&shared.candidates),
        };
        let mut tuned = None;
        let strategy = match name {
            StrategyName::Br | StrategyName::GaBr => Strategy::BinaryRelevance,
            StrategyName::Ga => Strategy::RandomOrder,
            StrategyName::Ecc => match &self.settings.order {
                Some(order) => Strategy::GivenOrder(order.clone()),
                None => Strategy::RandomOrder,
            },
            StrategyName::Oocc => Strategy::Oocc { n_orders, n_neighbours: n_lenders },
            StrategyName::Dynamic => {
                let decay = self.decay(&trained.base)?;
                tuned = Some(decay);
                Strategy::LocalF1 { decay }
            }
        };
        let ensemble = Ensemble::plan(&strategy, &candidates, self.train, self.seed)?;
        let cost = trained.cost + shared.cost + clock.cost();
        let (neighbours, machines) = match &trained.base {
            Base::NearestNeighbours(knn) => (Some(knn.neighbours), None),
            Base::Svm { by_label, .. } => (None, Some(by_label.clone())),
            Base::NaiveBayes(_) | Base::J48 { .. } => (None, None),
        };
        Ok(Fitted { ensemble, decay: tuned, neighbours, machines, cost })
    }

    fn decay(&self, base: &Base) -> Result<f64> {
        let Settings { sampling, decay, .. } = self.settings;
        decay.map_or_else(|| tune_decay(sampling, base, self.train, self.seed), Ok)
    }
}

/// What the cell holds, trained if it holds nothing yet.
fn or_train(
    cell: &OnceCell<Shared>,
    train: impl FnOnce() -> Result<Vec<Candidate<BaseModel>>>,
) -> Result<&Shared> {
    if let Some(shared) = cell.get() {
        return Ok(shared);
    }
    let clock = Clock::start();
    let candidates = train()?;
    Ok(cell.get_or_init(|| Shared { candidates, cost: clock.cost() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dataset, Dense, LabelMatrix, Matrix};

    /// One label that the first input decides, but for every tenth row, and then noise.
    fn data(n_features: usize) -> Dataset {
        let mut cells = Dense::new(n_features);
        let mut labels = LabelMatrix::new(1);
        for row in 0..120 {
            let mut rng = Seed::new(1).child("row", row).rng();
            let noisy: Vec<f64> = (0..n_features).map(|_| rng.below(1000) as f64).collect();
            cells.push_row(&noisy);
            let row = labels.push_row();
            labels.set(row, LabelId(0), (noisy[0] > 500.0) != row.is_multiple_of(10));
        }
        let attributes = (0..n_features).map(|at| Attribute::numeric(at.to_string())).collect();
        Dataset::new("noisy", attributes, Matrix::Dense(cells), vec!["a".into()], labels).unwrap()
    }

    #[test]
    fn machines_are_searched_in_the_inputs_that_are_selected() {
        let found = |n_features, max_features| {
            let settings = Settings { max_features, ..Settings::default() };
            let train = Prepared::new(data(n_features)).unwrap();
            let methods = ["br-svm".parse().unwrap()];
            let fitted = fit(&methods, &settings, &train, Seed::new(1), &|_| ()).next();
            fitted.unwrap().unwrap().machines.unwrap()
        };
        let selected = found(40, Some(300));
        assert_eq!(selected, found(1, Some(300)));
        assert_ne!(selected, found(40, None));
    }
}
