//! What decided labels tell about the others.
//!
//! The term that the decision Y_a = v adds to the log-odds of label j is
//! log P(Y_a = v | Y_j = 1) - log P(Y_a = v | Y_j = 0). With Laplace smoothing,
//! P(Y_a = v | Y_j = y) = (n_{v,y} + 1) / (n_y + 2), counted in the rows that label j learns from.
//!
//! There are 2 L² terms for L labels, but few numbers behind them where there are many labels: most
//! pairs never occur together, and their terms depend on how often a occurs and not on which label it
//! is. So a large table keeps the terms of each such count once, and beside them those of the pairs
//! that do occur together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Group;
use super::moments::RelevantLabels;
use crate::chain::{Order, Score};
use crate::data::{LabelId, LabelMatrix};
use crate::prepare::LabelView;
use crate::product::vectorized;

/// The terms of all pairs of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum CoOccurrence {
    /// Labels that are decided independently add no terms.
    Independent,
    /// `[(2 a + v) L + j]`.
    Dense(Vec<f64>),
    /// What occurs.
    Sparse(SparseTerms),
}

/// Terms that many labels share, and those that they do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SparseTerms {
    /// `[(2 c + v) L + j]`: the terms of a label of the c-th class, for labels it never occurs with. A
    /// class are the labels that occur equally often in the rows that most labels learn from.
    apart: Vec<f64>,
    /// The class of each label.
    class_of: Vec<u32>,
    /// Label a owns `starts[a]..starts[a + 1]` of the two below.
    starts: Vec<usize>,
    /// The labels it occurs with, ascending.
    together: Vec<u32>,
    /// The terms for them, of v = 0 and v = 1.
    terms: Vec<[f64; 2]>,
}

impl CoOccurrence {
    /// The terms where some labels are unknown: n_{v,y} counts the rows that know both labels, and so
    /// does n_y = n_{0,y} + n_{1,y}, which then differs from pair to pair.
    pub(super) fn of_partial(labels: &LabelMatrix, views: &[LabelView]) -> CoOccurrence {
        let n_labels = labels.n_labels();
        let bits = |rows: &mut dyn Iterator<Item = usize>| {
            let mut bits = vec![0u64; labels.n_rows().div_ceil(64)];
            rows.for_each(|row| bits[row / 64] |= 1 << (row % 64));
            bits
        };
        // For each label, the rows of all to which it is known to be irrelevant, and relevant.
        let rows_of = |label: LabelId| {
            [false, true].map(|is| {
                bits(&mut (0..labels.n_rows()).filter(|&row| labels.cell(row, label) == Some(is)))
            })
        };
        let rows_of: Vec<[Vec<u64>; 2]> = labels.ids().map(rows_of).collect();
        let in_both = |a: &[u64], b: &[u64]| -> f64 {
            f64::from(a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>())
        };
        let mut table = vec![0.0; 2 * n_labels * n_labels];
        for (target, view) in views.iter().enumerate() {
            let learned_from = bits(&mut view.rows.iter().copied());
            let classes = [0, 1].map(|class| {
                let rows = rows_of[target][class].iter().zip(&learned_from);
                rows.map(|(rows, here)| rows & here).collect::<Vec<u64>>()
            });
            for (label, by_value) in rows_of.iter().enumerate() {
                // [y][v]
                let counts = [0, 1].map(|y| [0, 1].map(|v| in_both(&by_value[v], &classes[y])));
                let log_share = |y: usize, v: usize| {
                    ((counts[y][v] + 1.0) / (counts[y][0] + counts[y][1] + 2.0)).ln()
                };
                for v in [0, 1] {
                    table[(2 * label + v) * n_labels + target] = log_share(1, v) - log_share(0, v);
                }
            }
        }
        CoOccurrence::Dense(table)
    }

    /// What [`CoOccurrence::of_partial`] takes: the table, and two bits for each row and label.
    pub(super) fn partial_bytes(labels: &LabelMatrix) -> u64 {
        let n_labels = labels.n_labels() as u64;
        dense_bytes(labels.n_labels()) + 16 * n_labels * labels.n_rows().div_ceil(64) as u64
    }
}

/// How often a label occurs in the rows that another learns from, and in how many of them the other is
/// relevant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Pair {
    target: u32,
    alone: u32,
    both: u32,
}

/// How often labels occur, and occur together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairCounts {
    /// How often each label occurs in all rows.
    in_whole: Vec<u32>,
    /// Whether each label learns from all rows.
    is_whole: Vec<bool>,
    /// For each label, its pairs with labels that it occurs with, by target.
    pairs: Vec<Vec<Pair>>,
}

/// What the terms are computed from.
pub(super) struct Counts<'a> {
    /// For each label, its irrelevant and its relevant rows.
    classes: &'a [[f64; 2]],
    /// Of pairs.
    counts: PairCounts,
}

impl PairCounts {
    /// Counts in the rows of each group; the first of them is that of all rows.
    pub(super) fn of(labels: &LabelMatrix, groups: &[Group]) -> PairCounts {
        let n_labels = labels.n_labels();
        let mut counts = PairCounts {
            in_whole: vec![0; n_labels],
            is_whole: vec![false; n_labels],
            pairs: vec![Vec::new(); n_labels],
        };
        if let Some((whole, thinned)) = groups.split_first() {
            counts.count_whole(labels, whole);
            // How often each label was met, alone and with the target; zero again after each group.
            let mut met = vec![[0; 2]; n_labels];
            thinned.iter().for_each(|group| counts.count_thinned(labels, group, &mut met));
        }
        counts.pairs.iter_mut().for_each(|pairs| pairs.sort_unstable_by_key(|pair| pair.target));
        counts
    }

    fn count_whole(&mut self, labels: &LabelMatrix, group: &Group) {
        group.labels.iter().for_each(|label| self.is_whole[label.0] = true);
        let mut relevant = RelevantLabels::new(self.in_whole.len());
        for &row in group.rows {
            relevant.push_row(labels.relevant(row).map(|label| label.0));
        }
        self.in_whole.copy_from_slice(relevant.n_rows());
        let mut both = vec![0u32; self.in_whole.len()];
        let mut met: Vec<u32> = Vec::new();
        for (label, places) in relevant.places().into_iter().enumerate() {
            for place in places {
                for &target in relevant.of(place as usize) {
                    let count = &mut both[target as usize];
                    if *count == 0 {
                        met.push(target);
                    }
                    *count += 1;
                }
            }
            let alone = self.in_whole[label];
            let counted = met.drain(..).map(|target| Pair {
                target,
                alone,
                both: std::mem::take(&mut both[target as usize]),
            });
            let is_whole = &self.is_whole;
            self.pairs[label].extend(counted.filter(|pair| is_whole[pair.target as usize]));
        }
    }

    fn count_thinned(&mut self, labels: &LabelMatrix, group: &Group, counts: &mut [[u32; 2]]) {
        for &target in &group.labels {
            let mut met: Vec<usize> = Vec::new();
            for &row in group.rows {
                let is_relevant = u32::from(labels.get(row, target));
                for LabelId(label) in labels.relevant(row) {
                    let [alone, both] = &mut counts[label];
                    if *alone == 0 {
                        met.push(label);
                    }
                    *alone += 1;
                    *both += is_relevant;
                }
            }
            for label in met {
                let [alone, both] = std::mem::take(&mut counts[label]);
                self.pairs[label].push(Pair { target: target.0 as u32, alone, both });
            }
        }
    }

    /// What is counted of a pair, also where the two never occur together: how often the label occurs in
    /// the rows of the target, and how often with it.
    fn pair(&self, label: usize, target: usize) -> Pair {
        let pairs = &self.pairs[label];
        match pairs.binary_search_by_key(&(target as u32), |pair| pair.target) {
            Ok(at) => pairs[at],
            Err(_) => Pair { target: target as u32, alone: self.alone(label, target), both: 0 },
        }
    }

    /// The number of times that a label occurs in the rows of a label that it never occurs with.
    fn alone(&self, label: usize, target: usize) -> u32 {
        if self.is_whole[target] { self.in_whole[label] } else { 0 }
    }

    /// The same rows with further labels that never occur in them; of each it is said whether it learns from all
    /// of these rows or from none.
    pub(super) fn with_new_labels(mut self, is_whole: impl Iterator<Item = bool>) -> PairCounts {
        self.is_whole.extend(is_whole);
        self.in_whole.resize(self.is_whole.len(), 0);
        self.pairs.resize_with(self.is_whole.len(), Vec::new);
        self
    }

    /// The counts of these rows and of others.
    pub(super) fn plus(&self, other: &PairCounts) -> PairCounts {
        let n_labels = self.in_whole.len();
        let add = |(one, other): (&u32, &u32)| one.saturating_add(*other);
        let both_whole =
            self.is_whole.iter().zip(&other.is_whole).map(|(one, other)| *one && *other);
        let mut sum = PairCounts {
            in_whole: self.in_whole.iter().zip(&other.in_whole).map(add).collect(),
            is_whole: both_whole.collect(),
            pairs: Vec::with_capacity(n_labels),
        };
        for label in 0..n_labels {
            let joined = (0..n_labels).map(|target| {
                let (one, other) = (self.pair(label, target), other.pair(label, target));
                let alone = one.alone.saturating_add(other.alone);
                Pair { target: one.target, alone, both: one.both.saturating_add(other.both) }
            });
            // Where they never occur together, there is nothing more to say about labels of all rows.
            let is_told = |pair: &Pair| {
                pair.both > 0 || (!sum.is_whole[pair.target as usize] && pair.alone > 0)
            };
            let pairs = joined.filter(is_told).collect();
            sum.pairs.push(pairs);
        }
        sum
    }

    /// The terms, for labels with so many irrelevant and relevant rows.
    pub(super) fn table(&self, classes: &[[f64; 2]]) -> CoOccurrence {
        Counts { classes, counts: self.clone() }.table()
    }

    /// Whether it can be counted in so many irrelevant and relevant rows of each label, as it is unless it was
    /// decoded.
    pub(super) fn fits(&self, classes: &[[f64; 2]]) -> bool {
        let n_labels = classes.len();
        let is_counted = |pair: &Pair| {
            let Some(&[no, yes]) = classes.get(pair.target as usize) else { return false };
            let (both, alone) = (f64::from(pair.both), f64::from(pair.alone));
            both <= alone && both <= yes && alone - both <= no
        };
        let is_sound = |pairs: &Vec<Pair>| {
            pairs.is_sorted_by(|one, next| one.target < next.target) && pairs.iter().all(is_counted)
        };
        [self.in_whole.len(), self.is_whole.len(), self.pairs.len()] == [n_labels; 3]
            && self.pairs.iter().all(is_sound)
    }
}

/// What a dense table of so many labels takes.
fn dense_bytes(n_labels: usize) -> u64 {
    16 * (n_labels as u64).pow(2)
}

impl<'a> Counts<'a> {
    pub(super) fn new(classes: &'a [[f64; 2]], counts: PairCounts) -> Counts<'a> {
        Counts { classes, counts }
    }

    /// The counts alone.
    pub(super) fn into_pairs(self) -> PairCounts {
        self.counts
    }

    /// What counting takes at most: no row has more pairs than the square of its labels, and no group
    /// more than one for each of its labels and each label there is. For the first group, whose labels were not
    /// undersampled, it is noted which labels each row has, and which rows each label.
    pub(super) fn most_bytes(labels: &LabelMatrix, groups: &[Group]) -> u64 {
        let of_group = |group: &Group| {
            let n_relevant = |&row: &usize| labels.relevant(row).count() as u64;
            let in_rows: u64 = if group.labels.len() == 1 {
                group.rows.iter().map(n_relevant).sum()
            } else {
                group.rows.iter().map(|row| n_relevant(row).pow(2)).sum()
            };
            in_rows.min((group.labels.len() * labels.n_labels()) as u64)
        };
        let notes = groups.first().map_or(0, |whole| {
            let n_relevant = whole.rows.iter().map(|&row| labels.relevant(row).count() as u64);
            (2 * size_of::<usize>() * whole.rows.len()) as u64
                + 3 * size_of::<u32>() as u64 * n_relevant.sum::<u64>()
        });
        // A list that grows holds up to twice what it needs.
        2 * size_of::<Pair>() as u64 * groups.iter().map(of_group).sum::<u64>() + notes
    }

    fn n_labels(&self) -> usize {
        self.classes.len()
    }

    fn n_pairs(&self) -> usize {
        self.counts.pairs.iter().map(Vec::len).sum()
    }

    /// The terms of a pair, of v = 0 and v = 1.
    fn terms(&self, pair: Pair) -> [f64; 2] {
        let [no, yes] = self.classes[pair.target as usize];
        let with_yes = f64::from(pair.both);
        let with_no = f64::from(pair.alone) - with_yes;
        let odds = |a: f64, b: f64| ((a + 1.0) / (yes + 2.0)).ln() - ((b + 1.0) / (no + 2.0)).ln();
        [odds(yes - with_yes, no - with_no), odds(with_yes, with_no)]
    }

    /// The terms of a label for all labels as if it never occurred with any, of either value.
    fn apart(&self, label: usize) -> [Vec<f64>; 2] {
        let pair = |target: usize| {
            let alone = self.counts.alone(label, target);
            self.terms(Pair { target: target as u32, alone, both: 0 })
        };
        let (of_0, of_1) = (0..self.n_labels()).map(pair).map(|[a, b]| (a, b)).unzip();
        [of_0, of_1]
    }

    /// For each class of labels, one of its labels, in the order of how often they occur.
    fn classes(&self) -> BTreeMap<u32, usize> {
        self.counts.in_whole.iter().enumerate().map(|(label, &count)| (count, label)).collect()
    }

    /// How many bytes the smaller of the two tables takes.
    pub(super) fn bytes(&self) -> u64 {
        self.dense_bytes().min(self.sparse_bytes())
    }

    fn dense_bytes(&self) -> u64 {
        dense_bytes(self.n_labels())
    }

    fn sparse_bytes(&self) -> u64 {
        let (n_labels, n_classes) = (self.n_labels() as u64, self.classes().len() as u64);
        16 * n_classes * n_labels + 12 * n_labels + 20 * self.n_pairs() as u64
    }

    /// The smaller table; both have the same terms.
    pub(super) fn table(&self) -> CoOccurrence {
        if self.dense_bytes() <= self.sparse_bytes() {
            CoOccurrence::Dense(self.dense())
        } else {
            CoOccurrence::Sparse(self.sparse())
        }
    }

    fn dense(&self) -> Vec<f64> {
        let n_labels = self.n_labels();
        let mut table = Vec::with_capacity(2 * n_labels * n_labels);
        for (label, pairs) in self.counts.pairs.iter().enumerate() {
            let [mut of_0, mut of_1] = self.apart(label);
            for &pair in pairs {
                let target = pair.target as usize;
                [of_0[target], of_1[target]] = self.terms(pair);
            }
            table.extend(of_0);
            table.extend(of_1);
        }
        table
    }

    fn sparse(&self) -> SparseTerms {
        let classes = self.classes();
        let n_pairs = self.n_pairs();
        let mut table = SparseTerms {
            apart: Vec::with_capacity(2 * classes.len() * self.n_labels()),
            class_of: Vec::with_capacity(self.n_labels()),
            starts: vec![0],
            together: Vec::with_capacity(n_pairs),
            terms: Vec::with_capacity(n_pairs),
        };
        for &label in classes.values() {
            self.apart(label).into_iter().for_each(|terms| table.apart.extend(terms));
        }
        let at: BTreeMap<u32, u32> = classes.keys().copied().zip(0..).collect();
        table.class_of.extend(self.counts.in_whole.iter().map(|count| at[count]));
        for pairs in &self.counts.pairs {
            for &pair in pairs {
                table.together.push(pair.target);
                table.terms.push(self.terms(pair));
            }
            table.starts.push(table.together.len());
        }
        table
    }
}

impl CoOccurrence {
    /// Whether the terms are sparse, and those of so many labels fit into a dense table that stays in the cache of a
    /// processor. A walk over many rows then goes by [`to_dense`](CoOccurrence::to_dense): it reads each term as
    /// often as there are rows.
    pub(super) fn is_worth_expanding(&self, n_labels: usize) -> bool {
        const MOST_BYTES: u64 = 1 << 20;
        matches!(self, CoOccurrence::Sparse(_)) && dense_bytes(n_labels) <= MOST_BYTES
    }

    /// The same terms, all of them written out where they are sparse.
    pub(super) fn to_dense(&self, n_labels: usize) -> CoOccurrence {
        let CoOccurrence::Sparse(sparse) = self else { return self.clone() };
        let mut table = Vec::with_capacity(2 * n_labels * n_labels);
        for (&class, owned) in sparse.class_of.iter().zip(sparse.starts.windows(2)) {
            let (start, owned) = (table.len(), owned[0]..owned[1]);
            let apart = 2 * class as usize * n_labels;
            table.extend_from_slice(&sparse.apart[apart..apart + 2 * n_labels]);
            let pairs = sparse.together[owned.clone()].iter().zip(&sparse.terms[owned]);
            for (&target, terms) in pairs {
                let of_0 = start + target as usize;
                [table[of_0], table[of_0 + n_labels]] = *terms;
            }
        }
        CoOccurrence::Dense(table)
    }

    /// Adds the terms of a decision to the log-odds of every label.
    pub(super) fn observe(&self, label: LabelId, relevant: bool, log_odds: &mut [f64]) {
        let (n, value) = (log_odds.len(), usize::from(relevant));
        match self {
            CoOccurrence::Independent => {}
            CoOccurrence::Dense(table) => {
                let start = (2 * label.0 + value) * n;
                add(log_odds, &table[start..start + n]);
            }
            CoOccurrence::Sparse(table) => {
                let start = (2 * table.class_of[label.0] as usize + value) * n;
                let apart = &table.apart[start..start + n];
                let owned = table.starts[label.0]..table.starts[label.0 + 1];
                let together = &table.together[owned.clone()];
                // What is added to labels it occurs with is found before, and written after the others.
                let pairs = together.iter().zip(&table.terms[owned]);
                let sums = pairs.map(|(&target, terms)| log_odds[target as usize] + terms[value]);
                let sums: Vec<f64> = sums.collect();
                add(log_odds, apart);
                for (&target, sum) in together.iter().zip(sums) {
                    log_odds[target as usize] = sum;
                }
            }
        }
    }

    /// Whether it fits so many labels, as it does unless it was decoded.
    pub(super) fn fits(&self, n_labels: usize) -> bool {
        match self {
            CoOccurrence::Independent => true,
            CoOccurrence::Dense(table) => n_labels.checked_mul(2 * n_labels) == Some(table.len()),
            CoOccurrence::Sparse(SparseTerms { apart, class_of, starts, together, terms }) => {
                let n_classes = apart.len().checked_div(2 * n_labels).unwrap_or(0);
                let ends = (starts.first(), starts.last());
                let ascends = |of: &[usize]| together[of[0]..of[1]].is_sorted_by(|a, b| a < b);
                apart.len() == n_classes * 2 * n_labels
                    && class_of.len() == n_labels
                    && class_of.iter().all(|&class| (class as usize) < n_classes)
                    && starts.len() == n_labels + 1
                    && ends == (Some(&0), Some(&together.len()))
                    && starts.is_sorted()
                    && together.len() == terms.len()
                    && together.iter().all(|&target| (target as usize) < n_labels)
                    && starts.windows(2).all(ascends)
            }
        }
    }
}

/// Decides the labels of many rows in the same order. `log_odds` are by row, then by label, from the inputs alone, and
/// become those at the moment of each decision; `table` is that of [`CoOccurrence::Dense`].
///
/// Label after label, over all rows: what the decision about a label adds to an open one is one of two terms, the same
/// two for every row, so that a SIMD register of rows needs a comparison, a choice and an addition. To each sum the
/// same numbers are added in the same order as by [`CoOccurrence::observe`], row by row.
pub(super) fn decide_in_one_order(table: &[f64], order: &Order, log_odds: &mut [f64]) {
    /// Rows that are decided at a time: their log-odds stay in the cache for up to a hundred labels.
    const ROWS: usize = 32;
    let (order, n_labels): (Vec<usize>, _) =
        (order.iter().map(|label| label.0).collect(), order.len());
    let mut by_label = vec![[0.0; ROWS]; n_labels];
    for rows in log_odds.chunks_mut(ROWS * n_labels.max(1)) {
        for (row, log_odds) in rows.chunks(n_labels).enumerate() {
            by_label.iter_mut().zip(log_odds).for_each(|(of, &log_odds)| of[row] = log_odds);
        }
        vectorized(
            #[inline(always)]
            || {
                for (place, &label) in order.iter().enumerate() {
                    let decided = by_label[label];
                    let terms = &table[2 * label * n_labels..2 * (label + 1) * n_labels];
                    let (if_irrelevant, if_relevant) = terms.split_at(n_labels);
                    for &open in &order[place + 1..] {
                        let (no, yes) = (if_irrelevant[open], if_relevant[open]);
                        for (log_odds, &decided) in by_label[open].iter_mut().zip(&decided) {
                            let is_relevant = Score::LogOdds(decided).is_relevant();
                            *log_odds += if is_relevant { yes } else { no };
                        }
                    }
                }
            },
        );
        for (row, log_odds) in rows.chunks_mut(n_labels).enumerate() {
            by_label.iter().zip(log_odds).for_each(|(of, log_odds)| *log_odds = of[row]);
        }
    }
}

/// Adds terms to sums, many at a time. Few are added sooner than the processor is asked for its registers.
pub(super) fn add(sums: &mut [f64], terms: &[f64]) {
    const FEW: usize = 16;
    #[inline(always)]
    fn each(sums: &mut [f64], terms: &[f64]) {
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    if terms.len() < FEW {
        each(sums, terms);
    } else {
        vectorized(
            #[inline(always)]
            || each(sums, terms),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Fifty rows of 30 labels, of which most are rare; every third label learns from 12 rows only.
    #[test]
    fn both_tables_add_the_terms_of_the_formula() {
        let n_labels = 30;
        let mut labels = LabelMatrix::new(n_labels);
        let mut rng = Seed::new(3).child("labels", 0).rng();
        for row in 0..50 {
            labels.push_row();
            for _ in 0..3 {
                let label = rng.below(n_labels) * rng.below(n_labels) / n_labels;
                labels.set(row, LabelId(label), true);
            }
        }
        let (all, few): (Vec<usize>, Vec<usize>) = ((0..50).collect(), (5..17).collect());
        let is_thinned = |label: &usize| label.is_multiple_of(3);
        let whole = (0..n_labels).filter(|label| !is_thinned(label)).map(LabelId).collect();
        let mut groups = vec![Group { rows: &all, labels: whole }];
        for label in (0..n_labels).filter(is_thinned) {
            groups.push(Group { rows: &few, labels: vec![LabelId(label)] });
        }
        let rows_of = |label: usize| if is_thinned(&label) { &few } else { &all };
        let count = |rows: &[usize], what: &dyn Fn(usize) -> bool| {
            rows.iter().filter(|&&row| what(row)).count() as f64
        };
        let has = |row: usize, label: usize| labels.get(row, LabelId(label));
        let classes: Vec<[f64; 2]> = (0..n_labels)
            .map(|j| [false, true].map(|y| count(rows_of(j), &|row| has(row, j) == y)))
            .collect();
        let counts = Counts::new(&classes, PairCounts::of(&labels, &groups));
        let view =
            |label: usize| LabelView { rows: rows_of(label)[..].into(), features: [].into() };
        let views: Vec<LabelView> = (0..n_labels).map(view).collect();
        let tables = [
            CoOccurrence::Dense(counts.dense()),
            CoOccurrence::Sparse(counts.sparse()),
            CoOccurrence::of_partial(&labels, &views),
        ];
        // What is counted in two parts is what is counted in one.
        let part = |rows: std::ops::Range<usize>| {
            let some = |all: &[usize]| -> Vec<usize> {
                all.iter().copied().filter(|row| rows.contains(row)).collect()
            };
            let (all, few) = (some(&all), some(&few));
            let mut groups = vec![Group { rows: &all, labels: groups[0].labels.clone() }];
            for label in (0..n_labels).filter(is_thinned) {
                groups.push(Group { rows: &few, labels: vec![LabelId(label)] });
            }
            PairCounts::of(&labels, &groups)
        };
        assert_eq!(part(0..11).plus(&part(11..50)), counts.counts);
        assert!(tables[1].is_worth_expanding(n_labels) && !tables[0].is_worth_expanding(n_labels));
        assert_eq!(tables[1].to_dense(n_labels), tables[0]);
        assert!(counts.n_pairs() < n_labels * n_labels / 2, "{}", counts.n_pairs());
        for (a, relevant) in (0..n_labels).flat_map(|a| [(a, false), (a, true)]) {
            let term = |j: usize| {
                let share = |y: usize| {
                    let is_met = |row| has(row, a) == relevant && has(row, j) == (y == 1);
                    (count(rows_of(j), &is_met) + 1.0) / (classes[j][y] + 2.0)
                };
                0.5 + (share(1).ln() - share(0).ln())
            };
            let expected: Vec<f64> = (0..n_labels).map(term).collect();
            for table in &tables {
                assert!(table.fits(n_labels) && !table.fits(n_labels + 1));
                let mut log_odds = vec![0.5; n_labels];
                table.observe(LabelId(a), relevant, &mut log_odds);
                assert_eq!(log_odds, expected, "{a} {relevant}");
            }
        }
    }

    /// 70 rows, which is more than are decided at a time and no multiple of it, of 17 labels.
    #[test]
    fn rows_decided_together_are_decided_as_one_by_one() {
        let (n_rows, n_labels) = (70, 17);
        let mut rng = Seed::new(5).rng();
        let table: Vec<f64> = (0..2 * n_labels * n_labels).map(|_| rng.normal()).collect();
        let from_inputs: Vec<f64> = (0..n_rows * n_labels).map(|_| 3.0 * rng.normal()).collect();
        let mut order: Vec<LabelId> = (0..n_labels).map(LabelId).collect();
        rng.shuffle(&mut order);
        let order = Order::new(order, n_labels).unwrap();
        let mut together = from_inputs.clone();
        decide_in_one_order(&table, &order, &mut together);
        let terms = CoOccurrence::Dense(table);
        for (row, found) in from_inputs.chunks(n_labels).zip(together.chunks(n_labels)) {
            let (mut log_odds, mut alone) = (row.to_vec(), vec![f64::NAN; n_labels]);
            for label in order.iter() {
                alone[label.0] = log_odds[label.0];
                terms.observe(label, alone[label.0] > 0.0, &mut log_odds);
            }
            assert_eq!(found, alone);
        }
        assert_ne!(together, from_inputs, "decisions change open labels");
    }

    /// Rows of labels a, b as (1, 1), (1, 0), (0, ?), (?, 1), (0, 0), all of which both learn from where
    /// they are known.
    #[test]
    fn pairs_are_counted_in_rows_that_know_both() {
        let cells = [
            [Some(true), Some(true)],
            [Some(true), Some(false)],
            [Some(false), None],
            [None, Some(true)],
            [Some(false), Some(false)],
        ];
        let mut labels = LabelMatrix::unknown(5, 2);
        for (row, cells) in cells.iter().enumerate() {
            for (label, cell) in cells.iter().enumerate() {
                cell.iter().for_each(|&relevant| labels.set(row, LabelId(label), relevant));
            }
        }
        let view = |rows: &[usize]| LabelView { rows: rows.into(), features: [].into() };
        let views = [view(&[0, 1, 2, 4]), view(&[0, 1, 3, 4])];
        let mut log_odds = [0.0; 2];
        CoOccurrence::of_partial(&labels, &views).observe(LabelId(0), true, &mut log_odds);
        // Of the rows that know both, b is relevant to one, in which a is, too; and irrelevant to two,
        // in one of which a is: (1 + 1) / (1 + 2) against (1 + 1) / (2 + 2).
        assert_eq!(log_odds[1], (2.0f64 / 3.0).ln() - (2.0f64 / 4.0).ln());
    }
}
