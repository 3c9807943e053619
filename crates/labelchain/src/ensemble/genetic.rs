//! Which members of a large ensemble to keep: a genetic search that knows neither models nor rows.
//!
//! NSGA-II (Deb 2002) over subsets of fixed size, against two losses at once: how wrong the vote of
//! a subset is, and how alike its chains are. Of two subsets one is better if it is no worse in
//! either loss and better in one; the subsets that no other beats form the first front, without
//! them the next, and so on. A generation breeds as many subsets as there are and keeps the best
//! fronts, of the last that has room those which stand alone, so that the front stays wide
//! (methods 5.1, a reconstruction).

use crate::error::{Error, Result};
use crate::seed::{Rng, Seed};

/// The chosen candidates, ascending.
pub type Subset = Vec<usize>;

/// Two losses of a subset, both to be made small.
pub type Losses = [f64; 2];

/// How long and how wildly to search.
///
/// | field | default | range |
/// |---|---|---|
/// | `population` | 50 | at least 2 |
/// | `generations` | 100 | any |
/// | `crossover` | 0.9 | 0 to 1 |
/// | `mutation` | one member of each subset, on average | 0 to 1 for each member |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneticSearch {
    /// Subsets alive at a time.
    pub population: usize,
    /// How often they breed.
    pub generations: usize,
    /// How likely two parents mix; a child is otherwise a copy of the first.
    pub crossover: f64,
    /// How likely a member of a child is swapped for one that it lacks; 1/K if none.
    pub mutation: Option<f64>,
}

impl Default for GeneticSearch {
    fn default() -> GeneticSearch {
        GeneticSearch { population: 50, generations: 100, crossover: 0.9, mutation: None }
    }
}

/// A subset and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Individual {
    /// The chosen candidates, ascending.
    pub subset: Subset,
    /// What is wrong with it.
    pub losses: Losses,
}

impl GeneticSearch {
    /// Looks for `size` of `n_candidates`, starting from random subsets and those of `known`.
    /// `progress` is told after each generation how many are done, and the best first loss so far.
    ///
    /// Returns the first front, by ascending first loss, then second loss, then subset: whoever
    /// wants one subset takes the first. The least first loss never grows from one generation to
    /// the next, because the best of the first front is kept.
    pub fn run(
        &self,
        n_candidates: usize,
        size: usize,
        known: &[Subset],
        losses: impl Fn(&Subset) -> Losses,
        seed: Seed,
        progress: &dyn Fn(usize, f64),
    ) -> Result<Vec<Individual>> {
        if size == 0 || size > n_candidates {
            let (name, value) = ("members to keep", size.to_string());
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
        let judged = |subset: Subset| Individual { losses: losses(&subset), subset };
        let mut population: Vec<Individual> = known.iter().cloned().map(judged).collect();
        while population.len() < self.population {
            population.push(judged(random_subset(n_candidates, size, &mut rng)));
        }
        let mut population = survivors(population, self.population);
        for generation in 0..self.generations {
            let mut all: Vec<Individual> = population.iter().map(|(one, _)| one.clone()).collect();
            for _ in 0..self.population {
                let [a, b] = [(); 2].map(|()| tournament(&population, &mut rng));
                let mut child = match rng.chance(self.crossover) {
                    true => mix(&a.subset, &b.subset, &mut rng),
                    false => a.subset.clone(),
                };
                let rate = self.mutation.unwrap_or(1.0 / size as f64);
                mutate(&mut child, n_candidates, rate, &mut rng);
                all.push(judged(child));
            }
            population = survivors(all, self.population);
            let least = population.iter().map(|(one, _)| one.losses[0]);
            progress(generation + 1, least.fold(f64::INFINITY, f64::min));
        }
        let mut front: Vec<Individual> = population
            .into_iter()
            .filter(|(_, rank)| rank.front == 0)
            .map(|(individual, _)| individual)
            .collect();
        front.sort_by(|a, b| {
            let by_losses = a.losses[0].total_cmp(&b.losses[0]);
            by_losses
                .then(a.losses[1].total_cmp(&b.losses[1]))
                .then_with(|| a.subset.cmp(&b.subset))
        });
        front.dedup();
        Ok(front)
    }
}

/// Where an individual stands: the lower the front the better, within it the lonelier the better.
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

/// Whether `a` is no worse in either loss and better in one.
fn dominates(a: Losses, b: Losses) -> bool {
    a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1])
}

/// The front of each: as many as must be taken away before nobody dominates it.
fn fronts(losses: &[Losses]) -> Vec<usize> {
    // By ascending losses, nobody is dominated by one that comes later, and the front of each is
    // the first none of whose members dominates it. The last member of a front has its least
    // second loss, so it alone decides.
    let mut ascending: Vec<usize> = (0..losses.len()).collect();
    ascending.sort_by(|&a, &b| {
        losses[a][0].total_cmp(&losses[b][0]).then(losses[a][1].total_cmp(&losses[b][1]))
    });
    let mut last_of: Vec<Losses> = Vec::new();
    let mut fronts = vec![0; losses.len()];
    for at in ascending {
        let front = last_of.partition_point(|&last| dominates(last, losses[at]));
        match last_of.get_mut(front) {
            Some(last) => *last = losses[at],
            None => last_of.push(losses[at]),
        }
        fronts[at] = front;
    }
    fronts
}

/// For each of a front, how far its neighbours on both sides are apart, as a share of the front's
/// width, both losses added; the ends stand alone.
fn crowding(front: &[Losses]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    for loss in [0, 1] {
        let mut ascending: Vec<usize> = (0..front.len()).collect();
        ascending.sort_by(|&a, &b| front[a][loss].total_cmp(&front[b][loss]));
        let (Some(&first), Some(&last)) = (ascending.first(), ascending.last()) else { continue };
        let width = front[last][loss] - front[first][loss];
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for three in ascending.windows(3) {
            if width > 0.0 {
                distances[three[1]] += (front[three[2]][loss] - front[three[0]][loss]) / width;
            }
        }
    }
    distances
}

/// The best so many, with their ranks; of equals the first.
fn survivors(all: Vec<Individual>, n: usize) -> Vec<(Individual, Rank)> {
    let losses: Vec<Losses> = all.iter().map(|one| one.losses).collect();
    let fronts = fronts(&losses);
    let mut ranks: Vec<Rank> = fronts.iter().map(|&front| Rank { front, crowding: 0.0 }).collect();
    for front in 0..=fronts.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..all.len()).filter(|&at| fronts[at] == front).collect();
        let of_front: Vec<Losses> = members.iter().map(|&at| losses[at]).collect();
        for (&at, distance) in members.iter().zip(crowding(&of_front)) {
            ranks[at].crowding = distance;
        }
    }
    let mut ranked: Vec<(Individual, Rank)> = all.into_iter().zip(ranks).collect();
    ranked.sort_by(|(_, a), (_, b)| a.front.cmp(&b.front).then(b.crowding.total_cmp(&a.crowding)));
    ranked.truncate(n);
    ranked
}

/// The better of two drawn at random.
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

/// What both parents have, filled up at random from what one of them has.
fn mix(a: &Subset, b: &Subset, rng: &mut Rng) -> Subset {
    let (mut child, mut open): (Subset, Subset) =
        a.iter().partition(|&candidate| b.binary_search(candidate).is_ok());
    open.extend(b.iter().filter(|&candidate| a.binary_search(candidate).is_err()));
    rng.shuffle(&mut open);
    open.truncate(a.len() - child.len());
    child.append(&mut open);
    child.sort_unstable();
    child
}

/// Swaps each member for one that is absent, with this probability.
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

    fn losses() -> impl Strategy<Value = Vec<Losses>> {
        // Few values, so that ties are common.
        prop::collection::vec((0u8..6, 0u8..6), 1..25)
            .prop_map(|all| all.into_iter().map(|(a, b)| [f64::from(a), f64::from(b)]).collect())
    }

    /// As it is defined: take the undominated away, again and again.
    fn plain_fronts(losses: &[Losses]) -> Vec<usize> {
        let mut fronts = vec![usize::MAX; losses.len()];
        for front in 0.. {
            let open: Vec<usize> = (0..losses.len()).filter(|&at| fronts[at] >= front).collect();
            if open.is_empty() {
                break;
            }
            for &at in &open {
                if !open.iter().any(|&other| dominates(losses[other], losses[at])) {
                    fronts[at] = front;
                }
            }
        }
        fronts
    }

    proptest! {
        #[test]
        fn fronts_are_as_defined(losses in losses()) {
            prop_assert_eq!(fronts(&losses), plain_fronts(&losses));
        }

        #[test]
        fn the_ends_of_a_front_stand_alone(losses in losses()) {
            let found = crowding(&losses);
            for loss in [0, 1] {
                let least = losses.iter().map(|l| l[loss]).fold(f64::INFINITY, f64::min);
                let is_end = |at: &usize| losses[*at][loss] == least && found[*at].is_infinite();
                prop_assert_eq!((0..losses.len()).filter(is_end).count().min(1), 1);
            }
        }

        #[test]
        fn children_are_subsets_of_their_size(seed: u64, n in 2usize..30, part in 0.0f64..1.0) {
            let size = 1 + ((n - 1) as f64 * part) as usize;
            let mut rng = Seed::new(seed).rng();
            let [a, b] = [(); 2].map(|()| random_subset(n, size, &mut rng));
            let mut child = mix(&a, &b, &mut rng);
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

    /// Candidate c costs c in the first loss and 11 - c in the second: every subset of three whose
    /// members are adjacent in neither sense is beaten by none only if its sums cannot both fall,
    /// and they never can, so all are on the front; the least first loss is 0 + 1 + 2.
    #[test]
    fn the_ends_of_a_known_front_are_found() {
        let cost = |subset: &Subset| {
            let sum = subset.iter().sum::<usize>() as f64;
            [sum, 33.0 - sum]
        };
        let search = GeneticSearch::default();
        let front = search.run(12, 3, &[], cost, Seed::new(1), &|_, _| ()).unwrap();
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
        let told = |_: usize, least: f64| history.borrow_mut().push(least);
        let front = search.run(20, 5, &[vec![0, 1, 2, 3, 4]], rugged, Seed::new(3), &told).unwrap();
        let history = history.into_inner();
        assert!(history.is_sorted_by(|a, b| a >= b), "{history:?}");
        assert_eq!(front[0].losses[0], history[29]);
        let again = search.run(20, 5, &[vec![0, 1, 2, 3, 4]], rugged, Seed::new(3), &|_, _| ());
        assert_eq!(again.unwrap(), front);
    }

    #[test]
    fn a_size_that_cannot_be_is_refused() {
        for size in [0, 4] {
            let search = GeneticSearch::default();
            let found = search.run(3, size, &[], |_| [0.0; 2], Seed::new(1), &|_, _| ());
            assert!(found.unwrap_err().to_string().contains("members to keep"));
        }
        // All of them is a size like any other.
        let all = GeneticSearch::default().run(3, 3, &[], |_| [0.0; 2], Seed::new(1), &|_, _| ());
        assert_eq!(all.unwrap()[0].subset, [0, 1, 2]);
    }
}
