//! What decides every label: one machine each, on their own or linked into a chain.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{KernelSpace, Machine, Svm};
use crate::data::{LabelId, LabelMatrix};
use crate::error::{Error, Result};
use crate::model::Evidence;

/// A machine for each label, all learned from the same rows of one space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvmLinks {
    machines: Vec<Machine>,
    /// The labels of the training rows.
    carries: LabelMatrix,
}

impl SvmLinks {
    /// Binary relevance: each label, with settings of its own, from the inputs alone.
    ///
    /// # Panics
    /// If a row is none of the space, here as below.
    pub fn independent(space: &KernelSpace, svms: &[Svm], rows: &[usize]) -> Result<SvmLinks> {
        SvmLinks::fit(space, svms, rows, |_| &[])
    }

    /// A chain: each label from the inputs and the truth about the labels before it. It must be
    /// walked in the order it was trained for.
    pub fn chained(
        space: &KernelSpace,
        svms: &[Svm],
        rows: &[usize],
        order: &[LabelId],
    ) -> Result<SvmLinks> {
        let n_labels = space.labels().n_labels();
        Error::unless_same("labels of the order", n_labels, order.len())?;
        let mut position = vec![None; n_labels];
        for (at, label) in order.iter().enumerate().filter(|(_, label)| label.0 < n_labels) {
            position[label.0] = Some(at);
        }
        if let Some(label) = position.iter().position(Option::is_none) {
            return Err(Error::NotAPermutation { n_labels, label, problem: "is missing" });
        }
        SvmLinks::fit(space, svms, rows, |label| &order[..position[label.0].unwrap_or(0)])
    }

    fn fit<'o>(
        space: &KernelSpace,
        svms: &[Svm],
        rows: &[usize],
        before: impl Fn(LabelId) -> &'o [LabelId] + Sync,
    ) -> Result<SvmLinks> {
        Error::unless_same("settings by label", space.labels().n_labels(), svms.len())?;
        let machine = |(label, svm): (usize, &Svm)| {
            svm.fit(space, rows, LabelId(label), before(LabelId(label)))
        };
        let machines: Result<Vec<Machine>> = svms.par_iter().enumerate().map(machine).collect();
        Ok(SvmLinks { machines: machines?, carries: space.labels().clone() })
    }

    /// The machines, by label.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Starts a walk over a row with these squared distances to every training row, as
    /// [`KernelSpace::distances`] has them.
    ///
    /// # Panics
    /// On being asked, if there are fewer distances than training rows.
    pub fn evidence(&self, distances: &[f64]) -> Likenesses<'_> {
        Likenesses { links: self, distances: distances.to_vec() }
    }

    /// Whether the parts fit together, as they do unless they come from a file.
    #[cfg_attr(not(test), expect(dead_code, reason = "asked once model files hold machines"))]
    pub(crate) fn is_sound(&self, n_labels: usize, n_train: usize) -> bool {
        self.machines.len() == n_labels
            && self.machines.iter().all(|machine| machine.is_sound(n_train))
            && self.carries.is_sound(n_train, n_labels)
    }
}

/// How far one row is from every training row, decided labels included.
#[derive(Clone)]
pub struct Likenesses<'m> {
    links: &'m SvmLinks,
    distances: Vec<f64>,
}

impl Evidence for Likenesses<'_> {
    fn support(&self, label: LabelId) -> f64 {
        self.links.machines[label.0].decide(&self.distances)
    }

    fn observe(&mut self, label: LabelId, relevant: bool) {
        for (row, distance) in self.distances.iter_mut().enumerate() {
            *distance += f64::from(u8::from(self.links.carries.get(row, label) != relevant));
        }
    }
}
