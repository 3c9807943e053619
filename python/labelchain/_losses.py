"""How wrong answers are."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _labelchain
from ._labels import read_pair


def losses(Y: Any, P: Any, probabilities: Any = None, *, undefined: str = "paper") -> dict[str, float]:
    """The eleven losses of answers, by name; smaller is better.

    Parameters
    ----------
    Y : array, CSR matrix or DataFrame
        The truth: 0 and 1, and NaN where it is unknown and answers are neither right nor wrong.
    P : array, CSR matrix or DataFrame
        The answers.
    probabilities : array of shape (n_rows, n_labels), default=None
        With them there are further measures, of what they put first and of their size; of those that begin
        with ``auc`` or ``average_precision`` and of ``lrap`` the greater is better.
    undefined : {"paper", "zero", "one", "skip"}
        What zero over zero counts as: a loss of 0 where both sides are empty and else of 1, a metric of 0, a
        metric of 1, or left out.

    Returns
    -------
    dict
        NaN where there was nothing to average.

    Examples
    --------
    >>> found = losses([[1, 0, 0], [0, 0, 0]], [[1, 0, 1], [0, 0, 0]])
    >>> round(found["hamming"], 4), found["ex_fdr"]
    (0.1667, 0.25)
    """
    truth, answers, cells = _compared(Y, P, probabilities)
    found = _labelchain.losses(truth, answers, cells, undefined)
    return {name: float("nan") if value is None else value for name, value in found}


def label_measures(
    Y: Any, P: Any, probabilities: Any = None, *, undefined: str = "paper"
) -> dict[str, dict[str, float]]:
    """Support, precision, recall and F1 of each label, and with probabilities AUC and average precision.

    Parameters are those of `losses`; labels are called as the columns of Y are.

    >>> label_measures([[1, 0], [1, 1]], [[1, 0], [0, 1]])["y0"]["recall"]
    0.5
    """
    truth, answers, cells = _compared(Y, P, probabilities)
    keys = ("support", "precision", "recall", "f1", "auc", "average_precision")
    keys = keys if probabilities is not None else keys[:4]
    by_label = _labelchain.label_measures(truth, answers, cells, undefined)
    return {
        name: {key: float("nan") if value is None else value for key, value in zip(keys, values)}
        for name, values in zip(truth.names, by_label)
    }


def _compared(Y: Any, P: Any, probabilities: Any) -> tuple[Any, Any, Any]:
    truth, answers = read_pair(Y, P)
    cells = None if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    return truth, answers, cells
