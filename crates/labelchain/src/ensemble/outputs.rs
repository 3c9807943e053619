//! What members say about rows, pooled, and the answers that are made of it.

use std::ops::Range;

use rayon::prelude::*;

use super::votes::{count, majority};
use super::{Ensemble, Member, Queries, RowBlock, rows_at_once};
use crate::chain::{Block, Outputs, Scale};
use crate::data::{LabelId, LabelMatrix};
use crate::decide::{Aim, Calibration, DecisionRule, HeldOutScores, RowOutput};
use crate::distance::Neighbourhood;
use crate::error::{Error, Result};
use crate::prepare::Prepared;
use crate::progress::Cancel;
use crate::seed::Seed;

/// What an ensemble answers about rows.
#[derive(Clone, Debug)]
pub struct EnsembleOutput {
    /// How many members decided each label to be relevant, row by row.
    pub votes: Vec<u32>,
    /// The probability of each label, row by row; none where it was not asked for, or where scores are
    /// margins and nothing was learned about them.
    pub probabilities: Option<Vec<f64>>,
    /// The answer for each aim that was asked for.
    pub answers: Vec<LabelMatrix>,
}

impl Ensemble {
    /// Labels standardized rows for each of some aims, and gives probabilities if they are wanted. Members
    /// are walked once, whatever is asked for.
    pub fn answer(
        &self,
        queries: &Queries,
        aims: &[Aim],
        wants_probabilities: bool,
        cancel: &Cancel,
    ) -> Result<EnsembleOutput> {
        if !wants_probabilities && aims.iter().all(|aim| aim.is_by_votes()) {
            let votes = self.votes(queries, cancel)?;
            let answers = aims.iter().map(|_| self.decide(&votes)).collect();
            return Ok(EnsembleOutput { votes, probabilities: None, answers });
        }
        let rules: Vec<DecisionRule> =
            aims.iter().map(|&aim| self.rule(aim)).collect::<Result<_>>()?;
        let Queries { rows, known, .. } = queries;
        let n_cells = rows.n_rows() * self.n_labels;
        let (mut votes, mut probabilities) = (vec![0u32; n_cells], Vec::with_capacity(n_cells));
        let mut answers: Vec<LabelMatrix> =
            aims.iter().map(|_| LabelMatrix::empty(rows.n_rows(), self.n_labels)).collect();
        let mut is_probability = true;
        self.ask(queries, cancel, Member::outputs, |start, outputs: Vec<Outputs>| {
            let here = outputs.first().map_or(0, |of| of.decisions.n_rows());
            let votes = &mut votes[start * self.n_labels..(start + here) * self.n_labels];
            outputs.iter().for_each(|of| count(&of.decisions, votes));
            let mut scores = mean_scores(&outputs);
            match &self.calibration {
                Some(calibration) => calibration.calibrate(&mut scores),
                None => is_probability &= outputs.iter().all(|of| of.scale == Scale::Probability),
            }
            for (row, label, relevant) in known_cells(*known, start..start + here) {
                let place = (row - start) * self.n_labels + label.0;
                scores[place] = f64::from(u8::from(relevant));
            }
            let majority = majority(votes, self.n_labels, self.members.len(), self.vote_ties);
            let weight = 1.0 / outputs.len() as f64;
            for row in 0..here {
                let label_sets: Vec<(f64, &[u64])> =
                    outputs.iter().map(|of| (weight, of.decisions.row(row))).collect();
                let output = RowOutput {
                    majority: majority.row(row),
                    probabilities: &scores[row * self.n_labels..(row + 1) * self.n_labels],
                    label_sets: &label_sets,
                };
                for (answers, rule) in answers.iter_mut().zip(&rules) {
                    answers.write_row(start + row, &rule.decide(&output));
                }
            }
            probabilities.append(&mut scores);
        })?;
        // Known labels are no answers, whatever the aim is.
        for (row, label, relevant) in known_cells(*known, 0..rows.n_rows()) {
            answers.iter_mut().for_each(|answers| answers.set(row, label, relevant));
        }
        if !is_probability && !aims.iter().all(|aim| aim.is_by_votes()) {
            let what = "the probability of a label whose score is a margin".into();
            return Err(Error::Uncalibrated { what });
        }
        let probabilities = is_probability.then_some(probabilities);
        Ok(EnsembleOutput { votes, probabilities, answers })
    }

    /// How answers are made for an aim.
    fn rule(&self, aim: Aim) -> Result<DecisionRule> {
        match &self.calibration {
            Some(calibration) => Ok(DecisionRule::of(aim, calibration)),
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
    pub(crate) fn calibrate(&mut self, train: &Prepared, seed: Seed) -> Result<()> {
        let held_out = self.held_out_scores(train)?;
        let learn = |held_out: HeldOutScores| {
            Calibration::learn(&held_out, train.data().labels(), seed.child("calibration", 0))
        };
        self.calibration = held_out.map(learn);
        Ok(())
    }

    /// The mean scores of training rows, each by the members that have not seen it; none where there is no
    /// such row.
    fn held_out_scores(&self, train: &Prepared) -> Result<Option<HeldOutScores>> {
        let (data, n_labels) = (train.data(), self.n_labels);
        let unseen = |is_seen: &dyn Fn(&Member) -> Vec<bool>| -> Vec<Vec<usize>> {
            let of = |member: &Member| {
                let seen = is_seen(member);
                (0..data.n_rows()).filter(|&row| !seen[row]).collect()
            };
            self.members.iter().map(of).collect()
        };
        let mark = |lists: &[&[usize]]| {
            let mut seen = vec![false; data.n_rows()];
            lists.iter().flat_map(|rows| rows.iter()).for_each(|&row| seen[row] = true);
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
        let near = self.needs_neighbourhood().then(|| Neighbourhood::of_prepared(train));
        let near = near.transpose()?;
        let mut sums = vec![0.0; data.n_rows() * n_labels];
        let mut n_members = vec![0u32; data.n_rows()];
        let mut scale = Scale::Probability;
        let step = rows_at_once(near.as_ref());
        for start in (0..data.n_rows()).step_by(step) {
            let block = RowBlock::new(data, start, near.as_ref(), self.decay(), self.needs())?;
            let here = |unseen: &Vec<usize>| {
                let from = unseen.partition_point(|&row| row < start);
                let to = unseen.partition_point(|&row| row < start + step);
                unseen[from..to].to_vec()
            };
            let answers = self.members.par_iter().zip(&by_member).map(|(member, unseen)| {
                train.cancel().check()?;
                let rows = here(unseen);
                let places: Vec<usize> = rows.iter().map(|row| row - start).collect();
                let outputs = block.with_selected(&places, |block| member.outputs(block));
                Ok((rows, outputs))
            });
            // One member after the other, so that sums do not depend on the threads.
            for (rows, outputs) in answers.collect::<Result<Vec<_>>>()? {
                if !rows.is_empty() {
                    scale = outputs.scale;
                }
                for (row, scores) in
                    rows.into_iter().zip(outputs.scores.chunks_exact(n_labels.max(1)))
                {
                    n_members[row] += 1;
                    let sums = &mut sums[row * n_labels..(row + 1) * n_labels];
                    sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
                }
            }
        }
        let rows: Vec<usize> = (0..data.n_rows()).filter(|&row| n_members[row] > 0).collect();
        let mut scores = Vec::with_capacity(rows.len() * n_labels);
        for &row in &rows {
            let n = f64::from(n_members[row]);
            scores.extend(sums[row * n_labels..(row + 1) * n_labels].iter().map(|sum| sum / n));
        }
        Ok((!rows.is_empty()).then_some(HeldOutScores { scale, rows, scores }))
    }
}

impl Member {
    /// What it decides about the rows of a block, and how strongly it speaks.
    fn outputs(&self, block: &Block) -> Outputs {
        let mut outputs = Outputs::new(block.n_rows(), self.model().n_labels());
        self.walk(block, &mut outputs);
        outputs
    }
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
