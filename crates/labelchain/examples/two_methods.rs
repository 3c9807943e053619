//! Is one method better than another? Cross-validate both on several data sets, then test.
//!
//! ```sh
//! cargo run --release -p labelchain --example two_methods
//! ```
#![allow(clippy::print_stdout)]

use labelchain::data::LabelNetwork;
use labelchain::data::split::folds;
use labelchain::ensemble::DECAY;
use labelchain::experiment::{CrossValidation, Measurement, Results};
use labelchain::report::{compare, title};
use labelchain::stats::TestPlan;
use labelchain::{Method, Result, Seed, Settings};

fn main() -> Result<()> {
    let methods: [Method; 2] = ["dynamic-nb".parse()?, "br-nb".parse()?];
    let settings = Settings::default().with(&DECAY, Some(3.0))?;
    let mut results = Results::default();
    for number in 1..=10 {
        let seed = Seed::new(number);
        let name = format!("network {number}");
        let data = LabelNetwork { n_rows: 200, ..LabelNetwork::default() }.generate(&name, seed)?;
        // Both methods see the same folds, and share the members they can.
        let folds = folds(data.n_rows(), 3, seed)?;
        let validation = CrossValidation::new(&methods, &folds, seed);
        let validation = CrossValidation { settings: settings.clone(), ..validation };
        for evaluation in validation.run(&data)? {
            for (criterion, loss) in evaluation.losses().iter() {
                let Some(loss) = loss else { continue };
                results.push(Measurement {
                    dataset: &name,
                    method: &evaluation.name,
                    criterion: criterion.key(),
                    fold: None,
                    loss,
                    seconds: None,
                })?;
            }
        }
    }

    let comparison = compare(&results, &[], TestPlan::default())?;
    println!("{}: wins, ties and losses of {}", comparison.sets_in_words(), methods[0]);
    println!("against {}, and Wilcoxon's signed-rank test\n", methods[1]);
    for of in &comparison.criteria {
        let pair = &of.pairs[0];
        println!(
            "  {:<12} {:>2} {:>2} {:>2}   p {:.3}",
            title(&of.table.criterion),
            pair.effect.wins,
            pair.effect.ties,
            pair.effect.losses,
            pair.wilcoxon.p
        );
    }
    Ok(())
}
