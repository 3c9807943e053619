//! Every strategy and every base satisfies the contract of the traits.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use labelchain::base::{BASES, Base, BaseKind, BaseTask, Forest, NaiveBayes, NearestNeighbours};
use labelchain::chain::{
    AnyOrderLearner, AnyOrderModel, BaseModel as _, Block, ChainLearner, Decisions, Evidence as _,
    Order, Outputs, Route, Scale, Score, Scoring as _, Trace, Traces, decide,
};
use labelchain::data::{Dataset, LabelId, LabelMatrix, LabelNetwork};
use labelchain::distance::{Memberships, Neighbourhood};
use labelchain::ensemble::{
    Candidate, DECAY, Genetic, MemberOrders, MemberRows, PolicyTask, STRATEGIES, Sampling,
    SearchRows, Strategy, VoteTies,
};
use labelchain::method::setting;
use labelchain::prepare::{Preparation, Prepared};
use labelchain::{LabelChain, Method, Model, Seed, Settings};

const N_LABELS: usize = 5;

fn network(n_rows: usize, seed: u64) -> Dataset {
    let network =
        LabelNetwork { n_rows, n_labels: N_LABELS, n_features: 6, ..LabelNetwork::default() };
    network.generate("network", Seed::new(seed)).unwrap()
}

/// New label l is old label `to_old[l]`.
const TO_OLD: [usize; N_LABELS] = [3, 0, 4, 1, 2];

fn relabelled_matrix(labels: &LabelMatrix) -> LabelMatrix {
    let mut moved = LabelMatrix::empty(labels.n_rows(), N_LABELS);
    for row in 0..labels.n_rows() {
        for (new, &old) in TO_OLD.iter().enumerate() {
            moved.set(row, LabelId(new), labels.get(row, LabelId(old)));
        }
    }
    moved
}

fn relabelled(data: &Dataset) -> Dataset {
    let names = TO_OLD.iter().map(|&old| data.label_names()[old].clone()).collect();
    let (attributes, features) = (data.attributes().to_vec(), data.features().clone());
    let labels = relabelled_matrix(data.labels());
    Dataset::new("relabelled", attributes, features, names, labels).unwrap()
}

fn relabelled_order(order: &Order) -> Order {
    let new = |old: LabelId| LabelId(TO_OLD.iter().position(|&at| at == old.0).unwrap());
    Order::new(order.iter().map(new).collect(), N_LABELS).unwrap()
}

/// All methods that there are.
fn methods() -> Vec<Method> {
    let methods: Vec<Method> = Method::all().collect();
    let goes = |base: &&Base| {
        let is_taken = |it: &&&Strategy| {
            let is_shared = base.member_rows == MemberRows::Shared;
            (base.is_free_of_order() || !it.chooses_per_row()) && !(is_shared && it.is_searched)
        };
        STRATEGIES.iter().filter(is_taken).count()
    };
    assert_eq!(methods.len(), BASES.iter().map(goes).sum::<usize>());
    methods
}

/// A small ensemble, in which nothing is tuned.
fn quick(method: Method) -> LabelChain<'static> {
    let mut chain = LabelChain::with(method, Settings::default());
    for (name, value) in [("members", 6), ("decay", 1), ("neighbours", 3), ("trees", 20)] {
        if method.uses(name) {
            chain = chain.set(name, value).unwrap();
        }
    }
    chain
}

/// How each member decides each row.
fn traces(model: &Model, rows: &Dataset) -> Vec<Vec<Trace>> {
    model.align(rows, Path::new("rows")).unwrap().traces().unwrap()
}

#[test]
fn orders_are_permutations_and_validation_rows_never_leak() {
    let (data, new) = (network(160, 1), network(30, 2));
    for method in methods() {
        let model = quick(method).fit(&data).unwrap();
        assert_eq!(model.members().len(), if method.uses("members") { 6 } else { 1 }, "{method}");
        for member in model.members() {
            assert!(!member.validation.is_empty(), "{method}");
            if method.base().member_rows == MemberRows::Shared {
                // That these are asked out of bag is tested beside the base.
                assert_eq!((member.fitting.len(), &member.validation), (160, &member.fitting));
                continue;
            }
            let leaks = |row: &usize| member.fitting.binary_search(row).is_ok();
            assert!(!member.validation.iter().any(leaks), "{method}");
            for view in member.model().views() {
                let fitted = |row: &usize| member.fitting.binary_search(row).is_ok();
                assert!(view.rows.iter().all(fitted), "{method}");
            }
        }
        for trace in traces(&model, &new).into_iter().flatten() {
            assert_eq!(trace.order.is_some(), method.strategy().is_chained(), "{method}");
            assert_eq!(trace.reason.is_some(), method.strategy().chooses_per_row(), "{method}");
            trace.order.map(|order| Order::new(order, N_LABELS).unwrap());
            let decided = trace.scores.iter().map(|score| score.is_relevant());
            assert!(decided.eq(trace.decisions), "{method}");
        }
    }
}

/// What a base says of its scores is what they are: aims are refused by it before any row is walked.
#[test]
fn scores_are_on_the_scale_that_their_model_names() {
    let new = network(20, 2);
    for method in methods() {
        let model = quick(method).fit(&network(160, 1)).unwrap();
        for trace in traces(&model, &new).concat() {
            for score in trace.scores {
                assert_eq!(score.on_scale().0, model.members()[0].model().scale(), "{method}");
            }
        }
    }
}

#[test]
fn one_thread_and_two_say_the_same() {
    let (data, new) = (network(160, 1), network(30, 2));
    let threads = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for method in methods() {
        let [one, two] = [1, 2].map(|n| {
            threads(n).install(|| {
                let model = quick(method).fit(&data).unwrap();
                (model.predict(&new).unwrap().shares, traces(&model, &new))
            })
        });
        assert_eq!(one, two, "{method}");
    }
}

#[test]
fn one_row_at_a_time_and_many_say_the_same() {
    let (data, new) = (network(160, 1), network(30, 2));
    for method in methods() {
        let fit = |max_memory| {
            let mut chain = LabelChain::with(method, Settings::default());
            for (name, value) in [("members", 6), ("trees", 20)] {
                if method.uses(name) {
                    chain = chain.set(name, value).unwrap();
                }
            }
            chain.max_memory(max_memory).fit(&data)
        };
        let answers = |model: Model| (model.tuned().to_vec(), traces(&model, &new));
        // As little as training takes: β and R are tuned, which measures distances as well. Then too
        // little for two rows at a time.
        let least = (0..64).find_map(|bit| fit(1 << bit).ok()).unwrap();
        let (few, many) = (answers(least.within(1)), answers(fit(u64::MAX).unwrap()));
        assert_eq!(few, many, "{method}");
    }
}

/// Without preparation, so that nothing is drawn by label index.
fn plain() -> Settings {
    let mut settings = Settings::default();
    let given = ["max-imbalance none", "select none", "neighbours 3", "trees 20", "trust 0.7"];
    for (name, value) in given.iter().filter_map(|it| it.split_once(' ')) {
        settings.set(setting(name).unwrap(), value).unwrap();
    }
    settings
}

/// What a base decides about the last rows, in an order, when it is fitted to the first 100.
fn decisions(data: &Dataset, base: &Base, order: &Order) -> LabelMatrix {
    let train = Prepared::new(data.clone()).unwrap();
    let (fitting, rest): (Vec<usize>, Vec<usize>) = (0..data.n_rows()).partition(|&row| row < 100);
    let (settings, seed) = (plain(), Seed::new(1));
    let sampling = Sampling::default();
    let vote_ties = VoteTies::Irrelevant;
    let task = BaseTask { settings: &settings, sampling, vote_ties, train: &train, seed };
    let queries = train.data().select(&rest);
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let features = queries.features();
    match base.kind {
        BaseKind::AnyOrder { learner, .. } => {
            let model = learner(&task).unwrap().train(&train, &fitting, seed).unwrap();
            let near = Neighbourhood::of(train.data()).unwrap();
            let rankings = near.rankings(&queries, model.needs()).unwrap();
            let rankings = rankings.as_ref();
            let block = Block { rankings, ..Block::of(features, &rows) };
            model.decisions(&block, Route::Fixed(order))
        }
        BaseKind::FixedOrder { learner, .. } => {
            let learner = learner(&task).unwrap();
            let model = learner.train(&train, &fitting, Some(order), seed).unwrap();
            model.decisions(&Block::of(features, &rows))
        }
    }
}

#[test]
fn relabelling_the_columns_relabels_every_base() {
    let data = network(140, 1);
    // Support vector machines are optimal to a tolerance only, and their path depends on the order
    // of the inputs.
    for base in BASES.iter().filter(|base| base.name != "svm") {
        for at in 0..20 {
            let order = Order::random(N_LABELS, Seed::new(1).child("order", at));
            let plain = decisions(&data, base, &order);
            assert!(plain.counts().iter().sum::<usize>() > 0);
            let moved = decisions(&relabelled(&data), base, &relabelled_order(&order));
            assert_eq!(moved, relabelled_matrix(&plain), "{}", base.name);
        }
    }
}

type AnyOrderCandidate = Candidate<Arc<dyn AnyOrderModel>>;

/// What the members of a strategy decide about new rows, in a data set whose columns may be moved.
fn members_decide(
    strategy: &Strategy,
    learner: &dyn AnyOrderLearner,
    data: &Dataset,
    is_moved: bool,
) -> Vec<LabelMatrix> {
    let train = Prepared::new(data.clone()).unwrap();
    let rows = train.standardizer().apply(network(40, 2)).unwrap();
    let near = Neighbourhood::of(train.data()).unwrap();
    let memberships = Memberships::new(near.distances(&rows).unwrap(), near.n_rows(), 1.0);
    let all: Vec<usize> = (0..rows.n_rows()).collect();
    let (seed, sampling) = (Seed::new(1), Sampling { n_members: 4, ..Sampling::default() });
    let vote_ties = VoteTies::Irrelevant;
    let fit = |rows: &[usize], _: &Order, seed| learner.train(&train, rows, seed);
    let mut candidates = if strategy.is_searched {
        sampling.for_search(9, SearchRows::HeldOut).candidates(&train, seed, fit).unwrap()
    } else {
        sampling.candidates(&train, seed, fit).unwrap()
    };
    if is_moved {
        // Orders are drawn by label index, so they are moved along with the columns.
        candidates.iter_mut().for_each(|of| of.order = relabelled_order(&of.order));
    }
    let is_chained = strategy.is_chained();
    let decide = |candidate: &AnyOrderCandidate, block: &Block| {
        let route = match strategy.orders {
            MemberOrders::Independent => Route::Independent,
            MemberOrders::ByCertainty => Route::ByCertainty,
            MemberOrders::PerMember | MemberOrders::PerRow { .. } => Route::Fixed(&candidate.order),
        };
        candidate.model.decisions(block, route)
    };
    if strategy.is_searched {
        let genetic = Genetic::of(&Settings::default(), 4, vote_ties).unwrap();
        let chosen = genetic
            .choose(candidates, &train, is_chained, |it| &**it, decide, seed, &|_, _| ())
            .unwrap();
        candidates = chosen;
    }
    let policies = match strategy.orders {
        MemberOrders::PerRow { learn, .. } => {
            let settings = Settings::default().with(&DECAY, Some(1.0)).unwrap();
            let (candidates, train, settings) = (&candidates, &train, &settings);
            let task =
                PolicyTask { candidates, learner, train, settings, sampling, vote_ties, seed };
            learn(&task).unwrap().by_candidate
        }
        _ => Vec::new(),
    };
    let member = |(at, candidate): (usize, &AnyOrderCandidate)| {
        let rankings = near.rankings(&rows, candidate.model.needs()).unwrap();
        let block = Block {
            memberships: Some(&memberships),
            rankings: rankings.as_ref(),
            ..Block::of(rows.features(), &all)
        };
        match policies.get(at) {
            Some(policy) => {
                candidate.model.decisions(&block, Route::PerRow(&policy.orders(&block)))
            }
            None => decide(candidate, &block),
        }
    };
    candidates.iter().enumerate().map(member).collect()
}

/// Left out are `oocc`, because it draws orders within, and `certain` with nearest neighbours, whose
/// certainties are often equal, so that label indices decide.
#[test]
fn relabelling_the_columns_relabels_every_strategy() {
    let data = network(140, 1);
    let preparation = Preparation::none();
    let knn = NearestNeighbours { neighbours: 3, preparation, ..NearestNeighbours::default() };
    let bayes = NaiveBayes { preparation, ..NaiveBayes::default() };
    let learners: [&dyn AnyOrderLearner; 2] = [&bayes, &knn];
    for strategy in STRATEGIES.iter().filter(|strategy| strategy.name != "oocc") {
        let n_learners = if strategy.name == "certain" { 1 } else { 2 };
        for learner in &learners[..n_learners] {
            let (learner, strategy) = (*learner, *strategy);
            let plain = members_decide(strategy, learner, &data, false);
            let moved = members_decide(strategy, learner, &relabelled(&data), true);
            assert_eq!(plain.len(), 4);
            for (plain, moved) in plain.iter().zip(moved) {
                assert_eq!(moved, relabelled_matrix(plain), "{}", strategy.name);
            }
        }
    }
}

fn check_evidence(learner: &impl ChainLearner) {
    let train = Prepared::new(network(140, 1)).unwrap();
    let (fitting, rest): (Vec<usize>, Vec<usize>) = (0..140).partition(|&row| row < 100);
    let model = learner.fit(&train, &fitting, Seed::new(1)).unwrap();
    let queries = train.data().select(&rest);
    let near = Neighbourhood::of(train.data()).unwrap();
    let rankings = near.rankings(&queries, model.needs()).unwrap();
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let (features, rankings) = (queries.features(), rankings.as_ref());
    let block = Block { rankings, ..Block::of(features, &rows) };
    let scores = model.score(&block);
    let independent = model.decisions(&block, Route::Independent);
    for row in 0..block.n_rows() {
        let evidence = model.evidence(&scores, row);
        let before: Vec<Score> = (0..N_LABELS).map(|at| evidence.support(LabelId(at))).collect();
        decide(evidence.clone(), &Order::natural(N_LABELS), |_| ());
        for (label, &before) in before.iter().enumerate() {
            assert_eq!(evidence.support(LabelId(label)), before);
            assert_eq!(independent.get(row, LabelId(label)), before.is_relevant());
        }
    }
}

#[test]
fn evidence_copies_share_nothing_and_independent_answers_need_no_observing() {
    let preparation = Preparation::none();
    check_evidence(&NaiveBayes { preparation, ..NaiveBayes::default() });
    let knn = NearestNeighbours { neighbours: 3, preparation, ..NearestNeighbours::default() };
    check_evidence(&knn);
    check_evidence(&Forest { n_trees: 20, ..Forest::default() });
}

/// A walk by certainty decides as a walk in the order that it took. That the most certain label comes next is
/// tested beside `decide_by_certainty`.
#[test]
fn a_walk_by_certainty_is_a_walk_in_the_order_it_takes() {
    let new = network(40, 2);
    for method in ["certain-nb", "certain-knn", "certain-forest"] {
        let chain = quick(method.parse().unwrap());
        let model = chain.fit(&network(160, 1)).unwrap();
        let mut orders = HashSet::new();
        for (row, by_member) in traces(&model, &new).into_iter().enumerate() {
            for (member, trace) in by_member.into_iter().enumerate() {
                let order = Order::new(trace.order.unwrap(), N_LABELS).unwrap();
                let names = order.iter().map(|label| new.label_names()[label.0].clone());
                let fixed = quick(method.replace("certain", "ecc").parse().unwrap());
                let fixed = fixed.set("order", names.collect::<Vec<_>>().join(",")).unwrap();
                if orders.insert(order.clone()) && orders.len() <= 5 {
                    // The members of ecc are fitted on the same rows, or share the same model.
                    let fixed = fixed.fit(&network(160, 1)).unwrap();
                    let other = traces(&fixed, &new).swap_remove(row).swap_remove(member);
                    assert_eq!(other.decisions, trace.decisions, "{method}");
                    assert_eq!(other.scores, trace.scores, "{method}");
                }
            }
        }
        assert!(orders.len() > 5, "{method}: {orders:?}");
    }
}

#[test]
fn collectors_keep_what_they_are_asked_for() {
    let train = Prepared::new(network(140, 1)).unwrap();
    let (fitting, rest): (Vec<usize>, Vec<usize>) = (0..140).partition(|&row| row < 100);
    let model = NaiveBayes::default().fit(&train, &fitting, Seed::new(1)).unwrap();
    let queries = train.data().select(&rest);
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let block = Block::of(queries.features(), &rows);
    let orders = [0, 1].map(|at| Order::random(N_LABELS, Seed::new(1).child("order", at)));
    let mut decisions = Decisions::new(rows.len(), N_LABELS);
    let (mut traces, mut outputs) = (Traces::default(), Outputs::new(rows.len(), N_LABELS, true));
    model.walk(
        &block,
        &mut [
            (Route::Fixed(&orders[0]), &mut decisions),
            (Route::Fixed(&orders[0]), &mut outputs),
            (Route::Fixed(&orders[1]), &mut traces),
        ],
    );
    let other = model.decisions(&block, Route::Fixed(&orders[1]));
    assert_eq!(outputs.scale, Scale::Probability);
    for row in 0..rows.len() {
        for label in 0..N_LABELS {
            let relevant = decisions.0.get(row, LabelId(label));
            assert_eq!(outputs.decisions.get(row, LabelId(label)), relevant);
            assert_eq!(outputs.scores[row * N_LABELS + label] > 0.5, relevant);
            let relevant = other.get(row, LabelId(label));
            assert_eq!(traces.0[row].decisions[label], relevant);
            assert_eq!(traces.0[row].scores[label].is_relevant(), relevant);
        }
    }
    assert_ne!(decisions.0, other, "the order makes a difference");
}

/// Every decision about a single label is made by `Score::is_relevant`: no other file of the library
/// compares a score with zero.
#[test]
fn strictly_above_zero_stands_in_one_place() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut places = Vec::new();
    let mut open = ["base", "chain", "order", "ensemble", "method", "model"]
        .map(|folder| sources.join(folder))
        .to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let scores = ["value() > 0", "support > 0", "score > 0", "bias > 0", "margin > 0"];
        let compares = |line: &str| scores.iter().any(|score| line.contains(score));
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let is_rule = code.lines().filter(is_code).any(compares);
        places.extend(is_rule.then_some(path));
    }
    assert_eq!(places, [sources.join("chain/score.rs")]);
}
