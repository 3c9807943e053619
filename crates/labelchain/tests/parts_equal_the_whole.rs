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

#[test]
fn every_forest_is_its_parts() {
    let rows = rows(1);
    let mut n_methods = 0;
    for method in Method::all().map(|method| method.to_string()) {
        let Some(7) =
            LabelChain::new(&method).unwrap().set("trees", 7).ok().and_then(|of| of.n_parts())
        else {
            assert_eq!(LabelChain::new(&method).unwrap().n_parts(), None, "{method}");
            continue;
        };
        n_methods += 1;
        for split_features in ["sqrt", "auto"] {
            let chain = forest(&method).set("split-features", split_features).unwrap();
            let whole = chain.fit(&rows).unwrap().to_bytes().unwrap();
            for cuts in [&[0, 7][..], &[0, 3, 7], &[0, 1, 2, 3, 4, 5, 6, 7]] {
                let part = |cut: &[usize]| chain.fit_parts(&rows, cut[0]..cut[1]).unwrap();
                let parts: Vec<Vec<u8>> = cuts.windows(2).map(part).collect();
                let joined = chain.fit_joining(&rows, &parts).unwrap();
                assert!(joined.to_bytes().unwrap() == whole, "{method} {cuts:?}");
            }
        }
    }
    assert!(n_methods > 1);
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
    assert!(refused(&data, &LabelChain::new("ecc-nb").unwrap(), &[&first]).contains("ecc-nb"));
    for (first, end) in [(0, 0), (3, 8), (5, 2)] {
        assert!(chain.fit_parts(&data, first..end).is_err());
    }
    assert!(LabelChain::new("ecc-nb").unwrap().fit_parts(&data, 0..1).is_err());

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
