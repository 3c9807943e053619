//! Which labels are relevant to which row, as packed bits, indexed by label and never by position
//! in a chain.

use std::collections::TryReserveError;

use serde::{Deserialize, Serialize};

/// One label, by its place in the data set's label order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelId(pub usize);

/// The relevant labels of many rows: one bit a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLabels")]
pub struct LabelMatrix {
    n_rows: usize,
    n_labels: usize,
    words_per_row: usize,
    words: Vec<u64>,
}

/// The fields of a label table as they are decoded, before it is known whether they fit together.
#[derive(Deserialize)]
struct UncheckedLabels {
    n_rows: usize,
    n_labels: usize,
    words_per_row: usize,
    words: Vec<u64>,
}

impl TryFrom<UncheckedLabels> for LabelMatrix {
    type Error = &'static str;

    fn try_from(fields: UncheckedLabels) -> Result<LabelMatrix, &'static str> {
        let UncheckedLabels { n_rows, n_labels, words_per_row, words } = fields;
        if n_labels == 0 && n_rows > 0 {
            return Err("rows without labels cannot be counted");
        }
        if words_per_row != n_labels.div_ceil(64)
            || n_rows.checked_mul(words_per_row) != Some(words.len())
        {
            return Err("a label table has one bit for each row and label, in whole words");
        }
        // Counting and comparing rows word by word relies on the bits beyond the last label being 0.
        let beyond = match n_labels % 64 {
            0 => 0,
            rest => u64::MAX << rest,
        };
        let last_words = words.chunks(words_per_row.max(1)).filter_map(|row| row.last());
        if last_words.copied().any(|word| word & beyond != 0) {
            return Err("a label table has no bits beyond its last label");
        }
        Ok(LabelMatrix { n_rows, n_labels, words_per_row, words })
    }
}

impl LabelMatrix {
    /// A table of no rows yet.
    pub fn new(n_labels: usize) -> LabelMatrix {
        LabelMatrix { n_rows: 0, n_labels, words_per_row: n_labels.div_ceil(64), words: Vec::new() }
    }

    /// `n_rows` rows without a relevant label.
    pub fn empty(n_rows: usize, n_labels: usize) -> LabelMatrix {
        let mut labels = LabelMatrix::new(n_labels);
        labels.words = vec![0; n_rows * labels.words_per_row];
        labels.n_rows = n_rows;
        labels
    }

    /// Makes room for so many rows, so that adding them cannot fail.
    pub(crate) fn try_reserve(&mut self, n_rows: usize) -> Result<(), TryReserveError> {
        self.words.try_reserve(n_rows.saturating_mul(self.words_per_row))
    }

    /// Adds a row without a relevant label and returns its index.
    pub fn push_row(&mut self) -> usize {
        self.words.resize(self.words.len() + self.words_per_row, 0);
        self.n_rows += 1;
        self.n_rows - 1
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// All labels, in label order.
    pub fn ids(&self) -> impl Iterator<Item = LabelId> + use<> {
        (0..self.n_labels).map(LabelId)
    }

    /// Whether a label is relevant to a row.
    pub fn get(&self, row: usize, label: LabelId) -> bool {
        self.row(row)[label.0 / 64] >> (label.0 % 64) & 1 == 1
    }

    /// Writes down whether a label is relevant to a row.
    pub fn set(&mut self, row: usize, label: LabelId, relevant: bool) {
        assert!(label.0 < self.n_labels, "the label exists");
        let word = &mut self.words[row * self.words_per_row + label.0 / 64];
        *word = *word & !(1 << (label.0 % 64)) | (u64::from(relevant) << (label.0 % 64));
    }

    /// Writes down the labels of a row as bits, laid out as [`LabelMatrix::row`] has them.
    pub(crate) fn write_row(&mut self, row: usize, bits: &[u64]) {
        let words = self.words_per_row;
        self.words[row * words..(row + 1) * words].copy_from_slice(bits);
    }

    /// A row's bits: label l is bit l mod 64 of word l / 64, and the bits beyond the last label
    /// are 0.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row..(row + 1) * self.words_per_row]
    }

    /// The relevant labels of a row, ascending.
    pub fn relevant(&self, row: usize) -> impl Iterator<Item = LabelId> + '_ {
        self.row(row).iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| LabelId(at * 64 + rest.trailing_zeros() as usize))
        })
    }

    /// To how many rows each label is relevant.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_labels];
        for row in 0..self.n_rows {
            self.relevant(row).for_each(|label| counts[label.0] += 1);
        }
        counts
    }

    /// The rows named, in that order.
    pub fn select(&self, rows: &[usize]) -> LabelMatrix {
        let mut chosen = LabelMatrix::new(self.n_labels);
        chosen.words = rows.iter().flat_map(|&row| self.row(row)).copied().collect();
        chosen.n_rows = rows.len();
        chosen
    }

    /// The rows of several tables of `n_labels` labels, one table after the other.
    pub fn concat(n_labels: usize, tables: &[LabelMatrix]) -> LabelMatrix {
        let mut all = LabelMatrix::new(n_labels);
        all.words = tables.iter().flat_map(|table| &table.words).copied().collect();
        all.n_rows = tables.iter().map(LabelMatrix::n_rows).sum();
        all
    }

    /// Whether it is a table of so many rows and labels.
    pub(crate) fn is_sound(&self, n_rows: usize, n_labels: usize) -> bool {
        (self.n_rows, self.n_labels) == (n_rows, n_labels)
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        self.words.len() * 8
    }

    pub(crate) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_kept_across_word_borders() {
        let mut labels = LabelMatrix::empty(2, 130);
        for label in [0, 63, 64, 129] {
            labels.set(1, LabelId(label), true);
        }
        labels.set(1, LabelId(63), false);
        let relevant: Vec<usize> = labels.relevant(1).map(|label| label.0).collect();
        assert_eq!(relevant, [0, 64, 129]);
        assert_eq!(labels.relevant(0).count(), 0);
        assert!(labels.get(1, LabelId(64)) && !labels.get(1, LabelId(65)));
    }

    #[test]
    fn counts_are_per_label_and_selection_keeps_order() {
        let mut labels = LabelMatrix::new(2);
        for relevant in [[true, false], [true, true], [false, false]] {
            let row = labels.push_row();
            labels.ids().zip(relevant).for_each(|(label, is)| labels.set(row, label, is));
        }
        assert_eq!(labels.counts(), [2, 1]);
        assert_eq!(labels.select(&[2, 1]).counts(), [1, 1]);
        assert!(labels.select(&[2, 1]).get(1, LabelId(1)));
    }

    #[test]
    fn no_labels_is_a_table_too() {
        let mut labels = LabelMatrix::new(0);
        labels.push_row();
        assert_eq!((labels.n_rows(), labels.relevant(0).count()), (1, 0));
    }

    #[test]
    fn tables_are_written_field_after_field_and_read_back() {
        let mut labels = LabelMatrix::empty(2, 3);
        labels.set(0, LabelId(2), true);
        labels.set(1, LabelId(0), true);
        // Rows, labels, words per row, how many words, words.
        let bytes = postcard::to_stdvec(&labels).unwrap();
        assert_eq!(bytes, [2, 3, 1, 2, 0b100, 0b001]);
        assert_eq!(postcard::from_bytes::<LabelMatrix>(&bytes).unwrap(), labels);
    }

    #[test]
    fn tables_whose_parts_do_not_fit_are_not_decoded() {
        let decoded = |n_rows: usize, n_labels: usize, words_per_row: usize, words: &[u64]| {
            let bytes = postcard::to_stdvec(&(n_rows, n_labels, words_per_row, words)).unwrap();
            postcard::from_bytes::<LabelMatrix>(&bytes)
        };
        assert!(decoded(2, 64, 1, &[u64::MAX, 1]).is_ok());
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0, 1]).is_ok());
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0, 2]).is_err(), "a bit beyond the last label");
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0]).is_err(), "too few words");
        assert!(decoded(2, 65, 1, &[u64::MAX, 1]).is_err(), "too few words per row");
        assert!(decoded(1 << 63, 65, 2, &[]).is_err(), "the product overflows");
        assert!(decoded(0, usize::MAX, 1, &[]).is_err(), "too few words per row, of no rows");
    }
}
