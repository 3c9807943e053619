//! A forest that several processes grow, some of the trees each.
//!
//! Everything random about tree t is drawn by child t of the forest's seed, so it does not matter who grows
//! it. A part is a forest of some of the trees on all rows; the parts in order are the forest that one
//! process would have grown. What depends on all trees, which is how far decisions are trusted, is found
//! out when they are joined.

use rayon::prelude::*;

use super::grow::draws;
use super::labels::TrainingLabels;
use super::tree::Tree;
use super::{Forest, ForestModel};
use crate::base::{BaseParts, BaseTask};
use crate::chain::{BaseModel as _, ChainLearner, Dimensions};
use crate::data::Dataset;
use crate::decode::{DecodeBudget, decode};
use crate::ensemble::Sampling;
use crate::error::{Error, Result};
use crate::prepare::Prepared;
use crate::seed::Seed;

pub(super) static TREES_AS_PARTS: BaseParts = BaseParts {
    n_parts: |settings| Forest::of(settings).n_trees,
    train: |task, rows, trees, seed| {
        let grown = Forest::of(task.settings).grow(task.train, rows, trees, seed)?;
        postcard::to_stdvec(&(&grown, &grown.trees[..]))
            .map_err(|_| refused("too large to be written"))
    },
    learner: |task, parts| Ok(Box::new(GrownForest::join(task, parts)?)),
};

/// A forest whose trees were grown in parts.
struct GrownForest {
    forest: Forest,
    grown: ForestModel,
}

impl GrownForest {
    /// The trees of the parts, one after the other.
    fn join(task: &BaseTask, parts: &[Vec<u8>]) -> Result<GrownForest> {
        let forest = Forest::of(task.settings);
        let (mut whole, mut trees) = (None::<ForestModel>, Vec::new());
        for part in parts {
            // A tree in memory takes a few times what it takes as bytes; a made-up part may not take more.
            let budget = DecodeBudget::new(part.len() as u64 * 64 + 4096);
            let part: Option<(ForestModel, Vec<Tree>)> = decode(part, &budget);
            let (part, grown) = part.ok_or_else(|| refused("damaged"))?;
            trees.extend(grown);
            match &whole {
                None => whole = Some(part),
                Some(whole) if whole.is_alike(&part) => {}
                Some(_) => {
                    return Err(refused(
                        "grown on other rows than the first, or with other settings",
                    ));
                }
            }
        }
        let n_grown = trees.len();
        match whole.map(|whole| ForestModel { trees: trees.into(), ..whole }) {
            Some(grown) if n_grown == forest.n_trees => {
                if grown.split_features.is_some() != forest.split_features.is_none() {
                    Err(refused("grown with other settings"))
                } else if grown.is_of(task.train.data(), Sampling::seed_of(task.seed, 0)) {
                    Ok(GrownForest { forest, grown })
                } else {
                    Err(refused("grown on other rows, or in another order"))
                }
            }
            _ => Err(refused(&format!("{n_grown} trees of {}", forest.n_trees))),
        }
    }
}

impl ChainLearner for GrownForest {
    type Model = ForestModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<ForestModel> {
        self.forest.trusting(self.fit_independent(train, rows, seed)?, train, rows)
    }

    /// The trees that were grown; of other rows, such as those of a fold by which a setting is chosen, trees
    /// that are grown now.
    fn fit_independent(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<ForestModel> {
        if self.grown.seed == seed && self.grown.rows == rows {
            return self.forest.with_importance(self.grown.clone(), train);
        }
        self.forest.fit_independent(train, rows, seed)
    }
}

impl ForestModel {
    /// Whether another forest has the same rows, labels, seed and inputs a node, so that trees of it mean the same here.
    fn is_alike(&self, other: &ForestModel) -> bool {
        (self.n_inputs, self.split_features) == (other.n_inputs, other.split_features)
            && (self.seed, &self.rows) == (other.seed, &other.rows)
            && (&self.sets, &self.set_of_row) == (&other.sets, &other.set_of_row)
    }

    /// Whether its trees are those that a seed grows on all rows of a data set, as far as that can be told
    /// without the inputs.
    fn is_of(&self, data: &Dataset, seed: Seed) -> bool {
        let dimensions = Dimensions {
            n_labels: data.n_labels(),
            n_features: data.n_features(),
            n_numbers: data.n_features(),
            n_rows: data.n_rows(),
            n_train: None,
        };
        let has_the_labels = || {
            let labels = TrainingLabels::new(data.labels(), &self.rows);
            self.sets == labels.sets && self.set_of_row == labels.set_of_row
        };
        self.seed == seed
            && self.rows.iter().copied().eq(0..data.n_rows())
            && self.fits(&dimensions)
            && has_the_labels()
            && (0..self.trees.len()).into_par_iter().all(|tree| self.is_in_its_place(tree))
    }

    /// Whether a tree has the rows that the seed of its place draws: it has other rows in another place.
    fn is_in_its_place(&self, tree: usize) -> bool {
        let n_draws = draws(self.rows.len(), self.seed.child("tree", tree));
        let rows = self.trees[tree].rows();
        rows.len() == n_draws.iter().filter(|&&n| n > 0).count()
            && rows.iter().all(|&row| n_draws[row as usize] > 0)
    }
}

fn refused(found: &str) -> Error {
    Error::Value {
        name: "parts of the forest".into(),
        value: found.into(),
        accepted:
            "all of its trees in order, grown on the same rows with the same settings and seed"
                .into(),
    }
}
