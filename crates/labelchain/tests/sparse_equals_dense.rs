//! Naive Bayes learns from the stored cells of sparse rows what it learns from all cells of the same rows
//! when they are dense: the models are equal to the last bit.
#![allow(clippy::unwrap_used)]

use labelchain::base::{Likelihood, NaiveBayes};
use labelchain::chain::ChainLearner as _;
use labelchain::data::{Attribute, AttributeKind, Dataset, Dense, LabelMatrix, Matrix, Sparse};
use labelchain::prepare::{Preparation, Prepared, Undersampling};
use labelchain::seed::Seed;
use proptest::prelude::*;

/// Cells of a fine column, of one of whole numbers, of a word and of three names, by row, and how often
/// each of three labels is relevant to it; about two cells in three are 0.
fn rows() -> impl Strategy<Value = Vec<([f64; 4], [bool; 3])>> {
    let zero_or = |cell: BoxedStrategy<f64>| prop_oneof![2 => Just(0.0), 1 => cell];
    let missing_or = |cell: BoxedStrategy<f64>| prop_oneof![1 => Just(f64::NAN), 9 => cell];
    let cells = (
        zero_or(missing_or((-3.0..3.0).boxed()).boxed()),
        zero_or(missing_or((1..6).prop_map(f64::from).boxed()).boxed()),
        zero_or((0.1..1.0).boxed()),
        zero_or(missing_or((1..3).prop_map(f64::from).boxed()).boxed()),
    );
    let labels = prop::array::uniform3(prop::bool::weighted(0.2));
    prop::collection::vec((cells.prop_map(|(a, b, c, d)| [a, b, c, d]), labels), 2..60)
}

fn data(rows: &[([f64; 4], [bool; 3])], is_sparse: bool) -> Dataset {
    let (mut dense, mut sparse) = (Dense::new(4), Sparse::new(4));
    let mut labels = LabelMatrix::new(3);
    for (cells, relevant) in rows {
        dense.push_row(cells);
        sparse.push_row((0..4).zip(*cells).filter(|(_, cell)| *cell != 0.0));
        let row = labels.push_row();
        labels.ids().zip(relevant).for_each(|(label, &is)| labels.set(row, label, is));
    }
    let features = if is_sparse { Matrix::Sparse(sparse) } else { Matrix::Dense(dense) };
    let word = Attribute { name: "word".into(), kind: AttributeKind::Word };
    let attributes = vec![
        Attribute::numeric("fine"),
        Attribute::numeric("whole"),
        word,
        Attribute::nominal("name", ["u", "v", "w"]),
    ];
    let names = ["a", "b", "c"].map(String::from).to_vec();
    Dataset::new("mixed", attributes, features, names, labels).unwrap()
}

proptest! {
    #[test]
    fn models_of_sparse_rows_are_those_of_dense_rows(rows in rows(), imbalance in 1..4) {
        let [dense, sparse] = [false, true].map(|is_sparse| data(&rows, is_sparse));
        let all: Vec<usize> = (0..rows.len()).collect();
        let likelihoods = [
            Likelihood::Auto,
            Likelihood::Gaussian,
            Likelihood::Weka,
            Likelihood::Discretized,
            Likelihood::Kernel,
        ];
        for likelihood in likelihoods {
            let undersampling = Undersampling::new(Some(f64::from(imbalance))).unwrap();
            let preparation = Preparation { undersampling, selection: None };
            let updatable = matches!(likelihood, Likelihood::Auto | Likelihood::Weka);
            let learner = NaiveBayes { preparation, likelihood, updatable };
            let fit = |data| learner.fit(&Prepared::as_is(data), &all, Seed::new(1)).unwrap();
            prop_assert!(fit(&dense) == fit(&sparse), "{likelihood:?}");
        }
    }
}
