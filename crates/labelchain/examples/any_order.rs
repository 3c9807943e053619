//! One trained model, walked in every order you like: nothing is trained again.
//!
//! ```sh
//! cargo run --release -p labelchain --example any_order
//! ```
#![allow(clippy::print_stdout)]

use labelchain::base::NaiveBayes;
use labelchain::chain::{AnyOrderModel as _, Block, ChainLearner as _, Order, Route};
use labelchain::data::{LabelId, LabelNetwork};
use labelchain::error::Result;
use labelchain::loss::{Criterion, Losses, Undefined};
use labelchain::prepare::Prepared;
use labelchain::seed::Seed;

fn main() -> Result<()> {
    let seed = Seed::new(1);
    let data = LabelNetwork::default().generate("network", seed)?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let (train, test) = (data.select(&rows[..300]), data.select(&rows[300..]));

    // Train once, without an order.
    let prepared = Prepared::new(train)?;
    let model = NaiveBayes::default().fit(&prepared, &rows[..300], seed)?;

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
    let block = Block::of(test.features(), &all);
    let forwards = model.decisions(&block, Route::Fixed(&orders[0].1));
    println!("{:<10} {:<43} zero-one loss  rows unlike forwards", "order", "");
    for (name, order) in orders {
        let labels: Vec<&str> =
            order.iter().map(|label| data.label_names()[label.0].as_str()).collect();
        let answers = model.decisions(&block, Route::Fixed(&order));
        let losses = Losses::between(test.labels(), &answers, Undefined::Paper)?;
        let loss = losses.get(Criterion::ZeroOne).unwrap_or(f64::NAN);
        let unlike = all.iter().filter(|&&row| answers.row(row) != forwards.row(row)).count();
        println!("{name:<10} {:<43} {loss:>13.3} {unlike:>21}", labels.join(" "));
    }
    Ok(())
}
