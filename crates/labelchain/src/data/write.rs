//! Writing: one function for all formats, and one for rows that are made as they are written.

use std::io::{self, Write};
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::label_list::{LabelList, xml_beside};
use super::output::{Output, publish};
use super::{Dataset, Format, Table, arff, csv, json_lines, svmlight};
use crate::error::{Error, ErrorKind, Remedy, Result};

/// Writes a data file in the format that its name promises, and beside it the Mulan label list
/// that says which columns are labels (`yeast.csv` has `yeast.xml`). Parquet says it itself.
///
/// Returns the files written.
pub fn write(table: &Table, path: &Path) -> Result<Vec<PathBuf>> {
    let outputs = outputs(table, path)?;
    let paths = outputs.iter().map(|output| output.path().into()).collect();
    publish(outputs).map(|()| paths)
}

/// The files of [`write()`], which [`publish`] names, perhaps together with others.
pub fn outputs(table: &Table, path: &Path) -> Result<Vec<Output>> {
    let format = Format::of(path)?;
    let data = match (table, format) {
        (Table::Rows(data), _) => data,
        (Table::Bags(bags), Format::Arff) => bags.rows(),
        (Table::Bags(_), _) => {
            return Err(Error::CannotWrite {
                path: path.into(),
                what: "only ARFF can hold multi-instance data".into(),
                remedy: Remedy::from(
                    "write to a file that ends in .arff, or make single rows of the bags with ",
                )
                .setting("bags"),
            });
        }
    };
    if format == Format::SvmLight && data.labels().n_unknown() > 0 {
        return Err(Error::CannotWrite {
            path: path.into(),
            what: "SVMLight cannot say that a label is unknown, for it lists the relevant ones"
                .into(),
            remedy: "write to a file that ends in .csv, .tsv, .jsonl, .arff or .parquet".into(),
        });
    }
    let list = list_to_write(data, path, format)?;
    let data_file = Output::with(path, |out| match (table, format) {
        (Table::Bags(bags), _) => arff::write_bags(bags, out),
        #[cfg(feature = "parquet")]
        (_, Format::Parquet) => super::parquet::write(data, out),
        _ => {
            write_header(data, format, out)?;
            write_rows(data, format, true, out)
        }
    })?;
    Ok(iter::once(data_file).chain(list).collect())
}

/// Writes `n_rows` rows that `rows` makes when asked for, without ever holding all of them: a block
/// at a time on each thread. Text formats only.
///
/// Returns the files written.
pub fn write_in_blocks(
    n_rows: usize,
    rows: impl Fn(Range<usize>) -> Result<Dataset> + Sync,
    path: &Path,
) -> Result<Vec<PathBuf>> {
    let format = Format::of(path)?;
    if format == Format::Parquet {
        return Err(Error::CannotWrite {
            path: path.into(),
            what: "Parquet is not written block by block".into(),
            remedy: "write .csv, .arff or .svm, and convert it if it fits in memory".into(),
        });
    }
    let none = rows(0..0)?;
    let list = list_to_write(&none, path, format)?;
    // As text and as cells, a block of a thousand rows takes some megabytes at most.
    let of_row = 32 * (none.n_features() + none.n_labels()).max(1);
    let n_block = ((8 << 20) / of_row).clamp(1, 1024);
    let text = |start: usize| -> Result<Vec<u8>> {
        let block = rows(start..n_rows.min(start.saturating_add(n_block)))?;
        let mut text = Vec::new();
        write_rows(&block, format, start == 0, &mut text)
            .map_err(|error| Error::io(path, error))?;
        Ok(text)
    };
    let data_file = Output::with(path, |out| {
        write_header(&none, format, out)?;
        let n_round = 4 * rayon::current_num_threads() * n_block;
        for first in (0..n_rows).step_by(n_round) {
            let last = n_rows.min(first.saturating_add(n_round));
            let starts: Vec<usize> = (first..last).step_by(n_block).collect();
            let texts: Result<Vec<Vec<u8>>> = starts.par_iter().map(|&start| text(start)).collect();
            texts.map_err(io::Error::other)?.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    })?;
    let outputs: Vec<Output> = iter::once(data_file).chain(list).collect();
    let paths = outputs.iter().map(|output| output.path().into()).collect();
    publish(outputs).map(|()| paths)
}

fn write_header(data: &Dataset, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Arff => arff::write_header(data, out),
        Format::Csv => csv::write_header(data, b',', out),
        Format::Tsv => csv::write_header(data, b'\t', out),
        // Every object names its columns.
        Format::JsonLines => Ok(()),
        Format::SvmLight => svmlight::write_header(data, out),
        Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn write_rows(
    data: &Dataset,
    format: Format,
    are_first: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Arff => arff::write_rows(data, out),
        Format::Csv => csv::write_rows(data, b',', out),
        Format::Tsv => csv::write_rows(data, b'\t', out),
        Format::JsonLines => json_lines::write_rows(data, out),
        Format::SvmLight => svmlight::write_rows(data, are_first, out),
        Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// The label list; none if the file needs none or one with the same labels stands there. Refused where
/// what stands there would make the data unreadable.
fn list_to_write(data: &Dataset, path: &Path, format: Format) -> Result<Option<Output>> {
    let xml = xml_beside(path);
    match LabelList::read(&xml) {
        Ok(list) if list.names().eq(data.label_names()) => Ok(None),
        Ok(_) => Err(Error::CannotWrite {
            path: xml,
            what: "exists and names other labels, so the data beside it would be misread".into(),
            remedy: "write under another name, or remove it".into(),
        }),
        Err(error) if error.kind() == ErrorKind::System && xml.exists() => Err(error),
        Err(_) if xml.exists() => Err(Error::CannotWrite {
            path: xml,
            what: "exists and is not a label list, so the data beside it could not be read".into(),
            remedy: "write under another name, or remove it".into(),
        }),
        Err(_) if format == Format::Parquet => Ok(None),
        Err(_) => {
            let text = LabelList::text(data.label_names(), data.history());
            Output::with(&xml, |out| out.write_all(text.as_bytes())).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelNetwork, Matrix, ReadOptions, read};
    use crate::seed::Seed;

    #[test]
    fn rows_written_as_they_are_made_are_those_written_at_once() {
        let place = tempfile::tempdir().unwrap();
        // More than two blocks, and not a whole number of them.
        let network = LabelNetwork { n_rows: 2500, decimals: Some(4), ..LabelNetwork::default() };
        let drawn = network.draw("made", Seed::new(1)).unwrap();
        let all = network.generate("made", Seed::new(1)).unwrap();
        for ending in ["csv", "tsv", "jsonl", "arff", "svm", "arff.gz"] {
            let made = place.path().join(format!("made.{ending}"));
            let whole = place.path().join(format!("{}/made.{ending}", ending.replace('.', "-")));
            std::fs::create_dir(whole.parent().unwrap()).unwrap();
            let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let written =
                threads.install(|| write_in_blocks(2500, |span| drawn.rows(span), &made).unwrap());
            // The first one writes the label list that serves them all.
            assert_eq!(written.len(), if ending == "csv" { 2 } else { 1 });
            write(&Table::Rows(all.clone()), &whole).unwrap();
            // Compressed bytes depend on the pieces they come in, which are not the same here.
            let bytes = |path: &Path| std::fs::read(path).unwrap();
            assert!(ending == "arff.gz" || bytes(&made) == bytes(&whole), "{ending}");
            let back = read(&made, &ReadOptions::default()).unwrap().into_rows().unwrap();
            assert_eq!(back.labels(), all.labels(), "{ending}");
            if let Matrix::Dense(_) = back.features() {
                assert_eq!(back.features(), all.features(), "{ending}");
            }
        }
    }

    #[test]
    fn what_cannot_be_made_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        let drawn = LabelNetwork::default().draw("x", Seed::new(1)).unwrap();
        let rows = |span: Range<usize>| match span.start {
            0 => drawn.rows(span),
            _ => Err(Error::Setting { name: "x", value: "y".into(), accepted: "z" }),
        };
        let error = write_in_blocks(5000, rows, &place.path().join("x.csv")).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }));
        let error = write_in_blocks(1, |span| drawn.rows(span), &place.path().join("x.parquet"));
        assert!(matches!(error, Err(Error::CannotWrite { .. })));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_was_done_stands_at_the_head_and_does_not_disturb_readers() {
        let place = tempfile::tempdir().unwrap();
        let mut data = LabelNetwork::default().generate("x", Seed::new(1)).unwrap();
        data.remember("made with\n--care");
        for (ending, head) in [("arff", "% made with --care\n"), ("svm", "# made with --care\n")] {
            let path = place.path().join(format!("x.{ending}"));
            write(&Table::Rows(data.clone()), &path).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().starts_with(head));
            let back = read(&path, &ReadOptions::default()).unwrap().into_rows().unwrap();
            assert_eq!(back.labels(), data.labels());
        }
        let list = std::fs::read_to_string(place.path().join("x.xml")).unwrap();
        assert!(list.contains("<!-- made with - -care -->\n"), "{list}");
    }
}
