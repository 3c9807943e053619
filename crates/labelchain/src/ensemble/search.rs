//! Which candidates to keep: those that vote best together on rows none of them was fitted on, and
//! whose orders differ (methods 5.1, a reconstruction).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use super::members::on_validation;
use super::{GeneticSearch, Subset};
use crate::base::ChainModel;
use crate::chain::{Chain, Independent};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::learner::Predictor as _;
use crate::loss::{Confusion, Rate, Undefined};
use crate::order::OrderDistance;
use crate::prepare::Prepared;
use crate::seed::Seed;

/// How a genetic search keeps K candidates.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `n_candidates` | 3 K | at least K | candidates to keep K of |
/// | `search` | | | how long and how wildly |
/// | `diversity` | precedence | | distance of orders that should be large, beside a small loss |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Genetic {
    /// Candidates to keep K of; 3 K if none.
    pub n_candidates: Option<usize>,
    /// How long and how wildly.
    pub search: GeneticSearch,
    /// Which distance of their orders should be large; only the loss counts if none.
    pub diversity: Option<OrderDistance>,
}

impl Default for Genetic {
    fn default() -> Genetic {
        let diversity = Some(OrderDistance::default());
        Genetic { n_candidates: None, search: GeneticSearch::default(), diversity }
    }
}

impl Genetic {
    /// How many candidates there are to keep so many of.
    pub fn n_candidates(&self, n_members: usize) -> Result<usize> {
        let n_candidates = self.n_candidates.unwrap_or(n_members.saturating_mul(3));
        match n_candidates < n_members {
            false => Ok(n_candidates),
            true => Err(Error::Setting {
                name: "candidates",
                value: n_candidates.to_string(),
                accepted: "at least as many as members to keep",
            }),
        }
    }

    /// The `n_members` contenders whose chains vote best together. Where `walked` is false they are
    /// asked as binary relevance, which has no orders to differ in.
    /// `progress` is told of each generation: how many are done, and the least loss so far.
    pub fn keep<M: ChainModel>(
        &self,
        n_members: usize,
        walked: bool,
        mut contenders: Vec<Candidate<M>>,
        train: &Prepared,
        seed: Seed,
        progress: &dyn Fn(usize, f64),
    ) -> Result<Vec<Candidate<M>>> {
        let jury = VoteTable::hear(&contenders, walked, train)?;
        let apart = |a: &Candidate<M>, b: &Candidate<M>| match self.diversity {
            Some(distance) if walked => distance.between(&a.order, &b.order),
            _ => 0.0,
        };
        let apart: Vec<Vec<f64>> =
            contenders.iter().map(|a| contenders.iter().map(|b| apart(a, b)).collect()).collect();
        let losses = |subset: &Subset| [jury.loss(subset), -mean_of_pairs(&apart, subset)];
        let alone: Vec<f64> = (0..contenders.len()).map(|at| jury.loss(&[at])).collect();
        let mut best: Subset = (0..contenders.len()).collect();
        best.sort_by(|&a, &b| alone[a].total_cmp(&alone[b]));
        best.truncate(n_members);
        best.sort_unstable();
        let front = self.search.run(
            contenders.len(),
            n_members,
            &[best],
            losses,
            seed.child("search", 0),
            progress,
        )?;
        let kept = front.first().map_or(&[][..], |individual| &individual.subset);
        contenders.retain(|candidate| kept.contains(&candidate.at));
        Ok(contenders)
    }
}

/// The mean over all pairs of different members; 0 if there is no pair.
fn mean_of_pairs(apart: &[Vec<f64>], subset: &[usize]) -> f64 {
    let sum: f64 = subset
        .iter()
        .enumerate()
        .map(|(at, &a)| subset[at + 1..].iter().map(|&b| apart[a][b]).sum::<f64>())
        .sum();
    let n_pairs = subset.len() * subset.len().saturating_sub(1) / 2;
    sum / n_pairs.max(1) as f64
}

/// What contenders say about rows whose labels are known: for each label, a bit for each row.
struct VoteTable {
    truth: Vec<Vec<u64>>,
    /// By contender.
    said: Vec<Vec<Vec<u64>>>,
}

impl VoteTable {
    fn hear<M: ChainModel>(
        contenders: &[Candidate<M>],
        walked: bool,
        train: &Prepared,
    ) -> Result<VoteTable> {
        let said = on_validation(contenders, train, |candidate, block| {
            let model = Arc::clone(&candidate.model);
            match walked {
                true => Chain { model, policy: candidate.order.clone() }.predict_block(block),
                false => Independent { model }.predict_block(block),
            }
        })?;
        let n_labels = train.data().n_labels();
        let by_label = |blocks: Vec<LabelMatrix>| columns(&LabelMatrix::concat(n_labels, &blocks));
        let rows = contenders.first().map_or(&[][..], |candidate| &candidate.validation);
        let truth = columns(&train.data().labels().select(rows));
        Ok(VoteTable { truth, said: said.into_iter().map(by_label).collect() })
    }

    /// Macro-F1 loss of the vote of some contenders.
    fn loss(&self, subset: &[usize]) -> f64 {
        let of_label = |label: usize| {
            let truth = &self.truth[label];
            let vote = |word| majority(subset.iter().map(|&at| self.said[at][label][word]));
            let votes: Vec<u64> = (0..truth.len()).map(vote).collect();
            let counts = Confusion::between(truth, &votes);
            Rate::F1.loss(&counts, Undefined::Paper).unwrap_or(0.0)
        };
        let n_labels = self.truth.len();
        (0..n_labels).map(of_label).sum::<f64>() / n_labels.max(1) as f64
    }
}

/// The bits of each label, one for each row.
fn columns(answers: &LabelMatrix) -> Vec<Vec<u64>> {
    let mut columns = vec![vec![0; answers.n_rows().div_ceil(64)]; answers.n_labels()];
    for row in 0..answers.n_rows() {
        answers.relevant(row).for_each(|LabelId(at)| columns[at][row / 64] |= 1 << (row % 64));
    }
    columns
}

/// Whether strictly more than half of the words have a bit, for 64 bits at once.
fn majority(words: impl Iterator<Item = u64>) -> u64 {
    // Digit d of the counts of all 64 bits is one word; a word is added as by hand, with carries.
    let mut counts = [0u64; usize::BITS as usize];
    let (mut n_digits, mut n_words) = (0, 0usize);
    for mut carry in words {
        n_words += 1;
        for digit in &mut counts[..n_digits] {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
        if carry != 0 {
            counts[n_digits] = carry;
            n_digits += 1;
        }
    }
    // A count is above half if it differs from it first, from the highest digit down, by a 1.
    let half = n_words / 2;
    let (mut above, mut equal) = (0, u64::MAX);
    let n_digits = n_digits.max((usize::BITS - half.leading_zeros()) as usize);
    for (at, &digit) in counts[..n_digits].iter().enumerate().rev() {
        let of_half = if half >> at & 1 == 1 { u64::MAX } else { 0 };
        above |= equal & digit & !of_half;
        equal &= !(digit ^ of_half);
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::decide_votes;
    use crate::loss::{Averaging, Criterion, Losses};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_majority_is_more_than_half_of_the_bits(words in prop::collection::vec(any::<u64>(), 0..40)) {
            let found = majority(words.iter().copied());
            for bit in 0..64 {
                let n = words.iter().filter(|&&word| word >> bit & 1 == 1).count();
                prop_assert_eq!(found >> bit & 1 == 1, 2 * n > words.len());
            }
        }

        #[test]
        fn the_loss_of_a_subset_is_that_of_its_vote(
            n_rows in 1usize..150, n_labels in 1usize..6, n in 1usize..9, seed: u64,
        ) {
            let mut rng = Seed::new(seed).rng();
            let mut random = || {
                let mut answers = LabelMatrix::empty(n_rows, n_labels);
                for row in 0..n_rows {
                    answers.ids().for_each(|label| answers.set(row, label, rng.chance(0.4)));
                }
                answers
            };
            let (truth, answers) = (random(), (0..n).map(|_| random()).collect::<Vec<_>>());
            let jury = VoteTable { truth: columns(&truth), said: answers.iter().map(columns).collect() };
            let subset: Vec<usize> = (0..n).step_by(2).collect();
            let mut votes = vec![0; n_rows * n_labels];
            crate::ensemble::count(subset.iter().map(|&at| &answers[at]), &mut votes);
            let vote = decide_votes(&votes, n_labels, subset.len());
            let losses = Losses::between(&truth, &vote, Undefined::Paper).unwrap();
            let expected = losses.get(Criterion::Of(Averaging::Macro, Rate::F1)).unwrap();
            prop_assert!((jury.loss(&subset) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn pairs_are_counted_once() {
        let apart = [[0.0, 0.2, 0.4], [0.2, 0.0, 0.9], [0.4, 0.9, 0.0]].map(|row| row.to_vec());
        // (0.2 + 0.4 + 0.9) / 3.
        assert!((mean_of_pairs(&apart, &[0, 1, 2]) - 0.5).abs() < 1e-15);
        assert_eq!(mean_of_pairs(&apart, &[1]), 0.0);
    }

    #[test]
    fn fewer_candidates_than_members_are_refused() {
        let few = Genetic { n_candidates: Some(5), ..Genetic::default() };
        assert!(few.n_candidates(6).unwrap_err().to_string().contains("candidates is 5"));
        assert_eq!(
            (few.n_candidates(5).unwrap(), Genetic::default().n_candidates(7).unwrap()),
            (5, 21)
        );
    }
}
