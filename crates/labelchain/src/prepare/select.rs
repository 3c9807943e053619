//! Which inputs to learn a label from: correlation-based feature selection (Hall 1999), as WEKA
//! does it.
//!
//! A subset S of k inputs is worth
//!
//! ```text
//! merit(S) = sum of r(f, class) over f in S / √(k + 2 · sum of r(f, g) over pairs in S)
//! ```
//!
//! so that each input should be correlated with the class, and little with the others. r is the
//! symmetrical uncertainty, with numeric inputs cut by [`mdl_cuts`](super::mdl_cuts). Best-first
//! search looks for the subset of greatest merit. Then an input that was left out is added if it is
//! at least as correlated with the class as with any chosen input.

use std::cell::Cell;
use std::rc::Rc;

use super::columns::{Classes, Columns};
use super::contingency::{Slots, uncertainty};
use super::entropy::NLogN;
use crate::product::vectorized;
use crate::seed::Seed;

/// Correlation-based feature selection with WEKA's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cfs {
    /// Of more inputs than this, so many are kept at random.
    pub max_features: usize,
}

impl Default for Cfs {
    fn default() -> Cfs {
        Cfs { max_features: 300 }
    }
}

/// Both the length of the list of subsets to look into and the number of fruitless looks in a row
/// after which the search gives up.
const PATIENCE: usize = 5;

/// A subset is better if its merit is greater by more than this.
const IMPROVEMENT: f64 = 1e-5;

impl Cfs {
    /// The inputs to learn a label from, ascending, given to which of `rows` it is relevant.
    ///
    /// Never empty unless there is nothing to choose from: where no input is any good, the search
    /// ends with none, and WEKA then adds the first of those with greatest correlation unchecked.
    /// The order of `rows` does not matter, and a row named twice counts once.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn select(
        &self,
        columns: &Columns,
        rows: &[usize],
        relevant: impl Fn(usize) -> bool,
        seed: Seed,
    ) -> Vec<usize> {
        let classes = columns.classes(rows, relevant);
        let mut correlations = Correlations::new(columns, &classes);
        let mut selected = search(&mut correlations);
        add_locally_predictive(&mut selected, &mut correlations);
        selected.sort_unstable();
        if selected.len() > self.max_features {
            seed.rng().shuffle(&mut selected);
            selected.truncate(self.max_features);
            selected.sort_unstable();
        }
        selected
    }
}

/// Correlations in single precision, which is how WEKA keeps them: those with the class, and those
/// between inputs as far as they were asked for.
struct Correlations<'c> {
    features: Vec<Slots>,
    with_class: Vec<f32>,
    /// For each input that was ever chosen, its correlations with all, NaN where nobody asked.
    with_all: Vec<Vec<f32>>,
    logs: &'c NLogN,
    table: Vec<u32>,
}

impl<'c> Correlations<'c> {
    fn new(columns: &'c Columns, classes: &Classes) -> Correlations<'c> {
        let features: Vec<Slots> =
            (0..columns.n_features()).map(|at| columns.slots(at, classes)).collect();
        let (class, logs, mut table) = (classes.slots(), columns.logs(), Vec::new());
        let with_class =
            features.iter().map(|f| uncertainty(f, &class, logs, &mut table) as f32).collect();
        let with_all = vec![Vec::new(); features.len()];
        Correlations { features, with_class, with_all, logs, table }
    }

    fn n_features(&self) -> usize {
        self.features.len()
    }

    /// Of an input with a chosen one. Where they have nothing in common it is 1, not 0: an input
    /// that was not cut counts as a repetition of any other.
    fn with_chosen(&mut self, f: usize, chosen: usize) -> f32 {
        let known = &mut self.with_all[chosen];
        known.resize(self.features.len(), f32::NAN);
        if known[f].is_nan() {
            // The later input first, as in WEKA, so that sums are rounded alike.
            let [later, earlier] = [f.max(chosen), f.min(chosen)].map(|at| &self.features[at]);
            known[f] = match uncertainty(later, earlier, self.logs, &mut self.table) {
                0.0 => 1.0,
                uncertainty => uncertainty as f32,
            };
        }
        known[f]
    }
}

/// A subset whose extensions have been looked at.
struct Expanded {
    members: Vec<usize>,
    /// For each input, the sum of its correlations with the first of the members, and how many
    /// these are. Most inputs are found to be no match for others without the rest.
    with_members: Vec<Cell<f64>>,
    n_summed: Vec<Cell<usize>>,
    /// The sum of the members' correlations with the class.
    with_class: f64,
    /// k + 2 · the sum over pairs of members.
    redundancy: f64,
}

/// A subset and one more input.
#[derive(Clone)]
struct Extension {
    merit: f64,
    of: Rc<Expanded>,
    by: Option<usize>,
}

impl Expanded {
    fn empty(n_features: usize) -> Expanded {
        Expanded {
            members: Vec::new(),
            with_members: vec![Cell::new(0.0); n_features],
            n_summed: vec![Cell::new(0); n_features],
            with_class: 0.0,
            redundancy: 0.0,
        }
    }

    /// By an input whose merit was asked for.
    fn with(&self, by: usize, correlations: &Correlations<'_>) -> Expanded {
        let mut members = self.members.clone();
        members.push(by);
        Expanded {
            members,
            with_members: self.with_members.clone(),
            n_summed: self.n_summed.clone(),
            with_class: self.with_class + f64::from(correlations.with_class[by]),
            redundancy: self.redundancy + 1.0 + 2.0 * self.with_members[by].get(),
        }
    }

    /// Sums of single-precision numbers above 1e-6 are exact in double precision as long as they
    /// stay below 2048, so they may be taken in any order.
    fn merit_with(&self, by: usize, correlations: &mut Correlations<'_>) -> f64 {
        let mut sum = self.with_members[by].get();
        for &member in &self.members[self.n_summed[by].get()..] {
            sum += f64::from(correlations.with_chosen(by, member));
        }
        self.with_members[by].set(sum);
        self.n_summed[by].set(self.members.len());
        self.merit(sum, correlations.with_class[by])
    }

    /// With every input, as far as correlations have been summed: the merit is this or less, also
    /// when rounded, because correlations only add to what it is divided by.
    fn merits_at_most(&self, correlations: &Correlations<'_>) -> Vec<f64> {
        let mut merits = vec![0.0; self.with_members.len()];
        let inputs = self.with_members.iter().zip(&correlations.with_class);
        vectorized(
            #[inline(always)]
            || {
                for (merit, (sum, &with_class)) in merits.iter_mut().zip(inputs) {
                    *merit = self.merit(sum.get(), with_class);
                }
            },
        );
        merits
    }

    #[inline(always)]
    fn merit(&self, with_members: f64, with_class: f32) -> f64 {
        (self.with_class + f64::from(with_class))
            / (self.redundancy + 1.0 + 2.0 * with_members).sqrt()
    }
}

/// Best-first search from the empty set: extend the best subset of the list by every input, keep the
/// best of all that were seen. A subset reached in two ways is listed twice.
fn search(correlations: &mut Correlations<'_>) -> Vec<usize> {
    let n = correlations.n_features();
    let mut best = Extension { merit: 0.0, of: Rc::new(Expanded::empty(n)), by: None };
    let mut list = vec![best.clone()];
    let mut n_stale = 0;
    while n_stale < PATIENCE && !list.is_empty() {
        let head = list.remove(0);
        let subset = match head.by {
            None => head.of,
            Some(by) => Rc::new(head.of.with(by, correlations)),
        };
        n_stale += 1;
        for (by, at_most) in subset.merits_at_most(correlations).into_iter().enumerate() {
            // Nor is it an improvement then, as the last of the list was none.
            let is_unlisted = list.get(PATIENCE - 1).is_some_and(|last| last.merit >= at_most);
            if is_unlisted || subset.members.contains(&by) {
                continue;
            }
            let merit = subset.merit_with(by, correlations);
            // Below its equals, so that of these the first is looked at first.
            let at = list.partition_point(|other| other.merit >= merit);
            let extension = || Extension { merit, of: Rc::clone(&subset), by: Some(by) };
            if at < PATIENCE {
                list.truncate(PATIENCE - 1);
                list.insert(at, extension());
            }
            if merit - best.merit > IMPROVEMENT {
                best = extension();
                n_stale = 0;
            }
        }
    }
    let mut selected = best.of.members.clone();
    selected.extend(best.by);
    selected.sort_unstable();
    selected
}

/// Adds, by descending correlation with the class, each input that no chosen one is more correlated
/// with than the class is.
fn add_locally_predictive(selected: &mut Vec<usize>, correlations: &mut Correlations<'_>) {
    let with_class = correlations.with_class.clone();
    let mut candidates: Vec<usize> = (0..correlations.n_features()).collect();
    candidates.retain(|f| !selected.contains(f));
    // Stable: of equals the first comes first.
    candidates.sort_by(|&f, &g| with_class[g].total_cmp(&with_class[f]));
    for f in candidates {
        // Correlations between inputs are never 0.
        if with_class[f] <= 0.0 && !selected.is_empty() {
            break;
        }
        if selected.iter().all(|&g| correlations.with_chosen(f, g) <= with_class[f]) {
            selected.push(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{Attribute, Dataset, Dense, LabelMatrix, Matrix};
    use proptest::prelude::*;

    fn columns(rows: &[Vec<f64>], attributes: Vec<Attribute>) -> Columns {
        let mut cells = Dense::new(attributes.len());
        rows.iter().for_each(|row| cells.push_row(row));
        let labels = LabelMatrix::empty(rows.len(), 0);
        let features = Matrix::Dense(cells);
        let data = Dataset::new("t", attributes, features, Vec::new(), labels).unwrap();
        Columns::new(&Arc::new(data))
    }

    fn numeric(n: usize) -> Vec<Attribute> {
        (0..n).map(|at| Attribute::numeric(format!("x{at}"))).collect()
    }

    fn select(columns: &Columns, relevant: impl Fn(usize) -> bool) -> Vec<usize> {
        let rows: Vec<usize> = (0..columns.n_rows()).collect();
        Cfs::default().select(columns, &rows, relevant, Seed::new(1))
    }

    /// Input 1 tells the class of all rows but one, 2 repeats it, 0 and 3 are unrelated to it.
    #[test]
    fn the_input_that_tells_is_selected_and_its_copy_is_not() {
        let row = |at: usize| vec![at as f64 % 3.0, f64::from(at < 31), f64::from(at < 31), 1.0];
        let rows: Vec<Vec<f64>> = (0..60).map(row).collect();
        assert_eq!(select(&columns(&rows, numeric(4)), |row| row < 30), [1]);
    }

    /// The copy is as much like the class as like the chosen input, and only more would refuse it.
    #[test]
    fn a_copy_of_a_perfect_input_is_selected_too() {
        let rows: Vec<Vec<f64>> = (0..60).map(|at| vec![f64::from(at), f64::from(at)]).collect();
        assert_eq!(select(&columns(&rows, numeric(2)), |row| row < 30), [0, 1]);
    }

    /// The label is relevant where both inputs are 1.
    #[test]
    fn inputs_that_complement_each_other_are_both_selected_unless_independent() {
        let pairs = |n| (0..n).map(|at| vec![f64::from(at % 2), f64::from(at / 2 % 2)]);
        let both = |rows: Vec<Vec<f64>>| {
            let columns = columns(&rows, numeric(2));
            select(&columns, |row| rows[row] == [1.0, 1.0])
        };
        // Of 100 rows, 40 have the first, 40 the second, and 20 both: more than the 16 of chance.
        assert_eq!(both(pairs(80).chain(vec![vec![0.0, 0.0]; 20]).collect()), [0, 1]);
        // A correlation of 0 between inputs counts as 1, so the second seems to repeat the first.
        assert_eq!(both(pairs(80).collect()), [0]);
    }

    #[test]
    fn where_nothing_tells_the_first_input_is_returned() {
        let rows: Vec<Vec<f64>> = (0..40).map(|at| vec![f64::from(at % 2), 5.0]).collect();
        let columns = columns(&rows, numeric(2));
        assert_eq!(select(&columns, |row| row % 4 < 2), [0]);
        assert_eq!(select(&columns, |_| false), [0]);
        let none = Cfs::default().select(&columns, &[], |_| true, Seed::new(1));
        assert_eq!(none, [0]);
    }

    #[test]
    fn without_inputs_none_is_selected() {
        assert_eq!(select(&columns(&[vec![], vec![]], Vec::new()), |row| row == 0), [0; 0]);
    }

    #[test]
    fn the_cap_keeps_so_many_by_seed() {
        // Ten indicators of ten different rows each, all relevant.
        let rows: Vec<Vec<f64>> =
            (0..200).map(|row| (0..10).map(|at| f64::from(row / 10 == at)).collect()).collect();
        let columns = columns(&rows, numeric(10));
        let all: Vec<usize> = (0..200).collect();
        let cfs = |max_features, seed| {
            Cfs { max_features }.select(&columns, &all, |row| row < 100, Seed::new(seed))
        };
        assert_eq!(cfs(300, 1).len(), 10);
        assert_eq!(cfs(4, 1).len(), 4);
        assert!(cfs(4, 1).is_sorted());
        assert_eq!(cfs(4, 1), cfs(4, 1));
        assert!((2..9).any(|seed| cfs(4, seed) != cfs(4, 1)));
    }

    /// The merit as it is defined, summed anew for a subset.
    fn merit(subset: &[usize], correlations: &mut Correlations<'_>) -> f64 {
        let with_class: f64 = subset.iter().map(|&f| f64::from(correlations.with_class[f])).sum();
        let mut redundancy = subset.len() as f64;
        for (at, &f) in subset.iter().enumerate() {
            for &g in &subset[..at] {
                redundancy += 2.0 * f64::from(correlations.with_chosen(f, g));
            }
        }
        if subset.is_empty() { 0.0 } else { with_class / redundancy.sqrt() }
    }

    /// The search as WEKA writes it, with subsets as sets and merits summed anew.
    fn plain_search(correlations: &mut Correlations<'_>) -> Vec<usize> {
        let n = correlations.n_features();
        let (mut best, mut stale) = ((0.0, Vec::new()), 0);
        let mut list: Vec<(f64, Vec<usize>)> = vec![best.clone()];
        while stale < 5 && !list.is_empty() {
            let (_, subset) = list.remove(0);
            let mut improved = false;
            for f in (0..n).filter(|f| !subset.contains(f)) {
                let mut extended = subset.clone();
                extended.push(f);
                extended.sort_unstable();
                let merit = merit(&extended, correlations);
                let at = list.iter().position(|other| merit > other.0).unwrap_or(list.len());
                list.insert(at, (merit, extended.clone()));
                list.truncate(5);
                if merit - best.0 > 1e-5 {
                    (best, improved) = ((merit, extended), true);
                }
            }
            stale = if improved { 0 } else { stale + 1 };
        }
        best.1
    }

    proptest! {
        #[test]
        fn neither_the_order_of_rows_nor_masks_nor_shortcuts_change_the_result(
            rows in prop::collection::vec(
                (prop::collection::vec(prop_oneof![8 => 0u8..4, 1 => Just(9)], 12), any::<bool>()),
                20..120),
        ) {
            // Inputs that follow the class to differing degrees, two of them nominal.
            let cell = |&(ref cells, class): &(Vec<u8>, bool), at: usize| match cells[at] {
                9 => f64::NAN,
                cell if at < 10 => f64::from(cell) + if class { at as f64 / 2.0 } else { 0.0 },
                cell => f64::from(if class { cell / 2 } else { cell }),
            };
            let cells: Vec<Vec<f64>> =
                rows.iter().map(|row| (0..12).map(|at| cell(row, at)).collect()).collect();
            let mut attributes = numeric(10);
            attributes.extend(["a", "b"].map(|name| Attribute::nominal(name, ["0", "1", "2", "3"])));
            let forwards: Vec<usize> = (0..rows.len()).filter(|row| row % 5 != 2).collect();
            let copied: Vec<Vec<f64>> = forwards.iter().map(|&row| cells[row].clone()).collect();
            let copy = columns(&copied, attributes.clone());
            let columns = columns(&cells, attributes);
            let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
            let relevant = |row: usize| rows[row].1;
            let [a, b] = [&forwards, &backwards]
                .map(|order| Cfs::default().select(&columns, order, relevant, Seed::new(1)));
            prop_assert_eq!(&a, &b);
            let here = columns.on(&forwards);
            prop_assert_eq!(&a, &Cfs::default().select(&here, &backwards, relevant, Seed::new(1)));
            prop_assert_eq!(a, select(&copy, |row| relevant(forwards[row])));
            let (half, _) = forwards.split_at(forwards.len() / 2);
            let [fewer, same] = [&columns, &here]
                .map(|columns| Cfs::default().select(columns, half, relevant, Seed::new(1)));
            prop_assert_eq!(fewer, same);
            let classes = columns.classes(&forwards, relevant);
            let mut correlations = Correlations::new(&columns, &classes);
            let fast = search(&mut correlations);
            prop_assert_eq!(fast, plain_search(&mut Correlations::new(&columns, &classes)));
        }
    }
}
