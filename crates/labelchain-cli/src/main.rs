//! The `labelchain` program: parse, call, print. The only place that exits.

mod args;
mod commands;
mod memory;
mod messages;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version also arrive here, with status 0.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match &arguments.command {
        Command::Describe(describe) => describe.run(),
        Command::Convert(convert) => convert.run(),
        Command::Split(split) => split.run(),
        Command::Score(score) => score.run(),
        Command::Demo(demo) => demo.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
