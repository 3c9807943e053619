//! Which rows each candidate is fitted and validated on.

use rayon::prelude::*;

use crate::chain::Order;
use crate::data::split::{Holdout, check_share, holdout, subsample};
use crate::error::{Error, Result};
use crate::prepare::Prepared;
use crate::seed::Seed;
use crate::settings::{AnySetting, Setting, Settings, UpTo, Whole};

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

/// How an ensemble is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// K.
    pub n_members: usize,
    /// Share of the training rows of a member.
    pub sample: f64,
    /// t: share of those to fit on; the rest validates.
    pub fit_share: f64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling::of(&Settings::default())
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
}

impl Sampling {
    /// What it reads.
    pub const SETTINGS: &'static [&'static dyn AnySetting] = &[&MEMBERS, &SAMPLE, &FIT_SHARE];

    /// As it is set.
    pub fn of(settings: &Settings) -> Sampling {
        Sampling {
            n_members: settings.get(&MEMBERS),
            sample: settings.get(&SAMPLE),
            fit_share: settings.get(&FIT_SHARE),
        }
    }

    /// Trains K models, each on a part of its own rows, to be judged by the rest of them. `fit` is
    /// given the rows to fit on and an order, for models that must be trained for one.
    pub fn candidates<M: Send + Sync>(
        &self,
        train: &Prepared,
        seed: Seed,
        fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        let n_rows = train.data().n_rows();
        let draw = |member| {
            let seed = seed.child("member", member);
            let drawn = subsample(n_rows, self.sample, seed)?;
            let cut = self.cut(drawn.len(), n_rows, seed)?;
            let of = |places: Vec<usize>| places.into_iter().map(|at| drawn[at]).collect();
            Ok(Draw { seed, fitting: of(cut.train), validation: of(cut.test) })
        };
        train_all(self.n_members, train, draw, fit)
    }

    /// Trains `n` models, each on its own part of the same rows, all to be judged by the same others.
    pub fn contenders<M: Send + Sync>(
        &self,
        n: usize,
        train: &Prepared,
        seed: Seed,
        fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        let n_rows = train.data().n_rows();
        let cut = self.cut(n_rows, n_rows, seed.child("contest", 0))?;
        let draw = |contender| {
            let seed = seed.child("contender", contender);
            let drawn = subsample(cut.train.len(), self.sample, seed)
                .map_err(|error| self.too_few(error, n_rows))?;
            let fitting = drawn.into_iter().map(|at| cut.train[at]).collect();
            Ok(Draw { seed, fitting, validation: cut.test.clone() })
        };
        train_all(n, train, draw, fit)
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

fn train_all<M: Send + Sync>(
    n: usize,
    train: &Prepared,
    draw: impl Fn(usize) -> Result<Draw> + Sync,
    fit: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
) -> Result<Vec<Candidate<M>>> {
    if n == 0 {
        let (name, value) = ("members", "0".into());
        return Err(Error::Setting { name, value, accepted: "at least 1" });
    }
    let candidate = |at: usize| {
        let Draw { seed, fitting, validation } = draw(at)?;
        let order = Order::random(train.data().n_labels(), seed.child("order", 0));
        train.cancel().check()?;
        let model = fit(&fitting, &order, seed)?;
        Ok(Candidate { at, model, order, fitting, validation })
    };
    (0..n).into_par_iter().map(candidate).collect()
}

/// The rows of one candidate.
struct Draw {
    seed: Seed,
    fitting: Vec<usize>,
    validation: Vec<usize>,
}
