"""Labels: tables of two values as the library takes them, and answers in the container they came in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from ._inputs import arrow_table, frame_kind, index_of, pandas_columns
from ._labelchain import DataError, Labels, RequestError


@dataclasses.dataclass(frozen=True)
class Container:
    """What labels came in, so that answers can be given in the same."""

    #: "array", "csr", "pandas", "polars" or "pyarrow".
    kind: str
    dtype: Any
    #: What is irrelevant, and what is relevant.
    classes: np.ndarray
    #: Whether there was one label, without a dimension of its own, as of a binary classifier.
    is_single: bool = False

    def in_kind(self, kind: str) -> Container:
        """A container of another kind for the same values; their type stays where both kinds have it."""
        if kind == self.kind:
            return self
        is_known = isinstance(self.dtype, np.dtype) and kind in ("array", "csr", "pandas")
        return dataclasses.replace(self, kind=kind, dtype=self.dtype if is_known else self.classes.dtype)

    def filled(self, cells: np.ndarray, names: list[str], index: Any) -> Any:
        """Answers of 1 and 0 in this container."""
        if self.kind == "csr":
            return sparse.csr_matrix(cells, dtype=self.dtype)
        values = self.classes[cells]
        if self.kind == "array":
            values = values.astype(self.dtype)
            return values[:, 0] if self.is_single else values
        columns = {name: values[:, at] for at, name in enumerate(names)}
        if self.kind == "pandas":
            import pandas as pd

            return pd.DataFrame(columns, index=index).astype(self.dtype)
        if self.kind == "polars":
            import polars as pl

            return pl.DataFrame(columns).cast(self.dtype)
        import pyarrow as pa

        table = pa.table(columns)
        return table.cast(pa.schema([(name, self.dtype) for name in names]))


#: What answers come in where nobody gave labels: the model was read from a file.
PLAIN = Container("array", np.dtype(np.int64), np.array([0, 1]))


def read_labels(
    Y: Any, names: list[str] | None = None, *, what: str = "Y", classes: np.ndarray | None = None
) -> tuple[Labels, Container]:
    """A table of labels: a column for each, of two values, of which the greater is relevant.

    0 and 1 are themselves; NaN, None and other missing values are unknown. What has one dimension is a
    single label, as scikit-learn's binary classifiers have it. ``classes`` are the two values where they are known,
    so that a table may hold only one of them.
    """
    if isinstance(Y, Labels):
        return Y, PLAIN
    if sparse.issparse(Y):
        return _sparse(Y, names, what, classes)
    frame_names, values, kind, dtype = _table(Y)
    is_single = values.ndim == 1 and not any(isinstance(cell, list | tuple | set) for cell in values[:1])
    if is_single:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise DataError(
            f"{what} must have a row for each row of X and a column for each label\n"
            "  help: lists of names become columns by sklearn.preprocessing.MultiLabelBinarizer"
        )
    names = names or frame_names or default_names(values.shape[1])
    if len(names) != values.shape[1]:
        raise DataError(f"{what} has {values.shape[1]} columns, but there are {len(names)} labels")
    cells, classes = _coded(values, what, classes)
    if kind is None and dtype.kind == "O" and classes.dtype.kind in "biuf":
        # Numbers that stand beside None.
        dtype = np.dtype(np.float64)
    if kind == "arrow":
        # Whoever handed out the table did not say how to make another.
        kind, dtype = "array", classes.dtype
    return Labels.from_dense(names, cells), Container(kind or "array", dtype, classes, is_single)


def read_pair(Y: Any, P: Any) -> tuple[Labels, Labels]:
    """The truth and answers to it, of which either may hold only one of the two values of labels."""
    present = [
        _present(_table(table)[1])[1]
        for table in (Y, P)
        if not isinstance(table, Labels) and not sparse.issparse(table)
    ]
    classes = None
    if len(present) == 2 and len({array.dtype.kind in "US" for array in present}) == 1:
        classes = _unique(np.concatenate(present), "Y and P")
        # Of what is no pair, one of the two says what is wrong with it.
        classes = classes if len(classes) == 2 else None
    return read_labels(Y, classes=classes)[0], read_labels(P, what="P", classes=classes)[0]


def _table(Y: Any) -> tuple[list[str] | None, np.ndarray, str | None, Any]:
    """The names and values of a table, which library it is of, and the type of its columns."""
    kind = frame_kind(Y)
    if kind is None:
        values = np.asarray(Y)
        return None, values, None, values.dtype
    names, values, dtype = _frame(Y, kind)
    return names, values, kind, dtype


def _frame(Y: Any, kind: str) -> tuple[list[str], np.ndarray, Any]:
    """The names, the values and the common type of the columns of a frame."""
    if kind == "pandas":
        columns = pandas_columns(Y)
    else:
        table, attributes = arrow_table(Y).cells()
        columns = [(name, table[:, at], named) for at, (name, named) in enumerate(attributes)]
    dtypes = list(Y.schema.types) if kind == "pyarrow" else list(getattr(Y, "dtypes", []))
    values = np.empty((len(columns[0][1]) if columns else 0, len(columns)), dtype=object)
    if not any(isinstance(named, list) for _, _, named in columns):
        values = values.astype(np.float64)
    for at, (_, cells, named) in enumerate(columns):
        if not isinstance(named, list):
            values[:, at] = cells
        else:
            texts = np.array([*named, None], dtype=object)
            values[:, at] = texts[np.nan_to_num(cells, nan=len(named)).astype(np.int64)]
    same = dtypes and all(dtype == dtypes[0] for dtype in dtypes)
    return [name for name, _, _ in columns], values, dtypes[0] if same else ANY_TYPE[kind]()


def _any_polars() -> Any:
    import polars as pl

    return pl.Int64


def _any_arrow() -> Any:
    import pyarrow as pa

    return pa.int64()


#: What answers are where labels had several types.
ANY_TYPE = {
    "pandas": lambda: np.dtype(np.int64),
    "polars": _any_polars,
    "pyarrow": _any_arrow,
    "arrow": lambda: np.dtype(np.int64),
}


def default_names(n_labels: int) -> list[str]:
    """What labels are called that have no names, as inputs without names are called x0, x1, …"""
    return [f"y{at}" for at in range(n_labels)]


def _coded(values: np.ndarray, what: str, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """1, 0 or -1 for each cell, and what 0 and 1 stand for."""
    if classes is None or classes.tolist() == [0, 1]:
        if values.dtype.kind == "b":
            return values.astype(np.int8), np.array([False, True])
        if values.dtype.kind in "iu" and values.size and 0 <= values.min() and values.max() <= 1:
            return values.astype(np.int8), np.array([0, 1])
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise DataError(f"Input {what} contains infinity or a value too large for {values.dtype!r}.")
    missing, present = _present(values)
    if classes is None:
        classes = _unique(present, what)
        if len(classes) != 2:
            shown = ", ".join(map(repr, classes[:5].tolist())) + (", …" if len(classes) > 5 else "")
            raise DataError(
                f"Unknown label type: {what} holds {len(classes)} different values ({shown}), but a label has "
                f"two: 0 and 1, or another pair. Only binary classification is supported. {_target(values)}\n"
                f"  help: counts and ratings become labels by a comparison: {what} > 0"
            )
    elif others := [value for value in set(present.tolist()) if value not in classes.tolist()]:
        raise DataError(f"{what} holds {others[0]!r}, but labels are {_either(classes)}")
    cells = np.full(missing.shape, -1, dtype=np.int8)
    cells[~missing] = present == classes[1]
    return cells.reshape(values.shape), classes


def _either(classes: np.ndarray) -> str:
    return " or ".join(map(repr, classes.tolist()))


def _present(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which cells are missing, in one dimension, and the others."""
    flat = values.ravel()
    # None, NaN and the NA of pandas are the values that do not equal themselves, or are none.
    if values.dtype.kind == "f":
        missing = np.isnan(flat)
    elif values.dtype.kind in "biu":
        missing = np.zeros(flat.shape, dtype=bool)
    else:
        missing = np.array([cell is None or not _equals_itself(cell) for cell in flat.tolist()], dtype=bool)
    present = flat[~missing]
    return missing, np.array(present.tolist()) if values.dtype.kind == "O" else present


def _unique(present: np.ndarray, what: str) -> np.ndarray:
    """The values that occur; 0 and 1, if it is one of them."""
    try:
        classes = np.unique(present)
    except TypeError as error:
        raise DataError(f"{what} holds values of several types: {error}") from error
    if classes.dtype.kind in "biuf" and np.isin(classes, (0, 1)).all():
        return np.array([0, 1])
    return classes


def _target(values: np.ndarray) -> str:
    """What scikit-learn calls such a target; those who test for its words find them."""
    try:
        target = type_of_target(values[:, 0] if values.shape[1] == 1 else values)
    except (ValueError, TypeError):
        target = "unknown"
    return f"The type of the target is {target}."


def _equals_itself(cell: Any) -> bool:
    try:
        return bool(cell == cell)
    except TypeError:
        return False


def _sparse(
    Y: Any, names: list[str] | None, what: str, classes: np.ndarray | None
) -> tuple[Labels, Container]:
    if classes is not None and classes.tolist() != [0, 1]:
        raise DataError(f"{what} is sparse, and so holds 0 and 1, but labels are {_either(classes)}")
    try:
        # Formats other than CSR and CSC are checked when they are made.
        getattr(Y, "check_format", lambda: None)()
        csr = Y.tocsr(copy=True)
        csr.check_format()
    except ValueError as error:
        raise DataError(f"{what} is no sound sparse matrix: {error}") from error
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if csr.data.size and not (csr.data == 1).all():
        raise DataError(f"{what} is sparse and holds other values than 0 and 1")
    names = names or default_names(csr.shape[1])
    if len(names) != csr.shape[1]:
        raise DataError(f"{what} has {csr.shape[1]} columns, but there are {len(names)} labels")
    starts, columns = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
    return Labels.from_sparse(names, starts, columns), Container("csr", csr.dtype, np.array([0, 1]))


def read_known(known: Any, names: list[str], n_rows: int, classes: np.ndarray, index: Any = None) -> Labels:
    """Labels that are known of rows: by name for all rows, or a table with NaN where they are not.

    Names say 0 or 1; a table holds what the labels of training held, ``classes``, and a frame has the ``index`` of X.
    """
    if isinstance(known, dict):
        for value in known.values():
            if value not in (0, 1):
                raise RequestError(f"known is {known!r}, but must say 0 or 1 of each label")
        cells = np.array([list(known.values())] * n_rows, dtype=np.int8).reshape(n_rows, len(known))
        return Labels.from_dense(list(map(str, known)), cells)
    is_frame = frame_kind(known) is not None
    if index is not None and index_of(known) is not None and not index.equals(index_of(known)):
        raise DataError("known has another index than X\n  help: known.reindex(X.index), or known.to_numpy() by position")
    labels, _ = read_labels(known, None if is_frame else names, what="known", classes=classes)
    return labels
