//! A forest whose trees have seen one block of the rows each says which, and is refused unless blocks follow each other.

#![allow(clippy::unwrap_used)]

use labelchain::data::LabelNetwork;
use labelchain::seed::Seed;
use labelchain::{Dataset, LabelChain, Model};

fn rows() -> Dataset {
    let network = LabelNetwork { n_rows: 200, ..LabelNetwork::default() };
    network.generate("rows", Seed::new(1)).unwrap()
}

fn block(from: usize, to: usize) -> Dataset {
    rows().select(&(from..to).collect::<Vec<_>>())
}

fn forest(method: &str, n_rows: usize) -> Model {
    LabelChain::new(method).unwrap().set("trees", 12).unwrap().fit(&block(0, n_rows)).unwrap()
}

#[test]
fn trees_say_which_rows_they_drew_from() {
    for method in ["certain-forest", "ecc-forest", "br-forest"] {
        let first = forest(method, 100);
        assert_eq!(first.tree_rows().unwrap().len(), 1);
        let grown = [
            first.grow_trees(&block(100, 160), 100, 4).unwrap(),
            first.grow_trees(&block(160, 200), 160, 2).unwrap(),
        ];
        let joined = first.clone().with_trees(6, &grown).unwrap();
        assert_eq!(joined.n_rows(), 200);
        let found: Vec<usize> = joined.tree_rows().unwrap().iter().map(|of| of.n_trees).collect();
        assert_eq!(found, [6, 4, 2]);
        for (of, (from, to)) in
            joined.tree_rows().unwrap().iter().zip([(0, 100), (100, 160), (160, 200)])
        {
            assert!(from <= of.first && of.first < of.last && of.last < to, "{of:?}");
        }
        // It does not matter in which order they are grown, and a file keeps all of it.
        let again = first.grow_trees(&block(160, 200), 160, 2).unwrap();
        let again = first.clone().with_trees(6, &[grown[0].clone(), again]).unwrap();
        let bytes = joined.to_bytes().unwrap();
        assert!(again.to_bytes().unwrap() == bytes);
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.tree_rows().unwrap(), joined.tree_rows().unwrap());
        // What rests on rows that trees have not seen is not known of all rows.
        assert!(first.out_of_bag().is_some() && joined.out_of_bag().is_none());
        assert_eq!(joined.tuned_value("trust"), first.tuned_value("trust"));
        assert!(joined.calibration() == first.calibration());
    }
}

#[test]
fn what_does_not_follow_is_refused() {
    let first = forest("certain-forest", 100);
    let grown = first.grow_trees(&block(100, 160), 100, 4).unwrap();
    let later = first.grow_trees(&block(160, 200), 160, 2).unwrap();
    let refused = |n_kept, grown: &[&Vec<u8>]| {
        let grown: Vec<Vec<u8>> = grown.iter().map(|&of| of.clone()).collect();
        first.clone().with_trees(n_kept, &grown).unwrap_err().to_string()
    };
    assert!(refused(6, &[&later, &grown]).contains("rows from 160 on after 100"));
    assert!(refused(6, &[&grown, &grown]).contains("rows from 100 on after 160"));
    assert!(refused(0, &[&grown]).contains("0 of 12 trees kept"));
    assert!(refused(13, &[&grown]).contains("13 of 12 trees kept"));
    assert!(first.grow_trees(&block(100, 160), 100, 0).is_err());
    let bayes = LabelChain::new("ecc-nb").unwrap().set("updatable", true).unwrap();
    let bayes = bayes.fit(&block(0, 100)).unwrap();
    assert!(
        bayes.grow_trees(&block(100, 160), 100, 4).is_err()
            && bayes.tree_rows().unwrap().is_empty()
    );
    let dynamic = forest("dynamic-forest", 60);
    assert!(dynamic.grow_trees(&block(100, 160), 60, 4).is_err());

    // Any damage is refused, or makes another forest; nothing panics.
    for length in (0..grown.len()).step_by(97) {
        assert!(refused(6, &[&grown[..length].to_vec()]).contains("damaged"));
    }
    let asked = block(0, 20);
    for at in (0..grown.len()).step_by(29) {
        let mut damaged = grown.clone();
        damaged[at] ^= 0x90;
        if let Ok(forest) = first.clone().with_trees(6, &[damaged]) {
            let _ = forest.predict(&asked);
        }
    }
}
