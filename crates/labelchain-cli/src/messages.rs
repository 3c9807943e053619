//! What a person sees: results on standard output, what went wrong on standard error.

use std::any::Any;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use labelchain::error::Error;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(Error),
    /// None of the methods asked for applies_to an option.
    Idle { option: String, methods: String },
    /// Standard output could not be written.
    Output(io::Error),
    /// A study is finished, but for cells that failed.
    Cells(usize),
    /// The user has seen enough.
    Interrupted,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl Failure {
    /// Says what is wrong, where and what to do, and chooses the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (text, status) = match &self {
            // Whoever reads our output has seen enough: `labelchain describe x | head -1`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Output(error) => (format!("error: standard output: {error}\n"), 3),
            Failure::Library(error) => {
                let is_systems = matches!(error, Error::Io { .. } | Error::Locked { .. });
                (told(error), if is_systems { 3 } else { 2 })
            }
            Failure::Idle { option, methods } => {
                let text = format!(
                    "error: {option} makes no difference to {methods}\n  help: leave it out; --help says which methods it is for\n"
                );
                (text, 2)
            }
            Failure::Cells(n) => {
                let cells = if *n == 1 { "cell" } else { "cells" };
                let text = format!("error: {n} {cells} failed\n  help: study status says why\n");
                (text, 1)
            }
            Failure::Interrupted => {
                let text = "interrupted\n  help: the same command goes on where it stopped\n";
                (text.into(), 130)
            }
        };
        let _ = io::stderr().write_all(text.as_bytes());
        ExitCode::from(status)
    }
}

/// Says that the program is wrong, not the user.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> ExitCode {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    remark(&format!(
        "error: a bug in labelchain {}: {}\n  help: please report it, with the command and the file",
        env!("CARGO_PKG_VERSION"),
        text.unwrap_or("no message")
    ));
    ExitCode::from(101)
}

fn told(error: &Error) -> String {
    let mut text = format!("error: {error}\n");
    if let Error::Content(content) = error
        && let Some((excerpt, at)) = &content.excerpt
    {
        let margin = content.line.to_string();
        let gap = " ".repeat(margin.len());
        let _ = writeln!(text, "  {margin} | {excerpt}");
        let _ = writeln!(text, "  {gap} | {}^", " ".repeat(*at));
    }
    if let Some(help) = error.help() {
        let _ = writeln!(text, "  help: {help}");
    }
    text
}

/// Writes a command's result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}

/// Writes a remark to standard error, so that standard output stays what was asked for.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
