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
//! of both sides together is the same for every split. So it is never more than Σ_l S_l either, and
//! reaches that where both sides are pure.
//!
//! Rows move to one side in the order of their bins. A row that was drawn b times changes the squares of
//! the labels it has, and no others: S² of the side grows by b (2 S + b). With T_l for the whole node, the
//! other side has (T_l - S_l)² = T_l² - 2 T_l S_l + S_l², and Σ_l T_l S_l grows by the same amount whenever
//! the row moves, for any input. So a scan costs as much as its rows have labels, however many labels there
//! are. All sums are whole numbers, exact up to 2⁵³: neither the order of rows nor that of labels can change
//! a split.

use std::ops::Range;

use super::bins::{Cell, Column, MISSING};
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

/// The rows that a tree drew, the node that is to be split, and where a scan stands.
pub(super) struct Splitter<'a> {
    labels: &'a TrainingLabels,
    /// How often each row was drawn.
    n_draws: &'a [u32],
    /// The rows of the node.
    rows: Vec<u32>,
    /// The same, with what a scan asks about each of them.
    here: Vec<RowHere>,
    /// For each row that is in the node, its place there; anything for others.
    places: Vec<u32>,
    /// The node as a whole.
    node: Side,
    /// Σ_l S_l of the node.
    n_relevant: f64,
    /// S_l of the side that grows, or of the node while it is entered.
    sums: Vec<u32>,
    cells: Vec<Cell>,
    sorted: Vec<Cell>,
}

/// A row of a node. The floating-point numbers here and in [`Side`] are whole.
#[derive(Clone, Copy)]
struct RowHere {
    /// Its labels, as a range of all lists of labels.
    start: u32,
    end: u32,
    /// b: how often it was drawn.
    n_draws: u32,
    b: f64,
    /// b² times how many labels it has.
    own_squares: f64,
    /// What it adds to Σ_l T_l S_l.
    products: f64,
}

/// Sums over one side of a split.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Drawn rows.
    n: f64,
    /// Different rows.
    n_rows: usize,
    /// Σ_l S_l².
    squares: f64,
    /// Σ_l T_l S_l, where T_l is that of the node.
    products: f64,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(labels: &'a TrainingLabels, n_draws: &'a [u32]) -> Splitter<'a> {
        Splitter {
            labels,
            n_draws,
            rows: Vec::new(),
            here: Vec::new(),
            places: vec![0; n_draws.len()],
            node: Side::default(),
            n_relevant: 0.0,
            sums: vec![0; labels.n_labels()],
            cells: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Turns to a node of these rows.
    pub(super) fn enter(&mut self, rows: &[u32]) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.sums.fill(0);
        self.here.clear();
        self.node = Side { n_rows: rows.len(), ..Side::default() };
        self.n_relevant = 0.0;
        for (place, &row) in (0..).zip(rows) {
            self.places[row as usize] = place;
            let n_draws = self.n_draws[row as usize];
            let Range { start, end } = self.labels.range(row);
            let labels = self.labels.in_range(start..end);
            labels.iter().for_each(|&label| self.sums[label as usize] += n_draws);
            let (b, n_labels) = (f64::from(n_draws), labels.len() as f64);
            self.node.n += b;
            self.n_relevant += b * n_labels;
            let own_squares = b * b * n_labels;
            self.here.push(RowHere { start, end, n_draws, b, own_squares, products: 0.0 });
        }
        for row in &mut self.here {
            let labels = self.labels.in_range(row.start..row.end).iter();
            let sum: u64 = labels.map(|&label| u64::from(self.sums[label as usize])).sum();
            row.products = row.b * sum as f64;
        }
        self.node.squares = self.sums.iter().map(|&sum| f64::from(sum).powi(2)).sum();
    }

    /// What no split of the node is worth more than.
    pub(super) fn bound(&self) -> f64 {
        self.n_relevant
    }

    /// The best split of the node entered by a column; none if all of its rows have the same cell, or
    /// no split is allowed.
    pub(super) fn best(&mut self, column: &Column, allowed: Allowed) -> Option<Split> {
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        let rest = column.gather(&self.rows, &self.places, &mut cells);
        let rest = rest.filter(|_| cells.len() < self.rows.len());
        let is_constant = match cells.first() {
            Some(first) => rest.is_none() && cells.iter().all(|cell| cell.bin() == first.bin()),
            None => true,
        };
        let best = if is_constant {
            None
        } else {
            self.sort(&mut cells, column.n_bins());
            let (present, missing) =
                cells.split_at(cells.partition_point(|cell| cell.bin() < MISSING));
            let (min_rows, worth, best) = (allowed.min_rows, Fraction::NONE, None);
            let mut scan = Scan { splitter: self, missing, min_rows, worth, best };
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

    /// Sorts by bin.
    fn sort(&mut self, cells: &mut Vec<Cell>, n_bins: usize) {
        /// From so many cells on, counting is faster than comparing.
        const COUNTED: usize = 40;
        if cells.len() < COUNTED {
            cells.sort_unstable();
            return;
        }
        let mut n_in_bin = [0u32; MISSING as usize + 1];
        cells.iter().for_each(|cell| n_in_bin[usize::from(cell.bin())] += 1);
        let mut sum = 0;
        for bin in (0..n_bins).chain([usize::from(MISSING)]) {
            sum += std::mem::replace(&mut n_in_bin[bin], sum);
        }
        let mut places = n_in_bin;
        self.sorted.clear();
        self.sorted.resize(cells.len(), Cell::default());
        for &cell in cells.iter() {
            let place = &mut places[usize::from(cell.bin())];
            self.sorted[*place as usize] = cell;
            *place += 1;
        }
        std::mem::swap(cells, &mut self.sorted);
    }

    /// Moves a row to the side.
    #[inline(always)]
    fn add(&mut self, side: &mut Side, cell: &Cell) {
        let row = &self.here[cell.place()];
        // With a sign, because processors have an instruction that makes such a number a floating-point one.
        let mut sum = 0i64;
        for &label in self.labels.in_range(row.start..row.end) {
            let of_label = &mut self.sums[label as usize];
            sum += i64::from(*of_label);
            *of_label += row.n_draws;
        }
        side.squares += 2.0 * row.b * sum as f64 + row.own_squares;
        side.products += row.products;
        side.n += row.b;
        side.n_rows += 1;
    }

    fn add_all(&mut self, side: &mut Side, cells: &[Cell]) {
        cells.iter().for_each(|cell| self.add(side, cell));
    }
}

/// What a split is worth, not yet divided: a scan compares many and needs the quotient of one.
#[derive(Clone, Copy)]
struct Fraction {
    numerator: f64,
    denominator: f64,
}

impl Fraction {
    /// Less than any split is worth.
    const NONE: Fraction = Fraction { numerator: -1.0, denominator: 1.0 };

    fn is_more_than(self, other: Fraction) -> bool {
        self.numerator * other.denominator > other.numerator * self.denominator
    }
}

/// A scan over the cells of one input.
struct Scan<'s, 'a> {
    splitter: &'s mut Splitter<'a>,
    /// The rows of the node without a cell.
    missing: &'s [Cell],
    min_rows: usize,
    /// What the best split so far is worth.
    worth: Fraction,
    best: Option<Split>,
}

impl Scan<'_, '_> {
    /// An empty side, or one of the rows without a cell.
    fn start(&mut self, with_missing: bool) -> Side {
        self.splitter.sums.fill(0);
        let mut side = Side::default();
        if with_missing {
            self.splitter.add_all(&mut side, self.missing);
        }
        side
    }

    /// The side so far is the left or the right one, with or without the missing cells.
    #[inline(always)]
    fn consider(&mut self, side: &Side, is_left: bool, with_missing: bool, cut: impl Fn() -> Cut) {
        let node = &self.splitter.node;
        if side.n_rows < self.min_rows || node.n_rows - side.n_rows < self.min_rows {
            return;
        }
        let n_other = node.n - side.n;
        let other_squares = node.squares - 2.0 * side.products + side.squares;
        let numerator = side.squares * n_other + other_squares * side.n;
        let worth = Fraction { numerator, denominator: side.n * n_other };
        if worth.is_more_than(self.worth) {
            self.worth = worth;
            // Equal fractions have equal quotients, also where another input is compared with this one.
            let value = worth.numerator / worth.denominator;
            let missing_left = if self.missing.is_empty() {
                (side.n >= n_other) == is_left
            } else {
                with_missing == is_left
            };
            self.best = Some(Split { value, cut: cut(), missing_left });
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
        present: &[Cell],
        rest: Option<u8>,
        at_share: Option<f64>,
    ) {
        let n_below = match rest {
            Some(rest) => present.partition_point(|cell| cell.bin() < rest),
            None => present.len(),
        };
        let (below, above) = present.split_at(n_below);
        let bin = |cell: Option<&Cell>| cell.map(Cell::bin);
        let only = at_share.and_then(|share| {
            let lowest = bin(below.first()).or(rest)?;
            let highest = bin(above.last()).or(rest).or(bin(below.last()))?;
            (lowest < highest).then(|| column.at_share(share, lowest, highest))
        });
        for &with_missing in self.ways() {
            if !below.is_empty() || with_missing {
                self.add_in_turn(below.iter(), true, rest, only, with_missing);
            }
            if !above.is_empty() {
                self.add_in_turn(above.iter().rev(), false, rest, only, with_missing);
            }
        }
    }

    /// Adds one row after the other to the left or right side, and considers what there is before each new
    /// bin, and at the end.
    #[inline(always)]
    fn add_in_turn<'c>(
        &mut self,
        cells: impl Iterator<Item = &'c Cell>,
        is_left: bool,
        rest: Option<u8>,
        only: Option<u8>,
        with_missing: bool,
    ) {
        let mut side = self.start(with_missing);
        let mut edge = None;
        let consider = |scan: &mut Self, side: &Side, edge: Option<u8>, next: Option<u8>| {
            let (last, first) = if is_left { (edge, next) } else { (next, edge) };
            if let Some(only) = only
                && !(last.is_some_and(|it| it <= only) && first.is_some_and(|it| it > only))
            {
                return;
            }
            scan.consider(side, is_left, with_missing, || Cut::Between(last, first));
        };
        for cell in cells {
            let next = Some(cell.bin());
            if next != edge {
                consider(self, &side, edge, next);
                edge = next;
            }
            self.splitter.add(&mut side, cell);
        }
        consider(self, &side, edge, rest);
    }

    /// One name against all others.
    fn names(
        &mut self,
        column: &Column,
        present: &[Cell],
        rest: Option<u8>,
        at_share: Option<f64>,
    ) {
        let groups = || present.chunk_by(|a, b| a.bin() == b.bin());
        let n_others = groups().count();
        let n_names = n_others + usize::from(rest.is_some());
        let only = at_share.map(|share| (share * n_names as f64) as usize);
        let is_tried =
            |at: usize, bin: u8| only.is_none_or(|only| only == at) && column.value(bin).is_some();
        for &with_missing in self.ways() {
            for (at, group) in groups().enumerate() {
                if let Some(bin) = group.first().map(Cell::bin)
                    && is_tried(at, bin)
                {
                    let mut side = self.start(with_missing);
                    self.splitter.add_all(&mut side, group);
                    self.consider(&side, true, with_missing, || Cut::Only(bin));
                }
            }
            if let Some(rest) = rest
                && is_tried(n_others, rest)
            {
                let mut side = self.start(with_missing);
                self.splitter.add_all(&mut side, present);
                self.consider(&side, false, with_missing, || Cut::Only(rest));
            }
        }
    }
}
