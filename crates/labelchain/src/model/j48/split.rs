//! Which question about the rows of a node tells most about the label?

use std::f64::consts::LN_2;

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

/// Places in the sorted cells of each column, of the rows that reach one node. A column that has
/// none of them here is constant.
pub(super) struct Listing {
    /// Columns, each with the end of its places.
    columns: Vec<(usize, usize)>,
    places: Vec<u32>,
}

/// The rows that reach one node.
pub(super) struct Here<'a> {
    pub(super) n_rows: usize,
    pub(super) counts: [f64; 2],
    /// Weights by row, in the place of its class.
    pub(super) weights: &'a [[f64; 2]],
    /// Whether they are all 1.
    pub(super) is_whole: bool,
}

/// One value of a column and the weights of its rows.
#[derive(Clone, Copy)]
struct Tally {
    value: f64,
    counts: [f64; 2],
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
    pub(super) fn listing(&self) -> Listing {
        let mut listing = Listing { columns: Vec::new(), places: Vec::new() };
        for (at, column) in self.columns.iter().enumerate().filter(|(_, it)| it.is_useful()) {
            listing.places.extend(0..column.rows.len() as u32);
            listing.columns.push((at, listing.places.len()));
        }
        listing
    }

    /// Only the rows for which `is_here` has the stamp.
    pub(super) fn narrowed(&self, listing: &Listing, stamps: &[u32], stamp: u32) -> Listing {
        let mut places = vec![0; listing.places.len()];
        let mut columns = Vec::with_capacity(listing.columns.len());
        let mut end = 0;
        for (at, listed) in listing.iter() {
            let start = end;
            let rows = &self.columns[at].rows;
            for &place in listed {
                // Written in any case and kept if it is here: no branch to be mispredicted.
                places[end] = place;
                end += usize::from(stamps[rows[place as usize] as usize] == stamp);
            }
            if end > start {
                columns.push((at, end));
            }
        }
        places.truncate(end);
        Listing { columns, places }
    }

    /// Of the inputs that gain no less than the mean, the first with the greatest gain ratio.
    pub(super) fn best(&self, listing: &Listing, here: &Here) -> Option<(usize, Test)> {
        let mut tallies = Vec::new();
        let candidates = listing.iter().filter_map(|(at, places)| {
            let column = &self.columns[at];
            let n_known = column.tally(places, here, &mut tallies);
            let weigher = Weigher::of(&self.logs, &tallies, here);
            let (test, gain, ratio) = match column.n_values {
                None => self.threshold(&tallies, n_known, &weigher)?,
                Some(n_values) if self.settings.binary_splits => {
                    self.one_value(&tallies, n_values, &weigher)?
                }
                Some(n_values) => self.all_values(&tallies, n_values, &weigher)?,
            };
            Some(Candidate { column: at, test, gain, ratio })
        });
        let candidates: Vec<Candidate> = candidates.collect();
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

    /// The first threshold of greatest gain, less what it costs to tell which of the possible ones
    /// it is.
    fn threshold(
        &self,
        tallies: &[Tally],
        n_known: usize,
        weigher: &Weigher,
    ) -> Option<(Test, f64, f64)> {
        let known = weigher.known;
        let min_leaf = self.settings.min_leaf as f64;
        let least = match 0.1 * total(known) / 2.0 {
            few if is_at_most(few, min_leaf) => min_leaf,
            many => many.min(25.0),
        };
        if is_above(2.0 * least, n_known as f64) {
            return None;
        }
        let (mut n_cuts, mut gain, mut best) = (0, 0.0, None);
        let mut low = [0.0; 2];
        for (at, pair) in tallies.windows(2).enumerate() {
            low = plus(low, pair[0].counts);
            if pair[0].value + GAP < pair[1].value && is_at_most(least, total(low)) {
                let high = minus(known, low);
                if !is_at_most(least, total(high)) {
                    break;
                }
                let here = weigher.gain_of_two(low, high);
                if is_above(here, gain) {
                    (gain, best) = (here, Some((at, low, high)));
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

    fn all_values(
        &self,
        tallies: &[Tally],
        n_values: usize,
        weigher: &Weigher,
    ) -> Option<(Test, f64, f64)> {
        let bags = || tallies.iter().map(|tally| tally.counts);
        let is_large = |bag: &[f64; 2]| is_at_most(self.settings.min_leaf as f64, total(*bag));
        if bags().filter(is_large).count() < 2 {
            return None;
        }
        let gain = weigher.gain(bags());
        Some((Test::Which(n_values), gain, weigher.ratio(gain, bags())))
    }

    /// The value of greatest gain ratio against all others.
    fn one_value(
        &self,
        tallies: &[Tally],
        n_values: usize,
        weigher: &Weigher,
    ) -> Option<(Test, f64, f64)> {
        let is_large = |bag: [f64; 2]| is_at_most(self.settings.min_leaf as f64, total(bag));
        let mut best = None;
        for tally in tallies {
            let bags = [tally.counts, minus(weigher.known, tally.counts)];
            if !bags.into_iter().all(is_large) {
                continue;
            }
            let gain = weigher.gain(bags.into_iter());
            let ratio = weigher.ratio(gain, bags.into_iter());
            let value = value_of(tally.value, n_values)?;
            // A value that tells nothing is a candidate too: it lowers the mean.
            if best.is_none() || best.is_some_and(|(_, _, other)| is_above(ratio, other)) {
                best = Some((Test::Is(value), gain, ratio));
            }
        }
        best
    }
}

impl Listing {
    fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let starts = std::iter::once(0).chain(self.columns.iter().map(|&(_, end)| end));
        let columns = self.columns.iter().zip(starts);
        columns.map(|(&(column, end), start)| (column, &self.places[start..end]))
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
        let mut missing: Vec<(f64, u32)> = Vec::new();
        cells.retain(|&(value, row)| {
            if is_missing(value) {
                missing.push((f64::NAN, row));
            }
            !is_missing(value)
        });
        sort_cells(&mut cells);
        let rest = if is_implied {
            Some(0.0)
        } else {
            let runs = cells.chunk_by(|a, b| a.0 == b.0);
            let longest = runs.max_by_key(|run| run.len());
            longest.filter(|run| run.len() * 4 >= n_rows).map(|run| run[0].0)
        };
        cells.retain(|&(value, _)| Some(value) != rest);
        cells.append(&mut missing);
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
    fn tally(&self, places: &[u32], here: &Here, tallies: &mut Vec<Tally>) -> usize {
        tallies.clear();
        let weights_at = |place: u32| here.weights[self.rows[place as usize] as usize];
        let n_listed = places.partition_point(|&place| !self.values[place as usize].is_nan());
        let (listed, missing) = places.split_at(n_listed);
        let mut rest = here.counts;
        for &place in listed {
            let (value, counts) = (self.values[place as usize], weights_at(place));
            rest = minus(rest, counts);
            match tallies.last_mut() {
                Some(last) if last.value == value => last.counts = plus(last.counts, counts),
                _ => tallies.push(Tally { value, counts }),
            }
        }
        if let Some(value) = self.rest
            && here.n_rows > places.len()
        {
            let counts = missing.iter().fold(rest, |rest, &place| minus(rest, weights_at(place)));
            let at = tallies.partition_point(|tally| tally.value < value);
            tallies.insert(at, Tally { value, counts });
        }
        here.n_rows - missing.len()
    }
}

/// Weighs the branches of a split: entropies over the rows whose cell is known.
struct Weigher<'a> {
    logs: &'a NLogN,
    is_whole: bool,
    known: [f64; 2],
    /// The weight of all rows, known or not.
    total: f64,
    /// Of the known rows before the split, times their weight.
    entropy: f64,
}

impl<'a> Weigher<'a> {
    fn of(logs: &'a NLogN, tallies: &[Tally], here: &Here) -> Weigher<'a> {
        let known = tallies.iter().fold([0.0; 2], |sum, tally| plus(sum, tally.counts));
        let (is_whole, total) = (here.is_whole, total(here.counts));
        let mut weigher = Weigher { logs, is_whole, known, total, entropy: 0.0 };
        weigher.entropy = weigher.entropy_of(known);
        weigher
    }

    /// x ln x, looked up where it is a count.
    fn n_log_n(&self, x: f64) -> f64 {
        match self.is_whole {
            true => self.logs.of(x as u32),
            false if x < SMALL => 0.0,
            false => real_n_log_n(x),
        }
    }

    /// The entropy of a bag times its weight.
    fn entropy_of(&self, bag: [f64; 2]) -> f64 {
        self.n_log_n(total(bag)) - (self.n_log_n(bag[0]) + self.n_log_n(bag[1]))
    }

    /// Information gained, in bits a row; nothing is gained where the cell is missing.
    fn gain(&self, bags: impl Iterator<Item = [f64; 2]>) -> f64 {
        self.gain_from(bags.map(|bag| self.entropy_of(bag)).sum())
    }

    fn gain_of_two(&self, low: [f64; 2], high: [f64; 2]) -> f64 {
        self.gain_from(self.entropy_of(low) + self.entropy_of(high))
    }

    fn gain_from(&self, entropy_after: f64) -> f64 {
        let known = total(self.known);
        let gain = known / self.total * (self.entropy - entropy_after) / LN_2;
        if gain.abs() < SMALL { 0.0 } else { gain / known }
    }

    /// The gain over the entropy of the split itself, in which rows with a missing cell are a branch
    /// of their own.
    fn ratio(&self, gain: f64, bags: impl Iterator<Item = [f64; 2]>) -> f64 {
        let unknown = self.total - total(self.known);
        let of_bags: f64 = bags.map(|bag| self.n_log_n(total(bag))).sum();
        let entropy = (self.n_log_n(self.total) - self.n_log_n(unknown) - of_bags) / LN_2;
        if entropy.abs() < SMALL { 0.0 } else { gain / (entropy / self.total) }
    }
}

fn total([no, yes]: [f64; 2]) -> f64 {
    no + yes
}

fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}
