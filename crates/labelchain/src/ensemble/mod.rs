//! Many chains on random parts of the rows, each with an order of its own, and their vote.

mod blocks;
mod genetic;
mod outputs;
mod policies;
mod sampling;
mod search;
mod strategy;
mod tuning;
mod validation;
mod votes;

pub use genetic::{GeneticSearch, Individual, Objectives, Subset};
pub use outputs::{EnsembleOutput, OutputOptions};
pub(crate) use outputs::{MAX_CALIBRATION_ROWS, SeenRows};
pub use policies::{DECAY, LENDERS, ORDERS};
pub use sampling::{
    Candidate, FIT_SHARE, MEMBERS, MemberRows, SAMPLE, SEARCH_ROWS, Sampling, SearchRows,
    SearchSampling,
};
pub use search::{CANDIDATES, CROSSOVER, DIVERSITY, GENERATIONS, Genetic, MUTATION, POPULATION};
pub use strategy::{GivenOrder, MemberOrders, ORDER, Policies, PolicyTask, STRATEGIES, Strategy};

pub(crate) use blocks::{RowBlock, rows_at_once};
pub(crate) use tuning::cross_validated;
pub(crate) use votes::VotesBySetting;
pub use votes::{VOTE_TIES, VoteTies};

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::chain::{
    AnyOrderModel, Attribution, BaseModel, Block, Collector, Decisions, Dimensions,
    FixedOrderModel, FurtherRows, Order, OrderPolicy, Reason, Route, Trace, Traces, Wanted,
    cannot_update,
};
use crate::data::{Dataset, LabelId, LabelMatrix};
use crate::decide::Calibration;
use crate::distance::{Needs, Neighbourhood};
use crate::error::Result;
use crate::pieces::ReadBlocks;
use crate::prepare::{LabelView, Undersampling};
use crate::progress::Cancel;
use votes::{count, majority};

/// Members and their vote.
#[derive(Clone)]
pub struct Ensemble {
    members: Vec<Member>,
    n_labels: usize,
    vote_ties: VoteTies,
    /// How scores become probabilities, where it was learned.
    calibration: Option<Calibration>,
}

/// Rows that an ensemble is asked about.
#[derive(Clone, Copy)]
pub struct Queries<'a> {
    /// Their inputs, standardized.
    pub rows: &'a Dataset,
    /// Labels of these rows that are known: they are kept, and condition the others.
    pub known: Option<&'a LabelMatrix>,
    /// The training rows, where members measure distances to them.
    pub train: Option<&'a Neighbourhood<'a>>,
}

/// One voter, and the rows it learned from.
#[derive(Clone)]
pub struct Member {
    pub(crate) chain: MemberChain,
    /// Its place among the candidates, of which a search may have chosen only some.
    pub candidate: usize,
    /// Rows it was fitted on.
    pub fitting: Vec<usize>,
    /// Rows it was validated on.
    pub validation: Vec<usize>,
}

/// A model and the orders in which it is walked. A model that was trained for one order has no
/// place for another.
#[derive(Clone)]
pub(crate) enum MemberChain {
    AnyOrder { model: Arc<dyn AnyOrderModel>, orders: ChosenOrders },
    FixedOrder(Arc<dyn FixedOrderModel>),
}

/// The orders of a member whose model can be walked in any.
#[derive(Clone)]
pub(crate) enum ChosenOrders {
    Independent,
    Fixed(Order),
    ByCertainty,
    PerRow(Arc<dyn OrderPolicy>),
}

impl Ensemble {
    /// The vote of these members, of which there is at least one.
    pub(crate) fn new(members: Vec<Member>, n_labels: usize, vote_ties: VoteTies) -> Ensemble {
        Ensemble { members, n_labels, vote_ties, calibration: None }
    }

    /// The same, with what was learned about its scores.
    pub(crate) fn calibrated(self, calibration: Option<Calibration>) -> Ensemble {
        Ensemble { calibration, ..self }
    }

    /// The ensemble of these inputs and then those of another that drew the same rows and orders;
    /// none where members look at more than one input at a time.
    pub(crate) fn concat_columns(self, other: Ensemble) -> Option<Ensemble> {
        let pairs = self.members.into_iter().zip(other.members);
        let members = pairs.map(|(member, other)| member.concat_columns(other));
        // What was learned about the scores of some inputs does not hold for those of all.
        Some(Ensemble { members: members.collect::<Option<_>>()?, calibration: None, ..self })
    }

    /// The ensemble whose members have also learned from further rows. A member takes each of them with
    /// probability `share`, and of those that it takes, a label leaves out some of its common class, as in
    /// training. Members that share a model share the updated one, too. Labels that are new come last in their
    /// orders. Refused where a member keeps too little for that.
    pub(crate) fn updated(
        &self,
        further: &FurtherRows,
        share: f64,
        undersampling: Undersampling,
    ) -> Result<Ensemble> {
        let updated = |group: &[Member]| -> Result<Vec<Member>> {
            let Some(first) = group.first() else { return Ok(Vec::new()) };
            let first = first.updated(further, share, undersampling)?;
            Ok(group.iter().map(|member| member.learning_as(&first)).collect())
        };
        let groups: Vec<&[Member]> = self.sharing_members().collect();
        let members: Vec<Vec<Member>> =
            groups.into_par_iter().map(updated).collect::<Result<_>>()?;
        let members = members.into_iter().flatten().collect();
        let n_labels = further.data.n_labels();
        let calibration = self.calibration.as_ref().map(|of| of.with_new_labels(n_labels));
        Ok(Ensemble { members, n_labels, calibration, ..*self })
    }

    /// The same members in their orders, all with one model of so many rows.
    pub(crate) fn sharing(&self, shared: Arc<dyn AnyOrderModel>, n_rows: usize) -> Ensemble {
        let mut ensemble = self.clone();
        let rows: Vec<usize> = (0..n_rows).collect();
        for member in &mut ensemble.members {
            if let MemberChain::AnyOrder { model, .. } = &mut member.chain {
                *model = Arc::clone(&shared);
            }
            (member.fitting, member.validation) = (rows.clone(), rows.clone());
        }
        ensemble
    }

    /// Groups of members, each of which has one model; they stand side by side.
    fn sharing_members(&self) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|a, b| std::ptr::addr_eq(a.model(), b.model()))
    }

    /// The models of the members; one that members share comes once.
    fn models(&self) -> impl Iterator<Item = &dyn BaseModel> {
        self.sharing_members().filter_map(|members| members.first()).map(Member::model)
    }

    /// Whether every member agrees with the rest of a model file, as it does unless it was decoded.
    pub(crate) fn fits(&self, dimensions: &Dimensions) -> bool {
        self.n_labels == dimensions.n_labels
            && self.needs_neighbourhood() == dimensions.n_train.is_some()
            && !self.members.is_empty()
            && self.calibration.as_ref().is_none_or(|of| of.fits(dimensions.n_labels))
            && self.members.iter().all(|member| member.fits(dimensions))
    }

    /// Reads what is wanted of the members and is still in a file.
    pub(crate) fn load(&self, wanted: Wanted) -> Result<()> {
        let blocks = ReadBlocks::default();
        let models: Vec<&dyn BaseModel> = self.models().collect();
        models.into_par_iter().try_for_each(|model| model.load(wanted, &blocks))
    }

    /// The members, in the order they were drawn.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Whether members measure distances to the training rows.
    pub fn needs_neighbourhood(&self) -> bool {
        self.decay().is_some() || self.needs() > Needs::Nothing
    }

    fn needs(&self) -> Needs {
        self.members.iter().map(Member::needs).max().unwrap_or_default()
    }

    /// β of the memberships that members look at; it is the same for all of them.
    fn decay(&self) -> Option<f64> {
        self.members.iter().find_map(|member| member.policy()?.decay())
    }

    /// Whether members choose an order for each row.
    pub fn chooses_orders(&self) -> bool {
        self.members.iter().any(Member::chooses_orders)
    }

    /// How many members decide that each label of each row is relevant, row by row.
    pub fn votes(&self, queries: &Queries, cancel: &Cancel) -> Result<Vec<u32>> {
        let mut votes = vec![0u32; queries.rows.n_rows() * self.n_labels];
        let ask = |member: &Member, block: &Block| member.decisions(block);
        self.ask(queries, cancel, ask, |start, answers: Vec<LabelMatrix>| {
            answers.iter().for_each(|of| count(of, &mut votes[start * self.n_labels..]));
        })?;
        Ok(votes)
    }

    /// The labels that a majority of the members decides to be relevant.
    pub fn decide(&self, votes: &[u32]) -> LabelMatrix {
        majority(votes, self.n_labels, self.members.len(), self.vote_ties)
    }

    /// How each member decided each row: traces by row, then by member.
    pub fn traces(&self, queries: &Queries, cancel: &Cancel) -> Result<Vec<Vec<Trace>>> {
        let mut by_row: Vec<Vec<Trace>> = vec![Vec::new(); queries.rows.n_rows()];
        let take = |start: usize, by_member: Vec<Vec<Trace>>| {
            for traces in by_member {
                let places = by_row[start..].iter_mut();
                places.zip(traces).for_each(|(row, trace)| row.push(trace));
            }
        };
        self.ask(queries, cancel, Member::traces, take)?;
        Ok(by_row)
    }

    /// What one member makes of each label of each row from the inputs alone, before any decision.
    pub fn traces_alone(
        &self,
        member: usize,
        queries: &Queries,
        cancel: &Cancel,
    ) -> Result<Vec<Trace>> {
        let members = self.members.get(member).cloned().into_iter().collect();
        let only = Ensemble::new(members, self.n_labels, self.vote_ties);
        let mut traces = Vec::with_capacity(queries.rows.n_rows());
        let ask = |member: &Member, block: &Block| member.traces_alone(block);
        only.ask(
            &Queries { known: None, ..*queries },
            cancel,
            ask,
            |_, by_member: Vec<Vec<Trace>>| {
                traces.extend(by_member.into_iter().flatten());
            },
        )?;
        Ok(traces)
    }

    /// What members say of each row from the inputs alone, taken apart; the mean over members.
    pub fn attributions(&self, queries: &Queries, cancel: &Cancel) -> Result<Vec<Attribution>> {
        self.load(Wanted::Everything)?;
        let mut by_row = Vec::with_capacity(queries.rows.n_rows());
        let ask = |member: &Member, block: &Block| member.model().attributions(block);
        self.ask(queries, cancel, ask, |_, by_member: Vec<Vec<Attribution>>| {
            let mut members: Vec<_> = by_member.into_iter().map(Vec::into_iter).collect();
            while let Some(of_row) =
                members.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>()
                && !of_row.is_empty()
            {
                by_row.push(Attribution::mean(&of_row));
            }
        })?;
        Ok(by_row)
    }

    /// What [importance](Ensemble::importance) is a share of.
    pub fn importance_measure(&self) -> &'static str {
        self.members.first().map_or("", |member| member.model().importance_measure())
    }

    /// How much each input matters to the models of all members, on average; none where they do not say.
    pub fn importance(&self) -> Option<Vec<f64>> {
        let of_models: Vec<Vec<f64>> =
            self.models().map(BaseModel::importance).collect::<Option<_>>()?;
        let n = of_models.len() as f64;
        let mut mean = vec![0.0; of_models.first()?.len()];
        for importance in &of_models {
            mean.iter_mut().zip(importance).for_each(|(sum, value)| *sum += value / n);
        }
        Some(mean)
    }

    /// Asks every member about the rows, a block of them at a time; `take` is given the first row of
    /// a block and what each member answers.
    ///
    /// Blocks are independent of each other, so that threads take blocks: two for each thread make a round, lest
    /// one that is done early waits for the others. Where blocks have distances to all training rows, which take
    /// much memory, there is one at a time, and each thread takes a member.
    fn ask<T: Send>(
        &self,
        queries: &Queries,
        cancel: &Cancel,
        ask: impl Fn(&Member, &Block) -> T + Sync,
        mut take: impl FnMut(usize, Vec<T>),
    ) -> Result<()> {
        let &Queries { rows, known, train } = queries;
        // Once for all blocks: threads that loaded for themselves would each read the same pieces.
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        self.load(Wanted::Scores(&Block::of(rows.features(), &all)))?;
        let of_block = |start: usize| -> Result<Vec<T>> {
            cancel.check()?;
            let block = RowBlock::new(rows, start, train, self.decay(), self.needs())?.given(known);
            let answers = self.members.par_iter().map(|member| {
                cancel.check()?;
                Ok(ask(member, &block.view()))
            });
            answers.collect()
        };
        let starts: Vec<usize> =
            (0..rows.n_rows()).step_by(rows_at_once(train, self.decay())).collect();
        let n_at_once = if train.is_some() { 1 } else { 2 * rayon::current_num_threads() };
        for starts in starts.chunks(n_at_once) {
            let answers: Vec<Vec<T>> =
                starts.par_iter().map(|&start| of_block(start)).collect::<Result<_>>()?;
            starts.iter().zip(answers).for_each(|(&start, answers)| take(start, answers));
        }
        Ok(())
    }
}

impl Member {
    /// The model, as far as all models are alike.
    pub fn model(&self) -> &dyn BaseModel {
        match &self.chain {
            MemberChain::AnyOrder { model, .. } => &**model,
            MemberChain::FixedOrder(model) => &**model,
        }
    }

    /// The model, where it can be walked in any order; members may share it.
    pub(crate) fn any_order_model(&self) -> Option<&Arc<dyn AnyOrderModel>> {
        match &self.chain {
            MemberChain::AnyOrder { model, .. } => Some(model),
            MemberChain::FixedOrder(_) => None,
        }
    }

    /// Its order, where it is the same for every row.
    pub fn order(&self) -> Option<&Order> {
        match &self.chain {
            MemberChain::AnyOrder { orders: ChosenOrders::Fixed(order), .. } => Some(order),
            MemberChain::AnyOrder { .. } => None,
            MemberChain::FixedOrder(model) => model.own_order(),
        }
    }

    /// What chooses its order for each row; none where the order is always the same.
    pub fn policy(&self) -> Option<&dyn OrderPolicy> {
        match &self.chain {
            MemberChain::AnyOrder { orders: ChosenOrders::PerRow(policy), .. } => Some(&**policy),
            _ => None,
        }
    }

    fn chooses_orders(&self) -> bool {
        let MemberChain::AnyOrder { orders, .. } = &self.chain else { return false };
        matches!(orders, ChosenOrders::ByCertainty | ChosenOrders::PerRow(_))
    }

    fn needs(&self) -> Needs {
        self.model().needs().max(self.policy().map(OrderPolicy::needs).unwrap_or_default())
    }

    fn fits(&self, dimensions: &Dimensions) -> bool {
        let order_fits = match &self.chain {
            MemberChain::AnyOrder { orders: ChosenOrders::Fixed(order), .. } => {
                order.len() == dimensions.n_labels
            }
            MemberChain::AnyOrder { orders: ChosenOrders::PerRow(policy), .. } => {
                policy.fits(dimensions)
            }
            _ => true,
        };
        let rows_fit = |rows: &[usize]| ascend_below(rows, dimensions.n_rows);
        order_fits
            && rows_fit(&self.fitting)
            && rows_fit(&self.validation)
            && is_sound(self.model(), dimensions)
    }

    fn concat_columns(self, other: Member) -> Option<Member> {
        use MemberChain::AnyOrder;
        if (self.candidate, &self.fitting) != (other.candidate, &other.fitting) {
            return None;
        }
        let (AnyOrder { model, orders }, AnyOrder { model: more, .. }) = (self.chain, other.chain)
        else {
            return None;
        };
        // What chooses an order for each row looked at the inputs of its own part only.
        if let ChosenOrders::PerRow(_) = orders {
            return None;
        }
        let chain = AnyOrder { model: model.concat_columns(&*more)?, orders };
        Some(Member { chain, ..self })
    }

    fn updated(
        &self,
        further: &FurtherRows,
        share: f64,
        undersampling: Undersampling,
    ) -> Result<Member> {
        let MemberChain::AnyOrder { model, orders } = &self.chain else {
            return Err(cannot_update());
        };
        let seed = further.seed.child("member", self.candidate);
        let mut rng = seed.child("take", 0).rng();
        let is_taken = |_: &usize| share >= 1.0 || rng.chance(share);
        let taken: Arc<[usize]> = further.rows.iter().copied().filter(is_taken).collect();
        let labels = further.data.labels();
        let view = |label: LabelId| {
            let relevant = |row| labels.get(row, label);
            let kept = undersampling.thin(&taken, relevant, seed.child("undersample", label.0));
            let rows = if kept.len() == taken.len() { Arc::clone(&taken) } else { kept.into() };
            LabelView { rows, features: Arc::default() }
        };
        let views: Vec<LabelView> = labels.ids().map(view).collect();
        // Of the rows before only sums are known, so that undersampling takes all of them or none: a label that is
        // new leaves them out where they would be too many irrelevant ones.
        let (all, none): (Arc<[usize]>, Arc<[usize]>) = (self.fitting.clone().into(), [].into());
        let before = |label: LabelId| {
            let n_relevant = taken.iter().filter(|&&row| labels.get(row, label)).count();
            let n_irrelevant = all.len() + taken.len() - n_relevant;
            let is_kept = undersampling.keeps_all(n_relevant, n_irrelevant);
            Arc::clone(if is_kept { &all } else { &none })
        };
        let rows_before: Vec<Arc<[usize]>> =
            labels.ids().skip(model.n_labels()).map(before).collect();
        let further = FurtherRows {
            rows: &taken,
            views: &views,
            rows_before: &rows_before,
            seed,
            ..*further
        };
        let model = model.updated(&further)?;
        let new = taken.iter().map(|row| further.n_before + row);
        Ok(Member {
            chain: MemberChain::AnyOrder { model, orders: orders.clone() },
            fitting: self.fitting.iter().copied().chain(new).collect(),
            validation: self.validation.clone(),
            ..*self
        })
    }

    /// The same in its own orders, with the model of another and the rows that that learned from.
    fn learning_as(&self, other: &Member) -> Member {
        let mut member = Member { fitting: other.fitting.clone(), ..self.clone() };
        if let MemberChain::AnyOrder { model, orders } = &mut member.chain
            && let Some(shared) = other.any_order_model()
        {
            *model = Arc::clone(shared);
            if let ChosenOrders::Fixed(order) = orders {
                *order = order.followed_by_new(shared.n_labels());
            }
        }
        member
    }

    /// Walks every row of the block, which has the distances it needs, in the member's orders.
    fn walk(&self, block: &Block, collector: &mut dyn Collector) {
        match &self.chain {
            MemberChain::FixedOrder(model) => model.walk(block, collector),
            MemberChain::AnyOrder { model, orders } => match orders {
                ChosenOrders::Independent => {
                    model.walk(block, &mut [(Route::Independent, collector)]);
                }
                ChosenOrders::Fixed(order) => {
                    model.walk(block, &mut [(Route::Fixed(order), collector)]);
                }
                ChosenOrders::ByCertainty => {
                    model.walk(block, &mut [(Route::ByCertainty, collector)]);
                }
                ChosenOrders::PerRow(policy) => {
                    let orders = policy.orders(block);
                    model.walk(block, &mut [(Route::PerRow(&orders), collector)]);
                }
            },
        }
    }

    fn decisions(&self, block: &Block) -> LabelMatrix {
        let mut decisions = Decisions::new(block.n_rows(), self.model().n_labels());
        self.walk(block, &mut decisions);
        decisions.0
    }

    fn traces(&self, block: &Block) -> Vec<Trace> {
        let mut traces = Traces::default();
        let MemberChain::AnyOrder { model, orders: ChosenOrders::PerRow(policy) } = &self.chain
        else {
            self.walk(block, &mut traces);
            if let MemberChain::AnyOrder { orders: ChosenOrders::ByCertainty, .. } = &self.chain {
                traces.0.iter_mut().for_each(|trace| trace.reason = Some(by_certainty()));
            }
            return traces.0;
        };
        let explained = policy.explained_orders(block, &self.validation);
        let (orders, reasons): (Vec<Cow<Order>>, Vec<Reason>) = explained.into_iter().unzip();
        model.walk(block, &mut [(Route::PerRow(&orders), &mut traces)]);
        for (trace, reason) in traces.0.iter_mut().zip(reasons) {
            trace.reason = Some(reason);
        }
        traces.0
    }

    fn traces_alone(&self, block: &Block) -> Vec<Trace> {
        let mut traces = Traces::default();
        match &self.chain {
            MemberChain::FixedOrder(model) => model.walk_independently(block, &mut traces),
            MemberChain::AnyOrder { model, .. } => {
                model.walk(block, &mut [(Route::Independent, &mut traces)]);
            }
        }
        traces.0
    }
}

/// Whether a model agrees with itself and with the sizes of what it is to be a part of, as it does unless it was
/// decoded.
pub(crate) fn is_sound(model: &dyn BaseModel, dimensions: &Dimensions) -> bool {
    // What the models rely on when they look up rows and inputs by these numbers. Labels share
    // lists of rows and of inputs, and each list is looked at once.
    let (mut seen_rows, mut seen_features) = (HashSet::new(), HashSet::new());
    let mut views_fit = model.views().iter().map(|view| {
        let is_seen = !seen_rows.insert(Arc::as_ptr(&view.rows));
        let are_seen = !seen_features.insert(Arc::as_ptr(&view.features));
        (is_seen || ascend_below(&view.rows, dimensions.n_rows))
            && (are_seen || ascend_below(&view.features, dimensions.n_features))
    });
    views_fit.all(|fits| fits) && model.fits(dimensions)
}

/// Whether numbers ascend and are below another.
fn ascend_below(places: &[usize], n: usize) -> bool {
    places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|&last| last < n)
}

/// Why a walk by certainty took its order.
fn by_certainty() -> Reason {
    let text =
        "The order came about on the way: of the labels still open, the one with the support\n\
                farthest from 0 was decided next, and the others were asked again."
            .to_string();
    Reason { text, ..Reason::default() }
}
