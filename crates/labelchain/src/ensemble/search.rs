//! Which candidates become members: those that vote best together on rows none of them was fitted
//! on, and whose orders differ (docs/methods.md, 5.1, a reconstruction).

use super::validation::on_validation;
use super::{Candidate, GeneticSearch, Subset};
use crate::chain::{BaseModel, Block};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::loss::{Confusion, Rate, Undefined};
use crate::order::OrderDistance;
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{Between, OneOf, Or, Setting, Settings, Whole};

/// How many candidates the search chooses among.
pub static CANDIDATES: Setting<Option<usize>> = Setting {
    name: "candidates",
    accepts: &Or("default", Whole(1..=100_000)),
    default: None,
    help: "Members trained, of which the search chooses K; by default 3 K",
};

/// Subsets alive at a time.
pub static POPULATION: Setting<usize> = Setting {
    name: "population",
    accepts: &Whole(2..=100_000),
    default: 50,
    help: "Subsets of members alive at a time",
};

/// How long the search goes on.
pub static GENERATIONS: Setting<usize> = Setting {
    name: "generations",
    accepts: &Whole(1..=1_000_000),
    default: 100,
    help: "Generations of the search",
};

/// How likely two subsets mix.
pub static CROSSOVER: Setting<f64> = Setting {
    name: "crossover",
    accepts: &Between(0.0, 1.0),
    default: 0.9,
    help: "How likely two subsets mix; a child is otherwise a copy of the first",
};

/// How likely a member is swapped.
pub static MUTATION: Setting<Option<f64>> = Setting {
    name: "mutation",
    accepts: &Or("default", Between(0.0, 1.0)),
    default: None,
    help: "How likely each member of a subset is swapped for another; by default 1 / K",
};

/// Which distance of orders should be large.
pub static DIVERSITY: Setting<Option<OrderDistance>> = Setting {
    name: "diversity",
    accepts: &Or("none", OneOf(&OrderDistance::WORDS)),
    default: Some(OrderDistance::Precedence),
    help: "Distance of the members' orders that should be large, beside a small loss",
};

/// How a genetic search chooses K candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Genetic {
    /// How many candidates to choose K of.
    n_candidates: usize,
    n_members: usize,
    search: GeneticSearch,
    /// Which distance of orders should be large; only the loss counts if none.
    diversity: Option<OrderDistance>,
}

impl Genetic {
    /// A search for `n_members` members, as it is set.
    pub fn of(settings: &Settings, n_members: usize) -> Result<Genetic> {
        let n_candidates = settings.get(&CANDIDATES).unwrap_or(n_members.saturating_mul(3));
        if n_candidates < n_members {
            return Err(Error::Value {
                name: CANDIDATES.name.into(),
                value: n_candidates.to_string(),
                accepted: "at least as many as members to choose".into(),
            });
        }
        let search = GeneticSearch {
            population: settings.get(&POPULATION),
            generations: settings.get(&GENERATIONS),
            crossover: settings.get(&CROSSOVER),
            mutation: settings.get(&MUTATION),
        };
        Ok(Genetic { n_candidates, n_members, search, diversity: settings.get(&DIVERSITY) })
    }

    /// How many candidates there are to choose from.
    pub fn n_candidates(&self) -> usize {
        self.n_candidates
    }

    /// How many generations the search takes.
    pub fn n_generations(&self) -> usize {
        self.search.generations
    }

    /// The candidates that vote best together. `decide` gives what one of them decides about a block,
    /// and `base` shows its model as what all models are; `has_orders` tells whether their orders may
    /// differ. `progress` is called after each generation with how many are done, and the least loss
    /// so far.
    #[allow(clippy::too_many_arguments, reason = "each is a different thing that the search needs")]
    pub fn choose<M: Clone + Sync>(
        &self,
        mut candidates: Vec<Candidate<M>>,
        train: &Prepared,
        has_orders: bool,
        base: impl Fn(&M) -> &dyn BaseModel,
        decide: impl Fn(&Candidate<M>, &Block) -> LabelMatrix + Sync,
        seed: Seed,
        progress: &dyn Fn(usize, f64),
    ) -> Result<Vec<Candidate<M>>> {
        let answers = on_validation(&candidates, train, base, decide)?;
        let rows = candidates.first().map_or(&[][..], |candidate| &candidate.validation);
        let votes = VoteTable::new(&train.data().labels().select(rows), answers);
        let distance = |a: &Candidate<M>, b: &Candidate<M>| match self.diversity {
            Some(distance) if has_orders => distance.between(&a.order, &b.order),
            _ => 0.0,
        };
        let distances: Vec<Vec<f64>> = candidates
            .iter()
            .map(|a| candidates.iter().map(|b| distance(a, b)).collect())
            .collect();
        let losses = |subset: &Subset| [votes.loss(subset), -mean_of_pairs(&distances, subset)];
        let alone: Vec<f64> = (0..candidates.len()).map(|at| votes.loss(&[at])).collect();
        let mut best: Subset = (0..candidates.len()).collect();
        best.sort_by(|&a, &b| alone[a].total_cmp(&alone[b]));
        best.truncate(self.n_members);
        best.sort_unstable();
        let front = self.search.run(
            candidates.len(),
            self.n_members,
            &[best],
            losses,
            seed.child("search", 0),
            &|done, least_loss| {
                progress(done, least_loss);
                train.cancel().check()
            },
        )?;
        let chosen = front.first().map_or(&[][..], |individual| &individual.subset);
        candidates.retain(|candidate| chosen.contains(&candidate.at));
        Ok(candidates)
    }
}

/// The mean over all pairs of different members; 0 if there is no pair.
fn mean_of_pairs(distances: &[Vec<f64>], subset: &[usize]) -> f64 {
    let sum: f64 = subset
        .iter()
        .enumerate()
        .map(|(at, &a)| subset[at + 1..].iter().map(|&b| distances[a][b]).sum::<f64>())
        .sum();
    let n_pairs = subset.len() * subset.len().saturating_sub(1) / 2;
    sum / n_pairs.max(1) as f64
}

/// What candidates decide about rows whose labels are known: for each label, a bit for each row.
struct VoteTable {
    truth: Vec<Vec<u64>>,
    /// By candidate.
    decisions: Vec<Vec<Vec<u64>>>,
}

impl VoteTable {
    /// `answers` are by candidate, block after block.
    fn new(truth: &LabelMatrix, answers: Vec<Vec<LabelMatrix>>) -> VoteTable {
        let by_label =
            |blocks: Vec<LabelMatrix>| columns(&LabelMatrix::concat(truth.n_labels(), &blocks));
        VoteTable { truth: columns(truth), decisions: answers.into_iter().map(by_label).collect() }
    }

    /// Macro-F1 loss of the vote of some candidates.
    fn loss(&self, subset: &[usize]) -> f64 {
        let of_label = |label: usize| {
            let truth = &self.truth[label];
            let vote = |word| majority(subset.iter().map(|&at| self.decisions[at][label][word]));
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
    use crate::ensemble::votes;
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
            let table = VoteTable::new(&truth, answers.iter().map(|of| vec![of.clone()]).collect());
            let subset: Vec<usize> = (0..n).step_by(2).collect();
            let mut counts = vec![0; n_rows * n_labels];
            subset.iter().for_each(|&at| votes::count(&answers[at], &mut counts));
            let vote = votes::majority(&counts, n_labels, subset.len());
            let losses = Losses::between(&truth, &vote, Undefined::Paper).unwrap();
            let expected = losses.get(Criterion::Of(Averaging::Macro, Rate::F1)).unwrap();
            prop_assert!((table.loss(&subset) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn pairs_are_counted_once() {
        let distances = [[0.0, 0.2, 0.4], [0.2, 0.0, 0.9], [0.4, 0.9, 0.0]].map(|row| row.to_vec());
        // (0.2 + 0.4 + 0.9) / 3.
        assert!((mean_of_pairs(&distances, &[0, 1, 2]) - 0.5).abs() < 1e-15);
        assert_eq!(mean_of_pairs(&distances, &[1]), 0.0);
    }

    #[test]
    fn fewer_candidates_than_members_are_refused() {
        let few = Settings::default().with(&CANDIDATES, Some(5)).unwrap();
        let message = Genetic::of(&few, 6).unwrap_err().to_string();
        assert!(message.contains("candidates is 5"), "{message}");
        assert_eq!(Genetic::of(&few, 5).unwrap().n_candidates(), 5);
        assert_eq!(Genetic::of(&Settings::default(), 7).unwrap().n_candidates(), 21);
    }
}
