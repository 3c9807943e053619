//! Train once, label new rows, and ask why a label was given.
//!
//! ```sh
//! cargo run --release -p labelchain --example why
//! ```
#![allow(clippy::print_stdout)]

use labelchain::data::{LabelId, LabelNetwork};
use labelchain::error::Result;
use labelchain::experiment::Settings;
use labelchain::model::Model;
use labelchain::seed::Seed;

fn main() -> Result<()> {
    // Six labels that depend on each other, seen through twelve noisy features. Your own file
    // comes from `labelchain::data::read`.
    let data = LabelNetwork::default().generate("network", Seed::new(1))?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let (train, new) = (data.select(&rows[..400]), data.select(&rows[400..]));

    // Twenty naive Bayes chains; each chooses its label order for each row.
    let model = Model::fit(&train, "dynamic-nb".parse()?, &Settings::default(), 1, &|_| ())?;
    let answers = model.predict(&new)?;

    // The row with most labels has most to explain.
    let relevant = |row: usize| answers.labels.relevant(row).count();
    let row = (0..new.n_rows()).max_by_key(|&row| relevant(row)).unwrap_or(0);
    let name = |label: LabelId| model.label_names()[label.0].as_str();
    let names = |labels: Vec<LabelId>| labels.into_iter().map(name).collect::<Vec<_>>().join(", ");
    println!("new row {row}");
    println!("  predicted  {}", names(answers.labels.relevant(row).collect()));
    println!("  true       {}", names(new.labels().relevant(row).collect()));

    // How the first member went through the labels: the best told near the row first, and each
    // decision supports or opposes the later ones.
    let trace = &model.trace(&new)?[row][0];
    println!("\n  step  label    local F1  support");
    for (step, &label) in trace.order.iter().flatten().enumerate() {
        let local_f1 = trace.local_f1.as_ref().map_or(0.0, |all| all[label.0]);
        let verdict = if trace.decisions[label.0] { "relevant" } else { "" };
        println!(
            "  {:>4}  {:<7} {local_f1:>9.3} {:>+8.2}  {verdict}",
            step + 1,
            name(label),
            trace.support[label.0]
        );
    }
    Ok(())
}
