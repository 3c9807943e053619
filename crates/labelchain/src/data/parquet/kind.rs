//! What the columns of a Parquet file hold, as far as a table of inputs and labels has a use
//! for it.

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};

/// One column of the table: a field of the schema's root.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Where its cells stand among the leaves of the schema, which are what row groups hold.
    pub(super) leaf: usize,
    /// Whether a cell may be missing; of a list, whether the whole list may be.
    pub(super) is_optional: bool,
    /// Whether its numbers are days or moments.
    pub(super) is_date: bool,
}

/// What the cells of a column are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Flag,
    Number(Number),
    Text,
    /// A list of texts: nothing but tags.
    Texts,
    /// A type without a meaning here, as people call it.
    Other(String),
}

/// How a number is to be understood. Dates and times are milliseconds, as in ARFF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer or float that means itself.
    Plain,
    Unsigned,
    /// To be multiplied: the days of a date.
    Times(f64),
    /// To be divided: microseconds, decimals. A factor below 1 would round twice.
    Over(f64),
    /// Two bytes of floating point.
    Half,
}

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// The columns of the table, in file order.
pub(super) fn columns(schema: &SchemaDescriptor) -> Vec<Column> {
    let mut leaves = (0..schema.num_columns()).peekable();
    let fields = schema.root_schema().get_fields().iter().enumerate();
    fields
        .map(|(position, field)| {
            let leaf = leaves.peek().copied().unwrap_or_default();
            let mut n_leaves = 0;
            while leaves.next_if(|&at| schema.get_column_root_idx(at) == position).is_some() {
                n_leaves += 1;
            }
            let kind = if n_leaves == 1 && is_text_list(field, schema, leaf) {
                Kind::Texts
            } else {
                kind(field)
            };
            let (name, is_optional) = (field.name().into(), field.is_optional());
            Column { name, kind, leaf, is_optional, is_date: is_date(field) }
        })
        .collect()
}

/// The three levels that today's writers give a list, the two of old ones, or a repeated text.
fn is_text_list(field: &Type, schema: &SchemaDescriptor, leaf: usize) -> bool {
    let leaf = schema.column(leaf);
    let is_list =
        field.is_primitive() || is_annotated(field, &LogicalType::List, ConvertedType::LIST);
    is_list && leaf.max_rep_level() == 1 && primitive(leaf.self_type()) == Kind::Text
}

fn kind(field: &Type) -> Kind {
    let info = field.get_basic_info();
    if field.is_group() {
        let list = is_annotated(field, &LogicalType::List, ConvertedType::LIST);
        let map = is_annotated(field, &LogicalType::Map, ConvertedType::MAP);
        return Kind::Other(
            if list {
                "a list"
            } else if map {
                "a map"
            } else {
                "a struct"
            }
            .into(),
        );
    }
    if info.has_repetition() && info.repetition() == Repetition::REPEATED {
        return Kind::Other("a list".into());
    }
    primitive(field)
}

fn is_date(field: &Type) -> bool {
    use ConvertedType as Old;
    let info = field.get_basic_info();
    let is_annotated = match info.logical_type_ref() {
        Some(LogicalType::Date | LogicalType::Timestamp(_)) => true,
        Some(_) => false,
        None => matches!(
            info.converted_type(),
            Old::DATE | Old::TIMESTAMP_MILLIS | Old::TIMESTAMP_MICROS
        ),
    };
    field.is_primitive() && (is_annotated || field.get_physical_type() == Physical::INT96)
}

fn is_annotated(field: &Type, logical: &LogicalType, converted: ConvertedType) -> bool {
    let info = field.get_basic_info();
    info.logical_type_ref() == Some(logical) || info.converted_type() == converted
}

/// What a single value is. Old writers know only the converted type, new ones say both.
fn primitive(field: &Type) -> Kind {
    use ConvertedType as Old;
    use LogicalType as New;
    let physical = field.get_physical_type();
    let info = field.get_basic_info();
    let (old, new) = (info.converted_type(), info.logical_type_ref());
    let other = || {
        let type_name = match new {
            Some(New::_Unknown { .. }) | None if old == Old::NONE => "bytes".into(),
            Some(New::_Unknown { .. }) | None => old.to_string(),
            Some(new) => format!("{new:?}").to_uppercase(),
        };
        Kind::Other(format!("{physical} ({type_name})"))
    };
    let milliseconds = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => Number::Plain,
        TimeUnit::MICROS => Number::Over(1e3),
        TimeUnit::NANOS => Number::Over(1e6),
    };
    let decimal = |scale: i32| Number::Over(10f64.powi(scale.max(0)));
    match physical {
        Physical::BOOLEAN => Kind::Flag,
        Physical::FLOAT | Physical::DOUBLE => Kind::Number(Number::Plain),
        // Moments of Spark, Hive and Impala; nothing else uses this type.
        Physical::INT96 => Kind::Number(Number::Plain),
        Physical::INT32 | Physical::INT64 => Kind::Number(match (new, old) {
            (Some(New::Integer(int)), _) if !int.is_signed => Number::Unsigned,
            (Some(New::Date), _) | (None, Old::DATE) => Number::Times(MILLISECONDS_A_DAY),
            (Some(New::Time(time) | New::Timestamp(time)), _) => milliseconds(&time.unit),
            (Some(New::Decimal(decimals)), _) => decimal(decimals.scale),
            (None, Old::DECIMAL) => decimal(field.get_scale()),
            (None, Old::TIME_MICROS | Old::TIMESTAMP_MICROS) => Number::Over(1e3),
            (None, Old::UINT_8 | Old::UINT_16 | Old::UINT_32 | Old::UINT_64) => Number::Unsigned,
            _ => Number::Plain,
        }),
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => match (new, old) {
            (Some(New::Decimal(decimals)), _) => Kind::Number(decimal(decimals.scale)),
            (None, Old::DECIMAL) => Kind::Number(decimal(field.get_scale())),
            (Some(New::Float16), _) if physical == Physical::FIXED_LEN_BYTE_ARRAY => {
                Kind::Number(Number::Half)
            }
            _ if physical == Physical::FIXED_LEN_BYTE_ARRAY => other(),
            (Some(New::String | New::Enum | New::Json), _) => Kind::Text,
            // Old writers do not annotate their texts.
            (None, Old::UTF8 | Old::ENUM | Old::JSON | Old::NONE) => Kind::Text,
            _ => other(),
        },
    }
}
