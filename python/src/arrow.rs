//! Tables of other libraries through Arrow's C data interface, in and out.
//!
//! polars, pyarrow, DuckDB and others hand out their columns where they lie (`__arrow_c_stream__`), without
//! either side knowing the other. A cell is read there and written once, into the table that the library
//! keeps; no column is copied or converted as a whole. Only codes of named values are made first,
//! because they depend on all cells of a column.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types as arrow;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Date32Array, DictionaryArray, Float64Array,
    Int32Array, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
    TimestampMillisecondArray,
};
use arrow_pyarrow::FromPyArrow as _;
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};
use labelchain::Dataset;
use labelchain::data::{Attribute, AttributeKind};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::DataError;
use crate::labels::table;
use crate::rows::{Kinds, kinds};
use crate::work::without_lock;

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// Rows that are gathered together, so that the cells of a row are written while they are in the cache.
const BLOCK: usize = 256;

/// A table that another library holds, in one or several pieces of rows.
#[pyclass(frozen, module = "labelchain._labelchain")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    pieces: Vec<RecordBatch>,
}

#[pymethods]
impl ArrowTable {
    /// Of anything that has `__arrow_c_stream__` or, for a single piece, `__arrow_c_array__`.
    #[new]
    fn new(of: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        if !of.hasattr("__arrow_c_stream__")? {
            let piece = RecordBatch::from_pyarrow_bound(of)?;
            return Ok(ArrowTable { schema: piece.schema(), pieces: vec![piece] });
        }
        let stream = RecordBatchStreamReader::from_pyarrow_bound(of)?;
        // Who hands out the pieces may need the interpreter's lock in another thread.
        without_lock(of.py(), move || {
            let schema = arrow_array::RecordBatchReader::schema(&stream);
            let pieces = stream.collect::<Result<Vec<RecordBatch>, ArrowError>>();
            Ok(ArrowTable { schema, pieces: pieces.map_err(refused)? })
        })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The same table without some columns.
    fn without(&self, names: Vec<String>) -> PyResult<ArrowTable> {
        let fields = self.schema.fields().iter().enumerate();
        let kept: Vec<usize> =
            fields.filter(|(_, field)| !names.contains(field.name())).map(|(at, _)| at).collect();
        let project = || {
            let schema = Arc::new(self.schema.project(&kept)?);
            let pieces = self.pieces.iter().map(|piece| piece.project(&kept));
            Ok(ArrowTable { schema, pieces: pieces.collect::<Result<_, ArrowError>>()? })
        };
        project().map_err(|error: ArrowError| DataError::new_err(error.to_string()))
    }

    /// The names of the columns of strings.
    #[getter]
    fn strings(&self) -> Vec<String> {
        let is_string =
            |of: &DataType| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let fields = self.schema.fields().iter().filter(|field| is_string(field.data_type()));
        fields.map(|field| field.name().clone()).collect()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.pieces.iter().map(RecordBatch::num_rows).sum()
    }

    /// All cells, and for each column its name and what its cells are.
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f64>>, Kinds)> {
        let (attributes, cells) = without_lock(py, || self.gather())?;
        Ok((table(py, self.n_rows(), attributes.len(), cells), kinds(&attributes)))
    }
}

impl ArrowTable {
    /// The columns, and the cells row by row.
    pub(crate) fn gather(&self) -> PyResult<(Vec<Attribute>, Vec<f64>)> {
        let fields = self.schema.fields().iter().enumerate();
        let columns = fields.map(|(at, field)| {
            let pieces: Vec<&dyn Array> = self.pieces.iter().map(|it| &**it.column(at)).collect();
            Column::of(field.name(), field.data_type(), pieces)
        });
        let columns = columns.collect::<PyResult<Vec<Column<'_>>>>()?;
        let n_columns = columns.len();
        let mut cells = vec![f64::NAN; self.n_rows().saturating_mul(n_columns)];
        let mut rest = cells.as_mut_slice();
        for (piece, batch) in self.pieces.iter().enumerate() {
            for start in (0..batch.num_rows()).step_by(BLOCK) {
                let rows = start..batch.num_rows().min(start + BLOCK);
                let (block, later) = rest.split_at_mut(rows.len() * n_columns);
                for (at, column) in columns.iter().enumerate() {
                    let cells = block.iter_mut().skip(at).step_by(n_columns);
                    column.fill(piece, rows.clone(), cells)?;
                }
                rest = later;
            }
        }
        Ok((columns.into_iter().map(|column| column.attribute).collect(), cells))
    }
}

/// A column of a table, in pieces.
struct Column<'a> {
    attribute: Attribute,
    pieces: Vec<&'a dyn Array>,
    /// For named values, the position of each cell's value, by piece; NaN where there is none.
    codes: Vec<Vec<f64>>,
}

impl<'a> Column<'a> {
    fn of(name: &str, of: &DataType, pieces: Vec<&'a dyn Array>) -> PyResult<Column<'a>> {
        let numeric = Attribute::numeric(name);
        let (attribute, codes) = match of {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let (values, codes) = texts(&pieces)?;
                (Attribute::nominal(name, values), codes)
            }
            DataType::Dictionary(_, _) => {
                let (values, codes) = dictionary(name, &pieces)?;
                (Attribute::nominal(name, values), codes)
            }
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => {
                (Attribute { name: name.into(), kind: AttributeKind::Date }, vec![])
            }
            of if is_number(of) => (numeric, vec![]),
            of => return Err(no_input(name, of)),
        };
        Ok(Column { attribute, pieces, codes })
    }

    /// Writes the cells of some rows of a piece, where cells are not missing.
    fn fill<'c>(
        &self,
        piece: usize,
        rows: Range<usize>,
        cells: impl Iterator<Item = &'c mut f64>,
    ) -> PyResult<()> {
        if let Some(codes) = self.codes.get(piece) {
            cells.zip(&codes[rows]).for_each(|(cell, &code)| *cell = code);
            return Ok(());
        }
        let array = self.pieces[piece];
        // Numbers that are counted in parts of a unit, as whole multiples of it: the last is rounded down.
        let whole = |parts: i64| move |count: i64| count.div_euclid(parts) as f64;
        let (nanoseconds, microseconds) = (whole(1_000_000), whole(1_000));
        let milliseconds = |count: i64| count as f64;
        let seconds = |count: i64| count as f64 * 1_000.0;
        macro_rules! write {
            ($kind:ident, $number:expr) => {
                write::<arrow::$kind>(array, rows, cells, $number)
            };
        }
        match array.data_type() {
            // All are missing.
            DataType::Null => {}
            DataType::Boolean => {
                let array = array.as_boolean();
                for (row, cell) in rows.zip(cells) {
                    if array.is_valid(row) {
                        *cell = f64::from(u8::from(array.value(row)));
                    }
                }
            }
            DataType::Int8 => write!(Int8Type, f64::from),
            DataType::Int16 => write!(Int16Type, f64::from),
            DataType::Int32 => write!(Int32Type, f64::from),
            DataType::Int64 => write!(Int64Type, |it| it as f64),
            DataType::UInt8 => write!(UInt8Type, f64::from),
            DataType::UInt16 => write!(UInt16Type, f64::from),
            DataType::UInt32 => write!(UInt32Type, f64::from),
            DataType::UInt64 => write!(UInt64Type, |it| it as f64),
            DataType::Float16 => write!(Float16Type, f64::from),
            DataType::Float32 => write!(Float32Type, f64::from),
            DataType::Float64 => write!(Float64Type, |it| it),
            DataType::Decimal32(_, _) => decimals::<arrow::Decimal32Type>(array, rows, cells),
            DataType::Decimal64(_, _) => decimals::<arrow::Decimal64Type>(array, rows, cells),
            DataType::Decimal128(_, _) => decimals::<arrow::Decimal128Type>(array, rows, cells),
            DataType::Decimal256(_, _) => decimals::<arrow::Decimal256Type>(array, rows, cells),
            // Days since 1970.
            DataType::Date32 => write!(Date32Type, f64::from),
            DataType::Date64 => write!(Date64Type, |it| it as f64 / MILLISECONDS_A_DAY),
            DataType::Timestamp(unit, _) => match unit {
                TimeUnit::Second => {
                    write!(TimestampSecondType, |it| seconds(it) / MILLISECONDS_A_DAY)
                }
                TimeUnit::Millisecond => {
                    write!(TimestampMillisecondType, |it| it as f64 / MILLISECONDS_A_DAY)
                }
                TimeUnit::Microsecond => {
                    write!(TimestampMicrosecondType, |it| microseconds(it) / MILLISECONDS_A_DAY)
                }
                TimeUnit::Nanosecond => {
                    write!(TimestampNanosecondType, |it| nanoseconds(it) / MILLISECONDS_A_DAY)
                }
            },
            // Durations in milliseconds.
            DataType::Duration(TimeUnit::Second) => write!(DurationSecondType, seconds),
            DataType::Duration(TimeUnit::Millisecond) => {
                write!(DurationMillisecondType, milliseconds);
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                write!(DurationMicrosecondType, microseconds);
            }
            DataType::Duration(TimeUnit::Nanosecond) => write!(DurationNanosecondType, nanoseconds),
            // Times of day in nanoseconds.
            DataType::Time32(TimeUnit::Second) => {
                write!(Time32SecondType, |it| f64::from(it) * 1e9)
            }
            DataType::Time32(_) => write!(Time32MillisecondType, |it| f64::from(it) * 1e6),
            DataType::Time64(TimeUnit::Microsecond) => {
                write!(Time64MicrosecondType, |it| it as f64 * 1e3);
            }
            DataType::Time64(_) => write!(Time64NanosecondType, |it| it as f64),
            other => return Err(no_input(&self.attribute.name, other)),
        }
        Ok(())
    }
}

/// Whether cells are numbers, truth values, durations, times of day, or all missing.
fn is_number(of: &DataType) -> bool {
    of.is_numeric()
        || matches!(
            of,
            DataType::Boolean
                | DataType::Null
                | DataType::Duration(_)
                | DataType::Time32(_)
                | DataType::Time64(_)
        )
}

fn write<'c, T: ArrowPrimitiveType>(
    array: &dyn Array,
    rows: Range<usize>,
    cells: impl Iterator<Item = &'c mut f64>,
    number: impl Fn(T::Native) -> f64,
) {
    let array: &PrimitiveArray<T> = array.as_primitive();
    let values = &array.values()[rows.clone()];
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => cells.zip(values).for_each(|(cell, &value)| *cell = number(value)),
        Some(nulls) => {
            for ((row, &value), cell) in rows.zip(values).zip(cells) {
                if nulls.is_valid(row) {
                    *cell = number(value);
                }
            }
        }
    }
}

/// Decimal numbers, each as the nearest number there is: what their digits read as.
fn decimals<'c, T: arrow::DecimalType>(
    array: &dyn Array,
    rows: Range<usize>,
    cells: impl Iterator<Item = &'c mut f64>,
) {
    let array: &PrimitiveArray<T> = array.as_primitive();
    for (row, cell) in rows.zip(cells) {
        if array.is_valid(row) {
            *cell = array.value_as_string(row).parse().unwrap_or(f64::NAN);
        }
    }
}

/// Values in byte order, as the library has them from CSV, and codes of text by piece.
fn texts(pieces: &[&dyn Array]) -> PyResult<(Vec<String>, Vec<Vec<f64>>)> {
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<&str> = vec![];
    let mut first_codes: Vec<Vec<Option<usize>>> = Vec::with_capacity(pieces.len());
    for &piece in pieces {
        let mut codes = Vec::with_capacity(piece.len());
        for text in strings(piece)? {
            codes.push(text.map(|text| {
                *place.entry(text).or_insert_with(|| {
                    found.push(text);
                    found.len() - 1
                })
            }));
        }
        first_codes.push(codes);
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_unstable_by_key(|&at| found[at]);
    let mut code_of = vec![0.0; found.len()];
    for (code, &at) in order.iter().enumerate() {
        code_of[at] = code as f64;
    }
    let final_codes = |codes: Vec<Option<usize>>| {
        codes.into_iter().map(|at| at.map_or(f64::NAN, |at| code_of[at])).collect()
    };
    let values = order.into_iter().map(|at| found[at].to_string()).collect();
    Ok((values, first_codes.into_iter().map(final_codes).collect()))
}

/// The strings of an array; none if it holds other things.
fn strings(array: &dyn Array) -> PyResult<Box<dyn Iterator<Item = Option<&str>> + '_>> {
    // Bytes of another library: that they are UTF-8, within the array, has to be seen.
    array.to_data().validate_full().map_err(refused)?;
    Ok(match array.data_type() {
        DataType::Utf8 => Box::new(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(array.as_string_view().iter()),
        _ => Box::new(std::iter::empty()),
    })
}

/// Values in the order of the dictionaries, of which pieces may have several, and codes by piece.
fn dictionary(name: &str, pieces: &[&dyn Array]) -> PyResult<(Vec<String>, Vec<Vec<f64>>)> {
    let mut place: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<String> = vec![];
    let mut codes = Vec::with_capacity(pieces.len());
    for piece in pieces {
        piece.to_data().validate_full().map_err(refused)?;
        let dictionary = piece.as_any_dictionary();
        let of_piece = value_names(dictionary.values())?;
        let of_piece = of_piece.ok_or_else(|| no_input(name, piece.data_type()))?;
        // Without values every cell is missing, and there is nothing that keys could refer to.
        if of_piece.is_empty() {
            codes.push(vec![f64::NAN; piece.len()]);
            continue;
        }
        let code_of = of_piece.into_iter().map(|value| {
            let Some(value) = value else { return f64::NAN };
            let n_values = values.len();
            let code = *place.entry(value.clone()).or_insert(n_values);
            if code == n_values {
                values.push(value);
            }
            code as f64
        });
        let code_of: Vec<f64> = code_of.collect();
        let keys = dictionary.normalized_keys();
        let is_valid = |row: usize| dictionary.keys().is_valid(row);
        let code = |(row, &key): (usize, &usize)| {
            if is_valid(row) { code_of.get(key).copied().unwrap_or(f64::NAN) } else { f64::NAN }
        };
        codes.push(keys.iter().enumerate().map(code).collect());
    }
    Ok((values, codes))
}

/// What the values of a dictionary are called; none if they are no texts, whole numbers or truth values.
fn value_names(values: &dyn Array) -> PyResult<Option<Vec<Option<String>>>> {
    macro_rules! whole {
        ($kind:ident) => {
            values
                .as_primitive::<arrow::$kind>()
                .iter()
                .map(|it| it.map(|it| it.to_string()))
                .collect()
        };
    }
    Ok(Some(match values.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            strings(values)?.map(|text| text.map(String::from)).collect()
        }
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Boolean => {
            let python = |flag: bool| if flag { "True" } else { "False" }.to_string();
            values.as_boolean().iter().map(|flag| flag.map(python)).collect()
        }
        _ => return Ok(None),
    }))
}

fn no_input(name: &str, of: &DataType) -> PyErr {
    DataError::new_err(format!(
        "column {name:?} is of type {of}, which is neither a number, a category, text nor a date\n  \
         help: leave it out, or make it one of them"
    ))
}

fn refused(error: ArrowError) -> PyErr {
    DataError::new_err(format!("the table that was handed over is damaged: {error}"))
}

/// Rows as a stream that other libraries take, in a capsule: inputs, and labels as truth values.
pub(crate) fn stream<'py>(py: Python<'py>, data: &Dataset) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = without_lock(py, || batch(data).map_err(refused))?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(
        py,
        FFI_ArrowArrayStream::new(Box::new(reader)),
        c"arrow_array_stream",
    )
}

fn batch(data: &Dataset) -> Result<RecordBatch, ArrowError> {
    let (features, rows) = (data.features(), 0..data.n_rows());
    let mut columns: Vec<(String, ArrayRef)> = vec![];
    for (at, attribute) in data.attributes().iter().enumerate() {
        let cells = rows.clone().map(|row| Some(features.get(row, at)).filter(|it| !it.is_nan()));
        let cells: Vec<Option<f64>> = cells.collect();
        let code = |cell: &Option<f64>| cell.map(|code| code as i32);
        let column: ArrayRef = match &attribute.kind {
            AttributeKind::Nominal(values) => Arc::new(DictionaryArray::try_new(
                Int32Array::from_iter(cells.iter().map(code)),
                Arc::new(StringArray::from_iter_values(values)),
            )?),
            AttributeKind::Text(texts) => {
                let text = |cell: &Option<f64>| cell.and_then(|code| texts.get(code as usize));
                Arc::new(StringArray::from_iter(cells.iter().map(text)))
            }
            AttributeKind::Date if cells.iter().flatten().all(|day| day.fract() == 0.0) => {
                Arc::new(Date32Array::from_iter(cells.iter().map(code)))
            }
            AttributeKind::Date => {
                let moment = |day: f64| (day * MILLISECONDS_A_DAY).round() as i64;
                let moments = cells.iter().map(|day| day.map(moment));
                Arc::new(TimestampMillisecondArray::from_iter(moments))
            }
            _ => Arc::new(Float64Array::from_iter(cells)),
        };
        columns.push((attribute.name.clone(), column));
    }
    for (name, label) in data.label_names().iter().zip(data.labels().ids()) {
        let cells = rows.clone().map(|row| data.labels().cell(row, label));
        columns.push((name.clone(), Arc::new(BooleanArray::from_iter(cells))));
    }
    RecordBatch::try_from_iter(columns)
}
