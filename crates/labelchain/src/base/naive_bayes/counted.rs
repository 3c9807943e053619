//! Inputs of two values, as counts.
//!
//! Models of words have millions of factors, one for each word and label, and most say the same: the word
//! never occurs where the label is relevant. So an input keeps how many rows have its second value, and the
//! numbers of those labels only with which it does occur. What follows for the log-odds is computed when a
//! row has the input, and then kept.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::cells::StoredCells;
use super::density::{Factor, Normal, Rounding, multiple, presence};
use super::moments::Moments;
use super::{Group, Likelihood, density, numeric_factor, precision};
use crate::data::{Dataset, LabelId};
use crate::decode::packed;
use crate::prepare::Spread;

/// How many rows each label learns from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelRows {
    /// Those to which the label is irrelevant, and those to which it is relevant.
    pub(super) by_class: Vec<[u32; 2]>,
    /// Whether the label learns from all rows, and is not undersampled.
    pub(super) is_whole: Vec<bool>,
}

/// What the cells of an input with two values are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum TwoValues {
    /// The first and the second of two names.
    Names,
    /// The weights of a word, which count by being there.
    Word,
    /// 0 and one other number, as sparse rows store them.
    Numbers { other: f64 },
}

impl TwoValues {
    /// Whether a stored cell has the second of the two values.
    pub(super) fn is_second(&self, cell: f64) -> bool {
        match self {
            TwoValues::Names => cell as usize == 1,
            TwoValues::Word => presence(cell) == 1,
            TwoValues::Numbers { .. } => cell != 0.0,
        }
    }
}

/// The labels that use an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Users {
    /// All of so many labels.
    All(u32),
    /// Some, ascending.
    Some(Box<[u32]>),
}

impl Users {
    pub(super) fn len(&self) -> usize {
        match self {
            Users::All(n) => *n as usize,
            Users::Some(labels) => labels.len(),
        }
    }

    pub(super) fn label(&self, at: usize) -> LabelId {
        match self {
            Users::All(_) => LabelId(at),
            Users::Some(labels) => LabelId(labels[at] as usize),
        }
    }

    /// The place of a label among them.
    fn place(&self, label: u32) -> Option<usize> {
        match self {
            Users::All(n) => (label < *n).then_some(label as usize),
            Users::Some(labels) => labels.binary_search(&label).ok(),
        }
    }

    /// Whether the labels ascend and are fewer than so many, as they do unless they come from a file.
    pub(super) fn are_sound(&self, n_labels: usize) -> bool {
        match self {
            Users::All(n) => *n as usize == n_labels,
            Users::Some(labels) => {
                labels.is_sorted_by(|a, b| a < b)
                    && labels.last().is_none_or(|&last| (last as usize) < n_labels)
            }
        }
    }
}

/// Counts with which labels inputs occur.
pub(super) struct Occurrences<'d> {
    data: &'d Dataset,
    values: &'d [Option<TwoValues>],
    /// How many of all rows have the second value, by input.
    in_whole: Vec<u32>,
    /// Each with its input, as they were counted.
    found: Vec<(u32, Occurrence)>,
    /// Room for counts by input, all 0 between the labels.
    counts: Vec<[u32; 2]>,
}

impl<'d> Occurrences<'d> {
    /// Of inputs that have two values each.
    pub(super) fn new(data: &'d Dataset, values: &'d [Option<TwoValues>]) -> Occurrences<'d> {
        let n = values.len();
        let (in_whole, found, counts) = (vec![0; n], Vec::new(), vec![[0; 2]; n]);
        Occurrences { data, values, in_whole, found, counts }
    }

    /// Counts for labels that learn from all rows, in one pass over the cells of each column.
    pub(super) fn count_whole(&mut self, group: &Group, columns: &[usize]) {
        let labels = self.data.labels();
        let mut n_with = vec![0u32; labels.n_labels()];
        let mut is_whole = vec![false; labels.n_labels()];
        group.labels.iter().for_each(|label| is_whole[label.0] = true);
        let no_zero = vec![0.0; self.values.len()];
        let stored = StoredCells::new(self.data.features(), group.rows, columns, &no_zero);
        let (mut room, mut met) = (Vec::new(), Vec::new());
        for (at, &column) in columns.iter().enumerate() {
            let Some(values) = self.values[column] else { continue };
            let cells = stored.column(at, &mut room);
            for (place, _) in cells.stored().filter(|&(_, cell)| values.is_second(cell)) {
                self.in_whole[column] += 1;
                for LabelId(label) in labels.relevant(group.rows[place]) {
                    if is_whole[label] {
                        if n_with[label] == 0 {
                            met.push(label as u32);
                        }
                        n_with[label] += 1;
                    }
                }
            }
            let in_whole = self.in_whole[column];
            self.found.extend(met.drain(..).map(|label| {
                let yes = std::mem::take(&mut n_with[label as usize]);
                (column as u32, Occurrence { label, counts: [in_whole - yes, yes] })
            }));
        }
    }

    /// Counts for labels that learn from some rows.
    pub(super) fn count_thinned(&mut self, group: &Group) {
        let (features, labels) = (self.data.features(), self.data.labels());
        let mut met: Vec<usize> = Vec::new();
        for &label in &group.labels {
            for &row in group.rows {
                let class = usize::from(labels.get(row, label));
                for (column, cell) in features.entries(row) {
                    if self.values[column].is_some_and(|values| values.is_second(cell)) {
                        let counts = &mut self.counts[column];
                        if *counts == [0; 2] {
                            met.push(column);
                        }
                        counts[class] += 1;
                    }
                }
            }
            for column in met.drain(..) {
                let counts = std::mem::take(&mut self.counts[column]);
                self.found.push((column as u32, Occurrence { label: label.0 as u32, counts }));
            }
        }
    }

    /// The same, input by input.
    pub(super) fn by_input(self) -> OccurrencesByInput {
        let Occurrences { in_whole, found, .. } = self;
        let mut ends = vec![0; in_whole.len() + 1];
        found.iter().for_each(|(column, _)| ends[*column as usize + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let starts = ends.clone();
        let mut occurrences = vec![Occurrence { label: 0, counts: [0; 2] }; found.len()];
        for (column, occurrence) in found {
            // What was the start of an input moves on with each of its occurrences.
            let next = &mut ends[column as usize];
            occurrences[*next] = occurrence;
            *next += 1;
        }
        for ends in starts.windows(2) {
            occurrences[ends[0]..ends[1]].sort_unstable_by_key(|of| of.label);
        }
        OccurrencesByInput { in_whole, starts, occurrences }
    }
}

/// With which labels each input occurs.
pub(super) struct OccurrencesByInput {
    /// How many of all rows have the second value, by input.
    in_whole: Vec<u32>,
    /// Input i has `occurrences[starts[i]..starts[i + 1]]`, ascending by label.
    starts: Vec<usize>,
    occurrences: Vec<Occurrence>,
}

impl OccurrencesByInput {
    /// An input as it was counted.
    pub(super) fn input(&self, column: usize, values: TwoValues, users: Users) -> CountedInput {
        let here = &self.occurrences[self.starts[column]..self.starts[column + 1]];
        CountedInput::new(values, users, self.in_whole[column], here)
    }
}

/// A label with which an input occurs: how many of its irrelevant and of its relevant rows have the second
/// value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Occurrence {
    label: u32,
    counts: [u32; 2],
}

/// An input of two values, none missing.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CountedInput {
    values: TwoValues,
    users: Users,
    /// How many of all rows have the second value. Where the input does not occur with a label that learns
    /// from all rows, they are all irrelevant rows; a label that learns from some has none of them then.
    in_whole: u32,
    /// The labels with which it does occur, packed: for each the gap to the label before, and its counts.
    #[serde(with = "packed")]
    occurrences: Box<[u8]>,
    /// The log-odds of each user where the cell has the first value, and then where it has the second;
    /// computed when someone asks for them, as dense rows do.
    #[serde(skip)]
    log_odds: OnceLock<Box<[f64]>>,
    /// The log-odds of each user at the second value less those at the first: what sparse rows ask for.
    #[serde(skip)]
    differences: OnceLock<Box<[f64]>>,
}

impl Clone for CountedInput {
    fn clone(&self) -> CountedInput {
        CountedInput {
            values: self.values,
            users: self.users.clone(),
            in_whole: self.in_whole,
            occurrences: self.occurrences.clone(),
            log_odds: OnceLock::new(),
            differences: OnceLock::new(),
        }
    }
}

impl CountedInput {
    /// From the labels with which it occurs, ascending; those that do not use it are left out.
    fn new(
        values: TwoValues,
        users: Users,
        in_whole: u32,
        occurrences: &[Occurrence],
    ) -> CountedInput {
        let mut bytes = Vec::with_capacity(3 * occurrences.len());
        let mut next = 0;
        let are_used = occurrences.iter().filter(|of| users.place(of.label).is_some());
        for &Occurrence { label, counts: [no, yes] } in are_used {
            [label - next, no, yes].into_iter().for_each(|it| packed::push(&mut bytes, it.into()));
            next = label + 1;
        }
        let (log_odds, differences) = (OnceLock::new(), OnceLock::new());
        let occurrences = bytes.into();
        CountedInput { values, users, in_whole, occurrences, log_odds, differences }
    }

    pub(super) fn users(&self) -> &Users {
        &self.users
    }

    fn occurrences(&self) -> UnpackedOccurrences<'_> {
        UnpackedOccurrences { bytes: &self.occurrences, next: 0 }
    }

    /// The counts of a label with which it does not occur.
    fn counts_apart(&self, label: LabelId, rows: &LabelRows) -> [u32; 2] {
        if rows.is_whole[label.0] { [self.in_whole, 0] } else { [0; 2] }
    }

    /// The counts of each user.
    fn counts(&self, rows: &LabelRows) -> Vec<[u32; 2]> {
        let label = |at| self.users.label(at);
        let mut counts: Vec<[u32; 2]> =
            (0..self.users.len()).map(|at| self.counts_apart(label(at), rows)).collect();
        for Occurrence { label, counts: found } in self.occurrences() {
            if let Some(at) = self.users.place(label) {
                counts[at] = found;
            }
        }
        counts
    }

    /// The factor of each user, where a cell of 0 stands for `zero`.
    pub(super) fn factors(
        &self,
        likelihood: Likelihood,
        rows: &LabelRows,
        zero: f64,
    ) -> Vec<Factor> {
        let counts = self.counts(rows);
        let factor = |(at, with): (usize, [u32; 2])| {
            let n = rows.by_class[self.users.label(at).0];
            let [no, yes] =
                [0, 1].map(|class| [n[class] - with[class], with[class]].map(f64::from));
            match self.values {
                TwoValues::Names => Factor::category(&no, &yes),
                TwoValues::Word => Factor::presence(&no, &yes),
                TwoValues::Numbers { other } => {
                    NumberClasses { n, with }.factor(likelihood, other, zero)
                }
            }
        };
        counts.into_iter().enumerate().map(factor).collect()
    }

    /// Which of its two values a cell has, to which `zero` was added: false for the first.
    pub(super) fn value_of(&self, cell: f64, zero: f64) -> Option<bool> {
        match self.values {
            TwoValues::Names => [false, true].get(cell as usize).copied(),
            TwoValues::Word => Some(presence(cell) == 1),
            TwoValues::Numbers { .. } if cell == zero => Some(false),
            TwoValues::Numbers { other } => (cell == other + zero).then_some(true),
        }
    }

    /// How many of all rows have the second value.
    pub(super) fn in_whole(&self) -> u32 {
        self.in_whole
    }

    /// Whether a cell has the second value as sparse rows store it.
    pub(super) fn is_second(&self, stored: f64) -> bool {
        match self.values {
            TwoValues::Numbers { other } => stored == other,
            values => values.is_second(stored),
        }
    }

    /// The log-odds of each user where the cell has the first value, and where it has the second.
    pub(super) fn log_odds(&self, zero: f64, tables: &mut LogOddsTables) -> [&[f64]; 2] {
        let log_odds = self.log_odds.get_or_init(|| {
            let mut room = Vec::new();
            tables.compute(self, zero, &mut room);
            room.into()
        });
        let (first, second) = log_odds.split_at(log_odds.len() / 2);
        [first, second]
    }

    /// What the second value adds to the log-odds of each user beyond the first.
    pub(super) fn differences(&self, zero: f64, tables: &mut LogOddsTables) -> &[f64] {
        self.differences.get_or_init(|| {
            let mut room = std::mem::take(&mut tables.room);
            tables.compute(self, zero, &mut room);
            let differences = differences(&room);
            tables.room = room;
            differences
        })
    }

    /// Keeps what follows from log-odds that were computed for another purpose.
    pub(super) fn keep_differences(&self, log_odds: &[f64]) {
        self.differences.get_or_init(|| differences(log_odds));
    }

    /// The bytes of its log-odds at both values and of their differences, once both are computed.
    pub(super) fn log_odds_bytes(&self) -> u64 {
        (16 + 8) * self.users.len() as u64
    }

    /// Whether the counts fit the rows of the labels, as they do unless they come from a file.
    pub(super) fn is_sound(&self, rows: &LabelRows) -> bool {
        let n_labels = rows.by_class.len();
        let mut occurrences = self.occurrences();
        for Occurrence { label, counts: [no, yes] } in &mut occurrences {
            let Some(&[n_no, n_yes]) = rows.by_class.get(label as usize) else { return false };
            if no > n_no || yes > n_yes {
                return false;
            }
        }
        // Most inputs are rarer than any label is irrelevant, and then it makes no difference who they occur with.
        let fits_apart =
            |label: usize| !rows.is_whole[label] || self.in_whole <= rows.by_class[label][0];
        let labels = self.occurrences().map(|of| of.label as usize);
        let met = LazyCell::new(|| labels.collect::<Vec<usize>>());
        // Of a label that does not use the input, nobody knows whether the two occur together.
        let is_used =
            |label: usize| u32::try_from(label).is_ok_and(|it| self.users.place(it).is_some());
        occurrences.bytes.is_empty()
            && self.users.are_sound(n_labels)
            && (0..n_labels).all(|label| {
                fits_apart(label) || !is_used(label) || met.binary_search(&label).is_ok()
            })
    }
}

/// The second half of some log-odds, which is at the second value, less the first.
fn differences(log_odds: &[f64]) -> Box<[f64]> {
    let (first, second) = log_odds.split_at(log_odds.len() / 2);
    second.iter().zip(first).map(|(second, first)| second - first).collect()
}

/// Occurrences, up to where their bytes end or are damaged, which are left then.
struct UnpackedOccurrences<'b> {
    bytes: &'b [u8],
    /// One more than the label before.
    next: u32,
}

impl Iterator for UnpackedOccurrences<'_> {
    type Item = Occurrence;

    #[inline]
    fn next(&mut self) -> Option<Occurrence> {
        let mut rest = self.bytes;
        let (gap, no, yes) = match rest {
            // Most often all three are small.
            &[gap @ ..0x80, no @ ..0x80, yes @ ..0x80, ref others @ ..] => {
                rest = others;
                (gap.into(), no.into(), yes.into())
            }
            _ => {
                let mut take = || -> Option<u32> { packed::take(&mut rest)?.try_into().ok() };
                (take()?, take()?, take()?)
            }
        };
        let label = self.next.checked_add(gap)?;
        self.next = label.checked_add(1)?;
        self.bytes = rest;
        Some(Occurrence { label, counts: [no, yes] })
    }
}

/// The rows of a label where an input of numbers is 0 or one other number: how many there are, and how many
/// have the other, each irrelevant and relevant.
#[derive(Clone, Copy)]
struct NumberClasses {
    n: [u32; 2],
    with: [u32; 2],
}

impl NumberClasses {
    /// All four counts.
    fn key(&self) -> (u64, u64) {
        let both = |[no, yes]: [u32; 2]| u64::from(no) << 32 | u64::from(yes);
        (both(self.n), both(self.with))
    }

    fn n_with(&self) -> u32 {
        self.with[0] + self.with[1]
    }

    /// The distinct values, of which there are one or two.
    fn spread(&self, other: f64, zero: f64) -> Spread {
        let has_zero = self.n_with() < self.n[0] + self.n[1];
        let has_other = self.n_with() > 0;
        let [least, greatest] = match (has_zero, has_other) {
            (true, false) => [0.0; 2],
            (false, _) => [other; 2],
            (true, true) => [other.min(0.0), other.max(0.0)],
        };
        let n_gaps = usize::from(has_zero && has_other);
        Spread { n_gaps, gaps: greatest - least, least: least + zero, greatest: greatest + zero }
    }

    fn factor(&self, likelihood: Likelihood, other: f64, zero: f64) -> Factor {
        let (precision, range) = precision(self.spread(other, zero));
        let rounding = Rounding::new(precision, zero);
        let plain = || CellSums::new(other).of(self);
        let rounded = || CellSums::new(rounding.rounded(other)).of(self);
        numeric_factor(likelihood, plain, rounded, &rounding, range)
    }
}

/// Computes log-odds of inputs of two values. What many inputs and labels share is computed once.
pub(super) struct LogOddsTables<'m> {
    likelihood: Likelihood,
    rows: &'m LabelRows,
    /// ln(n + 1) by n, or NaN where nobody asked for it yet.
    logs: Vec<f64>,
    /// By label, ln of all irrelevant rows less that of all relevant ones, each with one row more for each of
    /// the two values.
    constants: Vec<f64>,
    /// By the other number and what a cell of 0 stands for, as bits.
    numbers: HashMap<(u64, u64), NumberTables, BuildHasherDefault<MixingHasher>>,
    /// How many entries these have.
    n_kept: usize,
    /// For the log-odds of one input, to be filled again.
    room: Vec<f64>,
}

/// What inputs of the same two numbers share.
struct NumberTables {
    other: f64,
    zero: f64,
    /// Sums of cells of the other number, plain and rounded.
    plain: CellSums,
    rounded: CellSums,
    /// Where masses are looked at: in rows that have both numbers, and in rows that have 0 only.
    both: Intervals,
    only_zero: Intervals,
    /// The log-odds at both numbers by the counts of a label. Most inputs are rare, so that the same small counts
    /// come again and again.
    log_odds: HashMap<(u64, u64), [f64; 2], BuildHasherDefault<MixingHasher>>,
    /// The log masses at both numbers by how many relevant rows there are, and how many of them have the other
    /// number; labels have few relevant rows, which is why many labels share them.
    relevant: HashMap<(u32, u32), [f64; 2], BuildHasherDefault<MixingHasher>>,
    /// By how many of all rows have the other number: the log-odds of all labels with which the input does
    /// not occur, at 0 and at the other.
    apart: HashMap<u32, Rc<[Vec<f64>; 2]>, BuildHasherDefault<MixingHasher>>,
}

/// The sum and the sum of squares of the first cells, by their number, where all cells have one value.
struct CellSums {
    value: f64,
    by_number: Vec<Moments>,
}

impl CellSums {
    fn new(value: f64) -> CellSums {
        CellSums { value, by_number: vec![Moments::default()] }
    }

    /// The moments of the irrelevant and of the relevant cells. Sums are added up cell by cell, and those of
    /// irrelevant cells found by difference, as where cells have many values: the rounding is the same.
    fn of(&mut self, classes: &NumberClasses) -> (Moments, Moments) {
        let mut of = |n: u32, with: u32| {
            let mut last = self.by_number[self.by_number.len() - 1];
            while self.by_number.len() <= with as usize {
                last.add_to_sums(self.value);
                self.by_number.push(last);
            }
            Moments { n: f64::from(n), ..self.by_number[with as usize] }
        };
        let all = of(classes.n[0] + classes.n[1], classes.n_with());
        let relevant = of(classes.n[1], classes.with[1]);
        (all.minus(&relevant), relevant)
    }
}

/// The rounding intervals of the two numbers of an input.
struct Intervals {
    precision: f64,
    /// What rounded cells lack.
    zero: f64,
    /// The middles of the intervals.
    middles: [f64; 2],
}

impl Intervals {
    fn new(rounding: &Rounding, numbers: [f64; 2]) -> Intervals {
        let precision = rounding.precision;
        let middles = numbers.map(|number| multiple(number, precision) * precision);
        Intervals { precision, zero: rounding.zero(), middles }
    }
}

impl NumberTables {
    fn new(other: f64, zero: f64) -> NumberTables {
        let spread = |with| NumberClasses { n: [2, 0], with: [with, 0] }.spread(other, zero);
        let [only_zero, both] = [0, 1].map(|with| Rounding::new(precision(spread(with)).0, zero));
        let intervals = |rounding| Intervals::new(rounding, [zero, other + zero]);
        NumberTables {
            other,
            zero,
            plain: CellSums::new(other),
            rounded: CellSums::new(both.rounded(other)),
            both: intervals(&both),
            only_zero: intervals(&only_zero),
            log_odds: HashMap::default(),
            relevant: HashMap::default(),
            apart: HashMap::default(),
        }
    }

    /// How many numbers are kept.
    fn n_kept(&self) -> usize {
        let n_labels = self.apart.values().next().map_or(0, |of| of[0].len());
        let n_sums = 3 * (self.plain.by_number.len() + self.rounded.by_number.len());
        let n_found = 4 * self.log_odds.len() + 3 * self.relevant.len();
        n_sums + n_found + 2 * n_labels * self.apart.len()
    }

    /// The log-odds at 0 and at the other number: those of [`NumberClasses::factor`], without its table.
    fn log_odds(&mut self, classes: &NumberClasses, likelihood: Likelihood) -> [f64; 2] {
        // Two distributions of nothing but zeros are the same.
        if classes.with == [0; 2] && classes.n.iter().all(|&n| n > 0) {
            return [0.0; 2];
        }
        let key = classes.key();
        if let Some(known) = self.log_odds.get(&key) {
            return *known;
        }
        let log_odds = self.computed_log_odds(classes, likelihood);
        self.log_odds.insert(key, log_odds);
        log_odds
    }

    fn computed_log_odds(&mut self, classes: &NumberClasses, likelihood: Likelihood) -> [f64; 2] {
        let cells = [self.zero, self.other + self.zero];
        // Where no row has a 0, cells may be so large that rounding makes them differ.
        let has_zero = classes.n_with() < classes.n[0] + classes.n[1];
        match likelihood {
            Likelihood::Gaussian if has_zero => {
                let precision = self.intervals(classes).precision;
                let factor = density(self.plain.of(classes), precision, self.zero);
                cells.map(|cell| factor.log_odds(cell))
            }
            // Of cells that are 0 or another number, no deviation is ten times their distance.
            Likelihood::Auto | Likelihood::Weka if has_zero => {
                let (no, yes) = self.rounded.of(classes);
                let has_other = classes.n_with() > 0;
                let yes = self.relevant_log_masses(classes, &yes, has_other);
                let no = self.log_masses(&no, has_other);
                [yes[0] - no[0], yes[1] - no[1]]
            }
            _ => {
                let factor = classes.factor(likelihood, self.other, self.zero);
                cells.map(|cell| factor.log_odds(cell))
            }
        }
    }

    fn intervals(&self, classes: &NumberClasses) -> &Intervals {
        if classes.n_with() > 0 { &self.both } else { &self.only_zero }
    }

    /// The log masses at both numbers under the normal distribution of some cells.
    fn log_masses(&self, moments: &Moments, has_other: bool) -> [f64; 2] {
        let intervals = if has_other { &self.both } else { &self.only_zero };
        let &Intervals { precision, zero, middles } = intervals;
        let normal = Normal::estimate(moments, precision, zero);
        middles.map(|middle| normal.log_mass(middle, precision))
    }

    /// The same for the relevant rows of a label, which have the sums of so many cells; computed once for as many
    /// rows and cells.
    fn relevant_log_masses(
        &mut self,
        classes: &NumberClasses,
        moments: &Moments,
        has_other: bool,
    ) -> [f64; 2] {
        if !has_other {
            return self.log_masses(moments, has_other);
        }
        let [n, with] = [classes.n[1], classes.with[1]];
        // Where all cells are 0, it makes no difference how many there are.
        let key = (if with == 0 { n.min(1) } else { n }, with);
        if let Some(known) = self.relevant.get(&key) {
            return *known;
        }
        let log_masses = self.log_masses(moments, has_other);
        self.relevant.insert(key, log_masses);
        log_masses
    }
}

/// Numbers are hashed well enough, small ones and those that are spread over all bits, by multiplying with 2⁶⁴
/// divided by the golden ratio, and combining the two halves of the product by exclusive or.
#[derive(Default)]
pub(super) struct MixingHasher(u64);

impl Hasher for MixingHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = mixed as u64 ^ (mixed >> 64) as u64;
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

impl<'m> LogOddsTables<'m> {
    pub(super) fn new(likelihood: Likelihood, rows: &'m LabelRows) -> LogOddsTables<'m> {
        LogOddsTables {
            likelihood,
            rows,
            logs: Vec::new(),
            constants: Vec::new(),
            numbers: HashMap::default(),
            n_kept: 0,
            room: Vec::new(),
        }
    }

    /// Fills `out` with the log-odds of each user at the first value, and then at the second.
    pub(super) fn compute(&mut self, input: &CountedInput, zero: f64, out: &mut Vec<f64>) {
        let n = input.users.len();
        out.clear();
        out.resize(2 * n, 0.0);
        match input.values {
            TwoValues::Names | TwoValues::Word => {
                for (at, with) in input.counts(self.rows).into_iter().enumerate() {
                    [out[at], out[n + at]] = self.of_names(input.users.label(at), with);
                }
            }
            TwoValues::Numbers { other } => self.compute_numbers(input, other, zero, out),
        }
    }

    /// With Laplace smoothing, as [`Factor::category`]; the logarithms of counts are looked up.
    fn of_names(&mut self, label: LabelId, with: [u32; 2]) -> [f64; 2] {
        if self.constants.is_empty() {
            let of_label =
                |[no, yes]: &[u32; 2]| (f64::from(*no) + 2.0).ln() - (f64::from(*yes) + 2.0).ln();
            self.constants = self.rows.by_class.iter().map(of_label).collect();
        }
        let (n, constant) = (self.rows.by_class[label.0], self.constants[label.0]);
        let mut log_odds = |no: u32, yes: u32| self.log(yes) - self.log(no) + constant;
        [log_odds(n[0] - with[0], n[1] - with[1]), log_odds(with[0], with[1])]
    }

    /// ln(n + 1).
    fn log(&mut self, n: u32) -> f64 {
        let at = n as usize;
        if at >= self.logs.len() {
            self.logs.resize(at + 1, f64::NAN);
        }
        if self.logs[at].is_nan() {
            self.logs[at] = (f64::from(n) + 1.0).ln();
        }
        self.logs[at]
    }

    fn compute_numbers(&mut self, input: &CountedInput, other: f64, zero: f64, out: &mut [f64]) {
        /// Beyond so many numbers, it is cheaper to compute some again than to keep all.
        const MOST_KEPT: usize = 1 << 20;
        let (likelihood, rows) = (self.likelihood, self.rows);
        if self.n_kept > MOST_KEPT {
            self.numbers.clear();
            self.n_kept = 0;
        }
        let new = || NumberTables::new(other, zero);
        let tables = self.numbers.entry((other.to_bits(), zero.to_bits())).or_insert_with(new);
        let n_before = tables.n_kept();
        let (first, second) = out.split_at_mut(input.users.len());
        let of_label = |tables: &mut NumberTables, label: LabelId, with| {
            let classes = NumberClasses { n: rows.by_class[label.0], with };
            tables.log_odds(&classes, likelihood)
        };
        if let Users::All(n_labels) = input.users {
            let known = tables.apart.get(&input.in_whole).map(Rc::clone);
            let apart = known.unwrap_or_else(|| {
                let labels = (0..n_labels as usize).map(LabelId);
                let of = |label| of_label(tables, label, input.counts_apart(label, rows));
                let [mut at_zero, mut at_other] = [vec![], vec![]];
                for [zero, other] in labels.map(of) {
                    at_zero.push(zero);
                    at_other.push(other);
                }
                let apart = Rc::new([at_zero, at_other]);
                tables.apart.insert(input.in_whole, Rc::clone(&apart));
                apart
            });
            first.copy_from_slice(&apart[0]);
            second.copy_from_slice(&apart[1]);
            for Occurrence { label, counts } in input.occurrences() {
                let at = label as usize;
                [first[at], second[at]] = of_label(tables, LabelId(at), counts);
            }
        } else {
            for (at, with) in input.counts(rows).into_iter().enumerate() {
                [first[at], second[at]] = of_label(tables, input.users.label(at), with);
            }
        }
        self.n_kept += tables.n_kept() - n_before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, LabelMatrix, Matrix, Sparse};
    use crate::decode::{DecodeBudget, decode};
    use proptest::prelude::*;

    /// Rows of one input, of which some have the second value, and three labels; the last learns from every
    /// other row.
    fn counted(cells: &[(bool, [bool; 3])], values: TwoValues) -> (CountedInput, LabelRows) {
        let second = match values {
            TwoValues::Numbers { other } => other,
            _ => 1.0,
        };
        let (mut features, mut labels) = (Sparse::new(1), LabelMatrix::new(3));
        for (is_second, relevant) in cells {
            features.push_row(is_second.then_some((0, second)));
            let row = labels.push_row();
            labels.ids().zip(relevant).for_each(|(label, &is)| labels.set(row, label, is));
        }
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let attributes = vec![Attribute::numeric("x")];
        let features = Matrix::Sparse(features);
        let data = Dataset::new("words", attributes, features, names, labels).unwrap();
        let (all, some): (Vec<usize>, Vec<usize>) =
            ((0..cells.len()).collect(), (0..cells.len()).step_by(2).collect());
        let groups = [
            Group { rows: &all, labels: vec![LabelId(0), LabelId(1)] },
            Group { rows: &some, labels: vec![LabelId(2)] },
        ];
        let kinds = [Some(values)];
        let mut occurrences = Occurrences::new(&data, &kinds);
        occurrences.count_whole(&groups[0], &[0]);
        occurrences.count_thinned(&groups[1]);
        let by_class = |(label, rows): (usize, &Vec<usize>)| {
            let yes = rows.iter().filter(|&&row| cells[row].1[label]).count() as u32;
            [rows.len() as u32 - yes, yes]
        };
        let by_class = [&all, &all, &some].into_iter().enumerate().map(by_class).collect();
        let rows = LabelRows { by_class, is_whole: vec![true, true, false] };
        (occurrences.by_input().input(0, values, Users::All(3)), rows)
    }

    fn rows() -> impl Strategy<Value = Vec<(bool, [bool; 3])>> {
        let row = (any::<bool>(), prop::array::uniform3(prop::bool::weighted(0.3)));
        prop::collection::vec(row, 2..40)
    }

    proptest! {
        #[test]
        fn log_odds_are_those_of_the_factors_to_the_last_bit(
            cells in rows(),
            other in prop_oneof![0.1f64..9.0, -5.0f64..-0.1],
            zero in -2.0f64..2.0,
        ) {
            for likelihood in [Likelihood::Auto, Likelihood::Gaussian, Likelihood::Weka] {
                for values in [TwoValues::Names, TwoValues::Word, TwoValues::Numbers { other }] {
                    let (input, rows) = counted(&cells, values);
                    prop_assert!(input.is_sound(&rows));
                    let (zero, second) = match values {
                        TwoValues::Numbers { other } => (zero, other + zero),
                        _ => (0.0, 1.0),
                    };
                    let mut tables = LogOddsTables::new(likelihood, &rows);
                    let found = input.log_odds(zero, &mut tables);
                    for (cell, found) in [zero, second].into_iter().zip(found) {
                        let factors = input.factors(likelihood, &rows, zero);
                        let expected: Vec<f64> =
                            factors.iter().map(|factor| factor.log_odds(cell)).collect();
                        prop_assert_eq!(found, &expected[..]);
                    }
                }
            }
        }

        #[test]
        fn no_bytes_make_counts_that_panic(bytes in prop::collection::vec(any::<u8>(), 0..20), in_whole: u32) {
            let (input, rows) = counted(&[(true, [true; 3]), (false, [false; 3])], TwoValues::Word);
            let input = CountedInput { occurrences: bytes.into(), in_whole, ..input };
            if input.is_sound(&rows) {
                input.log_odds(0.0, &mut LogOddsTables::new(Likelihood::Auto, &rows));
                input.factors(Likelihood::Auto, &rows, 0.0);
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_rows() {
        let cells = [
            (true, [true, false, false]),
            (true, [false; 3]),
            (true, [true, false, true]),
            (false, [true; 3]),
        ];
        let (input, rows) = counted(&cells, TwoValues::Word);
        // Three of four rows have the word. Label 0 is relevant to two of them, label 1 to none. Label 2
        // learns from the rows 0 and 2, which both have it, and is relevant to the latter.
        assert_eq!(input.counts(&rows), [[1, 2], [3, 0], [1, 1]]);
        assert_eq!(input.occurrences().map(|of| of.label).collect::<Vec<_>>(), [0, 2]);
        let bytes = postcard::to_stdvec(&input).unwrap();
        let read: CountedInput = decode(&bytes, &DecodeBudget::new(1 << 20)).unwrap();
        assert_eq!(read.counts(&rows), input.counts(&rows));
        assert!(decode::<CountedInput>(&bytes, &DecodeBudget::new(40)).is_none(), "too large");
    }

    #[test]
    fn what_a_label_that_does_not_use_the_input_has_is_not_kept() {
        // Both rows have the word, and label 0 is relevant to both.
        let (input, rows) = counted(&[(true, [true, false, false]); 2], TwoValues::Word);
        let used_by = |label| {
            let users = Users::Some([label].into());
            CountedInput { users, occurrences: [].into(), in_whole: 2, ..input.clone() }
        };
        assert!(used_by(1).is_sound(&rows));
        assert!(!used_by(0).is_sound(&rows), "no row is left to which label 0 is irrelevant");
    }

    #[test]
    fn counts_beyond_the_rows_are_not_sound() {
        let (input, rows) = counted(&[(true, [true; 3]), (false, [false; 3])], TwoValues::Word);
        let with = |bytes: &[u8], in_whole| {
            let users = input.users.clone();
            CountedInput { occurrences: bytes.into(), in_whole, users, ..input.clone() }
        };
        assert!(with(&[0, 0, 1, 0, 0, 1, 0, 0, 1], 1).is_sound(&rows));
        let damaged: [(&[u8], u32); 6] = [
            (&[0, 2, 1], 1),    // more irrelevant rows than there are
            (&[0, 0, 2], 1),    // more relevant rows than there are
            (&[3, 0, 1], 1),    // a label that there is not
            (&[0, 0], 1),       // cut off
            (&[0, 0, 0x80], 1), // cut off within a number
            (&[], 2),           // more rows than a label has
        ];
        for (bytes, in_whole) in damaged {
            assert!(!with(bytes, in_whole).is_sound(&rows), "{bytes:?}");
        }
    }
}
