//! One forest for all labels: each tree estimates which label sets a row may have, and a chain walks
//! what all trees say together.
//!
//! A tree knows no order of the labels: a split makes the labels of the rows on either side as alike as
//! it can, all labels at once, and a leaf keeps the label sets of its rows. The leaves that a row falls
//! into are an estimate of the joint law of its labels ([`joint`]). A chain conditions it: whoever
//! disagrees with a decision loses weight ([`evidence`]). So reordering equals retraining, because training
//! is the same for every order.
//!
//! Each tree draws its own rows, so that about a third of the trees did not see a given training row. These
//! answer about it out of bag, as they would about a new row.

mod attribution;
mod base;
mod bins;
mod blocks;
mod evidence;
mod grow;
mod joint;
mod labels;
mod parts;
mod permutation;
mod split;
#[cfg(test)]
mod tests;
mod tree;
mod trees;
mod trust;
mod update;
mod varying;

pub(super) use base::BASE;
pub use base::SplitFeatures;
pub(crate) use base::TREES;
pub use blocks::TreeRows;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::chain::{
    Attribution, BaseModel, Block, ChainLearner, ChainModel, Dimensions, FurtherRows, Scoring,
    TunedSetting, Wanted,
};
use crate::data::LabelMatrix;
use crate::decode::{DecodeBudget, decode};
use crate::error::{Error, Result};
use crate::pieces::{PieceFile, PieceWriter, ReadBlocks};
use crate::prepare::Prepared;
use crate::seed::Seed;
use bins::Column;
use evidence::ForestEvidence;
use grow::Soil;
use joint::JointLaws;
use labels::TrainingLabels;
use tree::{MAX_INPUTS, Tree};
use trees::{StoredTrees, Trees};
use varying::UncommonInputs;

/// A forest for all labels (docs/methods.md, 8.5).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `n_trees` | 100 | at least 1 | T: trees |
/// | `split_features` | √ of all | | inputs that are looked at in each node; chosen out of bag if none |
/// | `min_leaf` | 1 | at least 1 | different rows in a leaf |
/// | `trust` | out of bag | 0 to 1 | 1 - λ: what a label set loses of its weight when it disagrees with a decision |
/// | `extra_trees` | no | | cuts are drawn at random |
/// | `importance` | gain | | how it is measured how much each input matters |
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// T: trees.
    pub n_trees: usize,
    /// Inputs that are looked at in each node: √ of all or a third, chosen out of bag, if none.
    pub split_features: Option<SplitFeatures>,
    /// Different rows that a leaf has at least.
    pub min_leaf: usize,
    /// 1 - λ, where λ is what a label set keeps of its weight when it disagrees with a decision; chosen
    /// out of bag if none.
    pub trust: Option<f64>,
    /// Whether one cut of each input is drawn at random instead of the best one looked for: extremely
    /// random trees. Rows are drawn as for any forest.
    pub extra_trees: bool,
    /// How it is measured how much each input matters.
    pub importance: Importance,
}

/// How it is measured how much an input matters to a forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// The variance of the labels that its splits take away.
    Gain,
    /// What the loss of rows that trees had not seen rises by when its cells are shuffled.
    Permutation,
}

impl Default for Forest {
    fn default() -> Forest {
        Forest {
            n_trees: 100,
            split_features: Some(SplitFeatures::Sqrt),
            min_leaf: 1,
            trust: None,
            extra_trees: false,
            importance: Importance::Gain,
        }
    }
}

/// Trees, and the label sets that their leaves name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ForestModel {
    n_inputs: usize,
    trust: f64,
    /// The different label sets of the rows fitted on.
    sets: LabelMatrix,
    /// Which of them each of the rows fitted on has.
    set_of_row: Vec<u32>,
    /// A file has them in pieces.
    #[serde(skip)]
    trees: Trees,
    /// How much each input matters by permutation, where that was asked for; empty after an update, because the
    /// rows that older trees had not seen are gone.
    permutation: Option<Vec<f64>>,
    /// The training rows fitted on, ascending. After an update, those that trees have drawn.
    rows: Vec<usize>,
    /// What the rows of each tree were drawn by, unless its leaves list a row as often as it was drawn.
    seed: Seed,
    /// How many inputs each node looked at, where that was chosen out of bag.
    split_features: Option<usize>,
    /// For each tree, a bit for each of the rows that it drew; found out when someone asks.
    #[serde(skip)]
    drawn: OnceLock<Vec<Vec<u64>>>,
    /// How much each input matters by the gain of splits; found out when someone asks, and kept in a file, so that
    /// it need not be read for it.
    #[serde(skip)]
    gains: OnceLock<Vec<f64>>,
}

impl ChainLearner for Forest {
    type Model = ForestModel;

    fn fit(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<ForestModel> {
        self.trusting(self.fit_independent(train, rows, seed)?, train, rows)
    }

    /// Labels that are decided independently condition nothing: no trust has to be chosen.
    fn fit_independent(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<ForestModel> {
        self.with_importance(self.grow(train, rows, 0..self.n_trees, seed)?, train)
    }
}

impl Forest {
    /// A forest of all trees with its trust: as it is set, or chosen out of bag.
    fn trusting(
        &self,
        mut model: ForestModel,
        train: &Prepared,
        rows: &[usize],
    ) -> Result<ForestModel> {
        model.trust = match self.trust {
            Some(trust) => trust,
            None => trust::choose(&model, train, rows, None)?.trust,
        };
        Ok(model)
    }

    /// A forest of all trees that knows how much each input matters, where that is measured beforehand.
    fn with_importance(&self, mut model: ForestModel, train: &Prepared) -> Result<ForestModel> {
        if self.importance == Importance::Permutation {
            model.permutation = Some(model.mean_rises(train.data(), train.cancel())?);
        }
        Ok(model)
    }

    /// How many inputs a node looks at, chosen out of bag: the square root of all or a third of them,
    /// whichever makes fewer errors in a forest of few trees, with the trust that is set or suits it best; of
    /// equals the square root, which is cheaper. Where most inputs say nothing, as most words do, the square
    /// root of them often has none that tells rows apart. Who grows a part of the trees chooses again, and
    /// finds the same.
    fn choose_split_features(&self, train: &Prepared, rows: &[usize], seed: Seed) -> Result<usize> {
        /// About eleven of them have not drawn a given row.
        const FEW_TREES: usize = 30;
        let n_inputs = train.data().n_features();
        let n_trees = self.n_trees.min(FEW_TREES);
        let candidates = [SplitFeatures::Sqrt, SplitFeatures::Share(1.0 / 3.0)];
        let [few, more] = candidates.map(|candidate| candidate.of(n_inputs));
        let (few, more) = (few?, more?);
        if few >= more {
            return Ok(few);
        }
        let errors = |n_tried: usize| -> Result<trust::Errors> {
            let split_features = Some(SplitFeatures::Number(n_tried));
            let forest = Forest { n_trees, split_features, ..self.clone() };
            let model = forest.grow(train, rows, 0..n_trees, seed)?;
            Ok(trust::choose(&model, train, rows, self.trust)?.errors)
        };
        Ok(if errors(more)? < errors(few)? { more } else { few })
    }

    /// Grows some of the trees. Each is drawn by a seed of its own, whoever grows it.
    fn grow(
        &self,
        train: &Prepared,
        rows: &[usize],
        trees: Range<usize>,
        seed: Seed,
    ) -> Result<ForestModel> {
        let refuse = |name, value: String, accepted| Err(Error::Setting { name, value, accepted });
        let &Forest { n_trees, split_features, min_leaf, trust, extra_trees, .. } = self;
        if n_trees == 0 {
            return refuse("trees", "0".into(), "at least 1");
        }
        if min_leaf == 0 {
            return refuse("forest-leaf", "0".into(), "at least 1");
        }
        if let Some(trust) = trust
            && !(0.0..=1.0).contains(&trust)
        {
            return refuse("trust", trust.to_string(), "a number from 0 to 1");
        }
        if rows.is_empty() {
            let purpose = "growing a forest".into();
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        let data = train.data();
        let n_inputs = data.n_features();
        if n_inputs > MAX_INPUTS || u32::try_from(rows.len()).is_err() {
            let name = "inputs or rows of a forest";
            return refuse(name, n_inputs.max(rows.len()).to_string(), "below a billion");
        }
        let n_tried = match split_features {
            Some(split_features) => split_features.of(n_inputs)?,
            None => self.choose_split_features(train, rows, seed)?,
        };
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let labels = TrainingLabels::new(data.labels(), &rows);
        let columns = Column::all(data, &rows, train.cancel())?;
        let soil = Soil {
            columns: &columns,
            uncommon: &UncommonInputs::of(&columns, rows.len()),
            labels: &labels,
            n_tried,
            min_leaf,
            is_extremely_random: extra_trees,
            cancel: train.cancel(),
        };
        let grow = |tree: usize| soil.grow(seed.child("tree", tree));
        let trees = trees.into_par_iter().map(grow).collect::<Result<Vec<Tree>>>()?;
        let TrainingLabels { sets, set_of_row, .. } = labels;
        let (trust, drawn) = (trust.unwrap_or(0.0), OnceLock::new());
        Ok(ForestModel {
            n_inputs,
            trust,
            sets,
            set_of_row,
            trees: trees.into(),
            permutation: None,
            rows,
            seed,
            split_features: split_features.is_none().then_some(n_tried),
            drawn,
            gains: OnceLock::new(),
        })
    }
}

impl ForestModel {
    /// The model as [`ChainModel::to_stored`] wrote it; none if it is damaged or becomes too much.
    fn stored(bytes: &[u8], budget: &DecodeBudget, file: &Arc<PieceFile>) -> Option<ForestModel> {
        let (trees, gains, model): (StoredTrees, Vec<f64>, ForestModel) = decode(bytes, budget)?;
        let trees = Trees::in_file(trees, file, budget)?;
        Some(ForestModel { trees, gains: gains.into(), ..model })
    }

    /// How much each input matters by the gain of splits.
    fn gains(&self) -> &[f64] {
        self.gains.get_or_init(|| self.mean_gains())
    }

    /// Whether a tree is over its inputs, and has rows and label sets that there are.
    fn tree_fits(&self, tree: &Tree) -> bool {
        tree.fits(self.n_inputs, self.sets.n_rows(), self.rows.len())
    }

    /// For each tree, a bit for each of the rows that it drew.
    fn drawn(&self) -> &[Vec<u64>] {
        let of_tree = |tree: &Tree| {
            let mut bits = vec![0u64; self.rows.len().div_ceil(64)];
            for place in tree.rows().iter().map(|&place| place as usize) {
                bits[place / 64] |= 1 << (place % 64);
            }
            bits
        };
        // One tree after the other: a thread that waited for others here might be given work that waits for
        // this.
        self.drawn.get_or_init(|| self.trees.iter().map(of_tree).collect())
    }
}

impl BaseModel for ForestModel {
    fn n_labels(&self) -> usize {
        self.sets.n_labels()
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let n_sets = self.sets.n_rows();
        let are_shares = |shares: &[f64]| {
            shares.len() == self.n_inputs && shares.iter().all(|of| (0.0..=1.0).contains(of))
        };
        self.n_inputs == dimensions.n_features
            && (0.0..=1.0).contains(&self.trust)
            && self.split_features.is_none_or(|n| (1..=self.n_inputs.max(1)).contains(&n))
            && self.sets.is_sound(n_sets, dimensions.n_labels)
            && self.set_of_row.len() == self.rows.len()
            && self.set_of_row.iter().all(|&set| (set as usize) < n_sets)
            && self.trees.fit(self.n_inputs, |tree| self.tree_fits(tree))
            && self.permutation.as_ref().is_none_or(|of| of.is_empty() || are_shares(of))
            && self.gains.get().is_none_or(|gains| are_shares(gains))
            && self.rows.is_sorted_by(|a, b| a < b)
            && self.rows.last().is_none_or(|&last| last < dimensions.n_rows)
    }

    fn load(&self, wanted: Wanted, blocks: &ReadBlocks) -> Result<()> {
        /// So many rows come to few of the branches.
        const FEW_ROWS: usize = 16;
        let fits = |tree: &Tree| self.tree_fits(tree);
        match wanted {
            Wanted::Scores(Block { features, rows, out_of_bag: false, .. })
                if rows.len() <= FEW_ROWS =>
            {
                let load = |&row: &usize| {
                    self.trees.load_branches(|input| features.get(row, input), blocks, fits)
                };
                rows.iter().try_for_each(load)
            }
            _ => self.trees.load_all(fits),
        }
    }

    fn attributions(&self, block: &Block) -> Vec<Attribution> {
        (0..block.n_rows()).map(|row| self.attribution(block, row)).collect()
    }

    fn importance(&self) -> Option<Vec<f64>> {
        match &self.permutation {
            None => Some(self.gains().to_vec()),
            Some(shares) => (!shares.is_empty()).then(|| shares.clone()),
        }
    }

    fn importance_measure(&self) -> &'static str {
        match self.permutation {
            None => "what their splits take away of the variance of the labels",
            Some(_) => {
                "what the loss of rows that trees had not seen rises by when they are shuffled"
            }
        }
    }

    fn tuned(&self) -> Vec<TunedSetting> {
        let tuned = |setting, value| TunedSetting { setting, values: vec![Some(value)] };
        let chosen = self.split_features.map(|n| tuned(base::SPLIT_FEATURES.name, n as f64));
        chosen.into_iter().chain([tuned(base::TRUST.name, self.trust)]).collect()
    }
}

impl Scoring for ForestModel {
    type Scores = JointLaws;
    type Evidence<'m> = ForestEvidence<'m>;

    fn score(&self, block: &Block) -> JointLaws {
        JointLaws::new(self, block)
    }

    fn evidence<'m>(&'m self, laws: &'m JointLaws, row: usize) -> ForestEvidence<'m> {
        ForestEvidence::new(&self.sets, &laws.0[row], 1.0 - self.trust)
    }
}

impl ChainModel for ForestModel {
    fn to_stored(&self, pieces: &mut PieceWriter) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(&(self.trees.write(pieces)?, self.gains(), self))
    }

    fn updated(&self, further: &FurtherRows) -> Result<ForestModel> {
        self.with_rows(&Forest::of(further.settings), further)
    }
}
