//! Train once, label new rows, and ask why a label was given.
//!
//! ```sh
//! cargo run --release -p labelchain --example why
//! ```
#![allow(clippy::print_stdout)]

use labelchain::data::{LabelId, LabelNetwork};
use labelchain::{LabelChain, Result, Seed};

fn main() -> Result<()> {
    // Six labels that depend on each other, seen through twelve noisy features. Your own file
    // comes from `labelchain::data::read`.
    let data = LabelNetwork::default().generate("network", Seed::new(1))?;
    let rows: Vec<usize> = (0..data.n_rows()).collect();
    let (train, new) = (data.select(&rows[..400]), data.select(&rows[400..]));

    // Twenty naive Bayes chains; each chooses its label order for each row.
    let model = LabelChain::new("dynamic-nb")?.fit(&train)?;
    let explanations = model.explain(&new)?;

    // The row with most labels has most to explain.
    let n_relevant = |row: usize| explanations[row].relevant_names().len();
    let row = (0..new.n_rows()).max_by_key(|&row| n_relevant(row)).unwrap_or(0);
    let explanation = &explanations[row];
    let name = |label: LabelId| model.label_names()[label.0].as_str();
    let truth: Vec<&str> = new.labels().relevant(row).map(name).collect();
    println!("new row {row}");
    println!("  predicted  {}", explanation.relevant_names().join(", "));
    println!("  true       {}", truth.join(", "));

    // How the first member went through the labels: those predicted best near the row first, and each
    // decision supports or opposes the later ones.
    let trace = &explanation.members[0];
    let local_f1 = trace.reason.as_ref().and_then(|reason| reason.values("local_f1"));
    println!("\n  step  label    local F1  support");
    for (step, &label) in trace.order.iter().flatten().enumerate() {
        let local_f1 = local_f1.map_or(0.0, |by_label| by_label[label.0]);
        let verdict = if trace.decisions[label.0] { "relevant" } else { "" };
        println!(
            "  {:>4}  {:<7} {local_f1:>9.3} {:>+8.2}  {verdict}",
            step + 1,
            name(label),
            trace.scores[label.0].value()
        );
    }
    Ok(())
}
