"""Many machines: answers about the rows of a Spark table.

It needs PySpark, which ``pip install "labelchain[spark]"`` brings, a Java of the version that PySpark asks for, and
this package on every executor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from . import _labelchain
from ._classifier import LabelChainClassifier
from ._remote import PackedModel, Question, named

try:
    import pyarrow as pa
    from pyspark.sql import types
except ImportError as error:
    raise ImportError(
        f'labelchain.spark needs PySpark and pyarrow ({error})\n  help: pip install "labelchain[spark]"'
    ) from error

__all__ = ["predict"]


def predict(
    table: Any,
    model: LabelChainClassifier | str | os.PathLike[str],
    proba: bool = False,
    aim: str | None = None,
    keep: Sequence[str] = (),
    known: dict[str, int] | Sequence[str] | None = None,
) -> Any:
    """The labels or probabilities of the rows of a Spark table, computed where its partitions are.

    Nothing is computed before Spark is asked for the answer. The answers about a row are those of the classifier's own
    ``predict`` and ``predict_proba``, to the last bit, however rows are partitioned. A task that fails, or whose
    executor dies, is run again by Spark.

    Parameters
    ----------
    table : pyspark.sql.DataFrame
        Rows. The model finds its inputs by name, and other columns do not matter; the inputs of a model that was
        trained without names are all columns that are not kept, in their order.
    model : fitted LabelChainClassifier, or path of a model file
        Its bytes are broadcast once, and each Python process loads them once.
    proba : bool, default=False
        Whether probabilities are asked for instead of labels.
    aim : str, default=None
        Which loss the labels are made for, as in `LabelChainClassifier.predict`.
    keep : sequence of str, default=()
        Columns of the table, such as identifiers, that stand before the answers as they are. Spark keeps no index and
        promises no order, so that without them nobody knows which row an answer is about.
    known : dict or sequence of str, default=None
        Labels that are known already, as in `LabelChainClassifier.predict`: ``{"rock": 1}`` of all rows, or the names
        of labels that are columns of the table, with null in the rows where they are not known.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, then a column for each label.
    """
    question = Question(proba, aim)
    packed = PackedModel.of(model, "array")
    classifier = packed.load()
    columns = [] if known is None or isinstance(known, dict) else list(known)
    inputs = _input_names(table, classifier, keep, columns)
    answers = question.columns(classifier)
    if both := [name for name in keep if name in answers]:
        raise _labelchain.RequestError(
            f"column {both[0]!r} is to be kept, and the model answers with a column of that name\n"
            "  help: table.withColumnRenamed gives it another"
        )
    kind, _ = _types(np.dtype(np.float64) if proba else packed.container.dtype)
    kept = [table.schema[name] for name in keep]
    schema = types.StructType([*kept, *(types.StructField(name, kind, nullable=False) for name in answers)])
    names = list(dict.fromkeys([*keep, *inputs, *columns]))
    # By number, because mapInArrow does not find columns whose names hold a point.
    numbered = table.select(*[_quoted(name) for name in names]).toDF(*[f"c{at}" for at in range(len(names))])
    answering = _answering(_broadcast(table, packed), question, names, list(keep), inputs, columns or known)
    return numbered.mapInArrow(answering, schema)


def _input_names(
    table: Any, classifier: LabelChainClassifier, keep: Sequence[str], known: Sequence[str]
) -> list[str]:
    """The columns that are the inputs of a model, and neither kept nor known labels."""
    if missing := [name for name in keep if name not in table.columns]:
        raise _labelchain.RequestError(f"the table has no column {missing[0]!r} that could be kept")
    if missing := [name for name in known if name not in table.columns]:
        raise _labelchain.RequestError(f"the table has no column {missing[0]!r} that could hold known labels")
    if others := [name for name in known if name not in classifier.label_names_]:
        raise _labelchain.RequestError(f"known names {others[0]!r}, which is no label of the model")
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None:
        if missing := [name for name in names if name not in table.columns]:
            raise _labelchain.DataError(
                f"the table has no column {missing[0]!r}, which the model was trained with ({len(missing)} of "
                f"{len(names)} are missing)"
            )
        return list(names)
    others = [name for name in table.columns if name not in keep and name not in known]
    if len(others) != classifier.n_features_in_:
        raise _labelchain.DataError(
            f"the table has {len(others)} columns that are not kept, but the model was trained with "
            f"{classifier.n_features_in_} inputs without names\n  help: name the other columns in keep"
        )
    return others


def _quoted(name: str) -> str:
    """A column by its name, also where it holds a point, which otherwise asks for a field of a column."""
    return "`" + name.replace("`", "``") + "`"


def _types(dtype: np.dtype) -> tuple[types.DataType, pa.DataType]:
    """How Spark and Arrow call the type of an answer."""
    kinds = {
        "b": (types.BooleanType(), pa.bool_()),
        "i": (types.LongType(), pa.int64()),
        "u": (types.LongType(), pa.int64()),
        "f": (types.DoubleType(), pa.float64()),
    }
    return kinds.get(dtype.kind, (types.StringType(), pa.string()))


def _broadcast(table: Any, packed: PackedModel) -> Callable[[], PackedModel]:
    """Where executors find the model; a session of Spark Connect has no broadcasts and sends it with the tasks."""
    try:
        context = table.sparkSession.sparkContext
    except Exception:  # The errors of Spark Connect have no common class in all versions.
        return lambda: packed
    broadcast = context.broadcast(packed)
    return lambda: broadcast.value


def _answering(
    model: Callable[[], PackedModel],
    question: Question,
    names: list[str],
    keep: list[str],
    inputs: list[str],
    known: dict[str, int] | list[str] | None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What an executor does with the batches of a partition; known labels are in columns, or the same of all rows."""

    def answer(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        place = "a partition" if context is None else f"partition {context.partitionId()}"
        try:
            classifier = model().load()
        except ValueError as error:
            # The driver has read the model, so an executor that cannot has an older package.
            raise named(f"{place}, an executor with labelchain {_labelchain.__version__}", error) from error
        # Spark runs as many tasks as it may use cores.
        classifier.n_jobs = 1
        for batch in batches:
            rows = pa.Table.from_batches([batch]).rename_columns(names)
            try:
                labels = rows.select(known) if isinstance(known, list) else known
                cells = np.asarray(question.answer(classifier, rows.select(inputs), labels))
            except ValueError as error:
                raise named(place, error) from error
            columns = {name: rows.column(name) for name in keep}
            labels = question.columns(classifier)
            cells = cells.reshape(len(rows), len(labels))
            for at, name in enumerate(labels):
                columns[name] = pa.array(cells[:, at].tolist(), _types(cells.dtype)[1])
            yield from pa.table(columns).to_batches()

    return answer
