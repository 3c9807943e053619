//! The cells of one column in one row group, a batch at a time.

use std::path::Path;

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::{ParquetError, Result as PageResult};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescPtr;

use super::kind::{Column, Kind, Number};
use super::{fault, translated};
use crate::error::{Error, Result};

/// One cell.
pub(super) enum Cell<'c> {
    Missing,
    Flag(bool),
    Number(f64),
    Text(&'c [u8]),
    Texts(&'c [&'c [u8]]),
}

/// An open column of a row group.
pub(super) struct Chunk<'a> {
    path: &'a Path,
    column: &'a Column,
    reader: ColumnReader,
    /// The definition level of a value that is there.
    present: i16,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl<'a> Chunk<'a> {
    /// Opens a column of a row group. Numbers of the file are checked before anything is
    /// allocated by them.
    pub(super) fn open(
        path: &'a Path,
        column: &'a Column,
        group: &dyn RowGroupReader,
        file_length: u64,
        max_memory: u64,
    ) -> Result<Chunk<'a>> {
        let damaged = |found: String| {
            Error::from(fault(path, format!("a whole column {:?}", column.name), found))
        };
        let Some(metadata) = group.metadata().columns().get(column.leaf) else {
            return Err(damaged("a row group without it".into()));
        };
        let n_rows = group.metadata().num_rows();
        // A list without an element counts as one value, too.
        let is_plausible = match column.kind {
            Kind::Texts => metadata.num_values() >= n_rows,
            _ => metadata.num_values() == n_rows,
        };
        if !is_plausible {
            let found = format!("{} values in a row group of {n_rows} rows", metadata.num_values());
            return Err(damaged(found));
        }
        use parquet::basic::Compression;
        let compression = metadata.compression();
        if let Compression::BROTLI(_) | Compression::LZ4 | Compression::LZ4_RAW | Compression::LZO =
            compression
        {
            let expected =
                format!("column {:?} without compression, or zstd, snappy, gzip", column.name);
            return Err(fault(path, expected, compression.to_string())
                .help("write the file with one of these")
                .into());
        }
        let start = metadata.dictionary_page_offset().unwrap_or(metadata.data_page_offset());
        let end = start.checked_add(metadata.compressed_size());
        let is_inside = |end: i64| start >= 0 && end >= start && end as u64 <= file_length;
        if !end.is_some_and(is_inside) {
            return Err(damaged("a place for it beyond the end of the file".into()));
        }
        let description = metadata.column_descr_ptr();
        let pages = group.get_column_page_reader(column.leaf).map_err(|e| translated(path, e))?;
        let pages =
            Bounded { pages, path: path.into(), description: description.clone(), max_memory };
        Ok(Chunk {
            path,
            column,
            present: description.max_def_level(),
            reader: get_column_reader(description, Box::new(pages)),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        })
    }

    /// Passes over the next `n` cells, and over whole pages without decoding them.
    pub(super) fn skip(&mut self, n: usize) -> Result<()> {
        let skipped = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int32ColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int64ColumnReader(reader) => reader.skip_records(n),
            ColumnReader::Int96ColumnReader(reader) => reader.skip_records(n),
            ColumnReader::FloatColumnReader(reader) => reader.skip_records(n),
            ColumnReader::DoubleColumnReader(reader) => reader.skip_records(n),
            ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(n),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => reader.skip_records(n),
        };
        if skipped.map_err(|error| translated(self.path, error))? == n {
            return Ok(());
        }
        let expected = format!("as many cells in column {:?} as there are rows", self.column.name);
        Err(fault(self.path, expected, "fewer").into())
    }

    /// Reads the next `n` cells and gives each with its place among them.
    pub(super) fn read(
        &mut self,
        n: usize,
        mut give: impl FnMut(usize, Cell) -> Result<()>,
    ) -> Result<()> {
        let number = match self.column.kind {
            Kind::Number(number) => number,
            _ => Number::Plain,
        };
        let of_integer = move |signed: i64, unsigned: u64| match number {
            Number::Unsigned => unsigned as f64,
            Number::Times(factor) => signed as f64 * factor,
            Number::Over(divisor) => signed as f64 / divisor,
            Number::Plain | Number::Half => signed as f64,
        };
        let (path, column) = (self.path, self.column);
        let (definitions, repetitions) = (&mut self.definitions, &mut self.repetitions);
        let mut batch = Batch { path, column, n, present: self.present, definitions, repetitions };
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => batch
                .read(reader, |at, flag| give(at, flag.map_or(Cell::Missing, |&f| Cell::Flag(f)))),
            ColumnReader::Int32ColumnReader(reader) => batch.read(reader, |at, value| {
                let number = |&v: &i32| Cell::Number(of_integer(v.into(), (v as u32).into()));
                give(at, value.map_or(Cell::Missing, number))
            }),
            ColumnReader::Int64ColumnReader(reader) => batch.read(reader, |at, value| {
                let number = |&v: &i64| Cell::Number(of_integer(v, v as u64));
                give(at, value.map_or(Cell::Missing, number))
            }),
            ColumnReader::Int96ColumnReader(reader) => batch.read(reader, |at, value| {
                let number = |v: &parquet::data_type::Int96| Cell::Number(moment(v.data()));
                give(at, value.map_or(Cell::Missing, number))
            }),
            ColumnReader::FloatColumnReader(reader) => batch.read(reader, |at, value| {
                give(at, value.map_or(Cell::Missing, |&v| Cell::Number(v.into())))
            }),
            ColumnReader::DoubleColumnReader(reader) => batch.read(reader, |at, value| {
                give(at, value.map_or(Cell::Missing, |&v| Cell::Number(v)))
            }),
            ColumnReader::ByteArrayColumnReader(reader) => match column.kind {
                Kind::Texts => batch.read_lists(reader, give),
                Kind::Text => batch.read(reader, |at, value| {
                    give(at, value.map_or(Cell::Missing, |v| Cell::Text(v.as_bytes())))
                }),
                _ => batch.read(reader, |at, value| {
                    give(at, bytes_number(path, column, number, value.map(|v| v.as_bytes()))?)
                }),
            },
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                batch.read(reader, |at, value| {
                    give(at, bytes_number(path, column, number, value.map(|v| v.as_bytes()))?)
                })
            }
        }
    }
}

struct Batch<'b> {
    path: &'b Path,
    column: &'b Column,
    n: usize,
    present: i16,
    definitions: &'b mut Vec<i16>,
    repetitions: &'b mut Vec<i16>,
}

impl Batch<'_> {
    fn fill<T: DataType>(&mut self, reader: &mut ColumnReaderImpl<T>) -> Result<Vec<T::T>> {
        self.definitions.clear();
        self.repetitions.clear();
        let mut values = Vec::with_capacity(self.n);
        let (definitions, repetitions) = (&mut *self.definitions, &mut *self.repetitions);
        let (n_read, ..) = reader
            .read_records(self.n, Some(definitions), Some(repetitions), &mut values)
            .map_err(|error| translated(self.path, error))?;
        if n_read == self.n { Ok(values) } else { Err(self.short()) }
    }

    fn short(&self) -> Error {
        let expected = format!("as many cells in column {:?} as there are rows", self.column.name);
        fault(self.path, expected, "fewer").into()
    }

    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        mut give: impl FnMut(usize, Option<&T::T>) -> Result<()>,
    ) -> Result<()> {
        let values = self.fill(reader)?;
        let mut values = values.iter();
        for at in 0..self.n {
            let is_there =
                self.present == 0 || self.definitions.get(at).is_some_and(|&d| d == self.present);
            if is_there {
                give(at, Some(values.next().ok_or_else(|| self.short())?))?
            } else {
                give(at, None)?
            }
        }
        Ok(())
    }

    fn read_lists<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        mut give: impl FnMut(usize, Cell) -> Result<()>,
    ) -> Result<()>
    where
        T::T: AsBytes,
    {
        let values = self.fill(reader)?;
        let mut values = values.iter();
        let mut levels = self.definitions.iter().zip(&*self.repetitions).peekable();
        let mut elements = Vec::new();
        for at in 0..self.n {
            elements.clear();
            let mut is_missing = false;
            let mut is_first = true;
            // A repetition level of 0 begins a row.
            while let Some((&definition, _)) =
                levels.next_if(|&(_, &repetition)| is_first == (repetition == 0))
            {
                is_missing = is_first && self.column.is_optional && definition == 0;
                is_first = false;
                if definition == self.present {
                    elements.push(values.next().ok_or_else(|| self.short())?.as_bytes());
                }
            }
            if is_first {
                return Err(self.short());
            }
            give(at, if is_missing { Cell::Missing } else { Cell::Texts(&elements) })?;
        }
        Ok(())
    }
}

/// A number that stands in bytes: a decimal or two bytes of floating point.
fn bytes_number(
    path: &Path,
    column: &Column,
    number: Number,
    bytes: Option<&[u8]>,
) -> Result<Cell<'static>> {
    let Some(bytes) = bytes else { return Ok(Cell::Missing) };
    let value = match (number, bytes) {
        (Number::Half, &[low, high]) => Some(half(u16::from_le_bytes([low, high]))),
        (Number::Over(divisor), _) => decimal(bytes).map(|unscaled| unscaled as f64 / divisor),
        _ => None,
    };
    value.map(Cell::Number).ok_or_else(|| {
        let expected = format!("numbers of at most 16 bytes in column {:?}", column.name);
        fault(path, expected, format!("{} bytes", bytes.len())).help(super::LEAVE_OUT).into()
    })
}

/// Two's complement, the most significant byte first.
pub(super) fn decimal(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { 0xFF };
    let mut all = [sign; 16];
    all.get_mut(16usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(all))
}

/// A half-precision float.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3FF);
    match bits >> 10 & 0x1F {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

/// Nanoseconds of the day in two words, then the Julian day number, as milliseconds since 1970.
pub(super) fn moment(words: &[u32]) -> f64 {
    const DAY_OF_1970: i64 = 2_440_588;
    let &[low, high, day] = words else { return f64::NAN };
    let nanoseconds = (u64::from(high) << 32 | u64::from(low)) as i64;
    (i64::from(day) - DAY_OF_1970) as f64 * 86_400_000.0 + nanoseconds as f64 / 1e6
}

/// Pages whose counts have been checked: the decoders allocate by them.
struct Bounded {
    pages: Box<dyn PageReader>,
    path: std::path::PathBuf,
    description: ColumnDescPtr,
    max_memory: u64,
}

impl Bounded {
    fn check(&self, page: &Page) -> PageResult<()> {
        use parquet::basic::Type as Physical;
        let length = page.buffer().len() as u64;
        let n_values = u64::from(page.num_values());
        let needed = match page {
            // A dictionary is decoded at once; each entry takes at least this many bytes of it.
            Page::DictionaryPage { .. } => {
                let least = match self.description.physical_type() {
                    Physical::BOOLEAN => 1,
                    Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => 4,
                    Physical::INT64 | Physical::DOUBLE => 8,
                    Physical::INT96 => 12,
                    Physical::FIXED_LEN_BYTE_ARRAY => self.description.type_length().max(1) as u64,
                };
                if n_values > length / least {
                    return Err(ParquetError::General(format!(
                        "a dictionary of {n_values} entries in {length} bytes"
                    )));
                }
                n_values.saturating_mul(32).saturating_add(length)
            }
            // One row may take a whole page of lists.
            _ if self.description.max_rep_level() > 0 => n_values.saturating_mul(4) + length,
            _ => length,
        };
        if needed > self.max_memory {
            return Err(ParquetError::External(Box::new(Error::TooLarge {
                path: self.path.clone(),
                needed: None,
                what: format!("a page of column {:?}", self.description.path().string()),
                limit: self.max_memory,
            })));
        }
        Ok(())
    }
}

impl PageReader for Bounded {
    fn get_next_page(&mut self) -> PageResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> PageResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> PageResult<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> PageResult<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for Bounded {
    type Item = PageResult<Page>;

    fn next(&mut self) -> Option<PageResult<Page>> {
        self.get_next_page().transpose()
    }
}
