//! One trained model, walked in every order you like: nothing is trained again.
//!
//! ```sh
//! cargo run --release -p labelchain --example any_order
//! ```
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use labelchain::chain::{Chain, Order};
use labelchain::data::{LabelId, LabelNetwork};
use labelchain::error::Result;
use labelchain::learner::{Block, Predictor as _};
use labelchain::loss::{Criterion, Losses, Undefined};
use labelchain::model::{ChainLearner as _, NaiveBayes};
use labelchain::prepare::Prepared;
use labelchain::seed::Seed;

fn main() -> Result<()> {
    let seed = Seed::new(1);
    let data = LabelNetwork::default().generate("network", seed)?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let (train, test) = (data.select(&rows[..300]), data.select(&rows[300..]));

    // Trained once, without an order.
    let prepared = Prepared::new(&train)?;
    let model = Arc::new(NaiveBayes::default().fit(&prepared, &rows[..300], seed)?);

    // In this data each label follows earlier ones, so walking backwards goes against the grain.
    let n = data.n_labels();
    let backwards = Order::new((0..n).rev().map(LabelId).collect(), n)?;
    let orders = [
        ("forwards", Order::natural(n)),
        ("backwards", backwards),
        ("random", Order::random(n, seed)),
    ];
    let test_rows = prepared.standardizer().apply(&test)?;
    let all: Vec<usize> = (0..test_rows.n_rows()).collect();
    let block = Block { features: test_rows.features(), rows: &all, near: None, nearest: None };
    println!("{:<10} {:<48} zero-one loss", "order", "");
    for (name, order) in orders {
        let labels: Vec<&str> =
            order.iter().map(|label| data.label_names()[label.0].as_str()).collect();
        let chain = Chain { model: Arc::clone(&model), policy: order };
        let losses =
            Losses::between(test.labels(), &chain.predict_block(&block), Undefined::Paper)?;
        let loss = losses.get(Criterion::ZeroOne).unwrap_or(f64::NAN);
        println!("{name:<10} {:<48} {loss:.3}", labels.join(" "));
    }
    Ok(())
}
