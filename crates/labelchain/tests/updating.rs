//! A naive Bayes model that learns from further rows is the model of all rows, where the method makes
//! that possible.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use labelchain::base::{Likelihood, NaiveBayes};
use labelchain::chain::{AnyOrderModel, BaseModel, Block, ChainLearner, Order, Route};
use labelchain::data::{
    Attribute, Dataset, Dense, LabelId, LabelMatrix, LabelNetwork, Matrix, Sparse,
};
use labelchain::error::Error;
use labelchain::model::{Unknown, Update};
use labelchain::prepare::{LabelView, Preparation, Prepared};
use labelchain::seed::Seed;
use labelchain::{LabelChain, Model};

/// 300 rows: a fine column, one of whole numbers 0 to 4, one of three names, and some cells missing;
/// four labels, of which one never occurs with another.
fn mixed(is_sparse: bool) -> Dataset {
    let mut rng = Seed::new(5).child("mixed", 0).rng();
    let (mut dense, mut sparse) = (Dense::new(3), Sparse::new(3));
    let mut labels = LabelMatrix::empty(300, 4);
    for row in 0..300 {
        let shift = (row % 3) as f64;
        let mut cells = [rng.normal() + shift, rng.below(5) as f64, rng.below(3) as f64];
        if row % 7 == 0 {
            cells[row % 3] = f64::NAN;
        }
        dense.push_row(&cells);
        sparse.push_row((0..3).zip(cells).filter(|cell| cell.1 != 0.0));
        labels.set(row, LabelId(row % 3), true);
        labels.set(row, LabelId(3), rng.chance(0.3) && row % 3 == 1);
    }
    let attributes = vec![
        Attribute::numeric("fine"),
        Attribute::numeric("coarse"),
        Attribute::nominal("name", ["u", "v", "w"]),
    ];
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    let names = ["a", "b", "c", "d"].map(String::from).to_vec();
    Dataset::new("mixed", attributes, features, names, labels).unwrap()
}

/// Without a scale of their own, sums of all rows are the very sums that are added up in parts.
#[test]
fn counts_and_sums_of_parts_make_the_model_of_all_rows_to_the_last_bit() {
    let all: Vec<usize> = (0..300).collect();
    for (is_sparse, likelihood) in
        [(false, Likelihood::Auto), (false, Likelihood::Gaussian), (true, Likelihood::Auto)]
    {
        let data = mixed(is_sparse);
        let preparation = Preparation::none();
        let learner = NaiveBayes { preparation, likelihood, updatable: true };
        let at_once = learner.fit(&Prepared::as_is(&data), &all, Seed::new(1)).unwrap();
        // The whole numbers all occur in the first rows, so that the precision is theirs from the start.
        for n_first in [200, 250] {
            let first = data.select(&all[..n_first]);
            let first =
                learner.fit(&Prepared::as_is(&first), &all[..n_first], Seed::new(1)).unwrap();
            let mut model: Arc<dyn AnyOrderModel> = Arc::new(first);
            for span in [n_first..270, 270..300] {
                let part = data.select(&all[span.clone()]);
                let rows: Arc<[usize]> = (0..part.n_rows()).collect();
                let view = LabelView { rows: rows.clone(), features: vec![] };
                model = model.updated(&part, &rows, &vec![view; 4], span.start).unwrap();
            }
            // The log prior odds, the term of every cell, and what follows from labels in an order.
            let block = Block::of(data.features(), &all);
            let terms = |model: &dyn AnyOrderModel| {
                let terms = model.attributions(&block).into_iter();
                let terms = terms.map(|of| (of.base_values, of.contributions));
                let order = Order::natural(4);
                (terms.collect::<Vec<_>>(), model.decisions(&block, Route::Fixed(&order)))
            };
            assert!(terms(&*model) == terms(&at_once), "{is_sparse} {likelihood:?} {n_first}");
            assert!(model.views() == at_once.views());
        }
    }
}

fn network(n_rows: usize) -> Dataset {
    let network = LabelNetwork { n_rows, n_labels: 5, n_features: 6, ..LabelNetwork::default() };
    network.generate("network", Seed::new(2)).unwrap()
}

fn chain(method: &str) -> LabelChain<'static> {
    LabelChain::new(method).unwrap().set("updatable", true).unwrap().set("members", 3).unwrap()
}

/// Every member fits every row, selects nothing and leaves out nothing.
fn all_rows(method: &str) -> LabelChain<'static> {
    let settings =
        [("sample", "1"), ("fit-share", "1"), ("select", "none"), ("max-imbalance", "none")];
    settings.iter().fold(chain(method), |chain, (name, value)| chain.set(name, value).unwrap())
}

fn part(data: &Dataset, span: std::ops::Range<usize>) -> Dataset {
    data.select(&span.collect::<Vec<_>>())
}

fn update(model: &Model, data: &Dataset) -> Model {
    model.update(data, "new".as_ref(), Update::default()).unwrap().0
}

/// The scale of the first rows is not that of all, but naive Bayes does not depend on the scale.
#[test]
fn a_model_of_all_rows_answers_as_one_that_was_trained_on_them_at_once() {
    let data = network(600);
    for method in ["br-nb", "ecc-nb", "certain-nb"] {
        let at_once = all_rows(method).fit(&data).unwrap();
        let first = all_rows(method).fit(&part(&data, 0..400)).unwrap();
        let updated = update(&update(&first, &part(&data, 400..401)), &part(&data, 401..600));
        assert_eq!(updated.n_rows(), 600);
        let answers = |model: &Model| model.predict(&data.unlabelled()).unwrap().shares;
        assert_eq!(answers(&updated), answers(&at_once), "{method}");
        assert_ne!(answers(&first), answers(&at_once), "{method}: the new rows make a difference");
    }
}

#[test]
fn updating_is_the_same_for_any_number_of_threads_and_after_saving() {
    let data = network(300);
    let first = chain("ecc-nb").fit(&part(&data, 0..200)).unwrap();
    let more = part(&data, 200..300);
    let place = tempfile::tempdir().unwrap();
    let bytes = |model: &Model| {
        let path = place.path().join("m");
        model.save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    let with = |n| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        threads.install(|| bytes(&update(&first, &more)))
    };
    assert!(with(1) == with(4));
    bytes(&first);
    let loaded = Model::load(&place.path().join("m"), u64::MAX).unwrap();
    assert!(bytes(&update(&loaded, &more)) == with(1));
    // Members that draw rows take some of the new ones only.
    let updated = update(&first, &more);
    for (old, new) in first.members().iter().zip(updated.members()) {
        assert!(old.fitting.len() < new.fitting.len());
        assert!(new.fitting.len() < old.fitting.len() + 100);
    }
    assert!(updated.out_of_bag().is_none() && updated.calibration() == first.calibration());
}

#[test]
fn what_cannot_be_updated_says_so_and_what_to_do() {
    let data = network(120);
    let refused = |model: &Model, new: &Dataset| {
        let error = model.update(new, "new.csv".as_ref(), Update::default()).unwrap_err();
        format!("{error} ({})", error.remedy().unwrap_or_default())
    };
    for (method, part) in [
        ("ecc-knn", "has no counts"),
        ("ecc-j48", "has no counts"),
        ("certain-forest", "has no counts"),
    ] {
        let model = LabelChain::new(method).unwrap().fit(&data).unwrap();
        let text = refused(&model, &data);
        assert!(text.contains(part) && text.contains("train again"), "{text}");
    }
    let dynamic = chain("dynamic-nb").fit(&data).unwrap();
    assert!(refused(&dynamic, &data).contains("validation rows"));
    let plain = LabelChain::new("ecc-nb").unwrap().fit(&data).unwrap();
    assert!(refused(&plain, &data).contains("updatable"), "{}", refused(&plain, &data));
    let kernels = chain("br-nb").set("likelihood", "kernel").unwrap().fit(&data).unwrap_err();
    assert!(kernels.to_string().contains("updatable is true, but must be false"), "{kernels}");

    let model = chain("ecc-nb").fit(&data).unwrap();
    let fewer = data.with_labels(&[LabelId(0), LabelId(1)]);
    assert!(refused(&model, &fewer).contains("lacks the label"));
    let mut names = data.label_names().to_vec();
    names[4] = "other".into();
    let renamed = data.clone().relabelled(names, data.labels().clone()).unwrap();
    assert!(refused(&model, &renamed).contains("first: \"other\""));
    let mut unknown = data.labels().clone();
    unknown.forget(7, LabelId(2));
    let unknown = data.clone().relabelled(data.label_names().to_vec(), unknown).unwrap();
    assert!(refused(&model, &unknown).contains("row 7"));
    assert!(refused(&model, &data.select(&[])).contains("learning from further rows"));
}

#[test]
fn new_labels_and_values_are_ignored_if_asked_for() {
    let data = mixed(false);
    let model = all_rows("ecc-nb").fit(&data).unwrap();
    let mut attributes = data.attributes().to_vec();
    attributes[2] = Attribute::nominal("name", ["u", "v", "x"]);
    let other = data.with_features(attributes, data.features().clone()).unwrap();
    let names: Vec<String> = data.label_names().iter().cloned().chain(["e".into()]).collect();
    let mut labels = LabelMatrix::empty(300, 5);
    for row in 0..300 {
        data.labels().relevant(row).for_each(|label| labels.set(row, label, true));
    }
    let other = other.relabelled(names, labels).unwrap();
    let refuse = |how| model.update(&other, "new".as_ref(), how).unwrap_err();
    assert!(matches!(refuse(Update::default()), Error::Columns { .. }));
    let only_labels = Update { new_labels: Unknown::Ignore, ..Update::default() };
    assert!(matches!(refuse(only_labels), Error::CannotUpdate { .. }));
    let ignore = Update { new_labels: Unknown::Ignore, new_values: Unknown::Ignore };
    let (updated, notes) = model.update(&other, "new".as_ref(), ignore).unwrap();
    let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["new-labels", "unseen-values"]);
    assert_eq!(updated.label_names(), model.label_names());
}
