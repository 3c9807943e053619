//! `labelchain explain`: one row, what the members say of it, in which order, and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use labelchain::data::{Dataset, LabelId};
use labelchain::error::{Error, Result};
use labelchain::experiment::{BaseName, StrategyName};
use labelchain::learner::Trace;
use labelchain::model::{Model, Prediction};

use super::predict::explained;
use crate::args::{ModelAndRows, Threads, check_member};
use crate::bars::{bar, cut, width};
use crate::messages::{Failure, print};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain explain yeast.labelchain new.csv --row 17")]
pub(crate) struct Explain {
    #[command(flatten)]
    files: ModelAndRows,

    /// Which row, counted from 0
    #[arg(long, value_name = "N")]
    row: usize,

    /// Which member to follow, counted from 0 [default: the one that agrees most with the vote]
    #[arg(long, value_name = "N")]
    member: Option<usize>,

    /// One JSON object instead of text: the line that predict --explain writes for the row
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    threads: Threads,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.threads.start();
        let model = self.files.model()?;
        self.member.map_or(Ok(()), |member| check_member(&model, member))?;
        let path = &self.files.data.path;
        let row = self.files.row(&model, self.row)?;
        let answers = model.predict(&row).map_err(|error| self.in_its_row(error))?;
        let traces = model.trace(&row)?.into_iter().flatten().collect::<Vec<_>>();
        if self.json {
            return print(&format!("{}\n", explained(&model, &answers, 0, self.row, &traces)));
        }
        let mut page = format!(
            "{}, row {} (counted from 0), as {} sees it: {}, {} member{}{}\n",
            path.display(),
            self.row,
            self.files.model_path().display(),
            model.method(),
            model.members().len(),
            if model.members().len() == 1 { "" } else { "s" },
            model.decay().map(|decay| format!(", decay {decay}")).unwrap_or_default()
        );
        page += &story(&model, &row, &answers, &traces, self.member)?;
        page += &differences(&model, &answers, &traces);
        print(&page)
    }

    /// Only one row was labelled; the place is that of the file.
    fn in_its_row(&self, error: Error) -> Error {
        match error {
            Error::Cell { name, column, found, expected, .. } => {
                Error::Cell { name, row: self.row, column, found, expected }
            }
            other => other,
        }
    }
}

/// The vote on one aligned row, and the walk of one member: the one named, else the one that agrees
/// most with the vote.
pub(super) fn story(
    model: &Model,
    row: &Dataset,
    answers: &Prediction,
    traces: &[Trace],
    member: Option<usize>,
) -> Result<String> {
    let member = member.unwrap_or_else(|| most_agreeing(answers, traces));
    let alone = model.support_alone(row, member)?;
    let mut page = vote(model, answers);
    if let Some(trace) = traces.get(member) {
        page += &walk(model, answers, member, trace, &alone);
    }
    Ok(page)
}

fn n_agreed(answers: &Prediction, trace: &Trace) -> usize {
    let said = |(at, &said): (usize, &bool)| answers.labels.get(0, LabelId(at)) == said;
    trace.decisions.iter().enumerate().filter(|&decision| said(decision)).count()
}

/// The first of those with most decisions as the vote.
fn most_agreeing(answers: &Prediction, traces: &[Trace]) -> usize {
    let places = (0..traces.len()).rev();
    places.max_by_key(|&at| n_agreed(answers, &traces[at])).unwrap_or(0)
}

const SIGN: &str = "relevant";
const BAR: usize = 20;

fn vote(model: &Model, answers: &Prediction) -> String {
    let names = model.label_names();
    let relevant: Vec<&str> =
        answers.labels.relevant(0).map(|label| names[label.0].as_str()).collect();
    let said = match relevant.is_empty() {
        true => "no label is relevant".into(),
        false => relevant.join(", "),
    };
    let mut page = format!("\nThe vote: {said}\n\n");
    let (wide, n) = (width(names, 5, 32), model.members().len());
    let digits = n.to_string().len();
    for (at, name) in names.iter().enumerate() {
        let share = answers.votes[at];
        let count = (share * n as f64).round() as usize;
        let sign = match answers.labels.get(0, LabelId(at)) {
            true => SIGN,
            false if share == 0.5 => "a tie, so irrelevant",
            false => "",
        };
        let line = format!(
            "  {:<wide$}  {count:>digits$}/{n}  {:<BAR$}  {sign}",
            cut(name, wide),
            bar(share, BAR)
        );
        let _ = writeln!(page, "{}", line.trim_end());
    }
    page
}

/// One member's decisions, in the order it took them.
fn walk(model: &Model, answers: &Prediction, at: usize, trace: &Trace, alone: &[f64]) -> String {
    const SMALL: usize = 10;
    const F1_AND_BAR: usize = SMALL + 8;
    let names = model.label_names();
    let (wide, n) = (width(names, 5, 32), names.len());
    let mut page = format!(
        "\nMember {at}, which agrees with the vote on {} of {n} labels, {}:\n\n",
        n_agreed(answers, trace),
        match (&trace.order, trace.lender) {
            (None, _) => "decided them independently",
            (_, Some(_)) => "decided them in an order that was lent",
            _ if trace.local_f1.is_some() => "decided them in this order",
            _ => "decided them in its order, the same for every row",
        }
    );
    let f1_title = match trace.local_f1 {
        Some(_) => format!("{:<F1_AND_BAR$}  weight", "local F1"),
        None => String::new(),
    };
    let f1_wide = f1_title.len();
    let _ = writeln!(
        page,
        "  {:>3}  {:<wide$}  {f1_title}  {:>9}  {:>9}  decision",
        "", "label", "alone", "support"
    );
    let mut any_changed = false;
    let natural: Vec<LabelId> = (0..n).map(LabelId).collect();
    for (place, label) in trace.order.as_ref().unwrap_or(&natural).iter().enumerate() {
        let f1 = match (&trace.local_f1, &trace.weight) {
            (Some(f1), Some(weight)) => {
                let (f1, weight) = (f1[label.0], weight[label.0] * 100.0);
                format!("{:<6}  {:<SMALL$}  {weight:>4.0} %", digits(f1), bar(f1, SMALL))
            }
            _ => String::new(),
        };
        let support = trace.support[label.0];
        let changed = (support > 0.0) != (alone[label.0] > 0.0);
        let _ = writeln!(
            page,
            "  {:>3}  {:<wide$}  {f1:<f1_wide$}  {:>+9.3}  {support:>+9.3}  {}{}",
            place + 1,
            cut(&names[label.0], wide),
            alone[label.0],
            if trace.decisions[label.0] { SIGN } else { "irrelevant" },
            if changed { " *" } else { "" }
        );
        any_changed |= changed;
    }
    if any_changed {
        page.push_str("\n  *        alone, it would have been decided otherwise");
    }
    page.push_str(match model.method().base {
        BaseName::Svm => {
            "\n  alone    the decision value from the row's inputs: how far, on which side\n"
        }
        _ => "\n  alone    log P(relevant) - log P(irrelevant) from the row's inputs\n",
    });
    page.push_str(match trace.order {
        Some(_) => {
            "  support  the same after what the earlier decisions added; relevant if above 0\n"
        }
        None => "  support  the same, for no decision changes another; relevant if above 0\n",
    });
    page += &why(model, at, trace);
    page
}

/// Why the member took this order.
fn why(model: &Model, at: usize, trace: &Trace) -> String {
    if trace.local_f1.is_some() {
        return "  local F1 how well the label is told near this row, among the member's validation rows\n  \
                weight   the share of that neighbourhood where the label was there or was told\n"
            .into();
    }
    let member = &model.members()[at];
    if let (Some(lender), Some(lent)) = (trace.lender, member.lent()) {
        return format!(
            "\n  The order was lent by row {} of the training file, the nearest of the member's {}\n  \
             validation rows: none of the {} orders tried told the labels of that row better (F1 {:.3}).\n",
            lender.row,
            member.validation.len(),
            lent.orders().len(),
            lender.f1
        );
    }
    let n_members = model.members().len();
    let kept = format!(
        "  A genetic search kept it, candidate {} of {}, for how {n_members} of them vote together on {}\n  \
         common validation rows",
        member.candidate,
        model.settings().genetic.n_candidates(n_members).unwrap_or_default(),
        member.validation.len()
    );
    match model.method().strategy {
        StrategyName::Ga => format!(
            "\n  The order was drawn at random with the member.\n{kept}, and for how their orders differ.\n"
        ),
        StrategyName::GaBr => {
            format!("\n  There is no order: each label is decided on its own.\n{kept}.\n")
        }
        StrategyName::Br => "\n  There is no order: each label is decided on its own.\n".into(),
        _ if model.settings().order.is_some() => "\n  The order was given by the user.\n".into(),
        _ => "\n  The order was drawn at random with the member.\n".into(),
    }
}

/// Three digits, or the magnitude of what would round to 0: orders tell such values apart.
fn digits(f1: f64) -> String {
    match f1 > 0.0 && f1 < 0.0005 {
        true => format!("{f1:.0e}"),
        false => format!("{f1:.3}"),
    }
}

/// Orders and decisions over all members.
fn differences(model: &Model, answers: &Prediction, traces: &[Trace]) -> String {
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
    let f1_title = if model.decay().is_some() { "local F1" } else { "" };
    let line = format!("  {:<wide$}  agreed  {place_title:>10}  {f1_title}", "label");
    let _ = writeln!(page, "{}", line.trim_end());
    for (at, name) in names.iter().enumerate() {
        let share = answers.votes[at];
        let places: Vec<usize> = traces
            .iter()
            .filter_map(|trace| trace.order.as_ref()?.iter().position(|label| label.0 == at))
            .collect();
        let mean =
            places.iter().map(|place| place + 1).sum::<usize>() as f64 / places.len().max(1) as f64;
        let place = if any_order { format!("{mean:.1}") } else { String::new() };
        let local: Vec<f64> =
            traces.iter().filter_map(|trace| Some(trace.local_f1.as_ref()?[at])).collect();
        let f1 = match local.is_empty() {
            true => String::new(),
            false => {
                let least = local.iter().copied().fold(f64::INFINITY, f64::min);
                let most = local.iter().copied().fold(0.0, f64::max);
                format!("{} to {}", digits(least), digits(most))
            }
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
