"""Inputs: arrays, sparse matrices and data frames as the library takes them.

A frame is laid out by columns and the library by rows, so its cells are copied once. An array of
float64 whose rows stand one after the other is handed over as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import validation

from ._labelchain import DataError, Labels, Rows

#: A column: its name, its cells, and the values that cells are positions of, "date" for days since 1970, or none
#: for numbers.
Column = tuple[str, np.ndarray, "list[str] | str | None"]


def frame_kind(table: Any) -> str | None:
    """Which library a data frame is of; none if it is no data frame."""
    module = type(table).__module__.partition(".")[0]
    if module == "pandas" and type(table).__name__ == "DataFrame":
        return "pandas"
    if module == "polars" and type(table).__name__ == "DataFrame":
        return "polars"
    if module == "pyarrow" and hasattr(table, "column_names"):
        return "pyarrow"
    return None


def index_of(table: Any) -> Any:
    """The index of a frame of pandas; none of anything else."""
    return table.index if frame_kind(table) == "pandas" else None


def to_rows(estimator: Any, X: Any, labels: Labels | None, *, reset: bool) -> Rows:
    """Inputs as the library takes them; with ``reset`` their names and number are learned, else checked."""
    kind = frame_kind(X)
    if kind is None and hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        import pyarrow

        X, kind = pyarrow.table(X), "pyarrow"
    if kind is not None and not (kind == "pandas" and _is_numeric(X)):
        check_names(estimator, X, reset=reset)
        columns = COLUMNS[kind](X)
        if not columns:
            raise DataError("X has no columns, and there is nothing to learn from")
        known = _names(estimator)
        if known is None:
            known = [f"x{at}" for at in range(len(columns))]
        named = [(name, *column[1:]) for name, column in zip(known, columns)]
        rows = Rows.from_columns(named, labels)
        texts = [estimator.text] if isinstance(estimator.text, str) else list(estimator.text or [])
        return rows.with_texts(texts) if reset and texts else rows
    if reset and getattr(estimator, "text", None):
        raise DataError(
            "text names columns of a data frame, and X has only numbers\n"
            "  help: give a frame of pandas, polars or Arrow with columns of strings"
        )
    X = _validated(estimator, X, reset=reset)
    names = _names(estimator)
    if sparse.issparse(X):
        starts, columns = (_plain(part, np.int64) for part in (X.indptr, X.indices))
        return Rows.from_sparse(X.shape[1], starts, columns, _plain(X.data), names, labels)
    return Rows.from_dense(_plain(X), names, labels)


def _plain(cells: Any, dtype: Any = np.float64) -> np.ndarray:
    """An array whose cells stand one after the other, as it is where they do. What comes from another process may
    begin at an address that is no multiple of eight, and is copied."""
    return np.require(cells, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _names(estimator: Any) -> list[str] | None:
    """The names of the inputs; none where they have none and are called x0, x1, …"""
    model = getattr(estimator, "_model", None)
    if model is not None:
        return [name for name, _ in model.attributes]
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def _validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """What scikit-learn checks of arrays, with its own messages."""
    checks = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "reset": reset}
    if reset:
        checks["ensure_min_samples"] = 2
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, X, ensure_all_finite="allow-nan", **checks)
    return estimator._validate_data(X, force_all_finite="allow-nan", **checks)


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """What scikit-learn checks of the names and the number of columns, with its own messages."""
    if hasattr(validation, "_check_feature_names"):
        validation._check_feature_names(estimator, X, reset=reset)
    else:
        estimator._check_feature_names(X, reset=reset)
    check_n_features(estimator, X, reset=reset)


def check_n_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """What scikit-learn checks of the number of columns, with its own message."""
    if hasattr(validation, "_check_n_features"):
        validation._check_n_features(estimator, X, reset=reset)
    else:
        estimator._check_n_features(X, reset=reset)


def _is_numeric(frame: Any) -> bool:
    """Whether scikit-learn makes numbers of a frame of pandas as we would."""
    return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in frame.dtypes)


def _named(name: str, codes: Any, values: Iterable[Any]) -> Column:
    """A column of named values in their given order; a code below zero is a missing cell."""
    cells = np.asarray(codes, dtype=np.float64)
    return name, np.where(cells < 0, np.nan, cells), [str(value) for value in values]


def _text(name: str, codes: Any, values: Iterable[Any]) -> Column:
    """A column of text: its values stand in byte order, as the library has them from CSV."""
    values = [str(value) for value in values]
    order = sorted(range(len(values)), key=lambda at: values[at].encode())
    place = np.empty(len(values) + 1)
    place[order] = range(len(values))
    # A code of -1 is a missing cell, and finds this one.
    place[-1] = -1
    return _named(name, place[np.asarray(codes, dtype=np.int64)], [values[at] for at in order])


def _numbers(name: str, cells: Any) -> Column:
    return name, _plain(cells), None


def _durations(name: str, cells: np.ndarray) -> Column:
    """Durations: milliseconds."""
    milliseconds = cells.astype("timedelta64[ms]")
    numbers = milliseconds.astype(np.int64).astype(np.float64)
    return name, np.where(np.isnat(milliseconds), np.nan, numbers), None


def _dates(name: str, milliseconds: Any) -> Column:
    """Dates, of milliseconds since 1970: the library learns from the day, the weekday and the month."""
    return name, _plain(milliseconds) / 86_400_000, "date"


def _refused(name: str, kind: Any) -> DataError:
    return DataError(
        f"column {name!r} is of type {kind}, which is neither a number, a category, text nor a date\n"
        "  help: leave it out, or make it one of them"
    )


def _pandas_columns(frame: Any) -> list[Column]:
    return [_pandas_column(str(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)]


def _pandas_column(name: str, cells: Any) -> Column:
    import pandas as pd

    types, dtype = pd.api.types, cells.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _named(name, cells.cat.codes, dtype.categories)
    if types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = cells.to_numpy(dtype="datetime64[ms]")
        milliseconds = moments.astype(np.int64).astype(np.float64)
        return _dates(name, np.where(np.isnat(moments), np.nan, milliseconds))
    if types.is_timedelta64_dtype(dtype):
        return _durations(name, cells.to_numpy())
    if types.is_bool_dtype(dtype) or (types.is_numeric_dtype(dtype) and dtype.kind != "c"):
        return _numbers(name, cells.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_object_dtype(dtype) or types.is_string_dtype(dtype):
        found = types.infer_dtype(cells, skipna=True)
        if found in ("string", "empty"):
            return _text(name, *cells.factorize())
        if found in ("boolean", "integer", "floating", "mixed-integer-float", "decimal"):
            return _numbers(name, pd.to_numeric(cells.astype(float)).to_numpy())
        if found in ("date", "datetime", "datetime64"):
            return _pandas_column(name, pd.to_datetime(cells))
        raise _refused(name, found)
    raise _refused(name, dtype)


def _polars_columns(frame: Any) -> list[Column]:
    return [_polars_column(cells.name, cells) for cells in frame.get_columns()]


def _polars_column(name: str, cells: Any) -> Column:
    import polars as pl

    dtype = cells.dtype
    if dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null:
        return _numbers(name, cells.cast(pl.Float64).to_numpy())
    if isinstance(dtype, pl.Enum):
        values = dtype.categories.to_list()
        place = {value: at for at, value in enumerate(values)}
        return _named(name, [place.get(cell, -1) for cell in cells.to_list()], values)
    if dtype == pl.String or isinstance(dtype, pl.Categorical):
        values, codes = np.unique(cells.cast(pl.String).fill_null("").to_numpy(), return_inverse=True)
        codes = np.where(cells.is_null().to_numpy(), -1, codes)
        kept = [at for at in range(len(values)) if (codes == at).any()]
        place = {at: new for new, at in enumerate(kept)} | {-1: -1}
        return _text(name, [place[code] for code in codes.tolist()], values[kept])
    if dtype.is_temporal():
        is_duration = isinstance(dtype, pl.Duration)
        unit = pl.Duration("ms") if is_duration else pl.Datetime("ms")
        moments = cells if dtype == pl.Time else cells.cast(unit)
        numbers = moments.to_physical().cast(pl.Float64).to_numpy()
        return _numbers(name, numbers) if is_duration or dtype == pl.Time else _dates(name, numbers)
    raise _refused(name, dtype)


def _arrow_columns(table: Any) -> list[Column]:
    return [_arrow_column(name, table.column(name)) for name in table.column_names]


def _arrow_column(name: str, cells: Any) -> Column:
    import pyarrow as pa

    types, kind = pa.types, cells.type
    if isinstance(cells, pa.ChunkedArray):
        if types.is_dictionary(kind):
            cells = cells.unify_dictionaries()
        cells = cells.combine_chunks()
        if isinstance(cells, pa.ChunkedArray):
            cells = pa.concat_arrays(cells.chunks) if cells.num_chunks else pa.array([], kind)

    def numbers(of: Any) -> Column:
        return _numbers(name, of.cast(pa.float64()).to_numpy(zero_copy_only=False))

    def codes(of: Any) -> np.ndarray:
        return of.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)

    if types.is_boolean(kind):
        return numbers(cells.cast(pa.int8()))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return numbers(cells)
    if types.is_dictionary(kind):
        return _named(name, codes(cells), cells.dictionary.to_pylist())
    # Views are newer than the oldest pyarrow that will do.
    is_view = getattr(types, "is_string_view", lambda _: False)
    if types.is_string(kind) or types.is_large_string(kind) or is_view(kind):
        encoded = cells.dictionary_encode()
        return _text(name, codes(encoded), encoded.dictionary.to_pylist())
    if types.is_date(kind) or types.is_timestamp(kind):
        return _dates(name, numbers(cells.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()))[1])
    if types.is_duration(kind):
        return numbers(cells.cast(pa.duration("ms"), safe=False).cast(pa.int64()))
    raise _refused(name, kind)


#: How columns are taken of each kind of frame.
COLUMNS: dict[str, Callable[[Any], list[Column]]] = {
    "pandas": _pandas_columns,
    "polars": _polars_columns,
    "pyarrow": _arrow_columns,
}


