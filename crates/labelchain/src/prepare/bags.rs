//! Bags of instances as single rows.
//!
//! [`BagReduction`] says how; fitted on bags it is a [`BagTransform`], which makes rows of these and
//! of others alike. Only instances count: what a file says of a bag as a whole, besides its labels,
//! is its identifier and is left out.

use serde::{Deserialize, Serialize};

use super::hausdorff::LaidBags;
use super::medoids::{MedoidStart, medoids};
use crate::data::{Attribute, AttributeKind, Bags, Dataset, Dense, Matrix};
use crate::error::{Error, Remedy, Result};
use crate::seed::Seed;

/// How bags become single rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BagReduction {
    /// Instances laid end to end, in the order of the file. All bags must be of one size.
    Concat,
    /// Distances to the medoids of the bags (as MIMLSVM does), maximal Hausdorff.
    Medoids {
        /// How many, 20 in the paper's sets.
        n: usize,
        /// Where the search for them starts.
        start: MedoidStart,
        /// Whether it exchanges medoids for other bags (PAM) instead of alternating between groups
        /// and their middles.
        swap: bool,
    },
}

/// Makes single rows of bags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BagTransform {
    /// The columns of an instance.
    attributes: Vec<Attribute>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Concat {
        n_instances: usize,
    },
    Medoids {
        start: MedoidStart,
        swap: bool,
        /// How many bags they were chosen from, and which they are.
        n_bags: usize,
        rows: Vec<usize>,
        bags: LaidBags,
    },
}

impl BagReduction {
    /// Learns from bags what the transform needs: their size, or their medoids.
    pub fn fit(&self, bags: &Bags, seed: Seed) -> Result<BagTransform> {
        let attributes = bags.attributes().to_vec();
        let kind = match *self {
            BagReduction::Concat => {
                let n_instances = if bags.n_bags() > 0 { bags.instances_of(0).len() } else { 0 };
                Kind::Concat { n_instances }
            }
            BagReduction::Medoids { n, start, swap } => {
                if n == 0 {
                    let (name, value, accepted) = ("medoids", "0".into(), "at least 1");
                    return Err(Error::Setting { name, value, accepted });
                }
                if bags.n_bags() < n {
                    let purpose = format!("a choice of {n} medoids");
                    return Err(Error::TooFewRows { needed: n, found: bags.n_bags(), purpose });
                }
                let nominal = attributes.iter().find(|a| a.kind != AttributeKind::Numeric);
                if let Some(nominal) = nominal {
                    return Err(Error::Columns {
                        path: bags.rows().name().into(),
                        problem: format!(
                            "instances have named values in {:?}, and so no distances",
                            nominal.name
                        ),
                        remedy: Remedy::from("make the column numeric, or use ")
                            .set("bags", "concat"),
                    });
                }
                let columns: Vec<usize> = (0..attributes.len()).collect();
                let laid = LaidBags::new(bags, &columns)?;
                if laid.vanish() {
                    let first = attributes.first().map_or("", |attribute| &attribute.name);
                    return Err(Error::Columns {
                        path: bags.rows().name().into(),
                        problem: format!(
                            "numbers of instances are smaller than 1e-100 in all columns (first: \
                             {first:?}), so that all distances would be 0"
                        ),
                        remedy: Remedy::from("measure the columns in another unit, or use ")
                            .set("bags", "concat"),
                    });
                }
                let rows = medoids(&laid.all_pairs(), n, start, swap, seed);
                let bags = laid.select(&rows);
                Kind::Medoids { start, swap, n_bags: laid.n_bags(), rows, bags }
            }
        };
        Ok(BagTransform { attributes, kind })
    }
}

impl BagTransform {
    /// The rows that were chosen as medoids of the bags it was fitted on; none where there are no
    /// medoids.
    pub fn medoids(&self) -> &[usize] {
        match &self.kind {
            Kind::Concat { .. } => &[],
            Kind::Medoids { rows, .. } => rows,
        }
    }

    /// Makes single rows of bags whose instances have the same columns, in any order.
    pub fn apply(&self, bags: &Bags) -> Result<Dataset> {
        let columns = self.columns(bags)?;
        let (attributes, features) = match &self.kind {
            Kind::Concat { n_instances } => self.concat(bags, &columns, *n_instances)?,
            Kind::Medoids { rows, bags: medoids, .. } => {
                let distances = LaidBags::new(bags, &columns)?.distances(medoids);
                let mut features = Dense::with_room(rows.len(), bags.n_bags());
                distances.chunks_exact(rows.len()).for_each(|row| features.push_row(row));
                let name = |row: &usize| Attribute::numeric(format!("to_row_{row}"));
                (rows.iter().map(name).collect(), features)
            }
        };
        let mut data = bags.rows().with_features(attributes, Matrix::Dense(features))?;
        data.remember(&self.story());
        Ok(data)
    }

    fn concat(
        &self,
        bags: &Bags,
        columns: &[usize],
        n_instances: usize,
    ) -> Result<(Vec<Attribute>, Dense)> {
        let numbered = |at: usize| {
            let name =
                move |a: &Attribute| Attribute { name: format!("{}_{at}", a.name), ..a.clone() };
            self.attributes.iter().map(name)
        };
        let attributes: Vec<Attribute> = (1..=n_instances).flat_map(numbered).collect();
        let mut features = Dense::with_room(attributes.len(), bags.n_bags());
        for bag in 0..bags.n_bags() {
            let instances = bags.instances_of(bag);
            if instances.len() != n_instances {
                return Err(Error::Bag {
                    name: bags.rows().name().into(),
                    bag,
                    problem: format!(
                        "holds {} instances, the first {n_instances}, and only bags of one size can be laid end to end",
                        instances.len()
                    ),
                    remedy: Remedy::default()
                        .set("bags", "medoids")
                        .text(" takes bags of any size"),
                });
            }
            let cells: Vec<f64> = instances
                .flat_map(|at| columns.iter().map(move |&column| bags.instances().get(at, column)))
                .collect();
            features.push_row(&cells);
        }
        Ok((attributes, features))
    }

    /// Where the columns of an instance are in other bags.
    fn columns(&self, bags: &Bags) -> Result<Vec<usize>> {
        let place = |attribute: &Attribute| {
            bags.attributes().iter().position(|other| other == attribute).ok_or_else(|| {
                Error::Columns {
                    path: bags.rows().name().into(),
                    problem: format!(
                        "instances lack a column {:?} of the kind there was in training",
                        attribute.name
                    ),
                    remedy: "columns are found by name, in any order; name them as in training"
                        .into(),
                }
            })
        };
        self.attributes.iter().map(place).collect()
    }

    /// What was done, in one sentence.
    pub fn story(&self) -> String {
        match &self.kind {
            Kind::Concat { n_instances } => {
                format!("bags of {n_instances} instances laid end to end")
            }
            Kind::Medoids { start, swap, n_bags, rows, .. } => {
                let start = match start {
                    MedoidStart::Random => "random",
                    MedoidStart::Spread => "k-medoids++",
                    MedoidStart::Build => "BUILD",
                };
                let swaps = if *swap { ", swaps" } else { "" };
                let n = rows.len();
                format!(
                    "bags as maximal Hausdorff distances to {n} medoids of all {n_bags} bags ({start} start{swaps})"
                )
            }
        }
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    pub(crate) fn is_sound(&self, n_features: usize) -> bool {
        match &self.kind {
            Kind::Concat { n_instances } => {
                n_instances.checked_mul(self.attributes.len()) == Some(n_features)
            }
            Kind::Medoids { rows, bags, .. } => {
                rows.len() == n_features
                    && !rows.is_empty()
                    && bags.n_bags() == rows.len()
                    && bags.is_sound(self.attributes.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, Table, parse};
    use serde_json::Value;

    const ALTERNATING: BagReduction = medoids_of(2, MedoidStart::Random);

    const fn medoids_of(n: usize, start: MedoidStart) -> BagReduction {
        BagReduction::Medoids { n, start, swap: false }
    }

    /// Bags of numbers, with an identifier and one label.
    fn bags(width: usize, all: &[Vec<Vec<f64>>]) -> Bags {
        let columns: String = (0..width).map(|at| format!("@attribute x{at} numeric\n")).collect();
        let row = |(at, bag): (usize, &Vec<Vec<f64>>)| {
            let instance = |cells: &Vec<f64>| {
                cells.iter().map(f64::to_string).collect::<Vec<String>>().join(",")
            };
            let bag: Vec<String> = bag.iter().map(instance).collect();
            format!("{at},'{}',{}\n", bag.join("\\n"), at % 2)
        };
        let rows: String = all.iter().enumerate().map(row).collect();
        let text = format!(
            "@relation 'b: -C -1'\n@attribute id numeric\n@attribute bag relational\n{columns}@end bag\n\
             @attribute a {{0,1}}\n@data\n{rows}"
        );
        let reading = parse("b.arff".as_ref(), text.as_bytes(), &ReadOptions::default()).unwrap();
        let Table::Bags(bags) = reading.table else { panic!("bags") };
        bags
    }

    fn row(data: &Dataset, row: usize) -> Vec<f64> {
        (0..data.n_features()).map(|at| data.features().get(row, at)).collect()
    }

    #[test]
    fn bags_of_one_size_are_laid_end_to_end() {
        let all = [vec![vec![1.0, 2.0], vec![3.0, 4.0]], vec![vec![5.0, 6.0], vec![7.0, 8.0]]];
        let bags = bags(2, &all);
        let transform = BagReduction::Concat.fit(&bags, Seed::new(1)).unwrap();
        let data = transform.apply(&bags).unwrap();
        let names: Vec<&str> = data.attributes().iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["x0_1", "x1_1", "x0_2", "x1_2"]);
        assert_eq!((row(&data, 0), row(&data, 1)), (vec![1., 2., 3., 4.], vec![5., 6., 7., 8.]));
        assert_eq!(data.labels().counts(), [1]);
        assert_eq!(data.history(), ["bags of 2 instances laid end to end"]);
    }

    #[test]
    fn bags_that_do_not_fit_are_refused() {
        let uneven = bags(1, &[vec![vec![1.0]], vec![vec![1.0], vec![2.0]]]);
        let transform = BagReduction::Concat.fit(&uneven, Seed::new(1)).unwrap();
        assert_eq!(
            transform.apply(&uneven).unwrap_err().to_string(),
            "b, bag 1: holds 2 instances, the first 1, and only bags of one size can be laid end to end"
        );
        let refused = |reduction: BagReduction, bags: &Bags| {
            reduction.fit(bags, Seed::new(1)).unwrap_err().to_string()
        };
        assert_eq!(
            refused(medoids_of(3, MedoidStart::Build), &uneven),
            "a choice of 3 medoids needs at least 3 rows; 2 given"
        );
        assert_eq!(
            refused(medoids_of(0, MedoidStart::Build), &uneven),
            "medoids is 0, but must be at least 1"
        );
        assert_eq!(
            refused(ALTERNATING, &bags(1, &[vec![vec![1.0]], vec![vec![f64::NAN]]])),
            "b, row 1, column \"x0\": expected a number within ±1e100 in every instance, for distances, found NaN"
        );
        let in_unit = |unit| bags(1, &[vec![vec![unit]], vec![vec![2.0 * unit]]]);
        assert_eq!(
            refused(ALTERNATING, &in_unit(1e200)),
            "b, row 0, column \"x0\": expected a number within ±1e100 in every instance, for distances, found 1e200"
        );
        assert_eq!(
            refused(ALTERNATING, &in_unit(1e-200)),
            "b: numbers of instances are smaller than 1e-100 in all columns (first: \"x0\"), \
             so that all distances would be 0"
        );
        assert_eq!(
            refused(ALTERNATING, &bags(1, &[vec![vec![1.0]], vec![]])),
            "b, bag 1: has no instances, and so no distance to others"
        );
    }

    #[test]
    fn a_transform_makes_rows_of_bags_it_has_not_seen() {
        let known =
            bags(1, &[vec![vec![0.0]], vec![vec![1.0]], vec![vec![10.0]], vec![vec![12.0]]]);
        let transform = medoids_of(2, MedoidStart::Build).fit(&known, Seed::new(1)).unwrap();
        let [first, second] = transform.medoids() else { panic!("two medoids") };
        let at = |bag: &usize| known.instances().get(*bag, 0);
        let other = bags(1, &[vec![vec![4.0], vec![5.0]]]);
        let data = transform.apply(&other).unwrap();
        // To a bag of one instance, the distance is that of the farther of 4 and 5.
        let expected = [first, second].map(|bag| (at(bag) - 4.0).abs().max((at(bag) - 5.0).abs()));
        assert_eq!(row(&data, 0), expected);
        let strange = bags(2, &[vec![vec![1.0, 2.0]]]);
        let narrow = BagReduction::Concat.fit(&strange, Seed::new(1)).unwrap();
        assert!(matches!(narrow.apply(&other), Err(Error::Columns { .. })));
    }

    #[test]
    fn the_same_seed_finds_the_same_medoids_and_each_is_the_middle_of_its_group() {
        let mut rng = Seed::new(9).rng();
        let all: Vec<Vec<Vec<f64>>> = (0..60)
            .map(|_| (0..1 + rng.below(11)).map(|_| vec![rng.normal(), rng.normal()]).collect())
            .collect();
        let bags = bags(2, &all);
        let pairs = LaidBags::new(&bags, &[0, 1]).unwrap().all_pairs();
        for start in [MedoidStart::Random, MedoidStart::Spread, MedoidStart::Build] {
            for seed in 0..5 {
                let fit = || medoids_of(6, start).fit(&bags, Seed::new(seed)).unwrap();
                let (one, two) = (fit(), rayon::ThreadPoolBuilder::new().num_threads(1).build());
                assert_eq!(one, two.unwrap().install(fit));
                let medoids = one.medoids();
                let nearest = |bag: &usize| {
                    let to = |slot: &usize| pairs.get(*bag, medoids[*slot]);
                    (0..6).min_by(|a, b| to(a).total_cmp(&to(b))).unwrap()
                };
                for (slot, &medoid) in medoids.iter().enumerate() {
                    let group: Vec<usize> = (0..60).filter(|bag| nearest(bag) == slot).collect();
                    let sum = |bag: usize| group.iter().map(|&o| pairs.get(bag, o)).sum::<f64>();
                    let least = group.iter().map(|&bag| sum(bag)).fold(f64::INFINITY, f64::min);
                    assert_eq!(sum(medoid), least, "{start:?} {seed}");
                }
            }
        }
    }

    #[test]
    fn copies_of_one_bag_still_give_different_medoids() {
        let bags = bags(1, &[vec![vec![1.0]], vec![vec![1.0]], vec![vec![1.0]]]);
        for start in [MedoidStart::Random, MedoidStart::Spread, MedoidStart::Build] {
            for swap in [false, true] {
                let reduction = BagReduction::Medoids { n: 3, start, swap };
                let transform = reduction.fit(&bags, Seed::new(1)).unwrap();
                let mut medoids = transform.medoids().to_vec();
                medoids.sort_unstable();
                assert_eq!(medoids, [0, 1, 2]);
            }
        }
    }

    /// Distances by SciPy, medoids by the kmedoids package: see testdata/bags/make.py.
    #[test]
    fn distances_and_medoids_are_those_of_other_tools() {
        let golden = include_str!("../../../../testdata/bags/golden.json");
        let golden: Value = serde_json::from_str(golden).unwrap();
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for set in golden["sets"].as_array().unwrap() {
            let all: Vec<Vec<Vec<f64>>> = serde_json::from_value(set["bags"].clone()).unwrap();
            let expected: Vec<Vec<f64>> = serde_json::from_value(set["distances"].clone()).unwrap();
            let width = all[0][0].len();
            let bags = bags(width, &all);
            let laid = LaidBags::new(&bags, &(0..width).collect::<Vec<_>>()).unwrap();
            let (pairs, square) = (laid.all_pairs(), laid.distances(&laid));
            for (a, expected) in expected.iter().enumerate() {
                for (b, expected) in expected.iter().enumerate() {
                    assert!((pairs.get(a, b) - expected).abs() <= tolerance);
                    assert_eq!(pairs.get(a, b), square[a * all.len() + b]);
                    assert_eq!(pairs.get(a, b), by_definition(&all[a], &all[b]));
                }
            }
            let n = set["k"].as_u64().unwrap() as usize;
            for (swap, tool) in [(false, "alternating"), (true, "pam")] {
                let reduction = BagReduction::Medoids { n, start: MedoidStart::Build, swap };
                let mut found = reduction.fit(&bags, Seed::new(1)).unwrap().medoids().to_vec();
                found.sort_unstable();
                let expected: Vec<usize> = serde_json::from_value(set[tool].clone()).unwrap();
                assert_eq!(found, expected, "{tool}");
            }
        }
    }

    fn by_definition(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
        let distance = |a: &Vec<f64>, b: &Vec<f64>| {
            a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
        };
        let directed = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            let nearest =
                |x: &Vec<f64>| b.iter().map(|y| distance(x, y)).fold(f64::INFINITY, f64::min);
            a.iter().map(nearest).fold(0.0, f64::max)
        };
        directed(a, b).max(directed(b, a))
    }
}
