//! The inputs column by column, made once per data set and shared by all members and labels.
//!
//! A column is sorted once, when someone first asks for it. Any subset of its rows is then scanned
//! through a row mask, in ascending values, without sorting again; standardizing would not change the
//! order.

use std::sync::{Arc, OnceLock};

use super::contingency::Slots;
use super::discretize::{self, CandidateCuts, Pair};
use super::entropy::NLogN;
use crate::data::{Dataset, Matrix};
use crate::product::vectorized;

/// The inputs column by column.
///
/// A complete column of two values is packed into bits, so that population counts give its
/// contingency tables. Any other column is its rows in ascending values, without those of a very
/// common value, which are all the rest: text data, mostly zeros, takes no more room than its other
/// cells. Nominal columns are stored alike, by the position of their values.
#[derive(Clone, Debug)]
pub struct Columns {
    data: Arc<Dataset>,
    /// How many of its rows these columns hold.
    n_here: usize,
    /// The place of each row of the data set among those held; none where all are.
    places: Option<Vec<u32>>,
    /// Found when someone first asks for one.
    columns: OnceLock<Vec<OnceLock<Column>>>,
    logs: OnceLock<NLogN>,
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

/// The different values of a column on some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How many gaps there are between neighbouring values: one less than values.
    pub n_gaps: usize,
    /// The sum of the gaps, added up one by one as WEKA does: where values lie on a grid, the last
    /// bit of the mean gap decides how ties are rounded.
    pub gaps: f64,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
}

#[derive(Clone, Debug)]
struct Column {
    is_numeric: bool,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    TwoValued(TwoValued),
    Grouped(Grouped),
}

/// A column of two values, none missing: a bit for each row says whether it has the greater one.
#[derive(Clone, Debug)]
struct TwoValued {
    values: [f64; 2],
    greater: Vec<u64>,
}

/// Rows in ascending order of their values; rows without a value are listed separately.
#[derive(Clone, Debug)]
struct Grouped {
    /// The different values, ascending.
    values: Vec<f64>,
    /// The rows of value v are `rows[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// The value of all rows that are neither listed nor missing.
    rest: Option<usize>,
    missing: Vec<u32>,
    /// A bit for each listed row that is the last of its value.
    ends: Vec<u64>,
    /// Those of `ends` where the value that ends, or the next one, has more than one row.
    many: Vec<u64>,
}

/// A subset of the rows, and the class of each.
pub(crate) struct Classes {
    /// For each row of the columns, what it adds to the counts of the two classes: 1 to its own, or
    /// nothing if it is not in the subset.
    of_row: Vec<Pair>,
    rows: Vec<u64>,
    relevant: Vec<u64>,
    counts: [u32; 2],
}

/// The place of a row that is not held.
const NOWHERE: u32 = u32::MAX;

impl Classes {
    fn is_here(&self, row: u32) -> bool {
        self.rows[row as usize / 64] >> (row % 64) & 1 == 1
    }

    fn those_here(&self, rows: &[u32]) -> impl Iterator<Item = u32> {
        rows.iter().copied().filter(|&row| self.is_here(row))
    }

    pub(crate) fn n_rows(&self) -> usize {
        (self.counts[0] + self.counts[1]) as usize
    }

    /// The class itself, as if it were a column.
    pub(crate) fn slots(&self) -> Slots {
        if self.counts.contains(&0) {
            Slots::useless()
        } else {
            Slots::two(self.counts, self.relevant.clone())
        }
    }
}

impl Columns {
    /// Of the inputs of a data set.
    pub fn new(data: &Arc<Dataset>) -> Columns {
        let (data, n_here) = (Arc::clone(data), data.n_rows());
        let (columns, logs) = (OnceLock::new(), OnceLock::new());
        Columns { data, n_here, places: None, columns, logs }
    }

    /// How many rows the data set has.
    pub fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    /// How many inputs it has.
    pub fn n_features(&self) -> usize {
        self.data.n_features()
    }

    fn column(&self, at: usize) -> &Column {
        let columns = self.columns.get_or_init(|| match self.data.features() {
            Matrix::Dense(_) => vec![OnceLock::new(); self.n_features()],
            // Rows are all that is stored, so all columns are found at once.
            Matrix::Sparse(_) => {
                let stored = stored_cells(self.data.features()).into_iter().enumerate();
                stored.map(|(at, stored)| Column::new(&self.data, at, stored).into()).collect()
            }
        });
        columns[at].get_or_init(|| {
            let cell = |row: usize| (self.data.features().get(row, at), row as u32);
            Column::new(&self.data, at, (0..self.n_rows()).map(cell).collect())
        })
    }

    /// The place of a row of the data set among the rows held.
    fn place(&self, row: usize) -> usize {
        self.places.as_ref().map_or(row, |places| places[row] as usize)
    }

    /// The columns of only some of the rows held, which is worth making where these are scanned
    /// more than once.
    pub(crate) fn on(&self, rows: &[usize]) -> Columns {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let mut places = vec![NOWHERE; self.n_rows()];
        // The new place of each row, by its old one.
        let mut moved = vec![NOWHERE; self.n_here];
        for (place, &row) in (0..).zip(&rows) {
            places[row] = place;
            moved[self.place(row)] = place;
        }
        let column = |at: usize| {
            let Column { is_numeric, ref cells } = *self.column(at);
            let cells = match cells {
                Cells::TwoValued(column) => Cells::TwoValued(column.on(&moved, rows.len())),
                Cells::Grouped(column) => {
                    Cells::Grouped(column.on(|row| moved[row as usize], rows.len()))
                }
            };
            Column { is_numeric, cells }.into()
        };
        let columns: Vec<OnceLock<Column>> = (0..self.n_features()).map(column).collect();
        let columns = columns.into();
        let (data, logs) = (Arc::clone(&self.data), self.logs().clone().into());
        Columns { data, n_here: rows.len(), places: Some(places), columns, logs }
    }

    /// Some of the rows held, and to which of them a label is relevant. The order of `rows` does
    /// not matter, and a row named twice counts once.
    ///
    /// # Panics
    /// If a row is not held.
    pub(crate) fn classes(&self, rows: &[usize], relevant: impl Fn(usize) -> bool) -> Classes {
        let words = self.n_here.div_ceil(64);
        let mut classes = Classes {
            of_row: vec![Pair::default(); self.n_here],
            rows: vec![0; words],
            relevant: vec![0; words],
            counts: [0; 2],
        };
        for &row in rows {
            let (place, is_relevant) = (self.place(row), relevant(row));
            classes.of_row[place] = Pair::new([u32::from(!is_relevant), u32::from(is_relevant)]);
            classes.rows[place / 64] |= 1 << (place % 64);
            classes.relevant[place / 64] |= u64::from(is_relevant) << (place % 64);
        }
        let all = classes.of_row.iter().fold(Pair::default(), |sum, &pair| sum.plus(pair));
        classes.counts = all.counts();
        classes
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
        self.tallies_of(feature, &self.classes(rows, relevant))
    }

    pub(crate) fn tallies_of(&self, feature: usize, classes: &Classes) -> Vec<Tally> {
        let is_here = |tally: &Tally| tally.counts != [0, 0];
        match &self.column(feature).cells {
            Cells::TwoValued(column) => {
                column.tallies(classes).into_iter().filter(is_here).collect()
            }
            Cells::Grouped(column) => column.tallies(classes).filter(is_here).collect(),
        }
    }

    /// The different values an input takes on the rows of `classes`, from the least on.
    pub(crate) fn spread(&self, feature: usize, classes: &Classes) -> Spread {
        let mut spread = Spread::default();
        let mut any = false;
        let mut take = |value: f64, is_here: bool| {
            if is_here && any {
                spread.n_gaps += 1;
                spread.gaps += value - spread.greatest;
            } else if is_here {
                (spread.least, any) = (value, true);
            }
            spread.greatest = if is_here { value } else { spread.greatest };
        };
        match &self.column(feature).cells {
            Cells::TwoValued(column) => {
                for Tally { value, counts } in column.tallies(classes) {
                    take(value, counts != [0, 0]);
                }
            }
            Cells::Grouped(column) => {
                column.values.iter().zip(column.counts(classes)).for_each(|(&value, pair)| {
                    take(value, pair != Pair::default());
                });
            }
        }
        spread
    }

    pub(crate) fn logs(&self) -> &NLogN {
        self.logs.get_or_init(|| NLogN::up_to(self.n_rows()))
    }

    /// An input on the rows of `classes`: numeric ones cut by [`discretize`],
    /// nominal ones by value.
    pub(crate) fn slots(&self, feature: usize, classes: &Classes) -> Slots {
        if self.data.names_rows(feature) {
            return Slots::useless();
        }
        let Column { is_numeric, cells } = self.column(feature);
        // There is one place to cut, whatever the rows.
        let differ = |sides: [[u32; 2]; 2]| {
            sides.iter().all(|side| side[0] + side[1] > 0)
                && (!is_numeric || discretize::pays(classes.counts, sides, 1, self.logs()))
        };
        match cells {
            Cells::TwoValued(column) => {
                let sides = column.tallies(classes).map(|tally| tally.counts);
                if !differ(sides) {
                    return Slots::useless();
                }
                let here = column.greater.iter().zip(&classes.rows).map(|(a, b)| a & b);
                Slots::two(sides.map(|side| side[0] + side[1]), here.collect())
            }
            Cells::Grouped(column) if column.values.len() == 2 && column.missing.is_empty() => {
                let mut counts = column.counts(classes).map(Pair::counts);
                let sides = std::array::from_fn(|_| counts.next().unwrap_or_default());
                if differ(sides) { column.slots(&[1], classes) } else { Slots::useless() }
            }
            Cells::Grouped(column) => {
                let fewer = classes.n_rows() < self.n_here;
                let stays = |row| if classes.is_here(row) { row } else { NOWHERE };
                let fewer = fewer.then(|| column.on(stays, classes.n_rows()));
                let column = fewer.as_ref().unwrap_or(column);
                // The first value of every slot but the first.
                let starts = if *is_numeric {
                    column.cuts(classes, self.logs())
                } else {
                    (0..)
                        .zip(column.counts(classes))
                        .filter(|(_, pair)| pair.n() > 0)
                        .map(|(value, _)| value)
                        .skip(1)
                        .collect()
                };
                if starts.is_empty() { Slots::useless() } else { column.slots(&starts, classes) }
            }
        }
    }
}

impl TwoValued {
    /// Only some rows, so many, in other places.
    fn on(&self, moved: &[u32], n_here: usize) -> TwoValued {
        let mut greater = vec![0; n_here.div_ceil(64)];
        for row in ones_of(self.greater.iter().copied()) {
            if moved[row] != NOWHERE {
                greater[moved[row] as usize / 64] |= 1 << (moved[row] % 64);
            }
        }
        TwoValued { values: self.values, greater }
    }

    fn tallies(&self, classes: &Classes) -> [Tally; 2] {
        let words = self.greater.iter().zip(&classes.rows).zip(&classes.relevant);
        let counts = vectorized(
            #[inline(always)]
            || {
                words.fold([0; 2], |[no, yes], ((greater, rows), relevant)| {
                    let no = no + (greater & rows & !relevant).count_ones();
                    [no, yes + (greater & relevant).count_ones()]
                })
            },
        );
        let lesser = [classes.counts[0] - counts[0], classes.counts[1] - counts[1]];
        [Tally { value: self.values[0], counts: lesser }, Tally { value: self.values[1], counts }]
    }
}

impl Grouped {
    /// Only some rows, `n_here` in all, in other places, and the values they have.
    fn on(&self, moved: impl Fn(u32) -> u32, n_here: usize) -> Grouped {
        let is_here = |row: u32| moved(row) != NOWHERE;
        let missing = self.missing.iter().map(|&row| moved(row));
        let missing: Vec<u32> = missing.filter(|&row| row != NOWHERE).collect();
        let n_listed = self.rows.iter().filter(|&&row| is_here(row)).count();
        let has_rest = n_here > n_listed + missing.len();
        let mut here = Grouped {
            values: Vec::with_capacity(self.values.len()),
            starts: Vec::with_capacity(self.starts.len()),
            // One more, for a row that is written before it is known not to be here.
            rows: vec![0; n_listed + 1],
            rest: None,
            missing,
            ends: vec![],
            many: vec![],
        };
        here.starts.push(0);
        let mut n_rows = 0;
        for (at, (&value, span)) in self.values.iter().zip(self.starts.windows(2)).enumerate() {
            let n_before = n_rows;
            for &row in &self.rows[span[0] as usize..span[1] as usize] {
                here.rows[n_rows] = moved(row);
                n_rows += usize::from(is_here(row));
            }
            let is_rest = has_rest && Some(at) == self.rest;
            if n_rows > n_before || is_rest {
                here.rest = here.rest.or(is_rest.then_some(here.values.len()));
                here.values.push(value);
                here.starts.push(n_rows as u32);
            }
        }
        here.rows.truncate(n_rows);
        here.mark_ends();
        here
    }

    fn mark_ends(&mut self) {
        let n_words = self.rows.len().div_ceil(64);
        (self.ends, self.many) = (vec![0; n_words], vec![0; n_words]);
        for (value, span) in
            self.starts.windows(2).enumerate().filter(|(_, span)| span[0] < span[1])
        {
            let next = self.starts.get(value + 2).copied().unwrap_or(span[1]);
            let last = span[1] as usize - 1;
            let has_many = span[1] - span[0] > 1 || next - span[1] > 1;
            self.ends[last / 64] |= 1 << (last % 64);
            self.many[last / 64] |= u64::from(has_many) << (last % 64);
        }
    }

    /// For each value of the column, also of those that no row here has.
    fn counts(&self, classes: &Classes) -> impl Iterator<Item = Pair> {
        let count = |rows: &[u32]| {
            rows.iter().fold(Pair::default(), |sum, &row| sum.plus(classes.of_row[row as usize]))
        };
        let of_rest = self.rest.map(|_| {
            let all = Pair::new(classes.counts);
            all.minus(count(&self.rows)).minus(count(&self.missing))
        });
        self.starts.windows(2).enumerate().map(move |(at, span)| match of_rest {
            Some(pair) if Some(at) == self.rest => pair,
            _ => count(&self.rows[span[0] as usize..span[1] as usize]),
        })
    }

    fn tallies(&self, classes: &Classes) -> impl Iterator<Item = Tally> {
        let values = self.values.iter().zip(self.counts(classes));
        values.map(|(&value, pair)| Tally { value, counts: pair.counts() })
    }

    /// The values below which the column is cut, of which at least the lowest has rows here.
    fn cuts(&self, classes: &Classes, logs: &NLogN) -> Vec<usize> {
        let n_values = self.values.len();
        if self.rest.is_some() {
            let starts = discretize::starts(self.counts(classes));
            return discretize::places(
                n_values,
                |value| starts[value].n(),
                &starts,
                CandidateCuts::Values,
                logs,
            );
        }
        let tried = vectorized(
            #[inline(always)]
            || self.borders(classes),
        );
        discretize::places(
            n_values,
            |value| self.starts[value],
            &tried,
            CandidateCuts::Values,
            logs,
        )
    }

    /// The rows below each place between two values, but not where the rows of both are all of one
    /// class; from 0 to all. The classes are bits in the order of the values, so that whole words
    /// of them are compared, and most rows cost no more than being gathered.
    #[inline(always)]
    fn borders(&self, classes: &Classes) -> Vec<Pair> {
        let class = |row: u32| u64::from(classes.of_row[row as usize].counts()[1]);
        let mut words = self.rows.chunks(64).map(|rows| {
            rows.iter().enumerate().fold(0, |word, (at, &row)| word | class(row) << at)
        });
        let mut borders = vec![Pair::default()];
        let (mut n_relevant, mut next) = (0, words.next());
        for (at, (&ends, &many)) in self.ends.iter().zip(&self.many).enumerate() {
            let word = next.unwrap_or(0);
            next = words.next();
            let shifted = word >> 1 | next.unwrap_or(0) << 63;
            let mut open = ends & ((word ^ shifted) | many);
            while open != 0 {
                let place = open.trailing_zeros();
                open &= open - 1;
                let n_below = at as u32 * 64 + place + 1;
                let relevant = n_relevant + (word << (63 - place)).count_ones();
                borders.push(Pair::new([n_below - relevant, relevant]));
            }
            n_relevant += word.count_ones();
        }
        let n = self.rows.len() as u32;
        if borders.last().is_some_and(|last| last.n() < n) {
            borders.push(Pair::new([n - n_relevant, n_relevant]));
        }
        borders
    }

    /// The rows here by slots, each of which starts at the value where the one before it ends.
    fn slots(&self, starts: &[usize], classes: &Classes) -> Slots {
        let n_values = starts.len() + 1;
        let rest = self.rest.map_or(0, |value| starts.partition_point(|&start| start <= value));
        let (n_here, n_words) = (classes.n_rows(), classes.rows.len());
        let mut slots = Slots::new(n_here, n_words, n_values, !self.missing.is_empty(), rest);
        for slot in (0..n_values).filter(|&slot| slot != rest) {
            let first = if slot == 0 { 0 } else { starts[slot - 1] };
            let end = starts.get(slot).copied().unwrap_or(self.values.len());
            let rows = &self.rows[self.starts[first] as usize..self.starts[end] as usize];
            slots.put(slot, classes.those_here(rows));
        }
        slots.put(n_values, classes.those_here(&self.missing));
        slots
    }
}

impl Column {
    fn new(data: &Dataset, at: usize, stored: Vec<(f64, u32)>) -> Column {
        let is_numeric = data.attributes()[at].values().is_none();
        Column { is_numeric, cells: Cells::new(stored, data.n_rows()) }
    }
}

impl Cells {
    /// From the stored (value, row) of a column. Rows that are not stored hold 0.
    fn new(mut stored: Vec<(f64, u32)>, n_rows: usize) -> Cells {
        let n_zeros = n_rows - stored.len();
        let missing: Vec<u32> =
            stored.iter().filter(|(value, _)| value.is_nan()).map(|&(_, row)| row).collect();
        stored.retain(|(value, _)| !value.is_nan());
        sort_cells(&mut stored);
        let mut groups: Vec<(f64, &[(f64, u32)])> =
            stored.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, group)).collect();
        let rest = if n_zeros > 0 {
            let at = groups.partition_point(|(value, _)| *value < 0.0);
            groups.insert(at, (0.0, &[]));
            Some(at)
        } else {
            // Counting the rows that are not listed takes a pass of its own, which pays only where
            // they are many.
            let largest = (0..groups.len()).rev().max_by_key(|&at| groups[at].1.len());
            largest.filter(|&at| groups[at].1.len() * 4 >= n_rows)
        };
        let listed = |at: usize| if Some(at) == rest { &[] } else { groups[at].1 };
        let n_listed: usize = (0..groups.len()).map(|at| listed(at).len()).sum();
        let starts = (0..groups.len()).scan(0, |end, at| {
            *end += listed(at).len() as u32;
            Some(*end)
        });
        let mut grouped = Grouped {
            values: groups.iter().map(|&(value, _)| value).collect(),
            starts: std::iter::once(0).chain(starts).collect(),
            rows: (0..groups.len()).flat_map(listed).map(|&(_, row)| row).collect(),
            rest,
            missing,
            ends: vec![],
            many: vec![],
        };
        grouped.mark_ends();
        // Where one value is rare, a list of its rows is shorter than the bits of all rows.
        let packed = if n_listed * 32 >= n_rows { grouped.pack(n_rows) } else { None };
        packed.map_or_else(|| Cells::Grouped(grouped), Cells::TwoValued)
    }
}

impl Grouped {
    /// The column as bits, if it has two values and none is missing.
    fn pack(&self, n_rows: usize) -> Option<TwoValued> {
        let (&[a, b], Some(rest), true) = (&self.values[..], self.rest, self.missing.is_empty())
        else {
            return None;
        };
        // The cut is at the midpoint. Where that rounds to the greater value, or overflows, both
        // values are on one side of it.
        let is_separated = (a + b) / 2.0 < b;
        if !is_separated {
            return None;
        }
        let mut greater = vec![0; n_rows.div_ceil(64)];
        let all_rows = if rest == 1 { 0..n_rows as u32 } else { 0..0 };
        for row in all_rows.chain(self.rows.iter().copied()) {
            greater[row as usize / 64] ^= 1 << (row % 64);
        }
        Some(TwoValued { values: [a, b], greater })
    }
}

/// Sorts cells by value, then by row.
///
/// Cells are in the order of their rows. They are sorted as whole numbers, which are compared in one
/// step: as many leading bits of the value as leave room for its place. Values that only the other bits
/// tell apart are rare, and a stable sort of what is almost sorted is one pass.
pub(crate) fn sort_cells(stored: &mut [(f64, u32)]) {
    const SIGN: u64 = 1 << 63;
    let ascending = |value: f64| match value.to_bits() {
        bits if bits & SIGN == 0 => bits | SIGN,
        bits => !bits,
    };
    let places = stored.len().next_power_of_two() as u64 - 1;
    let key = |(place, &(value, _)): (u64, &(f64, u32))| ascending(value) & !places | place;
    let mut keys: Vec<u64> = (0..).zip(stored.iter()).map(key).collect();
    keys.sort_unstable();
    let unsorted = stored.to_vec();
    for (cell, key) in stored.iter_mut().zip(keys) {
        *cell = unsorted[(key & places) as usize];
    }
    stored.sort_by_key(|&(value, _)| ascending(value));
}

/// The stored (value, row) of every column.
pub(crate) fn stored_cells(features: &Matrix) -> Vec<Vec<(f64, u32)>> {
    let n_columns = features.n_columns();
    match features {
        Matrix::Dense(dense) => {
            let cells = |column| dense.cells().iter().skip(column).step_by(n_columns);
            (0..n_columns).map(|column| cells(column).copied().zip(0..).collect()).collect()
        }
        Matrix::Sparse(_) => {
            let mut columns = vec![Vec::new(); n_columns];
            for row in 0..features.n_rows() {
                for (column, value) in features.entries(row) {
                    columns[column].push((value, row as u32));
                }
            }
            columns
        }
    }
}

/// The positions of the set bits, ascending.
pub(crate) fn ones_of(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(at * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dense, LabelMatrix, Sparse};
    use crate::prepare::mdl_cuts;
    use proptest::prelude::*;

    fn data(rows: &[Vec<f64>], sparse: bool) -> Arc<Dataset> {
        let n_columns = rows.first().map_or(0, Vec::len);
        let (mut dense, mut stored) = (Dense::new(n_columns), Sparse::new(n_columns));
        for row in rows {
            dense.push_row(row);
            stored.push_row(row.iter().enumerate().map(|(at, &value)| (at as u32, value)));
        }
        let features = if sparse { Matrix::Sparse(stored) } else { Matrix::Dense(dense) };
        let attributes = (0..n_columns).map(|at| Attribute::numeric(format!("x{at}"))).collect();
        let labels = LabelMatrix::empty(rows.len(), 0);
        Arc::new(Dataset::new("t", attributes, features, Vec::new(), labels).unwrap())
    }

    #[test]
    fn two_values_are_packed_unless_one_is_rare() {
        let half: Vec<Vec<f64>> = (0..640).map(|row| vec![f64::from(row % 2)]).collect();
        let rare: Vec<Vec<f64>> = (0..640).map(|row| vec![f64::from(row == 9)]).collect();
        for sparse in [false, true] {
            let of = |rows| Columns::new(&data(rows, sparse)).column(0).cells.clone();
            assert!(matches!(of(&half), Cells::TwoValued(_)));
            assert!(matches!(of(&rare), Cells::Grouped(grouped) if grouped.rows == [9]));
        }
    }

    #[test]
    fn tallies_ascend_and_leave_missing_rows_out() {
        let rows = [3.0, f64::NAN, -1.0, 3.0, 0.0].map(|value| vec![value]);
        for sparse in [false, true] {
            let columns = Columns::new(&data(&rows, sparse));
            let tallies = columns.tallies(0, &[4, 3, 1, 0], |row| row == 3);
            let expected = [(0.0, [1, 0]), (3.0, [1, 1])];
            assert_eq!(tallies, expected.map(|(value, counts)| Tally { value, counts }));
        }
    }

    fn cell() -> impl Strategy<Value = f64> {
        prop_oneof![
            3 => Just(0.0), 1 => Just(f64::NAN), 2 => Just(1.0), 2 => (-4i32..4).prop_map(f64::from)
        ]
    }

    proptest! {
        #[test]
        fn a_mask_equals_a_copy_and_sparse_equals_dense(
            rows in prop::collection::vec(
                (prop::collection::vec(cell(), 3), any::<bool>(), any::<bool>()), 1..150),
            binary in any::<bool>(),
        ) {
            let cells: Vec<Vec<f64>> = rows.iter().map(|(cells, ..)| {
                let mut cells = cells.clone();
                if binary {
                    cells[0] = f64::from(cells[0] > 0.0);
                }
                cells
            }).collect();
            let chosen: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].1).collect();
            let all: Vec<usize> = (0..chosen.len()).collect();
            let copied: Vec<Vec<f64>> = chosen.iter().map(|&row| cells[row].clone()).collect();
            // No rows leave no columns either, in this notation.
            prop_assume!(!copied.is_empty());
            let copy = Columns::new(&data(&copied, false));
            for sparse in [false, true] {
                let columns = Columns::new(&data(&cells, sparse));
                for feature in [0, 1, 2] {
                    let masked = columns.tallies(feature, &chosen, |row| rows[row].2);
                    let plain = copy.tallies(feature, &all, |row| rows[chosen[row]].2);
                    prop_assert_eq!(&masked, &plain);
                    let cuts = mdl_cuts(&plain, CandidateCuts::Values);
                    prop_assert_eq!(&cuts, &mdl_cuts(&masked, CandidateCuts::Values));
                    let here = columns.on(&chosen);
                    prop_assert_eq!(&here.tallies(feature, &chosen, |row| rows[row].2), &plain);
                    let (half, _) = chosen.split_at(chosen.len() / 2);
                    let of_half = columns.tallies(feature, half, |row| rows[row].2);
                    for fewer in [&here, &here.on(half)] {
                        prop_assert_eq!(&fewer.tallies(feature, half, |row| rows[row].2), &of_half);
                    }
                    if let Cells::Grouped(column) = &here.column(feature).cells {
                        let classes = here.classes(&chosen, |row| rows[row].2);
                        let values: Vec<f64> = plain.iter().map(|tally| tally.value).collect();
                        let found = column.cuts(&classes, here.logs()).into_iter().map(|above| {
                            let at = values.partition_point(|&value| value < column.values[above]);
                            (values[at - 1] + values[at]) / 2.0
                        });
                        prop_assert_eq!(found.collect::<Vec<_>>(), cuts);
                    }
                    let n: u32 = masked.iter().flat_map(|tally| tally.counts).sum();
                    let present = chosen.iter().filter(|&&row| !cells[row][feature].is_nan());
                    prop_assert_eq!(n as usize, present.count());
                }
            }
        }
    }
}
