//! Writing: one function for all formats.

use std::path::{Path, PathBuf};

use super::label_list::{LabelList, xml_beside};
use super::{Format, Table, arff, csv, file, svmlight};
use crate::error::{Error, Result};

/// Writes a data file in the format that its name promises, and beside it the Mulan label list
/// that says which columns are labels (`yeast.csv` has `yeast.xml`). Parquet says it itself.
///
/// Returns the files written.
pub fn write(table: &Table, path: &Path) -> Result<Vec<PathBuf>> {
    let data = match (table, Format::of(path)?) {
        (Table::Rows(data), _) => data,
        (Table::Bags(bags), Format::Arff) => bags.rows(),
        (Table::Bags(_), _) => {
            return Err(Error::CannotWrite {
                path: path.into(),
                what: "only ARFF can hold multi-instance data".into(),
                remedy: "write to a file that ends in .arff",
            });
        }
    };
    let format = Format::of(path)?;
    let xml = xml_beside(path);
    let list_stands = match LabelList::read(&xml) {
        Ok(list) if list.names().eq(data.label_names()) => true,
        Ok(_) => {
            return Err(Error::CannotWrite {
                path: xml,
                what: "exists and names other labels, so the data beside it would be misread"
                    .into(),
                remedy: "write under another name, or remove it",
            });
        }
        Err(_) if xml.exists() => {
            return Err(Error::CannotWrite {
                path: xml,
                what: "exists and is not a label list, so the data beside it could not be read"
                    .into(),
                remedy: "write under another name, or remove it",
            });
        }
        Err(_) => false,
    };
    file::save(path, |out| match (table, format) {
        (Table::Bags(bags), _) => arff::write_bags(bags, out),
        (_, Format::Csv) => csv::write(data, b',', out),
        (_, Format::Tsv) => csv::write(data, b'\t', out),
        (_, Format::SvmLight) => svmlight::write(data, out),
        #[cfg(feature = "parquet")]
        (_, Format::Parquet) => super::parquet::write(data, out),
        #[cfg(not(feature = "parquet"))]
        (_, Format::Parquet) => Err(std::io::ErrorKind::Unsupported.into()),
        _ => arff::write(data, out),
    })?;
    if list_stands || format == Format::Parquet {
        return Ok(vec![path.into()]);
    }
    file::save(&xml, |out| out.write_all(LabelList::text(data.label_names()).as_bytes()))?;
    Ok(vec![path.into(), xml])
}
