//! Measures the peak memory of the process while a task runs.
//!
//! Linux keeps one peak for the whole process, which can be reset. Tasks that run at the same time
//! therefore share one [`Watch`]: before the peak is reset for a new task, its value is saved for the
//! tasks that are already running.

use std::fs;
use std::sync::Mutex;

use crate::error::unpoisoned;

/// A watch over the memory of this process.
#[derive(Default)]
pub(super) struct Watch(Mutex<Watched>);

#[derive(Default)]
struct Watched {
    next: usize,
    /// The number of each running task, and the greatest peak since its start, in bytes.
    running: Vec<(usize, u64)>,
}

impl Watch {
    /// Starts to measure for a new task, and returns its number.
    pub(super) fn start(&self) -> usize {
        let mut watched = unpoisoned(&self.0);
        watched.update();
        // Writing 5 resets the peak, and nothing else. Where that is not allowed, the peak is that
        // of the whole lifetime of the process.
        let _ = fs::write("/proc/self/clear_refs", "5");
        watched.next += 1;
        let number = watched.next;
        watched.running.push((number, 0));
        number
    }

    /// The peak since the start of a task, in bytes; `None` where the system does not report it.
    pub(super) fn peak(&self, number: usize) -> Option<u64> {
        let mut watched = unpoisoned(&self.0);
        watched.update();
        let found = watched.running.iter().find(|(running, _)| *running == number);
        found.map(|(_, peak)| *peak).filter(|&peak| peak > 0)
    }

    /// Ends the measurement for a task.
    pub(super) fn stop(&self, number: usize) {
        let mut watched = unpoisoned(&self.0);
        watched.running.retain(|(running, _)| *running != number);
    }
}

impl Watched {
    /// Updates the peaks of all running tasks.
    fn update(&mut self) {
        let bytes = peak().unwrap_or(0);
        self.running.iter_mut().for_each(|(_, peak)| *peak = bytes.max(*peak));
    }
}

/// The peak since the last reset, in bytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_peak_counts_for_tasks_running_then_and_not_for_later_ones() {
        const SIZE: u64 = 256 << 20;
        if fs::write("/proc/self/clear_refs", "5").is_err() {
            return; // The peak cannot be reset on this system.
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
