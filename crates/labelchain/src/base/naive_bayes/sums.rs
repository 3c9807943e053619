//! What a model was made from, kept so that further rows can be added to it.
//!
//! Naive Bayes learns from counts and sums: rows by class, cells by value, Σx and Σx² of each class.
//! Those of all rows are those of the old rows with the new ones added, in the same order as if all
//! had been there at once, so that even the rounding is the same.
//!
//! A label that comes with further rows is irrelevant to all rows before, whose cells were therefore also summed
//! up whatever their labels. It looks at every input that some label looks at.
//!
//! Three things are no sums, and stay as training found them: which inputs a label selected; the
//! precision of a column, which is the mean gap between its distinct values; and whether a column is
//! so coarse that cells are weighed by the mass of their rounding interval.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::co_occurrence::PairCounts;
use super::density::{Factor, Rounding, presence};
use super::factors::InputFactors;
use super::moments::Moments;
use super::{
    Likelihood, NaiveBayesModel, base, density, groups, normals, numeric_factor, precision,
};
use crate::chain::FurtherRows;
use crate::data::{AttributeKind, Dataset, LabelId};
use crate::prepare::{LabelView, Prepared, Spread};

/// The counts and sums of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    /// For each label, its irrelevant and its relevant rows.
    classes: Vec<[f64; 2]>,
    /// Beside each factor of the model, what it was made from.
    inputs: Vec<Vec<InputSums>>,
    /// How often labels occur together; none where they are decided independently.
    pairs: Option<PairCounts>,
    /// For each input that some label uses, its cells in all rows fitted on, for labels that are yet to come.
    columns: Vec<Option<ColumnSums>>,
}

/// The cells of an input in some rows, summed up for whatever a label may make of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ColumnSums {
    /// Numbers, as they are and rounded to the precision of the column; the range is that of the first training.
    Numbers { plain: Moments, rounded: Moments, precision: f64, range: (f64, f64) },
    /// How often each value occurs.
    Values(Vec<f64>),
    /// How many texts lack a word, and how many have it.
    Word([f64; 2]),
}

impl ColumnSums {
    /// Of no cells.
    fn none_of(kind: &AttributeKind, spread: impl FnOnce() -> Spread) -> ColumnSums {
        let none = Moments::default();
        match kind {
            AttributeKind::Nominal(values) => ColumnSums::Values(vec![0.0; values.len()]),
            AttributeKind::Word => ColumnSums::Word([0.0; 2]),
            _ => {
                let (precision, range) = precision(spread());
                ColumnSums::Numbers { plain: none, rounded: none, precision, range }
            }
        }
    }

    /// Of no cells of the same input.
    fn none_alike(&self) -> ColumnSums {
        let none = Moments::default();
        match self {
            &ColumnSums::Numbers { precision, range, .. } => {
                ColumnSums::Numbers { plain: none, rounded: none, precision, range }
            }
            ColumnSums::Values(counts) => ColumnSums::Values(vec![0.0; counts.len()]),
            ColumnSums::Word(_) => ColumnSums::Word([0.0; 2]),
        }
    }

    /// Adds cells that are not missing, where a cell of 0 stands for `zero`.
    fn add(&mut self, cells: impl Iterator<Item = f64>, zero: f64) {
        match self {
            ColumnSums::Numbers { plain, rounded, precision, .. } => {
                let rounding = Rounding::new(*precision, zero);
                for cell in cells {
                    plain.add(cell);
                    rounded.add(rounding.rounded(cell));
                }
            }
            ColumnSums::Values(counts) => {
                let places = cells.map(|cell| cell as usize);
                places.for_each(|at| counts.get_mut(at).into_iter().for_each(|n| *n += 1.0));
            }
            ColumnSums::Word(counts) => cells.for_each(|cell| counts[presence(cell)] += 1.0),
        }
    }

    /// The factor of a label of which these are all cells, and what it is made from. Of the same input, `relevant`
    /// are the cells in rows to which the label is relevant; none if they are of another.
    fn factor(
        &self,
        relevant: &ColumnSums,
        likelihood: Likelihood,
        zero: f64,
    ) -> Option<(Factor, InputSums)> {
        let counts = |all: &[f64], relevant: &[f64]| {
            let no: Vec<f64> = all.iter().zip(relevant).map(|(all, yes)| all - yes).collect();
            (no, InputSums::Counts { all: all.to_vec(), relevant: relevant.to_vec() })
        };
        Some(match (self, relevant) {
            (
                &ColumnSums::Numbers { plain, rounded, precision, range },
                ColumnSums::Numbers { plain: plain_yes, rounded: rounded_yes, .. },
            ) => {
                let rounding = Rounding::new(precision, zero);
                let classes = |all: &Moments, yes: &Moments| (all.minus(yes), *yes);
                let of_plain = || classes(&plain, plain_yes);
                let of_rounded = || classes(&rounded, rounded_yes);
                let factor = numeric_factor(likelihood, of_plain, of_rounded, &rounding, range);
                let (all, relevant) = match factor {
                    Factor::Density { .. } => (plain, *plain_yes),
                    _ => (rounded, *rounded_yes),
                };
                (factor, InputSums::Moments { all, relevant, precision })
            }
            (ColumnSums::Values(all), ColumnSums::Values(yes)) => {
                let (no, sums) = counts(all, yes);
                (Factor::category(&no, yes), sums)
            }
            (ColumnSums::Word(all), ColumnSums::Word(yes)) => {
                let (no, sums) = counts(all, yes);
                (Factor::presence(&no, yes), sums)
            }
            _ => return None,
        })
    }

    /// Whether they are sums, as they are unless they were decoded.
    fn is_sound(&self) -> bool {
        match self {
            // The range of no cells is from infinity to minus infinity.
            ColumnSums::Numbers { plain, rounded, precision, range: _ } => {
                precision.is_finite() && plain.is_finite() && rounded.is_finite()
            }
            ColumnSums::Values(counts) => are_counts(counts),
            ColumnSums::Word(counts) => are_counts(counts),
        }
    }
}

fn are_counts(counts: &[f64]) -> bool {
    counts.iter().all(|n| n.is_finite() && *n >= 0.0)
}

/// What one factor was made from, in all rows of its label and in those to which it is relevant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum InputSums {
    /// Of a numeric input, whose cells are rounded first where the factor weighs rounded cells. A
    /// deviation is at least a sixth of the precision.
    Moments { all: Moments, relevant: Moments, precision: f64 },
    /// Of a nominal input, by value.
    Counts { all: Vec<f64>, relevant: Vec<f64> },
}

impl InputSums {
    /// Of no rows; none for factors that are made from more than sums: bins are cut, and kernels
    /// placed, by all cells together.
    fn none_of(factor: &Factor, precision: f64) -> Option<InputSums> {
        let none = Moments::default();
        match factor {
            Factor::Density { .. } => {
                Some(InputSums::Moments { all: none, relevant: none, precision })
            }
            Factor::Mass { precision, .. } => {
                Some(InputSums::Moments { all: none, relevant: none, precision: *precision })
            }
            Factor::Category(values) => Some(InputSums::none_of_values(values.len())),
            Factor::Presence(values) => Some(InputSums::none_of_values(values.len())),
            Factor::Binned { .. } | Factor::Kernels { .. } => None,
        }
    }

    fn none_of_values(n_values: usize) -> InputSums {
        let none = vec![0.0; n_values];
        InputSums::Counts { all: none.clone(), relevant: none }
    }

    /// Adds a cell that is not missing, rounded where the factor weighs rounded cells.
    fn add(&mut self, cell: f64, is_relevant: bool, rounding: Option<&Rounding>) {
        match self {
            InputSums::Moments { all, relevant, .. } => {
                let cell = rounding.map_or(cell, |rounding| rounding.rounded(cell));
                all.add(cell);
                if is_relevant {
                    relevant.add(cell);
                }
            }
            InputSums::Counts { all, relevant } => {
                // A value that was not declared has no place, and says nothing.
                if let (Some(all), Some(relevant)) =
                    (all.get_mut(cell as usize), relevant.get_mut(cell as usize))
                {
                    *all += 1.0;
                    *relevant += f64::from(u8::from(is_relevant));
                }
            }
        }
    }

    /// The factor that these sums make, of the kind of another, where a cell of 0 stands for `zero`.
    fn factor(&self, like: &Factor, zero: f64) -> Factor {
        match self {
            InputSums::Moments { all, relevant, precision } => {
                let classes = (all.minus(relevant), *relevant);
                if let Factor::Density { .. } = like {
                    return density(classes, *precision, zero);
                }
                let zero = Rounding::new(*precision, zero).zero();
                let [irrelevant, relevant] = normals(classes, *precision, zero);
                like.with_normals(irrelevant, relevant)
            }
            InputSums::Counts { all, relevant } => {
                let no: Vec<f64> = all.iter().zip(relevant).map(|(all, yes)| all - yes).collect();
                match like {
                    Factor::Presence(_) => Factor::presence(&no, relevant),
                    _ => Factor::category(&no, relevant),
                }
            }
        }
    }

    /// Whether it can have made a factor, as it has unless it was decoded.
    fn fits(&self, factor: &Factor) -> bool {
        let is_sound = match self {
            InputSums::Moments { all, relevant, precision } => {
                precision.is_finite() && [all, relevant].iter().all(|of| of.is_finite())
            }
            InputSums::Counts { all, relevant } => are_counts(all) && are_counts(relevant),
        };
        is_sound
            && match (self, factor) {
                (InputSums::Moments { .. }, Factor::Density { .. } | Factor::Mass { .. }) => true,
                (InputSums::Counts { all, relevant }, Factor::Category(values)) => {
                    [all.len(), relevant.len()] == [values.len(); 2]
                }
                (InputSums::Counts { all, relevant }, Factor::Presence(values)) => {
                    [all.len(), relevant.len()] == [values.len(); 2]
                }
                _ => false,
            }
    }
}

impl Sums {
    /// Those of a model that was fitted to some rows; none where it is made from more than sums.
    pub(super) fn of(
        model: &NaiveBayesModel,
        train: &Prepared,
        rows: &[usize],
        classes: Vec<[f64; 2]>,
        pairs: Option<PairCounts>,
    ) -> Option<Sums> {
        let n_inputs = model.factors.n_inputs();
        let mut inputs: Vec<Vec<InputSums>> = Vec::with_capacity(n_inputs);
        inputs.resize_with(n_inputs, Vec::new);
        // Labels that learn from the same rows share the precision of a column.
        let mut precisions: Vec<(&[usize], Vec<f64>)> = Vec::new();
        for view in model.views.iter().filter(|view| !view.rows.is_empty()) {
            if !precisions.iter().any(|(rows, _)| *rows == &view.rows[..]) {
                let spread = train.spreads(&view.rows);
                let is_numeric =
                    |column: usize| train.data().attributes()[column].values().is_none();
                let of = |at| if is_numeric(at) { precision(spread(at)).0 } else { 0.0 };
                precisions.push((&view.rows, (0..n_inputs).map(of).collect()));
            }
        }
        for (column, factors) in model.factors.inputs().enumerate() {
            for (label, factor) in factors.labels().zip(model.factors.of(column)) {
                let rows = &model.views[label.0].rows[..];
                let found = precisions.iter().find(|(of, _)| *of == rows)?;
                inputs[column].push(InputSums::none_of(&factor, found.1[column])?);
            }
        }
        let spread = train.spreads(rows);
        let mut columns = Vec::with_capacity(inputs.len());
        for (column, attribute) in train.data().attributes().iter().enumerate() {
            let is_used = model.factors.input(column).len() > 0;
            columns.push(is_used.then(|| {
                let mut sums = ColumnSums::none_of(&attribute.kind, || spread(column));
                sums.add(cells(train.data(), column, rows), model.factors.zero()[column]);
                sums
            }));
        }
        let mut sums = Sums { classes, inputs, pairs, columns };
        sums.add_cells(model, train.data(), &model.views);
        Some(sums)
    }

    /// Makes room for values that nominal inputs of other rows have besides those that were known.
    fn make_room_for_values(&mut self, data: &Dataset) {
        for ((column, of_labels), attribute) in
            self.columns.iter_mut().zip(&mut self.inputs).zip(data.attributes())
        {
            let Some(n_values) = attribute.values().map(<[String]>::len) else { continue };
            if let Some(ColumnSums::Values(counts)) = column {
                counts.resize(n_values.max(counts.len()), 0.0);
            }
            for sums in of_labels {
                if let InputSums::Counts { all, relevant } = sums {
                    let n_values = n_values.max(all.len());
                    [all, relevant].into_iter().for_each(|of| of.resize(n_values, 0.0));
                }
            }
        }
    }

    /// The factors of the labels that further rows have besides those of a model, by input; what they are made
    /// from is added here, and so are the cells of the rows.
    fn add_labels(&mut self, model: &NaiveBayesModel, further: &FurtherRows) -> Vec<Vec<Factor>> {
        let &FurtherRows { data, rows, views, rows_before, settings, .. } = further;
        let likelihood = settings.get(&base::LIKELIHOOD);
        let mut factors = vec![Vec::new(); self.columns.len()];
        for (column, sums) in self.columns.iter_mut().enumerate() {
            let (Some(sums), zero) = (sums, model.factors.zero()[column]) else { continue };
            let new = (model.n_labels..).map(LabelId).zip(&views[model.n_labels..]);
            for ((label, view), before) in new.zip(rows_before) {
                let is_relevant = |row: &usize| data.labels().get(*row, label);
                let yes: Vec<usize> = view.rows.iter().copied().filter(is_relevant).collect();
                let mut relevant = sums.none_alike();
                relevant.add(cells(data, column, &yes), zero);
                let mut all = if before.is_empty() { sums.none_alike() } else { sums.clone() };
                all.add(cells(data, column, &view.rows), zero);
                if let Some((factor, made_from)) = all.factor(&relevant, likelihood, zero) {
                    factors[column].push(factor);
                    self.inputs[column].push(made_from);
                }
            }
            sums.add(cells(data, column, rows), zero);
        }
        let is_whole = rows_before.iter().map(|before| !before.is_empty());
        self.pairs = self.pairs.take().map(|pairs| pairs.with_new_labels(is_whole));
        self.classes.extend(rows_before.iter().map(|before| [before.len() as f64, 0.0]));
        factors
    }

    /// Adds the cells of the rows that each label learns from, in their order.
    fn add_cells(&mut self, model: &NaiveBayesModel, data: &Dataset, views: &[LabelView]) {
        let (features, labels) = (data.features(), data.labels());
        let inputs = model.factors.inputs().zip(&mut self.inputs);
        for (column, (factors, sums)) in inputs.enumerate() {
            let zero = model.factors.zero()[column];
            for ((label, factor), sums) in factors.labels().zip(model.factors.of(column)).zip(sums)
            {
                let rounding = match &*factor {
                    Factor::Mass { precision, .. } => Some(Rounding::new(*precision, zero)),
                    _ => None,
                };
                for &row in views[label.0].rows.iter() {
                    let cell = features.get(row, column);
                    let cell = match &*factor {
                        Factor::Presence(_) => presence(cell) as f64,
                        _ => cell,
                    };
                    if !cell.is_nan() {
                        sums.add(cell, labels.get(row, label), rounding.as_ref());
                    }
                }
            }
        }
    }

    /// The sums of these inputs and then those of others, of the same rows.
    pub(super) fn concat_columns(mut self, others: Sums) -> Sums {
        self.inputs.extend(others.inputs);
        self.columns.extend(others.columns);
        self
    }

    /// Whether they are those of a model, as they are unless they were decoded.
    pub(super) fn fit(&self, model: &NaiveBayesModel) -> bool {
        let fits = |(input, sums): (usize, &Vec<InputSums>)| {
            let factors = model.factors.of(input);
            factors.len() == sums.len()
                && factors.iter().zip(sums).all(|(factor, sums)| sums.fits(factor))
        };
        self.classes.len() == model.n_labels
            && model.factors.are_of_classes(&self.classes)
            && [self.inputs.len(), self.columns.len()] == [model.factors.n_inputs(); 2]
            && self.inputs.iter().enumerate().all(fits)
            && self.columns.iter().flatten().all(ColumnSums::is_sound)
            && self.pairs.as_ref().is_none_or(|pairs| pairs.fits(&self.classes))
    }
}

/// The cells of a column in some rows, without those that are missing.
fn cells(data: &Dataset, column: usize, rows: &[usize]) -> impl Iterator<Item = f64> {
    let features = data.features();
    rows.iter().map(move |&row| features.get(row, column)).filter(|cell| !cell.is_nan())
}

impl NaiveBayesModel {
    /// The model of its rows and further ones; none where it does not keep its sums.
    pub(super) fn with_rows(&self, further: &FurtherRows) -> Option<NaiveBayesModel> {
        let &FurtherRows { data, rows, views, rows_before, n_before, .. } = further;
        let n_labels = data.n_labels();
        if [views.len(), self.n_labels + rows_before.len()] != [n_labels; 2] {
            return None;
        }
        // Nothing else looks at the sums, so that those of a file are asked here whether they fit.
        let mut sums = self.sums.as_ref().filter(|sums| sums.fit(self))?.clone();
        sums.make_room_for_values(data);
        sums.add_cells(self, data, views);
        let new_factors = sums.add_labels(self, further);
        for (label, (classes, view)) in sums.classes.iter_mut().zip(views).enumerate() {
            for &row in view.rows.iter() {
                classes[usize::from(data.labels().get(row, LabelId(label)))] += 1.0;
            }
        }
        if let Some(pairs) = &mut sums.pairs {
            *pairs = pairs.plus(&PairCounts::of(data.labels(), &groups(views, rows)));
        }
        let updated = |((input, factors), new): ((usize, &InputFactors), Vec<Factor>)| {
            let (likes, zero) = (self.factors.of(input), self.factors.zero()[input]);
            let sums = sums.inputs[input].iter().zip(likes);
            let updated = sums.map(|(sums, like)| sums.factor(&like, zero));
            let new = (self.n_labels..).map(LabelId).zip(new);
            InputFactors::new(factors.labels().zip(updated).chain(new).collect())
        };
        let inputs = self.factors.inputs().enumerate().zip(new_factors).map(updated);
        let factors = self.factors.with_inputs(inputs.collect(), &sums.classes);
        let mut model = NaiveBayesModel { sums: None, n_labels, factors, ..self.clone() };
        let features: Arc<[usize]> =
            (0..sums.columns.len()).filter(|&at| sums.columns[at].is_some()).collect();
        let before = rows_before.iter().map(Arc::clone);
        let new_views = before.map(|rows| LabelView { rows, features: Arc::clone(&features) });
        model.views.extend(new_views);
        model.prior = super::prior(&sums.classes);
        model.baseline = model.factors.baseline(&model.prior);
        if let Some(pairs) = &sums.pairs {
            model.co_occurrence = pairs.table(&sums.classes);
        }
        // Labels that learn from the same rows go on sharing the list of them.
        let mut joined: Vec<[Arc<[usize]>; 3]> = Vec::new();
        for (view, new) in model.views.iter_mut().zip(views) {
            let is_same = |[old, more, _]: &&[Arc<[usize]>; 3]| {
                Arc::ptr_eq(old, &view.rows) && Arc::ptr_eq(more, &new.rows)
            };
            let known = joined.iter().find(is_same).map(|[.., both]| Arc::clone(both));
            view.rows = known.unwrap_or_else(|| {
                let more = new.rows.iter().map(|row| n_before + row);
                let both: Arc<[usize]> = view.rows.iter().copied().chain(more).collect();
                joined.push([&view.rows, &new.rows, &both].map(Arc::clone));
                both
            });
        }
        model.sums = Some(sums);
        Some(model)
    }
}
