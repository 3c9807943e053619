//! Votes of members, and what a majority decides.

use crate::data::{LabelId, LabelMatrix};
use crate::settings::{OneOf, Setting};

/// `vote-ties`: what a vote of exactly one half decides.
pub static VOTE_TIES: Setting<VoteTies> = Setting {
    name: "vote-ties",
    accepts: &OneOf(&[("irrelevant", VoteTies::Irrelevant), ("relevant", VoteTies::Relevant)]),
    default: VoteTies::Irrelevant,
    help: "What a label is that exactly half of the members vote for: irrelevant as in the paper's formula, or relevant as in Mulan",
};

/// What a label is that exactly half of the members vote for. An even number of members ties often
/// enough to be seen in the losses: with K = 20, one to three cells in a hundred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteTies {
    /// Relevant means strictly more than half of the votes, as in the paper's formula.
    Irrelevant,
    /// Relevant means at least half of the votes, as in Mulan's ensembles.
    Relevant,
}

impl VoteTies {
    /// Whether so many votes, out of so many members, make a label relevant.
    pub fn is_relevant(self, n_votes: usize, n_members: usize) -> bool {
        match self {
            VoteTies::Irrelevant => 2 * n_votes > n_members,
            VoteTies::Relevant => 2 * n_votes >= n_members,
        }
    }
}

/// Adds one vote for each relevant label of the answers; `votes` starts with their first row and is
/// row by row, by label.
pub(crate) fn count(answers: &LabelMatrix, votes: &mut [u32]) {
    for row in 0..answers.n_rows() {
        for label in answers.relevant(row) {
            votes[row * answers.n_labels() + label.0] += 1;
        }
    }
}

/// The labels with a majority of the votes.
pub(crate) fn majority(
    votes: &[u32],
    n_labels: usize,
    n_members: usize,
    ties: VoteTies,
) -> LabelMatrix {
    let mut answers = LabelMatrix::empty(votes.len() / n_labels.max(1), n_labels);
    for (at, &n_votes) in votes.iter().enumerate() {
        let is_relevant = ties.is_relevant(n_votes as usize, n_members);
        answers.set(at / n_labels, LabelId(at % n_labels), is_relevant);
    }
    answers
}

/// The votes of an ensemble under each of N settings, row by row, by label.
pub(crate) struct VotesBySetting<const N: usize> {
    pub(super) n_members: usize,
    pub(super) votes: [Vec<u32>; N],
}

impl<const N: usize> VotesBySetting<N> {
    /// No votes yet.
    pub(crate) fn new(n_members: usize, n_rows: usize, n_labels: usize) -> VotesBySetting<N> {
        let none = vec![0; n_rows * n_labels];
        VotesBySetting { n_members, votes: std::array::from_fn(|_| none.clone()) }
    }

    /// Adds what one member answers under each setting about the rows from `start` on.
    pub(crate) fn count(&mut self, by_setting: &[LabelMatrix], start: usize) {
        for (votes, answers) in self.votes.iter_mut().zip(by_setting) {
            count(answers, &mut votes[start * answers.n_labels()..]);
        }
    }
}
