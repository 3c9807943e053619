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
from ._labelchain import RequestError
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
    if isinstance(X, Dataset):
        dataset = dataset or X.name
        X, Y = X._inputs(), X.Y if Y is None else Y
    if Y is None:
        raise RequestError("Y is None, but losses are those of labels: evaluate(estimators, X, Y)")
    if isinstance(cv, numbers.Integral):
        cv = IterativeStratifiedKFold(int(cv), random_state=random_state)
    rows = []
    for fold, (train, test) in enumerate(cv.split(X, Y, groups)):
        train_X, train_Y, test_X, test_Y = (_part(of, at) for at in (train, test) for of in (X, Y))
        for name, estimator in _named(estimators).items():
            start = time.perf_counter()
            answers = clone(estimator).fit(train_X, train_Y).predict(test_X)
            seconds = time.perf_counter() - start
            for criterion, loss in losses(test_Y, answers, undefined=undefined).items():
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
    if frame_kind(table) == "pyarrow":
        return table.take(rows)
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
