//! Walking one trained model in any order decides as the textbook chain trained for that order.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use labelchain::chain::{Chain, Order, Retrained};
use labelchain::data::{Dataset, LabelId, LabelNetwork, ReadOptions, parse, read};
use labelchain::learner::{Block, Predictor as _};
use labelchain::model::{ChainLearner as _, Likelihood, NaiveBayes};
use labelchain::prepare::{Preparation, Prepared, Undersampling};
use labelchain::seed::Seed;

const LIKELIHOODS: [Likelihood; 3] = [Likelihood::Auto, Likelihood::Gaussian, Likelihood::Weka];

/// Fits on the first two thirds of the rows and compares every answer for the rest.
fn compare(data: &Dataset, learner: &NaiveBayes, orders: &[Order]) {
    let train = Prepared::new(data).unwrap();
    let n_fitted = data.n_rows() * 2 / 3;
    let fitting: Vec<usize> = (0..n_fitted).collect();
    let model = learner.fit(&train, &fitting, Seed::new(1)).unwrap();
    let rest: Vec<usize> = (n_fitted..data.n_rows()).collect();
    let queries = train.data().select(&rest);
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let views = model.views().to_vec();
    let mut chain = Chain { model, policy: Order::natural(data.n_labels()) };
    let mut relevant = 0;
    for order in orders {
        chain.policy = order.clone();
        let block = Block { features: queries.features(), rows: &rows, near: None };
        let walked = chain.predict_block(&block);
        let retrained = Retrained::fit(learner, &train, &views, order.clone()).unwrap();
        assert_eq!(walked, retrained.predict(&queries).unwrap(), "order {order}");
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
        compare(&mixed(), &NaiveBayes { preparation: all, likelihood }, &every_order_of_four());
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
        compare(&data, &NaiveBayes { preparation, likelihood }, &every_order_of_four());
    }
}

#[test]
fn two_hundred_random_orders_of_fourteen_on_yeast() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("LABELCHAIN_DATA").map_or(beside, PathBuf::from);
    let path = directory.join("yeast.arff.gz");
    if !path.exists() {
        eprintln!("skipped: no yeast at hand");
        return;
    }
    let yeast = read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    let first: Vec<usize> = (0..600).collect();
    let yeast = yeast.select(&first);
    let orders: Vec<Order> =
        (0..200).map(|at| Order::random(14, Seed::new(1).child("order", at))).collect();
    compare(&yeast, &NaiveBayes::default(), &orders);
}
