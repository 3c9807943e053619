//! Walking one trained model in any order decides as the textbook chain trained for that order.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use labelchain::base::{Likelihood, NaiveBayes, NearestNeighbours};
use labelchain::chain::{
    AnyOrderModel as _, BaseModel as _, BinaryLearner, BinaryModel, Block, ChainLearner,
    FixedOrderChain, Order, OrderedModel as _, Route, Score,
};
use labelchain::data::{AttributeKind, Dataset, LabelId, LabelNetwork, ReadOptions, parse, read};
use labelchain::distance::Neighbourhood;
use labelchain::error::Result;
use labelchain::prepare::{Cfs, Preparation, Prepared, Undersampling};
use labelchain::seed::Seed;

const LIKELIHOODS: [Likelihood; 5] = [
    Likelihood::Auto,
    Likelihood::Gaussian,
    Likelihood::Weka,
    Likelihood::Discretized,
    Likelihood::Kernel,
];

/// R nearest rows by the definition: every distance, a full sort, a count. Labels are columns.
struct BruteForce(usize);

struct Stored {
    neighbours: usize,
    data: Dataset,
}

impl BinaryLearner for BruteForce {
    type Model = Stored;

    fn fit_binary(&self, train: &Dataset) -> Result<Stored> {
        Ok(Stored { neighbours: self.0, data: train.clone() })
    }
}

impl Stored {
    fn distance(&self, cell: &dyn Fn(usize) -> f64, row: usize) -> f64 {
        let term = |column: usize| {
            let (x, v) = (cell(column), self.data.features().get(row, column));
            match &self.data.attributes()[column].kind {
                AttributeKind::Nominal(_) if x == v => 0.0,
                AttributeKind::Nominal(_) => 1.0,
                _ if x.is_nan() || v.is_nan() => 2.0,
                _ => (x - v).powi(2),
            }
        };
        (0..self.data.n_features()).map(term).sum()
    }
}

impl BinaryModel for Stored {
    fn support(&self, cell: &dyn Fn(usize) -> f64) -> Score {
        let mut rows: Vec<usize> = (0..self.data.n_rows()).collect();
        let distances: Vec<f64> = rows.iter().map(|&row| self.distance(cell, row)).collect();
        rows.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        rows.truncate(self.neighbours);
        let carries = |row: &&usize| self.data.labels().get(**row, LabelId(0));
        Score::Margin(2.0 * rows.iter().filter(carries).count() as f64 - rows.len() as f64)
    }

    fn fits(&self, n_inputs: usize) -> bool {
        self.data.n_features() == n_inputs
    }
}

/// Fits on the first two thirds of the rows and compares every answer for the rest.
fn compare<L>(data: &Dataset, learner: &L, orders: &[Order])
where
    L: ChainLearner + BinaryLearner,
{
    compare_with(data, learner, learner, orders);
}

fn compare_nearest(data: &Dataset, learner: &NearestNeighbours, orders: &[Order]) {
    compare_with(data, learner, &BruteForce(learner.neighbours), orders);
}

fn compare_with(
    data: &Dataset,
    learner: &impl ChainLearner,
    judge: &impl BinaryLearner,
    orders: &[Order],
) {
    let train = Prepared::new(data.clone()).unwrap();
    let n_fitted = data.n_rows() * 2 / 3;
    let fitting: Vec<usize> = (0..n_fitted).collect();
    let model = learner.fit(&train, &fitting, Seed::new(1)).unwrap();
    let rest: Vec<usize> = (n_fitted..data.n_rows()).collect();
    let queries = train.data().select(&rest);
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let near = Neighbourhood::of(train.data()).unwrap();
    let rankings = near.rankings(&queries, model.needs()).unwrap();
    let views = model.views().to_vec();
    let mut relevant = 0;
    for order in orders {
        let features = queries.features();
        let block = Block { rankings: rankings.as_ref(), ..Block::of(features, &rows) };
        let walked = model.decisions(&block, Route::Fixed(order));
        let retrained = FixedOrderChain::fit(judge, &train, views.clone(), Some(order)).unwrap();
        assert_eq!(walked, retrained.decide_block(&block), "order {order}");
        relevant += walked.counts().iter().sum::<usize>();
    }
    assert!(relevant > 0, "answers that are all empty prove nothing");
}

fn every_order_of_four() -> Vec<Order> {
    let mut orders = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            for c in (0..4).filter(|&c| c != a && c != b) {
                let d = 6 - a - b - c;
                orders.push(Order::new([a, b, c, d].map(LabelId).to_vec(), 4).unwrap());
            }
        }
    }
    assert_eq!(orders.len(), 24);
    orders
}

/// Numeric inputs fine and coarse, nominal ones, missing cells, and a label so rare that its rows
/// are thinned.
fn mixed() -> Dataset {
    let numeric =
        LabelNetwork { n_rows: 300, n_labels: 4, n_features: 4, ..LabelNetwork::default() };
    let numeric = numeric.generate("mixed", Seed::new(5)).unwrap();
    let mut rng = Seed::new(6).rng();
    let mut text = String::from(
        "@relation 'mixed: -C -4'\n@attribute x numeric\n@attribute coarse numeric\n\
         @attribute c {r,g,b}\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute rare {0,1}\n@attribute d {0,1}\n@data\n",
    );
    for row in 0..numeric.n_rows() {
        let [a, b, _, d] = [0, 1, 2, 3].map(|l| u8::from(numeric.labels().get(row, LabelId(l))));
        let missing = rng.chance(0.1);
        let x = if missing { "?".into() } else { numeric.features().get(row, 0).to_string() };
        let coarse = (numeric.features().get(row, 1) * 2.0).round();
        let c = ["r", "g", "b", "?"]
            [if rng.chance(0.05) { 3 } else { (usize::from(b) + rng.below(2)) % 3 }];
        let rare = u8::from(row % 60 == 0);
        text += &format!("{x},{coarse},{c},{a},{b},{rare},{d}\n");
    }
    parse("mixed.arff".as_ref(), text.as_bytes(), &ReadOptions::default())
        .unwrap()
        .into_rows()
        .unwrap()
}

#[test]
fn every_order_of_four_labels_under_every_likelihood() {
    for likelihood in LIKELIHOODS {
        let learner = NaiveBayes { likelihood, ..NaiveBayes::default() };
        compare(&mixed(), &learner, &every_order_of_four());
        let all =
            Preparation { selection: None, undersampling: Undersampling::new(Some(5.0)).unwrap() };
        compare(
            &mixed(),
            &NaiveBayes { preparation: all, likelihood, updatable: false },
            &every_order_of_four(),
        );
    }
}

#[test]
fn sparse_rows_too() {
    // Word-like inputs: numeric counts and nominal flags, most of them 0.
    let mut rng = Seed::new(9).rng();
    let mut text = String::from("@relation 's: -C -4'\n");
    (0..10).for_each(|m| text += &format!("@attribute n{m} numeric\n@attribute f{m} {{0,1}}\n"));
    "abcd".chars().for_each(|label| text += &format!("@attribute {label} {{0,1}}\n"));
    text += "@data\n";
    for _ in 0..200 {
        let labels: Vec<bool> = (0..4).map(|_| rng.chance(0.4)).collect();
        let mut cells = Vec::new();
        for m in 0..10 {
            let likely = if labels[m % 4] { 0.6 } else { 0.1 };
            if rng.chance(likely) {
                cells.push(format!("{} {}", 2 * m, 1 + rng.below(4)));
            }
            if rng.chance(likely) {
                cells.push(format!("{} 1", 2 * m + 1));
            }
        }
        let relevant = (0..4).filter(|&l| labels[l]).map(|l| format!("{} 1", 20 + l));
        cells.extend(relevant);
        text += &format!("{{{}}}\n", cells.join(","));
    }
    let data = parse("s.arff".as_ref(), text.as_bytes(), &ReadOptions::default())
        .unwrap()
        .into_rows()
        .unwrap();
    for likelihood in LIKELIHOODS {
        let preparation = Preparation { selection: None, ..Preparation::default() };
        compare(
            &data,
            &NaiveBayes { preparation, likelihood, updatable: false },
            &every_order_of_four(),
        );
    }
}

/// A set of numbers and dependent labels.
fn network(n_rows: usize, n_labels: usize, seed: u64) -> Dataset {
    let network = LabelNetwork { n_rows, n_labels, n_features: 6, ..LabelNetwork::default() };
    network.generate("network", Seed::new(seed)).unwrap()
}

fn random_orders(n_orders: usize, n_labels: usize) -> Vec<Order> {
    let seed = Seed::new(1);
    (0..n_orders).map(|at| Order::random(n_labels, seed.child("order", at))).collect()
}

fn nearest(neighbours: usize) -> NearestNeighbours {
    NearestNeighbours { neighbours, ..NearestNeighbours::default() }
}

#[test]
fn neighbours_in_every_order_of_four_labels() {
    let undersampling = Undersampling::new(Some(5.0)).unwrap();
    for selection in [None, Some(Cfs::default())] {
        let preparation = Preparation { undersampling, selection };
        for neighbours in [1, 3, 4, 5] {
            let learner = NearestNeighbours { preparation, ..nearest(neighbours) };
            compare_nearest(&mixed(), &learner, &every_order_of_four());
            compare_nearest(&network(200, 4, 2), &learner, &every_order_of_four());
        }
    }
}

#[test]
fn neighbours_in_fifty_random_orders_of_ten() {
    for neighbours in [1, 5, 11] {
        compare_nearest(&network(300, 10, 3), &nearest(neighbours), &random_orders(50, 10));
    }
}

#[test]
fn neighbours_at_equal_distances_and_repeated_rows() {
    let mut same = String::from("@relation 't: -C -4'\n@attribute x numeric\n");
    "abcd".chars().for_each(|label| same += &format!("@attribute {label} {{0,1}}\n"));
    same += "@data\n";
    let mut few = same.clone();
    let mut rng = Seed::new(3).rng();
    for row in 0..90 {
        let mut label = || u8::from(rng.chance(0.5));
        let labels = format!("{},{},{},{}\n", label(), label(), label(), label());
        same += &format!("7,{labels}");
        few += &format!("{},{labels}", row % 3);
    }
    for text in [same, few] {
        let reading = parse("t.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap();
        let data = reading.into_rows().unwrap();
        // Also more than there are rows: then all of them vote.
        for neighbours in [1, 2, 5, 1000] {
            compare_nearest(&data, &nearest(neighbours), &every_order_of_four());
        }
    }
}

#[test]
fn neighbours_of_sparse_flags() {
    let mut rng = Seed::new(8).rng();
    let mut text = String::from("@relation 's: -C -4'\n");
    (0..20).for_each(|m| text += &format!("@attribute f{m} {{0,1}}\n"));
    "abcd".chars().for_each(|label| text += &format!("@attribute {label} {{0,1}}\n"));
    text += "@data\n";
    for _ in 0..150 {
        let labels: Vec<bool> = (0..4).map(|_| rng.chance(0.4)).collect();
        let flag = |m: &usize| if labels[m % 4] { 0.5 } else { 0.1 };
        let flags: Vec<usize> = (0..20).filter(|m| rng.chance(flag(m))).collect();
        let relevant = (0..4).filter(|&label| labels[label]).map(|label| 20 + label);
        let cells: Vec<String> =
            flags.into_iter().chain(relevant).map(|at| format!("{at} 1")).collect();
        text += &format!("{{{}}}\n", cells.join(","));
    }
    let reading = parse("s.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap();
    compare_nearest(&reading.into_rows().unwrap(), &nearest(3), &every_order_of_four());
}

fn yeast() -> Option<Dataset> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(default, PathBuf::from);
    let path = directory.join("yeast.arff.gz");
    if !path.exists() {
        eprintln!("skipped: no yeast at hand");
        return None;
    }
    let yeast = read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    Some(yeast.select(&(0..600).collect::<Vec<_>>()))
}

#[test]
fn two_hundred_random_orders_of_fourteen_on_yeast() {
    let Some(yeast) = yeast() else { return };
    compare(&yeast, &NaiveBayes::default(), &random_orders(200, 14));
}

#[test]
fn neighbours_in_two_hundred_random_orders_on_yeast() {
    let Some(yeast) = yeast() else { return };
    compare_nearest(
        &yeast.select(&(0..150).collect::<Vec<_>>()),
        &nearest(5),
        &random_orders(200, 14),
    );
}
