//! Which labels are relevant to which row, as packed bits, indexed by label and never by position
//! in a chain. Of some cells it may be unknown.

use std::collections::TryReserveError;

use serde::{Deserialize, Serialize};

/// One label, by its place in the data set's label order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelId(pub usize);

/// The relevant labels of many rows: one bit a cell, and one more where some cells are unknown.
///
/// A cell that is unknown is not relevant to anyone who only asks for relevant labels. Who counts
/// irrelevant cells must ask whether they are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLabels")]
pub struct LabelMatrix {
    n_rows: usize,
    n_labels: usize,
    words_per_row: usize,
    words: Vec<u64>,
    /// The cells that are unknown, laid out as `words` are; empty where all cells are known.
    unknown: Vec<u64>,
}

/// The fields of a label table as they are decoded, before it is known whether they fit together.
#[derive(Deserialize)]
struct UncheckedLabels {
    n_rows: usize,
    n_labels: usize,
    words_per_row: usize,
    words: Vec<u64>,
    unknown: Vec<u64>,
}

impl TryFrom<UncheckedLabels> for LabelMatrix {
    type Error = &'static str;

    fn try_from(fields: UncheckedLabels) -> Result<LabelMatrix, &'static str> {
        let UncheckedLabels { n_rows, n_labels, words_per_row, words, unknown } = fields;
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
        if !unknown.is_empty() && unknown.len() != words.len() {
            return Err("a label table says of each cell whether it is unknown, or of none");
        }
        let rows = words.chunks(words_per_row.max(1)).chain(unknown.chunks(words_per_row.max(1)));
        if rows.filter_map(|row| row.last()).any(|word| word & beyond != 0) {
            return Err("a label table has no bits beyond its last label");
        }
        if words.iter().zip(&unknown).any(|(relevant, unknown)| relevant & unknown != 0) {
            return Err("a label is relevant, irrelevant or unknown");
        }
        Ok(LabelMatrix { n_rows, n_labels, words_per_row, words, unknown })
    }
}

impl LabelMatrix {
    /// A table of no rows yet.
    pub fn new(n_labels: usize) -> LabelMatrix {
        let words_per_row = n_labels.div_ceil(64);
        LabelMatrix { n_rows: 0, n_labels, words_per_row, words: vec![], unknown: vec![] }
    }

    /// `n_rows` rows without a relevant label.
    pub fn empty(n_rows: usize, n_labels: usize) -> LabelMatrix {
        let mut labels = LabelMatrix::new(n_labels);
        labels.words = vec![0; n_rows * labels.words_per_row];
        labels.n_rows = n_rows;
        labels
    }

    /// `n_rows` rows of which no label is known.
    pub fn unknown(n_rows: usize, n_labels: usize) -> LabelMatrix {
        let mut labels = LabelMatrix::empty(n_rows, n_labels);
        for row in 0..n_rows {
            labels.ids().for_each(|label| labels.forget(row, label));
        }
        labels
    }

    /// Makes room for so many rows, so that adding them cannot fail.
    pub(crate) fn try_reserve(&mut self, n_rows: usize) -> Result<(), TryReserveError> {
        let n_words = n_rows.saturating_mul(self.words_per_row);
        if !self.unknown.is_empty() {
            self.unknown.try_reserve(n_words)?;
        }
        self.words.try_reserve(n_words)
    }

    /// Adds a row without a relevant label and returns its index.
    pub fn push_row(&mut self) -> usize {
        self.words.resize(self.words.len() + self.words_per_row, 0);
        if !self.unknown.is_empty() {
            self.unknown.resize(self.words.len(), 0);
        }
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

    /// Whether a label is known to be relevant to a row.
    pub fn get(&self, row: usize, label: LabelId) -> bool {
        self.row(row)[label.0 / 64] >> (label.0 % 64) & 1 == 1
    }

    /// Writes down whether a label is relevant to a row.
    pub fn set(&mut self, row: usize, label: LabelId, relevant: bool) {
        assert!(label.0 < self.n_labels, "the label exists");
        let word = &mut self.words[row * self.words_per_row + label.0 / 64];
        *word = *word & !(1 << (label.0 % 64)) | (u64::from(relevant) << (label.0 % 64));
        if let Some(word) = self.unknown.get_mut(row * self.words_per_row + label.0 / 64) {
            *word &= !(1 << (label.0 % 64));
        }
    }

    /// Writes down that nobody knows whether a label is relevant to a row.
    pub fn forget(&mut self, row: usize, label: LabelId) {
        self.set(row, label, false);
        self.unknown.resize(self.words.len(), 0);
        self.unknown[row * self.words_per_row + label.0 / 64] |= 1 << (label.0 % 64);
    }

    /// Whether it is known if a label is relevant to a row.
    pub fn is_known(&self, row: usize, label: LabelId) -> bool {
        let word = self.unknown.get(row * self.words_per_row + label.0 / 64);
        word.is_none_or(|word| word >> (label.0 % 64) & 1 == 0)
    }

    /// Whether a label is relevant to a row; none where it is unknown.
    pub fn cell(&self, row: usize, label: LabelId) -> Option<bool> {
        self.is_known(row, label).then(|| self.get(row, label))
    }

    /// How many cells are unknown.
    pub fn n_unknown(&self) -> usize {
        self.unknown.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The same labels, known only where those of another table of this shape are.
    pub(crate) fn known_where(mut self, other: &LabelMatrix) -> LabelMatrix {
        for (word, unknown) in self.words.iter_mut().zip(&other.unknown) {
            *word &= !unknown;
        }
        self.unknown.clone_from(&other.unknown);
        self
    }

    /// Writes down the labels of a row, all of them known, as bits laid out as [`LabelMatrix::row`]
    /// has them.
    pub(crate) fn write_row(&mut self, row: usize, bits: &[u64]) {
        let words = row * self.words_per_row..(row + 1) * self.words_per_row;
        self.words[words.clone()].copy_from_slice(bits);
        self.unknown.get_mut(words).into_iter().flatten().for_each(|word| *word = 0);
    }

    /// A row's bits: label l is bit l mod 64 of word l / 64, and the bits beyond the last label
    /// are 0.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row..(row + 1) * self.words_per_row]
    }

    /// The bits of a row's unknown labels, laid out as [`LabelMatrix::row`] has the relevant ones; none
    /// where all labels of all rows are known.
    pub(crate) fn unknown_row(&self, row: usize) -> Option<&[u64]> {
        self.unknown.get(row * self.words_per_row..(row + 1) * self.words_per_row)
    }

    /// The relevant labels of a row, ascending.
    pub fn relevant(&self, row: usize) -> impl Iterator<Item = LabelId> + '_ {
        labels_of(self.row(row))
    }

    /// The unknown labels of a row, ascending.
    pub(crate) fn unknown_labels(&self, row: usize) -> impl Iterator<Item = LabelId> + '_ {
        labels_of(self.unknown_row(row).unwrap_or_default())
    }

    /// To how many rows each label is relevant.
    pub fn counts(&self) -> Vec<usize> {
        self.counts_in(0..self.n_rows)
    }

    /// To how many of the rows named each label is relevant.
    pub(crate) fn counts_in(&self, rows: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut counts = vec![0; self.n_labels];
        for row in rows {
            self.relevant(row).for_each(|label| counts[label.0] += 1);
        }
        counts
    }

    /// The rows named, in that order.
    pub fn select(&self, rows: &[usize]) -> LabelMatrix {
        let mut chosen = LabelMatrix::new(self.n_labels);
        chosen.words = rows.iter().flat_map(|&row| self.row(row)).copied().collect();
        chosen.n_rows = rows.len();
        if !self.unknown.is_empty() {
            let unknown = rows.iter().filter_map(|&row| self.unknown_row(row)).flatten();
            chosen.unknown = unknown.copied().collect();
        }
        chosen.shrink();
        chosen
    }

    /// The rows of several tables of `n_labels` labels, one table after the other.
    pub fn concat(n_labels: usize, tables: &[LabelMatrix]) -> LabelMatrix {
        let mut all = LabelMatrix::new(n_labels);
        tables.iter().for_each(|table| all.append(table));
        all
    }

    /// The same rows with as many labels as said, at least as many as there are; the further ones are irrelevant
    /// to all rows.
    pub fn widened(&self, n_labels: usize) -> LabelMatrix {
        let mut wide = LabelMatrix::empty(self.n_rows, n_labels.max(self.n_labels));
        for row in 0..self.n_rows {
            self.relevant(row).for_each(|label| wide.set(row, label, true));
            self.unknown_labels(row).for_each(|label| wide.forget(row, label));
        }
        wide
    }

    /// Adds the rows of another table of the same labels.
    pub(crate) fn append(&mut self, more: &LabelMatrix) {
        if !self.unknown.is_empty() || !more.unknown.is_empty() {
            self.unknown.resize(self.words.len(), 0);
            self.unknown.extend(&more.unknown);
            self.unknown.resize(self.words.len() + more.words.len(), 0);
        }
        self.words.extend(&more.words);
        self.n_rows += more.n_rows;
    }

    /// Whether it is a table of so many rows and labels.
    pub(crate) fn is_sound(&self, n_rows: usize, n_labels: usize) -> bool {
        (self.n_rows, self.n_labels) == (n_rows, n_labels)
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        (self.words.len() + self.unknown.len()) * 8
    }

    /// Gives back memory that is not needed: all of that for unknown cells where there are none, so
    /// that equal tables have equal fields.
    pub(crate) fn shrink(&mut self) {
        if self.unknown.iter().all(|&word| word == 0) {
            self.unknown.clear();
        }
        self.words.shrink_to_fit();
        self.unknown.shrink_to_fit();
    }
}

/// The labels whose bits are set, ascending.
pub(crate) fn labels_of(words: &[u64]) -> impl Iterator<Item = LabelId> + '_ {
    let (mut at, mut rest) = (0, words.first().copied().unwrap_or(0));
    std::iter::from_fn(move || {
        while rest == 0 {
            at += 1;
            rest = *words.get(at)?;
        }
        let label = LabelId(at * 64 + rest.trailing_zeros() as usize);
        rest &= rest - 1;
        Some(label)
    })
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
        // Rows, labels, words per row, how many words, words, how many words of unknown cells.
        let bytes = postcard::to_stdvec(&labels).unwrap();
        assert_eq!(bytes, [2, 3, 1, 2, 0b100, 0b001, 0]);
        assert_eq!(postcard::from_bytes::<LabelMatrix>(&bytes).unwrap(), labels);
        labels.forget(1, LabelId(1));
        let bytes = postcard::to_stdvec(&labels).unwrap();
        assert_eq!(bytes, [2, 3, 1, 2, 0b100, 0b001, 2, 0, 0b010]);
        assert_eq!(postcard::from_bytes::<LabelMatrix>(&bytes).unwrap(), labels);
    }

    #[test]
    fn a_cell_is_relevant_irrelevant_or_unknown() {
        let mut labels = LabelMatrix::empty(2, 65);
        labels.set(0, LabelId(64), true);
        assert_eq!((labels.n_unknown(), labels.cell(1, LabelId(64))), (0, Some(false)));
        labels.forget(0, LabelId(64));
        labels.forget(1, LabelId(3));
        assert_eq!((labels.get(0, LabelId(64)), labels.cell(0, LabelId(64))), (false, None));
        assert_eq!(labels.n_unknown(), 2);
        labels.set(1, LabelId(3), true);
        assert_eq!((labels.cell(1, LabelId(3)), labels.n_unknown()), (Some(true), 1));
        assert_eq!(LabelMatrix::unknown(3, 70).n_unknown(), 210);
        labels.write_row(0, &[0b1, 0]);
        assert_eq!((labels.cell(0, LabelId(0)), labels.n_unknown()), (Some(true), 0));
    }

    #[test]
    fn unknown_cells_follow_their_rows() {
        let mut labels = LabelMatrix::empty(2, 2);
        labels.set(0, LabelId(0), true);
        labels.forget(1, LabelId(0));
        let twice = LabelMatrix::concat(2, &[labels.select(&[0]), labels.clone()]);
        let cells: Vec<Option<bool>> = (0..3).map(|row| twice.cell(row, LabelId(0))).collect();
        assert_eq!(cells, [Some(true), Some(true), None]);
        // Rows of which everything is known are as if nothing had ever been unknown.
        let mut known = LabelMatrix::empty(1, 2);
        known.set(0, LabelId(0), true);
        assert_eq!(twice.select(&[1]), known);
        let hidden = LabelMatrix::empty(2, 2).known_where(&labels);
        assert_eq!((hidden.cell(0, LabelId(0)), hidden.cell(1, LabelId(0))), (Some(false), None));
    }

    #[test]
    fn tables_whose_parts_do_not_fit_are_not_decoded() {
        let decoded = |n_rows: usize, n_labels: usize, words_per_row: usize, words: &[u64]| {
            let none: &[u64] = &[];
            let fields = (n_rows, n_labels, words_per_row, words, none);
            postcard::from_bytes::<LabelMatrix>(&postcard::to_stdvec(&fields).unwrap())
        };
        assert!(decoded(2, 64, 1, &[u64::MAX, 1]).is_ok());
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0, 1]).is_ok());
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0, 2]).is_err(), "a bit beyond the last label");
        assert!(decoded(2, 65, 2, &[u64::MAX, 1, 0]).is_err(), "too few words");
        assert!(decoded(2, 65, 1, &[u64::MAX, 1]).is_err(), "too few words per row");
        assert!(decoded(1 << 63, 65, 2, &[]).is_err(), "the product overflows");
        assert!(decoded(0, usize::MAX, 1, &[]).is_err(), "too few words per row, of no rows");
        let with_unknown = |unknown: &[u64]| {
            let fields = (2usize, 3usize, 1usize, &[0b100u64, 0b001][..], unknown);
            postcard::from_bytes::<LabelMatrix>(&postcard::to_stdvec(&fields).unwrap())
        };
        assert!(with_unknown(&[0b011, 0]).is_ok());
        assert!(with_unknown(&[0b011]).is_err(), "too few words");
        assert!(with_unknown(&[0b1000, 0]).is_err(), "a bit beyond the last label");
        assert!(with_unknown(&[0b100, 0]).is_err(), "relevant and unknown at once");
    }
}
