//! Any bytes are safe to read: what fuzzing started from, with truncations and flipped bytes, and what
//! it kept.
#![allow(clippy::unwrap_used)]

mod any_bytes;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use any_bytes::{BAGS, TARGETS, load};
use labelchain::base::BASES;
use labelchain::data::{ReadOptions, Table, parse};
use labelchain::ensemble::STRATEGIES;
use labelchain::prepare::{BagReduction, MedoidStart};
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
    let mut inputs = Vec::new();
    for (target, read) in TARGETS {
        let files: Vec<_> = fs::read_dir(corpus().join(target)).unwrap().collect();
        assert!(files.len() > 1, "{target} has a corpus");
        inputs.extend(files.into_iter().map(|file| (read, file.unwrap().path())));
    }
    let try_all = |(read, path): &(&fn(&[u8]), PathBuf)| {
        let bytes = fs::read(path).unwrap();
        read(&bytes);
        // Every place of a short input, and some hundred of a long one.
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 128) {
            read(&bytes[..at]);
            for flip in [0x01, 0x10, 0x80, 0xFF] {
                let mut flipped = bytes.clone();
                flipped[at] ^= flip;
                read(&flipped);
            }
        }
    };
    // It is the longest test, so it takes two threads.
    thread::scope(|scope| {
        for first in [0, 1] {
            let mine = inputs.iter().skip(first).step_by(2);
            scope.spawn(move || mine.for_each(try_all));
        }
    });
}

/// Rows with a number, a value of several, and missing cells.
fn rows() -> String {
    let row = |n: usize| match n % 5 {
        0 => format!("?,{},{},{}\n", ["u", "v"][n % 2], n % 2, n / 8),
        4 => format!("{n},?,{},{}\n", n % 2, n / 8),
        _ => format!("{n},{},{},{}\n", ["u", "v"][n / 3 % 2], n % 2, n / 8),
    };
    let rows: String = (0..16).map(row).collect();
    format!(
        "@relation 'r: -C -2'\n@attribute x numeric\n@attribute n {{u,v}}\n@attribute a {{0,1}}\n\
         @attribute b {{0,1}}\n@data\n{rows}"
    )
}

/// The content of a model file without its header and checksums, which the target puts before it.
fn without_checksums(file: &[u8]) -> Vec<u8> {
    let (header, rest) = file.split_at(60);
    let n_table = usize::try_from(u64::from_le_bytes(header[20..28].try_into().unwrap())).unwrap();
    let (table, blocks) = rest.split_at(n_table);
    let lengths = table.chunks(40).flat_map(|entry| entry[..4].iter().copied());
    let n_blocks = u8::try_from(n_table / 40).unwrap();
    std::iter::once(n_blocks).chain(lengths).chain(blocks.iter().copied()).collect()
}

/// The models that fuzzing starts from are read by this version: one for every method, one of sparse
/// rows and one of bags. `LABELCHAIN_WRITE=1` makes them anew, as a new format of model files demands.
#[test]
fn every_method_has_a_model_to_start_from() {
    let table = |text: &str| {
        parse("r.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap().table
    };
    let sparse: String = (0..8).map(|n| format!("{{{} {n},2 {}}}\n", n % 2, n / 4)).collect();
    let sparse = format!(
        "@relation 's: -C -1'\n@attribute x numeric\n@attribute y numeric\n@attribute a {{0,1}}\n\
         @data\n{sparse}"
    );
    let medoids = BagReduction::Medoids { n: 2, start: MedoidStart::Build, swap: false };
    let all =
        STRATEGIES.iter().flat_map(|s| BASES.iter().map(|b| format!("{}-{}", s.name, b.name)));
    let methods = all.filter_map(|name| name.parse::<Method>().ok());
    let methods = methods.map(|method| (method.to_string(), method, table(&rows())));
    let knn: Method = "br-knn".parse().unwrap();
    let others = [("sparse", &sparse[..]), ("bags", BAGS)];
    let others = others.map(|(name, text)| (name.to_string(), knn, table(text)));
    for (name, method, table) in methods.chain(others) {
        let path = corpus().join("model").join(&name);
        if env::var_os("LABELCHAIN_WRITE").is_some() {
            let small = [("members", "1"), ("neighbours", "1"), ("decay", "1"), ("orders", "2")];
            let search = [
                ("trees", "3"),
                ("population", "2"),
                ("generations", "1"),
                ("cost", "1"),
                ("gamma", "1"),
                ("updatable", "true"),
            ];
            let settings =
                small.into_iter().chain(search).filter(|(setting, _)| method.uses(setting));
            let chain = LabelChain::new(&method.to_string()).unwrap();
            let chain =
                settings.fold(chain, |chain, (setting, value)| chain.set(setting, value).unwrap());
            let model = match &table {
                Table::Rows(rows) => chain.fit(rows),
                Table::Bags(bags) => chain.fit_bags(bags, medoids),
            };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, without_checksums(&model.unwrap().to_bytes().unwrap())).unwrap();
        }
        let model = load(&fs::read(&path).unwrap()).unwrap();
        let is_of_bags = matches!(table, Table::Bags(_));
        assert_eq!((model.method(), model.bags().is_some()), (method, is_of_bags), "{name}");
    }
}
