//! ARFF: dense, sparse and multi-instance, in all the dialects that WEKA, Mulan and MEKA write.
//!
//! Lenient where a file can mean only one thing (keywords in any case, either quote, blanks,
//! tabs, comments, unsorted sparse indices), strict where it could mean two.

mod cells;
mod date;
mod header;
mod rows;
mod scan;
mod write;

pub(crate) use write::{write_bags, write_header, write_rows};

use std::io::Read;
use std::path::Path;

use super::bags::Bags;
use super::label_list::{Columns, LabelChoice};
use super::lines::{Budget, Lines};
use super::{Dataset, Note, ReadOptions, Reading, Table, check_names, file, in_blocks};
use crate::error::{Error, Result};
use cells::{Column, Role};
use header::Header;
use rows::{ReadRows, Rows};

/// Reads ARFF text, so many rows at a time; `path` is for messages, the data set's name and the label
/// file beside it.
pub(crate) fn read<'p, R: Read + 'p>(
    path: &'p Path,
    reader: R,
    options: &ReadOptions,
    n_rows: usize,
) -> Result<impl Iterator<Item = Result<Reading>> + use<'p, R>> {
    let mut lines = Lines::new(path, reader, options.encoding).within(options.max_memory);
    let mut budget = Budget::new(options.max_memory);
    let mut header = Header::read(&mut lines, &mut budget)?;
    let mut names: Vec<String> = header.attributes.iter().map(|a| a.name.clone()).collect();
    check_names(path, &mut names, options.dedupe)?;
    for (attribute, name) in header.attributes.iter_mut().zip(&names) {
        attribute.name.clone_from(name);
    }

    if let LabelChoice::Tags { .. } = options.labels {
        return Err(Error::Setting {
            name: "tags",
            value: "given for an ARFF file".into(),
            accepted: "used with CSV, TSV or Parquet; ARFF has a column for each label",
        });
    }
    let columns = Columns { path, names: &names, relation: Some(&header.relation) };
    let labels = columns.labels(&options.labels, &options.checksums)?;
    let mut notes = header.notes;
    notes.extend(labels.notes);

    let label_names: Vec<String> = labels.positions.iter().map(|&at| names[at].clone()).collect();
    let mut columns = cells::columns(path, header.attributes, &labels.positions, options)?;
    let options = options.clone();
    Ok(in_blocks(n_rows, move || {
        let mut rows = Rows::new(&columns, label_names.len(), labels.suspicion.clone(), &options);
        // A block is freed before the next one is read, so that each is charged to a copy of its own.
        let mut budget = budget.clone();
        while rows.n_rows() < n_rows
            && let Some(line) = lines.next()?
        {
            rows.read(&line, &mut columns, &mut budget)?;
        }
        let (n_read, notes) = (rows.n_rows(), std::mem::take(&mut notes));
        Ok((reading(path, rows.finish(), &columns, label_names.clone(), notes)?, n_read))
    }))
}

fn reading(
    path: &Path,
    read: ReadRows,
    columns: &[Column],
    label_names: Vec<String>,
    mut notes: Vec<Note>,
) -> Result<Reading> {
    notes.extend(read.notes);
    let (mut attributes, mut instance_attributes) = (Vec::new(), Vec::new());
    for column in columns {
        match &column.role {
            Role::Feature => {
                if column.is_text() {
                    notes.push(Note {
                        code: "text-as-nominal",
                        text: format!("text attribute {:?} is read as nominal", column.name),
                    });
                }
                attributes.push(column.attribute());
            }
            Role::Bag(inner) => {
                instance_attributes = inner.iter().map(Column::attribute).collect();
            }
            Role::Label(_) => {}
        }
    }
    let name = file::stem(path);
    let mut data = Dataset::new(name, attributes, read.features, label_names, read.labels)?;
    data.weights = read.weights;
    let dates = columns.iter().filter(|column| column.is_date()).map(|column| column.name.clone());
    let data = data.with_milliseconds(dates.collect());
    let table = match read.bags {
        None => Table::Rows(data),
        Some(bags) => Table::Bags(Bags::new(
            data,
            bags.name,
            instance_attributes,
            bags.instances,
            bags.starts,
        )?),
    };
    Ok(Reading { table, notes })
}

#[cfg(test)]
mod tests;
