//! Any bytes are safe to read: what fuzzing started from, with truncations and flipped bytes, and what
//! it kept.
#![allow(clippy::unwrap_used)]

mod any_bytes;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use any_bytes::{TARGETS, load};
use labelchain::base::BASES;
use labelchain::data::LabelNetwork;
use labelchain::ensemble::STRATEGIES;
use labelchain::seed::Seed;
use labelchain::{LabelChain, Method};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz")
}

#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    for (target, read) in TARGETS {
        let Ok(kept) = fs::read_to_string(corpus().join(format!("{target}.hex"))) else { continue };
        let inputs: Vec<&str> = kept.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(inputs.len() > 100, "{target} has a corpus");
        for input in inputs {
            let byte = |at| u8::from_str_radix(&input[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..input.len()).step_by(2).map(byte).collect();
            read(&bytes);
        }
    }
}

#[test]
fn corpus_truncations_and_flips_are_read_or_refused() {
    for (target, read) in TARGETS {
        let files: Vec<_> = fs::read_dir(corpus().join(target)).unwrap().collect();
        assert!(files.len() > 1, "{target} has a corpus");
        for file in files {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            read(&bytes);
            // Every place of a short input, and some two hundred of a long one.
            for at in (0..bytes.len()).step_by(1 + bytes.len() / 256) {
                read(&bytes[..at]);
                for flip in [0x01, 0x10, 0x80, 0xFF] {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= flip;
                    read(&flipped);
                }
            }
        }
    }
}

/// The models that fuzzing starts from are read by this version, one for every method.
/// `LABELCHAIN_WRITE=1` makes them anew, as a new format of model files demands.
#[test]
fn every_method_has_a_model_to_start_from() {
    let network =
        LabelNetwork { n_rows: 16, n_labels: 2, n_features: 2, ..LabelNetwork::default() };
    let data = network.generate("t", Seed::new(1)).unwrap();
    for (strategy, base) in STRATEGIES.iter().flat_map(|s| BASES.iter().map(move |b| (s, b))) {
        let name = format!("{}-{}", strategy.name, base.name);
        let Ok(method) = name.parse::<Method>() else { continue };
        let path = corpus().join("model").join(&name);
        if env::var_os("LABELCHAIN_WRITE").is_some() {
            let small = [("members", "1"), ("neighbours", "1"), ("decay", "1"), ("orders", "2")];
            let search = [("population", "2"), ("generations", "1"), ("cost", "1"), ("gamma", "1")];
            let chain = small.into_iter().chain(search).filter(|(setting, _)| method.uses(setting));
            let chain = chain.fold(LabelChain::new(&name).unwrap(), |chain, (setting, value)| {
                chain.set(setting, value).unwrap()
            });
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Without the header, which the target puts before it.
            fs::write(&path, &chain.fit(&data).unwrap().to_bytes().unwrap()[60..]).unwrap();
        }
        assert!(
            load(&fs::read(&path).unwrap()).is_some_and(|model| model.method() == method),
            "{name}"
        );
    }
}
