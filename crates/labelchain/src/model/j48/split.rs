//! Which question about the rows of a node tells most about the label?

use std::f64::consts::LN_2;
use std::ops::{Add, Sub};

use super::{J48, Test, is_above, is_at_most, value_of};
use crate::data::{AttributeKind, Dataset};
use crate::prepare::{NLogN, SMALL, real_n_log_n, sort_cells, stored_cells};

/// Values must be so far apart for a threshold to lie between them.
const GAP: f64 = 1e-5;

/// The inputs of the training rows, sorted once.
pub(super) struct Questions<'a> {
    settings: &'a J48,
    columns: Vec<Column>,
    logs: NLogN,
}

/// One input: its cells in ascending values and then the missing ones, but without those of a very
/// common value, which all other rows have. Text data, mostly zeros, is short that way.
struct Column {
    /// How many named values, unless it is numeric.
    n_values: Option<usize>,
    rest: Option<f64>,
    values: Vec<f64>,
    rows: Vec<u32>,
    /// Whether its gain counts in the mean: not if its values are almost as many as the rows.
    is_counted: bool,
}

/// The rows that reach one node, in the order of each input. An input of which no cell is listed here
/// is constant.
pub(super) struct Listing {
    /// Columns, each with the end of its cells.
    columns: Vec<(usize, usize)>,
    cells: Vec<Cell>,
}

/// A place in a sorted column, and beside it, in the lowest bit, whether the label is relevant there.
#[derive(Clone, Copy, Default)]
struct Cell(u32);

impl Cell {
    fn place(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn class(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// The rows that reach one node.
pub(super) struct Here<'a> {
    pub(super) n_rows: usize,
    pub(super) counts: [f64; 2],
    /// Weights by row.
    pub(super) weights: &'a [f64],
    /// Whether they are all 1.
    pub(super) is_whole: bool,
}

/// Rows by weight, or only counted where all weights are 1: entropies then need no logarithm.
trait Weight: Copy + Default + Add<Output = Self> + Sub<Output = Self> {
    /// The weight of one row.
    fn at(weights: &[f64], row: u32) -> Self;
    fn of(weight: f64) -> Self;
    fn real(self) -> f64;
    /// x ln x.
    fn n_log_n(self, logs: &NLogN) -> f64;
}

impl Weight for u32 {
    fn at(_: &[f64], _: u32) -> u32 {
        1
    }

    fn of(weight: f64) -> u32 {
        weight as u32
    }

    fn real(self) -> f64 {
        f64::from(self)
    }

    fn n_log_n(self, logs: &NLogN) -> f64 {
        logs.of(self)
    }
}

impl Weight for f64 {
    fn at(weights: &[f64], row: u32) -> f64 {
        weights[row as usize]
    }

    fn of(weight: f64) -> f64 {
        weight
    }

    fn real(self) -> f64 {
        self
    }

    fn n_log_n(self, _: &NLogN) -> f64 {
        if self < SMALL { 0.0 } else { real_n_log_n(self) }
    }
}

/// Weights of both classes.
type Bag<W> = [W; 2];

fn total<W: Weight>([no, yes]: Bag<W>) -> W {
    no + yes
}

fn plus<W: Weight>(a: Bag<W>, b: Bag<W>) -> Bag<W> {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus<W: Weight>(a: Bag<W>, b: Bag<W>) -> Bag<W> {
    [a[0] - b[0], a[1] - b[1]]
}

/// One value of a column and its rows.
#[derive(Clone, Copy)]
struct Tally<W> {
    value: f64,
    bag: Bag<W>,
}

/// The best question about one input.
struct Candidate {
    column: usize,
    test: Test,
    gain: f64,
    ratio: f64,
}

impl<'a> Questions<'a> {
    pub(super) fn of(settings: &'a J48, train: &Dataset) -> Questions<'a> {
        let n_rows = train.n_rows();
        let cells = stored_cells(train.features());
        let kinds = train.attributes().iter().map(|attribute| &attribute.kind);
        let columns = kinds.zip(cells).map(|(kind, cells)| Column::of(kind, cells, n_rows));
        let mut columns: Vec<Column> = columns.collect();
        if columns.iter().all(|column| !column.is_counted) {
            columns.iter_mut().for_each(|column| column.is_counted = true);
        }
        Questions { settings, columns, logs: NLogN::up_to(n_rows) }
    }

    /// All rows.
    pub(super) fn listing(&self, is_relevant: impl Fn(u32) -> bool) -> Listing {
        let mut listing = Listing { columns: Vec::new(), cells: Vec::new() };
        for (at, column) in self.columns.iter().enumerate().filter(|(_, it)| it.is_useful()) {
            let places = (0..).zip(&column.rows);
            let cell = |(place, &row): (u32, &u32)| Cell(place << 1 | u32::from(is_relevant(row)));
            listing.cells.extend(places.map(cell));
            listing.columns.push((at, listing.cells.len()));
        }
        listing
    }

    /// Only the rows that have the stamp.
    pub(super) fn narrowed(&self, listing: &Listing, stamps: &[u32], stamp: u32) -> Listing {
        let mut cells = vec![Cell::default(); listing.cells.len()];
        let mut columns = Vec::with_capacity(listing.columns.len());
        let mut end = 0;
        for (at, listed) in listing.iter() {
            let start = end;
            let rows = &self.columns[at].rows;
            for &cell in listed {
                // Written in any case and kept if it is here: no branch to be mispredicted.
                cells[end] = cell;
                end += usize::from(stamps[rows[cell.place()] as usize] == stamp);
            }
            if end > start {
                columns.push((at, end));
            }
        }
        cells.truncate(end);
        Listing { columns, cells }
    }

    /// Of the inputs that gain no less than the mean, the first with the greatest gain ratio.
    pub(super) fn best(&self, listing: &Listing, here: &Here) -> Option<(usize, Test)> {
        let candidates = match here.is_whole {
            true => self.candidates::<u32>(listing, here),
            false => self.candidates::<f64>(listing, here),
        };
        let counted = candidates.iter().filter(|it| self.columns[it.column].is_counted);
        let (n, sum) = counted.fold((0, 0.0), |(n, sum), it| (n + 1, sum + it.gain));
        if n == 0 {
            return None;
        }
        let least = sum / f64::from(n) - 1e-3;
        let mut best: Option<&Candidate> = None;
        for candidate in candidates.iter().filter(|it| it.gain >= least) {
            if is_above(candidate.ratio, best.map_or(0.0, |best| best.ratio)) {
                best = Some(candidate);
            }
        }
        let Candidate { column, test, .. } = *best?;
        let test = match test {
            Test::AtMost(middle) => Test::AtMost(self.columns[column].greatest_up_to(middle)),
            other => other,
        };
        Some((column, test))
    }

    /// The best question about each input that has a valid one.
    fn candidates<W: Weight>(&self, listing: &Listing, here: &Here) -> Vec<Candidate> {
        let mut tallies: Vec<Tally<W>> = Vec::new();
        let candidates = listing.iter().filter_map(|(at, cells)| {
            let column = &self.columns[at];
            let n_known = column.tally(cells, here, &mut tallies);
            let weigher = Weigher::of(&self.logs, &tallies, here);
            let (test, gain, ratio) = match column.n_values {
                None => self.threshold(&tallies, n_known, &weigher)?,
                Some(_) if self.settings.binary_splits => self.one_value(&tallies, &weigher)?,
                Some(n_values) => self.all_values(&tallies, n_values, &weigher)?,
            };
            Some(Candidate { column: at, test, gain, ratio })
        });
        candidates.collect()
    }

    /// The first threshold of greatest gain, less what it costs to tell which of the possible ones
    /// it is.
    fn threshold<W: Weight>(
        &self,
        tallies: &[Tally<W>],
        n_known: usize,
        weigher: &Weigher<W>,
    ) -> Option<(Test, f64, f64)> {
        let known = weigher.known;
        let min_leaf = self.settings.min_leaf as f64;
        let least = match 0.1 * total(known).real() / 2.0 {
            few if is_at_most(few, min_leaf) => min_leaf,
            many => many.min(25.0),
        };
        if is_above(2.0 * least, n_known as f64) {
            return None;
        }
        let is_large = |bag: Bag<W>| is_at_most(least, total(bag).real());
        let (mut n_cuts, mut gain, mut best) = (0, 0.0, None);
        let mut bar = weigher.entropy_at(SMALL);
        let mut low = Bag::default();
        for (at, pair) in tallies.windows(2).enumerate() {
            low = plus(low, pair[0].bag);
            if pair[0].value + GAP < pair[1].value && is_large(low) {
                let high = minus(known, low);
                if !is_large(high) {
                    break;
                }
                let entropy = weigher.entropy_of(low) + weigher.entropy_of(high);
                if entropy < bar {
                    gain = weigher.gain(entropy);
                    bar = weigher.entropy_at(gain + SMALL);
                    best = Some((at, low, high));
                }
                n_cuts += 1;
            }
        }
        let (at, low, high) = best?;
        let gain = gain - f64::from(n_cuts).log2() / weigher.total;
        if is_at_most(gain, 0.0) {
            return None;
        }
        let (below, above) = (tallies[at].value, tallies[at + 1].value);
        let middle = f64::midpoint(below, above);
        let threshold = if middle < above { middle } else { below };
        let ratio = weigher.ratio(gain, [low, high].into_iter());
        Some((Test::AtMost(threshold), gain, ratio))
    }

    /// A branch for each value.
    fn all_values<W: Weight>(
        &self,
        tallies: &[Tally<W>],
        n_values: usize,
        weigher: &Weigher<W>,
    ) -> Option<(Test, f64, f64)> {
        let bags = || tallies.iter().map(|tally| tally.bag);
        if bags().filter(|&bag| self.is_large(bag)).count() < 2 {
            return None;
        }
        let gain = weigher.gain(bags().map(|bag| weigher.entropy_of(bag)).sum());
        Some((Test::Which(n_values), gain, weigher.ratio(gain, bags())))
    }

    /// The value of greatest gain ratio against all others.
    fn one_value<W: Weight>(
        &self,
        tallies: &[Tally<W>],
        weigher: &Weigher<W>,
    ) -> Option<(Test, f64, f64)> {
        let mut best: Option<(Test, f64, f64)> = None;
        for tally in tallies {
            let bags = [tally.bag, minus(weigher.known, tally.bag)];
            if !bags.into_iter().all(|bag| self.is_large(bag)) {
                continue;
            }
            let gain = weigher.gain(bags.map(|bag| weigher.entropy_of(bag)).into_iter().sum());
            let ratio = weigher.ratio(gain, bags.into_iter());
            // The first is a candidate even if it tells nothing: it lowers the mean.
            if best.is_none_or(|(_, _, other)| is_above(ratio, other)) {
                best = Some((Test::Is(tally.value as usize), gain, ratio));
            }
        }
        best
    }

    fn is_large<W: Weight>(&self, bag: Bag<W>) -> bool {
        is_at_most(self.settings.min_leaf as f64, total(bag).real())
    }
}

impl Listing {
    fn iter(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        let starts = std::iter::once(0).chain(self.columns.iter().map(|&(_, end)| end));
        let columns = self.columns.iter().zip(starts);
        columns.map(|(&(column, end), start)| (column, &self.cells[start..end]))
    }
}

impl Column {
    fn of(kind: &AttributeKind, mut cells: Vec<(f64, u32)>, n_rows: usize) -> Column {
        let n_values = match kind {
            AttributeKind::Numeric => None,
            AttributeKind::Nominal(values) => Some(values.len()),
        };
        let is_implied = cells.len() < n_rows;
        let is_missing = |value: f64| match n_values {
            None => value.is_nan(),
            Some(n_values) => value_of(value, n_values).is_none(),
        };
        let missing = cells.extract_if(.., |(value, _)| is_missing(*value));
        let missing: Vec<u32> = missing.map(|(_, row)| row).collect();
        sort_cells(&mut cells);
        let rest = if is_implied {
            Some(0.0)
        } else {
            let runs = cells.chunk_by(|a, b| a.0 == b.0);
            let longest = runs.max_by_key(|run| run.len());
            longest.filter(|run| run.len() * 4 >= n_rows).map(|run| run[0].0)
        };
        cells.retain(|&(value, _)| Some(value) != rest);
        cells.extend(missing.into_iter().map(|row| (f64::NAN, row)));
        let is_counted = n_values.is_none_or(|n| is_above(0.3 * n_rows as f64, n as f64));
        let (values, rows) = cells.into_iter().unzip();
        Column { n_values, rest, values, rows, is_counted }
    }

    /// Of the values in all training rows; it is one of them that a threshold is moved to.
    fn greatest_up_to(&self, middle: f64) -> f64 {
        let n = self.values.partition_point(|&value| value <= middle);
        let rest = self.rest.filter(|&rest| rest <= middle);
        self.values[..n].last().copied().into_iter().chain(rest).fold(f64::NEG_INFINITY, f64::max)
    }

    fn is_useful(&self) -> bool {
        self.n_values.is_none_or(|n_values| n_values > 1) && !self.rows.is_empty()
    }

    /// The values that the rows have, ascending, and how many rows have one.
    fn tally<W: Weight>(&self, cells: &[Cell], here: &Here, into: &mut Vec<Tally<W>>) -> usize {
        into.clear();
        let bag_at = |cell: Cell| {
            let weight = W::at(here.weights, self.rows[cell.place()]);
            if cell.class() == 0 { [weight, W::default()] } else { [W::default(), weight] }
        };
        let n_listed = cells.partition_point(|&cell| !self.values[cell.place()].is_nan());
        let (listed, missing) = cells.split_at(n_listed);
        for &cell in listed {
            let (value, bag) = (self.values[cell.place()], bag_at(cell));
            match into.last_mut() {
                Some(last) if last.value == value => last.bag = plus(last.bag, bag),
                _ => into.push(Tally { value, bag }),
            }
        }
        if let Some(value) = self.rest
            && here.n_rows > cells.len()
        {
            let all = here.counts.map(W::of);
            let known = into.iter().fold(all, |rest, tally| minus(rest, tally.bag));
            let bag = missing.iter().fold(known, |rest, &cell| minus(rest, bag_at(cell)));
            let at = into.partition_point(|tally| tally.value < value);
            into.insert(at, Tally { value, bag });
        }
        here.n_rows - missing.len()
    }
}

/// Weighs the branches of a split: entropies over the rows whose cell is known.
struct Weigher<'a, W> {
    logs: &'a NLogN,
    known: Bag<W>,
    /// The weight of all rows, known or not.
    total: f64,
    /// Of the known rows before the split, times their weight.
    entropy: f64,
}

impl<'a, W: Weight> Weigher<'a, W> {
    fn of(logs: &'a NLogN, tallies: &[Tally<W>], here: &Here) -> Weigher<'a, W> {
        let known = tallies.iter().fold(Bag::default(), |sum, tally| plus(sum, tally.bag));
        let mut weigher = Weigher { logs, known, total: total(here.counts), entropy: 0.0 };
        weigher.entropy = weigher.entropy_of(known);
        weigher
    }

    /// The entropy of a bag times its weight, in nats.
    fn entropy_of(&self, bag: Bag<W>) -> f64 {
        let [all, no, yes] = [total(bag), bag[0], bag[1]].map(|x| x.n_log_n(self.logs));
        all - (no + yes)
    }

    /// Information gained, in bits a row, if that entropy is left; nothing is gained where the cell is
    /// missing.
    fn gain(&self, entropy: f64) -> f64 {
        let gain = (self.entropy - entropy) / (LN_2 * self.total);
        if (gain * total(self.known).real()).abs() < SMALL { 0.0 } else { gain }
    }

    /// What entropy a gain leaves.
    fn entropy_at(&self, gain: f64) -> f64 {
        self.entropy - gain * (LN_2 * self.total)
    }

    /// The gain over the entropy of the split itself, in which rows with a missing cell are a branch
    /// of their own.
    fn ratio(&self, gain: f64, bags: impl Iterator<Item = Bag<W>>) -> f64 {
        let unknown = (self.total - total(self.known).real()).n_log_n(self.logs);
        let of_bags: f64 = bags.map(|bag| total(bag).n_log_n(self.logs)).sum();
        let entropy = (self.total.n_log_n(self.logs) - unknown - of_bags) / LN_2;
        if entropy.abs() < SMALL { 0.0 } else { gain / (entropy / self.total) }
    }
}
