//! Labels that are known at prediction, and labels that are unknown in training.
#![allow(clippy::unwrap_used)]

use labelchain::base::{NaiveBayes, NearestNeighbours};
use labelchain::chain::{
    AnyOrderModel as _, BaseModel as _, Block, ChainLearner, FixedOrderChain, Order,
    OrderedModel as _, Route,
};
use labelchain::data::{Dataset, LabelId, LabelMatrix, LabelNetwork};
use labelchain::loss::{Criterion, Losses, Undefined};
use labelchain::prepare::{Preparation, Prepared, Undersampling};
use labelchain::{LabelChain, Method, Model, Seed};

/// Labels that depend on each other: rows to train on, and rows to label.
fn network(n_rows: usize) -> (Dataset, Dataset) {
    let network = LabelNetwork { n_rows, n_labels: 6, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(3)).unwrap();
    let (train, test): (Vec<usize>, Vec<usize>) = (0..n_rows).partition(|row| row % 3 > 0);
    (data.select(&train), data.select(&test))
}

/// The same data, of which each label cell is unknown with this probability.
fn blanked(data: &Dataset, share: f64, seed: u64) -> Dataset {
    let mut rng = Seed::new(seed).rng();
    let mut labels = data.labels().clone();
    for row in 0..data.n_rows() {
        for label in data.labels().ids() {
            if rng.chance(share) {
                labels.forget(row, label);
            }
        }
    }
    data.clone().relabelled(data.label_names().to_vec(), labels).unwrap()
}

fn fitted(method: &str, data: &Dataset) -> Model {
    LabelChain::new(method).unwrap().fit(data).unwrap()
}

#[test]
fn known_labels_are_kept_by_every_method() {
    let (train, test) = network(90);
    let rows = blanked(&test, 0.5, 1);
    for method in Method::all().map(|method| method.to_string()) {
        let model = fitted(&method, &train);
        let prediction = model.predict_known(&rows).unwrap();
        for row in 0..rows.n_rows() {
            for label in rows.labels().ids() {
                let Some(relevant) = rows.labels().cell(row, label) else { continue };
                assert_eq!(prediction.labels.get(row, label), relevant, "{method}");
                let share = prediction.shares(row)[label.0];
                assert_eq!(share, f64::from(u8::from(relevant)), "{method}");
            }
        }
        // All labels known is an answer, too; and none is the answer without.
        assert_eq!(model.predict_known(&test).unwrap().labels, *test.labels(), "{method}");
        let plain = model.predict(&test).unwrap();
        let none = model.predict_known(&test.unlabelled()).unwrap();
        assert_eq!((none.labels, none.shares), (plain.labels, plain.shares), "{method}");
    }
}

#[test]
fn binary_relevance_learns_nothing_from_known_labels() {
    let (train, test) = network(90);
    let rows = blanked(&test, 0.5, 1);
    for method in ["br-nb", "br-knn", "br-j48", "br-svm"] {
        let model = fitted(method, &train);
        let (plain, given) = (model.predict(&rows).unwrap(), model.predict_known(&rows).unwrap());
        for row in 0..rows.n_rows() {
            for label in rows.labels().ids().filter(|&it| !rows.labels().is_known(row, it)) {
                assert_eq!(given.shares(row)[label.0], plain.shares(row)[label.0], "{method}");
            }
        }
    }
}

/// A walk over what is open, from what is known, is the rest of a walk that decided the same.
#[test]
fn known_labels_are_decisions_that_were_made_before() {
    let (train, test) = network(120);
    for method in ["ecc-nb", "ecc-knn", "ecc-j48", "ecc-svm"] {
        let chain = LabelChain::new(method).unwrap();
        let chain = chain.set("members", "1").unwrap().set("order", "natural").unwrap();
        let model = chain.fit(&train).unwrap();
        let plain = model.predict(&test).unwrap();
        // What the chain decides about its first labels, handed in as known.
        let mut known = LabelMatrix::unknown(test.n_rows(), 6);
        for row in 0..test.n_rows() {
            for label in [0, 1, 2].map(LabelId) {
                known.set(row, label, plain.labels.get(row, label));
            }
        }
        let rows = model.align(&test, "test".as_ref()).unwrap().given(known).unwrap();
        assert_eq!(rows.predict().unwrap().labels, plain.labels, "{method}");
    }
}

#[test]
fn the_more_is_known_the_fewer_of_the_rest_are_wrong() {
    let (train, test) = network(900);
    for method in ["ecc-nb", "certain-nb", "ecc-knn"] {
        let model = fitted(method, &train);
        // The share of wrong cells among the last three labels.
        let loss = |n_known: usize| {
            let mut known = LabelMatrix::unknown(test.n_rows(), 6);
            for row in 0..test.n_rows() {
                for label in (0..n_known).map(LabelId) {
                    known.set(row, label, test.labels().get(row, label));
                }
            }
            let rows = model.align(&test, "test".as_ref()).unwrap().given(known).unwrap();
            let last = |labels: &LabelMatrix| {
                let data = test.clone().relabelled(test.label_names().to_vec(), labels.clone());
                data.unwrap().with_labels(&[3, 4, 5].map(LabelId)).labels().clone()
            };
            let answer = rows.predict().unwrap().labels;
            let losses = Losses::between(&last(test.labels()), &last(&answer), Undefined::Paper);
            losses.unwrap().get(Criterion::Hamming).unwrap()
        };
        let [none, one, three] = [0, 1, 3].map(loss);
        assert!(none > one && one > three, "{method}: {none} {one} {three}");
    }
}

#[test]
fn lengths_and_names_that_contradict_are_errors() {
    let (train, test) = network(90);
    let model = fitted("ecc-nb", &train);
    let rows = || model.align(&test, "test".as_ref()).unwrap();
    let error = rows().given(LabelMatrix::unknown(3, 6)).err().unwrap().to_string();
    assert_eq!(error, "rows of known labels: expected 30, found 3");
    let error = rows().given(LabelMatrix::unknown(30, 5)).err().unwrap().to_string();
    assert_eq!(error, "columns of known labels: expected 6, found 5");
    let mut names = test.label_names().to_vec();
    names[0] += "x";
    let foreign = test.clone().relabelled(names.clone(), test.labels().clone()).unwrap();
    let error = model.predict_known(&foreign).unwrap_err().to_string();
    let expected = format!(
        "no label of the model is called {:?}. Did you mean {:?}?",
        names[0],
        test.label_names()[0]
    );
    assert_eq!(error, expected);
}

#[test]
fn questions_are_about_open_labels_and_their_gain_is_by_the_formula() {
    let (train, test) = network(300);
    let row = test.select(&[4]);
    for method in ["ecc-nb", "certain-knn", "br-nb"] {
        let model = fitted(method, &train);
        let mut known = LabelMatrix::unknown(1, 6);
        known.set(0, LabelId(2), true);
        let given = |known: &LabelMatrix| {
            model.align(&row, "row".as_ref()).unwrap().given(known.clone()).unwrap()
        };
        let probabilities = |known: &LabelMatrix| -> Vec<f64> {
            given(known).predict().unwrap().probabilities.unwrap()
        };
        let wrong = |known: &LabelMatrix| -> f64 {
            probabilities(known).iter().map(|p| p.min(1.0 - p)).sum()
        };
        let questions = given(&known).questions().unwrap().concat();
        let mut asked: Vec<usize> = questions.iter().map(|question| question.label.0).collect();
        assert!(questions.is_sorted_by(|a, b| a.gain >= b.gain), "{method}");
        asked.sort_unstable();
        assert_eq!(asked, [0, 1, 3, 4, 5], "{method}");
        for question in questions {
            let answered = |relevant| {
                let mut known = known.clone();
                known.set(0, question.label, relevant);
                wrong(&known)
            };
            let p = probabilities(&known)[question.label.0];
            let gain = wrong(&known) - p * answered(true) - (1.0 - p) * answered(false);
            assert!((question.probability - p).abs() < 1e-12, "{method}");
            assert!((question.gain - gain).abs() < 1e-12, "{method}");
            if method == "br-nb" {
                assert!((gain - p.min(1.0 - p)).abs() < 1e-12, "no label tells of another");
            }
        }
    }
    // Margins are probabilities only where they could be calibrated.
    let uncalibrated = LabelChain::new("ecc-svm").unwrap().set("members", 2).unwrap();
    let uncalibrated = uncalibrated.set("sample", 1).unwrap().set("fit-share", 1).unwrap();
    let model = uncalibrated.fit(&train).unwrap();
    let error = model.align(&row, "row".as_ref()).unwrap().questions().unwrap_err().to_string();
    assert!(error.starts_with("what an answer would be worth cannot be had"), "{error}");
}

/// Each label learns from the rows that know it, co-occurrences from the rows that know both: so does
/// the textbook chain, to which an unknown label is an input with a missing cell.
#[test]
fn reordering_equals_retraining_where_labels_are_unknown() {
    let (train, test) = network(300);
    let train = blanked(&train, 0.3, 2);
    let orders = (0..12).map(|at| Order::random(6, Seed::new(at)));
    let orders: Vec<Order> = orders.collect();
    let all =
        Preparation { selection: None, undersampling: Undersampling::new(Some(3.0)).unwrap() };
    for preparation in [Preparation::default(), all] {
        let learner = NaiveBayes { preparation, ..NaiveBayes::default() };
        let train = Prepared::new(train.clone()).unwrap();
        let rows: Vec<usize> = (0..train.data().n_rows()).collect();
        let model = learner.fit(&train, &rows, Seed::new(1)).unwrap();
        let queries = train.standardizer().apply(test.clone()).unwrap();
        let places: Vec<usize> = (0..queries.n_rows()).collect();
        let block = Block::of(queries.features(), &places);
        let mut n_relevant = 0;
        for order in &orders {
            let views = model.views().to_vec();
            let retrained = FixedOrderChain::fit(&learner, &train, views, Some(order)).unwrap();
            let walked = model.decisions(&block, Route::Fixed(order));
            assert_eq!(walked, retrained.decide_block(&block), "order {order}");
            n_relevant += walked.counts().iter().sum::<usize>();
        }
        assert!(n_relevant > 0, "answers that are all empty prove nothing");
    }
}

/// A row whose label is unknown is moved away by the share of the others that disagree.
#[test]
fn neighbours_expect_of_an_unknown_label_what_others_have() {
    // Label a is relevant to three of the four rows that know it. Label b is decided by the nearest
    // row: row 4 at distance 1 without disagreement, or row 0 at distance 0.5.
    let cells = [0.5f64.sqrt(), 10.0, 10.0, 10.0, 1.0];
    let labels = [
        (None, true),
        (Some(true), true),
        (Some(true), true),
        (Some(false), true),
        (Some(true), false),
    ];
    let labels: Vec<Option<bool>> = labels.iter().flat_map(|&(a, b)| [a, Some(b)]).collect();
    let data = Dataset::from_rows(1, &cells).unwrap();
    let data = data.with_partial_labels(&["a", "b"], &labels).unwrap();
    let train = Prepared::as_is(&data);
    let near = labelchain::distance::Neighbourhood::of(train.data()).unwrap();
    let query = Dataset::from_rows(1, &[0.0]).unwrap();
    for selection in [None, Some(labelchain::prepare::Cfs::default())] {
        // With selected inputs, the other way of measuring distances is taken; there is one input.
        let preparation = Preparation { selection, ..Preparation::none() };
        let learner = NearestNeighbours { neighbours: 1, preparation, ..Default::default() };
        let model = learner.fit(&train, &[0, 1, 2, 3, 4], Seed::new(1)).unwrap();
        let rankings = near.rankings(&query, model.needs()).unwrap();
        let decided_b = |a: bool| {
            let mut known = LabelMatrix::unknown(1, 2);
            known.set(0, LabelId(0), a);
            let block = Block {
                rankings: rankings.as_ref(),
                known: Some(&known),
                ..Block::of(query.features(), &[0])
            };
            let decisions = model.decisions(&block, Route::Fixed(&Order::natural(2)));
            decisions.get(0, LabelId(1))
        };
        // a = 1: row 0 is at 0.5 + 1/4, nearer than row 4 at 1, so b is relevant as in row 0.
        assert!(decided_b(true));
        // a = 0: row 0 is at 0.5 + 3/4, row 4 at 1 + 1.
        assert!(decided_b(false));
    }
}

/// Nothing unknown is the same to the last bit as if nothing could be.
#[test]
fn labels_that_are_all_known_make_the_same_model() {
    let (train, test) = network(150);
    let cells = (0..train.n_rows())
        .flat_map(|row| train.labels().ids().map(move |label| (row, label)).collect::<Vec<_>>());
    let cells: Vec<Option<bool>> =
        cells.map(|(row, label)| train.labels().cell(row, label)).collect();
    let names = train.label_names().to_vec();
    let partial = train.unlabelled().with_partial_labels(&names, &cells).unwrap();
    for method in ["dynamic-nb", "ecc-knn", "ecc-forest"] {
        let shares = |data: &Dataset| fitted(method, data).predict(&test).unwrap().shares;
        assert_eq!(shares(&partial), shares(&train), "{method}");
    }
}

#[test]
fn every_strategy_learns_from_partial_labels_and_beats_dropping_rows() {
    let (train, test) = network(900);
    let partial = blanked(&train, 0.3, 4);
    let labels = partial.labels();
    let is_whole = |&row: &usize| labels.ids().all(|label| labels.is_known(row, label));
    let whole: Vec<usize> = (0..partial.n_rows()).filter(is_whole).collect();
    let mut irrelevant = labels.clone();
    for row in 0..partial.n_rows() {
        labels.ids().for_each(|label| irrelevant.set(row, label, labels.get(row, label)));
    }
    let names = partial.label_names().to_vec();
    let irrelevant = partial.clone().relabelled(names, irrelevant).unwrap();
    let mut better = [0, 0];
    let methods = [
        "br-nb",
        "ecc-nb",
        "dynamic-nb",
        "oocc-nb",
        "certain-nb",
        "ga-nb",
        "ecc-knn",
        "certain-knn",
        "ecc-j48",
        "certain-forest",
        "br-forest",
        "dynamic-forest",
    ];
    for method in methods {
        let loss = |data: &Dataset| {
            let answer = fitted(method, data).predict(&test).unwrap().labels;
            let losses = Losses::between(test.labels(), &answer, Undefined::Paper).unwrap();
            losses.get(Criterion::Hamming).unwrap()
        };
        let learned = loss(&partial);
        better[0] += usize::from(learned < loss(&partial.select(&whole)));
        better[1] += usize::from(learned < loss(&irrelevant));
    }
    // About 0.7^6 = 12 % of the rows are left when those with blanks are dropped.
    assert!(better.iter().all(|&n| n + 1 >= methods.len()), "{better:?} of {}", methods.len());
}

#[test]
fn a_label_that_nobody_knows_is_never_predicted() {
    let (train, test) = network(150);
    let mut labels = blanked(&train, 0.2, 5).labels().clone();
    (0..train.n_rows()).for_each(|row| labels.forget(row, LabelId(1)));
    let data = train.clone().relabelled(train.label_names().to_vec(), labels).unwrap();
    for method in
        ["ecc-nb", "dynamic-nb", "ecc-knn", "oocc-knn", "ga-nb", "ecc-j48", "certain-forest"]
    {
        let prediction = fitted(method, &data).predict(&test).unwrap();
        assert_eq!(prediction.labels.counts()[1], 0, "{method}");
        assert!(prediction.labels.counts().iter().sum::<usize>() > 0, "{method}");
    }
}

#[test]
fn a_base_that_cannot_learn_from_unknown_labels_names_those_that_can() {
    let (train, _) = network(90);
    let mut labels = train.labels().clone();
    labels.forget(7, LabelId(1));
    let data = train.clone().relabelled(train.label_names().to_vec(), labels).unwrap();
    let error = LabelChain::new("ecc-svm").unwrap().fit(&data).unwrap_err().to_string();
    assert_eq!(
        error,
        "base is svm and 1 labels of network are unknown, but must be one that learns from rows of \
         which some labels are unknown: nb, knn, j48 or forest"
    );
}
