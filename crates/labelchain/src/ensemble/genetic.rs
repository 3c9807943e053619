//! Selects members of a large ensemble by a genetic search. The search sees only subsets and their
//! objectives, neither models nor rows.
//!
//! This is NSGA-II (Deb 2002) over subsets of fixed size. It minimizes two objectives at once: the
//! loss of a subset's vote, and the similarity of its chains. One subset dominates another if it is
//! no worse in either objective and better in at least one. The subsets that no other dominates form
//! the first front; without them, the next ones form the second front, and so on. In each generation,
//! the subsets produce as many children as there are subsets, and the best fronts of both survive. Of
//! the last front that fits only in part, those with the largest crowding distance survive, so that
//! the subsets stay spread over the whole front (docs/methods.md, 5.1, a reconstruction).

use crate::error::{Error, Result};
use crate::seed::{Rng, Seed};

/// The chosen candidates, ascending.
pub type Subset = Vec<usize>;

/// The two objectives of a subset, both minimized.
pub type Objectives = [f64; 2];

/// The parameters of the search.
///
/// | field | default | range |
/// |---|---|---|
/// | `population` | 50 | at least 2 |
/// | `generations` | 100 | at least 1 |
/// | `crossover` | 0.9 | 0 to 1 |
/// | `mutation` | one member of each subset, on average | 0 to 1 for each member |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneticSearch {
    /// The number of subsets in a generation.
    pub population: usize,
    /// The number of generations.
    pub generations: usize,
    /// The probability that a child combines two parents; otherwise it is a copy of the first.
    pub crossover: f64,
    /// The probability that a member of a child is replaced by a candidate that is not in it; 1/K for
    /// subsets of K members if `None`.
    pub mutation: Option<f64>,
}

impl Default for GeneticSearch {
    fn default() -> GeneticSearch {
        GeneticSearch { population: 50, generations: 100, crossover: 0.9, mutation: None }
    }
}

/// A subset and its objectives.
#[derive(Clone, Debug, PartialEq)]
pub struct Individual {
    /// The chosen candidates, ascending.
    pub subset: Subset,
    /// The values of its objectives.
    pub objectives: Objectives,
}

impl GeneticSearch {
    /// Searches for `size` of `n_candidates`, starting from the subsets `initial` and random ones.
    /// After each generation, `progress`, which may end the search with an error, is called with the
    /// number of generations done and the smallest first objective so far.
    ///
    /// Returns the first front, sorted by the first objective, then by the second, then by the subset:
    /// a caller that needs one subset takes the first. The smallest first objective never increases
    /// from one generation to the next, because at most four individuals are ends of the first front,
    /// and in a population of at least four all of them survive.
    pub fn run(
        &self,
        n_candidates: usize,
        size: usize,
        initial: &[Subset],
        objectives: impl Fn(&Subset) -> Objectives,
        seed: Seed,
        progress: &dyn Fn(usize, f64) -> Result<()>,
    ) -> Result<Vec<Individual>> {
        if size == 0 || size > n_candidates {
            let (name, value) = ("members to choose", size.to_string());
            return Err(Error::Setting { name, value, accepted: "from 1 to the candidates" });
        }
        if self.population < 2 {
            let (name, value) = ("population", self.population.to_string());
            return Err(Error::Setting { name, value, accepted: "at least 2" });
        }
        for (name, chance) in [("crossover", Some(self.crossover)), ("mutation", self.mutation)] {
            if let Some(chance) = chance.filter(|chance| !(0.0..=1.0).contains(chance)) {
                let value = chance.to_string();
                return Err(Error::Setting { name, value, accepted: "from 0 to 1" });
            }
        }
        let mut rng = seed.rng();
        let evaluate = |subset: Subset| Individual { objectives: objectives(&subset), subset };
        let mut population: Vec<Individual> = initial.iter().cloned().map(evaluate).collect();
        while population.len() < self.population {
            population.push(evaluate(random_subset(n_candidates, size, &mut rng)));
        }
        let mut population = survivors(population, self.population);
        for generation in 0..self.generations {
            let mut all: Vec<Individual> = population.iter().map(|(one, _)| one.clone()).collect();
            for _ in 0..self.population {
                let [a, b] = [(); 2].map(|()| tournament(&population, &mut rng));
                let mut child = if rng.chance(self.crossover) {
                    crossover(&a.subset, &b.subset, &mut rng)
                } else {
                    a.subset.clone()
                };
                let rate = self.mutation.unwrap_or(1.0 / size as f64);
                mutate(&mut child, n_candidates, rate, &mut rng);
                all.push(evaluate(child));
            }
            population = survivors(all, self.population);
            let first = population.iter().map(|(one, _)| one.objectives[0]);
            progress(generation + 1, first.fold(f64::INFINITY, f64::min))?;
        }
        let mut front: Vec<Individual> = population
            .into_iter()
            .filter(|(_, rank)| rank.front == 0)
            .map(|(individual, _)| individual)
            .collect();
        front.sort_by(|a, b| {
            let by_first = a.objectives[0].total_cmp(&b.objectives[0]);
            by_first
                .then(a.objectives[1].total_cmp(&b.objectives[1]))
                .then_with(|| a.subset.cmp(&b.subset))
        });
        front.dedup();
        Ok(front)
    }
}

/// How good an individual is: the lower its front the better, and within a front, the larger its
/// crowding distance the better.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank {
    front: usize,
    crowding: f64,
}

impl Rank {
    fn is_better(&self, other: &Rank) -> bool {
        self.front < other.front || (self.front == other.front && self.crowding > other.crowding)
    }
}

/// Whether `a` is no worse than `b` in either objective and better in at least one.
fn dominates(a: Objectives, b: Objectives) -> bool {
    a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1])
}

/// The front of each individual: the number of fronts that must be removed before no other
/// individual dominates it.
fn fronts(objectives: &[Objectives]) -> Vec<usize> {
    // Sorted by the first objective and then by the second, no individual is dominated by a later
    // one. Each belongs to the first front of which no member dominates it. Within a front the second
    // objective decreases in this order, so only the last member of a front needs to be checked.
    let mut ascending: Vec<usize> = (0..objectives.len()).collect();
    ascending.sort_by(|&a, &b| {
        objectives[a][0]
            .total_cmp(&objectives[b][0])
            .then(objectives[a][1].total_cmp(&objectives[b][1]))
    });
    let mut last_of: Vec<Objectives> = Vec::new();
    let mut fronts = vec![0; objectives.len()];
    for at in ascending {
        let front = last_of.partition_point(|&last| dominates(last, objectives[at]));
        match last_of.get_mut(front) {
            Some(last) => *last = objectives[at],
            None => last_of.push(objectives[at]),
        }
        fronts[at] = front;
    }
    fronts
}

/// The crowding distance of each individual of a front: the difference between its two neighbours in
/// an objective, divided by the width of the front, summed over both objectives. It is infinite at
/// the ends of the front.
fn crowding(front: &[Objectives]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    for objective in [0, 1] {
        let mut ascending: Vec<usize> = (0..front.len()).collect();
        ascending.sort_by(|&a, &b| front[a][objective].total_cmp(&front[b][objective]));
        let (Some(&first), Some(&last)) = (ascending.first(), ascending.last()) else { continue };
        let width = front[last][objective] - front[first][objective];
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for three in ascending.windows(3) {
            if width > 0.0 {
                let gap = front[three[2]][objective] - front[three[0]][objective];
                distances[three[1]] += gap / width;
            }
        }
    }
    distances
}

/// The best `n` individuals, with their ranks; of equal ones, the earlier come first.
fn survivors(all: Vec<Individual>, n: usize) -> Vec<(Individual, Rank)> {
    let objectives: Vec<Objectives> = all.iter().map(|one| one.objectives).collect();
    let fronts = fronts(&objectives);
    let mut ranks: Vec<Rank> = fronts.iter().map(|&front| Rank { front, crowding: 0.0 }).collect();
    for front in 0..=fronts.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..all.len()).filter(|&at| fronts[at] == front).collect();
        let of_front: Vec<Objectives> = members.iter().map(|&at| objectives[at]).collect();
        for (&at, distance) in members.iter().zip(crowding(&of_front)) {
            ranks[at].crowding = distance;
        }
    }
    let mut ranked: Vec<(Individual, Rank)> = all.into_iter().zip(ranks).collect();
    ranked.sort_by(|(_, a), (_, b)| a.front.cmp(&b.front).then(b.crowding.total_cmp(&a.crowding)));
    ranked.truncate(n);
    ranked
}

/// Binary tournament: the better of two individuals drawn at random.
fn tournament<'p>(population: &'p [(Individual, Rank)], rng: &mut Rng) -> &'p Individual {
    let [a, b] = [(); 2].map(|()| &population[rng.below(population.len())]);
    if b.1.is_better(&a.1) { &b.0 } else { &a.0 }
}

fn random_subset(n_candidates: usize, size: usize, rng: &mut Rng) -> Subset {
    let mut all: Vec<usize> = (0..n_candidates).collect();
    rng.shuffle(&mut all);
    all.truncate(size);
    all.sort_unstable();
    all
}

/// A child of two parents: the candidates that both have, filled up with random ones of those that
/// only one of them has.
fn crossover(a: &Subset, b: &Subset, rng: &mut Rng) -> Subset {
    let (mut child, mut open): (Subset, Subset) =
        a.iter().partition(|&candidate| b.binary_search(candidate).is_ok());
    open.extend(b.iter().filter(|&candidate| a.binary_search(candidate).is_err()));
    rng.shuffle(&mut open);
    open.truncate(a.len() - child.len());
    child.append(&mut open);
    child.sort_unstable();
    child
}

/// Replaces each member, with probability `rate`, by a random candidate that is not in the subset.
fn mutate(subset: &mut Subset, n_candidates: usize, rate: f64, rng: &mut Rng) {
    let mut absent: Vec<usize> =
        (0..n_candidates).filter(|candidate| subset.binary_search(candidate).is_err()).collect();
    if absent.is_empty() {
        return;
    }
    for member in subset.iter_mut() {
        if rng.chance(rate) {
            let at = rng.below(absent.len());
            std::mem::swap(member, &mut absent[at]);
        }
    }
    subset.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn objectives() -> impl Strategy<Value = Vec<Objectives>> {
        // Few values, so that ties are common.
        prop::collection::vec((0u8..6, 0u8..6), 1..25)
            .prop_map(|all| all.into_iter().map(|(a, b)| [f64::from(a), f64::from(b)]).collect())
    }

    /// The definition: remove the individuals that no other dominates, again and again.
    fn plain_fronts(objectives: &[Objectives]) -> Vec<usize> {
        let mut fronts = vec![usize::MAX; objectives.len()];
        for front in 0.. {
            let open: Vec<usize> =
                (0..objectives.len()).filter(|&at| fronts[at] >= front).collect();
            if open.is_empty() {
                break;
            }
            for &at in &open {
                if !open.iter().any(|&other| dominates(objectives[other], objectives[at])) {
                    fronts[at] = front;
                }
            }
        }
        fronts
    }

    proptest! {
        #[test]
        fn fronts_are_as_defined(objectives in objectives()) {
            prop_assert_eq!(fronts(&objectives), plain_fronts(&objectives));
        }

        #[test]
        fn the_ends_of_a_front_are_infinitely_far_from_others(objectives in objectives()) {
            let found = crowding(&objectives);
            for axis in [0, 1] {
                let min = objectives.iter().map(|one| one[axis]).fold(f64::INFINITY, f64::min);
                let is_end = |at: &usize| objectives[*at][axis] == min && found[*at].is_infinite();
                prop_assert_eq!((0..objectives.len()).filter(is_end).count().min(1), 1);
            }
        }

        #[test]
        fn children_are_subsets_of_their_size(seed: u64, n in 2usize..30, part in 0.0f64..1.0) {
            let size = 1 + ((n - 1) as f64 * part) as usize;
            let mut rng = Seed::new(seed).rng();
            let [a, b] = [(); 2].map(|()| random_subset(n, size, &mut rng));
            let mut child = crossover(&a, &b, &mut rng);
            prop_assert!(child.iter().all(|one| a.contains(one) || b.contains(one)));
            prop_assert!(a.iter().filter(|one| b.contains(one)).all(|one| child.contains(one)));
            mutate(&mut child, n, 0.5, &mut rng);
            prop_assert!(child.len() == size && child.is_sorted_by(|x, y| x < y));
            prop_assert!(child.iter().all(|&one| one < n));
        }
    }

    #[test]
    fn crowding_is_the_gap_between_neighbours() {
        // Widths 4 and 4; the second: (3 - 0) / 4 + (4 - 1) / 4.
        let front = [[0.0, 4.0], [1.0, 2.0], [3.0, 1.0], [4.0, 0.0]];
        let found = crowding(&front);
        assert_eq!([found[0], found[3]], [f64::INFINITY; 2]);
        assert_eq!(found[1], 3.0 / 4.0 + 3.0 / 4.0);
        assert_eq!(found[2], 3.0 / 4.0 + 2.0 / 4.0);
    }

    /// Candidate c adds c to the first objective and 11 - c to the second, so the two of a subset of
    /// three always add up to 33: none dominates another, and all are on the first front. Its ends
    /// are the subsets with the smallest and the largest sum, 0 + 1 + 2 and 9 + 10 + 11.
    #[test]
    fn the_ends_of_a_known_front_are_found() {
        let cost = |subset: &Subset| {
            let sum = subset.iter().sum::<usize>() as f64;
            [sum, 33.0 - sum]
        };
        let search = GeneticSearch::default();
        let front = search.run(12, 3, &[], cost, Seed::new(1), &|_, _| Ok(())).unwrap();
        assert_eq!(front[0].subset, [0, 1, 2]);
        assert_eq!(front[front.len() - 1].subset, [9, 10, 11]);
    }

    #[test]
    fn the_best_is_never_lost() {
        use std::cell::RefCell;
        let history = RefCell::new(Vec::new());
        let rugged = |subset: &Subset| {
            let hash = subset.iter().fold(7usize, |sum, &one| (sum * 31 + one * one) % 1009);
            [hash as f64, subset[0] as f64]
        };
        let search = GeneticSearch { generations: 30, ..GeneticSearch::default() };
        let progress = |_: usize, best: f64| {
            history.borrow_mut().push(best);
            Ok(())
        };
        let initial = [vec![0, 1, 2, 3, 4]];
        let front = search.run(20, 5, &initial, rugged, Seed::new(3), &progress).unwrap();
        let history = history.into_inner();
        assert!(history.is_sorted_by(|a, b| a >= b), "{history:?}");
        assert_eq!(front[0].objectives[0], history[29]);
        let again = search.run(20, 5, &initial, rugged, Seed::new(3), &|_, _| Ok(()));
        assert_eq!(again.unwrap(), front);
    }

    #[test]
    fn a_size_that_cannot_be_is_refused() {
        for size in [0, 4] {
            let search = GeneticSearch::default();
            let found = search.run(3, size, &[], |_| [0.0; 2], Seed::new(1), &|_, _| Ok(()));
            assert!(found.unwrap_err().to_string().contains("members to choose"));
        }
        // All of them is a size like any other.
        let all =
            GeneticSearch::default().run(3, 3, &[], |_| [0.0; 2], Seed::new(1), &|_, _| Ok(()));
        assert_eq!(all.unwrap()[0].subset, [0, 1, 2]);
    }
}
