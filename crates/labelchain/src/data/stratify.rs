//! Folds in which every label keeps its share of relevant rows, and how well that went.
//!
//! Iterative stratification (Sechidis, Tsoumakas, Vlahavas: *On the Stratification of Multi-Label
//! Data*, 2011) places the rows of the rarest label first, while there is still a choice. Its
//! second order (Szymański, Kajdanowicz: *A Network Perspective on Stratification of Multi-Label
//! Data*, 2017) does the same for pairs of labels.
//!
//! One rule is ours: a fold that has all its rows takes no more. The papers let a fold grow as
//! long as it wants a label, so all labels with one or two rows go to the larger part of an 80/20
//! hold-out, however many they are. While no fold is full the algorithms are theirs.

use std::ops::Range;

use super::LabelMatrix;
use super::split::{Folds, Lists, largest_first, members, share_of};
use super::split::{check_enough, check_listable, check_n_folds, check_share};
use crate::error::{Error, Result};
use crate::seed::{Rng, Seed};

/// What is shared out evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Balance {
    /// The relevant rows of every label.
    #[default]
    Labels,
    /// The rows of every pair of labels that occurs, a label with itself included, so that rows
    /// with one label take part.
    Pairs,
}

/// Cuts rows into folds of the given shares, each label spread over them in proportion.
///
/// Again and again the label (or pair) with the fewest rows left is taken, and each of its rows
/// goes to the fold that wants the label most, where a fold wants share · rows of the label, less
/// those it has. Ties go to the fold that wants most rows of any kind, then to chance. Rows without
/// a label come last and go where rows are wanted.
///
/// A fold gets floor(share · rows) rows or one more. With `groups` (any number per row) a group is
/// placed whole, as the sum of its rows and the largest first, into a fold with room for it. Where
/// none has room the fold that wants most rows takes it, so a fold grows too large by less than the
/// largest group.
///
/// With equal shares and no groups the rows of the rarest label differ by at most one between
/// folds; so do those of every label if no row has two. Otherwise rarer labels decide for some
/// rows of a label, and even one with as many rows as there are folds can be lacking in a fold.
///
/// Equal `shares` make folds for cross-validation, two make a hold-out: of `[0.7, 0.3]` fold 1 has
/// the rows to test on. Time grows with rows · folds and with the labels (pairs) of all rows,
/// memory with labels (pairs) · folds.
///
/// ```
/// use labelchain::data::{LabelId, LabelMatrix};
/// use labelchain::data::stratify::{Balance, equal_shares, stratify};
/// use labelchain::seed::Seed;
///
/// let mut labels = LabelMatrix::empty(9, 1);
/// (0..3).for_each(|row| labels.set(row, LabelId(0), true));
/// let folds = stratify(&labels, &equal_shares(3)?, Balance::Labels, None, Seed::new(1))?;
/// for fold in 0..3 {
///     assert_eq!(labels.select(&folds.test_rows(fold)).counts(), [1]);
/// }
/// # Ok::<(), labelchain::error::Error>(())
/// ```
///
/// # Errors
/// Fewer than two shares, or shares that do not sum to 1; fewer rows (or groups) than folds, or
/// too few for the smallest share to be a row; more or fewer entries in `groups` than rows;
/// unequal shares and groups so large that a fold stays empty.
pub fn stratify(
    labels: &LabelMatrix,
    shares: &[f64],
    balance: Balance,
    groups: Option<&[usize]>,
    seed: Seed,
) -> Result<Folds> {
    check_shares(shares)?;
    let seed = seed.child("stratify", 0);
    let units = Units::new(labels.n_rows(), groups, seed)?;
    check_enough(units.len(), shares.len(), groups.is_some())?;
    let sizes = shares
        .iter()
        .map(|&share| share_of(labels.n_rows(), "share of a fold", share))
        .collect::<Result<Vec<usize>>>()?;

    let mut strata = Lists::new();
    for &row in &units.rows {
        strata.push(labels.relevant(row as usize).map(|label| label.0 as u32));
    }
    let mut n_strata = labels.n_labels();
    if balance == Balance::Pairs {
        (strata, n_strata) = pairs(&strata, n_strata, true);
    }
    let fold_of_unit = place(&strata, n_strata, &units, shares, &sizes, seed);

    let mut fold_of = vec![0; labels.n_rows()];
    for (unit, fold) in fold_of_unit.into_iter().enumerate() {
        units.range(unit).for_each(|at| fold_of[units.rows[at] as usize] = fold);
    }
    let folds = Folds::new(fold_of, shares.len())?;
    if folds.sizes().contains(&0) {
        Err(Error::Setting {
            name: "shares",
            value: format!("{shares:?}"),
            accepted: "large enough for whole groups: a fold is left without rows",
        })
    } else {
        Ok(folds)
    }
}

/// The shares of cross-validation: `n_folds` times the same.
pub fn equal_shares(n_folds: usize) -> Result<Vec<f64>> {
    check_n_folds(n_folds)?;
    Ok(vec![1.0 / n_folds as f64; n_folds])
}

/// What is placed as one: the rows of a group, or a single row.
struct Units {
    /// All rows, those of a unit next to each other. The order is that of placement.
    rows: Vec<u32>,
    /// Unit u owns `starts[u]..starts[u + 1]` of the rows.
    starts: Vec<usize>,
    /// The unit of each place in `rows`.
    unit_at: Vec<u32>,
}

impl Units {
    fn new(n_rows: usize, groups: Option<&[usize]>, seed: Seed) -> Result<Units> {
        check_listable(n_rows)?;
        let members = match groups {
            None => {
                let mut alone = Lists::new();
                (0..n_rows as u32).for_each(|row| alone.push([row]));
                alone
            }
            Some(groups) if groups.len() == n_rows => members(groups),
            Some(groups) => {
                let (expected, found) = (n_rows, groups.len());
                return Err(Error::Shape { what: "groups of rows", expected, found });
            }
        };
        let mut units = Units { rows: vec![], starts: vec![0], unit_at: vec![] };
        for group in largest_first(&members, seed) {
            units.unit_at.resize(units.rows.len() + members.get(group).len(), units.len() as u32);
            units.rows.extend_from_slice(members.get(group));
            units.starts.push(units.rows.len());
        }
        Ok(units)
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn range(&self, unit: usize) -> Range<usize> {
        self.starts[unit]..self.starts[unit + 1]
    }
}

/// The fold of each unit. `strata` holds, for each place in `units.rows`, what is to be balanced.
fn place(
    strata: &Lists,
    n_strata: usize,
    units: &Units,
    shares: &[f64],
    sizes: &[usize],
    seed: Seed,
) -> Vec<usize> {
    let n_folds = shares.len();
    let places = strata.inverted(n_strata);
    let mut left: Vec<usize> = (0..n_strata).map(|stratum| places.get(stratum).len()).collect();
    let mut given = vec![0u32; n_strata * n_folds];
    let mut folds = Filling {
        shares,
        sizes,
        n_over: units.rows.len().saturating_sub(sizes.iter().sum()),
        given: vec![0; n_folds],
        n_rows: units.rows.len(),
        rng: seed.child("ties", 0).rng(),
    };
    let mut fold_of_unit: Vec<Option<usize>> = vec![None; units.len()];

    let mut queue = Queue::new(&left);
    let mut fallen = vec![];
    let mut has_fallen = vec![false; n_strata];
    while let Some(rarest) = queue.pop(&left, &mut folds.rng) {
        let n_all = places.get(rarest).len() as f64;
        for &at in places.get(rarest) {
            let unit = units.unit_at[at as usize] as usize;
            if fold_of_unit[unit].is_some() {
                continue;
            }
            let has = &given[rarest * n_folds..][..n_folds];
            let wants = |fold: usize| shares[fold] * n_all - f64::from(has[fold]);
            let fold = folds.take(units.range(unit).len(), wants);
            fold_of_unit[unit] = Some(fold);
            for stratum in units.range(unit).flat_map(|at| strata.get(at)) {
                let stratum = *stratum as usize;
                given[stratum * n_folds + fold] += 1;
                left[stratum] -= 1;
                if !has_fallen[stratum] {
                    has_fallen[stratum] = true;
                    fallen.push(stratum);
                }
            }
        }
        for stratum in fallen.drain(..) {
            has_fallen[stratum] = false;
            queue.by_count[left[stratum]].push(stratum as u32);
        }
    }
    // What carries no label: nothing is wanted but rows.
    let placed = fold_of_unit.into_iter().enumerate();
    placed
        .map(|(unit, fold)| fold.unwrap_or_else(|| folds.take(units.range(unit).len(), |_| 0.0)))
        .collect()
}

/// Strata by how many rows they have left, the fewest first, equals at random.
///
/// A stratum is entered again whenever its count falls, and an entry under another count than
/// today's is skipped. Looking for the fewest starts from 1 each time: it ends at a count whose
/// rows are all placed next, so all searches together take no more steps than there are rows.
struct Queue {
    by_count: Vec<Vec<u32>>,
}

impl Queue {
    fn new(left: &[usize]) -> Queue {
        let max_count = left.iter().copied().max().unwrap_or(0);
        let mut by_count = vec![vec![]; max_count + 1];
        left.iter().zip(0..).for_each(|(&count, stratum)| by_count[count].push(stratum));
        Queue { by_count }
    }

    fn pop(&mut self, left: &[usize], rng: &mut Rng) -> Option<usize> {
        for (count, strata) in self.by_count.iter_mut().enumerate().skip(1) {
            while !strata.is_empty() {
                let stratum = strata.swap_remove(rng.below(strata.len())) as usize;
                if left[stratum] == count {
                    return Some(stratum);
                }
            }
        }
        None
    }
}

/// Folds on their way to their sizes.
struct Filling<'a> {
    shares: &'a [f64],
    /// How many rows each fold is to have at least.
    sizes: &'a [usize],
    /// How many folds may still have one row more. Which ones is left open, for a fold that is
    /// full too early cannot take the label it lacks.
    n_over: usize,
    given: Vec<usize>,
    n_rows: usize,
    rng: Rng,
}

impl Filling<'_> {
    /// Gives `n` rows to one fold: of those with room the one that wants most of the label, then
    /// of all rows; without room anywhere, the one that wants most rows.
    fn take(&mut self, n: usize, wants: impl Fn(usize) -> f64) -> usize {
        let mut best = (0, (f64::NEG_INFINITY, f64::NEG_INFINITY));
        let mut n_equal = 0;
        for fold in 0..self.shares.len() {
            let has_room = self.given[fold] + n <= self.sizes[fold] + usize::from(self.n_over > 0);
            let wants_label = if has_room { wants(fold) } else { f64::NEG_INFINITY };
            let wants_rows = self.shares[fold] * self.n_rows as f64 - self.given[fold] as f64;
            let wanted = (wants_label, wants_rows);
            if wanted > best.1 {
                best = (fold, wanted);
                n_equal = 1;
            } else if wanted == best.1 {
                // The i-th equal replaces the chosen one with probability 1/i: all alike.
                n_equal += 1;
                if self.rng.below(n_equal) == 0 {
                    best.0 = fold;
                }
            }
        }
        let (fold, _) = best;
        if self.given[fold] <= self.sizes[fold] && self.given[fold] + n > self.sizes[fold] {
            self.n_over = self.n_over.saturating_sub(1);
        }
        self.given[fold] += n;
        fold
    }
}

/// For each list of labels the list of its pairs, numbered as they come, and how many there are.
/// Linear in the pairs met, whatever the number of labels.
fn pairs(labels_of: &Lists, n_labels: usize, with_itself: bool) -> (Lists, usize) {
    let skipped = usize::from(!with_itself);
    let n_pairs = |list: usize| {
        let n = labels_of.get(list).len();
        if with_itself { n * (n + 1) / 2 } else { n * n.saturating_sub(1) / 2 }
    };
    let mut pairs_of = Lists::zeros((0..labels_of.len()).map(n_pairs));
    let mut written = vec![0; labels_of.len()];
    let mut visits = vec![0; labels_of.len()];
    // The pair of the current first label with each second one, if met: (first label, number).
    let mut met = vec![(n_labels, 0); n_labels];
    let mut n_met = 0;
    let lists_of = labels_of.inverted(n_labels);
    for first in 0..n_labels {
        for &list in lists_of.get(first) {
            let list = list as usize;
            // Firsts ascend as the labels of a list do, so the visits tell where the first stands.
            for &second in &labels_of.get(list)[visits[list] + skipped..] {
                let pair = &mut met[second as usize];
                if pair.0 != first {
                    *pair = (first, n_met);
                    n_met += 1;
                }
                pairs_of.get_mut(list)[written[list]] = pair.1;
                written[list] += 1;
            }
            visits[list] += 1;
        }
    }
    (pairs_of, n_met as usize)
}

fn check_shares(shares: &[f64]) -> Result<()> {
    check_n_folds(shares.len())?;
    shares.iter().try_for_each(|&share| check_share("share of a fold", share))?;
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() < 1e-9 {
        Ok(())
    } else {
        Err(Error::Setting {
            name: "sum of the shares",
            value: sum.to_string(),
            accepted: "1, so that every row has a fold",
        })
    }
}

/// How evenly folds share out rows and labels; 0 is best throughout.
///
/// Of k folds, fold j has the rows S_j and those of them with label i relevant, S_j^i; D and D^i
/// are the same of all rows. Odds are relevant over irrelevant rows.
///
/// | Field | Formula |
/// |---|---|
/// | `rows` (ED) | mean over folds of \| \|S_j\| - share_j · \|D\| \| |
/// | `labels` (LD) | mean over labels of the mean over folds of \| odds(S_j^i in S_j) - odds(D^i in D) \| |
/// | `pairs` (LPD) | the same for the pairs of different labels that occur together |
/// | `n_folds_lacking` (FZ) | folds with S_j^i empty for at least one label |
/// | `n_lacking` (FLZ) | pairs of fold and label with S_j^i empty |
///
/// Where a fold has no row without the label, its odds are taken over one irrelevant row. A label
/// relevant to all rows or to none cannot be cut unevenly: it counts as 0 in LD, and one relevant
/// to none is lacking nowhere. The mean over no labels or no pairs is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Examples distribution, ED: how many rows a fold is off its size.
    pub rows: f64,
    /// Labels distribution, LD: how far a label's odds in a fold are from its odds overall.
    pub labels: f64,
    /// Label pair distribution, LPD: the same for two labels relevant to one row.
    pub pairs: f64,
    /// Folds that lack a label, FZ.
    pub n_folds_lacking: usize,
    /// Labels lacking, summed over folds, FLZ.
    pub n_lacking: usize,
}

impl Quality {
    /// Measures folds that were to have the given shares of the rows.
    pub fn measure(folds: &Folds, labels: &LabelMatrix, shares: &[f64]) -> Result<Quality> {
        Error::unless_same("rows cut into folds", labels.n_rows(), folds.n_rows())?;
        Error::unless_same("shares of folds", folds.n_folds(), shares.len())?;
        check_listable(labels.n_rows())?;

        let mut labels_of = Lists::new();
        for row in 0..labels.n_rows() {
            labels_of.push(labels.relevant(row).map(|label| label.0 as u32));
        }
        let (pairs_of, n_pairs) = pairs(&labels_of, labels.n_labels(), false);
        let counts = counts_by_fold(&labels_of, labels.n_labels(), folds);

        let n_rows = labels.n_rows() as f64;
        let sizes = folds.sizes();
        let off =
            sizes.iter().zip(shares).map(|(&size, share)| (size as f64 - share * n_rows).abs());
        let mut lacking = vec![0; folds.n_folds()];
        for counts in counts.iter().filter(|counts| counts.iter().any(|&n| n > 0)) {
            lacking
                .iter_mut()
                .zip(counts)
                .for_each(|(lacking, &n)| *lacking += usize::from(n == 0));
        }
        Ok(Quality {
            rows: off.sum::<f64>() / folds.n_folds() as f64,
            labels: distribution(&counts, &sizes),
            pairs: distribution(&counts_by_fold(&pairs_of, n_pairs, folds), &sizes),
            n_folds_lacking: lacking.iter().filter(|&&n| n > 0).count(),
            n_lacking: lacking.iter().sum(),
        })
    }
}

/// How many rows of each fold each stratum has.
fn counts_by_fold(strata_of: &Lists, n_strata: usize, folds: &Folds) -> Vec<Vec<usize>> {
    let mut counts = vec![vec![0; folds.n_folds()]; n_strata];
    for (row, &fold) in folds.fold_of().iter().enumerate() {
        let Some(fold) = fold else { continue };
        strata_of.get(row).iter().for_each(|&stratum| counts[stratum as usize][fold] += 1);
    }
    counts
}

/// The mean over strata and folds of how far the odds in the fold are from the odds overall.
fn distribution(counts: &[Vec<usize>], sizes: &[usize]) -> f64 {
    let n_rows: usize = sizes.iter().sum();
    let odds = |relevant: usize, all: usize| relevant as f64 / (all - relevant).max(1) as f64;
    let mut sum = 0.0;
    for counts in counts {
        let relevant: usize = counts.iter().sum();
        if relevant < n_rows {
            let overall = odds(relevant, n_rows);
            let folds = counts.iter().zip(sizes);
            sum += folds.map(|(&n, &size)| (odds(n, size) - overall).abs()).sum::<f64>();
        }
    }
    sum / (counts.len() * sizes.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelId, split};
    use proptest::prelude::*;

    /// One string a row, one letter a label: "ac" has labels 0 and 2.
    fn labels(n_labels: usize, rows: &[&str]) -> LabelMatrix {
        let mut labels = LabelMatrix::new(n_labels);
        for letters in rows {
            let row = labels.push_row();
            for letter in letters.bytes() {
                labels.set(row, LabelId((letter - b'a') as usize), true);
            }
        }
        labels
    }

    fn cut(labels: &LabelMatrix, n_folds: usize, balance: Balance, seed: u64) -> Folds {
        stratify(labels, &equal_shares(n_folds).unwrap(), balance, None, Seed::new(seed)).unwrap()
    }

    fn counts(labels: &LabelMatrix, folds: &Folds) -> Vec<Vec<usize>> {
        (0..folds.n_folds()).map(|fold| labels.select(&folds.test_rows(fold)).counts()).collect()
    }

    /// Labels that grow rarer by half, and come in company.
    fn imbalanced(n_rows: usize, n_labels: usize, seed: u64) -> LabelMatrix {
        let mut rng = Seed::new(seed).rng();
        let mut labels = LabelMatrix::empty(n_rows, n_labels);
        for row in 0..n_rows {
            let company = if rng.chance(0.3) { 1.5 } else { 0.5 };
            for label in labels.ids() {
                let relevant = rng.chance(company * 0.5f64.powi(label.0 as i32 + 1));
                labels.set(row, label, relevant);
            }
        }
        labels
    }

    fn tables() -> impl Strategy<Value = LabelMatrix> {
        (0usize..8).prop_flat_map(|n_labels| {
            let row = proptest::collection::vec(proptest::bool::weighted(0.3), n_labels);
            proptest::collection::vec(row, 2..60).prop_map(move |rows| {
                let mut labels = LabelMatrix::empty(rows.len(), n_labels);
                for (at, row) in rows.iter().enumerate() {
                    labels.ids().zip(row).for_each(|(label, &is)| labels.set(at, label, is));
                }
                labels
            })
        })
    }

    fn balances() -> impl Strategy<Value = Balance> {
        prop_oneof![Just(Balance::Labels), Just(Balance::Pairs)]
    }

    #[test]
    fn each_fold_gets_its_share_of_each_label() {
        let labels = labels(2, &["a", "a", "a", "b", "b", "b", "", "", ""]);
        for seed in 0..20 {
            let folds = cut(&labels, 3, Balance::Labels, seed);
            assert_eq!(counts(&labels, &folds), [[1, 1], [1, 1], [1, 1]]);
            assert_eq!(folds.sizes(), [3, 3, 3]);
        }
    }

    #[test]
    fn pairs_are_spread_where_labels_alone_might_not_be() {
        let labels = labels(2, &["ab", "ab", "a", "a", "b", "b"]);
        let apart = |balance, seed| {
            let folds = cut(&labels, 2, balance, seed);
            folds.fold_of()[0] != folds.fold_of()[1]
        };
        assert!((0..20).all(|seed| apart(Balance::Pairs, seed)));
        assert!(!(0..20).all(|seed| apart(Balance::Labels, seed)));
    }

    /// Two rows have label a and there are two folds, yet b, c and d decide where those rows go.
    #[test]
    fn rarer_labels_can_take_a_label_from_a_fold() {
        let labels = labels(4, &["ab", "ac", "d", ""]);
        let lacking = |seed| counts(&labels, &cut(&labels, 2, Balance::Labels, seed))[0][0] != 1;
        assert!((0..20).any(lacking) && !(0..20).all(lacking));
    }

    /// Each fold wants 0.8 or 0.2 of a label that has one row: by labels alone all go to the first.
    #[test]
    fn labels_of_one_row_do_not_starve_the_smaller_part() {
        let labels = labels(5, &["a", "b", "c", "d", "e"]);
        for balance in [Balance::Labels, Balance::Pairs] {
            let folds = stratify(&labels, &[0.8, 0.2], balance, None, Seed::new(1)).unwrap();
            assert_eq!(folds.sizes(), [4, 1]);
        }
    }

    #[test]
    fn a_hold_out_has_the_shares_asked_for() {
        let labels = imbalanced(1000, 5, 1);
        let folds = stratify(&labels, &[0.7, 0.3], Balance::Labels, None, Seed::new(1)).unwrap();
        assert_eq!(folds.sizes(), [700, 300]);
        let test = labels.select(&folds.test_rows(1));
        for (n, n_test) in labels.counts().into_iter().zip(test.counts()) {
            assert!((n_test as f64 - 0.3 * n as f64).abs() <= 1.0, "{n_test} of {n}");
        }
    }

    #[test]
    fn a_group_counts_as_the_sum_of_its_rows() {
        // Two groups of two rows with the label, two without: one of each kind in each fold.
        let labels = labels(1, &["a", "a", "a", "a", "", "", "", ""]);
        let groups = [7, 7, 3, 3, 5, 5, 1, 1];
        for seed in 0..20 {
            let seed = Seed::new(seed);
            let folds =
                stratify(&labels, &equal_shares(2).unwrap(), Balance::Labels, Some(&groups), seed)
                    .unwrap();
            assert_eq!(counts(&labels, &folds), [[2], [2]]);
            assert_eq!(folds.sizes(), [4, 4]);
        }
    }

    #[test]
    fn groups_of_one_row_are_rows() {
        let labels = imbalanced(100, 4, 1);
        let groups: Vec<usize> = (0..100).collect();
        let cut = |groups| {
            stratify(&labels, &equal_shares(4).unwrap(), Balance::Labels, groups, Seed::new(1))
                .unwrap()
        };
        assert_eq!(cut(None), cut(Some(&groups)));
    }

    #[test]
    fn labels_that_say_nothing_leave_sizes_to_decide() {
        let none = LabelMatrix::empty(10, 0);
        let never = LabelMatrix::empty(10, 2);
        let always = labels(1, &["a"; 10]);
        for labels in [none, never, always] {
            for balance in [Balance::Labels, Balance::Pairs] {
                let folds = cut(&labels, 4, balance, 1);
                let mut sizes = folds.sizes();
                sizes.sort_unstable();
                assert_eq!(sizes, [2, 2, 3, 3]);
                let shares = equal_shares(4).unwrap();
                let quality = Quality::measure(&folds, &labels, &shares).unwrap();
                assert_eq!((quality.labels, quality.pairs, quality.n_lacking), (0.0, 0.0, 0));
            }
        }
    }

    #[test]
    fn what_cannot_be_cut_is_said() {
        let rows = labels(1, &["a", "", "a"]);
        let message = |shares: &[f64], groups: Option<&[usize]>| {
            stratify(&rows, shares, Balance::Labels, groups, Seed::new(1)).unwrap_err().to_string()
        };
        assert_eq!(
            message(&equal_shares(4).unwrap(), None),
            "cutting into 4 folds needs at least 4 rows; 3 given"
        );
        assert_eq!(
            message(&equal_shares(2).unwrap(), Some(&[9, 9, 9])),
            "cutting into 2 folds, each group as one row, needs at least 2 rows; 1 given"
        );
        assert_eq!(
            message(&[0.9, 0.1], None),
            "a share of a fold of 0.1 needs at least 10 rows; 3 given"
        );
        assert_eq!(
            message(&[1.0], None),
            "folds is 1, but must be a whole number from 2 to 100000"
        );
        assert_eq!(message(&[], None), "folds is 0, but must be a whole number from 2 to 100000");
        assert_eq!(
            message(&[0.5, 0.4], None),
            "sum of the shares is 0.9, but must be 1, so that every row has a fold"
        );
        assert_eq!(
            message(&[1.5, -0.5], None),
            "share of a fold is 1.5, but must be above 0 and at most 1"
        );
        assert_eq!(
            message(&[f64::NAN, 0.5], None),
            "share of a fold is NaN, but must be above 0 and at most 1"
        );
        assert_eq!(
            message(&equal_shares(2).unwrap(), Some(&[1])),
            "groups of rows: expected 3, found 1"
        );
    }

    #[test]
    fn groups_too_large_for_a_share_are_refused() {
        let labels = LabelMatrix::empty(10, 0);
        let groups = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
        let shares = [0.9, 0.1];
        let cut = stratify(&labels, &shares, Balance::Labels, Some(&groups), Seed::new(1));
        assert!(matches!(cut, Err(Error::Setting { name: "shares", .. })));
    }

    #[test]
    fn the_measures_follow_their_formulas() {
        // Label a: odds 2/2 overall. Fold 0 has rows 0 and 1, both relevant: 2 over one pretended
        // irrelevant row, off by 1; fold 1 has none: 0/2, off by 1. Label b: odds 1/3 overall, in
        // fold 0 1/1, off by 2/3; in fold 1 0/2, off by 1/3. The pair ab is that row of b again.
        let labels = labels(2, &["ab", "a", "", ""]);
        let folds = Folds::new(vec![0, 0, 1, 1], 2).unwrap();
        let quality = Quality::measure(&folds, &labels, &[0.75, 0.25]).unwrap();
        assert_eq!(quality.rows, 1.0);
        assert!((quality.labels - (1.0 + 0.5) / 2.0).abs() < 1e-15);
        assert!((quality.pairs - 0.5).abs() < 1e-15);
        assert_eq!((quality.n_folds_lacking, quality.n_lacking), (1, 2));
    }

    #[test]
    fn the_measures_want_tables_that_fit() {
        let folds = Folds::new(vec![0, 1], 2).unwrap();
        let (two, three) = (LabelMatrix::empty(2, 1), LabelMatrix::empty(3, 1));
        assert!(Quality::measure(&folds, &two, &equal_shares(2).unwrap()).is_ok());
        assert!(Quality::measure(&folds, &three, &equal_shares(2).unwrap()).is_err());
        assert!(Quality::measure(&folds, &two, &equal_shares(3).unwrap()).is_err());
    }

    #[test]
    fn pairs_are_numbered_as_they_are_met() {
        let mut lists = Lists::new();
        [vec![0, 2], vec![], vec![1], vec![0, 1, 2]].into_iter().for_each(|list| lists.push(list));
        // Met in this order: 00 02 01, then 11 12, then 22.
        let (with, n_with) = pairs(&lists, 3, true);
        assert_eq!((with.get(0), with.get(1), with.get(2)), (&[0, 1, 5][..], &[][..], &[3][..]));
        assert_eq!((with.get(3), n_with), (&[0, 2, 1, 3, 4, 5][..], 6));
        let (without, n_without) = pairs(&lists, 3, false);
        assert_eq!((without.get(0), without.get(2)), (&[0][..], &[][..]));
        assert_eq!((without.get(3), n_without), (&[1, 0, 2][..], 3));
    }

    #[test]
    fn stratified_folds_are_more_even_than_plain_ones() {
        for seed in 0..20 {
            let labels = imbalanced(400, 7, seed);
            let plain = split::folds(400, 10, Seed::new(seed)).unwrap();
            let measure = |folds: &Folds| {
                Quality::measure(folds, &labels, &equal_shares(10).unwrap()).unwrap()
            };
            let plain = measure(&plain);
            let first = measure(&cut(&labels, 10, Balance::Labels, seed));
            let second = measure(&cut(&labels, 10, Balance::Pairs, seed));
            assert!(first.labels <= plain.labels && first.n_lacking <= plain.n_lacking);
            assert!(second.labels <= plain.labels && second.pairs <= plain.pairs);
        }
    }

    /// Known answers: results of a saved seed must not move.
    #[test]
    fn the_folds_of_a_seed_are_pinned() {
        let labels = labels(3, &["a", "ab", "c", "", "bc", "a", "b", "", "ac", "abc"]);
        assert_eq!(cut(&labels, 3, Balance::Labels, 1).fold_of(), PINNED_LABELS.map(Some));
        assert_eq!(cut(&labels, 3, Balance::Pairs, 1).fold_of(), PINNED_PAIRS.map(Some));
    }
    const PINNED_LABELS: [usize; 10] = [1, 2, 0, 0, 0, 0, 1, 2, 1, 2];
    const PINNED_PAIRS: [usize; 10] = [0, 2, 0, 0, 1, 1, 1, 2, 2, 0];

    proptest! {
        #[test]
        fn sizes_are_the_shares_rounded(
            labels in tables(), balance in balances(), n_folds in 2usize..6, seed: u64,
        ) {
            prop_assume!(n_folds <= labels.n_rows());
            let sizes = cut(&labels, n_folds, balance, seed).sizes();
            let floor = labels.n_rows() / n_folds;
            prop_assert!(sizes.iter().all(|&n| n == floor || n == floor + 1), "{:?}", sizes);
        }

        #[test]
        fn unequal_sizes_are_the_shares_rounded(
            labels in tables(), balance in balances(), share in 0.05f64..0.95, seed: u64,
        ) {
            let shares = [share, 1.0 - share];
            let n_rows = labels.n_rows() as f64;
            match stratify(&labels, &shares, balance, None, Seed::new(seed)) {
                Ok(folds) => for (n, share) in folds.sizes().into_iter().zip(shares) {
                    prop_assert!((n as f64 - share * n_rows).abs() < 1.0 + 1e-9);
                },
                Err(_) => prop_assert!(shares.iter().any(|share| share * n_rows < 1.0)),
            }
        }

        #[test]
        fn as_many_folds_as_rows_leave_one_row_out_each(
            labels in tables(), balance in balances(), seed: u64,
        ) {
            let sizes = cut(&labels, labels.n_rows(), balance, seed).sizes();
            prop_assert!(sizes.iter().all(|&n| n == 1));
        }

        #[test]
        fn the_rarest_label_is_spread_to_within_one_row(
            labels in tables(), n_folds in 2usize..6, seed: u64,
        ) {
            prop_assume!(n_folds <= labels.n_rows());
            let all = labels.counts();
            let fewest = all.iter().copied().filter(|&n| n > 0).min();
            let rarest: Vec<usize> = (0..all.len()).filter(|&l| Some(all[l]) == fewest).collect();
            prop_assume!(rarest.len() == 1);
            let folds = counts(&labels, &cut(&labels, n_folds, Balance::Labels, seed));
            let floor = all[rarest[0]] / n_folds;
            prop_assert!(folds.iter().all(|n| [floor, floor + 1].contains(&n[rarest[0]])));
        }

        #[test]
        fn labels_that_never_meet_are_all_spread_to_within_one_row(
            row_labels in proptest::collection::vec(0usize..5, 2..60),
            n_folds in 2usize..6, balance in balances(), seed: u64,
        ) {
            prop_assume!(n_folds <= row_labels.len());
            // Number 4 stands for no label.
            let mut labels = LabelMatrix::empty(row_labels.len(), 4);
            for (row, &label) in row_labels.iter().enumerate().filter(|&(_, &label)| label < 4) {
                labels.set(row, LabelId(label), true);
            }
            let folds = counts(&labels, &cut(&labels, n_folds, balance, seed));
            for (label, n) in labels.counts().into_iter().enumerate() {
                let floor = n / n_folds;
                prop_assert!(folds.iter().all(|n| [floor, floor + 1].contains(&n[label])));
            }
        }

        #[test]
        fn groups_stay_whole_and_folds_near_their_size(
            labels in tables(), balance in balances(), n_folds in 2usize..5,
            numbers in proptest::collection::vec(0usize..12, 60), seed: u64,
        ) {
            let groups = &numbers[..labels.n_rows()];
            let shares = equal_shares(n_folds).unwrap();
            let Ok(folds) = stratify(&labels, &shares, balance, Some(groups), Seed::new(seed))
            else {
                let distinct: std::collections::BTreeSet<_> = groups.iter().collect();
                prop_assert!(distinct.len() < n_folds);
                return Ok(());
            };
            for (row, &fold) in folds.fold_of().iter().enumerate() {
                let first = groups.iter().position(|group| *group == groups[row]).unwrap();
                prop_assert_eq!(fold, folds.fold_of()[first]);
            }
            let size_of = |group| groups.iter().filter(|&other| *other == group).count();
            let largest = groups.iter().map(|&group| size_of(group)).max().unwrap();
            let ceiling = labels.n_rows().div_ceil(n_folds);
            prop_assert!(folds.sizes().into_iter().all(|n| 0 < n && n < ceiling + largest));
        }

        #[test]
        fn a_seed_decides(labels in tables(), balance in balances(), seed: u64) {
            prop_assert_eq!(cut(&labels, 2, balance, seed), cut(&labels, 2, balance, seed));
            // Of n rows cut in two, one seed in 2^(n/2) or so agrees by chance.
            if labels.n_rows() >= 10 {
                let first = cut(&labels, 2, balance, seed);
                let others = (1..20).map(|i| cut(&labels, 2, balance, seed.wrapping_add(i)));
                prop_assert!(others.into_iter().any(|other| other != first));
            }
        }
    }
}
