//! How much memory was in use at most while something ran?
//!
//! The system counts for the whole process, and forgets its peak when told to. Pieces of work that
//! run side by side therefore share one watch: before it forgets for one of them, the others are
//! told what they would lose.

use std::fs;
use std::sync::{Mutex, PoisonError};

/// A watch over the memory of this process.
#[derive(Default)]
pub(super) struct Watch(Mutex<Watched>);

#[derive(Default)]
struct Watched {
    next: usize,
    /// Whoever is running, and the most they have seen.
    running: Vec<(usize, u64)>,
}

impl Watch {
    /// From now on, for whoever gets this number.
    pub(super) fn start(&self) -> usize {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.tell();
        // 5 resets the peak, and nothing else. Where it is not allowed, a peak is that of the
        // whole life of the process.
        let _ = fs::write("/proc/self/clear_refs", "5");
        watched.next += 1;
        let number = watched.next;
        watched.running.push((number, 0));
        number
    }

    /// The most bytes in use since its start; none where the system does not say.
    pub(super) fn peak(&self, number: usize) -> Option<u64> {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.tell();
        let found = watched.running.iter().find(|(running, _)| *running == number);
        found.map(|(_, peak)| *peak).filter(|&peak| peak > 0)
    }

    pub(super) fn stop(&self, number: usize) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.running.retain(|(running, _)| *running != number);
    }
}

impl Watched {
    fn tell(&mut self) {
        let bytes = peak().unwrap_or(0);
        self.running.iter_mut().for_each(|(_, most)| *most = bytes.max(*most));
    }
}

/// The peak that the system remembers.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_by_those_who_ran_then_and_by_no_one_later() {
        const SIZE: u64 = 256 << 20;
        if fs::write("/proc/self/clear_refs", "5").is_err() {
            return; // Nothing forgets here, and the module says so.
        }
        let watch = Watch::default();
        let early = watch.start();
        drop(std::hint::black_box(vec![1u8; SIZE as usize]));
        let late = watch.start();
        let (early_peak, late_peak) = (watch.peak(early).unwrap(), watch.peak(late).unwrap());
        assert!(early_peak >= SIZE, "{early_peak}");
        assert!(late_peak <= early_peak - SIZE / 2, "{late_peak}, {early_peak}");
        watch.stop(early);
        assert_eq!(watch.peak(early), None);
    }
}
