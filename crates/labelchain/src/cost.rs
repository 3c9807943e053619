//! Measures how long a computation takes: wall-clock time and processor time.

use std::ops::{Add, AddAssign};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// Time spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Processor seconds, summed over the threads.
    pub cpu_seconds: f64,
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            seconds: self.seconds + other.seconds,
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

/// Measures the cost of everything from its start on.
pub(crate) struct Clock {
    start: Instant,
    cpu: Duration,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { start: Instant::now(), cpu: cpu() }
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost {
            seconds: self.start.elapsed().as_secs_f64(),
            cpu_seconds: cpu().saturating_sub(self.cpu).as_secs_f64(),
        }
    }
}

/// The processor time that the threads of the current thread pool have used so far. Work in another
/// pool of the same process is not counted. If the calling thread belongs to no pool, its own time is
/// added, and the pool is the global one.
fn cpu() -> Duration {
    let own = || ThreadTime::now().as_duration();
    let ours = if rayon::current_thread_index().is_none() { own() } else { Duration::ZERO };
    ours + rayon::broadcast(|_| own()).into_iter().sum::<Duration>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_another_pool_is_not_counted() {
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let (busy, idle) = (pool(2), pool(1));
        let spin = || {
            let start = ThreadTime::now();
            while start.elapsed() < Duration::from_millis(50) {}
        };
        let (both, other) = busy.install(|| {
            let clock = Clock::start();
            let other = idle.install(Clock::start);
            rayon::join(spin, spin);
            (clock.cost(), idle.install(|| other.cost()))
        });
        // Two threads, or one after the other: 50 ms each.
        assert!(both.cpu_seconds >= 0.1, "{both:?}");
        assert!(other.cpu_seconds < 0.05, "{other:?}");
    }
}
