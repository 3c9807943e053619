//! Any bytes are safe to read: what fuzzing started from, with every truncation and a flip of
//! every byte, and what it kept.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use labelchain::data::label_list::LabelList;
use labelchain::data::{Description, LabelChoice, MissingLabels, ReadOptions, parse};
use labelchain::experiment::Results;
use labelchain::report::{Report, ReportFormat, compare};
use labelchain::stats::{Gaps, TestPlan};

fn read(target: &str, text: &[u8]) {
    let tags = LabelChoice::Tags { column: "t".into(), separator: ";".into() };
    let choices = match target {
        "xml" => {
            let _ = LabelList::parse("fuzz.xml".as_ref(), text);
            return;
        }
        "results" => return report(text),
        "csv" => vec![LabelChoice::Last(1), tags],
        _ => vec![LabelChoice::Detect],
    };
    for labels in choices {
        let options = ReadOptions {
            labels,
            missing_labels: MissingLabels::Drop,
            dedupe: true,
            max_memory: 64 << 20,
            ..ReadOptions::default()
        };
        let ending = if target == "svmlight" { "svm" } else { target };
        let path = format!("fuzz.{ending}");
        if let Ok(reading) = parse(path.as_ref(), text, &options) {
            let _ = Description::of(&reading.table, &reading.notes);
        }
    }
}

/// Whatever can be read as results can be reported.
fn report(text: &[u8]) {
    let Ok(results) = Results::parse("fuzz.csv".as_ref(), text) else { return };
    let plan = TestPlan { gaps: Gaps::WorstRank, ..TestPlan::default() };
    let Ok(comparison) = compare(&results, &[], plan) else { return };
    let report = Report::of("fuzz", &results, &comparison, None, Vec::new()).unwrap();
    for format in
        [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Latex, ReportFormat::Csv]
    {
        assert!(!report.text(format, true).is_empty());
    }
}

#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz");
    for target in ["arff", "csv", "svmlight", "xml"] {
        let kept = fs::read_to_string(corpus.join(format!("{target}.hex"))).unwrap();
        let inputs: Vec<&str> = kept.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(inputs.len() > 100, "{target} has a corpus");
        for input in inputs {
            let byte = |at| u8::from_str_radix(&input[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..input.len()).step_by(2).map(byte).collect();
            read(target, &bytes);
        }
    }
}

#[test]
fn corpus_truncations_and_flips_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz");
    for target in ["arff", "csv", "svmlight", "xml", "results"] {
        let files: Vec<_> = fs::read_dir(corpus.join(target)).unwrap().collect();
        assert!(files.len() > 1, "{target} has a corpus");
        for file in files {
            let text = fs::read(file.unwrap().path()).unwrap();
            read(target, &text);
            for at in 0..text.len() {
                read(target, &text[..at]);
                for flip in [0x01, 0x10, 0x80, 0xFF] {
                    let mut flipped = text.clone();
                    flipped[at] ^= flip;
                    read(target, &flipped);
                }
            }
        }
    }
}
