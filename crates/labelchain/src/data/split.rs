//! Which rows to fit on and which to keep back: folds, hold-outs and samples, all from one seed.
//!
//! These know nothing of labels; [`stratify`](super::stratify) cuts by them.

use crate::error::{Error, Result};
use crate::seed::Seed;

/// Which rows are tested together: each in one fold at most, and trained on in all others. In a
/// partition every row is tested once; in a [hold-out](Folds::of_holdout) most are only trained on.
///
/// ```
/// use labelchain::data::split::folds;
/// use labelchain::seed::Seed;
///
/// let folds = folds(5, 2, Seed::new(1))?;
/// assert_eq!(folds.sizes(), [3, 2]);
/// assert_eq!(folds.test_rows(0), folds.train_rows(1));
/// # Ok::<(), labelchain::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    n_folds: usize,
    fold_of: Vec<Option<usize>>,
}

impl Folds {
    /// The largest number of folds.
    pub const MAX: usize = 100_000;

    /// Folds made elsewhere: `fold_of[row]` is the fold in which a row is tested.
    pub fn new(fold_of: Vec<usize>, n_folds: usize) -> Result<Folds> {
        check_n_folds(n_folds)?;
        match fold_of.iter().find(|&&fold| fold >= n_folds) {
            None => Ok(Folds::partition(fold_of, n_folds)),
            Some(fold) => Err(Error::Setting {
                name: "fold of a row",
                value: fold.to_string(),
                accepted: "less than the number of folds",
            }),
        }
    }

    /// A hold-out as one fold, which tests the rows kept back.
    ///
    /// ```
    /// use labelchain::data::split::{Folds, holdout};
    /// use labelchain::seed::Seed;
    ///
    /// let cut = holdout(10, 0.7, Seed::new(1))?;
    /// let folds = Folds::of_holdout(&cut)?;
    /// assert_eq!((folds.n_folds(), folds.sizes()), (1, vec![3]));
    /// assert_eq!((folds.train_rows(0), folds.test_rows(0)), (cut.train, cut.test));
    /// # Ok::<(), labelchain::error::Error>(())
    /// ```
    pub fn of_holdout(cut: &Holdout) -> Result<Folds> {
        let (n_train, n_test) = (cut.train.len(), cut.test.len());
        if n_train == 0 || n_test == 0 {
            let purpose = format!("{n_train} rows to train on and {n_test} to test: each part");
            return Err(Error::TooFewRows { needed: 1, found: 0, purpose });
        }
        let mut fold_of = vec![None; n_train + n_test];
        let mut is_placed = vec![false; n_train + n_test];
        for (rows, fold) in [(&cut.train, None), (&cut.test, Some(0))] {
            for &row in rows {
                if is_placed.get(row) != Some(&false) {
                    return Err(Error::Setting {
                        name: "row of a hold-out",
                        value: row.to_string(),
                        accepted: "one of the rows, each in one part and none left out",
                    });
                }
                is_placed[row] = true;
                fold_of[row] = fold;
            }
        }
        Ok(Folds { n_folds: 1, fold_of })
    }

    /// Folds that test every row; each number is below `n_folds`.
    fn partition(fold_of: Vec<usize>, n_folds: usize) -> Folds {
        Folds { n_folds, fold_of: fold_of.into_iter().map(Some).collect() }
    }

    /// How many folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.fold_of.len()
    }

    /// The fold in which each row is tested; none if it is only trained on.
    pub fn fold_of(&self) -> &[Option<usize>] {
        &self.fold_of
    }

    /// The rows of a fold, ascending.
    pub fn test_rows(&self, fold: usize) -> Vec<usize> {
        self.rows_where(|of| of == Some(fold))
    }

    /// All other rows, ascending.
    pub fn train_rows(&self, fold: usize) -> Vec<usize> {
        self.rows_where(|of| of != Some(fold))
    }

    /// How many rows each fold tests.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_folds];
        self.fold_of.iter().flatten().for_each(|&fold| sizes[fold] += 1);
        sizes
    }

    fn rows_where(&self, wanted: impl Fn(Option<usize>) -> bool) -> Vec<usize> {
        (0..self.n_rows()).filter(|&row| wanted(self.fold_of[row])).collect()
    }
}

/// Two parts of the rows, one to learn from and one to look at afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdout {
    /// The rows to learn from, ascending.
    pub train: Vec<usize>,
    /// The rows kept back, ascending.
    pub test: Vec<usize>,
}

/// Plain folds as Mulan makes them: shuffle once, cut into consecutive blocks, the first
/// `n_rows mod n_folds` blocks one row longer. The seed is ours, so the rows are not Mulan's.
pub fn folds(n_rows: usize, n_folds: usize, seed: Seed) -> Result<Folds> {
    check_n_folds(n_folds)?;
    check_enough(n_rows, n_folds, false)?;
    let shuffled = shuffled(n_rows, seed.child("folds", 0));
    let mut fold_of = vec![0; n_rows];
    let mut start = 0;
    for fold in 0..n_folds {
        let end = start + n_rows / n_folds + usize::from(fold < n_rows % n_folds);
        shuffled[start..end].iter().for_each(|&row| fold_of[row] = fold);
        start = end;
    }
    Ok(Folds::partition(fold_of, n_folds))
}

/// Folds that keep the rows of a group together: `groups[row]` names the group, by any number.
///
/// The largest group goes first, each into the fold with the fewest rows, so two folds differ by
/// no more rows than the largest group has. The seed decides between groups or folds of equal size.
pub fn grouped_folds(groups: &[usize], n_folds: usize, seed: Seed) -> Result<Folds> {
    check_n_folds(n_folds)?;
    check_listable(groups.len())?;
    let members = members(groups);
    check_enough(members.len(), n_folds, true)?;
    let seed = seed.child("folds", 0);
    let rank = shuffled(n_folds, seed.child("ties", 0));
    let mut sizes = vec![0; n_folds];
    let mut fold_of = vec![0; groups.len()];
    for group in largest_first(&members, seed) {
        let smallest = (0..n_folds).min_by_key(|&fold| (sizes[fold], rank[fold])).unwrap_or(0);
        sizes[smallest] += members.get(group).len();
        members.get(group).iter().for_each(|&row| fold_of[row as usize] = smallest);
    }
    Ok(Folds::partition(fold_of, n_folds))
}

/// A share of the rows to train on, drawn at random; the rest to test on.
///
/// The training rows are floor(share · rows); a share of 1 leaves no row to test on.
pub fn holdout(n_rows: usize, train_share: f64, seed: Seed) -> Result<Holdout> {
    let n_train = share_of(n_rows, "train share", train_share)?;
    let shuffled = shuffled(n_rows, seed.child("holdout", 0));
    let is_train = marked(n_rows, &shuffled[..n_train]);
    let (train, test) = (0..n_rows).partition(|&row| is_train[row]);
    Ok(Holdout { train, test })
}

/// floor(share · rows) rows drawn at random without replacement, ascending.
pub fn subsample(n_rows: usize, share: f64, seed: Seed) -> Result<Vec<usize>> {
    let n_drawn = share_of(n_rows, "sample share", share)?;
    let shuffled = shuffled(n_rows, seed.child("subsample", 0));
    let is_drawn = marked(n_rows, &shuffled[..n_drawn]);
    Ok((0..n_rows).filter(|&row| is_drawn[row]).collect())
}

/// Whether each of `n_rows` rows is among those named. Going through these marks gives the rows in ascending order,
/// faster than sorting them.
fn marked(n_rows: usize, rows: &[usize]) -> Vec<bool> {
    let mut is_marked = vec![false; n_rows];
    rows.iter().for_each(|&row| is_marked[row] = true);
    is_marked
}

fn shuffled(n: usize, seed: Seed) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    seed.rng().shuffle(&mut all);
    all
}

pub(super) fn check_n_folds(n_folds: usize) -> Result<()> {
    if (2..=Folds::MAX).contains(&n_folds) {
        return Ok(());
    }
    let accepted = "a whole number from 2 to 100000";
    Err(Error::Setting { name: "folds", value: n_folds.to_string(), accepted })
}

/// Every fold needs a row, or a group where groups are kept whole.
pub(super) fn check_enough(found: usize, n_folds: usize, grouped: bool) -> Result<()> {
    let remark = if grouped { ", each group as one row," } else { "" };
    if found < n_folds {
        Err(Error::TooFewRows {
            needed: n_folds,
            found,
            purpose: format!("cutting into {n_folds} folds{remark}"),
        })
    } else {
        Ok(())
    }
}

/// [`Lists`] hold rows in 32 bits.
pub(super) fn check_listable(n_rows: usize) -> Result<()> {
    match u32::try_from(n_rows) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Setting {
            name: "number of rows",
            value: n_rows.to_string(),
            accepted: "below 2^32 to be grouped or stratified",
        }),
    }
}

pub(crate) fn check_share(name: &'static str, share: f64) -> Result<()> {
    // Written so that NaN is refused too.
    if share > 0.0 && share <= 1.0 {
        Ok(())
    } else {
        Err(Error::Setting { name, value: share.to_string(), accepted: "above 0 and at most 1" })
    }
}

/// floor(share · rows), at least one row.
///
/// What rounding takes is forgiven: 0.29 · 100 is 28.999… in binary, yet 29 rows are meant.
pub(super) fn share_of(n_rows: usize, name: &'static str, share: f64) -> Result<usize> {
    const SLACK: f64 = 4.0 * f64::EPSILON;
    check_share(name, share)?;
    match (share * n_rows as f64 * (1.0 + SLACK)).floor() as usize {
        0 => Err(Error::TooFewRows {
            needed: ((1.0 - SLACK) / share).ceil() as usize,
            found: n_rows,
            purpose: format!("a {name} of {share}"),
        }),
        n => Ok(n.min(n_rows)),
    }
}

/// The rows of each group, groups in ascending order of their number.
pub(super) fn members(groups: &[usize]) -> Lists {
    let mut numbers = groups.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let mut group_of_row = Lists::new();
    for group in groups {
        group_of_row.push(numbers.binary_search(group).ok().map(|at| at as u32));
    }
    group_of_row.inverted(numbers.len())
}

/// The order in which groups are placed: the large ones while there is room everywhere, equals
/// as the seed has it.
pub(super) fn largest_first(members: &Lists, seed: Seed) -> Vec<usize> {
    let mut order = shuffled(members.len(), seed);
    order.sort_by_key(|&group| std::cmp::Reverse(members.get(group).len()));
    order
}

/// Many short lists of small numbers in one allocation.
pub(super) struct Lists {
    /// List i owns `starts[i]..starts[i + 1]` of the items.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    pub(super) fn new() -> Lists {
        Lists { starts: vec![0], items: Vec::new() }
    }

    /// As many lists as there are lengths, filled with zeros.
    pub(super) fn zeros(lengths: impl Iterator<Item = usize>) -> Lists {
        let mut lists = Lists::new();
        let mut end = 0;
        lists.starts.extend(lengths.map(|length| {
            end += length;
            end
        }));
        lists.items = vec![0; end];
        lists
    }

    pub(super) fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        self.items.extend(items);
        self.starts.push(self.items.len());
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn get(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }

    pub(super) fn get_mut(&mut self, list: usize) -> &mut [u32] {
        &mut self.items[self.starts[list]..self.starts[list + 1]]
    }

    /// For every item below `n_items` the lists it is in, ascending.
    pub(super) fn inverted(&self, n_items: usize) -> Lists {
        let mut lengths = vec![0; n_items];
        self.items.iter().for_each(|&item| lengths[item as usize] += 1);
        let mut inverted = Lists::zeros(lengths.iter().copied());
        let mut next = inverted.starts.clone();
        for list in 0..self.len() {
            for &item in self.get(list) {
                inverted.items[next[item as usize]] = list as u32;
                next[item as usize] += 1;
            }
        }
        inverted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fold_tests_its_rows_and_trains_on_the_others() {
        let folds = Folds::new(vec![1, 0, 1, 2], 3).unwrap();
        assert_eq!((folds.test_rows(1), folds.train_rows(1)), (vec![0, 2], vec![1, 3]));
        assert_eq!((folds.n_folds(), folds.n_rows(), folds.sizes()), (3, 4, vec![1, 2, 1]));
        assert_eq!((folds.test_rows(7), folds.train_rows(7).len()), (vec![], 4));
        assert!(Folds::new(vec![0, 2], 2).is_err());
    }

    #[test]
    fn a_hold_out_is_one_fold_that_tests_the_rows_kept_back() {
        let folds = Folds::of_holdout(&holdout(8, 0.6, Seed::new(1)).unwrap()).unwrap();
        assert_eq!((folds.n_folds(), folds.sizes()), (1, vec![4]));
        assert_eq!(folds.test_rows(0), PINNED_TEST);
        assert_eq!(folds.train_rows(0), [0, 2, 4, 6]);
        assert_eq!(folds.fold_of()[..2], [None, Some(0)]);
        let refused = |train: &[usize], test: &[usize]| {
            Folds::of_holdout(&Holdout { train: train.into(), test: test.into() }).is_err()
        };
        assert!(refused(&[0, 1], &[]) && refused(&[], &[0]));
        assert!(refused(&[0, 3], &[1]) && refused(&[0, 1], &[1]) && !refused(&[0, 2], &[1]));
    }

    #[test]
    fn the_first_folds_are_one_row_longer() {
        assert_eq!(folds(11, 4, Seed::new(1)).unwrap().sizes(), [3, 3, 3, 2]);
    }

    /// Known answers: results of a saved seed must not move.
    #[test]
    fn the_rows_of_a_seed_are_pinned() {
        let seed = Seed::new(1);
        assert_eq!(folds(8, 3, seed).unwrap().fold_of(), PINNED_FOLDS.map(Some));
        assert_eq!(holdout(8, 0.6, seed).unwrap().test, PINNED_TEST);
        assert_eq!(subsample(8, 0.66, seed).unwrap(), PINNED_SAMPLE);
        assert_eq!(
            grouped_folds(&[0, 0, 1, 2, 2, 3, 4, 4], 3, seed).unwrap().fold_of(),
            PINNED_GROUPS.map(Some)
        );
    }
    const PINNED_FOLDS: [usize; 8] = [1, 2, 2, 0, 0, 1, 1, 0];
    const PINNED_TEST: [usize; 4] = [1, 3, 5, 7];
    const PINNED_SAMPLE: [usize; 5] = [0, 1, 3, 4, 5];
    const PINNED_GROUPS: [usize; 8] = [1, 1, 0, 0, 0, 2, 2, 2];

    #[test]
    fn shares_are_floored() {
        let n_drawn = |n_rows, share| subsample(n_rows, share, Seed::new(1)).unwrap().len();
        assert_eq!((n_drawn(10, 0.66), n_drawn(3, 0.4), n_drawn(5, 1.0)), (6, 1, 5));
        // 0.29 · 100 and 0.57 · 100 fall short of 29 and 57 in binary.
        assert_eq!((n_drawn(100, 0.29), n_drawn(100, 0.57)), (29, 57));
        let parts = holdout(11, 0.6, Seed::new(1)).unwrap();
        assert_eq!((parts.train.len(), parts.test.len()), (6, 5));
        assert!(holdout(11, 1.0, Seed::new(1)).unwrap().test.is_empty());
    }

    #[test]
    fn the_largest_groups_are_placed_first() {
        // Sizes 3, 2, 2, 1: 3 and 1 against 2 and 2.
        let groups = [9, 9, 9, 4, 4, 5, 5, 6];
        for seed in 0..20 {
            let folds = grouped_folds(&groups, 2, Seed::new(seed)).unwrap();
            assert_eq!(folds.sizes(), [4, 4]);
            assert_eq!(folds.fold_of()[0], folds.fold_of()[7]);
        }
    }

    #[test]
    fn what_cannot_be_cut_is_said() {
        let seed = Seed::new(1);
        let message = |result: Result<Folds>| result.unwrap_err().to_string();
        assert_eq!(
            message(folds(9, 1, seed)),
            "folds is 1, but must be a whole number from 2 to 100000"
        );
        assert_eq!(
            message(folds(3, 4, seed)),
            "cutting into 4 folds needs at least 4 rows; 3 given"
        );
        assert_eq!(
            message(grouped_folds(&[8, 8, 8], 2, seed)),
            "cutting into 2 folds, each group as one row, needs at least 2 rows; 1 given"
        );
        assert_eq!(
            subsample(3, 0.1, seed).unwrap_err().to_string(),
            "a sample share of 0.1 needs at least 10 rows; 3 given"
        );
        for share in [0.0, -0.5, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(subsample(9, share, seed), Err(Error::Setting { .. })));
            assert!(matches!(holdout(9, share, seed), Err(Error::Setting { .. })));
        }
        assert!(holdout(0, 0.5, seed).is_err() && folds(0, 2, seed).is_err());
        assert!(grouped_folds(&[], 2, seed).is_err());
    }

    proptest! {
        #[test]
        fn every_row_is_tested_once_and_sizes_differ_by_at_most_one(
            n_rows in 2usize..200, n_folds in 2usize..20, seed: u64,
        ) {
            prop_assume!(n_folds <= n_rows);
            let folds = folds(n_rows, n_folds, Seed::new(seed)).unwrap();
            let mut tested: Vec<usize> = (0..n_folds).flat_map(|i| folds.test_rows(i)).collect();
            tested.sort_unstable();
            prop_assert!(tested.into_iter().eq(0..n_rows));
            for (fold, size) in folds.sizes().into_iter().enumerate() {
                prop_assert_eq!(size, n_rows / n_folds + usize::from(fold < n_rows % n_folds));
                prop_assert_eq!(folds.train_rows(fold).len(), n_rows - size);
            }
        }

        #[test]
        fn groups_stay_whole_and_folds_differ_by_at_most_one_group(
            groups in proptest::collection::vec(0usize..15, 1..80), n_folds in 2usize..6, seed: u64,
        ) {
            let n_groups = members(&groups).len();
            let Ok(folds) = grouped_folds(&groups, n_folds, Seed::new(seed)) else {
                prop_assert!(n_groups < n_folds);
                return Ok(());
            };
            for (row, &fold) in folds.fold_of().iter().enumerate() {
                let first = groups.iter().position(|group| *group == groups[row]).unwrap();
                prop_assert_eq!(fold, folds.fold_of()[first]);
            }
            let members = members(&groups);
            let largest = (0..n_groups).map(|group| members.get(group).len()).max().unwrap();
            let sizes = folds.sizes();
            let (largest_fold, smallest_fold) = (sizes.iter().max().unwrap(), sizes.iter().min().unwrap());
            prop_assert!(*smallest_fold > 0 && largest_fold - smallest_fold <= largest);
        }

        #[test]
        fn parts_are_ascending_disjoint_and_complete(
            n_rows in 1usize..200, share in 0.01f64..=1.0, seed: u64,
        ) {
            let Ok(parts) = holdout(n_rows, share, Seed::new(seed)) else {
                prop_assert!(share * (n_rows as f64) < 1.0);
                return Ok(());
            };
            prop_assert!(parts.train.is_sorted() && parts.test.is_sorted());
            let mut all = [parts.train, parts.test].concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..n_rows));
            let drawn = subsample(n_rows, share, Seed::new(seed)).unwrap();
            prop_assert!(drawn.is_sorted_by(|a, b| a < b) && drawn.iter().all(|&row| row < n_rows));
        }

        #[test]
        fn a_seed_decides(seed: u64) {
            let cut = |seed| folds(100, 10, Seed::new(seed)).unwrap();
            prop_assert_eq!(cut(seed), cut(seed));
            prop_assert_ne!(cut(seed), cut(seed.wrapping_add(1)));
        }
    }
}
