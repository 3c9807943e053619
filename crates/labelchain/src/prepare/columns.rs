//! The inputs column by column, made once per data set and shared by all members, folds and labels.
//!
//! A column is sorted once. Any subset of its rows is then scanned through a row mask, in ascending
//! values, without sorting again; standardizing would not change the order.

use super::contingency::Slots;
use super::discretize;
use super::entropy::NLogN;
use crate::data::{AttributeKind, Dataset, Matrix};

/// The inputs column by column.
///
/// A complete column of two values is packed into bits, so that population counts give its
/// contingency tables. Any other column is its rows in ascending values, without those of the most
/// common value, which are all the rest: text data, mostly zeros, takes no more room than its other
/// cells.
#[derive(Clone, Debug)]
pub struct Columns {
    n_rows: usize,
    columns: Vec<Column>,
    logs: NLogN,
}

/// One value of a column and how many rows have it: those to which a label is irrelevant and those
/// to which it is relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The value.
    pub value: f64,
    /// Rows of either class.
    pub counts: [u32; 2],
}

#[derive(Clone, Debug)]
struct Column {
    is_numeric: bool,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// Two values, none missing: which rows have the greater one.
    TwoValued { values: [f64; 2], greater: Vec<u64> },
    Grouped {
        /// The different values, ascending.
        values: Vec<f64>,
        /// The rows of value v are `rows[starts[v]..starts[v + 1]]`.
        starts: Vec<u32>,
        rows: Vec<u32>,
        /// The value of all rows that are neither listed nor missing.
        rest: Option<usize>,
        missing: Vec<u32>,
    },
}

/// Some rows of a data set and the class of each.
pub(crate) struct Classes {
    /// For each row of the data set: its class, or `ABSENT`.
    of_row: Vec<u8>,
    /// For each row of the data set that is here: how many are before it.
    place: Vec<u32>,
    rows: Vec<u64>,
    relevant: Vec<u64>,
    counts: [u32; 2],
}

const ABSENT: u8 = 2;

impl Classes {
    /// # Panics
    /// If a row is not below `n_rows`.
    pub(crate) fn new(n_rows: usize, rows: &[usize], relevant: impl Fn(usize) -> bool) -> Classes {
        let words = n_rows.div_ceil(64);
        let mut classes = Classes {
            of_row: vec![ABSENT; n_rows],
            place: vec![0; n_rows],
            rows: vec![0; words],
            relevant: vec![0; words],
            counts: [0; 2],
        };
        for &row in rows {
            classes.of_row[row] = u8::from(relevant(row));
        }
        let mut n_before = 0;
        for (row, &class) in classes.of_row.iter().enumerate().filter(|(_, c)| **c != ABSENT) {
            classes.place[row] = n_before;
            n_before += 1;
            classes.counts[class as usize] += 1;
            classes.rows[row / 64] |= 1 << (row % 64);
            classes.relevant[row / 64] |= u64::from(class) << (row % 64);
        }
        classes
    }

    pub(crate) fn n_rows(&self) -> usize {
        (self.counts[0] + self.counts[1]) as usize
    }

    /// The class itself, as if it were a column.
    pub(crate) fn slots(&self) -> Slots {
        let places = self.places(ones(&self.relevant));
        self.two_slots(self.counts[1], places)
    }

    fn places(&self, rows: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        rows.filter(|&row| self.of_row[row] != ABSENT).map(|row| self.place[row] as usize)
    }

    fn two_slots(&self, n_second: u32, places: impl Iterator<Item = usize>) -> Slots {
        let n_rows = self.n_rows();
        let mut slots = Slots::new(n_rows, vec![n_rows as u32 - n_second, n_second], false, 0);
        places.for_each(|place| slots.put(place, 1));
        slots
    }
}

impl Columns {
    /// Sorts or packs every input.
    pub fn new(data: &Dataset) -> Columns {
        let n_rows = data.n_rows();
        let mut stored = stored_cells(data.features());
        let columns = data.attributes().iter().enumerate().map(|(at, attribute)| Column {
            is_numeric: attribute.kind == AttributeKind::Numeric,
            cells: Cells::new(stored(at), n_rows),
        });
        Columns { n_rows, columns: columns.collect(), logs: NLogN::up_to(n_rows) }
    }

    /// How many rows the data set has.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many inputs it has.
    pub fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        let of_column = |column: &Column| match &column.cells {
            Cells::TwoValued { greater, .. } => greater.len() * 8,
            Cells::Grouped { values, starts, rows, missing, .. } => {
                values.len() * 8 + (starts.len() + rows.len() + missing.len()) * 4
            }
        };
        (self.n_rows + 1) * 8 + self.columns.iter().map(of_column).sum::<usize>()
    }

    /// The different values an input takes on the rows named, ascending, with how many rows of
    /// either class have each. Rows without a value are left out; a row named twice counts once.
    ///
    /// # Panics
    /// If there is no such input or row.
    pub fn tallies(
        &self,
        feature: usize,
        rows: &[usize],
        relevant: impl Fn(usize) -> bool,
    ) -> Vec<Tally> {
        let mut tallies = self.columns[feature].tallies(&Classes::new(self.n_rows, rows, relevant));
        tallies.retain(|tally| tally.counts != [0, 0]);
        tallies
    }

    pub(crate) fn logs(&self) -> &NLogN {
        &self.logs
    }

    /// An input on the rows of `classes`: numeric ones cut by [`discretize`], nominal ones by value.
    /// An input of at most one slot besides missing says nothing, and its cells are left out.
    pub(crate) fn slots(&self, feature: usize, classes: &Classes) -> Slots {
        let column = &self.columns[feature];
        let tallies = column.tallies(classes);
        match &column.cells {
            Cells::TwoValued { greater, .. } => {
                let sides = [tallies[0].counts, tallies[1].counts];
                let n_of = sides.map(|counts| counts[0] + counts[1]);
                // One place to cut, the same for every subset.
                let differs = n_of.iter().all(|&n| n > 0)
                    && (!column.is_numeric
                        || discretize::pays(classes.counts, sides, 1, &self.logs));
                if !differs {
                    return Slots::new(classes.n_rows(), vec![n_of[0] + n_of[1]], false, 0);
                }
                let here = greater.iter().zip(&classes.rows).map(|(a, b)| a & b);
                classes.two_slots(n_of[1], classes.places(ones_of(here)))
            }
            Cells::Grouped { .. } => self.grouped_slots(column, &tallies, classes),
        }
    }

    fn grouped_slots(&self, column: &Column, tallies: &[Tally], classes: &Classes) -> Slots {
        let Cells::Grouped { starts, rows, rest, missing, .. } = &column.cells else {
            return Slots::new(classes.n_rows(), Vec::new(), false, 0);
        };
        let (slot_of, n_slots) = match column.is_numeric {
            true => {
                let cuts = discretize::cuts(tallies, &self.logs);
                let below = |tally: &Tally| cuts.partition_point(|&cut| cut < tally.value);
                (tallies.iter().map(below).collect::<Vec<usize>>(), cuts.len() + 1)
            }
            false => {
                let mut n_slots = 0;
                let mut next = |tally: &Tally| {
                    n_slots += usize::from(tally.counts != [0, 0]);
                    n_slots.saturating_sub(1)
                };
                (tallies.iter().map(&mut next).collect(), n_slots)
            }
        };
        let mut counts = vec![0; n_slots];
        for (tally, &slot) in tallies.iter().zip(&slot_of) {
            if let Some(count) = counts.get_mut(slot) {
                *count += tally.counts[0] + tally.counts[1];
            }
        }
        let n_missing = classes.n_rows() as u32 - counts.iter().sum::<u32>();
        if n_missing > 0 {
            counts.push(n_missing);
        }
        let rest_slot = rest.map_or(0, |value| slot_of[value]);
        let mut slots = Slots::new(classes.n_rows(), counts, n_missing > 0, rest_slot);
        if !slots.is_useless() {
            let listed =
                |rows: &[u32]| rows.iter().map(|&row| row as usize).collect::<Vec<usize>>();
            for (value, span) in starts.windows(2).enumerate() {
                if slot_of[value] != rest_slot {
                    let rows = listed(&rows[span[0] as usize..span[1] as usize]);
                    for place in classes.places(rows.into_iter()) {
                        slots.put(place, slot_of[value]);
                    }
                }
            }
            for place in classes.places(listed(missing).into_iter()) {
                slots.put(place, n_slots);
            }
        }
        slots
    }
}

impl Column {
    /// One tally per value of the column, also of those that no row here has.
    fn tallies(&self, classes: &Classes) -> Vec<Tally> {
        match &self.cells {
            Cells::TwoValued { values, greater } => {
                let mut counts = [0; 2];
                for ((&greater, &rows), &relevant) in
                    greater.iter().zip(&classes.rows).zip(&classes.relevant)
                {
                    counts[0] += (greater & rows & !relevant).count_ones();
                    counts[1] += (greater & relevant).count_ones();
                }
                let lesser = [classes.counts[0] - counts[0], classes.counts[1] - counts[1]];
                vec![Tally { value: values[0], counts: lesser }, Tally { value: values[1], counts }]
            }
            Cells::Grouped { values, starts, rows, rest, missing } => {
                let count = |rows: &[u32]| {
                    let mut counts = [0u32; 3];
                    rows.iter().for_each(|&row| {
                        counts[usize::from(classes.of_row[row as usize].min(ABSENT))] += 1;
                    });
                    [counts[0], counts[1]]
                };
                let mut left = classes.counts;
                let mut take = |counts: [u32; 2]| {
                    left = [left[0] - counts[0], left[1] - counts[1]];
                    counts
                };
                take(count(missing));
                let mut tallies: Vec<Tally> = values
                    .iter()
                    .zip(starts.windows(2))
                    .map(|(&value, span)| {
                        let counts = count(&rows[span[0] as usize..span[1] as usize]);
                        Tally { value, counts: take(counts) }
                    })
                    .collect();
                if let Some(value) = *rest {
                    tallies[value].counts = left;
                }
                tallies
            }
        }
    }
}

impl Cells {
    /// From the stored (value, row) of a column. Rows that are not stored hold 0.
    fn new(mut stored: Vec<(f64, u32)>, n_rows: usize) -> Cells {
        let n_zeros = n_rows - stored.len();
        let missing: Vec<u32> =
            stored.iter().filter(|(value, _)| value.is_nan()).map(|&(_, row)| row).collect();
        stored.retain(|(value, _)| !value.is_nan());
        // By rows too, so that storage does not depend on how the sort treats equals.
        stored.sort_unstable_by(|a, b| {
            a.0.partial_cmp(&b.0).map_or(a.1.cmp(&b.1), |by| by.then(a.1.cmp(&b.1)))
        });
        let mut groups: Vec<(f64, &[(f64, u32)])> =
            stored.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, group)).collect();
        if n_zeros > 0 {
            let at = groups.partition_point(|(value, _)| *value < 0.0);
            groups.insert(at, (0.0, &[]));
        }
        let rest = match n_zeros {
            0 => (0..groups.len()).rev().max_by_key(|&at| groups[at].1.len()),
            _ => groups.iter().position(|(_, group)| group.is_empty()),
        };
        let listed = |at: usize| if Some(at) == rest { &[] } else { groups[at].1 };
        let n_listed: usize = (0..groups.len()).map(|at| listed(at).len()).sum();
        // A midpoint that rounds up to the greater value would not part the two.
        let parts = |a: f64, b: f64| a / 2.0 + b / 2.0 < b && (a + b) / 2.0 < b;
        if let ([(a, _), (b, _)], true) = (&groups[..], missing.is_empty())
            // Where one value is rare, a list of its rows is shorter than the bits of all rows.
            && n_listed * 32 >= n_rows
            && parts(*a, *b)
        {
            let values = [*a, *b];
            let listed_is_greater = rest == Some(0);
            let flip = if listed_is_greater { 0 } else { u64::MAX };
            let mut greater = vec![flip; n_rows.div_ceil(64)];
            for (_, row) in listed(usize::from(listed_is_greater)) {
                greater[*row as usize / 64] ^= 1 << (row % 64);
            }
            return Cells::TwoValued { values, greater };
        }
        let mut starts = vec![0];
        let mut rows = Vec::with_capacity(n_listed);
        for at in 0..groups.len() {
            rows.extend(listed(at).iter().map(|&(_, row)| row));
            starts.push(rows.len() as u32);
        }
        let values = groups.iter().map(|&(value, _)| value).collect();
        Cells::Grouped { values, starts, rows, rest, missing }
    }
}

/// A function from columns to their stored (value, row), to be asked for each column once.
fn stored_cells(features: &Matrix) -> impl FnMut(usize) -> Vec<(f64, u32)> + '_ {
    let mut columns: Vec<Vec<(f64, u32)>> = match features {
        Matrix::Dense(_) => Vec::new(),
        Matrix::Sparse(_) => {
            let mut columns = vec![Vec::new(); features.n_columns()];
            for row in 0..features.n_rows() {
                for (column, value) in features.entries(row) {
                    columns[column].push((value, row as u32));
                }
            }
            columns
        }
    };
    move |column| match features {
        Matrix::Dense(dense) => {
            (0..features.n_rows()).map(|row| (dense.row(row)[column], row as u32)).collect()
        }
        Matrix::Sparse(_) => std::mem::take(&mut columns[column]),
    }
}

/// The positions of the set bits, ascending.
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    ones_of(words.iter().copied())
}

fn ones_of(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(at * 64 + bit)
        })
    })
}
