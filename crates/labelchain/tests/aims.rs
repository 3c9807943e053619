//! Answers for the loss one cares about: from one trained model, without training again.
#![allow(clippy::unwrap_used)]

use std::num::NonZeroUsize;

use labelchain::data::split::folds;
use labelchain::data::{Dataset, LabelNetwork};
use labelchain::decide::Aim;
use labelchain::experiment::{CrossValidation, Evaluation};
use labelchain::loss::{Averaging, Criterion, Rate};
use labelchain::{LabelChain, Method, Model, RunOptions, Seed};

fn network(n_rows: usize) -> Dataset {
    let network = LabelNetwork { n_rows, n_labels: 6, ..LabelNetwork::default() };
    network.generate("network", Seed::new(3)).unwrap()
}

fn evaluated(data: &Dataset, methods: &[&str], probabilities: bool) -> Vec<Evaluation> {
    let methods: Vec<Method> = methods.iter().map(|method| method.parse().unwrap()).collect();
    let folds = folds(data.n_rows(), 3, Seed::new(1)).unwrap();
    let validation = CrossValidation::new(&methods, &folds, Seed::new(1));
    CrossValidation { probabilities, ..validation }.run(data).unwrap()
}

/// By every base. A vote is the same whether or not anything else is asked for.
#[test]
fn every_method_gives_probabilities_and_the_same_votes_with_or_without_them() {
    let data = network(150);
    for method in Method::all() {
        let name = method.to_string();
        let with = evaluated(&data, &[&name], true).remove(0);
        let without = evaluated(&data, &[&name], false).remove(0);
        assert_eq!(with.answers, without.answers, "{name}");
        assert!(without.probabilities.is_none());
        let probabilities = with.probabilities.unwrap();
        assert_eq!(probabilities.len(), 150 * 6);
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{name}");
        // More than two levels: they are no votes of one member.
        let mut levels = probabilities.clone();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        assert!(levels.len() > 20, "{name}: {}", levels.len());
    }
}

/// Aims are asked together or alone, and through a model: it makes no difference.
#[test]
fn an_aim_answers_the_same_alone_and_beside_others() {
    let data = network(200);
    let aims = ["votes", "hamming", "zero-one", "example-f1", "macro-f1", "micro-f1", "top=2"];
    let names: Vec<String> = aims.iter().map(|aim| format!("ecc-nb@{aim}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let together = evaluated(&data, &names, false);
    for (evaluation, name) in together.iter().zip(&names) {
        assert_eq!(evaluation.name, *name);
        assert_eq!(evaluation.answers, evaluated(&data, &[name], true)[0].answers, "{name}");
    }
    assert!(together.windows(2).all(|pair| pair[0].answers != pair[1].answers));

    let model = LabelChain::new("ecc-nb").unwrap().fit(&data).unwrap();
    let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let typed = LabelChain::new("ecc-nb@top=2").unwrap().fit(&data).unwrap();
    let labels = |model: &Model| model.predict(&data).unwrap().labels;
    assert_eq!(
        labels(&model.clone().with_aim(Aim::Top(NonZeroUsize::new(2).unwrap()))),
        labels(&typed)
    );
    assert!((0..200).all(|row| labels(&typed).relevant(row).count() == 2));
    assert_eq!(typed.method().to_string(), "ecc-nb@top=2");
}

/// Votes are made for Hamming loss, in effect; an F1 is what they leave to be gained.
#[test]
fn each_f1_gains_by_an_aim_of_its_own() {
    let data = network(900);
    let f1 = |averaging| Criterion::Of(averaging, Rate::F1);
    for (aim, criterion) in [
        ("macro-f1", f1(Averaging::Macro)),
        ("micro-f1", f1(Averaging::Micro)),
        ("example-f1", f1(Averaging::Example)),
    ] {
        let name = format!("ecc-nb@{aim}");
        let both = evaluated(&data, &["ecc-nb", &name], false);
        let loss = |at: usize| both[at].losses().get(criterion).unwrap();
        assert!(loss(1) < loss(0), "{aim}: {} by votes, {}", loss(0), loss(1));
    }
}

/// Nine in ten of what is given are right, on rows that were not seen; votes do not reach it.
#[test]
fn a_precision_that_was_asked_for_is_reached() {
    let data = network(1500);
    let both = evaluated(&data, &["ecc-nb", "ecc-nb@precision=0.9"], false);
    let share_right = |at: usize| {
        let (mut n_given, mut n_right) = (0.0, 0.0);
        for row in 0..data.n_rows() {
            for label in both[at].answers.relevant(row) {
                n_given += 1.0;
                n_right += f64::from(u8::from(data.labels().get(row, label)));
            }
        }
        assert!(n_given > 100.0, "{n_given}");
        n_right / n_given
    };
    assert!(share_right(1) > 0.88, "{}", share_right(1));
    assert!(share_right(0) < 0.88, "{}", share_right(0));
}

#[test]
fn calibration_makes_probabilities_truer() {
    let data = network(900);
    let calibrated = evaluated(&data, &["ecc-nb"], true).remove(0);
    let folds = folds(900, 3, Seed::new(1)).unwrap();
    let pooled = calibrated.pooled(data.labels(), &folds).unwrap();
    let (_, calibration) = pooled.of_probabilities.unwrap();
    assert!(calibration.ece.unwrap() < 0.03, "{:?}", calibration.ece);
}

#[test]
fn where_every_member_has_seen_every_row_thresholds_are_refused_with_the_remedy() {
    let data = network(120);
    let chain = |method: &str| {
        let chain = LabelChain::new(method).unwrap().set("sample", 1).unwrap();
        chain.set("fit-share", 1).unwrap().set("members", 3).unwrap()
    };
    let fit = |method: &str| chain(method).fit(&data).unwrap();
    let model = fit("ecc-nb");
    assert!(model.calibration().is_none());
    // Probabilities are those of the members, and need no threshold that is learned.
    assert!(model.predict(&data).unwrap().probabilities.is_some());
    assert!(model.clone().with_aim(Aim::ZeroOne).predict(&data).is_ok());
    let error = model.with_aim(Aim::MacroF1).predict(&data).unwrap_err();
    assert!(error.to_string().starts_with("the aim macro-f1 cannot be had"), "{error}");
    assert!(error.remedy().is_some());
    // Margins are no probabilities.
    let machines = fit("ecc-svm");
    assert!(machines.predict(&data).unwrap().probabilities.is_none());
    assert!(machines.with_aim(Aim::Hamming).predict(&data).is_err());
    // A model that could not answer as it is asked to is not made.
    for method in ["ecc-nb@macro-f1", "br-nb@precision=0.9", "ecc-svm@top=1", "br-svm@hamming"] {
        let error = chain(method).fit(&data).err().unwrap().to_string();
        let aim = method.split('@').nth(1).unwrap();
        assert!(error.starts_with(&format!("the aim {aim}")), "{error}");
    }
    assert!(chain("ecc-nb@top=1").fit(&data).is_ok());
    assert!(LabelChain::new("ecc-svm@top=1").unwrap().fit(&data).is_ok());
}

/// A label that occurs once cannot reach a precision with confidence, and is never given.
#[test]
fn a_label_that_cannot_reach_the_precision_is_never_given() {
    let cells: Vec<f64> = (0..120).map(|row| f64::from(row % 10)).collect();
    let labels: Vec<bool> = (0..120).flat_map(|row| [row % 10 > 4, row == 7]).collect();
    let data = Dataset::from_rows(1, &cells).unwrap();
    let data = data.with_label_indicators(&["often", "once"], &labels).unwrap();
    let model = LabelChain::new("ecc-knn@precision=0.8").unwrap().fit(&data).unwrap();
    let thresholds =
        model.calibration().unwrap().thresholds("precision=0.8".parse().unwrap()).unwrap();
    assert!(thresholds[0].is_some() && thresholds[1].is_none());
    let prediction = model.predict(&data).unwrap();
    let n_given = |name: &str| {
        (0..120).filter(|&row| prediction.relevant(row).any(|label| label == name)).count()
    };
    assert_eq!((n_given("often"), n_given("once")), (60, 0));
    assert_eq!(prediction.ranking(9)[0].0, "often");
}

/// What is kept of all folds counts towards the memory that there is, before anything is trained.
#[test]
fn answers_and_probabilities_that_are_kept_are_charged() {
    let data = network(300);
    let methods: Vec<Method> = vec!["br-nb".parse().unwrap(); 50];
    let folds = folds(data.n_rows(), 3, Seed::new(1)).unwrap();
    let run = |max_memory: u64, probabilities: bool| {
        let options = RunOptions { max_memory, ..RunOptions::default() };
        let validation = CrossValidation::new(&methods, &folds, Seed::new(1));
        CrossValidation { probabilities, options, ..validation }.run(&data).map(|_| ())
    };
    // 52 tables of 300 rows, each with 8 bytes of answers and 6 x 8 of probabilities.
    let kept = 52 * 300 * (8 + 48);
    let error = run(kept - 1, true).unwrap_err().to_string();
    let words = "keeping the answers and probabilities of 50 methods for 300 rows and 6 labels";
    assert!(error.contains(words), "{error}");
    // With enough for the training beside it, there is room.
    assert!(run(1 << 30, true).is_ok());
    let error = run(52 * 300 * 8 - 1, false).unwrap_err().to_string();
    assert!(error.contains("keeping the answers of 50 methods"), "{error}");
}
