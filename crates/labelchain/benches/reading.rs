//! How fast is a file read, and how much memory does it take?
//!
//! `cargo bench --bench reading -- FILE` reads it once and prints CPU seconds, uncompressed
//! megabytes per second, the bytes of the data set and the peak memory of the process. Once,
//! because a second reading would find its memory already mapped; repeat the process instead.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::Path;

use labelchain::data::{ReadOptions, read};

fn main() {
    // `cargo test --benches` passes no file: there is then nothing to measure.
    let Some(argument) = std::env::args().skip(1).find(|argument| !argument.starts_with("--"))
    else {
        return;
    };
    let path = Path::new(&argument);
    let start = cpu_seconds();
    let data = read(path, &ReadOptions::default()).unwrap().into_rows().unwrap();
    let seconds = cpu_seconds() - start;
    let peak = peak_bytes();
    let n_text = n_text(path);
    println!(
        "{{\"file\":{:?},\"cpu_seconds\":{seconds:.4},\"text_bytes\":{n_text},\"mb_per_second\":{:.0},\"data_bytes\":{},\"peak_bytes\":{peak}}}",
        path.file_name().unwrap().to_string_lossy(),
        n_text as f64 / 1e6 / seconds,
        data.n_bytes(),
    );
}

/// Bytes of text after decompression.
fn n_text(path: &Path) -> u64 {
    let file = std::fs::File::open(path).unwrap();
    let mut text: Box<dyn std::io::Read> = if path.extension().is_some_and(|end| end == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    std::io::copy(&mut text, &mut std::io::sink()).unwrap()
}

/// Of this process, in user and system together.
fn cpu_seconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}

fn peak_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}
