//! The label sets of the training rows: each different one once, as bits and as a list.

use std::collections::HashMap;
use std::ops::Range;

use crate::data::LabelMatrix;

/// The different label sets of some rows, in the order in which they first occur.
pub(super) struct TrainingLabels {
    /// The label sets, as bits.
    pub(super) sets: LabelMatrix,
    /// Which of them each row has.
    pub(super) set_of_row: Vec<u32>,
    /// The labels known to be in set s are `labels[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    labels: Vec<u32>,
}

impl TrainingLabels {
    /// Of the rows named.
    pub(super) fn new(truth: &LabelMatrix, rows: &[usize]) -> TrainingLabels {
        let mut seen: HashMap<(&[u64], Option<&[u64]>), u32> = HashMap::new();
        let mut firsts = Vec::new();
        let set = |&row: &usize| {
            // Sets that leave other labels unknown are different.
            *seen.entry((truth.row(row), truth.unknown_row(row))).or_insert_with(|| {
                firsts.push(row);
                firsts.len() as u32 - 1
            })
        };
        let set_of_row = rows.iter().map(set).collect();
        let sets = truth.select(&firsts);
        let (mut starts, mut labels) = (vec![0], Vec::new());
        for set in 0..sets.n_rows() {
            labels.extend(sets.relevant(set).map(|label| label.0 as u32));
            starts.push(labels.len() as u32);
        }
        TrainingLabels { sets, set_of_row, starts, labels }
    }

    pub(super) fn n_labels(&self) -> usize {
        self.sets.n_labels()
    }

    /// Where the labels of a row stand in the lists of all label sets.
    pub(super) fn range(&self, row: u32) -> Range<u32> {
        let set = self.set_of_row[row as usize] as usize;
        self.starts[set]..self.starts[set + 1]
    }

    /// The labels that stand there.
    #[inline(always)]
    pub(super) fn in_range(&self, range: Range<u32>) -> &[u32] {
        &self.labels[range.start as usize..range.end as usize]
    }
}
