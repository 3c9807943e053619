//! A model whose parts are trained one by one, as several processes do, has the bytes of one that is trained
//! at once; and what are not its parts is refused.

#![allow(clippy::unwrap_used)]

use labelchain::data::LabelNetwork;
use labelchain::seed::Seed;
use labelchain::{Dataset, LabelChain, Method};

fn rows(seed: u64) -> Dataset {
    let network = LabelNetwork { n_rows: 80, ..LabelNetwork::default() };
    network.generate("rows", Seed::new(seed)).unwrap()
}

fn forest(method: &str) -> LabelChain<'static> {
    LabelChain::new(method).unwrap().set("trees", 7).unwrap().seed(3)
}

/// Trains a model at once and in parts that are cut in several ways.
fn assert_parts_equal_the_whole(chain: &LabelChain, rows: &Dataset, cuts: &[&[usize]]) {
    let whole = chain.fit(rows).unwrap().to_bytes().unwrap();
    for cuts in cuts {
        let part = |cut: &[usize]| chain.fit_parts(rows, cut[0]..cut[1]).unwrap();
        let parts: Vec<Vec<u8>> = cuts.windows(2).map(part).collect();
        let joined = chain.fit_joining(rows, &parts).unwrap();
        assert!(joined.to_bytes().unwrap() == whole, "{chain:?} {cuts:?}");
    }
}

#[test]
fn every_forest_is_its_trees() {
    let rows = rows(1);
    let methods = Method::all().filter(|method| method.uses("trees"));
    let methods: Vec<String> = methods.map(|method| method.to_string()).collect();
    assert!(methods.len() > 1);
    for method in methods {
        for split_features in ["sqrt", "auto"] {
            let chain = forest(&method).set("split-features", split_features).unwrap();
            assert_eq!(chain.n_parts(), Some(7));
            let cuts = [&[0, 7][..], &[0, 3, 7], &[0, 1, 2, 3, 4, 5, 6, 7]];
            assert_parts_equal_the_whole(&chain, &rows, &cuts);
        }
    }
}

/// Among them trees and support vector machines, which are trained for an order, and nearest neighbours and
/// support vector machines, of which something is left to the data.
#[test]
fn every_ensemble_is_its_members_where_nothing_is_chosen_on_validation_rows() {
    let rows = rows(1);
    let mut with_parts = Vec::new();
    for method in Method::all().filter(|method| !method.uses("trees")) {
        let chain = LabelChain::new(&method.to_string()).unwrap().set("members", 4).unwrap();
        let chain = chain.seed(3);
        match chain.n_parts() {
            None => assert!(chain.fit_parts(&rows, 0..1).is_err(), "{method}"),
            Some(n_parts) => {
                assert_eq!(n_parts, 4);
                assert_parts_equal_the_whole(
                    &chain,
                    &rows,
                    &[&[0, 4], &[0, 1, 4], &[0, 1, 2, 3, 4]],
                );
                with_parts.push(method.to_string());
            }
        }
    }
    with_parts.sort_unstable();
    let expected = [
        "br-j48",
        "br-knn",
        "br-nb",
        "br-svm",
        "certain-knn",
        "certain-nb",
        "ecc-j48",
        "ecc-knn",
        "ecc-nb",
        "ecc-svm",
    ];
    assert_eq!(with_parts, expected);
    let ordered = LabelChain::new("ecc-j48").unwrap().set("members", 2).unwrap();
    let ordered = ordered.set("order", "natural").unwrap().set("select", "none").unwrap();
    assert_parts_equal_the_whole(&ordered, &rows, &[&[0, 1, 2]]);
}

#[test]
fn members_of_other_rows_settings_or_seeds_are_refused() {
    let data = rows(1);
    let chain = |method: &str| LabelChain::new(method).unwrap().set("members", 3).unwrap();
    for method in ["ecc-j48", "ecc-knn"] {
        let members = chain(method);
        let part = |from, to| members.fit_parts(&data, from..to).unwrap();
        let (first, second) = (part(0, 2), part(2, 3));
        let refused = |data: &Dataset, chain: &LabelChain, parts: &[&Vec<u8>]| {
            let parts: Vec<Vec<u8>> = parts.iter().map(|&part| part.clone()).collect();
            chain.fit_joining(data, &parts).unwrap_err().to_string()
        };
        assert!(refused(&data, &members, &[]).contains(&format!("0 of {method}")));
        assert!(refused(&data, &members, &[&first]).contains("2 members of 3"));
        assert!(refused(&data, &members, &[&second, &first]).contains("in another order"));
        assert!(refused(&data, &members, &[&first, &first]).contains("in another order"));
        assert!(refused(&rows(2), &members, &[&first, &second]).contains("other rows"));
        let seeded = members.clone().seed(4);
        assert!(refused(&data, &seeded, &[&first, &second]).contains("another seed"));
        let set = members.clone().set("max-imbalance", 3).unwrap();
        assert!(refused(&data, &set, &[&first, &second]).contains("other settings"));
        let independent = chain(&method.replace("ecc", "br"));
        assert!(refused(&data, &independent, &[&first, &second]).contains("other settings"));
        for (from, to) in [(0, 0), (2, 4), (2, 1)] {
            assert!(members.fit_parts(&data, from..to).is_err());
        }

        // Any damage is refused, or makes another model; nothing panics.
        for length in (0..first.len()).step_by(97) {
            let cut = first[..length].to_vec();
            assert!(refused(&data, &members, &[&cut, &second]).contains("damaged"));
        }
        for at in (0..first.len()).step_by(41) {
            let mut damaged = first.clone();
            damaged[at] ^= 0x90;
            let _ = members.fit_joining(&data, &[damaged, second.clone()]);
        }
    }
}

#[test]
fn what_are_not_all_parts_in_order_is_refused() {
    let (data, chain) = (rows(1), forest("certain-forest"));
    let (first, second) =
        (chain.fit_parts(&data, 0..4).unwrap(), chain.fit_parts(&data, 4..7).unwrap());
    let refused = |data: &Dataset, chain: &LabelChain, parts: &[&Vec<u8>]| {
        let parts: Vec<Vec<u8>> = parts.iter().map(|&part| part.clone()).collect();
        chain.fit_joining(data, &parts).unwrap_err().to_string()
    };
    assert!(refused(&data, &chain, &[]).contains("0 of certain-forest"));
    assert!(refused(&data, &chain, &[&first]).contains("4 trees of 7"));
    assert!(refused(&data, &chain, &[&second, &first]).contains("in another order"));
    assert!(refused(&rows(2), &chain, &[&first, &second]).contains("other rows"));
    let of_others = chain.fit_parts(&rows(2), 4..7).unwrap();
    assert!(refused(&data, &chain, &[&first, &of_others]).contains("other rows"));
    assert!(refused(&data, &chain.clone().seed(4), &[&first, &second]).contains("other rows"));
    let auto = chain.clone().set("split-features", "auto").unwrap();
    assert!(refused(&data, &auto, &[&first, &second]).contains("other settings"));
    assert!(
        refused(&data, &LabelChain::new("dynamic-nb").unwrap(), &[&first]).contains("dynamic-nb")
    );
    for (first, end) in [(0, 0), (3, 8), (5, 2)] {
        assert!(chain.fit_parts(&data, first..end).is_err());
    }

    // Any damage is refused, or makes another model; nothing panics.
    for length in (0..first.len()).step_by(97) {
        assert!(refused(&data, &chain, &[&first[..length].to_vec(), &second]).contains("damaged"));
    }
    for at in (0..first.len()).step_by(13) {
        let mut damaged = first.clone();
        damaged[at] ^= 0x90;
        let _ = chain.fit_joining(&data, &[damaged, second.clone()]);
    }
}
