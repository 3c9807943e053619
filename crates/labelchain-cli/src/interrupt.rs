//! What a signal does: SIGINT (Ctrl-C), SIGTERM and SIGHUP end every command with status 130, and leave
//! no part of a file behind. A study ends by itself, so that it can say how far it came. A service ends by
//! itself, so that it can finish what it is doing; SIGHUP has it load its model again.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use labelchain::data::remove_part_files;
use labelchain_serve::Control;

use crate::messages::remark;

/// Whether the command looks at [`INTERRUPTED`] and ends by itself.
static ENDS_ITSELF: AtomicBool = AtomicBool::new(false);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A flag that a signal sets. The command that takes it has to end when it is set; a second signal
/// ends it at once.
pub(crate) fn flag() -> &'static AtomicBool {
    ENDS_ITSELF.store(true, Ordering::SeqCst);
    &INTERRUPTED
}

/// The service that signals are for, where the command is one.
static SERVICE: OnceLock<Control> = OnceLock::new();

/// Has signals stop a service, or have it load its model again, instead of ending the command. A second
/// signal to stop ends it at once.
pub(crate) fn control(service: Control) {
    if SERVICE.set(service).is_ok() {
        ENDS_ITSELF.store(true, Ordering::SeqCst);
    }
}

#[cfg(unix)]
fn on_hangup() {
    SERVICE.get().map_or_else(on_signal, Control::reload);
}

fn on_signal() {
    SERVICE.get().into_iter().for_each(Control::stop);
    let is_second = INTERRUPTED.swap(true, Ordering::SeqCst);
    if is_second || !ENDS_ITSELF.load(Ordering::SeqCst) {
        remove_part_files();
        // By a thread of its own: whoever reads standard error may have stopped reading.
        thread::spawn(|| remark("interrupted"));
        thread::sleep(Duration::from_millis(50));
        process::exit(130);
    }
}

/// Watches for signals in a thread of its own.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) {
        let on = |signal| if signal == SIGHUP { on_hangup() } else { on_signal() };
        let wait = move || signals.forever().for_each(on);
        let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
    }
}

#[cfg(not(unix))]
pub(crate) fn watch() {
    let _ = ctrlc::set_handler(on_signal);
}

/// Whether whoever started us wants a signal ignored: `nohup` keeps a command running after the
/// terminal is closed, and shells run background commands without Ctrl-C.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
