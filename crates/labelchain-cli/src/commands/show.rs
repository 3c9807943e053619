//! `labelchain show`: what is in a model file, down to what lets anyone re-derive a prediction.

use std::fmt::Write as _;

use clap::Args;
use labelchain::base::{J48, Kernel, Likelihood, Svm, Ties};
use labelchain::chain::Order;
use labelchain::data::{Attribute, LabelId};
use labelchain::distance::Metric;
use labelchain::ensemble::{BaseModel, Member};
use labelchain::error::{Error, Result};
use labelchain::experiment::{BaseName, StrategyName};
use labelchain::model::Model;
use labelchain::order::OrderDistance;
use labelchain::prepare::{BagTransform, LabelView};
use serde_json::{Value, json};

use crate::args::{ModelFile, check_member};
use crate::bars::cut;
use crate::memory;
use crate::messages::{Failure, print};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain show yeast.labelchain")]
pub(crate) struct Show {
    #[command(flatten)]
    model: ModelFile,

    /// Refuse a model that needs more memory than this, such as 500M or 8G [default: three quarters
    /// of the machine's]
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount)]
    max_memory: Option<u64>,

    /// The tree of a member for this label, in the units of the training file (methods with -j48)
    #[arg(long, value_name = "LABEL", conflicts_with = "json")]
    tree: Option<String>,

    /// Whose tree, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "tree")]
    member: usize,

    /// One JSON object instead of text, with every row, feature and order
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let model = self.model.load(self.max_memory)?;
        if self.json {
            return print(&(json(&model).to_string() + "\n"));
        }
        if let Some(label) = &self.tree {
            return print(&self.tree(&model, label)?);
        }
        print(&format!("{}: {}", self.model.model.display(), text(&model)))
    }
}

impl Show {
    fn tree(&self, model: &Model, label: &str) -> Result<String> {
        let Some(at) = model.label_names().iter().position(|name| name == label) else {
            return Err(Error::Setting {
                name: "--tree",
                value: format!("{label:?}"),
                accepted: "one of the model's labels, as labelchain show --json lists them",
            });
        };
        check_member(model, self.member)?;
        let tree = model.tree(self.member, LabelId(at)).ok_or_else(|| Error::Setting {
            name: "--tree",
            value: format!("asked of {}", model.method()),
            accepted: "asked of a model with -j48; others have no trees",
        })?;
        Ok(format!(
            "The tree of member {} for {label:?}, in the units of the training file. In brackets: the\n\
             weight of the training rows that come to the leaf / of those it is wrong about; rows\n\
             with a missing cell come to several leaves in part.\n\n{tree}",
            self.member
        ))
    }
}

/// The promise of `show --json`.
fn json(model: &Model) -> Value {
    let feature = |attribute: &Attribute| match attribute.values() {
        None => json!({"name": attribute.name, "kind": "numeric"}),
        Some(values) => json!({"name": attribute.name, "kind": "nominal", "values": values}),
    };
    let view = |view: &LabelView| json!({"rows": view.rows, "features": view.features});
    let member = |member: &Member<BaseModel>| {
        json!({
            "fitting_rows": member.fitting,
            "validation_rows": member.validation,
            "order": member.order().map(positions),
            "candidate": is_searched(model).then_some(member.candidate),
            "orders": member.lent().map(|lent| lent.orders().iter().map(positions).collect::<Vec<_>>()),
            "assigned": member.lent().map(|lent| lent.assigned()),
            "by_label": member.model().views().iter().map(view).collect::<Vec<_>>(),
        })
    };
    json!({
        "format": Model::FORMAT,
        "version": model.version(),
        "method": model.method().to_string(),
        "seed": model.seed(),
        "settings": settings(model),
        "rows": model.n_rows(),
        "labels": model.label_names(),
        "features": model.attributes().iter().map(feature).collect::<Vec<_>>(),
        "standardize": {
            "mean": model.standardizer().means(),
            "deviation": model.standardizer().deviations(),
        },
        "medoids": model.bags().map(BagTransform::medoids),
        "decay": model.decay(),
        "neighbours": model.neighbours(),
        "machines": model.machines().map(|machines| machines.iter().map(point).collect::<Vec<_>>()),
        "members": model.members().iter().map(member).collect::<Vec<_>>(),
    })
}

fn is_searched(model: &Model) -> bool {
    matches!(model.method().strategy, StrategyName::Ga | StrategyName::GaBr)
}

fn positions(order: &Order) -> Vec<usize> {
    order.iter().map(|label| label.0).collect()
}

fn settings(model: &Model) -> Value {
    let settings = model.settings();
    json!({
        "members": settings.sampling.n_members,
        "sample": settings.sampling.sample,
        "fit_share": settings.sampling.fit_share,
        "decay": settings.decay.map_or(json!("auto"), |decay| json!(decay)),
        "neighbours": settings.neighbours.map_or(json!("auto"), |neighbours| json!(neighbours)),
        "max_imbalance": settings.max_imbalance,
        "selection": if settings.max_features.is_some() { "cfs" } else { "none" },
        "max_features": settings.max_features,
        "likelihood": likelihood(settings.likelihood),
        "order": settings.order.as_ref().map_or(json!("random"), |order| json!(positions(order))),
        "confidence": settings.tree.confidence,
        "min_leaf": settings.tree.min_leaf,
        "pruned": settings.tree.pruned,
        "binary_splits": settings.tree.binary_splits,
        "machine": settings.machine.as_ref().map(point),
        "orders": settings.n_orders,
        "lenders": settings.n_lenders,
        "candidates": settings.genetic.n_candidates,
        "population": settings.genetic.search.population,
        "generations": settings.genetic.search.generations,
        "crossover": settings.genetic.search.crossover,
        "mutation": settings.genetic.search.mutation,
        "diversity": settings.genetic.diversity.map(OrderDistance::key),
        "metric": metric(settings.metric),
        "ties": ties(settings.ties),
    })
}

fn point(machine: &Svm) -> Value {
    let (kernel, gamma) = match machine.kernel {
        Kernel::Linear => ("linear", None),
        Kernel::Rbf { gamma } => ("rbf", gamma),
    };
    json!({"kernel": kernel, "cost": machine.cost, "gamma": gamma})
}

fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Euclidean => "euclidean",
        Metric::Weka => "weka",
    }
}

fn ties(ties: Ties) -> &'static str {
    match ties {
        Ties::LowerRow => "lower-row",
        Ties::Weka => "weka",
    }
}

fn likelihood(likelihood: Likelihood) -> &'static str {
    match likelihood {
        Likelihood::Auto => "auto",
        Likelihood::Gaussian => "gaussian",
        Likelihood::Weka => "weka",
        Likelihood::Discretized => "discretized",
        Likelihood::Kernel => "kernel",
    }
}

fn machine(machine: &Svm) -> String {
    let cost = machine.cost;
    match machine.kernel {
        Kernel::Linear => format!("linear kernel, C {cost}"),
        Kernel::Rbf { gamma: Some(gamma) } => format!("RBF kernel, C {cost}, γ {gamma}"),
        Kernel::Rbf { gamma: None } => format!("RBF kernel, C {cost}, γ 1 / inputs"),
    }
}

/// A page for people: the settings, then a line for each member.
fn text(model: &Model) -> String {
    let settings = model.settings();
    let mut page = format!(
        "{}, seed {}, by labelchain {} (model format {})\n\n",
        model.method(),
        model.seed(),
        model.version(),
        Model::FORMAT
    );
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".into());
    let n_nominal = model.attributes().iter().filter(|a| a.values().is_some()).count();
    let mut lines = vec![
        ("trained on", format!("{} rows", model.n_rows())),
        ("features", format!("{} ({n_nominal} nominal)", model.attributes().len())),
        ("made of", model.bags().map_or("single rows".into(), BagTransform::story)),
        ("labels", named(model, 0..model.label_names().len())),
        ("members", settings.sampling.n_members.to_string()),
        ("rows of a member", format!("{} of all", settings.sampling.sample)),
        ("of these, to fit on", settings.sampling.fit_share.to_string()),
        (
            "decay (β)",
            match (model.decay(), settings.decay) {
                (None, _) => "none: orders are not chosen by local F1".into(),
                (Some(decay), Some(_)) => format!("{decay}, as set"),
                (Some(decay), None) => format!("{decay}, tuned"),
            },
        ),
        (
            "neighbours (R)",
            match (model.neighbours(), settings.neighbours) {
                (None, _) => "none: no row votes on another".into(),
                (Some(neighbours), Some(_)) => format!("{neighbours}, as set"),
                (Some(neighbours), None) => format!("{neighbours}, tuned"),
            },
        ),
        ("largest imbalance", or_none(settings.max_imbalance.map(|most| most.to_string()))),
        (
            "feature selection",
            or_none(settings.max_features.map(|most| format!("CFS, at most {most}"))),
        ),
        (
            "members kept",
            match is_searched(model) {
                false => "all".into(),
                true => format!(
                    "{} of {}, by a genetic search of {} generations",
                    model.members().len(),
                    settings.genetic.n_candidates(model.members().len()).unwrap_or_default(),
                    settings.genetic.search.generations
                ),
            },
        ),
    ];
    match model.method().base {
        BaseName::Nb => lines.push(("likelihood", likelihood(settings.likelihood).into())),
        BaseName::Knn => {
            lines.push(("distance", metric(settings.metric).into()));
            lines.push(("rows equally far", ties(settings.ties).into()));
        }
        BaseName::J48 => {
            let J48 { confidence, min_leaf, pruned, .. } = settings.tree;
            let pruning = if pruned { format!("confidence {confidence}") } else { "none".into() };
            lines.push(("pruning", pruning));
            lines.push(("rows of a leaf", format!("at least {min_leaf}")));
        }
        BaseName::Svm => match &settings.machine {
            Some(given) => lines.push(("machine", format!("{}, as set", machine(given)))),
            None => {
                let found = model.machines().into_iter().flatten().map(machine);
                let by_label = model.label_names().iter().map(String::as_str).zip(found);
                lines.push(("machine", "of each label, C and γ searched on a grid:".into()));
                lines.extend(by_label);
            }
        },
    }
    for (what, value) in lines {
        let _ = writeln!(page, "  {what:<20} {value}");
    }
    let _ = writeln!(
        page,
        "\n  {:>6}  {:>7} {:>8}  {:>16}  {:>16}  order",
        "", "fitting", "validat.", "rows of a label", "of its features"
    );
    let _ = writeln!(
        page,
        "  {:>6}  {:>7} {:>8}  {:>16}  {:>16}",
        "member", "rows", "rows", "least–mid–most", "least–mid–most"
    );
    for (at, member) in model.members().iter().enumerate() {
        let views = member.model().views();
        let order = match (member.order(), member.lent(), model.decay()) {
            (Some(order), ..) => named(model, order.iter().map(|label| label.0)),
            (_, Some(lent), _) => {
                format!("one of {}, lent by the nearest validation row", lent.orders().len())
            }
            (.., Some(_)) => "by local F1, for each row".into(),
            _ => "none: labels are decided independently".into(),
        };
        let _ = writeln!(
            page,
            "  {at:>6}  {:>7} {:>8}  {:>16}  {:>16}  {order}",
            member.fitting.len(),
            member.validation.len(),
            spread(views.iter().map(|view| view.rows.len())),
            spread(views.iter().map(|view| view.features.len())),
        );
    }
    page.push_str("\nMembers count from 0. --json has every row, feature and order.\n");
    page
}

/// Labels by name, as far as there is room.
fn named(model: &Model, labels: impl Iterator<Item = usize>) -> String {
    let names = model.label_names();
    let all: Vec<&str> = labels.filter_map(|at| names.get(at)).map(String::as_str).collect();
    let text = all.join(", ");
    match text.chars().count() <= 60 {
        true => text,
        false => format!("{} ({})", cut(&text, 50), all.len()),
    }
}

/// Least, middle and greatest.
fn spread(values: impl Iterator<Item = usize>) -> String {
    let mut all: Vec<usize> = values.collect();
    all.sort_unstable();
    match (all.first(), all.get(all.len() / 2), all.last()) {
        (Some(least), Some(middle), Some(most)) => format!("{least}–{middle}–{most}"),
        _ => "–".into(),
    }
}
