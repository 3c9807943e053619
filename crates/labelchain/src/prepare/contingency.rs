//! Contingency tables: in how many rows each value of one column meets each value of another.

use super::columns::ones_of;
use super::entropy::{NLogN, SMALL, real_n_log_n, symmetrical_uncertainty};
use crate::product::vectorized;

/// A column on some rows, as a contingency table needs it: which slot each row is in.
pub(crate) struct Slots {
    /// How many rows each slot has. Missing cells have the last one, if the column has any.
    counts: Vec<u32>,
    has_missing: bool,
    /// The slot of the rows that were not put anywhere.
    rest: usize,
    /// Words of 64 rows, of which not all need be here.
    n_words: usize,
    rows: Rows,
}

enum Rows {
    /// For each slot but `rest`, a bit for each row.
    Bits(Vec<u64>),
    /// For each row, its slot.
    Codes(Vec<u32>),
}

/// With more slots than this, a code for each row takes less room than bits.
const MAX_BIT_SLOTS: usize = 32;

/// With more cells than this, going through the rows is faster than counting bits.
const MAX_BIT_COUNTS: usize = 128;

impl Slots {
    /// So many slots, and one more for missing cells. All rows, `n_here` of `n_words` words, are in
    /// slot `rest` until they are put elsewhere.
    pub(crate) fn new(
        n_here: usize,
        n_words: usize,
        n_values: usize,
        has_missing: bool,
        rest: usize,
    ) -> Slots {
        let mut counts = vec![0; n_values + usize::from(has_missing)];
        let rows = match counts.len() {
            n if n > MAX_BIT_SLOTS => Rows::Codes(vec![rest as u32; n_words * 64]),
            n => Rows::Bits(vec![0; n.saturating_sub(1) * n_words]),
        };
        if let Some(count) = counts.get_mut(rest) {
            *count = n_here as u32;
        }
        Slots { counts, has_missing, rest, n_words, rows }
    }

    /// Two slots, the rows of the second by their bits.
    pub(crate) fn two(counts: [u32; 2], second: Vec<u64>) -> Slots {
        let (n_words, rows) = (second.len(), Rows::Bits(second));
        Slots { counts: counts.to_vec(), has_missing: false, rest: 0, n_words, rows }
    }

    /// A column of at most one value, which carries no information about any other.
    pub(crate) fn useless() -> Slots {
        Slots::new(0, 0, 0, false, 0)
    }

    fn is_useless(&self) -> bool {
        self.counts.is_empty()
    }

    /// Moves rows out of the rest.
    pub(crate) fn put(&mut self, slot: usize, rows: impl Iterator<Item = u32>) {
        let mut n_put = 0;
        match &mut self.rows {
            Rows::Bits(bits) => {
                let at = (slot - usize::from(slot > self.rest)) * self.n_words;
                for row in rows {
                    bits[at + row as usize / 64] |= 1 << (row % 64);
                    n_put += 1;
                }
            }
            Rows::Codes(codes) => {
                for row in rows {
                    codes[row as usize] = slot as u32;
                    n_put += 1;
                }
            }
        }
        if n_put > 0 {
            self.counts[slot] += n_put;
            self.counts[self.rest] -= n_put;
        }
    }

    fn lacks_values(&self) -> bool {
        self.has_missing && self.counts.last().is_some_and(|&n| n > 0)
    }

    fn n(&self) -> usize {
        self.counts.len()
    }

    /// The bits of the slots other than the rest, with the slot of each.
    fn bits<'s>(&'s self, bits: &'s [u64]) -> impl Iterator<Item = (usize, &'s [u64])> {
        let slots = (0..self.n()).filter(|&slot| slot != self.rest);
        slots.zip(bits.chunks_exact(self.n_words.max(1)))
    }

    /// The slot of each row, and the rest for those that are not here.
    fn codes(&self) -> Vec<u32> {
        match &self.rows {
            Rows::Codes(codes) => codes.clone(),
            Rows::Bits(bits) => {
                let mut codes = vec![self.rest as u32; self.n_words * 64];
                for (slot, bits) in self.bits(bits) {
                    ones_of(bits.iter().copied()).for_each(|row| codes[row] = slot as u32);
                }
                codes
            }
        }
    }
}

/// The counts of `a` (rows) against `b` (columns), row by row, into `table`.
pub(crate) fn contingency(a: &Slots, b: &Slots, table: &mut Vec<u32>) {
    table.clear();
    table.resize(a.n() * b.n(), 0);
    match (&a.rows, &b.rows) {
        (Rows::Bits(of_a), Rows::Bits(of_b)) if (a.n() - 1) * (b.n() - 1) <= MAX_BIT_COUNTS => {
            vectorized(
                #[inline(always)]
                || count_bits(a, of_a, b, of_b, table),
            );
        }
        _ => {
            for (i, j) in a.codes().into_iter().zip(b.codes()) {
                table[i as usize * b.n() + j as usize] += 1;
            }
            let n_here: u32 = a.counts.iter().sum();
            table[a.rest * b.n() + b.rest] -= (a.n_words * 64) as u32 - n_here;
        }
    }
}

#[inline(always)]
fn count_bits(a: &Slots, of_a: &[u64], b: &Slots, of_b: &[u64], table: &mut [u32]) {
    let width = b.n();
    let rest_of_a = a.rest * width;
    // What is left of each total belongs to the rests.
    table[rest_of_a..rest_of_a + width].copy_from_slice(&b.counts);
    for (i, in_a) in a.bits(of_a) {
        let mut rest_of_b = a.counts[i];
        for (j, in_b) in b.bits(of_b) {
            let both = in_a.iter().zip(in_b).map(|(x, y)| (x & y).count_ones()).sum();
            table[i * width + j] = both;
            table[rest_of_a + j] -= both;
            rest_of_b -= both;
        }
        table[i * width + b.rest] = rest_of_b;
        table[rest_of_a + b.rest] -= rest_of_b;
    }
}

/// The symmetrical uncertainty of two columns, with missing cells spread; 0 up to 1e-6.
pub(crate) fn uncertainty(a: &Slots, b: &Slots, logs: &NLogN, table: &mut Vec<u32>) -> f64 {
    if a.is_useless() || b.is_useless() {
        return 0.0;
    }
    contingency(a, b, table);
    let uncertainty = if a.lacks_values() || b.lacks_values() {
        let (spread, n_columns) = spread_missing(table, b.n(), a.has_missing, b.has_missing);
        let (rows, columns) = margins(&spread, n_columns);
        symmetrical_uncertainty(&spread, &rows, &columns, real_n_log_n)
    } else {
        symmetrical_uncertainty(table, &a.counts, &b.counts, |n| logs.of(n))
    };
    if uncertainty.abs() < SMALL { 0.0 } else { uncertainty }
}

/// The sums of the rows and of the columns of a table.
fn margins(cells: &[f64], width: usize) -> (Vec<f64>, Vec<f64>) {
    let column = |at: usize| cells.iter().skip(at).step_by(width).sum();
    (cells.chunks(width).map(|row| row.iter().sum()).collect(), (0..width).map(column).collect())
}

/// Spreads rows without a value over the values: a row that lacks one of the two in proportion to
/// how common the values of that column are, a row that lacks both in proportion to how often the
/// values meet. If the values never meet, rows that lack both stay a value of their own.
///
/// Returns the table and its number of columns.
fn spread_missing(
    table: &[u32],
    n_columns: usize,
    a_has_missing: bool,
    b_has_missing: bool,
) -> (Vec<f64>, usize) {
    // A last row and column for missing cells, also where there are none.
    let (n_rows, width) = (table.len() / n_columns, n_columns + usize::from(!b_has_missing));
    let height = n_rows + usize::from(!a_has_missing);
    let mut cells = vec![0.0; height * width];
    for (into, from) in cells.chunks_mut(width).zip(table.chunks(n_columns)) {
        into.iter_mut().zip(from).for_each(|(into, &from)| *into = f64::from(from));
    }
    let counted = cells.clone();
    let (of_row, of_column) = margins(&counted, width);
    let n: f64 = of_row.iter().sum();
    let (last_row, last_column) = (height - 1, width - 1);
    for j in 0..last_column {
        let lacking = counted[last_row * width + j];
        if lacking > 0.0 {
            for i in 0..last_row {
                cells[i * width + j] += of_row[i] / (n - of_row[last_row]) * lacking;
            }
            cells[last_row * width + j] = 0.0;
        }
    }
    for i in 0..last_row {
        let lacking = counted[i * width + last_column];
        if lacking > 0.0 {
            for j in 0..last_column {
                cells[i * width + j] += of_column[j] / (n - of_column[last_column]) * lacking;
            }
            cells[i * width + last_column] = 0.0;
        }
    }
    let corner = last_row * width + last_column;
    let lacking_both = counted[corner];
    let n_whole = n - (of_row[last_row] + of_column[last_column] - lacking_both);
    if lacking_both > 0.0 && n_whole > 0.0 {
        for i in 0..last_row {
            for j in 0..last_column {
                cells[i * width + j] += counted[i * width + j] / n_whole * lacking_both;
            }
        }
        cells[corner] = 0.0;
    }
    (cells, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(codes: &[usize], n_slots: usize, rest: usize) -> Slots {
        let n_words = codes.len().div_ceil(64);
        let mut slots = Slots::new(codes.len(), n_words, n_slots, false, rest);
        for slot in (0..n_slots).filter(|&slot| slot != rest) {
            slots.put(slot, (0..).zip(codes).filter(|it| *it.1 == slot).map(|it| it.0));
        }
        slots
    }

    #[test]
    fn a_row_lacking_one_value_is_spread_by_how_common_the_values_are() {
        // Column a: x x x y ?, column b: 0 0 1 1 1. Of the four with a value, 3/4 are x.
        let table = [2, 1, 0, 1, 0, 1];
        let (cells, width) = spread_missing(&table, 2, true, false);
        assert_eq!(width, 3);
        assert_eq!(cells, [2.0, 1.75, 0.0, 0.0, 1.25, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_row_lacking_both_is_spread_by_how_often_the_values_meet() {
        // Four whole rows, 2 + 1 + 0 + 1, and two without either.
        let table = [2, 1, 0, 0, 1, 0, 0, 0, 2];
        let (cells, _) = spread_missing(&table, 3, true, true);
        assert_eq!(cells, [3.0, 1.5, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn values_that_never_meet_leave_rows_lacking_both_apart() {
        let table = [0, 0, 1, 0, 0, 1, 1, 1, 2];
        let (cells, _) = spread_missing(&table, 3, true, true);
        assert_eq!(cells[8], 2.0);
        // Each single gap of one row, halved.
        assert_eq!(cells[..2], [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn counting_bits_equals_counting_rows(
            rows in prop::collection::vec((0usize..5, 0usize..40), 0..300),
            of_a in 2usize..6, of_b in 2usize..41, rests in (0usize..5, 0usize..40),
        ) {
            let a: Vec<usize> = rows.iter().map(|&(a, _)| a % of_a).collect();
            let b: Vec<usize> = rows.iter().map(|&(_, b)| b % of_b).collect();
            let mut expected = vec![0; of_a * of_b];
            a.iter().zip(&b).for_each(|(a, b)| expected[a * of_b + b] += 1);
            let (a, b) = (slots(&a, of_a, rests.0 % of_a), slots(&b, of_b, rests.1 % of_b));
            let mut table = Vec::new();
            contingency(&a, &b, &mut table);
            prop_assert_eq!(&table, &expected);
        }

        #[test]
        fn spreading_keeps_the_number_of_rows(
            table in prop::collection::vec(0u32..5, 12),
        ) {
            let (cells, _) = spread_missing(&table, 4, true, true);
            let n: u32 = table.iter().sum();
            let has_values = table[..8].iter().any(|&n| n > 0) && (0..11).any(|at| at % 4 < 3 && table[at] > 0);
            prop_assume!(has_values);
            prop_assert!((cells.iter().sum::<f64>() - f64::from(n)).abs() < 1e-9);
        }
    }
}
