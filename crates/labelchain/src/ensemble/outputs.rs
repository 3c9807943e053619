//! What members say about rows, pooled, and the answers that are made of it.

use std::ops::Range;

use rayon::prelude::*;

use super::blocks::BLOCK;
use super::votes::{count, majority};
use super::{Ensemble, Member, Queries, RowBlock, rows_at_once};
use crate::chain::{Block, OrderCounts, Outputs, Scale, Wanted, WeightedLabelSets};
use crate::data::{Dataset, LabelId, LabelMatrix};
use crate::decide::{Aim, Calibration, DecisionRule, HeldOutScores, RowOutput};
use crate::distance::Neighbourhood;
use crate::error::{Error, Result};
use crate::loss::{Losses, Undefined};
use crate::prepare::Prepared;
use crate::progress::Cancel;
use crate::seed::Seed;

/// The most training rows that calibrate an ensemble whose members measure each of them against all others: to take
/// all rows would cost time that grows with the square of their number.
pub(crate) const MAX_CALIBRATION_ROWS: usize = 10_000;

/// What an ensemble answers about rows.
#[derive(Clone, Debug)]
pub struct EnsembleOutput {
    /// How many members decided each label to be relevant, row by row.
    pub votes: Vec<u32>,
    /// The probability of each label, row by row; none where it was not asked for, or where scores are
    /// margins and nothing was learned about them.
    pub probabilities: Option<Vec<f64>>,
    /// The mean margin of each label, row by row, where probabilities were asked for and there are only
    /// margins.
    pub margins: Option<Vec<f64>>,
    /// The answer for each aim that was asked for.
    pub answers: Vec<LabelMatrix>,
    /// Where labels stood in the orders of all members and rows; none where it was not asked for, or where
    /// members do not choose an order for each row.
    pub orders: Option<OrderCounts>,
}

/// What an ensemble is to give beside answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// The probability of each label.
    pub probabilities: bool,
    /// How answers came about: where labels stood in the orders that were chosen.
    pub details: bool,
}

/// Rows that an ensemble was trained on, and is asked about as far as its members have not seen them.
pub(crate) struct SeenRows<'a> {
    /// Some of the training rows, one after the other, standardized.
    pub(crate) data: &'a Dataset,
    /// The number of the first among all training rows.
    pub(crate) first: usize,
    /// Which of them are asked about, ascending.
    pub(crate) asked: &'a [usize],
    /// All training rows, where members measure distances to them.
    pub(crate) near: Option<&'a Neighbourhood<'a>>,
    /// Whether members answer by the parts of them that have not seen a row.
    pub(crate) out_of_bag: bool,
    pub(crate) cancel: &'a Cancel,
}

impl Ensemble {
    /// Labels standardized rows for each of some aims, and gives what else is wanted. Members are walked
    /// once, whatever is asked for.
    pub fn answer(
        &self,
        queries: &Queries,
        aims: &[Aim],
        wanted: OutputOptions,
        cancel: &Cancel,
    ) -> Result<EnsembleOutput> {
        if wanted == OutputOptions::default() && aims.iter().all(|aim| aim.is_by_votes()) {
            let votes = self.votes(queries, cancel)?;
            let answers = aims.iter().map(|_| self.decide(&votes)).collect();
            let (probabilities, margins, orders) = (None, None, None);
            return Ok(EnsembleOutput { votes, probabilities, margins, answers, orders });
        }
        let rules: Vec<DecisionRule> =
            aims.iter().map(|&aim| self.rule(aim)).collect::<Result<_>>()?;
        let Queries { rows, known, .. } = queries;
        let n_cells = rows.n_rows() * self.n_labels;
        let (mut votes, mut all_scores) = (vec![0u32; n_cells], Vec::with_capacity(n_cells));
        let mut answers: Vec<LabelMatrix> =
            aims.iter().map(|_| LabelMatrix::empty(rows.n_rows(), self.n_labels)).collect();
        let is_probability = self.calibration.is_some() || !self.gives_margins();
        let keeps_laws = rules.iter().any(DecisionRule::needs_label_sets);
        let mut orders =
            (wanted.details && self.chooses_orders()).then(|| OrderCounts::new(self.n_labels));
        let counts_orders = orders.is_some();
        let ask = |member: &Member, block: &Block| member.outputs(block, keeps_laws, counts_orders);
        self.ask(queries, cancel, ask, |start, outputs: Vec<Outputs>| {
            if let Some(orders) = &mut orders {
                outputs.iter().filter_map(|of| of.orders.as_ref()).for_each(|of| orders.merge(of));
            }
            let here = outputs.first().map_or(0, |of| of.decisions.n_rows());
            let votes = &mut votes[start * self.n_labels..(start + here) * self.n_labels];
            outputs.iter().for_each(|of| count(&of.decisions, votes));
            let mut scores = mean_scores(&outputs);
            if let Some(calibration) = &self.calibration {
                calibration.calibrate(&mut scores);
            }
            for (row, label, relevant) in known_cells(*known, start..start + here) {
                let place = (row - start) * self.n_labels + label.0;
                scores[place] = f64::from(u8::from(relevant));
            }
            let majority = majority(votes, self.n_labels, self.members.len(), self.vote_ties);
            for row in 0..here {
                let mut label_sets = label_sets(&outputs, row, keeps_laws);
                for (_, label, relevant) in known_cells(*known, start + row..start + row + 1) {
                    let bit = 1 << (label.0 % 64);
                    for (_, set) in &mut label_sets {
                        let word = &mut set[label.0 / 64];
                        *word = if relevant { *word | bit } else { *word & !bit };
                    }
                }
                let label_sets: Vec<(f64, &[u64])> =
                    label_sets.iter().map(|(weight, set)| (*weight, &set[..])).collect();
                let output = RowOutput {
                    majority: majority.row(row),
                    probabilities: &scores[row * self.n_labels..(row + 1) * self.n_labels],
                    label_sets: &label_sets,
                };
                for (answers, rule) in answers.iter_mut().zip(&rules) {
                    answers.write_row(start + row, &rule.decide(&output));
                }
            }
            all_scores.append(&mut scores);
        })?;
        // Known labels are no answers, whatever the aim is.
        for (row, label, relevant) in known_cells(*known, 0..rows.n_rows()) {
            answers.iter_mut().for_each(|answers| answers.set(row, label, relevant));
        }
        let (probabilities, margins) =
            if is_probability { (Some(all_scores), None) } else { (None, Some(all_scores)) };
        Ok(EnsembleOutput { votes, probabilities, margins, answers, orders })
    }

    /// For each label the probability from which on an aim gives it, none where it is never given; `None`
    /// where the aim does not go by thresholds, or these were not learned.
    pub fn thresholds(&self, aim: Aim) -> Option<Vec<Option<f64>>> {
        match self.rule(aim) {
            Ok(DecisionRule::Thresholds(thresholds)) => Some(thresholds),
            _ => None,
        }
    }

    /// Whether scores are margins, which are no probabilities until they are calibrated.
    fn gives_margins(&self) -> bool {
        self.members.iter().any(|member| member.model().scale() == Scale::Margin)
    }

    /// How answers are made for an aim; an error where it needs what could not be learned.
    pub(crate) fn rule(&self, aim: Aim) -> Result<DecisionRule> {
        match &self.calibration {
            Some(calibration) => Ok(DecisionRule::of(aim, calibration)),
            None if self.gives_margins() && !aim.is_by_votes() => {
                let what =
                    format!("the aim {aim}, which needs probabilities, of scores that are margins");
                Err(Error::Uncalibrated { what })
            }
            // Thresholds come from rows that members have not seen.
            None => DecisionRule::uncalibrated(aim, self.n_labels)
                .ok_or_else(|| Error::Uncalibrated { what: format!("the aim {aim}") }),
        }
    }

    /// How scores become probabilities; none where no training row was left to learn it from.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Learns how scores become probabilities from the training rows that members have not seen. Where
    /// every member has seen every row, nothing is learned.
    ///
    /// Where models answer out of bag, every row is asked of all members, each of which answers by the
    /// parts of it that have not seen the row.
    pub(crate) fn calibrate(
        &mut self,
        train: &Prepared,
        out_of_bag: bool,
        seed: Seed,
    ) -> Result<Option<HeldOutScores>> {
        let data = train.data();
        let near = self.needs_neighbourhood().then(|| Neighbourhood::of_prepared(train));
        let held_out = self.held_out_scores(&SeenRows {
            data,
            first: 0,
            asked: &self.calibrating_rows(data.n_rows(), train.memory().limit()),
            near: near.transpose()?.as_ref(),
            out_of_bag,
            cancel: train.cancel(),
        })?;
        self.calibrate_by(held_out.as_ref(), data.labels(), seed);
        Ok(held_out)
    }

    /// The same of scores that were found out before, and the labels of the rows that they name.
    pub(crate) fn calibrate_by(
        &mut self,
        held_out: Option<&HeldOutScores>,
        labels: &LabelMatrix,
        seed: Seed,
    ) {
        let seed = seed.child("calibration", 0);
        self.calibration = held_out.map(|held_out| Calibration::learn(held_out, labels, seed));
    }

    /// Which of so many training rows the ensemble is calibrated by, where that may take so many bytes: all of
    /// them, or fewer, evenly spread.
    pub(crate) fn calibrating_rows(&self, n_rows: usize, max_memory: u64) -> Vec<usize> {
        let most = rows_within(self.n_labels, max_memory);
        let is_measured = self.needs_neighbourhood();
        evenly_spread(n_rows, if is_measured { most.min(MAX_CALIBRATION_ROWS) } else { most })
    }

    /// The losses of answers for an aim about training rows, each by the members that have not seen it;
    /// none for an aim that looks at label sets, which are not kept. Thresholds were chosen by the same
    /// rows, so that the losses of aims with thresholds are a little too small; where few members have not
    /// seen a row, the losses are larger than those of all members.
    pub(crate) fn held_out_losses(
        &self,
        held_out: &HeldOutScores,
        aim: Aim,
        truth: &LabelMatrix,
    ) -> Result<Option<Losses>> {
        let rule = self.rule(aim)?;
        let Some(calibration) = self.calibration.as_ref().filter(|_| !rule.needs_label_sets())
        else {
            return Ok(None);
        };
        let mut probabilities = held_out.scores.clone();
        calibration.calibrate(&mut probabilities);
        let mut answers = held_out.votes.clone();
        for (row, probabilities) in probabilities.chunks(self.n_labels.max(1)).enumerate() {
            let majority = held_out.votes.row(row);
            let output = RowOutput { majority, probabilities, label_sets: &[] };
            answers.write_row(row, &rule.decide(&output));
        }
        let truth = truth.select(&held_out.rows);
        Losses::between(&truth, &answers, Undefined::default()).map(Some)
    }

    /// The mean scores of training rows, each by the members that have not seen it; none where there is no
    /// such row.
    pub(crate) fn held_out_scores(&self, seen: &SeenRows) -> Result<Option<HeldOutScores>> {
        self.load(Wanted::Everything)?;
        let &SeenRows { data, first, asked: rows, near, out_of_bag, cancel } = seen;
        let n_labels = self.n_labels;
        let unseen = |is_seen: &dyn Fn(&Member) -> Vec<bool>| -> Vec<Vec<usize>> {
            let of = |member: &Member| {
                let seen = is_seen(member);
                rows.iter().copied().filter(|&row| !seen[row]).collect()
            };
            self.members.iter().map(of).collect()
        };
        let mark = |lists: &[&[usize]]| {
            let mut seen = vec![false; data.n_rows()];
            for rows in lists {
                let from = rows.partition_point(|&row| row < first);
                let here = rows[from..].iter().map(|row| row - first);
                here.take_while(|&row| row < data.n_rows()).for_each(|row| seen[row] = true);
            }
            seen
        };
        // An order policy has learned from the validation rows. Where members draw all rows, these are
        // nevertheless the only ones that they were not fitted on.
        let mut by_member = unseen(&|member: &Member| match member.policy() {
            Some(_) => mark(&[&member.fitting, &member.validation]),
            None => mark(&[&member.fitting]),
        });
        if by_member.iter().all(Vec::is_empty) {
            by_member = unseen(&|member: &Member| mark(&[&member.fitting]));
        }
        if out_of_bag {
            by_member = unseen(&|_: &Member| mark(&[]));
        }
        let mut sums = vec![0.0; rows.len() * n_labels];
        let mut votes = vec![0u32; rows.len() * n_labels];
        let mut n_members = vec![0u32; rows.len()];
        let mut place_of = vec![0; data.n_rows()];
        rows.iter().enumerate().for_each(|(place, &row)| place_of[row] = place);
        let mut scale = Scale::Probability;
        for asked in rows.chunks(self.held_out_at_once(near)) {
            let (decay, needs) = (self.decay(), self.needs());
            let block = RowBlock::of_rows(data, asked.to_vec(), near, decay, needs)?;
            let answers = self.members.par_iter().zip(&by_member).map(|(member, unseen)| {
                cancel.check()?;
                let from = asked.first().map_or(0, |first| unseen.partition_point(|it| it < first));
                let to = asked.last().map_or(0, |last| unseen.partition_point(|it| it <= last));
                let rows = unseen[from..to].to_vec();
                let place = |row: &usize| asked.binary_search(row).ok();
                let places: Vec<usize> = rows.iter().filter_map(place).collect();
                let ask = |block: &Block| member.outputs(block, false, false);
                let outputs = block.with_selected(&places, out_of_bag, ask);
                Ok((rows, outputs))
            });
            // One member after the other, so that sums do not depend on the threads.
            for (rows, outputs) in answers.collect::<Result<Vec<_>>>()? {
                if !rows.is_empty() {
                    scale = outputs.scale;
                }
                let scores = outputs.scores.chunks_exact(n_labels.max(1));
                for (at, (row, scores)) in rows.into_iter().zip(scores).enumerate() {
                    // A row that every tree drew was seen by all of them.
                    if outputs.is_unanswered[at] {
                        continue;
                    }
                    let place = place_of[row];
                    n_members[place] += 1;
                    let relevant = outputs.decisions.relevant(at);
                    relevant.for_each(|label| votes[place * n_labels + label.0] += 1);
                    let sums = &mut sums[place * n_labels..(place + 1) * n_labels];
                    sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
                }
            }
        }
        let (mut asked, mut scores) = (Vec::new(), Vec::new());
        let mut answers = LabelMatrix::new(n_labels);
        for (place, (&row, sums)) in rows.iter().zip(sums.chunks(n_labels.max(1))).enumerate() {
            let n = n_members[place];
            if n > 0 {
                asked.push(row);
                scores.extend(sums.iter().map(|sum| sum / f64::from(n)));
                let votes = &votes[place * n_labels..(place + 1) * n_labels];
                let vote = majority(votes, n_labels, n as usize, self.vote_ties);
                let at = answers.push_row();
                answers.write_row(at, vote.row(0));
            }
        }
        let held_out = HeldOutScores { votes: answers, scale, rows: asked, scores };
        Ok((!held_out.rows.is_empty()).then_some(held_out))
    }

    /// How many training rows are scored at a time. A model of any order makes its parts ready for each
    /// block anew, so that larger blocks are better where no distances have to be kept for them.
    fn held_out_at_once(&self, train: Option<&Neighbourhood>) -> usize {
        const MOST_CELLS: usize = 1 << 15;
        let is_any_order = self.members.iter().all(|member| member.any_order_model().is_some());
        match train {
            None if is_any_order => BLOCK.max(MOST_CELLS / self.n_labels.max(1)),
            _ => rows_at_once(train, self.decay()),
        }
    }
}

impl Member {
    /// What it decides about the rows of a block, and how strongly it speaks.
    fn outputs(&self, block: &Block, keeps_laws: bool, counts_orders: bool) -> Outputs {
        let mut outputs = Outputs::new(block.n_rows(), self.model().n_labels(), keeps_laws);
        if counts_orders {
            outputs = outputs.counting_orders();
        }
        self.walk(block, &mut outputs);
        outputs
    }
}

/// How many rows have scores that can be learned from within so many bytes. Beyond some millions of cells, more of
/// them would take longer and tell nothing new.
fn rows_within(n_labels: usize, max_memory: u64) -> usize {
    // A score and its sum, then sorted by label with its row and its label, as score and as probability, of
    // each label and of all labels together.
    const BYTES_A_CELL: u64 = 96;
    const MOST_CELLS: u64 = 1 << 25;
    let n_cells = (max_memory / BYTES_A_CELL).min(MOST_CELLS);
    (n_cells / n_labels.max(1) as u64) as usize
}

/// All of the rows, or the most that are wanted of them, evenly spread.
fn evenly_spread(n_rows: usize, most: usize) -> Vec<usize> {
    let n = n_rows.min(most);
    (0..n).map(|at| (at as u128 * n_rows as u128 / n as u128) as usize).collect()
}

/// The label sets that members speak of for a row: what the models know of them jointly or, where they know
/// nothing, what each member decided, all with the same weight. Empty where no rule looks at them.
fn label_sets(outputs: &[Outputs], row: usize, is_needed: bool) -> WeightedLabelSets {
    let weight = 1.0 / outputs.len() as f64;
    let mut sets = WeightedLabelSets::new();
    for of in outputs.iter().filter(|_| is_needed) {
        match &of.joint_laws[row] {
            Some(law) => sets.extend(law.iter().map(|(share, set)| (share * weight, set.clone()))),
            None => sets.push((weight, of.decisions.row(row).to_vec())),
        }
    }
    sets
}

/// The known labels of some rows, and whether each is relevant.
fn known_cells(
    known: Option<&LabelMatrix>,
    rows: Range<usize>,
) -> impl Iterator<Item = (usize, LabelId, bool)> + '_ {
    known.into_iter().flat_map(move |known| {
        let of_row = move |row| {
            let cell = move |label| Some((row, label, known.cell(row, label)?));
            known.ids().filter_map(cell)
        };
        rows.clone().flat_map(of_row)
    })
}

/// The mean over members, row by row, by label.
fn mean_scores(outputs: &[Outputs]) -> Vec<f64> {
    let mut sums = vec![0.0; outputs.first().map_or(0, |of| of.scores.len())];
    for of in outputs {
        sums.iter_mut().zip(&of.scores).for_each(|(sum, score)| *sum += score);
    }
    let n = outputs.len() as f64;
    sums.iter_mut().for_each(|sum| *sum /= n);
    sums
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::{NaiveBayes, NearestNeighbours};
    use crate::chain::{AnyOrderModel, ChainLearner};
    use crate::ensemble::{ChosenOrders, MemberChain, VoteTies};

    #[test]
    fn of_rows_that_are_measured_against_all_others_ten_thousand_are_asked() {
        let data = Dataset::from_rows(1, &[0.0, 1.0, 2.0]).unwrap();
        let data = data.with_label_indicators(&["a"], &[true, false, true]).unwrap();
        let (train, rows) = (Prepared::as_is(&data), [0, 1, 2]);
        let n_asked = |model: Arc<dyn AnyOrderModel>| {
            let chain = MemberChain::AnyOrder { model, orders: ChosenOrders::Independent };
            let member = Member { chain, candidate: 0, fitting: vec![], validation: vec![] };
            let ensemble = Ensemble::new(vec![member], 1, VoteTies::Irrelevant);
            ensemble.calibrating_rows(30_000, u64::MAX).len()
        };
        let near = NearestNeighbours::default().fit(&train, &rows, Seed::new(1)).unwrap();
        let bayes = NaiveBayes::default().fit(&train, &rows, Seed::new(1)).unwrap();
        assert_eq!([n_asked(Arc::new(near)), n_asked(Arc::new(bayes))], [10_000, 30_000]);
    }

    #[test]
    fn rows_that_are_learned_from_are_as_many_as_memory_holds_spread_over_all() {
        // 96 bytes for each of two cells: 768 bytes hold four rows.
        assert_eq!([100, 768].map(|bytes| rows_within(2, bytes)), [0, 4]);
        assert_eq!(evenly_spread(5, 9), [0, 1, 2, 3, 4]);
        assert_eq!(evenly_spread(10, 4), [0, 2, 5, 7]);
        assert!(evenly_spread(10, 0).is_empty() && evenly_spread(0, 4).is_empty());
    }
}
