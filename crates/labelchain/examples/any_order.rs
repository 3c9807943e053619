//! One trained model, walked in every order you like: nothing is trained again.
//!
//! ```sh
//! cargo run --release -p labelchain --example any_order
//! ```
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use labelchain::base::{ChainLearner as _, NaiveBayes};
use labelchain::chain::{Chain, Order};
use labelchain::data::{LabelId, LabelNetwork};
use labelchain::error::Result;
use labelchain::learner::{Block, Predictor as _};
use labelchain::loss::{Criterion, Losses, Undefined};
use labelchain::prepare::Prepared;
use labelchain::seed::Seed;

fn main() -> Result<()> {
    let seed = Seed::new(1);
    let data = LabelNetwork::default().generate("network", seed)?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let (train, test) = (data.select(&rows[..300]), data.select(&rows[300..]));

    // Model once, without an order.
    let prepared = Prepared::new(train)?;
    let model = Arc::new(NaiveBayes::default().fit(&prepared, &rows[..300], seed)?);

    // On average no order wins by much; but they disagree about rows, and that is what an order
    // chosen for each row can use.
    let n = data.n_labels();
    let backwards = Order::new((0..n).rev().map(LabelId).collect(), n)?;
    let orders = [
        ("forwards", Order::natural(n)),
        ("backwards", backwards),
        ("random", Order::random(n, seed)),
    ];
    let test = prepared.standardizer().apply(test)?;
    let all: Vec<usize> = (0..test.n_rows()).collect();
    let block = Block { features: test.features(), rows: &all, near: None, nearest: None };
    let forwards = Chain { model: Arc::clone(&model), policy: Order::natural(n) };
    let forwards = forwards.predict_block(&block);
    println!("{:<10} {:<43} zero-one loss  rows unlike forwards", "order", "");
    for (name, order) in orders {
        let labels: Vec<&str> =
            order.iter().map(|label| data.label_names()[label.0].as_str()).collect();
        let chain = Chain { model: Arc::clone(&model), policy: order };
        let answers = chain.predict_block(&block);
        let losses = Losses::between(test.labels(), &answers, Undefined::Paper)?;
        let loss = losses.get(Criterion::ZeroOne).unwrap_or(f64::NAN);
        let unlike = all.iter().filter(|&&row| answers.row(row) != forwards.row(row)).count();
        println!("{name:<10} {:<43} {loss:>13.3} {unlike:>21}", labels.join(" "));
    }
    Ok(())
}
