//! A naive Bayes model that learns from further rows is the model of all rows, where the method makes
//! that possible; a forest has trees of them in place of its oldest.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use labelchain::base::{Likelihood, NaiveBayes};
use labelchain::chain::{
    AnyOrderModel, BaseModel, Block, ChainLearner, ChainModel, FurtherRows, Order, Route,
};
use labelchain::data::{
    Attribute, Dataset, Dense, LabelId, LabelMatrix, LabelNetwork, Matrix, Sparse,
};
use labelchain::error::Error;
use labelchain::loss::{Losses, Undefined};
use labelchain::model::{Unknown, Update};
use labelchain::prepare::{LabelView, Preparation, Prepared};
use labelchain::progress::Cancel;
use labelchain::seed::Seed;
use labelchain::{LabelChain, Model, Settings};

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
                let view = LabelView { rows: rows.clone(), features: [].into() };
                let further = FurtherRows {
                    data: &part,
                    rows: &rows,
                    views: &vec![view; 4],
                    rows_before: &[],
                    n_before: span.start,
                    settings: &Settings::default(),
                    seed: Seed::new(1),
                    cancel: &Cancel::default(),
                };
                model = model.updated(&further).unwrap();
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

/// The rows of [`mixed`], where the label d and the value w occur from row 200 on only; and the first 200 of them
/// as a file without either would have them.
fn growing(is_sparse: bool) -> (Dataset, Dataset) {
    let data = mixed(is_sparse);
    let (mut dense, mut sparse) = (Dense::new(3), Sparse::new(3));
    let mut labels = data.labels().clone();
    for row in 0..300 {
        let mut cells = [0, 1, 2].map(|column| data.features().get(row, column));
        if row < 200 {
            cells[2] = cells[2].min(1.0) + 0.0 * cells[2];
            labels.set(row, LabelId(3), false);
        }
        dense.push_row(&cells);
        sparse.push_row((0..3).zip(cells).filter(|cell| cell.1 != 0.0));
    }
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    let names = data.label_names().to_vec();
    let all = data.with_features(data.attributes().to_vec(), features).unwrap();
    let all = all.relabelled(names, labels).unwrap();
    let first = part(&all, 0..200).with_labels(&[0, 1, 2].map(LabelId));
    let mut attributes = data.attributes().to_vec();
    attributes[2] = Attribute::nominal("name", ["u", "v"]);
    let first = first.with_features(attributes, first.features().clone()).unwrap();
    (all, first)
}

/// What training at once on a file with an empty column for the label and an unused value would have found.
#[test]
fn new_labels_and_values_make_the_model_of_all_rows_to_the_last_bit() {
    for (is_sparse, likelihood) in
        [(false, Likelihood::Auto), (false, Likelihood::Gaussian), (true, Likelihood::Auto)]
    {
        let (data, first) = growing(is_sparse);
        let all: Vec<usize> = (0..300).collect();
        let learner = NaiveBayes { preparation: Preparation::none(), likelihood, updatable: true };
        let at_once = learner.fit(&Prepared::as_is(&data), &all, Seed::new(1)).unwrap();
        let model = learner.fit(&Prepared::as_is(&first), &all[..200], Seed::new(1)).unwrap();
        let more = part(&data, 200..300);
        let rows: Arc<[usize]> = (0..100).collect();
        let name = if likelihood == Likelihood::Gaussian { "gaussian" } else { "auto" };
        let chain = LabelChain::new("br-nb").unwrap().set("likelihood", name).unwrap();
        let further = FurtherRows {
            data: &more,
            rows: &rows,
            views: &vec![LabelView { rows: rows.clone(), features: [].into() }; 4],
            rows_before: &[(0..200).collect()],
            n_before: 200,
            settings: chain.settings(),
            seed: Seed::new(1),
            cancel: &Cancel::default(),
        };
        let updated = ChainModel::updated(&model, &further).unwrap();
        let block = Block::of(data.features(), &all);
        let order = Order::new([3, 1, 0, 2].map(LabelId).into(), 4).unwrap();
        let terms = |model: &dyn AnyOrderModel| {
            let terms = model.attributions(&block).into_iter();
            let terms: Vec<_> = terms.map(|of| (of.base_values, of.contributions)).collect();
            (terms, model.decisions(&block, Route::Fixed(&order)))
        };
        assert!(terms(&updated) == terms(&at_once), "{is_sparse} {likelihood:?}");
        assert!(updated.views() == at_once.views());
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
        ("ecc-knn", "cannot learn from further rows"),
        ("ecc-j48", "cannot learn from further rows"),
        ("dynamic-forest", "validation rows"),
        ("oocc-forest", "certain-forest and br-forest can be updated"),
    ] {
        let model = LabelChain::new(method).unwrap().fit(&data).unwrap();
        let text = refused(&model, &data);
        assert!(text.contains(part) && text.contains("train again"), "{text}");
    }
    let bounded = |model: &Model, max_trees| {
        let how = Update { max_trees: Some(max_trees), ..Update::default() };
        model.update(&data, "new.csv".as_ref(), how).unwrap_err()
    };
    let is_unused =
        |error| matches!(error, Error::UnusedSetting { name, .. } if name == "max-trees");
    assert!(is_unused(bounded(&chain("ecc-nb").fit(&data).unwrap(), 10)));
    let forest = forest("br-forest").fit(&data).unwrap();
    assert!(matches!(bounded(&forest, 0), Error::Value { name, .. } if name == "max-trees"));
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
    let ignore =
        Update { new_labels: Unknown::Ignore, new_values: Unknown::Ignore, ..Update::default() };
    let (updated, notes) = model.update(&other, "new".as_ref(), ignore).unwrap();
    let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["new-labels", "unseen-values"]);
    assert_eq!(updated.label_names(), model.label_names());
}

/// Whether a label and a value come with the new rows, or had always been there and no row had had them.
#[test]
fn a_new_label_of_a_forest_is_one_that_no_row_before_had() {
    let (data, first) = growing(false);
    let more = part(&data, 200..300);
    let shares = |model: &Model| model.predict(&data.unlabelled()).unwrap().shares;
    let (added, _) =
        forest("br-forest").fit(&first).unwrap().update(&more, "new".as_ref(), ADD).unwrap();
    let always = update(&forest("br-forest").fit(&part(&data, 0..200)).unwrap(), &more);
    assert_eq!(shares(&added), shares(&always));
}

const ADD: Update = Update { new_labels: Unknown::Add, new_values: Unknown::Add, max_trees: None };

#[test]
fn new_labels_and_values_are_added_if_asked_for() {
    let (data, first) = growing(false);
    let more = part(&data, 200..300);
    for method in ["br-nb", "certain-nb", "ecc-nb"] {
        let model = all_rows(method).fit(&first).unwrap();
        let (updated, notes) = model.update(&more, "new".as_ref(), ADD).unwrap();
        let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["new-labels", "new-values"], "{method}");
        assert_eq!(updated.label_names(), data.label_names());
        assert_eq!(updated.attributes(), data.attributes());
        let loaded = Model::from_bytes(&updated.to_bytes().unwrap()).unwrap();
        let answers = |model: &Model| model.predict(&data.unlabelled()).unwrap().shares;
        assert_eq!(answers(&loaded), answers(&updated));
        match updated.members()[0].order() {
            // Training at once would draw the orders of four labels; here the new one comes last.
            Some(order) => {
                let old = model.members()[0].order().unwrap();
                assert!(order.iter().eq(old.iter().chain([LabelId(3)])), "{method}");
            }
            None => {
                let at_once = all_rows(method).fit(&data).unwrap();
                assert_eq!(answers(&updated), answers(&at_once), "{method}");
            }
        }
        // Rows without anything new can follow.
        let (again, notes) = updated.update(&more, "new".as_ref(), Update::default()).unwrap();
        assert!(notes.is_empty() && again.n_rows() == 400);
    }
}

/// 200 rows before and few new ones of the label: beyond 5 irrelevant rows for each relevant one, the
/// rows before are left out.
#[test]
fn a_new_label_that_is_rare_leaves_the_rows_before_out() {
    let (data, first) = growing(false);
    let model = all_rows("certain-nb").set("max-imbalance", "5").unwrap().fit(&first).unwrap();
    let rows_of = |new: &Dataset| {
        let (updated, _) = model.update(new, "new".as_ref(), ADD).unwrap();
        updated.members()[0].model().views()[3].rows.to_vec()
    };
    let n_relevant = part(&data, 200..300).labels().counts()[3];
    assert!((5..20).contains(&n_relevant), "{n_relevant}");
    let rows = rows_of(&part(&data, 200..300));
    assert!(rows.iter().all(|&row| row >= 200));
    assert_eq!(rows.len(), 100.min(6 * n_relevant));
    let mut labels = part(&data, 200..300).labels().clone();
    (0..100).for_each(|row| labels.set(row, LabelId(3), true));
    let frequent = part(&data, 200..300).relabelled(data.label_names().to_vec(), labels).unwrap();
    assert_eq!(rows_of(&frequent).len(), 300);
}

#[test]
fn a_forest_has_new_labels_and_values_in_its_new_trees() {
    let (data, first) = growing(false);
    let more = part(&data, 200..300);
    for method in ["br-forest", "ecc-forest", "certain-forest"] {
        let model = forest(method).fit(&first).unwrap();
        let (updated, notes) = model.update(&more, "new".as_ref(), ADD).unwrap();
        assert!(notes.iter().any(|note| note.text.contains("not calibrated")), "{notes:?}");
        let updated = Model::from_bytes(&updated.to_bytes().unwrap()).unwrap();
        assert_eq!(updated.label_names(), data.label_names());
        let probability = |row: usize| {
            let rows = data.select(&[row]).unlabelled();
            updated.predict(&rows).unwrap().probability(0, "d").unwrap()
        };
        let mean = |rows: Vec<usize>| {
            let n = rows.len() as f64;
            rows.into_iter().map(probability).sum::<f64>() / n
        };
        let (with, without): (Vec<usize>, Vec<usize>) =
            (200..300).partition(|&row| data.labels().get(row, LabelId(3)));
        let (with, without) = (mean(with), mean(without));
        assert!(with > 2.0 * without, "{method}: {with} {without}");
        for explanation in updated.explain(&more.unlabelled()).unwrap() {
            for neighbour in &explanation.neighbours {
                let labels = data.labels().relevant(neighbour.row);
                assert!(labels.eq(neighbour.labels.iter().copied()));
            }
        }
        // All aims have an answer for the label, too.
        for aim in ["macro-f1", "micro-f1", "precision=0.9", "recall=0.9", "example-f1", "zero-one"]
        {
            let rows = updated.align(&more.unlabelled(), "new".as_ref()).unwrap();
            assert_eq!(rows.with_aim(aim.parse().unwrap()).predict().unwrap().n_rows(), 100);
        }
    }
}

fn forest(method: &str) -> LabelChain<'static> {
    LabelChain::new(method).unwrap().set("trees", 20).unwrap()
}

/// The share of labels of some rows that a model has wrong.
fn hamming(model: &Model, data: &Dataset) -> f64 {
    let answers = model.predict(&data.unlabelled()).unwrap().labels;
    let losses = Losses::between(data.labels(), &answers, Undefined::default()).unwrap();
    losses.iter().next().unwrap().1.unwrap()
}

#[test]
fn a_forest_is_the_same_for_any_number_of_threads_and_after_saving() {
    let data = network(300);
    for method in ["br-forest", "ecc-forest", "certain-forest"] {
        let first = forest(method).fit(&part(&data, 0..200)).unwrap();
        let more = part(&data, 200..300);
        let with = |n| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            threads.install(|| update(&first, &more).to_bytes().unwrap())
        };
        let bytes = with(1);
        assert!(bytes == with(2) && bytes == with(7), "{method}");
        let loaded = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
        assert!(update(&loaded, &more).to_bytes().unwrap() == bytes, "{method}");
        let updated = Model::from_bytes(&bytes).unwrap();
        assert!(updated.to_bytes().unwrap() == bytes, "{method}");
        // Members that shared their model still do.
        let model = updated.members()[0].model();
        assert!(updated.members().iter().all(|member| std::ptr::addr_eq(member.model(), model)));
        assert!(updated.members().iter().all(|member| member.fitting.len() == 300));
        assert!(updated.out_of_bag().is_none() && updated.calibration() == first.calibration());
        assert_eq!(updated.tuned(), first.tuned());
    }
}

/// Other rows of the same inputs, whose labels mean something else from some day on.
#[test]
fn a_forest_follows_rows_whose_labels_have_changed() {
    let (before, after) = (network(400), {
        let data = network(1000);
        let mut labels = LabelMatrix::empty(1000, 5);
        for row in 0..1000 {
            let moved = |label: LabelId| LabelId((label.0 + 1) % 5);
            data.labels().relevant(row).for_each(|label| labels.set(row, moved(label), true));
        }
        data.clone().relabelled(data.label_names().to_vec(), labels).unwrap()
    });
    let (new, test) = (part(&after, 400..800), part(&after, 800..1000));
    let mut model = forest("certain-forest").fit(&before).unwrap();
    let first = hamming(&model, &test);
    let mut losses = vec![first];
    for span in [0..200, 200..300, 300..400] {
        model = update(&model, &part(&new, span));
        losses.push(hamming(&model, &test));
    }
    let (half, last) = (losses[1], losses[3]);
    assert!(half < first && last < half, "{losses:?}");
    // A bound of one tree keeps that of the new rows alone.
    let old = forest("certain-forest").fit(&before).unwrap();
    let how = Update { max_trees: Some(1), ..Update::default() };
    let (one, _) = old.update(&new, "new".as_ref(), how).unwrap();
    let rows = part(&after, 800..805).unlabelled();
    for explanation in one.explain(&rows).unwrap() {
        assert!(explanation.neighbours.iter().all(|neighbour| neighbour.row >= 400));
    }
}

#[test]
fn an_updated_forest_predicts_and_explains_from_a_file() {
    let data = network(300);
    let first = forest("certain-forest").fit(&part(&data, 0..200)).unwrap();
    let more = part(&data, 200..300);
    let (updated, notes) = first.update(&more, "new".as_ref(), Update::default()).unwrap();
    let codes: Vec<&str> = notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["estimate-dropped", "calibration-kept"]);
    let loaded = Model::from_bytes(&updated.to_bytes().unwrap()).unwrap();
    let answers = |model: &Model| {
        let free = model.predict(&data.unlabelled()).unwrap();
        // The first label of every row is known, and stays.
        let mut known = LabelMatrix::unknown(300, 5);
        (0..300).for_each(|row| known.set(row, LabelId(0), data.labels().get(row, LabelId(0))));
        let given = data.clone().relabelled(data.label_names().to_vec(), known).unwrap();
        (free.shares, model.predict_known(&given).unwrap().shares)
    };
    assert_eq!(answers(&loaded), answers(&updated));
    assert_ne!(answers(&updated).0, answers(&updated).1);
    assert_eq!(loaded.importance(), updated.importance());
    // New rows are counted on from the old ones, and have their own labels.
    let explained = loaded.explain(&more.unlabelled()).unwrap();
    let mut n_new = 0;
    for explanation in &explained {
        let sum: f64 = explanation.neighbours.iter().map(|neighbour| neighbour.weight).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        for neighbour in &explanation.neighbours {
            n_new += usize::from(neighbour.row >= 200);
            assert!(data.labels().relevant(neighbour.row).eq(neighbour.labels.iter().copied()));
        }
    }
    assert!(n_new > 0);
    // Labels of new rows may be unknown, as in training.
    let mut labels = more.labels().clone();
    (0..100).step_by(4).for_each(|row| labels.forget(row, LabelId(row % 5)));
    let unknown = more.clone().relabelled(more.label_names().to_vec(), labels).unwrap();
    let updated = Model::from_bytes(&update(&first, &unknown).to_bytes().unwrap()).unwrap();
    assert_eq!(updated.predict(&data.unlabelled()).unwrap().n_rows(), 300);
}
