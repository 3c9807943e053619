//! How far decided labels are believed: λ, chosen out of bag.

use rayon::prelude::*;

use super::ForestModel;
use super::evidence::ForestEvidence;
use super::joint::JointLaws;
use crate::chain::{Block, decide_by_certainty};
use crate::data::LabelMatrix;
use crate::error::Result;
use crate::prepare::Prepared;

/// 1 - λ from strict conditioning to none.
const TRUSTS: [f64; 7] = [1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0];

/// How many rows are asked about at most.
const MAX_ROWS: usize = 1000;

/// Rows times labels that are asked about at most. A walk takes the longer for each label, the more there are,
/// so of many hundreds of labels fewer rows are asked about.
const MAX_CELLS: usize = 1 << 18;

/// A trust, and the errors that a forest makes out of bag with it.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) trust: f64,
    pub(super) errors: Errors,
}

/// The trust of least zero-one loss when training rows are walked by certainty, each by the trees that
/// did not draw it; of equals that of least Hamming loss, of equals the greatest. Where trust is set, there is
/// nothing to choose, and the errors are those with it. At most a thousand rows are asked about, drawn at
/// random.
pub(super) fn choose(
    model: &ForestModel,
    train: &Prepared,
    rows: &[usize],
    set: Option<f64>,
) -> Result<Chosen> {
    let data = train.data();
    let mut asked = rows.to_vec();
    let n_asked = MAX_ROWS.min(MAX_CELLS.div_ceil(data.n_labels().max(1)));
    if asked.len() > n_asked {
        model.seed.child("trust", 0).rng().shuffle(&mut asked);
        asked.truncate(n_asked);
        asked.sort_unstable();
    }
    let block = Block { out_of_bag: true, ..Block::of(data.features(), &asked) };
    let laws = JointLaws::new(model, &block);
    let trusts = set.map_or(TRUSTS.to_vec(), |trust| vec![trust]);
    let errors = |(row, law): (&usize, &Vec<_>)| -> Result<Vec<Errors>> {
        train.cancel().check()?;
        let start = ForestEvidence::new(&model.sets, law, 1.0);
        let with = |trust: &f64| start.clone().keeping(1.0 - trust);
        Ok(trusts.iter().map(|trust| count_errors(with(trust), data.labels(), *row)).collect())
    };
    let add = |mut sums: Vec<Errors>, more: Vec<Errors>| {
        for ((rows, labels), (more_rows, more_labels)) in sums.iter_mut().zip(more) {
            *rows += more_rows;
            *labels += more_labels;
        }
        Ok(sums)
    };
    let none = || vec![(0, 0); trusts.len()];
    let errors = asked.par_iter().zip(&laws.0).map(errors).try_reduce(none, add)?;
    let best = (0..trusts.len()).min_by_key(|&at| errors[at]).unwrap_or(0);
    Ok(Chosen { trust: trusts[best], errors: errors[best] })
}

/// Rows with an error, and errors: zero-one loss first, and among equals Hamming loss.
pub(super) type Errors = (usize, usize);

fn count_errors(start: ForestEvidence, truth: &LabelMatrix, row: usize) -> Errors {
    let mut n_errors = 0;
    decide_by_certainty(start, truth.n_labels(), |decision| {
        let is_wrong = |truth: bool| decision.relevant != truth;
        n_errors += usize::from(truth.cell(row, decision.label).is_some_and(is_wrong));
    });
    (usize::from(n_errors > 0), n_errors)
}
