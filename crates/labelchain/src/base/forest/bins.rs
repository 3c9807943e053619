//! The inputs cut into at most 255 bins a column, once for all trees.
//!
//! A split compares bins and never values, so a cell takes one byte while trees grow, and sorting the
//! rows of a node by an input is counting. What a grown tree keeps are values again, halfway between
//! two bins, so that a row that was not there falls where it belongs.
//!
//! A column in which nearly all rows share a bin, as a word that few texts contain, is kept by its
//! other rows only, whether or not the file stored it so.

use rayon::prelude::*;

use crate::data::{Dataset, Matrix};
use crate::error::Result;
use crate::progress::Cancel;

/// The bin of a missing cell; those of values are below.
pub(super) const MISSING: u8 = u8::MAX;

/// How many bins a column has at most, without that of missing cells.
const MAX_BINS: usize = MISSING as usize;

/// A column is kept by its other rows where its most common bin has all rows but one in so many. A
/// byte for each row would be the faster form, and take up to so many bytes for each stored cell.
const ROWS_PER_STORED_CELL: usize = 32;

/// One input of the rows that a forest is fitted on. Rows are counted among these.
pub(super) struct Column {
    cells: Cells,
    /// Whether values are names, of which none is greater than another.
    pub(super) is_nominal: bool,
    /// The least and the greatest value in each bin, ascending; of a nominal input its one value. The
    /// last bin of a nominal input with more values than bins has all the rarer ones, and is marked by
    /// NaN because no test can single it out.
    spans: Vec<[f64; 2]>,
}

enum Cells {
    /// A bin for each row; and the bin of most rows, if there is one.
    Dense { common: Option<u8>, bins: Vec<u8> },
    /// The rows that are not in the bin `common`, ascending, and their bins.
    Sparse { common: u8, rows: Vec<u32>, bins: Vec<u8> },
}

/// The bin of a row, and the place of the row in its node; in this order by bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell(u64);

impl Cell {
    fn new(bin: u8, place: u32) -> Cell {
        Cell(u64::from(bin) << 32 | u64::from(place))
    }

    #[inline(always)]
    pub(super) fn bin(&self) -> u8 {
        (self.0 >> 32) as u8
    }

    #[inline(always)]
    pub(super) fn place(&self) -> usize {
        self.0 as u32 as usize
    }
}

impl Column {
    /// Every input of the rows named, in bins.
    pub(super) fn all(data: &Dataset, rows: &[usize], cancel: &Cancel) -> Result<Vec<Column>> {
        let column = |at: usize, stored: Vec<(f64, u32)>| {
            cancel.check()?;
            let is_nominal = data.attributes()[at].values().is_some();
            Ok(Column::new(stored, rows.len(), is_nominal))
        };
        let features = data.features();
        match features {
            Matrix::Dense(dense) => {
                let cells = |at: usize| {
                    let cell = |(place, &row): (u32, &usize)| (dense.row(row)[at], place);
                    (0..).zip(rows).map(cell).collect()
                };
                let columns = (0..data.n_features()).into_par_iter();
                columns.map(|at| column(at, cells(at))).collect()
            }
            Matrix::Sparse(_) => {
                let mut stored = vec![Vec::new(); data.n_features()];
                for (place, &row) in (0..).zip(rows) {
                    features.entries(row).for_each(|(at, cell)| stored[at].push((cell, place)));
                }
                stored.into_par_iter().enumerate().map(|(at, cells)| column(at, cells)).collect()
            }
        }
    }

    /// Of (value, row) in ascending rows; the cells of all other rows are 0.
    fn new(stored: Vec<(f64, u32)>, n_rows: usize, is_nominal: bool) -> Column {
        let values = Values::of(&stored, n_rows);
        let spans = if is_nominal { values.most_common() } else { values.quantiles() };
        let bin = |value: f64| {
            if value.is_nan() {
                MISSING
            } else if is_nominal {
                let known = spans.iter().position(|span| span[0] == value);
                known.unwrap_or(spans.len().saturating_sub(1)) as u8
            } else {
                spans.partition_point(|span| span[1] < value) as u8
            }
        };
        let stored: Vec<(u32, u8)> = stored.iter().map(|&(value, row)| (row, bin(value))).collect();
        let mut n_in_bin = [0usize; MISSING as usize + 1];
        stored.iter().for_each(|&(_, bin)| n_in_bin[usize::from(bin)] += 1);
        // Missing cells are always stored.
        let zero = if stored.len() < n_rows { bin(0.0) } else { 0 };
        n_in_bin[usize::from(zero)] += n_rows - stored.len();
        let common = (0..MISSING).rev().max_by_key(|&bin| n_in_bin[usize::from(bin)]).unwrap_or(0);
        let n_others = n_rows - n_in_bin[usize::from(common)];
        let is_sparse = n_others.saturating_mul(ROWS_PER_STORED_CELL) < n_rows
            && (zero == common || stored.len() == n_rows);
        let cells = if is_sparse {
            let others = stored.into_iter().filter(|&(_, bin)| bin != common);
            let (rows, bins) = others.unzip();
            Cells::Sparse { common, rows, bins }
        } else {
            let mut bins = vec![zero; n_rows];
            stored.into_iter().for_each(|(row, bin)| bins[row as usize] = bin);
            Cells::Dense { common: (2 * n_others < n_rows).then_some(common), bins }
        };
        Column { cells, is_nominal, spans }
    }

    /// The bin of a row.
    pub(super) fn bin(&self, row: u32) -> u8 {
        match &self.cells {
            Cells::Dense { bins, .. } => bins[row as usize],
            Cells::Sparse { common, rows, bins } => {
                rows.binary_search(&row).map_or(*common, |at| bins[at])
            }
        }
    }

    /// The rows that are not in the common bin, ascending, where only these are kept.
    pub(super) fn uncommon_rows(&self) -> Option<&[u32]> {
        match &self.cells {
            Cells::Dense { .. } => None,
            Cells::Sparse { rows, .. } => Some(rows),
        }
    }

    /// Adds the cells of the rows of a node to `found`, but leaves out those of the bin that is returned.
    /// `places` has the place in the node of every row that is there.
    pub(super) fn gather(&self, node: &[u32], places: &[u32], found: &mut Vec<Cell>) -> Option<u8> {
        match &self.cells {
            Cells::Dense { common, bins } => {
                let cell = |(place, &row): (u32, &u32)| Cell::new(bins[row as usize], place);
                let cells = (0..).zip(node).map(cell);
                let Some(common) = *common else {
                    found.extend(cells);
                    return None;
                };
                // Each cell is written where the next one that counts belongs, and overwritten unless it
                // counts: a branch would be mispredicted too often.
                let mut n_found = found.len();
                found.resize(n_found + node.len(), Cell::default());
                for cell in cells {
                    found[n_found] = cell;
                    n_found += usize::from(cell.bin() != common);
                }
                found.truncate(n_found);
                Some(common)
            }
            Cells::Sparse { common, rows, bins } => {
                // Either look up every row, or look at every stored cell.
                let n_steps = rows.len().max(2).ilog2() as usize + 1;
                if node.len() * n_steps < rows.len() {
                    let stored = |(place, row): (u32, &u32)| {
                        let at = rows.binary_search(row).ok()?;
                        Some(Cell::new(bins[at], place))
                    };
                    found.extend((0..).zip(node).filter_map(stored));
                } else {
                    let here = |(&bin, row): (&u8, &u32)| {
                        let place = places[*row as usize];
                        let is_here = node.get(place as usize) == Some(row);
                        is_here.then(|| Cell::new(bin, place))
                    };
                    found.extend(bins.iter().zip(rows).filter_map(here));
                }
                Some(*common)
            }
        }
    }

    /// How many bins there are, without that of missing cells.
    pub(super) fn n_bins(&self) -> usize {
        self.spans.len()
    }

    /// The value halfway between two bins; infinite where there is no bin on one side.
    pub(super) fn between(&self, last_below: Option<u8>, first_above: Option<u8>) -> f64 {
        let least = first_above.map_or(f64::INFINITY, |bin| self.spans[usize::from(bin)][0]);
        let Some(bin) = last_below else { return f64::NEG_INFINITY };
        let greatest = self.spans[usize::from(bin)][1];
        if least == f64::INFINITY {
            return least;
        }
        let halfway = greatest / 2.0 + least / 2.0;
        // Between neighbouring numbers there is none.
        if halfway >= least || halfway < greatest { greatest } else { halfway }
    }

    /// The value of a bin of a nominal input; none where the bin has several.
    pub(super) fn value(&self, bin: u8) -> Option<f64> {
        let value = self.spans[usize::from(bin)][0];
        (!value.is_nan()).then_some(value)
    }

    /// The bin that a share of the way from the least value of one bin to the greatest of another leads
    /// into, but below the latter.
    pub(super) fn at_share(&self, share: f64, lowest: u8, highest: u8) -> u8 {
        let (least, greatest) =
            (self.spans[usize::from(lowest)][0], self.spans[usize::from(highest)][1]);
        let value = least + share * (greatest - least);
        let bin = self.spans.partition_point(|span| span[1] < value);
        bin.clamp(usize::from(lowest), usize::from(highest) - 1) as u8
    }
}

/// The different values of a column, ascending, and how many rows have each.
struct Values(Vec<(f64, usize)>);

impl Values {
    fn of(stored: &[(f64, u32)], n_rows: usize) -> Values {
        // Adding 0 makes one zero of two.
        let present = stored.iter().map(|&(value, _)| value + 0.0).filter(|value| !value.is_nan());
        let mut present: Vec<f64> = present.collect();
        present.sort_unstable_by(f64::total_cmp);
        let mut values: Vec<(f64, usize)> = Vec::new();
        for value in present {
            match values.last_mut() {
                Some((last, n)) if *last == value => *n += 1,
                _ => values.push((value, 1)),
            }
        }
        let n_left_out = n_rows - stored.len();
        if n_left_out > 0 {
            let place = values.partition_point(|&(value, _)| value < 0.0);
            match values.get_mut(place) {
                Some((value, n)) if *value == 0.0 => *n += n_left_out,
                _ => values.insert(place, (0.0, n_left_out)),
            }
        }
        Values(values)
    }

    /// Bins of about equally many rows; one for each value where there are few.
    fn quantiles(&self) -> Vec<[f64; 2]> {
        if self.0.len() <= MAX_BINS {
            return self.0.iter().map(|&(value, _)| [value, value]).collect();
        }
        let mut spans: Vec<[f64; 2]> = Vec::with_capacity(MAX_BINS);
        let mut n_left: usize = self.0.iter().map(|&(_, n)| n).sum();
        let mut n_here = 0;
        let mut is_full = true;
        for &(value, n) in &self.0 {
            match spans.last_mut() {
                Some(span) if !is_full => span[1] = value,
                _ => spans.push([value, value]),
            }
            n_here += n;
            // The rows of this bin and of all later ones are shared out evenly among these bins.
            let n_bins = MAX_BINS + 1 - spans.len();
            is_full = n_bins > 1 && n_here * n_bins >= n_left;
            if is_full {
                n_left -= n_here;
                n_here = 0;
            }
        }
        spans
    }

    /// A bin for each value, in the order of values; of more values than bins those of the most rows,
    /// and the others share the last bin.
    fn most_common(&self) -> Vec<[f64; 2]> {
        let mut values = self.0.clone();
        if values.len() > MAX_BINS {
            values.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
            values.truncate(MAX_BINS - 1);
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            values.push((f64::NAN, 0));
        }
        values.into_iter().map(|(value, _)| [value, value]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(cells: &[f64]) -> Column {
        Column::new(cells.iter().copied().zip(0..).collect(), cells.len(), false)
    }

    #[test]
    fn few_values_have_a_bin_each_and_missing_cells_their_own() {
        let column = column(&[3.0, f64::NAN, -0.0, 0.0, 3.0, 7.0]);
        let bins: Vec<u8> = (0..6).map(|row| column.bin(row)).collect();
        assert_eq!(bins, [1, MISSING, 0, 0, 1, 2]);
        assert_eq!(column.between(Some(0), Some(1)), 1.5);
        assert_eq!(column.between(Some(0), Some(2)), 3.5);
        assert_eq!(column.between(None, Some(0)), f64::NEG_INFINITY);
        assert_eq!(column.between(Some(2), None), f64::INFINITY);
    }

    #[test]
    fn a_threshold_between_neighbouring_numbers_is_the_lower_one() {
        let column = column(&[1.0, 1f64.next_up()]);
        assert_eq!(column.between(Some(0), Some(1)), 1.0);
    }

    #[test]
    fn many_values_share_bins_evenly() {
        let cells: Vec<f64> = (0..2550).map(|row| f64::from((row * 7) % 2550)).collect();
        let column = column(&cells);
        assert_eq!(column.spans.len(), 255);
        let mut n_in_bin = [0; 255];
        (0..2550).for_each(|row| n_in_bin[usize::from(column.bin(row))] += 1);
        assert_eq!(n_in_bin, [10; 255]);
    }

    #[test]
    fn of_many_names_the_rare_ones_cannot_be_told_apart() {
        // Values 0 to 299, of which 0 to 253 have two rows each.
        let cells = (0..300).chain(0..254).map(f64::from);
        let column = Column::new(cells.zip(0..).collect(), 554, true);
        assert_eq!((column.spans.len(), column.value(254)), (255, None));
        assert_eq!(column.value(column.bin(7)), Some(7.0));
        assert_eq!((column.bin(260), column.bin(299)), (254, 254));
    }

    proptest! {
        /// Bins ascend with values, and whether a column is stored by its rows makes no difference.
        #[test]
        fn bins_keep_the_order_and_storage_does_not_matter(
            cells in prop::collection::vec(prop_oneof![
                40 => Just(0.0), 1 => Just(f64::NAN), 4 => (-2000i32..2000).prop_map(|x| f64::from(x) / 7.0),
            ], 1..900),
        ) {
            let n_rows = cells.len();
            let all: Vec<(f64, u32)> = cells.iter().copied().zip(0..).collect();
            let stored = all.iter().copied().filter(|cell| cell.0 != 0.0).collect();
            let (dense, sparse) = (Column::new(all, n_rows, false), Column::new(stored, n_rows, false));
            prop_assert_eq!(&dense.spans, &sparse.spans);
            let rows: Vec<u32> = (0..n_rows as u32).collect();
            for &row in &rows {
                let bin = dense.bin(row);
                prop_assert_eq!(bin, sparse.bin(row));
                let cell = cells[row as usize];
                if cell.is_nan() {
                    prop_assert_eq!(bin, MISSING);
                } else {
                    let [least, greatest] = dense.spans[usize::from(bin)];
                    prop_assert!((least..=greatest).contains(&cell));
                }
            }
            let odd: Vec<u32> = rows.iter().copied().filter(|row| row % 2 == 1).collect();
            for here in [&rows, &odd, &odd[..odd.len().min(2)].to_vec()] {
                let mut places = vec![0; n_rows];
                (0..).zip(here.iter()).for_each(|(place, &row)| places[row as usize] = place);
                let mut found = Vec::new();
                let common = sparse.gather(here, &places, &mut found);
                prop_assert!(found.iter().all(|cell| cell.bin() == dense.bin(here[cell.place()])));
                let is_left_out = |row: &&u32| Some(dense.bin(**row)) == common;
                let left_out = here.iter().filter(is_left_out).count();
                prop_assert_eq!(found.len() + left_out, here.len());
            }
        }
    }
}
