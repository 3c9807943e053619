//! A training set made ready once for all members and labels.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::{Bins, CandidateCuts, Cfs, Columns, Spread, Standardizer, Undersampling};
use crate::data::{Dataset, Dense, LabelId, Matrix};
use crate::error::Result;
use crate::memory::Memory;
use crate::product::vectorized;
use crate::progress::Cancel;
use crate::seed::Seed;
use crate::settings::{AnySetting, Between, OneOf, Or, Setting, Settings, Whole};

/// How unequal the classes of a label may be.
pub static MAX_IMBALANCE: Setting<Option<f64>> = Setting {
    name: "max-imbalance",
    accepts: &Or("none", Between(1.0, f64::MAX)),
    default: Some(20.0),
    help: "Majority rows kept for each minority row of a label",
};

/// How each label selects its inputs: whether by CFS.
pub static SELECT: Setting<bool> = Setting {
    name: "select",
    accepts: &OneOf(&[("cfs", true), ("none", false)]),
    default: true,
    help: "How each label selects its features",
};

/// How many selected inputs are kept.
pub static MAX_FEATURES: Setting<usize> = Setting {
    name: "max-features",
    accepts: &Whole(1..=1_000_000),
    default: 300,
    help: "Of more selected features than this, so many are kept at random",
};

/// What is done for each label on its own, before its model is fitted (docs/methods.md, 9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preparation {
    /// Majority rows kept per minority row.
    pub undersampling: Undersampling,
    /// Which inputs the label looks at; all of them if none.
    pub selection: Option<Cfs>,
}

impl Default for Preparation {
    fn default() -> Preparation {
        Preparation { undersampling: Undersampling::default(), selection: Some(Cfs::default()) }
    }
}

impl Preparation {
    /// What it reads.
    pub const SETTINGS: &'static [&'static dyn AnySetting] =
        &[&MAX_IMBALANCE, &SELECT, &MAX_FEATURES];

    /// As it is set.
    pub fn of(settings: &Settings) -> Result<Preparation> {
        let max_features = settings.get(&MAX_FEATURES);
        Ok(Preparation {
            undersampling: Undersampling::new(settings.get(&MAX_IMBALANCE))?,
            selection: settings.get(&SELECT).then_some(Cfs { max_features }),
        })
    }

    /// All rows and all inputs.
    pub fn none() -> Preparation {
        Preparation { undersampling: Undersampling::none(), selection: None }
    }
}

/// The rows and features one label learns from, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelView {
    /// Rows of the training set. Labels that learn from all rows given share them.
    pub rows: Arc<[usize]>,
    /// Inputs. Labels that learn from all of them share them.
    pub features: Arc<[usize]>,
}

/// Which values the stored cells of a column have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StoredValues {
    /// All of them this one; 0 where sparse rows store none.
    One(f64),
    /// More than one, or rows are dense and nobody looked.
    Many,
    /// Some are missing.
    SomeMissing,
}

impl StoredValues {
    /// By column.
    fn of(features: &Matrix) -> Vec<StoredValues> {
        if let Matrix::Dense(dense) = features {
            let of_column = |is_incomplete: bool| {
                if is_incomplete { StoredValues::SomeMissing } else { StoredValues::Many }
            };
            let rows = 0..features.n_rows();
            let incomplete = incomplete_columns(dense, features.n_columns(), rows);
            return incomplete.into_iter().map(of_column).collect();
        }
        let mut all = vec![StoredValues::One(0.0); features.n_columns()];
        for (column, cell) in (0..features.n_rows()).flat_map(|row| features.entries(row)) {
            let values = &mut all[column];
            *values = match *values {
                _ if cell.is_nan() => StoredValues::SomeMissing,
                StoredValues::One(value) if value == 0.0 || value == cell => {
                    StoredValues::One(cell)
                }
                StoredValues::One(_) => StoredValues::Many,
                other => other,
            };
        }
        all
    }
}

/// Whether each column of dense rows has a missing cell in some of them.
pub(crate) fn incomplete_columns(
    dense: &Dense,
    n_columns: usize,
    rows: impl Iterator<Item = usize>,
) -> Vec<bool> {
    let mut is_incomplete = vec![false; n_columns];
    for cells in rows.map(|row| dense.row(row)) {
        let any_missing = vectorized(
            #[inline(always)]
            || cells.iter().fold(false, |any, cell| any | cell.is_nan()),
        );
        if any_missing {
            let columns = is_incomplete.iter_mut().zip(cells);
            columns.for_each(|(is_incomplete, cell)| *is_incomplete |= cell.is_nan());
        }
    }
    is_incomplete
}

/// For each column of dense rows, how many cells have the value of an earlier one, or some more.
///
/// Of r repetitions among all cells, at most r are among any n of them, so that these have n - r different values
/// at least.
fn repeats(features: &Matrix) -> Vec<usize> {
    /// In larger tables repetitions are not counted, and every cell is taken for one. Counting slots there ends
    /// after a few hundred rows, which costs little compared with fitting so many.
    const MOST_ROWS: usize = 1 << 14;
    /// 2^64 divided by the golden ratio, made odd: the highest bits of a product with it depend on all bits of the
    /// other factor.
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let (n_rows, n_columns) = (features.n_rows(), features.n_columns());
    let Matrix::Dense(dense) = features else { return vec![n_rows; n_columns] };
    if n_rows > MOST_ROWS {
        return vec![n_rows; n_columns];
    }
    // Values of the same hash, one in ten or fewer, are taken for repetitions.
    let mut is_seen = vec![false; (8 * n_rows).next_power_of_two()];
    let shift = 64 - is_seen.len().ilog2();
    let of_column = |column: usize| {
        is_seen.fill(false);
        let mut n_repeats = 0;
        for row in dense.cells().chunks_exact(n_columns) {
            // 0 and -0 are one value. Missing cells are counted as one that is repeated.
            let mixed = (row[column] + 0.0).to_bits().wrapping_mul(MIX);
            let is_seen = &mut is_seen[(mixed >> shift) as usize];
            n_repeats += usize::from(*is_seen);
            *is_seen = true;
        }
        n_repeats
    };
    (0..n_columns).map(of_column).collect()
}

/// A standardized training set with what all members share.
pub struct Prepared {
    standardizer: Standardizer,
    data: Arc<Dataset>,
    columns: Columns,
    stored_values: OnceLock<Vec<StoredValues>>,
    repeats: OnceLock<Vec<usize>>,
    zero: Arc<[f64]>,
    /// All inputs.
    inputs: Arc<[usize]>,
    kept: OnceLock<Box<dyn Any + Send + Sync>>,
    memory: Memory,
    cancel: Cancel,
}

impl Prepared {
    /// Standardizes the rows by their own moments and lays out their columns.
    pub fn new(train: Dataset) -> Result<Prepared> {
        let standardizer = Standardizer::fit(&train)?;
        let data = standardizer.apply(train)?;
        let zero = match data.features() {
            Matrix::Dense(_) => std::iter::repeat_n(0.0, data.n_features()).collect(),
            Matrix::Sparse(_) => standardizer.offset().iter().map(|offset| -offset).collect(),
        };
        let data = Arc::new(data);
        let columns = Columns::new(&data);
        Ok(Prepared {
            standardizer,
            columns,
            stored_values: OnceLock::new(),
            repeats: OnceLock::new(),
            inputs: (0..data.n_features()).collect(),
            data,
            zero,
            kept: OnceLock::new(),
            memory: Memory::new(u64::MAX),
            cancel: Cancel::default(),
        })
    }

    /// Some of the rows, on the scale of all: tuning folds keep that of the whole training set.
    pub fn select(&self, rows: &[usize]) -> Prepared {
        let data = Arc::new(self.data.select(rows));
        Prepared {
            standardizer: self.standardizer.clone(),
            columns: Columns::new(&data),
            stored_values: OnceLock::new(),
            repeats: OnceLock::new(),
            data,
            zero: Arc::clone(&self.zero),
            inputs: Arc::clone(&self.inputs),
            kept: OnceLock::new(),
            memory: self.memory.fork(),
            cancel: self.cancel.clone(),
        }
    }

    /// Rows that are standardized already, or need no scale.
    pub fn as_is(train: &Dataset) -> Prepared {
        let data = Arc::new(train.clone());
        Prepared {
            standardizer: Standardizer::none(train.n_features()),
            columns: Columns::new(&data),
            stored_values: OnceLock::new(),
            repeats: OnceLock::new(),
            data,
            zero: std::iter::repeat_n(0.0, train.n_features()).collect(),
            inputs: (0..train.n_features()).collect(),
            kept: OnceLock::new(),
            memory: Memory::new(u64::MAX),
            cancel: Cancel::default(),
        }
    }

    /// The same, with so many bytes for whoever learns from it.
    pub fn within(self, max_memory: u64) -> Prepared {
        Prepared { memory: Memory::new(max_memory), ..self }
    }

    /// The memory for whoever learns from it, unlimited unless set.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The same, to be given up when it is cancelled.
    pub fn cancelled_by(self, cancel: &Cancel) -> Prepared {
        Prepared { cancel: cancel.clone(), ..self }
    }

    /// What stops work on it.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// A place where a module above keeps what it finds out about the rows, for all who ask it again; none
    /// where something else is kept there.
    pub(crate) fn kept<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        self.kept.get_or_init(|| Box::new(T::default())).downcast_ref()
    }

    /// How the inputs were brought to one scale.
    pub fn standardizer(&self) -> &Standardizer {
        &self.standardizer
    }

    /// The standardized rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// What a cell means that a sparse row leaves out: the standardized zero of a numeric column,
    /// the first value of a nominal one. Stored cells of sparse rows lack the same amount.
    pub fn zero(&self) -> &[f64] {
        &self.zero
    }

    /// The same, for whoever keeps it.
    pub(crate) fn shared_zero(&self) -> Arc<[f64]> {
        Arc::clone(&self.zero)
    }

    /// The rows and features that each label learns from, out of those of `rows` of which the label is
    /// known; an error only if the work is cancelled.
    pub fn views(&self, how: &Preparation, rows: &[usize], seed: Seed) -> Result<Vec<LabelView>> {
        let columns = how.selection.map(|cfs| (cfs, self.columns.on(rows)));
        let labels = self.data.labels();
        let has_unknown = labels.n_unknown() > 0;
        let n_relevant = labels.counts_in(rows.iter().copied());
        let mut whole: Option<Arc<[usize]>> = None;
        let view = |label: LabelId| {
            self.cancel.check()?;
            let relevant = |row| labels.get(row, label);
            let known = if has_unknown {
                Cow::Owned(
                    rows.iter().copied().filter(|&row| labels.is_known(row, label)).collect(),
                )
            } else {
                Cow::Borrowed(rows)
            };
            let n_relevant = n_relevant[label.0];
            let keeps_all = how.undersampling.keeps_all(n_relevant, known.len() - n_relevant);
            let thin = || {
                how.undersampling.thin(&known, relevant, seed.child("undersample", label.0)).into()
            };
            let rows = if keeps_all && known.len() == rows.len() {
                Arc::clone(whole.get_or_insert_with(thin))
            } else {
                thin()
            };
            let features = match &columns {
                None => Arc::clone(&self.inputs),
                Some((cfs, columns)) => {
                    cfs.select(columns, &rows, relevant, seed.child("select", label.0)).into()
                }
            };
            Ok(LabelView { rows, features })
        };
        labels.ids().map(view).collect()
    }

    /// Which values the stored cells of a column have.
    pub(crate) fn stored_values(&self, column: usize) -> StoredValues {
        self.stored_values.get_or_init(|| StoredValues::of(self.data.features()))[column]
    }

    /// For each column, how many cells have the value of an earlier one, or more: the cells of any n
    /// different rows have at least n minus so many different values.
    pub(crate) fn repeats(&self) -> &[usize] {
        self.repeats.get_or_init(|| repeats(self.data.features()))
    }

    /// The different values of any numeric column on the rows named.
    pub fn spreads(&self, rows: &[usize]) -> impl Fn(usize) -> Spread + '_ {
        let here = self.columns.classes(rows, |_| false);
        move |column| {
            let spread = self.columns.spread(column, &here);
            let zero = self.zero[column];
            Spread { least: spread.least + zero, greatest: spread.greatest + zero, ..spread }
        }
    }

    /// Any numeric column on the rows named, in bins that tell a label apart.
    pub fn bins(&self, rows: &[usize], label: LabelId) -> impl Fn(usize) -> Bins + '_ {
        let relevant = |row| self.data.labels().get(row, label);
        let classes = self.columns.classes(rows, relevant);
        move |column| {
            let mut tallies = self.columns.tallies_of(column, &classes);
            tallies.iter_mut().for_each(|tally| tally.value += self.zero[column]);
            Bins::new(&tallies, CandidateCuts::Rows, self.columns.logs())
        }
    }

    /// Fills `cells` with one column of the rows named, what sparse rows leave out included.
    pub fn gather(&self, column: usize, rows: &[usize], cells: &mut Vec<f64>) {
        let zero = self.zero[column];
        cells.clear();
        cells.extend(rows.iter().map(|&row| self.data.features().get(row, column) + zero));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn some_cells_have_at_least_as_many_values_as_are_left_by_the_repetitions_among_all() {
        let mut rng = Seed::new(4).rng();
        let fine = |_: usize, rng: &mut crate::seed::Rng| rng.normal();
        let coarse = |_: usize, rng: &mut crate::seed::Rng| rng.below(40) as f64;
        // 0 and -0 are one value, and a missing cell is none.
        let odd = |row: usize, _: &mut crate::seed::Rng| [0.0, -0.0, f64::NAN, 7.0][row % 4];
        let cells: Vec<f64> = (0..300)
            .flat_map(|row| [fine(row, &mut rng), coarse(row, &mut rng), odd(row, &mut rng)])
            .collect();
        let data = Dataset::from_rows(3, &cells).unwrap();
        let train = Prepared::as_is(&data);
        let repeats = train.repeats();
        let n_values = |column: usize, rows: &[usize]| {
            let cells = rows.iter().map(|&row| cells[3 * row + column] + 0.0);
            let known: Vec<u64> = cells.filter(|cell| !cell.is_nan()).map(f64::to_bits).collect();
            (known.iter().collect::<BTreeSet<_>>().len(), known.len())
        };
        for n in [1, 30, 200, 300] {
            let mut rows: Vec<usize> = (0..300).collect();
            rng.shuffle(&mut rows);
            for (column, repeats) in repeats.iter().enumerate() {
                let (n_values, n_cells) = n_values(column, &rows[..n]);
                assert!(n_values + repeats >= n_cells, "{column}: {n_values} + {repeats}");
            }
        }
        // All values of the first column differ, and few of them share a hash: 300² / 2 pairs, 4096 hashes.
        assert!(repeats[0] < 30 && (260..280).contains(&repeats[1]), "{repeats:?}");
        // Of larger tables nobody counts, and all cells may be repetitions.
        let large = Dataset::from_rows(1, &vec![0.5; (1 << 14) + 1]).unwrap();
        assert_eq!(Prepared::as_is(&large).repeats(), [(1 << 14) + 1]);
        let none = Dataset::from_rows(2, &[]).unwrap();
        assert_eq!(Prepared::as_is(&none).repeats(), [0, 0]);
    }
}
