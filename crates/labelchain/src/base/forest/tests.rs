//! The forest against plain restatements of what it computes, and against scikit-learn.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::bins::{Column, MISSING};
use super::grow::draws;
use super::labels::TrainingLabels;
use super::split::{Allowed, Cut, Splitter};
use super::*;
use crate::chain::{
    AnyOrderModel as _, Evidence, Order, Route, Score, decide, decide_by_certainty,
};
use crate::data::{Attribute, Dataset, Dense, LabelId, LabelNetwork, Matrix, Sparse};
use crate::pieces::PieceWriter;
use crate::progress::Cancel;
use crate::settings::AnySetting;

const BEST: Allowed = Allowed { min_rows: 1, at_share: None };

/// A data set of these cells and labels; every third column is nominal, with values 0 to 4, if asked.
fn data(cells: &[Vec<f64>], labels: &LabelMatrix, is_sparse: bool, has_names: bool) -> Dataset {
    let n_columns = cells.first().map_or(0, Vec::len);
    let (mut dense, mut sparse) = (Dense::new(n_columns), Sparse::new(n_columns));
    for row in cells {
        dense.push_row(row);
        sparse.push_row(row.iter().enumerate().map(|(at, &cell)| (at as u32, cell)));
    }
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    let attribute = |at: usize| {
        if has_names && at % 3 == 2 {
            Attribute::nominal(
                format!("x{at}"),
                ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
            )
        } else {
            Attribute::numeric(format!("x{at}"))
        }
    };
    let attributes = (0..n_columns).map(attribute).collect();
    let names = labels.ids().map(|label| label.0.to_string()).collect();
    Dataset::new("t", attributes, features, names, labels.clone()).unwrap()
}

/// Cells of few values, mostly zeros, some missing; labels that depend on them in part.
fn coarse(
    n_rows: usize,
    n_columns: usize,
    n_labels: usize,
    seed: u64,
) -> (Vec<Vec<f64>>, LabelMatrix) {
    let mut rng = Seed::new(seed).rng();
    let mut cell = || match rng.below(10) {
        0 => f64::NAN,
        at if at < 6 => 0.0,
        _ => rng.below(5) as f64,
    };
    let cells: Vec<Vec<f64>> =
        (0..n_rows).map(|_| (0..n_columns).map(|_| cell()).collect()).collect();
    let mut labels = LabelMatrix::empty(n_rows, n_labels);
    let mut rng = Seed::new(seed).child("labels", 0).rng();
    for (row, cells) in cells.iter().enumerate() {
        for label in labels.ids() {
            let relevant = cells[label.0 % n_columns] > 1.0;
            labels.set(row, label, relevant != rng.chance(0.2));
        }
    }
    (cells, labels)
}

fn fitted(data: &Dataset, forest: &Forest) -> ForestModel {
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    forest.fit(&Prepared::as_is(data), &rows, Seed::new(1)).unwrap()
}

fn small() -> Forest {
    Forest { n_trees: 15, trust: Some(0.7), ..Forest::default() }
}

/// What a partition of drawn rows is worth, by the definition.
fn worth(labels: &LabelMatrix, n_draws: &[u32], sides: &[&[u32]]) -> f64 {
    let mut worth = 0.0;
    for side in sides {
        let n: u32 = side.iter().map(|&row| n_draws[row as usize]).sum();
        let squares = labels.ids().map(|label| {
            let with = side.iter().filter(|&&row| labels.get(row as usize, label));
            let sum: u32 = with.map(|&row| n_draws[row as usize]).sum();
            f64::from(sum).powi(2)
        });
        worth += squares.sum::<f64>() / f64::from(n);
    }
    worth
}

proptest! {
    /// Sparse columns and dense ones, numbers and names, with missing cells, at every possible cut.
    #[test]
    fn the_best_split_is_the_best_of_all(
        n_rows in 2usize..200, n_labels in 1usize..70, seed: u64, is_sparse: bool, min_rows in 1usize..4,
    ) {
        let (mut cells, labels) = coarse(n_rows, 3, n_labels, seed);
        // One column so empty that it is kept by its stored cells.
        cells.iter_mut().enumerate().for_each(|(row, cells)| {
            if row % 40 != 7 {
                cells[0] = 0.0;
            }
        });
        let data = data(&cells, &labels, is_sparse, true);
        let all: Vec<usize> = (0..n_rows).collect();
        let columns = Column::all(&data, &all, &Cancel::default()).unwrap();
        let training = TrainingLabels::new(&labels, &all);
        let n_draws = draws(n_rows, Seed::new(seed));
        let rows: Vec<u32> = (0..n_rows as u32).filter(|&row| n_draws[row as usize] > 0).collect();
        let mut splitter = Splitter::new(&training, &n_draws);
        for (at, column) in columns.iter().enumerate() {
            splitter.enter(&rows);
            let found = splitter.best(column, Allowed { min_rows, ..BEST });
            let cell = |row: &u32| cells[*row as usize][at];
            let mut best: Option<f64> = None;
            for value in [f64::NEG_INFINITY, 0.0, 1.0, 2.0, 3.0, 4.0] {
                for missing_left in [false, true] {
                    let is_left = |row: &u32| match cell(row) {
                        cell if cell.is_nan() => missing_left,
                        cell if column.is_nominal => cell == value,
                        cell => cell <= value,
                    };
                    let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| is_left(row));
                    // That names are missing is no split by a name.
                    let is_name = !column.is_nominal || rows.iter().any(|row| cell(row) == value);
                    if left.len().min(right.len()) >= min_rows && is_name {
                        let worth = worth(&labels, &n_draws, &[&left, &right]);
                        best = Some(best.map_or(worth, |best| best.max(worth)));
                    }
                }
            }
            match (found, best) {
                (None, None) => {}
                (Some(split), Some(best)) => {
                    prop_assert!((split.value - best).abs() <= 1e-12 * best, "{} {best}", split.value);
                    let is_left = |row: &u32| match column.bin(*row) {
                        MISSING => split.missing_left,
                        bin => split.cut.is_left(bin),
                    };
                    let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| is_left(row));
                    let worth = worth(&labels, &n_draws, &[&left, &right]);
                    prop_assert!((split.value - worth).abs() <= 1e-12 * worth);
                }
                _ => prop_assert!(false, "{found:?} {best:?}"),
            }
        }
    }

    /// A random cut is one of the cuts there are, and of one input there is only one.
    #[test]
    fn a_cut_drawn_at_random_leaves_rows_on_both_sides(n_rows in 2usize..60, seed: u64, share in 0.0..1.0) {
        let (cells, labels) = coarse(n_rows, 3, 4, seed);
        let data = data(&cells, &labels, false, true);
        let all: Vec<usize> = (0..n_rows).collect();
        let columns = Column::all(&data, &all, &Cancel::default()).unwrap();
        let training = TrainingLabels::new(&labels, &all);
        let (n_draws, rows) = (vec![1; n_rows], (0..n_rows as u32).collect::<Vec<_>>());
        let mut splitter = Splitter::new(&training, &n_draws);
        splitter.enter(&rows);
        for column in &columns {
            let best = splitter.best(column, BEST);
            let random = splitter.best(column, Allowed { at_share: Some(share), ..BEST });
            if let (Some(best), Some(random)) = (best, random) {
                prop_assert!(random.value <= best.value);
                let bins = rows.iter().map(|&row| column.bin(row)).filter(|&bin| bin != MISSING);
                let n_left = bins.clone().filter(|&bin| random.cut.is_left(bin)).count();
                let is_whole = n_left == 0 || n_left == bins.count();
                prop_assert!(!is_whole || cells.iter().any(|row| row.iter().any(|cell| cell.is_nan())));
            }
        }
    }

    /// The joint law by its definition, from where each training row and the query fall; out of bag from
    /// the trees that did not draw the query.
    #[test]
    fn the_joint_law_is_that_of_the_training_rows_in_the_same_leaves(
        n_rows in 1usize..120, seed: u64, is_sparse: bool, out_of_bag: bool,
    ) {
        let (cells, labels) = coarse(n_rows, 4, 5, seed);
        let model = fitted(&data(&cells, &labels, is_sparse, true), &Forest { min_leaf: 3, ..small() });
        let data = data(&cells, &labels, is_sparse, true);
        let queries = [seed as usize % n_rows];
        let block = Block { out_of_bag, ..Block::of(data.features(), &queries) };
        let scores = model.score(&block);
        let evidence = model.evidence(&scores, 0);
        let found = evidence.joint_law().unwrap();
        let mut expected: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
        let mut n_asked = 0.0;
        for (at, tree) in model.trees.iter().enumerate() {
            let n_draws = draws(n_rows, model.seed.child("tree", at));
            if out_of_bag && n_draws[queries[0]] > 0 {
                continue;
            }
            n_asked += 1.0;
            let leaf = |row: usize| tree.leaf_of(|input| cells[row][input]);
            let here: Vec<usize> = (0..n_rows).filter(|&row| leaf(row) == leaf(queries[0])).collect();
            let n: u32 = here.iter().map(|&row| n_draws[row]).sum();
            for row in here.into_iter().filter(|&row| n_draws[row] > 0) {
                let weight = f64::from(n_draws[row]) / f64::from(n);
                *expected.entry(labels.row(row).to_vec()).or_default() += weight;
            }
        }
        prop_assert_eq!(found.iter().count(), expected.len());
        for (weight, set) in found.iter() {
            prop_assert!((weight - expected[set] / n_asked).abs() < 1e-12);
        }
    }

    /// Conditioning by hand: after every decision the sets that disagree keep λ of their weight.
    #[test]
    fn a_walk_in_a_given_order_is_conditioning_by_hand(
        n_rows in 2usize..100, n_labels in 1usize..80, seed: u64, trust in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
    ) {
        let (cells, labels) = coarse(n_rows, 4, n_labels, seed);
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &Forest { trust: Some(trust), ..small() });
        let order = Order::random(n_labels, Seed::new(seed));
        let query = [seed as usize % n_rows];
        let block = Block::of(data.features(), &query);
        let scores = model.score(&block);
        let evidence = model.evidence(&scores, 0);
        let law = evidence.joint_law().unwrap();
        let mut weighted: Vec<(f64, &[u64])> = law.iter().collect();
        let has = |set: &[u64], label: LabelId| set[label.0 / 64] >> (label.0 % 64) & 1 == 1;
        let mut is_near_a_tie = false;
        decide(evidence.clone(), &order, |decision| {
            let total: f64 = weighted.iter().map(|it| it.0).sum();
            let with: f64 = weighted.iter().filter(|it| has(it.1, decision.label)).map(|it| it.0).sum();
            // Rounding may decide a tie either way, and then the walks part.
            is_near_a_tie |= (with / total - 0.5).abs() < 1e-9;
            if is_near_a_tie {
                return;
            }
            assert_eq!(decision.relevant, with / total > 0.5);
            let found = decision.score.probability().unwrap();
            assert!((found - with / total).abs() < 1e-9, "{found} {}", with / total);
            for (weight, set) in &mut weighted {
                if has(set, decision.label) != decision.relevant {
                    *weight *= 1.0 - trust;
                }
            }
        });
        let walked = model.decisions(&block, Route::Fixed(&order));
        let independent = model.decisions(&block, Route::Independent);
        if trust == 0.0 {
            prop_assert_eq!(walked, independent);
        }
    }

    /// The same where labels of training rows are unknown: a set in which a label is unknown speaks neither for
    /// nor against it, and agrees with a decision as far as the others do.
    #[test]
    fn unknown_labels_condition_by_what_the_others_say(
        n_rows in 2usize..60, n_labels in 1usize..20, seed: u64, trust in 0.1..0.9,
    ) {
        let (cells, mut labels) = coarse(n_rows, 4, n_labels, seed);
        let mut rng = Seed::new(seed).child("unknown", 0).rng();
        for row in 0..n_rows {
            labels.ids().filter(|_| rng.chance(0.3)).for_each(|label| labels.forget(row, label));
        }
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &Forest { trust: Some(trust), ..small() });
        let query = [seed as usize % n_rows];
        let block = Block::of(data.features(), &query);
        let laws = model.score(&block);
        let mut evidence = model.evidence(&laws, 0);
        // Weights of label sets, as fractions of all.
        let mut weighted: Vec<(f64, usize)> =
            laws.0[0].iter().map(|it| (it.weight, it.set as usize)).collect();
        for label in labels.ids() {
            let sum = |of: &[(f64, usize)], wanted: Option<bool>| -> f64 {
                let with = of.iter().filter(|(_, set)| model.sets.cell(*set, label) == wanted);
                with.map(|(weight, _)| weight).sum()
            };
            let (with, without) = (sum(&weighted, Some(true)), sum(&weighted, Some(false)));
            let known = with + without;
            let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
            let score = evidence.support(label);
            if known <= 1e-9 * total {
                continue;
            }
            let found = score.probability().unwrap();
            prop_assert!((found - with / known).abs() < 1e-6, "{} {}", found, with / known);
            if (with / known - 0.5).abs() < 1e-6 {
                break;
            }
            let relevant = score.is_relevant();
            evidence.observe(label, relevant);
            let agreeing = if relevant { with } else { without };
            if agreeing == known {
                continue;
            }
            for (weight, set) in &mut weighted {
                *weight *= match model.sets.cell(*set, label) {
                    Some(of_set) if of_set == relevant => 1.0,
                    Some(_) => 1.0 - trust,
                    None => (agreeing + (1.0 - trust) * (known - agreeing)) / known,
                };
            }
        }
        prop_assert!(labels.n_unknown() == 0 || evidence.joint_law().is_none());
    }

    /// Taking all certain labels at once, and the others by whole numbers, is looking every label up.
    #[test]
    fn the_most_certain_label_is_that_of_all_supports(
        n_rows in 2usize..80, n_labels in 1usize..130, seed: u64, has_unknown: bool, out_of_bag: bool,
        trust in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
    ) {
        let (cells, mut labels) = coarse(n_rows, 4, n_labels, seed);
        let mut rng = Seed::new(seed).child("labels", 1).rng();
        for row in 0..n_rows {
            // Some labels are rare, so that few reached sets have them.
            let rare = labels.ids().filter(|label| label.0 % 3 > 0);
            rare.for_each(|label| labels.set(row, label, rng.chance(0.02)));
            if has_unknown {
                labels.ids().filter(|_| rng.chance(0.2)).for_each(|label| labels.forget(row, label));
            }
        }
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &Forest { trust: Some(trust), ..small() });
        let query = [seed as usize % n_rows];
        let block = Block { out_of_bag, ..Block::of(data.features(), &query) };
        let laws = model.score(&block);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        let taken = decide_by_certainty(model.evidence(&laws, 0), n_labels, |it| found.push(it));
        let looked_up = LookedUp(model.evidence(&laws, 0));
        let order = decide_by_certainty(looked_up, n_labels, |it| expected.push(it));
        prop_assert_eq!(found, expected);
        prop_assert_eq!(taken, order);
    }

    /// Importance by permutation from its definition: every row, every input, every tree.
    #[test]
    fn importance_by_permutation_is_what_the_loss_rises_by(
        n_rows in 2usize..60, seed: u64, is_sparse: bool,
    ) {
        let (cells, labels) = coarse(n_rows, 4, 5, seed);
        let data = data(&cells, &labels, is_sparse, true);
        let model = fitted(&data, &Forest { importance: Importance::Permutation, min_leaf: 2, ..small() });
        let mut rises = [0.0; 4];
        for (at, tree) in model.trees.iter().enumerate() {
            let n_draws = draws(n_rows, model.seed.child("tree", at));
            let unseen: Vec<usize> = (0..n_rows).filter(|&row| n_draws[row] == 0).collect();
            let loss = |row: usize, cells: &[f64]| -> f64 {
                let leaf = tree.leaf_of(|input| cells[input]);
                let entries = tree.entries_in(leaf..leaf + 1);
                let n: u32 = entries.iter().map(|entry| entry.count).sum();
                let error = |label: LabelId| {
                    let has = |entry: &&tree::LeafEntry| model.sets.get(entry.set as usize, label);
                    let with: u32 = entries.iter().filter(has).map(|entry| entry.count).sum();
                    let share = f64::from(with) / f64::from(n);
                    (share - f64::from(u8::from(labels.get(row, label)))).powi(2)
                };
                labels.ids().map(error).sum()
            };
            for (input, rise) in rises.iter_mut().enumerate() {
                let mut shuffled = unseen.clone();
                let seed = model.seed.child("tree", at).child("shuffled", input);
                seed.rng().shuffle(&mut shuffled);
                for (&row, &other) in unseen.iter().zip(&shuffled) {
                    let mut changed = cells[row].clone();
                    changed[input] = cells[other][input];
                    *rise += (loss(row, &changed) - loss(row, &cells[row])) / unseen.len() as f64;
                }
            }
        }
        let positive = rises.map(|rise| rise.max(0.0));
        let sum: f64 = positive.iter().sum();
        for (found, rise) in model.importance().unwrap().into_iter().zip(positive) {
            let expected = if sum > 1e-9 { rise / sum } else { found };
            prop_assert!((found - expected).abs() < 1e-6, "{} {}", found, expected);
        }
    }

    /// Whatever is observed, even what no set allows, support stays a number.
    #[test]
    fn observing_the_impossible_leaves_numbers(
        seed: u64, n_labels in 1usize..130, trust in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
    ) {
        let (cells, labels) = coarse(30, 3, n_labels, seed);
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &Forest { trust: Some(trust), ..small() });
        let scores = model.score(&Block::of(data.features(), &[0]));
        let mut evidence = model.evidence(&scores, 0);
        let mut rng = Seed::new(seed).rng();
        for _ in 0..3 {
            for label in labels.ids() {
                evidence.observe(label, rng.chance(0.5));
                prop_assert!(labels.ids().all(|label| !evidence.support(label).value().is_nan()));
            }
        }
        let sum: f64 = evidence.joint_law().unwrap().iter().map(|it| it.0).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
    }

    /// How the file stores cells makes no difference.
    #[test]
    fn sparse_rows_grow_the_forest_of_dense_ones(n_rows in 1usize..150, seed: u64, extra_trees: bool) {
        let (cells, labels) = coarse(n_rows, 7, 4, seed);
        let [dense, sparse] = [false, true].map(|is_sparse| {
            let data = data(&cells, &labels, is_sparse, true);
            fitted(&data, &Forest { extra_trees, ..small() }).encode(&mut PieceWriter::default()).unwrap()
        });
        prop_assert!(dense == sparse);
    }
}

/// Evidence of which every support is looked up, as that of other bases.
#[derive(Clone)]
struct LookedUp<'m>(ForestEvidence<'m>);

impl Evidence for LookedUp<'_> {
    fn support(&self, label: LabelId) -> Score {
        self.0.support(label)
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        self.0.observe(label, relevant);
    }
}

/// An input with a value of its own for each row says nothing. Splits by it gain in the rows that were drawn,
/// and nothing in the others.
#[test]
fn permutation_does_not_praise_an_input_of_many_values() {
    let mut rng = Seed::new(4).rng();
    let cells: Vec<Vec<f64>> =
        (0..300).map(|_| vec![rng.below(2) as f64, rng.unit(), rng.unit()]).collect();
    let mut labels = LabelMatrix::empty(300, 2);
    for (row, cells) in cells.iter().enumerate() {
        labels.ids().for_each(|label| labels.set(row, label, (cells[0] > 0.5) != rng.chance(0.3)));
    }
    let data = data(&cells, &labels, false, false);
    let importance = |importance| {
        let forest = Forest { importance, n_trees: 60, ..small() };
        let [one, seven] = [1, 7].map(|n| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            threads.install(|| fitted(&data, &forest).encode(&mut PieceWriter::default()).unwrap())
        });
        assert!(one == seven);
        fitted(&data, &forest).importance().unwrap()
    };
    let (gain, permutation) = (importance(Importance::Gain), importance(Importance::Permutation));
    assert!(gain[0] < 0.5, "{gain:?}");
    assert!(permutation[0] > 0.9, "{permutation:?}");
}

/// Where one input of sixty decides, a node that looks at seven of them mostly misses it; where every input
/// decides, seven are enough, and the cheaper choice is taken.
#[test]
fn the_number_of_inputs_is_chosen_out_of_bag() {
    let mut rng = Seed::new(6).rng();
    let noise: Vec<Vec<f64>> = (0..200).map(|_| (0..60).map(|_| rng.unit()).collect()).collect();
    let mut labels = LabelMatrix::empty(200, 2);
    for (row, cells) in noise.iter().enumerate() {
        labels.ids().for_each(|label| labels.set(row, label, cells[0] > 0.5));
    }
    let alike: Vec<Vec<f64>> = noise.iter().map(|cells| vec![cells[0]; 60]).collect();
    let auto = Forest { split_features: None, trust: None, ..small() };
    for (cells, n_chosen) in [(noise, 20), (alike, 7)] {
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &auto);
        assert_eq!(model.split_features, Some(n_chosen));
        assert_eq!(model.tuned()[0].values, [Some(n_chosen as f64)]);
        let split_features = Some(SplitFeatures::Number(n_chosen));
        let named = fitted(&data, &Forest { split_features, ..auto.clone() });
        assert_eq!(*named.trees, *model.trees);
        // What was chosen stays: two rows alone would choose otherwise, and choosing again is not asked for.
        assert_eq!(model.followed_by(&named, 5, 200).split_features, Some(n_chosen));
    }
}

#[test]
fn growing_choosing_and_measuring_can_be_cancelled() {
    let (cells, labels) = coarse(50, 4, 3, 1);
    let data = data(&cells, &labels, false, false);
    let (model, rows) = (fitted(&data, &small()), (0..50).collect::<Vec<_>>());
    let cancel = Cancel::default();
    cancel.cancel();
    let train = Prepared::as_is(&data).cancelled_by(&cancel);
    assert!(small().grow(&train, &rows, 0..1, Seed::new(1)).is_err());
    assert!(trust::choose(&model, &train, &rows, None).is_err());
    assert!(model.mean_rises(&data, &cancel).is_err());
}

/// See testdata/forest/make.py.
#[test]
fn splits_are_those_of_scikit_learn() {
    let golden = include_str!("../../../../../testdata/forest/splits.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    let mut n_nodes = 0;
    for case in golden["cases"].as_array().unwrap() {
        let table =
            |key: &str| -> Vec<Vec<f64>> { serde_json::from_value(case[key].clone()).unwrap() };
        let (cells, relevant) = (table("inputs"), table("labels"));
        let mut labels = LabelMatrix::empty(cells.len(), relevant[0].len());
        for (row, relevant) in relevant.iter().enumerate() {
            labels.ids().for_each(|label| labels.set(row, label, relevant[label.0] == 1.0));
        }
        let data = data(&cells, &labels, false, false);
        let all: Vec<usize> = (0..cells.len()).collect();
        let columns = Column::all(&data, &all, &Cancel::default()).unwrap();
        let training = TrainingLabels::new(&labels, &all);
        let n_draws: Vec<u32> = serde_json::from_value(case["draws"].clone()).unwrap();
        let mut splitter = Splitter::new(&training, &n_draws);
        for node in case["nodes"].as_array().unwrap() {
            let rows: Vec<u32> = serde_json::from_value(node["rows"].clone()).unwrap();
            splitter.enter(&rows);
            let best = columns.iter().filter_map(|column| splitter.best(column, BEST));
            let best = best.map(|split| split.value).max_by(f64::total_cmp).unwrap();
            // Of equally good splits scikit-learn may take that of another input.
            let column = &columns[node["input"].as_u64().unwrap() as usize];
            let split = splitter.best(column, BEST).unwrap();
            assert_eq!(split.value, best);
            let Cut::Between(last, first) = split.cut else { panic!("inputs are numbers") };
            assert_eq!(column.between(last, first), node["threshold"].as_f64().unwrap());
            let decrease = split.value - worth(&labels, &n_draws, &[&rows]);
            let expected = node["decrease"].as_f64().unwrap();
            assert!(
                (decrease - expected).abs() <= 1e-9 * expected.max(1.0),
                "{decrease} {expected}"
            );
            n_nodes += 1;
        }
    }
    assert_eq!(n_nodes, 20);
}

#[test]
fn labels_that_are_drawn_are_known_in_bag_and_unknown_out_of_bag() {
    // 400 rows of noise with a label that is a coin: the trees that drew a row know its label, the others
    // are right about every second.
    let mut rng = Seed::new(3).rng();
    let cells: Vec<Vec<f64>> = (0..400).map(|_| vec![rng.unit(), rng.unit(), rng.unit()]).collect();
    let mut labels = LabelMatrix::empty(400, 1);
    (0..400).for_each(|row| labels.set(row, LabelId(0), rng.chance(0.5)));
    let data = data(&cells, &labels, false, false);
    let model = fitted(&data, &Forest { n_trees: 60, ..small() });
    let rows: Vec<usize> = (0..400).collect();
    let right = |out_of_bag| {
        let block = Block { out_of_bag, ..Block::of(data.features(), &rows) };
        let answers = model.decisions(&block, Route::Independent);
        rows.iter().filter(|&&row| answers.row(row) == labels.row(row)).count()
    };
    assert_eq!(right(false), 400);
    // Binomial(400, 1/2) has deviation 10; five deviations either side.
    assert!((150..=250).contains(&right(true)), "{}", right(true));
}

#[test]
fn a_row_that_all_trees_drew_is_unknown_out_of_bag() {
    let (cells, labels) = coarse(1, 3, 2, 1);
    let data = data(&cells, &labels, false, false);
    let model = fitted(&data, &small());
    let block = Block { out_of_bag: true, ..Block::of(data.features(), &[0]) };
    let scores = model.score(&block);
    let mut evidence = model.evidence(&scores, 0);
    for label in labels.ids() {
        assert_eq!(evidence.support(label).value(), 0.0);
        evidence.observe(label, true);
    }
    assert_eq!(evidence.joint_law().unwrap().iter().count(), 0);
}

#[test]
fn any_number_of_threads_grows_the_same_bytes() {
    let network = LabelNetwork { n_rows: 200, n_labels: 6, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(1)).unwrap();
    for forest in [Forest::default(), Forest { extra_trees: true, ..Forest::default() }] {
        let [one, two, seven] = [1, 2, 7].map(|n| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            threads.install(|| fitted(&data, &forest).encode(&mut PieceWriter::default()).unwrap())
        });
        assert!(one == two && one == seven);
    }
}

/// One row, one label, nothing to split by, rows that are all equal, labels that no row or every row has,
/// cells that are all missing, and more labels than rows.
#[test]
fn what_cannot_be_split_is_a_leaf() {
    const NAN: f64 = f64::NAN;
    type Rows<T> = &'static [&'static [T]];
    let cases: [(Rows<f64>, Rows<usize>); 5] = [
        (&[&[1.0, 2.0]], &[&[0, 149]]),
        (&[&[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.0]], &[&[0], &[0, 3], &[]]),
        (&[&[NAN, NAN], &[NAN, NAN], &[NAN, NAN]], &[&[1], &[0], &[1]]),
        (&[&[], &[]], &[&[1], &[0]]),
        (&[&[NAN, 1.0], &[2.0, NAN], &[2.0, 1.0]], &[&[], &[], &[]]),
    ];
    for (cells, relevant) in cases {
        let cells: Vec<Vec<f64>> = cells.iter().map(|row| row.to_vec()).collect();
        let mut labels = LabelMatrix::empty(cells.len(), 150);
        for (row, relevant) in relevant.iter().enumerate() {
            relevant.iter().for_each(|&label| labels.set(row, LabelId(label), true));
        }
        let data = data(&cells, &labels, false, false);
        let model = fitted(&data, &Forest { n_trees: 20, ..Forest::default() });
        assert!(model.trees.iter().all(|tree| tree.n_nodes() == 1));
        let rows: Vec<usize> = (0..cells.len()).collect();
        let block = Block::of(data.features(), &rows);
        let decided = model.decisions(&block, Route::ByCertainty);
        let never = labels.counts().iter().position(|&n| n == 0).unwrap();
        assert!(rows.iter().all(|&row| !decided.get(row, LabelId(never))));
    }
}

#[test]
fn rows_that_differ_in_their_missing_cells_are_told_apart() {
    let cells = [vec![f64::NAN], vec![1.0], vec![f64::NAN], vec![1.0], vec![1.0], vec![f64::NAN]];
    let mut labels = LabelMatrix::empty(6, 1);
    [0, 2, 5].iter().for_each(|&row| labels.set(row, LabelId(0), true));
    let data = data(&cells, &labels, false, false);
    let model = fitted(&data, &Forest { n_trees: 50, ..small() });
    let rows: Vec<usize> = (0..6).collect();
    let answers = model.decisions(&Block::of(data.features(), &rows), Route::Independent);
    assert_eq!(answers, labels);
}

/// A value that no training row had goes where no name was singled out, and a number beyond all others to
/// the nearest.
#[test]
fn rows_that_were_not_there_fall_somewhere() {
    let cells: Vec<Vec<f64>> =
        (0..40).map(|row| vec![f64::from(row), 0.0, f64::from(row % 3)]).collect();
    let mut labels = LabelMatrix::empty(40, 2);
    (0..40).for_each(|row| labels.set(row, LabelId(usize::from(row > 20)), true));
    let data_of = |cells: &[Vec<f64>], labels: &LabelMatrix| data(cells, labels, false, true);
    let model = fitted(&data_of(&cells, &labels), &small());
    let new = [vec![-1e9, 0.0, 4.0], vec![1e9, f64::NAN, f64::NAN]];
    let new = data_of(&new, &LabelMatrix::empty(2, 2));
    let answers = model.decisions(&Block::of(new.features(), &[0, 1]), Route::ByCertainty);
    assert_eq!(answers.row(0), [0b01]);
    assert_eq!(answers.row(1), [0b10]);
}

#[test]
fn trust_is_chosen_out_of_bag_and_kept_where_given() {
    // Exactly one of three labels, which one is noisy: whoever believes decided labels names one at most.
    let mut rng = Seed::new(5).rng();
    let cells: Vec<Vec<f64>> = (0..300).map(|_| vec![rng.unit(), rng.unit()]).collect();
    let mut labels = LabelMatrix::empty(300, 3);
    for (row, cells) in cells.iter().enumerate() {
        let noisy = if rng.chance(0.4) { rng.unit() } else { cells[0] };
        labels.set(row, LabelId((noisy * 3.0) as usize), true);
    }
    let data = data(&cells, &labels, false, false);
    let auto = fitted(&data, &Forest { trust: None, ..small() });
    assert!(auto.trust > 0.0, "{}", auto.trust);
    assert_eq!(fitted(&data, &Forest { trust: Some(0.25), ..small() }).trust, 0.25);
    // The same trees, whatever the trust.
    let errors = |trust: f64| {
        let rows: Vec<usize> = (0..300).collect();
        let model = ForestModel { trust, ..auto.clone() };
        let block = Block { out_of_bag: true, ..Block::of(data.features(), &rows) };
        let answers = model.decisions(&block, Route::ByCertainty);
        rows.iter().filter(|&&row| answers.row(row) != labels.row(row)).count()
    };
    assert!([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0].iter().all(|&it| errors(auto.trust) <= errors(it)));
    assert!(errors(auto.trust) < errors(0.0));
}

#[test]
fn labels_that_no_reached_set_has_are_irrelevant_whatever_is_decided() {
    let (cells, labels) = coarse(60, 4, 6, 2);
    let mut wide = LabelMatrix::empty(60, 200);
    for row in 0..60 {
        labels.relevant(row).for_each(|label| wide.set(row, LabelId(label.0 * 30), true));
    }
    let data = data(&cells, &wide, false, false);
    let model = fitted(&data, &small());
    let scores = model.score(&Block::of(data.features(), &[7]));
    let mut n_relevant = 0;
    let order = decide_by_certainty(model.evidence(&scores, 0), 200, |decision| {
        n_relevant += usize::from(decision.relevant);
        if decision.label.0 % 30 != 0 {
            assert_eq!(decision.score.value(), f64::NEG_INFINITY);
        }
    });
    assert_eq!(order.len(), 200);
    assert!(n_relevant <= 6);
}

#[test]
fn settings_out_of_range_are_refused() {
    let (cells, labels) = coarse(10, 2, 2, 1);
    let train = Prepared::as_is(&data(&cells, &labels, false, false));
    let refused =
        |forest: Forest| forest.fit(&train, &[0, 1], Seed::new(1)).unwrap_err().to_string();
    assert!(refused(Forest { n_trees: 0, ..small() }).contains("trees is 0"));
    assert!(refused(Forest { min_leaf: 0, ..small() }).contains("forest-leaf is 0"));
    assert!(refused(Forest { trust: Some(1.5), ..small() }).contains("trust is 1.5"));
    let split_features = Some(SplitFeatures::Share(0.0));
    assert!(refused(Forest { split_features, ..small() }).contains("split-features is 0"));
}

#[test]
fn a_share_of_the_inputs_is_read_back_as_a_share() {
    let setting: &dyn AnySetting = &base::SPLIT_FEATURES;
    let spellings =
        [("auto", "auto"), ("sqrt", "sqrt"), ("3", "3"), (".5", "0.5"), ("1", "1"), ("1.0", "1.0")];
    for (typed, spelt) in spellings {
        assert_eq!(setting.check(typed).unwrap(), spelt);
        assert_eq!(setting.check(spelt).unwrap(), spelt);
    }
    for refused in ["0", "0.0", "1.5", "-1", "half", "nan", ""] {
        assert!(setting.check(refused).is_err(), "{refused}");
    }
    assert_eq!(SplitFeatures::Sqrt.of(103).unwrap(), 10);
    assert_eq!(SplitFeatures::Share(0.33).of(2).unwrap(), 1);
    assert_eq!(SplitFeatures::Number(9).of(4).unwrap(), 4);
}

/// What a file may say that no fitted model does.
#[test]
fn a_model_that_was_made_up_does_not_fit() {
    let (cells, labels) = coarse(50, 4, 3, 1);
    let model = fitted(&data(&cells, &labels, false, false), &small());
    let dimensions =
        Dimensions { n_labels: 3, n_features: 4, n_numbers: 4, n_rows: 50, n_train: None };
    assert!(model.fits(&dimensions));
    assert!(!model.fits(&Dimensions { n_labels: 4, ..dimensions }));
    assert!(!model.fits(&Dimensions { n_features: 3, ..dimensions }));
    assert!(!model.fits(&Dimensions { n_rows: 49, ..dimensions }));
    let damaged = |damage: &dyn Fn(&mut ForestModel)| {
        let mut model = model.clone();
        damage(&mut model);
        model.fits(&dimensions)
    };
    assert!(!damaged(&|model| model.trust = f64::NAN));
    assert!(!damaged(&|model| model.trees = Trees::default()));
    assert!(!damaged(&|model| model.rows.swap(3, 4)));
    assert!(!damaged(&|model| model.trees = vec![Tree::default()].into()));
    assert!(!damaged(&|model| model.sets = LabelMatrix::empty(1, 3)));
    // Every change of one number of a tree that leads elsewhere is found: to a node before, to a child that
    // has a parent, beyond the end.
    let tree = &model.trees[0];
    assert!(tree.n_nodes() > 5);
    assert_eq!(tree.damaged_that_fit(4, model.sets.n_rows(), model.rows.len()), 0);
}

/// A forest of 15 trees and 80 rows, which learns from 60 rows of other labels as a whole, and the parts
/// that it should be made of: trees 6 to 14, and 6 = 15 · 60 / 140 rounded, of the new rows.
#[test]
fn an_updated_forest_is_its_newest_trees_and_trees_of_the_new_rows() {
    for (is_sparse, has_unknown) in [(false, false), (true, false), (false, true)] {
        let (old_cells, old_labels) = coarse(80, 4, 5, 1);
        let (new_cells, mut new_labels) = coarse(60, 4, 5, 2);
        if has_unknown {
            (0..60).step_by(3).for_each(|row| new_labels.forget(row, LabelId(row % 5)));
        }
        let old = fitted(&data(&old_cells, &old_labels, is_sparse, true), &small());
        let new_rows = data(&new_cells, &new_labels, is_sparse, true);
        let all: Vec<usize> = (0..60).collect();
        let further = FurtherRows {
            data: &new_rows,
            rows: &all,
            views: &[],
            rows_before: &[],
            n_before: 80,
            settings: &crate::settings::Settings::default(),
            seed: Seed::new(7),
            cancel: &Cancel::default(),
        };
        let updated = old.with_rows(&small(), &further).unwrap();
        let (n_kept, n_new) = (9.0, 6.0);
        let six = Forest { n_trees: 6, ..small() };
        let new = six.fit_independent(&Prepared::as_is(&new_rows), &all, Seed::new(7)).unwrap();
        let kept = ForestModel { trees: old.trees[6..].to_vec().into(), ..old.clone() };
        assert_eq!((updated.trees.len(), updated.trust), (15, 0.7));
        let dimensions =
            Dimensions { n_labels: 5, n_features: 4, n_numbers: 12, n_rows: 140, n_train: None };
        assert!(updated.fits(&dimensions));

        // The joint law is the mean of those of the parts, for rows of either kind.
        let block = Block::of(new_rows.features(), &all);
        let law = |model: &ForestModel, row: usize| {
            let laws = model.score(&block);
            let total: f64 = laws.0[row].iter().map(|it| it.weight).sum();
            let of_set = |it: &joint::Reached| {
                let cells = model.sets.ids().map(|label| model.sets.cell(it.set as usize, label));
                (cells.collect::<Vec<_>>(), it.weight / total)
            };
            laws.0[row].iter().map(of_set).collect::<BTreeMap<_, _>>()
        };
        for row in [0, 17, 59] {
            let mut expected = BTreeMap::new();
            for (part, n) in [(&kept, n_kept), (&new, n_new)] {
                for (set, weight) in law(part, row) {
                    *expected.entry(set).or_insert(0.0) += weight * n / (n_kept + n_new);
                }
            }
            let found = law(&updated, row);
            assert!(found.keys().eq(expected.keys()));
            assert!(found.values().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-12));
        }

        // Neighbours by their definition: row 80 + r is new row r, and b_tn is what its tree drew.
        let mut expected: BTreeMap<usize, f64> = BTreeMap::new();
        let (query, no_row) = (&new_cells[17], Vec::new());
        for at in 0..15 {
            let (tree, cells, n_draws, first) = if at < 9 {
                let n_draws = draws(80, Seed::new(1).child("tree", at + 6));
                (&old.trees[at + 6], &old_cells, n_draws, 0)
            } else {
                let n_draws = draws(60, Seed::new(7).child("tree", at - 9));
                (&new.trees[at - 9], &new_cells, n_draws, 80)
            };
            let leaf = |cells: &[f64]| tree.leaf_of(|input| cells[input]);
            let here = (0..cells.len()).filter(|&row| leaf(&cells[row]) == leaf(query));
            let here: Vec<usize> = here.filter(|&row| n_draws[row] > 0).collect();
            let n: u32 = here.iter().map(|&row| n_draws[row]).sum();
            for row in here {
                let weight = f64::from(n_draws[row]) / f64::from(n) / 15.0;
                *expected.entry(first + row).or_default() += weight;
            }
        }
        // Again after a second update that keeps all: lists of draws are taken over as they are.
        let nothing_new =
            ForestModel { trees: Trees::default(), rows: no_row, set_of_row: vec![], ..new };
        for model in [&updated, &updated.followed_by(&nothing_new, 15, 140)] {
            let found = model.attribution(&block, 17).neighbours;
            assert_eq!(found.len(), expected.len());
            for neighbour in found {
                let close = (neighbour.weight - expected[&neighbour.row]).abs() < 1e-12;
                assert!(close, "{neighbour:?} {}", expected[&neighbour.row]);
                let (labels, row) = match neighbour.row.checked_sub(80) {
                    Some(row) => (&new_labels, row),
                    None => (&old_labels, neighbour.row),
                };
                assert!(neighbour.labels.into_iter().eq(labels.relevant(row)));
            }
        }

        // Rows are forgotten with the trees that drew them.
        let two = old.with_rows(&Forest { n_trees: 2, ..small() }, &further).unwrap();
        assert_eq!(two.trees.len(), 2);
        let n_old = two.rows.iter().filter(|row| **row < 80).count();
        assert!(n_old < 80 && two.rows.len() - n_old < 60);
        assert!(two.fits(&dimensions));
        let refused = old.with_rows(&Forest { n_trees: 1, ..small() }, &further).map(drop);
        assert!(matches!(refused, Err(Error::CannotUpdate { .. })));
    }
}

/// B n / (m + n), where B is the bound, or as many as keep the trees for each row.
#[test]
fn new_trees_are_as_many_as_the_share_of_the_new_rows() {
    use super::update::n_added;
    assert_eq!(n_added(100, 100, 500, 500), 50);
    assert_eq!(n_added(100, 100, 900, 100), 10);
    // Not worth half a tree.
    assert_eq!(n_added(100, 100, 100_000, 1), 0);
    assert_eq!(n_added(100, 100, 100_000, 502), 0);
    assert_eq!(n_added(100, 100, 100_000, 503), 1);
    assert_eq!(n_added(1, 1, 10, 10), 1);
    // 200 trees are allowed, and so each half of the rows has 100; more are not needed.
    assert_eq!(n_added(200, 100, 500, 500), 100);
    assert_eq!(n_added(1000, 100, 500, 500), 100);
    // Fewer are allowed than there are.
    assert_eq!(n_added(10, 100, 500, 500), 5);
}

#[test]
fn a_tree_in_pieces_is_the_same_tree() {
    let network = LabelNetwork { n_rows: 2500, n_features: 5, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(4)).unwrap();
    let model = fitted(&data, &small());
    let (n_sets, n_rows) = (model.sets.n_rows(), model.rows.len());
    for tree in model.trees.iter() {
        let (top, branches) = tree.cut();
        assert!(branches.len() > 3, "{}", branches.len());
        assert_eq!(top.n_ends(), branches.len());
        assert!(top.fits_as_top(5));
        assert!(branches.iter().all(|branch| branch.fits(5, n_sets, n_rows)));
        let joined = top.with_branches(&branches);
        assert!(joined.fits(5, n_sets, n_rows));
        assert_eq!(joined.n_nodes(), tree.n_nodes());
        for row in 0..data.n_rows() {
            let cell = |input| data.features().get(row, input);
            let leaf = tree.leaf_of(cell);
            let branch = &branches[top.leaf_of(cell)];
            assert_eq!(joined.leaf_of(cell), leaf);
            assert_eq!(joined.rows_of(leaf), tree.rows_of(leaf));
            assert_eq!(joined.entries_of(leaf), tree.entries_of(leaf));
            assert_eq!(branch.entries_of(branch.leaf_of(cell)), tree.entries_of(leaf));
        }
        assert_eq!(joined.cut(), (top, branches));
    }
}
