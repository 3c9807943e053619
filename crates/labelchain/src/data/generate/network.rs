//! Labels that depend on each other: a random Bayesian network, seen through noisy features.

use std::ops::Range;

use super::{check_size, named, setting};
use crate::data::{Dataset, Dense, LabelId, LabelMatrix, Matrix};
use crate::error::Result;
use crate::seed::{Rng, Seed};

/// A random Bayesian network over labels, seen through noisy features.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `n_rows` | 500 | 1 to 2^32 - 1 | rows |
/// | `n_labels` | 6 | 1 to 100,000 | labels |
/// | `n_features` | 12 | up to 1,000,000 | inputs; feature m speaks of label m mod L |
/// | `dependence` | 1.0 | [0, 1] | how much a label follows its parents; 0 makes labels independent |
/// | `noise` | 1.0 | above 0 | deviation of a feature around the mean its label sets |
/// | `decimals` | none | at most 15 | places that cells are rounded to; none keeps all bits |
#[derive(Clone, Debug, PartialEq)]
pub struct LabelNetwork {
    /// Rows.
    pub n_rows: usize,
    /// Labels.
    pub n_labels: usize,
    /// Inputs; feature m speaks of label m mod L.
    pub n_features: usize,
    /// How much a label follows its parents; 0 makes labels independent.
    pub dependence: f64,
    /// Deviation of a feature around the mean its label sets.
    pub noise: f64,
    /// Places that cells are rounded to; none keeps all bits.
    pub decimals: Option<u32>,
}

impl Default for LabelNetwork {
    fn default() -> LabelNetwork {
        LabelNetwork {
            n_rows: 500,
            n_labels: 6,
            n_features: 12,
            dependence: 1.0,
            noise: 1.0,
            decimals: None,
        }
    }
}

/// A network whose labels have their parents, and whose rows are made when asked for.
#[derive(Clone, Debug)]
pub struct DrawnNetwork {
    settings: LabelNetwork,
    name: String,
    seed: Seed,
    nodes: Vec<Node>,
}

/// A label's place in the network.
#[derive(Clone, Debug)]
struct Node {
    /// Its probability on its own.
    base: f64,
    /// Up to two earlier labels, and the probability they argue for: relevant parents for
    /// `pull`, irrelevant ones for 1 - `pull`.
    parents: Vec<LabelId>,
    pull: f64,
}

impl LabelNetwork {
    /// Draws the network, then the rows.
    pub fn generate(&self, name: &str, seed: Seed) -> Result<Dataset> {
        self.draw(name, seed)?.rows(0..self.n_rows)
    }

    /// About how many bytes the network takes once it is drawn, without any rows.
    pub fn n_bytes(&self) -> u64 {
        (self.n_labels as u64).saturating_add(self.n_features as u64).saturating_mul(100)
    }

    /// Draws the network.
    pub fn draw(&self, name: &str, seed: Seed) -> Result<DrawnNetwork> {
        self.validate()?;
        let mut rng = seed.child("network", 0).rng();
        let nodes = (0..self.n_labels).map(|label| Node::draw(label, &mut rng)).collect();
        Ok(DrawnNetwork { settings: self.clone(), name: name.into(), seed, nodes })
    }

    fn validate(&self) -> Result<()> {
        check_size(self.n_rows, self.n_labels, &[("features", self.n_features)])?;
        if !(0.0..=1.0).contains(&self.dependence) {
            return setting("dependence", self.dependence, "from 0 to 1");
        }
        if !(self.noise > 0.0 && self.noise.is_finite()) {
            return setting("noise", self.noise, "above 0");
        }
        match self.decimals {
            Some(decimals) if decimals > 15 => setting("decimals", decimals, "at most 15"),
            _ => Ok(()),
        }
    }
}

impl DrawnNetwork {
    /// Some of the rows: the same whichever are asked for together.
    pub fn rows(&self, span: Range<usize>) -> Result<Dataset> {
        let LabelNetwork { n_labels, n_features, dependence, noise, decimals, .. } = self.settings;
        let power = decimals.map(|decimals| 10f64.powi(decimals as i32));
        let mut features = Dense::with_room(n_features, span.len());
        let mut labels = LabelMatrix::empty(span.len(), n_labels);
        let mut cells = vec![0.0; n_features];
        for (at, row) in span.enumerate() {
            // A row's draws are its own, so the first rows of a longer set are the same rows.
            let mut rng = self.seed.child("row", row).rng();
            for (label, node) in self.nodes.iter().enumerate() {
                let relevant = rng.chance(node.probability(at, &labels, dependence));
                labels.set(at, LabelId(label), relevant);
            }
            for (m, cell) in cells.iter_mut().enumerate() {
                let relevant = labels.get(at, LabelId(m % n_labels));
                *cell = f64::from(u8::from(relevant)) + noise * rng.normal();
            }
            if let Some(power) = power {
                cells.iter_mut().for_each(|cell| *cell = (*cell * power).round() / power);
            }
            features.push_row(&cells);
        }
        let (attributes, label_names) = named(&[("x", n_features)], n_labels);
        Dataset::new(&self.name, attributes, Matrix::Dense(features), label_names, labels)
    }
}

impl Node {
    fn draw(label: usize, rng: &mut Rng) -> Node {
        let base = 0.15 + 0.35 * rng.unit();
        let n_parents = label.min(1 + rng.below(2));
        let mut earlier: Vec<LabelId> = (0..label).map(LabelId).collect();
        rng.shuffle(&mut earlier);
        earlier.truncate(n_parents);
        let pull = if rng.chance(0.75) { 0.9 } else { 0.05 };
        Node { base, parents: earlier, pull }
    }

    /// (1 - dependence) · base + dependence · the mean of the probabilities that the parents argue
    /// for.
    fn probability(&self, row: usize, labels: &LabelMatrix, dependence: f64) -> f64 {
        if self.parents.is_empty() {
            return self.base;
        }
        let opinion = |&parent: &LabelId| {
            if labels.get(row, parent) { self.pull } else { self.base * (1.0 - self.pull) }
        };
        let mean = self.parents.iter().map(opinion).sum::<f64>() / self.parents.len() as f64;
        (1.0 - dependence) * self.base + dependence * mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean over pairs of the absolute correlation (phi) of two labels.
    fn mean_correlation(data: &Dataset) -> f64 {
        let (n, labels) = (data.n_rows() as f64, data.labels());
        let counts: Vec<f64> = labels.counts().iter().map(|&count| count as f64 / n).collect();
        let mut all = Vec::new();
        for a in labels.ids() {
            for b in labels.ids().filter(|b| b.0 > a.0) {
                let both =
                    (0..data.n_rows()).filter(|&r| labels.get(r, a) && labels.get(r, b)).count();
                let spread = |p: f64| (p * (1.0 - p)).sqrt();
                let (p, q) = (counts[a.0], counts[b.0]);
                all.push(((both as f64 / n - p * q) / (spread(p) * spread(q))).abs());
            }
        }
        all.iter().sum::<f64>() / all.len() as f64
    }

    #[test]
    fn dependence_is_a_dial() {
        let network = LabelNetwork { n_rows: 4000, ..LabelNetwork::default() };
        let with = network.generate("with", Seed::new(1)).unwrap();
        let without = LabelNetwork { dependence: 0.0, ..network };
        let without = without.generate("without", Seed::new(1)).unwrap();
        // Independent labels have a correlation of about 1/sqrt(4000) = 0.016 by chance.
        assert!(mean_correlation(&without) < 0.03, "{}", mean_correlation(&without));
        assert!(mean_correlation(&with) > 0.15, "{}", mean_correlation(&with));
    }

    #[test]
    fn a_longer_set_begins_with_the_shorter_one() {
        let network = LabelNetwork::default();
        let long =
            LabelNetwork { n_rows: 600, ..network.clone() }.generate("x", Seed::new(3)).unwrap();
        let first: Vec<usize> = (0..500).collect();
        assert_eq!(long.select(&first), network.generate("x", Seed::new(3)).unwrap());
    }

    #[test]
    fn rows_do_not_depend_on_which_are_asked_for_together() {
        let network = LabelNetwork { n_rows: 100, decimals: Some(3), ..LabelNetwork::default() };
        let drawn = network.draw("x", Seed::new(5)).unwrap();
        let all = network.generate("x", Seed::new(5)).unwrap();
        let some: Vec<usize> = (30..70).collect();
        assert_eq!(drawn.rows(30..70).unwrap(), all.select(&some));
        let is_rounded = |cell: f64| (cell * 1e3).round() / 1e3 == cell;
        assert!((0..100).all(|row| all.features().entries(row).all(|(_, cell)| is_rounded(cell))));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for network in [
            LabelNetwork { n_rows: 0, ..LabelNetwork::default() },
            LabelNetwork { n_labels: 0, ..LabelNetwork::default() },
            LabelNetwork { dependence: 1.5, ..LabelNetwork::default() },
            LabelNetwork { decimals: Some(16), ..LabelNetwork::default() },
            LabelNetwork { noise: f64::NAN, ..LabelNetwork::default() },
        ] {
            assert!(network.generate("x", Seed::new(1)).is_err());
        }
    }
}
