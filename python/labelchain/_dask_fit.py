"""Training on the workers of a Dask cluster: `labelchain.dask.fit`.

Nothing is computed otherwise than on one machine. The library trains a model in parts, which parts being for it to say;
here it is decided which worker has which rows and columns for that, and what is sent to whom.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import dask.dataframe as dd
import distributed
from dask.dataframe.dispatch import concat
from dask.dataframe.utils import has_known_categories

from . import _inputs, _labelchain
from ._classifier import LabelChainClassifier, n_threads, of_model
from ._labels import Container, read_labels
from ._remote import named


def fit(
    frame: Any,
    labels: Sequence[str],
    method: str = _labelchain.DEFAULT_METHOD,
    client: distributed.Client | None = None,
    rows: str = "all",
    **parameters: Any,
) -> LabelChainClassifier:
    """Trains on the rows of a frame of Dask, on workers.

    With ``rows="all"`` the model has the bytes that ``LabelChainClassifier(method, **parameters).fit(X, Y)`` gives it on
    one machine, however rows are partitioned and whichever workers die meanwhile. What each worker does, and has in
    memory, depends on the method:

    - Naive Bayes with ``select="none"`` in ``br``, ``ecc`` and ``certain``, on columns of numbers and categories: each
      worker learns from some columns of all rows, and then finds out about the partitions it holds how scores become
      probabilities. No process has all inputs of all rows.
    - Forests, and the other methods in ``br``, ``ecc`` and ``certain``: each worker trains some trees or members, and
      has all rows in memory.
    - Methods that choose members or orders on validation rows (``dynamic``, ``oocc``, ``ga``, ``ga-br``) are trained by
      one worker as a whole.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Inputs and labels. Its partitions are computed once, and stay on the workers while they train.
    labels : sequence of str
        The columns that are labels; all others are inputs.
    method : str
        As in `LabelChainClassifier`.
    client : distributed.Client, default=None
        The cluster; the current client if None.
    rows : {"all", "partition"}, default="all"
        What each tree of a forest draws from. With ``"partition"`` it is the rows of one partition, so that no worker
        needs more than the partitions it trains on; partitions have trees by their number of rows, and at least one.
        The model then depends on the partitions, and on nothing else of the cluster. How far decisions are trusted,
        and how scores become probabilities, is learned from the first partition. The model says which rows its trees
        drew from: `tree_rows` of ``labelchain show --json``, and the line "trained on" without. It is for ``br``,
        ``ecc`` and ``certain``.
    **parameters
        Those of `LabelChainClassifier`.

    Returns
    -------
    LabelChainClassifier
        Fitted, in this process.
    """
    if not isinstance(frame, dd.DataFrame):
        raise TypeError(
            f"frame is a {type(frame).__name__}, but must be a frame of Dask\n"
            "  help: rows in memory are learned from by LabelChainClassifier.fit"
        )
    labels = list(labels)
    if missing := [name for name in labels if name not in frame.columns]:
        raise _labelchain.RequestError(f"the frame has no column {missing[0]!r} that could be a label")
    if rows not in ("all", "partition"):
        raise _labelchain.RequestError(f"rows is {rows!r}, but must be 'all' or 'partition'")
    client = distributed.default_client() if client is None else client
    classifier = LabelChainClassifier(method, **parameters)
    # The settings are read once, because random_state may draw another seed each time.
    task = _Task(classifier, classifier._training(), labels)
    inputs = frame._meta.drop(columns=labels)
    # What cannot be trained is refused before anything is computed.
    n_parts, n_trees = _labelchain.Model.n_parts(task.training), _labelchain.Model.n_trees(task.training)
    if rows == "partition":
        _check_trees(task, n_trees, inputs)
    partitions = _Partitions.of(client, frame)
    if rows == "partition":
        fitted = _fit_by_partition(client, task, partitions, n_trees)
    elif _labelchain.Model.learns_by_column(task.training) and _are_inputs_each(inputs, classifier.text):
        fitted = _fit_by_columns(client, task, partitions, list(inputs.columns))
    else:
        fitted = _fit_in_parts(client, task, partitions, n_parts)
    _inputs.check_names(fitted, inputs, reset=True)
    fitted.n_jobs = classifier.n_jobs
    return fitted


@dataclasses.dataclass(frozen=True)
class _Task:
    """What is to be trained, as workers are told."""

    classifier: LabelChainClassifier
    training: Any
    labels: list[str]

    def rows(self, inputs: Any, labels: Any) -> tuple[_labelchain.Rows, Container]:
        """The rows that a worker learns from, and what labels came in."""
        self.classifier.n_jobs = worker_threads()
        return self.classifier._training_rows(inputs, labels)

    def rows_of(self, frame: Any) -> tuple[_labelchain.Rows, Container]:
        """The same of a frame with inputs and labels."""
        return self.rows(frame.drop(columns=self.labels), frame[self.labels])

    def rows_for(self, model: _labelchain.Model, container: Container, frame: Any) -> _labelchain.Rows:
        """Rows as a trained model takes them, with labels as those that it was trained with."""
        labels, _ = read_labels(frame[self.labels], classes=container.classes)
        return _inputs.to_rows(of_model(model, container), frame.drop(columns=self.labels), labels, reset=False)

    def fitted(self, model: _labelchain.Model, container: Container) -> LabelChainClassifier:
        """The classifier of a trained model."""
        self.classifier._set_model(model, container)
        return self.classifier


@dataclasses.dataclass(frozen=True)
class _Partitions:
    """The partitions of a frame that have rows, computed and kept by the workers."""

    parts: list[distributed.Future]
    #: The place of each among all partitions, by which errors name it.
    numbers: list[int]
    n_rows: list[int]

    @staticmethod
    def of(client: distributed.Client, frame: Any) -> _Partitions:
        """Has the partitions computed; one that does not go with the others is refused by its number."""
        parts = client.compute(frame.to_delayed())
        lengths = client.gather(client.map(_n_rows, parts, range(len(parts)), meta=frame._meta))
        # Of none that has rows, the first is kept, for one machine to say what is wrong with it.
        kept = [at for at, length in enumerate(lengths) if length] or [0]
        return _Partitions([parts[at] for at in kept], kept, [lengths[at] for at in kept])

    @property
    def firsts(self) -> list[int]:
        """The number of the first row of each, among all rows."""
        return [sum(self.n_rows[:at]) for at in range(len(self.n_rows))]


def _n_rows(part: Any, number: int, meta: Any) -> int:
    """How many rows a partition has; refused if its columns are not those that the frame says."""
    found, expected = list(part.columns), list(meta.columns)
    if found != expected:
        new = [name for name in found if name not in expected]
        missing = [name for name in expected if name not in found]
        what = f"{new[0]!r} is new" if new else f"{missing[0]!r} is missing" if missing else "in another order"
        raise _labelchain.DataError(f"partition {number}: its columns are not those of the frame: {what}")
    for name in expected if len(part) else []:
        kinds = _kind(part[name].dtype), _kind(meta[name].dtype)
        if kinds[0] != kinds[1]:
            raise _labelchain.DataError(
                f"partition {number}: column {name!r} holds {kinds[0]}, but {kinds[1]} by the types of the frame"
            )
    return len(part)


def _kind(dtype: Any) -> str:
    import pandas as pd

    types = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        return "categories"
    if types.is_datetime64_any_dtype(dtype):
        return "dates"
    if types.is_timedelta64_dtype(dtype):
        return "durations"
    return "numbers" if types.is_numeric_dtype(dtype) else "text"


def _fit_in_parts(
    client: distributed.Client, task: _Task, partitions: _Partitions, n_parts: int | None
) -> LabelChainClassifier:
    """Trees or members by several workers, or all by one; each of them has all rows."""
    rows = client.submit(_joined, partitions.parts)
    parts = None
    if n_parts is not None:
        # One for each worker, which uses all of its threads, holds the rows once, and finds out once what is left to
        # the data.
        n_ranges = min(n_parts, max(1, len(client.nthreads())))
        cuts = [n_parts * at // n_ranges for at in range(n_ranges + 1)]
        parts = [
            client.submit(_fit_parts, task, rows, first, end, pure=False) for first, end in zip(cuts, cuts[1:])
        ]
    return client.submit(_fit_joining, task, rows, parts, pure=False).result()


def _joined(parts: list[Any]) -> Any:
    """Rows of several frames, one after the other, as Dask joins them."""
    return parts[0] if len(parts) == 1 else concat(parts)


def _fit_parts(task: _Task, frame: Any, first: int, end: int) -> bytes:
    """Some parts of a model."""
    rows, _ = task.rows_of(frame)
    return _labelchain.Model.fit_parts(rows, task.training, n_threads(worker_threads()), first, end)


def _fit_joining(task: _Task, frame: Any, parts: list[bytes] | None) -> LabelChainClassifier:
    """The fitted classifier, of parts where there are some."""
    rows, container = task.rows_of(frame)
    model = _labelchain.Model.fit(rows, task.training, n_threads(worker_threads()), None, parts)
    return task.fitted(model, container)


def _are_inputs_each(inputs: Any, text: Any) -> bool:
    """Whether each column is an input by its name, whatever the others are: words of texts and parts of dates are
    several."""
    kinds = {_kind(dtype) for dtype in inputs.dtypes}
    has_names = all(isinstance(name, str) for name in inputs.columns)
    return bool(kinds) and kinds <= {"numbers", "categories"} and has_names and not text


def _fit_by_columns(
    client: distributed.Client, task: _Task, partitions: _Partitions, inputs: list[str]
) -> LabelChainClassifier:
    """Some columns of all rows by each worker; then calibration, some rows by each worker."""
    labels = client.submit(_joined, client.map(_columns, partitions.parts, names=task.labels))
    n_groups = _n_groups(client, len(inputs), sum(partitions.n_rows))
    cuts = [len(inputs) * at // n_groups for at in range(n_groups + 1)]
    models = []
    for first, end in zip(cuts, cuts[1:]):
        pieces = client.map(_columns, partitions.parts, names=inputs[first:end])
        models.append(client.submit(_fit_columns, task, pieces, labels, pure=False))
    whole = client.submit(_join_columns, models, pure=False)
    max_memory = _labelchain.Model.max_memory()
    held_out = [
        client.submit(_held_out, task, whole, part, number, first, max_memory, pure=False)
        for part, number, first in zip(partitions.parts, partitions.numbers, partitions.firsts)
    ]
    return client.submit(_calibrated, task, whole, held_out, pure=False).result()


def _n_groups(client: distributed.Client, n_inputs: int, n_rows: int) -> int:
    """Into how many groups columns are cut: at least one for each worker, and as many as it takes for all that a
    worker trains at a time to be an eighth of its memory, because training has its rows there several times."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    rooms = [of["memory_limit"] / (8 * of["nthreads"]) for of in workers if of["memory_limit"]]
    n_needed = -(-8 * n_rows * n_inputs // max(1, int(min(rooms)))) if rooms else 1
    return min(n_inputs, max(len(workers), n_needed, 1))


def _columns(part: Any, names: list[str]) -> Any:
    """Some columns of a partition."""
    return part[names]


def _fit_columns(task: _Task, pieces: list[Any], labels: Any) -> tuple[_labelchain.Model, Container]:
    """A model of some columns."""
    rows, container = task.rows(_joined(pieces), labels)
    return _labelchain.Model.fit_columns(rows, task.training, n_threads(worker_threads())), container


def _join_columns(models: list[tuple[_labelchain.Model, Container]]) -> tuple[_labelchain.Model, Container]:
    """The model of all columns."""
    (whole, container), *others = models
    for model, _ in others:
        whole = whole.with_columns_of(model)
    return whole, container


def _held_out(
    task: _Task, fitted: tuple[_labelchain.Model, Container], part: Any, number: int, first: int, max_memory: int
) -> bytes:
    """What a model says of the rows of a partition, as far as its members have not seen them."""
    model, container = fitted
    try:
        rows = task.rows_for(model, container, part)
        return model.held_out(rows, first, max_memory, n_threads(worker_threads()))
    except ValueError as error:
        raise named(f"partition {number}", error) from error


def _calibrated(
    task: _Task, fitted: tuple[_labelchain.Model, Container], held_out: list[bytes]
) -> LabelChainClassifier:
    """The fitted classifier of a model, calibrated by what it said of all rows."""
    model, container = fitted
    return task.fitted(model.calibrated_by(held_out, n_threads(worker_threads())), container)


def _check_trees(task: _Task, n_trees: int | None, inputs: Any) -> None:
    """Refuses what is no forest, and columns of which partitions would not know the same values."""
    if n_trees is None:
        raise _labelchain.RequestError(
            f"rows is 'partition', but {task.classifier.method} has no trees that could see a partition each\n"
            '  help: leave out rows, or train a forest such as "certain-forest"'
        )
    for name in inputs.columns:
        kind = _kind(inputs[name].dtype)
        if kind == "text" or kind == "categories" and not has_known_categories(inputs[name]):
            raise _labelchain.DataError(
                f"rows is 'partition', and partitions may not know the same values of column {name!r}\n"
                "  help: frame.categorize() looks for all values"
            )


def _fit_by_partition(
    client: distributed.Client, task: _Task, partitions: _Partitions, n_trees: int
) -> LabelChainClassifier:
    """A forest, each of whose trees sees the rows of one partition."""
    n_partitions = len(partitions.parts)
    if n_trees < n_partitions:
        raise _labelchain.RequestError(
            f"the forest has {n_trees} trees, but {n_partitions} partitions have rows and each needs a tree\n"
            f"  help: frame.repartition(npartitions={n_trees}), or more trees"
        )
    shares = _shares(n_trees, partitions.n_rows)
    (first, *others), numbers = partitions.parts, partitions.numbers
    base = client.submit(_fit_first, task, first, numbers[0], pure=False)
    blocks = zip(others, numbers[1:], partitions.firsts[1:], shares[1:])
    grown = [client.submit(_grow_trees, task, base, *block, pure=False) for block in blocks]
    return client.submit(_join_trees, task, base, shares[0], grown, pure=False).result()


def _shares(n: int, sizes: list[int]) -> list[int]:
    """Cuts a number into shares by sizes, of which each is at least 1; what is left over goes to the greatest rests.

    >>> _shares(10, [600, 300, 1])
    [6, 3, 1]
    """
    rest, total = n - len(sizes), max(1, sum(sizes))
    shares = [1 + rest * size // total for size in sizes]
    by_rest = sorted(range(len(sizes)), key=lambda at: -(rest * sizes[at] % total))
    for at in by_rest[: n - sum(shares)]:
        shares[at] += 1
    return shares


def _fit_first(task: _Task, part: Any, number: int) -> tuple[_labelchain.Model, Container]:
    """A forest of the first partition alone. It has as many trees as that of all will have, of which only some are
    kept: how far decisions are trusted is learned from what trees say of rows that they have not seen."""
    try:
        rows, container = task.rows_of(part)
        return _labelchain.Model.fit(rows, task.training, n_threads(worker_threads())), container
    except ValueError as error:
        raise named(f"partition {number}", error) from error


def _grow_trees(
    task: _Task, base: tuple[_labelchain.Model, Container], part: Any, number: int, first: int, n_trees: int
) -> bytes:
    """Trees of another partition."""
    model, container = base
    try:
        return model.grow_trees(task.rows_for(model, container, part), first, n_trees, n_threads(worker_threads()))
    except ValueError as error:
        raise named(f"partition {number}", error) from error


def _join_trees(
    task: _Task, base: tuple[_labelchain.Model, Container], n_kept: int, grown: list[bytes]
) -> LabelChainClassifier:
    """The fitted classifier of the trees of all partitions."""
    model, container = base
    return task.fitted(model.with_trees(n_kept, grown), container)


def worker_threads() -> int | None:
    """The threads of the worker that runs this; none outside of workers."""
    try:
        return distributed.get_worker().state.nthreads
    except ValueError:
        return None
