//! Our losses beside printed ones: which belong together, and how far apart they are.

use std::path::Path;

use super::sheet::{Cell, Line, Sheet};
use super::title;
use crate::data::stem;
use crate::error::{Error, Result};
use crate::experiment::Results;
use crate::stats::Comparison;

/// Results that somebody has published.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The file's name, without its ending.
    name: String,
    results: Results,
}

impl Printed {
    /// Reads a table of losses.
    pub fn read(path: &Path) -> Result<Printed> {
        Ok(Printed { name: stem(path), results: Results::read(path)? })
    }

    /// What one of our methods is called there: the same; or, in the paper's tables, `proposed` for
    /// `dynamic`, `ga`, `ecc` and `oocc` without their base, and `br_` or `cc_` before the base for
    /// the ensembles chosen by genetic search, which `protocols/paper.toml` calls `base-…`.
    fn method(&self, ours: &str) -> Option<usize> {
        let find = |name: &str| self.results.methods().iter().position(|there| alike(there, name));
        // The file says which base its table is about, if it is about one.
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
        self.results.datasets().iter().position(|there| alike(there, ours))
    }
}

/// The same name but for capitals and punctuation.
fn alike(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(a) == letters(b)
}

/// The first names, and how many more there are.
fn in_few_words(names: &[String]) -> String {
    const FEW: usize = 3;
    match names.len().saturating_sub(FEW) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..FEW].join(", ")),
    }
}

/// Losses that belong together.
pub(super) struct PrintedComparison {
    /// Criteria that both have.
    pub(super) criteria: Vec<String>,
    /// Our methods that are printed, too.
    pub(super) methods: Vec<usize>,
    pub(super) cells: Vec<Both>,
}

/// One loss, ours and printed.
pub(super) struct Both {
    criterion: usize,
    method: usize,
    pub(super) dataset: String,
    pub(super) ours: f64,
    pub(super) printed: f64,
}

impl Both {
    pub(super) fn difference(&self) -> f64 {
        self.ours - self.printed
    }
}

impl PrintedComparison {
    /// Refuses a table in which none of our losses has a partner: it is the wrong one.
    pub(super) fn of(comparison: &Comparison, printed: &Printed) -> Result<PrintedComparison> {
        let known: Vec<(usize, usize)> = (0..comparison.methods.len())
            .filter_map(|ours| Some((ours, printed.method(&comparison.methods[ours])?)))
            .collect();
        let (mut criteria, mut cells) = (Vec::new(), Vec::new());
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
                        cells.push(Both { criterion, method, dataset, ours, printed });
                    }
                }
            }
        }
        if cells.is_empty() {
            return Err(Error::Comparison {
                problem: format!(
                    "{} prints none of these losses: it has {} on {}; here are {} on {}",
                    printed.name,
                    printed.results.methods().join(", "),
                    in_few_words(printed.results.datasets()),
                    comparison.methods.join(", "),
                    in_few_words(&comparison.datasets)
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
            cells,
        })
    }

    /// The losses by one criterion and method.
    pub(super) fn of_pair(&self, criterion: &str, method: usize) -> Vec<&Both> {
        let cells = self.cells.iter();
        cells
            .filter(|cell| self.criteria[cell.criterion] == criterion && cell.method == method)
            .collect()
    }

    /// What could be put side by side, and what not.
    pub(super) fn remarks(&self, comparison: &Comparison, printed: &Printed) -> Vec<String> {
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
        let mut told = vec![format!(
            "{} losses of {}, beside those printed for the method in brackets in {}. Printed losses \
             have three decimals, so differences below 0.0005 mean nothing.",
            self.cells.len(),
            if matched.is_empty() { "no method".into() } else { matched.join(", ") },
            printed.name
        )];
        let alone = (0..comparison.methods.len()).filter(|at| !self.methods.contains(at));
        let alone: Vec<&String> = alone.map(|at| &comparison.methods[at]).collect();
        if !alone.is_empty() {
            told.push(format!("Not printed: {}.", named(alone)));
        }
        let sets = comparison.datasets.iter().filter(|ours| printed.dataset(ours).is_none());
        let sets: Vec<&String> = sets.collect();
        if !sets.is_empty() {
            told.push(format!("Data sets not printed: {}.", named(sets)));
        }
        let missing = printed.results.datasets().iter();
        let missing: Vec<&String> = missing
            .filter(|there| !comparison.datasets.iter().any(|ours| alike(ours, there)))
            .collect();
        if !missing.is_empty() {
            told.push(format!("Data sets printed, but not measured here: {}.", named(missing)));
        }
        told
    }

    /// The mean of the differences and, in brackets, of their sizes, by criterion and method.
    pub(super) fn summary(&self, methods: &[String]) -> Sheet {
        let cell = |criterion: &String, method: usize| {
            let cells = self.of_pair(criterion, method);
            let by_size =
                |a: &&&Both, b: &&&Both| a.difference().abs().total_cmp(&b.difference().abs());
            let Some(furthest) = cells.iter().max_by(by_size) else { return Cell::words("–") };
            let n = cells.len() as f64;
            let mean = cells.iter().map(|cell| cell.difference()).sum::<f64>() / n;
            let size = cells.iter().map(|cell| cell.difference().abs()).sum::<f64>() / n;
            let source = format!(
                "{n} data sets; the greatest difference is {:+.4}, on {}",
                furthest.difference(),
                furthest.dataset
            );
            Cell::number(mean, format!("{mean:+.4} ({size:.4})"), source)
        };
        let line = |criterion: &String| {
            let cells = self.methods.iter().map(|&method| cell(criterion, method)).collect();
            Line::new(title(criterion), cells)
        };
        let names = self.methods.iter().map(|&method| methods[method].clone());
        Sheet {
            id: "printed-summary".into(),
            caption:
                "Our losses minus printed ones: the mean over data sets and, in brackets, the \
                      mean size"
                    .into(),
            columns: ["Criterion".to_string()].into_iter().chain(names).collect(),
            lines: self.criteria.iter().map(line).collect(),
        }
    }

    /// Every pair of losses.
    pub(super) fn sheet(&self, methods: &[String]) -> Sheet {
        let line = |cell: &Both| {
            let key = &self.criteria[cell.criterion];
            let d = cell.difference();
            let cells = vec![
                Cell::words(methods[cell.method].clone()),
                Cell::words(title(key)),
                Cell::number(cell.ours, format!("{:.4}", cell.ours), String::new()),
                Cell::number(cell.printed, format!("{:.3}", cell.printed), String::new()),
                Cell::number(d, format!("{d:+.4}"), String::new()),
            ];
            Line::new(cell.dataset.clone(), cells)
        };
        Sheet {
            id: "printed-losses".into(),
            caption: "Every loss, ours and printed".into(),
            columns: ["Data set", "Method", "Criterion", "Ours", "Printed", "Difference"]
                .map(String::from)
                .into(),
            lines: self.cells.iter().map(line).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(name: &str, methods: &[&str]) -> Printed {
        let text =
            format!("dataset,{}\nArts1{}\n", methods.join(","), ",0.5".repeat(methods.len()));
        let results = Results::parse("x.csv".as_ref(), text.as_bytes()).unwrap();
        Printed { name: name.into(), results }
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
