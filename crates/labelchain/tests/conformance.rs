//! Every strategy and every base satisfies the contract of the traits.
#![allow(clippy::unwrap_used)]

use labelchain::base::{
    ChainModel as _, Evidence as _, J48, Likelihood, NaiveBayes, NearestNeighbours,
};
use labelchain::chain::{Chain, Independent, Order, decide};
use labelchain::data::{Dataset, LabelId, LabelMatrix, LabelNetwork};
use labelchain::distance::Neighbourhood;
use labelchain::ensemble::{Base, BaseModel, Candidate, Ensemble, Genetic, Sampling, Strategy};
use labelchain::experiment::{BaseName, Method, Settings, StrategyName};
use labelchain::learner::{Block, Predictor as _};
use labelchain::model::Model;
use labelchain::prepare::{Preparation, Prepared};
use labelchain::seed::Seed;

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

fn bases() -> Vec<Base> {
    let preparation = Preparation::none();
    let likelihood = Likelihood::Auto;
    vec![
        Base::NaiveBayes(NaiveBayes { preparation, likelihood }),
        Base::NearestNeighbours(NearestNeighbours {
            neighbours: 3,
            preparation,
            ..NearestNeighbours::default()
        }),
    ]
}

/// All that there are; some bases refuse some strategies.
fn methods() -> Vec<Method> {
    let bases = |strategy| BaseName::ALL.map(|(_, base)| format!("{strategy}-{base}"));
    let names = StrategyName::ALL.into_iter().flat_map(|(_, strategy)| bases(strategy));
    let methods: Vec<Method> = names.filter_map(|name| name.parse().ok()).collect();
    assert_eq!(methods.len(), 2 * 6 + 2 * 4);
    methods
}

fn settings() -> Settings {
    let sampling = Sampling { n_members: 6, ..Sampling::default() };
    Settings { sampling, decay: Some(1.0), neighbours: Some(3), ..Settings::default() }
}

#[test]
fn orders_are_permutations_and_validation_rows_never_leak() {
    let (data, new) = (network(160, 1), network(30, 2));
    for method in methods() {
        let model = Model::fit(&data, method, &settings(), 1, &|_| ()).unwrap();
        assert_eq!(model.members().len(), 6, "{method}");
        for member in model.members() {
            assert!(!member.validation.is_empty(), "{method}");
            let leaks = |row: &usize| member.fitting.binary_search(row).is_ok();
            assert!(!member.validation.iter().any(leaks), "{method}");
            for view in member.model().views() {
                let fitted = |row: &usize| member.fitting.binary_search(row).is_ok();
                assert!(view.rows.iter().all(fitted), "{method}");
            }
        }
        for trace in model.trace(&new).unwrap().into_iter().flatten() {
            let independent = matches!(method.strategy, StrategyName::Br | StrategyName::GaBr);
            assert_eq!(trace.order.is_none(), independent, "{method}");
            trace.order.map(|order| Order::new(order, N_LABELS).unwrap());
            let positive = trace.support.iter().map(|&support| support > 0.0);
            assert!(positive.eq(trace.decisions), "{method}");
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
                let model = Model::fit(&data, method, &settings(), 1, &|_| ()).unwrap();
                (model.predict(&new).unwrap().votes, model.trace(&new).unwrap())
            })
        });
        assert_eq!(one, two, "{method}");
    }
}

#[test]
fn one_row_at_a_time_and_many_say_the_same() {
    let (data, new) = (network(160, 1), network(30, 2));
    // Too little for two rows at a time; β and R are tuned, which measures distances as well.
    let little = Settings { max_memory: 1, decay: None, neighbours: None, ..settings() };
    let plenty = Settings { max_memory: u64::MAX, ..little.clone() };
    for method in methods() {
        let [few, many] = [&little, &plenty].map(|settings| {
            let model = Model::fit(&data, method, settings, 1, &|_| ()).unwrap();
            (model.decay(), model.neighbours(), model.trace(&new).unwrap())
        });
        assert_eq!(few, many, "{method}");
    }
}

/// Fits a model on the first 100 rows, and returns what `ask` computes from it and the other rows.
fn answers<A>(
    data: &Dataset,
    base: &Base,
    order: Option<&Order>,
    ask: impl Fn(&BaseModel, &Block) -> A,
) -> A {
    let train = Prepared::new(data.clone()).unwrap();
    let fitting: Vec<usize> = (0..100).collect();
    let rest: Vec<usize> = (100..data.n_rows()).collect();
    let model = base.fit(&train, &fitting, order, Seed::new(1)).unwrap();
    let queries = train.data().select(&rest);
    let near = Neighbourhood::of(train.data()).unwrap();
    let nearest = near.rankings(&queries, model.needs());
    let rows: Vec<usize> = (0..queries.n_rows()).collect();
    let features = queries.features();
    ask(&model, &Block { features, rows: &rows, near: None, nearest: nearest.as_ref() })
}

#[test]
fn relabelling_the_columns_relabels_every_base() {
    let data = network(140, 1);
    let tree = Base::J48 { tree: J48::default(), preparation: Preparation::none() };
    for base in bases().into_iter().chain([tree]) {
        for at in 0..20 {
            let order = Order::random(N_LABELS, Seed::new(1).child("order", at));
            let walk = |data: &Dataset, order: Order| {
                answers(data, &base, Some(&order), |model, block| {
                    Chain { model: std::sync::Arc::new(model.clone()), policy: order.clone() }
                        .predict_block(block)
                })
            };
            let plain = walk(&data, order.clone());
            assert!(plain.counts().iter().sum::<usize>() > 0);
            assert_eq!(
                walk(&relabelled(&data), relabelled_order(&order)),
                relabelled_matrix(&plain)
            );
        }
    }
}

/// Orders are drawn by label index, so they are moved along with the columns.
#[test]
fn relabelling_the_columns_relabels_every_strategy() {
    let (data, new) = (network(140, 1), network(40, 2));
    let sampling = Sampling { n_members: 4, ..Sampling::default() };
    let order = Order::random(N_LABELS, Seed::new(7));
    let strategies = |moved: bool| {
        let given = if moved { relabelled_order(&order) } else { order.clone() };
        vec![
            Strategy::BinaryRelevance,
            Strategy::RandomOrder,
            Strategy::GivenOrder(given),
            Strategy::LocalF1 { decay: 1.0 },
        ]
    };
    let answers = |data: &Dataset, base: &Base, moved: bool| -> Vec<LabelMatrix> {
        let prepared = Prepared::new(data.clone()).unwrap();
        let near = Neighbourhood::of(prepared.data()).unwrap();
        let rows = prepared.standardizer().apply(new.clone()).unwrap();
        let seed = Seed::new(1);
        let moved_along = |mut candidate: Candidate<BaseModel>| {
            if moved {
                candidate.order = relabelled_order(&candidate.order);
            }
            candidate
        };
        let fit = |rows: &[usize], _: &Order, seed| base.fit(&prepared, rows, None, seed);
        let own = sampling.candidates(&prepared, seed, fit).unwrap();
        let own: Vec<_> = own.into_iter().map(moved_along).collect();
        let contenders = sampling.contenders(9, &prepared, seed, fit).unwrap();
        let contenders: Vec<_> = contenders.into_iter().map(moved_along).collect();
        let mut all = Vec::new();
        let mut vote = |strategy: &Strategy, candidates: &[Candidate<BaseModel>]| {
            let ensemble = Ensemble::plan(strategy, candidates, &prepared, seed).unwrap();
            let near = ensemble.needs_neighbourhood().then_some(&near);
            all.push(ensemble.decide(&ensemble.votes(&rows, near).unwrap()));
        };
        for strategy in strategies(moved) {
            vote(&strategy, &own);
        }
        for (walked, strategy) in
            [(true, Strategy::RandomOrder), (false, Strategy::BinaryRelevance)]
        {
            let genetic = Genetic::default();
            let contenders = contenders.clone();
            let kept = genetic.keep(4, walked, contenders, &prepared, seed, &|_, _| ()).unwrap();
            vote(&strategy, &kept);
        }
        all
    };
    for base in bases() {
        let plain = answers(&data, &base, false);
        let moved = answers(&relabelled(&data), &base, true);
        for (at, (plain, moved)) in plain.iter().zip(moved).enumerate() {
            assert_eq!(moved, relabelled_matrix(plain), "{base:?}, {at}");
        }
    }
}

#[test]
fn evidence_copies_share_nothing_and_independent_answers_need_no_observing() {
    let data = network(140, 1);
    for base in bases() {
        answers(&data, &base, None, |model, block| {
            let scores = model.score(block);
            let alone = Independent { model: std::sync::Arc::new(model.clone()) };
            let independent = alone.predict_block(block);
            for row in 0..block.n_rows() {
                let evidence = model.evidence(&scores, row);
                let before: Vec<f64> =
                    (0..N_LABELS).map(|label| evidence.support(LabelId(label))).collect();
                decide(evidence.clone(), &Order::natural(N_LABELS), |_| ());
                for (label, &before) in before.iter().enumerate() {
                    assert_eq!(evidence.support(LabelId(label)), before);
                    assert_eq!(independent.get(row, LabelId(label)), before > 0.0);
                }
            }
        });
    }
}
