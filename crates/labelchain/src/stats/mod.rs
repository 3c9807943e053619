//! Are methods different, which ones, and by how much? Rank statistics over many data sets, for
//! anybody's numbers: nothing here knows what was measured, only that smaller is better.
//!
//! | Question | Answer |
//! |---|---|
//! | who comes first on one data set | [`ranks`] |
//! | are the methods different at all | [`friedman`], with Holm over the criteria |
//! | how far apart must mean ranks be | [`critical_difference`] (Nemenyi) |
//! | do these two differ | [`SignedRanks`] (Wilcoxon), with Holm over the pairs of a criterion |
//! | which of several tests count | [`holm`] |
//! | how large is the difference | [`effect`]: wins and rank-biserial correlation |
//! | how sure are we, and does it matter | [`bayesian_signed_ranks`] |
//! | who cannot be told apart | [`cliques`] |
//! | all of it | [`Comparison`] |
//!
//! Nemenyi's test compares all methods at once by their mean ranks, so adding a method changes what
//! it says about two others. Wilcoxon's asks the two alone and uses the sizes of the differences: it
//! finds more, and its p-values, not its ranks, decide. Where both are shown they may disagree.

mod bayes;
mod cliques;
mod comparison;
pub mod distribution;
mod effect;
mod friedman;
mod holm;
mod nemenyi;
mod ranks;
mod wilcoxon;

pub use bayes::{Belief, bayesian_signed_ranks};
pub use cliques::{by_rank, cliques};
pub use comparison::{Comparison, Gaps, Measured, Pair, Recipe, Table};
pub use effect::{Effect, effect};
pub use friedman::{Friedman, friedman};
pub use holm::holm;
pub use nemenyi::critical_difference;
pub use ranks::{Ranks, ranks};
pub use wilcoxon::{SignedRanks, Wilcoxon, Zeros};
