"""Many machines: large tables and long studies on the workers of a Dask cluster.

=============  ===========================================================================
`predict`      labels or probabilities of a frame or array of Dask, partition by partition
`fit`          a classifier of a frame of Dask, of which each worker trains a part
`run_study`    the folds of a study, whose results this process writes
=============  ===========================================================================

It needs Dask, which ``pip install "labelchain[dask]"`` brings, and this package on every worker.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import uuid
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

from . import _inputs, _labelchain
from ._classifier import LabelChainClassifier
from ._remote import PackedModel, Question, named

try:
    import dask.array as da
    import dask.dataframe as dd
    import distributed
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError
except ImportError as error:
    raise ImportError(
        f'labelchain.dask needs Dask with its arrays, frames and scheduler ({error})\n'
        '  help: pip install "labelchain[dask]"'
    ) from error

from ._dask_fit import fit, worker_threads  # noqa: E402

__all__ = ["StudySummary", "fit", "predict", "run_study"]


def predict(
    model: LabelChainClassifier | str | os.PathLike[str],
    rows: Any,
    client: distributed.Client | None = None,
    proba: bool = False,
    aim: str | None = None,
    known: Any = None,
) -> Any:
    """The labels or probabilities of the rows of a Dask collection, computed where its partitions are.

    Nothing is computed before the answer is: ``predict(…).to_parquet("answers")`` reads, answers and writes one
    partition after the other on each worker, and no process ever holds all rows. The answers about a row are those
    of the classifier's own ``predict`` and ``predict_proba``, to the last bit, however rows are partitioned.

    Parameters
    ----------
    model : fitted LabelChainClassifier, or path of a model file
        Its bytes are sent to the workers once, and each worker process loads them once.
    rows : dask.dataframe.DataFrame or dask.array.Array
        Inputs as in `LabelChainClassifier.predict`. The columns of an array stand in one chunk.
    client : distributed.Client, default=None
        The cluster; the current client if there is one, else threads of this process.
    proba : bool, default=False
        Whether probabilities are asked for instead of labels.
    aim : str, default=None
        Which loss the labels are made for, as in `LabelChainClassifier.predict`.
    known : dict, or collection of Dask as the rows are, default=None
        Labels that are known already, as in `LabelChainClassifier.predict`: of all rows, or a table with NaN where
        they are not known. A table is partitioned as the rows are, and a frame has their index.

    Returns
    -------
    dask.dataframe.DataFrame or dask.array.Array
        As the rows are: a frame with the index and the partitions of the rows and a column for each label, or an
        array with their chunks. Values and their type are those that Y had in training.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import labelchain as lc
    >>> import labelchain.dask
    >>> X = np.array([[72, 3], [80, 4], [75, 9], [90, 8], [128, 2], [140, 3], [130, 9], [150, 8]])
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1],
    ...               [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]])
    >>> clf = lc.LabelChainClassifier("ecc-nb", members=10).fit(X, Y)
    >>> answers = lc.dask.predict(clf, da.from_array(X, chunks=(4, 2)))
    >>> answers.chunks
    ((4, 4), (3,))
    >>> bool((answers.compute() == clf.predict(X)).all())
    True
    """
    question = Question(proba, aim)
    if isinstance(rows, dd.DataFrame):
        packed = PackedModel.of(model, "pandas")
        classifier = packed.load()
        _inputs.check_names(classifier, rows._meta, reset=False)
        if isinstance(known, dd.DataFrame):
            _check_alike("partitions", known.npartitions, rows.npartitions)
            if known.known_divisions and rows.known_divisions:
                _check_alike("divisions", known.divisions, rows.divisions)
        else:
            _check_known(known, "frame")
        meta = _frame_answer(rows._meta, None, packed, question)
        # Partitions that are alike stay as they are; Dask would compare the divisions again.
        return rows.map_partitions(
            _frame_answer, known, _sent(packed, client), question, meta=meta, align_dataframes=False
        )
    if isinstance(rows, da.Array):
        if rows.ndim != 2:
            raise _labelchain.DataError(f"the array has {rows.ndim} dimensions, but rows and columns are two")
        if rows.numblocks[1] > 1:
            raise _labelchain.DataError(
                f"the columns of the array are cut into {rows.numblocks[1]} chunks, but a row is answered as a whole\n"
                "  help: x.rechunk({1: -1}) joins them"
            )
        is_sparse = isinstance(model, LabelChainClassifier) and model._container.kind == "csr"
        packed = PackedModel.of(model, "csr" if is_sparse else "array")
        classifier = packed.load()
        _inputs.check_n_features(classifier, rows, reset=False)
        if isinstance(known, da.Array):
            _check_alike("chunks", known.chunks, (rows.chunks[0], (len(classifier.label_names_),)))
        else:
            _check_known(known, "array")
        meta = question.answer(classifier, np.empty((0, rows.shape[1])))
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (rows.chunks[0], (meta.shape[1],))}
        return rows.map_blocks(
            _array_answer, known, _sent(packed, client), question, meta=meta, dtype=meta.dtype, **shape
        )
    raise TypeError(
        f"rows are a {type(rows).__name__}, but must be a frame or an array of Dask\n"
        "  help: rows in memory are answered by LabelChainClassifier.predict"
    )


def _check_alike(what: str, found: Any, expected: Any) -> None:
    """Refuses known labels that are partitioned otherwise than the rows."""
    if found != expected:
        raise _labelchain.DataError(
            f"known has other {what} than the rows: {found}, but they have {expected}\n"
            "  help: make both of one collection, or repartition one as the other is"
        )


def _check_known(known: Any, kind: str) -> None:
    """Refuses known labels that are not those of all rows; where rows are partitioned, a table of them is, too."""
    if known is not None and not isinstance(known, dict):
        raise TypeError(
            f"known is a {type(known).__name__}, but must be a dict, or a {kind} of Dask as the rows are"
        )


def _sent(packed: PackedModel, client: distributed.Client | None) -> Any:
    """The model on all workers; the model itself where the threads of this process will compute."""
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            return packed
    # Under a name of its own: under that of its content, the end of an earlier answer could take it away.
    return client.scatter(packed, broadcast=True, hash=False)


def _frame_answer(
    part: Any, known: Any, packed: PackedModel, question: Question, partition_info: dict[str, Any] | None = None
) -> Any:
    """The answers about a partition of a frame, as a frame with its index."""
    number = None if partition_info is None else partition_info["number"]
    classifier, answer = _answered(part, known, packed, question, number)
    if not question.proba:
        return answer
    import pandas as pd

    return pd.DataFrame(answer, index=part.index, columns=question.columns(classifier))


def _array_answer(
    block: Any, known: Any, packed: PackedModel, question: Question, block_id: tuple[int, ...] | None = None
) -> Any:
    """The answers about a chunk of the rows of an array."""
    return _answered(block, known, packed, question, None if block_id is None else block_id[0])[1]


def _answered(rows: Any, known: Any, packed: PackedModel, question: Question, number: int | None) -> Any:
    """The classifier and its answer about a partition, or an error that names the partition."""
    place = "the model" if number is None else f"partition {number}"
    try:
        classifier = packed.load()
    except ValueError as error:
        # The client has read the model, so a worker that cannot has an older package.
        raise named(f"{place}, a worker with labelchain {_labelchain.__version__}", error) from error
    # Tasks that run side by side in a worker share a pool of as many threads as the worker has.
    classifier.n_jobs = worker_threads()
    try:
        return classifier, question.answer(classifier, rows, known)
    except ValueError as error:
        raise named(place, error) from error


@dataclasses.dataclass(frozen=True)
class StudySummary:
    """What a run of a study did."""

    #: Cells done, failed, and done before.
    done: int
    failed: int
    kept: int
    #: The sets that are not done because their data files do not exist.
    missing: list[str]
    #: The file of results, which ``labelchain study status``, ``report`` and ``export`` read.
    results: str


def run_study(
    protocol: str | os.PathLike[str],
    client: distributed.Client | None = None,
    *,
    results: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    only: str | None = None,
) -> StudySummary:
    """Computes what is left of a study, a fold a task, and writes each fold as soon as it is done.

    The results are those of the command ``labelchain study run``, and a run of either goes on where one of the other
    stopped. Only this process writes to them. A fold whose worker dies is computed by another; if the scheduler or
    this process dies, what was written stays, and the same call computes the rest.

    Parameters
    ----------
    protocol : path
        What to compare: a file in TOML. Workers are sent its text, and read the data files themselves, from the same
        paths as this process; by their checksums they must be the same files.
    client : distributed.Client, default=None
        The cluster; the current client if None.
    results : path, default=None
        Where the results are; beside the protocol, with the ending ``.db``, if None.
    data : path, default=None
        Where the data files are; as the protocol says, if None.
    only : str, default=None
        Some cells only: ``"set=yeast,flags method=ecc-nb fold=0,1"``, with commas or spaces between.

    Returns
    -------
    StudySummary
        A cell that failed is noted in the results with its error, and tried again by the next run.

    Raises
    ------
    ConnectionError
        The scheduler was lost; what was done is written.
    """
    client = distributed.default_client() if client is None else client
    absolute = lambda path: None if path is None else os.path.abspath(path)  # noqa: E731
    only = None if only is None else ",".join(only.split())
    run = _labelchain.StudyRun(absolute(protocol), absolute(results), absolute(data), only)
    futures: dict[str, distributed.Future] = {}
    try:
        _run_folds(run, client, futures)
        return StudySummary(**run.summary, results=str(run.results))
    except (CommClosedError, ClosedClientError, CancelledError) as error:
        raise ConnectionError(
            f"the scheduler of Dask was lost; what was done is in {run.results}\n"
            "  help: the same call with another client computes the rest"
        ) from error
    finally:
        with contextlib.suppress(OSError, ClosedClientError):
            client.cancel(list(futures.values()))
        run.end()


def _run_folds(run: _labelchain.StudyRun, client: distributed.Client, futures: dict[str, distributed.Future]) -> None:
    """Has the folds of a run computed and writes their cells; ``futures`` are those that are not done."""
    name, tasks = uuid.uuid4().hex, dict(enumerate(run.tasks))
    waiting, completed = list(reversed(tasks)), distributed.as_completed(loop=client.loop)
    while waiting or futures:
        # A worker that is done finds its next task there already.
        n_wanted = min(2 * max(1, sum(client.nthreads().values())) - len(futures), len(waiting))
        begun = [waiting.pop() for _ in range(n_wanted)]
        run.start([tasks[at] for at in begun])
        for at in begun:
            key = f"labelchain-fold-{name}-{at}"
            futures[key] = client.submit(_fold_cells, run.protocol, tasks[at], key=key, pure=False)
            completed.add(futures[key])
        future = next(completed)
        del futures[future.key]
        if future.status == "error":
            # Such as that every worker died that was given the fold.
            run.fail(tasks[int(future.key.rpartition("-")[2])], str(future.exception()))
        else:
            run.record(future.result())


def _fold_cells(protocol: Any, task: Any) -> list[Any]:
    """The cells of a fold; runs on a worker, which keeps the data set that it is at."""
    worker = distributed.get_worker()
    with _STARTING:
        if protocol not in _FOLD_WORKERS:
            _FOLD_WORKERS.clear()
            memory = worker.memory_manager.memory_limit
            _FOLD_WORKERS[protocol] = _labelchain.FoldWorker(protocol, worker.state.nthreads, memory)
        fold_worker = _FOLD_WORKERS[protocol]
    return fold_worker.compute(task)


_STARTING = threading.Lock()
_FOLD_WORKERS: dict[Any, _labelchain.FoldWorker] = {}
