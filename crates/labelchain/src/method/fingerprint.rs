//! A fingerprint of what each method computes, so that results of two programs never mix.
//!
//! The file beside this one has a line for each method: its name and a checksum of what it answers on
//! a fixed data set, with the default settings and then with those of `protocols/paper.toml`; and a line
//! `losses` with a checksum of all criteria on those answers, and a line `aims` with one of what some
//! methods answer for all aims but votes. A test computes them anew. Whoever changes what a method computes sees the
//! test fail, replaces the line by what the test prints, and with it the fingerprint that a study keeps beside its
//! results.

use super::Method;
use crate::decide::Aim;
use crate::ensemble::MAX_CALIBRATION_ROWS;

const FINGERPRINTS: &str = include_str!("fingerprints.txt");

/// See [`Method::fingerprint`].
pub(super) fn fingerprint(method: Method) -> String {
    let of = |name: &str| {
        let line =
            FINGERPRINTS.lines().find_map(|line| line.split_once(' ').filter(|it| it.0 == name));
        line.map_or("unknown", |(_, fingerprint)| fingerprint)
    };
    let of_method = of(&method.without_aim().to_string());
    match method.aim() {
        Aim::Votes => format!("{of_method} {}", of("losses")),
        // The checksums are of a data set of 150 rows, whose answers cannot depend on this number.
        _ => format!("{of_method} {} {MAX_CALIBRATION_ROWS} {}", of("aims"), of("losses")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::split::folds;
    use crate::data::{LabelMatrix, LabelNetwork};
    use crate::ensemble::{GENERATIONS, MEMBERS};
    use crate::experiment::{CrossValidation, Evaluation};
    use crate::method::setting;
    use crate::seed::Seed;
    use crate::settings::Settings;

    /// Answers are bits, so the checksum does not depend on the last digits of a processor.
    fn checksum<'a>(answers: impl IntoIterator<Item = &'a LabelMatrix>) -> String {
        let mut hasher = blake3::Hasher::new();
        for answers in answers {
            for row in 0..answers.n_rows() {
                for word in answers.row(row) {
                    hasher.update(&word.to_le_bytes());
                }
            }
        }
        hasher.finalize().to_hex()[..16].to_string()
    }

    fn losses(evaluations: &[Evaluation]) -> String {
        let mut hasher = blake3::Hasher::new();
        for evaluation in evaluations {
            for (criterion, loss) in evaluation.losses().iter() {
                hasher.update(format!("{} {loss:.9?}\n", criterion.key()).as_bytes());
            }
        }
        hasher.finalize().to_hex()[..16].to_string()
    }

    #[test]
    fn fingerprints_are_those_of_what_is_computed() {
        let seed = Seed::new(1);
        let network = LabelNetwork { n_rows: 150, n_labels: 5, ..LabelNetwork::default() };
        let data = network.generate("fingerprint", seed).unwrap();
        let folds = folds(data.n_rows(), 2, seed).unwrap();
        let methods: Vec<Method> = Method::all().collect();
        let run = |methods: &[Method], others: &[(&str, &str)]| {
            // An even number of members, so that votes tie.
            let settings = Settings::default().with(&MEMBERS, 6).unwrap();
            let mut settings = settings.with(&GENERATIONS, 10).unwrap();
            for (name, value) in others {
                settings.set(setting(name).unwrap(), value).unwrap();
            }
            let validation =
                CrossValidation { settings, ..CrossValidation::new(methods, &folds, seed) };
            validation.run(&data).unwrap()
        };
        let evaluations = run(&methods, &[]);
        let settled = run(
            &methods,
            &[
                ("likelihood", "kernel"),
                ("vote-ties", "relevant"),
                ("search-rows", "out-of-bag"),
                ("grid-criterion", "macro-f1"),
            ],
        );
        let mut computed = String::new();
        for (evaluation, settled) in evaluations.iter().zip(&settled) {
            let checksum = checksum([&evaluation.answers, &settled.answers]);
            computed.push_str(&format!("{} {checksum}\n", evaluation.name));
        }
        computed.push_str(&format!("losses {}\n", losses(&evaluations)));
        // Aims go by probabilities made of log-odds, of votes of neighbours and of margins; a forest's label
        // sets are those of its joint law, where other methods have one for each member.
        let aims = [
            "hamming",
            "zero-one",
            "example-f1",
            "macro-f1",
            "micro-f1",
            "precision=0.7",
            "recall=0.7",
            "top=2",
        ];
        let names = ["ecc-nb", "dynamic-knn", "br-svm", "certain-forest"];
        let aimed = names.iter().flat_map(|of| aims.map(|aim| format!("{of}@{aim}")));
        let aimed: Vec<Method> = aimed.map(|name| name.parse().unwrap()).collect();
        let aimed = run(&aimed, &[]);
        computed.push_str(&format!("aims {}\n", checksum(aimed.iter().map(|of| &of.answers))));
        assert!(
            computed == FINGERPRINTS,
            "what is computed has changed. If that is meant, replace fingerprints.txt by:\n{computed}"
        );
    }
}
