//! Which few of many things lie in the middle of the others? k-medoids, knowing distances only.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hausdorff::Pairs;
use crate::seed::Seed;

/// Where the search for medoids starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MedoidStart {
    /// Anywhere, all different.
    #[default]
    Random,
    /// k-medoids++: one anywhere, then each with a probability in proportion to its distance from
    /// the nearest medoid so far.
    Spread,
    /// BUILD of PAM: each the one that lowers the sum of distances most.
    Build,
}

/// The medoids: `k` different things, in the order in which the start found their places.
///
/// From the start, in turns: each thing goes to its nearest medoid, and each group makes that member
/// its medoid whose distances to the others have the least sum, until nothing changes. With `swap`
/// PAM's second phase instead: the exchange of a medoid and another thing that lowers the sum of
/// distances most, until none lowers it. Of equals, the first.
///
/// # Panics
/// If there are fewer than `k` things.
pub(super) fn medoids(
    pairs: &Pairs,
    k: usize,
    start: MedoidStart,
    swap: bool,
    seed: Seed,
) -> Vec<usize> {
    assert!(k <= pairs.n(), "there are as many things as medoids");
    let mut medoids = match start {
        MedoidStart::Random => random(pairs.n(), k, seed),
        MedoidStart::Spread => spread(pairs, k, seed),
        MedoidStart::Build => build(pairs, k),
    };
    // The middle of a single group is found at once.
    if !swap || k == 1 {
        alternate(pairs, &mut medoids);
    } else {
        while let Some((slot, thing)) = best_swap(pairs, &medoids) {
            medoids[slot] = thing;
        }
    }
    medoids
}

fn random(n: usize, k: usize, seed: Seed) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    seed.child("medoids", 0).rng().shuffle(&mut all);
    all.truncate(k);
    all
}

fn spread(pairs: &Pairs, k: usize, seed: Seed) -> Vec<usize> {
    let mut rng = seed.child("medoids", 0).rng();
    let mut medoids = Vec::with_capacity(k);
    let mut nearest = vec![1.0; pairs.n()];
    while medoids.len() < k {
        let total: f64 = nearest.iter().sum();
        let mut left = rng.unit() * total;
        let reached = |distance: &f64| {
            left -= distance;
            left < 0.0 && *distance > 0.0
        };
        let drawn = nearest.iter().position(reached);
        // All things left may lie on a medoid already, or rounding may have passed the end.
        let next = drawn.or_else(|| (0..pairs.n()).find(|thing| !medoids.contains(thing)));
        let Some(next) = next else { break };
        for (thing, distance) in nearest.iter_mut().enumerate() {
            let to_next = pairs.get(thing, next);
            *distance = if medoids.is_empty() { to_next } else { distance.min(to_next) };
        }
        medoids.push(next);
    }
    medoids
}

fn build(pairs: &Pairs, k: usize) -> Vec<usize> {
    let mut medoids: Vec<usize> = Vec::with_capacity(k);
    let mut nearest = vec![f64::INFINITY; pairs.n()];
    while medoids.len() < k {
        let sum = |next: usize| -> f64 {
            nearest.iter().enumerate().map(|(thing, near)| near.min(pairs.get(thing, next))).sum()
        };
        let sums: Vec<f64> = (0..pairs.n()).into_par_iter().map(sum).collect();
        let open = (0..pairs.n()).filter(|thing| !medoids.contains(thing));
        let Some(next) = open.min_by(|&a, &b| sums[a].total_cmp(&sums[b])) else { break };
        for (thing, near) in nearest.iter_mut().enumerate() {
            *near = near.min(pairs.get(thing, next));
        }
        medoids.push(next);
    }
    medoids
}

fn alternate(pairs: &Pairs, medoids: &mut [usize]) {
    // Each round lowers the sum of distances, so that the search ends; but sums are rounded, so
    // that the number of rounds is bounded all the same.
    const MAX_ROUNDS: usize = 1000;
    for _ in 0..MAX_ROUNDS {
        let mut groups = vec![vec![]; medoids.len()];
        for thing in 0..pairs.n() {
            // A medoid stays in its own group, even if another lies at the same place.
            let own = medoids.iter().position(|&medoid| medoid == thing);
            let nearest = || {
                let to = |&slot: &usize| pairs.get(thing, medoids[slot]);
                (0..medoids.len()).min_by(|a, b| to(a).total_cmp(&to(b)))
            };
            if let Some(slot) = own.or_else(nearest) {
                groups[slot].push(thing);
            }
        }
        let middle = |(group, &medoid): (&Vec<usize>, &usize)| {
            let sum =
                |thing: usize| -> f64 { group.iter().map(|&other| pairs.get(thing, other)).sum() };
            let sums = group.iter().map(|&thing| (sum(thing), thing));
            let (least, thing) = sums.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, medoid));
            if least < sum(medoid) { thing } else { medoid }
        };
        let next: Vec<usize> = groups.par_iter().zip(medoids.par_iter()).map(middle).collect();
        if next == medoids {
            return;
        }
        medoids.copy_from_slice(&next);
    }
}

/// The exchange that lowers the sum of distances most: the place of the medoid, and what replaces it.
///
/// For each thing, the change of the sum is found for all medoids at once (FastPAM1; Schubert and
/// Rousseeuw 2019): what others gain by going to it, and what each medoid's group then loses.
fn best_swap(pairs: &Pairs, medoids: &[usize]) -> Option<(usize, usize)> {
    /// The nearest medoid, its distance, and that of the second nearest.
    struct Near {
        slot: usize,
        first: f64,
        second: f64,
    }
    let near = |thing: usize| {
        let mut near = Near { slot: 0, first: f64::INFINITY, second: f64::INFINITY };
        for (slot, &medoid) in medoids.iter().enumerate() {
            let distance = pairs.get(thing, medoid);
            if distance < near.first {
                near = Near { slot, first: distance, second: near.first };
            } else if distance < near.second {
                near.second = distance;
            }
        }
        near
    };
    let nears: Vec<Near> = (0..pairs.n()).map(near).collect();
    let total: f64 = nears.iter().map(|near| near.first).sum();
    let mut losses = vec![0.0; medoids.len()];
    nears.iter().for_each(|near| losses[near.slot] += near.second - near.first);
    let change = |thing: usize| {
        let mut changes = losses.clone();
        let mut gain = 0.0;
        for (other, near) in nears.iter().enumerate() {
            let distance = pairs.get(thing, other);
            if distance < near.first {
                gain += near.first - distance;
                changes[near.slot] -= near.second - near.first;
            } else if distance < near.second {
                changes[near.slot] -= near.second - distance;
            }
        }
        let changes = changes.into_iter().enumerate();
        let least = changes.min_by(|a, b| a.1.total_cmp(&b.1));
        least.map(|(slot, change)| (change - gain, slot, thing))
    };
    let open: Vec<usize> = (0..pairs.n()).filter(|thing| !medoids.contains(thing)).collect();
    let changes: Vec<_> = open.into_par_iter().filter_map(change).collect();
    let (change, slot, thing) = changes.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    // A gain as small as rounding errors might be undone by the next exchange, and so on without
    // end.
    (change < -1e-12 * total).then_some((slot, thing))
}
