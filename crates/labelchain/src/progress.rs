//! How far long work is, and a way to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// What has been done of something long.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// Folds of a cross-validation.
    Folds {
        /// How many are done.
        done: usize,
        /// Of how many.
        of: usize,
    },
    /// Generations of one genetic search.
    Generations {
        /// How many are done.
        done: usize,
        /// Of how many.
        of: usize,
        /// The least macro-F1 loss on validation rows so far.
        least_loss: f64,
    },
}

/// Stops work from another thread: clones share one flag, which the work looks at several times a
/// second. Stopped work ends with [`Error::Cancelled`] and leaves nothing behind.
///
/// ```
/// use labelchain::{Cancel, Dataset, ErrorKind, LabelChain};
///
/// let cancel = Cancel::default();
/// cancel.cancel();
/// let data = Dataset::from_rows(1, &[0.1, 0.9])?.with_label_indicators(&["high"], &[false, true])?;
/// let stopped = LabelChain::new("br-nb")?.cancelled_by(&cancel).fit(&data);
/// assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
/// # Ok::<(), labelchain::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Two are equal if both or neither were cancelled, so that models that hold one compare by content.
impl PartialEq for Cancel {
    fn eq(&self, other: &Cancel) -> bool {
        self.is_cancelled() == other.is_cancelled()
    }
}

impl Cancel {
    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the work with an error if it was asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Memory, cancellation and progress of long work; results do not depend on them.
#[derive(Clone)]
pub struct RunOptions<'p> {
    /// Bytes to use, of which distances take a part at a time; unlimited unless set.
    pub max_memory: u64,
    /// What stops the work.
    pub cancel: Cancel,
    /// Called, by the thread that asked for the work, after each step of something long.
    pub progress: &'p dyn Fn(Progress),
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        RunOptions { max_memory: u64::MAX, cancel: Cancel::default(), progress: &|_| () }
    }
}
