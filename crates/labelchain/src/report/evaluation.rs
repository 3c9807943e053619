//! A report about methods on one data set: what they get wrong, whether their probabilities are true, and
//! what they do to each label.

use std::cmp::Reverse;

use super::figure::{self, AimPoint, Figure, LabelCurve, LossSpread, Reliability};
use super::html::{self, Page};
use super::sheet::{Sheet, SheetCell, SheetRow, best};
use super::{Section, slug};
use crate::chain::OrderCounts;
use crate::data::split::Folds;
use crate::data::{Dataset, LabelId, LabelMatrix};
use crate::error::Result;
use crate::experiment::{AimThresholds, Evaluation, PooledMeasures};
use crate::loss::{Averaging, Criterion, LabelMeasures, Losses, Measure, PrecisionRecall, Rate};
use crate::stats::ranks;

/// The losses that the verdict rests on: of cells, of whole rows, and F1 of rows, labels and all cells. The
/// other six are the two sides of these three.
const MAIN: [Criterion; 5] = [
    Criterion::Hamming,
    Criterion::ZeroOne,
    Criterion::Of(Averaging::Example, Rate::F1),
    Criterion::Of(Averaging::Macro, Rate::F1),
    Criterion::Of(Averaging::Micro, Rate::F1),
];

/// Labels with a curve of their own, with a bar, in a picture of orders, and in a table.
const MAX_CURVES: usize = 12;
const MAX_BARS: usize = 20;
const MAX_ORDERED: usize = 20;
const MAX_ROWS: usize = 300;

/// The contents of a report about one data set, which is one page of HTML. It has no measured times, so
/// that the same seed gives the same bytes.
///
/// ```
/// use labelchain::data::{LabelNetwork, split::folds};
/// use labelchain::experiment::CrossValidation;
/// use labelchain::report::EvaluationReport;
/// use labelchain::Seed;
///
/// let seed = Seed::new(1);
/// let data = LabelNetwork { n_rows: 200, ..LabelNetwork::default() }.generate("network", seed)?;
/// let methods = ["br-nb".parse()?];
/// let folds = folds(data.n_rows(), 3, seed)?;
/// let validation = CrossValidation::new(&methods, &folds, seed);
/// let validation = CrossValidation { probabilities: true, details: true, ..validation };
/// let (tested, baseline) = (validation.run(&data)?, validation.baseline(data.labels())?);
/// let report = EvaluationReport::of(&data, &folds, &baseline, &tested, "3 folds", vec![])?;
/// assert!(report.verdict.starts_with("On network (3 folds), br-nb beats the baseline"));
/// assert!(report.html().starts_with("<!doctype html>"));
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationReport {
    /// What was tested.
    pub title: String,
    /// The outcome in one sentence.
    pub verdict: String,
    /// What else a reader must know.
    pub notes: Vec<String>,
    /// How the numbers were computed, in sentences.
    pub procedure: Vec<String>,
    /// The parts.
    pub sections: Vec<Section>,
}

impl EvaluationReport {
    /// Describes what methods did in these folds of the data, beside the baseline; `cut` says in words how
    /// the rows were cut. What evaluations do not have, probabilities or [details](Evaluation::details),
    /// is left out.
    pub fn of(
        data: &Dataset,
        folds: &Folds,
        baseline: &Evaluation,
        evaluations: &[Evaluation],
        cut: &str,
        notes: Vec<String>,
    ) -> Result<EvaluationReport> {
        let tested = TestedMethods::new(data, folds, baseline, evaluations)?;
        let lead = tested.leader();
        let mut sections = vec![tested.losses_section()];
        sections.extend(tested.probability_section());
        if let Some(lead) = lead {
            sections.push(tested.labels_section(lead));
            sections.extend(tested.curve_section(tested.group_of(lead))?);
        }
        sections.extend(tested.orders_section());
        sections.extend(tested.importance_section());
        sections.extend(lead.map(|lead| tested.others(lead)).transpose()?.flatten());
        let n = evaluations.len();
        Ok(EvaluationReport {
            title: match evaluations {
                [only] => format!("{}: {}", data.name(), only.name),
                _ => format!("{}: {n} methods", data.name()),
            },
            verdict: tested.verdict(lead, cut),
            notes: [tested.about()].into_iter().chain(notes).collect(),
            procedure: procedure(cut, folds.n_folds() > 1),
            sections,
        })
    }

    /// The page, which needs no network and no other file.
    pub fn html(&self) -> String {
        html::page(&Page {
            title: &self.title,
            verdict: &self.verdict,
            cautions: &[],
            notes: &self.notes,
            sections: &self.sections,
            procedure: &self.procedure,
            hint: "Point at a mark or a bar for its numbers.",
        })
    }
}

/// What there is to describe.
struct TestedMethods<'a> {
    data: &'a Dataset,
    baseline: &'a Evaluation,
    methods: &'a [Evaluation],
    /// Of the baseline, then of the methods.
    pooled: Vec<PooledMeasures>,
    /// The rows that were tested, and the fold of each.
    rows: Vec<(usize, usize)>,
    truth: LabelMatrix,
    /// Labels, those of most relevant rows first.
    commonest: Vec<LabelId>,
    groups: Vec<Group<'a>>,
    folds: &'a Folds,
}

/// Methods that differ in their aim alone: they have the same probabilities and orders.
struct Group<'a> {
    /// The method without its aim.
    name: &'a str,
    methods: Vec<usize>,
}

impl<'a> TestedMethods<'a> {
    fn new(
        data: &'a Dataset,
        folds: &'a Folds,
        baseline: &'a Evaluation,
        methods: &'a [Evaluation],
    ) -> Result<TestedMethods<'a>> {
        let pooled = std::iter::once(baseline).chain(methods);
        let pooled =
            pooled.map(|of| of.pooled(data.labels(), folds)).collect::<Result<Vec<_>>>()?;
        let fold_of = folds.fold_of().iter().enumerate();
        let rows: Vec<(usize, usize)> =
            fold_of.filter_map(|(row, fold)| Some((row, (*fold)?))).collect();
        let numbers: Vec<usize> = rows.iter().map(|(row, _)| *row).collect();
        let mut commonest: Vec<LabelId> = data.labels().ids().collect();
        commonest.sort_by_key(|label| Reverse(pooled[0].by_label[label.0].support));
        let mut groups: Vec<Group> = Vec::new();
        for (at, of) in methods.iter().enumerate() {
            let (name, _) = aim_of(&of.name);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.methods.push(at),
                None => groups.push(Group { name, methods: vec![at] }),
            }
        }
        let truth = data.labels().select(&numbers);
        Ok(TestedMethods { data, baseline, methods, pooled, rows, truth, commonest, groups, folds })
    }

    fn name(&self, label: LabelId) -> &'a str {
        &self.data.label_names()[label.0]
    }

    /// The pooled measures of a method.
    fn measures(&self, method: usize) -> &PooledMeasures {
        &self.pooled[method + 1]
    }

    fn group_of(&self, method: usize) -> &Group<'a> {
        let (name, _) = aim_of(&self.methods[method].name);
        let found = self.groups.iter().find(|group| group.name == name);
        found.unwrap_or(&self.groups[0])
    }

    /// The method with the least mean rank over the main losses; of equals the first.
    fn leader(&self) -> Option<usize> {
        let mut sums = vec![0.0; self.methods.len()];
        for criterion in MAIN {
            let loss = |of: &Evaluation| of.losses().get(criterion).unwrap_or(f64::INFINITY);
            let losses: Vec<f64> = self.methods.iter().map(loss).collect();
            sums.iter_mut().zip(ranks(&losses).ranks).for_each(|(sum, rank)| *sum += rank);
        }
        (0..sums.len()).reduce(|best, at| if sums[at] < sums[best] { at } else { best })
    }

    /// The outcome in one sentence.
    fn verdict(&self, lead: Option<usize>, cut: &str) -> String {
        let start = format!("On {} ({cut}), ", self.data.name());
        let Some(lead) = lead else { return format!("{start}no method was tested.") };
        let means: Vec<Losses> = self.methods.iter().map(Evaluation::losses).collect();
        let base = self.baseline.losses();
        let of = |losses: &Losses, criterion| losses.get(criterion).unwrap_or(f64::INFINITY);
        let n_better = MAIN.iter().filter(|&&it| of(&means[lead], it) < of(&base, it)).count();
        let is_least = |criterion: Criterion| {
            let least = means.iter().map(|it| of(it, criterion)).fold(f64::INFINITY, f64::min);
            of(&means[lead], criterion) == least
        };
        let n_least = MAIN.iter().filter(|&&criterion| is_least(criterion)).count();
        let (n, name) = (MAIN.len(), &self.methods[lead].name);
        let share = |count: usize| match count {
            0 => format!("none of {n}"),
            count if count == n => format!("all {n}"),
            count => format!("{count} of {n}"),
        };
        let outcome = match self.methods.len() {
            1 => format!("{name} beats the baseline by {} main losses", share(n_better)),
            k => format!(
                "{name} ranks best of {k} methods, is best by {} main losses, and beats the baseline by {}",
                share(n_least),
                share(n_better)
            ),
        };
        let shown = |criterion: Criterion, title: &str, is_loss: bool| {
            let value = |losses: &Losses| {
                let loss = losses.get(criterion)?;
                let value = if is_loss { loss } else { 1.0 - loss };
                Some(format!("{value:.3}").trim_start_matches('0').to_string())
            };
            Some(format!("{title} {} against {}", value(&means[lead])?, value(&base)?))
        };
        let examples = [
            shown(Criterion::Hamming, "Hamming loss", true),
            shown(Criterion::Of(Averaging::Macro, Rate::F1), "macro F1", false),
        ];
        let examples: Vec<String> = examples.into_iter().flatten().collect();
        format!("{start}{outcome}: {}.", examples.join(", "))
    }

    /// What the data set is.
    fn about(&self) -> String {
        let (n_rows, n_labels) = (self.data.n_rows(), self.data.n_labels());
        let n_relevant: usize = self.pooled[0].by_label.iter().map(|of| of.support).sum();
        let a_row = n_relevant as f64 / self.rows.len().max(1) as f64;
        format!(
            "{}: {n_rows} rows, {} inputs and {n_labels} labels, of which {a_row:.2} are relevant to a \
             tested row on average.",
            self.data.name(),
            self.data.n_features()
        )
    }

    /// The baseline and all methods.
    fn all(&self) -> impl Iterator<Item = &'a Evaluation> {
        std::iter::once(self.baseline).chain(self.methods)
    }

    fn names(&self) -> Vec<String> {
        self.all().map(|of| of.name.clone()).collect()
    }

    fn losses_section(&self) -> Section {
        let value = |of: &Evaluation, criterion| {
            Some((of.losses().get(criterion)?, Losses::spread(&of.by_fold, criterion)))
        };
        let plots: Vec<LossSpread> = MAIN
            .iter()
            .map(|&criterion| LossSpread {
                title: criterion.loss_title(),
                by_method: self.all().map(|of| value(of, criterion)).collect(),
            })
            .collect();
        let (first, rest) = plots.split_at(2);
        let names = self.names();
        let of_cells_and_rows = figure::spread("spread", "Wrong cells and rows", first, &names);
        let of_f1 = figure::spread("spread-f1", "F1 losses", rest, &names);
        Section {
            id: "losses".into(),
            title: "Losses".into(),
            text: Vec::new(),
            figures: [of_cells_and_rows, of_f1].into_iter().flatten().collect(),
            sheets: vec![self.losses_sheet()],
            is_appendix: false,
        }
    }

    /// All eleven losses of all methods, and below them F1.
    fn losses_sheet(&self) -> Sheet {
        let losses = Criterion::ALL.into_iter().map(|criterion| (criterion, true));
        let f1 = MAIN.into_iter().filter(|it| matches!(it, Criterion::Of(_, Rate::F1)));
        let rows =
            losses.chain(f1.map(|criterion| (criterion, false))).map(|(criterion, is_loss)| {
                let value = |of: &Evaluation| {
                    let loss = of.losses().get(criterion)?;
                    Some(if is_loss { loss } else { 1.0 - loss })
                };
                let values: Vec<Option<f64>> = self.all().map(value).collect();
                let marks = best(&values, !is_loss);
                let cell = |((of, value), mark): ((&Evaluation, &Option<f64>), _)| {
                    let Some(value) = *value else { return SheetCell::words("–") };
                    let spread = Losses::spread(&of.by_fold, criterion);
                    let spread = spread.map(|of| format!(" (± {of:.4})")).unwrap_or_default();
                    let source = format!("{}, {} folds", of.name, of.by_fold.len());
                    let text = format!("{value:.4}{spread}");
                    SheetCell { mark, ..SheetCell::number(value, text, source) }
                };
                let cells = self.all().zip(&values).zip(marks).map(cell).collect();
                let head = if is_loss {
                    criterion.loss_title()
                } else {
                    format!("{criterion}, greater is better")
                };
                SheetRow { is_summary: !is_loss, ..SheetRow::new(head, cells) }
            });
        let spread = match self.folds.n_folds() {
            1 => "",
            _ => ", with the standard deviation over folds",
        };
        Sheet {
            id: "all-losses".into(),
            caption: format!(
                "Losses, smaller is better{spread}; below, F1 itself. The best is bold, = marks a tie"
            ),
            columns: columns("Loss", self.names()),
            rows: rows.collect(),
        }
    }

    /// Whether probabilities are true, and what they put first; none without probabilities.
    fn probability_section(&self) -> Option<Section> {
        let shown: Vec<(usize, &Group)> = self
            .groups
            .iter()
            .map(|group| (group.methods[0], group))
            .filter(|&(method, _)| self.measures(method).of_probabilities.is_some())
            .collect();
        let plots: Vec<Reliability> = shown
            .iter()
            .filter_map(|&(method, group)| {
                let (_, calibration) = self.measures(method).of_probabilities.as_ref()?;
                Some(Reliability { method, name: group.name, calibration })
            })
            .collect();
        let figures = figure::reliability(&plots);
        if figures.is_empty() {
            return None;
        }
        let measures = |of: &PooledMeasures| -> Vec<Measure> {
            let known = of.of_probabilities.iter();
            let of = |it: &(_, _)| measures_of(it);
            known.flat_map(of).collect()
        };
        let baseline = (&self.baseline.name[..], measures(&self.pooled[0]));
        let methods =
            shown.iter().map(|&(method, group)| (group.name, measures(self.measures(method))));
        let by_method: Vec<(&str, Vec<Measure>)> =
            std::iter::once(baseline).chain(methods).collect();
        let rows = by_method[0].1.iter().enumerate().map(|(at, measure)| {
            let values: Vec<Option<f64>> =
                by_method.iter().map(|(_, of)| of.get(at).and_then(|it| it.value)).collect();
            let marks = best(&values, !measure.is_loss);
            let cell = |(value, mark): (&Option<f64>, _)| match *value {
                Some(value) => SheetCell {
                    mark,
                    ..SheetCell::number(value, format!("{value:.4}"), String::new())
                },
                None => SheetCell::words("–"),
            };
            let better = if measure.is_loss { "smaller" } else { "greater" };
            let mut cells: Vec<SheetCell> = values.iter().zip(marks).map(cell).collect();
            cells.push(SheetCell::words(better));
            SheetRow::new(measure.title, cells)
        });
        let mut columns = columns("Measure", by_method.iter().map(|(name, _)| name.to_string()));
        columns.push("Better".into());
        Some(Section {
            id: "probabilities".into(),
            title: "Probabilities".into(),
            text: Vec::new(),
            figures,
            sheets: vec![Sheet {
                id: "probability-measures".into(),
                caption: "What probabilities are worth, all tested rows together; an aim does not change \
                          them. The best is bold, = marks a tie"
                    .into(),
                columns,
                rows: rows.collect(),
            }],
            is_appendix: false,
        })
    }

    /// Right and wrong answers of a method, by label.
    fn labels_section(&self, method: usize) -> Section {
        let name = &self.methods[method].name;
        Section {
            id: "labels".into(),
            title: format!("Labels by {name}"),
            text: Vec::new(),
            figures: [self.answers_figure(method), self.f1_figure()]
                .into_iter()
                .flatten()
                .collect(),
            sheets: vec![self.labels_sheet(method)],
            is_appendix: false,
        }
    }

    fn answers_figure(&self, method: usize) -> Option<Figure> {
        let by_label = &self.measures(method).by_label;
        let shown = self.commonest.iter().take(MAX_BARS);
        let labels: Vec<(&str, LabelMeasures)> =
            shown.map(|&label| (self.name(label), by_label[label.0])).collect();
        let name = &self.methods[method].name;
        figure::answers(format!("answers-{}", slug(name)), name, &labels, &self.chosen(MAX_BARS))
    }

    fn f1_figure(&self) -> Option<Figure> {
        let methods: Vec<String> = self.methods.iter().map(|of| of.name.clone()).collect();
        let f1 = |label: LabelId| self.pooled.iter().map(move |of| of.by_label[label.0].f1);
        let shown = self.commonest.iter().take(MAX_BARS);
        let labels: Vec<(&str, Vec<Option<f64>>)> =
            shown.map(|&label| (self.name(label), f1(label).collect())).collect();
        figure::label_f1(&methods, &labels, &self.chosen(MAX_BARS))
    }

    /// Which labels are shown, in words.
    fn chosen(&self, most: usize) -> String {
        let n = self.commonest.len();
        if n > most { format!("the {most} commonest of {n} labels") } else { "each label".into() }
    }

    /// What the answers and the probabilities of a method are worth for each label.
    fn labels_sheet(&self, method: usize) -> Sheet {
        let (name, by_label) = (&self.methods[method].name, &self.measures(method).by_label);
        let has_probabilities = self.methods[method].probabilities.is_some();
        let mut columns =
            columns("Label", ["Relevant rows", "Precision", "Recall", "F1"].map(String::from));
        if has_probabilities {
            columns.extend(["AUC", "Average precision"].map(String::from));
        }
        columns.extend(["TP", "FP", "FN", "TN"].map(String::from));
        let row = |&label: &LabelId| {
            let of = &by_label[label.0];
            let mut cells = vec![whole(of.support)];
            cells.extend([of.precision, of.recall, of.f1].map(number));
            if has_probabilities {
                cells.extend([of.auc, of.average_precision].map(number));
            }
            let counts = of.counts;
            cells.extend([
                whole(counts.true_positives),
                whole(counts.false_positives),
                whole(counts.false_negatives),
                whole(of.true_negatives),
            ]);
            SheetRow::new(self.name(label), cells)
        };
        Sheet {
            id: format!("labels-{}", slug(name)),
            caption: format!(
                "{name}: {}, the commonest first, all tested rows together. TP: relevant and given; FP: \
                 given, but irrelevant; FN: relevant, but not given; TN: neither",
                self.chosen(MAX_ROWS)
            ),
            columns,
            rows: self.commonest.iter().take(MAX_ROWS).map(row).collect(),
        }
    }

    /// Precision against recall of the probabilities of a group of methods; none without probabilities.
    fn curve_section(&self, group: &Group) -> Result<Option<Section>> {
        let Some((figure, sheet)) = self.curves(group)? else { return Ok(None) };
        Ok(Some(Section {
            id: "precision-recall".into(),
            title: format!("Precision, recall and thresholds of {}", group.name),
            text: Vec::new(),
            figures: vec![figure],
            sheets: sheet.into_iter().collect(),
            is_appendix: false,
        }))
    }

    /// The curves of a group of methods, and the thresholds of the aims.
    fn curves(&self, group: &Group) -> Result<Option<(Figure, Option<Sheet>)>> {
        let first = &self.methods[group.methods[0]];
        let Some(probabilities) = first.tested_probabilities(self.folds) else { return Ok(None) };
        let known = |at: &usize| self.methods[*at].details.as_ref();
        let details = group.methods.iter().find_map(known);
        let thresholds: &[AimThresholds] = details.map_or(&[], |of| &of.thresholds);
        let of_aim = |aim: &str| thresholds.iter().find(|of| of.aim.to_string() == aim);
        // The aims that were tested, and then others of which the thresholds are known.
        let tested: Vec<&str> =
            group.methods.iter().map(|&at| aim_of(&self.methods[at].name).1).collect();
        let known = thresholds.iter().map(|of| of.aim.to_string());
        let others: Vec<String> = known.filter(|aim| !tested.contains(&&aim[..])).collect();
        let aims: Vec<String> =
            tested.iter().map(|aim| aim.to_string()).chain(others.iter().cloned()).collect();

        let curve = |&label: &LabelId| -> Result<LabelCurve> {
            let at_threshold = |aim: &str| mean_threshold(of_aim(aim)?, label);
            let of_tested = tested.iter().zip(&group.methods).map(|(aim, &method)| {
                let of = self.measures(method).by_label[label.0];
                point(of.counts.true_positives, of.counts.false_positives, of.support)
                    .map(|it| AimPoint { threshold: at_threshold(aim), ..it })
            });
            let of_others = others.iter().map(|aim| {
                let by_fold = &of_aim(aim)?.by_fold;
                let (mut n_right, mut n_wrong) = (0, 0);
                for (row, &(_, fold)) in self.rows.iter().enumerate() {
                    let p = probabilities[row * self.truth.n_labels() + label.0];
                    let is_given =
                        by_fold.get(fold)?[label.0].is_some_and(|threshold| p >= threshold);
                    match self.truth.cell(row, label).filter(|_| is_given) {
                        Some(true) => n_right += 1,
                        Some(false) => n_wrong += 1,
                        None => {}
                    }
                }
                let support = self.pooled[0].by_label[label.0].support;
                let found = point(n_right, n_wrong, support)?;
                Some(AimPoint { threshold: at_threshold(aim), ..found })
            });
            let of = &self.measures(group.methods[0]).by_label[label.0];
            let n_rows = of.counts.true_positives + of.counts.n_wrong() + of.true_negatives;
            Ok(LabelCurve {
                name: self.name(label).into(),
                share_relevant: of.support as f64 / n_rows.max(1) as f64,
                average_precision: of.average_precision,
                curve: PrecisionRecall::curve(&self.truth, &probabilities, label)?,
                aims: of_tested.chain(of_others).collect(),
            })
        };
        let labels = self.commonest.iter().take(MAX_CURVES).map(curve);
        let labels = labels.collect::<Result<Vec<LabelCurve>>>()?;
        let (slug, chosen) = (slug(group.name), self.chosen(MAX_CURVES));
        let id = format!("precision-recall-{slug}");
        let figure = figure::precision_recall(id, group.name, &labels, &aims, &chosen);
        let sheet = (!thresholds.is_empty()).then(|| self.thresholds_sheet(group, thresholds));
        Ok(figure.map(|figure| (figure, sheet)))
    }

    fn thresholds_sheet(&self, group: &Group, thresholds: &[AimThresholds]) -> Sheet {
        let row = |&label: &LabelId| {
            let cell = |of: &AimThresholds| match mean_threshold(of, label) {
                None => SheetCell::words("never given"),
                Some(mean) => {
                    let found: Vec<f64> = of.by_fold.iter().filter_map(|it| it[label.0]).collect();
                    let least = found.iter().copied().fold(f64::INFINITY, f64::min);
                    let most = found.iter().copied().fold(0.0, f64::max);
                    let (n, of) = (found.len(), of.by_fold.len());
                    let source = format!("in {n} of {of} folds, from {least:.3} to {most:.3}");
                    let text =
                        if n < of { format!("{mean:.3} ({n})") } else { format!("{mean:.3}") };
                    SheetCell::number(mean, text, source)
                }
            };
            SheetRow::new(self.name(label), thresholds.iter().map(cell).collect())
        };
        let names = thresholds.iter().map(|of| of.aim.to_string());
        Sheet {
            id: format!("thresholds-{}", slug(group.name)),
            caption: format!(
                "{}: from which probability on aims give {}, mean over folds; in brackets in how many, \
                 where a label is not given in all",
                group.name,
                self.chosen(MAX_ROWS)
            ),
            columns: columns("Label", names),
            rows: self.commonest.iter().take(MAX_ROWS).map(row).collect(),
        }
    }

    /// Which label was decided when, for each method that chooses an order for each row.
    fn orders_section(&self) -> Option<Section> {
        let (mut figures, mut sheets) = (Vec::new(), Vec::new());
        for group in &self.groups {
            let known = |&at: &usize| self.methods[at].details.as_ref()?.orders.as_ref();
            let Some(counts) = group.methods.iter().find_map(known) else { continue };
            let earliest = earliest_first(counts);
            let shown = earliest.iter().take(MAX_ORDERED);
            let labels: Vec<(LabelId, &str)> =
                shown.map(|&label| (label, self.name(label))).collect();
            let (id, n) = (format!("orders-{}", slug(group.name)), earliest.len());
            let chosen = format!("the earliest {MAX_ORDERED} of {n} labels");
            figures.extend(figure::orders(id, group.name, counts, &labels, &chosen));
            sheets.push(self.orders_sheet(group, counts, &earliest));
        }
        (!figures.is_empty()).then(|| Section {
            id: "orders".into(),
            title: "Orders".into(),
            text: vec![
                "In which order the labels of a row were decided, where a method chooses it for each row \
                 and member."
                    .into(),
            ],
            figures,
            sheets,
            is_appendix: false,
        })
    }

    /// Which inputs matter to methods that say so.
    fn importance_section(&self) -> Option<Section> {
        let mut figures = Vec::new();
        for group in &self.groups {
            let known = |&at: &usize| {
                let details = self.methods[at].details.as_ref()?;
                Some((details.importance.as_ref()?, details.importance_measure))
            };
            let Some((importance, measure)) = group.methods.iter().find_map(known) else {
                continue;
            };
            // Rows made of bags have inputs of their own, in each fold others.
            if importance.len() != self.data.n_features() {
                continue;
            }
            let names = self.data.attributes().iter().map(|attribute| attribute.name.as_str());
            let mut inputs: Vec<(&str, f64)> = names.zip(importance.iter().copied()).collect();
            inputs.sort_by(|a, b| b.1.total_cmp(&a.1));
            let n = inputs.len();
            inputs.truncate(MAX_BARS);
            let mut chosen = if n > MAX_BARS {
                format!("the {MAX_BARS} greatest of {n} inputs")
            } else {
                "all inputs".into()
            };
            if self.folds.n_folds() > 1 {
                chosen += ", mean over folds";
            }
            let id = format!("importance-{}", slug(group.name));
            figures.extend(figure::importance(id, group.name, &inputs, measure, &chosen));
        }
        (!figures.is_empty()).then(|| Section {
            id: "inputs".into(),
            title: "Inputs".into(),
            text: vec!["Which inputs matter to the forest, whatever the label.".into()],
            figures,
            sheets: Vec::new(),
            is_appendix: false,
        })
    }

    fn orders_sheet(&self, group: &Group, counts: &OrderCounts, earliest: &[LabelId]) -> Sheet {
        let n_walks = counts.n_walks().max(1) as f64;
        let row = |&label: &LabelId| {
            let n_first = counts.n_first(label);
            let share = n_first as f64 / n_walks;
            let text = format!("{:.1} %", 100.0 * share);
            let first = SheetCell::number(share, text, format!("{n_first} of {n_walks} walks"));
            let mean = counts.mean_position(label).unwrap_or(0.0);
            let mean = SheetCell::number(mean, format!("{mean:.2}"), String::new());
            SheetRow::new(self.name(label), vec![first, mean])
        };
        Sheet {
            id: format!("orders-table-{}", slug(group.name)),
            caption: format!("{}: how often each label was decided first, and when", group.name),
            columns: columns("Label", ["First", "Mean place"].map(String::from)),
            rows: earliest.iter().take(MAX_ROWS).map(row).collect(),
        }
    }

    /// Figures and tables of the methods that do not lead; none where there is no other.
    fn others(&self, lead: usize) -> Result<Option<Section>> {
        let (mut figures, mut sheets) = (Vec::new(), Vec::new());
        for method in (0..self.methods.len()).filter(|&method| method != lead) {
            figures.extend(self.answers_figure(method));
            sheets.push(self.labels_sheet(method));
        }
        let of_lead = self.group_of(lead).name;
        for group in self.groups.iter().filter(|group| group.name != of_lead) {
            if let Some((figure, sheet)) = self.curves(group)? {
                figures.push(figure);
                sheets.extend(sheet);
            }
        }
        Ok((!sheets.is_empty()).then(|| Section {
            id: "others".into(),
            title: "The other methods".into(),
            text: Vec::new(),
            figures,
            sheets,
            is_appendix: true,
        }))
    }
}

/// The names of a method and of its aim, of which `votes` is not written.
fn aim_of(name: &str) -> (&str, &str) {
    name.split_once('@').unwrap_or((name, "votes"))
}

fn columns(first: &str, others: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_string()).chain(others).collect()
}

fn whole(n: usize) -> SheetCell {
    SheetCell::number(n as f64, n.to_string(), String::new())
}

fn number(value: Option<f64>) -> SheetCell {
    match value {
        Some(value) => SheetCell::number(value, format!("{value:.3}"), String::new()),
        None => SheetCell::words("–"),
    }
}

fn measures_of(
    (ranking, calibration): &(crate::loss::Ranking, crate::loss::Calibration),
) -> Vec<Measure> {
    ranking.measures().into_iter().chain(calibration.measures()).collect()
}

/// Precision and recall where something is given.
fn point(n_right: usize, n_wrong: usize, support: usize) -> Option<AimPoint> {
    (n_right + n_wrong > 0).then(|| AimPoint {
        threshold: None,
        precision: n_right as f64 / (n_right + n_wrong) as f64,
        recall: n_right as f64 / support.max(1) as f64,
    })
}

/// The mean over the folds in which the label is given.
fn mean_threshold(of: &AimThresholds, label: LabelId) -> Option<f64> {
    let found: Vec<f64> = of.by_fold.iter().filter_map(|fold| fold[label.0]).collect();
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

/// Labels by their mean position.
fn earliest_first(counts: &OrderCounts) -> Vec<LabelId> {
    let mut labels: Vec<LabelId> = (0..counts.n_labels()).map(LabelId).collect();
    let position = |label: LabelId| counts.mean_position(label).unwrap_or(0.0);
    labels.sort_by(|&a, &b| position(a).total_cmp(&position(b)));
    labels
}

/// How the numbers were computed.
fn procedure(cut: &str, has_folds: bool) -> Vec<String> {
    let mut sentences = vec![
        format!(
            "{cut}. Everything is learned from the training rows of {} alone: members, what turns scores \
             into probabilities, and thresholds.",
            if has_folds { "a fold" } else { "the cut" }
        ),
        "The baseline gives every row the labels that are relevant to more than half of the training rows \
         or, if there is none, the most frequent one; its probabilities are the labels' shares of the \
         training rows."
            .into(),
        "Main losses are Hamming, zero-one, and one minus the F1 of rows, labels and all cells. The method \
         with the least mean rank by them leads, and is described label by label; of equals, the first."
            .into(),
        format!(
            "Measures of labels and of probabilities, curves and counts rest on all tested rows together.{}",
            if has_folds {
                " The macro AUC of the baseline is below one half: a fold with more relevant rows to test \
                 has fewer to learn from, and so lower probabilities."
            } else {
                ""
            }
        ),
        "Calibration error: cells in fifteen bins of equal width by their probability; the mean distance of \
         a bin's mean probability from its share of relevant cells."
            .into(),
    ];
    if has_folds {
        sentences.insert(
            1,
            "Losses are means over folds. Their standard deviation says how much folds differ; because \
             folds share most of their training rows, it does not say how far a mean may be from the truth, \
             and no test of significance is made of it. To compare methods, use several data sets."
                .into(),
        );
    }
    sentences
}
