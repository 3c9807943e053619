//! Compares our losses with printed ones: finds the pairs that belong together, and their differences.

use std::path::Path;

use super::sheet::{Sheet, SheetCell, SheetRow};
use super::title;
use crate::data::stem;
use crate::error::{Error, Result};
use crate::experiment::{Results, is_same_name};
use crate::stats::Comparison;

/// Results printed in a publication, as a table of losses.
#[derive(Clone, Debug)]
pub struct PrintedResults {
    /// The file's name without its extension.
    name: String,
    results: Results,
}

impl PrintedResults {
    /// Reads a table of losses.
    pub fn read(path: &Path) -> Result<PrintedResults> {
        Ok(PrintedResults { name: stem(path), results: Results::read(path)? })
    }

    /// The printed method that corresponds to one of ours. Usually it has the same name. The paper's
    /// tables call `dynamic` `proposed`, leave out the base of `ga`, `ecc` and `oocc`, and write `br_`
    /// or `cc_` before the base for the ensembles chosen by genetic search, which
    /// `protocols/paper-as-written.toml` calls `base-…` where their settings differ.
    fn method(&self, ours: &str) -> Option<usize> {
        let find =
            |name: &str| self.results.methods().iter().position(|there| is_same_name(there, name));
        // If a table is about one base, the name of its file ends with that base.
        let one_base = self.name.rsplit_once('_').map(|(_, of)| of);
        let one_base = one_base.filter(|of| ["nb", "knn"].contains(of));
        let name = match one_base {
            None => ours.strip_prefix("base-").unwrap_or(ours),
            Some(_) => ours,
        };
        let (strategy, base) = name.rsplit_once('-')?;
        let of_base = one_base.is_none_or(|one| one == base);
        let paper = match strategy {
            "dynamic" if of_base => find("proposed"),
            "ga" | "ecc" | "oocc" if of_base => find(strategy),
            _ => None,
        };
        let chained = match strategy {
            "ga-br" => find(&format!("br_{base}")),
            "ga" => find(&format!("cc_{base}")),
            _ => None,
        };
        find(ours).or(paper).or(chained)
    }

    fn dataset(&self, ours: &str) -> Option<usize> {
        self.results.datasets().iter().position(|there| is_same_name(there, ours))
    }
}

/// The first three names, and the number of the others.
fn abbreviated(names: &[String]) -> String {
    const MAX_NAMES: usize = 3;
    match names.len().saturating_sub(MAX_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX_NAMES].join(", ")),
    }
}

/// Our losses together with the printed losses of the same method, data set and criterion.
pub(super) struct PrintedComparison {
    /// The criteria that are both printed and ours.
    pub(super) criteria: Vec<String>,
    /// Those of our methods that are printed, as indices.
    pub(super) methods: Vec<usize>,
    pub(super) pairs: Vec<LossPair>,
}

/// The loss of a method on a data set, ours and printed.
pub(super) struct LossPair {
    criterion: usize,
    method: usize,
    pub(super) dataset: String,
    pub(super) ours: f64,
    pub(super) printed: f64,
}

impl LossPair {
    pub(super) fn difference(&self) -> f64 {
        self.ours - self.printed
    }
}

impl PrintedComparison {
    /// Matches our losses with printed ones. If none of our losses is printed, the table must be the
    /// wrong one, and it is refused.
    pub(super) fn of(
        comparison: &Comparison,
        printed: &PrintedResults,
    ) -> Result<PrintedComparison> {
        let known: Vec<(usize, usize)> = (0..comparison.methods.len())
            .filter_map(|ours| Some((ours, printed.method(&comparison.methods[ours])?)))
            .collect();
        let (mut criteria, mut pairs) = (Vec::new(), Vec::new());
        for of in &comparison.criteria {
            let key = &of.table.criterion;
            let Some(there) = printed.results.criteria().iter().position(|there| there == key)
            else {
                continue;
            };
            let theirs = printed.results.losses(there);
            let criterion = criteria.len();
            criteria.push(key.clone());
            for (set, dataset) in comparison.datasets.iter().enumerate() {
                let Some(row) = printed.dataset(dataset).map(|there| &theirs[there]) else {
                    continue;
                };
                for &(method, there) in &known {
                    if let (Some(ours), Some(printed)) = (of.table.losses[set][method], row[there])
                    {
                        let dataset = dataset.clone();
                        pairs.push(LossPair { criterion, method, dataset, ours, printed });
                    }
                }
            }
        }
        if pairs.is_empty() {
            return Err(Error::Comparison {
                problem: format!(
                    "{} prints none of these losses: it has {} on {}; here are {} on {}",
                    printed.name,
                    printed.results.methods().join(", "),
                    abbreviated(printed.results.datasets()),
                    comparison.methods.join(", "),
                    abbreviated(&comparison.datasets)
                ),
                remedy:
                    "results_nb prints methods with -nb, results_knn those with -knn, results_base \
                         ga and ga-br; methods and data sets go by the same names in both"
                        .into(),
            });
        }
        Ok(PrintedComparison {
            criteria,
            methods: known.into_iter().map(|(ours, _)| ours).collect(),
            pairs,
        })
    }

    /// The losses by one criterion and method.
    pub(super) fn by(&self, criterion: &str, method: usize) -> Vec<&LossPair> {
        let pairs = self.pairs.iter();
        pairs
            .filter(|pair| self.criteria[pair.criterion] == criterion && pair.method == method)
            .collect()
    }

    /// Which methods and data sets could be compared, and which could not.
    pub(super) fn remarks(&self, comparison: &Comparison, printed: &PrintedResults) -> Vec<String> {
        let named = |names: Vec<&String>| -> String {
            names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let matched: Vec<String> = self
            .methods
            .iter()
            .filter_map(|&ours| {
                let there = printed.method(&comparison.methods[ours])?;
                Some(format!("{} ({})", comparison.methods[ours], printed.results.methods()[there]))
            })
            .collect();
        let mut sentences = vec![format!(
            "{} losses of {}, beside those printed for the method in brackets in {}. Printed losses \
             have three decimals, so differences below 0.0005 mean nothing.",
            self.pairs.len(),
            if matched.is_empty() { "no method".into() } else { matched.join(", ") },
            printed.name
        )];
        let alone = (0..comparison.methods.len()).filter(|at| !self.methods.contains(at));
        let alone: Vec<&String> = alone.map(|at| &comparison.methods[at]).collect();
        if !alone.is_empty() {
            sentences.push(format!("Not printed: {}.", named(alone)));
        }
        let sets = comparison.datasets.iter().filter(|ours| printed.dataset(ours).is_none());
        let sets: Vec<&String> = sets.collect();
        if !sets.is_empty() {
            sentences.push(format!("Data sets not printed: {}.", named(sets)));
        }
        let missing = printed.results.datasets().iter();
        let missing: Vec<&String> = missing
            .filter(|there| !comparison.datasets.iter().any(|ours| is_same_name(ours, there)))
            .collect();
        if !missing.is_empty() {
            sentences
                .push(format!("Data sets printed, but not measured here: {}.", named(missing)));
        }
        sentences
    }

    /// By criterion and method, the mean difference and, in brackets, the mean absolute difference.
    pub(super) fn summary(&self, methods: &[String]) -> Sheet {
        let cell = |criterion: &String, method: usize| {
            let pairs = self.by(criterion, method);
            let by_size = |a: &&&LossPair, b: &&&LossPair| {
                a.difference().abs().total_cmp(&b.difference().abs())
            };
            let Some(furthest) = pairs.iter().max_by(by_size) else {
                return SheetCell::words("–");
            };
            let n = pairs.len() as f64;
            let mean = pairs.iter().map(|pair| pair.difference()).sum::<f64>() / n;
            let size = pairs.iter().map(|pair| pair.difference().abs()).sum::<f64>() / n;
            let source = format!(
                "{n} data sets; the greatest difference is {:+.4}, on {}",
                furthest.difference(),
                furthest.dataset
            );
            SheetCell::number(mean, format!("{mean:+.4} ({size:.4})"), source)
        };
        let row = |criterion: &String| {
            let cells = self.methods.iter().map(|&method| cell(criterion, method)).collect();
            SheetRow::new(title(criterion), cells)
        };
        let names = self.methods.iter().map(|&method| methods[method].clone());
        Sheet {
            id: "printed-summary".into(),
            caption:
                "Our losses minus printed ones: the mean over data sets and, in brackets, the \
                      mean size"
                    .into(),
            columns: ["Criterion".to_string()].into_iter().chain(names).collect(),
            rows: self.criteria.iter().map(row).collect(),
        }
    }

    /// A table of every pair of losses.
    pub(super) fn sheet(&self, methods: &[String]) -> Sheet {
        let row = |pair: &LossPair| {
            let key = &self.criteria[pair.criterion];
            let d = pair.difference();
            let cells = vec![
                SheetCell::words(methods[pair.method].clone()),
                SheetCell::words(title(key)),
                SheetCell::number(pair.ours, format!("{:.4}", pair.ours), String::new()),
                SheetCell::number(pair.printed, format!("{:.3}", pair.printed), String::new()),
                SheetCell::number(d, format!("{d:+.4}"), String::new()),
            ];
            SheetRow::new(pair.dataset.clone(), cells)
        };
        Sheet {
            id: "printed-losses".into(),
            caption: "Every loss, ours and printed".into(),
            columns: ["Data set", "Method", "Criterion", "Ours", "Printed", "Difference"]
                .map(String::from)
                .into(),
            rows: self.pairs.iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(name: &str, methods: &[&str]) -> PrintedResults {
        let text =
            format!("dataset,{}\nArts1{}\n", methods.join(","), ",0.5".repeat(methods.len()));
        let results = Results::parse("x.csv".as_ref(), text.as_bytes()).unwrap();
        PrintedResults { name: name.into(), results }
    }

    #[test]
    fn methods_are_known_by_the_papers_names() {
        let knn = printed("results_knn", &["proposed", "ga", "ecc", "oocc"]);
        let found = |ours: &str| knn.method(ours);
        assert_eq!(
            ["dynamic-knn", "ga-knn", "ecc-knn", "oocc-knn"].map(found),
            [0, 1, 2, 3].map(Some)
        );
        assert_eq!(["dynamic-nb", "br-knn"].map(found), [None, None]);
        let base = printed("results_base", &["br_nb", "cc_nb"]);
        assert_eq!(["ga-br-nb", "ga-nb"].map(|ours| base.method(ours)), [Some(0), Some(1)]);
        let named = |ours: &str| base.method(&format!("base-{ours}"));
        assert_eq!(["ga-br-nb", "ga-nb"].map(named), [Some(0), Some(1)]);
        assert_eq!(knn.method("base-ga-knn"), None);
        assert_eq!(base.dataset("arts-1"), Some(0));
    }
}
