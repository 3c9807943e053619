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
use super::{Dataset, Note, ReadOptions, Reading, Table, check_names, file};
use crate::error::{Error, Result};
use cells::{Column, Role};
use header::Header;
use rows::Rows;

/// Reads ARFF text; `path` is for messages, the data set's name and the label file beside it.
pub(crate) fn read(path: &Path, reader: impl Read, options: &ReadOptions) -> Result<Reading> {
    let mut lines = Lines::new(path, reader, options.encoding);
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
    let labels = columns.labels(&options.labels)?;
    let mut notes = header.notes;
    notes.extend(labels.notes);

    let label_names = labels.positions.iter().map(|&at| names[at].clone()).collect();
    let mut columns = cells::columns(path, header.attributes, &labels.positions, options)?;
    let mut rows = Rows::new(&columns, labels.positions.len(), labels.suspicion, options);
    while let Some(line) = lines.next()? {
        rows.read(&line, &mut columns, &mut budget)?;
    }
    let read = rows.finish();
    notes.extend(read.notes);

    let (mut attributes, mut instance_attributes) = (Vec::new(), Vec::new());
    for column in columns {
        match column.role {
            Role::Feature => {
                if column.is_text() {
                    notes.push(Note {
                        code: "text-as-nominal",
                        text: format!("text attribute {:?} is read as nominal", column.name),
                    });
                }
                attributes.push(column.into_attribute());
            }
            Role::Bag(inner) => {
                instance_attributes = inner.into_iter().map(Column::into_attribute).collect();
            }
            Role::Label(_) => {}
        }
    }
    let name = file::stem(path);
    let mut data = Dataset::new(name, attributes, read.features, label_names, read.labels)?;
    data.weights = read.weights;
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
