//! Settings for what the paper leaves open: what exactly half of the members decides, on which rows a
//! genetic search compares votes, and what the grid of the SVM maximizes. All that a setting is meant
//! for follows it.
#![allow(clippy::unwrap_used)]

use labelchain::data::LabelId;
use labelchain::{Dataset, LabelChain, Model};

/// Labels that two members often disagree on.
fn noisy() -> Dataset {
    let digit = |n: u64| (n.wrapping_mul(6_364_136_223_846_793_005) >> 40) % 10;
    let inputs: Vec<f64> = (0..240).map(|at| digit(at) as f64).collect();
    let labels: Vec<bool> = (0..240).map(|at| digit(at) + digit(at + 900) > 9).collect();
    let data = Dataset::from_rows(2, &inputs).unwrap();
    data.with_label_indicators(&["a", "b"], &labels).unwrap()
}

fn model(ties: &str) -> Model {
    let chain = LabelChain::new("ecc-nb").unwrap().set("members", 2).unwrap();
    chain.set("vote-ties", ties).unwrap().fit(&noisy()).unwrap()
}

#[test]
fn a_tie_is_what_the_setting_says_in_predictions_explanations_and_saved_models() {
    let data = noisy();
    for (ties, is_relevant) in [("irrelevant", false), ("relevant", true)] {
        let model = model(ties);
        let restored = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        for model in [&model, &restored] {
            let prediction = model.predict(&data).unwrap();
            let explained = model.explain(&data).unwrap();
            let mut n_ties = 0;
            for (row, explained) in explained.iter().enumerate() {
                for (at, name) in ["a", "b"].into_iter().enumerate() {
                    let share = prediction.share(row, name).unwrap();
                    let expected = if share == 0.5 { is_relevant } else { share > 0.5 };
                    n_ties += usize::from(share == 0.5);
                    assert_eq!(prediction.labels.get(row, LabelId(at)), expected);
                    assert_eq!(explained.relevant[at], expected);
                }
            }
            assert!(n_ties > 5, "{n_ties}");
        }
    }
}

#[test]
fn a_search_without_held_out_rows_needs_no_share_of_them() {
    let fit = |search_rows: &str| {
        let chain = LabelChain::new("ga-nb").unwrap().set("members", 3).unwrap();
        let chain = chain.set("generations", 5).unwrap().set("fit-share", 1).unwrap();
        chain.set("search-rows", search_rows).unwrap().fit(&noisy())
    };
    let message = fit("held-out").unwrap_err().to_string();
    assert!(message.contains("fit-share is 1"), "{message}");
    assert!(message.contains("search-rows is out-of-bag or training"), "{message}");
    for search_rows in ["out-of-bag", "training"] {
        let model = fit(search_rows).unwrap();
        // 66 % of 120 rows.
        assert!(model.members().iter().all(|member| member.fitting.len() == 79));
    }
}

#[test]
fn out_of_bag_rows_are_refused_where_every_candidate_draws_all() {
    let chain = LabelChain::new("ga-br-nb").unwrap().set("sample", 1).unwrap();
    let message = chain.set("search-rows", "out-of-bag").unwrap().fit(&noisy()).unwrap_err();
    assert!(message.to_string().starts_with("sample is 1"), "{message}");
}

/// With two members that often disagree, the rule for ties changes the vote, and with it the loss by which
/// R is tuned and the one that a search minimizes.
#[test]
fn tuning_and_search_follow_the_rule_for_ties() {
    let fit = |method: &str, seed: u64, ties: &str| {
        let chain = LabelChain::new(method).unwrap().set("members", 2).unwrap();
        chain.seed(seed).set("vote-ties", ties).unwrap().fit(&noisy()).unwrap()
    };
    let rules = ["irrelevant", "relevant"];
    let differs = |differs: &dyn Fn(u64) -> bool| (0..8).any(differs);
    assert!(differs(&|seed| {
        let [one, other] = rules.map(|ties| fit("br-knn", seed, ties).tuned().to_vec());
        one != other
    }));
    assert!(differs(&|seed| {
        let [one, other] = rules.map(|ties| {
            let model = fit("ga-nb", seed, ties);
            model.members().iter().map(|member| member.candidate).collect::<Vec<_>>()
        });
        one != other
    }));
    assert!(differs(&|seed| {
        let [one, other] = rules.map(|ties| fit("dynamic-nb", seed, ties).tuned().to_vec());
        one != other
    }));
}

#[test]
fn the_grid_follows_its_criterion() {
    // A label that every second row has below 30, and every ninth above: accuracy is greatest where it is
    // never predicted, and F1 is not.
    let input = |at: u32| at * 37 % 101;
    let inputs: Vec<f64> = (0..240).map(|at| f64::from(input(at))).collect();
    let rare = |at: u32| at.is_multiple_of(if input(at) < 30 { 2 } else { 9 });
    let rare: Vec<bool> = (0..240).map(rare).collect();
    let data = Dataset::from_rows(1, &inputs).unwrap();
    let data = data.with_label_indicators(&["rare"], &rare).unwrap();
    let tuned = |criterion: &str| {
        let chain = LabelChain::new("br-svm").unwrap().set("members", 2).unwrap();
        let chain = chain.set("select", "none").unwrap().set("grid-criterion", criterion).unwrap();
        chain.fit(&data).unwrap().tuned().to_vec()
    };
    assert_ne!(tuned("accuracy"), tuned("macro-f1"));
}
