//! Estimates how long the rest of a study takes.

/// For each data set, the folds that are left and the time that folds took so far.
pub(super) struct Pace {
    sets: Vec<SetPace>,
}

#[derive(Clone, Default)]
struct SetPace {
    name: String,
    /// The size of the file.
    n_bytes: u64,
    n_left: usize,
    n_done: usize,
    seconds: f64,
}

impl Pace {
    /// Takes for each data set its name, the size of its file and the number of folds to compute.
    pub(super) fn new(sets: impl Iterator<Item = (String, u64, usize)>) -> Pace {
        let of_set =
            |(name, n_bytes, n_left)| SetPace { name, n_bytes, n_left, ..SetPace::default() };
        Pace { sets: sets.map(of_set).collect() }
    }

    /// Records that a fold of a set took this long.
    pub(super) fn done(&mut self, set: &str, seconds: f64) {
        let Some(set) = self.sets.iter_mut().find(|of| of.name == set) else { return };
        set.n_left = set.n_left.saturating_sub(1);
        set.n_done += 1;
        set.seconds += seconds;
    }

    /// The estimated seconds left for one worker; `None` before the first fold is done. A fold takes
    /// as long as the mean of the folds done on the same set. For a set without any, the time is
    /// proportional to the size of its file, at the rate of the sets with folds done.
    pub(super) fn left(&self) -> Option<f64> {
        let seconds: f64 = self.sets.iter().map(|set| set.seconds).sum();
        let bytes: f64 = self.sets.iter().map(|set| set.n_bytes as f64 * set.n_done as f64).sum();
        let left = |set: &SetPace| {
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
    fn sets_without_a_fold_done_are_estimated_by_their_size() {
        let mut pace = Pace::new([("a".into(), 100, 3), ("b".into(), 1000, 2)].into_iter());
        assert_eq!(pace.left(), None);
        pace.done("a", 4.0);
        // Two more of 4 s, and two of a file ten times as large: 40 s each.
        assert_eq!(pace.left(), Some(88.0));
        pace.done("b", 10.0);
        assert_eq!(pace.left(), Some(18.0));
    }
}
