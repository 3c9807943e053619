//! How much memory there is, and an account of what work may take, so that too much is refused.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result, bytes_in_words};

/// Three quarters of the memory of this machine, of the container in which the process runs, or of what
/// the shell lets it have (`ulimit`): what front ends allow unless they are told otherwise.
pub fn three_quarters() -> u64 {
    // If the system does not report its memory, a small machine is assumed.
    const UNKNOWN: u64 = 4 << 30;
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    });
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let of_process = ["Max address space", "Max data size"].into_iter().filter_map(|name| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    let total =
        [machine, container].into_iter().flatten().chain(of_process).min().unwrap_or(UNKNOWN);
    total / 4 * 3
}

/// So many bytes, of which some are reserved: clones share one account.
///
/// Only what grows with the data is reserved, by an estimate; the program itself and small things
/// beside it are not.
#[derive(Clone, Debug)]
pub struct Memory {
    limit: u64,
    reserved: Arc<AtomicU64>,
}

impl Memory {
    /// An account of so many bytes.
    pub fn new(limit: u64) -> Memory {
        Memory { limit, reserved: Arc::default() }
    }

    /// How many bytes there are, reserved or not.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Another account of as many bytes, of which as many are reserved: for work whose memory is given
    /// back when it is done.
    pub fn fork(&self) -> Memory {
        let reserved = AtomicU64::new(self.reserved.load(Ordering::Relaxed));
        Memory { limit: self.limit, reserved: Arc::new(reserved) }
    }

    /// What is reserved from now on is given back when the scope is dropped: for work whose results are
    /// not kept. Scopes of one account end in the reverse order of their beginning, and nothing
    /// beside them is reserved meanwhile, because the account is set back to what it was.
    pub(crate) fn scope(&self) -> MemoryScope<'_> {
        MemoryScope { memory: self, reserved: self.reserved.load(Ordering::Relaxed) }
    }

    /// Reserves bytes for `what`, which is used in data called `name`; an error if there are not so
    /// many left, and nothing is reserved.
    pub fn reserve(&self, name: &str, bytes: u64, what: impl FnOnce() -> String) -> Result<()> {
        let add =
            |reserved: u64| Some(reserved.saturating_add(bytes)).filter(|&it| it <= self.limit);
        let Err(reserved) = self.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
        else {
            return Ok(());
        };
        let needed = reserved.saturating_add(bytes);
        let what = format!("{} (about {})", what(), bytes_in_words(needed));
        Err(Error::TooLarge { path: name.into(), what, needed: Some(needed), limit: self.limit })
    }
}

/// Gives back what was reserved since it was made.
#[must_use]
pub(crate) struct MemoryScope<'a> {
    memory: &'a Memory,
    reserved: u64,
}

impl Drop for MemoryScope<'_> {
    fn drop(&mut self) {
        self.memory.reserved.store(self.reserved, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_adds_up_and_too_much_is_refused() {
        let memory = Memory::new(1000);
        let fork = || memory.fork().reserve("x", 600, || "it".into());
        memory.reserve("x", 500, || "it".into()).unwrap();
        let error = fork().unwrap_err();
        assert_eq!(
            error.to_string(),
            "x: it (about 1.1 KiB) needs more than the 1000 bytes allowed"
        );
        memory.clone().reserve("x", 500, || "it".into()).unwrap();
        assert!(memory.reserve("x", 1, || "it".into()).is_err());
        assert!(Memory::new(u64::MAX).reserve("x", u64::MAX, || "it".into()).is_ok());
    }

    #[test]
    fn what_a_scope_reserved_is_given_back() {
        let memory = Memory::new(1000);
        memory.reserve("x", 500, || "it".into()).unwrap();
        for _ in 0..3 {
            let _scope = memory.scope();
            memory.reserve("x", 400, || "it".into()).unwrap();
        }
        memory.reserve("x", 500, || "it".into()).unwrap();
        assert!(memory.reserve("x", 1, || "it".into()).is_err());
    }
}
