use super::*;
use crate::chain::{
    BaseModel, BinaryModel as _, Block, Dimensions, Evidence as _, Order, Score, Scoring as _,
};
use crate::data::split::{Folds, folds};
use crate::data::{Attribute, Dense, LabelMatrix, Matrix, ReadOptions, parse};
use crate::loss::Confusion;
use crate::seed::Seed;

/// Two labels that depend on two inputs and chance.
fn noisy(n_rows: usize, seed: u64) -> Dataset {
    let mut rng = Seed::new(seed).rng();
    let mut cells = Dense::new(3);
    let mut labels = LabelMatrix::empty(n_rows, 2);
    for row in 0..n_rows {
        let inputs = [rng.normal(), rng.normal(), rng.normal()];
        cells.push_row(&inputs);
        labels.set(row, LabelId(0), inputs[0] + inputs[1] + 0.5 * rng.normal() > 0.0);
        labels.set(row, LabelId(1), inputs[0] * inputs[1] + 0.2 * rng.normal() > 0.5);
    }
    let attributes = ["x", "y", "z"].map(Attribute::numeric).to_vec();
    let names = vec!["a".into(), "b".into()];
    Dataset::new("noisy", attributes, Matrix::Dense(cells), names, labels).unwrap()
}

fn rbf(gamma: f64, cost: f64) -> Svm {
    Svm { kernel: Kernel::Rbf { gamma: Some(gamma) }, cost, ..Svm::default() }
}

fn all_rows(data: &Dataset) -> Vec<usize> {
    (0..data.n_rows()).collect()
}

fn view(rows: &[usize], features: &[usize]) -> LabelView {
    LabelView { rows: rows.into(), features: features.into() }
}

fn training_rows(data: &Dataset) -> TrainingRows {
    TrainingRows::new(data, 1 << 30).unwrap()
}

/// The decision value of a classifier for every training row.
fn decisions(classifier: &BinarySvm, data: &Dataset) -> Vec<f64> {
    let distances = training_rows(data).distances(data.features(), &all_rows(data));
    distances
        .chunks(data.n_rows())
        .map(|row| classifier.decision_value(|other| row[other]))
        .collect()
}

/// Rows without weight lie beyond the margin, those of full weight within it, the others on it.
#[test]
fn the_conditions_of_the_optimum_hold_at_every_point_of_the_grid() {
    let data = noisy(80, 1);
    let (train, rows, grid) = (training_rows(&data), all_rows(&data), Grid::default());
    let points = grid.costs.iter().flat_map(|c| grid.gammas.iter().map(move |g| rbf(*g, *c)));
    let linear = [0.001, 1.0, 10.0].map(|cost| Svm { kernel: Kernel::Linear, ..rbf(1.0, cost) });
    for svm in points.chain(linear) {
        for label in data.labels().ids() {
            let classifier = svm.fit(&train, &rows, label, &[]).unwrap();
            assert!(classifier.converged());
            let mut weights = vec![0.0; rows.len()];
            let supports = classifier.support_rows().zip(&classifier.weights);
            supports.for_each(|(row, &weight)| weights[row] = weight);
            assert!(weights.iter().sum::<f64>().abs() < 1e-9);
            for (row, decision) in decisions(&classifier, &data).into_iter().enumerate() {
                let sign = if data.labels().get(row, label) { 1.0 } else { -1.0 };
                let (weight, margin) = (sign * weights[row], sign * decision - 1.0);
                // Kernels in single precision add less than a hundredth to the tolerance.
                let tolerance = 1.01e-3;
                assert!((0.0..=svm.cost).contains(&weight), "{weight}");
                assert!(weight > 0.0 || margin > -tolerance, "{svm:?}: no weight at {margin}");
                assert!(weight < svm.cost || margin < tolerance, "{svm:?}: full at {margin}");
            }
        }
    }
}

#[test]
fn a_kernel_too_large_for_memory_gives_the_same_classifier() {
    let data = noisy(120, 2);
    let rows = all_rows(&data);
    let svm = rbf(0.5, 5.0);
    let before = [LabelId(1)];
    let plenty = svm.fit(&training_rows(&data), &rows, LabelId(0), &before).unwrap();
    let little = TrainingRows::new(&data, 4000).unwrap();
    let scarce = svm.fit(&little, &rows, LabelId(0), &before).unwrap();
    for (a, b) in decisions(&plenty, &data).into_iter().zip(decisions(&scarce, &data)) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    let grid = Grid::default();
    let [plenty, scarce] = [&training_rows(&data), &little]
        .map(|train| grid.tune(&Svm::default(), train, &rows, Seed::new(1)).unwrap());
    assert_eq!(plenty, scarce);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let data = noisy(100, 3);
    let rows: Vec<usize> = (0..100).filter(|row| row % 4 > 0).collect();
    let [one, three] = [1, 3].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let train = training_rows(&data);
            let tuned = Grid::default().tune(&Svm::default(), &train, &rows, Seed::new(1)).unwrap();
            let svms: Vec<Svm> = tuned.iter().map(|tuned| tuned.svm).collect();
            let views = vec![view(&rows, &[0, 1, 2]), view(&rows, &[1])];
            let model = SvmChain::fit(&svms, &train, views, Some(&order([1, 0]))).unwrap();
            (tuned, postcard::to_stdvec(&model).unwrap())
        })
    });
    assert_eq!(one, three);
}

/// Counted by hand: every classifier is fitted anew, and every test row classified.
#[test]
fn the_grid_counts_errors_of_cross_validation_and_takes_the_first_of_equals() {
    let data = noisy(90, 4);
    let (train, rows) = (training_rows(&data), all_rows(&data));
    let (costs, gammas) = (vec![0.001, 1.0, 7.0], vec![0.01, 0.5]);
    let grid = Grid { costs, gammas, ..Grid::default() };
    let cut = folds(90, 3, Seed::new(5).child("grid", 0)).unwrap();
    let tuned = grid.tune(&Svm::default(), &train, &rows, Seed::new(5)).unwrap();
    let by_f1 = Grid { criterion: GridCriterion::MacroF1, ..grid.clone() };
    let tuned_by_f1 = by_f1.tune(&Svm::default(), &train, &rows, Seed::new(5)).unwrap();
    let distances = train.distances(data.features(), &rows);
    for ((label, tuned), tuned_by_f1) in data.labels().ids().zip(&tuned).zip(&tuned_by_f1) {
        let mut expected = Vec::new();
        for (&cost, &gamma) in
            grid.costs.iter().flat_map(|c| grid.gammas.iter().map(move |g| (c, g)))
        {
            let counts = |fold: usize| -> Confusion {
                let svm = rbf(gamma, cost);
                let classifier = svm.fit(&train, &cut.train_rows(fold), label, &[]).unwrap();
                let decides = |row: usize| {
                    classifier.decision_value(|other| distances[row * 90 + other]) > 0.0
                };
                let of_row =
                    |row: usize| Confusion::of_cell(data.labels().get(row, label), decides(row));
                cut.test_rows(fold).into_iter().map(of_row).sum()
            };
            expected.push((0..3).map(counts).sum::<Confusion>());
        }
        assert_eq!(tuned.counts, expected);
        assert_eq!(tuned_by_f1.counts, expected);
        // 1 - F1 = (FP + FN) / (2 TP + FP + FN).
        let loss_of_f1 =
            |of: &Confusion| of.n_wrong() as f64 / (2 * of.true_positives + of.n_wrong()) as f64;
        let n_wrong: Vec<f64> = expected.iter().map(|of| of.n_wrong() as f64).collect();
        let loss_of_f1: Vec<f64> = expected.iter().map(loss_of_f1).collect();
        for (tuned, losses) in [(tuned, n_wrong), (tuned_by_f1, loss_of_f1)] {
            let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
            let first = losses.iter().position(|&loss| loss == least).unwrap();
            assert_eq!(tuned.svm, rbf(grid.gammas[first % 2], grid.costs[first / 2]));
            assert!(losses.iter().any(|&loss| loss > least), "{losses:?}");
        }
    }
}

fn read(rows: &str) -> Dataset {
    let header = "@relation 't: -C -1'\n@attribute x numeric\n@attribute same numeric\n\
                  @attribute gone numeric\n@attribute a {0,1}\n@data\n";
    parse("t.arff".as_ref(), format!("{header}{rows}").as_bytes(), &ReadOptions::default())
        .unwrap()
        .into_rows()
        .unwrap()
}

fn ask(model: &SvmChain, data: &Dataset) -> Vec<f64> {
    let rows = all_rows(data);
    model.supports(&Block::of(data.features(), &rows)).into_iter().map(Score::value).collect()
}

fn order(labels: [usize; 2]) -> Order {
    Order::new(labels.map(LabelId).to_vec(), 2).unwrap()
}

#[test]
fn one_class_is_a_constant_and_no_rows_are_irrelevant() {
    let relevant = Svm::default().fit_binary(&read("1,5,?,1\n2,5,?,1\n")).unwrap();
    assert_eq!(ask(&relevant, &read("9,5,?,0\n?,5,?,0\n")), [1.0, 1.0]);
    let irrelevant = Svm::default().fit_binary(&read("1,5,?,0\n")).unwrap();
    assert_eq!(ask(&irrelevant, &read("9,5,?,0\n")), [-1.0]);
    let nothing = Svm::default().fit_binary(&read("")).unwrap();
    assert_eq!(ask(&nothing, &read("9,5,?,0\n")), [-1.0]);
    // Every point of a grid is as good as the first.
    let data = read("1,5,?,1\n2,5,?,1\n3,5,?,1\n");
    let train = training_rows(&data);
    let tuned = Grid::default().tune(&Svm::default(), &train, &[0, 1, 2], Seed::new(1)).unwrap();
    assert_eq!(tuned[0].svm, rbf(0.001, 0.001));
}

#[test]
fn rows_that_contradict_each_other_weigh_all_they_may() {
    // Equal inputs, so a kernel of nothing but ones: two rows of either class, and one more.
    let data = read("1,5,?,0\n1,5,?,1\n1,5,?,1\n1,5,?,0\n1,5,?,0\n");
    for cost in [0.001, 1.0, 1e6] {
        let model = Svm { cost, ..Svm::default() }.fit_binary(&data).unwrap();
        assert!(model.classifier(LabelId(0)).converged());
        // All rows have the same decision value, that of the larger class.
        let decisions = ask(&model, &data);
        assert!(decisions.iter().all(|value| (value + 1.0).abs() < 2e-3), "{decisions:?}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let data = noisy(10, 1);
    let message = |svm: Svm| {
        svm.fit(&training_rows(&data), &[0, 1, 2], LabelId(0), &[]).unwrap_err().to_string()
    };
    for value in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(message(rbf(1.0, value)), format!("cost is {value}, but must be above 0"));
        assert_eq!(message(rbf(value, 1.0)), format!("gamma is {value}, but must be above 0"));
    }
    let none = Svm { max_steps: 0, ..Svm::default() };
    assert_eq!(message(none), "max_steps is 0, but must be at least 1");
    let tune =
        |grid: Grid| grid.tune(&Svm::default(), &training_rows(&data), &[0, 1, 2], Seed::new(1));
    for costs in [vec![], vec![2.0, 1.0], vec![1.0, 1.0], vec![-1.0]] {
        assert!(matches!(tune(Grid { costs, ..Grid::default() }), Err(Error::Setting { .. })));
    }
    for gammas in [vec![], vec![0.0]] {
        assert!(matches!(tune(Grid { gammas, ..Grid::default() }), Err(Error::Setting { .. })));
    }
    let few = Grid { n_folds: 4, ..Grid::default() };
    assert!(matches!(tune(few), Err(Error::TooFewRows { .. })));
    let cut = Folds::new(vec![0, 1], 2).unwrap();
    let other = Grid::default().tune_on(&Svm::default(), &training_rows(&data), &[0, 1, 2], &cut);
    assert!(matches!(other, Err(Error::Shape { .. })));
    let unset =
        SvmChain::fit(&[Svm::default()], &training_rows(&data), vec![view(&[0], &[0]); 2], None);
    assert!(matches!(unset, Err(Error::Shape { expected: 2, found: 1, .. })));
}

#[test]
fn a_cell_too_large_to_compute_with_is_refused() {
    let error = Svm::default().fit_binary(&read("1,5,?,0\n1e200,5,?,1\n")).unwrap_err();
    let expected = "t, row 1, column \"x\": expected a number between -1e100 and 1e100, found 1";
    assert!(error.to_string().starts_with(expected), "{error}");
    // Far too large for single precision is far, and no more.
    let far = Svm::default().fit_binary(&read("1,5,?,0\n1e90,5,?,1\n")).unwrap();
    assert!(far.classifier(LabelId(0)).converged() && ask(&far, &read("1,5,?,0\n"))[0] < 0.0);
}

#[test]
fn a_model_survives_being_written_and_a_damaged_one_is_noticed() {
    let data = noisy(40, 6);
    let views = vec![view(&[1, 3, 5, 6, 7], &[0, 1, 2]), view(&all_rows(&data), &[0, 2])];
    let svms = [Svm::default(); 2];
    let model = SvmChain::fit(&svms, &training_rows(&data), views, Some(&order([0, 1]))).unwrap();
    let bytes = postcard::to_stdvec(&model).unwrap();
    let back: SvmChain = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(ask(&back, &data), ask(&model, &data));
    let fits = |n_labels, n_features| {
        BaseModel::fits(
            &back,
            &Dimensions { n_labels, n_features, n_numbers: 40, n_rows: 40, n_train: None },
        )
    };
    assert!(fits(2, 3) && !fits(2, 4) && !fits(1, 3));
}

/// What a label learns from its view and the labels before it is what it learns from a table that
/// holds nothing else.
#[test]
fn a_label_of_a_chain_equals_a_classifier_trained_on_its_inputs_and_labels_alone() {
    let data = noisy(60, 7);
    let rows: Vec<usize> = (0..60).filter(|row| row % 3 > 0).collect();
    let svm = rbf(0.5, 2.0);
    for features in [vec![0, 1, 2], vec![0, 2]] {
        let views = vec![view(&rows, &features); 2];
        let model =
            SvmChain::fit(&[svm; 2], &training_rows(&data), views, Some(&order([1, 0]))).unwrap();
        let mut cells = Dense::new(features.len() + 1);
        let mut target = LabelMatrix::empty(60, 1);
        for row in 0..60 {
            let inputs = features.iter().map(|&column| data.features().get(row, column));
            let label = f64::from(u8::from(data.labels().get(row, LabelId(1))));
            cells.push_row(&inputs.chain([label]).collect::<Vec<_>>());
            target.set(row, LabelId(0), data.labels().get(row, LabelId(0)));
        }
        let attributes = (0..=features.len()).map(|at| Attribute::numeric(format!("{at}")));
        let names = vec!["a".into()];
        let alone =
            Dataset::new("alone", attributes.collect(), Matrix::Dense(cells), names, target);
        let alone = alone.unwrap();
        let expected = ask(&svm.fit_binary(&alone.select(&rows)).unwrap(), &alone);

        let all = all_rows(&data);
        let block = Block::of(data.features(), &all);
        let scores = model.score(&block);
        for (row, expected) in expected.into_iter().enumerate() {
            let mut evidence = model.evidence(&scores, row);
            evidence.observe(LabelId(1), data.labels().get(row, LabelId(1)));
            let found = evidence.support(LabelId(0)).value();
            // Both are optimal to 1e-3.
            assert!((found - expected).abs() < 2e-3, "{found} {expected}");
        }
    }
}
