//! `labelchain man`: the manual, a page for each command.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use labelchain::data::save;
use labelchain::error::{Error, Result};

use crate::args::{Arguments, ForceArgs};
use crate::messages::Failure;

#[derive(Args)]
#[command(after_help = "\
Example:
  labelchain man -o ~/.local/share/man/man1
  man labelchain-train")]
pub(crate) struct Man {
    /// The directory to write to
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

impl Man {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let refused = |source| Error::Io { path: self.out.clone(), source };
        fs::create_dir_all(&self.out).map_err(refused)?;
        let mut program = Arguments::command().disable_help_subcommand(true);
        program.build();
        Ok(self.write(program)?)
    }

    /// Writes the page of a command and those of its subcommands.
    fn write(&self, command: clap::Command) -> Result<()> {
        command.get_subcommands().try_for_each(|part| self.write(part.clone()))?;
        let page = clap_mangen::Man::new(command)
            .source(concat!("labelchain ", env!("CARGO_PKG_VERSION")));
        let mut text = Vec::new();
        let path = self.out.join(page.get_filename());
        page.render(&mut text).map_err(|source| Error::Io { path: path.clone(), source })?;
        // The text after the options has the heading EXTRA; its own first line is the better heading.
        let text = String::from_utf8_lossy(&text)
            .replace(".SH EXTRA\nExample:", ".SH EXAMPLE")
            .replace(".SH EXTRA\nExamples:", ".SH EXAMPLES")
            .replace(".SH EXTRA", ".SH NOTES");
        self.force.check_new(&path)?;
        save(&path, |out| out.write_all(text.as_bytes()))
    }
}
