//! Which rows each candidate is fitted and validated on.

use std::ops::Range;

use rayon::prelude::*;

use crate::chain::Order;
use crate::data::split::{Holdout, check_share, holdout, subsample};
use crate::error::{Error, Result};
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{AnySetting, OneOf, Setting, Settings, UpTo, Whole};

/// `members`, K: how many members vote.
pub static MEMBERS: Setting<usize> = Setting {
    name: "members",
    accepts: &Whole(1..=100_000),
    default: 20,
    help: "K: members of the ensemble",
};

/// `sample`: the share of the training rows that each member draws.
pub static SAMPLE: Setting<f64> = Setting {
    name: "sample",
    accepts: &UpTo(1.0),
    default: 0.66,
    help: "Share of the training rows that each member draws",
};

/// `fit-share`, t: the share of a member's rows that it is fitted on.
pub static FIT_SHARE: Setting<f64> = Setting {
    name: "fit-share",
    accepts: &UpTo(1.0),
    default: 0.6,
    help: "Share of a member's rows to fit on; the rest validates",
};

/// `search-rows`: the rows on which a search compares the votes of candidates.
pub static SEARCH_ROWS: Setting<SearchRows> = Setting {
    name: "search-rows",
    accepts: &OneOf(&[
        ("held-out", SearchRows::HeldOut),
        ("out-of-bag", SearchRows::OutOfBag),
        ("training", SearchRows::Training),
    ]),
    default: SearchRows::HeldOut,
    help: "Rows on which the search compares votes: some held out from all candidates (1 - fit-share), for each candidate those it did not draw, or all training rows",
};

/// On which rows a search compares the votes of candidates. The paper does not say; all three are
/// reconstructions (docs/methods.md, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchRows {
    /// Some rows are held out from all candidates, which draw from the others.
    HeldOut,
    /// Candidates draw from all rows, and each votes on those that it did not draw.
    OutOfBag,
    /// Candidates draw from all rows, and vote on all of them, also on those they were fitted on.
    Training,
}

/// Which rows the members of a base learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRows {
    /// Each member draws some of the rows, is fitted on a part of these and validated on the rest, and
    /// each of its labels may leave out rows and inputs.
    Drawn,
    /// All members share one model of all rows. It is an ensemble of its own, whose parts draw rows, so
    /// that it can be validated on all rows, too: out of bag. Members differ by their orders only.
    Shared,
}

/// How an ensemble is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// K.
    pub n_members: usize,
    /// Share of the training rows of a member.
    pub sample: f64,
    /// t: share of those to fit on; the rest validates.
    pub fit_share: f64,
    /// Whether they draw rows at all.
    pub member_rows: MemberRows,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling::of(&Settings::default(), MemberRows::Drawn)
    }
}

/// A trained model, the rows it saw, and an order for strategies that walk it in one. Its draws are
/// named by the candidate and not by the strategy, so strategies can share it.
#[derive(Clone, Debug)]
pub struct Candidate<M> {
    /// Its place among the candidates.
    pub at: usize,
    /// What was trained.
    pub model: M,
    /// An order drawn at random.
    pub order: Order,
    /// Rows it was fitted on, ascending.
    pub fitting: Vec<usize>,
    /// Rows to judge it by, ascending.
    pub validation: Vec<usize>,
    /// Whether it was fitted on these, too, and is to be asked about them out of bag.
    pub out_of_bag: bool,
}

impl Sampling {
    /// What it reads where members draw rows, beside how many of them vote.
    pub const SETTINGS: &'static [&'static dyn AnySetting] = &[&SAMPLE, &FIT_SHARE];

    /// As it is set. Members that share a model are fitted on all rows.
    pub fn of(settings: &Settings, member_rows: MemberRows) -> Sampling {
        let n_members = settings.get(&MEMBERS);
        let (sample, fit_share) = match member_rows {
            MemberRows::Drawn => (settings.get(&SAMPLE), settings.get(&FIT_SHARE)),
            MemberRows::Shared => (1.0, 1.0),
        };
        Sampling { n_members, sample, fit_share, member_rows }
    }

    /// Trains K models, each on a part of its own rows, to be judged by the rest of them; one model of all
    /// rows where members share it. `fit` is given the rows to fit on and an order, for models that must
    /// be trained for one.
    pub fn candidates<M: Send + Sync>(
        &self,
        train: &Prepared,
        seed: Seed,
        fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        let n_candidates = match self.member_rows {
            MemberRows::Drawn => self.n_members,
            MemberRows::Shared => 1,
        };
        self.some_candidates(0..n_candidates, train, seed, fit)
    }

    /// Trains some of these models, by their places. Each is drawn by a seed of its own, whoever trains it.
    pub(crate) fn some_candidates<M: Send + Sync>(
        &self,
        places: Range<usize>,
        train: &Prepared,
        seed: Seed,
        fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        let n_rows = train.data().n_rows();
        if self.member_rows == MemberRows::Shared {
            let draw = |member| {
                let (seed, all) = (Self::seed_of(seed, member), (0..n_rows).collect());
                Ok(Draw { seed, fitting: (0..n_rows).collect(), validation: all, out_of_bag: true })
            };
            return train_all(places, train, draw, fit);
        }
        let draw = |member| {
            let seed = Self::seed_of(seed, member);
            let drawn = subsample(n_rows, self.sample, seed)?;
            let cut = self.cut(drawn.len(), n_rows, seed)?;
            let of = |places: Vec<usize>| places.into_iter().map(|at| drawn[at]).collect();
            let (fitting, validation) = (of(cut.train), of(cut.test));
            Ok(Draw { seed, fitting, validation, out_of_bag: false })
        };
        train_all(places, train, draw, fit)
    }

    /// What everything about a member is drawn by.
    pub(crate) fn seed_of(seed: Seed, member: usize) -> Seed {
        seed.child("member", member)
    }

    /// The members that share the model of a candidate, each with an order of its own.
    pub fn in_orders<M: Clone>(
        &self,
        of: &Candidate<M>,
        n_labels: usize,
        seed: Seed,
    ) -> Vec<Candidate<M>> {
        let member = |at: usize| {
            let order = Order::random(n_labels, Self::seed_of(seed, at).child("order", 0));
            Candidate { at, order, ..of.clone() }
        };
        (0..self.n_members).map(member).collect()
    }

    /// How the candidates of a search are drawn, of which there are so many. Where the search holds out no
    /// rows, candidates are fitted on all that they draw.
    pub fn for_search(self, n_candidates: usize, rows: SearchRows) -> SearchSampling {
        let fit_share = match rows {
            SearchRows::HeldOut => self.fit_share,
            SearchRows::OutOfBag | SearchRows::Training => 1.0,
        };
        SearchSampling { sampling: Sampling { n_members: n_candidates, fit_share, ..self }, rows }
    }

    fn cut(&self, n_drawn: usize, n_rows: usize, seed: Seed) -> Result<Holdout> {
        check_share("fit-share", self.fit_share)?;
        holdout(n_drawn, self.fit_share, seed).map_err(|error| self.too_few(error, n_rows))
    }

    /// Words the error in terms of the training rows, because the user has not seen how many rows a
    /// member drew.
    fn too_few(&self, error: Error, n_rows: usize) -> Error {
        let Error::TooFewRows { needed, .. } = error else { return error };
        Error::TooFewRows {
            needed: (needed as f64 / self.sample).ceil() as usize,
            found: n_rows,
            purpose: format!(
                "drawing {} of the rows for a member and fitting on {} of those",
                self.sample, self.fit_share
            ),
        }
    }
}

/// How the candidates of a search are drawn, and on which rows it compares their votes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSampling {
    /// As for an ensemble of which every candidate is a member.
    pub sampling: Sampling,
    rows: SearchRows,
}

impl SearchSampling {
    /// Trains the candidates, each on a part of the rows that all of them may draw from.
    pub fn candidates<M: Send + Sync>(
        &self,
        train: &Prepared,
        seed: Seed,
        fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        let n_rows = train.data().n_rows();
        let all: Vec<usize> = (0..n_rows).collect();
        let cut = match self.rows {
            SearchRows::HeldOut => self.sampling.cut(n_rows, n_rows, seed.child("contest", 0))?,
            SearchRows::OutOfBag | SearchRows::Training => {
                Holdout { train: all.clone(), test: all }
            }
        };
        let draw = |contender| {
            let seed = seed.child("contender", contender);
            let drawn = subsample(cut.train.len(), self.sampling.sample, seed)
                .map_err(|error| self.sampling.too_few(error, n_rows))?;
            let fitting: Vec<usize> = drawn.into_iter().map(|at| cut.train[at]).collect();
            let mut validation = cut.test.clone();
            if self.rows == SearchRows::OutOfBag {
                validation.retain(|row| fitting.binary_search(row).is_err());
            }
            Ok(Draw { seed, fitting, validation, out_of_bag: false })
        };
        train_all(0..self.sampling.n_members, train, draw, fit)
    }
}

fn train_all<M: Send + Sync>(
    places: Range<usize>,
    train: &Prepared,
    draw: impl Fn(usize) -> Result<Draw> + Sync,
    fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
) -> Result<Vec<Candidate<M>>> {
    if places.is_empty() {
        let (name, value) = ("members", "0".into());
        return Err(Error::Setting { name, value, accepted: "at least 1" });
    }
    let candidate = |at: usize| {
        let Draw { seed, fitting, validation, out_of_bag } = draw(at)?;
        let order = Order::random(train.data().n_labels(), seed.child("order", 0));
        train.cancel().check()?;
        let model = fit(&fitting, &order, seed)?;
        Ok(Candidate { at, model, order, fitting, validation, out_of_bag })
    };
    places.into_par_iter().map(candidate).collect()
}

/// The rows of one candidate.
struct Draw {
    seed: Seed,
    fitting: Vec<usize>,
    validation: Vec<usize>,
    out_of_bag: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    #[test]
    fn a_search_votes_on_the_rows_that_it_is_set_to() {
        let cells: Vec<f64> = (0..100).map(f64::from).collect();
        let late: Vec<bool> = (0..100).map(|row| row > 50).collect();
        let data = Dataset::from_rows(1, &cells).unwrap();
        let train = Prepared::as_is(&data.with_label_indicators(&["late"], &late).unwrap());
        let drawn = |search_rows| {
            let fit = |_: &[usize], _: &Order, _| Ok(());
            let sampling = Sampling { n_members: 2, ..Sampling::default() };
            sampling.for_search(7, search_rows).candidates(&train, Seed::new(1), fit).unwrap()
        };
        let all: Vec<usize> = (0..100).collect();
        let union = |of: &Candidate<()>| {
            let mut rows = [&of.fitting[..], &of.validation].concat();
            rows.sort_unstable();
            rows
        };
        let held_out = drawn(SearchRows::HeldOut);
        for of in &held_out {
            // 60 rows to draw from, of which each draws 66 %.
            assert_eq!((of.fitting.len(), of.validation.len()), (39, 40));
            assert_eq!(of.validation, held_out[0].validation);
            assert!(of.fitting.iter().all(|row| !of.validation.contains(row)));
        }
        let out_of_bag = drawn(SearchRows::OutOfBag);
        assert!(out_of_bag.iter().all(|of| of.fitting.len() == 66 && union(of) == all));
        assert_ne!(out_of_bag[0].validation, out_of_bag[1].validation);
        let training = drawn(SearchRows::Training);
        assert!(training.iter().all(|of| of.fitting.len() == 66 && of.validation == all));
    }
}
