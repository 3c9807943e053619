//! `labelchain convert`: a data set in another format.

use std::path::PathBuf;

use clap::Args;
use labelchain::data::{Table, write};
use labelchain::prepare::one_hot;

use crate::args::DataFile;
use crate::messages::{Failure, remark};

#[derive(Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    data: DataFile,

    /// The file to write, by its ending; a Mulan label list is written beside it
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Replace nominal inputs by indicators, one per value, called name=value
    #[arg(long)]
    one_hot: bool,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let reading = self.data.read()?;
        reading.notes.iter().for_each(|note| remark(&format!("note: {}", note.text)));
        let table = match reading.table {
            Table::Rows(data) if self.one_hot => Table::Rows(one_hot(&data)?),
            table => table,
        };
        Ok(write(&table, &self.out)?)
    }
}
