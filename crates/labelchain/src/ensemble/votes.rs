//! Votes of members, and what a majority decides.

use crate::data::{LabelId, LabelMatrix};

/// Adds one vote for each relevant label of the answers; `votes` starts with their first row and is
/// row by row, by label.
pub(crate) fn count(answers: &LabelMatrix, votes: &mut [u32]) {
    for row in 0..answers.n_rows() {
        for label in answers.relevant(row) {
            votes[row * answers.n_labels() + label.0] += 1;
        }
    }
}

/// The labels with strictly more than half of the votes.
pub(crate) fn majority(votes: &[u32], n_labels: usize, n_members: usize) -> LabelMatrix {
    let mut answers = LabelMatrix::empty(votes.len() / n_labels.max(1), n_labels);
    for (at, &count) in votes.iter().enumerate() {
        answers.set(at / n_labels, LabelId(at % n_labels), 2 * count as usize > n_members);
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
