//! The best split of the rows of a node, by C4.5's gain ratio.
//!
//! The entropies of a split are sums of n ln n over counts of rows. The cells of every input are
//! sorted once for the whole tree, and a node keeps those of its rows in that order, so that all
//! thresholds of an input are tried in one pass.

use std::f64::consts::LN_2;
use std::ops::{Add, Sub};

use super::{J48, Test, is_above, is_at_most, value_of};
use crate::data::{Attribute, AttributeKind};
use crate::prepare::{NLogN, SMALL, real_n_log_n, sort_cells};

/// Values must differ by more than this for a threshold to lie between them, as in WEKA.
const GAP: f64 = 1e-5;

/// Finds the best split of a node; holds what is known of the inputs in all training rows.
pub(super) struct Splitter<'a> {
    settings: &'a J48,
    columns: Vec<Column>,
    logs: NLogN,
}

/// One input.
struct Column {
    /// How many nominal values it has, unless it is numeric.
    n_values: Option<usize>,
    /// The value of all rows whose cells are not listed.
    fill_value: Option<f64>,
    /// The values of the listed cells that are not missing, ascending.
    values: Vec<f64>,
    /// Whether its gain counts in the mean gain. A nominal input with almost as many values as
    /// there are rows does not count.
    counts_in_mean: bool,
}

/// The cells of the rows of one node, column by column: ascending values, and then the missing
/// ones.
///
/// Cells of a very common value, [`Column::fill_value`], are not listed. The lists of text data,
/// which is mostly zeros, are short that way. An input without a listed cell is constant in the
/// node.
#[derive(Default)]
pub(super) struct NodeCells {
    /// The columns that have listed cells, each with the end of its cells.
    columns: Vec<(usize, usize)>,
    cells: Vec<Cell>,
}

/// The value of a row in a column, and its class: a pass through a column then reads no other
/// memory.
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

/// The rows of one node.
pub(super) struct NodeRows<'a> {
    pub(super) n_rows: usize,
    /// The summed weights of both classes.
    pub(super) counts: [f64; 2],
    /// The weight of each row of the training set, if it is in the node.
    pub(super) weights: &'a [f64],
    /// Whether the weights of all rows of the node are 1.
    pub(super) is_unweighted: bool,
}

/// A weight of rows. Where all weights are 1 it is a count, whose n ln n is looked up in a table.
trait Weight: Copy + Default + PartialOrd + Add<Output = Self> + Sub<Output = Self> {
    /// The weight of one row, under its class.
    fn of_row(weights: &[f64], cell: Cell) -> ClassWeights<Self>;
    fn of(weight: f64) -> Self;
    /// The least weight that counts as no less than this one: WEKA's tolerance is [`SMALL`].
    fn least(weight: f64) -> Self;
    fn real(self) -> f64;
    /// x ln x.
    fn n_log_n(self, logs: &NLogN) -> f64;
    /// Fills the table for the binary splits of rows with these weights, if it is used.
    fn fill_table(known: ClassWeights<Self>, table: &mut SplitTable, logs: &NLogN);
    /// The entropy that is left if rows of the weights `low` are split from the known rows.
    fn entropy_after(low: ClassWeights<Self>, info_gain: &InformationGain<Self>) -> f64;
}

impl Weight for u32 {
    fn of_row(_: &[f64], cell: Cell) -> ClassWeights<u32> {
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

    fn fill_table(known: ClassWeights<u32>, table: &mut SplitTable, logs: &NLogN) {
        table.fill(known, logs);
    }

    fn entropy_after(low: ClassWeights<u32>, info_gain: &InformationGain<u32>) -> f64 {
        info_gain.table.entropy_after(low)
    }
}

impl Weight for f64 {
    fn of_row(weights: &[f64], cell: Cell) -> ClassWeights<f64> {
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

    fn fill_table(_: ClassWeights<f64>, _: &mut SplitTable, _: &NLogN) {}

    fn entropy_after(low: ClassWeights<f64>, info_gain: &InformationGain<f64>) -> f64 {
        info_gain.entropy_of(low) + info_gain.entropy_of(minus(info_gain.known, low))
    }
}

/// n ln n + (N - n) ln (N - n) for every n from 0 to N, where N is the number of known rows of both
/// classes together and of each. The entropy after a binary split of unweighted rows is a sum of
/// three entries, whichever input is split.
#[derive(Default)]
struct SplitTable {
    known: ClassWeights<u32>,
    all: Vec<f64>,
    of_class: [Vec<f64>; 2],
}

impl SplitTable {
    /// Fills the table, unless the last input had as many known rows of each class.
    fn fill(&mut self, known: ClassWeights<u32>, logs: &NLogN) {
        if self.known != known {
            let sums = |n: u32| (0..=n).map(|low| logs.of(low) + logs.of(n - low)).collect();
            *self = SplitTable { known, all: sums(total(known)), of_class: known.map(sums) };
        }
    }

    fn entropy_after(&self, low: ClassWeights<u32>) -> f64 {
        let of_class = |class: usize| self.of_class[class][low[class] as usize];
        self.all[total(low) as usize] - (of_class(0) + of_class(1))
    }
}

/// The weights of the rows to which the label is irrelevant and relevant.
type ClassWeights<W> = [W; 2];

fn total<W: Weight>([no, yes]: ClassWeights<W>) -> W {
    no + yes
}

fn plus<W: Weight>(a: ClassWeights<W>, b: ClassWeights<W>) -> ClassWeights<W> {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus<W: Weight>(a: ClassWeights<W>, b: ClassWeights<W>) -> ClassWeights<W> {
    [a[0] - b[0], a[1] - b[1]]
}

/// One value of a column and the weights of its rows.
#[derive(Clone, Copy)]
struct ValueWeights<W> {
    value: f64,
    weights: ClassWeights<W>,
}

/// The best split by one input.
struct Candidate {
    column: usize,
    test: Test,
    gain: f64,
    ratio: f64,
}

impl<'a> Splitter<'a> {
    /// A splitter for the training rows, and the cells of the root.
    pub(super) fn of(
        settings: &'a J48,
        attributes: &[Attribute],
        stored: &[Vec<(f64, u32)>],
        relevant: &[bool],
    ) -> (Splitter<'a>, NodeCells) {
        let n_rows = relevant.len();
        let (mut columns, mut root) = (Vec::new(), NodeCells::default());
        for (attribute, cells) in attributes.iter().zip(stored) {
            let (column, cells) = Column::of(&attribute.kind, cells.clone(), n_rows);
            if column.n_values.is_none_or(|n_values| n_values > 1) && !cells.is_empty() {
                let tag = |row| row << 1 | u32::from(relevant[row as usize]);
                root.cells.extend(cells.iter().map(|&(value, row)| Cell { value, tag: tag(row) }));
                root.columns.push((columns.len(), root.cells.len()));
            }
            columns.push(column);
        }
        if columns.iter().all(|column| !column.counts_in_mean) {
            columns.iter_mut().for_each(|column| column.counts_in_mean = true);
        }
        (Splitter { settings, columns, logs: NLogN::up_to(n_rows) }, root)
    }

    /// Of the inputs whose gain is at least the mean gain, the first with the greatest gain ratio.
    /// The gain ratio alone would prefer splits into one large branch and a tiny one.
    pub(super) fn best(&self, cells: &NodeCells, rows: &NodeRows) -> Option<(usize, Test)> {
        let candidates = if rows.is_unweighted {
            self.candidates::<u32>(cells, rows)
        } else {
            self.candidates::<f64>(cells, rows)
        };
        let counted = candidates.iter().filter(|it| self.columns[it.column].counts_in_mean);
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
            // The threshold is moved from between two values down to a value of the training rows.
            Test::AtMost(middle) => Test::AtMost(self.columns[column].greatest_up_to(middle)),
            other => other,
        };
        Some((column, test))
    }

    /// The best split by each input that has a valid one.
    fn candidates<W: Weight>(&self, cells: &NodeCells, rows: &NodeRows) -> Vec<Candidate> {
        let mut values: Vec<ValueWeights<W>> = Vec::new();
        let mut table = SplitTable::default();
        let candidates = cells.iter().filter_map(|(at, cells)| {
            let column = &self.columns[at];
            let sorted = column.sorted(cells, rows);
            W::fill_table(sorted.known, &mut table, &self.logs);
            let info_gain = InformationGain::of(&self.logs, &table, sorted.known, rows);
            let (test, gain, ratio) = match column.n_values {
                None => self.best_threshold(&sorted, &info_gain)?,
                Some(n_values) => {
                    sorted.sum_by_value(&mut values);
                    if self.settings.binary_splits {
                        self.best_value(&values, &info_gain)?
                    } else {
                        self.all_values(&values, n_values, &info_gain)?
                    }
                }
            };
            Some(Candidate { column: at, test, gain, ratio })
        });
        candidates.collect()
    }

    /// The first threshold of greatest gain. From its gain, the cost of choosing one of several
    /// thresholds is subtracted: log2(thresholds) / rows bits, by minimum description length.
    fn best_threshold<W: Weight>(
        &self,
        sorted: &SortedRows<W>,
        info_gain: &InformationGain<W>,
    ) -> Option<(Test, f64, f64)> {
        let min_leaf = self.settings.min_leaf as f64;
        // A branch needs a tenth of the mean class size, at most 25, but no less than `min_leaf`.
        let least = match 0.1 * total(sorted.known).real() / 2.0 {
            few if is_at_most(few, min_leaf) => min_leaf,
            many => many.min(25.0),
        };
        if is_above(2.0 * least, sorted.n_known as f64) {
            return None;
        }
        let none = Cut { below: f64::NAN, above: f64::NAN, low: ClassWeights::default() };
        let start = ThresholdSearch {
            n_cuts: 0,
            entropy: info_gain.entropy,
            best: none,
            below: f64::NAN,
            no: W::default(),
            yes: W::default(),
        };
        let found = sorted.fold(
            start,
            #[inline(always)]
            |search, value, weights| search.step(value, weights, W::least(least), info_gain),
        );
        let Cut { below, above, low } = found.best;
        let cost = f64::from(found.n_cuts).log2() / info_gain.total;
        let gain = info_gain.gain(found.entropy) - cost;
        if found.n_cuts == 0 || is_at_most(gain, 0.0) {
            return None;
        }
        let middle = f64::midpoint(below, above);
        let threshold = if middle < above { middle } else { below };
        let branches = [low, minus(sorted.known, low)];
        Some((Test::AtMost(threshold), gain, info_gain.ratio(gain, branches.into_iter())))
    }

    /// A branch for each value.
    fn all_values<W: Weight>(
        &self,
        values: &[ValueWeights<W>],
        n_values: usize,
        info_gain: &InformationGain<W>,
    ) -> Option<(Test, f64, f64)> {
        let branches = || values.iter().map(|value| value.weights);
        if branches().filter(|&branch| self.is_large(branch)).count() < 2 {
            return None;
        }
        let gain = info_gain.gain(branches().map(|branch| info_gain.entropy_of(branch)).sum());
        Some((Test::Which(n_values), gain, info_gain.ratio(gain, branches())))
    }

    /// One branch for the value of greatest gain ratio, and one for all others.
    fn best_value<W: Weight>(
        &self,
        values: &[ValueWeights<W>],
        info_gain: &InformationGain<W>,
    ) -> Option<(Test, f64, f64)> {
        let mut best: Option<(Test, f64, f64)> = None;
        for &ValueWeights { value, weights } in values {
            let branches = [weights, minus(info_gain.known, weights)];
            if !branches.into_iter().all(|branch| self.is_large(branch)) {
                continue;
            }
            let entropies = branches.map(|branch| info_gain.entropy_of(branch));
            let gain = info_gain.gain(entropies.into_iter().sum());
            let ratio = info_gain.ratio(gain, branches.into_iter());
            // The first is a candidate even if it gains nothing, and then lowers the mean gain.
            if best.is_none_or(|(_, _, other)| is_above(ratio, other)) {
                best = Some((Test::Is(value as usize), gain, ratio));
            }
        }
        best
    }

    /// Whether a branch has the least weight that at least two branches must have.
    fn is_large<W: Weight>(&self, branch: ClassWeights<W>) -> bool {
        is_at_most(self.settings.min_leaf as f64, total(branch).real())
    }
}

impl NodeCells {
    /// The cells of a child of this node, which has `n_rows` rows.
    pub(super) fn of_node(&self, node: u32, n_rows: usize, node_of_row: &[u32]) -> NodeCells {
        let room: usize = self.iter().map(|(_, cells)| cells.len().min(n_rows)).sum();
        let mut cells = vec![Cell { value: 0.0, tag: 0 }; room + 1];
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut end = 0;
        for (column, listed) in self.iter() {
            let start = end;
            for &cell in listed {
                // Every cell is written, and overwritten by the next if it is not in the node: the
                // loop has no conditional jump that the processor could mispredict.
                cells[end] = cell;
                end += usize::from(node_of_row[cell.row()] == node);
            }
            if end > start {
                columns.push((column, end));
            }
        }
        cells.truncate(end);
        NodeCells { columns, cells }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        let starts = std::iter::once(0).chain(self.columns.iter().map(|&(_, end)| end));
        let columns = self.columns.iter().zip(starts);
        columns.map(|(&(column, end), start)| (column, &self.cells[start..end]))
    }
}

impl Column {
    /// The column, and its listed cells: those that do not have the fill value.
    fn of(
        kind: &AttributeKind,
        mut cells: Vec<(f64, u32)>,
        n_rows: usize,
    ) -> (Column, Vec<(f64, u32)>) {
        let n_values = match kind {
            AttributeKind::Nominal(values) => Some(values.len()),
            _ => None,
        };
        let is_implied = cells.len() < n_rows;
        let is_missing = |value: f64| match n_values {
            None => value.is_nan(),
            Some(n_values) => value_of(value, n_values).is_none(),
        };
        let missing = cells.extract_if(.., |(value, _)| is_missing(*value));
        let missing: Vec<(f64, u32)> = missing.map(|(_, row)| (f64::NAN, row)).collect();
        sort_cells(&mut cells);
        let fill_value = if is_implied {
            Some(0.0)
        } else {
            let runs = cells.chunk_by(|a, b| a.0 == b.0);
            let longest = runs.max_by_key(|run| run.len());
            longest.filter(|run| run.len() * 4 >= n_rows).map(|run| run[0].0)
        };
        if fill_value.is_some() {
            cells.retain(|&(value, _)| Some(value) != fill_value);
        }
        let values = cells.iter().map(|&(value, _)| value).collect();
        cells.extend(missing);
        let counts_in_mean = n_values.is_none_or(|n| is_above(0.3 * n_rows as f64, n as f64));
        (Column { n_values, fill_value, values, counts_in_mean }, cells)
    }

    /// The greatest value up to `middle` that any training row has, in this node or another.
    fn greatest_up_to(&self, middle: f64) -> f64 {
        let n = self.values.partition_point(|&value| value <= middle);
        let fill = self.fill_value.filter(|&fill| fill <= middle);
        self.values[..n].last().copied().into_iter().chain(fill).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The rows of a node in the order of their values.
    fn sorted<'a, W: Weight>(&self, cells: &'a [Cell], rows: &'a NodeRows) -> SortedRows<'a, W> {
        let n_missing = cells.iter().rev().take_while(|cell| cell.value.is_nan()).count();
        let (listed, missing) = cells.split_at(cells.len() - n_missing);
        let subtract = |from, &cell| minus(from, W::of_row(rows.weights, cell));
        let known = missing.iter().fold(rows.counts.map(W::of), subtract);
        let n_fill = rows.n_rows - cells.len();
        let fill = self.fill_value.filter(|_| n_fill > 0);
        let weights = || listed.iter().fold(known, subtract);
        let fill = fill.map(|value| ValueWeights { value, weights: weights() });
        let n_known = rows.n_rows - n_missing;
        SortedRows { weights: rows.weights, listed, fill, known, n_known }
    }
}

/// The rows of a node whose cell of one input is not missing, in ascending order of its values.
struct SortedRows<'a, W> {
    weights: &'a [f64],
    listed: &'a [Cell],
    /// The rows that have the fill value, together.
    fill: Option<ValueWeights<W>>,
    /// The weights of all these rows.
    known: ClassWeights<W>,
    n_known: usize,
}

impl<W: Weight> SortedRows<'_, W> {
    /// Folds over the rows in ascending order: each listed row alone, those of the fill value
    /// together.
    fn fold<S>(&self, start: S, mut step: impl FnMut(S, f64, ClassWeights<W>) -> S) -> S {
        let (below, above) = match self.fill {
            None => (self.listed, &[][..]),
            Some(fill) => {
                let n = self.listed.partition_point(|cell| cell.value < fill.value);
                self.listed.split_at(n)
            }
        };
        let mut state = start;
        let mut fill = self.fill;
        for cells in [below, above] {
            for &cell in cells {
                state = step(state, cell.value, W::of_row(self.weights, cell));
            }
            if let Some(fill) = fill.take() {
                state = step(state, fill.value, fill.weights);
            }
        }
        state
    }

    /// Writes the distinct values, each with the weights of all of its rows.
    fn sum_by_value(&self, values: &mut Vec<ValueWeights<W>>) {
        values.clear();
        self.fold((), |(), value, weights| match values.last_mut() {
            Some(last) if last.value == value => last.weights = plus(last.weights, weights),
            _ => values.push(ValueWeights { value, weights }),
        });
    }
}

/// A cut between two neighbouring values, and the weights of the rows below it.
#[derive(Clone, Copy)]
struct Cut<W> {
    below: f64,
    above: f64,
    low: ClassWeights<W>,
}

/// The search for the best cut in one pass through ascending values.
#[derive(Clone, Copy)]
struct ThresholdSearch<W> {
    /// How many cuts were possible so far.
    n_cuts: u32,
    /// The entropy that the best of them leaves.
    entropy: f64,
    best: Cut<W>,
    /// The value of the last row seen.
    below: f64,
    /// The weights of all rows up to it, by class. As an array of two they would share a register,
    /// and be packed and unpacked at each step.
    no: W,
    yes: W,
}

impl<W: Weight> ThresholdSearch<W> {
    /// Tries the cut below a row, then adds the row to those below.
    #[inline(always)]
    fn step(
        mut self,
        value: f64,
        row: ClassWeights<W>,
        least: W,
        info_gain: &InformationGain<W>,
    ) -> ThresholdSearch<W> {
        let (below, low) = (self.below, [self.no, self.yes]);
        let n_low = total(low);
        let n_high = total(info_gain.known) - n_low;
        if below + GAP < value && n_low >= least && n_high >= least {
            self.n_cuts += 1;
            let entropy = W::entropy_after(low, info_gain);
            if entropy < self.entropy - info_gain.tolerance {
                self.entropy = entropy;
                self.best = Cut { below, above: value, low };
            }
        }
        (self.below, self.no, self.yes) = (value, self.no + row[0], self.yes + row[1]);
        self
    }
}

/// The gain of splits by one input. Entropies are those of the rows whose cell is known, in nats
/// and times the weight of the rows: n ln n - Σ n_c ln n_c over the classes c.
struct InformationGain<'a, W> {
    logs: &'a NLogN,
    table: &'a SplitTable,
    /// The weights of the rows whose cell is not missing.
    known: ClassWeights<W>,
    /// The weight of all rows of the node, known or not.
    total: f64,
    /// The entropy of the known rows before the split.
    entropy: f64,
    /// By how much less an entropy must be to count as less.
    tolerance: f64,
}

impl<'a, W: Weight> InformationGain<'a, W> {
    fn of(
        logs: &'a NLogN,
        table: &'a SplitTable,
        known: ClassWeights<W>,
        rows: &NodeRows,
    ) -> InformationGain<'a, W> {
        let total = total(rows.counts);
        let tolerance = SMALL * LN_2 * total;
        let mut info_gain = InformationGain { logs, table, known, total, entropy: 0.0, tolerance };
        info_gain.entropy = info_gain.entropy_of(known);
        info_gain
    }

    /// The entropy of rows with these weights, times their weight, in nats.
    fn entropy_of(&self, weights: ClassWeights<W>) -> f64 {
        let [all, no, yes] = [total(weights), weights[0], weights[1]].map(|x| x.n_log_n(self.logs));
        all - (no + yes)
    }

    /// The information gained, in bits per row of the node, if that entropy is left. Rows whose
    /// cell is missing gain nothing.
    fn gain(&self, entropy: f64) -> f64 {
        let gain = (self.entropy - entropy) / (LN_2 * self.total);
        if (gain * total(self.known).real()).abs() < SMALL { 0.0 } else { gain }
    }

    /// C4.5's gain ratio: the gain divided by the entropy of the split itself, in which the rows
    /// with a missing cell are a branch of their own.
    fn ratio(&self, gain: f64, branches: impl Iterator<Item = ClassWeights<W>>) -> f64 {
        let unknown = (self.total - total(self.known).real()).n_log_n(self.logs);
        let known: f64 = branches.map(|branch| total(branch).n_log_n(self.logs)).sum();
        let entropy = (self.total.n_log_n(self.logs) - unknown - known) / LN_2;
        if entropy.abs() < SMALL { 0.0 } else { gain / (entropy / self.total) }
    }
}
