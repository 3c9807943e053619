//! How many cells have each value, from which the shares of values in each class follow.

use super::cells::ColumnCells;
use super::density::Factor;
use super::moments::RelevantLabels;

/// How many cells have each of some values: of all rows, and of the rows to which a label is relevant.
pub(super) struct ValueCounts {
    all: Vec<f64>,
    /// By label, then by value.
    relevant: Vec<f64>,
}

impl ValueCounts {
    /// The counts of a column, whose cells have the values 0 to `n_values` - 1 by `index`.
    pub(super) fn of(
        cells: &ColumnCells,
        relevant: &RelevantLabels,
        n_values: usize,
        index: impl Fn(f64) -> usize,
    ) -> ValueCounts {
        let mut counts = ValueCounts {
            all: vec![0.0; n_values],
            relevant: vec![0.0; relevant.n_rows().len() * n_values],
        };
        // As if all cells were left out at first.
        let left_out = cells.has_left_out().then(|| index(0.0)).filter(|&at| at < n_values);
        if let Some(value) = left_out {
            counts.all[value] = cells.n_rows as f64;
            for (counts, &n) in counts.relevant.chunks_mut(n_values.max(1)).zip(relevant.n_rows()) {
                counts[value] = f64::from(n);
            }
        }
        for (place, cell) in cells.stored() {
            let labels = relevant.of(place);
            let mut add = |value: usize, n: f64| {
                counts.all[value] += n;
                labels.iter().for_each(|&at| counts.relevant[at as usize * n_values + value] += n);
            };
            if let Some(value) = left_out {
                add(value, -1.0);
            }
            if !cell.is_nan() {
                add(index(cell), 1.0);
            }
        }
        counts
    }

    /// The factors of some labels, from the counts of irrelevant and relevant cells by value.
    pub(super) fn factors(
        &self,
        labels: &[usize],
        factor: impl Fn(&[f64], &[f64]) -> Factor,
    ) -> Vec<(usize, Factor)> {
        let n_values = self.all.len();
        let of_label = |&at: &usize| {
            let yes = &self.relevant[at * n_values..(at + 1) * n_values];
            let no: Vec<f64> = self.all.iter().zip(yes).map(|(all, yes)| all - yes).collect();
            (at, factor(&no, yes))
        };
        labels.iter().map(of_label).collect()
    }
}
