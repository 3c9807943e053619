//! How the answer about a row came about.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

use super::{AlignedRows, Model};
use crate::chain::{Attribution, Contribution, Neighbour, Trace};
use crate::data::{Dataset, LabelId};
use crate::ensemble::{
    Genetic, GivenOrder, MemberOrders, ORDER, SEARCH_ROWS, SearchRows, VOTE_TIES,
};
use crate::error::Result;

/// How the answer about one row came about.
#[derive(Clone)]
pub struct Explanation<'m> {
    model: &'m Model,
    /// Whether each label is predicted, by label.
    pub relevant: Vec<bool>,
    /// The share of members that decided each label to be relevant, by label.
    pub shares: Vec<f64>,
    /// The probability of each label; none where the model gives none.
    pub probabilities: Option<Vec<f64>>,
    /// The probability from which on each label is given, by label, none where it never is; `None` where the aim does
    /// not go by thresholds.
    pub thresholds: Option<Vec<Option<f64>>>,
    /// The labels that were known before, by label: whether they are relevant.
    pub known: Vec<Option<bool>>,
    /// How each member decided.
    pub members: Vec<Trace>,
    /// The training rows that the answer rests on; empty where the base has none to name.
    pub neighbours: Vec<Neighbour>,
    /// What base values and contributions are: `log-odds` for naive Bayes, `probability` for a forest, before
    /// calibration; empty where inputs cannot be told apart.
    pub unit: &'static str,
    /// What the model says of each label before it looks at an input. With the contributions of all inputs it
    /// sums to what the model says from the inputs alone.
    pub base_values: Vec<f64>,
    /// What each input adds to it, by descending size.
    pub inputs: Vec<InputContribution>,
}

/// What one input adds to one label.
#[derive(Clone, Debug, PartialEq)]
pub struct InputContribution {
    /// The name of the input.
    pub name: String,
    /// Its value in this row, in the units of the training file; none if it is missing.
    pub value: Option<Cell>,
    /// The label.
    pub label: LabelId,
    /// How much it adds.
    pub contribution: f64,
}

/// The value of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Of a numeric input.
    Number(f64),
    /// Of a nominal input.
    Name(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Number(number) => number.fmt(f),
            Cell::Name(name) => name.fmt(f),
        }
    }
}

impl Model {
    /// How the answer about each row comes about; columns are found by name.
    pub fn explain(&self, data: &Dataset) -> Result<Vec<Explanation<'_>>> {
        self.align(data, Path::new(data.name()))?.explain()
    }
}

impl<'m> AlignedRows<'m> {
    /// How the answer about each row comes about.
    pub fn explain(&self) -> Result<Vec<Explanation<'m>>> {
        let mut explanations = self.explain_decisions()?;
        for (row, (explanation, attribution)) in
            explanations.iter_mut().zip(self.attributions()?).enumerate()
        {
            let Attribution { neighbours, unit, base_values, contributions } = attribution;
            let input = |of: Contribution| InputContribution {
                name: self.model.attributes[of.input].name.clone(),
                value: self.cell(row, of.input),
                label: of.label,
                contribution: of.value,
            };
            explanation.neighbours = neighbours;
            explanation.unit = unit;
            explanation.base_values = base_values;
            explanation.inputs = contributions.into_iter().map(input).collect();
        }
        Ok(explanations)
    }

    /// The same without neighbours and inputs, of which there are many for each row.
    pub fn explain_decisions(&self) -> Result<Vec<Explanation<'m>>> {
        let prediction = self.predict()?;
        let labels = &prediction.labels;
        let thresholds = self.model.thresholds(self.aim);
        let explain = |(row, members): (usize, Vec<Trace>)| Explanation {
            model: self.model,
            relevant: labels.ids().map(|label| labels.get(row, label)).collect(),
            known: labels.ids().map(|label| self.known.as_ref()?.cell(row, label)).collect(),
            shares: prediction.shares(row).to_vec(),
            probabilities: prediction.probabilities(row).map(<[f64]>::to_vec),
            thresholds: thresholds.clone(),
            members,
            neighbours: Vec::new(),
            unit: "",
            base_values: Vec::new(),
            inputs: Vec::new(),
        };
        Ok(self.traces()?.into_iter().enumerate().map(explain).collect())
    }
}

impl Explanation<'_> {
    /// The names of the labels predicted.
    pub fn relevant_names(&self) -> Vec<&str> {
        let names = self.model.label_names().iter().zip(&self.relevant);
        names.filter(|(_, relevant)| **relevant).map(|(name, _)| name.as_str()).collect()
    }

    /// On how many labels a member agrees with the answer.
    pub fn n_agreed(&self, member: usize) -> usize {
        let decisions = &self.members[member].decisions;
        decisions.iter().zip(&self.relevant).filter(|(one, vote)| one == vote).count()
    }

    /// The member that agrees most with the answer, the first of equals.
    pub fn most_agreeing(&self) -> usize {
        let members = (0..self.members.len()).rev();
        members.max_by_key(|&member| self.n_agreed(member)).unwrap_or(0)
    }

    /// How a member came to its decisions, as it follows "the labels were".
    pub fn how(&self, member: usize) -> &'static str {
        match self.members.get(member).map(|trace| (&trace.order, &trace.reason)) {
            None | Some((None, _)) => "decided independently",
            Some((_, Some(reason))) if reason.nearest.is_some() => {
                "decided in the order of the nearest row"
            }
            Some((_, Some(_))) => "decided in this order",
            Some((_, None)) => "decided in an order that is the same for every row",
        }
    }

    /// Why a member took its order, in lines; empty where numbers by label say it, or if there is no such
    /// member.
    pub fn why(&self, member: usize) -> String {
        let (members, strategy) = (self.model.members(), self.model.method().strategy());
        let (Some(trace), Some(of)) = (self.members.get(member), members.get(member)) else {
            return String::new();
        };
        if let Some(reason) = &trace.reason {
            return reason.text.clone();
        }
        let settings = self.model.settings();
        let order = match strategy.orders {
            MemberOrders::Independent => "There is no order: each label is decided on its own.",
            _ if strategy.is_searched || settings.get(&ORDER) == GivenOrder::Random => {
                "The order was drawn at random with the member."
            }
            _ => "The order was given by the user.",
        };
        let voted_on = match settings.get(&SEARCH_ROWS) {
            SearchRows::HeldOut => format!("{} common validation rows", of.validation.len()),
            SearchRows::OutOfBag => "the rows that each did not draw".into(),
            SearchRows::Training => "all training rows".into(),
        };
        let n_members = members.len();
        let searched = match Genetic::of(settings, n_members, settings.get(&VOTE_TIES)) {
            Ok(genetic) if strategy.is_searched => format!(
                "\nA genetic search chose it, candidate {} of {}, for how {n_members} of them vote together\n\
                 on {voted_on}{}.",
                of.candidate,
                genetic.n_candidates(),
                if strategy.is_chained() { ", and for how their orders differ" } else { "" }
            ),
            _ => String::new(),
        };
        format!("{order}{searched}")
    }

    /// The explanation as JSON; `row` is written as the number of the row, which an explanation does
    /// not know. `votes` are the shares, `probabilities` by name, `support` the scores, `relevant` the names of the labels
    /// predicted, and each member has `order`, `local_f1`, `weight`, `nearest`, `decisions`. All arrays are by
    /// label, except `order`; what a method does not have is null; infinite scores are ±1e308. Where
    /// labels were known, `known` has them by name, as 0 or 1; where the aim goes by them, `thresholds` by name. `neighbours`, `inputs`, `base_values` and
    /// their `unit` are there where the explanation has them.
    pub fn json(&self, row: usize) -> Value {
        let member = |trace: &Trace| {
            let reason = trace.reason.as_ref();
            let positions = |order: &Vec<LabelId>| order.iter().map(|it| it.0).collect::<Vec<_>>();
            let scores = trace.scores.iter().map(|score| score.value().clamp(-1e308, 1e308));
            let mut member = json!({
                "order": trace.order.as_ref().map(positions),
                "local_f1": null,
                "weight": null,
                "nearest": reason.and_then(|reason| reason.nearest),
                "decisions": trace.decisions.iter().map(|&it| u8::from(it)).collect::<Vec<_>>(),
                "support": scores.collect::<Vec<_>>(),
            });
            for quantity in reason.iter().flat_map(|reason| &reason.by_label) {
                member[quantity.key] = json!(quantity.values);
            }
            member
        };
        let by_name = |values: &mut dyn Iterator<Item = Value>| -> Value {
            let names = self.model.label_names().iter().cloned();
            names.zip(values).collect::<serde_json::Map<_, _>>().into()
        };
        let mut explanation = json!({
            "row": row,
            "votes": self.shares,
            "probabilities": self.probabilities.as_ref().map(|of| by_name(&mut of.iter().map(|&p| json!(p)))),
            "relevant": self.relevant_names(),
            "members": self.members.iter().map(member).collect::<Vec<_>>(),
        });
        if let Some(thresholds) = &self.thresholds {
            explanation["thresholds"] = by_name(&mut thresholds.iter().map(|&it| json!(it)));
        }
        let names = self.model.label_names();
        if !self.neighbours.is_empty() {
            let neighbour = |of: &Neighbour| {
                let labels: Vec<&str> = of.labels.iter().map(|it| names[it.0].as_str()).collect();
                let mut json = json!({"row": of.row, "weight": of.weight, "labels": labels});
                if let (Some(name), Some(id)) =
                    (self.model.ids().first(), self.model.row_id(of.row))
                {
                    json["id"][name] = id.into();
                }
                json
            };
            explanation["neighbours"] = self.neighbours.iter().map(neighbour).collect();
        }
        if !self.base_values.is_empty() {
            let input = |of: &InputContribution| {
                let value = match &of.value {
                    None => Value::Null,
                    Some(Cell::Number(number)) => json!(number),
                    Some(Cell::Name(name)) => json!(name),
                };
                json!({
                    "name": of.name,
                    "value": value,
                    "label": names[of.label.0],
                    "contribution": of.contribution,
                })
            };
            explanation["unit"] = self.unit.into();
            explanation["inputs"] = self.inputs.iter().map(input).collect();
            explanation["base_values"] = by_name(&mut self.base_values.iter().map(|&it| json!(it)));
        }
        for (name, known) in names.iter().zip(&self.known) {
            if let Some(relevant) = known {
                explanation["known"][name] = json!(u8::from(*relevant));
            }
        }
        explanation
    }
}
