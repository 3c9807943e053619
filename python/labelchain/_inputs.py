"""Inputs: arrays, sparse matrices and data frames as the library takes them.

The library keeps a table of its own, row by row. Into it every cell is copied once, and nothing is copied or
converted before that of what holds float64: neither an array whose rows stand one after the other, nor a column of
a frame of pandas, nor any column of polars, pyarrow, DuckDB and whatever else hands out tables by Arrow's C data
interface, whose cells are read where they lie.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import validation

from ._labelchain import ArrowTable, DataError, Labels, Rows

#: A column: its name, its cells, and the values that cells are positions of, "date" for days since 1970, or none
#: for numbers.
Column = tuple[str, np.ndarray, "list[str] | str | None"]


def frame_kind(table: Any) -> str | None:
    """Which library a data frame is of, "arrow" if it is of another that hands out tables by Arrow's C data
    interface; none if it is no data frame."""
    module, name = type(table).__module__.partition(".")[0], type(table).__name__
    if module in ("pandas", "polars") and name == "DataFrame":
        return module
    if module == "pyarrow" and name in ("Table", "RecordBatch"):
        return module
    # What has both is one column.
    is_table = hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")
    return "arrow" if is_table and not hasattr(table, "__array__") else None


def arrow_table(frame: Any) -> ArrowTable:
    """A frame other than of pandas, where it lies."""
    if frame_kind(frame) == "polars":
        import polars as pl

        if not hasattr(frame, "__arrow_c_stream__"):
            raise DataError("this polars cannot hand out its frames\n  help: pip install 'polars>=1.5'")
        # In the C interface a name ends there, and polars ends the process.
        if odd := [name for name in frame.columns if "\0" in name]:
            raise DataError(f"column {odd[0]!r} has a zero byte in its name\n  help: rename it")
        # The order of such categories tells which this process met first, and nothing about them.
        frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    return ArrowTable(frame)


def index_of(table: Any) -> Any:
    """The index of a frame of pandas; none of anything else."""
    return table.index if frame_kind(table) == "pandas" else None


def to_rows(estimator: Any, X: Any, labels: Labels | None, *, reset: bool) -> Rows:
    """Inputs as the library takes them; with ``reset`` their names and number are learned, else checked."""
    if type(X).__module__.partition(".")[0] == "polars" and type(X).__name__ == "LazyFrame":
        raise DataError("X is a plan of polars, and no table yet\n  help: X.collect() makes one")
    kind = frame_kind(X)
    if kind == "pandas" and not reset:
        X = _without_left_out(estimator, X)
    if kind is not None and not (kind == "pandas" and _is_numeric(X)):
        if kind == "pandas":
            check_names(estimator, X, reset=reset)
            columns = pandas_columns(X)
            n_columns = len(columns)
        else:
            table = arrow_table(X)
            if not reset and (left := _left_out(estimator, table.names)):
                table = table.without(left)
            _check_arrow_names(estimator, table.names, reset=reset)
            n_columns = len(table.names)
        if not n_columns:
            raise DataError("X has no columns, and there is nothing to learn from")
        names = _names(estimator)
        if names is None:
            names = [f"x{at}" for at in range(n_columns)]
        if kind == "pandas":
            rows = Rows.from_columns([(name, *column[1:]) for name, column in zip(names, columns)], labels)
        else:
            rows = Rows.from_arrow(table, names, labels)
        if not reset:
            return rows
        texts = [estimator.text] if isinstance(estimator.text, str) else list(estimator.text or [])
        if kind == "pandas":
            is_string = [_is_string(X.dtypes.iloc[at], column) for at, column in enumerate(columns)]
        else:
            categories = _polars_categories(X) if kind == "polars" else ()
            strings = {*table.strings}.difference(categories)
            is_string = [name in strings for name in table.names]
        found = [name for name, is_it in zip(names, is_string) if is_it]
        return rows.with_roles(texts, found) if texts or found else rows
    if reset and getattr(estimator, "text", None):
        raise DataError(
            "text names columns of a data frame, and X has only numbers\n"
            "  help: give a frame of pandas, polars or Arrow with columns of strings"
        )
    if not reset and _is_as_trained(estimator, X):
        return Rows.from_dense(_plain(X), None, labels)
    X = _validated(estimator, X, reset=reset)
    names = _names(estimator)
    if sparse.issparse(X):
        starts, columns = (_plain(part, np.int64) for part in (X.indptr, X.indices))
        return Rows.from_sparse(X.shape[1], starts, columns, _plain(X.data), names, labels)
    return Rows.from_dense(_plain(X), names, labels)


def _without_left_out(estimator: Any, frame: Any) -> Any:
    """A frame of pandas without the columns that a model from a file says were in its training table and are no
    inputs."""
    left = _left_out(estimator, frame.columns)
    return frame.drop(columns=left) if left else frame


def _left_out(estimator: Any, names: Iterable[str]) -> list[str]:
    model, known = getattr(estimator, "_model", None), getattr(estimator, "feature_names_in_", ())
    left_out = set() if model is None else {*model.left_out}.difference(known)
    return [name for name in names if name in left_out]


def _is_string(dtype: Any, column: Column) -> bool:
    """Whether a column of pandas is of strings, and not said to be of categories."""
    import pandas as pd

    return isinstance(column[2], list) and not isinstance(dtype, pd.CategoricalDtype)


def _polars_categories(frame: Any) -> list[str]:
    """The columns of polars that are categories, and were made strings on the way."""
    import polars as pl

    return [name for name, dtype in frame.schema.items() if dtype == pl.Categorical]


def _is_as_trained(estimator: Any, X: Any) -> bool:
    """Whether X is an array of numbers such as the model was trained on. All that is left to check are infinite
    cells, which the library does; scikit-learn's checks take longer than to label a row."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def _plain(cells: Any, dtype: Any = np.float64) -> np.ndarray:
    """An array whose cells stand one after the other, as it is where they do. What comes from another process may
    begin at an address that is no multiple of eight, and is copied."""
    return np.require(cells, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _names(estimator: Any) -> list[str] | None:
    """The names of the inputs; none where they have none and are called x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def _validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """What scikit-learn checks of arrays, with its own messages."""
    checks = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "reset": reset}
    if reset:
        checks["ensure_min_samples"] = 2
    try:
        if hasattr(validation, "validate_data"):
            return validation.validate_data(estimator, X, ensure_all_finite="allow-nan", **checks)
        return estimator._validate_data(X, force_all_finite="allow-nan", **checks)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise DataError(
            f"{error}\n  help: names, texts and dates come in the columns of a data frame; a ColumnTransformer "
            'keeps one with set_output(transform="pandas")'
        ) from None


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


def _check_arrow_names(estimator: Any, names: list[str], *, reset: bool) -> None:
    """The same checks of tables that scikit-learn may not know, in its words."""
    if reset:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        estimator.n_features_in_ = len(names)
        return
    of = type(estimator).__name__
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        warnings.warn(f"X has feature names, but {of} was fitted without feature names", stacklevel=5)
    elif list(known) != names:
        unseen, missing = sorted({*names} - {*known}), sorted({*known} - {*names})
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n"
            message += "".join(f"- {name}\n" for name in missing)
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise DataError(message)
    if len(names) != estimator.n_features_in_:
        expected = estimator.n_features_in_
        raise DataError(f"X has {len(names)} features, but {of} is expecting {expected} features as input")


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


def pandas_columns(frame: Any) -> list[Column]:
    """The columns of a frame of pandas."""
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
