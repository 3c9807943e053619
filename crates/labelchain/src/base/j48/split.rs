//! Which question about the rows of a node tells most about the label?

use std::f64::consts::LN_2;
use std::ops::{Add, Sub};

use super::{J48, Test, is_above, is_at_most, value_of};
use crate::data::{Attribute, AttributeKind};
use crate::prepare::{NLogN, SMALL, real_n_log_n, sort_cells};

/// Values must be so far apart for a threshold to lie between them.
const GAP: f64 = 1e-5;

/// The inputs of the training rows, sorted once.
pub(super) struct Questions<'a> {
    settings: &'a J48,
    columns: Vec<Column>,
    logs: NLogN,
}

/// One input.
struct Column {
    /// How many named values, unless it is numeric.
    n_values: Option<usize>,
    /// The value of all rows that are not listed.
    rest: Option<f64>,
    /// Those of all others, ascending.
    values: Vec<f64>,
    /// Whether its gain counts in the mean: not if its values are almost as many as the rows.
    is_counted: bool,
}

/// The rows that reach one node, in the order of each input: ascending values and then the missing
/// ones, but without those of a very common value. Text data, mostly zeros, is short that way. An input
/// of which no cell is listed is constant here.
#[derive(Default)]
pub(super) struct Listing {
    /// Columns, each with the end of its cells.
    columns: Vec<(usize, usize)>,
    cells: Vec<Cell>,
}

/// One row of a column, its value beside it: going through a column then needs no other memory.
#[derive(Clone, Copy)]
struct Cell {
    value: f64,
    /// Twice the row, and one more where the label is relevant.
    tag: u32,
}

impl Cell {
    fn row(self) -> usize {
        (self.tag >> 1) as usize
    }

    fn is_relevant(self) -> bool {
        self.tag & 1 == 1
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
trait Weight: Copy + Default + PartialOrd + Add<Output = Self> + Sub<Output = Self> {
    /// One row.
    fn bag(weights: &[f64], cell: Cell) -> Bag<Self>;
    fn of(weight: f64) -> Self;
    /// The least that is not below, or as good as equal.
    fn least(weight: f64) -> Self;
    fn real(self) -> f64;
    /// x ln x.
    fn n_log_n(self, logs: &NLogN) -> f64;
    /// Makes ready for cuts of these rows.
    fn prepare(known: Bag<Self>, pairs: &mut Pairs, logs: &NLogN);
    /// The entropy that cutting off these rows leaves.
    fn entropy_after(low: Bag<Self>, weigher: &Weigher<Self>) -> f64;
}

impl Weight for u32 {
    fn bag(_: &[f64], cell: Cell) -> Bag<u32> {
        let yes = u32::from(cell.is_relevant());
        [1 - yes, yes]
    }

    fn least(weight: f64) -> u32 {
        (weight - SMALL).ceil() as u32
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

    fn prepare(known: Bag<u32>, pairs: &mut Pairs, logs: &NLogN) {
        pairs.set(known, logs);
    }

    fn entropy_after(low: Bag<u32>, weigher: &Weigher<u32>) -> f64 {
        weigher.pairs.entropy_after(low)
    }
}

impl Weight for f64 {
    fn bag(weights: &[f64], cell: Cell) -> Bag<f64> {
        let weight = weights[cell.row()];
        if cell.is_relevant() { [0.0, weight] } else { [weight, 0.0] }
    }

    fn least(weight: f64) -> f64 {
        weight - SMALL
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

    fn prepare(_: Bag<f64>, _: &mut Pairs, _: &NLogN) {}

    fn entropy_after(low: Bag<f64>, weigher: &Weigher<f64>) -> f64 {
        weigher.entropy_of(low) + weigher.entropy_of(minus(weigher.known, low))
    }
}

/// n ln n + (N - n) ln (N - n) for every n, where N is the rows of both classes together and of each:
/// cuts of whole numbers are looked up, whichever input they are of.
#[derive(Default)]
struct Pairs {
    known: Bag<u32>,
    all: Vec<f64>,
    of_class: [Vec<f64>; 2],
}

impl Pairs {
    fn set(&mut self, known: Bag<u32>, logs: &NLogN) {
        if self.known != known {
            let pairs = |n: u32| (0..=n).map(|low| logs.of(low) + logs.of(n - low)).collect();
            *self = Pairs { known, all: pairs(total(known)), of_class: known.map(pairs) };
        }
    }

    fn entropy_after(&self, low: Bag<u32>) -> f64 {
        let of_class = |class: usize| self.of_class[class][low[class] as usize];
        self.all[total(low) as usize] - (of_class(0) + of_class(1))
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
    /// All questions there are, and all rows in the order of each input.
    pub(super) fn of(
        settings: &'a J48,
        attributes: &[Attribute],
        stored: &[Vec<(f64, u32)>],
        relevant: &[bool],
    ) -> (Questions<'a>, Listing) {
        let n_rows = relevant.len();
        let (mut columns, mut listing) = (Vec::new(), Listing::default());
        for (attribute, cells) in attributes.iter().zip(stored) {
            let (column, cells) = Column::of(&attribute.kind, cells.clone(), n_rows);
            if column.n_values.is_none_or(|n_values| n_values > 1) && !cells.is_empty() {
                let tag = |row| row << 1 | u32::from(relevant[row as usize]);
                listing
                    .cells
                    .extend(cells.iter().map(|&(value, row)| Cell { value, tag: tag(row) }));
                listing.columns.push((columns.len(), listing.cells.len()));
            }
            columns.push(column);
        }
        if columns.iter().all(|column| !column.is_counted) {
            columns.iter_mut().for_each(|column| column.is_counted = true);
        }
        (Questions { settings, columns, logs: NLogN::up_to(n_rows) }, listing)
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
        let mut pairs = Pairs::default();
        let candidates = listing.iter().filter_map(|(at, cells)| {
            let column = &self.columns[at];
            let sorted = column.sorted(cells, here);
            W::prepare(sorted.known, &mut pairs, &self.logs);
            let weigher = Weigher::of(&self.logs, &pairs, sorted.known, here);
            let (test, gain, ratio) = match column.n_values {
                None => self.threshold(&sorted, &weigher)?,
                Some(n_values) => {
                    sorted.tally(&mut tallies);
                    match self.settings.binary_splits {
                        true => self.one_value(&tallies, &weigher)?,
                        false => self.all_values(&tallies, n_values, &weigher)?,
                    }
                }
            };
            Some(Candidate { column: at, test, gain, ratio })
        });
        candidates.collect()
    }

    /// The first threshold of greatest gain, less what it costs to tell which of the possible ones
    /// it is.
    fn threshold<W: Weight>(
        &self,
        sorted: &Sorted<W>,
        weigher: &Weigher<W>,
    ) -> Option<(Test, f64, f64)> {
        let min_leaf = self.settings.min_leaf as f64;
        let least = match 0.1 * total(sorted.known).real() / 2.0 {
            few if is_at_most(few, min_leaf) => min_leaf,
            many => many.min(25.0),
        };
        if is_above(2.0 * least, sorted.n_known as f64) {
            return None;
        }
        let none = Cut { below: f64::NAN, above: f64::NAN, low: Bag::default() };
        let start = Search {
            n_cuts: 0,
            entropy: weigher.entropy,
            best: none,
            below: f64::NAN,
            no: W::default(),
            yes: W::default(),
        };
        let found = sorted.each(
            start,
            #[inline(always)]
            |search, value, bag| search.step(value, bag, W::least(least), weigher),
        );
        let Cut { below, above, low } = found.best;
        let cost = f64::from(found.n_cuts).log2() / weigher.total;
        let gain = weigher.gain(found.entropy) - cost;
        if found.n_cuts == 0 || is_at_most(gain, 0.0) {
            return None;
        }
        let middle = f64::midpoint(below, above);
        let threshold = if middle < above { middle } else { below };
        let bags = [low, minus(sorted.known, low)];
        Some((Test::AtMost(threshold), gain, weigher.ratio(gain, bags.into_iter())))
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
    /// Only the rows that have the stamp, so many.
    pub(super) fn narrowed(&self, n_rows: usize, stamps: &[u32], stamp: u32) -> Listing {
        let room: usize = self.iter().map(|(_, cells)| cells.len().min(n_rows)).sum();
        let mut cells = vec![Cell { value: 0.0, tag: 0 }; room + 1];
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut end = 0;
        for (column, listed) in self.iter() {
            let start = end;
            for &cell in listed {
                // Written in any case and kept if it is here: no branch to be mispredicted.
                cells[end] = cell;
                end += usize::from(stamps[cell.row()] == stamp);
            }
            if end > start {
                columns.push((column, end));
            }
        }
        cells.truncate(end);
        Listing { columns, cells }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        let starts = std::iter::once(0).chain(self.columns.iter().map(|&(_, end)| end));
        let columns = self.columns.iter().zip(starts);
        columns.map(|(&(column, end), start)| (column, &self.cells[start..end]))
    }
}

impl Column {
    /// What to know of a column, and its cells but those of the rest.
    fn of(
        kind: &AttributeKind,
        mut cells: Vec<(f64, u32)>,
        n_rows: usize,
    ) -> (Column, Vec<(f64, u32)>) {
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
        let missing: Vec<(f64, u32)> = missing.map(|(_, row)| (f64::NAN, row)).collect();
        sort_cells(&mut cells);
        let rest = if is_implied {
            Some(0.0)
        } else {
            let runs = cells.chunk_by(|a, b| a.0 == b.0);
            let longest = runs.max_by_key(|run| run.len());
            longest.filter(|run| run.len() * 4 >= n_rows).map(|run| run[0].0)
        };
        if rest.is_some() {
            cells.retain(|&(value, _)| Some(value) != rest);
        }
        let values = cells.iter().map(|&(value, _)| value).collect();
        cells.extend(missing);
        let is_counted = n_values.is_none_or(|n| is_above(0.3 * n_rows as f64, n as f64));
        (Column { n_values, rest, values, is_counted }, cells)
    }

    /// Of the values in all training rows; it is one of them that a threshold is moved to.
    fn greatest_up_to(&self, middle: f64) -> f64 {
        let n = self.values.partition_point(|&value| value <= middle);
        let rest = self.rest.filter(|&rest| rest <= middle);
        self.values[..n].last().copied().into_iter().chain(rest).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The rows here by their values.
    fn sorted<'a, W: Weight>(&self, cells: &'a [Cell], here: &'a Here) -> Sorted<'a, W> {
        let n_missing = cells.iter().rev().take_while(|cell| cell.value.is_nan()).count();
        let (listed, missing) = cells.split_at(cells.len() - n_missing);
        let bag = |cell: Cell| W::bag(here.weights, cell);
        let take = |from, &cell| minus(from, bag(cell));
        let known = missing.iter().fold(here.counts.map(W::of), take);
        let n_rest = here.n_rows - cells.len();
        let rest = self.rest.filter(|_| n_rest > 0);
        let rest = rest.map(|value| Tally { value, bag: listed.iter().fold(known, take) });
        let n_known = here.n_rows - n_missing;
        Sorted { weights: here.weights, listed, rest, known, n_known }
    }
}

/// The rows of a node that have a value of one input, in ascending values.
struct Sorted<'a, W> {
    weights: &'a [f64],
    listed: &'a [Cell],
    /// The rows that are not listed.
    rest: Option<Tally<W>>,
    known: Bag<W>,
    n_known: usize,
}

impl<W: Weight> Sorted<'_, W> {
    /// Goes through the rows, one by one or many of one value together.
    fn each<S>(&self, start: S, mut take: impl FnMut(S, f64, Bag<W>) -> S) -> S {
        let (below, above) = match self.rest {
            None => (self.listed, &[][..]),
            Some(rest) => {
                let n = self.listed.partition_point(|cell| cell.value < rest.value);
                self.listed.split_at(n)
            }
        };
        let mut state = start;
        let mut rest = self.rest;
        for cells in [below, above] {
            for &cell in cells {
                state = take(state, cell.value, W::bag(self.weights, cell));
            }
            if let Some(rest) = rest.take() {
                state = take(state, rest.value, rest.bag);
            }
        }
        state
    }

    /// The values, each with all of its rows.
    fn tally(&self, into: &mut Vec<Tally<W>>) {
        into.clear();
        self.each((), |(), value, bag| match into.last_mut() {
            Some(last) if last.value == value => last.bag = plus(last.bag, bag),
            _ => into.push(Tally { value, bag }),
        });
    }
}

/// A place between two values, and the rows below.
#[derive(Clone, Copy)]
struct Cut<W> {
    below: f64,
    above: f64,
    low: Bag<W>,
}

/// A search for the best cut, on its way up the values.
#[derive(Clone, Copy)]
struct Search<W> {
    /// How many were possible.
    n_cuts: u32,
    /// What entropy the best leaves.
    entropy: f64,
    best: Cut<W>,
    /// The value of the last row seen.
    below: f64,
    /// All rows up to it, of each class. Together in a bag they would share a register, to be packed
    /// and unpacked at each step.
    no: W,
    yes: W,
}

impl<W: Weight> Search<W> {
    /// Looks at the cut below a row, then takes the row in.
    #[inline(always)]
    fn step(mut self, value: f64, bag: Bag<W>, least: W, weigher: &Weigher<W>) -> Search<W> {
        let (below, low) = (self.below, [self.no, self.yes]);
        let n_low = total(low);
        let n_high = total(weigher.known) - n_low;
        if below + GAP < value && n_low >= least && n_high >= least {
            self.n_cuts += 1;
            let entropy = W::entropy_after(low, weigher);
            if entropy < self.entropy - weigher.tolerance {
                self.entropy = entropy;
                self.best = Cut { below, above: value, low };
            }
        }
        (self.below, self.no, self.yes) = (value, self.no + bag[0], self.yes + bag[1]);
        self
    }
}

/// Weighs the branches of a split: entropies over the rows whose cell is known.
struct Weigher<'a, W> {
    logs: &'a NLogN,
    pairs: &'a Pairs,
    known: Bag<W>,
    /// The weight of all rows, known or not.
    total: f64,
    /// Of the known rows before the split, times their weight.
    entropy: f64,
    /// By how much less an entropy must be to be better.
    tolerance: f64,
}

impl<'a, W: Weight> Weigher<'a, W> {
    fn of(logs: &'a NLogN, pairs: &'a Pairs, known: Bag<W>, here: &Here) -> Weigher<'a, W> {
        let total = total(here.counts);
        let tolerance = SMALL * LN_2 * total;
        let mut weigher = Weigher { logs, pairs, known, total, entropy: 0.0, tolerance };
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

    /// The gain over the entropy of the split itself, in which rows with a missing cell are a branch
    /// of their own.
    fn ratio(&self, gain: f64, bags: impl Iterator<Item = Bag<W>>) -> f64 {
        let unknown = (self.total - total(self.known).real()).n_log_n(self.logs);
        let of_bags: f64 = bags.map(|bag| total(bag).n_log_n(self.logs)).sum();
        let entropy = (self.total.n_log_n(self.logs) - unknown - of_bags) / LN_2;
        if entropy.abs() < SMALL { 0.0 } else { gain / (entropy / self.total) }
    }
}
