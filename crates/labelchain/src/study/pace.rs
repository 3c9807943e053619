//! How long will it take yet?

/// What is left of each data set, and how fast it went so far.
pub(super) struct Pace {
    sets: Vec<OfSet>,
}

#[derive(Clone, Default)]
struct OfSet {
    /// Size of the file.
    n_bytes: u64,
    n_left: usize,
    n_done: usize,
    seconds: f64,
}

impl Pace {
    /// Data sets with files of these sizes, and so many folds to do.
    pub(super) fn new(sets: impl Iterator<Item = (u64, usize)>) -> Pace {
        let of_set = |(n_bytes, n_left)| OfSet { n_bytes, n_left, ..OfSet::default() };
        Pace { sets: sets.map(of_set).collect() }
    }

    /// A fold of a set is done.
    pub(super) fn done(&mut self, set: usize, seconds: f64) {
        let set = &mut self.sets[set];
        set.n_left = set.n_left.saturating_sub(1);
        set.n_done += 1;
        set.seconds += seconds;
    }

    /// Seconds left for one worker. A set not met yet takes as long for each byte of its file as
    /// those met did; none before the first fold is done.
    pub(super) fn left(&self) -> Option<f64> {
        let seconds: f64 = self.sets.iter().map(|set| set.seconds).sum();
        let bytes: f64 = self.sets.iter().map(|set| set.n_bytes as f64 * set.n_done as f64).sum();
        let left = |set: &OfSet| {
            let each = match set.n_done {
                0 => set.n_bytes as f64 * seconds / bytes,
                n => set.seconds / n as f64,
            };
            each * set.n_left as f64
        };
        (bytes > 0.0).then(|| self.sets.iter().map(left).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_not_met_yet_are_judged_by_their_size() {
        let mut pace = Pace::new([(100, 3), (1000, 2)].into_iter());
        assert_eq!(pace.left(), None);
        pace.done(0, 4.0);
        // Two more of 4 s, and two of a file ten times as large: 40 s each.
        assert_eq!(pace.left(), Some(88.0));
        pace.done(1, 10.0);
        assert_eq!(pace.left(), Some(18.0));
    }
}
