//! From a training set to ensembles: what several methods share is trained once.

use std::cell::OnceCell;
use std::sync::Arc;

use super::Method;
use crate::base::{BASES, Base, BaseKind, BaseTask};
use crate::chain::{
    AnyOrderLearner, AnyOrderModel, BaseModel, Block, FixedOrderLearner, FixedOrderModel, Order,
    Route, TunedSetting,
};
use crate::cost::{Clock, Cost};
use crate::data::LabelMatrix;
use crate::decide::HeldOutScores;
use crate::ensemble::{
    Candidate, ChosenOrders, Ensemble, Genetic, Member, MemberChain, MemberOrders, MemberRows,
    ORDER, PolicyTask, SEARCH_ROWS, Sampling, Strategy, VOTE_TIES, VoteTies,
};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::prepare::{Preparation, Prepared};
use crate::progress::Progress;
use crate::seed::Seed;
use crate::settings::{Settings, in_words};

/// A fitted ensemble, the values of settings that were left to the data, and what it cost, members
/// included.
pub(crate) struct Fitted {
    pub(crate) ensemble: Ensemble,
    pub(crate) tuned: Vec<TunedSetting>,
    /// What members say of training rows that they have not seen, where it was asked for.
    pub(crate) held_out: Option<HeldOutScores>,
    pub(crate) cost: Cost,
}

/// What the methods that are fitted to one training set have in common.
#[derive(Clone, Copy)]
pub(crate) struct Fitting<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) train: &'a Prepared,
    pub(crate) seed: Seed,
    /// Whether to learn how scores become probabilities, beyond what the aims of the methods need.
    pub(crate) calibrates: bool,
    /// The parts of the model that were trained before ([`fit_parts`](super::fit_parts)); none to train all of it.
    pub(crate) parts: &'a [Vec<u8>],
    pub(crate) progress: &'a dyn Fn(Progress),
}

/// Fits several methods on one training set, one after the other: the members of a base are trained
/// once for all of its methods, when the first of them is asked for. Methods that differ in their aim
/// alone are fitted once, in the place of the first of them.
pub(crate) fn fit<'a>(
    methods: &'a [Method],
    fitting: Fitting<'a>,
) -> impl Iterator<Item = Result<Fitted>> + 'a {
    let mut trained: Vec<TrainedBase> = Vec::new();
    distinct(methods).into_iter().map(move |method| {
        method.check(fitting.settings)?;
        let known = trained.iter().position(|of| of.base.name == method.base.name);
        let place = match known {
            Some(place) => place,
            None => {
                let mut of_base = methods.iter().filter(|it| it.base.name == method.base.name);
                let is_chained = of_base.any(|it| it.strategy.is_chained());
                trained.push(fitting.base(method, is_chained)?);
                trained.len() - 1
            }
        };
        let mut aims = methods.iter().filter(|of| of.without_aim() == method).map(|of| of.aim());
        let calibrates = fitting.calibrates || aims.any(|aim| !aim.is_by_votes());
        Fitting { calibrates, ..fitting }.ensemble(method.strategy, &trained[place])
    })
}

/// What there is to train for some methods: each once, without its aims, in the order of the first of
/// each.
fn distinct(methods: &[Method]) -> Vec<Method> {
    let mut distinct: Vec<Method> = Vec::new();
    for method in methods.iter().map(|method| method.without_aim()) {
        if !distinct.contains(&method) {
            distinct.push(method);
        }
    }
    distinct
}

/// A base, and the models that its methods share, trained when the first of them asks.
pub(super) struct TrainedBase {
    base: &'static Base,
    cost: Cost,
    pub(super) models: Models,
}

pub(super) enum Models {
    AnyOrder {
        learner: Box<dyn AnyOrderLearner>,
        models: Shared<Arc<dyn AnyOrderModel>>,
        /// Whether one of the methods walks them in an order, so that labels must know of each other.
        is_chained: bool,
    },
    FixedOrder {
        learner: Box<dyn FixedOrderLearner>,
        /// Trained for the order of each candidate.
        chained: Shared<Arc<dyn FixedOrderModel>>,
        /// Trained to decide labels independently.
        independent: Shared<Arc<dyn FixedOrderModel>>,
    },
}

/// What several strategies of one base use.
pub(super) struct Shared<M> {
    /// Candidates that all become members.
    members: OnceCell<Trained<M>>,
    /// Candidates among which a search chooses.
    contenders: OnceCell<Trained<M>>,
}

impl<M> Default for Shared<M> {
    fn default() -> Shared<M> {
        Shared { members: OnceCell::new(), contenders: OnceCell::new() }
    }
}

/// Candidates, and what it cost to train them.
struct Trained<M> {
    candidates: Vec<Candidate<M>>,
    cost: Cost,
}

impl Fitting<'_> {
    /// The base of a method, ready to train models. Where `is_chained`, a method of it walks them in an order.
    pub(super) fn base(&self, method: Method, is_chained: bool) -> Result<TrainedBase> {
        let (clock, base) = (Clock::start(), method.base);
        if !base.takes_unknown_labels {
            self.refuse_unknown_labels(base)?;
        }
        let settings = self.settings_of(base);
        let task = self.task(&settings, self.sampling(base));
        // Tuning may take long; what will not fit is refused before.
        self.reserve(base, task.sampling, &self.train.memory().fork())?;
        let models = match base.kind {
            BaseKind::AnyOrder { learner, decode } => {
                let learner = match (self.parts, base.parts) {
                    ([], _) => learner(&task)?,
                    (parts, Some(of)) => (of.learner)(&task, parts)?,
                    _ => Box::new(self.join_members(method, decode)?),
                };
                Models::AnyOrder { learner, models: Shared::default(), is_chained }
            }
            BaseKind::FixedOrder { learner, decode } => Models::FixedOrder {
                learner: match self.parts {
                    [] => learner(&task)?,
                    _ => Box::new(
                        self.join_members(method, |bytes, budget, _| decode(bytes, budget))?,
                    ),
                },
                chained: Shared::default(),
                independent: Shared::default(),
            },
        };
        Ok(TrainedBase { base, cost: clock.cost(), models })
    }

    fn refuse_unknown_labels(&self, base: &Base) -> Result<()> {
        let data = self.train.data();
        let n_unknown = data.labels().n_unknown();
        if n_unknown == 0 {
            return Ok(());
        }
        let can = BASES.iter().filter(|base| base.takes_unknown_labels).map(|base| base.name);
        Err(Error::Value {
            name: "base".into(),
            value: format!("{} and {n_unknown} labels of {} are unknown", base.name, data.name()),
            accepted: format!(
                "one that learns from rows of which some labels are unknown: {}",
                in_words(&can.collect::<Vec<_>>(), "or")
            ),
        })
    }

    pub(super) fn sampling(&self, base: &Base) -> Sampling {
        Sampling::of(self.settings, base.member_rows)
    }

    fn vote_ties(&self) -> VoteTies {
        self.settings.get(&VOTE_TIES)
    }

    /// What a base reads of the settings.
    pub(super) fn settings_of(&self, base: &Base) -> Settings {
        let read = [base.settings, base.chain_settings, Preparation::SETTINGS];
        let read = read.into_iter().flatten().copied();
        self.settings.only(&read.collect::<Vec<_>>())
    }

    /// From what a learner of models is made.
    pub(super) fn task<'t>(&'t self, settings: &'t Settings, sampling: Sampling) -> BaseTask<'t> {
        let vote_ties = self.vote_ties();
        BaseTask { settings, sampling, vote_ties, train: self.train, seed: self.seed }
    }

    /// Refuses what would take more memory than there is: the rows as they were and standardized, and
    /// what the models take.
    pub(super) fn reserve(&self, base: &Base, sampling: Sampling, memory: &Memory) -> Result<()> {
        let data = self.train.data();
        let settings = self.settings_of(base);
        let task = self.task(&settings, sampling);
        let models = (base.training_bytes)(&task).saturating_add(task.view_bytes());
        let n_bytes = models.saturating_add(2 * data.n_bytes() as u64);
        memory.reserve(data.name(), n_bytes, || {
            format!(
                "training {} models of {} on {} rows, {} inputs and {} labels",
                task.n_members(),
                base.name,
                data.n_rows(),
                data.n_features(),
                data.n_labels()
            )
        })
    }

    fn ensemble(&self, strategy: &'static Strategy, trained: &TrainedBase) -> Result<Fitted> {
        let settings = self.settings.only(strategy.settings);
        let fit = StrategyFit { fitting: self, base: trained.base, strategy, settings: &settings };
        let (members, tuned, cost) = match &trained.models {
            Models::AnyOrder { learner, models, is_chained } => {
                fit.any_order(&**learner, models, *is_chained)?
            }
            Models::FixedOrder { learner, chained, independent } => {
                let models = if strategy.is_chained() { chained } else { independent };
                fit.fixed_order(&**learner, models)?
            }
        };
        let clock = Clock::start();
        let mut ensemble = Ensemble::new(members, self.train.data().n_labels(), self.vote_ties());
        let mut held_out = None;
        if self.calibrates {
            let out_of_bag = trained.base.member_rows == MemberRows::Shared;
            held_out = ensemble.calibrate(self.train, out_of_bag, self.seed)?;
        }
        Ok(Fitted { ensemble, tuned, held_out, cost: trained.cost + cost + clock.cost() })
    }
}

/// One strategy to be fitted.
pub(super) struct StrategyFit<'a> {
    pub(super) fitting: &'a Fitting<'a>,
    pub(super) base: &'static Base,
    pub(super) strategy: &'static Strategy,
    /// The settings that the strategy lists.
    pub(super) settings: &'a Settings,
}

/// Members, the values of settings that were left to the data, and what all of this cost.
type Members = (Vec<Member>, Vec<TunedSetting>, Cost);

impl StrategyFit<'_> {
    /// Trains a model that can be walked in any order on the rows of a member.
    pub(super) fn any_order_member(
        &self,
        learner: &dyn AnyOrderLearner,
        is_chained: bool,
    ) -> impl Fn(&[usize], &Order, Seed) -> Result<Arc<dyn AnyOrderModel>> + Sync {
        let train = self.fitting.train;
        move |rows, _, seed| {
            if is_chained {
                learner.train(train, rows, seed)
            } else {
                learner.train_independent(train, rows, seed)
            }
        }
    }

    /// Trains a model for the order of a member, or for the one that was given, on its rows.
    pub(super) fn fixed_order_member(
        &self,
        learner: &dyn FixedOrderLearner,
        given: Option<Order>,
    ) -> impl Fn(&[usize], &Order, Seed) -> Result<Arc<dyn FixedOrderModel>> + Sync {
        let (train, is_chained) = (self.fitting.train, self.strategy.is_chained());
        move |rows, drawn, seed| {
            let order = given.as_ref().unwrap_or(drawn);
            learner.train(train, rows, is_chained.then_some(order), seed)
        }
    }

    fn any_order(
        &self,
        learner: &dyn AnyOrderLearner,
        shared: &Shared<Arc<dyn AnyOrderModel>>,
        is_chained: bool,
    ) -> Result<Members> {
        let train = self.fitting.train;
        let trained = self.candidates(shared, self.any_order_member(learner, is_chained))?;
        let clock = Clock::start();
        let decide = |candidate: &Candidate<Arc<dyn AnyOrderModel>>, block: &Block| {
            let order = Route::Fixed(&candidate.order);
            let route = if self.strategy.is_chained() { order } else { Route::Independent };
            candidate.model.decisions(block, route)
        };
        let candidates = self.members_of(trained, |model| &**model, decide)?;
        let mut tuned = learner.tuned_settings();
        tuned.extend(candidates.first().map(|of| of.model.tuned()).unwrap_or_default());
        let orders: Vec<ChosenOrders> = match self.strategy.orders {
            MemberOrders::Independent => {
                candidates.iter().map(|_| ChosenOrders::Independent).collect()
            }
            MemberOrders::PerMember => {
                let given = self.given_order()?;
                let order = |of: &Candidate<_>| given.clone().unwrap_or_else(|| of.order.clone());
                candidates.iter().map(|of| ChosenOrders::Fixed(order(of))).collect()
            }
            MemberOrders::ByCertainty => {
                candidates.iter().map(|_| ChosenOrders::ByCertainty).collect()
            }
            MemberOrders::PerRow { learn, .. } => {
                let policies = learn(&PolicyTask {
                    candidates: &candidates,
                    learner,
                    train,
                    settings: self.settings,
                    sampling: self.sampling(),
                    vote_ties: self.fitting.vote_ties(),
                    seed: self.fitting.seed,
                })?;
                tuned.extend(policies.tuned);
                policies.by_candidate.into_iter().map(ChosenOrders::PerRow).collect()
            }
        };
        let chain = |(candidate, orders): (Candidate<_>, _)| {
            member(candidate, |model| MemberChain::AnyOrder { model, orders })
        };
        let members = candidates.into_iter().zip(orders).map(chain).collect();
        Ok((members, tuned, trained.cost + clock.cost()))
    }

    fn fixed_order(
        &self,
        learner: &dyn FixedOrderLearner,
        shared: &Shared<Arc<dyn FixedOrderModel>>,
    ) -> Result<Members> {
        let train = self.fixed_order_member(learner, self.given_order()?);
        let trained = self.candidates(shared, train)?;
        let clock = Clock::start();
        let decide = |candidate: &Candidate<Arc<dyn FixedOrderModel>>, block: &Block| {
            candidate.model.decisions(block)
        };
        let candidates = self.members_of(trained, |model| &**model, decide)?;
        let members = candidates.into_iter().map(|of| member(of, MemberChain::FixedOrder));
        Ok((members.collect(), learner.tuned_settings(), trained.cost + clock.cost()))
    }

    /// The order that all members share, where the user gave one.
    pub(super) fn given_order(&self) -> Result<Option<Order>> {
        self.settings.get(&ORDER).of(self.fitting.train.data())
    }

    /// The candidates of the strategy, trained unless another strategy had them trained.
    fn candidates<'t, M: Send + Sync>(
        &self,
        shared: &'t Shared<M>,
        train: impl Fn(&[usize], &Order, Seed) -> Result<M> + Sync,
    ) -> Result<&'t Trained<M>> {
        let (sampling, seed) = (self.sampling(), self.fitting.seed);
        let is_searched = self.strategy.is_searched;
        let cell = if is_searched { &shared.contenders } else { &shared.members };
        if let Some(trained) = cell.get() {
            return Ok(trained);
        }
        let clock = Clock::start();
        let reserve =
            |sampling| self.fitting.reserve(self.base, sampling, self.fitting.train.memory());
        let candidates = if is_searched {
            let n_candidates = self.genetic()?.n_candidates();
            let search = sampling.for_search(n_candidates, self.settings.get(&SEARCH_ROWS));
            reserve(search.sampling)?;
            search.candidates(self.fitting.train, seed, train)?
        } else {
            reserve(sampling)?;
            sampling.candidates(self.fitting.train, seed, train)?
        };
        Ok(cell.get_or_init(|| Trained { candidates, cost: clock.cost() }))
    }

    fn sampling(&self) -> Sampling {
        self.fitting.sampling(self.base)
    }

    /// How the members are searched for.
    fn genetic(&self) -> Result<Genetic> {
        let n_members = self.sampling().n_members;
        Genetic::of(self.settings, n_members, self.fitting.vote_ties())
    }

    /// The candidates that become members: all of them, or those that a search chooses, or one in many
    /// orders.
    fn members_of<M: Clone + Sync>(
        &self,
        trained: &Trained<M>,
        base: impl Fn(&M) -> &dyn BaseModel,
        decide: impl Fn(&Candidate<M>, &Block) -> LabelMatrix + Sync,
    ) -> Result<Vec<Candidate<M>>> {
        if let [shared] = &trained.candidates[..]
            && self.base.member_rows == MemberRows::Shared
            && self.strategy.differs_by_order()
        {
            let n_labels = self.fitting.train.data().n_labels();
            return Ok(self.sampling().in_orders(shared, n_labels, self.fitting.seed));
        }
        let candidates = trained.candidates.clone();
        if !self.strategy.is_searched {
            return Ok(candidates);
        }
        let Fitting { train, seed, progress, .. } = *self.fitting;
        let genetic = self.genetic()?;
        let of = genetic.n_generations();
        let progress = |done, least_loss| progress(Progress::Generations { done, of, least_loss });
        let has_orders = self.strategy.is_chained();
        genetic.choose(candidates, train, has_orders, base, decide, seed, &progress)
    }
}

fn member<M>(candidate: Candidate<M>, chain: impl FnOnce(M) -> MemberChain) -> Member {
    Member {
        chain: chain(candidate.model),
        candidate: candidate.at,
        fitting: candidate.fitting,
        validation: candidate.validation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Dataset, Dense, LabelId, LabelMatrix, Matrix};
    use crate::prepare::SELECT;

    /// One label that the first input decides, but for every tenth row, and then noise.
    fn data(n_features: usize) -> Dataset {
        let mut cells = Dense::new(n_features);
        let mut labels = LabelMatrix::new(1);
        for row in 0..120 {
            let mut rng = Seed::new(1).child("row", row).rng();
            let noisy: Vec<f64> = (0..n_features).map(|_| rng.below(1000) as f64).collect();
            cells.push_row(&noisy);
            let row = labels.push_row();
            labels.set(row, LabelId(0), (noisy[0] > 500.0) != row.is_multiple_of(10));
        }
        let attributes = (0..n_features).map(|at| Attribute::numeric(at.to_string())).collect();
        Dataset::new("noisy", attributes, Matrix::Dense(cells), vec!["a".into()], labels).unwrap()
    }

    #[test]
    fn svms_are_searched_in_the_inputs_that_are_selected() {
        let found = |n_features, selects| {
            let settings = Settings::default().with(&SELECT, selects).unwrap();
            let train = Prepared::new(data(n_features)).unwrap();
            let methods = ["br-svm".parse().unwrap()];
            let (seed, progress) = (Seed::new(1), &|_| ());
            let calibrates = false;
            let fitting = Fitting {
                settings: &settings,
                train: &train,
                seed,
                calibrates,
                parts: &[],
                progress,
            };
            fit(&methods, fitting).next().unwrap().unwrap().tuned
        };
        let selected = found(40, true);
        assert_eq!(selected, found(1, true));
        assert_ne!(selected, found(40, false));
    }
}
