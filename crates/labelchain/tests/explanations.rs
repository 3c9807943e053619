//! What an answer rests on adds up to what the model says: weights of training rows, and contributions of
//! inputs. And what training says of its own quality is what new rows show.
#![allow(clippy::unwrap_used)]

use labelchain::data::{Attribute, Dataset, Dense, LabelNetwork, Matrix, Sparse};
use labelchain::loss::{Criterion, Losses, Undefined};
use labelchain::model::Explanation;
use labelchain::{LabelChain, Model, Seed};

/// Numbers, names and missing cells; stored densely or not.
fn mixed(is_sparse: bool) -> Dataset {
    let network =
        LabelNetwork { n_rows: 120, n_labels: 4, n_features: 5, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(5)).unwrap();
    let n_columns = data.n_features();
    let (mut dense, mut sparse) = (Dense::new(n_columns), Sparse::new(n_columns));
    for row in 0..data.n_rows() {
        let cell = |column: usize| match (column, data.features().get(row, column)) {
            (0, _) if row % 7 == 3 => f64::NAN,
            (1, value) => f64::from(u8::from(value > 0.0)) + f64::from(u8::from(value > 1.0)),
            (2, value) if value < 0.5 => 0.0,
            (_, value) => value,
        };
        let cells: Vec<f64> = (0..n_columns).map(cell).collect();
        dense.push_row(&cells);
        sparse.push_row(cells.iter().enumerate().map(|(at, &cell)| (at as u32, cell)));
    }
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    let attribute = |column: usize| match column {
        1 => Attribute::nominal("size", ["small", "middle", "large"]),
        _ => Attribute::numeric(format!("x{column}")),
    };
    let attributes = (0..n_columns).map(attribute).collect();
    let names = data.label_names().to_vec();
    Dataset::new("mixed", attributes, features, names, data.labels().clone()).unwrap()
}

fn trained(method: &str, data: &Dataset, settings: &[(&str, &str)]) -> Model {
    let chain = LabelChain::new(method).unwrap();
    let set =
        |chain: LabelChain<'static>, &(name, value): &(&str, &str)| chain.set(name, value).unwrap();
    settings.iter().fold(chain, set).fit(data).unwrap()
}

/// The mean of what members say of each label from the inputs alone.
fn said_alone(model: &Model, data: &Dataset, row: usize) -> Vec<f64> {
    let aligned = model.align(data, "mixed".as_ref()).unwrap();
    let members = 0..model.members().len();
    let by_member: Vec<Vec<f64>> = members
        .map(|member| {
            let scores = aligned.scores_alone(member).unwrap();
            scores[row].iter().map(|score| score.value()).collect()
        })
        .collect();
    let n = by_member.len() as f64;
    let labels = 0..model.label_names().len();
    labels.map(|label| by_member.iter().map(|scores| scores[label]).sum::<f64>() / n).collect()
}

/// Base value and contributions, summed.
fn summed(explanation: &Explanation, label: usize) -> f64 {
    let of_label = explanation.inputs.iter().filter(|input| input.label.0 == label);
    explanation.base_values[label] + of_label.map(|input| input.contribution).sum::<f64>()
}

/// The weights of the training rows that have a label.
fn weight_with(explanation: &Explanation, label: usize) -> f64 {
    let with = |labels: &[labelchain::data::LabelId]| labels.iter().any(|it| it.0 == label);
    explanation.neighbours.iter().filter(|it| with(&it.labels)).map(|it| it.weight).sum()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[test]
fn inputs_add_up_to_the_log_odds_of_naive_bayes() {
    for is_sparse in [false, true] {
        let data = mixed(is_sparse);
        for likelihood in ["auto", "kernel", "discretized"] {
            let settings = [("members", "3"), ("likelihood", likelihood), ("select", "none")];
            let model = trained("ecc-nb", &data, &settings);
            let explanations = model.explain(&data).unwrap();
            for row in [0, 3, 59] {
                let explanation = &explanations[row];
                assert!(explanation.neighbours.is_empty());
                assert_eq!(explanation.unit, "log-odds");
                for (label, said) in said_alone(&model, &data, row).iter().enumerate() {
                    let sum = summed(explanation, label);
                    assert!(
                        (sum - said).abs() < 1e-9 * (1.0 + said.abs()),
                        "{likelihood} {sum} {said}"
                    );
                }
            }
        }
    }
}

#[test]
fn inputs_and_training_rows_add_up_to_the_probabilities_of_a_forest() {
    for is_sparse in [false, true] {
        let data = mixed(is_sparse);
        let model = trained("certain-forest", &data, &[("trees", "20")]);
        let explanations = model.explain(&data).unwrap();
        for row in [0, 3, 59] {
            let explanation = &explanations[row];
            let weights: f64 = explanation.neighbours.iter().map(|it| it.weight).sum();
            assert!((weights - 1.0).abs() < 1e-12, "{weights}");
            // Every row is among those that its own leaves keep, in the trees that drew it.
            assert_eq!(explanation.neighbours[0].row, row);
            let labels: Vec<_> = data.labels().relevant(row).collect();
            assert_eq!(explanation.neighbours[0].labels, labels);
            for (label, said) in said_alone(&model, &data, row).iter().enumerate() {
                let said = probability(*said);
                for sum in [summed(explanation, label), weight_with(explanation, label)] {
                    assert!((sum - said).abs() < 1e-12, "{sum} {said}");
                }
            }
        }
        // Rows and inputs are also found by a model that was read back.
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let again = read.explain(&data).unwrap();
        assert_eq!(again[3].json(3), explanations[3].json(3));
    }
}

#[test]
fn neighbours_that_all_labels_share_vote_as_their_weights_say() {
    let data = mixed(false);
    for ties in ["lower-row", "weka"] {
        let settings = [
            ("members", "1"),
            ("neighbours", "5"),
            ("select", "none"),
            ("ties", ties),
            ("max-imbalance", "none"),
        ];
        let model = trained("ecc-knn", &data, &settings);
        let explanations = model.explain(&data).unwrap();
        for row in [0, 3, 59] {
            let explanation = &explanations[row];
            assert!(explanation.base_values.is_empty() && explanation.inputs.is_empty());
            let weights: f64 = explanation.neighbours.iter().map(|it| it.weight).sum();
            assert!((weights - 1.0).abs() < 1e-12, "{weights}");
            for (label, said) in said_alone(&model, &data, row).iter().enumerate() {
                // WEKA starts both classes with a fraction of a vote.
                let tolerance = if ties == "weka" { 0.01 } else { 1e-12 };
                let share = weight_with(explanation, label);
                assert!((share - probability(*said)).abs() < tolerance, "{share} {said}");
            }
        }
    }
}

#[test]
fn values_are_those_of_the_file() {
    for is_sparse in [false, true] {
        let data = mixed(is_sparse);
        let model = trained("br-nb", &data, &[("select", "none")]);
        let explanation = &model.explain(&data).unwrap()[10].json(10);
        let mut n_seen = 0;
        for input in explanation["inputs"].as_array().unwrap() {
            let column =
                data.attributes().iter().position(|it| input["name"] == it.name[..]).unwrap();
            let cell = data.features().get(10, column);
            match data.attributes()[column].values() {
                Some(names) => assert_eq!(input["value"], names[cell as usize][..]),
                None => assert!(
                    (input["value"].as_f64().unwrap() - cell).abs() < 1e-12 * (1.0 + cell.abs())
                ),
            }
            n_seen += 1;
        }
        assert!(n_seen > 10, "{n_seen}");
    }
}

#[test]
fn inputs_that_matter_are_told_from_noise() {
    // Label a is x above one half, label b is z; y is noise.
    let mut rng = Seed::new(2).rng();
    let cells: Vec<f64> = (0..900).map(|_| rng.unit()).collect();
    let labels: Vec<bool> = cells.chunks(3).flat_map(|row| [row[0] > 0.5, row[2] > 0.7]).collect();
    let data =
        Dataset::from_rows(3, &cells).unwrap().with_label_indicators(&["a", "b"], &labels).unwrap();
    let importance = trained("certain-forest", &data, &[]).importance().unwrap();
    assert!((importance.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{importance:?}");
    assert!(importance[0] > importance[2] && importance[2] > 3.0 * importance[1], "{importance:?}");
    assert!(trained("br-nb", &data, &[]).importance().is_none());
}

/// The estimate is that of rows that were not seen: far from the losses of the training rows, near those of
/// new ones.
#[test]
fn the_estimate_out_of_bag_is_what_new_rows_show() {
    let network = LabelNetwork { n_rows: 1600, n_labels: 5, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(8)).unwrap();
    let (train, test): (Vec<usize>, Vec<usize>) = (0..1600).partition(|row| row % 2 == 0);
    let (train, test) = (data.select(&train), data.select(&test));
    for method in ["certain-forest", "certain-forest@macro-f1", "ecc-nb", "ecc-j48@hamming"] {
        let model = LabelChain::new(method).unwrap().fit(&train).unwrap();
        let losses = |data: &Dataset| {
            let answers = model.predict(data).unwrap().labels;
            Losses::between(data.labels(), &answers, Undefined::default()).unwrap()
        };
        let hamming = |losses: &Losses| losses.get(Criterion::Hamming).unwrap();
        let estimate = hamming(model.out_of_bag().unwrap());
        let new = hamming(&losses(&test));
        assert!((estimate - new).abs() < 0.02, "{method}: {estimate} against {new}");
        if method.ends_with("forest") {
            let seen = hamming(&losses(&train));
            assert!(seen < 0.5 * new, "{method}: {seen} against {new}");
        }
    }
    // One tree answers about the rows that it did not draw, and about no others.
    let tree = trained("certain-forest", &train, &[("trees", "1")]);
    let answers = tree.predict(&test).unwrap().labels;
    let new = Losses::between(test.labels(), &answers, Undefined::default()).unwrap();
    let [estimate, new] =
        [tree.out_of_bag().unwrap(), &new].map(|of| of.get("micro_fnr".parse().unwrap()).unwrap());
    assert!((estimate - new).abs() < 0.1, "{estimate} against {new}");
    let model = LabelChain::new("certain-forest@zero-one").unwrap().fit(&train).unwrap();
    assert!(model.out_of_bag().is_none(), "label sets of training rows are not kept");
}

/// Labels that are unknown have rows of their own, so that nothing adds up, and training rows are named alone.
#[test]
fn a_forest_that_learned_from_unknown_labels_names_rows_only() {
    let data = mixed(false);
    let mut labels = data.labels().clone();
    (0..data.n_rows()).step_by(3).for_each(|row| labels.forget(row, labelchain::data::LabelId(1)));
    let data = data.clone().relabelled(data.label_names().to_vec(), labels).unwrap();
    let model = trained("certain-forest", &data, &[("trees", "20")]);
    let explanation = &model.explain(&data).unwrap()[3];
    assert!(explanation.base_values.is_empty() && explanation.inputs.is_empty());
    let weights: f64 = explanation.neighbours.iter().map(|it| it.weight).sum();
    assert!((weights - 1.0).abs() < 1e-12, "{weights}");
}

/// What is known is believed, even where decisions are not.
#[test]
fn known_labels_change_the_answer_of_a_forest_without_trust() {
    let network = LabelNetwork { n_rows: 300, ..LabelNetwork::default() };
    let data = network.generate("network", Seed::new(4)).unwrap();
    let model = trained("certain-forest", &data, &[("trust", "0"), ("trees", "30")]);
    let mut known = labelchain::data::LabelMatrix::unknown(data.n_rows(), data.n_labels());
    (0..data.n_rows()).for_each(|row| known.set(row, labelchain::data::LabelId(0), true));
    let rows = || model.align(&data, "network".as_ref()).unwrap();
    let (alone, given) =
        (rows().predict().unwrap(), rows().given(known).unwrap().predict().unwrap());
    let differs = |row: usize| {
        alone.probabilities(row).unwrap()[1..] != given.probabilities(row).unwrap()[1..]
    };
    let n = (0..data.n_rows()).filter(|&row| differs(row)).count();
    assert!(n > 100, "{n} of 300 rows");
}
