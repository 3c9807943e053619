//! `labelchain demo`: see it work, no files needed.

use clap::Args;
use labelchain::data::{Description, LabelNetwork, Table};
use labelchain::seed::Seed;

use super::describe;
use crate::messages::{Failure, print};

#[derive(Args)]
pub(crate) struct Demo {
    /// The seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let data = LabelNetwork::default().generate("demo", Seed::new(self.seed))?;
        print(&describe::text(&Description::of(&Table::Rows(data), &[])))
    }
}
