//! Writing: one function for all formats.

use std::path::Path;

use super::label_list::{LabelList, xml_beside};
use super::{Format, Table, arff, csv, file, svmlight};
use crate::error::{Error, Result};

/// Writes a data file in the format that its name promises, and beside it the Mulan label list
/// that says which columns are labels (`yeast.csv` has `yeast.xml`).
pub fn write(table: &Table, path: &Path) -> Result<()> {
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
    file::save(path, |out| match (table, Format::of(path)) {
        (Table::Bags(bags), _) => arff::write_bags(bags, out),
        (_, Ok(Format::Csv)) => csv::write(data, b',', out),
        (_, Ok(Format::Tsv)) => csv::write(data, b'\t', out),
        (_, Ok(Format::SvmLight)) => svmlight::write(data, out),
        #[cfg(feature = "parquet")]
        (_, Ok(Format::Parquet)) => super::parquet::write(data, out),
        #[cfg(not(feature = "parquet"))]
        (_, Ok(Format::Parquet)) => Err(std::io::ErrorKind::Unsupported.into()),
        _ => arff::write(data, out),
    })?;
    if list_stands {
        return Ok(());
    }
    file::save(&xml, |out| out.write_all(LabelList::text(data.label_names()).as_bytes()))
}
