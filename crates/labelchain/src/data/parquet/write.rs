//! Writing: inputs that may be null, then labels that may not, then what only metadata can say.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::about;
use crate::data::{Attribute, AttributeKind, Dataset, Matrix};

/// Cells of a row group: enough to compress well, few enough to be read with little memory.
const GROUP_CELLS: usize = 1 << 26;
const GROUP_ROWS: usize = 1 << 20;

/// Writes a data set so that reading it gives the same one, to the bit.
pub(crate) fn write(data: &Dataset, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let n_columns = data.n_features() + data.n_labels();
    if n_columns == 0 && data.n_rows() > 0 {
        return Err(refused("rows without columns cannot be said in Parquet".into()));
    }
    let names = data.attributes().iter().map(|attribute| &attribute.name).chain(data.label_names());
    let mut seen = HashSet::with_capacity(n_columns);
    for name in names {
        if !seen.insert(name) {
            return Err(refused(format!("two columns are called {name:?}")));
        }
    }
    write_parquet(data, out, GROUP_ROWS.min(GROUP_CELLS / n_columns.max(1)).max(1)).map_err(system)
}

fn refused(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The system's own error where there is one: the crate wraps it.
fn system(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

pub(super) fn write_parquet(
    data: &Dataset,
    out: &mut (dyn Write + Send),
    group_rows: usize,
) -> ParquetResult<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(vec![about::of(data)]))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema(data)?), Arc::new(properties))?;
    let values: Vec<Vec<ByteArray>> = data
        .attributes()
        .iter()
        .map(|attribute| attribute.values().into_iter().flatten())
        .map(|values| values.map(|value| ByteArray::from(value.as_str())).collect())
        .collect();
    let has_unknown = data.labels().n_unknown() > 0;
    for first in (0..data.n_rows()).step_by(group_rows) {
        let rows = first..data.n_rows().min(first + group_rows);
        let inputs = Inputs::new(data.features(), rows.clone());
        let mut group = file.next_row_group()?;
        for (at, attribute) in data.attributes().iter().enumerate() {
            let cells = inputs.column(at);
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_nan())).collect();
            let present = cells.into_iter().filter(|cell| !cell.is_nan());
            let Some(mut column) = group.next_column()? else { break };
            match attribute.kind {
                AttributeKind::Numeric | AttributeKind::Word => {
                    let present: Vec<f64> = present.collect();
                    column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
                }
                AttributeKind::Date | AttributeKind::Text(_) => {
                    let spelt = present.filter_map(|cell| attribute.text(cell));
                    let texts = spelt.map(|text| ByteArray::from(text.into_owned().into_bytes()));
                    let texts: Vec<ByteArray> = texts.collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
                AttributeKind::Nominal(_) => {
                    let texts = present.map(|cell| text(attribute, &values[at], cell));
                    let texts = texts.collect::<ParquetResult<Vec<ByteArray>>>()?;
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
            }
            column.close()?;
        }
        for label in data.labels().ids() {
            let cells: Vec<Option<bool>> =
                rows.clone().map(|row| data.labels().cell(row, label)).collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let relevant: Vec<bool> = cells.into_iter().flatten().collect();
            let levels = has_unknown.then_some(&levels[..]);
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<BoolType>().write_batch(&relevant, levels, None)?;
            column.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn schema(data: &Dataset) -> ParquetResult<Type> {
    let inputs = data.attributes().iter().map(|attribute| {
        let (physical, logical) = match attribute.kind {
            AttributeKind::Numeric | AttributeKind::Word => (Physical::DOUBLE, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(&attribute.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL)
            .build()
    });
    let has_unknown = data.labels().n_unknown() > 0;
    let repetition = if has_unknown { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let labels = data.label_names().iter().map(|name| {
        Type::primitive_type_builder(name, Physical::BOOLEAN).with_repetition(repetition).build()
    });
    let fields = inputs.chain(labels).map(|field| field.map(Arc::new));
    Type::group_type_builder("schema").with_fields(fields.collect::<ParquetResult<_>>()?).build()
}

/// The text of a nominal cell.
fn text(attribute: &Attribute, values: &[ByteArray], cell: f64) -> ParquetResult<ByteArray> {
    let value = values.get(cell as usize).filter(|_| cell >= 0.0 && cell.fract() == 0.0);
    value.cloned().ok_or_else(|| {
        ParquetError::General(format!("{cell} is none of the values of {:?}", attribute.name))
    })
}

/// The inputs of a row group, by columns.
enum Inputs<'a> {
    Dense {
        features: &'a Matrix,
        rows: Range<usize>,
    },
    /// The place in the group and the value of each column's non-zero cells.
    Sparse {
        n_rows: usize,
        columns: Vec<Vec<(usize, f64)>>,
    },
}

impl Inputs<'_> {
    fn new(features: &Matrix, rows: Range<usize>) -> Inputs<'_> {
        if let Matrix::Dense(_) = features {
            return Inputs::Dense { features, rows };
        }
        let mut columns = vec![Vec::new(); features.n_columns()];
        let n_rows = rows.len();
        for (at, row) in rows.enumerate() {
            features.entries(row).for_each(|(column, value)| columns[column].push((at, value)));
        }
        Inputs::Sparse { n_rows, columns }
    }

    fn column(&self, column: usize) -> Vec<f64> {
        match self {
            Inputs::Dense { features, rows } => {
                rows.clone().map(|row| features.get(row, column)).collect()
            }
            Inputs::Sparse { n_rows, columns } => {
                let mut cells = vec![0.0; *n_rows];
                columns[column].iter().for_each(|&(at, value)| cells[at] = value);
                cells
            }
        }
    }
}
