//! `labelchain show`: what is in a model file, down to what lets anyone re-derive a prediction.

use std::fmt::Write as _;

use clap::Args;
use labelchain::Model;
use labelchain::base::TreeRows;
use labelchain::chain::{Order, TunedSetting};
use labelchain::data::{Attribute, AttributeKind, LabelId};
use labelchain::ensemble::Member;
use labelchain::error::{Error, Result};
use labelchain::method::{Registered, registry};
use labelchain::prepare::{BagTransform, LabelView};
use labelchain::settings::AnySetting;
use serde_json::{Map, Value, json};

use super::evaluate;
use crate::args::{ModelFile, check_member};
use crate::bars::{bar, cut, width};
use crate::memory;
use crate::messages::{Failure, print, print_data};

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
        model.verify()?;
        if self.json {
            return print_data(&(json(&model)?.to_string() + "\n"));
        }
        if let Some(label) = &self.tree {
            return print(&self.tree(&model, label)?);
        }
        print(&format!("{}: {}", self.model.model.display(), text(&model)?))
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
        let tree = model.text(self.member, LabelId(at)).ok_or_else(|| Error::Setting {
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
fn json(model: &Model) -> Result<Value> {
    let feature = |attribute: &Attribute| match attribute.values() {
        None => json!({"name": attribute.name, "kind": "numeric"}),
        Some(values) => json!({"name": attribute.name, "kind": "nominal", "values": values}),
    };
    let column = |column: &Attribute| {
        let mut value = json!({"name": column.name, "kind": kind(column)});
        let words = model.encoder().and_then(|encoder| encoder.vocabulary(&column.name));
        if let Some(words) = words {
            value["words"] = words.terms().len().into();
        }
        value
    };
    let view = |view: &LabelView| json!({"rows": view.rows, "features": view.features});
    let is_searched = model.method().strategy().is_searched;
    let member = |member: &Member| {
        let mut value = json!({
            "fitting_rows": member.fitting,
            "validation_rows": member.validation,
            "order": member.order().map(positions),
            "candidate": is_searched.then_some(member.candidate),
            "orders": null,
            "assigned": null,
            "by_label": member.model().views().iter().map(view).collect::<Vec<_>>(),
        });
        for (key, known) in member.policy().into_iter().flat_map(|policy| policy.json()) {
            value[key] = known;
        }
        value
    };
    let mut value = json!({
        "format": Model::FORMAT,
        "version": model.version(),
        "method": model.method().to_string(),
        "seed": model.seed(),
        "settings": settings(model),
        "rows": model.n_rows(),
        "labels": model.label_names(),
        "columns": model.columns().iter().map(column).collect::<Vec<_>>(),
        "ids": model.ids(),
        "left_out": model.left_out(),
        "features": model.attributes().iter().map(feature).collect::<Vec<_>>(),
        "standardize": {
            "mean": model.standardizer().means(),
            "deviation": model.standardizer().deviations(),
        },
        "medoids": model.bags().map(BagTransform::medoids),
        "decay": model.tuned_value("decay"),
        "neighbours": model.tuned_value("neighbours").map(|it| it as usize),
        "machines": machines(model),
        "out_of_bag": model.out_of_bag().map(evaluate::by_key),
        "importance": model.importance().map(|of| {
            let inputs = model.attributes().iter().zip(of);
            inputs.map(|(it, share)| json!({"name": it.name, "importance": share})).collect::<Vec<_>>()
        }),
        "members": model.members().iter().map(member).collect::<Vec<_>>(),
    });
    // Only forests have them.
    let tree_rows = model.tree_rows()?;
    if !tree_rows.is_empty() {
        value["tree_rows"] = tree_rows.iter().map(tree_rows_json).collect();
    }
    Ok(value)
}

/// The kind of a column in a word.
fn kind(column: &Attribute) -> &'static str {
    match column.kind {
        AttributeKind::Numeric | AttributeKind::Word => "numeric",
        AttributeKind::Nominal(_) => "nominal",
        AttributeKind::Date => "date",
        AttributeKind::Text(_) => "text",
    }
}

/// The columns that a model learned from, and how many inputs they became.
pub(super) fn columns_in_words(model: &Model) -> String {
    let columns = model.columns();
    let many = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let kinds = ["numeric", "nominal", "date", "text"].map(|of| {
        let names = columns.iter().filter(|column| kind(column) == of);
        (of, names.map(|column| column.name.as_str()).collect::<Vec<_>>())
    });
    let kinds = kinds.iter().filter(|(_, names)| !names.is_empty()).map(|(of, names)| match *of {
        // These are few, and each became many inputs.
        "date" | "text" => format!("{} ({})", many(names.len(), of), names.join(", ")),
        _ => format!("{} {of}", names.len()),
    });
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    if model.encoder().is_none() {
        return format!("{} ({kinds})", columns.len());
    }
    format!("{} from {}: {kinds}", model.attributes().len(), many(columns.len(), "column"))
}

fn positions(order: &Order) -> Vec<usize> {
    order.iter().map(|label| label.0).collect()
}

/// Every setting, used or not, under its name with underscores.
fn settings(model: &Model) -> Value {
    let value = |known: &Registered| {
        let setting = known.setting;
        (setting.name().replace('-', "_"), model.settings().json(setting))
    };
    let mut settings: Map<String, Value> = registry().iter().map(value).collect();
    // Scripts know it by this name.
    let selection = settings.get("select").cloned();
    settings.extend(selection.map(|selection| ("selection".to_string(), selection)));
    Value::Object(settings)
}

/// Kernel, C and γ of each label, where there are such.
fn machines(model: &Model) -> Option<Vec<Value>> {
    let values = |name: &str| {
        let tuned = model.tuned().iter().find(|tuned| tuned.setting == name);
        tuned.map(|tuned| tuned.values.clone())
    };
    let kernel = settings(model)["kernel"].clone();
    let pairs = values("cost")?.into_iter().zip(values("gamma")?);
    let point = |(cost, gamma)| json!({"kernel": kernel, "cost": cost, "gamma": gamma});
    Some(pairs.map(point).collect())
}

/// A page for people: what it was trained on, the settings, then a line for each member.
fn text(model: &Model) -> Result<String> {
    let mut page = format!(
        "{}, seed {}, by labelchain {} (model format {})\n\n",
        model.method(),
        model.seed(),
        model.version(),
        Model::FORMAT
    );
    let about = [
        ("strategy", model.method().strategy().about.to_string()),
        ("base", model.method().base().about.to_string()),
        ("trained on", format!("{} rows{}", model.n_rows(), in_words(&model.tree_rows()?))),
        ("made of", model.bags().map_or("single rows".into(), BagTransform::story)),
        ("features", columns_in_words(model)),
        ("labels", named(model, 0..model.label_names().len())),
    ];
    let others = [("identifiers", model.ids()), ("left out", model.left_out())];
    let others = others.into_iter().filter(|(_, names)| !names.is_empty());
    let others = others.map(|(what, names)| (what, names.join(", ")));
    for (what, value) in about.into_iter().chain(others) {
        let _ = writeln!(page, "  {what:<14}  {value}");
    }
    page.push_str("\n  Settings\n");
    for setting in model.method().settings() {
        let (name, value) = (setting.name(), value(model, setting));
        let _ = writeln!(page, "  {name:<14}  {value:<12}  {}", setting.help());
    }
    page += &by_label(model);
    page += &out_of_bag(model);
    page += &importance(model);
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
        let order = match (member.order(), member.policy()) {
            (Some(order), _) => named(model, order.iter().map(|label| label.0)),
            (_, Some(policy)) => policy.summary(),
            _ if model.method().strategy().is_chained() => {
                "the most certain label next, for each row".into()
            }
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
    Ok(page)
}

/// Which rows the trees of a forest drew from, where these are not the same for all.
fn in_words(tree_rows: &[TreeRows]) -> String {
    match tree_rows {
        [] | [_] => String::new(),
        all => {
            let part = |of: &TreeRows| format!("{} of rows {}–{}", of.n_trees, of.first, of.last);
            let parts: Vec<String> = all.iter().map(part).collect();
            format!(", by trees that each drew from some: {}", parts.join(", "))
        }
    }
}

fn tree_rows_json(of: &TreeRows) -> Value {
    json!({"trees": of.n_trees, "first": of.first, "last": of.last})
}

/// The losses estimated while training.
pub(super) fn out_of_bag(model: &Model) -> String {
    let Some(losses) = model.out_of_bag() else { return String::new() };
    let mut page =
        String::from("\n  Losses, estimated by training rows that members or trees had not seen\n");
    for (criterion, loss) in losses.iter() {
        let value = loss.map_or("–".into(), |loss| format!("{loss:.4}"));
        let _ = writeln!(page, "  {:<16}  {value}", criterion.loss_title());
    }
    page
}

/// The inputs that matter most.
fn importance(model: &Model) -> String {
    const SHOWN: usize = 10;
    let Some(importance) = model.importance() else { return String::new() };
    let mut ranked: Vec<(&str, f64)> =
        model.attributes().iter().map(|it| it.name.as_str()).zip(importance).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = ranked.first().map_or(0.0, |first| first.1);
    ranked.truncate(SHOWN);
    let names: Vec<String> = ranked.iter().map(|(name, _)| name.to_string()).collect();
    let wide = width(&names, 14, 32);
    let mut page = format!("\n  Inputs that matter most: {}\n", model.importance_measure());
    for (name, share) in ranked {
        let length = if most > 0.0 { share / most } else { 0.0 };
        let name = cut(name, wide);
        let line = format!("  {name:<wide$}  {:>5.1} %  {}", share * 100.0, bar(length, 30));
        let _ = writeln!(page, "{}", line.trim_end());
    }
    page
}

/// The value of a setting, and what it came to where it was left to the data.
fn value(model: &Model, setting: &dyn AnySetting) -> String {
    let text = model.settings().text(setting);
    let tuned = model.tuned().iter().find(|tuned| tuned.setting == setting.name());
    match tuned.map(|tuned| &tuned.values[..]) {
        Some([Some(value)]) if text == "auto" => format!("auto: {value}"),
        _ => text,
    }
}

/// The values of settings that were chosen for each label.
fn by_label(model: &Model) -> String {
    let is_chosen = |tuned: &&TunedSetting| {
        let setting = model.method().settings().find(|it| it.name() == tuned.setting);
        let is_auto = setting.is_some_and(|it| model.settings().text(it) == "auto");
        is_auto
            && tuned.values.len() == model.label_names().len()
            && tuned.values.iter().any(Option::is_some)
    };
    let chosen: Vec<&TunedSetting> = model.tuned().iter().filter(is_chosen).collect();
    if chosen.is_empty() || model.label_names().len() < 2 {
        return String::new();
    }
    let names = model.label_names();
    let wide = width(names, 5, 32);
    let mut page = String::from("\n  Chosen for each label\n");
    for (at, name) in names.iter().enumerate() {
        let _ = write!(page, "  {:<wide$}", cut(name, wide));
        for tuned in &chosen {
            let value = tuned.values[at].map_or("1 / inputs".into(), |value| value.to_string());
            let _ = write!(page, "  {} {value:<10}", tuned.setting);
        }
        page.truncate(page.trim_end().len());
        page.push('\n');
    }
    page
}

/// Labels by name, as far as there is room.
fn named(model: &Model, labels: impl Iterator<Item = usize>) -> String {
    let names = model.label_names();
    let all: Vec<&str> = labels.filter_map(|at| names.get(at)).map(String::as_str).collect();
    let text = all.join(", ");
    if text.chars().count() <= 60 { text } else { format!("{} ({})", cut(&text, 50), all.len()) }
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
