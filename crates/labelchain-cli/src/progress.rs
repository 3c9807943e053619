//! What a person sees while waiting: a bar on a terminal, silence in a pipe.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use labelchain::Progress;

use crate::messages::cleaned;

/// So many steps done of so many.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(what: &'static str, n_steps: usize) -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(n_steps as u64);
        let template = "{prefix} {pos}/{len} {bar:40} {elapsed} elapsed, {eta} left{msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.tick();
        Bar(bar)
    }

    /// For a wait of unknown length.
    pub(crate) fn spinner(what: &'static str) -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {prefix}, {elapsed} elapsed{msg}")
        {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        Bar(bar)
    }

    pub(crate) fn show(&self, progress: Progress) {
        match progress {
            Progress::Folds { done, .. } => {
                self.0.set_message("");
                self.0.set_position(done as u64);
            }
            Progress::Generations { done, of, least_loss } => {
                self.0.set_message(format!(
                    ", generation {done}/{of}, least macro-F1 loss {least_loss:.4}"
                ));
            }
            _ => {}
        }
    }

    /// Steps that are not alike: somebody else knows how long the rest will take.
    pub(crate) fn uneven(what: &'static str, n_steps: usize) -> Bar {
        let progress = Bar::new(what, n_steps);
        if let Ok(style) =
            ProgressStyle::with_template("{prefix} {pos}/{len} {bar:30} {elapsed} elapsed{msg}")
        {
            progress.0.set_style(style);
        }
        progress.0.enable_steady_tick(Duration::from_secs(1));
        progress
    }

    pub(crate) fn say(&self, n_done: usize, text: String) {
        self.0.set_position(n_done as u64);
        self.0.set_message(cleaned(&text).into_owned());
    }

    /// Also when it is dropped, so that an error does not stand behind half a bar.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.end();
    }
}
