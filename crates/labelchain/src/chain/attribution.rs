//! What a model says of a row from its inputs alone, taken apart: by training rows, and by inputs.

use std::collections::BTreeMap;

use crate::data::LabelId;

/// What speaks for the labels of one row, before any of them is decided. A model has what it can say
/// of itself, and leaves the rest empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// The training rows that the answer rests on, with weights that sum to 1; by descending weight, of
    /// equals the lower row first.
    pub neighbours: Vec<Neighbour>,
    /// What base values and contributions are: `log-odds` or `probability`; empty where there are none.
    pub unit: &'static str,
    /// What the model says of each label before it looks at an input, by label. It and the contributions to
    /// the label sum to what the model says.
    pub base_values: Vec<f64>,
    /// What each input adds, where that is not 0; by descending size.
    pub contributions: Vec<Contribution>,
}

/// A training row that an answer rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Which of the training rows.
    pub row: usize,
    /// Its share in the answer.
    pub weight: f64,
    /// The labels that it has.
    pub labels: Vec<LabelId>,
}

/// What one input of a row adds to one label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Which input.
    pub input: usize,
    /// To which label.
    pub label: LabelId,
    /// How much.
    pub value: f64,
}

impl Attribution {
    /// The mean over the members of an ensemble. An input that a member does not look at adds 0 there.
    pub fn mean(members: &[Attribution]) -> Attribution {
        let mut sum = AttributionSum::default();
        members.iter().for_each(|member| sum.add(member));
        sum.mean(members.len())
    }
}

/// Attributions that are added up.
#[derive(Default)]
pub(crate) struct AttributionSum {
    unit: &'static str,
    neighbours: BTreeMap<usize, (f64, Vec<LabelId>)>,
    base_values: Vec<f64>,
    contributions: BTreeMap<(usize, usize), f64>,
}

impl AttributionSum {
    fn add(&mut self, other: &Attribution) {
        for Neighbour { row, weight, labels } in &other.neighbours {
            self.add_neighbour(*row, *weight, || labels.clone());
        }
        self.add_base_values(other.unit, &other.base_values);
        for &Contribution { input, label, value } in &other.contributions {
            self.add_contribution(input, label, value);
        }
    }

    pub(crate) fn add_neighbour(
        &mut self,
        row: usize,
        weight: f64,
        labels: impl FnOnce() -> Vec<LabelId>,
    ) {
        self.neighbours.entry(row).or_insert_with(|| (0.0, labels())).0 += weight;
    }

    pub(crate) fn add_base_values(&mut self, unit: &'static str, values: &[f64]) {
        self.unit = unit;
        self.base_values.resize(values.len().max(self.base_values.len()), 0.0);
        self.base_values.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    pub(crate) fn add_contribution(&mut self, input: usize, label: LabelId, value: f64) {
        *self.contributions.entry((input, label.0)).or_default() += value;
    }

    /// Divided by how many were added.
    pub(crate) fn mean(self, n: usize) -> Attribution {
        let n = n.max(1) as f64;
        let neighbour =
            |(row, (sum, labels)): (usize, (f64, _))| Neighbour { row, weight: sum / n, labels };
        let mut neighbours: Vec<Neighbour> = self.neighbours.into_iter().map(neighbour).collect();
        neighbours.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let contribution = |((input, label), sum): ((usize, usize), f64)| Contribution {
            input,
            label: LabelId(label),
            value: sum / n,
        };
        let contributions = self.contributions.into_iter().filter(|(_, sum)| *sum != 0.0);
        let mut contributions: Vec<Contribution> = contributions.map(contribution).collect();
        contributions.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        let base_values = self.base_values.iter().map(|sum| sum / n).collect();
        Attribution { neighbours, unit: self.unit, base_values, contributions }
    }
}
