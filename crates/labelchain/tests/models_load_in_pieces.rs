//! A model that is read from its file piece by piece answers as the one that was trained, and a file that is no
//! longer what was written gives no other answers.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use labelchain::data::{Dataset, LabelNetwork, ReadOptions, parse};
use labelchain::{Error, LabelChain, Method, Model, Result, Seed, Settings};

/// Rows of numbers and labels that depend on each other, and enough rows that trees have several branches.
fn numbers() -> Dataset {
    let network =
        LabelNetwork { n_rows: 3000, n_labels: 3, n_features: 4, ..LabelNetwork::default() };
    network.generate("numbers", Seed::new(3)).unwrap()
}

/// Rows that have a few of many words each.
fn words(n_words: usize) -> Dataset {
    let mut text = String::new();
    for n in 1..200usize {
        let mut words: Vec<usize> = (1..9).map(|of| of * n * n * 7 % n_words + 1).collect();
        words.sort_unstable();
        words.dedup();
        let words: Vec<String> = words.iter().map(|word| format!("{word}:1")).collect();
        writeln!(text, "{},{} {}", n % 3, 3 + n % 2, words.join(" ")).unwrap();
    }
    parse("w.svm".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap().into_rows().unwrap()
}

fn quick(method: Method) -> LabelChain<'static> {
    let mut chain = LabelChain::with(method, Settings::default());
    let settings =
        [("members", "3"), ("decay", "1"), ("neighbours", "3"), ("trees", "5"), ("select", "none")];
    let more = [("generations", "2"), ("population", "4"), ("cost", "1"), ("gamma", "1")];
    for (name, value) in settings.into_iter().chain(more) {
        if method.uses(name) {
            chain = chain.set(name, value).unwrap();
        }
    }
    chain
}

/// All that is answered about rows, to the last bit.
fn answers(model: &Model, rows: &Dataset) -> Result<(Vec<u64>, Vec<u64>)> {
    let prediction = model.predict(rows)?;
    let bits = |of: &[f64]| of.iter().map(|it| it.to_bits()).collect::<Vec<u64>>();
    Ok((bits(&prediction.shares), bits(&prediction.probabilities.unwrap_or_default())))
}

fn saved(model: &Model, directory: &Path) -> PathBuf {
    let path = directory.join("m.labelchain");
    model.save(&path).unwrap();
    path
}

#[test]
fn every_method_answers_the_same_row_by_row_and_all_at_once() {
    let directory = tempfile::tempdir().unwrap();
    for (data, n_asked) in [(numbers().select(&(0..200).collect::<Vec<_>>()), 30), (words(300), 10)]
    {
        let asked: Vec<usize> = (0..n_asked).map(|n| n * 6).collect();
        for method in Method::all() {
            let trained = quick(method).fit(&data).unwrap();
            let path = saved(&trained, directory.path());
            let load = || Model::load(&path, u64::MAX).unwrap();
            let whole = data.select(&asked);
            assert_eq!(answers(&load(), &whole).unwrap(), answers(&trained, &whole).unwrap());
            let by_row = load();
            for &row in &asked {
                let row = data.select(&[row]);
                let expected = answers(&trained, &row).unwrap();
                assert_eq!(answers(&by_row, &row).unwrap(), expected, "{method}");
            }
            let explained = |model: &Model| -> Vec<String> {
                let rows = data.select(&asked[..2]);
                let explanations = model.explain(&rows).unwrap();
                explanations.iter().map(|of| of.json(0).to_string()).collect()
            };
            assert_eq!(explained(&load()), explained(&trained), "{method}");
            assert_eq!(load().importance(), trained.importance(), "{method}");
            assert!(load().to_bytes().unwrap() == fs::read(&path).unwrap(), "{method}");
        }
    }
}

/// One byte of the file is another, at a hundred places: what is answered about one row is the same, or it is an
/// error. Pieces that the row does not need are not missed.
#[test]
fn one_row_misses_only_what_it_needs() {
    let directory = tempfile::tempdir().unwrap();
    for (method, data) in [("ecc-nb", words(20_000)), ("certain-forest", numbers())] {
        let trained = quick(method.parse().unwrap()).fit(&data).unwrap();
        let path = saved(&trained, directory.path());
        let (whole, row) = (fs::read(&path).unwrap(), data.select(&[5]));
        let expected = answers(&trained, &row).unwrap();
        let (mut n_refused, mut n_not_missed) = (0, 0);
        for at in (0..whole.len()).step_by(whole.len() / 100) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            fs::write(&path, &damaged).unwrap();
            match Model::load(&path, u64::MAX).and_then(|model| answers(&model, &row)) {
                Ok(found) => {
                    assert_eq!(found, expected, "{method}, byte {at}");
                    n_not_missed += 1;
                }
                Err(error) => {
                    assert!(matches!(error, Error::Model { .. }), "{method}, byte {at}: {error}");
                    n_refused += 1;
                }
            }
            let verified = Model::load(&path, u64::MAX).and_then(|model| model.verify());
            assert!(matches!(verified, Err(Error::Model { .. })), "{method}, byte {at}");
        }
        assert!(n_refused > 0 && n_not_missed > 25, "{method}: {n_refused}, {n_not_missed}");
    }
}

/// A file that is replaced is another file, and who has the old one open goes on with it. A file that is
/// written over is noticed.
#[test]
fn a_loaded_model_does_not_change_with_its_file() {
    let directory = tempfile::tempdir().unwrap();
    for (method, data) in [("ecc-nb", words(20_000)), ("certain-forest", numbers())] {
        let train = |seed| quick(method.parse().unwrap()).seed(seed).fit(&data).unwrap();
        let (first, second) = (train(1), train(2));
        let path = saved(&first, directory.path());
        let loaded = Model::load(&path, u64::MAX).unwrap();
        assert_eq!(saved(&second, directory.path()), path);
        assert_eq!(answers(&loaded, &data).unwrap(), answers(&first, &data).unwrap(), "{method}");

        let loaded = Model::load(&path, u64::MAX).unwrap();
        fs::write(&path, vec![0; fs::read(&path).unwrap().len()]).unwrap();
        assert!(matches!(answers(&loaded, &data), Err(Error::Model { .. })), "{method}");

        let path = saved(&first, directory.path());
        let loaded = Model::load(&path, u64::MAX).unwrap();
        loaded.verify().unwrap();
        fs::write(&path, b"").unwrap();
        assert_eq!(answers(&loaded, &data).unwrap(), answers(&first, &data).unwrap(), "{method}");
    }
}

/// What pieces take is charged when they are read.
#[test]
fn pieces_are_bounded_by_the_memory_that_a_model_may_use() {
    let directory = tempfile::tempdir().unwrap();
    for (method, data) in [("ecc-nb", words(20_000)), ("certain-forest", numbers())] {
        let trained = quick(method.parse().unwrap()).fit(&data).unwrap();
        let path = saved(&trained, directory.path());
        let least = |works: &dyn Fn(u64) -> bool| {
            let (mut too_few, mut enough) = (0, 1 << 32);
            while enough - too_few > 1 {
                let middle = (too_few + enough) / 2;
                if works(middle) { enough = middle } else { too_few = middle }
            }
            enough
        };
        let load = |bytes| Model::load(&path, bytes);
        let to_load = least(&|bytes| load(bytes).is_ok());
        let to_verify = least(&|bytes| load(bytes).and_then(|model| model.verify()).is_ok());
        assert!(to_load < to_verify, "{method}: {to_load}, {to_verify}");
        let refused = load(to_load).unwrap().verify();
        assert!(matches!(refused, Err(Error::TooLarge { .. })), "{method}");
    }
}
