//! What each input says about each of the labels that use it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::counted::{CountedInput, LabelRows, LogOddsTables};
use super::density::{Factor, presence};
use super::quadratics::Quadratics;
use super::{Likelihood, add_to_labels, whole_numbers};
use crate::data::LabelId;
use crate::decode::DecodeBudget;
use crate::error::Result;
use crate::pieces::{PieceFile, PieceWriter, Pieces, ReadBlocks};
use crate::prepare::LabelView;

/// The factors of all inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Factors {
    /// By input. A file has them as pieces, because a row of words needs those of few inputs.
    #[serde(skip)]
    inputs: Pieces<InputFactors>,
    /// The standardized value of a cell that a sparse row does not store; the same for all members.
    #[serde(skip)]
    zero: Arc<[f64]>,
    /// What the factors of counted inputs follow from, beside their counts.
    likelihood: Likelihood,
    label_rows: LabelRows,
    /// What dense rows without missing cells are multiplied with, once the first of them are scored.
    #[serde(skip)]
    quadratics: OnceLock<Quadratics>,
}

/// The factors of one input, ascending by label.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum InputFactors {
    /// An input of two values follows from counts.
    Counted(CountedInput),
    /// Where cells are missing, or further rows may come, an input of two names has two numbers for each
    /// label.
    TwoValued {
        labels: Vec<u32>,
        log_odds: Vec<[f64; 2]>,
        /// Whether the cell is the weight of a word, and only counts by being there.
        is_word: bool,
    },
    /// Any others.
    Others(Vec<(LabelId, Factor)>),
}

impl InputFactors {
    /// The factors of some labels, ascending.
    pub(super) fn new(factors: Vec<(LabelId, Factor)>) -> InputFactors {
        let is_word = matches!(factors.first(), Some((_, Factor::Presence(_))));
        let pair = |factor: &Factor| match factor {
            Factor::Presence(values) if is_word => Some(*values),
            Factor::Category(values) if !is_word => <[f64; 2]>::try_from(&values[..]).ok(),
            _ => None,
        };
        let pairs: Option<Vec<[f64; 2]>> = factors.iter().map(|(_, factor)| pair(factor)).collect();
        match pairs {
            Some(log_odds) => {
                let labels = factors.iter().map(|(label, _)| label.0 as u32).collect();
                InputFactors::TwoValued { labels, log_odds, is_word }
            }
            None => InputFactors::Others(factors),
        }
    }

    /// How many labels use the input.
    pub(super) fn len(&self) -> usize {
        match self {
            InputFactors::Counted(input) => input.users().len(),
            InputFactors::TwoValued { labels, .. } => labels.len(),
            InputFactors::Others(factors) => factors.len(),
        }
    }

    /// The label that a factor is about.
    pub(super) fn label(&self, at: usize) -> LabelId {
        match self {
            InputFactors::Counted(input) => input.users().label(at),
            InputFactors::TwoValued { labels, .. } => LabelId(labels[at] as usize),
            InputFactors::Others(factors) => factors[at].0,
        }
    }

    /// The labels that use the input.
    pub(super) fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        (0..self.len()).map(|at| self.label(at))
    }

    /// For each factor that has them, its label and the coefficients of [`Factor::quadratic`].
    pub(super) fn quadratics(&self) -> impl Iterator<Item = Option<(LabelId, [f64; 3])>> + '_ {
        (0..self.len()).map(|at| match self {
            InputFactors::Others(factors) => Some((factors[at].0, factors[at].1.quadratic()?)),
            _ => None,
        })
    }

    /// The bytes of all that is computed when rows ask for it.
    fn log_odds_bytes(&self) -> u64 {
        match self {
            InputFactors::Counted(counted) => counted.log_odds_bytes(),
            _ => 0,
        }
    }

    /// Whether the parts fit together and so many labels, as they do unless they come from a file.
    fn are_sound(&self, label_rows: &LabelRows) -> bool {
        let is_sound = match self {
            InputFactors::Counted(input) => return input.is_sound(label_rows),
            InputFactors::TwoValued { labels, log_odds, .. } => labels.len() == log_odds.len(),
            InputFactors::Others(factors) => factors.iter().all(|(_, factor)| factor.is_sound()),
        };
        is_sound
            && self.labels().all(|label| label.0 < label_rows.by_class.len())
            && self.labels().is_sorted_by(|a, b| a < b)
    }
}

/// Models are equal if their factors are, however they are kept.
impl PartialEq for Factors {
    fn eq(&self, other: &Factors) -> bool {
        let n_inputs = self.n_inputs();
        let of_input = |input: usize| {
            let same_labels = self.input(input).labels().eq(other.input(input).labels());
            same_labels && self.of(input) == other.of(input)
        };
        self.zero == other.zero && n_inputs == other.n_inputs() && (0..n_inputs).all(of_input)
    }
}

impl Factors {
    /// The factors of inputs whose cells of 0 stand for `zero`.
    pub(super) fn new(
        inputs: Vec<InputFactors>,
        zero: Arc<[f64]>,
        likelihood: Likelihood,
        label_rows: LabelRows,
    ) -> Factors {
        let inputs = inputs.into();
        Factors { inputs, zero, likelihood, label_rows, quadratics: OnceLock::new() }
    }

    /// The same inputs with other factors, none of them counted, for labels with so many irrelevant and
    /// relevant rows.
    pub(super) fn with_inputs(&self, inputs: Vec<InputFactors>, classes: &[[f64; 2]]) -> Factors {
        // Which labels learn from all rows matters to counted inputs only.
        let is_whole = vec![false; classes.len()];
        let label_rows = LabelRows { by_class: whole_numbers(classes), is_whole };
        Factors::new(inputs, Arc::clone(&self.zero), self.likelihood, label_rows)
    }

    /// Those of these inputs and then those of others, of the same labels and rows; none where some are still in
    /// a file.
    pub(super) fn concat_columns(self, others: Factors) -> Option<Factors> {
        let mut inputs = self.inputs.into_vec()?;
        inputs.extend(others.inputs.into_vec()?);
        let zero = [&self.zero[..], &others.zero].concat().into();
        Some(Factors::new(inputs, zero, self.likelihood, self.label_rows))
    }

    /// Writes the factors of all inputs, and returns what [`Factors::in_file`] finds them by.
    pub(super) fn write(&self, pieces: &mut PieceWriter) -> postcard::Result<[usize; 2]> {
        Ok([pieces.add(self.inputs())?, pieces.share_values(&self.zero)])
    }

    /// The same, with the factors that a file has; none if it has none.
    pub(super) fn in_file(
        self,
        [inputs, zero]: [usize; 2],
        file: &Arc<PieceFile>,
        budget: &DecodeBudget,
    ) -> Option<Factors> {
        let (inputs, zero) = (Pieces::in_file(file, inputs, budget)?, file.values(zero)?);
        Some(Factors { inputs, zero: Arc::clone(zero), ..self })
    }

    /// Reads the factors of some inputs, as far as they are still in a file.
    pub(super) fn load(
        &self,
        inputs: impl IntoIterator<Item = usize>,
        blocks: &ReadBlocks,
    ) -> Result<()> {
        self.inputs.load(inputs, blocks, |input| self.weigh(input))
    }

    /// Reads the factors of all inputs, unless they are in memory.
    pub(super) fn load_all(&self, blocks: &ReadBlocks) -> Result<()> {
        self.inputs.load_all(blocks, |input| self.weigh(input))
    }

    /// The bytes of what is computed from the factors of an input that was read; none if they are not sound.
    fn weigh(&self, input: &InputFactors) -> Option<u64> {
        input.are_sound(&self.label_rows).then(|| input.log_odds_bytes())
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// By input.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &InputFactors> {
        (0..self.n_inputs()).map(|input| self.input(input))
    }

    /// Those of one input. Whoever asks has loaded them: those that are still in a file say nothing.
    #[inline]
    pub(super) fn input(&self, input: usize) -> &InputFactors {
        static NOTHING: InputFactors = InputFactors::Others(Vec::new());
        let loaded = self.inputs.get(input);
        debug_assert!(loaded.is_some(), "input {input} was not loaded");
        loaded.unwrap_or(&NOTHING)
    }

    /// The standardized value of a cell that a sparse row does not store, by input.
    pub(super) fn zero(&self) -> &[f64] {
        &self.zero
    }

    /// The coefficients of all inputs, for labels of such log prior odds, which are always the same.
    pub(super) fn quadratics(&self, prior: &[f64]) -> &Quadratics {
        self.quadratics.get_or_init(|| Quadratics::new(self, prior, &[]))
    }

    /// What log-odds of counted inputs are computed with.
    pub(super) fn tables(&self) -> LogOddsTables<'_> {
        LogOddsTables::new(self.likelihood, &self.label_rows)
    }

    /// The factors of one input.
    pub(super) fn of(&self, input: usize) -> Vec<Cow<'_, Factor>> {
        match self.input(input) {
            InputFactors::Counted(counted) => {
                let factors = counted.factors(self.likelihood, &self.label_rows, self.zero[input]);
                factors.into_iter().map(Cow::Owned).collect()
            }
            InputFactors::TwoValued { log_odds, is_word, .. } => {
                let factor = |log_odds: &[f64; 2]| {
                    Cow::Owned(if *is_word {
                        Factor::Presence(*log_odds)
                    } else {
                        Factor::Category(log_odds.to_vec())
                    })
                };
                log_odds.iter().map(factor).collect()
            }
            InputFactors::Others(factors) => {
                factors.iter().map(|(_, factor)| Cow::Borrowed(factor)).collect()
            }
        }
    }

    /// What a cell that is not missing adds to the log-odds of each label that uses the input.
    pub(super) fn log_odds(
        &self,
        input: usize,
        cell: f64,
        tables: &mut LogOddsTables,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        match self.input(input) {
            InputFactors::Counted(counted) => {
                let zero = self.zero[input];
                match counted.value_of(cell, zero) {
                    Some(is_second) => {
                        let log_odds = counted.log_odds(zero, tables);
                        out.extend_from_slice(log_odds[usize::from(is_second)]);
                    }
                    None => out.extend(self.of(input).iter().map(|factor| factor.log_odds(cell))),
                }
            }
            InputFactors::TwoValued { log_odds, is_word, .. } => {
                let value = if *is_word { presence(cell) } else { cell as usize };
                // A value that was not declared says nothing.
                out.extend(log_odds.iter().map(|of| of.get(value).copied().unwrap_or(0.0)));
            }
            InputFactors::Others(factors) => {
                out.extend(factors.iter().map(|(_, factor)| factor.log_odds(cell)));
            }
        }
    }

    /// The log-odds of every label for a row that stores no cell.
    pub(super) fn baseline(&self, prior: &[f64]) -> Vec<f64> {
        let (mut baseline, mut log_odds) = (prior.to_vec(), Vec::new());
        let mut tables = self.tables();
        let n_rows = self.label_rows.by_class.iter().map(|[no, yes]| no + yes).max().unwrap_or(0);
        for (input, (factors, &zero)) in self.inputs().zip(&*self.zero).enumerate() {
            match factors {
                InputFactors::Counted(counted) => {
                    // Rows to come probably have inputs that many rows had, and the rows that members are calibrated by
                    // most inputs that there were. Differences are asked for where all labels use the input,
                    // and else log-odds, which take more.
                    let is_common = counted.in_whole() >= n_rows / 64;
                    let is_used_by_all = counted.users().len() == prior.len();
                    if is_common && !is_used_by_all {
                        log_odds.clear();
                        log_odds.extend_from_slice(counted.log_odds(zero, &mut tables)[0]);
                    } else {
                        tables.compute(counted, zero, &mut log_odds);
                    }
                    if counted.in_whole() > 0 && is_used_by_all {
                        counted.keep_differences(&log_odds);
                    }
                }
                _ => self.log_odds(input, zero, &mut tables, &mut log_odds),
            }
            add_to_labels(&mut baseline, factors, &log_odds[..factors.len()]);
        }
        baseline
    }

    /// Whether labels have so many irrelevant and relevant rows.
    pub(super) fn are_of_classes(&self, classes: &[[f64; 2]]) -> bool {
        let counts = self.label_rows.by_class.iter().map(|counts| counts.map(f64::from));
        counts.eq(classes.iter().copied())
    }

    /// Whether the parts fit together and what the labels learned from, as they do unless they come from a file.
    /// Factors that are still there are asked when they are read.
    pub(super) fn fit(&self, views: &[LabelView], n_features: usize) -> bool {
        let LabelRows { by_class, is_whole } = &self.label_rows;
        // Tables are as long as there are rows, so that there must not be more than the label learned from.
        let counts_rows = |(&[no, yes], view): (&[u32; 2], &LabelView)| {
            u64::from(no) + u64::from(yes) == view.rows.len() as u64
        };
        [by_class.len(), is_whole.len()] == [views.len(); 2]
            && by_class.iter().zip(views).all(counts_rows)
            && [self.inputs.len(), self.zero.len()] == [n_features; 2]
            && self.inputs.loaded().all(|input| input.are_sound(&self.label_rows))
    }
}
