//! What is done to a data set between its source and its use: fewer rows, labels and features, and
//! bags as single rows.

use super::bags::BagReduction;
use super::medoids::MedoidStart;
use super::one_hot;
use crate::data::{Dataset, Dense, LabelId, Matrix, Sparse, Table};
use crate::error::{Error, Result};
use crate::seed::Seed;

/// Steps from a source to the data set that is used, done in this order. Each leaves a sentence in
/// the data set's history, and each does nothing to a data set that has gone through it already.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `sample_rows` | none | so many rows, drawn without replacement, in the order of the file |
/// | `top_labels` | none | the most frequent labels, in their order; of equals the first |
/// | `bags` | none | how bags become single rows; fitted on all of them |
/// | `min_document_frequency` | none | features that are not 0 in at least so many rows |
/// | `one_hot` | false | nominal features as indicators |
/// | `seed` | 1 | what is drawn |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// So many rows, drawn without replacement, in the order of the file.
    pub sample_rows: Option<usize>,
    /// The most frequent labels, in their order; of equals the first.
    pub top_labels: Option<usize>,
    /// How bags become single rows; fitted on all of them.
    pub bags: Option<BagReduction>,
    /// Features that are not 0 (nominal ones: not their first value) in at least so many rows.
    pub min_document_frequency: Option<usize>,
    /// Nominal features as indicators.
    pub one_hot: bool,
    /// What is drawn.
    pub seed: u64,
}

impl Recipe {
    /// Leaves everything as it is.
    pub const NOTHING: Recipe = Recipe {
        sample_rows: None,
        top_labels: None,
        bags: None,
        min_document_frequency: None,
        one_hot: false,
        seed: 1,
    };

    /// Follows the recipe.
    pub fn apply(&self, mut table: Table) -> Result<Table> {
        let seed = Seed::new(self.seed);
        if let Some(n) = self.sample_rows {
            table = sampled(table, n, self.seed)?;
        }
        if let Some(n) = self.top_labels {
            table = match table {
                Table::Rows(data) => Table::Rows(top_labels(data, n)?),
                Table::Bags(bags) => {
                    let rows = top_labels(bags.rows().clone(), n)?;
                    Table::Bags(bags.with_rows(rows)?)
                }
            };
        }
        if let (Some(reduction), Table::Bags(bags)) = (self.bags, &table) {
            let mut rows = reduction.fit(bags, seed)?.apply(bags)?;
            if matches!(reduction, BagReduction::Medoids { start, .. } if start != MedoidStart::Build)
            {
                rows.remember(&format!("medoids found with seed {}", self.seed));
            }
            table = Table::Rows(rows);
        }
        let Table::Rows(mut data) = table else { return Ok(table) };
        if let Some(n) = self.min_document_frequency {
            data = frequent(data, n)?;
        }
        if self.one_hot && data.attributes().iter().any(|attribute| attribute.values().is_some()) {
            data = one_hot(&data)?;
            data.remember("nominal features as indicators");
        }
        Ok(Table::Rows(data))
    }
}

fn sampled(table: Table, n: usize, seed: u64) -> Result<Table> {
    let n_rows = match &table {
        Table::Rows(data) => data.n_rows(),
        Table::Bags(bags) => bags.n_bags(),
    };
    if n > n_rows {
        let purpose = format!("a sample of {n} rows");
        return Err(Error::TooFewRows { needed: n, found: n_rows, purpose });
    }
    if n == n_rows {
        return Ok(table);
    }
    let mut rows: Vec<usize> = (0..n_rows).collect();
    Seed::new(seed).child("sample", 0).rng().shuffle(&mut rows);
    rows.truncate(n);
    rows.sort_unstable();
    let story = format!("a sample of {n} of {n_rows} rows, seed {seed}");
    Ok(match table {
        Table::Rows(data) => Table::Rows(remembering(data.select(&rows), &story)),
        Table::Bags(bags) => {
            let bags = bags.select(&rows);
            let rows = remembering(bags.rows().clone(), &story);
            Table::Bags(bags.with_rows(rows)?)
        }
    })
}

fn remembering(mut data: Dataset, story: &str) -> Dataset {
    data.remember(story);
    data
}

fn top_labels(data: Dataset, n: usize) -> Result<Dataset> {
    if n == 0 {
        let (name, value, accepted) = ("top-labels", "0".into(), "at least 1");
        return Err(Error::Setting { name, value, accepted });
    }
    if n >= data.n_labels() {
        return Ok(data);
    }
    let counts = data.labels().counts();
    let mut kept: Vec<LabelId> = data.labels().ids().collect();
    kept.sort_by_key(|label| std::cmp::Reverse(counts[label.0]));
    kept.truncate(n);
    kept.sort_unstable();
    let story = format!("the {n} most frequent of {} labels", data.n_labels());
    Ok(remembering(data.with_labels(&kept), &story))
}

fn frequent(data: Dataset, n: usize) -> Result<Dataset> {
    let mut counts = vec![0usize; data.n_features()];
    for row in 0..data.n_rows() {
        let stored = data.features().entries(row).filter(|&(_, value)| value != 0.0);
        stored.for_each(|(column, _)| counts[column] += 1);
    }
    let kept: Vec<usize> = (0..counts.len()).filter(|&column| counts[column] >= n).collect();
    if kept.len() == counts.len() {
        return Ok(data);
    }
    let attributes = kept.iter().map(|&column| data.attributes()[column].clone()).collect();
    let features = match data.features() {
        Matrix::Dense(dense) => {
            let mut fewer = Dense::with_room(kept.len(), data.n_rows());
            for row in 0..data.n_rows() {
                let cells: Vec<f64> = kept.iter().map(|&column| dense.row(row)[column]).collect();
                fewer.push_row(&cells);
            }
            Matrix::Dense(fewer)
        }
        features @ Matrix::Sparse(_) => {
            let mut places = vec![None; counts.len()];
            kept.iter().enumerate().for_each(|(at, &column)| places[column] = Some(at as u32));
            let mut fewer = Sparse::new(kept.len());
            for row in 0..data.n_rows() {
                let kept = |(column, value): (usize, f64)| Some((places[column]?, value));
                fewer.push_row(features.entries(row).filter_map(kept).collect::<Vec<_>>());
            }
            Matrix::Sparse(fewer)
        }
    };
    let story = format!("{} of {} features, not 0 in at least {n} rows", kept.len(), counts.len());
    Ok(remembering(data.with_features(attributes, features)?, &story))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, parse};

    fn rows(text: &str) -> Dataset {
        let reading = parse("t.arff".as_ref(), text.as_bytes(), &ReadOptions::default());
        reading.unwrap().into_rows().unwrap()
    }

    fn words(cells: &str) -> Dataset {
        rows(&format!(
            "@relation 't: -C -3'\n@attribute x numeric\n@attribute y numeric\n@attribute z numeric\n\
             @attribute a {{0,1}}\n@attribute b {{0,1}}\n@attribute c {{0,1}}\n@data\n{cells}"
        ))
    }

    fn applied(recipe: Recipe, data: &Dataset) -> Dataset {
        let Table::Rows(data) = recipe.apply(Table::Rows(data.clone())).unwrap() else {
            panic!("rows")
        };
        data
    }

    const SPARSE: &str = "{0 2,3 1,4 1}\n{0 1,2 5,4 1}\n{2 7,5 1}\n{}\n";
    const DENSE: &str = "2,0,0,1,1,0\n1,0,5,0,1,0\n0,0,7,0,0,1\n0,0,0,0,0,0\n";

    #[test]
    fn rare_words_and_labels_go_and_the_rest_keeps_its_order() {
        for cells in [SPARSE, DENSE] {
            let data = words(cells);
            let recipe =
                Recipe { top_labels: Some(2), min_document_frequency: Some(2), ..Recipe::NOTHING };
            let fewer = applied(recipe, &data);
            // x and z are not 0 in two rows each, y in none; b has two rows, a and c one: a is first.
            let names: Vec<&str> = fewer.attributes().iter().map(|a| a.name.as_str()).collect();
            assert_eq!(names, ["x", "z"]);
            assert_eq!(fewer.label_names(), ["a", "b"]);
            assert_eq!(fewer.labels().counts(), [1, 2]);
            assert_eq!([0, 1].map(|at| fewer.features().get(1, at)), [1.0, 5.0]);
            let story =
                ["the 2 most frequent of 3 labels", "2 of 3 features, not 0 in at least 2 rows"];
            assert_eq!(fewer.history(), story);
            assert_eq!(applied(recipe, &fewer), fewer);
        }
    }

    #[test]
    fn a_sample_has_each_row_once_in_order_and_depends_on_the_seed_only() {
        let lines: String = (0..100).map(|n| format!("{n},0,0,0,1,0\n")).collect();
        let data = words(&lines);
        let drawn = |seed: u64| {
            let recipe = Recipe { sample_rows: Some(30), seed, ..Recipe::NOTHING };
            let sample = applied(recipe, &data);
            assert_eq!(applied(recipe, &sample), sample);
            (0..30).map(|row| sample.features().get(row, 0)).collect::<Vec<f64>>()
        };
        assert!(drawn(1).is_sorted_by(|a, b| a < b));
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let too_many = Recipe { sample_rows: Some(101), ..Recipe::NOTHING };
        assert_eq!(
            too_many.apply(Table::Rows(data)).unwrap_err().to_string(),
            "a sample of 101 rows needs at least 101 rows; 100 given"
        );
    }

    #[test]
    fn bags_are_sampled_and_lose_labels_whole() {
        let text = "@relation 'b: -C -2'\n@attribute bag relational\n@attribute x numeric\n@end bag\n\
                    @attribute a {0,1}\n@attribute b {0,1}\n@data\n'1',1,0\n'3',0,1\n'4',1,0\n'9',1,0\n";
        let reading = parse("b.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap();
        let bags = Some(BagReduction::Medoids { n: 2, start: MedoidStart::Random, swap: false });
        let recipe = Recipe { sample_rows: Some(3), top_labels: Some(1), bags, ..Recipe::NOTHING };
        let Table::Rows(data) = recipe.apply(reading.table).unwrap() else { panic!("rows") };
        assert_eq!((data.n_rows(), data.n_features(), data.n_labels()), (3, 2, 1));
        assert_eq!(
            data.history(),
            [
                "a sample of 3 of 4 rows, seed 1",
                "the 1 most frequent of 2 labels",
                "bags as maximal Hausdorff distances to 2 medoids of all 3 bags (random start)",
                "medoids found with seed 1",
            ]
        );
    }
}
