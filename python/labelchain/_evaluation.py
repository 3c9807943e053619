"""Several estimators on the same folds."""

from __future__ import annotations

import numbers
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ._classifier import LabelChainClassifier
from ._dataset import Dataset
from ._folds import IterativeStratifiedKFold
from ._inputs import frame_kind
from ._labelchain import Labels, RequestError
from ._labels import read_labels
from ._losses import losses


def evaluate(
    estimators: Any,
    X: Any,
    Y: Any = None,
    *,
    cv: Any = 10,
    dataset: str | None = None,
    groups: Any = None,
    random_state: Any = None,
    undefined: str = "paper",
) -> Any:
    """The losses of several estimators in each fold, as a frame for `compare`.

    Parameters
    ----------
    estimators : str, estimator, or list or dict of them
        Names of our methods, perhaps with an aim (``"ecc-nb@macro-f1"``), or estimators, ours or any of
        scikit-learn that learns from a table of labels. A dict says what they are called.
    X, Y : as in `LabelChainClassifier.fit`
    cv : int or splitter, default=10
        How many folds of `IterativeStratifiedKFold`, or a splitter of scikit-learn.
    dataset : str, default=None
        What the data set is called; by default "data", or the name of the file.
    groups : array of shape (n_rows,), default=None
        Rows of one group stay in one fold.
    random_state : int, default=None
        What the folds are drawn by, where cv is a number.
    undefined : {"paper", "zero", "one", "skip"}
        As in `losses`.

    Returns
    -------
    DataFrame of pandas, or list of dicts where pandas is not installed
        With the columns dataset, method, criterion, fold, loss and seconds (to train and to predict).

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    >>> frame = evaluate({"ours": "ecc-nb", "theirs": KNeighborsClassifier()}, X, Y, cv=2)
    >>> len(frame)
    44
    """
    whole = X if isinstance(X, Dataset) and Y is None else None
    if isinstance(X, Dataset):
        dataset = dataset or X.name
        X, Y = X._inputs(), X.Y if Y is None else Y
    if Y is None:
        raise RequestError("Y is None, but losses are those of labels: evaluate(estimators, X, Y)")
    if isinstance(cv, numbers.Integral):
        cv = IterativeStratifiedKFold(int(cv), random_state=random_state)
    labels, container = read_labels(Y)
    cells, rows = labels.cells(), []
    for fold, (train, test) in enumerate(cv.split(X, Y, groups)):
        train_X, train_Y, test_X = _part(X, train), _part(Y, train), _part(X, test)
        for name, estimator in _named(estimators).items():
            start = time.perf_counter()
            if whole is not None and isinstance(estimator, LabelChainClassifier):
                # What the file says about columns, such as which are texts, is heeded.
                answers = clone(estimator).fit(whole._select(train)).predict(whole._select(test))
            else:
                answers = clone(estimator).fit(train_X, train_Y).predict(test_X)
            seconds = time.perf_counter() - start
            # A fold may hold only one of the two values of labels.
            truth = Labels.from_dense(labels.names, cells[test])
            answers, _ = read_labels(answers, what="P", classes=container.classes)
            for criterion, loss in losses(truth, answers, undefined=undefined).items():
                cell = {"dataset": dataset or "data", "method": name, "criterion": criterion}
                if loss == loss:
                    rows.append({**cell, "fold": fold, "loss": loss, "seconds": seconds})
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows)


def _part(table: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a matrix or a frame."""
    if sparse.issparse(table):
        return table.tocsr()[rows]
    kind = frame_kind(table)
    if kind == "pyarrow":
        return table.take(rows)
    if kind == "arrow":
        raise RequestError(
            f"a {type(table).__name__} hands out all of its rows, and folds take some of them\n"
            "  help: make it a frame of pandas, polars or pyarrow first"
        )
    return _safe_indexing(np.asarray(table) if isinstance(table, list) else table, rows)


def _named(estimators: Any) -> dict[str, Any]:
    """Estimators by name, all different."""
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        is_list = isinstance(estimators, Sequence) and not isinstance(estimators, str)
        named = {}
        for estimator in estimators if is_list else [estimators]:
            name = estimator if isinstance(estimator, str) else _name(estimator)
            if name in named:
                raise RequestError(f"two estimators are called {name}\n  help: name them in a dict")
            named[name] = estimator
    return {
        name: LabelChainClassifier(estimator) if isinstance(estimator, str) else estimator
        for name, estimator in named.items()
    }


def _name(estimator: Any) -> str:
    if isinstance(estimator, LabelChainClassifier):
        return estimator.method if estimator.aim is None else f"{estimator.method}@{estimator.aim}"
    return type(estimator).__name__
