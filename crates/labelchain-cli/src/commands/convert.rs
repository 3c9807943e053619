//! `labelchain convert`: a data set in another format.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use labelchain::data::{Format, Table, write};
use labelchain::prepare::one_hot;

use crate::args::{DataFile, not_over};
use crate::messages::{Failure, remark};

#[derive(Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    data: DataFile,

    /// The file to write, by its ending; beside all but Parquet, a Mulan label list (.xml)
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Replace nominal inputs by indicators, one per value, called name=value
    #[arg(long)]
    one_hot: bool,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        not_over(&[&self.data.path], &self.out)?;
        let reading = self.data.read()?;
        reading.notes.iter().for_each(|note| remark(&format!("note: {}", note.text)));
        let table = match reading.table {
            Table::Rows(data) if self.one_hot => Table::Rows(one_hot(&data)?),
            table => table,
        };
        if let Table::Rows(data) = &table
            && Format::of(&self.out)? == Format::SvmLight
            && data.attributes().iter().any(|attribute| attribute.values().is_some())
        {
            remark(
                "note: nominal values are written as their numbers; --one-hot makes indicators of them",
            );
        }
        let written = write(&table, &self.out)?;
        if std::io::stderr().is_terminal() {
            let names: Vec<String> =
                written.iter().map(|path| path.display().to_string()).collect();
            remark(&format!("wrote {}", names.join(" and ")));
        }
        Ok(())
    }
}
