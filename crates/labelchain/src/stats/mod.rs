//! Are methods different, which ones, and by how much? Rank statistics over many data sets, for any
//! table of numbers: the code here does not know what was measured, only that smaller is better.
//!
//! | Question | Answer |
//! |---|---|
//! | which method is best on one data set | [`ranks`] |
//! | are the methods different at all | [`friedman`], with Holm over the criteria |
//! | how far apart must mean ranks be | [`critical_difference`] (Nemenyi); of one method and each other, [`control_critical_difference`] (Bonferroni and Dunn) |
//! | do these two differ | [`SignedRanks`] (Wilcoxon), with Holm over the tests of a criterion |
//! | which of several tests are significant | [`holm`] |
//! | how large is the difference | [`effect`]: wins and rank-biserial correlation |
//! | how probable is a difference that matters | [`bayesian_signed_ranks`] |
//! | which methods are not distinguished | [`cliques`] |
//! | all of these | [`Comparison`] |
//!
//! Nemenyi's test compares all methods at once by their mean ranks, so adding a method changes its
//! outcome for two others. Wilcoxon's test uses the losses of the two methods alone, and the sizes
//! of their differences, so it finds more differences. Where both are shown they may disagree.

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

pub use bayes::{Posterior, bayesian_signed_ranks};
pub use cliques::{by_rank, cliques};
pub use comparison::{Comparison, CriterionComparison, Gaps, LossTable, Pair, TestPlan};
pub use effect::{Effect, effect};
pub use friedman::{Friedman, friedman};
pub use holm::holm;
pub use nemenyi::{control_critical_difference, critical_difference};
pub use ranks::{Ranks, ranks};
pub use wilcoxon::{SignedRanks, Wilcoxon, Zeros};
