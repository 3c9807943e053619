//! The best split of the rows of a node by one input.
//!
//! A split into left and right is worth
//!
//! ```text
//! Σ_l (S_l,left² / n_left + S_l,right² / n_right)
//! ```
//!
//! where S_l is to how many rows of a side label l is relevant and n how many rows the side has, each
//! row as often as the tree drew it. It is largest where the variance of the labels within the sides,
//! summed over labels, is least: n_side times that variance is Σ_l (S_l - S_l² / n_side), and Σ_l S_l
//! of both sides together is the same for every split.
//!
//! Moving a row that was drawn b times to a side changes only the squares of the labels it has: S² of
//! the side grows by b (2 S + b). So a scan over the rows in the order of their bins costs as much as
//! they have labels, however many labels there are. All sums are whole numbers and hence exact: neither
//! the order of rows nor that of labels can change a split.

use super::bins::{Column, MISSING};
use super::labels::TrainingLabels;

/// How the rows of a node are cut in two by the bins of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cut {
    /// Bins up to the first go left and those from the second on right, of those in the node; none
    /// where all present cells are on the other side, and missing ones on this.
    Between(Option<u8>, Option<u8>),
    /// One bin of a nominal input goes left.
    Only(u8),
}

impl Cut {
    /// Whether a row with this bin, which is not that of missing cells, goes left.
    pub(super) fn is_left(self, bin: u8) -> bool {
        match self {
            Cut::Between(last_left, _) => last_left.is_some_and(|last| bin <= last),
            Cut::Only(only) => bin == only,
        }
    }
}

/// A split of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// What is to be as large as possible.
    pub(super) value: f64,
    pub(super) cut: Cut,
    /// Where rows without a cell go: where more is gained; to the side of more rows if none are here.
    pub(super) missing_left: bool,
}

/// Which splits are allowed.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// How many different rows a side has at least.
    pub(super) min_rows: usize,
    /// Where along the range of an input its only cut is, as a share of it; none if the best cut is
    /// looked for.
    pub(super) at_share: Option<f64>,
}

/// The rows that a tree drew, and where a scan stands.
pub(super) struct Splitter<'a> {
    labels: &'a TrainingLabels,
    /// How often each row was drawn.
    n_draws: &'a [u32],
    /// By label: to how many drawn rows of the side it is relevant, and to how many of the node.
    counts: Vec<[i32; 2]>,
    /// The node as a whole.
    node: Side,
    cells: Vec<(u8, u32)>,
    sorted: Vec<(u8, u32)>,
}

/// Sums over one side of a split.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Drawn rows.
    n: i64,
    /// Different rows.
    n_rows: usize,
    /// Σ_l S_l².
    squares: i64,
    /// The same of the other side.
    other_squares: i64,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(labels: &'a TrainingLabels, n_draws: &'a [u32]) -> Splitter<'a> {
        let counts = vec![[0; 2]; labels.n_labels()];
        let (cells, sorted) = (Vec::new(), Vec::new());
        Splitter { labels, n_draws, counts, node: Side::default(), cells, sorted }
    }

    /// Turns to a node of these rows.
    pub(super) fn enter(&mut self, rows: &[u32]) {
        self.counts.fill([0; 2]);
        self.node = Side { n_rows: rows.len(), ..Side::default() };
        for &row in rows {
            let n_draws = self.n_draws[row as usize];
            self.node.n += i64::from(n_draws);
            for &label in self.labels.of(row) {
                self.counts[label as usize][1] += n_draws as i32;
            }
        }
        self.node.squares = self.counts.iter().map(|of| i64::from(of[1]).pow(2)).sum();
    }

    /// The best split of the node entered by a column; none if all of its rows have the same cell, or
    /// no split is allowed. `is_here` says of any row whether it is in the node.
    pub(super) fn best(
        &mut self,
        column: &Column,
        rows: &[u32],
        is_here: impl Fn(u32) -> bool,
        allowed: Allowed,
    ) -> Option<Split> {
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        let rest = column.gather(rows, is_here, &mut cells);
        let rest = rest.filter(|_| cells.len() < rows.len());
        let best = if rest.is_none() && cells.iter().all(|cell| cell.0 == cells[0].0) {
            None
        } else {
            self.sort(&mut cells);
            let (present, missing) = cells.split_at(cells.partition_point(|cell| cell.0 < MISSING));
            let mut scan = Scan { splitter: self, missing, min_rows: allowed.min_rows, best: None };
            if column.is_nominal {
                scan.names(column, present, rest, allowed.at_share);
            } else {
                scan.numbers(column, present, rest, allowed.at_share);
            }
            scan.best
        };
        self.cells = cells;
        best
    }

    /// Sorts by bin, in any order within a bin.
    fn sort(&mut self, cells: &mut Vec<(u8, u32)>) {
        /// From so many cells on, counting is faster than comparing.
        const COUNTED: usize = 96;
        if cells.len() < COUNTED {
            cells.sort_unstable_by_key(|cell| cell.0);
            return;
        }
        let mut places = [0u32; MISSING as usize + 2];
        cells.iter().for_each(|cell| places[usize::from(cell.0) + 1] += 1);
        let mut sum = 0;
        for place in &mut places {
            sum += *place;
            *place = sum;
        }
        self.sorted.resize(cells.len(), (0, 0));
        for &cell in cells.iter() {
            let place = &mut places[usize::from(cell.0)];
            self.sorted[*place as usize] = cell;
            *place += 1;
        }
        std::mem::swap(cells, &mut self.sorted);
    }

    /// An empty side.
    fn empty(&mut self) -> Side {
        self.counts.iter_mut().for_each(|of| of[0] = 0);
        Side { other_squares: self.node.squares, ..Side::default() }
    }

    /// Moves rows to the side.
    #[inline]
    fn add(&mut self, side: &mut Side, cells: &[(u8, u32)]) {
        for &(_, row) in cells {
            let n_draws = self.n_draws[row as usize];
            let b = i64::from(n_draws);
            side.n += b;
            side.n_rows += 1;
            for &label in self.labels.of(row) {
                let [here, all] = &mut self.counts[label as usize];
                let (s, other) = (i64::from(*here), i64::from(*all - *here));
                side.squares += b * (2 * s + b);
                side.other_squares -= b * (2 * other - b);
                *here += n_draws as i32;
            }
        }
    }
}

/// A scan over the cells of one input.
struct Scan<'s, 'a> {
    splitter: &'s mut Splitter<'a>,
    /// The rows of the node without a cell.
    missing: &'s [(u8, u32)],
    min_rows: usize,
    best: Option<Split>,
}

impl Scan<'_, '_> {
    /// The side so far is the left or the right one, with or without the missing cells.
    fn consider(&mut self, side: &Side, cut: Cut, is_left: bool, with_missing: bool) {
        let node = &self.splitter.node;
        let n_other = node.n - side.n;
        if side.n_rows < self.min_rows || node.n_rows - side.n_rows < self.min_rows {
            return;
        }
        let of = |squares: i64, n: i64| squares as f64 / n as f64;
        let value = of(side.squares, side.n) + of(side.other_squares, n_other);
        if self.best.is_none_or(|best| value > best.value) {
            let missing_left = if self.missing.is_empty() {
                (side.n >= n_other) == is_left
            } else {
                with_missing == is_left
            };
            self.best = Some(Split { value, cut, missing_left });
        }
    }

    /// Whether missing cells are on the side that grows; tried both ways where there are any.
    fn ways(&self) -> &'static [bool] {
        if self.missing.is_empty() { &[false] } else { &[false, true] }
    }

    /// Cuts between neighbouring bins. Bins below that of the rest are added to the left side one after
    /// the other, bins above it to the right side from the greatest on, so that the rest need not be
    /// looked at.
    fn numbers(
        &mut self,
        column: &Column,
        present: &[(u8, u32)],
        rest: Option<u8>,
        at_share: Option<f64>,
    ) {
        let n_below = rest.map_or(present.len(), |rest| present.partition_point(|it| it.0 < rest));
        let (below, above) = present.split_at(n_below);
        let only = at_share.and_then(|share| {
            let lowest = below.first().map(|it| it.0).or(rest)?;
            let highest = above.last().map(|it| it.0).or(rest).or(below.last().map(|it| it.0))?;
            (lowest < highest).then(|| column.at_share(share, lowest, highest))
        });
        let is_allowed = |last: Option<u8>, first: Option<u8>| match only {
            None => true,
            Some(only) => last.is_some_and(|it| it <= only) && first.is_some_and(|it| it > only),
        };
        for &with_missing in self.ways() {
            for (cells, is_left) in [(below, true), (above, false)] {
                if cells.is_empty() && !with_missing {
                    continue;
                }
                let mut side = self.start(with_missing);
                let (mut edge, mut added) = (None, 0);
                loop {
                    let next =
                        if is_left { cells.get(added) } else { cells.iter().rev().nth(added) };
                    let next = next.map(|it| it.0).or(rest);
                    let cut = if is_left { (edge, next) } else { (next, edge) };
                    if side.n_rows > 0 && is_allowed(cut.0, cut.1) {
                        self.consider(&side, Cut::Between(cut.0, cut.1), is_left, with_missing);
                    }
                    if added == cells.len() {
                        break;
                    }
                    edge = next;
                    let is_same = |it: &&(u8, u32)| Some(it.0) == edge;
                    let group = if is_left {
                        let rest = &cells[added..];
                        &rest[..rest.iter().take_while(is_same).count()]
                    } else {
                        let rest = &cells[..cells.len() - added];
                        &rest[rest.len() - rest.iter().rev().take_while(is_same).count()..]
                    };
                    self.splitter.add(&mut side, group);
                    added += group.len();
                }
            }
        }
    }

    /// One name against all others.
    fn names(
        &mut self,
        column: &Column,
        present: &[(u8, u32)],
        rest: Option<u8>,
        at_share: Option<f64>,
    ) {
        let groups: Vec<&[(u8, u32)]> = present.chunk_by(|a, b| a.0 == b.0).collect();
        let n_names = groups.len() + usize::from(rest.is_some());
        let only = at_share.map(|share| (share * n_names as f64) as usize);
        let is_tried =
            |at: usize, bin: u8| only.is_none_or(|only| only == at) && column.value(bin).is_some();
        for &with_missing in self.ways() {
            for (at, group) in groups.iter().enumerate() {
                let bin = group[0].0;
                if is_tried(at, bin) {
                    let mut side = self.start(with_missing);
                    self.splitter.add(&mut side, group);
                    self.consider(&side, Cut::Only(bin), true, with_missing);
                }
            }
            if let Some(rest) = rest
                && is_tried(groups.len(), rest)
            {
                let mut side = self.start(with_missing);
                self.splitter.add(&mut side, present);
                self.consider(&side, Cut::Only(rest), false, with_missing);
            }
        }
    }

    fn start(&mut self, with_missing: bool) -> Side {
        let mut side = self.splitter.empty();
        if with_missing {
            self.splitter.add(&mut side, self.missing);
        }
        side
    }
}
