"""Folds in which labels are spread evenly."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from ._labelchain import RequestError, stratified_folds
from ._labels import read_labels


class IterativeStratifiedKFold(BaseCrossValidator):
    """Folds in which every label, or every pair of labels, is relevant to as many rows.

    The iterative stratification of Sechidis and others, and with ``order=2`` that of Szymański and
    Kajdanowicz; ``labelchain split`` cuts the same folds.

    Parameters
    ----------
    n_splits : int, default=10
        How many folds.
    order : {1, 2}, default=1
        1 spreads labels, 2 spreads pairs of labels.
    groups : array of shape (n_rows,), default=None
        Rows of one group stay in one fold. `split` takes others.
    random_state : int, RandomState instance, default=None
        What ties are decided by. None is 1, as in the program.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 1]] * 6)
    >>> for train, test in IterativeStratifiedKFold(n_splits=3).split(np.zeros((12, 1)), Y):
    ...     print(Y[test].sum(axis=0))
    [2 2]
    [2 2]
    [2 2]
    """

    def __init__(
        self, n_splits: int = 10, *, order: int = 1, groups: Any = None, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.order = order
        self.groups = groups
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows to train on and to test, of each fold."""
        if self.order not in (1, 2):
            raise RequestError(f"order is {self.order!r}, but must be 1 (labels) or 2 (pairs of labels)")
        if not isinstance(self.n_splits, numbers.Integral) or self.n_splits < 2:
            raise RequestError(f"n_splits is {self.n_splits!r}, but must be a whole number from 2")
        if y is None:
            raise RequestError("y is None, but folds are stratified by labels: split(X, Y)")
        labels, _ = read_labels(y)
        groups = self.groups if groups is None else groups
        if groups is not None:
            groups = np.unique(np.asarray(groups), return_inverse=True)[1].tolist()
        seed = 1 if self.random_state is None else self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        fold_of = stratified_folds(labels, int(self.n_splits), self.order == 2, groups, int(seed))
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds."""
        return int(self.n_splits)
