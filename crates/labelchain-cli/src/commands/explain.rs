//! `labelchain explain`: one row, what the members say of it, in which order, and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use labelchain::Model;
use labelchain::chain::{Neighbour, Quantity, QuantityDisplay, Score, Trace};
use labelchain::data::{LabelId, LabelMatrix};
use labelchain::decide::Aim;
use labelchain::error::{Error, Result};
use labelchain::model::{AlignedRows, Cell, Explanation, InputContribution, Question};

use crate::args::{AimArgs, ModelAndRows, RowChoice, Threads, check_member};
use crate::bars::{bar, cut, width};
use crate::messages::{Failure, print, print_data};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain explain yeast.labelchain new.csv --row 17")]
pub(crate) struct Explain {
    #[command(flatten)]
    files: ModelAndRows,

    #[command(flatten)]
    row: RowChoice,

    #[command(flatten)]
    aim: AimArgs,

    /// Which member to follow, counted from 0 [default: the one that agrees most with the answer]
    #[arg(long, value_name = "N")]
    member: Option<usize>,

    /// Labels that are known, such as a=1,b=0: they are kept, and the others are decided in the light
    /// of them
    #[arg(long, value_name = "LABEL=0|1", value_delimiter = ',')]
    known: Vec<String>,

    /// Also say which label to ask for next: whose answer lowers the expected number of wrong labels most,
    /// whatever the aim
    #[arg(long)]
    ask: bool,

    /// One JSON object instead of text: what predict --explain writes for the row, and the training rows
    /// and inputs that it rests on
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    threads: Threads,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.threads.start()?;
        let model = self.files.model()?;
        let model = self.aim.aim.into_iter().fold(model, Model::with_aim);
        self.member.map_or(Ok(()), |member| check_member(&model, member))?;
        let path = &self.files.data.path;
        let (number, mut row) = self.files.row(&model, &self.row)?;
        if !self.known.is_empty() {
            row = row.given(self.known_labels(&model)?)?;
        }
        let explanations = row.explain()?;
        let Some(explanation) = explanations.first() else { return Ok(()) };
        let questions = if self.ask { row.questions()?.concat() } else { vec![] };
        if self.json {
            let mut answer = explanation.json(number);
            if self.ask {
                answer["ask"] = questions.iter().map(|it| question(&model, it)).collect();
            }
            return print_data(&format!("{answer}\n"));
        }
        let mut page = format!(
            "{}, row {number} (counted from 0){}, as {} sees it: {}, {} member{}{}\n",
            path.display(),
            row.id().map(|id| format!(", {id}")).unwrap_or_default(),
            self.files.model_path().display(),
            model.method(),
            model.members().len(),
            if model.members().len() == 1 { "" } else { "s" },
            model.tuned_value("decay").map(|it| format!(", decay {it}")).unwrap_or_default()
        );
        page += &story(&model, &row, explanation, self.member)?;
        page += &similar_rows(&model, explanation);
        page += &inputs(&model, explanation);
        if explanation.members.len() > 1 {
            page += &differences(&model, explanation);
        }
        if self.ask {
            page += &ask(&model, &questions);
        }
        print(&page)
    }

    /// The labels that were typed, in a table of one row.
    fn known_labels(&self, model: &Model) -> Result<LabelMatrix> {
        let mut known = LabelMatrix::unknown(1, model.label_names().len());
        for text in &self.known {
            let relevant = match text.rsplit_once('=') {
                Some((name, "1")) => Some((name, true)),
                Some((name, "0")) => Some((name, false)),
                _ => None,
            };
            let (name, relevant) = relevant.ok_or_else(|| Error::Setting {
                name: "--known",
                value: format!("{text:?}"),
                accepted: "a label and whether it is relevant: name=1 or name=0",
            })?;
            let label = model.label(name.trim())?;
            if known.cell(0, label) == Some(!relevant) {
                return Err(Error::Setting {
                    name: "--known",
                    value: format!("both {name}=0 and {name}=1"),
                    accepted: "one of them for each label",
                });
            }
            known.set(0, label, relevant);
        }
        Ok(known)
    }
}

fn question(model: &Model, question: &Question) -> serde_json::Value {
    serde_json::json!({
        "label": model.label_names()[question.label.0],
        "probability": question.probability,
        "gain": question.gain,
    })
}

/// The open labels, that whose answer helps most first.
fn ask(model: &Model, questions: &[Question]) -> String {
    let Some(first) = questions.first() else {
        return "\nAll labels are known: there is nothing to ask.\n".into();
    };
    let names = model.label_names();
    let mut page = format!("\nWhat to ask next: {}\n\n", names[first.label.0]);
    let wide = width(names, 5, 32);
    let _ = writeln!(page, "  {:<wide$}  probability     gain", "label");
    for Question { label, probability, gain } in questions.iter().take(10) {
        let name = cut(&names[label.0], wide);
        let _ = writeln!(page, "  {name:<wide$}  {probability:>11.3}  {gain:>+7.3}");
    }
    page += "\n  probability  that the label is relevant\n  \
             gain         by how much its answer lowers the expected number of wrong labels\n";
    page
}

/// The vote on one aligned row, and the walk of one member: the one named, else the one that agrees
/// most with the vote.
pub(super) fn story(
    model: &Model,
    row: &AlignedRows,
    explanation: &Explanation,
    member: Option<usize>,
) -> Result<String> {
    let member = member.unwrap_or_else(|| explanation.most_agreeing());
    let alone = row.scores_alone(member)?;
    let mut page = vote(model, explanation);
    if let (Some(trace), Some(alone)) = (explanation.members.get(member), alone.first()) {
        page += &walk(model, explanation, member, trace, alone);
    }
    Ok(page)
}

const SIGN: &str = "relevant";
const BAR: usize = 20;

fn vote(model: &Model, explanation: &Explanation) -> String {
    let names = model.label_names();
    let relevant = explanation.relevant_names();
    let labels =
        if relevant.is_empty() { "no label is relevant".into() } else { relevant.join(", ") };
    let aim = model.method().aim();
    let mut page = match aim {
        Aim::Votes => format!("\nThe vote: {labels}\n\n"),
        _ => format!("\nThe answer for {aim}: {labels}\n\n"),
    };
    let (wide, n) = (width(names, 5, 32), model.members().len());
    let digits = n.to_string().len();
    // The vote of one member is the answer.
    let votes_title = if n > 1 { "votes  " } else { "" };
    if explanation.probabilities.is_some() {
        let given_from = if explanation.thresholds.is_some() { "  given from" } else { "" };
        let _ = writeln!(page, "  {:<wide$}  {votes_title}probability{given_from}", "label");
    }
    for (at, name) in names.iter().enumerate() {
        let share = explanation.shares[at];
        let count = (share * n as f64).round() as usize;
        // By another aim, votes decide nothing.
        let is_tie = share == 0.5 && aim == Aim::Votes;
        let sign = match (explanation.known[at], explanation.relevant[at], is_tie) {
            (Some(true), ..) => "known to be relevant",
            (Some(false), ..) => "known to be irrelevant",
            (None, true, false) => SIGN,
            (None, true, true) => "a tie, so relevant",
            (None, false, true) => "a tie, so irrelevant",
            (None, false, false) => "",
        };
        let mut votes = format!("{count:>digits$}/{n}");
        let length = match &explanation.probabilities {
            Some(all) => {
                votes = if n > 1 { format!("{votes:>5}  ") } else { String::new() };
                let _ = write!(votes, "{:.3}", all[at]);
                match explanation.thresholds.as_ref().map(|of| of[at]) {
                    Some(Some(threshold)) => votes += &format!("        {threshold:>10.3}"),
                    Some(None) => votes += &format!("        {:>10}", "never"),
                    None => {}
                }
                all[at]
            }
            None => share,
        };
        let line =
            format!("  {:<wide$}  {votes}  {:<BAR$}  {sign}", cut(name, wide), bar(length, BAR));
        let _ = writeln!(page, "{}", line.trim_end());
    }
    let differs = |(at, &p): (usize, &f64)| (p > 0.5) != explanation.relevant[at];
    if aim == Aim::Votes
        && explanation.probabilities.iter().any(|all| all.iter().enumerate().any(differs))
    {
        page += "\n  Votes are decisions in the light of other labels; a probability is that of one label, whatever\n  \
                 the others are, and calibrated. To decide by probabilities: --aim hamming\n";
    }
    page
}

/// One member's decisions, in the order it took them.
fn walk(
    model: &Model,
    explanation: &Explanation,
    at: usize,
    trace: &Trace,
    alone: &[Score],
) -> String {
    let names = model.label_names();
    let (wide, n) = (width(names, 5, 32), names.len());
    let quantities = trace.reason.as_ref().map_or(&[][..], |reason| &reason.by_label);
    let how = explanation.how(at);
    let mut page = if model.members().len() == 1 {
        format!("\nThe labels were {how}:\n\n")
    } else {
        let aim = if model.method().aim() == Aim::Votes { "the vote" } else { "the answer" };
        let n_agreed = explanation.n_agreed(at);
        format!("\nMember {at} agrees with {aim} on {n_agreed} of {n} labels. They were {how}:\n\n")
    };
    let titles: Vec<String> = quantities.iter().map(title).collect();
    let titles = titles.join("  ");
    let _ = writeln!(
        page,
        "  {:>3}  {:<wide$}  {titles}  {:>9}  {:>9}  decision",
        "", "label", "alone", "support"
    );
    let mut any_changed = false;
    let natural: Vec<LabelId> = (0..n).map(LabelId).collect();
    for (place, label) in trace.order.as_ref().unwrap_or(&natural).iter().enumerate() {
        let cells: Vec<String> = quantities.iter().map(|it| cell(it, label.0)).collect();
        let (score, alone) = (trace.scores[label.0], alone[label.0]);
        let is_known = explanation.known[label.0].is_some();
        let changed = !is_known && score.is_relevant() != alone.is_relevant();
        let support =
            if is_known { "known".to_string() } else { format!("{:>+9.3}", score.value()) };
        let _ = writeln!(
            page,
            "  {:>3}  {:<wide$}  {}  {:>+9.3}  {support:>9}  {}{}",
            place + 1,
            cut(&names[label.0], wide),
            cells.join("  "),
            alone.value(),
            if trace.decisions[label.0] { SIGN } else { "irrelevant" },
            if changed { " *" } else { "" }
        );
        any_changed |= changed;
    }
    if any_changed {
        page.push_str("\n  *        alone, it would have been decided otherwise");
    }
    page.push_str(match alone.first() {
        Some(Score::Margin(_)) => {
            "\n  alone    the decision value from the row's inputs: how far, on which side\n"
        }
        _ => "\n  alone    log P(relevant) - log P(irrelevant) from the row's inputs\n",
    });
    page.push_str(match trace.order {
        Some(_) if explanation.known.iter().any(Option::is_some) => {
            "  support  the same after what known labels and earlier decisions added; relevant if above 0\n"
        }
        Some(_) => {
            "  support  the same after what the earlier decisions added; relevant if above 0\n"
        }
        None => "  support  the same, for no decision changes another; relevant if above 0\n",
    });
    for quantity in quantities {
        let _ = writeln!(page, "  {:<8} {}", quantity.title, quantity.help);
    }
    page += &why(explanation, at);
    page
}

const SMALL: usize = 10;

/// The head of a quantity's column.
fn title(quantity: &Quantity) -> String {
    match quantity.display {
        QuantityDisplay::Bar => format!("{:<wide$}", quantity.title, wide = SMALL + 8),
        QuantityDisplay::Percent => quantity.title.into(),
    }
}

/// The value of a quantity for a label, as wide as its column.
fn cell(quantity: &Quantity, label: usize) -> String {
    let value = quantity.values[label];
    match quantity.display {
        QuantityDisplay::Bar => format!("{:<6}  {:<SMALL$}", digits(value), bar(value, SMALL)),
        QuantityDisplay::Percent => {
            let percent = format!("{:.0} %", value * 100.0);
            format!("{percent:>wide$}", wide = quantity.title.len())
        }
    }
}

/// Why the member took this order, where no numbers by label say it.
fn why(explanation: &Explanation, at: usize) -> String {
    let lines: String = explanation.why(at).lines().map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Three digits; what would round to 0 and is not 0 is said to be small.
fn digits(f1: f64) -> String {
    if f1 > 0.0 && f1 < 0.0005 { "<0.001".into() } else { format!("{f1:.3}") }
}

/// How many training rows, labels, and inputs of each are shown.
const SHOWN: usize = 5;

/// The training rows that the answer rests on most.
pub(super) fn similar_rows(model: &Model, explanation: &Explanation) -> String {
    let neighbours = &explanation.neighbours;
    if neighbours.is_empty() {
        return String::new();
    }
    // By name where they have one, and by number otherwise.
    let name = |row: usize| model.row_id(row).map_or_else(|| row.to_string(), |id| cut(id, 24));
    let named = neighbours.iter().take(SHOWN).map(|of| name(of.row).chars().count());
    let width = named.max().unwrap_or_default().max(8);
    let heading = model.ids().first().map_or("row", String::as_str);
    let mut page = String::from("\nTraining rows that the answer rests on most\n\n");
    let _ = writeln!(page, "  {:>width$}  weight  labels", cut(heading, width));
    for Neighbour { row, weight, labels } in neighbours.iter().take(SHOWN) {
        let names: Vec<&str> =
            labels.iter().map(|label| model.label_names()[label.0].as_str()).collect();
        let labels = if names.is_empty() { "none".into() } else { names.join(", ") };
        let (row, labels) = (name(*row), cut(&labels, 60));
        let _ = writeln!(page, "  {row:>width$}  {:>4.1} %  {labels}", weight * 100.0);
    }
    if neighbours.len() > SHOWN {
        let rest: f64 = neighbours[SHOWN..].iter().map(|neighbour| neighbour.weight).sum();
        let _ = writeln!(
            page,
            "  {:>width$}  {:>4.1} %  {} other rows",
            "",
            rest * 100.0,
            neighbours.len() - SHOWN
        );
    }
    page
}

/// What inputs add to the labels that are predicted, or, where none is, to the most probable one.
fn inputs(model: &Model, explanation: &Explanation) -> String {
    let base_values = &explanation.base_values;
    if base_values.is_empty() {
        return String::new();
    }
    let names = model.label_names();
    let mut labels: Vec<LabelId> = (0..names.len()).map(LabelId).collect();
    let of_label = |label: LabelId| explanation.inputs.iter().filter(move |it| it.label == label);
    let mut totals = base_values.clone();
    explanation.inputs.iter().for_each(|it| totals[it.label.0] += it.contribution);
    labels.sort_by(|a, b| totals[b.0].total_cmp(&totals[a.0]));
    let n_relevant = explanation.relevant.iter().filter(|&&relevant| relevant).count();
    labels.sort_by_key(|label| !explanation.relevant[label.0]);
    labels.truncate(n_relevant.clamp(1, SHOWN));
    let unit = explanation.unit;
    let mut page = format!("\nWhat inputs add to the {unit} of a label, before any decision\n");
    for label in labels {
        let (start, sum) = (base_values[label.0], totals[label.0]);
        let _ =
            writeln!(page, "\n  {}: {start:.3} in general, {sum:.3} for this row", names[label.0]);
        let inputs: Vec<&InputContribution> = of_label(label).collect();
        let cells: Vec<String> = inputs.iter().take(SHOWN).map(|it| input_cell(it)).collect();
        let wide = width(&cells, 16, 40);
        for (input, cell) in inputs.iter().zip(&cells) {
            let _ = writeln!(page, "    {:<wide$}  {:>+8.3}", cut(cell, wide), input.contribution);
        }
        if inputs.len() > SHOWN {
            let rest: f64 = inputs[SHOWN..].iter().map(|input| input.contribution).sum();
            let n_others = inputs.len() - SHOWN;
            let others = format!("{n_others} other input{}", if n_others == 1 { "" } else { "s" });
            let _ = writeln!(page, "    {others:<wide$}  {rest:>+8.3}");
        }
    }
    page
}

fn input_cell(input: &InputContribution) -> String {
    match &input.value {
        None => format!("{} is missing", input.name),
        Some(Cell::Number(number)) => format!("{} = {}", input.name, short(*number)),
        Some(Cell::Name(name)) => format!("{} = {name}", input.name),
    }
}

/// At most five digits.
fn short(number: f64) -> String {
    let text = format!("{number:.4e}");
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

/// Orders and decisions over all members.
fn differences(model: &Model, explanation: &Explanation) -> String {
    let traces = &explanation.members;
    let names = model.label_names();
    let wide = width(names, 5, 32);
    let mut page = String::from("\nHow the members differ\n\n");
    let mut orders: BTreeMap<&[LabelId], usize> = BTreeMap::new();
    let mut firsts = vec![0usize; names.len()];
    for order in traces.iter().filter_map(|trace| trace.order.as_deref()) {
        *orders.entry(order).or_default() += 1;
        order.first().into_iter().for_each(|first| firsts[first.0] += 1);
    }
    let any_order = !orders.is_empty();
    if any_order {
        let mut ranked: Vec<usize> = (0..names.len()).filter(|&at| firsts[at] > 0).collect();
        ranked.sort_by_key(|&at| std::cmp::Reverse(firsts[at]));
        let shown: Vec<String> =
            ranked.iter().take(5).map(|&at| format!("{} {}", names[at], firsts[at])).collect();
        let more = if ranked.len() > 5 { ", …" } else { "" };
        let _ = writeln!(page, "  different orders  {} of {}", orders.len(), traces.len());
        let _ = writeln!(page, "  decided first     {}{more}\n", shown.join(", "));
    }
    let place_title = if any_order { "mean place" } else { "" };
    let local_f1 = |trace: &'_ Trace| Some(trace.reason.as_ref()?.values("local_f1")?.to_vec());
    let local_f1: Vec<Vec<f64>> = traces.iter().filter_map(local_f1).collect();
    let f1_title = if local_f1.is_empty() { "" } else { "local F1" };
    let line = format!("  {:<wide$}  agreed  {place_title:>10}  {f1_title}", "label");
    let _ = writeln!(page, "{}", line.trim_end());
    for (at, name) in names.iter().enumerate() {
        let share = explanation.shares[at];
        let places: Vec<usize> = traces
            .iter()
            .filter_map(|trace| trace.order.as_ref()?.iter().position(|label| label.0 == at))
            .collect();
        let mean =
            places.iter().map(|place| place + 1).sum::<usize>() as f64 / places.len().max(1) as f64;
        let place = if any_order { format!("{mean:.1}") } else { String::new() };
        let f1 = if local_f1.is_empty() {
            String::new()
        } else {
            let least = local_f1.iter().map(|all| all[at]).fold(f64::INFINITY, f64::min);
            let greatest = local_f1.iter().map(|all| all[at]).fold(0.0, f64::max);
            format!("{} to {}", digits(least), digits(greatest))
        };
        let line = format!(
            "  {:<wide$}  {:>4.0} %  {place:>10}  {f1}",
            cut(name, wide),
            share.max(1.0 - share) * 100.0
        );
        let _ = writeln!(page, "{}", line.trim_end());
    }
    page
}
