//! `labelchain completions`: scripts with which a shell completes commands and options.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::args::Arguments;
use crate::messages::{Failure, print_data};

#[derive(Args)]
#[command(after_help = "\
Examples:
  labelchain completions bash > ~/.local/share/bash-completion/completions/labelchain
  labelchain completions fish > ~/.config/fish/completions/labelchain.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut Arguments::command(), "labelchain", &mut script);
        print_data(&String::from_utf8_lossy(&script))
    }
}
