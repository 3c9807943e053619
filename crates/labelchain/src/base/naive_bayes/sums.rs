//! What a model was made from, kept so that further rows can be added to it.
//!
//! Naive Bayes learns from counts and sums: rows by class, cells by value, Σx and Σx² of each class.
//! Those of all rows are those of the old rows with the new ones added, in the same order as if all
//! had been there at once, so that even the rounding is the same.
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
use super::{NaiveBayesModel, density, groups, normals, precision};
use crate::chain::FurtherRows;
use crate::data::{Dataset, LabelId};
use crate::prepare::{LabelView, Prepared};

/// The counts and sums of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sums {
    /// For each label, its irrelevant and its relevant rows.
    classes: Vec<[f64; 2]>,
    /// Beside each factor of the model, what it was made from.
    inputs: Vec<Vec<InputSums>>,
    /// How often labels occur together; none where they are decided independently.
    pairs: Option<PairCounts>,
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
                for moments in [Some(all), is_relevant.then_some(relevant)].into_iter().flatten() {
                    moments.n += 1.0;
                    moments.add_to_sums(cell);
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
        let are_counts = |counts: &[f64]| counts.iter().all(|n| n.is_finite() && *n >= 0.0);
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
        for (column, factors) in model.factors.inputs().iter().enumerate() {
            for (label, factor) in factors.labels().zip(model.factors.of(column)) {
                let rows = &model.views[label.0].rows[..];
                let found = precisions.iter().find(|(of, _)| *of == rows)?;
                inputs[column].push(InputSums::none_of(&factor, found.1[column])?);
            }
        }
        let mut sums = Sums { classes, inputs, pairs };
        sums.add_cells(model, train.data(), &model.views);
        Some(sums)
    }

    /// Adds the cells of the rows that each label learns from, in their order.
    fn add_cells(&mut self, model: &NaiveBayesModel, data: &Dataset, views: &[LabelView]) {
        let (features, labels) = (data.features(), data.labels());
        let inputs = model.factors.inputs().iter().zip(&mut self.inputs);
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
            && self.inputs.len() == model.factors.n_inputs()
            && self.inputs.iter().enumerate().all(fits)
            && self.pairs.as_ref().is_none_or(|pairs| pairs.fits(model.n_labels))
    }
}

impl NaiveBayesModel {
    /// The model of its rows and further ones; none where it does not keep its sums.
    pub(super) fn with_rows(&self, further: &FurtherRows) -> Option<NaiveBayesModel> {
        let &FurtherRows { data, rows, views, n_before, .. } = further;
        let mut sums = self.sums.clone()?;
        sums.add_cells(self, data, views);
        for (label, (classes, view)) in sums.classes.iter_mut().zip(views).enumerate() {
            for &row in view.rows.iter() {
                classes[usize::from(data.labels().get(row, LabelId(label)))] += 1.0;
            }
        }
        if let Some(pairs) = &mut sums.pairs {
            *pairs = pairs.plus(&PairCounts::of(data.labels(), &groups(views, rows)));
        }
        let mut model = NaiveBayesModel { sums: None, ..self.clone() };
        let updated = |(input, factors): (usize, &InputFactors)| {
            let (likes, zero) = (self.factors.of(input), self.factors.zero()[input]);
            let sums = sums.inputs[input].iter().zip(likes);
            let updated = sums.map(|(sums, like)| sums.factor(&like, zero));
            InputFactors::new(factors.labels().zip(updated).collect())
        };
        let inputs = self.factors.inputs().iter().enumerate().map(updated).collect();
        model.factors = self.factors.with_inputs(inputs);
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
