//! Which candidates become members: those that vote best together on the rows of the search, and
//! whose orders differ (docs/methods.md, 5.1, a reconstruction).

use super::validation::on_validation;
use super::{Candidate, GeneticSearch, Subset, VoteTies};
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
    vote_ties: VoteTies,
}

impl Genetic {
    /// A search for `n_members` members, as it is set, for a vote with this rule for ties.
    pub fn of(settings: &Settings, n_members: usize, vote_ties: VoteTies) -> Result<Genetic> {
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
        let diversity = settings.get(&DIVERSITY);
        Ok(Genetic { n_candidates, n_members, search, diversity, vote_ties })
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
        let answered: Vec<&[usize]> = candidates.iter().map(|of| &of.validation[..]).collect();
        let votes = VoteTable::new(train.data().labels(), &answered, answers);
        let distance = |a: &Candidate<M>, b: &Candidate<M>| match self.diversity {
            Some(distance) if has_orders => distance.between(&a.order, &b.order),
            _ => 0.0,
        };
        let distances: Vec<Vec<f64>> = candidates
            .iter()
            .map(|a| candidates.iter().map(|b| distance(a, b)).collect())
            .collect();
        let losses = |subset: &Subset| {
            [votes.loss(subset, self.vote_ties), -mean_of_pairs(&distances, subset)]
        };
        let alone: Vec<f64> =
            (0..candidates.len()).map(|at| votes.loss(&[at], self.vote_ties)).collect();
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
    /// Where it is known.
    known: Vec<Vec<u64>>,
    /// By candidate.
    decisions: Vec<Vec<Vec<u64>>>,
    /// The rows that each candidate votes on.
    voted: Vec<Vec<u64>>,
}

impl VoteTable {
    /// `rows` are those that each candidate votes on, ascending, and `answers` what it decides about
    /// them, block after block.
    fn new(truth: &LabelMatrix, rows: &[&[usize]], answers: Vec<Vec<LabelMatrix>>) -> VoteTable {
        let n_labels = truth.n_labels();
        let mut voted_rows: Vec<usize> = rows.concat();
        voted_rows.sort_unstable();
        voted_rows.dedup();
        let place = |row: &usize| voted_rows.partition_point(|other| other < row);
        let places: Vec<Vec<usize>> =
            rows.iter().map(|rows| rows.iter().map(place).collect()).collect();
        let decisions = answers.into_iter().zip(&places).map(|(blocks, places)| {
            columns(&LabelMatrix::concat(n_labels, &blocks), places, voted_rows.len())
        });
        let truth = truth.select(&voted_rows);
        let all: Vec<usize> = (0..voted_rows.len()).collect();
        let known =
            |label| bits(all.iter().copied().filter(|&at| truth.is_known(at, label)), all.len());
        VoteTable {
            known: truth.ids().map(known).collect(),
            truth: columns(&truth, &all, all.len()),
            decisions: decisions.collect(),
            voted: places
                .iter()
                .map(|places| bits(places.iter().copied(), voted_rows.len()))
                .collect(),
        }
    }

    /// Macro-F1 loss of the vote of some candidates, over the rows that at least one of them votes on
    /// and whose label is known.
    fn loss(&self, subset: &[usize], ties: VoteTies) -> f64 {
        let of_label = |label: usize| {
            let vote = |(word, &truth): (usize, &u64)| {
                let votes = subset.iter().map(|&at| {
                    let voted = self.voted[at][word];
                    (self.decisions[at][label][word], voted)
                });
                let vote = WordVote::of(votes);
                (truth & vote.has_votes, vote.relevant(ties) & self.known[label][word])
            };
            let (truth, votes): (Vec<u64>, Vec<u64>) =
                self.truth[label].iter().enumerate().map(vote).unzip();
            let counts = Confusion::between(&truth, &votes);
            Rate::F1.loss(&counts, Undefined::Paper).unwrap_or(0.0)
        };
        let n_labels = self.truth.len();
        (0..n_labels).map(of_label).sum::<f64>() / n_labels.max(1) as f64
    }
}

/// The bits of each label, where row i of the answers has the bit `places[i]` of `n`.
fn columns(answers: &LabelMatrix, places: &[usize], n: usize) -> Vec<Vec<u64>> {
    let mut columns = vec![vec![0; n.div_ceil(64)]; answers.n_labels()];
    for (row, place) in places.iter().enumerate() {
        answers.relevant(row).for_each(|LabelId(at)| columns[at][place / 64] |= 1 << (place % 64));
    }
    columns
}

/// `n` bits, of which these are set.
fn bits(places: impl Iterator<Item = usize>, n: usize) -> Vec<u64> {
    let mut bits = vec![0; n.div_ceil(64)];
    places.for_each(|place| bits[place / 64] |= 1 << (place % 64));
    bits
}

/// A vote on one label of 64 rows at once: a bit for each row.
struct WordVote {
    /// Whether more votes are for the label than against it.
    is_majority: u64,
    /// Whether as many are for it as against it.
    is_tie: u64,
    /// Whether anyone votes.
    has_votes: u64,
}

impl WordVote {
    /// From a word of each voter: where it decides that the label is relevant, and where it votes.
    fn of(words: impl Iterator<Item = (u64, u64)>) -> WordVote {
        let (mut votes_for, mut against) = (WordCounts::default(), WordCounts::default());
        let mut has_votes = 0;
        for (relevant, voted) in words {
            votes_for.add(relevant & voted);
            against.add(!relevant & voted);
            has_votes |= voted;
        }
        // The greater number has a 1 in the highest digit in which the two differ.
        let (mut is_majority, mut is_tie) = (0, u64::MAX);
        for at in (0..votes_for.n_digits.max(against.n_digits)).rev() {
            is_majority |= is_tie & votes_for.digits[at] & !against.digits[at];
            is_tie &= !(votes_for.digits[at] ^ against.digits[at]);
        }
        WordVote { is_majority, is_tie, has_votes }
    }

    fn relevant(&self, ties: VoteTies) -> u64 {
        match ties {
            VoteTies::Irrelevant => self.is_majority,
            VoteTies::Relevant => self.has_votes & (self.is_majority | self.is_tie),
        }
    }
}

/// 64 counts: word d holds binary digit d of all of them. A search has far fewer than 2³² members.
#[derive(Default)]
struct WordCounts {
    digits: [u64; 32],
    n_digits: usize,
}

impl WordCounts {
    /// Adds one to the counts of these bits, as by hand, with carries.
    fn add(&mut self, mut carry: u64) {
        for digit in &mut self.digits[..self.n_digits] {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
        if carry != 0 && self.n_digits < self.digits.len() {
            self.digits[self.n_digits] = carry;
            self.n_digits += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::votes;
    use crate::loss::{Averaging, Criterion, Losses};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_vote_as_their_bits_do(words in prop::collection::vec(any::<(u64, u64)>(), 0..40)) {
            let vote = WordVote::of(words.iter().copied());
            for bit in 0..64 {
                let is_set = |word: u64| word >> bit & 1 == 1;
                let voters: Vec<_> = words.iter().filter(|(_, voted)| is_set(*voted)).collect();
                let n_votes = voters.iter().filter(|(relevant, _)| is_set(*relevant)).count();
                for ties in [VoteTies::Irrelevant, VoteTies::Relevant] {
                    let expected = !voters.is_empty() && ties.is_relevant(n_votes, voters.len());
                    prop_assert_eq!(is_set(vote.relevant(ties)), expected);
                }
                prop_assert_eq!(is_set(vote.has_votes), !voters.is_empty());
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
            let all: Vec<usize> = (0..n_rows).collect();
            let blocks = answers.iter().map(|of| vec![of.clone()]).collect();
            let table = VoteTable::new(&truth, &vec![&all[..]; n], blocks);
            let subset: Vec<usize> = (0..n).step_by(2).collect();
            let mut counts = vec![0; n_rows * n_labels];
            subset.iter().for_each(|&at| votes::count(&answers[at], &mut counts));
            for ties in [VoteTies::Irrelevant, VoteTies::Relevant] {
                let vote = votes::majority(&counts, n_labels, subset.len(), ties);
                let losses = Losses::between(&truth, &vote, Undefined::Paper).unwrap();
                let expected = losses.get(Criterion::Of(Averaging::Macro, Rate::F1)).unwrap();
                prop_assert!((table.loss(&subset, ties) - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn candidates_vote_on_their_own_rows_only() {
        // One label, relevant to rows 3 and 5 of six. The first candidate votes on rows 1 and 3, the
        // second on 3 and 5; nobody votes on the other rows, which therefore do not count.
        let of = |rows: &[usize], n_rows| {
            let mut labels = LabelMatrix::empty(n_rows, 1);
            rows.iter().for_each(|&row| labels.set(row, LabelId(0), true));
            labels
        };
        let truth = of(&[3, 5], 6);
        let answers = vec![vec![of(&[0, 1], 2)], vec![of(&[0], 2)]];
        let table = VoteTable::new(&truth, &[&[1, 3], &[3, 5]], answers);
        let ties = VoteTies::Irrelevant;
        // Alone: row 1 wrongly, row 3 rightly: 1 - 2 / (2 + 1). Row 3 rightly, row 5 missed: the same.
        assert!((table.loss(&[0], ties) - 1.0 / 3.0).abs() < 1e-15);
        assert!((table.loss(&[1], ties) - 1.0 / 3.0).abs() < 1e-15);
        // Together: row 1 wrongly, row 3 rightly, row 5 missed: 1 - 2 / (2 + 1 + 1).
        assert!((table.loss(&[0, 1], ties) - 0.5).abs() < 1e-15);
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
        let of = |settings, n| Genetic::of(settings, n, VoteTies::Irrelevant);
        let message = of(&few, 6).unwrap_err().to_string();
        assert!(message.contains("candidates is 5"), "{message}");
        assert_eq!(of(&few, 5).unwrap().n_candidates(), 5);
        assert_eq!(of(&Settings::default(), 7).unwrap().n_candidates(), 21);
    }
}
