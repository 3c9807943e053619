//! The `labelchain` program: parse, call, print. The only place that exits.

mod args;
mod bars;
mod commands;
mod fetch;
mod interrupt;
mod measures;
mod memory;
mod messages;
mod progress;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // An error repeats what was typed, which is cleaned; help and version also arrive here, with
        // status 0, and repeat nothing.
        Err(error) => {
            if error.use_stderr() {
                messages::complain(&error.render().to_string());
            } else {
                let _ = error.print();
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    // A panic that the library catches (some damaged Parquet files cause one) is told as an error
    // and not twice; one that arrives here is a bug of ours.
    panic::set_hook(Box::new(|_| ()));
    interrupt::watch();
    match panic::catch_unwind(AssertUnwindSafe(|| run(&arguments.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        Err(panic) => messages::bug(panic.as_ref()),
    }
}

fn run(command: &Command) -> Result<(), messages::Failure> {
    match command {
        Command::Demo(demo) => demo.run(),
        Command::Datasets(datasets) => datasets.run(),
        Command::Generate(generate) => generate.run(),
        Command::Describe(describe) => describe.run(),
        Command::Convert(convert) => convert.run(),
        Command::Split(split) => split.run(),
        Command::Train(train) => train.run(),
        Command::Update(update) => update.run(),
        Command::Show(show) => show.run(),
        Command::Predict(predict) => predict.run(),
        Command::Explain(explain) => explain.run(),
        Command::Serve(serve) => serve.run(),
        Command::Score(score) => score.run(),
        Command::Evaluate(evaluate) => evaluate.run(),
        Command::Study(study) => study.run(),
        Command::Compare(compare) => compare.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    }
}
